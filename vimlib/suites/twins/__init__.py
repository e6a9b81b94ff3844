"""Twins: the same editing task on other words, to tell skill from memory.

A model that knows how to make an edit makes it on any words; one that remembers a public solution, or the
page on which it stood, is helped only by the words that it has seen. A twin is its original with the words
exchanged, consistently in start, target and instruction, and everything that Vim sees left as it was:
lengths, columns, classes of characters, case, order where lines are sorted, numbers where there is
arithmetic, and words that Vim or the indenting of code knows.

This package only drafts. Whether a draft is a twin, it proves here by its shape (`same_shape`), and
where solutions are known, by real replays, in `generate.twins`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from vimlib.records import Protocol, Task
from vimlib.suites.fresh.draw import Draw
from vimlib.suites.twins.mapping import Exchange, Rules, exchange, rules_for
from vimlib.suites.twins.pieces import RUN, SHORTEST, Cuts, lower

__all__ = ["GENERATOR", "LEAST_CHANGE", "Draft", "changed", "drafts", "named", "same_shape"]
__all__ += ["twin_of", "version"]

GENERATOR = 1
"""Of what is drafted and kept: raised whenever the same suite and seed may give other twins than before."""
LEAST_CHANGE = 0.2
"""Of the letters and digits of start and target, the share that must be others in a twin."""

_SORTS = re.compile(r"\b(?:re)?(?:sort|order|alphabet|rank)", re.IGNORECASE)


def named(suite: str) -> str:
    """The name of the twins of a suite of this name."""
    return f"twins-of-{suite}"


def version(suite_hash: str, seed: int) -> str:
    """The version of the twins of a suite that a seed gives."""
    return f"of-{suite_hash[:12]}-seed-{seed}-g{GENERATOR}"


def twin_of(task: Task) -> str:
    """What a twin says of its original: the id, `#`, and 12 hex digits over start and target.

    The digits are the first of sha256 over the number of characters of the start, a colon, start and
    target, in UTF-8: an original is found by what it is, in whichever version of a suite it stands.
    """
    content = f"{len(task.start)}:{task.start}{task.target}"
    return f"{task.id}#{hashlib.sha256(content.encode()).hexdigest()[:12]}"


@dataclass(frozen=True, slots=True)
class Draft:
    """A twin that has the shape of its original, with the known solutions as they would be for it."""

    task: Task
    solutions: tuple[tuple[str, Protocol], ...]
    """Keys and notation, in the order given; the task's own reference is in the task."""
    changed: float
    """Of the letters and digits of start and target, the share that are others."""


def drafts(task: Task, solutions: Sequence[tuple[str, Protocol]] = (), *, seed: int = 0) -> Iterator[Draft]:
    """Drafts of a task's twin, the one that changes most first, then ever more careful ones.

    `solutions`: keys known to solve the task, with their notation. Ends where nothing more careful is
    left. All drafts have the original's shape and change at least `LEAST_CHANGE` of it. The same
    arguments give the same drafts everywhere.
    """
    known = [*solutions]
    if task.reference is not None:
        known.append((task.reference, task.reference_notation))
    cuts = Cuts(task.start, task.target)
    ordered = _sorts(task, known)
    draw = Draw(f"twin|{seed}|{task.id}|{task.start}|{task.target}")
    seen: set[tuple[str, str]] = set()
    for rules in _ladder(rules_for(known, ordered), task, known):
        made = exchange(task.start, task.target, cuts, rules, draw)
        twin = _exchanged(task, made, seed)
        share = changed(task, twin)
        if share < LEAST_CHANGE or (twin.start, twin.target) in seen:
            continue
        seen.add((twin.start, twin.target))
        if same_shape(task, twin, cuts) and (not ordered or _same_order(task, twin)):
            mapped = tuple((made.keys(keys, protocol), protocol) for keys, protocol in solutions)
            yield Draft(twin, mapped, share)


def _ladder(rules: Rules, task: Task, known: Sequence[tuple[str, Protocol]]) -> Iterator[Rules]:
    replace = dataclasses.replace
    yield from [rules] * 3
    typed = "".join(keys for keys, _ in known).lower()
    words = {lower(run[0]) for text in (task.start, task.target) for run in RUN.finditer(text)}
    shared = frozenset(word for word in words if len(word) >= SHORTEST and word in typed)
    yield from [replace(rules, frozen=shared)] * 2
    yield from [replace(rules, frozen=shared, first=max(2, rules.first))] * 2
    begun = frozenset(
        word for word in words if any(word[:size] in typed for size in range(2, 4)) and len(word) >= SHORTEST
    )
    yield from [replace(rules, frozen=shared | begun)] * 2
    for share in (0.6, 0.4, 0.25):
        yield from [replace(rules, frozen=shared, share=share)] * 3
    yield from [replace(rules, numbers=True)] * 2
    yield from [replace(rules, short=True)] * 2
    yield from [replace(rules, short=True, numbers=True)] * 2
    yield from [replace(rules, ordered=True, short=True, numbers=True)] * 2


