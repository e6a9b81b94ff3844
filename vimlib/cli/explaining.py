"""`vimlib explain`: why one stored answer failed or that it passed, with what it did key by key."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from vimlib.cli import options as shared
from vimlib.cli.options import confinement_asked, executor_asked
from vimlib.cli.terminal import show
from vimlib.records import FailureMode, Protocol, VimlibError


class UnknownAnswer(VimlibError):
    """The store has no such run, or no answer of it to that task."""

    exit_code = 2


def _explain(options: argparse.Namespace) -> int:
    from vimlib import store

    con = store.connect(options.database, with_errata=True)
    samples = store.query(con, "attempts_scored", task_id=options.task, epoch=options.epoch, counts=True)
    named = samples[_called(samples, options.run_name)]
    if named.empty:
        raise UnknownAnswer(_whom(con, options))
    if len(named) > 1:
        raise UnknownAnswer(
            f"{len(named)} runs are called {options.run_name!r}; expected one of their ids: "
            f"{', '.join(named['run_id'])}"
        )
    sample = named.iloc[0]
    show(
        f"{sample['name']} ({sample['run_id']}) on {sample['task_id']}, epoch {sample['epoch']}, under "
        f"{sample['protocol']}"
    )
    found = store.query(
        con,
        "failures_classified",
        run_id=sample["run_id"],
        task_id=sample["task_id"],
        epoch=int(sample["epoch"]),
    )
    if found.empty:
        passed = sample["passed"] is True or str(sample["passed"]) == "True"
        show("passed" if passed else f"no failure: {sample['status']}, without a verdict")
    else:
        _tell({str(name): value for name, value in found.iloc[0].items()})
    if not options.no_trace:
        key = {name: sample[name] for name in ("run_id", "task_id")}
        played = store.query(con, "answers_replayed", **key, epoch=int(sample["epoch"])).iloc[0]
        _play({str(name): value for name, value in played.items()}, options)
    return 0


def _called(rows: Any, name: str) -> Any:
    """Which rows are of a run of this id, or of one that begins so, or of this name or its last part."""
    names = rows["name"].astype(str)
    return (
        rows["run_id"].str.startswith(name) | (names == name) | (names.str.rsplit("/", n=1).str[-1] == name)
    )


def _whom(con: Any, options: argparse.Namespace) -> str:
    from vimlib import store

    runs = store.query(con, "run_overview")
    if not _called(runs, options.run_name).any():
        names = ", ".join(sorted(set(runs["name"]))) or "none"
        return f"no run of id or name {options.run_name!r} in {options.database}; it has {names}"
    return (
        f"run {options.run_name!r} has no answer to task {options.task!r} in epoch {options.epoch}; "
        "expected a task id of its suite"
    )


def _tell(row: dict[str, Any]) -> None:
    """What the report shows of a failure, for a terminal."""
    from vimlib.failures import RULES
    from vimlib.figures.failures import REPAIRS

    evidence = json.loads(row["evidence"])
    mode = FailureMode(row["failure_mode"])
    rule = next(rule for rule in RULES if rule.mode is mode)
    show(f"failed: {mode} ({rule.stage}): {rule.when}")
    show(f"because  {evidence.get('why', '')}")
    if len(row["flags"]):
        show(f"also     {', '.join(row['flags'])}")
    if "likeness_end" in evidence:
        show(
            f"alike    {100 * evidence['likeness_end']:.0f} % with the target, the start "
            f"{100 * evidence['likeness_start']:.0f} %; {evidence['left_to_change']} characters are left to "
            f"change of {evidence['to_change']}"
        )
    if isinstance(row["repairable_by"], str):
        show(f"passes   with {REPAIRS[row['repairable_by']]}")
    for name, what in (("vim_mode", "Vim mode"), ("error", "error")):
        if name in evidence:
            show(f"{what:8} {evidence[name]}")
    for name in ("instruction", "start", "target"):
        _block(name, row[name])
    _block("answer", row["keys"] if isinstance(row["keys"], str) else "(none)")
    if isinstance(row["completion"], str) and row["completion"] != row["keys"]:
        _block("whole answer", row["completion"])
    if "diff" in evidence:
        _block("left against target", evidence["diff"])


_MOST_LINES = 60


def _block(name: str, value: str) -> None:
    if not value.strip():
        return
    show(f"{name}:")
    lines = value.removesuffix("\n").split("\n")
    for line in lines[:_MOST_LINES]:
        show(f"    {line[:400]}" + (f"… {len(line) - 400} more" if len(line) > 400 else ""))
    if len(lines) > _MOST_LINES:
        show(f"    … {len(lines) - _MOST_LINES} more lines")


def _play(row: dict[str, Any], options: argparse.Namespace) -> None:
    """The states of the answer, and where it went wrong."""
    from vimlib.failures import wrong_keys
    from vimlib.figures.answers import in_turns
    from vimlib.records import Outcome
    from vimlib.replay import trace_many

    if not isinstance(row["keys"], str) or not row["keys"]:
        return
    if in_turns(row):
        show(f"answered in {len(row['turns'])} turns, which are not played here: {row['keys']}")
        return
    protocol = Protocol(row["protocol"])
    traces = trace_many(
        [(protocol, row["start"], row["keys"])],
        confinement=confinement_asked(options),
        executor=executor_asked(options),
        cache=options.cache,
    )
    for trace in traces.values():
        wrong = wrong_keys(trace.steps, protocol.formatted(row["target"]))
        show("key by key (keys typed, key, mode, likeness, error):")
        before = None
        for step, ratio in zip(trace.steps, wrong.likeness, strict=True):
            mode = step.mode if step.outcome is Outcome.UNFINISHED else step.outcome.value
            said = step.error.text if step.error and step.error != before else ""
            line = (
                f"{step.typed:4}  {step.key or '(start)':10}  {mode or '-':10} {100 * ratio:3.0f} %  {said}"
            )
            show(line.rstrip())
            before = step.error
        if trace.sampled:
            show(f"{len(trace.steps)} of {len(trace.keys) + 1} states are shown: the answer is long")
        if wrong.last_nearer is None:
            show("the target was never nearer than at the start")
        else:
            show(f"the target was nearer than at the start until key {wrong.last_nearer}")
        if wrong.first_error is not None:
            show(f"the first error came with key {wrong.first_error}")


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this module's commands."""
    explain = commands.add_parser(
        "explain", parents=[shared.replaying()], help="say why a stored answer failed, and play it key by key"
    )
    explain.add_argument(
        "run_name",
        metavar="RUN",
        help="id of the run, its beginning, or the name of the model where only one run has it",
    )
    explain.add_argument("task", metavar="TASK", help="id of the task")
    explain.add_argument("--epoch", type=int, default=1, metavar="N", help="repetition of the task (1)")
    explain.add_argument(
        "--database", type=Path, default=Path("data/vimlib.duckdb"), help="the store (%(default)s)"
    )
    explain.add_argument("--no-trace", action="store_true", help="do not play the answer key by key")
    explain.set_defaults(run=_explain)
