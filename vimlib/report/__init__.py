"""Notebooks executed, pages written, history kept: the only place that knows papermill and nbconvert.

A report is a folder `reports/<date>-<name>/`: one self-contained HTML file a page, and beside it
the executed notebook it was made from. It is built in a hidden folder and moved into place when
all of it is good, so that `reports/latest` never shows half a report and stays on the last good
one when a notebook fails; what was executed until then is kept in `reports/<date>-<name>.failed/`.

notebooks: which pages there are, and their parameters. execution, kernel, inside: one notebook
executed. inputs: what a page was made from, so that it is not made again for nothing. history: what
earlier reports said. page, article/, style.css, page.js: one executed notebook as HTML. This package
computes nothing that a page shows: that is the notebooks' calls into the others.
"""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from vimlib.records import VimlibError
from vimlib.report.execution import NotebookFailed, execute
from vimlib.report.history import (
    PREVIOUS,
    SUMMARY,
    Past,
    previous_of,
    prune,
    reports,
    summarise,
    write_index,
)
from vimlib.report.inputs import Made, file_sha256, load_key, loaded_key, page_key, recall, remember
from vimlib.report.kernel import Watch
from vimlib.report.notebooks import (
    FRONT,
    LOAD,
    NotebookMissing,
    Parameter,
    UnknownParameter,
    WrongParameter,
    assign_parameters,
    find_pages,
    fits,
    label_of,
    name_of,
    notebook_parameters,
    notebooks_folder,
    plain_value,
)

__all__ = [
    "BadReportName",
    "NotebookFailed",
    "NotebookMissing",
    "NothingNew",
    "Page",
    "Parameter",
    "Past",
    "ReportBusy",
    "ReportPathTaken",
    "ReportResult",
    "UnknownParameter",
    "WrongParameter",
    "assign_parameters",
    "find_pages",
    "fits",
    "notebook_parameters",
    "notebooks_folder",
    "prune",
    "reports",
    "run_report",
]

_SLUG: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class BadReportName(VimlibError):
    """A name that cannot be part of a folder's name."""

    exit_code = 2


class ReportPathTaken(VimlibError):
    """Something that is not ours stands where `latest` should be."""


class NothingNew(VimlibError):
    """No page has new inputs, and a report was asked for only if one has."""

    exit_code = 0


class ReportBusy(VimlibError):
    """Another report is being made in this folder."""

    exit_code = 9


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a report."""

    file: str
    """File name of the HTML in the report's folder."""
    label: str
    """Name in the navigation."""
    notebook: str
    """File name of the executed notebook beside it."""
    executed: datetime.datetime | None = None
    """Time of the report for which it was executed, where that was an earlier one."""


@dataclass(frozen=True, slots=True)
class ReportResult:
    """A finished report."""

    folder: Path
    """`reports/<date>-<name>`."""
    front: Path
    """Its front page, through the folder's own name."""
    latest: Path
    """The symbolic link that now leads to the folder."""
    pages: tuple[Page, ...]
    """In the order of the navigation, front page first."""
    wall_seconds: float
    """Time for executing and rendering."""
    rejections: tuple[str, ...] = ()
    """A line for everything that the load could not take."""
    executed: tuple[str, ...] = ()
    """File names of the notebooks that were run now; the others had no new inputs."""
    summary: Mapping[str, Any] = field(default_factory=dict)
    """What `summary.json` says; see `history.FIELDS` and `analysis.headlines.FIELDS`."""
    before: Past | None = None
    """The newest good report of this name as it was before this one."""


