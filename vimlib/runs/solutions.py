"""Answers written down as plain JSON: task ids and keys, no completions.

vimbench's demo has such a file, and it is what a person or a program other than a model
writes. Nobody generated these answers, so they are runs of solvers. The keys are taken
as they stand, but for the phantom keys that newer Vims record, which nobody typed.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeGuard

from vimlib import keys
from vimlib.records import Attempt, AttemptStatus, Protocol, Run, RunKind, Suite, Task
from vimlib.runs.contents import RunError, SourceContents, lone_surrogate, storable
from vimlib.runs.matching import SeenTask, UnknownTasks, in_words, match_suite

EXTRACTION = "verbatim-1"
"""The keys are the answer, character for character."""


class WrongProtocol(RunError):
    """A protocol was asked for that the suite is not meant for."""


def is_answers(document: object) -> TypeGuard[dict[str, str]]:
    """Whether a JSON document is `{task_id: keys}`."""
    return (
        isinstance(document, dict)
        and bool(document)
        and all(isinstance(value, str) for value in document.values())
    )


def is_solutions(document: object) -> bool:
    """Whether a JSON document is `{task_id: keys}` or `{name: {task_id: keys}}`."""
    return is_answers(document) or (
        isinstance(document, dict) and bool(document) and all(map(is_answers, document.values()))
    )


def read(
    path: Path,
    raw: bytes,
    document: Mapping[str, str] | Mapping[str, Mapping[str, str]],
    suites: Sequence[Suite],
    *,
    protocol: Protocol | None = None,
    fill_with_reference: bool = False,
) -> SourceContents:
    """A run for each named set of answers; an unnamed set goes by the file's stem.

    `raw` is the file's content and `document` the JSON in it, of a form that
    `is_solutions` accepts. The suite is the first of `suites` that holds all ids of a set;
    the protocol is the suite's default unless `protocol` names another one of its own.
    With `fill_with_reference` tasks that a set does not answer are answered by the suite's
    reference keys, and the run's settings say so; without it they are not in the run.

    Raises `UnknownTasks`, `WrongProtocol`.
    """
    sets: Mapping[str, Mapping[str, str]]
    sets = {path.stem: document} if is_answers(document) else document  # type: ignore[assignment]
    digest = hashlib.sha256(raw).hexdigest()
    runs, problems = [], []
    for name, answers in sets.items():
        found = match_suite(map(SeenTask, answers), suites)
        if found.suite is None:
            first = storable(next(iter(answers)))
            raise UnknownTasks(
                f"{path}: answers '{storable(name)}' name {len(answers)} tasks (first '{first}') that no "
                f"suite at hand holds ({in_words(found.reasons)}); give the suite's file too (--suite)"
            )
        suite = found.suite
        rules = suite.protocols[0] if protocol is None else protocol
        if rules not in suite.protocols:
            meant = ", ".join(suite.protocols)
            raise WrongProtocol(
                f"{path}: suite '{suite.name}' is not judged under '{rules}'; expected {meant}"
            )
        attempts = []
        for task in suite.tasks:
            if task.id in answers:
                attempt = _attempt(task.id, answers[task.id])
                if attempt.error is not None:
                    problems.append(f"{path}: answers '{storable(name)}', task '{task.id}': {attempt.error}")
            else:
                filled = _reference(task, rules) if fill_with_reference else None
                if filled is None:
                    continue
                attempt = filled
            attempts.append(attempt)
        # The same answers with and without references are different runs, and so under each protocol.
        marks = [digest[:16], storable(name), rules.value, *(["filled"] if fill_with_reference else [])]
        settings: dict[str, object] = {"answers": len(answers)}
        if fill_with_reference:
            settings["filled_with_reference"] = len(attempts) - len(answers)
        runs.append(
            Run(
                id=":".join(["solutions", *marks]),
                kind=RunKind.SOLVER,
                name=storable(name),
                suite_hash=suite.hash,
                protocol=rules,
                attempts=tuple(attempts),
                source=path.name,
                source_sha256=digest,
                extraction=EXTRACTION,
                settings=settings,
            )
        )
    return SourceContents(tuple(runs), problems=tuple(problems), kind="solutions")


def _attempt(task_id: str, answer: str) -> Attempt:
    stripped = keys.without_phantoms(answer)
    attempt = Attempt(
        task_id=task_id,
        epoch=1,
        attempt=1,
        status=AttemptStatus.ANSWERED,
        completion=storable(answer),
        keys=stripped.clean,
        raw_keys=storable(answer) if stripped.phantoms else None,
        raw_keystrokes=stripped.raw_keystrokes if stripped.phantoms else None,
    )
    found = lone_surrogate(answer)
    if found is None:
        return attempt
    error = f"the answer holds {found}, which no UTF-8 text can; it counts as no answer"
    return dataclasses.replace(attempt, keys=None, error=error)


def _reference(task: Task, protocol: Protocol) -> Attempt | None:
    if task.reference is None:
        return None
    try:
        reference = keys.translate(task.reference, task.reference_notation, protocol)
    except keys.Untranslatable:
        return None
    return _attempt(task.id, reference)
