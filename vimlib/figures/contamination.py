"""What the page on contamination shows: a table of evidence a model, and the pictures behind it.

There is no score to draw. Each line stands for itself, with what it lacks or cannot show in the same row, and
the sentences say "no evidence" only where a test could have found some.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

import pandas as pd

from vimlib.analysis.contamination import Evidence, Finding, Seen, by_year
from vimlib.figures.blocks import Block, anchor, facts, lede, notice
from vimlib.figures.canvas import (
    GREEN,
    GREY,
    INK,
    LINE,
    MODEL,
    MODEL_SOFT,
    MUTED,
    ORANGE,
    SKY,
    SOLVER,
    VERMILION,
    Picture,
    Sheet,
    fitted,
    picture,
    plain,
    text_width,
)
from vimlib.figures.charts import Part, name_line, shares
from vimlib.figures.compare import p_value
from vimlib.figures.tables import Column, Table, count, decimal, missing, percent, text

NOTHING: Final = Block("")
_KEY: Final = ["model", "protocol", "prompt", "settings"]
_FOUND: Final = (str(Finding.STRONG), str(Finding.SOME))


@dataclass(frozen=True, slots=True)
class Page:
    """One subject's part of the page."""

    title: str
    slug: str
    evidence: pd.DataFrame
    tasks: pd.DataFrame
    pairs: pd.DataFrame
    overlaps: pd.DataFrame
    cutoff: datetime.date | None
    cutoff_source: str


def _apart(settings: str, others: pd.Series) -> str:
    """Those of a subject's settings in which a model's subjects differ, as the end of a title."""
    every = [json.loads(one) for one in others.unique()]
    names = sorted({name for one in every for name in one})
    differ = [name for name in names if len({json.dumps(one.get(name)) for one in every}) > 1]
    own = json.loads(settings)
    words = [f"{name} {json.dumps(own[name]) if name in own else 'not given'}" for name in differ]
    return f" · {plain(', '.join(words), 60)}" if words else ""


def pages(found: Seen) -> Iterator[Page]:
    """One part a subject, in the order of the evidence."""
    if found.evidence.empty:
        return
    keys = found.evidence[_KEY].drop_duplicates()
    same_name = keys.groupby(["model", "protocol"]).size()
    for number, key in enumerate(keys.itertuples(index=False, name=None), 1):
        name, protocol, prompt, settings = map(str, key)
        several = same_name[name, protocol] > 1
        known = found.cutoffs[found.cutoffs["name"] == name].iloc[0]
        yield Page(
            title=name_line(
                name, f"{protocol} protocol", *((f"prompt {prompt}",) if several and prompt else ())
            )
            + (_apart(settings, keys.loc[keys["model"] == name, "settings"]) if several else ""),
            slug=anchor(name, protocol, *((number,) if several else ())),
            evidence=_of(found.evidence, key),
            tasks=_of(found.tasks, key),
            pairs=_of(found.pairs, key),
            overlaps=_of(found.overlaps, key),
            cutoff=known["cutoff"],
            cutoff_source=str(known["source"]),
        )


def _of(frame: pd.DataFrame, key: Sequence[object]) -> pd.DataFrame:
    if frame.empty:
        return frame
    wanted = pd.Series(True, index=frame.index)
    for column, value in zip(_KEY, key, strict=True):
        wanted &= frame[column] == value
    return frame[wanted].reset_index(drop=True)


# --- sentences


def findings(found: Seen, alpha: float) -> Block:
    """The first thing on the page: what can be concluded, model by model."""
    parts = list(pages(found))
    if not parts:
        return notice(
            "Nothing can be concluded: no model run is loaded. This page needs answers of a model to public"
            " tasks; with its answers to twins, to fresh tasks, or with the target withheld, it says more."
        )
    sentences = [f"{part.title}: {conclusion(part)}" for part in parts]
    if not any(part.evidence["finding"].isin([*_FOUND, str(Finding.NOTHING)]).any() for part in parts):
        return notice(
            "Nothing can be concluded about any model here: no line of evidence has enough data."
        ) + lede(sentences)
    return lede(sentences)


