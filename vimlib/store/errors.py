"""What can go wrong between a user and the store, each by its own name."""

from __future__ import annotations

from vimlib.records import VimlibError


class StoreError(VimlibError):
    """The store cannot be read or written; the message says why."""


class StoreMissing(StoreError):
    """There is no store yet."""


class StoreBusy(StoreError):
    """Another process is writing to it."""


class NotAStore(StoreError):
    """The file is not a DuckDB database, or not one of ours."""


class OtherDuckDB(StoreError):
    """A DuckDB wrote the file that this one cannot read."""


class StoreOutdated(StoreError):
    """The tables are of another version of vimlib."""


class BadRows(StoreError):
    """What was to be stored contradicts itself: a key twice, or a reference to nothing."""


class UnknownView(StoreError):
    """No view, or no column of a view, has this name."""


class NoSuchRun(StoreError):
    """No stored run has this id or name."""


class NotARunFolder(StoreError):
    """A folder that was to be imported is not one that an export wrote."""


class RunFolderIncomplete(StoreError):
    """A folder of a run lacks a part, or has another than was written."""
