"""The options that several commands share, and what is made of them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from vimlib.cli.settings import Listed
from vimlib.cli.terminal import say
from vimlib.records import VimlibError

if TYPE_CHECKING:
    from concurrent.futures import Executor

T = TypeVar("T")

RUNS = Path("data/runs")
"""Where the logs of runs are kept, and where a report looks for them."""

REJECTED = 3
"""Exit code: something was rejected and the rest done."""


def replaying() -> argparse.ArgumentParser:
    """How answers are replayed."""
    parent = argparse.ArgumentParser(add_help=False)
    parent.add_argument(
        "--unconfined", action="store_true", help="replay without confinement: only answers that you trust"
    )
    parent.add_argument(
        "--cache",
        type=Path,
        default=Path("data/cache/replays.sqlite"),
        help="file of kept replays (%(default)s)",
    )
    parent.add_argument(
        "--no-cache", dest="cache", action="store_const", const=None, help="keep and use no replays"
    )
    parent.add_argument(
        "--scheduler",
        default="",
        metavar="tcp://HOST:8786",
        help="replay on the Dask cluster with this scheduler instead of this machine",
    )
    parent.add_argument(
        "--mixed-vim", action="store_true", help="let its workers have another Vim than this machine"
    )
    parent.set_defaults(cluster=None)
    return parent


def suites() -> argparse.ArgumentParser:
    """Which suites."""
    parent = argparse.ArgumentParser(add_help=False)
    parent.add_argument(
        "--suite",
        action=Listed,
        default=[],
        metavar="S",
        help="a suite: built-in name (seed), fetched name (vimgolf, vimbench), file or folder; repeatable",
    )
    parent.add_argument(
        "--format",
        choices=("vimgolf", "vimbench", "vimlib", "challenge", "vimgolf-gym"),
        help="the format of suites that are files, instead of recognising it",
    )
    return parent


def sources() -> argparse.ArgumentParser:
    """Which runs and solvers, and the store that they go to."""
    parent = argparse.ArgumentParser(add_help=False)
    parent.add_argument(
        "runs",
        nargs="*",
        type=run_source,
        help="run files, folders of them, or URLs that fsspec reads (s3://…), files or folders",
    )
    parent.add_argument(
        "--database", type=Path, default=Path("data/vimlib.duckdb"), help="the store (%(default)s)"
    )
    parent.add_argument("--solver", action=Listed, metavar="NAME", help="only this solver; repeatable")
    parent.add_argument(
        "--prices",
        type=Path,
        metavar="FILE",
        help="prices (YAML or JSON) of models that the packaged price list does not know",
    )
    return parent


def run_source(text: str) -> str | Path:
    """A source as it is given: a URL stays text, since a path would lose one of its slashes."""
    from vimlib.runs.remote import is_remote

    return text if is_remote(text) else Path(text)


def local_sources(runs: Iterable[str | Path], rejected: list[str]) -> list[Path]:
    """The sources as local files and folders. What lies elsewhere is fetched; where that fails, it is
    what an earlier fetch left, if anything, with a line in `rejected`."""
    from vimlib.runs import remote

    found = []
    for source in runs:
        if isinstance(source, Path):
            found.append(source)
            continue
        try:
            found.append(remote.mirror(source)[0])
        except VimlibError as error:
            before = remote.kept(source)
            rejected.append(str(error) + ("; went on with what was fetched before" if before else ""))
            found += [before] if before else []
    return found


def one_protocol() -> argparse.ArgumentParser:
    """A protocol instead of the suite's own."""
    parent = argparse.ArgumentParser(add_help=False)
    parent.add_argument("--protocol", choices=("golf", "bench"), help="instead of the suite's own")
    return parent


def runs_asked(options: argparse.Namespace) -> list[str]:
    """The runs asked for; with neither runs nor suites, those that are kept where `vimlib run` puts them."""
    if options.runs or options.suite or not any(RUNS.rglob("*.eval")):
        return list(options.runs)
    return [str(RUNS)]


def suites_asked(options: argparse.Namespace) -> list[str]:
    """The suites asked for; with no runs either, the built-in one for the solvers to answer."""
    return options.suite or ([] if options.runs else ["seed"])


def absolute_suite(suite: str) -> str:
    """A suite file by its absolute path, for a notebook that runs elsewhere; a built-in name as it is."""
    return str(Path(suite).absolute()) if Path(suite).exists() else suite


def confinement_asked(options: argparse.Namespace) -> Any:
    """The confinement asked for. Raises ConfinementUnavailable where a part of it is missing here.

    Whether a cluster's workers have all parts, `connected` asks.
    """
    from vimlib.sandbox import Confinement, ConfinementUnavailable, unavailable

    if options.unconfined:
        return Confinement.NONE
    if not options.scheduler and (lacking := unavailable()):
        raise ConfinementUnavailable(lacking)
    return Confinement.FULL


def executor_asked(options: argparse.Namespace) -> Executor | None:
    """The cluster asked for, connected until the command ends; None for this machine's own cores."""
    from vimlib.replay import connected

    if not options.scheduler:
        return None
    if options.cluster is None:
        options.cluster = options.until_the_end.enter_context(
            connected(options.scheduler, confinement=confinement_asked(options), mixed_vim=options.mixed_vim)
        )
        if options.cluster.note:
            say(options.cluster.note)
    executor: Executor = options.cluster
    return executor


def solvers_asked(options: argparse.Namespace) -> list[str]:
    """The solvers asked for, by default all. Raises UnknownSolver."""
    from vimlib.solvers import SOLVERS, UnknownSolver

    for name in options.solver or ():
        if name not in SOLVERS:
            raise UnknownSolver(name)
    return options.solver or list(SOLVERS)


def good(read: Callable[[Any], T], given: Iterable[Any], rejected: list[str]) -> Iterator[T]:
    """What can be read of the given things; a line in `rejected` for each that cannot."""
    for one in given:
        try:
            found = read(one)
        except VimlibError as error:
            rejected.append(str(error))
        else:
            yield found
