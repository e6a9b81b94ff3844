"""The store under what happens to it: killed loads, readers, second loads, odd text, odd files."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import gzip
import os
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from storing import FAIL, PASS, VIM, fill, judge, make_attempt, make_replay, make_run, make_suite, sha256

from vimlib import store
from vimlib.records import (
    AttemptStatus,
    Outcome,
    Protocol,
    RunKind,
    Score,
    TokenUsage,
    Track,
    TurnState,
    VimBuild,
    VimErrorMessage,
)
from vimlib.store import Change, connect, query, replacing

DATA = Path(__file__).parent / "data"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store" / "vimlib.duckdb"


def beside(path: Path) -> list[str]:
    """Files in the folder of the store that are neither it nor its lock."""
    return sorted(p.name for p in path.parent.iterdir() if p.name not in (path.name, f".{path.name}.lock"))


def start(program: str, *arguments: str) -> subprocess.Popen[str]:
    """Another process that runs a program with these helpers at hand."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])},
    )


# --- what is stored ---------------------------------------------------------------------


def test_everything_comes_back_joined_by_key(path: Path) -> None:
    suite = make_suite(tasks=2)
    run = make_run(
        suite,
        [
            make_attempt("t2", completion="a ```fence```", stop_reason="stop", source_correct=False),
            make_attempt(
                "t1",
                status=AttemptStatus.PROVIDER_ERROR,
                completion=None,
                keys=None,
                error="overloaded",
                usage=TokenUsage(),
                seconds=None,
            ),
        ],
    )
    with replacing(path) as writer:
        assert writer.add_suite(suite) is Change.ADDED
        assert writer.add_run(run) is Change.ADDED
        judge(writer, run, {("t2", 1, 1): (PASS, Outcome.UNFINISHED)})
    with connect(path) as con:
        failed, passed = query(con, "attempts_scored").to_dict("records")
        run_row = con.sql("SELECT created_utc, settings, packages FROM runs").fetchall()
    assert (failed["task_id"], failed["status"], failed["error"]) == ("t1", "provider_error", "overloaded")
    assert failed["scored"] is False
    for unknown in ("keys", "outcome", "passed", "partial", "total_tokens", "seconds", "source_correct"):
        assert failed[unknown] is None or failed[unknown] != failed[unknown] or str(failed[unknown]) == "<NA>"
    assert passed["passed"] is True
    assert passed["source_correct"] is False
    assert (passed["outcome"], passed["vim_version"], passed["confinement"]) == (
        "unfinished",
        VIM.version,
        "full",
    )
    assert (passed["keystrokes"], passed["efficiency"], passed["total_tokens"]) == (8, 0.5, 110)
    assert passed["suite_name"] == "little"
    assert passed["source_sha256"] == run.source_sha256
    assert run_row == [
        (
            datetime.datetime(2025, 5, 6, 5, 8, 9),
            '{"max_tokens": null, "temperature": 0.0}',
            '{"inspect_ai": "0.3.285"}',
        )
    ]


def test_every_closed_set_fits_and_nothing_else(path: Path) -> None:
    suite = make_suite(tasks=len(AttemptStatus))
    attempts = [
        make_attempt(task.id, status=status) for task, status in zip(suite.tasks, AttemptStatus, strict=True)
    ]
    with replacing(path) as writer:
        writer.add_suite(suite)
        for kind in RunKind:
            for protocol in Protocol:
                writer.add_run(
                    make_run(suite, attempts, id=f"{kind}{protocol}", kind=kind, protocol=protocol)
                )
        writer.add_replays(make_replay(outcome, outcome) for outcome in Outcome)
    with pytest.raises(store.BadRows), replacing(path) as writer:
        writer.add_run(make_run(suite, [make_attempt("t1", epoch=0)]))
    with pytest.raises(store.BadRows), replacing(path) as writer:
        writer.add_run(make_run(suite, attempts, kind="human"))


def test_replays_come_back_as_they_were(path: Path) -> None:
    full = make_replay(
        "k1",
        Outcome.BLOCKED,
        final=bytes(range(256)) * 3,
        mode="niI",
        cursor=(3, 17),
        buffer="unsaved \ud83d \U0010fffd \x00 text",
        first_error=VimErrorMessage(486, "E486: Pattern not found: \udcff"),
        last_error=VimErrorMessage(None, "odd"),
        blocked=("openat /etc/passwd", "socket"),
        detail="line 'quoted'",
    )
    bare = make_replay("k2", Outcome.BAD_KEYS, final=None)
    empty = make_replay("k3", final=b"")
    with replacing(path) as writer:
        assert writer.add_replays([full, bare, empty, full]) == 3
        assert writer.replays(["k1", "nowhere"]) == {"k1": full}
    with connect(path) as con:
        assert store.read_replays(con, ["k1", "k2", "k3"]) == {"k1": full, "k2": bare, "k3": empty}


def test_a_replay_run_again_replaces_the_old_one_if_it_tells_something_else(path: Path) -> None:
    slow = make_replay("k", Outcome.TIMEOUT, final=None)
    with replacing(path) as writer:
        writer.add_replays([slow])
    with replacing(path) as writer:
        assert writer.add_replays([dataclasses.replace(slow, wall_seconds=9.0)]) == 0
        assert not writer.changed
    with replacing(path) as writer:
        assert writer.add_replays([make_replay("k")]) == 1
        assert writer.changed
    with connect(path) as con:
        assert store.read_replays(con, ["k"])["k"].outcome is Outcome.FINISHED


