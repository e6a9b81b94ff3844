"""The command line as a user meets it: what it prints where, exit codes, and one line for what is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from test_load import write_answers, write_suite

from vimlib import __version__, store
from vimlib.cli import main
from vimlib.replay import find_vim
from vimlib.suites import load_suite

VIMLIB = Path(sys.executable).with_name("vimlib")
ESCAPES = "\x1b]0;owned\x07\x1b[2J"
FIELDS = (
    "id, outcome, correct, passed, final, keystrokes, over_cap, partial, efficiency, mode, vim_error, "
    "wall_seconds"
).split(", ")
TIMING_OUT = (":sleep 20", "qqdd@qq@q", ":while 1")
"""Answers that take the ten seconds they are given, and that tests/test_replay.py waits for."""


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    error: str

    @property
    def said(self) -> list[str]:
        return self.error.splitlines()

    @property
    def rows(self) -> list[list[str]]:
        """The cells of a printed table, without its head."""
        return [line.split() for line in self.out.splitlines()[1:]]


Command = Callable[..., Ran]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache") / "replays.sqlite"


@pytest.fixture
def vimlib(capsys: pytest.CaptureFixture[str], cache: Path) -> Command:
    """Runs a command in this process; those that replay share a cache."""

    def run(name: str, *arguments: object) -> Ran:
        given = [name, *map(str, arguments)]
        if name in {"load", "verify", "score", "replay", "trace"} and "--no-cache" not in given:
            given += ["--cache", str(cache)]
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(given)
        captured = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        assert "Traceback" not in captured.err
        return Ran(ended.value.code, captured.out, captured.err)

    return run


def installed(*arguments: object, path: Path | None = None, **options: Any) -> Ran:
    """Runs the installed command; `path`: the only folder on its PATH."""
    environment = {**os.environ, **({"PATH": str(path)} if path else {})}
    done = subprocess.run(
        [VIMLIB, *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        **options,
    )
    assert "Traceback" not in done.stderr
    return Ran(done.returncode, done.stdout, done.stderr)


def path_without(folder: Path, program: str) -> Path:
    """A folder with every program of the PATH but one."""
    folder.mkdir()
    for place in os.get_exec_path():
        if Path(place).is_dir():
            for one in Path(place).iterdir():
                link = folder / one.name
                if one.name != program and not link.is_symlink():
                    link.symlink_to(one)
    return folder


@pytest.fixture(scope="module")
def no_bwrap(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return path_without(tmp_path_factory.mktemp("path") / "bin", "bwrap")


@pytest.fixture(scope="module")
def no_vim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return path_without(tmp_path_factory.mktemp("path") / "bin", "vim")


def write_rows(path: Path, *rows: dict[str, Any] | bytes) -> Path:
    """JSONL; bytes are a line as it stands."""
    path.write_bytes(
        b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows)
    )
    return path


def read_rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


# --- the command itself


def test_installed_command_says_its_version_and_its_commands() -> None:
    assert installed("--version") == Ran(0, f"vimlib {__version__}\n", "")
    help = installed("--help")
    assert help.code == 0
    for command in ("report", "load", "verify", "score", "replay", "trace", "doctor"):
        assert f"\n    {command} " in help.out


def test_wrong_usage_is_two(vimlib: Command) -> None:
    assert vimlib("nonsense").code == 2
    assert vimlib("trace", "dd", "--protocol", "golf").code == 2
    nothing = vimlib("score")
    assert (nothing.code, nothing.out) == (2, "") and "--solver" in nothing.error


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = [str(VIMLIB), "trace", "--no-cache", "--protocol", "golf", "--file", __file__, "dd"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout is not None and running.stderr is not None
    running.stdout.close()
    assert running.stderr.read() == ""
    running.stderr.close()
    running.wait()


# --- verify


def test_verify_replays_every_reference_of_the_seed_suite(vimlib: Command) -> None:
    assert vimlib("verify") == Ran(0, "seed: 48/48 verified under bench and golf\n", "")
    assert vimlib("verify", "--protocol", "golf").out == "seed: 48/48 verified under golf\n"


def test_verify_names_each_task_whose_reference_fails_and_why(vimlib: Command, tmp_path: Path) -> None:
    suite = write_rows(
        tmp_path / "mine.jsonl",
        {"id": "good", "start": "a line\n", "target": "a line!\n", "reference": "A!<Esc>ZZ"},
        {"id": "wrong", "start": "a line\n", "target": "a line!\n", "reference": "A?<Esc>ZZ"},
        {"id": "capped", "start": "a\n", "target": "b\n", "reference": "rbZZ"},
        {"id": "unsaid", "start": "ab\n", "target": "bxyz\n", "reference": "x<Right>axyz<Esc>ZZ",
         "reference_notation": "golf"},
        {"id": "broken", "start": "a line\n", "target": "a line!\n", "reference": "A!<Escape>ZZ"},
        {"id": "open", "start": "a line\n", "target": "a line!\n"},
    )  # fmt: skip
    ran = vimlib("verify", "--suite", suite)
    assert ran.code == 1
    assert ran.out == "mine: 1/5 verified under bench and golf (1 tasks have no reference)\n"
    under = {}
    for line in ran.said:
        _, task, said = line.split(": ", 2)
        under[task, said.split(" under ")[1].split()[0]] = said.partition("(")[2]
    assert len(under) == len(ran.said)
    assert {key for key in under if key[0] != "unsaid"} == {
        ("wrong", "bench"),
        ("wrong", "golf"),
        ("capped", "golf"),
        ("broken", "bench"),
        ("broken", "golf"),
    }
    assert under["wrong", "bench"] == "the file it leaves is not the target)"
    assert "4 keys are as many as the target has characters" in under["capped", "golf"]
    assert under["broken", "bench"].startswith("bad_keys: ") and "<Escape>" in under["broken", "bench"]
    assert under["unsaid", "bench"] == "its reference cannot be said in this notation)"


def test_verify_fails_where_there_is_nothing_to_verify(vimlib: Command, tmp_path: Path) -> None:
    suite = write_rows(tmp_path / "mine.jsonl", {"id": "open", "start": "a", "target": "b"})
    ran = vimlib("verify", "--suite", suite)
    assert (ran.code, ran.said) == (1, ["mine: no task has a reference; there is nothing to verify"])


def test_verify_goes_on_after_a_suite_that_is_bad(vimlib: Command, tmp_path: Path) -> None:
    bad = write_rows(tmp_path / "bad.jsonl", {"id": "a", "start": "x"})
    ran = vimlib("verify", "--suite", bad, "--suite", write_suite(tmp_path / "good.jsonl", tasks=2))
    assert (ran.code, ran.out) == (3, "good: 2/2 verified under bench and golf\n")
    [line] = ran.said
    assert line.startswith(f"{bad}, line 1: ")


def test_vimbench_s_own_references_pass(vimlib: Command, shared_data: Path) -> None:
    ran = vimlib("verify", "--suite", shared_data / "vimbench" / "seed_tasks.json")
    assert ran == Ran(0, "vimbench: 30/30 verified under bench\n", "")


# --- score


def test_vimbench_s_demo_gives_its_published_figures(vimlib: Command, shared_data: Path) -> None:
    folder = shared_data / "vimbench"
    ran = vimlib(
        *("score", "--suite", folder / "seed_tasks.json", "--fill-with-reference"),
        *("--solver", "reference", folder / "demo_solutions.json"),
    )
    assert ran.code == 0 and ran.error == ""
    assert [row[:4] for row in ran.rows] == [
        ["reference", "bench", "30/30", "1.000"],
        ["verbose", "bench", "30/30", "0.966"],
        ["sloppy", "bench", "24/30", "1.000"],
    ]


def test_score_of_answers_no_solver_and_no_store(vimlib: Command, tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "little.jsonl")
    answers = write_answers(tmp_path / "mine.json", t0="A!", t1="x", t2="")
    ran = vimlib("score", "--suite", suite, answers)
    assert (ran.code, ran.rows[0][:3]) == (0, ["mine", "bench", "1/3"])
    golf = vimlib("score", "--suite", suite, "--protocol", "golf", answers)
    assert [row[:4] for row in golf.rows] == [["mine", "golf", "0/3", "unavailable"]]
    assert {path.name for path in tmp_path.iterdir()} == {"little.jsonl", "mine.json"}


def test_score_takes_what_it_can_and_names_the_rest(vimlib: Command, tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "little.jsonl")
    good = write_answers(tmp_path / "good.json", t0="A!", t1="\ud800")
    bad = tmp_path / "bad.json"
    bad.write_bytes(b'{"t0":\n "\xff"}')
    empty = tmp_path / "empty"
    empty.mkdir()
    ran = vimlib("score", "--suite", suite, "--suite", tmp_path / "no.jsonl", bad, good, empty)
    assert ran.code == 3
    assert [row[:3] for row in ran.rows] == [["good", "bench", "1/2"]]
    assert [line.partition(": ")[0] for line in ran.said] == [
        str(tmp_path / "no.jsonl"),
        str(empty),
        f"{bad}, line 2",
        str(good),
    ]


# --- replay


def test_batch_reproduces_the_verdicts_of_the_reference_verifier(
    vimlib: Command, shared_data: Path, tmp_path: Path
) -> None:
    folder = shared_data / "vimgolf"
    challenges = {row["id"]: row for row in read_rows((folder / "challenges.jsonl").read_text())}
    peers = [
        row
        for row in read_rows((folder / "peer_verdicts.jsonl").read_text())
        if not row["keys"].startswith(TIMING_OUT)
    ]
    assert len(peers) == 291
    tasks = [challenges[row["challenge_id"]] for row in peers]
    batch = write_rows(
        tmp_path / "in.jsonl",
        *(
            {"id": str(n), "start": task["input"], "target": task["target"], "keys": row["keys"]}
            for n, (row, task) in enumerate(zip(peers, tasks, strict=True))
        ),
    )
    ran = vimlib("replay", "--protocol", "golf", "--batch", batch, "--out", tmp_path / "out.jsonl")
    assert ran == Ran(0, "", "")
    rows = read_rows((tmp_path / "out.jsonl").read_text())
    assert [row["id"] for row in rows] == [str(n) for n in range(291)]
    assert {tuple(row) for row in rows} == {tuple(FIELDS)}
    assert [row["correct"] for row in rows] == [row["correct"] for row in peers]
    for row, peer, task in zip(rows, peers, tasks, strict=True):
        over = row["keystrokes"] >= len(task["target"])
        assert row["over_cap"] is over
        assert row["passed"] is (peer["correct"] and not over and peer["keys"] != "")
        assert (row["partial"] == 1.0) is peer["correct"]
    assert any(row["correct"] and not row["passed"] for row in rows)
    [crashed] = [n for n, peer in enumerate(peers) if peer["status"].startswith("harness_error")]
    assert (rows[crashed]["correct"], rows[crashed]["passed"]) == (False, False)
    assert "\\x" in rows[crashed]["final"]


def test_batch_says_what_vim_said(vimlib: Command, tmp_path: Path) -> None:
    batch = write_rows(
        tmp_path / "in.jsonl",
        {"id": "latin1", "start": "x\n", "target": "xé\n", "keys": ":set fenc=latin1<CR>Aé<Esc>:w<CR>:q<CR>"},
        {"id": "error", "start": "x\n", "target": "y\n", "keys": "ry:bogus<CR>i"},
        {"id": "notation", "start": "x\n", "target": "y\n", "keys": "ry<Nope>"},
        {"id": "surrogate", "start": "x\n", "target": "y\n", "keys": "ry\ud800"},
        {"id": "again", "start": "x\n", "target": "x\n", "keys": "ry:bogus<CR>i"},
    )
    ran = vimlib("replay", "--protocol", "bench", "--batch", batch)
    assert (ran.code, ran.error) == (0, "")
    rows = {row["id"]: row for row in read_rows(ran.out)}
    assert list(rows) == ["latin1", "error", "notation", "surrogate", "again"]
    assert (rows["latin1"]["correct"], rows["latin1"]["final"]) == (False, "x\\xe9\n")
    assert (rows["error"]["passed"], rows["error"]["over_cap"]) == (True, None)
    assert rows["error"]["vim_error"].startswith("E492: ")
    assert (rows["again"]["passed"], rows["again"]["final"]) == (False, "y\n")
    for name in ("notation", "surrogate"):
        assert (rows[name]["outcome"], rows[name]["passed"], rows[name]["final"]) == ("bad_keys", False, None)


def test_bad_rows_are_named_and_the_rest_replayed(vimlib: Command, tmp_path: Path) -> None:
    good = {"id": "a", "start": "x\n", "target": "y\n", "keys": "ry"}
    batch = write_rows(
        tmp_path / "in.jsonl",
        good,
        b'{"id": "b", "start": "\xff", "target": "y", "keys": "ry"}',
        b'{"id": ',
        b"",
        b"[" * 100_000,
        b"[]",
        {"id": "b", "start": "x\n", "target": "y\n"},
        {**good, "id": 7},
        {**good, "id": "c", "start": "\ud800"},
        good,
        {**good, "id": "d"},
    )
    ran = vimlib("replay", "--protocol", "bench", "--batch", batch)
    assert ran.code == 3
    assert [row["id"] for row in read_rows(ran.out)] == ["a", "d"]
    wrong = [
        (2, "byte 0xff is not UTF-8"),
        (3, "is not JSON"),
        (5, "is JSON nested too deeply"),
        (6, "is another kind of JSON"),
        (7, "field 'keys' is missing"),
        (8, "field 'id' is no text"),
        (9, "field 'start' holds a lone surrogate"),
        (10, "id 'a' is on line 1 already"),
    ]
    for line, (number, why) in zip(ran.said, wrong, strict=True):
        assert line.startswith(f"{batch}, line {number}: {why}") and "expected" in line


@pytest.mark.parametrize("content", [None, b"", b"\n\n"])
def test_a_batch_without_rows_is_said(vimlib: Command, tmp_path: Path, content: bytes | None) -> None:
    batch = tmp_path / "in.jsonl"
    if content is not None:
        batch.write_bytes(content)
    ran = vimlib("replay", "--protocol", "bench", "--batch", batch, "--out", tmp_path / "out.jsonl")
    assert ran.code == 3 and ran.out == ""
    [line] = ran.said
    assert line.startswith(f"vimlib: {batch}: ") and "expected" in line
    assert not (tmp_path / "out.jsonl").exists()


def test_results_are_written_whole_or_not_at_all(vimlib: Command, tmp_path: Path) -> None:
    batch = write_rows(tmp_path / "in.jsonl", {"id": "a", "start": "x\n", "target": "y\n", "keys": "ry"})
    (tmp_path / "folder").mkdir()
    for out in (tmp_path / "nowhere" / "out.jsonl", tmp_path / "folder"):
        ran = vimlib("replay", "--protocol", "bench", "--batch", batch, "--out", out)
        [line] = ran.said
        assert ran.code == 1 and line.startswith(f"vimlib: {out}: ")
    assert {path.name for path in tmp_path.iterdir()} == {"in.jsonl", "folder"}


# --- trace


def test_trace_prints_the_state_after_each_key(vimlib: Command, tmp_path: Path) -> None:
    start = tmp_path / "start.txt"
    start.write_bytes(b"one\r\ntwo\n")
    ran = vimlib("trace", "--protocol", "bench", "--file", start, "jx:bogus<CR>ZZ")
    assert (ran.code, ran.error) == (0, "")
    lines = ran.out.splitlines()
    assert lines[:3] == ["   0  (start)     n          1,1", "      + one\\r", "      + two"]
    assert lines[4:7] == ["   2  x           n          2,1", "      - two", "      + wo"]
    assert lines[-3].startswith("   9  <CR>        n          2,1") and "E492: " in lines[-3]
    assert lines[-1].startswith("  11  Z           finished   -")


def test_trace_starts_from_a_task(vimlib: Command) -> None:
    task = load_suite("seed").tasks[0]
    ran = vimlib("trace", "--protocol", "golf", "--task", task.id, "ZZ")
    assert ran.code == 0
    assert f"      + {task.start.splitlines()[0]}" in ran.out.splitlines()


def test_trace_without_a_start_or_with_bad_keys_is_said(vimlib: Command, tmp_path: Path) -> None:
    latin1 = tmp_path / "latin1.txt"
    latin1.write_bytes(b"\xe9\n")
    for given, said in (
        (("--file", latin1, "x"), f"{latin1}: cannot be read as UTF-8"),
        (("--file", tmp_path / "none", "x"), f"{tmp_path / 'none'}: cannot be read"),
        (("--task", "none", "x"), "has no task 'none'"),
        (("--file", __file__, "x<Nope>"), "found '<Nope>', expected <Esc>"),
    ):
        ran = vimlib("trace", "--protocol", "bench", *given)
        [line] = ran.said
        assert (ran.code, ran.out) == (1, "") and said in line


# --- doctor, confinement, Vim


def test_doctor_says_what_there_is(vimlib: Command) -> None:
    ran = vimlib("doctor")
    assert ran.code == 0
    assert f"Vim {find_vim().build.version}" in ran.out
    assert [line.split()[0] for line in ran.out.splitlines()] == ["ok"] * 5


def test_without_confinement_nothing_is_replayed_unless_asked_in_so_many_words(
    no_bwrap: Path, tmp_path: Path
) -> None:
    options = ["--suite", write_suite(tmp_path / "little.jsonl", tasks=2), "--no-cache"]
    store_and_out = ["--database", tmp_path / "s.duckdb", "--out", tmp_path / "reports"]
    for command in (["verify", *options], ["report", *options, *store_and_out]):
        ran = installed(*command, path=no_bwrap)
        [line] = ran.said
        assert (ran.code, ran.out) == (5, "")
        assert "bwrap" in line and "vimlib doctor" in line and "--unconfined" in line
    assert {path.name for path in tmp_path.iterdir()} == {"little.jsonl"}
    free = installed("verify", *options, "--unconfined", path=no_bwrap)
    assert free == Ran(0, "little: 2/2 verified under bench and golf\n", "")
    doctor = installed("doctor", path=no_bwrap)
    assert doctor.code == 5 and "missing  bwrap: not found; install the package bubblewrap" in doctor.out


def test_without_vim_nothing_is_replayed(no_vim: Path, tmp_path: Path) -> None:
    options = ["--suite", write_suite(tmp_path / "little.jsonl", tasks=2), "--no-cache"]
    store_and_out = ["--database", tmp_path / "s.duckdb", "--out", tmp_path / "reports"]
    for command in (["verify", *options], ["report", *options, *store_and_out]):
        ran = installed(*command, path=no_vim)
        [line] = ran.said
        assert (ran.code, ran.out) == (6, "")
        assert "'vim' is not on the PATH; install Vim 8.2 or newer" in line
    assert {path.name for path in tmp_path.iterdir()} == {"little.jsonl"}
    doctor = installed("doctor", path=no_vim)
    assert doctor.code == 6 and "missing  Vim: " in doctor.out


@pytest.mark.parametrize(("option", "recorded"), [(["--unconfined"], "none"), ([], "namespaces+seccomp")])
def test_each_replay_records_its_confinement(
    vimlib: Command, tmp_path: Path, option: list[str], recorded: str
) -> None:
    suite = write_suite(tmp_path / "little.jsonl")
    database = tmp_path / "s.duckdb"
    ran = vimlib("load", "--suite", suite, "--database", database, "--solver", "noop", *option)
    assert ran.code == 0
    con = store.connect(database)
    assert con.execute("SELECT DISTINCT confinement FROM replays").fetchall() == [(recorded,)]
    con.close()


# --- load, and bad input


def test_load_lists_what_it_stored(vimlib: Command, tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "little.jsonl")
    answers = write_answers(tmp_path / "mine.json", t0="A!", t1="x")
    given = ["load", answers, "--suite", suite, "--database", tmp_path / "s.duckdb", "--solver", "noop"]
    first, second = vimlib(*given), vimlib(*given)
    assert (first.code, first.error) == (second.code, second.error) == (0, "")
    [_, run, *solvers, _] = first.out.splitlines()[1:]
    assert run.split()[:3] == ["mine.json", "solutions", "mine"]
    assert run.split()[-4:] == ["2", "2", "0", "1"]
    assert [line.split()[-3:-1] for line in solvers] == [["3", "0"], ["3", "0"]]
    [_, again, *others, summary] = second.out.splitlines()[1:]
    assert again.split()[-4:] == ["2", "0", "0", "1"]
    assert [line.split()[-3:-1] for line in others] == [["0", "0"], ["0", "0"]]
    assert " 0 done now" in summary


def cut_log(path: Path) -> str:
    with zipfile.ZipFile(path, "w") as log:
        log.writestr("_journal/start.json", "{}" * 1000)
    path.write_bytes(path.read_bytes()[:-30])
    return f"{path}: begins as an Inspect log"


def no_log(path: Path) -> str:
    path.write_text("just text")
    return f"{path}: is no zip file; expected an Inspect log"


def unknown_task(path: Path) -> str:
    write_answers(path.with_suffix(".json"), elsewhere="x")
    return f"{path.with_suffix('.json')}: answers 'bad' name 1 tasks"


def not_utf8(path: Path) -> str:
    path.with_suffix(".json").write_bytes(b'{"t0":\n"\xff"}')
    return f"{path.with_suffix('.json')}, line 2: byte 0xff is not UTF-8; expected"


def empty_folder(path: Path) -> str:
    path.mkdir()
    return f"{path}: no .eval, .json, .jsonl or .csv file here or below; expected"


def missing_file(path: Path) -> str:
    return f"{path}: no such file or folder; expected"


@pytest.mark.parametrize("make", [cut_log, no_log, unknown_task, not_utf8, empty_folder, missing_file])
def test_a_bad_source_is_one_line_and_the_rest_is_loaded(
    vimlib: Command, tmp_path: Path, make: Callable[[Path], str]
) -> None:
    bad = tmp_path / "bad.eval"
    said = make(bad)
    source = bad.with_suffix(".json") if bad.with_suffix(".json").exists() else bad
    suite = write_suite(tmp_path / "little.jsonl")
    answers = write_answers(tmp_path / "mine.json", t0="A!")
    ran = vimlib(
        *("load", source, answers, "--suite", suite),
        *("--database", tmp_path / "s.duckdb", "--solver", "noop"),
    )
    assert ran.code == 3
    [line] = ran.said
    assert line.startswith(said)
    [_, rejected, *loaded, _] = ran.rows
    assert rejected[0].endswith(source.name) and rejected[-1].split()[-1] == line.split()[-1]
    assert [row[2] for row in loaded] == ["mine", "noop", "noop"]


TASK = {"id": "a", "start": "x", "target": "y"}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([TASK, {"id": "b", "start": "x"}], "line 2: field 'target' is missing"),
        ([TASK, TASK], "line 2: id 'a' is already on line 1; expected"),
        ([TASK, b'{"id": "\xff"}'], "line 2: byte 0xff is not UTF-8; expected"),
        ([b"{"], "line 1: not JSON"),
    ],
    ids=["missing field", "duplicate id", "not UTF-8", "not JSON"],
)
def test_a_bad_suite_is_one_line_and_the_rest_is_loaded(
    vimlib: Command, tmp_path: Path, rows: list[Any], said: str
) -> None:
    bad, suite = write_rows(tmp_path / "bad.jsonl", *rows), write_suite(tmp_path / "little.jsonl")
    ran = vimlib(
        *("load", "--suite", bad, "--suite", suite),
        *("--database", tmp_path / "s.duckdb", "--solver", "noop"),
    )
    assert ran.code == 3
    [line] = ran.said
    assert line.startswith(f"{bad}, {said}")
    [suites, rejected, *loaded, _] = ran.rows
    assert (suites[2], rejected[0]) == ("little", str(bad) if len(str(bad)) <= 48 else rejected[0])
    assert [row[2] for row in loaded] == ["noop", "noop"]


def test_nothing_but_bad_input_stores_nothing(vimlib: Command, tmp_path: Path) -> None:
    ran = vimlib("load", tmp_path / "none.eval", "--database", tmp_path / "s.duckdb")
    [line] = ran.said
    assert (ran.code, ran.out) == (3, "")
    assert line.startswith("vimlib: nothing to load: ") and str(tmp_path / "none.eval") in line
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_solver_is_named_before_any_work(vimlib: Command, tmp_path: Path) -> None:
    places = ["--database", tmp_path / "s.duckdb", "--out", tmp_path / "reports"]
    for command in (["load", *places[:2]], ["report", *places], ["score"]):
        ran = vimlib(*command, "--solver", "bogus")
        [line] = ran.said
        assert ran.code == 1 and "'bogus'; there are diff, noop, reference, retype" in line
    assert list(tmp_path.iterdir()) == []


# --- what others wrote is shown, never obeyed


def test_no_terminal_escape_reaches_the_terminal(vimlib: Command, tmp_path: Path) -> None:
    named = write_suite(tmp_path / f"{ESCAPES}.jsonl")
    sets = tmp_path / f"{ESCAPES}.json"
    sets.write_text(json.dumps({ESCAPES: {"t0": f"A{ESCAPES}"}, "\x9b2J": {"t1": "\ud800"}}))
    bad = tmp_path / f"{ESCAPES}.eval"
    bad.write_text(ESCAPES)
    batch = write_rows(
        tmp_path / "in.jsonl", {"id": ESCAPES, "start": "x", "target": "y", "keys": f"i{ESCAPES}"}
    )
    start = tmp_path / "start.txt"
    start.write_text(ESCAPES)
    database = tmp_path / "s.duckdb"
    runs = [
        vimlib("verify", "--suite", named),
        vimlib("score", "--suite", named, sets, bad),
        vimlib("load", "--suite", named, sets, bad, "--database", database, "--solver", "noop"),
        vimlib("replay", "--protocol", "golf", "--batch", batch),
        vimlib("trace", "--protocol", "golf", "--file", start, f"O{ESCAPES}<Esc>:{ESCAPES}<NL>"),
        vimlib("trace", "--protocol", "golf", "--task", ESCAPES, "x"),
    ]
    assert [ran.code for ran in runs] == [0, 3, 3, 0, 0, 1]
    for ran in runs:
        shown = ran.out + ran.error
        assert "owned" in shown
        assert all(character.isprintable() or character == "\n" for character in shown)
