"""Tokens, cost and time of a success: every number against sums done by hand."""

from __future__ import annotations

import dataclasses
import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from storing import FAIL, PASS, judge, make_attempt, make_run, make_suite

from vimlib import store
from vimlib.analysis import cost
from vimlib.analysis.stats import ratio
from vimlib.prices import costs_of, read_prices
from vimlib.records import (
    Attempt,
    AttemptStatus,
    Cost,
    CostGap,
    CostKind,
    Failure,
    FailureMode,
    Outcome,
    Run,
    Score,
    TokenUsage,
    Track,
    TurnState,
)
from vimlib.store import BadRows, replacing

SUITE = make_suite(tasks=4)


def tokens(input: int, output: int, **more: Any) -> TokenUsage:
    return TokenUsage(input_tokens=input, output_tokens=output, total_tokens=input + output, **more)


def model_run(name: str, *attempts: Attempt, **fields: Any) -> Run:
    day = datetime.datetime(2026, 11, 1, 9, tzinfo=datetime.UTC)
    given: dict[str, Any] = {"id": f"run-{name}", "name": name, "created": day, "settings": {}}
    return make_run(SUITE, attempts, **given | fields)


def costs(path: Path) -> dict[tuple[str, int, int], tuple[Any, ...]]:
    con = store.connect(path)
    try:
        rows = con.execute(
            "SELECT task_id, epoch, attempt, kind, usd, gap, price_source FROM attempt_costs"
        ).fetchall()
    finally:
        con.close()
    return {row[:3]: row[3:] for row in rows}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.duckdb"


# --- what is stored


def test_an_amount_that_is_stored_stays_when_a_price_is_added(path: Path, tmp_path: Path) -> None:
    """gpt-4o: 100 at 2.50 and 10 at 10 dollars a million are 0.00035; `mine` gets a price only later."""
    known = model_run("openai/gpt-4o", make_attempt("t1", usage=tokens(100, 10)))
    mine = model_run("mine", make_attempt("t2", usage=tokens(100, 10)))
    with replacing(path) as writer:
        writer.add_suite(SUITE)
        for run in (known, mine):
            writer.add_run(run)
            assert writer.add_costs(run, costs_of(run)) == 1
    assert costs(path) == {
        ("t1", 1, 1): ("estimated", pytest.approx(0.00035), None, "genai-prices"),
        ("t2", 1, 1): ("unavailable", None, "unknown_model", None),
    }
    file = tmp_path / "prices.yml"
    file.write_text("prices: [{model: gpt-4o, input: 99, output: 99}, {model: mine, input: 1, output: 2}]")
    own = read_prices(file)
    with replacing(path) as writer:
        for run in (known, mine):
            writer.add_run(run)
        dearer = [(one, _doubled(made)) for one, made in costs_of(known)]
        assert writer.add_costs(known, dearer) == 0
        assert writer.add_costs(mine, costs_of(mine, own)) == 1
    assert costs(path) == {
        ("t1", 1, 1): ("estimated", pytest.approx(0.00035), None, "genai-prices"),
        ("t2", 1, 1): ("estimated", pytest.approx(0.00012), None, "prices.yml"),
    }


def _doubled(made: Cost) -> Cost:
    assert made.usd is not None
    return dataclasses.replace(made, usd=made.usd * 2, low_usd=made.usd * 2, high_usd=made.usd * 2)


def test_a_run_that_is_replaced_is_priced_anew(path: Path) -> None:
    run = model_run("openai/gpt-4o", make_attempt("t1", usage=tokens(100, 10)))
    more = model_run("openai/gpt-4o", make_attempt("t1", usage=tokens(200, 20)))
    for one in (run, more):
        with replacing(path) as writer:
            writer.add_suite(SUITE)
            writer.add_run(one)
            writer.add_costs(one, costs_of(one))
    assert costs(path)["t1", 1, 1][1] == pytest.approx(0.0007)


