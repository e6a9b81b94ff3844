"""Text that UTF-8 cannot hold, stored without losing it.

Completions come from JSON, and JSON can say lone surrogates. DuckDB, like UTF-8, cannot.
"""

from __future__ import annotations

import re

_ESCAPE = "\U0010fffd"
_NEEDS_ESCAPE = re.compile(f"[\ud800-\udfff{_ESCAPE}]")
_ESCAPED = re.compile(f"{_ESCAPE}([0-9A-F]{{4}})")


def encode_text(text: str) -> str:
    """Text as the store holds it: valid UTF-8 and still every code point of the original.

    A lone surrogate, which Python and JSON allow and UTF-8 does not, becomes U+10FFFD and its
    four hex digits; a U+10FFFD in the text becomes U+10FFFD and 'FFFD'. All other text,
    NUL included, is left as it is. Different texts stay different, so keys still join.
    """
    if text.isascii():
        return str(text)
    return _NEEDS_ESCAPE.sub(lambda found: f"{_ESCAPE}{ord(found[0]) & 0xFFFF:04X}", text)


def decode_text(text: str) -> str:
    """The original of `encode_text(text)`."""
    if text.isascii():
        return text
    return _ESCAPED.sub(lambda found: _ESCAPE if found[1] == "FFFD" else chr(int(found[1], 16)), text)
