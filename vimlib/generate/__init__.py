"""Drawn tasks kept or rejected: a generated suite holds only what was played and found hard enough.

A template can be wrong, or its task too easy for a program, and neither shows before it is tried.
So every candidate that a source of tasks draws is replayed here in real Vim under both protocols and set
beside the solvers; what fails is replaced by the next draw of the same template.

Kept is a task if, in each protocol by itself:

1. its reference passes: the file is the target byte for byte, the keys under golf's cap;
2. doing nothing (`noop`) does not pass;
3. its reference has no more keys than the answer of `diff`, in tiers 3 and 4 at most four fifths of them;
4. its reference has fewer keys than the answer of `retype`;
5. no other task of the suite has its start and target.

All keys count, the closing `ZZ` of the reference too, which bench's solvers do not need. Rules 3 and 4 are
pure arithmetic, the same everywhere. Rules 1 and 2 are Vim's word: another Vim could in principle
decide otherwise, and the suite would then be another, under another hash. The references are meant to keep to
commands that have not changed since Vim 8, which was checked with 9.0 alone; no draw of the present
templates has been seen to fail there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from multiprocessing import get_context
from pathlib import Path

from tqdm.auto import tqdm

from vimlib import keys
from vimlib.judge import Judgement, judge
from vimlib.records import Outcome, Protocol, Suite, Task, VimlibError
from vimlib.replay import cores
from vimlib.sandbox import Confinement
from vimlib.solvers import SOLVERS, solver_run
from vimlib.suites import build_suite, fresh

_HARDER = 0.8
"""Share of the keys of `diff` that a reference of tiers 3 and 4 may have: at least a fifth shorter."""
_IN_PROCESS = 4
"""So few tasks are compared faster here than in processes that have to be started first."""
_SPARE = 10
"""Rejected candidates of one template beyond which it is the template that is wrong."""


class BadRequest(VimlibError):
    """There is no suite of this seed or size."""

    exit_code = 2


class TemplateFails(VimlibError):
    """A template's candidates are rejected again and again."""


class NotPlayed(VimlibError):
    """The harness failed on a candidate; to judge it all the same would make the suite depend on that."""


class Reason(StrEnum):
    """Why a candidate was not kept: the first rule that it breaks."""

    SAME = "same as another"
    REFERENCE_FAILS = "reference fails"
    NOOP_PASSES = "noop passes"
    NOT_BELOW_DIFF = "diff as short"
    NOT_BELOW_RETYPE = "retype as short"


@dataclass(frozen=True, slots=True)
class Rejection:
    """A candidate that was not kept."""

    task: Task
    template: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of one template's candidates."""

    template: str
    kept: int
    rejected: int
    why: str
    """The reasons with their numbers; '' where nothing was rejected."""


@dataclass(frozen=True, slots=True)
class Generated:
    """A suite and what was rejected on the way to it."""

    suite: Suite
    kept: Mapping[str, int]
    """Tasks by template, in the order of the templates; templates with none left out."""
    rejected: tuple[Rejection, ...]

    def by_template(self) -> list[Tally]:
        """One tally a template that was drawn from, in the order of the templates."""
        tallies = []
        for template, kept in self.kept.items():
            whys = Counter(one.reason for one in self.rejected if one.template == template)
            tallies.append(Tally(template, kept, whys.total(), _listed(whys)))
        return tallies


def _listed(whys: Mapping[Reason, int]) -> str:
    return ", ".join(f"{why} ({times})" for why, times in whys.items())


def generate_fresh(
    seed: int,
    count: int,
    *,
    confinement: Confinement = Confinement.FULL,
    cache: Path | None = None,
    executor: Executor | None = None,
    progress: bool = False,
) -> Generated:
    """The `fresh` suite of `count` tasks that a seed gives, the same for the same seed and count.

    Tasks are spread over the four tiers as evenly as `count` allows, and within a tier over its
    templates; they stand in the order of the templates. A task depends on the seed and its place among its
    template's draws alone, so that a suite of more tasks holds those of a smaller one. `cache`,
    `executor`, `progress`: as in `judge`.

    Raises BadRequest, TemplateFails, NotPlayed, NoVim, ConfinementUnavailable, CacheUnusable.
    """
    if seed < 0 or count < 1:
        raise BadRequest(f"seed {seed} and count {count}: expected a seed of 0 or more and at least one task")
    wanted = {name: quota for name, quota in fresh.quotas(count).items() if quota}
    drawn = dict.fromkeys(wanted, 0)
    kept: dict[str, list[Task]] = {name: [] for name in wanted}
    rejected: list[Rejection] = []
    contents: set[tuple[str, str]] = set()
    while lacking := {
        name: quota - len(kept[name]) for name, quota in wanted.items() if quota > len(kept[name])
    }:
        round_: list[tuple[str, Task]] = []
        for name, number in lacking.items():
            for index in range(drawn[name], drawn[name] + number):
                task = fresh.candidate(seed, fresh.TEMPLATES[name], index)
                if (task.start, task.target) in contents:
                    rejected.append(Rejection(task, name, Reason.SAME))
                else:
                    contents.add((task.start, task.target))
                    round_.append((name, task))
            drawn[name] += number
            if drawn[name] > wanted[name] + _SPARE:
                whys = Counter(one.reason for one in rejected if one.template == name)
                raise TemplateFails(
                    f"template {name}: {whys.total()} of its candidates were rejected under seed {seed}: "
                    f"{_listed(whys)}; choose another seed and report this one"
                )
        reasons = reasons_against(
            [task for _, task in round_],
            confinement=confinement,
            cache=cache,
            executor=executor,
            progress=progress,
        )
        for name, task in round_:
            if (reason := reasons[task.id]) is None:
                kept[name].append(task)
            else:
                rejected.append(Rejection(task, name, reason))
    suite = build_suite(
        fresh.NAME,
        [task for tasks in kept.values() for task in tasks],
        fresh.PROTOCOLS,
        origin=f"vimlib generate fresh --seed {seed} --count {count}",
        version=fresh.version(seed, count),
        licence=fresh.LICENCE,
    )
    return Generated(suite, {name: len(tasks) for name, tasks in kept.items()}, tuple(rejected))


