"""Suites from files: the shape of their records recognised, the records turned into tasks, checked.

A researcher should not have to say what a file is. The records themselves tell: our own
schema, vimbench's list, the records that inspect_evals loads, a challenge as the site or
vimgolf-gym writes it. How records are read from bytes is `reading`'s business.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from vimlib.records import Protocol, Suite, Task
from vimlib.suites import vimbench, vimgolf
from vimlib.suites.content import SuiteError, build_suite
from vimlib.suites.fields import Located, WrongType
from vimlib.suites.jsonl import check_header, split_header
from vimlib.suites.reading import NoTasks, UnknownShape, read_path


class UnknownFormat(SuiteError):
    """A format was asked for by a name that we do not know."""


class MisspeltField(SuiteError):
    """A field of our own schema is almost, but not quite, spelt right."""


class DuplicateId(SuiteError):
    """Two tasks of one file have the same id."""


OWN_FIELDS = frozenset(Task.__dataclass_fields__)
"""The fields of our schema: those of `records.Task`, by the same names."""


def _own_recognises(fields: frozenset[str]) -> bool:
    return "start" in fields


def _own_task(record: Located) -> Task:
    for name in record.values.keys() - OWN_FIELDS:
        # A misspelt optional field would otherwise vanish unseen, and the references with it.
        meant = difflib.get_close_matches(name, OWN_FIELDS - record.values.keys(), n=1, cutoff=0.85)
        if meant:
            raise MisspeltField(f"{record.place}: unknown field '{name}'; did you mean '{meant[0]}'?")
    notation = record.optional_text("reference_notation")
    if notation is not None and notation not in {protocol.value for protocol in Protocol}:
        known = " or ".join(f"'{protocol.value}'" for protocol in Protocol)
        raise WrongType(f"{record.place}: field 'reference_notation' is '{notation}'; expected {known}")
    return Task(
        id=record.identifier(),
        start=record.buffer("start"),
        target=record.buffer("target"),
        instruction=record.optional_text("instruction") or "",
        title=record.optional_text("title") or "",
        tier=record.optional_count("tier"),
        category=record.optional_text("category"),
        reference=record.optional_text("reference"),
        reference_notation=Protocol.BENCH if notation is None else Protocol(notation),
        created=record.optional_date("created"),
        entries=record.optional_count("entries"),
        golfers=record.optional_count("golfers"),
        best_score=record.optional_count("best_score"),
        twin_of=record.optional_text("twin_of"),
    )


@dataclass(frozen=True, slots=True)
class Shape:
    """How one kind of record is recognised and turned into a task."""

    fields: str
    """Its fields, for messages."""
    recognises: Callable[[frozenset[str]], bool]
    """Given all fields that occur in the file."""
    listed_only: bool
    """Recognised only in a JSON list, because as JSONL the same fields are our own schema."""
    task: Callable[[Located], Task]
    protocols: tuple[Protocol, ...]
    name: str | None
    """The suite's name; None: the file's stem."""


SHAPES: Mapping[str, Shape] = MappingProxyType(
    {
        "vimgolf": Shape(
            fields="id, input, target, metadata.detail",
            recognises=vimgolf.recognises,
            listed_only=False,
            task=vimgolf.task,
            protocols=vimgolf.PROTOCOLS,
            name=vimgolf.NAME,
        ),
        "vimbench": Shape(
            fields="id, tier, title, instruction, start, target, reference",
            recognises=vimbench.recognises,
            listed_only=True,
            task=vimbench.task,
            protocols=vimbench.PROTOCOLS,
            name=vimbench.NAME,
        ),
        "vimlib": Shape(
            fields="id, start, target and any of instruction, title, tier, category, reference, "
            "reference_notation, created, entries, golfers, best_score",
            recognises=_own_recognises,
            listed_only=False,
            task=_own_task,
            protocols=(Protocol.BENCH, Protocol.GOLF),
            name=None,
        ),
        "challenge": Shape(
            fields="in.data, out.data, or a folder of ID/in, ID/out",
            recognises=vimgolf.recognises_challenge,
            listed_only=False,
            task=vimgolf.challenge,
            protocols=vimgolf.PROTOCOLS,
            name=None,
        ),
        "vimgolf-gym": Shape(
            fields="input, output and any of name, description, solution",
            recognises=vimgolf.recognises_custom,
            listed_only=False,
            task=vimgolf.custom,
            protocols=vimgolf.PROTOCOLS,
            name=None,
        ),
    }
)
"""By the name that `format` takes, in the order in which they are tried."""


def load_file(
    path: Path,
    *,
    format: str | None = None,
    name: str | None = None,
    origin: str | None = None,
    licence: str | None = None,
) -> Suite:
    """The suite in a file, or in a folder of `ID/in` and `ID/out`; its tasks in the source's order.

    `format` names one of `SHAPES` instead of recognising it; `name` and `origin` replace
    the suite's name (that of a header in the file, `vimgolf` or `vimbench` for records of those
    shapes, else the file's stem) and its origin (the file's name).

    Raises a `SuiteError` in one line with file and line.
    """
    if format is not None and format not in SHAPES:
        raise UnknownFormat(f"unknown suite format '{format}'; known: {', '.join(SHAPES)}")
    read = read_path(path)
    header, records = split_header(read.records)
    if not records:
        raise NoTasks(f"{path}: holds no task; expected a JSON list or JSONL with one task a line")
    shape = SHAPES[format] if format is not None else _recognise(records, read.listed)
    suite = build_suite(
        name or (header.suite if header else shape.name) or path.stem,
        tasks_of(records, shape),
        shape.protocols,
        origin=path.name if origin is None else origin,
        version=header.version if header else None,
        licence=header.licence if header and licence is None else licence,
        source_sha256=read.sha256,
    )
    if header is not None:
        check_header(header, suite)
    return suite


_TASK_FIELDS = ({"start", "target"}, {"input", "target"}, {"input", "output"}, {"in", "out"})
_ANSWER_FIELDS = {"completion", "keys", "results", "eval", "input_content"}


def holds_tasks(path: Path) -> bool:
    """Whether a file among results is a suite, by its first record's fields. Reads its beginning."""
    if path.suffix not in (".json", ".jsonl"):
        return False
    try:
        with path.open("rb") as file:
            head = file.read(1 << 20).decode("utf-8-sig", "ignore").lstrip()
    except OSError:
        return False
    decoder = json.JSONDecoder()
    place = 0
    # The first record, or a header of our own and the first behind it.
    for _ in range(2):
        place = head.find("{", place)
        if place < 0 or head[:place].strip(" \t\r\n[,"):
            return False
        try:
            record, end = decoder.raw_decode(head, place)
        except (ValueError, RecursionError):
            return False
        if any(fields <= set(record) for fields in _TASK_FIELDS) and not _ANSWER_FIELDS & set(record):
            return True
        if "suite" not in record:
            return False
        head, place = head[end:], 0
    return False


def _recognise(records: Sequence[Located], listed: bool) -> Shape:
    fields = frozenset(str(name) for record in records for name in record.values)
    for shape in SHAPES.values():
        if shape.recognises(fields) and (listed or not shape.listed_only):
            return shape
    known = "; ".join(f"{name} ({shape.fields})" for name, shape in SHAPES.items())
    found = ", ".join(sorted(fields)[:8]) or "no fields"
    raise UnknownShape(f"{records[0].place}: tasks of unknown shape (fields: {found}); expected {known}")


def tasks_of(records: Sequence[Located], shape: Shape) -> list[Task]:
    """The tasks in records of a shape, in their order. Raises a `SuiteError`, `DuplicateId` among them."""
    tasks: list[Task] = []
    firsts: dict[str, Located] = {}
    for record in records:
        task = shape.task(record)
        if (first := firsts.setdefault(task.id, record)) is not record:
            raise DuplicateId(
                f"{record.place}: id '{task.id}' is already {_place(first, record)}; "
                "expected every id once in a suite"
            )
        tasks.append(task)
    return tasks


def _place(first: Located, second: Located) -> str:
    return f"on {first.unit} {first.line}" if first.source == second.source else f"in {first.place}"
