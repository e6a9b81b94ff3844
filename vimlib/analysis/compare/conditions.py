"""What differs between the two sides besides the one thing that the comparison is about.

A difference in scores may come from anything that differs. So every setting, version and hash of
the two sides is laid beside each other, and only one of them can be what is under study.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

import pandas as pd

from vimlib.records import VimlibError

NOT_KNOWN = "not known"


class UnknownCondition(VimlibError):
    """Nothing that differs goes by this name."""

    exit_code = 2


_PLAIN = (
    ("model", "name"),
    ("prompt", "prompt_version"),
    ("extraction rule", "extraction"),
    ("task", "task_name"),
    ("task version", "task_version"),
    ("turn state", "turn_state"),
    ("Vim", "vim_version"),
    ("confinement", "confinement"),
)
OF_THE_REQUEST: Final = frozenset(
    {"base_url", "attempt_timeout", "timeout", "max_retries", "max_connections"}
)
"""Settings of how a request travels: they do not shape the answer, so they are no condition of a run."""
_OF_SOLVERS = {"name", "vim_version", "confinement"}
"""Conditions that a program without a model has too."""


OF_REPLAYS: Final = frozenset({"Vim", "confinement", "rules"})
"""Conditions of the judging: a side of which nothing was replayed has none, and differs in none."""


def _values(row: dict[str, object], solvers: bool) -> Iterator[tuple[str, str]]:
    for thing, column in _PLAIN:
        if not solvers or column in _OF_SOLVERS:
            yield thing, _shown(row[column])
    for prefix, column in (("setting", "settings"), ("package", "packages")) if not solvers else ():
        for name, value in json.loads(str(row[column])).items():
            if column == "settings" and name in OF_THE_REQUEST:
                continue
            yield f"{prefix} {name}", _shown(value)
    yield "rules", _shown(row["protocol_fingerprint"])[:12]


def _shown(value: object) -> str:
    if isinstance(value, dict | list | bool):
        return json.dumps(value, sort_keys=True, ensure_ascii=False)
    return NOT_KNOWN if value is None or value == "" or pd.isna(value) else str(value)


def conditions(base: pd.DataFrame, candidate: pd.DataFrame, about: str = "") -> pd.DataFrame:
    """Every condition of the two sides, side by side.

    `base`, `candidate`: rows of `run_conditions`. `about`: the condition under study; '': the model where
    that differs, else the only one that does. Grain: one row a condition. Order: those that differ
    first, the one under study before all. Columns: `condition`, `base`, `candidate` (values of all
    runs of the side, '; ' between different ones; 'not known', also for a setting that the source
    does not record), `differs`, `studied` (it is what the comparison is about).

    Where a side is a solver, only what solvers have is compared: they have no prompt and no settings.
    'rules', the fingerprint of the protocol, follows from Vim and confinement among others: it is
    listed where it differs though they do not. Raises UnknownCondition.
    """
    found: dict[str, list[list[str]]] = {}
    solvers = bool((pd.concat([base["kind"], candidate["kind"]]) == "solver").any())
    for side, rows in enumerate((base, candidate)):
        records = [
            dict(_values({str(k): v for k, v in row.items()}, solvers)) for row in rows.to_dict("records")
        ]
        for name in dict.fromkeys(name for record in records for name in record):
            values = sorted({record.get(name, NOT_KNOWN) for record in records})
            found.setdefault(name, [[NOT_KNOWN], [NOT_KNOWN]])[side] = values
    frame = pd.DataFrame(
        [
            {
                "condition": name,
                "base": "; ".join(left),
                "candidate": "; ".join(right),
                "differs": left != right and not (name in OF_REPLAYS and [NOT_KNOWN] in (left, right)),
                "studied": False,
            }
            for name, (left, right) in found.items()
        ]
    )
    by_name = frame.set_index("condition")["differs"]
    if by_name["rules"] and (by_name["Vim"] or by_name["confinement"]):
        frame = frame[frame["condition"] != "rules"]
    differing = frame[frame["differs"]]["condition"].to_list()
    if about and about not in differing:
        listed = ", ".join(differing) or "nothing"
        raise UnknownCondition(f"{about!r} does not differ between the two sides; what differs: {listed}")
    studied = about or ("model" if "model" in differing else differing[0] if len(differing) == 1 else "")
    frame = frame.assign(studied=frame["condition"] == studied)
    return frame.sort_values(["studied", "differs"], ascending=False, kind="stable").reset_index(drop=True)


def context(base: pd.DataFrame, candidate: pd.DataFrame) -> pd.DataFrame:
    """When and where the runs of both sides were made.

    Grain: one row a run, the base's first. Columns: `side` (base or candidate), `run_id`, `name`,
    `created_utc`, `source`, `status`.
    """
    columns = ["run_id", "name", "created_utc", "source", "status"]
    sides = [base[columns].assign(side="base"), candidate[columns].assign(side="candidate")]
    return pd.concat(sides, ignore_index=True)[["side", *columns]]
