"""What the status line says, as a fold of the run's events. Pure: no widget, no clock of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tui_agent.text import size_text

if TYPE_CHECKING:
    from tui_agent.agent import AgentEvent

OWN = "!"
"""The name of the person's own commands, which are no part of a turn."""
QUIET = 10.0
"""Seconds without an event after which a run is called waiting."""
SHORTENING = "shortening the conversation"
ASKING = "waiting for your answer"
NEARLY_FULL = 0.8
"""Share of the window from which the person is told what to do."""


@dataclass
class Status:
    """`doing` is the present activity in words, empty when idle; `heard` is when the last event came.

    `tokens` fill the model's `window` now; `turn_tokens` and `session_tokens` were used by requests so far.
    """

    mode: str
    model: str = ""
    place: str = ""
    label: str = ""
    max_steps: int = 30
    step: int = 0
    tokens: int = 0
    window: int | None = None
    turn_tokens: int = 0
    session_tokens: int = 0
    warned: bool = False
    doing: str = ""
    running: dict[str, str] = field(default_factory=dict)
    retry_at: float | None = None
    began: float | None = None
    heard: float = 0.0
    stopping: bool = False
    opening: bool = True
    queued: int = 0

    def apply(self, event: AgentEvent, now: float) -> bool:
        """Take in one event; returns whether the line reads otherwise now."""
        before = (self.doing, self.step, self.tokens, self.session_tokens, self.retry_at, self.began)
        if self.retry_at is not None and event.type != "retrying":
            self.retry_at = None
        self.heard = now
        match event.type:
            case "turn_started":
                self.began, self.step, self.doing, self.stopping = now, 1, "thinking", False
            case "text_delta":
                self.doing = "answering"
            case "thinking_delta":
                self.doing = "thinking"
            case "approval_decided":
                name = self.running.get(event.call_id) if event.decision == "allow" else None
                self.doing = f"running {name}" if name else "thinking"
            case "tool_call_progress":
                self.doing = f"writing {event.subject or event.name} {size_text(event.bytes)}"
            case "approval_requested":
                self.doing = ASKING
            case "tool_call_started" if event.call.name != OWN:
                self.running[event.call.id] = event.call.name
                self.doing = f"running {event.call.name}"
            case "tool_call_finished" if event.result.tool_name != OWN:
                self.running.pop(event.result.tool_call_id, None)
                self.doing = "thinking"
            case "retrying":
                self.doing, self.retry_at = event.error, now + event.delay
            case "usage_updated":
                self.session_tokens += event.usage.context_tokens
                if event.step:
                    self.step, self.tokens = event.step, event.usage.context_tokens
                    self.turn_tokens = event.turn.context_tokens
            case "compacting":
                self.doing = "thinking" if event.over else SHORTENING
            case "compacted":
                self.tokens = event.after
            case "turn_ended":
                self.running.clear()
                self.began, self.doing, self.stopping = None, _ending(event.stop_reason), False
            case _:
                pass
        return before != (self.doing, self.step, self.tokens, self.session_tokens, self.retry_at, self.began)

    def warning(self) -> str:
        """What the person should do about a window that is nearly full; said once each time it gets so."""
        full = self.window is not None and self.tokens >= self.window * NEARLY_FULL
        due, self.warned = full and not self.warned, full
        if not due:
            return ""
        return (
            f"The conversation fills {share(self.tokens, self.window or 1)} of the model's window. "
            "/compact makes it short, /context shows what fills it; soon it is shortened by itself."
        )

    def activity(self, now: float) -> str:
        """The activity at this moment, with what counts down or up."""
        if self.stopping:
            waiting = ", ".join(self.running.values())
            return f"stopping: waiting for {waiting}" if waiting else "stopping"
        if self.retry_at is not None:
            return f"retry in {max(0, round(self.retry_at - now))} s: {self.doing}"
        if self.began is None:
            return "starting" if self.opening else self.doing
        if now - self.heard >= QUIET and not self.running and self.doing not in (ASKING, SHORTENING):
            return f"waiting for the model, {int(now - self.heard)} s"
        seconds = int(now - self.began)
        return f"{self.doing}, {seconds} s" if seconds >= 2 else self.doing


def _ending(stop_reason: str) -> str:
    words = {"cancelled": "stopped", "step_limit": "step limit", "stuck": "stuck", "error": "error"}
    return words.get(stop_reason, "")


def share(tokens: int, window: int) -> str:
    """`12 %`, `<1 %`."""
    return "<1 %" if 0 < tokens < window / 100 else f"{round(100 * tokens / window)} %"


def thousands(count: int) -> str:
    """A count for the eye: `812`, `3.4k`, `120k`, `1M`."""
    if count < 1000:
        return str(count)
    if count >= 1_000_000:
        return f"{count / 1_000_000:.1f}M".replace(".0M", "M")
    return f"{count / 1000:.1f}k" if count < 100_000 else f"{count // 1000}k"
