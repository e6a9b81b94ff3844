"""Tier 2: motions, text objects, macros, visual block: edits that follow the shape of the text.

The buffers give the shape: fixed columns, nested brackets, paragraphs, lines that repeat at a
distance. The instructions name what is meant, not where the cursor goes.
"""

from __future__ import annotations

import codecs

from vimlib.suites.fresh import content
from vimlib.suites.fresh.draw import Draw
from vimlib.suites.fresh.template import Draft, Template, draft


def _sql(draw: Draw, table: str, columns: int) -> list[str]:
    """A CREATE TABLE statement in small letters, types in nested parentheses."""
    kinds = ["integer", "text not null", "date", "boolean default false"]
    lines = []
    for column in content.variables(draw, columns):
        kind = draw.pick([*kinds, f"varchar({draw.between(8, 255)})", f"numeric({draw.between(6, 12)},2)"])
        lines.append(f"  {column} {kind},")
    return [f"create table {table} (", *lines, f"  check ({lines[0].split()[0]} is not null)", ");"]


def _sql_upper(draw: Draw) -> Draft:
    """A text object around nested parentheses and over lines."""
    tables = [_sql(draw, name, draw.between(3, 8)) for name in content.variables(draw, draw.between(5, 9))]
    chosen = draw.between(1, len(tables) - 2)
    start: list[str] = []
    target: list[str] = []
    line = 0
    for number, table in enumerate(tables):
        if number == chosen:
            line = len(start) + 1
        start += ["", *table] if start else table
        head, *inside, tail = table
        changed = [text.upper() for text in inside] if number == chosen else inside
        target += ["", head, *changed, tail] if target else [head, *changed, tail]
    line += chosen > 0
    name = tables[chosen][0].split()[2]
    return draft(
        f"In the statement that creates the table `{name}` (it begins on line {line}), convert everything "
        "between the outer parentheses to capitals. The first and the last line of the statement and all "
        "other statements stay as they are.",
        start,
        target,
        f"{line}G$gUib",
    )


def _quoted_text(draw: Draw) -> Draft:
    """An operator on a text object, in a buffer of like lines."""
    lines = []
    for _ in range(draw.between(25, 80)):
        text = content.run_on(draw, draw.between(1, 2))
        lines.append(f'{content.snake(draw)}("{text}", {draw.between(1, 99)})')
    number = draw.between(5, len(lines) - 3)
    target = list(lines)
    before, inside, after = lines[number - 1].split('"')
    target[number - 1] = f'{before}"{_rot13(inside)}"{after}'
    return draft(
        f"On line {number}, shift every letter between the double quotes by 13 places in the alphabet "
        "(ROT13). What stands outside the quotes stays as it is.",
        lines,
        target,
        f'{number}Gg?i"',
    )


def _sequence(draw: Draw) -> Draft:
    """Two numbers count on, two must not."""
    first, port = draw.between(2, 60), draw.between(2000, 8900)
    weight = draw.between(100, 800)
    name = content.syllables(draw, 2, 2)
    more = draw.between(6, 14)

    def line(step: int) -> str:
        return f"    server {name}{first + step}.example port={port + step} weight={weight} retries=3"

    settings = [f"    {text}" for text in content.settings(draw, 5)]
    before = ["upstream {", *settings]
    after = [f"    {text}" for text in content.settings(draw, 5)] + ["}"]
    number = len(before) + 1
    return draft(
        f"Below line {number} add {more} more lines like it. On each new line the number of the server and "
        "the port are 1 higher than on the line above; weight and retries stay the same.",
        [*before, line(0), *after],
        [*before, *(line(step) for step in range(more + 1)), *after],
        f"{number}GqqYp<C-A>f=<C-A>q{more - 1}@q",
    )


_ORDINALS = {3: "third", 4: "fourth", 5: "fifth"}


def _every_nth(draw: Draw) -> Draft:
    """A macro whose step and count are both off by one easily."""
    step = draw.between(3, 5)
    groups = draw.between(13, 24)
    first = draw.between(2, 6)
    lines = [content.sentence(draw, 0.1) for _ in range(first - 1 + step * groups)]
    target = [
        _rot13(line) if number >= first and (number - first) % step == 0 else line
        for number, line in enumerate(lines, 1)
    ]
    last = first + step * (groups - 1)
    return draft(
        f"Convert line {first} and every {_ORDINALS[step]} line after it (lines {first}, {first + step}, "
        f"{first + 2 * step} and so on, the last being line {last}) by ROT13, which "
        "shifts each of the letters A to Z and a to z by 13 places in the alphabet.",
        lines,
        target,
        f"{first}Gqqg??{step}jq{groups - 1}@q",
    )


def _rot13(text: str) -> str:
    return codecs.encode(text, "rot13")


def _columns(draw: Draw, rows: int) -> tuple[list[list[str]], list[int]]:
    """Rows of a table with a heading, cells not padded yet, and the widths of the columns."""
    names = content.names(draw, rows, accents=0.3)
    table = [["name", "code", "city", "state", "sum"]]
    for name in names:
        table.append(
            [name, content.code(draw), content.name(draw), content.status(draw), str(draw.between(10, 99999))]
        )
    return table, [max(len(row[column]) for row in table) for column in range(5)]


def _laid_out(table: list[list[str]], widths: list[int], gap: str = "  ") -> list[str]:
    """The rows with cells padded to the widths of their columns, the last column to the right."""
    lines = []
    for row in table:
        cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)]
        lines.append(gap.join([*cells, row[-1].rjust(widths[len(row) - 1])]))
    return lines


