"""Typed keys as an answer in a protocol's notation, and what they cost there."""

from __future__ import annotations

from vimlib import keys as notation
from vimlib.records import Protocol

_NAMES = {"\x1b": "<Esc>", "\r": "<CR>", "\t": "<Tab>"}


class Unwritable(Exception):
    """The keys cannot be an answer: too many, or not UTF-8."""


def cost(keys: str, protocol: Protocol) -> int:
    """Length of typed keys as the protocol counts it: keys (golf) or bytes (bench)."""
    if protocol is Protocol.GOLF or keys.isascii():
        return len(keys)
    return len(keys.encode("utf-8", "surrogatepass"))


def written(keys: str, protocol: Protocol) -> str:
    """Typed keys in the protocol's notation.

    Raises:
        Unwritable: too long for Vim, lone surrogates, or a control key that the notation lacks.
    """
    lt = "<lt>" if protocol is Protocol.GOLF else "<<"
    out: list[str] = []
    for char in keys:
        if char == "<":
            out.append(lt)
        elif char in _NAMES:
            out.append(_NAMES[char])
        elif char < " ":
            if not "\x01" <= char <= "\x1a":
                raise Unwritable(f"control key {ord(char)}")
            out.append(f"<C-{chr(ord(char) + 64)}>")
        else:
            out.append(char)
    text = "".join(out)
    try:
        notation.check_deliverable(text, protocol)
    except notation.BadNotation as error:
        raise Unwritable(str(error)) from None
    return text
