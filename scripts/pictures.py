"""The pictures of a report that README and docs/tour.md show, drawn by a real Chromium.

Each is a cut of one page, as wide as a reader's window and cut where a section ends, in few colours so
that it stays small. The pages are the report's own; nothing is drawn here.

    python scripts/pictures.py REPORT FOLDER

`scripts/screenshot.sh` makes the report first.
"""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

WIDTH = 1280
HEIGHT = 2000
"""Of the window: more than any picture."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SANDBOXLESS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync")
"""Root has no sandbox of Chromium's own; the pages are ours, and ask for nothing."""


@dataclass(frozen=True)
class Shot:
    """One picture."""

    name: str
    page: str
    """File of the report."""
    begin: str = ""
    """Selector of what stands at the top; '': the page's own top."""
    tallest: int = 1500
    """Pixels; where a section or card ends before that, the picture ends there."""
    prepare: Callable[[Page], str | None] | None = None
    """Done before; what it returns is `begin`. What it calls `picture-end` is the last thing shown."""


def open_player(page: Page) -> str | None:
    """Bring an answer of a readable length to the middle of its keys, as a reader does by the keyboard."""
    place = page.evaluate(
        """() => {
            const players = [...document.querySelectorAll('.vp')];
            const value = (player) => {
                const data = JSON.parse(player.querySelector('script').textContent);
                const keys = data.k.length, lines = data.s.length;
                const short = player.offsetHeight < 520 && keys >= 6 && keys <= 90;
                return (short ? 4 : 0) + (data.g ? 2 : 0) + (data.x ? 1 : 0) - lines / 100;
            };
            const best = players.map(value);
            const chosen = best.indexOf(Math.max(...best));
            if (chosen < 0) return -1;
            let card = players[chosen];
            while (card.previousElementSibling && card.tagName !== 'H4') card = card.previousElementSibling;
            card.id = 'picture-begin';
            players[chosen].id = 'picture-end';
            return chosen;
        }"""
    )
    if place < 0:
        return None
    player = page.locator(".vp").nth(place)
    player.scroll_into_view_if_needed()
    page.wait_for_selector("#picture-end.vp-ready")
    player.focus()
    player.press("Home")
    steps = player.evaluate("e => JSON.parse(e.querySelector('script').textContent).f.length")
    for _ in range(max(1, steps * 2 // 3)):
        player.press("ArrowRight")
    return "#picture-begin"


SHOTS = (
    Shot("report", "index.html", tallest=1900),
    Shot("results", "leaderboard.html", begin="main h2", tallest=1180),
    Shot("failures", "failure_modes.html", tallest=760, prepare=open_player),
    Shot("compare", "compare.html", tallest=1420),
    Shot("cost", "token_cost.html", tallest=1500),
    Shot("contamination", "contamination.html", tallest=1600),
)


def cut(page: Page, begin: str, tallest: float) -> tuple[float, float]:
    """Where the picture begins and ends, in pixels of the window: at the end of something whole."""
    edges: list[float] = page.evaluate(
        """([begin, tallest]) => {
            const box = (e) => e.getBoundingClientRect();
            const top = begin ? Math.max(0, box(document.querySelector(begin)).top - 24) : 0;
            const last = document.querySelector('#picture-end');
            if (last) return [top, box(last).bottom + 24];
            const things = '.tab, figure, .vp, .tiles, .lede, p, .notice, h2, h3';
            const boxes = [...document.querySelectorAll(things)].map(box).filter((b) => b.height > 0);
            const ends = '.tab, figure, .vp, .tiles, .notice, .lede';
            const whole = [...document.querySelectorAll(ends)].map((e) => box(e).bottom)
                .filter((end) => end > top + 200 && end + 28 < top + tallest)
                .filter((end) => !boxes.some((b) => b.top < end - 1 && b.bottom > end + 1));
            return [top, Math.max(...whole, top + 300) + 28];
        }""",
        [begin, tallest],
    )
    return edges[0], edges[1]


def draw(page: Page, shot: Shot, report: Path, folder: Path) -> None:
    """Open the page, cut the picture out and write it."""
    page.goto((report / shot.page).as_uri())
    begin = (shot.prepare(page) if shot.prepare else None) or shot.begin
    if begin:
        # What stays at the top of the window would lie over the middle of a page.
        page.add_style_tag(content=".status, .toc { position: static !important }")
        page.locator(begin).first.evaluate("e => e.scrollIntoView({block: 'start', behavior: 'instant'})")
        # Players above and below come to life as they come into view, and move their neighbours.
        page.wait_for_timeout(500)
        page.locator(begin).first.evaluate("e => e.scrollIntoView({block: 'start', behavior: 'instant'})")
    top, end = cut(page, begin, shot.tallest)
    clip = {"x": 0.0, "y": top, "width": float(WIDTH), "height": float(round(end - top))}
    image = Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")
    path = folder / f"{shot.name}.png"
    image.quantize(128, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path}: {image.width} x {image.height}, {path.stat().st_size / 1000:.0f} kB")


def main() -> int:
    """All pictures; what is missing is said in one line."""
    report, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        print("pictures: no Chromium on the PATH. Type: sudo apt-get install chromium", file=sys.stderr)
        return 1
    missing = [shot.page for shot in SHOTS if not (report / shot.page).is_file()]
    if missing:
        print(f"pictures: {report} has no {', '.join(missing)}: it is no whole report", file=sys.stderr)
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=browser, args=list(SANDBOXLESS))
        for shot in SHOTS:
            page = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
            draw(page, shot, report, folder)
            page.close()
        chromium.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
