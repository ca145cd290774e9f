"""Messages are values: by position or by name, never by half of each."""

from __future__ import annotations

import pytest
from agent_fakes import call
from pydantic import ValidationError

from tui_agent.agent import CancelSignal, TextContent, ToolCall, execute_tool_calls


def test_fields_are_given_by_position_or_by_name() -> None:
    assert ToolCall("1", "t", {}) == ToolCall(id="1", name="t", arguments={})
    assert TextContent("x").text == "x"


def test_a_field_too_many_or_given_twice_is_not_passed_over() -> None:
    with pytest.raises(TypeError, match="id, name, arguments, fault"):
        ToolCall("1", "t", {}, None, "more")
    with pytest.raises(TypeError, match="each once"):
        ToolCall("1", id="2", name="t", arguments={})


def test_what_stays_is_never_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        TextContent(text="a").text = "b"  # type: ignore[misc]


async def test_a_long_name_of_no_tool_is_not_repeated_whole() -> None:
    [result] = await execute_tool_calls([call("x" * 100_000, "1")], [], signal=CancelSignal())
    assert len(result.text) < 300
