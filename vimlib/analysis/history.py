"""The same model or prompt over time: what a run scored, and what had changed since the one before.

A line through scores says that something went up or down; only what changed in between says
why. Versions of a suite are never joined: a new one begins a new line.
"""

from __future__ import annotations

from typing import Final

import pandas as pd

from vimlib import store
from vimlib.analysis.compare.conditions import conditions
from vimlib.analysis.overview import overview
from vimlib.records import VimlibError

BY: Final = {"model": "name", "prompt": "prompt_version"}
"""What may stay the same in a series, and the column of runs that holds it."""


class UnknownSeries(VimlibError):
    """Nothing by which runs make a series is called so."""

    exit_code = 2


def history(con: store.Connection, by: str = "model") -> pd.DataFrame:
    """The model runs that have others of their kind before or after them.

    `by`: what stays the same, `model` or `prompt` (its version). Grain: one row a run of a series that
    has at least two with verdicts; a series has one value of `by`, one suite name, protocol and track.
    Order: series, then `created_utc`, unknown last. Columns: `series` (the value), `suite_name`,
    `protocol`, `track`, `place` (from 1 in its series), `run_id`, `name`, `created_utc`, `suite_hash`,
    `suite_version`, `new_suite` (the version differs from the run before), `changes` (texts: what else
    differs from the run before; empty for the first), `scored`, `passed`, `pass_rate`, `_low`, `_high`.

    Raises UnknownSeries.
    """
    if by not in BY:
        raise UnknownSeries(f"history by {by!r}; expected one of {', '.join(BY)}")
    column = BY[by]
    runs = store.query(con, "run_conditions", kind="model")
    rates = overview(con).set_index("run_id")
    rates = rates[rates["scored"] > 0]
    columns = ["scored", "passed", "pass_rate", "pass_rate_low", "pass_rate_high"]
    runs = runs[runs["run_id"].isin(rates.index) & runs[column].notna()].join(rates[columns], on="run_id")
    rows = []
    series = ["suite_name", "protocol", "track"]
    for (value, *_), mine in runs.groupby([column, *series], sort=True):
        if len(mine) < 2:
            continue
        mine = mine.sort_values(["created_utc", "run_id"], na_position="last").reset_index(drop=True)
        for place in range(len(mine)):
            row = mine.iloc[place]
            before = None if place == 0 else mine.iloc[[place - 1]]
            rows.append(
                {
                    "series": value,
                    "place": place + 1,
                    "new_suite": before is not None and before["suite_hash"].iloc[0] != row["suite_hash"],
                    "changes": [] if before is None else _changes(before, mine.iloc[[place]]),
                    **{
                        column: row[column]
                        for column in (
                            *series,
                            "run_id",
                            "name",
                            "created_utc",
                            "suite_hash",
                            "suite_version",
                        )
                    },
                    **{column: row[column] for column in columns},
                }
            )
    return pd.DataFrame(
        rows,
        columns=[
            *("series", *series, "place", "run_id", "name", "created_utc", "suite_hash", "suite_version"),
            *("new_suite", "changes", *columns),
        ],
    )


def _changes(before: pd.DataFrame, after: pd.DataFrame) -> list[str]:
    frame = conditions(before, after)
    return [
        f"{row['condition']}: {row['base']} → {row['candidate']}"
        for _, row in frame[frame["differs"]].iterrows()
    ]
