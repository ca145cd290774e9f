"""The conversation as one view: what was said is settled, what is being said streams at its end.

A delta only joins a list; at most ten times a second the list is worked in. Blocks of the answer that got
closed become pieces, rendered once; the open block is the live piece, plain. The first delta after a pause
shows at once. A reader who scrolled up stays where they are, whatever happens above or below, and sees a
mark that there is more; they follow again when they return to the end or send a prompt.
"""

from __future__ import annotations

import asyncio

from rich.segment import Segment
from textual.strip import Strip

from tui_agent.text import visible
from tui_agent.ui.widgets.live_block import Cleaner
from tui_agent.ui.widgets.paced import Paced
from tui_agent.ui.widgets.pieces import (
    CallLine,
    CallPiece,
    LivePiece,
    MarkdownPiece,
    NoteKind,
    NotePiece,
    Piece,
    PromptPiece,
    ThinkingPiece,
)
from tui_agent.ui.widgets.reading import Reading
from tui_agent.ui.widgets.strips import LeanStrip

INTERVAL = 0.1
"""Seconds between repaints of a stream."""
PACE = 0.05
"""Seconds between repaints for whatever else the run tells."""
_MARK = " ↓ new output "


class Transcript(Reading):
    def __init__(self) -> None:
        super().__init__()
        self._live: LivePiece | None = None
        self._thinking: ThinkingPiece | None = None
        self._cleaner = Cleaner()
        self._text: list[str] = []
        self._thought: list[str] = []
        self._calls: dict[str, CallPiece] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._flushed = 0.0
        self._unseen = False
        self._sync_soon = Paced(self.sync, PACE)

    # Settled pieces ----------------------------------------------------------------------------------

    def add(self, piece: Piece) -> None:
        """A piece at the end; before the live one, so that a note doesn't cut an answer in two."""
        place = len(self.pieces) if self._live is None else self.place_of(self._live)
        self.insert(place, piece)
        self._grew()

    def add_prompt(self, text: str) -> Piece:
        """What the person sent. The view goes to it."""
        self.end_text()
        piece = PromptPiece(text)
        self.insert(len(self.pieces), piece)
        self.following = self.may_follow
        self._grew()
        return piece

    def cut(self, piece: Piece) -> list[Piece]:
        self.end_text()
        gone = super().cut(piece)
        for each in gone:
            if isinstance(each, CallPiece):
                self._calls.pop(each.call_id, None)
        return gone

    def add_answer(self, text: str) -> None:
        """A whole answer, as from a session: laid out when it is looked at."""
        self.end_text()
        if text.strip():
            self.add(MarkdownPiece(visible(text).strip("\n")))

    def add_thinking(self, text: str) -> None:
        self.end_text()
        if text.strip():
            self.add(ThinkingPiece(text))

    def add_note(self, text: str, kind: NoteKind = "note", hint: str = "") -> None:
        self.add(NotePiece(text, kind, hint))

    def show_call(self, call_id: str, line: CallLine, *, opened: bool = False) -> None:
        """The line of a call: a new one (`opened`: with its detail), or the one that is there changes."""
        piece = self._calls.get(call_id)
        if piece is None:
            self.end_text()
            piece = self._calls[call_id] = CallPiece(call_id, line)
            piece.expanded = opened
            self.add(piece)
        elif piece.line != line:
            piece.line = line
            self.mark(piece)
            self._sync_soon()

    def jump_to_call(self, call_id: str) -> bool:
        piece = self._calls.get(call_id)
        if piece is None or (place := self._index(piece)) is None:
            return False
        self._point_at(piece)
        self.show_piece(place)
        return True

    def clear(self) -> None:
        self._disarm()
        self._live = self._thinking = None
        self._text.clear()
        self._thought.clear()
        self._calls.clear()
        self._unseen = False
        super().clear()

    # The stream --------------------------------------------------------------------------------------

    def stream_text(self, delta: str) -> None:
        self._text.append(delta)
        self._arm()

    def stream_thinking(self, delta: str) -> None:
        if self._live is not None or self._text:
            self.end_text()
        self._thought.append(delta)
        self._arm()

    def end_text(self, cut: str | None = None) -> None:
        """The answer, or this part of it, is whole; `cut` says why it is not."""
        if self._text or self._thought:
            self._work_in()
        tail = self._cleaner.clean("", last=True)
        if self._live is not None:
            place = self.place_of(self._live)
            closed = self._live.block.feed(tail) if tail else []
            rest = self._live.block.finish()
            self._close(place, [*closed, rest])
            self.pieces.remove(self._live)
            self._live = None
            self._count_from(place)
        self._end_thinking()
        if cut is not None:
            self.add_note(cut, "stopped")
        self._grew()

    def _arm(self) -> None:
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(max(loop.time(), self._flushed + INTERVAL), self._flush)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _flush(self) -> None:
        self._work_in()
        self._grew()

    def _work_in(self) -> None:
        self._disarm()
        self._flushed = asyncio.get_running_loop().time()
        if self._thought:
            thought, self._thought = "".join(self._thought), []
            if self._thinking is None:
                self._thinking = ThinkingPiece("", done=False)
                self.add(self._thinking)
            self._thinking.source += thought
            self._thinking.touch()
        if self._text:
            self._end_thinking()
            text, self._text = self._cleaner.clean("".join(self._text)), []
            if self._live is None:
                text = text.lstrip("\n")
                self._live = LivePiece(max(20, self.size.width))
                self.insert(len(self.pieces), self._live)
            self._grow(self._live, text)

    def _grow(self, live: LivePiece, text: str) -> None:
        place = self.place_of(live)
        kept = max(0, len(live.block.rows) - 1)
        if closed := live.block.feed(text):
            self._close(place, closed)
            kept = 0
        live.grown(max(20, self.size.width), kept)
        self._count_from(self.place_of(live))

    def _close(self, place: int, sources: list[str]) -> None:
        """Closed blocks of the live piece at `place` stand before it from now on."""
        pieces = [MarkdownPiece(source) for source in sources if source.strip()]
        if not pieces:
            return
        index, offset = self.locate(self.top) if self.row_count else (-1, 0)
        reading = index == place and not self.following
        text = _letters(self.row_copy(self.top)[1]) if reading else ""
        self.insert(place, *pieces)
        if reading:
            self._stay(place, pieces, offset, text)

    def _stay(self, place: int, pieces: list[MarkdownPiece], offset: int, text: str) -> None:
        """The reader is inside what was just rendered: keep the row they had at the top of the view."""
        for number, piece in enumerate(pieces, place):
            piece.expanded = True
            self._settle(number)
        self._count_from(place)
        begin, end = self._starts[place], self._starts[place + len(pieces)]
        near = sorted(range(begin, end), key=lambda y: abs(y - begin - offset))
        same = (y for y in near if text and _letters(self.row_copy(y)[1]).startswith(text[:16]))
        self.top = next(same, min(begin + offset, max(begin, end - 1)))

    def _end_thinking(self) -> None:
        if self._thinking is not None:
            self._thinking.done = True
            self._thinking.touch()
            self._thinking = None

    # The mark ----------------------------------------------------------------------------------------

    def _grew(self) -> None:
        """There is more: show it with whatever else comes at this time."""
        if not self.following:
            self._unseen = True
        self._sync_soon()

    def decorate(self, strips: list[Strip]) -> list[Strip]:
        if self.following or self.at_end:
            self._unseen = False
        width = self.size.width
        if self._unseen and strips and width > len(_MARK) + 4:
            mark = self.look("bold $text-primary on $panel")
            kept = strips[-1].crop(0, width - len(_MARK) - 1)
            segments = [*kept._segments, Segment(_MARK, mark), Segment(" ", self.look(""))]
            strips[-1] = self._filtered(LeanStrip(segments, width))
        return strips

    def on_unmount(self) -> None:
        self._disarm()
        self._sync_soon.cancel()


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))
