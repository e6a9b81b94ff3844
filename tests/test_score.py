"""Verdicts on sums done by hand, and against what both benchmarks recorded."""

from __future__ import annotations

import json
import time
from difflib import SequenceMatcher
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vimlib import score as module
from vimlib.keys import translate
from vimlib.records import Outcome, Protocol, Replay, Score, Task, VimBuild
from vimlib.score import partial_credit, score

GOLF, BENCH = Protocol.GOLF, Protocol.BENCH


def left(final: bytes | None, outcome: Outcome = Outcome.FINISHED) -> Replay:
    return Replay("0" * 64, outcome, final, 0.01, "full", VimBuild("9.0.1378", "0" * 64))


# 7 keys solve it in either notation; the target has 12 characters.
TASK = Task("t", "alpha\nbeta\ngamma\n", "alpha\ngamma\n", reference="jdd:wq<CR>")
SOLVED = left(b"alpha\ngamma\n")


# --- passing ----------------------------------------------------------------------------------


def test_the_reference_itself_passes_with_full_marks_in_both_protocols() -> None:
    assert score(TASK, BENCH, "jdd:wq<CR>", SOLVED) == Score(True, True, 1.0, 1.0, 7, None)
    assert score(TASK, GOLF, "jdd:wq<NL>", SOLVED) == Score(True, True, 1.0, 1.0, 7, False)


def test_golf_cap_is_reached_with_as_many_keys_as_the_target_has_characters() -> None:
    eleven = score(TASK, GOLF, "jdd0000:wq<CR>", SOLVED)
    assert (eleven.keystrokes, eleven.correct, eleven.over_cap, eleven.passed) == (11, True, False, True)
    twelve = score(TASK, GOLF, "jdd00000:wq<CR>", SOLVED)
    assert (twelve.keystrokes, twelve.correct, twelve.over_cap, twelve.passed) == (12, True, True, False)
    assert (twelve.partial, twelve.efficiency) == (1.0, 0.0)


def test_golf_cap_counts_the_target_as_the_dataset_gives_it() -> None:
    bare = Task("t", "ab", "a\r\nb")
    # Four characters as given, four formatted too ("a\nb\n"); with a line more they part.
    assert score(bare, GOLF, "xxx", left(b"a\nb\n")).over_cap is False
    assert score(bare, GOLF, "xxxx", left(b"a\nb\n")).over_cap is True
    assert score(Task("t", "", "a\r\nb\r\n"), GOLF, "xxxxx", left(b"a\nb\n")).over_cap is False
    assert score(Task("t", "", "ab"), GOLF, "xx", left(b"ab\n")).over_cap is True


def test_bench_has_no_cap() -> None:
    long = score(TASK, BENCH, "jdd" + "0" * 93 + ":wq<CR>", SOLVED)
    assert (long.passed, long.over_cap, long.keystrokes, long.efficiency) == (True, None, 100, 0.07)


def test_golf_forgives_line_ends_and_bench_does_not() -> None:
    for final in (b"alpha\r\ngamma\r\n", b"alpha\ngamma", b"alpha\rgamma\n"):
        assert score(TASK, GOLF, "ZZ", left(final)).passed is True
        assert score(TASK, BENCH, "ZZ", left(final)).passed is False


def test_formatting_gives_each_line_one_line_feed() -> None:
    assert [Protocol.GOLF.formatted(text) for text in ("", "a", "a\n", "a\r\nb\rc", "\n\n")] == [
        "\n",
        "a\n",
        "a\n",
        "a\nb\nc\n",
        "\n\n",
    ]


@pytest.mark.parametrize("protocol", Protocol)
def test_a_file_that_is_not_utf8_is_a_failed_attempt_with_partial_credit(protocol: Protocol) -> None:
    verdict = score(Task("t", "", "abé\n"), protocol, "x", left(b"ab\xe9\n"))
    assert (verdict.correct, verdict.passed, verdict.partial) == (False, False, 0.75)


def test_what_is_in_the_file_counts_in_golf_however_the_replay_ended() -> None:
    for outcome in set(Outcome) - {Outcome.HARNESS_ERROR}:
        assert score(TASK, GOLF, "jdd:w<CR>", left(SOLVED.final, outcome)).passed is True


def test_bench_judges_whatever_was_saved_in_time() -> None:
    for outcome in set(Outcome) - {Outcome.HARNESS_ERROR, Outcome.TIMEOUT}:
        assert score(TASK, BENCH, "jdd:w<CR>", left(SOLVED.final, outcome)).passed is True
    late = score(TASK, BENCH, "jdd:w<CR>:sleep 99<CR>", left(SOLVED.final, Outcome.TIMEOUT))
    assert (late.correct, late.passed, late.partial, late.efficiency) == (True, False, 0.0, 0.0)


