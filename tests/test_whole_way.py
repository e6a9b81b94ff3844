"""The whole way of `vimlib report`: from suites and logs through real Vim to pages that say what is true."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from reporting import SHARED, Reported, command, report
from test_load import kept, write_suite


def test_from_suites_and_logs_to_pages_and_again(reported: Reported) -> None:
    """One test, since a report takes its time: the recorded runs, the seed suite, a source that is bad,
    and, where they are, the real challenges and log; then once more from what is kept."""
    check_bad_source_is_named_and_the_rest_reported(reported)
    check_solvers_stand_on_the_front_page(reported)
    if SHARED.is_dir():
        check_real_log_shows_its_published_figures(reported)

    before = reported.store
    second = report(reported.folder, "--name", "again")
    assert (second.returncode, second.stderr) == (0, "")
    assert re.search(r"Replays in Vim 0 of \d+ distinct", second.page("load.html"))
    numbers = json.loads((second.pages / "summary.json").read_text("utf-8"))
    assert {run["name"] for run in numbers["runs"]} >= {"diff", "noop", "reference", "retype"}
    assert second.store == before
    assert second.pages.name.endswith("-again")
    if not SHARED.is_dir():
        pytest.skip(f"all but the real log is checked: no folder {SHARED}")


def check_bad_source_is_named_and_the_rest_reported(first: Reported) -> None:
    assert first.returncode == 3, first.stderr
    [line] = first.stderr.splitlines()
    assert line.startswith(f"{first.folder / 'cut.json'}, line 1: the JSON ends too early; expected")
    assert first.stdout.startswith("reports/latest/index.html (")
    assert {path.suffix for path in first.pages.glob("[!.]*.*")} == {".html", ".ipynb", ".json"}
    assert "cut.json" in first.page("load.html")


def check_solvers_stand_on_the_front_page(first: Reported) -> None:
    page = first.page("index.html")
    assert "seed under the bench protocol" in page and "seed under the golf protocol" in page
    for solver in ("diff", "noop", "reference", "retype"):
        assert re.search(rf"\b{solver} \d", page), solver
    assert "48 of 48" in page and "0 of 48" in page


def check_real_log_shows_its_published_figures(first: Reported) -> None:
    page = first.page("index.html")
    assert "smollm2-135m-instruct passes 0 of 134 (0.0 %)" in page.lower()
    assert re.search(r"smollm2-135m-instruct 134 98,032 18,453 116,485", page, re.IGNORECASE)
    passed = {
        solver: int(count)
        for solver, count in re.findall(r"\b(diff|noop|retype) [\d.]+ % (\d+) of 134,", page)
    }
    assert passed["noop"] == passed["retype"] == 0
    assert passed["diff"] >= 134 / 2
    assert "None of the 134 verdicts that the sources recorded differs from ours" in page
    spent = first.page("token_cost.html")
    # Tokens in all, of them input and output; no pass, so nothing is divided by passes; a local model.
    assert "passes nothing, so that a pass has no price; 116,485 tokens went into answers" in spent
    assert re.search(r"0 of 134, 0.0–2.8 no pass no pass unavailable 0 of 134 116,485 98,032", spent)
    assert re.search(r"18,453 reasoning not reported", spent)
    assert "cost known for 0 of 134 attempts: a local model without a price" in spent


def test_an_interrupted_report_ends_in_one_line_and_leaves_its_replays(tmp_path: Path) -> None:
    """As a terminal does it: the signal meets the command, the kernel's and the replays' processes."""
    suite, cache = write_suite(tmp_path / "little.jsonl", tasks=120), tmp_path / "replays.sqlite"
    running = subprocess.Popen(
        command("--suite", suite, "--solver", "noop"),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while kept(cache) == 0:
        assert running.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGINT)
    out, error = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, "")
    assert error == "vimlib: interrupted; replays done so far are kept, nothing else was changed\n"
    assert 0 < kept(cache) < 480
    assert not (tmp_path / "store.duckdb").exists()
    assert {path.name for path in (tmp_path / "reports").iterdir()} == {".lock", "report.log"}
