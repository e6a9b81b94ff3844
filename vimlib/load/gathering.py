"""Suites and runs as they were found: read, told apart, and joined with what the store has of them.

Nothing is judged or stored here. What cannot be used becomes a rejected row, and the rest goes on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from vimlib.load.rows import LoadedRow, RowKind, shared_row
from vimlib.records import (
    PublishedResult,
    Run,
    RunKind,
    Suite,
    Task,
    VimlibError,
)
from vimlib.runs import SeenTask, find_sources, join_lineages, match_suite, read_runs, sources_of
from vimlib.store import NOTE, RunFolder, StoreMissing, connect, is_run_folder, read_folders, read_run
from vimlib.suites import BUILT_IN, build_suite, fetched_names, holds_tasks, load_suite


def stored_runs(database: Path, ids: Iterable[str]) -> dict[str, Run]:
    """The runs of these ids that the store has."""
    try:
        with closing(connect(database)) as store:
            found = {id: read_run(store, id) for id in ids}
    except StoreMissing:
        return {}
    return {id: run for id, run in found.items() if run is not None}


class Gathered:
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
        self.folders: list[RunFolder] = []
        """Runs that `vimlib export` wrote, judged already."""
        self._files: list[Path] = []
        self._shared: list[Path] = []
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
        """Find files; a suite among them is there before any run is read, wherever it lies.

        Folders of exported runs among them are taken as a whole.
        """
        if is_run_folder(path):
            self._share(path)
            return
        try:
            files = find_sources([path])
        except VimlibError as error:
            self._reject(str(path), RowKind.RUN, error)
            return
        for file in files:
            if file.name == NOTE and is_run_folder(file.parent):
                self._share(file.parent)
            elif holds_tasks(file):
                self.suite(file)
            elif file not in self._files:
                self._files.append(file)

    def _share(self, folder: Path) -> None:
        if folder.resolve() not in {one.resolve() for one in self._shared}:
            self._shared.append(folder)

    def read(self) -> None:
        """Read the files that were found."""
        self.folders, unusable = read_folders(self._shared)
        self.rejected += [shared_row(one) for one in unusable]
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
        stored = stored_runs(database, {run.id for run in self.runs if run.kind is RunKind.MODEL})
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
