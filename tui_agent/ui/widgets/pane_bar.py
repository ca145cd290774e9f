"""The row of pane names that stands above the panes when only one of them fits."""

from __future__ import annotations

from textual import events
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

NAMES = {"conversation": "F2 Conversation", "tool_log": "F3 Tools", "changes": "F4 Changes"}


class PaneBar(Widget):
    current: reactive[str] = reactive("conversation")
    counts: reactive[dict[str, int]] = reactive(dict[str, int], init=False)

    def _labels(self) -> list[tuple[str, str]]:
        return [
            (pane, f" {name} {self.counts[pane]} " if self.counts.get(pane) else f" {name} ")
            for pane, name in NAMES.items()
        ]

    def render(self) -> Content:
        # The current pane is marked by a bracket too, not by colour alone.
        return Content(" ").join(
            Content.styled(f"[{label[1:-1]}]", "bold $text-primary")
            if pane == self.current
            else Content.styled(label, "$text-muted")
            for pane, label in self._labels()
        )

    async def on_click(self, event: events.Click) -> None:
        x = 0
        for pane, label in self._labels():
            if x <= event.x < x + len(label):
                await self.run_action(f"screen.pane('{pane}')")
                return
            x += len(label) + 1
