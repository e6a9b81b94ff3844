"""The shape of a comparison: differences with their intervals, around a line that says "no difference".

Like the shapes of `charts` it knows pixels and words only. Left is worse and right is better,
whatever the metric counts, so that one glance at the side is enough; the number beside a row
keeps its own sign.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from vimlib.figures.canvas import FAINT, INK, LINE, MODEL, MODEL_SOFT, MUTED, PAPER, Sheet, fitted, text_width


@dataclass(frozen=True, slots=True)
class ForestRow:
    """One difference. None: not known."""

    label: str
    value: float | None
    low: float | None
    """None: open on this side, or no interval."""
    high: float | None
    words: str
    """The difference in words, such as '+8.3'."""
    of: str
    """What it rests on, such as '48 tasks'."""
    sure: bool = False
    """Whether it is more than chance: a filled mark."""


def _reach(rows: Sequence[ForestRow]) -> float:
    """A round number that no interval passes."""
    ends = [abs(end) for row in rows for end in (row.value, row.low, row.high) if end is not None]
    most = max(ends, default=1.0) or 1.0
    step = 10 ** math.floor(math.log10(most))
    return next(step * factor for factor in (1, 2, 2.5, 5, 10) if step * factor >= most * 0.999)


def forest(
    width: float,
    groups: Sequence[tuple[str, Sequence[ForestRow]]],
    *,
    worse: str,
    better: str,
    unit: str,
) -> Sheet:
    """Rows of differences in headed groups on one axis that is the same to both sides of zero.

    `worse`, `better`: words over the two halves. `unit`: of the axis.
    """
    every = [row for _, rows in groups for row in rows]
    reach = _reach(every)
    narrow = width < 500
    row_height, head, top = (46.0, 28.0, 46.0) if narrow else (32.0, 28.0, 46.0)
    height = top + sum(head * bool(title) + row_height * len(rows) for title, rows in groups) + 10
    sheet = Sheet(width, height)
    x0, x1 = (8.0, width - 8.0) if narrow else (200.0, width - 170.0)
    middle = (x0 + x1) / 2
    half = (x1 - x0) / 2

    def at(value: float) -> float:
        return middle + max(-1.0, min(1.0, value / reach)) * half

    sheet.text(middle - 10, 13, fitted(f"← {worse}", 12, half), size=12, colour=MUTED, anchor="end")
    sheet.text(middle + 10, 13, fitted(f"{better} →", 12, half), size=12, colour=MUTED)
    lanes, y = [], top
    for title, rows in groups:
        y += head * bool(title)
        for _ in rows:
            lanes.append((y + 20, y + row_height - 2) if narrow else (y, y + row_height))
            y += row_height
    for share in (-1.0, -0.5, 0.0, 0.5, 1.0):
        tick = share * reach
        for y1, y2 in lanes:
            zero = share == 0
            sheet.line(at(tick), y1, at(tick), y2, colour=INK if zero else LINE, width=1.4 if zero else 1)
        label = f"{tick:+g}" if tick else "0"
        label += f"\u00a0{unit}" if share == 1 and unit else ""
        wide = text_width(label, 11.5) / 2
        x = min(max(at(tick), wide), width - wide)
        sheet.text(x, top - 8, label, size=11.5, colour=MUTED, anchor="middle")

    y = top
    for title, rows in groups:
        if title:
            sheet.text(0, y + 19, title, size=12, colour=MUTED, bold=True)
            y += head
        for row in rows:
            if narrow:
                sheet.text(0, y + 14, fitted(row.label, 13, width - 160), size=13)
                sheet.text(width, y + 14, row.of, size=12, colour=MUTED, anchor="end")
                sheet.text(width - 82, y + 14, row.words, size=13, bold=True, anchor="end")
                lane = y + 32
            else:
                lane = y + row_height / 2
                sheet.text(0, lane + 5, fitted(row.label, 13.5, x0 - 20), size=13.5)
                sheet.text(width - 84, lane + 5, row.words, size=13.5, bold=True, anchor="end")
                sheet.text(width, lane + 5, row.of, size=12, colour=MUTED, anchor="end")
            if row.value is None:
                sheet.text(middle + 8, lane + 4, "unavailable", size=11.5, colour=FAINT)
            else:
                if row.low is not None or row.high is not None:
                    low = -reach if row.low is None else row.low
                    high = reach if row.high is None else row.high
                    sheet.line(at(low), lane, at(high), lane, colour=MODEL_SOFT, width=6)
                sheet.dot(at(row.value), lane, 5, fill=MODEL if row.sure else PAPER, edge=MODEL, width=1.8)
            y += row_height
    return sheet