def test_the_price_is_that_of_the_day_of_the_run_in_utc() -> None:
    """22 August at 01:00 two hours east is still the 21st; 20 August at 23:00 two hours west is the 21st."""
    for moment, dollars in (
        ("2026-08-21T01:00:00+02:00", 0.80),
        ("2026-08-20T23:00:00-02:00", 0.60),
        ("2026-08-21T00:00:00+00:00", 0.60),
    ):
        run = model_run(
            "openai/gpt-5.6-sol",
            make_attempt("t1", usage=tokens(100_000, 10_000)),
            created=datetime.datetime.fromisoformat(moment),
        )
        ((_, made),) = costs_of(run)
        assert made.usd == pytest.approx(dollars), moment


def test_costs_of_nothing_are_refused(path: Path) -> None:
    run = model_run("openai/gpt-4o", make_attempt("t1"))
    stranger = make_attempt("t1", attempt=2)
    with pytest.raises(BadRows, match="costs of an attempt"), replacing(path) as writer:
        writer.add_suite(SUITE)
        writer.add_run(run)
        writer.add_costs(run, [(stranger, costs_of(run)[0][1])])


def test_every_kind_and_reason_can_be_stored(path: Path) -> None:
    every = [
        Cost(CostKind.BILLED, 1.0, 1.0, 1.0, source="billed"),
        Cost(CostKind.ESTIMATED, None, 1.0, 2.0, source="p.yml", version="0" * 12, model="*"),
        *(Cost(CostKind.UNAVAILABLE, gap=gap) for gap in CostGap),
    ]
    run = model_run("m", *(make_attempt("t1", attempt=n) for n in range(1, len(every) + 1)))
    with replacing(path) as writer:
        writer.add_suite(SUITE)
        writer.add_run(run)
        assert writer.add_costs(run, zip(run.attempts, every, strict=True)) == len(every)
    assert {row[2] for row in costs(path).values()} == {None, *map(str, CostGap)}


# --- what a pass costs

DONE = Outcome.FINISHED


def stored(path: Path, *runs: tuple[Run, dict[tuple[str, int, int], Score]]) -> None:
    """A load of models' runs, each with the verdicts on its attempts, priced at the prices of then."""
    with replacing(path) as writer:
        writer.add_suite(SUITE)
        for run, verdicts in runs:
            writer.add_run(run)
            judge(writer, run, {place: (score, DONE) for place, score in verdicts.items()})
            writer.add_costs(run, costs_of(run))


def summed(path: Path, **options: Any) -> dict[str, dict[str, Any]]:
    """Rows of `by_run` by the model's name."""
    con = store.connect(path)
    try:
        rows = cost.by_run(cost.attempts(con, **options)).to_dict("records")
    finally:
        con.close()
    return {str(row["name"]): {str(k): None if pd.isna(v) else v for k, v in row.items()} for row in rows}


ERROR = AttemptStatus.PROVIDER_ERROR
RETRIED = (
    model_run(
        "openai/gpt-4o",
        make_attempt("t1", usage=tokens(1_000, 0), status=ERROR, keys=None, seconds=0.1),
        make_attempt("t1", attempt=2, usage=tokens(1_000, 100), seconds=0.2),
        make_attempt("t2", usage=tokens(2_000, 400), seconds=0.3),
        make_attempt("t3", usage=tokens(1_000, 100), seconds=0.4),
    ),
    {("t1", 1, 2): PASS, ("t2", 1, 1): FAIL, ("t3", 1, 1): PASS},
)
"""5,000 tokens in and 600 out over four attempts at three tasks, two of which pass."""


def test_failed_errored_and_retried_attempts_are_paid_by_the_passes(path: Path) -> None:
    """5,600 tokens for two passes; 5,000 at 2.50 and 600 at 10 are 0.0185 dollars, for two passes 0.00925."""
    stored(path, RETRIED)
    row = summed(path)["openai/gpt-4o"]
    assert (row["tasks"], row["attempts"], row["samples"], row["scored"], row["passed"]) == (3, 4, 3, 3, 2)
    assert (row["input_tokens"], row["output_tokens"], row["total_tokens"]) == (5_000, 600, 5_600)
    assert row["tokens_per_pass"] == 2_800
    assert row["cost_usd"] == pytest.approx(0.0185)
    assert row["cost_per_pass"] == pytest.approx(0.00925)
    assert (row["tokens_n"], row["cost_n"], row["billed_n"], row["estimated_n"]) == (4, 4, 0, 4)
    assert (row["price_source"], row["price_date"]) == ("genai-prices", "2026-11-01")
    assert row["cost_rank"] == 1


