"""The Vim of this machine: where it is, which build it is, whether it can replay."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
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


_QUESTIONS = ("$VIMRUNTIME", "v:version", "has('eval') && has('timers')", "exists('*echoraw')")
_MENDING = "install Vim 8.2 or newer with +eval and +timers (Debian: apt-get install vim)"


@cache
def find_vim(command: str = "vim") -> Vim:
    """The Vim that `command` names, asked what it can do.

    Raises NoVim where there is none, or one older than 8.2 or without +eval, +timers and echoraw().
    """
    found = shutil.which(command)
    if found is None:
        raise NoVim(f"no Vim: {command!r} is not on the PATH; {_MENDING}")
    path = Path(found).resolve()
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    main = re.search(r"VIM - Vi IMproved (\d+\.\d+)", version)
    if main is None:
        raise NoVim(f"{found} does not say that it is Vim; {_MENDING}")
    patches = re.search(r"Included patches: (?:\d+-)?(\d+)", version)
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
    if len(answers) != len(_QUESTIONS) or int(answers[1]) < 802 or answers[2] != "1" or answers[3] != "1":
        raise NoVim(f"{found} is Vim {main[1]} and lacks +eval, +timers or echoraw(); {_MENDING}")
    release = f"{main[1]}.{patches[1]}" if patches else main[1]
    build = VimBuild(version=release, sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    return Vim(build=build, path=path, runtime=Path(answers[0]))


def vim_build() -> VimBuild:
    """The build that replays here. Raises NoVim."""
    return find_vim().build
