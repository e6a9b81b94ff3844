"""Fetching: what comes over a network is checked, kept whole or not at all, and checked again at each load.

The server is a real one on loopback that speaks what the hub, the raw repository and vimgolf.com speak,
with small data of our own.
"""

from __future__ import annotations

import datetime
import hashlib
import http.server
import io
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vimlib import cli, keys, store, suites
from vimlib.figures import overview as figures
from vimlib.records import Protocol, Suite
from vimlib.suites import Additions, download, fetch

PINNED = fetch.VIMGOLF_REVISION
OTHER = "0123456789abcdef0123456789abcdef01234567"
SET = fetch.VIMGOLF_SET
COMMIT = fetch.VIMBENCH_REVISION
FIRST = "4d1a1c36567bac34a9000002"


# --- a server ---------------------------------------------------------------------------------------


@dataclass
class Answer:
    """What the server says to one path."""

    body: bytes
    status: int = 200
    kind: str = "application/octet-stream"
    headers: dict[str, str] = field(default_factory=dict)
    missing: int = 0
    """Bytes that are announced and never sent."""


@dataclass
class Site:
    """A running server and what it holds."""

    url: str
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def dataset(
        self,
        content: bytes,
        *,
        path: str = "data/test-00000-of-00001.parquet",
        revision: str = PINNED,
        commit: str | None = None,
        others: tuple[str, ...] = ("README.md", ".gitattributes"),
        card: dict[str, Any] | None = None,
        lfs: bool = True,
    ) -> str:
        """Put a data set there, as the hub answers for one; the path of its file's content."""
        commit = commit or revision
        listed: dict[str, Any] = {"rfilename": path, "size": len(content), "blobId": blob_id(content)}
        if lfs:
            digest = hashlib.sha256(content).hexdigest()
            listed |= {
                "blobId": "0" * 40,
                "lfs": {"size": len(content), "sha256": digest, "pointerSize": 130},
            }
        info = {
            "_id": "1",
            "id": SET,
            "sha": commit,
            "cardData": card or {},
            "siblings": [*({"rfilename": name, "size": 3, "blobId": "1" * 40} for name in others), listed],
        }
        self.answers[f"/api/datasets/{SET}/revision/{revision}"] = as_json(info)
        where = f"/datasets/{SET}/resolve/{commit}/{path}"
        # As the hub does it for large files.
        self.answers[where] = Answer(b"", 302, headers={"Location": f"{self.url}/cdn/{path}"})
        self.answers[f"/cdn/{path}"] = Answer(content)
        return f"/cdn/{path}"

    def vimbench(self, python: str | bytes, synth: str, commit: str = COMMIT) -> None:
        """Put vimbench's two files there, as raw files."""
        raw = python if isinstance(python, bytes) else python.encode("utf-8")
        self.answers[f"/{commit}/tasks.py"] = Answer(raw, kind="text/plain")
        self.answers[f"/{commit}/tasks_synth.json"] = Answer(synth.encode("utf-8"), kind="text/plain")


def as_json(value: Any) -> Answer:
    return Answer(json.dumps(value).encode("utf-8"), kind="application/json")


def blob_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    site: ClassVar[Site]

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.site.asked.append(path)
        answer = self.site.answers.get(path, Answer(b"not here", 404, "text/plain"))
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(len(answer.body) + answer.missing))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)
        self.close_connection = True

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A server; the hub's address in the environment is its own."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running = Site(f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setattr(Handler, "site", running, raising=False)
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.02))
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", running.url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    yield running
    server.shutdown()
    server.server_close()
    thread.join()


# --- small data -------------------------------------------------------------------------------------


def challenges(count: int = fetch.VIMGOLF_ROWS) -> list[dict[str, Any]]:
    """So many challenges in the data set's shape, the first ones with what must be kept as it is."""
    rows: list[dict[str, Any]] = [
        {
            "id": f"4d1a{number:020x}",
            "input": f"line {number}\nsecond\n",
            "target": f"line {number}\n",
            "metadata": {"detail": f"Drop the second line\n\nNumber {number}"},
        }
        for number in range(count)
    ]
    rows[0] |= {"id": FIRST, "input": "a\r\nb\r\n", "target": "a\r\n"}
    rows[1] |= {"id": "9v0064f211df000000000255", "input": "no newline", "target": "\tnoch eine Zeile ohne ü"}
    rows[2] |= {"id": "vimgolf-test", "target": ""}
    return rows


def parquet(rows: list[dict[str, Any]]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out)
    return out.getvalue()


def jsonl(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8")


def bench_tasks(prefix: str, count: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"{prefix}-{number}",
            "tier": 1 + number % 4,
            "title": "An x",
            "instruction": 'Say "x".',
            "start": f"{number}\n",
            "target": f"x{number}\n",
            "reference": r"ix\<Esc>:wq<CR>".replace("\\", ""),
        }
        for number in range(count)
    ]


def as_python(tasks: list[dict[str, Any]]) -> str:
    """Tasks as vimbench's `tasks.py` writes them."""
    lines = ['"""Tasks.\n\nOf a benchmark.\n"""\n\nTASKS = [']
    for task in tasks:
        lines.append("    # a task")
        lines.append("    dict(" + ", ".join(f"{name}={value!r}" for name, value in task.items()) + "),")
    return "\n".join([*lines, "]\n"])


def good_vimbench(site: Site) -> None:
    site.vimbench(as_python(bench_tasks("t", 30)), json.dumps(bench_tasks("syn", 72)))


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def one_line(caught: pytest.ExceptionInfo[suites.SuiteError]) -> str:
    message = str(caught.value)
    assert "\n" not in message
    assert caught.value.exit_code != 0
    return message


# --- VimGolf ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "write"),
    [
        ("data/test-00000-of-00001.parquet", parquet),
        ("test.jsonl", jsonl),
        ("vimgolf_test.json", lambda rows: json.dumps(rows).encode()),
        ("challenges.jsonl", jsonl),
    ],
    ids=["parquet", "jsonl", "json", "the only file"],
)
def test_vimgolf_is_fetched_kept_and_loaded(
    site: Site, tmp_path: Path, path: str, write: Callable[[Any], bytes]
) -> None:
    site.dataset(write(challenges()), path=path, lfs=path.endswith("parquet"), card={"license": "mit"})
    before = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    done = suites.fetch_vimgolf(data=tmp_path)
    suite = done.suite
    assert (suite.name, len(suite.tasks), suite.protocols) == ("vimgolf", 612, (Protocol.GOLF,))
    assert (suite.origin, suite.revision, suite.licence) == (f"{site.url}/datasets/{SET}", PINNED, "mit")
    assert suite.fetched is not None and before <= suite.fetched <= datetime.datetime.now(datetime.UTC)
    assert done.path == tmp_path / "cache" / "suites" / "vimgolf.json"

    site.answers.clear()
    assert suites.load_suite("vimgolf", data=tmp_path) == suite


