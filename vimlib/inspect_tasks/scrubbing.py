"""What a shared log must not say: where on whose machine it was made, and with which key.

Inspect keeps keys out of what it is given, but errors carry tracebacks with folders, providers quote
keys in their messages, and the checkout's remote is noted with whatever password its URL has. They are
taken out once the run has ended: keys wherever they stand, folders only where Inspect speaks, since a
folder in a task or an answer is part of it.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_KEY_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$")
_USER_IN_URL = re.compile(r"(?<=://)[^/\s@]+@")
_SHORTEST_KEY = 8
_PROJECT = Path(__file__).resolve().parents[2]


def scrub(path: Path, environment: Mapping[str, str] = os.environ) -> bool:
    """Take folders of this machine and values of its secrets out of a log; whether anything was there.

    The log is replaced whole, or left as it is if there is nothing to take out.
    """
    from inspect_ai.log import EvalLog, read_eval_log, write_eval_log

    log = read_eval_log(str(path))
    document = log.model_dump(mode="json")
    secrets, folders = _secrets(environment), _folders()
    clean = _scrubbed(document, secrets, folders, False)
    if log.status != "success":
        # By these a run that goes on is known to be the same.
        for name in ("task_args", "task_args_passed"):
            clean["eval"][name] = _scrubbed(document["eval"][name], secrets, [], False)
    if clean == document:
        return False
    new = path.with_name(f".{path.name}.scrubbed.eval")
    try:
        write_eval_log(EvalLog.model_validate(clean, context={"deserializing": True}), str(new))
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
    return True


_Pairs = list[tuple[str, str]]

_INSPECTS = frozenset(
    {"error", "error_retries", "revision", "task_args", "task_args_passed", "task_file", "traceback"}
)
"""Fields in which Inspect speaks of the machine. Of the events, those of its logger do."""


def _secrets(environment: Mapping[str, str]) -> _Pairs:
    found = {
        value: f"[{name}]"
        for name, value in environment.items()
        if _KEY_NAME.search(name.upper()) and len(value) >= _SHORTEST_KEY
    }
    return sorted(found.items(), key=lambda pair: -len(pair[0]))


def _folders() -> _Pairs:
    """Folders and what they become, the longest first."""
    libraries = {sysconfig.get_paths()[kind] for kind in ("purelib", "stdlib")}
    libraries |= {one for one in sys.path if Path(one).is_absolute() and Path(one).is_dir()}
    found = dict.fromkeys(libraries, "[python]")
    found |= {str(_PROJECT): "[vimlib]", str(Path.cwd()): ".", str(Path.home()): "~"}
    return sorted(((one, to) for one, to in found.items() if len(one) > 1), key=lambda pair: -len(pair[0]))


def _scrubbed(value: Any, secrets: _Pairs, folders: _Pairs, inspects: bool) -> Any:
    if isinstance(value, str):
        for text, instead in [*secrets, *(folders if inspects else ())]:
            value = value.replace(text, instead)
        return _USER_IN_URL.sub("", value) if inspects else value
    if isinstance(value, dict):
        speaks = inspects or value.get("event") == "logger"
        clean = {
            key: _scrubbed(item, secrets, folders, speaks or key in _INSPECTS) for key, item in value.items()
        }
        if clean.get("traceback_ansi"):
            # The same in colours, in a box whose lines break folders anywhere.
            clean["traceback_ansi"] = clean.get("traceback") or ""
        return clean
    if isinstance(value, list):
        return [_scrubbed(item, secrets, folders, inspects) for item in value]
    return value
