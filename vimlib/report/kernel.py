"""The kernel of a report is the Python that makes the report.

Jupyter looks a kernel up by name in the user's folders first, so that `python3` may be another
environment without this package, or none where no kernelspec is installed. A report must not
depend on that: here the specification is made from `sys.executable`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import Any

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from traitlets import TraitError

from vimlib.report.inside import MEMORY_VARIABLE


class Watch:
    """What is known of the kernel of one notebook while it runs, and how it ended.

    Threads that execute notebooks get no KeyboardInterrupt; `stop` is how the main one ends them.
    """

    def __init__(self, memory_bytes: int | None = None) -> None:
        self.memory_bytes = memory_bytes
        """The most memory that the kernel may have; None: no limit."""
        self.process_id: int | None = None
        self.returncode: int | None = None
        """As `subprocess` gives it, negative for a signal; None: it did not end by itself."""
        self._stopped = False

    def started(self, process_id: int | None) -> None:
        """The kernel runs; ended at once where the report was stopped meanwhile."""
        self.process_id = process_id
        if self._stopped:
            self.stop()

    def stop(self) -> None:
        """End the kernel and everything that it started, whatever it is doing."""
        self._stopped = True
        if self.process_id:
            # A kernel leads a process group of its own.
            with contextlib.suppress(OSError):
                os.killpg(self.process_id, signal.SIGKILL)

    def why(self) -> str:
        """How the kernel ended, in words; '' where nothing is known."""
        code = self.returncode
        if code is None:
            return ""
        if code == -signal.SIGKILL:
            return "the kernel was killed (signal 9), as the system does when memory runs out"
        if code < 0:
            return f"the kernel died of {signal.Signals(-code).name} (signal {-code})"
        return f"the kernel ended with exit code {code}"


class OwnPythonKernel(AsyncKernelManager):
    """Starts ipykernel in the running interpreter, without the user's history file.

    The history is left out because kernels that run at once wait for each other's lock on it. Where
    both sides can, messages are encrypted, since they carry code over a port of this machine. The
    warning that is ignored asks for widgets, which a page could not show.
    """

    watch: Watch | None = None
    """Told of the kernel's process; set by `watched`."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        if self.has_trait("transport_encryption"):
            with contextlib.suppress(TraitError):
                self.set_trait("transport_encryption", "auto")

    async def _async_post_start_kernel(self, **settings: Any) -> None:
        await super()._async_post_start_kernel(**settings)
        if self.watch is not None:
            self.watch.started(getattr(self.provisioner, "pid", None))

    post_start_kernel = _async_post_start_kernel

    async def _async_is_alive(self) -> bool:
        if self.watch is not None and self.provisioner is not None and self.watch.returncode is None:
            self.watch.returncode = await self.provisioner.poll()
        return bool(await super()._async_is_alive())

    is_alive = _async_is_alive

    @property
    def kernel_spec(self) -> KernelSpec:
        """The running interpreter's kernel, whatever specifications are installed."""
        return KernelSpec(
            argv=[
                sys.executable,
                *("-W", "ignore:IProgress not found"),
                *("-m", "ipykernel_launcher"),
                *("-f", "{connection_file}"),
                "--HistoryManager.enabled=False",
                "--InteractiveShellApp.extensions=vimlib.report.inside",
                # What a cell raises comes as a message; the kernel's own log would tell an interrupted
                # user, at length, that it was interrupted.
                "--log-level=CRITICAL",
            ],
            display_name="Python of this report",
            language="python",
            env={MEMORY_VARIABLE: str(self.watch.memory_bytes)}
            if self.watch is not None and self.watch.memory_bytes
            else {},
            metadata={"supported_encryption": ["curve"]},
        )


def watched(watch: Watch) -> type[OwnPythonKernel]:
    """The class of kernel managers that report to `watch`; papermill takes a class, not an object."""
    return type("WatchedKernel", (OwnPythonKernel,), {"watch": watch})
