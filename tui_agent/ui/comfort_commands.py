"""The commands about the program itself: its colours, its keys, its clipboard."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tui_agent.ui import clipboard, safe

if TYPE_CHECKING:
    from tui_agent.ui.app import TuiApp


async def theme(app: TuiApp, name: str) -> None:
    """By name, or chosen from a list that shows each as the cursor comes to it."""
    if not name:
        from tui_agent.ui.screens.theme_picker import ThemePicker

        name = await app.push_screen_wait(ThemePicker(app.theme)) or ""
    if name and app.use_theme(name):
        app.settings = replace(
            app.settings, theme=name
        )  # from now on the terminal's background decides nothing
    elif name:
        safe.notify(app.main, f"There is no theme {name!r}. /theme lists them.", severity="warning")


async def keys(app: TuiApp, _: str) -> None:
    from tui_agent.ui.screens.key_list import KeyList

    app.push_screen(KeyList(app.keymap))


async def copy(app: TuiApp, _: str) -> None:
    """The last answer, as it was written."""
    text = app.main.conversation.transcript.last_answer()
    words = await clipboard.copy(app, text) if text else "There is no answer to copy yet."
    safe.notify(app.main, words, timeout=4)
