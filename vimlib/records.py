"""The vocabulary: the frozen records and closed sets that travel between the modules.

Everything the workbench says about a task, an answer, a replay or a verdict is one of
these records, so that each word has one meaning and one set of fields. Nothing here
reads a file, starts a process or knows a library; `None` always means "not known" or
"does not apply", never zero.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class VimlibError(Exception):
    """Base of every error that a user can mend.

    The message is one line: what was found, what was expected, what to do. The command
    line prints it without a traceback and exits with `exit_code`.
    """

    exit_code = 1


class Protocol(StrEnum):
    """The rules by which an answer is read, replayed and judged."""

    GOLF = "golf"
    """inspect_evals' `vimgolf_single_turn`, version 2-A: last line, VimGolf keycodes, key cap."""
    BENCH = "bench"
    """vimbench's single-turn track: whole answer or first fence, strict notation, no cap."""

    def formatted(self, text: str) -> str:
        """A buffer as the protocol judges it. Golf: CRLF and CR become LF and a missing final newline
        is added, as the `vimgolf` package's `format_` does; bench: as it is, byte for byte."""
        if self is Protocol.BENCH:
            return text
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        return text if text.endswith("\n") else text + "\n"


class Track(StrEnum):
    """How a run was asked. Scores of different tracks are never compared."""

    SINGLE = "single"
    """One answer, and that is it."""
    MULTI = "multi"
    """Several turns: after each batch of keys the model sees the buffer that they left."""
    BLIND = "blind"
    """One answer without having seen the target: a probe of what a model remembers."""


class TurnState(StrEnum):
    """What one turn of the multi-turn track hands on to the next."""

    FRESH = "fresh"
    """The buffer alone: each turn begins in a new Vim."""
    SESSION = "session"
    """All: one Vim lives on, with its registers, marks, options and undo, until the keys quit it."""


class Outcome(StrEnum):
    """How a replay ended. What it says about the answer's worth is the score's business."""

    FINISHED = "finished"
    """Vim ended by itself, as the keys told it to."""
    UNFINISHED = "unfinished"
    """The keys were used up and Vim waited for more; it was ended there."""
    TIMEOUT = "timeout"
    """Vim was still at work at the limit of time or output. A flood meets either, as fast as the host is."""
    CRASHED = "crashed"
    """Vim died of a signal, or of the memory limit."""
    BAD_KEYS = "bad_keys"
    """The keys break the notation or cannot be given to any Vim (NUL, over 128 KB); Vim was not run."""
    BLOCKED = "blocked"
    """The keys tried what confinement forbids; whatever they left in the file is judged all the same."""
    HARNESS_ERROR = "harness_error"
    """The harness failed, not the answer: counted apart, never as the model's failure."""


class FailureMode(StrEnum):
    """Why an answer failed: the first of these, in this order, that applies on the way from the answer
    to the buffer. The rule behind each is in `failures.RULES`."""

    PROVIDER_ERROR = "provider_error"
    """The provider or its harness failed: no failure of the model, and counted apart."""
    NO_ANSWER = "no_answer"
    """There was nothing to type."""
    TRUNCATED = "truncated"
    """The token limit cut off what was taken as the answer."""
    PROSE = "prose"
    """What was taken is no keystrokes: a sentence, a heading, a line of some program."""
    FENCE = "fence"
    """Markup was taken as the answer, or with it."""
    SPLIT_ANSWER = "split_answer"
    """The solution spans several lines, of which the protocol takes one, or types the breaks between them."""
    BAD_NOTATION = "bad_notation"
    """The keys are written in another notation than the protocol's."""
    OVER_CAP = "over_cap"
    """Golf: as many keys as the target has characters, or more."""
    BLOCKED = "blocked"
    """The keys tried what confinement forbids."""
    TIMEOUT = "timeout"
    """Vim was still at work at the limit of time or output."""
    CRASH = "crash"
    """Vim died of a signal, or of the memory limit."""
    QUIT_WITHOUT_SAVING = "quit_without_saving"
    """Vim ended and changes were lost."""
    UNFINISHED = "unfinished"
    """The keys ran out before the edit was saved."""
    VIM_ERROR = "vim_error"
    """Vim reported an error."""
    NO_CHANGE = "no_change"
    """The file is what it was."""
    FINAL_NEWLINE = "final_newline"
    """Right but for newlines at the end of the file."""
    WHITESPACE = "whitespace"
    """Right but for white space."""
    CASE = "case"
    """Right but for upper and lower case."""
    ORDER = "order"
    """The right lines in another order."""
    NEAR_MISS = "near_miss"
    """Nearly the target, and nearer to it than the start."""
    DESTRUCTIVE = "destructive"
    """Further from the target than the start was."""
    WRONG_EDIT = "wrong_edit"
    """None of these: another edit than the one asked for."""


