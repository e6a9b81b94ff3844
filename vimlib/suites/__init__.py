"""Where tasks come from: one module a source, one face for all.

Whatever the source, a suite arrives as a frozen `Suite` with a hash over its content.
`load_suite` takes the name of a built-in suite or a file; a file's format is recognised
from its content. Nothing is fetched from a network here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from vimlib.records import Suite
from vimlib.suites import seed
from vimlib.suites.content import SuiteError, build_suite, content_hash
from vimlib.suites.fields import MissingField, NotWritable, WrongType
from vimlib.suites.files import (
    SHAPES,
    DuplicateId,
    EmptySuiteFile,
    MisspeltField,
    NoSuchSuite,
    NoTasks,
    NotJson,
    NotUtf8,
    UnknownFormat,
    UnknownShape,
    load_file,
)
from vimlib.suites.seed import NoSeedSuite
from vimlib.suites.vimgolf import created_from_id

__all__ = [
    "BUILT_IN",
    "SHAPES",
    "DuplicateId",
    "EmptySuiteFile",
    "MissingField",
    "MisspeltField",
    "NoSeedSuite",
    "NoSuchSuite",
    "NoTasks",
    "NotJson",
    "NotUtf8",
    "NotWritable",
    "SuiteError",
    "UnknownFormat",
    "UnknownShape",
    "WrongType",
    "build_suite",
    "content_hash",
    "created_from_id",
    "load_suite",
]

BUILT_IN: Mapping[str, Callable[[Path | None], Suite]] = MappingProxyType({seed.NAME: seed.load})
"""Suites that go by a name; each takes the project's data folder, None: the checkout's."""


def load_suite(source: str | Path, *, format: str | None = None, data: Path | None = None) -> Suite:
    """The suite that `source` names: a built-in one (`seed`) or a JSON or JSONL file.

    A text that is a built-in name means the built-in suite; a file of that name is
    reached as `./seed`. `format` (a key of `SHAPES`) overrides the recognition of a
    file's format. `data` is the project's data folder where it is not beside the package.

    Raises a `SuiteError`: one line with file and line, what was found, what was expected.
    """
    if isinstance(source, str) and source in BUILT_IN:
        return BUILT_IN[source](data)
    return load_file(Path(source), format=format)
