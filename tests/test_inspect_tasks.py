"""The tasks and the scorer under Inspect itself: what a model is told, what its answers are worth."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task as InspectTask
from inspect_ai import eval as inspect_eval
from inspect_ai import score as inspect_score
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage, get_model

from vimlib.inspect_tasks import bench, bench_multi, golf, golf_blind, replay
from vimlib.judge import judge
from vimlib.records import Outcome, Protocol, Suite, Task, Track, TurnState
from vimlib.runs import read_runs
from vimlib.suites import build_suite
from vimlib.suites.jsonl import as_jsonl

Answer = Callable[[Sequence[ChatMessage]], "str | ModelOutput"]

TASKS = (
    Task("drop", "one\ntwo\n", "two\n", "Delete the first line.", "Drop", 1, "lines", "dd:wq<CR>"),
    Task(
        "case",
        "alpha\nbeta\n",
        "ALPHA\nbeta\n",
        "Write the first line in capitals.",
        "",
        2,
        None,
        "gUU:wq<CR>",
    ),
    Task("fence", "```\nx\n```", "```\ny\n```", "Replace x by y.", "Fences", 2),
)


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    return build_suite("tiny", TASKS, (Protocol.BENCH, Protocol.GOLF), origin="test")


@pytest.fixture(scope="module")
def path(suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("suites") / "tiny.jsonl"
    file.write_bytes(as_jsonl(suite))
    return str(file)


def said(text: str | None, **fields: Any) -> ModelOutput:
    """What a model answers. With its usage, for Inspect's mock counts tokens with a download else."""
    output = ModelOutput.from_content("mockllm/model", text or "", **fields)
    output.usage = ModelUsage(input_tokens=7, output_tokens=3, total_tokens=10)
    return output


def ask(task: InspectTask, answer: Answer, folder: Path, **options: Any) -> EvalLog:
    def outputs(messages: list[ChatMessage], *_: object) -> ModelOutput:
        made = answer(messages)
        return made if isinstance(made, ModelOutput) else said(made)

    model = get_model("mockllm/model", custom_outputs=outputs)
    [log] = inspect_eval(
        task, model=model, display="none", log_dir=str(folder), fail_on_error=False, **options
    )
    return log


def by_id(log: EvalLog, epoch: int = 1) -> dict[str, EvalSample]:
    return {str(one.id): one for one in log.samples or () if one.epoch == epoch}


def value(sample: EvalSample) -> dict[str, float]:
    assert sample.scores is not None
    worth = sample.scores["replay"].value
    assert isinstance(worth, dict)
    return worth  # type: ignore[return-value]


def metrics(log: EvalLog) -> dict[str, dict[str, float]]:
    assert log.results is not None
    return {one.name: {name: m.value for name, m in one.metrics.items()} for one in log.results.scores}


def solving(messages: Sequence[ChatMessage]) -> str:
    """Right for `drop`, right but long for `case`, wrong for `fence`."""
    text = messages[-1].text
    return "dd:wq<CR>" if "two" in text else "gUU0$:wq<CR>" if "alpha" in text else "x:wq<CR>"


# --- what a model is told


def test_the_single_turn_prompt_holds_task_buffers_and_rules(path: str, tmp_path: Path) -> None:
    for task, version in ((golf(path), "golf-1"), (bench(path), "bench-1")):
        log = ask(task, lambda _: "ZZ", tmp_path)
        system, user = by_id(log)["drop"].messages[:2]
        assert "<Esc>" in system.text and ":wq<CR>" in system.text
        assert user.text == (
            "Drop\n\nDelete the first line.\n\nStart:\n```\none\ntwo\n```\n\nTarget:\n```\ntwo\n```"
        )
        assert (log.eval.metadata or {})["vimlib"]["prompt_version"] == version


def test_a_buffer_with_fences_stands_between_longer_ones_and_a_missing_newline_is_said(
    path: str, tmp_path: Path
) -> None:
    user = by_id(ask(bench(path), lambda _: "ZZ", tmp_path))["fence"].messages[1].text
    assert "Start:\n````\n```\nx\n```\n````\n(no newline at the end)" in user


