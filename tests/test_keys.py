"""Both notations against their references: the package's tokenizer, the kernel, and Vim itself."""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vimgolf import keys as package

from vimlib import keys
from vimlib.keys import (
    GOLF_ARGUMENT_LIMIT,
    GOLF_NAMES,
    BadNotation,
    Undeliverable,
    Untranslatable,
    check_deliverable,
    count,
    expand,
    extract,
    feedkeys_argument,
    literal,
    split,
    translate,
)
from vimlib.records import Protocol

GOLF, BENCH = Protocol.GOLF, Protocol.BENCH

# --- the package's own table, and text that is hard for its rules -------------------------------

_LISTED = {name for name in package._KEYCODE_REPR_LOOKUP.values() if name[0] == "<" and name[-1] == ">"}
# Those that the package adds by hand, inside its function.
_ADDED = {
    *("<nul>", "<return>", "<enter>", "<esc>", "<space>", "<lt>"),
    *("<bslash>", "<bar>", "<csi>", "<xcsi>", "<eol>"),
}
PACKAGE_NAMES = sorted({name.lower() for name in _LISTED} | _ADDED)

# Characters whose lower, upper or folded form is or holds an ASCII letter, or nearly.
ODD = "\u212aİıſẞßΣςÅÅﬀｋＫʰⅽªº\u0307\ud800\udfff\0\x1c\x85\u2028\U0001d424\U0001f600"


def _odd_case(name: str, seed: int) -> str:
    pick = random.Random(seed)
    swapped = [pick.choice((c.lower(), c.upper())) for c in name]
    if pick.random() < 0.4:
        look_alikes = {"k": "\u212a", "i": "İ", "s": "ſ"}
        swapped = [look_alikes.get(c.lower(), c) if pick.random() < 0.7 else c for c in swapped]
    return "".join(swapped)


def _half(name: str, seed: int) -> str:
    cut = random.Random(seed).randrange(1, len(name))
    return name[:cut] if seed % 2 else name[cut:]


_seed = st.integers(0, 2**16)
_name = st.sampled_from(PACKAGE_NAMES)
FRAGMENTS = st.one_of(
    st.just("<"),
    st.sampled_from(
        [">", "->", "-", "C-", "<C-", "<<", "<0x", "c", "k", "K", "\\", '"', " ", "\n", "a", "1"]
    ),
    st.sampled_from(ODD),
    _name,
    st.builds(_odd_case, _name, _seed),
    st.builds(_half, _name, _seed),
    st.characters(),
)


# --- golf: splitting --------------------------------------------------------------------------


def test_golf_knows_exactly_the_names_that_the_package_knows() -> None:
    assert sorted(f"<{name}>" for name in GOLF_NAMES) == PACKAGE_NAMES


def test_no_golf_name_holds_a_bracket_so_the_first_bracket_ends_the_shortest() -> None:
    assert not [name for name in GOLF_NAMES if "<" in name or ">" in name]


def test_golf_splits_more_than_20000_hostile_strings_as_the_package_does() -> None:
    tried: set[str] = set()

    # Drawing is slow, so an example is a handful of fragments and many strings made of them. A call
    # of the package is slow too, but no name holds a newline: one call can split a batch of lines.
    @settings(max_examples=220)
    @given(st.lists(FRAGMENTS, min_size=12, max_size=30, unique=True), _seed)
    def splits_alike(fragments: list[str], seed: int) -> None:
        pick = random.Random(seed)
        texts = ["".join(pick.choices(fragments, k=pick.randint(3, 12))) for _ in range(110)]
        ours = [token for text in texts for token in (*split(text, GOLF), "\n")]
        assert ours == package.tokenize_keycode_reprs("".join(text + "\n" for text in texts))
        tried.update(texts)

    splits_alike()
    assert len(tried) >= 20_000


