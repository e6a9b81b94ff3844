"""Fields of a task record taken one by one, each error naming file, line and field.

A suite file is written by hand or by a script, and what is wrong with it is mostly one
field of one record. The shapes (`files`, `vimbench`, `vimgolf`) therefore never index
into a raw dictionary; they ask a `Located` record for text, a number or a date.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vimlib.suites.content import SuiteError


class MissingField(SuiteError):
    """A task record lacks a field that its shape requires."""


class WrongType(SuiteError):
    """A field holds another type of value than its shape requires."""


class NotWritable(SuiteError):
    """A text holds a lone surrogate, which no UTF-8 file can hold."""


class BufferTooLarge(SuiteError):
    """A start or target is larger than any task that can be judged in good time."""


BUFFER_LIMIT = 1_000_000
"""Bytes (UTF-8) that a start or target may have. Scoring compares buffers in more than linear time,
and a model is shown both whole; vimgolf.com takes a hundredth of this."""


def check_size(place: str, what: str, size: int) -> None:
    """Raises `BufferTooLarge` where a buffer of `size` bytes is over the limit."""
    if size > BUFFER_LIMIT:
        raise BufferTooLarge(
            f"{place}: {what} is {size:,} bytes long; expected at most {BUFFER_LIMIT:,}, since a larger "
            "buffer can be neither shown to a model nor scored in good time"
        )


_JSON_NAMES = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}


def kind_of(value: object) -> str:
    """What JSON calls the type of `value`, for messages."""
    return _JSON_NAMES.get(type(value), "a number" if isinstance(value, int | float) else "no text")


@dataclass(frozen=True, slots=True)
class Located:
    """One raw record and where it stands."""

    source: str
    """The file as the user named it."""
    line: int
    """From 1: where the record begins; 0: it is the source as a whole."""
    values: Mapping[str, Any]
    unit: str = "line"
    """What `line` counts: lines, or rows where the file has no lines."""

    @property
    def place(self) -> str:
        """File and line, for messages."""
        return f"{self.source}, {self.unit} {self.line}" if self.line else self.source

    @property
    def stem(self) -> str:
        """The source's name without folders and ending: the id of a record that has none."""
        return Path(self.source).stem

    def inner(self, name: str) -> Located:
        """The object in field `name`; one without fields where it is missing or null."""
        value = self.values.get(name)
        if value is None:
            return Located(self.source, self.line, {}, self.unit)
        if not isinstance(value, Mapping):
            raise self._wrong(name, value, "an object")
        return Located(self.source, self.line, value, self.unit)

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

    def buffer(self, name: str) -> str:
        """Required text that is a buffer, every byte of it kept; not over `BUFFER_LIMIT`."""
        value = self.text(name)
        # A character has one to four bytes, so that most texts need not be encoded to be measured.
        if len(value) > BUFFER_LIMIT // 4:
            check_size(self.place, f"field '{name}'", len(value.encode("utf-8")))
        return value

    def identifier(self, default: str | None = None) -> str:
        """The non-empty text in field `id`; `default` where that is missing."""
        if default is not None and self.values.get("id") is None:
            return default
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

    def optional_flag(self, name: str) -> bool | None:
        """True or false."""
        value = self.values.get(name)
        if value is not None and not isinstance(value, bool):
            raise self._wrong(name, value, "true or false")
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
