"""Thousands of random answers break nothing of ours and give the same result twice.

`make fuzz` does the same for as long as one likes; what must hold is said in `fuzzing`.
"""

from __future__ import annotations

import ast
import itertools
from pathlib import Path
from typing import Any

import fuzzing
import pytest

from vimlib.records import Outcome, Protocol
from vimlib.replay import protocols, replay_many, unpinned
from vimlib.store import replacing

SEED = 20250101
COUNTS = {Protocol.BENCH: 4000, Protocol.GOLF: 1200}


@pytest.mark.parametrize("protocol", list(Protocol))
def test_random_answers_break_nothing_and_give_the_same_twice(protocol: Protocol, monkeypatch: Any) -> None:
    monkeypatch.setattr(protocols, "SECONDS", 1.5)
    answers = fuzzing.requests(SEED, protocol, COUNTS[protocol], slow=0.001)
    findings = fuzzing.campaign(answers, SEED)
    assert findings.violations == []
    assert findings.answers > 0.98 * COUNTS[protocol]
    assert {Outcome.FINISHED, Outcome.UNFINISHED, Outcome.BLOCKED, Outcome.BAD_KEYS} <= set(findings.outcomes)
    assert findings.outcomes[Outcome.BAD_KEYS] < 0.2 * findings.answers
    assert findings.flagged > 0


def test_a_seed_gives_the_same_answers_and_another_seed_others() -> None:
    def first(seed: int) -> list[object]:
        return list(itertools.islice(fuzzing.requests(seed, Protocol.BENCH, 1000), 50))

    assert first(1) == first(1) != first(2)


def test_a_difference_that_nothing_explains_is_a_violation(monkeypatch: Any) -> None:
    """So that the test above can fail: without `unpinned`, the clock is such a difference."""
    monkeypatch.setattr(fuzzing, "unpinned", lambda keys: ())
    request = fuzzing.ReplayRequest(Protocol.BENCH, "", "<Esc>:put =reltimestr(reltime())<CR>")
    findings = fuzzing.campaign([request], 0)
    assert len(findings.violations) == 1 and "differs the second time (final: " in findings.violations[0]


@pytest.mark.parametrize(
    ("keys", "uses"),
    [
        ("i<C-R>=strftime('%F')<CR><Esc>", ("strftime",)),
        (":put =localtime ()<CR>:put =rand()<CR>:put =localtime()<CR>", ("localtime", "rand")),
        ("%s/x/\\=reltimestr(reltime())/<CR>", ("reltimestr", "reltime")),
        (":call map([1], {-> call('srand', [])})<CR>", ("srand",)),
        (":earlier 10s<CR>", ("earlier",)),
        (":lat 5m<CR>", ("later",)),
        (':call echoraw("x")<CR>', ("echoraw",)),
        (":undol<CR>", ("undolist",)),
        (":au CursorHold * d<CR>", ("CursorHold",)),
        (":put =&maxmemtot<CR>", ("maxmem",)),
        (":set mm?<CR>", ("maxmem",)),
        # what is pinned, and what only looks like one of them
        (":earlier 3<CR>:later 1f<CR>", ()),
        ("iThe brand is operand(1), localtime, my_rand() and s:rand().<Esc>", ()),
        (":put =hostname()<CR>:put =$HOME<CR>:put =getcwd()<CR>", ()),
        ("mm'm:set tm=5<CR>", ()),
        ("", ()),
        ("<Foo>\ud800\0", ()),
    ],
)
def test_what_cannot_be_pinned_is_named_in_order_of_use(keys: str, uses: tuple[str, ...]) -> None:
    assert unpinned(keys) == uses


def test_what_the_docs_call_pinned_is_the_same_for_every_replay() -> None:
    asked = (
        *(
            "hostname()",
            "$HOME",
            "&term",
            "&encoding",
            "v:lang",
            "&lines . 'x' . &columns",
            "string(environ())",
        ),
        *("strftime('%Z', 0)", "getcwd()", "expand('%:p')", "string(readdir('.'))", "$USER", "v:servername"),
    )
    keys = "".join(f":$put ={expression}<CR>" for expression in asked)
    (result,) = replay_many([fuzzing.ReplayRequest(Protocol.BENCH, "", keys)])
    assert result.final is not None
    answers = dict(zip(asked, result.final.decode().splitlines()[1:], strict=True))
    environment = answers.pop("string(environ())")
    assert set(ast.literal_eval(environment)) == {
        *("HOME", "LANG", "TERM", "TMPDIR", "LINES", "COLUMNS", "TZ", "PATH", "VIM", "VIMRUNTIME")
    }
    assert answers == {
        "hostname()": "vim",
        "$HOME": "/scratch/home",
        "&term": "dumb",
        "&encoding": "utf-8",
        "v:lang": "C.UTF-8",
        "&lines . 'x' . &columns": "24x80",
        "strftime('%Z', 0)": "UTC",
        "getcwd()": "/scratch/work",
        "expand('%:p')": "/scratch/work/input.txt",
        "string(readdir('.'))": "['input.txt']",
        "$USER": "",
        "v:servername": "",
    }


@pytest.mark.parametrize(
    "said",
    [
        '{\\"a\\":".repeat("[", 100000)."}',  # nested deeper than a reader can go
        '{\\"line\\":".repeat("9", 30).",\\"column\\":1}',  # beyond any integer of the store
        '{\\"line\\":true,\\"column\\":-1}',
        '{\\"line\\":1e999,\\"column\\":[1],\\"mode\\":{},\\"buffer\\":7}',
        '{\\"mode\\":\\"\\\\ud800\\",\\"buffer\\":\\"\\\\u0000\\\\udfff\\",\\"errmsg\\":\\"E1: \\\\ud800\\"}',
        '".repeat("\\x1e{", 300000)."',  # beginnings without an end
    ],
)
def test_what_keys_say_in_the_probe_s_name_breaks_nothing(said: str, tmp_path: Path) -> None:
    forged = (
        f':call writefile([], "kept")<CR>:au! VimLeavePre<CR>:call echoraw("\\x1e{said}\\x1f")<CR>:qa!<CR>'
    )
    (result,) = replay_many([fuzzing.ReplayRequest(Protocol.BENCH, "x\n", forged)])
    assert result.outcome is Outcome.FINISHED and result.cursor is None and result.final == b"x\n"
    with replacing(tmp_path / "x.duckdb") as writer:
        writer.add_replays([result])


def test_vim_s_temporary_files_have_no_random_names_in_messages_or_beside_the_buffer() -> None:
    request = fuzzing.ReplayRequest(Protocol.BENCH, "x\n", ":r !date<CR>:put =glob('*')<CR>")
    (result,) = replay_many([request])
    assert result.last_error is not None and "/vXXXXXX/" in result.last_error.text
    assert result.final == b"x\ninput.txt\n"
