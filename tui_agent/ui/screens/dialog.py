"""The frame of the small dialogs: a heading, a text, and keys that are theirs alone."""

from __future__ import annotations

from typing import TypeVar

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Size
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
        self._width = _width(self.app.size)
        self._body = VerticalScroll(Static(self.text(self._width)), classes="body")
        with Vertical(classes="dialog"):
            yield Static(Content(self._heading), classes="heading")
            yield self._body
            yield KeyRows(self._keys, classes="keys")
        self._fit(self.app.size)

    def text(self, width: int) -> Content:
        """What stands in the body, for one that is so wide."""
        return self._text

    def on_resize(self) -> None:
        self._fit(self.size)
        if (width := _width(self.size)) != self._width:
            self._width = width
            self._body.query_one(Static).update(self.text(width))

    def _fit(self, size: Size) -> None:
        """The keys stay in view however long the text is."""
        tight = size.height < TIGHT
        self.set_class(tight, "-tight")
        self._body.styles.max_height = max(3, size.height - (FRAME if tight else FRAME + 2))


def _width(size: Size) -> int:
    """Cells of the body in a screen of this size."""
    return min(84, int(size.width * 0.96)) - 7
