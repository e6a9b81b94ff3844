"""What one source of answers yields, whatever kind it is.

Apart from the runs a source may bring tasks of its own (a log that carries its buffers),
and single answers may be unusable without spoiling the rest. Both are kept beside the
runs, so that nothing is lost silently and nothing has to be guessed later.
"""

from __future__ import annotations

from dataclasses import dataclass

from vimlib.records import PublishedResult, Run, Suite, VimlibError


class RunError(VimlibError):
    """A source of answers is rejected as a whole; the subclasses say why."""

    exit_code = 3


@dataclass(frozen=True, slots=True)
class SourceContents:
    """The runs of one source file, with what is needed to judge them."""

    runs: tuple[Run, ...]
    suites: tuple[Suite, ...] = ()
    """Suites that the source itself carries; empty where every run belongs to a given suite."""
    problems: tuple[str, ...] = ()
    """One line for each answer that could not be taken as it stands; the rest was read."""
    notes: tuple[str, ...] = ()
    """One line for each thing worth knowing that is nobody's fault."""
    published: tuple[PublishedResult, ...] = ()
    """Results without answers."""
    kind: str = ""
    """What the file is, in words for a table."""


def storable(text: str) -> str:
    r"""`text` with lone surrogates written out (`\ud800`), which UTF-8 cannot hold otherwise."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def lone_surrogate(text: str) -> str | None:
    """The first lone surrogate in `text` and its place, in words; None: there is none."""
    for position, character in enumerate(text, start=1):
        if "\ud800" <= character <= "\udfff":
            return f"a lone surrogate (U+{ord(character):04X}, character {position})"
    return None
