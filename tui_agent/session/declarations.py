"""A session goes on with the declarations it began with, also in a newer version of the program.

Models that check their earlier thinking refuse a conversation whose tools read differently now.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from tui_agent.agent import AgentTool, CancelSignal, SessionStarted, Tool, ToolError


def declared(tool: Tool) -> dict[str, Any]:
    """What the model is told about `tool`, as a session stores it."""
    plain = tool.declaration()
    return {"name": plain.name, "description": plain.description, "parameters": plain.parameters}


def as_declared(tools: Sequence[AgentTool], started: SessionStarted) -> list[AgentTool]:
    """`tools` as they were declared when the session started, in that order."""
    present = {tool.name: tool for tool in tools}
    return [_known(present.get(stored["name"]), stored) for stored in started.tools]


def _known(tool: AgentTool | None, stored: dict[str, Any]) -> AgentTool:
    if tool is None:
        return AgentTool(**stored, execute=_gone, kind="read")
    if declared(tool) == stored:
        return tool
    known = copy.copy(tool)
    known.declaration = lambda: Tool(**copy.deepcopy(stored))  # type: ignore[method-assign]
    return known


def _gone(parameters: Any, signal: CancelSignal) -> str:
    raise ToolError("this version of the program does not have this tool any more; nothing ran")
