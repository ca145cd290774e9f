"""The messages that wait for a run, above the prompt. Each can be changed, by keys of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.message import Message

from tui_agent.ui import keys, safe
from tui_agent.ui.drafts.draft import Draft
from tui_agent.ui.drafts.queue import Queue, Queued
from tui_agent.ui.widgets.choices import Choices

if TYPE_CHECKING:
    from textual import events

MOST = 4
_UNSENT = "when all is ready: "
_LABELS = {"now": "next: ", "after": "after the turn: "}


class QueueList(Choices, can_focus=True):
    DEFAULT_CSS = """
    QueueList { display: none; background: $background; padding: 0 1; color: $text-muted; }
    QueueList:focus { color: $foreground; background: $surface; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("queue")]

    class Edited(Message):
        """The person takes this message up again."""

        def __init__(self, draft: Draft) -> None:
            super().__init__()
            self.draft = draft

    class Left(Message):
        """There is nothing more to do here."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(most=MOST, id=id)
        self.queue = Queue(lambda: None)

    @property
    def marked(self) -> bool:
        return self.has_focus

    @property
    def current(self) -> Queued | None:
        return self.queue.items[self.chosen] if self.chosen < len(self.queue) else None

    def show(self, queue: Queue, unsent: Draft | None = None) -> None:
        """Show it as it is now; before there is one, what waits for the program to be ready."""
        self.queue = queue
        rows = [safe.title(f"{_LABELS[item.when]}{item.draft.text}") for item in queue.items]
        if unsent is not None and not rows:
            rows = [safe.title(f"{_UNSENT}{unsent.text}")]
        self.offer(rows, self.chosen)
        self.display = bool(rows)
        if self.has_focus and not rows:
            self.post_message(self.Left())

    def on_focus(self) -> None:
        self.offer(self.rows, len(self.queue) - 1)

    def on_blur(self) -> None:
        self.refresh()  # without the mark

    def on_click(self, event: events.Click) -> None:
        self.focus()

    def action_choose(self, by: int) -> None:
        self.move(by)

    def action_edit(self) -> None:
        item = self.current
        if item is None:
            return
        if (draft := self.queue.take(item)) is None:
            self._too_late()
        else:
            self.post_message(self.Edited(draft))

    def action_delete(self) -> None:
        item = self.current
        if item is not None and not self.queue.delete(item):
            self._too_late()

    def action_wait(self) -> None:
        item = self.current
        if item is not None:
            self.queue.wait_for(item, "after" if item.when == "now" else "now")

    def action_shift(self, by: int) -> None:
        item = self.current
        if item is not None:
            self.queue.move(item, by)
            self.offer(self.rows, self.queue.items.index(item))

    def _too_late(self) -> None:
        self.notify("That message was just delivered.", markup=False)
