"""What the commands print: answers hold anything, so nothing goes to a terminal as it came."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import TextIO

from vimlib.records import VimlibError


class BadOutput(VimlibError):
    """The file for the results cannot be written."""


def say(text: str) -> None:
    """One line on standard error. Control characters that an answer may have put there are spelled out."""
    show(text, sys.stderr)


def show(text: str, stream: TextIO | None = None) -> None:
    """One line, by default on standard output, with its control characters spelled out."""
    shown = "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)
    print(shown, file=stream or sys.stdout)


@contextmanager
def output(path: Path | None) -> Iterator[TextIO]:
    """The file, written whole or not at all; standard output for None. Raises BadOutput."""
    if path is None:
        yield sys.stdout
        return
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with new.open("w", encoding="utf-8") as file:
            yield file
        new.replace(path)
    except OSError as error:
        raise BadOutput(f"{path}: cannot be written ({error.strerror}); name another file") from error
    finally:
        new.unlink(missing_ok=True)


def shows_progress() -> bool:
    """Whether somebody looks on."""
    return sys.stderr.isatty()


def mean_or_unavailable(values: Iterable[float | None]) -> str:
    """The mean of what is known, with three decimals."""
    known = [value for value in values if value is not None]
    return f"{fmean(known):.3f}" if known else "unavailable"


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Rows in aligned columns on standard output; None is an empty cell."""
    lines = [
        [str(head) for head in heads],
        *[["" if cell is None else str(cell) for cell in row] for row in rows],
    ]
    widths = [max(len(line[place]) for line in lines) for place in range(len(heads))]
    for line in lines:
        text = "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        print(
            "".join(
                character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text
            )
        )
