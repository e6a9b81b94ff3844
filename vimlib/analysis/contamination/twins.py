"""Does a model pass originals more often than their twins, which are the same edits on other words?"""

from __future__ import annotations

import numpy as np
import pandas as pd

from vimlib.analysis.contamination.answers import by_task
from vimlib.analysis.contamination.lines import Evidence, Line, frame_of, lacking
from vimlib.analysis.stats import (
    detectable_mean,
    detectable_pairs,
    least_difference,
    mean_difference,
    sign_flip,
)

LEAST = 6
"""Pairs below which McNemar's exact test cannot reach 0.05."""


def twin_pairs(answers: pd.DataFrame) -> pd.DataFrame:
    """Originals and twins that one subject answered.

    Grain: one row a pair. Columns: `task_key` (of the original), `title`, `original`, `twin` (mean passes,
    0 to 1; an original with several twins has their mean), `answers` (the fewer of both). Order: `task_key`.
    """
    tasks = by_task(answers[answers["twin_of"].isna()])
    twins = answers[answers["twin_of"].notna()]
    means = (
        twins.assign(passed=twins["passed"].astype(float))
        .groupby("twin_of", sort=True)["passed"]
        .agg(["mean", "size"])
    )
    paired = tasks[tasks["task_key"].isin(means.index)].reset_index(drop=True)
    found = means.loc[paired["task_key"]]
    return pd.DataFrame(
        {
            "task_key": paired["task_key"],
            "title": paired["title"],
            "original": paired["passed"].astype(float),
            "twin": found["mean"].to_numpy(float),
            "answers": np.minimum(paired["answers"].to_numpy(int), found["size"].to_numpy(int)),
        }
    )


def twins(answers: pd.DataFrame, *, alpha: float = 0.05, seed: int = 0) -> pd.DataFrame:
    """Pass rate on originals minus that on their twins.

    `answers`: those of one subject, to originals and twins. Exact McNemar with one answer a task;
    with several, signs of the differences flipped. One row, columns `lines.COLUMNS`.
    """
    return frame_of([_line(answers, alpha, seed)], alpha)


def _line(answers: pd.DataFrame, alpha: float, seed: int) -> Line:
    kind = Evidence.TWINS
    if answers.empty or answers["twin_of"].isna().all():
        return lacking(kind, "no twin was answered (`vimlib generate twins`)")
    pairs = twin_pairs(answers)
    if pairs.empty:
        return lacking(kind, "twins were answered, but none of their originals")
    n = len(pairs)
    if n < LEAST:
        return lacking(kind, f"{n} pairs of original and twin; {LEAST} are needed", n)
    if not pairs[["original", "twin"]].to_numpy().any():
        return lacking(kind, "neither an original nor a twin was passed", n)
    gaps = (pairs["original"] - pairs["twin"]).to_numpy(float)
    least = least_difference(pairs["answers"])
    estimate = mean_difference(list(gaps), seed=seed, least=least)
    assert estimate is not None
    single = bool(np.isin(gaps, (-1.0, 0.0, 1.0)).all())
    smallest = (
        detectable_pairs(n, float((gaps != 0).mean()), alpha)
        if single
        else detectable_mean(list(gaps), alpha, least=least)
    )
    return Line(
        kind,
        estimate.value,
        estimate.low,
        estimate.high,
        "pass rate on originals minus on twins",
        n,
        "exact McNemar" if single else "signs of the differences flipped",
        sign_flip(list(gaps), seed=seed),
        smallest,
    )
