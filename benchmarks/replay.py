"""What a replay costs: ours against the bare Vim, vimbench's way, and inspect_evals' verifier.

    python benchmarks/replay.py [--pairs 576] [--rounds 3] [--sample 24]

Prints one table with ratios, all measured in this one run, the rows of a round in turn so that
a drift of the machine's speed hits all alike:

(a) ours: confined, scored, kept in the cache and stored in DuckDB, one process a core;
(b) the floor: the same Vim command lines, without probe, started bare in a loop on as many cores,
    the buffers written beforehand, nothing read back;
(c) vimbench's way: a temporary folder and `subprocess.run` with a timeout, one at a time;
(d) inspect_evals' own verifier, as a process of its own for each answer, on as many cores:
    needs `pip install "inspect-evals[vimgolf_challenges]"`; on a sample, since it waits by design.

The pairs are the seed suite's tasks answered by the solvers that edit (a wrong answer costs its
scorer more than Vim, which is another question), with a line that makes each buffer
a new one so that nothing comes from a cache. The model's answers are the `model` rows of
../shared/data, where that is there.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import multiprocessing
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from vimlib import keys as notation
from vimlib.judge import judge
from vimlib.records import Attempt, AttemptStatus, Protocol, Run, RunKind, Suite, Task
from vimlib.replay import cores, find_vim, protocols
from vimlib.solvers import SOLVERS
from vimlib.store import replacing
from vimlib.suites import build_suite, load_suite

SHARED = Path(__file__).resolve().parents[1].parent / "shared" / "data"
MEMORY = Path("/dev/shm")
ENVIRONMENT = {
    "HOME": "/nonexistent",
    "LANG": "C.UTF-8",
    "TERM": "dumb",
    "TZ": "UTC",
    "PATH": "/usr/bin:/bin",
}
Pair = tuple[str, str, str]
"""start, target, keys"""


def seed_pairs(count: int, protocol: Protocol) -> list[Pair]:
    """Distinct pairs whose answers quit: the seed suite answered by every solver, over and over."""
    pairs: list[Pair] = []
    number = 0
    while len(pairs) < count:
        for task in load_suite("seed").tasks:
            for name, solve in SOLVERS.items():
                if name != "noop" and (answer := solve(task, protocol)):
                    pairs.append((f"{task.start}{number}\n", f"{task.target}{number}\n", answer))
        number += 1
    random.Random(0).shuffle(pairs)
    return pairs[:count]


def model_pairs() -> list[Pair]:
    """What a small model answered: mostly no keystrokes at all, and hardly ever a save."""
    folder = SHARED / "vimgolf"
    if not folder.exists():
        return []
    challenges = {row["id"]: row for row in map(json.loads, (folder / "challenges.jsonl").open())}
    rows = [row for row in map(json.loads, (folder / "peer_verdicts.jsonl").open()) if row["kind"] == "model"]
    return [
        (challenges[row["challenge_id"]]["input"], challenges[row["challenge_id"]]["target"], row["keys"])
        for row in rows
    ]


def ours(pairs: Sequence[Pair], protocol: Protocol, folder: Path) -> None:
    """(a): judge the pairs as one run of one suite, and store all of it in a new database."""
    tasks = [Task(str(place), start, target) for place, (start, target, _) in enumerate(pairs)]
    suite: Suite = build_suite("benchmark", tasks, (protocol,), origin="benchmark")
    attempts = tuple(
        Attempt(str(place), 1, 1, AttemptStatus.ANSWERED, completion=answer, keys=answer)
        for place, (_, _, answer) in enumerate(pairs)
    )
    run = Run("benchmark", RunKind.SOLVER, "benchmark", suite.hash, protocol, attempts)
    judgement = judge([run], [suite], cache=folder / "replays.sqlite")
    with replacing(folder / "store.duckdb") as writer:
        writer.add_suite(suite)
        writer.add_run(run)
        writer.add_replays(judgement.replays.values())
        writer.add_scores(
            run,
            [(one.attempt, one.replay and one.replay.key, one.score) for one in judgement.runs[0].verdicts],
        )


def bare_arguments(protocol: Protocol, keys: str, folder: Path) -> list[str]:
    """The command line of a protocol, without our probe."""
    buffer = str(folder / "input.txt")
    if protocol is Protocol.GOLF:
        return [
            *("vim", "-Z", "-n", "--noplugin", "--not-a-term", "-i", "NONE", "+0"),
            *("-u", str(protocols.golf_vimrc()), "-U", "NONE"),
            f'+call feedkeys("{notation.feedkeys_argument(keys)}", "t")',
            *("--nofork", buffer),
        ]
    return [
        *("vim", "-u", "NONE", "-N", "-n", "--not-a-term", "--cmd", "set shell=/bin/false"),
        *("-s", str(folder / "keys"), buffer),
    ]


def prepare(pairs: Sequence[Pair], protocol: Protocol, folder: Path) -> list[list[str]]:
    """Write buffers and keys, and return the command lines that work on them."""
    commands = []
    for place, (start, _, keys) in enumerate(pairs):
        own = folder / str(place)
        own.mkdir()
        (own / "input.txt").write_text(protocol.formatted(start))
        if protocol is Protocol.BENCH:
            (own / "keys").write_bytes(notation.expand(keys) + b"\x1b:wq!\r")
        commands.append(bare_arguments(protocol, keys, own))
    return commands


def start_each(commands: Sequence[list[str]]) -> None:
    """(b): start the commands one after the other and wait for each."""
    path = str(find_vim().path)
    reader, _ = os.pipe()
    null = os.open(os.devnull, os.O_WRONLY)
    actions = [
        (os.POSIX_SPAWN_DUP2, reader, 0),
        (os.POSIX_SPAWN_DUP2, null, 1),
        (os.POSIX_SPAWN_DUP2, null, 2),
    ]
    for command in commands:
        home = {"HOME": os.path.dirname(command[-1])}  # for .viminfo, as every replay of ours has its own
        os.waitpid(os.posix_spawn(path, command, ENVIRONMENT | home, file_actions=actions), 0)


def on_all_cores(work: Callable[[Sequence[list[str]]], None], commands: Sequence[list[str]]) -> None:
    """Split the commands over as many processes as there are cores."""
    context = multiprocessing.get_context("fork")
    parts = [context.Process(target=work, args=(commands[place :: cores()],)) for place in range(cores())]
    for part in parts:
        part.start()
    for part in parts:
        part.join()


def vimbench_way(pairs: Sequence[Pair]) -> None:
    """(c): as vimbench runs a task, written anew from its description."""
    for start, target, keys in pairs:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "buffer.txt").write_text(start)
            (folder / "keys").write_bytes(notation.expand(keys) + b"\x1b:wq!\r")
            command = ["vim", "-u", "NONE", "-N", "-n", "--cmd", "set shell=/bin/false", "-s"]
            subprocess.run(
                [*command, str(folder / "keys"), str(folder / "buffer.txt")],
                env={**os.environ, "TERM": "dumb"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=10,
                check=False,
            )
            assert isinstance((folder / "buffer.txt").read_text() == target, bool)


def verifier() -> Path | None:
    """(d): inspect_evals' verifier, a script that runs by itself; None: not installed."""
    found = importlib.util.find_spec("inspect_evals")
    if found is None or found.submodule_search_locations is None:
        return None
    return Path(found.submodule_search_locations[0]) / "vimgolf_challenges" / "vimgolf_verifier.py"


