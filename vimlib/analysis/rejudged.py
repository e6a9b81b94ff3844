"""Does a result depend on the Vim, or on how answers are read? Old verdicts and new ones, side by side."""

from __future__ import annotations

import pandas as pd

from vimlib import store


def rejudged(con: store.Connection, judgement_id: str = "") -> pd.DataFrame:
    """A further judgement, or without an id all that the store holds, run by run.

    Grain: one row a judgement and run. Order: judgement, kind, name, run. Columns: `judgement_id`, `run_id`,
    `kind`, `name`, `suite_name`, `protocol`; `vim_version`, `new_vim_version`, `extraction`, `new_extraction`
    (several joined by a comma; '' where nothing was replayed or read), `answers` (with a verdict both
    times), `passed`, `new_passed`, `newly_passing`, `newly_failing`, `other_file` (replays that left another
    file, whatever the verdict), `other_end` (that ended otherwise), `unscored` (without a verdict one of the
    times), `other_rules` (judged by another version of the rules), `other_keys` (of which other keys were
    taken).
    """
    rows = _rows(con, judgement_id)
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
        other_rules=rows["rules_differ"].fillna(True),
        other_keys=rows["keys"].fillna("") != rows["new_keys"].fillna(""),
    )
    keys = ["judgement_id", "run_id", "kind", "name", "suite_name", "protocol"]
    numbers = [
        "answers",
        "was",
        "now",
        "newly_passing",
        "newly_failing",
        "other_file",
        "other_end",
        "unscored",
        "other_rules",
        "other_keys",
    ]
    grouped = counted.groupby(keys, sort=False)
    frame = grouped[numbers].sum().astype("int64")
    texts = ["vim_version", "new_vim_version", "extraction", "new_extraction"]
    for name in texts:
        frame[name] = grouped[name].agg(lambda values: ", ".join(sorted(set(values.dropna()) - {""})))
    frame = frame.rename(columns={"was": "passed", "now": "new_passed"}).reset_index()
    return frame[[*keys, *texts, "answers", "passed", "new_passed", *numbers[3:]]]


def _rows(con: store.Connection, judgement_id: str) -> pd.DataFrame:
    return store.query(con, "rejudged", **({"judgement_id": judgement_id} if judgement_id else {}))


def changed(con: store.Connection, judgement_id: str = "") -> pd.DataFrame:
    """The answers whose verdict differs, in one judgement or without an id in any. Grain and columns: rows of
    the view `rejudged`, in its order."""
    rows = _rows(con, judgement_id)
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
        return f"All {answers} verdicts come out the same{files}: 0 of {answers} differ."
    return f"{better + worse} of {answers} verdicts differ: {better} newly passing, {worse} newly failing."