class FailureFlag(StrEnum):
    """What else is true of a failed answer, whatever its mode."""

    WOULD_HAVE_PASSED = "would_have_passed"
    """The edit was right: with it saved, or within the cap, the answer would have passed."""
    VIM_ERROR = "vim_error"
    """Vim reported an error."""
    OVER_CAP = "over_cap"
    """Golf: over the key cap."""
    TOKEN_LIMIT = "token_limit"
    """The model was stopped by the token limit."""
    FENCE = "fence"
    """The completion holds a fenced block."""
    NOT_UTF8 = "not_utf8"
    """The file that was left is not UTF-8."""
    NEARER = "nearer"
    """What was left is nearer to the target than the start was."""


class Repair(StrEnum):
    """What would have turned a failure into a pass, the cheapest first. Each leaves the edit alone and
    mends how it was written down or ended."""

    SAVE_AND_QUIT = "save_and_quit"
    """A save and quit appended."""
    ESCAPE = "escape"
    """The missing `<Esc>` put before the save and quit."""
    UNESCAPE = "unescape"
    """`\\<Esc>` read as `<Esc>`."""
    MARKED_UP_LINE = "marked_up_line"
    """Taken from inside the markup: the fenced line, or what stands between backticks."""
    DROP_PROSE = "drop_prose"
    """Trailing prose dropped: the last line that is keystrokes taken."""
    FIRST_LINE = "first_line"
    """The first line taken instead of the protocol's."""
    JOIN_LINES = "join_lines"
    """All its lines typed as one, without the breaks between them."""
    CR_FOR_LINE_BREAK = "cr_for_line_break"
    """`<CR>` typed for each line break."""


class AttemptStatus(StrEnum):
    """What became of the request for an answer, before any replay."""

    ANSWERED = "answered"
    """There is an answer to judge (it may be empty)."""
    PROVIDER_ERROR = "provider_error"
    """The provider or its harness failed; there is nothing to judge."""
    CANCELLED = "cancelled"
    """The run was stopped before this answer was complete."""
    NOT_REPLAYABLE = "not_replayable"
    """The source holds a verdict but no keys."""


class TokenConvention(StrEnum):
    """Whether the input tokens that a source reports include cached ones, and how we know."""

    NO_CACHE = "no_cache"
    """It reports no cached tokens, so there was nothing to tell apart."""
    EXCLUSIVE = "exclusive"
    """Its version is known to leave them out; they were added."""
    INCLUSIVE = "inclusive"
    """It is known to include them."""
    INFERRED_EXCLUSIVE = "inferred_exclusive"
    """Not known; only the sum with the cached tokens added gives the total that it reports."""
    INFERRED_INCLUSIVE = "inferred_inclusive"
    """Not known, or known otherwise; only the sum without them gives the total that it reports."""
    ASSUMED = "assumed"
    """Neither known nor told by the total: taken as left out, so as not to count too little."""
    MIXED = "mixed"
    """Several models or calls of one attempt by different conventions."""


class CostKind(StrEnum):
    """How well the cost of an attempt is known."""

    BILLED = "billed"
    """The source says what the provider billed."""
    ESTIMATED = "estimated"
    """Reckoned from tokens, or time, and a dated price list."""
    UNAVAILABLE = "unavailable"
    """Not known: never 0."""


class CostGap(StrEnum):
    """Why a cost is not known."""

    NO_USAGE = "no_usage"
    """The source does not report input or output tokens."""
    IMPLAUSIBLE_USAGE = "implausible_usage"
    """It reports counts that cannot be: negative, absurdly large, or parts larger than their whole."""
    UNKNOWN_MODEL = "unknown_model"
    """No price list knows the model, or the provider that was asked."""
    LOCAL_MODEL = "local_model"
    """It runs on a machine of the user's own, and no price for that was given."""
    UNKNOWN_TERMS = "unknown_terms"
    """A batch or service tier that the price list has no price for."""
    NO_PRICE_THEN = "no_price_then"
    """The user's price file knows the model, but not on that day."""
    NO_DATE = "no_date"
    """It is not known when the run was made, and the price depends on it."""
    NO_TIME = "no_time"
    """The price is by the hour, and the time was not measured."""


class RunKind(StrEnum):
    """Who answered. Solvers are a floor for models and are never ranked among them."""

    MODEL = "model"
    SOLVER = "solver"


