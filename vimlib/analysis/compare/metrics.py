"""What runs are compared in: for each metric its value on a sample, and where it says nothing.

A sample is a task in one epoch of one run. A metric is NaN on a sample that it does not judge,
so that what is not known is left out and never counted as 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from vimlib import store
from vimlib.records import VimlibError

Unit = Literal["share", "tokens", "USD", "seconds"]


class UnknownMetric(VimlibError):
    """There is no metric of this name."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Metric:
    """One thing to compare."""

    name: str
    label: str
    unit: Unit
    higher_is_better: bool
    value: Callable[[pd.DataFrame], pd.Series]
    """From samples to floats; NaN: this sample is not judged."""
    yes_or_no: bool = False
    """Whether a sample is 0 or 1, so that exact tests of counts apply."""
    help: str = ""


def _passed(samples: pd.DataFrame) -> pd.Series:
    return samples["passed"].astype("Float64").where(samples["scored"])


def _passed_or_error(samples: pd.DataFrame) -> pd.Series:
    error = samples["status"].isin(["provider_error", "answered"]) & ~samples["scored"]
    return _passed(samples).mask(error, 0.0)


def _beats_diff(samples: pd.DataFrame) -> pd.Series:
    passed = samples["passed"].fillna(False)
    compared = samples["beats_diff"].notna()
    # As on the overview: failures alone are no rate where no pass could be compared.
    if (samples["scored"] & passed).any() and not (samples["scored"] & passed & compared).any():
        return pd.Series(pd.NA, index=samples.index, dtype="Float64")
    known = samples["scored"] & (compared | ~passed)
    return (passed & samples["beats_diff"].fillna(False)).astype("Float64").where(known)


def _efficiency(samples: pd.DataFrame) -> pd.Series:
    passed = samples["scored"] & samples["passed"].fillna(False)
    return samples["efficiency"].astype("Float64").where(passed)


def _partial(samples: pd.DataFrame) -> pd.Series:
    return samples["partial"].astype("Float64").where(samples["scored"])


def _column(name: str) -> Callable[[pd.DataFrame], pd.Series]:
    return lambda samples: samples[name].astype("Float64")


METRICS: tuple[Metric, ...] = (
    Metric(
        "pass_rate",
        "Passed",
        "share",
        True,
        _passed,
        yes_or_no=True,
        help="Correct and within the rules, over samples with a verdict in both runs.",
    ),
    Metric(
        "pass_rate_with_errors",
        "Passed (errors fail)",
        "share",
        True,
        _passed_or_error,
        yes_or_no=True,
        help="The same, failures of the provider and of the harness counted as failures.",
    ),
    Metric(
        "beats_diff_rate",
        "Passed and beats diff",
        "share",
        True,
        _beats_diff,
        yes_or_no=True,
        help="Passed with fewer keys than the diff solver needs.",
    ),
    Metric(
        "efficiency",
        "Efficiency",
        "share",
        True,
        _efficiency,
        help="Reference keys / answer keys, at most 1, on tasks that both runs pass.",
    ),
    Metric(
        "partial",
        "Partial",
        "share",
        True,
        _partial,
        help="Likeness of the final buffer to the target, 0 to 1.",
    ),
    Metric(
        "total_tokens",
        "Tokens a task",
        "tokens",
        False,
        _column("total_tokens"),
        help="Input and output tokens of a sample, all its attempts together.",
    ),
    Metric(
        "output_tokens",
        "Output tokens a task",
        "tokens",
        False,
        _column("output_tokens"),
        help="Output tokens of a sample, reasoning included, all its attempts together.",
    ),
    Metric(
        "cost",
        "Cost a task",
        "USD",
        False,
        _column("cost_usd"),
        help="US dollars of a sample, all its attempts together.",
    ),
    Metric(
        "seconds",
        "Time to the answer",
        "seconds",
        False,
        _column("seconds"),
        help="Seconds to the answer that counts, as the source gives them.",
    ),
)
"""In the order of tables. The first is the one that a comparison is about by default."""


def metric_named(name: str) -> Metric:
    """The metric of this name. Raises UnknownMetric."""
    for metric in METRICS:
        if metric.name == name:
            return metric
    names = ", ".join(metric.name for metric in METRICS)
    raise UnknownMetric(f"no metric is called {name!r}; expected one of {names}")


_COLUMNS = (
    *("run_id", "task_id", "place", "title", "tier", "category", "epoch", "attempt", "status", "scored"),
    *("keys", "outcome", "passed", "partial", "efficiency", "beats_diff", "over_cap", "seconds"),
    "replay_key",
)
"""What comparisons need of `attempts_scored`."""


def samples_of(con: store.Connection, run_ids: tuple[str, ...]) -> pd.DataFrame:
    """The samples of some runs, with what their attempts used.

    Grain: one row a run, task and epoch: the attempt that counts (`attempts_scored.counts`).
    Order: as the view. Columns: of the view, and `total_tokens` and `output_tokens` summed over
    all attempts at the sample (NA: not known of one of them), and `cost_usd` likewise, in US dollars.
    """
    key = ["run_id", "task_id", "epoch"]
    attempts = store.query(con, "attempts_scored", run_id=list(run_ids))
    priced = store.query(con, "attempts_priced", run_id=list(run_ids))
    attempts = attempts.merge(priced[[*key, "attempt", "cost_usd"]], on=[*key, "attempt"], how="left")
    used = ["total_tokens", "output_tokens", "cost_usd"]
    sums = attempts.groupby(key)[used].agg(lambda values: values.sum(min_count=len(values)))
    return attempts[attempts["counts"]][list(_COLUMNS)].join(sums, on=key)


def modes_of(con: store.Connection, run_ids: tuple[str, ...]) -> pd.DataFrame:
    """Why the failed samples of some runs failed.

    Grain: one row a failed sample. Index: run_id, task_id, epoch, attempt. Column: `failure_mode`.
    """
    key = ["run_id", "task_id", "epoch", "attempt"]
    failed = store.query(con, "failures_classified", run_id=list(run_ids))
    return failed.set_index(key)[["failure_mode"]]
