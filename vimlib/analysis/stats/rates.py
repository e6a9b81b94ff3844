"""One rate and where it may lie; percentiles; repeated attempts at one task."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np


@dataclass(frozen=True, slots=True)
class Interval:
    """A rate and where it may lie. All three are between 0 and 1."""

    rate: float
    low: float
    high: float
    n: int
    """Outcomes it rests on."""


def _wilson(rate: float, n: float, confidence: float) -> tuple[float, float]:
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    middle = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    # At 0 and 1 the bounds are exact; rounding must not put them beside it.
    low = 0.0 if rate == 0 else max(0.0, middle - half)
    high = 1.0 if rate == 1 else min(1.0, middle + half)
    return low, high


def wilson(successes: int, n: int, confidence: float = 0.95) -> Interval | None:
    """A rate of independent outcomes with its Wilson score interval; `None` for n = 0.

    With p = successes / n and z the normal quantile of (1 + confidence) / 2, the bounds are
    (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n).
    Source: E. B. Wilson, JASA 22 (1927) 209-212, doi:10.1080/01621459.1927.10502953.

    Raises `ValueError` unless 0 <= successes <= n.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n}")
    if n == 0:
        return None
    return Interval(successes / n, *_wilson(successes / n, n, confidence), n)


def clustered_error(outcomes: Iterable[tuple[Hashable, bool | float]]) -> float | None:
    """Standard error of a mean whose outcomes come in clusters; `None` without data.

    Takes (cluster, outcome) pairs, for epochs the cluster being the task. With mean m over n
    outcomes it is √(Σ over clusters of (Σ in the cluster of (x - m))²) / n: outcomes of one
    cluster may depend on each other in any way, clusters are independent. It is the plain
    √(p(1-p)/n) where each cluster has one outcome, and is too small with few clusters.
    Source: E. Miller, Adding Error Bars to Evals (2024), arXiv:2411.00640, section 2.2;
    K.-Y. Liang and S. L. Zeger, Biometrika 73 (1986) 13-22.
    """
    pairs = [(cluster, float(value)) for cluster, value in outcomes]
    if not pairs:
        return None
    mean = math.fsum(value for _, value in pairs) / len(pairs)
    sums: dict[Hashable, list[float]] = defaultdict(list)
    for cluster, value in pairs:
        sums[cluster].append(value - mean)
    return math.sqrt(math.fsum(math.fsum(values) ** 2 for values in sums.values())) / len(pairs)


def clustered(outcomes: Iterable[tuple[Hashable, bool]], confidence: float = 0.95) -> Interval | None:
    """A rate of outcomes in clusters with its interval; `None` without data.

    Takes (cluster, success) pairs, for epochs the cluster being the task. The Wilson interval
    with n divided by the design effect D = (clustered error)² / (p(1-p)/n): as many
    independent outcomes as would be as uncertain. D is not let below 1, nor n/D below 1. Where
    the clusters say nothing about D (all outcomes equal, or one cluster only), each cluster
    counts as one outcome, the careful choice. With one outcome a cluster it is `wilson`.
    Source: N. Dean and M. Pagano, Journal of Survey Statistics and Methodology 3 (2015)
    484-503, doi:10.1093/jssam/smv024; L. Kish, Survey Sampling (1965), for the design effect.
    """
    pairs = [(cluster, bool(value)) for cluster, value in outcomes]
    n = len(pairs)
    if n == 0:
        return None
    rate = sum(value for _, value in pairs) / n
    clusters = len({cluster for cluster, _ in pairs})
    error = clustered_error(pairs)
    if rate in (0.0, 1.0) or clusters == 1 or error is None:
        effective = float(clusters)
    else:
        effect = max(1.0, error**2 / (rate * (1 - rate) / n))
        # Rounding must not tell one outcome a cluster from independent outcomes.
        effective = float(n) if clusters == n else max(1.0, n / effect)
    return Interval(rate, *_wilson(rate, effective, confidence), n)


def clustered_counts(
    outcomes: Sequence[int] | np.ndarray, successes: Sequence[int] | np.ndarray, confidence: float = 0.95
) -> Interval | None:
    """`clustered` from the outcomes and successes of each cluster; `None` without outcomes.

    The same formula, for callers that have counts instead of millions of pairs. Clusters without an
    outcome are left out.
    """
    sizes, good = np.asarray(outcomes, float), np.asarray(successes, float)
    sizes, good = sizes[sizes > 0], good[sizes > 0]
    n, clusters = float(sizes.sum()), len(sizes)
    if clusters == 0:
        return None
    rate = float(good.sum() / n)
    if rate in (0.0, 1.0) or clusters == 1:
        effective = float(clusters)
    elif clusters == n:
        effective = n
    else:
        error = float(np.sqrt(np.sum((good - sizes * rate) ** 2)) / n)
        effective = max(1.0, n / max(1.0, error**2 / (rate * (1 - rate) / n)))
    return Interval(rate, *_wilson(rate, effective, confidence), int(n))


def percentile(values: Iterable[float], percent: float) -> float | None:
    """A percentile, linearly interpolated between the sorted values; `None` without values.

    Of n sorted values it is the one at place (n - 1) · percent / 100, counted from 0
    (definition 7 of R. J. Hyndman and Y. Fan, The American Statistician 50 (1996) 361-365).
    Missing values are for the caller to leave out: NaN raises `ValueError`, and so does a
    percent outside 0 to 100.
    """
    numbers = [float(value) for value in values]
    if any(math.isnan(number) for number in numbers):
        raise ValueError("a missing value among the numbers of a percentile")
    if not 0 <= percent <= 100:
        raise ValueError(f"percentile {percent} is not between 0 and 100")
    if not numbers:
        return None
    return float(np.percentile(numbers, percent, method="linear"))


def pass_at_k(n: int, passed: int, k: int) -> float | None:
    """Chance that at least one of k attempts at a task passes, from n attempts of which some passed.

    1 - C(n - passed, k) / C(n, k), unbiased; `None` with fewer than k attempts.
    Source: M. Chen et al., Evaluating Large Language Models Trained on Code (2021),
    arXiv:2107.03374, equation 1. Raises `ValueError` unless 0 <= passed <= n and k >= 1.
    """
    _attempts(n, passed, k)
    return None if n < k else 1 - math.comb(n - passed, k) / math.comb(n, k)


def pass_hat_k(n: int, passed: int, k: int) -> float | None:
    """Chance that all k attempts at a task pass (pass^k), from n attempts of which some passed.

    C(passed, k) / C(n, k), unbiased; `None` with fewer than k attempts.
    Source: S. Yao et al., tau-bench (2024), arXiv:2406.12045, section 3.
    Raises `ValueError` unless 0 <= passed <= n and k >= 1.
    """
    _attempts(n, passed, k)
    return None if n < k else math.comb(passed, k) / math.comb(n, k)


def _attempts(n: int, passed: int, k: int) -> None:
    if not 0 <= passed <= n or k < 1:
        raise ValueError(f"{passed} passes of {n} attempts, k = {k}")
