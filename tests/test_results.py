"""Results of other harnesses and plain tables: what is taken, what is told apart, what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vimlib import keys, runs, store, suites
from vimlib.load import RowKind, load
from vimlib.records import AttemptStatus, Protocol, RunKind, Task, TokenConvention, TokenUsage

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data is not beside the project")

BENCH = suites.build_suite(
    "drills",
    [Task(id=id, start="a\n", target="b\n", reference="rb:wq<CR>") for id in ("one", "two", "three")],
    (Protocol.BENCH, Protocol.GOLF),
    origin="test",
)
SUMMARY = {"tasks": 2, "passed": 1, "pass_rate": 0.5, "avg_efficiency": 0.9, "avg_partial": 0.75}
USAGE = {"input_tokens": 100, "output_tokens": 20, "cached_tokens": 60, "total_tokens": 120}


def result(id: str, **fields: Any) -> dict[str, Any]:
    return {"id": id, "tier": 1, "passed": True, "error": None, "partial": 1.0, "keystrokes": 9} | fields


def write(path: Path, document: Any) -> Path:
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def write_lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


# --- vimbench


def test_a_run_of_vimbench_has_verdicts_and_no_answers(tmp_path: Path) -> None:
    rows = [
        result("one", latency_seconds=1.5, usage=USAGE, efficiency=0.9),
        result("two", passed=False, partial=0.5),
    ]
    path = write(tmp_path / "llm_results.json", {"summary": SUMMARY, "results": rows})
    contents = runs.read_runs(path, [BENCH])
    [run], [published] = contents.runs, contents.published
    assert contents.problems == ()
    assert (run.name, run.kind, run.protocol) == ("llm_results", RunKind.MODEL, Protocol.BENCH)
    first, second = run.attempts
    assert {one.status for one in run.attempts} == {AttemptStatus.NOT_REPLAYABLE}
    assert (first.keys, first.completion, first.seconds) == (None, None, 1.5)
    assert (first.source_correct, first.source_partial, first.source_efficiency) == (True, 1.0, 0.9)
    assert first.usage == TokenUsage(
        input_tokens=100,
        cache_read_tokens=60,
        output_tokens=20,
        total_tokens=120,
        token_convention=TokenConvention.INCLUSIVE,
    )
    assert (second.source_correct, second.usage) == (False, TokenUsage())
    assert (published.model, published.passed, published.cost_per_pass_usd) == ("llm_results", 1, None)


def test_results_of_tasks_that_nobody_knows_leave_their_summary(tmp_path: Path) -> None:
    path = write(tmp_path / "my.json", {"gpt": {"summary": SUMMARY, "results": [result("elsewhere")]}})
    contents = runs.read_runs(path, [BENCH])
    assert (contents.runs, len(contents.published)) == ((), 1)
    assert "only their summary is taken; give the suite too" in contents.problems[0]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"pass_rate": 1.7}, "pass_rate is 1.7; expected a number from 0 to 1"),
        ({"avg_partial": -0.1}, "avg_partial is -0.1"),
        ({"passed": 3}, "passed is 3 of 2 tasks"),
        ({"pass_rate": 0.9}, "pass_rate is 0.9 and passed 1 of 2"),
        ({"seconds": "fast"}, "seconds is 'fast'; expected a number from 0"),
    ],
)
def test_a_score_out_of_its_range_is_said_and_left_out(
    tmp_path: Path, fields: dict[str, Any], said: str
) -> None:
    path = write(tmp_path / "board.json", {"rows": [{"model": "m", **SUMMARY, **fields}], "track": "single"})
    contents = runs.read_runs(path, [BENCH])
    [problem] = contents.problems
    assert said in problem and "result of 'm'" in problem and "\n" not in problem
    assert contents.published[0].model == "m"


@needs_shared
def test_the_published_leaderboard_is_19_rows_without_costs(tmp_path: Path) -> None:
    database = tmp_path / "s.duckdb"
    board = SHARED / "vimbench" / "leaderboard.json"
    outcome = load(database, [], [board], [], cache=None, progress=False)
    [row] = outcome.rows
    assert (row.kind, row.attempts, row.new, outcome.rejections) == (RowKind.PUBLISHED, 19, 19, ())
    with store.connect(database) as con:
        rows = store.query(con, "results_published")
        sources = store.query(con, "sources_loaded")
    assert len(rows) == 19
    assert not rows["replayable"].any()
    assert rows[["cost_per_pass_usd", "total_tokens", "p95_latency_seconds"]].isna().all().all()
    assert rows["passed"].is_monotonic_decreasing
    assert sources[["kind", "published"]].to_numpy().tolist() == [["published", 19]]
    again = load(database, [], [board], [], cache=None, progress=False)
    assert [one.new for one in again.rows] == [0]


# --- vimgolf-gym


def trial(task: str, start: float, solution: str, **fields: Any) -> dict[str, Any]:
    return {
        "task_id": task,
        "dataset_name": "public",
        "status": "success",
        "trial_name": f"{task}-public-{start}",
        "start_time": start,
        "elapsed_time": 2.5,
        "solution": solution,
        "input_content": "a\n",
        "output_content": "b\n",
    } | fields


def test_a_restarted_run_of_vimgolf_gym_is_told_apart(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "gpt-4o.jsonl",
        trial("one", 100.0, "", status="timeout"),
        trial("two", 200.0, "\n  rbZZ \nnot this"),
        trial("two", 200.0, "\n  rbZZ \nnot this"),
        trial("one", 300.0, "rb:wq<NL>"),
    )
    contents = runs.read_runs(path, [])
    [run], [suite] = contents.runs, contents.suites
    assert (run.name, run.protocol, run.extraction) == (
        "gpt-4o",
        Protocol.GOLF,
        "vimgolf-gym/first-line-1",
    )
    assert [(one.task_id, one.attempt, one.status, one.keys) for one in run.attempts] == [
        ("one", 1, AttemptStatus.CANCELLED, None),
        ("two", 1, AttemptStatus.ANSWERED, "rbZZ"),
        ("one", 2, AttemptStatus.ANSWERED, "rb:wq<NL>"),
    ]
    assert run.attempts[1].completion == "\n  rbZZ \nnot this"
    assert (run.attempts[1].seconds, run.settings) == (2.5, {"dataset_name": ["public"]})
    assert [task.target for task in suite.tasks] == ["b\n", "b\n"]
    assert "is the same trial as line 2" in contents.notes[0]
    assert runs.read_runs(path, [BENCH]).runs[0].suite_hash == BENCH.hash


def test_the_adaptor_names_the_challenge_and_its_trials_are_epochs(tmp_path: Path) -> None:
    rows = [
        {"task_id": f"vimgolf-{n}", "trial_name": f"x.{n}-of-2.r", "challenge_hash": "one", "solution": "ZZ"}
        for n in (1, 2)
    ]
    path = write_lines(tmp_path / "tb.jsonl", *rows)
    [run] = runs.read_runs(path, [BENCH]).runs
    assert [(one.task_id, one.epoch, one.attempt) for one in run.attempts] == [("one", 1, 1), ("one", 2, 1)]
    with pytest.raises(runs.UnknownTasks, match="do not carry their buffers"):
        runs.read_runs(path, [])


# --- plain rows


def test_rows_take_any_of_our_columns_and_say_what_they_leave_out(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "answers.jsonl",
        {
            "task_id": "one",
            "completion": "Sure:\n```\nrb:wq<CR>\n```",
            "model": "m",
            "input_tokens": 7,
            "output_tokens": 3,
            "source_correct": True,
            "mood": "good",
        },
        {"task_id": "one", "completion": "x", "model": "m"},
        {"task_id": "two", "model": "m", "error": "down"},
        {"task_id": "two", "keys": "ZZ", "model": "n", "input_tokens": -4, "source_partial": 1.2},
    )
    contents = runs.read_runs(path, [BENCH])
    first, second = contents.runs
    assert (first.name, second.name, first.extraction) == ("m", "n", keys.EXTRACTION_RULES[Protocol.BENCH])
    assert [(one.task_id, one.epoch, one.status, one.keys) for one in first.attempts] == [
        ("one", 1, AttemptStatus.ANSWERED, "rb:wq<CR>"),
        ("one", 2, AttemptStatus.ANSWERED, "x"),
        ("two", 1, AttemptStatus.PROVIDER_ERROR, None),
    ]
    assert first.attempts[0].usage.total_tokens == 10
    assert second.attempts[0].usage == TokenUsage()
    assert [problem.partition(", line ")[2][:21] for problem in contents.problems] == [
        "4: input_tokens is -4",
        "4: source_partial is ",
    ]
    assert "left out: mood" in contents.notes[0]


def test_csv_is_the_same_table(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text('task_id,keys,seconds,correct\none,"rb:wq<CR>",1.5,true\ntwo,"a,b\nc",,0\nthree\n')
    contents = runs.read_runs(path, [BENCH])
    [run] = contents.runs
    assert run.kind is RunKind.SOLVER
    assert [(one.keys, one.seconds, one.source_correct) for one in run.attempts[:2]] == [
        ("rb:wq<CR>", 1.5, True),
        ("a,b\nc", None, False),
    ]
    assert [one.status for one in run.attempts][2] is AttemptStatus.PROVIDER_ERROR


def test_bad_lines_are_named_and_the_others_taken(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(
        b'{"task_id": "one", "keys": "ZZ", "epoch": 1, "attempt": 1}\n[1]\n\xff\n{"keys": "x"}\n'
        b'{"task_id": "one", "keys": "x", "epoch": 1, "attempt": 1}\n{"task_id": "tw'
    )
    contents = runs.read_runs(path, [BENCH])
    assert [len(run.attempts) for run in contents.runs] == [1]
    said = [problem.removeprefix(f"{path}, line ") for problem in contents.problems]
    assert [line[:1] for line in sorted(said)] == ["2", "3", "4", "5", "6"]
    assert any("is cut short" in line for line in said)
    assert any("is on line 1 already" in line for line in said)


def test_rows_may_carry_their_tasks(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "own.jsonl", {"task_id": "new", "keys": "rbZZ", "start": "a\n", "target": "b\n"}
    )
    contents = runs.read_runs(path, [BENCH])
    assert [task.id for task in contents.suites[0].tasks] == ["new"]
    assert contents.runs[0].suite_hash == contents.suites[0].hash


def test_phantom_keys_are_stripped_from_recorded_keys_and_counted(tmp_path: Path) -> None:
    recorded = "<fd-6d><fd-6d>f,ldf)ZZ"
    assert keys.without_phantoms(recorded) == keys.Stripped("f,ldf)ZZ", 2, 10)
    assert keys.count(keys.without_phantoms(recorded).clean, Protocol.GOLF) == 8
    path = write_lines(tmp_path / "human.jsonl", {"task_id": "one", "keys": recorded, "protocol": "golf"})
    [attempt] = runs.read_runs(path, [BENCH]).runs[0].attempts
    assert (attempt.keys, attempt.raw_keys, attempt.raw_keystrokes) == ("f,ldf)ZZ", recorded, 10)
    written = write(tmp_path / "written.json", {"one": recorded, "two": "rbZZ"})
    [one, two] = runs.read_runs(written, [BENCH], protocol=Protocol.GOLF).runs[0].attempts
    assert (one.keys, one.completion, one.raw_keys, one.raw_keystrokes) == (
        "f,ldf)ZZ",
        recorded,
        recorded,
        10,
    )
    assert (two.keys, two.raw_keys, two.raw_keystrokes) == ("rbZZ", None, None)
    said = {"task_id": "one", "completion": recorded, "protocol": "golf"}
    [generated] = runs.read_runs(write_lines(tmp_path / "model.jsonl", said), [BENCH]).runs[0].attempts
    assert (generated.keys, generated.raw_keys) == (recorded, None)


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("x.jsonl", '{"a": 1}\n', runs.NotALog),
        ("x.csv", "a,b\n1,2\n", runs.NotALog),
        ("x.jsonl", "", runs.NoRows),
        ("x.csv", "task_id,keys\n", runs.NoRows),
        ("x.jsonl", '{"task_id": "nowhere", "keys": "x"}\n', runs.UnknownTasks),
    ],
)
def test_other_tables_are_refused_in_one_line(
    tmp_path: Path, name: str, content: str, error: type[runs.RunError]
) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(error) as caught:
        runs.read_runs(path, [BENCH])
    assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)


def test_a_pattern_finds_files_and_a_suite_among_results_is_a_suite(tmp_path: Path) -> None:
    write_lines(tmp_path / "tasks.jsonl", *({"id": id, "start": "a\n", "target": "b\n"} for id in "xy"))
    write_lines(tmp_path / "answers.jsonl", {"task_id": "x", "keys": "rbZZ"})
    assert [path.name for path in runs.find_sources([tmp_path / "a*.jsonl"])] == ["answers.jsonl"]
    outcome = load(tmp_path / "s.duckdb", [], [tmp_path], ["noop"], cache=None, progress=False)
    assert outcome.rejections == ()
    assert [(row.kind, row.attempts) for row in outcome.rows if row.kind is not RowKind.SOLVER] == [
        (RowKind.SUITE, None),
        (RowKind.RUN, 1),
    ]
