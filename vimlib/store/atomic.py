"""The file as a whole: one load at a time, and it takes effect at once or not at all."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import duckdb

from vimlib.store.errors import StoreBusy, StoreError
from vimlib.store.reading import attach
from vimlib.store.writing import Writer

_held: set[Path] = set()
_held_guard = threading.Lock()


class _LoadLock:
    """One load at a time for a store, across processes and within one.

    A POSIX record lock on a file beside the store: the kernel drops it when the process dies,
    however it dies, and child processes do not keep it alive. It does not stop a second load
    in the same process, hence the set. The lock file stays: removing it would let a process
    lock a file that the next one no longer finds.
    """

    def __init__(self, path: Path, wait_seconds: float) -> None:
        self._path = path
        self._wait_seconds = wait_seconds
        self._file: int | None = None

    def __enter__(self) -> None:
        deadline = time.monotonic() + self._wait_seconds
        while not self._take():
            if time.monotonic() >= deadline:
                raise StoreBusy(f"{self._path}: another load is writing to it; wait until it has ended")
            time.sleep(0.05)

    def _take(self) -> bool:
        with _held_guard:
            if self._path in _held:
                return False
            file = os.open(self._path.with_name(f".{self._path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o666)
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except (BlockingIOError, PermissionError):
                os.close(file)
                return False
            except BaseException:
                os.close(file)
                raise
            self._file = file
            _held.add(self._path)
            return True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with _held_guard:
            _held.discard(self._path)
            if self._file is not None:
                os.close(self._file)
                self._file = None


def _remove_temporaries(path: Path) -> None:
    """Remove what loads of this store left beside it: the copy, its log, its spill folder."""
    ours = re.compile(rf"\.{re.escape(path.name)}\.load-[0-9]+-[0-9a-f]{{8}}(\..*)?")
    for found in path.parent.iterdir():
        if not ours.fullmatch(found.name):
            continue
        if found.is_dir() and not found.is_symlink():
            shutil.rmtree(found, ignore_errors=True)
        else:
            found.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _copy(path: Path, temporary: Path) -> None:
    unfinished = path.with_name(f"{path.name}.wal")
    # Held open while it is copied, so that a program that writes to it is found out.
    con = attach(path)
    try:
        if unfinished.exists():
            raise StoreBusy(
                f"{path}: {unfinished.name} beside it holds changes that another program made and did not"
                " finish; open and close the store there, or delete both files and load again"
            )
        shutil.copyfile(path, temporary)
        shutil.copymode(path, temporary)
    finally:
        con.close()


@contextlib.contextmanager
def replacing(path: Path, *, wait_seconds: float = 5.0) -> Iterator[Writer]:
    """A `Writer` whose work takes effect as a whole when the block ends, or not at all.

    It works on a copy beside the file and puts it in the file's place at the end. Where the
    block raises anything, KeyboardInterrupt included, the copy is removed and the file is
    untouched; where the process is killed, the next load removes the copy. A block that
    changed nothing leaves the very same file. Readers are never locked out.

    The folder is made where it is missing. A second load of the same store waits
    `wait_seconds` for the first and then raises `StoreBusy`. Raises `NotAStore`,
    `OtherDuckDB` or `StoreOutdated` where the file is there and cannot be used, `BadRows` where what was
    added contradicts itself, `StoreError` where the folder cannot be written to.
    """
    path = Path(os.path.realpath(path))
    with contextlib.ExitStack() as stack:
        with _said_of(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(_LoadLock(path, wait_seconds))
            _remove_temporaries(path)
        stack.callback(_remove_temporaries, path)
        temporary = path.with_name(f".{path.name}.load-{os.getpid()}-{secrets.token_hex(4)}")
        with _said_of(path):
            new = not path.exists()
            if not new:
                _copy(path, temporary)
            writer = Writer(temporary, new=new)
        try:
            with _said_of(path, files=False):
                yield writer
            with _said_of(path):
                writer._finish()
        except RuntimeError as error:
            # This is how DuckDB passes on an interrupt that meets it in a query.
            if str(error) == "Query interrupted":
                raise KeyboardInterrupt from error
            raise
        finally:
            writer._close()
        if writer.changed:
            with _said_of(path):
                _sync(temporary)
                os.replace(temporary, path)
                _sync(path.parent)


@contextlib.contextmanager
def _said_of(path: Path, *, files: bool = True) -> Iterator[None]:
    """Failures of the file system or DuckDB as one line about the store (no space, no permission).

    `files=False` lets `OSError` pass, where it may come from other files.
    """
    try:
        yield
    except OSError as error:
        if not files:
            raise
        raise StoreError(f"{path}: cannot write the store: {error.strerror or error}") from error
    except duckdb.Error as error:
        raise StoreError(f"{path}: cannot write the store: {str(error).splitlines()[0]}") from error
