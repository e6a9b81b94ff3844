"""Why answers fail, to look at: modes by run and kind of task, format against skill, and answers to play."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Final

import pandas as pd

from vimlib.analysis.failures import BY, FORMAT, MODES
from vimlib.failures import RULES
from vimlib.figures.answers import answer_player, quoted
from vimlib.figures.blocks import Block, Tile, lede, notice, tiles
from vimlib.figures.canvas import (
    BAND,
    GREEN,
    GREY,
    MODEL,
    MODEL_SOFT,
    ORANGE,
    PURPLE,
    SKY,
    SOLVER_SOFT,
    VERMILION,
    Picture,
    picture,
    plain,
)
from vimlib.figures.charts import Part, shares
from vimlib.figures.overview import KINDS, labels
from vimlib.figures.player import visible
from vimlib.figures.sections import records
from vimlib.figures.tables import Column, Table, count, decimal, interval, missing, percent, text
from vimlib.records import FailureMode, Protocol, Trace

WORDS: Final[Mapping[str, str]] = {str(mode): str(mode).replace("_", " ") for mode in FailureMode}
"""What the modes are called on a page."""

STAGES: Final = {"answer": "Answer", "rules": "Rules", "execution": "Execution", "result": "Result"}

_HUES: Final = (ORANGE, SKY, PURPLE, VERMILION, MODEL_SOFT, MODEL, GREY)
"""Colours of the most frequent modes; the others share one."""

_OTHER: Final = "other"

REPAIRS: Final[Mapping[str, str]] = {
    "save_and_quit": "a save and quit appended",
    "escape": "the missing <Esc> before the save",
    "unescape": "\\<Esc> read as <Esc>",
    "marked_up_line": "taken from inside the markup",
    "drop_prose": "trailing prose dropped",
    "first_line": "the first line taken",
    "join_lines": "its lines joined",
    "cr_for_line_break": "<CR> typed for line breaks",
}
"""What the repairs are called on a page."""

BY_WORDS: Final[Mapping[str, str]] = {
    "tier": "tier of the task",
    "category": "category of the task",
    "task_length": "length of the target, in characters",
    "answer_length": "length of the answer, in keys (golf) or bytes (bench)",
}


def parts(failed: pd.DataFrame) -> tuple[Part, ...]:
    """The parts of the pictures of a page: passed, the most frequent modes in the rules' order, the others.

    One colour a mode on the whole page.
    """
    # Models' modes come first; what colours are left go to those of solvers.
    ranked = [failed.loc[failed["kind"] == kind, "failure_mode"].value_counts().index for kind in KINDS]
    every = dict.fromkeys(mode for modes in ranked for mode in modes)
    named = [mode for mode in every if mode != FailureMode.PROVIDER_ERROR][: len(_HUES)]
    hues = dict(zip(named, _HUES, strict=False))
    shown = [Part(mode, WORDS[mode], hues[mode]) for mode in MODES if mode in hues]
    rest = [Part(_OTHER, "other modes", SOLVER_SOFT)]
    errors = [Part(str(FailureMode.PROVIDER_ERROR), "lost to the provider", BAND)]
    return (Part("passed", "passed", GREEN), *shown, *rest, *errors)


def _cut(counts: Mapping[str, int], drawn: Sequence[Part]) -> dict[str, int]:
    """Counts by part: modes without a part of their own are 'other'."""
    keys = {part.key for part in drawn}
    cut: dict[str, int] = {}
    for mode, number in counts.items():
        key = mode if mode in keys else _OTHER
        cut[key] = cut.get(key, 0) + int(number)
    return cut


def findings(runs: pd.DataFrame, failed: pd.DataFrame, skill: pd.DataFrame) -> Block:
    """The sentences at the top of the page: one a model, most failures first."""
    names = labels(runs)
    sentences = []
    models = runs[runs["kind"] == "model"].sort_values("scored", ascending=False, kind="stable")
    mended = {row["run_id"]: row for row in records(skill)}
    for run in records(models)[:6]:
        here = failed[(failed["run_id"] == run["run_id"]) & (failed["failure_mode"] != "provider_error")]
        scored = int(run["scored"])
        if not scored:
            sentences.append(f"{names[run['run_id']]}: nothing was scored, so nothing failed.")
            continue
        if here.empty:
            sentences.append(f"{names[run['run_id']]}: all {count(scored)} scored answers pass.")
            continue
        common = here["failure_mode"].value_counts()
        most = "; ".join(f"{WORDS[mode]} {count(n)}" for mode, n in common.head(3).items())
        repaired = int(mended[run["run_id"]]["format"] + mended[run["run_id"]]["ending"])
        tail = (
            f"a change of format or a save would have made {count(repaired)} of them pass"
            if repaired
            else "no change of format, and no save, would have made one of them pass"
        )
        sentences.append(
            f"{names[run['run_id']]} fails {count(len(here))} of {count(scored)} scored answers ({most}); "
            f"{tail}."
        )
    if not sentences:
        sentences.append("No model was loaded: what follows is about solvers, which are programs.")
    return lede(sentences)


def key_numbers(runs: pd.DataFrame, failed: pd.DataFrame, skill: pd.DataFrame) -> Block:
    """The tiles below the findings, over models where there are any."""
    kind = "model" if (runs["kind"] == "model").any() else "solver"
    here = failed[failed["kind"] == kind]
    lost = int((here["failure_mode"] == "provider_error").sum())
    real = len(here) - lost
    scored = int(runs.loc[runs["kind"] == kind, "scored"].sum())
    found = skill[skill["kind"] == kind]
    held = int(sum("would_have_passed" in flags for flags in here["flags"]))
    near = int(sum("nearer" in flags for flags in here["flags"]))
    return tiles(
        [
            Tile("Failed answers", count(real), f"of {count(scored)} scored, by {KINDS[kind].lower()}"),
            Tile(
                "Only format",
                count(int(found["format"].sum())),
                "failures that pass when written down otherwise; found by replaying them",
            ),
            Tile(
                "Only the ending",
                count(int(found["ending"].sum())),
                "pass with a save, or an <Esc> before it",
            ),
            Tile("Right edit", count(held), "the buffer was the target: over the cap, or not saved"),
            Tile("Nearer than the start", count(near), f"of {count(real)}: some of the work was done"),
            *(
                [Tile("Lost to the provider", count(lost), "no failures of a model", warn=True)]
                if lost
                else []
            ),
        ]
    )


def modes_picture(
    runs: pd.DataFrame, by_run: pd.DataFrame, drawn: Sequence[Part], slug: str, *, absolute: bool = False
) -> Picture | Block:
    """The modes of each run of a section as parts of its samples; empty where there is nothing, or
    nothing that the shares do not show."""
    names = labels(runs)
    counts: dict[str, dict[str, int]] = {str(run): {} for run in runs["run_id"]}
    for row in records(by_run[by_run["run_id"].isin(runs["run_id"])]):
        counts[row["run_id"]][row["failure_mode"]] = int(row["samples"])
    groups = []
    for kind in ("model", "solver"):
        rows = []
        for run in records(runs[runs["kind"] == kind]):
            whole = {"passed": int(run["passed"])} | counts[run["run_id"]]
            if sum(whole.values()):
                rows.append((names[run["run_id"]], _cut(whole, drawn)))
        if rows:
            groups.append((KINDS[kind], rows))
    totals = {sum(counts.values()) for _, rows in groups for _, counts in rows}
    if not groups or (absolute and len(totals) == 1):
        return Block("")  # as wide as the shares, where all runs have as many samples
    how = "n of samples" if absolute else "share of samples"
    return picture(
        f"modes-{'n' if absolute else 'share'}-{slug}",
        lambda width: shares(width, drawn, groups, absolute=absolute),
        title="How many answers failed, and why." if absolute else _modes_title(groups, drawn),
        subtitle=f"Each sample by the first rule that applies to it, {how}; the numbers are samples.",
        alt="Failure modes by run. "
        + "; ".join(
            f"{label}: " + ", ".join(f"{part.label} {c[part.key]}" for part in drawn if c.get(part.key))
            for _, rows in groups
            for label, c in rows
        )
        + ".",
    )


def _modes_title(
    groups: Sequence[tuple[str, Sequence[tuple[str, dict[str, int]]]]], drawn: Sequence[Part]
) -> str:
    words = {part.key: part.label for part in drawn}
    kind, rows = groups[0]
    if kind != KINDS["model"]:
        return "Solvers alone: no model has answered here."
    total: dict[str, int] = {}
    for _, counts in rows:
        for key, number in counts.items():
            if key not in ("passed", "provider_error"):
                total[key] = total.get(key, 0) + number
    if not total:
        return "Nothing failed."
    most = max(total, key=lambda key: total[key])
    return (
        f"The commonest way to fail is “{words[most]}”: {count(total[most])} of {count(sum(total.values()))}."
    )


def modes_table(runs: pd.DataFrame, by_run: pd.DataFrame, slug: str) -> Table:
    """All modes of the runs of a section; one row a run and mode."""
    names = labels(runs)
    frame = by_run[by_run["run_id"].isin(runs["run_id"])]
    frame = frame.assign(
        label=frame["run_id"].map(names),
        words=frame["failure_mode"].map(WORDS),
        group=frame["run_id"].map(names),
    )
    return Table(
        f"modes-{slug}",
        "Modes by run",
        [
            Column("words", "Mode", "name"),
            Column("samples", "Samples", "number", count),
            Column(
                "share",
                "Share",
                "bar",
                percent,
                unit="% of scored, interval",
                help="Over all scored samples of the run, with 95 % Wilson interval.",
                beside=lambda r: f"n = {count(r['scored'])}, {interval(r['share_low'], r['share_high'])}",
                instead=lambda r: "not scored" if r["failure_mode"] == "provider_error" else "",
            ),
        ],
        frame,
        group="group",
        empty="Nothing failed here.",
    )


def by_picture(frame: pd.DataFrame, by: str, drawn: Sequence[Part]) -> Picture | Block:
    """The modes of models' answers by a property of task or answer; empty where it has one value or none."""
    assert by in BY
    rows = [
        (
            plain(
                f"Tier {row['value']}" if by == "tier" and row["value"] != "not known" else row["value"], 40
            ),
            _cut({"passed": row["passed"]} | {mode: row[mode] for mode in MODES if row[mode]}, drawn),
        )
        for row in records(frame)
    ]
    if len(rows) < 2:
        return Block("")
    return picture(
        f"modes-by-{by.replace('_', '-')}",
        lambda width: shares(width, drawn, [("", rows)]),
        title=f"By {BY_WORDS[by]}.",
        subtitle="All models of this page together; share of scored samples, the numbers are samples.",
        alt="; ".join(
            f"{label}: " + ", ".join(f"{part.label} {c[part.key]}" for part in drawn if c.get(part.key))
            for label, c in rows
        )
        + ".",
    )


