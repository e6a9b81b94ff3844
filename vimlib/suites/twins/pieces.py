"""Where a text is cut into the pieces that are replaced: words, and what an edit leaves of words.

Whatever the edit takes for one thing must be replaced as one thing, everywhere alike. A word is cut where
its case shows two (`savedState`), where it is other words of the text run together, and where the edit
itself begins or ends inside it. A cut is carried to every other place that the same letters have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

RUN = re.compile(r"[^\W\d_]+")
"""A run of letters."""
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]+")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_CHARACTER = re.compile(r".", re.DOTALL)
_TOKEN = re.compile(r"[^\W\d_]+|\d+|.", re.DOTALL)
LONGEST = 15
"""Letters of the longest run that is taken for one word, though other words of the text be found in it."""
SHORTEST = 3
"""Letters of the shortest piece that is replaced: `of`, `to` and single names stay."""
_CHARACTERS_AT_ONCE = 1200
"""Larger stretches are compared by tokens only: character by character would take minutes."""

Block = tuple[int, int, int]
"""Place in start, place in target, characters: what both have alike."""


def lower(text: str) -> str:
    """Small letters, every character staying one character."""
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def alike(start: str, target: str) -> list[Block]:
    """What start and target share, case aside, line by line, then by tokens, then by characters.

    In order; the edit is what lies between. Found with `difflib.SequenceMatcher` on each level.
    """
    found: list[Block] = []
    _align(start, target, 0, 0, (_LINE, _TOKEN, _CHARACTER), found)
    return found


def _align(
    start: str, target: str, at: int, to: int, levels: Sequence[re.Pattern[str]], found: list[Block]
) -> None:
    level, *finer = levels
    old, new = level.findall(start), level.findall(target)
    froms, tos = _places(old, at), _places(new, to)
    matcher = SequenceMatcher(None, [lower(part) for part in old], [lower(part) for part in new], False)
    steps = matcher.get_opcodes()
    by_chance = not finer and _by_chance(start, target, steps)
    for tag, i1, i2, j1, j2 in steps:
        if tag == "equal":
            if not (by_chance and i2 - i1 < SHORTEST and any(map(str.isalnum, old[i1:i2]))):
                found.append((froms[i1], tos[j1], froms[i2] - froms[i1]))
        elif tag == "replace" and finer:
            left, gone = "".join(old[i1:i2]), "".join(new[j1:j2])
            if len(finer) > 1 or max(len(left), len(gone)) <= _CHARACTERS_AT_ONCE:
                _align(left, gone, froms[i1], tos[j1], finer, found)


def _by_chance(start: str, target: str, steps: Sequence[tuple[str, int, int, int, int]]) -> bool:
    """Whether most letters of two stretches differ, so that a letter or two in common mean nothing."""
    shared = sum(sum(map(str.isalnum, start[i1:i2])) for tag, i1, i2, _, _ in steps if tag == "equal")
    return shared < 0.6 * min(sum(map(str.isalnum, start)), sum(map(str.isalnum, target)))


def _places(parts: Sequence[str], first: int) -> list[int]:
    places = [first]
    for part in parts:
        places.append(places[-1] + len(part))
    return places


class Cuts:
    """The pieces of a start and a target (and of what is cut after their example)."""

    def __init__(self, start: str, target: str) -> None:
        self._by_word: dict[str, set[int]] = {}
        self.blocks = alike(start, target)
        texts = (start, target)
        marks: list[set[int]] = [set(), set()]
        for text, mark in zip(texts, marks, strict=True):
            for run in RUN.finditer(text):
                for hump in _HUMP.finditer(run[0]):
                    if hump.end() < len(run[0]):
                        mark.add(run.start() + hump.end())
        for i, j, n in self.blocks:
            for text, mark, place in ((start, marks[0], i), (target, marks[1], j)):
                mark.update(edge for edge in (place, place + n) if _inside_word(text, edge))
        words = {lower(run[0]) for text in texts for run in RUN.finditer(text)}
        for word in words:
            if len(word) >= 2 * SHORTEST:
                self._by_word.setdefault(word, set()).update(_joined_of(word, words))
            if len(word) > LONGEST:
                self._by_word.setdefault(word, set()).update(_found_in(word, words))
        self._settle(texts, marks)

    def _settle(self, texts: tuple[str, str], marks: list[set[int]]) -> None:
        """Carry each cut to every occurrence of its word, and across what is alike, until nothing is new."""
        while True:
            before = (len(marks[0]), len(marks[1]))
            for text, mark in zip(texts, marks, strict=True):
                for run in RUN.finditer(text):
                    own = {cut - run.start() for cut in mark if run.start() < cut < run.end()}
                    self._by_word.setdefault(lower(run[0]), set()).update(own)
            for text, mark in zip(texts, marks, strict=True):
                for run in RUN.finditer(text):
                    mark.update(run.start() + cut for cut in self._by_word[lower(run[0])])
            for i, j, n in self.blocks:
                marks[1].update(cut - i + j for cut in list(marks[0]) if i < cut < i + n)
                marks[0].update(cut - j + i for cut in list(marks[1]) if j < cut < j + n)
            if before == (len(marks[0]), len(marks[1])):
                return

    def pieces(self, text: str) -> Iterator[tuple[int, str, bool]]:
        """Place and letters of each piece in a text, in order, and whether it is a whole run of letters."""
        for run in RUN.finditer(text):
            word = run[0]
            known = self._by_word.get(lower(word))
            cuts = {hump.end() for hump in _HUMP.finditer(word)} if known is None else known
            edges = sorted({0, *cuts, len(word)})
            for begin, end in zip(edges, edges[1:], strict=False):
                yield run.start() + begin, word[begin:end], len(edges) == 2


def _inside_word(text: str, place: int) -> bool:
    return 0 < place < len(text) and bool(RUN.match(text[place - 1])) and bool(RUN.match(text[place]))


def _joined_of(word: str, words: set[str]) -> set[int]:
    """The places at which a word is other words run together; none if it is not."""
    reached: dict[int, set[int]] = {0: set()}
    for end in range(SHORTEST, len(word) + 1):
        for begin in sorted(reached):
            if end - begin >= SHORTEST and word[begin:end] in words and end - begin < len(word):
                reached[end] = reached[begin] | {end}
                break
    return reached.get(len(word), set()) - {len(word)}


def _found_in(word: str, words: set[str]) -> set[int]:
    """Both ends of every other word of four letters or more that is found in a word, the longest first."""
    found: set[int] = set()
    taken = [False] * len(word)
    for other in sorted(words - {word}, key=lambda one: (-len(one), one)):
        place = word.find(other) if len(other) > SHORTEST else -1
        while place >= 0:
            if not any(taken[place : place + len(other)]):
                taken[place : place + len(other)] = [True] * len(other)
                found |= {place, place + len(other)}
            place = word.find(other, place + 1)
    return found - {0, len(word)}
