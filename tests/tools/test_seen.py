"""What a continued session still knows of files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tui_agent.agent import AgentEvent, CancelSignal, ToolCall, ToolCallFinished, execute_tool_calls
from tui_agent.agent.messages import TextContent, ToolResultMessage
from tui_agent.session.entries import Entry, decode, encode
from tui_agent.tools import Workspace, coding_tools
from tui_agent.tools.seen import seen_in


def stored(event: AgentEvent) -> AgentEvent:
    """As it comes back from a session's file."""
    (entry,) = decode(encode(event).encode())
    assert isinstance(entry, Entry)
    assert entry.event is not None
    return entry.event


async def run(workspace: Workspace, *calls: tuple[str, dict[str, Any]]) -> list[AgentEvent]:
    made = [ToolCall(id=f"c{n}", name=name, arguments=arguments) for n, (name, arguments) in enumerate(calls)]
    results = await execute_tool_calls(made, coding_tools(workspace), signal=CancelSignal())
    return [stored(ToolCallFinished(result=result, seconds=0.0)) for result in results]


async def test_it_knows_what_the_workspace_knew(tmp_path: Path) -> None:
    for name in ("read", "edited", "unread", "listed"):
        (tmp_path / name).write_text("one\n")
    with Workspace(tmp_path) as workspace:
        events = await run(
            workspace,
            ("list_files", {}),
            ("read_file", {"path": "read"}),
            ("read_file", {"path": "edited"}),
            ("edit_file", {"path": "edited", "old": "one", "new": "two"}),
            ("write_file", {"path": "new", "content": "x\n"}),
            ("write_file", {"path": "unread", "content": "nobody approved it\n"}),
            ("read_file", {"path": "missing"}),
        )
        assert seen_in(events) == workspace.seen
        assert set(workspace.seen) == {"read", "edited", "new"}


async def test_an_edit_of_what_was_never_read_makes_nothing_known(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\ntwo\n")
    with Workspace(tmp_path) as workspace:
        events = await run(workspace, ("edit_file", {"path": "a", "old": "one", "new": "1"}))
        assert seen_in(events) == workspace.seen == {}


def test_details_of_another_version_are_passed_over() -> None:
    odd: list[dict[str, Any]] = [
        {"type": "file_read", "path": 3},
        {"type": "file_change"},
        {"type": "new_kind", "path": "a", "hash": "b"},
        {},
    ]
    events = [
        ToolCallFinished(
            result=ToolResultMessage(
                tool_call_id="c", tool_name="t", content=(TextContent(text="x"),), details=details
            ),
            seconds=0.0,
        )
        for details in odd
    ]
    assert seen_in(events) == {}
