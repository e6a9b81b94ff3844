"""Runs as folders of Parquet files, so that several machines fill one place and one store reads it all.

A folder holds everything that a run rests on: its attempts, verdicts, costs and failures, the replays
that were judged, its suite, and the names of its sources. Importing one therefore replays nothing,
prices nothing and judges nothing. What is in a folder is believed: import from those whom you would
let judge for you.

A folder is whole or not there. It is written under a hidden name and renamed; `run.json` in it, written
last, has the version of the tables and a sha256 for every file, so that a folder which a copy or an
object store brought in halves is found out. Nothing is lost to an older state of a run: of two states
the one with more logs and attempts wins, and where each has what the other lacks, neither does.

Published results belong to no run; they are loaded from their own small files.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import duckdb

from vimlib.store.atomic import _sync, replacing
from vimlib.store.errors import (
    BadRows,
    NoSuchRun,
    NotARunFolder,
    RunFolderIncomplete,
    StoreError,
    StoreOutdated,
)
from vimlib.store.reading import KEYS, SCHEMA_VERSION, _literal, one_row, opened, sql
from vimlib.store.text import decode_text, encode_text
from vimlib.store.writing import _REFERENCES, Change, Writer

NOTE: Final = "run.json"
"""The file that makes a folder a run: what it holds, as which version, with which hashes."""

_OF_RUN = "run_id = {run}"
_OF_SUITE = "suite_hash = {suite}"
_REPLAYED = (
    f"replay_key IN (SELECT replay_key FROM scores WHERE {_OF_RUN}"
    f" UNION SELECT replay_key FROM rejudgements WHERE {_OF_RUN})"
)
_PARTS: Final = {
    "suites": _OF_SUITE,
    "tasks": _OF_SUITE,
    "published_solutions": _OF_SUITE,
    "runs": _OF_RUN,
    "run_sources": _OF_RUN,
    "attempts": _OF_RUN,
    "scores": _OF_RUN,
    "attempt_costs": _OF_RUN,
    "failures": _OF_RUN,
    "rejudgements": _OF_RUN,
    "replays": _REPLAYED,
    "vims": f"vim_sha256 IN (SELECT vim_sha256 FROM replays WHERE {_REPLAYED})",
    "sources": f"(kind = 'runs' AND source_sha256 IN (SELECT source_sha256 FROM run_sources WHERE {_OF_RUN}))"
    f" OR (kind = 'suite' AND source_sha256 IN (SELECT source_sha256 FROM suites WHERE {_OF_SUITE}))",
}
"""The tables of a folder, and which of a store's rows belong to a run."""

_SUITE = ("suites", "tasks", "published_solutions")
_ASKED = ("runs", "run_sources", "attempts")
_JUDGED = ("scores", "attempt_costs", "failures", "rejudgements")
_SETTLED = {"attempt_costs": "kind <> 'unavailable'", "rejudgements": "true"}
"""Rows about the same attempts that stay as a store has them, as when prices change between loads."""
_MOVES = {
    "suites": ("origin", "fetched_utc"),
    "runs": ("source",),
    "run_sources": ("source",),
    "replays": ("wall_seconds", "cpu_seconds"),
    "sources": ("name", "loaded_utc"),
}
"""Columns that make no difference, as where a file lay and how long a replay took."""

_A_DAY = 86_400
"""Seconds after which a hidden folder was left by an export that died, whichever machine's it was."""


@dataclass(frozen=True, slots=True)
class SharedRun:
    """What became of one run that was exported, or of one folder that was imported."""

    folder: Path
    run_id: str | None = None
    """None: the folder could not be read that far."""
    name: str | None = None
    """Model or solver."""
    suite: str | None = None
    """Name of its suite."""
    attempts: int | None = None
    change: Change | None = None
    """What it did to the folder or the store; None: rejected."""
    notes: tuple[str, ...] = ()
    """A line for each thing that stayed as the store had it."""
    rejected: str | None = None
    """Why it was left out, in one line."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A folder that was found whole."""

    path: Path
    run_id: str
    """As stored (`encode_text`)."""
    suite_hash: str
    name: str
    suite: str
    attempts: int


