"""What a model is told, in our own words, with a version for each wording.

An answer depends on the prompt, so a changed word is a new version, and results of different
versions are not comparable. The content is that of the benchmarks: instruction, start, target, how
keys are written, the rules, examples.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from vimlib.records import Task

GOLF_VERSION = "golf-1"
BLIND_VERSION = "golf-blind-1"
BENCH_VERSION = "bench-1"
MULTI_VERSION = "bench-multi-1"

_GOLF_KEYS = """\
Keys are written one after another on a single line:
- a character is the key that types it; a space is the space bar
- special keys have names: <Esc>, <CR> (Enter), <Tab>, <BS>, <Del>, <Left>, <Right>, <Up>, <Down>
- <C-V> is Ctrl with V, and so on
- a < that would otherwise begin such a name is <lt>"""

_GOLF_RULES = """\
Vim has the file open in Normal mode, with the cursor on the first character. Your keys are typed, and then
the file on disk is compared with the target, so your keys have to save it: :wq<CR> or ZZ at the end.
Use fewer keys than the target has characters: typing the target out is not allowed."""

_GOLF_ANSWER = """\
The last line of your reply is taken as the keys, just as it stands. Put nothing after it, and no quotes,
backticks or comments on it."""

GOLF_SYSTEM = f"""\
You play VimGolf: edit a text in Vim with as few keystrokes as possible.

{_GOLF_RULES}

{_GOLF_KEYS}

Two examples of a last line. Delete the third line:

jjddZZ

Replace every cat by dog and put a title above:

:%s/cat/dog/g<CR>ggOAnimals<Esc>:wq<CR>

{_GOLF_ANSWER}"""

BLIND_SYSTEM = f"""\
You play VimGolf: edit a text in Vim with as few keystrokes as possible. This time you are given the
challenge's title and its start, but not its target. If you know the challenge, or can tell what is wanted,
give your solution.

{_GOLF_RULES}

{_GOLF_KEYS}

{_GOLF_ANSWER}"""

_BENCH_KEYS = """\
Keys are written one after another:
- a character is the key that types it
- special keys are <Esc>, <CR> (Enter), <NL>, <Tab>, <Space> and <BS>, written exactly like this
- <C-X> is Ctrl with X, for any letter: <C-V> begins a block selection
- << is the character <
- no other name in angle brackets is allowed"""

_BENCH_VIM = "Vim has the file open in Normal mode, with the cursor on the first character."

BENCH_SYSTEM = f"""\
You are an expert in Vim. You are given a text and what it should become, and you write the keystrokes that
make the edit.

{_BENCH_VIM} Your keys are typed,
and then the file must be the target, character for character. End with :wq<CR> to save and quit.

{_BENCH_KEYS}

Two examples.
Instruction: Delete the third line.
Start: 'one\\ntwo\\nthree\\n', target: 'one\\ntwo\\n'
Keys: Gdd:wq<CR>
Instruction: Put a semicolon at the end of every line.
Start: 'a = 1\\nb = 2\\n', target: 'a = 1;\\nb = 2;\\n'
Keys: :%s/$/;/<CR>:wq<CR>

Reply with the keys alone, without explanation."""

_CARRIED = {
    "fresh": (
        "Only the file goes from turn to turn: each turn begins in a new Vim, with nothing in registers, "
        "marks or undo."
    ),
    "session": (
        "It is the same Vim in every turn: registers, marks, options and undo stay, until your keys quit "
        "it. Each turn begins in Normal mode."
    ),
}


def multi_system(state: str) -> str:
    """What the multi-turn track tells at the beginning of each turn."""
    return f"""\
You are an expert in Vim. You are given a text and what it should become, and you make the edit in several
turns: in each you write some keystrokes, and then you see the text that they left. The file is saved after
each turn.

Vim has the file open in Normal mode. {_CARRIED[state]}

{_BENCH_KEYS}

Reply with the keys of this turn alone, without explanation, or with DONE if the text is the target."""


def fenced(text: str) -> str:
    """A buffer between marks that it does not hold itself. A last line without its newline is said."""
    longest = max((len(found) for found in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    note = "" if text.endswith("\n") or not text else "\n(no newline at the end)"
    return f"{fence}\n{text.removesuffix(chr(10))}\n{fence}{note}"


def asked(task: Task) -> str:
    """The task in words: its instruction, under its title where that says something else."""
    if task.title and not task.instruction.startswith(task.title):
        return f"{task.title}\n\n{task.instruction}".strip()
    return task.instruction


def single_user(task: Task) -> str:
    """The message of a single-turn task."""
    return f"{asked(task)}\n\nStart:\n{fenced(task.start)}\n\nTarget:\n{fenced(task.target)}"


def blind_user(task: Task) -> str:
    """The message of the probe: no word of the target."""
    return f"{asked(task)}\n\nStart:\n{fenced(task.start)}"


def turn_user(task: Task, buffer: str, turn: int, max_turns: int, earlier: Sequence[str], seen: str) -> str:
    """The message of one turn. `seen`: what is told of Vim besides the buffer; '' for nothing."""
    batches = "\n".join(f"{place}. {keys}" for place, keys in enumerate(earlier, start=1))
    parts = [
        asked(task),
        f"Target:\n{fenced(task.target)}",
        f"The text now:\n{fenced(buffer)}",
        f"Keys so far:\n{batches}" if earlier else "",
        seen,
        f"This is turn {turn} of {max_turns}.",
    ]
    return "\n\n".join(part for part in parts if part)
