r"""What would have mended a failed answer: the cheapest of a fixed list of repairs that makes it pass.

A failure can be one of format (the answer stands in a fence, `\<Esc>` for `<Esc>`) or one of Vim
skill (the edit is wrong), and only a replay tells which: a repair counts where the repaired keys,
played in a real Vim, pass by the protocol's own rules, the cap included. Repairs are tried one at
a time and never two together, in the order of `records.Repair`, the cheapest first; none looks
at the target, so none can put an edit right. Whether a repair is worth trying is decided without
Vim: most failures have nothing to repair, and cost nothing here.

Nothing is stored here, and no verdict changes: a repaired answer stays a failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tqdm.auto import tqdm

from vimlib import keys as notation
from vimlib.failures import looks_like_keys, looks_like_prose
from vimlib.records import Attempt, Outcome, Protocol, Repair, Replay, Task
from vimlib.replay import ReplayCache, ReplayRequest, replay_many
from vimlib.sandbox import Confinement
from vimlib.score import score

MOST_TRIES: Final = 8
"""Repaired answers that are tried for one failure, so that no answer, however long, costs more."""

_SAVE = re.compile(r"(?:ZZ|:(?:wq?|x)!?(?:<(?:CR|NL|Enter|Return)>|\n)?)\s*\Z", re.IGNORECASE)
_ESCAPED = re.compile(r"\\<([A-Za-z][\w-]*)\\?>")
_BLOCK = re.compile(r"```[^\n`]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_LABEL = re.compile(r"(?:[-*]\s+|\d{1,2}[.)]\s+|\**)?[A-Z][a-z]+(?: [a-z]+){0,3}\**:\**\s+(\S.*)")


@dataclass(frozen=True, slots=True)
class Failed:
    """One failed answer, as far as a repair needs to know it."""

    task: Task
    protocol: Protocol
    attempt: Attempt
    replay: Replay | None
    """What its own keys did; None: there was nothing to replay."""


def candidates(failed: Failed) -> Iterator[tuple[Repair, str]]:
    """The repaired answers worth trying, the cheapest first, each different from the answer itself.

    Not worth trying: keys that break the notation, that are no fewer than golf's cap, or that have the
    shape of prose; and, for a save that is missing, a buffer that is not the target. Answers of
    several turns have no repair.
    """
    if failed.attempt.turns is not None:
        return
    seen = {failed.attempt.keys or ""}
    tries = 0
    for repair, keys in _repaired(failed):
        if keys in seen or tries == MOST_TRIES:
            continue
        seen.add(keys)
        if _may_pass(keys, failed):
            tries += 1
            yield repair, keys


def _may_pass(keys: str, failed: Failed) -> bool:
    try:
        notation.check_deliverable(keys, failed.protocol)
    except notation.BadNotation:
        return False
    if not keys.strip() or looks_like_prose(keys):
        return False
    golf = failed.protocol is Protocol.GOLF
    return not golf or notation.count(keys, failed.protocol) < len(failed.task.target)


def _repaired(failed: Failed) -> Iterator[tuple[Repair, str]]:
    keys, completion = failed.attempt.keys or "", failed.attempt.completion or ""
    golf = failed.protocol is Protocol.GOLF
    yield from _ended(failed, keys)
    yield Repair.UNESCAPE, _ESCAPED.sub(r"<\1>", keys)

    lines = [line.strip() for line in completion.splitlines() if line.strip()]
    plain = [line for line in lines if not line.startswith(("```", "~~~"))]
    like_keys = [line for line in plain if looks_like_keys(line)]
    for block in _BLOCK.findall(completion):
        inside = [line.strip() for line in block.splitlines() if line.strip()]
        yield from ((Repair.MARKED_UP_LINE, line) for line in inside[-1:])
    for span in reversed(_SPAN.findall(keys if _SPAN.search(keys) else completion)):
        if looks_like_keys(span):
            yield Repair.MARKED_UP_LINE, span.strip()
    if label := _LABEL.fullmatch(keys):
        yield Repair.DROP_PROSE, label[1]
    yield from ((Repair.DROP_PROSE, line) for line in like_keys[-1:])
    yield from ((Repair.FIRST_LINE, line) for line in plain[:1])
    said = [line for line in plain if not looks_like_prose(line)] if golf else keys.splitlines()
    if 1 < len(said) <= 40:
        yield Repair.JOIN_LINES, "".join(said)
        yield Repair.CR_FOR_LINE_BREAK, "<CR>".join(said)


def _ended(failed: Failed, keys: str) -> Iterator[tuple[Repair, str]]:
    """The answer with its end mended, where its replay says that this is what was missing."""
    done = failed.replay
    if done is None:
        return
    target = failed.protocol.formatted(failed.task.target)
    left = done.buffer if done.buffer is not None else (done.final or b"").decode("utf-8", "replace")
    right = failed.protocol.formatted(left) == target
    mode = done.mode or ""
    if right and done.outcome is Outcome.UNFINISHED:
        if mode[:1] == "c":
            yield Repair.SAVE_AND_QUIT, keys + "<CR>"
        elif mode == "n":
            yield Repair.SAVE_AND_QUIT, keys + "ZZ"
        else:
            yield Repair.ESCAPE, keys + "<Esc>ZZ"
    # A save that was typed into the text: seen there, and not in the target.
    save = _SAVE.search(keys)
    if save and any(word in left and word not in target for word in (":w", ":x", "ZZ")):
        quit = "ZZ" if save[0].strip() == "ZZ" else ":wq<CR>"
        yield Repair.ESCAPE, f"{keys[: save.start()]}<Esc>{quit}"


def mend(
    failed: Sequence[Failed],
    *,
    confinement: Confinement = Confinement.FULL,
    cache: Path | None = None,
    executor: Executor | None = None,
    progress: bool = False,
) -> list[Repair | None]:
    """The cheapest repair that makes each answer pass, in the order given; None: none does.

    In rounds, each with the next repair of every answer that is not mended yet. `cache`: file of kept
    replays. Raises NoVim, ConfinementUnavailable, CacheUnusable.
    """
    mended: list[Repair | None] = [None] * len(failed)
    waiting = {place: candidates(one) for place, one in enumerate(failed)}
    kept = ReplayCache(cache) if cache is not None else None
    bar = tqdm(desc="repairing", unit="answer", disable=not progress)
    try:
        while waiting:
            asked = {place: found for place, left in waiting.items() if (found := next(left, None))}
            waiting = {place: waiting[place] for place in asked}
            requests = [
                ReplayRequest(failed[place].protocol, failed[place].task.start, keys)
                for place, (_, keys) in asked.items()
            ]
            replays = replay_many(
                requests, confinement=confinement, executor=executor, cache=kept, progress=bar.update
            )
            for (place, (repair, keys)), done in zip(asked.items(), replays, strict=True):
                one = failed[place]
                if score(one.task, one.protocol, keys, done).passed:
                    mended[place] = repair
                    del waiting[place]
    finally:
        bar.close()
        if kept is not None:
            kept.close()
    return mended
