"""Statistics against sums done by hand, against scipy and statsmodels where they have the same formula,
and by simulation where a promise is about chance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, fisher_exact
from statsmodels.stats import contingency_tables

from vimlib.analysis.stats import (
    benjamini_hochberg,
    clustered,
    clustered_error,
    detectable_mean,
    detectable_pairs,
    detectable_rates,
    holm,
    least_difference,
    mcnemar,
    mean_difference,
    pass_at_k,
    pass_hat_k,
    percentile,
    ratio,
    ratio_difference,
    sign_flip,
    task_differences,
    two_rates,
    wilson,
)


@pytest.mark.parametrize(("successes", "n", "low", "high"), [(80, 90, 0.807, 0.939), (80, 100, 0.711, 0.867)])
def test_wilson_gives_the_known_intervals(successes: int, n: int, low: float, high: float) -> None:
    found = wilson(successes, n)
    assert found is not None
    assert found.rate == successes / n
    assert found.n == n
    assert (round(found.low, 3), round(found.high, 3)) == (low, high)


@given(st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_scipys(case: tuple[int, int]) -> None:
    successes, n = case
    found = wilson(successes, n)
    expected = binomtest(successes, n).proportion_ci(method="wilson")
    assert found is not None
    assert found.low == pytest.approx(expected.low, abs=1e-12)
    assert found.high == pytest.approx(expected.high, abs=1e-12)
    assert 0 <= found.low <= found.rate <= found.high <= 1


def test_all_and_none_have_bounds_that_are_exact_on_their_side() -> None:
    none, every = wilson(0, 134), wilson(48, 48)
    assert none is not None
    assert every is not None
    assert none.low == 0.0
    assert 0.02 < none.high < 0.03
    assert every.high == 1.0
    assert 0.92 < every.low < 0.93


def test_nothing_has_no_rate() -> None:
    assert wilson(0, 0) is None
    assert clustered([]) is None
    assert clustered_error([]) is None
    assert percentile([], 95) is None


@pytest.mark.parametrize(("successes", "n"), [(-1, 3), (4, 3)])
def test_impossible_counts_are_refused(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="successes"):
        wilson(successes, n)


def test_clustered_error_by_hand() -> None:
    # Mean 3/4. Task a: 1/4 + 1/4 = 1/2; task b: 1/4 - 3/4 = -1/2. √(1/4 + 1/4) / 4.
    pairs = [("a", True), ("a", True), ("b", True), ("b", False)]
    assert clustered_error(pairs) == pytest.approx(math.sqrt(0.5) / 4)
    # One outcome a task: √(p(1-p)/n) = √(3/16 / 4).
    assert clustered_error(enumerate([True, True, True, False])) == pytest.approx(math.sqrt(3) / 8)


def test_one_epoch_is_the_plain_interval() -> None:
    outcomes = [True] * 80 + [False] * 10
    assert clustered(enumerate(outcomes)) == wilson(80, 90)


def test_epochs_that_only_repeat_add_nothing() -> None:
    # 3 of 4 tasks, each 5 times the same: as uncertain as 3 of 4.
    pairs = [(task, task < 3) for task in range(4) for _ in range(5)]
    found, single = clustered(pairs), wilson(3, 4)
    assert found is not None
    assert single is not None
    assert found.n == 20
    assert found.rate == 0.75
    assert found.low == pytest.approx(single.low)
    assert found.high == pytest.approx(single.high)


def test_design_effect_by_hand() -> None:
    # Tasks (1,1), (1,0), (0,0): mean 1/2, cluster sums 1, 0, -1, error² = 2/36;
    # plain error² = (1/4)/6 = 1/24; effect 4/3; so 6 outcomes count as 4.5.
    pairs = [("a", True), ("a", True), ("b", True), ("b", False), ("c", False), ("c", False)]
    found = clustered(pairs)
    z = 1.959963984540054
    half = z / (1 + z * z / 4.5) * math.sqrt(0.25 / 4.5 + z * z / (4 * 4.5**2))
    assert found is not None
    assert found.low == pytest.approx(0.5 - half)
    assert found.high == pytest.approx(0.5 + half)


def test_epochs_that_differ_more_than_chance_are_not_taken_as_more_data() -> None:
    pairs = [(task, epoch == 0) for task in range(10) for epoch in range(2)]
    assert clustered(pairs) == wilson(10, 20)


def test_all_passes_and_a_single_task_count_tasks() -> None:
    every = clustered((task, True) for task in range(10) for _ in range(3))
    single = wilson(10, 10)
    assert every is not None
    assert single is not None
    assert (every.low, every.high, every.n) == (single.low, single.high, 30)
    one_task = clustered([("a", True), ("a", False), ("a", False), ("a", True)])
    assert one_task is not None
    assert one_task.high - one_task.low > 0.8


def test_percentile_is_interpolated() -> None:
    assert percentile([0.1, 0.2, 0.3, 0.4], 95) == pytest.approx(0.385)
    assert percentile([0.4, 0.1, 0.3, 0.2], 50) == pytest.approx(0.25)
    assert percentile([7.0], 95) == 7.0


def test_percentile_refuses_missing_values_and_odd_percents() -> None:
    with pytest.raises(ValueError, match="missing"):
        percentile([1.0, math.nan], 50)
    with pytest.raises(ValueError, match="between"):
        percentile([1.0], 101)


# --- repeated attempts at one task


def test_pass_at_k_and_pass_hat_k_by_hand() -> None:
    # 2 of 4 pass. Of the 6 pairs one is of two failures, one of two passes.
    assert pass_at_k(4, 2, 2) == pytest.approx(5 / 6)
    assert pass_hat_k(4, 2, 2) == pytest.approx(1 / 6)
    assert pass_at_k(4, 2, 1) == pass_hat_k(4, 2, 1) == 0.5
    assert (pass_at_k(3, 0, 3), pass_hat_k(3, 3, 3)) == (0.0, 1.0)


def test_fewer_attempts_than_k_say_nothing() -> None:
    assert pass_at_k(4, 4, 5) is None
    assert pass_hat_k(0, 0, 1) is None
    for rule in (pass_at_k, pass_hat_k):
        with pytest.raises(ValueError, match="passes of"):
            rule(3, 4, 1)


# --- two runs on the same tasks


def test_mcnemar_by_hand() -> None:
    # 5 against 1: 2 · (C(6,0) + C(6,1)) / 2⁶ = 14/64.
    assert mcnemar(5, 1) == pytest.approx(14 / 64)
    assert mcnemar(1, 5) == mcnemar(5, 1)
    assert mcnemar(6, 0) == pytest.approx(2 / 64)
    assert mcnemar(3, 3) == 1.0
    assert mcnemar(0, 0) == 1.0
    with pytest.raises(ValueError, match="lost"):
        mcnemar(1, -1)


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_is_statsmodels(gained: int, lost: int) -> None:
    expected = contingency_tables.mcnemar([[7, gained], [lost, 9]], exact=True).pvalue
    assert mcnemar(gained, lost) == pytest.approx(expected)


def test_differences_are_of_task_means_and_of_common_tasks_alone() -> None:
    base = [("a", 1), ("b", 0), ("b", 1), ("c", 1)]
    candidate = [("b", 1), ("b", 1), ("b", 1), ("a", 0), ("d", 1)]
    assert task_differences(base, candidate) == {"a": -1.0, "b": 0.5}
    assert task_differences(base, []) == {}


def test_one_attempt_a_task_makes_the_sign_flip_test_mcnemars() -> None:
    assert sign_flip([1, 1, 1, 1, 1, -1, *[0] * 42], seed=1) == mcnemar(5, 1)
    assert sign_flip([0, 0], seed=1) == 1.0
    assert sign_flip([], seed=1) is None


def test_sign_flip_by_hand() -> None:
    # Sums of ±1/2 ±1/2 ±1: as far from 0 as 2 are 2 of the 8 ways.
    assert sign_flip([0.5, 0.5, 0.0, 1.0], seed=1) == pytest.approx(2 / 8)
    # 1/2 + 1/2 - 1 = 0: every way is as extreme.
    assert sign_flip([0.5, 0.5, -1.0], seed=1) == pytest.approx(1.0)
    assert sign_flip([0.25], seed=1) == 1.0


def test_many_differences_are_flipped_at_random_by_the_seed() -> None:
    values = [0.5, -0.5, 0.5, 0.25] * 10
    assert sign_flip(values, seed=3) == sign_flip(values, seed=3)
    spread = math.sqrt(sum(value**2 for value in values))
    normal = 2 * NormalDist().cdf(-sum(values) / spread)
    assert sign_flip(values, seed=3) == pytest.approx(normal, abs=0.02)


def test_mean_difference_agrees_with_theory_on_many_tasks() -> None:
    values = np.random.default_rng(5).normal(0.1, 0.4, 400)
    found = mean_difference(values.tolist(), seed=1, resamples=20_000)
    assert found is not None
    assert found.value == pytest.approx(values.mean())
    error = values.std(ddof=1) / 20
    assert found.low == pytest.approx(values.mean() - 1.96 * error, abs=0.04 * error * 4)
    assert found.high == pytest.approx(values.mean() + 1.96 * error, abs=0.04 * error * 4)
    assert found.n == 400
    assert mean_difference(values.tolist(), seed=1, resamples=20_000) == found


def test_no_discordant_pair_is_no_proof_of_equality() -> None:
    found = mean_difference([0.0] * 48, seed=1, least=1.0)
    assert found is not None
    assert found.value == 0.0
    # The rule of three: what happened in none of 48 may be as frequent as 3 in 48.
    assert found.low == pytest.approx(-3 / 48, abs=0.03)
    assert found.high == pytest.approx(3 / 48, abs=0.03)
    without = mean_difference([0.0] * 48, seed=1)
    assert without is not None
    assert (without.low, without.high) == (None, None)


@pytest.mark.parametrize("least", [None, 1.0])
def test_one_task_or_none_has_no_interval(least: float | None) -> None:
    one = mean_difference([1.0], seed=1, least=least)
    assert one is not None
    assert (one.value, one.low, one.high, one.n) == (1.0, None, None, 1)
    assert mean_difference([], seed=1, least=least) is None


def test_least_difference_is_one_sample_of_the_usual_number() -> None:
    assert least_difference([1, 1, 1]) == 1.0
    assert least_difference([4, 4, 1]) == 0.25
    assert least_difference([]) == 1.0


# --- what could have been seen


def test_detectable_pairs_by_hand() -> None:
    # All discordant pairs go one way, so 6 of them are needed: the δ at which 6 or more come in 80 %.
    found = detectable_pairs(48, 6 / 48)
    assert found is not None
    assert binomtest(6, 48, found, alternative="greater").pvalue == pytest.approx(0.8, abs=0.001)
    assert 0.15 < found < 0.17
    assert detectable_pairs(5, 0.5) is None
    assert detectable_pairs(0, 0.0) is None
    with pytest.raises(ValueError, match="discordance"):
        detectable_pairs(48, 1.5)


def test_detectable_pairs_has_the_power_that_it_promises() -> None:
    n, share = 60, 0.4
    delta = detectable_pairs(n, share)
    assert delta is not None
    rng = np.random.default_rng(11)
    counts = rng.multinomial(n, [(share + delta) / 2, (share - delta) / 2, 1 - share], size=2000)
    pairs, times = np.unique(counts[:, :2], axis=0, return_counts=True)
    found = sum(int(k) for (b, c), k in zip(pairs, times, strict=True) if mcnemar(int(b), int(c)) <= 0.05)
    assert found / 2000 == pytest.approx(0.8, abs=3 * math.sqrt(0.16 / 2000))


def test_more_tasks_see_smaller_differences() -> None:
    found = [detectable_pairs(n, 0.2) or 1.0 for n in (24, 48, 134, 612)]
    assert found == sorted(found, reverse=True)


def test_detectable_mean_by_hand() -> None:
    # s = 1/2 over 4 tasks: (1.96 + 0.8416) · (1/2) / 2 with s² = ((1/4)·4)/3.
    values = [0.5, -0.5, 0.5, -0.5]
    s = math.sqrt(1 / 3)
    assert detectable_mean(values) == pytest.approx((1.959964 + 0.841621) * s / 2, rel=1e-5)
    assert detectable_mean([0.1, 0.1]) is None
    assert detectable_mean([0.0, 0.0], least=1.0) == 1.0
    assert detectable_mean([1.0]) is None


# --- ratios


def test_ratio_is_of_sums_and_not_a_mean_of_ratios() -> None:
    found = ratio([("a", 10, 1), ("a", 20, 1), ("b", 30, 0), ("c", 40, 3)], seed=1)
    assert found is not None
    assert found.value == 100 / 5
    assert found.n == 3
    assert ratio([("a", 10, 0), ("b", 5, 0)], seed=1) is None
    assert ratio([], seed=1) is None


def test_a_ratio_that_may_have_no_denominator_has_no_upper_bound() -> None:
    # One pass among 10 tasks: many draws hold none.
    found = ratio([(task, 100, task == 0) for task in range(10)], seed=1)
    assert found is not None
    assert found.value == 1000
    assert found.high is None
    assert found.low is not None
    assert 0 < found.low < 1000


def test_ratio_agrees_with_the_delta_method() -> None:
    rng = np.random.default_rng(2)
    below = rng.integers(1, 4, 300).astype(float)
    above = below * 50 + rng.normal(0, 20, 300)
    found = ratio(zip(range(300), above, below, strict=True), seed=1)
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    centre = above.sum() / below.sum()
    error = np.sqrt(((above - centre * below) ** 2).sum()) / below.sum()
    assert found.value == pytest.approx(centre)
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.1)


def test_difference_of_ratios_is_paired() -> None:
    base = [(task, 100.0 + task, 1.0) for task in range(50)]
    dearer = [(task, 110.0 + task, 1.0) for task in [*range(50), 99]]
    found = ratio_difference(base, dearer, seed=1)
    assert found is not None
    assert (found.n, found.value) == (50, pytest.approx(10))
    assert found.low == pytest.approx(10)
    assert found.high == pytest.approx(10)
    assert ratio_difference(base, [(99, 1.0, 1.0)], seed=1) is None
    assert ratio_difference(base, [(task, 1.0, 0.0) for task in range(50)], seed=1) is None


def test_draws_that_are_undefined_leave_no_bounds() -> None:
    found = ratio_difference(
        [(task, 1.0, float(task == 0)) for task in range(6)],
        [(task, 1.0, float(task == 0)) for task in range(6)],
        seed=1,
    )
    assert found is not None
    assert (found.value, found.low, found.high) == (0.0, None, None)


# --- many tests at once


def test_corrections_by_hand() -> None:
    given = [0.01, 0.04, None, 0.03, 0.005]
    assert holm(given) == [pytest.approx(0.03), pytest.approx(0.06), None, pytest.approx(0.06), 0.02]
    assert benjamini_hochberg(given) == [
        pytest.approx(0.02),
        pytest.approx(0.04),
        None,
        pytest.approx(0.04),
        pytest.approx(0.02),
    ]
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    for correct in (holm, benjamini_hochberg):
        assert correct([]) == []
        assert correct([None]) == [None]
        with pytest.raises(ValueError, match="between"):
            correct([1.5])


# --- two rates of different things


def test_two_rates_give_newcombes_interval() -> None:
    # Newcombe (1998), table II, contrast (a): 56/70 - 48/80, method 10: 0.0524 to 0.3339.
    found = two_rates(48, 80, 56, 70)
    assert found is not None
    assert found.value == pytest.approx(0.2)
    assert (round(found.low, 4), round(found.high, 4)) == (0.0524, 0.3339)
    assert found.p_value == pytest.approx(fisher_exact([[48, 32], [56, 14]]).pvalue)
    assert two_rates(0, 0, 1, 2) is None
    with pytest.raises(ValueError, match="successes"):
        two_rates(3, 2, 0, 1)


def test_detectable_rates_by_hand() -> None:
    # h = 2.801585 · √(2/100) = 0.396204; sin²(asin √0.2 + h/2) - 0.2.
    assert detectable_rates(100, 100, 0.2) == pytest.approx(
        math.sin(math.asin(math.sqrt(0.2)) + 0.396204 / 2) ** 2 - 0.2, rel=1e-5
    )
    assert detectable_rates(100, 100, 0.8) == pytest.approx(detectable_rates(100, 100, 0.2))
    assert detectable_rates(2, 2, 0.5) is None
    assert detectable_rates(0, 10, 0.5) is None


# --- level and coverage, by simulation

COMPARISONS = 2000


@dataclass(frozen=True)
class World:
    """Two runs without a difference on the whole, on tasks that are easy or hard for both."""

    tasks: int
    base_epochs: tuple[int, int]
    """Least and most attempts that the base makes at a task."""
    candidate_epochs: tuple[int, int]
    rate: float
    leaning: float
    """Standard deviation of how much more a task suits one of the runs; its mean is 0."""
    shift: float = 0.0
    """By how much the candidate is better on every task."""

    def differences(self, rng: np.random.Generator) -> tuple[np.ndarray, list[int]]:
        easy = rng.beta(self.rate * 2, (1 - self.rate) * 2, self.tasks) * (1 - self.shift)
        lean = rng.normal(0, self.leaning, self.tasks) / 2
        counts, means = [], []
        for (least, most), chance in (
            (self.base_epochs, easy - lean),
            (self.candidate_epochs, easy + lean + self.shift),
        ):
            number = rng.integers(least, most + 1, self.tasks)
            means.append(rng.binomial(number, np.clip(chance, 0, 1)) / number)
            counts += number.tolist()
        return means[1] - means[0], counts


@pytest.mark.parametrize(
    ("world", "tested"),
    [
        (World(48, (1, 1), (1, 1), 0.5, 0.0), True),
        (World(48, (1, 5), (2, 4), 0.5, 0.3), True),
        (World(60, (1, 1), (3, 6), 0.2, 0.0), True),
        (World(48, (2, 2), (1, 4), 0.4, 0.0, shift=0.15), False),
    ],
    ids=["one attempt a task", "unequal epochs, tasks that lean", "one against many", "a real difference"],
)
def test_level_is_kept_and_intervals_cover(world: World, tested: bool) -> None:
    rng = np.random.default_rng(20)
    rejected = covered = 0
    for number in range(COMPARISONS):
        differences, counts = world.differences(rng)
        found = mean_difference(
            differences.tolist(), seed=number, resamples=400, least=least_difference(counts)
        )
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= world.shift <= found.high
        if tested:
            p = sign_flip(differences.tolist(), seed=number, flips=399)
            assert p is not None
            rejected += p <= 0.05
    assert binomtest(rejected, COMPARISONS, 0.05, alternative="greater").pvalue > 0.01, rejected
    assert binomtest(covered, COMPARISONS, 0.95, alternative="less").pvalue > 0.01, covered
    # Nor are they wide for safety's sake, as far as outcomes of 0 and 1 let it be told.
    assert covered / COMPARISONS < 0.985