_Rows = Callable[[str], str]
"""From a table to a query for its rows of one run, all columns by name."""


def export_runs(con: duckdb.DuckDBPyConnection, out: Path, runs: Sequence[str] = ()) -> list[SharedRun]:
    """Write runs of a store (`connect`) to folders below `out`, one a run; by default all, by id.

    `runs`: ids or names of models and solvers. A folder that holds the same already is left as it is;
    one that holds logs or attempts which this store lacks, or was written by a newer version, is left
    and its run rejected. Raises `NoSuchRun`, and `StoreError` where `out` cannot be written to.
    """
    chosen = _chosen(con, runs)
    try:
        out.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(out)
        with contextlib.closing(_scratch()) as scratch:
            return [_exported(con, scratch, out, *one) for one in chosen]
    except OSError as error:
        raise StoreError(f"{out}: cannot write the folder of a run: {error.strerror or error}") from error
    except duckdb.Error as error:
        raise StoreError(f"{out}: cannot write the folder of a run: {str(error).splitlines()[0]}") from error


def import_runs(database: Path, places: Iterable[Path]) -> list[SharedRun]:
    """Merge folders of runs, or all those in folders of them, into a store, at once or not at all.

    A bad folder never stops the rest: it becomes a rejected row. A suite and a replay that the store
    has already stay as they are, with a note where they differ, and so does a cost that is known.
    Where no folder is good the store is not touched, nor made. Raises what `replacing` raises.
    """
    good, rows = read_folders(places)
    if good:
        with replacing(database) as writer:
            rows += merge_folders(writer, good)
    return rows


def is_run_folder(path: Path) -> bool:
    """Whether a folder is that of a run, as `export_runs` writes it, whole or not."""
    return path.is_dir() and _looks_like_run(path)


def read_folders(places: Iterable[Path]) -> tuple[list[RunFolder], list[SharedRun]]:
    """The folders of runs at these places that are whole, and a rejected row for each that is not."""
    rows: list[SharedRun] = []
    good: list[RunFolder] = []
    with contextlib.closing(_scratch()) as scratch:
        for place in places:
            try:
                found = _folders(place)
            except StoreError as error:
                rows.append(SharedRun(place, rejected=str(error)))
                continue
            for path in found:
                try:
                    good.append(_checked(scratch, path))
                except StoreError as error:
                    rows.append(SharedRun(path, rejected=str(error)))
    return good, rows


def merge_folders(writer: Writer, folders: Iterable[RunFolder]) -> list[SharedRun]:
    """Merge folders that were read (`read_folders`) into the store that is being written."""
    return [_merged(writer, folder) for folder in folders]


def folder_name(run_id: str) -> str:
    """The name of a run's folder: readable, safe in every file system, and different for every run."""
    readable = re.sub(r"[^A-Za-z0-9_-]+", "-", decode_text(run_id)).strip("-")[:80]
    return f"{readable or 'run'}-{hashlib.sha256(run_id.encode()).hexdigest()[:10]}"


# --- out


def _chosen(con: duckdb.DuckDBPyConnection, runs: Sequence[str]) -> list[tuple[str, str, str, str, int]]:
    """Of each run that is meant: id, hash and name of the suite, its own name, attempts."""
    every = con.execute(
        "SELECT run_id, r.suite_hash, s.name, r.name, (SELECT count(*) FROM attempts AS a"
        " WHERE a.run_id = r.run_id) FROM runs AS r JOIN suites AS s USING (suite_hash) ORDER BY run_id"
    ).fetchall()
    for wanted in map(encode_text, runs):
        if all(wanted not in (one[0], one[3]) for one in every):
            names = sorted({one[3] for one in every})
            raise NoSuchRun(
                f"no run {wanted!r} in the store, neither id nor name: it has {', '.join(names) or 'none'}"
            )
    meant = {encode_text(one) for one in runs}
    return [one for one in every if not meant or meant & {one[0], one[3]}]


