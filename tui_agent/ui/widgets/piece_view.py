"""Pieces of any height as one view of rows.

`starts` are the prefix sums of the heights, so a row finds its piece by bisection. A piece is laid out
for the width when it comes near the view and not before: a resize, or a session of thousands of messages,
costs what is in view. Heights of pieces that were not looked at are estimates, so whatever corrects them
keeps the piece and row at the top of the view where they are.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import partial
from itertools import accumulate

from textual.strip import Strip

from tui_agent.text import width_of
from tui_agent.ui.widgets.line_view import LineView
from tui_agent.ui.widgets.pieces import CallPiece, Piece
from tui_agent.ui.widgets.rows import Code, CodeRow, Runs, TextRow
from tui_agent.ui.widgets.strips import build

KEPT = 60
"""Pieces that keep rows and strips."""
MOST = 20_000
"""Pieces on screen; the oldest go first."""
SMALL_CODE = 4000
"""Characters of code that are coloured at once; more is coloured in a thread."""


class PieceView(LineView):
    def __init__(self) -> None:
        super().__init__(following=True)
        self.pieces: list[Piece] = []
        self._starts: list[int] = [0]
        self._kept: dict[Piece, None] = {}
        self._colouring: set[Code] = set()

    # Pieces ------------------------------------------------------------------------------------------

    def insert(self, index: int, *pieces: Piece) -> None:
        """Put pieces in before the one at `index`; what is in view stays there."""
        width = self.size.width
        anchor, offset = self.locate(self.top) if self.pieces else (-1, 0)
        self._moves(self._starts[index])
        for place, piece in enumerate(pieces, index):
            before = self.pieces[place - 1] if place else None
            if place == 0 or (isinstance(piece, CallPiece) and isinstance(before, CallPiece)):
                piece.gap = 0
            elif isinstance(piece, CallPiece):
                piece.gap = 1
            piece.estimate(width)
            self.pieces.insert(place, piece)
        self._count_from(index)
        if anchor >= index and not self.following:
            self.top = self._starts[anchor + len(pieces)] + offset
        if len(self.pieces) > MOST:
            self._drop_oldest(MOST // 10)

    def cut(self, piece: Piece) -> list[Piece]:
        """Take a piece and all after it out, and go to the end; returns what was taken out."""
        index = self.place_of(piece) if piece in self.pieces else 0  # the oldest ones go by themselves
        self._moves(self._starts[index])
        gone = self.pieces[index:]
        for each in gone:
            self._release(each)
        del self.pieces[index:]
        self._count_from(index)
        self.follow()
        return gone

    def clear(self) -> None:
        self.pieces.clear()
        self._kept.clear()
        self._count_from(0)
        self.top = 0
        self.following = self.may_follow
        self.sync()

    def place_of(self, piece: Piece) -> int:
        """The index of a piece, looked for from the end."""
        return len(self.pieces) - 1 - self.pieces[::-1].index(piece)

    def start_of(self, index: int) -> int:
        """The first row of a piece, its gap left out."""
        return self._starts[index] + self.pieces[index].gap

    def locate(self, y: int) -> tuple[int, int]:
        """The piece that row `y` belongs to, and its row in it, gap included."""
        index = min(bisect_right(self._starts, y), len(self.pieces)) - 1
        return index, y - self._starts[index]

    def touched(self, piece: Piece) -> None:
        """A piece looks otherwise now: repaint it; what is at the top of the view stays there."""
        self.mark(piece)
        self.sync()

    def mark(self, piece: Piece) -> None:
        """A piece will look otherwise with the next `sync`."""
        self._moves(self._starts[self.place_of(piece)] + piece.height)
        piece.touch()

    def _moves(self, row: int) -> None:
        """Rows from `row` on get other numbers: what is selected there would be other text."""
        selection = self.text_selection if self.is_attached else None
        if selection is not None and (selection.end is None or selection.end.y >= row):
            self.screen.clear_selection()

    def show_piece(self, index: int, offset: int = 0) -> None:
        """By the person's action: scroll so that the piece is near the top of the view."""
        self.settle_around(index)
        self.scroll_to_row(self.start_of(index) + offset - (1 if index else 0))

    def _drop_oldest(self, count: int) -> None:
        anchor, offset = self.locate(self.top)
        for piece in self.pieces[:count]:
            self._release(piece)
        del self.pieces[:count]
        self._count_from(0)
        self.top = self._starts[max(0, anchor - count)] + (offset if anchor >= count else 0)

    def _release(self, piece: Piece) -> None:
        piece.release()
        self._kept.pop(piece, None)

    # Rows --------------------------------------------------------------------------------------------

    @property
    def row_count(self) -> int:
        return self._starts[-1]

    def _count_from(self, index: int) -> None:
        heights = (piece.height for piece in self.pieces[index:])
        self._starts[index:] = accumulate(heights, initial=self._starts[index] if index else 0)

    def settle_around(self, index: int) -> None:
        """Lay out piece `index` and as many after it, then before it, as fill the view."""
        room = self.size.height
        changed: int | None = None
        for place in range(index, len(self.pieces)):
            if self._settle(place) and changed is None:
                changed = place
            room -= self.pieces[place].height
            if room <= 0:
                break
        first = index
        while room > 0 and first > 0:
            first -= 1
            if self._settle(first):
                changed = first
            room -= self.pieces[first].height
        if changed is not None:
            self._count_from(changed)

    def _settle(self, index: int) -> bool:
        piece = self.pieces[index]
        height = piece.height
        if piece.width != self.size.width:
            piece.settle(self.size.width)
        return piece.height != height

    def rows_in_view(self) -> list[Strip]:
        if self.pieces:
            if self.following:
                self.settle_around(len(self.pieces) - 1)
            else:
                self._settle_at_top()
        return super().rows_in_view()

    def _settle_at_top(self) -> None:
        index, offset = self.locate(min(self.top, self.row_count - 1))
        piece = self.pieces[index]
        width, height = piece.width, piece.height
        self.settle_around(index)
        if width not in (0, piece.width):
            offset = offset * piece.height // max(1, height)
        self.top = self._starts[index] + max(0, min(offset, piece.height - 1))

    def scroll_to_row(self, row: int) -> None:
        """Rows above the view get exact first, so that a step up is that many rows."""
        if self.pieces and 0 < self.top - row <= 3 * self.size.height:
            index, offset = self.locate(self.top)
            step = self.top - row
            above = index
            room = step + self.size.height - offset
            while room > 0 and above > 0:
                above -= 1
                self._settle(above)
                room -= self.pieces[above].height
            self._count_from(above)
            self.top = self._starts[index] + offset
            row = max(0, self.top - step)
        super().scroll_to_row(row)

    def row(self, y: int) -> TextRow | None:
        """Row `y`, None where it is blank between pieces."""
        index, offset = self.locate(y)
        piece = self.pieces[index]
        if self._settle(index):
            self._count_from(index)
        rows = piece.settle(self.size.width)
        place = offset - piece.gap
        return rows[place] if 0 <= place < len(rows) else None

    def row_copy(self, y: int) -> tuple[int, str, str]:
        row = self.row(y)
        return (0, "", "\n") if row is None else (row.gutter, row.text.replace("•", "-"), row.after)

    # Strips ------------------------------------------------------------------------------------------

    def forget(self) -> None:
        super().forget()
        for piece in self._kept:
            piece.strips.clear()

    def _strip(self, y: int) -> Strip:
        index, offset = self.locate(y)
        piece = self.pieces[index]
        strip = piece.strips.get(offset)
        if strip is None:
            self._keep(piece)
            strip = piece.strips[offset] = self.guarded(partial(self.draw, index, y))
        return strip

    def draw(self, index: int, y: int) -> Strip:
        """The strip of a row of piece `index`."""
        row = self.row(y)
        if row is None:
            return build((), self.size.width, self.look)
        if isinstance(row, CodeRow):
            self._colour(row.code, self.pieces[index])
        runs = row.runs
        if row.fill:
            runs = (*runs, *self._filled(row))
        return build(runs, self.size.width, self.look)

    def _filled(self, row: TextRow) -> Runs:
        """What comes after the text of a row, up to its end."""
        room = max(0, self.size.width - width_of(row.text))
        label = row.label if isinstance(row, CodeRow) else ""
        taken = width_of(label) + 1
        if not label or room < taken + 2:
            return ((" " * room, row.fill),)
        return ((" " * (room - taken), row.fill), (f"{label} ", f"$text-muted {row.fill}"))

    def _keep(self, piece: Piece) -> None:
        self._kept.pop(piece, None)
        self._kept[piece] = None
        while len(self._kept) > KEPT:
            oldest = next(iter(self._kept))
            self._release(oldest)

    def _colour(self, code: Code, piece: Piece) -> None:
        """Colours come when code is first in view: at once for a little, from a thread for much."""
        if code.painted is not None or not code.language or code in self._colouring:
            return
        if len(code.text) <= SMALL_CODE and _pygments_is_there():
            code.highlight()
        else:
            self._colouring.add(code)
            self.run_worker(self._colour_later(code, piece), exit_on_error=False)

    async def _colour_later(self, code: Code, piece: Piece) -> None:
        import asyncio

        await asyncio.to_thread(code.highlight)
        self._colouring.discard(code)
        piece.strips.clear()
        self.sync()


def _pygments_is_there() -> bool:
    import sys

    return "pygments.lexers" in sys.modules
