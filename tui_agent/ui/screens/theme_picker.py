"""Choosing the colours: each theme is tried on as the cursor comes to it; Escape goes back to what was."""

from __future__ import annotations

from tui_agent.paths import settings_file
from tui_agent.ui import safe, themes
from tui_agent.ui.screens.picker import Picker
from tui_agent.ui.widgets.row_list import Row


class ThemePicker(Picker[str]):
    """`now` is the theme that is left unless another one is taken."""

    def __init__(self, now: str) -> None:
        super().__init__("Theme", "Enter  use it    arrows  try on    Escape  leave it as it was")
        self._now = now
        self._names: list[str] = []

    def on_mount(self) -> None:
        pair = [theme.name for theme in themes.OWN]
        available = self.app.available_themes
        self._names = [*pair, *sorted(available.keys() - {*pair})]
        short = {name: word for word, name in themes.SHORT.items()}
        self.list.show(
            [Row(short.get(name, name), self._fact(name, available[name].dark)) for name in self._names],
            self._names.index(self._now),
        )
        self.fit()

    def _fact(self, name: str, dark: bool) -> str:
        kind = "the terminal's own colours" if name.startswith("ansi-") else "dark" if dark else "light"
        return f"now  {kind}" if name == self._now else kind

    def on_row_list_moved(self) -> None:
        name = self._names[self.list.cursor]
        self.app.theme = name
        self.note(safe.title(f'To keep it: theme = "{name}" in {settings_file()}'))

    def taken(self, index: int) -> str | None:
        return self._names[index]

    def action_close(self) -> None:
        self.app.theme = self._now
        super().action_close()
