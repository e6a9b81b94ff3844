"""A data set's repository on the Hugging Face hub, at one revision.

The library tells what the repository holds: which commit a revision is, which files, how large, under
which hash, under what licence. The one file of a split is then downloaded and compared with that. The
library's own download is not used: it compares sizes but no hashes, and keeps a second cache beside
ours. No token is read or sent: the set is public.
"""

from __future__ import annotations

import fnmatch
import hashlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from vimlib.suites.download import (
    ADVICE,
    WAIT_SECONDS,
    FetchError,
    HtmlInstead,
    NotThere,
    Truncated,
    Unreachable,
    download,
    status_error,
)

HUB = "https://huggingface.co"

_READABLE = (".parquet", ".jsonl", ".json")
_DATA = (*_READABLE, ".csv", ".tsv", ".arrow", ".txt", ".xml", ".zip", ".tar", ".gz", ".bz2", ".xz", ".zst")


class OtherRevision(FetchError):
    """The hub answers with another commit than the one that was asked for."""


class NoDataFile(FetchError):
    """The repository does not hold exactly one readable file of the split."""


class OtherContent(FetchError):
    """What was downloaded is not what its repository, or an earlier fetch, says it is."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A split's one file, as it was downloaded."""

    path: str
    """In the repository."""
    url: str
    content: bytes
    revision: str
    """Full commit hash."""
    licence: str | None
    """As the repository's card states it; None: it states none."""


@dataclass(frozen=True, slots=True)
class _Listed:
    path: str
    size: int | None
    sha256: str | None
    """Of files in large-file storage."""
    blob: str | None
    """git's hash of the others."""


def endpoint_of_environment() -> str:
    """The hub that `HF_ENDPOINT` names, else the public one. Read at each call: the library reads it once."""
    return os.environ.get("HF_ENDPOINT") or HUB


def is_offline() -> bool:
    """Whether `HF_HUB_OFFLINE` forbids the network, by the hub library's own rule."""
    return os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}


def fetch_split(repository: str, split: str, revision: str, endpoint: str) -> DataFile:
    """The one data file of a split at a revision (branch, tag or commit), whole and checked.

    Raises a `FetchError`.
    """
    from huggingface_hub import hf_hub_url

    endpoint = endpoint.rstrip("/")
    where = f"{endpoint}/datasets/{repository}"
    info = _info(repository, revision, endpoint, where)
    commit = info.sha
    if not isinstance(commit, str) or not re.fullmatch(r"[0-9a-f]{40}", commit):
        raise OtherRevision(
            f"{where}: the hub names no commit for revision {revision}; expected its full hash"
        )
    if re.fullmatch(r"[0-9a-f]{40}", revision) and commit != revision:
        raise OtherRevision(
            f"{where}: {revision} was asked for and the hub answers with {commit}; expected the same "
            "revision. If the other one is meant, name it with --revision"
        )
    card: Any = info.card_data.to_dict() if info.card_data is not None else {}
    listed = [
        _Listed(
            one.rfilename, one.size, one.lfs.sha256 if one.lfs else None, None if one.lfs else one.blob_id
        )
        for one in info.siblings or ()
    ]
    file = _choose(listed, split, card.get("configs"), f"{where} at {commit[:12]}")
    url = hf_hub_url(repository, file.path, repo_type="dataset", revision=commit, endpoint=endpoint)
    content = download(url)
    _compare(url, file, content)
    licence = card.get("license")
    if isinstance(licence, list):
        licence = ", ".join(map(str, licence))
    return DataFile(file.path, url, content, commit, None if licence is None else str(licence))


def _info(repository: str, revision: str, endpoint: str, where: str) -> Any:
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, OfflineModeIsEnabled

    try:
        return HfApi(endpoint=endpoint, token=False).dataset_info(
            repository, revision=revision, files_metadata=True, timeout=WAIT_SECONDS, token=False
        )
    except OfflineModeIsEnabled:
        raise Unreachable(f"{where}: HF_HUB_OFFLINE forbids the network; unset it to fetch") from None
    except HfHubHTTPError as error:
        status = error.response.status_code
        if status == 404:
            raise NotThere(
                f"{where}: no such data set, or it has no revision {revision} (HTTP 404)"
            ) from error
        raise status_error(where, status) from error
    except HFValidationError as error:
        raise NotThere(f"{where}: {' '.join(str(error).split())}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise HtmlInstead(
            f"{where}: the answer is not the hub's ({type(error).__name__} in it); expected JSON about the "
            "data set. A proxy or a login may stand before it, or HF_ENDPOINT names no hub"
        ) from error
    except Exception as error:
        # The library lets through what its HTTP client raises, and which client that is changes
        # with its version.
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise Unreachable(f"{where}: cannot be reached ({why}); {ADVICE}") from error


def _choose(listed: Iterable[_Listed], split: str, configs: Any, where: str) -> _Listed:
    """The split's file: as the card says, else by name, else the only data file that there is."""
    data = [
        file
        for file in listed
        if file.path.lower().endswith(_DATA)
        and not any(part.startswith(".") for part in file.path.split("/"))
        and file.path.rsplit("/", 1)[-1] not in {"dataset_infos.json", "dataset_dict.json"}
    ]
    patterns = _patterns(configs, split)
    found = [file for file in data if any(fnmatch.fnmatchcase(file.path, pattern) for pattern in patterns)]
    if not patterns:
        word = re.compile(rf"(?:^|[^A-Za-z0-9]){re.escape(split)}(?:[^A-Za-z0-9]|$)")
        found = [file for file in data if word.search(file.path)] or data
    held = ", ".join(sorted(file.path for file in data)[:8]) or "no data file"
    if len(found) != 1:
        raise NoDataFile(f"{where}: {len(found)} files of split '{split}' ({held}); expected one")
    if not found[0].path.lower().endswith(_READABLE):
        raise NoDataFile(
            f"{where}: split '{split}' is {found[0].path}, which is not read; expected {', '.join(_READABLE)}"
        )
    return found[0]


def _patterns(configs: Any, split: str) -> list[str]:
    """The paths that the card's `configs` give for a split."""
    patterns: list[str] = []
    for config in configs if isinstance(configs, list) else []:
        entries = config.get("data_files") if isinstance(config, dict) else None
        for entry in entries if isinstance(entries, list) else []:
            if isinstance(entry, dict) and entry.get("split") == split:
                path = entry.get("path")
                patterns += [str(one) for one in (path if isinstance(path, list) else [path])]
    return patterns


def _compare(url: str, file: _Listed, content: bytes) -> None:
    if file.size is not None and len(content) < file.size:
        raise Truncated(
            f"{url}: {len(content):,} bytes came; expected {file.size:,}, as its repository says. Fetch again"
        )
    # git names a file after the sha1 of "blob", its length, and itself.
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
    if (file.sha256 or hashlib.sha256(content).hexdigest()) != hashlib.sha256(content).hexdigest() or (
        file.blob or blob
    ) != blob:
        raise OtherContent(f"{url}: came with another hash than its repository says; fetch again")
