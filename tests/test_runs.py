"""Runs: what is taken from logs and solutions, and how files that are neither are refused.

The Inspect logs are made here by Inspect itself with its mock model, so that they are of
whatever format the installed version writes.
"""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from vimlib import keys, runs, suites
from vimlib.records import (
    Attempt,
    AttemptStatus,
    Protocol,
    Run,
    RunKind,
    Suite,
    Task,
    TokenConvention,
    TokenUsage,
)

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
REAL_LOG = SHARED / "logs" / "vimgolf_single_turn_smollm2-135m.eval"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data is not beside the project")

TASKS = (
    Task(id="4d1a1c36567bac34a9000002", start="a\nb\n", target="b\n", title="Drop", instruction="Drop"),
    Task(id="no-answer", start="x\n", target="y\n", title="Fails", instruction="Fails"),
    Task(id="scorer-fails", start="p\n", target="q\n", title="Judge", instruction="Judge"),
)
GOLF = suites.build_suite("puzzles", TASKS, (Protocol.GOLF,), origin="test")
OTHER = suites.build_suite("other", [Task(id="o", start="", target="a")], (Protocol.BENCH,), origin="test")
BENCH = suites.build_suite(
    "drills",
    [
        Task(id="one", start="a\n", target="b\n", reference="rb:wq<CR>"),
        Task(id="two", start="c\n", target="d\n", reference="rdZZ", reference_notation=Protocol.GOLF),
        Task(id="three", start="e\n", target="f\n"),
    ],
    (Protocol.BENCH, Protocol.GOLF),
    origin="test",
)


def make_log(
    folder: Path, *, name: str = "vimgolf_single_turn", buffers: bool = True, tasks: Sequence[Task] = TASKS
) -> Path:
    """An Inspect log of `tasks`, two epochs, one sample without an answer, one unscored."""
    from inspect_ai import Task as InspectTask
    from inspect_ai import eval as inspect_eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import GenerateConfig, ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer
    from inspect_ai.solver import TaskState, generate, system_message

    def answer(messages: list[Any], *_: Any) -> ModelOutput:
        if "no-answer" in messages[-1].text:
            raise RuntimeError("the provider is down")
        output = ModelOutput.from_content("mockllm/model", "Thinking.\n ddZZ \n\n")
        output.usage = ModelUsage(
            input_tokens=3,
            input_tokens_cache_write=25,
            input_tokens_cache_read=13_216,
            output_tokens=12,
            reasoning_tokens=5,
            total_tokens=13_256,
        )
        return output

    @scorer(metrics=[accuracy()], name="first_scorer")
    def first_scorer() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            return Score(value=0)

        return score

    @scorer(metrics=[accuracy()], name="vimgolf_scorer")
    def vimgolf_scorer() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            if state.sample_id == "scorer-fails":
                raise UnicodeDecodeError("utf-8", b"\xe9", 0, 1, "the verifier crashed")
            return Score(value="C")

        return score

    def sample(task: Task) -> Sample:
        carried = {"input": task.start, "detail": task.title, "best_score": 4} if buffers else {}
        return Sample(id=task.id, input=f"solve {task.id}", target=task.target, metadata=carried)

    [log] = inspect_eval(
        InspectTask(
            dataset=[sample(task) for task in tasks],
            solver=[system_message("Golf it."), generate()],
            scorer=[first_scorer(), vimgolf_scorer()],
            config=GenerateConfig(temperature=0.5),
            name=name,
            version="2-A",
        ),
        model=get_model("mockllm/model", custom_outputs=answer, config=GenerateConfig(max_tokens=64, seed=1)),
        epochs=2,
        fail_on_error=False,
        log_dir=str(folder),
        log_format="eval",
        display="none",
    )
    return Path(log.location)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_log(tmp_path_factory.mktemp("logs"))


@pytest.fixture(scope="module")
def log_without_buffers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_log(tmp_path_factory.mktemp("logs"), buffers=False)


