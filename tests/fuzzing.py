r"""Random answers, and what must hold for every one of them, for the short test and for `make fuzz`.

An answer is some fragments (motions, text, Ex commands, macros, expressions, rubbish) put together
by a seeded generator: the same seed gives the same answers in the same order. Each is replayed
twice, the second time among other neighbours, and must not

* make our code raise, or be reported as the harness's error;
* run past the time limit;
* give another result the second time, unless `replay.unpinned` names what it used.

Run as a script it does a long run, prints what came of it, and exits with 1 on any violation.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from vimlib.records import Outcome, Protocol, Replay
from vimlib.replay import ReplayRequest, cores, protocols, replay_many, unpinned
from vimlib.sandbox import Confinement

SECONDS = 2.0
"""Wall time of a replay here: long for any edit, short enough for the few answers that hang."""
SLACK_SECONDS = 0.5
"""From the limit to the end of Vim: the kernel's time to free its memory, on a busy machine."""
AROUND_SECONDS = 10.0
"""From the limit to the end of `play`: besides, the starter may have to be made anew."""
SLOW = 0.01
"""Share of answers with a fragment that makes Vim wait or work for seconds."""
CHUNK = 1000
SETTLED_CHUNKS = 20
"""Before so many parts, memory that grows is only memory that has not settled."""

# --- the answers ----------------------------------------------------------------------------------


def _words(text: str) -> tuple[str, ...]:
    """Fragments, parted by two spaces or a line's end."""
    return tuple(re.split(r"\s{2,}", text.strip()))


