"""Reports: real notebooks in a real kernel, pages that ask nobody for anything, `latest` that holds."""

from __future__ import annotations

import datetime
import json
import os
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
import storing

from vimlib import report
from vimlib.report import (
    BadReportName,
    NotebookFailed,
    NotebookMissing,
    Page,
    ReportPathTaken,
    ReportResult,
    UnknownParameter,
    WrongParameter,
    notebook_parameters,
    run_report,
)
from vimlib.report.inputs import page_key
from vimlib.report.page import article, headings, wrap

PROJECT = Path(__file__).resolve().parents[1]
NOTEBOOKS = PROJECT / "notebooks"
WHEN = datetime.datetime(2026, 2, 3, 4, 5, tzinfo=datetime.UTC)
EVIL = "<script>alert('model')<b>"

PARAMETERS = """\
database: str = ""  # the store
times: int = 2  # how often
names: list[str] = ["a"]  # who
break_it: bool = False  # whether the second step fails"""


def write_notebook(path: Path, *cells: str) -> Path:
    """A notebook of a title, a parameters cell and code cells; markdown where a cell begins with '#'."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book = nbformat.v4.new_notebook(metadata={"kernelspec": kernel})
    book.cells = [nbformat.v4.new_markdown_cell(f"# Page of {path.stem}")]
    book.cells.append(nbformat.v4.new_code_cell(PARAMETERS, metadata={"tags": ["parameters"]}))
    for cell in cells:
        markdown = cell.startswith("#")
        book.cells.append(
            nbformat.v4.new_markdown_cell(cell) if markdown else nbformat.v4.new_code_cell(cell)
        )
    nbformat.write(book, path)
    return path


def fill_store(path: Path) -> Path:
    suite = storing.make_suite()
    storing.fill(path, suite, storing.make_run(suite, name=EVIL), score=storing.FAIL)
    return path


@pytest.fixture(scope="module")
def overview_report(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ReportResult]:
    """The store, and the overview made from it."""
    folder = tmp_path_factory.mktemp("report")
    database = fill_store(folder / "store.duckdb")
    return database, run_report(
        "first",
        database=database,
        notebooks=[NOTEBOOKS / "02_overview.ipynb"],
        out=folder / "reports",
        created=WHEN,
        progress=False,
    )


class References(HTMLParser):
    """Everything in a page that makes a browser ask somebody, and everything that could run."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.handlers: list[str] = []
        self.ids: list[str] = []
        self.feed(page)
        self.close()
        self.loaded += re.findall(r"url\(([^)]*)\)|@import\s+([^;]+)", page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        self.handlers += [name for name in given if name.startswith("on")]
        loading = ("src", "srcset", "data", "poster", "xlink:href")
        self.loaded += [given[name] for name in loading if name in given]
        if "id" in given:
            self.ids.append(given["id"])
        if "href" in given:
            (self.links if tag == "a" else self.loaded).append(given["href"])


# --- parameters


def test_a_notebook_tells_its_parameters(tmp_path: Path) -> None:
    found = notebook_parameters(write_notebook(tmp_path / "n.ipynb"))
    assert {name: one.type for name, one in found.items()} == {
        "database": "str",
        "times": "int",
        "names": "list[str]",
        "break_it": "bool",
    }
    assert found["times"].default == "2" and found["times"].help == "how often"


def test_an_unknown_parameter_is_rejected_before_anything_runs(tmp_path: Path) -> None:
    book = write_notebook(tmp_path / "n.ipynb")
    with pytest.raises(UnknownParameter, match=r"'tims' is no parameter of n\.ipynb.*did you mean 'times'\?"):
        run_report("x", database=tmp_path, parameters={"tims": 1}, notebooks=[book], out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [("times", "2"), ("times", True), ("names", "a"), ("names", [1]), ("break_it", 1), ("database", 3)],
)
def test_a_parameter_of_another_type_is_rejected(tmp_path: Path, name: str, value: object) -> None:
    book = write_notebook(tmp_path / "n.ipynb")
    with pytest.raises(WrongParameter, match=rf"{name} = .*n\.ipynb expects"):
        report.assign_parameters([book], {name: value})


def test_a_parameter_is_one_of_the_values_that_its_notebook_names() -> None:
    board = NOTEBOOKS / "03_leaderboard.ipynb"
    assert report.assign_parameters([board], {"history_by": "prompt"})[0][1] == {"history_by": "prompt"}
    with pytest.raises(
        WrongParameter, match=r"history_by = 'colour': .* expects Literal\['model','prompt'\]"
    ):
        report.assign_parameters([board], {"history_by": "colour"})


def test_each_notebook_gets_what_it_declares(tmp_path: Path) -> None:
    books = [NOTEBOOKS / "01_load.ipynb", NOTEBOOKS / "02_overview.ipynb"]
    plan = report.assign_parameters(books, {"database": "d", "suites": ["seed"], "top_n": 3})
    assert [values for _, values in plan] == [
        {"database": "d", "suites": ["seed"]},
        {"database": "d", "top_n": 3},
    ]


def test_a_file_that_is_no_notebook_is_named(tmp_path: Path) -> None:
    (tmp_path / "n.ipynb").write_text("not JSON", encoding="utf-8")
    with pytest.raises(NotebookMissing, match=r"n\.ipynb: not a Python notebook"):
        notebook_parameters(tmp_path / "n.ipynb")
    with pytest.raises(NotebookMissing, match=r"m\.ipynb: no such notebook"):
        notebook_parameters(tmp_path / "m.ipynb")


@pytest.mark.parametrize("name", ["", "..", "a/b", "-x", "a b", ".hidden"])
def test_a_name_that_is_no_folder_is_rejected(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadReportName):
        run_report(name, database=tmp_path, out=tmp_path)


def test_a_folder_in_the_place_of_latest_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "latest").mkdir()
    with pytest.raises(ReportPathTaken, match="latest: is not a symbolic link"):
        run_report("x", database=tmp_path, notebooks=[write_notebook(tmp_path / "n.ipynb")], out=tmp_path)


