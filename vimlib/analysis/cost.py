"""What a success costs: tokens, dollars and time per pass, over every attempt that was made.

A model that fails quickly looks cheap by the answer and is dear by the pass, so sums run over all
attempts, failed, errored and retried ones included, and passes over scored samples. What one attempt
does not report leaves a sum as a lower bound: then nothing is divided by passes but that bound, and
the run has no rank. Cost is stored at the prices of the day of the run; other prices are put to the
same tokens here, on demand, and change nothing that is stored.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd

from vimlib import store
from vimlib.analysis.stats import clustered, percentile, ratio
from vimlib.prices import PriceFile, Terms, cost_of, terms_of, usage_gap
from vimlib.records import CostGap, CostKind, TokenConvention, TokenUsage, VimlibError
from vimlib.store import decode_text

SEED: Final = 20_260_821
"""Of the resampling: the same store gives the same intervals."""

TOKENS: Final = (
    "input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "output_tokens",
    "reasoning_tokens",
    "total_tokens",
)

TOKEN_KINDS: Final = (
    "uncached_input",
    "unsplit_input",
    "cache_read",
    "cache_write",
    "visible_output",
    "unsplit_output",
    "reasoning",
)
"""What the total of an attempt falls into. Unsplit: the source does not report the parts."""

_COSTS: Final = {
    "cost_kind": "kind",
    "cost_usd": "usd",
    "cost_low_usd": "low_usd",
    "cost_high_usd": "high_usd",
    "cost_gap": "gap",
    "price_source": "source",
    "price_version": "version",
    "price_model": "model",
    "price_date": "price_date",
}


class UnknownRun(VimlibError):
    """A run that was asked for is not in the store."""

    exit_code = 2


class Pricing(NamedTuple):
    """Which prices a view takes."""

    day: datetime.date | None = None
    """Those of this day, for every attempt and whatever was billed; None: those of the run's own day,
    as stored."""
    own: PriceFile | None = None
    """The user's, where no other price is known."""
    own_first: bool = False
    """The user's before everything else, for the models that it knows: what if it cost this."""


AS_STORED: Final = Pricing()


def attempts(
    con: store.Connection,
    *,
    runs: Sequence[str] = (),
    suite: str = "",
    pricing: Pricing = AS_STORED,
) -> pd.DataFrame:
    """Every attempt of the models' runs, with tokens that can be true and what it cost.

    `runs`: ids, models' names (with or without the provider) or source files; all by default. `suite`:
    only this one.

    Grain: one row an attempt. Order: as `attempts_priced`. Columns: those of the view, the costs
    under `pricing`, then

    - `usage_gap`: why its tokens cannot be counted ('' where they can); its counts are then NA;
    - the parts of its total, `TOKEN_KINDS`;
    - `spent_on`: passed, the mode in which it failed, or what else became of it.

    Raises `UnknownRun` where one of `runs` or the suite fits nothing.
    """
    frame = _chosen(store.query(con, "attempts_priced"), runs, suite)
    usages = [_usage(row) for row in frame.to_dict("records")]
    priced = _priced(frame, usages, pricing)
    gaps = [usage_gap(usage) for usage in usages]
    counted = priced.assign(usage_gap=["" if gap is None else str(gap) for gap in gaps])
    counted.loc[counted["usage_gap"] != "", list(TOKENS)] = pd.NA
    parts = pd.DataFrame(
        [_parts(usage) if gap is None else {} for usage, gap in zip(usages, gaps, strict=True)],
        index=counted.index,
        columns=list(TOKEN_KINDS),
    ).astype("Int64")
    counted["spent_on"] = _spent_on(counted)
    # Input and output are enough: some sources report no total.
    counted["total_tokens"] = counted["input_tokens"] + counted["output_tokens"]
    return pd.concat([counted, parts], axis="columns")


def _chosen(frame: pd.DataFrame, runs: Sequence[str], suite: str) -> pd.DataFrame:
    if suite:
        known = sorted(frame["suite_name"].unique())
        if suite not in known:
            raise UnknownRun(
                f"no run of a model answers suite {suite!r}; there are {', '.join(known) or 'none'}"
            )
        frame = frame[frame["suite_name"] == suite]
    if runs:
        chosen = pd.Series(False, index=frame.index)
        for run in runs:
            # A name without its provider, and a file with its folder, mean the same run.
            fits = (frame[["run_id", "name"]] == run).any(axis="columns")
            fits |= frame["name"].str.rsplit("/", n=1).str[-1] == run
            fits |= frame["source"] == run.rsplit("/", 1)[-1]
            if not fits.any():
                known = sorted(frame["name"].unique())
                raise UnknownRun(
                    f"no run of a model is, or is named, {run!r}; there are {', '.join(known) or 'none'}"
                )
            chosen |= fits
        frame = frame[chosen]
    return frame.reset_index(drop=True)


