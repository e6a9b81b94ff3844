"""What the overview shows: frames of `vimlib.analysis.overview` in, pictures, tables and sentences out.

Grain and columns of the frames are those of the analysis functions. Sections are cut by suite
version and protocol and never ranked across; solvers stand in a group of their own below the
models, since they are a floor and no competitors. Every sentence is computed from the rows that
the picture or table beside it shows.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import pandas as pd

from vimlib.figures.blocks import Block, Tile, anchor, facts, lede, notice, tiles
from vimlib.figures.canvas import (
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    SOLVER_SOFT,
    VERMILION,
    Picture,
    picture,
    plain,
)
from vimlib.figures.charts import (
    Mark,
    PanelRow,
    Part,
    RateRow,
    Reference,
    Span,
    panels,
    rates,
    shares,
)
from vimlib.figures.tables import (
    UNAVAILABLE,
    Column,
    Table,
    blank,
    count,
    decimal,
    interval,
    missing,
    percent,
    place,
    seconds,
    text,
)

GROUP: Final = ["suite_name", "suite_version", "suite_hash", "protocol"]
"""Columns that make a section: what differs in one of them is never compared."""

KINDS: Final = {"model": "Models", "solver": "Solvers (programs, no model)"}

TIERS: Final = {1: "mechanical", 2: "motions, text objects", 3: "ex commands", 4: "composed edits"}
"""What the tiers of the seed and vimbench suites hold."""

PARTS: Final = (
    Part("passed", "passed", GREEN),
    Part("over_cap", "right, but over the key cap", ORANGE),
    Part("unfinished", "keys ran out before Vim ended", SKY),
    Part("wrong", "ended, wrong buffer", GREY),
    Part("timeout", "time limit", VERMILION),
    Part("stopped", "crash, forbidden act or bad notation", PURPLE),
    Part("none", "no replay, or an error outside the answer", SOLVER_SOFT),
)
"""How a sample can end, in the order drawn."""


def sections(runs: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    """Cut a frame of runs into what may be compared: (title, slug, rows); with models first, then by name.

    A slug stays the same when other suites are added, so that a link to a section keeps working.
    """
    found = []
    for key, rows in runs.groupby(GROUP, sort=True, dropna=False):
        name, _, digest, protocol = (str(part) for part in key)
        found.append(
            (f"{plain(name, 60)} under the {protocol} protocol", anchor(name, protocol, digest[:6]), rows)
        )
    return sorted(found, key=lambda section: not (section[2]["kind"] == "model").any())


def part_of(frame: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of another frame that belong to the runs of a section."""
    return frame[frame["run_id"].isin(rows["run_id"])]


def ranked(rows: pd.DataFrame) -> pd.DataFrame:
    """Models first, then solvers; each by pass rate, best first, unknown last, ties by name."""
    return rows.sort_values(
        ["kind", "pass_rate", "passed_beats_diff", "name", "run_id"],
        ascending=[True, False, False, True, True],
        na_position="last",
    )


def labels(rows: pd.DataFrame) -> dict[str, str]:
    """A name for each run id, short where that is clear.

    The provider's path before a model's name is left out where no other run has the same last part;
    runs of one name are told apart by their source, or by the beginning of their id.
    """
    every = _records(rows)
    full = {str(row["run_id"]): plain(row["name"], 80) for row in every}
    ends: dict[str, set[str]] = {}
    for name in full.values():
        ends.setdefault(name.rsplit("/", 1)[-1], set()).add(name)
    names = {
        run: end if (end := name.rsplit("/", 1)[-1]) and len(ends[end]) == 1 else name
        for run, name in full.items()
    }
    sources = {str(row["run_id"]): plain(row["source"] or "", 80).rsplit(".", 1)[0] for row in every}
    seen: dict[str, list[str]] = {}
    for run, name in names.items():
        seen.setdefault(name, []).append(run)
    for name, same in seen.items():
        if len(same) > 1:
            by_source = len({sources[run] for run in same} - {""}) == len(same)
            for run in same:
                names[run] = f"{name} · {plain(sources[run] if by_source else run[-8:], 40)}"
    return names


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(k): v for k, v in row.items()} for row in frame.to_dict("records")]


