"""Where one can go back to, and what fills the window: pure functions of events and messages."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui_agent.agent import (
    AgentEvent,
    AssistantMessage,
    AssistantMessageDone,
    History,
    HistoryRewritten,
    ImageContent,
    NoteAdded,
    TextContent,
    ThinkingContent,
    Tool,
    ToolCall,
    ToolCallFinished,
    ToolResultMessage,
    TurnEnded,
    TurnStarted,
    Usage,
    UserMessage,
)
from tui_agent.agent.history import check
from tui_agent.agent.rewrites import without_thinking
from tui_agent.agent.tokens import IMAGE, estimated_tokens, filled_tokens
from tui_agent.session.compaction import shortened
from tui_agent.session.contents import contents_of
from tui_agent.session.prompts import asked, remaining


def turn(text: str, *, calls: int = 0, cut: bool = False) -> list[AgentEvent]:
    """A turn with some calls; cut: the last reply's calls are answered and nothing more is said."""
    events: list[AgentEvent] = [TurnStarted(prompt=(TextContent(text=text),))]
    for n in range(calls):
        call = ToolCall(id=f"{text}{n}", name="read", arguments={})
        thinking = ThinkingContent(thinking="hm", signature="s")
        events.append(AssistantMessageDone(message=AssistantMessage(content=(thinking, call))))
        message = ToolResultMessage(
            tool_call_id=call.id, tool_name="read", content=(TextContent(text="x" * 300),)
        )
        events.append(ToolCallFinished(result=message, seconds=0))
    if not cut:
        events.append(
            AssistantMessageDone(message=AssistantMessage(content=(TextContent(text=f"to {text}"),)))
        )
    return [*events, TurnEnded(stop_reason="cancelled" if cut else "end_turn")]


def rewritten(events: list[AgentEvent], messages: Any) -> list[AgentEvent]:
    return [*events, HistoryRewritten(reason="r", dropped=0, messages=tuple(messages))]


def back_to(events: list[AgentEvent], text: str) -> History:
    """The conversation after going back to before that prompt."""
    history = History.replay(events)
    (one,) = [one for one in asked(events) if one.text == text]
    history.apply(HistoryRewritten(reason="r", dropped=len(history.messages) - one.start))
    return history


@settings(max_examples=60, deadline=None)
@given(turns=st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=6), to=st.integers(0))
def test_going_back_leaves_what_was_before_and_a_valid_conversation(
    turns: list[tuple[int, bool]], to: int
) -> None:
    to %= len(turns)
    events = [
        event
        for n, (calls, cut) in enumerate(turns)
        for event in turn(f"p{n}.", calls=calls, cut=cut and calls > 0)
    ]
    history = back_to(events, f"p{to}.")
    for event in turn("next"):
        history.apply(event)
    words = [message.text for message in history.messages if isinstance(message, UserMessage)]
    assert not any(f"p{n}." in text for n in range(to, len(turns)) for text in words)
    assert all(any(f"p{n}." in text for text in words) for n in range(to))
    assert check([*history.messages, UserMessage(content=(TextContent(text="."),))]) == []


def test_what_remains_are_the_turns_that_were_not_taken_back() -> None:
    first, second, third = turn("a", calls=1), turn("b", calls=2), turn("c")
    back = HistoryRewritten(reason="r", dropped=6)
    events = [*first, *second, back, *third]
    assert remaining(events) == [*first, back, *third]
    assert [one.text for one in asked(remaining([*first, *second]))] == ["a", "b"]
    assert [one.text for one in asked(events)] == ["a", "c"]
    lean = without_thinking(History.replay(first).messages)
    assert lean is not None
    assert remaining(rewritten(first, lean)) == rewritten(first, lean)


def test_turns_are_counted_as_the_ledger_counts_them() -> None:
    events = [*turn("a"), TurnStarted(), TurnEnded(stop_reason="end_turn"), *turn("b")]
    assert [(one.text, one.turn) for one in asked(events)] == [("a", 1), ("b", 3)]


