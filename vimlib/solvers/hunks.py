"""From one buffer to another, hunk by hunk, top to bottom.

This is the part of the `diff` solver that always has an answer: align the lines, then go
to each difference and delete, type, copy, split, join or edit there. Which lines belong
together, how to get to the next hunk and how to make the change is chosen by the number
of keys; no step looks at what a later one could make of it.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from vimlib.solvers.lineedit import LineEdit, edit_line, type_lines, typed
from vimlib.solvers.model import Failed, Unmodelled, Vim
from vimlib.solvers.model.characters import (
    ESC,
    column_at,
    first_nonblank,
    indent_cells,
    is_plain,
    leading_white,
    made_indent,
    screen_column,
)

FULL_ALIGNMENT = 1_600
"""Blocks of at most this many line pairs are aligned by cost; larger ones by equal lines only."""


MOST_INSERTED = 120
"""Lines that one step of an insertion looks at."""

THOROUGH = 2_000_000
"""Sum of products of line lengths up to which a plan aligns lines; past it, they differ in one place."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Old lines [old_start, old_end) become new lines [new_start, new_end)."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


_WORD = re.compile(r"\w+|\W")


@lru_cache(maxsize=50_000)
def guess(old: str, new: str) -> float:
    """About how many keys the edit of one line into another takes."""
    if old == new:
        return 0
    start = 0
    short = min(len(old), len(new))
    while start < short and old[start] == new[start]:
        start += 1
    end = 0
    while end < short - start and old[-1 - end] == new[-1 - end]:
        end += 1
    a, b = old[start : len(old) - end], new[start : len(new) - end]
    if not b:
        return 4
    if not a:
        return 3 + len(b)
    one = 5 + len(b)
    if one <= 8:
        return one
    # which words are new, whatever their order: far cheaper than an alignment, and near enough
    come = Counter(_WORD.findall(b))
    come.subtract(_WORD.findall(a))
    many = 3.0
    for word, count in come.items():
        if count > 0:
            many += count * (len(word) + (2 if len(word) > 1 or word.isalnum() else 1))
        elif count < 0:
            many -= 0.5 * count
    return min(one, many)


def estimate(old: list[str], new: list[str]) -> float:
    """About how many keys the edit of one buffer into another takes; cheap."""
    top = 0
    while top < len(old) and top < len(new) and old[top] == new[top]:
        top += 1
    bottom = 0
    while bottom < min(len(old), len(new)) - top and old[-1 - bottom] == new[-1 - bottom]:
        bottom += 1
    a, b = old[top : len(old) - bottom], new[top : len(new) - bottom]
    if len(a) == len(b):
        blocks = [(a, b)]
    else:
        codes = difflib.SequenceMatcher(None, a, b).get_opcodes()
        blocks = [(a[i1:i2], b[j1:j2]) for tag, i1, i2, j1, j2 in codes if tag != "equal"]
    total = 0.0
    for olds, news in blocks:
        for one, other in zip(olds, news, strict=False):
            if one != other:
                total += guess(one, other) + 1.5
        if len(olds) > len(news):
            total += 4
        else:
            total += sum(len(line) + 1 for line in news[len(olds) :])
        total += 1
    return total


def align(old: list[str], new: list[str]) -> list[Hunk]:
    """Where two buffers differ, as hunks from top to bottom: pairs, deletions and insertions."""
    top = 0
    while top < len(old) and top < len(new) and old[top] == new[top]:
        top += 1
    bottom = 0
    while bottom < min(len(old), len(new)) - top and old[-1 - bottom] == new[-1 - bottom]:
        bottom += 1
    hunks = _align_block(old, new, top, len(old) - bottom, top, len(new) - bottom)
    if old and new and not any(h.old_start < h.old_end and h.new_start < h.new_end for h in hunks):
        gone = sum(h.old_end - h.old_start for h in hunks)
        if gone == len(old):
            # a buffer is never empty: some line must become another
            hunks = [Hunk(0, 1, 0, 1)]
            if len(old) > 1:
                hunks.append(Hunk(1, len(old), 1, 1))
            if len(new) > 1:
                hunks.append(Hunk(len(old), len(old), 1, len(new)))
    return hunks


