"""What the comparison page shows: a `Comparison` in, pictures, tables and sentences out.

Where there is no comparison, the headline says why and everything else is empty, so that the page
stands whatever the store holds. Answers and names come from outside: `plain`, the tables and
the canvas make them harmless.
"""

from __future__ import annotations

import html
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from vimlib.analysis.compare import Comparison, Refusal, confounders, sentence, tier_sentences
from vimlib.figures.answers import HOW_TO_PLAY, answer_player, in_turns, quoted
from vimlib.figures.blocks import Block, Tile, facts, lede, notice, say, section, tiles
from vimlib.figures.canvas import Picture, picture, plain
from vimlib.figures.forest import ForestRow, forest
from vimlib.figures.sections import records
from vimlib.figures.tables import (
    UNAVAILABLE,
    Column,
    Table,
    count,
    missing,
    text,
)
from vimlib.records import Protocol, Trace

NOTHING: Final = Block("")


def p_value(value: object) -> str:
    """A p value as people read it: 0.22, or < 0.001."""
    if missing(value):
        return UNAVAILABLE
    number = float(value)  # type: ignore[arg-type]
    return "< 0.001" if number < 0.001 else f"{number:.2g}" if number < 0.0995 else f"{number:.2f}"


def amount(value: object, unit: object, *, signed: bool = False, rate: bool = False) -> str:
    """A value or difference in its metric's unit. `rate`: a share of passes, in per cent or points."""
    if missing(value):
        return UNAVAILABLE
    number = float(value)  # type: ignore[arg-type]
    if unit == "share" and rate:
        shown, end = f"{100 * number:+.1f}", "" if signed else "\u00a0%"
    elif unit == "USD":
        shown, end = f"{number:+.4f}", "\u00a0$"
    else:
        shown, end = f"{number:+,.0f}" if unit == "tokens" else f"{number:+.3f}", ""
    # A zero has no sign, and only differences show a plus.
    if not shown.strip("+-0.") or (not signed and number >= 0):
        shown = shown[1:]
    return shown + end


def _span(row: dict[str, Any]) -> str:
    """The interval of a difference in its unit; an open side in words."""
    if missing(row["low"]) and missing(row["high"]):
        return "" if missing(row["difference"]) else "no interval"
    rate = bool(row.get("yes_or_no", True))
    low, high = (
        "open"
        if missing(row[bound])
        else amount(row[bound], row.get("unit", "share"), signed=True, rate=rate)
        for bound in ("low", "high")
    )
    return f"{low} to {high}"


def _names(found: Comparison) -> tuple[str, str]:
    return plain(found.base.label, 40), plain(found.candidate.label, 40)


def headline(found: Comparison | Refusal) -> Block:
    """The finding, what to beware of, and how the runs were chosen; or why there is nothing to compare."""
    if isinstance(found, Refusal):
        return notice(f"There is no comparison here: {plain(found.reason, 600)}.")
    changes = found.flips["change"].value_counts()
    said = [plain(sentence(found), 600)]
    better = int(changes.get("newly passing", 0) + changes.get("passes more often", 0))
    worse = int(changes.get("newly failing", 0) + changes.get("passes less often", 0))
    if better or worse:
        said.append(f"{_tasks(better)} better in the candidate, {_tasks(worse)} worse.")
    other = [
        _also(row)
        for row in records(found.metrics)
        if row["metric"] in {"efficiency", "partial", "total_tokens", "cost", "seconds"}
        and row["metric"] != found.metric
        and not missing(row["p_holm"])
        and row["p_holm"] <= found.alpha
    ]
    if other:
        said.append(f"More than chance besides: {'; '.join(other)}.")
    block = lede(said)
    for line in confounders(found):
        block += notice(f"{line[:1].upper()}{plain(line[1:], 600)}. Differences may come from that.")
    return block


def _tasks(n: int) -> str:
    return f"{n} task{'' if n == 1 else 's'}"


def _also(row: dict[str, Any]) -> str:
    rate = bool(row["yes_or_no"])
    before, after = (amount(row[side], row["unit"], rate=rate) for side in ("base", "candidate"))
    unit = "\u00a0s" if row["unit"] == "seconds" else ""
    return f"{str(row['label']).lower()} {after}{unit} against {before}{unit}"


