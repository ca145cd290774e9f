"""How many tokens a conversation fills: what the provider counted, and an estimate of what came after.

Only a provider can count. What it has not seen yet is estimated high, so that we err on full.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from tui_agent.agent.messages import (
    AssistantMessage,
    ImageContent,
    Message,
    RawBlock,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
)
from tui_agent.agent.tool import Tool

CHARACTERS = 3
"""Characters that count as one token."""
IMAGE = 4_800
"""Tokens of an image, whatever its bytes: about what the largest that is not scaled down costs."""
FRAME = 8
"""Tokens around a block."""

Part = TextContent | ImageContent | ThinkingContent | ToolCall | ToolResultMessage | RawBlock


def text_tokens(text: str) -> int:
    return len(text) // CHARACTERS


def block_tokens(block: Part) -> int:
    """An estimate; what a result has for the eye only is not sent, and does not count."""
    match block:
        case TextContent(text=text):
            return FRAME + text_tokens(text)
        case ImageContent():
            return IMAGE
        case ThinkingContent(thinking=thinking, signature=signature):
            return FRAME + text_tokens(thinking + (signature or ""))
        case ToolCall(name=name, arguments=arguments):
            return FRAME + text_tokens(name + json.dumps(arguments, default=str))
        case ToolResultMessage(content=content):
            return FRAME + sum(map(block_tokens, content))
        case RawBlock(data=data):
            return FRAME + text_tokens(json.dumps(data, default=str))


def estimated_tokens(messages: Iterable[Message]) -> int:
    """An estimate, also where the provider counted."""
    return sum(block_tokens(block) for message in messages for block in message.content)


def overhead_tokens(system: str, tools: Iterable[Tool]) -> int:
    """An estimate of what goes with every request beside the conversation."""
    declared = (f"{tool.name}{tool.description}{json.dumps(tool.schema)}" for tool in tools)
    return text_tokens(system) + sum(FRAME + text_tokens(text) for text in declared)


def filled_tokens(system: str, tools: Iterable[Tool], messages: Sequence[Message]) -> int:
    """Tokens a request fills of a window: the last reply's own count, and an estimate of what came after."""
    after = 0
    for message in reversed(messages):
        if isinstance(message, AssistantMessage) and message.usage is not None:
            return message.usage.context_tokens + after
        after += estimated_tokens([message])
    return overhead_tokens(system, tools) + after
