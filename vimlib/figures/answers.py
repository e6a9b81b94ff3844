"""Stored answers to look at: each in a player, and what outsiders wrote about it, folded away.

A row of `answers_replayed` or `failures_classified` in, a player out. Nothing here starts Vim: which
answers are to be played is said, and where no trace came back the player has start and end alone.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any, Final

import pandas as pd

from vimlib.figures.player import Player, player, visible
from vimlib.figures.sections import records
from vimlib.figures.tables import missing
from vimlib.records import Outcome, Protocol, Step, Trace

HOW_TO_PLAY: Final = (
    "Each answer is played by its buttons, or by keyboard once it has the focus: arrow keys step, Home and "
    "End jump, space plays. Keys underlined in green were the last after which the target was nearer than "
    "at the start; in red, the first that raised an error."
)
"""What readers are told above players."""


def to_play(rows: pd.DataFrame) -> list[tuple[Protocol, str, str]]:
    """The answers as `replay.trace_many` wants them.

    Those without keys are left out, and those in several turns: what a turn leaves to the next is not
    what its keys leave behind when all are typed in one go.
    """
    return [
        (Protocol(row["protocol"]), row["start"], row["keys"])
        for row in records(rows)
        if isinstance(row["keys"], str) and row["keys"] and not in_turns(row)
    ]


def in_turns(row: Mapping[str, Any]) -> bool:
    """Whether an answer was given in several turns."""
    turns = row.get("turns")
    return not (turns is None or turns is pd.NA or isinstance(turns, float))


def _ends(row: Mapping[str, Any], protocol: Protocol) -> Trace:
    """Start and end of an answer that was not played key by key."""
    start = protocol.formatted(row["start"])
    final, buffer = row["final"], row["buffer"]
    end = (
        buffer
        if isinstance(buffer, str)
        else start
        if missing(final)
        else bytes(final).decode("utf-8", "replace")
    )
    outcome = Outcome.BAD_KEYS if missing(row["outcome"]) else Outcome(row["outcome"])
    mode = None if missing(row["mode"]) else str(row["mode"])
    keys = row["keys"] if isinstance(row["keys"], str) else ""
    first = Step(0, "", start, "n", None, None, Outcome.UNFINISHED)
    return Trace(tuple(keys), (first, Step(len(keys), keys[-1:], end, mode, None, None, outcome)))


def answer_player(
    row: Mapping[str, Any], played: Mapping[tuple[Protocol, str, str], Trace], *, label: str = ""
) -> Player:
    """The player of one answer; without a trace, of its start and end. `label`: for screen readers."""
    protocol = Protocol(row["protocol"])
    keys = row["keys"] if isinstance(row["keys"], str) else ""
    trace = None if in_turns(row) else played.get((protocol, row["start"], keys))
    said = label or f"Answer to {row['task_id']}"
    return player(trace or _ends(row, protocol), protocol.formatted(row["target"]), label=said)


_QUOTED = 1500


def quoted(label: str, value: Any) -> str:
    """An outsider's text, folded away, its characters made visible and its length bounded."""
    if not isinstance(value, str) or not value.strip():
        return ""
    lines = [visible(line) for line in value.splitlines()]
    said = "\n".join(lines)
    if len(said) > _QUOTED:
        said = f"{said[: _QUOTED // 2]}\n… {len(said) - _QUOTED:,} characters …\n{said[-_QUOTED // 2 :]}"
    body = html.escape(said, quote=False).replace("\n", "&#10;")
    return f'<details class="quoted"><summary>{label}</summary><pre dir="ltr">{body}</pre></details>'