@dataclass(frozen=True, slots=True)
class Task:
    """One editing task. Buffers are text as the suite gives it: nothing is formatted yet."""

    id: str
    """Unique in its suite."""
    start: str
    """The buffer before the edit."""
    target: str
    """The buffer after it."""
    instruction: str = ""
    """What the solver is told to do; for VimGolf the challenge's title and description."""
    title: str = ""
    """A short name for tables."""
    tier: int | None = None
    """1 mechanical, 2 motions and text objects, 3 ex commands, 4 composed; None: the suite has none."""
    category: str | None = None
    """A finer kind than the tier, in the suite's own words."""
    reference: str | None = None
    """Keys known to solve the task, in `reference_notation`; None: no solution is known."""
    reference_notation: Protocol = Protocol.BENCH
    """The notation of `reference`. It is stored once; `keys.translate` gives the other."""
    created: datetime.date | None = None
    """When the task was published; None: not known."""
    entries: int | None = None
    """Solutions entered on the public site; None: not known."""
    golfers: int | None = None
    """People who entered one; None: not known."""
    best_score: int | None = None
    """Fewest keys entered on the public site; None: not known."""
    erratum: str | None = None
    """Why the task cannot be judged fairly; None: nothing is known against it."""
    twin_of: str | None = None
    """Of a twin, its original: `suites.twins.twin_of` of that task; None: it is no twin."""


@dataclass(frozen=True, slots=True)
class PublishedSolution:
    """Keys that somebody published for a task: what a model may have read before it answered."""

    task_id: str
    keys: str
    """In the golf notation."""
    source: str
    """Where it was published."""
    claimed: int | None = None
    """Keys as its author counted them; None: not said."""
    verified: bool | None = None
    """Whether it solves the task, as the list that it stands in says; None: not said."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A named, versioned set of tasks. The same name with another hash is another version."""

    name: str
    version: str
    """The suite's own version, or the first 12 hex digits of its hash where it has none."""
    hash: str
    """sha256 (hex) over ids, starts, targets and references in canonical form (`suites.content_hash`)."""
    tasks: tuple[Task, ...]
    """In the suite's own order."""
    protocols: tuple[Protocol, ...]
    """The protocols under which the suite is meant to be judged; the first is the default."""
    origin: str = ""
    """URL or file name it came from."""
    licence: str | None = None
    source_sha256: str | None = None
    """sha256 (hex) of the file it was read from; of a list of their hashes where it was several."""
    revision: str | None = None
    """Commit of the repository it was fetched from; None: not fetched, or the origin has none."""
    fetched: datetime.datetime | None = None
    """When it was fetched, with time zone; None: it was not."""
    published: tuple[PublishedSolution, ...] = ()
    """Solutions that people published for its tasks. The hash leaves them out."""


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of one attempt in the one normal form of the store. None: not reported, never 0.

    Identities: input >= cache_read + cache_write, output >= reasoning, total = input + output.
    """

    input_tokens: int | None = None
    """All input, cached or not."""
    cache_read_tokens: int | None = None
    """Of the input, read from a cache."""
    cache_write_tokens: int | None = None
    """Of the input, written to a cache."""
    output_tokens: int | None = None
    """All output, reasoning included."""
    reasoning_tokens: int | None = None
    """Of the output, spent on reasoning."""
    total_tokens: int | None = None
    billed_usd: float | None = None
    """What the provider says it billed, in US dollars."""
    token_convention: TokenConvention | None = None
    """How the input was brought into the normal form; None: no tokens reported, or never in another."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One answer to one task in one run and epoch, before it is judged."""

    task_id: str
    epoch: int
    """From 1."""
    attempt: int
    """From 1: the retry of the same sample has a higher number."""
    status: AttemptStatus
    completion: str | None = None
    """The model's whole text, untouched; None: there was none."""
    keys: str | None = None
    """What the extraction rule took from it, in the protocol's notation; None: nothing to replay.
    Where there are turns, those of all turns, one after the other."""
    turns: tuple[str, ...] | None = None
    """Multi-turn: the keys of each turn that gave some; None: there are no turns."""
    stop_reason: str | None = None
    error: str | None = None
    """The provider's or harness's message, where status says so."""
    usage: TokenUsage = TokenUsage()
    seconds: float | None = None
    """Time to the answer as the source gives it (Inspect: the model call's time)."""
    request_seconds: tuple[float, ...] | None = None
    """Multi-turn: the time of each request whose time is known; None: there was one, which took `seconds`,
    or their times are not known."""
    waiting_seconds: float | None = None
    """Time that the attempt waited besides, for a slot, a rate limit or before a retry (Inspect: total
    less working time)."""
    source_correct: bool | None = None
    """The verdict that the source itself recorded; kept beside ours and compared."""
    source_partial: float | None = None
    """Likeness of final to target as the source recorded it, 0 to 1."""
    source_efficiency: float | None = None
    """Efficiency as the source recorded it, 0 to 1."""
    source_keystrokes: int | None = None
    """Length of the answer as the source counted it."""
    reasoning: str | None = None
    """What the model thought before it answered, where the source tells; never part of the completion."""
    raw_keys: str | None = None
    """The keys as recorded, with the phantom keys that were stripped; None: there were none."""
    raw_keystrokes: int | None = None
    """Keys in `raw_keys`, phantoms included, as golf counts; None: there were none."""
    source_id: str | None = None
    """The source's own id of this attempt, by which a copy in another file is known; None: none."""
    source_sha256: str | None = None
    """sha256 (hex) of the file that it was read from; None: that of the run."""


