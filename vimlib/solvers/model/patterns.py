"""Vim's patterns and replacements as Python's, and what `:s` makes of lines."""

from __future__ import annotations

import re
from functools import lru_cache

from vimlib.solvers.model.characters import Failed, Unmodelled, is_plain

_CLASSES = {"s": "[ \\t]", "S": "[^ \\t\\n]", "d": "[0-9]", "D": "[^0-9\\n]", "w": "[0-9A-Za-z_]",
            "W": "[^0-9A-Za-z_\\n]", "a": "[A-Za-z]", "A": "[^A-Za-z\\n]", "u": "[A-Z]", "l": "[a-z]",
            "U": "[^A-Z\\n]", "L": "[^a-z\\n]", "x": "[0-9A-Fa-f]"}  # fmt: skip


@lru_cache(maxsize=4096)
def compiled(pattern: str, ignorecase: bool) -> re.Pattern[str]:
    """A Vim pattern ('magic') as a Python one, over lines that each end in a newline.

    With `ignorecase` also 'smartcase' is on. Raises Unmodelled for what is not known here.
    """
    out: list[str] = []
    plain_upper = False
    i, size = 0, len(pattern)
    if not pattern or not is_plain(pattern):
        raise Unmodelled("the last pattern, or characters that may combine")
    while i < size:
        char = pattern[i]
        if char == "\\":
            i += 1
            if i >= size:
                raise Unmodelled("a backslash at the end")
            char = pattern[i]
            if char in _CLASSES:
                if ignorecase and char in "ulUL":
                    raise Unmodelled("classes of case under 'ignorecase'")
                out.append(_CLASSES[char])
            elif char in ".*[]^$~/\\&":
                out.append(re.escape(char))
            elif char == "n":
                out.append("\\n")
            elif char == "t":
                out.append("\\t")
            elif char == "+":
                out.append("+")
            elif char == "=":
                out.append("?")
            elif char == "|":
                out.append("|")
            elif char == "(":
                out.append("(")
            elif char == ")":
                out.append(")")
            elif char == "<":
                out.append("(?<![0-9A-Za-z_])(?=[0-9A-Za-z_])")
            elif char == ">":
                out.append("(?<=[0-9A-Za-z_])(?![0-9A-Za-z_])")
            elif char == "{" and pattern.startswith("{-}", i):
                out.append("*?")
                i += 2
            else:
                raise Unmodelled("this pattern")
        elif char == "[":
            end = pattern.find("]", i + 2 + pattern.startswith("^", i + 1))
            inner = pattern[i + 1 : end]
            if (
                end < 0
                or "\\" in inner
                or "[" in inner
                or "-" in inner[1:-1].replace("a-z", "").replace("0-9", "")
            ):
                raise Unmodelled("this collection")
            negated = inner.startswith("^")
            body = inner[negated:]
            plain_upper |= any(c.isupper() for c in body)
            escaped = body.replace("^", "\\^")
            out.append(f"[^{escaped}\\n]" if negated else f"[{escaped}]")
            i = end
        elif char == ".":
            out.append("[^\\n]")
        elif char == "*":
            if not out or out[-1] in ("(", "|", "(?m:^)"):
                raise Unmodelled("a star that is a literal")
            out.append("*")
        elif char == "^":
            if i and pattern[i - 2 : i] not in ("\\(", "\\|"):
                raise Unmodelled("a circumflex inside")
            out.append("(?m:^)")
        elif char == "$":
            if (i + 1 < size and pattern[i + 1 : i + 3] not in ("\\)", "\\|", "\\n")) or "\\n" in pattern[:i]:
                raise Unmodelled("a dollar inside")
            out.append("(?=\\n)")
        elif char == "~":
            raise Unmodelled("the last replacement")
        else:
            plain_upper |= char.isupper()
            out.append(re.escape(char))
        i += 1
    flags = re.IGNORECASE if ignorecase and not plain_upper else 0
    source = "".join(out)
    if flags and not pattern.isascii():
        raise Unmodelled("case of other than ASCII")
    if flags:
        flags |= re.ASCII
    try:
        return re.compile(source, flags)
    except re.error as error:
        raise Unmodelled(f"pattern: {error}") from None