def test_buffers_and_dates_come_through_untouched(site: Site, tmp_path: Path) -> None:
    site.dataset(parquet(challenges()))
    done = suites.fetch_vimgolf(data=tmp_path)
    dos, bare, empty, *_ = done.suite.tasks
    assert (dos.start, dos.target, dos.created) == ("a\r\nb\r\n", "a\r\n", datetime.date(2010, 12, 28))
    assert (bare.start, bare.target) == ("no newline", "\tnoch eine Zeile ohne ü")
    assert bare.created == datetime.date(2023, 9, 1)
    assert (empty.id, empty.target, empty.created) == ("vimgolf-test", "", None)
    assert dos.title == "Drop the second line"
    assert [note for note in done.notes if "vimgolf-test" in note and "target is empty" in note]
    # What the protocol makes of them is its own business.
    assert Protocol.GOLF.formatted(dos.start) == "a\nb\n"


def test_format_and_file_make_no_difference_to_the_hash(site: Site, tmp_path: Path) -> None:
    site.dataset(parquet(challenges()))
    as_parquet = suites.fetch_vimgolf(data=tmp_path / "1").suite
    site.dataset(jsonl(challenges()), path="test.jsonl")
    as_lines = suites.fetch_vimgolf(data=tmp_path / "2").suite
    (tmp_path / "local.jsonl").write_bytes(jsonl(challenges()))
    local = suites.load_suite(tmp_path / "local.jsonl")
    assert as_parquet.hash == as_lines.hash == local.hash
    assert as_parquet.source_sha256 != as_lines.source_sha256 == local.source_sha256
    assert (local.revision, local.fetched) == (None, None)


def test_another_revision_is_fetched_when_named_and_its_commit_recorded(site: Site, tmp_path: Path) -> None:
    site.dataset(parquet(challenges(5)), revision="main", commit=OTHER)
    suite = suites.fetch_vimgolf(revision="main", data=tmp_path).suite
    assert (len(suite.tasks), suite.revision) == (5, OTHER)
    assert site.asked[0] == f"/api/datasets/{SET}/revision/main"
    assert f"/datasets/{SET}/resolve/{OTHER}/data/test-00000-of-00001.parquet" in site.asked


def test_card_says_which_file_is_the_split(site: Site, tmp_path: Path) -> None:
    configs = [{"config_name": "default", "data_files": [{"split": "test", "path": "all/chal*.parquet"}]}]
    site.dataset(
        parquet(challenges()),
        path="all/challenges.parquet",
        others=("old_test.parquet", "train.parquet"),
        card={"configs": configs, "license": ["mit", "unlicense"]},
    )
    suite = suites.fetch_vimgolf(data=tmp_path).suite
    assert (len(suite.tasks), suite.licence) == (612, "mit, unlicense")


def row_changed(number: int, **fields: Any) -> Callable[[Site], None]:
    def put(site: Site) -> None:
        rows = challenges()
        rows[number] |= fields
        site.dataset(jsonl(rows), path="test.jsonl")

    return put


def html(path: str) -> Callable[[Site], None]:
    page = b"\n<!DOCTYPE html><html><title>Sign in to the proxy</title></html>"

    def put(site: Site) -> None:
        where = site.dataset(parquet(challenges()))
        site.answers[{"info": f"/api/datasets/{SET}/revision/{PINNED}", "file": where}[path]] = Answer(
            page, kind="text/html; charset=utf-8"
        )

    return put


def broken(change: Callable[[Answer], None], path: str = "file") -> Callable[[Site], None]:
    def put(site: Site) -> None:
        where = site.dataset(parquet(challenges()))
        change(site.answers[where if path == "file" else f"/api/datasets/{SET}/revision/{PINNED}"])

    return put


def cut(answer: Answer) -> None:
    answer.missing, answer.body = len(answer.body) - 100, answer.body[:100]


def shorter(answer: Answer) -> None:
    answer.body = answer.body[:100]


def other_bytes(answer: Answer) -> None:
    answer.body = answer.body[:-1] + bytes([answer.body[-1] ^ 1])


def down(answer: Answer) -> None:
    answer.status, answer.body, answer.kind = 503, b"down", "text/plain"


def gone(answer: Answer) -> None:
    answer.status, answer.body, answer.kind = 404, b"gone", "text/plain"


def not_utf8(site: Site) -> None:
    content = jsonl(challenges()).replace("ü".encode(), b"\xfc")
    site.dataset(content, path="test.jsonl")


def not_utf8_in_parquet(site: Site) -> None:
    content = parquet(challenges())
    plain = io.BytesIO()
    pq.write_table(pq.read_table(io.BytesIO(content)), plain, compression="none", use_dictionary=False)
    site.dataset(plain.getvalue().replace("ohne ü".encode(), b"ohne \xfc\xfc"))


