"""The events of a streamed answer as JSON objects, whatever kind of server sent it.

The framing is the SDK's (`raw_events`); it is not imported here. An answer that calls itself something else
than a stream is read as one object, or refused with its beginning quoted: pages of proxies and gateways.

A model writes a hundred pieces a second, and to wake up for each costs more than all that is done with it.
So `gathered` lets them come together for a moment, which nobody sees.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

from tui_agent.models.failures import failure

BODY_LIMIT = 4_000_000
"""Characters read of an answer that is no stream."""

REST = 0.05
"""Seconds in which pieces of an answer gather before they are read."""
WAITED = 0.001
"""Seconds from which a piece was waited for: the others were there already."""
FAST = 1000
"""Pieces a second from which a stream gathers by itself."""


async def gathered(events: AsyncIterator[dict[str, Any]]) -> AsyncGenerator[dict[str, Any], None]:
    """The same events, read with a rest after each delta that had to be waited for. What comes at full
    speed is not held up, and neither is the end of an answer that came in one piece."""
    now = asyncio.get_running_loop().time
    asked = since = now()
    came = 0
    async for event in events:
        got = now()
        came += 1
        rests = False
        if got - asked > WAITED:
            rests = event.get("type") == "content_block_delta" and came < FAST * (got - since)
            since, came = got, 0
        yield event
        if rests:
            await asyncio.sleep(REST)
        asked = now()


async def events(stream: Any) -> AsyncGenerator[dict[str, Any], None]:
    """Every object sent, pings included. `stream` is the SDK's `AsyncStream`."""
    kind = stream.response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("", "text/event-stream"):
        yield await _whole(stream, kind)
        return
    empty = True
    async with aclosing(stream.raw_events(stream.response)) as sent:
        async for piece in sent:
            event = _json(piece.data) if piece.data and piece.data != "[DONE]" else None
            if isinstance(event, dict):
                empty = False
                yield event
    if empty:
        raise failure("bad_answer", "the answer is not a stream of the Messages API", phase="stream")


async def _whole(stream: Any, kind: str) -> dict[str, Any]:
    text = ""
    async for part in stream.response.aiter_text():
        text += part
        if len(text) > BODY_LIMIT:
            break
    try:
        value = _json(text)
    except ValueError:
        value = None
    if isinstance(value, dict) and isinstance(value.get("error"), dict):
        return {"type": "error", "error": value["error"]}
    if isinstance(value, dict) and value.get("type") == "message":
        return value
    raise failure("bad_answer", f"the answer is {kind}, not a stream: {text[:200]}", phase="stream")


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
