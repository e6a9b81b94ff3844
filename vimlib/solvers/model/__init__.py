"""A small model of Vim: what a sequence of typed keys does to a buffer.

The `diff` solver proposes many answers and may only give one whose result is known to be
the target, and it must know it without starting Vim. This model knows the part of Vim
that the solver writes: the common motions and operators, insert and replace mode (with
'autoindent' as the golf protocol's vimrc sets it), registers, `.`, macros, and a few Ex
commands. Everything else raises `Unmodelled`, and so does every case in which Vim's
behaviour hangs on something the model does not keep: the solver then takes its next
proposal. The tests replay the model's programs in the real Vim.

Keys are given as typed: one character a key, `\\x1b` for <Esc>, `\\r` for <CR>, `\\x16` for
<C-V>. A buffer is a list of lines without their newlines; columns count characters, from 0.
"""

from __future__ import annotations

from vimlib.solvers.model.characters import Failed, Unmodelled
from vimlib.solvers.model.normal import Vim

__all__ = ["Failed", "Unmodelled", "Vim"]