# --- failing, and not being scored ------------------------------------------------------------


@pytest.mark.parametrize("protocol", Protocol)
def test_no_answer_fails(protocol: Protocol) -> None:
    none = Score(False, False, 0.0, 0.0, None, False if protocol is GOLF else None, None)
    assert score(TASK, protocol, None, None, diff_keystrokes=5) == none


def test_empty_keys_fail_in_golf_even_where_nothing_is_to_do() -> None:
    same = Task("t", "ab\n", "ab\n")
    assert score(same, GOLF, "", None).passed is False
    replayed = score(same, GOLF, "", left(b"ab\n"))
    assert (replayed.correct, replayed.passed, replayed.keystrokes) == (True, False, 0)


def test_empty_keys_pass_in_bench_where_nothing_is_to_do_at_efficiency_0() -> None:
    verdict = score(Task("t", "ab\n", "ab\n", reference=":wq<CR>"), BENCH, "", left(b"ab\n"))
    assert (verdict.passed, verdict.efficiency, verdict.keystrokes) == (True, 0.0, 0)


def test_bad_notation_fails_and_has_no_length() -> None:
    bad = Score(False, False, 0.0, 0.0, None, None, None)
    assert score(TASK, BENCH, "jdd<Nope>", left(None, Outcome.BAD_KEYS), diff_keystrokes=5) == bad
    assert score(TASK, BENCH, "jdd<Nope>", None, diff_keystrokes=5) == bad


def test_keys_that_no_vim_can_be_given_fail_and_are_counted_in_golf() -> None:
    verdict = score(TASK, GOLF, "jdd\0", None)
    assert (verdict.correct, verdict.passed, verdict.partial, verdict.keystrokes) == (False, False, 0.0, 4)


def test_a_replay_that_left_no_file_fails_without_partial_credit() -> None:
    for protocol in Protocol:
        gone = score(TASK, protocol, "x", left(None, Outcome.CRASHED))
        assert (gone.correct, gone.passed, gone.partial, gone.efficiency) == (False, False, 0.0, 0.0)


@pytest.mark.parametrize(
    "replay", [None, left(None, Outcome.HARNESS_ERROR), left(SOLVED.final, Outcome.HARNESS_ERROR)]
)
def test_what_the_harness_spoilt_or_did_not_replay_is_unscored(replay: Replay | None) -> None:
    verdict = score(TASK, GOLF, "jdd:wq<CR>", replay, diff_keystrokes=8)
    assert verdict == Score(None, None, None, None, 7, False, True)


# --- efficiency, and the floor ----------------------------------------------------------------


def test_efficiency_is_reference_keys_by_answer_keys_and_at_most_1() -> None:
    assert score(TASK, BENCH, ":2d<CR>:wq<CR>", SOLVED).efficiency == 7 / 8
    assert score(TASK, BENCH, "jddZZ", SOLVED).efficiency == 1.0
    assert score(TASK, BENCH, "jddZZ", left(b"alpha\n")).efficiency == 0.0


def test_efficiency_counts_the_reference_in_the_protocol_of_the_answer() -> None:
    # "aé<<<Esc>ZZ": 6 keys with <Esc>, 7 bytes: é is two of them.
    accented = Task("t", "\n", "é<\n", reference="aé<<<Esc>ZZ")
    final = left("é<\n".encode())
    assert score(accented, BENCH, "aé<<<Esc>:x<CR>", final).efficiency == 7 / 8
    assert score(accented, GOLF, "ZZ", final).efficiency == 1.0
    golf_task = Task("t", "\n", "é< and more\n", reference="aé<lt><Enter>ZZ", reference_notation=GOLF)
    done = left("é< and more\n".encode())
    assert score(golf_task, GOLF, "12345678", done).efficiency == 6 / 8
    assert score(golf_task, BENCH, "12345678", done).efficiency == 7 / 8


def test_efficiency_is_unknown_without_a_reference_in_this_notation() -> None:
    assert score(Task("t", "a\n", "b\n"), BENCH, "rb", left(b"b\n")).efficiency is None
    arrows = Task("t", "a\n", "b\n", reference="<Left>rbZZ", reference_notation=GOLF)
    assert score(arrows, BENCH, "rb", left(b"b\n")).efficiency is None


def test_beating_diff_is_fewer_keys_than_it_needs() -> None:
    assert [score(TASK, GOLF, "jddZZ", SOLVED, n).beats_diff for n in (4, 5, 6, None)] == [
        False,
        False,
        True,
        None,
    ]


# --- partial credit ---------------------------------------------------------------------------


