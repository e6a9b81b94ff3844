"""Replays in the real Vim: outcomes, evidence, parity with the reference verifier, cache, batches."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from vimlib.records import Outcome, Protocol, Replay, Task
from vimlib.replay import (
    ReplayCache,
    ReplayRequest,
    close_starters,
    find_vim,
    play,
    protocols,
    replay_each,
    replay_many,
)
from vimlib.replay import playing as playing_module
from vimlib.replay.vim import NoVim, _patch
from vimlib.sandbox import Confinement, StarterDied
from vimlib.score import score

GOLDEN = Path(__file__).parent / "data" / "golden.jsonl"
START = "alpha\nbeta\ngamma\n"


def _rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in GOLDEN.read_text().splitlines()]


def _request(row: dict[str, Any]) -> ReplayRequest:
    return ReplayRequest(Protocol(row["protocol"]), row["start"], row["keys"])


def _timeless(result: Replay) -> Replay:
    return replace(result, wall_seconds=0.0, cpu_seconds=None)


def _unlike(row: dict[str, Any], result: Replay) -> list[str]:
    """Where a replay is not what its golden case says."""
    final = bytes.fromhex(row["final_hex"]) if "final_hex" in row else (row["final"] or "").encode()
    found = {"outcome": result.outcome, "final": result.final or b""}
    expected = {"outcome": row["outcome"], "final": final}
    for name in ("mode", "buffer"):
        if name in row:
            found[name], expected[name] = getattr(result, name), row[name]
    for name in ("first_error", "last_error"):
        if name in row:
            error = getattr(result, name)
            found[name], expected[name] = error and error.number, row[name]
    if "blocked" in row:
        found["blocked"], expected["blocked"] = row["blocked"] in result.blocked, True
    return [
        f"{row['id']}: {name} is {found[name]!r}, not {expected[name]!r}"
        for name in found
        if found[name] != expected[name]
    ]


def test_golden_cases() -> None:
    rows = _rows()
    results = replay_many(map(_request, rows))
    assert [line for row, result in zip(rows, results, strict=True) for line in _unlike(row, result)] == []
    assert {result.confinement for result in results} == {Confinement.FULL}


def test_the_same_pair_twice_gives_the_same_replay() -> None:
    requests = [_request(row) for row in _rows() if row["outcome"] != Outcome.TIMEOUT]
    first, second = replay_many(requests), replay_many(requests)
    assert list(map(_timeless, first)) == list(map(_timeless, second))


def test_golden_cases_reach_every_outcome_but_the_harness_s_own() -> None:
    assert {row["outcome"] for row in _rows()} == set(Outcome) - {Outcome.HARNESS_ERROR}


def test_lost_harness_process_is_tried_again_then_reported_as_its_own_fault(monkeypatch: Any) -> None:
    request = ReplayRequest(Protocol.BENCH, START, "dd")
    play(request)
    idle = playing_module._starters._idle[find_vim(), Confinement.FULL]
    for starter in idle:
        starter._process.kill()
    assert play(request).outcome is Outcome.FINISHED

    def dies(*_: object) -> None:
        raise StarterDied("the process that starts replays ended unexpectedly: killed")

    monkeypatch.setattr(playing_module, "_played", dies)
    result = play(request)
    assert result.outcome is Outcome.HARNESS_ERROR
    assert "ended unexpectedly" in result.detail
    assert score(Task("t", START, "x"), Protocol.BENCH, "dd", result).passed is None


def test_verdicts_equal_those_of_the_reference_verifier(shared_data: Path) -> None:
    challenges = {
        row["id"]: row
        for row in map(json.loads, (shared_data / "vimgolf" / "challenges.jsonl").read_text().splitlines())
    }
    rows = [
        json.loads(line)
        for line in (shared_data / "vimgolf" / "peer_verdicts.jsonl").read_text().splitlines()
    ]
    requests = [
        ReplayRequest(Protocol.GOLF, challenges[row["challenge_id"]]["input"], row["keys"]) for row in rows
    ]
    differing = []
    for row, result in zip(rows, replay_many(requests), strict=True):
        challenge = challenges[row["challenge_id"]]
        task = Task(challenge["id"], challenge["input"], challenge["target"])
        verdict = score(task, Protocol.GOLF, row["keys"], result)
        same_file = result.final is not None and (
            row["status"].startswith("harness_error")
            or result.final.decode().replace("\r\n", "\n") == row["output"]
        )
        if verdict.correct != row["correct"] or not same_file:
            differing.append((row["challenge_id"], row["keys"], result.outcome))
    assert len(rows) == 294
    assert differing == []


def test_verified_published_solutions_are_correct(shared_data: Path) -> None:
    folder = shared_data / "vimgolf"
    challenges = {
        row["id"]: row for row in map(json.loads, (folder / "challenges.jsonl").read_text().splitlines())
    }
    solutions = list(map(json.loads, (folder / "solutions.jsonl").read_text().splitlines()))
    verified = [row for row in solutions if row["verified"]]
    results = replay_many(
        ReplayRequest(Protocol.GOLF, challenges[row["challenge_id"]]["input"], row["keys"])
        for row in verified
    )
    wrong = [
        row["keys"]
        for row, result in zip(verified, results, strict=True)
        if not score(
            Task("t", "", challenges[row["challenge_id"]]["target"]), Protocol.GOLF, row["keys"], result
        ).correct
    ]
    assert len(verified) == 59
    assert wrong == []


def test_cached_replays_start_no_vim_and_are_the_same(tmp_path: Path, monkeypatch: Any) -> None:
    requests = [ReplayRequest(Protocol.BENCH, START, keys) for keys in ("dd", "x", "i<Left>", "\x16\ud800")]
    requests += [ReplayRequest(Protocol.GOLF, START, ":set fenc=latin1<NL>ié<Esc>:bogus<NL>:wq<NL>")]
    cache = ReplayCache(tmp_path / "cache" / "replays.sqlite")
    first = replay_many(requests, cache=cache)
    cache.close()
    close_starters()

    def never(*_: object) -> None:
        raise AssertionError("Vim was started")

    monkeypatch.setattr("vimlib.replay.play", never)
    cache = ReplayCache(tmp_path / "cache" / "replays.sqlite")
    assert replay_many(requests, cache=cache) == first
    cache.close()


def test_equal_requests_share_one_replay_and_keep_their_places() -> None:
    keys = ["dd", "x", "dd", "dd", "x"]
    counted: list[int] = []
    results = replay_many(
        (ReplayRequest(Protocol.BENCH, START, one) for one in keys), progress=counted.append
    )
    assert len({result.key for result in results}) == 2
    assert [result.final for result in results] == [
        {"dd": b"beta\ngamma\n", "x": b"lpha\nbeta\ngamma\n"}[one] for one in keys
    ]
    assert sum(counted) == len(keys)


def test_confinement_is_part_of_what_a_replay_is_kept_under(tmp_path: Path) -> None:
    request = ReplayRequest(Protocol.BENCH, START, "dd")
    confined, free = (replay_many([request], confinement=one)[0] for one in Confinement)
    assert confined.key != free.key
    assert (confined.confinement, free.confinement) == ("namespaces+seccomp", "none")
    assert confined.final == free.final


def test_killed_batch_resumes_where_it_stopped(tmp_path: Path) -> None:
    script = f"""
