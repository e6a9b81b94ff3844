"""The bootstrap over clusters: whole tasks are drawn anew, with all that belongs to them.

Answers to one task resemble each other, and the two runs of a comparison answer the same
tasks. Drawing tasks rather than answers keeps both kinds of likeness in every resample.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm, t

RESAMPLES = 4000
"""Enough that the ends of a 95 % interval move by less than a tenth of a standard error."""

_AT_ONCE = 2_000_000
"""Draws held in memory at a time."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and where it may lie, in the number's own unit."""

    value: float
    low: float | None
    """None: no bound on this side, or too few clusters to tell."""
    high: float | None
    n: int
    """Clusters that it rests on."""


def cluster_bootstrap(
    rows: np.ndarray,
    statistic: Callable[[np.ndarray], np.ndarray],
    *,
    seed: int,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    pseudo: np.ndarray | None = None,
) -> Estimate | None:
    """A statistic of sums over clusters, with its bootstrap interval; `None` without clusters.

    `rows`: (clusters, columns), each row what one cluster adds to each sum. `statistic`: from
    means (draws, columns) over clusters to one value a draw; it may give inf, which is sorted to its end
    and makes that bound None, or NaN where a draw leaves it undefined. Where more draws are
    undefined than lie beyond a bound, both bounds are None.

    The interval is the expanded percentile interval: the quantiles at a' and 1 - a' of the
    statistic over draws of as many clusters with replacement, with a' = Φ(-√(n/(n-1)) ·
    t(n-1; (1 + confidence)/2)), which mends the percentile interval's being too narrow in
    small samples. Source: T. Hesterberg, The American Statistician 69 (2015) 371-386, doi:
    10.1080/00031305.2015.1089789, section 5. With one cluster, or where every cluster is the
    same and there is no `pseudo`, there is nothing to judge spread by: both bounds are None.

    `pseudo`: (rows, columns), further clusters that are drawn from with half the weight of a
    real one each, so that what was not seen is not taken for impossible. They do not enter the value.
    """
    rows = np.atleast_2d(np.asarray(rows, dtype=float))
    n = len(rows)
    if n == 0:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(statistic(rows.mean(axis=0, keepdims=True))[0])
    if not math.isfinite(value):
        return None
    alike = bool((rows == rows[0]).all())
    if n == 1 or (alike and pseudo is None):
        return Estimate(value, None, None, n)

    pool, size = rows, n
    if pseudo is not None:
        pool = np.concatenate([np.repeat(rows, 2, axis=0), pseudo])
        size = n + len(pseudo) // 2
    rng = np.random.default_rng(seed)
    found: list[np.ndarray] = []
    left = resamples
    while left:
        now = min(left, max(1, _AT_ONCE // size))
        drawn = rng.integers(len(pool), size=(now, size))
        means = np.stack([column[drawn].mean(axis=1) for column in pool.T], axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            found.append(statistic(means))
        left -= now
    values = np.concatenate(found)
    tail = float(norm.cdf(-math.sqrt(size / (size - 1)) * t.ppf((1 + confidence) / 2, size - 1)))
    undefined = np.isnan(values)
    if undefined.mean() > tail:
        return Estimate(value, None, None, n)
    # Not interpolated: between a number and inf there is nothing.
    low = float(np.quantile(values[~undefined], tail, method="lower"))
    high = float(np.quantile(values[~undefined], 1 - tail, method="higher"))
    # A mean of many equal numbers may miss them in the last digit.
    return Estimate(
        value,
        min(low, value) if math.isfinite(low) else None,
        max(high, value) if math.isfinite(high) else None,
        n,
    )


def ratio(
    parts: Iterable[tuple[Hashable, float, float]],
    *,
    seed: int,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
) -> Estimate | None:
    """A sum divided by another, such as tokens by passes, with its interval; `None` where it is x/0.

    Takes (cluster, numerator, denominator) triples, summed in each cluster; denominators are not
    negative. The bound is None on a side where draws without any denominator lie: nobody can
    say then how large the ratio may be. Formula: `cluster_bootstrap`; for a ratio, B. Efron and
    R. Tibshirani, An Introduction to the Bootstrap (1993), section 10.3.
    """
    rows = _summed(parts)
    return cluster_bootstrap(
        rows, lambda means: means[:, 0] / means[:, 1], seed=seed, confidence=confidence, resamples=resamples
    )


def ratio_difference(
    base: Iterable[tuple[Hashable, float, float]],
    candidate: Iterable[tuple[Hashable, float, float]],
    *,
    seed: int,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
) -> Estimate | None:
    """The candidate's ratio minus the base's, over the clusters that both have; `None` where one is x/0.

    Takes triples as `ratio` does; a draw takes a cluster with both its sides.
    """
    left, right = _by_cluster(base), _by_cluster(candidate)
    rows = np.array([[*left[one], *right[one]] for one in left if one in right]).reshape(-1, 4)
    return cluster_bootstrap(
        rows,
        lambda means: means[:, 2] / means[:, 3] - means[:, 0] / means[:, 1],
        seed=seed,
        confidence=confidence,
        resamples=resamples,
    )


def _by_cluster(parts: Iterable[tuple[Hashable, float, float]]) -> dict[Hashable, tuple[float, float]]:
    sums: dict[Hashable, tuple[float, float]] = {}
    for cluster, numerator, denominator in parts:
        above, below = sums.get(cluster, (0.0, 0.0))
        sums[cluster] = (above + float(numerator), below + float(denominator))
    return sums


def _summed(parts: Iterable[tuple[Hashable, float, float]]) -> np.ndarray:
    return np.array(list(_by_cluster(parts).values())).reshape(-1, 2)
