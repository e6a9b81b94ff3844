"""Two runs on the same tasks: is the one better, by how much, and what could have been seen?

The task is the unit: two runs that answer the same tasks are compared task by task, and what
they share cancels. Several attempts at a task become its mean first, so that no task weighs
more for having been tried more often, and so that attempts at one task are never taken for
independent of each other.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from scipy.stats import binom, binomtest, norm, permutation_test

from vimlib.analysis.stats.resampling import RESAMPLES, Estimate, cluster_bootstrap


def task_means(samples: Iterable[tuple[Hashable, float]]) -> dict[Hashable, float]:
    """The mean of each task's samples, from (task, value) pairs; tasks in the order they come."""
    found: dict[Hashable, list[float]] = {}
    for task, value in samples:
        found.setdefault(task, []).append(float(value))
    return {task: math.fsum(values) / len(values) for task, values in found.items()}


def task_differences(
    base: Iterable[tuple[Hashable, float]], candidate: Iterable[tuple[Hashable, float]]
) -> dict[Hashable, float]:
    """Candidate minus base, task by task, for the tasks of both; from (task, value) pairs."""
    left, right = task_means(base), task_means(candidate)
    return {task: right[task] - mean for task, mean in left.items() if task in right}


def mcnemar(gained: int, lost: int) -> float:
    """Exact McNemar test: two-sided p of `gained` against `lost` discordant pairs.

    Under the null hypothesis either way is equally likely, so gained is binomial(gained + lost,
    1/2); p = min(1, 2 · P(X <= min(gained, lost))). Without discordant pairs p is 1.
    Source: Q. McNemar, Psychometrika 12 (1947) 153-157, in its exact form; A. Agresti, Categorical
    Data Analysis, section on matched pairs. Raises `ValueError` for negative counts.
    """
    if gained < 0 or lost < 0:
        raise ValueError(f"{gained} gained, {lost} lost")
    return float(binomtest(gained, gained + lost).pvalue) if gained + lost else 1.0


def sign_flip(differences: Sequence[float], *, seed: int, flips: int = 9999) -> float | None:
    """Two-sided p of the hypothesis that paired differences lie evenly about 0; `None` without any.

    The sum of the differences against its distribution when each keeps or changes its sign
    with equal chance, twice the smaller tail: over all 2ⁿ ways where these are no more than `flips`,
    else over that many draws, a tail then being (as extreme + 1) / (flips + 1). With differences
    of -1, 0 and 1 alone, one attempt a task, it is McNemar's exact test, and computed as that.
    Source: R. A. Fisher, The Design of Experiments (1935), section 21; B. Phipson and
    G. K. Smyth, Statistical Applications in Genetics and Molecular Biology 9 (2010) 39, for the + 1.
    """
    values = np.asarray(differences, dtype=float)
    if not len(values):
        return None
    if np.isin(values, (-1.0, 0.0, 1.0)).all():
        return mcnemar(int((values > 0).sum()), int((values < 0).sum()))
    moved = values[values != 0]
    if len(moved) == 1:
        return 1.0
    tested = permutation_test(
        (moved,),
        lambda x, axis: np.sum(x, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=flips,
        rng=np.random.default_rng(seed),
    )
    return float(tested.pvalue)


def least_difference(epochs: Iterable[int]) -> float:
    """The least difference of 0 and 1 outcomes that a task can show: 1 / (usual number of its samples)."""
    return 1.0 / max(1.0, float(np.median([max(1, number) for number in epochs] or [1])))


def mean_difference(
    differences: Sequence[float],
    *,
    seed: int,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    least: float | None = None,
) -> Estimate | None:
    """The mean of paired differences, one a task, with its bootstrap interval; `None` without any.

    The interval is `cluster_bootstrap`'s over tasks. `least` is for differences of pass rates:
    the least that a task can show (`least_difference`). Where few tasks differ, a bootstrap
    takes what it has not seen for impossible (no discordant pair: an interval of nothing but 0).
    So draws are made from the tasks and, with the weight of two tasks together, from pseudo-tasks:
    one without a difference, and a half each with + and - `least`. With one attempt a task
    this is the half that A. Agresti and Y. Min add to each cell of the table of matched pairs
    (Statistics in Medicine 24 (2005) 729-740, doi:10.1002/sim.1781). The value itself stays the plain mean.
    Bounds are None where there is only one task, or nothing to judge spread by.
    """
    pseudo = None if least is None else np.array([[0.0], [0.0], [least], [-least]])
    return cluster_bootstrap(
        np.asarray(differences, dtype=float).reshape(-1, 1),
        lambda means: means[:, 0],
        seed=seed,
        confidence=confidence,
        resamples=resamples,
        pseudo=pseudo,
    )


def detectable_pairs(n: int, discordance: float, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """Smallest difference of pass rates that McNemar's exact test finds with this power in n tasks.

    `discordance`: share of tasks on which exactly one of the runs passes, as seen; a difference needs
    at least as many, so it is raised to the difference where that is larger. With discordance
    ψ and difference δ, the discordant pairs are binomial(n, ψ) and those gained of m of them binomial(m,
    (ψ + δ)/2ψ); the power is the chance that the test's p is at most alpha. `None` where even
    a difference of 1 would be missed (5 tasks at alpha 0.05).
    Source: the exact unconditional power in S. W. Duffy, Biometrics 40 (1984) 1005-1015;
    A. Agresti, Categorical Data Analysis. Raises `ValueError` for a share outside 0 to 1.
    """
    if not 0 <= discordance <= 1:
        raise ValueError(f"discordance {discordance} is not between 0 and 1")
    pairs = np.arange(n + 1)
    # Largest number on the smaller side that is significant among m pairs; -1: none is.
    critical = binom.ppf(alpha / 2, pairs, 0.5)
    critical = np.where(2 * binom.cdf(critical, pairs, 0.5) > alpha, critical - 1, critical)
    critical[0] = -1

    def reached(delta: float) -> float:
        share = max(discordance, delta)
        gained = (share + delta) / (2 * share)
        found = binom.cdf(critical, pairs, gained) + binom.sf(pairs - critical - 1, pairs, gained)
        return float((binom.pmf(pairs, n, share) * found).sum())

    if n < 1 or reached(1.0) < power:
        return None
    low, high = 0.0, 1.0
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) >= power else (middle, high)
    return high


def detectable_mean(
    differences: Sequence[float], alpha: float = 0.05, power: float = 0.8, least: float | None = None
) -> float | None:
    """Smallest mean difference that n tasks with this spread show with this power; `None` below 2 tasks.

    (z(1 - alpha/2) + z(power)) · s / √n, s the standard deviation of the differences; with `least`,
    of them and the pseudo-tasks of `mean_difference`. At most 1 with `least`.
    Source: E. Miller, Adding Error Bars to Evals (2024), arXiv:2411.00640, section 5.
    """
    values = np.asarray(differences, dtype=float)
    n = len(values)
    if n < 2:
        return None
    squares = float(((values - values.mean()) ** 2).sum())
    if least is not None:
        squares += least**2
    if squares == 0:
        return None
    found = float((norm.ppf(1 - alpha / 2) + norm.ppf(power)) * math.sqrt(squares / (n - 1) / n))
    return found if least is None else min(1.0, found)
