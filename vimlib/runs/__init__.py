"""Where answers come from: one module a kind of source, one face for all.

A file's kind is told by its content, its suite by the tasks that it answers, so that a
folder of results can be thrown at `find_sources` and each file at `read_runs` without
saying what is what. A run that stands in several files is joined by `join_lineages`. A file
that is no source of answers is an error in one line, never a run without answers. Nothing
is replayed or judged here.
"""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from vimlib.records import Protocol, Suite
from vimlib.runs import inspect_logs, plain, solutions, vimbench_results, vimgolf_gym
from vimlib.runs.contents import RunError, SourceContents
from vimlib.runs.inspect_logs import CutShort, DamagedLog, NoSamples, NotALog, UnknownTask
from vimlib.runs.lineage import join_lineages, sources_of
from vimlib.runs.lines import NoRows, Rows
from vimlib.runs.matching import SeenTask, UnknownTasks, match_suite
from vimlib.runs.solutions import WrongProtocol

__all__ = [
    "CutShort",
    "DamagedLog",
    "NoRows",
    "NoSamples",
    "NoSources",
    "NoSuchSource",
    "NotALog",
    "NotUtf8",
    "RunError",
    "SeenTask",
    "SourceContents",
    "UnknownTask",
    "UnknownTasks",
    "WrongProtocol",
    "find_sources",
    "join_lineages",
    "match_suite",
    "read_runs",
    "sources_of",
]

SUFFIXES = frozenset({".eval", ".json", ".jsonl", ".csv"})
"""Endings of the files that are looked for in folders."""

EXPECTED = (
    "an Inspect log, results of vimbench or vimgolf-gym, solutions {task_id: keys}, or rows with task_id and "
    "completion or keys"
)

COMPANIONS = frozenset({"logs.json", "listing.json", "eval-set.json"})
"""Files that Inspect puts beside its logs and that hold no answers."""


class NoSources(RunError):
    """A folder holds no file that could be a source of answers."""


class NoSuchSource(RunError):
    """There is no such file or folder, or it cannot be read."""


class NotUtf8(RunError):
    """A source that should be JSON is not UTF-8 text."""


def read_runs(
    path: Path,
    suites: Sequence[Suite],
    *,
    protocol: Protocol | None = None,
    fill_with_reference: bool = False,
) -> SourceContents:
    """What one file holds: an Inspect log (`.eval` or `.json`), results of vimbench or vimgolf-gym,
    solutions (`{task_id: keys}`), or rows with answers (JSONL, CSV).

    What the file is, is told by its content. Each run belongs to the first of `suites` that holds its
    tasks, or to a suite in the returned `suites`, which the file carried itself. `protocol` and
    `fill_with_reference` are for solutions (`solutions.read`), `protocol` for plain rows too; other
    kinds have their own.

    Raises a `RunError` in one line: file, what was found, what was expected. A single
    unusable answer does not raise; it is in the returned `problems`.
    """
    head = _head(path)
    if inspect_logs.is_zip(head):
        return inspect_logs.read(path, suites, "eval")
    if path.suffix == ".eval" and head.lstrip()[:1] != b"{":
        found = "is empty" if not head else "is no zip file"
        raise NotALog(f"{path}: {found}; expected an Inspect log, as `inspect eval` writes it")
    if inspect_logs.begins_as_json_log(head):
        return inspect_logs.read(path, suites, "json")
    if path.suffix in (".csv", ".jsonl"):
        return _of_rows(path, Rows(path), suites, protocol)
    raw = path.read_bytes()
    if (rows := Rows.of_json_lines(path, raw)) is not None:
        return _of_rows(path, rows, suites, protocol)
    document = _json(path, raw)
    if inspect_logs.is_json_log(document):
        return inspect_logs.read(path, suites, "json")
    if vimbench_results.is_results(document):
        return vimbench_results.read(path, raw, document, suites)
    if solutions.is_solutions(document):
        return solutions.read(
            path, raw, document, suites, protocol=protocol, fill_with_reference=fill_with_reference
        )
    if (listed := Rows.of_list(path, raw, document)) is not None:
        return _of_rows(path, listed, suites, protocol)
    raise NotALog(f"{path}: is JSON of another kind ({_outline(document)}); expected {EXPECTED}")


