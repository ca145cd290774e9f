"""The loop: ask the model, run the calls of its reply, answer them all in one message, ask again.

    prompt → request → reply → tool_use? → calls, one by one → results in one user message → request …
                             └ any other stop reason ends the turn, with three bounded exceptions

Everything that changes the conversation is an event: `_commit` takes it into the history and tells the
host. Whatever ends a turn, every call is answered at that moment, and one `TurnEnded` comes last of all.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

from tui_agent.agent.cancel import CancelSignal
from tui_agent.agent.endings import AGAIN, ending_of, why_not_run
from tui_agent.agent.errors import Cancelled, ModelError
from tui_agent.agent.events import (
    AgentEvent,
    AssistantMessageDone,
    Emit,
    HistoryRewritten,
    NoteAdded,
    StepLimitReached,
    ToolCallFinished,
    TurnEnded,
    TurnStarted,
    UsageUpdated,
)
from tui_agent.agent.exchange import Exchange, Shorten
from tui_agent.agent.execution import Execution
from tui_agent.agent.gate import Gate
from tui_agent.agent.history import History, admit
from tui_agent.agent.limits import Circles
from tui_agent.agent.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
    blocks_of,
)
from tui_agent.agent.model import Model
from tui_agent.agent.results import answer, said
from tui_agent.agent.tool import AgentTool


async def run_agent_loop(
    messages: Sequence[Message] | History,
    *,
    model: Model,
    tools: Sequence[AgentTool],
    system: str = "",
    signal: CancelSignal,
    gate: Gate | None = None,
    emit: Emit | None = None,
    max_steps: int = 30,
) -> TurnEnded:
    """Run one turn on a conversation that ends with the user's message. A list is extended in place."""
    history = messages if isinstance(messages, History) else History(messages)
    turn = Turn(
        history,
        model=model,
        tools=tools,
        system=system,
        signal=signal,
        gate=gate,
        emit=emit,
        max_steps=max_steps,
    )
    try:
        return await turn.run()
    finally:
        if isinstance(messages, list):
            messages[:] = history.messages


