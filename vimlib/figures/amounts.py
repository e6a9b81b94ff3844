"""Shapes of quantities without an upper end: dollars, tokens, seconds.

A rate has an axis from 0 to 100 %; what is spent has none, and runs differ by powers of ten. So an
axis here is chosen from the numbers: linear from 0, or logarithmic where they span more than a factor
of 20. What is only known to lie above a bound is drawn as an open arrow and never as a point. Rows
in, sheet out, each laid out anew for a phone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vimlib.figures.canvas import (
    BAND,
    FAINT,
    LINE,
    MODEL,
    MODEL_SOFT,
    MUTED,
    PAPER,
    VERMILION,
    Sheet,
    fitted,
    text_width,
)

_SPAN_OF_LOG = 20.0
"""Most that a linear axis holds, greatest by least."""
_SPAN_ON_PLANE = 5.0
"""The same where points have names, which need room."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Where values lie between two pixels."""

    first: float
    last: float
    log: bool
    ticks: tuple[float, ...]

    def place(self, value: float, x0: float, x1: float) -> float:
        """The pixel of a value; one beyond an end is put at that end."""
        value = min(max(value, self.first), self.last)
        if self.log:
            share = math.log(value / self.first) / math.log(self.last / self.first)
        else:
            share = (value - self.first) / (self.last - self.first)
        return x0 + share * (x1 - x0)


def axis(values: Sequence[float], span: float = _SPAN_OF_LOG) -> Axis:
    """An axis with round ends that holds the values, which are not negative.

    Logarithmic, between steps of 1, 2 and 5, where they span more than a factor of `span` and none is 0;
    else linear from 0.
    """
    top = max(values, default=0.0) or 1.0
    bottom = min(values, default=0.0)
    if bottom > 0 and top / bottom > span:
        first = 10.0 ** math.floor(math.log10(bottom))
        first = max(step * first for step in (1, 2, 5) if step * first <= bottom * (1 + 1e-9))
        last = 10.0 ** math.floor(math.log10(top))
        last = min(step * last for step in (1, 2, 5, 10) if step * last >= top * (1 - 1e-9))
        decades = range(math.floor(math.log10(first)), math.ceil(math.log10(last)) + 1)
        ticks = tuple(10.0**power for power in decades if first <= 10.0**power <= last * (1 + 1e-9))
        if len(ticks) < 3:
            every = (step * 10.0**power for power in decades for step in (1, 2, 5))
            ticks = tuple(tick for tick in every if first <= tick <= last * (1 + 1e-9))
        return Axis(first, last, True, ticks)
    step = 10.0 ** math.floor(math.log10(top / 3))
    step = next(size * step for size in (1, 2, 2.5, 5, 10) if top / (size * step) <= 5)
    count = math.ceil(top / step - 1e-9)
    return Axis(0.0, count * step, False, tuple(step * number for number in range(count + 1)))


def _ticks(
    sheet: Sheet,
    along: Axis,
    x0: float,
    x1: float,
    top: float,
    lanes: Sequence[tuple[float, float]],
    word: Callable[[float], str],
) -> None:
    """Labels at `top`, as many as fit, and grid lines in the lanes."""
    free = -math.inf
    for tick in along.ticks:
        x = along.place(tick, x0, x1)
        for y1, y2 in lanes:
            sheet.line(x, y1, x, y2, colour=LINE, width=1)
        label = word(tick)
        half = text_width(label, 11.5) / 2
        middle = min(max(x, half), sheet.width - half)
        if middle - half > free + 6:
            sheet.text(middle, top - 6, label, size=11.5, colour=MUTED, anchor="middle")
            free = middle + half


def _arrow(sheet: Sheet, x: float, y: float) -> None:
    """At least this much: an open head towards more."""
    sheet.line(x, y, x + 15, y, colour=MODEL, width=1.6)
    sheet.line(x + 15, y, x + 10, y - 4, colour=MODEL, width=1.6)
    sheet.line(x + 15, y, x + 10, y + 4, colour=MODEL, width=1.6)
    sheet.line(x, y - 5, x, y + 5, colour=MODEL, width=1.6)


@dataclass(frozen=True, slots=True)
class AmountRow:
    """One line of a chart of amounts."""

    label: str
    value: float | None
    """None: not known."""
    low: float | None
    high: float | None
    """None: no bound on this side."""
    shown: str
    """The amount in words, such as '1,234' or 'unavailable'."""
    beside: str
    """What it rests on, such as '12 passes'."""
    least: float | None = None
    """A lower bound where the value is not known."""

    def numbers(self) -> list[float]:
        """All that is drawn."""
        known = [self.value, self.low, self.high, self.least]
        return [number for number in known if number is not None]


