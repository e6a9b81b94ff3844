"""Evidence of having been seen: each line on data whose answer is known, and on data that lack something."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from storing import FAIL, PASS, judge, make_attempt, make_run, sha256

from vimlib import store
from vimlib.analysis import contamination
from vimlib.analysis.contamination import BadCutoff, Evidence, Finding, UnknownRun, cutoffs, seen
from vimlib.analysis.contamination.age import age
from vimlib.analysis.contamination.answers import by_task
from vimlib.analysis.contamination.blind import blind
from vimlib.analysis.contamination.fresh import fresh
from vimlib.analysis.contamination.likeness import SAVE, bare, longest_run, normal, similarity
from vimlib.analysis.contamination.lines import CANNOT_SHOW, COLUMNS, Line, finding, frame_of
from vimlib.analysis.contamination.overlap import overlap, overlaps
from vimlib.analysis.contamination.popularity import popularity
from vimlib.analysis.contamination.twins import twin_pairs, twins
from vimlib.analysis.contamination.within import correlation, difficulty, slope, strata
from vimlib.figures.contamination import pages
from vimlib.records import AttemptStatus, Outcome, Protocol, PublishedSolution, Run, Suite, Task, Track
from vimlib.suites import build_suite
from vimlib.suites.twins import twin_of

DAY = datetime.date


# --- keys


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ddZZ", "dd:wq<CR>"),
        ("ddZZ", "dd:x<NL>"),
        ("ddZZ", "dd:wq!<Enter>"),
        ("ddZZ", "dd:w<CR>:q<CR>"),
        (":%s/a/b/|x<CR>", ":%s/a/b/<CR>ZZ"),
        (":sort<CR>ZZ", ":sor<NL>:wq<NL>"),
        (":%normal A;<CR>ZZ", ":%norm A;<CR>ZZ"),
        (":2,4delete<CR>ZZ", ":2,4d<CR>ZZ"),
        ("<C-Q>GIx<ESC>ZZ", "<c-v>GIx<Esc>ZZ"),
        ("f<lt>xZZ", "f<xZZ"),
    ],
)
def test_keys_that_say_the_same_are_spelt_the_same(one: str, other: str) -> None:
    assert normal(one) == normal(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ddpZZ", "ddPZZ"),
        ("ddZZ", "dd"),
        ("dd:q!<CR>", "ddZZ"),
        (":sor u<CR>ZZ", ":sor<CR>ZZ"),
        ("aZZ<Esc>", "a<Esc>ZZ"),
    ],
)
def test_keys_that_say_something_else_are_not(one: str, other: str) -> None:
    assert normal(one) != normal(other)


def test_both_notations_are_spelt_the_same() -> None:
    assert normal("<fd-6d>f,l<FD-35>df)ZZ") == normal("f,ldf)ZZ"), "keys that a recorder put in"
    assert normal("A << <Esc>ZZ", Protocol.BENCH) == normal("A < <Esc>ZZ", Protocol.GOLF)


def test_text_that_anyone_would_type_does_not_count() -> None:
    assert bare(normal("cwHello World<Esc>jddZZ"), "Say hello world.") == ("c", "w", "<esc>", "j", "d", "d")
    assert bare(normal("cwabc<Esc>"), "abc") == ("c", "w", "a", "b", "c", "<esc>"), "too short to be text"


def test_the_longest_run_of_keys_in_common() -> None:
    assert longest_run(tuple("xqqA;"), tuple("yqqA.")) == tuple("qqA")
    assert longest_run((), tuple("dd")) == ()
    assert similarity(tuple("abcd"), tuple("abxd")) == 0.75
    assert similarity((), ()) == 0.0


# --- effects at equal difficulty


def test_a_slope_on_two_groups_of_one_difficulty_is_the_difference_of_their_means() -> None:
    x = np.array([1, 1, 1, 1, 0, 0, 0, 0], float)
    y = np.array([1, 1, 1, 0, 1, 0, 0, 0], float)
    effect = slope(x, y, np.full(8, 0.5), seed=1)
    assert effect is not None
    assert effect.value == pytest.approx(0.5)
    # Fisher's exact test, two-sided: 2 · (16 + 1) / 70.
    assert effect.p == pytest.approx(34 / 70, abs=0.03)
    assert effect.low <= 0.5 <= effect.high


def test_what_difficulty_explains_is_no_effect() -> None:
    draw = np.random.default_rng(3)
    crude, effects, alarms = [], [], 0
    for _ in range(40):
        hard = draw.random(150)
        old = (draw.random(150) < hard).astype(float)
        passed = (draw.random(150) < 1 - hard).astype(float)
        crude.append(passed[old == 1].mean() - passed[old == 0].mean())
        effect = slope(old, passed, hard, seed=1, resamples=199)
        assert effect is not None
        effects.append(effect.value)
        alarms += effect.p <= 0.05
    assert np.mean(crude) < -0.25 and abs(np.mean(effects)) < 0.05
    assert alarms <= binom.ppf(0.999, 40, 0.05)


def test_nothing_that_varies_gives_no_effect() -> None:
    ones, hard = np.ones(20), np.linspace(0, 1, 20)
    half = np.array([0, 1] * 10, float)
    assert slope(half, ones, hard, seed=1) is None
    assert slope(ones, half, hard, seed=1) is None
    assert correlation(half, ones, hard, seed=1) is None


def test_tests_find_nothing_where_there_is_nothing_as_often_as_they_may() -> None:
    draw = np.random.default_rng(5)
    alarms = {"slope": 0, "correlation": 0}
    for _ in range(200):
        hard = draw.random(60)
        passed = (draw.random(60) < 1 - hard).astype(float)
        old, entries = (draw.random(60) < 0.5).astype(float), draw.lognormal(size=60)
        for name, effect in (
            ("slope", slope(old, passed, hard, seed=2, resamples=199)),
            ("correlation", correlation(entries, passed, hard, seed=2, resamples=199)),
        ):
            alarms[name] += effect is not None and effect.p <= 0.05
    assert max(alarms.values()) <= binom.ppf(0.999, 200, 0.05)
    assert min(alarms.values()) >= 1, "a test that never errs tests nothing"


def test_difficulty_is_the_mean_rank_of_what_is_known() -> None:
    unknown = np.nan
    assert difficulty(np.array([10.0, 20.0, 30.0, 40.0])) == pytest.approx([0.125, 0.375, 0.625, 0.875])
    mixed = difficulty(np.array([10.0, 20.0, 30.0, 40.0]), np.array([unknown, unknown, 2.0, 1.0]))
    assert mixed == pytest.approx([0.125, 0.375, (0.625 + 0.75) / 2, (0.875 + 0.25) / 2])
    assert difficulty(np.array([1.0, 1.0])) == pytest.approx([0.5, 0.5])


def test_strata_are_of_like_size() -> None:
    assert np.bincount(strata(np.arange(60.0))).tolist() == [12] * 5
    assert np.bincount(strata(np.arange(11.0))).tolist() == [11]


# --- lines


def test_what_a_line_amounts_to() -> None:
    line = Line(Evidence.TWINS, 0.2, detectable=0.3)
    assert finding(line, 0.04, 0.05) is Finding.SOME
    assert finding(line, 0.004, 0.05) is Finding.STRONG
    assert finding(line, 0.06, 0.05) is Finding.NOTHING
    assert finding(dataclasses.replace(line, effect=-0.2), 0.001, 0.05) is Finding.NOTHING
    assert finding(dataclasses.replace(line, detectable=0.7), 0.06, 0.05) is Finding.TOO_LITTLE
    assert finding(dataclasses.replace(line, detectable=None), 0.06, 0.05) is Finding.TOO_LITTLE
    assert finding(dataclasses.replace(line, missing="dates"), None, 0.05) is Finding.TOO_LITTLE
    assert finding(line, None, 0.05) is Finding.CONTEXT


def test_lines_are_corrected_for_their_number() -> None:
    lines = [
        Line(Evidence.TWINS, 0.1, p=0.02),
        Line(Evidence.AGE, missing="no dates"),
        Line(Evidence.FRESH, 0.1, p=0.5),
    ]
    frame = frame_of(lines, 0.05)
    assert list(frame) == COLUMNS
    assert frame["p_corrected"].to_list()[::2] == pytest.approx([0.04, 0.5])
    assert frame["cannot_show"].to_list() == [CANNOT_SHOW[line.evidence] for line in lines]


# --- answers


def answers(
    passed: Sequence[float],
    *,
    name: str = "model",
    suite: str = "vimgolf",
    track: str = "single",
    keys: Callable[[int], str] = lambda number: f"{number}ddZZ",
    **columns: Sequence[Any],
) -> pd.DataFrame:
    """Answers to tasks t0, t1, ..., one each, as `answers_traced` has them."""
    n = len(passed)
    frame = pd.DataFrame(
        {
            "run_id": f"{name}-{track}", "kind": "solver" if name == "diff" else "model", "name": name,
            "protocol": "golf", "track": track, "prompt_version": None, "settings": "{}",
            "suite_name": suite, "suite_hash": suite, "task_id": [f"t{i}" for i in range(n)],
            "task_key": [f"{suite}-t{i}" for i in range(n)], "twin_of": None, "title": "",
            "instruction": "", "start": "a\n", "target": "b" * 20 + "\n", "tier": pd.NA, "created": None,
            "entries": pd.NA, "golfers": pd.NA, "best_score": pd.NA, "diff_keys": pd.NA, "epoch": 1,
            "scored": True, "passed": [bool(one) for one in passed], "correct": [bool(one) for one in passed],
            "keys": [keys(i) for i in range(n)],
        }
    )  # fmt: skip
    return frame.assign(**{name: list(values) for name, values in columns.items()})


def line(frame: pd.DataFrame, kind: Evidence) -> Any:
    (row,) = frame[frame["evidence"] == str(kind)].itertuples(index=False)
    return row


def dates(*groups: tuple[int, int]) -> list[DAY]:
    """So many tasks of each year."""
    return [DAY(year, 1 + place % 12, 5) for year, count in groups for place in range(count)]


def test_several_answers_to_a_task_are_one_task() -> None:
    twice = pd.concat([answers([1, 0, 1]), answers([1, 1, 0]).assign(epoch=2)])
    frame = by_task(twice)
    assert frame["passed"].to_list() == [1.0, 0.5, 0.5]
    assert frame["answers"].to_list() == [2, 2, 2]
    assert by_task(twice.iloc[:0]).empty


# --- age


def test_more_passes_before_the_cutoff_are_found() -> None:
    own = answers([1] * 26 + [0] * 4 + [1] * 4 + [0] * 26, created=dates((2015, 30), (2022, 30)))
    row = line(age(own, DAY(2020, 1, 1)), Evidence.AGE)
    assert row.effect == pytest.approx((26 - 4) / 30, abs=0.05)
    assert row.low > 0.4 and row.p < 0.01 and row.finding == Finding.STRONG and row.n == 60


def test_newer_tasks_that_are_harder_for_all_are_told_from_seen_ones() -> None:
    """Both models pass old tasks; only one could have seen those from between the cutoffs."""
    created = dates((2012, 30), (2016, 30), (2022, 30))
    easy, hard = [1] * 24 + [0] * 6, [0] * 24 + [1] * 6
    own = answers([*easy, *hard, *hard], created=created)
    other = answers([*easy, *hard, *hard], name="other", created=created)
    known = {"other": DAY(2014, 1, 1), "stranger": None}
    frame = age(own, DAY(2019, 1, 1), [("other", other), ("stranger", other)], known)
    assert line(frame, Evidence.AGE).effect > 0.2
    assert line(frame, Evidence.AGE_OTHERS).missing.startswith("passes do not vary")
    saw = answers([*easy, *easy, *hard], created=created)
    row = line(age(saw, DAY(2019, 1, 1), [("other", other)], known), Evidence.AGE_OTHERS)
    assert row.effect == pytest.approx(0.6, abs=0.05) and row.p < 0.01
    reverse = age(other, DAY(2014, 1, 1), [("model", saw)], {"model": DAY(2019, 1, 1)})
    assert line(reverse, Evidence.AGE_OTHERS).effect == pytest.approx(0.6, abs=0.05), (
        "it lacks what the other saw"
    )


@pytest.mark.parametrize(
    ("created", "cutoff", "missing"),
    [
        ([None] * 20, DAY(2020, 1, 1), "none of the 20 tasks has a date"),
        (dates((2015, 20)), None, "cutoff is not known"),
        (dates((2015, 20)), DAY(2020, 1, 1), "20 tasks from before the cutoff (2020-01-01) and 0 from after"),
    ],
)
def test_age_says_what_is_missing(created: list[Any], cutoff: DAY | None, missing: str) -> None:
    row = line(age(answers([1, 0] * 10, created=created), cutoff), Evidence.AGE)
    assert missing in row.missing and row.finding == Finding.TOO_LITTLE and np.isnan(row.p)


# --- popularity


def test_passing_what_is_popular_is_found() -> None:
    own = answers([0] * 20 + [1] * 20, entries=[*range(1, 41)], golfers=[5] * 40)
    frame = popularity(own)
    row = line(frame, Evidence.ENTRIES)
    assert row.effect > 0.7 and row.p < 0.01 and row.finding == Finding.STRONG
    assert "do not vary" in line(frame, Evidence.GOLFERS).missing


def test_popularity_says_what_is_missing() -> None:
    assert "0 of 20 tasks have entries" in line(popularity(answers([1, 0] * 10)), Evidence.ENTRIES).missing
    same = popularity(answers([1] * 20, entries=[*range(20)]))
    assert "every task was passed, or none" in line(same, Evidence.ENTRIES).missing


# --- overlap


def solutions(*rows: tuple[int, str]) -> pd.DataFrame:
    return pd.DataFrame(
        [{"task_key": f"vimgolf-t{i}", "task_id": f"t{i}", "keys": keys, "source": "a book", "verified": True,
          "place": place} for place, (i, keys) in enumerate(rows)],
        columns=["task_key", "task_id", "keys", "source", "verified", "place"],
    )  # fmt: skip


PUBLISHED = [f"qq{letter}fx{letter}2wP@qq{n}@qZZ" for n, letter in enumerate("abcdefgh", 1)]


def test_answers_that_are_the_published_ones_are_found_and_shown() -> None:
    copied = answers([1] * 8, keys=lambda i: PUBLISHED[i].replace("ZZ", ":wq<CR>"))
    other = answers([1] * 8, name="other", keys=lambda i: f"{i}GddjjA;<Esc>:x<CR>")
    floor = answers([1] * 8, name="diff", keys=lambda i: f"{i}Gcw;<Esc>ZZ")
    everyone = pd.concat([copied, other, floor])
    found = overlaps(copied, everyone, solutions(*enumerate(PUBLISHED)))
    assert found["same"].all() and not found["same_keys"].any()
    assert (
        (found["similarity"] == 1.0).all() and (found["others"] < 0.4).all() and (found["chance"] < 1).all()
    )
    assert found["elsewhere"].eq(0).all() and found["run_keys"].eq(found["answer_keys"]).all()
    frame = overlap(found, 8)
    chance, row = line(frame, Evidence.OVERLAP_CHANCE), line(frame, Evidence.OVERLAP)
    assert chance.finding == Finding.CONTEXT and np.isnan(chance.p)
    assert row.p == pytest.approx(2 / 2**8, abs=0.001) and row.finding in (Finding.SOME, Finding.STRONG)


def test_without_other_models_overlap_is_shown_and_not_tested() -> None:
    copied = answers([1] * 8, keys=lambda i: PUBLISHED[i])
    floor = answers([1] * 8, name="diff", keys=lambda i: f"{i}Gcw;<Esc>ZZ")
    found = overlaps(copied, pd.concat([copied, floor]), solutions(*enumerate(PUBLISHED)))
    row = line(overlap(found, 8), Evidence.OVERLAP)
    assert row.effect > 0.5 and np.isnan(row.p) and row.finding == Finding.TOO_LITTLE
    assert row.missing.startswith("0 tasks with published solutions that another model passed too")


def test_overlap_says_what_is_missing() -> None:
    none = overlaps(answers([0] * 8), answers([0] * 8), solutions((0, "ddZZ")))
    assert line(overlap(none, 0), Evidence.OVERLAP).missing == "no public task was passed"
    unknown = overlaps(answers([1] * 8), answers([1] * 8), solutions())
    assert "no published solution is known of the 8" in line(overlap(unknown, 8), Evidence.OVERLAP).missing


def test_the_most_suspicious_answers_come_first() -> None:
    mine = answers([1, 1, 1], keys=lambda i: ["jjddZZ", PUBLISHED[1], "xpZZ"][i])
    common = answers([1, 1, 1], name="other", keys=lambda i: ["jjddZZ", "jjddZZ", "jjddZZ"][i])
    found = overlaps(
        mine, pd.concat([mine, common]), solutions((0, "jjddZZ"), (1, PUBLISHED[1]), (2, "~~~ZZ"))
    )
    assert found["task_key"].to_list() == ["vimgolf-t1", "vimgolf-t0", "vimgolf-t2"]
    assert found["elsewhere"].to_list()[:2] == [0, 3]
    assert SAVE not in found.loc[0, "run"]


# --- twins


def twin_answers(passed: Sequence[float], **fields: Any) -> pd.DataFrame:
    made = answers(passed, suite="twins-of-vimgolf", **fields)
    return made.assign(twin_of=[f"vimgolf-t{i}" for i in range(len(passed))])


def test_originals_that_are_passed_where_twins_are_not_are_found() -> None:
    own = pd.concat([answers([1] * 15 + [0] * 5), twin_answers([0] * 10 + [1] * 6 + [0] * 4)])
    row = line(twins(own), Evidence.TWINS)
    assert row.effect == pytest.approx(9 / 20) and row.test == "exact McNemar" and row.n == 20
    # 10 originals alone against 1 twin alone: 2 · (1 + 11) / 2^11.
    assert row.p == pytest.approx(2 * 12 / 2**11)
    assert row.low < 9 / 20 < row.high and row.finding == Finding.SOME
    assert twin_pairs(own)["original"].sum() == 15


def test_twins_of_several_seeds_count_as_one() -> None:
    own = pd.concat(
        [answers([1] * 8), twin_answers([1] * 8), twin_answers([0] * 8).assign(suite_hash="another")]
    )
    row = line(twins(own), Evidence.TWINS)
    assert row.effect == pytest.approx(0.5) and row.n == 8 and row.test == "signs of the differences flipped"


@pytest.mark.parametrize(
    ("own", "missing"),
    [
        (answers([1] * 8), "no twin was answered"),
        (twin_answers([1] * 8), "twins were answered, but none of their originals"),
        (pd.concat([answers([1]), twin_answers([0])]), "1 pairs of original and twin; 6 are needed"),
        (pd.concat([answers([0] * 8), twin_answers([0] * 8)]), "neither an original nor a twin was passed"),
    ],
)
def test_twins_say_what_is_missing(own: pd.DataFrame, missing: str) -> None:
    row = line(twins(own), Evidence.TWINS)
    assert missing in row.missing and row.finding == Finding.TOO_LITTLE


# --- blind


def test_passing_unseen_targets_that_others_do_not_guess_is_found() -> None:
    own = answers([1] * 10 + [0] * 20, track="blind")
    other = answers([1] + [0] * 29, name="other", track="blind")
    row = line(blind(own, [("other", other)]), Evidence.BLIND)
    assert row.effect == pytest.approx(9 / 30) and row.p == pytest.approx(2 / 2**9)
    left_out = blind(own, [("other", other)], determined=[f"t{i}" for i in range(10)])
    assert "nothing was passed" in line(left_out, Evidence.BLIND).missing


def test_blind_says_what_is_missing() -> None:
    assert "no run with the target withheld" in line(blind(answers([]).iloc[:0]), Evidence.BLIND).missing
    alone = line(blind(answers([1, 0, 0, 0], track="blind")), Evidence.BLIND)
    assert alone.effect == 0.25 and "no other model was asked blind" in alone.missing
    drawn = blind(answers([1, 0], suite="fresh", track="blind"))
    assert "determine the target" in line(drawn, Evidence.BLIND).missing


# --- fresh


def test_public_tasks_that_are_passed_where_fresh_ones_are_not_are_found() -> None:
    own = pd.concat([answers([1] * 24 + [0] * 6), answers([1] * 6 + [0] * 24, suite="fresh")])
    row = line(fresh(own), Evidence.FRESH)
    assert row.effect == pytest.approx(0.6, abs=0.05) and row.p < 0.01 and row.n == 60


def test_only_tiers_that_both_have_are_compared() -> None:
    public = answers([1] * 20, suite="seed", tier=[1] * 10 + [2] * 10)
    drawn = answers([1] * 5 + [0] * 5 + [0] * 10, suite="fresh", tier=[2] * 10 + [4] * 10)
    row = line(fresh(pd.concat([public, drawn])), Evidence.FRESH)
    assert row.n == 20 and row.effect == pytest.approx(0.5, abs=0.05)
    apart = fresh(pd.concat([public.iloc[:10], drawn]))
    assert "0 public and 0 fresh tasks to compare" in line(apart, Evidence.FRESH).missing


def test_fresh_says_what_is_missing() -> None:
    assert "no fresh task was answered" in line(fresh(answers([1, 0])), Evidence.FRESH).missing


# --- cutoffs


def test_a_cutoff_comes_from_the_user_before_inspect_and_else_is_not_known() -> None:
    frame = cutoffs(
        ["openai/gpt-4o", "mine", "openai/gpt-4", "nobody/knows"],
        {"mine": "2024-05-31", "openai/gpt-4": DAY(2020, 1, 1)},
    )
    assert frame["source"].to_list() == ["inspect_ai", "given", "given", "not known"]
    assert frame["cutoff"].to_list()[1:] == [DAY(2024, 5, 31), DAY(2020, 1, 1), None]
    with pytest.raises(BadCutoff, match=r"cutoff of 'mine': found '2024-13', expected a date such as"):
        cutoffs(["mine"], {"mine": "2024-13"})


# --- a store


def vimgolf(tasks: int, *, dated: bool = True, published: bool = True) -> Suite:
    made = [
        Task(
            f"c{i}", f"one {i} two\n", f"one {i}\n" * 3, title=f"challenge {i}", entries=10 * i, golfers=i,
            created=DAY(2012 + i % 10, 1, 1) if dated else None, best_score=5 + i,
        )
        for i in range(tasks)
    ]  # fmt: skip
    known = [
        PublishedSolution(one.id, f"qqfx{i}wdw@qZZ", "a book", verified=True) for i, one in enumerate(made)
    ]
    return build_suite("vimgolf", made, (Protocol.GOLF,), origin="", published=known if published else ())


def twins_of(suite: Suite) -> Suite:
    made = [
        dataclasses.replace(Task(f"twin-{one.id}", one.start, one.target), twin_of=twin_of(one))
        for one in suite.tasks
    ]
    return build_suite("twins-of-vimgolf", made, (Protocol.GOLF,), origin="")


def answered(
    suite: Suite, passed: Iterable[bool], run_id: str = "run-1", **fields: Any
) -> tuple[Suite, Run, list[bool]]:
    attempts = [make_attempt(task.id, keys=f"qqfx{i}wdw@qZZ") for i, task in enumerate(suite.tasks)]
    given = {"name": "foo/bar", "protocol": Protocol.GOLF, "source_sha256": sha256(run_id), **fields}
    return suite, make_run(suite, attempts, id=run_id, **given), list(passed)


def stored(path: Path, *runs: tuple[Suite, Run, list[bool]]) -> store.Connection:
    with store.replacing(path) as writer:
        for suite, run, passed in runs:
            writer.add_suite(suite)
            writer.add_run(run)
            verdicts = {
                (task.id, 1, 1): (PASS if ok else FAIL, Outcome.FINISHED)
                for task, ok in zip(suite.tasks, passed, strict=True)
            }
            judge(writer, run, verdicts)
    return store.connect(path)


FULL = vimgolf(24)

CASES: dict[str, tuple[list[tuple[Suite, Run, list[bool]]], dict[Evidence, str]]] = {
    "no dates": (
        [answered(vimgolf(24, dated=False), [True, False] * 12)],
        {Evidence.AGE: "none of the 24 tasks has a date"},
    ),
    "no cutoff": ([answered(FULL, [True, False] * 12)], {Evidence.AGE: "cutoff is not known"}),
    "no solutions": (
        [answered(vimgolf(24, published=False), [True, False] * 12)],
        {Evidence.OVERLAP: "no published solution is known of the 12 tasks that were passed"},
    ),
    "one task": (
        [answered(vimgolf(1), [True])],
        {Evidence.ENTRIES: "1 of 1 tasks have entries; 10 are needed"},
    ),
    "all passed": ([answered(FULL, [True] * 24)], {Evidence.ENTRIES: "every task was passed, or none"}),
    "none passed": (
        [answered(FULL, [False] * 24)],
        {Evidence.GOLFERS: "every task was passed, or none", Evidence.OVERLAP: "no public task was passed"},
    ),
    "twins only": (
        [answered(twins_of(FULL), [True, False] * 12)],
        {Evidence.TWINS: "none of their originals", Evidence.AGE: "no answer to a public task"},
    ),
    "blind only": (
        [answered(FULL, [True, False] * 12, track=Track.BLIND)],
        {Evidence.BLIND: "no other model was asked blind", Evidence.AGE: "no answer to a public task"},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_missing_is_said_and_nothing_fails(case: str, tmp_path: Path) -> None:
    runs, missing = CASES[case]
    with closing(stored(tmp_path / "a.duckdb", *runs)) as con:
        frame = seen(con).evidence
    assert frame["evidence"].to_list() == [str(one) for one in Evidence]
    for kind, text in missing.items():
        row = line(frame, kind)
        assert text in row.missing and row.finding == Finding.TOO_LITTLE
    lacking = frame[frame["finding"] == Finding.TOO_LITTLE]
    assert (lacking["missing"].ne("") | lacking["p"].notna()).all(), "a line without data says why"


def test_all_lines_of_a_model_come_from_its_runs(tmp_path: Path) -> None:
    half = [True, False] * 12
    runs = [
        answered(FULL, half),
        answered(twins_of(FULL), [True] + [False] * 23, "run-2"),
        answered(FULL, [True] * 8 + [False] * 16, "run-3", track=Track.BLIND, prompt_version="blind-1"),
        answered(FULL, [*half[:12], *half[12:][::-1]], "run-4", name="other/model"),
        answered(FULL, [False] * 24, "run-5", name="other/model", track=Track.BLIND),
        answered(FULL, [True] * 24, "run-6", settings={"temperature": 1.0}),
    ]
    with closing(stored(tmp_path / "a.duckdb", *runs)) as con:
        found = seen(con, given={"foo/bar": "2018-06-01", "other/model": "2014-06-01"})
        alone = seen(con, runs=["run-1"])
        with pytest.raises(UnknownRun, match="no run 'run-9' in the store; there are run-1"):
            seen(con, runs=["run-9"])
    models = found.evidence[["model", "settings"]].drop_duplicates()
    assert models["model"].to_list() == ["foo/bar", "foo/bar", "other/model"]
    own = found.evidence.iloc[9:18] if "1.0" in models["settings"].iloc[0] else found.evidence.iloc[:9]
    assert line(own, Evidence.TWINS).effect == pytest.approx(11 / 24) and line(own, Evidence.TWINS).n == 24
    assert line(own, Evidence.BLIND).effect == pytest.approx(8 / 24)
    assert line(own, Evidence.AGE).n == 24 and line(own, Evidence.AGE).missing == ""
    assert found.cutoffs["cutoff"].to_list() == [DAY(2018, 6, 1), DAY(2014, 6, 1)]
    assert set(alone.evidence["model"]) == {"foo/bar"}
    assert "no twin was answered" in line(alone.evidence, Evidence.TWINS).missing


def test_where_a_server_stands_makes_no_other_subject(tmp_path: Path) -> None:
    runs = [
        answered(FULL, [True] * 24, "run-1", settings={"base_url": "http://a/v1", "temperature": 0.0}),
        answered(FULL, [True] * 24, "run-2", settings={"temperature": 0.0, "base_url": "http://b/v1"}),
        answered(FULL, [True] * 24, "run-3", settings={"temperature": 1.0, "max_retries": 2}),
    ]
    with closing(stored(tmp_path / "a.duckdb", *runs)) as con:
        found = seen(con)
    assert found.evidence["settings"].unique().tolist() == ['{"temperature": 0.0}', '{"temperature": 1.0}']
    titles = [page.title for page in pages(found)]
    assert titles == [f"foo/bar · golf protocol · temperature {heat}" for heat in ("0.0", "1.0")]


def test_a_store_without_a_model_has_no_evidence(tmp_path: Path) -> None:
    with closing(stored(tmp_path / "a.duckdb", (FULL, make_run(FULL, [], id="empty"), [False] * 24))) as con:
        found = seen(con)
    assert found.evidence.empty and found.tasks.empty and found.cutoffs.empty


def test_errors_of_a_provider_are_no_failures(tmp_path: Path) -> None:
    suite, run, passed = answered(FULL, [True, False] * 12)
    lost = dataclasses.replace(run.attempts[1], status=AttemptStatus.PROVIDER_ERROR, keys=None)
    run = dataclasses.replace(run, attempts=(run.attempts[0], lost, *run.attempts[2:]))
    path = tmp_path / "a.duckdb"
    with store.replacing(path) as writer:
        writer.add_suite(suite)
        writer.add_run(run)
        judge(
            writer,
            run,
            {
                (task.id, 1, 1): (PASS if ok else FAIL, Outcome.FINISHED)
                for number, (task, ok) in enumerate(zip(suite.tasks, passed, strict=True))
                if number != 1
            },
        )
    with closing(store.connect(path)) as con:
        assert len(seen(con).tasks) == 23


def test_the_name_of_a_task_in_the_store_is_what_its_twin_says(tmp_path: Path) -> None:
    odd = build_suite(
        "vimgolf", [Task("ä#1", "höhe 🤦🏼‍♂️\r\n", "x\ty\n"), Task("b", "", "ab")], (Protocol.GOLF,), origin=""
    )
    with closing(stored(tmp_path / "a.duckdb", answered(odd, [True, True]))) as con:
        keys = store.query(con, "answers_traced")["task_key"].to_list()
    assert set(keys) <= {twin_of(task) for task in odd.tasks} and len(keys) >= 1
    assert contamination.COLUMNS == COLUMNS
