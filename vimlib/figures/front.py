"""The front page: what a reader should know after ten seconds."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from vimlib.analysis.front import Finding, Lead
from vimlib.analysis.headlines import changes
from vimlib.figures.blocks import Block, Linked, Tile, lede, tiles
from vimlib.figures.canvas import plain
from vimlib.figures.sections import (
    floor_of,
    headline,
    labels,
    number_of,
    rate_words,
    records,
    sections,
    track_words,
)
from vimlib.figures.tables import (
    count,
    missing,
    percent,
)


def findings(runs: pd.DataFrame, disagreements: pd.DataFrame, leads: Sequence[Lead] = ()) -> Block:
    """The sentences at the top of the page: who leads in each section and whether that is more than
    chance, then what qualifies them."""
    cut = sections(runs)
    paired = {lead.best: lead.said for lead in leads if lead.said is not None}
    sentences = []
    for title, _, rows in cut:
        if (rows["kind"] == "model").any():
            told = [f"{title}: {headline(rows)}."]
            told += [_task_by_task(paired[run]) for run in rows["run_id"] if run in paired]
            sentences.append(" ".join(told))
    alone = [
        f"{rate_words(floor)} in {title}"
        for title, _, rows in cut
        if not (rows["kind"] == "model").any() and (floor := floor_of(records(rows))) is not None
    ]
    if alone:
        intro = (
            "Without a model to compare"
            if sentences
            else "No model was loaded yet, so this is the floor to beat"
        )
        sentences.append(f"{intro}: the diff solver passes {'; '.join(alone)}.")
    models = runs[runs["kind"] == "model"]
    errors = int(runs["provider_errors"].sum() + runs["harness_errors"].sum())
    answers = int(runs["samples"].sum())
    if errors:
        sentences.append(
            f"{count(errors)} of {count(answers)} samples failed outside the answer (provider or harness); "
            "they are counted apart and not as failures of a model."
        )
    verdicts = int(models["source_verdicts"].sum())
    if verdicts:
        differ = len(disagreements)
        sentences.append(
            f"Replayed here, {count(differ)} of {count(verdicts)} verdicts differ from the source’s own."
            if differ
            else f"Replayed here, all {count(verdicts)} verdicts that a source recorded come out the same."
        )
    return lede(sentences)


def _task_by_task(said: str) -> str:
    """The paired comparison after the headline; that both pass the same is not said again."""
    same, _, chance = said.partition("; ")
    if " both pass " in same and same.endswith(("common task", "common tasks")):
        return f"Task by task {_unbroken(chance)}"
    return f"Task by task: {_unbroken(said)}"


def _unbroken(said: str) -> str:
    """A sentence whose numbers keep their signs beside them at the end of a line."""
    for sign in (" %", "p = ", "p < "):
        said = said.replace(sign, sign.replace(" ", "\u00a0"))
    return said


def key_numbers(runs: pd.DataFrame) -> Block:
    """The tiles below the findings."""
    models, solvers = runs[runs["kind"] == "model"], runs[runs["kind"] == "solver"]
    scored, samples = int(runs["scored"].sum()), int(runs["samples"].sum())
    provider, harness = int(runs["provider_errors"].sum()), int(runs["harness_errors"].sum())
    total = models["total_tokens"].sum(min_count=1) if len(models) else None
    return tiles(
        [
            Tile(
                "Runs",
                count(len(runs)),
                f"{count(len(models))} of {number_of(models['name'].nunique(), 'model')}, "
                f"{count(len(solvers))} of {number_of(solvers['name'].nunique(), 'solver')}",
            ),
            Tile(
                "Answers scored",
                count(scored),
                f"of {count(samples)} samples, in {number_of(len(sections(runs)), 'section')}",
            ),
            Tile(
                "Errors, not failures",
                count(provider + harness),
                f"{count(provider)} of the provider, {count(harness)} of the harness",
                warn=bool(provider + harness),
            ),
            Tile("Tokens of models", count(total), _token_parts(models)),
        ]
    )


def since(before: Mapping[str, Any] | None, now: Mapping[str, Any]) -> Block:
    """What changed since an earlier report; both as `analysis.headlines.headlines` gives them."""
    if before is None:
        return Block('<p class="empty">This is the first report of its name: nothing to compare with.</p>')
    when = pd.Timestamp(before["created"])
    label = f"{when:%Y-%m-%d %H:%M} UTC"
    found = changes(before, now)
    if not found:
        return Block(f'<p class="empty">No run and no verdict has changed since {label}.</p>')
    sentences = []
    for run in found.new[:MOST_CHANGES]:
        sentences.append(f"New: {_run_words(run)}.")
    if len(found.new) > MOST_CHANGES:
        sentences.append(f"{number_of(len(found.new) - MOST_CHANGES, 'more new run')}.")
    for old, run in found.rejudged[:MOST_CHANGES]:
        sentences.append(
            f"Judged anew: {_name(run)}, {_where(run)}, passed {count(old['passed'])} of "
            f"{count(old['scored'])} and now {count(run['passed'])} of {count(run['scored'])}."
        )
    if len(found.rejudged) > MOST_CHANGES:
        sentences.append(f"{number_of(len(found.rejudged) - MOST_CHANGES, 'more run')} judged anew.")
    if found.gone:
        sentences.append(f"No longer in the store: {number_of(len(found.gone), 'run')}.")
    items = "".join(f"<li>{html.escape(one)}</li>" for one in sentences)
    return Block(f'<p class="say">Against the report of {label}:</p><ul class="news">{items}</ul>')


def _name(run: Mapping[str, Any]) -> str:
    return plain(str(run["name"]).rsplit("/", 1)[-1], 60)


def _where(run: Mapping[str, Any]) -> str:
    return f"{plain(run['suite'], 60)} under {run['protocol']}{track_words(str(run['track']))}"


def _run_words(run: Mapping[str, Any]) -> str:
    passed = (
        f"passes {count(run['passed'])} of {count(run['scored'])} ({percent(run['pass_rate']['value'])})"
        if run["scored"]
        else "has nothing that could be scored"
    )
    kind = "the solver " if run["kind"] == "solver" else ""
    return f"{kind}{_name(run)} on {_where(run)} {passed}"


def worth_reading(found: Sequence[Finding], runs: pd.DataFrame, pages: Sequence[str] = ()) -> Block:
    """The findings as sentences, each with a link to the page that shows it, where the report has it."""
    names = labels(runs)
    sentences = []
    for one in found:
        words, page, label = _finding_words(one, names.get(one.run_id, one.run_id), names)
        sentences.append(Linked(words, page if page in pages else "", label))
    if not sentences:
        return Block('<p class="empty">Nothing stands out: there are too few answers of models.</p>')
    items = "".join(
        f"<li>{html.escape(one.text)}"
        + (f' <a href="{html.escape(one.link, quote=True)}">{html.escape(one.label)}</a>' if one.link else "")
        + "</li>"
        for one in sentences
    )
    return Block(f'<ol class="worth">{items}</ol>')


def _finding_words(one: Finding, name: str, names: Mapping[str, str]) -> tuple[str, str, str]:
    """Sentence, page that shows it, and what the link to it says."""
    n = {key: count(value) if isinstance(value, int) else str(value) for key, value in one.facts.items()}
    failures, board, cost = "failure_modes.html", "leaderboard.html", "load.html"
    match one.subject:
        case "failure":
            words = MODES.get(n["mode"], n["mode"].replace("_", " "))
            said = f"{n['failures']} of the {n['failed']} failed answers of {name} {words}."
            return said, failures, "Why answers fail"
        case "repair":
            return (
                f"{n['repaired']} of the {n['failed']} failed answers of {name} pass once mended by a small "
                f"rule, {n['by']} of them by “{n['repair'].replace('_', ' ')}”: this is form, not editing.",
                failures,
                "What would have mended them",
            )
        case "errors":
            return (
                f"{n['errors']} of {n['samples']} samples of {name} were lost to the provider or the "
                "harness; its rate rests on the rest.",
                board,
                "Rates with errors counted both ways",
            )
        case "cap":
            return (
                f"{name} makes {n['correct']} right edits, and {n['correct_over_cap']} of them do not pass: "
                "as many keys as the target has characters, or more.",
                failures,
                "Why answers fail",
            )
        case "disagreement":
            return (
                f"{n['disagreements']} of {n['verdicts']} verdicts that came with {name} are not ours: "
                "replayed, the answer does otherwise.",
                cost,
                "What was loaded",
            )
        case "tiers":
            return (
                f"{name} passes {n['best_passed']} of {n['best_scored']} in tier {n['best']} "
                f"and {n['worst_passed']} of {n['worst_scored']} in tier {n['worst']}; their intervals are "
                "apart.",
                board,
                "Leaderboard",
            )
        case "cost":
            other = names.get(n["other"], n["other"])
            return (
                f"A pass costs {name} {n['dear_tokens']} tokens ({n['dear_low']}–{n['dear_high']}; "
                f"{n['dear_attempts']} attempts) and {other}, on the same suite and rules, "
                f"{n['cheap_tokens']} ({n['cheap_low']}–{n['cheap_high']}; {n['cheap_attempts']}).",
                "token_cost.html",
                "Tokens and cost",
            )
        case "contamination":
            sign = one.facts["unit"]
            span = "–".join(f"{one.facts[side]:+.2f}".replace("-", "−") for side in ("low", "high"))
            return (
                f"{n['finding'].capitalize()} evidence from “{n['evidence']}” that {name} had seen tasks: "
                f"effect {one.facts['effect']:+.2f} {sign} ({span}; n = {n['n']}), "
                "corrected for all lines of evidence.",
                "contamination.html",
                "What speaks for contamination",
            )
        case _:
            return (
                f"The best model, {name}, passes {n['passed']} of {n['scored']}; the diff solver, no model "
                f"at all, {n['floor_passed']} of {n['floor_scored']}.",
                board,
                "Leaderboard",
            )


MODES: Final = {
    "prose": "are prose and no keystrokes",
    "fence": "fail because markup was taken as the answer",
    "split_answer": "fail because the solution spans several lines",
    "bad_notation": "are written in another notation",
    "no_answer": "are empty",
    "truncated": "were cut off by the token limit",
    "over_cap": "are over the key cap",
    "blocked": "tried what confinement forbids",
    "timeout": "met the limit of time or output",
    "quit_without_saving": "quit without saving",
    "unfinished": "ran out of keys before they saved",
    "vim_error": "end in an error of Vim",
    "no_change": "change nothing",
    "destructive": "leave the text further from the target than it was",
    "near_miss": "are near misses",
    "wrong_edit": "make another edit",
}
"""What answers of a failure mode do, as the end of a sentence."""

MOST_CHANGES: Final = 6
"""New or changed runs that are named one by one."""


def quality(runs: pd.DataFrame, spent: pd.DataFrame) -> Block:
    """What in the data should worry a reader, counted: errors, what cannot be replayed, what is not known.

    `spent`: the frame of `cost.by_run`.
    """
    models = runs[runs["kind"] == "model"]
    samples = int(models["samples"].sum())
    errors = int(models["provider_errors"].sum() + models["harness_errors"].sum())
    lost = int(models["not_replayable"].sum())
    verdicts, differ = int(models["source_verdicts"].sum()), int(models["disagreements"].sum())
    tried, billed, estimated = (int(spent[name].sum()) for name in ("attempts", "billed_n", "estimated_n"))
    unknown = tried - int(spent["cost_n"].sum())
    return tiles(
        [
            Tile("Errors", count(errors), f"of {count(samples)} samples of models", bool(errors)),
            Tile("Not replayable", count(lost), "samples with a verdict and no keys", bool(lost)),
            Tile(
                "Verdicts unlike ours",
                count(differ) if verdicts else "none given",
                f"of {count(verdicts)} that sources recorded",
                bool(differ),
            ),
            Tile(
                "Unknown costs",
                count(unknown),
                f"of {number_of(tried, 'attempt')} of models; {count(billed)} billed, "
                f"{count(estimated)} estimated",
                bool(unknown),
            ),
        ]
    )


def _token_parts(models: pd.DataFrame) -> str:
    if models.empty:
        return "no model was loaded"
    parts = [models[column].sum(min_count=1) for column in ("input_tokens", "output_tokens")]
    return (
        "not reported" if all(missing(p) for p in parts) else f"{count(parts[0])} in, {count(parts[1])} out"
    )
