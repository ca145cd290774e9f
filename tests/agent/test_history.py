"""The history is valid at every instant, whatever comes, and is the fold of its stored events."""

import asyncio
from typing import Any

from agent_fakes import Recorder, call, reply, tool
from hypothesis import given, settings
from hypothesis import strategies as st

from tui_agent.agent import (
    Agent,
    AgentEvent,
    AssistantMessage,
    CancelSignal,
    History,
    MessageDone,
    ModelError,
    ModelRequest,
    TextContent,
    TextDelta,
    ThinkingContent,
    ToolResultMessage,
    UserMessage,
)
from tui_agent.agent.events import FLEETING
from tui_agent.agent.history import check


def user(*blocks: Any) -> UserMessage:
    return UserMessage(content=[TextContent(text=b) if isinstance(b, str) else b for b in blocks])


def result(id: str) -> ToolResultMessage:
    return ToolResultMessage(tool_call_id=id, tool_name="t", content=(TextContent(text="ok"),))


def test_a_valid_conversation_comes_back_as_it_was() -> None:
    messages = (
        user("go"),
        reply("a", call("t", "1"), call("t", "2")),
        user(result("1"), result("2"), "and this"),
        reply("b"),
        user("more"),
    )
    assert History(messages).messages == messages
    assert check(messages) == []


def test_a_stop_between_calls_and_results_is_repaired_on_load() -> None:
    history = History([user("go"), reply(call("t", "1"), call("t", "2"), call("t", "3")), user(result("2"))])
    repaired = history.messages[-1]
    assert [block.tool_call_id for block in repaired.content] == ["1", "2", "3"]
    assert [block.is_error for block in repaired.content] == [True, False, True]
    assert "unknown" in repaired.content[0].text
    assert check(history.messages) == []


def test_results_out_of_order_are_put_in_the_order_of_the_calls() -> None:
    history = History(
        [user("go"), reply(call("t", "1"), call("t", "2")), user(result("2"), result("1"), "x")]
    )
    assert [getattr(b, "tool_call_id", b) for b in history.messages[-1].content][:2] == ["1", "2"]


BLOCKS = st.one_of(
    st.sampled_from(["", " ", "text"]).map(lambda t: TextContent(text=t)),
    st.sampled_from("12345").map(lambda i: call("t", i)),
    st.sampled_from([None, "sig"]).map(lambda s: ThinkingContent(thinking="t", signature=s)),
)
MESSAGES = st.lists(
    st.one_of(
        st.lists(BLOCKS, max_size=4).map(lambda b: AssistantMessage(content=b, stop_reason="tool_use")),
        st.lists(
            st.one_of(
                st.sampled_from("12345").map(result),
                st.sampled_from(["", "words"]).map(lambda t: TextContent(text=t)),
            ),
            max_size=4,
        ).map(lambda b: UserMessage(content=b)),
    ),
    max_size=8,
)


@given(MESSAGES)
@settings(deadline=None)
def test_any_list_of_messages_becomes_one_that_can_be_sent(messages: list[Any]) -> None:
    history = History([*messages, user("next")])
    assert check(history.messages) == []
    assert check(History(history.messages).messages) == []


class Chaos:
    """A model that does what the drawn steps say, each of which may set the signal at some word."""

    name = "chaos"

    def __init__(self, steps: list[tuple[str, int]], signal: CancelSignal) -> None:
        self.steps = list(steps)
        self.signal = signal
        self.ids = 0
        self.faults: list[str] = []

    async def stream(self, request: ModelRequest) -> Any:
        self.faults += check(request.messages)
        kind, when = self.steps.pop(0) if self.steps else ("text", 9)
        blocks: list[Any] = []
        for n in range(3):
            if when == n:
                self.signal.cancel()
                await asyncio.sleep(0)
            yield TextDelta(text=f"w{n} ")
        match kind:
            case "text":
                blocks = ["some text"]
            case "empty":
                blocks = []
            case "calls" | "cut" | "twice":
                self.ids += 2
                second = self.ids if kind != "twice" else self.ids - 1
                blocks = [call("work", f"c{self.ids - 1}", n=when), call("work", f"c{second}", n=when)]
            case "thinking":
                blocks = [ThinkingContent(thinking="hm", signature=None if when % 2 else "s")]
            case "error":
                raise ModelError("lost", kind="connection")
        stop = {"cut": "max_tokens", "calls": "tool_use", "twice": "tool_use"}.get(kind, "end_turn")
        yield MessageDone(message=reply(*blocks, stop=stop))


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["text", "empty", "calls", "cut", "twice", "thinking", "error"]), st.integers(0, 8)
    ),
    min_size=1,
    max_size=8,
)


@given(STEPS, st.integers(0, 60))
@settings(deadline=None, max_examples=150)
def test_under_cancels_errors_and_reloads_at_any_point_every_request_is_valid(
    steps: list[tuple[str, int]], stored: int
) -> None:
    async def go() -> None:
        signal, recorder = CancelSignal(), Recorder()

        def work(parameters: dict[str, Any], mine: CancelSignal) -> str:
            if parameters["n"] == 5:
                signal.cancel()
                mine.raise_if_cancelled()
            if parameters["n"] == 6:
                raise ValueError("broken")
            return "ok"

        model = Chaos(steps, signal)
        agent = Agent(model=model, tools=[tool("work", work)])
        for prompt in ("one", "two", "three"):
            signal = CancelSignal()
            model.signal = signal
            ended = await agent.prompt(prompt, signal=signal, emit=recorder)
            assert recorder.events[-1] is ended
            assert agent.history.open_calls == ()
        assert model.faults == []
        kept: list[AgentEvent] = [event for event in recorder.events if event.type not in FLEETING]
        assert History.replay(kept).messages == agent.messages
        torn = History.replay(kept[:stored])
        follow = Chaos([("text", 9)], CancelSignal())
        await Agent(model=follow, messages=torn).prompt("after a reload")
        assert follow.faults == []

    asyncio.run(go())
