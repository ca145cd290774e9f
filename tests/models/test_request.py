"""The border: what the API would refuse stays here, and what it signed passes byte for byte."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from server.refusals import canonical, refusal

from tui_agent.agent.messages import (
    AssistantMessage,
    ImageContent,
    Message,
    RawBlock,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from tui_agent.agent.model import ModelRequest
from tui_agent.agent.tool import Tool
from tui_agent.models.request import message_param, parameters, wire_id, wire_name

HELLO = UserMessage(content=[TextContent("hello")])


def result(id: str, *texts: str, **more: Any) -> ToolResultMessage:
    return ToolResultMessage(
        tool_call_id=id, tool_name="f", content=[TextContent(text) for text in texts], **more
    )


def accepted(*messages: Message, system: str = "", tools: tuple[Tool, ...] = ()) -> dict[str, Any]:
    params = parameters(ModelRequest(system, tools, messages))
    assert refusal({"model": "m", "max_tokens": 1, **params}) is None
    return params


def test_results_come_first_and_nothing_is_blank() -> None:
    calls = AssistantMessage(
        content=[TextContent(""), ToolCall("a", "f", {}), TextContent(" \n"), ToolCall("b", "f", {})]
    )
    user = UserMessage(
        content=[
            TextContent("and now"),
            result("a", "", "  "),
            TextContent(""),
            result("b", "x", is_error=True),
        ]
    )
    params = accepted(HELLO, calls, user)
    assert params["messages"][1]["content"] == [
        {"type": "tool_use", "id": "a", "name": "f", "input": {}},
        {"type": "tool_use", "id": "b", "name": "f", "input": {}},
    ]
    assert params["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "(no output)"}]},
        {
            "type": "tool_result",
            "tool_use_id": "b",
            "content": [{"type": "text", "text": "x"}],
            "is_error": True,
        },
        {"type": "text", "text": "and now"},
    ]


def test_thinking_and_raw_blocks_pass_as_they_are() -> None:
    odd = {"type": "redacted_thinking", "data": "\u00e9\u200b", "more": [1, {"x": None}]}
    message = AssistantMessage(
        content=[
            ThinkingContent(" \n\u200b tail ", "sig=="),
            TextContent("x"),
            RawBlock(odd),
            ThinkingContent("cut"),
        ]
    )
    assert message_param(message)["content"] == [
        {"type": "thinking", "thinking": " \n\u200b tail ", "signature": "sig=="},
        {"type": "text", "text": "x"},
        odd,
    ]


def test_an_emptied_message_gets_a_placeholder() -> None:
    assert message_param(AssistantMessage(content=[ThinkingContent("cut"), TextContent(" ")]))["content"]
    accepted(UserMessage(content=[TextContent("  ")]))


def test_tools_are_declarations_with_an_object_schema() -> None:
    tool = Tool("f", "Does it.", {"properties": {"a": {"type": "string"}}})
    assert accepted(HELLO, system="s", tools=(tool,))["tools"] == [
        {
            "name": "f",
            "description": "Does it.",
            "input_schema": {"type": "object", "properties": {"a": {"type": "string"}}},
        }
    ]


def test_odd_names_and_ids_can_be_sent_back() -> None:
    calls = AssistantMessage(
        content=[ToolCall(id, name, {}) for id, name in (("a.1", ""), ("a:1", "x.y "), ("", "Bash"))]
    )
    params = accepted(
        HELLO, calls, UserMessage(content=[result("a.1", "x"), result("a:1", "x"), result("", "x")])
    )
    assert len({block["id"] for block in params["messages"][1]["content"]}) == 3
    assert wire_id("toolu_01AbC-x") == "toolu_01AbC-x"
    assert wire_name("read_file") == "read_file"


def test_images() -> None:
    params = accepted(UserMessage(content=[ImageContent("aGk=", "image/png")]))
    assert params["messages"][0]["content"][0]["source"] == {
        "type": "base64",
        "media_type": "image/png",
        "data": "aGk=",
    }


ANY_TEXT = st.text(st.characters(categories=("L", "Cs", "Cc", "Zs", "So")), max_size=6)


@settings(max_examples=100, deadline=None)
@given(texts=st.lists(ANY_TEXT, min_size=1, max_size=4), keys=st.dictionaries(ANY_TEXT, ANY_TEXT, max_size=2))
def test_any_text_is_accepted_and_gives_the_same_bytes_twice(texts: list[str], keys: dict[str, str]) -> None:
    messages = (
        UserMessage(content=[TextContent(text) for text in texts]),
        AssistantMessage(content=[TextContent(texts[0]), ToolCall("t1", texts[-1], {"k": [keys]})]),
        UserMessage(content=[result("t1", *texts), TextContent(texts[0])]),
    )
    params = accepted(*messages, system=texts[0])
    canonical(params).encode()
    assert canonical(params) == canonical(accepted(*messages, system=texts[0]))
