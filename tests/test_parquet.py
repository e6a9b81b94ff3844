"""Runs that travel as Parquet: the same rows arrive, nothing is replayed, and half a folder is found out."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shutil
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import fsspec
import pytest
from storing import FAIL, PASS, VIM, fill, judge, make_attempt, make_replay, make_run, make_suite, sha256

from vimlib import cli, store
from vimlib.load import RowKind, load
from vimlib.records import Cost, CostGap, CostKind, Outcome, Run, RunSource
from vimlib.store import Change, SharedRun, StoreError, export_runs, import_runs, replacing
from vimlib.store.parquet import folder_name

SHARED = [table for table in store.TABLES if table not in {"schema_info", "published_results"}]


def rows(database: Path, *tables: str) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of the tables, sorted."""
    with closing(store.connect(database)) as con:
        return {table: con.execute(f"FROM {table} ORDER BY ALL").fetchall() for table in tables or SHARED}


def export(database: Path, out: Path, *runs: str) -> list[SharedRun]:
    with closing(store.connect(database)) as con:
        return export_runs(con, out, runs)


def changes(found: Iterable[SharedRun]) -> list[Change | None]:
    return [one.change for one in found]


@pytest.fixture(scope="module")
def seed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real store: the seed suite, answered by two solvers and judged in Vim."""
    database = tmp_path_factory.mktemp("seed") / "seed.duckdb"
    load(database, ["seed"], solvers=("noop", "diff"), progress=False)
    return database


@pytest.fixture(scope="module")
def little_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one run of a model, with costs, hostile text and an id that is no file name."""
    database = tmp_path_factory.mktemp("little") / "little.duckdb"
    suite = make_suite()
    answers = [
        make_attempt("t1", completion="\udc80 lone, \U0010fffd, \0 and '); DROP TABLE runs"),
        make_attempt("t1", 1, 2, keys=None, completion=None),
        make_attempt("t2", turns=("a", "b"), request_seconds=(0.5, 1.5)),
    ]
    run = make_run(suite, answers, id="../a/b: 'x'\udc80", name="mo/del")
    with replacing(database) as writer:
        writer.add_suite(suite)
        writer.add_run(run)
        judge(writer, run, {("t1", 1, 1): (PASS, Outcome.FINISHED), ("t2", 1, 1): (FAIL, Outcome.TIMEOUT)})
        unknown = Cost(CostKind.UNAVAILABLE, gap=CostGap.NO_USAGE)
        writer.add_costs(run, [(one, unknown) for one in run.attempts])
        writer.add_replays([make_replay("again")])
        again = (run.attempts[0], "again", FAIL)
        writer.add_rejudgements("j1", run, [again], vim=VIM, fingerprint="bench-2")
    return database


@pytest.fixture
def little(little_store: Path, tmp_path: Path) -> Path:
    """A copy of it for one test."""
    return Path(shutil.copy(little_store, tmp_path))


