"""A list to choose one row from: what it is on the left, facts about it on the right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from tui_agent.text import one_line, width_of
from tui_agent.ui.widgets.cursor_view import CURSOR, CursorView
from tui_agent.ui.widgets.strips import build


class Row(NamedTuple):
    """Foreign text is welcome: it is drawn as one strict line."""

    text: str
    fact: str = ""


class RowList(CursorView):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "open", show=False)]

    class Moved(Message):
        """The cursor stands on another row, or the rows are others now."""

    class Chosen(Message):
        """Enter, or a double click."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: Sequence[Row] = ()

    @property
    def row_count(self) -> int:
        return len(self.rows)

    def show(self, rows: Sequence[Row], cursor: int | None = None) -> None:
        """Other rows; the cursor stays where it is unless it is told a place."""
        self.rows = rows
        self.changed()
        self.move_to(self.cursor if cursor is None else cursor)

    def row_strip(self, y: int, width: int) -> Strip:
        row = self.rows[y]
        fact = one_line(row.fact, max(0, width // 2))
        room = max(0, width - width_of(fact) - 5)
        text = one_line(row.text, room)
        gap = " " * max(1, room - width_of(text) + 2)
        # The row stays marked when the focus is elsewhere.
        mark = "› " if y == self.cursor else "  "
        parts = ((mark, "$text-primary"), (text, ""), (gap, ""), (fact, "$text-muted"), (" ", ""))
        return build(parts, width, self.styles_of(y), CURSOR if self.marked(y) else "")

    def move_to(self, row: int) -> None:
        super().move_to(row)
        self.post_message(self.Moved())

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        self.reveal(self.cursor)

    def action_open(self) -> None:
        if self.cursor < len(self.rows):
            self.post_message(self.Chosen())
