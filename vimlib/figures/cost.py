"""What a success costs, to look at: frames of `vimlib.analysis.cost` in, pictures, tables and sentences out.

Runs of models only, cut by suite version, protocol and track and never ranked across. An amount that
is not known whole is shown as what it is at least, or as its range, and has no place in a ranking;
unknown is never 0. Every sentence is computed from the rows beside it.
"""

from __future__ import annotations

import datetime
from typing import Any, Final

import pandas as pd

from vimlib.analysis.cost import pareto
from vimlib.figures.amounts import AmountRow, Point, SpreadRow, amounts, plane, spreads
from vimlib.figures.blocks import Block, Tile, facts, lede, notice, tiles
from vimlib.figures.canvas import (
    GREEN,
    GREY,
    MODEL_SOFT,
    ORANGE,
    PURPLE,
    SKY,
    SOLVER_SOFT,
    VERMILION,
    Picture,
    picture,
    plain,
)
from vimlib.figures.charts import Part, shares
from vimlib.figures.overview import labels
from vimlib.figures.sections import GROUP, of_n, records, section_name
from vimlib.figures.tables import (
    UNAVAILABLE,
    Column,
    Table,
    count,
    dollar_range,
    dollars,
    interval,
    missing,
    percent,
    seconds,
    span_of,
    text,
    whole,
)

GAPS: Final = {
    "no_usage": "the source reports no tokens",
    "implausible_usage": "the reported tokens cannot be",
    "unknown_model": "no price list knows the model",
    "local_model": "a local model without a price",
    "unknown_terms": "no price for its batch or service tier",
    "no_price_then": "the price file has none for that day",
    "no_date": "the day of the run is not known",
    "no_time": "a price by the hour, and no measured time",
}
"""Why a cost is unavailable, in words, by `vimlib.records.CostGap`."""

PARTS: Final = (
    Part("uncached_input", "input", SKY),
    Part("unsplit_input", "input, cache not reported", MODEL_SOFT),
    Part("cache_read", "read from cache", SOLVER_SOFT),
    Part("cache_write", "written to cache", PURPLE),
    Part("visible_output", "visible output", GREEN),
    Part("unsplit_output", "output, reasoning not reported", GREY),
    Part("reasoning", "reasoning", ORANGE),
)
"""What the tokens of a run fall into, in the order drawn."""

_MODE_COLOURS: Final = (ORANGE, VERMILION, PURPLE, SKY, MODEL_SOFT, GREY)


# --- words for amounts


def tick_dollars(value: float) -> str:
    """A round amount on an axis: $0.5, $20."""
    return f"${value:,.12f}".rstrip("0").rstrip(".") if value < 1 else f"${value:,g}"


