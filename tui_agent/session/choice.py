"""Which model a session has, as its events tell it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tui_agent.agent.events import AgentEvent, HistoryRewritten, ModelChosen
from tui_agent.agent.messages import Message
from tui_agent.agent.rewrites import without_thinking
from tui_agent.settings import Settings


def choice_of(settings: Settings) -> ModelChosen:
    return ModelChosen(model=settings.model, effort=settings.effort, thinking=settings.thinking)


def last_choice(events: Iterable[AgentEvent], otherwise: ModelChosen) -> ModelChosen:
    """What was chosen last, or else the model that the session began with; `otherwise` where none is told."""
    choice = otherwise
    for event in events:
        if event.type == "session_started":
            choice = otherwise.model_copy(update={"model": event.model})
        elif event.type == "model_chosen":
            choice = event
    return choice


def given(settings: Settings, choice: ModelChosen) -> Settings:
    return replace(
        settings, model=choice.model, effort=choice.effort, thinking=choice.thinking, model_named=False
    )


def changed(before: ModelChosen, after: ModelChosen, messages: Sequence[Message]) -> list[AgentEvent]:
    """The events of a change. Signatures of one model mean nothing to another one: earlier thinking goes."""
    if after == before:
        return []
    events: list[AgentEvent] = [after]
    if (before.model, before.thinking) != (after.model, after.thinking):
        lean = without_thinking(messages)
        if lean is not None:
            reason = "the model or its thinking changed, so earlier thinking was left out"
            events.append(HistoryRewritten(reason=reason, dropped=0, messages=lean))
    return events
