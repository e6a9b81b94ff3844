"""Answers in a plain table: JSONL, a JSON list or CSV, one answer a row.

What any program can write: `task_id` and `completion` or `keys`, and any other column of our own
attempts where it is known. Several models may stand in one file. Keys that come without a completion
were not generated: they are a person's or a program's, and lose the phantom keys that newer Vims record.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from vimlib import keys
from vimlib.records import (
    Attempt,
    AttemptStatus,
    Protocol,
    Run,
    RunKind,
    Suite,
    Task,
    TokenUsage,
)
from vimlib.runs.contents import SourceContents, lone_surrogate, storable
from vimlib.runs.lines import Row, Rows
from vimlib.runs.matching import SeenTask, UnknownTasks, in_words, match_suite
from vimlib.runs.solutions import EXTRACTION, WrongProtocol
from vimlib.suites import build_suite

ALIASES: Mapping[str, str] = MappingProxyType(
    {"challenge_id": "task_id", "correct": "source_correct", "name": "model", "reasoning_text": "reasoning"}
)
"""Names of other lists that mean a column of ours, where that is not there itself."""

COUNTS = (
    "input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "output_tokens",
    "reasoning_tokens",
    "total_tokens",
)

COLUMNS = frozenset(
    {
        *("task_id", "epoch", "attempt", "status", "completion", "keys", "stop_reason", "error", "seconds"),
        *COUNTS,
        *("billed_usd", "source_correct", "source_partial", "source_efficiency", "source_keystrokes"),
        *("reasoning", "model", "kind", "protocol", "prompt_version", "task_name", "task_version"),
        *("created", "start", "target", "instruction"),
    }
)
"""The columns that are taken."""


def recognises(names: frozenset[str]) -> bool:
    """Whether rows with these fields hold answers."""
    return bool({"task_id", "challenge_id"} & names) and bool({"completion", "keys"} & names)


def read(rows: Rows, suites: Sequence[Suite], *, protocol: Protocol | None = None) -> SourceContents:
    """A run for each model and protocol that the rows name; without a model the file's stem names it.

    The protocol is the row's, else `protocol`, else the suite's default. A task that occurs again
    without an `epoch` is another repetition of it; with the same `epoch` and no `attempt`, a retry.
    A column that is wrong in a row is left out there and said; columns that are not ours are noted.

    Raises `UnknownTasks` where no suite at hand holds all tasks and the rows do not carry them, and
    `WrongProtocol`.
    """
    names = {ALIASES.get(name, name) if ALIASES.get(name) not in rows.names else name for name in rows.names}
    for row in rows:
        row.values = {
            ALIASES[name] if name in ALIASES and ALIASES[name] not in row.values else name: value
            for name, value in row.values.items()
        }
    good = [row for row in rows if _has_task(row)]
    suite, own = _suite(rows, good, suites, protocol)
    found: dict[tuple[str, Protocol, RunKind], list[tuple[Row, Attempt]]] = {}
    # Other lists mean other things by their `kind`.
    said = all(row.values.get("kind") in tuple(RunKind) for row in good)
    for row in good:
        rules = _protocol(row, protocol, suite)
        kind = _kind(row, said)
        of = (row.text("model") or rows.path.stem, rules, kind)
        found.setdefault(of, []).append((row, _attempt(row, rules, kind)))
    left_out = sorted(names - COLUMNS | ({"kind"} & rows.names if not said else set()))
    notes = (
        [f"{rows.path}: columns that are not ours are left out: {', '.join(left_out)}"] if left_out else []
    )
    runs = []
    for (name, rules, kind), attempts in found.items():
        given = any(row.values.get("keys") is not None for row, _ in attempts)
        first = attempts[0][0]
        runs.append(
            Run(
                id=f"rows:{rows.sha256[:16]}:{storable(name)}:{rules.value}:{kind.value}",
                kind=kind,
                name=storable(name),
                suite_hash=suite.hash,
                protocol=rules,
                attempts=tuple(_placed(attempts)),
                source=rows.path.name,
                source_sha256=rows.sha256,
                extraction=EXTRACTION if given else keys.EXTRACTION_RULES[rules],
                prompt_version=first.text("prompt_version") or None,
                task_name=first.text("task_name") or None,
                task_version=first.text("task_version") or None,
                created=first.moment("created"),
            )
        )
    return SourceContents(
        tuple(runs), (suite,) if own else (), tuple(rows.problems), tuple(notes), kind="rows"
    )


def _has_task(row: Row) -> bool:
    if row.text("task_id"):
        return True
    row.wrong("has no task_id; the row is left out")
    return False


def _kind(row: Row, said: bool) -> RunKind:
    if said:
        return RunKind(row.values["kind"])
    generated = row.values.get("completion") is not None or row.text("model")
    return RunKind.MODEL if generated else RunKind.SOLVER


def _protocol(row: Row, asked: Protocol | None, suite: Suite) -> Protocol:
    name = row.text("protocol")
    if name and name not in tuple(Protocol):
        row.wrong(f"protocol is {name!a}; expected {' or '.join(Protocol)}")
        name = None
    rules = Protocol(name) if name else asked or suite.protocols[0]
    if rules not in suite.protocols:
        row.wrong(f"suite '{suite.name}' is not judged under '{rules}'; taken under {suite.protocols[0]}")
        return suite.protocols[0]
    return rules


def _suite(
    rows: Rows, good: Sequence[Row], suites: Sequence[Suite], protocol: Protocol | None
) -> tuple[Suite, bool]:
    seen = {SeenTask(row.text("task_id") or "", row.text("start"), row.text("target")): row for row in good}
    found = match_suite(seen, suites)
    if found.suite is not None:
        if protocol is not None and protocol not in found.suite.protocols:
            raise WrongProtocol(
                f"{rows.path}: suite '{found.suite.name}' is not judged under '{protocol}'; expected "
                f"{', '.join(found.suite.protocols)}"
            )
        return found.suite, False
    ids = {one.id for one in seen}
    if not seen or len(ids) < len(seen) or any(one.start is None or one.target is None for one in seen):
        first = storable(next(iter(ids), "none"))
        raise UnknownTasks(
            f"{rows.path}: its rows name {len(ids)} tasks (first '{first}') that no suite at hand holds "
            f"({in_words(found.reasons)}); give the suite's file too (--suite), or columns start and target"
        )
    tasks = [
        Task(
            id=one.id,
            start=one.start or "",
            target=one.target or "",
            instruction=row.text("instruction") or "",
        )
        for one, row in seen.items()
    ]
    protocols = (protocol,) if protocol is not None else (Protocol.BENCH, Protocol.GOLF)
    return build_suite(rows.path.stem, tasks, protocols, origin=f"carried by {rows.path.name}"), True


def _attempt(row: Row, protocol: Protocol, kind: RunKind) -> Attempt:
    """The row as an attempt, epoch and attempt 0 where it does not say them."""
    completion, given, error = row.text("completion"), row.text("keys"), row.text("error") or None
    taken = keys.extract(completion, protocol) if given is None and completion is not None else given
    raw_keys = raw_keystrokes = None
    if completion is None and given is not None and kind is RunKind.SOLVER:
        stripped = keys.without_phantoms(given)
        if stripped.phantoms:
            taken, raw_keys, raw_keystrokes = stripped.clean, given, stripped.raw_keystrokes
    if taken is not None and (found := lone_surrogate(taken)) is not None:
        taken = None
        error = f"the answer holds {found}, which no UTF-8 text can; it counts as no answer"
        row.wrong(error)
    return Attempt(
        task_id=row.text("task_id") or "",
        epoch=row.count("epoch", least=1) or 0,
        attempt=row.count("attempt", least=1) or 0,
        status=_status(row, completion is not None or given is not None, error),
        completion=_stored(completion if completion is not None else given),
        keys=taken,
        stop_reason=row.text("stop_reason") or None,
        error=error,
        usage=_usage(row),
        seconds=row.number("seconds"),
        source_correct=row.truth("source_correct"),
        source_partial=row.share("source_partial"),
        source_efficiency=row.share("source_efficiency"),
        source_keystrokes=row.count("source_keystrokes"),
        reasoning=_stored(row.text("reasoning") or None),
        raw_keys=raw_keys,
        raw_keystrokes=raw_keystrokes,
    )


def _stored(text: str | None) -> str | None:
    return None if text is None else storable(text)


def _status(row: Row, answered: bool, error: str | None) -> AttemptStatus:
    """What the row says in our words; other lists have words of their own, which say nothing."""
    status = row.text("status")
    if status in tuple(AttemptStatus):
        return AttemptStatus(status)
    if answered:
        return AttemptStatus.ANSWERED
    if row.values.get("source_correct") is not None and error is None:
        return AttemptStatus.NOT_REPLAYABLE
    return AttemptStatus.PROVIDER_ERROR


def _usage(row: Row) -> TokenUsage:
    counts: dict[str, Any] = {name: row.count(name) for name in COUNTS}
    if counts["total_tokens"] is None and None not in (counts["input_tokens"], counts["output_tokens"]):
        counts["total_tokens"] = counts["input_tokens"] + counts["output_tokens"]
    return TokenUsage(**counts, billed_usd=row.number("billed_usd"))


def _placed(found: Sequence[tuple[Row, Attempt]]) -> list[Attempt]:
    """Attempts with their epochs and numbers; a place that is taken already is said, the row left out."""
    last: dict[tuple[str, int], int] = {}
    epochs: dict[str, int] = {}
    taken: dict[tuple[str, int, int], int] = {}
    placed = []
    for row, attempt in found:
        epoch = attempt.epoch
        if not epoch:
            again = attempt.attempt > 1
            epoch = max(epochs.get(attempt.task_id, 0) + (0 if again else 1), 1)
        epochs[attempt.task_id] = max(epoch, epochs.get(attempt.task_id, 0))
        number = attempt.attempt or last.get((attempt.task_id, epoch), 0) + 1
        last[attempt.task_id, epoch] = max(number, last.get((attempt.task_id, epoch), 0))
        place = (attempt.task_id, epoch, number)
        if place in taken:
            row.wrong(
                f"task '{attempt.task_id}', epoch {epoch}, attempt {number} is on line {taken[place]} "
                "already; the row is left out"
            )
            continue
        taken[place] = row.line
        placed.append(dataclasses.replace(attempt, epoch=epoch, attempt=number))
    return placed
