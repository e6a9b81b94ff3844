"""What the tests for contamination see, and how often they see what is not there: by simulation.

    python scripts/simulate_contamination.py [--runs 200] [--cache FILE] [--out FILE.md]

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
import gc
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
from vimlib.analysis.contamination.answers import difficulty_of
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
    return World(pd.DataFrame(rows).astype(object), right, by_key, passes, solutions, replays)


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

EMPTY = {
    "kind": "model",
    "protocol": "golf",
    "prompt_version": None,
    "settings": "{}",
    "epoch": 1,
    "scored": True,
}


def simulate(world: World, kind: Kind, number: int) -> pd.DataFrame:
    """The answers of one simulated model and three honest ones, as `answers_traced` has them."""
    draw = np.random.default_rng([KINDS.index(kind), number])
    tasks = world.tasks
    public = tasks["suite_name"] == "vimgolf"
    hard = difficulty_of(tasks.assign(best_score=tasks["best_score"].where(public)))
    # A twin is as hard as its original, whose best score it does not carry.
    same = tasks["twin_of"].fillna(tasks["task_key"]).to_list()
    hard = pd.Series(hard, index=tasks["task_key"]).loc[same].to_numpy(float)
    own_quirk = pd.Series(draw.normal(0, 1.0, len(tasks)), index=tasks["task_key"])
    quirk = own_quirk.loc[same].to_numpy()
    years = np.array(
        [
            (day - datetime.date(2015, 1, 1)).days / 3650 if isinstance(day, datetime.date) else 0.0
            for day in tasks["created"]
        ]
    )
    seen = {
        name: np.array([not isinstance(day, datetime.date) or day <= cutoff for day in tasks["created"]])
        for name, cutoff in CUTOFFS.items()
    }
    named = tasks["task_key"].to_list()
    public_tasks = tasks[public]
    guessable = draw.random(len(tasks)) < 0.06
    frames = []
    for name, skill in SKILLS.items():
        me = kind if name == "model" else KINDS[0]
        ability = None if me.skill is None else skill + me.skill
        favourite = draw.dirichlet(np.ones(6))
        for track in ("single", "blind"):
            asked = public_tasks if track == "blind" else tasks
            places = np.flatnonzero(public) if track == "blind" else np.arange(len(tasks))
            keys = np.full(len(tasks), "ZZ", dtype=object)
            if ability is not None:
                logit = ability + 1.2 - 3.2 * hard + quirk - kind.harder * years
                if track == "blind":
                    logit = np.where(guessable, -0.5, -6.0)
                for place in places[draw.random(len(places)) < 1 / (1 + np.exp(-logit[places]))]:
                    keys[place] = by_skill(world, named[place], same[place], me, favourite, draw) or "ZZ"
            if me.memory is not None:
                chance = np.where(seen[name], me.memory(tasks), 0.0)
                for place in places[draw.random(len(places)) < chance[places]]:
                    known = world.published.get(same[place], ())
                    if known and (me.sees_through or same[place] == named[place]):
                        keys[place] = str(draw.choice(list(known)))
            answers = keys[places].tolist()
            frame = asked.assign(
                **EMPTY,
                run_id=f"{name}-{track}",
                name=name,
                track=track,
                keys=answers,
                passed=[
                    world.passes.get((str(key), answer), False)
                    for key, answer in zip(asked["task_key"], answers, strict=True)
                ],
            )
            frames.append(frame.assign(correct=frame["passed"]))
    floor = tasks[tasks["task_key"].map(lambda key: bool(world.right[key]))]
    frames.append(
        floor.assign(
            **{**EMPTY, "kind": "solver"},
            run_id="diff",
            name="diff",
            track="single",
            keys=[world.right[key][0] for key in floor["task_key"]],
            passed=True,
            correct=True,
        )
    )
    return pd.concat(frames, ignore_index=True)


def by_skill(
    world: World, key: str, original: str, kind: Kind, favourite: np.ndarray, draw: np.random.Generator
) -> str | None:
    """The answer of a model that passes by skill: an edit in a style it likes, or a known one found anew."""
    found = [one for one in world.published.get(original, ()) if world.passes.get((key, one))]
    if found:
        best = min(found, key=lambda one: notation.count(one, GOLF))
        chance = min(0.9, kind.finds * 0.5 * np.exp(-(notation.count(best, GOLF) - 6) / 6))
        if draw.random() < chance:
            return best
    own = world.right[key]
    if not own or not world.right[original]:
        return None
    weights = favourite[: len(own)]
    return own[int(draw.choice(len(own), p=weights / weights.sum()))]


# --- what the tests say --------------------------------------------------------------------------


def ask(world: World, answers: pd.DataFrame) -> pd.DataFrame:
    """The lines of evidence about the simulated model."""
    (subject,) = [one for one in contamination.subjects(answers) if one.name == "model"]
    own = contamination.public(subject.of(answers))
    near = contamination.overlaps(
        own, contamination.public(answers[answers["track"] == "single"]), world.solutions
    )
    return contamination.evidence(answers, subject, near, CUTOFFS, alpha=ALPHA)


def study(world: World, kind: Kind, runs: int) -> pd.DataFrame:
    """One row a simulated run and line."""
    rows = []
    for number in range(runs):
        answers = simulate(world, kind, number)
        frame = ask(world, answers)
        own = answers[(answers["name"] == "model") & (answers["track"] == "single")]
        rate = own.loc[own["suite_name"] == "vimgolf", "passed"].mean()
        rows.append(frame.assign(kind=kind.name, number=number, rate=rate))
    return pd.concat(rows, ignore_index=True)


def margin(runs: int) -> float:
    """The share of false alarms that a test of level `ALPHA` exceeds in one simulation of a hundred."""
    return float(binom.ppf(0.99, runs, ALPHA)) / runs


def summary(found: pd.DataFrame) -> pd.DataFrame:
    """By line and kind, the shares of runs with p at most alpha, and other numbers."""
    tested = found.assign(
        alarm=(found["p"] <= ALPHA) & (found["effect"] > 0),
        wrong=found["p"] <= ALPHA,
        tested=found["p"].notna(),
        found=found["finding"].isin(["some", "strong"]),
    )
    grouped = tested.groupby(["kind", "evidence"], sort=False)
    return grouped.agg(
        runs=("number", "nunique"), tested=("tested", "sum"), alarm=("alarm", "mean"),
        wrong=("wrong", "mean"), found=("found", "mean"), effect=("effect", "mean"), n=("n", "mean"),
        detectable=("detectable", "median"), rate=("rate", "mean"),
    ).reset_index()  # fmt: skip


def percent(share: float, digits: int) -> str:
    """A share in words."""
    return f"{100 * share:.{digits}f} %"


def tables(shares: pd.DataFrame, runs: int) -> str:
    """The tables of docs/contamination.md."""
    kinds = [kind.name for kind in KINDS]
    lines = [str(one) for one in contamination.Evidence]

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
        f"Share in which p is at most {ALPHA}, whatever the direction (a test of that level stays below "
        f"{margin(runs):.1%} in 99 of 100 such simulations):",
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
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--cache", type=Path, default=Path("data/cache/replays.sqlite"))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    if not SHARED.is_dir():
        print(f"needs the public challenges: no folder {SHARED}", file=sys.stderr)
        return 3
    began = time.perf_counter()
    world = build(options.cache)
    print(f"{world.replays} replays, {time.perf_counter() - began:.0f} s", file=sys.stderr)
    # The correction of p values collects garbage each time: there should be little to look through.
    gc.collect()
    gc.freeze()
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
    return int((honest["wrong"] > margin(options.runs)).any())


if __name__ == "__main__":
    raise SystemExit(main())