def amounts(width: float, rows: Sequence[AmountRow], word: Callable[[float], str]) -> Sheet:
    """Rows of an amount with its interval; an open arrow where only a lower bound is known."""
    narrow = width < 500
    row_height, top = (42.0, 26.0) if narrow else (32.0, 26.0)
    sheet = Sheet(width, top + row_height * len(rows) + 6)
    x0, x1 = (8.0, width - 24.0) if narrow else (226.0, width - 196.0)
    along = axis([number for row in rows for number in row.numbers()])
    lanes = [
        (top + row_height * n + (19 if narrow else 0), top + row_height * (n + 1) - (2 if narrow else 0))
        for n in range(len(rows))
    ]
    _ticks(sheet, along, x0, x1, top, lanes, word)
    y = top
    for row in rows:
        if narrow:
            lane = y + 28
            sheet.text(0, y + 14, fitted(row.label, 13, width - 190), size=13)
            sheet.text(width, y + 14, row.beside, size=12, colour=MUTED, anchor="end")
            sheet.text(
                width - text_width(row.beside, 12) - 8, y + 14, row.shown, size=13, bold=True, anchor="end"
            )
        else:
            lane = y + row_height / 2
            sheet.text(0, lane + 5, fitted(row.label, 13.5, x0 - 24), size=13.5)
            sheet.text(width - 84, lane + 5, row.shown, size=13.5, bold=True, anchor="end")
            sheet.text(width, lane + 5, row.beside, size=12, colour=MUTED, anchor="end")
        if row.value is not None:
            ends = (row.low, row.high)
            if ends != (None, None):
                left = along.place(row.value if row.low is None else row.low, x0, x1)
                right = x1 if row.high is None else along.place(row.high, x0, x1)
                sheet.line(left, lane, right, lane, colour=MODEL_SOFT, width=6)
            sheet.dot(along.place(row.value, x0, x1), lane, 5, fill=MODEL, edge=MODEL)
        elif row.least is not None:
            _arrow(sheet, along.place(row.least, x0, x1), lane)
        y += row_height
    return sheet


@dataclass(frozen=True, slots=True)
class Point:
    """A run on a plane of amount and rate."""

    label: str
    x: float
    x_low: float | None
    x_high: float | None
    y: float
    y_low: float
    y_high: float
    """Rates, 0 to 1."""
    best: bool
    """On the front: no other is both as cheap and as good."""


def plane(width: float, points: Sequence[Point], word: Callable[[float], str], *, across: str) -> Sheet:
    """Rate against amount with both intervals; the front joined by a step line, its points filled.

    `across` names the amount. Cheaper is to the left, better is up.
    """
    narrow = width < 500
    height = 300.0 if narrow else 360.0
    left, right, top, bottom = 44.0, width - 16.0, 30.0, height - 44.0
    sheet = Sheet(width, height)
    ends = [number for point in points for number in (point.x, point.x_low, point.x_high)]
    along = axis([number for number in ends if number is not None], _SPAN_ON_PLANE)
    ceiling = next(
        rate for rate in (0.1, 0.25, 0.5, 1.0) if rate >= max((p.y_high for p in points), default=1.0) - 1e-9
    )

    def up(rate: float) -> float:
        return bottom - rate / ceiling * (bottom - top)

    sheet.text(0, 14, "pass rate", size=12, colour=MUTED)
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = up(share * ceiling)
        sheet.line(left, y, right, y, colour=LINE, width=1)
        label = f"{100 * share * ceiling:g}" + ("\u00a0%" if share == 1 else "")
        sheet.text(left - 8, y + 4, label, size=11.5, colour=MUTED, anchor="end")
    _ticks(sheet, along, left, right, bottom + 24, [(top, bottom)], word)
    sheet.text(right, height - 6, across, size=12, colour=MUTED, anchor="end")

    front = sorted((point for point in points if point.best), key=lambda point: point.x)
    for here, after in zip(front, front[1:], strict=False):
        corner = along.place(after.x, left, right)
        sheet.line(along.place(here.x, left, right), up(here.y), corner, up(here.y), colour=MODEL, width=1.2)
        sheet.line(corner, up(here.y), corner, up(after.y), colour=MODEL, width=1.2)
    for point in points:
        x, y = along.place(point.x, left, right), up(point.y)
        sheet.line(x, up(point.y_low), x, up(point.y_high), colour=MODEL_SOFT, width=3)
        if point.x_low is not None or point.x_high is not None:
            begin = x if point.x_low is None else along.place(point.x_low, left, right)
            end = right if point.x_high is None else along.place(point.x_high, left, right)
            sheet.line(begin, y, end, y, colour=MODEL_SOFT, width=3)
    taken: list[tuple[float, float, float]] = []
    for point in sorted(points, key=lambda point: (not point.best, -point.y)):
        x, y = along.place(point.x, left, right), up(point.y)
        label = fitted(point.label, 12, min(190.0, width / 2))
        long = text_width(label, 12)
        begin = x - 10 - long if x + 10 + long > width else x + 10
        row = y - 9
        # A name that would cover another moves down.
        while any(abs(row - r) < 15 and begin < e and b < begin + long for b, e, r in taken) and row < bottom:
            row += 3
        taken.append((begin, begin + long, row))
        sheet.box(begin - 2, row - 7, long * 0.96 + 4, 14, colour=PAPER)
        sheet.text(begin, row + 4, label, size=12, bold=point.best)
    for point in points:
        fill = MODEL if point.best else PAPER
        sheet.dot(along.place(point.x, left, right), up(point.y), 5, fill=fill, edge=MODEL, width=1.8)
    return sheet