def test_what_was_dropped_or_went_on_is_no_place_to_go_back_to() -> None:
    dropped = HistoryRewritten(reason="cancelled before anything came", dropped=1)
    events = [*turn("a"), TurnStarted(prompt=(TextContent(text="b"),)), dropped, *turn("c")]
    assert [one.text for one in asked(events)] == ["a", "c"]


def test_steering_words_and_notes_are_no_prompts() -> None:
    events = [*turn("a"), NoteAdded(content=(TextContent(text="n"),), by="user"), *turn("b")]
    assert [one.text for one in asked(events)] == ["a", "b"]


def test_an_attachment_is_no_word_of_the_prompt() -> None:
    blocks = (TextContent(text="see @a.py"), TextContent(text="content of a.py"))
    assert [one.text for one in asked([TurnStarted(prompt=blocks)])] == ["see @a.py"]


def test_without_its_thinking_the_conversation_has_the_same_places() -> None:
    events = [*turn("a", calls=2), *turn("b", calls=1)]
    lean = without_thinking(History.replay(events).messages)
    assert lean is not None
    after = rewritten(events, lean)
    assert asked(after) == asked(events)
    assert [m.text for m in back_to(after, "b").messages if isinstance(m, UserMessage) and m.text] == ["a"]


def test_after_a_summary_only_what_was_kept_can_be_gone_back_to() -> None:
    events = [event for n in range(12) for event in turn(f"p{n}.", calls=2)]
    short = shortened(History.replay(events).messages, "the gist")
    after = [*rewritten(events, short), *turn("later", calls=1)]
    left = [one.text for one in asked(after)]
    assert left[-1] == "later"
    assert 1 <= len(left) < 12
    history = back_to(after, left[0])
    assert history.messages[0].text.startswith("the gist")
    assert left[0] not in [message.text for message in history.messages]


# What fills the window

TOOL = Tool("read", "Reads a file.", {"type": "object", "properties": {}})


def test_parts_add_up_to_what_the_provider_counted() -> None:
    call = ToolCall(id="c", name="read", arguments={"path": "a"})
    picture = ImageContent(data="A" * 9000, media_type="image/png")
    messages = [
        UserMessage(content=(TextContent(text="look " * 50), picture)),
        AssistantMessage(content=(ThinkingContent(thinking="hm" * 40, signature="s"), call)),
        UserMessage(
            content=(
                ToolResultMessage(
                    tool_call_id="c", tool_name="read", content=(TextContent(text="r" * 900), picture)
                ),
            )
        ),
        AssistantMessage(content=(TextContent(text="done " * 30),), usage=Usage(input_tokens=20_000)),
    ]
    contents = contents_of("system " * 100, [TOOL], messages, 200_000)
    parts = dict(contents.parts)
    assert contents.filled == 20_000
    assert sum(parts.values()) == pytest.approx(20_000, abs=len(parts))
    assert all(parts.values())
    assert parts["images"] > parts["results"] > parts["thinking"] > 0


def test_an_image_counts_by_what_it_costs_not_by_its_bytes() -> None:
    large = ImageContent(data="A" * 4_000_000, media_type="image/png")
    assert estimated_tokens([UserMessage(content=(large,))]) == IMAGE


def test_what_a_result_has_for_the_eye_does_not_count() -> None:
    seen = ToolResultMessage(
        tool_call_id="c",
        tool_name="t",
        content=(TextContent(text="x"),),
        details={"type": "d", "diff": "y" * 9000},
    )
    assert estimated_tokens([UserMessage(content=(seen,))]) < 100


def test_the_count_starts_with_system_and_tools_until_there_is_a_real_one() -> None:
    user = UserMessage(content=(TextContent(text="x"),))
    assert filled_tokens("s" * 9000, [TOOL], [user]) > 3000
    counted = AssistantMessage(content=(TextContent(text="y"),), usage=Usage(input_tokens=10))
    assert filled_tokens("s" * 9000, [TOOL], [user, counted]) == 10
