"""Replays on a Dask cluster: a real scheduler and real worker processes, on this machine."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from vimlib import cli
from vimlib.records import Outcome, Protocol, Replay
from vimlib.replay import (
    ClusterUnusable,
    MixedVim,
    ReplayCache,
    ReplayRequest,
    cluster,
    connected,
    find_vim,
    play,
    replay_each,
    replay_many,
    vim_build,
)
from vimlib.sandbox import Confinement, ConfinementUnavailable

distributed = pytest.importorskip(
    "distributed", reason="needs the package distributed: pip install 'vimlib[cluster]'"
)


class Dask:
    """A scheduler and its workers, each a process of its own, ended together."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.processes: list[subprocess.Popen[bytes]] = []
        self.workers: dict[int, subprocess.Popen[bytes]] = {}
        self._run("dask_scheduler", "--port", "0", "--no-show", environment=environment)
        self.address: str = self._wait_for(lambda: json.loads(self.file.read_text())["address"])

    def _run(self, command: str, *arguments: str, environment: dict[str, str]) -> subprocess.Popen[bytes]:
        script = f"distributed.cli.{command}"
        if command == "dask_scheduler":
            arguments = (
                "--scheduler-file",
                str(self.file),
                "--no-dashboard",
                "--host",
                "127.0.0.1",
                *arguments,
            )
        process = subprocess.Popen(
            [sys.executable, "-m", script, *arguments],
            cwd=self.folder,
            env=os.environ | environment,
            stdout=subprocess.DEVNULL,
            stderr=(self.folder / f"{command}-{len(self.processes)}.log").open("wb"),
        )
        self.processes.append(process)
        return process

    def worker(self, path: Path | None = None) -> str:
        """Start one worker, of one thread, with these programs alone if a path is given; its address."""
        import distributed

        environment = {} if path is None else {"PATH": str(path)}
        process = self._run(
            "dask_worker",
            *(self.address, "--no-nanny", "--no-dashboard", "--nthreads", "1", "--host", "127.0.0.1"),
            environment=environment,
        )
        with distributed.Client(self.address, set_as_default=False) as client:

            def address() -> str:
                pids = client.run(os.getpid)
                return {pid: name for name, pid in pids.items()}[process.pid]

            found: str = self._wait_for(address)
        self.workers[process.pid] = process
        return found

    @staticmethod
    def _wait_for(answer: Any) -> Any:
        deadline = time.monotonic() + 60
        while True:
            try:
                return answer()
            except (OSError, ValueError, KeyError):
                assert time.monotonic() < deadline
                time.sleep(0.1)

    def close(self) -> None:
        for process in reversed(self.processes):
            process.kill()
            process.wait()


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Dask]:
    """A scheduler without workers."""
    here = Dask(tmp_path)
    yield here
    here.close()


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a scheduler with two workers like this machine."""
    here = Dask(tmp_path_factory.mktemp("dask"))
    here.worker()
    here.worker()
    yield here.address
    here.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_CONNECT_SECONDS", 1)


@pytest.fixture
def other_vim(tmp_path: Path) -> Path:
    """A folder of programs whose Vim does the same and is another file."""
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "vim").write_bytes(find_vim().path.read_bytes() + b"\n")
    (folder / "vim").chmod(0o755)
    for name in ("bwrap", "ldd", "true"):
        (folder / name).symlink_to(shutil.which(name) or name)
    for name in ("bash", "sh", "cat"):
        (folder / name).symlink_to(shutil.which(name) or name)
    return folder


def _requests(count: int) -> list[ReplayRequest]:
    return [ReplayRequest(Protocol.BENCH, "x\n", f"i{number}") for number in range(count)]


def _finals(results: list[Replay]) -> list[bytes | None]:
    return [result.final for result in results]


def _timeless(results: list[Replay]) -> list[Replay]:
    return [replace(result, wall_seconds=0.0, cpu_seconds=None) for result in results]


def test_a_cluster_gives_the_same_replays_and_they_are_found_again(two_workers: str, tmp_path: Path) -> None:
    requests = _requests(20) + [
        ReplayRequest(Protocol.GOLF, "a\nb\n", "ddZZ"),
        ReplayRequest(Protocol.BENCH, "é\n", "ié<Esc>:w! /nowhere/x<CR>"),
        ReplayRequest(Protocol.BENCH, "x\n", "i<Left>"),
        ReplayRequest(Protocol.BENCH, "x\n", "\ud800"),
    ]
    cache = ReplayCache(tmp_path / "cache.sqlite")
    with connected(two_workers) as executor:
        assert executor is not None and executor.note is None
        assert list(executor.vims.values()) == [vim_build()] * 2
        there = replay_many(requests, executor=executor, cache=cache)
    assert _timeless(there) == _timeless(replay_many(requests))
    assert _finals(there)[:20] == [f"{number}x\n".encode() for number in range(20)]
    assert replay_many(requests, cache=cache) == there
    cache.close()


def test_a_worker_killed_in_mid_run_loses_and_doubles_nothing(dask: Dask) -> None:
    dask.worker()
    dask.worker()
    killed = next(iter(dask.workers))
    requests = _requests(200)
    done: list[tuple[ReplayRequest, Replay]] = []
    with connected(dask.address) as executor:
        for pair in replay_each(requests, executor=executor):
            done.append(pair)
            if len(done) == 60:
                os.kill(killed, signal.SIGKILL)
    assert dask.workers[killed].wait() == -signal.SIGKILL
    assert len(done) == 200 and {request for request, _ in done} == set(requests)
    assert all(result.final == f"{request.keys[1:]}x\n".encode() for request, result in done)
    assert {result.outcome for _, result in done} == {Outcome.FINISHED}
    with connected(dask.address) as executor:
        assert executor is not None and len(executor.vims) == 1


def test_a_result_marked_as_lost_when_it_arrives_is_asked_for_again(
    two_workers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So it comes where a worker dies just after it answered; a state changed in between stands for that."""
    state = distributed.client.Future.status.fget
    marked = []

    def status(future: Any) -> str:
        if state(future) == "finished" and not marked and "_cascade_future" in _callers():
            marked.append(future.key)
            return "lost"
        return str(state(future))

    monkeypatch.setattr(distributed.client.Future, "status", property(status))
    with connected(two_workers) as executor:
        results = replay_many(_requests(3), executor=executor)
    assert len(marked) == 1
    assert _finals(results) == [f"{number}x\n".encode() for number in range(3)]


