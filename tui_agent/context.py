"""What the model is given, as the person steers it: how much of its window is filled, a shorter
conversation, an earlier point of it, another model.

Everything that makes a new prefix, or drops the tail, is a `HistoryRewritten` that is stored and shown at
once. None of it may be done while a turn is running.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from tui_agent.agent import Agent, AgentEvent, CancelSignal, HistoryRewritten, Model, ModelError, UserMessage
from tui_agent.agent.events import Emit
from tui_agent.models.catalogue import ModelInfo
from tui_agent.parts import model_for
from tui_agent.session.choice import changed, choice_of
from tui_agent.session.compaction import Compactor, Patient
from tui_agent.session.contents import Contents, contents_of
from tui_agent.session.prompts import Asked, asked
from tui_agent.settings import Settings


class Context:
    """`events` are all of the session so far, `changed` tells the state of its files, `notify` a person."""

    def __init__(
        self,
        agent: Agent,
        settings: Settings,
        events: Iterable[AgentEvent],
        emit: Emit,
        changed: Callable[[], Sequence[str]],
        notify: Callable[[str], None],
    ) -> None:
        self._agent = agent
        self.settings = settings
        self._events = events
        self._emit = emit
        self._changed = changed
        self._notify = notify
        self._compactor = self._compactor_for(agent.model)

    @property
    def window(self) -> int | None:
        """Tokens that the model can take in, once they are known."""
        return self._agent.window

    async def learn_window(self) -> None:
        """Ask the server how much the model can take in; until then the window counts as endless."""
        model = self._agent.model
        if ask := getattr(model, "window", None):
            window: int = await ask()
            if model is self._agent.model:
                self._agent.window = window

    def contents(self) -> Contents:
        agent = self._agent
        return contents_of(agent.system, agent.tools, agent.messages, agent.window)

    async def compact(self, focus: str = "", signal: CancelSignal | None = None) -> None:
        """Shorten the conversation to a summary and its newest messages. Raises `ModelError`, `Cancelled`."""
        self._check_idle()
        for event in await self._compactor(self._agent.history, signal or CancelSignal(), focus):
            await self._take(event)

    def prompts(self) -> list[Asked]:
        """The prompts that one can go back to, oldest first."""
        return asked(self._events)

    async def rewind(self, to: Asked) -> None:
        """Drop the prompt `to` and all that came after it from the conversation. Files stay as they are."""
        self._check_idle()
        messages = self._agent.messages
        if to.start >= len(messages) or not isinstance(messages[to.start], UserMessage):
            raise ValueError("this prompt is no longer part of the conversation")
        dropped = len(messages) - to.start
        first = to.text.strip().partition("\n")[0]
        await self._take(HistoryRewritten(reason=f"went back to before: {first[:200]}", dropped=dropped))

    async def models(self) -> tuple[ModelInfo, ...]:
        """The models that the server offers; none if it has no list."""
        if list_models := getattr(self._agent.model, "list_models", None):
            with suppress(ModelError):
                listed: tuple[ModelInfo, ...] = await list_models()
                return listed
        return ()

    async def use(self, settings: Settings) -> None:
        """Another model, effort or thinking from the next request on; system and tools stay as they are.

        The session keeps the choice, and goes on with it when it is resumed.
        """
        self._check_idle()
        before, self.settings = choice_of(self.settings), settings
        old, self._agent.model = self._agent.model, model_for(settings)
        if before.model != settings.model:
            self._agent.window = None
        for event in changed(before, choice_of(settings), self._agent.messages):
            await self._take(event)
        self._compactor = self._compactor_for(self._agent.model)
        if close := getattr(old, "close", None):
            await close()

    def _compactor_for(self, model: Model) -> Compactor:
        agent = self._agent
        declarations = tuple(tool.declaration() for tool in agent.tools)
        compactor = Compactor(model, agent.system, declarations, self._changed)
        agent.shorten = Patient(compactor, self._emit, self._notify)
        return compactor

    async def _take(self, event: AgentEvent) -> None:
        self._agent.history.apply(event)
        await self._emit(event)

    def _check_idle(self) -> None:
        if self._agent.running:
            raise RuntimeError("a turn is running: stop it first")
