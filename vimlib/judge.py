"""Answers judged: each attempt's keys replayed once in real Vim, scored, and set beside the floor.

It joins what `replay` and `score` do to one answer into what a whole run needs, and knows
neither where runs come from nor where verdicts go. Joins are by key: a verdict travels with
its attempt.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from tqdm.auto import tqdm

from vimlib.records import Attempt, AttemptStatus, Protocol, Replay, Run, Score, Suite, Task, TurnState
from vimlib.replay import (
    ReplayCache,
    ReplayRequest,
    Standing,
    after_turn,
    beginning,
    find_vim,
    replay_each,
    replay_key,
    turn_requests,
)
from vimlib.sandbox import Confinement
from vimlib.score import score


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one attempt is worth."""

    attempt: Attempt
    replay: Replay | None
    """None: there were no keys to replay. Of several turns, the last that was played."""
    score: Score


@dataclass(frozen=True, slots=True)
class Judged:
    """One run with a verdict on each of its attempts that has an answer."""

    run: Run
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """All runs that were judged together."""

    runs: tuple[Judged, ...]
    """In the order given."""
    replays: Mapping[str, Replay]
    """All replays that the verdicts rest on, those of the floors too, by what this machine's Vim would
    keep them under; where another machine's Vim replayed, `Replay.key` is that one's."""
    replayed: int
    """How many of them Vim was started for now; the others came from the cache."""


def judge(
    runs: Sequence[Run],
    suites: Iterable[Suite],
    *,
    floors: Sequence[Run] = (),
    confinement: Confinement = Confinement.FULL,
    cache: Path | None = None,
    executor: Executor | None = None,
    progress: bool = False,
) -> Judgement:
    """Judge runs, each against its own suite, which must be among `suites`.

    `floors`: runs of the solver that others are compared with (`Score.beats_diff`), one for each
    suite and protocol; only where its edit is right does it give a number of keys to beat. `cache`:
    file of kept replays. `progress`: show a bar on standard error, or in the notebook.

    Raises NoVim, ConfinementUnavailable, CacheUnusable.
    """
    tasks = {suite.hash: {task.id: task for task in suite.tasks} for suite in suites}
    courses = {
        place: [(attempt, _course(run, attempt, tasks[run.suite_hash][attempt.task_id])) for attempt in asked]
        for place, run in enumerate([*floors, *runs])
        if (asked := [one for one in run.attempts if one.status is AttemptStatus.ANSWERED])
    }
    played, replays, replayed = _play(
        [course for some in courses.values() for _, course in some], confinement, cache, executor, progress
    )

    def verdicts(place: int, run: Run, to_beat: Mapping[str, int]) -> Iterator[Verdict]:
        for attempt, course in courses.get(place, ()):
            keys, done = played[course]
            task = tasks[run.suite_hash][attempt.task_id]
            worth = score(task, run.protocol, keys, done, diff_keystrokes=to_beat.get(task.id))
            yield Verdict(attempt, done, worth)

    floor_keys: dict[tuple[str, Protocol], dict[str, int]] = {}
    for place, run in enumerate(floors):
        floor_keys[run.suite_hash, run.protocol] = {
            one.attempt.task_id: one.score.keystrokes
            for one in verdicts(place, run, {})
            if one.score.correct and one.score.keystrokes is not None
        }
    judged = tuple(
        Judged(run, tuple(verdicts(place, run, floor_keys.get((run.suite_hash, run.protocol), {}))))
        for place, run in enumerate(runs, start=len(floors))
    )
    return Judgement(judged, replays, replayed)


_Course = Generator[tuple[ReplayRequest, ...], tuple[Replay, ...], tuple[str | None, Replay | None]]
"""One attempt on its way: asks for replays, is sent them, and ends with the keys that were played and
the replay that decides; None: there was nothing to replay."""


def _course(run: Run, attempt: Attempt, task: Task) -> _Course:
    if attempt.turns is not None:
        return (yield from _course_in_turns(run, attempt.turns, task))
    # Bench types its save and quit even after no keys at all.
    if attempt.keys is None or (attempt.keys == "" and run.protocol is Protocol.GOLF):
        return attempt.keys, None
    (done,) = yield (ReplayRequest(run.protocol, task.start, attempt.keys),)
    return attempt.keys, done


def _course_in_turns(run: Run, turns: Sequence[str], task: Task) -> _Course:
    """The last turn decides. Turns after the one that ended the edit, which another Vim may have let
    go on, are not played and do not count."""
    state = run.turn_state or TurnState.FRESH
    standing: Standing | None = beginning(task.start)
    played: list[str] = []
    done: Replay | None = None
    for keys in turns:
        if standing is None:
            break
        replays = yield turn_requests(standing, keys, state)
        played.append(keys)
        done = replays[0]
        standing = after_turn(standing, keys, state, replays, task.target)
    return "".join(played) if played else None, done


def _play(
    courses: Sequence[_Course],
    confinement: Confinement,
    cache: Path | None,
    executor: Executor | None,
    progress: bool,
) -> tuple[dict[_Course, tuple[str | None, Replay | None]], dict[str, Replay], int]:
    """What each course ended with, all replays by key, and how many were made now.

    In rounds: a turn cannot be asked for before the one before it is known, but all courses that are
    as far can be played together.
    """
    vim = find_vim()
    ended: dict[_Course, tuple[str | None, Replay | None]] = {}
    replays: dict[str, Replay] = {}
    replayed = 0
    asking: dict[_Course, tuple[ReplayRequest, ...]] = {}

    def go_on(course: _Course, answers: tuple[Replay, ...] | None) -> None:
        try:
            asking[course] = next(course) if answers is None else course.send(answers)
        except StopIteration as end:
            ended[course] = end.value

    for course in courses:
        go_on(course, None)
    while asking:
        asked, asking = asking, {}
        keys = {
            course: [replay_key(request, vim, confinement) for request in some]
            for course, some in asked.items()
        }
        wanted = {
            key: request
            for course, some in asked.items()
            for key, request in zip(keys[course], some, strict=True)
            if key not in replays
        }
        done, now = _replays(wanted, confinement, cache, executor, progress)
        replays |= done
        replayed += now
        for course in asked:
            go_on(course, tuple(replays[key] for key in keys[course]))
    return ended, replays, replayed


def _replays(
    wanted: Mapping[str, ReplayRequest],
    confinement: Confinement,
    cache: Path | None,
    executor: Executor | None,
    progress: bool,
) -> tuple[dict[str, Replay], int]:
    kept = ReplayCache(cache) if cache is not None else None
    bar = tqdm(total=len(wanted), desc="replaying", unit="answer", disable=not progress)
    try:
        known = {done.key: done for done in kept.get(wanted)} if kept is not None else {}
        bar.update(len(known))
        fresh = (request for key, request in wanted.items() if key not in known)
        done = {
            replay_key(request, find_vim(), confinement): result
            for request, result in replay_each(
                fresh, confinement=confinement, executor=executor, cache=kept, progress=bar.update
            )
        }
        return known | done, len(done)
    finally:
        bar.close()
        if kept is not None:
            kept.close()