@settings(max_examples=500)
@given(st.lists(FRAGMENTS).map("".join))
def test_golf_splits_one_hostile_string_as_the_package_does(text: str) -> None:
    assert split(text, GOLF) == package.tokenize_keycode_reprs(text)


@given(st.text(st.sampled_from("<>-cCkK\u212aİ0x8fF1sStTaAbB@^\\ ")))
def test_golf_splits_short_alphabets_as_the_package_does(text: str) -> None:
    assert split(text, GOLF) == package.tokenize_keycode_reprs(text)


def test_each_golf_name_is_one_key_in_any_case() -> None:
    for name in PACKAGE_NAMES:
        for spelled in (name, name.upper(), name.replace("k", "\u212a")):
            assert split(spelled, GOLF) == [spelled]


def test_golf_reads_every_character_that_lowers_to_ascii_as_the_package_does() -> None:
    for code in range(sys.maxunicode + 1):
        lowered = chr(code).lower()
        if lowered.isascii() and lowered.isalpha() and not chr(code).isascii():
            text = f"<C-{chr(code)}>"
            assert split(text, GOLF) == package.tokenize_keycode_reprs(text) == [text]


def test_golf_takes_unknown_names_as_characters() -> None:
    assert split("<Nope><C-M>a", GOLF) == [*"<Nope>", *"<C-M>", "a"]
    assert split("<<Esc>", GOLF) == ["<", "<Esc>"]
    assert split("", GOLF) == []


def test_golf_counts_keys_and_bench_counts_bytes() -> None:
    assert count("ié<Esc>:wq<NL>", GOLF) == 7
    assert count("ié<Esc>:wq<NL>", BENCH) == 8


# --- bench: notation --------------------------------------------------------------------------


def test_bench_expands_its_names() -> None:
    assert expand("iA<Tab>B<Space>C<BS><Esc><C-V><C-v><CR><NL><<é") == b"iA\tB C\x08\x1b\x16\x16\r\n<\xc3\xa9"


def test_bench_reads_a_double_bracket_before_any_name() -> None:
    assert split("<<CR>", BENCH) == ["<<", "C", "R", ">"]
    assert split("<<<CR>", BENCH) == ["<<", "<CR>"]


def test_bench_takes_what_lies_between_names_as_it_is() -> None:
    assert expand('a>\\"\n\t\x7f') == b'a>\\"\n\t\x7f'


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("<", 0),
        ("ab<", 2),
        ("a<b", 1),
        ("x<Foo>", 1),
        ("<esc>", 0),
        ("<ESC>", 0),
        ("<cr>", 0),
        ("<c-v>", 0),
        ("<C-1>", 0),
        ("<C-é>", 0),
        ("<C-\u212a>", 0),
        ("<Left>", 0),
        ("<lt>", 0),
        ("<CR", 0),
        ("<CR><<<", 6),
        ("<\nCR>", 0),
        ("a\0b", 1),
        ("a\ud800", 1),
        ("\udc80<Foo>", 0),
        ("<Foo>\0", 0),
    ],
)
def test_bench_refuses_what_its_notation_lacks_and_says_where(text: str, position: int) -> None:
    for ask in (lambda: split(text, BENCH), lambda: expand(text), lambda: count(text, BENCH)):
        with pytest.raises(BadNotation) as caught:
            ask()
        assert caught.value.position == position
        assert "\n" not in str(caught.value)
        str(caught.value).encode()


def test_a_notation_error_shows_what_was_found_and_how_to_mend_it() -> None:
    with pytest.raises(BadNotation) as caught:
        expand("dd<Nope>x")
    assert str(caught.value) == (
        "keys, character 3: found '<Nope>', expected <Esc>, <CR>, <NL>, <Tab>, <Space>, <BS> or <C-letter>; "
        "write << for a literal <"
    )


def test_errors_survive_the_way_between_processes() -> None:
    for error in (BadNotation("a<", 1, "why"), Undeliverable("\0", 0, "why")):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.position) == (type(error), str(error), error.position)
    lost = pickle.loads(pickle.dumps(Untranslatable("<F1>", 0, "<F1>", BENCH)))
    assert lost.found == "<F1>"


