"""The search line of a pane: type, Enter for the next hit, Shift+Enter or Up for the one before."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from tui_agent.ui.widgets.in_order import InOrder


class _Needle(InOrder, Input):
    """What is looked for."""


class SearchField(Horizontal):
    DEFAULT_CSS = """
    SearchField { display: none; height: 1; }
    SearchField Input, SearchField Input:focus {
        width: 1fr; height: 1; border: none; padding: 0; background: transparent;
    }
    SearchField Static { width: auto; padding: 0 1; color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close", show=False),
        Binding("down", "find(1)", "Next", show=False),
        Binding("up,shift+enter", "find(-1)", "Previous", show=False),
    ]

    class Wanted(Message):
        def __init__(self, field: SearchField, needle: str, step: int) -> None:
            super().__init__()
            self.field = field
            self.needle = needle
            self.step = step

        @property
        def control(self) -> SearchField:
            return self.field

    class Closed(Message):
        """The field is gone; the focus is the pane's again."""

    def compose(self) -> ComposeResult:
        yield Static(Content("/"))
        yield _Needle()
        yield Static(Content(""), id="found")

    def open(self) -> None:
        self.display = True
        self.query_one(Input).focus()

    def tell(self, place: int, count: int) -> None:
        needle = self.query_one(Input).value
        text = f"{place} of {count}" if count else "not found" if needle else ""
        self.query_one("#found", Static).update(Content(text))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_find(1)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()

    def action_find(self, step: int) -> None:
        self.post_message(self.Wanted(self, self.query_one(Input).value, step))

    def action_close(self) -> None:
        self.query_one(Input).value = ""
        self.display = False
        self.post_message(self.Wanted(self, "", 1))
        self.post_message(self.Closed())