def align_anew(old: list[str], new: list[str]) -> list[Hunk]:
    """Like `align`, but long runs of pairs that have little in common are typed anew and the old deleted.

    The new lines often resemble each other more than the old ones, and then a copy of the line
    above is the cheaper start.
    """
    out: list[Hunk] = []
    hunks = align(old, new)
    k = 0
    while k < len(hunks):
        end = k
        effort = 0.0
        while end < len(hunks) and hunks[end].old_end - hunks[end].old_start == 1:
            here = hunks[end]
            if here.new_end - here.new_start != 1:
                break
            if end > k and (
                here.old_start != hunks[end - 1].old_end or here.new_start != hunks[end - 1].new_end
            ):
                break
            effort += guess(old[here.old_start], new[here.new_start])
            end += 1
        if end - k >= 4 and effort > 0.5 * sum(len(new[h.new_start]) for h in hunks[k:end]):
            first, last = hunks[k], hunks[end - 1]
            out.append(first)
            out.append(Hunk(first.old_end, first.old_end, first.new_end, last.new_end))
            out.append(Hunk(first.old_end, last.old_end, last.new_end, last.new_end))
            k = end
        else:
            out += hunks[k : max(end, k + 1)]
            k = max(end, k + 1)
    return out


def _align_block(old: list[str], new: list[str], a1: int, a2: int, b1: int, b2: int) -> list[Hunk]:
    if a1 == a2 or b1 == b2:
        return [Hunk(a1, a2, b1, b2)] if a1 < a2 or b1 < b2 else []
    if (a2 - a1) * (b2 - b1) <= FULL_ALIGNMENT:
        return _by_cost(old, new, a1, a2, b1, b2)
    counts = Counter(old[a1:a2])
    common = sum(counts[line] for line in new[b1:b2])
    if common > 400_000:
        # thousands of equal lines: matching them all would be quadratic
        return _in_order(a1, a2, b1, b2)
    out: list[Hunk] = []
    codes = difflib.SequenceMatcher(None, old[a1:a2], new[b1:b2], autojunk=False).get_opcodes()
    for tag, i1, i2, j1, j2 in codes:
        if tag == "equal":
            continue
        i1, i2, j1, j2 = a1 + i1, a1 + i2, b1 + j1, b1 + j2
        if i1 < i2 and j1 < j2 and (i2 - i1) * (j2 - j1) <= FULL_ALIGNMENT:
            out += _by_cost(old, new, i1, i2, j1, j2)
        else:
            out += _in_order(i1, i2, j1, j2)
    return out


def _in_order(a1: int, a2: int, b1: int, b2: int) -> list[Hunk]:
    both = min(a2 - a1, b2 - b1)
    out = [Hunk(a1 + k, a1 + k + 1, b1 + k, b1 + k + 1) for k in range(both)]
    if a1 + both < a2 or b1 + both < b2:
        out.append(Hunk(a1 + both, a2, b1 + both, b2))
    return out