@given(st.lists(st.sampled_from(["<Esc>", "<CR>", "<<", "<C-x>", "a", "é", "\n", ">", "\U0001f600"])))
def test_bench_tokens_are_what_they_were_made_of(tokens: list[str]) -> None:
    assert split("".join(tokens), BENCH) == tokens
    assert b"".join(expand(token) for token in tokens) == expand("".join(tokens))


# --- handing keys to Vim ----------------------------------------------------------------------


def test_feedkeys_argument_escapes_as_the_reference_verifier_does() -> None:
    assert feedkeys_argument(r'i\"<Esc><C-\><Nope>:s/\n/"<NL>') == r"i\\\"\<Esc>\<C-\><Nope>:s/\\n/\"\<NL>"


@given(st.lists(FRAGMENTS).map("".join))
def test_feedkeys_argument_follows_the_rule_token_by_token(text: str) -> None:
    written = []
    for token in package.tokenize_keycode_reprs(text):
        special = token.startswith("<") and token.endswith(">")
        written.append("\\" + token if special or token in ("\\", '"') else token)
    assert feedkeys_argument(text) == "".join(written)


@pytest.mark.parametrize("protocol", Protocol)
@pytest.mark.parametrize("text", ["a\0b", "a\ud800b"])
def test_nul_and_lone_surrogates_cannot_be_given_to_any_vim(protocol: Protocol, text: str) -> None:
    with pytest.raises(Undeliverable, match="character 2: found (NUL|the lone surrogate '.ud800')"):
        check_deliverable(text, protocol)


def test_bench_notation_errors_are_told_apart_from_undeliverable_keys() -> None:
    with pytest.raises(BadNotation) as caught:
        check_deliverable("<Nope>", BENCH)
    assert not isinstance(caught.value, Undeliverable)
    check_deliverable("<Nope>", GOLF)


@pytest.mark.parametrize("unit", ["x", '"', "é", "<Esc>"])
def test_golf_keys_are_refused_just_where_the_kernel_refuses_the_argument(unit: str) -> None:
    frame = '+call feedkeys("{}", "t")'
    room = GOLF_ARGUMENT_LIMIT - len(frame.format("")) - 1
    fits = unit * (room // len(feedkeys_argument(unit).encode()))
    fits += "x" * (room - len(feedkeys_argument(fits).encode()))
    check_deliverable(fits, GOLF)
    subprocess.run(["/bin/true", frame.format(feedkeys_argument(fits))], check=True)
    with pytest.raises(Undeliverable, match=f"{GOLF_ARGUMENT_LIMIT + 1} bytes"):
        check_deliverable(fits + "x", GOLF)
    if os.sysconf("SC_PAGE_SIZE") == 4096:
        with pytest.raises(OSError, match="too long"):
            subprocess.run(["/bin/true", frame.format(feedkeys_argument(fits + "x"))], check=True)


def test_bench_keys_have_no_limit_of_length() -> None:
    check_deliverable("x" * (2 * GOLF_ARGUMENT_LIMIT), BENCH)


# --- translate --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bench", "golf"),
    [
        ("jdd:wq<CR>", "jdd:wq<CR>"),
        ("i<Esc><Tab><NL><Space> ", "i<Esc><Tab><NL><Space> "),
        ("<C-v><C-V>", "<C-V><C-V>"),
        ("<C-M><C-i><C-J><C-H><BS>", "<CR><Tab><NL><C-H><C-H>"),
        ("a<<b", "a<b"),
        ("x<<", "x<"),
        ("<<CR>", "<lt>CR>"),
        ("<<<CR>", "<<CR>"),
        ("<<<<cr>", "<<lt>cr>"),
        ("<<C<<R>", "<C<R>"),
        ("<<C-M>", "<C-M>"),
        ("<<\u212aEnd>", "<lt>\u212aEnd>"),
        ("\x1b\x01\x1d\n\t\x7f", "<Esc><C-A><C-]><NL><Tab>\x7f"),
        (':s/a|b\\"/é/<CR>', ':s/a|b\\"/é/<CR>'),
    ],
)
def test_bench_keys_are_said_in_golf(bench: str, golf: str) -> None:
    assert translate(bench, BENCH, GOLF) == golf