def _drawn(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Ranked rows without solvers that had nothing to answer, as `reference` has without references."""
    return [row for row in _records(ranked(rows)) if row["kind"] == "model" or row["scored"]]


def _of(row: dict[str, Any], part: str = "passed", whole: str = "scored") -> str:
    return f"{count(row[part])}\u00a0of\u00a0{count(row[whole])}"


def _rate(row: dict[str, Any]) -> str:
    return (
        f"{_of(row)}\u00a0({percent(row['pass_rate'])})" if row["scored"] else "nothing that could be scored"
    )


def _floor(rows: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The solver to compare models with: `diff`."""
    return next(
        (row for row in rows if row["kind"] == "solver" and row["name"] == "diff" and row["scored"]), None
    )


def headline(rows: pd.DataFrame) -> str:
    """The finding of a section in one sentence, from its runs."""
    every = _records(ranked(rows))
    names = labels(rows)
    models = [row for row in every if row["kind"] == "model" and row["scored"]]
    floor = _floor(every)
    against = f"the diff solver, no model at all, {_rate(floor)}" if floor is not None else ""
    if not models:
        if floor is not None:
            return f"The diff solver passes {_rate(floor)}: the floor that a model has to beat"
        best = next((row for row in every if row["scored"]), None)
        return (
            f"Only solvers here: {names[str(best['run_id'])]} passes {_rate(best)}"
            if best
            else "Nothing was scored"
        )
    best = models[0]
    name = names[str(best["run_id"])]
    if len(models) == 1:
        return f"{name} passes {_rate(best)}" + (f"; {against}" if against else "")
    second = models[1]
    other = names[str(second["run_id"])]
    if best["passed"] == second["passed"] and best["scored"] == second["scored"]:
        lead = f"{name} and {other} both pass {_rate(best)}"
    elif best["pass_rate_low"] > second["pass_rate_high"]:
        lead = f"{name} leads with {_rate(best)}, clear of {other} with {_rate(second)}"
    else:
        lead = (
            f"{name} passes {_rate(best)} and {other} {_rate(second)}: "
            "their intervals overlap, so this does not settle who is better"
        )
    return lead + (f"; {against}" if against else "")


def findings(runs: pd.DataFrame, disagreements: pd.DataFrame) -> Block:
    """The sentences at the top of the page: one a section, then what qualifies them."""
    cut = sections(runs)
    sentences = [f"{title}: {headline(rows)}." for title, _, rows in cut if (rows["kind"] == "model").any()]
    alone = [
        f"{_rate(floor)} in {title}"
        for title, _, rows in cut
        if not (rows["kind"] == "model").any() and (floor := _floor(_records(rows))) is not None
    ]
    if alone:
        intro = (
            "Without a model to compare"
            if sentences
            else "No model was loaded yet, so this is the floor to beat"
        )
        sentences.append(f"{intro}: the diff solver passes {'; '.join(alone)}.")
    models = runs[runs["kind"] == "model"]
    errors = int(runs["provider_errors"].sum() + runs["harness_errors"].sum())
    answers = int(runs["samples"].sum())
    if errors:
        sentences.append(
            f"{count(errors)} of {count(answers)} samples failed outside the answer (provider or harness); "
            "they are counted apart and not as failures of a model."
        )
    verdicts = int(models["source_verdicts"].sum())
    if verdicts:
        differ = len(disagreements)
        sentences.append(
            f"Replayed here, {count(differ)} of {count(verdicts)} verdicts differ from the source’s own."
            if differ
            else f"Replayed here, all {count(verdicts)} verdicts that a source recorded come out the same."
        )
    return lede(sentences)


def key_numbers(runs: pd.DataFrame) -> Block:
    """The tiles below the findings."""
    models, solvers = runs[runs["kind"] == "model"], runs[runs["kind"] == "solver"]
    suites = runs[["suite_hash", "protocol"]].drop_duplicates()
    scored, samples = int(runs["scored"].sum()), int(runs["samples"].sum())
    provider, harness = int(runs["provider_errors"].sum()), int(runs["harness_errors"].sum())
    total = models["total_tokens"].sum(min_count=1) if len(models) else None
    return tiles(
        [
            Tile(
                "Runs",
                count(len(runs)),
                f"{_number(len(models), 'model')}, {_number(len(solvers), 'solver')}",
            ),
            Tile(
                "Answers scored",
                count(scored),
                f"of {count(samples)} samples, in {_number(len(suites), 'section')}",
            ),
            Tile(
                "Errors, not failures",
                count(provider + harness),
                f"{count(provider)} of the provider, {count(harness)} of the harness",
                warn=bool(provider + harness),
            ),
            Tile("Tokens of models", count(total), _token_parts(models)),
        ]
    )


def _number(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _token_parts(models: pd.DataFrame) -> str:
    if models.empty:
        return "no model was loaded"
    parts = [models[column].sum(min_count=1) for column in ("input_tokens", "output_tokens")]
    return (
        "not reported" if all(missing(p) for p in parts) else f"{count(parts[0])} in, {count(parts[1])} out"
    )


_HASHES: Final = {"vim_sha256", "protocol_fingerprint"}


def comparability(rows: pd.DataFrame, versions: pd.DataFrame) -> Block:
    """A warning that names what differs between the runs of a section; empty where nothing does.

    Settings, prompt and extraction are compared among models only: solvers have none.
    """
    here = part_of(versions, rows)
    models = here[here["kind"] == "model"]
    differing = []
    for frame, column, word in (
        (here, "vim_sha256", "the Vim build"),
        (here, "protocol_fingerprint", "the protocol’s version"),
        (here, "confinement", "the confinement"),
        (models, "prompt_version", "the prompt’s version"),
        (models, "task_version", "the task’s version"),
        (models, "extraction", "the rule that takes keys from an answer"),
        (models, "settings", "the generation settings"),
    ):
        values = {"not known" if missing(v) else str(v) for v in frame[frame["replayed"] > 0][column]}
        if len(values) > 1:
            shown = sorted(plain(v[:12] if column in _HASHES else v, 60) for v in values)
            differing.append(f"{word} ({'; '.join(shown[:3])}{'; …' if len(shown) > 3 else ''})")
    if not differing:
        return Block("")
    return notice(
        f"Not made under the same conditions: these runs differ in {', '.join(differing)}. "
        "Differences between them may come from that."
    )


def section_facts(rows: pd.DataFrame, versions: pd.DataFrame) -> Block:
    """Under which rules a section's numbers hold."""
    here = part_of(versions, rows)
    first = _records(rows)[0]

    def values(column: str, cut: int = 60) -> str:
        known = sorted({plain(str(v)[:cut], cut) for v in here[column] if not missing(v)})
        return ", ".join(known) if known else UNAVAILABLE

    errata = []
    if first["errata"]:
        errata = [
            ("errata", f"{count(first['errata'])} {'counted' if first['errata_counted'] else 'left out'}")
        ]
    return facts(
        [
            ("suite version", plain(first["suite_version"], 24)),
            ("tasks", count(first["tasks_in_suite"])),
            *errata,
            ("rules", values("protocol_fingerprint", 12)),
            ("Vim", values("vim_version")),
            ("confinement", values("confinement")),
        ]
    )


def pass_rates(rows: pd.DataFrame, slug: str, *, top_n: int = 20) -> Picture:
    """Pass rate of every run of a section, models above, solvers below; at most `top_n` models."""
    names = labels(rows)
    every = _drawn(rows)
    models = [row for row in every if row["kind"] == "model"]
    solvers = [row for row in every if row["kind"] == "solver"]
    left_out = len(models) - top_n
    floor = _floor(every)

    def line(row: dict[str, Any]) -> RateRow:
        mark: Mark = "model" if row["kind"] == "model" else "solver"
        second = None
        if floor is not None and row["run_id"] != floor["run_id"] and not missing(row["beats_diff_rate"]):
            second = Span(row["beats_diff_rate"], row["beats_diff_rate_low"], row["beats_diff_rate_high"])
        return RateRow(
            label=names[str(row["run_id"])],
            mark=mark,
            main=_span(row["pass_rate"], row["pass_rate_low"], row["pass_rate_high"]),
            value=percent(row["pass_rate"]) if row["scored"] else "none scored",
            of=_of(row),
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


def _span(rate: object, low: object, high: object) -> Span:
    return Span(*(None if missing(v) else float(v) for v in (rate, low, high)))  # type: ignore[arg-type]


RATE_HELP: Final = "Correct and within the protocol’s rules, over all scored answers; 95 % Wilson interval."


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
            beside=lambda r: f"{_of(r)}, {interval(r['pass_rate_low'], r['pass_rate_high'])}",
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
                f"{_of(r, 'passed_beats_diff', 'beats_diff_n')}, "
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
            "provider_errors",
            "Errors",
            "number",
            count,
            unit="provider, harness",
            help="Failures of the provider and of the replay harness: not scored, and no fault of the model.",
            beside=lambda r: f"harness {count(r['harness_errors'])}",
        ),
    ]
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
    cells = {(str(r["run_id"]), int(r["tier"])): r for r in _records(here)}
    titles = [(f"Tier {tier}", TIERS.get(tier, "")) for tier in found]

    def line(row: dict[str, Any]) -> PanelRow:
        mark: Mark = "model" if row["kind"] == "model" else "solver"
        parts = []
        for tier in found:
            cell = cells.get((str(row["run_id"]), tier))
            parts.append(
                (
                    _span(cell["pass_rate"], cell["pass_rate_low"], cell["pass_rate_high"]),
                    percent(cell["pass_rate"]),
                    _of(cell),
                )
                if cell is not None and cell["scored"]
                else None
            )
        return PanelRow(names[str(row["run_id"])], mark, tuple(parts))

    every = _drawn(rows)
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
    )