FAILURES: list[tuple[str, Callable[[Site], None], type[suites.SuiteError], str]] = [
    ("proxy page for the file", html("file"), suites.HtmlInstead, "an HTML page came instead of data"),
    ("proxy page for the info", html("info"), suites.HtmlInstead, "the answer is not the hub's"),
    ("no such data set", lambda site: None, suites.NotThere, f"no revision {PINNED} (HTTP 404)"),
    ("no such file", broken(gone), suites.NotThere, "not there (HTTP 404)"),
    ("server down", broken(down), suites.Refused, "HTTP 503 Service Unavailable; check network"),
    ("hub down", broken(down, "info"), suites.Refused, "HTTP 503"),
    ("cut in the middle", broken(cut), suites.Truncated, "ended after 100 of"),
    ("shorter than listed", broken(shorter), suites.Truncated, "100 bytes came; expected"),
    ("other bytes than listed", broken(other_bytes), suites.OtherContent, "another hash than its repository"),
    (
        "the revision moved",
        lambda site: site.dataset(parquet(challenges()), commit=OTHER) and None,
        suites.OtherRevision,
        f"{PINNED} was asked for and the hub answers with {OTHER}",
    ),
    (
        "611 rows",
        lambda site: site.dataset(parquet(challenges(611))) and None,
        suites.WrongCount,
        f"611 tasks at revision {PINNED[:12]}; expected 612",
    ),
    (
        "duplicate id",
        row_changed(7, id=FIRST),
        suites.DuplicateId,
        f"line 8: id '{FIRST}' is already on line 1",
    ),
    ("not UTF-8", not_utf8, suites.NotUtf8, "line 2: byte 0xfc is not UTF-8"),
    ("not UTF-8 in Parquet", not_utf8_in_parquet, suites.NotUtf8, "row 2: byte 0xfc is not UTF-8"),
    (
        "5 MB buffer",
        row_changed(4, input="x" * 5_000_000),
        suites.BufferTooLarge,
        "line 5: field 'input' is 5,000,000 bytes long; expected at most 1,000,000",
    ),
    ("no target", row_changed(3, target=None), suites.WrongType, "line 4: field 'target' is null"),
    (
        "other fields",
        lambda site: site.dataset(parquet([{"id": str(n), "text": "x"} for n in range(612)])) and None,
        suites.MissingField,
        "row 1: field 'input' is missing (found: id, text)",
    ),
    (
        "not Parquet",
        lambda site: site.dataset(b"PAR1 and no more", path="test.parquet") and None,
        suites.NotParquet,
        "not Parquet",
    ),
    (
        "another kind of file",
        lambda site: site.dataset(b"id,input\n", path="test.csv") and None,
        suites.NoDataFile,
        "split 'test' is test.csv, which is not read; expected .parquet, .jsonl, .json",
    ),
    (
        "two files of the split",
        lambda site: site.dataset(parquet(challenges()), others=("test.jsonl",)) and None,
        suites.NoDataFile,
        "2 files of split 'test' (data/test-00000-of-00001.parquet, test.jsonl); expected one",
    ),
]


@pytest.mark.parametrize("had", [False, True], ids=["empty cache", "earlier fetch"])
@pytest.mark.parametrize(
    ("put", "error", "words"), [row[1:] for row in FAILURES], ids=[row[0] for row in FAILURES]
)
def test_what_goes_wrong_is_one_line_and_leaves_the_cache_alone(
    site: Site,
    tmp_path: Path,
    put: Callable[[Site], None],
    error: type[suites.SuiteError],
    words: str,
    had: bool,
) -> None:
    if had:
        site.dataset(jsonl(challenges(3)), path="test.jsonl", revision="old", commit=OTHER)
        suites.fetch_vimgolf(revision="old", data=tmp_path)
        site.answers.clear()
    kept = tree(tmp_path)
    put(site)
    with pytest.raises(suites.SuiteError) as caught:
        suites.fetch_vimgolf(data=tmp_path)
    assert type(caught.value) is error
    assert words in one_line(caught)
    assert tree(tmp_path) == kept
    if had:
        assert len(suites.load_suite("vimgolf", data=tmp_path).tasks) == 3


@pytest.mark.parametrize("port", [1, 9])
def test_no_network_is_one_line(site: Site, tmp_path: Path, port: int) -> None:
    nowhere = f"http://127.0.0.1:{port}"
    for act in (
        lambda: suites.fetch_vimgolf(endpoint=nowhere, data=tmp_path),
        lambda: suites.fetch_vimbench(base_url=nowhere, data=tmp_path),
        lambda: suites.fetch_challenge(FIRST, base_url=nowhere, data=tmp_path),
    ):
        with pytest.raises(suites.Unreachable, match="cannot be reached") as caught:
            act()
        assert "check network and proxy, or use what is in the cache (--offline)" in one_line(caught)
        assert caught.value.exit_code == 4
    assert tree(tmp_path) == {}


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://127.0.0.1/x", "vimbench"])
def test_only_the_web_is_fetched_from(url: str) -> None:
    with pytest.raises(suites.BadUrl, match="expected https"):
        download.download(url)


def test_an_endless_answer_is_given_up(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "SIZE_LIMIT", 100_000)
    site.answers["/big"] = Answer(b"x" * 200_000)
    with pytest.raises(suites.TooLarge, match="more than 100,000 bytes"):
        download.download(f"{site.url}/big")


# --- the cache --------------------------------------------------------------------------------------


def test_a_suite_that_was_not_fetched_says_how(tmp_path: Path) -> None:
    with pytest.raises(suites.NotFetched, match="vimlib fetch vimgolf$") as caught:
        suites.load_suite("vimgolf", data=tmp_path)
    one_line(caught)
    with pytest.raises(suites.NotFetched, match="vimlib fetch vimbench$"):
        suites.load_suite("vimbench-seed", data=tmp_path)


def test_a_changed_file_in_the_cache_is_refused_and_fetching_mends_it(site: Site, tmp_path: Path) -> None:
    site.dataset(jsonl(challenges()), path="test.jsonl")
    suite = suites.fetch_vimgolf(data=tmp_path).suite
    (file,) = (tmp_path / "cache" / "suites" / "vimgolf").iterdir()
    file.write_bytes(file.read_bytes().replace(b"second", b"zweite"))
    with pytest.raises(
        suites.CacheDamaged, match=r"changed since it was fetched .* fetch it again"
    ) as caught:
        suites.load_suite("vimgolf", data=tmp_path)
    one_line(caught)
    with pytest.raises(suites.CacheDamaged):
        suites.fetch_vimgolf(offline=True, data=tmp_path)
    suites.fetch_vimgolf(data=tmp_path)
    assert suites.load_suite("vimgolf", data=tmp_path).hash == suite.hash
    file.unlink()
    with pytest.raises(suites.CacheDamaged, match="cannot be read"):
        suites.load_suite("vimgolf", data=tmp_path)
    (tmp_path / "cache" / "suites" / "vimgolf.json").write_text("{", encoding="utf-8")
    with pytest.raises(suites.CacheDamaged, match="not the record of a fetched suite"):
        suites.load_suite("vimgolf", data=tmp_path)


