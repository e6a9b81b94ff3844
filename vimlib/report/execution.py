"""One notebook executed like a function: done, or the failing cell named. Only this knows papermill.

papermill leaves gaps, which are closed here: it runs whatever Python a kernelspec of that name
happens to point to, raises other errors than its own when a kernel dies, and takes a cell for done
whose magic failed or whose object could not show itself.
"""

from __future__ import annotations

import contextlib
import json
import logging
import re
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vimlib.records import VimlibError
from vimlib.report.kernel import Watch, watched


class NotebookFailed(VimlibError):
    """A notebook stopped in a cell. `latest` is where it was; the executed copy is kept."""

    exit_code = 8

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
        super().__init__(f"{self.what}. The executed copy is {executed}; `latest` was left as it was.")

    @property
    def what(self) -> str:
        """Notebook, cell and cause."""
        under = f" (under “{self.heading}”)" if self.heading else ""
        where = f"cell {self.cell}{under}" if self.cell else "before the first cell"
        return f"{self.notebook}, {where}: {self.cause}"


def execute(
    notebook: Path,
    executed: Path,
    values: Mapping[str, Any],
    *,
    watch: Watch,
    cell_seconds: int | None = None,
    passes_on_stderr: bool = False,
) -> None:
    """Execute a notebook in a kernel of its own, in the notebook's folder, and write the executed copy.

    `executed` is written after every cell, so that it is there whatever happens. `cell_seconds`: a
    cell that takes longer has failed; None: no limit. Raises NotebookFailed.
    """
    import papermill

    try:
        with _papermill_quiet():
            papermill.execute_notebook(
                str(notebook.absolute()),
                str(executed.absolute()),
                parameters=dict(values),
                kernel_name="python3",
                language="python",
                progress_bar=False,
                stderr_file=sys.stderr if passes_on_stderr else None,
                execution_timeout=cell_seconds,
                kernel_manager_class=watched(watch),
                resources={"metadata": {"path": str(notebook.absolute().parent)}},
            )
    except KeyboardInterrupt:
        # The kernel was interrupted as well, and may be gone: no news, and nobody waits for its tasks.
        logging.getLogger("asyncio").disabled = True
        raise
    except Exception as error:
        cell, heading = _stopped_at(executed, died=True)
        cause = getattr(error, "ename", None)
        message = f"{cause}: {getattr(error, 'evalue', '')}" if cause else f"{type(error).__name__}: {error}"
        if cause == "CellExecutionError" and cell:
            # papermill's word for an error that left no traceback among the outputs.
            message = _said(executed, cell)
        elif type(error).__name__ == "DeadKernelError" and (why := watch.why()):
            message = f"DeadKernelError: {why}"
        raise NotebookFailed(notebook.name, cell, heading, _one_line(message), executed) from error
    finally:
        # A cell's own background processes would outlive the kernel.
        watch.stop()
    cell, heading = _stopped_at(executed)
    if cell:
        raise NotebookFailed(notebook.name, cell, heading, _said(executed, cell), executed)


def _one_line(message: str, limit: int = 300) -> str:
    line = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", message).split()).rstrip(".: ")
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _own_cells(executed: Path) -> list[dict[str, Any]]:
    """The cells of an executed notebook that its author wrote: papermill's own are left out."""
    added = {"injected-parameters", "papermill-error-cell-tag"}
    book = json.loads(executed.read_text(encoding="utf-8"))
    return [cell for cell in book["cells"] if not added & set(cell["metadata"].get("tags", []))]


def _text(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else "".join(lines)


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
        if cell["cell_type"] == "markdown":
            found = re.findall(r"^#{1,6}\s+(.*?)\s*$", _text(cell["source"]), flags=re.M)
            heading = found[-1] if found else heading
        if cell["cell_type"] != "code":
            continue
        state = cell["metadata"].get("papermill", {})
        # An object that fails to show itself leaves an error among the outputs of a completed cell.
        shown = any(output["output_type"] == "error" for output in cell.get("outputs", []))
        if shown or state.get("exception") or state.get("status") in {"running", "failed"}:
            return place, heading
        if state.get("start_time") is None:
            return begun if died else (place, heading)
        begun = (place, heading)
    return begun if died else (0, "")


def _said(executed: Path, cell: int) -> str:
    """What a cell without a traceback said of its failure: a magic's last words on the error stream, or
    with what SystemExit it ended, which IPython follows by advice for people."""
    outputs = _own_cells(executed)[cell - 1].get("outputs", [])
    for output in reversed(outputs):
        if output["output_type"] == "stream" and (
            ended := re.findall(r"^SystemExit\b.*", _text(output["text"]), flags=re.M)
        ):
            return _one_line(ended[-1])
        if output["output_type"] == "error":
            return _one_line(f"{output['ename']}: {output['evalue']}")
        if output["output_type"] == "stream" and output["name"] == "stderr" and _text(output["text"]).strip():
            return _one_line(_text(output["text"]).strip().splitlines()[-1])
    return "the cell did not complete"


_quiet_guard = threading.Lock()
_quiet_depth = 0
_loud_level = logging.NOTSET


@contextlib.contextmanager
def _papermill_quiet() -> Iterator[None]:
    """What papermill warns of, and what it logs of a kernel's death, are errors here, which say it
    themselves; silence it, and only it, while notebooks are executed, in however many threads."""
    global _quiet_depth, _loud_level
    logger = logging.getLogger("papermill")
    with _quiet_guard:
        if not _quiet_depth:
            _loud_level = logger.level
            logger.setLevel(logging.CRITICAL)
        _quiet_depth += 1
    try:
        yield
    finally:
        with _quiet_guard:
            _quiet_depth -= 1
            if not _quiet_depth:
                logger.setLevel(_loud_level)
