"""The prompt: a text area that sends on Enter, grows with its text, and remembers what was sent.

Enter sends; the newline keys, or a backslash before Enter, break the line. Up on the first row and Down on
the last walk through earlier prompts; the draft waits at the newest end. Text of the person's own is the
one kind that stands in the box as it was typed, except what could act on the terminal.
"""

from __future__ import annotations

from typing import Any, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.strip import Strip
from textual.widgets import TextArea

from tui_agent.text import visible
from tui_agent.ui import keys
from tui_agent.ui.messages import PromptSubmitted
from tui_agent.ui.widgets.in_order import InOrder


class Sent:
    """Earlier prompts, oldest first, and a place in them. At the newest end stands the draft."""

    def __init__(self) -> None:
        self.entries: list[str] = []
        self._draft = ""
        self._place = 0

    def add(self, text: str) -> None:
        """Remember `text` as the newest (not twice in a row) and go to the end."""
        if not self.entries or self.entries[-1] != text:
            self.entries.append(text)
        self._place = len(self.entries)
        self._draft = ""

    def older(self, current: str) -> str | None:
        """The entry before this one; `current` becomes the draft when the walk begins."""
        if self._place == 0:
            return None
        if self._place == len(self.entries):
            self._draft = current
        self._place -= 1
        return self.entries[self._place]

    def newer(self) -> str | None:
        if self._place >= len(self.entries):
            return None
        self._place += 1
        return self._draft if self._place == len(self.entries) else self.entries[self._place]


class Prompt(InOrder, TextArea):
    BINDINGS: ClassVar[list[BindingType]] = [
        *keys.bindings("prompt"),
        # TextArea has these for itself; here the main screen's meaning counts.
        *(b for b in keys.bindings("screen") if b.key.split(",")[0] in {"ctrl+c", "f6"}),
        Binding("pageup", "page('page_up')", show=False),
        Binding("pagedown", "page('page_down')", show=False),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(
            id=id,
            soft_wrap=True,
            show_line_numbers=False,
            highlight_cursor_line=False,
            placeholder="Ask for a change, or / for commands. F1 shows the keys.",
        )
        self.cursor_blink = False  # two writes a second, for ever
        self.sent = Sent()

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self._enter()
        elif event.character == "?" and not self.text:
            event.stop()
            event.prevent_default()
            await self.run_action("screen.help")

    def _enter(self) -> None:
        row, column = self.cursor_location
        if self.selection.is_empty and column and self.document.get_line(row)[column - 1] == "\\":
            self.replace("\n", (row, column - 1), (row, column))
        else:
            self.submit()

    async def _on_paste(self, event: events.Paste) -> None:
        # Pasted bytes may hold anything; the base class inserts what the event says.
        event.text = visible(event.text)

    def render_lines(self, crop: Region) -> list[Strip]:
        # A terminal that changes its size while the program starts is painted before styles were applied.
        if not self._component_styles:
            return [Strip.blank(crop.width)] * crop.height
        return super().render_lines(crop)

    def submit(self) -> None:
        """Send the text, unless there is none."""
        text = self.text
        if not text.strip():
            return
        self.sent.add(text)
        self.clear()
        self.post_message(PromptSubmitted(text))

    def put(self, text: str) -> None:
        """Replace the draft, with the cursor at its end; undo brings the old one back."""
        self.replace(text, (0, 0), self.document.end)
        self.move_cursor(self.document.end)

    def give_back(self, text: str) -> None:
        """Text that was not sent after all: into the box when that is empty, else into the history."""
        if self.text.strip():
            self.sent.add(text)
        else:
            self.put(text)

    def type_in(self, text: str) -> None:
        """Keys that were typed for the prompt while something else had the focus."""
        self.insert(text, self.document.end)
        self.move_cursor(self.document.end)

    def action_new_line(self) -> None:
        self.replace("\n", *self.selection)

    def action_delete_or_quit(self) -> Any:
        if self.text:
            self.action_delete_right()
            return None
        return self.run_action("screen.quit")

    def action_cursor_up(self, select: bool = False) -> None:
        if not select and self.navigator.is_first_wrapped_line(self.cursor_location):
            earlier = self.sent.older(self.text)
            if earlier is not None:
                self.put(earlier)
                return
        super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        if not select and self.navigator.is_last_wrapped_line(self.cursor_location):
            later = self.sent.newer()
            if later is not None:
                self.put(later)
                return
        super().action_cursor_down(select)

    async def action_page(self, direction: str) -> None:
        """Scroll the draft, or, when that is wholly in view, the conversation."""
        if self.virtual_size.height <= self.size.height:
            await self.run_action(f"screen.scroll_conversation('{direction}')")
        elif direction == "page_up":
            self.action_cursor_page_up()
        else:
            self.action_cursor_page_down()
