"""An edit in several turns: each batch of keys on what the last one left, by two rules.

Fresh, as vimbench's multi-turn track has it: the buffer alone goes from turn to turn, and each
turn begins in a new Vim. Session: one Vim lives through all turns, so that registers, marks,
options and undo stay; a turn whose keys quit it ends that session, and the next one begins in a
new Vim on the file that was left.

Exact by construction: there is no Vim that waits between turns. A session's state after a turn is a
replay of all its turns' keys so far, made and kept like any other, so that what a model was shown
while it ran and what is judged afterwards cannot differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vimlib.records import Outcome, Protocol, Replay, TurnState

from .protocols import ReplayRequest

TURN_END = "<Esc>:let &ul=&ul<CR>"
"""What a session types between two turns. As in a fresh Vim, each turn begins in Normal mode. And `u`
undoes a turn: Vim takes all that a script (`-s`) types for one change, and setting 'undolevels' ends it
(`:help undo-break`). What this costs is the last command: `@:` does not go from turn to turn."""

_GOES_ON = frozenset({Outcome.FINISHED, Outcome.BLOCKED})


@dataclass(frozen=True, slots=True)
class Standing:
    """Where an edit stands before its next turn."""

    buffer: str
    """What the next turn finds."""
    opened: str
    """The buffer that its Vim is, or was, started on."""
    typed: tuple[str, ...] = ()
    """The keys that its Vim has had in earlier turns; none in a fresh one."""


def beginning(start: str) -> Standing:
    """Before the first turn."""
    return Standing(start, start)


def turn_requests(standing: Standing, keys: str, state: TurnState) -> tuple[ReplayRequest, ...]:
    """The replays that a turn needs, all of the bench protocol.

    The first saves and quits after the turn: what it leaves is the turn's outcome. A session has a
    second, which does not: whether it still waits for keys tells whether that Vim lives on.
    """
    all_keys = TURN_END.join((*standing.typed, keys))
    saved = ReplayRequest(Protocol.BENCH, standing.opened, all_keys)
    if state is TurnState.FRESH:
        return (saved,)
    return (saved, ReplayRequest(Protocol.BENCH, standing.opened, all_keys, open_end=True))


def after_turn(
    standing: Standing, keys: str, state: TurnState, replays: Sequence[Replay], target: str
) -> Standing | None:
    """Where the edit stands after a turn, `replays` being those of `turn_requests`.

    None: the turn was the last. It reached the target, or Vim did not end by itself in its time (as in
    vimbench, where an error of the replay ends the task), or it left no file of UTF-8 text.
    """
    saved = replays[0]
    if saved.outcome not in _GOES_ON or saved.final is None or saved.final == target.encode():
        return None
    try:
        buffer = saved.final.decode()
    except UnicodeDecodeError:
        return None
    if state is TurnState.SESSION and replays[1].outcome is Outcome.UNFINISHED:
        return Standing(buffer, standing.opened, (*standing.typed, keys))
    return Standing(buffer, buffer)
