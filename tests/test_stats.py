"""Statistics against sums done by hand, and against scipy where it has the same formula."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from vimlib.analysis.stats import clustered, clustered_error, percentile, wilson


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
