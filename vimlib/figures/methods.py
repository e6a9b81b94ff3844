"""The methods page: what `vimlib.analysis.methods` found was used, as tables and lists."""

from __future__ import annotations

import html

from vimlib.analysis.methods import Methods
from vimlib.figures.blocks import Block
from vimlib.figures.tables import Column, Table, count


def protocol_table(used: Methods) -> Table:
    """The rules by which answers were judged; one row a protocol and track."""
    return Table(
        "protocols",
        "Rules in use",
        [
            Column("protocol", "Protocol", "name", beside=lambda r: str(r["track"])),
            Column("rules", "Rules"),
            Column("runs", "Runs", "number", count),
            Column("suites", "Suites"),
            Column("vims", "Vim"),
            Column(
                "fingerprints",
                "Exact version",
                "code",
                help="Hash over rules, limits, environment, Vim and confinement: equal only where all are.",
            ),
            Column("confinement", "Confined by"),
        ],
        used.protocols,
        empty="Nothing was judged.",
    )


def library_table(used: Methods) -> Table:
    """The packages that numbers and pictures come from."""
    return Table(
        "libraries",
        "Versions of the software",
        [Column("name", "Package", "name"), Column("version", "Version", "code")],
        used.libraries,
    )


def formula_list(used: Methods) -> Block:
    """How each number is computed."""
    items = "".join(
        f"<li><strong>{html.escape(term)}.</strong> {html.escape(text)}</li>" for term, text in used.formulas
    )
    return Block(f'<div class="method"><ul>{items}</ul></div>')


def limit_list(used: Methods) -> Block:
    """What the store cannot show."""
    items = "".join(f"<li>{html.escape(text)}</li>" for text in used.limits)
    return Block(f'<div class="method"><ul>{items}</ul></div>')
