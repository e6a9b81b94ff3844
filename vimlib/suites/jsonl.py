"""A suite as one JSONL file that says itself which suite it is.

A file of tasks has no name and no version but its file name. One that a program made has both,
and they must not get lost or lie when the file is copied: its first line is then a header,
`{"suite": ..., "version": ..., "hash": ..., "licence": ...}`, and the hash is checked whenever
the file is read. Files without a header are read as ever.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from vimlib.records import Suite, Task
from vimlib.suites.content import SuiteError
from vimlib.suites.fields import Located


class ChangedSuite(SuiteError):
    """The tasks of a file are not those that its header speaks of."""


@dataclass(frozen=True, slots=True)
class Header:
    """What the first line of a file says of the suite in it."""

    place: str
    """Where it stands, for messages."""
    suite: str
    version: str | None
    hash: str | None
    """`content_hash` of the tasks that follow; None: not said."""
    licence: str | None


def split_header(records: Sequence[Located]) -> tuple[Header | None, Sequence[Located]]:
    """The header, None where there is none, and the records of the tasks. Raises WrongType."""
    if not records or "suite" not in records[0].values or "id" in records[0].values:
        return None, records
    first = records[0]
    header = Header(
        first.place,
        first.text("suite"),
        first.optional_text("version"),
        first.optional_text("hash"),
        first.optional_text("licence"),
    )
    return header, records[1:]


def check_header(header: Header, suite: Suite) -> None:
    """Raises ChangedSuite where the header's hash is another than that of the suite's tasks."""
    if header.hash not in (None, suite.hash):
        raise ChangedSuite(
            f"{header.place}: the header speaks of tasks with the hash {header.hash[:12]}, but those in the "
            f"file have {suite.hash[:12]}; make the file anew, or delete the header if it was changed on "
            "purpose"
        )


def as_jsonl(suite: Suite) -> bytes:
    """The file that `load_suite` reads as this suite: a header, then a task a line. UTF-8, LF."""
    header = {
        "suite": suite.name,
        "version": suite.version,
        "hash": suite.hash,
        "licence": suite.licence,
    }
    rows = [header, *map(_row, suite.tasks)]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _row(task: Task) -> dict[str, object]:
    """The fields of a task that say anything, in the order of the record."""
    row: dict[str, object] = {}
    for name in Task.__dataclass_fields__:
        value = getattr(task, name)
        if value is not None:
            row[name] = str(value) if name in ("reference_notation", "created") else value
    return row
