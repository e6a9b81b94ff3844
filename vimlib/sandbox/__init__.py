"""A program confined by the kernel: what keys from a language model may do to this machine.

The keys are run by an editor that can write files, start processes and open sockets, and
its own restricted mode stops none of that for good. So the kernel does, in three parts:

* **Namespaces** (set up by `bwrap`, finished by `inside.py`): the program sees its own
  file, its libraries, the folders it was given (read-only), `/dev/null` and a scratch
  folder in memory; no other file has a name there. No network interface, no other
  process, no `/proc`. The scratch folder is limited in size and number of files, holds
  no executable, and is gone with the process that made it.
* **A system-call filter** (libseccomp, `calls.py`): no exec after the program's own start,
  no fork (threads may be, and the child of a `posix_spawn`, which could only exec and may
  not), no socket, signal, link, device, mode or owner change, mount or namespace.
* **Limits** (rlimits and the starter's clock): wall time, CPU time, memory, size of a
  file, open files, output.

What it does not stop: burning CPU within the limits, filling the scratch folder up to its
size, reading the program's own runtime, and reading the clock, the kernel's name and
version, the user's number and the machine's load. It defends against keys, not against an
attacker who has a fault of the kernel itself. And what the program says of itself on its
output proves nothing: it is the attacker's to write.

A `Starter` is one long-lived process inside; it starts the program again and again, and
the confinement costs each start next to nothing. This module knows nothing of Vim.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from vimlib.records import VimlibError
from vimlib.sandbox import inside
from vimlib.sandbox.calls import FilterUnavailable, filter_code

__all__ = ["Command", "Confinement", "ConfinementUnavailable", "Ended", "Limits", "Program", "Starter"]
__all__ += ["StarterDied", "missing_parts", "unavailable"]

MEBIBYTE = 1 << 20
_JAIL = "/mnt"
"""Where bwrap builds the view, under a root that still holds Python; any folder that every system has."""


class Confinement(StrEnum):
    """What the kernel enforces during a replay; recorded with each."""

    FULL = "namespaces+seccomp"
    NONE = "none"
    """Only the limits of resources. Chosen by the user in so many words, never a fallback."""


class ConfinementUnavailable(VimlibError):
    """A part of the confinement is missing here, and the user has not chosen to do without."""

    exit_code = 5


class StarterDied(VimlibError):
    """The process inside the confinement ended without an answer: the harness's fault."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run of the program may use."""

    cpu_seconds: int = 11
    memory_bytes: int = 512 * MEBIBYTE
    """Address space."""
    file_bytes: int = 16 * MEBIBYTE
    """Of any one file, so also of the file that is read back."""
    scratch_bytes: int = 48 * MEBIBYTE
    scratch_inodes: int = 1000
    output_bytes: int = 8 * MEBIBYTE
    """Output beyond this ends the run."""
    open_files: int = 64


@dataclass(frozen=True, slots=True)
class Program:
    """The one program that may run, and all that it may see."""

    path: Path
    readable: tuple[Path, ...] = ()
    """Folders and files that it finds, read-only, under the paths they have outside."""
    placed: Mapping[str, Path] = field(default_factory=dict)
    """Name -> file outside: found, read-only, in the folder `Starter.resources`."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """All of its environment; `{scratch}` in a value stands for the scratch folder."""
    folders: tuple[str, ...] = ("work",)
    """Folders in scratch, empty at each start; it starts in the first."""


@dataclass(frozen=True, slots=True)
class Command:
    """One run of the program."""

    arguments: Sequence[str]
    """From argument 0 on; `{scratch}`, `{resources}`, `{read_only}` are NOT replaced: see `Starter`."""
    files: Mapping[str, bytes]
    """Written before, by path in scratch."""
    collect: str
    """The one file read back, by path in scratch."""
    seconds: float
    """Wall time."""
    read_only: bytes | None = None
    """Content of the file `Starter.read_only`, which the program can read and not write."""
    end_marker: str = "\0"
    """Output that means: nothing more will come, end the program here."""
    output_tail: int = MEBIBYTE
    """Bytes of output kept, from the end."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How one run of the program ended."""

    cause: str
    """exit, marker, timeout or output_limit."""
    exit_status: int
    """As `os.waitstatus_to_exitcode`: negative is the signal."""
    collected: bytes | None
    why_not: str
    """Why nothing was collected."""
    output: bytes
    """Its tail; standard output and error as they came."""
    blocked: tuple[str, ...]
    """Names of forbidden system calls that were tried."""
    wall_seconds: float
    cpu_seconds: float