def tick_count(value: float) -> str:
    """A round number on an axis: 500, 20k, 1M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def tick_seconds(value: float) -> str:
    """A round time on an axis: 0.5 s, 20 s."""
    return f"{value:g}\u00a0s"


def _known(value: Any) -> float | None:
    return None if missing(value) else float(value)


def _of(row: dict[str, Any], part: str) -> str:
    return of_n(row, part, "attempts")


def _passes(n: object) -> str:
    return f"{count(n)} pass{'' if n == 1 else 'es'}"


# --- sections


def sections(runs: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    """Cut the runs of `by_run` into what may be compared: (title, slug, rows), by name."""
    found = []
    for key, rows in runs.groupby(GROUP, sort=True, dropna=False):
        name, _, digest, protocol, track = (str(part) for part in key)
        title, slug = section_name(name, digest, protocol, track)
        found.append((title, f"cost-{slug}", rows))
    return found


def cheapest_first(rows: pd.DataFrame) -> pd.DataFrame:
    """Runs by cost per pass, then by tokens per pass, unknown last, ties by name."""
    return rows.sort_values(
        ["cost_per_pass", "tokens_per_pass", "name", "run_id"], na_position="last", kind="stable"
    )


# --- the top of the page


def findings(runs: pd.DataFrame, modes: pd.DataFrame) -> Block:
    """The sentences at the top of the page: one a section, then where the tokens went."""
    if runs.empty:
        return lede(["No run of a model was loaded; solvers use no tokens and cost nothing to ask."])
    sentences = [f"{title}: {headline(rows)}." for title, _, rows in sections(runs)]
    wasted = _waste(modes)
    if wasted:
        sentences.append(wasted)
    return lede(sentences)


def headline(rows: pd.DataFrame) -> str:
    """What a pass costs in a section, in one sentence."""
    names = labels(rows)
    ordered = records(cheapest_first(rows))
    ranked = [row for row in ordered if not missing(row["cost_per_pass"])]
    if ranked:
        best = ranked[0]
        said = (
            f"a pass costs {names[str(best['run_id'])]} {dollars(best['cost_per_pass'])} "
            f"({span_of(best, 'cost_per_pass', dollars)})"
        )
        if len(ranked) == 1:
            return said + f", over {_passes(best['passed'])}"
        last = ranked[-1]
        return (
            f"{said}, the least of {len(ranked)} runs; the most is {dollars(last['cost_per_pass'])}, "
            f"by {names[str(last['run_id'])]}"
        )
    passing = [row for row in ordered if row["passed"]]
    if not passing:
        spent = sum(int(row["total_tokens"]) for row in ordered if not missing(row["total_tokens"]))
        who = names[str(ordered[0]["run_id"])] if len(ordered) == 1 else f"none of {len(ordered)} runs"
        verb = "passes nothing" if len(ordered) == 1 else "passes anything"
        tokens = f"{count(spent)} tokens" if spent else "an unreported number of tokens"
        return f"{who} {verb}, so that a pass has no price; {tokens} went into answers"
    by_tokens = [row for row in passing if not missing(row["tokens_per_pass"])]
    if not by_tokens:
        return "neither cost nor tokens are known whole, so that no price of a pass can be given"
    best = min(by_tokens, key=lambda row: row["tokens_per_pass"])
    return (
        f"cost is not known whole; a pass takes {names[str(best['run_id'])]} "
        f"{whole(best['tokens_per_pass'])} tokens ({span_of(best, 'tokens_per_pass', whole)})"
        + (f", the fewest of {len(by_tokens)} runs" if len(by_tokens) > 1 else "")
    )


def _waste(modes: pd.DataFrame) -> str:
    known = modes[modes["total_tokens"].notna()]
    whole = int(known["total_tokens"].sum())
    failed = known[known["spent_on"] != "passed"]
    if not whole or failed.empty:
        return ""
    lost = int(failed["total_tokens"].sum())
    if not lost:
        return ""
    by_mode = failed.groupby("spent_on")["total_tokens"].sum().sort_values(ascending=False, kind="stable")
    worst, tokens = str(by_mode.index[0]), int(by_mode.iloc[0])
    return (
        f"{percent(lost / whole)} of all tokens went into attempts that did not pass; most of them, "
        f"{count(tokens)}, into “{mode_label(worst)}”."
    )


def key_numbers(runs: pd.DataFrame, modes: pd.DataFrame) -> Block:
    """The tiles below the findings."""
    tried = int(runs["attempts"].sum())
    tokens = runs["total_tokens"].sum(min_count=1) if len(runs) else None
    tokens_n, cost_n = int(runs["tokens_n"].sum()), int(runs["cost_n"].sum())
    billed, estimated = int(runs["billed_n"].sum()), int(runs["estimated_n"].sum())
    least = runs["cost_least_usd"].sum(min_count=1) if len(runs) else None
    whole = len(runs) > 0 and runs["cost_most_usd"].notna().all()
    most = runs["cost_most_usd"].sum() if whole else None
    passed = int(runs["passed"].sum())
    lost = modes.loc[modes["spent_on"] != "passed", "total_tokens"].sum() if len(modes) else 0
    return tiles(
        [
            Tile("Attempts", count(tried), f"of {_number(len(runs), 'run')}, with {_passes(passed)}"),
            Tile(
                "Tokens",
                count(tokens),
                f"known for {count(tokens_n)} of {count(tried)} attempts",
                warn=tokens_n < tried,
            ),
            Tile(
                "Cost",
                dollar_range(least, most),
                f"known for {count(cost_n)} of {count(tried)} attempts: {count(billed)} billed, "
                f"{count(estimated)} estimated",
                warn=cost_n < tried,
            ),
            Tile(
                "Bought no pass",
                UNAVAILABLE if missing(tokens) or not tokens else percent(lost / tokens),
                "of the tokens",
            ),
        ]
    )


def _number(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def price_facts(runs: pd.DataFrame, day: datetime.date | None, own: str = "") -> Block:
    """Under which prices the page's numbers hold."""
    sources = sorted(
        {
            f"{plain(row['price_source'], 60)} {plain(row['price_version'] or '', 40)}".strip()
            for row in records(runs)
            if not missing(row["price_source"])
        }
    )
    said = [
        ("prices", "of the day of each run" if day is None else f"of {day:%Y-%m-%d}, for every run"),
        ("taken from", ", ".join(sources) or "nowhere: no cost is known"),
    ]
    if own:
        said.append(("own price file", plain(own, 60)))
    return facts(said)