def test_p95_is_interpolated_linearly(path: Path) -> None:
    stored(path, RETRIED)
    row = summed(path)["openai/gpt-4o"]
    assert row["p50_seconds"] == pytest.approx(0.25)
    assert row["p95_seconds"] == pytest.approx(0.385)
    assert (row["max_seconds"], row["seconds_n"]) == (0.4, 4)


def test_requests_of_several_turns_and_waits_are_told_apart(path: Path) -> None:
    """Turns of 0.1, 0.2 and 0.3 s and one of 0.4 s: the p95 of requests is 0.385 s, of attempts 0.59 s."""
    run = model_run(
        "m",
        make_attempt("t1", seconds=0.6, request_seconds=(0.1, 0.2, 0.3), waiting_seconds=5.0),
        make_attempt("t2", seconds=0.4, request_seconds=(0.4,), waiting_seconds=None),
        make_attempt("t3", seconds=None),
        track=Track.MULTI,
        turn_state=TurnState.FRESH,
    )
    stored(path, (run, {}))
    con = store.connect(path)
    kept = store.read_run(con, run.id)
    con.close()
    assert kept is not None
    for attempt, again in zip(run.attempts, kept.attempts, strict=True):
        assert (again.request_seconds, again.waiting_seconds) == (
            attempt.request_seconds,
            attempt.waiting_seconds,
        )
    row = summed(path)["m"]
    assert (row["seconds_n"], row["p95_seconds"], row["max_seconds"]) == (2, pytest.approx(0.59), 0.6)
    assert (row["requests_n"], row["p95_request_seconds"]) == (4, pytest.approx(0.385))
    assert (row["waiting_n"], row["waiting_seconds"]) == (1, 5.0)


def test_intervals_draw_whole_tasks(path: Path) -> None:
    """Four tasks that pass with the same tokens each epoch: of one sample there is nothing to tell, of
    several tasks the bounds lie between the least and the most that a task took."""
    attempts = [
        make_attempt(f"t{n}", epoch, usage=tokens(1_000 * n, 0)) for n in range(1, 5) for epoch in (1, 2, 3)
    ]
    run = model_run("m", *attempts)
    stored(path, (run, {(one.task_id, one.epoch, 1): PASS for one in attempts}))
    row = summed(path)["m"]
    assert row["tokens_per_pass"] == 2_500
    assert 1_000 <= row["tokens_per_pass_low"] < 2_000
    assert 3_000 < row["tokens_per_pass_high"] <= 4_000
    same = ratio([(f"t{n}", 3_000.0 * n, 3.0) for n in range(1, 5)], seed=cost.SEED)
    assert same is not None
    assert (row["tokens_per_pass_low"], row["tokens_per_pass_high"]) == (same.low, same.high)


def test_without_a_pass_nothing_is_divided(path: Path) -> None:
    run = model_run("openai/gpt-4o", make_attempt("t1", usage=tokens(1_000, 100)))
    stored(path, (run, {("t1", 1, 1): FAIL}))
    row = summed(path)["openai/gpt-4o"]
    assert row["total_tokens"] == 1_100
    assert row["cost_usd"] == pytest.approx(0.0035)
    for what in ("tokens_per_pass", "cost_per_pass"):
        for bound in ("", "_low", "_high", "_least", "_most"):
            assert row[f"{what}{bound}"] is None, f"{what}{bound}"
    assert row["cost_rank"] is None


