"""How each protocol starts Vim: the command line, the files, the limits.

The two command lines are those of the benchmarks themselves (inspect_evals'
`vimgolf_verifier.py`, version 2-A; vimbench's runner), with two additions that change no
verdict: `--not-a-term`, which leaves out a warning and a wait of two seconds, and the
probe, which tells when the keys are used up.
"""

from __future__ import annotations

import hashlib
import importlib.resources
import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from vimlib import keys
from vimlib.records import Protocol
from vimlib.sandbox import Command, Confinement, Limits, Program, Starter

from .vim import Vim

SECONDS = 10.0
"""Wall time of a replay in both protocols."""
VERSIONS = {Protocol.GOLF: "2-A", Protocol.BENCH: "1"}
"""The versions of the rules: inspect_evals' own for golf; ours for bench, which has none."""
END = "\x1eend\x1f"
"""What the probe writes when the keys are used up."""

_IGNORE = b"\x80\xfd\x35"
"""The key <Ignore> as a script holds it: Vim takes it and does nothing."""
_BUFFER = "work/input.txt"
_PROBE = Path(__file__).with_name("probe.vim")
_LIMITS = Limits()
_ENVIRONMENT = {
    # Pinned, so that a replay does not depend on who runs it where.
    "HOME": "{scratch}/home",
    # else Vim makes its folder of temporary files, whose name is random, beside the buffer
    "TMPDIR": "{scratch}/tmp",
    "LANG": "C.UTF-8",
    "TERM": "dumb",
    "LINES": "24",
    "COLUMNS": "80",
    "TZ": "UTC",
    "PATH": "/usr/bin:/bin",
}


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """What a replay depends on."""

    protocol: Protocol
    start: str
    """The buffer as the suite gives it; golf formats it first."""
    keys: str
    """In the protocol's notation."""
    open_end: bool = False
    """Bench: leave out the save and quit that the protocol appends, to see where the keys lead."""


def golf_vimrc() -> Path:
    """The vimrc of the golf protocol: the one that the `vimgolf` package ships."""
    return Path(str(importlib.resources.files("vimgolf") / "vimgolf.vimrc"))


def program(vim: Vim) -> Program:
    """Vim as the sandbox needs to know it: what it may see, and its whole environment."""
    return Program(
        path=vim.path,
        readable=(
            vim.runtime,
            Path("/usr/lib/locale/C.utf8"),
            Path("/lib/terminfo/d/dumb"),
            Path("/usr/share/terminfo/d/dumb"),
        ),
        placed={"probe.vim": _PROBE, "vimgolf.vimrc": golf_vimrc()},
        environment=_ENVIRONMENT | {"VIMRUNTIME": str(vim.runtime)},
        folders=("work", "home", "tmp"),
    )


def starter(vim: Vim, confinement: Confinement) -> Starter:
    """A process that starts Vim as both protocols want it."""
    return Starter(program(vim), _LIMITS, confinement)


def command(request: ReplayRequest, starter: Starter, *, reports: bool = True) -> Command:
    """One replay as a command; `reports`: by a Vim that can run the probe.

    Raises keys.BadNotation where Vim cannot be given the keys.
    """
    keys.check_deliverable(request.keys, request.protocol)
    probe = ("--cmd", f"source {starter.resource('probe.vim')}") if reports else ()
    buffer = f"{starter.scratch}/{_BUFFER}"
    if request.protocol is Protocol.GOLF:
        arguments = [
            *("vim", "-Z", "-n", "--noplugin", "--not-a-term", "-i", "NONE", *probe, "+0"),
            *("-u", starter.resource("vimgolf.vimrc"), "-U", "NONE"),
            f'+call feedkeys("{keys.feedkeys_argument(request.keys)}", "t")',
            *("--nofork", buffer),
        ]
        typed = None
    else:
        arguments = [
            *("vim", "-u", "NONE", "-N", "-n", "--not-a-term", "--cmd", "set shell=/bin/false", *probe),
            *("-s", starter.read_only, buffer),
        ]
        typed = keys.expand(request.keys)
        if not request.open_end:
            typed += b"\x1b:wq!\r"
        elif typed.endswith(b"\x1b"):
            typed += _IGNORE  # an <Esc> at the very end would wait for more
    return Command(
        arguments=arguments,
        files={_BUFFER: request.protocol.formatted(request.start).encode()},
        collect=_BUFFER,
        seconds=SECONDS,
        read_only=typed,
        end_marker=END,
    )


@cache
def fingerprint(protocol: Protocol, vim: Vim, confinement: Confinement) -> str:
    """sha256 (hex) of all that a replay's result depends on, beside start and keys."""
    parts = {
        "protocol": protocol,
        "version": VERSIONS[protocol],
        "vim": vim.build.sha256,
        "confinement": confinement,
        "limits": asdict(_LIMITS) | {"seconds": SECONDS},
        "environment": _ENVIRONMENT,
        "code": [_digest(path) for path in (_PROBE, golf_vimrc(), Path(__file__))],
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def replay_key(request: ReplayRequest, vim: Vim, confinement: Confinement) -> str:
    """sha256 (hex) under which the replay of a request is kept. Lone surrogates count as they are."""
    digest = hashlib.sha256(fingerprint(request.protocol, vim, confinement).encode())
    digest.update(b"open" if request.open_end else b"")
    for text in (request.protocol.formatted(request.start), request.keys):
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