def _column_case(draw: Draw) -> Draft:
    """Columns by display width, accents in them."""
    rows = draw.between(14, 45)
    table, widths = _columns(draw, rows)
    place = draw.pick([0, 2])
    changed = [
        [cell.upper() if column == place else cell for column, cell in enumerate(row)] for row in table
    ]
    first, size = sum(widths[:place]) + 2 * place, widths[place]
    reach = f"{first + 1}|" if first else ""
    return draft(
        f"Convert the column `{table[0][place]}`, its heading included, to capitals. Nothing else changes.",
        _laid_out(table, widths),
        _laid_out(changed, widths),
        f"{reach}<C-V>G{first + size}|U",
    )


def _column_copy(draw: Draw) -> Draft:
    """A blockwise put behind the last column."""
    rows = draw.between(14, 60)
    codes = content.codes(draw, rows)
    table = [
        [code, content.date(draw), str(draw.between(1000, 9999)), content.status(draw)] for code in codes
    ]
    lines = [" ".join(row) for row in table]
    return draft(
        "All lines have the same columns, separated by one space. Put a copy of the first column behind the "
        "last one, without a space between them: each line ends in the code that it begins with.",
        lines,
        [f"{line}{row[0]}" for line, row in zip(lines, table, strict=True)],
        "<C-V>G6ly$p",
    )


def _column_move(draw: Draw) -> Draft:
    """A block cut and put at another width."""
    rows = draw.between(14, 45)
    table, widths = _columns(draw, rows)
    lines = _laid_out(table, widths)
    first = sum(widths[:1]) + 2
    size = widths[1] + 2
    target = [line[first : first + size] + line[:first] + line[first + size :] for line in lines]
    return draft(
        "Move the column `code`, together with the two spaces after it, to the front, so that it becomes the "
        "first column. All columns stay aligned.",
        lines,
        target,
        f"{first + 1}|<C-V>G{first + size}|d0P",
    )


def _reindent(draw: Draw) -> Draft:
    """Nesting up to four deep, in up to 130 lines."""
    functions = [content.function(draw, draw.between(6, 14)) for _ in range(draw.between(4, 8))]
    start: list[str] = []
    target: list[str] = []
    for number, lines in enumerate(functions):
        gap = [""] * (number > 0)
        start += gap + [text for _, text in lines]
        target += gap + content.indented(lines)
    return draft(
        "The code has lost its indentation. Indent every line by one tab for each pair of braces that it "
        "stands in; a line with a closing brace is indented like the line with its opening brace. Nothing "
        "else changes, blank lines stay empty.",
        start,
        target,
        "=G",
    )


def _fill_paragraph(draw: Draw) -> Draft:
    """A width that is exact, in one paragraph of many."""
    texts = [content.run_on(draw, draw.between(6, 11), accents=0.2) for _ in range(draw.between(5, 9))]
    chosen = draw.between(1, len(texts) - 2)
    width, narrow = 74, draw.between(38, 60)
    start: list[str] = []
    target: list[str] = []
    line = 0
    for number, text in enumerate(texts):
        words = text.split()
        if start:
            start.append("")
            target.append("")
        if number == chosen:
            line = len(start) + 1
        start += content.wrapped(words, width)
        target += content.wrapped(words, narrow if number == chosen else width)
    return draft(
        f"Fill the paragraph that begins on line {line} anew so that no line of it has more than {narrow} "
        "characters, with as many words on each line as fit and one space between words. The other "
        "paragraphs stay as they are.",
        start,
        target,
        f":se tw={narrow}<CR>{line}Ggqip",
    )


def _swap_case_object(draw: Draw) -> Draft:
    """A text object that spans lines, brackets by kind."""
    opening, closing, key, name = draw.pick(
        [("(", ")", "b", "parentheses"), ("{", "}", "B", "braces"), ("[", "]", "]", "brackets")]
    )
    before = content.script(draw, draw.between(12, 40))
    words = content.distinct([content.name(draw, 0.3) for _ in range(80)], draw.between(12, 30))
    inner = content.wrapped([f'"{word}",' for word in words], 48)
    inside = [f"    {line}" for line in inner]
    after = content.script(draw, draw.between(12, 40))
    head, tail = f"{content.snake(draw)} = {opening}", closing
    line = len(before) + 1
    return draft(
        f"The list that begins on line {line} stands in {name}. Invert the case of every letter between "
        "them: capitals become small letters, small letters become capitals. Nothing outside changes.",
        [*before, head, *inside, tail, *after],
        [*before, head, *(text.swapcase() for text in inside), tail, *after],
        f"{line}G$g~i{key}",
    )


TEMPLATES = (
    Template("sql-upper", 2, "text-object", "Capitals inside parentheses", _sql_upper),
    Template("quoted-text", 2, "text-object", "Encode what stands in quotes", _quoted_text),
    Template("sequence", 2, "macro", "Continue a sequence", _sequence),
    Template("every-nth", 2, "macro", "Change every nth line", _every_nth),
    Template("column-case", 2, "block", "Capitals in one column", _column_case),
    Template("column-copy", 2, "block", "Copy a column to the end", _column_copy),
    Template("column-move", 2, "block", "Move a column to the front", _column_move),
    Template("reindent", 2, "indent", "Restore indentation", _reindent),
    Template("fill-paragraph", 2, "text-object", "Fill a paragraph anew", _fill_paragraph),
    Template("list-case", 2, "text-object", "Invert the case inside a list", _swap_case_object),
)
"""In the order in which they take their turns."""
