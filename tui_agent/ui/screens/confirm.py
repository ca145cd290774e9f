"""A question with yes and no."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from tui_agent.ui import safe
from tui_agent.ui.screens.dialog import Dialog


class ConfirmScreen(Dialog[bool]):
    """True for yes. Escape, Ctrl+C and n are no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", show=False),
        Binding("n,escape,ctrl+c", "answer(False)", show=False),
    ]

    def __init__(self, heading: str, text: str, yes: str, no: str, *, about: str = "") -> None:
        parts = [safe.strict(about, "bold")] if about else []
        super().__init__(heading, Content("\n\n").join([*parts, safe.strict(text)]), f"y  {yes}    n  {no}")

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)