def skill_picture(runs: pd.DataFrame, skill: pd.DataFrame) -> Picture | Block:
    """Format against skill, a row a run of a model; empty without models."""
    names = labels(runs)
    drawn = (
        Part("passed", "passed", GREEN),
        Part("format", "fails by its format", ORANGE),
        Part("ending", "fails by its ending", SKY),
        Part("skill", "fails by its edit", GREY),
    )
    rows = [
        (names[row["run_id"]], {part.key: int(row[part.key]) for part in drawn})
        for row in records(skill[skill["kind"] == "model"])
    ]
    if not rows:
        return Block("")
    mended = int(skill.loc[skill["kind"] == "model", ["format", "ending"]].to_numpy().sum())
    failures = mended + int(skill.loc[skill["kind"] == "model", "skill"].sum())
    return picture(
        "format-or-skill",
        lambda width: shares(width, drawn, [("", rows)]),
        title=f"{count(mended)} of {count(failures)} failures are format or ending, not the edit.",
        subtitle="Each failure was replayed with each repair that could matter; what then passes the rules, "
        "the cap included, failed by its format or its ending. Scored samples.",
        alt="; ".join(
            f"{label}: " + ", ".join(f"{part.label} {c[part.key]}" for part in drawn) for label, c in rows
        )
        + ".",
        note="Repairs are tried one at a time, the cheapest first; an answer that would need two of them "
        "counts as failing by its edit.",
    )