STARTS = (
    "alpha\nbeta\ngamma\n",
    "",
    "\n",
    "no final newline",
    "one\r\ntwo\r\n",
    "def f(a, b):\n    return (a + b) * 2\n\n\ndef g(x):\n\treturn [x, {'k': x}]\n",
    "naïve café 日本語 👩‍💻 e\u0301\nstraße İi\n",
    "".join(f"{n},{n * n % 97},name{n}\n" for n in range(60)),
    "x" * 3000 + "\n" + "word " * 300 + "\n",
    "<a href=\"x\">y</a>\n<!-- 'q' -->\n\x01\x7f\x1b\n",
)
TEXTS = (
    "x",
    "foo",
    "bar baz",
    "TODO:",
    "a.b(c)",
    "日本",
    "e\u0301",
    "👩‍💻",
    "\u202eltr",
    "tab\there",
    "{",
    "%s",
)
REGISTERS = 'abcxyzAB0123456789"-_/:.%#*+'
MOTIONS = tuple(
    r"""h j k l w b e W B E 0 ^ $ gg G H M L % { } ( ) ge gE g_ gj gk | fa ta Fa Ta fe ; , n N * # ]] [[
    ]m [( 'a `a `` '' `. `[ `] g; g, + - _ <CR> <Space> <BS> <C-N> <C-P> <C-J>""".split()
)
OBJECTS = tuple("iw aw iW aW is as ip ap i( a( i[ a{ i} it at i' a\" i` i>".split())
OPERATORS = tuple("d c y > < = gu gU g~ g? gq gw zf ! gJ J g@".split())
SIMPLE = tuple(
    r"""x X D C Y p P gp gP ]p J gJ u U . ~ & g& @@ @a @: ZZ ZQ dd cc yy >> == << g?? gUU u . <C-R> <C-A>
    <C-X> v V <C-V> gv o O i a I A R gR s S gi gI m a ma za zo zR zM zE zt zz zb ga g8 gf gd gD <C-F>
    <C-B> <C-D> <C-U> <C-E> <C-Y> <C-L> <C-G> <C-O> <C-I> <C-T> <C-Z> <C-C> <C-W>s <C-W>v <C-W>c <C-W>w
    <C-W>o <C-W>n <C-W>q <C-W>T gt gT <C-^> q: q/ : / ? ! <Esc> <Esc><Esc> <C-\><C-N> <C-V>u0 g<C-G>
    g<C-A>""".split()
)
NEVER_FAILS = tuple("x dd J ~ w $ 0 gUU >> yyp ^ . <C-A> ddP guu g~~".split())
INSERT = tuple(
    r"""<C-W> <C-U> <C-N> <C-P> <C-T> <C-D> <C-E> <C-Y> <C-X><C-L> <C-X><C-N> <C-X><C-F> <C-X><C-V>
    <C-O>dd <C-O>: <C-K>a: <C-K>Eu <C-V>065 <C-V>u20ac <C-V><Esc> <C-V><Tab> <C-R>a <C-R>% <C-R><C-R>"
    <C-R><C-O>a <BS> <BS><BS> <Tab> <CR> <C-J> <C-M> <C-C> <C-\><C-O>x <C-G>u <C-]> <C-^> <C-_>""".split()
)
GOLF_ONLY = tuple(
    r"""<Left> <Right> <Up> <Down> <Home> <End> <PageUp> <PageDown> <Del> <Insert> <F1> <F5> <S-Left>
    <C-Right> <lt> <Bar> <BSlash> <Nul> <C-@> <M-C-A> <kPlus> <LeftMouse> <ScrollWheelUp> <S-Tab> <Help>
    <Undo> <0x80> <C-S-> <EOL> <CSI> <esc> <cR> <C-Home> <MiddleMouse> <LeftDrag> <LeftRelease> <C-\>
    <C-]> <C-^>""".split()
)
BROKEN = ("<", "<Foo>", "<C-", "<<<", "<esc>", "<>", "<C-1>", "<CR", "<D-x>", "<\x1b>", "<é>", "<<CR>")
BROKEN += ("\ud800", "\0")
EXPRESSIONS = _words(
    r"""1+1  2**3  1/0  0x7fffffffffffffff+1  repeat('ab', 5)  line('.')  col('$')  getline('.')  &tw  @a
    @/  join(map(range(5), 'v:val*2'), ',')  string({'a': [1, 2]})  toupper('straße')  printf('%05d', 42)
    v:version  $HOME  mode(1)  bufnr('%')  expand('%:p')  getcwd()  v:count  sort(getline(1,'$'))[0]
    eval('[')  {->1}()  substitute('aXb', 'X', '\n', 'g')  undefined_thing  strlen(execute('version')) > 0
    exists('*mkdir')  {}  get(environ(), 'USER', 'none')  char2nr('é')  repeat('x', 100000)[0:3]  range(3)
    [1,  '  sha256('a')  v:oldfiles  function('tr')  system('id')  glob('*')  glob('{a,b}')
    readfile('/etc/passwd')  hostname()  writefile(['x'], 'y')  delete(expand('%'))  mkdir('d/e/f', 'p')
    rename('input.txt', 'z')  argv()  getfsize('input.txt')  readdir('.')  execute('scriptnames')
    string(getbufinfo('%')[0].windows)  &maxmempattern  string(keys(v:))  getcompletion('s', 'command')[0]
    $PATH  string(winlayout())  matchfuzzy(['ab'], 'a')"""
)
UNPINNED = _words(
    """strftime('%H:%M:%S')  localtime()  rand()  reltimestr(reltime())  getpid()  tempname()  srand()
    getftime('input.txt')"""
)
EX = _words(
    r"""s/a/b/  %s/a/X/g  %s/\v(\w+)/[\1]/ge  %s/$/\r/  s/x*/-/g  %s/\s\+$//e  &&  ~  s//z/e  g/a/d  v/a/d
    g/./m0  %s/a/\=submatch(0).'!'/g  g/^/t.  g/a/norm A!  g/b/s//B/g  %norm! Ax  norm dd  norm! 3x  sort
    sort!  sort n  sort u  2,3d  $d  1,$j  %j!  1m$  t0  t.  2co$  put a  put! =range(3)  0put x  y a  d _
    >  %>  2  $  +2  k a  'a,$d  /b/;/g/d  ?a?p  set tw=10  set et sw=2  set ve=all  set ff=dos
    set fenc=latin1  set fenc=ucs-2le  set noeol nofixeol  set bin  set noma  set ic  set rl
    set enc=latin1  set cp  set paste  set im  set all&  set lazyredraw  set fdm=indent  set hidden
    set magic!  set sel=exclusive  set ww+=h,l  set tm=5  set ut=1  map x dd  nmap a b  nmap b a
    imap jj <C-V><Esc>  nnoremap <C-V><CR> j  map q :q!<C-V><CR>  mapclear  iab foo bar  abc  cmap w q
    unmap x  nnoremap x xx  nmap x xx  let @a='ddp'  let @/='a'  let @q='ixy'  let g:x = 1 | put =g:x
    exe 'norm! ia' . "\<C-V><Esc>"  for i in range(9) | put =i | endfor  if 1 | d | en  while 0 | endw
    fu! F()|return 1|endf  call F()  call cursor(1,1)  call setline(1, ['a', 'b'])  retab!
    call append('$', range(5))  call feedkeys('dd')  call feedkeys('ix', 'n')  call search('a')  echo 1
    @a  @:  echoerr 'x'  throw 'x'  bogus  1;2;3  99999  -5d  %%  reg  marks  ju  his  mes  ls  sp  vs
    new  enew!  tabnew  bd!  e!  e other  e .  r input.txt  w! copy  w  w !cat  up  sav! b  x  wq  q  q!
    qa!  wqa!  cq  cq 3  undo  redo  undo 0  earlier 1  later 1f  earlier 1f  u9  r !date  !ls  sh  %!sort
    h  h dd  syn on  so $VIMRUNTIME/syntax/c.vim  ru macros/matchit.vim  filetype plugin indent on
    colo default  packadd matchit  mks! s  wv  rv  mkvie  intro  terminal  au InsertLeave * d
    au CursorMoved * s/a/b/e  au BufWritePre * 1d  au VimLeave * call writefile([], 'q')  au!  norm :q
    norm i  gr x *  vim /a/ %  cope  mak  helpt .  lan C  sil! 9norm x  let c = getchar()  s/a/b/c
    %s/./x/gc  lua 1  py3 print(1)  perl 1  ruby 1  mz 1  tcl 1  def  vim9cmd echo 1  legacy echo 1
    sview x  vert h  set mouse=a  set ttimeout  set swapfile  set udf  dia  set patchmode=.p bk
    set cole=3  set wrap! nu list  sleep 1m  r a  ri  le  ce  diffthis  diffoff!  unlet g:x
    match Error /a/  lockv v:  norm ggqG  prof start x  silent! call system('id')  set maxfuncdepth=1  wa
    lcd /  redir! > r  redir END  redi @a  changes  delm!  tabo  on  windo d  bufdo d  argadd x  n  rew
    last  tag x"""
)
SLOW_EX = _words(
    r"""sleep 1  3sleep  while 1 | endw  norm 9999999@q  let x = repeat('a', 300000000)  g/^/g/a/d  dig
    ver  %s/\(.*\)*\1*b/x/  set ro  call confirm('?', 'y')  call inputlist(['a', 'b'])  ec input('?')
    startinsert  let a = range(99999999)  fu! R()|call R()|endf|call R()  map x xx|norm x  set all  hi
    so input.txt  let @q='@q'|norm @q"""
)
SLOW_NORMAL = tuple(
    r"""qa qq q1 gQ Q gs 3gs K oa<C-A><Esc> oa<C-R>.<Esc> 65536@a 30000. 3000ix<Esc> 20000Aab<Esc>
    20000ox<Esc> 2147483648ix<Esc> 30000p qa@aq@a qqNq3@q qa/zzz<CR>q20@a qqoa<Esc>@qq@q""".split()
)
HUGE = ("2147483647", "2147483648", "4294967297", "99999999999999999999", "65536", "30000", "999")
CHEAP_WHEN_HUGE = tuple(
    "j k h l w x dd G | <C-A> <C-X> >> J ~ u <C-R> n <C-E> <C-F> gg % rZ gJ gUU fa ; K".split()
)


