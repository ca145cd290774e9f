"""A paced call: at once after a pause, once for many, the last of them never lost."""

from __future__ import annotations

import asyncio

from tui_agent.ui.widgets.paced import Paced


async def test_many_in_one_moment_are_one_call_at_once() -> None:
    calls: list[float] = []
    loop = asyncio.get_running_loop()
    paced = Paced(lambda: calls.append(loop.time()), 60.0)
    for _ in range(100):
        paced()
    assert paced.due
    await asyncio.sleep(0.01)
    assert len(calls) == 1
    assert not paced.due


async def test_a_later_one_waits_for_the_interval_and_is_not_lost() -> None:
    calls: list[float] = []
    done = asyncio.Event()
    loop = asyncio.get_running_loop()

    def call() -> None:
        calls.append(loop.time())
        if len(calls) == 2:
            done.set()

    paced = Paced(call, 0.05)
    paced()
    await asyncio.sleep(0.01)
    assert len(calls) == 1
    paced()
    paced()
    async with asyncio.timeout(5):
        await done.wait()
    assert calls[1] - calls[0] >= 0.049
    assert not paced.due


async def test_cancelling_drops_what_is_due() -> None:
    calls: list[None] = []
    paced = Paced(lambda: calls.append(None), 0.0)
    paced()
    paced.cancel()
    await asyncio.sleep(0.01)
    assert calls == []
    paced()
    await asyncio.sleep(0.01)
    assert len(calls) == 1
