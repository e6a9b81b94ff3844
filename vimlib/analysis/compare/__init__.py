"""Is this run better? Two runs, or two groups of runs, compared on the tasks that both attempted.

Runs on the same tasks are paired data: what is hard for one is hard for the other, and a test
that forgets this throws most of what was learnt away. What differs between the runs besides
the thing under study is said, what cannot be compared is refused, and a comparison that finds nothing
says what it could have found.

choosing: which runs are meant. conditions: what differs between them. metrics: what is
compared. pairing: how. playing: the answers that changed, to be played again. gate: as a check for CI.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from vimlib import store
from vimlib.analysis.compare.choosing import (
    SECTION,
    AmbiguousRun,
    Chosen,
    NotComparable,
    NothingToCompare,
    UnknownRun,
    choose,
    every_run,
)
from vimlib.analysis.compare.conditions import UnknownCondition, conditions, context
from vimlib.analysis.compare.gate import BadLimit, Limit, Verdict, decide, parse_limit
from vimlib.analysis.compare.metrics import METRICS, Metric, UnknownMetric, metric_named, modes_of, samples_of
from vimlib.analysis.compare.pairing import (
    by_metric,
    by_part,
    error_counts,
    flips,
    paired,
    short_names,
    task_values,
    unpaired,
)
from vimlib.analysis.compare.plain import plain_rows
from vimlib.analysis.compare.playing import answers_of, in_turn

__all__ = [
    "METRICS",
    "SECTION",
    "AmbiguousRun",
    "BadLimit",
    "Chosen",
    "Comparison",
    "Limit",
    "Metric",
    "NotComparable",
    "NothingToCompare",
    "Refusal",
    "Side",
    "UnknownCondition",
    "UnknownMetric",
    "UnknownRun",
    "Verdict",
    "by_metric",
    "by_part",
    "choose",
    "compare",
    "compare_or_say_why_not",
    "conditions",
    "confounders",
    "decide",
    "every_run",
    "flip_answers",
    "flips",
    "held_against",
    "metric_named",
    "paired",
    "paired_sentence",
    "parse_limit",
    "plain_rows",
    "samples_of",
    "sentence",
    "task_values",
    "tier_sentences",
    "unpaired",
]


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison."""

    label: str
    """A short name, not the other side's."""
    runs: tuple[str, ...]
    """Run ids."""
    counts: dict[str, int]
    """What became of its samples (`pairing.error_counts`)."""


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """Everything that is known of a candidate against a base. Differences: candidate minus base.

    The frames `metrics`, `tiers` and `categories` share their columns (`pairing.RESULT`): `tasks`, how many
    have a value on both sides; `base` and `candidate`, the means over them in the metric's unit (a pass
    rate: 0 to 1); `difference` with its interval `low` to `high`; `more` and `fewer`, tasks on which the
    candidate's mean is higher, or lower; `p_value`, of the exact paired test; `p_holm`, the same corrected
    for the rows of the frame; `detectable`, the smallest difference that would have been found in 80 % of
    cases; `base_samples`, `candidate_samples`; `reason`, why there is no difference. NaN: not known.
    """

    base: Side
    candidate: Side
    suite_name: str
    suite_version: str
    protocol: str
    track: str
    why: str
    """How the two sides came to be chosen; '' where they were named."""
    metric: str
    """Name of the metric that it is about."""
    alpha: float
    seed: int
    metrics: pd.DataFrame
    """One row a metric (`by_metric`)."""
    tiers: pd.DataFrame
    """One row a tier, of the one metric (`by_part`)."""
    categories: pd.DataFrame
    """One row a category, of the one metric (`by_part`)."""
    flips: pd.DataFrame
    """One row a task that changed (`flips`)."""
    unpaired: pd.DataFrame
    """One row a task that is in no difference (`unpaired`)."""
    conditions: pd.DataFrame
    """One row a setting, version or hash (`conditions`)."""
    context: pd.DataFrame
    """One row a run (`conditions.context`)."""

    @property
    def about(self) -> pd.Series:
        """The row of the metric that it is about."""
        return self.metrics[self.metrics["metric"] == self.metric].iloc[0]

    def __repr__(self) -> str:
        frames = "metrics, tiers, categories, flips, unpaired, conditions, context"
        return f"<Comparison: {sentence(self)} Frames: {frames}>"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there is no comparison, in one line."""

    reason: str


def compare(
    con: store.Connection,
    base: str = "",
    candidate: str = "",
    *,
    metric: str = "pass_rate",
    alpha: float = 0.05,
    seed: int = 1,
    about: str = "",
    suite: str = "",
    protocol: str = "",
) -> Comparison:
    """Compare two runs or groups of runs, on the tasks that both attempted.

    `base`, `candidate`: a run's id, the beginning of one, a model's or solver's name, the name of the run's
    file, or `latest`; several with commas between them are a group. Both '': the two latest model runs on
    one suite and protocol, else the only one against the solver `diff`. `suite` (its name) and
    `protocol` narrow what a name can mean.

    `metric`: the one that the sentence, the tiers and the categories are about (`pass_rate`,
    `pass_rate_with_errors`, `beats_diff_rate`, `efficiency`, `partial`, `total_tokens`, `output_tokens`,
    `cost`, `seconds`). `alpha`: level of tests; intervals are of 1 - alpha. `seed`: of the resampling.
    `about`: the condition under study, such as `prompt`.

    Gives a Comparison: `sentence(it)` says the finding, `tier_sentences(it)` the tiers', and its frames hold
    all numbers. Raises UnknownRun, AmbiguousRun, NotComparable, NothingToCompare, UnknownMetric,
    UnknownCondition. How the numbers are made: docs/comparing.md.
    """
    asked = metric_named(metric)
    if not 0 < alpha < 1:
        raise BadLimit(f"alpha is {alpha:g}; expected a level between 0 and 1, such as 0.05")
    chosen = choose(con, base, candidate, suite=suite, protocol=protocol)
    runs = store.query(con, "run_conditions").set_index("run_id", drop=False)
    rows = [runs.loc[list(ids)] for ids in (chosen.base, chosen.candidate)]
    samples = [samples_of(con, ids) for ids in (chosen.base, chosen.candidate)]
    left, right = samples
    named = ["; ".join(dict.fromkeys(side["name"])) for side in rows]
    labels = short_names(named, [chosen.base[0], chosen.candidate[0]])
    first = rows[0].iloc[0]
    return Comparison(
        base=Side(labels[0], chosen.base, error_counts(left)),
        candidate=Side(labels[1], chosen.candidate, error_counts(right)),
        suite_name=str(first["suite_name"]),
        suite_version=str(first["suite_version"]),
        protocol=str(first["protocol"]),
        track=str(first["track"]),
        why=chosen.why,
        metric=asked.name,
        alpha=alpha,
        seed=seed,
        metrics=by_metric(left, right, alpha=alpha, seed=seed),
        tiers=by_part(left, right, asked, "tier", alpha=alpha, seed=seed),
        categories=by_part(left, right, asked, "category", alpha=alpha, seed=seed),
        flips=flips(left, right, modes_of(con, (*chosen.base, *chosen.candidate))),
        unpaired=unpaired(left, right),
        conditions=conditions(rows[0], rows[1], about),
        context=context(rows[0], rows[1]),
    )


def paired_sentence(
    con: store.Connection, base: str, candidate: str, *, alpha: float = 0.05, seed: int = 1
) -> str | None:
    """What `sentence(compare(con, base, candidate))` says of two runs' pass rates, without the rest.

    `base`, `candidate`: run ids. None: they cannot be compared.
    """
    try:
        chosen = choose(con, base, candidate)
    except (UnknownRun, AmbiguousRun, NotComparable, NothingToCompare):
        return None
    runs = store.query(con, "run_conditions").set_index("run_id", drop=False)
    names = [str(runs.loc[one, "name"]) for one in (base, candidate)]
    left, right = (samples_of(con, ids) for ids in (chosen.base, chosen.candidate))
    metrics = by_metric(left, right, alpha=alpha, seed=seed, metrics=[metric_named("pass_rate")])
    labels = short_names(names, [base, candidate])
    mine, yours = (
        Side(label, (run,), error_counts(side))
        for label, run, side in zip(labels, (base, candidate), (left, right), strict=True)
    )
    return _in_words(metrics.iloc[0], mine, yours, alpha)


def compare_or_say_why_not(
    con: store.Connection,
    base: str = "",
    candidate: str = "",
    *,
    metric: str = "pass_rate",
    alpha: float = 0.05,
    seed: int = 1,
    about: str = "",
    suite: str = "",
    protocol: str = "",
) -> Comparison | Refusal:
    """`compare`, for a page that has to say something whatever the store holds.

    Names that mean nothing, several runs, or runs that cannot be compared give a Refusal, whose `reason` says
    in a line what is the matter.
    """
    try:
        return compare(
            con,
            base,
            candidate,
            metric=metric,
            alpha=alpha,
            seed=seed,
            about=about,
            suite=suite,
            protocol=protocol,
        )
    except (UnknownRun, AmbiguousRun, NotComparable, NothingToCompare) as error:
        return Refusal(str(error))


def flip_answers(con: store.Connection, found: Comparison | Refusal, most: int) -> pd.DataFrame:
    """Both answers of at most `most` flips, as `playing.answers_of` gives them; empty for a Refusal."""
    flipped = pd.DataFrame() if isinstance(found, Refusal) else in_turn(found.flips, most)
    return answers_of(con, flipped)


def held_against(comparison: Comparison, limit: Limit) -> Verdict:
    """What the comparison says about a limit."""
    row = comparison.metrics[comparison.metrics["metric"] == limit.metric].iloc[0]
    low, high = (None if pd.isna(row[bound]) else float(row[bound]) for bound in ("low", "high"))
    return decide(limit, low, high)


def confounders(comparison: Comparison) -> list[str]:
    """A line for each thing that may explain a difference and is not what is under study."""
    frame = comparison.conditions
    others = frame[frame["differs"] & ~frame["studied"]]
    lines = []
    if len(others):
        listed = "; ".join(
            f"{row['condition']} ({row['base']} against {row['candidate']})" for _, row in others.iterrows()
        )
        studied = frame[frame["studied"]]["condition"].to_list()
        beside = f"besides the {studied[0]} " if studied else ""
        lines.append(f"not made under the same conditions: {beside}the two sides differ in {listed}")
    for what, side in (("base", comparison.base), ("candidate", comparison.candidate)):
        mixed = frame[frame[what].str.contains("; ", regex=False)]["condition"].to_list()
        if mixed and len(side.runs) > 1:
            lines.append(f"the runs of the {what} differ among themselves in {', '.join(mixed)}")
    return lines


def sentence(comparison: Comparison) -> str:
    """The finding in plain words, of the metric that the comparison is about."""
    return _in_words(comparison.about, comparison.base, comparison.candidate, comparison.alpha)


def _in_words(row: pd.Series, base_side: Side, candidate_side: Side, alpha: float) -> str:
    base, candidate = base_side.label, candidate_side.label
    n = int(row["tasks"])
    if n == 0:
        return f"{candidate} and {base} cannot be compared: {_nothing(row, base_side, candidate_side)}."
    tasks = f"{n} common task{'' if n == 1 else 's'}"
    single = row["yes_or_no"] and row["base_samples"] == n and row["candidate_samples"] == n
    verb, both = {"beats_diff_rate": ("beats diff on", "beat diff on")}.get(
        str(row["metric"]), ("passes", "pass")
    )
    if single:
        before, after = round(row["base"] * n), round(row["candidate"] * n)
        if before == after:
            said = f"{candidate} and {base} both {both} {after} of {tasks}"
        else:
            said = (
                f"{candidate} {verb} {abs(after - before)} {'more' if after > before else 'fewer'} of {tasks}"
                f" ({after} against {before})"
            )
    elif abs(row["difference"]) < 1e-12 and row["yes_or_no"]:
        said = f"{candidate} and {base} both {both} {_value(row, 'base')} of {tasks}"
    elif abs(row["difference"]) < 1e-12:
        said = (
            f"{candidate} and {base} do not differ in {_low(row['label'])} on {tasks} ({_value(row, 'base')})"
        )
    else:
        said = (
            f"{row['label']}: {candidate} {_value(row, 'candidate')}, {base} {_value(row, 'base')}"
            f" on {tasks}, {_amount(row, abs(row['difference']))}"
            f" {'more' if row['difference'] > 0 else 'less'}"
        )
    return f"{said}; {_chance(row, alpha, bool(single))}."


def tier_sentences(comparison: Comparison | Refusal) -> list[str]:
    """Which tier improved and whether it could be chance: the finding, then a sentence a tier.

    Chance is judged by `p_holm`, the p corrected for the number of tiers, at the comparison's `alpha`. Of a
    Refusal: its reason.
    """
    if isinstance(comparison, Refusal):
        return [comparison.reason]
    rows = comparison.tiers.assign(**comparison.about[["label", "unit", "yes_or_no", "higher_is_better"]])
    known = rows[rows["difference"].notna()]
    if known.empty:
        return ["No tier can be compared: the tasks have none, or no value on both sides."]
    rises = (known["difference"] > 0) == known["higher_is_better"].astype(bool)
    sure = known["p_holm"] <= comparison.alpha
    found = [
        f"{_tiers(known.loc[sure & side, 'part'])} {word} by more than chance."
        for side, word in ((rises, "improved"), (~rises, "got worse"))
        if (sure & side).any()
    ]
    said = [" ".join(found) or "No tier improved or got worse by more than chance could explain."]
    for _, row in rows.iterrows():
        named = _tiers([row["part"]])
        if pd.isna(row["difference"]):
            said.append(f"{named}: {row['reason']}.")
            continue
        p = "p < 0.001" if row["p_holm"] < 0.001 else f"p = {row['p_holm']:.2g}"
        change = f"{_signed(row)}; {row['more']} of {row['tasks']} tasks up, {row['fewer']} down"
        word = "more than chance" if row["p_holm"] <= comparison.alpha else "could be chance"
        said.append(
            f"{named}: {_value(row, 'base')} to {_value(row, 'candidate')} ({change}): {word} ({p},"
            f" corrected for {len(known)} tiers)."
            if row["more"] + row["fewer"]
            else f"{named}: {_value(row, 'base')} on both sides; none of {row['tasks']} tasks differs."
        )
    return said


def _tiers(parts: Iterable[object]) -> str:
    """'Tier 2', 'Tiers 1 and 3', or of tasks without one 'No tier'."""
    names = ["none" if pd.isna(part) else str(part) for part in parts]
    if names == ["none"]:
        return "Tasks without a tier"
    listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    return f"Tier{'s' if len(names) > 1 else ''} {listed}"


def _signed(row: pd.Series) -> str:
    sign = "+" if row["difference"] > 0 else "-" if row["difference"] < 0 else ""
    return sign + _amount(row, abs(row["difference"]))


def _chance(row: pd.Series, alpha: float, single: bool) -> str:
    """What chance has to say to it."""
    if row["tasks"] == 1:
        return "one task says nothing about others"
    moved = int(row["more"] + row["fewer"])
    kind = "discordant pair" if single else "task that differs"
    plural = kind + "s" if single else "tasks that differ"
    counted = f"with {moved} {kind if moved == 1 else plural}"
    p = f"p = {row['p_value']:.2g}" if row["p_value"] >= 0.001 else "p < 0.001"
    if moved == 0:
        said = "they differ on none of them"
    elif row["p_value"] <= alpha:
        return f"{counted} this is more than chance ({p})"
    else:
        said = f"{counted} this could be chance ({p})"
    if pd.isna(row["detectable"]):
        return f"{said}, and so few tasks could not have shown any difference" if row["yes_or_no"] else said
    least = _amount(row, row["detectable"], whole=True)
    return f"{said}; a difference under {least} could easily have been missed"


def _nothing(row: pd.Series, base: Side, candidate: Side) -> str:
    for side in (base, candidate):
        if row["yes_or_no"] and side.counts["scored"] == 0:
            return f"no answer of {side.label} has a verdict"
    return str(row["reason"])


def _low(label: str) -> str:
    return label[:1].lower() + label[1:]


def _value(row: pd.Series, column: str) -> str:
    return _amount(row, row[column]).replace(" points", " %").replace(" point", " %")


def _amount(row: pd.Series, value: float, *, whole: bool = False) -> str:
    """A difference in the metric's unit. Shares in points, and a 1 of efficiency or partial as it is."""
    if row["unit"] == "share" and row["yes_or_no"]:
        shown = f"{100 * value:.0f}" if whole else f"{100 * value:.1f}"
        return f"{shown} point{'' if shown in ('1', '1.0') else 's'}"
    if row["unit"] == "share":
        return f"{value:.3f}"
    if row["unit"] == "tokens":
        return f"{value:,.0f} tokens"
    return f"${value:,.4f}" if row["unit"] == "USD" else f"{value:.2f} s"