def _callers() -> set[str]:
    return {frame.f_code.co_name for frame, _ in traceback.walk_stack(None)}


def test_a_request_whose_workers_die_is_the_harness_s_error_and_the_batch_goes_on(tmp_path: Path) -> None:
    dask = Dask(tmp_path, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")
    try:
        dask.worker()
        slow = ReplayRequest(Protocol.BENCH, "x\n", ":sleep 8<CR>")
        done: dict[ReplayRequest, Replay] = {}
        with connected(dask.address) as executor:
            assert executor is not None
            running = replay_each([slow], executor=executor)
            future = executor.submit(play, slow, Confinement.FULL)
            time.sleep(1.5)
            (killed,) = dask.workers
            os.kill(killed, signal.SIGKILL)
            assert future.result(timeout=60).outcome is Outcome.HARNESS_ERROR
            assert "lost with each worker that tried it" in future.result().detail
            dask.worker()
            done = dict(replay_each(_requests(10), executor=executor))
            running.close()
        assert {result.outcome for result in done.values()} == {Outcome.FINISHED} and len(done) == 10
    finally:
        dask.close()


def test_a_lost_scheduler_ends_the_batch_with_its_own_error(dask: Dask, tmp_path: Path) -> None:
    dask.worker()
    cache = ReplayCache(tmp_path / "cache.sqlite")
    done = 0
    with pytest.raises(ClusterUnusable, match="scheduler was lost"), connected(dask.address) as executor:
        for _ in replay_each(_requests(2000), executor=executor, cache=cache):
            done += 1
            if done == 50:
                dask.processes[0].kill()
    cache.close()
    assert 50 <= done < 2000


def test_a_worker_with_another_vim_is_refused_unless_allowed(dask: Dask, other_vim: Path) -> None:
    own = dask.worker()
    other = dask.worker(other_vim)
    with (
        pytest.raises(MixedVim, match=rf"another Vim.* on {other}; .*--mixed-vim") as refused,
        connected(dask.address),
    ):
        pass
    assert own not in str(refused.value)
    requests = _requests(60)
    with connected(dask.address, mixed_vim=True) as executor:
        assert executor is not None and executor.note is not None and other in executor.note
        results = replay_many(requests, executor=executor)
    assert _finals(results) == [f"{number}x\n".encode() for number in range(60)]
    assert {result.vim for result in results} == set(executor.vims.values())
    here = {result.key for result in replay_many(requests)}
    assert {result.key in here for result in results if result.vim == vim_build()} == {True}
    assert {result.key in here for result in results if result.vim != vim_build()} == {False}


def test_another_vim_that_joins_in_mid_run_is_noticed(dask: Dask, other_vim: Path) -> None:
    first = dask.worker()
    with connected(dask.address) as executor:
        running = replay_each(_requests(1500), executor=executor)
        next(running)
        dask.worker(other_vim)
        with pytest.raises(MixedVim, match="a worker that joined later"):
            list(running)
    assert first


def test_a_worker_that_cannot_confine_refuses_by_name(dask: Dask, other_vim: Path) -> None:
    (other_vim / "bwrap").unlink()
    (other_vim / "vim").unlink()
    (other_vim / "vim").symlink_to(find_vim().path)
    worker = dask.worker(other_vim)
    with pytest.raises(ConfinementUnavailable, match=f"worker {worker}: replays cannot be confined here"):
        with connected(dask.address):
            pass
    with connected(dask.address, confinement=Confinement.NONE) as executor:
        (result,) = replay_many(_requests(1), confinement=Confinement.NONE, executor=executor)
        assert (result.final, result.confinement) == (b"0x\n", "none")
        # Asked for it all the same, it refuses in the replay itself.
        with pytest.raises(ConfinementUnavailable, match=f"worker {worker}: replays cannot be confined here"):
            replay_many(_requests(1), executor=executor)


def test_a_worker_without_vim_or_by_other_rules_is_named(
    dask: Dask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = dask.worker()
    monkeypatch.setattr(cluster, "_rules", lambda *_: ["another version"])
    with pytest.raises(ClusterUnusable, match=f"worker {worker}: .* other rules"), connected(dask.address):
        pass


@pytest.mark.usefixtures("impatient")
def test_no_scheduler_or_no_worker_is_said_in_one_line(dask: Dask) -> None:
    with pytest.raises(ClusterUnusable, match="has no workers; start some: dask worker tcp://"):
        with connected(dask.address):
            pass
    for address in ("tcp://127.0.0.1:1", "nonsense://x", "127.0.0.1"):
        with pytest.raises(ClusterUnusable, match="no scheduler answers there"), connected(address):
            pass


def test_no_address_is_no_cluster() -> None:
    with connected("") as executor:
        assert executor is None


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ClusterUnusable, match=r"pip install 'vimlib\[cluster\]'"), connected("tcp://x:1"):
        pass


def test_the_command_line_replays_on_a_cluster(two_workers: str, tmp_path: Path, capsys: Any) -> None:
    def run(*arguments: str) -> int:
        with pytest.raises(SystemExit) as ended:
            cli.main([*arguments, "--no-cache", "--scheduler", two_workers])
        return int(ended.value.code or 0)

    row = {"id": "a", "start": "x\n", "target": "yx\n", "instruction": "y", "reference": "iy"}
    suite, batch, start = (tmp_path / name for name in ("suite.jsonl", "in.jsonl", "start.txt"))
    suite.write_text(json.dumps(row) + "\n")
    batch.write_text(json.dumps(row | {"keys": "iy"}) + "\n")
    start.write_text("x\n")
    assert run("replay", "--protocol", "bench", "--batch", str(batch)) == 0
    assert json.loads(capsys.readouterr().out)["passed"] is True
    chosen = ("--suite", str(suite))
    assert run("score", *chosen, "--protocol", "bench", "--solver", "reference") == 0
    assert "1/1" in capsys.readouterr().out
    assert run("verify", *chosen, "--protocol", "bench") == 0
    assert run("load", *chosen, "--database", str(tmp_path / "x.duckdb"), "--solver", "reference") == 0
    assert run("trace", "--protocol", "bench", "--file", str(start), "iy") == 0


@pytest.mark.usefixtures("impatient")
def test_the_command_line_says_that_a_cluster_cannot_be_used(capsys: Any) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["verify", "--scheduler", "tcp://127.0.0.1:1"])
    assert ended.value.code == ClusterUnusable.exit_code
    assert "no scheduler answers there" in capsys.readouterr().err
