"""Does a model pass the tasks more often that more people have solved (and written about)?"""

from __future__ import annotations

import numpy as np
import pandas as pd

from vimlib.analysis.contamination.answers import by_task, difficulty_of
from vimlib.analysis.contamination.lines import Evidence, Line, frame_of, lacking
from vimlib.analysis.contamination.within import correlation

LEAST = 10
"""Tasks with statistics below which no correlation is computed."""


def popularity(answers: pd.DataFrame, *, alpha: float = 0.05, seed: int = 0) -> pd.DataFrame:
    """Rank correlation of passing with entries, and with golfers, among tasks of like difficulty.

    `answers`: those of one subject to public tasks. Two rows, columns `lines.COLUMNS`.
    """
    tasks = by_task(answers)
    kinds = ((Evidence.ENTRIES, "entries"), (Evidence.GOLFERS, "golfers"))
    return frame_of([_line(kind, tasks, column, alpha, seed) for kind, column in kinds], alpha)


def _line(kind: Evidence, tasks: pd.DataFrame, column: str, alpha: float, seed: int) -> Line:
    if tasks.empty:
        return lacking(kind, "no answer to a public task")
    known = tasks[tasks[column].notna()].reset_index(drop=True)
    if len(known) < LEAST:
        return lacking(
            kind, f"{len(known)} of {len(tasks)} tasks have {column}; {LEAST} are needed", len(known)
        )
    passed = known["passed"].to_numpy(float)
    if np.ptp(passed) == 0:
        return lacking(kind, "passes do not vary: every task was passed, or none", len(known))
    effect = correlation(known[column].to_numpy(float), passed, difficulty_of(known), seed=seed, alpha=alpha)
    if effect is None:
        return lacking(kind, f"{column} do not vary among tasks of like difficulty", len(known))
    return Line(
        kind,
        effect.value,
        effect.low,
        effect.high,
        "rank correlation (-1 to 1)",
        len(known),
        f"{column} shuffled among tasks of like difficulty",
        effect.p,
        effect.detectable,
    )
