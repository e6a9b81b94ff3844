"""`vimlib run` against a real server: what is paid for is kept, what fails is said, nothing leaks."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from chat_server import Reply, Server, chat_server
from inspect_ai.log import EvalLog, read_eval_log
from reporting import Reported

from vimlib import store
from vimlib.inspect_tasks.models import (
    BadModelFile,
    BadUrl,
    ModelAsked,
    SecretGiven,
    model_asked,
    read_models,
)
from vimlib.inspect_tasks.running import RunRow, WrongTrack, question, run_models
from vimlib.inspect_tasks.scrubbing import scrub
from vimlib.records import AttemptStatus, Protocol, Run, Task, Track, TurnState
from vimlib.runs import find_sources, join_lineages, read_runs
from vimlib.suites import NoSuchSuite, build_suite
from vimlib.suites.jsonl import as_jsonl

PROJECT = Path(__file__).resolve().parent.parent
KEY = "sk-a-key-that-nobody-may-see-1234567890"

TASKS = tuple(
    Task(f"t{n}", f"line {n}\nrest\n", "rest\n", f"Delete the line that says {n}.", reference="ddZZ")
    for n in range(4)
)


@pytest.fixture
def suite(tmp_path: Path) -> str:
    file = tmp_path / "four.jsonl"
    file.write_bytes(as_jsonl(build_suite("four", TASKS, (Protocol.BENCH, Protocol.GOLF), origin="test")))
    return str(file)


def number(prompt: str) -> int:
    """Which of the tasks a prompt is about."""
    found = re.search(r"that says (\d)", prompt)
    assert found is not None, prompt
    return int(found[1])


def ask(
    suite: str, out: Path, *models: ModelAsked, settings: Mapping[str, Any] | None = None, **asked: Any
) -> list[RunRow]:
    quick = {"max_retries": 1, "max_connections": 4} | dict(settings or {})
    return run_models(question(suite, settings=quick, **asked), models, out)


def at(server: Server, **fields: Any) -> ModelAsked:
    return model_asked("little", base_url=server.url, **fields)


def the_run(row: RunRow) -> Run:
    assert row.log is not None
    [run] = read_runs(row.log, []).runs
    return run


# --- the way of an answer


def test_answers_of_a_server_are_run_scored_and_read_back(suite: str, tmp_path: Path) -> None:
    with chat_server(lambda prompt: "ddZZ" if number(prompt) else "ZZ") as server:
        [row] = ask(suite, tmp_path / "runs", at(server), settings={"temperature": 0, "max_tokens": 64})
    assert (row.status, row.answered, row.errors, row.passed) == ("success", 4, 0, 3)
    assert (row.input_tokens, row.output_tokens) == (400, 40)
    assert {(one["model"], one["temperature"], one["max_tokens"]) for one in server.requests} == {
        ("little", 0, 64)
    }
    run = the_run(row)
    assert run.name == "openai-api/local/little"
    assert {one.source_correct for one in run.attempts} == {True, False}
    assert (run.settings["temperature"], run.settings["max_tokens"]) == (0, 64)


USAGES: tuple[tuple[dict[str, Any] | None, dict[str, int | None]], ...] = (
    (None, {"input_tokens": None, "output_tokens": None, "total_tokens": None}),
    (
        {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110, "cache_read_tokens": None},
    ),
    (
        {
            "prompt_tokens": 100,
            "completion_tokens": 10,
            "total_tokens": 110,
            "prompt_tokens_details": {"cached_tokens": 60},
            "completion_tokens_details": {"reasoning_tokens": 7},
        },
        {"input_tokens": 100, "cache_read_tokens": 60, "output_tokens": 10, "reasoning_tokens": 7},
    ),
)


def test_usage_is_kept_as_reported_and_missing_is_not_zero(suite: str, tmp_path: Path) -> None:
    with chat_server(lambda prompt: Reply(usage=USAGES[number(prompt)][0])) as server:
        [row] = ask(suite, tmp_path / "runs", at(server), limit=len(USAGES))
    found = {one.task_id: one.usage for one in the_run(row).attempts}
    for place, (_, expected) in enumerate(USAGES):
        usage = found[f"t{place}"]
        assert {name: getattr(usage, name) for name in expected} == expected


def test_empty_null_refused_and_cut_replies_are_answers(suite: str, tmp_path: Path) -> None:
    replies = (
        Reply(""),
        Reply(None),
        Reply("I will not.", finish="content_filter"),
        Reply("x" * 100_000, finish="length"),
    )
    with chat_server(lambda prompt: replies[number(prompt)]) as server:
        [row] = ask(suite, tmp_path / "runs", at(server))
    assert (row.status, row.errors, row.passed) == ("success", 0, 0)
    kept = {one.task_id: one for one in the_run(row).attempts}
    assert {one.status for one in kept.values()} == {AttemptStatus.ANSWERED}
    assert (kept["t2"].stop_reason, kept["t3"].stop_reason) == ("content_filter", "max_tokens")


def test_a_prompt_that_the_server_refuses_is_no_answer_of_the_model(suite: str, tmp_path: Path) -> None:
    """Inspect puts the server's message in the model's place, as an output that was stopped."""
    said = "This model's context is 8 tokens. However, you requested 9."

    def reply(prompt: str) -> Reply:
        # One model stops within its answer at the end of its context: these are its words.
        cut = Reply("i" + "x" * 50, finish="length", usage=None)
        refused = Reply(status=400, error=said, code="context_length_exceeded")
        return [refused, cut][number(prompt) % 2] if "turn 1" not in prompt else Reply("x")

    with chat_server(reply) as server:
        [single] = ask(suite, tmp_path / "runs", at(server), limit=2)
        turns = {"track": Track.MULTI, "state": TurnState.FRESH, "max_turns": 3}
        [multi] = ask(suite, tmp_path / "runs", at(server), limit=1, **turns)
    refused, cut = the_run(single).attempts
    assert (refused.status, refused.stop_reason) == (AttemptStatus.PROVIDER_ERROR, "model_length")
    assert refused.error == f"the provider refused the request (model_length): {said}"
    assert (refused.completion, refused.keys, refused.source_correct) == (None, None, None)
    assert (cut.status, cut.stop_reason, cut.source_correct) == (AttemptStatus.ANSWERED, "max_tokens", False)
    [lost] = the_run(multi).attempts
    assert (lost.status, lost.turns, lost.source_correct) == (AttemptStatus.PROVIDER_ERROR, ("x",), None)
    assert lost.usage.total_tokens == 110


# --- trouble


def test_busy_and_broken_servers_are_asked_again(suite: str, tmp_path: Path) -> None:
    """429, a 500 and a dropped connection, each followed by an answer."""
    seen: dict[int, int] = {}
    trouble = (
        Reply(status=429, headers={"retry-after-ms": "1"}),
        Reply(status=500, headers={"retry-after-ms": "1"}),
        Reply(drops=True),
        Reply(seconds=0.2),
    )

    def reply(prompt: str) -> Reply:
        place = number(prompt)
        seen[place] = seen.get(place, 0) + 1
        return trouble[place] if seen[place] == 1 else Reply("ddZZ")

    with chat_server(reply) as server:
        [row] = ask(suite, tmp_path / "runs", at(server))
    assert (row.status, row.answered, row.errors) == ("success", 4, 0)
    assert [seen[place] for place in range(3)] == [2, 2, 2]
    slow = {one.task_id: one.seconds for one in the_run(row).attempts}["t3"]
    assert slow is not None and slow >= 0.2


def test_what_the_server_refuses_is_an_error_row_and_only_that_is_asked_again(
    suite: str, tmp_path: Path
) -> None:
    bad = {2}

    def reply(prompt: str) -> Reply:
        return Reply(status=400, error="no such thing") if number(prompt) in bad else Reply("ddZZ")

    with chat_server(reply) as server:
        [row] = ask(suite, tmp_path / "runs", at(server))
        assert (row.status, row.answered, row.errors, row.passed) == ("error", 3, 1, 3)
        assert row.why is not None and row.why.startswith("1 of 4 samples have no answer (")
        statuses = {one.task_id: one.status for one in the_run(row).attempts}
        assert statuses["t2"] is AttemptStatus.PROVIDER_ERROR
        asked = len(server.requests)
        bad.clear()
        [row] = ask(suite, tmp_path / "runs", at(server))
        assert (row.status, row.answered, row.errors) == ("success", 4, 0)
        assert len(server.requests) == asked + 1
        [row] = ask(suite, tmp_path / "runs", at(server))
        assert (row.status, len(server.requests)) == ("success", asked + 1)
    assert len(list((tmp_path / "runs").rglob("*.eval"))) == 1


def nobody() -> str:
    """A base URL at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


