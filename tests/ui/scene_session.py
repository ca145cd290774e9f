"""A mixed session for the scenes: what was said, called, changed and went wrong."""

from __future__ import annotations

from typing import Any

from tui_agent.agent import (
    AgentEvent,
    ApprovalDecided,
    AssistantMessage,
    AssistantMessageDone,
    FileChanged,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolCallFinished,
    ToolCallStarted,
    ToolResultMessage,
    TurnEnded,
    TurnStarted,
    Usage,
    UsageUpdated,
)
from tui_agent.tools.changes import file_change


def call(
    id: str, name: str, text: str, *, seconds: float = 0.02, error: bool = False, **arguments: Any
) -> list[AgentEvent]:
    details = arguments.pop("details", None)
    result = ToolResultMessage(
        tool_call_id=id, tool_name=name, content=(TextContent(text=text),), is_error=error, details=details
    )
    return [
        ToolCallStarted(call=ToolCall(id=id, name=name, arguments=arguments)),
        ApprovalDecided(call_id=id, decision="allow", by="user" if details or error else "mode"),
        ToolCallFinished(result=result, seconds=seconds),
    ]


def answer(text: str, thinking: str = "") -> AssistantMessageDone:
    thoughts = (ThinkingContent(thinking=thinking, signature="x"),) if thinking else ()
    content = (*thoughts, TextContent(text=text))
    return AssistantMessageDone(message=AssistantMessage(content=content, stop_reason="end_turn"))


USAGE = Usage(input_tokens=12_000, output_tokens=410)
BEFORE = b"def total(cart):\n    goods = subtotal(cart)\n    return goods + delivery(goods)\n"
AFTER = (
    b"def total(cart):\n    if not cart.lines:\n        return 0\n    goods = subtotal(cart)\n"
    b"    return goods + delivery(goods)\n"
)
CHANGE = file_change("shop/order.py", BEFORE, AFTER)
SESSION: list[AgentEvent] = [
    TurnStarted(prompt=(TextContent(text="Why does an empty cart cost 4.90? Fix it."),)),
    answer("I'll read the code first."),
    *call("1", "list_files", "shop/\n  cart.py\n  order.py", path="."),
    *call("2", "read_file", "1 def total(cart): …", path="shop/order.py"),
    answer("`total` adds delivery to every cart:\n\n- an empty one **included**\n- free from 50.00 on"),
    *call("3", "edit_file", "edited", seconds=0.5, path="shop/order.py", details=CHANGE),
    FileChanged(path=CHANGE.path, before=CHANGE.before_hash, after=CHANGE.after_hash, call_id="3"),
    *call(
        "4",
        "run_command",
        "FAILED (failures=1)\n[exit 1]",
        seconds=1.25,
        error=True,
        command="python3 -m unittest",
    ),
    UsageUpdated(usage=USAGE, turn=USAGE, step=4),
    answer("Done.\n\n| what | state |\n|---|---|\n| empty cart | fixed |\n\n```python\nreturn 0\n```"),
    TurnEnded(stop_reason="end_turn"),
]
COLOURFUL: list[AgentEvent] = [
    *SESSION[:-2],
    answer(
        "# One\n\n## Two\n\n> a quotation with `code`, *emphasis* and ~~no~~\n\n1. first\n2. second\n\n---\n"
        "\n"
        "A [link](https://example.org) and a table:\n\n| what | state |\n|---|---|\n| empty | fixed |\n\n"
        '```python\n@cache\nclass Cart:  # what is bought\n    """Lines."""\n    total: int = 490\n'
        '    def name(self): return f"{self!r}" or None\n```\n\n```diff\n- old\n+ new\n```',
        "First look, then act.",
    ),
    TurnEnded(stop_reason="error", error="The server is overloaded.", hint="Try again later."),
]
