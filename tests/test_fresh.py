"""Drawn tasks: the same everywhere, new under each seed, and none kept that breaks a rule.

The rules are computed here anew, by other means than `generate` has: keys counted by the vimgolf package
and by bytes, verdicts taken from the bytes that single replays leave.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from vimgolf.keys import tokenize_keycode_reprs

from vimlib import cli, generate, keys
from vimlib.generate import BadRequest, Reason, TemplateFails, generate_fresh, reasons_against, too_long
from vimlib.records import Protocol, Task
from vimlib.replay import ReplayRequest, replay_many
from vimlib.solvers import SOLVERS
from vimlib.suites import NoTasks, build_suite, fresh, load_suite
from vimlib.suites.jsonl import ChangedSuite, as_jsonl

PROJECT = Path(__file__).resolve().parent.parent
SEED, COUNT = 11, 8

DRAWN = {1: "e993772b5b6125a8"}
"""By version of the generator, the first 16 hex digits of what `DRAW_ALL` prints."""

DRAW_ALL = """
import hashlib
from vimlib.suites import fresh
digest = hashlib.sha256()
for seed in (0, 2**40):
    for template in fresh.TEMPLATES.values():
        for index in range(2):
            task = fresh.candidate(seed, template, index)
            parts = (task.id, task.tier, task.title, task.instruction)
            digest.update(repr((*parts, task.start, task.target, task.reference)).encode())
print(digest.hexdigest())
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> generate.Generated:
    """A small suite, two tasks of each tier."""
    return generate_fresh(SEED, COUNT, cache=tmp_path_factory.mktemp("cache") / "replays.sqlite")


