"""The answers of a comparison's flips with all that is needed to play them again.

A flip is a claim about two answers, and the answers show whether to believe it. Playing costs a
replay a key, so the flips that are played are bounded, and those of each kind take turns.
"""

from __future__ import annotations

import pandas as pd

from vimlib import store
from vimlib.store import decode_text

KEY = ["run_id", "task_id", "epoch"]


def in_turn(flips: pd.DataFrame, most: int) -> pd.DataFrame:
    """At most `most` of the flips (`pairing.flips`), in their order: the first of each change before the
    second of any, so that neither better nor worse crowds the other out."""
    turn = flips.groupby("change", sort=False).cumcount()
    return flips.loc[turn.sort_values(kind="stable").index[: max(0, most)].sort_values()]


def answers_of(con: store.Connection, flips: pd.DataFrame) -> pd.DataFrame:
    """Both answers of each flip.

    `flips`: rows of `pairing.flips`. Grain: one row a flip and side. Order: the flips', the base before the
    candidate. Columns: of the view `answers_replayed`, texts as their sources have them, and `side` (base or
    candidate) and `end` ('passed', a failure mode, or 'not classified').
    """
    if flips.empty:
        return pd.DataFrame(columns=[*store.view_columns("answers_replayed"), "side", "end"])
    sides = [
        pd.DataFrame(
            {
                "run_id": flips[f"{side}_run"],
                "task_id": flips["task_id"],
                "epoch": flips[f"{side}_epoch"].astype("Int64"),
                "side": side,
                "end": flips[f"{side}_end"],
            }
        )
        for side in ("base", "candidate")
    ]
    wanted = pd.concat(sides).sort_index(kind="stable")
    given = {column: list(wanted[column].unique()) for column in ("run_id", "task_id")}
    rows = store.query(con, "answers_replayed", **given)
    found = wanted.merge(rows, on=KEY, how="left", validate="one_to_one")
    for column in ("start", "target", "keys", "buffer"):
        found[column] = [decode_text(text) if isinstance(text, str) else None for text in found[column]]
    return found
