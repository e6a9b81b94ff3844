"""The way out: connections that change nothing, and the views by name."""

from __future__ import annotations

import contextlib
import datetime
import functools
import hashlib
import importlib.resources
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa

from vimlib.records import (
    Attempt,
    AttemptStatus,
    Outcome,
    Protocol,
    Replay,
    Run,
    RunKind,
    RunSource,
    Suite,
    Task,
    TokenConvention,
    TokenUsage,
    Track,
    TurnState,
    VimBuild,
    VimErrorMessage,
)
from vimlib.store.errors import NotAStore, OtherDuckDB, StoreBusy, StoreMissing, StoreOutdated, UnknownView
from vimlib.store.text import decode_text, encode_text

_NOT_COLUMNS_OF_RUNS = {"id", "attempts", "created", "sources"}
SCHEMA_VERSION = 3
"""Version of `schema.sql`. Raise it with every change there; older files are refused and rebuilt."""

TABLES = (
    "schema_info",
    "sources",
    "suites",
    "tasks",
    "published_solutions",
    "runs",
    "run_sources",
    "attempts",
    "published_results",
    "vims",
    "replays",
    "scores",
    "attempt_costs",
    "failures",
    "rejudgements",
)
"""The tables of `schema.sql`, in its order."""

KEYS = dict.fromkeys(
    ("attempts", "scores", "attempt_costs", "failures"), ("run_id", "task_id", "epoch", "attempt")
) | {"rejudgements": ("judgement_id", "run_id", "task_id", "epoch", "attempt")}
"""Keys of the tables whose key is checked when they are written, and not by an index."""

VIEWS = (
    "errata_counted",
    "attempts_joined",
    "attempts_scored",
    "answers_replayed",
    "answers_traced",
    "solutions_published",
    "attempts_priced",
    "failures_classified",
    "samples_counted",
    "run_overview",
    "run_by_tier",
    "run_by_outcome",
    "disagreements",
    "sources_loaded",
    "suites_loaded",
    "versions",
    "run_conditions",
    "lineages",
    "token_violations",
    "results_published",
    "rejudged",
)
"""The views in `views/`, each after those that it reads."""

CONFIG: dict[str, Any] = {
    # Nothing is fetched from the network behind the user's back; what the store needs is built in.
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    # The oldest DuckDB that pyproject.toml allows: machines with different ones can share a store.
    "storage_compatibility_version": "v1.4.0",
}


def opened(path: str = ":memory:") -> duckdb.DuckDBPyConnection:
    """A connection as the store wants it."""
    con = duckdb.connect(path, config=CONFIG)
    # It would stand in the middle of a page, or of a script's output. In a notebook without ipywidgets
    # DuckDB can show none, and refuses the setting.
    with contextlib.suppress(duckdb.InvalidInputException):
        con.execute("SET enable_progress_bar = false")
    return con


@functools.cache
def sql(*place: str) -> str:
    """A SQL file of the package."""
    return importlib.resources.files("vimlib.store").joinpath(*place).read_text(encoding="utf-8")


@functools.cache
def view_columns(name: str) -> dict[str, str]:
    """Columns of a view and what each means, in order, from the header of its file.

    Raises `UnknownView` where no view has this name.
    """
    if name not in VIEWS:
        raise UnknownView(f"no view {name!r} in the store: there are {', '.join(VIEWS)}")
    text = sql("views", f"{name}.sql")
    if same := re.search(r"^-- Columns: those of ([a-z_]+)\.$", text, flags=re.MULTILINE):
        return view_columns(same[1])
    header = re.findall(r"^-- ([a-z_0-9]+): (.+)$", text, flags=re.MULTILINE)
    return dict(header)


def views() -> pd.DataFrame:
    """The views that `query` knows, and what each answers.

    Grain: one row a view, those first that others read. Columns: `view`, its name; `holds`, what it
    says, in a sentence; `grain`, what one row is; `columns`, how many it has (`view_columns(name)` says what
    they mean).
    """
    rows = []
    for name in VIEWS:
        text = sql("views", f"{name}.sql")
        found = re.search(r"^-- Grain: ((?:.+\n)(?:-- (?!Order:).+\n)*)", text, flags=re.MULTILINE)
        grain = " ".join(re.sub(r"^-- ", "", found[1], flags=re.MULTILINE).split()) if found else ""
        purpose = text.splitlines()[0].removeprefix("-- ")
        rows.append({"view": name, "holds": purpose, "grain": grain, "columns": len(view_columns(name))})
    return pd.DataFrame(rows)


