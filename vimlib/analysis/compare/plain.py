"""A comparison as plain values, for printing and for JSON: None for what is not known."""

from __future__ import annotations

from typing import Any

import pandas as pd

from vimlib.store import decode_text


def plain_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame as dictionaries of numbers, texts (as their sources have them), dates and None."""
    return [{str(key): _plain(value) for key, value in row.items()} for row in frame.to_dict("records")]


def _plain(value: Any) -> Any:
    if value is None or pd.isna(value):
        return None
    if isinstance(value, str):
        return decode_text(value)
    return value.item() if hasattr(value, "item") else value