@pytest.mark.parametrize(
    "text",
    [
        'it\'s "quoted" `back` $dollar {brace} %s ?1',
        "'; DROP TABLE attempts; --",
        "nul \x00 in the middle\x00",
        "high \ud83d low \udc00 pair \U0001f600",
        "\U0010fffdD83D is not a surrogate, \ud83d is",
        "",
        " \t\r\n\u2028\ufeff\x1b",
    ],
)
def test_hostile_text_is_stored_without_loss(path: Path, text: str) -> None:
    suite = make_suite(tasks=1)
    task = dataclasses.replace(suite.tasks[0], id=f"id{text}", start=text, title=text)
    suite = dataclasses.replace(suite, tasks=(task,), name=f"s{text}")
    run = make_run(
        suite,
        [make_attempt(task.id, completion=text, keys=text, stop_reason=text, error=text)],
        id=f"run{text}",
        name=f"model{text}",
        settings={"stop": [text], "odd": float("nan"), "when": datetime.date(2024, 1, 1)},
    )
    fill(path, suite, run)
    with connect(path) as con:
        row = query(con, "attempts_scored", run_id=run.id, task_id=task.id).iloc[0]
        completion, start_text = con.sql("SELECT completion, start FROM attempts, tasks").fetchall()[0]
    for found in (row["keys"], row["error"], row["title"], completion, start_text):
        assert store.decode_text(found) == text
    assert store.decode_text(row["name"]) == run.name
    assert row["passed"]


@given(st.text(st.characters(exclude_categories=()) | st.sampled_from("\ud800\udfff\U0010fffdFD0")))
def test_stored_text_is_valid_and_reversible(text: str) -> None:
    encoded = store.encode_text(text)
    encoded.encode("utf-8")
    assert store.decode_text(encoded) == text


def test_tokens_that_nobody_reported_stay_unknown(path: Path) -> None:
    suite = make_suite(tasks=2)
    silent = [make_attempt(task.id, usage=TokenUsage(), seconds=None) for task in suite.tasks]
    partly = [silent[0], make_attempt("t2", usage=TokenUsage(input_tokens=0, output_tokens=7))]
    fill(path, suite, make_run(suite, silent, id="silent"), make_run(suite, partly, id="partly"))
    with connect(path) as con:
        frame = query(con, "run_overview").set_index("run_id")
    assert frame["input_tokens"].isna()["silent"]
    assert frame["seconds"].isna()["silent"]
    assert frame["input_tokens_n"]["silent"] == 0
    assert (frame["input_tokens"]["partly"], frame["input_tokens_n"]["partly"]) == (0, 1)
    assert (frame["output_tokens"]["partly"], frame["total_tokens_n"]["partly"]) == (7, 0)


# --- loading again ----------------------------------------------------------------------


def test_loading_the_same_twice_leaves_the_very_same_file(path: Path) -> None:
    suite, run = make_suite(), make_run(make_suite())
    fill(path, suite, run)
    before, stamp = path.read_bytes(), path.stat()
    with replacing(path) as writer:
        assert writer.add_suite(suite) is Change.UNCHANGED
        assert writer.add_run(run) is Change.UNCHANGED
    fill(path, suite, run)
    assert path.read_bytes() == before
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (stamp.st_ino, stamp.st_mtime_ns)


def test_a_copy_under_another_name_is_the_same_source(path: Path) -> None:
    suite, run = make_suite(), make_run(make_suite())
    fill(path, suite, run)
    with replacing(path) as writer:
        assert (
            writer.add_suite(dataclasses.replace(suite, origin="elsewhere/little.jsonl")) is Change.UNCHANGED
        )
        assert writer.add_run(dataclasses.replace(run, source="copy.eval")) is Change.UNCHANGED


def test_a_run_from_another_source_replaces_the_old_with_its_scores(path: Path) -> None:
    suite = make_suite()
    first = make_run(suite)
    second = dataclasses.replace(first, source_sha256=sha256("rerun"), attempts=first.attempts[:2])
    other = make_run(suite, id="run-2", source="b.eval", source_sha256=sha256("b.eval"))
    fill(path, suite, first, other)
    with replacing(path) as writer:
        assert writer.add_run(second) is Change.REPLACED
        judge(writer, second, {("t1", 1, 1): (FAIL, Outcome.FINISHED)})
    with connect(path) as con:
        frame = query(con, "run_overview").set_index("run_id")
        sources = query(con, "sources_loaded", kind="runs")
    assert list(frame.loc["run-1", ["attempts", "scored", "unscored", "passed"]]) == [2, 1, 1, 0]
    assert list(frame.loc["run-2", ["attempts", "scored", "passed"]]) == [4, 4, 4]
    assert set(sources["source_sha256"]) == {sha256("rerun"), sha256("b.eval")}
    assert list(sources["attempts"]) == [2, 4]


def test_the_same_source_read_by_a_newer_rule_is_replaced(path: Path) -> None:
    suite, run = make_suite(), make_run(make_suite())
    fill(path, suite, run)
    with replacing(path) as writer:
        assert writer.add_run(dataclasses.replace(run, extraction="bench/fence-2")) is Change.REPLACED


