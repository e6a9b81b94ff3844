"""The front page: its numbers as plain pandas counts them, what it calls worth reading, and its words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from storing import FAIL, PASS, fill, make_attempt, make_run, make_suite

from vimlib import store
from vimlib.analysis import cost, front, methods
from vimlib.analysis.compare import compare, sentence
from vimlib.analysis.front import Finding
from vimlib.analysis.headlines import FIELDS, headlines
from vimlib.analysis.overview import overview
from vimlib.figures import front as show
from vimlib.figures import methods as show_methods
from vimlib.records import AttemptStatus, CostKind, Protocol, RunKind
from vimlib.report import history
from vimlib.report.described import described

PAGE = Path(__file__).resolve().parent.parent / "docs" / "summary.md"
EVIL = "<script>alert(1)</script>"


def words(shown: Any) -> str:
    """What of a part of the page can be read."""
    return " ".join(re.sub(r"<[^>]*>", " ", shown._repr_html_()).split()).replace("\u00a0", " ")


@pytest.fixture(scope="module")
def con(tmp_path_factory: pytest.TempPathFactory) -> Iterator[store.Connection]:
    """Twelve tasks. A hostile name and diff pass all; another model none, and two samples are lost."""
    suite = make_suite(tasks=12)
    path = tmp_path_factory.mktemp("front") / "a.duckdb"
    tasks = [task.id for task in suite.tasks]
    lost = dict.fromkeys(tasks[:2], AttemptStatus.PROVIDER_ERROR)
    bad = [make_attempt(task, status=lost.get(task, AttemptStatus.ANSWERED)) for task in tasks]
    fill(
        path,
        suite,
        make_run(suite, id="good", name=EVIL),
        make_run(suite, id="diff", name="diff", kind=RunKind.SOLVER),
        score=PASS,
    )
    fill(path, suite, make_run(suite, bad, id="bad", name="small"), score=FAIL)
    with closing(store.connect(path)) as opened:
        yield opened


@pytest.fixture(scope="module")
def runs(con: store.Connection) -> pd.DataFrame:
    return overview(con)


def test_the_leader_is_held_against_the_next_model_by_the_paired_test(
    con: store.Connection, runs: pd.DataFrame
) -> None:
    [lead] = front.leads(con, runs)
    assert (lead.best, lead.other) == ("good", "bad")
    assert lead.said == sentence(compare(con, "bad", "good")), "the short way says what the long one says"
    assert "10 common tasks" in lead.said and "more than chance" in lead.said
    said = words(show.findings(runs, pd.DataFrame(), [lead]))
    assert lead.said.split(";")[1].strip() in said
    assert "2 of 36 samples failed outside the answer" in said


def test_the_tiles_count_what_the_store_holds(con: store.Connection, runs: pd.DataFrame) -> None:
    attempts = store.query(con, "attempts_scored")
    models = attempts[attempts["run_id"] != "diff"]
    spent = cost.by_run(cost.attempts(con))
    said = words(show.quality(runs, spent))
    errors = int((models["status"] == "provider_error").sum())
    assert f"Errors {errors} of {len(models)} samples of models" in said and errors == 2
    assert "Not replayable 0" in said
    priced = cost.attempts(con)
    unknown = int((priced["cost_kind"] == str(CostKind.UNAVAILABLE)).sum())
    assert f"Unknown costs {unknown} of {len(priced)} attempts of models; 0 billed, 0 estimated" in said
    key = words(show.key_numbers(runs))
    assert "Runs 3 2 of 2 models, 1 of 1 solver" in key
    assert f"Answers scored {34} of {len(attempts)} samples" in key


def test_an_estimated_cost_is_not_unknown(runs: pd.DataFrame) -> None:
    spent = pd.DataFrame({"attempts": [10, 5], "billed_n": [4, 0], "estimated_n": [5, 2], "cost_n": [9, 2]})
    said = words(show.quality(runs, spent))
    assert "Unknown costs 4 of 15 attempts of models; 4 billed, 7 estimated" in said


def test_findings_are_the_weightiest_and_one_a_subject(con: store.Connection, runs: pd.DataFrame) -> None:
    found = front.findings(con, runs, most=9)
    assert [one.weight for one in found] == sorted((one.weight for one in found), reverse=True)
    assert len({one.subject for one in found}) == len(found)
    [errors] = [one for one in found if one.subject == "errors"]
    assert errors.run_id == "bad" and errors.facts == {"errors": 2, "samples": 12}
    assert errors.weight == pytest.approx(2 / 12)
    assert "floor" not in {one.subject for one in found}, "the best model passes as much as diff"
    assert front.findings(con, runs, most=1) == found[:1]


def spent_of(*runs: tuple[str, float, float, float]) -> pd.DataFrame:
    """The columns of `cost.by_run` that a finding about cost rests on."""
    rows = [
        {
            **dict.fromkeys(front.SECTION, "x"),
            "run_id": run,
            "samples": 12,
            "attempts": 12,
            "tokens_per_pass": mean,
            "tokens_per_pass_low": low,
            "tokens_per_pass_high": high,
        }
        for run, mean, low, high in runs
    ]
    return pd.DataFrame(rows)


def test_a_cost_is_a_finding_only_where_the_intervals_are_apart(
    con: store.Connection, runs: pd.DataFrame
) -> None:
    apart = spent_of(("good", 100, 90, 110), ("bad", 1000, 810, 1500))
    [one] = [one for one in front.findings(con, runs, spent=apart, most=9) if one.subject == "cost"]
    assert (one.run_id, one.facts["other"]) == ("bad", "good")
    assert one.weight == pytest.approx((810 - 110) / 1000)
    said = words(show.worth_reading([one], runs, ["token_cost.html"]))
    assert "A pass costs small 1,000 tokens (810–1,500; 12 attempts)" in said and "100 (90–110; 12)" in said
    near = spent_of(("good", 100, 90, 110), ("bad", 120, 105, 150))
    assert "cost" not in {one.subject for one in front.findings(con, runs, spent=near, most=9)}
    alone = spent_of(("good", 100, 90, 110))
    assert "cost" not in {one.subject for one in front.findings(con, runs, spent=alone, most=9)}


def test_contamination_is_a_finding_only_where_it_holds_after_correction(
    con: store.Connection, runs: pd.DataFrame
) -> None:
    line = {"model": "small", "protocol": str(Protocol.BENCH), "evidence": "twins", "unit": "points", "n": 10}
    line |= {"effect": 0.4, "low": 0.1, "high": 0.7}
    frame = pd.DataFrame([{**line, "finding": finding} for finding in ("strong", "no evidence", "context")])
    protocol = str(runs["protocol"].iloc[0])
    found = front.findings(con, runs, evidence=frame.assign(protocol=protocol), most=9)
    [one] = [one for one in found if one.subject == "contamination"]
    assert one.run_id == "bad"
    said = words(show.worth_reading([one], runs, []))
    assert "Strong evidence from “twins” that small had seen tasks" in said
    assert "+0.40 points (+0.10–+0.70; n = 10)" in said
    none = frame[frame["finding"] != "strong"].assign(protocol=protocol)
    assert "contamination" not in {one.subject for one in front.findings(con, runs, evidence=none, most=9)}


def test_a_link_leads_only_to_a_page_that_is_there_and_no_name_is_markup(runs: pd.DataFrame) -> None:
    one = Finding("errors", 0.5, "good", {"errors": 1, "samples": 2})
    with_page = show.worth_reading([one], runs, ["leaderboard.html"])._repr_html_()
    assert 'href="leaderboard.html"' in with_page and "<script>" not in with_page
    assert "href" not in show.worth_reading([one], runs, [])._repr_html_()
    assert "Nothing stands out" in words(show.worth_reading([], runs))


def test_what_changed_is_said_run_by_run(con: store.Connection) -> None:
    now = headlines(con)
    before = {
        **now,
        "created": "2026-02-03T04:05:00+00:00",
        "runs": [r for r in now["runs"] if r["run_id"] != "bad"],
    }
    said = words(show.since(before, now))
    assert "Against the report of 2026-02-03 04:05 UTC" in said
    assert "New: small on" in said and "passes 0 of 10 (0.0 %)" in said
    assert "No run and no verdict has changed" in words(
        show.since({**now, "created": before["created"]}, now)
    )
    assert "first report of its name" in words(show.since(None, now))


def test_methods_tell_only_what_was_used_and_limits_with_their_numbers(
    con: store.Connection, runs: pd.DataFrame
) -> None:
    used = methods.methods(con, runs)
    assert list(used.protocols["protocol"]) == sorted(set(runs["protocol"]))
    assert int(used.protocols["runs"].sum()) == len(runs)
    assert used.libraries["name"].iloc[0] == "Python" and "duckdb" in set(used.libraries["name"])
    terms = {term for term, _ in used.formulas}
    assert {"Pass rate", "Interval", "Verdict"} <= terms
    assert ("Tokens" in terms) == bool(runs["total_tokens_n"].sum())
    told = " ".join(used.limits)
    assert "2 of 2 runs of models have fewer than 30 scored samples" in told
    assert "2 samples of models have no verdict" in told
    nothing = methods.methods(con, runs[runs["kind"] == "solver"])
    assert any(limit.startswith("No model was loaded") for limit in nothing.limits)
    assert ("Beating diff" in terms) == bool(runs["beats_diff_n"].sum())
    for shown in (show_methods.formula_list(used), show_methods.limit_list(used)):
        assert "<script>" not in shown._repr_html_() and len(words(shown)) > 200
    assert "fewer than 30 scored samples" in words(show_methods.limit_list(used))
    assert f"Python {used.libraries['version'].iloc[0]}" in words(show_methods.library_table(used))
    assert str(runs["protocol"].iloc[0]) in words(show_methods.protocol_table(used))


# --- summary.json


def flat(value: Any, name: str = "") -> Iterator[str]:
    """The names of a JSON value as FIELDS writes them, two levels deep."""
    for key, inner in value.items():
        here = f"{name}.{key}" if name else key
        if key == "runs" and not name:
            for run in inner:
                yield from flat(run, "runs[]")
        else:
            yield here


def documented() -> set[str]:
    """The names that FIELDS documents, with their parents."""
    found = set()
    for names in FIELDS:
        first, *others = names.split(", ")
        parent = first.rpartition(".")[0]
        found |= {first, *(f"{parent}{other}" for other in others)}
    return {name.removesuffix("[]") for name in found}


def test_every_number_of_the_summary_is_documented_and_nothing_else(con: store.Connection) -> None:
    assert set(flat(headlines(con))) == documented() - {"runs"}


def test_the_page_on_the_summary_is_what_the_code_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == described(), (
        "docs/summary.md is of another shape: python -m vimlib.report.described docs/summary.md"
    )
    assert set(history.FIELDS) >= {"report", "created", "store_sha256"}
