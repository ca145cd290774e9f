"""Our side of a supervisor (see `shim.py`): starting one, and the pipe that keeps its command alive."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress

from tui_agent.agent.errors import ToolError
from tui_agent.tools import shim

HOST_VARIABLES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""What our own interpreter may need to start; the command doesn't get it from here."""


class Lifeline:
    """Cut it, and the command and everything it started is killed. Any thread may, at any moment."""

    def __init__(self) -> None:
        self.far_end, self._near_end = os.pipe()
        self._lock = threading.Lock()
        self.due: float | None = None
        """Once the end was asked for: when all should be over, on the clock of `time.monotonic`."""

    def ask(self, grace: float) -> None:
        """TERM now, KILL after `grace` seconds."""
        with self._lock:
            if self._near_end >= 0:
                self.due = time.monotonic() + grace + shim.PATIENCE + 1
                with suppress(OSError):  # no supervisor any more
                    os.write(self._near_end, b"T%g\n" % grace)

    def cut(self) -> None:
        with self._lock:
            if self._near_end >= 0:
                self.due = time.monotonic() + shim.PATIENCE + 1
                os.close(self._near_end)
                self._near_end = -1

    def discard(self) -> None:
        """Nothing was started: let go of both ends."""
        self.cut()
        os.close(self.far_end)


class Supervisor:
    """A supervisor that was told to start `argv`; `output` and `status` are our ends of its two pipes."""

    def __init__(self, lifeline: Lifeline, argv: Sequence[str], folder: str, env: Mapping[str, str]) -> None:
        with ExitStack() as ours, ExitStack() as theirs:

            def pipe() -> tuple[int, int]:
                near, far = os.pipe()
                ours.callback(os.close, near)
                theirs.callback(os.close, far)
                return near, far

            life = lifeline.far_end
            theirs.callback(os.close, life)
            self.output, output_far = pipe()
            self.status, status_far = pipe()
            try:
                self.process = subprocess.Popen(
                    [sys.executable, "-I", "-S", shim.__file__, str(life), str(status_far)],
                    stdin=subprocess.PIPE,
                    stdout=output_far,
                    stderr=output_far,
                    cwd=folder,
                    env={name: os.environ[name] for name in HOST_VARIABLES if name in os.environ},
                    pass_fds=(life, status_far),
                    start_new_session=True,
                )
            except OSError as error:
                raise ToolError(
                    f"the command could not be started: {error.strerror}. Nothing ran."
                ) from error
            order = [str(len(argv)), *argv, *(f"{name}={value}" for name, value in env.items())]
            assert self.process.stdin is not None
            with suppress(BrokenPipeError), self.process.stdin as stdin:
                stdin.write(b"".join(os.fsencode(item) + b"\0" for item in order))
            self._pipes = ours.pop_all()

    def close(self) -> None:
        """After its end: let go of the pipes, and reap it."""
        self._pipes.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(1)
