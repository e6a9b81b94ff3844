"""Reports that nobody looks at: what a schedule needs to hold, each thing broken once.

The commands are real, in a folder with small notebooks of its own, so that what fails is what was
broken. Kernels, processes and files are real; nothing is played.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import fsspec
import psutil
import pytest
import yaml
from storing import FAIL, PASS, fill, make_run, make_suite
from test_report import write_notebook

from vimlib import cli
from vimlib.analysis.compare import parse_limit
from vimlib.analysis.headlines import headlines
from vimlib.cli import settings as settings_module
from vimlib.cli.options import REJECTED
from vimlib.report import history, schedule
from vimlib.runs import remote
from vimlib.store import connect

PROJECT = Path(__file__).resolve().parent.parent
VIMLIB = Path(sys.executable).parent / "vimlib"

PAGE = "print(times, names)"
FAILS = "raise ValueError('broken')"
WAITS = "import pathlib, time\npathlib.Path('began').touch()\ntime.sleep(600)"
EATS = "hog = bytearray(3 * 2**30)\nhog[::4096] = b'x' * len(hog[::4096])"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, the current one, with one small page."""
    (tmp_path / "notebooks").mkdir()
    write_notebook(tmp_path / "notebooks" / "02_overview.ipynb", PAGE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def page(project: Path, *cells: str) -> None:
    write_notebook(project / "notebooks" / "02_overview.ipynb", *cells)


def report(*options: str) -> int:
    """The exit code of `vimlib report`, run in this process."""
    with pytest.raises(SystemExit) as ended:
        cli.main(["report", "--unconfined", *options])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def started(*options: str) -> subprocess.Popen[str]:
    """`vimlib report` in a process of its own."""
    return subprocess.Popen(
        [VIMLIB, "report", "--unconfined", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str] | None = None) -> None:
    """Wait until something is so, as long as the process that is to bring it about lives."""
    end = time.monotonic() + 90
    while not condition():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def kernels_of(process: subprocess.Popen[str]) -> list[psutil.Process]:
    return [
        child
        for child in psutil.Process(process.pid).children(recursive=True)
        if "ipykernel_launcher" in child.cmdline()
    ]


def events(project: Path) -> list[str]:
    """The events of the log, in order."""
    return [line.split()[2] for line in (project / "reports" / "report.log").read_text().splitlines()]


# --- what may go wrong


def test_a_failing_report_leaves_latest_tells_somebody_and_says_so_in_the_log(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report() == 0
    good = os.readlink("reports/latest")
    page(project, PAGE, "## Here", FAILS)
    assert report("--name", "nightly", "--notify", "cat >told.json; echo $VIMLIB_STATUS >status") == 8
    assert os.readlink("reports/latest") == good
    [kept] = (project / "reports").glob("*-nightly.failed/02_overview.ipynb")
    assert "ValueError" in kept.read_text(encoding="utf-8")
    told = json.loads((project / "told.json").read_text(encoding="utf-8"))
    assert told["status"] == "failure" and told["report"] == "nightly"
    assert "02_overview.ipynb, cell 5 (under “Here”): ValueError: broken" in told["message"]
    assert (project / "status").read_text().strip() == "failure"
    assert events(project) == ["begin", "done", "begin", "failed"]
    assert "`latest` was left as it was" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("cell", "options", "cause"),
    [
        (EATS, ("--kernel-gib", "1"), "MemoryError"),
        (WAITS, ("--cell-seconds", "2"), "CellTimeoutError"),
        ("import os\nos.kill(os.getpid(), 9)", (), "the kernel was killed .signal 9., as the system does"),
        ("%run nosuch.py", (), "nosuch.py"),
        ("%cd nosuch", (), "FileNotFoundError"),
        ("exit()", (), "CellExits"),
    ],
    ids=[
        "out of memory",
        "hanging cell",
        "killed kernel",
        "failing magic",
        "no such folder",
        "cell that exits",
    ],
)
def test_each_way_to_fail_ends_in_one_line_and_its_code(
    project: Path, capsys: pytest.CaptureFixture[str], cell: str, options: tuple[str, ...], cause: str
) -> None:
    page(project, cell)
    assert report(*options) == 8
    # Of ours: a library may warn there of what another test of this process has left.
    [line] = [said for said in capsys.readouterr().err.splitlines() if said.startswith("vimlib: ")]
    assert re.search(rf"02_overview\.ipynb, cell 3 .*{cause}", line), line
    assert not (project / "reports" / "latest").exists()


def test_a_command_for_notifications_that_fails_or_hangs_changes_nothing(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page(project, FAILS)
    assert report("--notify", "echo no mail here >&2; exit 3") == 8
    assert "--notify ended with exit code 3 (no mail here)" in capsys.readouterr().err
    monkeypatch.setattr("vimlib.report.schedule.NOTIFY_SECONDS", 1)
    assert report("--notify", "sleep 600 & sleep 600") == 8
    assert "--notify took longer than 1 s" in capsys.readouterr().err
    assert events(project)[-1] == "notify-failed"


def test_two_at_once_a_kernel_killed_and_a_report_killed_in_the_middle(project: Path) -> None:
    page(project, WAITS)
    began = project / "notebooks" / "began"
    first = started()
    wait_for(began.exists, first)
    second = started()
    said = second.communicate(timeout=60)[1]
    assert second.returncode == 9 and "another report is being made here" in said
    [kernel] = kernels_of(first)
    kernel.kill()
    said = first.communicate(timeout=60)[1]
    assert first.returncode == 8 and "the kernel was killed" in said

    began.unlink()
    third = started()
    wait_for(began.exists, third)
    [kernel] = kernels_of(third)
    third.kill()
    third.communicate(timeout=60)
    assert list((project / "reports").glob(".2*")), "it had no time to tidy up"
    wait_for(lambda: not kernel.is_running() or kernel.status() == psutil.STATUS_ZOMBIE)
    page(project, PAGE)
    assert report() == 0
    assert not list((project / "reports").glob(".2*"))


def test_a_report_that_is_told_to_end_leaves_no_kernel_and_no_half_report(project: Path) -> None:
    page(project, WAITS)
    running = started()
    wait_for((project / "notebooks" / "began").exists, running)
    [kernel] = kernels_of(running)
    running.send_signal(signal.SIGTERM)
    _, said = running.communicate(timeout=60)
    assert (running.returncode, said.count("\n")) == (130, 1), said
    wait_for(lambda: not kernel.is_running() or kernel.status() == psutil.STATUS_ZOMBIE)
    assert sorted(path.name for path in (project / "reports").iterdir()) == [".lock", "report.log"]
    assert events(project) == ["begin", "interrupted"]


# --- what a schedule relies on


def test_new_only_writes_nothing_where_nothing_is_new_and_baselines_stay(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--name", "nightly", "--new-only", "--baseline", "last")
    assert report(*options) == 0
    first = (project / "reports" / "latest").resolve()
    assert report(*options) == 0
    assert f"nothing new since reports/{first.name}" in capsys.readouterr().out
    page(project, PAGE, PAGE)
    assert report(*options, "--parameter", "times=7") == 0
    second = (project / "reports" / "latest").resolve()
    assert second.name == f"{first.name}.2" and first.is_dir()
    assert "7 ['a']" in (second / "index.html").read_text(encoding="utf-8")
    assert events(project) == ["begin", "done", "begin", "nothing-new", "begin", "done"]
    listed = (project / "reports" / "index.html").read_text(encoding="utf-8")
    assert f'href="{first.name}/index.html"' in listed and f'href="{second.name}/index.html"' in listed
    assert [past.folder.name for past in history.reports(Path("reports"))] == [second.name, first.name]

    page(project, PAGE)
    assert report("--name", "nightly", "--keep", "1", "--baseline", "last") == 0
    assert not first.exists() and second.exists(), "the baseline and what latest leads to stay"


def test_prune_removes_only_old_reports_of_that_name(tmp_path: Path) -> None:
    def made(folder: str, name: str, created: str) -> None:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / history.REMEMBERED).write_text("{}", encoding="utf-8")
        if not folder.endswith(".failed"):
            summary = {"report": name, "created": created}
            (tmp_path / folder / history.SUMMARY).write_text(json.dumps(summary), encoding="utf-8")

    for day in "1234":
        made(f"2026-01-0{day}-nightly", "nightly", f"2026-01-0{day}T00:00:00+00:00")
        made(f"2026-01-0{day}-nightly.failed", "nightly", "")
    made("2026-01-01-nightly-b", "nightly-b", "2026-01-01T00:00:00+00:00")
    (tmp_path / "2026-01-01-mine").mkdir()
    (tmp_path / "latest").symlink_to("2026-01-01-nightly")
    removed = history.prune(tmp_path, "nightly", 2, spare=[])
    assert sorted(path.name for path in removed) == [
        "2026-01-01-nightly.failed",
        "2026-01-02-nightly",
        "2026-01-02-nightly.failed",
    ]
    assert (tmp_path / "2026-01-01-mine").is_dir() and (tmp_path / "2026-01-01-nightly-b").is_dir()


def test_a_new_run_is_held_against_the_last_good_reports_run_of_its_model(tmp_path: Path) -> None:
    suite = make_suite(tasks=30)
    database = tmp_path / "store.duckdb"
    first = make_run(suite, id="first")
    fill(database, suite, first, score=PASS)
    with closing(connect(database)) as con:
        before = headlines(con)
    later = datetime.datetime(2026, 5, 1, tzinfo=datetime.UTC)
    fill(database, suite, make_run(suite, id="worse", created=later), score=FAIL)
    fill(database, suite, make_run(suite, id="other", name="model-b", created=later), score=FAIL)
    fill(database, suite, make_run(suite, id="same", created=later), score=PASS)
    limits = [parse_limit("pass_rate < -0.02"), parse_limit("pass_rate > 0.5")]
    with closing(connect(database)) as con:
        held = schedule.hold_against(con, before, headlines(con), limits)
        again = schedule.hold_against(con, headlines(con), headlines(con), limits)
    assert {(one.candidate, one.base) for one in held} == {("worse", "first"), ("same", "first")}
    assert [(one.candidate, str(one.limit)) for one in held if one.regressed] == [
        ("worse", "pass_rate < -0.02")
    ]
    assert again == []


def test_a_regression_has_its_exit_code_and_is_told(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = make_suite(tasks=30)
    options = ("--database", "store.duckdb", "--fail-if", "pass_rate < -0.02", "--notify", "cat >told.json")
    fill(Path("store.duckdb"), suite, make_run(suite, id="first"), score=PASS)
    assert report(*options) == 0
    later = datetime.datetime(2026, 5, 1, tzinfo=datetime.UTC)
    fill(Path("store.duckdb"), suite, make_run(suite, id="worse", created=later), score=FAIL)
    assert report(*options) == 10
    assert "pass_rate < -0.02: worse against first: " in capsys.readouterr().err
    assert json.loads(Path("told.json").read_text(encoding="utf-8"))["status"] == "regression"
    assert os.readlink("reports/latest").endswith("-report.2")
    assert report("--fail-if", "pass_rate = 3") == 2


# --- settings


def test_settings_are_options_and_options_count_before_them(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "tasks.jsonl").touch()
    (project / "vimlib.toml").write_text(
        """
        [report]
        runs = ["logs", "s3://bucket/logs"]
        suite = ["seed", "tasks.jsonl"]
        name = "nightly"
        new_only = true
        keep = 30
        kernel_gib = 1.5
        cache = ""
        [report.parameters]
        top_n = 5
        names = ["x", "y"]
        """,
        encoding="utf-8",
    )
    monkeypatch.chdir(project / "notebooks")
    options = cli._parse(["report", "--config", "../vimlib.toml", "--keep", "3", "--suite", "vimgolf"])
    assert options.runs == [Path("../logs"), "s3://bucket/logs"]
    assert options.suite == ["vimgolf"]
    assert (options.name, options.new_only, options.keep) == ("nightly", True, 3)
    assert (options.kernel_gib, options.cache) == (1.5, None)
    assert options.parameters == [("top_n", 5), ("names", ["x", "y"])]
    monkeypatch.chdir(project)
    assert cli._parse(["report"]).suite == ["seed", "tasks.jsonl"]
    assert cli._parse(["report", "mine.json"]).runs == [Path("mine.json")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[report]\nnew_onyl = true", "no setting 'new_onyl' of report; did you mean 'new_only'?"),
        ("[reports]\nkeep = 3", "'reports' is not known here; expected settings under [report]"),
        ("keep = 3", "'keep' is not known here"),
        ("[report]\nkeep = true", "keep = True; expected a number"),
        ("[report]\nkeep = 0", "keep = 0; 0: expected 1 or more"),
        ("[report]\nkeep = 1.5", "keep = 1.5; "),
        ("[report]\nnew_only = 1", "new_only = 1; expected true or false"),
        ("[report]\nruns = 'logs'", "runs = 'logs'; expected a list of strings"),
        ("[report]\nfetch = ['vimgulf']", "fetch = 'vimgulf'; expected one of vimgolf, vimbench"),
        ("[report]\nname = 3", "name = 3; expected a string"),
        ("[report\n", "not TOML"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(
    project: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    (project / "vimlib.toml").write_text(text, encoding="utf-8")
    assert report() == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("vimlib: vimlib.toml: ") and said in line
    assert not (project / "reports").exists()


def test_the_settings_in_the_docs_are_settings(project: Path) -> None:
    text = (PROJECT / "docs" / "scheduling.md").read_text(encoding="utf-8")
    [shown] = re.findall(r"^```toml\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    (project / "vimlib.toml").write_text(shown, encoding="utf-8")
    options = cli._parse(["report"])
    assert (options.name, options.keep, options.parameters) == ("nightly", 30, [("top_n", 10)])


def test_the_nightly_workflow_is_one_and_runs_what_there_is() -> None:
    text = (PROJECT / ".github" / "workflows" / "report.yml").read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    steps = workflow["jobs"]["report"]["steps"]
    [command] = [step["run"] for step in steps if "vimlib report" in step.get("run", "")]
    report, _, otherwise = command.partition(" || ")
    options = cli._parse(report.split()[1:])
    assert (options.name, options.baseline, options.keep) == ("nightly", "last", 14)
    assert otherwise == f"[ $? -eq {REJECTED} ]"


def test_every_setting_is_an_option() -> None:
    parser = cli._parser()
    [commands] = [one for one in parser._actions if hasattr(one, "choices") and one.choices]
    inner = commands.choices["report"]  # type: ignore[index, call-overload]
    for action in inner._actions:
        assert action.option_strings or action.dest == "runs"
    assert settings_module.FILE.name == "vimlib.toml"


# --- logs that lie elsewhere


@pytest.fixture
def storage() -> fsspec.AbstractFileSystem:
    """A storage in memory, empty."""
    system = fsspec.filesystem("memory")
    system.store.clear()
    return system


def test_what_is_new_at_an_address_is_fetched_and_only_that(
    tmp_path: Path, storage: fsspec.AbstractFileSystem
) -> None:
    storage.pipe("/logs/a.json", b"{}")
    storage.pipe("/logs/deep/b.eval", b"PK")
    for passed_over in ("/logs/c.txt", "/logs/.d.json", "/logs/.git/e.json", "/logs/logs.json"):
        storage.pipe(passed_over, b"")
    place, fetched = remote.mirror("memory://logs", tmp_path)
    assert fetched == 2
    assert sorted(str(path.relative_to(place)) for path in place.rglob("[!.]*.*")) == [
        "a.json",
        "deep/b.eval",
    ]
    assert remote.mirror("memory://logs", tmp_path) == (place, 0)
    time.sleep(0.01)
    storage.pipe("/logs/a.json", b"{ }")
    assert remote.mirror("memory://logs", tmp_path) == (place, 1)
    assert (place / "a.json").read_bytes() == b"{ }"
    file, fetched = remote.mirror("memory://logs/a.json", tmp_path)
    assert (file.name, file.read_bytes(), fetched) == ("a.json", b"{ }", 1)


@pytest.mark.parametrize("url", ["memory://nothing", "nosuch://bucket/logs", "file:///nonexistent/logs"])
def test_an_address_that_cannot_be_read_is_one_line(
    tmp_path: Path, storage: fsspec.AbstractFileSystem, url: str
) -> None:
    with pytest.raises(remote.RemoteUnreadable) as caught:
        remote.mirror(url, tmp_path)
    assert str(caught.value).startswith(f"{url}: ") and "\n" not in str(caught.value)


def test_names_that_would_leave_the_mirror_are_passed_over() -> None:
    for path in ("logs/../../x.json", "logs/a/../../x.json", "logs/.hidden/x.json", "logs/x.json\0.json"):
        assert remote._inside(path, "logs") is None
    assert remote._inside("logs/a/x.json", "logs") == "a/x.json"


def test_a_report_goes_on_with_what_was_fetched_before(
    project: Path, storage: fsspec.AbstractFileSystem, capsys: pytest.CaptureFixture[str]
) -> None:
    storage.pipe("/logs/answers.json", b'{"t1-shebang-first": "4GddggP"}')
    book = project / "notebooks" / "01_load.ipynb"
    write_notebook(book, "print(sources)")
    parameters = "sources: list[str] = []  # where"
    document = json.loads(book.read_text(encoding="utf-8"))
    document["cells"][1]["source"] = parameters
    book.write_text(json.dumps(document), encoding="utf-8")
    assert report("memory://logs") == 0
    storage.store.clear()
    assert report("memory://logs") == 3
    assert "went on with what was fetched before" in capsys.readouterr().err
    shown = (project / "reports" / "latest" / "load.html").read_text(encoding="utf-8")
    assert "memory-logs" in shown
