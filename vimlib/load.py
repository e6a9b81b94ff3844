"""Suites and answers in, judged answers in the store: the one flow through the middle of the house.

One bad source never stops the rest: it becomes a row that says why it was rejected. Nothing
is stored until everything is judged, and then at once, so an interrupted load leaves the
store as it was, and the replays it had done in the cache.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from vimlib.failures import classify
from vimlib.judge import Judged, judge
from vimlib.prices import PriceFile, costs_of
from vimlib.records import (
    Attempt,
    AttemptStatus,
    Failure,
    Protocol,
    Repair,
    Run,
    RunKind,
    Suite,
    VimBuild,
    VimlibError,
)
from vimlib.repair import Failed, mend
from vimlib.replay import find_vim, fingerprint
from vimlib.runs import find_sources, read_runs
from vimlib.sandbox import Confinement
from vimlib.solvers import SOLVER_SETTINGS, SOLVERS, solver_run, solver_run_id
from vimlib.store import Change, StoreMissing, connect, read_run, replacing
from vimlib.suites import BUILT_IN, load_suite

FLOOR = "diff"
"""The solver that every answer is compared with (`Score.beats_diff`)."""


class NothingToLoad(VimlibError):
    """No suite could be used, neither a given one nor one that a log carries."""

    exit_code = 3


class RowKind(StrEnum):
    """What a row of the table of a load is about."""

    SUITE = "suite"
    RUN = "run"
    SOLVER = "solver"
    """A run that the load made itself, with a solver."""


@dataclass(frozen=True, slots=True)
class LoadedRow:
    """One suite, one run, or one source that was rejected. None: does not apply."""

    source: str
    """As given, or the file's name; a solver's own name."""
    kind: RowKind
    name: str | None = None
    """Suite, model or solver; None: rejected before it had a name."""
    suite: str | None = None
    """Name and version."""
    protocol: Protocol | None = None
    tasks: int | None = None
    """Tasks in the suite, or tasks that the run attempted."""
    attempts: int | None = None
    errors: int | None = None
    """Attempts without an answer: the provider failed, or the run was stopped."""
    passed: int | None = None
    """Attempts that passed."""
    change: Change | None = None
    """What it did to the store."""
    rejected: str | None = None
    """Why it was not loaded, in one line."""


@dataclass(frozen=True, slots=True)
class LoadResult:
    """What one load did."""

    rows: tuple[LoadedRow, ...]
    """Suites, then rejected sources, then runs, then solvers."""
    problems: tuple[str, ...]
    """A line for each single answer that could not be taken as it stands."""
    notes: tuple[str, ...]
    """A line for each thing worth knowing that is nobody's fault."""
    replays: int
    """Distinct (protocol, start, keys) that the verdicts rest on."""
    replayed: int
    """Replays that Vim was started for now; the others came from the cache."""
    seconds: float
    vim: VimBuild
    confinement: Confinement

    @property
    def rejected(self) -> tuple[LoadedRow, ...]:
        """Rows of what was not loaded."""
        return tuple(row for row in self.rows if row.rejected is not None)

    @property
    def rejections(self) -> tuple[str, ...]:
        """A line for everything that was not taken: whole sources, then single answers."""
        return (*(row.rejected for row in self.rows if row.rejected is not None), *self.problems)


def write_outcome(result: LoadResult, path: Path) -> None:
    """Tell a caller in another process what was rejected; `read_outcome` reads it there."""
    path.write_text(json.dumps(result.rejections), encoding="utf-8")


def read_outcome(path: Path) -> tuple[str, ...]:
    """The rejections of a load that ran in another process (a notebook)."""
    return tuple(json.loads(path.read_text(encoding="utf-8")))


