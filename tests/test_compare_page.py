"""The page of a comparison in a real browser: flips are played on it, and nothing of an answer runs."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
import storing
from browsing import visit
from test_compare import vimlib

from vimlib.load import load
from vimlib.report import run_report
from vimlib.suites import load_suite

NOTEBOOK = Path(__file__).parent.parent / "notebooks" / "07_compare.ipynb"
EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files of answers to five tasks: `bad` fails the first three, the second of them with markup, and
    `good` the last; the titles hold markup too."""
    folder = tmp_path_factory.mktemp("page")
    tasks = load_suite("seed").tasks[:5]
    right = {task.id: task.reference for task in tasks}
    ids = [task.id for task in tasks]
    typed = f"O{EVIL.replace('<', '<<')}"
    wrong = right | {ids[0]: "ihello", ids[1]: typed, ids[2]: "<Nope>"}
    for name, answers in (("good", right | {ids[4]: "x"}), ("bad", wrong)):
        (folder / f"{name}.json").write_text(json.dumps(answers), encoding="utf-8")
    suite = storing.write_suite(folder / "few.jsonl", tasks)
    files = [folder / "good.json", folder / "bad.json"]
    result = load(folder / "s.duckdb", [suite], files, ["noop"], progress=False)
    assert not result.rejections
    return folder / "s.duckdb"


@pytest.fixture(scope="module")
def page(database: Path) -> Path:
    made = run_report(
        "flips",
        database=database,
        parameters={
            **{"base": "good", "candidate": "bad", "most_played": 3},
            "cache": str(database.with_name("replays.sqlite")),
        },
        notebooks=[NOTEBOOK],
        out=database.parent / "reports",
        progress=False,
    )
    return made.front


def unfold(seen: Any) -> None:
    seen.page.evaluate("document.querySelectorAll('details.flip').forEach(card => { card.open = true })")


def test_both_answers_of_a_flip_are_played_by_keyboard(chromium: Any, page: Path) -> None:
    with visit(chromium, page) as seen:
        shown = seen.page
        cards = shown.locator("details.flip")
        assert cards.count() == 3, "the second flip that newly fails waits for the first that newly passes"
        assert shown.locator(".vp").count() == 6
        first = cards.first.locator(".vp")
        for place, end in ((0, "100 % alike"), (1, "alike")):
            one = first.nth(place)
            one.scroll_into_view_if_needed()
            one.locator(".vp-bar").wait_for()
            assert end in (one.text_content() or "")
            one.focus()
            last = one.get_attribute("data-state") or ""
            shown.keyboard.press("Home")
            assert one.get_attribute("data-state") == "0"
            shown.keyboard.press("ArrowRight")
            assert one.get_attribute("data-state") == "1"
            shown.keyboard.press("End")
            assert one.get_attribute("data-state") == last != "0"
        assert (seen.errors, seen.requests, seen.dialogs) == ([], [], [])


def test_markup_of_an_answer_stays_text(chromium: Any, page: Path) -> None:
    assert page.stat().st_size < 5_000_000
    with visit(chromium, page) as seen:
        unfold(seen)
        for one in seen.page.locator(".vp").all():
            one.scroll_into_view_if_needed()
            one.locator(".vp-bar").wait_for()
        typed = seen.page.locator(".vp", has_text=EVIL)
        assert typed.count() == 1
        assert EVIL in (typed.locator(".vp-left").text_content() or "")
        assert seen.page.locator("main img, main script:not([type='application/json'])").count() == 0
        assert (seen.errors, seen.requests, seen.dialogs) == ([], [], [])


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_breaks_the_layout(chromium: Any, page: Path, width: int) -> None:
    with visit(chromium, page, width=width, dark=width == 390) as seen:
        unfold(seen)
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


def test_flips_without_players_are_played_by_the_command_that_is_shown(
    chromium: Any, page: Path, database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with visit(chromium, page) as seen:
        commands = seen.page.locator("#tab-flips-elsewhere code").all_text_contents()
        assert "Players are shown for 3 of 4 tasks" in (seen.page.text_content("main") or "")
    for command, verdict in zip(commands, ("passed\n", "failed: bad_notation"), strict=True):
        program, *arguments = shlex.split(command)
        assert program == "vimlib"
        assert vimlib(*arguments, "--database", database, "--no-cache") == 0
        said = capsys.readouterr().out
        assert verdict in said
        assert ("key by key" in said) == (verdict == "passed\n"), "bad notation is never typed"
