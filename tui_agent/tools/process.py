"""The one process runner: a command under a supervisor that leaves nothing behind, on any way out.

Each command has a thread of its own here. It starts the supervisor (see `shim.py`), reads the one pipe that
takes stdout and stderr in their order, and follows what the supervisor says. So neither a flood of output nor
a slow disk touches the event loop, and a cancel needs no loop: cutting the lifeline is enough, from any
thread, also while the process is still being started, and also by the death of the program.

A command ends when its shell ends, not when the pipe closes. What it left in the background gets a moment
to finish, then is ended and counted. With `linger` (background jobs) it ends when its last process does.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal as signals
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_for_all
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tui_agent.agent.errors import ToolError
from tui_agent.tools import orphans
from tui_agent.tools.lifeline import Lifeline, Supervisor

if TYPE_CHECKING:
    from tui_agent.agent.cancel import CancelSignal

GRACE = 2.0
"""Seconds between TERM and KILL after a timeout. A person who stops a command doesn't wait."""
DRAIN = 0.25
"""Seconds that background processes get to finish after their shell."""
TICK = 0.1
"""Seconds between two looks at growing output."""
CHUNK = 64 * 1024

How = Literal["exited", "timeout", "stopped", "lost"]


@dataclass(frozen=True)
class Ended:
    """How it ended. `code` is below 0 for a signal, None if it never ended by itself.

    `lost` means that the command killed its own supervisor. `background` processes were still running
    and were ended; `left` could not be ended.
    """

    how: How
    code: int | None
    seconds: float
    background: int = 0
    left: int = 0


