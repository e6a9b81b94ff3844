"""The solvers' answers, played in the real Vim."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vimlib import keys
from vimlib.records import AttemptStatus, Protocol, RunKind, Suite, Task
from vimlib.replay import ReplayRequest, replay_many
from vimlib.solvers import SOLVERS, VERSION, UnknownSolver, solver_run
from vimlib.solvers.answer import written
from vimlib.solvers.model import Failed, Unmodelled, Vim
from vimlib.solvers.model.ex import sorted_lines
from vimlib.solvers.model.patterns import substitute_lines
from vimlib.suites import load_suite

SHARED = Path(__file__).parents[2] / "shared" / "data"
BOTH = (Protocol.GOLF, Protocol.BENCH)


def wrong(answers: list[tuple[Task, Protocol, str]]) -> list[str]:
    """The answers whose final buffer in real Vim is not the target, as readable lines."""
    replays = replay_many([ReplayRequest(protocol, task.start, text) for task, protocol, text in answers])
    out = []
    for (task, protocol, text), replay in zip(answers, replays, strict=True):
        final = None if replay.final is None else replay.final.decode("utf-8", "surrogateescape")
        if final is None or protocol.formatted(final) != protocol.formatted(task.target):
            what = f"{task.id} {protocol} {replay.outcome} {task.start!r} -> {task.target!r}"
            out.append(f"{what}: {text} gave {final!r}")
    return out


def answered(name: str, tasks: list[Task], protocol: Protocol) -> list[tuple[Task, Protocol, str]]:
    out = []
    for task in tasks:
        text = SOLVERS[name](task, protocol)
        assert text is not None, f"{name} has no answer to {task.id}"
        out.append((task, protocol, text))
    return out


def shared_file(name: str) -> Path:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"needs ../shared/data/{name}, which is no part of the project")
    return path


def challenges() -> list[Task]:
    rows = [json.loads(line) for line in shared_file("vimgolf/challenges.jsonl").read_text().splitlines()]
    return [Task(row["id"], row["input"], row["target"]) for row in rows]


def vimbench_tasks() -> list[Task]:
    rows = json.loads(shared_file("vimbench/seed_tasks.json").read_text())
    return [Task(row["id"], row["start"], row["target"], reference=row["reference"]) for row in rows]


# --- the face -----------------------------------------------------------------------------------


def test_a_run_has_one_attempt_a_task_and_a_stable_id() -> None:
    tasks = (Task("a", "x\n", "y\n", reference="ry:wq<CR>"), Task("b", "x\n", "x\n"))
    suite = Suite("s", "1", "0123456789abcdef" * 4, tasks, BOTH)
    run = solver_run("diff", suite, Protocol.GOLF)
    assert run.id == "solver-diff-0123456789ab-golf"
    assert run == solver_run("diff", suite, Protocol.GOLF)
    assert (run.kind, run.name, run.suite_hash) == (RunKind.SOLVER, "diff", suite.hash)
    assert run.settings == {"solver_version": VERSION}
    assert [(a.task_id, a.epoch, a.attempt, a.status) for a in run.attempts] == [
        ("a", 1, 1, AttemptStatus.ANSWERED),
        ("b", 1, 1, AttemptStatus.ANSWERED),
    ]
    assert [a.keys for a in run.attempts] == ["ryZZ", "ZZ"]


def test_a_task_that_a_solver_cannot_answer_has_an_attempt_that_says_so() -> None:
    suite = Suite("s", "1", "f" * 64, (Task("a", "x\n", "y\n"),), BOTH)
    (attempt,) = solver_run("reference", suite, Protocol.BENCH).attempts
    assert attempt.status is AttemptStatus.NOT_REPLAYABLE
    assert attempt.keys is None and attempt.completion is None
    assert attempt.error == "solver reference has no answer"


def test_an_unknown_solver_is_named_with_those_there_are() -> None:
    suite = Suite("s", "1", "f" * 64, (), BOTH)
    with pytest.raises(UnknownSolver, match="'golf'.*diff, noop, reference, retype"):
        solver_run("golf", suite, Protocol.BENCH)


def test_the_reference_is_said_in_the_protocols_notation() -> None:
    task = Task("a", "<\n", "x\n", reference="f<<sx<Esc>:wq<CR>")
    assert SOLVERS["reference"](task, Protocol.BENCH) == task.reference
    golf = SOLVERS["reference"](task, Protocol.GOLF)
    assert golf is not None and keys.count(golf, Protocol.GOLF) == keys.count(
        task.reference or "", Protocol.BENCH
    )


@pytest.mark.parametrize("protocol", BOTH)
def test_noop_leaves_the_file_as_it_is(protocol: Protocol) -> None:
    assert wrong([(Task("a", "x\ny", "x\ny"), protocol, "ZZ")]) == []


@pytest.mark.parametrize("name", ["retype", "diff"])
def test_lone_surrogates_have_no_answer(name: str) -> None:
    assert SOLVERS[name](Task("a", "x\n", "\ud800\n"), Protocol.GOLF) is None


def test_more_keys_than_vim_can_be_given_are_no_answer() -> None:
    assert SOLVERS["retype"](Task("a", "x\n", "y" * 200_000), Protocol.GOLF) is None


# --- whole suites -------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", BOTH)
@pytest.mark.parametrize("name", ["retype", "diff", "reference"])
def test_every_task_of_the_seed_suite_is_edited_right(name: str, protocol: Protocol) -> None:
    assert wrong(answered(name, list(load_suite("seed").tasks), protocol)) == []


@pytest.mark.parametrize("protocol", BOTH)
@pytest.mark.parametrize("name", ["retype", "diff", "reference"])
def test_every_task_of_vimbench_is_edited_right(name: str, protocol: Protocol) -> None:
    assert wrong(answered(name, vimbench_tasks(), protocol)) == []


def test_diff_edits_every_challenge_right_and_most_below_the_cap() -> None:
    answers = answered("diff", challenges(), Protocol.GOLF)
    assert wrong(answers) == []
    below = sum(keys.count(text, Protocol.GOLF) < len(task.target) for task, _, text in answers)
    # measured: 119 of 134; a one-page sketch of the same idea reached 64
    assert below >= 115


def test_retype_edits_every_challenge_right() -> None:
    assert wrong(answered("retype", challenges(), Protocol.GOLF)) == []


# --- buffers that are awkward --------------------------------------------------------------------

# fmt: off
AWKWARD = [
    ("", ""), ("", "\n"), ("\n", ""), ("a\n", ""), ("a\n", "\n"), ("", "a"), ("", "a\n"), ("a", "a\n"),
    ("a\n", "a"), ("a", "b"), ("  a\n", "\n"), ("\n\n\n", "\n"), ("a\r\nb\r\n", "a\r\nc\r\n"),
    ("a\r\nb\r\n", "a\nb\n"), ("a\nb\n", "a\r\nb\r\n"), ("a\r\nb", "a\r\nc"), ("a\r\nb\n", "a\r\nb\r\n"),
    ("a\r\r\n", "a\r\n"), ("a\r", "a"), ("\ta\n\tb\n", "\ta\n\tc\n\tb\n"),
    ("          a\n", "          a\n          b\n"), ("    a\n", "    a\n\n    b\n"),
    ("<Esc>\n", "<Esc><CR><lt>\n"), ("a\n", "\x1b\x01\x7f\x85\x00b\n"), ("é\n", "éé\n"),
    ("中文\n", "中 文\n"),
    ("a\u0301b\n", "a\u0301c\n"), ("\ufeffa\n", "\ufeffb\n"), ("\ufeffa\n", "a\n"), ("a\n", "\ufeffa\n"),
    ("\ufeffa", "\ufeffb"), ("#!/usr/bin/ruby\nif a\n", "#!/usr/bin/ruby\nif a\nelse\nend\n"),
    ("/* vim: set fdm=marker: */\na\n{{{\nb\n}}}\nc\n", "/* vim: set fdm=marker: */\na\n{{{\nb\nx\nc\n"),
    ("# vim: ft=python ts=2 noma\nif a:\n", "# vim: ft=python ts=2 noma\nif a:\nb\n"),
    ("a  \nb\t\n", "a\nb\n"), ('a\\"b\n', '"\\a\n'), ("a/b/c\na/b/c\na/b/c\n", "a|b|c\na|b|c\na|b|c\n"),
    ("a\n\x1a", "a\r\n\x1a"), ("a b\n" * 30, "c b\n" * 30),
]
# fmt: on


@pytest.mark.parametrize("name", ["retype", "diff"])
def test_awkward_buffers_are_edited_right_under_both_protocols(name: str) -> None:
    tasks = [Task(f"awkward {number}", start, target) for number, (start, target) in enumerate(AWKWARD)]
    assert wrong([answer for protocol in BOTH for answer in answered(name, tasks, protocol)]) == []


_PIECES = st.sampled_from(
    [
        "foo",
        "bar",
        "Foo",
        " ",
        "  ",
        "\t",
        "=",
        "(",
        ")",
        '"',
        "'",
        "<",
        "<Esc>",
        "1",
        "42",
        "-3",
        "007",
        "é",
        "中",
    ]
    + [
        "a\u0301",
        "\\",
        "/",
        "|",
        "&",
        "~",
        ".",
        "*",
        "$",
        "^",
        "[",
        "]",
        "\x01",
        "\x1b",
        "\x7f",
        "\x85",
        "\u200b",
    ]
    + ["😀", "#!", "vim:", "\x00", "\ufeff", "ß", "\n", "\n", "\n", "\r\n", "\r"]
)
_TEXT = st.lists(_PIECES, max_size=14).map("".join)


@st.composite
def _edited(draw: st.DrawFn) -> tuple[str, str]:
    start = draw(_TEXT)
    target = start
    for _ in range(draw(st.integers(0, 3))):
        first = draw(st.integers(0, len(target)))
        last = draw(st.integers(first, min(len(target), first + 5)))
        target = target[:first] + draw(st.lists(_PIECES, max_size=3).map("".join)) + target[last:]
    return start, target


@settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.lists(st.one_of(_edited(), st.tuples(_TEXT, _TEXT)), min_size=25, max_size=25))
def test_whatever_a_file_can_hold_is_edited_right(pairs: list[tuple[str, str]]) -> None:
    tasks = [Task(str(number), start, target) for number, (start, target) in enumerate(pairs)]
    answers = [answer for protocol in BOTH for answer in answered("diff", tasks, protocol)]
    answers += answered("retype", tasks[:5], Protocol.GOLF) + answered("retype", tasks[:5], Protocol.BENCH)
    assert wrong(answers) == []


def regular_pair(source: random.Random) -> tuple[str, str]:
    """A small text and a regular edit of it: what the whole-buffer commands are for."""
    words = ["foo", "bar", "baz", "Qux", "item", "x1", "42", "a_b", "K.v"]
    separators = [" ", ", ", "=", "  ", "; ", "\t"]

    def line() -> str:
        indent = source.choice(["", "", "  ", "\t"])
        return indent + source.choice(separators).join(source.choices(words, k=source.randint(1, 5)))

    lines = [line() for _ in range(source.randint(2, 9))]
    lines += source.choices(lines, k=source.randint(0, 2)) + [""] * source.randint(0, 2)
    edits = [
        lambda: [text + ";" for text in lines],
        lambda: ["# " + text for text in lines],
        lambda: [text.replace("foo", "quux") for text in lines],
        lambda: [text for text in lines if "bar" not in text] or [""],
        lambda: [text for text in lines if text],
        lambda: sorted(lines),
        lambda: list(reversed(lines)),
        lambda: sorted(set(lines)),
        lambda: [" ".join(lines)],
        lambda: [text.upper() for text in lines],
        lambda: [text.strip() for text in lines],
        lambda: [f'"{text}"' for text in lines],
        lambda: [f"{number}. {text}" for number, text in enumerate(lines, 1)],
        lambda: [part for text in lines for part in text.split(", ")],
        lambda: [copy for text in lines for copy in (text, text)],
        lambda: [*lines[1:], lines[0]],
        lambda: [text.split("=")[0] for text in lines],
        lambda: [("    " + text) if number else text for number, text in enumerate(lines)],
        lambda: [*lines, *(str(number) for number in range(7, 19))],
    ]
    start = list(lines)
    for _ in range(source.randint(1, 2)):
        lines = source.choice(edits)()
    return "\n".join(start) + "\n", "\n".join(lines) + "\n"


def test_regular_edits_are_right_under_both_protocols() -> None:
    source = random.Random(20)
    pairs = [regular_pair(source) for _ in range(80)]
    tasks = [Task(str(number), start, target) for number, (start, target) in enumerate(pairs)]
    assert wrong([answer for protocol in BOTH for answer in answered("diff", tasks, protocol)]) == []


# --- few keys -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "target", "most"),
    [
        ("a\nb\nc\n", "a\nc\n", 3),
        ("a\nb\n", "b\na\n", 4),
        ("hello world\n", "hello\n", 4),
        ("abc\ndef\n", "abc\nDEF\n", 5),
        ("foo a\n" * 20, "bar a\n" * 20, 16),
        ("b\na\nc\n" * 9, "\n".join(sorted("bac" * 9)) + "\n", 5),
        ("".join(f"v{n} = {n}\n" for n in range(30)), "".join(f"v{n} = {n};\n" for n in range(30)), 10),
        ("x\n\ny\n\nz\n\nw\n", "x\ny\nz\nw\n", 9),
        ("a\n", "a\n" + "".join(f"{n}\n" for n in range(1, 80)), 20),
        ("a, b\nc, d\ne, f\ng, h\ni, j\nk, l\n", "b, a\nd, c\nf, e\nh, g\nj, i\nl, k\n", 32),
    ],
)
def test_regular_edits_take_few_keys(start: str, target: str, most: int) -> None:
    task = Task("a", start, target)
    answers = answered("diff", [task], Protocol.BENCH)
    assert keys.count(answers[0][2], Protocol.BENCH) <= most, answers[0][2]
    assert wrong(answers) == []


def test_the_same_task_gives_the_same_keys() -> None:
    source = random.Random(5)
    tasks = [Task("a", *regular_pair(source)) for _ in range(10)]
    first = [SOLVERS["diff"](task, Protocol.GOLF) for task in tasks]
    assert first == [SOLVERS["diff"](task, Protocol.GOLF) for task in reversed(tasks)][::-1]


def test_five_thousand_lines_are_bounded() -> None:
    source = random.Random(1)
    lines = [" ".join(source.choices(["foo", "bar", "int", "=", "42"], k=6)) for _ in range(5_000)]
    edited = list(lines)
    edited[2_500] = "changed"
    edited[100] += ";"
    begun = time.process_time()
    answers = [
        *answered("diff", [Task("two", "\n".join(lines) + "\n", "\n".join(edited) + "\n")], Protocol.GOLF),
        *answered(
            "diff", [Task("equal", "x\n" * 5_000, "x\n" * 2_500 + "y\n" + "x\n" * 2_499)], Protocol.GOLF
        ),
    ]
    # measured: 3 s of this process; a quadratic step would take minutes
    assert time.process_time() - begun < 40
    assert wrong(answers) == []


# --- the model against Vim ------------------------------------------------------------------------

# fmt: off
PROGRAMS = [
    "3l", "wwx", "Wx", "$x", "ex", "Ex", "fax", "2fox", "tox", "$Fox", "$Tox", "foxx;x", "tox;x", "$bx",
    "$2Bx", "j0x", "jx", "jjx", "3Gx", "Gx", "ggx", "\rx", "2\rx", "G-x", "G2-x", "}x", "D", "wD", "x",
    "3x", "$3X", "dw", "d2w", "wde", "dfo", "dto", "d$", "wd0", "$db", "dd", "2dd", "dj", "Gdk", "dG",
    "2dd", "cwnew\x1b", "cenew\x1b", "Cnew\x1b", "snew\x1b", "3snew\x1b", "Snew\x1b", "ccnew\x1b", "rx",
    "3rx", "wr\r", "Rnew\x1b", "ifoo\x1b", "afoo\x1b", "Ifoo\x1b", "Afoo\x1b", "oline\x1b", "Oline\x1b",
    "3Ax\x1b", "wianew\rline\x1b", "Aone\rtwo\x1b", "~", "4~",
    "gUw", "gUU", "wg~~", "$gUU", "ejgUU", "guu", "g~~", "gUG", ">>",
    "2>>", ">G", "<<", "J", "3J", "gJ", "Yp", "Y3p", "yyP", "ddp", "xp", "dwp", "ywP", "4J", "A;\x1bj.", "x.",
    "dd.", "cwnew\x1bw.", "qqA;\x1bjq2@q", "qqxjq3@q", "\x16jIx\x1b", "\x16jAx\x1b", "\x16GI# \x1b",
    "\x16G$A;\x1b", "\x16jlx", ":2d\r", ":2,3d\r", ":%d\r", ":1m$\r", ":$m0\r", ":1t.\r", ":2,3t0\r",
    ":%j\r", ":%j!\r", ":%norm A;\r", ":2,3norm wx\r", ":%norm $x\r", ":g/o/norm Ax\r", ":g/o/d\r",
    ":v/o/d\r", ":g/^/m0\r", ":g/o/t.\r", ":g/^$/d\r", ":g/o/j\r", ":sor\r", ":sor!\r", ":sor n\r",
    ":sor! n\r", ":sor i\r", ":sor u\r", ":2,$sor\r", ":%>\r", ":%<\r", ":%s/o/0\r", ":%s/o/0/g\r",
    ":s/o\\+/<&>/g\r", ":%s/\\w\\+/[&]\r", ":%s/\\w\\+/[&]/g\r", ":%s/$/;\r", ":%s/^/# \r",
    ":%s/\\s\\+$//\r", ":%s/o.*/X\r", ":%s/.*o/X\r", ":%s/.\\{-}o/X\r", ":%s/o[^ ]*/X/g\r", ":%s/ *\r",
    ":%s/\\n/,\r", ":%s/\\n/,/g\r", ":%s/ /\\r/g\r", ":%s/ /\\r\r",
    ":%s/\\(\\w\\+\\) \\(\\w\\+\\)/\\2 \\1\r", ":%s/\\w\\+/\\U&\r", ":%s/\\w\\+/\\u&/g\r", ":%s/\\<o/X/g\r",
    ":%s/o\\>/X/g\r", ":%s/foo\\|bar/X/g\r", ":%s/FOO/x\r", ":%s/o*/-/g\r", ":%s/x*$/!\r", ":%s#/#|#g\r",
    ":%s/\\d\\+/n\r", ":%s/\\t/ /g\r", "/bar\rx", "/two\rdd", "wiw\x1bciwx\x1b", 'f"ci"x\x1b', "yiwP",
    "\x01", "5\x01", "\x18", ":pu=range(1,5)\r", ":1pu=range(9,3,-2)\r", "VGg\x01",
]
# fmt: on

BUFFERS = [
    "foo bar\nfoo one two\n\nzoo boo\n",
    "\tif (foo) {\n\t  bar(\"two\", 'x');\n\t}\n          deep foo\n",
    "one 10\nTwo 9\n  two 9\nFoo -3\nfoo 7 8\n",
    "x\n",
    "a  \n  \nb o\n)o\n",
    "a\n\n\nb\t\n)\n",
    "A b.\nc! \nd?\n  e. \n\nf\n",
]


@pytest.mark.parametrize("protocol", BOTH)
def test_the_model_does_what_vim_does(protocol: Protocol) -> None:
    answers = []
    modelled = 0
    # the protocols differ in indenting and case only, which the first buffers show
    buffers = BUFFERS if protocol is Protocol.GOLF else BUFFERS[:2]
    for start in buffers:
        for program in PROGRAMS:
            vim = Vim(start[:-1].split("\n"), protocol is Protocol.GOLF)
            try:
                vim.run(program)
            except (Unmodelled, Failed):
                continue
            modelled += 1
            # a mark where the cursor is left, if the model knows it
            mark = "" if vim.lost else "i@\x1b"
            vim.run(mark)
            marked = program + mark
            text = written(marked + ("ZZ" if protocol is Protocol.GOLF else ""), protocol)
            answers.append((Task(repr(program), start, "\n".join(vim.lines) + "\n"), protocol, text))
    assert wrong(answers) == []
    assert modelled > 0.6 * len(buffers) * len(PROGRAMS)


def test_a_failing_motion_ends_a_macro_and_is_refused_elsewhere() -> None:
    vim = Vim(["a", "b"], golf=True)
    vim.run("qqA;\x1bjq9@q")
    assert vim.lines == ["a;", "b;"]
    with pytest.raises(Failed):
        Vim(["a"], golf=True).run("fz")


def test_substitution_by_hand() -> None:
    assert substitute_lines(["a b", "b"], 0, 1, "b", "c", True, False) == (["a c", "c"], 1)
    assert substitute_lines(["a", "b"], 0, 1, "\\n", ",", False, False) == (["a,b,"], 0)
    with pytest.raises(Failed):
        substitute_lines(["a"], 0, 0, "z", "", False, False)


def test_sorting_by_hand() -> None:
    assert sorted_lines(["b 2", "a", "c 10", "B 2"], " n") == ["a", "b 2", "B 2", "c 10"]
    assert sorted_lines(["b 2", "a", "c 10", "B 2"], "! n") == ["c 10", "B 2", "b 2", "a"]
