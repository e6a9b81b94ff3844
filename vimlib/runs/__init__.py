"""Where answers come from: one module a kind of source, one face for all.

A file's kind is told by its content, its suite by the tasks that it answers, so that a
folder of results can be thrown at `find_sources` and each file at `read_runs` without
saying what is what. A file that is no source of answers is an error in one line, never a
run without answers. Nothing is replayed or judged here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from vimlib.records import Protocol, Suite
from vimlib.runs import inspect_logs, solutions
from vimlib.runs.contents import RunError, SourceContents
from vimlib.runs.inspect_logs import CutShort, DamagedLog, NoSamples, NotALog, UnknownTask
from vimlib.runs.matching import UnknownTasks
from vimlib.runs.solutions import WrongProtocol

__all__ = [
    "CutShort",
    "DamagedLog",
    "NoSamples",
    "NoSources",
    "NoSuchSource",
    "NotALog",
    "NotUtf8",
    "RunError",
    "SourceContents",
    "UnknownTask",
    "UnknownTasks",
    "WrongProtocol",
    "find_sources",
    "read_runs",
]

SUFFIXES = frozenset({".eval", ".json"})
"""Endings of the files that are looked for in folders."""

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
    """The runs in one file: an Inspect log (`.eval` or `.json`) or solutions (`{task_id: keys}`).

    What the file is, is told by its content. Each run belongs to the first of `suites`
    that holds its tasks, or to a suite in the returned `suites`, which the log carried
    itself. `protocol` and `fill_with_reference` are for solutions (`solutions.read`); an
    Inspect task has its own protocol.

    Raises a `RunError` in one line: file, what was found, what was expected. A single
    unusable answer does not raise; it is in the returned `problems`.
    """
    head = _head(path)
    if inspect_logs.is_zip(head):
        return inspect_logs.read(path, suites, "eval")
    if path.suffix == ".eval" and head[:1] != b"{":
        found = "is empty" if not head else "is no zip file"
        raise NotALog(f"{path}: {found}; expected an Inspect log, as `inspect eval` writes it")
    raw = path.read_bytes()
    document = _json(path, raw)
    if inspect_logs.is_json_log(document):
        return inspect_logs.read(path, suites, "json")
    if solutions.is_solutions(document):
        return solutions.read(
            path, raw, document, suites, protocol=protocol, fill_with_reference=fill_with_reference
        )
    raise NotALog(
        f"{path}: is JSON of another kind ({_outline(document)}); expected an Inspect log or solutions "
        "{task_id: keys}"
    )


def find_sources(paths: Iterable[Path]) -> list[Path]:
    """Files as given, and from each folder all `.eval` and `.json` files below it, sorted.

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
                    f"{path}: no .eval or .json file here or below; expected Inspect logs or solutions"
                )
        elif path.exists():
            found = [path]
        else:
            raise NoSuchSource(f"{path}: no such file or folder; expected Inspect logs or solutions")
        for one in found:
            sources.setdefault(one.resolve(), one)
    return list(sources.values())


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
            return file.read(64)
    except FileNotFoundError:
        raise NoSuchSource(f"{path}: no such file; expected an Inspect log or solutions") from None
    except OSError as error:
        raise NoSuchSource(
            f"{path}: cannot be read ({error.strerror}); expected an Inspect log or solutions"
        ) from None


def _json(path: Path, raw: bytes) -> Any:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise NotUtf8(
            f"{path}, line {line}: byte 0x{raw[error.start]:02x} is not UTF-8; expected an Inspect log or "
            "solutions as UTF-8 JSON"
        ) from None
    if not text.strip():
        raise NotALog(f"{path}: is empty; expected an Inspect log or solutions")
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
        raise NotALog(f"{path}: JSON nested too deeply; expected an Inspect log or solutions") from None


def _outline(document: object) -> str:
    if isinstance(document, dict):
        names = ", ".join(sorted(map(str, document))[:6])
        return f"an object with {names}" if names else "an empty object"
    return f"a list of {len(document)}" if isinstance(document, list) else "a single value"
