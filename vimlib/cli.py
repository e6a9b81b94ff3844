"""The command line: parse, call, print, exit code. What it does is done by the modules below it.

Exit codes: 0 done; 1 an answer or a reference failed, or an error without a code of its own;
2 wrong usage; 3 something was rejected and the rest done; 4 a suite could not be fetched;
5 replays cannot be confined;
6 no usable Vim; 7 the cluster cannot be used; 130 interrupted.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, NoReturn, TextIO, TypeVar

from tqdm.auto import tqdm

import vimlib
from vimlib.records import Outcome, Protocol, Task, VimlibError

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from vimlib.judge import Verdict

T = TypeVar("T")

REJECTED = 3
INTERRUPTED = 130


class BadStart(VimlibError):
    """There is no such buffer to start a trace from."""


class BadBatch(VimlibError):
    """A batch file of `vimlib replay` does not read."""

    exit_code = REJECTED


class BadOutput(VimlibError):
    """The file for the results cannot be written."""


class WrongFetch(VimlibError):
    """Options of `vimlib fetch` that do not go together."""

    exit_code = 2


class NothingToScore(VimlibError):
    """`vimlib score` was given neither answers nor a solver."""

    exit_code = 2


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit."""
    options = _parser().parse_args(arguments)
    if getattr(options, "format", None) is not None:
        # Goes with the name, wherever that goes: into a notebook in another folder, too.
        options.suite = [f"{options.format}:{Path(suite).absolute()}" for suite in options.suite]
    try:
        with ExitStack() as options.until_the_end:
            code = options.run(options)
        sys.stdout.flush()
    except VimlibError as error:
        _say(f"vimlib: {error}")
        code = error.exit_code
    except KeyboardInterrupt:
        _say("vimlib: interrupted; replays done so far are kept, nothing else was changed")
        code = INTERRUPTED
    except BrokenPipeError:
        # Python would try, and complain, once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
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
    from vimlib.replay import find_vim
    from vimlib.report import run_report

    # Asked here, since what a notebook raises is a failed notebook, whatever it was.
    find_vim()
    _executor(options)
    confinement = _confinement(options)
    solvers = _solver_names(options)
    with tempfile.TemporaryDirectory() as folder:
        outcome = Path(folder, "outcome.json")
        result = run_report(
            options.name,
            database=options.database,
            parameters={
                "suites": [_absolute(suite) for suite in _suites(options)],
                "sources": [str(path.absolute()) for path in options.runs],
                "solvers": solvers,
                "confinement": confinement.value,
                "scheduler": options.scheduler,
                "mixed_vim": options.mixed_vim,
                "cache": "" if options.cache is None else str(options.cache.absolute()),
                "outcome_file": str(outcome),
                "with_errata": options.with_errata,
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
        _solver_names(options),
        confinement=_confinement(options),
        cache=options.cache,
        executor=_executor(options),
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
    from vimlib.solvers import solver_run
    from vimlib.suites import load_suite

    failed = False
    rejected: list[str] = []
    for suite in _good(load_suite, options.suite or ["seed"], rejected):
        protocols = [Protocol(options.protocol)] if options.protocol else suite.protocols
        runs = [solver_run("reference", suite, protocol) for protocol in protocols]
        judged = judge(
            runs,
            [suite],
            confinement=_confinement(options),
            cache=options.cache,
            executor=_executor(options),
            progress=_shows_progress(),
        )
        lacking = {task.id for task in suite.tasks if task.reference is None}
        verified = {task.id for task in suite.tasks} - lacking
        for run in judged.runs:
            passed = {one.attempt.task_id for one in run.verdicts if one.score.passed}
            whys = {one.attempt.task_id: _why_failed(one) for one in run.verdicts}
            for task_id in sorted(verified - passed):
                failed = True
                why = whys.get(task_id, "its reference cannot be said in this notation")
                _say(f"{suite.name}: {task_id}: the reference fails under {run.run.protocol} ({why})")
        for run in judged.runs:
            verified &= {one.attempt.task_id for one in run.verdicts if one.score.passed}
        checked = len(suite.tasks) - len(lacking)
        without = f" ({len(lacking)} tasks have no reference)" if lacking else ""
        _print(f"{suite.name}: {len(verified)}/{checked} verified under {' and '.join(protocols)}{without}")
        if checked == 0:
            failed = True
            _say(f"{suite.name}: no task has a reference; there is nothing to verify")
    for line in rejected:
        _say(line)
    return 1 if failed else REJECTED if rejected else 0


def _generate(options: argparse.Namespace) -> int:
    from vimlib.generate import generate_fresh
    from vimlib.suites.jsonl import as_jsonl

    out = options.out
    if out is None:
        out = Path(f"data/cache/suites/{options.suite}-seed-{options.seed}-count-{options.count}.jsonl")
        _make_folder(out.parent)
    made = generate_fresh(
        options.seed,
        options.count,
        confinement=_confinement(options),
        cache=options.cache,
        executor=_executor(options),
        progress=_shows_progress(),
    )
    with _output(out) as file:
        file.write(as_jsonl(made.suite).decode())
    if options.report:
        heads = ("template", "kept", "rejected", "why")
        _table(heads, [[row.template, row.kept, row.rejected, row.why] for row in made.by_template()])
    suite = made.suite
    _print(f"{out}: {len(suite.tasks)} tasks, {suite.name} {suite.version} ({suite.hash[:12]})")
    return 0


def _make_folder(folder: Path) -> None:
    """Raises BadOutput."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadOutput(f"{folder}: cannot be made ({error.strerror}); name a file with --out") from error


def _why_failed(verdict: Verdict) -> str:
    replay = verdict.replay
    if verdict.score.correct and verdict.score.over_cap:
        return f"its {verdict.score.keystrokes} keys are as many as the target has characters, or more"
    if replay is None or replay.outcome in (Outcome.FINISHED, Outcome.UNFINISHED):
        return "the file it leaves is not the target"
    return f"{replay.outcome}: {replay.detail}" if replay.detail else replay.outcome


def _score(options: argparse.Namespace) -> int:
    from vimlib.judge import judge
    from vimlib.runs import SourceContents, find_sources, read_runs
    from vimlib.solvers import solver_run
    from vimlib.suites import load_suite

    if not options.answers and not options.solver:
        raise NothingToScore("nothing to score; expected files with answers, or --solver NAME")
    rejected: list[str] = []
    suites = list(_good(load_suite, options.suite or ["seed"], rejected))
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
        file
        for found in _good(find_sources, ([path] for path in options.answers), rejected)
        for file in found
    ]
    for contents in _good(read, files, rejected):
        runs += contents.runs
        suites += contents.suites
        rejected += contents.problems
    judged = judge(
        runs,
        suites,
        confinement=_confinement(options),
        cache=options.cache,
        executor=_executor(options),
        progress=_shows_progress(),
    )
    rows = []
    for run in judged.runs:
        scores = [one.score for one in run.verdicts if one.score.passed is not None]
        passes = [score for score in scores if score.passed]
        efficiency = _mean(score.efficiency for score in passes)
        partial = _mean(score.partial for score in scores)
        rows.append([run.run.name, run.run.protocol, f"{len(passes)}/{len(scores)}", efficiency, partial])
    _table(("name", "protocol", "passed", "efficiency", "partial"), rows)
    for line in rejected:
        _say(line)
    return REJECTED if rejected else 0


def _replay(options: argparse.Namespace) -> int:
    from vimlib.replay import ReplayCache, ReplayRequest, find_vim, replay_each, replay_key
    from vimlib.score import score

    protocol = Protocol(options.protocol)
    confinement = _confinement(options)
    rejected: list[str] = []
    rows = list(_batch(options.batch, rejected))
    if options.out is not None and not options.out.parent.is_dir():
        raise BadOutput(
            f"{options.out}: there is no folder {options.out.parent}; make it, or name another file"
        )
    vim = find_vim()
    executor = _executor(options)
    requests = {row.id: ReplayRequest(protocol, row.start, row.keys) for row in rows}
    cache = ReplayCache(options.cache) if options.cache else None
    bar = tqdm(total=len(rows), desc="replaying", unit="answer", disable=not _shows_progress())
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
    for line in rejected:
        _say(line)
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
    confinement, executor = _confinement(options), _executor(options)
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
        _print(f"{step.typed:4}  {step.key or '(start)':10}  {mode or '-':10} {where:8}{said}".rstrip())
        for line in difflib.ndiff(before.split("\n"), step.buffer.split("\n")):
            if line[0] in "+-" and (line[2:] or step.typed):
                _print(f"      {line}")
        before = step.buffer
    if played.sampled:
        print(f"{len(played.steps)} of {len(played.keys) + 1} states are shown: the answer is long")
    return 0


def _fetch(options: argparse.Namespace) -> int:
    from vimlib.suites import Additions, fetch_challenge, fetch_vimbench, fetch_vimgolf

    additions = Additions(options.statistics, options.solutions, options.solutions_as_references)
    if options.name == "vimbench":
        if additions != Additions() or options.challenge:
            raise WrongFetch("vimbench: takes no challenge, statistics or solutions; they are VimGolf's")
        done = fetch_vimbench(revision=options.revision, base_url=options.base_url, offline=options.offline)
    elif options.challenge:
        if options.revision:
            raise WrongFetch("a single challenge has no revision; give --challenge or --revision")
        done = fetch_challenge(
            options.challenge, base_url=options.base_url, offline=options.offline, additions=additions
        )
    else:
        done = fetch_vimgolf(
            revision=options.revision,
            endpoint=options.base_url,
            offline=options.offline,
            additions=additions,
        )
    suite = done.suite
    heads = ("suite", "version", "tasks", "with reference", "published", "revision", "licence", "fetched")
    row = (
        suite.name,
        suite.version,
        len(suite.tasks),
        sum(task.reference is not None for task in suite.tasks),
        len(suite.published),
        suite.revision and suite.revision[:12],
        suite.licence or "not stated",
        f"{suite.fetched:%Y-%m-%d %H:%M} UTC",
    )
    _table(heads, [row])
    for note in done.notes:
        _say(note)
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


@contextmanager
def _output(path: Path | None) -> Iterator[TextIO]:
    """The file, written whole or not at all; standard output for None. Raises BadOutput."""
    if path is None:
        yield sys.stdout
        return
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with new.open("w", encoding="utf-8") as file:
            yield file
        new.replace(path)
    except OSError as error:
        raise BadOutput(f"{path}: cannot be written ({error.strerror}); name another file") from error
    finally:
        new.unlink(missing_ok=True)


def _suites(options: argparse.Namespace) -> list[str]:
    """The suites asked for; with no runs either, the built-in one for the solvers to answer."""
    return options.suite or ([] if options.runs else ["seed"])


def _absolute(suite: str) -> str:
    """A suite file by its absolute path, for a notebook that runs elsewhere; a built-in name as it is."""
    return str(Path(suite).absolute()) if Path(suite).exists() else suite


def _confinement(options: argparse.Namespace) -> Any:
    """The confinement asked for. Raises ConfinementUnavailable where a part of it is missing here.

    Whether a cluster's workers have all parts, `connected` asks.
    """
    from vimlib.sandbox import Confinement, ConfinementUnavailable, unavailable

    if options.unconfined:
        return Confinement.NONE
    if not options.scheduler and (lacking := unavailable()):
        raise ConfinementUnavailable(lacking)
    return Confinement.FULL


def _executor(options: argparse.Namespace) -> Executor | None:
    """The cluster asked for, connected until the command ends; None for this machine's own cores."""
    from vimlib.replay import connected

    if not options.scheduler:
        return None
    if options.cluster is None:
        options.cluster = options.until_the_end.enter_context(
            connected(options.scheduler, confinement=_confinement(options), mixed_vim=options.mixed_vim)
        )
        if options.cluster.note:
            _say(options.cluster.note)
    executor: Executor = options.cluster
    return executor


def _solver_names(options: argparse.Namespace) -> list[str]:
    """The solvers asked for, by default all. Raises UnknownSolver."""
    from vimlib.solvers import SOLVERS, UnknownSolver

    for name in options.solver or ():
        if name not in SOLVERS:
            raise UnknownSolver(name)
    return options.solver or list(SOLVERS)


def _good(read: Callable[[Any], T], given: Iterable[Any], rejected: list[str]) -> Iterator[T]:
    """What can be read of the given things; a line in `rejected` for each that cannot."""
    for one in given:
        try:
            found = read(one)
        except VimlibError as error:
            rejected.append(str(error))
        else:
            yield found


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
    replaying.add_argument(
        "--scheduler",
        default="",
        metavar="tcp://HOST:8786",
        help="replay on the Dask cluster with this scheduler instead of this machine",
    )
    replaying.add_argument(
        "--mixed-vim", action="store_true", help="let its workers have another Vim than this machine"
    )
    replaying.set_defaults(cluster=None)
    suites = argparse.ArgumentParser(add_help=False)
    suites.add_argument(
        "--suite",
        action="append",
        default=[],
        metavar="S",
        help="a suite: built-in name (seed), fetched name (vimgolf, vimbench), file or folder; repeatable",
    )
    suites.add_argument(
        "--format",
        choices=("vimgolf", "vimbench", "vimlib", "challenge", "vimgolf-gym"),
        help="the format of suites that are files, instead of recognising it",
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
    report.add_argument(
        "--with-errata", action="store_true", help="count tasks that cannot be judged fairly too"
    )
    report.add_argument("--show-code", action="store_true", help="pages show their code, folded")
    report.set_defaults(run=_report)

    load = commands.add_parser("load", parents=[sources, suites, replaying], help="load and judge, no report")
    load.set_defaults(run=_load)

    verify = commands.add_parser(
        "verify", parents=[suites, one_protocol, replaying], help="replay every reference of a suite"
    )
    verify.set_defaults(run=_verify)

    generate = commands.add_parser(
        "generate", parents=[replaying], help="draw a suite that no model has seen, and write it to a file"
    )
    generate.add_argument("suite", choices=("fresh",), help="the kind of suite")
    generate.add_argument("--seed", type=int, required=True, help="the same seed gives the same tasks")
    generate.add_argument("--count", type=int, default=200, help="tasks (%(default)s)")
    generate.add_argument(
        "--out",
        type=Path,
        metavar="FILE.jsonl",
        help="the suite (data/cache/suites/fresh-seed-N-count-K.jsonl)",
    )
    generate.add_argument(
        "--report", action="store_true", help="print by template what was kept and rejected"
    )
    generate.set_defaults(run=_generate)

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

    fetch = commands.add_parser("fetch", help="fetch a public suite into the cache, pinned and checked")
    fetch.add_argument("name", choices=("vimgolf", "vimbench"), help="the suite")
    fetch.add_argument("--challenge", metavar="ID", help="one challenge of vimgolf.com, as suite vimgolf-ID")
    fetch.add_argument("--revision", metavar="COMMIT", help="another than the pinned revision")
    fetch.add_argument(
        "--offline", action="store_true", help="use only the cache (as HF_HUB_OFFLINE does): check, add files"
    )
    fetch.add_argument("--base-url", metavar="URL", help="a mirror to fetch from")
    fetch.add_argument(
        "--statistics", type=Path, metavar="FILE", help="the site's statistics (JSON list) to keep with it"
    )
    fetch.add_argument(
        "--solutions", type=Path, metavar="FILE", help="published solutions (JSONL) to keep with it"
    )
    fetch.add_argument(
        "--solutions-as-references",
        action=argparse.BooleanOptionalAction,
        help="the shortest verified solution of a task is its reference: another version of the suite",
    )
    fetch.set_defaults(run=_fetch)

    doctor = commands.add_parser("doctor", help="say what this machine has and lacks for replays")
    doctor.set_defaults(run=_doctor)
    return parser


if __name__ == "__main__":
    main()
