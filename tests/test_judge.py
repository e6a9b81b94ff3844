"""Judging: verdicts travel with their answers, the floor is fair, and nothing is replayed in vain."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from vimlib.judge import Judgement, Verdict, judge
from vimlib.records import (
    Attempt,
    AttemptStatus,
    Outcome,
    Protocol,
    Run,
    RunKind,
    Score,
    Suite,
    Task,
    Track,
    TurnState,
)
from vimlib.replay import close_starters
from vimlib.sandbox import Confinement
from vimlib.suites import build_suite

TASKS = tuple(Task(f"t{n}", f"{n}\nrest\n", f"new {n}\nrest\n", reference=f"cwnew {n}") for n in range(4))
SUITE = build_suite("little", TASKS, (Protocol.BENCH, Protocol.GOLF), origin="test")


def run_of(*attempts: Attempt, suite: Suite = SUITE, protocol: Protocol = Protocol.BENCH) -> Run:
    return Run(f"run-{hash(attempts)}", RunKind.MODEL, "m", suite.hash, protocol, attempts)


def answer(task_id: str, keys: str | None, epoch: int = 1, attempt: int = 1) -> Attempt:
    return Attempt(task_id, epoch, attempt, AttemptStatus.ANSWERED, completion=keys, keys=keys)


def by_key(judgement: Judgement, place: int = 0) -> dict[tuple[str, int, int], Verdict]:
    verdicts = judgement.runs[place].verdicts
    found = {(one.attempt.task_id, one.attempt.epoch, one.attempt.attempt): one for one in verdicts}
    assert len(found) == len(verdicts)
    return found


def no_vim(monkeypatch: pytest.MonkeyPatch) -> None:
    close_starters()

    def never(*_: object) -> None:
        raise AssertionError("Vim was started")

    monkeypatch.setattr("vimlib.replay.play", never)


def test_verdicts_travel_with_their_answers() -> None:
    """Answers out of order, in several epochs, tried again, one without keys: each says whose it is."""
    attempts = [
        answer(task.id, None if (n, epoch) == (2, 1) else f"iE{epoch}A{number} ", epoch, number)
        for epoch in (2, 1)
        for n, task in reversed(list(enumerate(TASKS)))
        for number in (2, 1)
    ]
    found = by_key(judge([run_of(*attempts)], [SUITE]))
    assert set(found) == {(a.task_id, a.epoch, a.attempt) for a in attempts}
    for (task_id, epoch, number), verdict in found.items():
        if verdict.attempt.keys is None:
            assert (task_id, epoch) == ("t2", 1) and verdict.replay is None
        else:
            assert verdict.replay is not None
            assert verdict.replay.final == f"E{epoch}A{number} {task_id[1]}\nrest\n".encode()


def test_runs_keep_their_order_and_are_judged_each_against_its_own_suite() -> None:
    other = build_suite("other", [replace(TASKS[0], target="0!\nrest\n")], (Protocol.BENCH,), origin="test")
    judgement = judge([run_of(answer("t0", "A!"), suite=other), run_of(answer("t0", "A!"))], [SUITE, other])
    assert [judged.run.suite_hash for judged in judgement.runs] == [other.hash, SUITE.hash]
    assert [by_key(judgement, n)["t0", 1, 1].score.passed for n in (0, 1)] == [True, False]


def test_no_keys_are_a_failure_without_a_replay() -> None:
    judgement = judge([run_of(answer("t0", None)), run_of(answer("t0", ""), protocol=Protocol.GOLF)], [SUITE])
    for n in (0, 1):
        verdict = by_key(judgement, n)["t0", 1, 1]
        assert verdict.replay is None
        assert (verdict.score.correct, verdict.score.passed, verdict.score.partial) == (False, False, 0.0)
    assert judgement.replayed == 0 and judgement.replays == {}


def test_an_empty_bench_answer_is_played_with_the_save_and_quit_alone() -> None:
    verdict = by_key(judge([run_of(answer("t0", ""))], [SUITE]))["t0", 1, 1]
    assert verdict.replay is not None and verdict.replay.final == b"0\nrest\n"
    assert verdict.score.passed is False and 0 < (verdict.score.partial or 0) < 1


@pytest.mark.parametrize(
    "status", [AttemptStatus.PROVIDER_ERROR, AttemptStatus.CANCELLED, AttemptStatus.NOT_REPLAYABLE]
)
def test_what_is_no_answer_gets_no_verdict(status: AttemptStatus) -> None:
    half = Attempt("t1", 1, 1, status, completion="cwnew", keys="cwnew", error="it broke")
    judgement = judge([run_of(answer("t0", "cwnew 0"), half)], [SUITE])
    assert set(by_key(judgement)) == {("t0", 1, 1)}
    assert judgement.replayed == 1


def test_keys_that_break_the_notation_fail_and_say_so() -> None:
    verdict = by_key(judge([run_of(answer("t0", "x<Nope>"))], [SUITE]))["t0", 1, 1]
    assert verdict.replay is not None and verdict.replay.outcome is Outcome.BAD_KEYS
    assert (verdict.score.passed, verdict.score.keystrokes) == (False, None)


def beats(judgement: Judgement, place: int = 0) -> dict[str, bool | None]:
    return {key[0]: one.score.beats_diff for key, one in by_key(judgement, place).items()}


def test_only_a_right_edit_of_the_floor_can_be_beaten() -> None:
    run = run_of(answer("t0", "cwnew 0"), answer("t1", "x"), answer("t2", "cwnew 2"), answer("t3", "cwnew 3"))
    floor = run_of(
        answer("t0", "ddOnew 0"),  # right, and longer
        answer("t1", "Rnew 1"),  # right: a wrong answer may still have fewer keys
        answer("t2", "dd"),  # wrong, though as short as can be
        answer("t3", "cwnew 3"),  # right, with as many keys
    )
    judgement = judge([run], [SUITE], floors=[floor])
    assert beats(judgement) == {"t0": True, "t1": True, "t2": None, "t3": False}
    assert by_key(judgement)["t1", 1, 1].score.passed is False


def test_a_right_edit_over_the_cap_is_a_floor_too() -> None:
    long, short = "cwnew 0<Esc>:wq<NL>", "cwnew 0<Esc>ZZ"
    over = run_of(answer("t0", long), protocol=Protocol.GOLF)
    judgement = judge([run_of(answer("t0", short), protocol=Protocol.GOLF), over], [SUITE], floors=[over])
    score = by_key(judgement, 1)["t0", 1, 1].score
    assert (score.correct, score.over_cap, score.passed) == (True, True, False)
    assert (beats(judgement, 0), beats(judgement, 1)) == ({"t0": True}, {"t0": False})


def test_the_floor_of_another_protocol_or_suite_is_none() -> None:
    other = build_suite("other", [*TASKS, Task("t9", "a", "b")], (Protocol.BENCH,), origin="test")
    floors = [
        run_of(answer("t0", "ddOnew 0<Esc>:wq<NL>"), protocol=Protocol.GOLF),
        run_of(answer("t0", "ddOnew 0"), suite=other),
    ]
    assert beats(judge([run_of(answer("t0", "cwnew 0"))], [SUITE, other], floors=floors)) == {"t0": None}


def test_equal_answers_share_a_replay() -> None:
    first = run_of(answer("t0", "cwnew 0"), answer("t0", "cwnew 0", epoch=2), answer("t1", "x"))
    second = run_of(answer("t0", "cwnew 0"))
    golf = run_of(answer("t1", "x"), protocol=Protocol.GOLF)
    judgement = judge([first, second, golf], [SUITE], floors=[second])
    assert judgement.replayed == len(judgement.replays) == 3
    keys = {one.replay.key for run in judgement.runs for one in run.verdicts if one.replay}
    assert keys == set(judgement.replays)
    assert by_key(judgement, 0)["t0", 2, 1].replay is by_key(judgement, 1)["t0", 1, 1].replay


def test_replays_of_the_floor_are_counted_among_those_that_verdicts_rest_on() -> None:
    judgement = judge([run_of(answer("t0", "x"))], [SUITE], floors=[run_of(answer("t0", "cwnew 0"))])
    assert judgement.replayed == len(judgement.replays) == 2


def test_the_second_judgement_starts_no_vim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [
        run_of(*(answer(task.id, task.reference) for task in TASKS), answer("t0", "<Nope>", epoch=2)),
        run_of(*(answer(task.id, ":set fenc=latin1<NL>Aé<Esc>ZZ") for task in TASKS), protocol=Protocol.GOLF),
    ]
    options: dict[str, Any] = {"floors": runs, "cache": tmp_path / "replays.sqlite"}
    first = judge(runs, [SUITE], **options)
    assert first.replayed == len(first.replays) == 9
    no_vim(monkeypatch)
    second = judge(runs, [SUITE], **options)
    assert (second.runs, second.replays, second.replayed) == (first.runs, first.replays, 0)


def test_a_cached_confined_replay_does_not_stand_for_an_unconfined_one(tmp_path: Path) -> None:
    runs, cache = [run_of(answer("t0", "cwnew 0"))], tmp_path / "replays.sqlite"
    judgements = [judge(runs, [SUITE], cache=cache, confinement=one) for one in Confinement]
    assert [judgement.replayed for judgement in judgements] == [1, 1]
    found = [next(iter(judgement.replays.values())).confinement for judgement in judgements]
    assert found == ["namespaces+seccomp", "none"]


def test_what_the_harness_spoils_is_unscored(monkeypatch: pytest.MonkeyPatch) -> None:
    """A harness process that dies cannot be had to order, so its report stands in for it."""
    from vimlib.replay import play

    def spoilt(*given: Any) -> Any:
        return replace(play(*given), outcome=Outcome.HARNESS_ERROR)

    monkeypatch.setattr("vimlib.replay.play", spoilt)
    verdict = by_key(judge([run_of(answer("t0", "cwnew 0"))], [SUITE]))["t0", 1, 1]
    assert verdict.score == Score(None, None, None, None, 7, None)


# --- several turns


def in_turns(
    task: Task, *turns: str, state: TurnState = TurnState.FRESH, cache: Path | None = None
) -> tuple[Verdict, Judgement]:
    suite = build_suite("turns", [task], (Protocol.BENCH,), origin="test")
    attempt = Attempt(
        task.id, 1, 1, AttemptStatus.ANSWERED, keys="".join(turns) if turns else None, turns=turns
    )
    run = Run(
        "r", RunKind.MODEL, "m", suite.hash, Protocol.BENCH, (attempt,), track=Track.MULTI, turn_state=state
    )
    judgement = judge([run], [suite], cache=cache)
    return judgement.runs[0].verdicts[0], judgement


LINES = Task("lines", "one\ntwo\nthree\n", "two\nthree\none\n", reference="ddGp:wq<CR>")


def test_a_turn_goes_on_from_the_buffer_that_the_last_one_left() -> None:
    verdict, judgement = in_turns(LINES, "x", "iO<Esc>", "~", "ddGp:wq<CR>")
    assert verdict.replay is not None and verdict.replay.final == LINES.target.encode()
    assert verdict.score.passed is True
    assert verdict.score.keystrokes == 1 + 3 + 1 + 8  # over the keys of all turns
    assert verdict.score.efficiency == 8 / 13
    assert judgement.replayed == len(judgement.replays) == 4


def test_a_fresh_turn_has_no_registers_of_the_last_one_and_a_session_has() -> None:
    cut, paste = "dd", "Gp"
    fresh, _ = in_turns(LINES, cut, paste)
    assert fresh.replay is not None and fresh.replay.final == b"two\nthree\n"
    session, _ = in_turns(LINES, cut, paste, state=TurnState.SESSION)
    assert session.score.passed is True


@pytest.mark.parametrize(
    ("turns", "left"),
    [
        (("maGdd", "`ax"), "ne\ntwo\n"),  # a mark
        ((":set tw=3<CR>", "AX YY<Esc>"), "oneX\nYY\ntwo\nthree\n"),  # an option
        (("x", "jdd", "u"), "ne\ntwo\nthree\n"),  # undo, turn by turn
        (("ix", "x"), "one\ntwo\nthree\n"),  # each turn begins in Normal mode
        (("x", "j.", "j."), "ne\nwo\nhree\n"),  # the last change
        (("fnylx", "j0P"), "oe\nntwo\nthree\n"),  # registers
    ],
)
def test_a_session_keeps_what_vim_keeps(turns: tuple[str, ...], left: str) -> None:
    verdict, _ = in_turns(LINES, *turns, state=TurnState.SESSION)
    assert verdict.replay is not None and verdict.replay.final == left.encode()


def test_a_session_ends_where_the_keys_quit_vim() -> None:
    verdict, _ = in_turns(LINES, "yy:q<CR>", "p", "ix<Esc>:wq<CR>", "iy<Esc>", state=TurnState.SESSION)
    assert verdict.replay is not None and verdict.replay.final == b"yxone\ntwo\nthree\n"


def test_a_turn_that_reaches_the_target_is_the_last() -> None:
    verdict, judgement = in_turns(LINES, "ddGp", "dd")
    assert verdict.score.passed is True and verdict.score.keystrokes == 4
    assert judgement.replayed == 1


def test_bad_notation_and_a_timeout_end_an_edit_as_failures() -> None:
    verdict, judgement = in_turns(LINES, "x", "<Nope>", "dd")
    assert verdict.replay is not None and verdict.replay.outcome is Outcome.BAD_KEYS
    assert (verdict.score.passed, verdict.score.partial, verdict.score.keystrokes) == (False, 0.0, None)
    assert len(judgement.replays) == 2


def test_done_at_once_is_an_answer_without_keys() -> None:
    verdict, judgement = in_turns(LINES)
    assert verdict.replay is None and verdict.score.passed is False
    assert judgement.replays == {}


def test_turns_of_many_answers_are_played_together_and_kept(tmp_path: Path) -> None:
    first, judgement = in_turns(LINES, "x", "dd", cache=tmp_path / "replays.sqlite")
    again, kept = in_turns(LINES, "x", "dd", cache=tmp_path / "replays.sqlite")
    assert (judgement.replayed, kept.replayed) == (2, 0)
    assert first.score == again.score
