"""What a load says of each thing it was given: one row a suite, run, published list or rejected source."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from vimlib.judge import Judged
from vimlib.records import (
    AttemptStatus,
    Protocol,
    PublishedResult,
    Run,
    Suite,
)
from vimlib.runs import sources_of
from vimlib.store import Change, SharedRun


class RowKind(StrEnum):
    """What a row of the table of a load is about."""

    SUITE = "suite"
    RUN = "run"
    PUBLISHED = "published"
    """Results that somebody published, without answers."""
    SHARED = "shared"
    """A run that another store exported, with its verdicts."""
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


def suite_row(suite: Suite, change: Change) -> LoadedRow:
    """The row of a suite."""
    return LoadedRow(
        source=suite.origin or suite.name,
        kind=RowKind.SUITE,
        name=suite.name,
        suite=f"{suite.name} {suite.version}",
        tasks=len(suite.tasks),
        change=change,
    )


def published_row(results: Sequence[PublishedResult], change: Change) -> LoadedRow:
    """The row of a file of results without answers."""
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


def run_rows(
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


def shared_row(shared: SharedRun) -> LoadedRow:
    """The row of a folder that `vimlib export` wrote."""
    taken = shared.change is not None
    return LoadedRow(
        source=shared.folder.name if taken else str(shared.folder),
        kind=RowKind.SHARED,
        name=shared.name,
        suite=shared.suite,
        attempts=shared.attempts,
        new=(0 if shared.change is Change.UNCHANGED else shared.attempts) if taken else None,
        run_id=shared.run_id,
        change=shared.change,
        format="Parquet",
        rejected=shared.rejected,
    )
