"""`vimlib doctor`: what this machine has and lacks."""

from __future__ import annotations

import argparse


def _doctor(options: argparse.Namespace) -> int:
    from vimlib.replay import NoVim, find_vim
    from vimlib.sandbox import missing_parts

    code = 0
    try:
        vim = find_vim()
        print(f"ok       Vim {vim.build.version} ({vim.path})")
    except NoVim as error:
        code = error.exit_code
        print(f"missing  Vim: {error}")
    for part, why in missing_parts().items():
        print(f"ok       {part}" if why is None else f"missing  {part}: {why}")
        if why is not None:
            code = code or 5
    return code


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this module's commands."""
    doctor = commands.add_parser("doctor", help="say what this machine has and lacks for replays")
    doctor.set_defaults(run=_doctor)
