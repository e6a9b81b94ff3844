"""A small model of Vim: what a sequence of typed keys does to a buffer.

The `diff` solver proposes many answers and may only give one whose result is known to be
the target, and it must know it without starting Vim. This model knows the part of Vim
that the solver writes: the common motions and operators, insert and replace mode (with
'autoindent' as the golf protocol's vimrc sets it), registers, `.`, macros, and a few Ex
commands. Everything else raises `Unmodelled`, and so does every case in which Vim's
behaviour hangs on something the model does not keep: the solver then takes its next
proposal. The tests replay the model's programs in the real Vim.

Keys are given as typed: one character a key, `\\x1b` for <Esc>, `\\r` for <CR>, `\\x16` for
<C-V>. A buffer is a list of lines without their newlines; columns count characters, from 0.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache

ESC = "\x1b"
CR = "\r"
CTRL_V = "\x16"

MAX_COLUMN = 1 << 30
"""Vim's MAXCOL: `$` keeps the cursor at the end of every line."""

PROMPT_WIDTH = 70
"""A command line longer than this may end in Vim's hit-enter prompt, which swallows some keys."""

PROMPT_KEYS = frozenset("jkdufbg")
"""Keys that scroll at the hit-enter prompt instead of running as commands."""


class Unmodelled(Exception):
    """These keys are outside the model (or fail in Vim): the caller tries other keys."""


class Failed(Unmodelled):
    """The command fails in Vim, which ends a macro, a mapping or `:normal`."""


# --- characters -------------------------------------------------------------------------------


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


# --- words ------------------------------------------------------------------------------------


def _kind(char: str, big: bool) -> int:
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
        kind = _kind(line[column], big)
        while kind and column < size and _kind(line[column], big) == kind:
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
        kind = _kind(line[column], big)
        while column + 1 < size and _kind(line[column + 1], big) == kind:
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
        kind = _kind(line[column], big)
        while column > 0 and _kind(line[column - 1], big) == kind:
            column -= 1
        yield column


# --- patterns ---------------------------------------------------------------------------------

_CLASSES = {"s": "[ \\t]", "S": "[^ \\t\\n]", "d": "[0-9]", "D": "[^0-9\\n]", "w": "[0-9A-Za-z_]",
            "W": "[^0-9A-Za-z_\\n]", "a": "[A-Za-z]", "A": "[^A-Za-z\\n]", "u": "[A-Z]", "l": "[a-z]",
            "U": "[^A-Z\\n]", "L": "[^a-z\\n]", "x": "[0-9A-Fa-f]"}  # fmt: skip


@lru_cache(maxsize=4096)
def compiled(pattern: str, ignorecase: bool) -> re.Pattern[str]:
    """A Vim pattern ('magic') as a Python one, over lines that each end in a newline.

    With `ignorecase` also 'smartcase' is on. Raises Unmodelled for what is not known here.
    """
    out: list[str] = []
    plain_upper = False
    i, size = 0, len(pattern)
    if not pattern or not is_plain(pattern):
        raise Unmodelled("the last pattern, or characters that may combine")
    while i < size:
        char = pattern[i]
        if char == "\\":
            i += 1
            if i >= size:
                raise Unmodelled("a backslash at the end")
            char = pattern[i]
            if char in _CLASSES:
                if ignorecase and char in "ulUL":
                    raise Unmodelled("classes of case under 'ignorecase'")
                out.append(_CLASSES[char])
            elif char in ".*[]^$~/\\&":
                out.append(re.escape(char))
            elif char == "n":
                out.append("\\n")
            elif char == "t":
                out.append("\\t")
            elif char == "+":
                out.append("+")
            elif char == "=":
                out.append("?")
            elif char == "|":
                out.append("|")
            elif char == "(":
                out.append("(")
            elif char == ")":
                out.append(")")
            elif char == "<":
                out.append("(?<![0-9A-Za-z_])(?=[0-9A-Za-z_])")
            elif char == ">":
                out.append("(?<=[0-9A-Za-z_])(?![0-9A-Za-z_])")
            elif char == "{" and pattern.startswith("{-}", i):
                out.append("*?")
                i += 2
            else:
                raise Unmodelled("this pattern")
        elif char == "[":
            end = pattern.find("]", i + 2 + pattern.startswith("^", i + 1))
            inner = pattern[i + 1 : end]
            if (
                end < 0
                or "\\" in inner
                or "[" in inner
                or "-" in inner[1:-1].replace("a-z", "").replace("0-9", "")
            ):
                raise Unmodelled("this collection")
            negated = inner.startswith("^")
            body = inner[negated:]
            plain_upper |= any(c.isupper() for c in body)
            escaped = body.replace("^", "\\^")
            out.append(f"[^{escaped}\\n]" if negated else f"[{escaped}]")
            i = end
        elif char == ".":
            out.append("[^\\n]")
        elif char == "*":
            if not out or out[-1] in ("(", "|", "(?m:^)"):
                raise Unmodelled("a star that is a literal")
            out.append("*")
        elif char == "^":
            if i and pattern[i - 2 : i] not in ("\\(", "\\|"):
                raise Unmodelled("a circumflex inside")
            out.append("(?m:^)")
        elif char == "$":
            if (i + 1 < size and pattern[i + 1 : i + 3] not in ("\\)", "\\|", "\\n")) or "\\n" in pattern[:i]:
                raise Unmodelled("a dollar inside")
            out.append("(?=\\n)")
        elif char == "~":
            raise Unmodelled("the last replacement")
        else:
            plain_upper |= char.isupper()
            out.append(re.escape(char))
        i += 1
    flags = re.IGNORECASE if ignorecase and not plain_upper else 0
    source = "".join(out)
    if flags and not pattern.isascii():
        raise Unmodelled("case of other than ASCII")
    if flags:
        flags |= re.ASCII
    try:
        return re.compile(source, flags)
    except re.error as error:
        raise Unmodelled(f"pattern: {error}") from None


@lru_cache(maxsize=4096)
def replacement_parts(text: str) -> tuple[str | int, ...]:
    """A replacement of `:s` as literal texts and group numbers (0: the whole match)."""
    parts: list[str | int] = []
    i = 0
    while i < len(text):
        char = text[i]
        if char == "&":
            parts.append(0)
        elif char == "~" or (char == "\\" and text[i + 1 : i + 2] in ("", "=")):
            raise Unmodelled("this replacement")
        elif char == "\\":
            i += 1
            char = text[i]
            if char.isdigit():
                parts.append(int(char))
            elif char == "r":
                parts.append("\n")
            elif char == "t":
                parts.append("\t")
            elif char in "ul":
                parts.append(-1 if char == "u" else -2)
            elif char in "ULE":
                parts.append({"U": -3, "L": -4, "E": -5}[char])
            elif char in "&~\\/.*[]^$":
                parts.append(char)
            else:
                raise Unmodelled("this replacement")
        else:
            parts.append(char)
        i += 1
    return tuple(parts)


