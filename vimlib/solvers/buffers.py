"""What Vim holds of a file, and which settings make it write the file that is wanted.

The same text can be a 'dos' buffer or a 'unix' one with ^M at its ends; a last line may
lack its newline; a file may begin with a byte order mark. The rules here are those of
Vim's readfile() and buf_write() as `:help file-formats`, `:help 'fixendofline'` and
`:help 'bomb'` state them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

BOM = "\ufeff"

MODELINE = re.compile(r"(?:^|[ \t])(?:vi|vim[<=>]?\d*|Vim[<=>]?\d*|ex):", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Buffer:
    """A file as Vim has loaded it, or as it is to be written."""

    lines: tuple[str, ...]
    """Without newlines; a NUL is kept as such."""
    dos: bool
    """'fileformat' is dos: lines end in CR LF in the file."""
    eol: bool
    """The last line has its newline."""
    bomb: bool
    """The file begins with a byte order mark, which is in no line."""
    empty: bool = False
    """No bytes at all: Vim shows one empty line but writes nothing."""


def _dos(text: str) -> bool:
    newlines = text.count("\n")
    return newlines > 0 and newlines == text.count("\r\n")


def loaded(text: str) -> Buffer:
    """The buffer that Vim makes of a file, with its default 'fileformats' and 'fileencodings'."""
    bomb = text.startswith(BOM)
    if bomb:
        text = text[1:]
    if not text:
        return Buffer(("",), False, True, bomb, empty=True)
    return _parsed(text, _dos(text), bomb)


def _parsed(text: str, dos: bool, bomb: bool) -> Buffer:
    parts = text.split("\r\n" if dos else "\n")
    eol = parts[-1] == ""
    if eol:
        parts.pop()
    elif dos and parts[-1] == "\x1a":
        # Vim drops a lone CTRL-Z at the end of a dos file
        parts.pop()
        eol = True
    return Buffer(tuple(parts), dos, eol, bomb)


def wanted(text: str, start: Buffer) -> list[Buffer]:
    """The buffers that are written as this file, the one nearest to the start's settings first."""
    bomb = start.bomb and text.startswith(BOM)
    body = text[1:] if bomb else text
    if not body:
        return [Buffer(("",), start.dos, True, bomb, empty=True)]
    out = []
    for dos in (start.dos, not start.dos):
        if not dos or (_dos(body) and not body.endswith("\r\n\x1a")):
            parts = body.split("\r\n" if dos else "\n")
            eol = parts[-1] == ""
            if eol:
                parts.pop()
            out.append(Buffer(tuple(parts), dos, eol, bomb))
    return out


def settings(start: Buffer, end: Buffer) -> str:
    """The `:set` that makes Vim write `end` as it should be; '' where nothing is to be set."""
    names: list[str] = []
    if start.bomb and not end.bomb:
        names.append("nobomb")
    if start.dos != end.dos and not end.empty:
        names.append("ff=dos" if end.dos else "ff=unix")
    if not end.eol:
        if not end.dos and not start.dos and not end.bomb:
            names.append("bin")
        else:
            names.append("nofixeol")
        if start.eol:
            names.append("noeol")
    return f":se {' '.join(names)}\r" if names else ""


_HARMLESS = re.compile(
    r"(?:no)?(?:fdm|foldmethod|fen|et|expandtab|sw|shiftwidth|sts|softtabstop|tw|textwidth|ai|autoindent|si|"
    r"smartindent|cin|cindent|set|se)(?:[=&].*)?"
)


def shield(text: str, dos: bool) -> str:
    """The `:set` that undoes what a modeline in the text may set, as far as it changes the outcome.

    Vim takes the first and the last five lines of a file for modelines ('modelines').
    """
    lines = text.split("\n")
    found = [line[match.end() :] for line in lines[:6] + lines[-6:] for match in MODELINE.finditer(line)]
    if not found:
        return ""
    words = [word for rest in found for word in re.split(r"[\s:]+", rest.split("*/")[0]) if word]
    if all(_HARMLESS.fullmatch(word) for word in words):
        return ":se paste nofen\r"
    ff = "dos" if dos else "unix"
    return f":se paste nofen ma noro nobin ff={ff} fenc=utf-8 ts=8 sw=8 isk& nosr\r"


_SCRIPT = re.compile(
    r"#!|:$|#compdef|#autoload|#n|%YAML|From |<[%&]|<\?\s*xml|<!doctype|.*\bDTD\b|.*-\*-|\" *vim|.*scheme|"
    r"\s*emulate|\s*dnl|.*\$(?:ORIGIN|TTL)|.*IN\s+SOA|(?:commit|tree|object|tag) |\s*proc[nd]|\.\.\s|"
    r"\s*restindex|#.*RouterOS|.*<<>> DiG|\*\* LambdaMOO",
    re.IGNORECASE,
)


def is_script(lines: tuple[str, ...]) -> bool:
    """Whether golf's Vim may take the text for another type than text, and so indent by its rules.

    The file is called input.txt, but content comes first in Vim's detection. This asks for less
    than `dist#script#DetectFiletype()` does, so it also holds for some plain texts.
    """
    return any(_SCRIPT.match(line) for line in lines[:5])
