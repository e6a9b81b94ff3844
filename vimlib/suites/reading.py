"""Bytes into records, whatever a suite is written in: JSON, JSONL, YAML, Parquet, Python, a folder.

What is fetched and what lies on the disk must be read by the same rules, so this knows bytes and
a name for messages, not where they come from. Of what a record means it knows nothing: that is
told by its fields (`files`). Everything that can be wrong ends in one line that names file and line.
"""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from vimlib.suites import vimbench
from vimlib.suites.content import SuiteError
from vimlib.suites.fields import Located, check_size, kind_of


class NoSuchSuite(SuiteError):
    """There is no file of this name, and no suite that goes by it either."""


class EmptySuiteFile(SuiteError):
    """The file holds nothing."""


class NoTasks(SuiteError):
    """The file is well formed and holds no task."""


class NotUtf8(SuiteError):
    """The file, or a buffer in it, is not UTF-8 text."""


class NotJson(SuiteError):
    """The file, or one line of it, is not JSON."""


class NotYaml(SuiteError):
    """The file is not YAML."""


class NotParquet(SuiteError):
    """The file is not Parquet."""


class UnknownShape(SuiteError):
    """The records are of no shape that we know."""


class MissingFile(SuiteError):
    """A task's folder lacks one of its two files."""


@dataclass(frozen=True, slots=True)
class Records:
    """What a source holds."""

    records: list[Located]
    listed: bool
    """Whether they stood in one list rather than one a line."""
    sha256: str
    """sha256 (hex) of the file; for a folder, of the list of its tasks' files and their hashes."""


def read_path(path: Path) -> Records:
    """The records in a file, or in a folder of `ID/in` and `ID/out`. Raises a `SuiteError`."""
    if path.is_dir():
        return _read_folder(path)
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise NoSuchSuite(f"{path}: no such file; expected a suite file or a name such as 'seed'") from None
    except OSError as error:
        raise NoSuchSuite(f"{path}: cannot be read ({error.strerror}); expected a suite file") from None
    return read_bytes(str(path), raw)


def read_bytes(source: str, raw: bytes) -> Records:
    """The records in a file's bytes; `source` is its name, whose ending tells what it is written in.

    `.yaml` and `.yml` are YAML, `.parquet` is Parquet, `.py` vimbench's literal; anything else is a JSON
    list, one JSON object, or JSONL. Raises a `SuiteError`.
    """
    digest = hashlib.sha256(raw).hexdigest()
    ending = PurePath(source).suffix.lower()
    if ending == ".parquet":
        return Records(_parquet_records(source, raw), False, digest)
    text = _decode(source, raw)
    if ending in {".yaml", ".yml"}:
        return Records(_yaml_records(source, text), False, digest)
    if ending == ".py":
        return Records(vimbench.literal_records(source, text), True, digest)
    try:
        if text.lstrip()[0] == "[":
            return Records(_listed_records(source, text), True, digest)
        return Records(_single_record(source, text) or _line_records(source, text), False, digest)
    except RecursionError:
        raise NotJson(f"{source}: is JSON nested too deeply; expected tasks as JSON objects") from None


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


# --- JSON -------------------------------------------------------------------------------------------


def _single_record(source: str, text: str) -> list[Located] | None:
    """The record that is the whole file, however many lines it takes; None where there is more."""
    begin = len(text) - len(text.lstrip())
    try:
        value, end = json.JSONDecoder().raw_decode(text, begin)
    except json.JSONDecodeError:
        return None
    if text[end:].strip():
        return None
    return [_located(source, text.count("\n", 0, begin) + 1, value)]


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


# --- other ways to write it -------------------------------------------------------------------------


def _yaml_records(source: str, text: str) -> list[Located]:
    import yaml

    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{source}, line {mark.line + 1}" if mark is not None else source
        why = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise NotYaml(f"{place}: not YAML ({why}); expected a task, or a list of tasks") from None
    except (ValueError, RecursionError) as error:
        raise NotYaml(f"{source}: not YAML ({error}); expected a task, or a list of tasks") from None
    if isinstance(value, list) and node is not None:
        lines = [item.start_mark.line + 1 for item in node.value]
        return [_located(source, line, item) for line, item in zip(lines, value, strict=True)]
    return [_located(source, 1 if node is None else node.start_mark.line + 1, value)]


def _parquet_records(source: str, raw: bytes) -> list[Located]:
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(io.BytesIO(raw))
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        why = str(error).splitlines()[0].rstrip(". ")
        raise NotParquet(
            f"{source}: not Parquet ({why}); expected a Parquet file with one task a row"
        ) from None
    records = []
    for number in range(table.num_rows):
        try:
            (row,) = table.slice(number, 1).to_pylist()
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            raise NotUtf8(
                f"{source}, row {number + 1}: byte 0x{byte:02x} is not UTF-8; expected UTF-8 texts"
            ) from None
        records.append(Located(source, number + 1, row, "row"))
    return records


def _read_folder(path: Path) -> Records:
    """Records `id, in, out`, one a subfolder, sorted by id; files beside the subfolders are left alone."""
    records, listing = [], []
    for folder in sorted(path.iterdir()):
        if not folder.is_dir() or folder.name.startswith("."):
            continue
        values: dict[str, Any] = {"id": folder.name}
        for name in ("in", "out"):
            values[name], digest = _read_buffer(folder / name)
            listing.append(f"{digest}  {folder.name}/{name}\n")
        records.append(Located(str(folder), 0, values))
    if not records:
        raise NoSuchSuite(
            f"{path}: is a folder without tasks; expected folders ID with the files 'in' and 'out'"
        )
    return Records(
        records, True, hashlib.sha256("".join(listing).encode("utf-8", "surrogateescape")).hexdigest()
    )


def _read_buffer(file: Path) -> tuple[str, str]:
    """A buffer, every byte of it, and its sha256. Its size is seen before it is read."""
    try:
        check_size(str(file), "the file", file.stat().st_size)
        raw = file.read_bytes()
    except FileNotFoundError:
        raise MissingFile(f"{file}: no such file; expected a task's folder to hold 'in' and 'out'") from None
    except OSError as error:
        raise MissingFile(f"{file}: cannot be read ({error.strerror}); expected a buffer") from None
    try:
        return raw.decode("utf-8"), hashlib.sha256(raw).hexdigest()
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise NotUtf8(
            f"{file}, line {line}: byte 0x{raw[error.start]:02x} is not UTF-8; expected a UTF-8 buffer"
        ) from None
