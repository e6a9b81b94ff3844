"""`vimlib export` and `vimlib import`: runs out of a store as Parquet folders, and into another."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from vimlib.cli.options import REJECTED, local_sources, run_source
from vimlib.cli.settings import Listed
from vimlib.cli.terminal import say, table

if TYPE_CHECKING:
    from vimlib.store import Connection, SharedRun


def _export(options: argparse.Namespace) -> int:
    from vimlib import store

    with closing(store.connect(options.database)) as con:
        if isinstance(options.out, Path):
            rows = store.export_runs(con, options.out, options.run_ids)
        else:
            rows = _export_to(options.out, con, options.run_ids)
    return _print(rows)


def _export_to(url: str, con: Connection, runs: list[str]) -> list[SharedRun]:
    """Export to a URL: beside what is there already, so that it is told apart as in a folder."""
    from vimlib import store
    from vimlib.runs import remote

    with tempfile.TemporaryDirectory(prefix="vimlib-export-") as temporary:
        out = Path(temporary)
        names = [store.folder_name(id) for id in store.query(con, "run_conditions")["run_id"]]
        remote.fetch_folders(url, names, out)
        rows = store.export_runs(con, out, runs)
        written = (store.Change.ADDED, store.Change.REPLACED)
        remote.send_folders([row.folder for row in rows if row.change in written], url)
    return rows


def _import(options: argparse.Namespace) -> int:
    from vimlib import store

    unread: list[str] = []
    rows = store.import_runs(options.database, local_sources(options.folders, unread))
    return _print(rows, unread)


def _print(rows: Iterable[SharedRun], unread: Iterable[str] = ()) -> int:
    """What became of each run; the reasons of rejections follow whole."""
    rows = list(rows)
    table(
        ("folder", "run", "suite", "attempts", "outcome"),
        ((row.folder.name, row.name, row.suite, row.attempts, row.change or "rejected") for row in rows),
    )
    for line in (note for row in rows for note in row.notes):
        say(line)
    rejected = [*unread, *(row.rejected for row in rows if row.rejected is not None)]
    for line in rejected:
        say(line)
    return REJECTED if rejected else 0


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this module's commands."""
    export = commands.add_parser("export", help="write runs of the store as Parquet, one folder a run")
    export.add_argument(
        "out", type=run_source, metavar="OUT", help="folder for the folders of the runs, or a URL (s3://...)"
    )
    export.add_argument(
        "--run",
        dest="run_ids",
        action=Listed,
        default=[],
        metavar="RUN",
        help="only this run: id, model or solver; repeatable",
    )
    into = commands.add_parser("import", help="merge exported runs into the store; nothing is replayed")
    into.add_argument(
        "folders",
        type=run_source,
        nargs="+",
        metavar="FOLDER",
        help="the folder of a run, or one with such folders, or a URL of either",
    )
    for command in (export, into):
        command.add_argument(
            "--database", type=Path, default=Path("data/vimlib.duckdb"), help="the store (%(default)s)"
        )
    export.set_defaults(run=_export)
    into.set_defaults(run=_import)