def libraries(program: Path) -> list[Path]:
    """The shared libraries of a program, the loader included, as the system's loader finds them."""
    try:
        listing = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False).stdout
    except FileNotFoundError as error:
        raise ConfinementUnavailable(_refusal(["ldd, which lists Vim's libraries: not found"])) from error
    words = (word for line in listing.splitlines() for word in line.split())
    return sorted({Path(word) for word in words if word.startswith("/")})


def _view(program: Program) -> list[str]:
    """bwrap's arguments that make the view under `_JAIL`, holding the program's files and no others."""
    arguments = ["--ro-bind", "/", "/", "--dev", "/dev", "--tmpfs", _JAIL]
    for folder in ("/dev", "/scratch", "/read-only", "/resources"):
        arguments += ["--dir", _JAIL + folder]
    arguments += ["--dev-bind", "/dev/null", _JAIL + "/dev/null"]
    for path in (program.path, *libraries(program.path), *program.readable):
        if path.exists():
            arguments += ["--ro-bind", str(path.resolve()), _JAIL + str(path)]
    for name, path in program.placed.items():
        arguments += ["--ro-bind", str(path.resolve()), f"{_JAIL}/resources/{name}"]
    return [*arguments, "--remount-ro", _JAIL]


def _bwrap(program: Program) -> list[str]:
    return [
        # No --die-with-parent: the parent it means is a thread, which may end long before its process.
        *("bwrap", "--unshare-all", "--new-session", "--clearenv", "--hostname", "vim"),
        # What `inside.py` needs to finish the view, and to give up these very capabilities.
        *("--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN"),
        *("--cap-add", "CAP_SYS_CHROOT", "--cap-add", "CAP_SETPCAP"),
        *_view(program),
        "--",
    ]


