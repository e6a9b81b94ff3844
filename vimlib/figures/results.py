"""The results of a section: pass rates, tiers, tokens, and where the sources disagree.

Every sentence is computed from the rows that the picture or table beside it shows.
"""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from vimlib.figures.blocks import Block
from vimlib.figures.canvas import (
    Picture,
    picture,
    plain,
)
from vimlib.figures.charts import (
    Mark,
    PanelRow,
    RateRow,
    Reference,
    Span,
    panels,
    rates,
)
from vimlib.figures.sections import (
    KINDS,
    RATE_HELP,
    drawn,
    floor_of,
    headline,
    labels,
    of_n,
    part_of,
    ranked,
    records,
    span_of,
)
from vimlib.figures.tables import (
    UNAVAILABLE,
    Column,
    Table,
    count,
    decimal,
    interval,
    missing,
    percent,
    seconds,
    text,
)

TIERS: Final = {1: "mechanical", 2: "motions, text objects", 3: "ex commands", 4: "composed edits"}
"""What the tiers of the seed and vimbench suites hold."""


def pass_rates(rows: pd.DataFrame, slug: str, *, top_n: int = 20) -> Picture:
    """Pass rate of every run of a section, models above, solvers below; at most `top_n` models."""
    names = labels(rows)
    every = drawn(rows)
    models = [row for row in every if row["kind"] == "model"]
    solvers = [row for row in every if row["kind"] == "solver"]
    left_out = len(models) - top_n
    floor = floor_of(every)

    def line(row: dict[str, Any]) -> RateRow:
        mark: Mark = "model" if row["kind"] == "model" else "solver"
        second = None
        if floor is not None and row["run_id"] != floor["run_id"] and not missing(row["beats_diff_rate"]):
            second = Span(row["beats_diff_rate"], row["beats_diff_rate_low"], row["beats_diff_rate_high"])
        return RateRow(
            label=names[str(row["run_id"])],
            mark=mark,
            main=span_of(row["pass_rate"], row["pass_rate_low"], row["pass_rate_high"]),
            value=percent(row["pass_rate"]) if row["scored"] else "none scored",
            of=of_n(row),
            second=second,
        )

    groups = [
        (KINDS[kind] if models else "", [line(row) for row in found])
        for kind, found in (("model", models[:top_n]), ("solver", solvers))
        if found
    ]
    reference = (
        Reference(float(floor["pass_rate"]), f"diff solver {percent(floor['pass_rate'])}")
        if floor is not None and models
        else None
    )
    return picture(
        f"pass-{slug}",
        lambda width: rates(
            width,
            groups,
            main="passed",
            second="passed with fewer keys than the diff solver",
            reference=reference,
        ),
        title=headline(rows) + ".",
        subtitle="Share of scored answers that pass, with 95 % Wilson interval; at the right the rate and n.",
        alt="Pass rates. "
        + "; ".join(
            f"{row.label}: {row.of}, {row.value}"
            + (f", fewer keys than diff {percent(row.second.rate)}" if row.second else "")
            for _, lines in groups
            for row in lines
        )
        + ".",
        note=f"{left_out} more models stand in the table below." if left_out > 0 else "",
    )


