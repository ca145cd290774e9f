"""How the screen ends when it does not end by itself, and what it makes of the terminal's focus.

Textual leaves the terminal's modes on after SIGTERM and SIGHUP, and prints local variables (keys, file
texts) after a crash. Here signals end the program the orderly way with the exit code of the signal, and a
crash leaves one line that names a report.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from textual import events
from textual.app import App
from textual.worker import WorkerFailed

from tui_agent.paths import log_file, private_folder
from tui_agent.ui.attention import Attention
from tui_agent.ui.driver import TerminalDriver

if TYPE_CHECKING:
    from textual.driver import Driver

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Lifecycle(App[int], inherit_bindings=False):
    """The base of our app."""

    attended_since = 0.0
    """When the terminal got the focus: the click that brought it does nothing else."""

    def __init__(self, *, driver_class: type[Driver] | None = None) -> None:
        super().__init__(driver_class=driver_class or TerminalDriver)
        self.attention = Attention(self)
        self._last_words = ""
        self._told = False

    async def leave(self, return_code: int = 0) -> None:
        """End the app after what has to be ended first."""
        raise NotImplementedError

    def redact(self, text: str) -> str:
        """`text` without the values of credentials."""
        raise NotImplementedError

    def on_load(self) -> None:
        with suppress(OSError):  # what needs the folder says that it can't be written
            TerminalDriver.log = private_folder(log_file().parent) / log_file().name
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self._signalled, number)

    def _signalled(self, number: signal.Signals) -> None:
        self.run_worker(self.leave(128 + number), group="leave", exit_on_error=False)

    # Textual would restyle every widget and take the focus from the prompt; nothing of ours looks different.

    async def _on_app_blur(self, event: events.AppBlur) -> None:
        event.prevent_default()
        self.attention.went()

    async def _on_app_focus(self, event: events.AppFocus) -> None:
        event.prevent_default()
        self.attention.came()
        self.attended_since = event.time

    def _fatal_error(self) -> None:
        from tui_agent import crash
        from tui_agent.text import visible

        if (error := self._exception) is not None and not self._last_words:
            cause = error.error if isinstance(error, WorkerFailed) else error
            self._last_words = visible(crash.report(cause, self.redact))
        self.bell()
        self._close_messages_no_wait()

    def _print_error_renderables(self) -> None:
        # Called when the terminal is itself again. Rich would break the path of the report at the margin.
        if self._last_words and not self._told:
            self._told = True
            print(self._last_words, file=sys.__stderr__)
