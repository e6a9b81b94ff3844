"""Suites: what is read from a file, what the hash depends on, and how bad files are refused."""

from __future__ import annotations

import datetime
import hashlib
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from vimlib import suites
from vimlib.records import Protocol, Task

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"

OWN: list[dict[str, Any]] = [
    {
        "id": "drop-line",
        "start": "eins\nzwei\ndrei\n",
        "target": "eins\ndrei\n",
        "instruction": "Delete the second line.",
        "tier": 1,
        "category": "lines",
        "reference": "jdd:wq<CR>",
        "created": "2024-05-31",
    },
    {
        "id": "grüße",
        "start": "\tgrüße\u2028x",
        "target": "GRÜSSE\r\n",
        "reference": "gUUZZ",
        "reference_notation": "golf",
    },
    {"id": "bare", "start": "", "target": "a\n"},
]
VIMBENCH: list[dict[str, Any]] = [
    {
        "id": f"t{tier}-x",
        "tier": tier,
        "title": "An x",
        "instruction": "Add an x.",
        "start": "\n",
        "target": "x\n",
        "reference": "ix<Esc>:wq<CR>",
    }
    for tier in (1, 2)
]
VIMGOLF: list[dict[str, Any]] = [
    {
        "id": "4d1a1c36567bac34a9000002",
        "input": "a\r\nb",
        "target": "b\n",
        "metadata": {"detail": "Drop it\n\nKeep the rest.", "entries": 9, "golfers": 4, "best_score": 3},
    },
    {
        "id": "vimgolf-test",
        "input": "a\n",
        "target": "c\n",
        "metadata": {"detail": "Change it"},
        "entries": 5,
    },
]

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    return write_file


