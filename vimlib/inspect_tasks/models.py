"""Which models to ask, from options or from a file, and what may not stand there.

A model file is a JSON or YAML list. Of each model it says `model` (as Inspect names it, or as the
server at `base_url` does), and where wanted `name` (for the log's folder and the table), `base_url`,
`settings` (generation, as Inspect names them), `args` (the provider's own) and `prices` (US dollars for
a million tokens: `input`, `output`, and where they differ `input_cache_read`, `input_cache_write`).
No field takes a key.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import yaml

from vimlib.records import VimlibError

LOCAL = "local"
"""The service by which Inspect knows a server that has no name of its own: `openai-api/local/MODEL`. Its
key, if it wants one, is LOCAL_API_KEY."""

_LOCAL_URL = "http://127.0.0.1:8000/v1"
"""Where llama.cpp's server listens if nothing else is said."""

_FIELDS = ("name", "model", "base_url", "settings", "args", "prices")
_PRICES = ("input", "output", "input_cache_read", "input_cache_write")
_SECRET = re.compile(r"key|token(?!s)|secret|password|credential|authorization", re.IGNORECASE)


class BadModelFile(VimlibError):
    """The file of models does not read."""

    exit_code = 2


class SecretGiven(VimlibError):
    """A key or password was given where a log would keep it."""

    exit_code = 2


class BadUrl(VimlibError):
    """A base URL that is none."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class ModelAsked:
    """One model and how it is asked."""

    name: str
    """For the folder of its logs and the table."""
    model: str
    """As Inspect names it, provider first."""
    base_url: str | None = None
    """None: the provider's own."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Generation settings, as Inspect names them."""
    args: Mapping[str, Any] = field(default_factory=dict)
    """The provider's own arguments."""
    prices: Mapping[str, float] | None = None
    """US dollars for a million tokens, as Inspect names the kinds; None: not given."""


def local_service() -> None:
    """Let Inspect make a model of the service `local` where the environment says nothing of it.

    It wants a key and a URL even of a server that wants no key, and even to score a log of one anew
    (`inspect score`), for which nobody is asked.
    """
    os.environ.setdefault(f"{LOCAL.upper()}_API_KEY", "none")
    os.environ.setdefault(f"{LOCAL.upper()}_BASE_URL", _LOCAL_URL)


def model_asked(
    model: str,
    *,
    name: str | None = None,
    base_url: str | None = None,
    settings: Mapping[str, Any] | None = None,
    args: Mapping[str, Any] | None = None,
    prices: Mapping[str, float] | None = None,
) -> ModelAsked:
    """A model as it will be asked. Raises BadUrl, SecretGiven.

    With a base URL, a name that begins with none of Inspect's providers is the server's own name for the
    model, and the server is taken to speak as OpenAI does.
    """
    if base_url is not None:
        _check_url(base_url)
        base_url = base_url.rstrip("/")
        if model.split("/", 1)[0] not in _providers() or "/" not in model:
            model = f"openai-api/{LOCAL}/{model}"
    _check_secrets(args or {}, "args")
    _check_secrets(settings or {}, "settings")
    return ModelAsked(
        name=name or model.removeprefix(f"openai-api/{LOCAL}/"),
        model=model,
        base_url=base_url,
        settings=dict(settings or {}),
        args=dict(args or {}),
        prices=None if prices is None else _all_prices(prices),
    )


def read_models(path: Path) -> list[ModelAsked]:
    """The models in a JSON or YAML file. Raises BadModelFile, BadUrl, SecretGiven."""
    try:
        text = path.read_text(encoding="utf-8")
        document = json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
    except OSError as error:
        raise BadModelFile(f"{path}: cannot be read ({error.strerror}); expected a file of models") from error
    except (ValueError, yaml.YAMLError) as error:
        line = " ".join(str(error).split())
        raise BadModelFile(f"{path}: is no {'JSON' if path.suffix == '.json' else 'YAML'} ({line})") from None
    if not isinstance(document, list) or not document:
        raise BadModelFile(
            f"{path}: holds no list; expected a list of models, each with {', '.join(_FIELDS)}"
        )
    models = []
    for place, row in enumerate(document, start=1):
        where = f"{path}, model {place}"
        if not isinstance(row, dict) or not isinstance(row.get("model"), str):
            raise BadModelFile(f"{where}: has no text 'model'; expected {', '.join(_FIELDS)}")
        for key, value in row.items():
            _check_field(where, key, value)
        try:
            models.append(model_asked(**row))
        except VimlibError as error:
            raise type(error)(f"{where}: {error}") from None
    names = [one.name for one in models]
    for name in names:
        if names.count(name) > 1:
            raise BadModelFile(f"{path}: two models are called {name!r}; give each a name of its own")
    return models


def _check_field(where: str, key: object, value: object) -> None:
    if key not in _FIELDS:
        if _SECRET.search(str(key)):
            raise SecretGiven(f"{where}: holds {key!r}; keys come from the environment or .env alone")
        raise BadModelFile(f"{where}: unknown field {key!r}; expected {', '.join(_FIELDS)}")
    kind = dict if key in ("settings", "args", "prices") else str
    if not isinstance(value, kind):
        raise BadModelFile(f"{where}: field {key!r} is no {'mapping' if kind is dict else 'text'}")


def _all_prices(prices: Mapping[str, Any]) -> dict[str, float]:
    """All four kinds, cached input at the price of input where nothing else is said."""
    for kind, value in prices.items():
        if kind not in _PRICES or isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            raise BadModelFile(
                f"price {kind!r} is {value!r}; expected US dollars a million tokens of {', '.join(_PRICES)}"
            )
    if not {"input", "output"} <= set(prices):
        raise BadModelFile(f"prices lack input or output; expected {', '.join(_PRICES)}")
    cached = dict.fromkeys(("input_cache_read", "input_cache_write"), prices["input"])
    return {kind: float(value) for kind, value in (cached | dict(prices)).items()}


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise BadUrl(f"base URL {url!r} does not read ({error}); expected http://HOST:PORT/v1") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadUrl(f"base URL {url!r} is none; expected http://HOST:PORT/v1")
    if parts.username or parts.password or any(_SECRET.search(name) for name, _ in parse_qsl(parts.query)):
        raise SecretGiven(
            "the base URL holds a password or key, which every log would keep; "
            f"give it without, and the key as {LOCAL.upper()}_API_KEY in the environment"
        )


def _check_secrets(values: Mapping[str, Any], what: str) -> None:
    for name, value in values.items():
        if isinstance(value, Mapping):
            _check_secrets(value, what)
        elif _SECRET.search(str(name)):
            raise SecretGiven(f"{what} hold {name!r}; keys come from the environment or .env alone")


def _providers() -> frozenset[str]:
    """The names of Inspect's own and installed providers."""
    import inspect_ai.model  # noqa: F401  fills the registry
    from inspect_ai._util.registry import registry_find

    found = registry_find(lambda info: info.type == "modelapi")
    return frozenset(
        name.rsplit("/", 1)[-1]
        for one in found
        if (name := one.__registry_info__.name)  # type: ignore[attr-defined]
    )
