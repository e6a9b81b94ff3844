"""`vimlib fetch`, `generate` and `verify`: where tasks come from, and whether they can be solved."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from vimlib.cli import options as shared
from vimlib.cli.options import REJECTED, confinement_asked, executor_asked, good
from vimlib.cli.terminal import BadOutput, output, say, show, shows_progress, table
from vimlib.records import Outcome, Protocol, VimlibError

if TYPE_CHECKING:
    from vimlib.generate.twins import Twin
    from vimlib.judge import Verdict


class WrongFetch(VimlibError):
    """Options of `vimlib fetch` that do not go together."""

    exit_code = 2


def _verify(options: argparse.Namespace) -> int:
    from vimlib.judge import judge
    from vimlib.solvers import solver_run
    from vimlib.suites import load_suite

    failed = False
    rejected: list[str] = []
    for suite in good(load_suite, options.suite or ["seed"], rejected):
        protocols = [Protocol(options.protocol)] if options.protocol else suite.protocols
        runs = [solver_run("reference", suite, protocol) for protocol in protocols]
        judged = judge(
            runs,
            [suite],
            confinement=confinement_asked(options),
            cache=options.cache,
            executor=executor_asked(options),
            progress=shows_progress(),
        )
        lacking = {task.id for task in suite.tasks if task.reference is None}
        verified = {task.id for task in suite.tasks} - lacking
        for run in judged.runs:
            passed = {one.attempt.task_id for one in run.verdicts if one.score.passed}
            whys = {one.attempt.task_id: _why_failed(one) for one in run.verdicts}
            for task_id in sorted(verified - passed):
                failed = True
                why = whys.get(task_id, "its reference cannot be said in this notation")
                say(f"{suite.name}: {task_id}: the reference fails under {run.run.protocol} ({why})")
        for run in judged.runs:
            verified &= {one.attempt.task_id for one in run.verdicts if one.score.passed}
        checked = len(suite.tasks) - len(lacking)
        without = f" ({len(lacking)} tasks have no reference)" if lacking else ""
        show(f"{suite.name}: {len(verified)}/{checked} verified under {' and '.join(protocols)}{without}")
        if checked == 0:
            failed = True
            say(f"{suite.name}: no task has a reference; there is nothing to verify")
    for line in rejected:
        say(line)
    return 1 if failed else REJECTED if rejected else 0


def _generate_fresh(options: argparse.Namespace) -> int:
    from vimlib.generate import generate_fresh
    from vimlib.suites.jsonl import as_jsonl

    out = _suite_file(options.out, f"fresh-seed-{options.seed}-count-{options.count}")
    made = generate_fresh(
        options.seed,
        options.count,
        confinement=confinement_asked(options),
        cache=options.cache,
        executor=executor_asked(options),
        progress=shows_progress(),
    )
    with output(out) as file:
        file.write(as_jsonl(made.suite).decode())
    if options.report:
        heads = ("template", "kept", "rejected", "why")
        table(heads, [[row.template, row.kept, row.rejected, row.why] for row in made.by_template()])
    suite = made.suite
    show(f"{out}: {len(suite.tasks)} tasks, {suite.name} {suite.version} ({suite.hash[:12]})")
    return 0


def _generate_twins(options: argparse.Namespace) -> int:
    from vimlib.generate.twins import generate_twins
    from vimlib.suites import load_suite, read_solutions
    from vimlib.suites.jsonl import as_jsonl
    from vimlib.suites.reading import MissingFile

    suite = load_suite(options.suite)
    published = None
    if options.solutions is not None:
        try:
            raw = options.solutions.read_bytes()
        except OSError as error:
            raise MissingFile(
                f"{options.solutions}: cannot be read ({error.strerror}); "
                "expected JSONL with challenge_id, keys, source"
            ) from error
        published, notes = read_solutions(suite.tasks, str(options.solutions), raw)
        for note in notes:
            say(note)
    out = _suite_file(options.out, f"twins-of-{suite.name}-{suite.hash[:12]}-seed-{options.seed}")
    made = generate_twins(
        suite,
        seed=options.seed,
        published=published,
        confinement=confinement_asked(options),
        cache=options.cache,
        executor=executor_asked(options),
        progress=shows_progress(),
    )
    with output(out) as file:
        file.write(as_jsonl(made.suite).decode())
    if options.report:
        heads = ("task", "twin", "changed", "solutions that work", "unchanged they work")
        table(
            heads,
            [
                *map(_twin_row, made.twins),
                *([key, why, None, None, None] for key, why in made.lacking.items()),
            ],
        )
    show(made.summary())
    show(
        f"{out}: {len(made.suite.tasks)} tasks, {made.suite.name} {made.suite.version} "
        f"({made.suite.hash[:12]})"
    )
    return 0


def _twin_row(twin: Twin) -> list[object]:
    of = len(twin.solutions)
    return [
        twin.original.id,
        twin.task.id,
        f"{twin.changed:.0%}",
        f"{sum(twin.works)}/{of}" if of else None,
        f"{sum(twin.verbatim)}/{of}" if of else None,
    ]


def _suite_file(asked: Path | None, name: str) -> Path:
    """Where a drawn suite goes: as asked, else by its name to the suites in the cache. Raises BadOutput."""
    if asked is not None:
        return asked
    file = Path(f"data/cache/suites/{name}.jsonl")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadOutput(
            f"{file.parent}: cannot be made ({error.strerror}); name a file with --out"
        ) from error
    return file


def _why_failed(verdict: Verdict) -> str:
    replay = verdict.replay
    if verdict.score.correct and verdict.score.over_cap:
        return f"its {verdict.score.keystrokes} keys are as many as the target has characters, or more"
    if replay is None or replay.outcome in (Outcome.FINISHED, Outcome.UNFINISHED):
        return "the file it leaves is not the target"
    return f"{replay.outcome}: {replay.detail}" if replay.detail else replay.outcome


def _fetch(options: argparse.Namespace) -> int:
    from vimlib.suites import Additions, fetch_challenge, fetch_vimbench, fetch_vimgolf

    additions = Additions(options.statistics, options.solutions, options.solutions_as_references)
    if options.name == "vimbench":
        if additions != Additions() or options.challenge:
            raise WrongFetch("vimbench: takes no challenge, statistics or solutions; they are VimGolf's")
        done = fetch_vimbench(revision=options.revision, base_url=options.base_url, offline=options.offline)
    elif options.challenge:
        if options.revision:
            raise WrongFetch("a single challenge has no revision; give --challenge or --revision")
        done = fetch_challenge(
            options.challenge, base_url=options.base_url, offline=options.offline, additions=additions
        )
    else:
        done = fetch_vimgolf(
            revision=options.revision,
            endpoint=options.base_url,
            offline=options.offline,
            additions=additions,
        )
    suite = done.suite
    heads = ("suite", "version", "tasks", "with reference", "published", "revision", "licence", "fetched")
    row = (
        suite.name,
        suite.version,
        len(suite.tasks),
        sum(task.reference is not None for task in suite.tasks),
        len(suite.published),
        suite.revision and suite.revision[:12],
        suite.licence or "not stated",
        f"{suite.fetched:%Y-%m-%d %H:%M} UTC",
    )
    table(heads, [row])
    for note in done.notes:
        say(note)
    return 0


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this module's commands."""
    verify = commands.add_parser(
        "verify",
        parents=[shared.suites(), shared.one_protocol(), shared.replaying()],
        help="replay every reference of a suite",
    )
    verify.set_defaults(run=_verify)

    generate = commands.add_parser(
        "generate", help="make a suite that no model has seen, and write it to a file"
    )
    kinds = generate.add_subparsers(metavar="SUITE", required=True)
    fresh = kinds.add_parser("fresh", parents=[shared.replaying()], help="tasks drawn from templates")
    fresh.add_argument("--seed", type=int, required=True, help="the same seed gives the same tasks")
    fresh.add_argument("--count", type=int, default=200, help="tasks (%(default)s)")
    fresh.add_argument(
        "--out",
        type=Path,
        metavar="FILE.jsonl",
        help="the suite (data/cache/suites/fresh-seed-N-count-K.jsonl)",
    )
    fresh.add_argument("--report", action="store_true", help="print by template what was kept and rejected")
    fresh.set_defaults(run=_generate_fresh)
    twins = kinds.add_parser(
        "twins", parents=[shared.replaying()], help="the tasks of a suite with other words in them"
    )
    twins.add_argument("--suite", required=True, metavar="SUITE", help="whose twins: a name or a file")
    twins.add_argument("--seed", type=int, default=0, help="the same seed gives the same words (%(default)s)")
    twins.add_argument(
        "--solutions",
        type=Path,
        metavar="FILE",
        help="published solutions (JSONL) that twins must keep alive",
    )
    twins.add_argument(
        "--out",
        type=Path,
        metavar="FILE.jsonl",
        help="the suite (data/cache/suites/twins-of-SUITE-HASH-seed-N.jsonl)",
    )
    twins.add_argument("--report", action="store_true", help="print a row a task")
    twins.set_defaults(run=_generate_twins)

    fetch = commands.add_parser("fetch", help="fetch a public suite into the cache, pinned and checked")
    fetch.add_argument("name", choices=("vimgolf", "vimbench"), help="the suite")
    fetch.add_argument("--challenge", metavar="ID", help="one challenge of vimgolf.com, as suite vimgolf-ID")
    fetch.add_argument("--revision", metavar="COMMIT", help="another than the pinned revision")
    fetch.add_argument(
        "--offline", action="store_true", help="use only the cache (as HF_HUB_OFFLINE does): check, add files"
    )
    fetch.add_argument("--base-url", metavar="URL", help="a mirror to fetch from")
    fetch.add_argument(
        "--statistics", type=Path, metavar="FILE", help="the site's statistics (JSON list) to keep with it"
    )
    fetch.add_argument(
        "--solutions", type=Path, metavar="FILE", help="published solutions (JSONL) to keep with it"
    )
    fetch.add_argument(
        "--solutions-as-references",
        action=argparse.BooleanOptionalAction,
        help="the shortest verified solution of a task is its reference: another version of the suite",
    )
    fetch.set_defaults(run=_fetch)
