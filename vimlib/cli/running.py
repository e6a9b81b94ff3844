"""`vimlib run`: models asked through Inspect, their answers in logs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vimlib.cli.options import REJECTED, RUNS, confinement_asked
from vimlib.cli.terminal import say, shows_progress, table
from vimlib.records import Protocol, Track, TurnState, VimlibError

if TYPE_CHECKING:
    from vimlib.inspect_tasks.models import ModelAsked

_SETTINGS = {
    "temperature": (float, "T", "sampling temperature"),
    "top-p": (float, "P", "nucleus sampling"),
    "seed": (int, "N", "of the provider's sampling"),
    "max-tokens": (int, "N", "longest reply"),
    "reasoning-effort": (str, "E", "low, medium, high ...: what the provider knows"),
    "max-connections": (int, "N", "requests at once"),
    "max-retries": (int, "N", "times that a failing request is tried again"),
    "attempt-timeout": (int, "SECONDS", "the longest that one request may take"),
}
"""Generation settings that are options: kind, placeholder, help. Others stand in a file of models."""


class NothingToAsk(VimlibError):
    """`vimlib run` was given no model."""

    exit_code = 2


def _run(options: argparse.Namespace) -> int:
    models = _models(options)
    # Asked before Inspect is imported, which takes its time.
    options.scheduler = ""
    confinement_asked(options)

    from vimlib.inspect_tasks.running import question, run_models

    given = {name.replace("-", "_"): getattr(options, name.replace("-", "_")) for name in _SETTINGS}
    rows: list[list[object]] = []
    failed = False
    for suite in options.suite or ["seed"]:
        asked = question(
            suite,
            protocol=Protocol(options.protocol) if options.protocol else None,
            track=Track(options.track),
            state=TurnState(options.state) if options.state else None,
            prompt=options.prompt,
            max_turns=options.max_turns,
            show=options.show,
            confined=not options.unconfined,
            epochs=options.epochs,
            limit=options.limit,
            settings={name: value for name, value in given.items() if value is not None},
        )
        what = f"{asked.loaded.name} {asked.loaded.version}"
        display = "rich" if shows_progress() else "none"
        for row in run_models(asked, models, options.out, display=display, tell=say):
            failed |= row.status != "success"
            passed = "unavailable" if row.passed is None else f"{row.passed}/{row.answered}"
            tokens = ["unavailable" if n is None else n for n in (row.input_tokens, row.output_tokens)]
            rows.append(
                [
                    row.model,
                    what,
                    asked.protocol,
                    asked.track,
                    row.status,
                    row.errors,
                    passed,
                    *tokens,
                    row.log,
                ]
            )
    heads = ("model", "suite", "protocol", "track", "status", "errors", "passed", "input", "output", "log")
    table(heads, rows)
    return REJECTED if failed else 0


def _models(options: argparse.Namespace) -> list[ModelAsked]:
    from vimlib.inspect_tasks.models import model_asked, read_models

    models = [model_asked(model, base_url=options.base_url) for model in options.model]
    for path in options.models:
        models += read_models(path)
    if not models:
        raise NothingToAsk(
            "no model to ask; expected --model PROVIDER/MODEL, --model MODEL --base-url URL, or --models FILE"
        )
    return models


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this module's commands."""
    run = commands.add_parser(
        "run",
        help="ask models for answers through Inspect, and keep the logs",
        description="Ask models for answers. The same command again goes on with a run that was interrupted.",
    )
    run.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="M",
        help="as Inspect names it (openai/gpt-5-mini), or as the server at --base-url does; repeatable",
    )
    run.add_argument("--base-url", metavar="URL", help="an OpenAI-compatible server, such as llama.cpp's")
    run.add_argument(
        "--models",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="JSON or YAML list of models; repeatable",
    )
    run.add_argument(
        "--suite",
        action="append",
        default=[],
        metavar="S",
        help="a suite: built-in name (seed, the default), fetched name, file or folder; repeatable",
    )
    run.add_argument(
        "--protocol", choices=[one.value for one in Protocol], help="instead of the suite's first"
    )
    run.add_argument(
        "--track",
        choices=[one.value for one in Track],
        default=Track.SINGLE.value,
        help="one answer, several turns, or the target withheld (%(default)s)",
    )
    run.add_argument(
        "--state",
        choices=[one.value for one in TurnState],
        help="multi: what goes from turn to turn, the file (fresh, the default) or all of Vim",
    )
    run.add_argument("--max-turns", type=int, default=8, metavar="N", help="multi (%(default)s)")
    run.add_argument(
        "--show",
        choices=("buffer", "state"),
        default="buffer",
        help="multi: what the model sees after a turn; state: mode, cursor and Vim's error too (%(default)s)",
    )
    run.add_argument(
        "--prompt",
        choices=("vimlib", "upstream"),
        default="vimlib",
        help="golf: upstream is the prompt of inspect_evals, where it is installed (%(default)s)",
    )
    run.add_argument("--epochs", type=int, default=1, metavar="N", help="answers to each task (%(default)s)")
    run.add_argument("--limit", type=int, metavar="N", help="only the first tasks of each suite")
    for name, (kind, shown, said) in _SETTINGS.items():
        arguments: dict[str, Any] = {"type": kind, "metavar": shown, "help": said}
        run.add_argument(f"--{name}", **arguments)
    run.add_argument("--out", type=Path, default=RUNS, help="folder of the logs (%(default)s)")
    run.add_argument(
        "--unconfined", action="store_true", help="replay without confinement: only answers that you trust"
    )
    run.set_defaults(run=_run)
