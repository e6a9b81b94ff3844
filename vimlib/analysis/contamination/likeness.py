"""How alike two answers are, key by key: what a model may have copied, without what anyone would type.

Two people who make the same edit type the same words, and a prompt that shows an example gets it back. So
keys are compared in one spelling (`normal`) and without the text that stands in the task or in the prompt's
examples (`bare`): what is left are commands, and commands in the same order are what memory looks like.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from rapidfuzz.distance import Levenshtein

from vimlib import keys as notation
from vimlib.records import Protocol, VimlibError

EXAMPLES = (
    "iHello World<Esc>:wq<NL>",
    ":%s/abcdef/defabc/g<NL>:wq<NL>",
    "iHello World<Esc>:s/World/Earth/g<NL>:wq<NL>",
)
"""The solutions that the prompt of inspect_evals' `vimgolf_single_turn` shows (version 2-A)."""

SAVE = "<save>"
_SPELLED = {
    "<nl>": "<cr>", "<enter>": "<cr>", "<return>": "<cr>", "<c-q>": "<c-v>", "<bar>": "|", "<lt>": "<",
    "<bslash>": "\\", "<space>": " ", "<c-h>": "<bs>",
}  # fmt: skip
_NAMED = re.compile(r"(?:^|[\d%$.,'|+\-])(normal|norm|sort|substitute|global|delete|move|copy|put|join)!?$")
_SHORT = {
    "normal": "norm", "sort": "sor", "substitute": "s", "global": "g", "delete": "d", "move": "m",
    "copy": "t", "put": "pu", "join": "j",
}  # fmt: skip
_QUITS = {"wq", "wq!", "x", "x!", "xit", "wqa", "xa", "wqall", "xall", "exit"}
TYPED = 4
"""Characters from which on a run of text that stands in the task counts as typed rather than as commands."""


@lru_cache(maxsize=100_000)
def normal(keys: str, protocol: Protocol = Protocol.GOLF) -> tuple[str, ...]:
    """Keys in one spelling: one name a key, short names of ex commands, every way to save and quit `<save>`.

    What cannot be said in golf's notation is split as it stands. Keys that nobody typed, which newer Vims
    record in a published solution, are left out.
    """
    keys = notation.without_phantoms(keys).clean
    try:
        golf = notation.translate(keys, protocol, Protocol.GOLF)
    except VimlibError:
        golf = keys
    tokens = [token if len(token) == 1 else token.lower() for token in notation.split(golf, Protocol.GOLF)]
    tokens = [_SPELLED.get(token, token) for token in tokens]
    return tuple(_saved(_shortened(tokens)))


def _shortened(tokens: Sequence[str]) -> list[str]:
    made: list[str] = []
    line: list[str] | None = None
    for token in tokens:
        if line is not None and (len(token) > 1 or not token.isalpha()):
            word = "".join(line)
            if found := _NAMED.search(word):
                line[len(line) - len(found[1]) :] = _SHORT.get(found[1], found[1])
        if line is None:
            made.append(token)
            line = [] if token == ":" else None
        else:
            line.append(token)
            if token in ("<cr>", "<esc>"):
                made += line
                line = None
    return made + (line or [])


def _saved(tokens: list[str]) -> list[str]:
    if tokens[-2:] == ["Z", "Z"]:
        return [*tokens[:-2], SAVE]
    if tokens[-1:] == ["<cr>"]:
        text = "".join(token if len(token) == 1 else "\0" * 1 for token in tokens[:-1])
        place = max(text.rfind(":"), text.rfind("|"))
        if place >= 0 and text[place + 1 :] in _QUITS:
            kept = tokens[:place]
            # `:s/a/b/|x<CR>` is `:s/a/b/<CR>:x<CR>`.
            return [*kept, "<cr>", SAVE] if text[place] == "|" else [*_written(kept), SAVE]
        if text.endswith(":q"):
            return [*_written(tokens[: len(text) - 2]), SAVE]
    return tokens


def _written(tokens: list[str]) -> list[str]:
    """Without a `:w<CR>` at the end, which the save that follows repeats."""
    return tokens[:-3] if tokens[-3:] == [":", "w", "<cr>"] else tokens


@lru_cache(maxsize=100_000)
def bare(tokens: tuple[str, ...], text: str) -> tuple[str, ...]:
    """Keys without runs of at least `TYPED` characters that stand in a text, and without the save."""
    known = text.lower()
    kept: list[str] = []
    place = 0
    while place < len(tokens):
        size = 0
        run = ""
        while (
            place + size < len(tokens)
            and len(tokens[place + size]) == 1
            and run + tokens[place + size].lower() in known
        ):
            run += tokens[place + size].lower()
            size += 1
        if size >= TYPED:
            place += size
        else:
            kept.append(tokens[place])
            place += 1
    return tuple(token for token in kept if token != SAVE)


@lru_cache(maxsize=500_000)
def similarity(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    """1 - edit distance / keys of the longer one: 0 to 1; 0 where neither has a key."""
    return float(Levenshtein.normalized_similarity(one, other)) if one or other else 0.0


def longest_run(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    """The longest run of keys that two have in common; the first of several."""
    best, end = 0, 0
    before = [0] * (len(other) + 1)
    for place, token in enumerate(one):
        now = [0] * (len(other) + 1)
        for number, second in enumerate(other):
            if token == second:
                now[number + 1] = before[number] + 1
                if now[number + 1] > best:
                    best, end = now[number + 1], place + 1
        before = now
    return tuple(one[end - best : end])
