"""Effects at equal difficulty: comparisons within strata, tested by shuffling within strata.

Old tasks, popular tasks and drawn tasks are not as hard as the others, so pass rates are compared among
tasks of about the same difficulty. The test asks no model of how chances of passing come about: if age (or
popularity) does not matter at equal difficulty, any order of it within a stratum was as likely.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, rankdata

Floats = NDArray[np.float64]

RESAMPLES = 1999
SMALLEST_GROUP = 5
"""Tasks that each side of a comparison must have."""
STRATUM = 12
"""Tasks that a stratum should have at least."""
MOST_STRATA = 5


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect within strata."""

    value: float
    low: float
    high: float
    """The interval's bounds, by bootstrap over tasks."""
    p: float
    """Two-sided, by permutation within strata."""
    detectable: float
    """In the effect's unit, at alpha with a power of 80 %."""
    n: int
    """Tasks in strata that say something."""


def difficulty(*measures: Floats) -> Floats:
    """How hard tasks are, from measures of which more is harder: the mean of their ranks, 0 to 1.

    NaN is a measure that is not known; a task of which nothing is known gets the middle.
    """
    n = len(measures[0])
    ranks = []
    for measure in measures:
        known = ~np.isnan(measure)
        if known.sum() >= 2 and len(np.unique(measure[known])) > 1:
            rank = np.full(n, np.nan)
            rank[known] = (rankdata(measure[known]) - 0.5) / known.sum()
            ranks.append(rank)
    if not ranks:
        return np.full(n, 0.5)
    stacked = np.array(ranks)
    known = ~np.isnan(stacked)
    sums, counts = np.where(known, stacked, 0.0).sum(axis=0), known.sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), 0.5)


def strata(scores: Floats) -> NDArray[np.int64]:
    """Numbers of strata of like difficulty, from 0: as many as hold `STRATUM` tasks each, at most five."""
    parts = max(1, min(MOST_STRATA, len(scores) // STRATUM))
    places = (rankdata(scores, method="average") - 0.5) / max(1, len(scores))
    return np.minimum((places * parts).astype(np.int64), parts - 1)


@lru_cache(maxsize=32)
def _shuffles(groups: tuple[int, ...], seed: int, times: int) -> NDArray[np.int64]:
    """Orders of tasks, shuffled within groups: one a row."""
    labels = np.array(groups)
    draws = np.random.default_rng(seed).random((times, len(labels)))
    home = np.argsort(labels, kind="stable")
    shuffled = np.argsort(labels + draws, axis=1, kind="stable")
    orders = np.empty_like(shuffled)
    orders[:, home] = shuffled
    return orders


@lru_cache(maxsize=32)
def _resamples(groups: tuple[int, ...], seed: int, times: int) -> NDArray[np.int64]:
    """How often each task is drawn when as many as a group has are drawn from it: one draw a row."""
    labels = np.array(groups)
    draw = np.random.default_rng(seed)
    counts = np.zeros((times, len(labels)), dtype=np.int64)
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        chosen = draw.multinomial(len(members), np.full(len(members), 1 / len(members)), size=times)
        counts[:, members] = chosen
    return counts


def _residual(values: Floats, groups: NDArray[np.int64], scores: Floats) -> Floats:
    """What is left of values (last axis: tasks) without the means of strata and the slope on difficulty."""
    base = np.column_stack([groups[:, None] == np.unique(groups), scores])
    coefficients, *_ = np.linalg.lstsq(base.astype(float), values.T, rcond=None)
    left = values - (base @ coefficients).T
    assert isinstance(left, np.ndarray)
    return left


def slope(
    x: Floats, y: Floats, scores: Floats, *, seed: int, alpha: float = 0.05, resamples: int = RESAMPLES
) -> Effect | None:
    """How much y changes with x at equal difficulty; for x of 0 and 1 the difference of means.

    x, y: one number a task, or several rows of them that are shuffled together (several comparisons over
    the same tasks). The value is Σ x·r(y) / Σ x·r(x), r leaving out the mean of the stratum and a
    linear trend in `scores`; p by shuffling x within strata, two-sided with the + 1 of Phipson and
    Smyth (2010); the interval from percentiles of a bootstrap over tasks. `None` where x or y
    does not vary at equal difficulty.
    Source: D. Freedman and D. Lane, Journal of Business & Economic Statistics 1 (1983) 292-298, for
    testing by permutation beside covariates.
    """
    xs, ys = np.atleast_2d(np.asarray(x, float)), np.atleast_2d(np.asarray(y, float))
    groups = strata(scores)
    left_x, left_y = _residual(xs, groups, scores), _residual(ys, groups, scores)
    size = float((xs * left_x).sum())
    if size < 1e-9 or float((left_y**2).sum()) < 1e-12:
        return None
    value = float((xs * left_y).sum()) / size
    labels = tuple(groups.tolist())
    orders = _shuffles(labels, seed, resamples)
    shuffled = np.zeros(resamples)
    for row_x, row_y in zip(xs, left_y, strict=True):
        shuffled += row_x[orders] @ row_y
    p = float((np.abs(shuffled) >= abs(value) * size - 1e-9).sum() + 1) / (resamples + 1)
    counts = _resamples(labels, seed, resamples)
    tops = counts @ (left_x * left_y).sum(axis=0)
    sizes = counts @ (left_x**2).sum(axis=0)
    drawn = tops[sizes > 1e-9] / sizes[sizes > 1e-9]
    low, high = np.quantile(drawn, [0.025, 0.975])
    spread = float(np.std(shuffled)) / size
    least = float(norm.ppf(1 - alpha / 2) + norm.ppf(0.8)) * spread
    return Effect(value, min(float(low), value), max(float(high), value), p, least, xs.shape[1])


def _ranks_left(values: Floats, groups: NDArray[np.int64], scores: Floats) -> Floats:
    """Ranks within strata, without their mean and without a linear trend in difficulty; rows of values."""
    ranks = np.zeros(values.shape)
    for group in np.unique(groups):
        members = groups == group
        ranks[:, members] = rankdata(values[:, members], axis=1) / members.sum()
    return _residual(ranks, groups, scores)


def correlation(
    x: Floats, y: Floats, scores: Floats, *, seed: int, alpha: float = 0.05, resamples: int = RESAMPLES
) -> Effect | None:
    """Rank correlation of x and y at equal difficulty: Spearman's, with ranks taken within strata.

    From the ranks the mean of the stratum and a linear trend in `scores` are left out; p by shuffling x's
    within strata, two-sided; the interval by a bootstrap over tasks. `None` where one does not vary.
    """
    groups = strata(scores)
    rx, ry = _ranks_left(np.array([x, y], dtype=float), groups, scores)
    size = math.sqrt(float((rx**2).sum() * (ry**2).sum()))
    if size < 1e-9:
        return None
    value = float(rx @ ry) / size
    labels = tuple(groups.tolist())
    shuffled = (rx[_shuffles(labels, seed, resamples)] @ ry) / size
    p = float((np.abs(shuffled) >= abs(value) - 1e-9).sum() + 1) / (resamples + 1)
    counts = _resamples(labels, seed, resamples)
    sizes = np.sqrt((counts @ rx**2) * (counts @ ry**2))
    drawn = (counts @ (rx * ry))[sizes > 1e-9] / sizes[sizes > 1e-9]
    low, high = np.quantile(drawn, [0.025, 0.975])
    least = float(norm.ppf(1 - alpha / 2) + norm.ppf(0.8)) * float(np.std(shuffled))
    return Effect(value, min(float(low), value), max(float(high), value), p, min(least, 1.0), len(x))
