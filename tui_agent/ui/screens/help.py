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
_WIDTH = 68
"""Cells of a row of a dialog in 80 columns."""
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
        super().__init__("Help", Content(""), "Escape  close    arrows, PageDown  read on")
        self._place, self._keymap = place, keymap

    def text(self, width: int) -> Content:
        return help_text(self._place, self._keymap, width)

    def action_close(self) -> None:
        self.dismiss(None)


def help_text(place: keys.Place = "prompt", keymap: Keymap = NO_CHANGE, width: int = _WIDTH) -> Content:
    """All of it, from the tables; `place` first."""
    column = min(_COLUMN, width // 3)
    rest = [other for other in get_args(keys.Place) if other not in (place, "screen")]
    sections = [_keys_of(where, keymap, column, width) for where in (place, "screen", *rest)]
    for ladder, heading in _LADDERS.items():
        rungs = [(rung.when, rung.does) for rung in keys.LADDERS[ladder]]
        sections.append(_section(heading, rungs, min(42, width // 2), width))
    commands = [(command.call, command.help) for command in COMMANDS]
    sections.append(_section("Commands", commands, column, width))
    return Content("\n\n").join(sections)


def _keys_of(place: keys.Place, keymap: Keymap, column: int, width: int) -> Content:
    return _section(
        _PLACES[place],
        [(keymap.label(key), key.does) for key in keys.KEYS if key.place == place and key.does],
        column,
        width,
    )


def _section(heading: str, rows: list[tuple[str, str]], column: int, width: int) -> Content:
    lines = [Content.styled(heading, "bold $text-accent")]
    for left, right in rows:
        # A label that is wider than its column stands on a line of its own.
        first = "" if len(left) < column else f"\n{' ' * (column + 2)}"
        gap = first or " " * (column - len(left))
        words = fill(right, max(12, width - column - 2)).replace("\n", f"\n{' ' * (column + 2)}")
        lines.append(Content.assemble("  ", (left, "bold"), gap, words))
    return Content("\n").join(lines)
