"""What the cost page and `vimlib cost` show, of a store whose sums stand in test_cost."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from storing import FAIL, PASS, make_attempt
from test_cost import RETRIED, model_run, stored, tokens

from vimlib import store
from vimlib.analysis import cost
from vimlib.cli import main
from vimlib.figures import amounts as shapes
from vimlib.figures import cost as show
from vimlib.figures.blocks import Block
from vimlib.figures.canvas import Picture
from vimlib.records import TokenUsage
from vimlib.report import run_report

PROJECT = Path(__file__).resolve().parent.parent

HOSTILE = "hf/<img src=x onerror=alert(1)>\x1b[31m=cmd"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """gpt-4o with two passes, gpt-5.6-sol with one, a local model with one, a hostile name with none, and
    one of whose attempts half are not known."""
    path = tmp_path_factory.mktemp("cost") / "store.duckdb"
    sol = model_run(
        "openai/gpt-5.6-sol",
        make_attempt("t1", usage=tokens(100_000, 10_000, reasoning_tokens=9_000), seconds=20.0),
    )
    local = model_run("vllm/small", make_attempt("t1", usage=tokens(300, 40), seconds=None))
    hostile = model_run(HOSTILE, make_attempt("t1", usage=tokens(50, 5)), source="<b>.eval")
    half = model_run(
        "openai/gpt-4o-mini",
        make_attempt("t1", usage=tokens(1_000, 100)),
        make_attempt("t2", usage=TokenUsage()),
    )
    first, second = ("t1", 1, 1), ("t2", 1, 1)
    stored(
        path,
        RETRIED,
        (sol, {first: PASS}),
        (local, {first: PASS}),
        (hostile, {first: FAIL}),
        (half, {first: PASS, second: FAIL}),
    )
    return path


@pytest.fixture(scope="module")
def frames(database: Path) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    con = store.connect(database)
    attempts = cost.attempts(con)
    con.close()
    return attempts, cost.by_run(attempts), cost.by_mode(attempts)


def words(shown: Any) -> str:
    """What of a figure can be read."""
    return " ".join(re.sub(r"<[^>]*>", " ", shown._repr_html_()).split()).replace("\u00a0", " ")


# --- words for amounts


@pytest.mark.parametrize(
    ("amount", "word"),
    [
        (8.0, "$8.00"),
        (1234.5, "$1,234.50"),
        (0.5, "$0.500"),
        (0.00925, "$0.00925"),
        (0.0999, "$0.0999"),
        (3.5e-7, "$0.000000350"),
        (0.0, "$0"),
        (None, "unavailable"),
        (float("nan"), "unavailable"),
    ],
)
def test_dollars_keep_three_figures_and_unknown_is_no_zero(amount: float | None, word: str) -> None:
    assert show.dollars(amount) == word


def test_what_is_known_of_an_amount_is_said_as_such() -> None:
    assert show.dollar_range(1.0, 1.0) == "$1.00"
    assert show.dollar_range(0.0335, 0.041) == "$0.0335–0.0410"
    assert show.dollar_range(0.5, None) == "at least\u00a0$0.500"
    assert show.dollar_range(None, None) == "unavailable"


@pytest.mark.parametrize(
    ("values", "log", "first", "last"),
    [
        ([1.0, 9.0], False, 0.0, 10.0),
        ([0.003, 4.0], True, 0.002, 5.0),
        ([0.0, 1000.0], False, 0.0, 1000.0),
        ([], False, 0.0, 1.0),
        ([7.0], False, 0.0, 8.0),
    ],
)
def test_an_axis_holds_all_values_between_round_ends(
    values: list[float], log: bool, first: float, last: float
) -> None:
    along = shapes.axis(values)
    assert (along.log, along.first, along.last) == (log, pytest.approx(first), pytest.approx(last))
    assert len(along.ticks) >= 3
    for value in values:
        assert 10 <= along.place(value, 10, 110) <= 110
    assert along.place(along.first, 10, 110) == 10
    assert along.place(along.last, 10, 110) == pytest.approx(110)


# --- the page


def test_the_findings_name_the_cheapest_pass_and_the_waste(frames: Any) -> None:
    _, runs, modes = frames
    said = words(show.findings(runs, modes))
    assert "a pass costs gpt-4o $0.00925" in said
    assert "the least of 2 runs; the most is $0.600, by gpt-5.6-sol" in said
    # 111,100 + 5,600 + 340 + 55 + 1,100 tokens, of which 1,000 + 2,400 + 55 bought nothing
    assert "3.0 % of all tokens went into attempts that did not pass" in said


def test_the_table_says_of_every_run_what_is_known_and_what_is_not(frames: Any) -> None:
    _, runs, _ = frames
    ((_, slug, rows),) = show.sections(runs)
    table = show.cost_table(rows, slug)
    lines = {
        name: line
        for line in re.findall(r"<tr>.*?</tr>", table._repr_html_())
        if (name := re.sub(r"<[^>]*>", "", line.partition("</th>")[0])) and "<td" in line
    }
    said = {
        name.split(" 20")[0]: " ".join(re.sub(r"<[^>]*>", " ", line).split()) for name, line in lines.items()
    }
    assert "$0.00925" in said["gpt-4o"] and "2,800" in said["gpt-4o"]
    assert "unavailable" in said["small"] and "none" in said["small"] and "340" in said["small"]
    assert "at least $0.000210" in said["gpt-4o-mini"] and "at least 1,100" in said["gpt-4o-mini"]
    assert "no pass" in said[next(name for name in said if "alert" in name)]
    assert not any("$0 " in line for line in said.values())


def test_runs_without_a_place_by_cost_are_named_with_the_reason(frames: Any) -> None:
    _, runs, _ = frames
    ((_, _, rows),) = show.sections(runs)
    said = words(show.gap_notice(rows))
    assert "small (cost known for 0 of 1 attempts: a local model without a price)" in said
    assert "gpt-4o-mini (cost known for 1 of 2 attempts: the source reports no tokens)" in said
    assert "gpt-5.6-sol" not in said
    assert show.gap_notice(rows[rows["cost_rank"].notna()]) == Block("")


def test_the_front_is_drawn_on_cost_and_again_on_tokens_where_cost_is_lacking(frames: Any) -> None:
    _, runs, _ = frames
    ((_, slug, rows),) = show.sections(runs)
    on_cost, on_tokens = (show.front_picture(rows, slug, what) for what in ("cost", "tokens"))
    assert isinstance(on_cost, Picture) and isinstance(on_tokens, Picture)
    assert on_cost.title == "gpt-4o, gpt-5.6-sol: nothing else is as good for less."
    assert "Not drawn: 3 runs" in on_cost.note
    assert on_tokens.title == "small is both the best and the cheapest by the pass of 3 runs."
    assert "Tokens stand in for cost" in on_tokens.note
    priced = rows[rows["cost_per_pass"].notna()]
    assert show.front_picture(priced, slug, "tokens") == Block("")
    assert show.front_picture(rows[rows["passed"] == 0], slug, "cost") == Block("")


def test_without_any_amount_a_sentence_stands_in_the_pictures_place(frames: Any) -> None:
    _, runs, _ = frames
    ((_, slug, rows),) = show.sections(runs)
    failed = rows[rows["passed"] == 0]
    assert "Tokens per pass are unavailable" in words(show.tokens_picture(failed, slug))


def test_the_same_frame_gives_the_same_bytes_and_no_markup_of_a_name(frames: Any) -> None:
    attempts, runs, modes = frames
    ((_, slug, rows),) = show.sections(runs)

    def everything() -> list[str]:
        return [
            one._repr_html_()
            for one in (
                show.findings(runs, modes),
                show.key_numbers(runs, modes),
                show.price_facts(runs, None),
                show.gap_notice(rows),
                show.front_picture(rows, slug, "cost"),
                show.front_picture(rows, slug, "tokens"),
                show.tokens_picture(rows, slug),
                show.kinds_picture(rows, slug),
                show.waste_picture(modes, rows, slug),
                show.latency_picture(attempts, rows, slug),
                show.cost_table(rows, slug),
                show.waste_table(modes, rows, slug),
            )
        ]

    pages = everything()
    assert pages == everything()
    whole = "".join(pages)
    assert "<img" not in whole and "\x1b" not in whole
    assert "alert(1)" in whole


def test_the_csv_is_the_frame_and_starts_no_formula(frames: Any) -> None:
    _, runs, _ = frames
    head, *lines = show.csv_text(runs.assign(name="=1+1")).splitlines()
    assert head.split(",") == list(runs.columns)
    assert len(lines) == len(runs)
    assert all(",'=1+1," in line for line in lines)


def test_empty_frames_have_a_page_too(tmp_path: Path) -> None:
    none = cost.by_run(pd.DataFrame(columns=["run_id"]))
    modes = cost.by_mode(pd.DataFrame(columns=["run_id"]))
    assert "No run of a model was loaded" in words(show.findings(none, modes))
    assert "unavailable" in words(show.key_numbers(none, modes))
    assert show.sections(none) == []


def test_the_notebook_makes_the_page(database: Path, tmp_path: Path) -> None:
    prices = tmp_path / "mine.yml"
    prices.write_text("prices: [{model: small, provider: vllm, input: 1, output: 10}]")
    made = run_report(
        "cost",
        database=database,
        notebooks=[PROJECT / "notebooks" / "06_token_cost.ipynb"],
        out=tmp_path,
        parameters={"prices": str(prices), "price_date": "2026-11-15"},
    )
    page = made.front.read_text(encoding="utf-8")
    said = " ".join(re.sub(r"<[^>]*>", " ", page).split())
    assert "What does a success cost?" in said
    assert "of 2026-11-15, for every run" in said
    # 300 at 1 and 40 at 10 dollars a million
    assert "$0.000700" in said
    assert "mine.yml" in said


# --- the command


@pytest.fixture
def command(database: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(["cost", "--database", str(database), *map(str, arguments)])
        said = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, said.out, said.err

    return run


def line_of(out: str, name: str) -> str:
    (line,) = (" ".join(line.split()) for line in out.splitlines() if line.startswith(name + "  "))
    return line


def test_the_command_prints_what_a_pass_cost(command: Any) -> None:
    code, out, err = command()
    assert (code, err) == (0, "")
    assert line_of(out, "openai/gpt-4o").startswith("openai/gpt-4o 2/3 (66.7 %) $0.00925 (")
    assert "at least $0.000210" in line_of(out, "openai/gpt-4o-mini")
    assert "vllm/small: cost known for 0 of 1 attempts (a local model without a price)" in out
    assert re.search(r"costs: genai-prices [\d.]+, prices of the day of each run", out)
    assert "\x1b" not in out


def test_the_command_reprices_and_divides_a_budget(command: Any, tmp_path: Path) -> None:
    """At 1 and 10 dollars a million the three tasks cost 0.005 + 0.006: a dollar pays for 272, the suite's
    four tasks 68 times; the 340 tokens of the local model cost 0.0007."""
    prices = tmp_path / "price.yml"
    prices.write_text("prices: [{model: gpt-4o, input: 1, output: 10}, {model: small, input: 1, output: 10}]")
    code, out, err = command("--what-if", prices, "--budget", "1")
    assert (code, err) == (0, "")
    assert "tasks for $1" in out
    assert "$0.0110" in line_of(out, "openai/gpt-4o")
    assert line_of(out, "openai/gpt-4o").endswith("all 4, 68 times")
    assert "$0.000700" in line_of(out, "vllm/small")
    assert "$0.600" in line_of(out, "openai/gpt-5.6-sol")
    code, out, _ = command("gpt-4o", "small", "--prices", prices, "--budget", "0.01")
    # Of the list 0.0185 dollars for three tasks: one for a cent.
    assert line_of(out, "openai/gpt-4o").endswith(" 1 of 4")
    assert "gpt-5.6-sol" not in out


def test_the_command_writes_every_number_to_a_file(command: Any, tmp_path: Path) -> None:
    file = tmp_path / "cost.csv"
    code, _, _ = command("gpt-4o", "--csv", file)
    assert code == 0
    (row,) = pd.read_csv(file).to_dict("records")
    assert (row["total_tokens"], row["tokens_per_pass"]) == (5_600, 2_800)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--budget", "-1"], "--budget -1.0: expected US dollars"),
        (["--budget", "nan"], "--budget nan: expected US dollars"),
        (["--price-date", "soon"], "'soon' is no day"),
        (["nobody"], "no run of a model is, or is named, 'nobody'"),
        (["--suite", "none"], "no run of a model answers suite 'none'"),
        (["--what-if", "missing.yml"], "missing.yml: cannot be read"),
    ],
)
def test_the_command_says_in_one_line_what_it_cannot_use(
    command: Any, arguments: list[str], said: str
) -> None:
    code, out, err = command(*arguments)
    assert (code, out) == (2, "")
    assert said in err and err.count("\n") == 1