@pytest.fixture(scope="module")
def json_log(log: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return edited(log, tmp_path_factory.mktemp("logs") / "log.json")


def edited(log: Path, target: Path, change: Callable[[Any], None] = lambda log: None) -> Path:
    """A log read, changed and written by Inspect; the ending of `target` says in which format."""
    from inspect_ai.log import read_eval_log, write_eval_log

    contents = read_eval_log(str(log))
    change(contents)
    write_eval_log(contents, str(target))
    return target


def refused(path: Path, given: Sequence[Suite] = (GOLF,), **options: Any) -> tuple[runs.RunError, str]:
    with pytest.raises(runs.RunError) as caught:
        runs.read_runs(path, given, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    assert caught.value.exit_code != 0
    return caught.value, message


def test_import_does_not_pay_for_inspect() -> None:
    code = "import sys, vimlib.runs; sys.exit('inspect_ai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_log_gives_a_run_with_its_circumstances(log: Path) -> None:
    from inspect_ai.log import read_eval_log

    contents = runs.read_runs(log, [OTHER, GOLF])
    [run] = contents.runs
    header = read_eval_log(str(log), header_only=True).eval
    assert (run.id, run.kind, run.name) == (f"inspect:{header.task_id}", RunKind.MODEL, "mockllm/model")
    assert (run.suite_hash, run.protocol) == (GOLF.hash, Protocol.GOLF)
    assert (run.task_name, run.task_version, run.status) == ("vimgolf_single_turn", "2-A", "success")
    assert run.extraction == keys.EXTRACTION_RULES[Protocol.GOLF]
    assert run.source == log.name
    assert run.source_sha256 == hashlib.sha256(log.read_bytes()).hexdigest()
    assert {name: run.settings[name] for name in ("temperature", "max_tokens", "seed")} == {
        "temperature": 0.5,
        "max_tokens": 64,
        "seed": 1,
    }
    assert run.packages["inspect_ai"] == header.packages["inspect_ai"]
    assert run.created == datetime.datetime.fromisoformat(header.created)
    assert run.prompt_version is not None
    assert (contents.suites, contents.problems, contents.notes) == ((), (), ())


def test_log_gives_every_sample_and_epoch(log: Path) -> None:
    [run] = runs.read_runs(log, [GOLF]).runs
    assert [(one.task_id, one.epoch, one.attempt) for one in run.attempts] == [
        (task.id, epoch, 1) for task in TASKS for epoch in (1, 2)
    ]
    answered = run.attempts[0]
    assert answered.status is AttemptStatus.ANSWERED
    assert (answered.completion, answered.keys) == ("Thinking.\n ddZZ \n\n", "ddZZ")
    assert (answered.stop_reason, answered.error) == ("stop", None)
    assert answered.source_correct is True
    assert answered.seconds is not None
    assert 0 <= answered.seconds < 60


def test_provider_error_is_no_answer(log: Path) -> None:
    failed = runs.read_runs(log, [GOLF]).runs[0].attempts[2]
    assert (failed.task_id, failed.status) == ("no-answer", AttemptStatus.PROVIDER_ERROR)
    assert failed.error is not None
    assert "the provider is down" in failed.error
    assert (failed.completion, failed.keys, failed.stop_reason) == (None, None, None)
    assert (failed.source_correct, failed.usage) == (None, TokenUsage())


def test_answer_whose_scorer_failed_is_still_an_answer(log: Path) -> None:
    unscored = runs.read_runs(log, [GOLF]).runs[0].attempts[4]
    assert (unscored.task_id, unscored.status) == ("scorer-fails", AttemptStatus.ANSWERED)
    assert (unscored.keys, unscored.source_correct) == ("ddZZ", None)
    assert unscored.error is not None
    assert "the verifier crashed" in unscored.error


def test_tokens_are_in_the_normal_form(log: Path) -> None:
    usage = runs.read_runs(log, [GOLF]).runs[0].attempts[0].usage
    assert usage == TokenUsage(
        input_tokens=13_244,
        cache_read_tokens=13_216,
        cache_write_tokens=25,
        output_tokens=12,
        reasoning_tokens=5,
        total_tokens=13_256,
        token_convention=TokenConvention.EXCLUSIVE,
    )


def test_json_log_gives_the_same_attempts(log: Path, json_log: Path) -> None:
    [zipped], [plain] = runs.read_runs(log, [GOLF]).runs, runs.read_runs(json_log, [GOLF]).runs
    assert plain.id == zipped.id
    assert plain.source_sha256 != zipped.source_sha256
    assert unsourced(plain) == unsourced(zipped)


def unsourced(run: Run) -> set[Attempt]:
    """Attempts as they are whatever file they are read from."""
    return {dataclasses.replace(one, source_sha256=None) for one in run.attempts}


def test_content_decides_and_not_the_file_name(log: Path, json_log: Path, tmp_path: Path) -> None:
    zipped = tmp_path / "odd #1 50% name?.json"
    zipped.write_bytes(log.read_bytes())
    plain = tmp_path / "plain.eval"
    plain.write_bytes(json_log.read_bytes())
    expected = unsourced(runs.read_runs(log, [GOLF]).runs[0])
    assert unsourced(runs.read_runs(zipped, [GOLF]).runs[0]) == expected
    assert unsourced(runs.read_runs(plain, [GOLF]).runs[0]) == expected


def test_log_can_be_read_inside_a_running_event_loop(log: Path) -> None:
    async def read() -> runs.SourceContents:
        return runs.read_runs(log, [GOLF])

    assert asyncio.run(read()) == runs.read_runs(log, [GOLF])


def test_log_brings_its_own_suite_where_none_is_given(log: Path) -> None:
    contents = runs.read_runs(log, [])
    [suite] = contents.suites
    assert (suite.name, suite.hash, suite.protocols) == ("vimgolf", GOLF.hash, (Protocol.GOLF,))
    assert contents.runs[0].suite_hash == suite.hash
    assert log.name in suite.origin
    first = suite.tasks[0]
    assert (first.title, first.created, first.best_score) == ("Drop", datetime.date(2010, 12, 28), 4)
    assert contents.notes == ()


def test_suite_with_the_same_ids_and_other_buffers_is_another_suite(log: Path) -> None:
    changed = [Task(id=task.id, start=task.start, target=task.target + "!") for task in TASKS]
    lookalike = suites.build_suite("puzzles", changed, (Protocol.GOLF,), origin="test")
    contents = runs.read_runs(log, [lookalike])
    assert contents.suites[0].hash == GOLF.hash
    assert "another start or target for 3 of 3 tasks" in contents.notes[0]
    assert runs.read_runs(log, [lookalike, GOLF]).suites == ()


def test_suite_may_hold_more_tasks_than_were_run(log: Path) -> None:
    larger = suites.build_suite(
        "larger", [Task(id="more", start="", target="a"), *TASKS], (Protocol.GOLF,), origin="test"
    )
    assert runs.read_runs(log, [larger]).runs[0].suite_hash == larger.hash


def test_ids_alone_tell_the_suite_of_a_log_without_buffers(log_without_buffers: Path) -> None:
    assert runs.read_runs(log_without_buffers, [OTHER, GOLF]).runs[0].suite_hash == GOLF.hash


def test_unknown_ids_are_refused(log_without_buffers: Path) -> None:
    error, message = refused(log_without_buffers, [OTHER])
    assert type(error) is runs.UnknownTasks
    assert "task 'vimgolf_single_turn' with 3 tasks" in message
    assert f"'other' {OTHER.version} holds 0 of the 3 ids" in message
    assert "give the suite's file too" in message
    assert "no suite was given" in refused(log_without_buffers, [])[1]


def test_task_of_any_name_is_taken_if_a_suite_tells_its_rules(log: Path, tmp_path: Path) -> None:
    def rename(contents: Any) -> None:
        contents.eval.task = "my_own_task"

    other = edited(log, tmp_path / "x.eval", rename)
    [run] = runs.read_runs(other, [OTHER, GOLF]).runs
    assert (run.task_name, run.suite_hash, run.protocol) == ("my_own_task", GOLF.hash, Protocol.GOLF)
    error, message = refused(other, [OTHER])
    assert type(error) is runs.UnknownTask
    assert "is a log of task 'my_own_task'" in message
    assert "known: vimgolf_single_turn" in message


def test_task_may_carry_its_package(log: Path, tmp_path: Path) -> None:
    def rename(contents: Any) -> None:
        contents.eval.task = "inspect_evals/vimgolf_single_turn"

    [run] = runs.read_runs(edited(log, tmp_path / "x.eval", rename), [GOLF]).runs
    assert (run.task_name, run.protocol) == ("inspect_evals/vimgolf_single_turn", Protocol.GOLF)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("http://user:key@127.0.0.1:8000/v1?token=secret", "http://127.0.0.1:8000/v1"),
        ("https://api.openai.com/v1", "https://api.openai.com/v1"),
        ("http://[broken", "unreadable"),
    ],
)
def test_who_answered_is_kept_without_what_gives_access(
    log: Path, tmp_path: Path, given: str, kept: str
) -> None:
    def move(contents: Any) -> None:
        contents.eval.model_base_url = given

    [run] = runs.read_runs(edited(log, tmp_path / "x.eval", move), [GOLF]).runs
    assert run.settings["base_url"] == kept


