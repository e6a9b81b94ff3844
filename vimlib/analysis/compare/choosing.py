"""Which runs are meant: by id, by its beginning, by model, or the latest.

Only runs on the same suite version and protocol can be compared, and that is used to
understand a name: a solver has a run on every suite, and `diff` beside a model's run can mean
only the one on the same suite. Where a name still means several runs, they are listed.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from vimlib import store
from vimlib.records import VimlibError

LATEST = "latest"
"""The word for the latest model run that can be compared with the other side."""

_SHOWN = 6
"""Candidates listed in a message."""


class UnknownRun(VimlibError):
    """No run of the store is meant by this name."""

    exit_code = 2


class AmbiguousRun(VimlibError):
    """A name means several runs."""

    exit_code = 2


class NotComparable(VimlibError):
    """The runs cannot be compared: another suite, another protocol, or the same run twice."""

    exit_code = 2


class NothingToCompare(VimlibError):
    """The store holds no two runs on the same suite and protocol."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Chosen:
    """The two sides of a comparison."""

    base: tuple[str, ...]
    """Run ids, in the order named."""
    candidate: tuple[str, ...]
    why: str = ""
    """How they came to be chosen; '' where both sides were named."""


SECTION = ["suite_hash", "protocol", "track"]
"""Columns in which runs must be equal to be compared at all."""


def choose(
    con: store.Connection, base: str = "", candidate: str = "", *, suite: str = "", protocol: str = ""
) -> Chosen:
    """The runs that two names mean, together.

    A name is a run's id, the beginning of one that no other id has, a model's or solver's name (also
    without what stands before its last '/'), the name of the run's source file, or `latest`; several with
    commas between them make a group. '' is `latest`, or where both are '' the pair that says most:
    the two latest model runs on the same suite and protocol; else the only model run against `diff`; else
    the solvers `retype` and `diff`. `suite` (name) and `protocol` narrow the search.

    Raises UnknownRun, AmbiguousRun, NotComparable, NothingToCompare.
    """
    runs = store.query(con, "run_conditions")
    if suite:
        runs = runs[runs["suite_name"] == suite]
    if protocol:
        runs = runs[runs["protocol"] == protocol]
    if runs.empty:
        raise NothingToCompare("there are no runs to compare here; load some with `vimlib load`")
    if not base and not candidate:
        return _most_telling(runs)
    sides = [_parts(base), _parts(candidate)]
    meant = {part: _meant(part, runs) for side in sides for part in side}
    every = [{run for part in side for run in meant[part]} for side in sides]
    if sides[0] == sides[1] or (LATEST not in meant and every[0] == every[1]):
        raise NotComparable(
            f"{base or LATEST!r} and {candidate or LATEST!r} are the same: there is nothing to compare"
        )

    found: list[tuple[pd.Timestamp, pd.DataFrame, list[dict[str, list[str]]]]] = []
    for _, rows in runs.groupby(SECTION, sort=True, dropna=False):
        here = set(rows["run_id"])
        options = [{part: [run for run in meant[part] if run in here] for part in side} for side in sides]
        newest = pd.Timestamp.min
        for side, other in ((0, 1), (1, 0)):
            if LATEST in options[side]:
                taken = {run for runs_ in options[other].values() for run in runs_}
                left = _latest_models(rows[~rows["run_id"].isin(taken)])
                options[side][LATEST] = left["run_id"].to_list()[:1]
                if len(left) and not pd.isna(left["created_utc"].iloc[0]):
                    newest = max(newest, left["created_utc"].iloc[0])
        if all(ids for side in options for ids in side.values()):
            found.append((newest, rows, options))
    if not found:
        raise NotComparable(_nothing_in_common(base or LATEST, candidate or LATEST, every, runs))
    if len(found) > 1:
        if LATEST not in meant:
            where = "; ".join(_section_name(rows) for _, rows, _ in found)
            raise AmbiguousRun(
                f"{base!r} and {candidate!r} both answered {where}; name the runs by their ids,"
                " or narrow by suite and protocol"
            )
        found.sort(key=lambda one: one[0], reverse=True)
    _, rows, options = found[0]
    for named in options:
        for part, ids in named.items():
            if len(ids) > 1:
                raise AmbiguousRun(
                    f"{part!r} means {len(ids)} runs: {_listed(rows[rows['run_id'].isin(ids)])};"
                    " name one by its id, or all of them with commas between"
                )
    base_ids, candidate_ids = (tuple(ids[0] for ids in side.values()) for side in options)
    if both := [run for run in base_ids if run in candidate_ids]:
        raise NotComparable(f"{both[0]} is on both sides: there is nothing to compare")
    return Chosen(base_ids, candidate_ids)