def _exchanged(task: Task, made: Exchange, seed: int) -> Task:
    return Task(
        id=f"twin-{seed}-{task.id}",
        start=made.text(task.start),
        target=made.text(task.target),
        instruction=made.text(task.instruction),
        title=made.text(task.title),
        tier=task.tier,
        category=task.category,
        reference=None if task.reference is None else made.keys(task.reference, task.reference_notation),
        reference_notation=task.reference_notation,
        twin_of=twin_of(task),
    )


def changed(task: Task, twin: Task) -> float:
    """Of the letters and digits of start and target, the share that are others in the twin; 0 to 1."""
    old, new = task.start + task.target, twin.start + twin.target
    places = [place for place, character in enumerate(old) if character.isalnum()]
    return sum(old[place] != new[place] for place in places) / len(places) if places else 0.0


# --- shape -------------------------------------------------------------------------------------

_DIGITS = re.compile(r"\d")
_TOKENS = re.compile(r"[^\W\d_]+|\d+|.", re.DOTALL)


def same_shape(task: Task, twin: Task, cuts: Cuts | None = None) -> bool:
    """Whether the edit from start to target is the same up to the exchange of words.

    Three things are compared: the classes of all characters, place by place; the edit script over lines
    and over words, computed anew for the twin; and what the original's edit leaves standing, which must be
    what the twin's leaves standing, down to parts of words.
    """
    pairs = ((task.start, twin.start), (task.target, twin.target))
    if any(len(old) != len(new) or any(map(_differ, old, new)) for old, new in pairs):
        return False
    if any(_script(task, split) != _script(twin, split) for split in (_lines, _TOKENS.findall)):
        return False
    for i, j, n in (cuts or Cuts(task.start, task.target)).blocks:
        left, right = _whole(task.start, task.target, i, j, n)
        if lower(twin.start[i + left : i + n - right]) != lower(twin.target[j + left : j + n - right]):
            return False
    return True


def _differ(old: str, new: str) -> bool:
    """Whether two characters are of different kinds to Vim, or need another number of bytes."""
    kinds = [(c.isalpha(), c.isupper(), c.isdigit(), len(c.encode())) for c in (old, new)]
    return kinds[0] != kinds[1] or (old != new and not old.isalnum())


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _script(task: Task, split: Callable[[str], list[str]]) -> Sequence[tuple[str, int, int, int, int]]:
    return SequenceMatcher(None, split(task.start), split(task.target), autojunk=False).get_opcodes()


def _whole(start: str, target: str, i: int, j: int, n: int) -> tuple[int, int]:
    """Letters at both ends of what is alike that are only the end or beginning of different words.

    Words that have their last letter in common by chance need not have it in common in the twin.
    """

    def partial(at_end: bool) -> int:
        edges = (
            (start[i + n : i + n + 1], target[j + n : j + n + 1])
            if at_end
            else (start[i - 1 : i] if i else "", target[j - 1 : j] if j else "")
        )
        size = 0
        kind = RUN if RUN.match(start[i + n - 1 if at_end else i]) else _DIGITS
        while size < n and kind.match(start[i + n - 1 - size if at_end else i + size]):
            size += 1
        cut = any(edge and kind.match(edge) for edge in edges)
        return size if cut and (kind is _DIGITS or size < SHORTEST) else 0

    left, right = partial(False), partial(True)
    return (left, right) if left + right <= n else (n, 0)


# --- order -------------------------------------------------------------------------------------


def _sorts(task: Task, known: Sequence[tuple[str, Protocol]]) -> bool:
    """Whether the order of lines may matter: in doubt, it does."""
    lines, after = _lines(task.start), _lines(task.target)
    return (
        any(":sor" in keys or "|sor" in keys for keys, _ in known)
        or bool(_SORTS.search(f"{task.title} {task.instruction}"))
        or (lines != after and len(lines) > 2 and sorted(lines) == sorted(after))
        or (len(after) > 2 and after == sorted(after) and lines != sorted(lines))
    )


def _same_order(task: Task, twin: Task) -> bool:
    def ranks(text: str) -> list[int]:
        lines = _lines(text)
        return sorted(range(len(lines)), key=lambda number: (lines[number], number))

    return ranks(task.start) == ranks(twin.start) and ranks(task.target) == ranks(twin.target)