def repairs_table(runs: pd.DataFrame, repairs: pd.DataFrame) -> Table:
    """Which repairs mend how many failures; one row a run and repair."""
    names = labels(runs)
    frame = repairs[repairs["kind"] == "model"]
    frame = frame.assign(
        label=frame["run_id"].map(names),
        words=frame["repairable_by"].map(REPAIRS),
        what=["format" if repair in FORMAT else "ending" for repair in frame["repairable_by"]],
    )
    return Table(
        "repairs",
        "What would have mended them",
        [
            Column("words", "Repair", "name"),
            Column("what", "Mends"),
            Column("samples", "Samples", "number", count),
        ],
        frame,
        group="label",
        empty="No repair makes any of these failures pass.",
    )


def errors_table(errors: pd.DataFrame, *, top_n: int = 20) -> Table:
    """Vim's errors by number."""
    return Table(
        "vim-errors",
        "Errors that Vim reported",
        [
            Column("number", "Number", "name", lambda v: "none" if missing(v) else f"E{int(v)}"),
            Column("meaning", "Meaning", show=lambda v: str(v) or "see :help in Vim"),
            Column("samples", "Samples", "number", count),
            Column("primary", "… as the mode", "number", count, help="Samples whose failure mode it is."),
            Column("runs", "Runs", "number", count),
            Column("message", "As Vim said it", "code", lambda v: visible(text(v))),
        ],
        errors.head(top_n),
        note="Of failed samples of models, the first error of each. Prose typed as keys gives some too.",
        empty="Vim reported no error in any failed sample of a model.",
        classes=("long",),
    )