def test_the_blind_probe_says_nothing_of_the_target(tmp_path: Path) -> None:
    hidden = Task(
        "t", "start here\n", "xyzzy plugh\n", "Rename it.", "Rename", reference="ccxyzzy plugh<Esc>ZZ"
    )
    file = tmp_path / "blind.jsonl"
    file.write_bytes(as_jsonl(build_suite("blind", [hidden], (Protocol.GOLF,), origin="test")))
    told: list[str] = []

    def answer(messages: Sequence[ChatMessage]) -> str:
        told.extend(one.text for one in messages)
        return "ccxyzzy plugh<Esc>ZZ"

    log = ask(golf_blind(str(file)), answer, tmp_path)
    assert "start here" in told[1]
    assert "xyzzy" not in "".join(told)
    [run] = read_runs(Path(log.location), []).runs
    assert (run.track, run.protocol, run.prompt_version) == (Track.BLIND, Protocol.GOLF, "golf-blind-1")


def test_the_prompts_examples_do_in_vim_what_they_say() -> None:
    from vimlib.inspect_tasks import prompts
    from vimlib.replay import ReplayRequest, replay_many

    golf_prompt = prompts.GOLF_SYSTEM
    shown = [
        (Protocol.GOLF, "a\nb\nc\n", "jjddZZ", "a\nb\n", golf_prompt),
        (Protocol.GOLF, "cat\n", ":%s/cat/dog/g<CR>ggOAnimals<Esc>:wq<CR>", "Animals\ndog\n", golf_prompt),
        (Protocol.BENCH, "one\ntwo\nthree\n", "Gdd:wq<CR>", "one\ntwo\n", prompts.BENCH_SYSTEM),
        (Protocol.BENCH, "a = 1\nb = 2\n", ":%s/$/;/<CR>:wq<CR>", "a = 1;\nb = 2;\n", prompts.BENCH_SYSTEM),
    ]  # fmt: skip
    replays = replay_many([ReplayRequest(protocol, start, keys) for protocol, start, keys, *_ in shown])
    for (_, _, keys, target, prompt), done in zip(shown, replays, strict=True):
        assert keys in prompt
        assert (done.outcome, done.final) == (Outcome.FINISHED, target.encode())


# --- what answers are worth


def test_right_wrong_and_long_answers_have_their_metrics(path: str, tmp_path: Path) -> None:
    log = ask(bench(path), solving, tmp_path)
    assert log.status == "success"
    samples = by_id(log)
    assert {one: value(sample)["passed"] for one, sample in samples.items()} == {
        "drop": 1.0,
        "case": 1.0,
        "fence": 0.0,
    }
    assert value(samples["case"])["efficiency"] == 7 / 9
    assert value(samples["fence"])["beats_diff"] == 0.0
    found = metrics(log)
    assert found["passed"]["accuracy"] == pytest.approx(2 / 3)
    assert found["passed"]["stderr"] == pytest.approx(1 / 3)
    assert found["efficiency"]["mean"] == pytest.approx((1 + 7 / 9) / 2)  # over passes alone
    partial = value(samples["fence"])["partial"]
    assert found["partial"]["mean"] == pytest.approx((2 + partial) / 3) and 0 < partial < 1


def test_answers_over_the_cap_malformed_empty_and_endless_fail_and_say_why(path: str, tmp_path: Path) -> None:
    answers = {"drop": "dd:wq<CR>", "case": "", "fence": "i" + "x" * 200_000}
    samples = by_id(ask(golf(path), lambda m: answers[name_of(m)], tmp_path))
    told = {name: (one.scores or {})["replay"] for name, one in samples.items()}
    meta = {name: score.metadata or {} for name, score in told.items()}
    assert value(samples["drop"])["passed"] == 0.0 and meta["drop"]["correct"] is True
    assert told["drop"].explanation == "the file is the target, but 6 keys are over the cap"
    assert (meta["case"]["outcome"], told["case"].explanation) == (None, "there are no keys in the answer")
    assert meta["fence"]["outcome"] == "bad_keys"
    [broken] = [by_id(ask(bench(path), lambda m: "<Nope>", tmp_path, limit=1))["drop"]]
    assert ((broken.scores or {})["replay"].metadata or {})["outcome"] == "bad_keys"
    assert value(broken)["partial"] == 0.0


def name_of(messages: Sequence[ChatMessage]) -> str:
    text = messages[-1].text
    return "drop" if "first line." in text and "one" in text else "case" if "alpha" in text else "fence"


