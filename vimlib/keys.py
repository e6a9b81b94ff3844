"""The two key notations: what one key is, how many there are, and how Vim is given them.

Both benchmarks write keystrokes as text, by rules that look alike and are not: golf reads
any string and takes an unknown `<word>` as plain characters; bench refuses it. A score is a
matter of single keys (golf's cap, bench's efficiency), so the rules live here once, as exact
as the two reference implementations, and everything else asks this module.

golf (`vimgolf.keys.tokenize_keycode_reprs` of vimgolf 0.5.4): special names are
case-insensitive; at each `<` the shortest matching name wins; anything else is one character,
one key. `<C-I>`, `<C-J>`, `<C-M>` and `<C-[>` are no names there: they are five characters each.

bench (vimbench's notation): `<Esc> <CR> <NL> <Tab> <Space> <BS>` exactly as written here (its
reference refuses `<esc>`), `<C-X>` for an ASCII letter X of either case (the `C` is a capital),
`<<` for `<`, which wins over any name; every other character but `<` stands for itself.

This module starts no Vim and knows nothing of files; it neither judges nor guards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from vimlib.records import Protocol, VimlibError

__all__ = [
    "EXTRACTION_RULES",
    "GOLF_ARGUMENT_LIMIT",
    "GOLF_NAMES",
    "BadNotation",
    "Stripped",
    "Undeliverable",
    "Untranslatable",
    "check_deliverable",
    "count",
    "expand",
    "extract",
    "feedkeys_argument",
    "literal",
    "split",
    "translate",
    "without_phantoms",
]


class BadNotation(VimlibError):
    """The keys break the notation of their protocol."""

    def __init__(self, keys: str, position: int, why: str) -> None:
        super().__init__(keys, position, why)
        self.keys = keys
        self.position = position
        """Index of the offending character in `keys`, from 0."""
        self.why = why

    def __str__(self) -> str:
        return f"keys, character {self.position + 1}: {self.why}"


class Undeliverable(BadNotation):
    """The keys may be well written, but no Vim can be given them."""


class Untranslatable(VimlibError):
    """One notation cannot say what stands in the other (or in a text)."""

    def __init__(self, text: str, position: int, found: str, target: Protocol) -> None:
        super().__init__(text, position, found, target)
        self.text = text
        self.position = position
        """Index of the offending token in `text`, from 0."""
        self.found = found
        self.target = target

    def __str__(self) -> str:
        return (
            f"keys, character {self.position + 1}: {self.found!a} cannot be said in {self.target} notation; "
            "use a key that types a character"
        )


# --- golf's names -----------------------------------------------------------------------------

_NAMED_CONTROLS = {"tab": "\t", "nl": "\n", "cr": "\r", "esc": "\x1b"}

# What each of these types as one character. NUL is left out on purpose: it has a name
# (`<C-@>`, `<Nul>`) but no notation of ours can hand it to the other protocol.
_GOLF_TYPES = {
    **{f"c-{chr(code + 64).lower()}": chr(code) for code in range(1, 32) if chr(code) not in "\t\n\r\x1b"},
    **_NAMED_CONTROLS,
    "return": "\r",
    "enter": "\r",
    "space": " ",
    "lt": "<",
    "bslash": "\\",
    "bar": "|",
}

# Golf counts each of these as one key, but Vim has no such key: "\<S->" types the four
# characters `<S->`. The package's table has them for modifiers that stand alone, and for bytes.
_UNKNOWN_TO_VIM = frozenset(
    [f"0x{byte:02x}" for byte in range(0x80, 0x100)]
    + [
        f"{meta}{control}{alt}{shift}"
        for meta in ("", "m-")
        for control in ("", "c-")
        for alt in ("", "a-")
        for shift in ("", "s-")
        # Ctrl with Alt has lost its last dash in the table: `<C-A>` and `<M-C-A>`.
        if (meta or control or alt or shift) and (control, alt, shift) != ("c-", "a-", "")
    ]
    + ["eol"]
)

_KEYPAD = ["home", "end", "pageup", "pagedown", "plus", "minus", "divide", "multiply"]
_KEYPAD += ["enter", "point", "insert", "del", *"0123456789"]
_CURSOR = ["up", "down", "left", "right", "home", "end"]

_GOLF_KEYS = frozenset(
    ["c-@", "nul", "csi", "xcsi", "m-c-a", "s-tab"]
    + ["bs", "del", "insert", "help", "undo", "pageup", "pagedown", "mouse"]
    + [f"f{number}" for number in range(1, 20)]
    # No <S-F8>: the table calls that key <S-F9>, and the two after it both <S-F10>.
    + [f"s-f{number}" for number in range(1, 38) if number != 8]
    + [f"k{name}" for name in _KEYPAD]
    + _CURSOR
    + [f"s-{name}" for name in _CURSOR]
    + [f"c-{name}" for name in ("left", "right", "home", "end")]
    + [f"{button}{act}" for button in ("left", "middle", "right") for act in ("mouse", "drag", "release")]
    + [f"scrollwheel{direction}" for direction in ("up", "down", "left", "right")]
)

GOLF_NAMES = frozenset(_GOLF_TYPES) | _UNKNOWN_TO_VIM | _GOLF_KEYS
"""All special names of golf, in lower case, without their `<` and `>` (none has either inside,
so no name begins another, and the first `>` after a `<` ends the only name that can start there)."""


# --- bench's names ----------------------------------------------------------------------------

_BENCH_TYPES: Mapping[str, str] = {
    "<<": "<",
    "<Esc>": "\x1b",
    "<CR>": "\r",
    "<NL>": "\n",
    "<Tab>": "\t",
    "<Space>": " ",
    "<BS>": "\x08",
    **{
        f"<C-{letter}>": chr(ord(letter.upper()) - 64)
        for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    },
}

_BENCH_TOKEN = re.compile(r"[^<]|<<|<(?:Esc|CR|NL|Tab|Space|BS|C-[A-Za-z])>")
_NO_KEY = re.compile("[\0\ud800-\udfff]")


# --- split and count --------------------------------------------------------------------------


def split(keys: str, protocol: Protocol) -> list[str]:
    """The tokens of `keys`, one a key; joined, they are `keys` again.

    Golf never fails. Bench raises BadNotation at the first `<` that starts no token of its
    notation, and at a NUL or a lone surrogate, which are no keys.
    """
    return _split_golf(keys) if protocol is Protocol.GOLF else _split_bench(keys)


def count(keys: str, protocol: Protocol) -> int:
    """The length of an answer as its protocol counts it.

    Golf: the number of keys, any character being one. Bench: bytes of UTF-8 after expansion,
    without the `<Esc>:wq!<CR>` that the replay appends; raises BadNotation.
    """
    return len(_split_golf(keys)) if protocol is Protocol.GOLF else len(expand(keys))


def _split_golf(keys: str) -> list[str]:
    # The reference lower-cases one character at a time. Lower-casing the name as a whole is the
    # same test: only 'İ' becomes more than one character, the second not ASCII, and only the
    # final sigma depends on its neighbours, so neither way can turn them into a name.
    head, *rest = keys.split("<")
    tokens = list(head)
    for part in rest:
        name, closed, tail = part.partition(">")
        if closed and name.lower() in GOLF_NAMES:
            tokens.append(f"<{name}>")
            tokens += tail
        else:
            tokens.append("<")
            tokens += part
    return tokens


def _split_bench(keys: str) -> list[str]:
    no_key = _NO_KEY.search(keys)
    tokens = _BENCH_TOKEN.findall(keys)
    if sum(map(len, tokens)) != len(keys):
        position = _first_bad(keys)
        if no_key is None or position < no_key.start():
            found = re.match("<[^<>]{0,11}>?", keys[position : position + 13])
            assert found is not None
            raise BadNotation(
                keys,
                position,
                f"found {found[0]!a}, expected <Esc>, <CR>, <NL>, <Tab>, <Space>, <BS> or <C-letter>; "
                "write << for a literal <",
            )
    if no_key is not None:
        raise _not_a_key(keys, no_key.start())
    return tokens


def _first_bad(keys: str) -> int:
    position = 0
    while token := _BENCH_TOKEN.match(keys, position):
        position = token.end()
    return position


# --- handing keys to Vim ----------------------------------------------------------------------

GOLF_ARGUMENT_LIMIT = 131_072
"""Linux's MAX_ARG_STRLEN (32 pages of 4 KiB): bytes of one process argument, its final NUL included."""


