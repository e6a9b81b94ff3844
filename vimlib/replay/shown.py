"""Replays and traces to look at in a notebook: what was typed, what Vim did, what the buffer is now.

For hands: `vimlib.replay("ddZZ", task)`. It judges nothing; `differs` compares texts, and whether an
answer passes is `vimlib.score`'s business. Everything shown is escaped, since keys may come from anybody.
"""

from __future__ import annotations

import difflib
import html
from collections.abc import Iterable
from dataclasses import dataclass

from vimlib.records import Outcome, Protocol, Replay, Task, VimlibError
from vimlib.sandbox import Confinement

from .protocols import ReplayRequest
from .trace import MOST_STEPS, Trace, trace

_MONO = "font-family:monospace"
_PRE = f"{_MONO};margin:.5em 0;padding:.5em .75em;border:1px solid #8886;overflow-x:auto;line-height:1.35"


class NothingToReplay(VimlibError):
    """Neither a task nor a text to start from was given."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Played:
    """One answer replayed, with what it started from. Shows itself in a notebook."""

    keys: str
    """In the protocol's notation."""
    start: str
    target: str | None
    """None: none was given."""
    replay: Replay
    """Everything that is known of the replay."""

    @property
    def buffer(self) -> str:
        """The text at the end: the file where Vim has ended, else the buffer in memory."""
        final = (self.replay.final or b"").decode("utf-8", "backslashreplace")
        in_memory = None if self.replay.outcome is Outcome.FINISHED else self.replay.buffer
        return final if in_memory is None else in_memory

    @property
    def differs(self) -> bool | None:
        """Whether the text at the end is another than the target, line ends aside; None: no target."""
        return None if self.target is None else _lines(self.buffer) != _lines(self.target)

    def __str__(self) -> str:
        return f"{self._said()}\n{self.buffer}"

    def _said(self) -> str:
        said = [self.replay.outcome.value]
        if self.replay.mode:
            said.append(f"mode {self.replay.mode}")
        if self.replay.cursor:
            said.append("cursor {},{}".format(*self.replay.cursor))
        if self.replay.last_error:
            said.append(self.replay.last_error.text)
        if self.differs is not None:
            said.append("not the target" if self.differs else "the target")
        return "; ".join(said)

    def _repr_html_(self) -> str:
        if self.target is None or not self.differs:
            shown = html.escape(self.buffer)
        else:
            shown = "\n".join(_marked(difflib.ndiff(_lines(self.target), _lines(self.buffer))))
        return (
            f"<div><p><code>{html.escape(self.keys)}</code>: {html.escape(self._said())}</p>"
            f'<pre style="{_PRE}">{shown}</pre></div>'
        )


@dataclass(frozen=True, slots=True)
class Traced:
    """A trace that shows itself in a notebook: a row a key."""

    trace: Trace

    def _repr_html_(self) -> str:
        rows = []
        before = ""
        for step in self.trace.steps:
            cursor = "" if step.cursor is None else "{},{}".format(*step.cursor)
            # The first state is what the answer starts from: all of it is shown, and nothing of it is new.
            lines = difflib.ndiff(_lines(before), _lines(step.buffer))
            changed = [line for line in lines if line[0] in "+-"] if step.typed else []
            whole = [f"  {line}" for line in _lines(step.buffer)] if not step.typed else []
            before = step.buffer
            text = "\n".join(_marked(changed or whole))
            error = "" if step.error is None else step.error.text
            rows.append(
                f"<tr><td>{step.typed}</td><td><code>{html.escape(step.key)}</code></td>"
                f"<td>{html.escape(step.mode or step.outcome.value)}</td><td>{cursor}</td>"
                f'<td style="text-align:left"><pre style="{_MONO}">{text}</pre></td>'
                f"<td>{html.escape(error)}</td></tr>"
            )
        head = "".join(f"<th>{name}</th>" for name in ("#", "key", "mode", "cursor", "changed", "error"))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def show_replay(
    keys: str,
    task: Task | None = None,
    *,
    start: str | None = None,
    target: str | None = None,
    protocol: Protocol | str = Protocol.GOLF,
    confinement: Confinement = Confinement.FULL,
) -> Played:
    """Type keys into a real, confined Vim and look at what became of the text.

    `keys`: in the notation of `protocol` (`golf` or `bench`). `task` gives start and target; `start` and
    `target` are texts instead of its own. Raises NothingToReplay without a task and a start, and what
    `replay_many` raises.
    """
    from . import replay_many

    text = start if start is not None else task.start if task is not None else None
    if text is None:
        raise NothingToReplay("nothing to type into; expected a task, or start='some text'")
    goal = target if target is not None else task.target if task is not None else None
    request = ReplayRequest(Protocol(protocol), text, keys)
    [done] = replay_many([request], confinement=confinement)
    return Played(keys, text, goal, done)


def show_trace(
    keys: str,
    task: Task | None = None,
    *,
    start: str | None = None,
    protocol: Protocol | str = Protocol.GOLF,
    confinement: Confinement = Confinement.FULL,
    most_steps: int = MOST_STEPS,
) -> Traced:
    """The state after each key, one row a key; arguments and errors as for `show_replay`."""
    text = start if start is not None else task.start if task is not None else None
    if text is None:
        raise NothingToReplay("nothing to type into; expected a task, or start='some text'")
    return Traced(trace(Protocol(protocol), text, keys, confinement=confinement, most_steps=most_steps))


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n")


def _marked(lines: Iterable[str]) -> list[str]:
    """The lines of a diff, those missing struck through and those too many marked."""
    shown = []
    for line in lines:
        text = html.escape(line[2:]) or " "
        if line[0] == "-":
            shown.append(f"<del>{text}</del>")
        elif line[0] == "+":
            shown.append(f"<ins>{text}</ins>")
        elif line[0] == " ":
            shown.append(text)
    return shown