def _by_cost(old: list[str], new: list[str], a1: int, a2: int, b1: int, b2: int) -> list[Hunk]:
    """Pairs, deletions and insertions of the least guessed cost (dynamic program)."""
    n, m = a2 - a1, b2 - b1
    big = float("inf")
    # kind of the last step: 0 pair, 1 deletion, 2 insertion
    cost = [[[big, big, big] for _ in range(m + 1)] for _ in range(n + 1)]
    came: dict[tuple[int, int, int], int] = {}
    cost[0][0][0] = 0
    for i in range(n + 1):
        for j in range(m + 1):
            here = cost[i][j]
            if i and j:
                before = cost[i - 1][j - 1]
                step = guess(old[a1 + i - 1], new[b1 + j - 1])
                if step:
                    step += 1.5
                kind = min(range(3), key=before.__getitem__)
                if before[kind] + step < here[0]:
                    here[0] = before[kind] + step
                    came[i, j, 0] = kind
            if i:
                before = cost[i - 1][j]
                options = [before[0] + 3, before[1] + 0.2, before[2] + 3]
                kind = min(range(3), key=options.__getitem__)
                if options[kind] < here[1]:
                    here[1] = options[kind]
                    came[i, j, 1] = kind
            if j:
                before = cost[i][j - 1]
                line = new[b1 + j - 1]
                typing = len(line) + 1.0
                if b1 + j >= 2 and new[b1 + j - 2] == line:
                    typing = min(typing, 0.7)
                options = [before[0] + typing + 2.5, before[1] + typing + 2.5, before[2] + typing]
                kind = min(range(3), key=options.__getitem__)
                if options[kind] < here[2]:
                    here[2] = options[kind]
                    came[i, j, 2] = kind
    i, j = n, m
    state = min(range(3), key=cost[n][m].__getitem__)
    out: list[Hunk] = []
    while i or j:
        before_state = came[i, j, state]
        if state == 0:
            i, j = i - 1, j - 1
            if old[a1 + i] != new[b1 + j]:
                out.append(Hunk(a1 + i, a1 + i + 1, b1 + j, b1 + j + 1))
        elif state == 1:
            i -= 1
            if out and out[-1].old_start == a1 + i + 1 and out[-1].new_start == out[-1].new_end == b1 + j:
                out[-1] = Hunk(a1 + i, out[-1].old_end, b1 + j, b1 + j)
            else:
                out.append(Hunk(a1 + i, a1 + i + 1, b1 + j, b1 + j))
        else:
            j -= 1
            if out and out[-1].new_start == b1 + j + 1 and out[-1].old_start == out[-1].old_end == a1 + i:
                out[-1] = Hunk(a1 + i, a1 + i, b1 + j, out[-1].new_end)
            else:
                out.append(Hunk(a1 + i, a1 + i, b1 + j, b1 + j + 1))
        state = before_state
    out.reverse()
    return _with_splits(old, new, out)


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _with_splits(old: list[str], new: list[str], hunks: list[Hunk]) -> list[Hunk]:
    """Neighbouring hunks that together split or join lines become one hunk."""
    out: list[Hunk] = []
    k = 0
    while k < len(hunks):
        end = k + 1
        a1, a2, b1, b2 = hunks[k].old_start, hunks[k].old_end, hunks[k].new_start, hunks[k].new_end
        while end < len(hunks) and hunks[end].old_start == a2 and hunks[end].new_start == b2:
            a2, b2 = hunks[end].old_end, hunks[end].new_end
            end += 1
        if end > k + 1 and a2 > a1 and b2 > b1 and (a2 - a1 == 1) != (b2 - b1 == 1):
            a = _squeezed("".join(old[a1:a2]))
            b = _squeezed("".join(new[b1:b2]))
            if len(a) * len(b) < 200_000:
                match = difflib.SequenceMatcher(None, a, b, autojunk=False)
                if match.ratio() > 0.5:
                    out.append(Hunk(a1, a2, b1, b2))
                    k = end
                    continue
        out.extend(hunks[k:end])
        k = end
    return out


