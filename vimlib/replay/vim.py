"""The Vim of this machine: where it is, which build it is, whether it can replay."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from vimlib.records import VimBuild, VimlibError


class NoVim(VimlibError):
    """There is no Vim here that can replay keys."""

    exit_code = 6


@dataclass(frozen=True, slots=True)
class Vim:
    """One installed Vim."""

    build: VimBuild
    path: Path
    """The executable itself, links followed."""
    runtime: Path
    """Its runtime folder, `$VIMRUNTIME`."""
    reports: bool = True
    """Whether it can be asked anything: with +eval, +timers and echoraw(). One that cannot plays `bench`
    alone, and leaves no evidence but the file."""


_QUESTIONS = ("$VIMRUNTIME", "v:version", "has('eval') && has('timers')", "exists('*echoraw')")
_MENDING = "install Vim 8.2 or newer with +eval and +timers (Debian: apt-get install vim)"


_chosen: list[tuple[str, bool]] = [("vim", False)]
"""The command whose Vim replays in this process, and whether it may be one that cannot report; the last
counts (`with_vim`)."""


def find_vim(command: str = "") -> Vim:
    """The Vim that `command` names, asked what it can do; '': the one that replays in this process.

    Raises NoVim where there is none, or one older than 8.2 or without +eval, +timers and echoraw().
    """
    return _found(command, False) if command else _found(*_chosen[-1])


@contextmanager
def with_vim(command: str, *, poor: bool = False) -> Iterator[Vim]:
    """Let another Vim replay in this process until the block ends.

    `command`: a path, or a name on the PATH. `poor`: a Vim without +eval will do, as Debian's
    `vim.tiny`; it can play `bench` alone. Nothing else of the process may replay meanwhile, and no
    cluster does so. Raises NoVim.
    """
    vim = _found(command, poor)
    _chosen.append((command, poor))
    try:
        yield vim
    finally:
        _chosen.pop()


@cache
def _found(command: str, poor: bool) -> Vim:
    found = shutil.which(command)
    if found is None:
        raise NoVim(f"no Vim: {command!r} is not on the PATH; {_MENDING}")
    path = Path(found).resolve()
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    main = re.search(r"VIM - Vi IMproved (\d+\.\d+)", version)
    if main is None:
        raise NoVim(f"{found} does not say that it is Vim; {_MENDING}")
    patch = _patch(version)
    script = "".join(f"|put =string({question})" for question in _QUESTIONS)
    asked = subprocess.run(
        [found, "-u", "NONE", "-i", "NONE", "-n", "-es", "--cmd", f"silent! {script[1:]}|%print|qa!"],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=20,
    )
    answers = [line.strip("'") for line in (asked.stdout + asked.stderr).split("\n") if line.strip()]
    release = ".".join(filter(None, (main[1], patch)))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if len(answers) != len(_QUESTIONS) or int(answers[1]) < 802 or answers[2] != "1" or answers[3] != "1":
        if not poor:
            raise NoVim(f"{found} is Vim {main[1]} and lacks +eval, +timers or echoraw(); {_MENDING}")
        runtime = _default_runtime(version, main[1])
        return Vim(VimBuild(f"{release} without +eval", digest), path, runtime, reports=False)
    return Vim(build=VimBuild(version=release, sha256=digest), path=path, runtime=Path(answers[0]))


def _patch(said: str) -> str:
    """The patch level of what `vim --version` says: the end of its last range, since single patches after
    it are taken from later versions and one left out makes two ranges of one; '': it has none."""
    included = re.search(r"Included patches: ([\d, -]+)", said)
    if included is None:
        return ""
    parts = [part.strip() for part in included[1].split(",")]
    ranges = [part for part in parts if "-" in part]
    return (ranges or parts)[-1].rpartition("-")[2]


def _default_runtime(said: str, release: str) -> Path:
    """Where a Vim that cannot be asked looks for its runtime files, as far as they are there."""
    home = re.search(r'fall-back for \$VIM: "([^"]+)"', said)
    folder = Path(home[1] if home else "/usr/share/vim", f"vim{release.replace('.', '')}")
    return folder if folder.is_dir() else Path("/usr/share/vim")


def vim_build() -> VimBuild:
    """The build that replays here. Raises NoVim."""
    return find_vim().build