def test_models_that_cannot_be_asked_are_rows_and_the_others_go_on(suite: str, tmp_path: Path) -> None:
    told: list[str] = []
    with chat_server(lambda _: "ddZZ") as server:
        models = [
            model_asked("gone", base_url=nobody()),
            model_asked("nosuch/model"),
            model_asked("openai/gpt-nothing", name="no key"),
            at(server),
        ]
        asked = question(suite, settings={"max_connections": 4})
        rows = run_models(asked, models, tmp_path / "runs", tell=told.append)
    assert [row.status for row in rows] == ["error", "error", "error", "success"]
    gone, unknown, keyless, good = rows
    assert gone.why is not None and gone.why.startswith("nobody answers at http://127.0.0.1:")
    assert {one.status for one in the_run(gone).attempts} <= {
        AttemptStatus.PROVIDER_ERROR,
        AttemptStatus.CANCELLED,
    }
    assert read_eval_log(str(gone.log), header_only=True).eval.model_generate_config.max_retries == 0
    assert unknown.why is not None and "nosuch" in unknown.why and "Expected PROVIDER/MODEL" in unknown.why
    assert keyless.why is not None and "OPENAI_API_KEY" in keyless.why
    assert all("\n" not in line for line in told) and len(told) == 3
    assert good.passed == 4


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def test_all_models_are_asked_the_same(suite: str, tmp_path: Path) -> None:
    with chat_server(lambda _: "ddZZ") as server:
        rows = ask(
            suite, tmp_path / "runs", at(server, name="a"), at(server, name="b", settings={"top_p": 0.5})
        )
    assert [row.status for row in rows] == ["success", "success"]
    prompts = sorted(server.prompts)
    assert prompts[::2] == prompts[1::2]
    assert [one.get("top_p") for one in server.requests].count(0.5) == 4


