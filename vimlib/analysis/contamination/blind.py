"""Does a model pass tasks whose target it was not shown, where others do not?"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import pandas as pd

from vimlib.analysis.contamination.answers import DETERMINED_SUITES, rates
from vimlib.analysis.contamination.lines import Evidence, Line, frame_of, lacking
from vimlib.analysis.stats import clustered, detectable_mean, mean_difference, sign_flip


def blind(
    answers: pd.DataFrame,
    others: Iterable[tuple[str, pd.DataFrame]] = (),
    determined: Collection[str] = (),
    *,
    alpha: float = 0.05,
    seed: int = 0,
) -> pd.DataFrame:
    """Passes with the target withheld, minus those of other models on the same tasks.

    `answers`: one subject's of the blind track. `others`: other models' of that track, by name: how often a
    task can be guessed is judged by how many of them pass it. `determined`: ids of tasks whose instruction
    alone determines the target; they are left out, as are suites that are written so. Without other
    models the rate is reported and nothing is tested. One row, columns `lines.COLUMNS`.
    """
    return frame_of([_line(answers, list(others), determined, alpha, seed)], alpha)


def _undetermined(answers: pd.DataFrame, determined: Collection[str]) -> pd.DataFrame:
    known = answers["suite_name"].str.removeprefix("twins-of-").isin(DETERMINED_SUITES)
    return answers[~known & ~answers["task_id"].isin(list(determined))]


def _line(
    answers: pd.DataFrame,
    others: list[tuple[str, pd.DataFrame]],
    determined: Collection[str],
    alpha: float,
    seed: int,
) -> Line:
    kind = Evidence.BLIND
    if answers.empty:
        return lacking(kind, "no run with the target withheld (`vimlib/golf_blind`)")
    own = rates(_undetermined(answers, determined))
    if own.empty:
        return lacking(kind, "the instructions of all tasks that were asked blind determine the target")
    found: dict[str, list[float]] = {}
    for _, frame in others:
        for key, passed in rates(_undetermined(frame, determined)).items():
            found.setdefault(str(key), []).append(float(passed))
    shared = [key for key in own.index if key in found]
    if not shared:
        rate = clustered((key, passed > 0) for key, passed in own.items())
        assert rate is not None
        return Line(
            kind, rate.rate, rate.low, rate.high, "pass rate with the target withheld", rate.n,
            missing="no other model was asked blind, so that nobody knows how well one can guess",
        )  # fmt: skip
    gaps = [float(own[key]) - sum(found[key]) / len(found[key]) for key in shared]
    if not own.loc[shared].to_numpy().any():
        n = len(shared)
        return lacking(
            kind, "nothing was passed with the target withheld, so that nothing is to be explained", n
        )
    estimate = mean_difference(gaps, seed=seed, least=1.0)
    assert estimate is not None
    return Line(
        kind,
        estimate.value,
        estimate.low,
        estimate.high,
        "blind pass rate minus that of other models",
        len(gaps),
        "signs of the differences flipped",
        sign_flip(gaps, seed=seed),
        detectable_mean(gaps, alpha, least=1.0),
    )
