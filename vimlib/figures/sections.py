"""What all pages say of runs alike: which may be compared, in which order, and under which names.

Sections are cut by suite version, protocol and track and never ranked across; solvers stand in a
group of their own below the models, since they are a floor and no competitors.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

import pandas as pd

from vimlib.analysis.compare.conditions import OF_THE_REQUEST
from vimlib.figures.blocks import Block, anchor, facts, notice
from vimlib.figures.canvas import (
    plain,
)
from vimlib.figures.charts import (
    Span,
)
from vimlib.figures.tables import (
    UNAVAILABLE,
    count,
    missing,
    percent,
)

GROUP: Final = ["suite_name", "suite_version", "suite_hash", "protocol", "track"]
"""Columns that make a section: what differs in one of them is never compared."""


TRACKS: Final = {"multi": "in several turns", "blind": "without seeing the target"}
"""What the tracks but the plain one are called."""

KINDS: Final = {"model": "Models", "solver": "Solvers (programs, no model)"}


RATE_HELP: Final = "Correct and within the protocol’s rules, over all scored answers; 95 % Wilson interval."


def track_words(track: str) -> str:
    """What follows a suite and protocol: '' in a single turn, else ', in several turns' and the like."""
    return "" if track == "single" else f", {TRACKS.get(track, plain(track, 20))}"


def section_name(suite: str, suite_hash: str, protocol: str, track: str) -> tuple[str, str]:
    """Title and slug of what may be compared.

    The slug stays the same when other suites are added, so that a link to a section keeps working.
    """
    title = f"{plain(suite, 60)} under the {protocol} protocol{track_words(track)}"
    return title, anchor(suite, protocol, *([] if track == "single" else [track]), suite_hash[:6])


def sections(runs: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    """Cut a frame of runs into what may be compared: (title, slug, rows); with models first, then by name."""
    found = []
    for key, rows in runs.groupby(GROUP, sort=True, dropna=False):
        name, _, digest, protocol, track = (str(part) for part in key)
        found.append((*section_name(name, digest, protocol, track), rows))
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

    The provider's path before a model's name is left out where no other run has the same last part.
    Runs of one name are told apart by the first of these that does: what they were asked, also when,
    their source, the end of their id.
    """
    every = records(rows)
    full = {str(row["run_id"]): plain(row["name"], 80) for row in every}
    ends: dict[str, set[str]] = {}
    for name in full.values():
        ends.setdefault(name.rsplit("/", 1)[-1], set()).add(name)
    names = {
        run: end if (end := name.rsplit("/", 1)[-1]) and len(ends[end]) == 1 else name
        for run, name in full.items()
    }
    seen: dict[str, list[dict[str, Any]]] = {}
    for row in every:
        seen.setdefault(names[str(row["run_id"])], []).append(row)
    for name, same in seen.items():
        if len(same) > 1:
            for row, apart in zip(same, _told_apart(same), strict=True):
                names[str(row["run_id"])] = f"{name} · {apart}"
    return names


def _told_apart(rows: Sequence[dict[str, Any]]) -> list[str]:
    """A different word or two for each run of one name."""
    asked = [_asked(row) for row in rows]
    made = [_made(row) for row in rows]
    for words in (
        asked,
        [f"{what}, {when}" if what and when else "" for what, when in zip(asked, made, strict=True)],
        [plain(str(row["source"] or "").rsplit(".", 1)[0], 40) for row in rows],
    ):
        if all(words) and len(set(words)) == len(rows):
            return words
    return [plain(str(row["run_id"])[-8:], 40) for row in rows]


def _asked(row: dict[str, Any]) -> str:
    """Suite, protocol and track in a few words: `seed, bench, in several turns`; '' where not known."""
    if any(missing(row.get(part)) for part in ("suite_name", "protocol", "track")):
        return ""
    return f"{plain(row['suite_name'], 30)}, {row['protocol']}{track_words(row['track'])}"


