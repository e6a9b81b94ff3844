"""Leaderboard, history and the page of a comparison: ranks against tests done by hand, and pages that
stand whatever the store holds."""

from __future__ import annotations

import dataclasses
import datetime
import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import storing
from scipy.stats import binomtest
from test_compare import SOLVER, add

from vimlib import store
from vimlib.analysis import compare as comparing
from vimlib.analysis.history import UnknownSeries, history
from vimlib.analysis.leaderboard import Board, boards
from vimlib.figures import compare as show_compare
from vimlib.figures import leaderboard as show
from vimlib.figures.forest import ForestRow, forest
from vimlib.records import AttemptStatus, Outcome, TokenUsage
from vimlib.report import run_report

EVIL = "<script>alert(1)<img src=x onerror=alert(1)>$x$"
NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"


def day(number: int) -> datetime.datetime:
    return datetime.datetime(2026, 1, number, tzinfo=datetime.UTC)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40 tasks: `top` and `near` pass most, `low` few, `part` lacks 20, `broken` has errors alone; `top` once
    more with another prompt, and once on another version of the suite; the solvers diff and noop."""
    path = tmp_path_factory.mktemp("board") / "s.duckdb"
    suite = storing.make_suite(tasks=40, tiers=(1, 2))
    second = storing.make_suite(tasks=39)
    with store.replacing(path) as writer:
        writer.add_suite(suite)
        writer.add_suite(second)
        add(writer, suite, "top", "+" * 36 + "-" * 4, name=f"lab/{EVIL}", created=day(1), prompt_version="p1")
        add(writer, suite, "near", "-" * 3 + "+" * 32 + "-" * 5, created=day(2))
        add(writer, suite, "low", "+" * 4 + "-" * 35 + "e", created=day(3))
        add(writer, suite, "part", "+" * 19 + "-" + " " * 20, created=day(4))
        add(writer, suite, "broken", "e" * 40, created=day(5))
        add(
            writer,
            suite,
            "again",
            "+" * 37 + "-" * 3,
            name=f"lab/{EVIL}",
            created=day(6),
            prompt_version="p2",
        )
        add(
            writer,
            second,
            "later",
            "+" * 20 + "-" * 19,
            name=f"lab/{EVIL}",
            created=day(7),
            prompt_version="p2",
        )
        add(writer, suite, "diff-1", "+" * 30 + "-" * 10, **{**SOLVER, "name": "diff", "created": None})
        add(writer, suite, "noop-1", "-" * 40, **{**SOLVER, "name": "noop", "created": None})
    return path


@pytest.fixture(scope="module")
def con(database: Path) -> Iterator[Any]:
    connection = store.connect(database)
    yield connection
    connection.close()


@pytest.fixture(scope="module")
def board(con: Any) -> Board:
    return boards(con)[0]


# --- ranks


def test_models_that_cannot_be_told_apart_share_a_rank(board: Board) -> None:
    ranks = board.models.set_index("run_id")[["rank", "rank_worst"]]
    assert ranks.loc["low"].to_list() == [5, 5]
    assert ranks.loc[["top", "near", "part", "again"], "rank"].to_list() == [1, 1, 1, 1]
    assert ranks.loc[["top", "near", "part", "again"], "rank_worst"].to_list() == [4, 4, 4, 4]
    assert board.models["run_id"].to_list()[-1] == "low"
    assert "broken" not in ranks.index
    assert board.nothing["run_id"].to_list() == ["broken"]


def test_pairs_are_tested_on_their_common_tasks_and_corrected_together(board: Board) -> None:
    passes = {
        "top": "+" * 36 + "-" * 4,
        "near": "-" * 3 + "+" * 32 + "-" * 5,
        "low": "+" * 4 + "-" * 35 + "e",
        "part": "+" * 19 + "-" + " " * 20,
        "again": "+" * 37 + "-" * 3,
    }
    assert len(board.pairs) == 10
    for _, pair in board.pairs.iterrows():
        both = [
            (a, b) for a, b in zip(passes[pair["a"]], passes[pair["b"]], strict=True) if {a, b} <= {"+", "-"}
        ]
        gained = sum(one == ("+", "-") for one in both)
        lost = sum(one == ("-", "+") for one in both)
        assert pair["tasks"] == len(both)
        assert pair["difference"] == pytest.approx((gained - lost) / len(both))
        expected = binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
        assert pair["p_value"] == pytest.approx(expected)
    ordered = board.pairs.sort_values("p_value")["p_value"].to_numpy()
    corrected = np.minimum(1, np.maximum.accumulate(ordered * np.arange(10, 0, -1)))
    assert board.pairs.sort_values("p_holm")["p_holm"].to_list() == pytest.approx(sorted(corrected))
    assert set(board.pairs[board.pairs["sure"]]["b"]) == {"low"}


def test_a_run_that_lacks_tasks_is_shown_on_the_common_ones(board: Board) -> None:
    rows = board.models.set_index("run_id")
    assert (board.tasks, board.common_tasks) == (40, 20)
    assert rows.loc["part", ["tasks", "lacking"]].to_list() == [20, 20]
    assert rows.loc["low", "lacking"] == 1, "an error is no verdict"
    assert rows.loc["part", "common_pass_rate"] == pytest.approx(19 / 20)
    assert rows.loc["top", "common_pass_rate"] == 1.0
    table = show.board_table(board)
    assert "lacks 20 tasks" in table._repr_html_()
    assert "the 20 tasks of all" in table._repr_html_()


def test_tokens_a_pass_are_over_all_attempts(board: Board, con: Any) -> None:
    rows = board.models.set_index("run_id")
    attempts = con.sql("SELECT run_id, sum(total_tokens) AS tokens FROM attempts GROUP BY run_id").df()
    tokens = attempts.set_index("run_id")["tokens"]
    for run, row in rows.iterrows():
        assert row["tokens_per_pass"] == pytest.approx(tokens[run] / row["passed"])
        assert row["tokens_per_pass_low"] < row["tokens_per_pass"]
    assert rows["cost_per_pass"].isna().all(), "nothing here was priced"


def test_epochs_give_pass_at_k_and_pass_hat_k(tmp_path: Path) -> None:
    suite = storing.make_suite(tasks=3)
    attempts = [storing.make_attempt(task.id, epoch) for task in suite.tasks for epoch in (1, 2, 3)]
    attempts = [one for one in attempts if (one.task_id, one.epoch) != ("t3", 3)]
    run = storing.make_run(suite, attempts)
    passes = {("t1", 1), ("t2", 1), ("t2", 2), ("t2", 3)}
    with store.replacing(tmp_path / "s.duckdb") as writer:
        writer.add_suite(suite)
        writer.add_run(run)
        storing.judge(
            writer,
            run,
            {
                (a.task_id, a.epoch, 1): (
                    storing.PASS if (a.task_id, a.epoch) in passes else storing.FAIL,
                    Outcome.FINISHED,
                )
                for a in attempts
            },
        )
    with store.connect(tmp_path / "s.duckdb") as con:
        (board,) = boards(con)
    row = board.models.iloc[0]
    # t3 has but two scored samples, and says nothing of three.
    assert row[["k", "k_tasks", "pass_at_k", "pass_hat_k"]].to_list() == [3, 2, 1.0, 0.5]
    assert "pass@k" in show.board_table(board)._repr_html_()


def test_unknown_tokens_make_the_price_of_a_pass_unavailable(tmp_path: Path) -> None:
    suite = storing.make_suite(tasks=3)
    attempts = [storing.make_attempt(task.id) for task in suite.tasks]
    attempts[1] = dataclasses.replace(attempts[1], usage=TokenUsage())
    storing.fill(tmp_path / "s.duckdb", suite, storing.make_run(suite, attempts))
    with store.connect(tmp_path / "s.duckdb") as con:
        (board,) = boards(con)
    assert board.models["tokens_per_pass"].isna().all()
    assert board.pairs.empty
    assert board.models["rank"].to_list() == board.models["rank_worst"].to_list() == [1]


# --- history


def test_history_says_what_changed_and_joins_no_versions_of_a_suite(con: Any) -> None:
    past = history(con)
    assert past["run_id"].to_list() == ["top", "again", "later"]
    assert past["changes"].to_list() == [[], ["prompt: p1 → p2"], []]
    assert past["new_suite"].to_list() == [False, False, True]
    assert past["pass_rate"].to_list() == pytest.approx([36 / 40, 37 / 40, 20 / 39])
    ((title, slug, rows),) = show.history_series(past)
    assert "on little under bench" in title
    picture = show.history_picture(rows, slug, title)
    assert "the suite changed on the way" in picture.title
    assert "prompt: p1 → p2" in show.history_table(rows, "h")._repr_html_()
    assert "another version of the suite" in show.history_table(rows, "h")._repr_html_()


def test_history_by_prompt_marks_where_the_model_changed(tmp_path: Path) -> None:
    suite = storing.make_suite(tasks=4)
    with store.replacing(tmp_path / "s.duckdb") as writer:
        writer.add_suite(suite)
        for place, name in enumerate(("lab/old", "lab/old", "lab/new"), start=1):
            add(writer, suite, f"r{place}", "+---", name=name, created=day(place), prompt_version="p2")
    with store.connect(tmp_path / "s.duckdb") as con:
        past = history(con, "prompt")
        with pytest.raises(UnknownSeries, match="history by 'colour'; expected one of model, prompt"):
            history(con, "colour")
    assert past["changes"].to_list() == [[], [], ["model: lab/old → lab/new"]]
    ((title, slug, rows),) = show.history_series(past, "prompt")
    assert title.startswith("prompt p2 on little")
    assert ">1</text>" in show.history_picture(rows, slug, title).wide, "the change is marked on the axis"
    assert "Runs with one prompt" in show.history_words("prompt").markup
    assert "No prompt has two runs" in show.no_history(past.head(0), "prompt").markup


def test_without_a_second_run_there_is_no_history(tmp_path: Path) -> None:
    suite = storing.make_suite()
    storing.fill(tmp_path / "s.duckdb", suite, storing.make_run(suite))
    with store.connect(tmp_path / "s.duckdb") as con:
        past = history(con)
    assert past.empty
    assert "no history" in show.no_history(past).markup


# --- words and pictures


def test_the_headline_claims_no_more_than_the_tests(board: Board) -> None:
    said = show.headline(board)
    assert "share the first rank: no model is surely better" in said
    assert "of 5 reach a higher rate than the diff solver, no model at all (75.0" in said
    only = dataclasses.replace(board, models=board.models[board.models["run_id"].isin(["near", "part"])])
    assert show.headline(only).startswith("These data cannot tell part and near apart")
    clear = dataclasses.replace(board, models=board.models[board.models["run_id"].isin(["near", "low"])])
    assert show.headline(clear).startswith("near leads with 32")


def everything(con: Any, base: str, candidate: str) -> list[Any]:
    found = comparing.compare_or_say_why_not(con, base, candidate)
    return [
        show_compare.headline(found),
        show_compare.sides(found),
        show_compare.key_numbers(found),
        show_compare.metric_picture(found),
        show_compare.metric_table(found),
        show_compare.part_picture(found),
        show_compare.part_table(found, "tier"),
        show_compare.part_table(found, "category"),
        show_compare.flip_table(found, top_n=3),
        show_compare.unpaired_table(found),
        show_compare.condition_table(found),
        show_compare.run_table(found),
    ]


@pytest.mark.parametrize(
    ("base", "candidate"),
    [
        ("top", "near"),
        ("near", "low"),
        ("part", "low"),
        ("top", "broken"),
        ("diff", "top"),
        ("top", "top"),
        ("x", "y"),
    ],
)
def test_a_page_holds_no_nan_and_no_markup_from_outside(con: Any, base: str, candidate: str) -> None:
    for part in everything(con, base, candidate):
        text = part._repr_html_()
        assert "<script" not in text and "<img" not in text
        assert not re.search(r"\b(nan|None|NaT|<NA>|inf)\b", html.unescape(re.sub(r"<[^>]*>", " ", text)))
        assert text == part._repr_html_()


def test_the_page_says_why_there_is_no_comparison(con: Any) -> None:
    first, *rest = everything(con, "top", "top")
    assert "There is no comparison here: " in first._repr_html_()
    assert all(part._repr_html_() == "" for part in rest)


def test_the_page_shows_both_answers_of_a_flip(con: Any) -> None:
    table = show_compare.flip_table(comparing.compare(con, "top", "near"), top_n=3)._repr_html_()
    assert table.count("<code>x:wq&lt;CR&gt;</code>") == 6
    assert "Newly failing" in table
    assert "1 more are in the notebook" in table


def test_better_is_right_whatever_the_metric_counts(con: Any) -> None:
    found = comparing.compare(con, "top", "near")
    row = found.metrics.set_index("metric").loc["seconds"].to_dict()
    row |= {"difference": 2.0, "low": 1.0, "high": 4.0, "p_holm": 0.01}
    drawn = show_compare._forest_row({"metric": "seconds", **row}, "time", found, "p_holm")
    assert (drawn.value, drawn.low, drawn.high, drawn.words) == (-2.0, -4.0, -1.0, "+2.000")
    assert drawn.sure


@pytest.mark.parametrize("width", [348.0, 760.0])
def test_open_and_missing_intervals_are_drawn_within_the_picture(width: float) -> None:
    rows = [
        ForestRow("open", 1.0, None, 3.0, "+1", "2 tasks"),
        ForestRow("none", 0.0, None, None, "0", "1 task"),
        ForestRow("unknown", None, None, None, "", "0 tasks"),
    ]
    drawn = forest(width, [("", rows)], worse="a", better="b", unit="").svg("f")
    assert "unavailable" in drawn and "+5" in drawn
    assert drawn == forest(width, [("", rows)], worse="a", better="b", unit="").svg("f")


def test_numbers_read_as_people_write_them() -> None:
    assert [show_compare.p_value(p) for p in (0.0004, 0.0312, 0.0999, 0.22, 1.0, None)] == [
        "< 0.001",
        "0.031",
        "0.10",
        "0.22",
        "1.00",
        "unavailable",
    ]
    assert show_compare.amount(0.0001, "share", signed=True, rate=True) == "0.0"
    assert show_compare.amount(-0.1, "share", signed=True, rate=True) == "-10.0"
    assert show_compare.amount(0.5, "share", rate=True) == "50.0\u00a0%"
    assert show_compare.amount(1234.4, "tokens", signed=True) == "+1,234"
    assert show_compare.amount(None, "USD") == "unavailable"


# --- the pages


def test_both_notebooks_make_pages(database: Path, tmp_path: Path) -> None:
    books = [NOTEBOOKS / "03_leaderboard.ipynb", NOTEBOOKS / "07_compare.ipynb"]
    made = run_report("x", database=database, notebooks=books, out=tmp_path, progress=False)
    board = (made.folder / made.pages[0].file).read_text(encoding="utf-8")
    assert "share the first rank" in board
    page = (made.folder / made.pages[1].file).read_text(encoding="utf-8")
    assert "the two latest model runs on little 1 under bench" in html.unescape(page)


@pytest.mark.parametrize("runs", [0, 1])
def test_a_store_with_nothing_to_compare_makes_pages_too(runs: int, tmp_path: Path) -> None:
    suite = storing.make_suite()
    path = tmp_path / "s.duckdb"
    storing.fill(path, suite, *[storing.make_run(suite)][:runs])
    with store.connect(path) as con:
        assert [len(board.models) for board in boards(con)] == [1] * runs
        found = comparing.compare_or_say_why_not(con)
        assert isinstance(found, comparing.Refusal)
        assert "There is no comparison here" in show_compare.headline(found)._repr_html_()
        findings = show.findings(boards(con))._repr_html_()
        assert ("only model here" if runs else "nothing to rank") in findings


def test_status_of_a_cancelled_sample_is_said(tmp_path: Path) -> None:
    suite = storing.make_suite(tasks=2)
    whole = storing.make_run(suite, id="whole")
    stopped = storing.make_run(
        suite,
        [storing.make_attempt("t1"), storing.make_attempt("t2", status=AttemptStatus.CANCELLED, keys=None)],
        id="stopped",
    )
    storing.fill(tmp_path / "s.duckdb", suite, whole, stopped)
    with store.connect(tmp_path / "s.duckdb") as con:
        found = comparing.compare(con, "whole", "stopped")
    assert found.unpaired[["task_id", "base", "candidate"]].to_numpy().tolist() == [
        ["t2", "passed 1 of 1", "cancelled"]
    ]
    assert pd.isna(found.about["low"])