class Supervised:
    """One command, from `start` to its last process.

    `output` gets what it prints and `on_tick` is called after some of it, at most ten times a second; both in
    the command's thread. `done` is settled when nothing is left of it.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        folder: str,
        env: Mapping[str, str],
        output: Callable[[bytes], None],
        on_tick: Callable[[], None] = lambda: None,
        timeout: float | None = None,
        linger: bool = False,
    ) -> None:
        self.done: Future[Ended] = Future()
        self.session = 0
        """The session of its supervisor, once that runs."""
        self._order = (list(argv), folder, dict(env))
        self._output, self._on_tick = output, on_tick
        self._timeout, self._linger = timeout, linger
        self._lifeline = Lifeline()
        self._how: How | None = None
        self._code: int | None = None
        self._background = self._left = 0
        self._fault = ""
        self._words = b""
        self._ticked = 0.0
        self._open: set[int] = set()
        self._alarms: dict[Callable[[], None], float] = {}

    def start(self) -> Supervised:
        _live.add(self)
        try:
            threading.Thread(target=self._work, name="command", daemon=True).start()
        except RuntimeError as error:  # the user may have no more threads
            _live.discard(self)
            self._lifeline.discard()
            raise ToolError(f"the command could not be started: {error}. Nothing ran.") from error
        return self

    def end(self) -> None:
        """Kill it and everything it started. At once, from any thread, any number of times."""
        if self._how is None:
            self._how = "stopped"
        self._lifeline.cut()

    async def wait(self) -> Ended:
        """Raises ToolError if it could not be started. Leaving early doesn't end the command."""
        return await asyncio.shield(asyncio.wrap_future(self.done))

    def _work(self) -> None:
        try:
            ended = self._supervise()
        except Exception as error:
            self.done.set_exception(error)
        else:
            self.done.set_result(ended)
        finally:
            self._lifeline.cut()
            _live.discard(self)

    def _supervise(self) -> Ended:
        began, ticks = time.monotonic(), orphans.now_in_ticks()
        if self._timeout is not None:
            self._alarms[self._time_out] = began + self._timeout
        self._supervisor = Supervisor(self._lifeline, *self._order)
        self.session = self._supervisor.process.pid
        try:
            self._follow()
        finally:
            self._lifeline.cut()
            self._supervisor.close()
        if self._fault:
            raise ToolError(f"the command could not be started: {self._fault}. Nothing ran.")
        if self._how is None:
            self._how = "lost"
        if self._supervisor.process.returncode != 0:  # someone killed it
            self._background += orphans.sweep(ticks, {command.session for command in list(_live)})
        return Ended(self._how, self._code, time.monotonic() - began, self._background, self._left)

    def _follow(self) -> None:
        """Until the supervisor is gone and its output is read, or patience is over."""
        output, status = self._supervisor.output, self._supervisor.status
        self._open = {output, status}
        poll = select.poll()
        for fd in self._open:
            poll.register(fd, select.POLLIN)
        while self._open:
            for fd, _ in poll.poll(self._pause() * 1000):
                if data := os.read(fd, CHUNK):
                    self._take(data) if fd == output else self._hear(data)
                else:
                    poll.unregister(fd)
                    self._open.discard(fd)
                    if fd == status:
                        self._alarms[self._drained] = time.monotonic() + DRAIN
            self._ring()
        if self._tick in self._alarms:
            self._tick()

    def _take(self, data: bytes) -> None:
        self._output(data)
        self._alarms.setdefault(self._tick, self._ticked + TICK)

    def _hear(self, data: bytes) -> None:
        *lines, self._words = (self._words + data).split(b"\n")
        for line in lines:
            word, _, rest = line.decode("utf-8", "replace").partition(" ")
            if word == "exit":
                self._code = int(rest)
                if self._how is None:
                    self._how = "exited"
                if not self._linger:
                    self._alarms[self._drained] = time.monotonic() + DRAIN
            elif word == "fail":
                self._fault = rest
            elif word == "ended" and self._how == "exited":
                self._background = int(rest)
            elif word == "left":
                self._left = int(rest)

    def _pause(self) -> float:
        """Seconds until an alarm is due; a second at most, since the end may be asked for meanwhile."""
        now = time.monotonic()
        return max(0.0, min([1.0, *(at - now for at in self._alarms.values())]))

    def _ring(self) -> None:
        now = time.monotonic()
        if self._lifeline.due is not None:
            self._alarms[self._force] = self._lifeline.due
        for alarm in [alarm for alarm, at in self._alarms.items() if at <= now]:
            del self._alarms[alarm]
            alarm()

    # alarms

    def _tick(self) -> None:
        self._ticked = time.monotonic()
        self._on_tick()

    def _time_out(self) -> None:
        if self._how is None:
            self._how = "timeout"
            self._lifeline.ask(GRACE)

    def _drained(self) -> None:
        if self._supervisor.status in self._open:
            self._lifeline.cut()
        else:  # all of ours are gone; someone out of our reach holds the pipe open
            self._open.clear()

    def _force(self) -> None:
        """The supervisor itself is stuck. Its session is of our making, so it may go as a whole."""
        with suppress(OSError):
            os.killpg(self.session, signals.SIGKILL)
        self._open.clear()


_live: set[Supervised] = set()


async def run(
    argv: Sequence[str],
    *,
    folder: str,
    env: Mapping[str, str],
    output: Callable[[bytes], None],
    on_tick: Callable[[], None] = lambda: None,
    timeout: float | None = None,
    signal: CancelSignal | None = None,
) -> Ended:
    """Run it to its end; the parameters are those of `Supervised`.

    Raises ToolError if it could not be started, `Cancelled` only if the signal was set before. A signal set
    later, or a cancelled task, ends the command first.
    """
    if signal is not None:
        signal.raise_if_cancelled()
    command = Supervised(argv, folder=folder, env=env, output=output, on_tick=on_tick, timeout=timeout)
    command.start()
    forget = signal.subscribe(command.end) if signal is not None else lambda: None
    try:
        return await command.wait()
    except asyncio.CancelledError:
        command.end()
        await command.wait()
        raise
    finally:
        forget()


def kill_all(seconds: float = 2.0) -> bool:
    """End every command and job, and wait for it, for the end of the program. True when all are gone.

    Whatever this doesn't reach in time is ended by its supervisor as soon as the program is gone.
    """
    commands = list(_live)
    for command in commands:
        command.end()
    return not wait_for_all([command.done for command in commands], seconds).not_done
