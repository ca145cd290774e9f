"""What models, tools and gates throw ends the call, or the turn, that it came from, and nothing more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from agent_fakes import Recorder, Script, call, reply, results, tool

from tui_agent.agent import (
    Agent,
    Allow,
    Cancelled,
    CancelSignal,
    Deny,
    ModelError,
    ModelEvent,
    ModelRequest,
    Proposal,
    TextContent,
    TextDelta,
    execute_tool_calls,
)


class Unreadable(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


class OfTheirOwn(BaseException):
    pass


THROWN = [
    ValueError("boom"),
    SystemExit(3),
    asyncio.CancelledError(),
    GeneratorExit(),
    OfTheirOwn("odd"),
    Unreadable(),
    StopAsyncIteration(),
]
named = pytest.mark.parametrize("thrown", THROWN, ids=lambda error: type(error).__name__)


def raising(thrown: BaseException, *, sync: bool) -> Callable[..., Any]:
    def throw(*_: Any) -> Any:
        raise thrown

    async def throw_later(*_: Any) -> Any:
        raise thrown

    return throw if sync else throw_later


@named
@pytest.mark.parametrize("sync", [True, False])
@pytest.mark.parametrize("where", ["execute", "prepare"])
async def test_whatever_a_tool_throws_is_an_error_result_of_that_call(
    thrown: BaseException, sync: bool, where: str
) -> None:
    bad = tool("bad", **{where: raising(thrown, sync=sync)})
    ended = await execute_tool_calls(
        [call("bad", "1"), call("echo", "2", text="on")], [bad, tool()], signal=CancelSignal()
    )
    assert [result.is_error for result in ended] == [True, False]
    assert ended[0].text.strip()
    assert "Traceback" not in ended[0].text


@named
async def test_a_gate_that_throws_denies(thrown: BaseException) -> None:
    class Gate:
        decide = staticmethod(raising(thrown, sync=False))

    ran: list[str] = []
    [result] = await execute_tool_calls(
        [call("echo", "1")],
        [tool(execute=lambda *_: ran.append("ran") or "")],
        signal=CancelSignal(),
        gate=Gate(),  # type: ignore[arg-type]
    )
    assert result.is_error
    assert not ran


@named
async def test_whatever_a_model_throws_ends_the_turn_as_an_error(thrown: BaseException) -> None:
    class Model:
        name = "throws"

        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
            yield TextDelta(text="half")
            raise thrown

    record = Recorder()
    ended = await Agent(model=Model()).prompt("hi", emit=record)
    assert ended.stop_reason == "error"
    assert ended.error
    assert record.events[-1] == ended
    assert len(record.of("turn_ended")) == 1


async def test_a_tool_that_stops_by_itself_was_not_stopped_by_the_user() -> None:
    def stop(parameters: Any, signal: CancelSignal) -> str:
        raise Cancelled("own", "so far")

    [result] = await execute_tool_calls([call("t", "1")], [tool("t", stop)], signal=CancelSignal())
    assert result.is_error
    assert "interrupted" in result.text
    assert "so far" in result.text
    assert "user" not in result.text


async def test_a_call_that_the_host_cancels_is_told_as_begun_and_its_tool_is_signalled() -> None:
    begun, signals = asyncio.Event(), list[CancelSignal]()

    async def wait(parameters: Any, signal: CancelSignal) -> str:
        signals.append(signal)
        begun.set()
        await asyncio.Event().wait()
        return ""

    agent = Agent(model=Script(reply(call("t", "1"), call("t", "2"))), tools=[tool("t", wait)])
    record = Recorder()
    turn = asyncio.create_task(agent.prompt("go", emit=record))
    await begun.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    first, second = results(agent.messages)
    assert "may have run in part" in first.text
    assert "not run" in second.text
    assert signals[0].cancelled
    assert record.events[-1].type == "turn_ended"


async def test_a_stream_that_never_waits_stops_at_the_signal_too() -> None:
    signal = CancelSignal()

    async def cancel_at_text(event: Any) -> None:
        if event.type == "text_delta":
            signal.cancel()

    agent = Agent(model=Script(reply("half", " and half")))
    ended = await agent.prompt("go", signal=signal, emit=cancel_at_text)
    assert ended.stop_reason == "cancelled"
    assert [message.text for message in agent.messages] == ["go", "half"]


async def test_a_cancelled_prompt_takes_no_earlier_words_with_it() -> None:
    signal = CancelSignal()
    agent = Agent(model=Script(ModelError("down"), reply("hello")))
    await agent.prompt("first")
    signal.cancel()
    await agent.prompt("second", signal=signal)
    assert [message.text for message in agent.messages] == ["first"]
    assert (await agent.prompt("third")).stop_reason == "end_turn"
    assert [message.text for message in agent.messages] == ["first\nthird", "hello"]


async def test_calls_that_a_cancel_left_are_not_held_against_the_model() -> None:
    signal = CancelSignal()

    async def cancel(event: Any) -> None:
        if event.type == "assistant_message_done":
            signal.cancel()

    calls = [call("echo", str(number), text="same") for number in range(8)]
    agent = Agent(model=Script(reply(*calls)), tools=[tool()])
    ended = await agent.prompt("go", signal=signal, emit=cancel)
    assert ended.stop_reason == "cancelled"
    assert {result.text for result in results(agent.messages)} == {
        "not run: the turn was cancelled before this call"
    }


async def test_two_calls_with_one_id_each_run_what_was_allowed_for_them() -> None:
    def prepare(parameters: dict[str, Any], signal: CancelSignal) -> Proposal:
        async def run(signal: CancelSignal) -> str:
            return f"ran {parameters['text']}"

        return Proposal("write", "write", (), None, run)

    class Gate:
        async def decide(self, batch: Any, signal: CancelSignal) -> list[Allow | Deny]:
            return [Allow(batch[0].proposal), Allow(batch[1].proposal), Deny("no")]

    calls = [call("t", "same", text=text) for text in ("a", "b", "c")]
    ended = await execute_tool_calls(
        calls, [tool("t", kind="write", prepare=prepare)], signal=CancelSignal(), gate=Gate()
    )
    assert [result.text for result in ended] == ["ran a", "ran b", "the user declined this call: no"]


async def test_many_blocks_together_are_held_to_the_size_of_one_result() -> None:
    blocks = [TextContent(text=f"{number} " + "x" * 150_000) for number in range(40)]
    [result] = await execute_tool_calls(
        [call("t", "1")], [tool("t", lambda *_: blocks)], signal=CancelSignal()
    )
    assert len(result.text) < 201_000
    assert result.text.startswith("0 x")
    assert "38 more parts left out" in result.text
