"""Why a failed answer failed: one mode, the first that applies on the way from answer to buffer.

A verdict says "incorrect"; a researcher wants to know whether the model wrote prose, forgot to
save, or made the wrong edit, and how near it was. The rules stand in one ordered table, `RULES`,
which the documentation and the report show as it is. Pure: task, attempt, replay and score give
a `Failure`, and the same give the same everywhere. Nothing is replayed here: what would have
mended an answer is `repair`'s business.

What Vim says of itself (mode, messages) is evidence and can be tampered with by the answer; a
mode may rest on it, a verdict never does. Whether a text is prose is told by stated shapes, with
what the text did in Vim; how often that is right is measured on labelled answers
(docs/failures.md).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Final

from vimlib.keys import GOLF_NAMES
from vimlib.records import (
    Attempt,
    AttemptStatus,
    Failure,
    FailureFlag,
    FailureMode,
    Outcome,
    Protocol,
    Replay,
    Score,
    Step,
    Task,
    VimErrorMessage,
)
from vimlib.score import BoundedMatcher, TooManySteps

__all__ = [
    "EVIDENCE",
    "RULES",
    "Likeness",
    "Rule",
    "Stage",
    "WrongKey",
    "classify",
    "likeness",
    "looks_like_keys",
    "looks_like_prose",
    "wrong_keys",
]

Evidence = Mapping[str, str | int | float | None]

EVIDENCE: Final[Mapping[str, str]] = {
    "why": "what decided the mode, in one line",
    "error_number": "number of Vim's first error (486 for E486)",
    "error": "text of Vim's first error",
    "vim_mode": "Vim's mode(1) at the end",
    "likeness_start": "how alike start and target are, 0 to 1",
    "likeness_end": "how alike what was left and the target are, 0 to 1",
    "to_change": "characters that a diff from start to target deletes or inserts",
    "left_to_change": "characters that a diff from what was left to the target deletes or inserts",
    "diff": "what was left against the target: a unified diff, cut to its first lines",
}
"""The names that `Failure.evidence` may hold, and what each means."""

_TOKEN_LIMITS: Final = frozenset({"max_tokens", "model_length", "length"})
"""Words of harnesses for a model that was stopped by a limit of tokens."""
_DIFF_LINES = 40
_DIFF_WIDTH = 200
_NEAR_SHARE = 0.2
_NEAR_CHARACTERS = 2


# --- how alike two texts are --------------------------------------------------------------------

_CELLS = 200_000_000
"""Product of two lengths up to which characters are compared (some 20 ms), the same everywhere."""
_LINE_STEPS = 2_000_000
"""Steps of difflib that the comparison of the lines of longer texts may take."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike two texts are."""

    ratio: float
    """Twice the characters in common by the characters of both texts, 0 to 1; 1: the same."""
    left: int
    """Characters that are deleted from the one or inserted from the other."""


@lru_cache(maxsize=4096)
def likeness(text: str, target: str) -> Likeness:
    """How alike a text and the target are, by their longest common subsequence of characters.

    An insertion of what is not wanted always makes it less and a deletion of it more, which the
    `partial` of a score (difflib's ratio, with its rule for popular characters) does not promise.
    Texts too long for that are compared by line first.
    """
    total = len(text) + len(target)
    if text == target:
        return Likeness(1.0, 0)
    common = _common(text, target)
    return Likeness(2 * common / total, total - 2 * common)


def _common(one: str, other: str) -> int:
    shorter = min(len(one), len(other))
    head = next((i for i in range(shorter) if one[i] != other[i]), shorter)
    rest = shorter - head
    tail = next((i for i in range(rest) if one[-1 - i] != other[-1 - i]), rest)
    a, b = one[head : len(one) - tail], other[head : len(other) - tail]
    if len(a) * len(b) <= _CELLS:
        return head + tail + _subsequence(a, b)
    lines, other_lines = a.splitlines(keepends=True), b.splitlines(keepends=True)
    try:
        matcher = BoundedMatcher(lines, other_lines, autojunk=False, steps=_LINE_STEPS)
        blocks = matcher.get_matching_blocks()
    except TooManySteps:
        return head + tail
    return head + tail + sum(len(line) for m in blocks for line in lines[m.a : m.a + m.size])