def gap_notice(rows: pd.DataFrame) -> Block:
    """Which runs of a section have no place by cost, and why; empty where all have."""
    names = labels(rows)
    said = []
    for row in records(rows):
        name = names[str(row["run_id"])]
        lacking = int(row["attempts"]) - int(row["cost_n"])
        if lacking:
            why = GAPS.get(str(row["cost_gap"]), text(row["cost_gap"]))
            said.append(f"{name} (cost known for {_of(row, 'cost_n')} attempts: {why})")
        elif missing(row["cost_usd"]):
            said.append(
                f"{name} (only a range is known, {dollar_range(row['cost_least_usd'], row['cost_most_usd'])})"
            )
        if row["implausible"]:
            said.append(f"{name} reports tokens that cannot be in {_of(row, 'implausible')} attempts")
    if not said:
        return Block("")
    shown = "; ".join(said[:6]) + (f"; and {len(said) - 6} more" if len(said) > 6 else "")
    return notice(f"Without a place by cost: {shown}.")


# --- pictures


def front_picture(rows: pd.DataFrame, slug: str, what: str, *, top_n: int = 40) -> Picture | Block:
    """Pass rate against cost or tokens per pass, with the Pareto front.

    `what`: 'cost' draws the runs whose cost is known, and nothing where there is none; 'tokens' draws
    all whose tokens are known, and nothing where the cost of every run with a pass is known.
    """
    on_cost = what == "cost"
    lacking = (rows["passed"] > 0) & rows["cost_per_pass"].isna()
    if not on_cost and not lacking.any():
        return Block("")
    amount = f"{what}_per_pass"
    drawn = rows[rows[amount].notna()].sort_values([amount, "run_id"]).head(top_n)
    if drawn.empty:
        return Block("")
    names = labels(rows)
    best = pareto(drawn[amount].to_list(), drawn["pass_rate"].to_list())
    points = [
        Point(
            names[str(row["run_id"])],
            x=float(row[amount]),
            x_low=_known(row[f"{amount}_low"]),
            x_high=_known(row[f"{amount}_high"]),
            y=float(row["pass_rate"]),
            y_low=float(row["pass_rate_low"]),
            y_high=float(row["pass_rate_high"]),
            best=on_front,
        )
        for row, on_front in zip(records(drawn), best, strict=True)
    ]
    front = [point.label for point in points if point.best]
    across = "US dollars a pass" if on_cost else "tokens a pass"
    word = tick_dollars if on_cost else tick_count
    absent = len(rows) - len(drawn)
    why = "" if on_cost else "Tokens stand in for cost, which is not known of every run. "
    left_out = (
        f"Not drawn: {_number(absent, 'run')} without a pass or without a known amount." if absent else ""
    )
    if len(points) == 1:
        title = f"{front[0]} passes {percent(points[0].y)} at {_shown(points[0].x, on_cost)} a pass."
    elif len(front) == 1:
        title = f"{front[0]} is both the best and the cheapest by the pass of {len(points)} runs."
    else:
        title = f"{_few(front)}: nothing else is as good for less."
    return picture(
        f"front-{what}-{slug}",
        lambda width: plane(width, points, word, across=across),
        title=title,
        subtitle=f"Share of scored answers that pass, by {across}, each with its 95 % interval; "
        "filled and joined: the Pareto front.",
        alt="Pass rate and amount a pass. "
        + "; ".join(
            f"{point.label}: {percent(point.y)}, {_shown(point.x, on_cost)}"
            + (", on the front" if point.best else "")
            for point in points
        )
        + ".",
        note=(why + left_out).strip(),
    )