def sides(found: Comparison | Refusal) -> Block:
    """The two sides and what they have in common, as small facts."""
    if isinstance(found, Refusal):
        return NOTHING
    base, candidate = _names(found)
    chosen = [("chosen", found.why)] if found.why else []
    return facts(
        [
            ("base", base),
            ("candidate", candidate),
            ("suite", f"{plain(found.suite_name, 40)} {plain(found.suite_version, 14)}"),
            ("protocol", found.protocol),
            *([("track", found.track)] if found.track != "single" else []),
            *chosen,
        ]
    )


def key_numbers(found: Comparison | Refusal) -> Block:
    """The metric that the page is about in four tiles."""
    if isinstance(found, Refusal):
        return NOTHING
    row = {str(k): v for k, v in found.about.items()}
    rate = bool(row["yes_or_no"])
    base, candidate = _names(found)
    moved = int(row["more"] + row["fewer"])
    errors = [
        side.counts["provider_error"] + side.counts["unscored"] for side in (found.base, found.candidate)
    ]
    points = " points" if rate else ""
    return tiles(
        [
            Tile(
                "Difference",
                amount(row["difference"], row["unit"], signed=True, rate=rate) + points
                if not missing(row["difference"])
                else UNAVAILABLE,
                f"{_spanned(found, row)}; {str(row['label']).lower()}, "
                f"{amount(row['candidate'], row['unit'], rate=rate)} against "
                f"{amount(row['base'], row['unit'], rate=rate)}"
                if row["tasks"]
                else str(row["reason"]),
            ),
            Tile(
                "Could it be chance?",
                f"p {'' if p_value(row['p_value']).startswith('<') else '= '}{p_value(row['p_value'])}"
                if not missing(row["p_value"])
                else UNAVAILABLE,
                f"{moved} of {_tasks(int(row['tasks']))} differ: {row['more']} up, {row['fewer']} down"
                if row["tasks"]
                else str(row["reason"]),
            ),
            Tile(
                "What could have been seen",
                UNAVAILABLE
                if missing(row["detectable"])
                else amount(row["detectable"], row["unit"], rate=rate).replace("\u00a0%", points),
                "smallest difference found in 80 % of cases",
            ),
            Tile(
                "Errors, not failures",
                count(sum(errors)),
                f"{count(errors[0])} in {base}, {count(errors[1])} in {candidate}",
                warn=bool(sum(errors)),
            ),
        ]
    )


def _spanned(found: Comparison, row: dict[str, Any]) -> str:
    span = _span(row)
    return span if span == "no interval" else f"{_interval_name(found)} {span}"


def _interval_name(found: Comparison) -> str:
    return f"{100 * (1 - found.alpha):g} % interval"


def _forest_row(row: dict[str, Any], label: str, found: Comparison, p: str) -> ForestRow:
    unit = row.get("unit", "share")
    rate = bool(row.get("yes_or_no", True))
    better = 1.0 if row.get("higher_is_better", True) else -1.0
    scale = (100 if unit == "share" else 1) * better

    def number(name: str) -> float | None:
        return None if missing(row[name]) else scale * float(row[name])

    low, high = (number("low"), number("high"))[:: int(better)]
    words = "" if missing(row["difference"]) else amount(row["difference"], unit, signed=True, rate=rate)
    sure = not missing(row[p]) and row[p] <= found.alpha
    return ForestRow(label, number("difference"), low, high, words, _tasks(int(row["tasks"])), sure)


def metric_picture(found: Comparison | Refusal) -> Picture | Block:
    """The differences of all shares, with intervals."""
    if isinstance(found, Refusal):
        return NOTHING
    rows = [row for row in records(found.metrics) if row["unit"] == "share" and row["tasks"]]
    if not rows:
        return NOTHING
    lines = [_forest_row(row, str(row["label"]), found, "p_holm") for row in rows]
    sure = [row for row, line in zip(rows, lines, strict=True) if line.sure]
    _, candidate = _names(found)
    if sure:
        up = [str(row["label"]).lower() for row in sure if row["difference"] > 0]
        down = [str(row["label"]).lower() for row in sure if row["difference"] < 0]
        parts = [f"better in {_listed(up)}"] * bool(up) + [f"worse in {_listed(down)}"] * bool(down)
        title = f"{candidate} is more than by chance {' and '.join(parts)}."
    else:
        title = "No share differs by more than chance could."
    return _forest_picture("metrics", [("", lines)], found, title, "hundredths")


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def _forest_picture(
    name: str, groups: Sequence[tuple[str, list[ForestRow]]], found: Comparison, title: str, unit: str
) -> Picture:
    base, candidate = _names(found)
    return picture(
        name,
        lambda width: forest(width, groups, worse=f"{base} better", better=f"{candidate} better", unit=""),
        title=title,
        subtitle=f"Candidate minus base on common tasks, in {unit}, with {_interval_name(found)}. "
        "Filled: more than chance after correction for the number of rows.",
        alt="Differences. "
        + "; ".join(
            f"{row.label}: {row.words or UNAVAILABLE} on {row.of}{', more than chance' if row.sure else ''}"
            for _, rows in groups
            for row in rows
        )
        + ".",
    )


