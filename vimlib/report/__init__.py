"""Notebooks executed, pages written, history kept: the only place that knows papermill and nbconvert.

A report is a folder `reports/<date>-<name>/`: one self-contained HTML file a page, and beside it
the executed notebook it was made from. It is built in a hidden folder and moved into place when
all of it is good, so that `reports/latest` never shows half a report and stays on the last good
one when a notebook fails; what was executed until then is kept in `reports/<date>-<name>.failed/`.

papermill and nbconvert leave gaps, which are closed here: papermill only logs a warning for a
parameter that the notebook does not have, runs whatever Python a kernelspec of that name happens
to point to, and raises other errors than its own when a kernel dies; nbconvert's templates load
scripts from other hosts. This module computes nothing that a page shows: that is the notebooks'
calls into the package.
"""

from __future__ import annotations

import contextlib
import datetime
import difflib
import logging
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import nbformat

from vimlib.records import VimlibError

FRONT: Final = "overview"
"""The notebook (without its number) whose page is the report's `index.html`."""

NOTEBOOKS: Final = ("01_load.ipynb", "02_overview.ipynb")
"""The pages of a report, in the order in which they are executed."""

_SLUG: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_TYPES: Final[dict[str, type]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "list": list,
    "dict": dict,
}


class NotebookMissing(VimlibError):
    """A notebook that should be executed is not there, or is no notebook."""


class UnknownParameter(VimlibError):
    """A parameter that none of the notebooks declares."""

    exit_code = 2


class WrongParameter(VimlibError):
    """A parameter whose value is not of the type that its notebook declares."""

    exit_code = 2


class BadReportName(VimlibError):
    """A name that cannot be part of a folder's name."""

    exit_code = 2


class ReportPathTaken(VimlibError):
    """Something that is not ours stands where `latest` should be."""


class NotebookFailed(VimlibError):
    """A notebook stopped in a cell. `latest` is where it was; the executed copy is kept."""

    exit_code = 3

    def __init__(self, notebook: str, cell: int, heading: str, cause: str, executed: Path) -> None:
        self.notebook = notebook
        """File name of the notebook."""
        self.cell = cell
        """Place of the failing cell among the cells of the notebook as written, from 1; 0: none was begun."""
        self.heading = heading
        """The last heading above that cell; '' where there is none."""
        self.cause = cause
        """The error in one line."""
        self.executed = executed
        """The executed copy, with traceback."""
        under = f" (under “{heading}”)" if heading else ""
        where = f"cell {cell}{under}" if cell else "before the first cell"
        super().__init__(
            f"{notebook}, {where}: {cause}. The executed copy is {executed}; `latest` was left as it was."
        )


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a report."""

    file: str
    """File name of the HTML in the report's folder."""
    label: str
    """Name in the navigation."""
    notebook: str
    """File name of the executed notebook beside it."""


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


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter that a notebook declares in its cell tagged `parameters`."""

    name: str
    type: str
    """Its annotation: str, int, float, bool or list[str]; 'None': not annotated."""
    default: str
    """As written."""
    help: str
    """Its comment."""


def notebooks_folder() -> Path:
    """The project's `notebooks/`: in the current directory, else beside the installed package."""
    here = Path("notebooks")
    return here if here.is_dir() else Path(__file__).resolve().parents[2] / "notebooks"


