"""What the store costs: attempts stored, a run more, and every question that the reports ask.

    python benchmarks/store.py [--attempts 10000 100000 1000000] [--keep FOLDER]

For each size it makes runs of 1,000 tasks and 5 epochs (200 runs at one million attempts), stores them
as a load does once all is judged, adds a run of 1,000 attempts as a second load, asks every view with
`store.query` as the reports do, exports one run to Parquet, and prints one table. Nothing is replayed:
what Vim costs is `benchmarks/replay.py`'s question.

Memory is the peak of the whole process, and each size runs in a process of its own. Completions are
of 100 to 1,500 characters, a twentieth of the attempts are provider errors, and twenty answers to a
task recur from run to run, as those of models do.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import multiprocessing
import os
import platform
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb

from vimlib import store
from vimlib.analysis import overview
from vimlib.records import (
    Attempt,
    AttemptStatus,
    Cost,
    CostKind,
    Failure,
    FailureMode,
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
from vimlib.store import Writer, connect, replacing
from vimlib.suites import build_suite

TASKS, EPOCHS, ANSWERS = 1_000, 5, 20
BY_RUN = (
    "attempts_joined",
    "attempts_scored",
    "answers_replayed",
    "answers_traced",
    "attempts_priced",
    "failures_classified",
)
"""Views of the grain of an attempt, asked by run; the sums over all runs are views of their own."""
WHOLE = ("attempts_scored", "answers_traced", "attempts_priced")
"""Those that a page asks for all runs at once where the report names none: every attempt becomes a row of a
frame, which is beyond the bar at a million, and linear."""
BARS = {"load": 120.0, "memory": 2e9, "a run more": 3.0, "query": 1.0}
"""Seconds and bytes on two cores at one million attempts."""
BUILD = VimBuild("9.0.1378", hashlib.sha256(b"vim").hexdigest())
BEGUN = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
FINGERPRINT = hashlib.sha256(b"bench").hexdigest()


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured at one size. Seconds and bytes."""

    attempts: int
    load: float
    load_cpu: float
    """Processor time of all threads, which other work on the machine does not lengthen."""
    memory: int
    size: int
    a_run_more: float
    queries: dict[str, tuple[float, float]]
    """Wall and processor seconds."""
    pages: dict[str, tuple[float, float]]


def suite() -> Suite:
    """A thousand tasks."""
    tasks = [
        Task(
            id=f"task-{number:04}",
            start=f"{number} start\n" * 20,
            target=f"{number} target\n" * 20,
            instruction="Change every line.",
            title=f"Task {number}",
            tier=1 + number % 4,
            reference=":%s/start/target<CR>ZZ",
        )
        for number in range(TASKS)
    ]
    return build_suite("large", tasks, (Protocol.BENCH,), origin="made here")


def replays(tasks: Suite) -> Iterator[Replay]:
    """Every recurring answer played."""
    outcomes = (Outcome.FINISHED, Outcome.FINISHED, Outcome.FINISHED, Outcome.UNFINISHED, Outcome.TIMEOUT)
    for task in tasks.tasks:
        for answer in range(ANSWERS):
            yield Replay(
                key=replay_key(task.id, answer),
                outcome=outcomes[answer % len(outcomes)],
                final=(task.target if answer % 3 == 0 else task.start).encode(),
                wall_seconds=0.004,
                confinement="namespaces+seccomp",
                vim=BUILD,
                cpu_seconds=0.003,
                mode="n",
                cursor=(1, 1),
            )


def replay_key(task_id: str, answer: int) -> str:
    """Key of the replay of a recurring answer."""
    return hashlib.sha256(f"{task_id} {answer}".encode()).hexdigest()


def a_run(tasks: Suite, number: int, epochs: int) -> tuple[Run, dict[Attempt, int]]:
    """A run, and which of the recurring answers each attempt is."""
    draw = random.Random(number)
    name = f"provider/model-{number:03}"
    attempts: dict[Attempt, int] = {}
    for task in tasks.tasks:
        for epoch in range(1, epochs + 1):
            answer = draw.randrange(ANSWERS)
            failed = draw.random() < 0.05
            words = draw.randrange(100, 1_500) // 12
            spent = 300 + words
            attempt = Attempt(
                task_id=task.id,
                epoch=epoch,
                attempt=1,
                status=AttemptStatus.PROVIDER_ERROR if failed else AttemptStatus.ANSWERED,
                completion=None if failed else f"{answer:02} " + "some reason " * words + "\n:%s/a/b<CR>ZZ",
                keys=None if failed else f":%s/a/{answer}<CR>ZZ",
                stop_reason=None if failed else "stop",
                error="the provider is down" if failed else None,
                usage=TokenUsage()
                if failed
                else TokenUsage(input_tokens=250, output_tokens=spent, total_tokens=250 + spent),
                seconds=None if failed else draw.random() * 10,
                source_correct=None if failed else answer % 3 == 0,
                source_id=f"{number}-{task.id}-{epoch}",
            )
            attempts[attempt] = answer
    source = hashlib.sha256(name.encode()).hexdigest()
    run = Run(
        id=f"inspect:{number:06}",
        kind=RunKind.MODEL,
        name=name,
        suite_hash=tasks.hash,
        protocol=Protocol.BENCH,
        attempts=tuple(attempts),
        source=f"{number}.eval",
        source_sha256=source,
        extraction="bench/first-fence-1",
        created=BEGUN + datetime.timedelta(hours=number),
        settings={"temperature": 0.0, "max_tokens": 512},
    )
    return run, attempts