@pytest.mark.parametrize("how", ["option", "environment"])
def test_offline_uses_only_the_cache(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    site.dataset(parquet(challenges()))
    good_vimbench(site)
    offline = how == "option"
    if how == "environment":
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(suites.NotFetched, match="offline nothing is fetched"):
        suites.fetch_vimgolf(offline=offline, data=tmp_path)
    with pytest.raises(suites.NotFetched, match="offline nothing is fetched"):
        suites.fetch_vimbench(offline=offline, base_url=site.url, data=tmp_path)
    assert site.asked == []
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    first = suites.fetch_vimgolf(data=tmp_path)
    kept, asked = tree(tmp_path), len(site.asked)
    if how == "environment":
        monkeypatch.setenv("HF_HUB_OFFLINE", "true")
    assert suites.fetch_vimgolf(offline=offline, data=tmp_path).suite == first.suite
    with pytest.raises(suites.OtherRevision, match=f"at revision {PINNED}; expected {OTHER}"):
        suites.fetch_vimgolf(offline=offline, revision=OTHER, data=tmp_path)
    assert (tree(tmp_path), len(site.asked)) == (kept, asked)


def test_the_same_commit_with_other_content_is_refused(site: Site, tmp_path: Path) -> None:
    site.dataset(jsonl(challenges()), path="test.jsonl")
    suites.fetch_vimgolf(data=tmp_path)
    kept = tree(tmp_path)
    row_changed(5, input="other\n")(site)
    with pytest.raises(suites.OtherContent, match=f"at the same revision {PINNED}") as caught:
        suites.fetch_vimgolf(data=tmp_path)
    assert "delete" in one_line(caught)
    assert tree(tmp_path) == kept


def test_a_kill_between_file_and_record_leaves_the_old_suite(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.dataset(jsonl(challenges(4)), path="test.jsonl", revision="old", commit=OTHER)
    old = suites.fetch_vimgolf(revision="old", data=tmp_path).suite
    site.dataset(jsonl(challenges()), path="test.jsonl")
    put = suites.cache._put

    def put_then_stop(path: Path, content: bytes) -> None:
        if path.name == "vimgolf.json":
            raise KeyboardInterrupt
        put(path, content)

    with monkeypatch.context() as patched:
        patched.setattr(suites.cache, "_put", put_then_stop)
        with pytest.raises(KeyboardInterrupt):
            suites.fetch_vimgolf(data=tmp_path)
    assert suites.load_suite("vimgolf", data=tmp_path) == old
    assert len(suites.fetch_vimgolf(data=tmp_path).suite.tasks) == 612


def test_a_cache_that_cannot_be_written_says_so(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.dataset(parquet(challenges()))
    (tmp_path / "file").touch()
    monkeypatch.setenv("VIMLIB_SUITES", str(tmp_path / "file" / "below"))
    with pytest.raises(suites.CacheNotWritable, match="name a folder in VIMLIB_SUITES"):
        suites.fetch_vimgolf()
    monkeypatch.setenv("VIMLIB_SUITES", str(tmp_path / "new" / "folder"))
    suites.fetch_vimgolf()
    assert len(suites.load_suite("vimgolf").tasks) == 612


def test_the_same_name_with_other_content_is_another_version(site: Site, tmp_path: Path) -> None:
    site.dataset(jsonl(challenges(3)), path="test.jsonl", revision="a", commit=OTHER)
    one = suites.fetch_vimgolf(revision="a", data=tmp_path).suite
    site.dataset(jsonl(challenges(4)), path="test.jsonl", revision="b", commit=OTHER[::-1])
    two = suites.fetch_vimgolf(revision="b", data=tmp_path).suite
    assert one.name == two.name and one.hash != two.hash and one.version != two.version


# --- statistics and published solutions -------------------------------------------------------------


def write_additions(folder: Path) -> Additions:
    """Files that name the first two challenges, and one that no suite has."""
    numbers = {"total_entries": 99, "active_golfers": 12, "lowest_score": 3}
    (folder / "statistics.json").write_text(
        json.dumps([{"id": FIRST, "title": "Dos", **numbers}, {"id": "elsewhere", **numbers}]),
        encoding="utf-8",
    )
    rows = [
        {"challenge_id": FIRST, "keys": "jddZZ", "source": "x/y", "claimed": 5, "verified": True},
        {"challenge_id": FIRST, "keys": "GddZZ<Esc>", "source": "x/z", "verified": True},
        {"challenge_id": FIRST, "keys": "Z", "source": "x/z", "verified": False},
        {
            "challenge_id": "9v0064f211df000000000255",
            "keys": "S<Tab>n<Esc>ZZ",
            "source": "x/y",
            "verified": True,
        },
        {"challenge_id": "9v0064f211df000000000255", "keys": "Sa<Esc>ZZ", "source": "x/y"},
        {"challenge_id": "elsewhere", "keys": "ZZ", "source": "x/y"},
    ]
    (folder / "solutions.jsonl").write_bytes(jsonl([*rows, rows[0]]))
    return Additions(folder / "statistics.json", folder / "solutions.jsonl")


def test_statistics_and_solutions_are_kept_with_the_suite_and_leave_its_hash_alone(
    site: Site, tmp_path: Path
) -> None:
    site.dataset(parquet(challenges()))
    plain = suites.fetch_vimgolf(data=tmp_path / "plain").suite
    additions = write_additions(tmp_path)
    done = suites.fetch_vimgolf(additions=additions, data=tmp_path)
    suite = done.suite
    first = suite.tasks[0]
    assert (first.entries, first.golfers, first.best_score, first.title) == (99, 12, 3, "Dos")
    assert suite.tasks[3].entries is None
    assert [one.keys for one in suite.published if one.task_id == FIRST] == ["jddZZ", "GddZZ<Esc>", "Z"]
    assert (suite.published[0].claimed, suite.published[0].verified) == (5, True)
    assert len(suite.published) == 5
    assert suite.hash == plain.hash and suite.source_sha256 != plain.source_sha256
    assert sum("1 ids that the suite does not have, such as elsewhere" in note for note in done.notes) == 2

    for name in ("statistics.json", "solutions.jsonl"):
        (tmp_path / name).unlink()
    assert suites.load_suite("vimgolf", data=tmp_path) == suite
    again = suites.fetch_vimgolf(data=tmp_path).suite
    assert (again.published, again.tasks) == (suite.published, suite.tasks)


def test_solutions_become_references_when_asked_for(site: Site, tmp_path: Path) -> None:
    site.dataset(parquet(challenges()))
    plain = suites.fetch_vimgolf(data=tmp_path).suite
    (tmp_path / "given").mkdir()
    given = write_additions(tmp_path / "given")
    suite = suites.fetch_vimgolf(
        additions=Additions(solutions=given.solutions, solutions_as_references=True),
        offline=True,
        data=tmp_path,
    ).suite
    first, second, *rest = suite.tasks
    # The target of the first is three characters: its solutions are all over the key cap.
    assert (len(first.target), first.reference) == (3, None)
    assert (second.reference, second.reference_notation) == ("S<Tab>n<Esc>ZZ", Protocol.GOLF)
    assert keys.count("S<Tab>n<Esc>ZZ", Protocol.GOLF) < len(second.target)
    assert all(task.reference is None for task in rest)
    assert suite.hash != plain.hash
    back = suites.fetch_vimgolf(
        additions=Additions(solutions_as_references=False), offline=True, data=tmp_path
    )
    assert back.suite.hash == plain.hash


@pytest.mark.parametrize(
    ("name", "content", "error", "words"),
    [
        (
            "statistics",
            b'[{"id": "x"}]',
            suites.NoStatistics,
            "line 1: no statistics; expected id and any of",
        ),
        ("statistics", b'[{"id": "x", "total_entries": "many"}]', suites.WrongType, "a whole number"),
        ("statistics", b"<html>", suites.NotJson, "line 1: not JSON"),
        ("solutions", b'{"challenge_id": "x", "keys": "ZZ"}\n', suites.MissingField, "'source' is missing"),
        ("solutions", b'{"challenge_id": "x", "source": "y"}\n', suites.MissingField, "'keys' is missing"),
        ("solutions", b"[]", suites.NoTasks, "holds no solution"),
        ("solutions", None, suites.NoSuchSuite, "cannot be read (No such file or directory)"),
    ],
)
def test_bad_additions_are_refused_and_not_kept(
    site: Site, tmp_path: Path, name: str, content: bytes | None, error: type[suites.SuiteError], words: str
) -> None:
    site.dataset(parquet(challenges()))
    file = tmp_path / "given.json"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(error) as caught:
        suites.fetch_vimgolf(additions=Additions(**{name: file}), data=tmp_path / "data")
    assert words in one_line(caught) and str(file) in one_line(caught)
    assert not (tmp_path / "data").exists()


def test_shared_challenges_load_with_dates_statistics_and_solutions(
    shared_data: Path, site: Site, tmp_path: Path
) -> None:
    content = (shared_data / "vimgolf" / "challenges.jsonl").read_bytes()
    rows = [json.loads(line) for line in content.splitlines()]
    inner = {"total_entries": "entries", "active_golfers": "golfers", "lowest_score": "best_score"}
    (tmp_path / "statistics.json").write_text(
        json.dumps(
            [
                {"id": row["id"], "title": row["metadata"]["detail"]}
                | {name: row["metadata"].get(key) for name, key in inner.items()}
                for row in rows
            ]
        ),
        encoding="utf-8",
    )
    for row in rows:
        row["metadata"] = {"detail": row["metadata"]["detail"]}
    site.dataset(jsonl(rows), path="test.jsonl", revision=OTHER)
    solutions = shared_data / "vimgolf" / "solutions.jsonl"
    done = suites.fetch_vimgolf(
        revision=OTHER, additions=Additions(tmp_path / "statistics.json", solutions), data=tmp_path
    )
    suite, local = done.suite, suites.load_suite(shared_data / "vimgolf" / "challenges.jsonl")
    assert suite.hash == local.hash
    assert [task.created for task in suite.tasks] == [task.created for task in local.tasks]
    assert [task.entries for task in suite.tasks] == [task.entries for task in local.tasks]
    assert [task.best_score for task in suite.tasks] == [task.best_score for task in local.tasks]
    assert sum(task.entries is not None for task in suite.tasks) > 100
    published, notes = suites.read_solutions(local.tasks, "solutions.jsonl", solutions.read_bytes())
    assert published == suite.published and len(published) == 64 and not notes
    assert sum(one.verified is True for one in published) == 59
    referenced = suites.with_references(local.tasks, published)
    assert sum(task.reference is not None for task in referenced) > 20


# --- one challenge ----------------------------------------------------------------------------------

CHALLENGE = {
    "in": {"data": "a\r\nb", "type": "txt"},
    "out": {"data": "b\n", "type": "txt"},
    "client": "0.5.0",
}


def test_one_challenge_is_fetched_by_its_id(site: Site, tmp_path: Path) -> None:
    site.answers[f"/challenges/{FIRST}.json"] = as_json(CHALLENGE)
    suite = suites.fetch_challenge(FIRST, base_url=site.url + "/", data=tmp_path).suite
    (task,) = suite.tasks
    assert (suite.name, suite.origin, suite.revision) == (
        f"vimgolf-{FIRST}",
        f"{site.url}/challenges/{FIRST}",
        None,
    )
    assert (task.id, task.start, task.target) == (FIRST, "a\r\nb", "b\n")
    assert task.created == datetime.date(2010, 12, 28)
    assert suites.load_suite(f"vimgolf-{FIRST}", data=tmp_path) == suite

    saved = tmp_path / f"{FIRST}.json"
    saved.write_text(json.dumps(CHALLENGE, indent=2), encoding="utf-8")
    from_file = suites.load_suite(saved)
    assert (from_file.hash, from_file.tasks) == (suite.hash, suite.tasks)


def test_a_challenge_may_change_and_that_is_said(site: Site, tmp_path: Path) -> None:
    site.answers[f"/challenges/{FIRST}.json"] = as_json(CHALLENGE)
    first = suites.fetch_challenge(FIRST, base_url=site.url, data=tmp_path)
    site.answers[f"/challenges/{FIRST}.json"] = as_json(CHALLENGE | {"out": {"data": "c\n"}})
    second = suites.fetch_challenge(FIRST, base_url=site.url, data=tmp_path)
    assert first.suite.hash != second.suite.hash
    assert not first.notes and "it is another version now" in second.notes[0]


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (Answer(b"<!doctype html><p>VimGolf", kind="text/html"), suites.HtmlInstead, "or it is not there"),
        (Answer(b"[1]"), suites.UnknownShape, "found a number"),
        (
            as_json({"error": "none"}),
            suites.UnknownShape,
            "no challenge; expected JSON with in.data and out.data",
        ),
        (as_json({"in": {}, "out": {"data": "x"}}), suites.MissingField, "field 'data' is missing"),
        (as_json({"in": 3, "out": {"data": "x"}}), suites.WrongType, "field 'in' is a number 3"),
        (Answer(json.dumps(CHALLENGE).encode(), missing=40), suites.Truncated, "ended after"),
        (Answer(b'{"in": {"data": "\xe9"}}'), suites.NotUtf8, "byte 0xe9 is not UTF-8"),
        (Answer(b""), suites.EmptySuiteFile, "is empty"),
    ],
    ids=["front page", "list", "error", "no data", "number", "cut", "latin-1", "empty"],
)
def test_what_is_no_challenge_is_refused(
    site: Site, tmp_path: Path, answer: Answer, error: type[suites.SuiteError], words: str
) -> None:
    site.answers[f"/challenges/{FIRST}.json"] = answer
    with pytest.raises(suites.SuiteError) as caught:
        suites.fetch_challenge(FIRST, base_url=site.url, data=tmp_path)
    assert type(caught.value) is error
    assert words in one_line(caught)
    assert tree(tmp_path) == {}


@pytest.mark.parametrize("identifier", ["../../etc/passwd", "a/b", "", "a b", "x" * 65])
def test_an_id_cannot_lead_anywhere_else(site: Site, tmp_path: Path, identifier: str) -> None:
    with pytest.raises(suites.NotThere, match="no id of a challenge"):
        suites.fetch_challenge(identifier, base_url=site.url, data=tmp_path)
    assert site.asked == []


# --- vimbench ---------------------------------------------------------------------------------------


def test_vimbench_is_fetched_and_its_python_read_as_data(site: Site, tmp_path: Path) -> None:
    good_vimbench(site)
    suite = suites.fetch_vimbench(base_url=site.url, data=tmp_path).suite
    assert (suite.name, len(suite.tasks), suite.protocols) == ("vimbench", 102, (Protocol.BENCH,))
    assert (suite.revision, suite.licence, suite.origin) == (COMMIT, None, site.url)
    assert suite.tasks[0].instruction == 'Say "x".'
    assert suites.load_suite("vimbench", data=tmp_path) == suite
    seed = suites.load_suite("vimbench-seed", data=tmp_path)
    synth = suites.load_suite("vimbench-synth", data=tmp_path)
    assert (seed.name, len(seed.tasks), len(synth.tasks)) == ("vimbench-seed", 30, 72)
    assert seed.tasks + synth.tasks == suite.tasks


def test_vimbench_seed_is_what_the_published_list_is(shared_data: Path, site: Site, tmp_path: Path) -> None:
    published = shared_data / "vimbench" / "seed_tasks.json"
    tasks = json.loads(published.read_text(encoding="utf-8"))
    site.vimbench(as_python(tasks), json.dumps(bench_tasks("syn", 72)))
    suites.fetch_vimbench(base_url=site.url, data=tmp_path)
    seed = suites.load_suite("vimbench-seed", data=tmp_path)
    assert seed.hash == suites.load_suite(published).hash


def test_another_commit_is_fetched_by_its_full_hash_alone(site: Site, tmp_path: Path) -> None:
    site.vimbench(as_python(bench_tasks("t", 2)), json.dumps(bench_tasks("syn", 3)), OTHER)
    suite = suites.fetch_vimbench(revision=OTHER, base_url=site.url, data=tmp_path).suite
    assert (len(suite.tasks), suite.revision) == (5, OTHER)
    for vague in ("main", "cab5cbd", OTHER.upper()):
        with pytest.raises(suites.OtherRevision, match="expected its full hash"):
            suites.fetch_vimbench(revision=vague, base_url=site.url, data=tmp_path)


TASK = bench_tasks("t", 1)[0]
ARGUMENTS = ", ".join(f"{name}={value!r}" for name, value in TASK.items())


@pytest.mark.parametrize(
    ("python", "words"),
    [
        ("TASKS = make_tasks()\n", "line 1: TASKS is no list but a call"),
        ("import os\nTASKS = [os.environ]\n", "line 2: a task is no dict but Python's Attribute"),
        (f"TASKS = [Task({ARGUMENTS})]\n", "line 1: a task is no dict but a call"),
        (
            f"TASKS = [dict({ARGUMENTS.replace('tier=1', 'tier=one()')})]\n",
            "field 'tier' is no literal but a call",
        ),
        (f"TASKS = [dict({ARGUMENTS}, start2='')]\n", "fields of a task changed (new: start2)"),
        ("TASKS = [dict(id='x')]\n", "(gone: instruction, reference, start, target, tier, title)"),
        (f"TASKS = [dict(**base, {ARGUMENTS})]\n", "a task's field has no plain name"),
        (f"TASKS = [dict({ARGUMENTS})]\nTASKS += more\n", "line 2: TASKS is used after it is written"),
        (f"SEED = [dict({ARGUMENTS})]\n", "the name TASKS is gone"),
        ("def tasks():\n    TASKS = []\n", "line 2: TASKS is not assigned at the top level"),
        ("TASKS = [dict(\n", "line 1: not Python ('(' was never closed)"),
        ("TASKS = [" + "(" * 5000, "not Python"),
        ("\0", "not Python"),
    ],
)
def test_unknown_structure_says_what_changed(site: Site, tmp_path: Path, python: str, words: str) -> None:
    site.vimbench(python, json.dumps(bench_tasks("syn", 2)), OTHER)
    with pytest.raises(suites.UnknownStructure) as caught:
        suites.fetch_vimbench(revision=OTHER, base_url=site.url, data=tmp_path)
    assert words in one_line(caught)
    assert f"/{OTHER}/tasks.py" in one_line(caught)
    assert tree(tmp_path) == {}


def test_tasks_py_is_never_executed(site: Site, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    code = f"__import__('pathlib').Path({str(trap)!r}).touch()"
    site.vimbench(f"{code}\n{as_python(bench_tasks('t', 2))}", json.dumps(bench_tasks("syn", 2)), OTHER)
    suite = suites.fetch_vimbench(revision=OTHER, base_url=site.url, data=tmp_path / "1").suite
    assert len(suite.tasks) == 4
    site.vimbench(f"TASKS = [dict({ARGUMENTS}, extra={code})]\n", "[]", OTHER)
    with pytest.raises(suites.UnknownStructure):
        suites.fetch_vimbench(revision=OTHER, base_url=site.url, data=tmp_path / "2")
    assert not trap.exists()


def test_dict_literals_are_read_as_well(tmp_path: Path) -> None:
    (tmp_path / "tasks.py").write_text(f"TASKS: list = (\n    {TASK!r},\n)\n", encoding="utf-8")
    suite = suites.load_suite(tmp_path / "tasks.py")
    assert (suite.name, [task.id for task in suite.tasks]) == ("vimbench", ["t-0"])


@pytest.mark.parametrize(
    ("python", "synth", "error", "words"),
    [
        (
            bench_tasks("t", 29),
            bench_tasks("s", 72),
            suites.WrongCount,
            "29 tasks at revision cab5cbd7de7c; expected 30",
        ),
        (
            bench_tasks("t", 30),
            bench_tasks("s", 71),
            suites.WrongCount,
            "71 tasks at revision cab5cbd7de7c; expected 72",
        ),
        (bench_tasks("t", 30), bench_tasks("t", 72), suites.DuplicateId, "id 't-0' is already in "),
        (
            bench_tasks("t", 30),
            {"tasks": []},
            suites.UnknownStructure,
            "fields of a task changed (new: tasks",
        ),
    ],
)
def test_other_tasks_at_the_pinned_commit_are_refused(
    site: Site, tmp_path: Path, python: Any, synth: Any, error: type[suites.SuiteError], words: str
) -> None:
    site.vimbench(as_python(python), json.dumps(synth))
    with pytest.raises(error) as caught:
        suites.fetch_vimbench(base_url=site.url, data=tmp_path)
    assert words in one_line(caught)
    assert tree(tmp_path) == {}


def test_one_file_missing_keeps_none(site: Site, tmp_path: Path) -> None:
    good_vimbench(site)
    del site.answers[f"/{COMMIT}/tasks_synth.json"]
    with pytest.raises(suites.NotThere, match=r"tasks_synth\.json: not there \(HTTP 404\)"):
        suites.fetch_vimbench(base_url=site.url, data=tmp_path)
    assert tree(tmp_path) == {}


# --- files ------------------------------------------------------------------------------------------

GYM = """\
input: |
  zwei
  eins
output: |
  eins
  zwei
name: Swap lines
description: Swap the two lines
solution: ddp:wq<NL>
"""


@pytest.mark.parametrize("options", [{}, {"format": "vimgolf-gym"}], ids=["recognised", "named"])
def test_a_custom_challenge_in_yaml(tmp_path: Path, options: dict[str, str]) -> None:
    path = tmp_path / "swap.yaml"
    path.write_text(GYM, encoding="utf-8")
    suite = suites.load_suite(path, **options)
    (task,) = suite.tasks
    assert (suite.name, suite.protocols, task.id) == ("swap", (Protocol.GOLF,), "swap")
    assert (task.start, task.target, task.title) == ("zwei\neins\n", "eins\nzwei\n", "Swap lines")
    assert (task.instruction, task.reference) == ("Swap the two lines", "ddp:wq<NL>")
    assert task.reference_notation is Protocol.GOLF

    path.write_text(
        GYM.replace("ddp:wq<NL>", "null").replace("description", "# description"), encoding="utf-8"
    )
    (task,) = suites.load_suite(path).tasks
    assert (task.reference, task.instruction) == (None, "Swap lines")
    # The same as JSON.
    (tmp_path / "swap.json").write_text(json.dumps({"input": "a\n", "output": "b\n"}), encoding="utf-8")
    assert suites.load_suite(tmp_path / "swap.json").tasks[0].target == "b\n"


def test_several_custom_challenges_need_ids(tmp_path: Path) -> None:
    path = tmp_path / "mine.yml"
    path.write_text("- {id: a, input: x, output: y}\n- {id: b, input: x, output: z}\n", encoding="utf-8")
    assert [task.id for task in suites.load_suite(path).tasks] == ["a", "b"]
    path.write_text("- {input: x, output: y}\n- {input: x, output: z}\n", encoding="utf-8")
    with pytest.raises(suites.DuplicateId, match=r"line 2: id 'mine' is already on line 1"):
        suites.load_suite(path)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("input: [\n", suites.NotYaml, "line 2: not YAML"),
        ("input: x\n", suites.MissingField, "line 1: field 'id' is missing (found: input)"),
        ("input: 3\noutput: x\n", suites.WrongType, "field 'input' is a number 3; expected text"),
        ("input: 2024-05-31\noutput: x\n", suites.WrongType, "field 'input' is no text"),
        ("just words\n", suites.UnknownShape, "found text; expected a task"),
        ("1: x\ninput2: y\n", suites.UnknownShape, "tasks of unknown shape (fields: 1, input2)"),
        (
            "!!python/object/apply:os.getcwd []\n",
            suites.NotYaml,
            "not YAML (could not determine a constructor",
        ),
        ("input: x\noutput: y\nname: \x07\n", suites.NotYaml, "not YAML"),
        ("- " * 3000 + "x", suites.NotYaml, "not YAML"),
    ],
)
def test_bad_yaml_is_refused_in_one_line(
    tmp_path: Path, text: str, error: type[suites.SuiteError], words: str
) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(suites.SuiteError) as caught:
        suites.load_suite(path)
    assert type(caught.value) is error
    assert words in one_line(caught)