class Turn:
    """One prompt's way through model and tools.

    `inbox` holds notes and steering messages that the next user message takes along; `signals` the open
    calls, so that one can be stopped alone; `window` is the model's, in tokens, if known, and `shorten` the
    host's way to make room in it.
    """

    def __init__(
        self,
        history: History,
        *,
        model: Model,
        tools: Sequence[AgentTool],
        system: str,
        signal: CancelSignal,
        gate: Gate | None = None,
        emit: Emit | None = None,
        max_steps: int = 30,
        max_tokens_total: int | None = None,
        window: int | None = None,
        shorten: Shorten | None = None,
        inbox: list[NoteAdded] | None = None,
        signals: dict[str, CancelSignal] | None = None,
    ) -> None:
        self.history = history
        self.model = model
        self.tools = tools
        self.declarations = tuple(tool.declaration() for tool in tools)
        self.system = system
        self.signal = signal
        self.gate = gate
        self.max_steps = max_steps
        self.max_tokens_total = max_tokens_total
        self.window = window
        self.shorten = shorten
        self.inbox = [] if inbox is None else inbox
        self.signals = {} if signals is None else signals
        self.usage = Usage()
        self._emit = emit
        self._again: Counter[str] = Counter()
        self._circles = Circles()
        self._replied = False
        self._delivered: list[NoteAdded] = []
        self._before: tuple[Message, ...] = ()

    async def run(self, *opening: AgentEvent) -> TurnEnded:
        """The whole turn; `opening` events (the prompt) come first. Raises only the host's own cancel."""
        self._before = self.history.messages
        try:
            await self._deliver()
            await self._commit(*opening)
            ended = await self._steps()
        except Cancelled:
            ended = self._ended("cancelled")
        except ModelError as error:
            ended = self._ended("error", error.message, error.hint)
        except asyncio.CancelledError:
            await self._end(self._ended("cancelled"), opening)
            raise
        except Exception as error:  # a fault of a model or a host must not leave a turn half open
            ended = self._ended("error", said(error))
        await self._end(ended, opening)
        return ended

    async def _steps(self) -> TurnEnded:
        for step in range(1, self.max_steps + 1):
            self.signal.raise_if_cancelled()
            await self._deliver()
            if not self.history.awaits_reply:
                return self._ended("error", "there is nothing to send: the prompt is empty")
            reply = await self._ask(step)
            ended = await self._take(reply)
            if ended is not None:
                return ended
        await self._commit(StepLimitReached(steps=self.max_steps))
        return self._ended("step_limit")

    async def _ask(self, step: int) -> AssistantMessage:
        """The model's next reply, taken into the history."""
        exchange = Exchange(
            self.history,
            self.model,
            self.system,
            self.declarations,
            self.signal,
            self._commit,
            self._tell,
            self.window,
            self.shorten,
        )
        reply, dropped = admit(await exchange.reply())
        await self._commit(AssistantMessageDone(message=reply))
        for words in dropped:
            await self._commit(NoteAdded(content=blocks_of(words)))
        if reply.usage is not None:
            self.usage = self.usage + reply.usage
            await self._commit(UsageUpdated(usage=reply.usage, turn=self.usage, step=step))
        return reply

    async def _take(self, reply: AssistantMessage) -> TurnEnded | None:
        """Do what a reply asks for. None: go on."""
        if reply.stop_reason == "tool_use" and reply.calls:
            await self._execute(reply.calls)
            return self._limit()
        for call in reply.calls:
            await self._answer(call, why_not_run(reply))
        ending = ending_of(reply)
        times, words = AGAIN.get(ending, (0, ""))
        if self._again[ending] < times:
            self._again[ending] += 1
            if words:
                await self._commit(NoteAdded(content=blocks_of(words)))
            return None
        if reply.stop_reason is None:
            return self._ended("error", "the reply ended without a stop reason; nothing of it was run")
        return self._ended(reply.stop_reason, "the model gave no answer" if ending == "empty" else None)

    async def _execute(self, calls: Sequence[ToolCall]) -> None:
        await Execution(
            self.tools,
            signal=self.signal,
            gate=self.gate,
            emit=self._commit,
            signals=self.signals,
            overtaken=lambda: any(note.by == "user" for note in self.inbox),
            review=self._circles.review,
        ).run(calls)

    def _limit(self) -> TurnEnded | None:
        """Is it enough, between two steps?"""
        if self._circles.stuck:
            return self._ended("stuck", self._circles.stuck)
        spent = self.usage.context_tokens
        if self.max_tokens_total is not None and spent >= self.max_tokens_total:
            words = f"{spent:,} tokens were used, the limit is {self.max_tokens_total:,}"
            return self._ended("step_limit", words)
        return None

    # telling and ending

    async def _commit(self, *events: AgentEvent) -> None:
        """Into the history first, all of them, so that no fault of a listener leaves it half done."""
        for event in events:
            self.history.apply(event)
            self._replied = self._replied or isinstance(event, AssistantMessageDone)
        for event in events:
            await self._tell(event)

    async def _tell(self, event: AgentEvent) -> None:
        if self._emit is not None:
            await self._emit(event)

    async def _deliver(self) -> None:
        while self.inbox:
            note = self.inbox.pop(0)
            self._delivered.append(note)
            await self._commit(note)

    async def _answer(self, call: ToolCall, words: str) -> None:
        await self._commit(ToolCallFinished(result=answer(call, words, is_error=True), seconds=0.0))

    def _ended(self, stop_reason: str, error: str | None = None, hint: str | None = None) -> TurnEnded:
        return TurnEnded(stop_reason=stop_reason, usage=self.usage, error=error, hint=hint or None)

    async def _end(self, ended: TurnEnded, opening: Sequence[AgentEvent]) -> None:
        """Answer what is open, drop a prompt that a cancel left without any reply, say that it is over."""
        words = "not run: the turn ended before it"
        events: list[AgentEvent] = [
            ToolCallFinished(result=answer(call, words, is_error=True), seconds=0.0, skipped=True)
            for call in self.history.open_calls
        ]
        prompted = any(isinstance(event, TurnStarted) and event.prompt for event in opening)
        if ended.stop_reason == "cancelled" and prompted and not self._replied:
            self.inbox[:0] = self._delivered
            events.append(self._without_prompt())
        await self._commit(*events, ended)

    def _without_prompt(self) -> HistoryRewritten:
        """Drop the message with the prompt; words that an earlier turn left unanswered in it stay."""
        last = self._before[-1] if self._before else None
        words = isinstance(last, UserMessage) and not isinstance(last.content[-1], ToolResultMessage)
        return HistoryRewritten(
            reason="cancelled before anything came", dropped=1, messages=self._before if words else None
        )