def _tier_headline(tiers: pd.DataFrame, rows: pd.DataFrame, names: dict[str, str]) -> str:
    """Where the run of most interest (best model, else diff, else the best solver) does worst."""
    every = _records(ranked(rows))
    floor = _floor(every)
    subject = next(
        (r for r in every if r["kind"] == "model" and r["scored"]), floor or (every[0] if every else None)
    )
    if subject is None:
        return "Nothing was scored"
    name = names[str(subject["run_id"])] if subject is not floor else "The diff solver"
    mine = [r for r in _records(tiers[tiers["run_id"] == subject["run_id"]]) if r["scored"]]
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
        f"{name} does worst in {about.get(low, f'tier {low}')}, {_of(worst)}, "
        f"and best in {about.get(high, f'tier {high}')}, {_of(best)}"
    )


def ending(row: dict[str, Any]) -> dict[str, int]:
    """Samples of one row of `run_by_outcome` by part of `PARTS`."""
    samples, passed = int(row["samples"]), int(row["passed"])
    correct = int(row["correct"])
    outcome = None if missing(row["outcome"]) else str(row["outcome"])
    rest = samples - correct
    key = {
        "finished": "wrong",
        "unfinished": "unfinished",
        "timeout": "timeout",
        "crashed": "stopped",
        "bad_keys": "stopped",
        "blocked": "stopped",
    }.get(outcome or "", "none")
    parts = {"passed": passed, "over_cap": correct - passed, key: rest}
    return {name: n for name, n in parts.items() if n}


