"""The fake API in a thread of its own, for tests without an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, Self

from server.messages_api import MessagesAPI, Request, Script


class ThreadedAPI:
    """A `MessagesAPI` in a thread of its own: `with ThreadedAPI([...]) as api: api.url`."""

    def __init__(self, script: Script = (), **options: Any) -> None:
        self._arguments = (script, options)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def _run(self, awaitable: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(awaitable, self._loop).result(30)

    def __enter__(self) -> Self:
        self._thread.start()
        script, options = self._arguments
        self.api = MessagesAPI(script, **options)
        self._run(self.api.__aenter__())
        return self

    def __exit__(self, *_: object) -> None:
        self._run(self.api.__aexit__())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()

    @property
    def url(self) -> str:
        return self.api.url

    @property
    def requests(self) -> list[Request]:
        return self.api.requests

    @property
    def refused(self) -> list[str]:
        return self.api.refused

    def until(self, condition: Callable[[], object], timeout: float = 5.0) -> None:
        self._run(self.api.until(condition, timeout))