def _replacement(parts: tuple[str | int, ...], match: re.Match[str]) -> str:
    out: list[str] = []
    once = mode = 0
    for part in parts:
        if isinstance(part, int) and part < 0:
            if part in (-1, -2):
                once = part
            else:
                mode, once = (0 if part == -5 else part), 0
            continue
        text = part if isinstance(part, str) else (match.group(part) or "")
        if not text:
            continue
        if (mode or once) and not text.isascii():
            raise Unmodelled("case of other than ASCII")
        if mode:
            text = text.upper() if mode == -3 else text.lower()
        if once:
            text = (text[0].upper() if once == -1 else text[0].lower()) + text[1:]
            once = 0
        out.append(text)
    return "".join(out)


def substitute_lines(
    lines: list[str], first: int, last: int, pattern: str, replacement: str, every: bool, ignorecase: bool
) -> tuple[list[str], int]:
    """What `:{first},{last}s/pattern/replacement/` (with `g`: `every`) makes of the lines.

    Lines count from 0, `last` included. Returns the new lines and the number of the line on
    which the cursor is left. A pattern may hold `\\n`; Vim looks for it from each line of the
    range in turn, and a match that joins lines goes on in the joined line.

    Raises:
        Failed: no match.
        Unmodelled: the pattern or the replacement is outside the model.
    """
    regex = compiled(pattern, ignorecase)
    parts = replacement_parts(replacement)
    if regex.groups < max([p for p in parts if isinstance(p, int)], default=0):
        raise Unmodelled("a group that is not there")
    joins = "\\n" in pattern
    out: list[str] = []
    cursor = -1
    index = first
    hits = 0
    while index <= last:
        text = "\n".join(lines[index:]) + "\n" if joins else lines[index] + "\n"
        line_end = len(lines[index])
        if not joins and not regex.search(text):
            out.append(lines[index])
            index += 1
            continue
        pieces: list[str] = []
        position = done = 0
        found = again = False
        while True:
            match = regex.search(text, position)
            if match is None or match.start() > line_end:
                break
            start, end = match.span()
            if start == end and found and start == done:
                # an empty match right after another match does not count
                position = start + 1
                if position > line_end or (position == line_end and not joins):
                    break
                continue
            if end > line_end and not joins:
                raise Unmodelled("a match past the end of the line")
            swallowed = text.count("\n", start, end)
            if again and not every and not swallowed:
                raise Unmodelled("a second match after joining")
            if not is_plain(lines[index]):
                raise Unmodelled("a match among characters that may combine")
            found = True
            hits += 1
            pieces += (text[done:start], _replacement(parts, match))
            done = end
            if swallowed:
                index += swallowed
                if index >= len(lines):
                    # the buffer's last newline: replaced, yet the line still ends
                    if end != len(text):
                        raise Unmodelled("a match past the end of the buffer")
                    index = len(lines) - 1
                    done -= 1
                    break
                line_end = text.find("\n", done)
                if index > last:
                    break
                # joining goes on in the joined line, also without the flag g
                again = True
            elif not every:
                break
            position = done if end > start else done + 1
            # past a first match the end of the line matches nothing, not even the empty pattern
            if position > line_end or (position == line_end and not joins):
                break
        if found:
            pieces.append(text[done : text.find("\n", done)])
            out += "".join(pieces).split("\n")
            cursor = first + len(out) - 1
        else:
            out.append(lines[index])
        index += 1
    if not hits:
        raise Failed("no match")
    return lines[:first] + out + lines[index:], cursor


# --- the machine ------------------------------------------------------------------------------

_MOTION_FINDS = "fFtT"
_RANGE = re.compile(r"(%|(?:\d+|\.|\$|)(?:[+-]\d*)*)(?:,((?:\d+|\.|\$|)(?:[+-]\d*)*))?")
_TERMINAL_CODE = re.compile("(?<!\x16)\x1b[}O[]")
_OPTIONS_WITHOUT_EFFECT = frozenset("bin nobin eol noeol nofixeol nofen ff=dos ff=unix bomb nobomb".split())
_NUMBER = re.compile("[0-9]+")
_NOT_DECIMAL = re.compile("0[xXbB]")
_PUT_RANGE = re.compile(r"=range\((\d+),(\d+)(?:,(-?[1-9]\d*))?\)")
_SORT_NUMBER = re.compile(r"-?\d+")


