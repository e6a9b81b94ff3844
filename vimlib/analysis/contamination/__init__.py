"""Has the model seen it? Independent kinds of evidence, each with what it cannot show.

The challenges of VimGolf and their solutions have been public for years. No single number can say whether
a model remembers them, so there is none here: each module asks one question (`age`, `popularity`,
`overlap`, `twins`, `blind`, `fresh`), and `evidence` lays the answers beside each other, with the
difference that could have been detected. How often each test is wrong, and what it sees, was
found by simulation: docs/contamination.md.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import pandas as pd

from vimlib import store
from vimlib.analysis.contamination import age as age_
from vimlib.analysis.contamination import blind as blind_
from vimlib.analysis.contamination import fresh as fresh_
from vimlib.analysis.contamination import overlap as overlap_
from vimlib.analysis.contamination import popularity as popularity_
from vimlib.analysis.contamination import twins as twins_
from vimlib.analysis.contamination.age import by_year
from vimlib.analysis.contamination.answers import Subject, UnknownRun, by_task, public, subjects, traced
from vimlib.analysis.contamination.cutoffs import BadCutoff, cutoffs
from vimlib.analysis.contamination.lines import COLUMNS, Evidence, Finding, Line, corrected, joined
from vimlib.analysis.contamination.overlap import overlaps
from vimlib.analysis.contamination.twins import twin_pairs

__all__ = ["BadCutoff", "COLUMNS", "Evidence", "Finding", "Line", "Seen", "Subject", "UnknownRun"]
__all__ += [
    "by_task",
    "by_year",
    "cutoffs",
    "evidence",
    "overlaps",
    "public",
    "seen",
    "subjects",
    "traced",
    "twin_pairs",
]


@dataclass(frozen=True, slots=True)
class Seen:
    """Everything that a page about one store shows."""

    evidence: pd.DataFrame
    """`evidence`: one row a subject and line."""
    tasks: pd.DataFrame
    """Public tasks as each subject did them: `by_task`, with `model`, `protocol`, `prompt`, `settings`."""
    pairs: pd.DataFrame
    """`twin_pairs`, with the subject's columns."""
    overlaps: pd.DataFrame
    """`overlaps`, with the subject's columns."""
    cutoffs: pd.DataFrame
    """`cutoffs` of all models."""


def seen(
    con: store.Connection,
    *,
    runs: Collection[str] = (),
    suite: str = "",
    given: Mapping[str, str] | None = None,
    determined: Collection[str] = (),
    alpha: float = 0.05,
    seed: int = 0,
) -> Seen:
    """What the store says about having been seen, model by model.

    `runs`: ids of models' runs, none: all. `suite`: name of the public suite, '': all that are neither drawn
    nor twins. `given`: training cutoffs by model (`cutoffs`). `determined`: ids of tasks that can
    be passed blind.

    Raises UnknownRun, BadCutoff.
    """
    answers = traced(con, runs)
    solutions = store.query(con, "solutions_published")
    found = subjects(answers)
    known = cutoffs([one.name for one in found], given)
    days: dict[str, datetime.date | None] = dict(zip(known["name"], known["cutoff"], strict=True))
    parts: dict[str, list[pd.DataFrame]] = {"evidence": [], "tasks": [], "pairs": [], "overlaps": []}
    for one in found:
        own = public(one.of(answers), suite)
        near = overlaps(own, public(answers[answers["protocol"] == one.protocol], suite), solutions)
        lines = evidence(answers, one, near, days, suite=suite, determined=determined, alpha=alpha, seed=seed)
        for name, frame in (
            ("evidence", lines),
            ("tasks", by_task(own)),
            ("pairs", twin_pairs(one.of(answers))),
            ("overlaps", near),
        ):
            parts[name].append(_named(frame, one))
    return Seen(**{name: joined(frames) for name, frames in parts.items()}, cutoffs=known)


def _named(frame: pd.DataFrame, one: Subject) -> pd.DataFrame:
    named = {
        "model": one.name,
        "protocol": one.protocol,
        "prompt": one.prompt_version,
        "settings": one.settings,
    }
    made = frame.copy()
    for place, (column, value) in enumerate(named.items()):
        made.insert(place, column, value)
    return made


def evidence(
    answers: pd.DataFrame,
    subject: Subject,
    near: pd.DataFrame,
    days: Mapping[str, datetime.date | None],
    *,
    suite: str = "",
    determined: Collection[str] = (),
    alpha: float = 0.05,
    seed: int = 0,
) -> pd.DataFrame:
    """All lines of evidence about one subject, corrected together.

    `answers`: from `traced`; `near`: the subject's `overlaps`; `days`: training cutoffs by model.
    Grain: one row a line. Order: `Evidence`. Columns: `lines.COLUMNS`, p corrected over all lines.
    """
    everything = subject.of(answers)
    own = public(everything, suite)
    others = [(name, public(frame, suite)) for name, frame in subject.others(answers)]
    drawn = everything[everything["suite_name"] == "fresh"]
    twin = everything[everything["twin_of"].notna()]
    solved = int(by_task(own)["passed"].gt(0).sum()) if len(own) else 0
    return corrected(
        [
            age_.age(own, days.get(subject.name), others, days, alpha=alpha, seed=seed),
            popularity_.popularity(own, alpha=alpha, seed=seed),
            overlap_.overlap(near, solved, alpha=alpha, seed=seed),
            twins_.twins(joined([own, twin]), alpha=alpha, seed=seed),
            blind_.blind(
                public(subject.of(answers, "blind"), suite),
                [(name, public(frame, suite)) for name, frame in subject.others(answers, "blind")],
                determined,
                alpha=alpha,
                seed=seed,
            ),
            fresh_.fresh(joined([own, drawn]), alpha=alpha, seed=seed),
        ],
        alpha,
    )
