"""Suites and answers in, judged answers in the store: the one flow through the middle of the house.

One bad source never stops the rest: it becomes a row that says why it was rejected. Nothing
is stored until everything is judged, and then at once, so an interrupted load leaves the
store as it was, and the replays it had done in the cache. A run that stands in several files,
given now or loaded before, is joined before it is judged.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    PublishedResult,
    Repair,
    Run,
    RunKind,
    Suite,
    Task,
    VimBuild,
    VimlibError,
)
from vimlib.repair import Failed, mend
from vimlib.replay import find_vim, fingerprint
from vimlib.runs import SeenTask, find_sources, join_lineages, match_suite, read_runs, sources_of
from vimlib.sandbox import Confinement
from vimlib.solvers import SOLVER_SETTINGS, SOLVERS, solver_run, solver_run_id
from vimlib.store import Change, StoreMissing, connect, read_run, replacing
from vimlib.suites import BUILT_IN, build_suite, fetched_names, holds_tasks, load_suite

FLOOR = "diff"
"""The solver that every answer is compared with (`Score.beats_diff`)."""


class NothingToLoad(VimlibError):
    """No suite could be used, neither a given one nor one that a log carries."""

    exit_code = 3


class RowKind(StrEnum):
    """What a row of the table of a load is about."""

    SUITE = "suite"
    RUN = "run"
    PUBLISHED = "published"
    """Results that somebody published, without answers."""
    SOLVER = "solver"
    """A run that the load made itself, with a solver."""


@dataclass(frozen=True, slots=True)
class LoadedRow:
    """One suite, one file's part of a run, or one source that was rejected. None: does not apply."""

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
    """Attempts, or published results, in the file."""
    errors: int | None = None
    """Attempts without an answer: the provider failed, or the run was stopped."""
    passed: int | None = None
    """Attempts that passed."""
    new: int | None = None
    """Of the attempts, those that the store did not have, or had otherwise."""
    run_id: str | None = None
    """Of the run; a run that stands in several files has a row for each."""
    change: Change | None = None
    """What it did to the store."""
    format: str | None = None
    """What the file is, in words; None: a suite, or made here."""
    rejected: str | None = None
    """Why it was not loaded, in one line."""