def _spent_on(frame: pd.DataFrame) -> pd.Series:
    """Passed, the mode in which it failed, or what else became of an attempt."""
    passed = frame["passed"].fillna(False).astype(bool) & frame["scored"].fillna(False).astype(bool)
    other = frame["status"].where(frame["status"] != "answered", "unscored")
    return frame["failure_mode"].fillna(other).mask(passed, "passed")


def _usage(row: dict[Any, Any]) -> TokenUsage:
    def known(value: Any) -> Any:
        return None if pd.isna(value) else value

    convention = known(row["token_convention"])
    billed = known(row["billed_usd"])
    return TokenUsage(
        **{name: None if (value := known(row[name])) is None else int(value) for name in TOKENS},
        billed_usd=None if billed is None else float(billed),
        token_convention=None if convention is None else TokenConvention(convention),
    )


def _parts(usage: TokenUsage) -> dict[str, int | None]:
    """The total of an attempt in parts that add up to it; a part that is not reported is None."""
    assert usage.input_tokens is not None and usage.output_tokens is not None, "counted only without a gap"
    read, written = usage.cache_read_tokens, usage.cache_write_tokens
    fresh = usage.input_tokens - (read or 0) - (written or 0)
    split = read is not None or written is not None
    thought = usage.reasoning_tokens
    return {
        "uncached_input": fresh if split else None,
        "unsplit_input": None if split else fresh,
        "cache_read": read,
        "cache_write": written,
        "visible_output": None if thought is None else usage.output_tokens - thought,
        "unsplit_output": usage.output_tokens if thought is None else None,
        "reasoning": thought,
    }


def _priced(frame: pd.DataFrame, usages: Sequence[TokenUsage], pricing: Pricing) -> pd.DataFrame:
    """The frame with the costs under the pricing; as stored where that asks for nothing else."""
    # A run that was stored without being priced is of unknown cost.
    frame = frame.assign(
        cost_kind=frame["cost_kind"].fillna(str(CostKind.UNAVAILABLE)),
        cost_gap=frame["cost_gap"].where(frame["cost_kind"].notna(), str(CostGap.UNKNOWN_MODEL)),
    )
    if pricing == AS_STORED:
        return frame
    made: dict[str, list[Any]] = {column: list(frame[column]) for column in _COSTS}
    terms: dict[str, Terms] = {}
    for place, row in enumerate(frame.to_dict("records")):
        if pricing.day is None and not pricing.own_first and row["cost_kind"] != CostKind.UNAVAILABLE:
            continue
        run = str(row["run_id"])
        if run not in terms:
            settings = json.loads(decode_text(row["settings"]))
            terms[run] = terms_of(settings, one_request=row["track"] != "multi")
        created = row["created_utc"]
        cost = cost_of(
            decode_text(row["name"]),
            usages[place],
            day=pricing.day or (None if pd.isna(created) else created.date()),
            seconds=None if pd.isna(row["seconds"]) else float(row["seconds"]),
            terms=terms[run],
            own=pricing.own,
            own_first=pricing.own_first,
            billed=pricing.day is None,
        )
        if pricing.day is None and cost.source != getattr(pricing.own, "name", None):
            # Only the user's own prices are asked about: the rest stays as it was stored.
            continue
        for column, field in _COSTS.items():
            made[column][place] = getattr(cost, field)
    kinds = {"cost_usd": "float64", "cost_low_usd": "float64", "cost_high_usd": "float64"}
    return frame.assign(
        **{column: pd.Series(values, dtype=kinds.get(column)) for column, values in made.items()}
    )


# --- run by run


