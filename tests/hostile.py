"""What hostile keys are tried against: a world with things to steal, break and reach, and eyes on it.

Run as a script it tries rows (JSON lines on standard input) unconfined and prints the ids of
those that broke their rule; `test_hostile.py` does that inside a throwaway container. Rows are
as in `data/hostile.jsonl`: id, protocol, rule, keys, breach.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vimlib.records import Outcome, Protocol, Replay
from vimlib.replay import ReplayRequest, close_starters, play, protocols
from vimlib.sandbox import Confinement

SECRET = "TOPSECRET123"
START = "alpha\nbeta\ngamma\n"
SECONDS = 1.0
"""Wall time of a replay here: what breaks the limit of 10 s breaks this one too."""
CONTROL = {Protocol.GOLF: "ddZZ", Protocol.BENCH: "dd"}
SCRATCH_BYTES, SCRATCH_FILES, MEMORY_BYTES = 64 << 20, 2000, 512 << 20


@dataclass
class Seen:
    """The most that was observed while a replay ran."""

    resident_bytes: int = 0
    scratch_bytes: int = 0
    scratch_files: int = 0


@dataclass
class World:
    """Everything that must be untouched afterwards."""

    folder: Path
    secret: Path
    out: Path
    port: int
    accepted: list[str] = field(default_factory=list)

    def fill(self, keys: str) -> str:
        names = {"{SECRET}": self.secret, "{OUT}": self.out, "{PORT}": self.port}
        for name, value in names.items():
            keys = keys.replace(name, str(value))
        return keys

    def outside(self) -> list[tuple[str, int, bytes]]:
        """Name, mode and content of everything in OUT."""
        found = []
        for path in sorted(self.out.rglob("*")):
            mode = path.lstat().st_mode
            content = path.read_bytes() if stat.S_ISREG(mode) else b""
            found.append((str(path.relative_to(self.out)), mode, content))
        return found


@contextlib.contextmanager
def world() -> Iterator[World]:
    folder = Path(tempfile.mkdtemp(prefix="hostile-"))
    out = folder / "out"
    out.mkdir()
    out.chmod(0o777)
    (out / "victim").write_text("victim\n")
    (out / "victim").chmod(0o644)
    (out / SECRET).touch()
    (out / "link").symlink_to(out / SECRET)
    secret = folder / "secret.txt"
    secret.write_text(SECRET + "\n")
    os.environ["HOSTILE_SECRET"] = SECRET
    tcp = socket.create_server(("127.0.0.1", 0))
    unix = socket.socket(socket.AF_UNIX)
    unix.bind(str(out / "listen.sock"))
    unix.listen()
    here = World(folder, secret, out, tcp.getsockname()[1])

    def listen(listener: socket.socket, name: str) -> None:
        with contextlib.suppress(OSError):
            while True:
                listener.accept()[0].close()
                here.accepted.append(name)

    for listener, name in ((tcp, "tcp"), (unix, "unix")):
        threading.Thread(target=listen, args=(listener, name), daemon=True).start()
    try:
        yield here
    finally:
        for listener in (tcp, unix):
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        os.environ.pop("HOSTILE_SECRET", None)
        shutil.rmtree(folder, ignore_errors=True)


def _status(pid: str, name: str) -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path("/proc", pid, "status").read_text().splitlines():
            if line.startswith(name + ":"):
                return int(line.split()[1])
    return 0


def _command(pid: str) -> list[str]:
    with contextlib.suppress(OSError):
        return Path("/proc", pid, "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
    return []


def processes_of_ours() -> dict[int, str]:
    """Number and command of the rows' sleepers, and of Vims that are below this process or orphans."""
    found = {}
    mine = {str(os.getpid())}
    parents = {pid: str(_status(pid, "PPid")) for pid in os.listdir("/proc") if pid.isdigit()}
    for _ in parents:
        more = {pid for pid, parent in parents.items() if parent in mine} - mine
        if not more:
            break
        mine |= more
    for pid in parents:
        words = _command(pid)
        sleeper = words[:2] == ["sleep", "331"]
        lost = pid in mine or parents[pid] == "1"
        vim = bool(words) and words[0].rsplit("/")[-1].startswith("vim") and lost
        if (sleeper or vim) and _status(pid, "VmSize"):
            found[int(pid)] = " ".join(words)[:80]
    return found


