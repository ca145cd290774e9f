"""The help screen: keys, the two ladders and the commands, made from the tables that act on them.

What works where the person was comes first.
"""

from __future__ import annotations

from textwrap import fill
from typing import ClassVar, get_args

from textual.binding import Binding, BindingType
from textual.content import Content

from tui_agent.ui import keys
from tui_agent.ui.commands import COMMANDS
from tui_agent.ui.keymap import Keymap
from tui_agent.ui.screens.dialog import Dialog

_COLUMN = 26
_WORDS = 40
"""Cells of what a key does, on one line of a dialog in 80 columns."""
_PLACES: dict[keys.Place, str] = {
    "screen": "Everywhere",
    "prompt": "In the prompt",
    "queue": "Messages that wait (F5)",
    "conversation": "Conversation (F2)",
    "tool log": "Tool log (F3)",
    "changes": "Changes (F4)",
}
_LADDERS: dict[keys.Ladder, str] = {
    "escape": "Escape does the first of these that applies",
    "ctrl_c": "Ctrl+C does the first of these that applies",
}
NO_CHANGE = Keymap({})


class HelpScreen(Dialog[None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,q,ctrl+c,enter", "close", show=False),
    ]

    def __init__(self, place: keys.Place = "prompt", keymap: Keymap = NO_CHANGE) -> None:
        super().__init__("Help", help_text(place, keymap), "Escape  close    arrows, PageDown  read on")

    def action_close(self) -> None:
        self.dismiss(None)


def help_text(place: keys.Place = "prompt", keymap: Keymap = NO_CHANGE) -> Content:
    """All of it, from the tables; `place` first."""
    rest = [other for other in get_args(keys.Place) if other not in (place, "screen")]
    sections = [_keys_of(where, keymap) for where in (place, "screen", *rest)]
    for ladder, heading in _LADDERS.items():
        rungs = keys.LADDERS[ladder]
        sections.append(_section(heading, [(rung.when, rung.does) for rung in rungs], column=42))
    commands = [(f"/{command.name} {command.argument}".strip(), command.help) for command in COMMANDS]
    sections.append(_section("Commands", commands))
    return Content("\n\n").join(sections)


def _keys_of(place: keys.Place, keymap: Keymap) -> Content:
    return _section(
        _PLACES[place],
        [(keymap.label(key), key.does) for key in keys.KEYS if key.place == place and key.does],
    )


def _section(heading: str, rows: list[tuple[str, str]], column: int = _COLUMN) -> Content:
    lines = [Content.styled(heading, "bold $text-accent")]
    for left, right in rows:
        # A label that is wider than its column stands on a line of its own.
        first = "" if len(left) < column else f"\n{' ' * (column + 2)}"
        gap = first or " " * (column - len(left))
        words = fill(right, _WORDS).replace("\n", f"\n{' ' * (column + 2)}")
        lines.append(Content.assemble("  ", (left, "bold"), gap, words))
    return Content("\n").join(lines)
