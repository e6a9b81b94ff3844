"""Tasks that no model can have seen: drawn from templates by a seed, the same everywhere.

A public task may have been part of a model's training; a drawn one cannot, and a template that
is solved once in many draws tells luck from skill. This package only draws: a task is a pure
function of seed, template and index, whatever the machine, the version of Python, the hash seed
or the locale. Whether a drawn task is good enough to keep is found by playing it, in `generate`.
"""

from __future__ import annotations

from collections.abc import Mapping

from vimlib.records import Protocol, Task
from vimlib.suites.fresh import tier1, tier2, tier3, tier4
from vimlib.suites.fresh.draw import Draw
from vimlib.suites.fresh.template import Draft, Template

__all__ = [
    "GENERATOR",
    "LICENCE",
    "NAME",
    "PROTOCOLS",
    "TEMPLATES",
    "Draft",
    "Template",
    "candidate",
    "quotas",
    "template_table",
    "version",
]

NAME = "fresh"
GENERATOR = 1
"""Of what is drawn and kept: raised whenever the same seed may give other tasks than before."""
PROTOCOLS = (Protocol.BENCH, Protocol.GOLF)
LICENCE = "MIT"

TEMPLATES: Mapping[str, Template] = {
    template.name: template
    for tier in (tier1, tier2, tier3, tier4)
    for template in tier.TEMPLATES
}  # fmt: skip
"""All templates by name, tier after tier."""


def version(seed: int, count: int) -> str:
    """The version of the suite of `count` tasks that `seed` gives."""
    return f"seed-{seed}-count-{count}-g{GENERATOR}"


def candidate(seed: int, template: Template, index: int) -> Task:
    """The task number `index` (from 0) of a template under a seed, not yet known to be good."""
    drawn = template.make(Draw(f"{NAME}|{seed}|{template.name}|{index}"))
    return Task(
        id=f"{NAME}-{seed}-t{template.tier}-{template.name}-{index:03}",
        start=drawn.start,
        target=drawn.target,
        instruction=drawn.instruction,
        title=template.title,
        tier=template.tier,
        category=template.category,
        reference=drawn.reference,
        reference_notation=Protocol.BENCH,
    )


def quotas(count: int) -> dict[str, int]:
    """How many of `count` tasks each template gives: the tiers in turn, within a tier its templates."""
    tiers = [tier.TEMPLATES for tier in (tier1, tier2, tier3, tier4)]
    shares = dict.fromkeys(TEMPLATES, 0)
    for turn in range(count):
        round_, place = divmod(turn, len(tiers))
        templates = tiers[place]
        shares[templates[round_ % len(templates)].name] += 1
    return shares


def template_table() -> str:
    """The templates as a table in Markdown, one a row, for the documentation."""
    rows = ["| tier | template | what it asks for | what makes it hard |", "| --- | --- | --- | --- |"]
    for template in TEMPLATES.values():
        rows.append(f"| {template.tier} | `{template.name}` | {template.title} | {template.hard} |")
    return "\n".join(rows) + "\n"
