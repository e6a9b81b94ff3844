"""The reports of a folder: what each said in numbers, which is the last good one, and a page that lists all.

`summary.json` stands in every report: the headline numbers of everything in the store
(`analysis.headlines.FIELDS`), with the report's name, time and pages. The next report of the same
name reads it to say what changed; programs read it to know what a page says. `index.html` above the
reports is made from the summaries alone.
"""

from __future__ import annotations

import datetime
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from vimlib.records import VimlibError
from vimlib.report.inputs import REMEMBERED, code_sha256

SUMMARY: Final = "summary.json"
PREVIOUS: Final = ".previous.json"
"""The summary that a report compared itself with, kept with it: that report may be replaced or pruned."""

_FOLDER: Final = re.compile(r"(?P<date>\d{4}-\d\d-\d\d)-(?P<name>.+?)(?P<failed>\.failed)?")
FIELDS: Final[dict[str, str]] = {
    "report": "name of the report",
    "created": "its time, UTC",
    "vimlib": "version that made it",
    "store_sha256": "hash of the store it was made from",
    "with_errata": "whether tasks that cannot be judged fairly count",
    "pages[]": "file and label of each page, front page first",
    "rejections[]": "a line for everything that the load could not take",
}
"""What a summary holds besides the headlines."""


@dataclass(frozen=True, slots=True)
class Past:
    """A report that is there."""

    folder: Path
    name: str
    created: datetime.datetime
    """UTC."""
    summary: Mapping[str, Any]


def read_summary(folder: Path) -> Past | None:
    """A report by its folder; None: it has no summary that can be read."""
    try:
        summary = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        created = datetime.datetime.fromisoformat(summary["created"])
        return Past(folder, str(summary["report"]), created, summary)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def reports(out: Path, name: str | None = None) -> list[Past]:
    """The good reports of a folder, newest first; only those of a name, if given."""
    found = []
    for folder in out.iterdir() if out.is_dir() else ():
        match = _FOLDER.fullmatch(folder.name)
        if match is None or match["failed"] or folder.is_symlink():
            continue
        past = read_summary(folder)
        if past is not None and name in (None, past.name):
            found.append(past)
    return sorted(found, key=lambda past: (past.created, past.folder.name), reverse=True)


def summarise(
    database: Path,
    *,
    report: str,
    created: datetime.datetime,
    store_sha256: str,
    with_errata: bool,
    known: Sequence[Past] = (),
) -> dict[str, Any]:
    """The summary of a report that is being made, without its pages.

    `known`: reports whose numbers are taken where they were made from the same store by the same code.
    Where the database is no store of ours, as for notebooks that need none, there are no headlines.
    """
    from vimlib import __version__

    head = {
        "report": report,
        "created": created.isoformat(),
        "vimlib": __version__,
        "code_sha256": code_sha256(),
        "store_sha256": store_sha256,
        "with_errata": with_errata,
    }
    same = ("code_sha256", "store_sha256", "with_errata")
    for past in known:
        if all(past.summary.get(name) == head[name] for name in same):
            return {**past.summary, **head}
    from vimlib import store
    from vimlib.analysis.headlines import headlines

    try:
        con = store.connect(database, with_errata=with_errata)
    except VimlibError:
        return head
    try:
        return {**headlines(con), **head}
    finally:
        con.close()


def previous_of(known: Sequence[Past], store_sha256: str) -> Path | None:
    """The summary to say changes against: of the newest report that was made from another store.

    A report that finds nothing new says what the one before it said.
    """
    if not known:
        return None
    newest = known[0]
    if newest.summary.get("store_sha256") != store_sha256:
        return newest.folder / SUMMARY
    kept = newest.folder / PREVIOUS
    return kept if kept.is_file() else None


def prune(out: Path, name: str, keep: int, *, spare: Sequence[Path] = ()) -> list[Path]:
    """Remove the reports of a name but the newest `keep`, and failed ones likewise; what was removed.

    Never what `latest` leads to, nor a folder of `spare`, nor one that no report of ours has made.
    """
    spared = {(out / "latest").resolve(), *(path.resolve() for path in spare)}
    good = [past.folder for past in reports(out, name)]
    failed = sorted(
        (
            folder
            for folder in out.iterdir()
            if (match := _FOLDER.fullmatch(folder.name))
            and match["failed"]
            and re.fullmatch(rf"{re.escape(name)}(\.\d+)?", match["name"])
            and (folder / REMEMBERED).is_file()
        ),
        reverse=True,
    )
    removed = []
    for folder in (*good[keep:], *failed[keep:]):
        if folder.resolve() not in spared:
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(folder)
    return removed


def write_index(out: Path) -> Path:
    """Write the page that lists all reports of a folder, newest first; made from their summaries alone."""
    from vimlib.report.page import index_page

    text = index_page(reports(out))
    page = out / "index.html"
    new = out / ".index.html.new"
    new.write_text(text, encoding="utf-8")
    new.replace(page)
    return page
