"""Suites and answers in, judged answers in the store: the one flow through the middle of the house.

One bad source never stops the rest: it becomes a row that says why it was rejected. Nothing
is stored until everything is judged, and then at once, so an interrupted load leaves the
store as it was, and the replays it had done in the cache. A run that stands in several files,
given now or loaded before, is joined before it is judged.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from vimlib.failures import classify
from vimlib.judge import Judged, judge
from vimlib.load.gathering import Gathered, stored_runs
from vimlib.load.rows import LoadedRow, RowKind, published_row, run_rows, shared_row, suite_row
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
from vimlib.sandbox import Confinement
from vimlib.solvers import SOLVER_SETTINGS, SOLVERS, solver_run, solver_run_id
from vimlib.store import Change, merge_folders, replacing

__all__ = [
    "FLOOR",
    "LoadResult",
    "LoadedRow",
    "NothingToLoad",
    "RowKind",
    "load",
    "read_outcome",
    "write_outcome",
]

FLOOR = "diff"
"""The solver that every answer is compared with (`Score.beats_diff`)."""


class NothingToLoad(VimlibError):
    """No suite could be used, neither a given one nor one that a log carries."""

    exit_code = 3


@dataclass(frozen=True, slots=True)
class LoadResult:
    """What one load did."""

    rows: tuple[LoadedRow, ...]
    """Suites, rejected sources, published results, runs, solvers, then runs from Parquet."""
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
    built-in suite, or carries its own tasks, brings that suite with it. A run that another store exported
    comes with its verdicts and is not judged here. `solvers`: names
    from `SOLVERS`, each run on every suite under every protocol that the suite is meant for.
    `cache`: file of kept replays, None for none. `progress`: show a bar on standard error, or
    in the notebook. `prices`: the user's own, for models that no list knows (`prices.cost_of`).

    A suite or source that cannot be used becomes a rejected row. Raises NothingToLoad where no
    suite is left, UnknownSolver, NoVim, ConfinementUnavailable, CacheUnusable, StoreError.
    """
    began = time.perf_counter()
    vim = find_vim()
    reading = Gathered()
    for given in suites:
        reading.suite(given)
    for path in sources:
        reading.find(Path(path))
    reading.read()
    stored = reading.join(database)
    if not reading.suites and not reading.published and not reading.folders:
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
        published_changes = [writer.add_published(results) for results in reading.published]
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
        shared = merge_folders(writer, reading.folders)
    for one in shared:
        reading.notes += one.notes
    if any(one.change not in (None, Change.UNCHANGED) for one in shared):
        reading.notes.append(
            "runs from Parquet keep the verdicts of the store that exported them; nothing was replayed"
        )
    own = {run.id for run in solved}
    rows = [
        *(suite_row(suite, change) for suite, change in zip(reading.suites, suite_changes, strict=True)),
        *reading.rejected,
        *(
            published_row(results, change)
            for results, change in zip(reading.published, published_changes, strict=True)
        ),
        *(
            row
            for judged, change in zip(judgement.runs, run_changes, strict=True)
            for row in run_rows(
                judged,
                known[judged.run.suite_hash],
                change,
                own=judged.run.id in own,
                stored=stored.get(judged.run.id),
                formats=reading.formats,
            )
        ),
        *map(shared_row, shared),
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
    id = solver_run_id(name, suite, protocol)
    stored = stored_runs(database, [id]).get(id)
    if stored is not None and stored.settings == SOLVER_SETTINGS:
        return stored
    return solver_run(name, suite, protocol)
