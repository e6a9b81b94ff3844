"""The twins of a suite: drafts kept where every known solution still works, in real Vim.

A draft of `suites.twins` has the shape of its original by construction and by check. Whether it is the
same task to Vim only Vim can say: each solution that is known to work on the original (the reference, and
published ones that are marked as verified) is replayed on the twin with its words exchanged, and must leave
the twin's target. If one does not, a more careful draft is tried, until there is none.

A task of which no solution is known gets the twin that its shape allows. That is weaker, and the report
counts such twins apart.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from vimlib.generate import BadRequest, NotPlayed
from vimlib.judge import judge
from vimlib.records import (
    Attempt,
    AttemptStatus,
    Outcome,
    Protocol,
    PublishedSolution,
    Run,
    RunKind,
    Suite,
    Task,
    VimlibError,
)
from vimlib.sandbox import Confinement
from vimlib.suites import build_suite, twins
from vimlib.suites.twins import Draft

Keys = tuple[str, Protocol]


class NoTwins(VimlibError):
    """Not one task of the suite has a twin."""

    exit_code = 3


class Lack(StrEnum):
    """Why a task has no twin."""

    ERRATUM = "cannot be judged fairly"
    TWIN = "is a twin itself"
    WORDS = "too few words can be exchanged"
    SOLUTION = "a known solution fails on every draft"


@dataclass(frozen=True, slots=True)
class Twin:
    """A task and its twin."""

    original: Task
    task: Task
    solutions: tuple[tuple[str, str], ...]
    """The published solutions that work on the original: as they are, and as they are for the twin."""
    works: tuple[bool, ...]
    """Of each, whether it works on the twin as it is there."""
    verbatim: tuple[bool, ...]
    """Of each, whether it works on the twin as it was published: keys that show no memory."""
    changed: float
    """Of the letters and digits of start and target, the share that are others."""
    replayed: bool
    """Whether any solution, published or reference, was there to be replayed."""


@dataclass(frozen=True, slots=True)
class Twinned:
    """The twins of a suite, and what has none."""

    suite: Suite
    twins: tuple[Twin, ...]
    """In the order of the original suite."""
    lacking: Mapping[str, Lack]
    """By id of the original."""
    at_first: int
    """Of the twins that known solutions were replayed on, those whose first draft kept them all working."""

    def summary(self) -> str:
        """One line: how many tasks have a twin, how many known solutions work, why the others have none."""
        tried = sum(one.replayed for one in self.twins)
        works = [work for one in self.twins for work in one.works]
        verbatim = sum(sum(one.verbatim) for one in self.twins)
        whys = ", ".join(f"{why} ({times})" for why, times in Counter(self.lacking.values()).most_common())
        return (
            f"{len(self.twins)} of {len(self.twins) + len(self.lacking)} tasks have a twin"
            f"{f'; the others: {whys}' if whys else ''}; solutions were replayed on {tried} of them "
            f"({self.at_first} at the first draft); {sum(works)} of {len(works)} published solutions work "
            f"with their words exchanged, {verbatim} as they are"
        )


def generate_twins(
    suite: Suite,
    *,
    seed: int = 0,
    published: Sequence[PublishedSolution] | None = None,
    confinement: Confinement = Confinement.FULL,
    cache: Path | None = None,
    executor: Executor | None = None,
    progress: bool = False,
) -> Twinned:
    """The twins of a suite's tasks, the same for the same suite, solutions and seed.

    `published`: other solutions than the suite's own. `cache`, `executor`, `progress`: as in `judge`.

    Raises BadRequest, NoTwins, NotPlayed, NoVim, ConfinementUnavailable, CacheUnusable.
    """
    if seed < 0:
        raise BadRequest(f"seed {seed}: expected 0 or more")
    known = suite.published if published is None else published
    lacking: dict[str, Lack] = {}
    waiting: dict[str, Iterator[Draft]] = {}

    def play(trials: Sequence[_Trial]) -> dict[tuple[str, int], bool]:
        return _played(trials, suite.protocols, confinement, cache, executor, progress)

    claimed: dict[str, list[str]] = {}
    for one in known:
        if one.verified:
            claimed.setdefault(one.task_id, []).append(one.keys)
    ours = [task for task in suite.tasks if task.erratum is None and task.twin_of is None]
    passes = play([_Trial(task, _golf(claimed.get(task.id, ()))) for task in ours])
    works = {
        task.id: [keys for number, keys in enumerate(claimed.get(task.id, ())) if passes[task.id, number]]
        for task in ours
    }
    by_id = {task.id: task for task in suite.tasks}
    for task in suite.tasks:
        if task.erratum is not None:
            lacking[task.id] = Lack.ERRATUM
        elif task.twin_of is not None:
            lacking[task.id] = Lack.TWIN
        else:
            waiting[task.id] = twins.drafts(task, _golf(works[task.id]), seed=seed)
            lacking[task.id] = Lack.WORDS
    made: dict[str, Twin] = {}
    at_first, first = 0, True
    while waiting:
        round_: dict[str, Draft] = {}
        for task_id in list(waiting):
            draft = next(waiting[task_id], None)
            if draft is None:
                del waiting[task_id]
            else:
                round_[task_id] = draft
        trials = [_Trial(one.task, (*one.solutions, *_reference(one.task))) for one in round_.values()]
        passes = play(trials)
        for trial, (task_id, draft) in zip(trials, round_.items(), strict=True):
            if all(passes[trial.task.id, number] for number in range(len(trial.keys))):
                del waiting[task_id], lacking[task_id]
                pairs = zip(works[task_id], (keys for keys, _ in draft.solutions), strict=True)
                made[task_id] = Twin(
                    by_id[task_id],
                    draft.task,
                    tuple(pairs),
                    tuple(passes[trial.task.id, number] for number in range(len(draft.solutions))),
                    (),
                    draft.changed,
                    bool(trial.keys),
                )
                at_first += first and bool(trial.keys)
            else:
                lacking[task_id] = Lack.SOLUTION
        first = False
    kept = [made[task.id] for task in suite.tasks if task.id in made]
    if not kept:
        raise NoTwins(
            f"{suite.name}: none of its {len(suite.tasks)} tasks has a twin; "
            "expected tasks with words that can be exchanged"
        )
    passes = play([_Trial(one.task, _golf(keys for keys, _ in one.solutions)) for one in kept])
    kept = [
        dataclasses.replace(
            one, verbatim=tuple(passes[one.task.id, number] for number in range(len(one.solutions)))
        )
        for one in kept
    ]
    return Twinned(
        build_suite(
            twins.named(suite.name),
            [one.task for one in kept],
            suite.protocols,
            origin=f"vimlib generate twins --suite {suite.name} --seed {seed}",
            version=twins.version(suite.hash, seed),
            licence=suite.licence,
        ),
        tuple(kept),
        lacking,
        at_first,
    )


def _golf(keys: Iterable[str]) -> tuple[Keys, ...]:
    return tuple((one, Protocol.GOLF) for one in keys)


def _reference(task: Task) -> tuple[Keys, ...]:
    return () if task.reference is None else ((task.reference, task.reference_notation),)


@dataclass(frozen=True, slots=True)
class _Trial:
    task: Task
    keys: tuple[Keys, ...]


def _played(
    trials: Sequence[_Trial],
    protocols: Sequence[Protocol],
    confinement: Confinement,
    cache: Path | None,
    executor: Executor | None,
    progress: bool,
) -> dict[tuple[str, int], bool]:
    """By task and number of its keys, whether they leave the target. Raises NotPlayed.

    Keys are played by the protocol in whose notation they are. What a protocol asks beyond the right
    edit (golf's cap) is as true of a twin as of its original, whose buffers are as long.
    """
    suite = build_suite("trials", [trial.task for trial in trials], tuple(protocols), origin="")
    runs = []
    for protocol in Protocol:
        attempts = [
            Attempt(trial.task.id, number + 1, 1, AttemptStatus.ANSWERED, completion=keys, keys=keys)
            for trial in trials
            for number, (keys, notation) in enumerate(trial.keys)
            if notation is protocol
        ]
        runs.append(Run(f"trial-{protocol}", RunKind.SOLVER, "trial", suite.hash, protocol, tuple(attempts)))
    judged = judge(runs, [suite], confinement=confinement, cache=cache, executor=executor, progress=progress)
    passed: dict[tuple[str, int], bool] = {}
    for one in judged.runs:
        for verdict in one.verdicts:
            if verdict.replay is not None and verdict.replay.outcome is Outcome.HARNESS_ERROR:
                raise NotPlayed(
                    f"{verdict.attempt.task_id}: could not be replayed ({verdict.replay.detail}); "
                    "generate again"
                )
            passed[verdict.attempt.task_id, verdict.attempt.epoch - 1] = bool(verdict.score.correct)
    return passed