def test_cancelled_log_gives_what_it_holds(log: Path, tmp_path: Path) -> None:
    def cancel(contents: Any) -> None:
        contents.status = "cancelled"
        contents.results = None
        contents.samples = [sample for sample in contents.samples if sample.epoch == 1]
        for sample in contents.samples:
            if sample.id == "no-answer":
                sample.error.message = "CancelledError()"

    [run] = runs.read_runs(edited(log, tmp_path / "x.eval", cancel), [GOLF]).runs
    assert (run.status, len(run.attempts)) == ("cancelled", 3)
    assert [one.status for one in run.attempts] == [
        AttemptStatus.ANSWERED,
        AttemptStatus.CANCELLED,
        AttemptStatus.ANSWERED,
    ]
    assert run.attempts[0].source_correct is True


def test_sample_stopped_by_a_limit_before_its_answer_is_cancelled(log: Path, tmp_path: Path) -> None:
    from inspect_ai.log import EvalSampleLimit

    def stop(contents: Any) -> None:
        for sample in contents.samples:
            if sample.id == "no-answer":
                sample.error = None
                sample.limit = EvalSampleLimit(type="time", limit=60)

    [run] = runs.read_runs(edited(log, tmp_path / "x.eval", stop), [GOLF]).runs
    assert run.attempts[2].status is AttemptStatus.CANCELLED
    assert run.attempts[2].error == "stopped by the time limit before there was an answer"


