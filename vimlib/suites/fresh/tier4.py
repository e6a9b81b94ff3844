"""Tier 4: composed edits: two or three steps of which none is enough, or one with a memory.

Each step changes what the next one sees, so that its order, its range and what it leaves behind
matter. The whole costs a fraction of what editing place by place does.
"""

from __future__ import annotations

import re

from vimlib.suites.fresh import content
from vimlib.suites.fresh.draw import Draw
from vimlib.suites.fresh.template import Draft, Template, draft


def _log_digest(draw: Draw) -> Draft:
    """Filter, cut, sort and make unique; near-miss lines."""
    errors = [content.message(draw) for _ in range(draw.between(12, 18))]
    lines = []
    for number, line in enumerate(content.log(draw, draw.between(70, 150))):
        if number % 4 == 0 or draw.chance(0.1):
            line = f"{line[:20]}ERROR{line[25 : line.index(': ')]}: {draw.pick(errors)}"
        elif draw.chance(0.1):
            line += f" after ERROR {draw.between(10, 99)}"
        lines.append(line)
    messages = {line.split(": ", 1)[1] for line in lines if line[20:25] == "ERROR"}
    return draft(
        "Reduce the log to the messages of its errors: of every line with the level `ERROR` keep what stands "
        "after the colon and the space that follow the component; delete all other lines, those too that "
        "only mention an `ERROR` in their message. Sort the messages in ascending order of their bytes and "
        "keep equal ones once.",
        lines,
        sorted(messages),
        r":v/\d ERR/d<CR>:%s/.*: //|sor u<CR>",
    )


def _flatten_ini(draw: Draw) -> Draft:
    """A search backwards on every line, then a clean-up."""
    start: list[str] = []
    target: list[str] = []
    for section in content.section_names(draw, draw.between(9, 18)):
        rows = content.settings(draw, draw.between(2, 6))
        start += [f"[{section}]", *rows, ""]
        target += [f"{section}.{row}" for row in rows]
    return draft(
        "Put the name of its section and a full stop before every setting, then delete the headings and the "
        "blank lines: `host=on` in the section `[mail.to]` becomes `mail.to.host=on`.",
        start[:-1],
        target,
        ":g/=/norm ma?[<C-V><CR>yi['aPa.<CR>:v/=/d<CR>",
    )


def _running_total(draw: Draw) -> Draft:
    """Filter, then a sum kept in a variable."""
    start: list[str] = []
    target: list[str] = []
    total = 0
    for _ in range(draw.between(30, 70)):
        amount, state = draw.between(2, 900), draw.pick(["paid", "paid", "paid", "void"])
        who = content.name(draw, 0.2) + draw.pick(["", "", " (void before)"])
        line = f"{content.date(draw)} {state} {who} {amount}"
        start.append(line)
        if state == "paid":
            total += amount
            target.append(f"{line} {total}")
    return draft(
        "Delete every booking whose state (the second word) is `void`. Then append a space and the running "
        "total to every line that is left: the sum of the amounts (the last number) from the first line "
        "down to this one.",
        start,
        target,
        r":g/\d void/d<CR>:let s=0|g/$/let s+=matchstr(getline('.'),'\d*$')|s/$/\=' '.s<CR>",
    )


def _work_out(draw: Draw) -> Draft:
    """Arithmetic with two groups, then a sort by the result."""
    rows: dict[int, str] = {}
    for _ in range(draw.between(20, 40)):
        count, price = draw.between(3, 99), draw.between(11, 980)
        thing = f"{content.heading(draw)}, lot {draw.between(1, 300)}"
        rows.setdefault(count * price, f"{thing}: {count} * {price}")
    return draft(
        "Append ` = ` and the product to every line (`2 * 30` becomes `2 * 30 = 60`). Then sort the lines "
        "by the product, the highest first.",
        list(rows.values()),
        [f"{line} = {product}" for product, line in sorted(rows.items(), reverse=True)],
        r":%s/\(\d*\) \* \(.*\)/\=submatch(0).' = '.submatch(1)*submatch(2)<CR>:sor! n/=/<CR>",
    )