def test_a_suite_that_differs_outside_its_hash_is_replaced_and_keeps_its_runs(path: Path) -> None:
    suite, run = make_suite(), make_run(make_suite())
    fill(path, suite, run)
    reworded = tuple(dataclasses.replace(task, instruction="in other words") for task in suite.tasks)
    with replacing(path) as writer:
        assert writer.add_suite(dataclasses.replace(suite, tasks=reworded)) is Change.REPLACED
    with connect(path) as con:
        assert con.sql("SELECT DISTINCT instruction FROM tasks").fetchall() == [("in other words",)]
        assert query(con, "run_overview")["passed"].to_list() == [4]


def test_two_versions_of_a_suite_stand_side_by_side(path: Path) -> None:
    old, new = make_suite(tasks=3), make_suite(tasks=5)
    fill(path, old, make_run(old, id="old"))
    fill(path, new, make_run(new, id="new"))
    with connect(path) as con:
        frame = query(con, "run_overview")
    assert frame[["run_id", "tasks_in_suite"]].to_numpy().tolist() == [["new", 5], ["old", 3]]


@pytest.mark.parametrize("wrong", ["twice", "no suite", "no task", "no attempt", "no replay", "no zone"])
def test_rows_that_contradict_each_other_are_refused_whole(path: Path, wrong: str) -> None:
    suite, run = make_suite(), make_run(make_suite())
    fill(path, suite, run)
    before = path.read_bytes()
    bad = dataclasses.replace(run, id="bad")
    with pytest.raises(store.BadRows) as caught, replacing(path) as writer:
        if wrong == "twice":
            writer.add_run(dataclasses.replace(bad, attempts=(*run.attempts, run.attempts[0])))
        elif wrong == "no suite":
            writer.add_run(dataclasses.replace(bad, suite_hash="nowhere"))
        elif wrong == "no task":
            writer.add_run(dataclasses.replace(bad, attempts=(make_attempt("t99"),)))
        elif wrong == "no attempt":
            writer.add_scores(run, [(make_attempt("t1", epoch=9), None, FAIL)])
        elif wrong == "no replay":
            writer.add_scores(run, [(run.attempts[0], "nowhere", FAIL)])
        else:
            writer.add_run(dataclasses.replace(bad, created=datetime.datetime(2025, 1, 1)))
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before
    assert beside(path) == []


# --- all or nothing ---------------------------------------------------------------------


@pytest.mark.parametrize("raised", [ValueError("odd"), KeyboardInterrupt(), SystemExit(3), OSError("theirs")])
def test_a_load_that_raises_changes_nothing(path: Path, raised: BaseException) -> None:
    suite = make_suite()
    fill(path, suite, make_run(suite))
    before = path.read_bytes()
    with pytest.raises(type(raised)) as caught, replacing(path) as writer:
        writer.add_run(make_run(suite, id="run-2"))
        raise raised
    assert caught.value is raised
    assert path.read_bytes() == before
    assert beside(path) == []


def test_a_first_load_that_raises_leaves_no_store(path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), replacing(path) as writer:
        writer.add_suite(make_suite())
        raise KeyboardInterrupt
    assert not path.exists()
    assert beside(path) == []


ENDLESS_LOAD = """
    import itertools, pathlib, sys
    from storing import fill, make_run, make_suite, make_attempt, judge, PASS, make_replay
    from vimlib.store import replacing
    path = pathlib.Path(sys.argv[1])
    suite = make_suite(tasks=200)
    with replacing(path) as writer:
        writer.add_suite(suite)
        for number in itertools.count():
            writer.add_run(make_run(suite, id=f"endless-{number}"))
            writer.add_replays(make_replay(f"{number}-{n}", final=bytes(2000)) for n in range(200))
            print("at work", flush=True)
"""


@pytest.mark.parametrize("delay", [0.0, 0.05, 0.2, 0.5])
def test_a_killed_load_loses_nothing_and_the_next_one_cleans_up(path: Path, delay: float) -> None:
    suite = make_suite()
    fill(path, suite, make_run(suite))
    before = path.read_bytes()
    process = start(ENDLESS_LOAD, str(path))
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "at work\n"
        time.sleep(delay)
        process.kill()
    finally:
        process.kill()
        process.communicate()
    assert path.read_bytes() == before
    assert beside(path) != []
    with connect(path) as con:
        assert query(con, "run_overview")["run_id"].to_list() == ["run-1"]
    fill(path, suite, make_run(suite, id="run-2"))
    assert beside(path) == []
    with connect(path) as con:
        assert query(con, "run_overview")["passed"].to_list() == [4, 4]