def test_pages_are_the_numbered_notebooks_and_those_with_parameters(tmp_path: Path) -> None:
    for name in ("00_explore", "02_overview", "mine", "mine-Copy1", "Untitled", "03_more", "01_load"):
        write_notebook(tmp_path / f"{name}.ipynb")
    scratch = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 + 1")])
    nbformat.write(scratch, tmp_path / "scratch.ipynb")
    nbformat.write(scratch, tmp_path / "04_plain.ipynb")
    found = report.find_pages(tmp_path)
    assert [path.stem for path in found] == ["01_load", "02_overview", "03_more", "04_plain", "mine"]
    pages = report.arrange(found)
    assert [page.file for page in pages] == [
        "index.html",
        "more.html",
        "plain.html",
        "mine.html",
        "load.html",
    ]
    with pytest.raises(NotebookMissing, match="holds no page"):
        report.find_pages(tmp_path / "nowhere")


def test_a_parameter_may_span_lines_and_needs_no_annotation(tmp_path: Path) -> None:
    source = 'many: "list[str]" = [\n    "a",  # first\n    "b",\n]  # which\nplain = 3\nof.another = 1'
    cell = nbformat.v4.new_code_cell(source, metadata={"tags": ["parameters"]})
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "n.ipynb")
    found = notebook_parameters(tmp_path / "n.ipynb")
    assert list(found) == ["many", "plain"]
    assert (found["many"].type, found["many"].help) == ("list[str]", "which")
    assert (found["plain"].type, found["plain"].default) == ("None", "3")


# --- the committed notebooks


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.name)
def test_notebooks_are_committed_clean_with_one_typed_and_commented_parameters_cell(path: Path) -> None:
    book = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    tagged = [cell for cell in code if "parameters" in cell["metadata"].get("tags", [])]
    assert len(tagged) == 1
    lines = [line for line in "".join(tagged[0]["source"]).splitlines() if not line.startswith("#")]
    found = notebook_parameters(path)
    assert len(found) == len(lines), "each line is a parameter that papermill understands"
    assert all(one.type != "None" and one.help for one in found.values())
    if not path.name.startswith("00_"):  # where SQL is tried by hand
        assert "SELECT" not in "".join("".join(cell["source"]) for cell in code)


