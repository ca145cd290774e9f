"""The prompts of a session that are still part of its conversation: where one can go back to. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tui_agent.agent.events import FLEETING, AgentEvent, HistoryRewritten
from tui_agent.agent.history import History


@dataclass(frozen=True)
class Asked:
    """A prompt: its words without what they attached, its turn's number, and the message it stands in."""

    text: str
    turn: int
    start: int


class Prompts:
    """A fold of events. `all` are the prompts, oldest first; those that a summary stands for are none."""

    def __init__(self) -> None:
        self.all: list[Asked] = []
        self.turn = 0
        self._history = History()

    def apply(self, event: AgentEvent) -> Asked | None:
        """Take in one event; returns the earliest prompt that it took back, with all that came after it."""
        if event.type in FLEETING:
            return None
        if event.type == "history_rewritten":
            return self._rewritten(event)
        self._history.apply(event)
        if event.type == "turn_started":
            self.turn += 1
            if event.prompt:
                words = event.prompt[0]
                text = words.text if words.type == "text" else "[image]"
                self.all.append(Asked(text, self.turn, self._history.length - 1))
        return None

    def _rewritten(self, event: HistoryRewritten) -> Asked | None:
        before = self._history.length
        self._history.apply(event)
        after = self._history.length
        if event.messages is None:
            back = [one for one in self.all if one.start >= after]
            del self.all[len(self.all) - len(back) :]
            return back[0] if back else None
        if after != before:  # a summary in the place of all but the newest messages
            moved = (replace(one, start=one.start - (before - after)) for one in self.all)
            self.all = [one for one in moved if one.start > 0]
        return None


def asked(events: Iterable[AgentEvent]) -> list[Asked]:
    """The prompts that one can go back to, oldest first."""
    prompts = Prompts()
    for event in events:
        prompts.apply(event)
    return prompts.all


def remaining(events: Iterable[AgentEvent]) -> list[AgentEvent]:
    """The events without what was taken back out of the conversation."""
    prompts, starts, kept = Prompts(), dict[int, int](), list[AgentEvent]()
    for event in events:
        back = prompts.apply(event)
        if back is not None:
            del kept[starts[back.turn] :]
        elif event.type == "turn_started":
            starts[prompts.turn] = len(kept)
        kept.append(event)
    return kept
