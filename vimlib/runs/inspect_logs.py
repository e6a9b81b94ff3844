"""Runs out of Inspect's logs: any task's, of any version, whole or cut short.

What we take is the answer and its circumstances: the log's verdict is kept for comparison and never
trusted, and the answer is taken from the completion anew under the protocol's own rule. Inspect has
changed what a sample holds several times; its own records know all forms, so each sample goes through
them. The file itself is read entry by entry (`logfiles`), because Inspect's reader wants it whole.

`inspect_ai` costs more than a second to import, so it is imported when a log is read.
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from vimlib import keys
from vimlib.records import (
    Attempt,
    AttemptStatus,
    Protocol,
    Run,
    RunKind,
    RunSource,
    Suite,
    Task,
    Track,
    TurnState,
)
from vimlib.runs import logfiles
from vimlib.runs.contents import RunError, SourceContents, lone_surrogate, storable
from vimlib.runs.lineage import HOLE, RETRY, content_id
from vimlib.runs.matching import SeenTask, UnknownTasks, in_words, match_suite
from vimlib.runs.tokens import Reported, Version, of_inspect, version_of
from vimlib.suites import build_suite, created_from_id

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample
    from inspect_ai.model import ModelOutput


class NotALog(RunError):
    """The file is no Inspect log."""


class CutShort(RunError):
    """The file begins as a log and ends too early."""


class DamagedLog(RunError):
    """The file is a log, and nothing in it can be used."""


class UnknownTask(RunError):
    """The log is of a task whose rules we do not know."""


class NoSamples(RunError):
    """The log holds no sample."""


@dataclass(frozen=True, slots=True)
class TaskRules:
    """How the answers of one Inspect task are read and judged."""

    protocol: Protocol
    suite_name: str
    """Name of a suite that is taken from the log itself."""
    scorer: str | None
    """The task's own scorer, preferred where a log has several; None: not known."""
    track: Track = Track.SINGLE
    turn_state: TurnState | None = None
    version: str | None = None
    """Of a suite that is taken from the log itself; None: told by its hash."""
    prompt_version: str | None = None
    """As the task says; None: told by the templates of its plan."""


TASKS: Mapping[str, TaskRules] = MappingProxyType(
    {"vimgolf_single_turn": TaskRules(Protocol.GOLF, suite_name="vimgolf", scorer="vimgolf_scorer")}
)
"""By task name, without the package that Inspect puts before it (`inspect_evals/`)."""

_ZIP_MAGIC = b"PK\x03\x04"
# The transcript is most of a sample and says nothing that we need.
_UNREAD = ("messages", "events", "events_data", "timelines", "store", "attachments")


def is_zip(head: bytes) -> bool:
    """Whether a file that begins with `head` may be an `.eval` log."""
    return head.startswith(_ZIP_MAGIC)


def begins_as_json_log(head: bytes) -> bool:
    """Whether a file that begins with `head` has the outline of an Inspect log, which may be cut short."""
    text = head.decode("utf-8-sig", "replace")
    return bool(re.match(r'\s*\{\s*"version"\s*:\s*\d+\s*,', text)) and bool(
        re.search(r'"eval"\s*:\s*\{', text)
    )


def is_json_log(document: object) -> bool:
    """Whether a JSON document has the outline of an Inspect log."""
    return isinstance(document, dict) and isinstance(document.get("eval"), dict) and "status" in document