def _exported(
    con: duckdb.DuckDBPyConnection,
    scratch: duckdb.DuckDBPyConnection,
    out: Path,
    run_id: str,
    suite_hash: str,
    suite: str,
    name: str,
    attempts: int,
) -> SharedRun:
    final = out / folder_name(run_id)
    row = SharedRun(final, decode_text(run_id), decode_text(name), decode_text(suite), attempts)
    temporary = _hidden(final, "new")
    temporary.mkdir()
    try:
        stored = _stored(run_id, suite_hash)
        files = {}
        for table in _PARTS:
            file = temporary / f"{table}.parquet"
            rows = con.sql(f"{stored(table)} ORDER BY ALL")
            rows.write_parquet(str(file), compression="zstd")
            _sync(file)
            files[table] = {"sha256": _sha256(file)}
        note = {
            "vimlib_run": decode_text(run_id),
            "schema_version": SCHEMA_VERSION,
            "name": row.name,
            "suite": row.suite,
            "attempts": attempts,
            "files": files,
        }
        # A lone surrogate stays an escape, which any reader of JSON takes.
        (temporary / NOTE).write_text(json.dumps(note, indent=1) + "\n", encoding="ascii")
        _sync(temporary / NOTE)
        _sync(temporary)
        try:
            before = _checked(scratch, final)
        except StoreOutdated as error:
            if _version(final) > SCHEMA_VERSION:
                return _rejected(row, str(error))
            before = None
        except StoreError:
            before = None
        if before is not None:
            old, new = _given(final), _given(temporary)
            if all(_same(scratch, table, old(table), new(table)) for table in _PARTS):
                return _changed(row, Change.UNCHANGED)
            if _has_more(scratch, old, new, judgements=True):
                return _rejected(
                    row,
                    f"{final}: holds logs, attempts or judgements of this run that the store lacks;"
                    " import it first, then export again",
                )
        replaced = _put(temporary, final)
        return _changed(row, Change.REPLACED if replaced else Change.ADDED)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _put(temporary: Path, final: Path) -> bool:
    """Put a whole folder in its place; whether it took another's."""
    replaced = False
    for attempt in range(5):
        aside = _hidden(final, "old")
        try:
            os.rename(final, aside)
            replaced = True
        except FileNotFoundError:
            pass
        try:
            os.rename(temporary, final)
        except OSError:
            # Another machine was faster by a moment, with a folder of its own.
            if attempt == 4 or not final.exists():
                raise
        else:
            break
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    _sync(final.parent)
    return replaced


def _hidden(final: Path, what: str) -> Path:
    return final.with_name(f".{final.name}.{what}-{os.getpid()}-{secrets.token_hex(4)}")


def _remove_leftovers(out: Path) -> None:
    """Remove what exports left that died here long ago."""
    for found in out.iterdir():
        if re.fullmatch(r"\..+\.(new|old)-[0-9]+-[0-9a-f]{8}", found.name) and found.is_dir():
            with contextlib.suppress(OSError):
                if time.time() - found.stat().st_mtime > _A_DAY:
                    shutil.rmtree(found, ignore_errors=True)


# --- in


def _folders(place: Path) -> list[Path]:
    """The folders of runs at a place: itself, or those directly in it, hidden ones left out."""
    if not place.is_dir():
        raise NotARunFolder(f"{place}: no such folder; expected one that `vimlib export` wrote")
    if _looks_like_run(place):
        return [place]
    inside = sorted(one for one in place.iterdir() if not one.name.startswith(".") and one.is_dir())
    found = [one for one in inside if _looks_like_run(one)]
    if not found:
        raise NotARunFolder(
            f"{place}: no run in it; expected the folder of a run ({NOTE} and Parquet files) or a folder of"
            " such folders, as `vimlib export` writes them"
        )
    return found


