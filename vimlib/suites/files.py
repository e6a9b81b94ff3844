"""Suites from files: read, taken apart into records, their shape recognised, checked.

A researcher should not have to say what a file is. The records themselves tell: our own
schema, vimbench's list, or the records that inspect_evals loads. Everything that can be
wrong with a file ends in one line that names file and line.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vimlib.records import Protocol, Suite, Task
from vimlib.suites import vimbench, vimgolf
from vimlib.suites.content import SuiteError, build_suite
from vimlib.suites.fields import Located, WrongType, kind_of


class NoSuchSuite(SuiteError):
    """There is no file of this name, and no built-in suite either."""


class EmptySuiteFile(SuiteError):
    """The file holds nothing."""


class NoTasks(SuiteError):
    """The file is well formed and holds no task."""


class NotUtf8(SuiteError):
    """The file is not UTF-8 text."""


class NotJson(SuiteError):
    """The file, or one line of it, is not JSON."""


class UnknownShape(SuiteError):
    """The records are of no shape that we know."""


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
        start=record.text("start"),
        target=record.text("target"),
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
    """The suite in a JSON or JSONL file, its tasks in the file's order.

    `format` names one of `SHAPES` instead of recognising it; `name` and `origin` replace
    the suite's name (`vimgolf` or `vimbench` for records of those shapes, else the file's
    stem) and its origin (the file's name).

    Raises a `SuiteError` in one line with file and line.
    """
    if format is not None and format not in SHAPES:
        raise UnknownFormat(f"unknown suite format '{format}'; known: {', '.join(SHAPES)}")
    source = str(path)
    raw = _read(path)
    records, listed = _records(source, _decode(source, raw))
    if not records:
        raise NoTasks(f"{source}: holds no task; expected a JSON list or JSONL with one task a line")
    shape = SHAPES[format] if format is not None else _recognise(records, listed)
    return build_suite(
        name or shape.name or path.stem,
        _tasks(records, shape),
        shape.protocols,
        origin=path.name if origin is None else origin,
        licence=licence,
        source_sha256=hashlib.sha256(raw).hexdigest(),
    )


def _read(path: Path) -> bytes:
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise NoSuchSuite(f"{path}: no such file; expected a suite file or 'seed'") from None
    except IsADirectoryError:
        raise NoSuchSuite(f"{path}: is a folder; expected a suite file (JSON or JSONL)") from None
    except OSError as error:
        raise NoSuchSuite(f"{path}: cannot be read ({error.strerror}); expected a suite file") from None
    return raw


def _decode(source: str, raw: bytes) -> str:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise NotUtf8(
            f"{source}, line {line}: byte 0x{raw[error.start]:02x} is not UTF-8; expected a UTF-8 file"
        ) from None
    if not text.strip():
        raise EmptySuiteFile(f"{source}: is empty; expected a JSON list or JSONL with one task a line")
    return text


def _records(source: str, text: str) -> tuple[list[Located], bool]:
    """The records and whether they stood in a JSON list."""
    if text.lstrip()[0] == "[":
        return _listed_records(source, text), True
    return _line_records(source, text), False


def _line_records(source: str, text: str) -> list[Located]:
    records = []
    # Not splitlines(): U+2028 and its like may stand inside a JSON string.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                value = json.loads(line)
            except json.JSONDecodeError as error:
                raise NotJson(
                    f"{source}, line {number}: not JSON ({error.msg}, column {error.colno}); expected "
                    "one task a line as a JSON object, or a JSON list of tasks"
                ) from None
            records.append(_located(source, number, value))
    return records


def _listed_records(source: str, text: str) -> list[Located]:
    # json.loads would lose where each record begins.
    decoder = json.JSONDecoder()
    records: list[Located] = []
    position = _skip(text, text.index("[") + 1)
    line, counted = 1, 0
    try:
        if text[position : position + 1] == "]":
            position += 1
        else:
            while True:
                line += text.count("\n", counted, position)
                counted = position
                value, position = decoder.raw_decode(text, position)
                records.append(_located(source, line, value))
                position = _skip(text, position)
                mark = text[position : position + 1]
                if mark == "]":
                    position += 1
                    break
                if mark != ",":
                    raise json.JSONDecodeError("Expecting ',' or ']'", text, position)
                position = _skip(text, position + 1)
        if text[position:].strip():
            raise json.JSONDecodeError("Extra data after the list", text, _skip(text, position))
    except json.JSONDecodeError as error:
        raise NotJson(
            f"{source}, line {error.lineno}: not JSON ({error.msg}, column {error.colno}); expected "
            "a JSON list of tasks"
        ) from None
    return records


def _skip(text: str, position: int) -> int:
    while text[position : position + 1] in {" ", "\t", "\r", "\n"}:
        position += 1
    return position


def _located(source: str, line: int, value: Any) -> Located:
    if not isinstance(value, dict):
        raise UnknownShape(f"{source}, line {line}: found {kind_of(value)}; expected a task as a JSON object")
    return Located(source, line, value)


def _recognise(records: list[Located], listed: bool) -> Shape:
    fields = frozenset(name for record in records for name in record.values)
    for shape in SHAPES.values():
        if shape.recognises(fields) and (listed or not shape.listed_only):
            return shape
    known = "; ".join(f"{name} ({shape.fields})" for name, shape in SHAPES.items())
    found = ", ".join(sorted(fields)[:8]) or "no fields"
    raise UnknownShape(f"{records[0].place}: tasks of unknown shape (fields: {found}); expected {known}")


def _tasks(records: list[Located], shape: Shape) -> list[Task]:
    tasks: list[Task] = []
    first_lines: dict[str, int] = {}
    for record in records:
        task = shape.task(record)
        if task.id in first_lines:
            raise DuplicateId(
                f"{record.place}: id '{task.id}' is already on line {first_lines[task.id]}; "
                "expected every id once in a suite"
            )
        first_lines[task.id] = record.line
        tasks.append(task)
    return tasks
