"""What fills a model's window: the parts of the next request, by their estimated share. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tui_agent.agent.messages import (
    ImageContent,
    Message,
    RawBlock,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from tui_agent.agent.tokens import (
    block_tokens,
    filled_tokens,
    overhead_tokens,
    text_tokens,
)
from tui_agent.agent.tool import Tool

PARTS = ("system", "tools", "prompts and notes", "answers", "calls", "results", "thinking", "images")


@dataclass(frozen=True)
class Contents:
    """`parts` are `(name, tokens)` in the order of `PARTS`; together they are `filled`."""

    parts: tuple[tuple[str, int], ...]
    filled: int
    window: int | None


def contents_of(
    system: str, tools: Sequence[Tool], messages: Sequence[Message], window: int | None
) -> Contents:
    """The provider's count, where there is one, is shared out as the estimate says."""
    estimate = Counter({"system": text_tokens(system), "tools": overhead_tokens("", tools)})
    for message in messages:
        for block in message.content:
            if isinstance(block, ToolResultMessage):
                for part in block.content:
                    estimate["images" if isinstance(part, ImageContent) else "results"] += block_tokens(part)
            else:
                mine = isinstance(message, UserMessage)
                estimate[_name(block, mine)] += block_tokens(block)
    filled, sum_ = filled_tokens(system, tools, messages), max(1, estimate.total())
    parts = [(name, round(estimate[name] * filled / sum_)) for name in PARTS]
    return Contents(tuple(parts), filled, window)


def _name(block: TextContent | ImageContent | ThinkingContent | ToolCall | RawBlock, mine: bool) -> str:
    match block:
        case ImageContent():
            return "images"
        case ThinkingContent():
            return "thinking"
        case RawBlock(data=data):
            return "thinking" if "thinking" in str(data.get("type")) else "answers"
        case ToolCall():
            return "calls"
        case TextContent():
            return "prompts and notes" if mine else "answers"
