"""`vimlib/replay`: an answer played in the confined Vim and judged by its protocol, without Docker.

The verdict is the workbench's own (`judge`), so a log and the store that it is loaded into agree. It
judges our own tasks' samples and those of inspect_evals' `vimgolf_single_turn`, so that
`inspect score LOG --scorer vimlib/replay` works on logs that were made without vimlib.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from inspect_ai.scorer import Score, Scorer, Target, accuracy, mean, scorer, stderr
from inspect_ai.solver import TaskState

from vimlib import keys
from vimlib.inspect_tasks.logged import NAME, logged_task
from vimlib.inspect_tasks.playing import beside, confinement_of, in_one_line, workers
from vimlib.judge import Verdict, judge
from vimlib.records import Attempt, AttemptStatus, Protocol, Run, RunKind, Suite, Task, Track, TurnState
from vimlib.runs.inspect_logs import refusal
from vimlib.sandbox import Confinement
from vimlib.solvers import solver_run


@scorer(
    metrics={
        "passed": [accuracy(), stderr()],
        "efficiency": [mean()],
        "partial": [mean()],
        "beats_diff": [mean()],
    },
    name="replay",
)
def replay(protocol: str | None = None, confined: bool = True) -> Scorer:
    """Play each answer in Vim and judge it.

    The value has four parts, which Inspect averages one by one: `passed`; `efficiency`, over passes
    that have a reference; `partial`, the likeness of final to target; `beats_diff`, a pass in fewer
    keys than the `diff` solver needs. A part that does not apply is NaN, which Inspect leaves out. The
    metadata says how the replay ended, with Vim's mode and last error. A replay that the harness spoilt is
    unscored, and so is a request that the provider refused: its message is no answer.

    `protocol`: golf or bench, where the sample does not say it itself. `confined`: false replays
    without confinement, for answers that you trust.
    """
    with in_one_line():
        confinement = confinement_of(confined)
    asked = None if protocol is None else Protocol(protocol)

    async def score(state: TaskState, target: Target) -> Score:
        task = logged_task(str(state.sample_id), state.metadata, target.text)
        if task is None:
            return Score.unscored(
                reason="no_start", explanation="the sample does not say from which buffer the edit starts"
            )
        refused = refusal(state.output)
        if refused is not None:
            return Score.unscored(reason="provider_refused", explanation=refused)
        said = state.metadata.get(NAME) or {}
        rules = asked or Protocol(said.get("protocol", Protocol.GOLF))
        track = Track(said.get("track", Track.SINGLE))
        attempt = _attempt(state, said, rules, track)
        turn_state = TurnState(said["state"]) if said.get("state") else None
        verdict = await beside(lambda: _judged(task, rules, track, turn_state, attempt, confinement))
        return _told(verdict)

    return score


def _attempt(state: TaskState, said: dict[str, Any], protocol: Protocol, track: Track) -> Attempt:
    """The answer as the reader of logs takes it: the store and the log must not differ."""
    task_id = str(state.sample_id)
    if track is Track.MULTI:
        turns = tuple(str(turn["keys"]) for turn in said.get("turns", ()))
        joined = "".join(turns) if turns else None
        return Attempt(task_id, 1, 1, AttemptStatus.ANSWERED, keys=joined, turns=turns)
    completion = state.output.completion if state.output.choices else None
    taken = None if completion is None else keys.extract(completion, protocol)
    return Attempt(task_id, 1, 1, AttemptStatus.ANSWERED, completion=completion, keys=taken)


def _judged(
    task: Task,
    protocol: Protocol,
    track: Track,
    turn_state: TurnState | None,
    attempt: Attempt,
    confinement: Confinement,
) -> Verdict:
    """The verdict of `judge` on this one answer; on a pass, with the `diff` solver's answer beside it."""
    suite = Suite(name="sample", version="", hash="sample", tasks=(task,), protocols=(protocol,))
    run = Run(
        "sample",
        RunKind.MODEL,
        "model",
        suite.hash,
        protocol,
        (attempt,),
        track=track,
        turn_state=turn_state,
    )

    def verdict(floors: Sequence[Run]) -> Verdict:
        judged = judge([run], [suite], floors=floors, confinement=confinement, executor=workers())
        return judged.runs[0].verdicts[0]

    alone = verdict([])
    # Only a pass can beat anything, and what the solver needs takes longer than a replay.
    return verdict([solver_run("diff", suite, protocol)]) if alone.score.passed else alone


def _told(verdict: Verdict) -> Score:
    worth, done = verdict.score, verdict.replay
    metadata = {
        "outcome": None if done is None else done.outcome.value,
        "detail": "" if done is None else done.detail,
        "correct": worth.correct,
        "keystrokes": worth.keystrokes,
        "over_cap": worth.over_cap,
        "mode": None if done is None else done.mode,
        "vim_error": None if done is None or done.last_error is None else done.last_error.text,
        "confinement": None if done is None else done.confinement,
    }
    keys_played = verdict.attempt.keys
    if worth.passed is None:
        return Score.unscored(
            reason="harness_error",
            answer=keys_played,
            explanation="the harness failed on this answer, not the model",
            metadata=metadata,
        )
    beats: float = math.nan
    if not worth.passed:
        beats = 0.0
    elif worth.beats_diff is not None:
        beats = float(worth.beats_diff)
    efficiency = worth.efficiency if worth.passed and worth.efficiency is not None else math.nan
    return Score(
        value={
            "passed": float(worth.passed),
            "efficiency": efficiency,
            "partial": math.nan if worth.partial is None else worth.partial,
            "beats_diff": beats,
        },
        answer=keys_played,
        explanation=_why(verdict),
        metadata=metadata,
    )


def _why(verdict: Verdict) -> str:
    worth, done = verdict.score, verdict.replay
    if worth.passed:
        return "the file is the target"
    if done is None:
        return "there are no keys in the answer"
    if worth.correct and worth.over_cap:
        return f"the file is the target, but {worth.keystrokes} keys are over the cap"
    how = f"{done.outcome.value}: {done.detail}" if done.detail else done.outcome.value
    return f"the file is not the target ({how})"
