"""The field that filters the tool log. It is made when it is first asked for."""

from __future__ import annotations

from textual.widgets import Input

from tui_agent.ui.widgets.in_order import InOrder


class CallFilter(InOrder, Input):
    DEFAULT_CSS = """
    CallFilter, CallFilter:focus { height: 1; border: none; padding: 0; background: $surface; }
    """

    def __init__(self) -> None:
        super().__init__(placeholder="state, name or text", compact=True)
