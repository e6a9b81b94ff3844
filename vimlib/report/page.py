"""An executed notebook becomes one HTML file that asks nobody for anything.

nbconvert turns the cells into HTML by our template `article/`; `page.html.j2` puts the page
around it: style, status line, table of contents. The page's Content-Security-Policy forbids
every request and every script but those written here, so that even markup that slipped through
an answer could neither load nor run anything.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import jinja2
import nbformat
from markupsafe import Markup
from nbconvert.exporters import HTMLExporter
from traitlets.config import Config

from vimlib import __version__

if TYPE_CHECKING:
    from vimlib.report import Page

_HERE: Final = Path(__file__).parent
_SHOWN: Final = ["text/html", "text/markdown", "image/svg+xml", "image/png", "image/jpeg", "text/plain"]


@dataclass(frozen=True, slots=True)
class Heading:
    """An entry of the table of contents."""

    level: int
    """2 or 3."""
    id: str
    text: str


class _Headings(HTMLParser):
    """Collects the headings of levels 1 to 3, without the text of their anchor links."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Heading] = []
        self._open: tuple[int, str] | None = None
        self._text: list[str] = []
        self._link = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in {"h1", "h2", "h3"}:
            self._open = (int(tag[1]), given.get("id") or "")
            self._text = []
        elif tag == "a" and "anchor-link" in (given.get("class") or ""):
            self._link += 1

    def handle_endtag(self, tag: str) -> None:
        if tag == "a" and self._link:
            self._link -= 1
        if self._open and tag == f"h{self._open[0]}":
            self.found.append(Heading(self._open[0], self._open[1], " ".join("".join(self._text).split())))
            self._open = None

    def handle_data(self, data: str) -> None:
        if self._open and not self._link:
            self._text.append(data)


def headings(article: str) -> list[Heading]:
    """The headings of levels 1 to 3 of a piece of HTML, in order."""
    parser = _Headings()
    parser.feed(article)
    parser.close()
    return parser.found


def _own_or_boxed(markup: str) -> str:
    """Our own pictures and tables as they are; foreign HTML, such as a frame's, in a box that scrolls."""
    return (
        markup
        if "<table" not in markup or 'class="scroll"' in markup
        else f'<div class="scroll">{markup}</div>'
    )


@cache
def _exporter(show_code: bool) -> HTMLExporter:
    config = Config()
    config.NbConvertBase.display_data_priority = _SHOWN
    config.HTMLExporter.anchor_link_text = "#"
    config.TemplateExporter.exclude_input = not show_code
    config.TemplateExporter.exclude_input_prompt = True
    config.TemplateExporter.exclude_output_prompt = True
    config.TemplateExporter.filters = {"own_or_boxed": _own_or_boxed}
    return HTMLExporter(config=config, template_name="article", extra_template_basedirs=[str(_HERE)])


def render(
    executed: Path,
    page: Page,
    pages: Sequence[Page],
    *,
    report: str,
    created: datetime.datetime,
    show_code: bool = False,
) -> str:
    """The whole page of an executed notebook. The same notebook and time give the same bytes."""
    book = nbformat.read(executed, as_version=4)
    return wrap(article(book, show_code=show_code), page, pages, report=report, created=created)


def article(book: Any, *, show_code: bool = False) -> str:
    """The cells of a notebook as HTML, without a page around them.

    Cells tagged `parameters` or added by papermill are machinery and show only together with the code.
    """
    markup, _ = _exporter(show_code).from_notebook_node(book, resources={"vimlib_show_code": show_code})
    return re.sub(r"\n{2,}", "\n", str(markup)).strip()


def wrap(article: str, page: Page, pages: Sequence[Page], *, report: str, created: datetime.datetime) -> str:
    """Put the page around an article: head, style, status line, contents, foot."""
    found = headings(article)
    title = next((heading.text for heading in found if heading.level == 1), page.label)
    contents = [heading for heading in found if heading.level > 1 and heading.id]
    script = (_HERE / "page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    )
    template = environment.from_string((_HERE / "page.html.j2").read_text(encoding="utf-8"))
    return template.render(
        title=title,
        report=report,
        version=__version__,
        created=f"{created:%Y-%m-%d %H:%M} UTC",
        created_iso=f"{created:%Y-%m-%dT%H:%M:%SZ}",
        executed=f"{page.executed:%Y-%m-%d %H:%M} UTC" if page.executed else "",
        style=Markup((_HERE / "style.css").read_text(encoding="utf-8")),
        script=Markup(script),
        script_source=f"'sha256-{digest}'",
        front=next((other.file for other in pages if other.file == "index.html"), page.file),
        pages=pages,
        file=page.file,
        notebook=page.notebook,
        contents=contents,
        article=Markup(article),
    )
