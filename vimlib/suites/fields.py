"""Fields of a task record taken one by one, each error naming file, line and field.

A suite file is written by hand or by a script, and what is wrong with it is mostly one
field of one record. The shapes (`files`, `vimbench`, `vimgolf`) therefore never index
into a raw dictionary; they ask a `Located` record for text, a number or a date.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vimlib.suites.content import SuiteError


class MissingField(SuiteError):
    """A task record lacks a field that its shape requires."""


class WrongType(SuiteError):
    """A field holds another type of value than its shape requires."""


class NotWritable(SuiteError):
    """A text holds a lone surrogate, which no UTF-8 file can hold."""


_JSON_NAMES = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}


def kind_of(value: object) -> str:
    """What JSON calls the type of `value`, for messages."""
    return _JSON_NAMES.get(type(value), "a number")


@dataclass(frozen=True, slots=True)
class Located:
    """One raw record and where it stands."""

    source: str
    """The file as the user named it."""
    line: int
    """From 1: where the record begins."""
    values: Mapping[str, Any]

    @property
    def place(self) -> str:
        return f"{self.source}, line {self.line}"

    def inner(self, name: str) -> Located:
        """The object in field `name`; one without fields where it is missing or null."""
        value = self.values.get(name)
        if value is None:
            return Located(self.source, self.line, {})
        if not isinstance(value, Mapping):
            raise self._wrong(name, value, "an object")
        return Located(self.source, self.line, value)

    def text(self, name: str) -> str:
        """Required text."""
        if name not in self.values:
            found = ", ".join(map(str, self.values)) or "no field at all"
            raise MissingField(f"{self.place}: field '{name}' is missing (found: {found})")
        found_text = self.optional_text(name)
        if found_text is None:
            raise self._wrong(name, None, "text")
        return found_text

    def optional_text(self, name: str) -> str | None:
        value = self.values.get(name)
        if value is None:
            return None
        if not isinstance(value, str):
            raise self._wrong(name, value, "text")
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise NotWritable(
                f"{self.place}: field '{name}' holds a lone surrogate (such as \\ud800), which no UTF-8 file "
                "can hold; write the whole character"
            )
        return value

    def identifier(self) -> str:
        """The required, non-empty text in field `id`."""
        value = self.text("id")
        if not value.strip():
            raise WrongType(f"{self.place}: field 'id' is empty; every task needs its own")
        return value

    def optional_count(self, name: str) -> int | None:
        """A whole number, 0 or more."""
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self._wrong(name, value, "a whole number, 0 or more")
        return value

    def optional_date(self, name: str) -> datetime.date | None:
        """A date written YYYY-MM-DD."""
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, str):
            try:
                return datetime.date.fromisoformat(value)
            except ValueError:
                pass
        raise self._wrong(name, value, "a date such as 2024-05-31")

    def _wrong(self, name: str, value: object, expected: str) -> WrongType:
        shown = f" {value!r}" if isinstance(value, str | int | float) and len(repr(value)) <= 40 else ""
        return WrongType(f"{self.place}: field '{name}' is {kind_of(value)}{shown}; expected {expected}")
