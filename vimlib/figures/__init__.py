"""Pictures, tables and sentences of the reports: frames of `vimlib.analysis` in, something to look at out.

Each function makes one picture or table and computes nothing but the sentence that says what is
to be seen on it. What it returns shows itself in JupyterLab and in a report's page alike, is the
same byte for byte for the same frame, and holds nothing from an answer or a source that is not
escaped.

canvas: the look, and SVG that follows the page. charts: the shapes of rates, amounts: those of
dollars, tokens and seconds. tables: tables. blocks: headings, tiles, notices. player: an answer
played key by key. The others: what a page each shows.
"""

from __future__ import annotations

from vimlib.figures.blocks import (
    Block,
    Linked,
    Tile,
    anchor,
    facts,
    lede,
    notice,
    section,
    tiles,
)
from vimlib.figures.canvas import Picture, plain
from vimlib.figures.tables import Column, Table

__all__ = [
    "Block",
    "Column",
    "Linked",
    "Picture",
    "Table",
    "Tile",
    "anchor",
    "facts",
    "lede",
    "notice",
    "plain",
    "section",
    "tiles",
]
