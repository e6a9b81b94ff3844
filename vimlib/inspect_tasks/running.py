"""Several models asked for the same tasks, one after another, each in an eval set of Inspect's.

The eval set is what makes a run resumable: the same command again takes the finished answers from the
log that is there and asks only for the rest. A model that cannot be asked is a row that says why, and
the next one has its turn.

Keys come from the environment or `.env`, where Inspect looks for them; no option takes one, and what
could hold one by mistake is refused (`models`) or taken out of the log (`scrubbing`).
"""

from __future__ import annotations

import contextlib
import re
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from vimlib.inspect_tasks.models import ModelAsked
from vimlib.inspect_tasks.scrubbing import scrub
from vimlib.records import Protocol, Suite, Track, TurnState, VimlibError

if TYPE_CHECKING:
    from inspect_ai import Task as InspectTask
    from inspect_ai.log import EvalLog

CONNECT_SECONDS = 5.0
"""What a server has to take the connection, before the first question is asked."""
RETRIES = 6
"""Times that a request is tried again by default, with growing waits: about five minutes in all."""
ATTEMPT_SECONDS = 600
"""What one request may take by default: an endless reply ends there."""


class WrongTrack(VimlibError):
    """Protocol, track and prompt do not go together."""

    exit_code = 2


class NoPlaceForLogs(VimlibError):
    """The folder for the logs cannot be made or written."""


@dataclass(frozen=True, slots=True)
class Question:
    """What all models are asked alike."""

    suite: str
    """Built-in or fetched name, or file: as it will stand in the log."""
    loaded: Suite
    protocol: Protocol
    track: Track = Track.SINGLE
    state: TurnState | None = None
    """Multi-turn alone."""
    max_turns: int = 8
    show: str = "buffer"
    prompt: str = "vimlib"
    confined: bool = True
    epochs: int = 1
    limit: int | None = None
    """Only the first tasks of the suite; None: all."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Generation settings, as Inspect names them; a model's own come before them."""

    @property
    def label(self) -> str:
        """What is asked, as the name of a folder."""
        parts = [_slug(self.loaded.name), _slug(self.loaded.version), self.protocol.value, self.track.value]
        if self.state is not None:
            parts.append(self.state.value)
        return "-".join(parts)


@dataclass(frozen=True, slots=True)
class RunRow:
    """What became of one model. None: not known."""

    model: str
    status: str
    """Inspect's word: success, error, cancelled; or `not asked`."""
    answered: int = 0
    errors: int = 0
    """Samples without an answer."""
    passed: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    log: Path | None = None
    why: str | None = None
    """Why it was not all answered, in one line."""


def question(
    suite: str,
    *,
    protocol: Protocol | None = None,
    track: Track = Track.SINGLE,
    state: TurnState | None = None,
    prompt: str = "vimlib",
    **rest: Any,
) -> Question:
    """A question whose parts go together. Raises WrongTrack, and what `load_suite` raises.

    The protocol is by default the suite's first for single turns, bench for several, golf for the blind
    probe.
    """
    from vimlib.suites import load_suite

    only = {Track.MULTI: Protocol.BENCH, Track.BLIND: Protocol.GOLF}.get(track)
    if protocol is not None and only is not None and protocol is not only:
        raise WrongTrack(f"the {track} track is played by {only}, not {protocol}; leave --protocol out")
    if state is not None and track is not Track.MULTI:
        raise WrongTrack(f"the {track} track has no turns for --state {state}; give --track multi")
    loaded = load_suite(suite)
    rules = protocol or only or loaded.protocols[0]
    if prompt != "vimlib" and (rules is not Protocol.GOLF or track is not Track.SINGLE):
        raise WrongTrack(f"--prompt {prompt} is for single turns of golf, not for {rules} {track}")
    if track is Track.MULTI:
        state = state or TurnState.FRESH
    return Question(_portable(suite), loaded, rules, track=track, state=state, prompt=prompt, **rest)


def run_models(
    asked: Question,
    models: Iterable[ModelAsked],
    out: Path,
    *,
    display: str = "none",
    tell: Callable[[str], None] = lambda line: None,
) -> list[RunRow]:
    """Ask each model in turn and return a row for each; the logs go below `out`.

    `display` is Inspect's. `tell` is called with a line for what is worth knowing on the way.

    Raises NoPlaceForLogs, and KeyboardInterrupt where the user stops it.
    """
    rows = []
    for model in models:
        folder = out / asked.label / _slug(model.name)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise NoPlaceForLogs(
                f"{folder}: cannot be made ({error.strerror}); name another folder with --out"
            ) from error
        rows.append(_run_model(asked, model, folder, display, tell))
        if rows[-1].why is not None:
            tell(f"{model.name}: {rows[-1].why}")
    return rows


