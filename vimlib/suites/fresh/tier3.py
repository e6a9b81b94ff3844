"""Tier 3: ex commands: one pattern or one condition over the whole buffer, and where it must not reach.

Every buffer holds near misses: lines that a greedy pattern or a careless condition would take too.
Both protocols' Vims must read the patterns alike, though only golf's ignores case: where case
tells lines apart, the pattern says so or holds a capital.
"""

from __future__ import annotations

from vimlib.suites.fresh import content
from vimlib.suites.fresh.draw import Draw
from vimlib.suites.fresh.template import Draft, Template, draft


def _titled(text: str) -> str:
    """Each word (a run of letters and digits) with a capital."""
    return " ".join(word[:1].upper() + word[1:] for word in text.split(" "))


def _title_case(draw: Draw) -> Draft:
    """A condition that must not reach the deeper headings."""
    start: list[str] = []
    target: list[str] = []
    for _ in range(draw.between(13, 20)):
        head = content.heading(draw)
        if draw.chance(0.5):
            head += f" {draw.pick(['in', 'from'])} {content.syllables(draw, 2, 3)}"
            if draw.chance(0.5):
                head += f", part {draw.pick(['one', 'two', 'three'])}"
        marks = draw.pick(["##", "##", "###"])
        start.append(f"{marks} {head}")
        target.append(f"## {_titled(head)}" if marks == "##" else f"{marks} {head}")
        lines = content.paragraph(draw, draw.between(1, 3))
        start += lines
        target += lines
    if not any(line.startswith("## ") for line in start):
        return _title_case(draw)
    return draft(
        "On every heading of level two (lines that begin with exactly two hash marks and a space) begin each "
        "word with a capital, the small words too. Headings of level three and the text stay as they are.",
        start,
        target,
        r":g/^## /s/\<<./\u&/g<CR>",
    )


def _drop_repeats(draw: Draw) -> Draft:
    """A pattern over two lines; near repetitions differ in case."""
    start: list[str] = []
    target: list[str] = []
    for line in content.script(draw, draw.between(40, 80)):
        if draw.chance(0.35) and line != line.capitalize():
            near = line.capitalize()  # differs in case alone: not a repetition
            start += [line, near]
            target += [line, near]
        elif target and line == target[-1]:
            continue
        else:
            start += [line] * draw.pick([1, 1, 2, 2, 3, 4])
            target.append(line)
    return draft(
        "Where a line is followed by one or more lines that are exactly the same, keep one of them and "
        "delete the rest. Lines that differ in any way, if only in a capital, all stay.",
        start,
        target,
        r":g/\C^\(.*\)\n\1$/d<CR>",
    )


def _pad_ids(draw: Draw) -> Draft:
    """Numbers of any length between numbers that stay."""
    width = draw.between(6, 8)
    start: list[str] = []
    target: list[str] = []
    for _ in range(draw.between(30, 70)):
        number = draw.between(1, 10 ** draw.between(1, width - 1))
        shelf = draw.between(1, 999)
        text = f"{draw.pick(['lent', 'back', 'lost'])} {content.date(draw)} by {content.name(draw)}"
        start.append(f"shelf {shelf} item {number} {text}")
        target.append(f"shelf {shelf} item {number:0{width}} {text}")
    return draft(
        f"Pad the number after `item` with leading zeros to {width} digits. The numbers of the shelves and "
        "the dates stay as they are.",
        start,
        target,
        rf":%s/m \zs\d*/\=printf('%0{width}d',submatch(0))<CR>",
    )


def _scale_prices(draw: Draw) -> Draft:
    """Arithmetic in a replacement; other numbers on the line."""
    factor = draw.between(3, 29)
    start: list[str] = []
    target: list[str] = []
    for _ in range(draw.between(25, 80)):
        number, price = draw.between(2, 400), draw.between(3, 900)
        thing = f"{number} {content.thing(draw)}s from {content.name(draw, 0.2)}, box {draw.between(1, 99)}"
        start.append(f"{thing}: {price} EUR")
        target.append(f"{thing}: {price * factor} EUR")
    return draft(
        f"Multiply every price (the number before `EUR`) by {factor}. The other numbers stay as they are.",
        start,
        target,
        rf":%s/\d*\ze EUR/\={factor}*submatch(0)<CR>",
    )