def _few(names: list[str]) -> str:
    return ", ".join(names[:4]) + (" and others" if len(names) > 4 else "")


def _shown(value: float, on_cost: bool) -> str:
    return dollars(value) if on_cost else f"{value:,.0f} tokens"


def tokens_picture(rows: pd.DataFrame, slug: str, *, top_n: int = 40) -> Picture | Block:
    """Tokens per pass of every run, with their intervals; a sentence where no run has any."""
    names = labels(rows)
    ordered = records(rows.sort_values(["tokens_per_pass", "name", "run_id"], na_position="last"))[:top_n]
    lines = [
        AmountRow(
            names[str(row["run_id"])],
            value=_known(row["tokens_per_pass"]),
            low=_known(row["tokens_per_pass_low"]),
            high=_known(row["tokens_per_pass_high"]),
            shown=_per_pass_words(row),
            beside=_passes(row["passed"]),
            least=_known(row["tokens_per_pass_least"]),
        )
        for row in ordered
    ]
    known = [line for line in lines if line.value is not None]
    if not any(line.numbers() for line in lines):
        return notice("Tokens per pass are unavailable: no run has a pass whose tokens are known.")
    if not known:
        title = "No run has a pass with all of its tokens known, so tokens per pass are unavailable."
    elif len(known) == 1:
        title = f"A pass takes {known[0].label} {known[0].shown} tokens."
    else:
        least, most = known[0], known[-1]
        title = f"A pass takes {least.shown} tokens of {least.label} and {most.shown} of {most.label}."
    return picture(
        f"tokens-{slug}",
        lambda width: amounts(width, lines, tick_count),
        title=title,
        subtitle="All tokens of all attempts, failed ones and retries included, divided by passes; 95 % "
        "bootstrap interval clustered by task. An arrow: at least so many.",
        alt="Tokens per pass. "
        + "; ".join(f"{line.label}: {line.shown}, {line.beside}" for line in lines)
        + ".",
        note=f"{len(rows) - top_n} more runs stand in the table." if len(rows) > top_n else "",
    )


def _per_pass_words(row: dict[str, Any]) -> str:
    if not missing(row["tokens_per_pass"]):
        return whole(row["tokens_per_pass"])
    least = row["tokens_per_pass_least"]
    return UNAVAILABLE if missing(least) else f"over {whole(least)}"


def kinds_picture(rows: pd.DataFrame, slug: str) -> Picture | Block:
    """What the tokens of every run were: input, cached or not, output, visible or reasoning."""
    names = labels(rows)
    lines = [
        (
            names[str(row["run_id"])],
            {
                part.key: int(row[part.key])
                for part in PARTS
                if not missing(row[part.key]) and row[part.key] > 0
            },
        )
        for row in records(rows.sort_values(["total_tokens", "run_id"], ascending=[False, True]))
        if not missing(row["total_tokens"])
    ]
    if not lines:
        return Block("")
    whole = sum(sum(parts.values()) for _, parts in lines)
    output = sum(
        n
        for _, parts in lines
        for key, n in parts.items()
        if key in {"visible_output", "unsplit_output", "reasoning"}
    )
    return picture(
        f"kinds-{slug}",
        lambda width: shares(width, PARTS, [("", lines)]),
        title=f"{percent(output / whole) if whole else UNAVAILABLE} of the tokens are output.",
        subtitle="All tokens of each run by kind, as far as its source tells them apart; their number at the "
        "right.",
        alt="Tokens by kind. "
        + "; ".join(
            f"{label}: " + ", ".join(f"{count(parts[p.key])} {p.label}" for p in PARTS if p.key in parts)
            for label, parts in lines
        )
        + ".",
    )