def _run_model(
    asked: Question, model: ModelAsked, folder: Path, display: str, tell: Callable[[str], None]
) -> RunRow:
    from inspect_ai import eval_set
    from inspect_ai.model import ModelCost

    unreachable = _unreachable(model.base_url)
    settings: dict[str, Any] = {"max_retries": RETRIES, "attempt_timeout": ATTEMPT_SECONDS}
    settings |= {**asked.settings, **model.settings}
    if unreachable is not None:
        settings["max_retries"] = 0
    prices = None if model.prices is None else {model.model: ModelCost(**model.prices)}
    try:
        finished, logs = eval_set(
            _task(asked),
            log_dir=str(folder),
            log_dir_allow_dirty=True,
            model=model.model,
            model_base_url=model.base_url,
            model_args=dict(model.args),
            model_cost_config=prices,
            metadata={"vimlib_run": {"model": model.name, "prices": model.prices}},
            display=display,  # type: ignore[arg-type]
            log_level="error",
            log_format="eval",
            # After each answer, so that what was paid for outlives a killed run.
            log_buffer=1,
            log_images=False,
            limit=asked.limit,
            epochs=asked.epochs,
            # An error ends the run as unfinished, so that it can be resumed, but not before the rest
            # was asked; unless there is nobody to ask.
            fail_on_error=True,
            continue_on_fail=unreachable is None,
            retry_attempts=0,
            retry_immediate=False,
            ctl_server=False,
            **settings,
        )
        [log] = logs
        # A log that was complete already is named as a URL, `file:/...`.
        path = Path(re.sub(r"^file:(//)?(?=/)", "", log.location))
        scrub(path)
        return _row(model, log, path, unreachable)
    except KeyboardInterrupt:
        _scrub_what_is_there(folder)
        tell(f"{model.name}: interrupted; its answers so far are in {folder}: the same command goes on there")
        raise
    except OSError as error:
        _scrub_what_is_there(folder)
        return _stopped(model, folder, f"{error.strerror or error} ({error.filename or folder})")
    except Exception as error:
        _scrub_what_is_there(folder)
        return _stopped(model, folder, unreachable or _one_line(error))


def _task(asked: Question) -> InspectTask:
    from vimlib.inspect_tasks import bench, bench_multi, golf, golf_blind

    # Named only where it differs from the default, as Inspect compares a resumed run's arguments.
    given: dict[str, Any] = {"suite": asked.suite}
    if not asked.confined:
        given["confined"] = False
    if asked.track is Track.BLIND:
        return golf_blind(**given)
    if asked.track is Track.MULTI:
        assert asked.state is not None
        return bench_multi(state=asked.state.value, max_turns=asked.max_turns, show=asked.show, **given)
    if asked.protocol is Protocol.BENCH:
        return bench(**given)
    return golf(prompt=asked.prompt, **given)


def _row(model: ModelAsked, log: EvalLog, path: Path, unreachable: str | None) -> RunRow:
    from inspect_ai.log import read_eval_log_sample_summaries

    summaries = read_eval_log_sample_summaries(str(path))
    failed = [one for one in summaries if one.error]
    scores = [(one.scores or {}).get("replay") for one in summaries if not one.error]
    passed = [score.value["passed"] for score in scores if score and isinstance(score.value, dict)]
    usage = [one for summary in summaries for one in (summary.model_usage or {}).values()]
    counted = [one for one in usage if one.total_tokens]
    why = None
    if unreachable is not None:
        why = unreachable
    elif log.status != "success":
        first = _first_error(log, failed)
        why = f"{len(failed)} of {len(summaries)} samples have no answer ({first}); run it again to ask anew"
    return RunRow(
        model=model.name,
        status=log.status,
        answered=len(summaries) - len(failed),
        errors=len(failed),
        passed=sum(value == 1 for value in passed) if passed else None,
        input_tokens=sum(_all_input(one) for one in counted) if counted else None,
        output_tokens=sum(one.output_tokens for one in counted) if counted else None,
        log=path,
        why=why,
    )


def _all_input(usage: Any) -> int:
    return int(
        usage.input_tokens + (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    )


def _first_error(log: EvalLog, failed: Sequence[Any]) -> str:
    said = failed[0].error if failed else log.error.message if log.error else log.status
    return _short(str(said))


def _stopped(model: ModelAsked, folder: Path, why: str) -> RunRow:
    """A row for a model that Inspect could not ask, or not to the end."""
    logs = sorted(folder.glob("*.eval"))
    return RunRow(model.name, "error", log=logs[-1] if logs else None, why=why)


def _scrub_what_is_there(folder: Path) -> None:
    """Scrub the logs of a run that did not end well, as far as they can be read and written."""
    for log in folder.glob("*.eval"):
        with contextlib.suppress(Exception):
            scrub(log)


def _unreachable(base_url: str | None) -> str | None:
    """Why nobody takes a connection at the base URL; None: somebody does, or it is the provider's own."""
    if base_url is None:
        return None
    parts = urlsplit(base_url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout=CONNECT_SECONDS).close()
    except OSError as error:
        return (
            f"nobody answers at {base_url} ({error.strerror or error}); start the server, or mend --base-url"
        )
    return None


def _portable(suite: str) -> str:
    """A file below the working folder by its relative path: logs are shared, and paths are not."""
    path = Path(suite)
    if not path.is_absolute() or not path.exists():
        return suite
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else suite


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "model"


_SHORT = 300


def _short(text: str) -> str:
    line = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", text).split())
    return line if len(line) <= _SHORT else line[: _SHORT - 1] + "…"


def _one_line(error: BaseException) -> str:
    """An exception of Inspect's or a provider's, without its markup and its traceback."""
    said = _short(re.sub(r"\[/?[a-z ]*\]", "", str(error)).strip().removeprefix("ERROR: "))
    if "Model API" in said:
        said += " Expected PROVIDER/MODEL by Inspect's names, such as openai/gpt-5-mini, or --base-url URL."
    return said or type(error).__name__
