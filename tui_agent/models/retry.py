"""What to do after a failed request, and the wrapper that does it.

`decide` is a pure function: each kind of failure has a class (retry, shrink, stop) and one request has one
budget of attempts and time. `RetryingModel` sends the same request again, which is safe also after half an
answer: tools run only after a whole one. It yields `Retrying` before each wait, and whoever shows the
answer then drops what came of the broken one.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from typing import Any

from tui_agent.agent.errors import ModelError, Phase
from tui_agent.agent.model import Model, ModelEvent, ModelRequest, Retrying

FIRST_WAIT = 0.5
MAX_WAIT = 60.0
MAX_SPENT = 180.0

ATTEMPTS = {
    "rate_limited": 5,
    "overloaded": 5,
    "server": 5,
    "interrupted": 4,
    "connection": 4,
    "bad_answer": 2,
}
"""How often a request is sent while it fails this way. Other kinds don't pass by themselves."""

SHRINK = ("context_full", "too_large", "image_rejected", "thinking_rejected")
"""Kinds that a smaller request can get around, never the same one."""


@dataclass(frozen=True)
class Retry:
    """Send the same request again after `delay` seconds."""

    delay: float


@dataclass(frozen=True)
class Shrink:
    """Only another, smaller request can succeed: the owner of the history may make one."""


@dataclass(frozen=True)
class Stop:
    """No further attempt. `reason` adds to what the error says; it may be empty."""

    reason: str = ""


def decide(
    status: int | None,
    kind: str,
    phase: Phase,
    attempt: int,
    spent: float,
    retry_after: float | None = None,
) -> Retry | Shrink | Stop:
    """`attempt` requests were sent so far, the first of them failed `spent` seconds ago."""
    if kind in SHRINK:
        return Shrink()
    attempts = ATTEMPTS.get(kind, 1)
    if kind == "connection" and phase == "stream":
        attempts = ATTEMPTS["interrupted"]
    if attempts == 1 or status == 501:
        return Stop()
    if retry_after is not None and retry_after > MAX_WAIT:
        return Stop(f"The server asks to wait {in_words(retry_after)}.")
    if attempt >= attempts:
        return Stop(f"Gave up after {attempt} attempts.")
    delay = max(min(FIRST_WAIT * 2 ** (attempt - 1), MAX_WAIT), retry_after or 0.0)
    if spent + delay > MAX_SPENT:
        return Stop(f"Gave up after {in_words(spent)}.")
    return Retry(delay)


def in_words(seconds: float) -> str:
    for unit, name in ((86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds:.0f} seconds"


class RetryingModel:
    """Any model, with patience; all but `stream` is its own. Cancelling ends a wait as it ends a request."""

    def __init__(self, model: Model) -> None:
        self.inner = model

    @property
    def name(self) -> str:
        return self.inner.name

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        attempt, failed_at = 0, None
        while True:
            attempt += 1
            events = self.inner.stream(request)
            try:
                async for event in events:
                    yield event
                return
            except ModelError as error:
                failed_at = failed_at or time.monotonic()
                delay = self._delay(error, attempt, time.monotonic() - failed_at)
                retrying = Retrying(error=error.message, delay=delay)
            finally:
                await _end(events)
            yield retrying
            await asyncio.sleep(retrying.delay)

    def _delay(self, error: ModelError, attempt: int, spent: float) -> float:
        """Seconds to wait before the next attempt; raises the error if there is none."""
        verdict = decide(error.status, error.kind, error.phase, attempt, spent, error.retry_after)
        if not isinstance(verdict, Retry):
            if isinstance(verdict, Stop) and verdict.reason:
                error.hint = f"{verdict.reason} {error.hint}".strip()
            raise error
        # Programs that failed together should not come back together; never earlier than asked for.
        spread = verdict.delay * random.uniform(0.0, 0.25)
        return min(verdict.delay + spread, MAX_WAIT)


async def _end(events: AsyncIterator[ModelEvent]) -> None:
    """Close a stream at once instead of leaving it to the collector."""
    if isinstance(events, AsyncGenerator):
        await events.aclose()
