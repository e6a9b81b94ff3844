"""An answer key by key: the state that each key led to.

Exact by construction: the state after key k is a replay of the first k keys, made and kept
like any other, so there is no stepping mode of its own that could disagree with the replay.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor

from vimlib import keys as notation
from vimlib.records import Outcome, Protocol, Step, Trace
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

    tokens = notation.split(keys, protocol)
    places = _sampled(len(tokens) + 1, most_steps)
    open_end = protocol is Protocol.BENCH
    requests = [ReplayRequest(protocol, start, "".join(tokens[:place]), open_end) for place in places]
    steps = []
    for place, done in zip(
        places, replay_many(requests, confinement=confinement, executor=executor, cache=cache), strict=True
    ):
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