def read(path: Path, suites: Sequence[Suite], format: Literal["eval", "json"]) -> SourceContents:
    """The one run in an Inspect log, its attempts in the data set's order.

    `format` is what the content is, whatever the file's name ends with. The suite is the first of
    `suites` that holds the log's tasks, ids and buffers alike; failing that, one is made from the
    buffers that the log carries, and returned. The protocol is the task's where it is known or the
    log says it, else the suite's. A log of a run that was stopped gives the samples that it holds; one
    that was cut short those that can be read, and a problem. A listed sample that cannot be read is
    a problem and an attempt without an answer. Retries within the run are attempts of their own.

    Raises `NotALog`, `CutShort`, `DamagedLog`, `UnknownTask`, `UnknownTasks`, `NoSamples`.
    """
    log = _contents(path, format)
    header = log.header
    if not log.found and log.holes:
        raise DamagedLog(
            f"{path}: not one of its {len(log.holes)} samples can be read (first: {log.holes[0].reason}); "
            "expected a whole log, copy it anew or repair it with `inspect log recover`"
        )
    if not log.found and log.damage is not None:
        raise CutShort(
            f"{path}: begins as an Inspect log and {log.damage} before its first sample; expected a whole "
            "file, copy it anew"
        )
    if not log.found:
        raise NoSamples(
            f"{path}: the log of task '{header.eval.task}' (status {header.status}) holds no sample; "
            "there is nothing to replay"
        )
    rules = _rules(path, header)
    suite, carried, notes = _suite(path, log, suites, rules)
    protocol = rules.protocol if rules is not None else suite.protocols[0]
    scorers = _scorers(header, rules)
    attempts, problems = [], []
    for sample in log.found:
        of_sample, found = _attempts(sample, protocol, scorers, log.version)
        if rules is not None and rules.track is Track.MULTI:
            of_sample[-1] = _in_turns(of_sample[-1], sample)
        attempts += of_sample
        problems += [f"{path}: sample '{sample.id}', epoch {sample.epoch}: {problem}" for problem in found]
    held = {task.id for task in suite.tasks}
    for hole in log.holes:
        problem = f"cannot be read from the log ({hole.reason})"
        problems.append(f"{path}: sample '{hole.id}', epoch {hole.epoch}: {problem}")
        # An attempt at a task that the suite does not hold could not be stored.
        if hole.id in held:
            attempts.append(
                Attempt(
                    hole.id,
                    hole.epoch,
                    attempt=1,
                    status=AttemptStatus.PROVIDER_ERROR,
                    error=problem,
                    source_id=f"{HOLE}{hole.id}:{hole.epoch}",
                )
            )
    if log.damage is not None:
        problems.append(
            f"{path}: {log.damage}; {len(log.found)} samples could be read and are taken, copy it anew if "
            "there is a whole one"
        )
    digest = _sha256(path)
    # A retried or resumed run keeps its task id from log to log.
    identity = header.eval.task_id or header.eval.eval_id
    run = Run(
        id=f"inspect:{identity}",
        kind=RunKind.MODEL,
        name=header.eval.model,
        suite_hash=suite.hash,
        protocol=protocol,
        attempts=tuple(_numbered(attempts, digest)),
        source=path.name,
        source_sha256=digest,
        extraction=keys.EXTRACTION_RULES[protocol],
        track=Track.SINGLE if rules is None else rules.track,
        turn_state=None if rules is None else rules.turn_state,
        prompt_version=(rules.prompt_version if rules is not None else None) or _prompt_version(header),
        task_name=header.eval.task,
        task_version=str(header.eval.task_version),
        status=header.status,
        created=_moment(header.eval.created),
        settings=_settings(header),
        packages=dict(header.eval.packages),
        samples_planned=_planned(header),
        sources=(
            RunSource(
                sha256=digest,
                name=path.name,
                created=_moment(header.eval.created),
                status=header.status,
                harness_id=header.eval.eval_id,
                harness_version=header.eval.packages.get("inspect_ai"),
                samples=len(log.found),
                header_tokens=_header_tokens(header),
                damage=log.damage,
            ),
        ),
    )
    return SourceContents(
        (run,), (suite,) if carried else (), tuple(problems), tuple(notes), kind="Inspect log"
    )


def _numbered(attempts: Sequence[Attempt], digest: str) -> Iterator[Attempt]:
    """Attempts of one sample numbered from 1 in the log's order: a sample may be written again."""
    made: dict[tuple[str, int], int] = {}
    seen: set[tuple[str, int, str | None]] = set()
    for attempt in attempts:
        key = (attempt.task_id, attempt.epoch)
        # What is written again brings its history along once more.
        if (*key, attempt.source_id) in seen:
            continue
        seen.add((*key, attempt.source_id))
        made[key] = made.get(key, 0) + 1
        yield dataclasses.replace(attempt, attempt=made[key], source_sha256=digest)