def notebook_parameters(notebook: Path) -> dict[str, Parameter]:
    """The parameters that a notebook declares, in its order.

    Raises NotebookMissing where the file is missing or is not a notebook.
    """
    import papermill

    if not notebook.is_file():
        raise NotebookMissing(
            f"{notebook}: no such notebook; expected a file such as notebooks/02_overview.ipynb."
        )
    try:
        with _papermill_quiet():
            found = papermill.inspect_notebook(str(notebook))
    except (nbformat.reader.NotJSONError, nbformat.ValidationError, KeyError, ValueError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise NotebookMissing(
            f"{notebook}: not a Python notebook ({first}); expected nbformat 4 JSON that names its kernel."
        ) from error
    return {
        name: Parameter(
            name, "".join(str(p["inferred_type_name"]).split()), str(p["default"]), str(p["help"])
        )
        for name, p in found.items()
    }


def run_report(
    name: str,
    *,
    database: Path,
    parameters: Mapping[str, Any] | None = None,
    notebooks: Sequence[Path] | None = None,
    out: Path = Path("reports"),
    created: datetime.datetime | None = None,
    show_code: bool = False,
    cell_timeout_seconds: int | None = None,
    progress: bool | None = None,
) -> ReportResult:
    """Execute the notebooks, write their pages and move `latest` on.

    `name`: letters, digits, '.', '_' and '-'; the folder is `out/<date>-<name>`, and a report of
        the same day and name is replaced.
    `database`: given to every notebook that declares it, as an absolute path.
    `parameters`: further parameters by name; each goes to the notebooks that declare it. Paths
        become strings.
    `notebooks`: files in the order of execution; by default those of `NOTEBOOKS`.
    `created`: the report's own time, the only thing in a page that is not made from data; now
        (UTC) by default. Times without a zone are taken as UTC.
    `show_code`: pages show the code of each step, folded.
    `cell_timeout_seconds`: a cell that takes longer has failed; None: no limit.
    `progress`: names each notebook on standard error and passes on what its cells write there, such
        as bars; given to every notebook as `show_progress`; by default, where a terminal looks on.

    Raises UnknownParameter, WrongParameter, NotebookMissing, BadReportName or ReportPathTaken
    before anything runs, and NotebookFailed where a notebook stops.
    """
    begin = time.monotonic()
    if not _SLUG.fullmatch(name):
        raise BadReportName(
            f"{name!r}: not a name for a report; expected letters, digits, '.', '_' and '-' only."
        )
    files = list(notebooks) if notebooks is not None else [notebooks_folder() / file for file in NOTEBOOKS]
    progress = sys.stderr.isatty() if progress is None else progress
    given = {"database": str(Path(database).absolute()), "show_progress": progress} | {
        key: _plain_value(value) for key, value in (parameters or {}).items()
    }
    plan = assign_parameters(files, given, optional={"database", "show_progress"})
    latest = out / "latest"
    if latest.exists() and not latest.is_symlink():
        raise ReportPathTaken(f"{latest}: is not a symbolic link; expected to make one there. Move it away.")

    when = created or datetime.datetime.now(datetime.UTC)
    when = when.replace(tzinfo=datetime.UTC) if when.tzinfo is None else when.astimezone(datetime.UTC)
    folder = out / f"{when:%Y-%m-%d}-{name}"
    building = out / f".{folder.name}.{os.getpid()}"
    failed = out / f"{folder.name}.failed"
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir(parents=True)
    try:
        for notebook, values in plan:
            if progress:
                print(f"{notebook.name} …", file=sys.stderr, flush=True)
            try:
                _execute(notebook, building / notebook.name, values, cell_timeout_seconds, progress)
            except NotebookFailed as error:
                shutil.rmtree(failed, ignore_errors=True)
                building.rename(failed)
                kept = failed / notebook.name
                raise NotebookFailed(
                    error.notebook, error.cell, error.heading, error.cause, kept
                ) from error.__cause__
        pages = _write_pages(building, [file for file, _ in plan], name, when, show_code)
        _replace_folder(building, folder)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    shutil.rmtree(failed, ignore_errors=True)
    _point(latest, folder.name)
    return ReportResult(folder, folder / pages[0].file, latest, pages, time.monotonic() - begin)


def assign_parameters(
    notebooks: Sequence[Path], given: Mapping[str, Any], *, optional: set[str] | frozenset[str] = frozenset()
) -> list[tuple[Path, dict[str, Any]]]:
    """Give each notebook the parameters it declares.

    Returns one (notebook, its parameters) a notebook, in the given order. Raises UnknownParameter
    for one that no notebook declares (unless it is `optional`), WrongParameter for a value of
    another type than declared.
    """
    declared = {notebook: notebook_parameters(notebook) for notebook in notebooks}
    known = {name for parameters in declared.values() for name in parameters}
    for name in given:
        if name not in known and name not in optional:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else "."
            files = ", ".join(notebook.name for notebook in notebooks)
            raise UnknownParameter(
                f"{name!r} is no parameter of {files}; expected one of "
                f"{', '.join(sorted(known)) or 'none'}{hint}"
            )
    plan = []
    for notebook, parameters in declared.items():
        values = {name: given[name] for name in parameters if name in given}
        for name, value in values.items():
            if not fits(value, parameters[name].type):
                raise WrongParameter(
                    f"{name} = {value!r}: {notebook.name} expects {parameters[name].type}, "
                    f"for instance {parameters[name].default}."
                )
        plan.append((notebook, values))
    return plan


def fits(value: object, annotation: str) -> bool:
    """Whether a value is of an annotated type: str, int, float, bool, list[...], dict; anything else fits."""
    outer, _, inner = annotation.partition("[")
    expected = _TYPES.get(outer)
    if expected is None:
        return True
    if expected is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if not isinstance(value, expected) or (expected is int and isinstance(value, bool)):
        return False
    return not (isinstance(value, list) and inner) or all(
        fits(item, inner.removesuffix("]")) for item in value
    )


def _plain_value(value: object) -> object:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, list | tuple):
        return [_plain_value(item) for item in value]
    return value


