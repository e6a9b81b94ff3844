"""`vimlib compare` and `rejudge`: runs against each other, and verdicts against those of another Vim."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vimlib.cli import options as shared
from vimlib.cli.options import REJECTED, confinement_asked, executor_asked
from vimlib.cli.terminal import say, show, shows_progress, table
from vimlib.records import VimlibError

if TYPE_CHECKING:
    from vimlib.analysis.compare import Comparison

BEYOND = 4
"""Exit code: the whole interval of a difference lies beyond a limit of `--fail-if`."""
UNDECIDED = 5
"""Exit code: with `--strict`, the data cannot tell."""

_LISTED = 12
"""Tasks named in a line; JSON has them all."""


class WrongRejudge(VimlibError):
    """Options of `vimlib rejudge` that do not go together."""

    exit_code = 2


def _compare(options: argparse.Namespace) -> int:
    from vimlib import store
    from vimlib.analysis.compare import Verdict, compare, held_against, parse_limit

    limits = [parse_limit(text) for text in options.fail_if]
    con = store.connect(options.database, with_errata=options.with_errata)
    found = compare(
        con,
        options.base,
        options.candidate,
        metric=options.metric,
        alpha=options.alpha,
        seed=options.seed,
        about=options.about,
        suite=options.suite,
        protocol=options.protocol or "",
    )
    verdicts = [(limit, held_against(found, limit)) for limit in limits]
    if options.json:
        gate = [{"limit": str(limit), "verdict": verdict.value} for limit, verdict in verdicts]
        print(json.dumps({**_as_json(found), "gate": gate}, ensure_ascii=False, indent=2, allow_nan=False))
    else:
        _print(found)
        for limit, verdict in verdicts:
            show(f"{limit}: {_GATE[verdict]}")
    said = {verdict for _, verdict in verdicts}
    if Verdict.BEYOND in said:
        return BEYOND
    return UNDECIDED if options.strict and Verdict.UNDECIDED in said else 0


_GATE = {
    "beyond": "yes, the whole interval of the difference lies beyond it",
    "within": "no, the whole interval of the difference lies within it",
    "undecided": "the data cannot decide",
}


def _print(found: Comparison) -> None:
    from vimlib.analysis.compare import confounders, plain_rows, sentence

    for what, side in (("base", found.base), ("candidate", found.candidate)):
        counts = side.counts
        errors = counts["provider_error"] + counts["unscored"]
        show(
            f"{what:<9}  {side.label}: {counts['passed']} of {counts['scored']} scored samples pass,"
            f" {errors} errors ({', '.join(side.runs)})"
        )
    show(f"on         {found.suite_name} {found.suite_version[:12]} under {found.protocol}")
    if found.why:
        show(f"chosen     {found.why}")
    for line in confounders(found):
        say(line)
    print()
    heads = (
        "metric",
        "tasks",
        "base",
        "candidate",
        "difference",
        "interval",
        "more",
        "fewer",
        "p",
        "p Holm",
        "",
    )
    table(heads, (_line(row) for row in plain_rows(found.metrics)))
    for name, title in (("tiers", "tier"), ("categories", "category")):
        parts = getattr(found, name)
        if len(parts):
            print()
            table((title, *heads[1:]), (_line(row) for row in plain_rows(parts)))
    print()
    show(sentence(found))
    for change, rows in found.flips.groupby("change", sort=False):
        more = f" and {len(rows) - _LISTED} more" if len(rows) > _LISTED else ""
        show(f"{change}: {', '.join(rows['task_id'][:_LISTED])}{more}")
    if len(found.unpaired):
        show(f"not compared: {len(found.unpaired)} tasks without a verdict on both sides")


def _line(row: dict[Any, Any]) -> list[object]:
    def number(name: str, form: str = ".3f") -> str:
        return "unavailable" if row[name] is None else format(row[name], form)

    form = {"tokens": ",.1f", "USD": ",.5f"}.get(row.get("unit", ""), ".3f")
    signed = "+" + form
    what = row["metric"] if "metric" in row else "none" if row["part"] is None else row["part"]
    if row["reason"]:
        return [what, row["tasks"], *["unavailable"] * 4, *[""] * 4, row["reason"]]
    low, high = (number(bound, signed) for bound in ("low", "high"))
    return [
        what,
        row["tasks"],
        number("base", form),
        number("candidate", form),
        number("difference", signed),
        "unavailable" if low == high == "unavailable" else f"{low} to {high}",
        row["more"],
        row["fewer"],
        number("p_value", ".3g"),
        number("p_holm", ".3g"),
        "",
    ]


def _as_json(found: Comparison) -> dict[str, Any]:
    """Everything of a comparison; null for what is not known."""
    from vimlib.analysis.compare import confounders, plain_rows, sentence

    sides = {
        what: {"label": side.label, "runs": list(side.runs), **side.counts}
        for what, side in (("base", found.base), ("candidate", found.candidate))
    }
    plain = ("suite_name", "suite_version", "protocol", "metric", "alpha", "seed")
    frames = ("metrics", "tiers", "categories", "flips", "unpaired", "conditions")
    return {
        **sides,
        **{name: getattr(found, name) for name in plain},
        "sentence": sentence(found),
        "warnings": confounders(found),
        **{name: plain_rows(getattr(found, name)) for name in frames},
    }


def _rejudge(options: argparse.Namespace) -> int:
    from contextlib import closing

    from vimlib import store
    from vimlib.analysis import rejudged
    from vimlib.analysis.compare import every_run, plain_rows
    from vimlib.rejudge import rejudge

    if options.vim and options.scheduler:
        raise WrongRejudge("--vim and --scheduler: a cluster replays with its own Vim; leave one of them out")
    with closing(store.connect(options.database)) as con:
        runs = every_run(con, options.runs)
    done = rejudge(
        options.database,
        runs,
        vim=options.vim,
        extract_again=options.extract_again,
        confinement=confinement_asked(options),
        cache=options.cache,
        executor=executor_asked(options),
        progress=shows_progress(),
    )
    with closing(store.connect(options.database)) as con:
        found = rejudged.rejudged(con, done.judgement_id)
        changed = rejudged.changed(con, done.judgement_id)
    table(_HEADS, ([row[head] for head in _HEADS] for row in plain_rows(found)))
    print(
        f"\nVim {done.vim.version} ({done.vim.sha256[:12]}), judgement {done.judgement_id}:"
        f" {done.replays} distinct replays, {done.replayed} done now"
    )
    show(rejudged.sentence(found))
    for row in plain_rows(changed)[: options.top]:
        verdict = "passes now" if row["new_passed"] else "fails now"
        ends = f"{row['outcome']}, now {row['new_outcome']}"
        show(f"{row['name']} {row['task_id']} {verdict} ({ends}): {row['new_keys']}")
    if len(changed) > options.top:
        show(f"and {len(changed) - options.top} more")
    for line in done.notes:
        say(line)
    return REJECTED if done.notes else 0


_HEADS = (
    *("name", "suite_name", "protocol", "vim_version", "answers", "passed", "new_passed"),
    *("newly_passing", "newly_failing", "other_file", "other_end", "unscored"),
)


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this module's commands."""
    compare = commands.add_parser(
        "compare",
        help="compare two runs on the tasks that both attempted",
        description="Exit codes of the gate: 4, the whole interval of the difference lies beyond a limit of"
        " --fail-if; 5, with --strict, the data cannot decide; 0 else.",
    )
    names = "a run's id, the beginning of one, a model's name, or 'latest'; several with commas are a group"
    compare.add_argument("base", nargs="?", default="", metavar="BASE", help=names)
    compare.add_argument(
        "candidate", nargs="?", default="", metavar="CANDIDATE", help="the same; by default 'latest'"
    )
    compare.add_argument(
        "--database", type=Path, default=Path("data/vimlib.duckdb"), help="the store (%(default)s)"
    )
    compare.add_argument("--suite", default="", metavar="NAME", help="only runs on the suite of this name")
    compare.add_argument("--protocol", choices=("golf", "bench"), help="only runs under this protocol")
    compare.add_argument(
        "--metric",
        default="pass_rate",
        help="what the sentence, tiers and categories are about (%(default)s)",
    )
    compare.add_argument(
        "--about", default="", metavar="CONDITION", help="what is under study, instead of the model"
    )
    compare.add_argument("--alpha", type=float, default=0.05, help="level of the tests (%(default)s)")
    compare.add_argument("--seed", type=int, default=1, help="of the resampling (%(default)s)")
    compare.add_argument(
        "--with-errata", action="store_true", help="count tasks that cannot be judged fairly too"
    )
    compare.add_argument("--json", action="store_true", help="print everything as JSON")
    compare.add_argument(
        "--fail-if",
        action="append",
        default=[],
        metavar="LIMIT",
        help="exit 4 if the difference is surely beyond it, such as 'pass_rate < -0.02'; repeatable",
    )
    compare.add_argument("--strict", action="store_true", help="exit 5 if the data cannot decide")
    compare.set_defaults(run=_compare)

    rejudge = commands.add_parser(
        "rejudge",
        parents=[shared.replaying()],
        help="judge stored answers once more: does a result depend on the Vim?",
        description="The new verdicts are kept beside those that count, and the two are compared.",
    )
    rejudge.add_argument(
        "runs", nargs="*", metavar="RUN", help="names as of `vimlib compare`; by default all"
    )
    rejudge.add_argument(
        "--database", type=Path, default=Path("data/vimlib.duckdb"), help="the store (%(default)s)"
    )
    rejudge.add_argument(
        "--vim",
        default="",
        metavar="PATH",
        help="another Vim; one without +eval (vim.tiny) judges bench alone",
    )
    rejudge.add_argument(
        "--extract-again", action="store_true", help="take the keys from the completions by today's rule"
    )
    rejudge.add_argument("--top", type=int, default=20, help="changed verdicts to list (%(default)s)")
    rejudge.set_defaults(run=_rejudge)
