"""What a harness calls tokens, in the one normal form of the store.

Providers disagree on whether cached tokens are part of the input, and the versions of a harness
on which of them to pass on as they came. What is known of a version is applied; what is not is told
by the total, since only one of the two sums gives it. Nothing is corrected silently: how an input
was read is kept beside it (`TokenConvention`), and a count that fits neither way stays as it is,
for the store's view `token_violations` to show.

What is known of inspect_ai (its changelog and source): before 0.3.184 `input_tokens` includes cached
tokens for some providers, since then it leaves them out for all; before 0.3.88 the reasoning tokens
of Anthropic's models were added to `total_tokens` a second time; before 0.3.245 the output of
Google's models lacked their thinking tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from vimlib.records import TokenConvention, TokenUsage

Version = tuple[int, ...]


def version_of(text: str | None) -> Version | None:
    """The numbers of a version such as `0.3.184` or `0.3.184.dev3+gabc`; None: not known."""
    found = re.match(r"\d+(?:\.\d+)*", text or "")
    return tuple(int(part) for part in found[0].split(".")) if found else None


@dataclass(frozen=True, slots=True)
class Reported:
    """Tokens of one model in one attempt, in the source's own sense. None: not reported."""

    model: str
    """With the provider before a slash, as Inspect names models."""
    input_tokens: int
    output_tokens: int
    total_tokens: int
    """0: not reported."""
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


def of_inspect(reports: Iterable[Reported], version: Version | None) -> TokenUsage:
    """The sum over the models of an attempt, as the given version of inspect_ai meant the counts.

    A report without any token was not counted, and is as if it were not there; without any other
    the result is all None. What Inspect calls cost is mostly its own reckoning from a price list, so
    nothing is taken as billed.
    """
    counted = [_of_inspect(one, version) for one in reports if _counted(one)]
    if not counted:
        return TokenUsage()
    conventions = {one.token_convention for one in counted} - {TokenConvention.NO_CACHE}
    return TokenUsage(
        input_tokens=_sum(one.input_tokens for one in counted),
        cache_read_tokens=_sum(one.cache_read_tokens for one in counted),
        cache_write_tokens=_sum(one.cache_write_tokens for one in counted),
        output_tokens=_sum(one.output_tokens for one in counted),
        reasoning_tokens=_sum(one.reasoning_tokens for one in counted),
        total_tokens=_sum(one.total_tokens for one in counted),
        token_convention=TokenConvention.MIXED
        if len(conventions) > 1
        else (conventions or {TokenConvention.NO_CACHE}).pop(),
    )


def _counted(one: Reported) -> bool:
    return bool(one.total_tokens or one.input_tokens or one.output_tokens)


def _of_inspect(one: Reported, version: Version | None) -> TokenUsage:
    cached = (one.cache_read_tokens or 0) + (one.cache_write_tokens or 0)
    reasoning = one.reasoning_tokens or 0
    output, total = one.output_tokens, one.total_tokens
    provider = one.model.partition("/")[0]
    sums = (one.input_tokens + output, one.input_tokens + output + cached)
    if provider == "google" and _before(version, (0, 3, 245)) and reasoning:
        output += reasoning
        total += reasoning if total in sums else 0
    if provider == "anthropic" and _before(version, (0, 3, 88)) and total - reasoning in sums:
        total -= reasoning
    as_it_stands, with_cached = one.input_tokens + output, one.input_tokens + output + cached
    if not cached:
        convention = TokenConvention.NO_CACHE
    elif total == with_cached:
        known = version is not None and version >= (0, 3, 184)
        convention = TokenConvention.EXCLUSIVE if known else TokenConvention.INFERRED_EXCLUSIVE
    elif total == as_it_stands and one.input_tokens >= cached:
        convention = TokenConvention.INFERRED_INCLUSIVE
    elif version is not None and version >= (0, 3, 184):
        convention = TokenConvention.EXCLUSIVE
    else:
        convention = TokenConvention.ASSUMED
    included = convention is TokenConvention.INFERRED_INCLUSIVE
    all_input = one.input_tokens if included else one.input_tokens + cached
    return TokenUsage(
        input_tokens=all_input,
        cache_read_tokens=one.cache_read_tokens,
        cache_write_tokens=one.cache_write_tokens,
        output_tokens=output,
        reasoning_tokens=one.reasoning_tokens,
        total_tokens=total or all_input + output,
        token_convention=convention,
    )


def _before(version: Version | None, change: Version) -> bool:
    return version is not None and version < change


def _sum(values: Iterable[int | None]) -> int | None:
    reported = [value for value in values if value is not None]
    return sum(reported) if reported else None
