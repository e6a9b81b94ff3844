"""The command line: parse, call, print, exit code. What it does is done by the modules below it.

Exit codes: 0 done; 1 an answer or a reference failed, or an error without a code of its own;
2 wrong usage; 3 something was rejected and the rest done; 5 replays cannot be confined;
6 no usable Vim; 130 interrupted.
"""

from __future__ import annotations

import argparse
import difflib
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, NoReturn, TextIO

from tqdm.auto import tqdm

import vimlib
from vimlib.records import VimlibError

REJECTED = 3
INTERRUPTED = 130


class BadStart(VimlibError):
    """There is no such buffer to start a trace from."""


class BadBatch(VimlibError):
    """A batch file of `vimlib replay` does not read."""

    exit_code = REJECTED


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit."""
    options = _parser().parse_args(arguments)
    try:
        code = options.run(options)
    except VimlibError as error:
        _say(f"vimlib: {error}")
        code = error.exit_code
    except KeyboardInterrupt:
        _say("vimlib: interrupted; replays done so far are kept, nothing else was changed")
        code = INTERRUPTED
    except BrokenPipeError:
        code = 1
    sys.exit(code)


def _say(text: str) -> None:
    """One line on standard error. Control characters that an answer may have put there are spelled out."""
    _print(text, sys.stderr)


def _print(text: str, stream: TextIO | None = None) -> None:
    shown = "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)
    print(shown, file=stream or sys.stdout)


# --- the commands ---------------------------------------------------------------------------------


def _report(options: argparse.Namespace) -> int:
    from vimlib.load import read_outcome
    from vimlib.report import run_report

    confinement = _confinement(options)
    with tempfile.TemporaryDirectory() as folder:
        outcome = Path(folder, "outcome.json")
        result = run_report(
            options.name,
            database=options.database,
            parameters={
                "suites": [_absolute(suite) for suite in _suites(options)],
                "sources": [str(path.absolute()) for path in options.runs],
                "solvers": options.solver or _solver_names(),
                "confinement": confinement.value,
                "cache": "" if options.cache is None else str(options.cache.absolute()),
                "outcome_file": str(outcome),
            },
            out=options.out,
            show_code=options.show_code,
        )
        rejected = read_outcome(outcome)
    for line in rejected:
        _say(line)
    print(f"{result.latest / 'index.html'} ({result.folder}; {result.wall_seconds:.0f} s)")
    return REJECTED if rejected else 0


def _load(options: argparse.Namespace) -> int:
    from vimlib.load import load

    result = load(
        options.database,
        _suites(options),
        options.runs,
        options.solver or _solver_names(),
        confinement=_confinement(options),
        cache=options.cache,
        progress=_shows_progress(),
    )
    heads = ("source", "kind", "name", "suite", "protocol", "attempts", "errors", "passed", "change")
    _table(heads, ([getattr(row, head) for head in heads] for row in result.rows if row.rejected is None))
    print(f"{result.replays} distinct replays, {result.replayed} done now, {result.seconds:.1f} s")
    for line in result.rejections:
        _say(line)
    return REJECTED if result.rejections else 0


def _verify(options: argparse.Namespace) -> int:
    from vimlib.judge import judge
    from vimlib.records import Protocol
    from vimlib.solvers import solver_run
    from vimlib.suites import load_suite

    failed = False
    for name in options.suite or ["seed"]:
        suite = load_suite(name)
        protocols = [Protocol(options.protocol)] if options.protocol else suite.protocols
        runs = [solver_run("reference", suite, protocol) for protocol in protocols]
        judged = judge(
            runs, [suite], confinement=_confinement(options), cache=options.cache, progress=_shows_progress()
        )
        lacking = {task.id for task in suite.tasks if task.reference is None}
        verified = {task.id for task in suite.tasks} - lacking
        for run in judged.runs:
            passed = {one.attempt.task_id for one in run.verdicts if one.score.passed}
            whys = {
                one.attempt.task_id: one.replay.detail or one.replay.outcome.value
                for one in run.verdicts
                if one.replay is not None
            }
            for task_id in sorted(verified - passed):
                failed = True
                why = whys.get(task_id, "its reference cannot be said in this notation")
                _say(f"{suite.name}: {task_id}: the reference fails under {run.run.protocol} ({why})")
        for run in judged.runs:
            verified &= {one.attempt.task_id for one in run.verdicts if one.score.passed}
        checked = len(suite.tasks) - len(lacking)
        without = f" ({len(lacking)} tasks have no reference)" if lacking else ""
        print(f"{suite.name}: {len(verified)}/{checked} verified under {' and '.join(protocols)}{without}")
        if checked == 0:
            failed = True
            _say(f"{suite.name}: no task has a reference; there is nothing to verify")
    return 1 if failed else 0


def _score(options: argparse.Namespace) -> int:
    from vimlib.judge import judge
    from vimlib.records import Protocol
    from vimlib.runs import read_runs
    from vimlib.solvers import solver_run
    from vimlib.suites import load_suite

    suites = [load_suite(name) for name in options.suite or ["seed"]]
    only = Protocol(options.protocol) if options.protocol else None
    runs = [
        solver_run(name, suite, protocol)
        for name in options.solver or []
        for suite in suites
        for protocol in ([only] if only else suite.protocols)
    ]
    problems: list[str] = []
    for path in options.answers:
        contents = read_runs(path, suites, protocol=only, fill_with_reference=options.fill_with_reference)
        runs += contents.runs
        suites += contents.suites
        problems += contents.problems
    judged = judge(
        runs, suites, confinement=_confinement(options), cache=options.cache, progress=_shows_progress()
    )
    rows = []
    for run in judged.runs:
        scores = [one.score for one in run.verdicts]
        passes = [score for score in scores if score.passed]
        efficiency = _mean(score.efficiency for score in passes)
        partial = _mean(score.partial for score in scores)
        rows.append([run.run.name, run.run.protocol, f"{len(passes)}/{len(scores)}", efficiency, partial])
    _table(("name", "protocol", "passed", "efficiency", "partial"), rows)
    for problem in problems:
        _say(problem)
    return REJECTED if problems else 0


def _replay(options: argparse.Namespace) -> int:
    from vimlib.records import Protocol, Task
    from vimlib.replay import ReplayCache, ReplayRequest, find_vim, replay_each, replay_key
    from vimlib.score import score

    protocol = Protocol(options.protocol)
    confinement = _confinement(options)
    rows = list(_batch(options.batch))
    vim = find_vim()
    requests = {row.id: ReplayRequest(protocol, row.start, row.keys) for row in rows}
    cache = ReplayCache(options.cache) if options.cache else None
    bar = tqdm(total=len(rows), desc="replaying", unit="answer", disable=not _shows_progress())
    try:
        done = {
            result.key: result
            for _, result in replay_each(
                requests.values(), confinement=confinement, cache=cache, progress=bar.update
            )
        }
    finally:
        bar.close()
        if cache is not None:
            cache.close()
    with _output(options.out) as out:
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
    return 0


def _trace(options: argparse.Namespace) -> int:
    from vimlib.records import Outcome, Protocol
    from vimlib.replay import ReplayCache, trace
    from vimlib.suites import load_suite

    if options.file is not None:
        try:
            start = options.file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadStart(f"{options.file}: cannot be read as UTF-8 text ({error})") from error
    else:
        suite = load_suite(options.suite[0] if options.suite else "seed")
        tasks = {task.id: task for task in suite.tasks}
        if options.task not in tasks:
            raise BadStart(f"suite {suite.name} has no task {options.task!r}; it has {', '.join(tasks)}")
        start = tasks[options.task].start
    cache = ReplayCache(options.cache) if options.cache else None
    try:
        played = trace(
            Protocol(options.protocol), start, options.keys, confinement=_confinement(options), cache=cache
        )
    finally:
        if cache is not None:
            cache.close()
    before = ""
    for step in played.steps:
        where = f"{step.cursor[0]},{step.cursor[1]}" if step.cursor else "-"
        mode = step.mode if step.outcome is Outcome.UNFINISHED else step.outcome.value
        said = f"  {step.error.text}" if step.error else ""
        _print(f"{step.typed:4}  {step.key or '(start)':10}  {mode or '-':10} {where:8}{said}".rstrip())
        for line in difflib.ndiff(before.split("\n"), step.buffer.split("\n")):
            if line[0] in "+-" and (line[2:] or step.typed):
                _print(f"      {line}")
        before = step.buffer
    if played.sampled:
        print(f"{len(played.steps)} of {len(played.keys) + 1} states are shown: the answer is long")
    return 0


def _doctor(options: argparse.Namespace) -> int:
    from vimlib.replay import NoVim, find_vim
    from vimlib.sandbox import missing_parts

    code = 0
    try:
        vim = find_vim()
        print(f"ok       Vim {vim.build.version} ({vim.path})")
    except NoVim as error:
        code = error.exit_code
        print(f"missing  Vim: {error}")
    for part, why in missing_parts().items():
        print(f"ok       {part}" if why is None else f"missing  {part}: {why}")
        if why is not None:
            code = code or 5
    return code


# --- what they share ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _BatchRow:
    id: str
    start: str
    target: str
    keys: str


def _batch(path: Path) -> Iterator[_BatchRow]:
    """Rows `id, start, target, keys` of a JSONL file. Raises BadBatch with the line."""
    wanted = _BatchRow.__dataclass_fields__
    seen: dict[str, int] = {}
    try:
        text = path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise BadBatch(f"{path}: cannot be read as UTF-8 text ({error}); expected JSONL") from error
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise BadBatch(f"{path}, line {number}: is not JSON ({error})") from error
        if not isinstance(row, dict) or not all(isinstance(row.get(name), str) for name in wanted):
            raise BadBatch(f"{path}, line {number}: expected an object with the texts {', '.join(wanted)}")
        if row["id"] in seen:
            raise BadBatch(
                f"{path}, line {number}: id {row['id']!r} stands on line {seen[row['id']]} already"
            )
        seen[row["id"]] = number
        yield _BatchRow(**{name: row[name] for name in wanted})
    if not seen:
        raise BadBatch(f"{path}: holds no row; expected JSONL with {', '.join(wanted)}")


def _output(path: Path | None) -> Any:
    """The file, written whole or not at all; standard output for None."""
    from contextlib import contextmanager

    @contextmanager
    def whole() -> Iterator[Any]:
        if path is None:
            yield sys.stdout
            return
        with tempfile.NamedTemporaryFile("w", dir=path.parent, encoding="utf-8", delete=False) as file:
            yield file
        Path(file.name).replace(path)

    return whole()


def _suites(options: argparse.Namespace) -> list[str]:
    """The suites asked for; with no runs either, the built-in one for the solvers to answer."""
    return options.suite or ([] if options.runs else ["seed"])


def _absolute(suite: str) -> str:
    """A suite file by its absolute path, for a notebook that runs elsewhere; a built-in name as it is."""
    return str(Path(suite).absolute()) if Path(suite).exists() else suite


def _confinement(options: argparse.Namespace) -> Any:
    """The confinement asked for. Raises ConfinementUnavailable where a part of it is missing."""
    from vimlib.sandbox import Confinement

    return Confinement.NONE if options.unconfined else Confinement.FULL


def _solver_names() -> list[str]:
    from vimlib.solvers import SOLVERS

    return list(SOLVERS)


def _shows_progress() -> bool:
    return sys.stderr.isatty()


def _mean(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{fmean(known):.3f}" if known else "unavailable"


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    lines = [
        [str(head) for head in heads],
        *[["" if cell is None else str(cell) for cell in row] for row in rows],
    ]
    widths = [max(len(line[place]) for line in lines) for place in range(len(heads))]
    for line in lines:
        text = "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        print(
            "".join(
                character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text
            )
        )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="vimlib", description="Replay, score and report language models' Vim keystrokes."
    )
    parser.add_argument("--version", action="version", version=f"vimlib {vimlib.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    replaying = argparse.ArgumentParser(add_help=False)
    replaying.add_argument(
        "--unconfined", action="store_true", help="replay without confinement: only answers that you trust"
    )
    replaying.add_argument(
        "--cache",
        type=Path,
        default=Path("data/cache/replays.sqlite"),
        help="file of kept replays (%(default)s)",
    )
    replaying.add_argument(
        "--no-cache", dest="cache", action="store_const", const=None, help="keep and use no replays"
    )
    suites = argparse.ArgumentParser(add_help=False)
    suites.add_argument(
        "--suite",
        action="append",
        default=[],
        metavar="S",
        help="a suite: built-in name (seed) or file; repeatable",
    )
    sources = argparse.ArgumentParser(add_help=False)
    sources.add_argument("runs", nargs="*", type=Path, help="run files, or folders of them")
    sources.add_argument(
        "--database", type=Path, default=Path("data/vimlib.duckdb"), help="the store (%(default)s)"
    )
    sources.add_argument("--solver", action="append", metavar="NAME", help="only this solver; repeatable")
    one_protocol = argparse.ArgumentParser(add_help=False)
    one_protocol.add_argument("--protocol", choices=("golf", "bench"), help="instead of the suite's own")

    report = commands.add_parser(
        "report", parents=[sources, suites, replaying], help="load, judge, and write an HTML report"
    )
    report.add_argument("--name", default="report", help="of the report's folder (%(default)s)")
    report.add_argument("--out", type=Path, default=Path("reports"), help="folder of reports (%(default)s)")
    report.add_argument("--show-code", action="store_true", help="pages show their code, folded")
    report.set_defaults(run=_report)

    load = commands.add_parser("load", parents=[sources, suites, replaying], help="load and judge, no report")
    load.set_defaults(run=_load)

    verify = commands.add_parser(
        "verify", parents=[suites, one_protocol, replaying], help="replay every reference of a suite"
    )
    verify.set_defaults(run=_verify)

    score = commands.add_parser(
        "score", parents=[suites, one_protocol, replaying], help="replay and score answers, no store"
    )
    score.add_argument("--solver", action="append", metavar="NAME", help="a solver too; repeatable")
    score.add_argument("answers", nargs="*", type=Path, help="solutions ({task_id: keys}) or Inspect logs")
    score.add_argument(
        "--fill-with-reference",
        action="store_true",
        help="tasks not answered are answered by their reference",
    )
    score.set_defaults(run=_score)

    replay = commands.add_parser("replay", parents=[replaying], help="replay and score a batch of rows")
    replay.add_argument("--protocol", choices=("golf", "bench"), required=True)
    replay.add_argument(
        "--batch", type=Path, required=True, metavar="IN.jsonl", help="rows: id, start, target, keys"
    )
    replay.add_argument(
        "--out", type=Path, metavar="OUT.jsonl", help="results, in the rows' order (standard output)"
    )
    replay.set_defaults(run=_replay)

    trace = commands.add_parser(
        "trace", parents=[suites, replaying], help="print the state after each key of an answer"
    )
    trace.add_argument("keys", help="the answer, in the protocol's notation")
    trace.add_argument("--protocol", choices=("golf", "bench"), required=True)
    begin = trace.add_mutually_exclusive_group(required=True)
    begin.add_argument("--file", type=Path, help="file with the start buffer")
    begin.add_argument("--task", metavar="ID", help="task of the suite (--suite, seed) to start from")
    trace.set_defaults(run=_trace)

    doctor = commands.add_parser("doctor", help="say what this machine has and lacks for replays")
    doctor.set_defaults(run=_doctor)
    return parser


if __name__ == "__main__":
    main()
