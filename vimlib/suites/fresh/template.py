"""What a template is: a way to draw one task of a kind, again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vimlib.suites.fresh.draw import Draw


@dataclass(frozen=True, slots=True)
class Draft:
    """One task as a template draws it. Both buffers end in a newline."""

    instruction: str
    """Alone it determines the target."""
    start: str
    target: str
    """Computed from the instruction in Python, without Vim."""
    reference: str
    """In bench notation, meant for both protocols: it saves and quits by itself."""


@dataclass(frozen=True, slots=True)
class Template:
    """One kind of task."""

    name: str
    """Part of its tasks' ids."""
    tier: int
    """1 mechanical, 2 motions and text objects, 3 ex commands, 4 composed."""
    category: str
    title: str
    make: Callable[[Draw], Draft]
    """Its docstring says in a line what makes the task hard."""

    @property
    def hard(self) -> str:
        """What a solver has to see or know."""
        return (self.make.__doc__ or "").rstrip(".")


def text_of(lines: Sequence[str]) -> str:
    """Lines as a buffer."""
    return "".join(f"{line}\n" for line in lines)


def draft(instruction: str, start: Sequence[str], target: Sequence[str], keys: str) -> Draft:
    """A draft from lines and the keys of the edit, to which saving is added."""
    return Draft(instruction, text_of(start), text_of(target), keys + "ZZ")


def span(first: int, last: int) -> str:
    """`line 4`, `lines 4 and 5` or `lines 4 to 9`."""
    if first == last:
        return f"line {first}"
    return f"lines {first} {'and' if last == first + 1 else 'to'} {last}"