def expand(keys: str) -> bytes:
    """The bytes that bench types: names expanded, the rest as UTF-8. Raises BadNotation.

    The `<Esc>:wq!<CR>` that ends every bench replay is not part of the answer and not added here.
    """
    return "".join([_BENCH_TYPES.get(token, token) for token in _split_bench(keys)]).encode()


def feedkeys_argument(keys: str) -> str:
    r"""What stands between the quotes of golf's `feedkeys("...", "t")`.

    `\` and `"` are escaped, each special name is written `\<name>`, the rest is as it is: the
    rule of the reference verifier, to the letter. Names with a backslash (`<C-\>`) need no
    escape inside; Vim reads `\<C-\>` as that key.
    """
    return "".join(
        [token if len(token) == 1 and token not in '\\"' else "\\" + token for token in _split_golf(keys)]
    )


def _golf_command(keys: str) -> str:
    return f'+call feedkeys("{feedkeys_argument(keys)}", "t")'


def check_deliverable(keys: str, protocol: Protocol) -> None:
    """Raises BadNotation where no Vim can be given these keys, and says why.

    Both protocols: a NUL (no process argument can hold one; bench's key file could, but the same
    text is to be worth the same in both), a lone surrogate (UTF-8 cannot encode it). Bench:
    whatever its notation refuses, whose length has no limit.
    Golf: keys whose `+call feedkeys("...", "t")` is over `GOLF_ARGUMENT_LIMIT` bytes with its
    final NUL. All but bench's own notation errors are Undeliverable.
    """
    if protocol is Protocol.BENCH:
        _split_bench(keys)
        return
    if no_key := _NO_KEY.search(keys):
        raise _not_a_key(keys, no_key.start())
    size = len(_golf_command(keys).encode()) + 1
    if size > GOLF_ARGUMENT_LIMIT:
        raise Undeliverable(
            keys,
            len(keys) - 1,
            f"{len(keys)} characters of keys make a process argument of {size} bytes, "
            f"expected at most {GOLF_ARGUMENT_LIMIT}; shorten them",
        )


