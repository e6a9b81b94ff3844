"""`vimlib cost`: what the loaded runs spent, what a pass cost, and what it would cost otherwise."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

from vimlib.cli.terminal import output, say, show, table
from vimlib.records import VimlibError


class BadBudget(VimlibError):
    """A budget that is no sum of money."""

    exit_code = 2


def _cost(options: argparse.Namespace) -> int:
    from vimlib.analysis import cost
    from vimlib.figures.cost import csv_text
    from vimlib.prices import price_day, read_prices
    from vimlib.store import connect, query

    if options.budget is not None and not (math.isfinite(options.budget) and options.budget >= 0):
        raise BadBudget(f"--budget {options.budget}: expected US dollars, a number from 0")
    file = options.what_if or options.prices
    own = None if file is None else read_prices(file)
    pricing = cost.Pricing(price_day(options.price_date), own, own_first=options.what_if is not None)
    con = connect(options.database, with_errata=options.with_errata)
    try:
        runs = cost.by_run(cost.attempts(con, runs=options.runs, suite=options.suite or "", pricing=pricing))
        suites = query(con, "suites_loaded")
    finally:
        con.close()
    if runs.empty:
        say(f"{options.database}: holds no run of a model; load one with `vimlib load`")
        return 0
    if options.budget is not None:
        runs = cost.affordable(runs, options.budget)
    sizes = dict(zip(suites["suite_hash"], suites["tasks"].astype(int), strict=True))
    _print(runs, options.budget, sizes, own_days=pricing.day is None)
    if options.csv is not None:
        with output(options.csv) as out:
            out.write(csv_text(runs))
    return 0


def _print(runs: Any, budget: float | None, sizes: dict[str, int], *, own_days: bool) -> None:
    """Print the frame of `analysis.cost.by_run`, a table a section."""
    from vimlib.figures.cost import GAPS, cheapest_first, sections
    from vimlib.figures.tables import missing, percent, seconds

    for title, _, rows in sections(runs):
        show(title)
        heads = [
            "run",
            "passed",
            "cost/pass",
            "tokens/pass",
            "cost",
            "known",
            "tokens",
            "input",
            "output",
            "p95",
        ]
        if budget is not None:
            heads.append(f"tasks for ${budget:,g}")
        lines = []
        for row in cheapest_first(rows).to_dict("records"):
            line = [
                row["name"],
                f"{row['passed']}/{row['scored']} ({percent(row['pass_rate'])})"
                if row["scored"]
                else "none scored",
                _per_pass(row, "cost", _dollars),
                _per_pass(row, "tokens", _round),
                _range(row["cost_least_usd"], row["cost_most_usd"]),
                f"{row['cost_n']}/{row['attempts']}",
                _tokens(row, "total_tokens"),
                _tokens(row, "input_tokens"),
                _tokens(row, "output_tokens"),
                seconds(row["p95_seconds"]),
            ]
            if budget is not None:
                line.append(_tasks(row, sizes.get(str(row["suite_hash"]))))
            lines.append([_plain(cell) for cell in line])
        table(heads, lines)
        for row in rows.to_dict("records"):
            if row["cost_n"] < row["attempts"]:
                why = GAPS.get(str(row["cost_gap"]), row["cost_gap"])
                show(f"  {row['name']}: cost known for {row['cost_n']} of {row['attempts']} attempts ({why})")
            if row["implausible"]:
                show(f"  {row['name']}: {row['implausible']} attempts report tokens that cannot be; left out")
        sources = {
            " ".join(
                _plain(row[name]) for name in ("price_source", "price_version") if not missing(row[name])
            )
            + ("" if missing(row["price_date"]) or own_days else f", prices of {row['price_date']}")
            for row in rows.to_dict("records")
            if not missing(row["price_source"])
        }
        if own_days and sources:
            sources = {f"{source}, prices of the day of each run" for source in sources}
        for source in sorted(sources):
            show(f"  costs: {source}")


def _plain(text: object) -> str:
    """Without the spaces that do not break: terminals need none."""
    return str(text).replace("\u00a0", " ")


def _dollars(value: Any) -> str:
    from vimlib.figures.cost import dollars

    return dollars(value)


def _range(least: Any, most: Any) -> str:
    from vimlib.figures.cost import dollar_range

    return dollar_range(least, most)


def _round(value: Any) -> str:
    return f"{float(value):,.0f}"


def _tokens(row: dict[Any, Any], name: str) -> str:
    from vimlib.figures.tables import count, missing

    known = count(row[name])
    return known if missing(row[name]) or row["tokens_n"] == row["attempts"] else f"at least {known}"


def _per_pass(row: dict[Any, Any], what: str, word: Any) -> str:
    """A quotient with its interval, what is known of it, or why there is none."""
    from vimlib.figures.tables import UNAVAILABLE, missing

    value, low, high, least, most = (
        row[f"{what}_per_pass{bound}"] for bound in ("", "_low", "_high", "_least", "_most")
    )
    if not row["passed"]:
        return f"{UNAVAILABLE} (no pass)"
    if not missing(value):
        if missing(low) and missing(high):
            return str(word(value))
        ends = f"{'0' if missing(low) else word(low)} to {'any' if missing(high) else word(high)}"
        return f"{word(value)} ({ends})"
    if missing(least):
        return UNAVAILABLE
    return f"at least {word(least)}" if missing(most) else f"{word(least)} to {word(most)}"


def _tasks(row: dict[Any, Any], size: int | None) -> str:
    """How many tasks of the suite a budget pays for."""
    from vimlib.figures.tables import UNAVAILABLE, missing

    least, most = row["affordable_least"], row["affordable_most"]
    if row["cost_most_usd"] == 0:
        return "all: it costs nothing"
    if missing(most):
        return UNAVAILABLE
    if missing(least):
        return f"at most {_of(int(most), size)}"
    if least == most:
        return _of(int(most), size)
    return f"{_of(int(least), size)} to {_of(int(most), size)}"


def _of(tasks: int, size: int | None) -> str:
    if size and tasks >= size:
        return f"all {size}" + (f", {tasks // size:,} times" if tasks >= 2 * size else "")
    return f"{tasks:,}" + (f" of {size}" if size else "")


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this module's commands."""
    cost = commands.add_parser(
        "cost", help="print what the loaded runs of models spent, and what a pass cost them"
    )
    cost.add_argument("runs", nargs="*", metavar="RUN", help="a run's id, model or file; all by default")
    cost.add_argument(
        "--database", type=Path, default=Path("data/vimlib.duckdb"), help="the store (%(default)s)"
    )
    cost.add_argument("--suite", metavar="NAME", help="only runs of this suite")
    cost.add_argument(
        "--with-errata", action="store_true", help="count tasks that cannot be judged fairly too"
    )
    cost.add_argument(
        "--price-date",
        default="",
        metavar="DAY",
        help="the prices of this day (today, 2026-08-21) for every run, not those of each run's own",
    )
    which = cost.add_mutually_exclusive_group()
    which.add_argument("--prices", type=Path, metavar="FILE", help="prices of models that no list knows")
    which.add_argument(
        "--what-if",
        type=Path,
        metavar="FILE",
        help="prices that come before all others: what if it cost this",
    )
    cost.add_argument(
        "--budget",
        type=float,
        metavar="USD",
        help="how many tasks of the suite each model could answer for it",
    )
    cost.add_argument("--csv", type=Path, metavar="FILE", help="write all numbers to a file too")
    cost.set_defaults(run=_cost)