def test_the_multi_turn_track_goes_over_the_wire(suite: str, tmp_path: Path) -> None:
    with chat_server(
        lambda prompt: "x" if "turn 1 of 3" in prompt else "u" if "turn 2" in prompt else "dd"
    ) as server:
        turns = {"track": Track.MULTI, "state": TurnState.SESSION, "max_turns": 3}
        [row] = ask(suite, tmp_path / "runs", at(server), limit=2, **turns)
    run = the_run(row)
    assert (run.track, run.turn_state) == (Track.MULTI, TurnState.SESSION)
    assert [one.turns for one in run.attempts] == [("x", "u", "dd")] * 2
    assert row.passed == 2
    assert [one.usage.total_tokens for one in run.attempts] == [330, 330]


# --- interrupted and resumed

PROGRAM = """
import sys
from pathlib import Path
from vimlib.inspect_tasks.models import model_asked
from vimlib.inspect_tasks.running import question, run_models
suite, out, url = sys.argv[1:]
asked = question(suite, settings={"max_connections": 1, "max_retries": 0}, epochs=2)
[row] = run_models(asked, [model_asked("little", base_url=url)], Path(out))
print(row.status, row.answered, row.errors)
"""


def test_a_run_killed_on_its_way_and_resumed_has_each_answer_once_and_all_tokens(
    suite: str, tmp_path: Path
) -> None:
    counts: dict[str, int] = {}
    hangs = True

    def reply(prompt: str) -> Reply:
        counts[prompt] = counts.get(prompt, 0) + 1
        # Tokens that tell each request from all others.
        used = 100 + sum(counts.values())
        usage = {"prompt_tokens": used, "completion_tokens": 1, "total_tokens": used + 1}
        return Reply("ddZZ", usage=usage, seconds=60 if hangs and sum(counts.values()) > 5 else 0)

    arguments = [sys.executable, "-c", PROGRAM, suite, str(tmp_path / "runs")]
    with chat_server(reply) as server:
        process = subprocess.Popen([*arguments, server.url], cwd=tmp_path, start_new_session=True)
        until = time.monotonic() + 90
        while len(server.requests) < 6:
            assert time.monotonic() < until and process.poll() is None
            time.sleep(0.05)
        # Five are answered; the fifth is written before the sixth is asked, or just after.
        time.sleep(1.0)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        hangs = False
        done = subprocess.run(
            [*arguments, server.url], cwd=tmp_path, capture_output=True, text=True, timeout=120
        )
        assert done.stdout == "success 8 0\n", done.stderr
        assert len(server.requests) == 6 + 3
    logs = find_sources([tmp_path / "runs"])
    assert len(logs) == 2  # that of the killed part stays
    whole = build_suite("four", TASKS, (Protocol.BENCH, Protocol.GOLF), origin="test")
    [run] = join_lineages([one for log in logs for one in read_runs(log, [whole]).runs])
    keys = [(one.task_id, one.epoch, one.attempt) for one in run.attempts]
    assert sorted(keys) == [(f"t{n}", epoch, 1) for n in range(4) for epoch in (1, 2)]
    # The sixth was killed before it was answered; each other counts once.
    expected = sum(101 + place for place in range(1, 10) if place != 6)
    assert sum(one.usage.total_tokens or 0 for one in run.attempts) == expected


