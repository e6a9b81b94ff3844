"""What others know of a suite's tasks, added from local files: the site's statistics, published solutions.

vimgolf.com's own lists say how many people tried a challenge and how well the best did; collections
say which keys people published for it. Neither decides a verdict, so neither changes a suite's hash,
save where verified solutions are wanted as references: that makes it another version. Whether a
solution works is not tried out here (`vimlib verify` does); the list's own word is kept.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from vimlib import keys
from vimlib.records import Protocol, PublishedSolution, Task
from vimlib.suites.content import SuiteError
from vimlib.suites.reading import NoTasks, read_bytes

_COUNTS = {"total_entries": "entries", "active_golfers": "golfers", "lowest_score": "best_score"}
"""Fields of the site's lists, and of `Task`."""


class NoStatistics(SuiteError):
    """A record of a list of statistics holds none."""


def with_statistics(tasks: Sequence[Task], source: str, raw: bytes) -> tuple[list[Task], list[str]]:
    """The tasks with the statistics of a list of `id, title, total_entries, active_golfers, lowest_score`.

    Any of them may be missing, but not all; a later record of an id overrides an earlier one. Returns a
    line beside for what belongs to no task. Raises a `SuiteError` with file and line.
    """
    found: dict[str, dict[str, object]] = {}
    for record in read_bytes(source, raw).records:
        values: dict[str, object] = {
            field: count
            for name, field in _COUNTS.items()
            if (count := record.optional_count(name)) is not None
        }
        title = record.optional_text("title")
        if not values and not title:
            raise NoStatistics(
                f"{record.place}: no statistics; expected id and any of title, {', '.join(_COUNTS)}"
            )
        found[record.identifier()] = values | ({"title": title.strip()} if title else {})
    changed = [dataclasses.replace(task, **found.get(task.id, {})) for task in tasks]  # type: ignore[arg-type]
    return changed, _strangers(source, found.keys(), tasks, "statistics")


def read_solutions(
    tasks: Sequence[Task], source: str, raw: bytes
) -> tuple[tuple[PublishedSolution, ...], list[str]]:
    """The published solutions of the tasks, from JSONL `challenge_id, keys, source` in its order.

    `claimed` (the author's count) and `verified` (true or false) may be there too. The same keys from
    the same source count once. Returns a line beside for what belongs to no task. Raises a `SuiteError`.
    """
    known = {task.id for task in tasks}
    every = [
        PublishedSolution(
            task_id=record.text("challenge_id"),
            keys=record.text("keys"),
            source=record.text("source"),
            claimed=record.optional_count("claimed"),
            verified=record.optional_flag("verified"),
        )
        for record in read_bytes(source, raw).records
    ]
    if not every:
        raise NoTasks(f"{source}: holds no solution; expected JSONL with challenge_id, keys, source")
    unique = {(one.task_id, one.keys, one.source): one for one in every if one.task_id in known}
    return tuple(unique.values()), _strangers(source, (one.task_id for one in every), tasks, "solutions")


def with_references(tasks: Iterable[Task], published: Iterable[PublishedSolution]) -> list[Task]:
    """The tasks, those without a reference given their shortest published solution that is verified.

    One that is over golf's key cap (as many keys as the target has characters) is none.
    """
    best: dict[str, tuple[int, str]] = {}
    for one in published:
        if one.verified:
            count = keys.count(one.keys, Protocol.GOLF)
            if one.task_id not in best or count < best[one.task_id][0]:
                best[one.task_id] = (count, one.keys)
    return [
        dataclasses.replace(task, reference=best[task.id][1], reference_notation=Protocol.GOLF)
        if task.reference is None and task.id in best and best[task.id][0] < len(task.target)
        else task
        for task in tasks
    ]


def _strangers(source: str, ids: Iterable[str], tasks: Sequence[Task], what: str) -> list[str]:
    lacking = list(dict.fromkeys(set(ids) - {task.id for task in tasks}))
    if not lacking:
        return []
    return [f"{source}: {what} for {len(lacking)} ids that the suite does not have, such as {min(lacking)}"]
