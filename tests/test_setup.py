"""The set-up: one list of dependencies in three files, and a Makefile that says what it can do.

Of the readers used here, pytest brings `packaging`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

PROJECT = Path(__file__).resolve().parent.parent

CONDA_NAMES = {
    "duckdb": "python-duckdb",
    "great-tables": "great_tables",
    "huggingface-hub": "huggingface_hub",
    "jupyter-client": "jupyter_client",
    "matplotlib": "matplotlib-base",  # the rest of conda's `matplotlib` is a window toolkit
}
"""Where conda-forge calls a package otherwise than PyPI does."""

NOT_PYTHON = {"bubblewrap", "libseccomp", "pip", "python", "vim"}
"""What environment.yml lists besides: what the Makefile takes from the system."""

Ranges = dict[str, str]
"""Package name, as PyPI writes it -> version range."""


def as_ranges(lines: list[str]) -> Ranges:
    """The names and ranges of requirement lines, each name once."""
    requirements = [Requirement(line) for line in lines]
    ranges = {canonicalize_name(one.name): str(one.specifier) for one in requirements}
    assert len(ranges) == len(lines), "a package is listed twice"
    return ranges


def declared() -> dict[str, list[str]]:
    """The requirement lines of pyproject.toml: `run`, `dev` and `build`."""
    whole = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    return {
        "run": whole["project"]["dependencies"],
        "dev": whole["project"]["optional-dependencies"]["dev"],
        "build": whole["build-system"]["requires"],
        "python": [whole["project"]["requires-python"]],
    }


def lock_lines() -> list[str]:
    """The requirement lines of requirements.lock, without its comments."""
    lines = (PROJECT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.lstrip().startswith("#")]


def locked() -> dict[str, list[str]]:
    """Package -> its exact versions; more than one where platforms or Pythons differ."""
    versions: dict[str, list[str]] = defaultdict(list)
    for line in lock_lines():
        one = Requirement(line)
        (pin,) = one.specifier
        assert pin.operator == "==", f"not an exact version: {line}"
        versions[canonicalize_name(one.name)].append(pin.version)
    return versions


def conda() -> tuple[list[str], list[str]]:
    """The lines of environment.yml that conda installs, and those that it gives to pip."""
    whole = yaml.safe_load((PROJECT / "environment.yml").read_text(encoding="utf-8"))
    lines = whole["dependencies"]
    (from_pip,) = (line["pip"] for line in lines if isinstance(line, dict))
    return [line for line in lines if isinstance(line, str)], from_pip


@pytest.mark.parametrize("kind", ["run", "dev", "build"])
def test_lock_has_a_version_in_range_of_every_dependency(kind: str) -> None:
    versions = locked()
    for name, allowed in as_ranges(declared()[kind]).items():
        assert versions[name], f"requirements.lock lacks {name}: run `make lock`"
        for version in versions[name]:
            assert Requirement(f"{name}{allowed}").specifier.contains(Version(version)), (
                f"requirements.lock has {name} {version}, pyproject.toml wants {allowed}: run `make lock`"
            )


def test_lock_names_no_host_and_no_place() -> None:
    for line in lock_lines():
        assert re.fullmatch(r"[A-Za-z0-9._\[\],-]+==[\w.+!-]+( ; .+)?", line), line
    text = (PROJECT / "requirements.lock").read_text(encoding="utf-8")
    assert not re.search(r"://|--index|--find-links|--trusted-host|file:|/tmp|/home", text)


def test_lock_serves_every_python_that_the_project_does() -> None:
    names = set(locked())
    for python in ("3.11", "3.12", "3.13"):
        here = {"python_version": python, "python_full_version": f"{python}.9", "sys_platform": "linux"}
        chosen = [
            canonicalize_name(one.name)
            for one in map(Requirement, lock_lines())
            if one.marker is None or one.marker.evaluate({**here, "os_name": "posix"})
        ]
        assert len(chosen) == len(set(chosen)), f"two versions of one package under Python {python}"
        assert set(as_ranges(declared()["run"] + declared()["dev"])) <= set(chosen) <= names


def test_environment_yml_lists_the_same_as_pyproject() -> None:
    from_conda, from_pip = conda()
    pypi_names = {theirs: ours for ours, theirs in CONDA_NAMES.items()}
    listed: Ranges = {}
    for line in from_conda:
        match = re.fullmatch(r"([A-Za-z0-9_.-]+)(.*)", line)
        assert match, line
        if match[1] not in NOT_PYTHON:
            listed[pypi_names.get(match[1], match[1])] = match[2]
    assert "-e ." in from_pip
    listed |= as_ranges([line for line in from_pip if line != "-e ."])
    assert listed == as_ranges(declared()["run"] + declared()["dev"])
    assert f"python{declared()['python'][0]}" in from_conda
    assert {re.split("[<>=]", line)[0] for line in from_conda} >= NOT_PYTHON


def test_make_alone_prints_a_line_for_each_target() -> None:
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^\.PHONY: ([a-z]+)$", makefile, flags=re.MULTILINE)) - {"system", "browser"}
    assert targets >= {"report", "test", "lint", "lab", "verify", "bench", "lock", "clean"}
    done = subprocess.run(["make"], cwd=PROJECT, capture_output=True, text=True, check=True, timeout=60)
    assert {line.split()[1] for line in done.stdout.splitlines()} == targets, done.stdout


# --- what pip cannot install


@pytest.fixture
def bare_path(tmp_path: Path) -> Path:
    """A folder of programs, for a PATH, that holds what the script needs and nothing that it seeks."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("bash", "env", "sh", "cat", "uname"):
        (folder / name).symlink_to(shutil.which(name) or pytest.skip(f"no {name}"))
    return folder


