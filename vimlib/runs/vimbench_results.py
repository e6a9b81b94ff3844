"""Result files of vimbench: `llm_results.json`, `leaderboard.json`, `my_results.json`, `demo_results.json`.

They hold verdicts and no keys, so nothing in them can be replayed. A summary becomes a published result,
the single verdicts of a run an attempt each with the source's own scores, marked as not replayable.
Neither is ever judged here or ranked with what was. Counts of tokens there include cached ones, as the
provider's did (vimbench's `telemetry.py`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vimlib.records import (
    Attempt,
    AttemptStatus,
    Protocol,
    PublishedResult,
    Run,
    RunKind,
    Suite,
    TokenConvention,
    TokenUsage,
)
from vimlib.runs.contents import RunError, SourceContents, storable
from vimlib.runs.lines import Row, Rows
from vimlib.runs.matching import SeenTask, in_words, match_suite

BENCHMARK = "vimbench"
EXTRACTION = "vimbench"
"""vimbench took the keys from the answers, and kept neither."""


class NoResults(RunError):
    """A result file of vimbench holds no result."""


def is_results(document: object) -> bool:
    """Whether a JSON document is a leaderboard, a run's results, or named runs' results."""
    if not isinstance(document, dict) or not document:
        return False
    if isinstance(document.get("rows"), list):
        return any(
            isinstance(row, dict) and "model" in row and "pass_rate" in row for row in document["rows"]
        )
    return _is_run(document) or all(map(_is_run, document.values()))


def _is_run(document: object) -> bool:
    return (
        isinstance(document, dict)
        and isinstance(document.get("summary"), dict)
        and isinstance(document.get("results"), list)
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """One model's part of the file."""

    model: str
    summary: Mapping[str, Any]
    results: Sequence[Any]


def _parts(path: Path, document: Mapping[str, Any]) -> Iterator[_Part]:
    if isinstance(document.get("rows"), list):
        details = document.get("details")
        for row in document["rows"]:
            if isinstance(row, dict):
                model = str(row.get("model"))
                of = details.get(model) if isinstance(details, dict) else None
                results = of.get("results") if isinstance(of, dict) else None
                yield _Part(model, row, results if isinstance(results, list) else ())
    elif _is_run(document):
        # The file names no model.
        yield _Part(path.stem, document["summary"], document["results"])
    else:
        for name, run in document.items():
            yield _Part(name, run["summary"], run["results"])


def read(path: Path, raw: bytes, document: Mapping[str, Any], suites: Sequence[Suite]) -> SourceContents:
    """A published result for each summary, and a run for each list of single verdicts.

    The suite is the first of `suites` that holds the ids of a list; where none does, the list is left
    out and said. A rate outside 0 to 1 or a sum that does not add up is said and left out.

    Raises `NoResults`.
    """
    parts = list(_parts(path, document))
    if not parts:
        raise NoResults(f"{path}: a result file of vimbench without a result; expected some")
    digest = hashlib.sha256(raw).hexdigest()
    named = {name: document.get(name) for name in ("track", "task_set")}
    track, task_set = (value if isinstance(value, str) else None for value in named.values())
    problems: list[str] = []
    notes: list[str] = []
    published, runs = [], []
    for place, part in enumerate(parts, start=1):
        said = _rows(path, [part.summary], problems, f"result of '{storable(part.model)}'")
        published.append(_published(said.rows[0], part, place, path.name, digest, track, task_set))
        if part.results:
            own = _rows(path, part.results, problems, f"result of '{storable(part.model)}', task")
            run = _run(own, part.model, track, path, digest, suites, problems)
            runs += [run] if run is not None else []
    notes.append(
        f"{path}: {len(published)} results as published; it holds no keys, so nothing in it can be replayed"
    )
    return SourceContents(
        tuple(runs),
        problems=tuple(problems),
        notes=tuple(notes),
        published=tuple(published),
        kind="vimbench results",
    )


def _rows(path: Path, items: Sequence[Any], problems: list[str], unit: str) -> Rows:
    """Objects as rows whose mistakes go to `problems`."""
    rows = Rows.of_list(path, b"", list(items)) or Rows.of_list(path, b"", [{}])
    assert rows is not None, "a list of one object is a list of objects"
    rows.unit = unit
    problems += rows.problems
    rows.problems = problems
    return rows