def every_run(con: store.Connection, names: Sequence[str] = ()) -> list[str]:
    """The ids of all runs that these names can mean, without names of all runs; in the store's order.

    Raises UnknownRun, and NothingToCompare where there are no runs.
    """
    runs = store.query(con, "run_conditions")
    if runs.empty:
        raise NothingToCompare("there are no runs here; load some with `vimlib load`")
    wanted = {run for name in names for run in _meant(name, runs)} if names else set(runs["run_id"])
    return [run for run in runs["run_id"] if run in wanted]


def _parts(text: str) -> list[str]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    return list(dict.fromkeys(parts)) or [LATEST]


def _meant(part: str, runs: pd.DataFrame) -> list[str]:
    """The runs that a name can mean, in any section."""
    if part == LATEST:
        return []
    ids = runs["run_id"].to_list()
    if part in ids:
        return [part]
    names = runs["name"]
    named = runs[
        (names == part)
        | (names.str.rsplit("/", n=1).str[-1] == part)
        | (runs["source"] == part)
        | (runs["source"].str.rsplit(".", n=1).str[0] == part)
    ]
    if len(named):
        return list(named["run_id"])
    begins = [run for run in ids if run.startswith(part) or run.split(":", 1)[-1].startswith(part)]
    if begins:
        return begins
    known = sorted({*ids, *names, *names.str.rsplit("/", n=1).str[-1]})
    close = difflib.get_close_matches(part, known, n=_SHOWN, cutoff=0.4) or known[:_SHOWN]
    raise UnknownRun(
        f"no run is called {part!r}; expected an id, the beginning of one, a model's name or 'latest',"
        f" for instance {', '.join(close)}"
    )


def _latest_models(rows: pd.DataFrame) -> pd.DataFrame:
    """Model runs with something to compare, latest first; of unknown date last, then by id."""
    models = rows[(rows["kind"] == "model") & (rows["verdicts"] > 0)]
    return models.sort_values(["created_utc", "run_id"], ascending=[False, True], na_position="last")


def _most_telling(runs: pd.DataFrame) -> Chosen:
    sections = [rows for _, rows in runs.groupby(SECTION, sort=True, dropna=False)]
    models = [(latest, rows) for rows in sections if len(latest := _latest_models(rows))]
    # The latest first; of unknown date last.
    models.sort(key=lambda one: _age(one[0]["created_utc"].iloc[0]))
    for latest, rows in models:
        if len(latest) > 1:
            candidate, base = latest["run_id"].iloc[0], latest["run_id"].iloc[1]
            return Chosen((base,), (candidate,), f"the two latest model runs on {_section_name(rows)}")
    for latest, rows in models:
        floor = rows[(rows["kind"] == "solver") & (rows["name"] == "diff")]
        if len(floor):
            return Chosen(
                (floor["run_id"].iloc[0],),
                (latest["run_id"].iloc[0],),
                f"the only model run on {_section_name(rows)}, against the diff solver, which is no model",
            )
    for rows in sections[::-1]:
        pair = [rows[rows["name"] == name]["run_id"].to_list() for name in ("retype", "diff")]
        if all(pair):
            return Chosen(
                (pair[0][0],),
                (pair[1][0],),
                f"no model run is loaded, so two solvers on {_section_name(rows)}",
            )
    raise NothingToCompare("no two runs here answered the same suite under the same protocol")


def _age(created: object) -> float:
    return float("inf") if pd.isna(created) else -pd.Timestamp(created).timestamp()


def _section_name(rows: pd.DataFrame) -> str:
    first = rows.iloc[0]
    track = "" if first["track"] == "single" else f", {first['track']} track"
    return f"{first['suite_name']} {str(first['suite_version'])[:12]} under {first['protocol']}{track}"


def _listed(rows: pd.DataFrame) -> str:
    shown = [
        f"{row['run_id']} ({_day(row['created_utc'])}{row['source'] or row['name']},"
        f" {_section_name(rows.loc[[place]])})"
        for place, row in rows.head(_SHOWN).iterrows()
    ]
    return "; ".join(shown) + ("; …" if len(rows) > _SHOWN else "")


def _day(created: object) -> str:
    return "" if pd.isna(created) else f"{pd.Timestamp(created):%Y-%m-%d %H:%M}, "


def _nothing_in_common(base: str, candidate: str, every: Sequence[set[str]], runs: pd.DataFrame) -> str:
    """Why no section has runs of both sides."""
    said = []
    for name, ids in ((base, every[0]), (candidate, every[1])):
        sections = runs[runs["run_id"].isin(ids)].groupby(SECTION, dropna=False)
        where = "; ".join(_section_name(rows) for _, rows in sections)
        said.append(f"{name!r} answered {where}" if where else f"for {name!r} there is no other model run")
    return (
        f"{', '.join(said)}: only runs on the same suite version under the same protocol and track"
        " can be compared"
    )