def _subsequence(a: str, b: str) -> int:
    """Length of the longest common subsequence.

    By bits, a row of the table at a time: H. Hyyrö, Bit-parallel LCS-length computation revisited,
    AWOCA 2004.
    """
    if not a or not b:
        return 0
    places: dict[str, int] = {}
    for place, character in enumerate(a):
        places[character] = places.get(character, 0) | 1 << place
    whole = (1 << len(a)) - 1
    row = whole
    for character in b:
        if found := row & places.get(character, 0):
            row = (row + found | row - found) & whole
    return len(a) - row.bit_count()


# --- what a text looks like -----------------------------------------------------------------------

_KEY_NAME = re.compile(
    r"<(?:esc|cr|nl|enter|return|tab|bs|del|space|lt|bar|up|down|left|right|c-[^<>\s]{1,5})>", re.IGNORECASE
)
_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"")
_ENDS = re.compile(
    r"(?:ZZ|ZQ|:(?:w|wq|x|q|wqa|xa|up|write|quit|exit)!?(?:<(?:CR|NL|Enter|Return)>)?)\s*$", re.IGNORECASE
)
_EX = re.compile(r":\s*(?:[%'.$\d,<>+-]*\s*)?(?:s|g|v|d|m|t|w|wq|x|norm|normal|sort|co|j|r|e|let|set|call)\b")
_EX_ANY = re.compile(r"^(?::[%'.$\d,<>]*[a-zA-Z!@&]|/\S+<|\?\S+<)")
_MARKER = re.compile(r"^(?:\d{1,2}[.)]\s+|[-*•>]\s+|#+\s+)?[*_\"'(`]*")
_WORD = r"(?:[A-Z]?[a-z]+(?:['’-][a-z]+)*|[A-Z]{2,}|[AI])"
_SENTENCE = re.compile(
    rf"{_WORD}[,;:.!?)*_\"']*(?:\s+[\"'(*_`]*(?:{_WORD}|\d[\d.,/–-]*)[,;:.!?)*_\"'`]*){{2,}}"
)
_LABEL = re.compile(r"(?:[A-Z][a-z]+(?: [A-Za-z]+){0,3}):(?:\s|\*|$)")
_CODE = re.compile(
    r"(?:return|print|import|from|def|class|for|while|if|elif|else|with|var|let|const|function|echo|sudo|vim|vi)\b"
    r"[\s(:]|#include|[A-Za-z_][\w.]*\(.*|\.[A-Za-z_]\w*\(|[A-Za-z_]\w*\s=\s"
)
_FUNCTION_WORDS = frozenset(
    "the a an to of in on is are was be this that these those you your it its we can will should would use "
    "using with for from and or not by as at which then here there if so i my have has into only each".split()
)
_NORMAL = re.compile(
    r"(?:\d*(?:dd|yy|cc|>>|<<|==|gg|gJ|gv|g[uU~][uU~wWe$]|[dcy][wWeEbB$0^Gjk]|[dcyvu=][ia][wWsptbB\"'`()\[\]{}<>]"
    r"|[vV][hjklwbeGg$0^]*[dycJuU~]|[dcy]?[fFtT].|r.|\"[a-zA-Z0-9+*_]|q[a-z]?|@[a-z@:]|m[a-z]|['`][a-z.]|[GpPJxXDuUjkhlwbeWBE0^$~.,;%{}()vV&nN*#+-]))+"
)
_INSERTS = re.compile(r"(?:\d*[jkhlwbGg$0^]{0,4})(?:[iaoIAOCSsR]|c[wWeb$ai]\S?)\S")


_COMMANDS = re.compile(r"\d*(?:dd|yy|cc|gg|>>|<<|[dcy]i[wWstp\"'`(){}\[\]])")


def looks_like_keys(text: str) -> bool:
    """Whether a line has the shape of keystrokes: key names outside quotes, an ex command, a save and
    quit at the end, nothing but commands of Normal mode, or one of two letters first (`dd`, `gg`)."""
    text = text.strip()
    bare = _QUOTED.sub("", text)
    if looks_like_prose(text):
        return False
    return bool(
        _KEY_NAME.search(bare)
        or _ENDS.search(bare)
        or _EX.match(text)
        or _EX_ANY.match(text)
        or _NORMAL.fullmatch(text)
        or _COMMANDS.match(text)
    )


