"""Stored answers judged once more, by real Vims: beside the old verdicts, never in their place."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest
import storing
from test_compare import vimlib

from vimlib import keys, store
from vimlib.analysis import rejudged
from vimlib.figures import rejudged as show
from vimlib.load import load
from vimlib.records import Outcome, Protocol, Suite
from vimlib.rejudge import NothingToRejudge, rejudge
from vimlib.replay import NoVim, ReplayRequest, find_vim, replay, with_vim
from vimlib.suites import load_suite

ANSWERS = {
    "t1-delete-debug-line": "6GddZZ",
    "t2-page-title": "5GcitTide tables<Esc>ZZ",
    "t1-shebang-first": "4Gddggp:wq<CR>",
}
"""A pass, a pass by a text object (which a Vim of the tiny kind does not have), and a failure."""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rejudge")
    (folder / "mine.json").write_text(json.dumps(ANSWERS), encoding="utf-8")
    tasks = [task for task in load_suite("seed").tasks if task.id in ANSWERS]
    suite = storing.write_suite(folder / "few.jsonl", tasks)
    load(folder / "s.duckdb", [suite], [folder / "mine.json"], ["diff"], progress=False)
    return folder / "s.duckdb"


@pytest.fixture
def database(loaded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(loaded, tmp_path / "s.duckdb"))


@pytest.fixture(scope="module")
def other_vim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another build as far as anybody can tell, which does the same."""
    path = tmp_path_factory.mktemp("vim") / "vim"
    path.write_bytes(find_vim().path.read_bytes() + b"\n")
    path.chmod(0o755)
    return path


@pytest.fixture(scope="module")
def tiny_vim() -> str:
    found = shutil.which("vim.tiny")
    if found is None:
        pytest.skip("needs a second Vim: no vim.tiny on the PATH (Debian: apt-get install vim-tiny)")
    return found


def ids(database: Path, name: str = "mine") -> list[str]:
    with closing(store.connect(database)) as con:
        return store.query(con, "run_conditions", name=name)["run_id"].to_list()


def table(database: Path, name: str) -> pd.DataFrame:
    with closing(store.connect(database)) as con:
        return con.sql(f"FROM {name} ORDER BY ALL").df()


def test_another_build_is_judged_beside_the_old_verdicts(database: Path, other_vim: Path) -> None:
    scores = table(database, "scores")
    done = rejudge(database, ids(database), vim=str(other_vim))
    assert done.vim.version == find_vim().build.version
    assert done.vim.sha256 != find_vim().build.sha256
    assert (done.replays, done.replayed) == (3, 3)
    assert table(database, "scores").equals(scores)
    with closing(store.connect(database)) as con:
        found = rejudged.rejudged(con, done.judgement_id)
        assert rejudged.changed(con, done.judgement_id).empty
        assert len(store.query(con, "rejudged", rules_differ=True)) == 3
    assert found[
        ["answers", "passed", "new_passed", "newly_failing", "other_file", "other_end"]
    ].to_numpy().tolist() == [[3, 2, 2, 0, 0, 0]]
    assert rejudged.sentence(found) == "All 3 verdicts come out the same: 0 of 3 differ."


def test_the_same_judgement_twice_changes_nothing_and_outlives_a_load(
    database: Path, other_vim: Path
) -> None:
    done = rejudge(database, ids(database), vim=str(other_vim))
    before = (database.stat().st_ino, table(database, "rejudgements"))
    assert rejudge(database, ids(database), vim=str(other_vim)).judgement_id == done.judgement_id
    assert database.stat().st_ino == before[0], "nothing was written"
    few = storing.write_suite(database.parent / "other.jsonl", load_suite("seed").tasks[:1])
    load(database, [few], [], ["noop"], progress=False)
    assert table(database, "rejudgements").equals(before[1])


def test_a_vim_without_eval_finds_what_depends_on_it(database: Path, tiny_vim: str) -> None:
    done = rejudge(database, [*ids(database), *ids(database, "diff")], vim=tiny_vim)
    assert "without +eval" in done.vim.version
    (note,) = done.notes
    assert "diff" in note and "golf" in note and "not judged" in note
    with closing(store.connect(database)) as con:
        found = rejudged.rejudged(con, done.judgement_id).set_index("name")
        changed = rejudged.changed(con, done.judgement_id)
    assert found.loc["mine", ["answers", "newly_passing", "newly_failing"]].to_list() == [3, 0, 1]
    assert changed["task_id"].to_list() == ["t2-page-title"]
    assert rejudged.sentence(found) == "1 of 6 verdicts differ: 0 newly passing, 1 newly failing."
    table = show.changed_table(changed)._repr_html_()
    assert "1 verdict that would differ" in table and "fails now" in table
    assert "5GcitTide tables&lt;Esc&gt;ZZ" in table, "the answer stays text"
    said = show.findings(found.reset_index()).markup
    assert "without +eval instead of 9." in said and "1 of 6 verdicts differ" in said
    with pytest.raises(NothingToRejudge, match="golf types its keys by a script"):
        golf = [run for run in ids(database, "diff") if run.endswith("golf")]
        rejudge(database, golf, vim=tiny_vim)


