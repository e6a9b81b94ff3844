"""VimGolf's challenges, in each of the shapes in which they travel.

inspect_evals loads records `id, input, target, metadata.detail`; where the site's statistics
were added (`entries`, `golfers`, `best_score`) they stand in `metadata` or beside it. The site
itself gives one challenge as `in.data`, `out.data`, and collections keep it as files `ID/in`,
`ID/out`. vimgolf-gym writes a challenge of one's own as `input, output, name, description,
solution`. A challenge's date is in none of them but in its id.
"""

from __future__ import annotations

import datetime
import re

from vimlib.records import Protocol, Task
from vimlib.suites.fields import Located

NAME = "vimgolf"
PROTOCOLS = (Protocol.GOLF,)

EARLIEST = datetime.date(2010, 12, 1)
"""VimGolf opened in this month; an older date is none."""
LATEST = datetime.date(2038, 1, 19)
"""Where 32-bit Unix time ends. A fixed bound, not today, so that one file gives one result."""

# A MongoDB object id: 24 hex digits, the first 8 of them Unix seconds. Since 2021 the site
# puts "9v00" before the seconds and keeps the length.
_DATED_ID = re.compile(r"(?:9v00(?P<new>[0-9a-f]{8})[0-9a-f]{12}|(?P<old>[0-9a-f]{8})[0-9a-f]{16})")


def created_from_id(
    challenge_id: str, *, earliest: datetime.date = EARLIEST, latest: datetime.date = LATEST
) -> datetime.date | None:
    """The day (UTC) on which a VimGolf challenge was published, read from its id.

    None where the id carries no date: another form, or a date outside `earliest` to
    `latest`, both included, which is then no date but digits.
    """
    found = _DATED_ID.fullmatch(challenge_id)
    if found is None:
        return None
    seconds = int(found["new"] or found["old"], 16)
    day = datetime.datetime.fromtimestamp(seconds, tz=datetime.UTC).date()
    return day if earliest <= day <= latest else None


def title_of(detail: str) -> str:
    """The first line of a challenge's title and description."""
    return next((line.strip() for line in detail.splitlines() if line.strip()), "")


def recognises(fields: frozenset[str]) -> bool:
    """Whether records with these fields have inspect_evals' shape."""
    return "input" in fields and not fields & {"start", "reference", "output"}


def recognises_challenge(fields: frozenset[str]) -> bool:
    """Whether records with these fields are challenges as vimgolf.com gives them."""
    return fields >= {"in", "out"}


def recognises_custom(fields: frozenset[str]) -> bool:
    """Whether records with these fields are vimgolf-gym's custom challenges."""
    return fields >= {"input", "output"} and "target" not in fields


def challenge(record: Located) -> Task:
    """One task from the site's JSON (`in.data`) or from files (`in`); raises a `SuiteError`.

    The JSON has neither id nor title: the file is named after the id.
    """

    def data(name: str) -> str:
        if isinstance(record.values.get(name), str):
            return record.buffer(name)
        return record.inner(name).buffer("data")

    identifier = record.identifier(record.stem)
    return Task(id=identifier, start=data("in"), target=data("out"), created=created_from_id(identifier))


def custom(record: Located) -> Task:
    """One task from vimgolf-gym's custom challenge, its id the file's stem; raises a `SuiteError`."""
    name = record.optional_text("name") or ""
    return Task(
        id=record.identifier(record.stem),
        start=record.buffer("input"),
        target=record.buffer("output"),
        instruction=record.optional_text("description") or name,
        title=title_of(name),
        reference=record.optional_text("solution"),
        reference_notation=Protocol.GOLF,
    )


def task(record: Located) -> Task:
    """One task from inspect_evals' record; raises a `SuiteError` that names the field at fault."""
    metadata = record.inner("metadata")

    def count(name: str) -> int | None:
        inside = metadata.optional_count(name)
        return record.optional_count(name) if inside is None else inside

    identifier = record.identifier()
    detail = metadata.optional_text("detail") or ""
    return Task(
        id=identifier,
        start=record.buffer("input"),
        target=record.buffer("target"),
        instruction=detail,
        title=title_of(detail),
        created=created_from_id(identifier),
        entries=count("entries"),
        golfers=count("golfers"),
        best_score=count("best_score"),
    )
