"""The trace player: an answer played key by key, in any page, readable without a script.

What Vim did with each key is worked out beforehand (a `records.Trace`); the page holds the first
state and, for each key, only what changed. Without JavaScript a reader sees the end: what was left
beside the target. With it (`player.js`, which a report's page and `enable` bring) the answer can be
played, and stepped through by keyboard.

Everything in a trace was written by an outsider. Control and bidirectional characters are made
visible here, the end is escaped into HTML, the rest travels as JSON in which no `<` is left, and the
script puts it on the page as text alone.
"""

from __future__ import annotations

import difflib
import html
import importlib.resources
import json
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from vimlib.failures import WrongKey, wrong_keys
from vimlib.records import Outcome, Step, Trace

BYTES: Final = 4800
"""Most bytes of a player in a page: 200 of them stay below 1 MB."""

_WIDTH = 200
"""Characters shown of a line."""
_CONTEXT = 2
"""Unchanged lines shown around those that change."""
_SIZES: Final = ((40, 200), (30, 120), (24, 80), (16, 50), (12, 30), (8, 16), (5, 8), (3, 4), (1, 2))
"""Most lines and states of a player, tried from the left until it is small enough."""


@cache
def script() -> str:
    """The JavaScript that plays; a report's page holds it."""
    return importlib.resources.files("vimlib.figures").joinpath("player.js").read_text(encoding="utf-8")


@cache
def style() -> str:
    """The style sheet of players; a report's page holds it."""
    return importlib.resources.files("vimlib.figures").joinpath("player.css").read_text(encoding="utf-8")


class _Enabled:
    """Brings script and style to JupyterLab, where no page does. A report leaves it out."""

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        sheet = json.dumps(style())
        return {
            "application/javascript": "(() => { const style = document.createElement('style');"
            f"style.textContent = {sheet}; document.head.append(style); }})();\n"
            "const begin = () => {\n" + script() + "\n};\nbegin(); setTimeout(begin, 1000);",
            "text/plain": "",
        }


def enable() -> object:
    """For JupyterLab: display this in the cell after the players, and they play there too."""
    return _Enabled()


def visible(text: str) -> str:
    """Text with nothing invisible in it, except tabs: `^[` for control characters as Vim shows them, and
    U+FFFD for what would reorder or hide its neighbours."""
    return "".join(map(_visible, text))


@cache
def _visible(character: str) -> str:
    code = ord(character)
    if character == "\t":
        return character
    if code < 32 or code == 127:
        return "^" + chr(code ^ 64)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return "\ufffd" if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} else character


@dataclass(frozen=True, slots=True)
class Player:
    """One answer to play. Shows itself in JupyterLab and in a report's page."""

    markup: str

    def _repr_html_(self) -> str:
        return self.markup


def player(
    trace: Trace, target: str, *, wrong: WrongKey | None = None, label: str = "", most_bytes: int = BYTES
) -> Player:
    """A trace to play beside the target that it should have led to.

    `target`: as the protocol judges it (`Protocol.formatted`). `wrong`: where it went wrong, worked out
    here by default. `label`: what screen readers call it. Where the whole would pass `most_bytes`,
    lines and states are left out, which the player says.
    """
    wrong = wrong or wrong_keys(trace.steps, target)
    for lines, states in _SIZES:
        markup = _markup(trace, target, wrong, label, lines, states)
        if len(markup.encode()) <= most_bytes:
            break
    return Player(markup)


def _markup(trace: Trace, target: str, wrong: WrongKey, label: str, most_lines: int, most_states: int) -> str:
    chosen = _chosen(len(trace.steps), most_states)
    steps = [trace.steps[place] for place in chosen]
    window = _Window([step.buffer for step in steps], target, most_lines)
    frames = [window.of(step.buffer) for step in steps]
    aim = window.of(target)
    last = steps[-1]
    keys = [visible(key) for key in trace.keys]
    many = len(keys) > 4 * most_states
    data: dict[str, Any] = {
        "s": frames[0],
        "f": [_delta(before, after) for before, after in zip(frames, frames[1:], strict=False)],
        "n": _deltas([step.typed for step in steps]),
        "m": _runs([_mode(step) for step in steps]),
        "c": [value for step in steps for value in window.cursor(step)],
        "e": _runs(["" if step.error is None else visible(step.error.text)[:160] for step in steps]),
        "a": _runs([str(int(100 * wrong.likeness[place])) for place in chosen]),
        "k": [] if many else keys,
        "g": wrong.last_nearer,
        "x": wrong.first_error,
        "o": window.above + 1,
    }
    left, right = _marked(frames[-1], aim)
    notes = []
    if len(chosen) < len(trace.keys) + 1:
        notes.append(f"{len(chosen)} of {len(trace.keys) + 1} states")
    if hidden := window.hidden:
        notes.append(f"{hidden} lines that are not shown")
    if many:
        shown = "".join(keys)
        typed = shown[: 6 * most_states] + (f"… ({len(keys):,} keys)" if len(shown) > 6 * most_states else "")
    else:
        typed = "".join(keys)
    name = html.escape(visible(label) or "An answer", quote=True)
    panes = "".join(
        f"<figure><figcaption>{head}</figcaption>"
        f'<pre class="{kind}" dir="ltr" tabindex="0">{text}</pre></figure>'
        for head, kind, text in (("left", "vp-left", left), ("target", "vp-target", right))
    )
    return (
        f'<div class="vp" role="group" aria-label="{name}">'
        f'<p class="vp-keys" tabindex="0"><code>{_escaped(typed)}</code></p>'
        f'<div class="vp-both">{panes}</div>'
        f'<p class="vp-line"><b>{html.escape(_mode(last))}</b>'
        f"<span>{html.escape(_ending(trace, last))}</span></p>"
        + (f'<p class="vp-note">{html.escape("; ".join(notes))}</p>' if notes else "")
        + f'<script type="application/json">{embedded(data)}</script></div>'
    )


