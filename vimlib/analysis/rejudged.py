"""Does a result depend on the Vim, or on how answers are read? Old verdicts and new ones, side by side."""

from __future__ import annotations

import pandas as pd

from vimlib import store


def rejudged(con: store.Connection, judgement_id: str) -> pd.DataFrame:
    """A further judgement, run by run.

    Grain: one row a run. Order: kind, name, run. Columns: `run_id`, `kind`, `name`, `suite_name`, `protocol`,
    `vim_version`, `new_vim_version` (several joined by a comma; '' where nothing was replayed), `answers`
    (with a verdict both times), `passed`, `new_passed`, `newly_passing`, `newly_failing`,
    `other_file` (replays that left another file, whatever the verdict), `other_end` (that ended otherwise),
    `unscored` (without a verdict one of the times).
    """
    rows = store.query(con, "rejudged", judgement_id=judgement_id)
    both = rows["passed"].notna() & rows["new_passed"].notna()
    was, now = (rows[name].fillna(False).astype(bool) for name in ("passed", "new_passed"))
    counted = rows.assign(
        answers=both,
        unscored=~both,
        was=both & was,
        now=both & now,
        newly_passing=both & ~was & now,
        newly_failing=both & was & ~now,
        other_file=~rows["same_file"].fillna(True).astype(bool),
        other_end=rows["outcome"].notna()
        & rows["new_outcome"].notna()
        & (rows["outcome"] != rows["new_outcome"]),
    )
    keys = ["run_id", "kind", "name", "suite_name", "protocol"]
    numbers = [
        "answers",
        "was",
        "now",
        "newly_passing",
        "newly_failing",
        "other_file",
        "other_end",
        "unscored",
    ]
    grouped = counted.groupby(keys, sort=False)
    frame = grouped[numbers].sum().astype("int64")
    for name in ("vim_version", "new_vim_version"):
        frame[name] = grouped[name].agg(lambda values: ", ".join(sorted(set(values.dropna()))))
    frame = frame.rename(columns={"was": "passed", "now": "new_passed"}).reset_index()
    return frame[[*keys, "vim_version", "new_vim_version", "answers", "passed", "new_passed", *numbers[3:]]]


def changed(con: store.Connection, judgement_id: str) -> pd.DataFrame:
    """The answers whose verdict differs. Grain and columns: rows of the view `rejudged`, in its order."""
    rows = store.query(con, "rejudged", judgement_id=judgement_id)
    return rows[rows["passed"] != rows["new_passed"]].dropna(subset=["passed", "new_passed"])


def sentence(runs: pd.DataFrame) -> str:
    """What a further judgement says in plain words; `runs` as `rejudged` gives them."""
    answers = int(runs["answers"].sum())
    better, worse = int(runs["newly_passing"].sum()), int(runs["newly_failing"].sum())
    if not answers:
        return "No answer has a verdict both times."
    if better + worse == 0:
        other = int(runs["other_file"].sum())
        files = "" if not other else f", though {other} left another file"
        return f"All {answers} verdicts come out the same{files}."
    return f"{better + worse} of {answers} verdicts differ: {better} newly passing, {worse} newly failing."
