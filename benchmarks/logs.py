"""What a large Inspect log costs to load: memory first, since a log of thousands of samples is streamed.

    python benchmarks/logs.py [--samples 20000] [--keep FOLDER]

Inspect itself makes a log, with its mock model: 100 tasks of VimGolf's shape in two epochs, each sample with
prompt, transcript, usage and score. Its samples are repeated as further epochs, which takes seconds where
asking takes many minutes, and gives the same entries. Then `vimlib load` loads the log into a new store in a
process of its own. Printed are seconds, and the most memory that the load and the largest of its children
held at any time that was looked at, read from the kernel.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import inspect_ai.log  # which teaches zipfile Zstandard

TASKS, ASKED = 100, 2
BAR = 1e9
"""Bytes for a log of 20,000 samples."""


def asked_log(folder: Path) -> Path:
    """A log of 100 tasks in two epochs, as `inspect eval` writes it."""
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer
    from inspect_ai.solver import TaskState, generate, system_message

    made = 0

    def answer(messages: list[Any], *_: Any) -> ModelOutput:
        nonlocal made
        made += 1
        said = "I look at both buffers first. " * 20 + f"\n\n{made % 5 + 1}ddZZ"
        output = ModelOutput.from_content("mockllm/model", said)
        output.usage = ModelUsage(input_tokens=900, output_tokens=120, total_tokens=1020)
        return output

    @scorer(metrics=[accuracy()], name="vimgolf_scorer")
    def judged() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            return Score(value="I")

        return score

    def sample(number: int) -> Sample:
        lines = [f"line {line} of task {number}\n" for line in range(40)]
        start, target = "".join(lines), "".join(lines[3:])
        return Sample(
            id=f"task-{number:03}",
            input=f"Start:\n{start}\nTarget:\n{target}",
            target=target,
            metadata={"input": start, "detail": f"Task {number}"},
        )

    [log] = eval(
        Task(
            dataset=[sample(number) for number in range(TASKS)],
            solver=[system_message("Answer with keys for Vim. " * 40), generate()],
            scorer=judged(),
            name="vimgolf_single_turn",
            version="2-A",
        ),
        model=get_model("mockllm/model", custom_outputs=answer),
        epochs=ASKED,
        log_dir=str(folder),
        log_format="eval",
        display="none",
    )
    return Path(log.location)


def repeated(log: Path, large: Path, epochs: int) -> Path:
    """The log with its samples again as further epochs, each with an id of its own."""
    with zipfile.ZipFile(log) as small, zipfile.ZipFile(large, "w", zipfile.ZIP_DEFLATED) as written:
        names = [name for name in small.namelist() if name.startswith("samples/")]
        for epoch in range(1, epochs + 1):
            for name in names:
                stem, _, of = name.removesuffix(".json").rpartition("_epoch_")
                if int(of) == (epoch - 1) % ASKED + 1:
                    sample = json.loads(small.read(name)) | {"epoch": epoch, "uuid": f"{stem}-{epoch}"}
                    written.writestr(f"{stem}_epoch_{epoch}.json", json.dumps(sample))
        header = json.loads(small.read("header.json"))
        header["eval"]["config"]["epochs"] = epochs
        written.writestr("header.json", json.dumps(header))
    return large


@dataclass(frozen=True, slots=True)
class Figures:
    """What a load took. Seconds and bytes."""

    seconds: float
    memory: int
    """Of the process itself, at its peak."""
    child: int
    """Of the largest of its children, at its peak."""
    said: str


def load(log: Path, folder: Path) -> Figures:
    """`vimlib load` of one log into a new store, watched from outside."""
    words = ["load", str(log), "--solver", "noop", "--database", str(folder / "store.duckdb")]
    words += ["--cache", str(folder / "replays.sqlite")]
    begun = time.perf_counter()
    with (folder / "said").open("w+", encoding="utf-8") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "vimlib.cli", *words], stdout=said, stderr=subprocess.STDOUT
        )
        own = child = 0
        while process.poll() is None:
            own = max(own, peak(process.pid))
            child = max([child, *(peak(one) for one in below(process.pid))])
            time.sleep(0.05)
        seconds = time.perf_counter() - begun
        said.seek(0)
        told = said.read()
    if process.returncode:
        raise SystemExit(told)
    return Figures(seconds, own, child, told)


def peak(process: int) -> int:
    """Bytes that a process held at most so far; 0: it has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    found = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(found[0].split()[1]) * 1024 if found else 0


def below(process: int) -> list[int]:
    """All descendants of a process."""
    found = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            children = [int(one) for one in task.read_text(encoding="ascii").split()]
        except OSError:
            continue
        for one in children:
            found += [one, *below(one)]
    return found


def main() -> None:
    """Make the log, load it, print what it took."""
    parser = argparse.ArgumentParser(description="What a large Inspect log costs to load.")
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--keep", type=Path, help="folder to keep the log and the store in")
    options = parser.parse_args()
    print(
        f"{datetime.date.today()}, {os.cpu_count()} cores, {platform.machine()}, Linux {platform.release()}, "
        f"Python {platform.python_version()}, inspect_ai {inspect_ai.__version__}"
    )
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        begun = time.perf_counter()
        log = repeated(asked_log(folder), folder / "large.eval", max(ASKED, options.samples // TASKS))
        made = time.perf_counter() - begun
        found = load(log, folder)
        print(f"log: {options.samples:,} samples, {log.stat().st_size / 1e6:.1f} MB, made in {made:.0f} s")
        print(
            f"load: {found.seconds:.1f} s, {found.memory / 1e9:.2f} GB at its peak (bar {BAR / 1e9:.0f} GB)"
        )
        print(f"largest child: {found.child / 1e9:.2f} GB")
        print(found.said)


if __name__ == "__main__":
    main()