def test_a_folder_of_ids_with_in_and_out(tmp_path: Path) -> None:
    for name, start, target in ((FIRST, b"a\r\nb", b"\xef\xbb\xbfb\n"), ("mine", b"x\n", b"")):
        folder = tmp_path / "set" / name
        folder.mkdir(parents=True)
        (folder / "in").write_bytes(start)
        (folder / "out").write_bytes(target)
        (folder / "notes").write_text("not ours")
    (tmp_path / "set" / "README").write_text("not a task")
    (tmp_path / "set" / ".git").mkdir()
    suite = suites.load_suite(tmp_path / "set")
    assert (suite.name, suite.origin, suite.protocols) == ("set", "set", (Protocol.GOLF,))
    first, mine = suite.tasks
    assert (first.id, first.start, first.target) == (FIRST, "a\r\nb", "\ufeffb\n")
    assert first.created == datetime.date(2010, 12, 28)
    assert (mine.start, mine.target, mine.created) == ("x\n", "", None)
    before = suite.source_sha256
    (tmp_path / "set" / "mine" / "in").write_bytes(b"y\n")
    assert suites.load_suite(tmp_path / "set").source_sha256 != before
    (tmp_path / "set" / "mine" / "out").write_bytes(b"a\n\xff")
    with pytest.raises(suites.NotUtf8, match=r"mine/out, line 2: byte 0xff is not UTF-8"):
        suites.load_suite(tmp_path / "set")
    (tmp_path / "set" / "mine" / "out").write_bytes(b"x" * 5_000_000)
    with pytest.raises(suites.BufferTooLarge, match=r"mine/out: the file is 5,000,000 bytes long"):
        suites.load_suite(tmp_path / "set")
    (tmp_path / "set" / "mine" / "out").unlink()
    with pytest.raises(suites.MissingFile, match=r"mine/out: no such file; expected a task's folder"):
        suites.load_suite(tmp_path / "set")