def looks_like_prose(text: str, *, saved: bool = False) -> bool:
    """Whether a line has the shape of prose or of another language than Vim's keys.

    A sentence: three words or more in a row at its beginning, behind list marks and quotes, with
    two function words, a stop at the end, four words in all, or a list mark. A label: `Output:`. A
    statement of a programming language.
    None of them if it is a command line (`:`), and a statement or label not if key names or a save
    and quit stand in it outside quotes. `saved`: in Vim it saved and quit, which prose hardly does
    by chance: then only a sentence with three function words is prose.
    """
    text = text.strip()
    if not text or text[0] in ":/?" or _NORMAL.fullmatch(text):
        return False
    plain = text[_MARKER.match(text).end() :]  # type: ignore[union-attr]
    words = re.findall(r"[A-Za-z]+", _KEY_NAME.sub(" ", plain).lower())
    function = sum(word in _FUNCTION_WORDS for word in words)
    sentence = _SENTENCE.match(plain)
    if sentence and function >= (3 if saved else 2):
        return True
    if saved:
        return False
    bare = _QUOTED.sub("", plain)
    keys = bool(_KEY_NAME.search(bare) or _ENDS.search(bare))
    if keys:
        return False
    if sentence and (text[-1] in ".:!?" or len(words) >= 4 or plain != text):
        return True
    if _LABEL.match(plain) or _CODE.match(plain):
        return True
    return function >= 3 and len(words) >= 6 and not _INSERTS.match(text)


_OTHER_NAMES = re.compile(r"<([A-Za-z][A-Za-z0-9]*(?:-[^<>\s]{1,9})*)>")
_VIM_NAMES = frozenset(
    "esc escape cr nl enter return tab bs backspace del delete ins insert space lt bar bslash up down left "
    "right home end pageup pagedown leader nop plug cmd ff".split()
)
_MODIFIED = re.compile(r"(?:c|s|m|a|d|t|ctrl|control|shift|alt|meta)-[^<>\s]{1,9}")


def _foreign_names(keys: str, protocol: Protocol) -> list[str]:
    r"""Key names as other notations write them, which the protocol types as text: `\<Esc>`, `<C-[>`."""
    found = re.findall(r"\\<[A-Za-z][\w-]*\\?>", keys)
    found = [one for one in found if one[2:].rstrip(">").rstrip("\\").lower() in _VIM_NAMES | GOLF_NAMES]
    if protocol is Protocol.GOLF:
        for match in _OTHER_NAMES.finditer(keys):
            name = match[1].lower()
            if name not in GOLF_NAMES and (name in _VIM_NAMES or _MODIFIED.fullmatch(name)):
                found.append(match[0])
    return list(dict.fromkeys(found))


# --- one failed answer ------------------------------------------------------------------------------


