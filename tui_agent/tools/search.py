"""What a search is asked, what it finds, and the process that does the work and can always be ended."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import IO, NamedTuple

from tui_agent.agent.cancel import CancelSignal

MAX_HITS = 1_000
SECONDS = 20.0
WIDTH = 400
"""Characters of a matching line that are shown, around its first match."""


@dataclass(frozen=True)
class Query:
    """`base` is the real path of the file or folder to look into."""

    pattern: str
    base: str
    is_file: bool
    glob: str | None = None
    ignore_case: bool = False
    seconds: float = SECONDS
    passes_over: Callable[[str], bool] = lambda path: False
    """Files that are not searched, by their real path."""


class Hit(NamedTuple):
    path: str
    line: int
    text: str


@dataclass
class Found:
    """`stopped` says why the search is not complete, `error` what is wrong with the pattern."""

    hits: list[Hit] = field(default_factory=list)
    stopped: str = ""
    error: str = ""
    passed_over: int = 0
    """Files that were not searched. Whether they hold a match never shows in it."""


class Helper:
    """A process that searches. It has no terminal and no secrets, and ends with the search."""

    def __init__(self, arguments: Sequence[str], folder: str, stdin: int) -> None:
        self.process = subprocess.Popen(
            arguments,
            cwd=folder,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
            start_new_session=True,
        )
        self.timed_out = False
        self.errors = b""
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def output(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            self.process.kill()

    def time_out(self) -> None:
        self.timed_out = True
        self.kill()

    def end(self) -> None:
        self.kill()
        self.process.wait()
        self._listener.join()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()

    def _listen(self) -> None:
        """All of stderr is read, so that the process never waits for us; the start of it is kept."""
        assert self.process.stderr is not None
        while data := self.process.stderr.read(4096):
            self.errors += data if len(self.errors) < 16_384 else b""

    def complaint(self) -> str:
        """What it said on stderr, once its output is at its end."""
        self._listener.join()
        return self.errors.decode("utf-8", "replace").strip()


@contextmanager
def helper(
    arguments: Sequence[str],
    folder: str,
    signal: CancelSignal,
    seconds: float,
    stdin: int = subprocess.DEVNULL,
) -> Iterator[Helper]:
    """Run it; it is killed when the time is over, when the signal is set, and at the end of the block.

    Raises `Cancelled` at the end if the signal was set.
    """
    signal.raise_if_cancelled()
    process = Helper(arguments, folder, stdin)
    timer = threading.Timer(seconds, process.time_out)
    timer.daemon = True
    timer.start()
    undo = signal.subscribe(process.kill)
    try:
        yield process
        signal.raise_if_cancelled()
    finally:
        undo()
        timer.cancel()
        process.end()
