"""The page on failures, from a store of real verdicts to a real browser, and the same in the terminal."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from browsing import visit
from failing import CASES, store_cases

from vimlib import cli, store
from vimlib.analysis import failures
from vimlib.figures import failures as show
from vimlib.figures.answers import answer_player, to_play
from vimlib.figures.canvas import Picture
from vimlib.records import FailureMode, Protocol
from vimlib.replay import trace_many
from vimlib.report import run_report

NOTEBOOK = Path(__file__).parent.parent / "notebooks" / "04_failure_modes.ipynb"
EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\x1b[31m\u202egpj"
SLOW = {"timeout", "crash"}
HOSTILE = {
    "id": "hostile",
    "protocol": "golf",
    "start": f"{EVIL}\n\x00\x01{'x' * 10_000}\n\u05e9\u05dc\u05d5\u05dd\n",
    "target": "nothing of it\n" + "y" * 60_000,
    "completion": f"{EVIL}\n:s/script/b/<CR>i{'z' * 50_000}{EVIL}",
    "mode": "unfinished",
    "repair": None,
}
QUICK = [*(case for case in CASES if case["mode"] not in SLOW), HOSTILE]
PAGED = {"provider_error", "prose", "fence", "over_cap", "vim_error", "order", "near_miss"}
"""Modes that the tests of the whole page show: each answer is played key by key for it."""
MODES = {case["mode"] for case in QUICK}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("failures") / "store.duckdb"
    store_cases(path, QUICK, name=EVIL)
    return path


@pytest.fixture
def con(database: Path) -> Iterator[Any]:
    with store.connect(database) as con:
        yield con


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page as a report makes it, of one quick answer a mode and the hostile one."""
    database = tmp_path_factory.mktemp("page") / "store.duckdb"
    few = {case["mode"]: case for case in reversed(QUICK) if case["mode"] in PAGED}
    store_cases(database, [*few.values(), HOSTILE | {"completion": HOSTILE["completion"][:400]}], name=EVIL)
    made = run_report(
        "failures",
        database=database,
        parameters={"top_n": 2, "cache": str(database.with_name("replays.sqlite"))},
        notebooks=[NOTEBOOK],
        out=database.parent / "reports",
        created=datetime.datetime(2026, 2, 3, tzinfo=datetime.UTC),
        progress=False,
    )
    return made.front


# --- frames


def test_every_failed_sample_has_a_row_and_every_mode_its_count(con: Any) -> None:
    runs = failures.chosen_runs(con)
    failed = failures.failed_samples(con, runs)
    counted = failures.modes_by_run(runs, failed)
    assert counted["samples"].sum() == len(failed)
    assert set(counted["failure_mode"]) == MODES
    lost = counted[counted["run_id"] == "nothing-answered"]
    assert list(lost["failure_mode"]) == ["provider_error"] and lost["share"].isna().all()
    assert "all-passed" not in set(counted["run_id"])
    golf = counted[(counted["run_id"] == "golf") & (counted["failure_mode"] != "provider_error")]
    assert golf["samples"].sum() == golf["scored"].iloc[0], "every scored answer of it failed"
    assert golf["share"].sum() == pytest.approx(1.0)


def test_runs_are_chosen_by_id_name_and_protocol(con: Any) -> None:
    assert set(failures.chosen_runs(con, ["golf"])["run_id"]) == {"golf"}
    assert set(failures.chosen_runs(con, [EVIL])["run_id"]) == {"golf", "bench"}
    assert set(failures.chosen_runs(con, protocol="bench")["run_id"]) == {"bench"}
    nothing = failures.chosen_runs(con, suite="other")
    assert nothing.empty
    assert failures.failed_samples(con, nothing).empty
    assert failures.modes_by_run(nothing, failures.failed_samples(con, nothing)).empty


def test_counts_by_kind_add_up(con: Any) -> None:
    runs = failures.chosen_runs(con)
    failed = failures.failed_samples(con, runs)
    scored = int(runs["scored"].sum())
    for by in failures.BY:
        frame = failures.modes_by(con, runs, failed, by)
        assert frame["scored"].sum() == scored
        assert frame["passed"].sum() + frame[list(failures.MODES)].to_numpy().sum() == scored
    lengths = failures.modes_by(con, runs, failed, "answer_length")["value"].to_list()
    assert lengths[0] == "0 to 9" and "300 and more" in lengths
    with pytest.raises(ValueError, match="by is 'colour'"):
        failures.modes_by(con, runs, failed, "colour")