def requests(seed: int, protocol: Protocol, count: int, slow: float = SLOW) -> Iterator[ReplayRequest]:
    """The first `count` random answers of a seed, the same each time."""
    random_ = random.Random(f"{seed} {protocol}")
    for _ in range(count):
        yield ReplayRequest(protocol, random_.choice(STARTS), _answer(random_, protocol, slow))


def _answer(random_: random.Random, protocol: Protocol, slow: float) -> str:
    kinds = random_.choices(list(_KINDS), list(_KINDS.values()), k=1 + int(random_.expovariate(0.3)))
    if random_.random() < slow:
        kinds.insert(random_.randrange(len(kinds) + 1), _slow)
    keys = "".join(kind(random_, protocol) for kind in kinds)
    if protocol is Protocol.GOLF:
        keys += random_.choice(("ZZ", "<Esc>ZZ", "<Esc>:wq<CR>", ":x!<CR>", "<Esc>:w<CR>", "", ""))
    if random_.random() < 0.1:
        place = random_.randrange(len(keys) + 1)
        other = random_.choice(("", chr(random_.randrange(1, 256)), keys[:40]))
        keys = keys[:place] + other + keys[place + 1 :]
    if random_.random() < 0.0005:
        keys += "ix" * random_.choice((5_000, 40_000, 70_000))
    return keys


