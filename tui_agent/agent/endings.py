"""How a reply ended, and what follows: the one table of the three bounded exceptions.

The calls of a reply are run only if its stop reason is `tool_use`. Every other reason ends the turn,
unless its ending is in `AGAIN`.
"""

from __future__ import annotations

from tui_agent.agent.messages import AssistantMessage, TextContent, ThinkingContent

AGAIN: dict[str, tuple[int, str]] = {
    "paused": (5, ""),  # the provider wants its own reply back as it is
    "cut": (2, ""),  # a call was cut by the output limit; its answer says what to do
    "empty": (1, "Your reply had neither text nor a call. Answer the user, or call a tool."),
}
"""Endings that go on: how often in a turn, and what the model is told. Each counts as a step."""

CUT = "not run: the reply was cut by the output limit, nothing ran; write in smaller parts"


def ending_of(reply: AssistantMessage) -> str:
    """A key of `AGAIN`, or `called` (calls of a reply that must not run) or `said`."""
    if reply.stop_reason == "pause_turn":
        return "paused"
    if reply.calls:
        return "cut" if reply.stop_reason in ("max_tokens", "model_context_window_exceeded") else "called"
    silent = all(isinstance(block, ThinkingContent | TextContent) for block in reply.content)
    if reply.stop_reason in ("end_turn", "tool_use") and silent and not reply.text.strip():
        return "empty"
    return "said"


def why_not_run(reply: AssistantMessage) -> str:
    """What the calls of a reply that must not run are answered with."""
    if ending_of(reply) == "cut":
        return CUT
    return f"not run: the reply ended with {reply.stop_reason or 'no stop reason'}"
