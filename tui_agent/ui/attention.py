"""Telling a person who looks elsewhere: one bell, one notification, a mark in the title.

A projection of events, as the panes are. While the terminal has the focus nothing is told; the mark goes when
it gets the focus back. The words are ours: what a model or a tool said never gets into a notification.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tui_agent.text import one_line

if TYPE_CHECKING:
    from textual.app import App

    from tui_agent.agent import AgentEvent

NAME = "tui-agent"
MARK = "● "
_OSC_777 = ("rxvt", "foot")
"""Terminals that know this one and not OSC 9."""


class Attention:
    """`here` is whether the terminal has the focus, as far as it tells."""

    def __init__(self, app: App[Any], environ: Mapping[str, str] = os.environ) -> None:
        self._app = app
        self._environ = environ
        self._title = NAME
        self._shown = ""
        self._called = False
        self.here = True

    def work_in(self, place: str) -> None:
        """Where the person works, for the title of the window."""
        self._title = f"{NAME}: {one_line(place, 40)}"
        self._show()

    def apply(self, events: Iterable[AgentEvent]) -> None:
        for event in events:
            if event.type == "turn_ended":
                self.call("The turn has ended.")

    def came(self) -> None:
        """The person is back."""
        self.here, self._called = True, False
        self._show()

    def went(self) -> None:
        self.here = False

    def call(self, words: str) -> None:
        """Call the person, once until they come."""
        if self.here or self._called:
            return
        self._called = True
        self._app.bell()
        self._write(notification(words, self._environ))
        self._show()

    def _show(self) -> None:
        title = MARK + self._title if self._called else self._title
        if title != self._shown:
            self._shown = title
            if self._environ.get("TERM") != "linux":
                self._write(f"\x1b]2;{title}\x07")

    def _write(self, sequence: str) -> None:
        if self._app._driver is not None:
            self._app._driver.write(sequence)


def notification(words: str, environ: Mapping[str, str]) -> str:
    """The sequence by which a terminal is asked to notify; tmux passes it on when it is allowed to."""
    term = environ.get("TERM", "")
    if term == "linux":
        return ""
    told = f"777;notify;{NAME};{words}" if term.startswith(_OSC_777) else f"9;{NAME}: {words}"
    told = f"\x1b]{told}\x07"
    return f"\x1bPtmux;{told.replace(chr(27), chr(27) * 2)}\x1b\\" if "TMUX" in environ else told