def mode_label(mode: str) -> str:
    """What an attempt was spent on, in words."""
    return {
        "passed": "passed",
        "unscored": "not scored: the harness failed",
        "cancelled": "stopped",
        "not_replayable": "no keys recorded",
    }.get(mode, plain(mode.replace("_", " "), 40))


def waste_picture(modes: pd.DataFrame, rows: pd.DataFrame, slug: str) -> Picture | Block:
    """What the tokens of every run went into: passes, and each way of failing."""
    here = modes[modes["run_id"].isin(rows["run_id"]) & modes["total_tokens"].notna()]
    if here.empty or not int(here["total_tokens"].sum()):
        return Block("")
    failed = here[here["spent_on"] != "passed"].groupby("spent_on")["total_tokens"].sum()
    order = [str(mode) for mode in failed.sort_values(ascending=False, kind="stable").index]
    shown, rest = order[: len(_MODE_COLOURS)], order[len(_MODE_COLOURS) :]
    parts = [
        Part("passed", "passed", GREEN),
        *(Part(mode, mode_label(mode), colour) for mode, colour in zip(shown, _MODE_COLOURS, strict=False)),
        *([Part("rest", f"{len(rest)} other ways of failing", SOLVER_SOFT)] if rest else []),
    ]
    names = labels(rows)
    counts: dict[str, dict[str, int]] = {}
    for row in records(here):
        mine = counts.setdefault(str(row["run_id"]), {})
        key = "rest" if row["spent_on"] in rest else str(row["spent_on"])
        mine[key] = mine.get(key, 0) + int(row["total_tokens"])
    ordered = cheapest_first(rows)["run_id"]
    lines = [(names[str(run)], counts[str(run)]) for run in ordered if str(run) in counts]
    whole = sum(sum(one.values()) for one in counts.values())
    lost = whole - sum(one.get("passed", 0) for one in counts.values())
    worst = f", most of it into “{mode_label(order[0])}”" if order else ""
    return picture(
        f"waste-{slug}",
        lambda width: shares(width, parts, [("", lines)]),
        title=f"{percent(lost / whole)} of the tokens bought no pass{worst}.",
        subtitle="All tokens of each run by what became of the attempt they went into; their number at the "
        "right.",
        alt="Tokens by what they went into. "
        + "; ".join(
            f"{label}: " + ", ".join(f"{count(mine[p.key])} {p.label}" for p in parts if mine.get(p.key))
            for label, mine in lines
        )
        + ".",
    )


def latency_picture(frame: pd.DataFrame, rows: pd.DataFrame, slug: str, *, top_n: int = 40) -> Picture:
    """How long the answers of every run took, with median and 95th percentile. `frame`: `attempts`."""
    names = labels(rows)
    ordered = records(rows.sort_values(["p95_seconds", "name", "run_id"], na_position="last"))[:top_n]
    times = {str(run): some["seconds"].dropna() for run, some in frame.groupby("run_id")}
    lines = [
        SpreadRow(
            names[str(row["run_id"])],
            tuple(sorted(float(v) for v in times.get(str(row["run_id"]), ()) if float(v) >= 0)),
            middle=_known(row["p50_seconds"]),
            tail=_known(row["p95_seconds"]),
            shown=f"p95 {seconds(row['p95_seconds'])}" if row["seconds_n"] else UNAVAILABLE,
            beside=f"n = {count(row['seconds_n'])}",
        )
        for row in ordered
    ]
    known = [line for line in lines if line.tail is not None]
    if not known:
        title = "No run says how long its answers took."
    elif len(known) == 1:
        title = f"One in twenty answers of {known[0].label} takes longer than {seconds(known[0].tail)}."
    else:
        title = (
            f"One in twenty answers takes longer than {seconds(known[0].tail)} of {known[0].label} "
            f"and {seconds(known[-1].tail)} of {known[-1].label}."
        )
    return picture(
        f"latency-{slug}",
        lambda width: spreads(width, lines, tick_seconds),
        title=title,
        subtitle="Time to an answer in seconds, as its source measured it; bars count attempts of the run.",
        alt="Time to an answer. "
        + "; ".join(
            f"{line.label}: median {seconds(line.middle)}, p95 {seconds(line.tail)}, {line.beside}"
            for line in lines
        )
        + ".",
    )


