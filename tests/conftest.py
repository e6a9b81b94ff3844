"""What the tests share: the real inputs that are no part of the project, a whole report, a browser."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browsing import FLAGS, NAMES, find_chromium
from hypothesis import settings
from reporting import Reported, whole_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PROJECT = Path(__file__).resolve().parent.parent

# The same examples each time and however slow the machine, so that a failure is the code's.
settings.register_profile("vimlib", derandomize=True, deadline=None, database=None)
settings.load_profile("vimlib")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real challenges, solutions and logs beside the project; skips where there is none.

    `VIMLIB_SHARED` names another folder.
    """
    folder = Path(os.environ.get("VIMLIB_SHARED") or PROJECT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"needs real inputs that are not part of the project: no folder {folder}")
    return folder


@pytest.fixture(scope="session")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Reported:
    """The whole report on everything recorded (reporting.py); the same one for all test processes."""
    # Each process of pytest-xdist has a folder of its own inside the one they share.
    own = tmp_path_factory.getbasetemp()
    return whole_report((own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "whole-report")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The system's Chromium, headless; skips where there is none. `browsing.visit` opens pages in it.

    Not for the session: while Playwright is open its event loop counts as running, and no other test
    of the process could run one.
    """
    found = find_chromium()
    if found is None:
        pytest.skip(f"needs a Chromium, no download: none of {', '.join(NAMES)} is on the PATH")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(FLAGS), headless=True)
        yield browser
        browser.close()
