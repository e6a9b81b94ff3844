"""The cheapest keys that make one line into another.

An edit of a line is a walk from left to right over its differences: move, change, move,
change. Where the differences are, several alignments propose; which of them to join into
one change, how to get there and with which command to do it, a shortest-path search
decides, whose cost is the number of keys.
"""

from __future__ import annotations

import difflib
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache

from vimlib.solvers.model.characters import (
    CTRL_V,
    ESC,
    first_nonblank,
    indent_cells,
    is_plain,
    leading_white,
    made_indent,
)

LONG_LINE = 2000
"""Lines longer than this are edited by their common beginning and end only."""

MOST_CHANGES = 14
"""More changes in one line are merged to this many."""

_SMALL_WORD = re.compile(r"[0-9A-Za-z_]+|[^0-9A-Za-z_ \t]+")
_BIG_WORD = re.compile(r"[^ \t]+")

Change = tuple[int, int, int, int]
"""Old start, old end, new start, new end, in characters."""

ANY, FIND, WORD = 0, 1, 2
"""Styles of motion: the shortest of all; by what stands there (f, t, $, ^); by words. Counts of
characters say the least about what an edit of one line means for another."""

Steps = tuple[tuple[str, str], ...]
"""(motion, change) pairs; joined they are the keys."""


def typed_char(char: str) -> str:
    """The keys that type one character in insert mode."""
    if " " <= char <= "~" or char == "\t" or char >= "\xa0":
        return CTRL_V + "ufeff" if char == "\ufeff" else char
    if char == "\n":
        return "\r"
    if char < "\x80":
        return f"{CTRL_V}{ord(char):03d}"
    return f"{CTRL_V}u{ord(char):04x}"


