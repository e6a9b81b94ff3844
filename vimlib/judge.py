"""Answers judged: each attempt's keys replayed once in real Vim, scored, and set beside the floor.

It joins what `replay` and `score` do to one answer into what a whole run needs, and knows
neither where runs come from nor where verdicts go. Joins are by key: a verdict travels with
its attempt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from tqdm.auto import tqdm

from vimlib.records import Attempt, AttemptStatus, Protocol, Replay, Run, Score, Suite, Task
from vimlib.replay import ReplayCache, ReplayRequest, find_vim, replay_each, replay_key
from vimlib.sandbox import Confinement
from vimlib.score import score


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one attempt is worth."""

    attempt: Attempt
    replay: Replay | None
    """None: there were no keys to replay."""
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
    vim = find_vim()
    tasks = {suite.hash: {task.id: task for task in suite.tasks} for suite in suites}
    wanted: dict[str, ReplayRequest] = {}
    for run in [*floors, *runs]:
        for _, request in _requests(run, tasks[run.suite_hash]):
            wanted.setdefault(replay_key(request, vim, confinement), request)
    replays, replayed = _replays(wanted, confinement, cache, executor, progress)

    def verdicts(run: Run, to_beat: Mapping[str, int]) -> Iterator[Verdict]:
        own = tasks[run.suite_hash]
        for attempt, request in _requests(run, own):
            done = replays[replay_key(request, vim, confinement)]
            yield Verdict(attempt, done, _scored(own, run.protocol, attempt, done, to_beat))
        for attempt in run.attempts:
            if attempt.status is AttemptStatus.ANSWERED and _keys(attempt, run.protocol) is None:
                yield Verdict(attempt, None, _scored(own, run.protocol, attempt, None, to_beat))

    floor_keys: dict[tuple[str, Protocol], dict[str, int]] = {}
    for run in floors:
        floor_keys[run.suite_hash, run.protocol] = {
            one.attempt.task_id: one.score.keystrokes
            for one in verdicts(run, {})
            if one.score.correct and one.score.keystrokes is not None
        }
    judged = tuple(
        Judged(run, tuple(verdicts(run, floor_keys.get((run.suite_hash, run.protocol), {})))) for run in runs
    )
    return Judgement(judged, replays, replayed)


def _requests(run: Run, tasks: Mapping[str, Task]) -> Iterator[tuple[Attempt, ReplayRequest]]:
    for attempt in run.attempts:
        keys = _keys(attempt, run.protocol)
        if attempt.status is AttemptStatus.ANSWERED and keys is not None:
            yield attempt, ReplayRequest(run.protocol, tasks[attempt.task_id].start, keys)


def _keys(attempt: Attempt, protocol: Protocol) -> str | None:
    """The keys to replay; None: nothing. Bench types its save and quit even after no keys at all."""
    return None if attempt.keys == "" and protocol is Protocol.GOLF else attempt.keys


def _scored(
    tasks: Mapping[str, Task],
    protocol: Protocol,
    attempt: Attempt,
    done: Replay | None,
    to_beat: Mapping[str, int],
) -> Score:
    task = tasks[attempt.task_id]
    return score(task, protocol, attempt.keys, done, diff_keystrokes=to_beat.get(task.id))


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
