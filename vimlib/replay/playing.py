"""One request played in one Vim, and what came of it put into a `Replay`."""

from __future__ import annotations

import json
import re
import threading
from typing import Any, TypeGuard

from vimlib.keys import BadNotation
from vimlib.records import Outcome, Replay, VimErrorMessage
from vimlib.sandbox import Confinement, Ended, Starter, StarterDied

from .protocols import ReplayRequest, command, replay_key, starter
from .vim import Vim, find_vim

_TEXT_LIMIT = 500
"""Characters kept of an error message: the keys can make Vim say anything at any length."""
_TEMPORARY = re.compile(r"/v[A-Za-z0-9]{6}(?=/\d+\b)")
"""Vim's folder of temporary files, whose name is random: messages about it would differ each time."""
_UNOPENED = {138, 166, 190, 212, 482, 484, 485, 886}
"""Vim's error numbers for a file that cannot be opened, created, read or written."""


class IdleStarters:
    """The starters of this process that have nothing to do, by Vim and confinement: any thread takes one and
    gives it back, so that there are never more than threads that replay at once."""

    def __init__(self) -> None:
        self._idle: dict[tuple[Vim, Confinement], list[Starter]] = {}
        self._lock = threading.Lock()

    def take(self, vim: Vim, confinement: Confinement) -> Starter:
        with self._lock:
            idle = self._idle.setdefault((vim, confinement), [])
            if idle:
                return idle.pop()
        return starter(vim, confinement)

    def give_back(self, used: Starter, vim: Vim) -> None:
        with self._lock:
            self._idle.setdefault((vim, used.confinement), []).append(used)

    def close(self) -> None:
        with self._lock:
            ended, self._idle = self._idle, {}
        for starters in ended.values():
            for one in starters:
                one.close()


_starters = IdleStarters()


def close_starters() -> None:
    """End the processes that wait for further replays; the next replay starts its own."""
    _starters.close()


def play(request: ReplayRequest, confinement: Confinement = Confinement.FULL) -> Replay:
    """Replay once, without cache, in a process that is kept for the next call.

    This is the function that an executor runs, here or on another machine: it needs nothing
    but its arguments, and confines itself where it runs. A lost harness process is tried
    again once, then reported as `Outcome.HARNESS_ERROR`.

    Raises NoVim, ConfinementUnavailable.
    """
    vim = find_vim()
    try:
        used = _starters.take(vim, confinement)
    except StarterDied as error:
        return lost(request, confinement, str(error))
    try:
        return _played(request, used, vim, confinement)
    except StarterDied:
        try:
            return _played(request, used, vim, confinement)
        except StarterDied as error:
            return lost(request, confinement, str(error))
    finally:
        _starters.give_back(used, vim)


def lost(request: ReplayRequest, confinement: Confinement, why: str) -> Replay:
    """What is said of a request that the harness could not replay: no fault of the answer."""
    return _not_run(request, find_vim(), confinement, Outcome.HARNESS_ERROR, why)


def _played(request: ReplayRequest, used: Starter, vim: Vim, confinement: Confinement) -> Replay:
    try:
        run = command(request, used, reports=vim.reports)
    except BadNotation as error:
        return _not_run(request, vim, confinement, Outcome.BAD_KEYS, str(error))
    ended = used.run(run)
    said = _last_report(ended.output)
    first, last = _errors(said)
    blocked = ended.blocked + _outside(used.scratch, vim, first, last)
    outcome, detail = _outcome(ended)
    if blocked:
        outcome, detail = Outcome.BLOCKED, f"{outcome.value}; tried {', '.join(blocked)}"
    return Replay(
        key=replay_key(request, vim, confinement),
        outcome=outcome,
        final=ended.collected,
        wall_seconds=ended.wall_seconds,
        confinement=confinement,
        vim=vim.build,
        cpu_seconds=ended.cpu_seconds,
        mode=_text(said.get("mode")),
        cursor=_cursor(said),
        buffer=_buffer(said, ended.collected),
        first_error=first,
        last_error=last,
        blocked=blocked,
        detail="; ".join(part for part in (detail, ended.why_not) if part),
    )


def _not_run(
    request: ReplayRequest, vim: Vim, confinement: Confinement, outcome: Outcome, detail: str
) -> Replay:
    return Replay(
        key=replay_key(request, vim, confinement),
        outcome=outcome,
        final=None,
        wall_seconds=0.0,
        confinement=confinement,
        vim=vim.build,
        detail=detail,
    )


def _outcome(ended: Ended) -> tuple[Outcome, str]:
    if ended.cause == "timeout":
        return Outcome.TIMEOUT, ""
    if ended.cause == "output_limit":
        return Outcome.TIMEOUT, "ended at the limit of output"
    if ended.cause == "marker":
        return Outcome.UNFINISHED, ""
    if ended.exit_status < 0:
        return Outcome.CRASHED, f"signal {-ended.exit_status}"
    if b"Vim: Caught deadly signal" in ended.output:
        return Outcome.CRASHED, "Vim caught a deadly signal"
    return Outcome.FINISHED, f"exit status {ended.exit_status}" if ended.exit_status else ""


def _last_report(output: bytes) -> dict[str, Any]:
    """What the probe said last, or nothing. The keys may have written any of it, or broken it."""
    # Cut rather than matched by an expression, which a flood of beginnings would keep busy for hours.
    for piece in reversed(output.split(b"\x1e")):
        text, ended, _ = piece.partition(b"\x1f")
        if not ended or not text.startswith(b"{"):
            continue
        try:
            said = json.loads(text.decode("utf-8", "backslashreplace"))
        except (ValueError, RecursionError):
            continue
        if isinstance(said, dict):
            return said
    return {}


def _text(value: object) -> str | None:
    return value[:_TEXT_LIMIT] if isinstance(value, str) else None


def _cursor(said: dict[str, Any]) -> tuple[int, int] | None:
    line, column = said.get("line"), said.get("column")
    return (line, column) if _is_place(line) and _is_place(column) else None


def _is_place(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 < value < 1 << 31  # Vim's own numbers; a boolean is none


def _buffer(said: dict[str, Any], final: bytes | None) -> str | None:
    buffer = said.get("buffer")
    if not isinstance(buffer, str) or (final is not None and buffer.encode(errors="replace") == final):
        return None
    return buffer


def _errors(said: dict[str, Any]) -> tuple[VimErrorMessage | None, VimErrorMessage | None]:
    only = _text(said.get("errmsg")) or None
    first, last = _text(said.get("first")) or only, _text(said.get("last")) or only
    return _error(first), _error(last)


def _error(text: str | None) -> VimErrorMessage | None:
    if text is None:
        return None
    text = _TEMPORARY.sub("/vXXXXXX", text)
    number = re.match(r"(?:\"[^\"]*\" )?E(\d{1,5}):", text)
    return VimErrorMessage(number=int(number[1]) if number else None, text=text)


def _outside(scratch: str, vim: Vim, *errors: VimErrorMessage | None) -> tuple[str, ...]:
    """Absolute paths outside scratch and runtime that Vim says it could not open or write."""
    paths: dict[str, None] = {}
    for error in errors:
        if error is None or error.number not in _UNOPENED:
            continue
        found = re.search(r"/[^\s\"]+", error.text)
        if found and not found[0].startswith((scratch, str(vim.runtime))):
            paths[found[0]] = None
    return tuple(paths)
