"""What the leaderboard shows: boards and histories in, pictures, tables and sentences out.

A rank stands for what the data can tell apart, and the words say so: models that share one
are in no order. Solvers are drawn as lines to compare with and never ranked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pandas as pd

from vimlib.analysis.leaderboard import Board
from vimlib.figures.blocks import Block, anchor, lede, notice, say
from vimlib.figures.canvas import (
    INK,
    LINE,
    MODEL,
    MODEL_SOFT,
    MUTED,
    PAPER,
    VERMILION,
    Picture,
    Sheet,
    fitted,
    picture,
    plain,
)
from vimlib.figures.charts import Mark, RateRow, Reference, Span, rates
from vimlib.figures.compare import p_value
from vimlib.figures.overview import KINDS, RATE_HELP, labels, section_facts
from vimlib.figures.sections import number_of, records, section_name, track_words
from vimlib.figures.tables import (
    UNAVAILABLE,
    Column,
    Table,
    count,
    decimal,
    dollars,
    interval,
    missing,
    percent,
    span_of,
    whole,
)

NOTHING: Final = Block("")


def title(board: Board) -> str:
    """The heading of a board's section."""
    return section_name(board.suite_name, board.suite_hash, board.protocol, board.track)[0]


def slug(board: Board) -> str:
    """An anchor for a board's section that stays when others are added."""
    return section_name(board.suite_name, board.suite_hash, board.protocol, board.track)[1]


def _names(board: Board) -> dict[str, str]:
    return labels(pd.concat([board.models, board.solvers]))


def _listed(words: Sequence[str], most: int = 4) -> str:
    shown = list(words[:most]) + ([f"{len(words) - most} more"] if len(words) > most else [])
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)


def headline(board: Board) -> str:
    """Who leads, as far as the data can tell."""
    models = records(board.models)
    names = _names(board)
    if not models:
        return "No model has a verdict here; the solvers are the floor to beat"
    best = models[0]
    name = names[str(best["run_id"])]
    rate = f"{count(best['passed'])}\u00a0of\u00a0{count(best['scored'])}"
    if len(models) == 1:
        said = f"{name} is the only model here and passes {rate} ({percent(best['pass_rate'])})"
    else:
        first = [names[str(row["run_id"])] for row in models if row["rank"] == 1]
        if len(first) == len(models):
            every = "both" if len(first) == 2 else "all"
            said = f"These data cannot tell {_listed(first)} apart: {every} share the first rank"
        elif len(first) > 1:
            said = f"{_listed(first)} share the first rank: no model is surely better than they are"
        else:
            said = f"{name} leads with {rate}; no other model shares its rank"
    floor = [row for row in records(board.solvers) if row["name"] == "diff"]
    if floor and not missing(floor[0]["pass_rate"]):
        above = [row for row in models if row["pass_rate"] > floor[0]["pass_rate"]]
        said += (
            f". {len(above)} of {len(models)} reach a higher rate than the diff solver, no model at all"
            f" ({percent(floor[0]['pass_rate'])})"
        )
    return said


def findings(found: Sequence[Board]) -> Block:
    """The sentences at the top of the page: one a board with models."""
    with_models = [board for board in found if len(board.models)]
    if not with_models:
        return notice(
            "No model run is loaded yet, so there is nothing to rank; the solvers below are the floor."
        )
    return lede([f"{title(board)}: {headline(board)}." for board in with_models])


def board_facts(board: Board, versions: pd.DataFrame) -> Block:
    """Under which rules a board's numbers hold."""
    rows = pd.concat([board.models, board.solvers, board.nothing])
    return section_facts(rows, versions)


def rank(row: dict[str, Any]) -> str:
    """A rank with the places that the data leave possible: '1', or '1 (to 3)'."""
    best, worst = int(row["rank"]), int(row["rank_worst"])
    return f"{best}" if best == worst else f"{best} to {worst}"


