r"""Which answers may give another result the next time, because they ask what no harness can pin.

Locale, terminal, environment and files are the same for every replay (`protocols`, `sandbox`).
The clock, random numbers, process numbers and the machine's speed and memory are not, and Vim
has functions that tell them. Such an answer is judged like any other; it is flagged, so
that a verdict that will not come again is not a riddle.

It reads what the keys say, not what they do: a name put together at run time
(`:exe 'put =strf' . 'time(0)'`) is not seen, and one that is only typed as text is flagged too.
"""

from __future__ import annotations

import re

_FUNCTIONS = (
    # the clock
    *("strftime", "localtime", "reltime", "reltimestr", "reltimefloat", "undotree"),
    *("getftime", "readdirex"),
    # chance
    *("rand", "srand", "tempname"),
    # the process and the machine
    *("getpid", "libcall", "libcallnr"),
    # when, in the course of the keys, depends on the machine's speed
    "timer_start",
    # the keys speak to the harness in the probe's name: how far Vim gets before it is believed is chance
    "echoraw",
    # languages that a Vim may be built with, each with a clock and a source of chance of its own
    *("luaeval", "mzeval", "perleval", "py3eval", "pyeval", "pyxeval", "rubyeval"),
)
_FUNCTION = re.compile(
    rf"""(?<![\w\#]) (?<!\b[abglst]:) (?P<called>{"|".join(_FUNCTIONS)}) (?=\s*\()
    | (?P<quote>['"]) (?P<named>{"|".join(_FUNCTIONS)}) (?P=quote)""",
    re.VERBOSE,
)
_OTHER = {
    # :earlier and :later by time, not by number of changes or writes
    "earlier": re.compile(r"\bea(?:r(?:l(?:i(?:e(?:r)?)?)?)?)?\s+\d+[smhd]"),
    "later": re.compile(r"\blat(?:e(?:r)?)?\s+\d+[smhd]"),
    "undolist": re.compile(r"\bundol(?:i(?:s(?:t)?)?)?\b"),
    # after 'updatetime' of quiet, whenever that is
    "CursorHold": re.compile(r"\bCursorHoldI?\b", re.IGNORECASE),
    # half of what memory the machine has
    "maxmem": re.compile(r"(?:&(?:[gl]:)?|\bset?\s+)(?:maxmem(?:tot)?|mmt?)\b"),
}


def unpinned(keys: str) -> tuple[str, ...]:
    """Names of what an answer uses that no harness can pin, in order of first use; usually none.

    `keys` in either notation. Functions count where they are called or quoted, commands
    also by their short names.
    """
    found: dict[str, int] = {}
    for match in _FUNCTION.finditer(keys):
        found.setdefault(match["called"] or match["named"], match.start())
    for name, pattern in _OTHER.items():
        if other := pattern.search(keys):
            found.setdefault(name, other.start())
    return tuple(sorted(found, key=found.__getitem__))