class Vim:
    """The state of the modelled Vim: buffer, cursor, registers, and what `.`, `;` and `@` repeat."""

    def __init__(self, lines: list[str], golf: bool, paste: bool = False, typing: bool = True) -> None:
        self.lines = list(lines)
        self.row = 0
        self.col = first_nonblank(lines[0])
        self.want = -1
        self.autoindent = golf and not paste
        self.may_type = typing
        self.ignorecase = golf
        self.register: tuple[tuple[str, ...], bool] | None = None
        self.find: tuple[str, str] | None = None
        self.dot = ""
        self.macros: dict[str, str] = {}
        self.last_macro = ""
        self.inner = 0
        self.quit = False
        self.steps = 0
        self.emptied = False
        """All lines were deleted once: Vim may then write no byte where it shows an empty line."""
        self.lost = False
        """The column is not known: only commands may follow that do not depend on it."""

    # -- helpers

    @property
    def line(self) -> str:
        return self.lines[self.row]

    def _set(self, text: str) -> None:
        self.lines[self.row] = text

    def _clip(self) -> None:
        self.col = max(0, min(self.col, len(self.line) - 1))

    def _moved(self) -> None:
        """After anything but j and k: the wanted column is the cursor's own (-1; -2: not known)."""
        self.want = -1

    def _wanted(self) -> int:
        return screen_column(self.line, self.col) if self.want < 0 else self.want

    def _need_plain(self) -> None:
        if not is_plain(self.line):
            raise Unmodelled("columns of a line that is not plain")

    # -- running

    def run(self, keys: str) -> None:
        """Play keys from normal mode to their end.

        Raises:
            Unmodelled: also where they end inside a command, or hold what Vim could take for the
                code that a terminal sends for a special key or a mouse click.
        """
        if _TERMINAL_CODE.search(keys):
            raise Unmodelled("keys like a terminal's")
        position = 0
        recording: tuple[str, int] | None = None
        while position < len(keys) and not self.quit:
            if keys[position] == "q" and not self.inner:
                if recording is not None:
                    self.macros[recording[0]] = keys[recording[1] : position]
                    recording = None
                    position += 1
                else:
                    name = keys[position + 1 : position + 2]
                    if not ("a" <= name <= "z"):
                        raise Unmodelled("no register to record")
                    position += 2
                    recording = (name, position)
                continue
            position = self._command(keys, position)
        if recording is not None:
            raise Unmodelled("still recording")

    def _command(self, keys: str, start: int) -> int:
        self.steps += 1
        if self.steps > 200_000:
            raise Unmodelled("too long")
        i = start
        size = len(keys)
        digits = i
        while i < size and (keys[i] in "123456789" or (keys[i] == "0" and i > digits)):
            i += 1
        count = int(keys[digits:i]) if i > digits else 0
        if count > 100_000:
            raise Unmodelled("a huge count")
        if i >= size:
            raise Unmodelled("keys end inside a command")
        key = keys[i]
        i += 1
        if self.lost:
            if key not in ":GZ\r+-AIoO" and keys[i - 1 : i + 1] not in ("gg", "dd", "Vg"):
                raise Unmodelled("a column that is not known")
            self.lost = key == "V"
        if key == ":":
            end = self._line_end(keys, i)
            if count:
                raise Unmodelled("a count before a colon")
            self._ex(keys[i:end])
            if not self.inner and end - i > PROMPT_WIDTH and end + 1 < size and keys[end + 1] in PROMPT_KEYS:
                raise Unmodelled("keys at the hit-enter prompt")
            return end + 1
        if key in "/?":
            end = self._line_end(keys, i)
            self._search(keys[i:end], key == "/", count or 1)
            return end + 1
        if key == ESC:
            return i
        if key == "Z":
            if keys[i : i + 1] != "Z" or self.inner:
                raise Unmodelled("Z")
            self.quit = True
            return i + 1
        if key == ".":
            if not self.dot or count:
                raise Unmodelled("nothing to repeat")
            self._nested(self.dot)
            return i
        if key == "@":
            name = keys[i : i + 1]
            name = self.last_macro if name == "@" else name
            if name not in self.macros:
                raise Unmodelled("no such macro")
            self.last_macro = name
            try:
                for _ in range(count or 1):
                    self._nested(self.macros[name], macro=True)
            except Failed:
                pass
            return i + 1
        if key in "dcyg><":
            operator = key
            if key == "g":
                nxt = keys[i : i + 1]
                if nxt in ("u", "U", "~"):
                    operator = "g" + nxt
                    i += 1
                elif nxt == "J":
                    self._join(count or 2, False)
                    self.dot = keys[start : i + 1]
                    return i + 1
                elif nxt == "g":
                    self._goto(count or 1)
                    return i + 1
                else:
                    raise Unmodelled("g" + nxt)
            return self._operator(keys, start, i, operator, count)
        if key in "iIaAoOR" or key in "sSC":
            return self._insert(keys, start, i, key, count)
        if key in "xXDY~rJpP":
            return self._simple(keys, start, i, key, count)
        if key in "\x01\x18":
            self._add((count or 1) * (1 if key == "\x01" else -1))
            self._note(keys[start:i])
            return i
        if key == "V":
            return self._lines_mode(keys, i)
        if key == "\x16":
            return self._block(keys, start, i)
        if key in "jk+-\r\nG{}":
            self._vertical(key, count)
            return i
        target, end, _ = self._motion(keys, i - 1, count)
        if target >= len(self.line) and target > 0:
            target = len(self.line) - 1
        if key == "$":
            self.col = target
            self.want = MAX_COLUMN
            return end
        self.col = target
        self._moved()
        return end

    @staticmethod
    def _line_end(keys: str, i: int) -> int:
        while True:
            if i >= len(keys):
                raise Unmodelled("a command line without end")
            if keys[i] == CTRL_V:
                i += 2
                continue
            if keys[i] == CR:
                return i
            if keys[i] < " " or keys[i] == "\x7f":
                raise Unmodelled("a control key on the command line")
            i += 1

    def _nested(self, keys: str, macro: bool = False) -> None:
        if self.inner > 8:
            raise Unmodelled("deep recursion")
        self.inner += 1
        dot = self.dot
        try:
            position = 0
            while position < len(keys):
                position = self._command(keys, position)
        finally:
            self.inner -= 1
            if not macro:
                self.dot = dot

    # -- motions

    def _vertical(self, key: str, count: int) -> None:
        if key == "G":
            self._goto(count or len(self.lines))
            return
        if key in "{}":
            self._paragraph(key == "}", count or 1)
            return
        n = count or 1
        step = -n if key in "k-" else n
        row = self.row + step
        if not 0 <= row < len(self.lines):
            # j past the end goes to the last line if there is one to go to; + fails
            if key in "jk" and count and self.row not in (0, len(self.lines) - 1):
                raise Unmodelled("past the end")
            raise Failed("no such line")
        if key in "jk":
            if self.want == -2:
                raise Unmodelled("the wanted column")
            if self.want < 0:
                self._need_plain()
                self.want = screen_column(self.line, self.col)
            want = self.want
            self.row = row
            if want and not is_plain(self.line):
                raise Unmodelled("columns of a line that is not plain")
            self.col = column_at(self.line, want) if want else 0
        else:
            self.row = row
            self.col = first_nonblank(self.line)
            self._moved()

    def _goto(self, number: int) -> None:
        self.row = min(number, len(self.lines)) - 1
        self.col = first_nonblank(self.line)
        self._moved()

    def _paragraph(self, forward: bool, count: int) -> None:
        row = self.row
        last = len(self.lines) - 1
        for _ in range(count):
            if row == (last if forward else 0):
                raise Failed("no more paragraphs")
            step = 1 if forward else -1
            seen_text = False
            while True:
                if self.lines[row]:
                    seen_text = True
                elif seen_text:
                    break
                if row == (last if forward else 0):
                    break
                row += step
        self.row = row
        if forward and self.lines[row]:
            self.col = max(len(self.line) - 1, 0)
        else:
            self.col = 0
        self._moved()

    def _search(self, pattern: str, forward: bool, count: int) -> None:
        if not forward or count != 1 or CTRL_V in pattern or "/" in pattern:
            raise Unmodelled("this search")
        regex = compiled(pattern, self.ignorecase)
        if "\\n" in pattern or "$" in pattern[-1:] or "*" in pattern:
            raise Unmodelled("this search")
        n = len(self.lines)
        for offset in range(n + 1):
            row = (self.row + offset) % n
            text = self.lines[row] + "\n"
            from_column = self.col + 1 if offset == 0 else 0
            match = regex.search(text, from_column)
            if match is not None and match.start() < len(text) - 1 and match.start() < match.end():
                self.row, self.col = row, match.start()
                self._moved()
                return
        raise Failed("pattern not found")

    def _motion(self, keys: str, i: int, count: int, operator: str = "") -> tuple[int, int, bool]:
        """A motion inside the line: its target column, where its keys end, whether it is inclusive."""
        line = self.line
        if i >= len(keys):
            raise Unmodelled("keys end inside a command")
        key = keys[i]
        i += 1
        n = count or 1
        last = len(line) - 1
        if not (key == "0" and not count) and key not in "$^":
            self._need_plain()
        if key in "l ":
            if self.col + n > last:
                if operator and self.col <= last:
                    return min(self.col + n, last + 1), i, False
                if key == " " or self.col >= last:
                    raise Failed("l at the end")
                return last, i, False
            return self.col + n, i, False
        if key in "h\x08":
            if self.col == 0:
                raise Failed("h at the start")
            if key == "\x08" and n > self.col:
                raise Unmodelled("over the start of the line")
            return max(self.col - n, 0), i, False
        if key == "0" and not count:
            return 0, i, False
        if key == "^":
            return first_nonblank(line), i, False
        if key == "$":
            if n != 1:
                raise Unmodelled("$ with a count")
            return max(last, 0), i, True
        if key == "|":
            column = column_at(line, n - 1)
            return column, i, False
        if key in "wW":
            big = key == "W"
            if operator == "c" and self.col <= last and line[self.col] not in " \t":
                # cw on a word is ce, but stays on a word's last character
                column = self.col
                kind = _kind(line[column], big)
                while column < last and _kind(line[column + 1], big) == kind:
                    column += 1
                if n == 1:
                    return column, i, True
                return self._nth(word_ends(line, column, big), n - 1), i, True
            if operator == "c" and n == 1 and self.col <= last:
                raise Unmodelled("cw on a blank")
            try:
                return self._nth(word_starts(line, self.col, big), n), i, False
            except Unmodelled:
                if operator and self.col <= last and n == 1:
                    return last + 1, i, False
                raise
        if key in "eE":
            return self._nth(word_ends(line, self.col, key == "E"), n), i, True
        if key in "bB":
            return self._nth(word_backs(line, self.col, key == "B"), n), i, False
        if key in _MOTION_FINDS:
            char = keys[i : i + 1]
            if not char or (char < " " and char != "\t") or char == "\x7f":
                raise Unmodelled("what to find")
            i += 1
            self.find = (key, char)
            return self._find(key, char, n, False), i, key in "ft"
        if key in ";,":
            if self.find is None:
                raise Failed("nothing to find again")
            direction, char = self.find
            if key == ",":
                direction = direction.swapcase()
            return self._find(direction, char, n, True), i, direction in "ft"
        raise Unmodelled(f"key {key!r}")

    @staticmethod
    def _nth(places: Iterator[int], n: int) -> int:
        for number, place in enumerate(places, 1):
            if number == n:
                return place
        raise Unmodelled("a word motion that leaves the line")

    def _find(self, kind: str, char: str, n: int, again: bool) -> int:
        line = self.line
        column = self.col
        if kind in "ft":
            if again and kind == "t" and n == 1 and line[column + 1 : column + 2] == char:
                column += 1
            for _ in range(n):
                column = line.find(char, column + 1)
                if column < 0:
                    raise Failed("not found")
            return column - (kind == "t")
        if again and kind == "T" and n == 1 and column and line[column - 1] == char:
            column -= 1
        for _ in range(n):
            column = line.rfind(char, 0, column) if column > 0 else -1
            if column < 0:
                raise Failed("not found")
        return column + (kind == "T")

    # -- operators

    def _operator(self, keys: str, start: int, i: int, operator: str, count: int) -> int:
        digits = i
        while i < len(keys) and (keys[i] in "123456789" or (keys[i] == "0" and i > digits)):
            i += 1
        if i > digits:
            count = int(keys[digits:i]) * (count or 1)
        key = keys[i : i + 1]
        if key == operator[-1]:
            rows = count or 1
            if self.row + rows > len(self.lines):
                raise Failed("not so many lines")
            return self._linewise(keys, start, i + 1, operator, self.row, self.row + rows - 1)
        if key and key in "jkG{}":
            if key == "G":
                other = min(count or len(self.lines), len(self.lines)) - 1
            elif key in "jk":
                other = self.row + (count or 1) * (1 if key == "j" else -1)
                if not 0 <= other < len(self.lines):
                    raise Failed("no such line")
            else:
                raise Unmodelled("paragraphs as an operator's motion")
            first, last = sorted((self.row, other))
            return self._linewise(keys, start, i + 1, operator, first, last)
        if operator in "><":
            raise Unmodelled("shift over a motion")
        if key in ("i", "a") and key:
            first, last, end = self._text_object(keys, i)
        else:
            column = self.col
            target, end, inclusive = self._motion(keys, i, count, operator)
            first, last = sorted((column, target))
            if inclusive:
                last += 1
        line = self.line
        if first >= last and operator != "c":
            raise Failed("nothing to do")
        if operator == "y":
            self.register = ((line[first:last],), False)
            self.col = first
            self._moved()
            return end
        if operator in ("gu", "gU", "g~"):
            part = line[first:last]
            if not part.isascii():
                raise Unmodelled("case of other than ASCII")
            part = {"gu": part.lower, "gU": part.upper, "g~": part.swapcase}[operator]()
            self._set(line[:first] + part + line[last:])
            self.col = first
            self._clip()
            self._moved()
            self._note(keys[start:end])
            return end
        self.register = ((line[first:last],), False)
        self._set(line[:first] + line[last:])
        self.col = first
        if operator == "c":
            return self._typing(keys, start, end, 1, self.row)
        self._clip()
        self._moved()
        self._note(keys[start:end])
        return end

    def _text_object(self, keys: str, i: int) -> tuple[int, int, int]:
        kind = keys[i + 1 : i + 2]
        line = self.line
        self._need_plain()
        if keys[i] != "i" or not line:
            raise Unmodelled("this text object")
        if kind == "w":
            first = last = self.col
            group = _kind(line[first], False)
            while first > 0 and _kind(line[first - 1], False) == group:
                first -= 1
            while last + 1 < len(line) and _kind(line[last + 1], False) == group:
                last += 1
            return first, last + 1, i + 2
        if kind in ('"', "'", "`") and kind:
            if "\\" in line:
                raise Unmodelled("escaped quotes")
            places = [p for p, char in enumerate(line) if char == kind]
            for left, right in zip(places[::2], places[1::2], strict=False):
                if self.col <= right:
                    if left + 1 == right:
                        raise Unmodelled("empty quotes")
                    return left + 1, right, i + 2
            raise Failed("no quotes")
        raise Unmodelled("this text object")

    def _linewise(self, keys: str, start: int, i: int, operator: str, first: int, last: int) -> int:
        if operator == "y":
            self.register = (tuple(self.lines[first : last + 1]), True)
            if self.row != first:
                self.row = first
                self._moved()
                if self.col:
                    raise Unmodelled("the column after yanking upwards")
            return i
        if operator == "d":
            self.delete_rows(first, last)
            self._note(keys[start:i])
            return i
        if operator == "c":
            self.register = (tuple(self.lines[first : last + 1]), True)
            kept = self.lines[first]
            self.lines[first : last + 1] = [leading_white(kept) if self.autoindent else ""]
            self.row = first
            self.col = len(self.lines[first])
            return self._typing(keys, start, i, 1, self.row, fresh=bool(self.col))
        if operator in "><":
            for row in range(first, last + 1):
                line = self.lines[row]
                if line:
                    white = leading_white(line)
                    cells = indent_cells(white)
                    cells = cells + 8 if operator == ">" else max(cells - 8, 0)
                    self.lines[row] = made_indent(cells) + line[len(white) :]
            self.row = first
        else:
            for row in range(first, last + 1):
                line = self.lines[row]
                if not line.isascii():
                    raise Unmodelled("case of other than ASCII")
                self.lines[row] = {"gu": line.lower, "gU": line.upper, "g~": line.swapcase}[operator]()
            if first != self.row:
                raise Unmodelled("case upwards")
            if first == last:
                self.col = min(self.col, first_nonblank(self.line))
                self._moved()
            self._note(keys[start:i])
            return i
        self.col = first_nonblank(self.line)
        self._moved()
        self._note(keys[start:i])
        return i

    def delete_rows(self, first: int, last: int) -> None:
        """`dd` and `:d`: rows `first` to `last` go, the cursor is on the line after them."""
        if self.lines == [""]:
            raise Unmodelled("deleting from an empty buffer")
        self.register = (tuple(self.lines[first : last + 1]), True)
        del self.lines[first : last + 1]
        if not self.lines:
            self.lines = [""]
            self.emptied = True
        self.row = min(first, len(self.lines) - 1)
        self.col = first_nonblank(self.line)
        self._moved()

    def _note(self, keys: str) -> None:
        self.dot = keys

    # -- simple commands

    def _simple(self, keys: str, start: int, i: int, key: str, count: int) -> int:
        line = self.line
        n = count or 1
        if key == "Y":
            return self._linewise(keys, start, i, "y", self.row, min(self.row + n, len(self.lines)) - 1)
        if key == "J":
            self._join(max(n, 2), True)
            self._note(keys[start:i])
            return i
        if key in "pP":
            self._put(key == "p", n)
            self._note(keys[start:i])
            return i
        self._need_plain()
        if key == "D":
            if count > 1:
                raise Unmodelled("D over lines")
            if not line:
                raise Failed("nothing to delete")
            self.register = ((line[self.col :],), False)
            self._set(line[: self.col])
            self._clip()
            # at the new end, and j keeps the column it is on
            self._moved()
            self._note(keys[start:i])
            return i
        if not line:
            raise Unmodelled("an empty line")
        if key == "x":
            self.register = ((line[self.col : self.col + n],), False)
            self._set(line[: self.col] + line[self.col + n :])
        elif key == "X":
            if self.col == 0:
                raise Failed("X at the start")
            first = max(self.col - n, 0)
            self.register = ((line[first : self.col],), False)
            self._set(line[:first] + line[self.col :])
            self.col = first
        elif key == "~":
            part = line[self.col : self.col + n]
            if not part.isascii():
                raise Unmodelled("case of other than ASCII")
            self._set(line[: self.col] + part.swapcase() + line[self.col + n :])
            self.col = self.col + n
        else:
            char = keys[i : i + 1]
            if not char or self.col + n > len(line):
                raise Failed("r past the end")
            i += 1
            if char == CR:
                rest = line[self.col + n :]
                white = ""
                if self.autoindent:
                    white = made_indent(indent_cells(leading_white(line)))
                    if not line[: self.col].strip(" \t"):
                        raise Unmodelled("splitting inside the indent")
                    rest = rest.lstrip(" \t")
                    if not rest:
                        raise Unmodelled("splitting before blanks")
                self.lines[self.row : self.row + 1] = [line[: self.col], white + rest]
                self.row += 1
                self.col = max(len(white) - 1, 0)
                self.lost = bool(white)
            elif char < " " and char != "\t":
                raise Unmodelled("r with a control key")
            else:
                self._set(line[: self.col] + char * n + line[self.col + n :])
                self.col += n - 1
        self._clip()
        self._moved()
        self._note(keys[start:i])
        return i

    def _join(self, n: int, spaces: bool) -> None:
        if self.row + 1 >= len(self.lines):
            raise Failed("no line to join")
        if self.row + n > len(self.lines):
            raise Unmodelled("not so many lines to join")
        self.join_rows(self.row, self.row + n - 1, spaces)

    def join_rows(self, first: int, last: int, spaces: bool) -> None:
        """`J` (with `spaces`) and `gJ` over rows `first` to `last`; the cursor goes to the last seam."""
        text = self.lines[first]
        seam = max(len(text) - 1, 0)
        end = text[-2:]
        for line in self.lines[first + 1 : last + 1]:
            seam = len(text)
            if spaces:
                line = line.lstrip(" \t")
                if line and line[0] != ")" and text and end[-1:] != "\t":
                    # 'joinspaces' is on: two spaces after the end of a sentence
                    stop = end[-1:] if end[-1:] != " " else end[-2:-1]
                    text += " " * ((end[-1:] != " ") + (stop != "" and stop in ".!?"))
                end = line[-2:]
            text += line
        self.lines[first : last + 1] = [text]
        self.row = first
        self.col = seam
        self._clip()
        self._moved()

    def _put(self, after: bool, n: int) -> None:
        if self.register is None:
            raise Unmodelled("nothing to put, or a block")
        texts, linewise = self.register
        if linewise:
            at = self.row + 1 if after else self.row
            self.lines[at:at] = list(texts) * n
            self.row = at
            self.col = first_nonblank(self.line)
            self._moved()
            return
        self._need_plain()
        line = self.line
        text = texts[0] * n
        if not text or not is_plain(text):
            raise Unmodelled("this register")
        at = min(self.col + 1, len(line)) if after else self.col
        self._set(line[:at] + text + line[at:])
        self.col = at + len(text) - 1
        self._moved()

    # -- typing

    def _insert(self, keys: str, start: int, i: int, key: str, count: int) -> int:
        line = self.line
        n = count or 1
        fresh = False
        row = self.row
        if key in "sSC":
            if key == "S":
                if count > 1:
                    raise Unmodelled("S over lines")
                return self._linewise(keys, start, i, "c", self.row, self.row)
            if key == "C" and count > 1:
                raise Unmodelled("C over lines")
            self._need_plain()
            end = self.col + n if key == "s" else len(line)
            self.register = ((line[self.col : end],), False)
            self._set(line[: self.col] + line[end:])
            n = 1
        elif key == "A":
            self.col = len(line)
        elif key == "I":
            self.col = len(leading_white(line))
        elif key == "a":
            self._need_plain()
            self.col = min(self.col + 1, len(line))
        elif key in "oO":
            white = made_indent(indent_cells(leading_white(line))) if self.autoindent else ""
            row = self.row + 1 if key == "o" else self.row
            self.lines.insert(row, white)
            self.row = row
            self.col = len(white)
            fresh = bool(white)
            if n > 1 and white:
                raise Unmodelled("a count on an indented new line")
        elif key == "R":
            if n > 1:
                raise Unmodelled("R with a count")
            self._need_plain()
        else:
            if self.col:
                self._need_plain()
        return self._typing(keys, start, i, n, row, fresh=fresh, replacing=key == "R", opened=key in "oO")

    def _typing(
        self,
        keys: str,
        start: int,
        i: int,
        count: int,
        row: int,
        fresh: bool = False,
        replacing: bool = False,
        opened: bool = False,
    ) -> int:
        """Insert or replace mode up to <Esc>.

        `fresh`: the cursor stands right after an indent that Vim made, which goes again if
        nothing follows it.
        """
        if not self.may_type:
            raise Unmodelled("typing where Vim may indent by rules of its own")
        first_typed: list[str] = []
        typed_any = False
        while True:
            if i >= len(keys):
                if self.inner:
                    # the end of :normal or of a macro ends insert mode in :normal only
                    break
                raise Unmodelled("keys end in insert mode")
            char = keys[i]
            i += 1
            if char == ESC:
                break
            typed_any = True
            if char == CTRL_V:
                char, i = self._literal(keys, i)
            elif char == CR:
                if replacing or count > 1:
                    raise Unmodelled("<CR> here")
                self._break(fresh)
                fresh = bool(self.autoindent and self.line[: self.col])
                continue
            elif char == "\x15":
                if not fresh:
                    raise Unmodelled("<C-U> after text")
                line = self.line
                self._set(line[self.col :])
                self.col = 0
                fresh = False
                continue
            elif (char < " " and char != "\t") or char == "\x7f" or "\x80" <= char <= "\x9f":
                raise Unmodelled("a control key in insert mode")
            line = self.line
            if replacing and self.col < len(line):
                self._set(line[: self.col] + char + line[self.col + 1 :])
            else:
                self._set(line[: self.col] + char + line[self.col :])
            self.col += 1
            first_typed.append(char)
            fresh = False
        if count > 1:
            text = "".join(first_typed)
            if opened:
                if self.autoindent and text[:1] in (" ", "\t"):
                    raise Unmodelled("a count on lines that indent each other")
                self.lines[self.row + 1 : self.row + 1] = [text] * (count - 1)
                self.row += count - 1
            else:
                line = self.line
                self._set(line[: self.col] + text * (count - 1) + line[self.col :])
                self.col += len(text) * (count - 1)
        unwanted = False
        if fresh and not self.line[self.col :]:
            self._set("")
            self.col = 0
            # Vim keeps the wanted column after the indent that it has removed
            unwanted = True
        elif fresh and typed_any is False and self.line[self.col :]:
            raise Unmodelled("an indent before text")
        if self.col > 0:
            self.col -= 1
        self._moved()
        if unwanted:
            self.want = -2
        self._note(keys[start:i] if keys[i - 1 : i] == ESC else keys[start:i] + ESC)
        return i

    def _literal(self, keys: str, i: int) -> tuple[str, int]:
        nxt = keys[i : i + 1]
        if nxt.isdigit():
            number = keys[i : i + 3]
            if len(number) == 3 and number.isdigit() and int(number) < 256:
                value = int(number)
                return ("\x00" if value == 10 else chr(value)), i + 3
        elif nxt == "u" and len(keys) >= i + 5:
            return chr(int(keys[i + 1 : i + 5], 16)), i + 5
        elif nxt and nxt in "\t\r\x1b":
            return nxt, i + 1
        raise Unmodelled("this literal key")

    def _break(self, fresh: bool) -> None:
        """<CR> in insert mode."""
        line = self.line
        left, right = line[: self.col], line[self.col :]
        white = ""
        if self.autoindent:
            white = made_indent(
                indent_cells(leading_white(left) if left.strip(" \t") else leading_white(line))
            )
            if left and not left.strip(" \t"):
                if not fresh:
                    raise Unmodelled("a line break after white space")
                left = ""
            elif not left and white:
                raise Unmodelled("a line break before an indent")
            if white:
                right = right.lstrip(" \t")
            elif right[:1] in (" ", "\t") and right:
                raise Unmodelled("a line break before white space")
        self.lines[self.row : self.row + 1] = [left, white + right]
        self.row += 1
        self.col = len(white)

    # -- numbers

    def _add(self, amount: int) -> None:
        """CTRL-A and CTRL-X on the number at or after the cursor."""
        self._need_plain()
        for match in _NUMBER.finditer(self.line):
            if match.end() > self.col:
                text = added(self.line, match, amount)
                self._set(self.line[: match.start()] + text + self.line[match.end() :])
                self.col = match.start() + len(text) - 1
                self._moved()
                return
        raise Failed("no number")

    def _lines_mode(self, keys: str, i: int) -> int:
        """V, one vertical motion, and g CTRL-A: the first numbers of the lines get 1, 2, 3 ... added."""
        match = re.compile("(?:(G)|gg|([1-9]\\d*)?([jk]))?([1-9]\\d*)?g\x01").match(keys, i)
        if match is None:
            raise Unmodelled("this use of V")
        other = self.row
        if match.group(1):
            other = len(self.lines) - 1
        elif match.group(3):
            other += int(match.group(2) or "1") * (1 if match.group(3) == "j" else -1)
        elif keys.startswith("gg", i):
            other = 0
        if not 0 <= other < len(self.lines):
            raise Unmodelled("past the end")
        first, last = sorted((self.row, other))
        step = int(match.group(4) or "1")
        amount = step
        for row in range(first, last + 1):
            line = self.lines[row]
            found = _NUMBER.search(line)
            if found is None:
                continue
            if not is_plain(line):
                raise Unmodelled("columns of a line that is not plain")
            self.lines[row] = line[: found.start()] + added(line, found, amount) + line[found.end() :]
            amount += step
        self.row, self.lost = first, True
        self._clip()
        self._moved()
        self.dot = ""
        return match.end()

    # -- visual block

    def _block(self, keys: str, start: int, i: int) -> int:
        """<C-V>, vertical motion, horizontal motion, then I, A, d, x, c, r or a case key."""
        top_col = self.col
        top = self.row
        to_end = False
        end_col = top_col
        bottom = top
        while True:
            digits = i
            while i < len(keys) and (keys[i] in "123456789" or (keys[i] == "0" and i > digits)):
                i += 1
            count = int(keys[digits:i]) if i > digits else 0
            key = keys[i : i + 1]
            i += 1
            if not key:
                raise Unmodelled("keys end in visual mode")
            if key in "jG}":
                if key == "j":
                    bottom += count or 1
                elif key == "G" and not count:
                    bottom = len(self.lines) - 1
                else:
                    raise Unmodelled("this block")
                if bottom >= len(self.lines):
                    raise Unmodelled("past the end")
                if key == "G":
                    end_col = first_nonblank(self.lines[bottom])
            elif key == "$":
                to_end = True
            elif key == "l":
                end_col += count or 1
                if end_col >= len(self.lines[bottom]):
                    raise Unmodelled("past the end")
            else:
                break
        rows = range(top, bottom + 1)
        if any("\t" in self.lines[r] or not self.lines[r].isascii() for r in rows):
            raise Unmodelled("a block over tabs")
        left, right = sorted((top_col, end_col))
        if right >= len(self.lines[bottom]) + (not self.lines[bottom]) or top_col >= len(self.lines[top]) + (
            not self.lines[top]
        ):
            raise Unmodelled("a block past the end")
        if key in "dx":
            for r in rows:
                line = self.lines[r]
                self.lines[r] = line[:left] + ("" if to_end else line[right + 1 :])
            self.register = None
            self.row, self.col = top, left
            self._clip()
            self._moved()
            self.dot = ""
            return i
        if key in "IAc":
            end = keys.find(ESC, i)
            text = keys[i:end]
            if end < 0 or any(c < " " for c in text) or not text:
                raise Unmodelled("this text")
            for r in rows:
                line = self.lines[r]
                if key == "A":
                    if to_end:
                        self.lines[r] = line + text
                    elif len(line) <= right:
                        raise Unmodelled("a short line")
                    else:
                        self.lines[r] = line[: right + 1] + text + line[right + 1 :]
                elif key == "I":
                    if len(line) < left or (len(line) == left and left):
                        continue
                    self.lines[r] = line[:left] + text + line[left:]
                else:
                    if len(line) <= left:
                        raise Unmodelled("a short line")
                    self.lines[r] = line[:left] + text + ("" if to_end else line[right + 1 :])
            if key == "c":
                self.register = None
            self.row = top
            self.col = left
            self._clip()
            self._moved()
            self.dot = ""
            self.lost = True
            return end + 1
        raise Unmodelled("this block command")

    # -- Ex commands

    def _ex(self, text: str) -> None:
        if text.startswith("se ") or text.startswith("set "):
            self._set_options(text.split(" ")[1:])
            return
        match = _RANGE.match(text)
        assert match is not None
        rest = text[match.end() :]
        ranged = match.end() > 0
        first, last = self._range(match.group(1), match.group(2)) if ranged else (self.row, self.row)
        if not rest:
            if not ranged:
                raise Unmodelled("an empty command")
            self.row = last
            self.col = first_nonblank(self.line)
            self._moved()
            return
        if rest.startswith("pu"):
            self._ex_put_range(last, rest[2:])
            return
        if not 0 <= first <= last < len(self.lines):
            raise Unmodelled("this range")
        for name, run in self._commands():
            if rest.startswith(name):
                run(first, last, rest[len(name) :], ranged)
                return
        raise Unmodelled(f"command {rest[:8]!r}")

    def _commands(self) -> list[tuple[str, Callable[[int, int, str, bool], None]]]:
        return [
            ("norm ", self._ex_normal),
            ("sor", self._ex_sort),
            ("s", self._ex_substitute),
            ("g", self._ex_global),
            ("v", self._ex_global_not),
            ("d", self._ex_delete),
            ("m", self._ex_move),
            ("t", self._ex_copy),
            ("j", self._ex_join),
            (">", self._ex_shift_right),
            ("<", self._ex_shift_left),
        ]

    def _set_options(self, names: list[str]) -> None:
        for name in names:
            if name == "paste":
                self.autoindent = False
            elif name in ("noai",):
                self.autoindent = False
            elif name in ("noic",):
                self.ignorecase = False
            elif name in _OPTIONS_WITHOUT_EFFECT:
                pass
            else:
                raise Unmodelled(f"option {name}")

    def _range(self, first: str, second: str | None) -> tuple[int, int]:
        if first == "%":
            if second is not None:
                raise Unmodelled("this range")
            return 0, len(self.lines) - 1
        a = self._address(first)
        return a, a if second is None else self._address(second)

    def _address(self, text: str) -> int:
        match = re.match(r"\d+|\.|\$|", text)
        assert match is not None
        base = match.group()
        row = int(base) - 1 if base.isdigit() else len(self.lines) - 1 if base == "$" else self.row
        for sign, number in re.findall(r"([+-])(\d*)", text[match.end() :]):
            row += int(sign + (number or "1"))
        return row

    def _ex_delete(self, first: int, last: int, rest: str, ranged: bool) -> None:
        if rest:
            raise Unmodelled(":d with more")
        self.delete_rows(first, last)

    def _ex_put_range(self, after: int, rest: str) -> None:
        """`:pu=range(first,last,step)`: numbers, each on a line of its own."""
        match = _PUT_RANGE.fullmatch(rest)
        if match is None or not -1 <= after < len(self.lines):
            raise Unmodelled(":put of something else")
        first, last, step = int(match[1]), int(match[2]), int(match[3] or "1")
        numbers = range(first, last + (1 if step > 0 else -1), step)
        if not 0 < len(numbers) < 10_000:
            raise Unmodelled("too many numbers, or none")
        self.lines[after + 1 : after + 1] = [str(number) for number in numbers]
        self.row = after + len(numbers)
        self.col = 0
        self._moved()

    def _destination(self, rest: str) -> int:
        if not re.fullmatch(r"(?:\d+|\.|\$|)(?:[+-]\d*)*", rest) or not rest:
            raise Unmodelled("this address")
        row = self._address(rest)
        if not -1 <= row < len(self.lines):
            raise Unmodelled("this address")
        return row

    def _ex_move(self, first: int, last: int, rest: str, ranged: bool) -> None:
        to = self._destination(rest)
        if first <= to < last:
            raise Failed("into itself")
        block = self.lines[first : last + 1]
        if to >= last:
            self.lines[first : to + 1] = self.lines[last + 1 : to + 1] + block
            self.row = to
        else:
            self.lines[to + 1 : last + 1] = block + self.lines[to + 1 : first]
            self.row = to + len(block)
        self.col = first_nonblank(self.line)
        self._moved()

    def _ex_copy(self, first: int, last: int, rest: str, ranged: bool) -> None:
        to = self._destination(rest)
        block = self.lines[first : last + 1]
        self.lines[to + 1 : to + 1] = block
        self.row = to + len(block)
        self.col = first_nonblank(self.line)
        self._moved()

    def _ex_join(self, first: int, last: int, rest: str, ranged: bool) -> None:
        if rest not in ("", "!"):
            raise Unmodelled(":j with more")
        if first == last:
            last += 1
        if last >= len(self.lines):
            raise Failed("no line to join")
        self.join_rows(first, last, not rest)
        # Ex :join leaves the cursor where the model does not look
        self.col = first_nonblank(self.line)
        self._moved()

    def _ex_shift_right(self, first: int, last: int, rest: str, ranged: bool) -> None:
        self._shift(first, last, rest, ">")

    def _ex_shift_left(self, first: int, last: int, rest: str, ranged: bool) -> None:
        self._shift(first, last, rest, "<")

    def _shift(self, first: int, last: int, rest: str, sign: str) -> None:
        if rest.strip(sign):
            raise Unmodelled("shift with more")
        for _ in range(len(rest) + 1):
            self.row = first
            self._linewise("", 0, 0, sign, first, last)
        self.row = last
        self.col = first_nonblank(self.line)
        self._moved()
        self.lost = not self.line.strip(" \t")

    @staticmethod
    def _delimited(text: str) -> tuple[str, str, str]:
        if not text or text[0].isalnum() or text[0] in '"|\\ ':
            raise Unmodelled("this delimiter")
        mark = text[0]
        parts = [""]
        i = 1
        in_collection = False
        while i < len(text):
            char = text[i]
            if char == "\\" and i + 1 < len(text):
                parts[-1] += mark if text[i + 1] == mark and mark not in ".*[]^$~&" else text[i : i + 2]
                i += 2
                continue
            if len(parts) == 1 and char == "[" and "]" in text[i:]:
                in_collection = True
            elif char == "]":
                in_collection = False
            if char == mark and len(parts) < 3:
                if in_collection:
                    raise Unmodelled("the delimiter inside a collection")
                parts.append("")
            else:
                parts[-1] += char
            i += 1
        parts += [""] * (3 - len(parts))
        return parts[0], parts[1], parts[2]

    def _ex_substitute(self, first: int, last: int, rest: str, ranged: bool) -> None:
        pattern, replacement, flags = self._delimited(rest)
        if flags not in ("", "g") or CTRL_V in rest:
            raise Unmodelled("flags of :s")
        self.lines, self.row = substitute_lines(
            self.lines, first, last, pattern, replacement, flags == "g", self.ignorecase
        )
        self.row = min(self.row, len(self.lines) - 1)
        self.col = first_nonblank(self.line)
        self._moved()
        self.lost = "\\n" in pattern

    def _ex_global(self, first: int, last: int, rest: str, ranged: bool, wanted: bool = True) -> None:
        if not ranged:
            first, last = 0, len(self.lines) - 1
        mark = rest[:1]
        end = 1
        while end < len(rest) and rest[end] != mark:
            end += 2 if rest[end] == "\\" else 1
        if not mark or mark.isalnum() or mark in '"|\\! ' or end >= len(rest):
            raise Unmodelled("this :g")
        regex = compiled(rest[1:end].replace("\\" + mark, mark), self.ignorecase)
        if "\\n" in rest[1:end]:
            raise Unmodelled("newlines in :g")
        command = rest[end + 1 :]
        if rest[1:end] != "^" and not all(map(is_plain, self.lines[first : last + 1])):
            raise Unmodelled("a match among characters that may combine")
        marked = [
            row
            for row in range(first, last + 1)
            if (regex.search(self.lines[row] + "\n") is not None) == wanted
        ]
        if not marked:
            raise Failed("no match")
        if command == "d":
            gone = set(marked)
            self.register = ((self.lines[marked[-1]],), True)
            self.lines = [line for row, line in enumerate(self.lines) if row not in gone]
            if not self.lines:
                self.lines = [""]
                self.emptied = True
            self.row = min(max(marked[-1] - len(marked) + 1, 0), len(self.lines) - 1)
        elif command in ("m0", "m$", "t$", "t0"):
            block = [self.lines[row] for row in marked]
            if command[1] == "0":
                block.reverse()
            gone = set(marked) if command[0] == "m" else set()
            kept = [line for row, line in enumerate(self.lines) if row not in gone]
            self.lines = block + kept if command[1] == "0" else kept + block
            self.row = 0 if command[1] == "0" else len(self.lines) - 1
        elif command in ("t.",):
            out = []
            chosen = set(marked)
            for row, line in enumerate(self.lines):
                out += [line, line] if row in chosen else [line]
            self.lines = out
            self.row = marked[-1] + len(marked)
        elif command == "j" and marked:
            self._global_each(marked, command)
        elif command.startswith("norm "):
            self._global_each(marked, command)
            return
        elif command.startswith("s"):
            self._global_each(marked, command)
            self.lost = True
        else:
            raise Unmodelled("this :g command")
        self.col = first_nonblank(self.line)
        self._moved()

    def _ex_global_not(self, first: int, last: int, rest: str, ranged: bool) -> None:
        self._ex_global(first, last, rest, ranged, wanted=False)

    def _global_each(self, marked: list[int], command: str) -> None:
        """Run a command that keeps or changes the number of lines, row by marked row."""
        if len(marked) > 3000:
            raise Unmodelled("too long")
        lines_before = len(self.lines)
        shift = 0
        gone = -1
        for row in marked:
            if row <= gone:
                continue
            self.row = row + shift
            self.col = 0
            self._moved()
            try:
                self._ex(command)
            except Failed:
                if not command.startswith(("s", "norm ")):
                    raise
            change = len(self.lines) - lines_before - shift
            if change < 0 and command == "j":
                gone = row - change
            elif change < 0:
                raise Unmodelled("a :g that deletes elsewhere")
            shift += change

    def _ex_normal(self, first: int, last: int, rest: str, ranged: bool) -> None:
        keys = unescaped(rest)
        if last - first > 6000:
            raise Unmodelled("too long")
        at = first
        for _ in range(last - first + 1):
            if at >= len(self.lines):
                raise Unmodelled("past the end")
            if ranged:
                self.row, self.col = at, 0
                self._moved()
            before = len(self.lines)
            try:
                self._nested(keys, macro=True)
            except Failed:
                pass
            if len(self.lines) < before:
                raise Unmodelled("lines that vanish under :normal")
            if len(self.lines) > before and first != last:
                raise Unmodelled("lines that appear under :normal")
            at += 1
        self._moved()

    def _ex_sort(self, first: int, last: int, rest: str, ranged: bool) -> None:
        if not ranged:
            first, last = 0, len(self.lines) - 1
        if first == last:
            return
        self.lines[first : last + 1] = sorted_lines(self.lines[first : last + 1], rest)
        self.row = first
        self.col = first_nonblank(self.line)
        self._moved()