def _execute(
    notebook: Path,
    executed: Path,
    values: Mapping[str, Any],
    cell_timeout_seconds: int | None,
    progress: bool,
) -> None:
    import papermill

    from vimlib.report.kernel import OwnPythonKernel

    try:
        with _papermill_quiet():
            papermill.execute_notebook(
                str(notebook),
                str(executed),
                parameters=dict(values),
                kernel_name="python3",
                language="python",
                progress_bar=False,
                stderr_file=sys.stderr if progress else None,
                execution_timeout=cell_timeout_seconds,
                kernel_manager_class=OwnPythonKernel,
            )
    except KeyboardInterrupt:
        # The kernel was interrupted as well, and may be gone: no news, and nobody waits for its tasks.
        logging.getLogger("asyncio").disabled = True
        raise
    except Exception as error:
        cell, heading = _stopped_at(executed, died=True)
        cause = getattr(error, "ename", None)
        message = f"{cause}: {getattr(error, 'evalue', '')}" if cause else f"{type(error).__name__}: {error}"
        raise NotebookFailed(notebook.name, cell, heading, _one_line(message), executed) from error
    cell, heading = _stopped_at(executed)
    if cell:
        raise NotebookFailed(notebook.name, cell, heading, "the cell did not complete", executed)


def _one_line(message: str, limit: int = 300) -> str:
    line = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", message).split()).rstrip(".: ")
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _own_cells(executed: Path) -> list[Any]:
    """The cells of an executed notebook that its author wrote: papermill's own are left out."""
    added = {"injected-parameters", "papermill-error-cell-tag"}
    book = nbformat.read(executed, as_version=4)
    return [cell for cell in book.cells if not added & set(cell.metadata.get("tags", []))]


def _stopped_at(executed: Path, *, died: bool = False) -> tuple[int, str]:
    """Place, from 1, of the own code cell that did not complete, and the last heading above it.

    (0, '') where all completed, or none was begun. `died`: the execution is known to have stopped;
    where no cell says so (a kernel that died cannot), it was in the last that was begun.
    """
    if not executed.is_file():
        return 0, ""
    heading = ""
    begun: tuple[int, str] = (0, "")
    for place, cell in enumerate(_own_cells(executed), start=1):
        if cell.cell_type == "markdown":
            found = re.findall(r"^#{1,6}\s+(.*?)\s*$", cell.source, flags=re.M)
            heading = found[-1] if found else heading
        if cell.cell_type != "code":
            continue
        state = cell.metadata.get("papermill", {})
        # An object that fails to show itself leaves an error among the outputs of a completed cell.
        shown = any(output.output_type == "error" for output in cell.get("outputs", []))
        if shown or state.get("exception") or state.get("status") in {"running", "failed"}:
            return place, heading
        if state.get("start_time") is None:
            return begun if died else (place, heading)
        begun = (place, heading)
    return begun if died else (0, "")


@contextlib.contextmanager
def _papermill_quiet() -> Iterator[None]:
    """What papermill warns of, and what it logs of a kernel's death, are errors here, which say it
    themselves; silence it, and only it, for the while."""
    logger = logging.getLogger("papermill")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


def _page_of(notebook: Path) -> Page:
    stem = re.sub(r"^\d+[_-]", "", notebook.stem)
    title = nbformat.read(notebook, as_version=4).metadata.get("title")
    label = str(title) if title else stem.replace("_", " ").capitalize()
    return Page("index.html" if stem == FRONT else f"{stem}.html", label, notebook.name)


def _write_pages(
    folder: Path, notebooks: Sequence[Path], name: str, created: datetime.datetime, show_code: bool
) -> tuple[Page, ...]:
    from vimlib.report.page import render

    pages = [_page_of(folder / notebook.name) for notebook in notebooks]
    if not any(page.file == "index.html" for page in pages):
        last = pages[-1]
        pages[-1] = Page("index.html", last.label, last.notebook)
    pages.sort(key=lambda page: page.file != "index.html")
    for page in pages:
        text = render(folder / page.notebook, page, pages, report=name, created=created, show_code=show_code)
        (folder / page.file).write_text(text, encoding="utf-8")
    return tuple(pages)


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
