"""Cases of failing answers as tests use them: read from data, answered by one run a protocol, judged."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from vimlib import keys
from vimlib.failures import classify
from vimlib.judge import Judgement, judge
from vimlib.records import Attempt, AttemptStatus, Protocol, Repair, Run, RunKind, Score, Suite, Task
from vimlib.store import replacing

DATA = Path(__file__).parent / "data"
CASES: list[dict[str, Any]] = [
    json.loads(line) for line in (DATA / "failures.jsonl").read_text(encoding="utf-8").splitlines()
]


def attempt_of(case: dict[str, Any], protocol: Protocol) -> Attempt:
    completion = case["completion"]
    return Attempt(
        case["id"],
        1,
        1,
        AttemptStatus(case.get("status", "answered")),
        completion=completion,
        keys=None if completion is None else keys.extract(completion, protocol),
        stop_reason=case.get("stop_reason"),
        error=case.get("error"),
    )


def judge_cases(cases: Iterable[dict[str, Any]] = CASES) -> tuple[Judgement, Suite]:
    """The cases as one suite, answered by one run a protocol, judged in a real Vim."""
    cases = list(cases)
    tasks = tuple(Task(case["id"], case["start"], case["target"]) for case in cases)
    suite = Suite("cases", "1", "0" * 64, tasks, tuple(Protocol))
    runs = [
        Run(
            id=protocol.value,
            kind=RunKind.MODEL,
            name="cases",
            suite_hash=suite.hash,
            protocol=protocol,
            attempts=tuple(attempt_of(case, protocol) for case in cases if case["protocol"] == protocol),
        )
        for protocol in Protocol
    ]
    return judge(runs, [suite]), suite


def store_cases(path: Path, cases: Iterable[dict[str, Any]] = CASES, *, name: str = "cases") -> Suite:
    """A store of the cases as one model's runs, classified, with the repairs that they name; and of two
    runs more, one in which everything passed and one in which nothing was answered."""
    cases = list(cases)
    judgement, suite = judge_cases(cases)
    tasks = {task.id: task for task in suite.tasks}
    repairs = {case["id"]: Repair(case["repair"]) if case["repair"] else None for case in cases}
    ids = [task.id for task in suite.tasks]
    passed = [Attempt(id, 1, 1, AttemptStatus.ANSWERED, "ddZZ", "ddZZ") for id in ids]
    lost = [Attempt(id, 1, 1, AttemptStatus.PROVIDER_ERROR, error="503") for id in ids]
    with replacing(path) as writer:
        writer.add_suite(suite)
        writer.add_replays(judgement.replays.values())
        for one in judgement.runs:
            run = replace(one.run, name=name)
            writer.add_run(run)
            writer.add_scores(
                run, [(v.attempt, v.replay.key if v.replay else None, v.score) for v in one.verdicts]
            )
            verdicts = {v.attempt.task_id: v for v in one.verdicts}
            failed = []
            for attempt in run.attempts:
                v = verdicts.get(attempt.task_id)
                failure = classify(
                    tasks[attempt.task_id],
                    run.protocol,
                    attempt,
                    v.replay if v else None,
                    v.score if v else None,
                )
                if failure is not None:
                    failed.append((attempt, failure, repairs[attempt.task_id]))
            writer.add_failures(run, failed)
        for id, attempts in (("all-passed", passed), ("nothing-answered", lost)):
            run = replace(judgement.runs[0].run, id=id, name=id, attempts=tuple(attempts))
            writer.add_run(run)
            if attempts is passed:
                score = Score(True, True, 1.0, 1.0, 4, False)
                writer.add_scores(run, [(attempt, None, score) for attempt in attempts])
            else:
                failures = [
                    (one, classify(tasks[one.task_id], run.protocol, one, None, None)) for one in attempts
                ]
                writer.add_failures(run, [(one, failure, None) for one, failure in failures if failure])
    return suite
