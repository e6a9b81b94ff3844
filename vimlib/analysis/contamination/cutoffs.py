"""When models stopped learning: from the user's table, else from what Inspect knows, else not known."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping

import pandas as pd

from vimlib.records import VimlibError


class BadCutoff(VimlibError):
    """A training cutoff of the user's table is no date."""

    exit_code = 2


def cutoffs(names: Iterable[str], given: Mapping[str, str | datetime.date] | None = None) -> pd.DataFrame:
    """The training cutoff of each model.

    `given`: the user's table, by name as the runs have it, dates as YYYY-MM-DD; it goes before
    what Inspect says (`get_model_info(...).knowledge_cutoff_date`).

    Grain: one row a name. Order: as given. Columns: `name`, `cutoff` (date; None: not known), `source`
    (`given`, `inspect_ai` or `not known`). Raises BadCutoff.
    """
    table = {name: _date(name, day) for name, day in (given or {}).items()}
    rows = []
    for name in dict.fromkeys(names):
        day, source = table.get(name), "given"
        if day is None:
            day, source = _known_to_inspect(name), "inspect_ai"
        rows.append({"name": name, "cutoff": day, "source": source if day is not None else "not known"})
    frame = pd.DataFrame(rows, columns=["name", "cutoff", "source"])
    return frame.astype({"cutoff": object})


def _date(name: str, day: str | datetime.date) -> datetime.date:
    try:
        return day if isinstance(day, datetime.date) else datetime.date.fromisoformat(day)
    except (ValueError, TypeError) as error:
        raise BadCutoff(
            f"cutoff of {name!r}: found {day!r}, expected a date such as 2024-05-31; correct it or "
            "leave it out"
        ) from error


def _known_to_inspect(name: str) -> datetime.date | None:
    # Imported where needed: it takes seconds to load.
    from inspect_ai.model import get_model_info

    info = get_model_info(name)
    day = info.knowledge_cutoff_date if info is not None else None
    return day if isinstance(day, datetime.date) else None
