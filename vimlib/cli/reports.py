"""`vimlib report` and `vimlib load`: sources into the store, and pages out of it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vimlib.cli import options as shared
from vimlib.cli.options import (
    REJECTED,
    absolute_suite,
    confinement_asked,
    executor_asked,
    local_sources,
    runs_asked,
    solvers_asked,
    suites_asked,
)
from vimlib.cli.settings import FILE, Listed
from vimlib.cli.terminal import say, shows_progress, table
from vimlib.records import VimlibError

if TYPE_CHECKING:
    from vimlib.analysis.compare import Limit
    from vimlib.load import LoadedRow
    from vimlib.report import ReportResult

REGRESSION = 10
"""Exit code: the report is good, and a new run in it is worse than `--fail-if` allows."""

SIX_HOURS = 21_600
"""Seconds that a cell may take by default: far longer than any load seen, and shorter than a night."""


def _report(options: argparse.Namespace) -> int:
    from vimlib.report import NothingNew, ReportBusy
    from vimlib.report.schedule import Log, notify

    limits = _limits(options)
    log = Log(options.log or options.out / "report.log", options.name, make_folder=options.log is not None)
    log.write("begin")

    def tell(status: str, message: str, summary: Mapping[str, Any]) -> None:
        if options.notify and (why := notify(options.notify, status, message, summary)):
            log.write("notify-failed", why)
            say(why)

    try:
        rejected: list[str] = []
        result = _made(options, rejected)
    except NothingNew as nothing:
        log.write("nothing-new", str(nothing))
        for line in rejected:
            say(line)
        print(nothing)
        return REJECTED if rejected else 0
    except ReportBusy as busy:
        # The report that is being made will tell what there is to tell.
        log.write("busy", str(busy))
        raise
    except KeyboardInterrupt:
        log.write("interrupted")
        raise
    except Exception as error:
        log.write("failed", str(error) if isinstance(error, VimlibError) else repr(error))
        tell("failure", str(error), {"report": options.name})
        raise
    rejected += result.rejections
    for line in rejected:
        say(line)
    executed = ", ".join(result.executed) or "no notebook, since nothing changed"
    log.write("done", f"{result.folder} in {result.wall_seconds:.0f} s; executed {executed}")
    if rejected:
        log.write("rejected", "; ".join(rejected))
    print(f"{result.latest / 'index.html'} ({result.folder}; {result.wall_seconds:.0f} s)")
    regressions = _regressions(options, result, limits)
    for line in regressions:
        say(line)
    if regressions:
        log.write("regression", "; ".join(regressions))
        tell("regression", "; ".join(regressions), result.summary)
    if options.keep:
        from vimlib.report import prune

        spare = [result.before.folder] if result.before else []
        removed = prune(options.out, options.name, options.keep, spare=spare)
        if removed:
            log.write("pruned", ", ".join(map(str, removed)))
    return REGRESSION if regressions else REJECTED if rejected else 0


def _limits(options: argparse.Namespace) -> list[Limit]:
    """The limits asked for, read before anything is done. Raises BadLimit, UnknownMetric."""
    if not options.fail_if:
        return []
    from vimlib.analysis.compare import parse_limit

    return [parse_limit(text) for text in options.fail_if]


def _regressions(options: argparse.Namespace, result: ReportResult, limits: list[Limit]) -> list[str]:
    """A line for each new run that is surely worse than the limits allow."""
    if not limits or result.before is None:
        return []
    from vimlib import store
    from vimlib.report.schedule import hold_against

    with closing(store.connect(options.database, with_errata=options.with_errata)) as con:
        held = hold_against(con, result.before.summary, result.summary, limits)
    return [
        f"{one.limit}: {one.candidate} against {one.base}: {one.sentence}" for one in held if one.regressed
    ]


def _made(options: argparse.Namespace, rejected: list[str]) -> ReportResult:
    """The report. `rejected` gets a line for each source that could not be fetched."""
    from vimlib.prices import read_prices
    from vimlib.replay import find_vim
    from vimlib.report import run_report

    # Asked here, since what a notebook raises is a failed notebook, whatever it was.
    find_vim()
    executor_asked(options)
    confinement = confinement_asked(options)
    solvers = solvers_asked(options)
    if options.prices is not None:
        read_prices(options.prices)
    _fetch(options.fetch, rejected)
    runs = local_sources(runs_asked(options), rejected)
    return run_report(
        options.name,
        database=options.database,
        parameters=dict(options.parameters),
        offered={
            "suites": [absolute_suite(suite) for suite in suites_asked(options)],
            "sources": [str(path.absolute()) for path in runs],
            "solvers": solvers,
            "confinement": confinement.value,
            "scheduler": options.scheduler,
            "mixed_vim": options.mixed_vim,
            "cache": "" if options.cache is None else str(options.cache.absolute()),
            "prices": "" if options.prices is None else str(options.prices.absolute()),
            "with_errata": options.with_errata,
        },
        out=options.out,
        show_code=options.show_code,
        cell_timeout_seconds=options.cell_seconds or None,
        kernels=options.kernels,
        kernel_memory_bytes=None if options.kernel_gib is None else int(options.kernel_gib * 2**30),
        run_all=options.run_all,
        only_new=options.new_only,
        replace_same_day=not (options.new_only or options.baseline or options.fail_if),
    )


def _fetch(names: list[str], rejected: list[str]) -> None:
    """Bring public suites to the cache. One that cannot be fetched now is used as it was kept."""
    from vimlib.suites import FetchError, fetch_vimbench, fetch_vimgolf

    for name in names:
        try:
            if name == "vimgolf":
                fetch_vimgolf()
            else:
                fetch_vimbench()
        except FetchError as error:
            rejected.append(str(error))


def _parameter(text: str) -> tuple[str, Any]:
    """`name=value` for a notebook; a value that is JSON is that, anything else is text."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"{text!r}: expected NAME=VALUE, as in top_n=10")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text}: expected 1 or more")
    return number


