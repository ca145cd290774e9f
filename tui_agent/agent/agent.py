"""An agent: a model, tools, a gate and the conversation that it owns. One turn at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tui_agent.agent.cancel import CancelSignal
from tui_agent.agent.events import AgentEvent, Emit, HistoryRewritten, NoteAdded, TurnEnded, TurnStarted
from tui_agent.agent.exchange import Shorten
from tui_agent.agent.gate import Gate
from tui_agent.agent.history import History
from tui_agent.agent.loop import Turn
from tui_agent.agent.messages import (
    AssistantMessage,
    Message,
    Prompt,
    ToolResultMessage,
    UserMessage,
    blocks_of,
)
from tui_agent.agent.model import Model
from tui_agent.agent.tool import AgentTool


class Agent:
    """`messages` may be an earlier conversation, or a `History` that a session gave back.

    `window` is the model's, in tokens, if known, and `shorten` makes room in it; `max_tokens_total` bounds
    what one prompt may use.

    `prompt` and `go_on` never raise for a model, a tool or a cancel: what happened is in the `TurnEnded`
    that they return and that `emit` got last. A second turn while one is on raises `RuntimeError`.
    """

    def __init__(
        self,
        *,
        model: Model,
        tools: Sequence[AgentTool] = (),
        system: str = "",
        gate: Gate | None = None,
        max_steps: int = 30,
        max_tokens_total: int | None = None,
        window: int | None = None,
        shorten: Shorten | None = None,
        messages: Iterable[Message] | History = (),
    ) -> None:
        names = [tool.name for tool in tools]
        if len(names) != len(set(names)):
            raise ValueError(f"two tools have one name: {', '.join(sorted(names))}")
        self.model = model
        self.tools = tuple(tools)
        self.system = system
        self.gate = gate
        self.max_steps = max_steps
        self.max_tokens_total = max_tokens_total
        self.window = window
        self.shorten = shorten
        self.history = messages if isinstance(messages, History) else History(messages)
        self._inbox: list[NoteAdded] = []
        self._untold: list[AgentEvent] = []
        self._signals: dict[str, CancelSignal] = {}
        self._running = False

    @property
    def messages(self) -> tuple[Message, ...]:
        """The history: valid for the next request at any instant."""
        return self.history.messages

    @property
    def running(self) -> bool:
        """Is a turn on?"""
        return self._running

    async def prompt(
        self, content: Prompt, *, signal: CancelSignal | None = None, emit: Emit | None = None
    ) -> TurnEnded:
        """Run one turn on the user's words."""
        return await self._run(TurnStarted(prompt=blocks_of(content)), signal, emit)

    async def go_on(self, *, signal: CancelSignal | None = None, emit: Emit | None = None) -> TurnEnded:
        """Run on without a new prompt, after a step limit or an error."""
        if not self._inbox and self.messages and isinstance(self.messages[-1], AssistantMessage):
            self.note("Go on.")
        return await self._run(TurnStarted(), signal, emit)

    def steer(self, content: Prompt) -> NoteAdded:
        """The user's words for the next user message: the rest of a running batch is left for them.

        Until `emit` gets the note that is returned, `unsteer` takes the words back.
        """
        note = NoteAdded(content=blocks_of(content), by="user")
        self._inbox.append(note)
        return note

    def unsteer(self, note: NoteAdded) -> bool:
        """Take words back that were not delivered; False if they were."""
        for place, waiting in enumerate(self._inbox):
            if waiting is note:
                del self._inbox[place]
                return True
        return False

    def note(self, text: str) -> None:
        """Words of the host's (a mode changed, a change was undone), delivered with the next user message."""
        self._inbox.append(NoteAdded(content=blocks_of(text)))

    def stop_call(self, call_id: str, reason: str = "user") -> bool:
        """Stop that call only; the turn goes on. False if it isn't open."""
        signal = self._signals.get(call_id)
        if signal is not None:
            signal.cancel(reason)
        return signal is not None

    def take_back(self) -> UserMessage | None:
        """Drop the last exchange; its prompt is returned. The host is told at the next turn's start."""
        if self._running:
            raise RuntimeError("a turn is running: cancel it first")
        exchange = self.history.last_exchange()
        if exchange is None:
            return None
        message, dropped = exchange
        self.rewrite(HistoryRewritten(reason="taken back", dropped=dropped))
        words = tuple(block for block in message.content if not isinstance(block, ToolResultMessage))
        return UserMessage(content=words)

    def rewrite(self, event: HistoryRewritten) -> None:
        """Take a new prefix in between turns."""
        self.history.apply(event)
        self._untold.append(event)

    async def _run(self, start: TurnStarted, signal: CancelSignal | None, emit: Emit | None) -> TurnEnded:
        if self._running:
            raise RuntimeError("a turn is running: steer it, or wait for its end")
        self._running = True
        try:
            while self._untold and emit is not None:
                await emit(self._untold.pop(0))
            turn = Turn(
                self.history,
                model=self.model,
                tools=self.tools,
                system=self.system,
                signal=signal or CancelSignal(),
                gate=self.gate,
                emit=emit,
                max_steps=self.max_steps,
                max_tokens_total=self.max_tokens_total,
                window=self.window,
                shorten=self.shorten,
                inbox=self._inbox,
                signals=self._signals,
            )
            return await turn.run(start)
        finally:
            self._running = False