def _renumber(draw: Draw) -> Draft:
    """A counter over matching lines; near-miss settings."""
    first = draw.between(2000, 9000)
    start: list[str] = []
    target: list[str] = []
    for number, section in enumerate(content.section_names(draw, draw.between(11, 20))):
        old = draw.between(10_000, 60_000)
        for row in [f"[{section}]", *draw.shuffled([*content.settings(draw, 4), "PORT"])]:
            start.append(f"listen_port={old}" if row == "PORT" else row)
            target.append(f"listen_port={first + number}" if row == "PORT" else row)
    return draft(
        f"Give the settings `listen_port` the numbers {first}, {first + 1}, {first + 2} and so on, in the "
        "order in which they stand. A setting called `port` is another one and stays, as does all else.",
        start,
        target,
        rf":let i={first - 1}|g/n_/let i+=1|s/\d*$/\=i<CR>",
    )


def _join_arrays(draw: Draw) -> Draft:
    """Ranges by pattern; braces look alike."""
    start: list[str] = []
    target: list[str] = []
    for number, variable in enumerate(content.variables(draw, draw.between(11, 18))):
        items = [f"{word}," for word in content.names(draw, draw.between(2, 6))]
        if number % 4 == 2 or draw.chance(0.1):
            start += [f"{variable} = {{", *(f"    {item}" for item in items), "}"]
            target += [f"{variable} = {{", *(f"    {item}" for item in items), "}"]
        else:
            start += [f"{variable} = [", *(f"    {item}" for item in items), "]"]
            target.append(" ".join([f"{variable} = [", *items, "]"]))
    return draft(
        "Write every list in square brackets on one line: put one space in the place of each of its line "
        "breaks and the indentation after it. What stands in braces stays as it is.",
        start,
        target,
        r":g/\[$/,/]/j<CR>",
    )


def _move_matching(draw: Draw) -> Draft:
    """An anchored pattern; the mark also stands elsewhere."""
    marks = ["[x]", "[x]", "[ ]", "[ ]", "[ ]", "[-]"]
    items = []
    for _ in range(draw.between(45, 90)):
        text = content.clause(draw, 0.2) + (" [x]" if draw.chance(0.15) else "")
        items.append(f"- {draw.pick(marks)} {text}")
    done = [item for item in items if item.startswith("- [x]")]
    rest = [item for item in items if not item.startswith("- [x]")]
    return draft(
        "Move all items that begin with `- [x]` to the end, in their order. Items that only hold `[x]` "
        "further right stay where they are, as do all others.",
        items,
        rest + done,
        ":g/^- .x/m$<CR>",
    )


def _underline_all(draw: Draw) -> Draft:
    """Two commands a match; lengths differ; near-miss lines."""
    start: list[str] = []
    target: list[str] = []
    for number in range(1, draw.between(8, 16)):
        head = f"Part {number}: {content.name(draw, 0.3)} and {content.heading(draw)}"
        lines = content.paragraph(draw, draw.between(2, 5), accents=0.1)
        if draw.chance(0.4):
            lines.append(f"(see Part {draw.between(1, 20)})")
        start += [head, *lines]
        target += [head, "~" * len(head), *lines]
    return draft(
        "Below each line that begins with `Part` insert a line of tildes (`~`) that has exactly as many "
        "characters as that line. Lines that only mention a part get none.",
        start,
        target,
        ":g/^Part/t.|s/./\\~/g<CR>",
    )


