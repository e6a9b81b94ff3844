"""What the tests share: where the real inputs lie that cannot be part of the project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

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
