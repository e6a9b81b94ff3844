"""Runs out of Inspect's logs, read with Inspect's own API.

Inspect has changed its log format several times (JSON, zipped JSON, Zstandard), and its
own reader knows them all; ours would not. What we take is the answer and its
circumstances: the log's verdict is kept for comparison and never trusted, and the answer
is taken from the completion anew under the protocol's own rule.

`inspect_ai` costs more than a second to import, so it is imported when a log is read.
"""

from __future__ import annotations

import datetime
import gc
import hashlib
import io
import json
import logging
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

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
    Track,
    TurnState,
)
from vimlib.runs.contents import RunError, SourceContents, lone_surrogate, storable
from vimlib.runs.matching import SeenTask, UnknownTasks, in_words, match_suite
from vimlib.suites import build_suite, created_from_id

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample
    from inspect_ai.model import ModelUsage
    from inspect_ai.scorer import Score as InspectScore


class NotALog(RunError):
    """The file is no Inspect log."""


class CutShort(RunError):
    """The file begins as a log and ends too early."""


class DamagedLog(RunError):
    """The file is a log, and Inspect's own reader fails on it."""


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
    scorer: str
    """The task's own scorer, preferred where a log has several."""
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
_BATCH = 200
# The transcript is most of a sample and says nothing that we need.
_UNREAD = frozenset({"messages", "events", "events_data", "timelines", "store", "attachments"})


def is_zip(head: bytes) -> bool:
    """Whether a file that begins with `head` may be an `.eval` log."""
    return head.startswith(_ZIP_MAGIC)


def is_json_log(document: object) -> bool:
    """Whether a JSON document has the outline of an Inspect log."""
    return isinstance(document, dict) and isinstance(document.get("eval"), dict) and "status" in document


def read(path: Path, suites: Sequence[Suite], format: Literal["eval", "json"]) -> SourceContents:
    """The one run in an Inspect log, its attempts in the log's order.

    `format` is what the content is, whatever the file's name ends with. The suite is the
    first of `suites` that holds the log's tasks; failing that, one is made from the
    buffers that the log carries (`metadata.input` and the sample's target) and returned.
    A log of a run that was stopped gives the samples that it holds, none besides.
    A listed sample that cannot be read is a problem and an attempt without an answer.

    Raises `NotALog`, `CutShort`, `DamagedLog`, `UnknownTask`, `UnknownTasks`, `NoSamples`.
    """
    if format == "eval":
        _check_zip(path)
    try:
        with _quiet_asyncio():
            header, samples, holes = _contents(path, format)
    except Exception as error:
        # Inspect's reader meets foreign bytes with whatever its parsers raise; to the
        # user they all mean the same.
        raise DamagedLog(
            f"{path}: Inspect's reader fails on this log ({_reason(error)}); expected a whole log, copy it "
            "anew or repair it with `inspect log recover`"
        ) from error
    rules = _rules(path, header)
    if holes and not samples:
        raise DamagedLog(
            f"{path}: not one of its {len(holes)} samples can be read (first: {holes[0].reason}); expected a "
            "whole log, copy it anew or repair it with `inspect log recover`"
        )
    if not samples:
        raise NoSamples(
            f"{path}: the log of task '{header.eval.task}' (status {header.status}) holds no sample; "
            "there is nothing to replay"
        )
    suite, carried, notes = _suite(path, header, samples, suites, rules)
    scorers = _scorers(header, rules)
    attempts, problems = [], []
    for sample in samples:
        attempt, problem = _attempt(sample, rules.protocol, scorers)
        if rules.track is Track.MULTI:
            attempt = _in_turns(attempt, sample)
        attempts.append(attempt)
        if problem is not None:
            problems.append(f"{path}: sample '{sample.id}', epoch {sample.epoch}: {problem}")
    for hole in holes:
        problem = f"cannot be read from the log ({hole.reason})"
        problems.append(f"{path}: sample '{hole.id}', epoch {hole.epoch}: {problem}")
        # An attempt at a task that the suite does not hold could not be stored.
        if any(task.id == hole.id for task in suite.tasks):
            attempts.append(
                Attempt(hole.id, hole.epoch, attempt=1, status=AttemptStatus.PROVIDER_ERROR, error=problem)
            )
    run = Run(
        id=f"inspect:{header.eval.eval_id}",
        kind=RunKind.MODEL,
        name=header.eval.model,
        suite_hash=suite.hash,
        protocol=rules.protocol,
        attempts=tuple(attempts),
        source=path.name,
        source_sha256=_sha256(path),
        extraction=keys.EXTRACTION_RULES[rules.protocol],
        track=rules.track,
        turn_state=rules.turn_state,
        prompt_version=rules.prompt_version or _prompt_version(header),
        task_name=header.eval.task,
        task_version=str(header.eval.task_version),
        status=header.status,
        created=_moment(header.eval.created),
        settings=_settings(header),
        packages=dict(header.eval.packages),
    )
    return SourceContents((run,), (suite,) if carried else (), tuple(problems), tuple(notes))