def metric_table(found: Comparison | Refusal) -> Table | Block:
    """All numbers of all metrics; one row a metric."""
    if isinstance(found, Refusal):
        return NOTHING
    base, candidate = _names(found)
    given = records(found.metrics)
    frame = found.metrics.assign(
        shown=[_shown(row) for row in given],
        **{
            f"{side}_shown": [amount(row[side], row["unit"], rate=bool(row["yes_or_no"])) for row in given]
            for side in ("base", "candidate")
        },
    )
    return Table(
        "metrics",
        "All metrics on common tasks",
        [
            Column("label", "Metric", "name", beside=lambda r: str(r["reason"])),
            *_value_columns(base, candidate),
            Column(
                "p_holm",
                "p, corrected",
                "number",
                p_value,
                unit="Holm",
                help="The chance of any false finding among all rows is kept at the level.",
            ),
        ],
        frame,
        note="Lower is better for tokens, cost and time. A row is about the tasks whose value is known on "
        "both sides.",
    )


def _value_columns(base: str, candidate: str) -> list[Column]:
    """The columns of a comparison: words, sorted by their amounts; a difference comes with its interval."""
    return [
        Column("tasks", "Tasks", "number", count, unit="of both"),
        Column("base_shown", base, "number", text, unit="base", sort="base"),
        Column("candidate_shown", candidate, "number", text, unit="candidate", sort="candidate"),
        Column("shown", "Difference", "number", text, unit="with interval", beside=_span, sort="difference"),
        Column(
            "more",
            "Up, down",
            "number",
            count,
            unit="tasks",
            help="Tasks on which the candidate’s value is higher, and lower: with one sample a task the "
            "discordant pairs.",
            beside=lambda r: f"{count(r['fewer'])} down",
            instead=lambda r: "" if r["tasks"] else UNAVAILABLE,
        ),
        Column(
            "p_value", "p", "number", p_value, help="Exact sign-flip test; McNemar’s with one sample a task."
        ),
    ]


def _shown(row: dict[str, Any]) -> str:
    """A difference, with the unit where it is not a share."""
    rate = bool(row.get("yes_or_no", True))
    said = amount(row["difference"], row["unit"], signed=True, rate=rate)
    return f"{said} points" if rate and row["unit"] == "share" and not missing(row["difference"]) else said


def part_picture(
    found: Comparison | Refusal, parts: Sequence[str] = ("tier", "category")
) -> Picture | Table | Block:
    """The differences by `parts`, tier and category, where the metric is a share of passes."""
    if isinstance(found, Refusal):
        return NOTHING
    if found.tiers.empty and found.categories.empty:
        return Table(
            "parts", "", [], found.tiers, empty="The tasks of this suite have no tiers and no categories."
        )
    if not found.about["yes_or_no"]:
        return NOTHING
    groups = []
    frames = {"tier": found.tiers, "category": found.categories}
    for title, frame in ((f"By {part}", frames[part]) for part in parts):
        rows = [row for row in records(frame) if row["tasks"]]
        if rows:
            groups.append(
                (title, [_forest_row(row, _part(row["part"], title), found, "p_holm") for row in rows])
            )
    if not groups:
        return NOTHING
    sure = [line.label for _, lines in groups for line in lines if line.sure]
    title = (
        f"More than chance in {_listed(sure)}."
        if sure
        else f"No {' or '.join(parts)} differs by more than chance could."
    )
    return _forest_picture("parts", groups, found, title, "points")


def show_tiers(found: Comparison | Refusal) -> Block:
    """Which tier improved, and is it chance: in words, as a picture and as a table. For hands.

    `found`: what `compare` or `compare_or_say_why_not` gave. The numbers alone are `found.tiers`.
    """
    if isinstance(found, Refusal):
        return headline(found)
    block = headline(found) + sides(found) + lede([plain(said, 300) for said in tier_sentences(found)])
    for shown in (part_picture(found, ("tier",)), part_table(found, "tier")):
        block += Block(shown._repr_html_())
    return block


