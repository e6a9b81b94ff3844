"""A run that was retried or resumed is one run: its files joined, each attempt counted once.

A retry writes a new log, and copies into it what the old one had finished; the error that made
the retry necessary comes along as history. Counted file by file, an answer would be there twice
and the tokens of the failed attempt once, twice or not at all, as the harness's version has it.
So the parts are joined by the attempts' own ids: every attempt is kept once, in the order in
which it was made. Which of them counts is not decided here.
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
from collections.abc import Iterable, Sequence

from vimlib.records import Attempt, AttemptStatus, Run, RunSource

HOLE = "hole:"
"""Begins the id of an attempt that a file lists and that cannot be read from it."""

RETRY = "retry:"
"""Begins the id of an attempt that a file has only as the history of a later one."""

_EARLIEST = datetime.datetime.min.replace(tzinfo=datetime.UTC)


def join_lineages(runs: Iterable[Run]) -> list[Run]:
    """Runs of one id become one, in the order in which the ids come; the same file twice counts once.

    Of two readings of the same file the later in `runs` is taken. What describes the run as a whole
    (settings, status, name of the file) comes from the file that was begun last. All runs of one id
    must be of one suite and protocol.
    """
    by_id: dict[str, list[Run]] = {}
    for run in runs:
        by_id.setdefault(run.id, []).append(run)
    return [_joined(parts) if len(parts) > 1 else parts[0] for parts in by_id.values()]


def sources_of(run: Run) -> Sequence[RunSource]:
    """The files of a run; one that lists none is of the one that it names, a solver's of none."""
    if run.sources or run.source_sha256 is None:
        return run.sources
    return (RunSource(run.source_sha256, run.source, run.created, run.status),)


def content_id(*parts: object) -> str:
    """An id for an attempt to which its source gave none: equal for copies of it in several files."""
    return "content:" + hashlib.sha256(repr(parts).encode("utf-8", "backslashreplace")).hexdigest()[:24]


def _joined(parts: Sequence[Run]) -> Run:
    files: dict[str, tuple[RunSource, Run]] = {}
    for run in parts:
        for one in sources_of(run):
            files[one.sha256] = (one, run)
    if not files:
        return parts[-1]
    ordered = sorted(
        files.values(), key=lambda file: (file[0].created or _EARLIEST, file[0].harness_id or "")
    )
    place = {one.sha256: number for number, (one, _) in enumerate(ordered)}
    attempts = [
        (place[sha256], attempt)
        for one, run in ordered
        for attempt in run.attempts
        if (sha256 := attempt.source_sha256 or run.source_sha256 or "") == one.sha256
    ]
    last, latest = ordered[-1]
    planned = [run.samples_planned for run in parts if run.samples_planned is not None]
    return dataclasses.replace(
        latest,
        attempts=tuple(_once(attempts, [one for one, _ in ordered])),
        source=last.name,
        source_sha256=last.sha256,
        sources=tuple(one for one, _ in ordered),
        samples_planned=max(planned, default=None),
    )


def _once(found: Sequence[tuple[int, Attempt]], files: Sequence[RunSource]) -> list[Attempt]:
    """Every attempt once, numbered anew within its task and epoch, by file and then as they were."""
    samples: dict[tuple[str, int], list[tuple[int, Attempt]]] = {}
    for file, attempt in found:
        samples.setdefault((attempt.task_id, attempt.epoch), []).append((file, attempt))
    kept = []
    for of_sample in samples.values():
        of_sample.sort(key=lambda one: (one[0], one[1].attempt))
        for number, (file, attempt) in enumerate(_without_copies(of_sample), start=1):
            kept.append(dataclasses.replace(attempt, attempt=number, source_sha256=files[file].sha256))
    return kept


def _without_copies(of_sample: Sequence[tuple[int, Attempt]]) -> list[tuple[int, Attempt]]:
    unique: dict[str, tuple[int, Attempt]] = {}
    for number, (file, attempt) in enumerate(of_sample):
        unique.setdefault(attempt.source_id or f"#{number}", (file, attempt))
    if any(not name.startswith(HOLE) for name in unique):
        unique = {name: one for name, one in unique.items() if not name.startswith(HOLE)}
    # The history in a later file and the failed attempt in an earlier one are the same attempt; the
    # earlier file knows its tokens.
    failed = [
        attempt.error
        for name, (_, attempt) in unique.items()
        if not name.startswith(RETRY) and attempt.status is AttemptStatus.PROVIDER_ERROR
    ]
    kept = []
    for name, one in unique.items():
        if name.startswith(RETRY) and one[1].error in failed:
            failed.remove(one[1].error)
        else:
            kept.append(one)
    return kept