def prepare_verifier(pairs: Sequence[Pair], script: Path, folder: Path) -> list[list[str]]:
    """Write what the verifier reads, and return its command lines."""
    commands = []
    for place, (start, _, keys) in enumerate(pairs):
        (folder / f"{place}.txt").write_text(Protocol.GOLF.formatted(start))
        (folder / f"{place}.keys").write_text(keys)
        files = [
            "--input_content",
            str(folder / f"{place}.txt"),
            "--solution_keys",
            str(folder / f"{place}.keys"),
        ]
        commands.append([sys.executable, str(script), "single_shot", *files, "--load_from_path"])
    return commands


def verify_each(commands: Sequence[list[str]]) -> None:
    """(d): run the commands one after the other."""
    for command in commands:
        # Its vim must not read this terminal; like in the benchmark's own container there is none.
        reader, writer = os.pipe()
        subprocess.run(command, stdin=reader, capture_output=True, check=False)
        os.close(reader)
        os.close(writer)


def timed(work: Callable[[Path], None]) -> float:
    """Seconds of `work`, which is given an empty folder."""
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir=MEMORY if MEMORY.is_dir() else None))
    try:
        began = time.perf_counter()
        work(folder)
        return time.perf_counter() - began
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def timed_bare(pairs: Sequence[Pair], protocol: Protocol) -> float:
    """Seconds of (b), without the writing of its buffers."""
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir=MEMORY if MEMORY.is_dir() else None))
    try:
        commands = prepare(pairs, protocol, folder)
        began = time.perf_counter()
        on_all_cores(start_each, commands)
        return time.perf_counter() - began
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def timed_verifier(pairs: Sequence[Pair], script: Path) -> float:
    """Seconds of (d), likewise."""
    with tempfile.TemporaryDirectory() as name:
        commands = prepare_verifier(pairs, script, Path(name))
        began = time.perf_counter()
        on_all_cores(verify_each, commands)
        return time.perf_counter() - began


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--pairs", type=int, default=1152, help="distinct replays of each protocol (%(default)s)"
    )
    parser.add_argument("--rounds", type=int, default=3, help="rounds, medians are printed (%(default)s)")
    parser.add_argument("--sample", type=int, default=24, help="answers given to the verifier (%(default)s)")
    options = parser.parse_args()
    seconds: dict[tuple[str, str], list[float]] = {}

    def note(row: str, what: str, count: int, took: float) -> None:
        seconds.setdefault((row, what), []).append(took / count)

    golf, bench = (seed_pairs(options.pairs, protocol) for protocol in (Protocol.GOLF, Protocol.BENCH))
    models = model_pairs()
    for _ in range(options.rounds):
        for what, protocol, pairs in (("golf", Protocol.GOLF, golf), ("bench", Protocol.BENCH, bench)):
            note("a", what, len(pairs), timed(lambda folder, p=pairs, o=protocol: ours(p, o, folder)))  # type: ignore[misc]
            note("b", what, len(pairs), timed_bare(pairs, protocol))
        note("c", "bench", len(bench), timed(lambda _: vimbench_way(bench)))
        if models:
            note("a", "model answers", len(models), timed(lambda folder: ours(models, Protocol.GOLF, folder)))
    script = verifier()
    if script is not None:
        note("d", "golf", options.sample, timed_verifier(golf[: options.sample], script))
        if models:
            sample = random.Random(1).sample(models, options.sample)
            note("d", "model answers", options.sample, timed_verifier(sample, script))

    vim = find_vim().build
    print(f"{platform.machine()}, {cores()} cores, Linux {platform.release()}, Vim {vim.version}, ", end="")
    print(f"Python {platform.python_version()}; {options.pairs} pairs, {options.rounds} rounds, medians")
    print(f"{'':34}{'ms a replay':>12}  {'ratio':>8}  bar")
    median = {place: statistics.median(values) * 1000 for place, values in seconds.items()}
    names = {
        "a": "(a) ours, confined and stored",
        "b": "(b) bare Vim",
        "c": "(c) vimbench's way",
        "d": "(d) inspect_evals' verifier",
    }
    bars = {
        ("b", "golf"): ("a/b", 1.25, False),
        ("b", "bench"): ("a/b", 1.35, False),
        ("c", "bench"): ("c/a", 4.0, True),
        ("d", "golf"): ("d/a", 150.0, True),
        ("d", "model answers"): ("d/a", 500.0, True),
    }
    for (row, what), value in sorted(median.items(), key=lambda item: (item[0][1], item[0][0])):
        line = f"{what:14}{names[row]:32}{value:8.2f}"
        if (row, what) in bars:
            label, bar, larger = bars[row, what]
            ratio = value / median["a", what] if larger else median["a", what] / value
            met = ratio >= bar if larger else ratio <= bar
            line += f"  {label} {ratio:7.2f}  {'>=' if larger else '<='} {bar:g} {'met' if met else 'missed'}"
        print(line)
    if script is None:
        print('(d) is not measured: pip install "inspect-evals[vimgolf_challenges]"')
    if not models:
        print("model answers are not measured: ../shared/data is not there")


if __name__ == "__main__":
    main()