def test_a_refusal_and_a_reply_without_choices_are_answers_that_fail(path: str, tmp_path: Path) -> None:
    def answer(messages: Sequence[ChatMessage]) -> ModelOutput:
        if name_of(messages) == "drop":
            return said("I cannot help with that.", stop_reason="content_filter")
        empty = said("")
        empty.choices = []
        return empty

    log = ask(bench(path), answer, tmp_path)
    samples = by_id(log)
    assert value(samples["drop"])["passed"] == 0.0
    [run] = read_runs(Path(log.location), []).runs
    kept = {one.task_id: one for one in run.attempts}
    assert kept["drop"].stop_reason == "content_filter"
    assert kept["case"].completion is None and kept["case"].keys is None


def test_a_failing_provider_is_no_failure_of_the_model(path: str, tmp_path: Path) -> None:
    def answer(messages: Sequence[ChatMessage]) -> str:
        if name_of(messages) == "case":
            raise RuntimeError("the provider is down")
        return solving(messages)

    log = ask(bench(path), answer, tmp_path)
    assert metrics(log)["passed"]["accuracy"] == 0.5
    [run] = read_runs(Path(log.location), []).runs
    [failed] = [one for one in run.attempts if one.task_id == "case"]
    assert (failed.status.value, failed.keys) == ("provider_error", None)


def test_metrics_count_every_epoch(path: str, tmp_path: Path) -> None:
    turn = iter(range(100))
    # Right in two of four epochs.
    log = ask(bench(path), lambda _: "dd:wq<CR>" if next(turn) % 2 else "ZZ", tmp_path, epochs=4, limit=1,
              max_connections=1)  # fmt: skip
    found = metrics(log)
    assert (found["passed"]["accuracy"], found["efficiency"]["mean"]) == (0.5, 1.0)


def test_the_log_and_the_workbench_agree_on_every_answer(path: str, suite: Suite, tmp_path: Path) -> None:
    for task in (golf(path), bench(path), bench_multi(path, state="session")):
        log = ask(task, solving, tmp_path)
        contents = read_runs(Path(log.location), [])
        assert contents.problems == ()
        [verdicts] = [one.verdicts for one in judge(contents.runs, contents.suites).runs]
        assert len(verdicts) == len(TASKS)
        for one in verdicts:
            assert (
                one.score.passed
                == one.attempt.source_correct
                == bool(value(by_id(log)[one.attempt.task_id])["passed"])
            )


# --- what a log carries


def test_a_log_carries_its_tasks_and_all_that_comparability_needs(
    path: str, suite: Suite, tmp_path: Path
) -> None:
    log = ask(bench_multi(path, state="session", show="state"), lambda _: "DONE", tmp_path)
    own = (log.eval.metadata or {})["vimlib"]
    names = ("suite", "suite_version", "suite_hash", "protocol", "track", "state")
    assert {name: own[name] for name in names} == {
        "suite": "tiny",
        "suite_version": suite.version,
        "suite_hash": suite.hash,
        "protocol": "bench",
        "track": "multi",
        "state": "session",
    }  # fmt: skip
    assert own["vim"]["version"] and len(own["vim"]["sha256"]) == 64 and own["vimlib_version"]
    contents = read_runs(Path(log.location), [])
    [carried], [run] = contents.suites, contents.runs
    assert carried.tasks == suite.tasks
    assert (carried.hash, carried.name, carried.version) == (suite.hash, suite.name, suite.version)
    assert (run.track, run.turn_state, run.protocol) == (Track.MULTI, TurnState.SESSION, Protocol.BENCH)
    assert run.prompt_version == "bench-multi-1-state"
    assert read_runs(Path(log.location), [suite]).suites == ()


def test_a_log_of_some_of_the_tasks_does_not_pass_for_the_suite(
    path: str, suite: Suite, tmp_path: Path
) -> None:
    log = ask(bench(path), solving, tmp_path, limit=2)
    [carried] = read_runs(Path(log.location), []).suites
    assert carried.hash != suite.hash and carried.version == carried.hash[:12]
    [run] = read_runs(Path(log.location), [suite]).runs
    assert run.suite_hash == suite.hash


# --- several turns


