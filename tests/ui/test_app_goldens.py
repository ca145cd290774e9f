"""The main screen as a contract: a mixed session at three sizes. `GOLDENS=write` writes them anew."""

from __future__ import annotations

from typing import Any

import pytest
from app_host import Host, until
from grid import golden, grid

from tui_agent.agent import (
    AgentEvent,
    ApprovalDecided,
    AssistantMessage,
    AssistantMessageDone,
    FileChanged,
    TextContent,
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

SIZES = [(120, 40), (80, 24), (60, 20)]


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


def answer(text: str) -> AssistantMessageDone:
    return AssistantMessageDone(
        message=AssistantMessage(content=(TextContent(text=text),), stop_reason="end_turn")
    )


USAGE = Usage(input_tokens=12_000, output_tokens=410)
CHANGE = file_change(
    "shop/order.py",
    b"def total(cart):\n    goods = subtotal(cart)\n    return goods + delivery(goods)\n",
    b"def total(cart):\n    if not cart.lines:\n        return 0\n    goods = subtotal(cart)\n"
    b"    return goods + delivery(goods)\n",
)
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


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("pane", ["conversation", "tool_log", "changes"])
async def test_a_mixed_session(size: tuple[int, int], pane: str) -> None:
    async with Host(stored=SESSION, resume="last").run_test(size=size) as pilot:
        app = pilot.app
        app.main.prompt.cursor_blink = False
        await until(pilot, lambda: app.main.changes.count == 1 and app.main.tool_log.list.row_count > 3)
        if pane != "conversation":
            await pilot.press({"tool_log": "f3", "changes": "f4"}[pane])
        for worker in list(app.workers):
            if worker.group == "diff":
                await worker.wait()
        await pilot.pause(0.2)
        golden(f"main_{pane}_{size[0]}x{size[1]}", grid(app))
