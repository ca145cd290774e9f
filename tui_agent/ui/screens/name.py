"""One line of text, asked for in a dialog."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from tui_agent.text import visible
from tui_agent.ui.widgets.in_order import InOrder
from tui_agent.ui.widgets.key_rows import KeyRows


class _Line(InOrder, Input):
    """What is typed."""


class NameScreen(ModalScreen[str | None]):
    """Enter gives the text, which may be empty; Escape gives None."""

    DEFAULT_CSS = """
    NameScreen { align: center middle; background: $background 60%; }
    NameScreen Input, NameScreen Input:focus { height: 1; border: none; padding: 0; background: $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,ctrl+c", "close", show=False)]

    def __init__(self, heading: str, text: str, keys: str) -> None:
        super().__init__()
        self._heading = heading
        self._line = _Line(visible(text, strict=True))
        self._keys = keys

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Content(self._heading), classes="heading")
            yield self._line
            yield KeyRows(self._keys, classes="keys")

    def on_mount(self) -> None:
        self._line.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value)

    def action_close(self) -> None:
        self.dismiss(None)
