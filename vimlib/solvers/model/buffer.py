"""What the modelled Vim remembers, and the edits that its keys and its command lines share."""

from __future__ import annotations

from vimlib.solvers.model.characters import Unmodelled, first_nonblank, is_plain


class Buffer:
    """The state of the modelled Vim: buffer, cursor, registers, and what `.`, `;` and `@` repeat."""

    def __init__(self, lines: list[str], golf: bool, paste: bool = False, typing: bool = True) -> None:
        self.lines = list(lines)
        self.row = 0
        self.col = first_nonblank(lines[0])
        self.want = -1
        self.autoindent = golf and not paste
        self.may_type = typing
        self.ignorecase = golf
        self.register: tuple[tuple[str, ...], bool] | None = None
        self.find: tuple[str, str] | None = None
        self.dot = ""
        self.macros: dict[str, str] = {}
        self.last_macro = ""
        self.inner = 0
        self.quit = False
        self.steps = 0
        self.emptied = False
        """All lines were deleted once: Vim may then write no byte where it shows an empty line."""
        self.lost = False
        """The column is not known: only commands may follow that do not depend on it."""

    @property
    def line(self) -> str:
        return self.lines[self.row]

    def _set(self, text: str) -> None:
        self.lines[self.row] = text

    def _clip(self) -> None:
        self.col = max(0, min(self.col, len(self.line) - 1))

    def _moved(self) -> None:
        """After anything but j and k: the wanted column is the cursor's own (-1; -2: not known)."""
        self.want = -1

    def _need_plain(self) -> None:
        if not is_plain(self.line):
            raise Unmodelled("columns of a line that is not plain")

    def delete_rows(self, first: int, last: int) -> None:
        """`dd` and `:d`: rows `first` to `last` go, the cursor is on the line after them."""
        if self.lines == [""]:
            raise Unmodelled("deleting from an empty buffer")
        self.register = (tuple(self.lines[first : last + 1]), True)
        del self.lines[first : last + 1]
        if not self.lines:
            self.lines = [""]
            self.emptied = True
        self.row = min(first, len(self.lines) - 1)
        self.col = first_nonblank(self.line)
        self._moved()

    def join_rows(self, first: int, last: int, spaces: bool) -> None:
        """`J` (with `spaces`) and `gJ` over rows `first` to `last`; the cursor goes to the last seam."""
        text = self.lines[first]
        seam = max(len(text) - 1, 0)
        end = text[-2:]
        for line in self.lines[first + 1 : last + 1]:
            seam = len(text)
            if spaces:
                line = line.lstrip(" \t")
                if line and line[0] != ")" and text and end[-1:] != "\t":
                    # 'joinspaces' is on: two spaces after the end of a sentence
                    stop = end[-1:] if end[-1:] != " " else end[-2:-1]
                    text += " " * ((end[-1:] != " ") + (stop != "" and stop in ".!?"))
                end = line[-2:]
            text += line
        self.lines[first : last + 1] = [text]
        self.row = first
        self.col = seam
        self._clip()
        self._moved()