def test_loads_killed_at_thirty_random_moments_leave_whole_stores(path: Path) -> None:
    # Loads that end by themselves, killed at moments spread over their whole length: whichever
    # side of the replacement it hits, the store holds whole loads, each with all its rows, and never
    # fewer than before. Children are forked from a process that has imported everything, so that
    # thirty moments cost little; it opens no store itself, since DuckDB does not survive a fork.
    program = """
        import os, pathlib, random, signal, sys, time
        from storing import fill, make_run, make_suite
        from vimlib.store import connect, query

        path, draw, suite = pathlib.Path(sys.argv[1]), random.Random(7), make_suite(tasks=50)

        def forked(work):
            child = os.fork()
            if child == 0:
                try:
                    work()
                except BaseException as error:
                    print(type(error).__name__, error, flush=True)
                    os._exit(1)
                os._exit(0)
            return child

        def loads():
            for number in range(1000):
                fill(path, suite, make_run(suite, id=f"{moment}-{number}"))

        def whole():
            if not path.exists():
                return
            with connect(path) as con:
                frame = query(con, "run_overview")
            assert set(frame["attempts"]) == {50} and set(frame["passed"]) == {50}, frame
            known = path.with_name("known")
            before = set(known.read_text().splitlines()) if known.exists() else set()
            assert before <= set(frame["run_id"]), before - set(frame["run_id"])
            known.write_text("".join(f"{id}\\n" for id in frame["run_id"]))

        for moment in range(30):
            child = forked(loads)
            time.sleep(draw.uniform(0.0, 0.6))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            _, status = os.waitpid(forked(whole), 0)
            assert status == 0, moment
        print("all whole", flush=True)
    """
    process = start(program, str(path))
    said, _ = process.communicate(timeout=300)
    assert said.splitlines()[-1:] == ["all whole"], said
    path.with_name("known").unlink(missing_ok=True)
    fill(path, make_suite(), make_run(make_suite(), id="last"))
    assert beside(path) == []


def test_an_interrupt_among_queries_is_an_interrupt(path: Path) -> None:
    program = """
        import pathlib, sys
        from vimlib.store import replacing
        try:
            with replacing(pathlib.Path(sys.argv[1])) as writer:
                print("at work", flush=True)
                # Many short queries, as a load has: DuckDB may finish a task before it heeds a signal.
                while True:
                    writer.connection.execute("SELECT count(DISTINCT range) FROM range(300000)").fetchall()
        except KeyboardInterrupt:
            print("interrupted")
    """
    process = start(program, str(path))
    assert process.stdout is not None
    assert process.stdout.readline() == "at work\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (out, err) == ("interrupted\n", "")
    assert not path.exists()
    assert beside(path) == []


