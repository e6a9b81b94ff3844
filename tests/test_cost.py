"""Tokens, cost and time of a success: every number against sums done by hand."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest
from storing import make_attempt, make_run, make_suite

from vimlib import store
from vimlib.prices import costs_of, read_prices
from vimlib.records import Attempt, CostGap, CostKind, Run, TokenUsage
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
    dearer = [(known.attempts[0], made) for made in [costs_of(known)[0][1]]]
    with replacing(path) as writer:
        for run in (known, mine):
            writer.add_run(run)
        assert writer.add_costs(known, [(one, _doubled(cost)) for one, cost in dearer]) == 0
        assert writer.add_costs(mine, costs_of(mine, own)) == 1
    assert costs(path) == {
        ("t1", 1, 1): ("estimated", pytest.approx(0.00035), None, "genai-prices"),
        ("t2", 1, 1): ("estimated", pytest.approx(0.00012), None, "prices.yml"),
    }


def _doubled(cost: Any) -> Any:
    import dataclasses

    return dataclasses.replace(cost, usd=cost.usd * 2, low_usd=cost.low_usd * 2, high_usd=cost.high_usd * 2)


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
        ((_, cost),) = costs_of(run)
        assert cost.usd == pytest.approx(dollars), moment


def test_costs_of_nothing_are_refused(path: Path) -> None:
    run = model_run("openai/gpt-4o", make_attempt("t1"))
    stranger = make_attempt("t1", attempt=2)
    with pytest.raises(BadRows, match="costs of an attempt"), replacing(path) as writer:
        writer.add_suite(SUITE)
        writer.add_run(run)
        writer.add_costs(run, [(stranger, costs_of(run)[0][1])])


def test_every_kind_and_reason_can_be_stored(path: Path) -> None:
    from vimlib.records import Cost

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
