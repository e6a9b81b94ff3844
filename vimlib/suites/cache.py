"""What was fetched, kept as it came: the folder `data/cache/suites`.

A suite is a small record beside the files that it was fetched as. The files are named after their
content and written first; the record is put in its place last and in one step, so that a suite is
there as a whole, old or new, whatever happens while it is fetched. Every load compares every file
with the hash in the record, so that a file which somebody edited cannot pass for the public suite.

`VIMLIB_SUITES` names another folder. Nothing is fetched here.
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vimlib.suites import seed
from vimlib.suites.content import SuiteError

_FORMAT = 1


class NotFetched(SuiteError):
    """The suite is not in the cache; the message says how it gets there."""


class CacheDamaged(SuiteError):
    """A file in the cache is not what was fetched."""


class CacheNotWritable(SuiteError):
    """The cache cannot be written (no space, no permission)."""


@dataclass(frozen=True, slots=True)
class KeptFile:
    """One file of a suite as it came."""

    name: str
    """Its own name, without folders."""
    source: str
    """The URL it came from, or the name of the local file."""
    sha256: str
    size: int
    """Bytes."""

    @classmethod
    def of(cls, name: str, source: str, content: bytes) -> KeptFile:
        return cls(name, source, hashlib.sha256(content).hexdigest(), len(content))

    @property
    def kept_as(self) -> str:
        """Its name in the cache: no two contents share one."""
        return f"{self.sha256[:16]}-{re.sub(r'[^A-Za-z0-9._-]', '_', self.name)}"


@dataclass(frozen=True, slots=True)
class Fetched:
    """The record of one fetched suite."""

    name: str
    """What it was fetched as: `vimgolf`, `vimbench`, or `vimgolf-ID` for one challenge."""
    origin: str
    """URL that people can look at."""
    revision: str | None
    """Full commit hash; None: the origin has no revisions."""
    licence: str | None
    """As the origin states it; None: it states none."""
    fetched: datetime.datetime
    """When, with time zone."""
    files: tuple[KeptFile, ...]
    """What was fetched, in the order in which it makes the suite."""
    statistics: KeptFile | None = None
    """A list of the site's statistics that was given with it."""
    solutions: KeptFile | None = None
    """A list of published solutions that was given with it."""
    solutions_as_references: bool = False
    """Whether verified published solutions serve as references."""

    @property
    def every_file(self) -> tuple[KeptFile, ...]:
        """All files, the given ones last."""
        return (*self.files, *filter(None, (self.statistics, self.solutions)))


def folder(data: Path | None = None) -> Path:
    """The folder of fetched suites: in `data`, else what `VIMLIB_SUITES` names, else in the checkout."""
    if data is None and (named := os.environ.get("VIMLIB_SUITES")):
        return Path(named)
    return (seed.data_folder() if data is None else data) / "cache" / "suites"


def names(data: Path | None = None) -> list[str]:
    """Names of the suites that are in the cache."""
    return sorted(file.stem for file in folder(data).glob("[!.]*.json"))


_AGAIN = "fetch it again (vimlib fetch)"


def record_path(name: str, data: Path | None = None) -> Path:
    """Where the record of a suite is, or would be."""
    return folder(data) / f"{name}.json"


def read_record(name: str, data: Path | None = None, *, hint: str) -> Fetched:
    """A suite's record. Raises `NotFetched`, whose message ends in `hint`, or `CacheDamaged`."""
    path = record_path(name, data)
    try:
        return _from_json(json.loads(path.read_bytes()))
    except (FileNotFoundError, NotADirectoryError):
        raise NotFetched(f"suite '{name}' is not in {path.parent}; {hint}") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CacheDamaged(f"{path}: not the record of a fetched suite ({error}); {_AGAIN}") from None


def read_files(
    fetched: Fetched, data: Path | None = None, *, only: Iterable[KeptFile] | None = None
) -> dict[KeptFile, bytes]:
    """The content of a suite's files, all or some, each checked against its hash. Raises `CacheDamaged`."""
    contents = {}
    for file in fetched.every_file if only is None else only:
        path = folder(data) / fetched.name / file.kept_as
        try:
            content = path.read_bytes()
        except OSError as error:
            raise CacheDamaged(f"{path}: cannot be read ({error.strerror}); {_AGAIN}") from None
        found = hashlib.sha256(content).hexdigest()
        if found != file.sha256:
            raise CacheDamaged(
                f"{path}: changed since it was fetched (sha256 {found[:12]}…, expected {file.sha256[:12]}…); "
                f"{_AGAIN}"
            )
        contents[file] = content
    return contents


def write(fetched: Fetched, contents: Mapping[KeptFile, bytes], data: Path | None = None) -> Path:
    """Keep a suite, in place of an older one of its name; the path of its record.

    Raises `CacheNotWritable`; the older one is then as it was.
    """
    path = record_path(fetched.name, data)
    files = path.parent / fetched.name
    try:
        files.mkdir(parents=True, exist_ok=True)
        for file in fetched.every_file:
            _put(files / file.kept_as, contents[file])
        record = {"format": _FORMAT, **dataclasses.asdict(fetched), "fetched": fetched.fetched.isoformat()}
        _put(path, json.dumps(record, indent=1).encode("ascii"))
    except OSError as error:
        raise CacheNotWritable(
            f"{path}: cannot be written ({error.strerror}); make room, or name a folder in VIMLIB_SUITES"
        ) from error
    return path


def _put(path: Path, content: bytes) -> None:
    new = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with new.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def _from_json(record: dict[str, Any]) -> Fetched:
    if record["format"] != _FORMAT:
        raise ValueError(f"format {record['format']!r}, expected {_FORMAT}")

    def kept(file: dict[str, Any]) -> KeptFile:
        return KeptFile(str(file["name"]), str(file["source"]), str(file["sha256"]), int(file["size"]))

    return Fetched(
        name=record["name"],
        origin=record["origin"],
        revision=record["revision"],
        licence=record["licence"],
        fetched=datetime.datetime.fromisoformat(record["fetched"]),
        files=tuple(map(kept, record["files"])),
        statistics=record["statistics"] and kept(record["statistics"]),
        solutions=record["solutions"] and kept(record["solutions"]),
        solutions_as_references=record["solutions_as_references"],
    )