@dataclass(frozen=True, slots=True)
class LoadResult:
    """What one load did."""

    rows: tuple[LoadedRow, ...]
    """Suites, then rejected sources, then published results, then runs, then solvers."""
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
        reading.find(Path(path))
    reading.read()
    stored = reading.join(database)
    if not reading.suites and not reading.published:
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
    own = {run.id for run in solved}
    rows = [
        *(_suite_row(suite, change) for suite, change in zip(reading.suites, suite_changes, strict=True)),
        *reading.rejected,
        *(
            _published_row(results, change)
            for results, change in zip(reading.published, published_changes, strict=True)
        ),
        *(
            row
            for judged, change in zip(judgement.runs, run_changes, strict=True)
            for row in _run_rows(
                judged,
                known[judged.run.suite_hash],
                change,
                own=judged.run.id in own,
                stored=stored.get(judged.run.id),
                formats=reading.formats,
            )
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


def _stored(database: Path, ids: Iterable[str]) -> dict[str, Run]:
    """The runs of these ids that the store has."""
    try:
        with closing(connect(database)) as store:
            found = {id: read_run(store, id) for id in ids}
    except StoreMissing:
        return {}
    return {id: run for id, run in found.items() if run is not None}


def _solved(database: Path, name: str, suite: Suite, protocol: Protocol) -> Run:
    """The run of a solver: from the store where this version of it has answered this suite before."""
    id = solver_run_id(name, suite, protocol)
    stored = _stored(database, [id]).get(id)
    if stored is not None and stored.settings == SOLVER_SETTINGS:
        return stored
    return solver_run(name, suite, protocol)


class _Reading:
    """What has been read so far, good and bad."""

    def __init__(self) -> None:
        self.suites: list[Suite] = []
        self.runs: list[Run] = []
        self.published: list[tuple[PublishedResult, ...]] = []
        self.rejected: list[LoadedRow] = []
        self.problems: list[str] = []
        self.notes: list[str] = []
        self.formats: dict[str, str] = {}
        """What a file is, in words, by its hash."""
        self._files: list[Path] = []
        self._carried: list[Suite] = []
        self._at_hand = self._known_suites()

    def _known_suites(self) -> list[Suite]:
        """Built-in suites and those that were fetched: a run that answers one brings it with it."""
        found = []
        for name in (*BUILT_IN, *fetched_names()):
            try:
                found.append(load_suite(name))
            except VimlibError as error:
                self.notes.append(f"suite {name}: {error}")
        return found

    def suite(self, given: str | Path) -> None:
        """Read a suite that was asked for."""
        try:
            self._add_suite(load_suite(given))
        except VimlibError as error:
            self._reject(str(given), RowKind.SUITE, error)

    def find(self, path: Path) -> None:
        """Find files; a suite among them is there before any run is read, wherever it lies."""
        try:
            files = find_sources([path])
        except VimlibError as error:
            self._reject(str(path), RowKind.RUN, error)
            return
        for file in files:
            if holds_tasks(file):
                self.suite(file)
            elif file not in self._files:
                self._files.append(file)

    def read(self) -> None:
        """Read the files that were found."""
        for file in self._files:
            try:
                contents = read_runs(file, self._candidates())
            except VimlibError as error:
                self._reject(str(file), RowKind.RUN, error)
                continue
            self._carried += contents.suites
            self.runs += contents.runs
            if contents.published:
                self.published.append(contents.published)
            for run in contents.runs:
                self.formats[run.source_sha256 or ""] = contents.kind
            self.problems += contents.problems
            self.notes += contents.notes

    def join(self, database: Path) -> dict[str, Run]:
        """Make each run one, with what the store has of it, and each carried suite the fullest at hand.

        Returns the runs as the store had them, by id.
        """
        self._settle_suites()
        stored = _stored(database, {run.id for run in self.runs if run.kind is RunKind.MODEL})
        tasks = {
            suite.hash: {task.id for task in suite.tasks} for suite in (*self._candidates(), *self._carried)
        }
        older = []
        for before in stored.values():
            now = [run for run in self.runs if run.id == before.id]
            given = {one.sha256 for run in now for one in sources_of(run)}
            if all(one.sha256 in given for one in sources_of(before)):
                continue
            held = tasks[now[0].suite_hash]
            if before.protocol is now[0].protocol and all(one.task_id in held for one in before.attempts):
                older.append(dataclasses.replace(before, suite_hash=now[0].suite_hash))
            else:
                self.problems.append(
                    f"{before.source}: the part of run {before.id} that was loaded before has tasks that "
                    "its suite does not hold now, and is left out; load all its files at once"
                )
        self.runs = join_lineages([*older, *self.runs])
        used = {run.suite_hash for run in self.runs}
        for suite in (*self._candidates(), *self._carried):
            if suite.hash in used:
                self._add_suite(suite)
        return stored

    def _candidates(self) -> list[Suite]:
        return list({suite.hash: suite for suite in [*self.suites, *self._at_hand]}.values())

    def _settle_suites(self) -> None:
        """A log of some of a suite's tasks carries a smaller one: runs are of the fullest that agrees.

        The parts of one run may carry different tasks; then they are of all of them together.
        """
        fullest = [*self._candidates(), *sorted(self._carried, key=lambda suite: -len(suite.tasks))]
        instead: dict[str, Suite] = {}
        for suite in self._carried:
            seen = [SeenTask(task.id, task.start, task.target) for task in suite.tasks]
            same = [other for other in fullest if suite.protocols[0] in other.protocols]
            found = match_suite(seen, same).suite
            instead[suite.hash] = found if found is not None else suite
        for id, parts in _by_id(self.runs).items():
            hashes = list(dict.fromkeys(run.suite_hash for run in parts))
            settled = {instead[digest].hash if digest in instead else digest for digest in hashes}
            if len(settled) > 1:
                whole = _together([suite for suite in self._carried if suite.hash in hashes])
                if whole is None or any(digest not in instead for digest in hashes):
                    first = next(digest for digest in hashes if digest not in instead or whole is None)
                    instead |= {digest: self._named(first) for digest in hashes}
                    self.problems.append(f"run {id}: its files are of different tasks under the same ids")
                else:
                    self._carried.append(whole)
                    instead |= dict.fromkeys(hashes, whole)
        self.runs = [
            dataclasses.replace(run, suite_hash=instead[run.suite_hash].hash)
            if run.suite_hash in instead
            else run
            for run in self.runs
        ]

    def _named(self, digest: str) -> Suite:
        return next(suite for suite in (*self._candidates(), *self._carried) if suite.hash == digest)

    def _add_suite(self, suite: Suite) -> None:
        if all(suite.hash != other.hash for other in self.suites):
            self.suites.append(suite)

    def _reject(self, source: str, kind: RowKind, error: VimlibError) -> None:
        self.rejected.append(LoadedRow(source=source, kind=kind, rejected=str(error)))


def _by_id(runs: Iterable[Run]) -> dict[str, list[Run]]:
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(run.id, []).append(run)
    return found


def _together(suites: Sequence[Suite]) -> Suite | None:
    """The tasks of several suites as one; None: they contradict each other."""
    tasks: dict[str, Task] = {}
    for suite in suites:
        for task in suite.tasks:
            known = tasks.setdefault(task.id, task)
            if (known.start, known.target) != (task.start, task.target):
                return None
    first = suites[0]
    return build_suite(first.name, list(tasks.values()), first.protocols, origin=first.origin)


def _suite_row(suite: Suite, change: Change) -> LoadedRow:
    return LoadedRow(
        source=suite.origin or suite.name,
        kind=RowKind.SUITE,
        name=suite.name,
        suite=f"{suite.name} {suite.version}",
        tasks=len(suite.tasks),
        change=change,
    )


def _published_row(results: Sequence[PublishedResult], change: Change) -> LoadedRow:
    first = results[0]
    return LoadedRow(
        source=first.source,
        kind=RowKind.PUBLISHED,
        name=first.model if len(results) == 1 else f"{len(results)} models",
        suite=" ".join(part for part in (first.benchmark, first.task_set) if part),
        protocol=first.protocol,
        tasks=first.tasks,
        attempts=len(results),
        new=0 if change is Change.UNCHANGED else len(results),
        errors=sum(one.error is not None for one in results),
        change=change,
        format="published results",
    )


def _run_rows(
    judged: Judged,
    suite: Suite,
    change: Change,
    *,
    own: bool,
    stored: Run | None,
    formats: Mapping[str, str],
) -> Iterator[LoadedRow]:
    """A row for each file of the run that was given now, or the one row of a run without files."""
    run = judged.run
    known = {} if stored is None else {(a.task_id, a.epoch, a.attempt): a for a in stored.attempts}
    files: list[tuple[str | None, str]] = [
        (one.sha256, one.name) for one in sources_of(run) if one.sha256 in formats
    ]
    for sha256, name in files or [(run.source_sha256, run.source or run.name)]:
        attempts = [one for one in run.attempts if (one.source_sha256 or run.source_sha256) == sha256]
        statuses = Counter(attempt.status for attempt in attempts)
        new = 0
        if change is not Change.UNCHANGED:
            new = sum(
                (before := known.get((one.task_id, one.epoch, one.attempt))) is None
                or dataclasses.replace(before, source_sha256=None)
                != dataclasses.replace(one, source_sha256=None)
                for one in attempts
            )
        yield LoadedRow(
            source=name,
            kind=RowKind.SOLVER if own else RowKind.RUN,
            name=run.name,
            suite=f"{suite.name} {suite.version}",
            protocol=run.protocol,
            tasks=len({attempt.task_id for attempt in attempts}),
            attempts=len(attempts),
            new=new,
            run_id=run.id,
            errors=statuses[AttemptStatus.PROVIDER_ERROR] + statuses[AttemptStatus.CANCELLED],
            passed=sum(
                one.score.passed is True
                for one in judged.verdicts
                if (one.attempt.source_sha256 or run.source_sha256) == sha256
            ),
            change=change,
            format=None if own else formats.get(sha256 or ""),
        )
