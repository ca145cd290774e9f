"""Lines in, text out. The terminal's own line editing is used: nothing here moves a cursor.

Input is read in a thread of its own, without Python's buffer, whose lock would hold up the end of the
program. A line is an answer only if a question was open, and had been for a moment, when it was entered;
every other line is a prompt and waits for its turn.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from codecs import getincrementaldecoder
from collections import deque
from collections.abc import Callable

from tui_agent.terminal import put
from tui_agent.text import one_line

QUIET = 0.5
"""Seconds that a question must have been there before a line can answer it."""
GO_ON = "\\"
"""A line that ends with it goes on in the next one."""


class Console:
    """`ended` is set, and `on_end` called, once there is no more input; `redact` sees all that is written."""

    def __init__(self, redact: Callable[[str], str], on_end: Callable[[], None]) -> None:
        self.ended = False
        self._redact = redact
        self._on_end = on_end
        self._fd = sys.stdin.fileno()
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[str] = deque()
        self._news = asyncio.Event()
        self._question: asyncio.Future[str | None] | None = None
        self._is_answer: Callable[[str], bool] = bool
        self._asked = ""
        self._asked_at = 0.0
        self._at_start = True
        threading.Thread(target=self._read, daemon=True, name="lines").start()

    @property
    def is_terminal(self) -> bool:
        return os.isatty(self._fd)

    # Writing -----------------------------------------------------------------------------------------

    def write(self, text: str) -> None:
        """Append `text`, which went through `visible` where it is foreign."""
        if text:
            put(sys.stdout, self._redact(text))
            self._at_start = text.endswith("\n")

    def say(self, text: str) -> None:
        """A paragraph of its own lines."""
        self.write(("" if self._at_start else "\n") + text.rstrip("\n") + "\n")

    # Reading -----------------------------------------------------------------------------------------

    async def prompt(self) -> str | None:
        """The next thing the person says, None when there is nothing more."""
        parts: list[str] = []
        while True:
            if not self._waiting and not self.ended:
                self.write(("" if self._at_start else "\n") + ("> " if not parts else ". "))
            line = await self._line()
            if line is None:
                return "\n".join(parts) if parts else None
            parts.append(line)
            if not line.endswith(GO_ON):
                return "\n".join(parts)
            parts[-1] = line.removesuffix(GO_ON)

    async def ask(self, question: str, is_answer: Callable[[str], bool]) -> str | None:
        """What is answered to `question`, None when nobody is there any more.

        What comes too early to be an answer and `is_answer` is dropped, anything else is a prompt.
        """
        if self.ended:
            return None
        self.say("")
        self._asked = question + " "
        self.write(self._asked)
        self._asked_at = time.monotonic()
        self._question, self._is_answer = self._loop.create_future(), is_answer
        try:
            return await self._question
        finally:
            self._question = None

    def forget(self) -> None:
        """Drop the prompts that wait, and say which: what they followed did not come."""
        while self._waiting:
            self.say(f"(not sent: {one_line(self._waiting.popleft())})")

    async def _line(self) -> str | None:
        while not self._waiting:
            if self.ended:
                return None
            self._news.clear()
            await self._news.wait()
        return self._waiting.popleft()

    def _entered(self, line: str, at: float) -> None:
        self._at_start = True  # the terminal has shown the line and its end
        question = self._question
        if question is not None and not question.done() and at - self._asked_at >= QUIET:
            question.set_result(line)
            return
        early = question is not None and self._is_answer(line)
        if line.strip() and not early:
            self._waiting.append(line)
            self._news.set()
        if question is not None:
            self.say("(too early to be an answer: say it again)" if early else "(kept as the next prompt)")
            self.write(self._asked)

    def end(self) -> None:
        """There is no more input."""
        self.ended = True
        self._news.set()
        if self._question is not None and not self._question.done():
            self._question.set_result(None)
        self._on_end()

    def _read(self) -> None:
        decode = getincrementaldecoder("utf-8")(errors="replace").decode
        rest = ""
        while True:
            try:
                data = os.read(self._fd, 65_536)
            except OSError:
                data = b""
            *lines, rest = (rest + decode(data, final=not data)).split("\n")
            if not data and rest:
                lines.append(rest)
            at = time.monotonic()
            try:
                for line in lines:
                    self._loop.call_soon_threadsafe(self._entered, line.rstrip("\r"), at)
                if not data:
                    self._loop.call_soon_threadsafe(self.end)
                    return
            except RuntimeError:  # the loop is gone
                return
