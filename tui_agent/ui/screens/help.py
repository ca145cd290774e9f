"""The help screen: keys, the two ladders and the commands, made from the tables that act on them."""

from __future__ import annotations

from itertools import groupby
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from tui_agent.ui import keys
from tui_agent.ui.commands import COMMANDS
from tui_agent.ui.screens.dialog import Dialog

_COLUMN = 26
_PLACES = {
    "prompt": "In the prompt",
    "queue": "Messages that wait (F5)",
    "screen": "Everywhere",
    "tool log": "Tool log",
    "changes": "Changes",
}
_LADDERS: dict[keys.Ladder, str] = {
    "escape": "Escape does the first of these that applies",
    "ctrl_c": "Ctrl+C does the first of these that applies",
}


class HelpScreen(Dialog[None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,q,ctrl+c,enter", "close", show=False),
    ]

    def __init__(self) -> None:
        super().__init__("Help", help_text(), "Escape  close    arrows, PageDown  read on")

    def action_close(self) -> None:
        self.dismiss(None)


def help_text() -> Content:
    """All of it, from the tables."""
    sections = [
        _section(_PLACES[place], [(key.label, key.does) for key in rows if key.does])
        for place, rows in groupby(keys.KEYS, key=lambda key: key.place)
    ]
    for ladder, heading in _LADDERS.items():
        rungs = keys.LADDERS[ladder]
        sections.append(_section(heading, [(rung.when, rung.does) for rung in rungs], column=42))
    commands = [(f"/{command.name} {command.argument}".strip(), command.help) for command in COMMANDS]
    sections.append(_section("Commands", commands))
    return Content("\n\n").join(sections)


def _section(heading: str, rows: list[tuple[str, str]], column: int = _COLUMN) -> Content:
    lines = [Content.styled(heading, "bold $text-accent")]
    for left, right in rows:
        # A label that is wider than its column stands on a line of its own.
        gap = f"\n{' ' * (column + 2)}" if len(left) >= column else " " * (column - len(left))
        lines.append(Content.assemble("  ", (left, "bold"), gap, right))
    return Content("\n").join(lines)