def test_log_without_samples_is_refused(log: Path, tmp_path: Path) -> None:
    def empty(contents: Any) -> None:
        contents.samples = []

    error, message = refused(edited(log, tmp_path / "x.eval", empty))
    assert type(error) is runs.NoSamples
    assert "holds no sample" in message


@pytest.mark.parametrize("share", [0.005, 0.01])
def test_log_cut_before_it_says_what_it_is_is_refused(
    log: Path, json_log: Path, tmp_path: Path, share: float
) -> None:
    for whole in (log, json_log):
        cut = tmp_path / f"cut{whole.suffix}"
        cut.write_bytes(whole.read_bytes()[: int(whole.stat().st_size * share)])
        error, message = refused(cut)
        assert type(error) is runs.CutShort
        assert "expected a whole file" in message


@pytest.mark.parametrize("share", [0.5, 0.8, 0.999])
@pytest.mark.parametrize("compression", ["zstd", "deflate", "json"])
def test_log_cut_short_gives_what_can_be_read(
    log: Path, json_log: Path, tmp_path: Path, share: float, compression: str
) -> None:
    whole = {"zstd": log, "deflate": deflated(log, tmp_path / "whole.eval"), "json": json_log}[compression]
    every = unsourced(runs.read_runs(whole, [GOLF]).runs[0])
    cut = tmp_path / f"cut{whole.suffix}"
    cut.write_bytes(whole.read_bytes()[: int(whole.stat().st_size * share)])
    contents = runs.read_runs(cut, [GOLF])
    [run] = contents.runs
    holes = {one for one in unsourced(run) if (one.source_id or "").startswith("hole:")}
    assert unsourced(run) - holes < every or (share > 0.9 and unsourced(run) == every)
    assert len(unsourced(run) - holes) >= (1 if share < 0.9 else 5)
    [source] = run.sources
    assert source.damage is not None and source.damage.startswith("is cut short")
    assert run.samples_planned == 6
    assert any("could be read and are taken" in problem for problem in contents.problems)
    assert all("\n" not in problem for problem in contents.problems)


