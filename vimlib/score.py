"""The verdict on one answer: the final buffer against the target, by the protocol's own rules.

Pure: task, keys, replay and protocol give a `Score`, and the same give the same on every
machine, however slow. Only the file that Vim left counts; what Vim says about itself is
evidence for diagnosis and is not looked at here. Why an answer failed is `failures`' business.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import Match, SequenceMatcher
from itertools import accumulate

from vimlib.keys import BadNotation, Untranslatable, check_deliverable, count, translate
from vimlib.records import Outcome, Protocol, Replay, Score, Task

__all__ = ["BoundedMatcher", "PARTIAL_STEPS", "TooManySteps", "partial_credit", "score"]


def score(
    task: Task,
    protocol: Protocol,
    keys: str | None,
    replay: Replay | None,
    diff_keystrokes: int | None = None,
) -> Score:
    """What the answer is worth.

    `keys`: the answer in the protocol's notation; None: there is no answer, which is a failure.
    `replay`: what Vim did with them; None where it was not asked (no keys, or keys that cannot be
    given to a Vim: a failure). Deliverable keys without a replay, and a replay that the harness
    spoilt, are unscored: `correct`, `passed`, `partial` and `efficiency` are None.
    `diff_keystrokes`: keys that the `diff` solver needs for this task; None: it fails there.

    Golf: correct if the file, read as UTF-8 and formatted, is the formatted target; passed if
    also some keys, and fewer than the target as the dataset gives it has characters. A file that
    is not UTF-8 is not correct. How the replay ended does not matter: an answer that saves and
    then hangs has saved.
    Bench: correct if the file is the target byte for byte; passed if also Vim ended within its
    time (vimbench judges nothing after a timeout: no pass, partial 0).
    """
    golf = protocol is Protocol.GOLF
    keystrokes = _keystrokes(keys, protocol)
    over_cap = golf and keystrokes is not None and keystrokes >= len(task.target)
    correct, passed, partial = _verdict(task, protocol, keys, replay)
    if passed and (over_cap or (golf and not keys)):
        passed = False
    return Score(
        correct=correct,
        passed=passed,
        partial=partial,
        efficiency=_efficiency(task, protocol, keystrokes, passed),
        keystrokes=keystrokes,
        over_cap=over_cap if golf else None,
        beats_diff=None if keystrokes is None or diff_keystrokes is None else keystrokes < diff_keystrokes,
    )


_FAILED = (False, False, 0.0)
_UNSCORED = (None, None, None)


def _verdict(
    task: Task, protocol: Protocol, keys: str | None, replay: Replay | None
) -> tuple[bool | None, bool | None, float | None]:
    """Correct, passed but for the cap, partial."""
    if keys is None:
        return _FAILED
    if replay is None:
        return _FAILED if _nothing_to_replay(keys, protocol) else _UNSCORED
    if replay.outcome is Outcome.HARNESS_ERROR:
        return _UNSCORED
    if replay.final is None:
        return _FAILED
    if protocol is Protocol.GOLF:
        final, target = protocol.formatted(_text(replay.final)), protocol.formatted(task.target)
        return final == target, final == target, partial_credit(final, target)
    final, target = _text(replay.final), task.target
    if replay.outcome is Outcome.TIMEOUT:
        return final == target, False, 0.0
    return final == target, final == target, partial_credit(final, target)


def _text(final: bytes) -> str:
    """A byte that is not UTF-8 becomes a lone surrogate: one character that no target holds, so two
    texts are equal just where the bytes are."""
    return final.decode("utf-8", "surrogateescape")


def _nothing_to_replay(keys: str, protocol: Protocol) -> bool:
    try:
        check_deliverable(keys, protocol)
    except BadNotation:
        return True
    return protocol is Protocol.GOLF and not keys


def _keystrokes(keys: str | None, protocol: Protocol) -> int | None:
    if keys is None:
        return None
    try:
        return count(keys, protocol)
    except BadNotation:
        return None


def _efficiency(task: Task, protocol: Protocol, keystrokes: int | None, passed: bool | None) -> float | None:
    """min(1, reference keys / answer keys) on a pass, both counted in the answer's protocol."""
    if passed is None or task.reference is None:
        return None
    try:
        reference = count(translate(task.reference, task.reference_notation, protocol), protocol)
    except (BadNotation, Untranslatable):
        return None
    # No keys pass only where start is target already; vimbench gives 0 there.
    return min(1.0, reference / keystrokes) if passed and keystrokes else 0.0


# --- partial credit ---------------------------------------------------------------------------

PARTIAL_STEPS = 30_000_000
"""Steps that `partial_credit` allows difflib (2 to 3 s), so that a text gets the same value everywhere."""


def partial_credit(final: str, target: str) -> float:
    """`difflib.SequenceMatcher(None, final, target).ratio()`, 0 to 1, within bounded time.

    difflib's time can grow with the product of the lengths and more. Its steps are counted ahead of
    each search, and the value is difflib's own wherever it takes at most `PARTIAL_STEPS`: always
    for texts of up to 10,000 characters that we measured, and for most where one is short and the
    other 1 MB. Trimming what both texts have in common at their ends would save steps, but changes
    the value (difflib treats frequent characters of the target by its length), so it is not done.
    Over the bound: twice the characters in lines that difflib finds in both, by the length of both
    texts; and if that too is over the bound, the same with the common beginning and end alone.
    """
    if final == target:
        return 1.0
    try:
        return BoundedMatcher(final, target).ratio()
    except TooManySteps:
        pass
    total = len(final) + len(target)
    lines, target_lines = final.splitlines(keepends=True), target.splitlines(keepends=True)
    try:
        blocks = BoundedMatcher(lines, target_lines, autojunk=False).get_matching_blocks()
    except TooManySteps:
        return 2 * _common_ends(final, target) / total
    return 2 * sum(len(line) for block in blocks for line in lines[block.a : block.a + block.size]) / total


class TooManySteps(Exception):
    """A comparison would take longer than it may."""


class BoundedMatcher(SequenceMatcher[str]):
    """difflib's matcher, which raises TooManySteps before the search that would take it over `steps`, by
    default `PARTIAL_STEPS`."""

    a: Sequence[str]
    b2j: dict[str, list[int]]

    def __init__(
        self, a: Sequence[str], b: Sequence[str], autojunk: bool = True, steps: int | None = None
    ) -> None:
        super().__init__(None, a, b, autojunk)
        self._left = PARTIAL_STEPS if steps is None else steps
        # A search walks a part of `a`, and at each element the places in `b` where it occurs.
        self._steps_before = [0, *accumulate(1 + len(self.b2j.get(element, ())) for element in a)]

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        self._left -= self._steps_before[len(self.a) if ahi is None else ahi] - self._steps_before[alo]
        if self._left < 0:
            raise TooManySteps
        return super().find_longest_match(alo, ahi, blo, bhi)


def _common_ends(one: str, other: str) -> int:
    """Characters of the longest common beginning, and of the longest common end of what is left."""
    shorter = min(len(one), len(other))
    start = next((i for i in range(shorter) if one[i] != other[i]), shorter)
    rest = shorter - start
    return start + next((i for i in range(rest) if one[-1 - i] != other[-1 - i]), rest)