def by_run(frame: pd.DataFrame) -> pd.DataFrame:
    """What the runs of `attempts` spent, and what a pass cost them.

    Grain: one row a run. Order: as in `frame`. Columns, NA where nothing can be said:

    - `run_id`, `name`, `kind`, `suite_name`, `suite_version`, `suite_hash`, `protocol`, `track`,
      `source`, `created_utc`;
    - `tasks`, `attempts`, `samples`, `scored`, `passed`; `pass_rate`, `_low`, `_high` (0 to 1,
      95 % interval clustered by task);
    - `tokens_n`: attempts whose tokens are known; the sums over them: `TOKENS` and `TOKEN_KINDS`;
      `implausible`: attempts whose counts cannot be;
    - `tokens_per_pass`, `_low`, `_high` (bootstrap clustered by task) where all attempts are known,
      else `tokens_per_pass_least`, a lower bound;
    - `cost_n`: attempts whose cost is known, if only as a range; `billed_n`, `estimated_n`;
      `cost_usd`: the sum where all are known to the point; `cost_least_usd` and `cost_most_usd`: sums
      of the least and of the most, the latter only where all are known; `cost_gap`: the most frequent
      reason for one that is not, `price_source`, `price_version`, `price_date`: what the estimates
      rest on, several joined by a comma;
    - `cost_per_pass`, `_low`, `_high` (bootstrap), and `cost_per_pass_least`, `cost_per_pass_most`;
    - `cost_rank`: place by `cost_per_pass` among the runs of its suite, protocol and track that have one;
    - `seconds_n`, `p50_seconds`, `p95_seconds`, `max_seconds`: time of the requests of an attempt, as the
      source measured it; `requests_n`, `p50_request_seconds`, ...: the same request by request (in a
      single turn the same); `waiting_n`, `waiting_seconds`, `p95_waiting_seconds`: what attempts
      waited besides, summed, and its percentile.
    """
    rows = [_run_row(group) for _, group in frame.groupby("run_id", sort=False)]
    made = pd.DataFrame(rows, columns=_RUN_COLUMNS)
    made = made.astype({name: "Int64" for name in _RUN_COLUMNS if name in _INTEGERS})
    made = made.astype({name: "float64" for name in _RUN_COLUMNS if name in _FLOATS})
    among = made.groupby(["suite_hash", "protocol", "track"], dropna=False)
    return made.assign(cost_rank=among["cost_per_pass"].rank(method="min").astype("Int64"))


_SAME: Final = (
    "run_id",
    "name",
    "suite_name",
    "suite_version",
    "suite_hash",
    "protocol",
    "track",
    "source",
    "created_utc",
)
_INTEGERS: Final = frozenset(
    {
        *("tasks", "attempts", "samples", "scored", "passed", "tokens_n", "implausible", "cost_n"),
        *("billed_n", "estimated_n", "seconds_n", "requests_n", "waiting_n", *TOKENS, *TOKEN_KINDS),
    }
)
_PER_PASS: Final = tuple(
    f"{what}_per_pass{bound}"
    for what in ("tokens", "cost")
    for bound in ("", "_low", "_high", "_least", "_most")
)
_FLOATS: Final = frozenset(
    {
        *("pass_rate", "pass_rate_low", "pass_rate_high", "cost_usd", "cost_least_usd", "cost_most_usd"),
        *("p50_seconds", "p95_seconds", "max_seconds", *_PER_PASS),
        *("p50_request_seconds", "p95_request_seconds", "max_request_seconds"),
        *("waiting_seconds", "p95_waiting_seconds"),
    }
)
_RUN_COLUMNS: Final = [
    *_SAME,
    "kind",
    *("tasks", "attempts", "samples", "scored", "passed", "pass_rate", "pass_rate_low", "pass_rate_high"),
    *("tokens_n", "implausible", *TOKENS, *TOKEN_KINDS),
    *("cost_n", "billed_n", "estimated_n", "cost_usd", "cost_least_usd", "cost_most_usd", "cost_gap"),
    *("price_source", "price_version", "price_date"),
    *_PER_PASS,
    *("seconds_n", "p50_seconds", "p95_seconds", "max_seconds"),
    *("requests_n", "p50_request_seconds", "p95_request_seconds", "max_request_seconds"),
    *("waiting_n", "waiting_seconds", "p95_waiting_seconds"),
]