# --- whole reports


def test_a_failing_notebook_leaves_latest_and_names_the_cell(tmp_path: Path) -> None:
    steps = (
        "import sys\nprint(sys.executable)",
        "## The second step",
        "if break_it:\n    raise ValueError('broken <b>')",
    )
    book = write_notebook(tmp_path / "05_page.ipynb", *steps)
    out = tmp_path / "reports"
    good = run_report("good", database=tmp_path, notebooks=[book], out=out, created=WHEN, progress=False)
    assert good.folder == out / "2026-02-03-good"
    assert os.readlink(out / "latest") == "2026-02-03-good"
    page = (out / "latest" / "index.html").read_text(encoding="utf-8")
    assert sys.executable in page, "the kernel is this interpreter"
    assert sorted(path.name for path in good.folder.glob("[!.]*")) == [
        "05_page.ipynb",
        "index.html",
        "summary.json",
    ]

    for name in ("good", "bad"):
        with pytest.raises(NotebookFailed) as caught:
            run_report(
                name,
                database=tmp_path,
                parameters={"break_it": True},
                notebooks=[book],
                out=out,
                created=WHEN,
                progress=False,
            )
        assert caught.value.notebook == "05_page.ipynb" and caught.value.cell == 5
        assert "cell 5 (under “The second step”): ValueError: broken <b>" in str(caught.value)
        kept = caught.value.executed
        assert kept == out / f"2026-02-03-{name}.failed" / "05_page.ipynb"
        assert "ValueError" in kept.read_text(encoding="utf-8")
        assert os.readlink(out / "latest") == "2026-02-03-good"
        assert (out / "latest" / "index.html").read_text(encoding="utf-8") == page
    assert [path.name for path in out.iterdir() if path.name.startswith(".")] == [".lock"]


@pytest.mark.parametrize(
    ("cell", "cause"),
    [
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "DeadKernelError: the kernel was killed"),
        ("import os\nos._exit(7)", "the kernel ended with exit code 7"),
        ("import time\ntime.sleep(60)", "CellTimeoutError"),
        ("%nosuchmagic", "Line magic function `%nosuchmagic` not found"),
        ("%pushd nowhere", "FileNotFoundError: .*nowhere"),
        ("quit", "CellExits: exit or quit in a cell"),
        ("import sys\nsys.exit(2)", "SystemExit: 2"),
        ("!exit 3", "CommandFailed: exit code 3 of: exit 3"),
        ("%%capture\n1 / 0", "ZeroDivisionError"),
        (
            "class Shy:\n    def _repr_html_(self):\n        raise RuntimeError('shy')\nShy()",
            "RuntimeError",
        ),
    ],
    ids=[
        "killed kernel",
        "dead kernel",
        "hanging cell",
        "failing magic",
        "magic that finds no folder",
        "cell that quits",
        "cell that ends Python",
        "failing shell command",
        "error in a captured cell",
        "object that cannot show itself",
    ],
)
def test_other_ways_to_fail_are_failures_too(tmp_path: Path, cell: str, cause: str) -> None:
    book = write_notebook(tmp_path / "n.ipynb", "1 + 1", cell, "2 + 2")
    with pytest.raises(NotebookFailed, match=rf"n\.ipynb, cell 4 .*{cause}"):
        run_report(
            "x",
            database=tmp_path,
            notebooks=[book],
            out=tmp_path / "out",
            cell_timeout_seconds=4,
            progress=False,
        )
    assert not (tmp_path / "out" / "latest").exists()


