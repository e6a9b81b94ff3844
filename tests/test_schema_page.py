"""The page on the tables says what the tables say of themselves."""

from __future__ import annotations

from pathlib import Path

from vimlib.store import TABLES, VIEWS
from vimlib.store.described import described

PAGE = Path(__file__).resolve().parent.parent / "docs" / "schema.md"


def test_the_page_is_what_the_schema_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == described(), (
        "docs/schema.md is of another schema: python -m vimlib.store.described docs/schema.md"
    )


def test_every_table_view_and_column_has_words() -> None:
    text = described()
    for name in (*TABLES, *VIEWS):
        assert f"\n### {name}\n" in text
    assert "| None |" not in text
