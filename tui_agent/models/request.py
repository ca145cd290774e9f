"""Our messages as parameters of the Messages API: the one border that a request crosses. Pure.

What the API would refuse does not get across: blank text, empty lists, unsigned thinking, lone surrogates,
odd names of tools. Signed thinking and blocks of the provider's pass byte for byte. The same messages
always give the same parameters, so that what was sent before stays the prefix of what is sent next.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

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
from tui_agent.agent.results import sendable

NO_OUTPUT = "(no output)"
NO_TEXT = "(no text)"

Param = dict[str, Any]


def parameters(request: ModelRequest) -> Param:
    """What of a request is conversation: `system`, `tools` and `messages`."""
    params: Param = {"messages": [message_param(message) for message in request.messages]}
    if request.system.strip():
        params["system"] = sendable(request.system)
    if request.tools:
        params["tools"] = [
            {
                "name": tool.name,
                "description": sendable(tool.description),
                "input_schema": {"type": "object", **tool.schema},
            }
            for tool in request.tools
        ]
    return params


def message_param(message: Message) -> Param:
    blocks = _user(message) if isinstance(message, UserMessage) else _assistant(message)
    return {"role": message.role, "content": list(blocks) or [{"type": "text", "text": NO_TEXT}]}


def thinks(messages: Sequence[Message]) -> bool:
    """Does the conversation carry thinking of the model's?"""
    return any(
        isinstance(block, ThinkingContent)
        or (isinstance(block, RawBlock) and block.data.get("type") == "redacted_thinking")
        for message in messages
        if isinstance(message, AssistantMessage)
        for block in message.content
    )


def call_ids(messages: Sequence[Message]) -> frozenset[str]:
    """The ids of all calls so far."""
    replies = (message for message in messages if isinstance(message, AssistantMessage))
    return frozenset(call.id for reply in replies for call in reply.calls)


def _user(message: UserMessage) -> Iterable[Param]:
    results = [block for block in message.content if isinstance(block, ToolResultMessage)]
    for result in results:
        content = list(_plain(result.content)) or [{"type": "text", "text": NO_OUTPUT}]
        param = {"type": "tool_result", "tool_use_id": wire_id(result.tool_call_id), "content": content}
        yield param | ({"is_error": True} if result.is_error else {})
    yield from _plain(block for block in message.content if not isinstance(block, ToolResultMessage))


def _plain(blocks: Iterable[TextContent | ImageContent]) -> Iterable[Param]:
    for block in blocks:
        if isinstance(block, ImageContent):
            source = {"type": "base64", "media_type": block.media_type, "data": block.data}
            yield {"type": "image", "source": source}
        elif block.text.strip():
            yield {"type": "text", "text": sendable(block.text)}


def _assistant(message: AssistantMessage) -> Iterable[Param]:
    for block in message.content:
        match block:
            case TextContent() if block.text.strip():
                yield {"type": "text", "text": sendable(block.text)}
            case ThinkingContent() if block.signature:
                yield {"type": "thinking", "thinking": block.thinking, "signature": block.signature}
            case ToolCall():
                name, arguments = wire_name(block.name), _sendable(block.arguments)
                yield {"type": "tool_use", "id": wire_id(block.id), "name": name, "input": arguments}
            case RawBlock() if block.data.get("type") != "text" or str(block.data.get("text", "")).strip():
                yield _sendable(block.data)


def _sendable(value: Any) -> Any:
    if isinstance(value, str):
        return sendable(value)
    if isinstance(value, dict):
        return {sendable(name): _sendable(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_sendable(part) for part in value]
    return value


def wire_id(id: str) -> str:
    """An id as the API takes it: its own pass as they are, foreign ones stay different from each other."""
    return re.sub(r"[^a-zA-Z0-9_-]", _as_hex, id) or "empty"


def wire_name(name: str) -> str:
    """A called name, which may be none of ours (`functions.read`, `""`), fit to be sent back."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:128] or "_"


def _as_hex(match: re.Match[str]) -> str:
    return f"_{ord(match[0]):x}_"