def views_sha256() -> str:
    """Which version of the views this is: they change more often than the tables."""
    return hashlib.sha256("\0".join(sql("views", f"{name}.sql") for name in VIEWS).encode()).hexdigest()


def _literal(text: str) -> str:
    """A string literal, for the statements that take no parameter (ATTACH, COMMENT, CREATE VIEW)."""
    return "'" + text.replace("'", "''") + "'"


def create_views(con: duckdb.DuckDBPyConnection, *, comments: bool) -> None:
    """Make the views, with what their headers say as comments if wanted."""
    for name in VIEWS:
        text = sql("views", f"{name}.sql")
        con.execute(f"CREATE OR REPLACE VIEW {name} AS {text}")
        if comments:
            purpose = text.splitlines()[0].removeprefix("-- ")
            con.execute(f"COMMENT ON VIEW {name} IS {_literal(purpose)}")
            for column, meaning in view_columns(name).items():
                con.execute(f"COMMENT ON COLUMN {name}.{column} IS {_literal(meaning)}")


def one_row(con: duckdb.DuckDBPyConnection, statement: str, values: Sequence[Any] = ()) -> tuple[Any, ...]:
    """The one row of a query. Fetched to the end: DuckDB takes no other statement before that."""
    (row,) = con.execute(statement, values).fetchall()
    return tuple(row)


def attach(path: Path) -> duckdb.DuckDBPyConnection:
    """A connection of its own with the file attached, read-only, as `store`.

    Attached rather than opened: DuckDB hands out an open database again by its path, so that in
    a process that holds an older connection a newly opened one would show the store before the
    last load.
    """
    con = opened()
    try:
        con.execute(f"ATTACH {_literal(str(path))} AS store (TYPE duckdb, READ_ONLY)")
        known = one_row(
            con,
            "SELECT count(*) FROM duckdb_columns() WHERE database_name = 'store'"
            " AND table_name = 'schema_info' AND column_name = 'schema_version'",
        )
        if known == (0,):
            raise NotAStore(
                f"{path}: a DuckDB database, but not written by vimlib; give another path for the store"
            )
        (version,) = one_row(con, "SELECT max(schema_version) FROM store.schema_info")
    except duckdb.Error as error:
        con.close()
        reason = str(error).splitlines()[0]
        if re.search(r"\block\b", reason.lower()):
            raise StoreBusy(
                f"{path}: another program has it open for writing; close it there and try again"
            ) from error
        if re.search(r"version number \d+, but we can only read", reason):
            raise OtherDuckDB(_of_other_duckdb(path, reason)) from error
        raise NotAStore(
            f"{path}: not a DuckDB database that this vimlib can read ({reason});"
            " if it is an old store, delete it and load again, else give another path"
        ) from error
    except BaseException:
        con.close()
        raise
    if version != SCHEMA_VERSION:
        con.close()
        raise StoreOutdated(
            f"{path}: written with version {version} of the tables, this vimlib uses {SCHEMA_VERSION};"
            " delete the file and load again, everything in it comes from the sources"
        )
    return con


def _of_other_duckdb(path: Path, reason: str) -> str:
    """What to do about a file whose storage is of another version; it is left as it is."""
    with path.open("rb") as file:
        # The writer's release stands behind three counts of 8 bytes and its flags, where it is told at all.
        writer = file.read(84)[52:].split(b"\0")[0].decode("ascii", "replace")
    numbers = "; ".join(re.findall(r"version number \d+|versions? (?:between )?\d+(?: and \d+)?", reason))
    known = re.fullmatch(r"v([\w.+-]+)", writer)
    by, install = (
        (f"DuckDB {known[1]}", f"duckdb=={known[1]}") if known else ("another DuckDB", "its release")
    )
    return (
        f"{path}: written by {by} in a form that DuckDB {duckdb.__version__} of this environment cannot read"
        f" ({numbers}); install {install} to read it, or, if it is a store of vimlib, delete it and load"
        " again, everything in it comes from the sources"
    )


