"""Why answers fail, asked of the store: modes by run and by task, format against skill, what to see.

The classification itself is stored with each failed attempt; here it is counted. A rate is always over
scored samples, so that failures of a provider, which have a row and a mode of their own, are in no
denominator of a model. Solvers are in the same frames as models and carry their `kind`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations
from typing import Any, Final

import pandas as pd

from vimlib import store
from vimlib.analysis.overview import overview
from vimlib.analysis.stats import wilson
from vimlib.records import FailureMode, Repair

MODES: Final = tuple(str(mode) for mode in FailureMode)
"""All modes, in the order of the rules."""

LENGTHS: Final = ((0, 100), (100, 300), (300, 1000), (1000, 3000), (3000, None))
"""Bounds of the groups of task lengths, in characters of the target; None: no upper bound."""

ANSWERS: Final = ((0, 10), (10, 30), (30, 100), (100, 300), (300, None))
"""Bounds of the groups of answer lengths, in keys (golf) or bytes (bench)."""

BY: Final = ("tier", "category", "task_length", "answer_length")
"""What the modes can be counted by."""

_RUN: Final = ["run_id", "kind", "name", "suite_name", "suite_version", "suite_hash", "protocol"]


def chosen_runs(
    con: store.Connection, runs: Sequence[str] = (), suite: str = "", protocol: str = ""
) -> pd.DataFrame:
    """The runs that a question is about.

    `runs`: run ids or names, all where empty; `suite`: name of a suite, `protocol`: golf or bench, any
    where empty. Grain, order and columns: `overview.overview`.
    """
    every = overview(con)
    keep = pd.Series(True, index=every.index)
    if runs:
        keep &= every["run_id"].isin(list(runs)) | every["name"].isin(list(runs))
    if suite:
        keep &= every["suite_name"] == suite
    if protocol:
        keep &= every["protocol"] == protocol
    return every[keep].reset_index(drop=True)


def failed_samples(con: store.Connection, runs: pd.DataFrame) -> pd.DataFrame:
    """Every failed sample of the runs.

    Grain: one row a failed sample. Order: the view's. Columns: those of the view
    `failures_classified`, with `evidence` as a dict, and two more: `task_length` and `answer_length`,
    the group of `LENGTHS` and `ANSWERS` as text, such as '100 to 299' (NA: not counted).
    """
    frame = store.query(con, "failures_classified", run_id=list(runs["run_id"]))
    frame["evidence"] = [json.loads(text) for text in frame["evidence"]]
    frame["task_length"] = [_group(value, LENGTHS) for value in frame["target_length"]]
    frame["answer_length"] = [_group(value, ANSWERS) for value in frame["keystrokes"]]
    return frame


def _group(value: Any, bounds: Sequence[tuple[int, int | None]]) -> str | None:
    if pd.isna(value):
        return None
    return next(_bounds(low, high) for low, high in bounds if high is None or value < high)


def _bounds(low: int, high: int | None) -> str:
    return f"{low:,} and more" if high is None else f"{low:,} to {high - 1:,}"


def modes_by_run(runs: pd.DataFrame, failed: pd.DataFrame) -> pd.DataFrame:
    """How often each run failed in each mode.

    Grain: one row a run and mode that occurs in it. Order: that of `runs`, then of the rules. Columns:
    those that name the run, `failure_mode`, `samples`, `scored` (the run's), and `share`, `share_low`,
    `share_high` of scored samples (0 to 1, 95 % Wilson interval; NaN for provider errors and where
    nothing was scored).
    """
    counts = failed.groupby(["run_id", "failure_mode"], sort=False).size()
    rows = []
    for run in _records(runs):
        for mode in MODES:
            samples = int(counts.get((run["run_id"], mode), 0))
            if not samples:
                continue
            scored = int(run["scored"])
            interval = wilson(samples, scored) if scored and mode != FailureMode.PROVIDER_ERROR else None
            rows.append(
                {name: run[name] for name in _RUN}
                | {"failure_mode": mode, "samples": samples, "scored": scored}
                | {
                    "share": interval.rate if interval else None,
                    "share_low": interval.low if interval else None,
                    "share_high": interval.high if interval else None,
                }
            )
    columns = [*_RUN, "failure_mode", "samples", "scored", "share", "share_low", "share_high"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.astype(dict.fromkeys(("share", "share_low", "share_high"), "float64"))


def modes_by(con: store.Connection, runs: pd.DataFrame, failed: pd.DataFrame, by: str) -> pd.DataFrame:
    """How models' answers failed, by a property of the task or of the answer.

    Grain: one row a value of `by` (one of `BY`) over all models of `runs`. Order: as the property goes,
    unknown last. Columns: `value` (text), `scored`, `passed`, then a column of samples for each mode.
    """
    if by not in BY:
        raise ValueError(f"by is {by!r}, expected one of {', '.join(BY)}")
    models = list(runs.loc[runs["kind"] == "model", "run_id"])
    samples = store.query(con, "attempts_scored", run_id=models, scored=True)
    samples["task_length"] = [_group(value, LENGTHS) for value in samples["target_length"]]
    samples["answer_length"] = [_group(value, ANSWERS) for value in samples["keystrokes"]]
    rows = []
    for value in _values(samples[by], by):
        same = samples[by].isna() if value is None else samples[by] == value
        here = samples[same]
        row: dict[str, Any] = {
            "value": "not known" if value is None else str(value),
            "scored": len(here),
            "passed": int(here["passed"].sum()),
        }
        counted = here["failure_mode"].value_counts()
        rows.append(row | {mode: int(counted.get(mode, 0)) for mode in MODES})
    return pd.DataFrame(rows, columns=["value", "scored", "passed", *MODES])


def _values(column: pd.Series, by: str) -> list[Any]:
    found = list(column.dropna().unique())
    lengths = {"task_length": LENGTHS, "answer_length": ANSWERS}
    if by in lengths:
        found = [text for low, high in lengths[by] if (text := _bounds(low, high)) in set(found)]
    else:
        found.sort()
    return [*found, *([None] if column.isna().any() else [])]


VIM_ERRORS: Final = {
    16: "an address range that goes backwards or past the end",
    20: "a mark that was never set",
    21: "the buffer may not be changed",
    23: "no alternate file",
    29: "nothing was inserted yet that could be inserted again",
    32: "the buffer has no file name",
    33: "no substitution yet that could be repeated",
    35: "no pattern yet that could be searched for again",
    37: "unsaved changes forbid leaving the buffer",
    45: "the file is read-only",
    78: "a mark that cannot be",
    114: "a string in Vim script that does not end",
    116: "wrong arguments for a function",
    117: "a function that Vim does not have",
    121: "a variable that was never set",
    132: "functions that call each other too deeply",
    145: "a command that restricted mode forbids",
    146: "a letter or digit as a separator of a pattern",
    162: "unsaved changes in another buffer",
    173: "more files to edit",
    212: "a file that cannot be written",
    223: "a mapping that calls itself",
    348: "nothing under the cursor to search for",
    349: "nothing under the cursor",
    353: "an empty register",
    384: "the search met the top",
    385: "the search met the bottom",
    464: "an abbreviation of several commands",
    471: "a command that lacks its argument",
    474: "an argument that the command does not take",
    475: "an argument that the command does not take",
    476: "a command that is not valid here",
    477: "a command that takes no !",
    481: "a command that takes no range",
    484: "a file that cannot be opened",
    485: "a file that cannot be read",
    486: "a pattern that is not in the buffer",
    488: "characters after the end of a command",
    490: "no fold here",
    492: "not a command of the editor",
    493: "a range that goes backwards",
    518: "an option that Vim does not have",
    523: "not allowed here",
    565: "text locked while an expression is worked out",
    663: "at the end of the list of changes",
    682: "a pattern or separator that is not valid",
    716: "a key that the dictionary lacks",
    749: "an empty buffer",
    981: "a command that restricted mode forbids",
}
"""What Vim's numbers of errors mean, as far as answers have met them."""


def vim_errors(failed: pd.DataFrame) -> pd.DataFrame:
    """The errors that Vim reported in failed samples of models, whatever their mode.

    Grain: one row an error number; NA: an error without one. Order: samples, most first, then number.
    Columns: `number`, `meaning` ('' where this project has no words for it), `samples`, `primary` (of
    them, those whose mode is vim_error), `runs`, `message` (the most frequent, as Vim said it).
    """
    models = failed[(failed["kind"] == "model") & failed["first_error"].notna()]
    rows = []
    for number, here in models.groupby("first_error_number", dropna=False, sort=False):
        known = None if pd.isna(number) else int(number)
        rows.append(
            {
                "number": known,
                "meaning": VIM_ERRORS.get(known, "") if known is not None else "",
                "samples": len(here),
                "primary": int((here["failure_mode"] == FailureMode.VIM_ERROR).sum()),
                "runs": here["run_id"].nunique(),
                "message": here["first_error"].value_counts().sort_index(kind="stable").idxmax(),
            }
        )
    frame = pd.DataFrame(rows, columns=["number", "meaning", "samples", "primary", "runs", "message"])
    frame = frame.astype({"number": "Int64"})
    return frame.sort_values(["samples", "number"], ascending=[False, True]).reset_index(drop=True)


def mode_changes(con: store.Connection, runs: pd.DataFrame) -> pd.DataFrame:
    """How the modes of a task change from one run to another, over models of the same suite and protocol.

    Grain: one row a pair of runs and of outcomes ('passed' or a mode) that differ. Order: that of the
    runs, then samples, most first. Columns: `run_id`, `name`, `other_run_id`, `other_name`, `before`,
    `after`, `samples` ((task, epoch) pairs), `shared` (pairs that both runs have a verdict on).
    """
    models = runs[runs["kind"] == "model"]
    samples = store.query(con, "attempts_scored", run_id=list(models["run_id"]), scored=True)
    samples["became"] = samples["failure_mode"].where(~samples["passed"].fillna(False).astype(bool), "passed")
    rows: list[dict[str, Any]] = []
    for _, same in models.groupby(["suite_hash", "protocol"], sort=False):
        for one, other in combinations(_records(same), 2):
            both = samples[samples["run_id"] == one["run_id"]].merge(
                samples[samples["run_id"] == other["run_id"]], on=["task_id", "epoch"]
            )
            differ = both[both["became_x"] != both["became_y"]]
            counted = (
                differ.groupby(["became_x", "became_y"]).size().sort_values(ascending=False, kind="stable")
            )
            rows += [
                {
                    "run_id": one["run_id"],
                    "name": one["name"],
                    "other_run_id": other["run_id"],
                    "other_name": other["name"],
                    "before": before,
                    "after": after,
                    "samples": int(number),
                    "shared": len(both),
                }
                for (before, after), number in counted.items()
            ]
    columns = ["run_id", "name", "other_run_id", "other_name", "before", "after", "samples", "shared"]
    return pd.DataFrame(rows, columns=columns)


FORMAT: Final = tuple(str(repair) for repair in Repair if repair not in (Repair.SAVE_AND_QUIT, Repair.ESCAPE))
"""Repairs of how an answer was written down; the other two mend how it was ended."""


def format_or_skill(runs: pd.DataFrame, failed: pd.DataFrame) -> pd.DataFrame:
    """How much of each run's score is format and how much is skill.

    Grain: one row a run. Order: that of `runs`. Columns: those that name the run, `scored`, `passed`,
    `format` (failed samples that a repair of how they are written makes pass), `ending` (that a save or
    an <Esc> makes pass), `skill` (all other failures), and `pass_rate_repaired` (passed, format and
    ending over scored; NaN: nothing scored).
    """
    rows = []
    for run in _records(runs):
        here = failed[failed["run_id"] == run["run_id"]]
        here = here[here["failure_mode"] != FailureMode.PROVIDER_ERROR]
        written = int(here["repairable_by"].isin(FORMAT).sum())
        ended = int(here["repairable_by"].notna().sum()) - written
        scored, passed = int(run["scored"]), int(run["passed"])
        rows.append(
            {name: run[name] for name in _RUN}
            | {
                "scored": scored,
                "passed": passed,
                "format": written,
                "ending": ended,
                "skill": scored - passed - written - ended,
                "pass_rate_repaired": (passed + written + ended) / scored if scored else float("nan"),
            }
        )
    columns = [*_RUN, "scored", "passed", "format", "ending", "skill", "pass_rate_repaired"]
    return pd.DataFrame(rows, columns=columns)


def repairs_by_run(runs: pd.DataFrame, failed: pd.DataFrame) -> pd.DataFrame:
    """How many failures of each run each repair mends.

    Grain: one row a run and repair that mends something. Order: that of `runs`, then cheapest first.
    Columns: those that name the run, `repairable_by`, `samples`.
    """
    counts = failed.groupby(["run_id", "repairable_by"], sort=False).size()
    rows = [
        {name: run[name] for name in _RUN} | {"repairable_by": str(repair), "samples": int(counts[key])}
        for run in _records(runs)
        for repair in Repair
        if (key := (run["run_id"], str(repair))) in counts.index
    ]
    return pd.DataFrame(rows, columns=[*_RUN, "repairable_by", "samples"])


def tasks(con: store.Connection, runs: pd.DataFrame) -> pd.DataFrame:
    """How models fared on each task.

    Grain: one row a task, suite version and protocol with a verdict on a model. Order: suite, protocol,
    the suite's task order. Columns: `suite_name`, `suite_hash`, `protocol`, `task_id`, `title`, `tier`,
    `models` (runs with a verdict), `scored`, `passed`, `pass_rate` (0 to 1), `best_partial` (the
    likeness that the best failed answer reached, 0 to 1; NaN: none failed), `commonest` (the mode most
    failures have; NA: none failed), `divides`: 1 where half of the samples pass, 0 where all or none do.
    """
    models = list(runs.loc[runs["kind"] == "model", "run_id"])
    samples = store.query(con, "attempts_scored", run_id=models, scored=True)
    rows = []
    keys = ["suite_name", "suite_hash", "protocol", "place", "task_id"]
    for key, here in samples.groupby(keys, sort=True):
        failed = here[~here["passed"].astype(bool)]
        rate = float(here["passed"].mean())
        modes = failed["failure_mode"].value_counts()
        rows.append(
            dict(zip(keys, key, strict=True))
            | {
                "title": here["title"].iloc[0],
                "tier": here["tier"].iloc[0],
                "models": here["run_id"].nunique(),
                "scored": len(here),
                "passed": int(here["passed"].sum()),
                "pass_rate": rate,
                "best_partial": float(failed["partial"].max()) if len(failed) else float("nan"),
                "commonest": modes.idxmax() if len(modes) else None,
                "divides": 1 - abs(2 * rate - 1),
            }
        )
    columns = [*keys, "title", "tier", "models", "scored", "passed", "pass_rate", "best_partial", "commonest"]
    return pd.DataFrame(rows, columns=[*columns, "divides"]).drop(columns="place")


def hardest(every: pd.DataFrame, top_n: int) -> pd.DataFrame:
    """Of `tasks`, those that no model passes, the ones that most models tried first, at most `top_n`."""
    none = every[every["passed"] == 0]
    return none.sort_values(["models", "best_partial"], ascending=[False, True], kind="stable").head(top_n)


def dividing(every: pd.DataFrame, top_n: int) -> pd.DataFrame:
    """Of `tasks`, those on which models differ most: half of the samples pass; at most `top_n`."""
    some = every[(every["divides"] > 0) & (every["models"] > 1)]
    return some.sort_values(["divides", "models"], ascending=False, kind="stable").head(top_n)


def telling(failed: pd.DataFrame, top_n: int) -> pd.DataFrame:
    """The most telling failures of each mode, for a reader to look at.

    At most `top_n` a mode, of models where there are any, no answer twice, and runs and tasks taken in
    turn as far as they go. First those that a repair mends, then those nearest to the target, then
    short answers. Grain and columns: those of `failed`. Order: modes as the rules go.
    """
    pool = failed[failed["kind"] == "model"] if (failed["kind"] == "model").any() else failed
    pool = pool.assign(
        _mended=pool["repairable_by"].notna(),
        _near=[float(one.get("likeness_end") or 0) for one in pool["evidence"]],
        _long=[len(keys) if isinstance(keys, str) else 0 for keys in pool["keys"]],
    )
    pool = pool.sort_values(["_mended", "_near", "_long"], ascending=[False, False, True], kind="stable")
    pool = pool.assign(_answer=pool["keys"].fillna("") + "\0" + pool["protocol"])
    pool = pool.drop_duplicates(["failure_mode", "_answer"])
    # The best of each run before the second best of any.
    pool = pool.assign(_turn=pool.groupby(["failure_mode", "run_id"]).cumcount())
    pool = pool.assign(_mode=pool["failure_mode"].map({mode: place for place, mode in enumerate(MODES)}))
    pool = pool.sort_values(["_mode", "_turn"], kind="stable").groupby("_mode", sort=False).head(top_n)
    return pool[list(failed.columns)].reset_index(drop=True)


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(key): value for key, value in row.items()} for row in frame.to_dict("records")]
