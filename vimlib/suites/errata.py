"""Tasks that cannot be judged fairly: known ones from a list, others told by what they are.

A task that nobody can pass, or that passes without an edit, says nothing about a model. Such
tasks stay in their suite, with the reason beside them, and reports leave them out unless told
otherwise; how many there are is always said. `data/errata/*.jsonl` is the list: one object a
line with `suite` (name), `id` and `reason`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from vimlib.records import Protocol, Task, VimlibError

FOLDER = Path(__file__).resolve().parents[2] / "data" / "errata"
"""The project's list, in the checkout that the package runs from."""


class BadErrata(VimlibError):
    """A line of the list of errata does not read."""

    exit_code = 3


@cache
def listed(folder: Path = FOLDER) -> dict[tuple[str, str], str]:
    """(suite, task id) -> reason, from all lists of a folder. Raises BadErrata with file and line."""
    found: dict[tuple[str, str], str] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                found[row["suite"], row["id"]] = row["reason"]
            except (ValueError, KeyError, TypeError) as error:
                raise BadErrata(
                    f"{path}, line {number}: does not read ({error!r}); "
                    "expected an object with suite, id and reason"
                ) from error
    return found


def defect(task: Task, protocols: Sequence[Protocol]) -> str | None:
    """Why a task cannot be judged fairly, as far as it shows by itself; None: nothing shows.

    Golf's own defects count only where golf is the one protocol of the suite: inspect_evals'
    verifier refuses an empty input, and under the key cap nothing is short enough for a target
    of less than two characters.
    """
    if all(protocol.formatted(task.start) == protocol.formatted(task.target) for protocol in protocols):
        return "start equals target: saving alone passes"
    if tuple(protocols) == (Protocol.GOLF,):
        if not task.start:
            return "empty start: the reference verifier refuses it"
        if len(task.target) < 2:
            return f"target of {len(task.target)} characters: no answer is under the key cap"
    return None


def with_errata(suite: str, tasks: Iterable[Task], protocols: Sequence[Protocol]) -> tuple[Task, ...]:
    """The tasks, those with a known or visible defect with their `erratum`. Raises BadErrata."""
    known = listed()
    return tuple(
        replace(task, erratum=known.get((suite, task.id)) or defect(task, protocols)) for task in tasks
    )
