"""One signal that stops a run, and the ways to wait on it.

A `CancelSignal` is made and cancelled from any thread, with or without a running event loop. It goes
down a tree (`child()`), never up: stopping one call does not stop the turn.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import weakref
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from tui_agent.agent.errors import Cancelled

T = TypeVar("T")


class CancelSignal:
    """Set once, by anyone, for good."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reason: str | None = None
        self._listeners: dict[object, Callable[[], None]] = {}
        self._children: weakref.WeakSet[CancelSignal] = weakref.WeakSet()

    @property
    def cancelled(self) -> bool:
        return self._reason is not None

    @property
    def reason(self) -> str | None:
        return self._reason

    def cancel(self, reason: str = "user") -> None:
        """Set the signal and wake whoever waits. Idempotent: the first reason stays."""
        with self._lock:
            if self._reason is not None:
                return
            self._reason = reason
            listeners = list(self._listeners.values())
            children = list(self._children)
            self._listeners.clear()
        for child in children:
            child.cancel(reason)
        for listener in listeners:
            listener()

    def raise_if_cancelled(self) -> None:
        if self._reason is not None:
            raise Cancelled(self._reason)

    def child(self) -> CancelSignal:
        """A signal that is set with this one, and can be set alone."""
        child = CancelSignal()
        with self._lock:
            reason = self._reason
            if reason is None:
                self._children.add(child)
        if reason is not None:
            child.cancel(reason)
        return child

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` once, from the cancelling thread, when set (at once if it is). Returns the undo."""
        key = object()
        with self._lock:
            if self._reason is None:
                self._listeners[key] = listener
                return lambda: self._forget(key)
        listener()
        return lambda: None

    def _forget(self, key: object) -> None:
        with self._lock:
            self._listeners.pop(key, None)

    async def wait(self) -> str:
        """Return the reason once the signal is set."""
        with self._woken() as woken:
            await woken
        assert self._reason is not None
        return self._reason

    @contextmanager
    def _woken(self) -> Iterator[asyncio.Future[None]]:
        """A future of the running loop that is done once the signal is set."""
        loop = asyncio.get_running_loop()
        woken: asyncio.Future[None] = loop.create_future()

        def settle() -> None:
            if not woken.done():
                woken.set_result(None)

        def wake() -> None:
            with suppress(RuntimeError):  # the loop may be closed by now
                loop.call_soon_threadsafe(settle)

        undo = self.subscribe(wake)
        try:
            yield woken
        finally:
            undo()

    async def race(self, awaitable: Awaitable[T]) -> T:
        """The result of `awaitable`, unless the signal is set first.

        Then it is cancelled, its end is awaited and `Cancelled` is raised. If the signal is set
        already, it is never started. If the caller's task is cancelled, so is `awaitable`.
        """
        if self._reason is not None:
            if inspect.iscoroutine(awaitable):
                awaitable.close()
            elif isinstance(awaitable, asyncio.Future):
                awaitable.cancel()
            raise Cancelled(self._reason)
        work = asyncio.ensure_future(awaitable)
        try:
            with self._woken() as woken:
                either: set[asyncio.Future[Any]] = {work, woken}
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if work.done() and not work.cancelled():
                return work.result()
            self.raise_if_cancelled()
            return await work  # it was cancelled from elsewhere: let that through
        finally:
            if not work.done():
                work.cancel()
                await asyncio.wait({work})
            if not work.cancelled():
                work.exception()  # retrieved, so that asyncio does not report it
