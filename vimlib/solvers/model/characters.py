"""Characters and words as Vim sees them: widths, columns, white space, and what is outside the model."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache

ESC = "\x1b"
CR = "\r"
CTRL_V = "\x16"

MAX_COLUMN = 1 << 30
"""Vim's MAXCOL: `$` keeps the cursor at the end of every line."""


class Unmodelled(Exception):
    """These keys are outside the model (or fail in Vim): the caller tries other keys."""


class Failed(Unmodelled):
    """The command fails in Vim, which ends a macro, a mapping or `:normal`."""


@lru_cache(maxsize=4096)
def is_plain_char(char: str) -> bool:
    """Whether Vim moves over the character alone, as one column of text.

    False for control characters other than Tab, for characters that Vim may draw on top of
    the one before (marks, formats) and for Arabic, where two letters can share a cell.
    """
    if char == "\t" or " " <= char <= "~":
        return True
    if "\u0600" <= char <= "\u08ff" or "\ufb1d" <= char <= "\ufeff":
        return False
    if "\U0001f3fb" <= char <= "\U0001f3ff":
        return False
    return unicodedata.category(char)[0] in "LNPS" and char != "\ufffd"


@lru_cache(maxsize=50_000)
def is_plain(line: str) -> bool:
    """Whether every character of the line is plain, so that columns can be counted."""
    return (line.isascii() and line.isprintable()) or all(map(is_plain_char, line))


def char_cells(char: str, column: int) -> int:
    """Screen cells of a plain character that starts at screen column `column` (from 0)."""
    if char == "\t":
        return 8 - column % 8
    if char < "\x7f":
        return 1
    width = unicodedata.east_asian_width(char)
    if width in "WF":
        return 2
    if width == "A" or char >= "\U0001f000":
        raise Unmodelled("the width of this character depends on settings and versions")
    return 1


def screen_column(line: str, column: int) -> int:
    """The screen column (from 0) of the cursor on `line[column]`, at its end as in normal mode."""
    if line.isascii() and "\t" not in line:
        return column
    cells = 0
    for char in line[:column]:
        cells += char_cells(char, cells)
    if column < len(line) and line[column] == "\t":
        cells += char_cells("\t", cells) - 1
    return cells


def column_at(line: str, wanted: int) -> int:
    """The column (of a cursor in normal mode) that shows screen column `wanted`."""
    last = max(len(line) - 1, 0)
    if wanted >= MAX_COLUMN:
        return last
    if line.isascii() and "\t" not in line:
        return min(wanted, last)
    cells = 0
    for column, char in enumerate(line):
        cells += char_cells(char, cells)
        if cells > wanted:
            return column
    return last


def first_nonblank(line: str) -> int:
    """Column of the first character that is no space or tab; of the last one in a blank line."""
    stripped = line.lstrip(" \t")
    return len(line) - len(stripped) if stripped else max(len(line) - 1, 0)


def leading_white(line: str) -> str:
    """The spaces and tabs that the line starts with."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def indent_cells(white: str) -> int:
    """Width of leading white space, with 'tabstop' 8."""
    cells = 0
    for char in white:
        cells += 8 - cells % 8 if char == "\t" else 1
    return cells


def made_indent(cells: int) -> str:
    """The indent that Vim makes of this width, with 'tabstop' 8 and 'noexpandtab'."""
    return "\t" * (cells // 8) + " " * (cells % 8)


def char_kind(char: str, big: bool) -> int:
    """0 blank, 1 punctuation, 2 keyword character; with `big` every non-blank is 1."""
    if char in " \t":
        return 0
    if not char.isascii():
        raise Unmodelled("word motions over other than ASCII")
    if big:
        return 1
    return 2 if char.isalnum() or char == "_" else 1


def word_starts(line: str, column: int, big: bool) -> Iterator[int]:
    """Where `w` (or `W`) goes from `column`, again and again, inside the line."""
    size = len(line)
    while True:
        if column >= size:
            return
        kind = char_kind(line[column], big)
        while kind and column < size and char_kind(line[column], big) == kind:
            column += 1
        while column < size and line[column] in " \t":
            column += 1
        if column >= size:
            return
        yield column


def word_ends(line: str, column: int, big: bool) -> Iterator[int]:
    """Where `e` (or `E`) goes from `column`, again and again, inside the line."""
    size = len(line)
    while True:
        column += 1
        while column < size and line[column] in " \t":
            column += 1
        if column >= size:
            return
        kind = char_kind(line[column], big)
        while column + 1 < size and char_kind(line[column + 1], big) == kind:
            column += 1
        yield column


def word_backs(line: str, column: int, big: bool) -> Iterator[int]:
    """Where `b` (or `B`) goes from `column`, again and again, inside the line."""
    while True:
        column -= 1
        while column >= 0 and line[column] in " \t":
            column -= 1
        if column < 0:
            return
        kind = char_kind(line[column], big)
        while column > 0 and char_kind(line[column - 1], big) == kind:
            column -= 1
        yield column
