"""The frame of dialogs in which one thing of a list is chosen: heading, list, a word on the row, keys."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static

from tui_agent.ui.screens.dialog import TIGHT
from tui_agent.ui.widgets.in_order import InOrder
from tui_agent.ui.widgets.key_rows import KeyRows
from tui_agent.ui.widgets.row_list import RowList

T = TypeVar("T")

FRAME = 11
"""Rows that a picker takes beside its list, if there is no air."""


class Words(InOrder, Input):
    """A line to type in over the list: the arrows still move in the list, Escape goes back to it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "screen.move(-1)", show=False),
        Binding("down", "screen.move(1)", show=False),
        Binding("escape", "screen.leave_words", show=False),
    ]


class Picker(ModalScreen[T]):
    """Gives what `taken` makes of the chosen row, None if none was chosen."""

    DEFAULT_CSS = """
    Picker { align: center middle; background: $background 60%; }
    Picker RowList, Picker RowList:focus { height: auto; min-height: 3; background: $surface; }
    Picker .note { height: 2; padding: 0 2; color: $text-muted; }
    Picker Input, Picker Input:focus { height: 1; border: none; padding: 0; background: $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,ctrl+c", "close", show=False)]
    AUTO_FOCUS = "RowList"

    def __init__(self, heading: str, keys: str) -> None:
        super().__init__()
        self._heading = Static(Content(heading), classes="heading")
        self._note = Static(classes="note")
        self._keys = KeyRows(keys, classes="keys")
        self.list = RowList()

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield self._heading
            yield from self.above()
            yield self.list
            yield self._note
            yield self._keys

    def above(self) -> Iterable[Widget]:
        """What stands over the list."""
        return ()

    def head(self, text: str) -> None:
        """`text` is ours."""
        self._heading.update(Content(text))

    def show_keys(self, text: str) -> None:
        """`text` is ours."""
        self._keys.show(text)

    def note(self, text: Content) -> None:
        """A word on the row under the cursor, or on the list; comes through `safe`."""
        self._note.update(text)

    def taken(self, index: int) -> T | None:
        """What row `index` stands for."""
        raise NotImplementedError

    def fit(self) -> None:
        """As high as the list needs, and the screen allows."""
        frame = FRAME if self.has_class("-tight") else FRAME + 2
        room = max(3, self.size.height - frame - len(list(self.above())))
        self.list.styles.height = min(room, max(3, self.list.row_count))

    def on_resize(self) -> None:
        self.set_class(self.size.height < TIGHT, "-tight")
        self.fit()

    def on_row_list_chosen(self) -> None:
        chosen = self.taken(self.list.cursor)
        if chosen is not None:
            self.dismiss(chosen)

    def action_move(self, rows: int) -> None:
        self.list.move_to(self.list.cursor + rows)

    def action_leave_words(self) -> None:
        self.list.focus()

    def action_close(self) -> None:
        self.dismiss(None)
