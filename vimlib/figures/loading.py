"""What a load did, to look at: what came in, what was refused and why, what Vim had to replay.

Takes the rows of `vimlib.load.LoadResult` as a frame, one row a suite, run or rejected source.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from vimlib.figures.blocks import Block, Tile, lede, notice, tiles
from vimlib.figures.canvas import plain
from vimlib.figures.tables import Column, Table, blank, count, missing, percent, place, seconds, text

KINDS = {
    "suite": "Suites of tasks",
    "run": "Runs from files",
    "shared": "Runs from Parquet, with the verdicts of the store that exported them",
    "published": "Results as published, without answers: nothing to replay",
    "solver": "Runs of solvers, made here",
}
"""What the kinds of rows are called, in the order shown."""

CHANGES = {"added": "new", "replaced": "replaced", "unchanged": "already there"}


def _numbers(rows: pd.DataFrame) -> tuple[int, int, int, int]:
    """Suites, runs from files, runs of solvers, rejected."""
    good = rows[rows["rejected"].isna()]
    kinds = good["kind"].astype(str)
    from_files = good.loc[kinds.isin(["run", "shared"]), "run_id"].fillna("")
    return (
        int((kinds == "suite").sum()),
        # A retried run stands in several files; a frame of old has no ids.
        int(from_files.map(lambda id: id or object()).nunique()),
        int((kinds == "solver").sum()),
        int(rows["rejected"].notna().sum()),
    )


def _plural(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def summary(rows: pd.DataFrame, *, replays: int, replayed: int, wall_seconds: float) -> Block:
    """The load in a sentence or two, and in tiles."""
    suites, runs, solvers, rejected = _numbers(rows)
    attempts = int(rows.loc[rows["kind"].astype(str) != "published", "attempts"].sum())
    sentences = [
        f"{_plural(suites, 'suite')} and {_plural(runs + solvers, 'run')} with "
        f"{_plural(attempts, 'attempt')} are in the store; judging them took {seconds(wall_seconds)}."
    ]
    if rejected:
        sentences.append(
            f"{_plural(rejected, 'source')} could not be used and {'is' if rejected == 1 else 'are'} "
            "listed below with the reason; everything else was loaded."
        )
    reused = replays - replayed
    return lede(sentences) + tiles(
        [
            Tile("Runs", count(runs + solvers), f"{runs:,} from files, {solvers:,} of solvers"),
            Tile("Attempts", count(attempts), f"on {_plural(suites, 'suite')}"),
            Tile(
                "Replays in Vim",
                count(replayed),
                f"of {count(replays)} distinct; {count(reused)} taken from the cache"
                + (f" ({percent(reused / replays, 0)})" if replays else ""),
            ),
            Tile(
                "Rejected",
                count(rejected),
                "sources that could not be used" if rejected else "every source could be used",
                warn=bool(rejected),
            ),
        ]
    )


def loaded_table(rows: pd.DataFrame) -> Table:
    """What is in the store now; one row a suite, file of a run or of published results, or solver."""
    good = rows[rows["rejected"].isna()]
    order = {kind: place for place, kind in enumerate(KINDS)}
    good = good.assign(
        kind=good["kind"].astype(str),
        place=[
            "" if kind == "solver" else place(source)
            for kind, source in zip(good["kind"], good["source"], strict=True)
        ],
    )
    good = good.sort_values("kind", key=lambda kinds: kinds.map(order), kind="stable")
    return Table(
        "loaded",
        "What was loaded",
        [
            Column("name", "Name", "name"),
            Column("place", "From", show=str),
            Column(
                "suite",
                "Suite",
                show=lambda v: text(v).rpartition(" ")[0] or text(v),
                beside=lambda r: str(r["suite"]).rpartition(" ")[2],
            ),
            Column("protocol", "Protocol", show=lambda v: "" if missing(v) else str(v)),
            Column("tasks", "Tasks", "number", blank),
            Column("format", "Format", show=lambda v: "" if missing(v) else plain(v, 40)),
            Column("attempts", "Attempts", "number", blank),
            Column("new", "New", "number", blank, help="Of them, those that the store did not have."),
            Column(
                "errors",
                "Errors",
                "number",
                blank,
                help="Attempts without an answer: the provider failed, or the run was stopped.",
            ),
            Column("passed", "Passed", "number", blank, unit="attempts"),
            Column("change", "Store", show=lambda v: CHANGES.get(str(v), text(v))),
        ],
        good,
        group="kind",
        group_label=lambda kind: KINDS.get(str(kind), str(kind)),
        empty="Nothing was loaded.",
    )


def rejected_table(rows: pd.DataFrame) -> Table:
    """What was not loaded and why; one row a source."""
    bad = rows[rows["rejected"].notna()]
    return Table(
        "rejected",
        "Rejected sources",
        [
            Column("source", "Source", "name", show=place),
            Column("why", "Why", show=lambda v: plain(v, 400)),
        ],
        bad.assign(
            why=[
                str(why).removeprefix(str(source)).lstrip(":, ")
                for source, why in zip(bad["source"], bad["rejected"], strict=True)
            ]
        ),
        empty="No source was rejected.",
        classes=("long",),
    )


def remarks_table(problems: Sequence[str], notes: Sequence[str], *, top_n: int = 50) -> Table:
    """Single answers that could not be taken as they stand, and things worth knowing; one row a line."""
    lines = [("Problems", line) for line in problems] + [("Notes", line) for line in notes]
    return Table(
        "remarks",
        "Remarks of the readers",
        [Column("line", "What was found", show=lambda v: plain(v, 400))],
        pd.DataFrame(lines[:top_n], columns=["kind", "line"]),
        group="kind",
        note=f"The first {top_n} of {count(len(lines))}." if len(lines) > top_n else "",
        empty="The readers had nothing to remark.",
        classes=("long",),
    )


def confinement_notice(confinement: str) -> Block:
    """Loud where replays ran without confinement, else one plain line."""
    if confinement == "none":
        return notice(
            "Replays ran without confinement, as asked for: keys written by a model could read, write and "
            "run what the user can.",
            bad=True,
        )
    return notice(f"Every replay was confined by the kernel ({plain(confinement, 60)}).")
