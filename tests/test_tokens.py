"""Tokens: what each version of a harness meant, in one normal form, with how it is known beside it."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from storing import make_attempt, make_run, make_suite
from test_runs import GOLF, edited, make_log

from vimlib import runs, store
from vimlib.records import TokenConvention, TokenUsage
from vimlib.runs.tokens import Reported, of_inspect, version_of
from vimlib.store import connect, replacing

OLD, NEW = (0, 3, 183), (0, 3, 184)


def reported(model: str, *counts: int, read: int | None = None, write: int | None = None) -> Reported:
    """Input, output, total; and reasoning, if there is a fourth."""
    return Reported(model, *counts[:3], read, write, counts[3] if len(counts) > 3 else None)  # type: ignore[misc]


@pytest.mark.parametrize("version", [None, OLD, NEW])
def test_the_three_records_that_must_come_out_right(version: tuple[int, ...] | None) -> None:
    large = of_inspect([reported("openai/gpt", 17_903, 0, 17_903, read=17_817)], version)
    assert (large.input_tokens, large.cache_read_tokens) == (17_903, 17_817)
    assert large.input_tokens - large.cache_read_tokens == 86
    small = of_inspect([reported("openai/gpt", 10, 20, 30, read=5)], version)
    assert (small.input_tokens, small.output_tokens, small.total_tokens) == (10, 20, 30)
    assert small.token_convention is TokenConvention.INFERRED_INCLUSIVE
    claude = of_inspect([reported("anthropic/claude", 3, 12, 13_256, read=13_216, write=25)], version)
    assert (claude.input_tokens, claude.total_tokens) == (13_244, 13_256)
    known = version is not None and version >= NEW
    assert claude.token_convention is (
        TokenConvention.EXCLUSIVE if known else TokenConvention.INFERRED_EXCLUSIVE
    )


@pytest.mark.parametrize(
    ("version", "convention"),
    [(None, TokenConvention.ASSUMED), (OLD, TokenConvention.ASSUMED), (NEW, TokenConvention.EXCLUSIVE)],
)
def test_where_no_sum_gives_the_total_the_version_says_or_it_is_assumed(
    version: tuple[int, ...] | None, convention: TokenConvention
) -> None:
    usage = of_inspect([reported("openai/gpt", 10, 20, 99, read=5)], version)
    assert usage == TokenUsage(
        input_tokens=15, cache_read_tokens=5, output_tokens=20, total_tokens=99, token_convention=convention
    )


def test_anthropics_reasoning_was_added_to_the_total_again_before_0_3_88() -> None:
    counted_twice = reported("anthropic/claude", 100, 50, 190, 40)
    assert of_inspect([counted_twice], (0, 3, 87)).total_tokens == 150
    assert of_inspect([counted_twice], (0, 3, 88)).total_tokens == 190
    right = dataclasses.replace(counted_twice, total_tokens=150)
    assert of_inspect([right], (0, 3, 87)).total_tokens == 150
    other = dataclasses.replace(counted_twice, model="openai/o3")
    assert of_inspect([other], (0, 3, 87)).total_tokens == 190


@pytest.mark.parametrize("total", [150, 190], ids=["total without thinking", "total with it"])
def test_googles_output_lacked_thinking_before_0_3_245(total: int) -> None:
    lacking = reported("google/gemini", 100, 50, total, 40)
    usage = of_inspect([lacking], (0, 3, 244))
    assert (usage.output_tokens, usage.reasoning_tokens, usage.total_tokens) == (90, 40, 190)
    whole = reported("google/gemini", 100, 90, 190, 40)
    assert of_inspect([whole], (0, 3, 245)).output_tokens == 90


def test_the_models_of_an_attempt_add_up_and_none_stays_none() -> None:
    one = reported("a", 4, 2, 6)
    other = reported("b", 1, 3, 12, read=8)
    nothing = reported("c", 0, 0, 0)
    assert of_inspect([one, other, nothing], OLD) == TokenUsage(
        input_tokens=13,
        cache_read_tokens=8,
        output_tokens=5,
        total_tokens=18,
        token_convention=TokenConvention.INFERRED_EXCLUSIVE,
    )
    mixed = of_inspect([other, reported("d", 10, 20, 30, read=5)], OLD)
    assert mixed.token_convention is TokenConvention.MIXED
    assert of_inspect([nothing], OLD) == of_inspect([], None) == TokenUsage()
    assert of_inspect([one], None).token_convention is TokenConvention.NO_CACHE
    assert of_inspect([reported("a", 4, 2, 0)], None).total_tokens == 6


def test_versions_are_compared_by_number() -> None:
    assert version_of("0.3.88") == (0, 3, 88)
    assert version_of("0.3.184.dev3+gabc") == NEW
    assert version_of("0.3.9") < version_of("0.3.88")  # type: ignore[operator]
    assert version_of("unknown") is version_of(None) is None


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_log(tmp_path_factory.mktemp("logs"))


def test_a_log_is_read_as_its_own_version_meant_it(log: Path, tmp_path: Path) -> None:
    from inspect_ai.model import ModelUsage

    def as_in(version: str, usage: ModelUsage, model: str) -> Any:
        def change(contents: Any) -> None:
            contents.eval.packages["inspect_ai"] = version
            for sample in contents.samples:
                if sample.model_usage:
                    sample.model_usage = {model: usage}

        return change

    inclusive = ModelUsage(
        input_tokens=10, output_tokens=20, total_tokens=30, input_tokens_cache_read=5, total_cost=9.0
    )
    old = edited(log, tmp_path / "old.eval", as_in("0.3.100", inclusive, "openai/gpt-4o"))
    [run] = runs.read_runs(old, [GOLF]).runs
    assert run.attempts[0].usage == TokenUsage(
        input_tokens=10,
        cache_read_tokens=5,
        output_tokens=20,
        total_tokens=30,
        token_convention=TokenConvention.INFERRED_INCLUSIVE,
    )
    assert run.sources[0].harness_version == "0.3.100"
    twice = ModelUsage(input_tokens=100, output_tokens=50, total_tokens=190, reasoning_tokens=40)
    older = edited(log, tmp_path / "older.eval", as_in("0.3.87", twice, "anthropic/claude"))
    assert runs.read_runs(older, [GOLF]).runs[0].attempts[0].usage.total_tokens == 150


def test_reasoning_tokens_come_from_samples_where_a_recovered_header_lost_them(
    log: Path, tmp_path: Path
) -> None:
    def lose(contents: Any) -> None:
        contents.eval.packages["inspect_ai"] = "0.3.259"
        for usage in contents.stats.model_usage.values():
            usage.reasoning_tokens = None

    [run] = runs.read_runs(edited(log, tmp_path / "recovered.eval", lose), [GOLF]).runs
    assert [one.usage.reasoning_tokens for one in run.attempts] == [5, 5, None, None, 5, 5]


def test_counts_that_contradict_each_other_are_listed(tmp_path: Path) -> None:
    suite = make_suite(tasks=6)
    wrong = {
        "t1": TokenUsage(input_tokens=5, cache_read_tokens=4, cache_write_tokens=2, output_tokens=1),
        "t2": TokenUsage(output_tokens=3, reasoning_tokens=4),
        "t3": TokenUsage(input_tokens=5, output_tokens=1, total_tokens=7),
        "t4": TokenUsage(input_tokens=1, cache_read_tokens=2, output_tokens=1, total_tokens=9),
        "t5": TokenUsage(input_tokens=5, cache_read_tokens=5, output_tokens=1, total_tokens=6),
        "t6": TokenUsage(total_tokens=7),
    }
    with replacing(tmp_path / "s.duckdb") as writer:
        writer.add_suite(suite)
        writer.add_run(make_run(suite, [make_attempt(id, usage=usage) for id, usage in wrong.items()]))
    with connect(tmp_path / "s.duckdb") as con:
        found = store.query(con, "token_violations")
    assert found[["task_id", "violation"]].to_numpy().tolist() == [
        ["t1", "input < cache read + cache write"],
        ["t2", "output < reasoning"],
        ["t3", "total <> input + output"],
        ["t4", "input < cache read + cache write"],
        ["t4", "total <> input + output"],
    ]
