"""The conversation by lines in this process: a person who types lines and waits for what they hear."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from tui_agent.plain import console
from tui_agent.plain.conversation import Conversation
from tui_agent.settings import Settings


class Person:
    """`text` is all that was written; `hear` waits for what comes after what was heard before."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.api: Any = None
        self.text = ""
        self._heard = 0
        self._news = asyncio.Event()
        self._theirs, self._ours = os.pipe()
        self.buffer = SimpleNamespace(write=self._take, flush=lambda: None)

    def flush(self) -> None:
        """As a stream."""

    def fileno(self) -> int:
        return self._theirs

    def _take(self, data: bytes) -> None:
        self.text += data.decode()
        self._news.set()

    def say(self, line: str) -> None:
        os.write(self._ours, f"{line}\n".encode())

    def hang_up(self) -> None:
        if self._ours >= 0:
            os.close(self._ours)
            self._ours = -1

    async def hear(self, pattern: str, seconds: float = 20.0) -> str:
        """What was written since the last time, up to the end of `pattern`."""
        try:
            async with asyncio.timeout(seconds):
                while (match := re.compile(pattern).search(self.text, self._heard)) is None:
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"no {pattern!r} in:\n{self.text[self._heard :]}") from None
        before, self._heard = self._heard, match.end()
        return self.text[before : self._heard]

    async def ask(self, line: str, pattern: str = r"\n> ") -> str:
        """What is said to `line`, until the next prompt."""
        self.say(line)
        return await self.hear(pattern)


@asynccontextmanager
async def conversation(settings: Settings, patch: pytest.MonkeyPatch) -> AsyncIterator[Person]:
    """A conversation that has said its first prompt; at its end the person leaves."""
    person = Person()
    patch.setattr(console, "QUIET", 0)
    patch.setattr(sys, "stdin", person)
    patch.setattr(sys, "stdout", person)
    running = asyncio.create_task(Conversation(settings).run())
    try:
        await person.hear(r"\n> ")
        yield person
        person.hang_up()
        async with asyncio.timeout(20):
            assert await running == 0
    finally:
        person.hang_up()
        running.cancel()
