"""What the overview shows, in one place: the parts that its page and others are made of.

sections: which runs may be compared, and what they are called. results, endings: pictures and tables
of a section. front: the sentences above them. provenance: what it was all made from. published: what
others have published.
"""

from __future__ import annotations

from vimlib.figures.endings import PARTS, ending, outcome_picture
from vimlib.figures.front import findings, key_numbers, quality, since, worth_reading
from vimlib.figures.provenance import source_table, suite_table, version_table
from vimlib.figures.published import published_picture, published_sections, published_table
from vimlib.figures.results import (
    TIERS,
    disagreement_table,
    pass_rates,
    results_table,
    tier_picture,
    token_table,
)
from vimlib.figures.sections import (
    GROUP,
    KINDS,
    RATE_HELP,
    comparability,
    headline,
    labels,
    part_of,
    ranked,
    section_facts,
    sections,
)

__all__ = [
    "GROUP",
    "KINDS",
    "PARTS",
    "RATE_HELP",
    "TIERS",
    "comparability",
    "disagreement_table",
    "ending",
    "findings",
    "headline",
    "key_numbers",
    "labels",
    "outcome_picture",
    "part_of",
    "pass_rates",
    "published_picture",
    "published_sections",
    "published_table",
    "ranked",
    "quality",
    "results_table",
    "section_facts",
    "sections",
    "since",
    "source_table",
    "suite_table",
    "tier_picture",
    "token_table",
    "version_table",
    "worth_reading",
]