_positive.number = True  # type: ignore[attr-defined]


def _load(options: argparse.Namespace) -> int:
    from vimlib.load import load
    from vimlib.prices import read_prices

    rejected: list[str] = []
    result = load(
        options.database,
        suites_asked(options),
        local_sources(runs_asked(options), rejected),
        solvers_asked(options),
        confinement=confinement_asked(options),
        cache=options.cache,
        executor=executor_asked(options),
        progress=shows_progress(),
        prices=None if options.prices is None else read_prices(options.prices),
    )
    heads = ("file", "kind", "run", "suite", "protocol", "attempts", "new", "errors", "passed", "rejected")
    table(
        heads,
        (
            (
                _short(row.source, 48),
                row.format or row.kind,
                row.name,
                row.suite,
                row.protocol,
                row.attempts,
                row.new,
                row.errors,
                row.passed,
                _why(row),
            )
            for row in result.rows
        ),
    )
    print(f"{result.replays} distinct replays, {result.replayed} done now, {result.seconds:.1f} s")
    rejected += result.rejections
    for line in rejected:
        say(line)
    return REJECTED if rejected else 0


def _why(row: LoadedRow) -> str | None:
    """The reason of a rejection without the file, which stands beside it; whole it is said below."""
    return None if row.rejected is None else _short(row.rejected.removeprefix(row.source).lstrip(":, "), 60)


def _short(text: str, width: int) -> str:
    return (
        text
        if len(text) <= width
        else f"{text[: width // 2 - 1]}\N{HORIZONTAL ELLIPSIS}{text[-width // 2 :]}"
    )


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this module's commands."""
    report = commands.add_parser(
        "report",
        parents=[shared.sources(), shared.suites(), shared.replaying()],
        help="load, judge, and write an HTML report",
    )
    report.add_argument("--name", default="report", help="of the report's folder (%(default)s)")
    report.add_argument("--out", type=Path, default=Path("reports"), help="folder of reports (%(default)s)")
    report.add_argument(
        "--with-errata", action="store_true", help="count tasks that cannot be judged fairly too"
    )
    report.add_argument("--show-code", action="store_true", help="pages show their code, folded")
    report.add_argument(
        "--run-all", action="store_true", help="make also the pages of whose inputs nothing changed"
    )
    report.add_argument(
        "--parameter",
        dest="parameters",
        action=Listed,
        type=_parameter,
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of a notebook, such as top_n=10; repeatable",
    )
    unattended = report.add_argument_group("unattended reports", "docs/scheduling.md says how")
    unattended.add_argument(
        "--config", type=Path, metavar="FILE", help=f"settings: these options written down ({FILE}, if there)"
    )
    unattended.add_argument(
        "--fetch",
        action=Listed,
        choices=("vimgolf", "vimbench"),
        default=[],
        help="fetch this suite before; repeatable",
    )
    unattended.add_argument(
        "--new-only", action="store_true", help="write no report where nothing is new since the last good one"
    )
    unattended.add_argument(
        "--baseline",
        choices=("last",),
        help="keep the last good report, also one of the same day, and compare with it",
    )
    unattended.add_argument(
        "--fail-if",
        action=Listed,
        default=[],
        metavar="LIMIT",
        help="exit with 10 where a new run is surely beyond this against the last good report's run of its "
        "model, such as 'pass_rate < -0.02'; repeatable",
    )
    unattended.add_argument(
        "--keep", type=_positive, metavar="N", help="remove all but the newest N reports of this name"
    )
    unattended.add_argument(
        "--notify",
        metavar="COMMAND",
        help="shell command that gets the summary on standard input when the report fails or regresses",
    )
    unattended.add_argument(
        "--log", type=Path, metavar="FILE", help="a line an event (report.log in the folder of reports)"
    )
    unattended.add_argument(
        "--cell-seconds",
        type=int,
        default=SIX_HOURS,
        metavar="N",
        help="a cell of a notebook that takes longer has failed; 0: no limit (%(default)s)",
    )
    unattended.add_argument(
        "--kernel-gib", type=float, metavar="N", help="most memory of a notebook, in GiB (no limit)"
    )
    unattended.add_argument(
        "--kernels", type=_positive, metavar="N", help="notebooks that run at once (one a processor)"
    )
    report.set_defaults(run=_report, settings_for=("report", report))

    load = commands.add_parser(
        "load",
        parents=[shared.sources(), shared.suites(), shared.replaying()],
        help="load and judge, no report",
    )
    load.set_defaults(run=_load)
