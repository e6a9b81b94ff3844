"""What a report asks of its kernels, loaded into each as an IPython extension.

A notebook that runs unattended must fail where a person would have seen that something is wrong. A
shell command (`!`, `%pip`) that fails raises here, while IPython only keeps its exit code; so does a
magic that cannot change folder, where IPython prints why and runs the rest somewhere else; and so
does `exit`, after which the rest would be left out, or run in a kernel that is about to end. And a
kernel that takes all memory must be the process that the system ends for it, not the report or
whatever else runs on the machine.
"""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Callable
from typing import Any, Final

MEMORY_VARIABLE: Final = "VIMLIB_KERNEL_MEMORY_BYTES"
"""Environment variable with the most memory that the kernel may have; unset: no limit."""


class CommandFailed(Exception):
    """A shell command of a cell ended with another exit code than 0."""


class CellExits(Exception):
    """A cell asked the kernel to end (`exit`, `quit`)."""


def load_ipython_extension(shell: Any) -> None:
    """Called by IPython in the kernel."""
    plain_system = shell.system

    def system(command: str) -> None:
        plain_system(command)
        code = shell.user_ns.get("_exit_code")
        if code:
            raise CommandFailed(f"exit code {code} of: {' '.join(str(command).split())[:200]}")

    def ask_exit() -> None:
        raise CellExits("exit or quit in a cell; expected each cell to run to its end")

    shell.system = system
    shell.ask_exit = ask_exit
    shell.run_line_magic = _strict(shell.run_line_magic)
    # Where the system forbids either, the notebook is as good without it.
    with contextlib.suppress(OSError):
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("500")
    limit = os.environ.pop(MEMORY_VARIABLE, "")
    if limit:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_DATA, (int(limit), int(limit)))


def _strict(run_line_magic: Callable[..., Any]) -> Callable[..., Any]:
    """Magics that change folder raise the OSError of one that they could not go to, which IPython prints."""

    def strict(name: str, line: str, _stack_depth: int = 1) -> Any:
        plain_chdir = os.chdir
        failed: list[OSError] = []

        def chdir(path: Any) -> None:
            try:
                plain_chdir(path)
            except OSError as error:
                failed.append(error)
                raise

        if name in {"cd", "pushd", "popd"}:
            os.chdir = chdir
        try:
            # One frame more lies between the magic and the cell whose names it looks up.
            done = run_line_magic(name, line, _stack_depth=_stack_depth + 1)
        finally:
            os.chdir = plain_chdir
        if failed:
            raise failed[0]
        return done

    return strict