@dataclass(frozen=True, slots=True)
class _Hole:
    """A sample that the log lists and that cannot be read."""

    id: str
    epoch: int
    reason: str


@dataclass(frozen=True, slots=True)
class _Sample:
    """What we need of a sample; the record of Inspect that it comes from is a hundred times its size."""

    id: str
    epoch: int
    seen: SeenTask
    metadata: Mapping[str, Any]
    """Without the start and target."""
    completion: str | None
    reasoning: str | None
    stop_reason: str | None
    refusal: str | None
    """What the provider said instead of an answer (`refusal`)."""
    seconds: float | None
    waiting_seconds: float | None
    error: str | None
    limit: str | None
    uuid: str | None
    scores: Mapping[str, Any]
    """Value by scorer."""
    usage: tuple[Reported, ...]
    retries: tuple[tuple[str, tuple[Reported, ...]], ...]
    """Message and tokens, as far as they are known, of each attempt before this one."""


@dataclass(slots=True)
class _Log:
    """What a log holds."""

    header: EvalLog
    version: Version | None
    found: list[_Sample] = field(default_factory=list)
    holes: list[_Hole] = field(default_factory=list)
    damage: str | None = None


def _reason(error: Exception) -> str:
    """What a parser of Inspect's raised, in one line of bearable length."""
    return f"{type(error).__name__}: {' '.join(storable(str(error)).split())[:120]}"


def _contents(path: Path, format: Literal["eval", "json"]) -> _Log:
    import inspect_ai.log  # noqa: F401 (teaches zipfile Zstandard)

    header: dict[str, Any] | None = None
    start: dict[str, Any] | None = None
    samples: list[_Sample] = []
    holes: list[_Hole] = []
    texts: dict[str, str] = {}
    broken: str | None = None
    damage: str | None = None
    entries = logfiles.of_zip(path) if format == "eval" else logfiles.of_json(path)
    names = set()
    try:
        for entry in entries:
            names.add(entry.name)
            if entry.name == logfiles.HEADER:
                header, broken = entry.value, entry.unreadable
            elif entry.name == logfiles.START:
                start = entry.value
            elif entry.unreadable is not None:
                holes.append(_Hole(*_named(entry), entry.unreadable))
            else:
                _take(entry, samples, holes, texts)
    except logfiles.CutShort as error:
        damage = f"is cut short ({error})"
    except ValueError as error:
        damage = f"is damaged ({_reason(error)})"
    if broken is not None:
        raise DamagedLog(
            f"{path}: the log's header cannot be read ({broken}); expected a whole log, copy it anew or "
            "repair it with `inspect log recover`"
        )
    if (header is None or "eval" not in header) and start is None:
        if damage is not None:
            raise CutShort(
                f"{path}: begins as an Inspect log ({path.stat().st_size:,} bytes) and {damage} before what "
                "the run was; expected a whole file, copy it anew"
            )
        raise NotALog(
            f"{path}: is a zip file without header.json; expected an Inspect log, as `inspect eval` writes it"
        )
    try:
        parsed = _header(header if header is not None else {**(start or {}), "status": "started"})
    except Exception as error:
        # Inspect's records meet foreign values with whatever their parsers raise.
        raise DamagedLog(
            f"{path}: Inspect's reader fails on this log ({_reason(error)}); expected a whole log, copy it "
            "anew or repair it with `inspect log recover`"
        ) from error
    order = {str(id): place for place, id in enumerate(parsed.eval.dataset.sample_ids or ())}
    samples.sort(key=lambda one: (order.get(one.id, len(order)), one.epoch))
    version = version_of(parsed.eval.packages.get("inspect_ai"))
    read = {(one.id, one.epoch) for one in samples}
    unread = [hole for hole in holes if (hole.id, hole.epoch) not in read]
    return _Log(parsed, version, samples, unread, damage)


def _header(values: Mapping[str, Any]) -> EvalLog:
    from inspect_ai.log import EvalLog

    known = {name: value for name, value in values.items() if name not in ("samples", "reductions")}
    return EvalLog.model_validate(known)