@lru_cache(maxsize=4096)
def replacement_parts(text: str) -> tuple[str | int, ...]:
    """A replacement of `:s` as literal texts and group numbers (0: the whole match)."""
    parts: list[str | int] = []
    i = 0
    while i < len(text):
        char = text[i]
        if char == "&":
            parts.append(0)
        elif char == "~" or (char == "\\" and text[i + 1 : i + 2] in ("", "=")):
            raise Unmodelled("this replacement")
        elif char == "\\":
            i += 1
            char = text[i]
            if char.isdigit():
                parts.append(int(char))
            elif char == "r":
                parts.append("\n")
            elif char == "t":
                parts.append("\t")
            elif char in "ul":
                parts.append(-1 if char == "u" else -2)
            elif char in "ULE":
                parts.append({"U": -3, "L": -4, "E": -5}[char])
            elif char in "&~\\/.*[]^$":
                parts.append(char)
            else:
                raise Unmodelled("this replacement")
        else:
            parts.append(char)
        i += 1
    return tuple(parts)


def _replacement(parts: tuple[str | int, ...], match: re.Match[str]) -> str:
    out: list[str] = []
    once = mode = 0
    for part in parts:
        if isinstance(part, int) and part < 0:
            if part in (-1, -2):
                once = part
            else:
                mode, once = (0 if part == -5 else part), 0
            continue
        text = part if isinstance(part, str) else (match.group(part) or "")
        if not text:
            continue
        if (mode or once) and not text.isascii():
            raise Unmodelled("case of other than ASCII")
        if mode:
            text = text.upper() if mode == -3 else text.lower()
        if once:
            text = (text[0].upper() if once == -1 else text[0].lower()) + text[1:]
            once = 0
        out.append(text)
    return "".join(out)


def substitute_lines(
    lines: list[str], first: int, last: int, pattern: str, replacement: str, every: bool, ignorecase: bool
) -> tuple[list[str], int]:
    """What `:{first},{last}s/pattern/replacement/` (with `g`: `every`) makes of the lines.

    Lines count from 0, `last` included. Returns the new lines and the number of the line on
    which the cursor is left. A pattern may hold `\\n`; Vim looks for it from each line of the
    range in turn, and a match that joins lines goes on in the joined line.

    Raises:
        Failed: no match.
        Unmodelled: the pattern or the replacement is outside the model.
    """
    regex = compiled(pattern, ignorecase)
    parts = replacement_parts(replacement)
    if regex.groups < max([p for p in parts if isinstance(p, int)], default=0):
        raise Unmodelled("a group that is not there")
    joins = "\\n" in pattern
    out: list[str] = []
    cursor = -1
    index = first
    hits = 0
    while index <= last:
        text = "\n".join(lines[index:]) + "\n" if joins else lines[index] + "\n"
        line_end = len(lines[index])
        if not joins and not regex.search(text):
            out.append(lines[index])
            index += 1
            continue
        pieces: list[str] = []
        position = done = 0
        found = again = False
        while True:
            match = regex.search(text, position)
            if match is None or match.start() > line_end:
                break
            start, end = match.span()
            if start == end and found and start == done:
                # an empty match right after another match does not count
                position = start + 1
                if position > line_end or (position == line_end and not joins):
                    break
                continue
            if end > line_end and not joins:
                raise Unmodelled("a match past the end of the line")
            swallowed = text.count("\n", start, end)
            if again and not every and not swallowed:
                raise Unmodelled("a second match after joining")
            if not is_plain(lines[index]):
                raise Unmodelled("a match among characters that may combine")
            found = True
            hits += 1
            pieces += (text[done:start], _replacement(parts, match))
            done = end
            if swallowed:
                index += swallowed
                if index >= len(lines):
                    # the buffer's last newline: replaced, yet the line still ends
                    if end != len(text):
                        raise Unmodelled("a match past the end of the buffer")
                    index = len(lines) - 1
                    done -= 1
                    break
                line_end = text.find("\n", done)
                if index > last:
                    break
                # joining goes on in the joined line, also without the flag g
                again = True
            elif not every:
                break
            position = done if end > start else done + 1
            # past a first match the end of the line matches nothing, not even the empty pattern
            if position > line_end or (position == line_end and not joins):
                break
        if found:
            pieces.append(text[done : text.find("\n", done)])
            out += "".join(pieces).split("\n")
            cursor = first + len(out) - 1
        else:
            out.append(lines[index])
        index += 1
    if not hits:
        raise Failed("no match")
    return lines[:first] + out + lines[index:], cursor
