"""Chance that is the same everywhere.

Python promises the same numbers in every version for `random.Random(text).random()` alone, not
for `choice`, `shuffle` or `sample`. A suite that is to be the same byte for byte on any machine
is therefore drawn from that one method.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """A stream of choices that depends on its key and on nothing else."""

    def __init__(self, key: str) -> None:
        self._next = random.Random(key).random

    def below(self, limit: int) -> int:
        """A whole number from 0 to limit - 1."""
        return int(self._next() * limit)

    def between(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low + self.below(high - low + 1)

    def chance(self, share: float) -> bool:
        """True in this share of the cases."""
        return self._next() < share

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.below(len(options))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """All items in another order (Fisher and Yates)."""
        mixed = list(items)
        for last in range(len(mixed) - 1, 0, -1):
            other = self.below(last + 1)
            mixed[last], mixed[other] = mixed[other], mixed[last]
        return mixed

    def some(self, items: Sequence[T], size: int) -> list[T]:
        """`size` different places of `items`, in their order there."""
        places = sorted(self.shuffled(range(len(items)))[:size])
        return [items[place] for place in places]
