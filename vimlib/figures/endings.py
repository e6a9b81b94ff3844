"""How answers ended: a bar a run, a colour a way to end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pandas as pd

from vimlib.figures.canvas import (
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    SOLVER_SOFT,
    VERMILION,
    Picture,
    picture,
)
from vimlib.figures.charts import (
    Part,
    shares,
)
from vimlib.figures.sections import (
    KINDS,
    drawn,
    floor_of,
    labels,
    part_of,
    records,
)
from vimlib.figures.tables import (
    count,
    missing,
)

PARTS: Final = (
    Part("passed", "passed", GREEN),
    Part("over_cap", "right, but over the key cap", ORANGE),
    Part("unfinished", "keys ran out before Vim ended", SKY),
    Part("wrong", "ended, wrong buffer", GREY),
    Part("timeout", "time limit", VERMILION),
    Part("stopped", "crash, forbidden act or bad notation", PURPLE),
    Part("none", "no replay, or an error outside the answer", SOLVER_SOFT),
)
"""How a sample can end, in the order drawn."""


def ending(row: dict[str, Any]) -> dict[str, int]:
    """Samples of one row of `run_by_outcome` by part of `PARTS`."""
    samples, passed = int(row["samples"]), int(row["passed"])
    correct = int(row["correct"])
    outcome = None if missing(row["outcome"]) else str(row["outcome"])
    rest = samples - correct
    key = {
        "finished": "wrong",
        "unfinished": "unfinished",
        "timeout": "timeout",
        "crashed": "stopped",
        "bad_keys": "stopped",
        "blocked": "stopped",
    }.get(outcome or "", "none")
    parts = {"passed": passed, "over_cap": correct - passed, key: rest}
    return {name: n for name, n in parts.items() if n}


def outcome_picture(outcomes: pd.DataFrame, rows: pd.DataFrame, slug: str) -> Picture:
    """How the samples of every run of a section ended."""
    names = labels(rows)
    totals: dict[str, dict[str, int]] = {str(run): {} for run in rows["run_id"]}
    for row in records(part_of(outcomes, rows)):
        mine = totals[str(row["run_id"])]
        for key, n in ending(row).items():
            mine[key] = mine.get(key, 0) + n
    every = drawn(rows)
    models = [row for row in every if row["kind"] == "model"]
    groups = [
        (KINDS[kind] if models else "", lines)
        for kind in ("model", "solver")
        if (
            lines := [(names[str(r["run_id"])], totals[str(r["run_id"])]) for r in every if r["kind"] == kind]
        )
    ]
    return picture(
        f"outcomes-{slug}",
        lambda width: shares(width, PARTS, groups),
        title=_outcome_headline(every, totals, names) + ".",
        subtitle="All samples (task and epoch) of each run by how they ended; counts in the bars.",
        alt="How samples ended. "
        + "; ".join(
            f"{label}: "
            + ", ".join(f"{counts[part.key]} {part.label}" for part in PARTS if counts.get(part.key))
            for _, lines in groups
            for label, counts in lines
        )
        + ".",
    )


def _outcome_headline(
    every: Sequence[dict[str, Any]], totals: dict[str, dict[str, int]], names: dict[str, str]
) -> str:
    floor = floor_of(every)
    subject = next(
        (r for r in every if r["kind"] == "model" and r["samples"]), floor or (every[0] if every else None)
    )
    if subject is None:
        return "Nothing was replayed"
    name = names[str(subject["run_id"])] if subject is not floor else "the diff solver"
    counts = totals[str(subject["run_id"])]
    failed = {key: n for key, n in counts.items() if key != "passed"}
    if not failed:
        return f"Every answer of {name} passes"
    key = max(failed, key=lambda k: (failed[k], k))
    words = {
        "over_cap": "make the right edit with too many keys",
        "wrong": "end Vim with the wrong buffer",
        "unfinished": "run out of keys before they end Vim",
        "timeout": "meet the limit of time or output",
        "stopped": "crash, break the notation or try what is forbidden",
        "none": "could not be replayed",
    }[key]
    total = sum(failed.values())
    return f"{count(failed[key])} of the {count(total)} answers of {name} that do not pass {words}"
