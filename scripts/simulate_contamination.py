"""What the tests for contamination see, and how often they see what is not there: by simulation.

    python scripts/simulate_contamination.py [--runs 1000] [--cache FILE] [--out FILE.md]

There is no model of which it is known what it has seen. So models are simulated on the real challenges of
../shared/data: memorisers, who give a published solution word for word with probability p; honest ones,
who pass by skill; and both in one. Whatever any of them may answer was replayed once in real Vim, so that a
simulated pass is a real one. `contamination.evidence` is then asked about each simulated model, beside
three honest ones, as it would be about real runs. The tables go into docs/contamination.md.

How an honest model passes: its chance is logistic in its own skill, the difficulty of the task
(`within.difficulty`) and a quirk of the task that all models share and no measure shows; a twin has the quirk
of its original. A pass is given by one of several edits that a program wrote in different styles, or, the
less likely the longer it is, by a published solution found anew. All draws are seeded.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binom

from vimlib import keys as notation
from vimlib.analysis import contamination
from vimlib.analysis.contamination import Evidence, within
from vimlib.analysis.contamination.answers import difficulty_of
from vimlib.analysis.contamination.likeness import EXAMPLES, bare, normal, similarity
from vimlib.analysis.stats import mcnemar
from vimlib.generate import generate_fresh
from vimlib.generate.twins import generate_twins
from vimlib.judge import judge
from vimlib.records import Attempt, AttemptStatus, Protocol, Run, RunKind, Suite, Task
from vimlib.solvers import SOLVERS
from vimlib.suites import load_suite, read_solutions
from vimlib.suites.twins import twin_of

SHARED = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "vimgolf"
GOLF = Protocol.GOLF
ALPHA = 0.05
P = 0.3
FRESH_TASKS = 80
CUTOFFS = {
    "model": datetime.date(2019, 7, 1),
    "other-1": datetime.date(2013, 1, 1),
    "other-2": datetime.date(2017, 1, 1),
    "other-3": datetime.date(2026, 1, 1),
}
"""In the middle of the challenges' dates: of a model trained yesterday all are from before."""
SKILLS = {"model": 0.0, "other-1": -0.4, "other-2": 0.3, "other-3": 0.0}


# --- what can be answered ------------------------------------------------------------------------


def styles(task: Task) -> dict[str, str]:
    """Edits of a task that a program writes, by style; whether they work, the replay tells."""
    made: dict[str, str] = {}
    if (answer := SOLVERS["diff"](task, GOLF)) is not None:
        made["diff"] = answer
    old, new = task.start.splitlines(), GOLF.formatted(task.target).splitlines()

    def typed(text: str) -> str:
        return notation.literal(text, GOLF)

    if len(old) == len(new):
        changed = [
            number for number, (one, other) in enumerate(zip(old, new, strict=True), 1) if one != other
        ]
        made["cc"] = "".join(f"{number}GS{typed(new[number - 1])}<Esc>" for number in changed) + "ZZ"
        made["s"] = "".join(
            f":{number}s/.*/{typed(new[number - 1]).replace('/', chr(92) + '/')}/<CR>" for number in changed
        )
        made["s"] += ":wq<CR>"
    ahead = 0
    while ahead < min(len(old), len(new)) and old[ahead] == new[ahead]:
        ahead += 1
    behind = 0
    while behind < min(len(old), len(new)) - ahead and old[-1 - behind] == new[-1 - behind]:
        behind += 1
    text = new[ahead : len(new) - behind]
    gone = len(old) - behind - ahead
    if text and gone:
        made["block"] = f":set noai<CR>:{ahead + 1},{ahead + gone}d<CR>:{ahead}pu=''<CR>S" + typed(
            "\n".join(text)
        )
        made["block"] += "<Esc>:x<CR>"
        made["V"] = f"{ahead + 1}G{gone}cc" + typed("\n".join(text)) + "<Esc>ZZ"
    elif gone:
        made["block"] = f":{ahead + 1},{ahead + gone}d<CR>:wq<CR>"
        made["V"] = f"{ahead + 1}G{gone}ddZZ"
    elif text:
        made["block"] = f":{ahead}pu=''<CR>S" + typed("\n".join(text)) + "<Esc>:x<CR>"
    return made