def _looks_like_run(path: Path) -> bool:
    return (path / NOTE).is_file() or any((path / f"{table}.parquet").is_file() for table in _PARTS)


def _read_note(path: Path) -> dict[str, Any]:
    try:
        text = (path / NOTE).read_text(encoding="utf-8")
    except OSError as error:
        if _looks_like_run(path):
            raise RunFolderIncomplete(
                f"{path}: half a run, {NOTE} is missing; wait until it is copied whole, or export it again"
            ) from error
        raise NotARunFolder(f"{path}: no run; expected {NOTE} and Parquet files") from error
    except UnicodeDecodeError as error:
        raise NotARunFolder(f"{path}: {NOTE} is not of vimlib; expected UTF-8") from error
    try:
        note = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RunFolderIncomplete(
            f"{path}: {NOTE} cannot be read ({error}); copy the folder again, or export it again"
        ) from error
    if not isinstance(note, dict) or not isinstance(note.get("vimlib_run"), str):
        raise NotARunFolder(f"{path}: {NOTE} is not of vimlib; expected what `vimlib export` writes")
    return note


def _version(path: Path) -> int:
    version = _read_note(path).get("schema_version")
    return version if isinstance(version, int) else 0


def _checked(scratch: duckdb.DuckDBPyConnection, path: Path) -> RunFolder:
    """A folder that is whole, of this version, and contradicts itself in nothing.

    Raises `NotARunFolder`, `RunFolderIncomplete`, `StoreOutdated`, `BadRows`.
    """
    note = _read_note(path)
    if note.get("schema_version") != SCHEMA_VERSION:
        raise StoreOutdated(
            f"{path}: written with version {note.get('schema_version')} of the tables, this vimlib uses"
            f" {SCHEMA_VERSION}; export it again with the same vimlib"
        )
    files = note.get("files")
    for table in _PARTS:
        file = path / f"{table}.parquet"
        promised = files.get(table) if isinstance(files, dict) else None
        try:
            whole = isinstance(promised, dict) and promised.get("sha256") == _sha256(file)
        except OSError as error:
            raise RunFolderIncomplete(
                f"{path}: half a run, {file.name} cannot be read ({error.strerror});"
                " wait until it is copied whole, or export it again"
            ) from error
        if not whole:
            raise RunFolderIncomplete(
                f"{path}: half a run, {file.name} is not the file that {NOTE} promises;"
                " wait until it is copied whole, or export it again"
            )
    given = _given(path)
    scratch.begin()
    try:
        for table in _PARTS:
            scratch.execute(f"INSERT INTO {table} BY NAME {given(table)}")
        return _consistent(scratch, path, encode_text(note["vimlib_run"]))
    except duckdb.Error as error:
        raise BadRows(f"{path}: {str(error).splitlines()[0]}") from error
    finally:
        # An error may have ended the transaction already.
        with contextlib.suppress(duckdb.Error):
            scratch.rollback()


def _consistent(con: duckdb.DuckDBPyConnection, path: Path, run_id: str) -> RunFolder:
    """The one run of a scratch database. Raises `BadRows`."""
    heads = con.execute(
        "SELECT suite_hash, r.name, s.name, (SELECT count(*) FROM attempts)"
        " FROM runs AS r JOIN suites AS s USING (suite_hash) WHERE run_id = ?",
        [run_id],
    ).fetchall()
    if len(heads) != 1:
        raise BadRows(f"{path}: does not hold the run {run_id!r} that {NOTE} names, and its suite")
    suite_hash, name, suite, attempts = heads[0]
    for table, key in KEYS.items():
        (twice,) = one_row(con, f"SELECT count(*) - count(DISTINCT ({', '.join(key)})) FROM {table}")
        if twice:
            raise BadRows(f"{path}: an attempt is there twice in {table} ({twice} too many)")
    for meaning, missing in _REFERENCES:
        number, example = one_row(con, f"SELECT count(*), any_value(example) FROM ({missing})")
        if number:
            raise BadRows(f"{path}: {meaning}: {number} of them, such as {example!r}")
    own = _extents(run_id, suite_hash)
    for table in _PARTS:
        (foreign,) = one_row(con, f"SELECT count(*) FROM {table} WHERE ({own[table]}) IS NOT TRUE")
        if foreign:
            raise BadRows(f"{path}: {foreign} rows of {table} belong to another run than {run_id!r}")
    return RunFolder(path, run_id, suite_hash, decode_text(name), decode_text(suite), attempts)


