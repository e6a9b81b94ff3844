"""The pieces of a page that are neither picture nor table: headings, headlines, tiles, notices.

Everything passed in is text and is escaped here; a notebook never writes HTML itself.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of HTML that JupyterLab and the report show as it is."""

    markup: str

    def _repr_html_(self) -> str:
        return self.markup

    def __add__(self, other: Block) -> Block:
        return Block(self.markup + other.markup)


@dataclass(frozen=True, slots=True)
class Tile:
    """One number that a reader should see first."""

    label: str
    value: str
    more: str = ""
    """What the number means or consists of."""
    warn: bool = False
    """Whether it should worry the reader."""


def section(title: str, anchor: str, level: int = 2) -> Block:
    """A heading with an anchor, for sections that are made in a loop. Level 2 or 3."""
    if level not in {2, 3}:
        raise ValueError(f"level is {level}, expected 2 or 3")
    safe = html.escape(anchor, quote=True)
    link = f'<a class="anchor-link" href="#{safe}" aria-label="Link to this section">#</a>'
    return Block(f'<h{level} id="{safe}">{html.escape(title)}{link}</h{level}>')


def tiles(items: Sequence[Tile]) -> Block:
    """A row of numbers."""
    cells = "".join(
        f"<div{' class=warn' if tile.warn else ''}><dt>{html.escape(tile.label)}</dt>"
        f"<dd>{html.escape(tile.value)}</dd>"
        + (f'<dd class="more">{html.escape(tile.more)}</dd>' if tile.more else "")
        + "</div>"
        for tile in items
    )
    return Block(f'<dl class="tiles">{cells}</dl>')


@dataclass(frozen=True, slots=True)
class Linked:
    """A sentence that leads to the page or place where it is shown."""

    text: str
    link: str
    """A file of the report or an anchor of the page; '' for none."""
    label: str
    """What the link says."""


def lede(sentences: Sequence[str | Linked]) -> Block:
    """The findings worth reading, as the first thing on a page."""
    items = []
    for sentence in sentences:
        if isinstance(sentence, str):
            items.append(f"<li>{html.escape(sentence)}</li>")
        else:
            link = f' <a href="{html.escape(sentence.link, quote=True)}">{html.escape(sentence.label)}</a>'
            items.append(f"<li>{html.escape(sentence.text)}{link if sentence.link else ''}</li>")
    return Block(f'<ul class="lede">{"".join(items)}</ul>')


def facts(items: Sequence[tuple[str, str]]) -> Block:
    """A line of small facts: (what, value)."""
    cells = "".join(f"<li>{html.escape(what)} <b>{html.escape(value)}</b></li>" for what, value in items)
    return Block(f'<ul class="facts">{cells}</ul>')


def say(sentences: str) -> Block:
    """A plain paragraph."""
    return Block(f'<p class="say">{html.escape(sentences)}</p>')


def notice(sentence: str, *, bad: bool = False) -> Block:
    """A paragraph that must not be overlooked."""
    return Block(
        f'<div class="notice{" bad" if bad else ""}" role="note"><p>{html.escape(sentence)}</p></div>'
    )


def anchor(*parts: object) -> str:
    """A slug of letters, digits and '-' from whatever a suite or run is called."""
    text = "-".join(str(part) for part in parts).lower()
    slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in text)
    return "-".join(piece for piece in slug.split("-") if piece) or "section"
