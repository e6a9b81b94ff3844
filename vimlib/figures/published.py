"""Results that others published: for orientation, and ranked with nothing of ours."""

from __future__ import annotations

import pandas as pd

from vimlib.figures.blocks import anchor
from vimlib.figures.canvas import (
    Picture,
    picture,
    plain,
)
from vimlib.figures.charts import (
    RateRow,
    rates,
)
from vimlib.figures.sections import (
    of_n,
    records,
    span_of,
)
from vimlib.figures.tables import (
    Column,
    Table,
    decimal,
    interval,
    missing,
    percent,
    seconds,
)


def published_sections(published: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    """Cut the published results into what was measured alike: (title, slug, rows)."""
    return [
        (f"{plain(benchmark, 40)}, {plain(track, 60)}", anchor("published", benchmark, track), rows)
        for (benchmark, track), rows in published.groupby(["benchmark", "track"], sort=True)
    ]


def published_picture(published: pd.DataFrame, slug: str) -> Picture:
    """Results that others published, for orientation; hollow marks, since nothing was replayed here."""
    rows = records(published.sort_values(["passed", "model"], ascending=[False, True]))
    lines = [
        RateRow(
            plain(row["model"], 60),
            "published",
            span_of(row["pass_rate"], row["pass_rate_low"], row["pass_rate_high"]),
            percent(row["pass_rate"]),
            of_n(row, whole="tasks"),
        )
        for row in rows
    ]
    best = rows[0]
    if len(rows) > 1:
        level = [row for row in rows if row["pass_rate_high"] >= best["pass_rate_low"]]
        title = (
            f"Published for {plain(best['benchmark'], 60)}: {plain(best['model'], 60)} leads with "
            f"{of_n(best, whole='tasks')}, but with so few tasks the intervals of {len(level) - 1} others "
            "reach its own."
        )
    else:
        title = (
            f"Published for {plain(best['benchmark'], 60)}: {plain(best['model'], 60)} passes "
            f"{of_n(best, whole='tasks')}\u00a0({percent(best['pass_rate'])})."
        )
    return picture(
        f"published-{slug}",
        lambda width: rates(width, [("", lines)], main="published pass rate, not replayed here"),
        title=title,
        subtitle="Pass rate as published; 95 % Wilson interval computed here from the published counts.",
        alt="Published pass rates. "
        + "; ".join(f"{row.label}: {row.of}, {row.value}" for row in lines)
        + ".",
    )


def published_table(published: pd.DataFrame, slug: str) -> Table:
    """The published rows as they are; one row a model."""
    frame = published.sort_values(["passed", "model"], ascending=[False, True])
    return Table(
        f"published-{slug}",
        "Published, not replayed here",
        [
            Column("model", "Model", "name"),
            Column(
                "pass_rate",
                "Passed",
                "number",
                percent,
                unit="% of n, interval",
                beside=lambda r: (
                    f"{of_n(r, whole='tasks')}, {interval(r['pass_rate_low'], r['pass_rate_high'])}"
                ),
            ),
            Column("avg_efficiency", "Efficiency", "number", decimal, unit="mean over passes"),
            Column("avg_partial", "Partial", "number", decimal, unit="mean, 0 to 1"),
            Column("seconds", "Time", "number", seconds, unit="whole run"),
        ],
        frame,
        note="Source: "
        + "; ".join(
            plain(source, 200) + (f", retrieved {day}" if day else ", as loaded")
            for source, day in sorted(
                {
                    (source, "" if missing(retrieved) else f"{pd.Timestamp(retrieved):%Y-%m-%d}")
                    for source, retrieved in zip(frame["source"], frame["retrieved"], strict=True)
                }
            )
        )
        + ".",
    )
