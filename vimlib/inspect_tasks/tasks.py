"""The four tasks. Each asks the tasks of any suite by one protocol and one track."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from inspect_ai import Task as InspectTask
from inspect_ai import task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser
from inspect_ai.solver import Solver, generate, system_message

from vimlib.inspect_tasks import prompts
from vimlib.inspect_tasks.conversation import turns
from vimlib.inspect_tasks.logged import log_metadata, sample_metadata
from vimlib.inspect_tasks.playing import confinement_of, in_one_line
from vimlib.inspect_tasks.scorer import replay
from vimlib.records import Protocol, Suite, Task, Track, TurnState
from vimlib.suites import load_suite

VERSION = "1"
"""Of these tasks. The log's task version has the suite's hash besides, so that a run is never resumed
on other tasks than those it began with."""

PROMPTS = ("vimlib", "upstream")


@task
def golf(suite: str = "seed", prompt: str = "vimlib", confined: bool = True) -> InspectTask:
    """VimGolf by the rules of inspect_evals' `vimgolf_single_turn` 2-A, one answer a task.

    `suite`: built-in or fetched name, or file. `prompt`: `vimlib` is ours; `upstream` is the system
    prompt and the record conversion of inspect_evals itself, where `inspect-evals[vimgolf_challenges]`
    is installed. `confined`: false replays without confinement.
    """
    _one_of("prompt", prompt, PROMPTS)
    loaded = _suite(suite)
    if prompt == "upstream":
        return _upstream(loaded, confined)
    return _single(
        loaded,
        Protocol.GOLF,
        Track.SINGLE,
        prompts.GOLF_VERSION,
        prompts.GOLF_SYSTEM,
        prompts.single_user,
        confined,
    )


@task
def golf_blind(suite: str = "seed", confined: bool = True) -> InspectTask:
    """The contamination probe: title, instruction and start of a task, its target withheld.

    Judged like `golf`. A pass that the start cannot suggest is evidence that the task was known.
    """
    return _single(
        _suite(suite),
        Protocol.GOLF,
        Track.BLIND,
        prompts.BLIND_VERSION,
        prompts.BLIND_SYSTEM,
        prompts.blind_user,
        confined,
    )


@task
def bench(suite: str = "seed", confined: bool = True) -> InspectTask:
    """vimbench's single-turn track: the whole answer or its first fence, strict notation, no cap."""
    return _single(
        _suite(suite),
        Protocol.BENCH,
        Track.SINGLE,
        prompts.BENCH_VERSION,
        prompts.BENCH_SYSTEM,
        prompts.single_user,
        confined,
    )


@task
def bench_multi(
    suite: str = "seed",
    state: str = "fresh",
    max_turns: int = 8,
    show: str = "buffer",
    confined: bool = True,
) -> InspectTask:
    """vimbench's multi-turn track: the model sees the buffer after each batch of keys.

    `state`: `fresh` carries the buffer alone from turn to turn, `session` all of Vim. `max_turns`:
    answers that give keys. `show`: `buffer` alone, or `state`: mode, cursor and Vim's error too. An
    edit ends when the target is reached, the answer is DONE, its notation is bad, or Vim does not end in
    its time.
    """
    _one_of("state", state, [one.value for one in TurnState])
    _one_of("show", show, ("buffer", "state"))
    if max_turns < 1:
        raise PrerequisiteError(f"vimlib: max_turns is {max_turns}; expected 1 or more")
    loaded = _suite(suite)
    carried = TurnState(state)
    version = prompts.MULTI_VERSION + ("" if show == "buffer" else "-state")
    return _task(
        loaded,
        Protocol.BENCH,
        Track.MULTI,
        carried,
        version,
        # Only for whoever looks at the log: the turns are asked by the solver.
        [_sample(one, Protocol.BENCH, Track.MULTI, carried, prompts.asked(one)) for one in loaded.tasks],
        [turns(state, max_turns, show, confined)],
        confined,
    )


def _single(
    suite: Suite,
    protocol: Protocol,
    track: Track,
    version: str,
    system: str,
    user: Callable[[Task], str],
    confined: bool,
) -> InspectTask:
    samples = [
        _sample(
            one,
            protocol,
            track,
            None,
            [ChatMessageSystem(content=system), ChatMessageUser(content=user(one))],
        )
        for one in suite.tasks
    ]
    return _task(suite, protocol, track, None, version, samples, [generate()], confined)


def _task(
    suite: Suite,
    protocol: Protocol,
    track: Track,
    state: TurnState | None,
    version: str,
    samples: Sequence[Sample],
    solver: list[Solver],
    confined: bool,
) -> InspectTask:
    with in_one_line():
        metadata = log_metadata(suite, protocol, track, state, version, confinement_of(confined))
    return InspectTask(
        dataset=MemoryDataset(list(samples), name=f"{suite.name} {suite.version}"),
        solver=solver,
        scorer=replay(confined=confined),
        version=f"{VERSION}-{suite.hash[:12]}",
        metadata=metadata,
    )


def _sample(
    one: Task,
    protocol: Protocol,
    track: Track,
    state: TurnState | None,
    asked: str | list[ChatMessage],
) -> Sample:
    return Sample(
        id=one.id, input=asked, target=one.target, metadata=sample_metadata(one, protocol, track, state)
    )


def _suite(source: str) -> Suite:
    with in_one_line():
        return load_suite(source)


def _upstream(suite: Suite, confined: bool) -> InspectTask:
    try:
        from inspect_evals.vimgolf_challenges import vimgolf_challenges as theirs
    except ImportError as error:
        raise PrerequisiteError(
            "vimlib: prompt=upstream is the prompt of inspect_evals, which is not installed "
            f"({error}); pip install 'inspect-evals[vimgolf_challenges]', or leave prompt out"
        ) from None

    def record(one: Task) -> dict[str, Any]:
        detail = prompts.asked(one)
        return {"id": one.id, "input": one.start, "target": one.target, "metadata": {"detail": detail}}

    samples = []
    for one in suite.tasks:
        sample = theirs.record_to_sample(record(one))
        ours = sample_metadata(one, Protocol.GOLF, Track.SINGLE, None)
        sample.metadata = (sample.metadata or {}) | ours
        samples.append(sample)
    version = f"inspect_evals-{theirs.EVAL_VERSION.comparability_version}"
    solver: list[Solver] = [system_message(theirs.SYSTEM_MESSAGE_TEMPLATE), generate()]
    return _task(suite, Protocol.GOLF, Track.SINGLE, None, version, samples, solver, confined)


def _one_of(name: str, given: str, known: Sequence[str]) -> None:
    if given not in known:
        raise PrerequisiteError(f"vimlib: {name} is {given!r}; expected {' or '.join(known)}")
