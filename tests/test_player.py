"""The trace player in a real browser: it plays, by keyboard too, and nothing that it shows can run."""

from __future__ import annotations

import datetime
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from browsing import visit

from vimlib.figures.player import BYTES, embedded, enable, player, visible
from vimlib.records import Outcome, Protocol, Step, Trace, VimErrorMessage
from vimlib.replay import trace
from vimlib.report import Page
from vimlib.report.page import wrap

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)><!--<svg onload=alert(3)>"
WHEN = datetime.datetime(2026, 2, 3, tzinfo=datetime.UTC)


def made(start: str, keys: str, *buffers: str, error: str | None = None) -> Trace:
    """A trace without a Vim: the state after each key is given, the last one ended."""
    message = None if error is None else VimErrorMessage(486, error)
    steps = [Step(0, "", start, "n", (1, 1), None, Outcome.UNFINISHED)]
    for typed, (key, buffer) in enumerate(zip(keys, buffers, strict=True), start=1):
        ended = typed == len(keys)
        outcome = Outcome.FINISHED if ended else Outcome.UNFINISHED
        cursor = None if ended else (1, 1)
        steps.append(Step(typed, key, buffer, None if ended else "i", cursor, message, outcome))
    return Trace(tuple(keys), tuple(steps))


def page_of(folder: Path, *players: Any) -> Path:
    """A report's page that holds players."""
    page = Page("index.html", "Players", "n.ipynb")
    article = "<h1>Players</h1><h2 id='all'>All</h2>" + "".join(one._repr_html_() for one in players)
    path = folder / "index.html"
    path.write_text(wrap(article, page, [page], report="r", created=WHEN), encoding="utf-8")
    return path


def state(seen: Any) -> tuple[str, str, str]:
    """What a reader sees of the first player: buffer, mode, and what the line says."""
    return (
        seen.page.text_content(".vp-left"),
        seen.page.text_content(".vp-line b"),
        seen.page.text_content(".vp-line span"),
    )


# In the page, since a state lasts shorter than a busy machine may take to ask for it.
STOP_AT_2 = """() => {
  const root = document.querySelector(".vp");
  window.stopped = new Promise((done) => new MutationObserver((_, watch) => {
    if (root.dataset.state !== "2") return;
    watch.disconnect();
    root.dispatchEvent(new KeyboardEvent("keydown", { key: " " }));
    done(root.dataset.state);
  }).observe(root, { attributes: true }));
}"""


def test_an_answer_is_played_by_keyboard(chromium: Any, tmp_path: Path) -> None:
    played = trace(Protocol.GOLF, "alpha\nbeta\ngamma\n", "ddAx<Esc>:s/q/q/<CR>ZZ")
    page = page_of(tmp_path, player(played, "beta!\ngamma\n", label="answer of t1"))
    with visit(chromium, page) as seen:
        shown = seen.page
        shown.wait_for_selector(".vp-ready")
        assert state(seen) == ("betax\ngamma", "ENDED", "key 15 of 15: Z · E486: Pattern not found: q")
        shown.focus(".vp")
        shown.keyboard.press("Home")
        assert state(seen) == ("alpha\nbeta\ngamma", "NORMAL", "start · line 1")
        assert shown.text_content(".vp-left del") == "alpha"
        for _ in range(2):
            shown.keyboard.press("ArrowRight")
        assert state(seen) == ("beta\ngamma", "NORMAL", "key 2 of 15: d · line 1")
        assert shown.text_content(".vp-left .vp-cursor") == "b"
        shown.keyboard.press("l")
        shown.keyboard.press("l")
        assert state(seen) == ("betax \ngamma", "INSERT", "key 4 of 15: x · line 1")
        assert shown.text_content("kbd[aria-current]") == "x"
        assert shown.locator("kbd.vp-typed").count() == 4
        shown.keyboard.press("ArrowLeft")
        assert state(seen)[2].startswith("key 3 of 15: A")
        shown.keyboard.press("End")
        assert state(seen)[1] == "ENDED"
        assert shown.text_content("kbd.vp-error") == "<CR>"
        shown.evaluate(STOP_AT_2)
        shown.keyboard.press(" ")
        stopped = shown.evaluate("stopped")
        shown.wait_for_timeout(700)
        assert shown.evaluate("document.querySelector('.vp').dataset.state") == stopped != "15"
        shown.click("button[aria-label^='First']")
        assert state(seen)[2] == "start · line 1"
        assert (seen.errors, seen.requests, seen.dialogs) == ([], [], [])


def test_without_a_script_the_end_is_there_to_read(chromium: Any, tmp_path: Path) -> None:
    played = made("a\n", "xy", "b\n", "\n\nc\n", error="E486: Pattern not found")
    with visit(chromium, page_of(tmp_path, player(played, "c\nd\n")), javascript=False) as seen:
        assert state(seen) == ("\n\nc", "ENDED", "after 2 keys: E486: Pattern not found")
        assert seen.page.text_content(".vp-target") == "c\nd"
        assert seen.page.text_content(".vp-target ins") == "d"
        assert seen.page.text_content(".vp-keys") == "xy"


