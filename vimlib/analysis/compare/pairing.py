"""Task by task: two sides on the tasks of both, metric by metric, and the answers that changed.

Everything here is a function of samples (`metrics.samples_of`) of the base and of the
candidate; the task is the unit, as in `stats.paired`. Differences are candidate minus base.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from vimlib.analysis import stats
from vimlib.analysis.compare.metrics import METRICS, Metric

RESULT = (
    "tasks",
    "base",
    "candidate",
    "difference",
    "low",
    "high",
    "more",
    "fewer",
    "p_value",
    "detectable",
    "base_samples",
    "candidate_samples",
    "reason",
)


def task_values(samples: pd.DataFrame, metric: Metric) -> pd.DataFrame:
    """Each task's mean of a metric.

    Grain: one row a task with a known value. Index: `task_id`, in the order of the samples.
    Columns: `mean`, `sum`, `n` (samples that it is over).
    """
    values = metric.value(samples).rename("value")
    known = pd.DataFrame({"task_id": samples["task_id"], "value": values}).dropna()
    grouped = known.astype({"value": "float64"}).groupby("task_id", sort=False)["value"]
    return grouped.agg(mean="mean", sum="sum", n="size")


def paired(
    base: pd.DataFrame, candidate: pd.DataFrame, metric: Metric, *, alpha: float, seed: int
) -> dict[str, Any]:
    """One metric of the two sides on the tasks that both have a value for.

    Keys (`RESULT`): `tasks`, how many these are; `base`, `candidate`, means over them of task means;
    `difference` with `low` and `high` (1 - alpha, `stats.mean_difference`); `more`, `fewer`, tasks whose
    mean is higher or lower in the candidate (with one sample a task and a yes-or-no metric the
    discordant pairs); `p_value` (`stats.sign_flip`: then McNemar's exact test); `detectable`, the
    smallest difference seen with power 0.8; `base_samples`, `candidate_samples`; `reason`, why there is
    no difference, '' where there is one. None: not known.
    """
    return _paired(task_values(base, metric), task_values(candidate, metric), metric, alpha, seed)


def _paired(
    left: pd.DataFrame, right: pd.DataFrame, metric: Metric, alpha: float, seed: int
) -> dict[str, Any]:
    both = left.add_suffix("_base").join(right.add_suffix("_candidate"), how="inner")
    found: dict[str, Any] = dict.fromkeys(RESULT)
    found |= {"tasks": len(both), "more": 0, "fewer": 0, "reason": ""}
    found |= {f"{side}_samples": int(both[f"n_{side}"].sum()) for side in ("base", "candidate")}
    if both.empty:
        found["reason"] = _why_nothing(left, right)
        return found
    differences = (both["mean_candidate"] - both["mean_base"]).to_numpy()
    counts = np.concatenate([both["n_base"], both["n_candidate"]])
    least = stats.least_difference(counts.tolist()) if metric.yes_or_no else None
    estimate = stats.mean_difference(differences.tolist(), seed=seed, confidence=1 - alpha, least=least)
    assert estimate is not None
    more, fewer = int((differences > 1e-12).sum()), int((differences < -1e-12).sum())
    single = metric.yes_or_no and bool((counts == 1).all())
    return found | {
        "base": float(both["mean_base"].mean()),
        "candidate": float(both["mean_candidate"].mean()),
        "difference": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "more": more,
        "fewer": fewer,
        "p_value": stats.sign_flip(differences.tolist(), seed=seed),
        "detectable": stats.detectable_pairs(len(both), (more + fewer) / len(both), alpha)
        if single
        else stats.detectable_mean(differences.tolist(), alpha, least=least),
    }


def _why_nothing(base: pd.DataFrame, candidate: pd.DataFrame) -> str:
    lacking = [side for side, rows in (("base", base), ("candidate", candidate)) if rows.empty]
    if len(lacking) == 2:
        return "not known of either side"
    return f"not known of the {lacking[0]}" if lacking else "no common task"


def by_metric(
    base: pd.DataFrame,
    candidate: pd.DataFrame,
    *,
    alpha: float,
    seed: int,
    metrics: Sequence[Metric] = METRICS,
) -> pd.DataFrame:
    """All metrics of the two sides, or those given.

    Grain: one row a metric. Order: `METRICS`. Columns: `metric`, `label`, `unit`, `help`,
    `higher_is_better`, `yes_or_no`, those of `paired`, and `p_holm`: the p corrected for all metrics.
    """
    rows = [
        {
            "metric": metric.name,
            "label": metric.label,
            "unit": metric.unit,
            "help": metric.help,
            "higher_is_better": metric.higher_is_better,
            "yes_or_no": metric.yes_or_no,
            **paired(base, candidate, metric, alpha=alpha, seed=seed),
        }
        for metric in metrics
    ]
    return _corrected(pd.DataFrame(rows))


def by_part(
    base: pd.DataFrame, candidate: pd.DataFrame, metric: Metric, part: str, *, alpha: float, seed: int
) -> pd.DataFrame:
    """One metric by `tier` or `category`.

    Grain: one row a value of the column `part` that either side attempted; tasks without one are a
    row with NA, last. Columns: `part`, those of `paired`, and `p_holm`: corrected for the rows.
    Empty where no task has a value.
    """
    every = pd.concat([base[part], candidate[part]])
    values = sorted(every.dropna().unique()) if every.notna().any() else []
    if values and every.isna().any():
        values.append(pd.NA)
    of_task = pd.concat([base, candidate]).drop_duplicates("task_id").set_index("task_id")[part]
    left, right = task_values(base, metric), task_values(candidate, metric)
    rows = []
    for value in values:
        tasks = of_task.index[of_task.isna() if value is pd.NA else (of_task == value).fillna(False)]
        mine, yours = (side[side.index.isin(tasks)] for side in (left, right))
        rows.append({"part": value, **_paired(mine, yours, metric, alpha, seed)})
    return _corrected(pd.DataFrame(rows, columns=["part", *RESULT]))


def _corrected(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows with numbers as numbers, NaN for None, and p values corrected for their number."""
    p_values = [None if pd.isna(p) else float(p) for p in frame["p_value"]]
    numbers = ["base", "candidate", "difference", "low", "high", "p_value", "detectable"]
    frame = frame.assign(p_holm=pd.Series(stats.holm(p_values), index=frame.index, dtype="float64"))
    return frame.astype(dict.fromkeys(numbers, "float64"))


def flips(base: pd.DataFrame, candidate: pd.DataFrame, modes: pd.DataFrame) -> pd.DataFrame:
    """The tasks on which one side passes more often than the other, with an answer of each.

    `modes`: why samples failed (`metrics.modes_of`). Grain: one row a task with verdicts of both sides and
    another share of passes. Order: newly failing first, then the suite's. Columns: `task_id`,
    `title`, `tier`, `category`, `change` ('newly passing', 'newly failing'; 'passes more often', 'passes
    less often' where a side has neither none nor all), `base_passed`, `base_scored`, `candidate_passed`,
    `candidate_scored`, and of a telling sample of each side (a failure of the one that fails, a pass of
    the other) `*_keys`, `*_end`, `*_run`, `*_epoch`, `*_attempt`, `*_replay_key`.
    """
    passed = METRICS[0]
    left, right = task_values(base, passed), task_values(candidate, passed)
    both = left.add_suffix("_base").join(right.add_suffix("_candidate"), how="inner")
    both = both[(both["mean_candidate"] - both["mean_base"]).abs() > 1e-12]
    about = pd.concat([base, candidate]).drop_duplicates("task_id").set_index("task_id")
    of_task = [dict(iter(side[side["scored"]].groupby("task_id"))) for side in (base, candidate)]
    rows = []
    for task, values in both.iterrows():
        better = values["mean_candidate"] > values["mean_base"]
        clean = {values["mean_base"], values["mean_candidate"]} == {0.0, 1.0}
        row: dict[str, Any] = {
            "task_id": task,
            **{column: about.loc[task, column] for column in ("title", "tier", "category", "place")},
            "change": ("newly passing" if better else "newly failing")
            if clean
            else ("passes more often" if better else "passes less often"),
            "better": better,
        }
        for side, scored, wants_pass in zip(
            ("base", "candidate"), of_task, (not better, better), strict=True
        ):
            row[f"{side}_passed"] = int(round(values[f"sum_{side}"]))
            row[f"{side}_scored"] = int(values[f"n_{side}"])
            row |= _telling(scored[task], wants_pass, side, modes)
        rows.append(row)
    columns = ["task_id", "title", "tier", "category", "change", "place", "better"]
    for side in ("base", "candidate"):
        columns += [f"{side}_{name}" for name in ("passed", "scored", *_TELLING)]
    frame = pd.DataFrame(rows, columns=columns).sort_values(["better", "place"], kind="stable")
    return frame.drop(columns=["better", "place"]).reset_index(drop=True)


_TELLING = ("keys", "end", "run", "epoch", "attempt", "replay_key")


def _telling(scored: pd.DataFrame, wants_pass: bool, side: str, modes: pd.DataFrame) -> dict[str, object]:
    """The first of a task's scored samples with the verdict that tells; the first where none has it."""
    fitting = scored[scored["passed"].fillna(False).astype(bool) == wants_pass]
    row = (fitting if len(fitting) else scored).iloc[0]
    key = tuple(row[name] for name in ("run_id", "task_id", "epoch", "attempt"))
    end = "passed" if row["passed"] else modes["failure_mode"].get(key, "not classified")
    values = (row["keys"], end, row["run_id"], row["epoch"], row["attempt"], row["replay_key"])
    return {f"{side}_{name}": value for name, value in zip(_TELLING, values, strict=True)}


def unpaired(base: pd.DataFrame, candidate: pd.DataFrame) -> pd.DataFrame:
    """The tasks that only one side can say something about: listed, since they are in no difference.

    Grain: one row a task that a side attempted and that lacks a verdict of one of them. Order: the suite's.
    Columns: `task_id`, `title`, `tier`, `category`, `base`, `candidate`: 'passed 2 of 3', or why there is no
    verdict: 'not attempted', a status, or 'unscored' (the harness failed).
    """
    every = pd.concat([base, candidate]).drop_duplicates("task_id").sort_values("place", kind="stable")
    known = [task_values(side, METRICS[0]) for side in (base, candidate)]
    lacking = every[~(every["task_id"].isin(known[0].index) & every["task_id"].isin(known[1].index))]
    rows = lacking[["task_id", "title", "tier", "category"]].reset_index(drop=True)
    for name, samples, values in zip(("base", "candidate"), (base, candidate), known, strict=True):
        rows[name] = [_state(task, samples, values) for task in rows["task_id"]]
    return rows


def _state(task: str, samples: pd.DataFrame, values: pd.DataFrame) -> str:
    if task in values.index:
        return f"passed {round(values.loc[task, 'sum'])} of {values.loc[task, 'n']}"
    mine = samples[samples["task_id"] == task]
    if mine.empty:
        return "not attempted"
    status = str(mine["status"].iloc[0])
    return "unscored" if status == "answered" else status.replace("_", " ")


def error_counts(samples: pd.DataFrame) -> dict[str, int]:
    """What became of a side's samples: `samples`, `scored`, `passed`, `provider_error`, `unscored`,
    `cancelled`, `not_replayable`."""
    status = samples["status"]
    scored = samples["scored"].astype(bool)
    return {
        "samples": len(samples),
        "scored": int(scored.sum()),
        "passed": int((scored & samples["passed"].fillna(False).astype(bool)).sum()),
        "provider_error": int((status == "provider_error").sum()),
        "unscored": int(((status == "answered") & ~scored).sum()),
        "cancelled": int((status == "cancelled").sum()),
        "not_replayable": int((status == "not_replayable").sum()),
    }


def short_names(names: Sequence[str], ids: Sequence[str]) -> list[str]:
    """A short name for each side: what stands behind the last '/', and of equal ones the id besides."""
    ends = [name.rsplit("/", 1)[-1] or name for name in names]
    if len(set(ends)) == len(ends):
        return ends
    if len(set(names)) == len(names):
        return list(names)
    return [f"{end} ({run.split(':', 1)[-1][:8]})" for end, run in zip(ends, ids, strict=True)]
