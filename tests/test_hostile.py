"""Keys that try to break out: every one fails when confined, and most succeed when not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import hostile
import pytest

from vimlib.records import Protocol
from vimlib.sandbox import Confinement

OWN = Path(__file__).parent / "data" / "hostile.jsonl"
# These go for the parent process; outside confinement they could hit the machine that runs the tests.
NEVER_UNCONFINED = ("t-kill", "t-oom")


def _rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def _broken(rows: list[dict[str, str]]) -> dict[str, list[str]]:
    return {
        f"{row['id']} ({protocol})": broken
        for row in rows
        for protocol in hostile.protocols_of(row)
        if (broken := hostile.breaches(row, protocol, Confinement.FULL))
    }


def test_own_hostile_rows_fail_confined() -> None:
    rows = _rows(OWN)
    assert len(rows) >= 12
    assert _broken(rows) == {}


@pytest.mark.parametrize("protocol", list(Protocol))
def test_shared_hostile_rows_fail_confined(shared_data: Path, protocol: Protocol) -> None:
    rows = [
        row for row in _rows(shared_data / "hostile" / "rows.jsonl") if protocol in hostile.protocols_of(row)
    ]
    assert len(rows) > 40
    assert _broken([row | {"protocol": protocol.value} for row in rows]) == {}


def test_at_least_half_succeed_unconfined(shared_data: Path) -> None:
    """Inside a container without network whose only writable folders die with it."""
    rows = _rows(shared_data / "hostile" / "rows.jsonl") + _rows(OWN)
    tried = [row for row in rows if not row["id"].startswith(NEVER_UNCONFINED)]
    container = [
        *("bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/", "/"),
        *("--dev", "/dev", "--proc", "/proc", "--tmpfs", "/dev/shm", "--setenv", "TMPDIR", "/dev/shm"),
    ]
    done = subprocess.run(
        [*container, sys.executable, hostile.__file__],
        input="".join(json.dumps(row) + "\n" for row in tried),
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    broke = {json.loads(line)["id"] for line in done.stdout.splitlines()}
    assert len(broke) * 2 >= len(tried), (sorted(broke), done.stderr[-2000:])
