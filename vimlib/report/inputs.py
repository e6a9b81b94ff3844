"""What a page was made from, as one hash: with the same inputs it need not be made again.

A page depends on its notebook, its parameters, the content of the store, and the code and data that
the notebook calls. The load depends besides on what it reads: suites, sources, the Vim that replays.
All of it goes by content, never by name or date, so that a restored checkout or a touched file
changes nothing, and an edited one does. What no hash can see, such as an address that a user's own
notebook reads, is for `--run-all`.

Each report remembers the hashes of its pages in a hidden file beside them; there is no other cache.
"""

from __future__ import annotations

import datetime
import functools
import hashlib
import importlib.metadata
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from vimlib.records import VimlibError
from vimlib.report.notebooks import notebook_parameters

REMEMBERED: Final = ".inputs.json"
"""The file of a report that says from what its pages were made."""

NOT_INPUTS: Final = frozenset({"cache", "database", "outcome_file", "show_progress"})
"""Parameters that say where things are or who looks on, and nothing about a page's content."""

_PACKAGE: Final = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Made:
    """A page that was made before."""

    key: str
    """Hash of its inputs."""
    executed: datetime.datetime
    """Time of the report that it was executed for, UTC."""
    rejections: tuple[str, ...] = ()
    """What a load rejected; nothing for other pages."""


def file_sha256(path: Path) -> str:
    """sha256 (hex) of a file's content; 'missing' where it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return "missing"


def _below(folder: Path, pattern: str = "*") -> Iterator[Path]:
    return (
        path for path in sorted(folder.rglob(pattern)) if path.is_file() and "__pycache__" not in path.parts
    )


@functools.cache
def code_sha256() -> str:
    """What our code and its libraries are, and the data that ship with the project."""
    requirements = importlib.metadata.requires("vimlib") or []
    names = sorted({re.split(r"[^A-Za-z0-9._-]", one, maxsplit=1)[0] for one in requirements})
    versions = []
    for name in names:
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"{name} none")
    files = [*_below(_PACKAGE)]
    for shipped in ("published", "errata", "suites"):
        files += _below(_PACKAGE.parent / "data" / shipped)
    return _sha256([sys.version, *versions, *((path.name, file_sha256(path)) for path in files)])


def _sha256(parts: Iterable[Any]) -> str:
    return hashlib.sha256(json.dumps(list(parts), sort_keys=True, default=str).encode()).hexdigest()


def page_key(notebook: Path, values: Mapping[str, Any], store_sha256: str) -> str:
    """The hash of everything that a page is made from.

    A parameter, given or by default, that names a file stands for the file's content, and `today` for
    the day. Modules beside
    the notebook count as its code.
    """
    defaults = {
        name: one.default.strip("\"'")
        for name, one in notebook_parameters(notebook).items()
        if name not in values and one.type == "str"
    }
    return _sha256(
        [
            notebook.name,
            file_sha256(notebook),
            {
                name: _content(value, notebook.parent)
                for name, value in {**defaults, **values}.items()
                if name not in NOT_INPUTS
            },
            [(path.name, file_sha256(path)) for path in sorted(notebook.parent.glob("*.py"))],
            store_sha256,
            code_sha256(),
        ]
    )


def _content(value: Any, folder: Path) -> Any:
    if value == "today":
        return f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}"
    if isinstance(value, str) and value and len(value) < 4096 and "\0" not in value and "\n" not in value:
        path = folder / value
        try:
            if path.is_file():
                return f"file {file_sha256(path)}"
        except OSError:
            pass
    return value


def load_key(notebook: Path, values: Mapping[str, Any]) -> str | None:
    """The same for the load, with what it reads instead of the store; None: not all of it can be read."""
    from vimlib.replay import find_vim
    from vimlib.runs import find_sources
    from vimlib.suites import load_suite

    try:
        suites = []
        for given in values.get("suites", ()):
            suite = load_suite(given)
            suites.append((str(given), f"{suite}"))
        sources = []
        for source in values.get("sources", ()):
            found = find_sources([Path(source)])
            sources.append((str(source), [(str(file), file_sha256(file)) for file in found]))
        vim = find_vim().build.sha256
    except (VimlibError, OSError):
        return None
    return _sha256([page_key(notebook, values, ""), suites, sources, vim])


def loaded_key(before: str | None, store_sha256: str) -> str | None:
    """The key of a load with the store that it left: the load need not be repeated while both hold."""
    return None if before is None else _sha256([before, store_sha256])


def remember(folder: Path, made: Mapping[str, Made]) -> None:
    """Keep beside the pages of a report from what they were made; by file name of the notebook."""
    rows = {
        name: {"key": one.key, "executed": one.executed.isoformat(), "rejections": list(one.rejections)}
        for name, one in made.items()
    }
    (folder / REMEMBERED).write_text(json.dumps(rows, indent=1, sort_keys=True), encoding="utf-8")


def recall(out: Path) -> dict[tuple[str, str], tuple[Path, Made]]:
    """All pages that the reports of a folder remember: (notebook, key) -> (executed notebook, how made)."""
    found: dict[tuple[str, str], tuple[Path, Made]] = {}
    for file in sorted(out.glob(f"[!.]*/{REMEMBERED}")):
        if file.parent.is_symlink():
            continue
        try:
            for name, row in json.loads(file.read_text(encoding="utf-8")).items():
                executed = file.parent / name
                made = Made(
                    str(row["key"]),
                    datetime.datetime.fromisoformat(row["executed"]),
                    tuple(map(str, row["rejections"])),
                )
                if executed.parent == file.parent and executed.is_file():
                    found[name, made.key] = executed, made
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            # A damaged note costs a page made again, and nothing else.
            continue
    return found
