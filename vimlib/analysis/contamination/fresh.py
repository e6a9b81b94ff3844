"""Does a model pass public tasks more often than drawn ones of like tier and difficulty?"""

from __future__ import annotations

import numpy as np
import pandas as pd

from vimlib.analysis.contamination.answers import FRESH, by_task
from vimlib.analysis.contamination.lines import Evidence, Line, frame_of, lacking
from vimlib.analysis.contamination.within import SMALLEST_GROUP, slope


def fresh(answers: pd.DataFrame, *, alpha: float = 0.05, seed: int = 0) -> pd.DataFrame:
    """Pass rate on public tasks minus that on fresh ones, at equal tier and difficulty.

    `answers`: one subject's, to public and to fresh tasks. Where both have tiers, only tiers that both
    have are compared, and the tier counts as difficulty before all else. One row, columns `lines.COLUMNS`.
    """
    return frame_of([_line(answers, alpha, seed)], alpha)


def _line(answers: pd.DataFrame, alpha: float, seed: int) -> Line:
    kind = Evidence.FRESH
    tasks = by_task(answers[answers["twin_of"].isna()])
    if tasks.empty or not (tasks["suite_name"] == FRESH).any():
        return lacking(kind, "no fresh task was answered (`vimlib generate fresh`)")
    drawn = (tasks["suite_name"] == FRESH).to_numpy()
    tiers = tasks["tier"].astype("Float64").to_numpy(float, na_value=np.nan)
    tiered = bool(np.isfinite(tiers[~drawn]).any())
    if tiered:
        both = set(tiers[drawn]) & set(tiers[~drawn])
        tasks = tasks[[tier in both for tier in tiers]].reset_index(drop=True)
        drawn = (tasks["suite_name"] == FRESH).to_numpy()
    n_public, n_fresh = int((~drawn).sum()), int(drawn.sum())
    if min(n_public, n_fresh) < SMALLEST_GROUP:
        return lacking(
            kind,
            f"{n_public} public and {n_fresh} fresh tasks to compare; each side needs {SMALLEST_GROUP}",
            n_public + n_fresh,
        )
    # Best scores are known of public tasks alone and must not set these apart.
    scores = by_task_difficulty(tasks)
    if tiered:
        scores = (tasks["tier"].to_numpy(float) + scores) / 5
    effect = slope((~drawn).astype(float), tasks["passed"].to_numpy(float), scores, seed=seed, alpha=alpha)
    if effect is None:
        return lacking(kind, "passes do not vary, or no two tasks are of like difficulty", len(tasks))
    return Line(
        kind,
        effect.value,
        effect.low,
        effect.high,
        "pass rate on public minus on fresh tasks",
        len(tasks),
        "public and fresh shuffled among tasks of like difficulty",
        effect.p,
        effect.detectable,
    )


def by_task_difficulty(tasks: pd.DataFrame) -> np.ndarray:
    """Of each task, from what is known of public and drawn ones alike: target length and keys of `diff`."""
    from vimlib.analysis.contamination.answers import difficulty_of

    return difficulty_of(tasks.assign(best_score=pd.NA))