def _typed(text: str, protocol: Protocol) -> str:
    """Text in which `<` stands for itself."""
    return text.replace("<", "<<") if protocol is Protocol.BENCH else text


def _named(fragment: str, protocol: Protocol) -> str:
    """A fragment with names; those that only golf has become the characters that they type."""
    if protocol is Protocol.BENCH:
        for name, character in (("\\", "\x1c"), ("]", "\x1d"), ("^", "\x1e"), ("_", "\x1f")):
            fragment = fragment.replace(f"<C-{name}>", character)
    return fragment


def _normal(random_: random.Random, protocol: Protocol) -> str:
    count = str(random_.randrange(1, 12)) if random_.random() < 0.2 else ""
    register = f'"{random_.choice(REGISTERS)}' if random_.random() < 0.15 else ""
    if random_.random() < 0.4:
        operator = _typed(random_.choice(OPERATORS), protocol)
        return f"{register}{operator}{count}{random_.choice(MOTIONS + OBJECTS)}"
    simple = random_.choice(SIMPLE + MOTIONS)
    return register + count + (_typed(simple, protocol) if simple == "<<" else _named(simple, protocol))


def _insert(random_: random.Random, protocol: Protocol) -> str:
    start = random_.choice(
        ("i", "a", "o", "O", "A", "I", "cw", "cc", "R", "ciw", "s", "S", "C", "3i", "2o", "gi")
    )
    special = _named(random_.choice(INSERT), protocol) if random_.random() < 0.4 else ""
    return start + random_.choice(TEXTS) + special + ("<Esc>" if random_.random() < 0.9 else "")


def _ex(random_: random.Random, protocol: Protocol) -> str:
    before = random_.choice(("%", "1,2", ".,$", "0", "9", "sil! ", "kee ", "verb 15 ", "tab "))
    command = f"{before if random_.random() < 0.1 else ''}{random_.choice(EX)}"
    return f"<Esc>:{command}{random_.choice(('<CR>', '<NL>', '<C-M>', '<CR><CR>'))}"


def _expression(random_: random.Random, protocol: Protocol) -> str:
    way = random_.choice(
        ("i<C-R>={}<CR><Esc>", '"={}<CR>p', "<Esc>:put ={}<CR>", "<Esc>:call append(0, {})<CR>")
    )
    return way.format(_typed(random_.choice(EXPRESSIONS), protocol))