def outcome_picture(outcomes: pd.DataFrame, rows: pd.DataFrame, slug: str) -> Picture:
    """How the samples of every run of a section ended."""
    names = labels(rows)
    totals: dict[str, dict[str, int]] = {str(run): {} for run in rows["run_id"]}
    for row in _records(part_of(outcomes, rows)):
        mine = totals[str(row["run_id"])]
        for key, n in ending(row).items():
            mine[key] = mine.get(key, 0) + n
    every = _drawn(rows)
    models = [row for row in every if row["kind"] == "model"]
    groups = [
        (KINDS[kind] if models else "", lines)
        for kind in ("model", "solver")
        if (
            lines := [(names[str(r["run_id"])], totals[str(r["run_id"])]) for r in every if r["kind"] == kind]
        )
    ]
    return picture(
        f"outcomes-{slug}",
        lambda width: shares(width, PARTS, groups),
        title=_outcome_headline(every, totals, names) + ".",
        subtitle="All samples (task and epoch) of each run by how they ended; counts in the bars.",
        alt="How samples ended. "
        + "; ".join(
            f"{label}: "
            + ", ".join(f"{counts[part.key]} {part.label}" for part in PARTS if counts.get(part.key))
            for _, lines in groups
            for label, counts in lines
        )
        + ".",
    )


