"""Tables of the report: described as columns of a frame, written as plain, accessible HTML.

A page needs from a table what general libraries leave out or do by inline styles that no dark
mode can undo: row headers, units in the head, right-aligned figures, intervals beside the value,
"unavailable" for what is not known, groups that are never ranked together, and cells that are
escaped whatever they hold. This writes exactly that and no styling; the page's style sheet has it.
Each body cell carries its raw value in `data-v`, for sorting. Beside the HTML a table shows itself as
CSV, which a report keeps as a file and JupyterLab passes over.
"""

from __future__ import annotations

import csv
import html
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import pandas as pd

from vimlib.figures.canvas import plain

UNAVAILABLE: Final = "unavailable"
"""What stands where a value is not known: never 0, never empty."""

Kind = Literal["text", "name", "code", "number", "bar"]


def missing(value: object) -> bool:
    """Whether a cell of a frame holds nothing (None, NaN, NA, NaT)."""
    if value is None or value is pd.NA or value is pd.NaT:
        return True
    return isinstance(value, float) and math.isnan(value)


def count(value: object) -> str:
    """A whole number with thin separators: 98,032."""
    return UNAVAILABLE if missing(value) else f"{int(value):,}"  # type: ignore[call-overload]


def percent(value: object, digits: int = 1) -> str:
    """A share of 1 as a percentage: 53.7 %, with a no-break space."""
    return UNAVAILABLE if missing(value) else f"{100 * float(value):.{digits}f}\u00a0%"  # type: ignore[arg-type]


def interval(low: object, high: object, digits: int = 1) -> str:
    """Two shares of 1 as an interval in per cent: 45.3–61.9; '' where either is missing."""
    if missing(low) or missing(high):
        return ""
    return f"{100 * float(low):.{digits}f}–{100 * float(high):.{digits}f}"  # type: ignore[arg-type]


def decimal(value: object, digits: int = 3) -> str:
    """A plain number with a fixed number of decimals: 0.966."""
    return UNAVAILABLE if missing(value) else f"{float(value):,.{digits}f}"  # type: ignore[arg-type]


def dollars(value: object) -> str:
    """US dollars: $8.00, or three figures below a dollar, as $0.0125; 'unavailable' for nothing."""
    if missing(value):
        return UNAVAILABLE
    amount = float(value)  # type: ignore[arg-type]
    if amount == 0:
        return "$0"
    if amount >= 1:
        return f"${amount:,.2f}"
    digits = next((n for n in range(2, 12) if amount * 10**n >= 100 - 1e-9), 12)
    return f"${amount:.{digits}f}"


def dollar_range(least: object, most: object) -> str:
    """What is known of an amount: the amount, a range, 'at least', or 'unavailable'."""
    if missing(least):
        return UNAVAILABLE
    if missing(most):
        return f"at least\u00a0{dollars(least)}"
    low, high = dollars(least), dollars(most)
    return low if low == high else f"{low}–{high[1:]}"


def whole(value: object) -> str:
    """An amount rounded to a whole number: 98,032."""
    return UNAVAILABLE if missing(value) else f"{float(value):,.0f}"  # type: ignore[arg-type]


def span_of(row: Mapping[str, Any], name: str, word: Callable[[object], str]) -> str:
    """The interval from `name`_low to `name`_high in words for its amounts; an open side is said."""
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    if missing(low) and missing(high):
        return "no interval"
    if missing(high):
        return f"{word(low)} and up"
    return f"{'0' if missing(low) else word(low)}–{word(high)}"


def seconds(value: object) -> str:
    """A span of time: 0.42 s, 12.3 s, 3 min 05 s."""
    if missing(value):
        return UNAVAILABLE
    span = float(value)  # type: ignore[arg-type]
    if span < 1:
        return f"{span:.2f}\u00a0s"
    if span < 100:
        return f"{span:.1f}\u00a0s"
    minutes, rest = divmod(round(span), 60)
    return f"{minutes}\u00a0min {rest:02d}\u00a0s"


def text(value: object) -> str:
    """Whatever it is, as one visible line; 'unavailable' for nothing."""
    return UNAVAILABLE if missing(value) or value == "" else plain(value, 300)


def blank(value: object) -> str:
    """A whole number, or nothing where the number does not apply to the row."""
    return "" if missing(value) else count(value)


def place(value: object) -> str:
    """A file or address; of an absolute path only the last part, which alone means something elsewhere."""
    shown = text(value)
    return shown.rstrip("/").rsplit("/", 1)[-1] or shown if shown.startswith("/") else shown


