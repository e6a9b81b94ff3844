"""Two rates of different things, such as old and new tasks of one run: nothing to pair."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.stats import fisher_exact


@dataclass(frozen=True, slots=True)
class Difference:
    """The second rate minus the first, with its interval and test."""

    value: float
    low: float
    high: float
    p_value: float


def two_rates(
    successes_1: int, n_1: int, successes_2: int, n_2: int, confidence: float = 0.95
) -> Difference | None:
    """The second rate minus the first, of independent outcomes; `None` where one of them has none.

    Interval: Newcombe's hybrid of the two Wilson intervals (R. G. Newcombe, Statistics in Medicine
    17 (1998) 873-890, method 10). p: Fisher's exact test, two-sided. Raises `ValueError` for
    impossible counts.
    """
    from statsmodels.stats.proportion import confint_proportions_2indep

    for successes, n in ((successes_1, n_1), (successes_2, n_2)):
        if not 0 <= successes <= n:
            raise ValueError(f"{successes} successes of {n}")
    if n_1 == 0 or n_2 == 0:
        return None
    low, high = confint_proportions_2indep(
        successes_2, n_2, successes_1, n_1, method="newcomb", compare="diff", alpha=1 - confidence
    )
    table = [[successes_1, n_1 - successes_1], [successes_2, n_2 - successes_2]]
    value = successes_2 / n_2 - successes_1 / n_1
    # At rates of 0 and 1 a bound is the value itself; rounding must not put it beside that.
    return Difference(
        value, min(float(low), value), max(float(high), value), float(fisher_exact(table).pvalue)
    )


def detectable_rates(
    n_1: int, n_2: int, rate: float, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """Smallest rise above `rate` (falls for rates over 1/2) that samples of n_1 and n_2 show with this power.

    With Cohen's h = (z(1 - alpha/2) + z(power)) · √(1/n_1 + 1/n_2) it is |sin²(asin √rate ± h/2) - rate|;
    `None` where even the way to 1 (or 0) would be missed, or a sample is empty.
    Source: J. Cohen, Statistical Power Analysis for the Behavioral Sciences (1988), chapter 6.
    """
    from scipy.stats import norm

    if not 0 <= rate <= 1:
        raise ValueError(f"rate {rate} is not between 0 and 1")
    if n_1 < 1 or n_2 < 1:
        return None
    h = float((norm.ppf(1 - alpha / 2) + norm.ppf(power)) * math.sqrt(1 / n_1 + 1 / n_2))
    if rate > 0.5:
        rate = 1 - rate
    angle = math.asin(math.sqrt(rate)) + h / 2
    return None if angle > math.pi / 2 else math.sin(angle) ** 2 - rate