def test_format_ending_and_skill_make_up_the_failures(con: Any) -> None:
    runs = failures.chosen_runs(con)
    failed = failures.failed_samples(con, runs)
    skill = failures.format_or_skill(runs, failed)
    assert (skill["passed"] + skill["format"] + skill["ending"] + skill["skill"] == skill["scored"]).all()
    expected = [case["repair"] for case in QUICK if case["repair"]]
    assert skill["format"].sum() + skill["ending"].sum() == len(expected)
    assert failures.repairs_by_run(runs, failed)["samples"].sum() == len(expected)
    empty = skill[skill["run_id"] == "nothing-answered"]
    assert empty["pass_rate_repaired"].isna().all()


def test_errors_changes_and_tasks(con: Any) -> None:
    runs = failures.chosen_runs(con)
    failed = failures.failed_samples(con, runs)
    errors = failures.vim_errors(failed)
    pattern = errors[errors["number"] == 486].iloc[0]
    assert pattern["samples"] == 2 and pattern["primary"] == 2
    assert pattern["meaning"] == "a pattern that is not in the buffer"
    changes = failures.mode_changes(con, runs)
    assert set(changes["after"]) == {"passed"} or set(changes["before"]) == {"passed"}
    assert changes["samples"].sum() == changes["shared"].iloc[0]
    every = failures.tasks(con, runs)
    assert len(failures.hardest(every, 5)) == 5
    dividing = failures.dividing(every, 100)
    assert (dividing["divides"] == 1).all() and len(dividing) > 10
    assert "golf-cut-off" in set(dividing["task_id"])


def test_the_gallery_takes_each_mode_and_no_answer_twice(con: Any) -> None:
    failed = failures.failed_samples(con, failures.chosen_runs(con))
    shown = failures.telling(failed, 1)
    assert set(shown["failure_mode"]) == MODES
    assert list(dict.fromkeys(shown["failure_mode"])) == [mode for mode in failures.MODES if mode in MODES]
    fence = shown[shown["failure_mode"] == "fence"]
    assert fence["repairable_by"].notna().all()


# --- pictures and tables


def test_a_page_of_nothing_says_so(con: Any) -> None:
    none = failures.chosen_runs(con, suite="other")
    failed = failures.failed_samples(con, none)
    skill = failures.format_or_skill(none, failed)
    assert "No run fits" in show.nothing_failed(none, failed).markup
    assert "No model was loaded" in show.findings(none, failed, skill).markup
    assert show.modes_picture(none, failures.modes_by_run(none, failed), show.parts(failed), "x").markup == ""
    assert "No repair makes" in show.repairs_table(none, failures.repairs_by_run(none, failed))._repr_html_()
    passed = failures.chosen_runs(con, ["all-passed"])
    failed = failures.failed_samples(con, passed)
    assert "Nothing failed" in show.nothing_failed(passed, failed).markup
    skill = failures.format_or_skill(passed, failed)
    assert f"all {len(QUICK)} scored answers pass" in show.findings(passed, failed, skill).markup
    picture = show.modes_picture(passed, failures.modes_by_run(passed, failed), show.parts(failed), "x")
    assert isinstance(picture, Picture) and picture.title == "Nothing failed."
    lost = failures.chosen_runs(con, ["nothing-answered"])
    failed = failures.failed_samples(con, lost)
    found = show.findings(lost, failed, failures.format_or_skill(lost, failed)).markup
    assert "nothing was scored, so nothing failed" in found


def test_the_same_frames_give_the_same_bytes_without_markup_from_outside(con: Any) -> None:
    runs = failures.chosen_runs(con)
    failed = failures.failed_samples(con, runs)
    by_run, parts = failures.modes_by_run(runs, failed), show.parts(failed)

    def made() -> str:
        pieces = [
            show.findings(runs, failed, failures.format_or_skill(runs, failed)),
            show.modes_picture(runs, by_run, parts, "s"),
            show.modes_picture(runs, by_run, parts, "s", absolute=True),
            show.modes_table(runs, by_run, "s"),
            show.errors_table(failures.vim_errors(failed)),
            show.gallery("prose", failures.telling(failed, 2), runs, {}),
            show.rules_table(),
        ]
        return "".join(piece._repr_html_() for piece in pieces)

    first = made()
    assert first == made()
    assert (
        "<script>alert" not in first and "<img" not in first and "\x1b" not in first and "\u202e" not in first
    )
    for rule in FailureMode:
        assert show.WORDS[rule] in first