def _macro(random_: random.Random, protocol: Protocol) -> str:
    # Only what cannot fail: an error in Insert mode or while recording makes Vim wait for a second.
    name = random_.choice("abz")
    body = "".join(
        random_.choice((f"A{random_.choice(TEXTS)}<Esc>", random_.choice(NEVER_FAILS)))
        for _ in range(random_.randrange(1, 5))
    )
    return f"q{name}{body}q{random_.choice(('', '3', '20', '100'))}@{name}"


def _huge(random_: random.Random, protocol: Protocol) -> str:
    return random_.choice(HUGE) + random_.choice(CHEAP_WHEN_HUGE)


def _golf_names(random_: random.Random, protocol: Protocol) -> str:
    return (
        "".join(random_.choices(GOLF_ONLY, k=random_.randrange(1, 4))) if protocol is Protocol.GOLF else "j"
    )


def _broken(random_: random.Random, protocol: Protocol) -> str:
    return random_.choice(BROKEN)


def _control(random_: random.Random, protocol: Protocol) -> str:
    codes = (*range(1, 32), 127, *range(128, 160))
    return "".join(map(chr, random_.choices(codes, k=random_.randrange(1, 6))))


def _noise(random_: random.Random, protocol: Protocol) -> str:
    text = "".join(chr(random_.randrange(32, 127)) for _ in range(random_.randrange(1, 25)))
    return _typed(text, protocol)


def _unicode(random_: random.Random, protocol: Protocol) -> str:
    codes = [
        random_.choice((random_.randrange(0xA0, 0x800), random_.randrange(0xE000, 0x110000)))
        for _ in range(4)
    ]
    return random_.choice(("i", "r", "f", "/", "")) + "".join(map(chr, codes))


def _unpinned(random_: random.Random, protocol: Protocol) -> str:
    return f"<Esc>:put ={random_.choice(UNPINNED)}<CR>"


def _forged(random_: random.Random, protocol: Protocol) -> str:
    # What the keys say in the probe's name.
    said = random_.choice(
        (
            r'{\"line\":".repeat("9",30).",\"column\":1}',
            r"{\"mode\":\"\\ud800\",\"buffer\":\"\\u0000\",\"errmsg\":\"E1: \\udfff\"}",
            r"{\"line\":true,\"column\":-1,\"mode\":[],\"errmsg\":1e999}",
            r'{\"a\":".repeat("[",99999)."}',
            r'".repeat("\x1e{",9999)."',
            r"end",
        )
    )
    return f'<Esc>:call echoraw("\\x1e{said}\\x1f"){random_.choice(("<CR>", "|qa!<CR>", "|cq<CR>"))}'


def _slow(random_: random.Random, protocol: Protocol) -> str:
    return random_.choice((*SLOW_NORMAL, *(f"<Esc>:{command}<CR>" for command in SLOW_EX)))


_KINDS: dict[Callable[[random.Random, Protocol], str], float] = {
    _normal: 40,
    _insert: 20,
    _ex: 20,
    _expression: 4,
    _macro: 2,
    _huge: 2,
    _golf_names: 2,
    _broken: 1,
    _control: 2,
    _noise: 2,
    _unicode: 2,
    _unpinned: 0.5,
    _forged: 0.3,
}

# --- what must hold -------------------------------------------------------------------------------


@dataclass
class Findings:
    """What came of some answers, each replayed twice."""

    answers: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    """Of the first replay of each."""
    violations: list[str] = field(default_factory=list)
    flagged: int = 0
    """Answers that differed the second time and use what `unpinned` names."""
    at_the_limit: int = 0
    """Answers that ended within the time limit once, but not by much, and not the other time."""
    slowest: list[tuple[float, str]] = field(default_factory=list)
    """Wall time of one replay, and its answer; the longest, without timeouts."""
    longest_seconds: float = 0.0
    """The longest that a replay ran, timeouts included."""
    memory: list[tuple[int, int]] = field(default_factory=list)
    """Resident bytes of this process, and of the largest of the processes that start Vim, as it went on."""

    def violate(self, request: ReplayRequest, what: str) -> None:
        """Note a violation, with all that is needed to see it again."""
        start, keys = json.dumps(request.start), json.dumps(request.keys)
        self.violations.append(f"{what}: {request.protocol} {_cut(start, 200)} {_cut(keys, 2000)}")


