"""One page of a text, taken from pieces of any size without holding more than the page."""

from __future__ import annotations

from tui_agent.tools.clean import to_model
from tui_agent.tools.truncate import LIMIT

WIDTH = 2_000
"""Characters of one line that are shown."""


class Pager:
    """Feed it text until it is `full`, then `finish` it. `rows` are numbered lines, cleaned and cut.

    Lines end at `\\n` only; a `\\r` before it belongs to the line end. `ends` tells which ends were seen.
    """

    def __init__(self, offset: int, limit: int) -> None:
        self.offset = offset
        self.limit = limit
        self.rows: list[str] = []
        self.ends: set[str] = set()
        self.full = False
        self.cut = 0
        """Lines that were too long to be shown whole."""
        self.lines = 0
        """Lines that are behind us."""
        self._length = 0
        self._begin()

    @property
    def next_line(self) -> int:
        return self.offset + len(self.rows)

    def feed(self, text: str) -> None:
        skipped = min(self.offset - 1 - self.lines, text.count("\n"))
        if skipped > 0:
            text = text.split("\n", skipped)[-1]
            self.lines += skipped
            self._begin()
        *complete, rest = text.split("\n", self.limit)  # no more, or a page would cost its whole piece
        for piece in complete:
            self._add(piece)
            self._end("\r\n" if self._returned else "\n")
            if self.full:
                return
        self._add(rest)

    def finish(self) -> None:
        """The text is at its end, perhaps in the middle of a line."""
        if self._size and not self.full:
            self._end("")

    def _begin(self) -> None:
        self._head, self._size, self._returned = "", 0, False

    def _add(self, piece: str) -> None:
        if piece:
            self._head += piece[: max(0, WIDTH + 1 - len(self._head))]
            self._size += len(piece)
            self._returned = piece.endswith("\r")

    def _end(self, end: str) -> None:
        self.ends.add(end)
        if self.lines + 1 >= self.offset:
            self._keep(self._size - (end == "\r\n"))
        self.lines += 1
        self._begin()

    def _keep(self, size: int) -> None:
        row = f"{self.lines + 1}|{to_model(self._head[: min(size, WIDTH)])}"
        if size > WIDTH:
            row += f"…[+{size - WIDTH:,} characters]"
        if self.rows and self._length + len(row) + 1 > LIMIT:
            self.full = True
            return
        self.rows.append(row)
        self.cut += size > WIDTH
        self._length += len(row) + 1
        self.full = len(self.rows) == self.limit
