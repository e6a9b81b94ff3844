"""vimbench's tasks as its JSON list gives them.

A record is `id, tier, title, instruction, start, target, reference`, the reference in
vimbench's own notation.
"""

from __future__ import annotations

from vimlib.records import Protocol, Task
from vimlib.suites.fields import Located

NAME = "vimbench"
PROTOCOLS = (Protocol.BENCH,)
FIELDS = frozenset({"id", "tier", "title", "instruction", "start", "target", "reference"})


def recognises(fields: frozenset[str]) -> bool:
    """Whether records whose fields, taken together, are these have this shape."""
    return fields == FIELDS


def task(record: Located) -> Task:
    """One task; raises a `SuiteError` that names the field at fault."""
    return Task(
        id=record.identifier(),
        start=record.text("start"),
        target=record.text("target"),
        instruction=record.text("instruction"),
        title=record.text("title"),
        tier=record.optional_count("tier"),
        reference=record.text("reference"),
        reference_notation=Protocol.BENCH,
    )
