"""How the numbers of this store came about: the rules and formulas that were really used, and their limits.

Everything here is chosen by what is in the store: a formula that no run needed is not told, and a
limit is told with its numbers. Only the words of a rule are fixed; they stand here once.
"""

from __future__ import annotations

import importlib.metadata
import platform
from dataclasses import dataclass
from typing import Final

import pandas as pd

from vimlib import store

RULES: Final = {
    "golf": "VimGolf of inspect_evals, vimgolf_single_turn 2-A: the last non-empty line is the answer; "
    "VimGolf’s key names; fewer keys than the target has characters; the file as saved, formatted, must "
    "equal the formatted target; 10 s.",
    "bench": "vimbench, single turn: the whole answer or its first fenced block; strict key names; "
    "“<Esc>:wq!<CR>” is typed after it; the saved file must equal the target byte for byte; 10 s.",
}
"""The rules of each protocol in a sentence."""

LIBRARIES: Final = (
    "vimlib",
    "duckdb",
    "pandas",
    "numpy",
    "scipy",
    "statsmodels",
    "genai-prices",
    "matplotlib",
)
"""Packages that numbers and pictures come from."""

SMALL: Final = 30
"""Scored samples below which an interval is wide enough to be called a limit."""


@dataclass(frozen=True, slots=True)
class Methods:
    """What was used. Sentences are plain text."""

    protocols: pd.DataFrame
    """One row a protocol and track: `protocol`, `track`, `rules`, `runs`, `suites`, `fingerprints`, `vims`,
    `confinement`; several values joined by a comma."""
    libraries: pd.DataFrame
    """One row a package: `name`, `version`; Python first."""
    formulas: tuple[tuple[str, str], ...]
    """(term, how it is computed) of every number that some run has."""
    limits: tuple[str, ...]
    """What this store cannot show, with the numbers that say so."""


def methods(con: store.Connection, runs: pd.DataFrame) -> Methods:
    """What was used for a store. `runs`: the frame of `overview.overview`."""
    return Methods(_protocols(runs), _libraries(), tuple(_formulas(runs)), tuple(_limits(con, runs)))


def _joined(values: pd.Series, length: int = 60) -> str | None:
    known = sorted({str(value)[:length] for value in values.dropna()})
    return ", ".join(known) if known else None


def _protocols(runs: pd.DataFrame) -> pd.DataFrame:
    rows = [
        {
            "protocol": protocol,
            "track": track,
            "rules": RULES.get(str(protocol), ""),
            "runs": len(part),
            "suites": _joined(part["suite_name"]),
            "fingerprints": _joined(part["protocol_fingerprint"], 12),
            "vims": _joined(part["vim_version"]),
            "confinement": _joined(part["confinement"]),
        }
        for (protocol, track), part in runs.groupby(["protocol", "track"], sort=True)
    ]
    columns = ["protocol", "track", "rules", "runs", "suites", "fingerprints", "vims", "confinement"]
    return pd.DataFrame(rows, columns=columns)