def _part(value: object, title: str) -> str:
    if missing(value):
        return "none"
    return f"tier {value}" if title == "By tier" else plain(value, 40)


def part_table(found: Comparison | Refusal, part: str) -> Table | Block:
    """The numbers by `tier` or `category`; empty where no task has one."""
    if isinstance(found, Refusal):
        return NOTHING
    frame = found.tiers if part == "tier" else found.categories
    if frame.empty:
        return NOTHING
    base, candidate = _names(found)
    about = found.about
    rows = frame.assign(
        label=[_part(value, "By tier" if part == "tier" else "") for value in frame["part"]],
        unit=about["unit"],
        yes_or_no=about["yes_or_no"],
    )
    unit, rate = str(about["unit"]), bool(about["yes_or_no"])
    rows["shown"] = [_shown(row) for row in records(rows)]
    for side in ("base", "candidate"):
        rows[f"{side}_shown"] = [amount(value, unit, rate=rate) for value in rows[side]]
    return Table(
        {"tier": "tiers", "category": "categories"}[part],
        f"{about['label']} by {part}",
        [
            Column("label", part.capitalize(), "name", beside=lambda r: str(r["reason"])),
            *_value_columns(base, candidate),
            Column(
                "p_holm", "p, corrected", "number", p_value, unit="Holm", help="For the rows of this table."
            ),
        ],
        rows,
    )


def flip_table(found: Comparison | Refusal, *, top_n: int = 50) -> Table | Block:
    """The tasks that changed, with an answer of each side and why it failed."""
    if isinstance(found, Refusal):
        return NOTHING
    left_out = len(found.flips) - top_n
    base, candidate = _names(found)

    def side(name: str, label: str) -> list[Column]:
        return [
            Column(
                f"{name}_keys",
                label,
                "code",
                text,
                unit=f"{name}: keys typed",
                beside=lambda r: (
                    (
                        f"{r[f'{name}_passed']} of {r[f'{name}_scored']} passed; "
                        if r[f"{name}_scored"] > 1
                        else ""
                    )
                    + plain(str(r[f"{name}_end"]).replace("_", " "), 60)
                ),
                instead=lambda r: "nothing typed" if missing(r[f"{name}_keys"]) else "",
            )
        ]

    return Table(
        "flips",
        f"{_tasks(len(found.flips))} that flipped",
        [
            Column(
                "task_id",
                "Task",
                "name",
                text,
                beside=lambda r: (
                    plain(r["title"], 60)
                    + ("" if missing(r["tier"]) else f" · tier {r['tier']}")
                    + ("" if missing(r["category"]) else f" · {plain(r['category'], 30)}")
                ),
            ),
            *side("base", base),
            *side("candidate", candidate),
        ],
        found.flips.head(top_n),
        group="change",
        group_label=lambda change: str(change).capitalize(),
        empty="No task passes on one side and fails on the other.",
        note=f"{left_out} more are in the notebook of this page." if left_out > 0 else "",
        classes=("long",),
    )


def flip_players(
    found: Comparison | Refusal,
    answers: pd.DataFrame,
    played: Mapping[tuple[Protocol, str, str], Trace],
) -> Block:
    """Both answers of some flips, to be played key by key; empty where there are none.

    `answers`: of the flips to show (`analysis.compare.answers_of`). `played`: traces, as
    `replay.trace_many` gives them; where one is missing, the player has start and end alone.
    """
    if isinstance(found, Refusal) or answers.empty:
        return NOTHING
    names = dict(zip(("base", "candidate"), _names(found), strict=True))
    changes = found.flips.set_index("task_id")["change"]
    cards = [section("Played key by key", "played", level=3).markup, say(HOW_TO_PLAY).markup]
    for task, rows in answers.groupby("task_id", sort=False):
        sides = records(rows)
        title = plain(sides[0]["title"] or task, 100)
        asked = [("task", plain(task, 60)), ("change", str(changes[task]))]
        cards.append(f'<details class="flip"{" open" if len(cards) == 2 else ""}><summary>')
        cards.append(f"{html.escape(title)}</summary>{facts(asked).markup}")
        cards.append(quoted("Instruction", sides[0]["instruction"]))
        for row in sides:
            side, name = str(row["side"]), names[str(row["side"])]
            told = [
                (side, name),
                ("ended", plain(str(row["end"]).replace("_", " "), 60)),
                *([("epoch", count(row["epoch"]))] if row["epoch"] != 1 else []),
                *([("answered", "in several turns: start and end alone")] if in_turns(row) else []),
                *([("answered", "nothing that could be typed")] if missing(row["keys"]) else []),
            ]
            label = f"Answer of the {side}, {name}, to {plain(task, 60)}"
            cards.append(facts(told).markup + answer_player(row, played, label=label).markup)
        cards.append("</details>")
    return Block("".join(cards))


