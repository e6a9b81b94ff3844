"""Many runs on the same tasks: who is better, as far as the data can tell.

A table sorted by a rate invites reading differences out of it that are none. So every two
models are compared on the tasks that both answered, all these tests are corrected together, and
a rank says how many others are surely better. Solvers are no competitors: they stand beside.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pandas as pd

from vimlib import store
from vimlib.analysis import cost, stats
from vimlib.analysis.compare import METRICS, SECTION, task_values
from vimlib.analysis.compare.metrics import samples_of
from vimlib.analysis.overview import overview


@dataclass(frozen=True, slots=True)
class Board:
    """The runs of one suite version under one protocol and track."""

    suite_name: str
    suite_version: str
    suite_hash: str
    protocol: str
    track: str
    alpha: float
    models: pd.DataFrame
    """One row a model run with at least one verdict (`boards`)."""
    solvers: pd.DataFrame
    """One row a solver with at least one verdict: rows of `overview`, best first."""
    nothing: pd.DataFrame
    """One row a run without any verdict: rows of `overview`."""
    pairs: pd.DataFrame
    """One row a pair of models (`boards`)."""
    tasks: int
    """Tasks that any of the models has a verdict for."""
    common_tasks: int
    """Tasks that all of the models have a verdict for."""


def boards(con: store.Connection, *, alpha: float = 0.05, seed: int = 1) -> list[Board]:
    """A leaderboard for each suite version, protocol and track; those of most models first.

    `models`, best first: the columns of `overview.overview`, and

    - `tasks`: tasks with a verdict; `lacking`: tasks that another model has a verdict for and it has not;
    - `common_pass_rate`: mean of its task means on the tasks of all models (NaN: there are none);
    - `better_than_it`, `worse_than_it`: models that surely are, at alpha over all pairs together;
    - `rank`: 1 + better_than_it, so that models with as many surely better ones share it;
      `rank_worst`: models - worse_than_it, the lowest place that the data leave possible;
    - `tokens_per_pass`, `cost_per_pass` (US dollars) with `_low`, `_high`, and `cost_n`: as
      `cost.by_run` has them; NaN: no pass, or not known of all attempts; a bound NaN: open;
    - `k`, `pass_at_k`, `pass_hat_k`, `k_tasks`: means over the tasks with at least k scored samples, k
      being the run's epochs; NaN with one epoch.

    `pairs`: `a`, `b` (run ids, a being the better), `tasks` (of both), `difference` (a - b), `p_value`
    (`stats.sign_flip`), `p_holm`, `sure`. Order: as the models.
    """
    runs = overview(con)
    spent = cost.by_run(cost.attempts(con)).set_index("run_id")[_PER_PASS]
    found = []
    for _, rows in runs.groupby(SECTION, sort=True, dropna=False):
        models = rows[(rows["kind"] == "model") & (rows["scored"] > 0)]
        solvers = rows[(rows["kind"] == "solver") & (rows["scored"] > 0)]
        first = rows.iloc[0]
        values = {run: task_values(samples_of(con, (run,)), METRICS[0]) for run in models["run_id"]}
        every = [set(frame.index) for frame in values.values()]
        union: set[str] = set().union(*every)
        common = set.intersection(*every) if every else set()
        pairs = _pairs(values, alpha, seed)
        models = models.assign(
            **_standing(list(models["run_id"]), pairs),
            tasks=[len(values[run]) for run in models["run_id"]],
            lacking=[len(union) - len(values[run]) for run in models["run_id"]],
            common_pass_rate=pd.Series(
                [
                    values[run].loc[values[run].index.isin(common), "mean"].mean() if common else None
                    for run in models["run_id"]
                ],
                index=models.index,
                dtype="float64",
            ),
        )
        repeats = pd.DataFrame(
            [_repeats(values[run]) for run in models["run_id"]], index=models.index, columns=_REPEATS
        ).astype("float64")
        used = spent.reindex(models["run_id"]).set_axis(models.index)
        models = pd.concat([models, used, repeats], axis="columns").sort_values(
            ["rank", "common_pass_rate", "pass_rate", "passed_beats_diff", "name", "run_id"],
            ascending=[True, False, False, False, True, True],
            na_position="last",
        )
        place = {run: number for number, run in enumerate(models["run_id"])}
        pairs = pairs.sort_values(["a", "b"], key=lambda ids: ids.map(place)).reset_index(drop=True)
        found.append(
            Board(
                suite_name=str(first["suite_name"]),
                suite_version=str(first["suite_version"]),
                suite_hash=str(first["suite_hash"]),
                protocol=str(first["protocol"]),
                track=str(first["track"]),
                alpha=alpha,
                models=models.reset_index(drop=True),
                solvers=solvers.sort_values(["pass_rate", "name"], ascending=[False, True]),
                nothing=rows[rows["scored"] == 0],
                pairs=pairs,
                tasks=len(union),
                common_tasks=len(common),
            )
        )
    return sorted(
        found, key=lambda board: (-len(board.models), board.suite_name, board.protocol, board.track)
    )


def _pairs(values: dict[str, pd.DataFrame], alpha: float, seed: int) -> pd.DataFrame:
    """Every two models on the tasks of both, tested together."""
    rows: list[dict[str, Any]] = []
    for one, other in combinations(values, 2):
        means = values[one][["mean"]].join(values[other]["mean"].rename("mean_other"), how="inner")
        differences = (means["mean"] - means["mean_other"]).to_list()
        mean = sum(differences) / len(differences) if differences else None
        a, b = (one, other) if mean is None or mean >= 0 else (other, one)
        rows.append(
            {
                "a": a,
                "b": b,
                "tasks": len(differences),
                "difference": None if mean is None else abs(mean),
                "p_value": stats.sign_flip(differences, seed=seed),
            }
        )
    frame = pd.DataFrame(rows, columns=["a", "b", "tasks", "difference", "p_value"])
    p_values = [None if pd.isna(p) else float(p) for p in frame["p_value"]]
    frame = frame.assign(p_holm=pd.Series(stats.holm(p_values), index=frame.index, dtype="float64"))
    frame = frame.astype({"difference": "float64", "p_value": "float64"})
    return frame.assign(sure=(frame["p_holm"] <= alpha) & (frame["difference"] > 0))


def _standing(ids: list[str], pairs: pd.DataFrame) -> dict[str, list[int]]:
    sure = pairs[pairs["sure"]]
    better = [int((sure["b"] == run).sum()) for run in ids]
    worse = [int((sure["a"] == run).sum()) for run in ids]
    return {
        "better_than_it": better,
        "worse_than_it": worse,
        "rank": [1 + number for number in better],
        "rank_worst": [len(ids) - number for number in worse],
    }


_PER_PASS = [
    *(f"{name}{end}" for name in ("tokens_per_pass", "cost_per_pass") for end in ("", "_low", "_high")),
    "cost_n",
]
_REPEATS = ["k", "pass_at_k", "pass_hat_k", "k_tasks"]


def _repeats(values: pd.DataFrame) -> dict[str, float | None]:
    """pass@k and pass^k of a run with several epochs."""
    k = int(values["n"].max())
    if k < 2:
        return dict.fromkeys(_REPEATS)
    enough = [(int(n), round(passed)) for n, passed in zip(values["n"], values["sum"], strict=True) if n >= k]
    any_, all_ = (
        [rule(n, passed, k) for n, passed in enough] for rule in (stats.pass_at_k, stats.pass_hat_k)
    )
    return {
        "k": float(k),
        "pass_at_k": sum(value for value in any_ if value is not None) / len(enough),
        "pass_hat_k": sum(value for value in all_ if value is not None) / len(enough),
        "k_tasks": float(len(enough)),
    }