SMALL_DISK = """
mount -t tmpfs -o size=128k none runs
"$@"
cp -r runs kept
"""


def test_a_disk_that_fills_up_is_one_line_and_keeps_what_was_paid_for(suite: str, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    on_a_small_disk = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-ec", SMALL_DISK, "sh"]
    arguments = [sys.executable, "-c", PROGRAM, suite]
    tried = subprocess.run([*on_a_small_disk, "true"], cwd=tmp_path, capture_output=True, text=True)
    if tried.returncode:
        pytest.skip(f"no file system can be mounted here: {tried.stderr.strip()}")
    shutil.rmtree(tmp_path / "kept")
    with chat_server(lambda _: Reply("i" + os.urandom(15_000).hex())) as server:
        done = subprocess.run(
            [*on_a_small_disk, *arguments, "runs", server.url],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert "Traceback" not in done.stderr
        assert done.stdout.startswith("error "), done.stdout + done.stderr
        asked = len(server.requests)
        again = subprocess.run(
            [*arguments, "kept", server.url], cwd=tmp_path, capture_output=True, text=True, timeout=120
        )
        assert again.stdout == "success 8 0\n", again.stdout + again.stderr
        assert 1 < asked < 8 and len(server.requests) - asked <= 8 - (asked - 2)


# --- nothing leaks


def everything(log: Path) -> str:
    return read_eval_log(str(log)).model_dump_json()


def test_keys_and_folders_stay_out_of_the_log(
    suite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", KEY)
    monkeypatch.chdir(tmp_path)
    said = f"Incorrect API key provided: {KEY}, see /var/lib"
    with chat_server(
        lambda prompt: Reply(status=401, error=said) if number(prompt) == 1 else Reply(f"i{tmp_path}<Esc>ZZ")
    ) as server:
        [row] = ask(suite, tmp_path / "runs", at(server))
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert row.status == "error" and row.log is not None and KEY not in (row.why or "")
    text = everything(row.log)
    assert KEY not in text and "[LOCAL_API_KEY]" in text
    answers = {one.task_id: one.completion for one in the_run(row).attempts}
    assert answers["t0"] == f"i{tmp_path}<Esc>ZZ"  # an answer is what was answered
    log = read_eval_log(str(row.log))
    failed = [event for sample in log.samples or () for event in sample.events if event.event == "model"]
    assert any(event.traceback for event in failed)
    assert not any(folder in text for folder in (sys.prefix, sysconfig.get_paths()["stdlib"]))
    assert log.eval.task_args_passed == {"suite": "four.jsonl"}
    for sample in log.samples or ():
        if sample.error is not None:
            assert str(PROJECT) not in sample.error.traceback and sys.prefix not in sample.error.traceback
    assert scrub(row.log) is False


def test_a_recorded_run_is_free_of_keys_paths_and_hosts(recorded: Path) -> None:
    text = everything(recorded)
    log: EvalLog = read_eval_log(str(recorded))
    assert log.eval.model_base_url is None or "://127.0.0.1" in log.eval.model_base_url
    assert log.eval.revision is None or log.eval.revision.origin in ("", None)
    assert re.search(rf"\b{re.escape(socket.gethostname())}\b", text) is None
    assert re.search(r"(sk|key)-[A-Za-z0-9]{16}|Bearer ", text) is None
    # Paths, except those that a task or an answer speaks of.
    spec = (
        log.eval.model_dump_json() + log.plan.model_dump_json() + (log.error.traceback if log.error else "")
    )
    assert re.search(r"(?<![\w.])/(home|root|work|tmp|usr|opt|Users)/", spec) is None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "recorded" in metafunc.fixturenames:
        found = sorted((PROJECT / "data" / "runs").rglob("*.eval"))
        metafunc.parametrize("recorded", found, ids=[one.parent.name + "-" + one.stem[-8:] for one in found])


@pytest.mark.parametrize(
    "url",
    [
        "http://user:pw@host/v1",
        "http://token@host/v1",
        "https://host/v1?api-key=abc",
    ],
)
def test_a_base_url_with_a_secret_is_refused(url: str) -> None:
    with pytest.raises(SecretGiven) as caught:
        model_asked("m", base_url=url)
    assert "pw" not in str(caught.value) and "abc" not in str(caught.value)


@pytest.mark.parametrize("url", ["host:8000", "ftp://host/v1", "http://", "http://host:port/v1"])
def test_what_is_no_base_url_is_refused(url: str) -> None:
    with pytest.raises(BadUrl, match="expected http://HOST:PORT/v1"):
        model_asked("m", base_url=url)


# --- which models


@pytest.mark.parametrize(
    ("model", "url", "expected"),
    [
        ("little", "http://h/v1", "openai-api/local/little"),
        ("meta-llama/Llama-3", "http://h/v1/", "openai-api/local/meta-llama/Llama-3"),
        ("openai/gpt", "http://h/v1", "openai/gpt"),
        ("openai", "http://h/v1", "openai-api/local/openai"),
        ("anthropic/claude", None, "anthropic/claude"),
    ],
)
def test_a_servers_own_name_becomes_one_that_inspect_knows(
    model: str, url: str | None, expected: str
) -> None:
    asked = model_asked(model, base_url=url)
    assert asked.model == expected
    assert asked.base_url is None or not asked.base_url.endswith("/")


MODELS: list[dict[str, Any]] = [
    {
        "name": "Little",
        "model": "little",
        "base_url": "http://127.0.0.1:1/v1",
        "settings": {"temperature": 0},
    },
    {"model": "openai/gpt", "prices": {"input": 1, "output": 4}, "args": {"responses_api": False}},
]


@pytest.mark.parametrize("ending", ["json", "yaml"])
def test_models_come_from_json_and_yaml(ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"models.{ending}"
    file.write_text(json.dumps(MODELS) if ending == "json" else yaml.safe_dump(MODELS), encoding="utf-8")
    first, second = read_models(file)
    assert (first.name, first.model, first.settings) == (
        "Little",
        "openai-api/local/little",
        {"temperature": 0},
    )
    assert second.prices == {"input": 1.0, "output": 4.0, "input_cache_read": 1.0, "input_cache_write": 1.0}


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("", BadModelFile, "holds no list"),
        ("{}", BadModelFile, "holds no list"),
        ("[{]", BadModelFile, "is no YAML"),
        ("- name: x", BadModelFile, "model 1: has no text 'model'"),
        ("- {model: m, temprature: 0}", BadModelFile, "unknown field 'temprature'"),
        ("- {model: m, settings: hot}", BadModelFile, "'settings' is no mapping"),
        ("- {model: m, prices: {input: free, output: 1}}", BadModelFile, "price 'input' is 'free'"),
        ("- {model: m, prices: {input: 1}}", BadModelFile, "prices lack input or output"),
        ("- {model: m}\n- {model: m}", BadModelFile, "two models are called 'm'"),
        ("- {model: m, api_key: abc}", SecretGiven, "keys come from the environment or .env alone"),
        ("- {model: m, args: {api_key: abc}}", SecretGiven, "args hold 'api_key'"),
        ("- {model: m, settings: {extra_headers: {Authorization: abc}}}", SecretGiven, "settings hold"),
        ("- {model: m, base_url: 'http://u:abc@h'}", SecretGiven, "password or key"),
    ],
)
def test_a_bad_file_of_models_is_one_line(
    text: str, error: type[Exception], said: str, tmp_path: Path
) -> None:
    file = tmp_path / "models.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(error) as caught:
        read_models(file)
    assert said in str(caught.value) and str(file) in str(caught.value) and "\n" not in str(caught.value)
    assert "abc" not in str(caught.value)


# --- what goes together


def test_the_protocol_is_the_suites_or_the_tracks(suite: str) -> None:
    assert question(suite).protocol is Protocol.BENCH
    assert question(suite, protocol=Protocol.GOLF).protocol is Protocol.GOLF
    assert question(suite, track=Track.BLIND).protocol is Protocol.GOLF
    multi = question(suite, track=Track.MULTI)
    assert (multi.protocol, multi.state) == (Protocol.BENCH, TurnState.FRESH)
    assert re.fullmatch(r"four-[0-9a-f]{12}-bench-multi-fresh", multi.label)


@pytest.mark.parametrize(
    "asked",
    [
        {"track": Track.MULTI, "protocol": Protocol.GOLF},
        {"track": Track.BLIND, "protocol": Protocol.BENCH},
        {"state": TurnState.FRESH},
        {"prompt": "upstream"},
    ],
)
def test_what_does_not_go_together_is_refused(asked: dict[str, Any], suite: str) -> None:
    with pytest.raises(WrongTrack):
        question(suite, **asked)


def test_a_suite_that_is_not_there_is_refused_before_anybody_is_asked() -> None:
    with pytest.raises(NoSuchSuite):
        question("nowhere.jsonl")


# --- the command


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "vimlib.cli", "run", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_command_asks_prints_a_table_and_says_what_went_wrong(suite: str, tmp_path: Path) -> None:
    with chat_server(lambda _: "ddZZ") as server:
        done = run(
            "--model", "little", "--base-url", server.url, "--model", "nosuch/model",
            "--suite", "four.jsonl", "--limit", "2", "--out", "runs", folder=tmp_path,
        )  # fmt: skip
    # With a base URL every model is asked there.
    assert done.returncode == 0, done.stderr
    heads, first, second = done.stdout.splitlines()
    assert heads.split() == "model suite protocol track status errors passed input output log".split()
    assert first.split()[0] == "little" and "2/2" in first and second.split()[0] == "nosuch/model"
    assert done.stderr == ""
    refused = run("--suite", "four.jsonl", folder=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("vimlib: no model to ask; expected --model")


# --- the recorded runs


def test_the_recorded_runs_load_and_agree_with_their_logs(reported: Reported) -> None:
    with contextlib.closing(store.connect(reported.folder / "store.duckdb")) as con:
        loaded = store.query(con, "sources_loaded")
        runs = store.query(con, "run_overview", kind="model")
        attempts = store.query(con, "attempts_scored", kind="model")
    # The whole report is about the logs of VimGolf too, where they are.
    recorded = {log.name for log in (PROJECT / "data" / "runs").rglob("*.eval")}
    assert recorded <= set(loaded["source"])
    runs = runs[runs["source"].isin(recorded)]
    attempts = attempts[attempts["run_id"].isin(runs["run_id"])]
    columns = ["name", "suite_name", "protocol", "track", "tasks_attempted", "epochs"]
    asked = {(str(row[0]).rsplit("/", 1)[-1], *row[1:]) for row in runs[columns].itertuples(index=False)}
    smollm2, gemma = "smollm2-135m-instruct", "gemma-3-270m"
    assert asked == {
        (smollm2, "seed", "bench", "single", 48, 2),
        (smollm2, "seed", "bench", "multi", 48, 1),
        (smollm2, "seed", "golf", "single", 48, 1),
        (smollm2, "fresh", "bench", "single", 60, 1),
        (smollm2, "fresh", "golf", "single", 60, 1),
        (gemma, "seed", "bench", "single", 48, 1),
        (gemma, "seed", "golf", "single", 48, 1),
        (gemma, "fresh", "bench", "single", 60, 1),
        (gemma, "fresh", "golf", "single", 60, 1),
    }
    assert (runs["disagreements"] == 0).all()
    assert (runs["source_verdicts"] == runs["scored"]).all()
    # A prompt over the model's context is refused by the server: it costs nothing and is no answer.
    refused = attempts[attempts["stop_reason"] == "model_length"]
    assert set(refused["run_id"]) == set(runs.loc[runs["suite_name"] == "fresh", "run_id"])
    assert list(refused["run_id"].value_counts()) == [3, 3, 3, 3]
    assert set(refused["status"]) == set(refused["failure_mode"]) == {"provider_error"}
    assert refused["error"].str.contains("maximum context length is 8192 tokens").all()
    assert attempts.loc[attempts["total_tokens"].isna(), "task_id"].isin(refused["task_id"]).all()
    fresh = runs[runs["suite_name"] == "fresh"]
    assert (fresh["provider_errors"] == 3).all() and (fresh["scored"] == 57).all()
    assert attempts["turns"].notna().sum() == 48


def test_the_recorded_runs_are_small() -> None:
    sizes = [file.stat().st_size for file in (PROJECT / "data" / "runs").rglob("*") if file.is_file()]
    assert sum(sizes) < 8_000_000
