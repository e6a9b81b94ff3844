"""The statistics of the reports, pure: numbers in, numbers out.

Every function names its formula and its source, and answers `None` where there are no data: a
rate of nothing is not 0, and not NaN either. What is resampled takes a seed, so that the same
data give the same page.

rates: one rate. resampling: the bootstrap over clusters. paired: two runs on the same tasks.
unpaired: two rates of different things. several: many tests at once.
"""

from __future__ import annotations

from vimlib.analysis.stats.paired import (
    detectable_mean,
    detectable_pairs,
    least_difference,
    mcnemar,
    mean_difference,
    sign_flip,
    task_differences,
    task_means,
)
from vimlib.analysis.stats.rates import (
    Interval,
    clustered,
    clustered_counts,
    clustered_error,
    pass_at_k,
    pass_hat_k,
    percentile,
    wilson,
)
from vimlib.analysis.stats.resampling import Estimate, cluster_bootstrap, ratio, ratio_difference
from vimlib.analysis.stats.several import benjamini_hochberg, holm
from vimlib.analysis.stats.unpaired import Difference, detectable_rates, two_rates

__all__ = [
    "Difference",
    "Estimate",
    "Interval",
    "benjamini_hochberg",
    "cluster_bootstrap",
    "clustered",
    "clustered_counts",
    "clustered_error",
    "detectable_mean",
    "detectable_pairs",
    "detectable_rates",
    "holm",
    "least_difference",
    "mcnemar",
    "mean_difference",
    "pass_at_k",
    "pass_hat_k",
    "percentile",
    "ratio",
    "ratio_difference",
    "sign_flip",
    "task_differences",
    "task_means",
    "two_rates",
    "wilson",
]