def typed(text: str) -> str:
    """The keys that type a text in insert mode, a newline being <CR>."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(typed_char, text))


def type_lines(lines: list[str], indent: str, autoindent: bool) -> str:
    """The keys that type lines in insert mode on a new line which Vim has given `indent`."""
    if not autoindent:
        return typed("\n".join(lines))
    out: list[str] = []
    for line in lines:
        if not line:
            out.append("")
            continue
        if not indent:
            out.append(typed(line))
        elif line.startswith(indent) and line != indent:
            out.append(typed(line[len(indent) :]))
        else:
            out.append("\x15" + typed(line))
        if line.strip(" \t"):
            indent = made_indent(indent_cells(leading_white(line)))
    return "\r".join(out)


def _number(n: int) -> str:
    return str(n) if n > 1 else ""


def repeated(key: str, n: int) -> str:
    """A key n times, or with a count where that is shorter."""
    return key * n if n <= 2 and n * len(key) <= 1 + len(key) else f"{n}{key}"


def _put(best: dict[int, str], place: int, keys: str) -> None:
    known = best.get(place)
    if known is None or len(keys) < len(known):
        best[place] = keys


@lru_cache(maxsize=20_000)
def _words(line: str, big: bool) -> tuple[list[int], list[int]]:
    """Where the words of a line start, and where they end (their last columns)."""
    if not line.isascii():
        return [], []
    found = [(match.start(), match.end() - 1) for match in (_BIG_WORD if big else _SMALL_WORD).finditer(line)]
    return [start for start, _ in found], [end for _, end in found]


def _walk(best: dict[int, str], places: list[int], key: str, shift: int = 0) -> None:
    for n, place in enumerate(places, 1):
        _put(best, place + shift, repeated(key, n))


def _put_words(best: dict[int, str], line: str, column: int, backwards: bool, past: int = 0) -> None:
    """The word motions, up to nine words away; `past`: how far beyond an inclusive end to count."""
    for big in (False, True):
        starts, ends = _words(line, big)
        after = bisect_right(starts, column)
        _walk(best, starts[after : after + 9], "W" if big else "w")
        after = bisect_right(ends, column)
        _walk(best, ends[after : after + 9], "E" if big else "e", past)
        if backwards:
            before = bisect_left(starts, column)
            _walk(best, starts[max(before - 9, 0) : before][::-1], "B" if big else "b")


def _seekable(char: str) -> bool:
    return (" " <= char <= "~") or char == "\t" or char >= "\xa0"


@lru_cache(maxsize=20_000)
def moves(line: str, column: int, style: int = ANY) -> dict[int, str]:
    """For each column of the line the shortest motion to it from `column`, in a style."""
    best: dict[int, str] = {column: ""}
    last = len(line) - 1
    if last < 0:
        return best
    for place in (column - 2, column - 1):
        if place >= 0:
            _put(best, place, "h" * (column - place))
    for place in (column + 1, column + 2):
        if place <= last:
            _put(best, place, "l" * (place - column))
    _put(best, 0, "0")
    _put(best, last, "$")
    _put(best, first_nonblank(line), "^")
    if style != FIND:
        _put_words(best, line, column, True)
    if style == WORD:
        return best
    seen: dict[str, int] = {}
    for place in range(column + 1, min(last + 1, column + 400)):
        char = line[place]
        n = seen[char] = seen.get(char, 0) + 1
        if not _seekable(char) or n > 9:
            continue
        _put(best, place, f"{_number(n)}f{char}")
        if place - 1 > column:
            _put(best, place - 1, f"{_number(n)}t{char}")
    seen = {}
    for place in range(column - 1, max(-1, column - 400), -1):
        char = line[place]
        n = seen[char] = seen.get(char, 0) + 1
        if not _seekable(char) or n > 9:
            continue
        _put(best, place, f"{_number(n)}F{char}")
        if place + 1 < column:
            _put(best, place + 1, f"{_number(n)}T{char}")
    return best


def move(line: str, column: int, to: int, style: int = ANY) -> str:
    """The shortest motion from one column to another, in a style if there is one."""
    keys = moves(line, column, style).get(to)
    if keys is not None and (len(keys) <= 2 or style):
        return keys
    plain = f"{to - column}l" if to > column else f"{column - to}h"
    return plain if keys is None or len(plain) < len(keys) else keys


@lru_cache(maxsize=20_000)
def spans(line: str, column: int, style: int = ANY) -> dict[int, str]:
    """For each end (exclusive) the shortest motion that `d` takes from `column` to there."""
    best: dict[int, str] = {}
    last = len(line) - 1
    if column > last:
        return best
    _put(best, last + 1, "$")
    for n in range(1, last + 2 - column):
        if n > (99 if style == ANY else 1):
            break
        _put(best, column + n, "l" if n == 1 else f"{n}l")
    if style != FIND:
        _put_words(best, line, column, False, 1)
    if style == WORD:
        return best
    seen: dict[str, int] = {}
    for place in range(column + 1, min(last + 1, column + 400)):
        char = line[place]
        n = seen[char] = seen.get(char, 0) + 1
        if not _seekable(char) or n > 9:
            continue
        _put(best, place + 1, f"{_number(n)}f{char}")
        _put(best, place, f"{_number(n)}t{char}")
    return best


def _change_word(line: str, column: int) -> int:
    """Where the word at `column` ends (exclusive) for `cw`; -1 where it is not on a word."""
    char = line[column]
    if not line.isascii() or char in " \t":
        return -1
    match = _SMALL_WORD.match(line, column)
    return match.end() if match else -1


def _typed_split(before: str, new: str, rest: str, autoindent: bool) -> str | None:
    """The keys that type `new`, which holds newlines, between two parts of a line.

    None where 'autoindent' would do more to the line than is worth following.
    """
    if not autoindent:
        return typed(new)
    head, *lines = new.split("\n")
    top = before + head
    if not top.strip(" \t") or (before and not before.strip(" \t")):
        return None
    white = made_indent(indent_cells(leading_white(top)))
    if white and rest[:1] in (" ", "\t") and rest:
        return None
    keys = typed(head) + "\r"
    if not white or not rest or lines[-1] not in ("", white):
        return keys + type_lines(lines, white, True)
    # what is typed last is no more than an indent, and the rest of the line follows it
    if lines[:-1]:
        keys += type_lines(lines[:-1], white, True) + "\r"
    return keys if lines[-1] else keys + "\x15"


def _edits(
    line: str, first: int, last: int, new: str, cursor: int, autoindent: bool, style: int = ANY
) -> Iterator[tuple[str, str, int]]:
    """Ways to put `new` for `line[first:last]`: (motion, change, cursor afterwards).

    The cursor is where a normal-mode cursor can stand; afterwards likewise.
    """
    size = len(line)
    old = line[first:last]
    width = last - first
    multi = "\n" in new
    if multi:
        splitting = _typed_split(line[:first], new, line[last:], autoindent)
        if splitting is None:
            return
        text = splitting + ESC
        after = max(len(new) - new.rfind("\n") - 2, 0)
    else:
        text = typed(new) + ESC
        after = first + len(new) - 1
    if not old:
        if first >= size:
            yield "", "A" + text, after
        else:
            yield move(line, cursor, first, style), "i" + text, after
            if first == len(leading_white(line)) and line.strip(" \t"):
                yield "", "I" + text, after
        if first > 0:
            yield move(line, cursor, first - 1, style), "a" + text, after
        if len(new) > 3 and not multi:
            for unit in (1, 2, 3):
                if len(new) % unit == 0 and new == new[:unit] * (len(new) // unit):
                    short = f"{len(new) // unit}" + ("A" if first >= size else "i") + typed(new[:unit]) + ESC
                    yield ("" if first >= size else move(line, cursor, first, style)), short, after
                    break
        return
    there = move(line, cursor, first, style)
    ends = spans(line, first, style)
    at_end = last == size
    if not new:
        left = first if last < size else max(first - 1, 0)
        if style == ANY or width <= 2 or last not in ends:
            yield there, ("x" if width == 1 else "xx" if width == 2 else f"{width}x"), left
        if at_end:
            yield there, "D", left
        if last in ends:
            yield there, "d" + ends[last], left
        if last < size and first == 0:
            yield move(line, cursor, last, style), "d0", 0
        if last < size and (style == ANY or width == 1):
            yield move(line, cursor, last, style), ("X" if width == 1 else f"{width}X"), first
        return
    if not multi:
        if len(new) == width:
            if width == 1:
                if _seekable(new):
                    yield there, "r" + new, first
                if new.isascii() and old.isascii() and new == old.swapcase():
                    yield there, "~", min(first + 1, size - 1)
            else:
                # in a long line Vim takes quadratic time to type over
                if style == ANY and width < 500:
                    yield there, "R" + text, after
                if new == new[0] * width and _seekable(new[0]):
                    yield there, f"{width}r{new[0]}", last - 1
                if new.isascii() and old.isascii() and new == old.swapcase():
                    yield there, ("~~" if width == 2 else f"{width}~"), min(last, size - 1)
            if width > 1 and new.isascii() and old.isascii():
                motion = "" if width == size and first == 0 else ends.get(last)
                for key, fold in (("gU", str.upper), ("gu", str.lower), ("g~", str.swapcase)):
                    if fold(old) == new and motion is not None:
                        if motion:
                            yield there, key + motion, first
                        else:
                            yield "", key + key[-1], min(cursor, first_nonblank(line))
    elif new == "\n" and width == 1 and not (autoindent and (line[last:] == "" or leading_white(line))):
        yield there, "r\r", 0
    if at_end:
        yield there, "C" + text, after
    if style == ANY or width == 1 or last not in ends:
        yield there, (f"{width}s" if width > 1 else "s") + text, after
    if last in ends:
        if ends[last] not in ("w", "W") and not ends[last].endswith(("w", "W")):
            yield there, "c" + ends[last] + text, after
        if _change_word(line, first) == last:
            yield there, "cw" + text, after
    elif _change_word(line, first) == last:
        yield there, "cw" + text, after
    if first == 0 and last == size:
        if not autoindent or not leading_white(line):
            yield "", "S" + text, after
        elif not multi and new.startswith(leading_white(line)) and new != leading_white(line):
            yield "", "S" + typed(new[len(leading_white(line)) :]) + ESC, after
    elif autoindent and last == size and line[:first] == leading_white(line) and not multi:
        yield "", "S" + text, after


def _affix_change(old: str, new: str) -> Change:
    start = 0
    end_old, end_new = len(old), len(new)
    while start < end_old and start < end_new and old[start] == new[start]:
        start += 1
    while end_old > start and end_new > start and old[end_old - 1] == new[end_new - 1]:
        end_old -= 1
        end_new -= 1
    return start, end_old, start, end_new


_TOKEN = re.compile(r"\w+|[ \t]+|[^\w \t]")


def _shifted(old: str, new: str, change: Change) -> Iterator[Change]:
    """A pure insertion or deletion and the equal one as far left as it slides."""
    yield change
    a, b, c, d = change
    if a == b:
        while a > 0 and c > 0 and old[a - 1] == new[d - 1]:
            a, b, c, d = a - 1, b - 1, c - 1, d - 1
    elif c == d:
        while a > 0 and c > 0 and old[a - 1] == old[b - 1]:
            a, b, c, d = a - 1, b - 1, c - 1, d - 1
    if (a, b, c, d) != change:
        yield a, b, c, d


@lru_cache(maxsize=20_000)
def alignments(old: str, new: str) -> tuple[tuple[Change, ...], ...]:
    """Proposals of where two texts differ, each a tuple of changes from left to right."""
    whole = _affix_change(old, new)
    out: list[tuple[Change, ...]] = [(whole,)]
    if len(old) > LONG_LINE or len(new) > LONG_LINE:
        return tuple(out)
    for slid in _shifted(old, new, whole):
        out.append((slid,))
    if whole[0] == whole[1] or whole[2] == whole[3]:
        return tuple(dict.fromkeys(out))
    s, a_end, t, b_end = whole
    mid_a, mid_b = old[s:a_end], new[t:b_end]
    tokens_a, tokens_b = _TOKEN.findall(mid_a), _TOKEN.findall(mid_b)
    offsets_a, offsets_b = [0], [0]
    for token in tokens_a:
        offsets_a.append(offsets_a[-1] + len(token))
    for token in tokens_b:
        offsets_b.append(offsets_b[-1] + len(token))
    codes = difflib.SequenceMatcher(None, tokens_a, tokens_b, autojunk=False).get_opcodes()
    words = tuple(
        (s + offsets_a[a], s + offsets_a[b], t + offsets_b[c], t + offsets_b[d])
        for tag, a, b, c, d in codes
        if tag != "equal"
    )
    out.append(words)
    if len(mid_a) * len(mid_b) <= 100_000:
        chars = difflib.SequenceMatcher(None, mid_a, mid_b, autojunk=False).get_opcodes()
        out.append(tuple((s + a, s + b, t + c, t + d) for tag, a, b, c, d in chars if tag != "equal"))
        # words first, characters inside the words that changed
        fine: list[Change] = []
        for a, b, c, d in words:
            if a == b or c == d:
                fine.append((a, b, c, d))
                continue
            for tag, e, f, g, h in difflib.SequenceMatcher(
                None, old[a:b], new[c:d], autojunk=False
            ).get_opcodes():
                if tag != "equal":
                    fine.append((a + e, a + f, c + g, c + h))
        out.append(tuple(fine))
    if len(mid_a) * len(mid_b) <= 3_000:
        out.append(_minimal_changes(old, new, whole))
    return _cheapest(out)


def _cheapest(proposals: list[tuple[Change, ...]]) -> tuple[tuple[Change, ...], ...]:
    """The four proposals that look cheapest, each without too many changes."""
    unique = dict.fromkeys(map(_fewer, proposals))
    return tuple(sorted(unique, key=lambda changes: sum(3 + d - c for _, _, c, d in changes))[:4])


def _fewer(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    """The changes, those merged that are nearest to each other where there are too many."""
    if len(changes) <= MOST_CHANGES:
        return changes
    gaps = sorted(range(1, len(changes)), key=lambda k: (changes[k][0] - changes[k - 1][1], k))
    closed = set(gaps[: len(changes) - MOST_CHANGES])
    out: list[Change] = []
    for k, change in enumerate(changes):
        if k in closed:
            out[-1] = (out[-1][0], change[1], out[-1][2], change[3])
        else:
            out.append(change)
    return tuple(out)


def _minimal_changes(old: str, new: str, whole: Change) -> tuple[Change, ...]:
    """The alignment with the fewest typed characters and changes (dynamic program)."""
    s, a_end, t, b_end = whole
    a, b = old[s:a_end], new[t:b_end]
    n, m = len(a), len(b)
    open_cost, type_cost = 4, 1
    big = 1 << 30
    # same[i][j]: best ending in a match (or at the start); diff[i][j]: best inside a change
    same = [[big] * (m + 1) for _ in range(n + 1)]
    diff = [[big] * (m + 1) for _ in range(n + 1)]
    came: dict[tuple[int, int, int], tuple[int, int, int]] = {}
    same[0][0] = 0
    for i in range(n + 1):
        for j in range(m + 1):
            if i and j and a[i - 1] == b[j - 1]:
                for state, value in ((0, same[i - 1][j - 1]), (1, diff[i - 1][j - 1])):
                    if value < same[i][j]:
                        same[i][j] = value
                        came[i, j, 0] = (i - 1, j - 1, state)
            if i:
                for state, value in ((0, same[i - 1][j] + open_cost), (1, diff[i - 1][j])):
                    if value < diff[i][j]:
                        diff[i][j] = value
                        came[i, j, 1] = (i - 1, j, state)
            if j:
                for state, value in ((0, same[i][j - 1] + open_cost), (1, diff[i][j - 1])):
                    if value + type_cost < diff[i][j]:
                        diff[i][j] = value + type_cost
                        came[i, j, 1] = (i, j - 1, state)
    state = 0 if same[n][m] <= diff[n][m] else 1
    i, j = n, m
    changes: list[Change] = []
    end: tuple[int, int] | None = (n, m) if state else None
    while i or j:
        pi, pj, before = came[i, j, state]
        if state == 1 and before == 0:
            assert end is not None
            changes.append((s + pi, s + end[0], t + pj, t + end[1]))
            end = None
        elif state == 0 and before == 1:
            end = (pi, pj)
        i, j, state = pi, pj, before
    if end is not None:
        changes.append((s, s + end[0], t, t + end[1]))
    return tuple(reversed(changes))


class LineEdit:
    """A found edit: its keys, how many they are, where the cursor is left, what `.` repeats."""

    __slots__ = ("column", "cost", "dot", "steps")

    def __init__(self, cost: int, steps: Steps, column: int, dot: str) -> None:
        self.cost = cost
        self.steps = steps
        self.column = column
        self.dot = dot

    @property
    def keys(self) -> str:
        return "".join(motion + change for motion, change in self.steps)


def line_programs(old: str, new: str, autoindent: bool) -> list[str]:
    """Different edits of one line from its first column, as keys: candidates for other lines too."""
    if not is_plain(old) or not is_plain(new):
        return []
    out: list[str] = []
    number = _edit_number(old, new, [("", 0)], "")
    if number is not None:
        out.append(number.keys)
    for style in (ANY, FIND, WORD):
        for changes in alignments(old, new):
            found = _search(old, new, changes, [("", 0)], autoindent, "", style)
            if found is not None:
                out.append(found.keys)
    return list(dict.fromkeys(out))


def edit_line(
    old: str,
    new: str,
    starts: Iterable[tuple[str, int]],
    autoindent: bool,
    dot: str = "",
    quick: bool = False,
) -> LineEdit | None:
    """The cheapest edit of a line into another (which may hold newlines: the line is split).

    Args:
        starts: ways to get to the line: (keys, column there).
        dot: the change that `.` would repeat at the start.
        quick: take the lines to differ in one place.

    Returns None where columns of the line cannot be counted.
    """
    return _edit_line(old, new, tuple(starts), autoindent, dot, quick)


@lru_cache(maxsize=20_000)
def _edit_line(
    old: str, new: str, starts: tuple[tuple[str, int], ...], autoindent: bool, dot: str, quick: bool
) -> LineEdit | None:
    begin = list(starts)
    if old == new:
        keys, column = min(begin, key=lambda start: len(start[0]))
        return LineEdit(len(keys), ((keys, ""),), column, dot)
    if not is_plain(old) or not all(map(is_plain, new.split("\n"))):
        return _edit_whole(old, new, begin, autoindent)
    best = _edit_number(old, new, begin, dot)
    for changes in ((_affix_change(old, new),),) if quick else alignments(old, new):
        found = _search(old, new, changes, begin, autoindent, dot)
        if found is not None and (best is None or found.cost < best.cost):
            best = found
    return best


_NUMBER = re.compile("[0-9]+")


def _edit_number(old: str, new: str, begin: list[tuple[str, int]], dot: str) -> LineEdit | None:
    """CTRL-A or CTRL-X where the lines differ in one decimal number only."""
    first, last, _, last_new = _affix_change(old, new)
    for match in _NUMBER.finditer(old):
        if match.end() < first or match.start() > last:
            continue
        start, end = match.span()
        if not (start <= first and last <= end):
            continue
        after = _NUMBER.match(new, start)
        if after is None or new[after.end() :] != old[end:]:
            return None
        gone, come = match.group(), after.group()
        if (gone[0] == "0" and len(gone) > 1) or (come[0] == "0" and len(come) > 1) or len(gone + come) > 18:
            return None
        amount = int(come) - int(gone)
        change = ("" if abs(amount) == 1 else str(abs(amount))) + ("\x01" if amount > 0 else "\x18")
        before = [other.end() for other in _NUMBER.finditer(old, 0, start)]
        low = before[-1] if before else 0
        best: LineEdit | None = None
        for keys, column in begin:
            motion = "" if low <= column < end else move(old, column, start)
            repeats = change == dot and len(change) > 1
            cost = len(keys) + len(motion) + (1 if repeats else len(change))
            if best is None or cost < best.cost:
                steps = ((keys, ""), (motion, "." if repeats else change))
                best = LineEdit(cost, steps, after.end() - 1, change)
        return best
    return None


def _edit_whole(old: str, new: str, begin: list[tuple[str, int]], autoindent: bool) -> LineEdit | None:
    """Replace a line whose columns cannot be counted: clear it, and type."""
    keys, _ = min(begin, key=lambda start: len(start[0]))
    if "\n" in new:
        return None
    if not old:
        change = "A" + typed(new) + ESC
    elif autoindent and leading_white(old):
        white = leading_white(old)
        if not new:
            change = "S" + ESC
        elif new.startswith(white) and new != white:
            change = "S" + typed(new[len(white) :]) + ESC
        else:
            change = "S\x15" + typed(new) + ESC
    else:
        change = "S" + typed(new) + ESC
    # what column a line of odd characters leaves the cursor on is nobody's business: start of line
    return LineEdit(len(keys) + len(change) + 1, ((keys, change), ("0", "")), 0, "")


def _search(
    old: str,
    new: str,
    changes: tuple[Change, ...],
    begin: list[tuple[str, int]],
    autoindent: bool,
    dot: str,
    style: int = ANY,
) -> LineEdit | None:
    n = len(changes)
    widest = n if n <= 5 else 4 if n <= 8 else 3
    # states[k]: cursor column -> best way to have made the first k changes
    states: list[dict[int, LineEdit]] = [{} for _ in range(n + 1)]
    for keys, column in begin:
        state = LineEdit(len(keys), ((keys, ""),), column, dot)
        known = states[0].get(column)
        if known is None or state.cost < known.cost:
            states[0][column] = state
    for k in range(n):
        current = states[k]
        if not current:
            continue
        ordered = sorted(current.items(), key=lambda item: (item[1].cost, item[0]))[:3]
        for last in range(k, min(n, k + widest)):
            i1, i2 = changes[k][0], changes[last][1]
            j1, j2 = changes[k][2], changes[last][3]
            base = new.rfind("\n", 0, j1) + 1
            line = new[base:j1] + old[i1:]
            text = new[j1:j2]
            first = j1 - base
            goal = states[last + 1]
            for column, state in ordered:
                for motion, change, after in _edits(
                    line, first, first + i2 - i1, text, column, autoindent, style
                ):
                    repeats = change == state.dot and len(change) > 1
                    cost = state.cost + len(motion) + (1 if repeats else len(change))
                    known = goal.get(after)
                    if known is None or cost < known.cost:
                        goal[after] = LineEdit(
                            cost, (*state.steps, (motion, "." if repeats else change)), after, change
                        )
    if not states[n]:
        return None
    return min(states[n].values(), key=lambda state: (state.cost, state.column))
