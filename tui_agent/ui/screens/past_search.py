"""Ctrl+R: earlier prompts of this folder, found by words as they are typed."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from tui_agent.text import plural
from tui_agent.ui import safe
from tui_agent.ui.drafts.draft import Draft
from tui_agent.ui.drafts.past import Past
from tui_agent.ui.widgets.choices import Choices
from tui_agent.ui.widgets.in_order import InOrder
from tui_agent.ui.widgets.key_rows import KeyRows

SHOWN = 200
"""Prompts that are listed at once."""


class Words(InOrder, Input):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,ctrl+r,ctrl+p", "screen.choose(-1)", show=False),
        Binding("down,ctrl+n,ctrl+s", "screen.choose(1)", show=False),
        Binding("tab", "screen.take", show=False),
        Binding("escape,ctrl+c,ctrl+g", "screen.close", show=False),
    ]


class PastSearch(ModalScreen[Draft | None]):
    """Gives the prompt that was chosen, None if none was. The newest stands lowest, next to the field."""

    DEFAULT_CSS = """
    PastSearch { align: left bottom; background: $background 40%; }
    PastSearch Vertical { height: auto; background: $surface; padding: 0 1; border-top: solid $primary; }
    PastSearch KeyRows { color: $text-muted; }
    PastSearch Input, PastSearch Input:focus { height: 1; border: none; padding: 0; background: $surface; }
    """

    def __init__(self, past: Past, words: str = "") -> None:
        super().__init__()
        self._past = past
        self._found: list[Draft] = []
        self._list = Choices(most=10)
        self._said = KeyRows()
        self._words = Words(words, placeholder="words of an earlier prompt", compact=True)

    def compose(self) -> ComposeResult:
        with Vertical():
            yield self._list
            yield self._said
            yield self._words

    def on_mount(self) -> None:
        self._words.focus()
        self._show()

    def on_input_changed(self) -> None:
        self._show()

    def on_input_submitted(self) -> None:
        self.action_take()

    def on_choices_clicked(self) -> None:
        self.action_take()

    def _show(self) -> None:
        found = self._past.found(self._words.value)
        self._found = found[:SHOWN][::-1]
        self._list.offer([safe.title(draft.text) for draft in self._found], len(self._found) - 1)
        self._list.display = bool(self._found)
        count = plural(len(found), "earlier prompt") if found else "no earlier prompt has these words"
        self._said.show(f"{count}    Up, Ctrl+R  older    Enter  take    Escape  close")

    def action_choose(self, by: int) -> None:
        self._list.move(by)

    def action_take(self) -> None:
        self.dismiss(self._found[self._list.chosen] if self._found else None)

    def action_close(self) -> None:
        self.dismiss(None)
