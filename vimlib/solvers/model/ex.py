"""The command lines of the modelled Vim: `:s`, `:g`, `:sort`, `:normal` and a few more."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable

from vimlib.solvers.model.buffer import Buffer
from vimlib.solvers.model.characters import CTRL_V, Failed, Unmodelled, first_nonblank, is_plain
from vimlib.solvers.model.patterns import compiled, substitute_lines

_RANGE = re.compile(r"(%|(?:\d+|\.|\$|)(?:[+-]\d*)*)(?:,((?:\d+|\.|\$|)(?:[+-]\d*)*))?")
_OPTIONS_WITHOUT_EFFECT = frozenset("bin nobin eol noeol nofixeol nofen ff=dos ff=unix bomb nobomb".split())
_PUT_RANGE = re.compile(r"=range\((\d+),(\d+)(?:,(-?[1-9]\d*))?\)")
_SORT_NUMBER = re.compile(r"-?\d+")


class CommandLines(Buffer, ABC):
    """A buffer that takes Ex commands; keys are for whoever derives from it."""

    @abstractmethod
    def _nested(self, keys: str, macro: bool = False) -> None:
        """Play keys as a macro or `:normal` does."""

    @abstractmethod
    def _linewise(self, keys: str, start: int, i: int, operator: str, first: int, last: int) -> int:
        """Apply an operator to whole rows."""

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
