"""The kernel of a report is the Python that makes the report.

Jupyter looks a kernel up by name in the user's folders first, so that `python3` may be another
environment without this package, or none where no kernelspec is installed. A report must not
depend on that: here the specification is made from `sys.executable`.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from traitlets import TraitError


class OwnPythonKernel(AsyncKernelManager):
    """Starts ipykernel in the running interpreter, without the user's history file.

    The history is left out because kernels that run at once wait for each other's lock on it. Where
    both sides can, messages are encrypted, since they carry code over a port of this machine. The
    warning that is ignored asks for widgets, which a page could not show.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        if self.has_trait("transport_encryption"):
            with contextlib.suppress(TraitError):
                self.set_trait("transport_encryption", "auto")

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
                # What a cell raises comes as a message; the kernel's own log would tell an interrupted
                # user, at length, that it was interrupted.
                "--log-level=CRITICAL",
            ],
            display_name="Python of this report",
            language="python",
            metadata={"supported_encryption": ["curve"]},
        )