def program(folder: Path, name: str, body: str) -> None:
    """Write a shell program into the folder."""
    (folder / name).unlink(missing_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


def system_packages(path: Path, python: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the script with that PATH alone."""
    return subprocess.run(
        [PROJECT / "scripts" / "system-packages.sh", python, *options],
        env={"PATH": str(path), "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.fixture
def python() -> str:
    """A Python with venv and ensurepip, by its full path."""
    return sys.executable


def test_missing_programs_without_the_right_to_install_end_in_one_command(
    bare_path: Path, python: str
) -> None:
    # As for a user whose sudo asks for a password, whoever runs this test.
    program(bare_path, "apt-get", "exit 100")
    program(bare_path, "sudo", "exit 1")
    done = system_packages(bare_path, python)
    if os.geteuid() == 0:
        assert "apt-get update failed" in done.stderr
    assert done.returncode == 1
    assert "no vim on the PATH; no bwrap (bubblewrap) on the PATH" in done.stderr
    assert re.search(r"Type: sudo apt-get install vim bubblewrap\b", done.stderr.splitlines()[-1])


@pytest.mark.parametrize("speaks", ["", "echo older >&2"])
def test_a_vim_that_cannot_report_on_itself_will_not_do(bare_path: Path, python: str, speaks: str) -> None:
    program(bare_path, "vim", speaks)
    program(bare_path, "bwrap", "")
    done = system_packages(bare_path, python)
    assert done.returncode == 1
    assert "older than 8.2 or lacks +eval, +timers or echoraw()" in done.stderr
    assert "Type: your system's installer for: vim" in done.stderr


def test_missing_programs_are_installed_in_one_call_after_an_update_where_needed(
    bare_path: Path, python: str, tmp_path: Path
) -> None:
    # The installer is played, since a test may not change the machine: its list of packages is
    # missing at first, and then it "installs" this machine's own programs.
    if os.geteuid() != 0:
        program(bare_path, "sudo", 'shift; exec "$@"')
    log, updated = tmp_path / "log", tmp_path / "updated"
    links = "; ".join(f"/bin/ln -s {shutil.which(name)} {bare_path}/{name}" for name in ("vim", "bwrap"))
    program(
        bare_path,
        "apt-get",
        f'echo "$@" >>{log}\n'
        f"case $1 in update) : >{updated};; install) [ -e {updated} ] || exit 100; {links};; esac",
    )
    done = system_packages(bare_path, python)
    assert done.returncode == 0, done.stderr
    calls = log.read_text(encoding="utf-8").splitlines()
    assert [call.split()[0] for call in calls] == ["install", "update", "install"]
    assert "vim bubblewrap" in calls[2]


def link(folder: Path, *names: str) -> None:
    """Put this machine's own programs into the folder."""
    for name in names:
        (folder / name).symlink_to(shutil.which(name) or pytest.skip(f"no {name}"))


def test_a_browser_and_a_second_vim_for_the_tests_are_installed_where_that_may_be(
    bare_path: Path, python: str, tmp_path: Path
) -> None:
    link(bare_path, "vim", "bwrap")
    if os.geteuid() != 0:
        program(bare_path, "sudo", 'shift; exec "$@"')
    program(bare_path, "true", "")
    program(
        bare_path,
        "apt-get",
        f'echo "$@" >>{tmp_path}/log; case $* in *chromium) /bin/ln -s /bin/true {bare_path}/chromium;;'
        f" *vim-tiny) /bin/ln -s /bin/true {bare_path}/vim.tiny;; esac",
    )
    assert system_packages(bare_path, python).returncode == 0
    assert not (tmp_path / "log").exists(), "only the tests need one"
    for _ in range(2):
        assert system_packages(bare_path, python, "--with-browser").returncode == 0
    browser, second_vim = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    assert browser.endswith(" chromium") and second_vim.endswith(" vim-tiny")


def test_no_browser_is_said_and_no_more(bare_path: Path, python: str) -> None:
    link(bare_path, "vim", "bwrap")
    done = system_packages(bare_path, python, "--with-browser")
    assert done.returncode == 0
    assert "tests that look at pages are skipped. Type: your system's installer for: chromium" in done.stderr


def test_an_old_python_is_refused_with_the_way_out(bare_path: Path) -> None:
    program(bare_path, "python3", "exit 1")
    done = system_packages(bare_path, "python3")
    assert done.returncode == 1
    assert "Python 3.11 or newer is needed" in done.stderr
    assert "make PYTHON=" in done.stderr


def test_a_complete_system_is_left_alone(python: str) -> None:
    done = subprocess.run(
        [PROJECT / "scripts" / "system-packages.sh", python], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
