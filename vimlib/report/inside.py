"""What a report asks of its kernels, loaded into each as an IPython extension.

A notebook that runs unattended must fail where a person would have seen that something is wrong: a
shell command (`!`, `%pip`) that fails raises here, while IPython only keeps its exit code. And a
kernel that takes all memory must be the process that the system ends for it, not the report or
whatever else runs on the machine.
"""

from __future__ import annotations

import contextlib
import os
import resource
from typing import Any, Final

MEMORY_VARIABLE: Final = "VIMLIB_KERNEL_MEMORY_BYTES"
"""Environment variable with the most memory that the kernel may have; unset: no limit."""


class CommandFailed(Exception):
    """A shell command of a cell ended with another exit code than 0."""


def load_ipython_extension(shell: Any) -> None:
    """Called by IPython in the kernel."""
    plain_system = shell.system

    def system(command: str) -> None:
        plain_system(command)
        code = shell.user_ns.get("_exit_code")
        if code:
            raise CommandFailed(f"exit code {code} of: {' '.join(str(command).split())[:200]}")

    shell.system = system
    # Where the system forbids either, the notebook is as good without it.
    with contextlib.suppress(OSError):
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("500")
    limit = os.environ.pop(MEMORY_VARIABLE, "")
    if limit:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_DATA, (int(limit), int(limit)))
