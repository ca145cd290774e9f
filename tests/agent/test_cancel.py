import asyncio
import threading

import pytest

from tui_agent.agent import Cancelled, CancelSignal


async def test_the_first_reason_stays() -> None:
    signal = CancelSignal()
    assert not signal.cancelled
    assert signal.reason is None
    signal.cancel("user")
    signal.cancel("timeout")
    assert (signal.cancelled, signal.reason) == (True, "user")
    with pytest.raises(Cancelled) as caught:
        signal.raise_if_cancelled()
    assert caught.value.reason == "user"
    assert not isinstance(caught.value, asyncio.CancelledError)


def test_it_is_made_and_set_without_a_loop() -> None:
    signal = CancelSignal()
    threading.Thread(target=signal.cancel, args=("from a thread",)).start()
    assert asyncio.run(asyncio.wait_for(signal.wait(), 5)) == "from a thread"


async def test_a_thread_wakes_a_waiting_loop() -> None:
    signal = CancelSignal()
    waiting = asyncio.create_task(signal.wait())
    await asyncio.sleep(0)
    threading.Thread(target=signal.cancel).start()
    assert await asyncio.wait_for(waiting, 5) == "user"


async def test_cancelling_goes_down_and_not_up() -> None:
    parent = CancelSignal()
    child, other = parent.child(), parent.child()
    child.cancel("this call")
    assert (parent.cancelled, other.cancelled) == (False, False)
    parent.cancel("all")
    assert (child.reason, other.reason) == ("this call", "all")
    assert parent.child().reason == "all"


async def test_a_race_gives_the_result() -> None:
    async def work() -> int:
        await asyncio.sleep(0)
        return 7

    assert await CancelSignal().race(work()) == 7


async def test_a_race_lets_an_error_through() -> None:
    async def work() -> int:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await CancelSignal().race(work())


async def test_a_set_signal_ends_the_work_and_awaits_its_end() -> None:
    signal, trace = CancelSignal(), []

    async def work() -> None:
        try:
            signal.cancel()
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            trace.append("ended")

    with pytest.raises(Cancelled):
        await signal.race(work())
    assert trace == ["ended"]


async def test_work_is_never_started_once_the_signal_is_set() -> None:
    signal, trace = CancelSignal(), []
    signal.cancel()

    async def work() -> None:
        trace.append("started")

    with pytest.raises(Cancelled):
        await signal.race(work())
    assert trace == []


async def test_the_hosts_own_cancel_reaches_the_work() -> None:
    signal, trace, started = CancelSignal(), [], asyncio.Event()

    async def work() -> None:
        try:
            started.set()
            await asyncio.sleep(60)
        finally:
            trace.append("ended")

    task = asyncio.create_task(signal.race(work()))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert trace == ["ended"]


async def test_waiting_leaves_no_listener_behind() -> None:
    signal = CancelSignal()
    for _ in range(100):
        await signal.race(asyncio.sleep(0))
    assert len(signal._listeners) == 0