class _Case:
    """One failed answer with what the rules ask about it, each worked out once and only if asked."""

    def __init__(
        self, task: Task, protocol: Protocol, attempt: Attempt, replay: Replay | None, score: Score | None
    ) -> None:
        self.protocol = protocol
        self.attempt = attempt
        self.replay = replay
        self.score = score
        self.start = protocol.formatted(task.start)
        self.target = protocol.formatted(task.target)
        # Of several turns, the last one decides; so does its replay.
        self.keys = (attempt.turns[-1] if attempt.turns else attempt.keys) or ""
        self.completion = attempt.completion or ""
        self.golf = protocol is Protocol.GOLF
        self.target_as_given = task.target

    @property
    def outcome(self) -> Outcome | None:
        return None if self.replay is None else self.replay.outcome

    @cached_property
    def final(self) -> str | None:
        """The file afterwards as the protocol judges it; a byte that is not UTF-8 as a lone surrogate."""
        if self.replay is None or self.replay.final is None:
            return None
        return self.protocol.formatted(self.replay.final.decode("utf-8", "surrogateescape"))

    @cached_property
    def unsaved(self) -> str | None:
        """The buffer in memory where it differs from the file: changes that were not saved."""
        if self.replay is None or self.replay.buffer is None:
            return None
        return self.protocol.formatted(self.replay.buffer)

    @cached_property
    def end(self) -> str | None:
        """What the answer arrived at: the unsaved buffer, else the file."""
        return self.final if self.unsaved is None else self.unsaved

    @cached_property
    def error(self) -> VimErrorMessage | None:
        return _error_of(self.replay)

    @property
    def at_token_limit(self) -> bool:
        # A prompt that was refused for its length has stopped no model.
        answered = self.attempt.status is AttemptStatus.ANSWERED
        return answered and self.attempt.stop_reason in _TOKEN_LIMITS

    @property
    def fenced(self) -> bool:
        return "```" in self.completion

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the completion that are not blank, without the one that golf takes."""
        lines = [line.strip() for line in self.completion.splitlines() if line.strip()]
        return lines[:-1] if self.golf else lines

    @cached_property
    def before(self) -> Likeness:
        return likeness(self.start, self.target)

    @cached_property
    def after(self) -> Likeness | None:
        return None if self.end is None else likeness(self.end, self.target)


def _no_keys(case: _Case) -> str | None:
    if case.keys.strip():
        return None
    return case.attempt.error or "the answer is empty"


def _truncated(case: _Case) -> str | None:
    if not case.at_token_limit:
        return None
    if not case.golf and case.completion.count("```") >= 2:
        return None  # the block that was taken was complete
    return f"the model stopped for '{case.attempt.stop_reason}' within what was taken"


_NO_ACCIDENT = 12
"""Characters of a line from which on it is like another by no accident."""


def _rewritten(line: str, texts: Iterable[str]) -> bool:
    """Whether a line is one of the text, or eight tenths like one."""
    if line in texts:
        return True
    if len(line) < _NO_ACCIDENT:
        return False
    as_long = (one for one in texts if 2 * len(line) <= 3 * len(one) and 2 * len(one) <= 3 * len(line))
    return any(likeness(line, one).ratio >= 0.8 for one in as_long)


def _prose(case: _Case) -> str | None:
    if case.golf:
        saved = case.outcome is Outcome.FINISHED and case.final != case.start
        return "the line taken is no keystrokes" if looks_like_prose(case.keys, saved=saved) else None
    lines = [line for line in case.keys.splitlines() if line.strip()]
    prose = [line for line in lines if looks_like_prose(line)]
    if prose and (prose[0] == lines[0] or 2 * len(prose) > len(lines)):
        return f"{len(prose)} of {len(lines)} lines taken are no keystrokes"
    # A buffer written out instead of keys has no shape of prose, but these lines; those of another
    # buffer have no shape of keys either.
    texts = {line.strip() for line in f"{case.start}\n{case.target}".splitlines()}
    written_out = sum(line.strip() in texts for line in lines)
    if len(lines) > 1 and 2 * written_out > len(lines):
        return f"{written_out} of {len(lines)} lines taken are lines of the text"
    if len(lines) == 1 and not looks_like_keys(lines[0]) and _rewritten(lines[0].strip(), texts):
        return "the line taken is a line of the text, or nearly"
    if len(lines) > 1 and not any(map(looks_like_keys, lines)):
        return f"none of the {len(lines)} lines taken has the shape of keystrokes"
    return None


_MARKED_UP = re.compile(r"`[^`]+`[.:;]?|\*\*.+\*\*|~~~.*|```.*", re.DOTALL)


def _fence(case: _Case) -> str | None:
    keys = case.keys.strip()
    if keys.startswith(("```", "~~~")):
        return "a fence was taken as the answer"
    return "the answer was taken with its markup" if _MARKED_UP.fullmatch(keys) else None


def _split(case: _Case) -> str | None:
    if not case.golf:
        lines = [line for line in case.keys.splitlines() if line.strip()]
        if len(lines) > 1:
            return f"the answer has {len(lines)} lines, and the breaks between them are typed"
        return None
    if not case.lines or not looks_like_keys(case.keys):
        return None
    above = case.lines[-1]
    if above.startswith(("```", "~~~")) or not looks_like_keys(above) or _ENDS.search(above):
        return None
    return "the line above the one taken is keystrokes too"


def _bad_notation(case: _Case) -> str | None:
    if case.outcome is Outcome.BAD_KEYS:
        return case.replay.detail if case.replay else None
    # What stands in the target, or in the start, may be typed as text on purpose; so may a backslash
    # before a line break, where the target has such lines.
    foreign = [
        name
        for name in _foreign_names(case.keys, case.protocol)
        if name not in case.target
        and name not in case.start
        and not (name in ("\\<CR>", "\\<NL>", "\\<Enter>", "\\<Return>") and "\\\n" in case.target)
    ]
    return f"typed as text: {', '.join(foreign[:5])}" if foreign else None


def _over_cap(case: _Case) -> str | None:
    if case.score is None or not case.score.over_cap:
        return None
    return f"{case.score.keystrokes} keys, the cap is below {len(case.target_as_given)}"


def _ended(outcome: Outcome, why: str) -> Callable[[_Case], str | None]:
    def applies(case: _Case) -> str | None:
        if case.outcome is not outcome or case.replay is None:
            return None
        return f"{why}: {case.replay.detail}" if case.replay.detail else why

    return applies


def _lost(case: _Case) -> str | None:
    if case.outcome is Outcome.FINISHED and case.unsaved is not None:
        return "Vim ended with changes that were not saved"
    return None


def _unfinished(case: _Case) -> str | None:
    if case.outcome is not Outcome.UNFINISHED or case.replay is None:
        return None
    if case.unsaved is None and case.final != case.start:
        return None  # it had saved; only the quit is missing
    return f"the keys ran out in mode '{case.replay.mode or 'unknown'}' with nothing saved"


_OWN_ERRORS = re.compile(r"E184: No such user-defined command: ShFold")
"""Errors of Vim's own runtime files (its syntax of shell scripts, on opening one): no answer's."""


def _error_of(replay: Replay | None) -> VimErrorMessage | None:
    """The first error of a replay that the answer made, as far as Vim told."""
    if replay is None:
        return None
    reported = (error for error in (replay.first_error, replay.last_error) if error is not None)
    return next((error for error in reported if not _OWN_ERRORS.match(error.text)), None)


def _vim_error(case: _Case) -> str | None:
    return None if case.error is None else case.error.text


def _final_newline(case: _Case) -> str | None:
    if case.final is not None and case.final.rstrip("\n") == case.target.rstrip("\n"):
        return "only newlines at the end of the file differ"
    return None


def _same_but(why: str, normal: Callable[[str], object]) -> Callable[[_Case], str | None]:
    def applies(case: _Case) -> str | None:
        same = case.final is not None and normal(case.final) == normal(case.target)
        return why if same else None

    return applies


def _near(case: _Case) -> str | None:
    after, before = case.after, case.before
    if case.final is None or after is None or after.ratio <= before.ratio or after.left >= before.left:
        return None
    if after.left > max(_NEAR_CHARACTERS, _NEAR_SHARE * before.left):
        return None
    return f"{after.left} characters are left to change of {before.left}"


def _destructive(case: _Case) -> str | None:
    if case.replay is not None and case.final is None:
        return "no file was left"
    if case.after is None or case.after.ratio >= case.before.ratio:
        return None
    return f"{case.after.left} characters are left to change, {case.before.left} were at the start"


class Stage(StrEnum):
    """Where on the way from answer to buffer a rule looks."""

    ANSWER = "answer"
    RULES = "rules"
    EXECUTION = "execution"
    RESULT = "result"


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table: the first whose `applies` says why gives the mode."""

    mode: FailureMode
    stage: Stage
    when: str
    """The rule in words."""
    applies: Callable[[_Case], str | None]
    """Why it applies to a case, in one line; None: it does not."""


