"""Repairs: each counts only where the repaired answer passes in a real Vim."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from failing import CASES, judge_cases

from vimlib import repair as module
from vimlib.records import Attempt, AttemptStatus, Protocol, Repair, Task
from vimlib.repair import MOST_TRIES, Failed, candidates, mend

SLOW = {"timeout", "crash"}
"""Modes of cases that take long and have nothing to repair."""


@pytest.fixture(scope="module")
def failed() -> dict[str, Failed]:
    """Each case that is quickly replayed, with what its own keys did."""
    judgement, suite = judge_cases(case for case in CASES if case["mode"] not in SLOW)
    tasks = {task.id: task for task in suite.tasks}
    return {
        one.attempt.task_id: Failed(tasks[one.attempt.task_id], run.run.protocol, one.attempt, one.replay)
        for run in judgement.runs
        for one in run.verdicts
    }


def test_each_case_is_mended_by_its_repair_or_by_none(failed: dict[str, Failed]) -> None:
    expected = {case["id"]: case["repair"] for case in CASES if case["id"] in failed}
    found = dict(zip(failed, mend(list(failed.values())), strict=True))
    wrong = [
        f"{name}: {found[name]}, not {expected[name]}" for name in failed if found[name] != expected[name]
    ]
    assert not wrong, "\n".join(wrong)
    assert {repair for repair in found.values() if repair} == set(Repair), "the cases reach every repair"


def test_repairs_are_replayed_once_and_kept(
    failed: dict[str, Failed], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = [failed[name] for name in ("golf-fence", "golf-never-saves", "golf-sentence", "bench-two-lines")]
    first = mend(some, cache=tmp_path / "replays.sqlite")

    def never(*_: object) -> None:
        raise AssertionError("Vim was started")

    monkeypatch.setattr("vimlib.replay.play", never)
    assert mend(some, cache=tmp_path / "replays.sqlite") == first
    assert first == ["marked_up_line", "save_and_quit", None, "join_lines"]


def attempt(completion: str, keys: str, **more: Any) -> Attempt:
    return Attempt("t", 1, 1, AttemptStatus.ANSWERED, completion=completion, keys=keys, **more)


TASK = Task("t", "alpha\n", "a line of some length, as long as it is no short one\n")


def test_repairs_come_cheapest_first_and_each_differs_from_the_answer() -> None:
    order = list(Repair)
    for completion in ("x\ny\nddZZ", "```\nddZZ\n```\nThat is all there is to it.", "Answer: `ddZZ`"):
        keys = completion.splitlines()[-1]
        found = list(candidates(Failed(TASK, Protocol.GOLF, attempt(completion, keys), None)))
        assert [order.index(repair) for repair, _ in found] == sorted(
            order.index(repair) for repair, _ in found
        )
        assert len({text for _, text in found} | {keys}) == len(found) + 1
        assert "ddZZ" in {text for _, text in found} | {keys}


def test_what_cannot_pass_is_not_tried() -> None:
    long = "x" * len(TASK.target)
    assert list(candidates(Failed(TASK, Protocol.GOLF, attempt(f"{long}\n```", "```"), None))) == []
    prose = "This is the first line of the answer.\n```"
    assert list(candidates(Failed(TASK, Protocol.GOLF, attempt(prose, "```"), None))) == []
    turns = attempt("`dd`", "`dd`", turns=("`dd`",))
    assert list(candidates(Failed(TASK, Protocol.BENCH, turns, None))) == []


def test_a_long_answer_costs_no_more_than_a_short_one() -> None:
    spans = " ".join(f"`{number}dd`" for number in range(2, 500))
    found = list(candidates(Failed(TASK, Protocol.BENCH, attempt(spans, spans), None)))
    assert len(found) == MOST_TRIES
    assert module.MOST_TRIES == 8