def deflated(log: Path, target: Path) -> Path:
    """The same log as older versions of Inspect compressed it, without sizes before the data."""

    class Pipe(io.RawIOBase):
        """A file that cannot be gone back in, as when a log is written to an object store."""

        def __init__(self, file: BinaryIO) -> None:
            self._file = file

        def writable(self) -> bool:
            return True

        def write(self, data: Any) -> int:
            return self._file.write(data)

    import inspect_ai.log  # noqa: F401 (teaches zipfile Zstandard)

    with zipfile.ZipFile(log) as archive, target.open("wb") as file:
        with zipfile.ZipFile(Pipe(file), "w", zipfile.ZIP_DEFLATED) as other:  # type: ignore[arg-type]
            for info in archive.infolist():
                other.writestr(info.filename, archive.read(info))
    return target


def test_unreadable_sample_is_a_problem_and_the_rest_is_read(log: Path, tmp_path: Path) -> None:
    content = bytearray(log.read_bytes())
    with zipfile.ZipFile(log) as archive:
        entry = archive.getinfo(f"samples/{TASKS[0].id}_epoch_2.json")
    place = entry.header_offset + 30 + len(entry.filename)
    content[place + 20 : place + 200] = bytes(180)
    damaged = tmp_path / "damaged.eval"
    damaged.write_bytes(content)
    contents = runs.read_runs(damaged, [GOLF])
    attempts = {(one.task_id, one.epoch): one for one in contents.runs[0].attempts}
    assert len(attempts) == 6
    hole = attempts[TASKS[0].id, 2]
    assert (hole.status, hole.keys) == (AttemptStatus.PROVIDER_ERROR, None)
    [problem] = contents.problems
    assert problem.startswith(f"{damaged}: sample '{TASKS[0].id}', epoch 2: cannot be read from the log")
    assert "\n" not in problem


def test_damaged_log_is_refused(log: Path, tmp_path: Path) -> None:
    content = bytearray(log.read_bytes())
    with zipfile.ZipFile(log) as archive:
        place = archive.getinfo("header.json").header_offset
    content[place + 40 : place + 120] = bytes(80)
    damaged = tmp_path / "damaged.eval"
    damaged.write_bytes(content)
    error, message = refused(damaged)
    assert type(error) is runs.DamagedLog
    assert "the log's header cannot be read" in message


NOT_LOGS: list[tuple[str, bytes, type[runs.RunError], str]] = [
    ("text.eval", b"Dear diary,\n", runs.NotALog, "is no zip file; expected an Inspect log"),
    ("random.eval", bytes(range(256)) * 9, runs.NotALog, "is no zip file"),
    ("empty.eval", b"", runs.NotALog, "is empty; expected an Inspect log"),
    ("empty.json", b" \n", runs.NotALog, "is empty; expected an Inspect log"),
    ("text.json", b"x: 1\n", runs.NotALog, "line 1: not JSON (Expecting value, column 1)"),
    ("late.json", b'{"a": "b",\n"c": d}\n', runs.NotALog, "line 2: not JSON (Expecting value, column 6)"),
    ("random.json", b"{\n\xff\xfe\x00", runs.NotUtf8, "line 2: byte 0xff is not UTF-8"),
    ("list.json", b"[1, 2]", runs.NotALog, "JSON of another kind (a list of 2)"),
    ("board.json", b'{"rows": [], "track": "x"}', runs.NotALog, "another kind (an object with rows, track)"),
    ("deep.json", b"[" * 100_000, runs.NotALog, "nested too deeply"),
    ("hollow.json", b'{"eval": {}, "status": "success"}', runs.DamagedLog, "Inspect's reader fails"),
]


