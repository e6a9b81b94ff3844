"""The three shapes that the overview needs: a rate with its interval, the same in panels, parts of a whole.

They know pixels and words, not the store: rows in, sheet out. Each lays itself out anew for a
phone, with the name above its line instead of beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from vimlib.figures.canvas import (
    BAND,
    FAINT,
    INK,
    LINE,
    MODEL,
    MODEL_SOFT,
    MUTED,
    PAPER,
    SOLVER,
    SOLVER_SOFT,
    Sheet,
    fitted,
    plain,
    text_width,
)

ON_COLOUR: Final = "#10151a"
"""Text on a coloured part: dark in light and dark mode, since the parts stay light in both."""

Mark = Literal["model", "solver", "published"]


@dataclass(frozen=True, slots=True)
class Span:
    """A share of 1 with its 95 % interval. None: not known, nothing is drawn."""

    rate: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class RateRow:
    """One line of a chart of rates."""

    label: str
    mark: Mark
    main: Span
    value: str
    """The rate in words, such as '53.7 %'."""
    of: str
    """Count and n, such as '72 of 134'."""
    second: Span | None = None
    """A stricter rate, drawn smaller below."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A line to compare with."""

    rate: float
    label: str


def _colours(mark: Mark) -> tuple[str, str, str]:
    """Edge, fill and interval."""
    if mark == "model":
        return MODEL, MODEL, MODEL_SOFT
    if mark == "published":
        return MODEL, PAPER, MODEL_SOFT
    return SOLVER, SOLVER, SOLVER_SOFT


def _mark(sheet: Sheet, x: float, y: float, mark: Mark, radius: float) -> None:
    edge, fill, _ = _colours(mark)
    if mark == "solver":
        sheet.diamond(x, y, radius + 0.8, fill=fill, edge=edge)
    else:
        sheet.dot(x, y, radius, fill=fill, edge=edge, width=1.8)


def _span(sheet: Sheet, span: Span, y: float, x0: float, x1: float, mark: Mark, small: bool = False) -> None:
    if span.rate is None:
        return
    edge, _, soft = _colours(mark)
    scale = x1 - x0
    if span.low is not None and span.high is not None:
        sheet.line(
            x0 + span.low * scale, y, x0 + span.high * scale, y, colour=soft, width=2.2 if small else 6
        )
    if small:
        sheet.dot(x0 + span.rate * scale, y, 3, fill=PAPER, edge=edge, width=1.5)
    else:
        _mark(sheet, x0 + span.rate * scale, y, mark, 5)


def _axis(
    sheet: Sheet, x0: float, x1: float, top: float, lanes: Sequence[tuple[float, float]], ticks: Sequence[int]
) -> None:
    """Labels at `top`, grid lines only within the lanes, so that no line runs through a name."""
    for tick in ticks:
        x = x0 + tick / 100 * (x1 - x0)
        for y1, y2 in lanes:
            sheet.line(x, y1, x, y2, colour=LINE, width=1)
        last = tick == ticks[-1]
        label = f"{tick}" + ("\u00a0%" if last else "")
        at_edge = last and x + text_width(label, 11.5) / 2 > sheet.width
        sheet.text(
            sheet.width if at_edge else x,
            top - 6,
            label,
            size=11.5,
            colour=MUTED,
            anchor="end" if at_edge else "middle",
        )


