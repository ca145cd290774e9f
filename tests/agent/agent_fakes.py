"""A model that answers from a script, tools that note what they got, and a recorder of events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from tui_agent.agent import (
    AgentEvent,
    AgentTool,
    AssistantMessage,
    CancelSignal,
    MessageDone,
    ModelEvent,
    ModelRequest,
    TextContent,
    TextDelta,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)

ECHO = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def call(name: str, id: str = "", **arguments: Any) -> ToolCall:
    return ToolCall(id=id or f"toolu_{name}_{len(arguments)}", name=name, arguments=arguments)


def reply(*blocks: Any, stop: str | None = None, usage: Usage | None = None) -> AssistantMessage:
    content = [TextContent(text=block) if isinstance(block, str) else block for block in blocks]
    calls = any(isinstance(block, ToolCall) for block in content)
    return AssistantMessage(
        content=content, stop_reason=stop or ("tool_use" if calls else "end_turn"), usage=usage
    )


class Script:
    """Gives the replies in order; a callable makes one from the request, an exception is raised."""

    name = "script"

    def __init__(self, *replies: AssistantMessage | Exception | Callable[[ModelRequest], Any]) -> None:
        self.replies = list(replies)
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        answer = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if callable(answer):
            answer = answer(request)
        if isinstance(answer, Exception):
            raise answer
        for block in answer.content:
            if isinstance(block, TextContent):
                yield TextDelta(text=block.text)
        yield MessageDone(message=answer)


class Recorder:
    """An `emit` that keeps what it is told."""

    def __init__(self) -> None:
        self.events: list[AgentEvent] = []

    async def __call__(self, event: AgentEvent) -> None:
        self.events.append(event)

    def of(self, kind: str) -> list[Any]:
        return [event for event in self.events if event.type == kind]


def tool(name: str = "echo", execute: Callable[..., Any] | None = None, **more: Any) -> AgentTool:
    def echo(parameters: dict[str, Any], signal: CancelSignal) -> str:
        return str(parameters.get("text", "done"))

    more.setdefault("parameters", {"type": "object", "additionalProperties": True})
    return AgentTool(name=name, description=f"The {name} tool.", execute=execute or echo, **more)


def results(messages: Sequence[Any]) -> list[ToolResultMessage]:
    return [
        block
        for message in messages
        if isinstance(message, UserMessage)
        for block in message.content
        if isinstance(block, ToolResultMessage)
    ]


def canonical(request: ModelRequest) -> list[str]:
    """System, tools and each message as canonical JSON: the prefix that providers compare."""
    tools = [[tool.name, tool.description, tool.parameters] for tool in request.tools]
    head = [json.dumps([request.system, tools], sort_keys=True)]
    return head + [json.dumps(m.model_dump(mode="json"), sort_keys=True) for m in request.messages]
