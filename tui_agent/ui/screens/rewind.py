"""The prompts of this conversation: the one to go back to. It comes back to the prompt box, to be changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from tui_agent.text import plural
from tui_agent.ui.screens.picker import Picker
from tui_agent.ui.widgets.row_list import Row

if TYPE_CHECKING:
    from tui_agent.session.prompts import Asked


class RewindScreen(Picker["Asked"]):
    """`prompts` oldest first; the list has the newest first."""

    def __init__(self, prompts: Sequence[Asked]) -> None:
        super().__init__("Go back to before", "Enter  go back to before this prompt    Escape  leave it")
        self._prompts = list(reversed(prompts))

    def on_mount(self) -> None:
        self.list.show([Row(" ".join(one.text.split()), f"turn {one.turn}") for one in self._prompts], 0)
        self.fit()

    def taken(self, index: int) -> Asked | None:
        return self._prompts[index] if index < len(self._prompts) else None

    def on_row_list_moved(self) -> None:
        count = plural(self.list.cursor + 1, "prompt")
        self.note(
            Content(f"Takes {count} and what came of it out of the conversation. The session file keeps all.")
        )