def run_report(
    name: str,
    *,
    database: Path,
    parameters: Mapping[str, Any] | None = None,
    offered: Mapping[str, Any] | None = None,
    notebooks: Sequence[Path] | None = None,
    out: Path = Path("reports"),
    created: datetime.datetime | None = None,
    show_code: bool = False,
    cell_timeout_seconds: int | None = None,
    kernels: int | None = None,
    kernel_memory_bytes: int | None = None,
    run_all: bool = False,
    replace_same_day: bool = True,
    only_new: bool = False,
    progress: bool | None = None,
) -> ReportResult:
    """Execute the notebooks, write their pages and move `latest` on.

    `name`: letters, digits, '.', '_' and '-'; the folder is `out/<date>-<name>`.
    `replace_same_day`: a report of the same day and name is replaced; else both stay, and this one's
        folder gets a number at its end.
    `only_new`: where there is a good report of this name and no page has new inputs, NothingNew is
        raised and nothing is written.
    `database`: given to every notebook that declares it, as an absolute path.
    `parameters`: further parameters by name; each goes to the notebooks that declare it. Paths
        become strings.
    `offered`: the same, but it is no error if no notebook declares one.
    `notebooks`: files; by default those of `find_pages`. The load runs first and alone, since it
        writes what the others read.
    `created`: the report's own time, the only thing in a page that is not made from data; now
        (UTC) by default. Times without a zone are taken as UTC.
    `show_code`: pages show the code of each step, folded.
    `cell_timeout_seconds`: a cell that takes longer has failed; None: no limit.
    `kernels`: notebooks that run at once; by default one a processor.
    `kernel_memory_bytes`: the most memory that each may have; None: no limit.
    `run_all`: execute also the pages of whose inputs nothing changed since an earlier report.
    `progress`: names each notebook on standard error and passes on what its cells write there, such
        as bars; given to every notebook as `show_progress`; by default, where a terminal looks on.

    Raises UnknownParameter, WrongParameter, NotebookMissing, BadReportName, ReportPathTaken or
    ReportBusy before anything runs, and NotebookFailed where a notebook stops; the others are executed
    all the same, unless it was the load.
    """
    begin = time.monotonic()
    if not _SLUG.fullmatch(name):
        raise BadReportName(
            f"{name!r}: not a name for a report; expected letters, digits, '.', '_' and '-' only."
        )
    files = list(notebooks) if notebooks is not None else find_pages()
    files.sort(key=lambda file: name_of(file) != LOAD)
    progress = sys.stderr.isatty() if progress is None else progress
    shared = {
        "database": str(Path(database).absolute()),
        "show_progress": progress,
        "pages": [page.file for page in arrange(files)],
        **(offered or {}),
    }
    given = {key: plain_value(value) for key, value in {**shared, **(parameters or {})}.items()}
    plan = assign_parameters(files, given, optional=shared)
    latest = out / "latest"
    if latest.exists() and not latest.is_symlink():
        raise ReportPathTaken(f"{latest}: is not a symbolic link; expected to make one there. Move it away.")

    when = created or datetime.datetime.now(datetime.UTC)
    when = when.replace(tzinfo=datetime.UTC) if when.tzinfo is None else when.astimezone(datetime.UTC)
    out.mkdir(parents=True, exist_ok=True)
    with _lock(out):
        _remove_unfinished(out)
        known = reports(out, name)
        folder = _place(out / f"{when:%Y-%m-%d}-{name}", replace_same_day)
        building = out / f".{folder.name}.{os.getpid()}"
        failed = out / f"{folder.name}.failed"
        building.mkdir()
        work = _Work(
            building,
            Path(database),
            when,
            recalled={} if run_all else recall(out),
            known=known,
            cell_seconds=cell_timeout_seconds,
            memory_bytes=kernel_memory_bytes,
            progress=progress,
        )
        try:
            failures = work.execute_all(plan, kernels or len(os.sched_getaffinity(0)))
            remember(building, work.made)
            if failures:
                shutil.rmtree(failed, ignore_errors=True)
                building.rename(failed)
                raise _kept(failures, failed)
            if only_new and known and not work.executed:
                raise NothingNew(f"nothing new since {known[0].folder}")
            pages = _write_pages(building, files, name, when, show_code, work.made)
            rejections = tuple(line for made in work.made.values() for line in made.rejections)
            summary = summarise(
                Path(database),
                report=name,
                created=when,
                store_sha256=work.store_sha256,
                with_errata=bool(given.get("with_errata", False)),
                known=[] if run_all else known,
            )
            summary["pages"] = [{"file": page.file, "label": page.label} for page in pages]
            summary["rejections"] = list(rejections)
            text = json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False)
            (building / SUMMARY).write_text(text + "\n", encoding="utf-8")
            _replace_folder(building, folder)
        finally:
            shutil.rmtree(building, ignore_errors=True)
        shutil.rmtree(failed, ignore_errors=True)
        _point(latest, folder.name)
        write_index(out)
    return ReportResult(
        folder,
        folder / pages[0].file,
        latest,
        pages,
        time.monotonic() - begin,
        rejections,
        tuple(work.executed),
        summary,
        known[0] if known else None,
    )


