"""vimbench's tasks, as its JSON list and its `tasks.py` give them.

A record is `id, tier, title, instruction, start, target, reference`, the reference in
vimbench's own notation. The seed tasks are Python source, `TASKS = [dict(id="...", ...), ...]`,
which is read as data and never executed: what is not a literal there is refused.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable
from typing import Any

from vimlib.records import Protocol, Task
from vimlib.suites.content import SuiteError
from vimlib.suites.fields import Located

NAME = "vimbench"
PROTOCOLS = (Protocol.BENCH,)
FIELDS = frozenset({"id", "tier", "title", "instruction", "start", "target", "reference"})


class UnknownStructure(SuiteError):
    """vimbench's files are no longer built as this module knows them; the message says what changed."""


def recognises(fields: frozenset[str]) -> bool:
    """Whether records whose fields, taken together, are these have this shape."""
    return fields == FIELDS


def task(record: Located) -> Task:
    """One task; raises a `SuiteError` that names the field at fault."""
    return Task(
        id=record.identifier(),
        start=record.buffer("start"),
        target=record.buffer("target"),
        instruction=record.text("instruction"),
        title=record.text("title"),
        tier=record.optional_count("tier"),
        reference=record.text("reference"),
        reference_notation=Protocol.BENCH,
    )


def check_structure(records: Iterable[Located]) -> None:
    """Raises `UnknownStructure` where a record has a field too many or too few."""
    for record in records:
        new = ", ".join(sorted(map(str, record.values.keys() - FIELDS)))
        gone = ", ".join(sorted(FIELDS - record.values.keys()))
        if new or gone:
            changed = " and ".join(filter(None, (new and f"new: {new}", gone and f"gone: {gone}")))
            raise _unknown(record.place, f"fields of a task changed ({changed})")


def literal_records(source: str, text: str) -> list[Located]:
    """The records in the text of `tasks.py`, each with the line on which it begins.

    Raises `UnknownStructure` where `TASKS` is anything but one list of literals.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            tree = ast.parse(text)
    except SyntaxError as error:
        raise _unknown(f"{source}, line {error.lineno}", f"not Python ({error.msg})") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise _unknown(source, f"not Python ({error})") from None
    named = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "TASKS"]
    if not named:
        raise _unknown(source, "the name TASKS is gone")
    for node in tree.body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id="TASKS")], value=value)
                | ast.AnnAssign(target=ast.Name(id="TASKS"), value=value)
            ):
                break
    else:
        raise _unknown(f"{source}, line {named[0].lineno}", "TASKS is not assigned at the top level")
    if not isinstance(value, ast.List | ast.Tuple):
        raise _unknown(f"{source}, line {node.lineno}", f"TASKS is no list but {_called(value)}")
    if len(named) > 1:
        # What is done to the list afterwards would be missed, since nothing is executed.
        raise _unknown(f"{source}, line {named[1].lineno}", "TASKS is used after it is written")
    return [Located(source, item.lineno, _literal(source, item)) for item in value.elts]


def _literal(source: str, item: ast.expr) -> dict[str, Any]:
    match item:
        case ast.Dict():
            pairs = [
                (key.value if isinstance(key, ast.Constant) else None, value)
                for key, value in zip(item.keys, item.values, strict=True)
            ]
        case ast.Call(func=ast.Name(id="dict"), args=[]):
            pairs = [(keyword.arg, keyword.value) for keyword in item.keywords]
        case _:
            raise _unknown(f"{source}, line {item.lineno}", f"a task is no dict but {_called(item)}")
    found: dict[str, Any] = {}
    for name, value in pairs:
        place = f"{source}, line {value.lineno}"
        if not isinstance(name, str):
            raise _unknown(place, "a task's field has no plain name")
        try:
            found[name] = ast.literal_eval(value)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            raise _unknown(place, f"field '{name}' is no literal but {_called(value)}") from None
    return found


def _called(node: ast.AST | None) -> str:
    names = {ast.Call: "a call", ast.Name: "a name", ast.JoinedStr: "an f-string", ast.BinOp: "an operation"}
    if node is None:
        return "nothing"
    return names.get(type(node), f"Python's {type(node).__name__}")


def _unknown(place: str, changed: str) -> UnknownStructure:
    return UnknownStructure(
        f"{place}: {changed}; expected TASKS = [dict({', '.join(sorted(FIELDS))}), ...] with literal values, "
        "as at the pinned commit"
    )
