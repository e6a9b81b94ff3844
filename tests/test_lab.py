"""What a researcher has in a notebook: the face of the package, and the notebook to explore with."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager
from storing import FAIL, PASS, fill, make_run, make_suite

import vimlib
from vimlib.replay import NothingToReplay, find_vim
from vimlib.report.execution import execute
from vimlib.report.kernel import Watch
from vimlib.store import VIEWS, StoreBusy

PROJECT = Path(__file__).resolve().parent.parent


def test_everything_of_the_face_is_there_and_says_what_it_does() -> None:
    for name in (*vimlib.FACE, "replay"):
        found = getattr(vimlib, name)
        assert callable(found) and found.__doc__
        assert name in dir(vimlib)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        vimlib.nothing  # noqa: B018
    assert vimlib.replay.find_vim is find_vim, "it is still the package"  # type: ignore[attr-defined]


def test_keys_tried_by_hand_show_what_became_of_the_text() -> None:
    done = vimlib.replay("xZZ", start="a<b>\nc\n", target="<b>\nd\n")  # type: ignore[operator]
    assert done.buffer == "<b>\nc\n" and done.differs is True
    shown = done._repr_html_()
    assert "&lt;b&gt;" in shown and "<b>" not in shown
    assert "<del>d</del>" in shown and "<ins>c</ins>" in shown
    good = vimlib.replay("xZZ", start="ab\n", target="b")  # type: ignore[operator]
    assert good.differs is False and "finished" in str(good)
    with pytest.raises(NothingToReplay, match="expected a task, or start="):
        vimlib.replay("x")  # type: ignore[operator]


def test_a_trace_has_a_row_a_key() -> None:
    shown = vimlib.trace("xx", start="<>c\n")._repr_html_()  # type: ignore[attr-defined]
    assert shown.count("<tr><td>") == 3
    first, second, third = shown.split("<tr><td>")[1:]
    assert "&lt;&gt;c" in first and "<ins>" not in first, "the text to start from is not new"
    assert "<del>&lt;&gt;c</del>" in second and "<ins>&gt;c</ins>" in second
    assert "<ins>c</ins>" in third


def test_each_view_says_what_it_holds_and_what_a_row_is() -> None:
    views = vimlib.views().set_index("view")  # type: ignore[attr-defined]
    assert list(views.index) == list(VIEWS)
    assert views.loc["run_overview", "grain"] == "one row a run, also one without attempts."
    assert views["grain"].str.startswith(("one row", "that of")).all()
    assert views["holds"].str.endswith((".", "?")).all() and (views["columns"] > 0).all()


def test_the_notebook_to_explore_with_runs_from_top_to_bottom(tmp_path: Path) -> None:
    suite = make_suite(tasks=6)
    store = tmp_path / "store.duckdb"
    fill(store, suite, make_run(suite, id="before"), score=FAIL)
    fill(store, suite, make_run(suite, id="after", name="model-b"), score=PASS)
    done = tmp_path / "done.ipynb"
    asked = {"database": str(store), "base": "before", "candidate": "after"}
    execute(PROJECT / "notebooks" / "00_explore.ipynb", done, asked, watch=Watch())
    cells = json.loads(done.read_text(encoding="utf-8"))["cells"]
    [shown] = [cell["outputs"] for cell in cells if "show_tiers" in "".join(cell["source"])]
    page = "".join(shown[0]["data"]["text/html"])
    assert "more of 6 common tasks" in page
    assert "improved by more than chance" in page or "by more than chance could explain" in page
    assert 'id="tab-tiers"' in page and "<svg" in page


@pytest.fixture
def kernel() -> Iterator[Callable[[str], str]]:
    """A JupyterLab kernel of this Python: a function that runs code in it and gives what it prints."""
    manager = KernelManager()
    manager._kernel_spec = KernelSpec(
        argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    )
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=120)

    def run(code: str) -> str:
        said: list[str] = []

        def hear(message: dict[str, Any]) -> None:
            content = message["content"]
            said.append(content.get("text") or "\n".join(content.get("traceback", ())))

        reply = client.execute_interactive(code, output_hook=hear, timeout=120)
        assert reply["content"]["status"] == "ok", said
        return "".join(said).strip()

    try:
        yield run
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_a_load_beside_an_open_notebook_loses_nothing(kernel: Callable[[str], str], tmp_path: Path) -> None:
    path, suite = tmp_path / "store.duckdb", make_suite()
    fill(path, suite, make_run(suite))
    book = json.loads((PROJECT / "notebooks" / "00_explore.ipynb").read_text(encoding="utf-8"))
    opening = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"][1]
    assert "con = vimlib.connect(database)" in opening
    count = "print(len(vimlib.overview(con)), len(vimlib.query(con, 'attempts_scored')))"
    assert kernel(f"database = {str(path)!r}\n{opening}\n{count}") == "1 4"

    fill(path, suite, make_run(suite, id="run-2"))
    assert kernel(count) == "1 4", "what is open stays as it was"
    assert kernel(f"{opening}\n{count}") == "2 8", "what is opened anew is what was loaded"

    # Whoever opens the file past vimlib, to write, is told apart from a reader and loses nothing either.
    kernel("con.close()\nimport duckdb\nraw = duckdb.connect(database)")
    kernel("raw.sql('SELECT 1 AS one').create('mine')")
    with pytest.raises(StoreBusy, match="another program has it open for writing; close it there"):
        fill(path, suite, make_run(suite, id="run-3"))
    kernel("raw.close()")
    fill(path, suite, make_run(suite, id="run-3"))
    assert kernel(f"{opening}\n{count}\nprint(con.sql('FROM store.mine').fetchall())") == "3 12\n[(1,)]"
