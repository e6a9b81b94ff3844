"""The multi-turn track: keys, the buffer that they leave, keys again, until the edit has ended.

As in vimbench each turn is asked anew, with the buffer as it is and the keys so far, rather than in a
growing conversation. What was played is noted in the sample as it goes, so that a log of a run that
was stopped holds the turns that were paid for.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from inspect_ai.model import ChatMessageSystem, ChatMessageUser, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from vimlib import keys as notation
from vimlib.inspect_tasks.logged import NAME, logged_task
from vimlib.inspect_tasks.playing import beside, confinement_of, in_one_line, workers
from vimlib.inspect_tasks.prompts import multi_system, turn_user
from vimlib.records import Outcome, Protocol, Replay, Task, TurnState
from vimlib.replay import ReplayRequest, Standing, after_turn, beginning, replay_many, turn_requests
from vimlib.runs.inspect_logs import refusal

DONE = "DONE"
"""The answer that ends an edit."""


@solver(name="turns")
def turns(state: str = "fresh", max_turns: int = 8, show: str = "buffer", confined: bool = True) -> Solver:
    """Ask for one batch of keys after another; see `tasks.bench_multi`."""
    carried = TurnState(state)
    shows_vim = show == "state"
    with in_one_line():
        confinement = confinement_of(confined)

    def play(requests: tuple[ReplayRequest, ...]) -> list[Replay]:
        return replay_many(requests, confinement=confinement, executor=workers())

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        task = _task(state)
        said: dict[str, Any] = state.metadata[NAME]
        noted: list[dict[str, Any]] = said.setdefault("turns", [])
        standing: Standing | None = beginning(task.start)
        system = ChatMessageSystem(content=multi_system(carried))
        state.messages = [system]
        seen = ""
        while standing is not None:
            if len(noted) == max_turns:
                said["ended"] = "max_turns"
                break
            earlier = [turn["keys"] for turn in noted]
            message = ChatMessageUser(
                content=turn_user(task, standing.buffer, len(noted) + 1, max_turns, earlier, seen)
            )
            state.output = await get_model().generate([system, message])
            state.messages += [message, *([state.output.message] if state.output.choices else [])]
            if refusal(state.output) is not None:
                # Nobody answered; an edit that did not come to its end is none of the model's.
                break
            completion = state.output.completion if state.output.choices else ""
            keys = notation.extract(completion, Protocol.BENCH)
            if keys == DONE:
                said["ended"] = "done"
                break
            asked = turn_requests(standing, keys, carried)
            waiting = _waiting(asked) if shows_vim else ()
            replays = await beside(partial(play, (*asked, *waiting)))
            turn = _turn(keys, replays[0], state.output.time)
            if shows_vim:
                turn |= _vim(replays[len(asked)])
                seen = _in_words(turn)
            noted.append(turn)
            standing = after_turn(standing, keys, carried, replays, task.target)
            if standing is None:
                said["ended"] = _ended(replays[0], task)
        return state

    return solve


def _task(state: TaskState) -> Task:
    task = logged_task(str(state.sample_id), state.metadata, state.target.text)
    assert task is not None, "the tasks of this package carry their start"
    return task


def _waiting(asked: tuple[ReplayRequest, ...]) -> tuple[ReplayRequest, ...]:
    """The turn again without its save and quit, to see where the keys lead."""
    first = asked[0]
    return (ReplayRequest(first.protocol, first.start, first.keys, open_end=True),)


def _turn(keys: str, saved: Replay, seconds: float | None) -> dict[str, Any]:
    try:
        left = None if saved.final is None else saved.final.decode()
    except UnicodeDecodeError:
        left = None
    return {"keys": keys, "left": left, "outcome": saved.outcome.value, "seconds": seconds}


def _vim(waiting: Replay) -> dict[str, Any]:
    return {
        "mode": waiting.mode,
        "cursor": None if waiting.cursor is None else list(waiting.cursor),
        "error": None if waiting.last_error is None else waiting.last_error.text,
    }


_MODES = {"n": "Normal", "i": "Insert", "v": "Visual", "V": "Visual", "\x16": "Visual", "R": "Replace"}


def _in_words(turn: dict[str, Any]) -> str:
    """What Vim said after the last turn's keys, before the file was saved."""
    parts = []
    if turn["mode"]:
        parts.append(f"{_MODES.get(turn['mode'][0], turn['mode'])} mode")
    if turn["cursor"]:
        line, column = turn["cursor"]
        parts.append(f"cursor at line {line}, column {column}")
    if turn["error"]:
        parts.append(f"Vim said: {turn['error']}")
    return f"After your last keys: {'; '.join(parts)}." if parts else ""


def _ended(saved: Replay, task: Task) -> str:
    if saved.outcome is Outcome.BAD_KEYS:
        return "notation"
    return "target" if saved.final == task.target.encode() else "replay"
