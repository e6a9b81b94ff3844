"""What every kind of evidence says in the same words: an effect, its interval, its test, and its limits.

No kind of evidence is proof, and none is added to another: a verdict is a table of lines, each with the
sentence that says what it cannot show. A line without enough data says what is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pandas as pd

from vimlib.analysis.stats import holm


class Evidence(StrEnum):
    """Kinds of evidence, in the order of the table."""

    AGE = "age"
    AGE_OTHERS = "age, against other models"
    ENTRIES = "popularity, entries"
    GOLFERS = "popularity, golfers"
    OVERLAP_CHANCE = "overlap, against other tasks"
    OVERLAP = "overlap, against other answers"
    TWINS = "twins"
    BLIND = "blind"
    FRESH = "fresh"


class Finding(StrEnum):
    """What a line amounts to. `CONTEXT` lines carry no test: they help to read the others."""

    NOTHING = "no evidence"
    SOME = "some"
    STRONG = "strong"
    TOO_LITTLE = "not enough data"
    CONTEXT = "context"


CANNOT_SHOW = {
    Evidence.AGE: "Newer tasks may be harder in ways that length, edit and best score do not measure.",
    Evidence.AGE_OTHERS: "A model that was trained on older data may be weaker on newer kinds of "
    "tasks alone.",
    Evidence.ENTRIES: "Popular tasks may be easier at equal length; what is popular is also what is taught.",
    Evidence.GOLFERS: "Popular tasks may be easier at equal length; what is popular is also what is taught.",
    Evidence.OVERLAP_CHANCE: "Right answers to one task resemble each other, seen or not; this alone is no "
    "evidence of memory.",
    Evidence.OVERLAP: "A better golfer comes nearer to the published solutions without having seen them; "
    "others that have seen them too hide it.",
    Evidence.TWINS: "A model that knows its original behind other words passes the twin as well; a harder "
    "text makes a difference without any memory.",
    Evidence.BLIND: "A title can give the target away, and what others do not guess one may.",
    Evidence.FRESH: "Public and drawn tasks are of different kinds; a difference need not be memory.",
}
"""By kind, what its line cannot show."""

COLUMNS = [
    "evidence", "effect", "low", "high", "unit", "n", "test", "p", "p_corrected", "detectable", "finding",
    "missing", "cannot_show",
]  # fmt: skip
"""Of every frame of lines."""

UNRESOLVED = 0.5
"""A difference of pass rates that could not have been detected below this says nothing by its absence."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of evidence. A positive effect is in the direction of having been seen."""

    evidence: Evidence
    effect: float | None = None
    low: float | None = None
    """Of the 95 % interval."""
    high: float | None = None
    unit: str = ""
    """What the effect is measured in."""
    n: int = 0
    """Tasks that it rests on."""
    test: str = ""
    """How p was found; '': there is none."""
    p: float | None = None
    """Two-sided."""
    detectable: float | None = None
    """The smallest effect that n tasks would have shown at alpha in four cases of five; None: none, or not
    computed."""
    missing: str = ""
    """What is lacking for this line; '': nothing."""


def lacking(evidence: Evidence, what: str, n: int = 0) -> Line:
    """A line for which something is missing."""
    return Line(evidence, n=n, missing=what)


def frame_of(lines: Iterable[Line], alpha: float) -> pd.DataFrame:
    """Lines as a frame, corrected for their number (Holm) and each with its finding.

    Grain: one row a line, in the order given. Columns: `COLUMNS`; NaN or '' where there is none.
    """
    given = list(lines)
    corrected = holm([line.p for line in given])
    rows = [
        {
            **{name: getattr(line, name) for name in Line.__dataclass_fields__},
            "evidence": str(line.evidence),
            "p_corrected": p,
            "finding": str(finding(line, p, alpha)),
            "cannot_show": CANNOT_SHOW[line.evidence],
        }
        for line, p in zip(given, corrected, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    floats = ["effect", "low", "high", "p", "p_corrected", "detectable"]
    return frame.astype(dict.fromkeys(floats, "float64") | {"n": "int64"})


def corrected(frames: Sequence[pd.DataFrame], alpha: float) -> pd.DataFrame:
    """Frames of lines under each other, corrected for the number of all of them together."""
    frame = joined(frames)
    made = holm([None if np.isnan(p) else float(p) for p in frame["p"]])
    found = [
        finding(
            Line(
                Evidence(row.evidence),
                None if np.isnan(row.effect) else float(row.effect),
                detectable=None if np.isnan(row.detectable) else float(row.detectable),
                missing=row.missing,
            ),
            p,
            alpha,
        )
        for row, p in zip(frame.itertuples(index=False), made, strict=True)
    ]
    floats = pd.array([np.nan if p is None else p for p in made], dtype="float64")
    return frame.assign(p_corrected=floats, finding=[str(one) for one in found])


def finding(line: Line, p_corrected: float | None, alpha: float) -> Finding:
    """What a line amounts to.

    Some: the corrected p is at most alpha and the effect positive. Strong: at most alpha / 10. No evidence:
    the test found none although it could have found an effect of `UNRESOLVED`. An effect the other way is
    no evidence.
    """
    if line.missing:
        return Finding.TOO_LITTLE
    if p_corrected is None or line.effect is None:
        return Finding.CONTEXT
    if line.effect > 0 and p_corrected <= alpha:
        return Finding.STRONG if p_corrected <= alpha / 10 else Finding.SOME
    if line.detectable is None or line.detectable > UNRESOLVED:
        return Finding.TOO_LITTLE
    return Finding.NOTHING


def joined(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Frames of the same columns under each other."""
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
