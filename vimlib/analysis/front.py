"""What the front page says: who leads and whether by chance, and what in the store is worth reading first.

A finding is a share or a gap between 0 and 1 that can be computed for any store, with how much it
would change what a reader believes (`weight`). Which of them are shown is decided by weight alone,
at most one a subject, so that nobody chooses what looks good.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from vimlib import store
from vimlib.analysis.compare import paired_sentence
from vimlib.analysis.overview import by_tier

SECTION = ["suite_name", "suite_version", "suite_hash", "protocol", "track"]
"""Columns that make a section: what differs in one of them is never compared."""

FEWEST = 5
"""Samples below which nothing is called a finding."""


@dataclass(frozen=True, slots=True)
class Lead:
    """The best run of a section against the next one, or against the floor."""

    section: tuple[str, ...]
    """Values of `SECTION`."""
    best: str
    """Run id of the model with the highest pass rate."""
    other: str
    """Run id of the next model, or of the `diff` solver where there is only one model; '': neither."""
    said: str | None
    """The paired comparison of their pass rates as a sentence; None: there is nothing to compare with."""


def leads(con: store.Connection, runs: pd.DataFrame) -> list[Lead]:
    """Who leads in each section that has models, held against the next by a paired comparison.

    `runs`: the frame of `overview.overview`. In the order of the sections.
    """
    found = []
    for key, rows in runs.groupby(SECTION, sort=True, dropna=False):
        scored = rows[rows["scored"] > 0].sort_values(
            ["pass_rate", "name", "run_id"], ascending=[False, True, True]
        )
        models = scored[scored["kind"] == "model"]["run_id"].to_list()
        if not models:
            continue
        floor = scored[(scored["kind"] == "solver") & (scored["name"] == "diff")]["run_id"].to_list()
        other = (models[1:2] or floor[:1] or [""])[0]
        said = paired_sentence(con, other, models[0]) if other else None
        found.append(Lead(tuple(str(part) for part in key), models[0], other, said))
    return found


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in the store that is worth reading first."""

    subject: str
    """failure, repair, errors, disagreement, tiers, floor, cap, cost or contamination: at most one finding
    each is shown."""
    weight: float
    """How much it would change what a reader believes, 0 to 1."""
    run_id: str
    facts: Mapping[str, Any]
    """The numbers that it rests on; names as the columns of the views."""


def findings(
    con: store.Connection,
    runs: pd.DataFrame,
    *,
    spent: pd.DataFrame | None = None,
    evidence: pd.DataFrame | None = None,
    most: int = 3,
) -> list[Finding]:
    """The findings about models, the weightiest first, at most one a subject.

    failure: one mode makes a large share of a run's failures. repair: failed answers that a small
    repair turns into passes. errors: samples lost to a provider or harness. disagreement: verdicts
    unlike the source's own. tiers: the gap between a run's best and worst tier. floor: a run that
    passes fewer tasks than the `diff` solver. cap: right edits lost to the key cap. cost: a pass costs
    one run surely more tokens than another of its section. contamination: a line of evidence that a
    model had seen its tasks, which holds after correction for all lines.

    `spent`: the frame of `cost.by_run`; `evidence`: that of `contamination.seen`; without them their
    findings are left out.
    """
    models = runs[(runs["kind"] == "model") & (runs["samples"] >= FEWEST)]
    every = [
        *_failures(con, models),
        *_of_runs(models),
        *_tiers(con, models),
        *_floors(runs, models),
        *_costs(spent),
        *_contaminations(evidence, models),
    ]
    best: dict[str, Finding] = {}
    for one in sorted(every, key=lambda one: (-one.weight, one.subject, one.run_id)):
        best.setdefault(one.subject, one)
    return [one for one in best.values() if one.weight > 0][:most]


def _failures(con: store.Connection, models: pd.DataFrame) -> list[Finding]:
    samples = store.query(con, "attempts_scored", counts=True, scored=True)
    found = []
    for run, rows in samples[samples["run_id"].isin(models["run_id"])].groupby("run_id"):
        failed = rows[~rows["passed"].fillna(False).astype(bool) & rows["failure_mode"].notna()]
        if len(failed) < FEWEST:
            continue
        mode = failed["failure_mode"].value_counts()
        share = float(mode.iloc[0] / len(failed))
        facts = {"mode": str(mode.index[0]), "failures": int(mode.iloc[0]), "failed": len(failed)}
        found.append(Finding("failure", share * len(failed) / len(rows), str(run), facts))
        repaired = failed["repairable_by"].dropna()
        if len(repaired):
            by = repaired.value_counts()
            facts = {
                "repaired": len(repaired),
                "failed": len(failed),
                "repair": str(by.index[0]),
                "by": int(by.iloc[0]),
                "scored": len(rows),
            }
            found.append(Finding("repair", len(repaired) / len(rows), str(run), facts))
    return found