@dataclass(frozen=True, slots=True)
class Column:
    """One column: where its value comes from and how it reads."""

    key: str
    """Column of the frame."""
    label: str
    kind: Kind = "text"
    """'name': the row's header; 'code': keys, hashes and file names; 'number': right-aligned;
    'bar': a number with a bar of its share of 1 under it."""
    show: Callable[[Any], str] = text
    unit: str = ""
    """Small, under the label."""
    help: str = ""
    """What the term means, as a tooltip and for screen readers; '' for none."""
    beside: Callable[[dict[str, Any]], str] | None = None
    """Smaller text after the value, made from the whole row: an interval or a count."""
    instead: Callable[[dict[str, Any]], str] | None = None
    """Text in place of the value where the whole row asks for it; '' where it does not."""
    sort: str = ""
    """Column of the frame by which it sorts, where its own is words; '': by itself."""


@dataclass(frozen=True, slots=True)
class Table:
    """A frame and how to show it. Rows keep the frame's order."""

    name: str
    """Slug, unique on its page: the anchor `#tab-<name>`."""
    title: str
    columns: Sequence[Column]
    rows: pd.DataFrame
    group: str | None = None
    """Column whose change starts a new group with a heading of its own; None: no groups."""
    group_label: Callable[[Any], str] = text
    note: str = ""
    empty: str = "Nothing to show."
    """The sentence that stands in place of a table without rows."""
    classes: Sequence[str] = field(default=())

    def _repr_html_(self) -> str:
        anchor = f"tab-{html.escape(self.name, quote=True)}"
        if self.rows.empty:
            return f'<p class="empty" id="{anchor}">{html.escape(self.empty)}</p>'
        head = "".join(_head(column) for column in self.columns)
        body: list[str] = []
        last: object = object()
        records = self.rows.to_dict("records")
        for record in records:
            if self.group is not None and record[self.group] != last:
                last = record[self.group]
                label = html.escape(self.group_label(last))
                body.append(
                    f'{"</tbody>" if body else ""}<tbody data-group="{html.escape(plain(last), quote=True)}">'
                    f'<tr class="group">'
                    f'<th scope="rowgroup" colspan="{len(self.columns)}">{label}</th></tr>'
                )
            elif not body:
                body.append("<tbody>")
            cells = "".join(_cell(column, {str(k): v for k, v in record.items()}) for column in self.columns)
            body.append(f"<tr>{cells}</tr>")
        body.append("</tbody>")
        note = f'<p class="tab-note">{html.escape(self.note)}</p>' if self.note else ""
        classes = " ".join(("tab", *self.classes))
        newline = "\n"
        return (
            f'<div class="{classes}" id="{anchor}">'
            f'<div class="scroll" role="region" aria-labelledby="{anchor}-t" tabindex="0"><table>'
            f'<caption id="{anchor}-t">{html.escape(self.title)}</caption>'
            f"<thead><tr>{head}</tr></thead>{newline.join(body)}</table></div>{note}</div>"
        )

    def csv(self) -> str:
        """All columns of the frame, one line a row, unformatted; empty where there is no value.

        Text that a spreadsheet would take for a formula gets an apostrophe before it: it may come from
        a model.
        """
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(self.rows.columns)
        places = {column.key for column in self.columns if column.show is place}
        for row in self.rows.itertuples(index=False, name=None):
            writer.writerow(
                "" if missing(value) else _raw(place(value) if name in places else value)
                for name, value in zip(self.rows.columns, row, strict=True)
            )
        return buffer.getvalue()

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
        shown = {"text/html": self._repr_html_()}
        if not self.rows.empty:
            shown["text/csv"] = self.csv()
        return shown, {"text/csv": {"name": self.name}}


def _raw(value: Any) -> str:
    if isinstance(value, pd.Timestamp):
        return value.isoformat()
    text = str(value)
    if isinstance(value, str) and text.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{text}"
    return text


def _head(column: Column) -> str:
    label = html.escape(column.label)
    if column.help:
        label = f'<abbr title="{html.escape(column.help, quote=True)}">{label}</abbr>'
    # The space is for where no style sheet of ours puts the unit on a line of its own.
    unit = f' <span class="unit">{html.escape(column.unit)}</span>' if column.unit else ""
    return f'<th scope="col" class="k-{column.kind}">{label}{unit}</th>'


def _cell(column: Column, record: dict[str, Any]) -> str:
    value = record[column.key]
    instead = column.instead(record) if column.instead else ""
    shown = html.escape(instead or column.show(value))
    absent = bool(instead) or missing(value) or shown == UNAVAILABLE
    by = record[column.sort] if column.sort else value
    raw = "" if missing(by) else html.escape(plain(by, 120), quote=True)
    if absent:
        shown = f'<span class="na">{shown}</span>'
    elif column.kind == "code":
        shown = f"<code>{shown}</code>"
    beside = column.beside(record) if column.beside else ""
    if beside and not absent:
        shown += f' <span class="beside">{html.escape(beside)}</span>'
    if column.kind == "bar" and not absent:
        share = min(1.0, max(0.0, float(value)))
        shown += f'<span class="bar" aria-hidden="true"><i style="width:{100 * share:.1f}%"></i></span>'
    element, scope = ("th", ' scope="row"') if column.kind == "name" else ("td", "")
    return f'<{element}{scope} class="k-{column.kind}" data-v="{raw}">{shown}</{element}>'
