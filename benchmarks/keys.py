"""How much faster golf's splitting is than the package that defines it, both in this one run.

`python benchmarks/keys.py` prints a line for each kind of keys: microseconds a call (the best of
several rounds) for `vimlib.keys.split` and `vimgolf.keys.tokenize_keycode_reprs`, and the ratio.
The package builds its tables anew in each call, so its cost for an answer of usual length is that.
In texts of thousands of keys it is the walk along them, where ours gains less; the last rows show
how much. Exits 1 if the two disagree anywhere, or if an answer of usual length is not split at
least 20 times as fast.
"""

from __future__ import annotations

import json
import platform
import sys
import timeit
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

from vimgolf.keys import tokenize_keycode_reprs

from vimlib.keys import split
from vimlib.records import Protocol

PROMISED_RATIO = 20
PUBLISHED = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "vimgolf" / "solutions.jsonl"

ANSWERS = {
    "two keys": "ZZ",
    "a short answer": "jdd:wq<CR>",
    "a long answer": "qqf<Space>r<CR>q@q:%s/\\v(\\d+)/<lt>\\1>/g<NL>" * 5 + ":wq<NL>",
    "half-names and brackets": "<<C-<cR<Esc<C-\u212a><<lt>>x<Nope>" * 4,
}
LONG = {
    "1,000 plain characters": "x" * 1000,
    "1,000 names": "<Esc>" * 1000,
    "1,000 unknown names": "<Nope>" * 1000,
    "1,000 open brackets": "<" * 1000,
    "128 KB of text and names": "ihello world<Esc>" * 7710,
}


def microseconds(call: Callable[[], object]) -> float:
    """Best of seven rounds, each of about 20 ms: what the machine does besides only adds."""
    timer = timeit.Timer(call)
    calls = max(1, round(0.02 / max(timer.timeit(1), 1e-7)))
    return min(timer.repeat(7, calls)) / calls * 1e6


def compare(name: str, answers: Sequence[str]) -> float:
    """Print the row of `answers`; returns theirs by ours."""
    for keys in answers:
        assert split(keys, Protocol.GOLF) == tokenize_keycode_reprs(keys), keys
    ours = microseconds(lambda: [split(keys, Protocol.GOLF) for keys in answers]) / len(answers)
    theirs = microseconds(lambda: [tokenize_keycode_reprs(keys) for keys in answers]) / len(answers)
    print(f"{name:28} {ours:10.2f} {theirs:10.2f} {theirs / ours:7.1f}x")
    return theirs / ours


def main() -> int:
    """Measure, print, and say with the exit code whether the promise holds."""
    print(f"Python {platform.python_version()}, vimgolf {version('vimgolf')}; microseconds a call")
    print(f"{'keys':28} {'vimlib':>10} {'vimgolf':>10} {'ratio':>8}")
    ratios = [compare(name, [keys]) for name, keys in ANSWERS.items()]
    if PUBLISHED.is_file():
        rows = [json.loads(line) for line in PUBLISHED.read_text(encoding="utf-8").splitlines()]
        ratios.append(compare(f"{len(rows)} published solutions", [row["keys"] for row in rows]))
    print(f"lowest of these {min(ratios):.1f}x, promised {PROMISED_RATIO}x; far longer than answers are:")
    for name, keys in LONG.items():
        compare(name, [keys])
    return 0 if min(ratios) >= PROMISED_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