def _take(entry: logfiles.Entry, samples: list[_Sample], holes: list[_Hole], texts: dict[str, str]) -> None:
    from inspect_ai.log import EvalSample

    value = entry.value
    if not isinstance(value, dict):
        holes.append(_Hole(*_named(entry), "is no sample"))
        return
    retries = tuple(_retry(one) for one in value.get("error_retries") or () if isinstance(one, dict))
    lean = {name: part for name, part in value.items() if name not in (*_UNREAD, "error_retries")}
    try:
        try:
            sample = EvalSample.model_validate(lean)
        except ValueError as error:
            if "surrogate" not in str(error):
                raise
            # Inspect writes lone surrogates out as text (\\ud800) and refuses them as JSON escapes,
            # which other writers of its format leave. They are made into its form.
            sample = EvalSample.model_validate(_written_out(lean))
        samples.append(_sample(sample, retries, texts))
    except Exception as error:
        id, epoch = value.get("id"), value.get("epoch")
        of = (str(id), epoch) if id is not None and isinstance(epoch, int) else _named(entry)
        holes.append(_Hole(*of, _reason(error)))


def _named(entry: logfiles.Entry) -> tuple[str, int]:
    return logfiles.sample_of(entry.name) or (entry.name, 1)


def _written_out(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {_written_out(name): _written_out(item) for name, item in value.items()}
    return [_written_out(item) for item in value] if isinstance(value, list) else value


def _retry(retry: Mapping[str, Any]) -> tuple[str, tuple[Reported, ...]]:
    """Message of a failed attempt, and the tokens of the model calls that its history holds."""
    usages = []
    for event in retry.get("events") or ():
        output = event.get("output") if isinstance(event, dict) and event.get("event") == "model" else None
        usage = output.get("usage") if isinstance(output, dict) else None
        if isinstance(usage, dict):
            usages.append(_reported(str(event.get("model") or ""), usage))
    return str(retry.get("message") or ""), tuple(usages)


def _reported(model: str, usage: Mapping[str, Any]) -> Reported:
    return Reported(
        model=model,
        input_tokens=usage.get("input_tokens") or 0,
        output_tokens=usage.get("output_tokens") or 0,
        total_tokens=usage.get("total_tokens") or 0,
        cache_read_tokens=usage.get("input_tokens_cache_read"),
        cache_write_tokens=usage.get("input_tokens_cache_write"),
        reasoning_tokens=usage.get("reasoning_tokens"),
    )


def _sample(
    sample: EvalSample, retries: tuple[tuple[str, tuple[Reported, ...]], ...], texts: dict[str, str]
) -> _Sample:
    metadata = dict(sample.metadata or {})
    own = dict(_own(metadata))
    start = own.get("start", metadata.pop("input", None))
    targets = [sample.target] if isinstance(sample.target, str) else sample.target
    target = own.get("target", targets[0] if targets else None)

    def shared(text: Any) -> str | None:
        """The same text once in memory: every epoch of a task repeats its buffers."""
        return texts.setdefault(text, text) if isinstance(text, str) else None

    output = sample.output
    choices = output.choices
    usage = dict(sample.model_usage)
    if not usage and output.usage is not None:
        usage = {output.model or "": output.usage}
    own = {name: part for name, part in own.items() if name not in ("start", "target")}
    return _Sample(
        id=str(sample.id),
        epoch=sample.epoch,
        seen=SeenTask(str(sample.id), start=shared(start), target=shared(target)),
        metadata={**{name: shared(part) or part for name, part in metadata.items()}, OWN: own},
        completion=output.completion if choices else None,
        reasoning=_reasoning(choices[0].message.content) if choices else None,
        stop_reason=output.stop_reason if choices else None,
        refusal=refusal(output),
        seconds=output.time,
        waiting_seconds=None
        if sample.total_time is None or sample.working_time is None
        else max(0.0, sample.total_time - sample.working_time),
        error=None if sample.error is None else storable(sample.error.message),
        limit=None if sample.limit is None else sample.limit.type,
        uuid=sample.uuid,
        scores={name: score.value for name, score in (sample.scores or {}).items()},
        usage=tuple(_reported(model, one.model_dump()) for model, one in usage.items()),
        retries=retries,
    )


_REFUSALS = frozenset({"model_length", "content_filter"})


def refusal(output: ModelOutput) -> str | None:
    """What the provider said in place of an answer when it refused the request; None: it did not.

    Inspect turns the refusal of a prompt that is longer than the model's context, or that a filter
    stopped, into an output like any other, with the provider's message in the model's place. A model that
    was stopped while it answered, by its context or a filter, has used tokens; here none are reported.
    """
    if not output.choices or output.stop_reason not in _REFUSALS:
        return None
    if output.usage is not None and (output.usage.total_tokens or output.usage.output_tokens):
        return None
    said = " ".join(storable(output.completion).split())[:300]
    return f"the provider refused the request ({output.stop_reason}){f': {said}' if said else ''}"


def _reasoning(content: Any) -> str | None:
    """The reasoning text in a message; of redacted reasoning its summary, if there is one."""
    if isinstance(content, str):
        return None
    parts = [
        (getattr(part, "summary", None) if part.redacted else part.reasoning)
        for part in content
        if part.type == "reasoning"
    ]
    return "\n\n".join(storable(part) for part in parts if part) or None


OWN = "vimlib"
"""The name under which the workbench's own tasks put what they say, in the log's metadata and in that of
each sample (`inspect_tasks.logged` has the fields)."""
OWN_SCORER = "replay"


def _rules(path: Path, header: EvalLog) -> TaskRules | None:
    """The rules of the log's task; None: not known, a suite at hand has to tell."""
    said = (header.eval.metadata or {}).get(OWN)
    if isinstance(said, dict):
        try:
            state = said.get("state")
            return TaskRules(
                Protocol(said["protocol"]),
                suite_name=str(said["suite"]),
                scorer=OWN_SCORER,
                track=Track(said["track"]),
                turn_state=None if state is None else TurnState(state),
                version=str(said["suite_version"]),
                prompt_version=str(said["prompt_version"]),
            )
        except (KeyError, ValueError) as error:
            raise UnknownTask(
                f"{path}: is a log of task '{header.eval.task}' of another vimlib, which says of itself what "
                f"this one does not know ({error}); known tracks: {', '.join(Track)}"
            ) from None
    return TASKS.get(header.eval.task.rsplit("/", 1)[-1])


def _own(metadata: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """What one of our tasks said in the metadata of a log or sample; of other tasks nothing."""
    said = (metadata or {}).get(OWN)
    return said if isinstance(said, dict) else {}


def _planned(header: EvalLog) -> int | None:
    """Samples that the run set out to answer, over all epochs; None: the log does not say."""
    chosen = header.eval.dataset.sample_ids
    tasks = len(chosen) if chosen else header.eval.dataset.samples
    return None if tasks is None else tasks * (header.eval.config.epochs or 1)


def _header_tokens(header: EvalLog) -> int | None:
    usages = header.stats.model_usage.values() if header.stats is not None else ()
    return sum(one.total_tokens for one in usages) or None


def _suite(
    path: Path,
    log: _Log,
    suites: Sequence[Suite],
    rules: TaskRules | None,
) -> tuple[Suite, bool, list[str]]:
    """The suite answered, whether it comes from the log itself, and notes."""
    first = {sample.seen: sample for sample in reversed(log.found)}
    seen = {one: first[one] for one in dict.fromkeys(sample.seen for sample in log.found)}
    # A log that names the very suite is of that one, though another may hold the same tasks.
    said = _own(log.header.eval.metadata).get("suite_hash")
    named = [suite for suite in suites if suite.hash == said]
    found = match_suite(seen, [*named, *(suite for suite in suites if suite not in named)])
    if found.suite is not None:
        return found.suite, False, []
    ids = {one.id for one in seen}
    task = log.header.eval.task
    if rules is None:
        raise UnknownTask(
            f"{path}: is a log of task '{task}', whose rules are not known, and its {len(ids)} tasks are of "
            f"no suite at hand ({in_words(found.reasons)}); known: {', '.join(TASKS)}, and tasks of this "
            "project; give the suite's file too (--suite)"
        )
    if len(ids) < len(seen) or any(one.start is None or one.target is None for one in seen):
        raise UnknownTasks(
            f"{path}: log of task '{task}' with {len(ids)} tasks that no suite at hand holds "
            f"({in_words(found.reasons)}), and the log does not carry their start and target; give the "
            "suite's file too (--suite)"
        )
    suite = build_suite(
        rules.suite_name,
        [_task(one, sample.metadata) for one, sample in seen.items()],
        (rules.protocol,),
        origin=f"carried by the Inspect log {path.name}",
    )
    if rules.version is not None and said == suite.hash:
        suite = dataclasses.replace(suite, version=rules.version)
    note = f"{path}: its {len(ids)} tasks are taken from the log itself ({in_words(found.reasons)})"
    return suite, True, [note] if suites else []


def _task(seen: SeenTask, metadata: Mapping[str, Any]) -> Task:
    assert seen.start is not None and seen.target is not None
    if said := _own(metadata):
        return _own_task(seen.id, seen.start, seen.target, said)
    # In the data set `detail` is the challenge's title and description; the task builds
    # its prompt there, in which a blank line and a fence follow the title, and keeps the
    # original as `_detail`.
    own = metadata.get("_detail")
    given = own if isinstance(own, str) else metadata.get("detail")
    detail = (given if isinstance(given, str) else "").split("\n\nThe input file wrapped in", 1)[0]
    title = next((line.strip() for line in detail.splitlines() if line.strip()), "")

    def count(name: str) -> int | None:
        value = metadata.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    return Task(
        id=seen.id,
        start=seen.start,
        target=seen.target,
        instruction=detail,
        title=title,
        created=created_from_id(seen.id),
        entries=count("entries"),
        golfers=count("golfers"),
        best_score=count("best_score"),
    )


def _own_task(task_id: str, start: str, target: str, said: Mapping[str, Any]) -> Task:
    def text(name: str) -> str | None:
        value = said.get(name)
        return value if isinstance(value, str) else None

    def count(name: str) -> int | None:
        value = said.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    created = text("created")
    return Task(
        id=task_id,
        start=start,
        target=target,
        instruction=text("instruction") or "",
        title=text("title") or "",
        tier=count("tier"),
        category=text("category"),
        reference=text("reference"),
        reference_notation=Protocol(text("reference_notation") or Protocol.BENCH),
        created=None if created is None else datetime.date.fromisoformat(created),
        entries=count("entries"),
        golfers=count("golfers"),
        best_score=count("best_score"),
    )


def _in_turns(attempt: Attempt, sample: _Sample) -> Attempt:
    """An attempt of our multi-turn task, with the turns that it noted while it played them.

    An edit that did not come to its end, because the provider failed or the run was stopped on the
    way, is no answer, whatever the earlier turns left.
    """
    noted = _own(sample.metadata).get("turns")
    turns = [turn for turn in (noted if isinstance(noted, list) else ()) if isinstance(turn, dict)]
    played = tuple(str(turn["keys"]) for turn in turns if isinstance(turn.get("keys"), str))
    seconds = [turn["seconds"] for turn in turns if isinstance(turn.get("seconds"), int | float)]
    status = attempt.status
    if status is AttemptStatus.ANSWERED and not _own(sample.metadata).get("ended"):
        cancelled = sample.limit is not None or (sample.error is None)
        status = AttemptStatus.CANCELLED if cancelled else AttemptStatus.PROVIDER_ERROR
    return dataclasses.replace(
        attempt,
        status=status,
        keys="".join(played) if played else None,
        turns=played,
        seconds=sum(seconds) if seconds else None,
        request_seconds=tuple(map(float, seconds)) if seconds else None,
    )


def _attempts(
    sample: _Sample, protocol: Protocol, scorers: Sequence[str], version: Version | None
) -> tuple[list[Attempt], list[str]]:
    """One sample as its attempts, the last of them last, and what is wrong with it, if anything."""
    history = [
        Attempt(
            task_id=sample.id,
            epoch=sample.epoch,
            attempt=number,
            status=AttemptStatus.PROVIDER_ERROR,
            error=storable(message),
            usage=of_inspect(usage, version),
            source_id=RETRY + content_id(sample.id, sample.epoch, number, message),
        )
        for number, (message, usage) in enumerate(sample.retries, start=1)
    ]
    error = sample.error
    status = AttemptStatus.ANSWERED
    taken: str | None = None
    problems: list[str] = []
    completion = sample.completion
    if sample.refusal is not None:
        completion = None
        error, status = sample.refusal, AttemptStatus.PROVIDER_ERROR
    elif completion is not None:
        # Where a scorer failed there is an error and an answer; the answer is what counts here.
        taken = keys.extract(completion, protocol)
        found = lone_surrogate(taken)
        if found is not None:
            taken = None
            error = f"the answer holds {found}, which no UTF-8 text can; it counts as no answer"
            problems.append(error)
    elif error is not None:
        # Inspect names a cancelled sample by the repr of the exception, asyncio's or trio's.
        cancelled = error.startswith(("CancelledError(", "Cancelled("))
        status = AttemptStatus.CANCELLED if cancelled else AttemptStatus.PROVIDER_ERROR
    elif sample.limit is not None:
        status = AttemptStatus.CANCELLED
        error = f"stopped by the {sample.limit} limit before there was an answer"
    correct, problem = _verdict(sample.scores, scorers)
    problems += [problem] if problem else []
    attempt = Attempt(
        task_id=sample.id,
        epoch=sample.epoch,
        attempt=1 + len(history),
        status=status,
        completion=None if completion is None else storable(completion),
        keys=taken,
        stop_reason=sample.stop_reason,
        error=error,
        usage=of_inspect(sample.usage, version),
        seconds=sample.seconds,
        waiting_seconds=sample.waiting_seconds,
        source_correct=correct,
        reasoning=sample.reasoning,
        source_id=sample.uuid
        or content_id(sample.id, sample.epoch, sample.completion, error, sample.usage, sample.seconds),
    )
    return [*history, attempt], problems


def _scorers(header: EvalLog, rules: TaskRules | None) -> list[str]:
    """The scorers whose verdict is taken, the first before the others: the task's own and no
    other where the log has it, else those that the log counts an accuracy of."""
    results = header.results.scores if header.results is not None else []
    if (
        rules is not None
        and rules.scorer is not None
        and rules.scorer in {one.name for one in (*results, *(header.eval.scorers or ()))}
    ):
        return [rules.scorer]
    return [one.name for one in results if "accuracy" in one.metrics]


def _verdict(scores: Mapping[str, Any], scorers: Sequence[str]) -> tuple[bool | None, str | None]:
    """What the log itself says of a sample (None: nothing, or neither right nor wrong), and what is
    wrong with it."""
    names = scorers or (list(scores) if len(scores) == 1 else ())
    value = next((scores[name] for name in names if name in scores), None)
    if isinstance(value, dict):
        value = value.get("passed")
    if value in ("C", 1, "1"):
        return True, None
    # N: the scorer found no answer, which it counts as 0.
    if value in ("I", "N", 0, "0"):
        return False, None
    if isinstance(value, int | float) and not 0 <= value <= 1:
        return None, f"the log scores it {value}; expected 0 to 1, the score is left out"
    return None, None


def _prompt_version(header: EvalLog) -> str | None:
    """sha256 (12 hex digits) over the prompt templates of the plan, in order; None: it has none."""
    templates = [
        [step.solver, step.params["template"]] for step in header.plan.steps if "template" in step.params
    ]
    if not templates:
        return None
    canonical = json.dumps(templates, ensure_ascii=True, separators=(",", ":"), default=str)
    return f"sha256:{hashlib.sha256(canonical.encode('ascii')).hexdigest()[:12]}"


def _settings(header: EvalLog) -> dict[str, Any]:
    # The task's settings override the model's, as they do when Inspect generates.
    configs = (header.eval.model_generate_config, header.plan.config)
    settings: dict[str, Any] = {}
    for config in configs:
        settings |= config.model_dump(mode="json", exclude_none=True)
    if header.eval.model_base_url:
        settings["base_url"] = _address(header.eval.model_base_url)
    if header.eval.model_args:
        settings["model_args"] = dict(header.eval.model_args)
    return settings


def _address(url: str) -> str:
    """Who answered, without what gives access: no user, no query."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "unreadable"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}" if parts.netloc else parts.path


def _moment(text: str) -> datetime.datetime | None:
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=datetime.UTC)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
