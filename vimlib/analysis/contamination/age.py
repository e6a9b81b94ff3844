"""Does a model pass tasks from before its training cutoff more often than equally hard ones from after?"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from vimlib.analysis.contamination.answers import by_task, difficulty_of, rates
from vimlib.analysis.contamination.lines import Evidence, Line, frame_of, lacking
from vimlib.analysis.contamination.within import SMALLEST_GROUP, Effect, Floats, slope
from vimlib.analysis.stats import wilson

SHUFFLED = "dates shuffled among tasks of like difficulty"


def age(
    answers: pd.DataFrame,
    cutoff: datetime.date | None,
    others: Iterable[tuple[str, pd.DataFrame]] = (),
    cutoffs: Mapping[str, datetime.date | None] | None = None,
    *,
    alpha: float = 0.05,
    seed: int = 0,
) -> pd.DataFrame:
    """Pass rate before a model's cutoff minus after it; and the same against models with other cutoffs.

    `answers`: those of one subject to public tasks. `others`: other models' answers by name,
    `cutoffs`: theirs.

    The second line is a difference of differences: on the tasks from between two models' cutoffs, which only
    one of them can have seen, that one's lead over the other, minus its lead on all other tasks. It tells
    "seen" from "newer tasks are harder", which both meet alike.

    Two rows, columns `lines.COLUMNS`.
    """
    tasks = by_task(answers)
    dated = tasks[tasks["created"].notna()].reset_index(drop=True)
    known = {name: day for name, day in (cutoffs or {}).items() if day is not None}
    lines = [
        _alone(tasks, dated, cutoff, alpha, seed),
        _against(
            dated,
            cutoff,
            [(name, frame, known[name]) for name, frame in others if name in known],
            alpha,
            seed,
        ),
    ]
    return frame_of(lines, alpha)


def _days(created: pd.Series) -> Floats:
    return np.array([pd.Timestamp(day).toordinal() for day in created], dtype=float)


def _alone(
    tasks: pd.DataFrame, dated: pd.DataFrame, cutoff: datetime.date | None, alpha: float, seed: int
) -> Line:
    kind, n = Evidence.AGE, len(dated)
    if tasks.empty:
        return lacking(kind, "no answer to a public task")
    if n == 0:
        return lacking(kind, f"none of the {len(tasks)} tasks has a date")
    if cutoff is None:
        return lacking(kind, "the model's training cutoff is not known (parameter `cutoffs`)", n)
    before = _days(dated["created"]) <= cutoff.toordinal()
    old, new = int(before.sum()), int((~before).sum())
    if min(old, new) < SMALLEST_GROUP:
        return lacking(
            kind,
            f"{old} tasks from before the cutoff ({cutoff}) and {new} from after; "
            f"each side needs {SMALLEST_GROUP}",
            n,
        )
    effect = slope(
        before.astype(float), dated["passed"].to_numpy(float), difficulty_of(dated), seed=seed, alpha=alpha
    )
    return _line(kind, effect, "pass rate before minus after the cutoff", SHUFFLED, n)


def _against(
    dated: pd.DataFrame,
    cutoff: datetime.date | None,
    others: Sequence[tuple[str, pd.DataFrame, datetime.date]],
    alpha: float,
    seed: int,
) -> Line:
    kind = Evidence.AGE_OTHERS
    if cutoff is None:
        return lacking(kind, "the model's training cutoff is not known (parameter `cutoffs`)")
    passes: dict[str, pd.Series] = {}
    between: dict[str, Floats] = {}
    for name, frame, other in others:
        own = rates(frame)
        if other != cutoff and dated["task_key"].isin(own.index).any():
            passes[name] = own
            days = _days(dated["created"])
            low, high = sorted((cutoff.toordinal(), other.toordinal()))
            inside = (days > low) & (days <= high)
            between[name] = np.where(inside, 1.0 if cutoff > other else -1.0, 0.0)
    if not passes:
        return lacking(kind, "no other model with another known cutoff answered the same tasks")
    shared = np.logical_and.reduce([dated["task_key"].isin(own.index).to_numpy() for own in passes.values()])
    tasks = dated[shared].reset_index(drop=True)
    xs = np.array([between[name][shared] for name in passes])
    useful = (np.abs(xs).sum(axis=1) >= SMALLEST_GROUP) & ((xs == 0).sum(axis=1) >= SMALLEST_GROUP)
    if not useful.any():
        return lacking(
            kind,
            f"of {len(tasks)} tasks that all answered too few date from between two models' cutoffs; "
            f"{SMALLEST_GROUP} are needed, and as many others",
            len(tasks),
        )
    mine = tasks["passed"].to_numpy(float)
    ys = np.array([mine - own.loc[tasks["task_key"]].to_numpy(float) for own in passes.values()])
    effect = slope(xs[useful], ys[useful], difficulty_of(tasks), seed=seed, alpha=alpha)
    return _line(kind, effect, "lead on tasks from between the cutoffs minus elsewhere", SHUFFLED, len(tasks))


def _line(kind: Evidence, effect: Effect | None, unit: str, test: str, n: int) -> Line:
    if effect is None:
        return lacking(kind, "passes do not vary: every task was passed, or none", n)
    return Line(kind, effect.value, effect.low, effect.high, unit, n, test, effect.p, effect.detectable)


def by_year(tasks: pd.DataFrame) -> pd.DataFrame:
    """Pass rate by the year in which tasks were published.

    `tasks`: from `by_task`. Grain: one row a year with dated tasks, in order. Columns: `year`, `tasks`,
    `rate` (mean over tasks), `low`, `high` (Wilson, each task one outcome; a task of several answers
    counts as passed from half of them on).
    """
    dated = tasks[tasks["created"].notna()]
    rows = []
    for year, group in dated.groupby([pd.Timestamp(day).year for day in dated["created"]], sort=True):
        interval = wilson(int((group["passed"] >= 0.5).sum()), len(group))
        assert interval is not None
        rows.append(
            {
                "year": year,
                "tasks": len(group),
                "rate": float(group["passed"].mean()),
                "low": interval.low,
                "high": interval.high,
            }
        )
    return pd.DataFrame(rows, columns=["year", "tasks", "rate", "low", "high"])
