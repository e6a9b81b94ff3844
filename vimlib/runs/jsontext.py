"""A large JSON object read member by member, as far as it goes.

A log of thousands of samples does not fit into memory as one document, and a log that was cut short
is no document at all; both are sequences of whole values for most of their length. The standard
library's decoder is used for every value, so that what it accepts (NaN, lone surrogates) is accepted
here.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from typing import Any, BinaryIO

_PIECE = 1 << 20
_SPACE = " \t\n\r"


class EndsTooEarly(ValueError):
    """The text ends within a value."""


class NotJson(ValueError):
    """The text stops being JSON before its end."""


def members(file: BinaryIO, *, listed: frozenset[str]) -> Iterator[tuple[str, Any]]:
    """Name and value of each member of the object in the file, in its order.

    A member of `listed` that holds a list comes once for each item instead. At most one value and a
    piece of the file are in memory. Raises EndsTooEarly, NotJson or UnicodeDecodeError where the text
    does, after everything before that.
    """
    text = _Text(file)
    text.expect("{")
    if text.take("}"):
        return
    while True:
        name = text.value()
        if not isinstance(name, str):
            raise NotJson("a member without a name")
        text.expect(":")
        if name in listed and text.take("["):
            if not text.take("]"):
                while True:
                    yield name, text.value()
                    if text.take("]"):
                        break
                    text.expect(",")
        else:
            yield name, text.value()
        if text.take("}"):
            return
        text.expect(",")


class _Text:
    """What has been read of a file and not yet been used."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._utf8 = codecs.getincrementaldecoder("utf-8-sig")()
        self._json = json.JSONDecoder()
        self._buffer = ""
        self._place = 0
        self._ended = False

    def _more(self) -> bool:
        """Read as much again as there is, so that a long value is not decoded too often."""
        if self._ended:
            return False
        left = self._buffer[self._place :]
        raw = self._file.read(max(_PIECE, len(left)))
        self._ended = not raw
        self._buffer = left + self._utf8.decode(raw, final=self._ended)
        self._place = 0
        return True

    def _next(self) -> str:
        """The next character that is no space, not yet used."""
        while True:
            while self._place < len(self._buffer):
                if self._buffer[self._place] not in _SPACE:
                    return self._buffer[self._place]
                self._place += 1
            if not self._more():
                raise EndsTooEarly("the JSON ends too early")

    def take(self, character: str) -> bool:
        """Use the next character if it is this one."""
        if self._next() != character:
            return False
        self._place += 1
        return True

    def expect(self, character: str) -> None:
        if not self.take(character):
            raise NotJson(f"{self._next()!a} where {character!a} should be")

    def value(self) -> Any:
        self._next()
        while True:
            try:
                value, end = self._json.raw_decode(self._buffer, self._place)
            except json.JSONDecodeError as error:
                if self._more():
                    continue
                # Whatever is wrong at the very end of a text that was JSON so far is its being cut.
                if error.pos >= len(self._buffer) - 1 or error.msg.startswith(("Unterminated", "Invalid \\")):
                    raise EndsTooEarly("the JSON ends too early") from None
                raise NotJson(error.msg) from None
            except RecursionError:
                raise NotJson("nested too deeply") from None
            # A number may go on in what has not been read.
            if end == len(self._buffer) and self._more():
                continue
            self._place = end
            return value