def _outcome_headline(
    every: Sequence[dict[str, Any]], totals: dict[str, dict[str, int]], names: dict[str, str]
) -> str:
    floor = _floor(every)
    subject = next(
        (r for r in every if r["kind"] == "model" and r["samples"]), floor or (every[0] if every else None)
    )
    if subject is None:
        return "Nothing was replayed"
    name = names[str(subject["run_id"])] if subject is not floor else "the diff solver"
    counts = totals[str(subject["run_id"])]
    failed = {key: n for key, n in counts.items() if key != "passed"}
    if not failed:
        return f"Every answer of {name} passes"
    key = max(failed, key=lambda k: (failed[k], k))
    words = {
        "over_cap": "make the right edit with too many keys",
        "wrong": "end Vim with the wrong buffer",
        "unfinished": "run out of keys before they end Vim",
        "timeout": "meet the time limit",
        "stopped": "crash, break the notation or try what is forbidden",
        "none": "could not be replayed",
    }[key]
    total = sum(failed.values())
    return f"{count(failed[key])} of the {count(total)} answers of {name} that do not pass {words}"


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


def suite_table(suites: pd.DataFrame) -> Table:
    """The suites in the store, from the view `suites_loaded`; one row a version of a suite."""
    return Table(
        "suites",
        "Suites of tasks",
        [
            Column("name", "Suite", "name"),
            Column("version", "Version"),
            Column("suite_hash", "Content hash", "code", show=lambda v: text(v)[:12], unit="sha256"),
            Column("tasks", "Tasks", "number", count),
            Column(
                "with_reference",
                "With reference",
                "number",
                count,
                help="tasks with keys known to solve them",
            ),
            Column("licence", "Licence"),
            Column("origin", "From", show=place),
            Column("revision", "Revision", "code", show=lambda v: "" if missing(v) else text(v)[:12]),
            Column(
                "fetched_utc",
                "Fetched",
                show=lambda v: "" if missing(v) else f"{v:%Y-%m-%d %H:%M}",
                unit="UTC",
            ),
        ],
        suites,
        empty="No suite is in the store.",
    )


def source_table(sources: pd.DataFrame) -> Table:
    """The files that everything was built from; one row a file and use."""
    suites = sources["kind"] == "suite"
    frame = sources.assign(
        tasks=sources["tasks"].where(suites),
        runs=sources["runs"].where(~suites),
        attempts=sources["attempts"].where(~suites),
    )
    return Table(
        "sources",
        "Files",
        [
            Column("source", "File", "name", show=place),
            Column("source_sha256", "Content hash", "code", show=lambda v: text(v)[:12], unit="sha256"),
            Column("tasks", "Tasks", "number", blank),
            Column("runs", "Runs", "number", blank),
            Column("attempts", "Attempts", "number", blank),
        ],
        frame,
        group="kind",
        group_label=lambda kind: {"suite": "Suites of tasks", "runs": "Runs"}.get(str(kind), str(kind)),
        empty="No file was loaded: the tasks are the built-in ones and the answers are those of solvers.",
    )


def version_table(versions: pd.DataFrame, kind: str) -> Table:
    """Everything that must be equal for runs to be compared; one row a run of a kind and Vim build.

    `kind`: model or solver; solvers have no harness, prompt or packages, so these columns are left out.
    """
    frame = versions[versions["kind"] == kind].sort_values(["name", "suite_name", "protocol", "run_id"])
    columns = [
        Column("name", "Run", "name"),
        Column("suite_name", "Suite", beside=lambda r: plain(r["suite_version"], 20)),
        Column("protocol", "Rules", beside=lambda r: _start(r["protocol_fingerprint"])),
        Column("vim_version", "Vim", beside=lambda r: _start(r["vim_sha256"])),
    ]
    if kind == "model":
        columns += [
            Column("task_name", "Harness task", beside=_task_version),
            Column("extraction", "Keys taken by"),
            Column("packages", "Packages", show=_json_line),
        ]
    else:
        columns.append(Column("confinement", "Confined by"))
    columns.append(Column("settings", "Settings", show=_json_line))
    return Table(
        f"versions-{kind}",
        {"model": "Runs of models and what made them", "solver": "Runs of solvers"}.get(kind, kind),
        columns,
        frame,
        empty=f"No {kind} was loaded.",
    )