@dataclass(frozen=True)
class World:
    """Tasks and all answers to them, replayed."""

    tasks: pd.DataFrame
    """One row a task, columns as `answers_traced` has them; public ones, twins, fresh ones."""
    right: Mapping[str, Sequence[str]]
    """By task_key, answers that pass and that nobody published."""
    published: Mapping[str, Sequence[str]]
    """By task_key of an original, its published solutions."""
    passes: Mapping[tuple[str, str], bool]
    """By task_key and keys, whether they pass."""
    solutions: pd.DataFrame
    """As `solutions_published`."""
    replays: int


def _golf(task: Task) -> list[str]:
    """A task's reference, if it has one."""
    return [notation.translate(task.reference, task.reference_notation, GOLF)] if task.reference else []


def rows_of(suite: Suite, diff: Mapping[str, int]) -> list[dict[str, object]]:
    """A suite's tasks as `answers_traced` has them; `diff`: keys of that solver's answer by task."""
    return [
        {
            "suite_name": suite.name,
            "suite_hash": suite.hash,
            "task_id": task.id,
            "task_key": twin_of(task),
            "twin_of": task.twin_of,
            "title": task.title,
            "instruction": task.instruction,
            "start": task.start,
            "target": task.target,
            "tier": task.tier,
            "created": task.created,
            "entries": task.entries,
            "golfers": task.golfers,
            "best_score": task.best_score,
            "diff_keys": diff.get(task.id),
        }
        for task in suite.tasks
        if task.erratum is None
    ]


def build(cache: Path) -> World:
    """Everything that a simulated model may answer, replayed."""
    suite = load_suite(SHARED / "challenges.jsonl")
    published, _ = read_solutions(suite.tasks, "solutions", (SHARED / "solutions.jsonl").read_bytes())
    twinned = generate_twins(suite, published=published, cache=cache)
    drawn = generate_fresh(1, FRESH_TASKS, cache=cache).suite
    by_id: dict[str, list[str]] = {}
    for one in published:
        by_id.setdefault(one.task_id, []).append(one.keys)
    originals = {one.task.id: one.original.id for one in twinned.twins}
    passes: dict[tuple[str, str], bool] = {}
    rows: list[dict[str, object]] = []
    right: dict[str, list[str]] = {}
    replays = 0
    for part in (suite, twinned.suite, drawn):
        offered = {
            task.id: list(
                dict.fromkeys(
                    [
                        *styles(task).values(),
                        *_golf(task),
                        *by_id.get(originals.get(task.id, task.id), []),
                        "ZZ",
                    ]
                )
            )
            for task in part.tasks
        }
        run = Run(
            f"all-{part.name}",
            RunKind.SOLVER,
            "all",
            part.hash,
            GOLF,
            tuple(
                Attempt(task_id, number, 1, AttemptStatus.ANSWERED, completion=keys, keys=keys)
                for task_id, answers in offered.items()
                for number, keys in enumerate(answers, 1)
            ),
        )
        judged = judge([run], [part], cache=cache)
        replays += len(judged.replays)
        verdicts = {
            (one.attempt.task_id, one.attempt.keys or ""): bool(one.score.passed)
            for one in judged.runs[0].verdicts
        }
        keys = {task.id: twin_of(task) for task in part.tasks}
        passes |= {(keys[task_id], answer): passed for (task_id, answer), passed in verdicts.items()}
        lengths = {
            task.id: notation.count(answer, GOLF)
            for task in part.tasks
            if (answer := styles(task).get("diff")) and verdicts[task.id, answer]
        }
        rows += rows_of(part, lengths)
        for task in part.tasks:
            known = set(by_id.get(originals.get(task.id, task.id), []))
            right[keys[task.id]] = [
                one for one in offered[task.id] if verdicts[task.id, one] and one not in known
            ]
    by_key = {twin_of(task): by_id[task.id] for task in suite.tasks if task.id in by_id}
    solutions = pd.DataFrame(
        [
            {"task_key": key, "task_id": key.split("#")[0], "keys": one, "source": "published",
             "verified": True, "place": place}
            for key, group in by_key.items()
            for place, one in enumerate(group)
        ]
    )  # fmt: skip
    # A task that no honest model of these can pass says something about the simulation alone.
    kept = [
        row for row in rows if right[str(row["task_key"])] and right[str(row["twin_of"] or row["task_key"])]
    ]
    return World(pd.DataFrame(kept).astype(object), right, by_key, passes, solutions, replays)


