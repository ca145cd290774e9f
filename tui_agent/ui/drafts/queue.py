"""Messages that were entered during a run and wait.

One waits for "now": it lies with the agent, which delivers it after the call that runs, and leaves the rest
of the batch. Or for "after the turn": then it becomes a prompt of its own. Until the moment of delivery any
one can be edited, moved, deleted or told to wait for the other. The agent's inbox is made to agree with the
list after each change, in one step of the loop, so nothing is delivered twice, or in another order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from tui_agent.ui.drafts.draft import Draft

if TYPE_CHECKING:
    from tui_agent.agent import NoteAdded
    from tui_agent.agent.messages import Prompt

When = Literal["now", "after"]


class Inbox(Protocol):
    """The agent's side."""

    def steer(self, content: Prompt) -> NoteAdded: ...
    def unsteer(self, note: NoteAdded) -> bool: ...


@dataclass(eq=False)
class Queued:
    """`content` is the message with its attachments, once they are read; `note` lies in the inbox."""

    draft: Draft
    when: When = "now"
    content: Prompt | None = None
    note: NoteAdded | None = None


class Queue:
    """`changed` is called after each change."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.items: list[Queued] = []
        self._inbox: Inbox | None = None
        self._changed = changed
        self._delivered: list[Queued] = []
        self._slot: tuple[int, When] | None = None

    def __len__(self) -> int:
        return len(self.items)

    def open(self, inbox: Inbox) -> None:
        """A turn has begun: from now on it gets messages. Earlier they would come before its prompt."""
        self._inbox = inbox
        self._agree()

    def close(self) -> None:
        """The turn has ended, and what is to be taken back from it was."""
        self._inbox = None

    def add(self, draft: Draft) -> Queued:
        """At the end; the message that was taken out to be edited, at its old place."""
        place, when = self._slot or (len(self.items), "now")
        self._slot = None
        item = Queued(draft, when)
        self.items.insert(place, item)
        self._agree()
        return item

    def prepared(self, item: Queued, content: Prompt) -> None:
        """Its attachments are read."""
        item.content = content
        self._agree()

    def take(self, item: Queued) -> Draft | None:
        """Take a message out, to edit it. None if it has just been delivered."""
        if item not in self.items:
            return None
        place = self.items.index(item)
        if not self.delete(item):
            return None
        self._slot = (place, item.when)
        return item.draft

    def delete(self, item: Queued) -> bool:
        """False if it has just been delivered."""
        if item not in self.items or not self._recalled(item):
            return False
        self.items.remove(item)
        self._agree()
        return True

    def move(self, item: Queued, by: int) -> None:
        if item in self.items:
            place = self.items.index(item)
            self.items.insert(max(0, min(len(self.items) - 1, place + by)), self.items.pop(place))
            self._agree()

    def wait_for(self, item: Queued, when: When) -> None:
        if item in self.items and self._recalled(item):
            item.when = when
            self._agree()

    def told(self, note: NoteAdded) -> None:
        """The agent delivered this one."""
        for item in self.items:
            if item.note is note:
                self.items.remove(item)
                self._delivered.append(item)
                self._changed()
                return

    def reclaim(self, wanted: Iterable[When] = ("now", "after")) -> list[Draft]:
        """Take all undelivered ones out, in order; those too whose delivery a cancel undid."""
        undone = [item for item in self._delivered if self._recalled(item)]
        self._delivered.clear()
        taken = [item for item in self.items if item.when in wanted and self._recalled(item)]
        self.items = [item for item in self.items if item not in taken]
        self._slot = None
        self._changed()
        return [item.draft for item in (*undone, *taken)]

    def next_after(self) -> Draft | None:
        """The first of those that wait for the end of a turn, taken out."""
        item = next((item for item in self.items if item.when == "after"), None)
        if item is None:
            return None
        self.items.remove(item)
        self._changed()
        return item.draft

    def _recalled(self, item: Queued) -> bool:
        """Take it back from the inbox. False if it is not there any more."""
        if item.note is None:
            return True
        if self._inbox is None or not self._inbox.unsteer(item.note):
            return False
        item.note = None
        return True

    def _agree(self) -> None:
        """Lay those for now into the inbox, in their order, up to the first that is not read yet."""
        if self._inbox is not None:
            now = [item for item in self.items if item.when == "now"]
            for item in now:
                self._recalled(item)
            for item in now:
                if item.content is None:
                    break
                if item.note is None:
                    item.note = self._inbox.steer(item.content)
        self._changed()
