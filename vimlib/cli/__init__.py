"""The command line: parse, call, print, exit code. What it does is done by the modules below it.

Exit codes: 0 done; 1 an answer or a reference failed, or an error without a code of its own;
2 wrong usage; 3 something was rejected and the rest done; 4 a suite could not be fetched, or a
comparison lies beyond its limit; 5 replays cannot be confined, or a comparison cannot be decided;
6 no usable Vim; 7 the cluster cannot be used; 8 a notebook of a report failed;
9 another report is being made; 10 a report found a regression; 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, NoReturn

import vimlib
from vimlib.cli import answers, comparing, costing, explaining, machine, reports, running, sharing, suites
from vimlib.cli.settings import FILE, read_settings
from vimlib.cli.terminal import say
from vimlib.records import VimlibError

INTERRUPTED = 130

COMMANDS: Final = (reports, sharing, costing, suites, running, answers, explaining, comparing, machine)
"""The modules that have commands, in the order of the help."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _as_interrupt)
    try:
        options = _parse(arguments)
        with ExitStack() as options.until_the_end:
            code = options.run(options)
        sys.stdout.flush()
    except VimlibError as error:
        say(f"vimlib: {error}")
        code = error.exit_code
    except KeyboardInterrupt:
        say("vimlib: interrupted; replays done so far are kept, nothing else was changed")
        code = INTERRUPTED
    except BrokenPipeError:
        # Python would try, and complain, once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    sys.exit(code)


def _as_interrupt(number: int, frame: object) -> NoReturn:
    """What a scheduler sends to end a command: leave as little behind as at an interrupt."""
    raise KeyboardInterrupt


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What is said on the command line, and where nothing is said, what a file of settings says."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if hasattr(options, "settings_for"):
        command, inner = options.settings_for
        path = options.config or (FILE if FILE.exists() else None)
        if path is not None:
            inner.set_defaults(**read_settings(path, command, inner))
            options = parser.parse_args(arguments)
    if getattr(options, "format", None) is not None:
        # Goes with the name, wherever that goes: into a notebook in another folder, too.
        options.suite = [f"{options.format}:{Path(suite).absolute()}" for suite in options.suite]
    return options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="vimlib", description="Replay, score and report language models' Vim keystrokes."
    )
    parser.add_argument("--version", action="version", version=f"vimlib {vimlib.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for module in COMMANDS:
        module.add_commands(commands)
    return parser