def _check_zip(path: Path) -> None:
    # A zip's table of contents stands at its end: without one the file was cut short.
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except zipfile.BadZipFile:
        raise CutShort(
            f"{path}: begins as an Inspect log ({path.stat().st_size:,} bytes) but its end is missing; "
            "expected a whole file, copy it anew"
        ) from None
    if not names & {"header.json", "_journal/start.json"}:
        raise NotALog(
            f"{path}: is a zip file without header.json; expected an Inspect log, as `inspect eval` writes it"
        )


@dataclass(frozen=True, slots=True)
class _Hole:
    """A sample that the log lists and that cannot be read."""

    id: str
    epoch: int
    reason: str


def _reason(error: Exception) -> str:
    """What a parser of Inspect's raised, in one line of bearable length."""
    return f"{type(error).__name__}: {' '.join(storable(str(error)).split())[:120]}"


@contextmanager
def _quiet_asyncio() -> Iterator[None]:
    # When a read fails, the tasks beside it are dropped, and asyncio says so on standard
    # error once they are collected. The one line that the user needs comes from us.
    logger = logging.getLogger("asyncio")
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before


def _contents(path: Path, format: Literal["eval", "json"]) -> tuple[EvalLog, list[EvalSample], list[_Hole]]:
    from inspect_ai.log import (
        read_eval_log,
        read_eval_log_sample_summaries,
        read_eval_log_samples_by_id,
    )

    location = path.resolve().as_posix()
    if format == "json":
        log = _json_log(path)
        return log, log.samples or [], []
    header = read_eval_log(location, header_only=True, format=format)
    # Summaries come sorted by id; the data set's order is the suite's.
    order = {str(id): place for place, id in enumerate(header.eval.dataset.sample_ids or ())}
    wanted = [(one.id, one.epoch) for one in read_eval_log_sample_summaries(location, format=format)]
    wanted.sort(key=lambda one: (order.get(str(one[0]), len(order)), one[1]))
    samples: list[EvalSample] = []
    holes: list[_Hole] = []

    def take(some: Sequence[tuple[str | int, int]]) -> None:
        try:
            samples.extend(
                read_eval_log_samples_by_id(location, some, format=format, exclude_fields=set(_UNREAD))
            )
        except Exception as error:
            # One bad sample fails the whole batch: take them singly and keep the good ones.
            if len(some) == 1:
                holes.append(_Hole(str(some[0][0]), some[0][1], _reason(error)))
            else:
                for one in some:
                    take([one])

    # Batches bound what is held besides the answers: a sample's transcript can be megabytes.
    for batch in _batches(wanted):
        take(batch)
    if holes:
        gc.collect()
    return header, samples, holes


def _json_log(path: Path) -> EvalLog:
    from inspect_ai.log import read_eval_log

    try:
        return read_eval_log(path.resolve().as_posix(), format="json")
    except ValueError as error:
        if "surrogate" not in str(error):
            raise
    # Inspect writes lone surrogates out as text (\ud800) and refuses to read them as
    # JSON escapes, which other writers of its format leave. They are made into its form.
    document = json.loads(path.read_text(encoding="utf-8-sig"))
    text = json.dumps(document, ensure_ascii=False)
    written_out = re.sub("[\ud800-\udfff]", lambda found: f"\\\\u{ord(found[0]):04x}", text)
    return read_eval_log(io.BytesIO(written_out.encode("utf-8")), format="json")


