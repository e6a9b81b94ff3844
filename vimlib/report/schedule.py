"""What a report needs when nobody looks on: a log, a word to somebody when it matters, and a gate.

It schedules nothing: cron, systemd and others do that better. A schedule calls one command, and this
makes what it did and found reach its owner.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from vimlib import store
from vimlib.analysis.compare import Limit, Verdict, compare, held_against, sentence

_LINEAGE: Final = ("name", "suite_hash", "protocol", "track")
"""What two runs must have in common for the later one to be held against the earlier one."""

NOTIFY_SECONDS: Final = 60
"""Time that a command for notifications may take."""


class Log:
    """A file of one line an event, for whoever asks later what the schedule did."""

    def __init__(self, path: Path | None, name: str, *, make_folder: bool = True) -> None:
        """`make_folder`: of the log; otherwise lines wait until there is one: a report that cannot even
        begin should leave nothing behind."""
        self._path = path
        self._name = name
        self._make_folder = make_folder
        self._waiting = ""

    def write(self, event: str, message: str = "") -> None:
        """Add a line: time (UTC), report, event, message. A log that cannot be written stops nothing."""
        if self._path is None:
            return
        now = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%dT%H:%M:%SZ}"
        line = " ".join("".join(c if c.isprintable() else " " for c in message).split())
        self._waiting += f"{now} {self._name} {event} {line}".rstrip() + "\n"
        with contextlib.suppress(OSError):
            if self._make_folder:
                self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(self._waiting)
            self._waiting = ""


def notify(command: str, status: str, message: str, summary: Mapping[str, Any]) -> str:
    """Run a shell command to tell somebody; '' or, in one line, why it did not work.

    It gets the summary with `status` (`failure` or `regression`) and `message` as JSON on its standard
    input, and both in the environment as VIMLIB_STATUS and VIMLIB_MESSAGE.
    """
    text = json.dumps({"status": status, "message": message, **summary}, ensure_ascii=False)
    environment = {**os.environ, "VIMLIB_STATUS": status, "VIMLIB_MESSAGE": message.replace("\0", " ")}
    try:
        running = subprocess.Popen(
            command,
            shell=True,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return f"--notify could not be run ({error.strerror})"
    try:
        _, said = running.communicate(text.encode("utf-8", "replace"), timeout=NOTIFY_SECONDS)
    except subprocess.TimeoutExpired:
        # Whatever the shell has started holds the pipe as well.
        with contextlib.suppress(OSError):
            os.killpg(running.pid, signal.SIGKILL)
        running.communicate()
        return f"--notify took longer than {NOTIFY_SECONDS} s"
    if running.returncode:
        last = said.decode("utf-8", "replace").strip().rpartition("\n")[2][:200]
        return f"--notify ended with exit code {running.returncode}" + (f" ({last})" if last else "")
    return ""


@dataclass(frozen=True, slots=True)
class Held:
    """A new run held against the last good report's run of the same model on the same tasks."""

    candidate: str
    """Run id of the new run."""
    base: str
    """Run id of the one before."""
    limit: Limit
    verdict: Verdict
    sentence: str
    """The comparison in words."""

    @property
    def regressed(self) -> bool:
        """Whether the whole interval of the difference lies beyond the limit."""
        return self.verdict is Verdict.BEYOND


def hold_against(
    con: store.Connection, before: Mapping[str, Any], now: Mapping[str, Any], limits: Sequence[Limit]
) -> list[Held]:
    """Hold every run that is new since a summary against the newest earlier run of its model.

    The same model name, suite version, protocol and track make a lineage; a new run without an
    earlier one in `before` has nothing to regress from and is left out. Runs of solvers are no
    candidates. One row a pair and limit, in the order of `now`.
    """
    old: dict[tuple[Any, ...], Mapping[str, Any]] = {}
    known = {run["run_id"] for run in before.get("runs", ())}
    for run in sorted(before.get("runs", ()), key=lambda run: run["created"] or ""):
        if run["kind"] == "model":
            old[tuple(run[name] for name in _LINEAGE)] = run
    found = []
    for run in now.get("runs", ()):
        base = old.get(tuple(run[name] for name in _LINEAGE))
        if run["kind"] != "model" or run["run_id"] in known or base is None:
            continue
        comparison = compare(con, base["run_id"], run["run_id"])
        found += [
            Held(
                run["run_id"],
                base["run_id"],
                limit,
                held_against(comparison, limit),
                sentence(comparison),
            )
            for limit in limits
        ]
    return found
