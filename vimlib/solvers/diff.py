"""The `diff` solver: from start to target in few keys, without a model and without Vim.

Several ways of writing the edit are proposed, each is played in `model.Vim`, and of those
that end exactly at the target the cheapest is the answer. Proposals are the plain plan of
`hunks` and plans that first run one or more of the whole-buffer commands that `programs`
reads off the differences (substitutions, sorting, deleting by pattern, the same normal
commands on many lines). When nothing else is right, everything is deleted and typed anew.
"""

from __future__ import annotations

from collections.abc import Iterator

from vimlib.records import Protocol, Task
from vimlib.solvers.answer import Unwritable, cost, written
from vimlib.solvers.buffers import Buffer, is_script, loaded, settings, shield, wanted
from vimlib.solvers.lineedit import typed
from vimlib.solvers.model import Unmodelled, Vim
from vimlib.solvers.programs import improved


class _Job:
    """One start and one wanted end, with everything that surrounds the edit proper."""

    def __init__(self, task: Task, protocol: Protocol) -> None:
        self.protocol = protocol
        self.golf = protocol is Protocol.GOLF
        start, end = protocol.formatted(task.start), protocol.formatted(task.target)
        self.same = start == end
        self.start = loaded(start)
        self.ends = wanted(end, self.start)
        self.shield = shield(start, self.start.dos)
        self.script = self.golf and not self.shield and is_script(self.start.lines)
        self.finish = "ZZ" if self.golf else ""
        self.quiet = "" if self.shield or not self.golf else ":se paste\r" if self.script else ":se noai\r"
        """What keeps Vim from indenting what is typed."""

    def whole(self, edit: str, end: Buffer) -> str:
        return self.shield + edit + settings(self.start, end) + self.finish

    def retyped(self, end: Buffer) -> str:
        """Delete all, type all: right whatever the lines hold."""
        if end.empty:
            return ":%d\r"
        text = typed("\n".join(end.lines))
        if not text:
            # a buffer that was emptied writes nothing; one whose only line is empty writes a newline
            return ":%d\rix\x1bx"
        return f"{self.quiet}cG{text}\x1b"


def _answers(job: _Job, proposals: Iterator[tuple[str, Buffer]]) -> str | None:
    best: str | None = None
    for edit, end in proposals:
        keys = job.whole(edit, end)
        if best is None or cost(keys, job.protocol) < cost(best, job.protocol):
            best = keys
    if best is None:
        return None
    try:
        return written(best, job.protocol)
    except Unwritable:
        return None


def _is_text(task: Task) -> bool:
    try:
        (task.start + task.target).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def solve_retype(task: Task, protocol: Protocol) -> str | None:
    """Delete everything and type the target, character by character.

    Returns keys in the protocol's notation; None where start or target hold lone surrogates
    or the target is longer than Vim can be given as keys.
    """
    if not _is_text(task):
        return None
    job = _Job(task, protocol)
    return _answers(job, iter([(job.retyped(end), end) for end in job.ends[:1]]))


def solve_diff(task: Task, protocol: Protocol) -> str | None:
    """Edit start into target with few keys.

    Returns keys in the protocol's notation; None where start or target hold lone surrogates
    or even the cheapest edit is longer than Vim can be given as keys.
    """
    if not _is_text(task):
        return None
    job = _Job(task, protocol)
    if job.same:
        return "ZZ"
    return _answers(job, _proposals(job))


def _proposals(job: _Job) -> Iterator[tuple[str, Buffer]]:
    for end in job.ends:
        yield job.retyped(end), end
        if end.empty:
            yield "dG", end
            continue
        lines, target = list(job.start.lines), list(end.lines)
        if job.start.empty and target == [""]:
            yield "ix\x1bx", end
            continue
        if lines == target:
            yield "", end
            continue
        # typing in a script could set off its type's indenting: without it only what types nothing
        done = False
        for quiet in (False, True) if job.quiet else (bool(job.shield),):
            prefix = job.quiet if quiet else ""
            for edit in improved(lines, target, job.golf, quiet, search=not done):
                if _is_right(edit, lines, target, job.golf, quiet, typing=quiet or not job.script):
                    yield prefix + edit, end
                    done = True
                    break


def _is_right(edit: str, lines: list[str], target: list[str], golf: bool, quiet: bool, typing: bool) -> bool:
    vim = Vim(lines, golf, paste=quiet, typing=typing)
    try:
        vim.run(edit)
    except Unmodelled:
        return False
    return vim.lines == target and not (vim.emptied and target == [""])
