"""The process that lives inside the confinement and starts the confined program, over and over.

It runs as a script of its own, on the standard library alone, because it must import
everything before it gives up sight of the Python installation. It gives up, once, what
its children would otherwise have to give up each time: the file system (chroot into a
view that holds the program's files and an in-memory scratch folder), all capabilities,
and resource limits. The system-call filter belongs to one thread, which does nothing but
start the program; what it starts inherits the filter. So a start is a bare `posix_spawn`,
a third of the price of a fork of Python with all that would have to follow it.

Talk is by frames on standard input and output: a JSON header line, then the bytes whose
lengths the header names. One request, one answer, in order; end of input ends the process.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import queue
import resource
import select
import signal
import stat
import struct
import sys
import threading
import time
from typing import IO, Any

PROGRAM_ADDRESS = 0x7_0000_0000
"""Where in this process the program's path lies. The filter allows `execve` for a path at this very
address alone. In the program itself, after its own start, nothing is ever mapped here (far above
what the memory limit lets a heap reach, far below where libraries go), so it can exec nothing."""

SYSCALL_SECCOMP = {"x86_64": 317, "aarch64": 277}
_PAGE = 4096
_PROT_READ_WRITE, _MAP_PRIVATE_ANONYMOUS_FIXED_NOREPLACE = 3, 0x100022
_SPAWN_SETSIGDEF, _SPAWN_SETSID = 0x04, 0x80
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 2, 4, 8
_PR_CAPBSET_DROP, _CAPABILITIES = 24, 64
_PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 38, 47, 4
_SECCOMP_SET_MODE_FILTER, _SECCOMP_FILTER_FLAG_NEW_LISTENER = 1, 8
_NOTIF_RECV, _NOTIF_SEND = 0xC0502100, 0xC0182101
_READ_SIZE = 1 << 16

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


class Inside:
    """One confined (or, told so, unconfined) starter of one program."""

    def __init__(self, config: dict[str, Any], filter_code: bytes) -> None:
        self.scratch = config["scratch"]
        self.output_limit = config["output_bytes"]
        self.collect_limit = config["file_bytes"]
        self.confined = config["confined"]
        self.names = {int(number): name for number, name in config["notified"].items()}
        self.environment = [f"{k}={v}".encode() for k, v in config["environment"].items()]
        self.folders = config["folders"]
        self.program = config["program"]
        self.cpu_seconds = config["cpu_seconds"]
        # A pipe that nobody writes to: the program waits on it for ever, and never sees its end.
        self.silence, self._silence_writer = os.pipe()
        if self.confined:
            self._enter(config)
        self._limit(config)
        for folder in self.folders:
            os.makedirs(os.path.join(self.scratch, folder), mode=0o700, exist_ok=True)
        os.chdir(os.path.join(self.scratch, self.folders[0]))
        self.read_only = self._read_only_file(config["read_only_file"])
        self.view = self._entries()
        self.listener = -1
        self._prepare_spawn()
        self._commands: queue.SimpleQueue[tuple[list[bytes], int]] = queue.SimpleQueue()
        self._started: queue.SimpleQueue[int | Exception] = queue.SimpleQueue()
        threading.Thread(target=self._start_each, args=(filter_code,), daemon=True).start()
        ready = self._started.get()
        if isinstance(ready, Exception):
            raise ready

    def _enter(self, config: dict[str, Any]) -> None:
        """Mount the scratch folder with its limits, chroot into the view, drop every capability."""
        options = f"size={config['scratch_bytes']},nr_inodes={config['scratch_inodes']},mode=0700"
        for folder in (config["scratch"], os.path.dirname(config["read_only_file"])):
            _checked(
                _libc.mount(
                    b"scratch",
                    (config["root"] + folder).encode(),
                    b"tmpfs",
                    ctypes.c_ulong(_MS_NOSUID | _MS_NODEV | _MS_NOEXEC),
                    options.encode(),
                ),
                "mounting the scratch folder",
            )
        os.chroot(config["root"])
        os.chdir("/")
        _checked(_libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), "dropping ambient caps")
        for capability in range(_CAPABILITIES):
            # Out of the bounding set too: exec would give them back to user 0. Numbers beyond the
            # kernel's last are refused, which is as good.
            _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
        header = struct.pack("=II", 0x20080522, 0)
        _checked(_libc.capset(header, bytes(24)), "dropping capabilities")
        _checked(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "setting no_new_privs")

    def _limit(self, config: dict[str, Any]) -> None:
        for name, value in (
            ("RLIMIT_AS", config["memory_bytes"]),
            ("RLIMIT_FSIZE", config["file_bytes"]),
            ("RLIMIT_NOFILE", config["open_files"]),
            ("RLIMIT_CORE", 0),
        ):
            number = getattr(resource, name)
            hard = resource.getrlimit(number)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(number, (value, value))
        # A write beyond the file size limit fails with an error message instead of killing the program.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def _read_only_file(self, path: str) -> int:
        """A file that the program may read and, having neither the mode nor chmod, not write."""
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o400)
        os.chmod(os.path.dirname(path), 0o500)
        return descriptor

    def run(self, request: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        """Write the files, run the program once, read the one file back."""
        os.ftruncate(self.read_only, 0)
        if request["read_only"]:
            os.pwrite(self.read_only, blobs.pop(0), 0)
        for name in request["files"]:
            descriptor = os.open(
                os.path.join(self.scratch, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600
            )
            with open(descriptor, "wb") as file:
                file.write(blobs.pop(0))
        ended = self._execute([word.encode() for word in request["arguments"]], request)
        collected, why_not = self._collect(os.path.join(self.scratch, request["collect"]))
        output = ended.pop("output")
        ended.update(why_not=why_not, collected=collected is not None, clean=self._clean())
        return ended, [output, collected or b""]

    def _prepare_spawn(self) -> None:
        """What is the same for all starts: the path in its place, the attributes, the environment."""
        mapped = _libc.mmap(
            ctypes.c_void_p(PROGRAM_ADDRESS),
            ctypes.c_size_t(_PAGE),
            _PROT_READ_WRITE,
            _MAP_PRIVATE_ANONYMOUS_FIXED_NOREPLACE,
            -1,
            ctypes.c_long(0),
        )
        if mapped != PROGRAM_ADDRESS:
            number = ctypes.get_errno()
            raise OSError(number, f"mapping the place of the program's path: {os.strerror(number)}")
        path = self.program.encode() + b"\0"
        ctypes.memmove(PROGRAM_ADDRESS, path, len(path))
        self._environment = (ctypes.c_char_p * (len(self.environment) + 1))(*self.environment, None)
        # Both structures are opaque; glibc's are 336 and 80 bytes, musl's 336 and 128.
        self._attributes = ctypes.create_string_buffer(512)
        _libc.posix_spawnattr_init(self._attributes)
        defaults = ctypes.create_string_buffer(128)
        _libc.sigemptyset(defaults)
        for number in (signal.SIGPIPE, signal.SIGINT):
            _libc.sigaddset(defaults, int(number))
        _libc.posix_spawnattr_setsigdefault(self._attributes, defaults)
        _libc.posix_spawnattr_setflags(self._attributes, ctypes.c_short(_SPAWN_SETSID | _SPAWN_SETSIGDEF))

    def _start_each(self, filter_code: bytes) -> None:
        """The thread that starts the program: under the filter, and doing nothing else."""
        try:
            if self.confined:
                self._install(filter_code)
        except OSError as error:
            self._started.put(error)
            return
        self._started.put(0)
        pid = ctypes.c_int()
        while True:
            arguments, writer = self._commands.get()
            argv = (ctypes.c_char_p * (len(arguments) + 1))(*arguments, None)
            actions = ctypes.create_string_buffer(512)
            _libc.posix_spawn_file_actions_init(actions)
            for source, target in ((self.silence, 0), (writer, 1), (writer, 2)):
                _libc.posix_spawn_file_actions_adddup2(actions, source, target)
            number = _libc.posix_spawn(
                ctypes.byref(pid),
                ctypes.c_void_p(PROGRAM_ADDRESS),
                actions,
                self._attributes,
                argv,
                self._environment,
            )
            _libc.posix_spawn_file_actions_destroy(actions)
            problem = OSError(number, f"starting {self.program}: {os.strerror(number)}")
            self._started.put(problem if number else pid.value)

    def _install(self, filter_code: bytes) -> None:
        code = ctypes.create_string_buffer(filter_code, len(filter_code))
        # struct sock_fprog: the number of 8-byte instructions, and where they are.
        program = struct.pack("@HP", len(filter_code) // 8, ctypes.addressof(code))
        self.listener = _checked(
            _libc.syscall(
                SYSCALL_SECCOMP[os.uname().machine],
                _SECCOMP_SET_MODE_FILTER,
                _SECCOMP_FILTER_FLAG_NEW_LISTENER,
                ctypes.create_string_buffer(program),
            ),
            "installing the filter",
        )

    def _execute(self, arguments: list[bytes], request: dict[str, Any]) -> dict[str, Any]:
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        began = time.perf_counter()
        self._commands.put((arguments, writer))
        pid = self._started.get()
        os.close(writer)
        if isinstance(pid, Exception):
            os.close(reader)
            raise pid
        process = os.pidfd_open(pid)
        resource.prlimit(pid, resource.RLIMIT_CPU, (self.cpu_seconds, self.cpu_seconds))
        try:
            ended = self._watch(pid, process, reader, request, began)
        finally:
            os.close(process)
            os.close(reader)
        ended["wall_seconds"] = time.perf_counter() - began
        return ended

    def _watch(
        self, pid: int, process: int, reader: int, request: dict[str, Any], began: float
    ) -> dict[str, Any]:
        """Wait, without polling by the clock, for the first of: exit, end marker, a limit."""
        poll = select.poll()
        poll.register(process, select.POLLIN)
        poll.register(reader, select.POLLIN)
        poll.register(0, 0)  # reports only that nobody is left to ask for anything
        if self.listener >= 0:
            poll.register(self.listener, select.POLLIN)
        marker = request["end_marker"].encode()
        deadline = began + request["seconds"]
        output = bytearray()
        seen = 0
        blocked: list[str] = []
        cause = ""
        while not cause:
            left = deadline - time.perf_counter()
            if left <= 0:
                cause = "timeout"
                break
            for descriptor, _ in poll.poll(left * 1000 + 1):
                if descriptor == reader:
                    try:
                        data = os.read(reader, _READ_SIZE)
                    except BlockingIOError:
                        data = b""
                    if not data:
                        poll.unregister(reader)
                        continue
                    output += data
                    seen += len(data)
                    if marker in output[-len(data) - len(marker) :]:
                        cause = "marker"
                    elif seen > self.output_limit:
                        cause = "output_limit"
                    elif len(output) > 4 * _READ_SIZE + request["output_tail"]:
                        del output[: -request["output_tail"]]
                elif descriptor == self.listener:
                    self._refuse(blocked)
                elif descriptor == process:
                    cause = "exit"
                elif descriptor == 0:
                    self._end(pid)
                    os._exit(0)
        self._end(pid)
        _, status, used = os.wait4(pid, 0)
        while cause == "exit":
            try:
                data = os.read(reader, _READ_SIZE)
            except BlockingIOError:
                break
            if not data:
                break
            output += data
            del output[: -request["output_tail"]]
        return {
            "cause": cause,
            "exit_status": os.waitstatus_to_exitcode(status),
            "cpu_seconds": used.ru_utime + used.ru_stime,
            "blocked": blocked,
            "output": bytes(output[-request["output_tail"] :]),
        }

    def _end(self, pid: int) -> None:
        """Leave nothing running: in the namespace -1 means every process but this one and its init."""
        if self.confined:
            try:
                os.kill(-1, signal.SIGKILL)
            except ProcessLookupError:
                pass
            return
        try:
            os.killpg(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass

    def _refuse(self, blocked: list[str]) -> None:
        """Take one notice of a forbidden call from the kernel, note its name, answer EPERM."""
        notice = ctypes.create_string_buffer(80)
        if _libc.ioctl(self.listener, ctypes.c_ulong(_NOTIF_RECV), notice) < 0:
            return
        identity, _, _, number = struct.unpack_from("=QIIi", notice)
        name = self.names.get(number, str(number))
        if name not in blocked:
            blocked.append(name)
        answer = ctypes.create_string_buffer(struct.pack("=QqiI", identity, 0, -errno.EPERM, 0))
        _libc.ioctl(self.listener, ctypes.c_ulong(_NOTIF_SEND), answer)

    def _collect(self, path: str) -> tuple[bytes | None, str]:
        """The file's bytes, if it is a regular file within the limit; else None and the reason."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            return None, f"the file cannot be read back: {error.strerror}"
        what = os.fstat(descriptor)
        if stat.S_ISREG(what.st_mode) and what.st_size <= self.collect_limit:
            with open(descriptor, "rb") as file:
                return file.read(), ""
        os.close(descriptor)
        if stat.S_ISREG(what.st_mode):
            return None, f"the file has {what.st_size} bytes, more than {self.collect_limit}"
        return None, "the file is no longer a regular file"

    def _entries(self) -> list[str]:
        return sorted(entry.name for entry in os.scandir(self.scratch))

    def _clean(self) -> bool:
        """Remove what the program left; False where that is not simple, so that this process is to end.

        The scratch folder dies with the process, however deep or odd what it holds: so only the
        plain case is cleaned here, and all else by starting anew.
        """
        try:
            for folder in self.folders:
                for entry in os.scandir(os.path.join(self.scratch, folder)):
                    os.unlink(entry.path)
            return self._entries() == self.view
        except OSError:
            return False


def read_frame(stream: IO[bytes]) -> tuple[dict[str, Any], list[bytes]] | None:
    """One frame, or None at the end of the stream."""
    line = stream.readline()
    if not line:
        return None
    header = json.loads(line)
    return header, [stream.read(length) for length in header.pop("lengths")]


def write_frame(stream: IO[bytes], header: dict[str, Any], blobs: list[bytes]) -> None:
    """Send one frame."""
    stream.write(json.dumps(header | {"lengths": [len(blob) for blob in blobs]}).encode() + b"\n")
    for blob in blobs:
        stream.write(blob)
    stream.flush()


def main() -> None:
    """Take the configuration, enter, say whether that worked, then serve until the input ends."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    first = read_frame(requests)
    if first is None:
        return
    try:
        inside = Inside(first[0], first[1][0])
    except OSError as error:
        write_frame(answers, {"ready": False, "why": str(error)}, [])
        return
    write_frame(answers, {"ready": True}, [])
    while (frame := read_frame(requests)) is not None:
        answer, blobs = inside.run(*frame)
        write_frame(answers, answer, blobs)
        if not answer["clean"]:
            return


if __name__ == "__main__":
    main()