@dataclass(frozen=True, slots=True)
class RunSource:
    """One file of the lineage of a run: a retried or resumed run has several, and is one run."""

    sha256: str
    """Of the file (hex)."""
    name: str
    """Of the file, without its folder."""
    created: datetime.datetime | None = None
    """When its part of the run began, with time zone."""
    status: str | None = None
    """The harness's own word: success, error, cancelled, started."""
    harness_id: str | None = None
    """The harness's id of this part (Inspect: `eval_id`)."""
    harness_version: str | None = None
    """Version of the harness that wrote it."""
    samples: int | None = None
    """Samples in the file, copies of earlier files included."""
    header_tokens: int | None = None
    """Total tokens as its header sums them: evidence, never counted. Versions differ in what they sum."""
    damage: str | None = None
    """What is wrong with the file, in words; None: it is whole."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one attempt cost, in US dollars, and how that is known."""

    kind: CostKind
    usd: float | None = None
    """The amount; None: unavailable, or only the range is known."""
    low_usd: float | None = None
    """The least that it can have been; `usd` where that is known; None: unavailable."""
    high_usd: float | None = None
    """The most."""
    gap: CostGap | None = None
    """Why it is unavailable; None: it is not."""
    source: str | None = None
    """'billed', the package with the price list, or the name of the price file."""
    version: str | None = None
    """Of the package; of a file the first 12 hex digits of its sha256."""
    model: str | None = None
    """The list's own entry, such as 'openai/gpt-4o', or the pattern of the price file."""
    price_date: datetime.date | None = None
    """The day whose prices were taken; None: billed, or not dated."""


@dataclass(frozen=True, slots=True)
class Run:
    """One model or solver on one suite under one set of settings, from one source."""

    id: str
    """Stable: the same source gives the same id."""
    kind: RunKind
    name: str
    """Model or solver as the source names it."""
    suite_hash: str
    """Of the suite whose tasks it answered."""
    protocol: Protocol
    attempts: tuple[Attempt, ...]
    track: Track = Track.SINGLE
    turn_state: TurnState | None = None
    """What is carried from turn to turn; None where there are no turns."""
    source: str = ""
    """Name of the source file, without its folder; '' for solvers."""
    source_sha256: str | None = None
    """sha256 (hex) of the source file; None for solvers."""
    extraction: str = ""
    """Name and version of the rule that took the keys from the completion."""
    prompt_version: str | None = None
    task_name: str | None = None
    """The harness's task, such as `vimgolf_single_turn`."""
    task_version: str | None = None
    status: str | None = None
    """The harness's own word: success, error, cancelled, started."""
    created: datetime.datetime | None = None
    """With time zone."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Generation settings as the source records them (temperature, max_tokens, ...)."""
    packages: Mapping[str, str] = field(default_factory=dict)
    """Versions of the packages that made the run."""
    samples_planned: int | None = None
    """Samples (task, epoch) that it set out to answer; None: not known."""
    sources: tuple[RunSource, ...] = ()
    """Every file that it was read from, oldest first; (): one, which `source` names, or none (solvers)."""


