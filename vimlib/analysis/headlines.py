"""The headline numbers of everything in the store, as plain data, and what changed between two of them.

This is what a report says in `summary.json`, for programs, and what the next report compares itself
with: it must not need the old store, which the next load replaces. So it holds numbers and ids, no
frames. `FIELDS` documents it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from vimlib import store
from vimlib.analysis.overview import by_tier, overview

VERSION: Final = 1
"""Version of the shape of `headlines`; raised when a name goes or changes its meaning."""

FIELDS: Final[dict[str, str]] = {
    "version": "version of this shape",
    "runs[]": "one object a run in the store; models first, then solvers",
    "runs[].run_id": "the run's id, the same in every report",
    "runs[].kind": "model, or solver: a program without a model, never ranked among models",
    "runs[].name": "model or solver",
    "runs[].suite, .suite_version, .suite_hash": "which tasks, exactly",
    "runs[].protocol, .track": "golf or bench; single, multi (several turns) or blind",
    "runs[].protocol_fingerprint, .vim": "exact version of the rules, and of Vim; null: nothing was replayed",
    "runs[].created": "when the run was made, UTC; null: not known",
    "runs[].tasks, .samples, .scored": "tasks of the suite; (task, epoch) pairs attempted; of them judged",
    "runs[].provider_errors, .harness_errors, .not_replayable": "samples not scored, and whose fault",
    "runs[].passed, .correct": "scored samples within the rules; with the right buffer",
    "runs[].pass_rate": "passed / scored: value, 95 % interval (low, high), n; value null: no data",
    "runs[].pass_rate_with_errors": "the same with errors counted as failures",
    "runs[].beats_diff_rate": "passed with fewer keys than the diff solver, of those that can be compared",
    "runs[].efficiency, .partial": "means from 0 to 1 with their n; value null: no data",
    "runs[].total_tokens, .seconds": "sums over attempts that report them; null: none does",
    "runs[].tokens_per_pass": "total tokens / passed samples; null: no pass, or not every attempt reports",
    "runs[].billed_usd": "US dollars that providers billed; null: not reported",
    "runs[].source_verdicts, .disagreements": "verdicts that the source recorded; those unlike ours",
    "runs[].tiers[]": "tier, passed, scored and pass_rate of each tier; tier null: tasks without one",
    "totals": "sums over the runs: models, solvers, samples, scored, errors, not_replayable, disagreements",
}
"""What each name in the result of `headlines` means."""


def headlines(con: store.Connection) -> dict[str, Any]:
    """All headline numbers of the store with their intervals, ready for JSON; see `FIELDS`."""
    runs = overview(con)
    tiers = by_tier(con)
    rows = [_run(row, tiers[tiers["run_id"] == row["run_id"]]) for row in _records(runs)]
    return {
        "version": VERSION,
        "runs": rows,
        "totals": {
            "runs": len(rows),
            "models": sum(row["kind"] == "model" for row in rows),
            "solvers": sum(row["kind"] == "solver" for row in rows),
            **{
                name: sum(row[name] for row in rows)
                for name in ("samples", "scored", "not_replayable", "source_verdicts", "disagreements")
            },
            "errors": sum(row["provider_errors"] + row["harness_errors"] for row in rows),
        },
    }


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): _plain(value) for name, value in row.items()} for row in frame.to_dict("records")]


def _plain(value: Any) -> Any:
    """A cell as JSON has it: None for nothing, no numpy."""
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, pd.Timestamp):
        return value.isoformat()
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and math.isnan(value) else value


def _rate(row: Mapping[str, Any], name: str, n: str) -> dict[str, Any]:
    return {"value": row[name], "low": row[f"{name}_low"], "high": row[f"{name}_high"], "n": row[n]}


def _run(row: Mapping[str, Any], tiers: pd.DataFrame) -> dict[str, Any]:
    errors = row["scored"] + row["errors"]
    complete = row["attempts"] and row["total_tokens_n"] == row["attempts"]
    return {
        "run_id": row["run_id"],
        "kind": row["kind"],
        "name": row["name"],
        "suite": row["suite_name"],
        "suite_version": row["suite_version"],
        "suite_hash": row["suite_hash"],
        "protocol": row["protocol"],
        "track": row["track"],
        "protocol_fingerprint": row["protocol_fingerprint"],
        "vim": row["vim_version"],
        "created": row["created_utc"],
        "tasks": row["tasks_in_suite"],
        "samples": row["samples"],
        "scored": row["scored"],
        "provider_errors": row["provider_errors"],
        "harness_errors": row["harness_errors"],
        "not_replayable": row["not_replayable"],
        "passed": row["passed"],
        "correct": row["correct"],
        "pass_rate": _rate(row, "pass_rate", "scored"),
        "pass_rate_with_errors": _rate({**row, "n": errors}, "pass_rate_with_errors", "n"),
        "beats_diff_rate": _rate(row, "beats_diff_rate", "beats_diff_n"),
        "efficiency": {"value": row["mean_efficiency"], "n": row["efficiency_n"]},
        "partial": {"value": row["mean_partial"], "n": row["partial_n"]},
        "total_tokens": row["total_tokens"],
        "tokens_per_pass": row["total_tokens"] / row["passed"] if complete and row["passed"] else None,
        "billed_usd": row["billed_usd"],
        "seconds": row["seconds"],
        "source_verdicts": row["source_verdicts"],
        "disagreements": row["disagreements"],
        "tiers": [
            {
                "tier": tier["tier"],
                "passed": tier["passed"],
                "scored": tier["scored"],
                "pass_rate": _rate(tier, "pass_rate", "scored"),
            }
            for tier in _records(tiers)
        ],
    }


@dataclass(frozen=True, slots=True)
class Changes:
    """What is new in one set of headlines against an earlier one. Runs as `headlines` gives them."""

    new: tuple[dict[str, Any], ...]
    """Runs that were not there."""
    gone: tuple[dict[str, Any], ...]
    """Runs that are no longer there: the store was begun anew."""
    rejudged: tuple[tuple[dict[str, Any], dict[str, Any]], ...]
    """(before, now) of runs whose verdicts changed: other rules, another Vim, errata, more answers."""

    def __bool__(self) -> bool:
        return bool(self.new or self.gone or self.rejudged)


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> Changes:
    """What changed between two results of `headlines`, by run id."""
    old = {row["run_id"]: row for row in before["runs"]}
    new = {row["run_id"]: row for row in now["runs"]}
    judged = ("samples", "scored", "passed", "correct")
    return Changes(
        new=tuple(row for run, row in new.items() if run not in old),
        gone=tuple(row for run, row in old.items() if run not in new),
        rejudged=tuple(
            (old[run], row)
            for run, row in new.items()
            if run in old and any(row[name] != old[run][name] for name in judged)
        ),
    )
