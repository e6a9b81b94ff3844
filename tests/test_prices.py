"""What an attempt costs: against sums done by hand, for each way in which providers report usage.

Prices of the packaged list are those of days that have passed, so that a newer list changes none.
The sums stand beside each case, in US dollars a million tokens.
"""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import genai_prices
import pytest

from vimlib.prices import (
    BadPriceDate,
    BadPrices,
    Terms,
    _rates,
    cost_of,
    list_version,
    model_name,
    price_day,
    read_prices,
    terms_of,
    usage_gap,
)
from vimlib.records import Cost, CostGap, CostKind, TokenConvention, TokenUsage
from vimlib.runs.tokens import Reported, of_inspect

DAY = datetime.date(2026, 11, 1)


def usage(**counts: Any) -> TokenUsage:
    """Usage in the normal form, its total being input and output."""
    return TokenUsage(**{"total_tokens": counts["input_tokens"] + counts["output_tokens"], **counts})


def price_file(folder: Path, text: str, name: str = "prices.yml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


OPENAI = usage(
    input_tokens=10_000,
    cache_read_tokens=4_000,
    output_tokens=1_000,
    reasoning_tokens=600,
)
ANTHROPIC = usage(
    input_tokens=10_000,
    cache_read_tokens=7_000,
    cache_write_tokens=2_000,
    output_tokens=500,
)
GOOGLE = usage(
    input_tokens=8_000,
    cache_read_tokens=3_000,
    output_tokens=1_000,
    reasoning_tokens=600,
)

# --- the providers' shapes, down to the amount

SHAPES = {
    # 6,000 at 2.50, 4,000 cached at 1.25, 1,000 out at 10: 0.015 + 0.005 + 0.010
    "openai": (
        "openai/gpt-4o",
        {
            "model": "gpt-4o",
            "usage": {
                "prompt_tokens": 10_000,
                "prompt_tokens_details": {"cached_tokens": 4_000},
                "completion_tokens": 1_000,
                "completion_tokens_details": {"reasoning_tokens": 600},
            },
        },
        "chat",
        Reported(
            model="openai/gpt-4o",
            input_tokens=6_000,
            cache_read_tokens=4_000,
            output_tokens=1_000,
            reasoning_tokens=600,
            total_tokens=11_000,
        ),
        OPENAI,
        0.030,
    ),
    # 1,000 at 5, 2,000 written for five minutes at 6.25, 7,000 read at 0.50, 500 out at 25:
    # 0.005 + 0.0125 + 0.0035 + 0.0125
    "anthropic": (
        "anthropic/claude-opus-4-5",
        {
            "model": "claude-opus-4-5",
            "usage": {
                "input_tokens": 1_000,
                "cache_creation_input_tokens": 2_000,
                "cache_read_input_tokens": 7_000,
                "output_tokens": 500,
            },
        },
        "default",
        Reported(
            model="anthropic/claude-opus-4-5",
            input_tokens=1_000,
            cache_write_tokens=2_000,
            cache_read_tokens=7_000,
            output_tokens=500,
            total_tokens=10_500,
        ),
        ANTHROPIC,
        0.0335,
    ),
    # 5,000 at 1.25, 3,000 cached at 0.125, 400 visible and 600 thought at 10: 0.00625 + 0.000375 + 0.010
    "google": (
        "google/gemini-2.5-pro",
        {
            "modelVersion": "gemini-2.5-pro",
            "usageMetadata": {
                "promptTokenCount": 8_000,
                "cachedContentTokenCount": 3_000,
                "candidatesTokenCount": 400,
                "thoughtsTokenCount": 600,
                "totalTokenCount": 9_000,
            },
        },
        "default",
        Reported(
            model="google/gemini-2.5-pro",
            input_tokens=5_000,
            cache_read_tokens=3_000,
            output_tokens=1_000,
            reasoning_tokens=600,
            total_tokens=9_000,
        ),
        GOOGLE,
        0.016625,
    ),
}


@pytest.mark.parametrize("provider", SHAPES)
def test_each_providers_usage_comes_to_the_sum_done_by_hand(provider: str) -> None:
    name, response, flavour, inspect_usage, normal, dollars = SHAPES[provider]
    read = of_inspect([inspect_usage], (0, 3, 285))
    for count in ("input_tokens", "cache_read_tokens", "output_tokens", "total_tokens"):
        assert getattr(read, count) == getattr(normal, count), count
    cost = cost_of(name, normal, day=DAY, terms=Terms(cache_hours=0))
    assert cost.kind is CostKind.ESTIMATED
    assert cost.usd == pytest.approx(dollars, abs=1e-12)
    # The list's own reader of the provider's response, which counts in its own way, agrees.
    theirs = genai_prices.extract_usage(response, provider_id=provider, api_flavor=flavour)
    noon = datetime.datetime(2026, 11, 1, 12, tzinfo=datetime.UTC)
    assert float(theirs.calc_price(genai_request_timestamp=noon).total_price) == pytest.approx(cost.usd)


def test_our_reckoning_is_the_lists_own_for_every_model_that_it_prices() -> None:
    """Each model with prices for text, above and below its steps, every token of another kind."""
    from genai_prices.data_snapshot import get_snapshot

    compared = 0
    moment = datetime.datetime(2026, 11, 1, 12, tzinfo=datetime.UTC)
    for provider in get_snapshot().providers:
        for model in provider.models:
            price = model.get_prices(moment)
            if price.input_mtok is None or price.output_mtok is None:
                continue
            for size in (1_000, 250_000, 1_500_000):
                asked = usage(
                    input_tokens=size,
                    cache_read_tokens=size // 3,
                    cache_write_tokens=size // 5,
                    output_tokens=size // 7,
                    reasoning_tokens=size // 11,
                )
                theirs = price.calc_price(
                    genai_prices.Usage(
                        input_tokens=size,
                        cache_read_tokens=size // 3,
                        cache_write_tokens=size // 5,
                        output_tokens=size // 7,
                        output_reasoning_tokens=size // 11,
                    )
                )
                ours = _rates(price).amount(asked, 0, size // 11, True)
                assert ours == pytest.approx(theirs["total_price"]), (provider.id, model.id, size)
                compared += 1
    assert compared > 1_000


def test_an_estimate_says_which_list_entry_and_day_it_rests_on() -> None:
    cost = cost_of("openai/gpt-4o-2024-08-06", OPENAI, day=DAY)
    assert (cost.source, cost.version, cost.model, cost.price_date) == (
        "genai-prices",
        list_version(),
        "openai/gpt-4o",
        DAY,
    )


def test_cached_tokens_are_not_paid_twice() -> None:
    cached = cost_of("openai/gpt-4o", OPENAI, day=DAY).usd
    fresh = cost_of("openai/gpt-4o", usage(input_tokens=10_000, output_tokens=1_000), day=DAY).usd
    assert fresh == pytest.approx(0.035)
    assert cached is not None and fresh is not None and fresh - cached == pytest.approx(4_000 * 1.25e-6)


@pytest.mark.parametrize(
    "name",
    ["hf/HuggingFaceTB/SmolLM2-135M-Instruct", "vllm/gpt-4o", "ollama/llama3.2", "openai-api/local/gpt-4o"],
)
def test_a_local_model_has_no_price_and_certainly_not_zero(name: str) -> None:
    cost = cost_of(name, OPENAI, day=DAY)
    assert cost == Cost(CostKind.UNAVAILABLE, gap=CostGap.LOCAL_MODEL)


def test_without_usage_there_is_no_cost() -> None:
    assert cost_of("openai/gpt-4o", TokenUsage(), day=DAY).gap is CostGap.NO_USAGE
    assert cost_of("openai/gpt-4o", TokenUsage(input_tokens=5), day=DAY).gap is CostGap.NO_USAGE


def test_what_was_billed_is_what_it_cost() -> None:
    billed = TokenUsage(billed_usd=0.125)
    assert cost_of("nobody/knows", billed, day=None) == Cost(
        CostKind.BILLED, 0.125, 0.125, 0.125, source="billed"
    )
    assert cost_of("nobody/knows", billed, day=DAY, billed=False).kind is CostKind.UNAVAILABLE
    assert cost_of("openai/gpt-4o", TokenUsage(billed_usd=-1.0), day=DAY).gap is CostGap.IMPLAUSIBLE_USAGE


# --- the day

MILLION = usage(input_tokens=1_000_000, output_tokens=100_000)
TENTH = usage(input_tokens=100_000, output_tokens=10_000)

STEP = """
prices:
  - {model: openai/gpt-5.6-sol, input: 5, output: 30, valid_from: 2026-07-01}
  - {model: openai/gpt-5.6-sol, input: 4, output: 20, valid_from: 2026-08-21}
"""


@pytest.mark.parametrize(("day", "dollars"), [(20, 8.0), (21, 6.0), (22, 6.0)])
def test_the_price_is_that_of_the_day(tmp_path: Path, day: int, dollars: float) -> None:
    """A million tokens in and 100,000 out: 5 + 3 dollars until 20 August 2026, 4 + 2 from the 21st."""
    when = datetime.date(2026, 8, day)
    own = read_prices(price_file(tmp_path, STEP))
    assert cost_of("openai/gpt-5.6-sol", MILLION, day=when, own=own, own_first=True).usd == dollars
    # The packaged list knows the same change; ten requests of a tenth stay below its step for long ones.
    listed = [cost_of("openai/gpt-5.6-sol", TENTH, day=when).usd for _ in range(10)]
    assert sum(amount for amount in listed if amount is not None) == pytest.approx(dollars)


def test_a_day_before_the_files_first_is_no_price_of_then(tmp_path: Path) -> None:
    own = read_prices(price_file(tmp_path, STEP))
    early = cost_of("openai/gpt-5.6-sol", MILLION, day=datetime.date(2026, 6, 30), own=own, own_first=True)
    assert early.gap is CostGap.NO_PRICE_THEN
    undated = cost_of("openai/gpt-5.6-sol", MILLION, day=None, own=own, own_first=True)
    assert undated.gap is CostGap.NO_DATE


def test_an_undated_run_costs_between_the_prices_that_ever_held() -> None:
    cost = cost_of("openai/gpt-5.6-sol", TENTH, day=None)
    assert cost.usd is None
    assert (cost.low_usd, cost.high_usd) == (pytest.approx(0.60), pytest.approx(0.80))
    assert cost_of("openai/gpt-4o", OPENAI, day=None).usd == pytest.approx(0.030)


def test_a_price_that_depends_on_the_hour_gives_a_range() -> None:
    """deepseek-chat: 0.135 and 0.55 by night, 0.27 and 1.10 by day (UTC); nothing cached."""
    cost = cost_of("deepseek/deepseek-chat", MILLION, day=datetime.date(2025, 5, 1))
    assert cost.usd is None
    assert cost.low_usd == pytest.approx(0.135 + 0.055)
    assert cost.high_usd == pytest.approx(0.27 + 0.11)


# --- what depends on how it was asked


@pytest.mark.parametrize(
    ("hours", "low", "high"),
    [(0, 0.0335, 0.0335), (1, 0.0410, 0.0410), (None, 0.0335, 0.0410)],
)
def test_one_hour_cache_writes_cost_more_and_unknown_ones_are_a_range(
    hours: int | None, low: float, high: float
) -> None:
    """2,000 tokens written at 6.25, or for an hour at 10: 0.0125 or 0.020 of the sum."""
    cost = cost_of("anthropic/claude-opus-4-5", ANTHROPIC, day=DAY, terms=Terms(cache_hours=hours))
    assert (cost.low_usd, cost.high_usd) == (pytest.approx(low), pytest.approx(high))
    assert (cost.usd is None) == (low != high)


def test_batch_prices_are_used_where_the_source_tells() -> None:
    """Half of 5 and of 25, on a day on which the list has them; before, between half and whole."""
    asked = usage(input_tokens=10_000, output_tokens=1_000)
    name = "anthropic/claude-opus-4-5"
    assert cost_of(name, asked, day=DAY).usd == pytest.approx(0.075)
    assert cost_of(name, asked, day=DAY, terms=Terms(batch=True)).usd == pytest.approx(0.0375)
    early = cost_of(name, asked, day=datetime.date(2026, 1, 1), terms=Terms(batch=True))
    assert (early.usd, early.low_usd, early.high_usd) == (None, pytest.approx(0.0375), pytest.approx(0.075))
    unknown = cost_of("deepseek/deepseek-reasoner", asked, day=DAY, terms=Terms(batch=True))
    assert unknown.gap is CostGap.UNKNOWN_TERMS


def test_service_tiers_are_used_where_the_source_tells() -> None:
    """gpt-4o, priority: 4.25 in, 2.125 cached, 17 out."""
    priority = cost_of("openai/gpt-4o", OPENAI, day=DAY, terms=Terms(service_tier="priority"))
    assert priority.usd == pytest.approx(0.0255 + 0.0085 + 0.017)
    left_open = cost_of("openai/gpt-4o", OPENAI, day=DAY, terms=Terms(service_tier="auto"))
    assert (left_open.low_usd, left_open.high_usd) == (pytest.approx(0.030), pytest.approx(0.051))
    unheard = cost_of("openai/gpt-4o", OPENAI, day=DAY, terms=Terms(service_tier="velvet"))
    assert unheard.gap is CostGap.UNKNOWN_TERMS


def test_long_requests_cost_their_tier_and_several_requests_a_range() -> None:
    """gemini-2.5-pro above 200,000 tokens of input: 2.50 and 15 instead of 1.25 and 10, for all of it."""
    long = usage(input_tokens=300_000, output_tokens=10_000)
    one = cost_of("google/gemini-2.5-pro", long, day=DAY)
    assert one.usd == pytest.approx(0.75 + 0.15)
    turns = cost_of("google/gemini-2.5-pro", long, day=DAY, terms=Terms(one_request=False))
    assert (turns.usd, turns.low_usd, turns.high_usd) == (None, pytest.approx(0.475), pytest.approx(0.9))
    short = usage(input_tokens=200_000, output_tokens=10_000)
    assert cost_of("google/gemini-2.5-pro", short, day=DAY, terms=Terms(one_request=False)).usd is not None


def test_terms_are_read_from_the_settings_that_a_run_records() -> None:
    assert terms_of({}, one_request=True) == Terms()
    assert terms_of({"batch": 100}, one_request=True).batch
    assert not terms_of({"batch": False}, one_request=True).batch
    assert terms_of({"model_args": {"service_tier": "flex", "cache_ttl": "1h"}}, one_request=False) == Terms(
        service_tier="flex", cache_hours=1, one_request=False
    )
    assert terms_of({"model_args": {"service_tier": "default"}}, one_request=True) == Terms()


def test_a_companys_name_at_another_address_is_not_priced_as_the_company() -> None:
    for url in ("http://127.0.0.1:8000/v1", "http://localhost:80", "http://[::1]:1/", "http://10.1.2.3/v1"):
        at_home = Terms(base_url=url)
        assert cost_of("openai/gpt-4o", OPENAI, day=DAY, terms=at_home).gap is CostGap.LOCAL_MODEL, url
    for url in ("https://models.example.org/v1", "http://[broken", "unreadable", ""):
        elsewhere = Terms(base_url=url)
        assert cost_of("openai/gpt-4o", OPENAI, day=DAY, terms=elsewhere).gap is CostGap.UNKNOWN_MODEL, url
    itself = Terms(base_url="https://api.openai.com/v1")
    assert cost_of("openai/gpt-4o", OPENAI, day=DAY, terms=itself).usd == pytest.approx(0.030)


def test_where_it_is_only_assumed_that_cached_tokens_were_left_out_the_cost_is_a_range() -> None:
    doubtful = usage(
        input_tokens=10_000,
        cache_read_tokens=4_000,
        output_tokens=1_000,
        total_tokens=9_000,
        token_convention=TokenConvention.ASSUMED,
    )
    cost = cost_of("openai/gpt-4o", doubtful, day=DAY)
    assert (cost.low_usd, cost.high_usd) == (pytest.approx(0.020), pytest.approx(0.030))


# --- names


@pytest.mark.parametrize(
    ("name", "provider", "model"),
    [
        ("openai/gpt-4o", "openai", "gpt-4o"),
        ("openai/azure/gpt-4o", "azure", "gpt-4o"),
        ("anthropic/bedrock/anthropic.claude-opus-4-5", "aws", "anthropic.claude-opus-4-5"),
        ("grok/grok-4", "x-ai", "grok-4"),
        ("openrouter/deepseek/deepseek-chat", "openrouter", "deepseek/deepseek-chat"),
        ("openai-api/deepseek/deepseek-chat", "deepseek", "deepseek-chat"),
        ("openai-api/my-server/some-model", None, "some-model"),
        ("gpt-5.6-sol", "openai", "gpt-5.6-sol"),
        ("o3", "openai", "o3"),
        ("claude-opus-4-5", "anthropic", "claude-opus-4-5"),
        ("gpt-oss-20b", None, "gpt-oss-20b"),
        ("deepseek-chat", None, "deepseek-chat"),
        ("my-claude-clone", None, "my-claude-clone"),
    ],
)
def test_a_name_means_a_provider_only_where_it_can_mean_no_other(
    name: str, provider: str | None, model: str
) -> None:
    found = model_name(name)
    assert (found.provider, found.model, found.local) == (provider, model, False)


@pytest.mark.parametrize(
    "name", ["openai/gpt-99-imaginary", "gpt-oss-20b", "someone/model", "", "/", "a/b/c/d"]
)
def test_a_model_that_no_list_knows_is_unavailable(name: str) -> None:
    assert cost_of(name, OPENAI, day=DAY).gap is CostGap.UNKNOWN_MODEL


# --- counts that cannot be


@pytest.mark.parametrize(
    "counts",
    [
        {"input_tokens": -1, "output_tokens": 5},
        {"input_tokens": 10**15, "output_tokens": 5},
        {"input_tokens": 10, "output_tokens": 5, "cache_read_tokens": 11},
        {"input_tokens": 10, "output_tokens": 5, "cache_read_tokens": 6, "cache_write_tokens": 5},
        {"input_tokens": 10, "output_tokens": 5, "reasoning_tokens": 6},
        {"input_tokens": 10, "output_tokens": 5, "total_tokens": 14},
        {
            "input_tokens": 10,
            "output_tokens": 5,
            "token_convention": TokenConvention.ASSUMED,
            "cache_read_tokens": 11,
        },
    ],
)
def test_counts_that_cannot_be_are_not_priced(tmp_path: Path, counts: dict[str, int]) -> None:
    impossible = usage(**counts)
    assert usage_gap(impossible) is CostGap.IMPLAUSIBLE_USAGE
    assert cost_of("openai/gpt-4o", impossible, day=DAY).gap is CostGap.IMPLAUSIBLE_USAGE
    own = read_prices(price_file(tmp_path, "prices: [{model: '*', input: 1, output: 1}]"))
    assert cost_of("mine", impossible, day=DAY, own=own).gap is CostGap.IMPLAUSIBLE_USAGE


# --- the user's own prices


def test_own_prices_stand_in_where_no_list_knows_the_model(tmp_path: Path) -> None:
    """3,000 at 2, 5,000 read at 0.50, 2,000 written at 4, 1,000 out at 8: 0.006 + 0.0025 + 0.008 + 0.008."""
    text = "prices: [{model: 'mine*', input: 2, cache_read: 0.5, cache_write: 4, output: 8}]"
    own = read_prices(price_file(tmp_path, text))
    asked = usage(input_tokens=10_000, cache_read_tokens=5_000, cache_write_tokens=2_000, output_tokens=1_000)
    cost = cost_of("local/Mine-7B", asked, day=DAY, own=own)
    assert cost.usd == pytest.approx(0.0245)
    assert (cost.source, cost.version, cost.model) == ("prices.yml", own.sha256[:12], "mine*")
    # What the list knows, the list prices, unless the file is to come first.
    both = read_prices(price_file(tmp_path, "prices: [{model: gpt-4o, input: 0, output: 0}]"))
    assert cost_of("openai/gpt-4o", OPENAI, day=DAY, own=both).usd == pytest.approx(0.030)
    assert cost_of("openai/gpt-4o", OPENAI, day=DAY, own=both, own_first=True).usd == 0


def test_a_price_by_the_hour_is_converted_with_the_measured_time(tmp_path: Path) -> None:
    own = read_prices(price_file(tmp_path, "prices: [{model: 'hf/*', hour: 1.20}]"))
    name = "hf/HuggingFaceTB/SmolLM2-135M-Instruct"
    assert cost_of(name, TokenUsage(), day=DAY, seconds=30.0, own=own).usd == pytest.approx(0.01)
    assert cost_of(name, OPENAI, day=DAY, own=own).gap is CostGap.NO_TIME
    assert cost_of(name, OPENAI, day=DAY, seconds=-1.0, own=own).gap is CostGap.NO_TIME


def test_the_pattern_that_spells_out_most_of_the_name_wins(tmp_path: Path) -> None:
    text = """
    currency: USD
    prices:
      - {model: "*", input: 9, output: 9}
      - {model: "mine-*", provider: here, input: 2, output: 2}
      - {model: "mine-*", provider: there, input: 3, output: 3}
    """
    own = read_prices(price_file(tmp_path, text))
    one = usage(input_tokens=1_000_000, output_tokens=0)
    assert [
        cost_of(name, one, day=DAY, own=own).usd for name in ("here/mine-1", "there/mine-1", "yours")
    ] == [2, 3, 9]


def test_json_is_as_good_as_yaml(tmp_path: Path) -> None:
    entry = {"model": "m", "input": 1, "output": 2, "valid_from": "2026-01-01", "valid_until": "2026-12-31"}
    file = price_file(tmp_path, json.dumps({"prices": [entry]}), "prices.json")
    own = read_prices(file)
    assert cost_of("m", MILLION, day=DAY, own=own).usd == pytest.approx(1.2)
    late = cost_of("m", MILLION, day=datetime.date(2027, 1, 1), own=own)
    assert late.gap is CostGap.NO_PRICE_THEN


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("prices: [", "is no YAML"),
        ("- model: a", "has no list `prices`"),
        ("prices: []", "is empty"),
        ("prices: [7]", "price 1: is 7"),
        ("prices: [{model: a, input: 1, output: 1}]\nvat: 19", "has 'vat'"),
        ("currency: EUR\nprices: [{model: a, input: 1, output: 1}]", "'EUR'; expected USD"),
        ("prices: [{model: a, input: 1, output: 1, currency: GBP}]", "'GBP'; expected USD"),
        ("prices: [{model: a, input: 1, ouput: 1}]", "did you mean 'output'?"),
        ("prices: [{input: 1, output: 1}]", "model is None"),
        ("prices: [{model: a, provider: 3, input: 1, output: 1}]", "provider is 3"),
        ("prices: [{model: a, input: 1}]", "has no 'output'"),
        ("prices: [{model: a, input: -1, output: 1}]", "input is -1"),
        ("prices: [{model: a, input: .nan, output: 1}]", "input is nan"),
        ("prices: [{model: a, input: true, output: 1}]", "input is True"),
        ("prices: [{model: a, input: '1', output: 1}]", "input is '1'"),
        (
            "prices: [{model: a, input: 1, output: 1, unit: thousand_tokens}]",
            "unknown unit 'thousand_tokens'",
        ),
        ("prices: [{model: a, input: 1, output: 1, unit: [x]}]", "unknown unit ['x']"),
        ("prices: [{model: a, hour: 1, input: 1}]", "has 'input', which is no price per machine_hour"),
        ("prices: [{model: a, unit: machine_hour}]", "has no 'hour'"),
        ("prices: [{model: a, input: 1, output: 1, valid_from: soon}]", "valid_from is 'soon'"),
        (
            "prices: [{model: a, input: 1, output: 1, valid_from: 2026-02-01, valid_until: 2026-01-01}]",
            "expected the reverse",
        ),
        (
            "prices: [{model: a, input: 1, output: 1}, {model: A, input: 2, output: 2}]",
            "prices 1 and 2 of 'a' are both valid on every day",
        ),
        (
            "prices: [{model: a, input: 1, output: 1, valid_from: 2026-05-01},"
            " {model: a, input: 1, output: 1, valid_from: 2026-01-01, valid_until: 2026-05-01}]",
            "are both valid on 2026-05-01",
        ),
    ],
)
def test_a_price_file_that_is_wrong_says_where_and_what(tmp_path: Path, text: str, said: str) -> None:
    file = price_file(tmp_path, text)
    with pytest.raises(BadPrices) as caught:
        read_prices(file)
    assert said in str(caught.value)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_price_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadPrices, match="cannot be read"):
        read_prices(tmp_path / "nothing.yml")
    file = tmp_path / "binary.yml"
    file.write_bytes(b"\xff\xfe\x00prices")
    with pytest.raises(BadPrices, match="is no YAML"):
        read_prices(file)


def test_days_are_said_as_dates() -> None:
    assert price_day("") is None
    assert price_day("2026-08-21") == datetime.date(2026, 8, 21)
    assert price_day("today") is not None
    with pytest.raises(BadPriceDate, match="expected today, or a date"):
        price_day("yesterday")