@contextlib.contextmanager
def _lock(out: Path) -> Iterator[None]:
    """One report at a time in a folder. The kernel drops the lock when the process dies, however it dies."""
    file = os.open(out / ".lock", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ReportBusy(
                f"{out}: another report is being made here; wait until it has ended, or name another folder"
                " with --out"
            ) from None
        yield
    finally:
        os.close(file)


def _remove_unfinished(out: Path) -> None:
    """Remove what reports that were killed have left. Called with the lock, so no other is at work."""
    for left in out.glob(".[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]-*"):
        shutil.rmtree(left, ignore_errors=True)


def _place(folder: Path, replaces: bool) -> Path:
    """The folder for a report: the first of its name that is free, or where the one there is replaced."""
    place, number = folder, 1
    while place.exists() and not replaces:
        number += 1
        place = folder.with_name(f"{folder.name}.{number}")
    return place


class _Work:
    """The notebooks of one report, executed or taken from an earlier one."""

    def __init__(
        self,
        building: Path,
        database: Path,
        created: datetime.datetime,
        *,
        recalled: Mapping[tuple[str, str], tuple[Path, Made]],
        known: Sequence[Past],
        cell_seconds: int | None,
        memory_bytes: int | None,
        progress: bool,
    ) -> None:
        self._building = building
        self._database = database
        self._created = created
        self._recalled = recalled
        self._known = known
        self.store_sha256 = ""
        self._cell_seconds = cell_seconds
        self._memory_bytes = memory_bytes
        self._progress = progress
        self.made: dict[str, Made] = {}
        self.executed: list[str] = []

    def execute_all(
        self, plan: Sequence[tuple[Path, Mapping[str, Any]]], kernels: int
    ) -> list[NotebookFailed]:
        """Do the load in this thread, alone, then the others; the failures in the plan's order."""
        rest = []
        for notebook, values in plan:
            if name_of(notebook) != LOAD:
                rest.append((notebook, values))
                continue
            try:
                self._load(notebook, values)
            except NotebookFailed as failure:
                return [failure]
        store = self.store_sha256 = file_sha256(self._database)
        before = self._previous()
        rest = [
            (
                notebook,
                {**values, "previous": before} if "previous" in notebook_parameters(notebook) else values,
            )
            for notebook, values in rest
        ]
        keys = {notebook: page_key(notebook, values, store) for notebook, values in rest}
        failures = []
        with _pool(kernels, self._memory_bytes) as pool:
            running = [
                pool.submit(self._execute, notebook, values)
                for notebook, values in rest
                if not self._taken(notebook, keys[notebook])
            ]
            for future in running:
                try:
                    notebook = future.result()
                except NotebookFailed as failure:
                    failures.append(failure)
                else:
                    self.made[notebook.name] = Made(keys[notebook], self._created)
        return failures

    def _previous(self) -> str:
        """The summary that this report compares itself with, copied beside its pages; '' for none."""
        before = previous_of(self._known, self.store_sha256)
        if before is None:
            return ""
        copy = self._building / PREVIOUS
        shutil.copyfile(before, copy)
        return str(copy.absolute())

    def _load(self, notebook: Path, values: Mapping[str, Any]) -> None:
        before = load_key(notebook, values)
        done = loaded_key(before, file_sha256(self._database))
        if done is not None and self._taken(notebook, done):
            return
        outcome = self._building / ".outcome.json"
        if "outcome_file" in notebook_parameters(notebook):
            values = {**values, "outcome_file": str(outcome.absolute())}
        self._execute(notebook, values, Watch(self._memory_bytes))
        rejections: tuple[str, ...] = ()
        if outcome.is_file():
            from vimlib.load import read_outcome

            rejections = read_outcome(outcome)
            outcome.unlink()
        key = loaded_key(before, file_sha256(self._database))
        self.made[notebook.name] = Made(key or "", self._created, rejections)

    def _taken(self, notebook: Path, key: str) -> bool:
        """Whether an earlier report has the page, which then is in this one too."""
        found = self._recalled.get((notebook.name, key))
        if found is None:
            return False
        executed, made = found
        shutil.copyfile(executed, self._building / notebook.name)
        self.made[notebook.name] = made
        return True

    def _execute(self, notebook: Path, values: Mapping[str, Any], watch: Watch) -> Path:
        if self._progress:
            print(f"{notebook.name} …", file=sys.stderr, flush=True)
        self.executed.append(notebook.name)
        execute(
            notebook,
            self._building / notebook.name,
            values,
            watch=watch,
            cell_seconds=self._cell_seconds,
            passes_on_stderr=self._progress,
        )
        return notebook


class _Pool:
    """Threads that execute notebooks, each with a watch over its kernel."""

    def __init__(self, threads: ThreadPoolExecutor, memory_bytes: int | None) -> None:
        self._threads = threads
        self._memory_bytes = memory_bytes
        self.watches: list[Watch] = []

    def submit(
        self,
        function: Callable[[Path, Mapping[str, Any], Watch], Path],
        notebook: Path,
        values: Mapping[str, Any],
    ) -> Future[Path]:
        watch = Watch(self._memory_bytes)
        self.watches.append(watch)
        return self._threads.submit(function, notebook, values, watch)


@contextlib.contextmanager
def _pool(size: int, memory_bytes: int | None) -> Iterator[_Pool]:
    """A pool that, interrupted, ends its kernels instead of waiting for them."""
    threads = ThreadPoolExecutor(size, thread_name_prefix="notebook")
    pool = _Pool(threads, memory_bytes)
    try:
        yield pool
    except BaseException:
        threads.shutdown(wait=False, cancel_futures=True)
        for watch in pool.watches:
            watch.stop()
        raise
    finally:
        threads.shutdown(wait=True, cancel_futures=True)


def _kept(failures: Sequence[NotebookFailed], folder: Path) -> NotebookFailed:
    """The first failure, with where its executed copy is now, and the others in its words."""
    first, *others = failures
    cause = first.cause
    if others:
        cause += f" (and {'; '.join(other.what for other in others)})"
    kept = NotebookFailed(first.notebook, first.cell, first.heading, cause, folder / first.notebook)
    kept.__cause__ = first.__cause__
    return kept


def _write_pages(
    folder: Path,
    notebooks: Sequence[Path],
    name: str,
    created: datetime.datetime,
    show_code: bool,
    made: Mapping[str, Made],
) -> tuple[Page, ...]:
    from vimlib.report.page import render

    pages = tuple(
        replace(page, executed=then) if (then := made[page.notebook].executed) != created else page
        for page in arrange(notebooks)
    )
    for page in pages:
        written = render(
            folder / page.notebook, page, pages, report=name, created=created, show_code=show_code
        )
        for file, text in written.items():
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_text(text, encoding="utf-8")
    return pages


def arrange(notebooks: Sequence[Path]) -> tuple[Page, ...]:
    """The pages of notebooks as a reader meets them: the front page, the others in order, the load last.

    Where no notebook is `FRONT`, the first that is not the load is the front page.
    """
    order = sorted(notebooks, key=lambda one: {FRONT: 0, LOAD: 2}.get(name_of(one), 1))
    return tuple(
        Page("index.html" if place == 0 else f"{name_of(one)}.html", label_of(one), one.name)
        for place, one in enumerate(order)
    )


def _replace_folder(new: Path, place: Path) -> None:
    """Put a folder where an older one may be. Between the two renames a reader finds neither."""
    old = place.with_name(f".{place.name}.old.{os.getpid()}")
    if place.exists():
        place.rename(old)
    new.rename(place)
    shutil.rmtree(old, ignore_errors=True)


def _point(link: Path, target: str) -> None:
    """Let the symbolic link lead to its neighbour `target`, atomically."""
    new = link.with_name(f".{link.name}.{os.getpid()}")
    new.unlink(missing_ok=True)
    new.symlink_to(target, target_is_directory=True)
    new.replace(link)
