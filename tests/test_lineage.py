"""Retried and resumed runs: each sample scored once, every attempt billed, whichever file comes first.

The logs are made by Inspect itself: a set whose first round loses a sample and whose second brings it.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from test_runs import GOLF, TASKS, edited

from vimlib import runs, store
from vimlib.load import RowKind, load
from vimlib.records import Attempt, AttemptStatus, Protocol, Run, TokenUsage
from vimlib.suites import build_suite

MILLION = 1_000_000
FOUR = build_suite("four", [*TASKS, dataclasses.replace(TASKS[0], id="flaky")], (Protocol.GOLF,), origin="t")


def run_set(folder: Path, *, retry_on_error: int | None = None) -> list[Path]:
    """The logs of a run of four samples, of which one fails at first; oldest first."""
    from inspect_ai import Task as InspectTask
    from inspect_ai import eval_set
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer
    from inspect_ai.solver import TaskState, generate

    failed = False

    def answer(messages: list[Any], *_: Any) -> ModelOutput:
        nonlocal failed
        if "flaky" in messages[-1].text and not failed:
            failed = True
            raise RuntimeError("the provider is down")
        output = ModelOutput.from_content("mockllm/model", "ddZZ")
        output.usage = ModelUsage(input_tokens=900_000, output_tokens=100_000, total_tokens=MILLION)
        return output

    @scorer(metrics=[accuracy()], name="vimgolf_scorer")
    def vimgolf_scorer() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            return Score(value="C")

        return score

    done, logs = eval_set(
        InspectTask(
            dataset=[
                Sample(
                    id=task.id, input=f"solve {task.id}", target=task.target, metadata={"input": task.start}
                )
                for task in FOUR.tasks
            ],
            solver=[generate()],
            scorer=vimgolf_scorer(),
            name="vimgolf_single_turn",
        ),
        log_dir=str(folder),
        model=get_model("mockllm/model", custom_outputs=answer),
        retry_attempts=2,
        retry_wait=0,
        retry_cleanup=False,
        retry_on_error=retry_on_error,
        display="none",
        log_level="error",
    )
    assert done and len(logs) == 1
    return sorted(folder.glob("*.eval"))


@pytest.fixture(scope="module")
def two_logs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    first, second = run_set(tmp_path_factory.mktemp("set"))
    return first, second


def joined(*paths: Path) -> Run:
    """The one run in several logs."""
    [run] = runs.join_lineages(run for path in paths for run in runs.read_runs(path, [FOUR]).runs)
    return run


def tokens(attempts: Sequence[Attempt]) -> int:
    return sum(one.usage.total_tokens or 0 for one in attempts)


def places(run: Run) -> dict[tuple[str, int, int], AttemptStatus]:
    return {(one.task_id, one.epoch, one.attempt): one.status for one in run.attempts}


def test_a_resumed_run_is_one_run_with_every_attempt_once(two_logs: tuple[Path, Path]) -> None:
    run = joined(*two_logs)
    assert places(run) == {
        **{(task.id, 1, 1): AttemptStatus.ANSWERED for task in TASKS},
        ("flaky", 1, 1): AttemptStatus.PROVIDER_ERROR,
        ("flaky", 1, 2): AttemptStatus.ANSWERED,
    }
    assert tokens(run.attempts) == 4 * MILLION
    assert [one.name for one in run.sources] == [path.name for path in two_logs]
    assert run.source == two_logs[1].name
    assert run.samples_planned == 4


def test_the_order_and_the_number_of_readings_make_no_difference(two_logs: tuple[Path, Path]) -> None:
    first, second = two_logs
    expected = joined(first, second)
    for order in itertools.permutations([first, second]):
        assert joined(*order) == expected
    assert joined(first, second, first, second) == expected
    assert joined(second, first, second) == expected


@pytest.mark.parametrize("said", [MILLION, 4 * MILLION], ids=["0.3.158 and before", "0.3.159 and since"])
def test_tokens_are_summed_over_samples_and_never_taken_from_headers(
    two_logs: tuple[Path, Path], tmp_path: Path, said: int
) -> None:
    first, second = two_logs

    def say(log: Any) -> None:
        for usage in log.stats.model_usage.values():
            usage.total_tokens = said
            usage.input_tokens = said - 100_000
        log.eval.packages["inspect_ai"] = "0.3.158" if said == MILLION else "0.3.159"

    retried = edited(second, tmp_path / "retried.eval", say)
    run = joined(first, retried)
    assert tokens(run.attempts) == 4 * MILLION
    assert [one.header_tokens for one in run.sources] == [3 * MILLION, said]
    database = tmp_path / "s.duckdb"
    load(database, [], [first, retried], ["noop"], cache=tmp_path / "c.sqlite", progress=False)
    with store.connect(database) as con:
        row = store.query(con, "run_overview", kind="model").iloc[0]
    assert (row["samples"], row["scored"], row["attempts"]) == (4, 4, 5)
    assert (row["total_tokens"], row["total_tokens_n"]) == (4 * MILLION, 4)


def test_a_later_load_of_the_retry_alone_joins_what_is_stored(
    two_logs: tuple[Path, Path], tmp_path: Path
) -> None:
    database, options = tmp_path / "s.duckdb", {"cache": tmp_path / "c.sqlite", "progress": False}
    runs_of = []
    for log in (*two_logs, two_logs[0], two_logs[1]):
        result = load(database, [], [log], ["noop"], **options)
        assert result.rejections == ()
        [row] = [row for row in result.rows if row.kind is RowKind.RUN]
        runs_of.append((row.source, row.attempts, row.new))
        with store.connect(database) as con:
            [stored] = con.execute("SELECT run_id FROM runs WHERE kind = 'model'").fetchall()
            run = store.read_run(con, stored[0])
        assert run is not None
    first, second = (path.name for path in two_logs)
    assert runs_of == [(first, 4, 4), (second, 1, 1), (first, 4, 0), (second, 1, 0)]
    assert places(run) == places(joined(*two_logs))
    assert tokens(run.attempts) == 4 * MILLION


def test_the_history_of_a_retry_within_a_run_is_kept_and_not_counted_twice(tmp_path: Path) -> None:
    [log] = run_set(tmp_path, retry_on_error=2)
    run = joined(log)
    flaky = [one for one in run.attempts if one.task_id == "flaky"]
    assert [(one.attempt, one.status) for one in flaky] == [
        (1, AttemptStatus.PROVIDER_ERROR),
        (2, AttemptStatus.ANSWERED),
    ]
    assert flaky[0].error is not None and "the provider is down" in flaky[0].error
    assert flaky[0].usage == TokenUsage()
    assert tokens(run.attempts) == 4 * MILLION


def test_the_tokens_of_a_failed_attempt_come_from_its_history(
    two_logs: tuple[Path, Path], tmp_path: Path
) -> None:
    document = json.loads(edited(two_logs[1], tmp_path / "x.json").read_text())
    sample = next(one for one in document["samples"] if one["id"] == "flaky")
    usage = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
    call = {"event": "model", "model": "mockllm/model", "output": {"usage": usage}}
    sample["error_retries"] = [
        {"message": "lost", "traceback": "", "traceback_ansi": "", "events": [{"event": "info"}, call]}
    ]
    path = tmp_path / "history.json"
    path.write_text(json.dumps(document))
    lost, won = (one for one in joined(path).attempts if one.task_id == "flaky")
    assert (lost.usage.total_tokens, lost.error, won.attempt) == (7, "lost", 2)


def test_parts_that_carry_different_tasks_are_of_all_of_them(
    two_logs: tuple[Path, Path], tmp_path: Path
) -> None:
    def only(*ids: str) -> Any:
        def keep(log: Any) -> None:
            log.samples = [sample for sample in log.samples if sample.id in ids]

        return keep

    begun = edited(two_logs[0], tmp_path / "begun.eval", only(TASKS[0].id, TASKS[1].id))
    resumed = edited(two_logs[1], tmp_path / "resumed.eval", only(TASKS[2].id, "flaky"))
    database = tmp_path / "s.duckdb"
    result = load(database, [], [begun, resumed], ["noop"], cache=tmp_path / "c.sqlite", progress=False)
    assert result.rejections == ()
    suites = [row for row in result.rows if row.kind is RowKind.SUITE]
    assert [row.tasks for row in suites] == [4]
    # The second brings the history of the attempt that the first is without.
    assert [row.attempts for row in result.rows if row.kind is RowKind.RUN] == [2, 3]


def test_a_log_of_some_tasks_is_of_the_fuller_suite_that_another_log_carries(
    two_logs: tuple[Path, Path], tmp_path: Path
) -> None:
    def other_run_of_two(log: Any) -> None:
        log.eval.task_id = "other"
        log.samples = log.samples[:2]

    limited = edited(two_logs[1], tmp_path / "limited.eval", other_run_of_two)
    database = tmp_path / "s.duckdb"
    result = load(database, [], [limited, two_logs[1]], ["noop"], cache=tmp_path / "c.sqlite", progress=False)
    assert [row.tasks for row in result.rows if row.kind is RowKind.SUITE] == [4]
    assert len({row.suite for row in result.rows}) == 1


def test_a_copy_in_another_format_and_a_damaged_copy_add_nothing(
    two_logs: tuple[Path, Path], tmp_path: Path
) -> None:
    whole = two_logs[0]
    copy = edited(whole, tmp_path / "copy.json")
    cut = tmp_path / "cut.eval"
    cut.write_bytes(whole.read_bytes()[: int(whole.stat().st_size * 0.7)])
    assert places(joined(cut, whole, copy)) == places(joined(whole))
    assert tokens(joined(cut, whole, copy).attempts) == 3 * MILLION
    assert [one.damage is None for one in joined(cut, whole).sources].count(False) == 1


def test_a_suite_at_hand_is_known_by_ids_and_content(two_logs: tuple[Path, Path]) -> None:
    assert runs.read_runs(two_logs[0], [GOLF, FOUR]).runs[0].suite_hash == FOUR.hash