# --- tables


def cost_table(rows: pd.DataFrame, slug: str) -> Table:
    """All numbers of a section's runs, with intervals and coverage; one row a run, cheapest pass first."""
    names = labels(rows)
    frame = cheapest_first(rows).assign(label=lambda f: f["run_id"].map(names))

    def coverage(name: str) -> Any:
        return lambda r: "" if r[name] == r["attempts"] else f"{_of(r, name)} known"

    def cost_words(r: dict[str, Any]) -> str:
        if not missing(r["cost_usd"]):
            return ""
        return (
            dollar_range(r["cost_least_usd"], r["cost_most_usd"]) if not missing(r["cost_least_usd"]) else ""
        )

    def per_pass_words(what: str, word: Any) -> Any:
        def words(r: dict[str, Any]) -> str:
            if not missing(r[f"{what}_per_pass"]):
                return ""
            if not r["passed"]:
                return "no pass"
            least, most = r[f"{what}_per_pass_least"], r[f"{what}_per_pass_most"]
            if missing(least):
                return UNAVAILABLE
            return f"at least {word(least)}" if missing(most) else f"{word(least)}–{word(most)}"

        return words

    return Table(
        f"cost-{slug}",
        "All numbers of this section",
        [
            Column("label", "Run", "name", beside=_made),
            Column(
                "cost_rank",
                "Rank",
                "number",
                lambda v: "" if missing(v) else count(v),
                help="Place by cost per pass. A run with an attempt of unknown cost, or a range, has none.",
                instead=lambda r: "none" if missing(r["cost_rank"]) else "",
            ),
            Column(
                "pass_rate",
                "Passed",
                "bar",
                percent,
                unit="% of n, interval",
                beside=lambda r: (
                    f"{of_n(r, 'passed', 'scored')}, {interval(r['pass_rate_low'], r['pass_rate_high'])}"
                ),
                instead=lambda r: "" if r["scored"] else "nothing scored",
            ),
            Column(
                "cost_per_pass",
                "Cost per pass",
                "number",
                dollars,
                unit="US dollars, interval",
                help="Cost of all attempts, failed and retried ones included, divided by passes.",
                beside=lambda r: span_of(r, "cost_per_pass", dollars),
                instead=per_pass_words("cost", dollars),
            ),
            Column(
                "tokens_per_pass",
                "Tokens per pass",
                "number",
                whole,
                unit="tokens, interval",
                help="Tokens of all attempts, failed and retried ones included, divided by passes.",
                beside=lambda r: span_of(r, "tokens_per_pass", whole),
                instead=per_pass_words("tokens", whole),
            ),
            Column(
                "cost_usd",
                "Cost",
                "number",
                dollars,
                unit="US dollars",
                beside=_cost_sources,
                instead=cost_words,
            ),
            Column(
                "cost_n",
                "Cost known",
                "number",
                count,
                unit="of attempts",
                beside=lambda r: f"of {count(r['attempts'])}",
            ),
            Column("total_tokens", "Tokens", "number", count, beside=coverage("tokens_n")),
            Column(
                "input_tokens",
                "Input",
                "number",
                count,
                unit="tokens",
                beside=lambda r: (
                    "cache not reported"
                    if missing(r["cache_read"]) and missing(r["cache_write"])
                    else f"{count(r['cache_read'])} read, {count(r['cache_write'])} written"
                ),
            ),
            Column(
                "output_tokens",
                "Output",
                "number",
                count,
                unit="tokens",
                beside=lambda r: (
                    "reasoning not reported"
                    if missing(r["reasoning"])
                    else f"{count(r['reasoning'])} reasoning"
                ),
            ),
            Column("p50_seconds", "Median", "number", seconds, unit="time to answer"),
            Column(
                "p95_seconds",
                "p95",
                "number",
                seconds,
                unit="time to answer",
                help="95th percentile, linearly interpolated.",
                beside=lambda r: f"max {seconds(r['max_seconds'])}, n = {count(r['seconds_n'])}",
            ),
            *(
                [
                    Column(
                        "p95_request_seconds",
                        "p95",
                        "number",
                        seconds,
                        unit="of one request",
                        beside=lambda r: (
                            f"max {seconds(r['max_request_seconds'])}, n = {count(r['requests_n'])}"
                        ),
                    )
                ]
                if (rows["track"] == "multi").any()
                else []
            ),
            Column(
                "waiting_seconds",
                "Waited",
                "number",
                seconds,
                unit="in all",
                help="What the attempts waited besides: for a slot, a rate limit, or before a retry.",
                beside=lambda r: f"p95 {seconds(r['p95_waiting_seconds'])}, n = {count(r['waiting_n'])}",
            ),
        ],
        frame,
        note="Sums are over all attempts. Where not all are known a sum is a lower bound and nothing is "
        "ranked by it; what no attempt reports is unavailable, not 0.",
    )


