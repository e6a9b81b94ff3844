"""Twins: the same edit on other words, proven by shape and by real replays."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vimlib import cli
from vimlib.generate import BadRequest
from vimlib.generate.twins import Lack, NoTwins, generate_twins
from vimlib.records import Protocol, PublishedSolution, Task
from vimlib.replay import ReplayRequest, replay_many
from vimlib.suites import build_suite, load_suite, read_solutions, twins
from vimlib.suites.jsonl import as_jsonl
from vimlib.suites.twins.pieces import Cuts, alike
from vimlib.suites.twins.words import FROZEN, PARTICLES, WORDS

GOLF = Protocol.GOLF


def task(start: str, target: str, **fields: object) -> Task:
    return dataclasses.replace(Task("t", start, target), **fields)  # type: ignore[arg-type]


def twin(start: str, target: str, *keys: str, **fields: object) -> twins.Draft | None:
    return next(twins.drafts(task(start, target, **fields), [(one, GOLF) for one in keys]), None)


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


# --- what a draft keeps


def test_words_are_exchanged_alike_in_start_target_and_instruction() -> None:
    made = twin("wolves eat\nlambs eat\n", "wolves eat\nwolves eat\n", instruction="Let the wolves win.")
    assert made is not None
    wolves, eat, lambs, eat_again = words(made.task.start)
    assert {wolves, eat, lambs}.isdisjoint({"wolves", "eat", "lambs"}) and eat == eat_again
    assert words(made.task.target) == [wolves, eat, wolves, eat]
    assert made.task.instruction == f"Let the {wolves} win."
    assert [len(wolves), len(eat), len(lambs)] == [6, 3, 5]


def test_case_is_kept_letter_by_letter() -> None:
    made = twin("Cherry CHERRY cherry cHerry\n", "Cherry CHERRY cherry\n")
    assert made is not None
    first, second, third, _ = words(made.task.start)
    assert first == third.capitalize() and second == third.upper() and third.islower()


def test_numbers_words_of_vim_and_of_code_stay() -> None:
    made = twin("for parrot in 1234: print(parrot)\n", "for parrot in 1234: return parrot\n")
    assert made is not None
    assert re.fullmatch(r"for [a-z]{6} in 1234: print\([a-z]{6}\)\n", made.task.start)


@given(
    st.lists(st.text("abcXYZ 12-_(", max_size=12), max_size=6), st.lists(st.text("abcXYZ 12-_(", max_size=12))
)
def test_every_draft_has_the_shape_of_its_original(start: list[str], target: list[str]) -> None:
    original = task("\n".join([*start, "little harbour stones"]), "\n".join([*target, "little harbour"]))
    for made in twins.drafts(original):
        assert twins.same_shape(original, made.task)
        for old, new in zip(original.start, made.task.start, strict=True):
            assert (old.isalpha(), old.isupper(), old.isdigit()) == (
                new.isalpha(),
                new.isupper(),
                new.isdigit(),
            )
            assert old.isalnum() or old == new


def test_another_edit_has_another_shape() -> None:
    original = task("red green\nblue\n", "red green\n")
    assert twins.same_shape(original, task("cat mouse\nbird\n", "cat mouse\n"))
    assert not twins.same_shape(original, task("cat mouse\nbird\n", "cat house\n"))
    assert not twins.same_shape(original, task("cat mouse\nbird\n", "Cat mouse\n"))
    assert not twins.same_shape(original, task("cat mouses\nbird\n", "cat mouses\n"))
    assert not twins.same_shape(task("one one\n", "one\n"), task("ant cow\n", "ant\n"))


def test_a_word_that_the_edit_cuts_is_cut_wherever_it_stands() -> None:
    made = twin("unhappy zebras\nhappy\nunhappy end\n", "happy zebras\nhappy\nunhappy end\n")
    assert made is not None
    first, _, second, third, _ = words(made.task.start)
    assert first == third == "un" + second != "unhappy"


def test_what_a_rule_makes_of_letters_is_left_alone() -> None:
    assert twin("stressed\n", "desserts\n") is None, "reversed"
    assert twin("abcdefgh\n", "hgfedcba\n") is None, "the alphabet"
    assert twin("7\n", "abacabadabacabaeabacabadabacaba\n") is None, "too long to have been typed"


def test_lines_that_are_sorted_stay_sorted() -> None:
    lines = ["pelican", "heron", "plover", "gull", "petrel", "avocet", "goose", "pelicans"]
    made = twin("\n".join(lines) + "\n", "\n".join(sorted(lines)) + "\n", ":sor<CR>ZZ")
    assert made is not None
    start, target = (text.splitlines() for text in (made.task.start, made.task.target))
    assert target == sorted(start) and not set(start) & set(lines)


def test_numbers_are_exchanged_where_nothing_else_can_be_and_nothing_is_computed() -> None:
    start, target = "731\n84\n905\n6120\n", "84\n731\n905\n6120\n"
    made = twin(start, target, ":sor n<CR>ZZ")
    assert made is not None
    assert sorted(map(int, made.task.start.split())) == [*map(int, made.task.target.split())]
    assert made.task.start != start
    assert twin("731\n84\n905\n6120\n", "732\n84\n905\n6120\n") is None, "a sum"


# --- keys


def test_text_that_keys_type_or_look_for_is_exchanged_and_commands_are_not() -> None:
    original = ("silver spoon\nsilver fork\n", "golden spoon\ngolden fork\n")
    made = twin(*original, ":%s/silver/golden/<CR>:wq<CR>", "cwgolden<Esc>j.ZZ")
    assert made is not None
    silver, golden = words(made.task.start)[0], words(made.task.target)[0]
    assert [keys for keys, _ in made.solutions] == [
        f":%s/{silver}/{golden}/<CR>:wq<CR>",
        f"cw{golden}<Esc>j.ZZ",
    ]


def test_letters_that_keys_look_for_stay_where_they_are_and_come_up_nowhere_else() -> None:
    made = twin("quick foxes jump over\n", "quick foxes x over\n", "fjdt r x<Esc>ZZ", "tocl<Esc>ZZ")
    assert made is not None
    for old, new in zip("quick foxes jump over\n", made.task.start, strict=True):
        assert (old in "jo") == (new in "jo") and (old not in "jo" or old == new)


# --- words


def test_the_words_are_plain_and_none_means_something_to_vim() -> None:
    for length, group in WORDS.items():
        assert all(len(word) == length and word.isascii() and word.islower() for word in group)
        assert list(group) == sorted(set(group))
        assert not FROZEN & set(group)
    assert all(len(word) < 3 for word in PARTICLES)


def test_stretches_that_are_alike_are_alike() -> None:
    start, target = "Keep this, drop that\nand this\n", "keep THIS\nand that\n"
    blocks = alike(start, target)
    assert blocks and all(start[i : i + n].lower() == target[j : j + n].lower() for i, j, n in blocks)
    assert all(i + n <= k and j + n <= m for (i, j, n), (k, m, _) in zip(blocks, blocks[1:], strict=False))


def test_a_piece_is_found_in_every_text_that_is_cut_alike() -> None:
    cuts = Cuts("savedState = 1\n", "saved_state = 1\n")
    assert [piece for _, piece, _ in cuts.pieces("savedState saved state")] == [
        "saved",
        "State",
        "saved",
        "state",
    ]


# --- replays


def test_twins_of_the_seed_suite_are_solved_by_its_references(tmp_path: Path) -> None:
    seed = load_suite("seed")
    some = build_suite("some", seed.tasks[::6], seed.protocols, origin="")
    made = generate_twins(some, cache=tmp_path / "replays.sqlite")
    assert [one.original.id for one in made.twins] == [one.id for one in some.tasks]
    assert made.at_first >= len(made.twins) - 1
    replays = replay_many(
        [
            ReplayRequest(
                one.reference_notation, one.reference_notation.formatted(one.start), one.reference or ""
            )
            for one in made.suite.tasks
        ]
    )
    for one, done in zip(made.suite.tasks, replays, strict=True):
        assert done.final is not None
        assert done.final.decode() == one.target, one.id
    assert generate_twins(some).suite == made.suite, "the same seed gives the same twins"
    assert generate_twins(some, seed=1).suite.hash != made.suite.hash


def test_a_solution_that_fails_on_a_draft_costs_the_draft(tmp_path: Path) -> None:
    """`3x` deletes letters of any word; `:s/ca` finds a beginning that only some words have."""
    start, target = "candle castle\n", "candle stle\n"
    suite = build_suite("little", [task(start, target)], (GOLF,), origin="")
    published = [
        PublishedSolution("t", "wxxZZ", "here", verified=True),
        PublishedSolution("t", ":s/ cas/ s<CR>ZZ", "here", verified=True),
        PublishedSolution("t", "wwwwZZ", "there", verified=False),
    ]
    made = generate_twins(suite, published=published, cache=tmp_path / "replays.sqlite")
    (one,) = made.twins
    assert [keys for keys, _ in one.solutions] == ["wxxZZ", ":s/ cas/ s<CR>ZZ"]
    assert one.works == (True, True)
    assert one.task.start.split()[1].startswith("cas") or one.solutions[1][0] != one.solutions[1][1]


def test_what_has_no_twin_is_named_with_its_reason() -> None:
    suite = build_suite(
        "odd",
        [
            task("silver spoons\n", "silver\n", id="good"),
            task("1 2\n", "2 1\n", id="figures"),
            task("same words\n", "same words\n", id="nothing to do"),
            task("copper spoons\n", "copper\n", id="twin", twin_of="other#0"),
        ],
        (GOLF,),
        origin="",
    )
    made = generate_twins(suite)
    assert [one.original.id for one in made.twins] == ["good"]
    assert made.lacking == {"figures": Lack.WORDS, "nothing to do": Lack.ERRATUM, "twin": Lack.TWIN}
    assert "1 of 4 tasks have a twin" in made.summary()
    with pytest.raises(NoTwins, match="none of its 1 tasks has a twin"):
        generate_twins(build_suite("odd", suite.tasks[1:2], (GOLF,), origin=""))
    with pytest.raises(BadRequest):
        generate_twins(suite, seed=-1)


# --- the file


def test_the_command_writes_a_suite_that_names_its_originals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    suite = build_suite(
        "little", [task("tin spoon\n", "tin\n", reference="wd$x<Esc>:wq<CR>")], (GOLF,), origin=""
    )
    Path("little.jsonl").write_bytes(as_jsonl(suite))
    Path("solutions.jsonl").write_text(
        json.dumps({"challenge_id": "t", "keys": "eDZZ", "source": "x", "verified": True}) + "\n"
    )
    given = ["generate", "twins", "--suite", "little.jsonl", "--report"]
    with pytest.raises(SystemExit) as ended:
        cli.main([*given, "--solutions", "solutions.jsonl"])
    assert ended.value.code == 0
    out = Path(f"data/cache/suites/twins-of-little-{suite.hash[:12]}-seed-0.jsonl")
    said = capsys.readouterr().out
    assert f"{out}: 1 tasks, twins-of-little of-{suite.hash[:12]}-seed-0-g{twins.GENERATOR}" in said
    loaded = load_suite(out)
    (one,) = loaded.tasks
    assert one.id == "twin-0-t" and one.twin_of == twins.twin_of(suite.tasks[0])
    with pytest.raises(SystemExit) as ended:
        cli.main([*given, "--solutions", "nowhere.jsonl"])
    assert ended.value.code == 3
    assert "nowhere.jsonl: cannot be read" in capsys.readouterr().err


# --- the public challenges


def test_most_public_challenges_have_a_twin_on_which_published_solutions_work(
    shared_data: Path, tmp_path: Path
) -> None:
    folder = shared_data / "vimgolf"
    suite = load_suite(folder / "challenges.jsonl")
    raw = (folder / "solutions.jsonl").read_bytes()
    published, _ = read_solutions(suite.tasks, "solutions.jsonl", raw)
    made = generate_twins(suite, published=published, cache=tmp_path / "replays.sqlite")
    assert len(made.twins) >= 0.7 * len(suite.tasks)
    works = [work for one in made.twins for work in one.works]
    assert len(works) >= 40 and sum(works) >= 0.95 * len(works)
    assert made.at_first >= 0.9 * sum(one.replayed for one in made.twins), "without any choice among drafts"