@pytest.mark.parametrize(
    ("golf", "bench"),
    [
        ("<enter><RETURN><cr><NL>", "<CR><CR><CR><NL>"),
        ("<lt><Bar><Bslash><SPACE><bs>", "<<|\\<Space><BS>"),
        ("a<b<", "a<<b<<"),
        ("<C-M><Nope>", "<<C-M><<Nope>"),
        ("<c-v><C-@x", "<C-V><<C-@x"),
        ("<C-\\><C-]><c-^><C-_>", "\x1c\x1d\x1e\x1f"),
        ("<C-S-><0x80><EOL>", "<<C-S-><<0x80><<EOL>"),
        ("\x1b\x16\r", "<Esc><C-V><CR>"),
        ("é\x7f", "é\x7f"),
    ],
)
def test_golf_keys_are_said_in_bench(golf: str, bench: str) -> None:
    assert translate(golf, GOLF, BENCH) == bench


@pytest.mark.parametrize(
    ("golf", "position"),
    [("<Left>", 0), ("ab<F1>", 2), ("<Esc><c-@>", 5), ("<Nul>", 0), ("<Del>", 0), ("\0", 0), ("a\ud800", 1)],
)
def test_keys_that_bench_lacks_are_refused(golf: str, position: int) -> None:
    with pytest.raises(Untranslatable, match="cannot be said in bench notation") as caught:
        translate(golf, GOLF, BENCH)
    assert caught.value.position == position


def test_translating_within_one_notation_only_checks() -> None:
    assert translate("<LEFT><Nope>", GOLF, GOLF) == "<LEFT><Nope>"
    assert translate("<C-v><<", BENCH, BENCH) == "<C-v><<"
    with pytest.raises(BadNotation):
        translate("<Left>", BENCH, BENCH)
    with pytest.raises(BadNotation):
        translate("<Left>", BENCH, GOLF)


_NAMES_CUT_UP = st.sampled_from([*"CcRrEeSsLlTtKk\u212aFf1-@>", "CR>", "C-A>", "lt>", "k\u212aHome>"])
BENCH_KEYS = st.lists(
    st.one_of(
        st.just("<<"),
        st.sampled_from(sorted(keys._BENCH_TYPES)),
        _NAMES_CUT_UP,
        st.characters(exclude_categories=["Cs"], exclude_characters="<\0"),
    )
).map("".join)


@settings(max_examples=500)
@given(BENCH_KEYS)
def test_bench_to_golf_and_back_types_the_same_bytes_with_as_many_keys_as_characters(text: str) -> None:
    golf = translate(text, BENCH, GOLF)
    assert expand(translate(golf, GOLF, BENCH)) == expand(text)
    assert count(golf, GOLF) == len(expand(text).decode())


@settings(max_examples=500)
@given(st.lists(FRAGMENTS).map("".join))
def test_golf_to_bench_and_back_types_the_same_bytes_or_is_refused(text: str) -> None:
    try:
        bench = translate(text, GOLF, BENCH)
    except Untranslatable:
        lacking = {f"<{name}>" for name in keys._GOLF_KEYS - {"bs"}} | set("\0\ud800\udfff")
        assert lacking & {token.lower() for token in split(text, GOLF)}
        return
    assert expand(translate(translate(bench, BENCH, GOLF), GOLF, BENCH)) == expand(bench)


# --- what Vim itself says ---------------------------------------------------------------------