@pytest.mark.parametrize(
    ("broken", "implausible"),
    [(TokenUsage(), 0), (tokens(-5, 100), 1), (tokens(10, 5, reasoning_tokens=6), 1)],
)
def test_one_attempt_that_is_not_known_leaves_a_lower_bound(
    path: Path, broken: TokenUsage, implausible: int
) -> None:
    """1,100 tokens and 0.0035 dollars are known, of one attempt of two, for one pass."""
    run = model_run(
        "openai/gpt-4o",
        make_attempt("t1", usage=tokens(1_000, 100)),
        make_attempt("t2", usage=broken),
    )
    stored(path, (run, {("t1", 1, 1): PASS, ("t2", 1, 1): FAIL}))
    row = summed(path)["openai/gpt-4o"]
    assert (row["tokens_n"], row["cost_n"], row["implausible"]) == (1, 1, implausible)
    assert row["tokens_per_pass"] is None and row["cost_per_pass"] is None and row["cost_rank"] is None
    assert row["cost_usd"] is None and row["cost_most_usd"] is None
    assert row["tokens_per_pass_least"] == 1_100
    assert row["cost_per_pass_least"] == pytest.approx(0.0035)
    assert row["tokens_per_pass_most"] is None and row["cost_per_pass_most"] is None


def test_every_provider_side_by_side(path: Path) -> None:
    """The shapes of OpenAI, Anthropic and Google, a local server and a source without usage; each one pass.

    The sums stand in test_prices: 0.030, between 0.0335 and 0.041 since nothing says how long the cache
    entries live, and 0.016625 dollars.
    """
    openai = tokens(10_000, 1_000, cache_read_tokens=4_000, reasoning_tokens=600)
    anthropic = tokens(10_000, 500, cache_read_tokens=7_000, cache_write_tokens=2_000)
    google = tokens(8_000, 1_000, cache_read_tokens=3_000, reasoning_tokens=600)
    shapes = {
        "openai/gpt-4o": openai,
        "anthropic/claude-opus-4-5": anthropic,
        "google/gemini-2.5-pro": google,
        "vllm/small": tokens(300, 40),
        "openai/gpt-4o-mini": TokenUsage(),
    }
    stored(
        path,
        *(
            (model_run(name, make_attempt("t1", usage=usage)), {("t1", 1, 1): PASS})
            for name, usage in shapes.items()
        ),
    )
    rows = summed(path)
    kinds = {name: [rows[name][kind] for kind in cost.TOKEN_KINDS] for name in shapes}
    nothing = None
    expected = {
        "openai/gpt-4o": [6_000, nothing, 4_000, nothing, 400, nothing, 600],
        "anthropic/claude-opus-4-5": [1_000, nothing, 7_000, 2_000, nothing, 500, nothing],
        "google/gemini-2.5-pro": [5_000, nothing, 3_000, nothing, 400, nothing, 600],
        "vllm/small": [nothing, 300, nothing, nothing, nothing, 40, nothing],
        "openai/gpt-4o-mini": [nothing] * 7,
    }
    for name, parts in expected.items():
        assert kinds[name] == parts, name
        assert sum(n or 0 for n in parts) == (rows[name]["total_tokens"] or 0), name
    assert rows["openai/gpt-4o"]["cost_per_pass"] == pytest.approx(0.030)
    assert rows["google/gemini-2.5-pro"]["cost_per_pass"] == pytest.approx(0.016625)
    claude = rows["anthropic/claude-opus-4-5"]
    assert claude["cost_per_pass"] is None and claude["cost_rank"] is None
    assert claude["cost_per_pass_least"] == pytest.approx(0.0335)
    assert claude["cost_per_pass_most"] == pytest.approx(0.041)
    gaps = {name: row["cost_gap"] for name, row in rows.items() if row["cost_gap"] is not None}
    assert gaps == {"vllm/small": "local_model", "openai/gpt-4o-mini": "no_usage"}
    assert {name: row["cost_rank"] for name, row in rows.items() if row["cost_rank"] is not None} == {
        "google/gemini-2.5-pro": 1,
        "openai/gpt-4o": 2,
    }
    assert rows["vllm/small"]["tokens_per_pass"] == 340


# --- then and now, and what if