def test_an_answer_that_was_not_played_shows_its_end(con: Any) -> None:
    failed = failures.failed_samples(con, failures.chosen_runs(con, ["golf"]))
    row = failed[failed["task_id"] == "golf-never-saves"].iloc[0].to_dict()
    assert ">NORMAL</b>" in answer_player(row, {}).markup
    played = trace_many([(Protocol.GOLF, row["start"], row["keys"])])
    assert answer_player(row, played).markup != answer_player(row, {}).markup


# --- the page in a browser


def test_the_page_plays_by_keyboard_asks_for_nothing_and_runs_nothing_of_an_answer(
    chromium: Any, page: Path
) -> None:
    with visit(chromium, page) as seen:
        shown = seen.page
        assert shown.locator(".vp").count() > len(PAGED)
        for heading in ("Modes by run", "Format against skill", "Answers to look at", "The rules"):
            assert shown.get_by_role("heading", name=heading).count() == 1
        first = shown.locator(".vp").nth(3)
        first.scroll_into_view_if_needed()
        first.locator(".vp-bar").wait_for()
        first.focus()
        end = first.get_attribute("data-state") or ""
        shown.keyboard.press("Home")
        assert first.get_attribute("data-state") == "0"
        shown.keyboard.press("ArrowRight")
        assert first.get_attribute("data-state") == "1"
        shown.keyboard.press("End")
        assert first.get_attribute("data-state") == end
        for one in shown.locator(".vp").all():
            one.scroll_into_view_if_needed()
            one.locator(".vp-bar").wait_for()
        assert "<img src=x onerror=alert(2)>" in (shown.text_content("main") or "")
        assert shown.locator("main img, main script:not([type='application/json'])").count() == 0
        assert (seen.errors, seen.requests, seen.dialogs) == ([], [], [])


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_breaks_the_layout(chromium: Any, page: Path, width: int) -> None:
    with visit(chromium, page, width=width, dark=width == 390) as seen:
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_second_page_starts_no_vim(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = page.parent.parent.parent
    with store.connect(folder / "store.duckdb") as con:
        shown = failures.telling(failures.failed_samples(con, failures.chosen_runs(con)), 2)
    asked = to_play(shown)

    def never(*_: object) -> None:
        raise AssertionError("Vim was started")

    monkeypatch.setattr("vimlib.replay.play", never)
    assert len(trace_many(asked, cache=folder / "replays.sqlite")) == len(asked) >= len(PAGED) - 1


# --- the terminal


def explain(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        cli.main(["explain", *arguments])
    captured = capsys.readouterr()
    return int(ended.value.code or 0), captured.out, captured.err


def test_explain_says_mode_evidence_and_keys(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = explain(
        capsys, "golf", "golf-pattern-not-found", "--database", str(database), "--no-cache"
    )
    assert (code, err) == (0, "")
    assert "failed: vim_error (result): Vim reported an error" in out
    assert "E486: Pattern not found: nothing" in out
    assert re.search(r"^  14  <CR> +n +\d+ %  E486", out, flags=re.MULTILINE)
    assert "the first error came with key 14" in out
    assert "the target was never nearer than at the start" in out


def test_explain_keeps_a_hostile_answer_from_the_terminal(
    database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = explain(capsys, "golf", "hostile", "--database", str(database), "--no-trace")
    assert code == 0
    assert all(character.isprintable() or character == "\n" for character in out)
    assert "\\x1b[31m" in out and len(out) < 20_000


def test_explain_says_what_passed_and_whom_it_does_not_know(
    database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ("--database", str(database))
    code, out, _ = explain(capsys, "all-passed", "golf-fence", *where)
    assert code == 0 and "under golf\npassed\nkey by key" in out
    code, _, err = explain(capsys, "nobody", "golf-fence", *where)
    assert code == 2 and "no run of id or name 'nobody'" in err and "all-passed" in err
    code, _, err = explain(capsys, "golf", "no-such-task", *where)
    assert code == 2 and "has no answer to task 'no-such-task'" in err


def test_frames_of_the_store_have_no_stray_types(con: Any) -> None:
    frame = store.query(con, "failures_classified")
    assert isinstance(frame, pd.DataFrame) and frame["failure_mode"].notna().all()
    assert frame["flags"].map(len).max() >= 2