class Planner:
    """Writes the keys that make one buffer into another, keeping track of Vim's cursor.

    The buffer at any moment is `new[:row]` above and `old[at:]` from `row` on. The keys are
    a proposal: whoever uses them plays them in `model.Vim` first.
    """

    def __init__(self, old: list[str], new: list[str], autoindent: bool, golf: bool) -> None:
        self.old = old
        self.new = new
        self.autoindent = autoindent
        self.golf = golf
        self.work = 0
        self.keys: list[str] = []
        self.row = 0
        self.col = first_nonblank(old[0])
        self.want = -1
        self.dot = ""

    # -- the buffer as it is now

    def _line(self, row: int, done: int, at: int) -> str:
        return self.new[row] if row < done else self.old[at + row - done]

    def _rows(self, done: int, at: int) -> int:
        return done + len(self.old) - at

    # -- plans

    def plan(self, limit: int = 1 << 30, anew: bool = False) -> str | None:
        """All keys from where the cursor is; None where they would be `limit` or more.

        With `anew` lines of little in common are not edited but typed or copied.
        """
        made = size = 0
        for hunk in (align_anew if anew else align)(self.old, self.new):
            while made < len(self.keys):
                size += len(self.keys[made])
                made += 1
            if size >= limit:
                return None
            count_old = hunk.old_end - hunk.old_start
            count_new = hunk.new_end - hunk.new_start
            if count_new == 0:
                self._delete(hunk)
            elif count_old == 0:
                self._insert(hunk)
            elif count_old == 1:
                self._edit(hunk)
            elif count_new == 1:
                self._join(hunk)
            else:
                both = min(count_old, count_new)
                for k in range(both - 1):
                    self._edit(
                        Hunk(
                            hunk.old_start + k,
                            hunk.old_start + k + 1,
                            hunk.new_start + k,
                            hunk.new_start + k + 1,
                        )
                    )
                rest = Hunk(hunk.old_start + both - 1, hunk.old_end, hunk.new_start + both - 1, hunk.new_end)
                if count_old > count_new:
                    self._edit(Hunk(rest.old_start, rest.old_start + 1, rest.new_start, rest.new_end))
                    self._delete(Hunk(rest.old_start + 1, rest.old_end, rest.new_end, rest.new_end))
                elif count_old == count_new:
                    self._edit(rest)
                else:
                    self._edit(Hunk(rest.old_start, rest.old_end, rest.new_start, rest.new_start + 1))
                    self._insert(Hunk(rest.old_end, rest.old_end, rest.new_start + 1, rest.new_end))
        return "".join(self.keys)

    def _ways(self, row: int, done: int, at: int) -> list[tuple[str, int]]:
        """Ways to the row, as (keys, column there), the buffer being new[:done] + old[at:]."""
        line = self._line(row, done, at)
        blank = first_nonblank(line)
        if row == self.row:
            return [("", self.col)]
        step = row - self.row
        ways: list[tuple[str, int]] = []
        ways.append((f"{row + 1}G" if row else "gg", blank))
        if row == self._rows(done, at) - 1:
            ways.append(("G", blank))
        if step > 0:
            ways.append(("\r" if step == 1 else "\r\r" if step == 2 else f"{step}\r", blank))
        else:
            ways.append(("-" if step == -1 else f"{-step}-", blank))
        key = "j" if step > 0 else "k"
        size = abs(step)
        try:
            here = self._line(self.row, done, at)
            want = self.want
            if want == -2:
                raise Unmodelled("the wanted column")
            if want < 0:
                if not is_plain(here):
                    raise Unmodelled("columns")
                want = screen_column(here, self.col)
            if want == 0:
                ways.append((key * size if size <= 2 else f"{size}{key}", 0))
            elif is_plain(line):
                ways.append((key * size if size <= 2 else f"{size}{key}", column_at(line, want)))
        except Unmodelled:
            pass
        if 2 < size < 400 and not self._after_escape():
            ways += self._paragraph_ways(row, done, at)
        return ways

    def _after_escape(self) -> bool:
        """Whether the last key is <Esc>: what follows could then be read as a terminal's key code."""
        return bool(self.keys) and self.keys[-1].endswith(ESC)

    def _paragraph_ways(self, row: int, done: int, at: int) -> list[tuple[str, int]]:
        rows = self._rows(done, at)
        here = self.row
        if row < here:
            return []
        for n in range(1, 4):
            seen = False
            if here == rows - 1:
                return []
            while here < rows:
                if self._line(here, done, at):
                    seen = True
                elif seen:
                    break
                if here == rows - 1:
                    break
                here += 1
            if here == rows - 1 and self._line(here, done, at):
                return []
            if here == row:
                return [("}" * n, 0)]
            if here > row:
                return []
            if here + 1 == row:
                line = self._line(row, done, at)
                return [("}" * n + "\r", first_nonblank(line)), ("}" * n + "j", 0)]
        return []

    def _emit(self, keys: str, row: int, col: int) -> None:
        self.keys.append(keys)
        self.row, self.col, self.want = row, col, -1

    # -- hunks

    def _delete(self, hunk: Hunk) -> None:
        row, count = hunk.new_start, hunk.old_end - hunk.old_start
        at = hunk.old_start
        rows = self._rows(row, at)
        to_end = row + count == rows
        if to_end and row == 0:
            raise Unmodelled("nothing would be left")
        options: list[str] = []
        way = min((keys for keys, _ in self._ways(row, row, at)), key=len)
        options.append(way + ("dd" if count == 1 else f"{count}dd"))
        if count == 2:
            options.append(way + "dj")
        if count == 3:
            options.append(way + "3dd")
        if to_end:
            options.append(way + "dG")
        first, last = row + 1, row + count
        if count == 1:
            options.append(f":{first}d\r")
        elif to_end:
            options.append(f":{first},$d\r")
        else:
            options.append(f":{first},{last}d\r")
        keys = min(options, key=len)
        change = keys[len(way) :] if keys.startswith(way) and not keys.startswith(":") else ""
        if change and change == self.dot and len(change) > 1:
            keys = way + "."
        if change:
            self.dot = change
        new_row = row if not to_end else row - 1
        line = self._line(new_row, row, hunk.old_end)
        self._emit(keys, new_row, first_nonblank(line))

    def _edit(self, hunk: Hunk) -> None:
        row, at = hunk.new_start, hunk.old_start
        old = self.old[at]
        new = "\n".join(self.new[hunk.new_start : hunk.new_end])
        self.work += len(old) * len(new)
        quick = self.work > THOROUGH
        found = edit_line(old, new, self._ways(row, row, at), self.autoindent, self.dot, quick)
        if hunk.new_end - hunk.new_start > 1:
            separate = self._edit_then_insert(hunk)
            if found is None or len(separate[0]) < found.cost:
                self.keys.append(separate[0])
                self.row, self.col, self.want, self.dot = separate[1:]
                return
        if found is None:
            raise Unmodelled("no edit of this line")
        self._take(found, hunk.new_end - 1)

    def _edit_then_insert(self, hunk: Hunk) -> tuple[str, int, int, int, str]:
        """The first new line from the old one and the rest typed; or the last from it and the rest before."""
        saved = (self.row, self.col, self.want, self.dot)
        results: list[tuple[str, int, int, int, str]] = []
        for first in (True, False):
            keys, self.keys = self.keys, []
            try:
                if first:
                    self._edit(Hunk(hunk.old_start, hunk.old_end, hunk.new_start, hunk.new_start + 1))
                    self._insert(Hunk(hunk.old_end, hunk.old_end, hunk.new_start + 1, hunk.new_end))
                else:
                    self._insert(Hunk(hunk.old_start, hunk.old_start, hunk.new_start, hunk.new_end - 1))
                    self._edit(Hunk(hunk.old_start, hunk.old_end, hunk.new_end - 1, hunk.new_end))
                results.append(("".join(self.keys), self.row, self.col, self.want, self.dot))
            finally:
                self.keys = keys
                self.row, self.col, self.want, self.dot = saved
        return min(results, key=lambda result: len(result[0]))

    def _take(self, found: LineEdit, row: int) -> None:
        keys = found.keys
        line = self.new[row]
        self._emit(keys, row, min(found.column, max(len(line) - 1, 0)))
        self.dot = found.dot

    def _join(self, hunk: Hunk) -> None:
        row, at = hunk.new_start, hunk.old_start
        count = hunk.old_end - hunk.old_start
        target = self.new[row]
        options: list[tuple[str, int, str]] = []
        # every line but one deleted
        way = min(self._ways(row, row, at), key=lambda item: len(item[0]))
        for command, spaces in (("J", True), ("gJ", False)):
            vim = Vim(self.old[at : at + count], self.golf)
            try:
                vim.join_rows(0, count - 1, spaces)
                joined, column = vim.lines[0], vim.col
            except (Unmodelled, Failed):
                continue
            keys = way[0] + (command if count == 2 else f"{count}{command}")
            found = edit_line(joined, target, [(keys, column)], self.autoindent)
            if found is not None:
                options.append((found.keys, found.column, found.dot))
        if not options:
            raise Unmodelled("no join")
        saved = (self.row, self.col, self.want, self.dot)
        outer, self.keys = self.keys, []
        best_pair = min(range(count), key=lambda k: guess(self.old[at + k], target))
        try:
            if best_pair:
                self._delete(Hunk(at, at + best_pair, row, row))
            self._edit(Hunk(at + best_pair, at + best_pair + 1, row, row + 1))
            if best_pair + 1 < count:
                self._delete(Hunk(at + best_pair + 1, at + count, row + 1, row + 1))
            separate = ("".join(self.keys), self.row, self.col, self.want, self.dot)
        finally:
            self.keys = outer
            self.row, self.col, self.want, self.dot = saved
        best = min(options, key=lambda option: len(option[0]))
        if len(separate[0]) < len(best[0]):
            self.keys.append(separate[0])
            self.row, self.col, self.want, self.dot = separate[1:]
            return
        self._emit(best[0], row, min(best[1], max(len(target) - 1, 0)))
        self.dot = best[2]

    def _insert(self, hunk: Hunk) -> None:
        first, last, at = hunk.new_start, hunk.new_end, hunk.old_start
        start = first
        while start < last:
            start = self._insert_some(start, last, at)

    def _insert_some(self, first: int, last: int, at: int) -> int:
        """Insert new[first:last] before old[at], or as many of its lines as one step makes best.

        Returns the first line not yet inserted. The step is the one with the fewest keys saved
        against typing.
        """
        numbers = arithmetic(self.new[first:last])
        last = min(last, first + max(MOST_INSERTED, numbers))
        lines = self.new[first:last]
        rows = self._rows(first, at)
        choices: list[tuple[float, str, int, int, int, str]] = []

        def offer(keys: str, count: int, row: int, col: int, dot: str) -> None:
            text = sum(len(line) + 1 for line in lines[:count])
            choices.append((len(keys) - text, keys, count, row, col, dot))

        # typed
        end_row = last - 1
        end_col = max(len(self.new[end_row]) - 1, 0)
        if first > 0:
            above = self.new[first - 1]
            indent = self._indent(above)
            text = type_lines(lines, indent, self.autoindent) + ESC
            way = min((keys for keys, _ in self._ways(first - 1, first, at)), key=len)
            offer(way + "o" + text, len(lines), end_row, end_col, "o" + text)
        if first < rows and (first == 0 or self.row >= first):
            below = self.old[at]
            indent = self._indent(below)
            text = type_lines(lines, indent, self.autoindent) + ESC
            way = min((keys for keys, _ in self._ways(first, first, at)), key=len)
            if not way and self._after_escape():
                way = "l" if len(below) > self.col + 1 else "h"
            offer(way + "O" + text, len(lines), end_row, end_col, "O" + text)
        # the same text again and again, or the line above again
        run = 1
        while run < len(lines) and lines[run] == lines[0]:
            run += 1
        count = _count(run)
        if first > 0 and self.new[first - 1] == lines[0]:
            way = min((keys for keys, _ in self._ways(first - 1, first, at)), key=len)
            row = first
            keys = way + ("Yp" if run == 1 else "Ypp" if run == 2 else f"Y{run}p")
            offer(
                keys, run, row, first_nonblank(lines[0]), "p" if run == 1 else f"{run}p" if run > 2 else "p"
            )
        elif run > 1 and first > 0:
            indent = self._indent(self.new[first - 1])
            if not indent and not (self.autoindent and lines[0][:1] in (" ", "\t")):
                way = min((keys for keys, _ in self._ways(first - 1, first, at)), key=len)
                text = count + "o" + typed(lines[0]) + ESC
                offer(way + text, run, first + run - 1, max(len(lines[0]) - 1, 0), text)
        # numbers that follow each other
        if numbers > 3:
            low, high = int(lines[0]), int(lines[numbers - 1])
            step = int(lines[1]) - low
            more = "" if step == 1 else f",{step}"
            where = "" if self.row + 1 == first else str(first)
            offer(f":{where}pu=range({low},{high}{more})\r", numbers, first + numbers - 1, 0, self.dot)
        # a block that the buffer already holds
        self._offer_copies(lines, first, at, offer)
        # a copy of a similar line, then edited
        self._offer_edited_copy(lines, first, at, offer)
        _, keys, made, row, col, dot = min(choices, key=lambda choice: (choice[0], len(choice[1])))
        self._emit(keys, row, col)
        if self.autoindent and not self.new[row]:
            self.want = -2
        self.dot = dot
        return first + made

    def _indent(self, line: str) -> str:
        return made_indent(indent_cells(leading_white(line))) if self.autoindent else ""

    def _offer_copies(self, lines: list[str], first: int, at: int, offer: object) -> None:
        assert callable(offer)
        rows = self._rows(first, at)
        if rows > 3000:
            return
        best: tuple[int, int] | None = None
        for row in range(rows):
            if self._line(row, first, at) != lines[0]:
                continue
            size = 1
            while (
                size < len(lines) and row + size < rows and self._line(row + size, first, at) == lines[size]
            ):
                if row < first <= row + size:
                    break
                size += 1
            if best is None or size > best[1]:
                best = (row, size)
        if best is None:
            return
        row, size = best
        source = f"{row + 1}" if size == 1 else f"{row + 1},{row + size}"
        if row + size == rows and size > 1:
            source = f"{row + 1},$"
        target = str(first)
        if self.row + 1 == first:
            target = "."
        elif first == rows:
            target = "$"
        keys = f":{source}t{target}\r"
        offer(keys, size, first + size - 1, first_nonblank(lines[size - 1]), self.dot)

    def _offer_edited_copy(self, lines: list[str], first: int, at: int, offer: object) -> None:
        assert callable(offer)
        line = lines[0]
        if len(line) < 6 or not is_plain(line):
            return
        sources: list[tuple[str, int, str]] = []
        if first > 0:
            above = self.new[first - 1]
            way = min((keys for keys, _ in self._ways(first - 1, first, at)), key=len)
            sources.append((way + "Yp", first_nonblank(above), above))
        rows = self._rows(first, at)
        if rows <= 200:
            row = min(range(rows), key=lambda r: guess(self._line(r, first, at), line))
            text = self._line(row, first, at)
            target = "." if self.row + 1 == first else "$" if first == rows else str(first)
            sources.append((f":{row + 1}t{target}\r", first_nonblank(text), text))
        for keys, column, text in sources:
            if not is_plain(text) or text == line or guess(text, line) > len(line):
                continue
            found = edit_line(text, line, [(keys, column)], self.autoindent)
            if found is not None:
                offer(found.keys, 1, first, min(found.column, max(len(line) - 1, 0)), found.dot)


_INTEGER = re.compile("0|[1-9][0-9]{0,8}")


def arithmetic(lines: list[str]) -> int:
    """How many of the first lines are numbers, and each as much more than the one before."""
    size = 0
    step = 0
    for line in lines:
        if not _INTEGER.fullmatch(line):
            break
        if size:
            now = int(line) - int(lines[size - 1])
            if not now or (size > 1 and now != step):
                break
            step = now
        size += 1
    return size


def _count(n: int) -> str:
    return str(n) if n > 1 else ""