# --- models --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """A kind of simulated model. The tests are asked about it; three honest models stand beside it."""

    name: str
    memory: Callable[[pd.DataFrame], np.ndarray] | None = None
    """Chance to recall a published solution, task by task; None: remembers nothing."""
    skill: float | None = 0.0
    """None: passes by memory alone."""
    sees_through: bool = False
    """Recalls the original's solution for its twin too."""
    harder: float = 0.0
    """How much harder tasks become for everybody in ten years, in logits."""
    finds: float = 1.0
    """How much more often than others it finds a published solution anew."""
    true: bool = field(default=False)
    """Whether a test that finds something is right."""


def always(tasks: pd.DataFrame) -> np.ndarray:
    """Every solution is remembered."""
    return np.ones(len(tasks))


def constant(tasks: pd.DataFrame) -> np.ndarray:
    """The same chance for every task."""
    return np.full(len(tasks), P)


def popular(tasks: pd.DataFrame) -> np.ndarray:
    """A chance from 0 to 2p in the order of entries."""
    return 2 * P * tasks["entries"].astype("Float64").rank(pct=True).to_numpy(float, na_value=0.5)


KINDS = (
    Kind("honest"),
    Kind("honest, newer tasks harder", harder=1.5),
    Kind("honest, better golfer", skill=1.0, finds=3.0),
    Kind("memoriser", constant, None, true=True),
    Kind("both", constant, true=True),
    Kind("both, popular tasks", popular, true=True),
    Kind("both, p = 1", always, true=True),
    Kind("both, p = 1, knows twins", always, sees_through=True, true=True),
)


@dataclass(frozen=True)
class Answers:
    """What all simulated models answered in all runs. Arrays: runs, tasks of the world."""

    passed: Mapping[tuple[str, str], np.ndarray]
    """By model and track."""
    keys: Mapping[tuple[str, str], np.ndarray]
    """Number of the answer among `offered` of its task; 0 is giving up (`ZZ`)."""


def offered(world: World) -> list[list[str]]:
    """By task of the world, what may be answered: giving up, the right edits, the published solutions."""
    same = world.tasks["twin_of"].fillna(world.tasks["task_key"])
    return [
        ["ZZ", *world.right[key], *world.published.get(original, ())]
        for key, original in zip(world.tasks["task_key"], same, strict=True)
    ]


