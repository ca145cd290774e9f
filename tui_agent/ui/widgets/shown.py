"""A line view that knows whether its end has been on the screen: what is approved was there to be seen."""

from __future__ import annotations

from textual.message import Message
from textual.strip import Strip

from tui_agent.ui.widgets.line_view import LineView


class ShownView(LineView):
    class EndShown(Message):
        """The last row has been on the screen, and nothing was cut off at the side."""

        def __init__(self, view: ShownView) -> None:
            super().__init__()
            self.view = view

        @property
        def control(self) -> ShownView:
            return self.view

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.end_shown = False

    @property
    def whole(self) -> bool:
        """Whether there are rows, and each is as wide as it needs."""
        return self.row_count > 0

    def decorate(self, strips: list[Strip]) -> list[Strip]:
        if not self.end_shown and self.whole and self.at_end and self.size.height:
            self.end_shown = True
            self.post_message(self.EndShown(self))
        return strips