def _made(row: dict[str, Any]) -> str:
    when = row.get("created_utc")
    return "" if missing(when) else f"{pd.Timestamp(when):%Y-%m-%d %H:%M}"


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame as dictionaries."""
    return [{str(k): v for k, v in row.items()} for row in frame.to_dict("records")]


def drawn(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Ranked rows without solvers that had nothing to answer, as `reference` has without references."""
    return [row for row in records(ranked(rows)) if row["kind"] == "model" or row["scored"]]


def of_n(row: dict[str, Any], part: str = "passed", whole: str = "scored") -> str:
    """How many of how many: 3 of 12, with no-break spaces."""
    return f"{count(row[part])}\u00a0of\u00a0{count(row[whole])}"


def rate_words(row: dict[str, Any]) -> str:
    """Passes of scored answers with their share."""
    return (
        f"{of_n(row)}\u00a0({percent(row['pass_rate'])})" if row["scored"] else "nothing that could be scored"
    )


def floor_of(rows: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The solver to compare models with: `diff`."""
    return next(
        (row for row in rows if row["kind"] == "solver" and row["name"] == "diff" and row["scored"]), None
    )


def span_of(rate: object, low: object, high: object) -> Span:
    """A rate and its interval, as charts take them."""
    return Span(*(None if missing(v) else float(v) for v in (rate, low, high)))  # type: ignore[arg-type]


def number_of(n: int, what: str) -> str:
    """A count with its noun."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def headline(rows: pd.DataFrame) -> str:
    """The finding of a section in one sentence, from its runs."""
    every = records(ranked(rows))
    names = labels(rows)
    models = [row for row in every if row["kind"] == "model" and row["scored"]]
    floor = floor_of(every)
    against = f"the diff solver, no model at all, {rate_words(floor)}" if floor is not None else ""
    if not models:
        if floor is not None:
            return f"The diff solver passes {rate_words(floor)}: the floor that a model has to beat"
        best = next((row for row in every if row["scored"]), None)
        return (
            f"Only solvers here: {names[str(best['run_id'])]} passes {rate_words(best)}"
            if best
            else "Nothing was scored"
        )
    best = models[0]
    name = names[str(best["run_id"])]
    if len(models) == 1:
        return f"{name} passes {rate_words(best)}" + (f"; {against}" if against else "")
    second = models[1]
    other = names[str(second["run_id"])]
    if best["passed"] == second["passed"] and best["scored"] == second["scored"]:
        lead = f"{name} and {other} both pass {rate_words(best)}"
    elif best["pass_rate_low"] > second["pass_rate_high"]:
        lead = f"{name} leads with {rate_words(best)}, clear of {other} with {rate_words(second)}"
    else:
        lead = (
            f"{name} passes {rate_words(best)} and {other} {rate_words(second)}: "
            "their intervals overlap, so this does not settle who is better"
        )
    return lead + (f"; {against}" if against else "")


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
    ):
        values = {"not known" if missing(v) else str(v) for v in frame[frame["replayed"] > 0][column]}
        if len(values) > 1:
            shown = sorted(plain(v[:12] if column in _HASHES else v, 60) for v in values)
            differing.append(f"{word} ({'; '.join(shown[:3])}{'; …' if len(shown) > 3 else ''})")
    if settings := _differing_settings(models[models["replayed"] > 0]["settings"]):
        differing.append(f"the generation settings ({'; '.join(settings)})")
    if not differing:
        return Block("")
    return notice(
        f"Not made under the same conditions: these runs differ in {', '.join(differing)}. "
        "Differences between them may come from that."
    )


def _differing_settings(settings: Iterable[object]) -> list[str]:
    """Each generation setting that is not the same in all runs, with its values."""
    runs = [json.loads(str(one)) for one in settings]
    names = sorted({name for run in runs for name in run} - OF_THE_REQUEST)
    values = {name: sorted({plain(str(run.get(name, "not given")), 24) for run in runs}) for name in names}
    return [f"{name} {' or '.join(of[:3])}" for name, of in values.items() if len(of) > 1]


def section_facts(rows: pd.DataFrame, versions: pd.DataFrame) -> Block:
    """Under which rules a section's numbers hold."""
    here = part_of(versions, rows)
    first = records(rows)[0]

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
