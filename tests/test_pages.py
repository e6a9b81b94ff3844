"""Every page of a real report in a real browser: at a desk and on a phone, light and dark.

What axe-core calls a serious or critical fault is one here. Pages are those of all notebooks that there
are, so that a page that is added is tested as it is.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest
from browsing import Visit, visit
from reporting import PAGES, Reported

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ALL_PAGES = [*PAGES, "../index.html"]
DESK, PHONE = 1280, 390
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@cache
def axe() -> str:
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


def faults(seen: Visit) -> list[str]:
    """The serious and critical faults that axe-core finds in a page, each with where it is."""
    seen.page.evaluate(axe())
    options = {"runOnly": {"type": "tag", "values": TAGS}, "resultTypes": ["violations"]}
    found: dict[str, Any] = seen.page.evaluate("options => axe.run(document, options)", options)
    assert len(found["passes"]) > 15, "it looked at something"
    return [
        f"{one['id']}: {one['help']}: {node['target']}: {node.get('failureSummary', '')}"
        for one in found["violations"]
        if one["impact"] in {"serious", "critical"}
        for node in one["nodes"][:3]
    ]


def check(seen: Visit, width: int) -> None:
    """What holds of every page however it is looked at."""
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width, wide_parts(seen, width)
    assert faults(seen) == []
    assert seen.errors == []
    assert seen.requests == []
    assert seen.dialogs == []


def wide_parts(seen: Visit, width: int) -> list[str]:
    """What sticks out of the window, for whoever has to mend it."""
    parts: list[str] = seen.page.evaluate(
        """width => [...document.querySelectorAll("main *, header *, footer *")]
          .filter((one) => one.getBoundingClientRect().right > width && !one.closest(".scroll"))
          .map((one) => `${one.tagName} ${one.className} ${(one.textContent || "").slice(0, 40)}`)""",
        width,
    )
    return parts[:10]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("page", ALL_PAGES)
def test_a_page_fits_asks_nobody_complains_of_nothing_and_can_be_read_by_all(
    reported: Reported, chromium: Browser, page: str, width: int, dark: bool
) -> None:
    with visit(chromium, reported.pages / page, width=width, dark=dark) as seen:
        check(seen, width)
        seen.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width, wide_parts(seen, width)


def test_links_and_anchors_lead_somewhere(reported: Reported, chromium: Browser) -> None:
    links, ids = {}, {}
    for page in ALL_PAGES:
        with visit(chromium, reported.pages / page) as seen:
            links[page] = seen.page.eval_on_selector_all(
                "a[href]", "all => all.map((one) => one.getAttribute('href'))"
            )
            named = seen.page.eval_on_selector_all("[id]", "all => all.map((one) => one.id)")
            assert len(named) == len(set(named)), "an anchor leads to one place"
            ids[(reported.pages / page).resolve()] = set(named)
    assert sum(map(len, links.values())) > 100
    for page, found in links.items():
        here = (reported.pages / page).resolve()
        for link in found:
            if link.startswith("https://"):
                continue
            assert not re.match(r"\w+:", link), f"{page}: {link}"
            place, _, anchor = link.partition("#")
            there = (here.parent / unquote(place)).resolve() if place else here
            assert there.is_file() and there.is_relative_to(reported.folder), f"{page}: {link}"
            if anchor and there in ids:
                assert unquote(anchor) in ids[there], f"{page}: {link}"


SORTED = """button => {
  const head = button.closest("th"), table = head.closest("table"), way = head.getAttribute("aria-sort");
  const others = table.querySelectorAll("th[aria-sort]").length;
  return [way, others, head.matches(".k-number, .k-bar"), [...table.tBodies].map((body) =>
    [...body.rows].filter((row) => !row.classList.contains("group"))
      .map((row) => row.cells[head.cellIndex].dataset.v))];
}"""


@pytest.mark.parametrize("page", ALL_PAGES)
def test_every_column_of_every_table_sorts_by_click_and_by_key(
    reported: Reported, chromium: Browser, page: str
) -> None:
    with visit(chromium, reported.pages / page) as seen:
        buttons = seen.page.locator(".tab thead button")
        heads = seen.page.locator(".tab thead th").count()
        assert buttons.count() == heads
        for place, button in enumerate(buttons.element_handles()):
            ways = []
            for _ in range(2):
                # By hand once a page, which is slow; every column by the event that both ways send.
                if place == 0:
                    button.click() if not ways else button.press("Enter")
                else:
                    button.evaluate("button => button.click()")
                way, others, numbers, bodies = button.evaluate(SORTED)
                ways.append(way)
                assert others == 1, "one column says that it is sorted"
                for values in bodies:
                    check_order(values, way, numbers=numbers)
            assert set(ways) == {"ascending", "descending"}, "the second press turns the order"
        assert seen.errors == [] and seen.requests == []


def check_order(values: list[str], way: str, *, numbers: bool) -> None:
    """Sorted as its head says, and what is not known last, whichever way."""
    known = [value for value in values if value != ""]
    assert values == known + [""] * (len(values) - len(known))
    if numbers:
        amounts = [float(value) for value in known]
        assert amounts == sorted(amounts, reverse=way == "descending")


def test_a_page_is_small_enough_to_send_and_is_all_there_without_scripts(
    reported: Reported, chromium: Browser
) -> None:
    for page in PAGES:
        assert (reported.pages / page).stat().st_size < 5_000_000
        with visit(chromium, reported.pages / page, javascript=False) as seen:
            assert seen.page.locator("main h1").count() == 1
            assert seen.page.locator("main table, main svg").count() >= 1


def test_every_picture_has_words_for_those_who_do_not_see_it(reported: Reported, chromium: Browser) -> None:
    pictures = 0
    for page in PAGES:
        with visit(chromium, reported.pages / page, javascript=False) as seen:
            for words, bare in seen.page.evaluate(PICTURES):
                assert len(words) > 20 and not bare, f"{page}: {words}"
                pictures += 1
    assert pictures > 10


PICTURES = """() => [...document.querySelectorAll("main [role=img], main img, main svg:not([role=img] svg)")]
  .map((one) => [one.getAttribute("aria-label") || one.getAttribute("alt") || "", one.matches("svg")])"""


def test_the_report_of_reports_lists_this_one(reported: Reported, chromium: Browser) -> None:
    with visit(chromium, reported.folder / "reports" / "index.html") as seen:
        link = seen.page.locator(f"main a[href='{reported.pages.name}/index.html']")
        assert link.count() == 1
        link.click()
        assert Path(unquote(seen.page.url.removeprefix("file://"))).resolve() == reported.pages / "index.html"