def changes_table(changes: pd.DataFrame, runs: pd.DataFrame, *, top_n: int = 20) -> Table:
    """How modes change from run to run."""
    names = labels(runs)
    words = {**WORDS, "passed": "passed"}
    frame = changes.assign(
        pair=[
            f"{names[one]} → {names[other]}"
            for one, other in zip(changes["run_id"], changes["other_run_id"], strict=True)
        ],
        first=changes["before"].map(words),
        then=changes["after"].map(words),
    )
    frame = frame.groupby("pair", sort=False).head(top_n)
    return Table(
        "changes",
        "How the same tasks fare in another run",
        [
            Column("first", "Before", "name"),
            Column("then", "After"),
            Column(
                "samples",
                "Samples",
                "number",
                count,
                beside=lambda r: f"of {count(r['shared'])} in both",
            ),
        ],
        frame,
        group="pair",
        empty="There are no two runs of models on the same suite under the same protocol.",
        note="Tasks on which both runs end the same way are left out. A change is no test of a difference.",
    )


def tasks_table(frame: pd.DataFrame, name: str, title: str, *, empty: str) -> Table:
    """Tasks and how models fared on them."""
    return Table(
        name,
        title,
        [
            Column("task_id", "Task", "name", beside=lambda r: plain(r["title"] or "", 60)),
            Column("suite_name", "Suite", beside=lambda r: str(r["protocol"])),
            Column("tier", "Tier", "number", lambda v: "" if missing(v) else str(int(v))),
            Column(
                "pass_rate",
                "Passed",
                "bar",
                percent,
                beside=lambda r: f"{count(r['passed'])} of {count(r['scored'])}",
            ),
            Column("best_partial", "Nearest failure", "number", decimal, unit="partial, 0 to 1"),
            Column("commonest", "Commonest mode", show=lambda v: WORDS.get(str(v), "none failed")),
        ],
        frame,
        empty=empty,
    )


def rules_table() -> Table:
    """All rules in order, as the code has them."""
    frame = pd.DataFrame(
        [
            {"place": place, "mode": str(rule.mode), "stage": STAGES[rule.stage], "when": rule.when}
            for place, rule in enumerate(RULES, start=1)
        ]
    )
    return Table(
        "rules",
        "The rules: the first that applies gives the mode",
        [
            Column("place", "Place", "number", count),
            Column("mode", "Mode", "name", lambda v: WORDS[str(v)]),
            Column("when", "When"),
        ],
        frame,
        group="stage",
        classes=("long",),
    )


# --- answers to look at


def gallery(
    mode: str,
    rows: pd.DataFrame,
    runs: pd.DataFrame,
    played: Mapping[tuple[Protocol, str, str], Trace],
) -> Block:
    """The most telling failures of one mode: what was asked, what was answered, and what that did."""
    names = labels(runs)
    when = next(rule.when for rule in RULES if rule.mode == mode)
    cards = [f'<p class="say">{html.escape(when)}</p>']
    for row in records(rows):
        title = plain(row["title"] or row["task_id"], 100)
        facts = [
            ("run", names[row["run_id"]]),
            ("task", plain(row["task_id"], 60)),
            ("protocol", row["protocol"]),
            ("because", visible(str(row["evidence"].get("why", "")))),
        ]
        if "likeness_end" in row["evidence"]:
            facts.append(
                (
                    "like the target",
                    f"{percent(row['evidence']['likeness_end'], 0)}, the start "
                    f"{percent(row['evidence']['likeness_start'], 0)}",
                )
            )
        if not missing(row["repairable_by"]):
            facts.append(("passes with", REPAIRS[str(row["repairable_by"])]))
        told = "".join(f"<li>{html.escape(what)} <b>{html.escape(value)}</b></li>" for what, value in facts)
        cards.append(
            f'<h4 class="fail">{html.escape(title)}</h4><ul class="facts">{told}</ul>'
            + quoted("Instruction", row["instruction"])
            + quoted("Whole answer", row["completion"] if row["completion"] != row["keys"] else None)
            + answer_player(row, played).markup
        )
    return Block("".join(cards))


def nothing_failed(runs: pd.DataFrame, failed: pd.DataFrame) -> Block:
    """What to say where there is nothing to show: no runs, or none that failed; empty otherwise."""
    if runs.empty:
        return notice("No run fits the parameters of this page.")
    return notice("Nothing failed in these runs.") if failed.empty else Block("")
