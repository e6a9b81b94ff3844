"""Which notebooks make a report, in which order, and what each of them wants to be told.

A page is every numbered notebook of `notebooks/` from 01 on, and every other one there that has a
cell tagged `parameters`: a user's own page needs no registration. `00_explore.ipynb` is for hands
alone, and so are JupyterLab's duplicates and unnamed notebooks, which a half-tried thought must not
put into a report. Notebooks are read as JSON here, without the libraries that execute and render
them, because a report that finds nothing new should not wait for their import.
"""

from __future__ import annotations

import ast
import difflib
import io
import json
import os
import re
import tokenize
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from vimlib.records import VimlibError

FRONT: Final = "overview"
"""The notebook (without its number) whose page is the report's `index.html`."""

LOAD: Final = "load"
"""The notebook (without its number) that writes the store, and therefore runs before all others."""

_NOT_PAGES: Final = re.compile(r"00_.*|Untitled\d*|.*-Copy\d+")
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


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter that a notebook declares in its cell tagged `parameters`."""

    name: str
    type: str
    """Its annotation: str, int, float, bool, list[str] or Literal[...]; 'None': not annotated."""
    default: str
    """As written."""
    help: str
    """Its comment."""


def notebooks_folder() -> Path:
    """The project's `notebooks/`: in the current directory, else beside the installed package."""
    here = Path("notebooks")
    return here if here.is_dir() else Path(__file__).resolve().parents[2] / "notebooks"


def find_pages(folder: Path | None = None) -> list[Path]:
    """The notebooks of a folder that are pages of a report: the load first, then by name.

    `folder`: by default `notebooks_folder()`. Raises NotebookMissing where there is none, or where
    a candidate is no notebook.
    """
    folder = notebooks_folder() if folder is None else folder
    found = [
        path
        for path in sorted(folder.glob("*.ipynb"))
        if not _NOT_PAGES.fullmatch(path.stem)
        and (re.match(r"\d\d_", path.stem) or _parameters_cell(path) is not None)
    ]
    if not found:
        raise NotebookMissing(
            f"{folder}: holds no page; expected notebooks such as 01_load.ipynb, or one of yours with a cell"
            " tagged `parameters`."
        )
    return sorted(found, key=lambda path: name_of(path) != LOAD)


def name_of(notebook: Path) -> str:
    """What a notebook is called without its number: `overview` for `02_overview.ipynb`."""
    return re.sub(r"^\d+[_-]", "", notebook.stem)


def label_of(notebook: Path) -> str:
    """What the navigation calls its page: the notebook's `title` in its metadata, else its name."""
    title = _read(notebook).get("metadata", {}).get("title")
    return str(title) if title else name_of(notebook).replace("_", " ").capitalize()


def _read(notebook: Path) -> dict[str, Any]:
    """The JSON of a notebook. Raises NotebookMissing."""
    if not notebook.is_file():
        raise NotebookMissing(
            f"{notebook}: no such notebook; expected a file such as notebooks/02_overview.ipynb."
        )
    try:
        book = json.loads(notebook.read_text(encoding="utf-8"))
        if not isinstance(book, dict) or book.get("nbformat") != 4 or not isinstance(book["cells"], list):
            raise ValueError("no cells of nbformat 4")
    except (ValueError, KeyError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise NotebookMissing(
            f"{notebook}: not a Python notebook ({first}); expected nbformat 4 JSON."
        ) from error
    return book


def _parameters_cell(notebook: Path) -> str | None:
    for cell in _read(notebook)["cells"]:
        if cell.get("cell_type") == "code" and "parameters" in cell.get("metadata", {}).get("tags", ()):
            source = cell.get("source", "")
            return source if isinstance(source, str) else "".join(source)
    return None


def notebook_parameters(notebook: Path) -> dict[str, Parameter]:
    """The parameters that a notebook declares, in its order.

    Raises NotebookMissing where the file is missing or is not a notebook.
    """
    source = _parameters_cell(notebook) or ""
    try:
        tree = ast.parse(source)
        comments = {
            token.start[0]: token.string.lstrip("# ").rstrip()
            for token in tokenize.generate_tokens(io.StringIO(source).readline)
            if token.type == tokenize.COMMENT
        }
    except (SyntaxError, tokenize.TokenError):
        # Executed, the cell says itself what is wrong with it, and a report names the cell.
        return {}
    found = {}
    for node in tree.body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=ast.expr() as value):
                kind = ast.unparse(annotation).replace(" ", "").strip("'\"")
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                kind = "None"
            case _:
                continue
        default = ast.get_source_segment(source, value) or ast.unparse(value)
        found[name] = Parameter(name, kind, default, comments.get(node.end_lineno or node.lineno, ""))
    return found


def assign_parameters(
    notebooks: Sequence[Path], given: Mapping[str, Any], *, optional: Iterable[str] = ()
) -> list[tuple[Path, dict[str, Any]]]:
    """Give each notebook the parameters it declares.

    Returns one (notebook, its parameters) a notebook, in the given order. Raises UnknownParameter
    for one that no notebook declares (unless it is `optional`), WrongParameter for a value of
    another type than declared.
    """
    may_be_unknown = set(optional)
    declared = {notebook: notebook_parameters(notebook) for notebook in notebooks}
    known = {name for parameters in declared.values() for name in parameters}
    for name in given:
        if name not in known and name not in may_be_unknown:
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
    """Whether a value is of an annotated type: str, int, float, bool, list[...], dict, or one of the values
    of a Literal[...]; anything else fits."""
    outer, _, inner = annotation.partition("[")
    if outer == "Literal":
        return value in ast.literal_eval(f"[{inner}")
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


def plain_value(value: object) -> object:
    """A parameter as a notebook can hold it: a path becomes a string."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    return value