def board_picture(board: Board, *, top_n: int = 20) -> Picture:
    """Pass rates in the order of the ranks, the solvers below, `diff` as a line."""
    names = _names(board)
    models = records(board.models)
    solvers = records(board.solvers)

    def line(row: dict[str, Any]) -> RateRow:
        mark: Mark = "model" if row["kind"] == "model" else "solver"
        prefix = f"{rank(row)} · " if row["kind"] == "model" and len(models) > 1 else ""
        return RateRow(
            label=prefix + names[str(row["run_id"])],
            mark=mark,
            main=Span(*(None if missing(row[c]) else float(row[c]) for c in _RATE)),
            value=percent(row["pass_rate"]),
            of=f"{count(row['passed'])}\u00a0of\u00a0{count(row['scored'])}",
        )

    groups = [
        (KINDS[kind] if models else "", [line(row) for row in rows])
        for kind, rows in (("model", models[:top_n]), ("solver", solvers))
        if rows
    ]
    floor = next((row for row in solvers if row["name"] == "diff"), None)
    reference = (
        Reference(float(floor["pass_rate"]), f"diff solver {percent(floor['pass_rate'])}")
        if floor is not None and models
        else None
    )
    left_out = len(models) - top_n
    return picture(
        f"board-{slug(board)}",
        lambda width: rates(width, groups, main="passed", reference=reference),
        title=headline(board) + ".",
        subtitle="Share of scored answers that pass, with 95 % interval; before a name the places that the "
        "data leave possible.",
        alt="Leaderboard. "
        + "; ".join(f"{r.label}: {r.of}, {r.value}" for _, rows in groups for r in rows)
        + ".",
        note=f"{left_out} more models stand in the table below." if left_out > 0 else "",
    )


_RATE = ("pass_rate", "pass_rate_low", "pass_rate_high")


def _range(row: dict[str, Any], name: str, show: Any) -> str:
    return "" if missing(row[name]) else span_of(row, name, show)


def board_table(board: Board) -> Table:
    """All numbers of the models; one row a run, best first."""
    names = _names(board)
    frame = board.models.assign(
        label=board.models["run_id"].map(names),
        places=[rank(row) for row in records(board.models)],
        level=[_level(str(run), board, names) for run in board.models["run_id"]],
    )
    lacking = bool((frame["lacking"] > 0).any()) if len(frame) else False
    columns = [
        Column(
            "rank",
            "Rank",
            "number",
            count,
            unit="possible places",
            help="1 plus the number of models that are surely better, all pairs corrected together (Holm).",
            beside=lambda r: str(r["places"]),
        ),
        Column("label", "Run", "name", beside=lambda r: str(r["level"])),
        Column(
            "pass_rate",
            "Passed",
            "bar",
            percent,
            unit="% of n, interval",
            help=RATE_HELP,
            beside=lambda r: (
                f"{count(r['passed'])}\u00a0of\u00a0{count(r['scored'])}, "
                f"{interval(r['pass_rate_low'], r['pass_rate_high'])}"
            ),
        ),
    ]
    if lacking:
        columns.append(
            Column(
                "common_pass_rate",
                "On common tasks",
                "number",
                percent,
                unit=f"the {board.common_tasks} tasks of all",
                help="The tasks for which every model here has a verdict: there the rates are comparable.",
                beside=lambda r: f"lacks {count(r['lacking'])} tasks" if r["lacking"] else "",
            )
        )
    columns += [
        Column(
            "pass_rate_with_errors",
            "… errors as failures",
            "number",
            percent,
            help="Failures of the provider and of the harness counted as failures.",
            beside=lambda r: f"{count(r['errors'])} errors",
        ),
        Column("mean_efficiency", "Efficiency", "number", decimal, unit="mean over passes"),
        Column(
            "tokens_per_pass",
            "Tokens per pass",
            "number",
            whole,
            help="All tokens of all attempts, failed ones included, divided by passes; bootstrap over tasks.",
            beside=lambda r: _range(r, "tokens_per_pass", whole),
        ),
        Column(
            "cost_per_pass",
            "Cost per pass",
            "number",
            dollars,
            unit="US dollars",
            help="The cost of all attempts, failed ones included, divided by passes.",
            beside=lambda r: _range(r, "cost_per_pass", dollars),
        ),
    ]
    if len(frame) and frame["k"].notna().any():
        columns.append(
            Column(
                "pass_at_k",
                "pass@k",
                "number",
                percent,
                unit="pass^k below",
                help="Chance that at least one of k attempts passes, and that all k do; k: the run’s epochs.",
                beside=lambda r: f"all of {count(r['k'])}: {percent(r['pass_hat_k'])}",
            )
        )
    return Table(
        f"board-{slug(board)}",
        "Models by rank",
        columns,
        frame,
        empty="No model run has a verdict here.",
        note=_note(board),
    )


