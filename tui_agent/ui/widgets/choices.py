"""A short list to choose from, drawn whole: completions, earlier prompts, messages that wait."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from tui_agent.text import shorten


class Choices(Widget):
    """Shows `most` rows around the chosen one. It has no keys of its own; whoever has the keys moves it."""

    DEFAULT_CSS = """
    Choices { height: auto; width: 1fr; background: $surface; }
    """

    class Clicked(Message):
        def __init__(self, choices: Choices, index: int) -> None:
            super().__init__()
            self.choices = choices
            self.index = index

        @property
        def control(self) -> Choices:
            return self.choices

    def __init__(self, *, most: int = 8, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows: Sequence[Content] = ()
        self.chosen = 0
        self.hint = ""
        self.keep: Literal["head", "tail"] = "head"
        """What stays in view of a row that is too long: of a path its end, which is its name."""
        self._most = most
        self._top = 0

    @property
    def height(self) -> int:
        """Rows on the screen."""
        return min(len(self.rows), self._most) + (1 if self.hint else 0)

    def offer(self, rows: Sequence[Content], chosen: int = 0, hint: str = "") -> None:
        """Show these rows; `hint` stands under them."""
        before = self.height
        self.rows, self.hint = rows, hint
        self.chosen = max(0, min(chosen, len(rows) - 1))
        self._follow()
        self.refresh(layout=self.height != before)

    def move(self, by: int) -> None:
        """Choose another row; from the last one on to the first."""
        if self.rows:
            self.chosen = (self.chosen + by) % len(self.rows)
            self._follow()
            self.refresh()

    def _follow(self) -> None:
        lowest = max(0, len(self.rows) - self._most)
        self._top = min(lowest, max(self.chosen - self._most + 1, min(self._top, self.chosen)))

    @property
    def marked(self) -> bool:
        """Whether the chosen row is shown as such."""
        return True

    def render(self) -> Content:
        width = max(1, self.size.width)
        lines = []
        for index, row in enumerate(self.rows[self._top : self._top + self._most], self._top):
            chosen = index == self.chosen and self.marked
            # The chosen row is marked by a sign too, not by colour alone.
            sign = "› " if chosen else "  "
            line = Content.assemble(sign, self._cut(row, width - len(sign))).truncate(width, pad=True)
            lines.append(line.stylize("on $block-cursor-background") if chosen else line)
        if self.hint:
            lines.append(Content.styled(f"  {self.hint}", "$text-muted").truncate(width, ellipsis=True))
        return Content("\n").join(lines)

    def _cut(self, row: Content, width: int) -> Content:
        if row.cell_length <= width:
            return row
        if self.keep == "head":
            return row.truncate(width, ellipsis=True)
        return Content("…") + row[1 - len(shorten(row.plain, width, "tail")) :]

    def on_click(self, event: events.Click) -> None:
        index = self._top + event.y
        if event.y < self._most and index < len(self.rows):
            self.chosen = index
            self.refresh()
            self.post_message(self.Clicked(self, index))
