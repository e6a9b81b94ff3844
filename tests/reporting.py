"""One whole report for all tests that look at pages: every notebook, on everything that was recorded.

It is made as a user makes it, by the command, from the recorded runs, the seed suite, a file that is
cut short and, where they are, the real challenges and their log. A report takes its time, so the first
test that asks makes it and the test processes at its side wait for it and use the same; none may
change it.
"""

from __future__ import annotations

import fcntl
import hashlib
import html
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from vimlib.report import arrange, find_pages

PROJECT = Path(__file__).resolve().parents[1]
RUNS = PROJECT / "data" / "runs"
SHARED = Path(os.environ.get("VIMLIB_SHARED") or PROJECT.parent / "shared" / "data")
VIMLIB = Path(sys.executable).with_name("vimlib")
PAGES = [page.file for page in arrange(find_pages(PROJECT / "notebooks"))]
"""The pages of a report, by file."""


@dataclass(frozen=True)
class Reported:
    """A report, and what the command said that made it."""

    folder: Path
    """Where the command ran: with the store, the cache and the folder `reports`."""
    pages: Path
    """The report's own folder."""
    returncode: int
    stdout: str
    stderr: str

    def page(self, name: str) -> str:
        """A page's words, as a reader sees them."""
        text = (self.pages / name).read_text(encoding="utf-8")
        text = re.sub(r"<(style|svg|script)\b.*?</\1>", " ", text, flags=re.DOTALL)
        return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())

    @property
    def store(self) -> str:
        return hashlib.sha256((self.folder / "store.duckdb").read_bytes()).hexdigest()


def command(*given: object) -> list[str]:
    """`vimlib report` with its store and cache in the current folder."""
    places = ["--database", "store.duckdb", "--cache", "replays.sqlite"]
    return [str(VIMLIB), "report", *places, *map(str, given)]


def report(folder: Path, *given: object) -> Reported:
    """Run the command in a folder."""
    done = subprocess.run(
        command(*given), cwd=folder, capture_output=True, text=True, check=False, timeout=600
    )
    return Reported(
        folder, (folder / "reports" / "latest").resolve(), done.returncode, done.stdout, done.stderr
    )


def whole_report(folder: Path) -> Reported:
    """The whole report, made in a folder that the test processes share, unless it is there already."""
    folder.mkdir(exist_ok=True)
    note = folder / "made.json"
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not note.exists():
            (folder / "cut.json").write_text('{"seed-1": "ZZ', encoding="utf-8")
            real = [SHARED / "logs", "--suite", SHARED / "vimgolf" / "challenges.jsonl"]
            done = report(folder, "cut.json", RUNS, *(real if SHARED.is_dir() else ()), "--suite", "seed")
            said = [str(done.pages), done.returncode, done.stdout, done.stderr]
            note.write_text(json.dumps(said), encoding="utf-8")
    pages, *said = json.loads(note.read_text(encoding="utf-8"))
    return Reported(folder, Path(pages), *said)
