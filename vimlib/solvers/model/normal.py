"""The keys of the modelled Vim: motions, operators, text objects, typing, blocks and macros."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vimlib.solvers.model.characters import (
    CR,
    CTRL_V,
    ESC,
    MAX_COLUMN,
    Failed,
    Unmodelled,
    char_kind,
    column_at,
    first_nonblank,
    indent_cells,
    is_plain,
    leading_white,
    made_indent,
    screen_column,
    word_backs,
    word_ends,
    word_starts,
)
from vimlib.solvers.model.ex import CommandLines
from vimlib.solvers.model.patterns import compiled

PROMPT_WIDTH = 70
"""A command line longer than this may end in Vim's hit-enter prompt, which swallows some keys."""

PROMPT_KEYS = frozenset("jkdufbg")
"""Keys that scroll at the hit-enter prompt instead of running as commands."""

_MOTION_FINDS = "fFtT"
_TERMINAL_CODE = re.compile("(?<!\x16)\x1b[}O[]")
_NUMBER = re.compile("[0-9]+")
_NOT_DECIMAL = re.compile("0[xXbB]")


class Vim(CommandLines):
    """Vim in normal mode, to which `run` gives keys; everything that it holds can be looked at."""

    # -- helpers

    def _wanted(self) -> int:
        return screen_column(self.line, self.col) if self.want < 0 else self.want

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
                kind = char_kind(line[column], big)
                while column < last and char_kind(line[column + 1], big) == kind:
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
            group = char_kind(line[first], False)
            while first > 0 and char_kind(line[first - 1], False) == group:
                first -= 1
            while last + 1 < len(line) and char_kind(line[last + 1], False) == group:
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


def added(line: str, number: re.Match[str], amount: int) -> str:
    """The number with the amount added, as CTRL-A writes it."""
    text = number.group()
    if (len(text) > 1 and text[0] == "0") or len(text) > 15 or _NOT_DECIMAL.search(line):
        raise Unmodelled("a number that is not plainly decimal")
    if line[: number.start()].endswith("-") or int(text) + amount < 0:
        raise Unmodelled("negative numbers")
    return str(int(text) + amount)