def test_todays_prices_are_a_view_over_the_same_tokens(path: Path) -> None:
    """A million in and 100,000 out, in ten requests: 8.00 dollars on 20 August 2026, 6.00 on the 22nd."""
    attempts = [make_attempt("t1", epoch, usage=tokens(100_000, 10_000)) for epoch in range(1, 11)]
    run = model_run(
        "openai/gpt-5.6-sol", *attempts, created=datetime.datetime(2026, 8, 20, 12, tzinfo=datetime.UTC)
    )
    stored(path, (run, {("t1", epoch, 1): PASS for epoch in range(1, 11)}))
    then = summed(path)["openai/gpt-5.6-sol"]
    now = summed(path, pricing=cost.Pricing(datetime.date(2026, 8, 22)))["openai/gpt-5.6-sol"]
    assert (then["cost_usd"], now["cost_usd"]) == (pytest.approx(8.0), pytest.approx(6.0))
    assert (then["price_date"], now["price_date"]) == ("2026-08-20", "2026-08-22")
    assert then["total_tokens"] == now["total_tokens"] == 1_100_000
    assert summed(path)["openai/gpt-5.6-sol"] == then


def test_own_prices_fill_what_no_list_knows_and_with_what_if_come_first(path: Path, tmp_path: Path) -> None:
    """1,000 in and 100 out: 0.0035 by the list; 1 and 10 dollars a million are 0.002."""
    billed = tokens(1_000, 100, billed_usd=0.5)
    stored(
        path,
        (model_run("openai/gpt-4o", make_attempt("t1", usage=tokens(1_000, 100))), {("t1", 1, 1): PASS}),
        (model_run("hf/mine", make_attempt("t1", usage=tokens(1_000, 100), seconds=None)), {}),
        (model_run("gpt-4o", make_attempt("t2", usage=billed)), {("t2", 1, 1): PASS}),
    )
    file = tmp_path / "prices.yml"
    file.write_text("prices: [{model: '*', input: 1, output: 10}]")
    own = read_prices(file)

    def known(**options: Any) -> dict[str, Any]:
        return {name: row["cost_usd"] for name, row in summed(path, **options).items()}

    assert known() == {
        "openai/gpt-4o": pytest.approx(0.0035),
        "hf/mine": None,
        "gpt-4o": 0.5,
    }
    filled = known(pricing=cost.Pricing(own=own))
    assert filled == {"openai/gpt-4o": pytest.approx(0.0035), "hf/mine": pytest.approx(0.002), "gpt-4o": 0.5}
    what_if = known(pricing=cost.Pricing(own=own, own_first=True))
    assert set(what_if.values()) == {0.002}
    # At another day's prices what was billed then says nothing.
    again = known(pricing=cost.Pricing(datetime.date(2026, 11, 30)))
    assert again["gpt-4o"] == pytest.approx(0.0035)


def test_what_if_leaves_models_that_the_file_does_not_know(path: Path, tmp_path: Path) -> None:
    stored(
        path,
        (model_run("openai/gpt-4o", make_attempt("t1", usage=tokens(1_000, 100))), {("t1", 1, 1): PASS}),
    )
    file = tmp_path / "prices.yml"
    file.write_text("prices: [{model: other, input: 1, output: 10}]")
    what_if = cost.Pricing(own=read_prices(file), own_first=True)
    assert summed(path, pricing=what_if) == summed(path)


# --- what it was spent on, and what a budget buys


