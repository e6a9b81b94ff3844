"""Which suite a source answered, told by its tasks and not by its file name.

Harnesses name data sets as they like and files are renamed; task ids and buffers are
evidence. A suite is the one answered if it holds every id of the source, and if every
start and target that the source carries is the suite's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vimlib.records import Suite, Task
from vimlib.runs.contents import RunError


class UnknownTasks(RunError):
    """No suite at hand holds the tasks that the source answers."""


@dataclass(frozen=True, slots=True)
class SeenTask:
    """What a source says of a task that it answers."""

    id: str
    start: str | None = None
    """None: the source does not carry it."""
    target: str | None = None
    """None: the source does not carry it."""

    def agrees(self, task: Task) -> bool:
        return self.start in (None, task.start) and self.target in (None, task.target)


@dataclass(frozen=True, slots=True)
class Match:
    """The suite answered, or why each suite at hand is not it."""

    suite: Suite | None
    reasons: tuple[str, ...]
    """One clause a suite that was tried in vain."""


def match_suite(seen: Iterable[SeenTask], suites: Sequence[Suite]) -> Match:
    """The first of `suites` that holds all tasks of `seen`, ids and buffers alike."""
    wanted = list(seen)
    reasons: list[str] = []
    for suite in suites:
        tasks = {task.id: task for task in suite.tasks}
        held = [(one, tasks[one.id]) for one in wanted if one.id in tasks]
        differing = [one.id for one, task in held if not one.agrees(task)]
        if wanted and len(held) == len(wanted) and not differing:
            return Match(suite, tuple(reasons))
        name = f"'{suite.name}' {suite.version}"
        if len(held) < len(wanted):
            reasons.append(f"{name} holds {len(held)} of the {len(wanted)} ids")
        else:
            reasons.append(
                f"{name} has another start or target for {len(differing)} of {len(wanted)} tasks, "
                f"first '{differing[0]}'"
            )
    return Match(None, tuple(reasons))


def in_words(reasons: Sequence[str]) -> str:
    """The suites tried, for a message."""
    return "; ".join(reasons) if reasons else "no suite was given"
