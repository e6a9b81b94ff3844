"""README.md and docs/ say what is there, and what they tell a user to type works.

Every command line in a block of shell code is run in a folder that looks like a fresh checkout in a
home folder: next to what the project ships it holds the files that the pages themselves show (blocks
with a file's name behind the language) and a small Inspect log. Lines of `make` are run dry, and for
real where that is quick and needs no other set-up. A line that is neither run nor listed here with
its reason fails. In a `console` block what stands below a `$` line is the expected output, `...` for
any lines.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from test_runs import make_log

import vimlib
from vimlib import cli
from vimlib.cli import reports
from vimlib.report.execution import execute
from vimlib.report.kernel import Watch

PROJECT = Path(__file__).resolve().parent.parent
README = PROJECT / "README.md"
PAGES = (README, *sorted((PROJECT / "docs").glob("*.md")))
PROGRAMS = Path(sys.executable).parent
"""Where `vimlib` is: the pages' `.venv/bin`."""

SHELL = {"sh", "bash", "shell", "console"}

NOT_RUN = {
    r"source \.venv/bin/activate": "the tests run inside the environment already",
    r"sudo ": "changes the machine",
    r"git clone ": "needs the network",
    r"conda ": "needs conda and the network",
    r"export ": "sets a key",
    r"(vimlib|make) run ": "asks a model; test_running does, of a server of its own",
    r"inspect ": "asks a model, or scores a log that is not there; test_inspect_tasks does both",
}
"""Beginnings of lines that a test cannot run, and why."""

DRY = {
    "report": "its set-up may install; the command that it would run is run instead, as a load",
    "verify": "its set-up may install; the command that it would run is run instead",
    "run": "asks a model",
    "compare": "needs a store; the command is run by the page on comparing",
    "test": "would run this test",
    "lint": "takes longer than all of this file",
    "lab": "is a server that waits for a browser",
    "fuzz": "takes an hour",
    "bench": "takes minutes",
    "lock": "needs the network",
}
"""Make targets that are run dry only, and why."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    """Of its first line, from 1."""
    language: str
    file: str
    """What stands behind the language: a file that the block shows; '' for none."""
    text: str


@dataclass(frozen=True)
class Line:
    """A command line of a page."""

    where: str
    """Page and line."""
    text: str
    output: str | None
    """What it should print; None: the page does not say."""


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in re.finditer(r"^```(\S*) *(.*)\n((?:.*\n)*?)```$", text, flags=re.MULTILINE):
        line = text.count("\n", 0, found.start(3)) + 1
        yield Block(page, line, found[1], found[2].strip(), found[3])


def command_lines(block: Block) -> Iterator[Line]:
    """The command lines of a block of shell code, joined where they go on with a backslash."""
    where = f"{block.page.name}:{block.line}"
    if block.language == "console":
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            text, _, output = part.partition("\n")
            yield Line(where, text, output)
    elif block.language in SHELL:
        for text in block.text.replace("\\\n", " ").splitlines():
            if shlex.split(text, comments=True):
                yield Line(where, text, None)


ALL_BLOCKS = [block for page in PAGES for block in blocks(page)]
BLOCKS_OF_LINES = [block for block in ALL_BLOCKS if any(command_lines(block))]
"""Blocks that are typed: a line may need what the lines above it in its block have made."""
CRON_LINES = [text for block in ALL_BLOCKS if block.language == "crontab" for text in block.text.splitlines()]


def clean_environment(**more: str) -> dict[str, str]:
    """The environment without what an outer `make` or terminal left in it."""
    left = {name: value for name, value in os.environ.items() if not re.match("MAKE|MFLAGS|COLUMNS", name)}
    return left | more


def run(command: str | list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        shell=isinstance(command, str),
        executable=shutil.which("bash") if isinstance(command, str) else None,
        env=clean_environment(**environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like a checkout in a home folder that has `logs/`, with the files that the pages show."""
    folder = tmp_path_factory.mktemp("home") / "vimlib"
    (folder / ".venv").mkdir(parents=True)
    (folder / ".venv" / "bin").symlink_to(PROGRAMS)
    shutil.copytree(PROJECT / "notebooks", folder / "notebooks", ignore=shutil.ignore_patterns(".*"))
    shutil.copytree(PROJECT / "data" / "suites", folder / "data" / "suites")
    shutil.copytree(PROJECT / "docs" / "examples", folder / "docs" / "examples")
    shutil.copy(PROJECT / "Makefile", folder)
    (folder / "logs").mkdir()
    make_log(folder / "logs")
    (folder.parent / "logs").symlink_to(folder / "logs")
    if (PROJECT.parent / "shared").is_dir():
        (folder.parent / "shared").symlink_to(PROJECT.parent / "shared")
    for block in ALL_BLOCKS:
        if block.file:
            (folder / block.file).write_text(block.text, encoding="utf-8")
    return folder