def _not_a_key(keys: str, position: int) -> Undeliverable:
    if keys[position] == "\0":
        why = "found NUL, which is no key; leave it out"
    else:
        why = f"found the lone surrogate {keys[position]!a}, which UTF-8 cannot encode; leave it out"
    return Undeliverable(keys, position, why)


# --- translate --------------------------------------------------------------------------------


def translate(keys: str, source: Protocol, target: Protocol) -> str:
    r"""The same keys in the other notation, token by token.

    Bench to golf always succeeds and types exactly the same bytes: `<<` becomes `<`, or `<lt>`
    where the characters after it would make a name (`<<CR>` is text in bench: `<lt>CR>`);
    control characters get their golf names; `<BS>`, which in bench is the byte 8, becomes `<C-H>`
    (golf's `<BS>` is a key of its own, which after `<C-V>` types the text "<BS>").

    Golf to bench says what Vim is given: aliases by their one name (`<Enter>` is `<CR>`), names
    of printable characters as these (`<Bar>` is `|`, `<lt>` is `<<`), names that Vim does not
    know (`<0x80>`, `<C-S->`) as the text that they type, `<C-\>` and the three after it as raw
    control characters. `<BS>` stays, though bench's is the byte 8.

    Raises BadNotation where the source's rules are broken, Untranslatable where the target
    lacks a key (`<Left>`, `<F1>`, NUL). With one notation on both sides the keys are only checked.
    """
    tokens = split(keys, source)
    if source is target:
        return keys
    if target is Protocol.GOLF:
        return _golf_text([_golf_key(_BENCH_TYPES.get(token, token), token) for token in tokens])
    return "".join(_bench_keys(keys, tokens))


def _golf_key(character: str, spelled: str) -> str:
    """Golf's token for one character; `<` is left for `_golf_text` to settle."""
    if spelled == "<Space>":
        return spelled
    if character >= " ":
        return character
    if character in _CONTROL_NAMES:
        return _CONTROL_NAMES[character]
    return f"<C-{chr(ord(character) + 64)}>"


_CONTROL_NAMES = {"\t": "<Tab>", "\n": "<NL>", "\r": "<CR>", "\x1b": "<Esc>"}


def _golf_text(tokens: Sequence[str], open_end: bool = False) -> str:
    """Golf's tokens joined, each literal `<` written so that it stays one.

    `open_end`: more keys may follow, so a `<` that they could complete to a name is `<lt>` too.
    """
    written = list(tokens)
    for index, token in enumerate(tokens):
        if token == "<" and _opens_name(tokens[index + 1 : index + 2 + _LONGEST_NAME], open_end):
            written[index] = "<lt>"
    return "".join(written)


_LONGEST_NAME = max(map(len, GOLF_NAMES))


