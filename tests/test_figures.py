"""Pictures, tables and sentences: what they show, that nothing from outside is markup, same bytes."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import storing

from vimlib import store
from vimlib.analysis import overview
from vimlib.figures import Column, Table, Tile, canvas, charts, loading, plain, section, tables, tiles
from vimlib.figures import overview as show
from vimlib.figures.tables import percent
from vimlib.load import LoadedRow, RowKind
from vimlib.records import AttemptStatus, Outcome, Protocol, RunKind

EVIL = "<script>alert(1)<img src=x onerror=alert(1)>$x$ & \u202egpj"


@pytest.fixture(scope="module")
def con(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """A store with two suites, two models of hostile and long names, a failed request, and diff."""
    path = tmp_path_factory.mktemp("figures") / "store.duckdb"
    little, other = storing.make_suite(tasks=8), storing.make_suite("other", tasks=3, tiers=(None,))
    model = storing.make_run(little, name=EVIL)
    attempts = [storing.make_attempt(task.id, source_correct=True) for task in little.tasks[:-1]]
    attempts.append(
        storing.make_attempt(little.tasks[-1].id, status=AttemptStatus.PROVIDER_ERROR, keys=None, error=EVIL)
    )
    second = storing.make_run(
        little, attempts, id="run-2", name="lab/" + "long-" * 20 + "name", settings={"t": 1}
    )
    solver: dict[str, Any] = {
        "kind": RunKind.SOLVER,
        "name": "diff",
        "source": "",
        "source_sha256": None,
        "settings": {},
    }
    diff = storing.make_run(little, id="diff-1", **solver)
    diff_other = storing.make_run(other, id="diff-2", protocol=Protocol.GOLF, **solver)
    with store.replacing(path) as writer:
        for suite in (little, other):
            writer.add_suite(suite)
        for run, passes in ((model, 6), (second, 2), (diff, 4), (diff_other, 3)):
            writer.add_run(run)
            storing.judge(
                writer,
                run,
                {
                    (a.task_id, a.epoch, a.attempt): (
                        storing.PASS if place < passes else storing.FAIL,
                        Outcome.FINISHED if place % 2 else Outcome.UNFINISHED,
                    )
                    for place, a in enumerate(run.attempts)
                    if a.status is AttemptStatus.ANSWERED
                },
            )
    connection = store.connect(path)
    yield connection
    connection.close()


@pytest.fixture(scope="module")
def runs(con: object) -> pd.DataFrame:
    return overview.overview(con)  # type: ignore[arg-type]


def first(runs: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    _, slug, rows = show.sections(runs)[0]
    return slug, rows


def every_part(con: object, runs: pd.DataFrame) -> list[object]:
    """All that the overview shows."""
    tiers = overview.by_tier(con)  # type: ignore[arg-type]
    views = {
        name: store.query(con, name)  # type: ignore[arg-type]
        for name in ("run_by_outcome", "disagreements", "versions", "sources_loaded")
    }
    parts: list[object] = [show.findings(runs, views["disagreements"]), show.key_numbers(runs)]
    for title, slug, rows in show.sections(runs):
        parts += [
            section(title, slug),
            show.section_facts(rows, views["versions"]),
            show.comparability(rows, views["versions"]),
            show.pass_rates(rows, slug),
            show.results_table(rows, slug),
            show.tier_picture(tiers, rows, slug),
            show.outcome_picture(views["run_by_outcome"], rows, slug),
            show.token_table(rows, slug),
            show.disagreement_table(views["disagreements"], rows, slug),
        ]
    parts += [show.source_table(views["sources_loaded"]), show.version_table(views["versions"], "model")]
    return parts


def markup(part: object) -> str:
    return part._repr_html_()  # type: ignore[attr-defined]


def test_tiers_give_both_readings_where_there_are_errors(con: object, runs: pd.DataFrame) -> None:
    slug, rows = first(runs)
    tiers = overview.by_tier(con)  # type: ignore[arg-type]
    [lost] = tiers[tiers["errors"] > 0].to_dict("records")
    shown = markup(show.tier_picture(tiers, rows, slug))
    of = lost["scored"] + 1
    rate = percent(lost["passed"] / of)
    assert "Errors are left out. Counted as failures:" in shown
    assert f"tier {lost['tier']} {rate} of {of}, 1 lost or unscored" in shown
    whole = rows[rows["run_id"] != lost["run_id"]]
    assert "Counted as failures" not in markup(show.tier_picture(tiers, whole, slug))


# --- text from outside


def test_plain_makes_one_visible_line() -> None:
    assert plain("a\n\tb\x00c\u202ed\u200be") == "a b\ufffdc\ufffdd\ufffde"


def test_plain_cuts_the_middle() -> None:
    cut = plain("provider/model-" + "x" * 100 + "-end", 20)
    assert len(cut) == 20
    assert cut.startswith("provider/m") and cut.endswith("-end") and "…" in cut


def test_fitted_text_is_no_wider_than_asked() -> None:
    shown = canvas.fitted("W" * 100, 13, 120)
    assert canvas.text_width(shown, 13) <= 120


@pytest.mark.parametrize("size", [canvas.WIDE, canvas.NARROW])
def test_text_in_a_picture_stays_text(size: float) -> None:
    sheet = canvas.Sheet(size, 40)
    sheet.text(0, 20, plain(EVIL))
    svg = sheet.svg("evil")
    assert "<script" not in svg
    root = ElementTree.fromstring(svg)
    assert [node.text for node in root.iter("text")] == [plain(EVIL)]


def test_nothing_from_outside_is_markup(con: object, runs: pd.DataFrame) -> None:
    for part in every_part(con, runs):
        assert "<script" not in markup(part) and "<img" not in markup(part)
        assert "\u202e" not in markup(part)


# --- pictures


def test_an_svg_has_no_ids_dates_fonts_or_foreign_names() -> None:
    sheet = canvas.Sheet(300, 80)
    sheet.line(0, 10, 300, 10, dash=True)
    sheet.dot(20, 10, 5, fill=canvas.MODEL, edge=canvas.MODEL)
    sheet.diamond(60, 10, 5, fill=canvas.SOLVER, edge=canvas.SOLVER)
    sheet.box(0, 20, 30, 10, colour=canvas.ORANGE)
    sheet.text(5, 70, "a", bold=True)
    svg = sheet.svg("x")
    assert " id=" not in svg and "DejaVu" not in svg and "metadata" not in svg
    assert "http" not in svg and "url(" not in svg and "xlink" not in svg


def test_every_colour_is_a_variable_that_the_style_sheet_sets_in_light_and_dark() -> None:
    css = (Path(canvas.__file__).parents[1] / "report" / "style.css").read_text(encoding="utf-8")
    light, dark = css.split("@media screen and (prefers-color-scheme: dark)")[:2]
    for colour, name in canvas.VARIABLES.items():
        assert re.search(rf"{name}: {colour};", light), name
        assert f"{name}: #" in dark.split("}\n}")[0], name


def test_a_picture_says_what_it_shows(runs: pd.DataFrame) -> None:
    slug, rows = first(runs)
    shown = show.pass_rates(rows, slug)
    html = markup(shown)
    assert shown.title.startswith("<script>") and "6\u00a0of\u00a08" in shown.title
    assert f'id="fig-pass-{slug}"' in html and 'role="img"' in html
    assert "75.0\u00a0%" in shown.alt and "diff: 4\u00a0of\u00a08" in shown.alt
    assert shown.wide != shown.narrow


def test_pictures_leave_out_models_beyond_the_limit_and_say_so(runs: pd.DataFrame) -> None:
    slug, rows = first(runs)
    shown = show.pass_rates(rows, slug, top_n=1)
    assert "long-" not in shown.wide
    assert shown.note.startswith("1 more")


def test_the_same_frames_give_the_same_bytes(con: object, runs: pd.DataFrame) -> None:
    assert [markup(p) for p in every_part(con, runs)] == [markup(p) for p in every_part(con, runs)]


def test_marks_lie_where_their_rate_is() -> None:
    row = charts.RateRow("a", "model", charts.Span(0.5, 0.25, 0.75), "50 %", "1 of 2")
    svg = charts.rates(canvas.WIDE, [("", [row])], main="passed").svg("x")
    x0, x1 = 226.0, canvas.WIDE - 158.0
    assert f"M {x0 + 0.25 * (x1 - x0):g} " in svg, "the interval begins at a quarter"
    assert f"L {x0 + 0.75 * (x1 - x0):g} " in svg, "and ends at three quarters"


def test_a_rate_that_is_not_known_is_not_drawn() -> None:
    known = charts.RateRow("a", "model", charts.Span(None, None, None), "none scored", "0 of 0")
    svg = charts.rates(canvas.WIDE, [("", [known])], main="passed").svg("x")
    assert svg.count(canvas.MODEL) == 2, "fill and edge of the key, and nothing else"


# --- tables


def test_a_table_escapes_every_cell_and_knows_its_heads() -> None:
    frame = pd.DataFrame({"who": [EVIL, "b"], "n": [1, None]})
    html = markup(
        Table("t", EVIL, [Column("who", "Who", "name"), Column("n", "N", "number", tables.count)], frame)
    )
    assert "<script" not in html
    assert '<th scope="col"' in html and '<th scope="row"' in html and "<caption" in html
    assert '<span class="na">unavailable</span>' in html
    assert 'data-v="1.0"' in html or 'data-v="1"' in html


def test_an_empty_table_is_a_sentence() -> None:
    html = markup(Table("t", "T", [Column("a", "A")], pd.DataFrame({"a": []}), empty="Nothing < here."))
    assert html == '<p class="empty" id="tab-t">Nothing &lt; here.</p>'


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (tables.count(98032), "98,032"),
        (tables.count(None), "unavailable"),
        (tables.percent(72 / 134), "53.7\u00a0%"),
        (tables.percent(float("nan")), "unavailable"),
        (tables.interval(0.453, 0.619), "45.3–61.9"),
        (tables.interval(None, 0.5), ""),
        (tables.decimal(0.9661), "0.966"),
        (tables.seconds(0.5), "0.50\u00a0s"),
        (tables.seconds(185), "3\u00a0min 05\u00a0s"),
        (tables.seconds(119.7), "2\u00a0min 00\u00a0s"),
    ],
)
def test_numbers_read_as_people_write_them(shown: str, expected: str) -> None:
    assert shown == expected


def test_tokens_that_nobody_reported_are_unavailable_not_zero(runs: pd.DataFrame) -> None:
    slug, rows = first(runs)
    html = markup(show.token_table(rows, slug))
    assert "unavailable" in html, "nothing was billed"
    assert ">800<" in html, "8 attempts of 100 input tokens"


# --- the overview


def test_sections_never_mix_suites_or_protocols_and_start_with_models(runs: pd.DataFrame) -> None:
    cut = show.sections(runs)
    assert [len(rows.groupby(show.GROUP)) for _, _, rows in cut] == [1, 1]
    assert set(cut[0][2]["kind"]) == {"model", "solver"} and set(cut[1][2]["kind"]) == {"solver"}
    assert len({slug for _, slug, _ in cut}) == 2


def test_solvers_come_after_models_however_good(runs: pd.DataFrame) -> None:
    _, rows = first(runs)
    assert list(show.ranked(rows)["kind"]) == ["model", "model", "solver"]


def test_the_headline_does_not_call_a_leader_where_intervals_overlap(runs: pd.DataFrame) -> None:
    _, rows = first(runs)
    assert "does not settle" in show.headline(rows)
    assert "the diff solver, no model at all, 4" in show.headline(rows)


def test_the_headline_without_a_model_is_the_floor(runs: pd.DataFrame) -> None:
    _, _, rows = show.sections(runs)[1]
    assert show.headline(rows) == (
        "The diff solver passes 3\u00a0of\u00a03\u00a0(100.0\u00a0%): the floor that a model has to beat"
    )


def test_findings_count_errors_apart_and_name_disagreements(con: object, runs: pd.DataFrame) -> None:
    html = markup(show.findings(runs, store.query(con, "disagreements")))  # type: ignore[arg-type]
    assert "1 of 27 samples failed outside the answer" in html
    assert "5 of 7 verdicts differ" in html


def test_settings_that_differ_are_named(con: object, runs: pd.DataFrame) -> None:
    _, rows = first(runs)
    versions = store.query(con, "versions")  # type: ignore[arg-type]
    assert "differ in the generation settings" in markup(show.comparability(rows, versions))
    alone = rows[rows["run_id"] != "run-2"]
    assert markup(show.comparability(alone, versions)) == ""


def test_runs_of_one_name_are_told_apart(runs: pd.DataFrame) -> None:
    rows = runs.assign(name="lab/same", source=[f"{place}.eval" for place in range(len(runs))])
    assert sorted(show.labels(rows).values()) == ["same · 0", "same · 1", "same · 2", "same · 3"]


def test_what_runs_of_one_name_were_asked_tells_them_apart_before_their_files_do(runs: pd.DataFrame) -> None:
    rows = runs.head(3).assign(
        name="lab/same",
        suite_name=["seed", "seed", "fresh"],
        protocol="bench",
        track=["single", "multi", "single"],
        created_utc=pd.to_datetime(["2026-08-01 09:30", "2026-08-02 09:30", "2026-08-02 09:30"]),
    )
    apart = list(show.labels(rows).values())
    assert apart == ["same · seed, bench", "same · seed, bench, in several turns", "same · fresh, bench"]
    again = rows.assign(track="single")
    assert list(show.labels(again).values()) == [
        "same · seed, bench, 2026-08-01 09:30",
        "same · seed, bench, 2026-08-02 09:30",
        "same · fresh, bench, 2026-08-02 09:30",
    ]
    assert list(show.labels(again.head(2).assign(created_utc=None, source="x.eval")).values()) == [
        f"same · {str(run)[-8:]}" for run in again["run_id"].head(2)
    ]


def test_a_provider_is_kept_where_two_serve_a_model_of_one_name(runs: pd.DataFrame) -> None:
    rows = runs.head(2).assign(name=["a/m", "b/m"])
    assert sorted(show.labels(rows).values()) == ["a/m", "b/m"]


def test_endings_add_up_to_the_samples(con: object) -> None:
    outcomes = store.query(con, "run_by_outcome")  # type: ignore[arg-type]
    known = {part.key for part in show.PARTS}
    for row in outcomes.to_dict("records"):
        parts = show.ending(row)
        assert sum(parts.values()) == row["samples"]
        assert set(parts) <= known


@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_outcome_has_its_part(outcome: Outcome) -> None:
    row = {"outcome": str(outcome), "samples": 5, "correct": 2, "passed": 1}
    parts = show.ending(row)
    assert parts["passed"] == 1 and parts["over_cap"] == 1 and sum(parts.values()) == 5
    assert ("none" in parts) == (outcome is Outcome.HARNESS_ERROR)


def test_published_results_are_marked_and_kept_apart() -> None:
    cut = show.published_sections(overview.published())
    assert sum(len(rows) for _, _, rows in cut) == 20
    for _, slug, rows in cut:
        assert "not replayed here" in show.published_picture(rows, slug).wide
        assert "not replayed here" in markup(show.published_table(rows, slug))


# --- the loading page


def test_a_load_is_told_with_its_rejections() -> None:
    rows = pd.DataFrame(
        [
            LoadedRow("seed.jsonl", RowKind.SUITE, "seed", "seed 1", tasks=48),
            LoadedRow("a/b.eval", RowKind.RUN, EVIL, "seed 1", Protocol.GOLF, 48, 48, 2, 5),
            LoadedRow("a/bad.eval", RowKind.RUN, rejected="a/bad.eval: cut short; expected a whole log"),
        ]
    )
    html = markup(loading.summary(rows, replays=40, replayed=10, wall_seconds=3.0))
    assert "1 source could not be used" in html and "30 taken from the cache (75\u00a0%)" in html
    assert "<script" not in markup(loading.loaded_table(rows))
    assert "cut short; expected a whole log" in markup(loading.rejected_table(rows))


def test_missing_confinement_is_loud() -> None:
    assert 'class="notice bad"' in markup(loading.confinement_notice("none"))


def test_tiles_escape() -> None:
    assert "<b>" not in markup(tiles([Tile("<b>", "<b>", "<b>")]))