def results_table(rows: pd.DataFrame, slug: str) -> Table:
    """All numbers of a section's runs; one row a run, models first."""
    names = labels(rows)
    frame = ranked(rows).assign(label=lambda f: f["run_id"].map(names))
    golf = bool((frame["protocol"] == "golf").any())
    columns = [
        Column("label", "Run", "name"),
        Column(
            "pass_rate",
            "Passed",
            "bar",
            percent,
            unit="% of n, interval",
            help=RATE_HELP,
            beside=lambda r: f"{of_n(r)}, {interval(r['pass_rate_low'], r['pass_rate_high'])}",
            instead=lambda r: "" if r["scored"] else "nothing to score",
        ),
        Column(
            "beats_diff_rate",
            "… beating diff",
            "number",
            percent,
            unit="% of n, interval",
            help="Passed with fewer keys than the diff solver needs, over the answers that can be compared.",
            instead=lambda r: "the yardstick" if r["kind"] == "solver" and r["name"] == "diff" else "",
            beside=lambda r: (
                f"{of_n(r, 'passed_beats_diff', 'beats_diff_n')}, "
                f"{interval(r['beats_diff_rate_low'], r['beats_diff_rate_high'])}"
            ),
        ),
        Column(
            "mean_efficiency",
            "Efficiency",
            "number",
            decimal,
            unit="mean over passes",
            help="Reference keys divided by answer keys, at most 1, over passes whose task has a reference.",
            beside=lambda r: f"n = {count(r['efficiency_n'])}",
        ),
        Column(
            "mean_partial",
            "Partial",
            "number",
            decimal,
            unit="mean, 0 to 1",
            help="Likeness of the final buffer to the target (difflib ratio); 0 where nothing was replayed.",
            beside=lambda r: f"n = {count(r['partial_n'])}",
        ),
    ]
    if golf:
        columns.append(
            Column(
                "correct_over_cap",
                "Over the cap",
                "number",
                count,
                unit="right edits",
                help="Right buffer, but as many keys as the target has characters, or more: not passed.",
                beside=lambda r: f"{count(r['over_cap'])} in all",
            )
        )
    columns += [
        Column(
            "errors",
            "Errors",
            "number",
            count,
            unit="provider, unscored",
            help="Failures of the provider, and answers that our harness could give no verdict on: no fault "
            "of the model, and in neither number of the column Passed.",
            beside=lambda r: f"{count(r['provider_errors'])} provider, {count(r['unscored'])} unscored",
        ),
        Column(
            "pass_rate_with_errors",
            "Passed, errors as failures",
            "number",
            percent,
            unit="% of n and errors, interval",
            help="The other reading: every error counted as if the model had failed.",
            beside=lambda r: (
                f"{count(r['passed'])}\u00a0of\u00a0{count(r['scored'] + r['errors'])}, "
                f"{interval(r['pass_rate_with_errors_low'], r['pass_rate_with_errors_high'])}"
            ),
        ),
    ]
    if any(not missing(number) and number for number in frame["samples_missing"]):
        columns.append(
            Column(
                "samples_missing",
                "Missing",
                "number",
                count,
                unit="samples",
                help="Samples that the run set out to answer and has no attempt at: it was stopped, or its "
                "file was cut short. They are in no rate.",
            )
        )
    if frame["not_replayable"].sum() or frame["cancelled"].sum():
        columns.append(
            Column(
                "cancelled",
                "Not judged",
                "number",
                count,
                unit="stopped, without keys",
                help="Samples that were stopped, and those whose source has no keys: in no rate.",
                beside=lambda r: f"{count(r['not_replayable'])} without keys",
            )
        )
    return Table(
        f"results-{slug}",
        "All runs of this section",
        columns,
        frame,
        group="kind",
        group_label=lambda kind: KINDS.get(str(kind), str(kind)),
        note="Runs are ordered by pass rate within their group; neighbours whose intervals overlap are not "
        "told apart by it.",
    )


def tier_picture(tiers: pd.DataFrame, rows: pd.DataFrame, slug: str) -> Picture | Block:
    """Pass rate a tier of every run of a section; empty where the suite has no tiers."""
    here = part_of(tiers, rows)
    here = here[here["tier"].notna()]
    if here.empty:
        return Block("")
    names = labels(rows)
    found = sorted(int(tier) for tier in here["tier"].unique())
    cells = {(str(r["run_id"]), int(r["tier"])): r for r in records(here)}
    titles = [(f"Tier {tier}", TIERS.get(tier, "")) for tier in found]

    def line(row: dict[str, Any]) -> PanelRow:
        mark: Mark = "model" if row["kind"] == "model" else "solver"
        parts = []
        for tier in found:
            cell = cells.get((str(row["run_id"]), tier))
            parts.append(
                (
                    span_of(cell["pass_rate"], cell["pass_rate_low"], cell["pass_rate_high"]),
                    percent(cell["pass_rate"]),
                    of_n(cell),
                )
                if cell is not None and cell["scored"]
                else None
            )
        return PanelRow(names[str(row["run_id"])], mark, tuple(parts))

    every = drawn(rows)
    groups = [
        (KINDS[kind] if any(r["kind"] == "model" for r in every) else "", lines)
        for kind in ("model", "solver")
        if (lines := [line(row) for row in every if row["kind"] == kind])
    ]
    return picture(
        f"tiers-{slug}",
        lambda width: panels(width, titles, groups),
        title=_tier_headline(here, rows, names) + ".",
        subtitle="Share of scored answers that pass, by tier, with 95 % Wilson interval and passes of n.",
        alt="Pass rates per tier. "
        + "; ".join(
            f"{row.label}: "
            + ", ".join(
                f"{title} {cell[2]}" for (title, _), cell in zip(titles, row.cells, strict=True) if cell
            )
            for _, lines in groups
            for row in lines
        )
        + ".",
        note=_tiers_with_errors(cells, rows, names),
    )


def _tiers_with_errors(
    cells: dict[tuple[str, int], dict[str, Any]], rows: pd.DataFrame, names: dict[str, str]
) -> str:
    """The other reading of each rate that errors change, for the note of the picture; '' where none are."""
    found = []
    for row in drawn(rows):
        run = str(row["run_id"])
        lost = [cell for (of, _), cell in sorted(cells.items()) if of == run and cell["errors"]]
        if lost:
            tiers = "; ".join(
                f"tier {cell['tier']} {percent(cell['pass_rate_with_errors'])} of"
                f" {cell['scored'] + cell['errors']:,}, {cell['errors']:,} lost or unscored"
                for cell in lost
            )
            found.append(f"{names[run]}: {tiers}")
    return f"Errors are left out. Counted as failures: {'. '.join(found)}." if found else ""


