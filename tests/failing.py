"""Cases of failing answers as tests use them: read from data, answered by one run a protocol, judged."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from vimlib import keys
from vimlib.judge import Judgement, judge
from vimlib.records import Attempt, AttemptStatus, Protocol, Run, RunKind, Suite, Task

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
