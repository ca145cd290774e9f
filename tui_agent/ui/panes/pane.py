"""What the side panes have in common: a row with their name above what they show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

if TYPE_CHECKING:
    from textual.widget import Widget


class PaneTitle(Static):
    """The name of a pane and a word on what is in it."""

    def __init__(self, name: str) -> None:
        super().__init__(Content(name), classes="pane-title")
        self._name_shown = name
        self._fact = ""

    def tell(self, fact: str) -> None:
        """`fact` is text of our own (counts), never foreign."""
        if fact != self._fact:
            self._fact = fact
            self.update(
                Content.assemble(self._name_shown, "  ", (fact, "not bold $text-muted")), layout=False
            )


class Pane(Vertical):
    """A pane of the main screen. `entry` is what takes the focus when the person goes to it."""

    @property
    def entry(self) -> Widget:
        raise NotImplementedError