def _run_row(group: pd.DataFrame) -> dict[str, Any]:
    first = group.iloc[0]
    scored = group[group["scored"].fillna(False).astype(bool)]
    passes = scored["passed"].fillna(False).astype(bool)
    passed = int(passes.sum())
    rate = clustered(zip(scored["task_id"], passes, strict=True))
    known = group[group["usage_gap"] == ""]
    row: dict[str, Any] = {name: first[name] for name in _SAME} | {
        "kind": "model",
        "tasks": group["task_id"].nunique(),
        "attempts": len(group),
        "samples": int(group["counts"].sum()),
        "scored": len(scored),
        "passed": passed,
        "pass_rate": None if rate is None else rate.rate,
        "pass_rate_low": None if rate is None else rate.low,
        "pass_rate_high": None if rate is None else rate.high,
        "tokens_n": len(known),
        "implausible": int((group["usage_gap"] == str(CostGap.IMPLAUSIBLE_USAGE)).sum()),
        "cost_n": int((group["cost_kind"] != str(CostKind.UNAVAILABLE)).sum()),
        "billed_n": int((group["cost_kind"] == str(CostKind.BILLED)).sum()),
        "estimated_n": int((group["cost_kind"] == str(CostKind.ESTIMATED)).sum()),
    }
    row |= {name: _sum(known[name]) for name in (*TOKENS, *TOKEN_KINDS)}
    row |= _spending(group, passes)
    row |= _pass_costs("tokens", group, passes, group["total_tokens"], group["total_tokens"])
    row |= _pass_costs("cost", group, passes, group["cost_low_usd"], group["cost_high_usd"])
    waits = _times(group["waiting_seconds"])
    row |= _percentiles("", "seconds_n", _times(group["seconds"]))
    row |= _percentiles("request_", "requests_n", request_times(group))
    row |= {
        "waiting_n": len(waits),
        "waiting_seconds": _fsum(waits),
        "p95_waiting_seconds": percentile(waits, 95),
    }
    return row


def _times(values: Iterable[Any]) -> list[float]:
    """Times that can be true, in the order given."""
    numbers = [float(value) for value in values if value is not None and not pd.isna(value)]
    return [number for number in numbers if math.isfinite(number) and number >= 0]


def request_times(frame: pd.DataFrame) -> list[float]:
    """The time of each request of `attempts`, seconds, as far as it is known."""
    known: list[Any] = []
    for track, whole, single in zip(frame["track"], frame["seconds"], frame["request_seconds"], strict=True):
        if isinstance(single, list | tuple | np.ndarray):
            known += list(single)
        elif track != "multi":
            known.append(whole)
    return _times(known)


def _percentiles(of: str, n: str, times: list[float]) -> dict[str, Any]:
    return {
        n: len(times),
        f"p50_{of}seconds": percentile(times, 50),
        f"p95_{of}seconds": percentile(times, 95),
        f"max_{of}seconds": max(times, default=None),
    }


def _sum(values: pd.Series) -> Any:
    """The sum of what is known; NA where nothing is."""
    return values.sum(min_count=1)


def _spending(group: pd.DataFrame, passes: pd.Series) -> dict[str, Any]:
    known = group[group["cost_kind"] != str(CostKind.UNAVAILABLE)]
    whole = len(known) == len(group)
    gaps = group["cost_gap"].dropna()
    return {
        "cost_usd": _fsum(known["cost_usd"]) if whole and known["cost_usd"].notna().all() else None,
        "cost_least_usd": _fsum(known["cost_low_usd"]),
        "cost_most_usd": _fsum(known["cost_high_usd"]) if whole else None,
        "cost_gap": None if gaps.empty else gaps.value_counts().sort_index().idxmax(),
        **{name: _said(known[name]) for name in ("price_source", "price_version", "price_date")},
    }


def _fsum(values: Iterable[float]) -> float | None:
    numbers = [float(value) for value in values]
    return math.fsum(numbers) if numbers else None


def _said(values: pd.Series) -> str | None:
    known = sorted(
        {str(value)[:10] if isinstance(value, datetime.date) else str(value) for value in values.dropna()}
    )
    return ", ".join(known) if known else None


def _pass_costs(
    what: str, group: pd.DataFrame, passes: pd.Series, least: pd.Series, most: pd.Series
) -> dict[str, Any]:
    """A pass's share of a quantity whose least and most each attempt has, NA where it is not known."""
    passed = int(passes.sum())
    names = {bound: f"{what}_per_pass{bound}" for bound in ("", "_low", "_high", "_least", "_most")}
    row: dict[str, Any] = dict.fromkeys(names.values())
    if passed == 0:
        return row
    floor = _fsum(least.dropna())
    row[names["_least"]] = None if floor is None else floor / passed
    if least.isna().any():
        return row
    each = math.fsum(float(value) for value in most) / passed
    row[names["_most"]] = each
    if not np.array_equal(least.to_numpy(float), most.to_numpy(float)):
        return row
    spent = ((task, float(amount), 0.0) for task, amount in zip(group["task_id"], least, strict=True))
    tasks = group.loc[passes.index, "task_id"]
    won = ((task, 0.0, float(one)) for task, one in zip(tasks, passes, strict=True))
    estimate = ratio([*spent, *won], seed=SEED)
    assert estimate is not None, "there are passes"
    # The quotient of the sums themselves: the estimate's comes from means and may miss it in the last digit.
    low = None if estimate.low is None else min(estimate.low, each)
    high = None if estimate.high is None else max(estimate.high, each)
    return row | {names[""]: each, names["_low"]: low, names["_high"]: high}


