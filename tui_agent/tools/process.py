"""The one process runner: a command under a supervisor that leaves nothing behind, on any way out.

Each command has a thread of its own here. It starts the supervisor (see `shim.py`), reads the one pipe that
takes stdout and stderr in their order, and follows what the supervisor says. So neither a flood of output nor
a slow disk touches the event loop, and a cancel needs no loop: closing the lifeline is enough, from any
thread, also while the process is still being started, and also by the death of the program.

A command ends when its shell ends, not when the pipe closes. What it left in the background gets a moment
to finish, then is ended and counted. With `linger` (background jobs) it ends when its last process does.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal as signals
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_for_all
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tui_agent.agent.errors import ToolError
from tui_agent.tools import orphans, shim

if TYPE_CHECKING:
    from tui_agent.agent.cancel import CancelSignal

GRACE = 2.0
"""Seconds between TERM and KILL after a timeout. A person who stops a command doesn't wait."""
DRAIN = 0.25
"""Seconds that background processes get to finish after their shell."""
TICK = 0.1
"""Seconds between two looks at growing output."""
CHUNK = 64 * 1024
HOST_VARIABLES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""What our own interpreter may need to start; the command doesn't get it from here."""

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


class Lifeline:
    """Our end of the pipe that keeps a command alive. Any thread may ask, or cut it."""

    def __init__(self) -> None:
        self.far_end, self._near_end = os.pipe()
        self._lock = threading.Lock()
        self.due: float | None = None
        """When everything should be over."""

    def ask(self, grace: float) -> None:
        """TERM now, KILL after `grace` seconds."""
        with self._lock:
            if self._near_end >= 0 and self.due is None:
                self.due = time.monotonic() + grace + shim.PATIENCE + 1
                with suppress(OSError):
                    os.write(self._near_end, b"T%g\n" % grace)

    def cut(self) -> None:
        with self._lock:
            if self._near_end >= 0:
                self.due = time.monotonic() + shim.PATIENCE + 1
                os.close(self._near_end)
                self._near_end = -1


class Supervised:
    """One command, from `start` to its last process."""

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
        self._argv = list(argv)
        self._folder = folder
        self._env = dict(env)
        self._output = output
        self._on_tick = on_tick
        self._timeout = timeout
        self._linger = linger
        self._lifeline = Lifeline()
        self._process: subprocess.Popen[bytes] | None = None
        self._how: How | None = None
        self._code: int | None = None
        self._background = self._left = 0
        self._fault = ""
        self.done: Future[Ended] = Future()

    def start(self) -> Supervised:
        _live.add(self)
        threading.Thread(target=self._work, name="command", daemon=True).start()
        return self

    def end(self) -> None:
        """Kill it and everything it started. At once, from any thread, any number of times."""
        if self._how is None:
            self._how = "stopped"
        self._lifeline.cut()

    async def wait(self) -> Ended:
        """Raises ToolError if it could not be started. Leaving early doesn't end the command."""
        return await asyncio.shield(asyncio.wrap_future(self.done))

    @property
    def session(self) -> int:
        return self._process.pid if self._process else 0

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
        with ExitStack() as stack:
            output, status = self._spawn(stack)
            self._follow(output, status, began)
        assert self._process is not None
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        if self._fault:
            raise ToolError(f"the command could not be started: {self._fault}. Nothing ran.")
        if self._how is None:
            self._how = "lost"
        if self._how == "lost" or self._process.returncode:
            self._background += orphans.sweep(ticks, {command.session for command in list(_live)})
        return Ended(self._how, self._code, time.monotonic() - began, self._background, self._left)

    def _spawn(self, stack: ExitStack) -> tuple[int, int]:
        """Start the supervisor and tell it what to run. Our ends of its output and of its words."""

        def pipe() -> tuple[int, int]:
            ends = os.pipe()
            stack.callback(os.close, ends[0])
            return ends

        (output, output_far), (status, status_far) = pipe(), pipe()
        life = self._lifeline.far_end
        settings = [f"{name}={value}" for name, value in self._env.items()]
        order = [str(len(self._argv)), *self._argv, *settings]
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(Path(shim.__file__)), str(life), str(status_far)],
                stdin=subprocess.PIPE,
                stdout=output_far,
                stderr=output_far,
                cwd=self._folder,
                env={name: os.environ[name] for name in HOST_VARIABLES if name in os.environ},
                pass_fds=(life, status_far),
                start_new_session=True,
            )
        except OSError as error:
            raise ToolError(f"the command could not be started: {error.strerror}. Nothing ran.") from error
        finally:
            for fd in (output_far, status_far, life):
                os.close(fd)
        assert self._process.stdin is not None
        with suppress(BrokenPipeError), self._process.stdin as stdin:
            stdin.write(b"".join(os.fsencode(item) + b"\0" for item in order))
        return output, status

    def _follow(self, output: int, status: int, began: float) -> None:
        """Read both until the supervisor is gone and the output is read, or patience is over."""
        poll = select.poll()
        for fd in (output, status):
            poll.register(fd, select.POLLIN)
        open_fds = {output, status}
        timeout_at = None if self._timeout is None else began + self._timeout
        drained_at: float | None = None
        shown_at, unshown = 0.0, False
        words = b""
        while open_fds:
            now = time.monotonic()
            if timeout_at is not None and now >= timeout_at and self._how is None:
                self._how = "timeout"
                self._lifeline.ask(GRACE)
            if drained_at is not None and now >= drained_at:
                if status not in open_fds:
                    break  # someone out of our reach holds the pipe open
                self._lifeline.cut()
                drained_at = None
            if self._lifeline.due is not None and now >= self._lifeline.due:
                self._force()
                break
            if unshown and now >= shown_at + TICK:
                self._on_tick()
                shown_at, unshown = now, False
            soon = [now + 1, drained_at or now + 1, shown_at + TICK if unshown else now + 1]
            if timeout_at is not None and self._how is None:
                soon.append(timeout_at)
            for fd, _ in poll.poll(max(0.0, (min(soon) - now) * 1000)):
                data = os.read(fd, CHUNK)
                if not data:
                    poll.unregister(fd)
                    open_fds.discard(fd)
                if fd == output and data:
                    self._output(data)
                    unshown = True
                elif fd == status and data:
                    words += data
                    *lines, words = words.split(b"\n")
                    for line in lines:
                        self._hear(line.decode("utf-8", "replace"))
                    if self._code is not None and not self._linger and drained_at is None:
                        drained_at = time.monotonic() + DRAIN
                elif fd == status:
                    drained_at = time.monotonic() + DRAIN
        if unshown:
            self._on_tick()

    def _hear(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        if word == "exit":
            self._code = int(rest)
            if self._how is None:
                self._how = "exited"
        elif word == "fail":
            self._fault = rest
        elif word == "ended" and self._how == "exited":
            self._background = int(rest)
        elif word == "left":
            self._left = int(rest)

    def _force(self) -> None:
        """The supervisor itself is stuck. Its group is our own making, so it may go as a whole."""
        assert self._process is not None
        with suppress(OSError):
            os.killpg(self._process.pid, signals.SIGKILL)


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
    """Run it to its end. `output` and `on_tick` are called in another thread, one at a time.

    Raises ToolError if it could not be started, `Cancelled` only if the signal was set before. A signal set
    later, or a cancelled task, ends the command first.
    """
    if signal is not None:
        signal.raise_if_cancelled()
    command = Supervised(
        argv, folder=folder, env=env, output=output, on_tick=on_tick, timeout=timeout
    ).start()
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
