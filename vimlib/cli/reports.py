"""`vimlib report` and `vimlib load`: sources into the store, and pages out of it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from vimlib.cli import options as shared
from vimlib.cli.options import (
    REJECTED,
    absolute_suite,
    confinement_asked,
    executor_asked,
    solvers_asked,
    suites_asked,
)
from vimlib.cli.terminal import say, shows_progress, table

if TYPE_CHECKING:
    from vimlib.load import LoadedRow


def _report(options: argparse.Namespace) -> int:
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
    result = run_report(
        options.name,
        database=options.database,
        parameters={
            "suites": [absolute_suite(suite) for suite in suites_asked(options)],
            "sources": [str(path.absolute()) for path in options.runs],
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
        run_all=options.run_all,
    )
    for line in result.rejections:
        say(line)
    print(f"{result.latest / 'index.html'} ({result.folder}; {result.wall_seconds:.0f} s)")
    return REJECTED if result.rejections else 0


def _load(options: argparse.Namespace) -> int:
    from vimlib.load import load
    from vimlib.prices import read_prices

    result = load(
        options.database,
        suites_asked(options),
        options.runs,
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
    for line in result.rejections:
        say(line)
    return REJECTED if result.rejections else 0


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
    report.set_defaults(run=_report)

    load = commands.add_parser(
        "load",
        parents=[shared.sources(), shared.suites(), shared.replaying()],
        help="load and judge, no report",
    )
    load.set_defaults(run=_load)