def _libraries() -> pd.DataFrame:
    rows = [("Python", platform.python_version())]
    for name in LIBRARIES:
        try:
            rows.append((name, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            continue
    return pd.DataFrame(rows, columns=["name", "version"])


def _formulas(runs: pd.DataFrame) -> list[tuple[str, str]]:
    golf = bool((runs["protocol"] == "golf").any())
    found = [
        (
            "Sample",
            "One task in one epoch. Where a sample was tried again, the last finished attempt counts.",
        ),
        (
            "Correct, passed",
            "Correct: the file that Vim leaves is the target. Passed: correct and within the rules"
            + (
                "; under golf an answer must have fewer keys than the target has characters." if golf else "."
            ),
        ),
        (
            "Pass rate",
            "Passed samples divided by scored ones. Failures of the provider or of the harness are not "
            "scored; they are counted apart.",
        ),
        (
            "Interval",
            "Wilson score interval, 95 % (Wilson 1927)."
            + (
                " With several epochs, n is divided by the design effect of answers clustered by task "
                "(Dean and Pagano 2015)."
                if len(runs) and int(runs["epochs"].max()) > 1
                else ""
            ),
        ),
        (
            "Paired comparison",
            "Runs on the same tasks are compared task by task: exact McNemar test for passes, paired "
            "bootstrap for means; several tests at once are corrected (Holm). Overlapping intervals do not "
            "prove that two runs are equal.",
        ),
    ]
    if int(runs["beats_diff_n"].sum()):
        found.append(
            (
                "Beating diff",
                "The diff solver computes the edit from start to target and types it, without any model. A "
                "pass with fewer keys than it needs beats it; passes where it has no solution are left out.",
            )
        )
    if int(runs["efficiency_n"].sum()):
        found.append(
            (
                "Efficiency",
                "min(1, reference keys / answer keys), averaged over passes of tasks that have a reference.",
            )
        )
    if int(runs["partial_n"].sum()):
        found.append(
            (
                "Partial",
                "difflib.SequenceMatcher ratio of the final buffer to the target: 1 on a pass, 0 where "
                "nothing was replayed; averaged over scored samples.",
            )
        )
    if int(runs["total_tokens_n"].sum()):
        found.append(
            (
                "Tokens",
                "Input includes cached tokens, output includes reasoning, however a source counts. Sums are "
                "over all attempts, failed ones and retries included. What was not reported is unavailable, "
                "not 0.",
            )
        )
    found.append(
        (
            "Verdict",
            "It rests on the file alone. What Vim says of itself is evidence for diagnosis, never for "
            "passing. Each replay starts in an empty home, so that no answer leaves anything for the next.",
        )
    )
    return found


def _limits(con: store.Connection, runs: pd.DataFrame) -> list[str]:
    models = runs[runs["kind"] == "model"]
    found = []
    if models.empty:
        found.append("No model was loaded: all numbers are of solvers, the floor to compare models with.")
    small = models[(models["scored"] < SMALL) & (models["scored"] > 0)]
    if len(small):
        found.append(
            f"{len(small)} of {len(models)} runs of models have fewer than {SMALL} scored samples: their "
            "intervals are wide, and only large differences could be seen."
        )
    suites = runs.drop_duplicates("suite_hash")
    errata = suites[suites["errata"] > 0]
    if len(errata):
        counted = bool(errata["errata_counted"].iloc[0])
        found.append(
            f"{int(errata['errata'].sum())} tasks cannot be judged fairly (errata) and are "
            f"{'counted all the same' if counted else 'left out'}."
        )
    lost = int(models["provider_errors"].sum() + models["unscored"].sum())
    if lost:
        found.append(
            f"{lost} samples of models have no verdict because provider or harness failed. Where that "
            "hits hard tasks more often, pass rates are too high; the leaderboard shows both readings."
        )
    keyless = int(models["not_replayable"].sum())
    if keyless:
        found.append(f"{keyless} samples came with a verdict and no keys: they are in no rate.")
    builds = {version for joined in runs["vim_version"].dropna() for version in joined.split(", ")}
    if len(builds) > 1:
        found.append(f"Replayed with several versions of Vim ({', '.join(sorted(builds))}).")
    confined = {one for joined in runs["confinement"].dropna() for one in joined.split(", ")}
    if "none" in confined:
        found.append("Some replays ran without confinement.")
    silent = int((models["total_tokens_n"] < models["attempts"]).sum())
    if silent:
        found.append(f"{silent} of {len(models)} runs of models do not report the tokens of every attempt.")
    undated = len(store.query(con, "suites_loaded")) and int(models["created_utc"].isna().sum())
    if undated:
        found.append(f"{undated} runs of models carry no date.")
    found.append(
        "A pass says that these keys work on this text in this Vim. It does not say that a model would "
        "manage the next edit, nor whether it had seen the task before; the page on contamination has what "
        "evidence there is."
    )
    return found