def _extract_notes(draw: Draw) -> Draft:
    """Line numbers kept while lines are copied; near misses."""
    lines = content.c_file(draw, draw.between(5, 8), draw.between(9, 14))
    places = [place for place, line in enumerate(lines) if line.endswith(";")]
    chosen = draw.some(places, min(len(places), draw.between(9, 15)))
    near = draw.some([place for place in places if place not in chosen], min(4, len(places) - len(chosen)))
    for place in chosen:
        lines[place] += f"  // TODO: {content.clause(draw)}"
    for place in near:
        lines[place] += f"  // done, was a todo: {content.clause(draw)}"
    notes = [f"- {place + 1}: {lines[place].split('// TODO: ')[1]}" for place in chosen]
    return draft(
        "At the end of the file add one line for every `TODO:` comment, in their order: a hyphen, a space, "
        "the number of the line on which the comment stands, a colon, a space and the text of the comment "
        "after `TODO: `. The code stays as it is; a `todo` in small letters is none.",
        lines,
        [*lines, *notes],
        r":g/TODO/let n=line('.')|t$|s/.*TODO/\='- '.n<CR>",
    )


def _sort_sections(draw: Draw) -> Draft:
    """Join, sort and split again, in up to 170 lines."""
    sections = [
        [f"[{section}]", *(f"\t{row}" for row in content.settings(draw, draw.between(2, 6)))]
        for section in content.section_names(draw, draw.between(12, 24))
    ]
    ordered = sorted(sections, key=lambda lines: lines[0])
    return draft(
        "Sort the sections by their headings, in ascending order of bytes. The settings of a section stay "
        "below its heading in the order in which they are.",
        [line for lines in sections for line in lines],
        [line for lines in ordered for line in lines],
        r":%s/\n\t/@<CR>:sor|%s/@/\r\t/g<CR>",
    )


def _zip_lists(draw: Draw) -> Draft:
    """A ragged block moved, then what it leaves."""
    codes = content.codes(draw, draw.between(18, 50))
    values = [content.value(draw) for _ in codes]
    size = len(codes)
    return draft(
        f"The buffer holds {size} codes, each with `=` after it, a blank line, and as many values. Put each "
        "value directly behind the `=` of its code, the first value to the first code and so on, and delete "
        "all that is left "
        f"below the codes, so that {size} lines remain.",
        [*(f"{code}=" for code in codes), "", *values],
        [f"{code}={value}" for code, value in zip(codes, values, strict=True)],
        f"{size + 2}G<C-V>G$dgg$p:{size + 1},$d<CR>",
    )


def _unminify(draw: Draw) -> Draft:
    """Split and indent; nesting up to four deep."""
    start: list[str] = []
    target: list[str] = []
    for _ in range(draw.between(3, 5)):
        lines = content.function(draw, draw.between(6, 14))
        start.append(" ".join(text for _, text in lines))
        target += [*content.indented(lines), ""]
    return draft(
        "Each line holds a whole C function. Lay the functions out: end the line after every `{`, `}` and "
        "`;` (the space that followed it goes), and indent each line by one tab for each pair of braces "
        "that it stands in, a closing brace like the line with its opening brace. After each function, the "
        "last one too, comes one empty line.",
        start,
        target,
        r":%s/[{;}]\zs */\r/g<CR>gg=G",
    )


def _camel_and_sort(draw: Draw) -> Draft:
    """The first step decides the order of the second; values look alike."""
    keys = content.variables(draw, draw.between(20, 45), 3)
    rows = [f"  {key}: {content.snake(draw)}," for key in keys]
    changed = [re.sub(r"_(\w)(?=.*:)", lambda found: found[1].upper(), row) for row in rows]
    name = content.camel(draw)
    return draft(
        "Rewrite the keys (before the colons) from snake_case to camelCase; the values keep their "
        "underscores. Then sort the lines between the braces in ascending order of their bytes.",
        [f"{name} = {{", *rows, "}"],
        [f"{name} = {{", *sorted(changed), "}"],
        r":%s/_\(.\)\ze.*:/\u\1/g|2,$-sor<CR>",
    )


def _reverse_sections(draw: Draw) -> Draft:
    """Two commands a match, ranges by pattern; deeper headings."""
    before: list[list[str]] = []
    after: list[list[str]] = []
    for _ in range(draw.between(8, 15)):
        lines = content.paragraph(draw, draw.between(1, 4), accents=0.1)
        lines.insert(draw.between(0, len(lines)), f"### {content.heading(draw)}")
        head = content.heading(draw)
        before.append([f"## {head}", *lines, ""])
        after.append([f"## {head.upper()}", *lines, ""])
    title = [f"# {content.name(draw)}", ""]
    end = ["(end)"]
    return draft(
        "Reverse the order of the sections and write their headings in capitals. A section runs from a line "
        "that begins with exactly two hash marks to the next blank line, which belongs to it; its other "
        "lines stay as they are and in their order, headings with three hash marks too. The title with the "
        "blank line below it and the last line keep their places.",
        [*title, *(line for lines in before for line in lines), *end],
        [*title, *(line for lines in reversed(after) for line in lines), *end],
        r":g/^## /norm gUU:,/^$/m2<C-V><CR><CR>",
    )