def _level(run: str, board: Board, names: dict[str, str]) -> str:
    """Which others a model cannot be told apart from."""
    if len(board.models) < 2:
        return ""
    pairs = board.pairs[~board.pairs["sure"]]
    others = [b if a == run else a for a, b in zip(pairs["a"], pairs["b"], strict=True) if run in (a, b)]
    if not others:
        return "told apart from all others"
    if len(others) > 2:
        return f"not told apart from {len(others)} others"
    return f"not told apart from {_listed([names[str(other)] for other in others])}"


def _note(board: Board) -> str:
    said = []
    if len(board.models) > 1:
        said.append(
            f"{number_of(len(board.pairs), 'pair')} tested on the tasks that both have a verdict for, "
            f"corrected together at {board.alpha:g}."
        )
    lacking = board.models[board.models["lacking"] > 0] if len(board.models) else board.models
    if len(lacking):
        said.append(
            f"{len(lacking)} of {len(board.models)} runs lack verdicts on some of the {board.tasks} tasks; "
            f"{board.common_tasks} are common to all."
        )
    if len(board.nothing):
        said.append(f"{len(board.nothing)} runs without any verdict are left out.")
    return " ".join(said)


def pair_table(board: Board, *, top_n: int = 40) -> Table | Block:
    """Every two models against each other; the sure ones first."""
    if board.pairs.empty:
        return NOTHING
    names = _names(board)
    frame = board.pairs.sort_values(["sure", "p_value"], ascending=[False, True], kind="stable")
    frame = frame.assign(
        better=frame["a"].map(names),
        other=frame["b"].map(names),
        state=["More than chance" if sure else "Could be chance" for sure in frame["sure"]],
    )
    left_out = len(frame) - top_n
    return Table(
        f"pairs-{slug(board)}",
        "Pair by pair",
        [
            Column("better", "Run", "name"),
            Column("other", "passes more often than"),
            Column("tasks", "Tasks", "number", count, unit="of both"),
            Column("difference", "By", "number", percent, unit="of tasks"),
            Column("p_value", "p", "number", p_value),
            Column("p_holm", "p, corrected", "number", p_value, unit="Holm"),
        ],
        frame.head(top_n),
        group="state",
        note=f"{left_out} more pairs are in the notebook of this page." if left_out > 0 else "",
    )


# --- history


def history_words(by: str) -> Block:
    """What the history is of, and how to have it otherwise. `by`: a key of `analysis.history.BY`."""
    same, other, changing = (
        ("prompt", "model", "the model among the rest")
        if by == "prompt"
        else ("model", "prompt", "the prompt among the rest")
    )
    return say(
        f"Runs with one {same} on one suite in the order made. What changed between two runs, {changing}, is "
        f'listed, since a score alone does not say why it moved. With history_by = "{other}" it is the other '
        "way round."
    )


def history_series(history: pd.DataFrame, by: str = "model") -> list[tuple[str, str, pd.DataFrame]]:
    """Cut a history into its series: (title, slug, rows)."""
    keys = ["series", "suite_name", "protocol", "track"]
    found = []
    for (value, suite, protocol, track), rows in history.groupby(keys, sort=False):
        last = track_words(str(track))
        short = str(value).rsplit("/", 1)[-1] or str(value)
        name = f"prompt {value}" if by == "prompt" else short
        found.append(
            (
                f"{plain(name, 60)} on {plain(suite, 40)} under {protocol}{last}",
                anchor("history", value, suite, protocol, *((track,) if last else ())),
                rows,
            )
        )
    return found