def load(
    database: Path,
    suites: Sequence[str | Path],
    sources: Sequence[str | Path] = (),
    solvers: Sequence[str] = tuple(SOLVERS),
    *,
    confinement: Confinement = Confinement.FULL,
    cache: Path | None = None,
    executor: Executor | None = None,
    progress: bool = True,
    prices: PriceFile | None = None,
) -> LoadResult:
    """Read suites and sources, judge all answers and those of the solvers, store the outcome.

    `suites`: built-in names or files. `sources`: files or folders with runs; one that answers a
    built-in suite, or carries its own tasks, brings that suite with it. `solvers`: names
    from `SOLVERS`, each run on every suite under every protocol that the suite is meant for.
    `cache`: file of kept replays, None for none. `progress`: show a bar on standard error, or
    in the notebook. `prices`: the user's own, for models that no list knows (`prices.cost_of`).

    A suite or source that cannot be used becomes a rejected row. Raises NothingToLoad where no
    suite is left, UnknownSolver, NoVim, ConfinementUnavailable, CacheUnusable, StoreError.
    """
    began = time.perf_counter()
    vim = find_vim()
    reading = _Reading()
    for given in suites:
        reading.suite(given)
    for path in sources:
        reading.source(Path(path))
    if not reading.suites:
        why = "; ".join(row.rejected or "" for row in reading.rejected) or "no suite was given"
        raise NothingToLoad(
            f"nothing to load: {why}; expected a suite (--suite) or a log that carries its tasks"
        )

    known = {suite.hash: suite for suite in reading.suites}
    pairs = {(suite.hash, protocol): None for suite in reading.suites for protocol in suite.protocols}
    pairs |= {(run.suite_hash, run.protocol): None for run in reading.runs}
    by_solver = {
        (name, suite_hash, protocol): _solved(database, name, known[suite_hash], protocol)
        for name in dict.fromkeys([*solvers, FLOOR])
        for suite_hash, protocol in pairs
    }
    # A solver that cannot answer a single task, as `reference` where there is none, is no run.
    solved = [
        run
        for (name, *_), run in by_solver.items()
        if name in solvers and any(one.status is AttemptStatus.ANSWERED for one in run.attempts)
    ]
    judgement = judge(
        [*reading.runs, *solved],
        reading.suites,
        floors=[run for (name, *_), run in by_solver.items() if name == FLOOR],
        confinement=confinement,
        cache=cache,
        executor=executor,
        progress=progress,
    )
    failures = _failures(
        judgement.runs, known, confinement=confinement, cache=cache, executor=executor, progress=progress
    )
    builds = Counter(done.vim for done in judgement.replays.values())
    if len(builds) > 1:
        counted = ", ".join(
            f"{build.version} ({build.sha256[:12]}): {n}" for build, n in builds.most_common()
        )
        reading.notes.append(f"replayed with more than one Vim, so not all by the same rules: {counted}")
    with replacing(database) as writer:
        suite_changes = [writer.add_suite(suite) for suite in reading.suites]
        run_changes = [writer.add_run(judged.run) for judged in judgement.runs]
        writer.add_replays(judgement.replays.values())
        for judged in judgement.runs:
            writer.add_scores(
                judged.run,
                [(one.attempt, one.replay.key if one.replay else None, one.score) for one in judged.verdicts],
                fingerprint=fingerprint(judged.run.protocol, vim, confinement),
            )
            if judged.run.kind is RunKind.MODEL:
                writer.add_costs(judged.run, costs_of(judged.run, prices))
            writer.add_failures(judged.run, failures[judged.run.id])
    own = {run.id for run in solved}
    rows = [
        *(_suite_row(suite, change) for suite, change in zip(reading.suites, suite_changes, strict=True)),
        *reading.rejected,
        *(
            _run_row(judged, known[judged.run.suite_hash], change, judged.run.id in own)
            for judged, change in zip(judgement.runs, run_changes, strict=True)
        ),
    ]
    return LoadResult(
        rows=tuple(rows),
        problems=tuple(reading.problems),
        notes=tuple(reading.notes),
        replays=len(judgement.replays),
        replayed=judgement.replayed,
        seconds=time.perf_counter() - began,
        vim=vim.build,
        confinement=confinement,
    )


_Failures = dict[str, list[tuple[Attempt, Failure, Repair | None]]]