def simulate(world: World, kind: Kind, runs: int) -> Answers:
    """The answers of a kind of model, and of three honest ones beside it, in many runs."""
    draw = np.random.default_rng([KINDS.index(kind), runs])
    tasks = world.tasks
    named = tasks["task_key"].to_list()
    same = tasks["twin_of"].fillna(tasks["task_key"]).to_list()
    public = (tasks["suite_name"] == "vimgolf").to_numpy()
    # A twin is as hard as its original, whose best score it does not carry.
    hard = difficulty_of(tasks.assign(best_score=tasks["best_score"].where(public)))
    place_of = {key: place for place, key in enumerate(named)}
    original = np.array([place_of[key] for key in same])
    hard, quirk = hard[original], draw.normal(0, 1.0, (runs, len(tasks)))[:, original]
    middle = datetime.date(2015, 1, 1)
    years = np.array(
        [(day - middle).days / 3650 if isinstance(day, datetime.date) else 0.0 for day in tasks["created"]]
    )[original]
    guessable = draw.random((runs, len(tasks))) < 0.06
    lists = offered(world)
    rights = np.array([len(world.right[key]) for key in named])
    found_anew, best = _found_anew(world, named, same, lists)
    passed: dict[tuple[str, str], np.ndarray] = {}
    keys: dict[tuple[str, str], np.ndarray] = {}
    for name, skill in SKILLS.items():
        me = kind if name == "model" else KINDS[0]
        favourite = draw.dirichlet(np.ones(6), runs)
        seen = np.array([_ordinal(day) <= CUTOFFS[name].toordinal() for day in tasks["created"]])
        for track in ("single", "blind"):
            answer = np.zeros((runs, len(tasks)), dtype=np.int64)
            if me.skill is not None:
                logit = skill + me.skill + 1.2 - 3.2 * hard + quirk - kind.harder * years
                if track == "blind":
                    logit = np.where(guessable, -0.5, -6.0)
                able = (
                    (draw.random(answer.shape) < 1 / (1 + np.exp(-logit)))
                    & (rights > 0)
                    & (rights[original] > 0)
                )
                anew = draw.random(answer.shape) < np.minimum(0.9, me.finds * found_anew)
                for place in range(len(tasks)):
                    if rights[place]:
                        weights = np.cumsum(favourite[:, : rights[place]], axis=1)
                        chosen = (draw.random((runs, 1)) * weights[:, -1:] > weights).sum(axis=1)
                        own = np.where(anew[:, place], best[place], 1 + np.minimum(chosen, rights[place] - 1))
                        answer[:, place] = np.where(able[:, place], own, 0)
            if me.memory is not None:
                chance = np.where(seen, me.memory(tasks), 0.0)
                recalls = draw.random(answer.shape) < chance
                for place in range(len(tasks)):
                    known = len(world.published.get(same[place], ()))
                    if known and (me.sees_through or same[place] == named[place]):
                        which = 1 + rights[place] + draw.integers(0, known, runs)
                        answer[:, place] = np.where(recalls[:, place], which, answer[:, place])
            works = [
                np.array([world.passes.get((key, one), False) for one in group])
                for key, group in zip(named, lists, strict=True)
            ]
            keys[name, track] = answer
            passed[name, track] = np.stack(
                [works[place][answer[:, place]] for place in range(len(tasks))], axis=1
            )
    return Answers(passed, keys)


def _ordinal(day: object) -> int:
    """Day number; one that is not known is as old as VimGolf."""
    return day.toordinal() if isinstance(day, datetime.date) else datetime.date(2011, 1, 1).toordinal()


def _found_anew(
    world: World, named: Sequence[str], same: Sequence[str], lists: Sequence[Sequence[str]]
) -> tuple[np.ndarray, np.ndarray]:
    """By task, the chance that skill finds the shortest published solution anew, and its number."""
    chances, numbers = np.zeros(len(named)), np.zeros(len(named), dtype=np.int64)
    for place, (key, original) in enumerate(zip(named, same, strict=True)):
        works = [one for one in world.published.get(original, ()) if world.passes.get((key, one))]
        if works:
            best = min(works, key=lambda one: notation.count(one, GOLF))
            chances[place] = 0.5 * np.exp(-(notation.count(best, GOLF) - 6) / 6)
            numbers[place] = lists[place].index(best)
    return chances, numbers


# --- what the tests say --------------------------------------------------------------------------