def _number_paragraphs(draw: Draw) -> Draft:
    """Join, delete, number: each depends on the last."""
    start: list[str] = []
    target: list[str] = []
    for number in range(1, draw.between(10, 18)):
        words = content.run_on(draw, draw.between(3, 7), accents=0.1).split()
        start += [*([""] if start else []), *content.wrapped(words, 58)]
        target.append(f"({number}) {' '.join(words)}")
    return draft(
        "Write each paragraph on one line, with one space in the place of each line break, delete the blank "
        "lines, and put the number of the paragraph in parentheses and a space before each: `(1) `, `(2) ` "
        "and so on.",
        start,
        target,
        r":g/./norm vipJ<CR>:g/^$/d<CR>:%s/^/\='('.line('.').') '<CR>",
    )


def _sort_list(draw: Draw) -> Draft:
    """An expression over what was just deleted."""
    names = content.variables(draw, draw.between(18, 36))
    listed = draw.shuffled([*names, *draw.some(names, draw.between(3, 8))])
    before = content.script(draw, draw.between(8, 50))
    after = content.script(draw, draw.between(8, 50))
    head = content.snake(draw)
    return draft(
        f"Sort the names in the list on line {len(before) + 1} in ascending order of their bytes, each only "
        "once. The list stays on one line, with a comma and a space between names.",
        [*before, f"{head} = [{', '.join(listed)}]", *after],
        [*before, f"{head} = [{', '.join(sorted(names))}]", *after],
        f"{len(before) + 1}G$ci[<C-R>=join(uniq(sort(split(@-,', '))),', ')<CR><Esc>",
    )


def _number_outline(draw: Draw) -> Draft:
    """Two counters, one of which starts anew."""
    start: list[str] = []
    target: list[str] = []
    for chapter in range(1, draw.between(7, 12)):
        head = content.heading(draw)
        start.append(f"## {head}")
        target.append(f"## {chapter} {head}")
        for part in range(1, draw.between(3, 7)):
            head = content.heading(draw)
            line = content.sentence(draw, 0.1)
            start += [f"### {head}", line]
            target += [f"### {chapter}.{part} {head}", line]
    return draft(
        "Number the headings. Those with two hash marks get 1, 2, 3 and so on; those with three get the "
        "number of the heading with two hash marks above them, a full stop and their own number, which "
        "begins at 1 under each: `## 2 ...`, then `### 2.1 ...`, `### 2.2 ...`. The number stands after the "
        "hash marks with one space on each side.",
        start,
        target,
        r":let i=0|g/^##/let j=getline('.')=~'###'?j+1:0|let i+=!j|s/ /\=' '.i.(j?'.'.j:'').' '<CR>",
    )


def _interleave(draw: Draw) -> Draft:
    """Moves to computed places, up to 90 lines."""
    size = draw.between(16, 45)
    upper = [f"Q: {content.clause(draw, 0.2)}" for _ in range(size)]
    lower = [f"A: {content.clause(draw, 0.2)}" for _ in range(size)]
    return draft(
        f"The first {size} lines are questions, the other {size} their answers in the same order. Move each "
        "answer directly below its question.",
        [*upper, *lower],
        [line for pair in zip(upper, lower, strict=True) for line in pair],
        f":{size + 1},$g/^/exe'm'(line('.')*2-{2 * size + 1})<CR>",
    )


TEMPLATES = (
    Template("log-digest", 4, "sort", "Digest a log", _log_digest),
    Template("flatten-ini", 4, "register", "Flatten sections", _flatten_ini),
    Template("running-total", 4, "numbers", "Append running totals", _running_total),
    Template("work-out", 4, "numbers", "Work out and rank", _work_out),
    Template("extract-notes", 4, "global", "Collect comments", _extract_notes),
    Template("sort-sections", 4, "sort", "Sort whole sections", _sort_sections),
    Template("zip-lists", 4, "block", "Put two lists side by side", _zip_lists),
    Template("unminify", 4, "indent", "Lay out code", _unminify),
    Template("camel-and-sort", 4, "sort", "Rename keys and sort", _camel_and_sort),
    Template("reverse-sections", 4, "global", "Reverse the sections", _reverse_sections),
    Template("number-paragraphs", 4, "global", "Number the paragraphs", _number_paragraphs),
    Template("sort-list", 4, "register", "Sort a list within its line", _sort_list),
    Template("number-outline", 4, "numbers", "Number an outline", _number_outline),
    Template("interleave", 4, "global", "Interleave two lists", _interleave),
)
"""In the order in which they take their turns."""
