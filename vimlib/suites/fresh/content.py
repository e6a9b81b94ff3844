"""What the buffers hold: prose, code, logs, tables and settings, each from a small grammar.

Nothing is copied from a list of finished lines: sentences are built from phrases, names from
syllables, code from nested statements, so that two seeds do not share a buffer. What a template
needs to be true of its content (no full stop before a line break, say) it asks for by parameter.
"""

from __future__ import annotations

from collections.abc import Sequence

from vimlib.suites.fresh.draw import Draw

# --- names ----------------------------------------------------------------------------------------

_ONSETS = "b br c d dr f g gr h k l m n p r s st t tr v w".split()
_VOWELS = "a e i o u ai ea io".split()
_CODAS = ["", "", "n", "r", "l", "s", "nd", "rt", "m", "x"]
_ACCENTS = {"a": "á", "e": "é", "i": "í", "o": "ö", "u": "ü", "n": "ñ", "c": "ç"}


def syllables(draw: Draw, least: int, most: int) -> str:
    """An invented word in small ASCII letters."""
    parts = [draw.pick(_ONSETS) + draw.pick(_VOWELS) for _ in range(draw.between(least, most))]
    return "".join(parts) + draw.pick(_CODAS)


def name(draw: Draw, accents: float = 0.0) -> str:
    """An invented proper name; `accents`: how often a letter that can carry one does."""
    word = syllables(draw, 2, 3)
    marked = "".join(_ACCENTS[c] if c in _ACCENTS and draw.chance(accents) else c for c in word)
    return marked[0].upper() + marked[1:]


def distinct(make: list[str], size: int) -> list[str]:
    """The first `size` different texts of `make`, in order."""
    found = list(dict.fromkeys(make))[:size]
    assert len(found) == size, "the grammar is too small for what is asked of it"
    return found


def names(draw: Draw, size: int, accents: float = 0.0) -> list[str]:
    """Different proper names."""
    return distinct([name(draw, accents) for _ in range(size * 2 + 8)], size)


_VERBS = (
    "load save open close merge split count parse render fetch queue retry bind flush scan trim build check "
    "clear copy drain emit find grant hash join lock mark move pack poll prune read reset route seal send"
).split()
_NOUNS = (
    "user order page token buffer route event cache image report ticket frame packet price batch account "
    "beacon bucket cursor digest entry field graph header index journal kernel label ledger member metric "
    "node parcel policy query record region sample session shard signal stream table vector window"
).split()
_TRAITS = (
    "old new raw idle dirty local remote total final spare active base cold first last next open warm".split()
)


def identifier(draw: Draw) -> list[str]:
    """The parts of a name in code, such as ['fetch', 'raw', 'token']."""
    middle = [draw.pick(_TRAITS)] if draw.chance(0.5) else []
    return [draw.pick(_VERBS), *middle, draw.pick(_NOUNS)]


def snake(draw: Draw) -> str:
    """A name such as `fetch_raw_token`."""
    return "_".join(identifier(draw))


def camel(draw: Draw) -> str:
    """A name such as `fetchRawToken`."""
    first, *rest = identifier(draw)
    return first + "".join(part.capitalize() for part in rest)


def variables(draw: Draw, size: int, least_parts: int = 2) -> list[str]:
    """Different names in snake case, each of at least so many parts."""
    made = []
    for _ in range(size * 3 + 10):
        parts = [*identifier(draw), draw.pick(["id", "at", "max", "size", syllables(draw, 1, 2)])]
        made.append("_".join(parts if draw.chance(0.6) or least_parts > 2 else parts[:2]))
    return distinct(made, size)


# --- prose ----------------------------------------------------------------------------------------

_ARTICLES = ["the", "a", "every", "the other", "one", "their", "no", "each"]
_ADJECTIVES = (
    "narrow late quiet second wooden bright empty northern careful heavy public damp ancient borrowed "
    "brittle broken calm crooked distant early faded foreign gentle hollow idle loud lucky muddy patient "
    "pale rusty shallow silver sleepy stubborn tidy unpaid warm windy"
).split()
_THINGS = (
    "ferry harbour letter orchard clock baker engine map valley choir ladder river garden report anchor "
    "barrel bicycle bridge candle chapel cottage cousin envelope fiddle gardener kettle lantern library "
    "market meadow mirror neighbour onion painter parcel pilot postcard quarry railway saddle station "
    "tailor teacher tower umbrella village violin wagon window"
).split()
_ACTS = (
    "carried followed repaired counted painted forgot crossed measured delayed described sold admired "
    "borrowed cleaned drew emptied found guarded ignored invented kept lifted lost moved noticed opened "
    "praised preferred recognised remembered replaced searched showed sketched watched"
).split()
_PLACES = (
    "under the bridge,near the mill,in the cellar,beyond the wall,on the east road,at the corner,behind the "
    "church,by the lake,in a back room,on the platform,outside the gate,over the hill"
).split(",")
_LINKS = ["while", "although", "because", "and then", "until", "before", "so that", "whereas"]


