"""What a suite is made of, whichever source it came from.

Every source of tasks ends here: the same tasks give the same hash, whether they came as
JSON or JSONL, from a file or out of a log, so that results can be joined by content and
a changed suite can never pass for its former self. No file is read here.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Iterable

from vimlib.records import Protocol, PublishedSolution, Suite, Task, VimlibError
from vimlib.suites.errata import with_errata


class SuiteError(VimlibError):
    """A suite cannot be had from the given source; the subclasses say why."""

    exit_code = 3


def content_hash(tasks: Iterable[Task]) -> str:
    """sha256 (hex) over what decides a verdict: ids, starts, targets and references.

    Canonical form: a JSON array, sorted by id, of `[id, start, target, reference]`, the
    reference being `[notation, keys]` or null; ASCII only, no spaces. Titles, dates,
    statistics and the order of tasks do not change it.
    """
    rows = [
        [
            task.id,
            task.start,
            task.target,
            None if task.reference is None else [task.reference_notation.value, task.reference],
        ]
        for task in sorted(tasks, key=lambda task: task.id)
    ]
    canonical = json.dumps(rows, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def build_suite(
    name: str,
    tasks: Iterable[Task],
    protocols: tuple[Protocol, ...],
    *,
    origin: str,
    version: str | None = None,
    licence: str | None = None,
    source_sha256: str | None = None,
    revision: str | None = None,
    fetched: datetime.datetime | None = None,
    published: Iterable[PublishedSolution] = (),
) -> Suite:
    """A `Suite` with its hash, and its tasks with what is known against them.

    Without a `version` of its own it is the hash's first 12 digits. Raises errata.BadErrata.
    """
    kept = with_errata(name, tasks, protocols)
    digest = content_hash(kept)
    return Suite(
        name=name,
        version=digest[:12] if version is None else version,
        hash=digest,
        tasks=kept,
        protocols=protocols,
        origin=origin,
        licence=licence,
        source_sha256=source_sha256,
        revision=revision,
        fetched=fetched,
        published=tuple(published),
    )
