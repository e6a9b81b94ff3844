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
from collections.abc import Mapping, Sequence
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
from vimlib.figures import player
from vimlib.figures.canvas import plain
from vimlib.figures.tables import interval, percent
from vimlib.report.notebooks import name_of

if TYPE_CHECKING:
    from vimlib.report import Page
    from vimlib.report.history import Past

_HERE: Final = Path(__file__).parent
TABLES: Final = "tables"
"""Folder of a report that holds its tables as CSV."""

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


def table_file(output: Any, page: str) -> str:
    """Where the CSV of a table lies, seen from its page; what the table calls itself is not trusted."""
    name = str(output.get("metadata", {}).get("text/csv", {}).get("name", "table"))
    return f"{TABLES}/{page}-{re.sub(r'[^A-Za-z0-9_-]', '-', name)[:100]}.csv"


def tables(book: Any, page: str) -> dict[str, str]:
    """The CSV of every table that an executed notebook shows, by file, seen from its page."""
    return {
        table_file(output, page): output["data"]["text/csv"]
        for cell in book.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if "text/csv" in output.get("data", {})
    }


@cache
def _exporter(show_code: bool) -> HTMLExporter:
    config = Config()
    config.NbConvertBase.display_data_priority = _SHOWN
    config.HTMLExporter.anchor_link_text = "#"
    config.TemplateExporter.exclude_input = not show_code
    config.TemplateExporter.exclude_input_prompt = True
    config.TemplateExporter.exclude_output_prompt = True
    config.TemplateExporter.filters = {"own_or_boxed": _own_or_boxed, "table_file": table_file}
    return HTMLExporter(config=config, template_name="article", extra_template_basedirs=[str(_HERE)])


def render(
    executed: Path,
    page: Page,
    pages: Sequence[Page],
    *,
    report: str,
    created: datetime.datetime,
    show_code: bool = False,
) -> dict[str, str]:
    """The page of an executed notebook and its tables as CSV: text by file, seen from the report's folder.

    The same notebook and time give the same bytes.
    """
    book = nbformat.read(executed, as_version=4)
    name = name_of(Path(page.notebook))
    inside = article(book, show_code=show_code, page=name)
    return {
        page.file: wrap(inside, page, pages, report=report, created=created),
        **tables(book, name),
    }


def article(book: Any, *, show_code: bool = False, page: str = "page") -> str:
    """The cells of a notebook as HTML, without a page around them.

    Cells tagged `parameters` or added by papermill are machinery and show only together with the code.
    """
    resources = {"vimlib_show_code": show_code, "vimlib_page": page}
    markup, _ = _exporter(show_code).from_notebook_node(book, resources=resources)
    return re.sub(r"\n{2,}", "\n", str(markup)).strip()


def wrap(article: str, page: Page, pages: Sequence[Page], *, report: str, created: datetime.datetime) -> str:
    """Put the page around an article: head, style, status line, contents, foot."""
    found = headings(article)
    title = next((heading.text for heading in found if heading.level == 1), page.label)
    front = next((other.file for other in pages if other.file == "index.html"), page.file)
    return _fill(
        title=title,
        report=report,
        created=created,
        executed=page.executed,
        home=front,
        navigation=[(other.file, other.label, other.file == page.file) for other in pages],
        notebook=page.notebook,
        above="../index.html",
        contents=[heading for heading in found if heading.level > 1 and heading.id],
        article=article,
    )


def index_page(reports: Sequence[Past]) -> str:
    """The page that lists reports, newest first, each with its headline numbers."""
    environment = _environment()
    rows = [
        {
            "link": f"{past.folder.name}/index.html",
            "name": past.name,
            "created": f"{past.created:%Y-%m-%d %H:%M}",
            "created_iso": f"{past.created:%Y-%m-%dT%H:%M:%SZ}",
            "totals": past.summary.get("totals"),
            "leaders": _leaders(past.summary),
            "rejections": len(past.summary.get("rejections", ())),
            "summary": f"{past.folder.name}/summary.json",
        }
        for past in reports
    ]
    inside = environment.get_template("index.html.j2").render(rows=rows)
    return _fill(
        title="Reports",
        report="All reports",
        created=reports[0].created if reports else None,
        executed=None,
        home="index.html",
        navigation=[("latest/index.html", "Latest", False)] if reports else [],
        notebook="",
        above="",
        contents=[],
        article=inside,
    )


def _leaders(summary: Mapping[str, Any]) -> list[dict[str, str]]:
    """The best model of each suite, protocol and track of a summary, in words."""
    best: dict[tuple[str, ...], dict[str, Any]] = {}
    for run in summary.get("runs", ()):
        rate = run["pass_rate"]["value"]
        place = (run["suite"], run["suite_hash"], run["protocol"], run["track"])
        if run["kind"] == "model" and rate is not None:
            if place not in best or rate > best[place]["pass_rate"]["value"]:
                best[place] = run
    return [
        {
            "where": f"{suite}, {protocol}" + ("" if track == "single" else f", {track}"),
            "name": plain(str(run["name"]).rsplit("/", 1)[-1], 60),
            "rate": percent(run["pass_rate"]["value"]),
            "interval": interval(run["pass_rate"]["low"], run["pass_rate"]["high"]),
            "of": f"{run['passed']:,} of {run['scored']:,}",
        }
        for (suite, _, protocol, track), run in best.items()
    ]


def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )


def _fill(
    *, created: datetime.datetime | None, executed: datetime.datetime | None, article: str, **values: Any
) -> str:
    """The frame that all pages share."""
    script = (_HERE / "page.js").read_text(encoding="utf-8") + player.script()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            version=__version__,
            created=f"{created:%Y-%m-%d %H:%M} UTC" if created else "",
            created_iso=f"{created:%Y-%m-%dT%H:%M:%SZ}" if created else "",
            executed=f"{executed:%Y-%m-%d %H:%M} UTC" if executed else "",
            style=Markup((_HERE / "style.css").read_text(encoding="utf-8") + player.style()),
            script=Markup(script),
            script_source=f"'sha256-{digest}'",
            article=Markup(article),
            **values,
        )
    )