def rates(
    width: float,
    groups: Sequence[tuple[str, Sequence[RateRow]]],
    *,
    main: str,
    second: str = "",
    reference: Reference | None = None,
) -> Sheet:
    """Rows of a rate with its interval, in headed groups, on one axis from 0 to 100 %.

    `main` and `second` name the two marks in the key; `reference` draws a dashed line through all rows.
    """
    narrow = width < 500
    has_second = any(row.second is not None for _, rows in groups for row in rows)
    row_height = (48 if has_second else 42) if narrow else (40 if has_second else 32)
    head = 28.0
    key = 26.0
    axis = 26.0
    height = key + axis + sum(head * bool(title) + row_height * len(rows) for title, rows in groups) + 8
    if reference is not None:
        height += 16
    sheet = Sheet(width, height)
    x0, x1 = (8.0, width - 8.0) if narrow else (226.0, width - 158.0)

    first_mark: Mark = groups[0][1][0].mark if groups and groups[0][1] else "model"
    left = x0 if not narrow else 8.0
    _mark(sheet, left + 5, 9, first_mark, 4.5)
    sheet.text(left + 16, 13, main, size=12, colour=MUTED)
    if has_second and second:
        edge, _, _ = _colours(first_mark)
        after = left + 16 + text_width(main, 12) + 16
        sheet.dot(after, 9, 3, fill=PAPER, edge=edge, width=1.5)
        sheet.text(after + 10, 13, second, size=12, colour=MUTED)

    top = key + axis
    bottom = height - 6 - (16 if reference is not None else 0)
    lanes = [(top, bottom)]
    if narrow:
        lanes, y = [], top
        for title, rows in groups:
            y += head * bool(title)
            for _ in rows:
                lanes.append((y + 19, y + row_height - 2))
                y += row_height
    _axis(sheet, x0, x1, top, lanes, (0, 25, 50, 75, 100))
    if reference is not None:
        x = x0 + reference.rate * (x1 - x0)
        for y1, y2 in lanes:
            sheet.line(x, y1, x, y2, colour=SOLVER, width=1.4, dash=True)
        half = text_width(reference.label, 11.5) / 2
        sheet.text(
            min(max(x, half), width - half),
            height - 5,
            reference.label,
            size=11.5,
            colour=MUTED,
            anchor="middle",
        )

    y = top
    for title, rows in groups:
        if title:
            sheet.text(0, y + 19, title, size=12, colour=MUTED, bold=True)
            y += head
        for row in rows:
            if narrow:
                sheet.text(0, y + 14, fitted(row.label, 13, width - 150), size=13)
                sheet.text(width, y + 14, row.of, size=12, colour=MUTED, anchor="end")
                sheet.text(width - 70, y + 14, row.value, size=13, bold=True, anchor="end")
                lane = y + 27
            else:
                lane = y + (row_height / 2 - 3 if has_second else row_height / 2)
                sheet.text(0, lane + 5, fitted(row.label, 13.5, x0 - 24), size=13.5)
                sheet.text(width - 78, lane + 5, row.value, size=13.5, bold=True, anchor="end")
                sheet.text(width, lane + 5, row.of, size=12, colour=MUTED, anchor="end")
            _span(sheet, row.main, lane, x0, x1, row.mark)
            if row.second is not None:
                _span(sheet, row.second, lane + 11, x0, x1, row.mark, small=True)
            y += row_height
    return sheet


@dataclass(frozen=True, slots=True)
class PanelRow:
    """One line through all panels."""

    label: str
    mark: Mark
    cells: tuple[tuple[Span, str, str] | None, ...]
    """(rate, its value in words, count and n) a panel; None: nothing attempted there."""


def panels(
    width: float, titles: Sequence[tuple[str, str]], groups: Sequence[tuple[str, Sequence[PanelRow]]]
) -> Sheet:
    """The same rows in several panels side by side; on a phone, the panels as lines under each row.

    `titles`: (name, what it holds) a panel.
    """
    if width < 500:
        return _panels_narrow(width, titles, groups)
    row_height, head, top = 36.0, 28.0, 62.0
    height = top + sum(head * bool(title) + row_height * len(rows) for title, rows in groups) + 8
    sheet = Sheet(width, height)
    left, gap = 176.0, 40.0
    panel = (width - left - 20 - gap * (len(titles) - 1)) / len(titles)
    starts = [left + i * (panel + gap) for i in range(len(titles))]
    for x, (name, about) in zip(starts, titles, strict=True):
        sheet.text(x, 14, fitted(name, 13, panel + gap - 8), size=13, bold=True)
        sheet.text(x, 30, fitted(about, 11.5, panel + gap - 6), size=11.5, colour=MUTED)
        _axis(sheet, x, x + panel, top, [(top, height - 6)], (0, 50, 100))
    y = top
    for title, rows in groups:
        if title:
            sheet.text(0, y + 19, title, size=12, colour=MUTED, bold=True)
            y += head
        for row in rows:
            middle = y + row_height / 2 + 4
            sheet.text(0, middle + 5, fitted(row.label, 13.5, left - 20), size=13.5)
            for x, cell in zip(starts, row.cells, strict=True):
                if cell is None:
                    sheet.text(
                        x + panel / 2, middle + 4, "not attempted", size=11.5, colour=FAINT, anchor="middle"
                    )
                    continue
                span, _, of = cell
                _span(sheet, span, middle, x, x + panel, row.mark)
                if span.rate is not None:
                    at_right = span.rate > 0.5
                    sheet.text(
                        x + panel if at_right else x,
                        middle - 9,
                        of,
                        size=11.5,
                        colour=MUTED,
                        anchor="end" if at_right else "start",
                    )
            y += row_height
    return sheet


