"""Stored answers judged once more: by another Vim, the rules of today, or another reading of the answers.

A score is worth as much as it stays the same where it should: under the next Vim, and under a
rule that reads answers a little otherwise. The answers are in the store, so this needs no model.
The verdicts that count are left alone; which of them would differ is what one wants to know.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import closing, nullcontext
from pathlib import Path

from vimlib import keys
from vimlib.judge import judge
from vimlib.records import AttemptStatus, Protocol, Run, Suite, VimBuild, VimlibError
from vimlib.replay import close_starters, find_vim, fingerprint, with_vim
from vimlib.sandbox import Confinement
from vimlib.store import connect, read_run, read_suite, replacing


class NothingToRejudge(VimlibError):
    """None of the runs has an answer that can be judged so."""

    exit_code = 3


@dataclasses.dataclass(frozen=True, slots=True)
class Rejudged:
    """What one further judgement did."""

    judgement_id: str
    """By which the store knows it: rows of `rejudgements`."""
    vim: VimBuild
    runs: tuple[str, ...]
    """Run ids that were judged."""
    notes: tuple[str, ...]
    """A line for each run that could not be."""
    replays: int
    """Distinct replays that it rests on."""
    replayed: int
    """Replays that Vim was started for now."""


def rejudge(
    database: Path,
    run_ids: Sequence[str],
    *,
    vim: str = "",
    extract_again: bool = False,
    confinement: Confinement = Confinement.FULL,
    cache: Path | None = None,
    executor: Executor | None = None,
    progress: bool = False,
) -> Rejudged:
    """Judge stored runs once more and store the verdicts beside the old ones.

    `vim`: a path or command; '': the Vim of this machine, under the rules as they are now. A Vim without
    +eval (`vim.tiny`) judges bench alone. `extract_again`: take the keys from the completions by
    today's rule instead of those that are stored; runs without completions keep theirs. The same
    judgement made twice changes nothing. `executor`: replays elsewhere, by the Vim that is there.

    Raises NothingToRejudge, NoVim, ConfinementUnavailable, CacheUnusable, StoreError.
    """
    with closing(connect(database)) as con:
        runs = [run for one in dict.fromkeys(run_ids) if (run := read_run(con, one)) is not None]
        suites = [
            suite
            for digest in dict.fromkeys(run.suite_hash for run in runs)
            if (suite := read_suite(con, digest)) is not None
        ]
    try:
        with with_vim(vim, poor=True) if vim else nullcontext(find_vim()) as other:
            notes = [
                f"{run.id}: golf types its keys by a script, and {other.path} has no +eval; not judged"
                for run in runs
                if not _can_play(run, other.reports)
            ]
            runs = [run for run in runs if _can_play(run, other.reports)]
            if extract_again:
                runs = [_extracted(run) for run in runs]
            if not any(one.status is AttemptStatus.ANSWERED for run in runs for one in run.attempts):
                raise NothingToRejudge("; ".join(notes) or "no run here has an answer to judge")
            return _rejudged(
                database,
                runs,
                suites,
                other.build,
                notes,
                confinement,
                cache,
                executor,
                progress,
                extract_again,
            )
    finally:
        if vim:
            close_starters()


def _can_play(run: Run, reports: bool) -> bool:
    """Whether a Vim can play a run's answers: one without +eval can do bench, and no turns."""
    return reports or (run.protocol is Protocol.BENCH and run.turn_state is None)


def _extracted(run: Run) -> Run:
    attempts = tuple(
        one
        if one.completion is None or one.turns is not None
        else dataclasses.replace(one, keys=keys.extract(one.completion, run.protocol))
        for one in run.attempts
    )
    if all(one.completion is None for one in run.attempts):
        return run
    return dataclasses.replace(run, attempts=attempts, extraction=keys.EXTRACTION_RULES[run.protocol])


def _rejudged(
    database: Path,
    runs: Sequence[Run],
    suites: Sequence[Suite],
    build: VimBuild,
    notes: Sequence[str],
    confinement: Confinement,
    cache: Path | None,
    executor: Executor | None,
    progress: bool,
    extract_again: bool,
) -> Rejudged:
    judgement = judge(
        runs, suites, confinement=confinement, cache=cache, executor=executor, progress=progress
    )
    rules = {protocol: fingerprint(protocol, find_vim(), confinement) for protocol in Protocol}
    parts = json.dumps([build.sha256, rules, extract_again], sort_keys=True)
    judgement_id = hashlib.sha256(parts.encode()).hexdigest()[:12]
    with replacing(database) as writer:
        writer.add_replays(judgement.replays.values())
        for judged in judgement.runs:
            writer.add_rejudgements(
                judgement_id,
                judged.run,
                [(one.attempt, one.replay.key if one.replay else None, one.score) for one in judged.verdicts],
                vim=build,
                fingerprint=rules[judged.run.protocol],
            )
    return Rejudged(
        judgement_id=judgement_id,
        vim=build,
        runs=tuple(judged.run.id for judged in judgement.runs),
        notes=tuple(notes),
        replays=len(judgement.replays),
        replayed=judgement.replayed,
    )
