"""The page that describes `summary.json`: `docs/summary.md`, written from the fields' own words.

The words stand beside the code that writes the fields: `analysis.headlines.FIELDS` and `history.FIELDS`.
After a change: `python -m vimlib.report.described docs/summary.md`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from vimlib.analysis import headlines
from vimlib.report import history

_HEAD = """# What summary.json says

Every report has a `summary.json` beside its pages, for programs: all headline numbers with their intervals.
`--notify` hands it to its command, and the next report says what changed since. Rates are shares from 0 to 1,
times are UTC, `null` means "not known" or "does not apply", never zero. This page is made from the words
beside the code (`vimlib/report/described.py`); the shape is version {version}, which is raised when a
name goes or changes its meaning.
"""


def described() -> str:
    """The page, in Markdown."""
    parts = [_HEAD.format(version=headlines.VERSION)]
    for title, fields in (("The report", history.FIELDS), ("The numbers", headlines.FIELDS)):
        parts += [f"## {title}\n", "| field | what it is |", "| --- | --- |"]
        for names, words in fields.items():
            named = ", ".join(f"`{name}`" for name in names.split(", "))
            parts.append(f"| {named} | {words.replace('|', chr(92) + '|')} |")
        parts.append("")
    return "\n".join(parts).rstrip() + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(described(), encoding="utf-8")