def _batches(wanted: Sequence[tuple[str | int, int]]) -> Iterator[Sequence[tuple[str | int, int]]]:
    for first in range(0, len(wanted), _BATCH):
        yield wanted[first : first + _BATCH]


OWN = "vimlib"
"""The name under which the workbench's own tasks put what they say, in the log's metadata and in that of
each sample (`inspect_tasks.logged` has the fields)."""
OWN_SCORER = "replay"


def _rules(path: Path, header: EvalLog) -> TaskRules:
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
    name = header.eval.task.rsplit("/", 1)[-1]
    if name not in TASKS:
        raise UnknownTask(
            f"{path}: is a log of task '{header.eval.task}', whose rules are not known; "
            f"known: {', '.join(TASKS)}"
        )
    return TASKS[name]


def _own(sample: EvalSample) -> Mapping[str, Any]:
    """What one of our tasks said of the sample; of other tasks' samples nothing."""
    said = (sample.metadata or {}).get(OWN)
    return said if isinstance(said, dict) else {}


def _seen(sample: EvalSample) -> SeenTask:
    metadata = sample.metadata or {}
    start = _own(sample).get("start", metadata.get("input"))
    targets = [sample.target] if isinstance(sample.target, str) else sample.target
    return SeenTask(
        str(sample.id),
        start=start if isinstance(start, str) else None,
        target=targets[0] if targets else None,
    )


def _suite(
    path: Path, header: EvalLog, samples: Sequence[EvalSample], suites: Sequence[Suite], rules: TaskRules
) -> tuple[Suite, bool, list[str]]:
    """The suite answered, whether it comes from the log itself, and notes."""
    seen = {_seen(sample): sample for sample in samples}
    found = match_suite(seen, suites)
    if found.suite is not None:
        return found.suite, False, []
    ids = {one.id for one in seen}
    if len(ids) < len(seen) or any(one.start is None or one.target is None for one in seen):
        raise UnknownTasks(
            f"{path}: log of task '{header.eval.task}' with {len(ids)} tasks that no suite at hand holds "
            f"({in_words(found.reasons)}), and the log does not carry their start and target; give the "
            "suite's file too (--suite)"
        )
    suite = build_suite(
        rules.suite_name,
        [_task(one, sample.metadata or {}) for one, sample in seen.items()],
        (rules.protocol,),
        origin=f"carried by the Inspect log {path.name}",
    )
    if rules.version is not None and (header.eval.metadata or {})[OWN].get("suite_hash") == suite.hash:
        suite = replace(suite, version=rules.version)
    note = f"{path}: its {len(ids)} tasks are taken from the log itself ({in_words(found.reasons)})"
    return suite, True, [note] if suites else []


def _task(seen: SeenTask, metadata: Mapping[str, Any]) -> Task:
    assert seen.start is not None and seen.target is not None
    if isinstance(said := metadata.get(OWN), dict):
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


def _in_turns(attempt: Attempt, sample: EvalSample) -> Attempt:
    """An attempt of our multi-turn task, with the turns that it noted while it played them.

    An edit that did not come to its end, because the provider failed or the run was stopped on the
    way, is no answer, whatever the earlier turns left.
    """
    noted = _own(sample).get("turns")
    turns = [turn for turn in (noted if isinstance(noted, list) else ()) if isinstance(turn, dict)]
    played = tuple(str(turn["keys"]) for turn in turns if isinstance(turn.get("keys"), str))
    seconds = [turn["seconds"] for turn in turns if isinstance(turn.get("seconds"), int | float)]
    status = attempt.status
    if status is AttemptStatus.ANSWERED and not _own(sample).get("ended"):
        cancelled = sample.limit is not None or (sample.error is None)
        status = AttemptStatus.CANCELLED if cancelled else AttemptStatus.PROVIDER_ERROR
    return replace(
        attempt,
        status=status,
        keys="".join(played) if played else None,
        turns=played,
        seconds=sum(seconds) if seconds else None,
    )


