"""Every key that may be another one, by the name that the settings have for it."""

from __future__ import annotations

from textwrap import fill
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from tui_agent.paths import settings_file
from tui_agent.ui import safe
from tui_agent.ui.keymap import Keymap, spelled
from tui_agent.ui.keys import KEYS
from tui_agent.ui.screens.dialog import Dialog

_NAME = 32


class KeyList(Dialog[None]):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,ctrl+c,enter", "close", show=False)]

    def __init__(self, keymap: Keymap) -> None:
        super().__init__("Keys", Content(""), "Escape  close    arrows, PageDown  read on")
        self._keymap = keymap

    def text(self, width: int) -> Content:
        return listed(self._keymap, width)

    def action_close(self) -> None:
        self.dismiss(None)


def listed(keymap: Keymap, width: int = 68) -> Content:
    parts = [
        safe.title(f"Give them other keys in {settings_file()}, below [keys]:"),
        Content.styled('    next_mode = "f7"\n    toggle_calls = "ctrl+o,f8"\n', "$text-accent"),
    ]
    parts += [safe.content(f"! {problem}", "$text-warning") for problem in keymap.problems]
    for key in KEYS:
        if key.action:
            now = ", ".join(spelled(name) for name in keymap.keys(key))
            changed = key.id in keymap.changed
            parts.append(
                Content.assemble(
                    (f"{key.id:<{_NAME}}", "bold" if changed else ""),
                    fill(now, max(12, width - _NAME)).replace("\n", f"\n{' ' * _NAME}"),
                    ("  yours" if changed else "", "$text-accent"),
                )
            )
    return Content("\n").join(parts)