def _made(row: dict[str, Any]) -> str:
    return "" if missing(row["created_utc"]) else f"{pd.Timestamp(row['created_utc']):%Y-%m-%d}"


def _cost_sources(row: dict[str, Any]) -> str:
    kinds = [f"{count(row[f'{kind}_n'])} {kind}" for kind in ("billed", "estimated") if row[f"{kind}_n"]]
    day = f", prices of {plain(row['price_date'], 24)}" if not missing(row["price_date"]) else ""
    return ", ".join(kinds) + day


def waste_table(modes: pd.DataFrame, rows: pd.DataFrame, slug: str) -> Table:
    """Tokens and cost by what became of the attempt; one row a run and mode."""
    names = labels(rows)
    here = modes[modes["run_id"].isin(rows["run_id"])]
    frame = here.assign(
        label=here["run_id"].map(names), mode=here["spent_on"].map(lambda m: mode_label(str(m)))
    )
    return Table(
        f"waste-{slug}",
        "What it was spent on",
        [
            Column("mode", "Went into", "name"),
            Column("attempts", "Attempts", "number", count),
            Column("token_share", "Share", "bar", percent, unit="of the run’s tokens"),
            Column(
                "total_tokens",
                "Tokens",
                "number",
                count,
                beside=lambda r: "" if r["tokens_n"] == r["attempts"] else f"{_of(r, 'tokens_n')} known",
            ),
            Column("output_tokens", "Output", "number", count, unit="of them"),
            Column(
                "cost_least_usd",
                "Cost",
                "number",
                dollars,
                unit="US dollars",
                instead=lambda r: (
                    "" if missing(r["cost_least_usd"]) else dollar_range(r["cost_least_usd"], _most(r))
                ),
                beside=lambda r: "" if r["cost_n"] == r["attempts"] else f"{_of(r, 'cost_n')} known",
            ),
        ],
        frame,
        group="label",
        empty="Nothing was spent.",
    )


def _most(row: dict[str, Any]) -> object:
    return row["cost_most_usd"] if row["cost_n"] == row["attempts"] else None


def csv_text(frame: pd.DataFrame) -> str:
    """A frame as CSV. Text that a spreadsheet would take for a formula gets an apostrophe before it:
    names come from outside."""

    def harmless(value: object) -> object:
        return f"'{value}" if isinstance(value, str) and value[:1] in tuple("=+-@\t\r") else value

    return str((frame.map(harmless) if len(frame) else frame).to_csv(index=False))