def test_notebooks_run_at_once_and_all_failures_are_named(tmp_path: Path) -> None:
    # Each waits for the other: run one after the other they would never end.
    meet = (
        "import pathlib, time\n(pathlib.Path(database) / '{}').touch()\n"
        "while not (pathlib.Path(database) / '{}').exists(): time.sleep(0.02)\n{}"
    )
    books = [
        write_notebook(tmp_path / "02_a.ipynb", meet.format("a", "b", "raise ValueError('first')")),
        write_notebook(tmp_path / "03_b.ipynb", meet.format("b", "a", "raise KeyError('second')")),
    ]
    with pytest.raises(NotebookFailed) as caught:
        run_report(
            "x",
            database=tmp_path,
            notebooks=books,
            out=tmp_path / "out",
            cell_timeout_seconds=60,
            kernels=2,
            progress=False,
        )
    assert caught.value.notebook == "02_a.ipynb"
    assert "ValueError: first (and 03_b.ipynb, cell 3 (under “Page of 03_b”): KeyError" in str(caught.value)
    assert caught.value.executed.is_file()


def test_a_page_is_made_again_only_where_its_inputs_changed(tmp_path: Path) -> None:
    database, price = tmp_path / "store", tmp_path / "price.txt"
    database.write_text("one", encoding="utf-8")
    price.write_text("1", encoding="utf-8")
    books = [
        write_notebook(tmp_path / "02_overview.ipynb", "print(open(database).read())"),
        write_notebook(tmp_path / "03_b.ipynb", "print(names)"),
    ]
    out = tmp_path / "reports"

    def made(name: str, *, later: int = 0, run_all: bool = False, **parameters: object) -> ReportResult:
        return run_report(
            name,
            database=database,
            parameters={"names": ["price.txt"], **parameters},
            notebooks=books,
            out=out,
            created=WHEN + datetime.timedelta(days=later),
            run_all=run_all,
            progress=False,
        )

    both = {"02_overview.ipynb", "03_b.ipynb"}
    assert set(made("first").executed) == both
    again = made("second", later=1)
    assert again.executed == ()
    page = (again.folder / "b.html").read_text(encoding="utf-8")
    assert "2026-02-04 04:05 UTC" in page and "executed 2026-02-03 04:05 UTC" in page
    assert set(made("again", run_all=True).executed) == both
    assert set(made("third", times=3).executed) == both

    write_notebook(books[1], "raise ValueError('broken')")
    with pytest.raises(NotebookFailed):
        made("fourth")
    write_notebook(books[1], "print(names)", "print(times)")
    assert made("fourth").executed == ("03_b.ipynb",), "what was good in a failed report is not done twice"
    database.write_text("two", encoding="utf-8")
    changed = made("fifth")
    assert set(changed.executed) == both
    assert "two" in changed.front.read_text(encoding="utf-8")


def test_a_file_named_by_a_parameter_counts_by_its_content(tmp_path: Path) -> None:
    book = write_notebook(tmp_path / "02_a.ipynb")
    file = tmp_path / "prices.json"
    file.write_text("1", encoding="utf-8")
    key = page_key(book, {"names": [], "path": str(file)}, "store")
    assert page_key(book, {"names": [], "path": str(file), "show_progress": True}, "store") == key
    file.write_text("2", encoding="utf-8")
    assert page_key(book, {"names": [], "path": str(file)}, "store") != key
    assert page_key(book, {"names": [], "path": str(file)}, "other") != key


def test_a_load_is_repeated_only_where_its_sources_or_the_store_changed(tmp_path: Path) -> None:
    answers, database = tmp_path / "answers.json", tmp_path / "store.duckdb"
    answers.write_text('{"t1-shebang-first": "4Gddggp"}', encoding="utf-8")

    def made() -> ReportResult:
        return run_report(
            "x",
            database=database,
            parameters={"sources": [str(answers), str(tmp_path / "nothing.json")], "solvers": ["noop"]},
            notebooks=[NOTEBOOKS / "01_load.ipynb"],
            out=tmp_path / "out",
            progress=False,
        )

    assert "nothing.json: no such file or folder" in made().rejections[0]
    (tmp_path / "nothing.json").write_text('{"t1-duplicate-table": "ZZ"}', encoding="utf-8")
    assert made().executed == ("01_load.ipynb",), "a source that could not be read may be readable now"
    assert made().executed == ()
    answers.write_text('{"t1-shebang-first": "4GddggP"}', encoding="utf-8")
    assert made().executed == ("01_load.ipynb",)
    assert made().executed == ()
    database.unlink()
    assert made().executed == ("01_load.ipynb",)