def _merged(writer: Writer, folder: RunFolder) -> SharedRun:
    """Merge one good folder. Only a run that is not rejected leaves anything in the store."""
    con = writer.connection
    row = SharedRun(folder.path, decode_text(folder.run_id), folder.name, folder.suite, folder.attempts)
    given, stored = _given(folder.path), _stored(folder.run_id, folder.suite_hash)
    notes = []
    if _any(con, stored("suites")):
        if not all(_same(con, table, stored(table), given(table)) for table in _SUITE):
            notes.append(
                f"suite {folder.suite} is stored with other particulars, which stay;"
                " load its file to change them"
            )
        strange = f"{given('attempts')} ANTI JOIN ({stored('tasks')}) USING (task_id)"
        if _any(con, strange):
            return _rejected(row, f"{folder.path}: answers tasks that the stored suite does not have")
        suites: tuple[str, ...] = ()
    else:
        suites = _SUITE
    known = _any(con, stored("runs"))
    asked_alike = known and all(_same(con, table, stored(table), given(table)) for table in _ASKED)

    def coming(table: str) -> str:
        if table not in _SETTLED or not asked_alike:
            return given(table)
        settled = f"SELECT * FROM ({stored(table)}) WHERE {_SETTLED[table]}"
        rest = f"FROM ({given(table)}) ANTI JOIN ({settled}) USING ({', '.join(KEYS[table])})"
        return f"{settled} UNION ALL {rest}"

    if asked_alike and all(_same(con, table, stored(table), coming(table)) for table in _JUDGED):
        return _changed(row, Change.UNCHANGED, notes)
    if known and _has_more(con, stored, given):
        if _has_more(con, given, stored):
            return _rejected(
                row,
                f"{folder.path}: the store has logs or attempts of this run that it lacks, and the other way"
                " round; load the logs themselves together",
            )
        notes.append(f"the store has more of run {row.run_id} than {folder.path}, and was left as it is")
        return _changed(row, Change.UNCHANGED, notes)

    for table in suites:
        con.execute(f"INSERT INTO {table} BY NAME {given(table)}")
    for table, key in (("vims", "vim_sha256"), ("replays", "replay_key")):
        con.execute(f"INSERT INTO {table} BY NAME FROM ({given(table)}) ANTI JOIN {table} USING ({key})")
    con.execute(
        f"INSERT INTO sources BY NAME FROM ({given('sources')}) ANTI JOIN sources USING (source_sha256, kind)"
    )
    compared = ", ".join(name for name in _columns()["replays"] if name not in _MOVES["replays"])
    (other,) = one_row(
        con,
        f"SELECT count(*) FROM (SELECT {compared} FROM ({given('replays')})"
        f" EXCEPT SELECT {compared} FROM replays)",
    )
    if other:
        notes.append(
            f"{other} replays of {folder.path} came out otherwise than those that are stored, which stay;"
            " loading the run itself judges it anew"
        )
    for table in (*_ASKED, *_JUDGED):
        # Made before anything is deleted: what stays of the costs is read from the store.
        con.execute(f"CREATE OR REPLACE TEMP TABLE coming AS {coming(table)}")
        con.execute(f"DELETE FROM {table} WHERE run_id = ?", [folder.run_id])
        con.execute(f"INSERT INTO {table} BY NAME FROM coming")
    con.execute("DROP TABLE coming")
    writer.note_run(folder.run_id, suites_changed=bool(suites))
    return _changed(row, Change.REPLACED if known else Change.ADDED, notes)


