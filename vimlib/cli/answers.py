"""`vimlib score`, `replay` and `trace`: answers played and judged without a store."""

from __future__ import annotations

import argparse
import difflib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tqdm.auto import tqdm

from vimlib.cli import options as shared
from vimlib.cli.options import REJECTED, confinement_asked, executor_asked, good
from vimlib.cli.terminal import BadOutput, mean_or_unavailable, output, say, show, shows_progress, table
from vimlib.records import Outcome, Protocol, Task, VimlibError


class BadStart(VimlibError):
    """There is no such buffer to start a trace from."""


class BadBatch(VimlibError):
    """A batch file of `vimlib replay` does not read."""

    exit_code = REJECTED


class NothingToScore(VimlibError):
    """`vimlib score` was given neither answers nor a solver."""

    exit_code = 2


def _score(options: argparse.Namespace) -> int:
    from vimlib.judge import judge
    from vimlib.runs import SourceContents, find_sources, read_runs
    from vimlib.solvers import solver_run
    from vimlib.suites import load_suite

    if not options.answers and not options.solver:
        raise NothingToScore("nothing to score; expected files with answers, or --solver NAME")
    rejected: list[str] = []
    suites = list(good(load_suite, options.suite or ["seed"], rejected))
    only = Protocol(options.protocol) if options.protocol else None
    runs = [
        solver_run(name, suite, protocol)
        for name in options.solver or []
        for suite in suites
        for protocol in ([only] if only else suite.protocols)
    ]

    def read(file: Path) -> SourceContents:
        return read_runs(file, suites, protocol=only, fill_with_reference=options.fill_with_reference)

    files = [
        file for found in good(find_sources, ([path] for path in options.answers), rejected) for file in found
    ]
    for contents in good(read, files, rejected):
        runs += contents.runs
        suites += contents.suites
        rejected += contents.problems
    judged = judge(
        runs,
        suites,
        confinement=confinement_asked(options),
        cache=options.cache,
        executor=executor_asked(options),
        progress=shows_progress(),
    )
    rows = []
    for run in judged.runs:
        scores = [one.score for one in run.verdicts if one.score.passed is not None]
        passes = [score for score in scores if score.passed]
        efficiency = mean_or_unavailable(score.efficiency for score in passes)
        partial = mean_or_unavailable(score.partial for score in scores)
        rows.append([run.run.name, run.run.protocol, f"{len(passes)}/{len(scores)}", efficiency, partial])
    table(("name", "protocol", "passed", "efficiency", "partial"), rows)
    for line in rejected:
        say(line)
    return REJECTED if rejected else 0


def _replay(options: argparse.Namespace) -> int:
    from vimlib.replay import ReplayCache, ReplayRequest, find_vim, replay_each, replay_key
    from vimlib.score import score

    protocol = Protocol(options.protocol)
    confinement = confinement_asked(options)
    rejected: list[str] = []
    rows = list(_batch(options.batch, rejected))
    if options.out is not None and not options.out.parent.is_dir():
        raise BadOutput(
            f"{options.out}: there is no folder {options.out.parent}; make it, or name another file"
        )
    vim = find_vim()
    executor = executor_asked(options)
    requests = {row.id: ReplayRequest(protocol, row.start, row.keys) for row in rows}
    cache = ReplayCache(options.cache) if options.cache else None
    bar = tqdm(total=len(rows), desc="replaying", unit="answer", disable=not shows_progress())
    try:
        done = {
            replay_key(request, vim, confinement): result
            for request, result in replay_each(
                requests.values(),
                confinement=confinement,
                executor=executor,
                cache=cache,
                progress=bar.update,
            )
        }
    finally:
        bar.close()
        if cache is not None:
            cache.close()
    with output(options.out) as out:
        for row in rows:
            result = done[replay_key(requests[row.id], vim, confinement)]
            task = Task(id=row.id, start=row.start, target=row.target)
            verdict = score(task, protocol, row.keys, result)
            final = result.final
            out.write(
                json.dumps(
                    {
                        "id": row.id,
                        "outcome": result.outcome,
                        "correct": verdict.correct,
                        "passed": verdict.passed,
                        "final": None if final is None else final.decode("utf-8", "backslashreplace"),
                        "keystrokes": verdict.keystrokes,
                        "over_cap": verdict.over_cap,
                        "partial": verdict.partial,
                        "efficiency": verdict.efficiency,
                        "mode": result.mode,
                        "vim_error": result.last_error.text if result.last_error else None,
                        "wall_seconds": round(result.wall_seconds, 6),
                    }
                )
                + "\n"
            )
    for line in rejected:
        say(line)
    return REJECTED if rejected else 0