def _phrase(draw: Draw) -> str:
    article = draw.pick(_ARTICLES)
    words = f"{draw.pick(_ADJECTIVES)} {thing(draw)}" if draw.chance(0.6) else thing(draw)
    return f"{'an' if article == 'a' and words[0] in 'aeiou' else article} {words}"


def clause(draw: Draw, accents: float = 0.0) -> str:
    """A main clause without capital and full stop."""
    subject = name(draw, accents) if draw.chance(0.35) else _phrase(draw)
    place = " " + draw.pick(_PLACES) if draw.chance(0.5) else ""
    return f"{subject} {draw.pick(_ACTS)} {_phrase(draw)}{place}"


def sentence(draw: Draw, accents: float = 0.0) -> str:
    """A sentence of one or two clauses, with its full stop."""
    text = clause(draw, accents)
    if draw.chance(0.5):
        text += f", {draw.pick(_LINKS)} {clause(draw, accents)}"
    return text[0].upper() + text[1:] + "."


def wrapped(words: Sequence[str], width: int) -> list[str]:
    """Words filled into lines of at most `width` characters, as many on each as there is room for."""
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines


def paragraph(draw: Draw, sentences: int, width: int = 72, accents: float = 0.0) -> list[str]:
    """Filled lines of prose."""
    return wrapped(" ".join(sentence(draw, accents) for _ in range(sentences)).split(), width)


def run_on(draw: Draw, clauses: int, accents: float = 0.0) -> str:
    """One long sentence: its only full stop is at its end."""
    text = ", ".join(clause(draw, accents) for _ in range(clauses))
    return text[0].upper() + text[1:] + "."


def thing(draw: Draw) -> str:
    """A noun in the singular."""
    return draw.pick(_THINGS)


def heading(draw: Draw) -> str:
    """A short title in small letters."""
    return f"{thing(draw)} {draw.pick(['of', 'and', 'without', 'after'])} {_phrase(draw)}"


# --- logs -----------------------------------------------------------------------------------------

_LEVELS = ["INFO", "INFO", "INFO", "DEBUG", "WARN"]
_PARTS = ["auth", "billing", "cache", "mailer", "proxy", "search", "worker"]


def message(draw: Draw) -> str:
    """What one log entry says; it holds no colon."""
    node, noun = f"{syllables(draw, 1, 2)}-{draw.between(1, 99)}", draw.pick(_NOUNS)
    return draw.pick(
        [
            f"{draw.pick(_VERBS)} of {noun} {draw.between(1000, 9999)} took {draw.between(2, 900)} ms",
            f"node {node} {draw.pick(['joined', 'left', 'is slow', 'answers again'])}",
            f"{noun} {draw.between(100, 999)} {draw.pick(['queued', 'dropped', 'retried'])} for {node}",
            f"{draw.between(2, 64)} of {draw.between(65, 512)} {noun}s left in {node}",
        ]
    )


def log_line(draw: Draw, second: int) -> str:
    """`2031-04-07 08:15:42 INFO  cache: ...`; `second` counts from midnight."""
    clock = f"{second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}"
    return f"2031-04-07 {clock} {draw.pick(_LEVELS):5} {draw.pick(_PARTS)}: {message(draw)}"


def log(draw: Draw, size: int) -> list[str]:
    """Log lines in the order of their times, none at level ERROR."""
    second = draw.between(0, 40_000)
    lines = []
    for _ in range(size):
        second += draw.between(1, 90)
        lines.append(log_line(draw, second))
    return lines


# --- tables and settings --------------------------------------------------------------------------