def _opens_name(following: Sequence[str], open_end: bool) -> bool:
    """Whether a `<` before these tokens would be read as the start of a special name."""
    name = ""
    for token in following:
        if token == ">":
            return name.lower() in GOLF_NAMES
        if token[0] == "<":
            return False
        name += token
    return open_end and any(f"{known}>".startswith(name.lower()) for known in GOLF_NAMES)


def _bench_keys(keys: str, tokens: Sequence[str]) -> Iterator[str]:
    position = 0
    for token in tokens:
        name = token[1:-1].lower() if len(token) > 1 else ""
        if name in ("bs", "space"):
            yield {"bs": "<BS>", "space": "<Space>"}[name]
        elif name in _GOLF_KEYS or _NO_KEY.match(token):
            raise Untranslatable(keys, position, token, Protocol.BENCH)
        else:
            yield "".join(map(_bench_key, _GOLF_TYPES.get(name, token)))
        position += len(token)


def _bench_key(character: str) -> str:
    """Bench's token for one character."""
    if character == "<":
        return "<<"
    if character in _CONTROL_NAMES:
        return _CONTROL_NAMES[character]
    # Bench has names for letters only: 28 to 31 stand for themselves, raw.
    return f"<C-{chr(ord(character) + 64)}>" if character < "\x1b" else character


# --- text to type, answers to read ------------------------------------------------------------


def literal(text: str, protocol: Protocol) -> str:
    """Keys that type `text` in Insert mode and stay in it.

    A newline is `<CR>`, a tab `<Tab>`; other control characters (C0 and DEL) are inserted with
    `<C-V>` before them, NUL as `<C-V>000`. In golf a `<` is `<lt>` wherever it would make a name,
    also with keys that may be put after the text. Indentation, abbreviations and text width are
    Vim's own business: golf's vimrc sets 'autoindent', so a caller who types several lines takes
    that into account (`:set paste` ends it). Raises Untranslatable at a lone surrogate.
    """
    golf = protocol is Protocol.GOLF
    tokens: list[str] = []
    for position, character in enumerate(text):
        if character == "\n":
            tokens.append("<CR>")
        elif character == "\0":
            tokens += ["<C-V>", *"000"]
        elif _NO_KEY.match(character):
            raise Untranslatable(text, position, character, protocol)
        else:
            if (character < " " and character != "\t") or character == "\x7f":
                tokens.append("<C-V>")
            tokens.append(_golf_key(character, character) if golf else _bench_key(character))
    return _golf_text(tokens, open_end=True) if golf else "".join(tokens)


EXTRACTION_RULES: Mapping[Protocol, str] = MappingProxyType(
    {Protocol.GOLF: "golf/last-line-1", Protocol.BENCH: "bench/first-fence-1"}
)
"""Name and version of the rule by which `extract` reads an answer; a change of rule is a new version."""

_PHANTOM = re.compile(r"<fd-[0-9a-f]{2}>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Stripped:
    """Recorded keys without the phantoms among them."""

    clean: str
    phantoms: int
    """How many were stripped."""
    raw_keystrokes: int
    """Keys before that, each phantom as one, the others as golf counts."""


def without_phantoms(recorded: str) -> Stripped:
    """A person's keys as typed, from a log that Vim recorded, in golf's notation.

    Newer Vims write events that nobody typed (a timer, a change of focus) into a key log as `<fd-6d>` and
    the like, which golf would take for seven characters each.
    """
    clean, phantoms = _PHANTOM.subn("", recorded)
    return Stripped(clean, phantoms, count(clean, Protocol.GOLF) + phantoms)


_LANGUAGE = re.compile(r"[^\s<:]+")


def extract(completion: str, protocol: Protocol) -> str:
    """The keys in a model's whole answer; '' where there are none.

    Golf: the last line (as `str.splitlines` cuts them) that is not blank, stripped.

    Bench: the answer, stripped. If it holds a ``` fence: what stands between the first ``` and
    the next (or the end), without a language line, stripped. A language line is a first line,
    on the fence itself, of one word without `<` and `:`, with something after it: a block of one
    line is all keys. (vimbench's own code also drops a first line *below* a bare fence if it has
    neither `<` nor `:`; that cuts off keys, and no rule says so.)
    """
    if protocol is Protocol.GOLF:
        return next((line.strip() for line in reversed(completion.splitlines()) if line.strip()), "")
    answer = completion.strip()
    _, fence, after = answer.partition("```")
    if not fence:
        return answer
    block = after.partition("```")[0]
    first, _, rest = block.partition("\n")
    if rest.strip() and _LANGUAGE.fullmatch(first.strip()):
        block = rest
    return block.strip()