def conclusion(part: Page) -> str:
    """What the lines of one subject amount to, in words."""
    by = {
        finding: [
            str(row["evidence"]) for row in part.evidence.to_dict("records") if row["finding"] == finding
        ]
        for finding in map(str, Finding)
    }
    tested = sum(len(by[name]) for name in (*_FOUND, str(Finding.NOTHING)))
    lacking = len(by[str(Finding.TOO_LITTLE)])
    strong, some = by[str(Finding.STRONG)], by[str(Finding.SOME)]
    if not tested:
        return f"nothing can be concluded: all {lacking} tests lack data."
    rest = f" {lacking} more lack data." if lacking else ""
    if strong or some:
        said = [f"strong evidence from {_listed(strong)}"] * bool(strong)
        said += [f"some evidence from {_listed(some)}"] * bool(some)
        found = " and ".join(said)
        return f"{found}, of {tested} lines that could be tested.{rest} What each cannot show is below."
    return (
        f"no evidence in {tested} {'line' if tested == 1 else 'lines'} that could be tested, which is no "
        f"proof of the contrary.{rest}"
    )


def _listed(names: Sequence[str]) -> str:
    quoted = [f"“{name}”" for name in names]
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}" if len(quoted) > 1 else "".join(quoted)


def page_facts(part: Page) -> Block:
    """What a subject's lines rest on."""
    cutoff = "not known" if part.cutoff is None else f"{part.cutoff:%Y-%m-%d} ({part.cutoff_source})"
    return facts(
        [
            ("Public tasks", count(len(part.tasks))),
            ("with a date", count(int(part.tasks["created"].notna().sum()) if len(part.tasks) else 0)),
            ("Pairs with a twin", count(len(part.pairs))),
            ("Right answers beside published solutions", count(len(part.overlaps))),
            ("Training cutoff", cutoff),
        ]
    )


# --- the table


def _effect(row: dict[str, Any]) -> str:
    return _number(row, "effect", signed=True)


def _number(row: dict[str, Any], column: str, *, signed: bool = False) -> str:
    value = row[column]
    if missing(value):
        return ""
    if "pass rate" in str(row["unit"]) or "lead" in str(row["unit"]):
        return f"{100 * value:{'+' if signed else ''}.1f} points"
    return f"{value:{'+' if signed else ''}.2f}"


def _interval(row: dict[str, Any]) -> str:
    if missing(row["low"]) or missing(row["high"]):
        return ""
    points = 100 if "points" in _number(row, "effect") else 1
    digits = 1 if points == 100 else 2
    return f"{points * row['low']:+.{digits}f} to {points * row['high']:+.{digits}f}"


def _remark(row: dict[str, Any]) -> str:
    return f"Missing: {row['missing']}." if row["missing"] else str(row["cannot_show"])


def evidence_table(part: Page) -> Table:
    """All lines of a subject: what was found, how sure, what could have been found, what it cannot show."""
    rows = part.evidence.assign(
        shown=[_effect(row) for row in part.evidence.to_dict("records")],
        least=[_number(row, "detectable") for row in part.evidence.to_dict("records")],
        remark=[_remark(row) for row in part.evidence.to_dict("records")],
    )
    return Table(
        name=f"evidence-{part.slug}",
        title="Evidence of having been seen",
        columns=[
            Column("evidence", "Line", kind="name"),
            Column("finding", "Finding"),
            Column(
                "shown", "Effect", kind="number", help="Positive: as if seen", beside=_interval, show=text
            ),
            Column("n", "Tasks", kind="number", show=count),
            Column(
                "p_corrected",
                "p",
                kind="number",
                show=p_value,
                help="Two-sided, corrected over all lines (Holm)",
            ),
            Column(
                "least",
                "Detectable",
                kind="number",
                show=text,
                help="In four cases of five, at this level",
            ),
            Column("remark", "What it lacks, or cannot show"),
        ],
        rows=rows,
        note="Effects are in points of pass rate; of popularity, a rank correlation (-1 to 1); of overlap,"
        " a similarity of keys (0 to 1).",
    )


# --- age


