"""The terminal, as Textual's driver for Linux and macOS, changed in both directions.

Input: bytes are decoded so that none is invalid, cut into whole keys and pastes by `TerminalInput`, and the
reader wakes for its deadlines instead of every tenth of a second. What is typed before a widget can take it
waits until one can, as a draft. When the terminal is gone, the app is told and the reader ends.

Output: the screen is written to a descriptor of its own (`output`), and while the app runs, descriptors 1 and
2 lead to `log`: what a library or child prints is never painted over the screen.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import time
from codecs import getincrementaldecoder
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from tui_agent.ui.output import Output, character_set
from tui_agent.ui.terminal_input import TerminalInput

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.app import App

ASK_BACKGROUND = "\x1b]11;?\x1b\\"
"""The answer becomes a `BackgroundTold`."""
_KEEP_TITLE, _TITLE_BACK = "\x1b[22;2t", "\x1b[23;2t"
SLEEP = 0.1
"""Seconds after which the reader looks whether it should end."""
READY_WITHIN = 2.0
"""Seconds that keys wait at most for a widget that takes them."""


class TerminalDriver(LinuxDriver):
    log: ClassVar[Path | None] = None
    """Where descriptors 1 and 2 lead while the app runs; nowhere if None."""

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._file: Any
        self._own_output: tuple[int, ...] = ()
        self._early: list[Message] | None = []
        self._ready_by = 0.0

    # Output ------------------------------------------------------------------------------------------

    def start_application_mode(self) -> None:
        # Through the loop: a handler that Python runs anywhere could meet the writer's lock in its own hands.
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTSTP, self._sigtstp_application)
        loop.add_signal_handler(signal.SIGCONT, self._sigcont_application)
        self._take_output()
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self.write(_KEEP_TITLE + ASK_BACKGROUND)

    def stop_application_mode(self) -> None:
        self.write(_TITLE_BACK)
        super().stop_application_mode()

    def close(self) -> None:
        super().close()
        self._give_output_back()

    def _get_terminal_size(self) -> tuple[int, int]:
        # Textual asks descriptor 1, which leads to the log.
        try:
            return os.get_terminal_size(self._file.fileno())
        except OSError:
            return super()._get_terminal_size()

    def _take_output(self) -> None:
        if self._own_output:
            return
        terminal = next((fd for fd in (2, 1) if os.isatty(fd)), 2)
        self._file = Output(os.dup(terminal), character_set(os.environ))
        target = os.open(
            self.log or os.devnull, os.O_WRONLY | os.O_APPEND | (os.O_CREAT if self.log else 0), 0o600
        )
        self._own_output = tuple(os.dup(fd) for fd in (1, 2))
        for fd in (1, 2):
            if os.isatty(fd):
                os.dup2(target, fd)
        os.close(target)

    def _give_output_back(self) -> None:
        kept, self._own_output = self._own_output, ()
        if kept:
            for fd, saved in zip((1, 2), kept, strict=True):
                os.dup2(saved, fd)
                os.close(saved)
            self._file.close()

    # Input -------------------------------------------------------------------------------------------

    def run_input_thread(self) -> None:
        decode = getincrementaldecoder("utf-8")(errors="replace").decode
        source = TerminalInput()
        poller = select.poll()
        poller.register(self.fileno, select.POLLIN | select.POLLHUP)
        self._ready_by = time.monotonic() + READY_WITHIN
        while not self.exit_event.is_set():
            if poller.poll(self._patience(source)):
                data = self._read()
                if data is None:
                    if self.input_tty:  # end as on the signal that says so
                        os.kill(os.getpid(), signal.SIGHUP)
                    return
                text = decode(data)
                self._deliver(source.feed(text) if self._early is None else source.feed_early(text))
            self._deliver(source.tick())

    def _patience(self, source: TerminalInput) -> int:
        """Milliseconds to wait for input, rounded up."""
        seconds = 0.01 if self._early is not None else SLEEP
        if source.deadline is not None:
            seconds = min(seconds, max(0.0, source.deadline - time.monotonic()))
        return int(seconds * 1000 + 0.999)

    def _read(self) -> bytes | None:
        """What there is to read, None if the terminal is gone."""
        try:
            return os.read(self.fileno, 65_536) or None
        except InterruptedError:
            return b""
        except OSError:
            return None

    def _deliver(self, arrived: Iterable[Message]) -> None:
        for message in arrived:
            if isinstance(message, events.MouseEvent) and not self._is_inside(message):
                continue  # reported before the terminal shrank, or noise: Textual would take the focus away
            if self._early is not None and isinstance(message, events.InputEvent | events.Paste):
                self._early.append(message)
            else:
                self.process_message(message)
        if self._early is not None and self._can_take_keys():
            waiting, self._early = self._early, None
            for message in waiting:
                self.process_message(message)

    def _is_inside(self, mouse: events.MouseEvent) -> bool:
        size = self._app.size
        return 0 <= mouse.x < size.width and 0 <= mouse.y < size.height

    def _can_take_keys(self) -> bool:
        if time.monotonic() > self._ready_by:
            return bool(self._app._screen_stacks) and bool(self._app.screen_stack)
        return bool(self._app.screen_stack) and self._app.focused is not None