class Watched(ThreadPoolExecutor):
    """Threads for `replay_each`, that note how long each call took and which one raised."""

    def __init__(self, findings: Findings) -> None:
        # More than the cores, for some answers make Vim wait for a second.
        super().__init__(2 * cores())
        self.findings = findings

    def submit(self, play: Any, request: ReplayRequest, confinement: Confinement) -> Future[Any]:  # type: ignore[override]
        def watched() -> Any:
            began = time.perf_counter()
            try:
                return play(request, confinement)
            except Exception as error:
                self.findings.violate(request, f"raised {type(error).__name__}: {error}")
                raise
            finally:
                took = time.perf_counter() - began
                if took > protocols.SECONDS + AROUND_SECONDS:
                    self.findings.violate(request, f"a replay took {took:.1f} s with what is around it")

        return super().submit(watched)


def campaign(
    answers: Iterable[ReplayRequest], seed: int, chunk_done: Callable[[Findings], object] = id
) -> Findings:
    """Replay answers twice, part by part, and look at all that must hold, within `protocols.SECONDS`."""
    findings = Findings()
    order = random.Random(seed)
    with Watched(findings) as executor:
        for part in _parts(answers):
            shuffled = order.sample(part, len(part))
            try:
                first = replay_many(part, executor=executor)
                second = dict(zip(shuffled, replay_many(shuffled, executor=executor), strict=True))
            except Exception:
                if not findings.violations:
                    raise
                return findings
            for request, one in zip(part, first, strict=True):
                _examine(request, one, second[request], findings)
            findings.memory.append(memory())
            chunk_done(findings)
    return findings


def _examine(request: ReplayRequest, one: Replay, other: Replay, findings: Findings) -> None:
    findings.answers += 1
    findings.outcomes[one.outcome] += 1
    for result in (one, other):
        if result.outcome is Outcome.HARNESS_ERROR:
            findings.violate(request, f"the harness failed ({result.detail})")
        if result.wall_seconds > protocols.SECONDS + SLACK_SECONDS:
            findings.violate(request, f"ran {result.wall_seconds:.2f} s")
    wall = max(one.wall_seconds, other.wall_seconds)
    findings.longest_seconds = max(findings.longest_seconds, wall)
    timeouts = [_is_timeout(one), _is_timeout(other)]
    if not any(timeouts):
        findings.slowest = sorted([*findings.slowest, (wall, _cut(json.dumps(request.keys), 100))])[-5:]
    unlike = differences(one, other)
    if not unlike or all(timeouts):
        return
    if unpinned(request.keys):
        findings.flagged += 1
    elif any(timeouts) and min(one.wall_seconds, other.wall_seconds) > protocols.SECONDS / 3:
        findings.at_the_limit += 1
    else:
        findings.violate(request, f"differs the second time ({'; '.join(unlike)})")


def _is_timeout(result: Replay) -> bool:
    return result.outcome is Outcome.TIMEOUT or result.detail.startswith("timeout; tried ")


def differences(one: Replay, other: Replay) -> list[str]:
    """Where two replays differ, but for the time that they took."""
    return [
        f"{name}: {_cut(repr(getattr(one, name)), 300)} and {_cut(repr(getattr(other, name)), 300)}"
        for name in (each.name for each in fields(Replay))
        if name not in ("wall_seconds", "cpu_seconds") and getattr(one, name) != getattr(other, name)
    ]