@pytest.mark.parametrize(("name", "content", "error", "words"), NOT_LOGS, ids=[name for name, *_ in NOT_LOGS])
def test_other_files_are_refused(
    tmp_path: Path, name: str, content: bytes, error: type[runs.RunError], words: str
) -> None:
    (tmp_path / name).write_bytes(content)
    found, message = refused(tmp_path / name)
    assert type(found) is error
    assert words in message


def test_zip_of_other_things_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", "<x/>")
    error, message = refused(path)
    assert type(error) is runs.NotALog
    assert "a zip file without header.json" in message


def test_missing_file_is_refused(tmp_path: Path) -> None:
    assert "no such file" in refused(tmp_path / "none.eval")[1]
    assert type(refused(tmp_path)[0]) is runs.NoSuchSource


def test_lone_surrogate_in_a_log_spoils_one_answer_only(json_log: Path, tmp_path: Path) -> None:
    text = json_log.read_text(encoding="utf-8")
    path = tmp_path / "odd.json"
    path.write_text(text.replace('"Thinking.\\n ddZZ \\n\\n"', '"dd\\udc80ZZ"'), encoding="utf-8")
    contents = runs.read_runs(path, [GOLF])
    attempt = contents.runs[0].attempts[0]
    assert (attempt.status, attempt.completion) == (AttemptStatus.ANSWERED, "dd\\udc80ZZ")


def test_solutions_give_one_run_a_name(tmp_path: Path) -> None:
    path = tmp_path / "demo.json"
    path.write_text(json.dumps({"neat": {"two": "rd:wq<CR>", "one": "rb:wq<CR>"}, "lazy": {"three": ""}}))
    contents = runs.read_runs(path, [OTHER, BENCH])
    neat, lazy = contents.runs
    assert (neat.kind, neat.name, neat.suite_hash) == (RunKind.SOLVER, "neat", BENCH.hash)
    assert (neat.protocol, neat.extraction, neat.source) == (Protocol.BENCH, "verbatim-1", "demo.json")
    assert [(one.task_id, one.keys, one.status) for one in neat.attempts] == [
        ("one", "rb:wq<CR>", AttemptStatus.ANSWERED),
        ("two", "rd:wq<CR>", AttemptStatus.ANSWERED),
    ]
    assert [(one.task_id, one.keys) for one in lazy.attempts] == [("three", "")]
    assert neat.settings == {"answers": 2}
    assert neat.id != lazy.id
    assert contents == runs.read_runs(path, [BENCH])


def test_unnamed_solutions_go_by_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text('{"one": "rbZZ"}')
    [run] = runs.read_runs(path, [BENCH], protocol=Protocol.GOLF).runs
    assert (run.name, run.protocol, run.attempts[0].keys) == ("mine", Protocol.GOLF, "rbZZ")


