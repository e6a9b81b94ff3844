"""Vim beside Inspect's event loop: replays in threads, never more at once than there are cores.

Inspect may run under asyncio or trio, so threads are reached by `anyio`, as Inspect does itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

import anyio.to_thread
from inspect_ai._util.error import PrerequisiteError

from vimlib.records import VimlibError
from vimlib.replay import cores, find_vim
from vimlib.sandbox import Confinement, ConfinementUnavailable, unavailable

T = TypeVar("T")


@cache
def workers() -> ThreadPoolExecutor:
    """The threads that replay for all samples of this process."""
    return ThreadPoolExecutor(cores(), thread_name_prefix="replay")


async def beside(call: Callable[[], T]) -> T:
    """The result of a call that waits for replays, without holding up the event loop."""
    return await anyio.to_thread.run_sync(call)


@contextmanager
def in_one_line() -> Iterator[None]:
    """What the user can mend is told as Inspect tells such things: one line, no traceback."""
    try:
        yield
    except VimlibError as error:
        raise PrerequisiteError(f"vimlib: {error}") from error


def confinement_of(confined: bool) -> Confinement:
    """The confinement asked for. Raises NoVim, ConfinementUnavailable."""
    find_vim()
    if not confined:
        return Confinement.NONE
    if lacking := unavailable():
        raise ConfinementUnavailable(lacking)
    return Confinement.FULL