def in_turns(
    path: str, answers: Sequence[str | ModelOutput | Exception], tmp_path: Path, **options: Any
) -> EvalLog:
    given = iter(answers)

    def answer(_: Sequence[ChatMessage]) -> str | ModelOutput:
        one = next(given)
        if isinstance(one, Exception):
            raise one
        return one

    return ask(bench_multi(path, **options), answer, tmp_path, limit=1, max_connections=1)


def own(log: EvalLog) -> dict[str, Any]:
    [sample] = log.samples or ()
    found: dict[str, Any] = sample.metadata["vimlib"]
    return found


def test_the_model_sees_the_buffer_after_each_batch(path: str, tmp_path: Path) -> None:
    log = in_turns(path, ["x", "```vim\nu\n```", "dd", "never asked"], tmp_path)
    told = [one.text for one in (log.samples or [])[0].messages if one.role == "user"]
    assert "The text now:\n```\none\ntwo\n```" in told[0] and "turn 1 of 8" in told[0]
    assert "The text now:\n```\nne\ntwo\n```" in told[1]
    assert "Keys so far:\n1. x\n2. u" in told[2]
    assert [turn["keys"] for turn in own(log)["turns"]] == ["x", "u", "dd"]
    assert own(log)["ended"] == "target"
    assert value((log.samples or [])[0])["passed"] == 1.0
    assert value((log.samples or [])[0])["efficiency"] == 1.0  # the reference has 7 keys, these are 4
    assert (log.samples or [])[0].model_usage["mockllm/model"].total_tokens == 30


@pytest.mark.parametrize(
    ("answers", "ended", "passed"),
    [
        (["x", "DONE"], "done", 0.0),
        (["DONE"], "done", 0.0),
        (["x", "<Nope>"], "notation", 0.0),
        (["", "x"], "max_turns", 0.0),
        (["ddp", "kdd"], "target", 0.0),
    ],
)
def test_an_edit_ends_as_the_rules_say(
    answers: list[str], ended: str, passed: float, path: str, tmp_path: Path
) -> None:
    if ended == "target":
        answers, passed = ["ddp", "jdd"], 1.0
    log = in_turns(path, answers, tmp_path, max_turns=2)
    assert own(log)["ended"] == ended
    assert value((log.samples or [])[0])["passed"] == passed


def test_a_session_keeps_registers_and_shows_vims_state(path: str, tmp_path: Path) -> None:
    log = in_turns(path, ["dd", "ufz", "P"], tmp_path, state="session", show="state", max_turns=3)
    # The first turn reaches the target already.
    assert len(own(log)["turns"]) == 1
    log = in_turns(path, ["yyj", ":nope<CR>iab", "p"], tmp_path, state="session", show="state", max_turns=3)
    told = [one.text for one in (log.samples or [])[0].messages if one.role == "user"]
    assert "After your last keys: Normal mode; cursor at line 2, column 1." in told[1]
    assert "Insert mode" in told[2] and "E492: Not an editor command: nope" in told[2]
    assert own(log)["turns"][2]["left"] == "one\nabtwo\none\n"


def test_an_edit_that_the_provider_broke_off_is_no_answer_but_keeps_its_turns(
    path: str, tmp_path: Path
) -> None:
    log = in_turns(path, ["x", RuntimeError("down")], tmp_path)
    [run] = read_runs(Path(log.location), []).runs
    [attempt] = run.attempts
    assert (attempt.status.value, attempt.turns) == ("provider_error", ("x",))
    assert attempt.usage.total_tokens == 10
    [judged] = judge([run], read_runs(Path(log.location), []).suites).runs
    assert judged.verdicts == ()


# --- through Inspect's own commands


def inspect(*arguments: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).parent / "inspect"
    return subprocess.run(
        [str(program), *arguments],
        cwd=folder,
        env={**os.environ, "INSPECT_DISPLAY": "plain", **environment},
        capture_output=True,
        text=True,
        timeout=180,
    )


def test_inspect_finds_the_tasks_by_name_from_any_folder(path: str, tmp_path: Path) -> None:
    done = inspect(
        "eval", "vimlib/golf", "vimlib/bench_multi", "-T", f"suite={path}", "--model", "none", "--limit", "1",
        "--log-dir", str(tmp_path / "logs"), folder=tmp_path,
    )  # fmt: skip
    logs = [read_eval_log(str(file), header_only=True) for file in (tmp_path / "logs").glob("*.eval")]
    assert {log.eval.task for log in logs} == {"vimlib/golf", "vimlib/bench_multi"}, done.stderr