def test_filling_with_references_is_asked_for_and_said(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text('{"one": "sb<Esc>:wq<CR>"}')
    [plain] = runs.read_runs(path, [BENCH]).runs
    [filled] = runs.read_runs(path, [BENCH], fill_with_reference=True).runs
    assert [one.task_id for one in plain.attempts] == ["one"]
    assert [(one.task_id, one.keys) for one in filled.attempts] == [
        ("one", "sb<Esc>:wq<CR>"),
        ("two", "rdZZ"),
    ]
    assert filled.settings == {"answers": 1, "filled_with_reference": 1}
    assert filled.id != plain.id


def test_solutions_to_unknown_tasks_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text('{"one": "x", "four": "y"}')
    error, message = refused(path, [BENCH])
    assert type(error) is runs.UnknownTasks
    assert "answers 'mine' name 2 tasks (first 'one')" in message
    assert f"'drills' {BENCH.version} holds 1 of the 2 ids" in message


def test_protocol_that_a_suite_does_not_take_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text('{"no-answer": "x"}')
    error, message = refused(path, [GOLF], protocol=Protocol.BENCH)
    assert type(error) is runs.WrongProtocol
    assert "'puzzles' is not judged under 'bench'; expected golf" in message


def test_lone_surrogate_in_a_solution_spoils_that_answer_only(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(r'{"one": "rb\ud800:wq<CR>", "two": "rd:wq<CR>"}')
    contents = runs.read_runs(path, [BENCH])
    bad, good = contents.runs[0].attempts
    assert (bad.keys, bad.completion, good.keys) == (None, r"rb\ud800:wq<CR>", "rd:wq<CR>")
    [problem] = contents.problems
    assert problem.startswith(
        f"{path}: answers 'mine', task 'one': the answer holds a lone surrogate (U+D800"
    )


def test_folders_are_searched_in_order_and_files_taken_as_given(tmp_path: Path) -> None:
    for name in (
        "b/2.eval",
        "b/1.json",
        "a.eval",
        "b/logs.json",
        "b/note.txt",
        ".hidden/x.eval",
        "b/.y.json",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    note = tmp_path / "b" / "note.txt"
    assert runs.find_sources([note, tmp_path, tmp_path / "a.eval"]) == [
        note,
        tmp_path / "a.eval",
        tmp_path / "b" / "1.json",
        tmp_path / "b" / "2.eval",
    ]


def test_empty_folders_and_missing_paths_are_refused(tmp_path: Path) -> None:
    (tmp_path / "note.txt").touch()
    with pytest.raises(
        runs.NoSources, match=r"no \.eval, \.json, \.jsonl or \.csv file here or below; expected"
    ):
        runs.find_sources([tmp_path])
    with pytest.raises(runs.NoSuchSource, match="none: no such file or folder"):
        runs.find_sources([tmp_path / "none"])


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable to root")
def test_unreadable_folders_are_refused(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    with pytest.raises(runs.NoSuchSource, match="cannot be read"):
        runs.find_sources([tmp_path])


@needs_shared
def test_real_log_gives_its_published_counts() -> None:
    suite = suites.load_suite(SHARED / "vimgolf" / "challenges.jsonl")
    contents = runs.read_runs(REAL_LOG, [suite])
    [run] = contents.runs
    assert (run.suite_hash, len(run.attempts), contents.problems) == (suite.hash, 134, ())
    assert [one.task_id for one in run.attempts] == [task.id for task in suite.tasks]
    assert sum(one.usage.input_tokens or 0 for one in run.attempts) == 98_032
    assert sum(one.usage.output_tokens or 0 for one in run.attempts) == 18_453
    assert [one.source_correct for one in run.attempts] == [False] * 134
    waits = [one.waiting_seconds for one in run.attempts if one.waiting_seconds is not None]
    assert len(waits) == 134 and 0 <= min(waits) <= max(waits) == pytest.approx(0.146)
    assert runs.read_runs(REAL_LOG, []).suites[0].hash == suite.hash


@needs_shared
def test_real_log_cut_short_gives_its_first_samples(tmp_path: Path) -> None:
    cut = tmp_path / "cut.eval"
    cut.write_bytes(REAL_LOG.read_bytes()[:200_000])
    whole = unsourced(runs.read_runs(REAL_LOG, []).runs[0])
    contents = runs.read_runs(cut, [])
    [run] = contents.runs
    assert 20 < len(run.attempts) < 134
    assert {one for one in unsourced(run) if one.keys is not None} < whole
    assert (run.status, run.samples_planned) == ("started", 134)


@needs_shared
def test_vimbench_demo_answers_are_read() -> None:
    suite = suites.load_suite(SHARED / "vimbench" / "seed_tasks.json")
    demo = SHARED / "vimbench" / "demo_solutions.json"
    assert [len(run.attempts) for run in runs.read_runs(demo, [suite]).runs] == [6, 6]
    filled = runs.read_runs(demo, [suite], fill_with_reference=True).runs
    assert [(run.name, len(run.attempts)) for run in filled] == [("verbose", 30), ("sloppy", 30)]
