"""Tier 1: mechanical edits that line numbers say completely. Counting and the right operator decide.

What makes them more than typing is size: the buffers run to 200 lines, and whoever types the
result instead of naming the operation needs many times the keys.
"""

from __future__ import annotations

import codecs

from vimlib.suites.fresh import content
from vimlib.suites.fresh.draw import Draw
from vimlib.suites.fresh.template import Draft, Template, draft, span


def _prose(draw: Draw, lines: int, accents: float = 0.0) -> list[str]:
    """Paragraphs of prose, one blank line between them, cut to so many lines."""
    text: list[str] = []
    while len(text) < lines:
        text += [*content.paragraph(draw, draw.between(3, 6), accents=accents), ""]
    text = text[:lines]
    return text if text[-1] else [*text[:-1], content.sentence(draw)]


def _full_lines(draw: Draw, text: list[str], least: int, most: int) -> tuple[int, int]:
    """First and last (from 1) of neighbouring lines, none of them blank."""
    while True:
        size = draw.between(least, most)
        first = draw.between(2, len(text) - size)
        if all(len(line) > 20 for line in text[first - 1 : first - 1 + size]):
            return first, first + size - 1


def _case_lines(draw: Draw) -> Draft:
    """An operator over a count of lines; letters with accents."""
    text = _prose(draw, draw.between(40, 110), accents=0.3)
    first, last = _full_lines(draw, text, 2, 4)
    operator, what, change = draw.pick(
        [
            ("U", "to capitals", str.upper),
            (
                "~",
                "to the other case: small letters become capitals and capitals small letters",
                str.swapcase,
            ),
        ]
    )
    target = list(text)
    target[first - 1 : last] = [change(line) for line in text[first - 1 : last]]
    return draft(
        f"Convert all letters on {span(first, last)} {what}. Letters with accents are letters too. "
        "All other lines stay as they are.",
        text,
        target,
        f"{first}Gg{operator}{last - first}j",
    )


def _rot13_lines(draw: Draw) -> Draft:
    """An operator that few know, in a log of up to 120 lines."""
    plain = content.log(draw, draw.between(50, 120))
    first = draw.between(10, len(plain) - 8)
    last = first + draw.between(1, 4)
    start = list(plain)
    start[first - 1 : last] = [codecs.encode(line, "rot13") for line in plain[first - 1 : last]]
    return draft(
        f"On {span(first, last)} every ASCII letter was shifted by 13 places in the alphabet (ROT13); digits "
        "and signs were not. Shift them back. The other lines stay as they are.",
        start,
        plain,
        f"{first}Gg?{last - first}j",
    )


def _repeat_block(draw: Draw) -> Draft:
    """A counted put of several lines."""
    blocks = [
        [f"[{section}]", *content.settings(draw, draw.between(2, 5)), ""]
        for section in content.section_names(draw, draw.between(9, 18))
    ]
    place = draw.between(1, len(blocks) - 3)
    copies = draw.between(3, 9)
    start = [line for block in blocks for line in block]
    first = sum(map(len, blocks[:place])) + 1
    size = len(blocks[place])
    target = [
        line
        for block in [*blocks[:place], *[blocks[place]] * (copies + 1), *blocks[place + 1 :]]
        for line in block
    ]
    return draft(
        f"Insert {copies} more copies of {span(first, first + size - 1)} (the section `{blocks[place][0]}` "
        f"with the blank line after it) directly below line {first + size - 1}.",
        start,
        target,
        f"{first}G{size}Y{copies}P",
    )


def _underline(draw: Draw) -> Draft:
    """A copy overwritten instead of a count of characters."""
    text = _prose(draw, draw.between(30, 90), accents=0.2)
    line, _ = _full_lines(draw, text, 1, 1)
    sign = draw.pick(["=", "-", "~", "^"])
    name = {"=": "equals signs", "-": "hyphens", "~": "tildes", "^": "carets"}[sign]
    target = [*text[:line], sign * len(text[line - 1]), *text[line:]]
    return draft(
        f"Insert a new line below line {line} that consists of {name} (`{sign}`) alone and has exactly as "
        f"many characters as line {line}.",
        text,
        target,
        f"{line}GYpVr{sign}",
    )