def _watch(seen: Seen, over: threading.Event) -> None:
    """Sample memory of the Vims and size of the scratch folders that this process has under it."""
    while not over.is_set():
        for pid in filter(str.isdigit, os.listdir("/proc")):
            words = _command(pid)
            if words and words[0] == "vim":
                seen.resident_bytes = max(seen.resident_bytes, _status(pid, "VmHWM") * 1024)
            elif any("inside.py" in word for word in words) and "bwrap" not in words[0]:
                with contextlib.suppress(OSError):
                    size = os.statvfs(Path("/proc", pid, "root", "scratch"))
                    used = (size.f_blocks - size.f_bfree) * size.f_frsize
                    seen.scratch_bytes = max(seen.scratch_bytes, used)
                    seen.scratch_files = max(seen.scratch_files, size.f_files - size.f_ffree)
        for folder in Path("/dev/shm").glob("vimlib-*/scratch"):
            with contextlib.suppress(OSError):
                files = [
                    entry for entry in os.scandir(folder / "work") if entry.is_file(follow_symlinks=False)
                ]
                seen.scratch_bytes = max(seen.scratch_bytes, sum(file.stat().st_size for file in files))
                seen.scratch_files = max(seen.scratch_files, len(files))
        over.wait(0.02)


def breaches(row: dict[str, Any], protocol: Protocol, confinement: Confinement) -> list[str]:
    """Which rules a row broke, in words; empty if it was stopped."""
    protocols.SECONDS = SECONDS
    with world() as here:
        keys = here.fill(row["keys"])
        before = here.outside()
        seen, over = Seen(), threading.Event()
        watcher = threading.Thread(target=_watch, args=(seen, over))
        watcher.start()
        began = time.monotonic()
        try:
            result: Replay | None = play(ReplayRequest(protocol, START, keys), confinement)
        except Exception as error:
            result, crash = None, f"the harness raised {type(error).__name__}: {error}"
        took = time.monotonic() - began
        over.set()
        watcher.join()
        if result is None:
            return [crash]
        broken = []
        final = result.final or b""
        if SECRET.encode() in final or SECRET in (result.buffer or ""):
            broken.append("secret in the buffer")
        if here.outside() != before:
            broken.append("something outside differs")
        if (here.out / "pwned").exists() or _left_in_scratch("pwned"):
            broken.append("a program was executed")
        time.sleep(0.05)
        if here.accepted:
            broken.append(f"connected by {', '.join(here.accepted)}")
        if left := processes_of_ours():
            broken.append(f"still running: {sorted(left.values())}")
            for pid in left:
                os.kill(pid, signal.SIGKILL)
        if took > SECONDS + 5:
            broken.append(f"took {took:.1f} s")
        if seen.resident_bytes > MEMORY_BYTES:
            broken.append(f"{seen.resident_bytes >> 20} MB of memory")
        if seen.scratch_bytes > SCRATCH_BYTES or seen.scratch_files > SCRATCH_FILES:
            broken.append(f"{seen.scratch_bytes >> 20} MB in {seen.scratch_files} files")
        if len(final) > SCRATCH_BYTES:
            broken.append("the file read back is too large")
        if result.outcome is Outcome.HARNESS_ERROR:
            broken.append(f"the harness failed: {result.detail}")
        if row["id"] == "t-errmsg" and result.first_error is None:
            broken.append("an error was hidden")
        control = play(ReplayRequest(protocol, START, CONTROL[protocol]), confinement)
        if control.final != b"beta\ngamma\n" or control.first_error is not None:
            broken.append(f"the next replay was changed: {control.final!r}, {control.first_error}")
        if confinement is Confinement.NONE:
            close_starters()  # what this row did to the harness itself is not the next one's doing
        return broken


def _left_in_scratch(name: str) -> bool:
    return any(Path("/dev/shm").glob(f"vimlib-*/scratch/work/{name}"))


def protocols_of(row: dict[str, Any]) -> list[Protocol]:
    return list(Protocol) if row["protocol"] == "both" else [Protocol(row["protocol"])]


def main() -> None:
    for line in sys.stdin:
        row = json.loads(line)
        for protocol in protocols_of(row):
            if broken := breaches(row, protocol, Confinement.NONE):
                print(json.dumps({"id": row["id"], "protocol": protocol, "broken": broken}), flush=True)
                break


if __name__ == "__main__":
    main()
