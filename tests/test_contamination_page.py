"""The page on contamination: what it says, what it shows, and that it is honest where there is nothing."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import storing
from test_contamination import FULL, answered, stored, twins_of, vimgolf

from vimlib import store
from vimlib.analysis.contamination import Seen, seen
from vimlib.figures import contamination as show
from vimlib.records import Track
from vimlib.report import run_report

PROJECT = Path(__file__).resolve().parent.parent
EVIL = "<script>alert(1)</script>$x$"


def words(shown: Any) -> str:
    """What of a figure can be read."""
    return " ".join(re.sub(r"<[^>]*>", " ", shown._repr_html_()).split()).replace("\u00a0", " ")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """A model of a hostile name that passes originals and no twin, and one beside it."""
    half = [True, False] * 12
    runs = [
        answered(FULL, [True] * 20 + [False] * 4, name=EVIL),
        answered(twins_of(FULL), [False] * 24, "run-2", name=EVIL),
        answered(FULL, [True] * 8 + [False] * 16, "run-3", name=EVIL, track=Track.BLIND),
        answered(FULL, half, "run-4", name="other"),
    ]
    with closing(stored(tmp_path_factory.mktemp("page") / "a.duckdb", *runs)) as con:
        return seen(con, given={EVIL: "2018-06-01"})


def test_each_model_has_its_sentence_table_and_pictures(found: Seen) -> None:
    first, second = show.pages(found)
    said = words(show.findings(found, 0.05))
    assert "strong evidence from “twins”" in said
    assert "other · golf protocol" in said
    table = words(show.evidence_table(first))
    assert "+83.3 points" in table and "no other model was asked blind" in table
    assert "Missing: no twin was answered" in words(show.evidence_table(second))
    assert "20 originals passed whose twin was not, 0 the other way" in words(show.twin_picture(first))
    assert show.twin_picture(second) == show.NOTHING
    assert "cutoff 2018-06" in words(show.age_picture(first))
    assert "is not known" in words(show.age_picture(second))
    assert "20 of 20 right answers are a published solution" in words(show.overlap_picture(first))
    assert "the same" in words(show.suspicious_table(first))
    assert "2018-06-01 (given)" in words(show.page_facts(first))


def test_nothing_from_a_model_is_markup_and_the_same_frames_give_the_same_bytes(found: Seen) -> None:
    for part in show.pages(found):
        shown = [
            show.findings(found, 0.05),
            show.page_facts(part),
            show.evidence_table(part),
            show.age_picture(part),
            show.twin_picture(part),
            show.overlap_picture(part),
            show.suspicious_table(part),
        ]
        again = [show.age_picture(part), show.overlap_picture(part)]
        assert [shown[3], shown[5]] == again
        assert all("<script>" not in one._repr_html_() for one in shown)


def test_a_cutoff_outside_all_dates_is_said_to_tell_nothing(tmp_path: Path) -> None:
    with closing(stored(tmp_path / "a.duckdb", answered(FULL, [True, False] * 12))) as con:
        late = seen(con, given={"foo/bar": "2030-01-01"})
    (part,) = show.pages(late)
    assert "All dated tasks are from before the training cutoff" in words(show.age_picture(part))


def test_without_enough_data_nothing_is_concluded(tmp_path: Path) -> None:
    with closing(stored(tmp_path / "a.duckdb", answered(vimgolf(3), [True, False, True]))) as con:
        few = seen(con)
    assert words(show.findings(few, 0.05)).startswith("Nothing can be concluded about any model here")
    (part,) = show.pages(few)
    assert "nothing can be concluded: all 8 tests lack data" in show.conclusion(part)


def test_the_notebook_makes_a_page_of_a_store_without_a_model(tmp_path: Path) -> None:
    suite = storing.make_suite()
    database = tmp_path / "a.duckdb"
    with store.replacing(database) as writer:
        writer.add_suite(suite)
    made = run_report(
        "seen",
        database=database,
        notebooks=[PROJECT / "notebooks" / "05_contamination.ipynb"],
        out=tmp_path / "reports",
        parameters={"alpha": 0.01},
    )
    page = made.front.read_text(encoding="utf-8")
    assert "Nothing can be concluded: no model run is loaded" in page
    assert "What this page can show" in page and "How the numbers are made" in page