def embedded(data: object) -> str:
    """JSON that can stand in an HTML script element: nothing in it ends the element or begins another."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode("utf-8", "backslashreplace").decode()


def _escaped(text: str) -> str:
    # As entities: a page made from a notebook loses the second of two line ends.
    return html.escape(text, quote=False).replace("\n", "&#10;")


def _chosen(count: int, most: int) -> Sequence[int]:
    """Up to `most` of the places below `count`, evenly spread, the first and the last among them."""
    if count <= most:
        return range(count)
    return sorted({round(place * (count - 1) / (most - 1)) for place in range(most)})


_MODES: Final = {
    "n": "NORMAL",
    "no": "OPERATOR PENDING",
    "i": "INSERT",
    "R": "REPLACE",
    "v": "VISUAL",
    "V": "VISUAL LINE",
    "\x16": "VISUAL BLOCK",
    "s": "SELECT",
    "c": "COMMAND LINE",
    "r": "PROMPT",
    "t": "TERMINAL",
}


def _mode(step: Step) -> str:
    """Vim's mode in its own words, or how it had ended."""
    if step.outcome is not Outcome.UNFINISHED:
        return {Outcome.FINISHED: "ENDED", Outcome.BAD_KEYS: "NOT RUN"}.get(
            step.outcome, step.outcome.upper()
        )
    mode = step.mode or ""
    return _MODES.get(mode[:2]) or _MODES.get(mode[:1]) or "UNKNOWN"


def _ending(trace: Trace, last: Step) -> str:
    said = f"after {len(trace.keys):,} keys"
    return f"{said}: {visible(last.error.text)[:160]}" if last.error is not None else said


class _Window:
    """The lines that a player shows: those that change or differ from the target, and some around them."""

    def __init__(self, texts: Sequence[str], target: str, most: int) -> None:
        every = [text.removesuffix("\n").split("\n") for text in {*texts, target}]
        shortest = min(map(len, every))
        first = every[0]
        same = next((i for i in range(shortest) if any(t[i] != first[i] for t in every)), shortest)
        rest = shortest - same
        end = next((i for i in range(rest) if any(t[-1 - i] != first[-1 - i] for t in every)), rest)
        self.above = max(0, same - _CONTEXT)
        self._below = max(0, end - _CONTEXT)
        self._most = most
        longest = max(map(len, every))
        self.hidden = longest - min(most, longest - self.above - self._below)

    def lines(self, text: str) -> list[str]:
        lines = text.removesuffix("\n").split("\n")
        return lines[self.above : len(lines) - self._below][: self._most]

    def of(self, text: str) -> str:
        """The shown part of a text, all in it visible; a file's missing last newline is said."""
        lines = [_cut(visible(line)) for line in self.lines(text)]
        if text and not text.endswith("\n") and not self._below and len(lines) < self._most:
            lines[-1] += " [noeol]"
        return "\n".join(lines)

    def cursor(self, step: Step) -> tuple[int, int]:
        """Line and character of the shown part, from 1; (0, 0): not in it."""
        if step.cursor is None:
            return 0, 0
        lines, line = self.lines(step.buffer), step.cursor[0] - 1 - self.above
        if not 0 <= line < len(lines):
            return 0, 0
        before = lines[line].encode("utf-8", "replace")[: step.cursor[1] - 1].decode("utf-8", "ignore")
        return line + 1, min(len(visible(before)), _WIDTH) + 1


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else f"{line[:_WIDTH]}… {len(line) - _WIDTH:,} more"


def _delta(before: str, after: str) -> list[Any] | int:
    """[characters kept at the start, characters kept at the end, what stands between]; 0: the same."""
    if before == after:
        return 0
    most = min(len(before), len(after))
    head = next((i for i in range(most) if before[i] != after[i]), most)
    rest = most - head
    tail = next((i for i in range(rest) if before[-1 - i] != after[-1 - i]), rest)
    return [head, tail, after[head : len(after) - tail]]


def _deltas(numbers: Sequence[int]) -> int | list[int]:
    """Differences from one to the next, of which the first is 0; 1 where each is one more."""
    gaps = [after - before for before, after in zip(numbers, numbers[1:], strict=False)]
    return 1 if set(gaps) <= {1} else gaps


def _runs(values: Sequence[str]) -> list[str | int]:
    """[value, times, value, times, ...]."""
    runs: list[str | int] = []
    for value in values:
        if runs and runs[-2] == value:
            runs[-1] += 1  # type: ignore[operator]
        else:
            runs += [value, 1]
    return runs


def _marked(left: str, target: str) -> tuple[str, str]:
    """Both texts as HTML, lines marked that only one of them has."""
    a, b = left.split("\n"), target.split("\n")
    one: list[str] = []
    other: list[str] = []
    for code, i, i_end, j, j_end in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        for lines, element, out in ((a[i:i_end], "del", one), (b[j:j_end], "ins", other)):
            text = [_escaped(line) for line in lines]
            out += text if code == "equal" else [f"<{element}>{line}</{element}>" for line in text]
    return "&#10;".join(one), "&#10;".join(other)
