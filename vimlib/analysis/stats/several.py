"""Many tests at once: what is left of a p value when twenty were looked at."""

from __future__ import annotations

from collections.abc import Sequence


def _corrected(p_values: Sequence[float | None], method: str) -> list[float | None]:
    known = [(place, p) for place, p in enumerate(p_values) if p is not None]
    for _, p in known:
        if not 0 <= p <= 1:
            raise ValueError(f"p = {p} is not between 0 and 1")
    found: list[float | None] = [None] * len(p_values)
    if len(known) == 1:
        found[known[0][0]] = float(known[0][1])
    elif known:
        # Imported where needed: it takes longer to load than everything else here together.
        from statsmodels.stats.multitest import multipletests

        corrected = multipletests([p for _, p in known], method=method)[1]
        for (place, _), p in zip(known, corrected, strict=True):
            found[place] = float(p)
    return found


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """p values corrected for their number, so that any false finding among them is as rare as alpha.

    The i-th smallest of m becomes the largest of (m - j + 1) · p(j) for j up to i, at most 1. A `None`
    (a test that could not be made) stays `None` and does not count. The order is kept.
    Source: S. Holm, Scandinavian Journal of Statistics 6 (1979) 65-70. Raises `ValueError` for no p.
    """
    return _corrected(p_values, "holm")


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """p values corrected so that of the findings at most the share alpha is expected to be false.

    The i-th smallest of m becomes the smallest of m · p(j) / j for j from i, at most 1. A `None`
    stays `None` and does not count. The order is kept.
    Source: Y. Benjamini and Y. Hochberg, Journal of the Royal Statistical Society B 57 (1995)
    289-300. Raises `ValueError` for no p.
    """
    return _corrected(p_values, "fdr_bh")