def _divider(draw: Draw) -> Draft:
    """A counted insertion; one sign more or less fails."""
    text = content.log(draw, draw.between(50, 150))
    line, width = draw.between(11, len(text) - 5), draw.between(58, 110)
    sign, name = draw.pick([("=", "equals signs"), ("#", "hash marks"), ("*", "asterisks"), ("-", "hyphens")])
    target = [*text[: line - 1], sign * width, *text[line - 1 :]]
    return draft(
        f"Insert a new line of exactly {width} {name} (`{sign}`) directly above line {line}.",
        text,
        target,
        f"{line}GO<Esc>{width}i{sign}<Esc>",
    )


def _swap_lines(draw: Draw) -> Draft:
    """The second move counts lines after the first."""
    text = content.log(draw, draw.between(60, 180))
    first = draw.between(3, 25)
    second = draw.between(first + 12, len(text) - 2)
    target = list(text)
    target[first - 1], target[second - 1] = text[second - 1], text[first - 1]
    return draft(
        f"Swap line {first} and line {second}. All lines between them keep their places.",
        text,
        target,
        f":{first}m{second}|{second - 1}m{first - 1}<CR>",
    )


def _reverse_lines(draw: Draw) -> Draft:
    """A dozen moves that are one command."""
    text = content.script(draw, draw.between(60, 160))
    first = draw.between(5, 40)
    last = first + draw.between(11, 18)
    target = [*text[: first - 1], *reversed(text[first - 1 : last]), *text[last:]]
    return draft(
        f"Reverse the order of {span(first, last)}: line {last} comes first, line {first} last. The lines "
        "above and below them stay.",
        text,
        target,
        f":{first},{last}g/^/m{first - 1}<CR>",
    )


def _copy_line(draw: Draw) -> Draft:
    """Numbers hold only from the bottom up."""
    text = content.log(draw, draw.between(60, 160))
    places = sorted(draw.some(range(15, len(text) - 1), draw.between(4, 6)))
    source = draw.between(2, 9)
    target: list[str] = []
    for number, line in enumerate(text, 1):
        target += [line, text[source - 1]] if number in places else [line]
    shown = ", ".join(map(str, places[:-1])) + f" and {places[-1]}"
    return draft(
        f"Insert a copy of line {source} directly below each of the lines {shown}. The numbers are those of "
        "the lines as they are now.",
        text,
        target,
        # From the last place up: what is inserted changes no number above it.
        f"{source}GY" + "".join(f"{place}Gp" for place in reversed(places)),
    )


def _mask_lines(draw: Draw) -> Draft:
    """One replacement over lines of unequal length; Unicode."""
    text = _prose(draw, draw.between(40, 120), accents=0.4)
    first, last = _full_lines(draw, text, 2, 5)
    sign = draw.pick(["x", "#", "*", "█"])
    target = list(text)
    target[first - 1 : last] = [sign * len(line) for line in text[first - 1 : last]]
    return draft(
        f"Black out {span(first, last)}: replace every character of these lines, spaces and signs included, "
        f"with `{sign}`, so that each line keeps its number of characters.",
        text,
        target,
        f"{first}GV{last - first}jr{sign}",
    )


def _dot_leader(draw: Draw) -> Draft:
    """A counted append, and more after it."""
    text = [content.heading(draw).capitalize() for _ in range(draw.between(25, 70))]
    line, size = draw.between(11, len(text) - 2), draw.between(28, 70)
    page = draw.between(12, 480)
    target = list(text)
    target[line - 1] += "." * size + str(page)
    return draft(
        f"Append exactly {size} full stops and then the number {page} to line {line}, without any spaces.",
        text,
        target,
        f"{line}G{size}A.<Esc>A{page}<Esc>",
    )


TEMPLATES = (
    Template("case-lines", 1, "case", "Change the case of whole lines", _case_lines),
    Template("rot13-lines", 1, "case", "Undo ROT13 on some lines", _rot13_lines),
    Template("repeat-block", 1, "lines", "Repeat a section", _repeat_block),
    Template("underline", 1, "lines", "Underline a line", _underline),
    Template("divider", 1, "lines", "Insert a divider", _divider),
    Template("swap-lines", 1, "lines", "Swap two distant lines", _swap_lines),
    Template("reverse-lines", 1, "lines", "Reverse a range of lines", _reverse_lines),
    Template("copy-line", 1, "lines", "Copy a line to several places", _copy_line),
    Template("mask-lines", 1, "change", "Black out lines", _mask_lines),
    Template("dot-leader", 1, "change", "Draw a dot leader", _dot_leader),
)
"""In the order in which they take their turns."""