def vim_strings(arguments: list[str], folder: Path) -> list[bytes]:
    """What Vim reads between the quotes of `feedkeys("...")` for each argument, in one Vim."""
    script = ["set encoding=utf-8", "let read = []"]
    script += [f'call add(read, "{argument}")' for argument in arguments]
    # A newline in an item would end the line in the file; bench and golf both have it as a key.
    script += [
        "call writefile(map(read, {_, it -> substitute(it, '\\n', '<newline>', 'g')}), 'read', 'b')",
        "qa!",
    ]
    (folder / "script.vim").write_text("\n".join(script), encoding="utf-8", newline="\n")
    environment = {**os.environ, "LANG": "C.UTF-8", "TERM": "dumb", "HOME": str(folder)}
    command = ["vim", "-u", "NONE", "-i", "NONE", "-N", "-es", "-S", "script.vim"]
    subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, timeout=60, check=False)
    read = (folder / "read").read_bytes().split(b"\n")
    assert len(read) == len(arguments)
    return [item.replace(b"<newline>", b"\n") for item in read]


def test_each_golf_name_types_in_vim_what_translate_takes_it_for(tmp_path: Path) -> None:
    names = sorted(GOLF_NAMES)
    typed = dict(
        zip(names, vim_strings([feedkeys_argument(f"<{name}>") for name in names], tmp_path), strict=True)
    )
    for name, read in typed.items():
        if name == "bs":
            assert read == b"\x80kb"
        elif name in keys._GOLF_KEYS:
            assert read.startswith(b"\x80") or name in ("csi", "m-c-a")
        else:
            assert read == expand(translate(f"<{name}>", GOLF, BENCH))


def test_golf_given_to_vim_types_the_bytes_of_the_bench_keys_it_was_translated_from(tmp_path: Path) -> None:
    wanted: list[str] = []

    @settings(max_examples=400)
    @given(BENCH_KEYS.filter(lambda text: "\r\n" not in text))
    def collect(text: str) -> None:
        wanted.append(text)

    collect()
    read = vim_strings([feedkeys_argument(translate(text, BENCH, GOLF)) for text in wanted], tmp_path)
    for text, bytes_read in zip(wanted, read, strict=True):
        assert bytes_read == expand(text)


# --- literal ----------------------------------------------------------------------------------


def test_literal_text_is_escaped_for_its_notation() -> None:
    text = "if a<b:\n\treturn <CR>\x1b\0"
    assert literal(text, BENCH) == "if a<<b:<CR><Tab>return <<CR><C-V><Esc><C-V>000"
    assert literal(text, GOLF) == "if a<b:<CR><Tab>return <lt>CR><C-V><Esc><C-V>000"


@pytest.mark.parametrize(
    ("text", "golf"),
    [("a<", "a<lt>"), ("<C", "<lt>C"), ("<q", "<q"), ("<C ", "<C "), ("<<", "<<lt>"), ("<div>", "<div>")],
)
def test_literal_golf_text_stays_text_whatever_keys_follow(text: str, golf: str) -> None:
    assert literal(text, GOLF) == golf
    for following in ("CR>", "R>", "-A>", ">", "<Esc>", "lt>", "End>"):
        assert split(golf + following, GOLF) == split(golf, GOLF) + split(following, GOLF)


@pytest.mark.parametrize("protocol", Protocol)
def test_literal_text_with_a_lone_surrogate_is_refused(protocol: Protocol) -> None:
    with pytest.raises(Untranslatable, match="character 2"):
        literal("a\ud800", protocol)


@given(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("<>CR\n\t\x1b\0"), max_size=40))
def test_literal_golf_text_is_as_many_keys_as_its_bench_form_has_characters(text: str) -> None:
    golf, bench = literal(text, GOLF), literal(text, BENCH)
    assert count(golf, GOLF) == len(expand(bench).decode())
    assert expand(translate(golf, GOLF, BENCH)) == expand(bench)