def added(line: str, number: re.Match[str], amount: int) -> str:
    """The number with the amount added, as CTRL-A writes it."""
    text = number.group()
    if (len(text) > 1 and text[0] == "0") or len(text) > 15 or _NOT_DECIMAL.search(line):
        raise Unmodelled("a number that is not plainly decimal")
    if line[: number.start()].endswith("-") or int(text) + amount < 0:
        raise Unmodelled("negative numbers")
    return str(int(text) + amount)


def unescaped(text: str) -> str:
    """A command line as Vim sees it, its <C-V> pairs resolved."""
    return re.sub(CTRL_V + "(.)", r"\1", text, flags=re.DOTALL)


def sorted_lines(lines: list[str], options: str) -> list[str]:
    """What `:sor{options}` makes of lines: `!` reverses, ` n` by number, ` i` ignoring case, ` u` unique.

    Vim's sort is stable, and `!` reverses its whole result; a line without a number comes first.
    """
    reverse = options.startswith("!")
    flags = options[reverse:].strip(" ")
    if any(flag not in "niu" for flag in flags) or ("n" in flags and "u" in flags):
        raise Unmodelled("these flags of :sort")

    def bytewise(line: str) -> bytes:
        # in memory Vim keeps a NUL as a newline
        text = (ascii_folded(line) if "i" in flags else line).replace("\0", "\n")
        return text.encode("utf-8", "surrogatepass")

    key: Callable[[str], object]
    if "n" in flags:

        def key(line: str) -> object:
            match = _SORT_NUMBER.search(line)
            if match is not None and len(match.group()) > 17:
                raise Unmodelled("a huge number")
            if match is None:
                # a lone minus at the end reads as the number 0
                return (1, 0) if line.endswith("-") else (0, 0)
            return 1, int(match.group())
    else:
        key = bytewise
    out = sorted(lines, key=key)  # type: ignore[arg-type]
    if reverse:
        out.reverse()
    if "u" in flags:
        unique: list[str] = []
        for line in out:
            if not unique or bytewise(unique[-1]) != bytewise(line):
                unique.append(line)
        out = unique
    return out


def ascii_folded(line: str) -> str:
    """The line in lower case, if that means the same in Vim."""
    if not line.isascii():
        raise Unmodelled("case of other than ASCII")
    return line.lower()