from pathlib import Path
from vimlib.records import Protocol
from vimlib.replay import ReplayCache, ReplayRequest, replay_each
cache = ReplayCache(Path({str(tmp_path / "c.sqlite")!r}))
requests = [ReplayRequest(Protocol.BENCH, "x\\n", f"i{{n}}") for n in range(600)]
for number, _ in enumerate(replay_each(requests, cache=cache)):
    print(number, flush=True)
"""
    running = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert running.stdout is not None
    while int(running.stdout.readline()) < 250:
        pass
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    cache = ReplayCache(tmp_path / "c.sqlite")
    requests = [ReplayRequest(Protocol.BENCH, "x\n", f"i{n}") for n in range(600)]
    before = len(list(cache.get(protocols.replay_key(r, find_vim(), Confinement.FULL) for r in requests)))
    done = [result for _, result in replay_each(requests, cache=cache)]
    cache.close()
    assert 0 < before < 600
    assert len(done) == 600 and len({result.key for result in done}) == 600
    assert {result.final for result in done} == {f"{n}x\n".encode() for n in range(600)}


def test_no_process_is_left_when_the_pool_is_closed() -> None:
    replay_many([ReplayRequest(Protocol.BENCH, START, "dd")])
    close_starters()
    deadline = time.monotonic() + 5
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    while "bwrap" in "".join(Path("/proc", pid, "comm").read_text() for pid in children.read_text().split()):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _running_with(text: str) -> list[str]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                words = (folder / "cmdline").read_bytes().decode(errors="replace")
                if text in words and words.startswith("vim\0"):
                    found.append(folder.name)
    return found


def test_starters_outlive_the_threads_that_made_them() -> None:
    close_starters()
    replay_many(ReplayRequest(Protocol.BENCH, START, f"i{n}") for n in range(8))
    idle = playing_module._starters._idle[find_vim(), Confinement.FULL]
    assert idle and all(starter._process.poll() is None for starter in idle)


def test_nothing_is_left_running_when_the_harness_is_killed() -> None:
    mark = f"sleep {os.getpid()}4711"
    script = f"""
from vimlib.records import Protocol
from vimlib.replay import ReplayRequest, play
play(ReplayRequest(Protocol.GOLF, "a\\n", ":{mark}<CR>"))
"""
    running = subprocess.Popen([sys.executable, "-c", script])
    deadline = time.monotonic() + 8
    while not _running_with(mark):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    running.kill()
    running.wait()
    deadline = time.monotonic() + 3
    while _running_with(mark):
        assert time.monotonic() < deadline, "Vim outlived the process that asked for it"
        time.sleep(0.02)


def test_missing_or_poor_vim_is_said_in_one_line(tmp_path: Path, monkeypatch: Any) -> None:
    with pytest.raises(NoVim, match="not on the PATH.*apt-get install vim"):
        find_vim(str(tmp_path / "vim"))
    for says, why in (
        ("echo nonsense", "does not say that it is Vim"),
        ('echo "VIM - Vi IMproved 8.0 (2016 Sep 12)"', "Vim 8.0 and lacks"),
    ):
        poor = tmp_path / says.split()[1]
        poor.write_text(f"#!/bin/sh\n{says}\n")
        poor.chmod(0o755)
        with pytest.raises(NoVim, match=why):
            find_vim(str(poor))


@pytest.mark.parametrize(
    ("patches", "level"),
    [
        ("1-1378, 1499, 1532, 2142", "1378"),
        ("1-948, 950-1230, 1242, 1244", "1230"),
        ("1", "1"),
        ("1-3", "3"),
    ],
)
def test_the_patch_level_of_a_vim_is_the_end_of_its_last_range(patches: str, level: str) -> None:
    assert _patch(f"VIM - Vi IMproved 9.1\nIncluded patches: {patches}\nModified by x") == level
    assert _patch("VIM - Vi IMproved 9.1") == ""
