"""Loading: what is good is stored, what is not is said, and nothing that happens midway shows."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from test_runs import TASKS as LOGGED_TASKS
from test_runs import make_log

from vimlib import store
from vimlib.load import (
    LoadResult,
    NothingToLoad,
    RowKind,
    load,
    read_outcome,
    write_outcome,
)
from vimlib.prices import read_prices
from vimlib.records import Protocol, Replay
from vimlib.replay import ReplayCache
from vimlib.solvers import SOLVERS, UnknownSolver
from vimlib.store import Change, NotAStore
from vimlib.suites import load_suite

VIMLIB = Path(sys.executable).with_name("vimlib")


def write_suite(path: Path, tasks: int = 3) -> Path:
    """Tasks t0, t1, ... in our own schema, each with a reference."""
    rows = [
        {"id": f"t{n}", "start": f"{n}\nrest\n", "target": f"{n}!\nrest\n", "reference": "A!<Esc>ZZ"}
        for n in range(tasks)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_answers(path: Path, **answers: str) -> Path:
    path.write_text(json.dumps(answers), encoding="utf-8")
    return path


def loaded(database: Path, *given: Any, **options: Any) -> LoadResult:
    """`load` without a bar, with a cache beside the store."""
    chosen: dict[str, Any] = {"cache": database.with_name("replays.sqlite"), "progress": False}
    return load(database, *given, **chosen | options)


def names(result: LoadResult, kind: RowKind) -> list[tuple[str | None, Protocol | None]]:
    return [(row.name, row.protocol) for row in result.rows if row.kind is kind and row.rejected is None]


def counted(database: Path, table: str) -> int:
    con = store.connect(database)
    try:
        return len(con.table(table).df())
    finally:
        con.close()


def content(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def beside(database: Path) -> set[str]:
    """What lies beside a store, without the caches of replays."""
    return {path.name for path in database.parent.iterdir() if ".sqlite" not in path.name}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_log(tmp_path_factory.mktemp("logs"))


# --- what is good is stored


def test_prices_given_to_a_load_are_put_to_models_that_no_list_knows(log: Path, tmp_path: Path) -> None:
    """Each answer takes 3 tokens of fresh input at 1, 13,216 cached at 0.10, 25 written at 2 and 12 of output
    at 10 dollars a million: 0.0014946. The two attempts that the provider lost report no tokens."""
    file = tmp_path / "prices.yml"
    file.write_text("prices: [{model: mockllm/*, input: 1, cache_read: 0.1, cache_write: 2, output: 10}]")
    for prices, expected in (
        (None, [("unavailable", None, "local_model")] * 6),
        (
            read_prices(file),
            [("estimated", pytest.approx(0.0014946), None)] * 4 + [("unavailable", None, "no_usage")] * 2,
        ),
    ):
        loaded(tmp_path / "s.duckdb", [], [log], ["noop"], prices=prices)
        con = store.connect(tmp_path / "s.duckdb")
        rows = con.execute("SELECT kind, usd, gap FROM attempt_costs ORDER BY kind, gap").fetchall()
        con.close()
        assert rows == expected


def test_answers_to_a_built_in_suite_bring_it_and_solvers_answer_it_too(tmp_path: Path) -> None:
    seed = load_suite("seed")
    answers = write_answers(tmp_path / "mine.json", **{seed.tasks[0].id: "ZZ"})
    unknown = write_answers(tmp_path / "unknown.json", elsewhere="x")
    result = loaded(tmp_path / "s.duckdb", [], [answers, unknown])
    [rejection] = result.rejections
    assert rejection.startswith(str(unknown)) and rejection.count("'seed'") == 1
    assert names(result, RowKind.SUITE) == [("seed", None)]
    assert names(result, RowKind.RUN) == [("mine", seed.protocols[0])]
    assert set(names(result, RowKind.SOLVER)) == {(name, one) for name in SOLVERS for one in seed.protocols}
    assert {row.change for row in result.rows if row.rejected is None} == {Change.ADDED}
    passed = {(row.name, row.protocol): row.passed for row in result.rows if row.kind is RowKind.SOLVER}
    for protocol in seed.protocols:
        assert passed["reference", protocol] == len(seed.tasks)
        assert passed["noop", protocol] == 0
        assert passed["diff", protocol] == len(seed.tasks)
    assert passed["retype", Protocol.BENCH] == len(seed.tasks)
    assert passed["retype", Protocol.GOLF] == 0
    assert counted(tmp_path / "s.duckdb", "scores") == 1 + len(SOLVERS) * 2 * len(seed.tasks)


def test_log_that_carries_its_tasks_needs_no_suite(log: Path, tmp_path: Path) -> None:
    result = loaded(tmp_path / "s.duckdb", [], [log], ["noop"])
    assert result.rejections == ()
    [suite, run, solver] = result.rows
    assert (suite.kind, suite.tasks) == (RowKind.SUITE, len(LOGGED_TASKS))
    assert (run.kind, run.protocol, run.tasks) == (RowKind.RUN, Protocol.GOLF, len(LOGGED_TASKS))
    # Two epochs; in one task the provider fails, in each of the others "ddZZ" is judged.
    assert (run.attempts, run.errors, run.passed) == (6, 2, 0)
    assert (solver.kind, solver.attempts, solver.passed) == (RowKind.SOLVER, len(LOGGED_TASKS), 0)
    con = store.connect(tmp_path / "s.duckdb")
    rows = con.execute(
        "SELECT task_id, correct, passed, over_cap, beats_diff FROM scores JOIN runs USING (run_id)"
        " WHERE kind = 'model' AND epoch = 1 ORDER BY task_id"
    ).fetchall()
    con.close()
    # The edit is right for the first, with more keys than the target has characters.
    assert [row[:4] for row in rows] == [
        (LOGGED_TASKS[0].id, True, False, True),
        ("scorer-fails", False, False, True),
    ]


def test_folders_are_searched_and_the_same_file_counts_once(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "little.jsonl")
    (tmp_path / "answers" / "below").mkdir(parents=True)
    first = write_answers(tmp_path / "answers" / "a.json", t0="A!")
    write_answers(tmp_path / "answers" / "below" / "b.json", t1="A!", t2="x")
    result = loaded(tmp_path / "s.duckdb", [suite, suite], [tmp_path / "answers", first], ["noop"])
    assert names(result, RowKind.SUITE) == [("little", None)]
    assert names(result, RowKind.RUN) == [("a", Protocol.BENCH), ("b", Protocol.BENCH)]
    assert [row.passed for row in result.rows if row.kind is RowKind.RUN] == [1, 1]


# --- what is not is said


def test_bad_suites_and_sources_become_rows_and_the_rest_is_stored(tmp_path: Path) -> None:
    good = write_suite(tmp_path / "good.jsonl")
    bad_suite = tmp_path / "bad.jsonl"
    bad_suite.write_text('{"id": "a", "start": "x"}\n')
    answers = write_answers(tmp_path / "good.json", t0="A!", t1="x")
    unknown = write_answers(tmp_path / "unknown.json", elsewhere="x")
    missing = tmp_path / "missing.eval"
    empty = tmp_path / "empty"
    empty.mkdir()
    result = loaded(tmp_path / "s.duckdb", [bad_suite, good], [unknown, answers, missing, empty], ["noop"])
    rejected = {row.source: row for row in result.rejected}
    assert set(rejected) == {str(path) for path in (bad_suite, unknown, missing, empty)}
    for source, row in rejected.items():
        assert row.rejected is not None and "\n" not in row.rejected
        assert row.rejected.startswith(source)
        assert (row.name, row.attempts, row.passed, row.change) == (None, None, None, None)
    assert rejected[str(bad_suite)].kind is RowKind.SUITE
    assert rejected[str(unknown)].kind is RowKind.RUN
    assert result.rejections == tuple(row.rejected for row in result.rejected)
    assert [row.passed for row in result.rows if row.kind is RowKind.RUN and row.rejected is None] == [1]
    assert counted(tmp_path / "s.duckdb", "runs") == 3


def test_a_single_unusable_answer_is_a_problem_and_the_others_count(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "little.jsonl")
    answers = write_answers(tmp_path / "mine.json", t0="A!", t1="A\ud800")
    result = loaded(tmp_path / "s.duckdb", [suite], [answers], [])
    assert result.rejected == ()
    [problem] = result.problems
    assert "mine.json" in problem and "'t1'" in problem and "lone surrogate" in problem
    [run] = [row for row in result.rows if row.kind is RowKind.RUN]
    assert (run.attempts, run.errors, run.passed) == (2, 0, 1)
    write_outcome(result, tmp_path / "outcome.json")
    assert read_outcome(tmp_path / "outcome.json") == result.rejections == (problem,)


def test_nothing_usable_is_an_error_with_every_reason(tmp_path: Path) -> None:
    database = tmp_path / "s.duckdb"
    with pytest.raises(NothingToLoad, match="no suite was given") as caught:
        loaded(database, [], [])
    assert caught.value.exit_code == 3
    with pytest.raises(NothingToLoad, match=r"a\.eval.*b\.jsonl|b\.jsonl.*a\.eval"):
        loaded(database, [tmp_path / "b.jsonl"], [tmp_path / "a.eval"])
    assert not database.exists()


def test_unknown_solver_is_named_before_anything_is_stored(tmp_path: Path) -> None:
    with pytest.raises(UnknownSolver, match="'bogus'; there are diff, noop"):
        loaded(tmp_path / "s.duckdb", [write_suite(tmp_path / "little.jsonl")], [], ["noop", "bogus"])
    assert not (tmp_path / "s.duckdb").exists()


def test_a_file_that_is_no_store_is_left_alone(tmp_path: Path) -> None:
    database = tmp_path / "s.duckdb"
    database.write_text("my notes")
    with pytest.raises(NotAStore, match="give another path"):
        loaded(database, [write_suite(tmp_path / "little.jsonl")], [], ["noop"])
    assert database.read_text() == "my notes"


# --- again, and midway


def test_loading_twice_changes_nothing(log: Path, tmp_path: Path) -> None:
    database = tmp_path / "s.duckdb"
    suite = write_suite(tmp_path / "little.jsonl")
    answers = write_answers(tmp_path / "mine.json", t0="A!", t1="<Nope>", t2=":set fenc=latin1<CR>Aé<Esc>ZZ")
    first = loaded(database, [suite], [log, answers])
    before = (content(database), database.stat().st_mtime_ns)
    second = loaded(database, [suite], [log, answers])
    assert {row.change for row in first.rows} == {Change.ADDED}
    assert {row.change for row in second.rows} == {Change.UNCHANGED}
    assert (content(database), database.stat().st_mtime_ns) == before
    assert first.replayed == first.replays == second.replays
    assert second.replayed == 0


def test_an_answer_more_is_added_to_what_is_there(tmp_path: Path) -> None:
    database = tmp_path / "s.duckdb"
    suite = write_suite(tmp_path / "little.jsonl")
    loaded(database, [suite], [write_answers(tmp_path / "a.json", t0="A!")], ["noop"])
    result = loaded(database, [suite], [write_answers(tmp_path / "b.json", t0="x")], ["noop"])
    changes = {row.name: row.change for row in result.rows}
    assert changes == {"little": Change.UNCHANGED, "b": Change.ADDED, "noop": Change.UNCHANGED}
    assert counted(database, "runs") == 4


def test_interrupted_load_leaves_the_old_store_and_keeps_its_replays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = tmp_path / "s.duckdb"
    loaded(database, [write_suite(tmp_path / "first.jsonl")], [], ["noop"])
    before, files = content(database), beside(database)
    more = write_suite(tmp_path / "more.jsonl", tasks=20)
    files.add(more.name)
    put, done = ReplayCache.put, 0

    def interrupted(cache: ReplayCache, replay: Replay) -> None:
        nonlocal done
        put(cache, replay)
        done += 1
        if done == 10:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(ReplayCache, "put", interrupted)
        with pytest.raises(KeyboardInterrupt):
            loaded(database, [more], [], ["noop"])
    assert content(database) == before
    assert beside(database) == files
    result = loaded(database, [more], [], ["noop"])
    assert result.replays - result.replayed >= 10
    assert {row.change for row in result.rows} == {Change.ADDED}


def kept(cache: Path) -> int:
    """Replays in the cache, as another process sees them."""
    if not cache.exists():
        return 0
    con = sqlite3.connect(cache)
    try:
        return int(con.execute("SELECT count(*) FROM replays").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        con.close()


@pytest.mark.parametrize("keyboard", [False, True], ids=["kill -INT", "Ctrl-C"])
def test_a_real_interrupt_ends_in_one_line_and_no_harm(tmp_path: Path, keyboard: bool) -> None:
    """`keyboard`: as a terminal does it, the signal meets all processes, those that replay too."""
    database, cache = tmp_path / "s.duckdb", tmp_path / "replays.sqlite"
    loaded(database, [write_suite(tmp_path / "first.jsonl")], [], ["noop"], cache=None)
    before = content(database)
    suite = write_suite(tmp_path / "more.jsonl", tasks=120)
    files = beside(database)
    running = subprocess.Popen(
        [VIMLIB, "load", "--database", database, "--cache", cache, "--suite", suite, "--solver", "noop"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while kept(cache) < 20:
        assert running.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    (os.killpg if keyboard else os.kill)(running.pid, signal.SIGINT)
    out, error = running.communicate(timeout=30)
    assert running.returncode == 130
    assert out == ""
    assert error == "vimlib: interrupted; replays done so far are kept, nothing else was changed\n"
    assert 20 <= kept(cache) < 480
    assert content(database) == before
    assert beside(database) == files
    deadline = time.monotonic() + 10
    while _lives(running.pid):
        assert time.monotonic() < deadline, "processes of the load are left"
        time.sleep(0.05)


def _lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
