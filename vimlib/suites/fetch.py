"""Public suites: fetched at a pinned revision, checked, kept in the cache, made into suites from there.

A suite is made from its files by one function, whether they have come a moment ago or lay in the cache:
what was kept can be loaded, and what cannot be loaded is not kept. Only the pinned revisions are known
to be whole (so many rows); another one is fetched when it is named, and its commit recorded.
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vimlib.records import PublishedSolution, Suite, Task
from vimlib.suites import cache, enrich, hub, vimbench, vimgolf
from vimlib.suites.cache import CacheDamaged, Fetched, KeptFile, NotFetched
from vimlib.suites.content import build_suite
from vimlib.suites.download import FetchError, NotThere, download
from vimlib.suites.fields import Located
from vimlib.suites.files import SHAPES, tasks_of
from vimlib.suites.hub import OtherContent, OtherRevision
from vimlib.suites.reading import NoSuchSuite, NoTasks, UnknownShape, read_bytes

VIMGOLF_SET = "cybergod-kevin/vimgolf-public-challenges-inspect-eval"
VIMGOLF_SPLIT = "test"
VIMGOLF_REVISION = "909a17f2b57d5866c077ebac019f6b0f271de919"
VIMGOLF_ROWS = 612
VIMGOLF_SITE = "https://www.vimgolf.com"

VIMBENCH_PAGE = "https://github.com/supercobra/vimbench"
VIMBENCH_RAW = "https://raw.githubusercontent.com/supercobra/vimbench"
VIMBENCH_REVISION = "cab5cbd7de7c457c06286d8d43d148d151656199"
VIMBENCH_FILES: Mapping[str, int] = {"tasks.py": 30, "tasks_synth.json": 72}
"""The files, and how many tasks each has at the pinned commit."""

_PARTS: Mapping[str, tuple[str, ...]] = {
    "vimbench": tuple(VIMBENCH_FILES),
    "vimbench-seed": ("tasks.py",),
    "vimbench-synth": ("tasks_synth.json",),
}
"""What of vimbench's files a name means. vimbench's own runs answer one of these three."""

NAMES = (vimgolf.NAME, *_PARTS)
"""Names of suites that can be fetched, besides single challenges (`vimgolf-ID`)."""

_CHALLENGE = re.compile(rf"{vimgolf.NAME}-(?P<id>[A-Za-z0-9_-]{{1,64}})")


class WrongCount(FetchError):
    """The pinned revision has so many tasks, and others came."""


@dataclass(frozen=True, slots=True)
class Additions:
    """Local files that go with a suite. What is None stays as the cache has it."""

    statistics: Path | None = None
    """JSON list of `id, title, total_entries, active_golfers, lowest_score`."""
    solutions: Path | None = None
    """JSONL of published solutions: `challenge_id, keys, source`."""
    solutions_as_references: bool | None = None
    """Whether the shortest verified solution of a task becomes its reference."""


@dataclass(frozen=True, slots=True)
class FetchResult:
    """What a fetch did."""

    suite: Suite
    path: Path
    """Its record in the cache."""
    notes: tuple[str, ...]
    """A line for each thing worth knowing."""


def fetch_vimgolf(
    *,
    revision: str | None = None,
    endpoint: str | None = None,
    offline: bool = False,
    additions: Additions = Additions(),
    data: Path | None = None,
) -> FetchResult:
    """The public VimGolf challenges that inspect_evals uses, into the cache.

    `revision`: another than the pinned one. `endpoint`: another hub than `HF_ENDPOINT` or the public one.
    `offline` (or `HF_HUB_OFFLINE`): nothing is fetched, the cache is checked and the additions made.
    Raises a `SuiteError`, and the cache is then as it was.
    """
    wanted = revision or VIMGOLF_REVISION

    def obtain() -> tuple[Fetched, dict[KeptFile, bytes]]:
        base = endpoint or hub.endpoint_of_environment()
        found = hub.fetch_split(VIMGOLF_SET, VIMGOLF_SPLIT, wanted, base)
        file = KeptFile.of(found.path.rsplit("/", 1)[-1], found.url, found.content)
        origin = f"{base.rstrip('/')}/datasets/{VIMGOLF_SET}"
        return _now(vimgolf.NAME, origin, found.revision, found.licence, [file]), {file: found.content}

    return _fetch(vimgolf.NAME, obtain, revision, offline, additions, data)


def fetch_challenge(
    challenge: str,
    *,
    base_url: str | None = None,
    offline: bool = False,
    additions: Additions = Additions(),
    data: Path | None = None,
) -> FetchResult:
    """One VimGolf challenge from the site, into the cache as the suite `vimgolf-ID`.

    `base_url`: another site than vimgolf.com. Raises a `SuiteError`, and the cache is then as it was.
    """
    name = f"{vimgolf.NAME}-{challenge}"
    if _CHALLENGE.fullmatch(name) is None:
        raise NotThere(f"{challenge!r}: no id of a challenge; expected one such as 4d1a1c36567bac34a9000002")

    def obtain() -> tuple[Fetched, dict[KeptFile, bytes]]:
        page = f"{(base_url or VIMGOLF_SITE).rstrip('/')}/challenges/{challenge}"
        content = download(f"{page}.json")
        file = KeptFile.of(f"{challenge}.json", f"{page}.json", content)
        return _now(name, page, None, None, [file]), {file: content}

    return _fetch(name, obtain, None, offline, additions, data)


def fetch_vimbench(
    *,
    revision: str | None = None,
    base_url: str | None = None,
    offline: bool = False,
    data: Path | None = None,
) -> FetchResult:
    """vimbench's seed and synthesised tasks, into the cache.

    `revision`: another commit than the pinned one, by its full hash. `base_url`: where raw files lie as
    `COMMIT/FILE`, instead of GitHub. Raises a `SuiteError`, and the cache is then as it was.
    """
    wanted = revision or VIMBENCH_REVISION
    if re.fullmatch(r"[0-9a-f]{40}", wanted) is None:
        raise OtherRevision(
            f"{wanted}: not a commit; expected its full hash of 40 hex digits, since raw files do not tell "
            "at which commit a branch or tag is"
        )

    def obtain() -> tuple[Fetched, dict[KeptFile, bytes]]:
        base = (base_url or VIMBENCH_RAW).rstrip("/")
        urls = {name: f"{base}/{wanted}/{name}" for name in VIMBENCH_FILES}
        contents = {KeptFile.of(name, url, raw := download(url)): raw for name, url in urls.items()}
        origin = VIMBENCH_PAGE if base == VIMBENCH_RAW else base
        return _now(vimbench.NAME, origin, wanted, None, list(contents)), contents

    return _fetch(vimbench.NAME, obtain, revision, offline, Additions(), data)


def is_fetched_name(name: str, data: Path | None = None) -> bool:
    """Whether a name means a fetched suite: one of `NAMES`, or a challenge that is in the cache."""
    return name in NAMES or (_CHALLENGE.fullmatch(name) is not None and name in cache.names(data))


def load_fetched(name: str, data: Path | None = None) -> Suite:
    """A suite from the cache, every file of it checked. Raises `NotFetched` or `CacheDamaged`."""
    kept = vimbench.NAME if name in _PARTS else name
    record = cache.read_record(kept, data, hint=f"fetch it: vimlib fetch {kept}")
    return _suite(record, cache.read_files(record, data), part=name)[0]


def _now(
    name: str, origin: str, revision: str | None, licence: str | None, files: Sequence[KeptFile]
) -> Fetched:
    moment = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    return Fetched(name, origin, revision, licence, moment, tuple(files))


def _fetch(
    name: str,
    obtain: Callable[[], tuple[Fetched, dict[KeptFile, bytes]]],
    revision: str | None,
    offline: bool,
    additions: Additions,
    data: Path | None,
) -> FetchResult:
    notes: list[str] = []
    old = None
    offline = offline or hub.is_offline()
    if offline:
        hint = "and offline nothing is fetched: fetch it once with a network"
        record = old = cache.read_record(name, data, hint=hint)
        if revision is not None and revision != record.revision:
            raise OtherRevision(
                f"suite '{name}' is in the cache at revision {record.revision}; expected {revision}, {hint}"
            )
        contents = cache.read_files(record, data)
    else:
        record, contents = obtain()
        try:
            old = cache.read_record(name, data, hint="")
            _compare(old, record, cache.record_path(name, data), notes)
            # What was given with an earlier fetch stays until something else is given.
            given = [file for file in (old.statistics, old.solutions) if file is not None]
            contents |= cache.read_files(old, data, only=given)
            record = dataclasses.replace(
                record,
                statistics=old.statistics,
                solutions=old.solutions,
                solutions_as_references=old.solutions_as_references,
            )
        except NotFetched:
            pass
        except CacheDamaged as error:
            notes.append(f"{str(error).rpartition(';')[0]}; statistics and solutions must be given again")
    for field, path in (("statistics", additions.statistics), ("solutions", additions.solutions)):
        if path is not None:
            content = _read(path)
            file = KeptFile.of(path.name, str(path), content)
            contents[file] = content
            record = dataclasses.replace(record, **{field: file})  # type: ignore[arg-type]
    if additions.solutions_as_references is not None:
        record = dataclasses.replace(record, solutions_as_references=additions.solutions_as_references)
    if record.solutions_as_references and record.solutions is None:
        notes.append(f"suite '{name}' has no published solutions that could be references; give --solutions")
    suite, said = _suite(record, contents, part=name)
    # Also where nothing is new: what was damaged is mended by fetching it again.
    if record != old or not offline:
        cache.write(record, contents, data)
    return FetchResult(suite, cache.record_path(name, data), (*notes, *said))


def _compare(old: Fetched, new: Fetched, path: Path, notes: list[str]) -> None:
    """A commit's content never changes: raises `OtherContent` where it did. Without one, it is noted."""
    before = {file.name: file.sha256 for file in old.files}
    changed = [file for file in new.files if before.get(file.name) not in (None, file.sha256)]
    if not changed or new.revision != old.revision:
        return
    said = f"{changed[0].source}: came with other content than on {old.fetched:%Y-%m-%d}"
    if new.revision is not None:
        raise OtherContent(
            f"{said}, at the same revision {new.revision}; expected the same for ever. "
            f"If the new one is right, delete {path} and fetch again"
        )
    notes.append(f"{said}: it is another version now")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise NoSuchSuite(f"{path}: cannot be read ({error.strerror}); expected a file to add") from None


