"""`vimlib.toml`: the options of a command written down, for reports that nobody types.

A setting is an option under the same name: `--new-only` is `new_only`, a repeatable option a list. So
there is one list of both, and what is said on the command line counts before what is written. Names
that no option has are errors, since a misspelt limit must not be a limit that is never met. Paths are
seen from the file's folder.
"""

from __future__ import annotations

import argparse
import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from vimlib.records import VimlibError

FILE: Final = Path("vimlib.toml")
"""Read where it is in the current folder and no other is named."""


class BadSettings(VimlibError):
    """The file of settings cannot be used: no TOML, an unknown name, a value of another type."""

    exit_code = 2


def read_settings(path: Path, command: str, parser: argparse.ArgumentParser) -> dict[str, Any]:
    """The settings of a command as defaults for its parser. Raises BadSettings."""
    try:
        with path.open("rb") as file:
            document = tomllib.load(file)
    except OSError as error:
        raise BadSettings(f"{path}: cannot be read ({error.strerror}); expected settings as TOML") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSettings(f"{path}: not TOML ({error})") from error
    for name, value in document.items():
        if name != command or not isinstance(value, dict):
            raise BadSettings(f"{path}: {name!r} is not known here; expected settings under [{command}]")
    known: dict[str, argparse.Action] = {}
    for action in parser._actions:
        if action.dest not in ("help", "config"):
            known.setdefault(action.dest, action)
    found = {}
    for name, value in document.get(command, {}).items():
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = (
                f"; did you mean {close[0]!r}?" if close else f"; expected one of {', '.join(sorted(known))}"
            )
            raise BadSettings(f"{path}: no setting {name!r} of {command}{hint}")
        found[name] = _value(path, name, value, known[name])
    return found


def _value(path: Path, name: str, value: Any, action: argparse.Action) -> Any:
    if isinstance(action, argparse._StoreTrueAction | argparse._StoreFalseAction):
        if not isinstance(value, bool):
            raise BadSettings(f"{path}: {name} = {value!r}; expected true or false")
        return value
    if isinstance(value, Mapping):
        if action.metavar != "NAME=VALUE":
            raise BadSettings(f"{path}: {name} is a table; expected a value")
        return [(str(key), inner) for key, inner in value.items()]
    if isinstance(action, Listed) or action.nargs == "*":
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise BadSettings(f"{path}: {name} = {value!r}; expected a list of strings")
        return [_one(path, name, item, action) for item in value]
    if value == "" and (action.default is None or name == "cache"):
        return None
    return _one(path, name, value, action)


def _one(path: Path, name: str, value: Any, action: argparse.Action) -> Any:
    """One value as the option of that name would give it."""
    number = action.type in (int, float) or getattr(action.type, "number", False)
    fits = (
        isinstance(value, int | float) and not isinstance(value, bool) if number else isinstance(value, str)
    )
    if not fits:
        raise BadSettings(f"{path}: {name} = {value!r}; expected a {'number' if number else 'string'}")
    if action.choices is not None and value not in action.choices:
        raise BadSettings(
            f"{path}: {name} = {value!r}; expected one of {', '.join(map(str, action.choices))}"
        )
    try:
        made = action.type(str(value)) if callable(action.type) else value
    except (ValueError, argparse.ArgumentTypeError) as error:
        raise BadSettings(f"{path}: {name} = {value!r}; {error}") from error
    if isinstance(made, Path):
        return path.parent / made.expanduser()
    if name == "suite" and (path.parent / str(made)).exists():
        return str(path.parent / str(made))
    return made


class Listed(argparse.Action):
    """A repeatable option whose first use replaces its default rather than adding to it."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Add one value."""
        now = getattr(namespace, self.dest)
        setattr(namespace, self.dest, [values] if now is self.default or now is None else [*now, values])