def memory() -> tuple[int, int]:
    """Resident bytes of this process and of the largest process below it that starts Vim."""
    below, found = {os.getpid()}, True
    while found:
        found = False
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
            if pid not in below and _status(pid, "PPid") in below:
                below.add(pid)
                found = True
    starters = [pid for pid in below - {os.getpid()} if _runs_python(pid)]
    return _status(os.getpid(), "VmRSS") * 1024, max(
        (_status(pid, "VmRSS") * 1024 for pid in starters), default=0
    )


def _status(pid: int, name: str) -> int:
    try:
        lines = Path("/proc", str(pid), "status").read_text(errors="replace").splitlines()
    except OSError:
        return -1
    return next((int(line.split()[1]) for line in lines if line.startswith(name + ":")), -1)


def _runs_python(pid: int) -> bool:
    try:
        return b"python" in Path("/proc", str(pid), "cmdline").read_bytes().split(b"\0")[0]
    except OSError:
        return False


def grown(samples: list[int]) -> float:
    """Median of the last quarter of samples over that of the second, once memory has settled."""
    quarter = len(samples) // 4
    return (
        statistics.median(samples[-quarter:]) / statistics.median(samples[quarter : 2 * quarter])
        if quarter
        else 1.0
    )


def _parts(answers: Iterable[ReplayRequest]) -> Iterator[list[ReplayRequest]]:
    remaining = iter(answers)
    while part := list(itertools.islice(remaining, CHUNK)):
        yield list(dict.fromkeys(part))


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}... ({len(text)} characters)"


def main() -> None:
    """A long run over both protocols; exit code 1 on any violation."""
    parser = argparse.ArgumentParser(
        description="Replay random answers twice and look for faults of the harness."
    )
    parser.add_argument("--count", type=int, default=100_000, help="answers, half of them in each protocol")
    parser.add_argument("--seed", type=int, default=None, help="of the answers; by default another each time")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="time limit of a replay (%(default)s)")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else int.from_bytes(os.urandom(4))
    protocols.SECONDS = options.seconds
    print(f"seed {seed}: {options.count} answers, twice, on {2 * cores()} threads, limit {options.seconds} s")
    # One protocol after the other in short turns, so that memory is seen under both.
    streams = [requests(seed, protocol, options.count // len(Protocol)) for protocol in Protocol]
    began = time.perf_counter()

    def interleaved() -> Iterator[ReplayRequest]:
        while any(turn := [list(itertools.islice(stream, 100)) for stream in streams]):
            yield from itertools.chain(*turn)

    def told(findings: Findings) -> None:
        if findings.answers % (10 * CHUNK) < CHUNK or findings.violations:
            own, starter = findings.memory[-1]
            took = time.perf_counter() - began
            print(
                f"{findings.answers:7} answers, {took:6.0f} s, {len(findings.violations)} violations, "
                f"memory {own >> 20} MB and {starter >> 20} MB",
                flush=True,
            )

    findings = campaign(interleaved(), seed, told)
    took = time.perf_counter() - began
    for which, samples in zip(
        ("of this process", "of the largest starter"), zip(*findings.memory, strict=True), strict=True
    ):
        growth = grown(list(samples))
        least, most = min(samples) >> 20, max(samples) >> 20
        print(f"memory {which}: {least} to {most} MB, last quarter / second {growth:.3f}")
        if growth > 1.1 and len(samples) >= SETTLED_CHUNKS:
            findings.violations.append(f"memory {which} grows")
    print(f"outcomes: {', '.join(f'{name} {count}' for name, count in findings.outcomes.most_common())}")
    print(
        f"differing: {findings.flagged} that use what cannot be pinned, "
        f"{findings.at_the_limit} with a time close to the limit"
    )
    print(f"longest replay {findings.longest_seconds:.2f} s; slowest that ended by themselves:")
    for seconds, keys in reversed(findings.slowest):
        print(f"  {seconds:.2f} s {keys}")
    print(f"{2 * findings.answers} replays in {took:.0f} s, {len(findings.violations)} violations")
    for line in findings.violations:
        print(f"VIOLATION {line}")
    sys.exit(bool(findings.violations))


if __name__ == "__main__":
    main()
