"""A call that is not made more often than its interval allows: at once after a pause, else when it is over.

Ten short tool calls in a tenth of a second change the same three rows twenty times; nobody can see more
than the last of it, and each repaint costs as much as a call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Paced:
    def __init__(self, function: Callable[[], object], interval: float) -> None:
        self._function = function
        self._interval = interval
        self._timer: asyncio.TimerHandle | None = None
        self._last = float("-inf")

    @property
    def due(self) -> bool:
        return self._timer is not None

    def __call__(self) -> None:
        """Have it called soon, once for however many times it is asked for until then."""
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(max(loop.time(), self._last + self._interval), self._call)

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _call(self) -> None:
        self._timer = None
        self._last = asyncio.get_running_loop().time()
        self._function()