HOSTILE = {
    "markup": EVIL,
    "separators": "a\u2028b\u2029c",
    "escapes": "\x1b[31mred\x1b]0;title\x07\x00\x08\x7f\x9b",
    "right to left": "\u202egpj.exe\u2066\u200f \u05e9\u05dc\u05d5\u05dd",
    "astral": "\U0001f600\U00020000 a\u0301\u0301\u0301",
    "surrogate": "\udcff\ud800",
    "quotes": "\\\"'&amp;${x}`",
}


def test_whatever_an_answer_holds_stays_text(chromium: Any, tmp_path: Path) -> None:
    players = [
        player(
            made("start\n", "iX", f"{text}start\n", f"{text}\n{text}\n", error=text), f"{text}!\n", label=text
        )
        for text in HOSTILE.values()
    ]
    keys = Trace((EVIL, "x"), made("a\n", "xy", "b\n", "c\n").steps)
    page = page_of(tmp_path, *players, player(keys, "a\n"))
    written = page.read_text(encoding="utf-8")
    assert "<script>alert" not in written and "<img" not in written
    with visit(chromium, page) as seen:
        for place, text in enumerate([*HOSTILE.values(), "c"]):
            one = seen.page.locator(".vp").nth(place)
            one.scroll_into_view_if_needed()
            one.locator(".vp-bar").wait_for()
            left = one.locator(".vp-left")
            expected = visible(text)
            assert left.text_content() == (f"{expected}\n{expected}" if place < len(HOSTILE) else "c")
            one.focus()
            seen.page.keyboard.press("ArrowLeft")
            assert (left.text_content() or "").endswith("start" if place < len(HOSTILE) else "b")
        assert seen.page.locator("main img, main svg, main script:not([type])").count() == 0
        assert (seen.errors, seen.requests, seen.dialogs) == ([], [], [])


def test_a_page_of_200_traces_grows_by_less_than_a_megabyte(chromium: Any, tmp_path: Path) -> None:
    long = made(
        "".join(f"line {number} of a buffer that is not short at all, and goes on\n" for number in range(60)),
        "x" * 300,
        *("".join(f"line {number} {key}\n" for number in range(key % 60)) for key in range(300)),
    )
    wide = made("y" * 10_000 + "\n", "abc", "z" * 10_000 + "\n", "a" * 50_000, "\n" * 9_000)
    real = trace(Protocol.GOLF, "alpha\nbeta\ngamma\n", "iThe problem is to find a way.<Esc>:%s/a/b/g<CR>ZZ")
    some = [player(one, "target\n") for one in (long, wide, real)]
    assert all(len(one.markup.encode()) <= BYTES for one in some)
    assert len(some[2].markup.encode()) < BYTES, "an ordinary answer is not cut"
    assert "states" in some[0].markup and "not shown" in some[0].markup
    page = page_of(tmp_path, *(some[number % 3] for number in range(200)))
    assert page.stat().st_size - page_of(tmp_path / "..", some[2]).stat().st_size < 1_000_000
    with visit(chromium, page, width=400) as seen:
        seen.page.wait_for_selector(".vp-ready")
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 400, "nothing breaks the layout"
        assert seen.errors == []


def test_an_answer_of_fifty_thousand_characters_is_cut() -> None:
    tokens = ("x" * 50_000,)
    steps = (
        Step(0, "", "a\n", "n", (1, 1), None, Outcome.UNFINISHED),
        Step(50_000, "x", "b\n", "n", (1, 1), None, Outcome.UNFINISHED),
    )
    made_of = player(Trace(tuple(tokens[0]), steps), "c\n")
    assert len(made_of.markup.encode()) <= BYTES
    assert "50,000 keys" in made_of.markup


class Texts(HTMLParser):
    """The text of the one JSON script of a piece of HTML."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.found = ""
        self._inside = False
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._inside = tag == "script"

    def handle_endtag(self, tag: str) -> None:
        self._inside = False

    def handle_data(self, data: str) -> None:
        self.found += data if self._inside else ""


@pytest.mark.parametrize("text", [*HOSTILE.values(), "\r\n\t", "\ufdd0\uffff"])
def test_embedded_json_comes_back_as_it_was(text: str) -> None:
    found = embedded([text])
    assert not re.search("[<>&\u2028\u2029]", found)
    assert json.loads(Texts(f"<script>{found}</script>").found) == [text]


def test_nothing_invisible_is_left() -> None:
    assert visible("\x1b[0m\x00\x7f") == "^[[0m^@^?"
    assert visible("a\u202eb\u200bc\u0085") == "a\ufffdb\ufffdc\ufffd"
    assert visible("\udcff\tx") == "\\xff\tx"


def test_jupyterlab_is_given_the_script_by_hand() -> None:
    bundle = enable()._repr_mimebundle_()  # type: ignore[attr-defined]
    assert "IntersectionObserver" in bundle["application/javascript"]
    assert ".vp-left" in bundle["application/javascript"]
