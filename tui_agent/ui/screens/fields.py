"""The one place for text in a question: a line (reason, comment, rule, search) or a page (edit).

Leaving it keeps what was typed; what it was for decides when the text is used.
"""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static, TextArea

from tui_agent.text import visible
from tui_agent.ui.widgets.in_order import InOrder

Done = Callable[[str], str | None]
"""Takes the final text; what it returns is wrong with it, and keeps the field open."""


class _Line(InOrder, Input):
    pressed_at = 0.0
    """When the last key was pressed, which may be long before it is handled."""

    async def _on_key(self, event: events.Key) -> None:
        self.pressed_at = event.time

    def _on_paste(self, event: events.Paste) -> None:
        event.text = visible(event.text)  # the base class inserts what the event says


class _Page(InOrder, TextArea):
    async def _on_paste(self, event: events.Paste) -> None:
        event.text = visible(event.text)


class Fields(Vertical):
    def __init__(self) -> None:
        super().__init__()
        self.label = ""
        self._done: Done | None = None
        self._kept: dict[str, str] = {}
        self._keep_as = ""

    def compose(self) -> ComposeResult:
        yield Static(classes="field-label")
        yield _Line(select_on_focus=False)
        yield _Page(soft_wrap=True, show_line_numbers=True)
        yield Static(classes="field-keys")

    @property
    def is_open(self) -> bool:
        return self.has_class("-open")

    @property
    def editing(self) -> bool:
        """Whether the page is open, where Enter is a new line."""
        return self.is_open and self.query_one(TextArea).display

    def ask(self, label: str, keys: str, done: Done, *, text: str = "", kept: str = "") -> None:
        """Open the line. What is typed is remembered under `kept` if it is left, until `accept`."""
        line = self.query_one(Input)
        self._open(label, keys, done, kept, page=False)
        line.value = self._kept.get(kept, text)
        line.cursor_position = len(line.value)
        line.focus()

    def edit(self, label: str, text: str, done: Done, *, kept: str = "") -> None:
        """Open the page with `text`."""
        page = self.query_one(TextArea)
        self._open(label, "Ctrl+S takes it · Esc leaves", done, kept, page=True)
        page.load_text(self._kept.get(kept, text))
        if page.document.line_count == 1:
            page.move_cursor(page.document.end)
        page.focus()

    def _open(self, label: str, keys: str, done: Done, kept: str, *, page: bool) -> None:
        self._done, self._keep_as = done, kept
        self.query_one(Input).display = not page
        self.query_one(TextArea).display = page
        self.query_one(".field-keys", Static).update(Content(keys))
        self.add_class("-open")
        self.screen.add_class("-typing")
        self.tell(label)

    def tell(self, label: str) -> None:
        self.label = label
        self.query_one(".field-label", Static).update(Content(visible(label, strict=True)))

    @property
    def pressed_at(self) -> float:
        """When the last key of the line was pressed."""
        return self.query_one(_Line).pressed_at

    @property
    def text(self) -> str:
        return self.query_one(TextArea).text if self.editing else self.query_one(Input).value

    def accept(self) -> None:
        """The text is final."""
        done = self._done
        if done is None:
            return
        if complaint := done(self.text):
            self.tell(complaint)
        elif self._done is done:
            self._kept.pop(self._keep_as, None)
            self._keep_as = ""
            self.close()

    def close(self) -> None:
        """Leave it; the text is kept for the next time."""
        if self._keep_as:
            self._kept[self._keep_as] = self.text
        self._done = None
        self.remove_class("-open")
        self.screen.remove_class("-typing")
        self.screen.set_focus(None)
