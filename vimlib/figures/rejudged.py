"""Stored answers judged once more, on a page: by what, how many verdicts differ, and which."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from vimlib.analysis.rejudged import sentence
from vimlib.figures.blocks import Block, lede, say
from vimlib.figures.canvas import plain
from vimlib.figures.sections import number_of, records
from vimlib.figures.tables import UNAVAILABLE, Column, Table, count, missing, text

NOTHING: Final = Block("")


def findings(runs: pd.DataFrame) -> Block:
    """A sentence a judgement: by what it was made and whether that matters. `runs`: `rejudged.rejudged`."""
    if runs.empty:
        return say(
            "No answer of this store was judged once more. vimlib rejudge does that: by another Vim, by the "
            "rules as they are today, or with keys taken from the answers anew."
        )
    return lede([f"{_by(rows)}: {sentence(rows)}" for _, rows in runs.groupby("judgement_id", sort=False)])


def _by(rows: pd.DataFrame) -> str:
    """What is different in a judgement: Vim, extraction rule, version of the rules."""
    said = [f"Judged by {_change(rows, 'vim_version', 'Vim ')}"]
    if rows["other_keys"].sum():
        n = int(rows["other_keys"].sum())
        said.append(f"{number_of(n, 'answer')} read by {_change(rows, 'extraction')}")
    n = int(rows["other_rules"].sum())
    rules = (
        f"under another version of the rules for {number_of(n, 'answer')}" if n else "under the same rules"
    )
    return ", ".join([*said, rules])


def _change(rows: pd.DataFrame, column: str, what: str = "") -> str:
    old, new = (
        plain(", ".join(sorted({value for value in rows[name] if value})) or "none", 80)
        for name in (column, f"new_{column}")
    )
    return f"{what}{new}" + ("" if old == new else f" instead of {old}")


def run_table(runs: pd.DataFrame) -> Table | Block:
    """Old verdicts and new ones, run by run; empty where nothing was judged once more."""
    if runs.empty:
        return NOTHING
    return Table(
        "judged-again",
        "Verdicts that count and further ones",
        [
            Column("name", "Run", "name", _short, beside=_where),
            Column("answers", "Answers", "number", count, unit="with both verdicts"),
            Column("passed", "Passed", "number", count, unit="as it counts"),
            Column("new_passed", "Passed", "number", count, unit="judged again"),
            Column(
                "newly_passing",
                "Differ",
                "number",
                count,
                unit="newly passing",
                beside=lambda r: f"{count(r['newly_failing'])} newly failing",
            ),
            Column("other_file", "Another file", "number", count, unit="whatever the verdict"),
            Column(
                "unscored",
                "No verdict",
                "number",
                count,
                unit="one of the times",
                help="Not answered, or the harness failed: in neither count, and no failure.",
            ),
        ],
        runs,
        group="judgement_id",
        group_label=lambda one: f"Judgement {text(one)}",
        note="The verdicts that count are left as they are.",
    )


def _short(name: object) -> str:
    """A model's name without what stands before its last '/'."""
    return text(str(name).rsplit("/", 1)[-1] or name)


def _where(row: dict[str, Any]) -> str:
    return f"{plain(row['suite_name'], 40)}, {row['protocol']}"


def changed_table(changed: pd.DataFrame, *, top_n: int = 50) -> Table | Block:
    """The answers whose verdict differs; empty where nothing does. `changed`: `rejudged.changed`."""
    if changed.empty:
        return NOTHING
    frame = changed.head(top_n)
    frame = frame.assign(
        verdict=["passes now" if passed else "fails now" for passed in frame["new_passed"]],
        ends=[f"{_end(row['outcome'])}, now {_end(row['new_outcome'])}" for row in records(frame)],
    )
    left_out = len(changed) - top_n
    return Table(
        "judged-otherwise",
        f"{number_of(len(changed), 'verdict')} that would differ",
        [
            Column("task_id", "Task", "name", text, beside=lambda r: plain(r["name"], 60)),
            Column("new_keys", "Answer", "code", text, instead=lambda r: "" if r["new_keys"] else "none"),
            Column("verdict", "Verdict", beside=lambda r: str(r["ends"])),
        ],
        frame,
        group="judgement_id",
        group_label=lambda one: f"Judgement {text(one)}",
        note=f"{left_out} more are in the view rejudged of the store." if left_out > 0 else "",
        classes=("long",),
    )


def _end(outcome: object) -> str:
    return UNAVAILABLE if missing(outcome) else str(outcome).replace("_", " ")