def test_the_format_goes_with_the_name_where_only_a_text_can(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(bench_tasks("t", 2)), encoding="utf-8")
    assert suites.load_suite(f"vimlib:{path}").protocols == (Protocol.BENCH, Protocol.GOLF)
    assert suites.load_suite(str(path)).protocols == (Protocol.BENCH,)
    assert suites.load_suite(f"vimlib:{path}", data=tmp_path).hash == suites.load_suite(path).hash


def test_every_kind_of_buffer_may_have_a_megabyte_and_no_more(tmp_path: Path) -> None:
    path = tmp_path / "big.jsonl"
    row = {"id": "a", "start": "ü" * 500_000, "target": "b\n"}
    path.write_bytes(jsonl([row]))
    assert len(suites.load_suite(path).tasks[0].start.encode()) == suites.BUFFER_LIMIT
    path.write_bytes(jsonl([row | {"start": row["start"] + "x"}]))
    with pytest.raises(suites.BufferTooLarge, match=r"line 1: field 'start' is 1,000,001 bytes long"):
        suites.load_suite(path)


# --- store, report, command line --------------------------------------------------------------------


def fetched_suite(site: Site, folder: Path, **options: Any) -> Suite:
    site.dataset(jsonl(challenges(4)), path="test.jsonl", revision=OTHER, card={"license": "unlicense"})
    return suites.fetch_vimgolf(revision=OTHER, data=folder, **options).suite


