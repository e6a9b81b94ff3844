"""Replays kept by content, so that the same keys on the same buffer start Vim once, ever.

An SQLite file rather than the store: it is written replay by replay while a batch runs, by
several processes at once, and survives the loss of any of them; what was replayed before a
batch was interrupted is not replayed again. It can be deleted at any time.
"""

from __future__ import annotations

import json
import sqlite3
import time
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from vimlib.records import Outcome, Replay, VimBuild, VimErrorMessage, VimlibError

_COMMIT_SECONDS = 0.1
_ASK_AT_ONCE = 500


class CacheUnusable(VimlibError):
    """The cache file cannot be read or written."""


class ReplayCache:
    """Replay key to replay. Use it from the thread that made it, and `close` it."""

    def __init__(self, path: Path) -> None:
        """Opens or makes the file at `path`. Raises CacheUnusable."""
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, timeout=60)
            # What is lost of the last moment costs some replays, never a wrong one.
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS replays (key TEXT PRIMARY KEY, replay TEXT) WITHOUT ROWID"
            )
            self._database.commit()
        except (sqlite3.Error, OSError) as error:
            raise self._unusable(error) from error
        self._committed = time.monotonic()

    def _unusable(self, error: Exception) -> CacheUnusable:
        return CacheUnusable(
            f"{self._path}: the cache of replays cannot be used ({error}); expected an SQLite file in a "
            "folder that can be written: delete it (its replays are done again) or name another with --cache"
        )

    def get(self, wanted: Iterable[str]) -> Iterator[Replay]:
        """The replays that are there, in no order. A row that does not read counts as absent."""
        asked = list(wanted)
        for begin in range(0, len(asked), _ASK_AT_ONCE):
            part = asked[begin : begin + _ASK_AT_ONCE]
            marks = ",".join("?" * len(part))
            try:
                rows = self._database.execute(
                    f"SELECT key, replay FROM replays WHERE key IN ({marks})",
                    part,
                ).fetchall()
            except sqlite3.Error as error:
                raise self._unusable(error) from error
            for key, text in rows:
                try:
                    yield _from_json(key, text)
                except (ValueError, KeyError, TypeError):
                    continue

    def put(self, replay: Replay) -> None:
        """Keep one replay; committed within a tenth of a second of the next `put`, or at the close."""
        try:
            self._database.execute(
                "INSERT OR REPLACE INTO replays VALUES (?, ?)", (replay.key, _to_json(replay))
            )
            if time.monotonic() - self._committed > _COMMIT_SECONDS:
                self.commit()
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def commit(self) -> None:
        self._database.commit()
        self._committed = time.monotonic()

    def close(self) -> None:
        self._database.commit()
        self._database.close()


def _to_json(replay: Replay) -> str:
    row: dict[str, Any] = {
        name: getattr(replay, name) for name in Replay.__dataclass_fields__ if name != "key"
    }
    row["final"] = None if replay.final is None else b64encode(replay.final).decode()
    row["vim"] = [replay.vim.version, replay.vim.sha256]
    for name in ("first_error", "last_error"):
        error = row[name]
        row[name] = None if error is None else [error.number, error.text]
    return json.dumps(row)


def _from_json(key: str, text: str) -> Replay:
    row = json.loads(text)
    row["outcome"] = Outcome(row["outcome"])
    row["final"] = None if row["final"] is None else b64decode(row["final"])
    row["vim"] = VimBuild(*row["vim"])
    row["cursor"] = None if row["cursor"] is None else tuple(row["cursor"])
    row["blocked"] = tuple(row["blocked"])
    for name in ("first_error", "last_error"):
        row[name] = None if row[name] is None else VimErrorMessage(*row[name])
    return Replay(key=key, **row)
