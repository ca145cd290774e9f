"""Who decided what, of this run and of what a session stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from tui_agent.agent.events import AgentEvent, ToolCallStarted
from tui_agent.agent.gate import By


@dataclass(frozen=True)
class Decided:
    """A line of the log. Without a `rule` or `mode` it comes from a session that didn't store them."""

    call_id: str
    tool: str
    title: str
    decision: Literal["allow", "deny"]
    by: By
    rule: str = ""
    mode: str = ""

    @property
    def who(self) -> str:
        match self.by:
            case "user":
                return "you"
            case "rule":
                return self.rule or "a rule"
            case "mode":
                return f"{self.mode} mode" if self.mode else "the mode"

    @property
    def source(self) -> str:
        """The rule or the mode, as it is stored."""
        return {"user": "", "rule": self.rule, "mode": self.mode}[self.by]


def decided_in(events: Iterable[AgentEvent]) -> Iterator[Decided]:
    """The log of a stored session."""
    calls: dict[str, ToolCallStarted] = {}
    for event in events:
        if event.type == "tool_call_started":
            calls[event.call.id] = event
        elif event.type == "approval_decided" and (asked := calls.get(event.call_id)):
            rule = event.source if event.by == "rule" else ""
            mode = event.source if event.by == "mode" else ""
            title = event.title or asked.title
            yield Decided(event.call_id, asked.call.name, title, event.decision, event.by, rule, mode)