def test_a_suite_that_does_not_exist_ends_inspect_in_one_line(tmp_path: Path) -> None:
    done = inspect(
        "eval", "vimlib/golf", "-T", "suite=nowhere.jsonl", "--model", "mockllm/model", folder=tmp_path
    )  # fmt: skip
    assert done.returncode != 0
    assert "nowhere.jsonl: no such file" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_bad_parameters_are_refused_in_words(path: str) -> None:
    with pytest.raises(PrerequisiteError, match="state is 'warm'; expected fresh or session"):
        bench_multi(path, state="warm")
    with pytest.raises(PrerequisiteError, match="prompt is 'other'; expected vimlib or upstream"):
        golf(path, prompt="other")
    with pytest.raises(PrerequisiteError, match="max_turns is 0"):
        bench_multi(path, max_turns=0)


def test_a_log_of_inspect_evals_is_scored_as_it_scored_itself(shared_data: Path, tmp_path: Path) -> None:
    """`inspect score` on the shared log agrees with the verdicts that it holds."""
    source = shared_data / "logs" / "vimgolf_single_turn_smollm2-135m.eval"
    done = inspect(
        "score", str(source), "--scorer", "vimlib/replay", "--action", "append",
        "--output-file", str(tmp_path / "scored.eval"), folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    log = read_eval_log(str(tmp_path / "scored.eval"))
    assert len(log.samples or ()) == 134
    for sample in log.samples or ():
        assert sample.scores is not None
        theirs, ours = sample.scores["vimgolf_scorer"], sample.scores["replay"]
        assert isinstance(ours.value, dict)
        assert (theirs.value == "C") == (ours.value["passed"] == 1.0), sample.id


def test_an_answer_of_inspect_evals_that_is_right_is_scored_so(tmp_path: Path) -> None:
    """The shared log has no pass, so one is made in its shape."""
    from test_runs import make_log

    source = make_log(tmp_path, tasks=[Task("4d1a1c36567bac34a9000002", "a\nb\n" * 4, "b\n" + "a\nb\n" * 3)])
    log = inspect_score(read_eval_log(str(source)), replay(), action="append", display="none")
    for sample in log.samples or ():
        assert value(sample)["passed"] == 1.0
        assert math.isnan(value(sample)["efficiency"])  # no reference is known


@pytest.mark.skipif(
    importlib.util.find_spec("inspect_evals") is None, reason="inspect_evals is not installed"
)
def test_the_upstream_prompt_is_that_of_inspect_evals(path: str, tmp_path: Path) -> None:
    from inspect_evals.vimgolf_challenges import vimgolf_challenges as theirs

    log = ask(golf(path, prompt="upstream"), solving, tmp_path)
    system, user = by_id(log)["drop"].messages[:2]
    record = {"id": "drop", "input": "one\ntwo\n", "target": "two\n",
              "metadata": {"detail": "Drop\n\nDelete the first line."}}  # fmt: skip
    sample = theirs.record_to_sample(record)
    assert system.text == theirs.SYSTEM_MESSAGE_TEMPLATE.format(**(sample.metadata or {}))
    assert user.text == sample.input
    # inspect_evals 0.26 calls the version 2, 0.28 calls it 2-A.
    version = (log.eval.metadata or {})["vimlib"]["prompt_version"]
    assert version in ("inspect_evals-2", "inspect_evals-2-A")
    [run] = read_runs(Path(log.location), []).runs
    assert run.prompt_version == version


@pytest.mark.skipif(
    importlib.util.find_spec("inspect_evals") is not None, reason="inspect_evals is installed"
)
def test_the_upstream_prompt_without_inspect_evals_says_what_to_install(path: str) -> None:
    with pytest.raises(PrerequisiteError, match="pip install 'inspect-evals"):
        golf(path, prompt="upstream")


def test_the_summary_in_the_log_is_json_that_others_read(path: str, tmp_path: Path) -> None:
    log = ask(bench(path), solving, tmp_path, log_format="json")
    document = json.loads(Path(log.location).read_text(encoding="utf-8"))
    assert document["samples"][0]["scores"]["replay"]["value"]["passed"] == 1.0
