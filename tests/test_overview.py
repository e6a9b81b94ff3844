"""The overview's rates on a real store, against counts done by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from storing import FAIL, PASS, UNSCORED, fill, judge, make_attempt, make_run, make_suite

from vimlib.analysis.overview import PublishedMissing, by_tier, overview, published
from vimlib.analysis.stats import wilson
from vimlib.records import AttemptStatus, Outcome, Protocol, RunKind, Score
from vimlib.store import connect, replacing

SLOW_PASS = Score(True, True, 1.0, 0.25, 16, None, False)
PASS_WITHOUT_COMPARISON = Score(True, True, 1.0, None, 8, None, None)
OVER_CAP = Score(True, False, 1.0, 0.0, 30, True, False)


@pytest.fixture
def con(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Ten tasks in tiers 1 and 2. `mixed`: 4 passes (2 beat diff, 1 does not, 1 has no comparison),
    2 failures, 1 harness error, 1 provider error, 1 cancelled, 1 task not attempted."""
    suite = make_suite(tasks=10, tiers=(1, 2))
    mixed = make_run(
        suite,
        [
            *(make_attempt(f"t{number}") for number in range(1, 8)),
            make_attempt("t8", status=AttemptStatus.PROVIDER_ERROR, keys=None),
            make_attempt("t9", status=AttemptStatus.CANCELLED, keys=None),
        ],
        id="mixed",
    )
    verdicts = [PASS, PASS, SLOW_PASS, PASS_WITHOUT_COMPARISON, FAIL, FAIL, UNSCORED]
    epochs = make_run(
        suite,
        [make_attempt(f"t{number}", epoch) for number in range(1, 5) for epoch in (1, 2, 3)],
        id="epochs",
        name="model-b",
    )
    golf = make_run(
        suite, id="golf", kind=RunKind.SOLVER, name="retype", protocol=Protocol.GOLF, source_sha256=None
    )
    empty = make_run(suite, [], id="empty", name="model-c")
    path = tmp_path / "store.duckdb"
    with replacing(path) as writer:
        writer.add_suite(suite)
        for run in (mixed, epochs, golf, empty):
            writer.add_run(run)
        judge(
            writer,
            mixed,
            {
                (f"t{number}", 1, 1): (
                    verdict,
                    Outcome.HARNESS_ERROR if verdict is UNSCORED else Outcome.FINISHED,
                )
                for number, verdict in enumerate(verdicts, start=1)
            },
        )
        judge(
            writer,
            epochs,
            {
                (f"t{number}", epoch, 1): (PASS_WITHOUT_COMPARISON if number < 4 else FAIL, Outcome.FINISHED)
                for number in range(1, 5)
                for epoch in (1, 2, 3)
            },
        )
        judge(writer, golf, {(f"t{number}", 1, 1): (OVER_CAP, Outcome.FINISHED) for number in range(1, 11)})
    with connect(path) as connection:
        yield connection


def row(frame: pd.DataFrame, run_id: str) -> pd.Series:
    (found,) = (line for _, line in frame.iterrows() if line["run_id"] == run_id)
    return found


def test_both_readings_of_errors_stand_beside_each_other(con: duckdb.DuckDBPyConnection) -> None:
    mixed = row(overview(con), "mixed")
    assert (mixed["scored"], mixed["passed"], mixed["errors"]) == (6, 4, 2)
    assert (mixed["harness_errors"], mixed["provider_errors"], mixed["cancelled"]) == (1, 1, 1)
    plain, with_errors = wilson(4, 6), wilson(4, 8)
    assert plain is not None
    assert with_errors is not None
    assert list(mixed[["pass_rate", "pass_rate_low", "pass_rate_high"]]) == pytest.approx(
        [plain.rate, plain.low, plain.high]
    )
    assert list(
        mixed[["pass_rate_with_errors", "pass_rate_with_errors_low", "pass_rate_with_errors_high"]]
    ) == pytest.approx([with_errors.rate, with_errors.low, with_errors.high])


def test_samples_add_up(con: duckdb.DuckDBPyConnection) -> None:
    frame = overview(con)
    assert (
        frame["samples"]
        == frame["answered"] + frame["provider_errors"] + frame["cancelled"] + frame["not_replayable"]
    ).all()
    assert (frame["answered"] == frame["scored"] + frame["unscored"]).all()
    ways = [
        "finished",
        "unfinished",
        "timeouts",
        "crashed",
        "bad_keys",
        "blocked",
        "harness_errors",
        "not_replayed",
    ]
    assert (frame["answered"] == frame[ways].sum(axis="columns")).all()
    assert frame["tasks_in_suite"].to_list() == [10, 10, 10, 10]


def test_a_pass_without_comparison_neither_beats_diff_nor_loses_to_it(con: duckdb.DuckDBPyConnection) -> None:
    frame = overview(con)
    mixed, epochs = row(frame, "mixed"), row(frame, "epochs")
    expected = wilson(2, 5)
    assert expected is not None
    assert (mixed["passed_beats_diff"], mixed["beats_diff_n"]) == (2, 5)
    assert list(mixed[["beats_diff_rate", "beats_diff_rate_low", "beats_diff_rate_high"]]) == pytest.approx(
        [0.4, expected.low, expected.high]
    )
    # No pass was compared: the failures alone are no rate.
    assert epochs["beats_diff_n"] == 0
    assert pd.isna(epochs["beats_diff_rate"])