@pytest.fixture(scope="module")
def exported(little_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its run as a folder, not to be changed."""
    [one] = export(little_store, tmp_path_factory.mktemp("exported"))
    return one.folder


def with_run(database: Path, id: str = "run-1", *, tasks: Iterable[str], logs: Iterable[str]) -> Run:
    """A store with one run, of these tasks and logs."""
    suite = make_suite()
    sources = tuple(RunSource(sha256(log), log) for log in logs)
    run = make_run(suite, [make_attempt(task) for task in tasks], id=id, sources=sources)
    fill(database, suite, run)
    return run


# --- there and back


def test_a_real_store_arrives_in_an_empty_one_row_for_row(seed: Path, tmp_path: Path) -> None:
    out, copy = tmp_path / "k=v [x]*", tmp_path / "new" / "copy.duckdb"
    exported = export(seed, out)
    assert len(exported) >= 2
    assert set(changes(exported)) == {Change.ADDED}
    assert {one.name for one in exported} == {"noop", "diff"}
    assert sum(path.is_dir() for path in out.iterdir()) == len(list(out.iterdir())) == len(exported)
    assert set(changes(import_runs(copy, [out]))) == {Change.ADDED}
    there, here = rows(seed), rows(copy)
    assert here == there
    assert len(here["scores"]) > 50
    assert len(here["failures"]) > 10
    assert len(here["replays"]) > 50
    with closing(store.connect(copy)) as con, closing(store.connect(seed)) as before:
        for view in store.VIEWS:
            ours, theirs = store.query(con, view), store.query(before, view)
            assert len(ours) == len(theirs), view


def test_the_same_again_changes_neither_folder_nor_store(seed: Path, tmp_path: Path) -> None:
    out, copy = tmp_path / "out", tmp_path / "copy.duckdb"
    export(seed, out)
    import_runs(copy, [out])

    def state() -> dict[str, Any]:
        files = [copy, *(path for path in out.rglob("*") if path.is_file())]
        return {str(path): (path.stat().st_mtime_ns, path.stat().st_ino, path.read_bytes()) for path in files}

    before = state()
    assert set(changes(export(seed, out))) == {Change.UNCHANGED}
    assert set(changes(import_runs(copy, [out, *out.iterdir()]))) == {Change.UNCHANGED}
    assert state() == before
    # Not even back where they came from.
    stored = seed.read_bytes()
    assert set(changes(import_runs(seed, [out]))) == {Change.UNCHANGED}
    assert seed.read_bytes() == stored


def test_runs_join_others_that_stay(seed: Path, little: Path, tmp_path: Path) -> None:
    before = rows(little)
    export(seed, tmp_path / "out")
    assert set(changes(import_runs(little, [tmp_path / "out"]))) == {Change.ADDED}
    after, there = rows(little), rows(seed)
    for table in SHARED:
        assert sorted(map(repr, after[table])) == sorted(
            {*map(repr, before[table]), *map(repr, there[table])}
        )


def test_one_run_goes_alone_with_hostile_text(little: Path, tmp_path: Path) -> None:
    out, copy = tmp_path / "out", tmp_path / "copy.duckdb"
    with_run(little, "other", tasks=["t3"], logs=["z.eval"])
    [one] = export(little, out, "mo/del")
    assert one.folder.parent == out
    assert one.folder.name.startswith("a-b-x-")
    assert changes(import_runs(copy, [one.folder])) == [Change.ADDED]
    with closing(store.connect(little)) as con, closing(store.connect(copy)) as new:
        wanted = store.read_run(con, one.run_id or "")
        assert wanted is not None
        assert store.read_run(new, one.run_id or "") == wanted
        assert new.execute("SELECT run_id FROM runs").fetchall() == [(store.encode_text(wanted.id),)]
    assert len(rows(copy, "replays")["replays"]) == 3
    assert len(rows(copy, "attempt_costs")["attempt_costs"]) == 3


def test_a_name_is_safe_and_of_one_run_only() -> None:
    ids = ["a/b", "a b", "A/b", "..", "", "con\n", "x" * 500, "\N{SNOWMAN}"]
    names = {folder_name(id) for id in ids}
    assert len({name.lower() for name in names}) == len(ids)
    assert all(name.replace("-", "").replace("_", "").isalnum() and len(name) < 100 for name in names)


# --- what meets


def test_the_fuller_state_of_a_run_stays_on_both_sides(tmp_path: Path) -> None:
    early, late, out = tmp_path / "early.duckdb", tmp_path / "late.duckdb", tmp_path / "out"
    with_run(early, tasks=["t1"], logs=["1.eval"])
    with_run(late, tasks=["t1", "t2"], logs=["1.eval", "2.eval"])
    [first] = export(early, out)
    [row] = import_runs(late, [out])
    assert row.change is Change.UNCHANGED
    assert "has more of run run-1" in row.notes[0]
    assert changes(export(late, out)) == [Change.REPLACED]
    [row] = export(early, out)
    assert row.rejected is not None
    assert "import it first" in row.rejected
    assert changes(import_runs(early, [first.folder])) == [Change.REPLACED]
    # But for when a source was first loaded, which each store knows for itself.
    tables = [table for table in SHARED if table != "sources"]
    assert rows(early, *tables) == rows(late, *tables)
    sources = rows(early, "sources")["sources"], rows(late, "sources")["sources"]
    assert [row[:3] for row in sources[0]] == [row[:3] for row in sources[1]]


def test_states_that_lack_each_others_logs_are_not_mixed(tmp_path: Path) -> None:
    one, other, out = tmp_path / "one.duckdb", tmp_path / "other.duckdb", tmp_path / "out"
    with_run(one, tasks=["t1"], logs=["1.eval"])
    with_run(other, tasks=["t1"], logs=["2.eval"])
    export(one, out)
    before = other.read_bytes()
    [row] = import_runs(other, [out])
    assert row.rejected is not None
    assert "load the logs themselves together" in row.rejected
    assert other.read_bytes() == before


def test_known_costs_suites_and_replays_of_the_store_stay(tmp_path: Path) -> None:
    here, there, out = tmp_path / "here.duckdb", tmp_path / "there.duckdb", tmp_path / "out"
    run = with_run(here, tasks=["t1", "t2"], logs=["1.eval"])
    with_run(there, tasks=["t1", "t2"], logs=["1.eval"])
    key = sha256(f"{run.id}{('t1', 1, 1)}")
    suite = make_suite()
    known = Cost(CostKind.BILLED, 1.0, 1.0, 1.0)
    later = Cost(CostKind.BILLED, 2.0, 2.0, 2.0)
    with replacing(here) as writer:
        writer.add_costs(run, [(run.attempts[0], known)])
    with replacing(there) as writer:
        writer.add_costs(run, [(one, later) for one in run.attempts])
        writer.add_replays([make_replay(key, Outcome.TIMEOUT)])
        other = dataclasses.replace(suite.tasks[0], instruction="otherwise")
        writer.add_suite(dataclasses.replace(suite, tasks=(other, *suite.tasks[1:])))
    export(there, out)
    kept = rows(here, "suites", "tasks", "replays")
    [row] = import_runs(here, [out])
    assert row.change is Change.REPLACED
    assert [("other particulars" in note, "1 replays" in note) for note in row.notes] == [
        (True, False),
        (False, True),
    ]
    assert rows(here, "suites", "tasks", "replays") == kept
    costs = rows(here, "attempt_costs")["attempt_costs"]
    assert [(cost[1], cost[5]) for cost in costs] == [("t1", 1.0), ("t2", 2.0)]
    assert changes(import_runs(here, [out])) == [Change.UNCHANGED]


# --- what is refused


def spoilt(folder: Path, **note: Any) -> Path:
    said = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(said | note))
    return folder


def rewritten(folder: Path, table: str, query: str) -> Path:
    """The folder with other rows in one file, and a note that promises these."""
    file = folder / f"{table}.parquet"
    con = duckdb.connect()
    con.sql(query.format(rows=f"read_parquet('{file}')")).to_table("changed")
    con.table("changed").write_parquet(str(file))
    said = json.loads((folder / "run.json").read_text())
    said["files"][table]["sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
    return spoilt(folder, files=said["files"])


def without(folder: Path, name: str) -> Path:
    (folder / name).unlink()
    return folder


def cut(folder: Path) -> Path:
    file = folder / "attempts.parquet"
    file.write_bytes(file.read_bytes()[:-10])
    return folder


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda folder: without(folder, "run.json"), "half a run, run.json is missing"),
        (lambda folder: without(folder, "scores.parquet"), "half a run, scores.parquet cannot be read"),
        (cut, "half a run, attempts.parquet is not the file"),
        (lambda folder: spoilt(folder, schema_version=2), "version 2 of the tables, this vimlib uses"),
        (lambda folder: spoilt(folder, schema_version=99), "version 99 of the tables, this vimlib uses"),
        (lambda folder: spoilt(folder, vimlib_run=None), "run.json is not of vimlib"),
        (lambda folder: spoilt(folder, vimlib_run="x"), "does not hold the run 'x'"),
        (lambda folder: spoilt(folder, files=[]), "half a run"),
        (lambda folder: (folder / "run.json").write_text("{") and folder, "run.json cannot be read"),
        (lambda folder: (folder / "run.json").write_bytes(b"\xff") and folder, "run.json is not of vimlib"),
        (
            lambda folder: rewritten(folder, "scores", "SELECT * REPLACE (7.0 AS partial) FROM {rows}"),
            "CHECK constraint",
        ),
        (lambda folder: rewritten(folder, "scores", "SELECT 1 AS x"), "run_id"),
        (lambda folder: rewritten(folder, "replays", "FROM {rows} LIMIT 0"), "scores by a replay"),
        (lambda folder: rewritten(folder, "tasks", "FROM {rows} LIMIT 1"), "attempts at a task"),
        (
            lambda folder: rewritten(folder, "attempts", "FROM {rows} UNION ALL FROM {rows}"),
            "an attempt is there twice",
        ),
        (
            lambda folder: rewritten(
                folder, "sources", "FROM {rows} UNION ALL SELECT * REPLACE ('x' AS source_sha256) FROM {rows}"
            ),
            "belong to another run",
        ),
    ],
)
def test_a_bad_folder_says_why(spoil: Any, why: str, exported: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    shutil.copytree(exported, folder)
    spoil(folder)
    [rejected] = import_runs(tmp_path / "no.duckdb", [folder])
    assert rejected.folder == folder
    assert why in (rejected.rejected or "")
    assert "\n" not in (rejected.rejected or "")
    assert not (tmp_path / "no.duckdb").exists()


def test_a_bad_folder_stops_no_other_and_is_mended_by_another_export(little: Path, tmp_path: Path) -> None:
    out, copy = tmp_path / "out", tmp_path / "copy.duckdb"
    with_run(little, "other", tasks=["t3"], logs=["z.eval"])
    bad, _ = sorted(export(little, out), key=lambda one: one.run_id == "other")
    cut(bad.folder)
    assert set(changes(import_runs(copy, [out]))) == {Change.ADDED, None}
    assert [row[0] for row in rows(copy, "runs")["runs"]] == ["other"]
    assert set(changes(export(little, out))) == {Change.REPLACED, Change.UNCHANGED}
    spoilt(bad.folder, schema_version=store.SCHEMA_VERSION + 1)
    assert set(changes(export(little, out))) == {None, Change.UNCHANGED}


def test_places_without_runs_are_said_and_make_no_store(tmp_path: Path) -> None:
    (tmp_path / "empty" / "logs").mkdir(parents=True)
    (tmp_path / "file").touch()
    found = import_runs(tmp_path / "no.duckdb", [tmp_path / name for name in ("empty", "file", "gone")])
    assert ["no run in it" in (one.rejected or "") for one in found] == [True, False, False]
    assert all("vimlib export" in (one.rejected or "") for one in found)
    assert not (tmp_path / "no.duckdb").exists()


def test_what_a_killed_export_left_is_never_read_and_goes(little: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    [one] = export(little, out)
    fresh, old = (out / f".{one.folder.name}.new-1-{digit * 8}" for digit in "ab")
    shutil.copytree(one.folder, fresh)
    shutil.copytree(one.folder, old)
    os.utime(old, (0, 0))
    assert [row.folder for row in import_runs(tmp_path / "copy.duckdb", [out])] == [one.folder]
    export(little, out)
    assert fresh.exists()
    assert not old.exists()


def test_a_place_that_cannot_be_written_is_one_line(little: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot write the folder of a run"):
        export(little, tmp_path / "file" / "out")


# --- among other results, and elsewhere


def test_a_load_takes_exported_runs_with_their_verdicts(little: Path, tmp_path: Path) -> None:
    results, copy = tmp_path / "results", tmp_path / "copy.duckdb"
    with_run(little, "other", tasks=["t3"], logs=["z.eval"])
    good, bad = export(little, results / "shared")
    cut(bad.folder)
    (results / "notes.json").write_text('{"by": 1}')
    [shared, half, notes] = sorted(
        load(copy, [], [results], [], progress=False).rows, key=lambda row: (row.rejected or "", row.source)
    )
    assert (shared.kind, shared.format, shared.run_id) == (RowKind.SHARED, "Parquet", good.run_id)
    assert (shared.attempts, shared.new, shared.change) == (good.attempts, good.attempts, Change.ADDED)
    assert {"half a run" in (half.rejected or ""), "half a run" in (notes.rejected or "")} == {True, False}
    assert "JSON of another kind" in f"{half.rejected} {notes.rejected}"
    before = copy.read_bytes()
    again = load(copy, [], [good.folder], [], progress=False)
    assert [(row.new, row.change) for row in again.rows] == [(0, Change.UNCHANGED)]
    assert (again.replays, copy.read_bytes()) == (0, before)
    import_runs(tmp_path / "imported.duckdb", [good.folder])
    assert {**rows(copy), "sources": []} == {**rows(tmp_path / "imported.duckdb"), "sources": []}


def test_runs_travel_through_an_object_store(
    little: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    storage = fsspec.filesystem("memory")
    url, copy = f"memory://{tmp_path.name}/shared", tmp_path / "copy.duckdb"
    put: list[str] = []
    sent = storage.put_file

    def put_file(_: object, here: str, there: str) -> None:
        put.append(Path(there).name)
        sent(here, there)

    monkeypatch.setattr(type(storage), "put_file", put_file)
    assert command("export", "--database", little, url) == 0
    assert "added" in capsys.readouterr().out
    assert put[-1] == "run.json", "what promises the others comes last"
    put.clear()
    assert command("export", "--database", little, url) == 0
    assert "unchanged" in capsys.readouterr().out and not put
    assert command("import", "--database", copy, url) == 0
    assert rows(copy) == rows(little)

    # The run grows, as when it is resumed; a reader that comes is replaced leaves it out.
    capsys.readouterr()
    [folder] = storage.ls(f"/{tmp_path.name}/shared", detail=False)
    with_run(little, "other", tasks=["t3"], logs=["z.eval"])
    assert command("export", "--database", little, url) == 0
    outcomes = [line.split()[-1] for line in capsys.readouterr().out.splitlines()[1:]]
    assert sorted(outcomes) == ["added", "unchanged"]
    storage.rm_file(f"{folder}/scores.parquet")
    fresh = tmp_path / "elsewhere"
    fresh.mkdir()
    monkeypatch.chdir(fresh)
    assert command("import", "--database", fresh / "s.duckdb", url) == 3
    said = capsys.readouterr()
    assert "half a run, scores.parquet cannot be read" in said.err and "added" in said.out
    assert command("load", "--database", fresh / "l.duckdb", "--solver", "noop", url) == 3
    said = capsys.readouterr()
    assert "Parquet" in said.out and "half a run" in said.err
    assert rows(fresh / "l.duckdb", "runs") == rows(fresh / "s.duckdb", "runs")
    assert command("import", "--database", copy, f"memory://{tmp_path.name}/nothing") == 3
    assert "no .csv, .eval" in capsys.readouterr().err
    storage.rm(f"/{tmp_path.name}", recursive=True)


# --- the commands


def command(*words: str | Path) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.main([str(word) for word in words])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_the_commands_say_what_they_did(
    little: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, copy = tmp_path / "out", tmp_path / "copy.duckdb"
    assert command("export", "--database", little, out) == 0
    assert "mo/del  little  3         added" in capsys.readouterr().out
    assert command("import", "--database", copy, out) == 0
    assert "added" in capsys.readouterr().out
    assert rows(copy) == rows(little)
    assert command("export", "--database", little, out, "--run", "nobody") == 1
    assert "no run 'nobody' in the store" in capsys.readouterr().err
    assert command("import", "--database", copy, out, tmp_path / "gone") == 3
    said = capsys.readouterr()
    assert "unchanged" in said.out
    assert "gone: no such folder" in said.err
