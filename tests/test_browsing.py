"""The browser of the tests sees what a page does: what it asks for, what it says, what it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from browsing import visit


def test_a_visit_tells_requests_errors_and_alerts(chromium: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        "<title>t</title><img src='other.png'><p id='p'>before</p>"
        "<script>p.textContent = 'after'; console.error('no'); alert('hello');"
        "throw Error('thrown')</script>",
        encoding="utf-8",
    )
    with visit(chromium, page) as seen:
        assert seen.page.text_content("#p") == "after"
        seen.page.wait_for_load_state("load")
        assert [request.rsplit("/", 1)[-1] for request in seen.requests] == ["other.png"]
        assert seen.dialogs == ["hello"]
        assert any("no" in error for error in seen.errors) and any("thrown" in error for error in seen.errors)
    with visit(chromium, page, javascript=False) as seen:
        assert seen.page.text_content("#p") == "before"
        assert seen.dialogs == []
