"""A comparison as a gate: is the difference surely beyond a limit, surely not, or neither?

A gate that looks at the difference alone fails good changes by chance and passes bad ones. So
it is the interval that is held against the limit, and that the data cannot tell is an answer
of its own.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum

from vimlib.analysis.compare.metrics import metric_named
from vimlib.records import VimlibError


class BadLimit(VimlibError):
    """A limit does not read."""

    exit_code = 2


class Verdict(StrEnum):
    """What the data say about a limit."""

    BEYOND = "beyond"
    """The whole interval lies beyond it."""
    WITHIN = "within"
    """The whole interval lies on this side of it."""
    UNDECIDED = "undecided"
    """The interval holds the limit, or there is none."""


@dataclass(frozen=True, slots=True)
class Limit:
    """How far the candidate may differ from the base."""

    metric: str
    below: bool
    """Whether it is exceeded below `value`, else above."""
    value: float
    """In the metric's unit: shares of 1, tokens, US dollars, seconds."""

    def __str__(self) -> str:
        return f"{self.metric} {'<' if self.below else '>'} {self.value:g}"


def parse_limit(text: str) -> Limit:
    """A limit such as 'pass_rate < -0.02'. Raises BadLimit, UnknownMetric."""
    read = re.fullmatch(
        r"\s*([a-z_]+)\s*([<>])\s*([+-]?\d*\.?\d+(?:e[+-]?\d+)?)\s*", text, flags=re.IGNORECASE
    )
    if read is None:
        raise BadLimit(
            f"{text!r} is no limit; expected a metric, < or >, and a difference of candidate and base,"
            " such as 'pass_rate < -0.02'"
        )
    value = float(read[3])
    if not math.isfinite(value):
        raise BadLimit(f"{text!r}: {read[3]} is too large for a limit")
    return Limit(metric_named(read[1].lower()).name, read[2] == "<", value)


def decide(limit: Limit, low: float | None, high: float | None) -> Verdict:
    """What an interval of a difference says about a limit; a bound of None is open."""
    if limit.below:
        if high is not None and high < limit.value:
            return Verdict.BEYOND
        return Verdict.WITHIN if low is not None and low >= limit.value else Verdict.UNDECIDED
    if low is not None and low > limit.value:
        return Verdict.BEYOND
    return Verdict.WITHIN if high is not None and high <= limit.value else Verdict.UNDECIDED
