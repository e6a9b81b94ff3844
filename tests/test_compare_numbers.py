"""Every number that the page of a comparison shows, walked and recomputed from the stored attempts.

The page's parts are read as a reader sees them. What stands in a cell, a tile, a sentence or a
picture must be the numbers that plain pandas finds, no fewer and no more: a number that nobody
recomputes here fails the test.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
import storing
from scipy.stats import binomtest, norm, t
from test_compare import verdict

from vimlib import store
from vimlib.analysis.compare import METRICS, Comparison, compare
from vimlib.figures import compare as show
from vimlib.prices import costs_of
from vimlib.records import AttemptStatus, Outcome, TokenUsage

Expected = list[tuple[float, float]]
"""Numbers in the order read, each with what it may be off by besides its rounding."""

NOTEBOOK = Path(__file__).parents[1] / "notebooks" / "07_compare.ipynb"
SEED = 7
PLAYED = {"flip_players", "flip_commands"}
"""Parts that show no number of the comparison: players, and commands to have them elsewhere."""


class Seen(HTMLParser):
    """What a reader sees of a piece of HTML: rows of cells, and the other texts by element."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.heads: list[str] = []
        self.texts: list[str] = []
        self.drawn: list[str] = []
        self.alts: list[str] = []
        self._into: list[str] | None = None
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        given = dict(attrs)
        if tag == "tr":
            self.rows.append([])
        elif tag in {"th", "td"}:
            self._into = self.heads if given.get("scope") == "col" else self.rows[-1]
            self._into.append("")
        elif tag == "text":
            self._into = self.drawn
            self.drawn.append("")
        elif tag in {"li", "dt", "dd", "p", "caption"}:
            self._into = self.texts
            self.texts.append("")
        if "aria-label" in given:
            self.alts.append(given["aria-label"])

    def handle_data(self, data: str) -> None:
        if self._into:
            self._into[-1] += data

    def handle_endtag(self, tag: str) -> None:
        if tag in {"th", "td", "text", "li", "dt", "dd", "p", "caption"}:
            self._into = None

    @property
    def body(self) -> list[list[str]]:
        """The rows with a cell a column: no head and no headings of groups."""
        return [row for row in self.rows if len(row) == len(self.heads)]


