"""Why answers fail: every mode by a real Vim, repairs that really pass, and how often labels agree.

The cases are data (`data/failures.jsonl`): a start, a target, a model's whole answer, and what is
to be said of it. The labels (`data/failure_labels.jsonl`) were given by hand to real answers, whose
texts belong to their sites: only their hashes are here.
"""

from __future__ import annotations

from pathlib import Path

import labelling
import pytest
from failing import CASES, judge_cases

from vimlib.failures import EVIDENCE, RULES, classify, likeness, looks_like_keys, looks_like_prose, wrong_keys
from vimlib.judge import Judgement
from vimlib.records import (
    Attempt,
    AttemptStatus,
    Failure,
    FailureFlag,
    FailureMode,
    Outcome,
    Protocol,
    Repair,
    Suite,
    Task,
)
from vimlib.replay import trace

PAGE = Path(__file__).parent.parent / "docs" / "failures.md"


@pytest.fixture(scope="module")
def judged() -> tuple[Judgement, Suite]:
    """All cases, judged in a real Vim."""
    return judge_cases()


def failures_of(judgement: Judgement, suite: Suite) -> dict[str, Failure | None]:
    """Case to what is said of it."""
    tasks = {task.id: task for task in suite.tasks}
    found = {}
    for run in judgement.runs:
        verdicts = {one.attempt.task_id: one for one in run.verdicts}
        for attempt in run.run.attempts:
            one = verdicts.get(attempt.task_id)
            found[attempt.task_id] = classify(
                tasks[attempt.task_id],
                run.run.protocol,
                attempt,
                one.replay if one else None,
                one.score if one else None,
            )
    return found


def test_each_case_fails_in_its_mode(judged: tuple[Judgement, Suite]) -> None:
    found = failures_of(*judged)
    wrong = []
    for case in CASES:
        failure = found[case["id"]]
        if failure is None or failure.mode != case["mode"]:
            wrong.append(f"{case['id']}: {failure and (failure.mode, failure.evidence)}, not {case['mode']}")
            continue
        if "flags" in case and list(failure.flags) != case["flags"]:
            wrong.append(f"{case['id']}: flags {failure.flags}, not {case['flags']}")
        if "error_number" in case and failure.evidence.get("error_number") != case["error_number"]:
            wrong.append(f"{case['id']}: {failure.evidence}")
    assert not wrong, "\n".join(wrong)


def test_the_cases_reach_every_mode_and_flag_and_name_their_evidence(
    judged: tuple[Judgement, Suite],
) -> None:
    found = [failure for failure in failures_of(*judged).values() if failure is not None]
    assert {failure.mode for failure in found} == set(FailureMode)
    assert {flag for failure in found for flag in failure.flags} == set(FailureFlag)
    assert {name for failure in found for name in failure.evidence} == set(EVIDENCE)
    assert [rule.mode for rule in RULES] == list(FailureMode), "the table is in the order of the modes"


def test_what_did_not_fail_has_no_mode() -> None:
    task = Task("t", "a\n", "a\n")
    for status in (AttemptStatus.CANCELLED, AttemptStatus.NOT_REPLAYABLE, AttemptStatus.ANSWERED):
        assert classify(task, Protocol.GOLF, Attempt("t", 1, 1, status, keys="ZZ"), None, None) is None


# --- what texts look like


@pytest.mark.parametrize(
    "text",
    [
        "ddZZ",
        "3Gdd:wq<CR>",
        ":%s/the/a/g<NL>ZZ",
        "iHello World<Esc>ZZ",
        "ggVGd",
        "oThis is the text of a line<Esc>ZZ",
    ],
)
def test_keystrokes_are_no_prose(text: str) -> None:
    assert looks_like_keys(text) and not looks_like_prose(text)


@pytest.mark.parametrize(
    "text",
    [
        "The problem is to find the shortest path.",
        "5. Repeat steps 2-4 until you finish.",
        "- **Save** the file and quit",
        'Output: "ABC"',
        "return x + 1",
        'It is written as "text:wq<NL>".',
    ],
)
def test_prose_is_no_keystrokes(text: str) -> None:
    assert looks_like_prose(text) and not looks_like_keys(text)


def test_likeness_is_of_the_same_kind_whatever_the_length() -> None:
    assert likeness("", "") == likeness("a\n", "a\n")
    assert likeness("a\n", "a\n").ratio == 1.0
    assert likeness("abc\n", "abd\n").left == 2
    long = "".join(f"line {number} of many\n" for number in range(300))
    changed = long.replace("line 77 ", "line XX ")
    assert likeness(changed, long).left == 4
    assert 0.99 < likeness(changed, long).ratio < 1
    assert likeness("x" * 10_000, "y" * 10_000).ratio == 0.0


def test_a_huge_comparison_ends() -> None:
    import random
    import time

    draw = random.Random(1)
    one, other = ("".join(draw.choices("ab ", k=200_000)) for _ in range(2))
    began = time.process_time()
    assert 0 <= likeness(one, other).ratio <= 1
    assert time.process_time() - began < 10


def test_the_first_wrong_key_is_found_on_the_trace() -> None:
    played = trace(Protocol.GOLF, "alpha\nbeta\n", "xxjhddkx:s/q/q/<CR>ZZ")
    found = wrong_keys(played.steps, "pha\nbeta\n")
    assert found.last_nearer == 5, (
        "two deletions, two motions and an operator; then a line is deleted that should stay"
    )
    assert found.first_error == 16
    assert found.likeness[0] < found.likeness[2] == 1.0
    assert played.steps[-1].outcome is Outcome.FINISHED


# --- labels given by hand


def test_precision_and_recall_are_those_of_the_page_and_reach_the_bar(shared_data: Path) -> None:
    found = labelling.confusion(shared_data)
    page = PAGE.read_text(encoding="utf-8")
    for row in labelling.agreement_rows(found):
        assert row in page, "run tests/labelling.py and put its table into docs/failures.md"
    for mode in labelling.measured_modes():
        for split in labelling.SPLITS:
            one = labelling.agreement(found[split], mode)
            assert not one.labelled or min(one.precision, one.recall) >= 0.9, (mode, split, one)


def test_labels_are_hashes_and_a_third_of_them_was_kept_unseen() -> None:
    labels = labelling.labels()
    assert len(labels) >= 150
    assert {name for one in labels for name in one} == {"source", "task_id", "answer", "label", "split"}
    assert {one["label"] for one in labels} <= set(FailureMode)
    assert 0.25 < sum(one["split"] == "unseen" for one in labels) / len(labels) < 0.42


def test_the_page_has_the_rules_as_the_code_has_them() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert "\n".join(labelling.rule_rows()) in page
    for flag in FailureFlag:
        assert f"`{flag}`" in page
    for repair in Repair:
        assert f"`{repair}`" in page
    for name, meaning in EVIDENCE.items():
        assert f"| `{name}` | {meaning} |" in page