def code(draw: Draw) -> str:
    """A code of fixed width, such as `KQ-4071`."""
    letters = "ABCDEFGHJKLMNPQRSTUVWXYZ"
    return f"{draw.pick(letters)}{draw.pick(letters)}-{draw.between(1000, 9999)}"


def codes(draw: Draw, size: int) -> list[str]:
    """Different codes."""
    return distinct([code(draw) for _ in range(size * 2 + 8)], size)


def date(draw: Draw) -> str:
    """A date of this century, `YYYY-MM-DD`."""
    return f"20{draw.between(10, 39)}-{draw.between(1, 12):02}-{draw.between(1, 28):02}"


def status(draw: Draw) -> str:
    """A word of four letters for the state of a bill."""
    return draw.pick(["paid", "open", "sent", "late"])


_UNITS = ["cache", "server", "queue", "backup", "mail", "index", "proxy", "audit", "metrics", "limits"]
_SETTINGS = "host port path level limit owner region format window depth retries prefix".split()


def value(draw: Draw) -> str:
    """A value of a setting; it holds neither `=` nor a bracket."""
    return draw.pick(
        [
            str(draw.between(2, 9000)),
            f"/srv/{syllables(draw, 1, 2)}/{syllables(draw, 1, 2)}",
            f"{syllables(draw, 2, 2)}.example",
            draw.pick(["on", "off", "auto"]),
            f"{draw.between(1, 60)}s",
        ]
    )


def section_names(draw: Draw, size: int) -> list[str]:
    """Different names of sections."""
    made = [f"{draw.pick(_UNITS)}.{syllables(draw, 1, 2)}" for _ in range(size * 2 + 8)]
    return distinct(made, size)


def settings(draw: Draw, size: int, gap: str = "=") -> list[str]:
    """`key=value` lines with different keys."""
    return [f"{key}{gap}{value(draw)}" for key in draw.shuffled(_SETTINGS)[:size]]


# --- code -----------------------------------------------------------------------------------------


def call(draw: Draw) -> str:
    """A call as a C statement."""
    given = draw.pick([str(draw.between(0, 99)), draw.pick(_NOUNS), f"{draw.pick(_NOUNS)} + 1"])
    return f"{snake(draw)}({draw.pick(_NOUNS)}, {given});"


def statements(draw: Draw, size: int, depth: int = 0) -> list[tuple[int, str]]:
    """C statements as (depth, text): about `size` lines, blocks nested up to three deep."""
    lines: list[tuple[int, str]] = []
    while size > 0:
        if depth < 3 and size >= 4 and draw.chance(0.45):
            inner = draw.between(1, min(size - 2, 7))
            test = f"{draw.pick(_NOUNS)} {draw.pick(['==', '!=', '>'])} {draw.between(0, 40)}"
            lines.append((depth, f"{draw.pick(['if', 'while'])} ({test}) {{"))
            lines += statements(draw, inner, depth + 1)
            lines.append((depth, "}"))
            size -= inner + 2
        else:
            left = draw.pick(_NOUNS)
            lines.append(
                (depth, draw.pick([call(draw), f"{left} = {draw.between(1, 99)};", f"{left} += {left};"]))
            )
            size -= 1
    return lines


def function(draw: Draw, size: int) -> list[tuple[int, str]]:
    """A C function as (depth, text)."""
    head = f"int {snake(draw)}_{syllables(draw, 1, 1)}(int {draw.pick(_NOUNS)}) {{"
    return [(0, head), *((depth + 1, text) for depth, text in statements(draw, size)), (0, "}")]


def indented(lines: Sequence[tuple[int, str]], by: str = "\t") -> list[str]:
    """(depth, text) as lines."""
    return [by * depth + text for depth, text in lines]


def c_file(draw: Draw, functions: int, size: int) -> list[str]:
    """Functions with one blank line between them, indented by tabs."""
    lines: list[str] = []
    for number in range(functions):
        lines += [""] * (number > 0) + indented(function(draw, size))
    return lines


def script(draw: Draw, size: int) -> list[str]:
    """Assignments and calls of a script, one a line, without indentation."""
    return [
        draw.pick(
            [
                f"{snake(draw)} = {camel(draw)}({draw.between(1, 500)})",
                f"{camel(draw)}({draw.pick(_NOUNS)}, {draw.pick(_TRAITS)})",
                f"{draw.pick(_NOUNS)}.{snake(draw)}({draw.between(1, 99)})",
            ]
        )
        for _ in range(size)
    ]