def numbers(text: str) -> list[tuple[float, float]]:
    """The numbers of a text, each with half a unit of its last digit."""
    found = re.findall(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?", text)
    return [(float(one.replace(",", "")), 0.5000001 * 10.0 ** -len(one.partition(".")[2])) for one in found]


def check(text: str, expected: Expected) -> None:
    """Hold the numbers of a text against what they should be."""
    shown = numbers(text)
    assert len(shown) == len(expected), f"{text!r}: expected the numbers {expected}"
    for (number, half), (value, off) in zip(shown, expected, strict=True):
        assert abs(number - value) <= half + off, f"{text!r}: {number} should be {value}"


# --- the runs, and their samples as the tables have them


def fill_both(path: Path) -> None:
    """Store two runs that have everything in them that a comparison must cope with."""
    rng = np.random.default_rng(3)
    suite = storing.make_suite(tasks=40, tiers=(1, 2, None))
    kinds = ("motion", "sort", "macro", None)
    tasks = tuple(replace(task, category=kinds[place % 4]) for place, task in enumerate(suite.tasks))
    suite = replace(suite, tasks=tasks)
    ease = rng.beta(1, 1, len(suite.tasks))
    with store.replacing(path) as writer:
        writer.add_suite(suite)
        for run_id, epochs, shift, first in (("base", 2, 0.0, 0), ("candidate", 3, 0.2, 3)):
            attempts, scores = [], {}
            for task, easy in list(zip(suite.tasks, ease, strict=True))[first : 38 + first]:
                for epoch in range(1, epochs + 1):
                    number = 1
                    usage = TokenUsage(
                        total_tokens=int(rng.integers(50, 500)),
                        output_tokens=20,
                        billed_usd=float(rng.uniform(0, 1)),
                    )
                    if rng.random() < 0.1:
                        attempts.append(
                            storing.make_attempt(
                                task.id, epoch, 1, status=AttemptStatus.PROVIDER_ERROR, keys=None, usage=usage
                            )
                        )
                        number = 2 if rng.random() < 0.5 else 0
                    if not number:
                        continue
                    unknown = rng.random() < 0.1
                    attempts.append(
                        storing.make_attempt(
                            task.id,
                            epoch,
                            number,
                            usage=TokenUsage() if unknown else usage,
                            seconds=None if unknown else float(rng.exponential(2)),
                        )
                    )
                    beats = None if rng.random() < 0.1 else bool(rng.random() < 0.5)
                    score = verdict(
                        bool(rng.random() < min(1, easy + shift)), float(rng.uniform(0, 1)), beats
                    )
                    unscored = rng.random() < 0.05
                    scores[task.id, epoch, number] = (
                        storing.UNSCORED if unscored else score,
                        Outcome.HARNESS_ERROR if unscored else Outcome.FINISHED,
                    )
            run = storing.make_run(suite, attempts, id=run_id, name=f"lab/{run_id}")
            writer.add_run(run)
            storing.judge(writer, run, scores)
            writer.add_costs(run, costs_of(run))


def raw_samples(con: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """The samples of both runs from the tables alone, one row a run, task and epoch."""
    attempts = con.sql("FROM attempts").df()
    scores = con.sql("FROM scores").df()
    tasks = con.sql("SELECT task_id, title, tier, category, place FROM tasks").df()
    key = ["run_id", "task_id", "epoch"]
    frame = attempts.merge(scores, on=[*key, "attempt"], how="left").merge(tasks, on="task_id")
    sums = frame.groupby(key)[["total_tokens", "output_tokens", "billed_usd"]].apply(
        lambda rows: rows.sum(skipna=False)
    )
    frame["finished"] = frame["status"] == "answered"
    last = frame.sort_values(["finished", "attempt"]).groupby(key).tail(1)
    return last.drop(columns=["total_tokens", "output_tokens", "billed_usd"]).merge(
        sums.reset_index(), on=key
    )


def by_hand(samples: pd.DataFrame, metric: str) -> pd.Series:
    """Value of a metric on each sample; NaN: it does not judge the sample."""
    passed = samples["passed"].astype("float64")
    beats = samples["beats_diff"].astype("float64")
    match metric:
        case "pass_rate":
            return passed
        case "pass_rate_with_errors":
            return passed.fillna(0.0)
        case "beats_diff_rate":
            return (passed * beats.fillna(0.0)).where((passed == 0) | beats.notna())
        case "efficiency":
            return samples["efficiency"].where(passed == 1).astype("float64")
        case "cost":
            return samples["billed_usd"].astype("float64")
        case _:
            return samples[metric].astype("float64")


def pairs_by_hand(samples: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Task means of base and candidate on the tasks of both, and numbers of samples."""
    known = samples.assign(value=by_hand(samples, metric)).dropna(subset="value")
    table = known.pivot_table(index="task_id", columns="run_id", values="value", aggfunc=["mean", "count"])
    return table.reindex(
        columns=pd.MultiIndex.from_product([["mean", "count"], ["base", "candidate"]])
    ).dropna()


def holm_by_hand(p_values: pd.Series) -> pd.Series:
    ordered = p_values.dropna().sort_values()
    return (ordered * np.arange(len(ordered), 0, -1)).cummax().clip(upper=1).reindex(p_values.index)


# --- the numbers anew


def p_by_hand(differences: np.ndarray) -> tuple[float, float]:
    """Exact sign-flip p of all ways to flip; drawn by another generator where there are too many."""
    moved = differences[np.abs(differences) > 1e-12]
    if not len(moved):
        return 1.0, 0.0
    if np.isin(moved, (-1.0, 1.0)).all():
        return float(binomtest(int((moved > 0).sum()), len(moved)).pvalue), 0.001
    if exact := 2 ** len(moved) <= 9999:
        signs = np.array(list(itertools.product((-1, 1), repeat=len(moved))))
    else:
        signs = np.random.default_rng(11).choice((-1, 1), size=(20_000, len(moved)))
    sums, seen = signs @ moved, moved.sum()
    least = min((sums <= seen + 1e-9).mean(), (sums >= seen - 1e-9).mean())
    return min(1.0, 2 * float(least)), 0.001 if exact else 0.025


def interval_by_hand(differences: np.ndarray, least: float | None) -> tuple[float, float]:
    """Expanded percentile interval (Hesterberg 2015) from the page's own seed."""
    pool, size = pd.Series(differences), len(differences)
    if least is not None:
        pool = pd.concat([pool.repeat(2), pd.Series([0.0, 0.0, least, -least])])
        size += 2
    drawn = np.random.default_rng(SEED).integers(len(pool), size=(4000, size))
    means = pd.DataFrame(pool.to_numpy()[drawn]).mean(axis="columns").sort_values().to_numpy()
    share = norm.cdf(-math.sqrt(size / (size - 1)) * t.ppf(0.975, size - 1))
    return means[math.floor(share * 3999)], means[math.ceil((1 - share) * 3999)]


def row_by_hand(samples: pd.DataFrame, name: str) -> dict[str, Any]:
    """One row of numbers in the units of the page."""
    metric = next(one for one in METRICS if one.name == name)
    place = samples.drop_duplicates("task_id").set_index("task_id")["place"]
    pairs = pairs_by_hand(samples, name)
    pairs = pairs.loc[place[pairs.index].sort_values().index]
    d = (pairs["mean", "candidate"] - pairs["mean", "base"]).to_numpy()
    counts = pairs["count"].to_numpy()
    least = float(1 / np.median(counts)) if metric.yes_or_no else None
    scale = 100 if metric.yes_or_no else 1
    low, high = interval_by_hand(d, least)
    squares = ((d - d.mean()) ** 2).sum() + (least or 0.0) ** 2
    return {
        "tasks": len(d),
        "base": scale * pairs["mean", "base"].mean(),
        "candidate": scale * pairs["mean", "candidate"].mean(),
        "difference": scale * d.mean(),
        "low": scale * low,
        "high": scale * high,
        "more": int((d > 1e-12).sum()),
        "fewer": int((d < -1e-12).sum()),
        "p": p_by_hand(d),
        "detectable": scale * 2.801585 * math.sqrt(squares / (len(d) - 1) / len(d)),
    }


def cells(row: dict[str, Any], holm: float, rows: int) -> list[Expected]:
    """The cells of a row of numbers, from the second on."""
    p, off = row["p"]
    return [
        [(row["tasks"], 0)],
        [(row["base"], 0)],
        [(row["candidate"], 0)],
        [(row["difference"], 0), (row["low"], 0), (row["high"], 0)],
        [(row["more"], 0), (row["fewer"], 0)],
        [(p, off)],
        [(holm, off * rows)],
    ]


HEADS = [
    "Tasks of both",
    "base base",
    "candidate candidate",
    "Difference with interval",
    "Up, down tasks",
    "p",
]


@pytest.fixture(scope="module")
def con(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    path = tmp_path_factory.mktemp("numbers") / "s.duckdb"
    fill_both(path)
    with store.connect(path) as con:
        yield con


@pytest.fixture(scope="module")
def samples(con: Any) -> pd.DataFrame:
    return raw_samples(con)


@pytest.fixture(scope="module")
def recomputed(samples: pd.DataFrame) -> dict[str, dict[str, dict[str, Any]]]:
    """All rows of the page: of the metrics, and of the pass rate by tier and category."""
    found = {"metric": {metric.name: row_by_hand(samples, metric.name) for metric in METRICS}}
    for part in ("tier", "category"):
        values = [*sorted(samples[part].dropna().unique()), None]
        found[part] = {
            "none" if value is None else f"tier {value:.0f}" if part == "tier" else value: row_by_hand(
                samples[samples[part].isna() if value is None else samples[part] == value], "pass_rate"
            )
            for value in values
        }
    return found


@pytest.fixture(scope="module")
def found(con: Any) -> Comparison:
    return compare(con, "base", "candidate", seed=SEED)


@pytest.fixture(scope="module")
def page(found: Comparison) -> dict[str, Seen]:
    """Every part of the page as it is read, by the function that the notebook calls for it."""
    source = "".join(
        "".join(cell["source"]) for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    )
    seen = {}
    for name, first in re.findall(r"show\.(\w+)\(found(?:, \"(\w+)\")?", source):
        if name not in PLAYED:
            given = [first] if first else []
            seen[f"{name} {first}".strip()] = Seen(getattr(show, name)(found, *given)._repr_html_())
    return seen


def holms(rows: dict[str, dict[str, Any]]) -> dict[str, float]:
    return dict(holm_by_hand(pd.Series({name: row["p"][0] for name, row in rows.items()})))


# --- the walk


def test_the_walk_knows_every_part_of_the_page(page: dict[str, Seen]) -> None:
    assert set(page) == {
        *("headline", "sides", "key_numbers", "metric_picture", "metric_table", "part_picture"),
        *("part_table tier", "part_table category", "flip_table", "unpaired_table", "condition_table"),
        "run_table",
    }


@pytest.mark.parametrize("kind", ["metric", "tier", "category"])
def test_tables_of_differences(page: dict[str, Seen], recomputed: Any, kind: str) -> None:
    seen = page["metric_table" if kind == "metric" else f"part_table {kind}"]
    rows, corrected = recomputed[kind], holms(recomputed[kind])
    assert seen.heads == [kind.capitalize(), *HEADS, "p, corrected Holm"]
    labels = {metric.name: metric.label for metric in METRICS} if kind == "metric" else {}
    assert [row[0] for row in seen.body] == [labels.get(name, name) for name in rows]
    for shown, (name, row) in zip(seen.body, rows.items(), strict=True):
        for text, expected in zip(shown[1:], cells(row, corrected[name], len(rows)), strict=True):
            check(text, expected)
    for text in seen.texts:
        check(text, [])


@pytest.mark.parametrize(
    ("part", "kinds"), [("metric_picture", ["metric"]), ("part_picture", ["tier", "category"])]
)
def test_pictures(page: dict[str, Seen], recomputed: Any, part: str, kinds: list[str]) -> None:
    seen = page[part]
    shares = {metric.name for metric in METRICS if metric.unit == "share"}
    expected: Expected = []
    for kind in kinds:
        for name, row in recomputed[kind].items():
            if kind != "metric" or name in shares:
                label = [(float(name[5:]), 0.0)] if name.startswith("tier ") else []
                expected += [*label, (row["difference"], 0), (row["tasks"], 0)]
    (alt,) = seen.alts
    check(alt, expected)
    known = {number for number, _ in numbers(alt)}
    ticks = {number for text in seen.drawn for number, _ in numbers(text)} - known
    assert ticks == {-number for number in ticks}, "what is drawn besides is the axis"
    for text in seen.texts:
        check(text.replace("95 % interval", ""), [])


def test_tiles_and_sentences(page: dict[str, Seen], recomputed: Any, samples: pd.DataFrame) -> None:
    row, rows = recomputed["metric"]["pass_rate"], recomputed["metric"]
    bad = samples[
        (samples["status"] == "provider_error")
        | ((samples["status"] == "answered") & samples["passed"].isna())
    ]
    errors = [int((bad["run_id"] == side).sum()) for side in ("base", "candidate")]
    moved, (p, off) = row["more"] + row["fewer"], row["p"]
    tiles = iter(page["key_numbers"].texts)
    for name, value, more in (
        (
            "Difference",
            [row["difference"]],
            [95, row["low"], row["high"], row["candidate"], row["base"]],
        ),
        ("Could it be chance?", [p], [moved, row["tasks"], row["more"], row["fewer"]]),
        ("What could have been seen", [row["detectable"]], [80]),
        ("Errors, not failures", [sum(errors)], errors),
    ):
        assert next(tiles) == name
        check(next(tiles), [(one, off if name.startswith("Could") else 0) for one in value])
        check(next(tiles), [(one, 0) for one in more])
    assert next(tiles, None) is None

    said = iter(page["headline"].texts)
    least = [] if p <= 0.05 else [(row["detectable"], 0)]
    values = [row["candidate"], row["base"], row["tasks"], abs(row["difference"]), moved]
    check(next(said), [*((value, 0) for value in values), (p, off), *least])
    check(next(said), [(row["more"], 0), (row["fewer"], 0)])
    sure = [
        (name, rows[name])
        for name in ("efficiency", "partial", "total_tokens", "cost", "seconds")
        if holms(rows)[name] <= 0.05
    ]
    if sure:
        check(next(said), [(one[side], 0) for _, one in sure for side in ("candidate", "base")])
    assert next(said, None) is None
    assert [numbers(text) for text in page["sides"].texts if numbers(text)] == [[(1.0, 0.5000001)]], (
        "the suite's version"
    )


def test_lists_of_tasks(page: dict[str, Seen], samples: pd.DataFrame) -> None:
    pairs = pairs_by_hand(samples, "pass_rate")
    d = pairs["mean", "candidate"] - pairs["mean", "base"]
    tasks = samples.drop_duplicates("task_id").set_index("task_id")
    flipped = page["flip_table"]
    assert {row[0].split()[0] for row in flipped.body} == set(d[d.abs() > 1e-12].index)
    check(flipped.texts[0], [(int((d.abs() > 1e-12).sum()), 0)])
    scored = samples[samples["passed"].notna()]
    for task, *sides in flipped.body:
        name = task.split()[0]
        tier = [] if pd.isna(tasks.loc[name, "tier"]) else [(tasks.loc[name, "tier"], 0)]
        check(task.removeprefix(name), tier)
        for text, side in zip(sides, ("base", "candidate"), strict=True):
            mine = scored[(scored["task_id"] == name) & (scored["run_id"] == side)]
            assert text.startswith("x:wq<CR> "), "the keys as they were stored"
            k_of_n = [(mine["passed"].sum(), 0), (len(mine), 0)] if len(mine) > 1 else []
            check(text.removeprefix("x:wq<CR> "), k_of_n)

    alone = page["unpaired_table"]
    check(alone.texts[0], [(samples["task_id"].nunique() - len(pairs), 0)])
    assert {row[0].split()[0] for row in alone.body} == set(samples["task_id"]) - set(pairs.index)
    for name, *sides in alone.body:
        for text, side in zip(sides, ("base", "candidate"), strict=True):
            mine = scored[(scored["task_id"] == name.split()[0]) & (scored["run_id"] == side)]
            check(text, [(mine["passed"].sum(), 0), (len(mine), 0)] if len(mine) else [])


def test_conditions_and_runs_are_as_stored(page: dict[str, Seen], con: Any) -> None:
    runs = con.sql("FROM runs JOIN suites USING (suite_hash)").df().astype(str)
    used = con.sql("SELECT DISTINCT protocol_fingerprint FROM scores").df().astype(str)
    vims = con.sql("FROM vims").df().astype(str)
    stored = " ".join(str(value) for frame in (runs, used, vims) for value in frame.to_numpy().ravel())
    for name in ("condition_table", "run_table"):
        for row in page[name].body:
            for text in row[1:]:
                for one in re.findall(r"[\d.:-]*\d[\d.:-]*", text):
                    assert one in stored, f"{text!r}: {one} is nowhere in the store"


# --- what stands in frames alone


def test_every_flip_and_every_unpaired_task(con: Any, found: Comparison) -> None:
    samples = raw_samples(con)
    pairs = pairs_by_hand(samples, "pass_rate")
    d = pairs["mean", "candidate"] - pairs["mean", "base"]
    assert set(found.flips["task_id"]) == set(d[d.abs() > 1e-12].index)
    for _, flip in found.flips.iterrows():
        mine = samples[(samples["task_id"] == flip["task_id"]) & samples["passed"].notna()]
        for side in ("base", "candidate"):
            of_side = mine[mine["run_id"] == side]
            assert flip[f"{side}_passed"] == of_side["passed"].sum()
            assert flip[f"{side}_scored"] == len(of_side)
        better = d[flip["task_id"]] > 0
        assert flip["change"].startswith(
            ("newly passing", "passes more") if better else ("newly failing", "passes less")
        )
        shown = mine[(mine["run_id"] == "candidate") & (mine["epoch"] == flip["candidate_epoch"])]
        assert bool(shown["passed"].iloc[0]) == better
    assert set(found.unpaired["task_id"]) == set(samples["task_id"]) - set(pairs.index)
    assert {"not attempted", "provider error"} & set(found.unpaired["base"])


def test_counts_of_a_side(con: Any, found: Comparison) -> None:
    samples = raw_samples(con)
    for side in (found.base, found.candidate):
        mine = samples[samples["run_id"] == side.runs[0]]
        assert side.counts["samples"] == len(mine)
        assert side.counts["scored"] == mine["passed"].notna().sum()
        assert side.counts["passed"] == mine["passed"].sum()
        assert side.counts["provider_error"] == (mine["status"] == "provider_error").sum()
        assert side.counts["unscored"] == ((mine["status"] == "answered") & mine["passed"].isna()).sum()
