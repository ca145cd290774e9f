"""Real processes for the tests: commands that can be waited for, and a way to see who outlived them."""

from __future__ import annotations

import asyncio
import itertools
import os
import time
from pathlib import Path

from tui_agent.tools.process import Ended, Supervised

_numbers = itertools.count(os.getpid() * 1000)


def fresh_tag() -> str:
    """A number of seconds that nothing else on this machine sleeps for."""
    return f"1000.{next(_numbers)}"


def survivors(tag: str) -> dict[int, str]:
    """Living processes that have `tag` in their arguments."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                arguments = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            except OSError:
                continue
            if tag in arguments:
                found[int(folder.name)] = arguments
    return found


def gone_within(tag: str, seconds: float) -> dict[int, str]:
    """Who is left once nobody is, or when the time is over."""
    until = time.monotonic() + seconds
    while (left := survivors(tag)) and time.monotonic() < until:
        time.sleep(0.01)
    return left


class Running:
    """A command in the air: wait for what it says, end it, look at what is left."""

    def __init__(self, command: str, folder: Path, *, timeout: float | None = None) -> None:
        self.output = b""
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self.process = Supervised(
            ["/bin/bash", "-c", "--", command],
            folder=str(folder),
            env=dict(os.environ),
            output=self._heard,
            timeout=timeout,
        ).start()

    def _heard(self, data: bytes) -> None:
        self.output += data
        self._loop.call_soon_threadsafe(self._news.set)

    async def says(self, word: bytes) -> None:
        async with asyncio.timeout(20):
            while word not in self.output:
                await self._news.wait()
                self._news.clear()

    async def end(self) -> tuple[Ended, float]:
        """End it. How it ended, and the seconds that took."""
        began = time.monotonic()
        self.process.end()
        ended = await self.process.wait()
        return ended, time.monotonic() - began