def _drop_sections(draw: Draw) -> Draft:
    """Ranges by pattern, nothing between sections, in up to 180 lines; near-miss headings."""
    start: list[str] = []
    target: list[str] = []
    gone = False
    sections = content.section_names(draw, draw.between(26, 34))
    for section in sections:
        # Not two together, which would be deleted at one stroke; not the last, which no heading follows.
        gone = not gone and section != sections[-1] and draw.chance(0.8)
        head = f"[{'old.' if gone else draw.pick(['', '', 'bold.', 'new.old.'])}{section}]"
        block = [head, *content.settings(draw, draw.between(1, 6))]
        start += block
        target += [] if gone else block
    return draft(
        "Delete every section whose heading begins with `[old.`. A section is its heading and all lines "
        "down to the next heading. Headings that hold `old.` elsewhere are not meant.",
        start,
        target,
        r":g/^\[old/,/^\[/-d<CR>",
    )


def _reorder_fields(draw: Draw) -> Draft:
    """Groups and their order; names with accents."""
    order = draw.pick([(3, 1, 4, 2), (4, 3, 1, 2), (2, 4, 1, 3), (3, 4, 2, 1)])
    rows = [["code", "name", "date", "sum"]]
    for code in content.codes(draw, draw.between(25, 60)):
        rows.append([code, content.name(draw, 0.3), content.date(draw), str(draw.between(1, 9000))])
    heads = [rows[0][place - 1] for place in order]
    return draft(
        f"Reorder the columns of the CSV file to {', '.join(f'`{head}`' for head in heads[:-1])} and "
        f"`{heads[-1]}`, the heading line included.",
        [",".join(row) for row in rows],
        [",".join(row[place - 1] for place in order) for row in rows],
        r":%s/\v(.*),(.*),(.*),(.*)/" + ",".join(f"\\{place}" for place in order) + "<CR>",
    )


def _number_lines(draw: Draw) -> Draft:
    """Padding: counting up in place would fall into octal."""
    lines = [content.clause(draw, 0.2) for _ in range(draw.between(30, 120))]
    width = draw.between(3, 5)
    return draft(
        f"Put its line number and a space before every line, the number padded with leading zeros to {width} "
        f"digits: line 1 begins with `{1:0{width}} `, line 10 with `{10:0{width}} `.",
        lines,
        [f"{number:0{width}} {line}" for number, line in enumerate(lines, 1)],
        rf":%s/^/\=printf('%0{width}d ',line('.'))<CR>",
    )


def _upper_constants(draw: Draw) -> Draft:
    """A change of case in a replacement, several a line; `let` looks alike."""
    start: list[str] = []
    target: list[str] = []
    variables = content.variables(draw, draw.between(60, 90))
    while variables:
        size = min(len(variables), draw.between(1, 3))
        before: list[str] = []
        after: list[str] = []
        for variable in variables[:size]:
            word, value = draw.pick(["const", "const", "let"]), draw.between(2, 9999)
            before.append(f"{word} {variable} = {value};")
            after.append(f"{word} {variable.upper() if word == 'const' else variable} = {value};")
        note = f"  // {content.clause(draw)}" if draw.chance(0.3) else ""
        start.append(" ".join(before) + note)
        target.append(" ".join(after) + note)
        variables = variables[size:]
    return draft(
        "Convert every name that is declared by `const` to capitals, wherever on its line. Names declared by "
        "`let`, and the comments, stay as they are.",
        start,
        target,
        r":%s/const \zs\w*/\U&/g<CR>",
    )


def _to_hex(draw: Draw) -> Draft:
    """Formatting in a replacement; numbers in comments."""
    start: list[str] = []
    target: list[str] = []
    for variable in content.variables(draw, draw.between(25, 60)):
        number = draw.between(16, 65_000)
        note = f"# {draw.between(2, 90)} of {draw.between(91, 900)}"
        start.append(f"{variable}: {number} {note}")
        target.append(f"{variable}: 0x{number:04X} {note}")
    return draft(
        "Write the number after each colon in hexadecimal: `0x` and four digits, with capital letters and "
        "leading zeros where needed (`255` becomes `0x00FF`). The numbers in the comments stay as they are.",
        start,
        target,
        r":%s/: \zs\d*/\=printf('0x%04X',submatch(0))<CR>",
    )