# --- what it was spent on


def by_mode(frame: pd.DataFrame) -> pd.DataFrame:
    """What went into passes, and into each way of failing.

    Grain: one row a run and `spent_on`. Order: runs as in `frame`, then tokens descending. Columns:
    `run_id`, `name`, `suite_hash`, `protocol`, `spent_on`, `attempts`, `tokens_n`, `total_tokens`
    (over attempts whose tokens are known; NA: none), `output_tokens`, `token_share` (of the run's
    known tokens, 0 to 1), `cost_n`, `cost_least_usd`, `cost_most_usd` (over attempts whose cost is known).
    """
    rows = []
    for run, group in frame.groupby("run_id", sort=False):
        whole = _sum(group["total_tokens"])
        part = []
        for mode, some in group.groupby("spent_on", sort=True):
            tokens = _sum(some["total_tokens"])
            known = some[some["cost_kind"] != str(CostKind.UNAVAILABLE)]
            share = None if pd.isna(tokens) or pd.isna(whole) or not whole else float(tokens) / float(whole)
            part.append(
                {
                    "run_id": run,
                    **{name: group.iloc[0][name] for name in ("name", "suite_hash", "protocol", "track")},
                    "spent_on": mode,
                    "attempts": len(some),
                    "tokens_n": int(some["total_tokens"].notna().sum()),
                    "total_tokens": tokens,
                    "output_tokens": _sum(some["output_tokens"]),
                    "token_share": share,
                    "cost_n": len(known),
                    "cost_least_usd": _fsum(known["cost_low_usd"]),
                    "cost_most_usd": _fsum(known["cost_high_usd"]),
                }
            )
        part.sort(
            key=lambda row: -1 if pd.isna(row["total_tokens"]) else int(row["total_tokens"]), reverse=True
        )
        rows += part
    made = pd.DataFrame(rows, columns=_MODE_COLUMNS)
    counts = ("attempts", "tokens_n", "total_tokens", "output_tokens", "cost_n")
    numbers = ("token_share", "cost_least_usd", "cost_most_usd")
    return made.astype(dict.fromkeys(counts, "Int64") | dict.fromkeys(numbers, "float64"))


_MODE_COLUMNS: Final = [
    *("run_id", "name", "suite_hash", "protocol", "track", "spent_on", "attempts", "tokens_n"),
    *("total_tokens", "output_tokens", "token_share", "cost_n", "cost_least_usd", "cost_most_usd"),
]


# --- choosing


def pareto(cost: Sequence[float], gain: Sequence[float]) -> list[bool]:
    """Which points no other beats: none costs at most as much and gains at least as much, one of the
    two strictly. A point whose cost or gain is not known (NaN) is on no front and beats none."""
    points = [
        None if math.isnan(x) or math.isnan(y) else (x, y)
        for x, y in zip(map(float, cost), map(float, gain), strict=True)
    ]
    return [
        here is not None
        and not any(
            other is not None and other != here and other[0] <= here[0] and other[1] >= here[1]
            for other in points
        )
        for here in points
    ]


def affordable(runs: pd.DataFrame, budget: float) -> pd.DataFrame:
    """How many tasks each model could answer for a sum of US dollars, at what it spent on one here.

    Takes `by_run`. Adds `cost_per_sample_least` and `cost_per_sample_most` (US dollars; one sample is
    one task answered once, with all retries), `affordable_least` and `affordable_most` (tasks; NA where
    not all costs are known: then only `affordable_most` could be said, and is), rounded down; a free
    model (0 dollars) has no limit and NA.

    Raises `ValueError` for a budget that is negative or not finite.
    """
    if not (math.isfinite(budget) and budget >= 0):
        raise ValueError(f"a budget of {budget} dollars")
    samples = runs["samples"].astype("float64")
    least, most = runs["cost_least_usd"] / samples, runs["cost_most_usd"] / samples

    def tasks(each: pd.Series) -> pd.Series:
        # A whisker more than the quotient: 0.1 dollars hold ten tasks of 0.01.
        whole = np.floor(budget / each.where(each > 0) * (1 + 1e-12))
        return whole.astype("Int64")

    return runs.assign(
        cost_per_sample_least=least,
        cost_per_sample_most=most,
        affordable_least=tasks(most),
        affordable_most=tasks(least),
    )
