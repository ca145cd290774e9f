"""The frame of the small dialogs: a heading, a text, and keys that are theirs alone."""

from __future__ import annotations

from typing import TypeVar

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui_agent.ui.widgets.key_rows import KeyRows

T = TypeVar("T")

FRAME = 8
"""Rows that a dialog takes beside its body, if there is no air."""
TIGHT = 30
"""Rows of a screen below which dialogs leave air out."""


class Dialog(ModalScreen[T]):
    """`heading` and `keys` are words of ours; `text` comes through `safe`."""

    AUTO_FOCUS = ".body"

    def __init__(self, heading: str, text: Content, keys: str) -> None:
        super().__init__()
        self._heading = heading
        self._text = text
        self._keys = keys

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Content(self._heading), classes="heading")
            with VerticalScroll(classes="body"):
                yield Static(self._text)
            yield KeyRows(self._keys, classes="keys")

    def text(self, width: int) -> Content:
        """What stands in the body, for one that is so wide."""
        return self._text

    def on_resize(self) -> None:
        tight = self.size.height < TIGHT
        self.set_class(tight, "-tight")
        # The keys stay in view however long the text is.
        self.query_one(".body").styles.max_height = max(3, self.size.height - (FRAME if tight else FRAME + 2))
        width = min(84, int(self.size.width * 0.96)) - 7
        self.query_one(".body Static", Static).update(self.text(width))
