"""What the overview shows: pass rates with their intervals, run by run and tier by tier.

Errors of a provider or of the harness are not failures of a model, so rates leave them out;
the other reading, in which they count as failures, stands beside it. Solvers are in the same
frames as models and carry their `kind`; ranking them together is for nobody.
"""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import pandas as pd

from vimlib import store
from vimlib.analysis.stats import clustered_counts, wilson
from vimlib.records import VimlibError


class PublishedMissing(VimlibError):
    """The project's table of published results is not there."""


_RATES = ("pass_rate", "pass_rate_with_errors", "beats_diff_rate")


def _intervals(tasks: pd.DataFrame) -> dict[str, float | None]:
    """The rates of one group of tasks, clustered by task where there are several epochs."""
    scored, passed = tasks["scored"].to_numpy(int), tasks["passed"].to_numpy(int)
    compared = tasks["compared"].to_numpy(int)
    # A pass with nothing to compare it with tells neither way, and where no pass was compared
    # the failures alone would make a rate of 0 that nobody measured.
    if passed.any() and not tasks["passes_compared"].any():
        compared = compared * 0
    found: dict[str, float | None] = {}
    for name, among, success in (
        ("pass_rate", scored, passed),
        ("pass_rate_with_errors", scored + tasks["errors"].to_numpy(int), passed),
        ("beats_diff_rate", compared, tasks["beats_diff"].to_numpy(int)),
    ):
        interval = clustered_counts(among, success)
        found[name] = None if interval is None else interval.rate
        found[f"{name}_low"] = None if interval is None else interval.low
        found[f"{name}_high"] = None if interval is None else interval.high
    return found


def _with_intervals(frame: pd.DataFrame, con: store.Connection, by: list[str]) -> pd.DataFrame:
    tasks = store.query(con, "samples_counted")
    found = {
        tuple(_hashable(part) for part in key): _intervals(group)
        for key, group in tasks.groupby(by, dropna=False, sort=False)
    }
    nothing = _intervals(tasks.iloc[0:0])
    rows = [
        found.get(tuple(_hashable(part) for part in key), nothing)
        for key in frame[by].itertuples(index=False, name=None)
    ]
    rates = pd.DataFrame(rows, index=frame.index, columns=list(nothing)).astype("float64")
    own = frame.drop(columns=["pass_rate", "pass_rate_with_errors"])
    return pd.concat([own, rates], axis="columns")


def _hashable(part: Any) -> Hashable:
    """NA compares with nothing, itself included; as part of a key it is None."""
    return None if pd.isna(part) else part


def overview(con: store.Connection) -> pd.DataFrame:
    """Each run with its rates.

    Grain: one row a run. Order: kind, suite, protocol, name, run. Columns: those of the view
    `run_overview`, then (rates from 0 to 1, 95 % intervals, NaN: no data)

    - `pass_rate`, `_low`, `_high`: passed / scored, errors left out;
    - `pass_rate_with_errors`, `_low`, `_high`: passed / (scored + errors), errors as failures;
    - `beats_diff_rate`, `_low`, `_high`: passed_beats_diff / beats_diff_n.

    Cancelled and not replayable samples are in neither reading. Intervals are Wilson's, with
    several epochs clustered by task (`stats.clustered_counts`). `mean_efficiency` (over passes) and
    `mean_partial` come from the view with the number they are averaged over.
    """
    return _with_intervals(store.query(con, "run_overview"), con, ["run_id"])


def by_tier(con: store.Connection) -> pd.DataFrame:
    """Each run with its rates per tier.

    Grain: one row a run and tier that it attempted; tier NA: tasks without one. Order: as
    `overview`, then tier. Columns: those of the view `run_by_tier`, then the rates of `overview`.
    """
    return _with_intervals(store.query(con, "run_by_tier"), con, ["run_id", "tier"])


def published(path: Path | None = None, con: store.Connection | None = None) -> pd.DataFrame:
    """Results that others published. They were not replayed here and are ranked with nothing.

    Those of the project's own table, and with `con` those of the files that were loaded; a result that
    is in both comes once, as the table has it.

    Grain: one row a benchmark, track and model. Order: benchmark, track, `passed` descending,
    model. Columns: `benchmark`, `protocol`, `track`, `model`, `tasks`, `passed`, `pass_rate`
    (as published, 0 to 1), `pass_rate_low`, `pass_rate_high` (Wilson, computed here from passed
    and tasks), `avg_efficiency`, `avg_partial` (0 to 1), `seconds` (for the whole run), `source`,
    `retrieved` (date; NaT: loaded from a file), `replayed` (always False). NaN: not
    published.

    Raises `PublishedMissing` where the file (`data/published/results.csv`) is not there.
    """
    if path is None:
        path = Path(__file__).resolve().parents[2] / "data" / "published" / "results.csv"
    if not path.is_file():
        raise PublishedMissing(
            f"{path}: the published results are not there; install vimlib from its checkout"
            " (pip install -e .)"
        )
    frame = pd.read_csv(path, parse_dates=["retrieved"])
    if con is not None:
        frame = _with_loaded(frame, con)
    intervals = [wilson(passed, tasks) for passed, tasks in zip(frame["passed"], frame["tasks"], strict=True)]
    place = frame.columns.get_loc("pass_rate")
    assert isinstance(place, int)
    frame.insert(place + 1, "pass_rate_low", [None if i is None else i.low for i in intervals])
    frame.insert(place + 2, "pass_rate_high", [None if i is None else i.high for i in intervals])
    frame["replayed"] = False
    return frame.sort_values(
        ["benchmark", "track", "passed", "model"], ascending=[True, True, False, True]
    ).reset_index(drop=True)


def _with_loaded(frame: pd.DataFrame, con: store.Connection) -> pd.DataFrame:
    """The rows of the table, and of the loaded results those that it does not have."""
    rows = store.query(con, "results_published")
    rows = rows[rows["tasks"].notna() & rows["passed"].notna()]
    loaded = pd.DataFrame(
        {
            "benchmark": rows["benchmark"],
            "protocol": rows["protocol"],
            "track": [
                ", ".join(f"{part}{' tasks' if name == 'task_set' else ''}" for name, part in parts if part)
                for parts in (
                    [("track", track), ("task_set", task_set)]
                    for track, task_set in zip(
                        rows["track"].fillna(""), rows["task_set"].fillna(""), strict=True
                    )
                )
            ],
            "model": rows["model"],
            "tasks": rows["tasks"].astype("int64"),
            "passed": rows["passed"].astype("int64"),
            "pass_rate": rows["pass_rate"],
            "avg_efficiency": rows["mean_efficiency"],
            "avg_partial": rows["mean_partial"],
            "seconds": rows["wall_seconds"],
            "source": rows["source"],
            "retrieved": pd.NaT,
        }
    )
    same = ["benchmark", "track", "model", "tasks", "passed"]
    known = set(frame[same].itertuples(index=False, name=None))
    new = [row not in known for row in loaded[same].itertuples(index=False, name=None)]
    if not any(new):
        return frame
    return pd.concat([frame, loaded[new].astype({"retrieved": frame["retrieved"].dtype})], ignore_index=True)
