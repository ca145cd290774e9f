from __future__ import annotations

from tui_agent.agent import (
    AgentTool,
    AssistantMessage,
    AssistantMessageDone,
    CancelSignal,
    SessionStarted,
    TextContent,
    Tool,
    ToolCall,
    ToolCallFinished,
    ToolResultMessage,
    TurnEnded,
    TurnStarted,
    execute_tool_calls,
)
from tui_agent.agent.history import UNKNOWN
from tui_agent.session.declarations import as_declared, declared
from tui_agent.session.recovery import closing_events

PROMPT = TurnStarted(prompt=(TextContent(text="go"),))
CALLS = AssistantMessageDone(
    message=AssistantMessage(
        content=tuple(ToolCall(id=i, name="t", arguments={}) for i in "ab"), stop_reason="tool_use"
    )
)
DONE = ToolCallFinished(result=ToolResultMessage(tool_call_id="a", tool_name="t", content=()), seconds=1)
END = TurnEnded(stop_reason="end_turn")


def test_a_turn_that_ended_needs_nothing() -> None:
    assert closing_events([]) == []
    assert closing_events([PROMPT, CALLS, END]) == []


def test_a_turn_that_was_cut_off_gets_results_and_an_end() -> None:
    closing = closing_events([PROMPT, END, PROMPT, CALLS, DONE])
    assert [event.type for event in closing] == ["tool_call_finished", "turn_ended"]
    assert isinstance(closing[0], ToolCallFinished)
    assert (closing[0].result.tool_call_id, closing[0].result.text) == ("b", UNKNOWN)
    assert closing_events([PROMPT, CALLS, DONE, *closing]) == []


def tool(description: str) -> AgentTool:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "description": description}
    return AgentTool(
        "t", description, schema, execute=lambda parameters, signal: f"ran {parameters}", kind="read"
    )


def started(*tools: Tool) -> SessionStarted:
    return SessionStarted(system="s", tools=tuple(declared(t) for t in tools), model="m", version="0")


async def test_an_earlier_declaration_stays_and_the_tool_works() -> None:
    new = tool("new")
    (known,) = as_declared([new], started(tool("old")))
    assert declared(known) == declared(tool("old"))
    assert declared(new) == declared(tool("new"))
    (result,) = await execute_tool_calls(
        [ToolCall(id="1", name="t", arguments={"n": 1})], [known], signal=CancelSignal()
    )
    assert (result.text, result.is_error) == ("ran {'n': 1}", False)


def test_the_same_declaration_is_the_same_tool() -> None:
    same = tool("same")
    assert as_declared([same], started(tool("same"))) == [same]


async def test_a_tool_that_is_gone_says_so_and_a_new_one_waits_for_the_next_session() -> None:
    gone = AgentTool("gone", "d", {"type": "object"}, execute=lambda parameters, signal: "x")
    tools = as_declared([tool("new")], started(gone))
    assert [t.name for t in tools] == ["gone"]
    (result,) = await execute_tool_calls(
        [ToolCall(id="1", name="gone", arguments={})], tools, signal=CancelSignal()
    )
    assert result.is_error
    assert "does not have this tool any more" in result.text
