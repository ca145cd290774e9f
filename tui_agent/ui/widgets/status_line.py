"""One row that says where we are: mode, model, folder and branch; activity, step, tokens.

Parts are dropped from the least important on until the row fits; the mode's name and the demo label never
are. It repaints when a fact changes, and once a second only while a run counts.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.content import Content
from textual.widget import Widget

from tui_agent.text import plural
from tui_agent.ui import safe
from tui_agent.ui.status import NEARLY_FULL, Status, share, thousands
from tui_agent.ui.widgets.paced import Paced

if TYPE_CHECKING:
    from textual.timer import Timer

    from tui_agent.agent import AgentEvent

PACE = 0.05
"""Seconds between repaints."""
MODE_STYLES = {
    "plan": "$text-secondary",
    "ask": "$text-primary",
    "accept-edits": "$text-warning",
    "auto": "$text-error",
}


class Part(NamedTuple):
    """`weight`: parts of the smallest weight go first when the row is too narrow; 0 stays."""

    content: Content
    weight: int


class StatusLine(Widget):
    def __init__(self, status: Status, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.status = status
        self._tick: Timer | None = None
        self._refresh_soon = Paced(self.refresh, PACE)

    def on_mount(self) -> None:
        self._tick = self.set_interval(1.0, self.refresh, pause=True)

    def apply(self, event: AgentEvent) -> None:
        if self.status.apply(event, time.monotonic()):
            self._show()

    def update(self, **facts: Any) -> None:
        """Set facts of `status` by name and repaint if one changed."""
        changed = {name: value for name, value in facts.items() if getattr(self.status, name) != value}
        for name, value in changed.items():
            setattr(self.status, name, value)
        if changed:
            self._show()

    def _show(self) -> None:
        if self._tick is None:
            return
        if self.status.began is None and not self.status.stopping:
            self._tick.pause()
        else:
            self._tick.resume()
        self._refresh_soon()

    def on_unmount(self) -> None:
        self._refresh_soon.cancel()

    def render(self) -> Content:
        return compose_line(self.status, time.monotonic(), self.size.width)


def compose_line(status: Status, now: float, width: int) -> Content:
    """The row, exactly `width` cells."""
    left = [Part(safe.title(status.mode, style=f"bold {MODE_STYLES.get(status.mode, '$text-primary')}"), 0)]
    if status.label:
        left.append(Part(safe.title(status.label, style="$text-warning"), 0))
    elif status.model:
        left.append(Part(safe.title(status.model), 4))
    if status.place:
        left.append(Part(safe.title(status.place, 40, style="$text-muted"), 3))

    right = []
    if activity := status.activity(now):
        right.append(Part(safe.title(activity, 44, style="bold" if status.began is not None else ""), 7))
    if status.queued:
        right.append(Part(Content(plural(status.queued, "message") + " queued"), 6))
    if status.step:
        right.append(Part(Content(f"step {status.step} of {status.max_steps}"), 5))
    if status.tokens:
        right.append(Part(_fill(status), 4))
        if status.session_tokens > status.tokens:
            used = f"turn {thousands(status.turn_tokens)}, session {thousands(status.session_tokens)}"
            right.append(Part(Content.styled(used, "$text-muted"), 2))

    while _width(left) + _width(right) + 2 > width and (spare := [p for p in left + right if p.weight]):
        least = min(spare, key=lambda part: part.weight)
        (left if least in left else right).remove(least)
    gap = max(1, width - _width(left) - _width(right))
    return Content.assemble(_joined(left), " " * gap, _joined(right)).truncate(width, ellipsis=True)


def _fill(status: Status) -> Content:
    """How full the model's window is; before its size is known, with how much."""
    if not status.window:
        return Content(f"{thousands(status.tokens)} tokens")
    text = f"{share(status.tokens, status.window)} of {thousands(status.window)}"
    return Content.styled(text, "$text-warning" if status.tokens >= status.window * NEARLY_FULL else "")


def _joined(parts: list[Part]) -> Content:
    return Content("  ").join(part.content for part in parts)


def _width(parts: list[Part]) -> int:
    return sum(part.content.cell_length for part in parts) + 2 * max(0, len(parts) - 1)