def age_picture(part: Page) -> Picture | Block:
    """Pass rate by year of publication, the training cutoff marked."""
    years = by_year(part.tasks) if len(part.tasks) else pd.DataFrame()
    if len(years) < 2:
        return NOTHING
    rows = years.to_dict("records")
    cutoff = part.cutoff
    first, last = int(rows[0]["year"]), int(rows[-1]["year"])
    inside = cutoff is not None and first <= cutoff.year <= last

    def paint(width: float) -> Sheet:
        sheet = Sheet(width, 262)
        x0, x1, top, bottom = 44.0, width - 12.0, 34.0, 200.0
        step = (x1 - x0) / (last - first + 1)

        def at(year: float) -> float:
            return x0 + (year - first) * step

        def up(rate: float) -> float:
            return bottom - rate * (bottom - top)

        for tick in (0, 25, 50, 75, 100):
            sheet.line(x0, up(tick / 100), x1, up(tick / 100), colour=LINE)
            sheet.text(x0 - 8, up(tick / 100) + 4, f"{tick}", size=11.5, colour=MUTED, anchor="end")
        sheet.text(0, 14, "Passed, %", size=12, colour=MUTED)
        if cutoff is not None and inside:
            x = at(cutoff.year + (cutoff.timetuple().tm_yday - 1) / 365.25)
            sheet.line(x, top - 6, x, bottom, colour=VERMILION, width=1.6, dash=True)
            label = f"cutoff {cutoff:%Y-%m}"
            right = x + 6 + text_width(label, 12) <= width
            sheet.text(
                x + 6 if right else x - 6,
                14,
                label,
                size=12,
                colour=VERMILION,
                anchor="start" if right else "end",
            )
        every = max(1, math.ceil(text_width("2010", 11.5) * 1.4 / step))
        for row in rows:
            x = at(row["year"] + 0.5)
            sheet.line(x, up(row["low"]), x, up(row["high"]), colour=MODEL_SOFT, width=min(6.0, step / 3))
            sheet.dot(x, up(row["rate"]), min(5.0, step / 4), fill=MODEL, edge=MODEL)
            sheet.text(x, bottom + 36, f"{row['tasks']}", size=11.5, colour=MUTED, anchor="middle")
        for year in range(first, last + 1):
            if (year - first) % every == 0:
                sheet.text(at(year + 0.5), bottom + 18, f"{year}", size=11.5, anchor="middle")
        sheet.text(0, bottom + 54, "Below the years: tasks", size=11.5, colour=MUTED)
        return sheet

    line = part.evidence[part.evidence["evidence"] == str(Evidence.AGE)].iloc[0]
    if cutoff is None:
        title = "Pass rate by year of publication; the training cutoff is not known"
    elif not inside:
        side = "before" if cutoff.year > last else "after"
        title = (
            f"All dated tasks are from {side} the training cutoff ({cutoff:%Y-%m-%d}), so age tells nothing"
        )
    elif line["finding"] in _FOUND:
        title = "Tasks from before the training cutoff are passed more often, at equal difficulty"
    else:
        title = "Pass rate before and after the training cutoff"
    return picture(
        f"age-{part.slug}",
        paint,
        title=title,
        subtitle="Share of tasks passed by the year in which they were published, with 95 % interval; not"
        " adjusted for difficulty, which the table’s line is.",
        alt="; ".join(f"{row['year']}: {percent(row['rate'], 0)} of {row['tasks']} tasks" for row in rows),
    )


# --- twins

_TWIN_PARTS: Final = (
    Part("both", "both passed", SKY),
    Part("original", "only the original", ORANGE),
    Part("twin", "only the twin", GREEN),
    Part("neither", "neither", GREY),
)


def twin_picture(part: Page) -> Picture | Block:
    """Pairs of original and twin by which of them was passed."""
    if part.pairs.empty:
        return NOTHING
    original, twin = part.pairs["original"] >= 0.5, part.pairs["twin"] >= 0.5
    counts = {
        "both": int((original & twin).sum()),
        "original": int((original & ~twin).sum()),
        "twin": int((~original & twin).sum()),
        "neither": int((~original & ~twin).sum()),
    }
    words = ", ".join(f"{p.label}: {counts[p.key]}" for p in _TWIN_PARTS)
    return picture(
        f"twins-{part.slug}",
        lambda width: shares(width, _TWIN_PARTS, [("", [("originals and twins", counts)])]),
        title=f"{counts['original']} originals passed whose twin was not, {counts['twin']} the other way",
        subtitle="The same edits on other words, pair by pair. Memory of originals would show as more of the"
        " first.",
        alt=words,
        note="With several answers a task, it counts as passed from half of them on."
        if (part.pairs["answers"] > 1).any()
        else "",
    )


# --- overlap