def typed_in_vim(protocol: Protocol, typed: str, folder: Path) -> bytes:
    """The file after `typed` in Insert mode of an empty buffer, given to Vim as the protocol does."""
    buffer = folder / "buffer"
    buffer.write_bytes(b"")
    command = ["vim", "-u", "NONE", "-i", "NONE", "-N", "-n"]
    if protocol is GOLF:
        command.append(f'+call feedkeys("{feedkeys_argument("i" + typed + "<Esc>:wq<CR>")}", "t")')
    else:
        (folder / "keys").write_bytes(expand("i" + typed) + b"\x1b:wq!\r")
        command += ["-s", str(folder / "keys")]
    # Standard input stays open and silent: at its end Vim may leave before it has used the keys.
    silent, ours = os.pipe()
    try:
        environment = {**os.environ, "LANG": "C.UTF-8", "TERM": "dumb", "HOME": str(folder)}
        subprocess.run(
            [*command, str(buffer)],
            cwd=folder,
            env=environment,
            stdin=silent,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=60,
            check=False,
        )
    finally:
        os.close(silent)
        os.close(ours)
    return buffer.read_bytes()


@pytest.mark.parametrize("protocol", Protocol)
def test_literal_text_arrives_in_the_buffer_of_a_real_vim(protocol: Protocol, tmp_path: Path) -> None:
    controls = "".join(
        f"{code:02x}[{chr(code)}]\n" for code in [*range(10), *range(11, 32), *range(127, 161)]
    )
    names = "<lt><CR> <<Esc>> <C-V> <0x80> <C- \\<Esc> \\ \"quoted\" 'q' |"
    text = f"{controls}{names}\n\t\tx\ty \n\nñ…😀 e\u0301\u2028\n<b>trailing <"
    assert typed_in_vim(protocol, literal(text, protocol), tmp_path) == text.encode() + b"\n"


# --- extract ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("completion", "keys_found"),
    [
        ("", ""),
        (" \n\t\n", ""),
        ("dd", "dd"),
        ("I think:\n\n  ddp:wq<NL>  \n \n", "ddp:wq<NL>"),
        ("ddp\n```\n", "```"),
        ("a\x0bb\x0cc\x1cd\x85e\u2028f", "f"),
        ("dd\rp\r\n", "p"),
    ],
)
def test_golf_takes_the_last_line_that_is_not_blank(completion: str, keys_found: str) -> None:
    assert extract(completion, GOLF) == keys_found
    lines = [line.strip() for line in completion.splitlines() if line.strip()]
    assert keys_found == (lines[-1] if lines else "")


@pytest.mark.parametrize(
    ("completion", "keys_found"),
    [
        ("", ""),
        ("  jdd:wq<CR>\n", "jdd:wq<CR>"),
        ("jdd\n:wq<CR>", "jdd\n:wq<CR>"),
        ("Here:\n```\njdd:wq<CR>\n```\nDone", "jdd:wq<CR>"),
        ("```vim\njdd:wq<CR>\n```", "jdd:wq<CR>"),
        ("```vim\r\njdd:wq<CR>\r\n```", "jdd:wq<CR>"),
        ("```jdd:wq<CR>```", "jdd:wq<CR>"),
        ("```ddp```", "ddp"),
        ("```ddp\n```", "ddp"),
        ("```:%s/a/b/<CR>\n:wq<CR>```", ":%s/a/b/<CR>\n:wq<CR>"),
        ("```\nddp\n:wq<CR>\n```", "ddp\n:wq<CR>"),
        ("```vim\nunclosed<CR>", "unclosed<CR>"),
        ("```\none\n```\n```\ntwo\n```", "one"),
        ("``````", ""),
        ("```", ""),
        ("use `dd`", "use `dd`"),
    ],
)
def test_bench_takes_the_answer_or_its_first_fenced_block(completion: str, keys_found: str) -> None:
    assert extract(completion, BENCH) == keys_found


def test_each_protocol_names_its_extraction_rule() -> None:
    assert set(keys.EXTRACTION_RULES) == set(Protocol)