def _trace(options: argparse.Namespace) -> int:
    from vimlib.replay import ReplayCache, trace
    from vimlib.suites import load_suite

    if options.file is not None:
        try:
            start = options.file.read_bytes().decode()
        except (OSError, UnicodeDecodeError) as error:
            raise BadStart(f"{options.file}: cannot be read as UTF-8 text ({error})") from error
    else:
        suite = load_suite(options.suite[0] if options.suite else "seed")
        tasks = {task.id: task for task in suite.tasks}
        if options.task not in tasks:
            raise BadStart(f"suite {suite.name} has no task {options.task!r}; it has {', '.join(tasks)}")
        start = tasks[options.task].start
    confinement, executor = confinement_asked(options), executor_asked(options)
    cache = ReplayCache(options.cache) if options.cache else None
    try:
        played = trace(
            Protocol(options.protocol),
            start,
            options.keys,
            confinement=confinement,
            executor=executor,
            cache=cache,
        )
    finally:
        if cache is not None:
            cache.close()
    before = ""
    for step in played.steps:
        where = f"{step.cursor[0]},{step.cursor[1]}" if step.cursor else "-"
        mode = step.mode if step.outcome is Outcome.UNFINISHED else step.outcome.value
        said = f"  {step.error.text}" if step.error else ""
        show(f"{step.typed:4}  {step.key or '(start)':10}  {mode or '-':10} {where:8}{said}".rstrip())
        for line in difflib.ndiff(before.split("\n"), step.buffer.split("\n")):
            if line[0] in "+-" and (line[2:] or step.typed):
                show(f"      {line}")
        before = step.buffer
    if played.sampled:
        print(f"{len(played.steps)} of {len(played.keys) + 1} states are shown: the answer is long")
    return 0


@dataclass(frozen=True, slots=True)
class _BatchRow:
    id: str
    start: str
    target: str
    keys: str


def _batch(path: Path, rejected: list[str]) -> Iterator[_BatchRow]:
    """Rows `id, start, target, keys` of a JSONL file; a line in `rejected` for each that is none.

    Raises BadBatch where the file holds no row at all, good or bad.
    """
    expected = f"expected an object with the texts {', '.join(_BatchRow.__dataclass_fields__)}"
    seen: dict[str, int] = {}
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise BadBatch(f"{path}: cannot be read ({error.strerror}); expected JSONL") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        row, wrong = _batch_row(line)
        if row is None:
            rejected.append(f"{path}, line {number}: {wrong}; {expected}")
        elif row.id in seen:
            rejected.append(
                f"{path}, line {number}: id {row.id!r} is on line {seen[row.id]} already; expected each once"
            )
        else:
            seen[row.id] = number
            yield row
    if not seen and not rejected:
        raise BadBatch(f"{path}: holds no row; {expected} on each line")


def _batch_row(line: bytes) -> tuple[_BatchRow | None, str]:
    """The row, or what is wrong with it."""
    try:
        row = json.loads(line.decode())
    except UnicodeDecodeError as error:
        return None, f"byte 0x{line[error.start]:02x} is not UTF-8"
    except ValueError as error:
        return None, f"is not JSON ({error})"
    except RecursionError:
        return None, "is JSON nested too deeply"
    if not isinstance(row, dict):
        return None, "is another kind of JSON"
    texts: dict[str, str] = {}
    for name in _BatchRow.__dataclass_fields__:
        text = row.get(name)
        if not isinstance(text, str):
            return None, f"field {name!r} is {'no text' if name in row else 'missing'}"
        texts[name] = text
        # Keys may hold one: they fail for it. A buffer cannot, for no file can.
        if name != "keys" and any("\ud800" <= character <= "\udfff" for character in text):
            return None, f"field {name!r} holds a lone surrogate, which no UTF-8 file can"
    return _BatchRow(**texts), ""


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this module's commands."""
    score = commands.add_parser(
        "score",
        parents=[shared.suites(), shared.one_protocol(), shared.replaying()],
        help="replay and score answers, no store",
    )
    score.add_argument("--solver", action="append", metavar="NAME", help="a solver too; repeatable")
    score.add_argument("answers", nargs="*", type=Path, help="solutions ({task_id: keys}) or Inspect logs")
    score.add_argument(
        "--fill-with-reference",
        action="store_true",
        help="tasks not answered are answered by their reference",
    )
    score.set_defaults(run=_score)

    replay = commands.add_parser(
        "replay", parents=[shared.replaying()], help="replay and score a batch of rows"
    )
    replay.add_argument("--protocol", choices=("golf", "bench"), required=True)
    replay.add_argument(
        "--batch", type=Path, required=True, metavar="IN.jsonl", help="rows: id, start, target, keys"
    )
    replay.add_argument(
        "--out", type=Path, metavar="OUT.jsonl", help="results, in the rows' order (standard output)"
    )
    replay.set_defaults(run=_replay)

    trace = commands.add_parser(
        "trace",
        parents=[shared.suites(), shared.replaying()],
        help="print the state after each key of an answer",
    )
    trace.add_argument("keys", help="the answer, in the protocol's notation")
    trace.add_argument("--protocol", choices=("golf", "bench"), required=True)
    begin = trace.add_mutually_exclusive_group(required=True)
    begin.add_argument("--file", type=Path, help="file with the start buffer")
    begin.add_argument("--task", metavar="ID", help="task of the suite (--suite, seed) to start from")
    trace.set_defaults(run=_trace)