def _published(
    row: Row, part: _Part, place: int, name: str, digest: str, track: str | None, task_set: str | None
) -> PublishedResult:
    tasks, passed, rate = row.count("tasks"), row.count("passed"), row.share("pass_rate")
    if tasks is not None and passed is not None:
        if passed > tasks:
            row.wrong(f"passed is {passed} of {tasks} tasks; expected at most all, both are left out")
            tasks = passed = None
        elif rate is not None and tasks and abs(rate - passed / tasks) > 0.0015:
            row.wrong(f"pass_rate is {rate} and passed {passed} of {tasks}; both are kept as published")
    return PublishedResult(
        benchmark=BENCHMARK,
        protocol=Protocol.BENCH,
        model=storable(part.model),
        place=place,
        source=name,
        source_sha256=digest,
        track=row.text("track") or track,
        task_set=task_set,
        tasks=tasks,
        passed=passed,
        pass_rate=rate,
        mean_efficiency=row.share("avg_efficiency"),
        mean_partial=row.share("avg_partial"),
        mean_turns=row.number("avg_turns"),
        wall_seconds=row.number("seconds"),
        mean_latency_seconds=row.number("avg_latency_seconds"),
        p95_latency_seconds=row.number("p95_latency_seconds"),
        requests=row.count("requests"),
        usage=_usage(row, part.model),
        tokens_per_pass=row.number("tokens_per_pass"),
        cost_per_pass_usd=row.number("cost_per_pass_usd"),
        error=row.text("error") or None,
    )


def _run(
    rows: Rows,
    model: str,
    track: str | None,
    path: Path,
    digest: str,
    suites: Sequence[Suite],
    problems: list[str],
) -> Run | None:
    by_id: dict[str, Row] = {}
    for row in rows:
        id = row.text("id")
        if not id:
            row.wrong("has no id; it is left out")
        elif id in by_id:
            row.wrong(f"id '{id}' is there already; it is left out")
        else:
            by_id[id] = row
    found = match_suite(
        map(SeenTask, by_id), [suite for suite in suites if Protocol.BENCH in suite.protocols]
    )
    if found.suite is None:
        problems.append(
            f"{path}: single results of '{storable(model)}' are of {len(by_id)} tasks that no suite at hand "
            f"holds ({in_words(found.reasons)}), so only their summary is taken; give the suite too "
            "(--suite vimbench-seed)"
        )
        return None
    attempts = [
        Attempt(
            task_id=id,
            epoch=1,
            attempt=1,
            status=AttemptStatus.NOT_REPLAYABLE,
            error=row.text("error") or None,
            usage=_usage(row, model),
            seconds=row.number("latency_seconds"),
            source_correct=row.truth("passed"),
            source_partial=row.share("partial"),
            source_efficiency=row.share("efficiency"),
            source_keystrokes=row.count("keystrokes"),
        )
        for id, row in by_id.items()
    ]
    multi = track == "multi" or any("turns_used" in row.values for row in by_id.values())
    return Run(
        id=f"vimbench:{digest[:16]}:{storable(model)}",
        kind=RunKind.MODEL,
        name=storable(model),
        suite_hash=found.suite.hash,
        protocol=Protocol.BENCH,
        attempts=tuple(attempts),
        source=path.name,
        source_sha256=digest,
        extraction=EXTRACTION,
        task_name=BENCHMARK,
        settings={"track": "multi" if multi else "single"},
    )


def _usage(row: Row, model: str) -> TokenUsage:
    """The object `usage` of a result; what was cached is read from a cache, where it can be told.

    Of Anthropic's models vimbench adds what was written to a cache to what was read from one.
    """
    given = row.values.get("usage")
    if not isinstance(given, dict):
        return TokenUsage()
    part = Row(row.rows, row.line, given)
    cached = part.count("cached_tokens")
    one_sum = cached and any(name in model.lower() for name in ("claude", "anthropic"))
    usage = TokenUsage(
        input_tokens=part.count("input_tokens"),
        cache_read_tokens=None if one_sum else cached,
        output_tokens=part.count("output_tokens"),
        reasoning_tokens=part.count("reasoning_tokens"),
        total_tokens=part.count("total_tokens"),
        token_convention=TokenConvention.INCLUSIVE if cached else TokenConvention.NO_CACHE,
    )
    return usage if usage.input_tokens is not None or usage.output_tokens is not None else TokenUsage()