class Starter:
    """One process inside the confinement that runs the program whenever asked, one run at a time.

    Made on first use and made anew after a run that left more behind than a few files. Use
    it from one thread at a time; `close()` ends it, and so does the end of this process.
    """

    def __init__(self, program: Program, limits: Limits, confinement: Confinement) -> None:
        """Raises ConfinementUnavailable where confinement is asked for and a part is missing."""
        self.confinement = confinement
        self._program = program
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: str | None = None
        atexit.register(self.close)
        self._start()

    @property
    def scratch(self) -> str:
        """Path of the scratch folder as the program sees it."""
        return "/scratch" if self.confinement is Confinement.FULL else f"{self._folder}/scratch"

    @property
    def read_only(self) -> str:
        """Path of the read-only file as the program sees it."""
        folder = "/read-only" if self.confinement is Confinement.FULL else f"{self._folder}/read-only"
        return f"{folder}/file"

    def resource(self, name: str) -> str:
        """Path of a placed file as the program sees it."""
        if self.confinement is Confinement.FULL:
            return f"/resources/{name}"
        return str(self._program.placed[name])

    def _start(self) -> None:
        confined = self.confinement is Confinement.FULL
        script = [sys.executable, "-I", "-S", "-B", inside.__file__]
        code, names = filter_code() if confined else (b"", {})
        if confined:
            script = [*_bwrap(self._program), *script]
        else:
            memory = Path("/dev/shm")
            self._folder = tempfile.mkdtemp(prefix="vimlib-", dir=memory if memory.is_dir() else None)
        try:
            self._process = subprocess.Popen(
                script,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is for this process, which then closes that one
            )
        except FileNotFoundError as error:
            raise ConfinementUnavailable(_refusal([f"bwrap: {error.strerror}"])) from error
        except OSError as error:
            raise StarterDied(
                f"the process that starts replays cannot be started: {error.strerror}"
            ) from error
        scratch = self.scratch
        environment = {k: v.replace("{scratch}", scratch) for k, v in self._program.environment.items()}
        config: dict[str, Any] = {
            "confined": confined,
            "root": _JAIL,
            "scratch": scratch,
            "read_only_file": self.read_only,
            "program": str(self._program.path.resolve()),
            "environment": environment,
            "folders": self._program.folders,
            "notified": names,
        }
        limits = {name: getattr(self._limits, name) for name in Limits.__dataclass_fields__}
        header, _ = self._ask(config | limits, [code])
        if not header["ready"]:
            self.close()
            raise ConfinementUnavailable(_refusal([header["why"]]))

    def _ask(self, header: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        process = self._process
        assert process and process.stdin and process.stdout and process.stderr
        try:
            inside.write_frame(process.stdin, header, blobs)
            frame = inside.read_frame(process.stdout)
        except (BrokenPipeError, json.JSONDecodeError):
            frame = None
        if frame is None:
            process.kill()
            words = process.stderr.read().decode(errors="replace").strip().splitlines()
            self.close()
            said = words[-1] if words else f"exit status {process.returncode}"
            raise StarterDied(f"the process that starts replays ended unexpectedly: {said}")
        return frame

    def run(self, command: Command) -> Ended:
        """Run the program once. Raises StarterDied if the harness's own process is lost.

        Arguments must hold neither NUL nor lone surrogates, and no word over 128 KiB.
        """
        if self._process is None:
            self._start()
        files = dict(command.files)
        request = {
            "arguments": list(command.arguments),
            "files": list(files),
            "read_only": command.read_only is not None,
            "collect": command.collect,
            "seconds": command.seconds,
            "end_marker": command.end_marker,
            "output_tail": command.output_tail,
        }
        blobs = [command.read_only] if command.read_only is not None else []
        answer, (output, collected) = self._ask(request, [*blobs, *files.values()])
        if not answer["clean"]:
            self.close()
        return Ended(
            cause=answer["cause"],
            exit_status=answer["exit_status"],
            collected=collected if answer["collected"] else None,
            why_not=answer["why_not"],
            output=output,
            blocked=tuple(answer["blocked"]),
            wall_seconds=answer["wall_seconds"],
            cpu_seconds=answer["cpu_seconds"],
        )

    def close(self) -> None:
        """End the process; with it goes its scratch folder and whatever still ran inside."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    with contextlib.suppress(BrokenPipeError):
                        stream.close()
        folder, self._folder = self._folder, None
        if folder is not None:
            # rm first: it takes the deep trees that shutil.rmtree gives up on
            for command in (["chmod", "-R", "u+rwx", folder], ["rm", "-rf", folder]):
                with contextlib.suppress(FileNotFoundError):
                    subprocess.run(command, check=False, capture_output=True)
            shutil.rmtree(folder, ignore_errors=True)


def _refusal(parts: Sequence[str]) -> str:
    return (
        f"replays cannot be confined here ({'; '.join(parts)}); expected bwrap, user namespaces and seccomp: "
        "see `vimlib doctor`, or replay answers that you trust with --unconfined"
    )


def missing_parts() -> dict[str, str | None]:
    """Each part of the confinement, tried for real: None if it works, else why not and what to do."""
    parts: dict[str, str | None] = {}
    try:
        filter_code()
        parts["system-call filter (libseccomp)"] = None
    except FilterUnavailable as error:
        parts["system-call filter (libseccomp)"] = str(error)
    machine = os.uname().machine
    known = machine in inside.SYSCALL_SECCOMP
    parts["processor"] = None if known else f"{machine} is not known; expected x86_64 or aarch64"
    if shutil.which("bwrap") is None:
        parts["bwrap"] = "not found; install the package bubblewrap (Debian and conda-forge)"
        return parts
    parts["bwrap"] = None
    tried = subprocess.run(
        [
            *("bwrap", "--unshare-all", "--cap-add", "CAP_SYS_ADMIN", "--ro-bind", "/", "/"),
            *(sys.executable, "-I", "-S", "-c", ""),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    why = tried.stderr.strip() or f"exit status {tried.returncode}"
    parts["namespaces"] = (
        None
        if tried.returncode == 0
        else f"{why}; the kernel or the container forbids user namespaces: in Docker run with "
        "--security-opt seccomp=unconfined, on Ubuntu see sysctl kernel.apparmor_restrict_unprivileged_userns"
    )
    return parts


def unavailable() -> str | None:
    """One line on what confinement lacks here; None if nothing."""
    lacking = [f"{part}: {why}" for part, why in missing_parts().items() if why]
    return _refusal(lacking) if lacking else None