def as_jsonl(rows: Sequence[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def message_of(path: Path, **options: Any) -> tuple[suites.SuiteError, str]:
    with pytest.raises(suites.SuiteError) as caught:
        suites.load_suite(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    return caught.value, message


def test_our_schema_gives_every_field_and_both_protocols(write: Write) -> None:
    suite = suites.load_suite(write("mine.jsonl", as_jsonl(OWN)))
    assert (suite.name, suite.origin, suite.version) == ("mine", "mine.jsonl", suite.hash[:12])
    assert suite.protocols == (Protocol.BENCH, Protocol.GOLF)
    first, second, bare = suite.tasks
    assert first == Task(
        id="drop-line",
        start="eins\nzwei\ndrei\n",
        target="eins\ndrei\n",
        instruction="Delete the second line.",
        tier=1,
        category="lines",
        reference="jdd:wq<CR>",
        created=datetime.date(2024, 5, 31),
    )
    assert (second.start, second.target, second.reference_notation) == (
        "\tgrüße\u2028x",
        "GRÜSSE\r\n",
        Protocol.GOLF,
    )
    assert bare == Task(id="bare", start="", target="a\n")


def test_vimbench_list_is_recognised(write: Write) -> None:
    suite = suites.load_suite(write("any_name.json", json.dumps(VIMBENCH, indent=1)))
    assert (suite.name, suite.origin, suite.protocols) == ("vimbench", "any_name.json", (Protocol.BENCH,))
    assert [task.tier for task in suite.tasks] == [1, 2]
    assert suite.tasks[0].reference == "ix<Esc>:wq<CR>"


def test_same_fields_as_jsonl_are_our_own_schema(write: Write) -> None:
    suite = suites.load_suite(write("mine.jsonl", as_jsonl(VIMBENCH)))
    assert (suite.name, suite.protocols) == ("mine", (Protocol.BENCH, Protocol.GOLF))


@pytest.mark.parametrize("text", [as_jsonl(VIMGOLF), json.dumps(VIMGOLF)], ids=["jsonl", "json"])
def test_inspect_evals_records_are_recognised(write: Write, text: str) -> None:
    suite = suites.load_suite(write("challenges.jsonl", text))
    assert (suite.name, suite.origin, suite.protocols) == ("vimgolf", "challenges.jsonl", (Protocol.GOLF,))
    first, second = suite.tasks
    assert (first.start, first.target) == ("a\r\nb", "b\n")
    assert (first.title, first.instruction) == ("Drop it", "Drop it\n\nKeep the rest.")
    assert (first.entries, first.golfers, first.best_score) == (9, 4, 3)
    assert first.created == datetime.date(2010, 12, 28)
    assert (second.entries, second.golfers, second.created) == (5, None, None)


def test_format_can_be_named(write: Write) -> None:
    path = write("mine.json", json.dumps(VIMBENCH))
    suite = suites.load_suite(path, format="vimlib")
    assert (suite.name, suite.protocols) == ("mine", (Protocol.BENCH, Protocol.GOLF))
    with pytest.raises(suites.UnknownFormat, match="'nope'; known: vimgolf, vimbench, vimlib"):
        suites.load_suite(path, format="nope")


@pytest.mark.parametrize(
    ("challenge", "created"),
    [
        ("4d1a1c36567bac34a9000002", datetime.date(2010, 12, 28)),
        ("9v0064f211df000000000255", datetime.date(2023, 9, 1)),
        ("mau-Box_it", None),
        ("vimgolf-test", None),
        ("deadbeefdeadbeefdeadbeef", None),
        ("000000000000000000000000", None),
        ("9v00ffffffff000000000001", None),
        ("4d1a1c36", None),
        ("4d1a1c36567bac34a9000002-twin", None),
        ("", None),
    ],
)
def test_challenge_ids_carry_dates(challenge: str, created: datetime.date | None) -> None:
    assert suites.created_from_id(challenge) == created


def test_hash_is_of_content_alone(write: Write) -> None:
    as_lines = suites.load_suite(write("a.jsonl", as_jsonl(OWN)))
    turned = [dict(reversed(row.items())) | {"title": "Other"} for row in OWN]
    random.Random(1).shuffle(turned)
    as_list = suites.load_suite(write("b.json", "\ufeff" + json.dumps(turned, indent=2)))
    assert as_list.hash == as_lines.hash == suites.content_hash(as_lines.tasks)
    assert as_list.source_sha256 != as_lines.source_sha256


def test_hash_stays_what_it_was() -> None:
    # A changed hash would make every stored result one of another suite.
    tasks = [Task(id="b", start="ü\n", target=""), Task(id="a", start="", target="x\n", reference="ix<Esc>")]
    canonical = rb'[["a","","x\n",["bench","ix<Esc>"]],["b","\u00fc\n","",null]]'
    assert suites.content_hash(tasks) == hashlib.sha256(canonical).hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        {"id": "other"},
        {"start": "x"},
        {"target": "x"},
        {"reference": None},
        {"reference": "x"},
        {"reference_notation": Protocol.GOLF},
    ],
    ids=lambda change: next(iter(change)),
)
def test_hash_changes_with_what_decides_a_verdict(change: dict[str, Any]) -> None:
    task = Task(id="a", start="1\n", target="2\n", reference="r2ZZ")
    assert suites.content_hash([replace(task, **change)]) != suites.content_hash([task])


def test_seed_is_found_beside_the_package_or_where_told(tmp_path: Path) -> None:
    folder = tmp_path / "suites" / "seed"
    folder.mkdir(parents=True)
    (folder / "tasks.jsonl").write_text(as_jsonl(OWN), encoding="utf-8")
    suite = suites.load_suite("seed", data=tmp_path)
    assert (suite.name, len(suite.tasks), suite.licence) == ("seed", 3, "MIT")
    assert suite.origin == "data/suites/seed/tasks.jsonl"
    with pytest.raises(suites.NoSeedSuite, match=r"tasks\.jsonl: the seed suite is not there; install"):
        suites.load_suite("seed", data=tmp_path / "elsewhere")
    project = Path(suites.__file__).resolve().parents[2]
    assert suites.seed.data_folder() == project / "data"


BAD_FILES: list[tuple[str, str | bytes, type[suites.SuiteError], str]] = [
    (
        "missing field",
        as_jsonl([OWN[0], {"id": "x", "start": "a"}]),
        suites.MissingField,
        "line 2: field 'target' is missing (found: id, start)",
    ),
    (
        "missing field in a list",
        json.dumps([VIMBENCH[0], {k: v for k, v in VIMBENCH[1].items() if k != "reference"}], indent=1),
        suites.MissingField,
        "line 11: field 'reference' is missing",
    ),
    (
        "missing id",
        as_jsonl([{"start": "a", "target": "b"}]),
        suites.MissingField,
        "line 1: field 'id' is missing",
    ),
    (
        "wrong type",
        as_jsonl([{"id": "x", "start": ["a"], "target": "b"}]),
        suites.WrongType,
        "line 1: field 'start' is a list; expected text",
    ),
    (
        "null",
        as_jsonl([{"id": "x", "start": None, "target": "b"}]),
        suites.WrongType,
        "line 1: field 'start' is null; expected text",
    ),
    (
        "number as id",
        as_jsonl([{"id": 7, "start": "a", "target": "b"}]),
        suites.WrongType,
        "line 1: field 'id' is a number 7; expected text",
    ),
    (
        "empty id",
        as_jsonl([{"id": " ", "start": "a", "target": "b"}]),
        suites.WrongType,
        "line 1: field 'id' is empty",
    ),
    (
        "text as tier",
        as_jsonl([OWN[0] | {"tier": "one"}]),
        suites.WrongType,
        "field 'tier' is text 'one'; expected a whole number",
    ),
    ("truth as tier", as_jsonl([OWN[0] | {"tier": True}]), suites.WrongType, "field 'tier' is true or false"),
    (
        "no date",
        as_jsonl([OWN[0] | {"created": "yesterday"}]),
        suites.WrongType,
        "'created' is text 'yesterday'; expected a date",
    ),
    (
        "notation",
        as_jsonl([OWN[0] | {"reference_notation": "emacs"}]),
        suites.WrongType,
        "is 'emacs'; expected 'golf' or 'bench'",
    ),
    (
        "misspelt field",
        as_jsonl([{"id": "x", "start": "a", "target": "b", "refrence": "x"}]),
        suites.MisspeltField,
        "line 1: unknown field 'refrence'; did you mean 'reference'?",
    ),
    (
        "metadata of another type",
        as_jsonl([VIMGOLF[0] | {"metadata": "x"}]),
        suites.WrongType,
        "line 1: field 'metadata' is text 'x'; expected an object",
    ),
    (
        "duplicate id",
        as_jsonl([OWN[0], OWN[2], OWN[0]]),
        suites.DuplicateId,
        "line 3: id 'drop-line' is already on line 1",
    ),
    (
        "duplicate id in a list",
        json.dumps([VIMBENCH[0], VIMBENCH[0]], indent=1),
        suites.DuplicateId,
        "line 11: id 't1-x' is already on line 2",
    ),
    (
        "lone surrogate",
        r'{"id": "x", "start": "a\ud800", "target": "b"}',
        suites.NotWritable,
        "line 1: field 'start' holds a lone surrogate",
    ),
    (
        "not UTF-8",
        as_jsonl(OWN[:1]).encode() + b'{"id": "caf\xe9"}\n',
        suites.NotUtf8,
        "line 2: byte 0xe9 is not UTF-8",
    ),
    (
        "not JSON",
        as_jsonl(OWN[:1]) + "id: x\n",
        suites.NotJson,
        "line 2: not JSON (Expecting value, column 1)",
    ),
    ("cut line", as_jsonl(OWN)[:-9], suites.NotJson, "line 3: not JSON"),
    ("cut list", json.dumps(VIMBENCH, indent=1)[:-30], suites.NotJson, "line 18: not JSON"),
    (
        "list without comma",
        '[{"id": "a"}\n{"id": "b"}]',
        suites.NotJson,
        "line 2: not JSON (Expecting ',' or ']'",
    ),
    ("text after the list", json.dumps(VIMBENCH) + "\nx", suites.NotJson, "line 2: not JSON (Extra data"),
    ("empty file", "", suites.EmptySuiteFile, "is empty; expected"),
    ("blank file", "\ufeff \n\n", suites.EmptySuiteFile, "is empty; expected"),
    ("empty list", " [ ] ", suites.NoTasks, "holds no task"),
    ("a number", "7\n", suites.UnknownShape, "line 1: found a number; expected a task as a JSON object"),
    ("list of text", '["a"]', suites.UnknownShape, "line 1: found text; expected a task"),
    (
        "other records",
        '{"model": "x", "score": 1}\n',
        suites.UnknownShape,
        "line 1: tasks of unknown shape (fields: model, score); expected vimgolf (id, input, target",
    ),
]


@pytest.mark.parametrize(
    ("content", "error", "words"), [row[1:] for row in BAD_FILES], ids=[row[0] for row in BAD_FILES]
)
def test_bad_files_are_refused_in_one_line(
    write: Write, content: str | bytes, error: type[suites.SuiteError], words: str
) -> None:
    found, message = message_of(write("bad.txt", content))
    assert type(found) is error
    assert words in message
    assert found.exit_code != 0


def test_missing_files_and_folders_are_refused(tmp_path: Path) -> None:
    assert "no such file" in message_of(tmp_path / "none.jsonl")[1]
    assert "is a folder" in message_of(tmp_path)[1]
    assert type(message_of(tmp_path)[0]) is suites.NoSuchSuite


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data is not beside the project")
def test_public_challenges_and_vimbench_tasks_load() -> None:
    golf = suites.load_suite(SHARED / "vimgolf" / "challenges.jsonl")
    assert (golf.name, len(golf.tasks)) == ("vimgolf", 134)
    undated = [task.id for task in golf.tasks if task.created is None]
    assert len(undated) == 5
    assert all(name.startswith("mau-") for name in undated)
    assert all(task.created.year <= 2021 for task in golf.tasks if task.created is not None)
    bench = suites.load_suite(SHARED / "vimbench" / "seed_tasks.json")
    assert (bench.name, len(bench.tasks)) == ("vimbench", 30)
    assert all(task.reference for task in bench.tasks)