def _of_rows(path: Path, rows: Rows, suites: Sequence[Suite], protocol: Protocol | None) -> SourceContents:
    if vimgolf_gym.recognises(rows.names):
        return vimgolf_gym.read(rows, suites)
    if plain.recognises(rows.names):
        return plain.read(rows, suites, protocol=protocol)
    fields = ", ".join(sorted(rows.names)[:8]) or "none"
    raise NotALog(f"{path}: rows of another kind (fields: {fields}); expected {EXPECTED}")


def find_sources(paths: Iterable[Path]) -> list[Path]:
    """Files as given, those that a pattern (`logs/*.eval`) fits, and from each folder all `.eval`,
    `.json`, `.jsonl` and `.csv` files below it, sorted.

    Hidden files and folders, and Inspect's own companions of its logs, are passed over.
    Every file comes once, in the order of `paths`.

    Raises `NoSuchSource`, or `NoSources` for a folder without any such file.
    """
    sources: dict[Path, Path] = {}
    for path in paths:
        if path.is_dir():
            found = _below(path)
            if not found:
                raise NoSources(
                    f"{path}: no .eval, .json, .jsonl or .csv file here or below; expected {EXPECTED}"
                )
        elif path.exists():
            found = [path]
        elif fitting := _fitting(path):
            found = find_sources(fitting)
        else:
            raise NoSuchSource(f"{path}: no such file or folder; expected {EXPECTED}")
        for one in found:
            sources.setdefault(one.resolve(), one)
    return list(sources.values())


def _fitting(pattern: Path) -> list[Path]:
    if not glob.has_magic(str(pattern)):
        return []
    return [Path(found) for found in sorted(glob.glob(str(pattern), recursive=True))]


def _below(folder: Path) -> list[Path]:
    def unreadable(error: OSError) -> None:
        raise NoSuchSource(f"{error.filename}: cannot be read ({error.strerror})") from None

    found = []
    for parent, folders, files in os.walk(folder, onerror=unreadable):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [
            Path(parent, name)
            for name in files
            if not name.startswith(".") and name not in COMPANIONS and Path(name).suffix in SUFFIXES
        ]
    return sorted(found)


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(1 << 16)
    except FileNotFoundError:
        raise NoSuchSource(f"{path}: no such file; expected {EXPECTED}") from None
    except OSError as error:
        raise NoSuchSource(f"{path}: cannot be read ({error.strerror}); expected {EXPECTED}") from None


def _json(path: Path, raw: bytes) -> Any:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise NotUtf8(
            f"{path}, line {line}: byte 0x{raw[error.start]:02x} is not UTF-8; expected UTF-8 text"
        ) from None
    if not text.strip():
        raise NotALog(f"{path}: is empty; expected {EXPECTED}")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        # A text that is JSON as far as it goes was cut, in the middle of a value or between two.
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            raise CutShort(
                f"{path}, line {error.lineno}: the JSON ends too early; expected a whole file, copy it anew"
            ) from None
        raise NotALog(
            f"{path}, line {error.lineno}: not JSON ({error.msg}, column {error.colno}); expected an Inspect "
            "log or solutions"
        ) from None
    except RecursionError:
        raise NotALog(f"{path}: JSON nested too deeply; expected {EXPECTED}") from None


def _outline(document: object) -> str:
    if isinstance(document, dict):
        names = ", ".join(sorted(map(str, document))[:6])
        return f"an object with {names}" if names else "an empty object"
    return f"a list of {len(document)}" if isinstance(document, list) else "a single value"
