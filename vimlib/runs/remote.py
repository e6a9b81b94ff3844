"""Run files that lie elsewhere: an `fsspec` URL such as `s3://bucket/logs`, mirrored into a local folder.

Sources are read more than once and hashed, and a report must be made again without the network, so
nothing is read in place: what is new or changed is fetched, each file whole or not at all. Files
that vanish there stay here, as their runs stay in the store. Folders of exported runs go the other way,
the part that promises the others last. Which of the schemes work depends on the packages that are
installed (`s3fs` for `s3://`); credentials are theirs to find.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any, Final

from vimlib.runs import COMPANIONS, SUFFIXES
from vimlib.runs.contents import RunError

MIRRORS: Final = Path("data/cache/remote")
"""Where mirrors are kept by default."""

_WANTED: Final = SUFFIXES | {".parquet"}
"""Endings of sources, and of the parts of exported runs."""
_LAST: Final = "run.json"
"""The part of an exported run that promises the others (`store.NOTE`)."""
_NOTE: Final = ".mirror.json"


class RemoteUnreadable(RunError):
    """An address cannot be listed or read, or there is no package for its scheme."""


class RemoteUnwritable(RunError):
    """An address cannot be written to."""


def is_remote(source: str | Path) -> bool:
    """Whether a source is a URL rather than a path."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*(::[A-Za-z0-9+.-]+)*://", str(source)) is not None


def mirror(url: str, folder: Path = MIRRORS) -> tuple[Path, int]:
    """Fetch what is new at a URL; the local folder or file, and how many files were fetched.

    A folder brings all files below it that can be sources or parts of exported runs, but hidden ones and
    Inspect's companions.
    Raises RemoteUnreadable; what was fetched until then is kept.
    """
    import fsspec

    # The name of an address may be long or hold anything; its end is for people.
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", url.rstrip("/"))[-60:].strip("-.")
    place = folder / f"{hashlib.sha256(url.encode()).hexdigest()[:12]}-{stem}"
    try:
        system, root = fsspec.core.url_to_fs(url)
        if system.isfile(root):
            found = {PurePosixPath(root).name: system.info(root)}
            paths = {PurePosixPath(root).name: root}
        else:
            listed = system.find(root, detail=True)
            paths = {name: path for path in listed if (name := _inside(path, root)) is not None}
            found = {name: listed[path] for name, path in paths.items()}
            if not paths:
                raise RemoteUnreadable(
                    f"{url}: no {', '.join(sorted(_WANTED))} file here or below; expected results of runs"
                )
        place.mkdir(parents=True, exist_ok=True)
        note = place / _NOTE
        known = _read(note)
        fetched = 0
        for name, path in sorted(paths.items()):
            mark = _mark(found[name])
            target = place / name
            if known.get(name) == mark and target.is_file():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            new = target.with_name(f".{target.name}.new")
            system.get_file(path, str(new))
            os.replace(new, target)
            known[name] = mark
            note.write_text(json.dumps(known, sort_keys=True), encoding="utf-8")
            fetched += 1
    except RemoteUnreadable:
        raise
    except Exception as error:
        # Each storage has errors of its own, and none of them may end a report.
        raise RemoteUnreadable(f"{url}: cannot be read ({_why(error)})") from error
    return (place / next(iter(paths)) if system.isfile(root) else place), fetched


def fetch_folders(url: str, names: Iterable[str], into: Path) -> None:
    """Bring those of the named folders of exported runs that are at a URL. Raises RemoteUnreadable."""
    import fsspec

    try:
        system, root = fsspec.core.url_to_fs(url)
        for name in names:
            there = f"{root.rstrip('/')}/{name}"
            if not system.exists(f"{there}/{_LAST}"):
                continue
            (into / name).mkdir(parents=True, exist_ok=True)
            for path in system.ls(there, detail=False):
                part = _inside(path, there)
                if part is not None and "/" not in part:
                    system.get_file(path, str(into / name / part))
    except Exception as error:
        raise RemoteUnreadable(f"{url}: cannot be read ({_why(error)})") from error


def send_folders(folders: Iterable[Path], url: str) -> None:
    """Put folders of exported runs below a URL, in place of those of the same names.

    An object store renames nothing: a folder that is being replaced is without the part that promises the
    others until all are there, so that whoever reads it meanwhile finds half a run and says so. Raises
    RemoteUnwritable.
    """
    import fsspec
    from fsspec.asyn import AsyncFileSystem

    try:
        system, root = fsspec.core.url_to_fs(url)
        for folder in folders:
            there = f"{root.rstrip('/')}/{folder.name}"
            # Object stores have no folders, and theirs would make a bucket that is missing or misspelt.
            if not isinstance(system, AsyncFileSystem):
                system.makedirs(there, exist_ok=True)
            if system.exists(f"{there}/{_LAST}"):
                system.rm_file(f"{there}/{_LAST}")
            parts = sorted(folder.iterdir(), key=lambda part: (part.name == _LAST, part.name))
            for part in parts:
                system.put_file(str(part), f"{there}/{part.name}")
    except Exception as error:
        raise RemoteUnwritable(f"{url}: cannot be written to ({_why(error)})") from error


def kept(url: str, folder: Path = MIRRORS) -> Path | None:
    """What an earlier `mirror` of the URL left; None: nothing."""
    digest = hashlib.sha256(url.encode()).hexdigest()[:12]
    return next((place for place in sorted(folder.glob(f"{digest}-*")) if (place / _NOTE).is_file()), None)


def _why(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def _inside(path: str, root: str) -> str | None:
    """The name of a file below the root; None: not a source, or a name that would leave the mirror."""
    name = path.removeprefix(root).lstrip("/")
    parts = PurePosixPath(name).parts
    if not parts or any(part in ("..", "/") or part.startswith(".") or "\0" in part for part in parts):
        return None
    return name if parts[-1] not in COMPANIONS and PurePosixPath(name).suffix in _WANTED else None


def _mark(info: dict[str, Any]) -> str:
    """What changes with a file's content, as far as its storage tells."""
    names = ("size", "ETag", "etag", "md5Hash", "mtime", "LastModified", "last_modified", "created")
    return json.dumps({name: str(info[name]) for name in names if name in info}, sort_keys=True)


def _read(note: Path) -> dict[str, str]:
    try:
        known = json.loads(note.read_text(encoding="utf-8"))
        return {str(name): str(mark) for name, mark in known.items()}
    except (OSError, ValueError, AttributeError):
        return {}