@dataclass(frozen=True, slots=True)
class PublishedResult:
    """A result as somebody published it: a summary without answers. Nothing of it can be replayed."""

    benchmark: str
    """vimbench or vimgolf."""
    protocol: Protocol
    model: str
    """As published."""
    place: int
    """In the file that it was read from, from 1."""
    source: str
    """Name of that file, without its folder."""
    source_sha256: str
    """sha256 (hex) of that file."""
    track: str | None = None
    task_set: str | None = None
    tasks: int | None = None
    passed: int | None = None
    pass_rate: float | None = None
    """0 to 1."""
    mean_efficiency: float | None = None
    """0 to 1, over passes."""
    mean_partial: float | None = None
    """0 to 1."""
    mean_turns: float | None = None
    wall_seconds: float | None = None
    """For the whole run."""
    mean_latency_seconds: float | None = None
    p95_latency_seconds: float | None = None
    requests: int | None = None
    usage: TokenUsage = TokenUsage()
    tokens_per_pass: float | None = None
    cost_per_pass_usd: float | None = None
    error: str | None = None
    """Why there is no result; None: there is one."""


@dataclass(frozen=True, slots=True)
class VimBuild:
    """The Vim that replays: results under different builds are never mixed unseen."""

    version: str
    """For instance '9.0.1378'."""
    sha256: str
    """Of the executable file (hex)."""


@dataclass(frozen=True, slots=True)
class VimErrorMessage:
    """An error that Vim reported."""

    number: int | None
    """486 for E486; None where Vim gave none."""
    text: str


@dataclass(frozen=True, slots=True)
class Replay:
    """What real Vim did with (start, keys) under a protocol.

    Only `outcome` and `final` count for a verdict. The rest is what Vim says of itself,
    which an answer can tamper with: evidence for diagnosis, never for passing.
    """

    key: str
    """sha256 (hex) over protocol fingerprint, Vim build, start and keys."""
    outcome: Outcome
    final: bytes | None
    """The file afterwards, as bytes; None: no regular file was left, or it was over the size limit,
    or Vim was not run."""
    wall_seconds: float
    confinement: str
    """What the kernel enforced during the replay: `sandbox.Confinement` value."""
    vim: VimBuild
    cpu_seconds: float | None = None
    """Processor time that Vim used; None: Vim was not run."""
    mode: str | None = None
    """Vim's `mode(1)` at the end; None: not reported."""
    cursor: tuple[int, int] | None = None
    """Line and byte column, from 1."""
    buffer: str | None = None
    """The buffer in memory where it differs from the file."""
    first_error: VimErrorMessage | None = None
    last_error: VimErrorMessage | None = None
    blocked: tuple[str, ...] = ()
    """What confinement stopped, as far as it could be seen: names of system calls or paths."""
    detail: str = ""
    """One line on how it ended, where the outcome alone does not tell (signal, limit, notation error)."""


@dataclass(frozen=True, slots=True)
class Score:
    """The verdict on one answer. Pure function of task, keys, replay and protocol."""

    correct: bool | None
    """The final buffer is the target; None: the harness failed, unscored."""
    passed: bool | None
    """Correct and within the rules (the key cap); None: unscored."""
    partial: float | None
    """0 to 1: `difflib.SequenceMatcher` ratio of final to target; 1 on a pass, 0 if nothing was replayed."""
    efficiency: float | None
    """min(1, reference keys / answer keys) on a pass, 0 on a failure; None: no reference, or unscored."""
    keystrokes: int | None
    """Length of the answer as the protocol counts it; None: it breaks the notation."""
    over_cap: bool | None
    """Golf only: as many keys as the target has characters, or more; None: no cap in this protocol."""
    beats_diff: bool | None = None
    """Fewer keys than the `diff` solver needs for the task; None: `diff` fails there, or keys not counted."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why one answer failed."""

    mode: FailureMode
    flags: tuple[FailureFlag, ...]
    """In the order of their definition."""
    evidence: Mapping[str, str | int | float | None]
    """What decided it and how near it was, by name; `failures.EVIDENCE` says what each name means."""


@dataclass(frozen=True, slots=True)
class Step:
    """The state after some keys of an answer."""

    typed: int
    """How many keys were typed; 0: the start."""
    key: str
    """The last of them, in the protocol's notation; '' at the start."""
    buffer: str
    """The buffer in memory, and once Vim has ended the file it left; bytes that are not UTF-8 as \\xNN."""
    mode: str | None
    """As Vim's `mode(1)`; None: Vim had ended, or could not say."""
    cursor: tuple[int, int] | None
    """Line and byte column, from 1."""
    error: VimErrorMessage | None
    """The last error so far."""
    outcome: Outcome
    """unfinished: Vim waited for more keys; else how it had ended by now."""


@dataclass(frozen=True, slots=True)
class Trace:
    """The states of one answer, in order."""

    keys: tuple[str, ...]
    """All keys of the answer."""
    steps: tuple[Step, ...]

    @property
    def sampled(self) -> bool:
        """Whether states were left out because the answer is long."""
        return len(self.steps) < len(self.keys) + 1
