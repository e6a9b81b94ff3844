"""Other words for the words of a task, and the same exchange in keys.

The exchange keeps what Vim sees: every character stays a character of its class and case in its place, so
that motions, counts, columns and word boundaries are what they were; equal stays equal and different stays
different. Letters that the known solutions look for (`f`, `t`, short search patterns) stay where they
are and come up nowhere else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from vimlib import keys as notation
from vimlib.records import Protocol, VimlibError
from vimlib.suites.fresh.draw import Draw
from vimlib.suites.twins.pieces import LONGEST, RUN, SHORTEST, Cuts, lower
from vimlib.suites.twins.words import FROZEN, PARTICLES, WORDS

_VOWELS = "aeiou"
_CONSONANTS = "bcdfghklmnprstvw"
_NUMBER = re.compile(r"(?<![\w.:/-])[1-9]\d+(?![\w:/-]|\.\d)")
_TRIES = 200


@dataclass(frozen=True, slots=True)
class Rules:
    """What an exchange must leave alone beyond what every exchange does."""

    letters: frozenset[str] = frozenset()
    """Small letters that stay where they are and appear nowhere else."""
    first: int = 0
    """Letters at the beginning of every word that stay."""
    frozen: frozenset[str] = frozenset()
    """Words, in small letters, that stay."""
    ordered: bool = False
    """Words keep their alphabetical order, and how many letters they share at the beginning."""
    share: float = 1.0
    """Of the words that could be replaced, how many are."""
    short: bool = False
    """Words of one or two letters are replaced too, as far as they are names and no words of English."""
    numbers: bool = False
    """Numbers of several digits are replaced too, in their order."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """Pieces, in small letters, and what stands for them."""

    cuts: Cuts
    words: Mapping[str, str]
    numbers: Mapping[str, str] = field(default_factory=dict)

    def text(self, text: str) -> str:
        """A text with its words exchanged, of the same length, each letter in the case it had."""
        made = list(text)
        for place, piece, _ in self.cuts.pieces(text):
            if (other := self.words.get(lower(piece))) is not None:
                made[place : place + len(piece)] = _cased(other, piece)
        if self.numbers:
            for number in _NUMBER.finditer(text):
                made[number.start() : number.end()] = self.numbers.get(number[0], number[0])
        return "".join(made)

    def keys(self, keys: str, protocol: Protocol) -> str:
        """Keys with the words that they type or look for exchanged; all else is left as it is.

        Letters that stand beside each other may be commands and text: the longest word of the task that is
        found among them is taken for text. Whether that was right, the replay tells.
        """
        made: list[str] = []
        run: list[str] = []
        for token in notation.split(keys, protocol):
            if len(token) == 1 and token.isascii() and token.isalpha():
                run.append(token)
            else:
                made += [self._in_run("".join(run)), token]
                run = []
        return "".join([*made, self._in_run("".join(run))])

    def _in_run(self, run: str) -> str:
        if len(run) < SHORTEST:
            return run
        longest = sorted(self.words, key=lambda word: (-len(word), word))
        made, place, small = "", 0, run.lower()
        while place < len(run):
            word = next((word for word in longest if small.startswith(word, place)), None)
            if word is None:
                made += run[place]
                place += 1
            else:
                made += _cased(self.words[word], run[place : place + len(word)])
                place += len(word)
        return made


def _cased(word: str, like: str) -> str:
    return "".join(new.upper() if old.isupper() else new for new, old in zip(word, like, strict=True))


def exchange(start: str, target: str, cuts: Cuts, rules: Rules, draw: Draw) -> Exchange:
    """An exchange for all words of a task; where a word finds no other, it stays."""
    found: set[str] = set()
    parts: set[str] = set()
    for text in (start, target):
        for _, piece, whole in cuts.pieces(text):
            found.add(lower(piece))
            if not whole:
                parts.add(lower(piece))
    kept = _after_digits(start + "\n" + target) | kin(start, target, cuts)
    fixed = {
        word
        for word in found
        if word in kept
        or (len(word) < SHORTEST and (word in parts or not rules.short or word in PARTICLES))
        or not word.isascii()
        or word in FROZEN
        or word in rules.frozen
    }
    free = sorted(found - fixed)
    if rules.share < 1.0:
        free = draw.some(free, max(1, round(rules.share * len(free)))) if free else []
    fixed = found - set(free)
    words = _in_order(free, rules, draw) if rules.ordered else _others(free, found, rules, draw)
    words = {word: other for word, other in words.items() if word != other}
    if rules.ordered and set(words.values()) & fixed:
        words = {}
    numbers: Mapping[str, str] = {}
    if rules.numbers:
        seen = {number[0] for number in _NUMBER.finditer(start)}
        if seen >= {number[0] for number in _NUMBER.finditer(target)}:
            numbers = _numbers(sorted(seen), draw)
    return Exchange(cuts, words, numbers)


_AFTER_DIGIT = re.compile(r"(?<=\d)[^\W\d_]+")
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def _after_digits(text: str) -> set[str]:
    """Letters that may be part of a number to Vim or to a reader: `0xff`, `4th`, `5d3h`."""
    return {lower(run) for run in _AFTER_DIGIT.findall(text)}


def kin(start: str, target: str, cuts: Cuts) -> set[str]:
    """Words that must stay because the edit makes new ones from their letters (or from the alphabet).

    A word that only the target has is either typed, or made of letters that were there: put backwards,
    scrambled, cut or put together. Where it has the same letters as another word, or most of the shorter of
    the two in one stretch, it is taken for made, and both stay; so does what is put on to a word.
    """
    before = {lower(piece) for _, piece, _ in cuts.pieces(start)}
    parts = {lower(piece) for _, piece, whole in cuts.pieces(target) if not whole}
    after = {lower(piece) for _, piece, _ in cuts.pieces(target)}
    every = sorted(before | after)
    found = {word for word in every if _spells(word)}
    old_runs = {lower(run[0]) for run in RUN.finditer(start)}
    for whole_new in {lower(run[0]) for run in RUN.finditer(target)} - old_runs:
        for whole in old_runs:
            if len(whole) == len(whole_new) and sorted(whole) == sorted(whole_new):
                found |= {piece for word in (whole, whole_new) for _, piece, _ in cuts.pieces(word)}
    for new in sorted(after - before):
        if len(new) < SHORTEST:
            continue
        if len(new) > LONGEST or new in parts:
            found.add(new)
        for other in every:
            if other != new and len(other) >= SHORTEST and _related(new, other):
                found |= {new, other}
    return found


def _spells(word: str) -> bool:
    """Whether four letters of the alphabet follow each other in a word, forwards or backwards."""
    fours = {word[place : place + 4] for place in range(len(word) - 3)}
    return any(four in _ALPHABET or four in _ALPHABET[::-1] for four in fours)


def _related(word: str, other: str) -> bool:
    if len(word) == len(other) and sorted(word) == sorted(other):
        return True
    least = max(SHORTEST, math.ceil(0.6 * min(len(word), len(other))))
    return any(word[place : place + least] in other for place in range(len(word) - least + 1))


def _fits(word: str, other: str, rules: Rules) -> bool:
    return (
        other[: rules.first] == word[: rules.first]
        and other != word
        and all((a == b) or not ({a, b} & rules.letters) for a, b in zip(word, other, strict=True))
    )


def _others(free: Iterable[str], found: set[str], rules: Rules, draw: Draw) -> dict[str, str]:
    made: dict[str, str] = {}
    taken = set(found)
    for word in free:
        fitting = [
            other for other in WORDS.get(len(word), ()) if other not in taken and _fits(word, other, rules)
        ]
        # A word that ends as the old one does reads as the old one did: -ing, -ed, -s.
        alike = [other for other in fitting if other[-1] == word[-1]] or fitting
        if alike:
            other = draw.pick(alike)
        else:
            other = next(
                (made for made in (_invented(word, rules, draw) for _ in range(_TRIES)) if made not in taken),
                word,
            )
        made[word] = other
        taken.add(other)
    return made


def _invented(word: str, rules: Rules, draw: Draw) -> str:
    """A word of no language that can be pronounced where the old one could."""
    made = ""
    for place, letter in enumerate(word):
        if place < rules.first or letter in rules.letters:
            made += letter
            continue
        options = [c for c in (_VOWELS if letter in _VOWELS else _CONSONANTS) if c not in rules.letters]
        made += draw.pick(options) if options else letter
    return made


def _in_order(free: list[str], rules: Rules, draw: Draw) -> dict[str, str]:
    """Words in the same order, with the same common beginnings: letter by letter, first letters stay."""
    made = dict.fromkeys(free, "")

    def below(words: list[str], depth: int) -> None:
        longer = [word for word in words if len(word) > depth]
        letters = sorted({word[depth] for word in longer})
        if not letters:
            return
        if depth < max(1, rules.first):
            images = letters
        elif len(letters) == 1 and letters[0] in _VOWELS:
            images = [draw.pick(_VOWELS)]
        elif len(letters) == 1:
            images = [draw.pick(_CONSONANTS)]
        else:
            images = draw.some("abcdefghijklmnopqrstuvwxyz", len(letters))
        images = [
            letter if {letter, image} & rules.letters else image
            for letter, image in zip(letters, images, strict=True)
        ]
        if images != sorted(set(images)):
            images = letters
        for letter, image in zip(letters, images, strict=True):
            under = [word for word in longer if word[depth] == letter]
            for word in under:
                made[word] += image
            below(under, depth + 1)

    below(sorted(free), 0)
    return made


def _numbers(numbers: list[str], draw: Draw) -> dict[str, str]:
    """Numbers of as many digits, in the same order by value and by digits; zeros stay."""
    made = dict.fromkeys(numbers, "")

    def below(under: list[str], depth: int) -> None:
        longer = [number for number in under if len(number) > depth]
        digits = sorted({number[depth] for number in longer} - {"0"})
        images = draw.some("123456789", len(digits))
        for digit, image in [*zip(digits, images, strict=True), ("0", "0")]:
            same = [number for number in longer if number[depth] == digit]
            for number in same:
                made[number] += image
            if same:
                below(same, depth + 1)

    below(sorted(numbers), 0)
    return {number: other for number, other in made.items() if number != other}


# --- what the known solutions look for ---------------------------------------------------------

_FOUND = re.compile(r"[fFtT]([A-Za-z])")
_PATTERN = re.compile(r"[/?](?:\\.|[^/<\\])*")
_SHORT_RUN = re.compile(r"(?<![A-Za-z\\])[A-Za-z]{1,2}(?![A-Za-z])")
_COMPLETED = re.compile(r"([A-Za-z]*)<C-[NPnp]>")


def rules_for(solutions: Iterable[tuple[str, Protocol]], ordered: bool) -> Rules:
    """What the keys of known solutions ask of an exchange."""
    letters: set[str] = set()
    first = 0
    for keys, protocol in solutions:
        try:
            golf = notation.translate(keys, protocol, Protocol.GOLF)
        except VimlibError:
            continue
        plain = re.sub(r"<[^<> ]+>", lambda name: "<>" if name[0].lower() not in ("<lt>",) else "<", golf)
        letters |= {found.lower() for found in _FOUND.findall(plain)}
        for pattern in _PATTERN.findall(plain):
            letters |= {letter for run in _SHORT_RUN.findall(pattern) for letter in run.lower()}
        for begun in _COMPLETED.findall(golf):
            first = max(first, min(2, len(begun)))
    return Rules(frozenset(letters), first, frozenset(), ordered)
