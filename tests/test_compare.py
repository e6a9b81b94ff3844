"""Two runs compared: every number recomputed from the stored attempts by other means, and bad input."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
import storing
from scipy.stats import binomtest

from vimlib import cli, store
from vimlib.analysis.compare import (
    AmbiguousRun,
    BadLimit,
    NotComparable,
    NothingToCompare,
    Refusal,
    UnknownCondition,
    UnknownMetric,
    UnknownRun,
    Verdict,
    choose,
    compare,
    compare_or_say_why_not,
    confounders,
    decide,
    held_against,
    parse_limit,
    sentence,
    tier_sentences,
)
from vimlib.figures.compare import key_numbers
from vimlib.load import load
from vimlib.records import AttemptStatus, Outcome, Protocol, RunKind, Score, Suite
from vimlib.suites import load_suite

SOLVER: dict[str, Any] = {"kind": RunKind.SOLVER, "source": "", "source_sha256": None, "settings": {}}


def verdict(passed: bool, share: float = 0.5, beats: bool | None = True) -> Score:
    """A score that goes with a verdict; `share` is efficiency or partial."""
    return Score(passed, passed, 1.0 if passed else share, share if passed else 0.0, 8, None, beats)


def add(writer: store.Writer, suite: Suite, run_id: str, passes: str, **fields: Any) -> None:
    """A run of one epoch: for each task '+' passes, '-' fails, 'e' provider error, '?' unscored, ' ' none."""
    attempts = [
        storing.make_attempt(
            task.id, **({"status": AttemptStatus.PROVIDER_ERROR, "keys": None} if mark == "e" else {})
        )
        for task, mark in zip(suite.tasks, passes, strict=False)
        if mark != " "
    ]
    run = storing.make_run(suite, attempts, id=run_id, **{"name": run_id, **fields})
    scores = {"+": storing.PASS, "-": storing.FAIL, "?": storing.UNSCORED}
    marks = dict(zip((task.id for task in suite.tasks), passes, strict=False))
    writer.add_run(run)
    storing.judge(
        writer,
        run,
        {
            (one.task_id, 1, 1): (scores[marks[one.task_id]], Outcome.FINISHED)
            for one in attempts
            if marks[one.task_id] in scores
        },
    )


@pytest.fixture
def making(tmp_path: Path) -> Iterator[Any]:
    """A function that stores runs (id -> passes, or (passes, fields)) on a suite and connects."""
    opened: list[duckdb.DuckDBPyConnection] = []

    def make(tasks: int = 12, suite: Suite | None = None, **runs: Any) -> duckdb.DuckDBPyConnection:
        suite = suite or storing.make_suite(tasks=tasks)
        with store.replacing(tmp_path / "s.duckdb") as writer:
            writer.add_suite(suite)
            for run_id, given in runs.items():
                passes, fields = given if isinstance(given, tuple) else (given, {})
                add(writer, suite, run_id, passes, **fields)
        opened.append(store.connect(tmp_path / "s.duckdb"))
        return opened[-1]

    yield make
    for con in opened:
        con.close()


# --- a finding in words


def test_the_sentence_of_few_discordant_pairs(making: Any) -> None:
    con = making(tasks=48, a="+" * 20 + "-" * 28, b="+" * 19 + "-" + "+" * 5 + "-" * 23)
    found = compare(con, "a", "b")
    assert sentence(found) == (
        "b passes 4 more of 48 common tasks (24 against 20); with 6 discordant pairs this could be chance"
        " (p = 0.22); a difference under 16 points could easily have been missed."
    )
    row = found.about
    assert row["p_value"] == pytest.approx(binomtest(1, 6).pvalue)
    assert row["low"] < 0 < row["high"]
    assert found.flips["change"].value_counts().to_dict() == {"newly passing": 5, "newly failing": 1}
    assert found.flips["task_id"].iloc[0] == "t20"


def test_the_sentence_of_a_clear_difference(making: Any) -> None:
    con = making(a="-" * 12, b="+" * 10 + "--")
    assert sentence(compare(con, "a", "b")) == (
        "b passes 10 more of 12 common tasks (10 against 0); with 10 discordant pairs this is more than"
        " chance (p = 0.002)."
    )
    assert sentence(compare(con, "b", "a")).startswith("a passes 10 fewer of 12 common tasks (0 against 10)")


def test_ties_prove_nothing(making: Any) -> None:
    con = making(a="+" * 6 + "-" * 6, b="+" * 6 + "-" * 6)
    found = compare(con, "a", "b")
    assert sentence(found) == (
        "b and a both pass 6 of 12 common tasks; they differ on none of them;"
        " a difference under 58 points could easily have been missed."
    )
    assert found.about["low"] < 0 < found.about["high"]
    assert found.flips.empty


def test_one_common_task_says_nothing(making: Any) -> None:
    con = making(a="+ " * 6, b="-+" + " +" * 5)
    found = compare(con, "a", "b")
    assert sentence(found) == (
        "b passes 1 fewer of 1 common task (0 against 1); one task says nothing about others."
    )
    assert len(found.unpaired) == 11
    assert found.about[["low", "high", "detectable"]].isna().all()


def test_no_common_task_and_errors_only_are_said(making: Any) -> None:
    con = making(a="+++   ", b="   +++", broken="eeeeee", nothing="??????")
    assert sentence(compare(con, "a", "b")) == "b and a cannot be compared: no common task."
    found = compare(con, "a", "broken")
    assert sentence(found) == "broken and a cannot be compared: no answer of broken has a verdict."
    assert found.unpaired["candidate"].to_list() == ["provider error"] * 6
    assert confounders(found) == [], "what was never replayed had no other Vim"
    tiles = key_numbers(found).markup
    assert tiles.count("not known of the candidate") == 2 and "unavailable against" not in tiles
    assert found.metrics.set_index("metric").loc["pass_rate_with_errors", "tasks"] == 3
    assert set(compare(con, "a", "nothing").unpaired["candidate"][:3]) == {"unscored"}


def test_groups_are_compared_as_more_samples_of_each_task(making: Any) -> None:
    con = making(a="++--", b="+---", c="++++", d="+++-")
    found = compare(con, "a,b", "c,d")
    assert (found.about["base_samples"], found.about["candidate_samples"]) == (8, 8)
    assert found.about["difference"] == pytest.approx((0 + 0.5 + 1 + 0.5) / 4)
    assert found.base.runs == ("a", "b")
    assert "the runs of the base differ among themselves in model" in confounders(found)
    with pytest.raises(NotComparable, match="a is on both sides"):
        compare(con, "a,b", "a,d")


def test_each_tier_has_a_sentence_and_the_first_says_what_is_more_than_chance(making: Any) -> None:
    """Tier 1: 10 discordant pairs, all up: p = 2 / 2**10, which Holm doubles. Tier 2: 2 of 10."""
    suite = storing.make_suite(tasks=20, tiers=(1, 2))
    con = making(suite=suite, before="-" * 20, after="++++" + "+-" * 8)
    found = compare(con, "before", "after")
    assert tier_sentences(found) == [
        "Tier 1 improved by more than chance.",
        "Tier 1: 0.0 % to 100.0 % (+100.0 points; 10 of 10 tasks up, 0 down): more than chance (p = 0.0039,"
        " corrected for 2 tiers).",
        "Tier 2: 0.0 % to 20.0 % (+20.0 points; 2 of 10 tasks up, 0 down): could be chance (p = 0.5,"
        " corrected for 2 tiers).",
    ]
    assert tier_sentences(compare(con, "after", "before"))[0] == "Tier 1 got worse by more than chance."
    assert sentence(found) in repr(found) and "\n" not in repr(found)


def test_tiers_that_cannot_be_told_apart_or_compared_say_so(making: Any) -> None:
    con = making(tasks=6, before="+--+--", after="+--+--")
    first, *each = tier_sentences(compare(con, "before", "after"))
    assert first == "No tier improved or got worse by more than chance could explain."
    assert each and all("on both sides; none of" in line for line in each)
    assert tier_sentences(compare_or_say_why_not(con, "before", "nobody")) == [
        "no run is called 'nobody'; expected an id, the beginning of one, a model's name or 'latest', for "
        "instance after, before"
    ]


def test_the_sentence_of_equal_shares_of_several_samples(making: Any) -> None:
    con = making(a="++--", b="++--", c="++--")
    said = sentence(compare(con, "a", "b,c"))
    assert " both pass 50.0 % of 4 common tasks; they differ on none of them" in said


def test_the_sentence_of_another_metric(making: Any) -> None:
    con = making(a="++--", b="++--")
    assert sentence(compare(con, "a", "b", metric="total_tokens")) == (
        "b and a do not differ in tokens a task on 4 common tasks (110 tokens); they differ on none of them."
    )
    found = compare(con, "a", "b", metric="cost")
    assert sentence(found) == "b and a cannot be compared: not known of either side."


# --- conditions


def test_what_differs_is_named_and_one_thing_is_under_study(making: Any) -> None:
    con = making(
        a=("++--", {"settings": {"temperature": 0.0, "top_p": 1}, "prompt_version": "p1", "name": "m"}),
        b=("+++-", {"settings": {"temperature": 1.0, "top_p": 1}, "prompt_version": "p1", "name": "m"}),
        c=("++++", {"settings": {"temperature": 1.0}, "prompt_version": "p2"}),
    )
    found = compare(con, "a", "b")
    differing = found.conditions[found.conditions["differs"]]
    assert differing["condition"].to_list() == ["setting temperature"]
    assert differing["studied"].to_list() == [True]
    assert confounders(found) == []

    found = compare(con, "a", "c")
    differing = found.conditions[found.conditions["differs"]]
    assert differing["condition"].to_list() == ["model", "prompt", "setting temperature", "setting top_p"]
    assert differing["studied"].to_list() == [True, False, False, False]
    assert differing.set_index("condition").loc["setting top_p", "candidate"] == "not known"
    (line,) = confounders(found)
    assert "besides the model the two sides differ in prompt (p1 against p2); setting temperature" in line
    assert not found.conditions[found.conditions["condition"] == "Vim"]["differs"].any()

    (line,) = confounders(compare(con, "a", "c", about="prompt"))
    assert "besides the prompt the two sides differ in model" in line
    with pytest.raises(UnknownCondition, match="what differs: model, prompt"):
        compare(con, "a", "c", about="Vim")


def test_solvers_are_not_asked_for_a_prompt(making: Any) -> None:
    con = making(a=("++--", {"prompt_version": "p1"}), diff=("++++", SOLVER))
    found = compare(con, "diff", "a")
    assert confounders(found) == []
    assert set(found.conditions["condition"]) == {"model", "Vim", "confinement", "rules"}


# --- which runs are meant


def test_runs_go_by_id_beginning_name_file_and_latest(making: Any) -> None:
    con = making(
        run_one=("++--", {"name": "lab/one", "source": "first.eval"}),
        run_two=("+---", {"name": "lab/two", "created": storing.make_run(storing.make_suite()).created}),
    )
    assert choose(con, "run_one", "run_two").base == ("run_one",)
    assert choose(con, "run_o", "run_t").base == ("run_one",)
    assert choose(con, "one", "lab/two").base == ("run_one",)
    assert choose(con, "first.eval", "two").base == choose(con, "first", "two").base == ("run_one",)
    assert choose(con, "one", "latest").candidate == ("run_two",)
    assert choose(con, "latest", "one").base == ("run_two",)


def test_an_ambiguous_name_lists_its_runs(making: Any) -> None:
    con = making(first=("++--", {"name": "m"}), second=("+---", {"name": "m"}), other="++++")
    with pytest.raises(
        AmbiguousRun, match=r"'m' means 2 runs: first \(2025-05-06 .*; second \(.*name one by its id"
    ):
        choose(con, "m", "other")
    with pytest.raises(UnknownRun, match="no run is called 'secon_'.*for instance second"):
        choose(con, "secon_", "other")
    with pytest.raises(NotComparable, match="are the same"):
        choose(con, "first", "first")
    assert choose(con, "first,second", "other").base == ("first", "second")


def test_other_suites_and_protocols_are_refused(tmp_path: Path) -> None:
    little, other = storing.make_suite(tasks=4), storing.make_suite("other", tasks=4)
    with store.replacing(tmp_path / "s.duckdb") as writer:
        for suite in (little, other):
            writer.add_suite(suite)
        add(writer, little, "a", "++--")
        add(writer, other, "b", "++--")
        add(writer, little, "c", "++--", protocol=Protocol.GOLF)
        add(writer, little, "d1", "++++", **{**SOLVER, "name": "diff"})
        add(writer, other, "d2", "++++", **{**SOLVER, "name": "diff"})
    with store.connect(tmp_path / "s.duckdb") as con:
        for one in ("b", "c"):
            with pytest.raises(
                NotComparable, match="answered little 1 under bench.*only runs on the same suite"
            ):
                choose(con, "a", one)
        assert choose(con, "diff", "a").base == ("d1",)
        assert choose(con, "diff", "b").base == ("d2",)
        assert choose(con, "diff", "latest", suite="other").candidate == ("b",)
        with pytest.raises(NotComparable, match="for 'latest' there is no other model run"):
            choose(con, "c", "latest")


def test_the_default_pair_says_most(making: Any, tmp_path: Path) -> None:
    con = making(diff=("++++", SOLVER), retype=("+---", SOLVER))
    found = choose(con)
    assert (found.base, found.candidate) == (("retype",), ("diff",))
    assert "no model run is loaded" in found.why
    con = making(a="++--")
    assert choose(con).why.startswith("the only model run on little 1 under bench, against the diff solver")
    con = making(b="+++-")
    assert choose(con).why == "the two latest model runs on little 1 under bench"
    with store.replacing(tmp_path / "empty.duckdb") as writer:
        writer.add_suite(storing.make_suite())
    with store.connect(tmp_path / "empty.duckdb") as empty:
        with pytest.raises(NothingToCompare, match="no runs"):
            choose(empty)
        assert compare_or_say_why_not(empty) == Refusal(
            "there are no runs to compare here; load some with `vimlib load`"
        )


# --- the gate


@pytest.mark.parametrize(
    ("text", "low", "high", "expected"),
    [
        ("pass_rate < -0.02", -0.3, -0.1, Verdict.BEYOND),
        ("pass_rate < -0.02", -0.3, 0.1, Verdict.UNDECIDED),
        ("pass_rate < -0.02", -0.02, 0.1, Verdict.WITHIN),
        ("pass_rate<-.02", None, None, Verdict.UNDECIDED),
        ("total_tokens > 1e2", 150.0, 200.0, Verdict.BEYOND),
        ("total_tokens > 100", 50.0, 200.0, Verdict.UNDECIDED),
        ("total_tokens > 100", -50.0, 100.0, Verdict.WITHIN),
        ("cost > 0.5", 0.6, None, Verdict.BEYOND),
    ],
)
def test_a_limit_is_held_against_the_whole_interval(
    text: str, low: float | None, high: float | None, expected: Verdict
) -> None:
    assert decide(parse_limit(text), low, high) is expected


@pytest.mark.parametrize(
    "text", ["pass_rate", "pass_rate = 1", "< 0.1", "pass_rate < x", "pass_rate < 1e999"]
)
def test_a_limit_that_does_not_read_is_refused(text: str) -> None:
    with pytest.raises(BadLimit, match="limit"):
        parse_limit(text)


def test_unknown_metrics_and_levels_are_refused(making: Any) -> None:
    with pytest.raises(UnknownMetric, match="no metric is called 'passes'; expected one of pass_rate"):
        parse_limit("passes < 0")
    con = making(a="++--", b="++--")
    with pytest.raises(BadLimit, match="alpha is 5"):
        compare(con, "a", "b", alpha=5)
    assert held_against(compare(con, "a", "b"), parse_limit("pass_rate < -0.9")) is Verdict.WITHIN


# --- the command, on answers that a real Vim replayed


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three files of answers to the first 14 seed tasks: all right, 9 spoilt, 1 spoilt."""
    folder = tmp_path_factory.mktemp("replayed")
    tasks = load_suite("seed").tasks[:14]
    for name, spoilt in (("good", 0), ("bad", 9), ("near", 1)):
        answers = {
            task.id: "ihello" if place < spoilt else task.reference for place, task in enumerate(tasks)
        }
        (folder / f"{name}.json").write_text(json.dumps(answers), encoding="utf-8")
    files = [folder / f"{name}.json" for name in ("good", "bad", "near")]
    suite = storing.write_suite(folder / "few.jsonl", tasks)
    result = load(folder / "s.duckdb", [suite], files, ["diff"], progress=False)
    assert not result.rejections
    return folder / "s.duckdb"