def write(writer: Writer, run: Run, answers: dict[Attempt, int]) -> None:
    """Store a run as a load does: attempts, verdicts, costs, reasons of failure."""
    writer.add_run(run)
    answered = [(one, answer) for one, answer in answers.items() if one.keys is not None]
    writer.add_scores(
        run,
        [(one, replay_key(one.task_id, answer), verdict(passed=answer % 3 == 0)) for one, answer in answered],
        fingerprint=FINGERPRINT,
    )
    writer.add_costs(
        run, [(one, Cost(CostKind.ESTIMATED, 0.001, 0.001, 0.001, source="prices")) for one, _ in answered]
    )
    wrong = Failure(FailureMode.WRONG_EDIT, (), {"partial": 0.4})
    writer.add_failures(run, [(one, wrong, None) for one, answer in answered if answer % 3])


def verdict(*, passed: bool) -> Score:
    """A score that fits a pass or a failure."""
    return Score(passed, passed, 1.0 if passed else 0.4, 0.8 if passed else 0.0, 12, None, passed)


def measure(attempts: int, folder: Path) -> Figures:
    """Everything at one size."""
    path = folder / f"{attempts}.duckdb"
    path.unlink(missing_ok=True)
    tasks = suite()
    number = max(1, attempts // (TASKS * EPOCHS))
    epochs = min(EPOCHS, attempts // TASKS)
    making = making_cpu = 0.0
    begun, begun_cpu = time.perf_counter(), time.process_time()
    with replacing(path) as writer:
        writer.add_suite(tasks)
        writer.add_replays(replays(tasks))
        for which in range(number):
            began, began_cpu = time.perf_counter(), time.process_time()
            made = a_run(tasks, which, epochs)
            making += time.perf_counter() - began
            making_cpu += time.process_time() - began_cpu
            write(writer, *made)
    load = time.perf_counter() - begun - making
    load_cpu = time.process_time() - begun_cpu - making_cpu
    size = path.stat().st_size
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    more = a_run(tasks, 999_999, 1)
    begun = time.perf_counter()
    with replacing(path) as writer:
        writer.add_suite(tasks)
        write(writer, *more)
    a_run_more = time.perf_counter() - begun
    queries, pages = {}, {}
    with connect(path) as con:
        for view in store.VIEWS:
            # As the pages ask that show some runs; the page of contamination takes all where none are named.
            one = {"run_id": "inspect:000000"} if view in BY_RUN else {}
            queries[view] = asked(con, view, **one)
        for view in WHOLE:
            pages[f"that takes all {view}"] = asked(con, view)
        for name, frame in (("overview", overview.overview), ("by_tier", overview.by_tier)):
            pages[name] = timed(lambda frame=frame: frame(con))
    return Figures(number * TASKS * epochs, load, load_cpu, memory, size, a_run_more, queries, pages)


def asked(con: store.Connection, view: str, **parameters: str) -> tuple[float, float]:
    """A view asked as the reports ask it."""
    return timed(lambda: store.query(con, view, **parameters))


def timed(call: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor seconds of a call."""
    begun, begun_cpu = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - begun, time.process_time() - begun_cpu


def both(seconds: tuple[float, float]) -> str:
    """Wall and processor seconds for the table."""
    return f"{seconds[0]:.2f} ({seconds[1]:.2f})"


def alone(attempts: int, folder: Path) -> Figures:
    """Measured in a process of its own, so that memory is its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measure, (attempts, folder))


def main() -> None:
    """Measure every size and print the table."""
    parser = argparse.ArgumentParser(description="What the store costs.")
    parser.add_argument("--attempts", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--keep", type=Path, help="folder to keep the stores in")
    options = parser.parse_args()
    print(
        f"{datetime.date.today()}, {os.cpu_count()} cores, {platform.machine()}, Linux {platform.release()}, "
        f"Python {platform.python_version()}, DuckDB {duckdb.__version__}"
    )
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        found = [alone(attempts, folder) for attempts in options.attempts]
    rows = [
        ("attempts", [f"{one.attempts:,}" for one in found]),
        (f"load, s (bar {BARS['load']:.0f})", [f"{one.load:.1f}" for one in found]),
        ("load, processor s", [f"{one.load_cpu:.1f}" for one in found]),
        ("  a thousand attempts, ms", [f"{one.load / one.attempts * 1e6:.0f}" for one in found]),
        (f"peak memory, GB (bar {BARS['memory'] / 1e9:.0f})", [f"{one.memory / 1e9:.2f}" for one in found]),
        ("size on disk, MB", [f"{one.size / 1e6:.0f}" for one in found]),
        (
            f"a run of 1,000 attempts more, s (bar {BARS['a run more']:.0f})",
            [f"{one.a_run_more:.2f}" for one in found],
        ),
        *(
            (
                f"query {view}, s (bar {BARS['query']:.0f}), (processor)",
                [both(one.queries[view]) for one in found],
            )
            for view in found[0].queries
        ),
        *((f"page {name}, s", [both(one.pages[name]) for one in found]) for name in found[0].pages),
    ]
    width = max(len(name) for name, _ in rows)
    for name, cells in rows:
        print(f"{name:{width}}  " + "  ".join(f"{cell:>12}" for cell in cells))


if __name__ == "__main__":
    main()