def overlap_picture(part: Page) -> Picture | Block:
    """Similarity to the published solutions: the subject's answers, others', diff's, and chance."""
    if part.overlaps.empty:
        return NOTHING
    strips = [
        ("this model’s answers", MODEL, part.overlaps["similarity"].tolist()),
        ("other models, same tasks", ORANGE, part.overlaps["others"].dropna().tolist()),
        ("diff, same tasks", SOLVER, part.overlaps["diff"].dropna().tolist()),
        ("chance: other tasks’ solutions", GREY, part.overlaps["chance"].dropna().tolist()),
    ]

    def paint(width: float) -> Sheet:
        narrow = width < 500
        row_height = 62.0 if narrow else 50.0
        top = 22.0
        sheet = Sheet(width, top + row_height * len(strips) + 26)
        x0, x1 = (10.0, width - 10.0) if narrow else (212.0, width - 60.0)
        for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
            x = x0 + tick * (x1 - x0)
            sheet.line(x, top, x, top + row_height * len(strips), colour=LINE)
            sheet.text(x, top - 8, f"{tick:g}", size=11.5, colour=MUTED, anchor="middle")
        for number, (label, colour, values) in enumerate(strips):
            y = top + row_height * (number + 1) - 12
            if narrow:
                sheet.text(0, y - 36, f"{label}, n = {len(values)}", size=12.5)
            else:
                sheet.text(0, y - 6, fitted(label, 13, x0 - 16), size=13)
                sheet.text(width, y - 6, f"n = {len(values)}", size=12, colour=MUTED, anchor="end")
            piles: dict[int, int] = {}
            bins: dict[int, int] = {}
            for value in values:
                bins[round(value * 40)] = bins.get(round(value * 40), 0) + 1
            lift = min(6.0, (26.0 if narrow else 30.0) / max(bins.values(), default=1))
            for value in sorted(values):
                place = round(value * 40)
                height = piles.get(place, 0)
                piles[place] = height + 1
                sheet.dot(
                    x0 + place / 40 * (x1 - x0), y - height * lift, 3, fill=colour, edge=colour, width=0.5
                )
            if values:
                x = x0 + median(values) * (x1 - x0)
                sheet.line(x, y + 7, x, y - 2, colour=INK, width=2)
            else:
                sheet.text(x0 + 6, y, "none", size=11.5, colour=MUTED)
        sheet.text(x0, sheet.height - 6, "0: no key in common", size=11.5, colour=MUTED)
        sheet.text(x1, sheet.height - 6, "1: the same keys", size=11.5, colour=MUTED, anchor="end")
        return sheet

    same = int(part.overlaps["same"].sum())
    total = len(part.overlaps)
    words = "; ".join(
        f"{label}: median {decimal(median(values), 2)} of {len(values)}"
        for label, _, values in strips
        if values
    )
    return picture(
        f"overlap-{part.slug}",
        paint,
        title=f"{same} of {total} right answers are a published solution, key for key",
        subtitle="Similarity of each right answer to the nearest published solution of its task (1 - edit"
        " distance / keys), without typed text and saving; the mark below is the median.",
        alt=words,
        note="Short edits have few good answers: the same keys there need no memory.",
    )


def suspicious_table(part: Page, *, top_n: int = 12) -> Table | Block:
    """The answers most like a published solution, side by side with it."""
    if part.overlaps.empty:
        return NOTHING
    kept = part.overlaps[(part.overlaps["run_keys"] >= 4) | part.overlaps["same"]].head(top_n)
    rows = kept.assign(
        what=["the same" if same else f"{run} of {of} keys in one run" for same, run, of in zip(
            kept["same"], kept["run_keys"], kept["answer_keys"], strict=True
        )],
        name=[plain(title or key, 60) for title, key in zip(kept["title"], kept["task_key"], strict=True)],
    )  # fmt: skip
    return Table(
        name=f"suspicious-{part.slug}",
        title="Answers most like a published solution",
        columns=[
            Column("name", "Task", kind="name"),
            Column("keys", "Answer", kind="code"),
            Column("solution", "Published", kind="code"),
            Column("source", "Where"),
            Column("what", "In common"),
            Column("elsewhere", "Also in", kind="number", show=count, help="Other tasks’ solutions and "
                   "others’ answers that hold the same run of keys"),
        ],
        rows=rows,
        note="First the same keys, then runs that stand nowhere else, then long ones. A short match, or one"
        " that others have too, is what a good answer looks like.",
        empty="No answer has more than a few keys in a row in common with a published solution.",
    )  # fmt: skip


def method() -> Block:
    """The box that says what this does and does not show."""
    return notice(
        "What this page can show: that a model does better, or answers more like the published solutions, "
        "where it may have seen a task than where it cannot have. What it cannot: that a model has not seen "
        "a task (a memory may help in ways that no line looks at, and small samples miss most of it), which "
        "tasks were seen, or why: practice on like tasks looks much the same. No line is a proof, and they "
        "are not added up."
    )
