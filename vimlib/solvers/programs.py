"""Whole-buffer commands that are read off the differences, as first steps of an edit.

A plan made hunk by hunk repeats itself where the task is regular. Here the differences are
generalised: the same text replaced in many places becomes a substitution, the same edit of
many lines becomes `:normal` or a macro, lines that share a text are deleted with `:global`,
another order of lines becomes `:sort`. Every proposal is played in the model; those that
bring the buffer nearer to the target are kept, a plan for the rest is added, and from the
best the search goes on. It is bounded by counts, never by time, so that the same task gives
the same answer everywhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from vimlib.solvers.hunks import Hunk, Planner, align, arithmetic, estimate
from vimlib.solvers.lineedit import alignments, line_programs
from vimlib.solvers.model import Unmodelled, Vim
from vimlib.solvers.model.characters import CR, CTRL_V, ESC, is_plain

LARGE = 60_000
"""Buffers that hold more characters together get one round of few proposals."""


@dataclass(frozen=True, slots=True)
class _Effort:
    """How much is tried, by how much there is to edit: the solver shall take a tenth of a second."""

    rounds: int
    """Commands before the plan for the rest."""
    beam: int
    """Buffers from which the search goes on."""
    plans: int
    """Proposals of a round that get a full plan; the rest is dropped by estimate."""
    proposals: int
    """Proposals tried in one round on one buffer, the most telling first."""


def _effort(lines: list[str], target: list[str]) -> _Effort:
    weight = 1
    for hunk in align(lines, target):
        weight += sum(len(line) + 5 for line in lines[hunk.old_start : hunk.old_end])
        weight += sum(len(line) + 5 for line in target[hunk.new_start : hunk.new_end])
    if sum(map(len, lines)) + sum(map(len, target)) + 5 * (len(lines) + len(target)) > LARGE:
        return _Effort(rounds=1, beam=1, plans=1, proposals=24)
    return _Effort(
        rounds=3,
        beam=2 if weight < 5_000 else 1,
        plans=max(2, min(5, 10_000 // weight)),
        proposals=max(30, min(120, 400_000 // weight)),
    )


@dataclass(frozen=True, slots=True)
class _State:
    keys: str
    """What has been typed so far."""
    vim: Vim
    """The model after it."""
    rest: str | None
    """The plan from there to the target; None: there is none."""

    @property
    def cost(self) -> int:
        return len(self.keys) + len(self.rest) if self.rest is not None else 1 << 30


def improved(
    lines: list[str], target: list[str], golf: bool, quiet: bool, search: bool = True
) -> Iterator[str]:
    """Edits from lines to target, the cheapest first. They are proposals: play them before use.

    Without `search` only the plain plan.
    """
    start = Vim(lines, golf, paste=quiet)
    first = _State("", start, _plan(start, target, golf))
    found = [first]
    if first.rest is not None and len(first.rest) > 60:
        anew = _plan(start, target, golf, len(first.rest), anew=True)
        if anew is not None:
            found.append(_State("", start, anew))
            # a command has to beat the better plan
            first = found[-1] if len(anew) < len(first.rest) else first
    if search:
        beam = [first]
        seen = {tuple(lines)}
        effort = _effort(lines, target)
        for _ in range(effort.rounds):
            grown: list[_State] = []
            for state in beam:
                grown += _grown(state, target, golf, seen, effort)
            if not grown:
                break
            grown.sort(key=lambda state: (state.cost, state.keys))
            found += grown
            beam = grown[: effort.beam]
    found.sort(key=lambda state: (state.cost, state.keys))
    for state in found:
        if state.rest is not None:
            yield state.keys + state.rest


def _plan(vim: Vim, target: list[str], golf: bool, limit: int = 1 << 30, anew: bool = False) -> str | None:
    if vim.lines == target:
        return ""
    planner = Planner(vim.lines, target, vim.autoindent, golf)
    planner.row, planner.col, planner.want = vim.row, vim.col, vim.want
    try:
        return planner.plan(limit, anew)
    except Unmodelled:
        return None


def _copy(vim: Vim) -> Vim:
    other = Vim.__new__(Vim)
    other.__dict__.update(vim.__dict__)
    other.lines = list(vim.lines)
    other.macros = dict(vim.macros)
    return other


def _grown(
    state: _State, target: list[str], golf: bool, seen: set[tuple[str, ...]], effort: _Effort
) -> list[_State]:
    tried: list[tuple[float, str, Vim]] = []
    results: dict[tuple[str, ...], int] = {}
    for keys in _proposals(state.vim, target, effort.proposals):
        vim = _copy(state.vim)
        try:
            vim.run(keys)
        except Unmodelled:
            continue
        result = tuple(vim.lines)
        if result in seen:
            continue
        size = len(state.keys) + len(keys)
        if size >= state.cost:
            continue
        known = results.get(result)
        if known is not None and known <= size:
            continue
        results[result] = size
        tried.append((size + estimate(vim.lines, target), keys, vim))
    tried.sort(key=lambda item: (item[0], item[1]))
    grown: list[_State] = []
    done: set[tuple[str, ...]] = set()
    for _, keys, vim in tried:
        result = tuple(vim.lines)
        if result in done:
            continue
        done.add(result)
        grown.append(
            _State(state.keys + keys, vim, _plan(vim, target, golf, state.cost - len(state.keys) - len(keys)))
        )
        if len(grown) >= effort.plans:
            break
    seen.update(done)
    return [new for new in grown if new.cost < state.cost]


# --- proposals --------------------------------------------------------------------------------


def _proposals(vim: Vim, target: list[str], most: int) -> Iterator[str]:
    lines = vim.lines
    hunks = align(lines, target)
    pairs = [
        (hunk.old_start + k, hunk.new_start + k)
        for hunk in hunks
        for k in range(min(hunk.old_end - hunk.old_start, hunk.new_end - hunk.new_start))
    ]
    total = 0
    sources = (
        _whole(vim, target),
        _orders(vim, target),
        _deletions(lines, target, hunks),
        _numberings(vim, target, hunks, pairs),
        _line_edits(vim, target, pairs),
        _substitutions(lines, target, hunks, pairs),
    )
    for source in sources:
        # no kind of proposal may crowd out the others
        for keys in islice(dict.fromkeys(source), max(9, most // 2)):
            yield keys
            total += 1
            if total >= most * 2:
                return


def _whole(vim: Vim, target: list[str]) -> Iterator[str]:
    lines = vim.lines
    size = len(lines)
    if len(target) < size:
        yield ":%j\r"
        yield ":%j!\r"
        if vim.row == 0 and size < 100:
            yield f"{size}J"
            yield f"{size}gJ"
        yield ":g/./j\r"
        yield ":%norm J\r"
    if len(target) > size:
        yield ":g/^/t.\r"
        yield ":%s/$/\\r\r"
    if size > 1:
        yield ":%>\r"
        yield ":%<\r"
    joined, aim = "".join(lines), "".join(target)
    if joined.lower() == aim.lower() or len(lines) == len(target):
        if vim.row == 0:
            for key in ("gU", "gu", "g~"):
                yield key + ("G" if size > 1 else key[-1])


def _orders(vim: Vim, target: list[str]) -> Iterator[str]:
    lines = vim.lines
    if len(lines) < 2:
        return
    yield ":g/^/m0\r"
    before, after = Counter(lines), Counter(target)
    common = sum((before & after).values())
    if common < 2 and len(lines) != len(target):
        return
    top = 0
    while top < min(len(lines), len(target)) and lines[top] == target[top]:
        top += 1
    bottom = 0
    while bottom < min(len(lines), len(target)) - top and lines[-1 - bottom] == target[-1 - bottom]:
        bottom += 1
    ranges = [""]
    if top:
        ranges.append(f"{top + 1},$")
    if bottom and len(lines) - bottom > top:
        ranges.append(f"{top + 1},{len(lines) - bottom}")
    for where in ranges:
        for flags in ("", "!", " n", "! n", " u", " i", "! i", " iu"):
            yield f":{where}sor{flags}\r"
    # one block moved
    if common >= 0.8 * len(lines) and len(lines) <= 200:
        yield from _moves(lines, target, top, bottom, vim.row)


def _moves(lines: list[str], target: list[str], top: int, bottom: int, row_now: int) -> Iterator[str]:
    end = len(lines) - bottom
    if end - top < 2 or top >= len(target):
        return
    # the line that belongs at `top` is moved there, with what follows it
    for row in range(top + 1, end):
        if lines[row] == target[top]:
            size = 1
            while row + size < end and top + size < len(target) and lines[row + size] == target[top + size]:
                size += 1
            source = f"{row + 1}" if size == 1 else f"{row + 1},{row + size}"
            yield f":{source}m{top}\r"
    # or the line that is there is moved away
    for position in range(top + 1, len(target) - bottom):
        if target[position] == lines[top]:
            size = 1
            while (
                top + size < end
                and position + size < len(target)
                and lines[top + size] == target[position + size]
            ):
                size += 1
            to = min(position + size, len(lines))
            source = f"{top + 1}" if size == 1 else f"{top + 1},{top + size}"
            yield f":{source}m{to if to < len(lines) else '$'}\r"
            if size == 1:
                reach = "" if row_now == top else f"{top + 1}G"
                yield reach + ("ddp" if position == top + 1 else f"dd{position}Gp")


_SPECIAL = re.compile(r"([\\.*\[\]^$~])")


def _escaped(text: str) -> str:
    """A literal text as a pattern of Vim ('magic')."""
    out = _SPECIAL.sub(r"\\\1", text)
    return out.replace("\t", "\\t").replace("\n", "\\n")


def _escaped_replacement(text: str) -> str:
    out = re.sub(r"([\\&~])", r"\\\1", text)
    return out.replace("\t", "\\t").replace("\n", "\\r")


def _mark(pattern: str, replacement: str) -> str | None:
    for mark in "/#,;:@!+-=%_":
        if mark not in pattern and mark not in replacement:
            return mark
    return None


def _sayable(text: str) -> bool:
    """Whether the text can be typed on a command line as it is."""
    return all(" " <= char <= "~" or char >= "\xa0" for char in text)


def _substitute(where: str, pattern: str, replacement: str, flags: str) -> str | None:
    mark = _mark(pattern, replacement)
    if mark is None or not _sayable(pattern + replacement) or not pattern:
        return None
    tail = f"{mark}g" if flags else ""
    body = f"{mark}{pattern}{mark}{replacement}{tail}" if replacement or flags else f"{mark}{pattern}{mark}"
    return f":{where}s{body}{CR}"


# --- deletions --------------------------------------------------------------------------------


def _deletions(lines: list[str], target: list[str], hunks: list[Hunk]) -> Iterator[str]:
    if len(lines) <= 2:
        return
    yield ":g/^$/d\r"
    yield ":v/./d\r"
    if len(target) >= len(lines):
        return
    counts = Counter(target)
    kept: list[str] = []
    gone: list[str] = []
    for line in lines:
        if counts[line] > 0:
            counts[line] -= 1
            kept.append(line)
        else:
            gone.append(line)
    deleted = [
        line
        for hunk in hunks
        for line in lines[hunk.old_start + hunk.new_end - hunk.new_start : hunk.old_end]
    ]
    sets = [(gone, kept)]
    if deleted and Counter(deleted) != Counter(gone):
        remaining = list((Counter(lines) - Counter(deleted)).elements())
        sets.append((deleted, remaining))
    for out, left in sets:
        if len(out) >= 2 and left:
            for pattern in _telling(out, left):
                yield f":g/{pattern}/d\r"
        if len(left) >= 2 and out:
            for pattern in _telling(left, out):
                yield f":v/{pattern}/d\r"


def _telling(inside: list[str], outside: list[str]) -> list[str]:
    """Short patterns found in all lines of the one list and in none of the other."""
    out: list[str] = []
    first = min(inside, key=len)
    others = "\n".join(outside).lower()
    for size in (1, 2, 3, 4, 5, 6):
        for start in range(max(len(first) - size + 1, 0)):
            part = first[start : start + size]
            if "/" in part or not _sayable(part):
                continue
            if part.lower() not in others and all(part in line for line in inside):
                pattern = _escaped(part)
                if pattern not in out:
                    out.append(pattern)
        if out:
            break
    for size in (1, 2, 3):
        part = first[:size]
        if len(part) == size and "/" not in part and _sayable(part):
            low = part.lower()
            if all(line.startswith(part) for line in inside) and not any(
                o.lower().startswith(low) for o in outside
            ):
                out.append("^" + _escaped(part))
                break
    for size in (1, 2):
        part = first[-size:]
        if len(part) == size and "/" not in part and _sayable(part):
            low = part.lower()
            if all(line.endswith(part) for line in inside) and not any(
                o.lower().endswith(low) for o in outside
            ):
                out.append(_escaped(part) + "$")
                break
    for pattern in (r"^\s", r"\d", r"\a", r"^\S", r"^\d", r"^\a", r"\S", r"^\s*$"):
        plain = pattern.replace("\\a", "[A-Za-z]").replace("\\s", "[ \\t]")
        if all(re.search(plain, line) for line in inside) and not any(
            re.search(plain, line) for line in outside
        ):
            out.append(pattern)
    return sorted(out, key=len)[:4]


# --- the same edit on many lines --------------------------------------------------------------


def _runs(rows: list[int]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for row in rows:
        if out and out[-1][1] == row - 1:
            out[-1] = (out[-1][0], row)
        else:
            out.append((row, row))
    return out


def _norm_text(keys: str) -> str:
    """Normal-mode keys as they are typed behind `:normal `."""
    while keys.endswith(ESC):
        keys = keys[:-1]
    return "".join(CTRL_V + char if char < " " else char for char in keys)


def _line_edits(vim: Vim, target: list[str], pairs: list[tuple[int, int]]) -> Iterator[str]:
    lines = vim.lines
    changed = [(a, b) for a, b in pairs if lines[a] != target[b]]
    if len(changed) < 2:
        return
    rows = [a for a, _ in changed]
    size = len(lines)
    examples: list[tuple[int, int]] = []
    for a, b in (changed[0], changed[1], changed[-1], changed[len(changed) // 2]):
        if (a, b) not in examples and len(lines[a]) < 400 and len(target[b]) < 400:
            examples.append((a, b))
    support: Counter[str] = Counter()
    sample = changed[:: max(1, len(changed) // 12)]
    programs: dict[str, None] = {}
    for a, b in examples[:3]:
        for keys in line_programs(lines[a], target[b], vim.autoindent):
            if len(keys) < 60:
                programs[keys] = None
    for keys in programs:
        for a, b in sample:
            one = Vim([lines[a]], False)
            one.autoindent, one.ignorecase, one.may_type = vim.autoindent, vim.ignorecase, vim.may_type
            one.col = 0
            try:
                one.run(keys)
            except Unmodelled:
                continue
            support[keys] += one.lines == [target[b]]
    ranked = [keys for keys, hits in support.most_common(6) if hits > 1]
    if not ranked:
        return
    runs = _runs(rows)
    wheres = ["%"]
    if rows[0] > 0:
        wheres.append(f"{rows[0] + 1},$")
    if rows[-1] < size - 1:
        wheres.append(f"{rows[0] + 1},{rows[-1] + 1}")
    widest = max(runs, key=lambda run: run[1] - run[0])
    if widest[1] > widest[0]:
        wheres.append(f"{widest[0] + 1},{widest[1] + 1}")
    inside = [lines[row] for row in rows]
    marked = set(rows)
    patterns = _telling(inside, [line for row, line in enumerate(lines) if row not in marked])
    steps = {b - a for a, b in zip(rows, rows[1:], strict=False)}
    for keys in ranked:
        text = _norm_text(keys)
        for where in dict.fromkeys(wheres):
            yield f":{where}norm {text}\r"
        for pattern in patterns[:2]:
            yield f":g/{pattern}/norm {text}\r"
        step = min(steps) if steps else 1
        go = "j" if step == 1 else f"{step}j"
        down = "\r" if step == 1 else f"{step}\r"
        reach = "" if vim.row == rows[0] and vim.col == 0 else f"{rows[0] + 1}G"
        repeats = len(rows)
        for between in ("0" + go, down) if keys[:1] not in "AI" else (go,):
            yield f"{reach}qq{keys}{between}q{repeats - 1}@q"
        simple = keys.count(ESC) <= 1
        if simple:
            for between in (go, down):
                yield reach + keys + (between + ".") * (repeats - 1)
    # a block insertion
    prefix_text = _common_insertion(lines, target, changed, front=True)
    suffix_text = _common_insertion(lines, target, changed, front=False)
    first = runs[0][0]
    if len(runs) == 1 and (prefix_text or suffix_text):
        reach = "" if vim.row == first and vim.col == 0 else "gg" if first == 0 else f"{first + 1}G"
        extent = "G" if rows[-1] == size - 1 else f"{rows[-1] - first}j"
        if prefix_text:
            yield f"{reach}{CTRL_V}{extent}I{prefix_text}{ESC}"
        if suffix_text:
            yield f"{reach}{CTRL_V}{extent}$A{suffix_text}{ESC}"


def _common_insertion(
    lines: list[str], target: list[str], changed: list[tuple[int, int]], front: bool
) -> str:
    texts = set()
    for a, b in changed:
        old, new = lines[a], target[b]
        if len(new) <= len(old) or not (new.endswith(old) if front else new.startswith(old)):
            return ""
        texts.add(new[: len(new) - len(old)] if front else new[len(old) :])
    text = texts.pop() if len(texts) == 1 else ""
    return text if _sayable(text) else ""


# --- numbers -----------------------------------------------------------------------------------

_NUMBER = re.compile("[0-9]+")


def _numberings(
    vim: Vim, target: list[str], hunks: list[Hunk], pairs: list[tuple[int, int]]
) -> Iterator[str]:
    """The same number put on many lines, then counted up with g CTRL-A in visual mode."""
    lines = vim.lines
    # a column of numbers that the buffer lacks
    for hunk in hunks:
        if hunk.new_end - hunk.new_start >= 5:
            heads = [re.match("[0-9]*", line).group() for line in target[hunk.new_start : hunk.new_end]]  # type: ignore[union-attr]
            size = arithmetic(heads)
            if size >= 5 and len(lines) < len(target):
                step = int(heads[1]) - int(heads[0])
                more = "" if step == 1 else f",{step}"
                yield f":{hunk.old_start or ''}pu=range({heads[0]},{heads[size - 1]}{more})\r"
    changed = [(a, b) for a, b in pairs if lines[a] != target[b]]
    if len(changed) < 3:
        return
    found = [_NUMBER.search(target[b]) for _, b in changed]
    numbers = [match.group() for match in found if match is not None]
    if len(numbers) != len(changed) or arithmetic(numbers) != len(numbers):
        return
    step = int(numbers[1]) - int(numbers[0])
    base = int(numbers[0]) - step
    if step <= 0:
        return
    first = changed[0][0]
    if base < 0:
        base, first = base + step, changed[1][0]
    even = list(target)
    for (_, b), match in zip(changed, found, strict=True):
        assert match is not None
        even[b] = target[b][: match.start()] + str(base) + target[b][match.end() :]
    last = changed[-1][0]
    count = "" if step == 1 else str(step)
    reach = f"{first + 1}G" if first else "gg"
    ends = ["G"] if not any(map(_NUMBER.search, lines[last + 1 :])) else []
    ends.append(f"{last - first}j")
    steps = [f"{reach}V{end}{count}g\x01" for end in ends]
    if first == 0 and last == len(lines) - 1:
        steps.insert(0, f"Vgg{count}g\x01")
    if all(lines[a] == even[b] for a, b in changed):
        yield from steps
        return
    sources = (_substitutions(lines, even, align(lines, even), pairs), _line_edits(vim, even, pairs))
    for source in sources:
        for keys in islice(dict.fromkeys(source), 25):
            for end in steps[:2]:
                yield keys + end


# --- substitutions ----------------------------------------------------------------------------


def _substitutions(
    lines: list[str], target: list[str], hunks: list[Hunk], pairs: list[tuple[int, int]]
) -> Iterator[str]:
    rows: list[int] = []
    votes: Counter[tuple[str, str]] = Counter()
    examples: list[tuple[str, str]] = []
    for hunk in hunks:
        olds, news = hunk.old_end - hunk.old_start, hunk.new_end - hunk.new_start
        rows += range(hunk.old_start, hunk.old_end)
        if olds == news:
            examples += [(lines[hunk.old_start + k], target[hunk.new_start + k]) for k in range(olds)]
        elif olds and news and olds * news <= 400:
            examples.append(
                (
                    "\n".join(lines[hunk.old_start : hunk.old_end]),
                    "\n".join(target[hunk.new_start : hunk.new_end]),
                )
            )
    if max(len(lines), len(target)) <= 60 and len(lines) != len(target):
        examples.append(("\n".join(lines), "\n".join(target)))
    unique = [pair for pair in dict.fromkeys(examples) if pair[0] != pair[1]]
    step = max(1, len(unique) // 24)
    for old, new in unique[::step]:
        if len(old) > 4000 or len(new) > 4000:
            continue
        ours: set[tuple[str, str]] = set()
        for changes in alignments(old, new)[-4:]:
            if len(changes) > 80:
                continue
            for a, b, c, d in changes:
                ours.update(_generalised(old, new, a, b, c, d))
        ours.update(_swaps(old, new))
        whole = alignments(old, new)[0][0]
        ours.update(_generalised(old, new, *whole))
        votes.update(ours)
    if not votes:
        return
    wheres = ["%"]
    size = len(lines)
    if rows and size > 1:
        first, last = min(rows), max(rows)
        if first > 0 and last == size - 1:
            wheres.append(f"{first + 1},$")
        elif first > 0 or last < size - 1:
            wheres.append(f"{first + 1},{last + 1}")
    if size == 1:
        wheres = [""]
    ranked = sorted(
        votes.items(), key=lambda item: (-item[1] * 12 + len(item[0][0]) + len(item[0][1]), item[0])
    )
    for number, ((pattern, replacement), _) in enumerate(ranked[:100]):
        for flags in ("", "g"):
            for where in wheres if number < 40 else wheres[:1]:
                keys = _substitute(where, pattern, replacement, flags)
                if keys is not None and len(keys) < 120:
                    yield keys


def _swaps(old: str, new: str) -> Iterator[tuple[str, str]]:
    """Two neighbours that change places."""
    if "\n" in old or len(old) > 300 or sorted(old) != sorted(new):
        return
    tried: set[str] = set()
    for match in re.finditer(r"(?=(\w+)([^\w\n]{1,4})(\w+))", old):
        left, between, right = match.groups()
        at = match.start(1)
        if between in tried or (at and (old[at - 1].isalnum() or old[at - 1] == "_")):
            continue
        if left == right or not new.startswith(right + between + left, at):
            continue
        tried.add(between)
        for kind in ("\\d", "\\w") if (left + right).isdigit() else ("\\w",):
            yield f"\\({kind}*\\){_escaped(between)}\\({kind}*\\)", f"\\2{_escaped_replacement(between)}\\1"
    for match in re.finditer(r"[^\w\n]+", old):
        left, between, right = old[: match.start()], match.group(), old[match.end() :]
        if left and right and new == right + between + left:
            yield f"\\(.*\\){_escaped(between)}\\(.*\\)", f"\\2{_escaped_replacement(between)}\\1"


def _generalised(old: str, new: str, a: int, b: int, c: int, d: int) -> Iterator[tuple[str, str]]:
    """Patterns and replacements that make this change, and perhaps others like it."""
    gone, come = old[a:b], new[c:d]
    if len(gone) > 200 or len(come) > 80:
        return
    put = _escaped_replacement(come)
    line_start = a == 0 or old[a - 1] == "\n"
    line_end = b == len(old) or old[b] == "\n"
    left = old[max(0, a - 6) : a]
    right = old[b : b + 6]
    if gone:
        literal = _escaped(gone)
        if len(gone) <= 40:
            yield literal, put
            if gone in come and len(gone) > 1:
                yield literal, put.replace(_escaped_replacement(gone), "&")
            for size in (1, 2, 3):
                if len(left) >= size and "\n" not in left[-size:]:
                    yield _escaped(left[-size:]) + literal, _escaped_replacement(left[-size:]) + put
                if len(right) >= size and "\n" not in right[:size]:
                    yield literal + _escaped(right[:size]), put + _escaped_replacement(right[:size])
            if left and right and "\n" not in left[-1] + right[0]:
                yield (
                    _escaped(left[-1]) + literal + _escaped(right[0]),
                    _escaped_replacement(left[-1]) + put + _escaped_replacement(right[0]),
                )
            word = re.search(r"\w+$", left)
            if word:
                yield _escaped(word.group()) + literal, _escaped_replacement(word.group()) + put
            word = re.match(r"\w+", right)
            if word:
                yield literal + _escaped(word.group()), put + _escaped_replacement(word.group())
        if line_start:
            yield "^" + literal, put
        if line_end:
            yield literal + "$", put
        if "\n" not in gone:
            head, tail = _escaped(gone[0]), _escaped(gone[-1])
            if line_end:
                yield head + ".*", put
                if len(gone) > 1:
                    yield _escaped(gone[:2]) + ".*", put
                if left and "\n" not in left[-1]:
                    yield _escaped(left[-1]) + ".*", _escaped_replacement(left[-1]) + put
            if line_start:
                yield ".*" + tail, put
                yield ".\\{-}" + tail, put
                if len(gone) > 1:
                    yield ".*" + _escaped(gone[-2:]), put
                    yield ".\\{-}" + _escaped(gone[-2:]), put
                if right and "\n" not in right[0]:
                    yield ".*" + _escaped(right[0]), put + _escaped_replacement(right[0])
                yield "^" + head, put
            if len(gone) > 1:
                yield f"{head}.*{tail}", put
                yield f"{head}.\\{{-}}{tail}", put
                if gone[-1] not in "\\]^-" and gone[-1] not in gone[:-1]:
                    yield f"{head}[^{gone[-1]}]*{tail}", put
            if left and right and "\n" not in left[-1] + right[0]:
                around = _escaped(left[-1]) + ".*" + _escaped(right[0])
                yield around, _escaped_replacement(left[-1]) + put + _escaped_replacement(right[0])
            for plain, pattern in (
                (r"\d+", r"\d*"), (r"\d+", r"\d\+"), (r"\w+", r"\w*"), (r"\w+", r"\w\+"), (r"[ \t]+", r"\s*"),
                (r"[ \t]+", r"\s\+"), (r" +", " *"), (r" +", "  *"), (r"[ \t]+", r"\s"), (r"[A-Za-z]", r"\a"),
                (r"\d", r"\d"), (r"\S+", r"\S*"), (r"[a-z]", r"\l"), (r"[A-Z]", r"\u"),
            ):  # fmt: skip
                if re.fullmatch(plain, gone):
                    if not pattern.endswith("*"):
                        yield pattern, put
                    if line_end:
                        yield pattern + "$", put
                    if line_start:
                        yield "^" + pattern, put
                    if left and "\n" not in left[-1]:
                        yield _escaped(left[-1]) + pattern, _escaped_replacement(left[-1]) + put
                    if right and "\n" not in right[0]:
                        yield pattern + _escaped(right[0]), put + _escaped_replacement(right[0])
                    if gone in come:
                        yield pattern, _escaped_replacement(come).replace(_escaped_replacement(gone), "&", 1)
            if come and gone.lower() == come.lower() and gone.isascii():
                case = "\\U&" if come == gone.upper() else "\\L&" if come == gone.lower() else ""
                if case:
                    yield "\\w\\+", case
                    yield ".*", case
                    if left and "\n" not in left[-1]:
                        yield _escaped(left[-1] + gone), _escaped_replacement(left[-1] + come)
        elif gone == "\n" and right:
            yield "\\n", put
            yield "\\n\\s*", put
        if gone.startswith("\n") and not gone.strip(" \t\n"):
            yield "\\n\\s*", put
            yield "\\n *", put
        return
    # nothing goes: only an insertion
    if line_end:
        yield "$", put
        if left:
            yield _escaped(left[-1]) + "$", "&" + put
        yield ".$", "&" + put
        yield ".*", "&" + put
        yield "\\w$", "&" + put
        yield ".\\+", "&" + put
    if line_start:
        yield "^", put
        if right and "\n" not in right[0]:
            yield "^" + _escaped(right[0]), put + "&"
        yield "^.", put + "&"
    if left and right and "\n" not in left[-1] + right[0]:
        yield (
            _escaped(left[-1] + right[0]),
            _escaped_replacement(left[-1]) + put + _escaped_replacement(right[0]),
        )
    for size in (1, 2, 3):
        if len(left) >= size and "\n" not in left[-size:]:
            yield _escaped(left[-size:]), "&" + put
        if len(right) >= size and "\n" not in right[:size]:
            yield _escaped(right[:size]), put + "&"
    word = re.search(r"\w+$", old[:a])
    if word and len(word.group()) < 20:
        yield _escaped(word.group()), "&" + put
        yield "\\w\\+", "&" + put
    word = re.match(r"\w+", old[b:])
    if word and len(word.group()) < 20:
        yield _escaped(word.group()), put + "&"
        yield "\\w\\+", put + "&"
    if left and "\n" not in left[-1]:
        if left[-1].isalpha():
            yield "\\a", "&" + put
        if left[-1].isdigit():
            yield "\\d\\+", "&" + put
        yield ".", "&" + put
    if right and "\n" not in right[0]:
        if right[0].isalpha():
            yield "\\a", put + "&"
            if right[0].isupper():
                yield "\\u", put + "&"
        yield "\\S", put + "&"
        yield "^\\s*", "&" + put
    # a text put around a word or a line
    line_old = old[old.rfind("\n", 0, a) + 1 :].split("\n")[0]
    line_new = new[new.rfind("\n", 0, c) + 1 :].split("\n")[0]
    for match in re.finditer(r"\w+", line_old[:400]):
        word_text = match.group()
        at = line_new.find(word_text)
        if at > 0 and len(word_text) > 1:
            before, after = line_new[:at][-3:], line_new[at + len(word_text) :][:3]
            for width in (1, 2):
                yield (
                    "\\w\\+",
                    _escaped_replacement(before[-width:]) + "&" + _escaped_replacement(after[:width]),
                )
            break
    if line_old.strip() and line_old.strip() in line_new:
        core = line_old.strip()
        at = line_new.find(core)
        before, after = line_new[:at], line_new[at + len(core) :]
        before = before[len(line_old) - len(line_old.lstrip()) :]
        yield "\\S.*", _escaped_replacement(before) + "&" + _escaped_replacement(after)
        yield ".\\+", _escaped_replacement(before) + "&" + _escaped_replacement(after)
    if is_plain(come) and line_old and line_new.startswith(come) is False and old[a - 1 : a] == " ":
        yield " ", " " + put