def _bar_chart(draw: Draw) -> Draft:
    """A replacement as long as a number says; years stay."""
    sign = draw.pick(["#", "=", "▇"])
    start: list[str] = []
    target: list[str] = []
    for town in content.names(draw, draw.between(14, 30), accents=0.3):
        number, year = draw.between(3, 48), draw.between(1900, 2030)
        start.append(f"{town} {year}: {number}")
        target.append(f"{town} {year}: {sign * number}")
    return draft(
        f"Turn the list into a bar chart: replace the number at the end of every line by as many `{sign}` "
        "as it says.",
        start,
        target,
        rf":%s/\d*$/\=repeat('{sign}',submatch(0))<CR>",
    )


def _line_lengths(draw: Draw) -> Draft:
    """Characters, not bytes, in Unicode text."""
    lines = [
        content.clause(draw, 0.5) + draw.pick(["", " →", " — " + content.name(draw, 0.6)])
        for _ in range(draw.between(25, 70))
    ]
    return draft(
        "Append a space and the number of characters of the line to every line. Characters are counted, not "
        "bytes: `añb` has 3. What is appended does not count.",
        lines,
        [f"{line} {len(line)}" for line in lines],
        r":%s/$/\=' '.strchars(getline('.'))<CR>",
    )


def _pad_keys(draw: Draw) -> Draft:
    """Padding to a column; more `=` on the line, and in comments that stay."""
    short = [content.syllables(draw, 1, 3) for _ in range(40)]
    names = draw.shuffled([*content.variables(draw, draw.between(15, 35)), *content.distinct(short, 18)])
    width = max(map(len, names)) + draw.between(0, 3)
    start: list[str] = []
    target: list[str] = []
    for key in names:
        value = content.value(draw) + draw.pick(["", " == yes", f" # was={draw.between(1, 9)}"])
        start.append(f"{key}={value}")
        target.append(f"{key:{width}}={value}")
        if draw.chance(0.3):
            note = f"{draw.pick(['#', ';'])} {content.snake(draw)}={draw.between(1, 99)}"
            start.append(note)
            target.append(note)
    return draft(
        f"Align the settings: pad each name with spaces to {width} characters, so that the first `=` of the "
        f"line stands in column {width + 1}. A later `=` is part of the value and moves with it. Comments "
        "(lines that begin with `#` or `;`) stay as they are.",
        start,
        target,
        rf":%s/^\w\+/\=printf('%-{width}s',submatch(0))<CR>",
    )


TEMPLATES = (
    Template("title-case", 3, "case", "Capitals in headings", _title_case),
    Template("drop-repeats", 3, "global", "Drop repeated lines", _drop_repeats),
    Template("pad-ids", 3, "numbers", "Pad numbers with zeros", _pad_ids),
    Template("scale-prices", 3, "numbers", "Multiply prices", _scale_prices),
    Template("renumber", 3, "numbers", "Renumber the ports", _renumber),
    Template("join-arrays", 3, "global", "Write lists on one line", _join_arrays),
    Template("move-matching", 3, "global", "Move finished items", _move_matching),
    Template("underline-all", 3, "global", "Underline all headings", _underline_all),
    Template("drop-sections", 3, "global", "Delete sections", _drop_sections),
    Template("reorder-fields", 3, "substitute", "Reorder the columns of a CSV file", _reorder_fields),
    Template("number-lines", 3, "numbers", "Number the lines", _number_lines),
    Template("upper-constants", 3, "case", "Capitals for constants", _upper_constants),
    Template("to-hex", 3, "numbers", "Write numbers in hexadecimal", _to_hex),
    Template("bar-chart", 3, "numbers", "Draw a bar chart", _bar_chart),
    Template("line-lengths", 3, "numbers", "Append the length of each line", _line_lengths),
    Template("pad-keys", 3, "table", "Align settings", _pad_keys),
)
"""In the order in which they take their turns."""
