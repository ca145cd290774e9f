"""When a turn goes round in circles: the same call with the same result, or nothing but failures."""

from __future__ import annotations

import json
from collections import Counter

from tui_agent.agent.messages import TextContent, ToolCall, ToolResultMessage

SAME_WARNED = 3
SAME_STUCK = 6
FAILURES_STUCK = 15


class Circles:
    """Sees each result of one turn. `stuck` says why the turn should end, if it should."""

    def __init__(self) -> None:
        self.stuck: str | None = None
        self._same: Counter[str] = Counter()
        self._failures = 0

    def review(self, call: ToolCall, result: ToolResultMessage) -> ToolResultMessage:
        """The result as the model gets it: with a warning when it has seen the same before."""
        times = self._count(call, result)
        self._failures = self._failures + 1 if result.is_error else 0
        if times >= SAME_STUCK:
            self.stuck = f"{call.name} was called {times} times with the same arguments and the same result"
        elif self._failures >= FAILURES_STUCK:
            self.stuck = f"{self._failures} calls in a row failed"
        if times < SAME_WARNED:
            return result
        warning = (
            f"Note: the same call has now given the same result {times} times. Repeating it will not help; "
            "try another way, or tell the user what is missing."
        )
        return result.model_copy(update={"content": (*result.content, TextContent(text=warning))})

    def _count(self, call: ToolCall, result: ToolResultMessage) -> int:
        arguments = json.dumps(call.arguments, sort_keys=True, default=str)
        key = " ".join(f"{call.name} {arguments} {result.text}".replace("\\n", " ").split())
        self._same[key] += 1
        return self._same[key]