RULES: Final[tuple[Rule, ...]] = (
    Rule(
        FailureMode.PROVIDER_ERROR,
        Stage.ANSWER,
        "The provider or its harness failed, or refused the request before anything was generated (a prompt "
        "longer than the model's context, a filter). Counted apart, never as a failure of the model.",
        lambda case: (
            case.attempt.error or "the provider failed"
            if case.attempt.status is AttemptStatus.PROVIDER_ERROR
            else None
        ),
    ),
    Rule(FailureMode.NO_ANSWER, Stage.ANSWER, "Nothing but white space was taken from the answer.", _no_keys),
    Rule(
        FailureMode.TRUNCATED,
        Stage.ANSWER,
        "The model was stopped within its answer by the token limit or the end of its context. In bench not "
        "if the fenced block that was taken was closed.",
        _truncated,
    ),
    Rule(
        FailureMode.PROSE,
        Stage.ANSWER,
        "What was taken begins as a sentence (three words in a row behind list marks and quotes, with two "
        "function words, a stop at the end, four words in all, or a list mark), as a label (“Output:”), as a "
        "statement of a programming language, or holds three function words; key names or a save and "
        "quit outside quotes leave only the sentence with two function words, and an answer that saved a "
        "changed file in Vim only one with three. Never a command line. In bench: its first line, or most of "
        "its lines; or most of several lines stand in start or target, or none has the shape of keystrokes; "
        "or a single one without that shape is eight tenths like a line there.",
        _prose,
    ),
    Rule(
        FailureMode.FENCE,
        Stage.ANSWER,
        "What was taken is a fence (```), or stands between backticks or asterisks.",
        _fence,
    ),
    Rule(
        FailureMode.SPLIT_ANSWER,
        Stage.ANSWER,
        "Golf: the line taken and the one above it have the shape of keystrokes (key names, ex command, "
        "save and quit, commands of Normal mode), and the one above does not end with a save and quit. "
        "Bench: what was taken has several lines.",
        _split,
    ),
    Rule(
        FailureMode.BAD_NOTATION,
        Stage.ANSWER,
        "The keys break the notation or cannot be given to a Vim; or a key name of another notation stands "
        "in them and in neither buffer, which is typed as text (`\\<Esc>`; in golf also `<C-[>` or "
        "`<Escape>`).",
        _bad_notation,
    ),
    Rule(
        FailureMode.OVER_CAP,
        Stage.RULES,
        "Golf: as many keys as the target has characters, or more.",
        _over_cap,
    ),
    Rule(
        FailureMode.BLOCKED,
        Stage.EXECUTION,
        "The keys tried what confinement forbids.",
        _ended(Outcome.BLOCKED, "confinement stopped it"),
    ),
    Rule(
        FailureMode.TIMEOUT,
        Stage.EXECUTION,
        "Vim was still at work at the limit of time or output.",
        _ended(Outcome.TIMEOUT, "still at work at the limit"),
    ),
    Rule(
        FailureMode.CRASH,
        Stage.EXECUTION,
        "Vim died of a signal, or of the memory limit.",
        _ended(Outcome.CRASHED, "Vim died"),
    ),
    Rule(
        FailureMode.QUIT_WITHOUT_SAVING,
        Stage.EXECUTION,
        "Vim ended, and its buffer held changes that are not in the file.",
        _lost,
    ),
    Rule(
        FailureMode.UNFINISHED,
        Stage.EXECUTION,
        "Vim waited for more keys, and the file is the start, or the buffer holds changes that are not in "
        "the file.",
        _unfinished,
    ),
    Rule(FailureMode.VIM_ERROR, Stage.RESULT, "Vim reported an error; the first one counts.", _vim_error),
    Rule(
        FailureMode.NO_CHANGE,
        Stage.RESULT,
        "The file is what it was.",
        lambda case: "the file is the start" if case.final == case.start else None,
    ),
    Rule(
        FailureMode.FINAL_NEWLINE,
        Stage.RESULT,
        "File and target are the same but for newlines at their end.",
        _final_newline,
    ),
    Rule(
        FailureMode.WHITESPACE,
        Stage.RESULT,
        "They are the same but for white space.",
        _same_but("only white space differs", lambda text: "".join(text.split())),
    ),
    Rule(
        FailureMode.CASE,
        Stage.RESULT,
        "They are the same but for upper and lower case.",
        _same_but("only upper and lower case differ", str.casefold),
    ),
    Rule(
        FailureMode.ORDER,
        Stage.RESULT,
        "They hold the same lines in another order.",
        _same_but("the lines are right and their order is not", lambda text: sorted(text.split("\n"))),
    ),
    Rule(
        FailureMode.NEAR_MISS,
        Stage.RESULT,
        "The file is nearer to the target than the start was, and at most 2 characters, or a fifth of what "
        "had to be changed, are left to change.",
        _near,
    ),
    Rule(
        FailureMode.DESTRUCTIVE,
        Stage.RESULT,
        "The file is less like the target than the start was, or there is none any more.",
        _destructive,
    ),
    Rule(
        FailureMode.WRONG_EDIT,
        Stage.RESULT,
        "None of these: another edit than the one asked for.",
        lambda case: "another edit than the one asked for",
    ),
)
"""All rules, in order: the first that applies gives the mode."""


