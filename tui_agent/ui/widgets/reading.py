"""Reading a conversation by keyboard: a block cursor, opening and folding, search, copying.

The block cursor (`J`, `K`, or a click) marks the piece that Enter opens and `y` copies; `[` and `]` go from
prompt to prompt. `v` begins a selection of whole rows that `j` and `k` extend and `y` copies. Copied text
is the source: no padding, no marks, no breaks that only the width made.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual import events
from textual.binding import BindingType
from textual.geometry import Offset
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip

from tui_agent.ui import keys
from tui_agent.ui.widgets.addresses import addresses
from tui_agent.ui.widgets.piece_view import PieceView
from tui_agent.ui.widgets.pieces import CallPiece, MarkdownPiece, Piece, PromptPiece
from tui_agent.ui.widgets.strips import LeanStrip, highlight, text_of

_HIT = RichStyle(reverse=True)


class Reading(PieceView):
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("conversation")]

    class CallActivated(Message):
        """The person wants to see this call in the tool log."""

        def __init__(self, call_id: str) -> None:
            super().__init__()
            self.call_id = call_id

    class LinkActivated(Message):
        """The person points at an address. Nothing is opened before a yes to the whole of it."""

        def __init__(self, url: str) -> None:
            super().__init__()
            self.url = url

    class Copied(Message):
        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class SearchWanted(Message):
        """`/` was pressed."""

    def __init__(self) -> None:
        super().__init__()
        self._cursor: Piece | None = None
        self._needle = ""
        self._hit: Piece | None = None
        self._rows_from: int | None = None
        self._row_at = 0
        self._asked: tuple[Piece | None, int] = None, 0

    def clear(self) -> None:
        self._cursor = self._hit = self._rows_from = None
        self._asked = None, 0
        super().clear()

    def cut(self, piece: Piece) -> list[Piece]:
        self.leave_rows()
        gone = super().cut(piece)
        self._cursor = None if self._cursor in gone else self._cursor
        self._hit = None if self._hit in gone else self._hit
        return gone

    # The block cursor --------------------------------------------------------------------------------

    def action_move_cursor(self, step: int) -> None:
        self.leave_rows()
        if not self.pieces:
            return
        index = self._index(self._cursor)
        if index is None:
            index = self.locate(min(self.top + self.size.height, self.row_count) - 1)[0] + (step < 0)
        index = max(0, min(index + step, len(self.pieces) - 1))
        while 0 < index < len(self.pieces) - 1 and not self.pieces[index].height:
            index += step
        self._point_at(self.pieces[index])
        self.settle_around(index)
        start = self.start_of(index)
        self.reveal(min(start + self.pieces[index].height - 1, start + self.size.height - 1))
        self.reveal(start)

    def action_go_to_prompt(self, step: int) -> None:
        here = self._index(self._cursor)
        if here is None:
            here = self.locate(self.top)[0] + (step < 0)
        places = range(here + step, len(self.pieces) if step > 0 else -1, step)
        place = next((p for p in places if isinstance(self.pieces[p], PromptPiece)), None)
        if place is not None:
            self._point_at(self.pieces[place])
            self.show_piece(place)

    def drop_cursor(self) -> bool:
        """Escape: leave the selection of rows, the cursor or the hits; whether there was any."""
        had = self.leave_rows() or self._cursor is not None or bool(self._needle)
        self._point_at(None)
        self.find("")
        return had

    def _index(self, piece: Piece | None) -> int | None:
        return self.place_of(piece) if piece is not None and piece in self.pieces else None

    def _point_at(self, piece: Piece | None) -> None:
        for each in (self._cursor, piece):
            if each is not None:
                each.strips.clear()
        self._cursor = piece
        self.sync()

    # Opening -----------------------------------------------------------------------------------------

    def action_open(self) -> None:
        piece = self._cursor
        if piece is None:
            piece = next((piece for piece in self._in_view() if piece.expandable), None)
        if piece is not None:
            self.toggle(piece)

    def toggle(self, piece: Piece) -> None:
        if not piece.expandable:
            return
        index = self.place_of(piece)
        piece.expanded = not piece.expanded
        if self.start_of(index) < self.top:
            self.top = self.start_of(index)
            self.following = False
        self.touched(piece)

    def action_toggle_all(self) -> None:
        """Open every call, long block and thought; if one is open, fold all."""
        self._moves(0)
        opening = not any(piece.expanded for piece in self.pieces)
        for piece in self.pieces:
            if piece.expanded != opening and (piece.expandable or isinstance(piece, MarkdownPiece)):
                piece.expanded = opening
                piece.touch()
        self.sync()

    def toggle_calls(self) -> None:
        """Open every call; if one is open, fold them."""
        self._moves(0)
        calls = [piece for piece in self.pieces if isinstance(piece, CallPiece)]
        opening = not any(call.expanded for call in calls)
        for call in calls:
            call.expanded = opening
            call.touch()
        self.sync()

    def action_activate(self) -> None:
        if isinstance(self._cursor, CallPiece):
            self.post_message(self.CallActivated(self._cursor.call_id))

    def on_click(self, event: events.Click) -> None:
        if self.text_selection is not None or not self.pieces or event.y + self.top >= self.row_count:
            return
        y = event.y + self.top
        if url := self._address_at(y, event.x):
            self.post_message(self.LinkActivated(url))
            return
        piece = self.pieces[self.locate(y)[0]]
        if isinstance(piece, CallPiece) and piece is self._cursor:
            self.toggle(piece)
        self._point_at(piece)

    def _address_at(self, y: int, x: int) -> str:
        """The whole address under a cell, over the rows that it is wrapped to."""
        first = last = y
        while first and self.row_copy(first - 1)[2] == "" and self.row(first - 1) is not None:
            first -= 1
        while last + 1 < self.row_count and self.row_copy(last)[2] == "":
            last += 1
        parts = [self.row_copy(row) for row in range(first, last + 1)]
        at = sum(len(text) - gutter for gutter, text, _ in parts[: y - first]) + x - parts[y - first][0]
        joined = "".join(text[gutter:] for gutter, text, _ in parts)
        return next((address.url for address in addresses(joined) if address.start <= at < address.end), "")

    def action_open_address(self) -> None:
        """Ask about the address in the block under the cursor, or the last one in view; again: the next."""
        piece = self._cursor or next((p for p in self._in_view() if any(addresses(p.searched()))), None)
        found = [] if piece is None else [address.url for address in addresses(piece.searched())]
        if not found:
            self.notify("No web address in view. J and K choose a block.", markup=False)
            return
        asked, place = self._asked
        place = (place + 1) % len(found) if asked is piece else 0
        self._asked = piece, place
        self.post_message(self.LinkActivated(found[place]))

    def _in_view(self) -> Iterator[Piece]:
        """The pieces in view, the last first."""
        if self.pieces:
            bottom = min(self.top + self.size.height, self.row_count) - 1
            yield from reversed(self.pieces[self.locate(self.top)[0] : self.locate(bottom)[0] + 1])

    # Search ------------------------------------------------------------------------------------------

    def action_search(self) -> None:
        self.post_message(self.SearchWanted())

    def action_next_hit(self, step: int) -> None:
        self.find(self._needle, step)

    def find(self, needle: str, step: int = 1) -> tuple[int, int]:
        """Go to the next piece with `needle` (the previous with step -1), around the end. Gives (which, of
        how many); (0, 0) if there is none. An empty needle ends the search."""
        fresh = needle != self._needle
        self._needle = needle
        if fresh:
            self._hit = None
            self.forget()
        if not needle:
            self.sync()
            return 0, 0
        lower = needle.lower()
        hits = [i for i, piece in enumerate(self.pieces) if lower in piece.searched().lower()]
        if not hits:
            self.sync()
            return 0, 0
        here = self._index(self._hit)
        if here is None:
            here = self.locate(self.top)[0] - step
        after = [i for i in hits if (i > here if step > 0 else i < here)]
        place = (after or hits)[0] if step > 0 else (after or hits)[-1]
        self._hit = self.pieces[place]
        self._open_for(place, lower)
        return hits.index(place) + 1, len(hits)

    def _open_for(self, place: int, lower: str) -> None:
        piece = self.pieces[place]
        for attempt in (False, True):
            rows = piece.settle(self.size.width)
            offset = next((i for i, row in enumerate(rows) if lower in row.text.lower()), None)
            if offset is not None or attempt or not piece.expandable:
                break
            piece.expanded = True
            piece.touch()
        self._count_from(place)
        self.show_piece(place, max(0, (offset or 0) - self.size.height // 3))

    # Copying -----------------------------------------------------------------------------------------

    def action_copy(self) -> None:
        if self.text_selection is not None:
            text = self.screen.get_selected_text() or ""
            self.leave_rows()
        else:
            piece = self._cursor or next(
                (p for p in reversed(self.pieces) if isinstance(p, MarkdownPiece)), None
            )
            text = piece.copied() if piece is not None else ""
        if text:
            self.post_message(self.Copied(text))

    def last_answer(self) -> str:
        """What the model wrote last, up to the call or the prompt before it."""
        blocks: list[str] = []
        for piece in reversed(self.pieces):
            if isinstance(piece, MarkdownPiece):
                blocks.append(piece.copied())
            elif blocks and isinstance(piece, CallPiece | PromptPiece):
                break
        return "\n\n".join(reversed(blocks))

    def action_select_rows(self) -> None:
        """Begin a selection of whole rows at the cursor, or at the last row in view."""
        if not self.pieces:
            return
        index = self._index(self._cursor)
        bottom = min(self.top + self.size.height, self.row_count) - 1
        self._rows_from = self._row_at = bottom if index is None else self.start_of(index)
        self._select()

    def action_scroll_rows(self, rows: int) -> None:
        if self._rows_from is None:
            super().action_scroll_rows(rows)
            return
        self._row_at = max(0, min(self._row_at + rows, self.row_count - 1))
        self.reveal(self._row_at)
        self._select()

    def leave_rows(self) -> bool:
        if self._rows_from is None:
            return False
        self._rows_from = None
        self.screen.clear_selection()
        return True

    def _select(self) -> None:
        assert self._rows_from is not None
        first, last = sorted((self._rows_from, self._row_at))
        self.screen.selections = {self: Selection(Offset(0, first), Offset(self.size.width, last))}

    # Marks -------------------------------------------------------------------------------------------

    def draw(self, index: int, y: int) -> Strip:
        strip = super().draw(index, y)
        piece = self.pieces[index]
        if self._needle:
            text, needle = text_of(strip).lower(), self._needle.lower()
            at = text.find(needle)
            while at >= 0:
                strip = highlight(strip, at, at + len(needle), _HIT)
                at = text.find(needle, at + len(needle))
        if piece is self._cursor and y >= self.start_of(index):
            mark = Segment("▌", self.look("$text-primary"))
            strip = LeanStrip([mark, *strip.crop(1)._segments], strip.cell_length)
        return strip
