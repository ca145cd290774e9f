"""A virtual list with a cursor: the arrows move it, the view follows it."""

from __future__ import annotations

from collections.abc import Callable

from rich.style import Style
from textual import events

from tui_agent.ui.widgets.line_view import LineView

CURSOR = "on $block-cursor-background"


class CursorView(LineView):
    """`cursor` is a row. It is drawn while the view has the focus; a double click or Enter opens."""

    def __init__(self, *, following: bool = False) -> None:
        super().__init__(following=following)
        self.cursor = 0

    def action_open(self) -> None:
        """What Enter does with the row under the cursor."""
        raise NotImplementedError

    def marked(self, y: int) -> bool:
        return y == self.cursor and self.has_focus

    def styles_of(self, y: int) -> Callable[[str], Style]:
        """The looks for row `y`, on the cursor's ground if it stands there."""
        if self.marked(y):
            return lambda style: self.look(style if CURSOR in style else f"{style} {CURSOR}".strip())
        return self.look

    def move_to(self, row: int) -> None:
        before, self.cursor = self.cursor, max(0, min(row, self.row_count - 1))
        self._repaint(before)
        self._repaint(self.cursor)
        self.reveal(self.cursor)

    def _repaint(self, row: int) -> None:
        self.changed(row, row + 1)

    def action_scroll_rows(self, rows: int) -> None:
        self.move_to(self.cursor + rows)

    def action_scroll_pages(self, pages: int) -> None:
        self.move_to(self.cursor + pages * max(1, self.size.height - 1))

    def action_scroll_to_start(self) -> None:
        self.move_to(0)

    def action_scroll_to_end(self) -> None:
        self.move_to(self.row_count - 1)

    def on_focus(self) -> None:
        self._repaint(self.cursor)

    def on_blur(self) -> None:
        self._repaint(self.cursor)

    def on_click(self, event: events.Click) -> None:
        self.move_to(self.top + event.y)
        if event.chain == 2:
            self.action_open()