def classify(
    task: Task, protocol: Protocol, attempt: Attempt, replay: Replay | None, score: Score | None
) -> Failure | None:
    """Why an attempt failed; None where it did not.

    None too where nobody knows: attempts that are unscored (the harness failed), that were cancelled,
    or whose source holds a verdict but no keys. `score`: None where the attempt was not judged, as
    after a provider's error.
    """
    if attempt.status is AttemptStatus.ANSWERED:
        if score is None or score.passed is not False:
            return None
    elif attempt.status is not AttemptStatus.PROVIDER_ERROR:
        return None
    case = _Case(task, protocol, attempt, replay, score)
    for rule in RULES:
        why = rule.applies(case)
        if why is not None:
            return Failure(rule.mode, _flags(case), _evidence(case, why))
    raise AssertionError("the last rule always applies")


def _flags(case: _Case) -> tuple[FailureFlag, ...]:
    score = case.score
    right = case.end is not None and case.end == case.target
    capped = score is not None and bool(score.over_cap)
    # Within the cap and not saved, or saved and over the cap: one thing was wrong, not two.
    saved = score is not None and bool(score.correct)
    holds = {
        FailureFlag.WOULD_HAVE_PASSED: right and (saved or not capped),
        FailureFlag.VIM_ERROR: case.error is not None,
        FailureFlag.OVER_CAP: capped,
        FailureFlag.TOKEN_LIMIT: case.at_token_limit,
        FailureFlag.FENCE: case.fenced,
        FailureFlag.NOT_UTF8: case.final is not None and any("\udc80" <= c <= "\udcff" for c in case.final),
        FailureFlag.NEARER: case.after is not None and case.after.ratio > case.before.ratio,
    }
    return tuple(flag for flag in FailureFlag if holds[flag])


