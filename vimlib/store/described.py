"""The page that describes the store: `docs/schema.md`, written from the comments of the tables and views.

The comments stand beside what they describe, in `schema.sql` and in the heads of `views/*.sql`; the page
is made from a database that has them, so that it says what a store says of itself. After a change:
`python -m vimlib.store.described docs/schema.md`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb

from vimlib.store.reading import KEYS, SCHEMA_VERSION, TABLES, VIEWS, create_views, opened, sql

_HEAD = """# The store's tables and views

One DuckDB file holds everything: tasks, runs, attempts, replays and verdicts. It is built from sources
that are kept, and can be deleted and built again. This page is made from the comments of the tables
themselves (`vimlib/store/described.py`), version {version}; the same stands in every store, under
`duckdb_tables()`, `duckdb_views()` and `duckdb_columns()`.

In every table NULL means "not known" or "does not apply", never zero. Times are UTC. Rows belong together
by their keys: an attempt is (`run_id`, `task_id`, `epoch`, `attempt`), everywhere. A lone surrogate in a
text, which UTF-8 cannot hold, is stored as U+10FFFD and four hex digits; `store.decode_text` gives it back.
"""


def described() -> str:
    """The page, in Markdown."""
    con = opened()
    try:
        con.execute(sql("schema.sql"))
        create_views(con, comments=True)
        return "\n".join([_HEAD.format(version=SCHEMA_VERSION), *_tables(con), *_views(con)]).rstrip() + "\n"
    finally:
        con.close()


def _tables(con: duckdb.DuckDBPyConnection) -> Iterator[str]:
    yield "## Tables\n"
    comments = dict(con.execute("SELECT table_name, comment FROM duckdb_tables()").fetchall())
    keys = dict(
        con.execute(
            "SELECT table_name, constraint_column_names FROM duckdb_constraints()"
            " WHERE constraint_type = 'PRIMARY KEY'"
        ).fetchall()
    )
    keys |= KEYS
    for table in TABLES:
        yield f"### {table}\n"
        yield f"{comments[table]}\n"
        if table in keys:
            yield f"Key: {', '.join(f'`{column}`' for column in keys[table])}.\n"
        yield from _columns(con, table)


def _views(con: duckdb.DuckDBPyConnection) -> Iterator[str]:
    yield "## Views\n"
    yield (
        "The questions asked most often, by name: `store.query(con, name)`, or plain SQL. Rows come in the "
        "order that is stated.\n"
    )
    for view in VIEWS:
        head, *more = _header(view)
        yield f"### {view}\n"
        yield f"{head}\n"
        if more:
            yield "\n".join(f"- {line}" for line in more) + "\n"
        yield from _columns(con, view)


def _header(view: str) -> list[str]:
    """What the head of a view says besides its columns: purpose first, then a sentence or two a line."""
    lines = []
    for line in sql("views", f"{view}.sql").splitlines():
        if not line.startswith("--"):
            break
        lines.append(line[2:].strip())
    columns = lines.index("", lines.index("") + 1) if lines.count("") > 1 else len(lines)
    said = [line for line in lines[:columns] if line]
    paragraphs: list[str] = []
    for line in said:
        if paragraphs and not line.startswith(("Grain:", "Order:")) and not paragraphs[-1].endswith("."):
            paragraphs[-1] += f" {line}"
        else:
            paragraphs.append(line)
    return paragraphs


def _columns(con: duckdb.DuckDBPyConnection, table: str) -> Iterator[str]:
    rows = con.execute(
        "SELECT column_name, data_type, is_nullable, comment FROM duckdb_columns()"
        " WHERE table_name = ? ORDER BY column_index",
        [table],
    ).fetchall()
    yield "| column | type | what it is |"
    yield "| --- | --- | --- |"
    for name, kind, _, comment in rows:
        yield f"| `{name}` | {kind} | {str(comment).replace('|', chr(92) + '|')} |"
    yield ""


def main() -> None:
    """Write the page to the file that is named."""
    Path(sys.argv[1]).write_text(described(), encoding="utf-8")


if __name__ == "__main__":
    main()
