"""The system calls that a confined program may not make, as a seccomp filter.

A deny list on top of namespaces: the namespaces decide what can be named at all, the
filter decides what can be done with it. What a text editor has no use for is refused
with EPERM; of these, what only an escape would try is reported as well (`NOTIFIED`).
Calls on behalf of other architectures are fatal, which is libseccomp's default.
"""

from __future__ import annotations

import errno
import socket
import tempfile
from functools import cache
from typing import Any

from vimlib.records import VimlibError
from vimlib.sandbox.inside import PROGRAM_ADDRESS

NOTIFIED = (
    # another program: there is one way to exec, by an address that the program itself does not have
    *("execve", "execveat", "fork", "vfork", "clone", "clone3"),
    *("socket", "socketpair", "connect", "bind"),
    *("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open", "pidfd_send_signal"),
    *("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd"),
    *("link", "linkat", "symlink", "symlinkat", "mknod", "mknodat"),
    *("mount", "umount2", "pivot_root", "chroot", "unshare", "setns", "open_tree", "move_mount", "fsopen"),
    # System V and POSIX queues and segments outlive a process: one replay would see another's
    *("shmget", "msgget", "semget", "mq_open"),
    *("bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "memfd_create", "keyctl", "add_key"),
    *("request_key", "personality", "seccomp", "process_madvise", "quotactl", "acct", "swapon"),
)
"""Refused and reported: no edit needs them."""

SILENT = (
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat"),
    *("setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr"),
    *("setpriority", "sched_setaffinity", "sched_setscheduler", "ioprio_set", "setpgid"),
)
"""Refused without a word: Vim itself tries them whenever it writes a file, and lives without."""

_CLONE_VM, _CLONE_VFORK, _CLONE_THREAD = 0x100, 0x4000, 0x10000


class FilterUnavailable(VimlibError):
    """libseccomp or its Python binding cannot be loaded here."""


def _library() -> Any:
    try:
        import pyseccomp
    except (ImportError, OSError, RuntimeError) as error:
        raise FilterUnavailable(
            f"libseccomp cannot be loaded ({error}); expected the system library libseccomp.so.2: "
            "install the package libseccomp2 (Debian) or libseccomp (conda-forge)"
        ) from error
    return pyseccomp


@cache
def filter_code() -> tuple[bytes, dict[int, str]]:
    """The filter as BPF instructions (8 bytes each), and the numbers of the reported calls by name.

    Raises FilterUnavailable.
    """
    seccomp = _library()
    calls = seccomp.SyscallFilter(seccomp.ALLOW)
    names: dict[int, str] = {}
    for name in NOTIFIED + SILENT:
        number = seccomp.resolve_syscall(seccomp.system_arch(), name)
        if number < 0:
            continue  # this architecture or this libseccomp does not have the call
        if name in NOTIFIED:
            names[number] = name
        refuse = seccomp.NOTIFY if name in NOTIFIED else seccomp.ERRNO(errno.EPERM)
        if name == "clone":
            # A thread is no new process, and glibc starts one for POSIX timers. The way of posix_spawn
            # is open because the starter needs it: its child can only exec, and exec it cannot.
            for flags, alone in ((_CLONE_THREAD | _CLONE_VFORK, 0), (_CLONE_VM | _CLONE_VFORK, _CLONE_VFORK)):
                calls.add_rule(refuse, name, seccomp.Arg(0, seccomp.MASKED_EQ, flags, alone))
        elif name == "socket":
            # the C library itself asks the name service by a Unix socket: refused, but not reported
            calls.add_rule(seccomp.ERRNO(errno.EPERM), name, seccomp.Arg(0, seccomp.EQ, socket.AF_UNIX))
            calls.add_rule(refuse, name, seccomp.Arg(0, seccomp.NE, socket.AF_UNIX))
        elif name == "clone3":
            # its flags lie in memory, where no filter sees them: glibc falls back to clone
            calls.add_rule(seccomp.ERRNO(errno.ENOSYS), name)
        elif name == "execve":
            calls.add_rule(refuse, name, seccomp.Arg(0, seccomp.NE, PROGRAM_ADDRESS))
        else:
            calls.add_rule(refuse, name)
    with tempfile.TemporaryFile() as file:
        calls.export_bpf(file)
        file.seek(0)
        return file.read(), names
