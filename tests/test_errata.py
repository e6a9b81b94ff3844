"""Tasks that cannot be judged fairly: found, kept with their reason, left out unless asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from vimlib.analysis.overview import by_tier, overview
from vimlib.judge import judge
from vimlib.records import Protocol, Task
from vimlib.solvers import solver_run
from vimlib.store import connect, query, replacing
from vimlib.suites import build_suite, errata

BOTH, GOLF = (Protocol.BENCH, Protocol.GOLF), (Protocol.GOLF,)


@pytest.mark.parametrize(
    ("start", "target", "protocols", "reason"),
    [
        ("a\n", "a\n", BOTH, "start equals target"),
        ("a", "a\n", BOTH, None),
        ("a\r\n", "a", GOLF, "start equals target"),
        ("", "ab\n", GOLF, "empty start"),
        ("", "ab\n", BOTH, None),
        ("ab\n", "\n", GOLF, "target of 1 characters"),
        ("ab\n", "", GOLF, "target of 0 characters"),
        ("ab\n", "ba\n", GOLF, None),
    ],
)
def test_defects_that_show_by_themselves(
    start: str, target: str, protocols: tuple[Protocol, ...], reason: str | None
) -> None:
    found = errata.defect(Task("t", start, target), protocols)
    assert (found is None) if reason is None else (found is not None and found.startswith(reason))


def test_listed_errata_are_joined_by_suite_and_id(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "a.jsonl").write_text('{"suite": "s", "id": "one", "reason": "cannot be typed"}\n\n')
    known = errata.listed(tmp_path)
    monkeypatch.setattr(errata, "listed", lambda: known)
    tasks = [Task("one", "a\n", "b\n"), Task("two", "a\n", "b\n")]
    reasons = {
        name: [task.erratum for task in build_suite(name, tasks, BOTH, origin="").tasks]
        for name in ("s", "other")
    }
    assert reasons == {"s": ["cannot be typed", None], "other": [None, None]}


def test_a_broken_list_names_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"suite": "s", "id": "one"}\n')
    with pytest.raises(errata.BadErrata, match="a.jsonl, line 1: .*expected an object with suite, id and"):
        errata.listed(tmp_path)


def test_reports_leave_errata_out_unless_told_and_say_how_many(tmp_path: Path) -> None:
    tasks = [Task("good", "a b\n", "b\n", tier=1), Task("same", "a b\n", "a b\n", tier=1)]
    suite = build_suite("s", tasks, (Protocol.BENCH,), origin="here")
    assert [task.erratum is None for task in suite.tasks] == [True, False]
    run = solver_run("noop", suite, Protocol.BENCH)
    judgement = judge([run], [suite])
    database = tmp_path / "store.duckdb"
    with replacing(database) as writer:
        writer.add_suite(suite)
        writer.add_run(run)
        writer.add_replays(judgement.replays.values())
        verdicts = judgement.runs[0].verdicts
        writer.add_scores(run, [(one.attempt, one.replay and one.replay.key, one.score) for one in verdicts])
    for counted, passed, scored in ((False, 0, 1), (True, 1, 2)):
        con = connect(database, with_errata=counted)
        row = overview(con).iloc[0]
        assert (row["passed"], row["scored"], row["tasks_in_suite"], row["errata"]) == (passed, scored, 2, 1)
        assert row["errata_counted"] == counted
        assert by_tier(con).iloc[0]["tasks_in_tier"] == scored
        assert query(con, "suites_loaded").iloc[0]["errata"] == 1
        con.close()