def run_in(checkout: Path, text: str) -> subprocess.CompletedProcess[str]:
    path = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    return run(text, checkout, PATH=path, HOME=str(checkout.parent))


def targets() -> list[str]:
    """The Makefile's targets for people: those with a `##` line."""
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    return re.findall(r"^([a-z]+):.*## ", makefile, flags=re.MULTILINE)


def help_of(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    with pytest.raises(SystemExit):
        cli.main([*command, "--help"])
    return capsys.readouterr().out


def commands(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return re.findall(r"^    ([a-z]+) ", help_of(capsys), flags=re.MULTILINE)


# --- the README names everything


def test_each_command_has_its_row_in_the_readme(capsys: pytest.CaptureFixture[str]) -> None:
    rows = re.findall(r"^\| `vimlib ([a-z]+)", README.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert rows == commands(capsys)
    assert len(rows) >= 7


def test_each_make_target_has_its_row_in_the_readme() -> None:
    rows = re.findall(r"^\| `make ([a-z]+)` \|", README.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert rows == targets()
    assert len(rows) >= 10


def test_each_exit_code_has_its_row_in_the_readme() -> None:
    codes = set()
    for file in (PROJECT / "vimlib").rglob("*.py"):
        for code in re.findall(
            r"^ +exit_code = (\w+)$", file.read_text(encoding="utf-8"), flags=re.MULTILINE
        ):
            module = ".".join(file.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__")
            codes.add(int(code) if code.isdecimal() else getattr(importlib.import_module(module), code))
    rows = re.findall(r"^\| (\d+) \|", README.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert [int(row) for row in rows] == sorted(codes | {0, 1, reports.REGRESSION, cli.INTERRUPTED})


@pytest.mark.parametrize("page", [*PAGES, PROJECT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_commands_named_in_a_sentence_exist(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    known, made = commands(capsys), targets()
    for code in re.findall(r"`([^`\n]+)`", prose):
        match code.split():
            case ["vimlib" | ".venv/bin/vimlib", name, *options] if name != "COMMAND":
                assert name in known, f"{page.name}: `{code}`"
                kind = [word for word in options[:1] if name == "generate" and word.isalpha()]
                said = help_of(capsys, name, *kind)
                for option in options:
                    if option.startswith("--"):
                        assert option in said, f"{page.name}: `{code}`"
            case ["make", name, *_] if "=" not in name:
                assert name in made, f"{page.name}: `{code}`"


@pytest.mark.parametrize("page", [*PAGES, PROJECT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_links_lead_to_files_that_are_there(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if not re.match(r"https?:", link):
            file, _, anchor = link.partition("#")
            place = page.parent / file if file else page
            assert place.exists(), f"{page.name}: {link}"
            assert not anchor or anchor in anchors(place), f"{page.name}: {link}"


def anchors(page: Path) -> set[str]:
    """Where links may lead on a page: its headings, as GitHub names them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_list_of_pages_leads_to_each() -> None:
    listed = set(re.findall(r"\]\(([a-z]+\.md)\)", (PROJECT / "docs" / "README.md").read_text("utf-8")))
    assert listed == {page.name for page in PAGES} - {"README.md"}


def test_the_newest_version_of_the_changelog_is_this_one() -> None:
    text = (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+?),? ", text, flags=re.MULTILINE)[0] == vimlib.__version__


# --- what a user is told to type


def test_each_make_target_is_run_or_has_its_reason() -> None:
    assert set(targets()) - set(DRY) == {"help", "clean", "distclean"}
    assert set(DRY) < set(targets())


@pytest.mark.parametrize("block", BLOCKS_OF_LINES, ids=lambda block: f"{block.page.name}:{block.line}")
def test_command_lines_of_a_block_work_one_after_the_other(block: Block, checkout: Path) -> None:
    lines = list(command_lines(block))
    absent = (
        [] if (checkout.parent / "shared").exists() else [line for line in lines if "../shared" in line.text]
    )
    for line in lines:
        if line not in absent:
            check_line(line, checkout)
    if absent:
        pytest.skip("needs real inputs that are not part of the project: no folder ../shared")


def check_line(line: Line, checkout: Path) -> None:
    """A command line of a page does what the page says."""
    if any(re.match(begin, line.text) for begin in NOT_RUN):
        return
    words = shlex.split(line.text, comments=True)
    if words[0] == "make":
        check_make(words, checkout)
        return
    said = f"{line.where}: {line.text}"
    programs = {"vimlib", ".venv/bin/vimlib", ".venv/bin/python", "cp"}
    assert words[0] in programs, f"neither run nor listed in NOT_RUN: {said}"
    done = run_in(checkout, line.text)
    assert done.returncode == 0, f"{said}: {done.stderr}"
    assert done.stderr == "", said
    if line.output is not None:
        pattern = re.escape(line.output.rstrip("\n") + "\n").replace(re.escape("...\n"), "(?:.*\n)*")
        assert re.fullmatch(pattern, done.stdout.rstrip("\n") + "\n"), f"{said}: {done.stdout}"


def check_make(words: list[str], checkout: Path) -> None:
    """`make` run dry, and the vimlib command that it would run run for real.

    A report is run as a load with the cheapest solver alone; one about the seed suite is left to
    the tests that do nothing else.
    """
    done = run([words[0], "--dry-run", *words[1:]], PROJECT)
    assert done.returncode == 0, done.stderr
    for text in done.stdout.splitlines():
        if text.startswith(".venv/bin/vimlib ") and not text.rstrip().endswith(" report"):
            text = re.sub(r"^(\S+) report( +--name \S+)?", r"\1 load --solver noop", text)
            ran = run_in(checkout, text)
            assert ran.returncode == 0, ran.stderr


def test_make_clean_and_distclean_leave_answers_and_suites(tmp_path: Path) -> None:
    shutil.copy(PROJECT / "Makefile", tmp_path)
    shutil.copy(README, tmp_path)
    made = ["reports/2026-01-01-daily/index.html", "data/vimlib.duckdb", "data/cache/replays.sqlite"]
    kept = ["data/answers.json", "data/suites/mine.jsonl", "logs/a.eval"]
    for name in (*made, *kept, ".venv/ready"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert run(["make", "clean"], tmp_path).returncode == 0
    assert not any((tmp_path / name).exists() for name in made)
    assert all((tmp_path / name).exists() for name in (*kept, ".venv/ready"))
    assert run(["make", "distclean"], tmp_path).returncode == 0
    assert not (tmp_path / ".venv").exists()
    assert all((tmp_path / name).exists() for name in kept)


def test_python_of_the_pages_works(checkout: Path) -> None:
    assert run_in(checkout, "vimlib load --solver noop --suite my-tasks.jsonl").returncode == 0
    # A program that a page shows as a file is run by a command line of that page.
    shown = [block for block in ALL_BLOCKS if block.language == "python" and not block.file]
    assert any(block.page == README for block in shown)
    for block in shown:
        done = run([sys.executable, "-W", "error", "-c", block.text], checkout)
        assert done.returncode == 0, f"{block.page.name}:{block.line}: {done.stderr}"


def test_the_scheduled_line_makes_a_report_with_what_cron_gives_it(checkout: Path) -> None:
    """And with a page of one's own, as docs/extending.md has it; its pages can be drawn."""
    shutil.copy(PROJECT / "docs" / "examples" / "short_answers.ipynb", checkout / "notebooks")
    for line in CRON_LINES:
        *when, command = line.split(maxsplit=5)
        assert all(re.fullmatch(r"[\d*/,-]+", field) for field in when)
        assert "%" not in command, "cron takes a % for the end of the line"
    [command] = [line.split(maxsplit=5)[5] for line in CRON_LINES if "--name daily" in line]
    home = checkout.parent
    subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=home,
        env={"HOME": str(home), "PATH": "/usr/bin:/bin", "SHELL": "/bin/sh", "LOGNAME": "user"},
        stdin=subprocess.DEVNULL,
        check=True,
        timeout=300,
    )
    page = checkout / "reports" / "latest" / "index.html"
    assert page.resolve().parent.name.endswith("-daily")
    # The pages call a model by the last part of its name; the list of what was loaded, by all of it.
    assert "mockllm/model" in page.with_name("load.html").read_text(encoding="utf-8")
    assert "model passes 0 of 4" in re.sub(r"\s", " ", page.read_text(encoding="utf-8"))
    said = (home / "vimlib-daily.log").read_text(encoding="utf-8")
    assert said.startswith("reports/latest/index.html"), said
    assert page.with_name("short_answers.html").is_file()
    assert "Short answers" in page.read_text(encoding="utf-8")
    if any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        check_pictures_of(page.parent, checkout / "pictures")


def test_the_page_of_ones_own_says_what_it_asks(checkout: Path) -> None:
    name, database = "docs/examples/short_answers.ipynb", "data/short.duckdb"
    load = f"vimlib load --database {database} --solver reference --solver retype --suite my-tasks.jsonl"
    assert run_in(checkout, load).returncode == 0
    done = checkout / "short.ipynb"
    asked = {"database": str(checkout / database), "protocol": "bench"}
    execute(PROJECT / name, done, asked, watch=Watch())
    outputs = [
        out
        for cell in json.loads(done.read_text(encoding="utf-8"))["cells"]
        for out in cell.get("outputs", [])
    ]
    said, shown, table = ("".join(out["data"]["text/html"]) for out in outputs)
    assert "No run of a model" in said
    assert (
        "reference, my-tasks bench: 100.0\u00a0%, 2 of 2; retype, my-tasks bench: 0.0\u00a0%, 0 of 2" in shown
    )
    assert table.count("<tr>") == 3


def test_the_units_of_systemd_are_what_systemd_takes(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("needs systemd-analyze")
    shown = [block.text for block in ALL_BLOCKS if block.language == "ini"]
    for kind, text in zip(("service", "timer"), shown, strict=True):
        (tmp_path / f"vimlib.{kind}").write_text(text, encoding="utf-8")
    program = tmp_path / "vimlib" / ".venv" / "bin" / "vimlib"
    program.parent.mkdir(parents=True)
    program.symlink_to(PROGRAMS / "vimlib")
    (tmp_path / "runtime").mkdir()
    done = run(
        ["systemd-analyze", "verify", "--user", "./vimlib.service", "./vimlib.timer"],
        tmp_path,
        HOME=str(tmp_path),
        XDG_RUNTIME_DIR=str(tmp_path / "runtime"),
        SYSTEMD_UNIT_PATH=f"{tmp_path}:",
    )
    assert (done.returncode, done.stderr) == (0, "")


def check_pictures_of(report: Path, folder: Path) -> None:
    """`scripts/screenshot.sh` draws all pictures that the pages show."""
    done = run(
        [str(PROJECT / "scripts" / "screenshot.sh"), str(report), str(folder)], PROJECT, PYTHON=sys.executable
    )
    assert done.returncode == 0, done.stderr
    assert {path.name for path in folder.iterdir()} == {picture.name for picture in PICTURES}
    for path in folder.iterdir():
        check_picture(path)


# --- the pictures

PICTURES = [
    (page.parent / link).resolve()
    for page in PAGES
    for link in re.findall(r"!\[[^\]]+\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
]


def png_size(path: Path) -> tuple[int, int]:
    """Width and height in pixels, from the header."""
    head = path.read_bytes()[:24]
    assert head.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", head[16:24])
    return width, height


def check_picture(path: Path) -> None:
    """It is as wide as a page, shows something, and is quick to load."""
    width, height = png_size(path)
    assert width == 1280 and 300 <= height <= 2000, path.name
    assert 5_000 < path.stat().st_size < 300_000, path.name


def test_the_pictures_of_the_pages_are_there_and_no_others() -> None:
    assert set(PICTURES) == set((PROJECT / "docs" / "images").iterdir())
    for path in PICTURES:
        check_picture(path)