def _evidence(case: _Case, why: str) -> Evidence:
    error = case.error
    found: dict[str, str | int | float | None] = {"why": " ".join(why.split())[:300]}
    if error is not None:
        found |= {"error_number": error.number, "error": error.text}
    if case.replay is not None and case.replay.mode is not None:
        found["vim_mode"] = case.replay.mode
    if case.after is not None and case.end is not None:
        found |= {
            "likeness_start": round(case.before.ratio, 4),
            "likeness_end": round(case.after.ratio, 4),
            "to_change": case.before.left,
            "left_to_change": case.after.left,
            "diff": _diff(case.end, case.target),
        }
    return found


def _diff(end: str, target: str) -> str:
    """A unified diff without context, its lines and their number cut."""
    a, b = end.split("\n"), target.split("\n")
    if len(a) * len(b) > _LINE_STEPS:
        return "too long to compare by line"
    lines = list(difflib.unified_diff(a, b, "left", "target", lineterm="", n=0))[2:]
    shown = [
        line if len(line) <= _DIFF_WIDTH else line[: _DIFF_WIDTH - 1] + "…" for line in lines[:_DIFF_LINES]
    ]
    if len(lines) > _DIFF_LINES:
        shown.append(f"… {len(lines) - _DIFF_LINES} more lines")
    return "\n".join(shown)


# --- the first wrong key -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WrongKey:
    """Where on its way an answer went wrong, as numbers of keys typed."""

    last_nearer: int | None
    """The last key after which the target was nearer than at the start; None: it never was."""
    first_error: int | None
    """The first key after which Vim had reported an error; None: none was reported."""
    likeness: tuple[float, ...]
    """How alike buffer and target were after each state of the trace, 0 to 1."""


def wrong_keys(steps: Sequence[Step], target: str) -> WrongKey:
    """Where a traced answer went wrong. `target`: as the protocol judges it (`Protocol.formatted`).

    Vim's bookkeeping can lag in sampled traces: a key named here is then the last of its sample.
    """
    ratios = [likeness(step.buffer, target).ratio for step in steps]
    nearer = [step.typed for step, ratio in zip(steps, ratios, strict=True) if ratio > ratios[0]]
    errors = [step.typed for step in steps if step.error and not _OWN_ERRORS.match(step.error.text)]
    return WrongKey(max(nearer, default=None), min(errors, default=None), tuple(ratios))