def _draw_history(width: float, rows: Sequence[dict[str, Any]], numbers: Sequence[int | None]) -> Sheet:
    height, top, bottom = 230.0, 34.0, 186.0
    sheet = Sheet(width, height)
    x0, x1 = 44.0, width - 16.0
    step = (x1 - x0) / len(rows)

    def x(place: float) -> float:
        return x0 + (place + 0.5) * step

    def y(share: float) -> float:
        return bottom - share * (bottom - top)

    for tick in (0, 25, 50, 75, 100):
        sheet.line(x0, y(tick / 100), x1, y(tick / 100), colour=LINE)
        sheet.text(x0 - 8, y(tick / 100) + 4, f"{tick}", size=11.5, colour=MUTED, anchor="end")
    sheet.text(0, 12, "% passed", size=11.5, colour=MUTED)
    for place, number in enumerate(numbers):
        if number is not None:
            at = x(place - 0.5)
            sheet.line(at, top - 2, at, bottom + 6, colour=VERMILION, width=1.2, dash=True)
            sheet.text(at, top - 8, str(number), size=12, colour=VERMILION, anchor="middle", bold=True)
    for place, row in enumerate(rows):
        if place and not row["new_suite"]:
            sheet.line(
                x(place - 1),
                y(float(rows[place - 1]["pass_rate"])),
                x(place),
                y(float(row["pass_rate"])),
                colour=MODEL,
                width=1.4,
            )
    every = max(1, round(76 / step + 0.49))
    for place, row in enumerate(rows):
        low, high = row["pass_rate_low"], row["pass_rate_high"]
        if not missing(low) and not missing(high):
            sheet.line(x(place), y(float(low)), x(place), y(float(high)), colour=MODEL_SOFT, width=6)
        sheet.dot(x(place), y(float(row["pass_rate"])), 4.5, fill=MODEL, edge=PAPER, width=1)
        if place % every == 0 or place == len(rows) - 1 and every == 1:
            made = row["created_utc"]
            when = "not dated" if missing(made) else f"{pd.Timestamp(made):%Y-%m-%d}"
            sheet.text(
                x(place), bottom + 22, fitted(when, 11.5, 76), size=11.5, colour=MUTED, anchor="middle"
            )
            sheet.text(
                x(place),
                bottom + 38,
                f"{count(row['passed'])} of {count(row['scored'])}",
                size=11.5,
                colour=INK,
                anchor="middle",
            )
    return sheet


def _numbers(rows: Sequence[dict[str, Any]]) -> list[int | None]:
    """A number for each run before which something changed."""
    number = 0
    found: list[int | None] = []
    for row in rows:
        changed = bool(row["changes"]) or bool(row["new_suite"])
        number += changed
        found.append(number if changed else None)
    return found


def history_picture(rows: pd.DataFrame, name: str, about: str) -> Picture:
    """One series: pass rates over time, with numbered lines where something changed."""
    given = records(rows)
    numbers = _numbers(given)
    first, last = given[0], given[-1]
    if any(row["new_suite"] for row in given):
        said = "the suite changed on the way, so first and last are not comparable"
    else:
        overlap = (
            first["pass_rate_low"] <= last["pass_rate_high"]
            and last["pass_rate_low"] <= first["pass_rate_high"]
        )
        said = f"{percent(first['pass_rate'])} at first, {percent(last['pass_rate'])} at last" + (
            ", with intervals that overlap" if overlap else ""
        )
    return picture(
        f"{name}",
        lambda width: _draw_history(width, given, numbers),
        title=f"{about}: {said}.",
        subtitle="Pass rate of each run in the order made, with 95 % interval. Numbers mark what changed "
        "before a run; across another version of the suite no line is drawn.",
        alt="History. "
        + "; ".join(f"run {row['place']}: {count(row['passed'])} of {count(row['scored'])}" for row in given)
        + ".",
    )


def history_table(rows: pd.DataFrame, name: str) -> Table:
    """The runs of a series with what had changed before each."""
    given = records(rows)
    frame = rows.assign(
        change=[
            "; ".join(
                [
                    *(["another version of the suite"] if row["new_suite"] else []),
                    *(plain(c, 160) for c in row["changes"]),
                ]
            )
            or ("the first" if row["place"] == 1 else "nothing that is recorded")
            for row in given
        ],
        number=["" if number is None else str(number) for number in _numbers(given)],
    )
    return Table(
        name,
        "Runs of this series",
        [
            Column("run_id", "Run", "name", beside=lambda r: plain(r["name"], 60)),
            Column(
                "created_utc",
                "Made",
                show=lambda v: UNAVAILABLE if missing(v) else f"{pd.Timestamp(v):%Y-%m-%d %H:%M}",
                unit="UTC",
            ),
            Column(
                "pass_rate",
                "Passed",
                "number",
                percent,
                unit="% of n, interval",
                beside=lambda r: (
                    f"{count(r['passed'])}\u00a0of\u00a0{count(r['scored'])}, "
                    f"{interval(r['pass_rate_low'], r['pass_rate_high'])}"
                ),
            ),
            Column("change", "Changed since the run before", beside=lambda r: str(r["number"])),
        ],
        frame,
        classes=("long",),
    )


def no_history(history: pd.DataFrame, by: str = "model") -> Block:
    """A sentence where no model, or no prompt, has two runs."""
    if len(history):
        return NOTHING
    return notice(f"No {by} has two runs on the same suite and protocol yet, so there is no history to show.")