def vimlib(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.main([str(one) for one in arguments])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_the_command_says_what_it_found(replayed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert vimlib("compare", "good", "bad", "--database", replayed) == 0
    said = capsys.readouterr()
    assert "bad passes 9 fewer of 14 common tasks (5 against 14); with 9 discordant pairs" in said.out
    assert "newly failing: t1-delete-debug-line," in said.out
    assert "nan" not in said.out.lower().replace("unavailable", "")
    assert said.err == ""


@pytest.mark.parametrize(
    ("candidate", "more", "code"),
    [
        ("bad", ["--fail-if", "pass_rate < -0.02"], 4),
        ("bad", ["--fail-if", "pass_rate > 0.5", "--strict"], 0),
        ("near", ["--fail-if", "pass_rate < -0.02"], 0),
        ("near", ["--fail-if", "pass_rate < -0.02", "--strict"], 5),
        ("near", ["--fail-if", "pass_rate < -0.5", "--strict"], 0),
        ("near", ["--fail-if", "cost > 1", "--strict"], 5),
        ("near", ["--fail-if", "nonsense"], 2),
        ("nobody", [], 2),
        ("good", [], 2),
    ],
)
def test_exit_codes_of_the_gate(
    replayed: Path, candidate: str, more: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert vimlib("compare", "good", candidate, "--database", replayed, *more) == code
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    assert (code == 2) == said.err.startswith("vimlib: ")


def test_json_holds_everything_and_nulls_for_what_is_not_known(
    replayed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("good", "bad", "--database", replayed, "--json", "--fail-if", "pass_rate < -0.1")
    assert vimlib("compare", *arguments) == 4
    said = json.loads(capsys.readouterr().out)
    assert said["gate"] == [{"limit": "pass_rate < -0.1", "verdict": "beyond"}]
    metrics = {row["metric"]: row for row in said["metrics"]}
    assert metrics["pass_rate"]["difference"] == pytest.approx(-9 / 14)
    assert metrics["total_tokens"]["difference"] is None
    assert metrics["total_tokens"]["reason"] == "not known of either side"
    assert len(said["flips"]) == 9
    assert said["flips"][0]["candidate_keys"] == "ihello"
    assert said["flips"][0]["base_end"] == "passed"
