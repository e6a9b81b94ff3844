"""Who answered what: the store's answers by subject, and by task with what makes it hard.

A subject is a model under one protocol, prompt and set of generation settings: whatever differs in these
is not comparable and never pooled. Runs of the same subject are pooled; epochs and runs of one task become
its mean, so that the task is the unit of every test.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from vimlib import store
from vimlib.analysis.compare.conditions import OF_THE_REQUEST
from vimlib.analysis.contamination.within import Floats, difficulty
from vimlib.records import VimlibError

FRESH = "fresh"
"""Name of the suites of drawn tasks."""
DETERMINED_SUITES = ("fresh", "seed", "vimbench", "vimbench-seed", "vimbench-synth")
"""Suites whose instructions are meant to determine the target alone: no ground for the blind probe."""

_OF_TASK = [
    "task_key", "task_id", "title", "instruction", "target", "tier", "created", "entries", "golfers",
    "best_score", "diff_keys", "suite_name", "twin_of",
]  # fmt: skip


class UnknownRun(VimlibError):
    """A run was asked for that is not in the store."""

    exit_code = 2


def traced(con: store.Connection, runs: Collection[str] = ()) -> pd.DataFrame:
    """The scored answers of models, and of the solver `diff`, that evidence is taken from.

    Grain and columns: view `answers_traced`, those with `scored`, and of the settings those that shape an
    answer; `runs` are the ids of the models' runs,
    none: all. Raises UnknownRun.
    """
    known = store.query(con, "run_conditions")
    models = known[known["kind"] == "model"]
    unknown = sorted(set(runs) - set(known["run_id"]))
    if unknown:
        some = ", ".join(sorted(models["run_id"])[:5]) or "none"
        raise UnknownRun(
            f"no run {unknown[0]!r} in the store; there are {some}: correct the parameter `runs`"
        )
    wanted = models[models["run_id"].isin(list(runs))] if runs else models
    floor = known[(known["kind"] == "solver") & (known["name"] == "diff")]
    chosen = pd.concat([wanted, floor])
    asked = list(chosen.loc[chosen["track"] != "multi", "run_id"])
    found = store.query(con, "answers_traced", run_id=asked, scored=True)
    plain = {text: _of_the_answer(text) for text in found["settings"].dropna().unique()}
    return found.assign(settings=found["settings"].map(plain))


def _of_the_answer(settings: str) -> str:
    """The settings that shape an answer: an address or a time limit makes no other subject."""
    given = json.loads(settings)
    return json.dumps({name: given[name] for name in sorted(given) if name not in OF_THE_REQUEST})


@dataclass(frozen=True, slots=True)
class Subject:
    """A model under one protocol, prompt and set of settings."""

    name: str
    protocol: str
    prompt_version: str
    """'' where it is not known."""
    settings: str
    """A JSON object."""

    def of(self, answers: pd.DataFrame, track: str = "single") -> pd.DataFrame:
        """Its answers of a track; those of the blind track whatever their prompt, which is another one."""
        own = (
            (answers["kind"] == "model")
            & (answers["name"] == self.name)
            & (answers["protocol"] == self.protocol)
            & (answers["settings"] == self.settings)
            & (answers["track"] == track)
        )
        if track == "single":
            own &= answers["prompt_version"].fillna("") == self.prompt_version
        return answers[own]

    def others(self, answers: pd.DataFrame, track: str = "single") -> Iterator[tuple[str, pd.DataFrame]]:
        """Other models' answers under the same protocol, model by model."""
        rest = answers[
            (answers["kind"] == "model")
            & (answers["name"] != self.name)
            & (answers["protocol"] == self.protocol)
            & (answers["track"] == track)
        ]
        for name, group in rest.groupby("name", sort=True):
            yield str(name), group


def subjects(answers: pd.DataFrame) -> list[Subject]:
    """The subjects of a frame, in the order of their names; one that was only asked blind has no prompt."""
    models = answers[answers["kind"] == "model"]
    shown = models["track"] == "single"

    def different(rows: pd.DataFrame, *columns: str) -> set[tuple[str, ...]]:
        return {
            tuple(map(str, row)) for row in rows[list(columns)].fillna("").itertuples(index=False, name=None)
        }

    found = different(models[shown], "name", "protocol", "settings", "prompt_version")
    blind = different(models[~shown], "name", "protocol", "settings") - {row[:3] for row in found}
    found |= {(*row, "") for row in blind}
    return [Subject(name, protocol, prompt, settings) for name, protocol, settings, prompt in sorted(found)]


def by_task(answers: pd.DataFrame) -> pd.DataFrame:
    """Answers by task.

    Grain: one row a task (`task_key`). Columns: the task's own, `passed` (mean over answers, 0 to 1),
    `answers` (their number), `difficulty` (0 to 1 among these tasks: mean rank of target length, keys of
    `diff`, best published score). Order: `task_key`.
    """
    passed = answers["passed"].astype(float).groupby(answers["task_key"].to_numpy(), sort=True)
    means = passed.agg(["mean", "size"])
    # What several versions of a suite say of a task: the first that knows it.
    told = answers[_OF_TASK].sort_values("task_key", kind="stable")
    if told["task_key"].duplicated().any() and answers["suite_hash"].nunique() > 1:
        told = told.groupby("task_key", sort=True, as_index=False).first()
    frame = told.drop_duplicates("task_key").reset_index(drop=True)
    frame["passed"] = means["mean"].to_numpy(float)
    frame["answers"] = means["size"].to_numpy(int)
    return frame.assign(difficulty=difficulty_of(frame))


def rates(answers: pd.DataFrame) -> pd.Series:
    """Mean passes by task, index `task_key`: what `by_task` says of others, whose tasks are known already."""
    return answers["passed"].astype(float).groupby(answers["task_key"].to_numpy(), sort=True).mean()


def difficulty_of(tasks: pd.DataFrame) -> Floats:
    """Of each task of a frame by task, 0 to 1 among these."""
    if tasks.empty:
        return np.empty(0)
    length = tasks["target"].str.len().to_numpy(float)
    known = [
        tasks[name].astype("Float64").to_numpy(float, na_value=np.nan) for name in ("diff_keys", "best_score")
    ]
    return difficulty(length, *known)


def public(answers: pd.DataFrame, suite: str = "") -> pd.DataFrame:
    """Answers to tasks that may have been seen: no twins, nothing drawn; of one suite if it is named."""
    kept = answers["twin_of"].isna() & (answers["suite_name"] != FRESH)
    return answers[kept & ((answers["suite_name"] == suite) if suite else True)]