def test_an_overview_of_a_hostile_store_says_its_findings(
    overview_report: tuple[Path, ReportResult],
) -> None:
    _, made = overview_report
    page = made.front.read_text(encoding="utf-8")
    assert "passes 0\u00a0of\u00a04\u00a0(0.0\u00a0%)" in page
    assert "Published elsewhere, not replayed here" in page
    found = References(page)
    assert "script" not in found.tags or page.count("<script>") == 1
    assert EVIL not in page and "&lt;script&gt;alert(" in page
    assert found.handlers == []
    assert len(found.ids) == len(set(found.ids)), "anchors are unique"


def test_a_page_asks_nobody_for_anything(overview_report: tuple[Path, ReportResult]) -> None:
    _, made = overview_report
    page = made.front.read_text(encoding="utf-8")
    found = References(page)
    assert [source for source in found.loaded if not str(source).startswith("data:")] == []
    assert {"iframe", "object", "embed", "base", "form"}.isdisjoint(found.tags)
    inside = {link.removeprefix("#") for link in found.links if link.startswith("#")}
    assert inside <= set(found.ids), "every link within the page leads somewhere"
    beside = {link for link in found.links if not link.startswith(("#", "https://"))}
    assert all((made.folder / link).exists() for link in beside)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None and policy.group(1).startswith("default-src 'none';")
    assert len(page.encode()) < 5_000_000


def test_the_same_data_gives_the_same_bytes(
    overview_report: tuple[Path, ReportResult], tmp_path: Path
) -> None:
    database, made = overview_report
    again = run_report(
        "first",
        database=database,
        notebooks=[NOTEBOOKS / "02_overview.ipynb"],
        out=tmp_path,
        created=WHEN,
        progress=False,
    )
    assert again.front.read_bytes() == made.front.read_bytes()


# --- parts of a page


def book_of(*cells: nbformat.NotebookNode) -> nbformat.NotebookNode:
    book = nbformat.v4.new_notebook()
    book.cells = list(cells)
    return book


def test_code_and_the_error_stream_show_only_on_request() -> None:
    streams = [nbformat.v4.new_output("stream", name=name, text=f"<{name}>") for name in ("stdout", "stderr")]
    book = book_of(nbformat.v4.new_code_cell("secret = 1", outputs=streams))
    hidden, shown = article(book), article(book, show_code=True)
    assert "secret" not in hidden and "&lt;stdout&gt;" in hidden and "stderr" not in hidden
    assert "secret" in shown and "&lt;stderr&gt;" in shown


def test_scripts_of_an_output_are_left_out() -> None:
    output = nbformat.v4.new_output(
        "display_data", data={"application/javascript": "alert(1)", "text/plain": "the plain text"}
    )
    made = article(book_of(nbformat.v4.new_code_cell("", outputs=[output])))
    assert "alert" not in made and "the plain text" in made


def test_a_foreign_table_gets_a_box_to_scroll_in() -> None:
    output = nbformat.v4.new_output("display_data", data={"text/html": "<table><tr><td>1</td></tr></table>"})
    assert '<div class="scroll"><table>' in article(book_of(nbformat.v4.new_code_cell("", outputs=[output])))


def test_headings_make_the_table_of_contents() -> None:
    text = "# Title\n\n## A & B\n\n### Deeper\n\n#### Not listed"
    made = article(book_of(nbformat.v4.new_markdown_cell(text)))
    assert [(one.level, one.text) for one in headings(made)] == [(1, "Title"), (2, "A & B"), (3, "Deeper")]
    page = Page("index.html", "Front", "02_overview.ipynb")
    whole = wrap(made, page, [page], report="r", created=WHEN)
    assert "<title>Title · r</title>" in whole
    assert '<a href="#A-&amp;-B">A &amp; B</a>' in whole
    assert '<a class="skip" href="#content">' in whole and '<main id="content"' in whole
    assert '<time datetime="2026-02-03T04:05:00Z">2026-02-03 04:05 UTC</time>' in whole
