"""Traces: the state after each key is what Vim really is at after those keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from vimlib.keys import BadNotation, split
from vimlib.records import Outcome, Protocol
from vimlib.replay import (
    ReplayCache,
    ReplayRequest,
    close_starters,
    find_vim,
    replay,
    replay_key,
    replay_many,
    trace,
)
from vimlib.sandbox import Confinement

START = "alpha beta\ngamma\n\tdelta\n"
SAVING = {Protocol.BENCH: "", Protocol.GOLF: "<C-\\><C-N>:wq!<NL>"}
"""What saves the state that keys led to: bench does it by itself."""


@pytest.mark.parametrize(
    ("protocol", "keys"),
    [
        (Protocol.BENCH, 'qaA;<Esc>0jq@a"ayiwGo<Tab>é<Esc>"ap:%s/a/A/g<CR>ggVGJ'),
        (Protocol.BENCH, "ct<Space>ω<<b<Esc>u<C-R>ywPxp"),
        (Protocol.GOLF, 'qaA;<Esc>0jq@a"ayiwggo<Tab>é<Esc>"ap:%s/a/A/g<NL>ggVGJ'),
        (Protocol.GOLF, "ct ω<b<ESC>u<C-R>ywPxp<nope>"),
    ],
)
def test_each_state_is_what_a_replay_of_the_keys_so_far_saves(protocol: Protocol, keys: str) -> None:
    tokens = split(keys, protocol)
    played = trace(protocol, START, keys)
    assert played.keys == tuple(tokens) and not played.sampled
    assert [step.typed for step in played.steps] == list(range(len(tokens) + 1))
    assert [step.key for step in played.steps] == ["", *tokens]
    assert {step.outcome for step in played.steps} == {Outcome.UNFINISHED}
    saved = replay_many(
        ReplayRequest(protocol, START, "".join(tokens[:count]) + SAVING[protocol])
        for count in range(len(tokens) + 1)
    )
    assert [step.buffer for step in played.steps] == [(one.final or b"").decode() for one in saved]


def test_mode_and_cursor_are_those_in_which_vim_waits() -> None:
    played = trace(Protocol.BENCH, START, "jdiwix<Esc>v:<Esc>f")
    assert [(step.mode, step.cursor) for step in played.steps] == [
        ("n", (1, 1)),
        ("n", (2, 1)),
        ("no", (2, 1)),
        ("no", (2, 1)),  # waits for the text object's name
        ("n", (2, 1)),
        ("i", (2, 1)),
        ("i", (2, 2)),
        ("n", (2, 1)),
        ("v", (2, 1)),
        ("c", (2, 1)),
        ("n", (2, 1)),
        ("n", (2, 1)),
    ]


def test_an_error_stays_from_the_key_that_made_it() -> None:
    played = trace(Protocol.GOLF, START, "x:bogus<NL>x")
    numbers = [step.error and step.error.number for step in played.steps]
    assert numbers == [None] * 8 + [492, 492]


def test_states_after_an_early_quit_are_the_end() -> None:
    for protocol in Protocol:
        played = trace(protocol, START, "ddZZddx")
        outcomes = [step.outcome for step in played.steps]
        assert outcomes == [Outcome.UNFINISHED] * 4 + [Outcome.FINISHED] * 4
        assert [step.buffer for step in played.steps] == [START] * 2 + ["gamma\n\tdelta\n"] * 6
        assert {(step.mode, step.cursor) for step in played.steps[4:]} == {(None, None)}


def test_quitting_without_saving_ends_at_the_file() -> None:
    last = trace(Protocol.GOLF, START, "dd:q!<NL>").steps[-2:]
    assert [(step.outcome, step.buffer) for step in last] == [
        (Outcome.UNFINISHED, "gamma\n\tdelta\n"),
        (Outcome.FINISHED, START),
    ]


@pytest.mark.parametrize("keys", ["<Esc>", "ione<Esc>", "ione<Esc><Esc>", "d<Esc>", ":s<Esc>", "q<Esc>"])
def test_a_final_escape_is_a_key_like_any_other(keys: str) -> None:
    """A script that ends in <Esc> makes Vim wait for the rest of a key sequence; a trace must not."""
    last = trace(Protocol.BENCH, START, keys).steps[-1]
    assert (last.key, last.mode, last.outcome) == ("<Esc>", "n", Outcome.UNFINISHED)
    assert last.buffer == START.replace("alpha", "onealpha" if "one" in keys else "alpha")


def test_a_long_answer_is_sampled_and_says_so() -> None:
    whole = trace(Protocol.BENCH, START, "x" * 12, most_steps=13)
    assert not whole.sampled and len(whole.steps) == 13
    part = trace(Protocol.BENCH, START, "x" * 12, most_steps=5)
    assert part.sampled and len(part.keys) == 12
    assert [step.typed for step in part.steps] == [0, 3, 6, 9, 12]
    assert list(part.steps) == [step for step in whole.steps if step.typed % 3 == 0]


def test_no_keys_have_one_state() -> None:
    for protocol in Protocol:
        [only] = trace(protocol, "a\r\nb", "").steps
        assert (only.typed, only.key, only.mode) == (0, "", "n")
        assert only.buffer == ("a\r\nb" if protocol is Protocol.BENCH else "a\nb\n")


def test_bytes_that_are_not_utf8_are_spelled_out() -> None:
    last = trace(Protocol.GOLF, "x\n", ":set fenc=latin1<NL>Aé<ESC>ZZ").steps[-1]
    assert (last.outcome, last.buffer) == (Outcome.FINISHED, "x\\xe9\n")


def test_bad_notation_is_refused() -> None:
    with pytest.raises(BadNotation):
        trace(Protocol.BENCH, START, "x<Nope>")


def test_golf_states_are_kept_like_any_replay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = ReplayCache(tmp_path / "replays.sqlite")
    first = trace(Protocol.GOLF, START, "dwZZ", cache=cache)
    request = ReplayRequest(Protocol.GOLF, START, "dwZZ")
    assert [one.final for one in cache.get([replay_key(request, find_vim(), Confinement.FULL)])] == [
        replay(request).final
    ]
    close_starters()

    def never(*_: object) -> None:
        raise AssertionError("Vim was started")

    monkeypatch.setattr("vimlib.replay.play", never)
    assert trace(Protocol.GOLF, START, "dwZZ", cache=cache) == first
    cache.close()
