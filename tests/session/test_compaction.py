from typing import Any

import pytest

from tui_agent.agent import (
    Agent,
    AgentTool,
    AssistantMessage,
    Cancelled,
    CancelSignal,
    History,
    MessageDone,
    ModelError,
    ModelRequest,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from tui_agent.agent.history import check
from tui_agent.session.compaction import ASK, HEAD, Compactor, shortened


class Summariser:
    """Answers a summarising request with `summary`, any other one with the next of `replies`."""

    name = "summariser"

    def __init__(
        self, summary: str | Exception = "the gist", replies: list[AssistantMessage] | None = None
    ) -> None:
        self.summary = summary
        self.replies = replies or []
        self.summaries: list[ModelRequest] = []
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> Any:
        assert check(request.messages) == []
        last = request.messages[-1]
        if isinstance(last, UserMessage) and ASK in last.text:
            self.summaries.append(request)
            if isinstance(self.summary, Exception):
                raise self.summary
            yield MessageDone(message=said(self.summary))
        else:
            self.requests.append(request)
            yield MessageDone(message=self.replies.pop(0) if self.replies else said("ok"))


def said(text: str, **more: Any) -> AssistantMessage:
    return AssistantMessage(content=(TextContent(text=text),), stop_reason="end_turn", **more)


def user(text: str) -> UserMessage:
    return UserMessage(content=(TextContent(text=text),))


def conversation(exchanges: int = 20, size: int = 2000) -> list[Any]:
    messages: list[Any] = []
    for n in range(exchanges):
        call = ToolCall(id=f"c{n}", name="read", arguments={"n": n})
        answer = ToolResultMessage(
            tool_call_id=f"c{n}", tool_name="read", content=(TextContent(text="x" * size),)
        )
        thinking = ThinkingContent(thinking="hm", signature="s")
        messages += [
            user(f"question {n}"),
            AssistantMessage(content=(thinking, call), stop_reason="tool_use"),
            UserMessage(content=(answer,)),
            said(f"answer {n}", usage=Usage(input_tokens=1000 * (n + 1))),
        ]
    return messages


async def test_the_summary_the_newest_messages_and_the_changed_files_stay() -> None:
    model = Summariser("we fixed the cart")
    history = History(conversation())
    compact = Compactor(model, "system", (), changed=lambda: ["cart.py: 3 lines added"])
    for event in await compact(history, CancelSignal(), focus="the cart"):
        history.apply(event)
    first = history.messages[0]
    assert first.text.startswith(HEAD)
    assert "we fixed the cart" in first.text
    assert "cart.py: 3 lines added" in first.text
    assert history.messages[-1].text == "answer 19"
    assert len(history.messages) < 20
    assert "the cart" in model.summaries[0].messages[-1].text
    assert check([*history.messages, user("next")]) == []


async def test_the_request_is_the_conversation_with_one_more_message() -> None:
    model, messages = Summariser(), conversation()
    await Compactor(model, "system", ())(History(messages), CancelSignal())
    assert list(model.summaries[0].messages[:-1]) == messages


async def test_thinking_and_counts_of_the_old_prefix_do_not_stay() -> None:
    kept = shortened(conversation(), "gist")
    assert all(getattr(message, "usage", None) is None for message in kept)
    assert not any(isinstance(block, ThinkingContent) for message in kept for block in message.content)


@pytest.mark.parametrize("cut", range(1, 9))
def test_wherever_the_conversation_ends_the_short_one_is_valid(cut: int) -> None:
    messages = History(conversation(4, 50)[:-cut]).messages
    short = History(shortened(messages, "gist"))
    assert check([*short.messages, user("next")] if not short.awaits_reply else short.messages) == []


async def test_a_summary_that_saves_nothing_does_not_count() -> None:
    with pytest.raises(ModelError, match="saved nothing"):
        await Compactor(Summariser("y" * 9000), "s", ())(History([user("a"), said("b")]), CancelSignal())


async def test_a_model_that_writes_no_summary_is_an_error() -> None:
    with pytest.raises(ModelError, match="no summary"):
        await Compactor(Summariser("  "), "s", ())(History(conversation()), CancelSignal())


async def test_it_can_be_cancelled_before_it_asks() -> None:
    signal, model = CancelSignal(), Summariser()
    signal.cancel()
    with pytest.raises(Cancelled):
        await Compactor(model, "s", ())(History(conversation()), signal)
    assert model.summaries == []


async def test_a_request_that_is_itself_too_long_is_sent_once_more_without_the_bulk() -> None:
    class Small(Summariser):
        async def stream(self, request: ModelRequest) -> Any:
            if sum(len(message.model_dump_json()) for message in request.messages) > 60_000:
                self.summaries.append(request)
                raise ModelError("prompt is too long", kind="context_full")
            async for event in super().stream(request):
                yield event

    model = Small()
    history = History(conversation(20, 4000))
    assert await Compactor(model, "s", ())(history, CancelSignal())
    assert len(model.summaries) == 2


async def test_a_turn_shortens_what_nearly_fills_the_window_and_goes_on() -> None:
    calls = [
        AssistantMessage(
            content=(ToolCall(id=f"n{n}", name="read", arguments={"n": n}),),
            stop_reason="tool_use",
            usage=Usage(input_tokens=3000 * (n + 1)),
        )
        for n in range(4)
    ]
    model = Summariser(replies=[*calls, said("finished")])
    tool = AgentTool(
        "read", "Reads.", {"type": "object"}, execute=lambda p, s: f"{p['n']}" * 5000, kind="read"
    )
    events: list[Any] = []

    async def emit(event: Any) -> None:
        events.append(event)

    agent = Agent(model=model, tools=[tool], window=12_000, shorten=Compactor(model, "", ()))
    ended = await agent.prompt("read a lot", emit=emit)
    assert ended.stop_reason == "end_turn"
    assert [event.type for event in events].count("compacted") >= 1
    assert History.replay(events).messages == agent.messages


async def test_a_turn_whose_history_cannot_be_shortened_ends_with_advice() -> None:
    model = Summariser("z" * 100_000)
    agent = Agent(model=model, window=2100, shorten=Compactor(model, "", ()), messages=conversation(2, 4000))
    ended = await agent.prompt("next")
    assert (ended.stop_reason, bool(ended.hint)) == ("error", True)
    assert model.requests == []
    assert len(model.summaries) <= 2
