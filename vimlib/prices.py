"""What an attempt cost: billed, or estimated from dated prices, or not known.

A price list can be wrong in ways that no reader of a report could see: it prices another model of
nearly the same name, the prices of another day, cached tokens twice, or a local server as if it were
the company's. So a price is taken only where model, provider and day are known to fit; where the list
leaves something open (how long a cache entry lives, a time of day, a tier) the answer is a range; and
where it does not know the model there is no answer, never 0. This module knows prices and nothing
of passes, and it fetches nothing: `genai-prices` brings its list with it, of which the version is
kept beside each amount.

Tokens come in the store's normal form (`TokenUsage`), in which cached tokens are part of the input.
"""

from __future__ import annotations

import dataclasses
import datetime
import difflib
import fnmatch
import functools
import hashlib
import ipaddress
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import yaml

from vimlib.records import (
    Attempt,
    Cost,
    CostGap,
    CostKind,
    Run,
    TokenConvention,
    TokenUsage,
    Track,
    VimlibError,
)

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice, Provider

MOST_TOKENS: Final = 1_000_000_000
"""More than any attempt can have: no model has a context of that size."""

LIST: Final = "genai-prices"
"""Name of the price list that comes as a package."""


class BadPrices(VimlibError):
    """A price file that cannot be used: what is wrong in it and where."""

    exit_code = 2


class BadPriceDate(VimlibError):
    """A day of prices that is no date."""

    exit_code = 2


# --- what the provider was asked for


@dataclass(frozen=True, slots=True)
class Terms:
    """What list prices depend on besides model, day and tokens, as far as the source tells."""

    batch: bool = False
    """Sent through the provider's batch interface, which costs less."""
    service_tier: str | None = None
    """The provider's word (flex, priority); None: standard."""
    cache_hours: int | None = None
    """How long what is written to the cache lives: 1, or 0 for five minutes; None: not known."""
    one_request: bool = True
    """The tokens of an attempt are those of one request: prices that step up with its length can be told."""
    base_url: str | None = None
    """Where the requests went, where that is not the provider's usual address."""


_STANDARD_TIERS: Final = frozenset({"default", "standard", "standard_only", "on_demand"})


def terms_of(settings: Mapping[str, Any], *, one_request: bool) -> Terms:
    """The terms of a run, from its settings as the source records them.

    An Inspect log records every setting that was made, so one without `batch` was no batch; the
    other harnesses that are read here send one request after the other. A setting that cannot be
    understood is not known.
    """
    made: list[Mapping[str, Any]] = [settings]
    made += [part for name in ("model_args", "extra_body") if isinstance(part := settings.get(name), Mapping)]

    def setting(*names: str) -> Any:
        return next((part[name] for part in made for name in names if part.get(name) is not None), None)

    batch = setting("batch")
    tier = setting("service_tier")
    tier = None if tier is None or str(tier).lower() in _STANDARD_TIERS else str(tier).lower()
    url = setting("base_url", "model_base_url")
    return Terms(
        batch=batch is not None and batch is not False,
        service_tier=tier,
        cache_hours={"5m": 0, "1h": 1}.get(str(setting("cache_ttl"))),
        one_request=one_request,
        base_url=None if url is None else str(url),
    )


# --- tokens that can be true