def _attempt(sample: EvalSample, protocol: Protocol, scorers: Sequence[str]) -> tuple[Attempt, str | None]:
    """One sample as an attempt, and what is wrong with its answer, if anything."""
    output = sample.output
    error = None if sample.error is None else storable(sample.error.message)
    completion = output.completion if output.choices else None
    status = AttemptStatus.ANSWERED
    taken: str | None = None
    problem: str | None = None
    if completion is not None:
        # Where a scorer failed there is an error and an answer; the answer is what counts here.
        taken = keys.extract(completion, protocol)
        found = lone_surrogate(taken)
        if found is not None:
            taken = None
            problem = error = f"the answer holds {found}, which no UTF-8 text can; it counts as no answer"
    elif error is not None:
        # Inspect names a cancelled sample by the repr of the exception, asyncio's or trio's.
        cancelled = error.startswith(("CancelledError(", "Cancelled("))
        status = AttemptStatus.CANCELLED if cancelled else AttemptStatus.PROVIDER_ERROR
    elif sample.limit is not None:
        status = AttemptStatus.CANCELLED
        error = f"stopped by the {sample.limit.type} limit before there was an answer"
    attempt = Attempt(
        task_id=str(sample.id),
        epoch=sample.epoch,
        attempt=1 + len(sample.error_retries or ()),
        status=status,
        completion=None if completion is None else storable(completion),
        keys=taken,
        stop_reason=output.stop_reason if output.choices else None,
        error=error,
        usage=normal_usage(sample.model_usage.values() or ([output.usage] if output.usage else ())),
        seconds=output.time,
        source_correct=_verdict(sample.scores or {}, scorers),
    )
    return attempt, problem


def normal_usage(usages: Iterable[ModelUsage]) -> TokenUsage:
    """The tokens of one sample, over all models that it called, in the store's normal form.

    Inspect's `input_tokens` leaves cached tokens out, so all input is input + cache read +
    cache write (`inspect_ai.model.ModelUsage`). Before 0.3.184 some providers' counts
    included them; there the total tells, since it is then input + output as they stand.
    A call that reports no token at all was not counted, and gives None. What Inspect
    calls cost is mostly its own reckoning from a price list, so nothing is taken as billed.
    """
    counted = [one for one in usages if one.total_tokens or one.input_tokens or one.output_tokens]
    if not counted:
        return TokenUsage()

    def all_input(one: ModelUsage) -> int:
        cached = (one.input_tokens_cache_read or 0) + (one.input_tokens_cache_write or 0)
        included = one.total_tokens == one.input_tokens + one.output_tokens and one.input_tokens >= cached
        return one.input_tokens if included else one.input_tokens + cached

    return TokenUsage(
        input_tokens=sum(all_input(one) for one in counted),
        cache_read_tokens=_sum(one.input_tokens_cache_read for one in counted),
        cache_write_tokens=_sum(one.input_tokens_cache_write for one in counted),
        output_tokens=sum(one.output_tokens for one in counted),
        reasoning_tokens=_sum(one.reasoning_tokens for one in counted),
        total_tokens=sum(one.total_tokens for one in counted),
    )


def _sum(values: Iterable[int | None]) -> int | None:
    reported = [value for value in values if value is not None]
    return sum(reported) if reported else None


def _scorers(header: EvalLog, rules: TaskRules) -> list[str]:
    """The scorers whose verdict is taken, the first before the others: the task's own and no
    other where the log has it, else those that the log counts an accuracy of."""
    results = header.results.scores if header.results is not None else []
    if rules.scorer in {one.name for one in (*results, *(header.eval.scorers or ()))}:
        return [rules.scorer]
    return [one.name for one in results if "accuracy" in one.metrics]


def _verdict(scores: Mapping[str, InspectScore], scorers: Sequence[str]) -> bool | None:
    """What the log itself says of a sample; None: nothing, or neither right nor wrong."""
    names = scorers or (list(scores) if len(scores) == 1 else ())
    value = next((scores[name].value for name in names if name in scores), None)
    if isinstance(value, dict):
        value = value.get("passed")
    if value in ("C", 1, "1"):
        return True
    # N: the scorer found no answer, which it counts as 0.
    if value in ("I", "N", 0, "0"):
        return False
    return None


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
    if header.eval.model_args:
        settings["model_args"] = dict(header.eval.model_args)
    return settings


def _moment(text: str) -> datetime.datetime | None:
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=datetime.UTC)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