def _suite(record: Fetched, contents: Mapping[KeptFile, bytes], *, part: str) -> tuple[Suite, list[str]]:
    """The suite that fetched files make, and a line for each thing worth knowing."""
    files = [file for file in record.files if part not in _PARTS or file.name in _PARTS[part]]
    if part in _PARTS:
        tasks, shape = _vimbench_tasks(record, files, contents), SHAPES["vimbench"]
    else:
        shape = SHAPES["vimgolf" if part == vimgolf.NAME else "challenge"]
        (file,) = files
        records = read_bytes(file.source, contents[file]).records
        if part == vimgolf.NAME and record.revision == VIMGOLF_REVISION:
            _count(file.source, record.revision, len(records), VIMGOLF_ROWS)
        if not records:
            raise NoTasks(f"{file.source}: holds no task; expected some")
        if part != vimgolf.NAME and not vimgolf.recognises_challenge(frozenset(records[0].values)):
            raise UnknownShape(f"{file.source}: no challenge; expected JSON with in.data and out.data")
        tasks = tasks_of(records, shape)
    notes = [
        f"task {task.id}: its target is empty; no answer can pass it under golf, whose key cap is then 0"
        for task in tasks
        if not task.target and shape.protocols == vimgolf.PROTOCOLS
    ]
    if record.statistics is not None:
        tasks, said = enrich.with_statistics(tasks, record.statistics.source, contents[record.statistics])
        notes += said
    published: tuple[PublishedSolution, ...] = ()
    if record.solutions is not None:
        published, said = enrich.read_solutions(tasks, record.solutions.source, contents[record.solutions])
        notes += said
        if record.solutions_as_references:
            tasks = enrich.with_references(tasks, published)
    suite = build_suite(
        part,
        tasks,
        shape.protocols,
        origin=record.origin,
        licence=record.licence,
        source_sha256=_source_sha256([*files, *filter(None, (record.statistics, record.solutions))]),
        revision=record.revision,
        fetched=record.fetched,
        published=published,
    )
    return suite, notes


def _vimbench_tasks(
    record: Fetched, files: Sequence[KeptFile], contents: Mapping[KeptFile, bytes]
) -> list[Task]:
    records: list[Located] = []
    for file in files:
        found = read_bytes(file.source, contents[file]).records
        vimbench.check_structure(found)
        if record.revision == VIMBENCH_REVISION:
            _count(file.source, record.revision, len(found), VIMBENCH_FILES[file.name])
        records += found
    if not records:
        raise NoTasks(f"{record.origin}: holds no task; expected some")
    return tasks_of(records, SHAPES["vimbench"])


def _count(source: str, revision: str, found: int, expected: int) -> None:
    if found != expected:
        raise WrongCount(
            f"{source}: {found} tasks at revision {revision[:12]}; expected {expected}. Fetch again; "
            "if the origin changed, name its revision with --revision"
        )


def _source_sha256(files: Sequence[KeptFile]) -> str:
    if len(files) == 1:
        return files[0].sha256
    return hashlib.sha256(
        "".join(f"{file.sha256}  {file.name}\n" for file in files).encode("utf-8", "surrogateescape")
    ).hexdigest()
