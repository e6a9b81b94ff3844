"""Small records for tests of the store and of what is built on it."""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from vimlib.records import (
    Attempt,
    AttemptStatus,
    Outcome,
    Protocol,
    Replay,
    Run,
    RunKind,
    Score,
    Suite,
    Task,
    TokenUsage,
    VimBuild,
)
from vimlib.store import Writer, replacing

VIM = VimBuild("9.0.1378", hashlib.sha256(b"vim").hexdigest())


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def make_suite(name: str = "little", tasks: int = 4, tiers: Iterable[int | None] = (1, 2)) -> Suite:
    """Tasks t1, t2, ... whose tiers go round `tiers`."""
    tiers = tuple(tiers)
    made = tuple(
        Task(
            id=f"t{number}",
            start=f"start {number}\n",
            target=f"target {number}\n",
            instruction="edit it",
            tier=tiers[(number - 1) % len(tiers)],
            reference="ihello<Esc>:wq<CR>",
            created=datetime.date(2024, 2, 29),
        )
        for number in range(1, tasks + 1)
    )
    identity = sha256(f"{name}{tasks}")
    return Suite(
        name, "1", identity, made, (Protocol.BENCH, Protocol.GOLF), f"{name}.jsonl", "MIT", sha256(name)
    )


def make_run(suite: Suite, attempts: Iterable[Attempt] | None = None, **fields: Any) -> Run:
    """A model's run; by default one answered attempt a task."""
    if attempts is None:
        attempts = [make_attempt(task.id) for task in suite.tasks]
    given: dict[str, Any] = {
        "id": "run-1",
        "kind": RunKind.MODEL,
        "name": "model-a",
        "suite_hash": suite.hash,
        "protocol": Protocol.BENCH,
        "attempts": tuple(attempts),
        "source": "a.eval",
        "source_sha256": sha256("a.eval"),
        "extraction": "bench/fence-1",
        "created": datetime.datetime(
            2025, 5, 6, 7, 8, 9, tzinfo=datetime.timezone(datetime.timedelta(hours=2))
        ),
        "settings": {"temperature": 0.0, "max_tokens": None},
        "packages": {"inspect_ai": "0.3.285"},
    }
    return Run(**{**given, **fields})


def make_attempt(task_id: str, epoch: int = 1, attempt: int = 1, **fields: Any) -> Attempt:
    given: dict[str, Any] = {
        "status": AttemptStatus.ANSWERED,
        "completion": f"the answer to {task_id}",
        "keys": "x:wq<CR>",
        "usage": TokenUsage(input_tokens=100, output_tokens=10, total_tokens=110),
        "seconds": 1.5,
    }
    return Attempt(task_id, epoch, attempt, **{**given, **fields})


def make_replay(key: str, outcome: Outcome = Outcome.FINISHED, **fields: Any) -> Replay:
    given: dict[str, Any] = {"final": b"target\n", "wall_seconds": 0.01, "confinement": "full", "vim": VIM}
    return Replay(key=key, outcome=outcome, **{**given, **fields})


PASS = Score(True, True, 1.0, 0.5, 8, None, True)
FAIL = Score(False, False, 0.25, 0.0, 8, None, False)
UNSCORED = Score(None, None, None, None, 8, None, None)


def judge(
    writer: Writer, run: Run, verdicts: dict[tuple[str, int, int], tuple[Score, Outcome | None]]
) -> None:
    """Store a verdict on each named attempt, with a replay of its own unless the outcome is None."""
    judged: list[tuple[Attempt, str | None, Score]] = []
    replays: list[Replay] = []
    for attempt in run.attempts:
        place = (attempt.task_id, attempt.epoch, attempt.attempt)
        if place not in verdicts:
            continue
        score, outcome = verdicts[place]
        key = None if outcome is None else sha256(f"{run.id}{place}")
        if key is not None and outcome is not None:
            replays.append(make_replay(key, outcome))
        judged.append((attempt, key, score))
    writer.add_replays(replays)
    writer.add_scores(run, judged, fingerprint="bench-1")


def fill(path: Path, suite: Suite, *runs: Run, score: Score = PASS) -> None:
    """A load of runs whose every answered attempt gets the same verdict."""
    with replacing(path) as writer:
        writer.add_suite(suite)
        for run in runs:
            writer.add_run(run)
            judge(
                writer,
                run,
                {
                    (a.task_id, a.epoch, a.attempt): (score, Outcome.FINISHED)
                    for a in run.attempts
                    if a.status is AttemptStatus.ANSWERED
                },
            )


def renamed(run: Run, **fields: Any) -> Run:
    return dataclasses.replace(run, **fields)


def write_suite(path: Path, tasks: Iterable[Task]) -> Path:
    """A file of tasks in the project's own shape: a suite that is quick to load."""
    fields = ("id", "start", "target", "instruction", "tier", "category", "reference")
    lines = [json.dumps({name: getattr(task, name) for name in fields}) for task in tasks]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
