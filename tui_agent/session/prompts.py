"""The prompts of a session that are still part of its conversation: where one can go back to. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tui_agent.agent.events import AgentEvent
from tui_agent.agent.history import History


@dataclass(frozen=True)
class Asked:
    """A prompt: its words without what they attached, its turn's number, and the message it stands in."""

    text: str
    turn: int
    start: int


def asked(events: Iterable[AgentEvent]) -> list[Asked]:
    """The prompts, oldest first. Those that a summary stands for can't be gone back to."""
    history, found, turn = History(), list[Asked](), 0
    for event in events:
        before = len(history.messages) if event.type == "history_rewritten" else 0
        history.apply(event)
        if event.type == "turn_started":
            turn += 1
            if event.prompt:
                words = event.prompt[0]
                text = words.text if words.type == "text" else "[image]"
                found.append(Asked(text, turn, len(history.messages) - 1))
        elif event.type == "history_rewritten":
            after = len(history.messages)
            if event.messages is None:
                found = [one for one in found if one.start < after]
            elif after != before:  # a summary in the place of all but the newest messages
                moved = (replace(one, start=one.start - (before - after)) for one in found)
                found = [one for one in moved if one.start > 0]
    return found