def _failures(
    judged: Sequence[Judged],
    suites: Mapping[str, Suite],
    *,
    confinement: Confinement,
    cache: Path | None,
    executor: Executor | None,
    progress: bool,
) -> _Failures:
    """Why attempts failed, judged ones and those that the provider lost, and what would have mended
    them; by run."""
    found: list[tuple[str, Failure, Failed]] = []
    for one in judged:
        tasks = {task.id: task for task in suites[one.run.suite_hash].tasks}
        verdicts = {(v.attempt.task_id, v.attempt.epoch, v.attempt.attempt): v for v in one.verdicts}
        for attempt in one.run.attempts:
            verdict = verdicts.get((attempt.task_id, attempt.epoch, attempt.attempt))
            replay, score = (verdict.replay, verdict.score) if verdict else (None, None)
            task = tasks[attempt.task_id]
            failure = classify(task, one.run.protocol, attempt, replay, score)
            if failure is not None:
                found.append((one.run.id, failure, Failed(task, one.run.protocol, attempt, replay)))
    repairs = mend(
        [failed for _, _, failed in found],
        confinement=confinement,
        cache=cache,
        executor=executor,
        progress=progress,
    )
    by_run: _Failures = {one.run.id: [] for one in judged}
    for (run_id, failure, failed), repair in zip(found, repairs, strict=True):
        by_run[run_id].append((failed.attempt, failure, repair))
    return by_run


def _solved(database: Path, name: str, suite: Suite, protocol: Protocol) -> Run:
    """The run of a solver: from the store where this version of it has answered this suite before."""
    try:
        with closing(connect(database)) as store:
            stored = read_run(store, solver_run_id(name, suite, protocol))
    except StoreMissing:
        stored = None
    if stored is not None and stored.settings == SOLVER_SETTINGS:
        return stored
    return solver_run(name, suite, protocol)


class _Reading:
    """What has been read so far, good and bad."""

    def __init__(self) -> None:
        self.suites: list[Suite] = []
        self.runs: list[Run] = []
        self.rejected: list[LoadedRow] = []
        self.problems: list[str] = []
        self.notes: list[str] = []
        self._built_in = [load_suite(name) for name in BUILT_IN]

    def suite(self, given: str | Path) -> None:
        try:
            self._add_suite(load_suite(given))
        except VimlibError as error:
            self._reject(str(given), RowKind.SUITE, error)

    def source(self, path: Path) -> None:
        try:
            files = find_sources([path])
        except VimlibError as error:
            self._reject(str(path), RowKind.RUN, error)
            return
        for file in files:
            candidates = list({suite.hash: suite for suite in [*self.suites, *self._built_in]}.values())
            try:
                contents = read_runs(file, candidates)
            except VimlibError as error:
                self._reject(str(file), RowKind.RUN, error)
                continue
            used = {run.suite_hash for run in contents.runs}
            for suite in (*candidates, *contents.suites):
                if suite.hash in used:
                    self._add_suite(suite)
            have = {run.id for run in self.runs}
            self.runs += [run for run in contents.runs if run.id not in have]
            self.problems += contents.problems
            self.notes += contents.notes

    def _add_suite(self, suite: Suite) -> None:
        if all(suite.hash != other.hash for other in self.suites):
            self.suites.append(suite)

    def _reject(self, source: str, kind: RowKind, error: VimlibError) -> None:
        self.rejected.append(LoadedRow(source=source, kind=kind, rejected=str(error)))


def _suite_row(suite: Suite, change: Change) -> LoadedRow:
    return LoadedRow(
        source=suite.origin or suite.name,
        kind=RowKind.SUITE,
        name=suite.name,
        suite=f"{suite.name} {suite.version}",
        tasks=len(suite.tasks),
        change=change,
    )


def _run_row(judged: Judged, suite: Suite, change: Change, own: bool) -> LoadedRow:
    run = judged.run
    statuses = Counter(attempt.status for attempt in run.attempts)
    return LoadedRow(
        source=run.source or run.name,
        kind=RowKind.SOLVER if own else RowKind.RUN,
        name=run.name,
        suite=f"{suite.name} {suite.version}",
        protocol=run.protocol,
        tasks=len({attempt.task_id for attempt in run.attempts}),
        attempts=len(run.attempts),
        errors=statuses[AttemptStatus.PROVIDER_ERROR] + statuses[AttemptStatus.CANCELLED],
        passed=sum(one.score.passed is True for one in judged.verdicts),
        change=change,
    )
