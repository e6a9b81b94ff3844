"""An answer key by key: the state that each key led to.

Exact by construction: the state after key k is a replay of the first k keys, made and kept
like any other, so there is no stepping mode of its own that could disagree with the replay.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from itertools import islice
from pathlib import Path

from vimlib import keys as notation
from vimlib.records import Outcome, Protocol, Replay, Step, Trace
from vimlib.sandbox import Confinement

from .cache import ReplayCache
from .protocols import ReplayRequest

MOST_STEPS = 200
"""States of a trace; a longer answer is sampled evenly, its first and last states included."""


def trace(
    protocol: Protocol,
    start: str,
    keys: str,
    *,
    confinement: Confinement = Confinement.FULL,
    executor: Executor | None = None,
    cache: ReplayCache | None = None,
    most_steps: int = MOST_STEPS,
) -> Trace:
    """The states that an answer goes through, from none of its keys to all of them.

    Bench appends a save and quit to the keys; they are no part of the trace. An answer of more
    than `most_steps` - 1 keys is sampled. Raises BadNotation where bench keys do not read, and
    what `replay_each` raises.
    """
    from . import replay_many

    tokens, requests = _plan(protocol, start, keys, most_steps)
    done = replay_many(requests, confinement=confinement, executor=executor, cache=cache)
    return _trace(tokens, requests, done)


def _plan(
    protocol: Protocol, start: str, keys: str, most_steps: int
) -> tuple[list[str], list[ReplayRequest]]:
    """All keys of an answer, and the replays whose ends are the states of its trace."""
    tokens = notation.split(keys, protocol)
    open_end = protocol is Protocol.BENCH
    return tokens, [
        ReplayRequest(protocol, start, "".join(tokens[:place]), open_end)
        for place in _sampled(len(tokens) + 1, most_steps)
    ]


def _trace(tokens: Sequence[str], requests: Sequence[ReplayRequest], replays: Sequence[Replay]) -> Trace:
    steps = []
    places = _sampled(len(tokens) + 1, max(len(requests), 2))
    for place, done in zip(places, replays, strict=True):
        final = (done.final or b"").decode("utf-8", "backslashreplace")
        waiting = done.outcome is Outcome.UNFINISHED
        in_memory = None if done.outcome is Outcome.FINISHED else done.buffer
        steps.append(
            Step(
                typed=place,
                key=tokens[place - 1] if place else "",
                buffer=final if in_memory is None else in_memory,
                mode=done.mode if waiting else None,
                cursor=done.cursor if waiting else None,
                error=done.last_error,
                outcome=done.outcome,
            )
        )
    return Trace(tuple(tokens), tuple(steps))


def _sampled(count: int, most: int) -> Sequence[int]:
    """Up to `most` of the numbers below `count`, evenly spread, the first and the last among them."""
    if count <= most:
        return range(count)
    return sorted({round(place * (count - 1) / (most - 1)) for place in range(most)})


def trace_many(
    asked: Iterable[tuple[Protocol, str, str]],
    *,
    confinement: Confinement = Confinement.FULL,
    executor: Executor | None = None,
    cache: Path | None = None,
    most_steps: int = MOST_STEPS,
) -> dict[tuple[Protocol, str, str], Trace]:
    """The traces of several answers, (protocol, start, keys) each, all their replays in one batch.

    Answers that no Vim can be given are left out. `cache`: file of kept replays, so that a second call
    starts no Vim. Raises what `replay_each` raises.
    """
    from . import replay_many

    plans: dict[tuple[Protocol, str, str], tuple[list[str], list[ReplayRequest]]] = {}
    for protocol, start, keys in asked:
        try:
            notation.check_deliverable(keys, protocol)
        except notation.BadNotation:
            continue
        plans[protocol, start, keys] = _plan(protocol, start, keys, most_steps)
    kept = ReplayCache(cache) if cache is not None else None
    try:
        done = iter(
            replay_many(
                [request for _, requests in plans.values() for request in requests],
                confinement=confinement,
                executor=executor,
                cache=kept,
            )
        )
    finally:
        if kept is not None:
            kept.close()
    return {
        place: _trace(tokens, requests, list(islice(done, len(requests))))
        for place, (tokens, requests) in plans.items()
    }
