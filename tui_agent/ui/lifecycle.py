"""How the screen ends when it does not end by itself, and what it makes of the terminal's focus.

Textual leaves the terminal's modes on after SIGTERM and SIGHUP, and prints local variables (keys, file
texts) after a crash. Here signals end the program the orderly way with the exit code of the signal, and a
crash leaves one line that names a report.
"""

from __future__ import annotations

import asyncio
import signal
import sys

from rich.segment import Segment, Segments
from textual import events
from textual.app import App

SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Lifecycle(App[int], inherit_bindings=False):
    """The base of our app. `attended` is false while the terminal has lost the focus."""

    attended = True

    async def leave(self, return_code: int = 0) -> None:
        """End the app after what has to be ended first."""
        raise NotImplementedError

    def redact(self, text: str) -> str:
        """`text` without the values of credentials."""
        raise NotImplementedError

    def on_load(self) -> None:
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self._signalled, number)

    def _signalled(self, number: signal.Signals) -> None:
        self.run_worker(self.leave(128 + number), group="leave", exit_on_error=False)

    # Textual would restyle every widget and take the focus from the prompt; nothing of ours looks different.

    async def _on_app_blur(self, event: events.AppBlur) -> None:
        event.prevent_default()
        self.attended = False

    async def _on_app_focus(self, event: events.AppFocus) -> None:
        event.prevent_default()
        self.attended = True

    def _fatal_error(self) -> None:
        from tui_agent import crash
        from tui_agent.text import visible

        error = sys.exc_info()[1]
        line = crash.report(error, self.redact) if error else "tui-agent crashed."
        self.bell()
        self._exit_renderables.append(Segments([Segment(visible(line))]))
        self._close_messages_no_wait()