# --- what both need


def _scratch() -> duckdb.DuckDBPyConnection:
    """An empty store in memory, to read folders into and to compare them."""
    con = opened()
    con.execute(sql("schema.sql"))
    con.execute("CREATE TEMP VIEW touched AS SELECT run_id FROM runs")
    return con


@functools.cache
def _columns() -> dict[str, dict[str, str]]:
    """Table -> column -> type."""
    with contextlib.closing(_scratch()) as con:
        found: dict[str, dict[str, str]] = {table: {} for table in _PARTS}
        for table, name, kind in con.execute(
            "SELECT table_name, column_name, data_type FROM duckdb_columns()"
            " ORDER BY table_name, column_index"
        ).fetchall():
            if table in found:
                found[table][name] = kind
        return found


def _extents(run_id: str, suite_hash: str) -> dict[str, str]:
    known = {"run": _literal(run_id), "suite": _literal(suite_hash)}
    return {table: condition.format(**known) for table, condition in _PARTS.items()}


def _stored(run_id: str, suite_hash: str) -> _Rows:
    """The rows of a run in the store of the connection."""
    own = _extents(run_id, suite_hash)
    return lambda table: f"SELECT {', '.join(_columns()[table])} FROM {table} WHERE {own[table]}"


def _given(folder: Path) -> _Rows:
    """The rows of a run in a folder."""

    def rows(table: str) -> str:
        columns = ", ".join(f"{name}::{kind} AS {name}" for name, kind in _columns()[table].items())
        # DuckDB takes a path for a pattern, and `name=value` in it for a column.
        path = re.sub(r"([*?\[])", r"[\1]", str(folder / f"{table}.parquet"))
        return f"SELECT {columns} FROM read_parquet({_literal(path)}, hive_partitioning = false)"

    return rows


def _any(con: duckdb.DuckDBPyConnection, rows: str) -> bool:
    return one_row(con, f"SELECT count(*) FROM ({rows})") != (0,)


def _same(con: duckdb.DuckDBPyConnection, table: str, left: str, right: str) -> bool:
    columns = ", ".join(name for name in _columns()[table] if name not in _MOVES.get(table, ()))
    one, other = f"SELECT {columns} FROM ({left})", f"SELECT {columns} FROM ({right})"
    return not any(_any(con, f"{a} EXCEPT ALL {b}") for a, b in ((one, other), (other, one)))


def _has_more(con: duckdb.DuckDBPyConnection, left: _Rows, right: _Rows, *, judgements: bool = False) -> bool:
    """Whether one state of a run has a log or an attempt, or a further judgement, that the other lacks.

    A log is known by the harness's id where it has one: the file grows while the run goes on.
    """
    keys = {
        "run_sources": "coalesce(harness_id, source_sha256)",
        "attempts": "task_id, epoch, attempt",
        "rejudgements": "judgement_id, task_id, epoch, attempt",
    }
    return any(
        _any(con, f"SELECT {key} FROM ({left(table)}) EXCEPT SELECT {key} FROM ({right(table)})")
        for table, key in keys.items()
        if judgements or table != "rejudgements"
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _changed(row: SharedRun, change: Change, notes: Iterable[str] = ()) -> SharedRun:
    return SharedRun(
        row.folder, row.run_id, row.name, row.suite, row.attempts, change=change, notes=tuple(notes)
    )


def _rejected(row: SharedRun, why: str) -> SharedRun:
    return SharedRun(row.folder, row.run_id, row.name, row.suite, row.attempts, rejected=why)