def connect(path: str | Path, *, with_errata: bool = False) -> duckdb.DuckDBPyConnection:
    """A read-only connection to the store as it is now.

    The tables and views go by their plain names, also in `con.cursor()`. Later loads replace
    the file and do not disturb this connection: it keeps showing the store it was opened on.
    The connection is to a database in memory over the store, so queries may make tables and
    views of their own; they vanish with it. `with_errata`: tasks that cannot be judged fairly count
    too.

    Raises `StoreMissing`, `NotAStore`, `OtherDuckDB`, `StoreOutdated`, or `StoreBusy` where another program
    holds the file open for writing.
    """
    path = Path(os.path.realpath(path))
    if not path.exists():
        raise StoreMissing(f"{path}: there is no store yet; make it with `vimlib load` or `make report`")
    con = attach(path)
    for table in TABLES:
        con.execute(f"CREATE VIEW {table} AS FROM store.main.{table}")
    create_views(con, comments=False)
    if with_errata:
        con.execute("CREATE OR REPLACE VIEW errata_counted AS SELECT true AS counted")
    return con


_INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}


def query(con: duckdb.DuckDBPyConnection, name: str, /, **parameters: Any) -> pd.DataFrame:
    """The rows of a view, in the order its file states.

    Each parameter names a column and keeps the rows that hold the value (`None`: NULL), or any
    of the values where it is a list, tuple or set. Grain, columns and units: the header of
    `views/<name>.sql`, or `view_columns(name)`.

    NULL is `pd.NA` or NaN, never 0: integers come as `Int64`, truth values as `boolean`, both
    whether or not a NULL is among them. Text comes as stored (`decode_text` for the original).

    Raises `UnknownView` for a name or column that does not exist.
    """
    columns = view_columns(name)
    conditions: list[str] = []
    values: dict[str, Any] = {}
    for column, value in parameters.items():
        if column not in columns:
            raise UnknownView(f"view {name} has no column {column!r}: it has {', '.join(columns)}")
        if isinstance(value, list | tuple | set | frozenset):
            names = []
            for number, item in enumerate(value):
                values[f"{column}_{number}"] = encode_text(item) if isinstance(item, str) else item
                names.append(f"{column} IS NOT DISTINCT FROM ${column}_{number}")
            conditions.append(f"({' OR '.join(names) or 'false'})")
        else:
            values[column] = encode_text(value) if isinstance(value, str) else value
            conditions.append(f"{column} IS NOT DISTINCT FROM ${column}")
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    result = con.execute(f"SELECT * FROM {name}{where}", values)
    kinds = {column[0]: str(column[1]) for column in result.description or ()}
    frame = result.df()
    return frame.astype(
        {column: "Int64" for column, kind in kinds.items() if kind in _INTEGERS}
        | {column: "boolean" for column, kind in kinds.items() if kind == "BOOLEAN"}
    )


@contextlib.contextmanager
def registered(con: duckdb.DuckDBPyConnection, rows: pa.Table) -> Iterator[str]:
    """The name by which queries on the connection see these rows, until the block ends."""
    con.register("incoming_rows", rows)
    try:
        yield "incoming_rows"
    finally:
        con.unregister("incoming_rows")


def read_run(con: duckdb.DuckDBPyConnection, run_id: str) -> Run | None:
    """A stored run with its attempts, as the records that were stored; None: there is none of this id."""
    names = [name for name in Run.__dataclass_fields__ if name not in _NOT_COLUMNS_OF_RUNS]
    heads = con.execute(
        f"SELECT {', '.join(names)}, created_utc FROM runs WHERE run_id = ?", [encode_text(run_id)]
    ).fetchall()
    if not heads:
        return None
    *values, created = heads[0]
    fields = {name: _decoded(value) for name, value in zip(names, values, strict=True)}
    fields |= {"kind": RunKind(fields["kind"]), "protocol": Protocol(fields["protocol"])}
    fields["track"] = Track(fields["track"])
    fields["turn_state"] = None if fields["turn_state"] is None else TurnState(fields["turn_state"])
    fields |= {name: json.loads(fields[name]) for name in ("settings", "packages")}
    usage = tuple(TokenUsage.__dataclass_fields__)
    plain = [name for name in Attempt.__dataclass_fields__ if name != "usage"]
    rows = con.execute(
        f"SELECT {', '.join(f'a.{name}' for name in (*plain, *usage))} FROM attempts AS a"
        " JOIN runs AS r USING (run_id)"
        " JOIN tasks AS t ON t.suite_hash = r.suite_hash AND t.task_id = a.task_id"
        " WHERE run_id = ? ORDER BY place, epoch, attempt",
        [encode_text(run_id)],
    ).fetchall()
    attempts = []
    for row in rows:
        known = {name: _decoded(value) for name, value in zip((*plain, *usage), row, strict=True)}
        known["status"] = AttemptStatus(known["status"])
        convention = known["token_convention"]
        known["token_convention"] = None if convention is None else TokenConvention(convention)
        tokens = TokenUsage(**{name: known.pop(name) for name in usage})
        attempts.append(Attempt(**known, usage=tokens))
    sources = con.execute(
        "SELECT source_sha256, source, created_utc, status, harness_id, harness_version, samples,"
        " header_tokens, damage FROM run_sources WHERE run_id = ? ORDER BY place",
        [encode_text(run_id)],
    ).fetchall()
    lineage = (
        RunSource(sha256, *(_decoded(one) for one in (name, _zoned(begun), *rest)))
        for sha256, name, begun, *rest in sources
    )
    return Run(id=run_id, created=_zoned(created), attempts=tuple(attempts), sources=tuple(lineage), **fields)


