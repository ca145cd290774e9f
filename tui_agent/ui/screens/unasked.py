"""Dialogs that come by themselves, perhaps in the middle of a word.

Their answers count by the same rule as approvals: after half a second on the screen and half a second of
quiet. What was typed before that was meant for the prompt, and goes there. Escape counts at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar, TypeVar

from textual import events
from textual.content import Content

from tui_agent.ui.arming import Arming
from tui_agent.ui.screens.dialog import Dialog

T = TypeVar("T")


class UnaskedDialog(Dialog[T]):
    """`ANSWERS` are the keys that answer and must not be hit by accident."""

    ANSWERS: ClassVar[frozenset[str]]

    def __init__(self, heading: str, text: Content, keys: str, give_back: Callable[[str], None]) -> None:
        super().__init__(heading, text, keys)
        self._give_back = give_back
        self.arming = Arming()

    def on_mount(self) -> None:
        self.call_after_refresh(lambda: self.arming.painted(time.monotonic()))

    def on_key(self, event: events.Key) -> None:
        early, counts = self.arming.early(event.time), self.arming.counts(event.time)
        self.arming.touched(event.time)
        if early and event.is_printable and event.character:
            self.arming.keep(event.character)
            event.stop()
            event.prevent_default()
        elif not counts and event.key in self.ANSWERS:
            event.stop()
            event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        self.arming.touched(event.time)
        self.arming.keep(event.text)

    def on_unmount(self) -> None:
        if typed := self.arming.take():
            self._give_back(typed)
