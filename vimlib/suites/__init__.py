"""Where tasks come from: one module a source, one face for all.

Whatever the source, a suite arrives as a frozen `Suite` with a hash over its content.
`load_suite` takes the name of a built-in or fetched suite, or a file or folder, whose format
is recognised from its content. It never fetches: that is done by `fetch_vimgolf` and its like,
which keep what they fetched in a cache (`cache`) that `load_suite` reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from vimlib.records import Suite
from vimlib.suites import seed
from vimlib.suites.cache import CacheDamaged, CacheNotWritable, NotFetched
from vimlib.suites.cache import names as fetched_names
from vimlib.suites.content import SuiteError, build_suite, content_hash
from vimlib.suites.download import (
    BadUrl,
    FetchError,
    HtmlInstead,
    NotThere,
    Refused,
    TooLarge,
    Truncated,
    Unreachable,
)
from vimlib.suites.enrich import NoStatistics, read_solutions, with_references, with_statistics
from vimlib.suites.fetch import (
    Additions,
    FetchResult,
    WrongCount,
    fetch_challenge,
    fetch_vimbench,
    fetch_vimgolf,
    is_fetched_name,
    load_fetched,
)
from vimlib.suites.fields import BUFFER_LIMIT, BufferTooLarge, MissingField, NotWritable, WrongType
from vimlib.suites.files import SHAPES, DuplicateId, MisspeltField, UnknownFormat, holds_tasks, load_file
from vimlib.suites.hub import NoDataFile, OtherContent, OtherRevision
from vimlib.suites.reading import (
    EmptySuiteFile,
    MissingFile,
    NoSuchSuite,
    NoTasks,
    NotJson,
    NotParquet,
    NotUtf8,
    NotYaml,
    UnknownShape,
)
from vimlib.suites.seed import NoSeedSuite
from vimlib.suites.vimbench import UnknownStructure
from vimlib.suites.vimgolf import created_from_id

__all__ = [
    "BUFFER_LIMIT",
    "BUILT_IN",
    "SHAPES",
    "Additions",
    "BadUrl",
    "BufferTooLarge",
    "CacheDamaged",
    "CacheNotWritable",
    "DuplicateId",
    "EmptySuiteFile",
    "FetchError",
    "FetchResult",
    "HtmlInstead",
    "MissingField",
    "MissingFile",
    "MisspeltField",
    "NoDataFile",
    "NoSeedSuite",
    "NoStatistics",
    "NoSuchSuite",
    "NoTasks",
    "NotFetched",
    "NotJson",
    "NotParquet",
    "NotThere",
    "NotUtf8",
    "NotWritable",
    "NotYaml",
    "OtherContent",
    "OtherRevision",
    "Refused",
    "SuiteError",
    "TooLarge",
    "Truncated",
    "UnknownFormat",
    "UnknownShape",
    "UnknownStructure",
    "Unreachable",
    "WrongCount",
    "WrongType",
    "build_suite",
    "content_hash",
    "created_from_id",
    "fetch_challenge",
    "fetch_vimbench",
    "fetch_vimgolf",
    "fetched_names",
    "holds_tasks",
    "is_fetched_name",
    "load_fetched",
    "load_suite",
    "read_solutions",
    "with_references",
    "with_statistics",
]

BUILT_IN: Mapping[str, Callable[[Path | None], Suite]] = MappingProxyType({seed.NAME: seed.load})
"""Suites that go by a name; each takes the project's data folder, None: the checkout's."""


def load_suite(source: str | Path, *, format: str | None = None, data: Path | None = None) -> Suite:
    """The suite that `source` names: a built-in one (`seed`), a fetched one (`vimgolf`, `vimbench`,
    `vimgolf-ID` for one challenge), or a file or folder.

    A text that is such a name means that suite; a file of that name is reached as `./seed`. `format`
    (a key of `SHAPES`) overrides the recognition of a file's format; so does a text `FORMAT:FILE`,
    where only a text can be passed on. `data` is the project's data folder where it is not beside
    the package.

    Raises a `SuiteError`: one line with file and line, what was found, what was expected.
    """
    if isinstance(source, str):
        if source in BUILT_IN:
            return BUILT_IN[source](data)
        if is_fetched_name(source, data):
            return load_fetched(source, data)
        named, colon, file = source.partition(":")
        if colon and format is None and named in SHAPES:
            source, format = file, named
    return load_file(Path(source), format=format)
