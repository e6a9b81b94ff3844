"""An answer played in a real Vim: the one way in which the workbench learns what keys do.

A request (protocol, start, keys) becomes a `Replay`: the file that Vim left, and evidence
on how it got there. Both protocols are exact copies of their benchmarks' command lines,
without the waits that are no part of the rules; see `protocols`. Replays run in a confined
process (`sandbox`), one a core, and are kept by content (`cache`).

It does not judge: whether the file is the target is `score`'s business.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from types import ModuleType

from vimlib.records import Outcome, Replay
from vimlib.sandbox import Confinement

from .cache import CacheUnusable, ReplayCache
from .cluster import ClusterExecutor, ClusterUnusable, MixedVim, connected
from .playing import close_starters, play
from .protocols import SECONDS, VERSIONS, ReplayRequest, fingerprint, replay_key
from .shown import NothingToReplay, Played, Traced, show_replay, show_trace
from .trace import Step, Trace, trace, trace_many
from .turns import Standing, after_turn, beginning, turn_requests
from .unpinned import unpinned
from .vim import NoVim, find_vim, vim_build, with_vim

__all__ = ["SECONDS", "VERSIONS", "CacheUnusable", "ClusterExecutor", "ClusterUnusable", "MixedVim", "NoVim"]
__all__ += ["ReplayCache", "ReplayRequest"]
__all__ += ["Step", "Trace", "trace", "trace_many"]
__all__ += ["NothingToReplay", "Played", "Traced", "show_replay", "show_trace"]
__all__ += ["Standing", "after_turn", "beginning", "turn_requests"]
__all__ += [
    "close_starters",
    "connected",
    "cores",
    "find_vim",
    "fingerprint",
    "play",
    "replay",
    "replay_each",
    "replay_key",
    "replay_many",
    "unpinned",
    "vim_build",
    "with_vim",
]

_IN_FLIGHT = 4
"""Requests given to the executor ahead of each worker: enough to keep it busy, little to lose."""


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0))


def replay(request: ReplayRequest, *, confinement: Confinement = Confinement.FULL) -> Replay:
    """Replay one request, not cached. Raises NoVim, ConfinementUnavailable."""
    return play(request, confinement)


def replay_each(
    requests: Iterable[ReplayRequest],
    *,
    confinement: Confinement = Confinement.FULL,
    executor: Executor | None = None,
    cache: ReplayCache | None = None,
    progress: Callable[[int], object] | None = None,
) -> Iterator[tuple[ReplayRequest, Replay]]:
    """Replay requests as their turn comes, each distinct one once; yields in order of completion.

    `executor` runs `play`: any `concurrent.futures.Executor`, such as a cluster's (`connected`); by
    default one thread a core, each with a confined process of its own. `cache` is asked first and
    told after. `progress` is called with 1 for each request that is done. Interrupted, it loses
    what is in flight and nothing else. A timeout is believed only after a second run with nothing
    beside it, unless Vim had a processor to itself all along.

    Raises NoVim, ConfinementUnavailable, CacheUnusable, and what the executor raises.
    """
    vim = find_vim()
    own = ThreadPoolExecutor(cores(), thread_name_prefix="replay") if executor is None else None
    workers = executor or own
    assert workers is not None
    ahead = _IN_FLIGHT * (cores() if own else 64)
    running: dict[Future[Replay], ReplayRequest] = {}
    late: deque[ReplayRequest] = deque()

    def finished(request: ReplayRequest, done: Replay) -> tuple[ReplayRequest, Replay]:
        if cache is not None and done.outcome is not Outcome.HARNESS_ERROR:
            cache.put(done)
        if progress is not None:
            progress(1)
        return request, done

    def drain(until: int) -> Iterator[tuple[ReplayRequest, Replay]]:
        while len(running) > until:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                request = running.pop(future)
                result = future.result()
                if _may_have_starved(result):
                    late.append(request)
                else:
                    yield finished(request, result)

    try:
        seen: set[str] = set()
        for part in _parts(requests, 1000):
            fresh = {}
            for request in part:
                key = replay_key(request, vim, confinement)
                if key not in seen:
                    seen.add(key)
                    fresh[key] = request
                elif progress is not None:
                    progress(1)
            for known in list(cache.get(fresh)) if cache is not None else []:
                yield fresh.pop(known.key), known
                if progress is not None:
                    progress(1)
            for request in fresh.values():
                running[workers.submit(play, request, confinement)] = request
                yield from drain(ahead)
        yield from drain(0)
        while late:
            request = late.popleft()
            yield finished(request, workers.submit(play, request, confinement).result())
    finally:
        for future in running:
            future.cancel()
        if own is not None:
            own.shutdown(wait=True, cancel_futures=True)
        if cache is not None:
            cache.commit()


def replay_many(
    requests: Iterable[ReplayRequest],
    *,
    confinement: Confinement = Confinement.FULL,
    executor: Executor | None = None,
    cache: ReplayCache | None = None,
    progress: Callable[[int], object] | None = None,
) -> list[Replay]:
    """The replays of requests, in their order; see `replay_each`. Equal requests share one replay."""
    asked = list(requests)
    vim = find_vim()
    # By what was asked: a worker elsewhere keeps its replay under the key of its own Vim.
    done = {
        replay_key(request, vim, confinement): result
        for request, result in replay_each(
            asked, confinement=confinement, executor=executor, cache=cache, progress=progress
        )
    }
    return [done[replay_key(request, vim, confinement)] for request in asked]


def _may_have_starved(result: Replay) -> bool:
    """Whether a timeout may be the host's fault: all its time went by, and Vim was not at work all along."""
    used_up = result.outcome is Outcome.TIMEOUT and result.wall_seconds >= SECONDS
    return used_up and (result.cpu_seconds or 0.0) < 0.9 * result.wall_seconds


def _parts(requests: Iterable[ReplayRequest], size: int) -> Iterator[list[ReplayRequest]]:
    part: list[ReplayRequest] = []
    for request in requests:
        part.append(request)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part


class _Callable(ModuleType):
    """This package as it is called in a notebook: `vimlib.replay(keys, task)` is `show_replay`."""

    __call__ = staticmethod(show_replay)


sys.modules[__name__].__class__ = _Callable
