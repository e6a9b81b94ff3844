"""A real Chromium for the tests: pages opened as a reader opens them, and what they did there.

The browser is the system's own (Debian's `chromium`), driven by Playwright; nothing is downloaded.
Tests that use the `chromium` fixture (conftest.py) are skipped where there is none.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",  # tests run as root on clean machines, where Chromium's own sandbox cannot
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_chromium() -> str | None:
    """The system's Chromium; None: there is none on the PATH."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@dataclass
class Visit:
    """An open page, and everything that it said or asked for since."""

    page: Page
    requests: list[str] = field(default_factory=list)
    """Addresses asked for, but the page's own."""
    errors: list[str] = field(default_factory=list)
    """Errors and warnings of the console, refusals of the page's policy among them, and exceptions."""
    dialogs: list[str] = field(default_factory=list)
    """What a script alerted, which no page of ours does."""


@contextmanager
def visit(
    chromium: Browser,
    place: Path | str,
    *,
    width: int = 1280,
    height: int = 900,
    javascript: bool = True,
    dark: bool = False,
) -> Iterator[Visit]:
    """Open a file or address in a window of its own and forget all about it afterwards.

    `javascript`: whether scripts run. `dark`: whether the reader prefers dark pages.
    """
    address = place.resolve().as_uri() if isinstance(place, Path) else place
    context = chromium.new_context(
        viewport={"width": width, "height": height},
        java_script_enabled=javascript,
        color_scheme="dark" if dark else "light",
    )
    try:
        context.set_default_timeout(20_000)
        seen = Visit(context.new_page())

        def asked(request: str) -> None:
            if request != address and not request.startswith("data:"):
                seen.requests.append(request)

        seen.page.on("request", lambda request: asked(request.url))
        seen.page.on(
            "console",
            lambda message: (
                seen.errors.append(f"{message.type}: {message.text}")
                if message.type in {"error", "warning"}
                else None
            ),
        )
        seen.page.on("pageerror", lambda error: seen.errors.append(f"exception: {error}"))
        seen.page.on("dialog", lambda dialog: (seen.dialogs.append(dialog.message), dialog.dismiss()))
        seen.page.goto(address)
        yield seen
    finally:
        context.close()