def _start(digest: object) -> str:
    """The first digits of a hash, enough to tell two apart; '' where there is none."""
    return "" if missing(digest) else str(digest)[:8]


def _task_version(row: dict[str, Any]) -> str:
    parts = (("version", row["task_version"]), ("prompt", row["prompt_version"]))
    return ", ".join(f"{what} {plain(value, 16)}" for what, value in parts if not missing(value))


def _json_line(value: object) -> str:
    """A JSON object as 'name value, name value'."""
    if missing(value) or value in ("", "{}"):
        return UNAVAILABLE
    try:
        found = json.loads(str(value))
    except ValueError:
        return text(value)
    if not isinstance(found, dict):
        return text(value)
    return plain(", ".join(f"{k} {v}" for k, v in found.items() if v is not None), 200) or UNAVAILABLE


def published_sections(published: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    """Cut the published results into what was measured alike: (title, slug, rows)."""
    return [
        (f"{plain(benchmark, 40)}, {plain(track, 60)}", anchor("published", benchmark, track), rows)
        for (benchmark, track), rows in published.groupby(["benchmark", "track"], sort=True)
    ]


def published_picture(published: pd.DataFrame, slug: str) -> Picture:
    """Results that others published, for orientation; hollow marks, since nothing was replayed here."""
    rows = _records(published.sort_values(["passed", "model"], ascending=[False, True]))
    lines = [
        RateRow(
            plain(row["model"], 60),
            "published",
            _span(row["pass_rate"], row["pass_rate_low"], row["pass_rate_high"]),
            percent(row["pass_rate"]),
            _of(row, whole="tasks"),
        )
        for row in rows
    ]
    best = rows[0]
    if len(rows) > 1:
        level = [row for row in rows if row["pass_rate_high"] >= best["pass_rate_low"]]
        title = (
            f"Published for {plain(best['benchmark'], 60)}: {plain(best['model'], 60)} leads with "
            f"{_of(best, whole='tasks')}, but with so few tasks the intervals of {len(level) - 1} others "
            "reach its own."
        )
    else:
        title = (
            f"Published for {plain(best['benchmark'], 60)}: {plain(best['model'], 60)} passes "
            f"{_of(best, whole='tasks')}\u00a0({percent(best['pass_rate'])})."
        )
    return picture(
        f"published-{slug}",
        lambda width: rates(width, [("", lines)], main="published pass rate, not replayed here"),
        title=title,
        subtitle="Pass rate as published; 95 % Wilson interval computed here from the published counts.",
        alt="Published pass rates. "
        + "; ".join(f"{row.label}: {row.of}, {row.value}" for row in lines)
        + ".",
    )


def published_table(published: pd.DataFrame, slug: str) -> Table:
    """The published rows as they are; one row a model."""
    frame = published.sort_values(["passed", "model"], ascending=[False, True])
    return Table(
        f"published-{slug}",
        "Published, not replayed here",
        [
            Column("model", "Model", "name"),
            Column(
                "pass_rate",
                "Passed",
                "number",
                percent,
                unit="% of n, interval",
                beside=lambda r: (
                    f"{_of(r, whole='tasks')}, {interval(r['pass_rate_low'], r['pass_rate_high'])}"
                ),
            ),
            Column("avg_efficiency", "Efficiency", "number", decimal, unit="mean over passes"),
            Column("avg_partial", "Partial", "number", decimal, unit="mean, 0 to 1"),
            Column("seconds", "Time", "number", seconds, unit="whole run"),
        ],
        frame,
        note="Source: "
        + "; ".join(
            f"{plain(source, 200)}, retrieved {pd.Timestamp(retrieved):%Y-%m-%d}"
            for source, retrieved in sorted(set(zip(frame["source"], frame["retrieved"], strict=True)))
        )
        + ".",
    )