def _panels_narrow(
    width: float, titles: Sequence[tuple[str, str]], groups: Sequence[tuple[str, Sequence[PanelRow]]]
) -> Sheet:
    line, head, group_head, top = 24.0, 26.0, 26.0, 26.0
    height = (
        top
        + sum(
            group_head * bool(title) + (head + line * len(titles) + 8) * len(rows) for title, rows in groups
        )
        + 4
    )
    sheet = Sheet(width, height)
    x0, x1 = 62.0, width - 74.0
    lanes, y = [], top
    for title, rows in groups:
        y += group_head * bool(title)
        for _ in rows:
            lanes.append((y + head, y + head + line * len(titles)))
            y += head + line * len(titles) + 8
    _axis(sheet, x0, x1, top, lanes, (0, 50, 100))
    y = top
    for title, rows in groups:
        if title:
            sheet.text(0, y + 18, title, size=12, colour=MUTED, bold=True)
            y += group_head
        for row in rows:
            sheet.text(0, y + 18, fitted(row.label, 13, width), size=13, bold=True)
            y += head
            for (name, _), cell in zip(titles, row.cells, strict=True):
                sheet.text(0, y + 16, fitted(name, 12, x0 - 8), size=12, colour=MUTED)
                if cell is not None:
                    _span(sheet, cell[0], y + 12, x0, x1, row.mark)
                    sheet.text(width, y + 16, cell[2], size=12, colour=MUTED, anchor="end")
                y += line
            y += 8
    return sheet


@dataclass(frozen=True, slots=True)
class Part:
    """One kind of part of a whole, the same in all rows."""

    key: str
    label: str
    colour: str


def shares(
    width: float,
    parts: Sequence[Part],
    groups: Sequence[tuple[str, Sequence[tuple[str, dict[str, int]]]]],
    *,
    absolute: bool = False,
) -> Sheet:
    """Rows of parts that add up to 100 %, each part labelled with its count where there is room.

    `groups`: (heading, rows of (label, count by part key)). `absolute`: the longest row is as wide as
    the picture, and the others by their totals.
    """
    most = max((sum(counts.values()) for _, rows in groups for _, counts in rows), default=0)
    narrow = width < 500
    used = [part for part in parts if any(counts.get(part.key) for _, rows in groups for _, counts in rows)]
    lines: list[list[tuple[float, Part]]] = [[]]
    x = 0.0
    for part in used:
        need = 17 + text_width(part.label, 12) + 16
        if x + need - 16 > width and lines[-1]:
            lines.append([])
            x = 0.0
        lines[-1].append((x, part))
        x += need
    key = 20.0 * len(lines) + 10
    row_height = 46.0 if narrow else 32.0
    head = 28.0
    height = key + sum(head * bool(title) + row_height * len(rows) for title, rows in groups) + 6
    sheet = Sheet(width, height)
    for number, line in enumerate(lines):
        for x, part in line:
            sheet.box(x, 20 * number + 2, 11, 11, colour=part.colour)
            sheet.text(x + 17, 20 * number + 12, part.label, size=12, colour=MUTED)
    longest = max((sum(counts.values()) for _, rows in groups for _, counts in rows), default=0)
    x0, x1 = (0.0, width) if narrow else (226.0, width - max(66.0, text_width(f"n = {longest:,}", 12) + 10))
    y = key
    for title, rows in groups:
        if title:
            sheet.text(0, y + 19, title, size=12, colour=MUTED, bold=True)
            y += head
        for label, counts in rows:
            total = sum(counts.values())
            bar = 20.0
            if narrow:
                sheet.text(0, y + 14, fitted(label, 13, width - 80), size=13)
                sheet.text(width, y + 14, f"n = {total:,}", size=12, colour=MUTED, anchor="end")
                top = y + 20
            else:
                top = y + (row_height - bar) / 2
                sheet.text(0, top + 15, fitted(label, 13.5, x0 - 24), size=13.5)
                sheet.text(width, top + 15, f"n = {total:,}", size=12, colour=MUTED, anchor="end")
            if not total:
                sheet.box(x0, top, x1 - x0, bar, colour=BAND)
                sheet.text(x0 + 8, top + 14, "nothing answered", size=11.5, colour=INK)
            x = x0
            for part in used:
                whole = most if absolute else total
                share = counts.get(part.key, 0) / whole * (x1 - x0) if total else 0
                if not share:
                    continue
                sheet.box(x, top, max(share - 1.2, 0.8), bar, colour=part.colour)
                count = f"{counts[part.key]:,}"
                if share > text_width(count, 12) + 8:
                    sheet.text(
                        x + (share - 1.2) / 2, top + 14.5, count, size=12, colour=ON_COLOUR, anchor="middle"
                    )
                x += share
            y += row_height
    return sheet


def name_line(*parts: object) -> str:
    """Parts of a label, joined by a middle dot, each made harmless."""
    return " · ".join(plain(part, 60) for part in parts if part not in (None, ""))