def _of_runs(models: pd.DataFrame) -> list[Finding]:
    found = []
    for row in models.to_dict("records"):
        run, samples = str(row["run_id"]), int(row["samples"])
        lost = int(row["provider_errors"] + row["harness_errors"])
        if lost:
            found.append(Finding("errors", lost / samples, run, {"errors": lost, "samples": samples}))
        if not pd.isna(row["correct_over_cap"]) and row["correct_over_cap"]:
            facts = {"correct_over_cap": int(row["correct_over_cap"]), "correct": int(row["correct"])}
            found.append(Finding("cap", row["correct_over_cap"] / samples, run, facts))
        if row["disagreements"]:
            facts = {"disagreements": int(row["disagreements"]), "verdicts": int(row["source_verdicts"])}
            # A verdict that turns is worth more than a share: it says that a published score is another.
            weight = min(1.0, 0.2 + row["disagreements"] / row["source_verdicts"])
            found.append(Finding("disagreement", weight, run, facts))
    return found


def _tiers(con: store.Connection, models: pd.DataFrame) -> list[Finding]:
    tiers = by_tier(con)
    tiers = tiers[tiers["tier"].notna() & (tiers["scored"] >= FEWEST)]
    found = []
    for run, rows in tiers[tiers["run_id"].isin(models["run_id"])].groupby("run_id"):
        low, high = rows.loc[rows["pass_rate"].idxmin()], rows.loc[rows["pass_rate"].idxmax()]
        # Only a gap that the intervals leave standing.
        gap = float(high["pass_rate_low"] - low["pass_rate_high"])
        if gap > 0:
            facts = {
                "worst": int(low["tier"]),
                "worst_passed": int(low["passed"]),
                "worst_scored": int(low["scored"]),
                "best": int(high["tier"]),
                "best_passed": int(high["passed"]),
                "best_scored": int(high["scored"]),
            }
            found.append(Finding("tiers", gap, str(run), facts))
    return found


def _floors(runs: pd.DataFrame, models: pd.DataFrame) -> list[Finding]:
    found = []
    for _, rows in runs.groupby(SECTION, dropna=False):
        floor = rows[(rows["kind"] == "solver") & (rows["name"] == "diff") & (rows["scored"] > 0)]
        here = models[models["run_id"].isin(rows["run_id"]) & (models["scored"] >= FEWEST)]
        if floor.empty or here.empty:
            continue
        best = here.sort_values(["pass_rate", "run_id"], ascending=[False, True]).iloc[0]
        gap = float(floor["pass_rate"].iloc[0] - best["pass_rate"])
        if gap > 0:
            facts = {
                "passed": int(best["passed"]),
                "scored": int(best["scored"]),
                "floor_passed": int(floor["passed"].iloc[0]),
                "floor_scored": int(floor["scored"].iloc[0]),
            }
            found.append(Finding("floor", gap, str(best["run_id"]), facts))
    return found


def _costs(spent: pd.DataFrame | None) -> list[Finding]:
    if spent is None:
        return []
    known = spent[spent["tokens_per_pass_high"].notna() & (spent["samples"] >= FEWEST)]
    found = []
    for _, rows in known.groupby(SECTION, dropna=False):
        dear, cheap = (rows.loc[rows["tokens_per_pass"].agg(which)] for which in ("idxmax", "idxmin"))
        # Only a difference that the intervals leave standing, as a share of the dearer one.
        apart = float(dear["tokens_per_pass_low"] - cheap["tokens_per_pass_high"])
        if apart > 0:
            facts: dict[str, Any] = {"other": str(cheap["run_id"])}
            for name, row in (("dear", dear), ("cheap", cheap)):
                facts |= {
                    f"{name}_{part}": round(float(row[f"tokens_per_pass{bound}"]))
                    for part, bound in (("tokens", ""), ("low", "_low"), ("high", "_high"))
                }
                facts[f"{name}_attempts"] = int(row["attempts"])
            weight = apart / float(dear["tokens_per_pass"])
            found.append(Finding("cost", weight, str(dear["run_id"]), facts))
    return found


SURE: Final = {"strong": 0.9, "some": 0.5}
"""Weight of a line of evidence by what it amounts to (`contamination.lines.Finding`)."""


def _contaminations(evidence: pd.DataFrame | None, models: pd.DataFrame) -> list[Finding]:
    if evidence is None or evidence.empty:
        return []
    found = []
    for row in evidence[evidence["finding"].astype(str).isin(SURE)].to_dict("records"):
        runs = models[(models["name"] == row["model"]) & (models["protocol"] == row["protocol"])]["run_id"]
        if len(runs):
            facts = {
                "evidence": str(row["evidence"]),
                "finding": str(row["finding"]),
                "n": int(row["n"]),
                **{name: float(row[name]) for name in ("effect", "low", "high")},
                "unit": str(row["unit"]),
            }
            found.append(Finding("contamination", SURE[str(row["finding"])], str(runs.iloc[0]), facts))
    return found
