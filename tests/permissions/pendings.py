"""Calls that wait for a decision, as the agent's loop makes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from tui_agent.agent import AgentTool, CancelSignal, Pending, Proposal, ToolCall
from tui_agent.agent.tool import Kind

KINDS: dict[str, Kind] = {
    "read_file": "read",
    "list_files": "read",
    "search_files": "read",
    "write_file": "write",
    "edit_file": "write",
    "run_command": "execute",
}
_SCHEMA = {"type": "object"}


class Shown(BaseModel):
    """Details as a tool gives them."""

    text: str = ""
    facts: tuple[str, ...] = ()


class PreparingTool(AgentTool):
    """A tool that prepares, as all of ours do."""

    def prepare(self, parameters: Any, signal: CancelSignal) -> Proposal:
        raise NotImplementedError


async def _nothing(signal: CancelSignal) -> str:
    return ""


def pending(
    tool: str, *targets: str, kind: Kind | None = None, facts: Sequence[str] = (), call_id: str = "c1"
) -> Pending:
    """A call of `tool` about `targets`."""
    kind = kind or KINDS[tool]
    agent_tool = PreparingTool(tool, "", _SCHEMA, execute=lambda parameters, signal: "", kind=kind)

    def amend(details: BaseModel) -> Proposal:
        text = details.text if isinstance(details, Shown) else ""
        changed = (text,) if kind == "execute" else targets
        return replace(proposal, targets=changed, details=details)

    details = Shown(text=" ".join(targets), facts=tuple(facts))
    proposal = Proposal(f"{tool} {' '.join(targets)}", kind, targets, details, _nothing, amend)
    arguments = {"command": targets[0]} if tool == "run_command" else {"path": list(targets)}
    return Pending(ToolCall(call_id, tool, arguments), agent_tool, proposal)
