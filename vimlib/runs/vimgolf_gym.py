"""Results of vimgolf-gym: its benchmark's JSONL, and that of its adaptor for terminal-bench.

The benchmark carries the buffers of every task; the adaptor names the challenge that the task was made
from. Neither names the model, so the file's stem does. `status: success` there says that the model
answered, nothing about the answer. A run that is started again appends to the file: a trial stands for
itself by its name and start, so that a task tried twice is an attempt and a retry, and a line that is
there twice is one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from vimlib.records import Attempt, AttemptStatus, Protocol, Run, RunKind, Suite, Task
from vimlib.runs.contents import SourceContents, lone_surrogate, storable
from vimlib.runs.lineage import content_id
from vimlib.runs.lines import Row, Rows
from vimlib.runs.matching import SeenTask, UnknownTasks, in_words, match_suite
from vimlib.suites import build_suite, created_from_id

EXTRACTION = "vimgolf-gym/first-line-1"
"""The first line of the solution that is not blank, stripped."""

_STATUS = {"success": AttemptStatus.ANSWERED, "timeout": AttemptStatus.CANCELLED}
_TRIAL = re.compile(r"\.(\d+)-of-\d+\.")


def recognises(names: frozenset[str]) -> bool:
    """Whether rows with these fields are results of vimgolf-gym."""
    return {"task_id", "solution"} <= names and bool({"input_content", "challenge_hash"} & names)


def read(rows: Rows, suites: Sequence[Suite]) -> SourceContents:
    """The one run of the file, judged under the golf protocol.

    A trial of terminal-bench's form (`TASK.2-of-5.RUN`) is the epoch that its name says. Tasks that no
    suite at hand holds are taken from the rows, where they carry their buffers.

    Raises `UnknownTasks`.
    """
    good = [row for row in rows if _usable(row)]
    if not good:
        raise UnknownTasks(f"{rows.path}: holds no usable result; {'; '.join(rows.problems[:1])}")
    suite, own = _suite(rows, good, suites)
    held = {task.id for task in suite.tasks}
    notes: list[str] = []
    seen: dict[str, int] = {}
    made: dict[tuple[str, int], int] = {}
    attempts = []
    for row in sorted(good, key=_begun):
        trial, task_id = row.text("trial_name") or "", _task_id(row, held)
        identity = content_id(
            task_id, trial, row.values.get("start_time"), row.values.get("solution"), row.values.get("status")
        )
        if identity in seen:
            notes.append(
                f"{rows.path}, line {row.line}: is the same trial as line {seen[identity]}, counted once"
            )
            continue
        seen[identity] = row.line
        found = _TRIAL.search(trial)
        epoch = int(found[1]) if found else 1
        made[task_id, epoch] = made.get((task_id, epoch), 0) + 1
        attempts.append(_attempt(row, task_id, max(epoch, 1), made[task_id, epoch], identity))
    sets = sorted({name for row in good if (name := row.text("dataset_name"))})
    starts = [moment for row in good if (moment := row.moment("start_time")) is not None]
    run = Run(
        id=f"vimgolf-gym:{rows.sha256[:24]}",
        kind=RunKind.MODEL,
        name=storable(rows.path.stem),
        suite_hash=suite.hash,
        protocol=Protocol.GOLF,
        attempts=tuple(attempts),
        source=rows.path.name,
        source_sha256=rows.sha256,
        extraction=EXTRACTION,
        task_name="vimgolf-gym",
        created=min(starts, default=None),
        settings={"dataset_name": sets} if sets else {},
    )
    return SourceContents(
        (run,), (suite,) if own else (), tuple(rows.problems), tuple(notes), kind="vimgolf-gym"
    )


def _begun(row: Row) -> float:
    """When the trial began, seconds since 1970; the adaptor does not say, and its order stays."""
    begun = row.values.get("start_time")
    return float(begun) if isinstance(begun, int | float) else 0.0


def _usable(row: Row) -> bool:
    if row.text("task_id") and isinstance(row.values.get("solution"), str):
        return True
    row.wrong("has no task_id or no solution; the row is left out")
    return False


def _task_id(row: Row, held: set[str]) -> str:
    """The adaptor's tasks have names of their own; the challenge is the task."""
    challenge = row.text("challenge_hash")
    return challenge if challenge and challenge in held else row.text("task_id") or ""


def _suite(rows: Rows, good: Sequence[Row], suites: Sequence[Suite]) -> tuple[Suite, bool]:
    reasons: tuple[str, ...] = ()
    for name in ("task_id", "challenge_hash"):
        if all(row.text(name) for row in good):
            seen = {SeenTask(row.text(name) or "", *_buffers(row)): row for row in good}
            found = match_suite(seen, [suite for suite in suites if Protocol.GOLF in suite.protocols])
            if found.suite is not None:
                return found.suite, False
            reasons += found.reasons
    carried = {row.text("task_id") or "": row for row in good}
    if any(None in _buffers(row) for row in carried.values()):
        raise UnknownTasks(
            f"{rows.path}: {len(carried)} tasks of vimgolf-gym that no suite at hand holds "
            f"({in_words(reasons)}), and the rows do not carry their buffers; give the suite's file "
            "too (--suite)"
        )
    tasks = []
    for id, row in carried.items():
        start, target = _buffers(row)
        tasks.append(Task(id=id, start=start or "", target=target or "", created=created_from_id(id)))
    return build_suite("vimgolf", tasks, (Protocol.GOLF,), origin=f"carried by {rows.path.name}"), True


def _buffers(row: Row) -> tuple[str | None, str | None]:
    return row.text("input_content"), row.text("output_content")


def _attempt(row: Row, task_id: str, epoch: int, attempt: int, identity: str) -> Attempt:
    solution = row.text("solution") or ""
    said = row.text("status") or "success"
    status = _STATUS.get(said, AttemptStatus.PROVIDER_ERROR)
    taken = next((line.strip() for line in solution.splitlines() if line.strip()), "")
    error = None if status is AttemptStatus.ANSWERED else f"vimgolf-gym says {said!a}"
    keys: str | None = taken if status is AttemptStatus.ANSWERED else None
    if keys is not None and (found := lone_surrogate(keys)) is not None:
        keys = None
        error = f"the answer holds {found}, which no UTF-8 text can; it counts as no answer"
        row.wrong(error)
    return Attempt(
        task_id=task_id,
        epoch=epoch,
        attempt=attempt,
        status=status,
        completion=storable(solution) if status is AttemptStatus.ANSWERED else None,
        keys=keys,
        error=error,
        seconds=row.number("elapsed_time"),
        source_id=identity,
    )