def flip_commands(found: Comparison | Refusal, shown: pd.DataFrame, *, top_n: int = 50) -> Table | Block:
    """The flips that are not `shown` in players, with the commands that play their answers in a terminal."""
    if isinstance(found, Refusal):
        return NOTHING
    rest = found.flips[~found.flips["task_id"].isin(shown["task_id"])]
    if rest.empty:
        return NOTHING
    left_out = len(rest) - top_n

    def command(row: dict[str, Any], side: str) -> str:
        epoch = f" --epoch {row[f'{side}_epoch']}" if row[f"{side}_epoch"] != 1 else ""
        return f"vimlib explain {shlex.quote(row[f'{side}_run'])} {shlex.quote(row['task_id'])}{epoch}"

    rows = [row | {side: command(row, side) for side in ("base", "candidate")} for row in records(rest)]
    base, candidate = _names(found)
    return Table(
        "flips-elsewhere",
        f"{_tasks(len(rest))} more that flipped, to be played in a terminal",
        [
            Column("task_id", "Task", "name", text, beside=lambda r: str(r["change"])),
            Column("base", base, "code", text, unit="base"),
            Column("candidate", candidate, "code", text, unit="candidate"),
        ],
        pd.DataFrame(rows).head(top_n),
        note=f"Players are shown for {len(found.flips) - len(rest)} of {_tasks(len(found.flips))}, so that "
        "the page stays small; the parameter most_played says for how many at most."
        + (f" {left_out} more are in the notebook of this page." if left_out > 0 else ""),
        classes=("long",),
    )


def unpaired_table(found: Comparison | Refusal, *, top_n: int = 50) -> Table | Block:
    """The tasks that are in no difference, and why."""
    if isinstance(found, Refusal):
        return NOTHING
    base, candidate = _names(found)
    left_out = len(found.unpaired) - top_n
    return Table(
        "unpaired",
        f"{_tasks(len(found.unpaired))} without a verdict on both sides",
        [
            Column("task_id", "Task", "name", text, beside=lambda r: plain(r["title"], 60)),
            Column("base", base, unit="base"),
            Column("candidate", candidate, unit="candidate"),
        ],
        found.unpaired.head(top_n),
        empty="Every task that one side attempted has a verdict on both.",
        note=f"{left_out} more are in the notebook of this page." if left_out > 0 else "",
    )


def condition_table(found: Comparison | Refusal) -> Table | Block:
    """Every setting, version and hash of both sides; what differs first."""
    if isinstance(found, Refusal):
        return NOTHING
    base, candidate = _names(found)
    state = found.conditions.apply(
        lambda row: "Under study" if row["studied"] else "Differs" if row["differs"] else "The same",
        axis="columns",
    )
    return Table(
        "conditions",
        "Conditions of both sides",
        [
            Column("condition", "Condition", "name", text),
            Column("base", base, "code", text, unit="base"),
            Column("candidate", candidate, "code", text, unit="candidate"),
        ],
        found.conditions.assign(state=state),
        group="state",
        classes=("long",),
    )


def run_table(found: Comparison | Refusal) -> Table | Block:
    """The runs of both sides: when and where they were made."""
    if isinstance(found, Refusal):
        return NOTHING
    return Table(
        "runs",
        "Runs",
        [
            Column("name", "Run", "name", text, beside=lambda r: plain(r["run_id"], 80)),
            Column("created_utc", "Made", show=_moment, unit="UTC"),
            Column("source", "Source", "code", lambda v: "none" if v == "" else text(v)),
            Column("status", "Ended", show=text),
        ],
        found.context,
        group="side",
        group_label=lambda side: str(side).capitalize(),
    )


def _moment(value: object) -> str:
    return UNAVAILABLE if missing(value) else f"{pd.Timestamp(value):%Y-%m-%d %H:%M}"