def test_a_large_load_holds_little_in_memory_and_still_takes_effect_at_once(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vimlib.store.writing._HELD_BYTES", 2_000_000)
    suite = make_suite()
    fill(path, suite, make_run(suite))
    before = path.read_bytes()
    held = "SELECT sum(memory_usage_bytes) FROM duckdb_memory() WHERE tag <> 'BASE_TABLE'"
    most = 0
    with pytest.raises(store.BadRows, match="scores by a replay"), replacing(path) as writer:
        for batch in range(10):
            writer.add_replays(make_replay(f"{batch}-{n}", final=os.urandom(50_000)) for n in range(20))
            most = max(most, *writer.connection.execute(held).fetchall()[0])
        [copy] = [name for name in beside(path) if not name.endswith(".wal")]
        assert path.with_name(copy).stat().st_size > len(before) + 5_000_000, (
            "what was written is in the copy"
        )
        run = make_run(suite, id="run-2")
        writer.add_run(run)
        writer.add_scores(run, [(run.attempts[0], "nowhere", PASS)])
    assert most < 6_000_000, "of 10 MB"
    assert path.read_bytes() == before
    assert beside(path) == []


# --- readers and second loads -----------------------------------------------------------


def test_a_reader_keeps_its_store_and_a_new_one_sees_the_new(path: Path) -> None:
    suite = make_suite()
    fill(path, suite, make_run(suite))
    with connect(path) as old:
        fill(path, suite, make_run(suite, id="run-2"))
        with connect(path) as new:
            assert len(query(new, "run_overview")) == 2
            assert len(query(old, "run_overview")) == 1
        fill(path, suite, make_run(suite, id="run-3"))
        assert len(query(old.cursor(), "attempts_scored")) == 4
    with connect(path) as con:
        assert len(query(con, "run_overview")) == 3


def test_a_reader_in_another_process_does_not_hinder_a_load(path: Path) -> None:
    suite = make_suite()
    fill(path, suite, make_run(suite))
    program = """
        import pathlib, sys
        from vimlib.store import connect, query
        con = connect(pathlib.Path(sys.argv[1]))
        print(len(query(con, "run_overview")), flush=True)
        sys.stdin.readline()
        print(len(query(con, "run_overview")), len(query(connect(pathlib.Path(sys.argv[1])), "run_overview")))
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "1\n"
    fill(path, suite, make_run(suite, id="run-2"))
    assert process.communicate("go\n", timeout=60)[0] == "1 2\n"


def test_a_connection_cannot_change_the_store(path: Path) -> None:
    fill(path, make_suite())
    before = path.read_bytes()
    with connect(path) as con:
        for statement in (
            "INSERT INTO store.vims VALUES ('a', 'b')",
            "DROP TABLE store.tasks",
            "DELETE FROM store.tasks",
        ):
            with pytest.raises(duckdb.Error):
                con.execute(statement)
        con.execute("CREATE TABLE mine AS SELECT task_id FROM tasks")
        assert con.sql("FROM mine").fetchall() == [("t1",), ("t2",), ("t3",), ("t4",)]
    assert path.read_bytes() == before


def test_a_second_load_in_another_process_waits_or_says_so(path: Path) -> None:
    suite = make_suite()
    program = """
        import pathlib, sys
        from storing import make_suite
        from vimlib.store import replacing
        with replacing(pathlib.Path(sys.argv[1])) as writer:
            writer.add_suite(make_suite())
            print("at work", flush=True)
            sys.stdin.readline()
    """
    first = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])},
    )
    assert first.stdout is not None
    assert first.stdin is not None
    assert first.stdout.readline() == "at work\n"
    with pytest.raises(store.StoreBusy, match="another load"), replacing(path, wait_seconds=0.2):
        pass
    assert len(beside(path)) >= 1, "the copy of the load that goes on must stay"
    first.stdin.write("go\n")
    first.stdin.flush()
    with replacing(path, wait_seconds=30) as writer:
        assert writer.add_suite(suite) is Change.UNCHANGED
        writer.add_run(make_run(suite))
    assert first.wait(30) == 0
    first.communicate()
    with connect(path) as con:
        assert query(con, "run_overview")["attempts"].to_list() == [4]


def test_a_second_load_in_the_same_process_is_refused_too(path: Path) -> None:
    with (
        replacing(path),
        pytest.raises(store.StoreBusy),
        replacing(path.parent / ".." / path.parent.name / path.name, wait_seconds=0.1),
    ):
        pass
    with replacing(path, wait_seconds=0.1):
        pass


def test_another_program_that_writes_to_the_store_is_noticed(path: Path) -> None:
    fill(path, make_suite())
    program = """
        import duckdb, sys
        con = duckdb.connect(sys.argv[1])
        con.execute("INSERT INTO vims VALUES ('a', 'b')")
        print("open", flush=True)
        sys.stdin.read()
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(store.StoreBusy):
            connect(path)
        with pytest.raises(store.StoreBusy), replacing(path):
            pass
    finally:
        process.kill()
        process.communicate()
    # Killed, it leaves a log of changes, which must not be folded into the next store.
    assert path.with_name(f"{path.name}.wal").exists()
    with pytest.raises(store.StoreBusy, match=r"\.wal"), replacing(path):
        pass


# --- files that are no store ------------------------------------------------------------


def test_no_store_says_how_to_make_one(path: Path) -> None:
    with pytest.raises(store.StoreMissing, match="vimlib load"):
        connect(path)
    assert not path.parent.exists()


@pytest.mark.parametrize("content", [b"", b"not a database\n" * 1000, b"PK\x03\x04", None])
def test_a_file_that_is_no_database_is_named_and_left_alone(path: Path, content: bytes | None) -> None:
    path.parent.mkdir(parents=True)
    if content is None:
        with contextlib.closing(sqlite3.connect(path)) as other:
            other.execute("CREATE TABLE t (i)")
            other.commit()
    else:
        path.write_bytes(content)
    before = path.read_bytes()
    with pytest.raises(store.NotAStore, match=path.name):
        connect(path)
    with pytest.raises(store.NotAStore) as caught, replacing(path):
        pass
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before
    assert beside(path) == []


def test_a_folder_in_the_stores_place_is_named(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(store.StoreError, match=path.name):
        connect(path)
    with pytest.raises(store.StoreError, match=path.name), replacing(path):
        pass


def test_someone_elses_database_is_left_alone(path: Path) -> None:
    path.parent.mkdir(parents=True)
    with duckdb.connect(str(path)) as other:
        other.execute("CREATE TABLE schema_info (other INTEGER)")
    with pytest.raises(store.NotAStore, match="not written by vimlib"):
        connect(path)
    with pytest.raises(store.NotAStore), replacing(path):
        pass


def test_another_version_of_the_tables_is_to_be_rebuilt(path: Path) -> None:
    fill(path, make_suite())
    with duckdb.connect(str(path)) as other:
        other.execute("UPDATE schema_info SET schema_version = 999")
    with pytest.raises(store.StoreOutdated, match=r"999.*delete the file and load again"):
        connect(path)
    with pytest.raises(store.StoreOutdated), replacing(path):
        pass


def other_storage(path: Path, version: int) -> None:
    """A store whose header says that it is written in another form: what a later DuckDB leaves."""
    fill(path, make_suite(), make_run(make_suite()))
    written = bytearray(path.read_bytes())
    assert written[8:12] == b"DUCK"
    written[12:20] = version.to_bytes(8, "little")
    # The header begins with DuckDB's checksum over the rest of its 4,096 bytes.
    checksum = 5381
    for (word,) in struct.iter_unpack("<Q", written[8:4096]):
        checksum ^= word * 0xBF58476D1CE4E5B9 % 2**64
    written[:8] = checksum.to_bytes(8, "little")
    path.write_bytes(written)


@pytest.mark.parametrize("which", ["0.8.1", "later"])
def test_a_database_of_another_duckdb_is_named_and_left_alone(path: Path, which: str) -> None:
    if which == "later":
        other_storage(path, 9_000)
        said = rf"written by DuckDB {re.escape(duckdb.__version__)} .*9000.*install duckdb=="
    else:
        # A table of one number, as DuckDB 0.8.1 wrote it.
        path.parent.mkdir(parents=True)
        path.write_bytes(gzip.decompress((DATA / "duckdb-0.8.1.gz").read_bytes()))
        said = r"written by another DuckDB .*version number 51; .*its release"
    before = path.read_bytes()
    for use in (connect, lambda given: replacing(given).__enter__()):
        with pytest.raises(store.OtherDuckDB, match=said) as caught:
            use(path)
        assert "\n" not in str(caught.value)
        assert "delete it and load again" in str(caught.value)
    assert path.read_bytes() == before
    assert beside(path) == []


def test_a_store_is_written_in_a_form_that_every_allowed_duckdb_reads(path: Path) -> None:
    fill(path, make_suite(), make_run(make_suite()))
    # 67 is the form of DuckDB 1.4, the oldest that pyproject.toml allows; later ones read it.
    assert int.from_bytes(path.read_bytes()[12:20], "little") <= 67


def test_a_damaged_store_is_not_taken_for_one_in_use(path: Path) -> None:
    fill(path, make_suite())
    damaged = bytearray(path.read_bytes())
    damaged[3000] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(store.NotAStore, match="does not match stored checksum.*delete it and load again"):
        connect(path)


def test_a_cut_store_is_named_and_left_alone(path: Path) -> None:
    suite = make_suite(tasks=500)
    fill(path, suite, make_run(suite))
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(store.StoreError):
        connect(path)
    with pytest.raises(store.StoreError), replacing(path):
        pass
    assert beside(path) == []


@pytest.mark.parametrize("place", ["file/s.duckdb", "/proc/s.duckdb"])
def test_a_place_that_cannot_be_written_to_is_one_line(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(store.StoreError, match="cannot write") as caught, replacing(tmp_path / place):
        pass
    assert "\n" not in str(caught.value)


def test_a_full_or_read_only_disk_is_one_line_and_changes_nothing(tmp_path: Path) -> None:
    """A real file system of 14 MB, mounted where only the child sees it, then mounted read-only."""
    disk, copy = tmp_path / "disk", tmp_path / "copy.duckdb"
    disk.mkdir()
    program = """
        import os, pathlib, shutil, subprocess, sys
        from storing import fill, make_replay, make_run, make_suite
        from vimlib.store import StoreError, connect, query, replacing
        path, copy = pathlib.Path(sys.argv[1], "s.duckdb"), pathlib.Path(sys.argv[2])
        suite = make_suite()
        fill(path, suite, make_run(suite))
        before = path.read_bytes()
        try:
            with replacing(path) as writer:
                for batch in range(40):
                    writer.add_replays(
                        make_replay(f"r{batch}-{n}", final=os.urandom(50_000)) for n in range(20)
                    )
        except StoreError as error:
            print(error)
        assert path.read_bytes() == before
        with connect(path) as con:
            print(query(con, "run_overview")["passed"].to_list())
        # Once there is room, what failed is done, and nothing of the failure is left.
        fill(path, suite, make_run(suite, id="run-2"))
        print(sorted(one.name for one in path.parent.iterdir()))
        shutil.copy(path, copy)
        # Then nothing may be written there any more.
        subprocess.run(["mount", "-o", "remount,ro", str(path.parent)], check=True)
        for id in ("run-2", "run-3"):
            try:
                fill(path, suite, make_run(suite, id=id))
            except StoreError as error:
                print(error)
        with connect(path) as con:
            print(query(con, "run_overview")["passed"].to_list())
    """
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare, to mount a small disk that nobody else sees")
    mount = 'mount -t tmpfs -o size=14m none "$1" && exec "$0" -c "$2" "$1" "$3"'
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", mount, sys.executable, str(disk), textwrap.dedent(program), str(copy)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])},
        timeout=120,
        check=False,
    )
    if re.search(r"unshare|mount:", done.stderr):
        pytest.skip(f"needs user namespaces and mounts in them: {done.stderr.strip()}")
    assert done.stderr == ""
    said, passed, left, *read_only, readable = done.stdout.splitlines()
    assert "cannot write the store" in said and re.search("space|disk", said), said
    assert (passed, left) == ("[4]", "['.s.duckdb.lock', 's.duckdb']")
    assert len(read_only) == 2 and all("cannot write the store: Read-only file" in one for one in read_only)
    assert readable == "[4, 4]"
    with connect(copy) as con:
        assert set(query(con, "run_overview")["run_id"]) == {"run-1", "run-2"}


def test_a_limit_of_file_sizes_is_one_line_and_changes_nothing(path: Path) -> None:
    suite = make_suite()
    fill(path, suite, make_run(suite))
    before = path.read_bytes()
    program = """
        import os, pathlib, resource, sys
        from storing import make_replay
        from vimlib.store import StoreError, replacing
        path = pathlib.Path(sys.argv[1])
        limit = path.stat().st_size + 200_000
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        try:
            with replacing(path) as writer:
                writer.add_replays(make_replay(f"r{n}", final=os.urandom(50_000)) for n in range(40))
        except StoreError as error:
            print(error)
    """
    out, err = start(program, str(path)).communicate(timeout=60)
    assert err == ""
    assert out.count("\n") == 1
    assert "cannot write the store" in out
    assert path.read_bytes() == before
    assert beside(path) == []


def test_loads_of_stores_with_names_alike_leave_each_other_alone(path: Path) -> None:
    with replacing(path.with_name(f"{path.name}.load-x")) as writer:
        fill(path, make_suite())
        writer.add_suite(make_suite())
    assert beside(path) == [f".{path.name}.load-x.lock", f"{path.name}.load-x"]


@pytest.mark.parametrize("name", ['it\'s a "store".duckdb', "späte Läufe.db", "-x;--.duckdb", "s.duckdb?x=1"])
def test_odd_names_of_the_store_work(tmp_path: Path, name: str) -> None:
    suite = make_suite()
    fill(tmp_path / name, suite, make_run(suite))
    with connect(tmp_path / name) as con:
        assert len(query(con, "run_overview")) == 1
    assert beside(tmp_path / name) == []


def test_a_link_to_the_store_stays_a_link_and_modes_stay(path: Path, tmp_path: Path) -> None:
    fill(path, make_suite())
    path.chmod(0o640)
    link = tmp_path / "link.duckdb"
    link.symlink_to(path)
    fill(link, make_suite(), make_run(make_suite()))
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    with connect(path) as con:
        assert len(query(con, "run_overview")) == 1


# --- views ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", store.VIEWS)
def test_each_view_has_the_columns_that_its_header_explains(path: Path, name: str) -> None:
    fill(path, make_suite())
    with connect(path) as con:
        assert query(con, name).columns.to_list() == list(store.view_columns(name))
    header = (Path(store.__file__).parent / "views" / f"{name}.sql").read_text(encoding="utf-8")
    assert "-- Grain: " in header
    assert "-- Order: " in header


def test_the_folder_holds_the_named_views_and_no_others() -> None:
    found = {file.stem for file in (Path(store.__file__).parent / "views").iterdir()}
    assert found == set(store.VIEWS)


def test_every_table_view_and_column_is_explained_in_the_database(path: Path) -> None:
    fill(path, make_suite(), make_run(make_suite()))
    with duckdb.connect(str(path), read_only=True) as plain:
        tables = dict(plain.sql("SELECT table_name, comment FROM duckdb_tables()").fetchall())
        views = dict(plain.sql("SELECT view_name, comment FROM duckdb_views() WHERE NOT internal").fetchall())
        mute = plain.sql(
            "SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal AND comment IS NULL"
        ).fetchall()
        # With any DuckDB program, under any name of the database, the views work.
        assert plain.sql("SELECT passed FROM run_overview").fetchall() == [(4,)]
    assert set(tables) == set(store.TABLES)
    assert set(views) == set(store.VIEWS)
    assert all(tables.values())
    assert all(views.values())
    assert mute == []


def test_views_of_an_older_vimlib_are_replaced(path: Path) -> None:
    fill(path, make_suite(), make_run(make_suite()))
    with duckdb.connect(str(path)) as other:
        other.execute("CREATE OR REPLACE VIEW run_overview AS SELECT 1 AS old")
        other.execute("UPDATE schema_info SET views_sha256 = 'old'")
    with connect(path) as con:
        assert query(con, "run_overview")["passed"].to_list() == [4]
    with replacing(path) as writer:
        assert writer.changed
    with duckdb.connect(str(path), read_only=True) as plain:
        assert plain.sql("SELECT passed FROM run_overview").fetchall() == [(4,)]


def test_unknown_views_and_columns_are_answered_with_the_known(path: Path) -> None:
    fill(path, make_suite())
    with connect(path) as con:
        with pytest.raises(store.UnknownView, match=r"no view 'overviews'.*run_overview.*versions"):
            query(con, "overviews")
        with pytest.raises(store.UnknownView, match="no view"):
            query(con, "runs; DROP TABLE runs")
        with pytest.raises(store.UnknownView, match=r"no column 'runid'.*run_id"):
            query(con, "run_overview", runid="x")


def test_parameters_choose_rows_and_are_never_sql(path: Path) -> None:
    suite = make_suite(tiers=(1, None))
    fill(path, suite, make_run(suite), make_run(suite, id="' OR true --"))
    with connect(path) as con:
        assert len(query(con, "run_overview", run_id="' OR true --")) == 1
        assert len(query(con, "run_overview", run_id="' OR 1=1 --")) == 0
        assert len(query(con, "attempts_scored", run_id=["run-1", "nowhere"], tier=None)) == 2
        assert len(query(con, "attempts_scored", tier={1, None})) == 8
        assert len(query(con, "attempts_scored", tier=[])) == 0
        assert query(con, "attempts_scored", run_id="run-1", passed=True)["place"].to_list() == [1, 2, 3, 4]


def test_types_do_not_depend_on_what_is_missing(path: Path) -> None:
    suite = make_suite()
    fill(path, suite, make_run(suite))
    with connect(path) as con:
        full, none = query(con, "attempts_scored"), query(con, "attempts_scored", run_id="nowhere")
    for frame in (full, none):
        assert str(frame["tier"].dtype) == "Int64"
        assert str(frame["passed"].dtype) == "boolean"
        assert str(frame["over_cap"].dtype) == "boolean"
        assert str(frame["partial"].dtype) == "float64"


def test_the_last_finished_attempt_counts_and_tokens_are_summed_over_all(path: Path) -> None:
    suite = make_suite(tasks=3)
    error: dict[str, Any] = {"status": AttemptStatus.PROVIDER_ERROR, "keys": None}
    attempts = [
        make_attempt("t1", attempt=1),
        make_attempt("t1", attempt=2),
        make_attempt("t1", attempt=3, **error),
        make_attempt("t2", attempt=1, **error),
        make_attempt("t2", attempt=2, **error),
        make_attempt("t3", epoch=1),
        make_attempt("t3", epoch=2, attempt=2),
    ]
    run = make_run(suite, attempts)
    with replacing(path) as writer:
        writer.add_suite(suite)
        writer.add_run(run)
        judge(
            writer,
            run,
            {
                ("t1", 1, 1): (PASS, Outcome.FINISHED),
                ("t1", 1, 2): (FAIL, Outcome.FINISHED),
                ("t3", 1, 1): (PASS, Outcome.FINISHED),
                ("t3", 2, 2): (PASS, Outcome.FINISHED),
            },
        )
    with connect(path) as con:
        counting = query(con, "attempts_scored", counts=True)
        row = query(con, "run_overview").iloc[0]
    assert counting[["task_id", "epoch", "attempt"]].to_numpy().tolist() == [
        ["t1", 1, 2], ["t2", 1, 2], ["t3", 1, 1], ["t3", 2, 2],
    ]  # fmt: skip
    assert (row["samples"], row["attempts"], row["tasks_attempted"], row["epochs"]) == (4, 7, 3, 2)
    assert (row["answered"], row["provider_errors"], row["scored"], row["passed"]) == (3, 1, 3, 2)
    assert (row["input_tokens"], row["input_tokens_n"]) == (700, 7)


def test_disagreements_list_what_the_source_saw_otherwise(path: Path) -> None:
    suite = make_suite()
    verdicts = (True, False, None, True)
    run = make_run(
        suite,
        [make_attempt(t.id, source_correct=v) for t, v in zip(suite.tasks, verdicts, strict=True)],
    )
    fill(path, suite, run, score=FAIL)
    with connect(path) as con:
        rows = query(con, "disagreements")
        row = query(con, "run_overview").iloc[0]
    assert rows["task_id"].to_list() == ["t1", "t4"]
    assert rows["source_correct"].all()
    assert not rows["passed"].any()
    assert (row["source_verdicts"], row["disagreements"]) == (3, 2)


def test_versions_show_each_vim_that_judged_a_run(path: Path) -> None:
    suite = make_suite(tasks=2)
    run = make_run(suite)
    newer = VimBuild("9.1.0", sha256("newer"))
    with replacing(path) as writer:
        writer.add_suite(suite)
        writer.add_run(run)
        writer.add_replays([make_replay("a"), make_replay("b", vim=newer)])
        writer.add_scores(
            run, [(run.attempts[0], "a", PASS), (run.attempts[1], "b", PASS)], fingerprint="bench-1"
        )
        writer.add_run(make_run(suite, id="unjudged"))
    with connect(path) as con:
        rows = query(con, "versions")
        overview = query(con, "run_overview").set_index("run_id")
    assert rows[["run_id", "replayed"]].to_numpy().tolist() == [["run-1", 1], ["run-1", 1], ["unjudged", 0]]
    assert rows["vim_version"].isna().to_list() == [False, False, True]
    assert overview["vim_version"]["run-1"] == "9.0.1378, 9.1.0"
    assert overview["protocol_fingerprint"]["run-1"] == "bench-1"


def test_a_hundred_thousand_attempts_are_counted_as_they_are(path: Path) -> None:
    suite = make_suite(tasks=1000)
    run = make_run(
        suite,
        [make_attempt(t.id, epoch, completion="x" * 300) for t in suite.tasks for epoch in range(1, 101)],
    )
    replays = [make_replay(sha256(str(number))) for number in range(20_000)]
    judged = [
        (attempt, replays[number % 20_000].key, Score(True, True, 1.0, 1.0, 5, None, None))
        for number, attempt in enumerate(run.attempts)
    ]
    with replacing(path) as writer:
        writer.add_suite(suite)
        writer.add_run(run)
        writer.add_replays(replays)
        writer.add_scores(run, judged)
    with connect(path) as con:
        row = query(con, "run_overview").iloc[0]
    assert (row["attempts"], row["passed"]) == (100_000, 100_000)


def test_a_run_in_turns_comes_back_as_it_was_stored(path: Path) -> None:
    suite = make_suite()
    turns = ("x", "", "\udcffé:wq<CR>")
    run = make_run(
        suite,
        [
            make_attempt("t1", keys="".join(turns), turns=turns),
            make_attempt("t2", keys=None, turns=()),
            make_attempt("t3"),
        ],
        track=Track.MULTI,
        turn_state=TurnState.SESSION,
    )
    fill(path, suite, run)
    with contextlib.closing(connect(path)) as con:
        stored = store.read_run(con, run.id)
        assert stored is not None
        assert (stored.track, stored.turn_state) == (Track.MULTI, TurnState.SESSION)
        assert [one.turns for one in stored.attempts] == [turns, (), None]
        [row] = query(con, "run_overview", track="multi").itertuples()
        assert (row.run_id, row.turn_state) == (run.id, "session")
    with replacing(path) as writer:
        assert writer.add_run(run) is Change.UNCHANGED
