"""How well the classification agrees with labels given by hand: recomputed from the real answers.

Run it to print the tables of docs/failures.md. The answers' texts belong to their sites and lie beside
the project; the labels (`data/failure_labels.jsonl`) know them by a hash.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vimlib.failures import RULES, classify
from vimlib.judge import judge
from vimlib.records import Attempt, AttemptStatus, FailureMode, Run, Suite
from vimlib.runs import read_runs
from vimlib.suites import load_suite

LABELS = Path(__file__).parent / "data" / "failure_labels.jsonl"
SPLITS = ("seen", "unseen")
LEAST = 10
"""Examples that a mode needs to be measured."""
NOT_REPLAYED = {FailureMode.TIMEOUT}
"""Labels whose answers take the time limit each; they are too few to be measured."""


def answer_hash(completion: str) -> str:
    return hashlib.sha256(completion.encode()).hexdigest()[:16]


def labels() -> list[dict[str, Any]]:
    return [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]


def _answers(shared: Path, suite: Suite) -> Iterator[tuple[str, Run, Attempt]]:
    """(source, run, attempt) of every real answer that may have a label."""
    log = shared / "logs" / "vimgolf_single_turn_smollm2-135m.eval"
    (run,) = read_runs(log, [suite]).runs
    yield from ((log.name, run, attempt) for attempt in run.attempts)
    rows = (shared / "vimgolf" / "peer_verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    for number, row in enumerate(map(json.loads, rows), start=1):
        if row["kind"] != "model":  # the log's own answers
            attempt = Attempt(
                row["challenge_id"], number, 1, AttemptStatus.ANSWERED, row["keys"], row["keys"]
            )
            yield "peer_verdicts.jsonl", run, attempt


def confusion(shared: Path) -> dict[str, Counter[tuple[str, str]]]:
    """Split to counts of (label, mode that the rules give), over the labelled answers."""
    suite = load_suite(shared / "vimgolf" / "challenges.jsonl")
    tasks = {task.id: task for task in suite.tasks}
    known = {(one["source"], one["task_id"], one["answer"]): one for one in labels()}
    found: dict[str, Counter[tuple[str, str]]] = {split: Counter() for split in SPLITS}
    runs: dict[str, tuple[Run, list[Attempt]]] = {}
    for source, run, attempt in _answers(shared, suite):
        label = known.get((source, attempt.task_id, answer_hash(attempt.completion or "")))
        if label is not None and label["label"] not in NOT_REPLAYED:
            runs.setdefault(source, (run, []))[1].append(attempt)
    judged = judge(
        [replace(run, id=source, attempts=tuple(some)) for source, (run, some) in runs.items()], [suite]
    )
    for one in judged.runs:
        for verdict in one.verdicts:
            attempt = verdict.attempt
            label = known[one.run.id, attempt.task_id, answer_hash(attempt.completion or "")]
            task = tasks[attempt.task_id]
            failure = classify(task, one.run.protocol, attempt, verdict.replay, verdict.score)
            given = "passed" if failure is None else str(failure.mode)
            found[label["split"]][label["label"], given] += 1
    return found


@dataclass(frozen=True)
class Agreement:
    """One mode in one split."""

    labelled: int
    given: int
    both: int

    @property
    def precision(self) -> float:
        return self.both / self.given if self.given else 0.0

    @property
    def recall(self) -> float:
        return self.both / self.labelled if self.labelled else 0.0


def agreement(counts: Counter[tuple[str, str]], mode: str) -> Agreement:
    return Agreement(
        sum(n for (label, _), n in counts.items() if label == mode),
        sum(n for (_, given), n in counts.items() if given == mode),
        counts[mode, mode],
    )


def measured_modes() -> list[str]:
    """Modes with enough labels, in the rules' order."""
    number = Counter(one["label"] for one in labels())
    return [str(mode) for mode in FailureMode if number[mode] >= LEAST]


def agreement_rows(found: dict[str, Counter[tuple[str, str]]]) -> list[str]:
    """The lines of the page's table of precision and recall."""
    rows = []
    for mode in measured_modes():
        cells = [f"`{mode}`"]
        for split in SPLITS:
            one = agreement(found[split], mode)
            cells += [str(one.labelled), f"{one.precision:.2f}", f"{one.recall:.2f}"]
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def rule_rows() -> list[str]:
    """The lines of the page's table of rules."""
    return [
        f"| {place} | `{rule.mode}` | {rule.stage} | {rule.when} |"
        for place, rule in enumerate(RULES, start=1)
    ]


if __name__ == "__main__":
    print("\n".join(rule_rows()))
    print("\n".join(agreement_rows(confusion(Path(sys.argv[1])))))
