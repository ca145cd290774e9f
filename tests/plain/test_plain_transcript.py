"""What is said of a run line by line, and of a session that goes on."""

from __future__ import annotations

from tui_agent.agent import (
    AgentEvent,
    AssistantMessage,
    AssistantMessageDone,
    Compacting,
    HistoryRewritten,
    TextContent,
    TextDelta,
    TurnStarted,
)
from tui_agent.plain.transcript import Transcript, last_exchange


def turn(prompt: str, answer: str) -> list[AgentEvent]:
    message = AssistantMessage(content=(TextContent(text=answer),))
    return [TurnStarted(prompt=(TextContent(text=prompt),)), AssistantMessageDone(message=message)]


def test_a_session_goes_on_from_what_was_not_taken_back() -> None:
    events = [*turn("first", "one"), *turn("second", "two"), HistoryRewritten(reason="back", dropped=2)]
    assert last_exchange(events) == "Continuing after 1 prompt.\nYou said: first\nThe answer was:\none"


def test_making_room_is_told_once() -> None:
    told = Transcript()
    words = [told.take(e) for e in (TextDelta(text="so far"), Compacting(), Compacting(over=True))]
    assert words == ["\nso far", "\n(Shortening the conversation …)\n", ""]