def read_suite(con: duckdb.DuckDBPyConnection, suite_hash: str) -> Suite | None:
    """A stored suite with its tasks, without published solutions; None: there is none of this hash."""
    heads = con.execute(
        "SELECT name, version, protocols, origin, licence, source_sha256, revision FROM suites"
        " WHERE suite_hash = ?",
        [suite_hash],
    ).fetchall()
    if not heads:
        return None
    name, version, protocols, origin, licence, source_sha256, revision = map(_decoded, heads[0])
    fields = [field for field in Task.__dataclass_fields__ if field != "id"]
    rows = con.execute(
        f"SELECT task_id, {', '.join(fields)} FROM tasks WHERE suite_hash = ? ORDER BY place", [suite_hash]
    ).fetchall()
    tasks = []
    for task_id, *values in rows:
        known = {field: _decoded(value) for field, value in zip(fields, values, strict=True)}
        known["reference_notation"] = Protocol(known["reference_notation"])
        tasks.append(Task(id=_decoded(task_id), **known))
    return Suite(
        name=name,
        version=version,
        hash=suite_hash,
        tasks=tuple(tasks),
        protocols=tuple(Protocol(protocol) for protocol in protocols),
        origin=origin,
        licence=licence,
        source_sha256=source_sha256,
        revision=revision,
    )


def _zoned(moment: datetime.datetime | None) -> datetime.datetime | None:
    return None if moment is None else moment.replace(tzinfo=datetime.UTC)


def _decoded(value: Any) -> Any:
    """As the records hold it: texts as they were, lists as tuples."""
    if isinstance(value, list):
        return tuple(_decoded(item) for item in value)
    return decode_text(value) if isinstance(value, str) else value


def read_replays(con: duckdb.DuckDBPyConnection, keys: Iterable[str]) -> dict[str, Replay]:
    """The stored replays of these keys; keys that the store does not know are left out."""
    wanted = pa.table({"replay_key": pa.array(sorted(set(keys)), pa.string())})
    with registered(con, wanted) as incoming:
        rows = con.execute(
            "SELECT replay_key, outcome, final, wall_seconds, cpu_seconds, confinement, version, vim_sha256,"
            " mode, cursor_line, cursor_column, buffer, first_error_number, first_error, last_error_number,"
            f" last_error, blocked, detail FROM replays JOIN {incoming} USING (replay_key)"
            " JOIN vims USING (vim_sha256)"
        ).fetchall()
    return {row[0]: _replay(row) for row in rows}


def _replay(row: Sequence[Any]) -> Replay:
    key, outcome, final, wall, cpu, confinement, version, sha256, mode, line, column, buffer = row[:12]
    first_number, first, last_number, last, blocked, detail = row[12:]

    def text(value: str | None) -> str | None:
        return None if value is None else decode_text(value)

    def message(number: int | None, value: str | None) -> VimErrorMessage | None:
        return None if value is None else VimErrorMessage(number, decode_text(value))

    return Replay(
        key=key,
        outcome=Outcome(outcome),
        final=None if final is None else bytes(final),
        wall_seconds=wall,
        cpu_seconds=cpu,
        confinement=decode_text(confinement),
        vim=VimBuild(decode_text(version), sha256),
        mode=text(mode),
        cursor=None if line is None or column is None else (line, column),
        buffer=text(buffer),
        first_error=message(first_number, first),
        last_error=message(last_number, last),
        blocked=tuple(decode_text(item) for item in blocked),
        detail=decode_text(detail),
    )