def test_where_a_suite_came_from_is_stored_and_shown(site: Site, tmp_path: Path) -> None:
    suite = fetched_suite(site, tmp_path, additions=write_additions(tmp_path))
    path = tmp_path / "store.duckdb"
    with store.replacing(path) as writer:
        assert writer.add_suite(suite) is store.Change.ADDED
    with store.connect(path) as con:
        frame = store.query(con, "suites_loaded")
        (row,) = frame.to_dict("records")
        published = con.sql("FROM published_solutions ORDER BY place").fetchall()
    assert (row["tasks"], row["published"], row["with_reference"], row["dated"]) == (4, 5, 0, 3)
    assert (row["revision"], row["licence"], row["origin"]) == (OTHER, "unlicense", suite.origin)
    assert suite.fetched is not None
    assert row["fetched_utc"].to_pydatetime() == suite.fetched.replace(tzinfo=None)
    assert published[0] == (suite.hash, 1, FIRST, "jddZZ", "x/y", 5, True, suite.source_sha256)
    shown = figures.suite_table(frame)._repr_html_()
    for words in (OTHER[:12], "unlicense", site.url, f"{suite.fetched:%Y-%m-%d %H:%M}"):
        assert words in shown


def test_fetching_again_changes_nothing_in_the_store(site: Site, tmp_path: Path) -> None:
    suite = fetched_suite(site, tmp_path)
    assert suite.fetched is not None
    later = suites.build_suite(
        suite.name,
        suite.tasks,
        suite.protocols,
        origin=suite.origin,
        licence=suite.licence,
        source_sha256=suite.source_sha256,
        revision=suite.revision,
        fetched=suite.fetched + datetime.timedelta(days=1),
    )
    path = tmp_path / "store.duckdb"
    with store.replacing(path) as writer:
        writer.add_suite(suite)
    with store.replacing(path) as writer:
        assert writer.add_suite(later) is store.Change.UNCHANGED
        assert writer.add_suite(fetched_suite(site, tmp_path)) is store.Change.UNCHANGED