def reasons_against(
    tasks: Sequence[Task],
    *,
    confinement: Confinement = Confinement.FULL,
    cache: Path | None = None,
    executor: Executor | None = None,
    progress: bool = False,
) -> dict[str, Reason | None]:
    """For each task, by id, the first of the rules 1 to 4 that it breaks; None: it is to be kept.

    Raises NotPlayed and what `judge` raises.
    """
    suite = build_suite("candidates", tasks, fresh.PROTOCOLS, origin="")
    runs = [
        solver_run(name, suite, protocol) for name in ("reference", "noop") for protocol in suite.protocols
    ]
    judged = judge(runs, [suite], confinement=confinement, cache=cache, executor=executor, progress=progress)
    passed = _passed(judged)
    reasons: dict[str, Reason | None] = {}
    for task in tasks:
        if not all(passed.get((task.id, "reference", protocol)) for protocol in suite.protocols):
            reasons[task.id] = Reason.REFERENCE_FAILS
        elif any(passed.get((task.id, "noop", protocol)) for protocol in suite.protocols):
            reasons[task.id] = Reason.NOOP_PASSES
    played = [task for task in tasks if task.id not in reasons]
    for task, reason in zip(played, _compared(played, progress), strict=True):
        reasons[task.id] = reason
    return reasons


def _passed(judged: Judgement) -> dict[tuple[str, str, Protocol], bool]:
    """By task, solver and protocol whether the answer passed. Raises NotPlayed."""
    passed: dict[tuple[str, str, Protocol], bool] = {}
    for one in judged.runs:
        for verdict in one.verdicts:
            if verdict.replay is not None and verdict.replay.outcome is Outcome.HARNESS_ERROR:
                raise NotPlayed(
                    f"{verdict.attempt.task_id}: could not be replayed ({verdict.replay.detail}); generate "
                    "again"
                )
            passed[verdict.attempt.task_id, one.run.name, one.run.protocol] = bool(verdict.score.passed)
    return passed


def _compared(tasks: Sequence[Task], progress: bool) -> list[Reason | None]:
    """`too_long` of each task, on all cores: the solvers take up to seconds for a large buffer."""
    with tqdm(total=len(tasks), desc="comparing", unit="task", disable=not progress) as bar:

        def told(results: Iterable[Reason | None]) -> list[Reason | None]:
            found = []
            for result in results:
                found.append(result)
                bar.update()
            return found

        if len(tasks) <= _IN_PROCESS or cores() == 1:
            return told(map(too_long, tasks))
        # Not forked: the replays before this ran in threads.
        with ProcessPoolExecutor(min(cores(), len(tasks)), mp_context=get_context("spawn")) as pool:
            return told(pool.map(too_long, tasks, chunksize=2))


def too_long(task: Task) -> Reason | None:
    """The rule, 3 or 4, by which a task's reference is too long; None: by neither. No Vim is started.

    Keys are those of the reference, translated, as each protocol counts them. A solver that has no
    answer sets no bound.
    """
    share = _HARDER if task.tier in (3, 4) else 1.0
    bounds = (("retype", Reason.NOT_BELOW_RETYPE), ("diff", Reason.NOT_BELOW_DIFF))
    for solver, reason in bounds:
        for protocol in Protocol:
            own = _length(task, "reference", protocol)
            other = _length(task, solver, protocol)
            if own is None or other is None:
                continue
            if own >= other if solver == "retype" else own > share * other:
                return reason
    return None


def _length(task: Task, solver: str, protocol: Protocol) -> int | None:
    answer = SOLVERS[solver](task, protocol)
    return None if answer is None else keys.count(answer, protocol)