def test_a_vim_without_eval_is_taken_only_where_one_says_so(tiny_vim: str) -> None:
    with pytest.raises(NoVim, match="lacks"):
        find_vim(tiny_vim)
    with with_vim(tiny_vim, poor=True) as vim:
        assert not vim.reports
        done = replay(ReplayRequest(Protocol.BENCH, "one\n", "ihello "))
        assert (done.outcome, done.final, done.vim) == (Outcome.FINISHED, b"hello one\n", vim.build)
    assert find_vim().reports


def test_keys_are_taken_from_completions_anew(tmp_path: Path) -> None:
    seed = load_suite("seed")
    suite = dataclasses.replace(seed, tasks=seed.tasks[:2])
    attempts = [
        storing.make_attempt(suite.tasks[0].id, completion="```vim\n6GddZZ\n```", keys="```vim"),
        storing.make_attempt(suite.tasks[1].id, completion=None, keys="ZZ"),
    ]
    run = storing.make_run(suite, attempts, extraction="bench/older-0")
    storing.fill(tmp_path / "s.duckdb", suite, run, score=storing.FAIL)
    done = rejudge(tmp_path / "s.duckdb", [run.id], extract_again=True)
    with closing(store.connect(tmp_path / "s.duckdb")) as con:
        rows = store.query(con, "rejudged", judgement_id=done.judgement_id)
        found = rejudged.rejudged(con, done.judgement_id)
    assert rows["extraction"].to_list() == ["bench/older-0"] * 2
    assert set(rows["new_extraction"]) == {keys.EXTRACTION_RULES[Protocol.BENCH]}
    assert rows["new_keys"].to_list() == ["6GddZZ", "ZZ"]
    assert found["newly_passing"].to_list() == [1]
    assert rejudge(tmp_path / "s.duckdb", [run.id]).judgement_id != done.judgement_id


def test_a_stored_suite_reads_back_as_it_was(tmp_path: Path) -> None:
    suite = load_suite("seed")
    storing.fill(tmp_path / "s.duckdb", suite)
    with closing(store.connect(tmp_path / "s.duckdb")) as con:
        found = store.read_suite(con, suite.hash)
        assert store.read_suite(con, "nobody's") is None
    assert isinstance(found, Suite)
    assert found.tasks == suite.tasks
    assert (found.name, found.version, found.protocols) == (suite.name, suite.version, suite.protocols)


def test_the_command_compares_the_two(
    database: Path, other_vim: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert vimlib("rejudge", "mine", "--vim", other_vim, "--database", database, "--no-cache") == 0
    said = capsys.readouterr()
    assert "All 3 verdicts come out the same: 0 of 3 differ." in said.out
    assert said.err == ""
    more = ("--database", database, "--no-cache")
    assert vimlib("rejudge", "--vim", database.parent / "none", *more) == 6
    assert vimlib("rejudge", "nobody", *more) == 2
    assert vimlib("rejudge", "--vim", other_vim, "--scheduler", "tcp://127.0.0.1:1", *more) == 2
    assert capsys.readouterr().err.count("\n") == 3


def test_a_report_says_what_a_further_judgement_found(tmp_path: Path) -> None:
    suite = storing.make_suite(tasks=3)
    run = storing.make_run(suite)
    storing.fill(tmp_path / "s.duckdb", suite, run)
    with closing(store.connect(tmp_path / "s.duckdb")) as con:
        assert "No answer of this store was judged once more" in show.findings(rejudged.rejudged(con)).markup
        assert show.run_table(rejudged.rejudged(con)).markup == ""  # type: ignore[union-attr]
        assert show.changed_table(rejudged.changed(con)).markup == ""  # type: ignore[union-attr]
    first, second, third = run.attempts
    with store.replacing(tmp_path / "s.duckdb") as writer:
        # A failure with hostile keys, the same verdict, and none at all.
        first = dataclasses.replace(first, keys="i<script>alert(1)</script>")
        rows = [(first, None, storing.FAIL), (second, None, storing.PASS), (third, None, storing.UNSCORED)]
        writer.add_rejudgements("j1", run, rows, vim=storing.VIM, fingerprint="bench-2")
    with closing(store.connect(tmp_path / "s.duckdb")) as con:
        found, changed = rejudged.rejudged(con), rejudged.changed(con)
    numbers = ["answers", "passed", "new_passed", "newly_passing", "newly_failing", "unscored", "other_rules"]
    assert found[numbers].to_numpy().tolist() == [[2, 2, 1, 0, 1, 1, 3]]
    assert "1 of 2 verdicts differ" in show.findings(found).markup
    markup = show.run_table(found)._repr_html_() + show.changed_table(changed)._repr_html_()
    assert "&lt;script&gt;" in markup and "<script" not in markup
    assert not re.search(r"\b(nan|None|NaT|<NA>)\b", re.sub(r"<[^>]*>", " ", markup))
