"""The seed suite: the tasks that were written for this project and come with it.

They lie in the project's `data/`, not in the package, because people read and extend
them there. The project is therefore installed from its checkout (`pip install -e .`); a
package without a checkout beside it has no seed suite and says so.
"""

from __future__ import annotations

from pathlib import Path

from vimlib.records import Suite
from vimlib.suites.content import SuiteError
from vimlib.suites.files import load_file

NAME = "seed"


class NoSeedSuite(SuiteError):
    """The project's `data/` is not where the package looks for it."""


def data_folder() -> Path:
    """The project's `data/`, beside the package, as it is in a checkout."""
    return Path(__file__).resolve().parents[2] / "data"


def load(data: Path | None = None) -> Suite:
    """The seed suite from `data` (default: the checkout's own `data/`)."""
    path = (data_folder() if data is None else data) / "suites" / "seed" / "tasks.jsonl"
    if not path.is_file():
        raise NoSeedSuite(
            f"{path}: the seed suite is not there; install vimlib from its checkout (pip install -e .) or "
            "name the folder that holds suites/seed/tasks.jsonl"
        )
    return load_file(path, format="vimlib", name=NAME, origin="data/suites/seed/tasks.jsonl", licence="MIT")