def test_partial_credit_is_twice_what_matches_by_all_characters() -> None:
    assert partial_credit("abd", "abc") == 4 / 6
    assert partial_credit("", "abc") == 0.0
    assert partial_credit("", "") == 1.0
    # The wrong line kept: "alpha\n" matches of 11 and 12 characters, and "a\n" of the rest.
    assert score(TASK, BENCH, "x", left(b"alpha\nbeta\n")).partial == 2 * (6 + 2) / (11 + 12)


def test_partial_credit_in_golf_compares_formatted_texts() -> None:
    assert score(Task("t", "", "ab\r\ncd"), GOLF, "x", left(b"ab\ncx")).partial == 10 / 12


@given(st.text("ab\n", max_size=60), st.text("abc\n", max_size=60))
def test_partial_credit_is_difflibs_ratio_on_short_texts(final: str, target: str) -> None:
    assert partial_credit(final, target) == SequenceMatcher(None, final, target).ratio()


@given(st.text("abcdefghijklmnopqrstuvwxyz \n", min_size=180, max_size=400), st.data())
def test_partial_credit_is_difflibs_ratio_where_it_drops_frequent_characters(
    target: str, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(target)))
    final = target[cut:] + data.draw(st.text("abc \n")) + target[:cut]
    assert partial_credit(final, target) == SequenceMatcher(None, final, target).ratio()


def code(characters: int) -> str:
    """Real text of the wanted length: Python's own source, over and over."""
    source = Path(json.__file__).with_name("decoder.py").read_text(encoding="utf-8")
    return (source * (characters // len(source) + 1))[:characters]


@pytest.mark.parametrize(
    "final",
    [code(10_000).replace("self", "cls"), code(10_000)[::-1], "a" * 10_000],
    ids=["edited", "reversed", "uniform"],
)
def test_partial_credit_is_difflibs_ratio_on_10000_characters(final: str) -> None:
    for target in (code(10_000), code(199)):
        assert partial_credit(final, target) == SequenceMatcher(None, final, target).ratio()


def test_partial_credit_of_a_megabyte_against_a_kilobyte_is_still_difflibs() -> None:
    final, target = code(1_000_000), code(2_000)[1_000:]
    assert partial_credit(final, target) == SequenceMatcher(None, final, target).ratio()


def test_partial_credit_over_the_bound_counts_common_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PARTIAL_STEPS", 20)
    # In common: "two\n" and "four\n", 9 of 17 and of 19 characters.
    assert partial_credit("one\ntwo\nxx\nfour\n"[:16], "two\nthree\nfour\nz\n") == 2 * 9 / (16 + 17)


def test_partial_credit_over_both_bounds_counts_the_common_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PARTIAL_STEPS", 0)
    assert partial_credit("abXcd", "abYYcd") == 2 * 4 / 11
    # The ends do not overlap: of "aaa" in "aaaa" three characters match, not six.
    assert partial_credit("aaa", "aaaa") == 6 / 7
    assert partial_credit("", "abc") == 0.0


@pytest.mark.parametrize(
    ("final", "target"),
    [
        (code(1_000_000), code(1_000_000).replace("self", "cls")),
        (code(80) * 12_500, code(190)),
        ("a\n" * 500_000, "a\n" * 99),
        ("a\n" * 500_000, "b\na\n" * 250_000),
        (code(1_000_000)[::-1], code(1_000_000)),
    ],
    ids=["edited", "short-target", "uniform-short", "uniform-long", "reversed"],
)
def test_partial_credit_of_a_megabyte_is_bounded_in_time(final: str, target: str) -> None:
    started = time.process_time()
    assert 0 <= partial_credit(final, target) <= 1
    assert time.process_time() - started < 20


# --- what the benchmarks themselves recorded --------------------------------------------------


def read_lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_golf_verdicts_on_the_recorded_files_are_those_of_inspect_evals(shared_data: Path) -> None:
    challenges = {
        row["id"]: Task(str(row["id"]), str(row["input"]), str(row["target"]))
        for row in read_lines(shared_data / "vimgolf" / "challenges.jsonl")
    }
    rows = read_lines(shared_data / "vimgolf" / "peer_verdicts.jsonl")
    assert rows
    for row in rows:
        task, final = challenges[row["challenge_id"]], str(row["output"]).encode()
        assert score(task, GOLF, str(row["keys"]), left(final)).correct is row["correct"]


def test_each_vimbench_reference_has_efficiency_1_in_both_protocols(shared_data: Path) -> None:
    rows = json.loads((shared_data / "vimbench" / "seed_tasks.json").read_text(encoding="utf-8"))
    assert rows
    for row in rows:
        task = Task(row["id"], row["start"], row["target"], reference=row["reference"])
        final = left(row["target"].encode())
        assert score(task, BENCH, row["reference"], final).efficiency == 1.0
        golf = score(task, GOLF, translate(row["reference"], BENCH, GOLF), final)
        assert golf.efficiency == (0.0 if golf.over_cap else 1.0)