def _shuffled(xs: np.ndarray, ys: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`within.slope` for many runs at once: effect and p. xs: rows, tasks; ys: rows, runs, tasks."""
    groups = within.strata(scores)
    left_x = within._residual(xs, groups, scores)
    size = float((xs * left_x).sum())
    orders = within._shuffles(tuple(groups.tolist()), 0, within.RESAMPLES)
    value, drawn = np.zeros(ys.shape[1]), np.zeros((within.RESAMPLES, ys.shape[1]))
    for x, y in zip(xs, ys, strict=True):
        left = within._residual(y, groups, scores)
        value += left @ x
        drawn += x[orders] @ left.T
    p = ((np.abs(drawn) >= np.abs(value) - 1e-9).sum(axis=0) + 1) / (within.RESAMPLES + 1)
    return value / size, p


def _correlated(x: np.ndarray, ys: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`within.correlation` for many runs at once. ys: runs, tasks."""
    groups = within.strata(scores)
    rx = within._ranks_left(x[None], groups, scores)[0]
    ry = within._ranks_left(ys, groups, scores)
    size = np.sqrt((rx**2).sum() * (ry**2).sum(axis=1))
    value = ry @ rx / size
    drawn = rx[within._shuffles(tuple(groups.tolist()), 0, within.RESAMPLES)] @ ry.T / size
    return value, ((np.abs(drawn) >= np.abs(value) - 1e-9).sum(axis=0) + 1) / (within.RESAMPLES + 1)


def _flipped(gaps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`sign_flip` for many runs at once; gaps: runs, tasks, 0 where a task is not compared."""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (9999, gaps.shape[1]))
    total = gaps.sum(axis=1)
    extreme = (np.abs(signs @ gaps.T) >= np.abs(total) - 1e-9).sum(axis=0)
    return total, (extreme + 1) / 10000


def study(world: World, kind: Kind, runs: int) -> pd.DataFrame:
    """One row a simulated run and line: effect and p, as `contamination.evidence` finds them (`check`)."""
    answers = simulate(world, kind, runs)
    tasks = world.tasks
    suite = tasks["suite_name"].to_numpy()
    public = suite == "vimgolf"
    mine = answers.passed["model", "single"].astype(float)
    others = [answers.passed[name, "single"].astype(float) for name in SKILLS if name != "model"]
    found: dict[Evidence, tuple[np.ndarray, np.ndarray]] = {}

    dated = public & np.array([isinstance(day, datetime.date) for day in tasks["created"]])
    days = np.array([_ordinal(day) for day in tasks["created"]])[dated]
    scores = difficulty_of(tasks[dated])
    own = CUTOFFS["model"].toordinal()
    found[Evidence.AGE] = _shuffled((days <= own)[None].astype(float), mine[None][:, :, dated], scores)
    between = []
    for name in SKILLS:
        if name != "model":
            low, high = sorted((own, CUTOFFS[name].toordinal()))
            between.append(
                np.where((days > low) & (days <= high), np.sign(own - CUTOFFS[name].toordinal()), 0.0)
            )
    leads = np.stack([(mine - other)[:, dated] for other in others])
    found[Evidence.AGE_OTHERS] = _shuffled(np.array(between), leads, scores)

    for kind_, column in ((Evidence.ENTRIES, "entries"), (Evidence.GOLFERS, "golfers")):
        known = public & tasks[column].notna().to_numpy()
        found[kind_] = _correlated(
            tasks.loc[known, column].to_numpy(float), mine[:, known], difficulty_of(tasks[known])
        )

    likeness = similarities(world)
    level = np.full((len(others), *mine.shape), np.nan)
    for number, name in enumerate(one for one in SKILLS if one != "model"):
        level[number] = _looked_up(likeness, answers.keys[name, "single"])
        level[number][~answers.passed[name, "single"]] = np.nan
    ours = np.where(
        answers.passed["model", "single"], _looked_up(likeness, answers.keys["model", "single"]), np.nan
    )
    count = (~np.isnan(level)).sum(axis=0)
    theirs = np.where(count > 0, np.nansum(level, axis=0) / np.maximum(count, 1), np.nan)
    gaps = (ours - theirs)[:, public]
    enough = (~np.isnan(gaps)).sum(axis=1) >= 6
    effect, p = _flipped(np.nan_to_num(gaps))
    found[Evidence.OVERLAP] = np.where(enough, effect, np.nan), np.where(enough, p, np.nan)

    place_of = {key: place for place, key in enumerate(tasks["task_key"])}
    twins = np.flatnonzero(suite == "twins-of-vimgolf")
    originals = np.array([place_of[key] for key in tasks["twin_of"].iloc[twins]])
    apart = mine[:, originals] - mine[:, twins]
    exact = [mcnemar(int((row > 0).sum()), int((row < 0).sum())) for row in apart]
    found[Evidence.TWINS] = apart.mean(axis=1), np.array(exact)

    guesses = np.mean(
        [answers.passed[name, "blind"].astype(float) for name in SKILLS if name != "model"], axis=0
    )
    blind = answers.passed["model", "blind"].astype(float)
    effect, p = _flipped((blind - guesses)[:, public])
    any_passed = blind[:, public].any(axis=1)
    found[Evidence.BLIND] = np.where(any_passed, effect, np.nan), np.where(any_passed, p, np.nan)

    asked = public | (suite == "fresh")
    scores = difficulty_of(tasks[asked].assign(best_score=pd.NA))
    found[Evidence.FRESH] = _shuffled(public[asked][None].astype(float), mine[None][:, :, asked], scores)

    rates = mine[:, public].mean(axis=1)
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "kind": kind.name,
                    "number": range(runs),
                    "evidence": str(one),
                    "effect": effect,
                    "p": np.where(mine[:, public].any(axis=1), p, np.nan),
                    "rate": rates,
                }
            )
            for one, (effect, p) in found.items()
        ],
        ignore_index=True,
    )


def similarities(world: World) -> list[np.ndarray]:
    """By task of the world, of each answer that is offered the similarity to the published solutions."""
    made = []
    for row, group in zip(world.tasks.to_dict("records"), offered(world), strict=True):
        own = world.published.get(str(row["task_key"]), ())
        text = "\n".join([str(row["start"]), str(row["target"]), str(row["instruction"]), *EXAMPLES])
        bares = [bare(normal(one), text) for one in own]
        made.append(
            np.array(
                [
                    max((similarity(bare(normal(one), text), known) for known in bares), default=np.nan)
                    for one in group
                ]
            )
        )
    return made


def _looked_up(values: Sequence[np.ndarray], answers: np.ndarray) -> np.ndarray:
    return np.stack([group[answers[:, place]] for place, group in enumerate(values)], axis=1)


def check(world: World, kind: Kind, runs: int) -> float:
    """The largest difference of p between the first run of `study` and `contamination.evidence` about it."""
    answers = simulate(world, kind, runs)
    lists = offered(world)
    tasks = world.tasks
    public = (tasks["suite_name"] == "vimgolf").to_numpy()
    frames = []
    for (name, track), passed in answers.passed.items():
        chosen = public if track == "blind" else np.ones(len(tasks), dtype=bool)
        keys = [lists[place][answers.keys[name, track][0, place]] for place in range(len(tasks))]
        frames.append(
            tasks.assign(
                kind="model", protocol="golf", prompt_version=None, settings="{}", epoch=1, scored=True,
                run_id=f"{name}-{track}", name=name, track=track, keys=keys, passed=passed[0],
                correct=passed[0],
            )[chosen]
        )  # fmt: skip
    frame = pd.concat(frames, ignore_index=True)
    (subject,) = [one for one in contamination.subjects(frame) if one.name == "model"]
    everyone = contamination.public(frame[frame["track"] == "single"])
    near = contamination.overlaps(contamination.public(subject.of(frame)), everyone, world.solutions)
    lines = contamination.evidence(frame, subject, near, CUTOFFS, alpha=ALPHA).set_index("evidence")["p"]
    quick = study(world, kind, runs)
    first = quick[quick["number"] == 0].set_index("evidence")["p"]
    apart = (lines.reindex(first.index) - first).abs()
    return float(apart.max())


def margin(runs: int) -> float:
    """The share of false alarms that a test of level `ALPHA` exceeds in one simulation of a hundred."""
    return float(binom.ppf(0.99, runs, ALPHA)) / runs


def summary(found: pd.DataFrame) -> pd.DataFrame:
    """By kind and line, the shares of runs with p at most alpha, and other numbers."""
    by_run = found.pivot(index=["kind", "number"], columns="evidence", values="p")
    holm = by_run.apply(lambda row: pd.Series(_holm(row.to_numpy(float)), index=row.index), axis=1)
    fixed = holm.stack(future_stack=True).rename("p_corrected").reset_index()
    tested = found.merge(fixed, on=["kind", "number", "evidence"]).assign(
        alarm=lambda one: (one["p"] <= ALPHA) & (one["effect"] > 0),
        wrong=lambda one: one["p"] <= ALPHA,
        found=lambda one: (one["p_corrected"] <= ALPHA) & (one["effect"] > 0),
        tested=lambda one: one["p"].notna(),
    )
    grouped = tested.groupby(["kind", "evidence"], sort=False)
    return grouped.agg(
        tested=("tested", "sum"), alarm=("alarm", "mean"), wrong=("wrong", "mean"), found=("found", "mean"),
        rate=("rate", "mean"),
    ).reset_index()  # fmt: skip


def _holm(p: np.ndarray) -> np.ndarray:
    """`stats.holm` without loading its library a thousand times over."""
    made = np.full(len(p), np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known])]
    made[order] = np.minimum(1, np.maximum.accumulate(p[order] * (len(order) - np.arange(len(order)))))
    return made


def percent(share: float, digits: int) -> str:
    """A share in words."""
    return f"{100 * share:.{digits}f} %"


def tables(shares: pd.DataFrame, runs: int) -> str:
    """The tables of docs/contamination.md."""
    kinds = [kind.name for kind in KINDS]
    lines = [str(one) for one in Evidence if one is not Evidence.OVERLAP_CHANCE]

    def table(column: str, chosen: Sequence[str]) -> Iterable[str]:
        yield "| line | " + " | ".join(chosen) + " |"
        yield "| --- |" + " --- |" * len(chosen)
        for line in lines:
            cells = []
            for kind in chosen:
                row = shares[(shares["kind"] == kind) & (shares["evidence"] == line)].iloc[0]
                cells.append("no test" if row["tested"] == 0 else percent(row[column], 1))
            yield f"| {line} | " + " | ".join(cells) + " |"

    rates = shares.groupby("kind", sort=False)["rate"].first()
    text = [
        f"Share of {runs} simulated runs in which p is at most {ALPHA} and the effect positive:",
        "",
        *table("alarm", kinds),
        "| pass rate on the challenges | "
        + " | ".join(f"{rates[kind]:.0%}".replace("%", " %") for kind in kinds)
        + " |",
        "",
        f"Share in which p is at most {ALPHA}, whatever the direction (a test of that level stays at or "
        f"below {percent(margin(runs), 1)} in 99 of 100 such simulations):",
        "",
        *table("wrong", kinds[:3]),
        "",
        "Share in which the page says `some` or `strong`, after the correction for the number of lines:",
        "",
        *table("found", kinds),
    ]
    return "\n".join(text) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study and print its tables; 1 if an honest model is accused more often than alpha allows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--cache", type=Path, default=Path("data/cache/replays.sqlite"))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    if not SHARED.is_dir():
        print(f"needs the public challenges: no folder {SHARED}", file=sys.stderr)
        return 3
    began = time.perf_counter()
    world = build(options.cache)
    print(f"{world.replays} replays, {time.perf_counter() - began:.0f} s", file=sys.stderr)
    apart = check(world, KINDS[-2], 3)
    print(f"p values as the analysis finds them, to within {apart:.3f}", file=sys.stderr)
    found = []
    for kind in KINDS:
        found.append(study(world, kind, options.runs))
        print(f"{kind.name}: {time.perf_counter() - began:.0f} s", file=sys.stderr)
    shares = summary(pd.concat(found, ignore_index=True))
    text = tables(shares, options.runs)
    if options.out is not None:
        options.out.write_text(text, encoding="utf-8")
    print(text)
    print(shares.to_string(), file=sys.stderr)
    honest = shares[(shares["kind"] == "honest") & (shares["tested"] > 0)]
    return int((honest["wrong"] > margin(options.runs)).any() or apart > 0.05)


if __name__ == "__main__":
    raise SystemExit(main())
