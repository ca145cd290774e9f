"""The list of completions: it lies over the conversation, above the prompt, and moves nothing."""

from __future__ import annotations

from tui_agent.ui.widgets.choices import Choices


class Popup(Choices):
    DEFAULT_CSS = """
    Popup { display: none; overlay: screen; constrain: none inside; padding: 0 1; }
    """

    _risen = 0

    def open(self, is_open: bool) -> None:
        self.display = is_open
        if is_open and self.height != self._risen:
            self._risen = self.height
            self.styles.offset = (0, -self.height)