def usage_gap(usage: TokenUsage) -> CostGap | None:
    """Why the tokens of an attempt cannot be counted or priced; None: they can.

    Counts below 0 or above `MOST_TOKENS`, parts that exceed their whole, and a total that is not
    input + output are implausible; input or output missing means that nothing can be priced. Where it is
    only assumed how the source counts, its total may be another.
    """
    counts = [
        usage.input_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.output_tokens,
        usage.reasoning_tokens,
        usage.total_tokens,
    ]
    if any(count is not None and not 0 <= count <= MOST_TOKENS for count in counts):
        return CostGap.IMPLAUSIBLE_USAGE
    cached = (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
    if usage.input_tokens is not None and cached > usage.input_tokens:
        return CostGap.IMPLAUSIBLE_USAGE
    if usage.output_tokens is not None and (usage.reasoning_tokens or 0) > usage.output_tokens:
        return CostGap.IMPLAUSIBLE_USAGE
    if usage.input_tokens is None or usage.output_tokens is None:
        return CostGap.NO_USAGE
    doubtful = usage.token_convention in (TokenConvention.ASSUMED, TokenConvention.MIXED)
    if not doubtful and usage.total_tokens not in (None, usage.input_tokens + usage.output_tokens):
        return CostGap.IMPLAUSIBLE_USAGE
    return None


def _readings(usage: TokenUsage) -> list[TokenUsage]:
    """The usage, and where it was only assumed that the source leaves cached tokens out of its input,
    what it is if the source includes them."""
    cached = (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
    doubtful = usage.token_convention in (TokenConvention.ASSUMED, TokenConvention.MIXED)
    if not doubtful or not cached or usage.input_tokens is None or usage.input_tokens < 2 * cached:
        return [usage]
    return [usage, dataclasses.replace(usage, input_tokens=usage.input_tokens - cached)]


# --- whose price a model's name asks for

_PROVIDERS: Final[Mapping[str, str]] = {
    "anthropic": "anthropic",
    "anthropic/bedrock": "aws",
    "anthropic/vertex": "google",
    "azureai": "azure",
    "bedrock": "aws",
    "cerebras": "cerebras",
    "cloudflare": "cloudflare",
    "cohere": "cohere",
    "deepseek": "deepseek",
    "fireworks": "fireworks",
    "google": "google",
    "google/vertex": "google",
    "grok": "x-ai",
    "groq": "groq",
    "mistral": "mistral",
    "moonshot": "moonshotai",
    "openai": "openai",
    "openai/azure": "azure",
    "openrouter": "openrouter",
    "perplexity": "perplexity",
    "together": "together",
    "x-ai": "x-ai",
}
"""How Inspect, and who writes names as it does, calls a provider -> its id in `genai-prices`."""

_LOCAL: Final = frozenset(
    {
        "hf",
        "llama-cpp-python",
        "llamacpp",
        "lmstudio",
        "local",
        "mockllm",
        "nnterp",
        "none",
        "ollama",
        "sglang",
        "transformer_lens",
        "transformers",
        "vllm",
    }
)
"""Prefixes of models that run on the user's own machine."""

_CLOSED: Final[tuple[tuple[str, str], ...]] = (
    (r"claude-", "anthropic"),
    (r"gpt-(?!oss)|chatgpt-|o[134](-|$)", "openai"),
    (r"gemini-", "google"),
    (r"grok-", "x-ai"),
)
"""Names without a provider that only one company can mean. Open weights are left out: anybody hosts them."""


@dataclass(frozen=True, slots=True)
class ModelName:
    """A model's name, taken apart."""

    provider: str | None
    """Its id in `genai-prices`; None: not known."""
    model: str
    local: bool = False


def model_name(name: str) -> ModelName:
    """Whose model a run's name means, under the conventions of Inspect and of bare names."""
    parts = name.lower().split("/")
    if parts[0] == "openai-api" and len(parts) > 2 and parts[1] in _LOCAL:
        parts = parts[1:]
    if parts[0] in _LOCAL:
        return ModelName(None, "/".join(parts[1:]) or name, local=True)
    if parts[0] == "openai-api" and len(parts) > 2:
        provider = parts[1] if _provider(parts[1]) is not None else None
        return ModelName(provider, "/".join(parts[2:]))
    for length in (2, 1):
        provider = _PROVIDERS.get("/".join(parts[:length]))
        if provider is not None and len(parts) > length:
            return ModelName(provider, "/".join(parts[length:]))
    if len(parts) == 1:
        for pattern, owner in _CLOSED:
            if re.match(pattern, parts[0]):
                return ModelName(owner, parts[0])
    return ModelName(None, name.lower())


def _provider(id: str) -> Provider | None:
    from genai_prices.data_snapshot import get_snapshot

    return next((one for one in get_snapshot().providers if one.id == id), None)


def list_version() -> str:
    """Version of the installed `genai-prices`, and with it of its prices."""
    import genai_prices

    return str(genai_prices.__version__)


# --- the packaged list


@dataclass(frozen=True, slots=True)
class _Quote:
    """Prices of one model that may apply, from one list."""

    source: str
    version: str
    model: str
    day: datetime.date | None


@functools.cache
def _listed(name: str, base_url: str | None) -> tuple[Provider, ModelInfo] | CostGap:
    """The list's entry of a model, or why it has none."""
    from genai_prices.data_snapshot import get_snapshot

    asked = model_name(name)
    if asked.local:
        return CostGap.LOCAL_MODEL
    if base_url is not None:
        # A name says nothing of who answered at another address than the company's own.
        try:
            provider = get_snapshot().find_provider(None, None, base_url)
        except LookupError:
            return CostGap.LOCAL_MODEL if _at_home(base_url) else CostGap.UNKNOWN_MODEL
    else:
        found = None if asked.provider is None else _provider(asked.provider)
        if found is None:
            return CostGap.UNKNOWN_MODEL
        provider = found
    model = provider.find_model(asked.model, all_providers=get_snapshot().providers)
    return CostGap.UNKNOWN_MODEL if model is None else (provider, model)


def _at_home(url: str) -> bool:
    """Whether an address is of this machine or of a private network."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith((".local", ".localhost", ".internal"))
    return address.is_private or address.is_loopback or address.is_unspecified


def _of_the_day(model: ModelInfo, day: datetime.date | None, context: Mapping[str, str]) -> list[ModelPrice]:
    """The prices that hold at some time of a day; without a day, all that ever held."""
    from genai_prices.types import ModelPrice, TimeOfDateConstraint

    listed = model.prices
    if isinstance(listed, ModelPrice):
        moments = [datetime.datetime.combine(day or datetime.date.today(), datetime.time(12), datetime.UTC)]
    elif day is None:
        return [one.prices for one in listed]
    else:
        times = {datetime.time(12)}
        for one in listed:
            if isinstance(one.constraint, TimeOfDateConstraint):
                times |= {one.constraint.start_time, one.constraint.end_time}
        moments = [
            datetime.datetime.combine(day, time.replace(tzinfo=time.tzinfo or datetime.UTC)) for time in times
        ]
    return [model.get_prices(moment, context) for moment in moments]


def _with_variant(prices: ModelPrice, changes: ModelPrice) -> ModelPrice:
    from genai_prices.types import ModelPrice

    return ModelPrice(**(_set_prices(prices) | _set_prices(changes)))


def _set_prices(prices: ModelPrice) -> dict[str, Any]:
    return {key: value for key, value in vars(prices).items() if value is not None}


@functools.lru_cache(maxsize=4096)
def _candidates(
    name: str, day: datetime.date | None, terms: Terms
) -> tuple[_Quote, tuple[_Rates, ...]] | CostGap:
    """Every set of prices that may apply to a model on a day under its terms, or why there is none."""
    found = _listed(name, terms.base_url)
    if isinstance(found, CostGap):
        return found
    provider, model = found
    standard = _of_the_day(model, day, {})
    # Another company's model sold here: its owner's tiers are not this seller's.
    variants = list(model.price_variants or ()) if any(model is one for one in provider.models) else []

    def under(context: Mapping[str, str]) -> list[ModelPrice] | None:
        """Prices under a request's context; with the standard ones where not known of that day."""
        fitting = [one for one in variants if one.when.items() == dict(context).items()]
        if not fitting:
            return None
        noon = datetime.datetime.combine(day or datetime.date.min, datetime.time(12), datetime.UTC)
        sure = [one for one in fitting if one.constraint is None or (day and one.constraint.active(noon))]
        if sure:
            return [_with_variant(price, one.prices) for price in standard for one in sure[:1]]
        return [*standard, *(_with_variant(price, one.prices) for price in standard for one in fitting)]

    prices: list[ModelPrice] | None = standard
    if terms.service_tier == "auto":
        tiers = [one.prices for one in variants if "service_tier" in one.when]
        prices = [*standard, *(_with_variant(price, one) for price in standard for one in tiers)]
    elif terms.service_tier is not None:
        prices = under({"service_tier": terms.service_tier})
    elif terms.batch:
        prices = under({"processing": "batch"})
    if prices is None or (terms.batch and terms.service_tier is not None):
        return CostGap.UNKNOWN_TERMS
    # A list may hold only pictures or searches of a model; text would then come out as free.
    whole = [one for one in prices if one.input_mtok is not None and one.output_mtok is not None]
    if len(whole) < len(prices):
        return CostGap.UNKNOWN_MODEL
    return _Quote(LIST, list_version(), f"{provider.id}/{model.id}", day), tuple(
        dict.fromkeys(map(_rates, whole))
    )


Steps = tuple[tuple[int, Decimal], ...]
"""A price by the length of the request: (more input tokens than this, US dollars a million), rising."""


@dataclass(frozen=True, slots=True)
class _Rates:
    """The prices of a model that matter here, taken out of the list's record once.

    Its own reckoning takes several times as long for each attempt; a test holds the two against each
    other for every model of the list.
    """

    input: Steps
    cache_read: Steps
    cache_write: Steps
    cache_write_1h: Steps
    output: Steps
    reasoning: Steps
    request: Decimal
    """US dollars for the request itself."""

    def amount(self, usage: TokenUsage, for_an_hour: int, reasoning: int, stepped: bool) -> Decimal:
        """US dollars for one attempt; `stepped`: its tokens are those of one request."""
        assert usage.input_tokens is not None and usage.output_tokens is not None, "priced only with usage"
        read, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
        length = usage.input_tokens if stepped else -1

        def price(steps: Steps) -> Decimal:
            return next((price for start, price in reversed(steps) if length > start), steps[0][1])

        millions = (
            (usage.input_tokens - read - written) * price(self.input)
            + read * price(self.cache_read)
            + (written - for_an_hour) * price(self.cache_write)
            + for_an_hour * price(self.cache_write_1h)
            + (usage.output_tokens - reasoning) * price(self.output)
            + reasoning * price(self.reasoning)
        )
        return millions / 1_000_000 + self.request


def _rates(price: ModelPrice) -> _Rates:
    """The rates of a record. A part without a price of its own costs what its whole does."""
    from genai_prices.types import TieredPrices

    def steps(*names: str) -> Steps:
        found = next(value for name in names if (value := getattr(price, name)) is not None)
        if isinstance(found, TieredPrices):
            return ((-1, found.base), *((tier.start, tier.price) for tier in found.tiers))
        return ((-1, found),)

    per_thousand = price.requests_kcount
    assert per_thousand is None or isinstance(per_thousand, Decimal), "requests have no tiers of tokens"
    return _Rates(
        input=steps("input_mtok"),
        cache_read=steps("cache_read_mtok", "input_mtok"),
        cache_write=steps("cache_write_mtok", "input_mtok"),
        cache_write_1h=steps("cache_write_1h_mtok", "cache_write_mtok", "input_mtok"),
        output=steps("output_mtok"),
        reasoning=steps("output_reasoning_mtok", "output_mtok"),
        request=(per_thousand or Decimal(0)) / 1000,
    )


def _reckoned(rates: Iterable[_Rates], usage: TokenUsage, terms: Terms) -> tuple[Decimal, Decimal]:
    """The least and the most that the tokens cost under any of the rates."""
    written, output = usage.cache_write_tokens or 0, usage.output_tokens or 0
    lives = [0, written] if terms.cache_hours is None else [written * terms.cache_hours]
    # Reasoning that is not reported may be none of the output, or all of it.
    thought = [0, output] if usage.reasoning_tokens is None else [usage.reasoning_tokens]
    amounts = [
        one.amount(usage, for_an_hour, reasoning, stepped)
        for one in rates
        for for_an_hour in (lives if written else (0,))
        for reasoning in (thought if one.reasoning != one.output else (0,))
        for stepped in ((True,) if terms.one_request else (True, False))
    ]
    return min(amounts), max(amounts)


# --- the user's own prices


class Unit(StrEnum):
    """What a price in a price file is for."""

    MILLION_TOKENS = "million_tokens"
    MACHINE_HOUR = "machine_hour"
    """Of the machine that the model runs on: converted with the measured time of the attempt."""


@dataclass(frozen=True, slots=True)
class OwnPrice:
    """One entry of a price file, in US dollars."""

    model: str
    """Pattern of the run's model name: `*` stands for anything, capitals make no difference."""
    unit: Unit
    provider: str | None = None
    """First part of the name, such as `openai`; None: whoever it is."""
    input: Decimal | None = None
    output: Decimal | None = None
    cache_read: Decimal | None = None
    """None: what input costs."""
    cache_write: Decimal | None = None
    """None: what input costs."""
    cache_write_1h: Decimal | None = None
    """None: what `cache_write` costs."""
    hour: Decimal | None = None
    valid_from: datetime.date | None = None
    """First day; None: always."""
    valid_until: datetime.date | None = None
    """Last day; None: until a later entry of the same model begins."""

    def fits(self, name: str) -> bool:
        """Whether the price is one of this model, whatever the day."""
        whole = name.lower()
        provider, _, bare = whole.partition("/")
        pattern = self.model.lower()
        if self.provider is not None and self.provider.lower() != (
            provider if bare else model_name(name).provider
        ):
            return False
        return fnmatch.fnmatchcase(whole, pattern) or (bool(bare) and fnmatch.fnmatchcase(bare, pattern))

    def holds(self, day: datetime.date | None) -> bool:
        """Whether it holds on a day. Without a day only a price that always holds does."""
        if day is None:
            return self.valid_from is None and self.valid_until is None
        return (self.valid_from or day) <= day <= (self.valid_until or day)

    def amount(
        self, usage: TokenUsage, seconds: float | None, terms: Terms
    ) -> tuple[Decimal, Decimal] | CostGap:
        """The least and the most that an attempt costs, or why that cannot be said."""
        if self.unit is Unit.MACHINE_HOUR:
            assert self.hour is not None, "checked when it was read"
            if seconds is None or not (math.isfinite(seconds) and seconds >= 0):
                return CostGap.NO_TIME
            one = self.hour * Decimal(str(seconds)) / 3600
            return one, one
        assert self.input is not None and self.output is not None, "checked when it was read"
        assert usage.input_tokens is not None and usage.output_tokens is not None, "priced only with usage"
        read, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
        five_minutes = self.input if self.cache_write is None else self.cache_write
        an_hour = five_minutes if self.cache_write_1h is None else self.cache_write_1h
        rest = (
            (usage.input_tokens - read - written) * self.input
            + read * (self.input if self.cache_read is None else self.cache_read)
            + usage.output_tokens * self.output
        )
        writes = {0: [five_minutes], 1: [an_hour], None: [five_minutes, an_hour]}[terms.cache_hours]
        amounts = [(rest + written * price) / 1_000_000 for price in writes]
        return min(amounts), max(amounts)


@dataclass(frozen=True, slots=True)
class PriceFile:
    """A price file that was read and is sound."""

    name: str
    """File name without its folder."""
    sha256: str
    prices: tuple[OwnPrice, ...]
    """In the file's order."""

    def find(self, name: str, day: datetime.date | None) -> OwnPrice | CostGap:
        """The price of a model on a day. Of several that fit, the one with most of the name spelled out,
        then the first. NO_PRICE_THEN where the file knows the model but not on this day."""
        fitting = [price for price in self.prices if price.fits(name)]
        if not fitting:
            return CostGap.UNKNOWN_MODEL
        holding = [price for price in fitting if price.holds(day)]
        if not holding:
            return CostGap.NO_PRICE_THEN if day is not None else CostGap.NO_DATE
        return max(holding, key=lambda price: len(price.model) - price.model.count("*"))


_FIELDS: Final = tuple(OwnPrice.__dataclass_fields__)
_AMOUNTS: Final = ("input", "output", "cache_read", "cache_write", "cache_write_1h", "hour")
_MOST_PRICE: Final = Decimal(1_000_000)


def read_prices(path: Path) -> PriceFile:
    """A price file, YAML or JSON: `prices`, a list of entries, and perhaps `currency: USD`.

    An entry has `model`, perhaps `provider`, `unit` (million_tokens by default), the prices of its
    unit in US dollars (`input`, `output`, perhaps `cache_read`, `cache_write`, `cache_write_1h`; or
    `hour`), and perhaps `valid_from` and `valid_until` (days, both included).

    Raises `BadPrices` in one line: file, entry, what was found, what was expected.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise BadPrices(f"{path}: cannot be read ({error.strerror}); expected a price file") from error
    try:
        document = json.loads(raw) if path.suffix == ".json" else yaml.safe_load(raw)
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        reason = " ".join(str(error).split())[:160] or type(error).__name__
        raise BadPrices(f"{path}: is no {'JSON' if path.suffix == '.json' else 'YAML'} ({reason})") from error
    if not isinstance(document, dict) or not isinstance(document.get("prices"), list):
        raise BadPrices(
            f"{path}: has no list `prices`; expected prices: [{{model, input, output, valid_from}}]"
        )
    for name in document:
        if name not in {"prices", "currency"}:
            raise BadPrices(f"{path}: has {name!r}; expected only `prices` and `currency`")
    currency = document.get("currency", "USD")
    if currency != "USD":
        raise BadPrices(
            f"{path}: is in {currency!r}; expected USD: no exchange rate is known here, convert the prices"
        )
    if not document["prices"]:
        raise BadPrices(f"{path}: its list `prices` is empty; expected at least one price")
    prices = [_own_price(f"{path}, price {n}", entry) for n, entry in enumerate(document["prices"], 1)]
    return PriceFile(path.name, hashlib.sha256(raw).hexdigest(), tuple(_one_after_another(path, prices)))


def _own_price(where: str, entry: object) -> OwnPrice:
    if not isinstance(entry, dict):
        raise BadPrices(f"{where}: is {entry!r:.60}; expected an object with model, input and output")
    for name in entry:
        if name == "currency" and entry[name] == "USD":
            continue
        if name == "currency":
            raise BadPrices(f"{where}: is in {entry[name]!r}; expected USD, convert the prices")
        if name not in _FIELDS:
            close = difflib.get_close_matches(str(name), _FIELDS, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise BadPrices(f"{where}: has {name!r}; expected only {', '.join(_FIELDS)}{hint}")
    model, provider = entry.get("model"), entry.get("provider")
    if not isinstance(model, str) or not model.strip():
        raise BadPrices(f"{where}: model is {model!r}; expected a name or pattern such as 'openai/gpt-5*'")
    if provider is not None and not isinstance(provider, str):
        raise BadPrices(f"{where}: provider is {provider!r}; expected a name such as 'openai', or none")
    where = f"{where} ({model})"
    unit = entry.get("unit", Unit.MACHINE_HOUR if "hour" in entry else Unit.MILLION_TOKENS)
    if unit not in list(Unit):
        raise BadPrices(f"{where}: unknown unit {unit!r}; expected {' or '.join(Unit)}")
    needed = {"hour"} if unit == Unit.MACHINE_HOUR else {"input", "output"}
    for name in _AMOUNTS:
        if name in entry and (name == "hour") != (unit == Unit.MACHINE_HOUR):
            raise BadPrices(
                f"{where}: has {name!r}, which is no price per {unit}; expected {_in_words(needed)}"
            )
        if name in needed and entry.get(name) is None:
            raise BadPrices(
                f"{where}: has no {name!r}; expected {_in_words(needed)} in US dollars per {unit}"
            )
    amounts = {name: _amount(where, name, entry[name]) for name in _AMOUNTS if entry.get(name) is not None}
    days = {
        name: _day(where, name, entry[name])
        for name in ("valid_from", "valid_until")
        if entry.get(name) is not None
    }
    if len(days) == 2 and days["valid_from"] > days["valid_until"]:
        raise BadPrices(
            f"{where}: is valid from {days['valid_from']} until {days['valid_until']}; expected the reverse"
        )
    return OwnPrice(model=model.strip(), provider=provider, unit=Unit(unit), **amounts, **days)  # type: ignore[arg-type]


def _in_words(names: Iterable[str]) -> str:
    return " and ".join(sorted(names))


def _amount(where: str, name: str, value: object) -> Decimal:
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        amount = Decimal(str(value))
        if 0 <= amount <= _MOST_PRICE:
            return amount
    raise BadPrices(f"{where}: {name} is {value!r}; expected US dollars, a number from 0 to {_MOST_PRICE:,}")


def _day(where: str, name: str, value: object) -> datetime.date:
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value
    try:
        return datetime.date.fromisoformat(str(value))
    except ValueError:
        raise BadPrices(f"{where}: {name} is {value!r}; expected a day such as 2026-08-21") from None


def _one_after_another(path: Path, prices: Sequence[OwnPrice]) -> list[OwnPrice]:
    """The prices with an end to each that a later one of the same model follows. Raises BadPrices."""
    ends: dict[int, datetime.date] = {}
    groups: dict[tuple[str, str | None], list[int]] = {}
    for place, price in enumerate(prices):
        key = (price.model.lower(), price.provider.lower() if price.provider else None)
        groups.setdefault(key, []).append(place)
    for places in groups.values():
        places.sort(key=lambda place: prices[place].valid_from or datetime.date.min)
        for this, after in zip(places, places[1:], strict=False):
            begin, next_begin = prices[this].valid_from, prices[after].valid_from
            end = prices[this].valid_until
            if next_begin is None or begin == next_begin or (end is not None and end >= next_begin):
                raise BadPrices(
                    f"{path}: prices {this + 1} and {after + 1} of {prices[this].model!r} are both valid on "
                    f"{next_begin or 'every day'}; expected one price a day"
                )
            if end is None:
                ends[this] = next_begin - datetime.timedelta(days=1)
    return [
        dataclasses.replace(price, valid_until=ends[place]) if place in ends else price
        for place, price in enumerate(prices)
    ]


# --- the cost of an attempt


def cost_of(
    name: str,
    usage: TokenUsage,
    *,
    day: datetime.date | None,
    seconds: float | None = None,
    terms: Terms = Terms(),
    own: PriceFile | None = None,
    own_first: bool = False,
    billed: bool = True,
) -> Cost:
    """What one attempt of a model cost.

    What the source says was billed; else the estimate from `genai-prices` at `day`; else from the
    user's price file; else unavailable, with the reason. `own_first`: the file before everything
    else, for models that it knows. `billed`: False leaves what was billed out, for the prices of
    another day. `seconds`: measured time, for prices per hour of machine time.
    """
    from_file = _own_cost(own, name, usage, day, seconds, terms) if own is not None else None
    if own_first and from_file is not None and from_file.gap is not CostGap.UNKNOWN_MODEL:
        return from_file
    amount = usage.billed_usd
    if billed and amount is not None:
        if math.isfinite(amount) and amount >= 0:
            return Cost(CostKind.BILLED, amount, amount, amount, source="billed")
        return Cost(CostKind.UNAVAILABLE, gap=CostGap.IMPLAUSIBLE_USAGE)
    listed = _listed_cost(name, usage, day, terms)
    if listed.gap is None or from_file is None:
        return listed
    # The reason that the user can mend: of the file, where it knows the model.
    return listed if from_file.gap is CostGap.UNKNOWN_MODEL else from_file


def _listed_cost(name: str, usage: TokenUsage, day: datetime.date | None, terms: Terms) -> Cost:
    found = _candidates(name, day, terms)
    if isinstance(found, CostGap):
        return Cost(CostKind.UNAVAILABLE, gap=found)
    gap = usage_gap(usage)
    if gap is not None:
        return Cost(CostKind.UNAVAILABLE, gap=gap)
    quote, rates = found
    return _estimated([_reckoned(rates, one, terms) for one in _readings(usage)], quote)


def _own_cost(
    own: PriceFile,
    name: str,
    usage: TokenUsage,
    day: datetime.date | None,
    seconds: float | None,
    terms: Terms,
) -> Cost:
    price = own.find(name, day)
    gap = price if isinstance(price, CostGap) else None
    if isinstance(price, OwnPrice) and price.unit is Unit.MILLION_TOKENS:
        gap = usage_gap(usage)
    if gap is not None or isinstance(price, CostGap):
        return Cost(CostKind.UNAVAILABLE, gap=gap)
    ranges = []
    for one in _readings(usage):
        amounts = price.amount(one, seconds, terms)
        if isinstance(amounts, CostGap):
            return Cost(CostKind.UNAVAILABLE, gap=amounts)
        ranges.append(amounts)
    return _estimated(ranges, _Quote(own.name, own.sha256[:12], price.model, day))


def _estimated(ranges: Sequence[tuple[Decimal, Decimal]], quote: _Quote) -> Cost:
    low, high = float(min(low for low, _ in ranges)), float(max(high for _, high in ranges))
    return Cost(
        CostKind.ESTIMATED,
        low if low == high else None,
        low,
        high,
        source=quote.source,
        version=quote.version,
        model=quote.model,
        price_date=quote.day,
    )


def costs_of(run: Run, own: PriceFile | None = None) -> list[tuple[Attempt, Cost]]:
    """What each attempt of a run cost at the prices of the day of the run (UTC)."""
    terms = terms_of(run.settings, one_request=run.track is not Track.MULTI)
    day = None if run.created is None else run.created.astimezone(datetime.UTC).date()
    return [
        (
            attempt,
            cost_of(run.name, attempt.usage, day=day, seconds=attempt.seconds, terms=terms, own=own),
        )
        for attempt in run.attempts
    ]


def price_day(text: str) -> datetime.date | None:
    """The day that a parameter asks for: '' is the day of each run (None), 'today', or a date.

    Raises `BadPriceDate`.
    """
    if not text:
        return None
    if text == "today":
        return datetime.datetime.now(datetime.UTC).date()
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise BadPriceDate(f"{text!r} is no day; expected today, or a date such as 2026-08-21") from None
