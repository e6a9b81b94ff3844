"""Rows of a JSONL, CSV or JSON file, with the line that each stands on and its values by type.

A table that somebody wrote has mistakes in single cells. Each is said in one line with its place and
leaves the rest of its row as it is; only a row that is none is left out.
"""

from __future__ import annotations

import csv
import datetime
import hashlib
import io
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vimlib.runs.contents import RunError, storable


class NoRows(RunError):
    """A file of rows holds none."""


class Row:
    """One row; a getter gives None for what is missing, and for what is wrong, which it then says."""

    def __init__(self, rows: Rows, number: int, values: Mapping[str, Any]) -> None:
        self.line = number
        """Line in the file, from 1; place in the list for a JSON list."""
        self.values = values
        self.rows = rows

    def wrong(self, what: str) -> None:
        """Say what is wrong with this row."""
        self.rows.problems.append(f"{self.rows.path}, {self.rows.unit} {self.line}: {storable(what)}")

    def _missing(self, name: str) -> bool:
        value = self.values.get(name)
        return value is None or (self.rows.texts_only and value == "")

    def _is(self, name: str, expected: str) -> None:
        self.wrong(f"{name} is {self.values[name]!a}"[:160] + f"; expected {expected}, it is left out")

    def _float(self, name: str) -> float:
        """The value as a number; NaN where it is none."""
        value = self.values[name]
        try:
            return math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError):
            return math.nan

    def text(self, name: str) -> str | None:
        """A text; in CSV an empty cell is an empty text."""
        value = self.values.get(name)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        self._is(name, "a text")
        return None

    def count(self, name: str, *, least: int = 0) -> int | None:
        """A whole number of at least `least`."""
        if self._missing(name):
            return None
        value, number = self.values[name], self._float(name)
        if not (math.isfinite(number) and number == int(number) and number >= least):
            self._is(name, f"a whole number of at least {least}")
            return None
        return int(value) if isinstance(value, int) else int(number)

    def number(self, name: str, *, most: float = math.inf) -> float | None:
        """A number from 0 to `most`."""
        if self._missing(name):
            return None
        number = self._float(name)
        if not (math.isfinite(number) and 0 <= number <= most):
            self._is(name, "a number from 0" + ("" if most == math.inf else f" to {most:g}"))
            return None
        return number

    def share(self, name: str) -> float | None:
        """A number from 0 to 1."""
        return self.number(name, most=1.0)

    def truth(self, name: str) -> bool | None:
        """True or false, in JSON or in words."""
        if self._missing(name):
            return None
        value = self.values[name]
        word = str(value).strip().lower()
        if word in ("true", "1", "c", "yes", "1.0"):
            return True
        if word in ("false", "0", "i", "no", "0.0"):
            return False
        self._is(name, "true or false")
        return None

    def moment(self, name: str) -> datetime.datetime | None:
        """A time: ISO 8601 (without a zone: UTC), or seconds since 1970."""
        if self._missing(name):
            return None
        value = self.values[name]
        try:
            if isinstance(value, int | float) and not isinstance(value, bool):
                return datetime.datetime.fromtimestamp(value, datetime.UTC)
            found = datetime.datetime.fromisoformat(str(value))
        except (ValueError, OverflowError, OSError):
            self._is(name, "a time such as 2026-05-06T07:08:09Z")
            return None
        return found if found.tzinfo is not None else found.replace(tzinfo=datetime.UTC)


class Rows:
    """The rows of a file, read at once."""

    def __init__(self, path: Path) -> None:
        """Read a JSONL or CSV file, by its ending. Raises NoRows."""
        raw = path.read_bytes()
        self._begin(path, raw)
        if path.suffix == ".csv":
            self._read_csv(raw)
        else:
            self._read_lines(raw)
        if not self.rows:
            why = f" ({self.problems[0].removeprefix(f'{path}, ')})" if self.problems else ""
            raise NoRows(f"{path}: holds no row{why}; expected one with task_id and completion or keys")

    def _begin(self, path: Path, raw: bytes) -> None:
        self.path = path
        self.sha256 = hashlib.sha256(raw).hexdigest()
        self.unit = "line"
        self.texts_only = path.suffix == ".csv"
        self.rows: list[Row] = []
        self.problems: list[str] = []

    @classmethod
    def of_json_lines(cls, path: Path, raw: bytes) -> Rows | None:
        """The rows of a file of another ending that holds JSONL; None: it does not."""
        lines = [line for line in raw[: 1 << 20].lstrip(b"\xef\xbb\xbf").splitlines() if line.strip()][:2]
        try:
            if len(lines) < 2 or not all(isinstance(json.loads(line), dict) for line in lines):
                return None
        except (ValueError, RecursionError):
            return None
        rows = cls.__new__(cls)
        rows._begin(path, raw)
        rows._read_lines(raw)
        return rows

    @classmethod
    def of_list(cls, path: Path, raw: bytes, document: Any) -> Rows | None:
        """The rows of a JSON list of objects; None: the document is none."""
        if not isinstance(document, list) or not any(isinstance(item, dict) for item in document):
            return None
        rows = cls.__new__(cls)
        rows._begin(path, raw)
        rows.unit = "item"
        for number, item in enumerate(document, start=1):
            if isinstance(item, dict):
                rows.rows.append(Row(rows, number, item))
            else:
                rows.problems.append(f"{path}, item {number}: is no object; expected one")
        return rows

    @property
    def names(self) -> frozenset[str]:
        """All fields that occur."""
        return frozenset(str(name) for row in self.rows for name in row.values)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def _read_lines(self, raw: bytes) -> None:
        for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
            if not line.strip():
                continue
            try:
                value = json.loads(line.decode())
            except UnicodeDecodeError as error:
                self._not_a_row(number, f"byte 0x{line[error.start]:02x} is not UTF-8; expected UTF-8 text")
            except ValueError as error:
                cut = not raw.endswith(b"\n") and number == raw.count(b"\n") + 1
                self._not_a_row(number, "is cut short" if cut else f"is not JSON ({error})")
            except RecursionError:
                self._not_a_row(number, "is JSON nested too deeply")
            else:
                if isinstance(value, dict):
                    self.rows.append(Row(self, number, value))
                else:
                    self._not_a_row(number, "is no JSON object; expected one")

    def _read_csv(self, raw: bytes) -> None:
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            number = raw[: error.start].count(b"\n") + 1
            self._not_a_row(number, f"byte 0x{raw[error.start]:02x} is not UTF-8; expected UTF-8 text")
            return
        # The standard library refuses cells of more than 128 KB by default.
        limit = csv.field_size_limit(max(len(text), 1))
        try:
            reader = csv.DictReader(io.StringIO(text, newline=""))
            for values in reader:
                if None in values:
                    self._not_a_row(reader.line_num, "has more cells than the heading")
                else:
                    self.rows.append(Row(self, reader.line_num, dict(values)))
        except csv.Error as error:
            self._not_a_row(0, f"is no CSV ({error})")
        finally:
            csv.field_size_limit(limit)

    def _not_a_row(self, number: int, what: str) -> None:
        self.problems.append(f"{self.path}, line {number}: {storable(what)}; the line is left out")