def run_cli(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_the_command_fetches_and_says_what_it_has(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VIMLIB_SUITES", str(tmp_path / "suites"))
    site.dataset(parquet(challenges()))
    given = write_additions(tmp_path)
    assert run_cli("fetch", "vimgolf", "--statistics", str(given.statistics)) == 0
    said = capsys.readouterr()
    assert said.out.splitlines()[1].split()[:6] == [
        "vimgolf",
        said.out.split()[10],
        "612",
        "0",
        "0",
        PINNED[:12],
    ]
    assert "not stated" in said.out and "target is empty" in said.err
    arguments = ("--offline", "--solutions", str(given.solutions), "--solutions-as-references")
    assert run_cli("fetch", "vimgolf", *arguments) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[2:5] == ["612", "1", "5"]
    good_vimbench(site)
    assert run_cli("fetch", "vimbench", "--base-url", site.url) == 0
    site.answers[f"/challenges/{FIRST}.json"] = as_json(CHALLENGE)
    assert run_cli("fetch", "vimgolf", "--challenge", FIRST, "--base-url", site.url) == 0
    assert f"vimgolf-{FIRST}" in capsys.readouterr().out
    assert [suites.load_suite(name).name for name in ("vimgolf", "vimbench")] == ["vimgolf", "vimbench"]

    assert run_cli("fetch", "vimbench", "--base-url", f"{site.url}/nowhere", "--offline") == 0
    assert run_cli("fetch", "vimbench", "--base-url", f"{site.url}/nowhere") == 4
    assert run_cli("fetch", "vimbench", "--solutions", str(given.solutions)) == 2
    assert run_cli("fetch", "vimgolf", "--challenge", FIRST, "--revision", OTHER) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3 and all(line.startswith("vimlib: ") for line in lines)


def test_a_process_of_its_own_with_the_hubs_own_variables(site: Site, tmp_path: Path) -> None:
    # The hub's library reads its variables when it is imported, so only a new process shows them at work.
    site.dataset(parquet(challenges()))
    command = [sys.executable, "-m", "vimlib.cli", "fetch", "vimgolf"]
    environment = {
        "HF_ENDPOINT": site.url,
        "HF_HOME": str(tmp_path / "home"),
        "VIMLIB_SUITES": str(tmp_path / "suites"),
        "NO_PROXY": "127.0.0.1",
        "PATH": "",
    }
    project = Path(__file__).resolve().parent.parent

    def run(**more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, env=environment | more, cwd=project, capture_output=True, text=True, timeout=60
        )

    offline = run(HF_HUB_OFFLINE="1")
    assert (offline.returncode, offline.stdout) == (3, "")
    assert offline.stderr.startswith("vimlib: suite 'vimgolf' is not in")
    online = run()
    assert (online.returncode, "612" in online.stdout) == (0, True), online.stderr
    asked = len(site.asked)
    assert run(HF_HUB_OFFLINE="1").returncode == 0
    assert len(site.asked) == asked
    assert {Path(name).parts[0] for name in tree(tmp_path)} == {"suites"}


def test_the_command_line_knows_every_format() -> None:
    parser = cli._parser()
    for name in suites.SHAPES:
        assert parser.parse_args(["verify", "--format", name]).format == name
