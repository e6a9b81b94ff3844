"""What our tasks write into a log, so that it says itself what was asked and carries its tasks.

In the log's metadata, under `vimlib`: `suite`, `suite_version`, `suite_hash`, `protocol`, `track`
(single, multi, blind), `state` (fresh, session; null where there are no turns), `prompt_version`,
`vim` (`version`, `sha256` of the Vim that scored), `vimlib_version`, `rules` (the fingerprint of the
protocol as it was played), `packages` (of which the rules depend besides).

In each sample's metadata, under `vimlib`: the task, field by field as in `records.Task`, with
`protocol`, `track` and `state`, from which the scorer knows how to judge. The sample's id is the task's
and its target the task's target.

A multi-turn sample has there besides `turns`, a list of what was played, each with `keys`, `left` (the
file afterwards; null: no text), `outcome` (as `records.Outcome`), `seconds` (the model's time) and, if
the model was shown them, `mode`, `cursor` and `error`; and `ended`: `target`, `done`, `max_turns`,
`notation` or `replay`. Without `ended` the edit was stopped on the way.

`runs.inspect_logs` reads all this back without importing it from here.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping
from typing import Any

import vimlib
from vimlib.records import Protocol, Suite, Task, Track, TurnState
from vimlib.replay import find_vim, fingerprint
from vimlib.sandbox import Confinement

NAME = "vimlib"


def log_metadata(
    suite: Suite,
    protocol: Protocol,
    track: Track,
    state: TurnState | None,
    prompt_version: str,
    confinement: Confinement,
) -> dict[str, Any]:
    """The metadata of a log. Raises NoVim."""
    vim = find_vim()
    return {
        NAME: {
            "suite": suite.name,
            "suite_version": suite.version,
            "suite_hash": suite.hash,
            "protocol": protocol.value,
            "track": track.value,
            "state": None if state is None else state.value,
            "prompt_version": prompt_version,
            "vim": {"version": vim.build.version, "sha256": vim.build.sha256},
            "vimlib_version": vimlib.__version__,
            "rules": fingerprint(protocol, vim, confinement),
            "packages": {"vimgolf": importlib.metadata.version("vimgolf")},
        }
    }


def sample_metadata(task: Task, protocol: Protocol, track: Track, state: TurnState | None) -> dict[str, Any]:
    """The metadata of a sample. What a task does not say is left out."""
    fields: dict[str, Any] = {}
    for name in Task.__dataclass_fields__:
        value = getattr(task, name)
        if value is not None and value != "" and name not in ("id", "erratum"):
            fields[name] = str(value) if name in ("reference_notation", "created") else value
    rules = {
        "protocol": protocol.value,
        "track": track.value,
        "state": None if state is None else state.value,
    }
    # An empty buffer is a buffer.
    return {NAME: rules | {"start": task.start, "target": task.target} | fields}


def logged_task(task_id: str, metadata: Mapping[str, Any], target: str) -> Task | None:
    """The task in a sample's metadata as far as a verdict needs it; None: it holds none.

    Ours, or that of inspect_evals' VimGolf, which has the start under `input`.
    """
    said = metadata.get(NAME)
    if isinstance(said, Mapping):
        return Task(
            id=task_id,
            start=said["start"],
            target=said["target"],
            reference=said.get("reference"),
            reference_notation=Protocol(said.get("reference_notation", Protocol.BENCH)),
        )
    start = metadata.get("input")
    return Task(id=task_id, start=start, target=target) if isinstance(start, str) else None