def apart(code: str, *arguments: str, **environment: str) -> str:
    """What a Python of its own prints."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=PROJECT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout


def draws(seed: int, count: int) -> list[Task]:
    """The first draws of a seed, good or not, without a replay."""
    return [
        fresh.candidate(seed, fresh.TEMPLATES[name], index)
        for name, quota in fresh.quotas(count).items()
        for index in range(quota)
    ]


def golf_keys(text: str) -> int:
    return len(tokenize_keycode_reprs(text))


def own_count(answer: str, protocol: Protocol) -> int:
    """Keys counted without `keys.count`: by the vimgolf package, or as bytes."""
    return golf_keys(answer) if protocol is Protocol.GOLF else len(keys.expand(answer))


# --- the templates


def test_there_are_templates_enough_in_each_tier() -> None:
    tiers = Counter(template.tier for template in fresh.TEMPLATES.values())
    assert sorted(tiers) == [1, 2, 3, 4]
    assert sum(tiers.values()) >= 30
    assert min(tiers.values()) >= 7
    assert all(name == template.name for name, template in fresh.TEMPLATES.items())


def test_a_suite_holds_every_template_and_the_tiers_evenly() -> None:
    quotas = fresh.quotas(200)
    assert set(quotas) == set(fresh.TEMPLATES)
    assert min(quotas.values()) >= 1
    tiers = Counter[int]()
    for name, quota in quotas.items():
        tiers[fresh.TEMPLATES[name].tier] += quota
    assert set(tiers.values()) == {50}


@pytest.mark.parametrize("count", [1, 2, 5, 57, 1000])
def test_any_count_is_met_exactly(count: int) -> None:
    assert sum(fresh.quotas(count).values()) == count


def test_each_template_draws_another_task_each_time() -> None:
    for template in fresh.TEMPLATES.values():
        tasks = [fresh.candidate(SEED, template, index) for index in range(6)]
        assert len({task.start for task in tasks}) == len(tasks), template.name
        assert all(task.start != task.target and task.instruction for task in tasks)


def test_references_of_40_tasks_and_more_leave_the_target_under_both_protocols() -> None:
    tasks = [fresh.candidate(SEED, template, 0) for template in fresh.TEMPLATES.values()]
    assert len(tasks) >= 40
    for protocol in Protocol:
        answers = [keys.translate(task.reference or "", Protocol.BENCH, protocol) for task in tasks]
        played = replay_many(
            ReplayRequest(protocol, task.start, answer) for task, answer in zip(tasks, answers, strict=True)
        )
        for task, answer, done in zip(tasks, answers, played, strict=True):
            assert done.final == task.target.encode(), f"{task.id} {protocol}: {done.last_error}"
            assert done.first_error is None, task.id
            if protocol is Protocol.GOLF:
                assert golf_keys(answer) < len(task.target), task.id


# --- the same everywhere, new under each seed


def test_draws_depend_on_nothing_but_the_seed() -> None:
    one = apart(DRAW_ALL, PYTHONHASHSEED="1", LC_ALL="C")
    other = apart(DRAW_ALL, PYTHONHASHSEED="2", LC_ALL="C.UTF-8", TZ="Asia/Tokyo")
    assert one == other
    assert one[:16] == DRAWN[fresh.GENERATOR], "other tasks than before: raise GENERATOR, and pin them here"


def test_generating_twice_gives_the_same_bytes(made: generate.Generated, tmp_path: Path) -> None:
    outs = [tmp_path / f"{hash_seed}.jsonl" for hash_seed in (1, 2)]
    for out in outs:
        apart(
            "import sys; from vimlib import cli; cli.main(sys.argv[1:])",
            *("generate", "fresh", "--seed", str(SEED), "--count", "4", "--no-cache", "--out", str(out)),
            PYTHONHASHSEED=out.stem,
        )
    assert outs[0].read_bytes() == outs[1].read_bytes()
    # here, among more tasks and compared in several processes, the same tasks come out
    assert set(outs[0].read_bytes().splitlines()[1:]) < set(as_jsonl(made.suite).splitlines()[1:])


def test_three_seeds_share_neither_ids_nor_buffers() -> None:
    suites = [draws(seed, 200) for seed in (1, 2, 3)]
    tasks = [task for suite in suites for task in suite]
    for part in ("id", "start", "target"):
        assert len({getattr(task, part) for task in tasks}) == 600, part
    assert all(
        task.id.startswith(f"fresh-{seed}-t") for seed, suite in enumerate(suites, 1) for task in suite
    )


def test_most_lines_of_one_seed_are_not_in_another() -> None:
    lines = [
        {line for task in draws(seed, 100) for line in task.start.splitlines() if len(line) > 20}
        for seed in (1, 2)
    ]
    assert len(lines[0] & lines[1]) < 0.02 * len(lines[0])


def test_a_larger_suite_holds_the_smaller_one() -> None:
    assert {task.id for task in draws(SEED, 40)} <= {task.id for task in draws(SEED, 90)}


# --- what is kept


def test_kept_tasks_keep_the_rules(made: generate.Generated) -> None:
    assert len(made.suite.tasks) == COUNT
    assert sum(made.kept.values()) == COUNT
    assert Counter(task.tier for task in made.suite.tasks) == {1: 2, 2: 2, 3: 2, 4: 2}
    for task in made.suite.tasks:
        for protocol in Protocol:
            reference = keys.translate(task.reference or "", Protocol.BENCH, protocol)
            length = own_count(reference, protocol)
            by_solver = {
                name: own_count(answer, protocol)
                for name in ("diff", "retype")
                if (answer := SOLVERS[name](task, protocol)) is not None
            }
            assert length < by_solver["retype"], task.id
            share = 5 if task.tier in (3, 4) else 4
            assert share * length <= 4 * by_solver["diff"], task.id
            (played,) = replay_many([ReplayRequest(protocol, task.start, reference)])
            assert played.final == task.target.encode(), task.id
            (untouched,) = replay_many([ReplayRequest(protocol, task.start, "ZZ")])
            assert untouched.final != task.target.encode(), task.id


def spoiled(reason: Reason) -> Task:
    """A task of tier 3 that breaks the rule."""
    task = fresh.candidate(SEED, fresh.TEMPLATES["pad-ids"], 0)
    match reason:
        case Reason.REFERENCE_FAILS:
            return replace(task, reference="ddZZ")
        case Reason.NOOP_PASSES:
            return replace(task, start=task.target, reference="ZZ")
        case _:
            return Task("easy", "ab\n" * 9, "ab\n" * 8, tier=3, reference="ddZZ")


@pytest.mark.parametrize("reason", [Reason.REFERENCE_FAILS, Reason.NOOP_PASSES, Reason.NOT_BELOW_DIFF])
def test_a_candidate_that_breaks_a_rule_is_rejected_for_it(reason: Reason) -> None:
    task = spoiled(reason)
    assert reasons_against([task]) == {task.id: reason}


def test_a_reference_is_measured_against_the_solvers_by_tier() -> None:
    easy = Task("easy", "ab\ncd\nef\n", "ab\nef\n")
    shortest = SOLVERS["diff"](easy, Protocol.BENCH)
    assert shortest is not None
    assert too_long(replace(easy, tier=1, reference=shortest)) is None
    assert too_long(replace(easy, tier=1, reference=f"h{shortest}")) is Reason.NOT_BELOW_DIFF
    assert too_long(replace(easy, tier=3, reference=shortest)) is Reason.NOT_BELOW_DIFF
    retyped = SOLVERS["retype"](easy, Protocol.BENCH)
    assert too_long(replace(easy, tier=1, reference=retyped)) is Reason.NOT_BELOW_RETYPE


def test_a_rejected_candidate_is_replaced_by_the_next_of_its_template(
    monkeypatch: pytest.MonkeyPatch, made: generate.Generated
) -> None:
    draw = fresh.candidate

    def faulty(seed: int, template: fresh.Template, index: int) -> Task:
        task = draw(seed, template, index)
        return replace(task, reference="ddZZ") if index == 0 and template.tier == 3 else task

    monkeypatch.setattr(fresh, "candidate", faulty)
    other = generate_fresh(SEED, 4)
    ids = [task.id for task in other.suite.tasks]
    assert [task_id[-3:] for task_id in ids] == ["000", "000", "001", "000"]
    assert [(one.template, one.reason) for one in other.rejected] == [("title-case", Reason.REFERENCE_FAILS)]
    assert [tally.why for tally in other.by_template() if tally.rejected] == ["reference fails (1)"]


def test_a_task_that_is_there_already_is_not_taken_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = fresh.candidate

    def repeating(seed: int, template: fresh.Template, index: int) -> Task:
        return replace(draw(seed, template, index // 2), id=f"{template.name}-{index}")

    monkeypatch.setattr(fresh, "candidate", repeating)
    monkeypatch.setattr(fresh, "quotas", lambda count: {"repeat-block": count})
    other = generate_fresh(SEED, 2)
    assert [task.id for task in other.suite.tasks] == ["repeat-block-0", "repeat-block-2"]
    assert [one.reason for one in other.rejected] == [Reason.SAME]


def test_a_template_that_never_succeeds_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = fresh.candidate
    monkeypatch.setattr(
        fresh, "candidate", lambda seed, template, index: replace(draw(seed, template, index), reference="ZZ")
    )
    monkeypatch.setattr(fresh, "quotas", lambda count: {"divider": count})
    with pytest.raises(
        TemplateFails, match=r"template divider: 11 of its candidates .* reference fails \(11\)"
    ):
        generate_fresh(SEED, 1)


@pytest.mark.parametrize(("seed", "count"), [(-1, 5), (1, 0), (1, -3)])
def test_a_seed_or_count_that_makes_no_suite_is_refused(seed: int, count: int) -> None:
    with pytest.raises(BadRequest, match=f"seed {seed} and count {count}"):
        generate_fresh(seed, count)


# --- the file


def test_a_written_suite_comes_back_with_name_version_and_hash(
    made: generate.Generated, tmp_path: Path
) -> None:
    path = tmp_path / "copied-and-renamed.jsonl"
    path.write_bytes(as_jsonl(made.suite))
    suite = load_suite(path)
    assert (suite.name, suite.version) == ("fresh", f"seed-{SEED}-count-{COUNT}-g{fresh.GENERATOR}")
    assert suite.hash == made.suite.hash
    assert suite.tasks == made.suite.tasks
    assert suite.protocols == made.suite.protocols
    assert suite.licence == "MIT"
    assert suite.source_sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_file_changed_under_its_header_is_refused(made: generate.Generated, tmp_path: Path) -> None:
    path = tmp_path / "changed.jsonl"
    header, *rows = as_jsonl(made.suite).decode().splitlines()
    path.write_text("\n".join([header, *rows[1:]]), encoding="utf-8")
    with pytest.raises(
        ChangedSuite, match=r"changed\.jsonl, line 1: the header speaks of tasks with the hash"
    ):
        load_suite(path)
    path.write_text("\n".join(rows[1:]), encoding="utf-8")
    assert load_suite(path).name == "changed"


def test_a_header_without_tasks_is_no_suite(made: generate.Generated, tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_bytes(as_jsonl(build_suite("fresh", [], fresh.PROTOCOLS, origin="")))
    with pytest.raises(NoTasks):
        load_suite(path)


def test_the_command_writes_where_it_says_and_reports_by_template(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        cli.main(["generate", "fresh", "--seed", "3", "--count", "2", "--report"])
    assert ended.value.code == 0
    out = Path("data/cache/suites/fresh-seed-3-count-2.jsonl")
    said = capsys.readouterr().out.splitlines()
    assert said[0].split() == ["template", "kept", "rejected", "why"]
    assert [line.split() for line in said[1:-1]] == [["case-lines", "1", "0"], ["sql-upper", "1", "0"]]
    assert said[-1].startswith(f"{out}: 2 tasks, fresh seed-3-count-2-g{fresh.GENERATOR} (")
    first, *rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert first["suite"] == "fresh"
    assert len(rows) == 2


# --- the page


def test_the_table_of_templates_in_the_documentation_is_current() -> None:
    page = (PROJECT / "docs" / "fresh.md").read_text(encoding="utf-8")
    assert page.endswith("## Templates\n\n" + fresh.template_table())