def test_tokens_and_cost_by_failure_mode_add_up(path: Path) -> None:
    run = model_run(
        "openai/gpt-4o",
        make_attempt("t1", usage=tokens(1_000, 0), status=ERROR, keys=None),
        make_attempt("t1", attempt=2, usage=tokens(1_000, 100)),
        make_attempt("t2", usage=tokens(1_000, 3_000), stop_reason="max_tokens"),
        make_attempt("t3", usage=tokens(1_000, 2_000), stop_reason="max_tokens"),
        make_attempt("t4", usage=TokenUsage(), status=AttemptStatus.CANCELLED, keys=None),
    )
    stored(path, (run, {("t1", 1, 2): PASS, ("t2", 1, 1): FAIL, ("t3", 1, 1): FAIL}))
    cut = Failure(FailureMode.TRUNCATED, (), {})
    lost = Failure(FailureMode.PROVIDER_ERROR, (), {})
    with replacing(path) as writer:
        failed = [(run.attempts[0], lost), (run.attempts[2], cut), (run.attempts[3], cut)]
        writer.add_failures(run, [(attempt, failure, None) for attempt, failure in failed])
    con = store.connect(path)
    frame = cost.attempts(con)
    con.close()
    rows = {row["spent_on"]: row for row in cost.by_mode(frame).to_dict("records")}
    assert list(rows) == ["truncated", "passed", "provider_error", "cancelled"]
    # 2,000 in and 5,000 out: 0.005 + 0.050 dollars
    assert (rows["truncated"]["attempts"], rows["truncated"]["total_tokens"]) == (2, 7_000)
    assert rows["truncated"]["cost_least_usd"] == pytest.approx(0.055)
    assert rows["passed"]["total_tokens"] == 1_100
    assert rows["provider_error"]["total_tokens"] == 1_000
    assert pd.isna(rows["cancelled"]["total_tokens"]) and rows["cancelled"]["cost_n"] == 0
    shares = [row["token_share"] for row in rows.values() if not pd.isna(row["token_share"])]
    assert shares == [pytest.approx(n / 9_100) for n in (7_000, 1_100, 1_000)]
    assert sum(shares) == pytest.approx(1)


def test_a_budget_buys_as_many_tasks_as_their_cost_goes_into_it(path: Path) -> None:
    """Three tasks with all their retries cost 0.0185 dollars: of a dollar 162 could be paid."""
    stored(path, RETRIED)
    con = store.connect(path)
    runs = cost.by_run(cost.attempts(con))
    con.close()
    row = cost.affordable(runs, 1.0).iloc[0]
    assert row["cost_per_sample_least"] == pytest.approx(0.0185 / 3)
    assert (row["affordable_least"], row["affordable_most"]) == (162, 162)
    assert cost.affordable(runs, 0.0).iloc[0]["affordable_most"] == 0
    assert cost.affordable(runs, 0.0185).iloc[0]["affordable_most"] == 3
    with pytest.raises(ValueError, match="a budget of -1"):
        cost.affordable(runs, -1)


def test_the_front_is_what_nothing_beats() -> None:
    nan = float("nan")
    spent = [1.0, 2.0, 2.0, 3.0, 4.0, nan, 1.0]
    gained = [0.2, 0.5, 0.4, 0.5, 0.9, 1.0, 0.2]
    assert cost.pareto(spent, gained) == [True, True, False, False, True, False, True]
    assert cost.pareto([], []) == []


def test_runs_are_chosen_by_id_name_or_file_and_others_named(path: Path) -> None:
    stored(path, RETRIED, (model_run("hf/mine", make_attempt("t1"), source="b.eval"), {}))
    assert set(summed(path, runs=["run-hf/mine"])) == {"hf/mine"}
    assert set(summed(path, runs=["openai/gpt-4o", "b.eval"])) == {"openai/gpt-4o", "hf/mine"}
    assert set(summed(path, runs=["mine", "logs/a.eval"])) == {"openai/gpt-4o", "hf/mine"}
    assert set(summed(path, suite="little")) == {"openai/gpt-4o", "hf/mine"}
    with pytest.raises(cost.UnknownRun, match="'gpt-9'; there are hf/mine, openai/gpt-4o"):
        summed(path, runs=["gpt-9"])
    with pytest.raises(cost.UnknownRun, match="suite 'large'; there are little"):
        summed(path, suite="large")


def test_a_store_without_models_has_no_costs(path: Path) -> None:
    with replacing(path) as writer:
        writer.add_suite(SUITE)
    assert summed(path) == {}
    con = store.connect(path)
    frame = cost.attempts(con)
    con.close()
    assert cost.by_mode(frame).empty
    assert cost.affordable(cost.by_run(frame), 5).empty
