"""What a running call prints, on its way to the screen: it comes from any thread and keeps its order."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from tui_agent.agent import ToolProgress
from tui_agent.agent.events import Emit


class LiveOutput:
    """Made in the loop that `show` belongs to. Calling it is safe from everywhere, also after the end."""

    def __init__(self, show: Emit) -> None:
        self._show = show
        self._loop = asyncio.get_running_loop()
        self._showing: set[asyncio.Task[None]] = set()

    def __call__(self, call_id: str, text: str) -> None:
        with suppress(RuntimeError):  # the loop is gone, and with it the screen
            self._loop.call_soon_threadsafe(self._begin, ToolProgress(call_id=call_id, text=text))

    def _begin(self, event: ToolProgress) -> None:
        task = self._loop.create_task(self._deliver(event))
        self._showing.add(task)
        task.add_done_callback(self._showing.discard)

    async def _deliver(self, event: ToolProgress) -> None:
        await self._show(event)

    async def shown(self) -> None:
        """What is under way arrives before the end that it belongs to."""
        if self._showing:
            await asyncio.wait(self._showing)

    def drop(self) -> None:
        for task in list(self._showing):
            task.cancel()
