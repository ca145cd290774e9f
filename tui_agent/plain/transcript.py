"""The events of a run as text to append. Pure: a fold of events, each giving what it adds."""

from __future__ import annotations

from collections.abc import Sequence

from tui_agent.agent import AgentEvent, ToolResultMessage
from tui_agent.session.prompts import remaining
from tui_agent.text import one_line, plural, visible

TAIL = 10
"""Lines of a command's output that are shown; the session has all of them."""
_ERROR = 2000
"""Characters of a failure that are shown."""

_ENDINGS = {
    "cancelled": "Stopped.",
    "refusal": "The model declined to answer.",
    "max_tokens": "The answer was cut at the output limit. /continue has the rest.",
    "model_context_window_exceeded": "The model's window is full. Begin another session.",
    "step_limit": "The step limit is reached. /continue goes on.",
    "stuck": "Stopped: the model went in circles.",
}


class Transcript:
    def __init__(self) -> None:
        self._streaming = False
        self._commands: set[str] = set()

    def take(self, event: AgentEvent) -> str:
        """What `event` adds to the text."""
        match event.type:
            case "text_delta":
                begun, self._streaming = self._streaming, True
                return ("" if begun else "\n") + visible(event.text)
            case "assistant_message_done":
                text = self._stop()
                return text or (f"\n{visible(event.message.text)}\n" if event.message.text.strip() else "")
            case "tool_call_started":
                if event.kind == "execute":
                    self._commands.add(event.call.id)
                return f"{self._stop()}[call] {one_line(event.title or event.call.name)}\n"
            case "tool_call_finished":
                return self._finished(event.result, event.seconds)
            case "retrying":
                return f"{self._stop()}{visible(event.error)} Trying again in {event.delay:.0f} s.\n"
            case "compacting" if not event.over:
                return f"{self._stop()}(Shortening the conversation …)\n"
            case "history_rewritten":
                return f"{self._stop()}({visible(event.reason)})\n"
            case "turn_ended":
                return self._stop() + _ending(event.stop_reason, event.error, event.hint)
        return ""

    def _stop(self) -> str:
        """The end of text that streamed."""
        streaming, self._streaming = self._streaming, False
        return "\n" if streaming else ""

    def _finished(self, result: ToolResultMessage, seconds: float) -> str:
        text = visible(result.text).strip("\n")
        took = f"{seconds:.1f} s"
        if result.is_error:
            left_out = len(text) - _ERROR
            more = f"\n  (and {plural(left_out, 'more character')})" if left_out > 0 else ""
            return f"[failed, {took}]\n{_indented(text[:_ERROR].splitlines())}{more}\n"
        if result.tool_call_id not in self._commands:
            return f"[done, {plural(len(text), 'character')}, {took}]\n"
        lines = text.split("\n")
        above = [f"({plural(len(lines) - TAIL, 'line')} above)"] if len(lines) > TAIL else []
        return f"[done, {took}]\n{_indented([*above, *lines[-TAIL:]])}\n"


def last_exchange(events: Sequence[AgentEvent]) -> str:
    """How a continued session ended: its last prompt and its last words."""
    events = remaining(events)
    prompts = [event.prompt for event in events if event.type == "turn_started" and event.prompt]
    answers = [event.message.text for event in events if event.type == "assistant_message_done"]
    parts = [f"Continuing after {plural(len(prompts), 'prompt')}."] if prompts else []
    if prompts and prompts[-1][0].type == "text":
        parts.append(f"You said: {visible(prompts[-1][0].text)}")
    if answers and answers[-1].strip():
        parts.append(f"The answer was:\n{visible(answers[-1])}")
    return "\n".join(parts)


def _ending(stop_reason: str, error: str | None, hint: str | None) -> str:
    if error:
        return f"[error] {visible(error)}{f' {visible(hint)}' if hint else ''}\n"
    return f"[{_ENDINGS[stop_reason]}]\n" if stop_reason in _ENDINGS else ""


def _indented(lines: Sequence[str]) -> str:
    return "\n".join(f"  {line}" for line in lines)