def test_efficiency_is_averaged_over_passes_that_have_a_reference(con: duckdb.DuckDBPyConnection) -> None:
    mixed = row(overview(con), "mixed")
    assert mixed["mean_efficiency"] == pytest.approx((0.5 + 0.5 + 0.25) / 3)
    assert mixed["efficiency_n"] == 3
    assert mixed["mean_partial"] == pytest.approx((4 * 1 + 2 * 0.25) / 6)
    assert mixed["partial_n"] == 6


def test_epochs_count_as_tasks_for_the_interval(con: duckdb.DuckDBPyConnection) -> None:
    epochs = row(overview(con), "epochs")
    as_tasks = wilson(3, 4)
    assert as_tasks is not None
    assert (epochs["scored"], epochs["passed"], epochs["epochs"]) == (12, 9, 3)
    assert epochs["pass_rate"] == 0.75
    assert epochs["pass_rate_low"] == pytest.approx(as_tasks.low)


def test_a_run_without_answers_has_no_rates_and_is_still_there(con: duckdb.DuckDBPyConnection) -> None:
    empty = row(overview(con), "empty")
    assert (empty["attempts"], empty["scored"], empty["errors"]) == (0, 0, 0)
    rates = ["pass_rate", "pass_rate_low", "pass_rate_with_errors", "beats_diff_rate"]
    assert empty[[*rates, "mean_efficiency", "mean_partial", "input_tokens", "vim_version"]].isna().all()


def test_right_but_over_the_cap_is_correct_and_not_passed(con: duckdb.DuckDBPyConnection) -> None:
    frame = overview(con)
    golf = row(frame, "golf")
    assert (golf["correct"], golf["passed"], golf["over_cap"], golf["correct_over_cap"]) == (10, 0, 10, 10)
    assert golf["pass_rate"] == 0.0
    assert golf["pass_rate_low"] == 0.0
    assert golf["beats_diff_rate"] == 0.0
    assert frame["run_id"].to_list() == ["mixed", "epochs", "empty", "golf"], "solvers come after models"
    assert pd.isna(row(frame, "mixed")["over_cap"]), "bench has no cap"


def test_tiers_divide_a_run(con: duckdb.DuckDBPyConnection) -> None:
    frame = by_tier(con)
    mixed = frame[frame["run_id"] == "mixed"].set_index("tier")
    assert mixed["tasks_in_tier"].to_list() == [5, 5]
    assert mixed["tasks_attempted"].to_list() == [5, 4]
    assert mixed["scored"].to_list() == [3, 3]
    assert mixed["passed"].to_list() == [2, 2]
    assert mixed["errors"].to_list() == [1, 1]
    assert mixed["pass_rate"].to_list() == pytest.approx([2 / 3, 2 / 3])
    assert mixed["beats_diff_rate"].to_list() == pytest.approx([1 / 3, 1 / 2])
    assert "empty" not in set(frame["run_id"])


def test_tasks_without_a_tier_are_a_row_of_their_own(tmp_path: Path) -> None:
    suite = make_suite(tasks=3, tiers=(None, 2, None))
    fill(tmp_path / "s.duckdb", suite, make_run(suite))
    with connect(tmp_path / "s.duckdb") as con:
        frame = by_tier(con)
    assert frame["tier"].isna().to_list() == [False, True]
    assert frame["passed"].to_list() == [1, 2]
    assert frame["pass_rate"].to_list() == [1.0, 1.0]


def test_an_empty_store_gives_empty_frames_with_their_columns(tmp_path: Path) -> None:
    fill(tmp_path / "s.duckdb", make_suite())
    with connect(tmp_path / "s.duckdb") as con:
        for frame in (overview(con), by_tier(con)):
            assert frame.empty
            assert str(frame["pass_rate"].dtype) == "float64"


def test_published_results_are_marked_and_agree_with_themselves() -> None:
    frame = published()
    assert len(frame) == 20
    assert not frame["replayed"].any()
    assert frame["source"].str.len().gt(0).all()
    assert (frame["pass_rate"] - frame["passed"] / frame["tasks"]).abs().max() < 0.0006
    assert (
        (frame["pass_rate_low"] < frame["pass_rate"]) & (frame["pass_rate"] <= frame["pass_rate_high"])
    ).all()
    golf = frame[frame["benchmark"] == "vimgolf"].iloc[0]
    assert (golf["model"], golf["passed"], golf["tasks"], golf["pass_rate"]) == (
        "gpt-oss:20b",
        72,
        612,
        0.118,
    )
    assert pd.isna(golf["avg_efficiency"])
    bench = frame[frame["benchmark"] == "vimbench"]
    assert len(bench) == 19
    assert bench["passed"].is_monotonic_decreasing


def test_published_results_of_vimbench_are_those_of_its_leaderboard(shared_data: Path) -> None:
    board = json.loads((shared_data / "vimbench" / "leaderboard.json").read_text(encoding="utf-8"))["rows"]
    columns = ["tasks", "passed", "pass_rate", "avg_efficiency", "avg_partial", "seconds"]
    frame = published().query("benchmark == 'vimbench'").set_index("model")[columns]
    assert frame.to_dict("index") == {line["model"]: {name: line[name] for name in columns} for line in board}


def test_published_results_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(PublishedMissing, match=r"results\.csv"):
        published(tmp_path / "results.csv")
