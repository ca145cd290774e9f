"""Pieces of an answer gather while reading rests; nothing else waits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tui_agent.models import sse

DELTA = {"type": "content_block_delta"}
START = {"type": "message_start"}
STOP = {"type": "message_stop"}


async def sent(*parts: tuple[bool, dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
    """Events, each after a wait if so marked."""
    for waits, event in parts:
        if waits:
            await asyncio.get_running_loop().run_in_executor(None, _a_moment)
        yield event


def _a_moment() -> None:
    import time

    time.sleep(5 * sse.WAITED)


@pytest.fixture
def rests(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    taken: list[float] = []
    sleep = asyncio.sleep

    async def noted(seconds: float) -> None:
        taken.append(seconds)
        await sleep(0)

    monkeypatch.setattr(sse.asyncio, "sleep", noted)
    return taken


async def test_an_answer_in_one_piece_is_read_without_a_rest(rests: list[float]) -> None:
    parts = [(True, START), *[(False, DELTA)] * 500, (False, STOP)]
    assert [event async for event in sse.gathered(sent(*parts))] == [event for _, event in parts]
    assert rests == []


async def test_reading_rests_after_a_delta_that_was_waited_for(rests: list[float]) -> None:
    parts = [(True, START), (True, DELTA), (False, DELTA), (False, DELTA), (True, DELTA), (True, STOP)]
    assert [event async for event in sse.gathered(sent(*parts))] == [event for _, event in parts]
    assert rests == [sse.REST, sse.REST]


async def test_a_fast_stream_is_not_held_up_by_the_waits_of_a_busy_machine(rests: list[float]) -> None:
    parts = [(True, START), *([(False, DELTA)] * sse.FAST + [(True, DELTA)]) * 5]
    assert len([event async for event in sse.gathered(sent(*parts))]) == len(parts)
    assert rests == []


async def test_an_event_is_passed_on_before_the_rest(rests: list[float]) -> None:
    events = sse.gathered(sent((True, DELTA), (True, DELTA)))
    assert await anext(events) == DELTA
    assert rests == []
    await events.aclose()
