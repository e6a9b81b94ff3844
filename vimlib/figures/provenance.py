"""What everything was made from: suites, files, versions."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from vimlib.figures.canvas import (
    plain,
)
from vimlib.figures.tables import (
    UNAVAILABLE,
    Column,
    Table,
    blank,
    count,
    missing,
    place,
    text,
)


def suite_table(suites: pd.DataFrame) -> Table:
    """The suites in the store, from the view `suites_loaded`; one row a version of a suite."""
    return Table(
        "suites",
        "Suites of tasks",
        [
            Column("name", "Suite", "name"),
            Column("version", "Version"),
            Column("suite_hash", "Content hash", "code", show=lambda v: text(v)[:12], unit="sha256"),
            Column("tasks", "Tasks", "number", count),
            Column(
                "with_reference",
                "With reference",
                "number",
                count,
                help="tasks with keys known to solve them",
            ),
            Column("licence", "Licence"),
            Column("origin", "From", show=place),
            Column("revision", "Revision", "code", show=lambda v: "" if missing(v) else text(v)[:12]),
            Column(
                "fetched_utc",
                "Fetched",
                show=lambda v: "" if missing(v) else f"{v:%Y-%m-%d %H:%M}",
                unit="UTC",
            ),
        ],
        suites,
        empty="No suite is in the store.",
    )


def source_table(sources: pd.DataFrame) -> Table:
    """The files that everything was built from; one row a file and use."""
    suites = sources["kind"] == "suite"
    frame = sources.assign(
        tasks=sources["tasks"].where(suites),
        runs=sources["runs"].where(~suites),
        attempts=sources["attempts"].where(~suites),
    )
    return Table(
        "sources",
        "Files",
        [
            Column("source", "File", "name", show=place),
            Column("source_sha256", "Content hash", "code", show=lambda v: text(v)[:12], unit="sha256"),
            Column("tasks", "Tasks", "number", blank),
            Column("runs", "Runs", "number", blank),
            Column("attempts", "Attempts", "number", blank),
        ],
        frame,
        group="kind",
        group_label=lambda kind: {"suite": "Suites of tasks", "runs": "Runs"}.get(str(kind), str(kind)),
        empty="No file was loaded: the tasks are the built-in ones and the answers are those of solvers.",
    )


def version_table(versions: pd.DataFrame, kind: str) -> Table:
    """Everything that must be equal for runs to be compared; one row a run of a kind and Vim build.

    `kind`: model or solver; solvers have no harness, prompt or packages, so these columns are left out.
    """
    frame = versions[versions["kind"] == kind].sort_values(["name", "suite_name", "protocol", "run_id"])
    columns = [
        Column("name", "Run", "name"),
        Column("suite_name", "Suite", beside=lambda r: plain(r["suite_version"], 20)),
        Column("protocol", "Rules", beside=lambda r: _start(r["protocol_fingerprint"])),
        Column("vim_version", "Vim", beside=lambda r: _start(r["vim_sha256"])),
    ]
    if kind == "model":
        columns += [
            Column("task_name", "Harness task", beside=_task_version),
            Column("extraction", "Keys taken by"),
            Column("packages", "Packages", show=_json_line),
        ]
    else:
        columns.append(Column("confinement", "Confined by"))
    columns.append(Column("settings", "Settings", show=_json_line))
    return Table(
        f"versions-{kind}",
        {"model": "Runs of models and what made them", "solver": "Runs of solvers"}.get(kind, kind),
        columns,
        frame,
        empty=f"No {kind} was loaded.",
    )


def _start(digest: object) -> str:
    """The first digits of a hash, enough to tell two apart; '' where there is none."""
    return "" if missing(digest) else str(digest)[:8]


def _task_version(row: dict[str, Any]) -> str:
    parts = (("version", row["task_version"]), ("prompt", row["prompt_version"]))
    return ", ".join(f"{what} {plain(value, 16)}" for what, value in parts if not missing(value))


def _json_line(value: object) -> str:
    """A JSON object as 'name value, name value'."""
    if missing(value) or value in ("", "{}"):
        return UNAVAILABLE
    try:
        found = json.loads(str(value))
    except ValueError:
        return text(value)
    if not isinstance(found, dict):
        return text(value)
    return plain(", ".join(f"{k} {v}" for k, v in found.items() if v is not None), 200) or UNAVAILABLE
