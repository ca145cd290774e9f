"""Bytes from and to the files that the workspace opened, without holding up the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

import aiofiles

from tui_agent.agent.calling import in_thread
from tui_agent.agent.cancel import CancelSignal
from tui_agent.tools.workspace import MAX_BYTES, Opened, too_large

CHUNK = 1 << 20
T = TypeVar("T")


async def chunks(opened: Opened, signal: CancelSignal) -> AsyncIterator[bytes]:
    """The file from where it stands, piece by piece; `Cancelled` between two of them."""
    async with aiofiles.open(opened.fd, "rb", buffering=0, closefd=False) as file:
        while True:
            signal.raise_if_cancelled()
            data = await file.read(CHUNK)
            if not data:
                return
            yield data


async def read_whole(opened: Opened, signal: CancelSignal) -> bytes:
    if opened.stat.st_size > MAX_BYTES:
        raise too_large(opened.path, opened.stat.st_size)
    parts, length = [], 0
    async for data in chunks(opened, signal):
        parts.append(data)
        length += len(data)
        if length > MAX_BYTES:  # it grew, or its size was never true (files of the kernel)
            raise too_large(opened.path, length)
    return b"".join(parts)


async def to_the_end(function: Callable[..., T], *args: Any) -> T:
    """Run it in a thread and wait for its end even if the task is cancelled: an effect is never left open."""
    work: asyncio.Future[T] = asyncio.ensure_future(in_thread(function, *args))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait({work})
        raise
