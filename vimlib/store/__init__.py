"""The store: one DuckDB file with every task, answer, replay and verdict.

The file is built from sources that are kept, so it can be deleted and rebuilt at any time;
what it must never be is half-written. A load therefore writes into a copy beside the file
and puts that in its place in one step (`replacing`): a reader sees the old store or the new
one, and a load that is killed leaves the old one. Rows are replaced by key only where
something in them differs, so loading the same source twice leaves the file as it is.

The tables are in `schema.sql`, the questions most often asked of them in `views/*.sql`. The
store judges nothing and computes nothing beyond sums: scores come from `score`, intervals
from `analysis`.
"""

from __future__ import annotations

from duckdb import DuckDBPyConnection as Connection

from vimlib.store.atomic import replacing
from vimlib.store.errors import (
    BadRows,
    NoSuchRun,
    NotARunFolder,
    NotAStore,
    OtherDuckDB,
    RunFolderIncomplete,
    StoreBusy,
    StoreError,
    StoreMissing,
    StoreOutdated,
    UnknownView,
)
from vimlib.store.parquet import (
    NOTE,
    RunFolder,
    SharedRun,
    export_runs,
    folder_name,
    import_runs,
    is_run_folder,
    merge_folders,
    read_folders,
)
from vimlib.store.reading import (
    SCHEMA_VERSION,
    TABLES,
    VIEWS,
    connect,
    query,
    read_replays,
    read_run,
    read_suite,
    view_columns,
    views,
)
from vimlib.store.text import decode_text, encode_text
from vimlib.store.writing import Change, Writer

__all__ = [
    "BadRows",
    "Change",
    "Connection",
    "NOTE",
    "NoSuchRun",
    "NotARunFolder",
    "NotAStore",
    "OtherDuckDB",
    "RunFolder",
    "RunFolderIncomplete",
    "SCHEMA_VERSION",
    "SharedRun",
    "StoreBusy",
    "StoreError",
    "StoreMissing",
    "StoreOutdated",
    "TABLES",
    "UnknownView",
    "VIEWS",
    "Writer",
    "connect",
    "decode_text",
    "encode_text",
    "export_runs",
    "folder_name",
    "import_runs",
    "is_run_folder",
    "merge_folders",
    "query",
    "read_folders",
    "read_replays",
    "read_run",
    "read_suite",
    "replacing",
    "view_columns",
    "views",
]
