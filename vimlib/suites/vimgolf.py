"""VimGolf's challenges in the record shape that inspect_evals loads.

A record is `id, input, target, metadata.detail`; where the site's statistics were added
(`entries`, `golfers`, `best_score`) they stand in `metadata` or beside it. The challenge's
date is not in the record but in its id.
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
    """Whether records with these fields have this shape."""
    return "input" in fields and not fields & {"start", "reference"}


def task(record: Located) -> Task:
    """One task; raises a `SuiteError` that names the field at fault."""
    metadata = record.inner("metadata")

    def count(name: str) -> int | None:
        inside = metadata.optional_count(name)
        return record.optional_count(name) if inside is None else inside

    identifier = record.identifier()
    detail = metadata.optional_text("detail") or ""
    return Task(
        id=identifier,
        start=record.text("input"),
        target=record.text("target"),
        instruction=detail,
        title=title_of(detail),
        created=created_from_id(identifier),
        entries=count("entries"),
        golfers=count("golfers"),
        best_score=count("best_score"),
    )