def _tier_headline(tiers: pd.DataFrame, rows: pd.DataFrame, names: dict[str, str]) -> str:
    """Where the run of most interest (best model, else diff, else the best solver) does worst."""
    every = records(ranked(rows))
    floor = floor_of(every)
    subject = next(
        (r for r in every if r["kind"] == "model" and r["scored"]), floor or (every[0] if every else None)
    )
    if subject is None:
        return "Nothing was scored"
    name = names[str(subject["run_id"])] if subject is not floor else "The diff solver"
    mine = [r for r in records(tiers[tiers["run_id"] == subject["run_id"]]) if r["scored"]]
    if not mine:
        return f"{name} has no scored answers here"
    worst = min(mine, key=lambda r: (r["pass_rate"], -int(r["tier"])))
    best = max(mine, key=lambda r: (r["pass_rate"], -int(r["tier"])))
    if worst["pass_rate"] == best["pass_rate"]:
        return f"{name} passes {percent(best['pass_rate'], 0)} in every tier"
    about = {
        tier: f"tier {tier}" + (f" ({TIERS[tier]})" if tier in TIERS else "") for tier in map(int, TIERS)
    }
    low, high = int(worst["tier"]), int(best["tier"])
    return (
        f"{name} does worst in {about.get(low, f'tier {low}')}, {of_n(worst)}, "
        f"and best in {about.get(high, f'tier {high}')}, {of_n(best)}"
    )


def token_table(rows: pd.DataFrame, slug: str) -> Table | Block:
    """Tokens, cost and time of the models of a section, one row a run; empty where there is no model."""
    if not (rows["kind"] == "model").any():
        return Block("")
    names = labels(rows)
    frame = ranked(rows[rows["kind"] == "model"]).assign(label=lambda f: f["run_id"].map(names))

    def reported(key: str) -> Any:
        return lambda r: (
            "" if r[f"{key}_n"] == r["attempts"] else f"{count(r[f'{key}_n'])} of {count(r['attempts'])}"
        )

    return Table(
        f"tokens-{slug}",
        "Tokens, cost and time of the models",
        [
            Column("label", "Run", "name"),
            Column("attempts", "Attempts", "number", count, unit="retries included"),
            Column("input_tokens", "Input", "number", count, unit="tokens", beside=reported("input_tokens")),
            Column(
                "output_tokens", "Output", "number", count, unit="tokens", beside=reported("output_tokens")
            ),
            Column("total_tokens", "Total", "number", count, unit="tokens", beside=reported("total_tokens")),
            Column(
                "billed_usd",
                "Billed",
                "number",
                lambda v: decimal(v, 4),
                unit="US dollars",
                beside=reported("billed_usd"),
            ),
            Column("seconds", "Answer time", "number", seconds, unit="summed", beside=reported("seconds")),
        ],
        frame,
        note="Sums over the attempts that report the number; where not all do, how many stands below it. "
        "What no attempt reports is unavailable, not 0.",
    )


def disagreement_table(
    disagreements: pd.DataFrame, rows: pd.DataFrame, slug: str, *, top_n: int = 20
) -> Table | Block:
    """Answers on which the source and our replay differ, one row an answer, at most `top_n`.

    A sentence where none differs, nothing where the sources recorded no verdict.
    """
    if not int(rows["source_verdicts"].sum()):
        return Block("")
    here = part_of(disagreements, rows)
    names = labels(rows)
    verdicts = int(rows["source_verdicts"].sum())
    yes_no = {True: "pass", False: "fail"}
    return Table(
        f"disagreements-{slug}",
        f"{count(len(here))} of {count(verdicts)} recorded verdicts differ from ours",
        [
            Column("task_id", "Task", "name", beside=lambda r: plain(r["title"] or "", 60)),
            Column("run_label", "Run"),
            Column("source_correct", "Source", show=lambda v: yes_no.get(v, UNAVAILABLE)),
            Column("passed", "Here", show=lambda v: yes_no.get(v, UNAVAILABLE)),
            Column("outcome", "Replay", show=text, beside=lambda r: plain(r["detail"] or "", 80)),
            Column("keys", "Keys", "code", show=lambda v: text(v) if missing(v) else plain(v, 90)),
        ],
        here.head(top_n).assign(run_label=lambda f: f["run_id"].map(names)),
        note=f"The first {top_n} of {count(len(here))}; all are in the store’s view disagreements."
        if len(here) > top_n
        else "",
        empty=f"None of the {count(verdicts)} verdicts that the sources recorded differs from ours.",
        classes=("long",),
    )
