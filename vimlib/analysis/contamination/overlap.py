"""Are a model's right answers nearer to the published solutions than other right answers are?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from vimlib.analysis.contamination.likeness import (
    EXAMPLES,
    bare,
    longest_run,
    normal,
    similarity,
)
from vimlib.analysis.contamination.lines import Evidence, Line, frame_of, lacking
from vimlib.analysis.stats import detectable_mean, mean_difference, sign_flip
from vimlib.records import Protocol

LEAST = 6
"""Tasks below which no test is made."""
STRANGERS = 5
"""Solutions of other tasks that stand for one published solution in the chance level."""

COLUMNS = [
    "task_key", "title", "run_id", "keys", "solution", "source", "same_keys", "same", "similarity", "run",
    "run_keys", "answer_keys", "chance", "others", "diff", "elsewhere",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Solution:
    task_key: str
    keys: str
    source: str
    plain: tuple[str, ...]
    commands: tuple[str, ...]


def _text(task: Mapping[str, object]) -> str:
    return "\n".join([str(task["start"]), str(task["target"]), str(task["instruction"]), *EXAMPLES])


def overlaps(answers: pd.DataFrame, everyone: pd.DataFrame, solutions: pd.DataFrame) -> pd.DataFrame:
    """Each right answer of a subject beside the published solution of its task that it is nearest to.

    `answers`: the subject's; `everyone`: all answers of the store that may serve as a level (other
    models', `diff`'s); `solutions`: view `solutions_published`.

    Grain: one row a passed answer to a task with published solutions. Order: most suspicious first: the
    same keys, then those shared with no other task or answer, then the longest run. Columns:

    - `keys`, `solution`, `source`: the answer, the solution, where that was published;
    - `same_keys`, `same`: the same to the letter; the same in one spelling;
    - `similarity`: 1 - edit distance / keys of the longer, text of the task and saving left out;
    - `run`, `run_keys`: the longest run of keys in common, and its length; `answer_keys`: keys of the answer,
      both without text and saving;
    - `chance`: the similarity that as many solutions of other tasks, of like length, reach (mean);
    - `others`, `diff`: what the passing answers of other models, and of `diff`, to this task reach (NaN:
      none);
    - `elsewhere`: how many solutions of other tasks and answers of others to any task hold the run.
    """
    passed = everyone[everyone["passed"].astype(bool) & everyone["keys"].notna()]
    mine = answers[answers["passed"].astype(bool) & answers["keys"].notna()]
    texts = {
        str(task["task_key"]): _text(task)
        for task in pd.concat([mine, passed]).drop_duplicates("task_key").to_dict("records")
    }
    known: dict[str, list[_Solution]] = {}
    for row in solutions.itertuples(index=False):
        plain = normal(str(row.keys))
        known.setdefault(str(row.task_key), []).append(
            _Solution(
                str(row.task_key),
                str(row.keys),
                str(row.source),
                plain,
                bare(plain, texts.get(str(row.task_key), "\n".join(EXAMPLES))),
            )
        )
    ready: dict[tuple[str, str, str], tuple[tuple[str, ...], tuple[str, ...]]] = {}

    def split(keys: str, protocol: str, task_key: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        key = (keys, protocol, task_key)
        if key not in ready:
            plain = normal(keys, Protocol(protocol))
            ready[key] = plain, bare(plain, texts[task_key])
        return ready[key]

    names = set(mine["name"])
    levels: dict[str, dict[str, list[float]]] = {}
    pool: list[tuple[str, ...]] = []
    for row in passed.itertuples(index=False):
        if str(row.name) in names and row.kind == "model":
            continue
        _, commands = split(str(row.keys), str(row.protocol), str(row.task_key))
        pool.append(commands)
        if own := known.get(str(row.task_key)):
            best = max(similarity(commands, one.commands) for one in own)
            who = "diff" if row.kind == "solver" else str(row.name)
            levels.setdefault(str(row.task_key), {}).setdefault(who, []).append(best)
    every = [one for group in known.values() for one in group]
    rows = []
    for row in mine.itertuples(index=False):
        task_key = str(row.task_key)
        if task_key not in known:
            continue
        plain, commands = split(str(row.keys), str(row.protocol), task_key)
        own = known[task_key]
        best_one = max(own, key=lambda one: (one.plain == plain, similarity(commands, one.commands)))
        run = longest_run(commands, best_one.commands)
        strangers = [one.commands for one in every if one.task_key != task_key]
        level = levels.get(task_key, {})
        theirs = [float(np.mean(values)) for who, values in level.items() if who != "diff"]
        rows.append(
            {
                "task_key": task_key,
                "title": row.title,
                "run_id": row.run_id,
                "keys": row.keys,
                "solution": best_one.keys,
                "source": best_one.source,
                "same_keys": row.keys == best_one.keys,
                "same": plain == best_one.plain,
                "similarity": max(similarity(commands, one.commands) for one in own),
                "run": "".join(run),
                "run_keys": len(run),
                "answer_keys": len(commands),
                "chance": _chance(commands, [one.commands for one in own], strangers),
                "others": float(np.mean(theirs)) if theirs else np.nan,
                "diff": float(np.mean(level["diff"])) if "diff" in level else np.nan,
                "elsewhere": _holding(run, [*strangers, *pool]),
            }
        )
    frame = pd.DataFrame(rows, columns=COLUMNS)
    order = ["same", "elsewhere", "run_keys", "similarity", "task_key"]
    return frame.sort_values(order, ascending=[False, True, False, False, True]).reset_index(drop=True)


def _chance(
    commands: tuple[str, ...], own: Sequence[tuple[str, ...]], strangers: Sequence[tuple[str, ...]]
) -> float:
    """The best similarity to as many solutions of other tasks as this one has, each of like length."""
    if not strangers:
        return float("nan")
    lengths = np.array([len(one) for one in strangers])
    drawn = []
    for one in own:
        nearest = np.argsort(np.abs(lengths - len(one)), kind="stable")[:STRANGERS]
        drawn.append([similarity(commands, strangers[place]) for place in nearest])
    return float(np.mean(np.max(np.array(drawn), axis=0)))


def _holding(run: tuple[str, ...], pool: Sequence[tuple[str, ...]]) -> int:
    """How many of a pool hold a run of keys."""
    if not run:
        return len(pool)
    size = len(run)
    return sum(any(one[place : place + size] == run for place in range(len(one) - size + 1)) for one in pool)


def overlap(found: pd.DataFrame, solved: int, *, alpha: float = 0.05, seed: int = 0) -> pd.DataFrame:
    """How much nearer right answers are to the published solutions than chance, and than other right answers.

    `found`: from `overlaps`; `solved`: tasks that the subject passed, with published solutions or without.
    The first line is no test: any right answer is nearer to its own task's solutions. The second compares,
    task by task, with the other models that passed it, signs of the differences flipped; where no other
    model did, with `diff`, and then without a test, since every good golfer beats `diff` in this.
    Two rows, columns `lines.COLUMNS`.
    """
    return frame_of(lines(found, solved, alpha, seed), alpha)


def lines(found: pd.DataFrame, solved: int, alpha: float, seed: int) -> list[Line]:
    """The lines of `overlap`."""
    kinds = (Evidence.OVERLAP_CHANCE, Evidence.OVERLAP)
    if solved == 0:
        return [lacking(kind, "no public task was passed") for kind in kinds]
    if found.empty:
        why = f"no published solution is known of the {solved} tasks that were passed"
        return [lacking(kind, why) for kind in kinds]
    tasks = found.groupby("task_key", sort=True)[["similarity", "chance", "others", "diff"]].mean()
    return [
        _excess(
            kinds[0], tasks, "chance", "similarity (0 to 1) above that to other tasks' solutions", alpha, seed
        ),
        _against(kinds[1], tasks, alpha, seed),
    ]


def _against(kind: Evidence, tasks: pd.DataFrame, alpha: float, seed: int) -> Line:
    if int(tasks["others"].notna().sum()) >= LEAST:
        unit = "similarity (0 to 1) above that of other models' right answers"
        return _excess(kind, tasks, "others", unit, alpha, seed, test="signs of the differences flipped")
    if tasks["diff"].notna().any():
        line = _excess(kind, tasks, "diff", "similarity (0 to 1) above that of diff's answers", alpha, seed)
    else:
        line = lacking(kind, "")
    n = int(tasks["others"].notna().sum())
    missing = f"{n} tasks with published solutions that another model passed too; {LEAST} are needed"
    return Line(kind, line.effect, line.low, line.high, line.unit, line.n, missing=missing)


def _excess(
    kind: Evidence, tasks: pd.DataFrame, level: str, unit: str, alpha: float, seed: int, test: str = ""
) -> Line:
    compared = tasks[tasks[level].notna()]
    gaps = (compared["similarity"] - compared[level]).to_list()
    estimate = mean_difference(gaps, seed=seed)
    if estimate is None:
        return lacking(kind, "nothing to compare with")
    return Line(
        kind,
        estimate.value,
        estimate.low,
        estimate.high,
        unit,
        len(gaps),
        test,
        sign_flip(gaps, seed=seed) if test else None,
        detectable_mean(gaps, alpha) if test else None,
    )
