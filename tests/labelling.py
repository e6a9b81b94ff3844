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

PROJECT = Path(__file__).parents[1]
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


def _recorded() -> Iterator[tuple[str, Run, list[Suite]]]:
    """(source, run, suites) of the project's own recorded answers."""
    seed = load_suite("seed")
    for log in sorted((PROJECT / "data" / "runs").rglob("*.eval")):
        found = read_runs(log, [seed])
        source = log.parent.relative_to(PROJECT).as_posix()
        yield from ((source, run, [seed, *found.suites]) for run in found.runs)


def _beside(shared: Path) -> Iterator[tuple[str, Run, list[Suite]]]:
    """(source, run, suites) of the answers that lie beside the project."""
    suite = load_suite(shared / "vimgolf" / "challenges.jsonl")
    log = shared / "logs" / "vimgolf_single_turn_smollm2-135m.eval"
    (run,) = read_runs(log, [suite]).runs
    yield log.name, run, [suite]
    rows = (shared / "vimgolf" / "peer_verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    others = tuple(
        Attempt(row["challenge_id"], number, 1, AttemptStatus.ANSWERED, row["keys"], row["keys"])
        for number, row in enumerate(map(json.loads, rows), start=1)
        if row["kind"] != "model"  # the log's own answers
    )
    yield "peer_verdicts.jsonl", replace(run, attempts=others), [suite]


def confusion(shared: Path) -> dict[str, Counter[tuple[str, str]]]:
    """Split to counts of (label, mode that the rules give), over the labelled answers."""
    known = {(one["source"], one["task_id"], one["answer"]): one for one in labels()}
    found: dict[str, Counter[tuple[str, str]]] = {split: Counter() for split in SPLITS}
    runs, suites, met = [], {}, set()
    for source, run, some in [*_beside(shared), *_recorded()]:
        wanted = []
        for attempt in run.attempts:
            key = source, attempt.task_id, answer_hash(attempt.completion or "")
            if key in known and key not in met and known[key]["label"] not in NOT_REPLAYED:
                met.add(key)  # two epochs may answer alike
                wanted.append(attempt)
        runs.append(replace(run, id=source, attempts=tuple(wanted)))
        suites |= {suite.hash: suite for suite in some}
    for one in judge(runs, suites.values()).runs:
        tasks = {task.id: task for task in suites[one.run.suite_hash].tasks}
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