@dataclass(frozen=True, slots=True)
class SpreadRow:
    """One line of a chart of distributions."""

    label: str
    values: tuple[float, ...]
    """All that were measured, sorted; (): none."""
    middle: float | None
    """Median."""
    tail: float | None
    """95th percentile."""
    shown: str
    beside: str


def spreads(width: float, rows: Sequence[SpreadRow], word: Callable[[float], str]) -> Sheet:
    """Rows of histograms on one axis, with a line at the median and one at the 95th percentile."""
    narrow = width < 500
    row_height, top = (70.0, 50.0) if narrow else (54.0, 50.0)
    sheet = Sheet(width, top + row_height * len(rows) + 6)
    x0, x1 = (8.0, width - 12.0) if narrow else (226.0, width - 158.0)
    sheet.line(x0, 9, x0 + 14, 9, colour=MODEL, width=2)
    sheet.text(x0 + 20, 13, "median", size=12, colour=MUTED)
    after = x0 + 20 + text_width("median", 12) + 16
    sheet.line(after, 9, after + 14, 9, colour=VERMILION, width=2)
    sheet.text(after + 20, 13, "95th percentile", size=12, colour=MUTED)
    along = axis([value for row in rows for value in row.values if value > 0])
    lanes = [
        (top + row_height * n + (22 if narrow else 4), top + row_height * (n + 1) - 4)
        for n in range(len(rows))
    ]
    _ticks(sheet, along, x0, x1, top, lanes, word)
    bins = 40 if narrow else 64
    for row, (lane_top, lane_bottom) in zip(rows, lanes, strict=True):
        if narrow:
            sheet.text(0, lane_top - 6, fitted(row.label, 13, width - 170), size=13)
            sheet.text(
                width, lane_top - 6, f"{row.shown} · {row.beside}", size=12, colour=MUTED, anchor="end"
            )
        else:
            middle = (lane_top + lane_bottom) / 2
            sheet.text(0, middle + 5, fitted(row.label, 13.5, x0 - 24), size=13.5)
            sheet.text(width, middle - 2, row.shown, size=13, bold=True, anchor="end")
            sheet.text(width, middle + 14, row.beside, size=12, colour=MUTED, anchor="end")
        if not row.values:
            sheet.box(x0, lane_bottom - 20, x1 - x0, 20, colour=BAND)
            sheet.text(x0 + 8, lane_bottom - 6, "not measured", size=11.5, colour=FAINT)
            continue
        heights = [0] * bins
        for value in row.values:
            share = (along.place(value, x0, x1) - x0) / (x1 - x0)
            heights[min(bins - 1, int(share * bins))] += 1
        tallest = max(heights)
        step = (x1 - x0) / bins
        room = lane_bottom - lane_top - 2
        for number, height in enumerate(heights):
            if height:
                tall = max(1.5, height / tallest * room)
                sheet.box(x0 + number * step, lane_bottom - tall, step - 0.8, tall, colour=MODEL_SOFT)
        for mark, colour in ((row.middle, MODEL), (row.tail, VERMILION)):
            if mark is not None:
                x = along.place(mark, x0, x1)
                sheet.line(x, lane_top, x, lane_bottom, colour=colour, width=2)
    return sheet
