"""What a session that was cut off still needs to be told: results for its open calls, and an end."""

from __future__ import annotations

from collections.abc import Sequence

from tui_agent.agent import AgentEvent, TextContent, ToolCall, ToolCallFinished, ToolResultMessage, TurnEnded
from tui_agent.agent.history import UNKNOWN

STOPPED = "the program stopped before this turn had ended"


def closing_events(events: Sequence[AgentEvent]) -> list[AgentEvent]:
    """The events that end the last turn; none if it had ended."""
    open_calls: dict[str, ToolCall] = {}
    running = False
    for event in events:
        if event.type == "turn_started":
            running = True
        elif event.type == "turn_ended":
            running = False
            open_calls.clear()
        elif event.type == "assistant_message_done":
            open_calls = {call.id: call for call in event.message.calls}
        elif event.type == "tool_call_finished":
            open_calls.pop(event.result.tool_call_id, None)
    if not running:
        return []
    return [
        *(ToolCallFinished(result=_unknown(call), seconds=0.0) for call in open_calls.values()),
        TurnEnded(stop_reason="error", error=STOPPED, hint="Send a message, and the work goes on from here."),
    ]


def _unknown(call: ToolCall) -> ToolResultMessage:
    return ToolResultMessage(
        tool_call_id=call.id, tool_name=call.name, content=(TextContent(text=UNKNOWN),), is_error=True
    )
