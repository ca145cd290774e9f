"""One exchange with the model: the conversation goes out, a whole reply comes back, or an error.

The stream is raced against the signal. A request that the API refuses for a known cause is sent once more
with a new prefix (`rewrites.py`); what can't fit the window is not sent at all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from dataclasses import dataclass, field
from typing import Any

from tui_agent.agent.calling import contained
from tui_agent.agent.cancel import CancelSignal
from tui_agent.agent.errors import Cancelled, ModelError
from tui_agent.agent.events import AgentEvent, AssistantMessageDone, HistoryRewritten
from tui_agent.agent.history import History
from tui_agent.agent.messages import AssistantMessage, TextContent
from tui_agent.agent.model import (
    MessageDone,
    Model,
    ModelRequest,
    Retrying,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
)
from tui_agent.agent.rewrites import REWRITES
from tui_agent.agent.tokens import filled_tokens
from tui_agent.agent.tool import Tool
from tui_agent.agent.writing import Writing

Shorten = Callable[[History, CancelSignal], Awaitable[Sequence[AgentEvent]]]
"""The host's way to make a history shorter: the events that do it."""
NEARLY_FULL = 0.85
"""Share of the window from which the history is shortened before it is sent."""
SHORTENED = 2
"""Times in a row that may happen."""


@dataclass
class Exchange:
    """`commit` takes an event into the history, then tells it. `window`: the model's, in tokens, if known."""

    history: History
    model: Model
    system: str
    tools: tuple[Tool, ...]
    signal: CancelSignal
    commit: Callable[[AgentEvent], Awaitable[None]]
    tell: Callable[[AgentEvent], Awaitable[None]]
    window: int | None = None
    shorten: Shorten | None = None
    _tried: set[str] = field(default_factory=set)

    async def reply(self) -> AssistantMessage:
        """The whole reply. Raises `ModelError`, or `Cancelled` with what had come kept in the history."""
        await self._make_room()
        while True:
            try:
                return await self._send()
            except ModelError as error:
                await self._rewrite(error)

    async def _make_room(self) -> None:
        """Shorten what nearly fills the window; don't send what can't fit."""
        if self.window is None:
            return
        for _ in range(SHORTENED):
            if self.shorten is None or self._filled < self.window * NEARLY_FULL:
                break
            for event in await self.shorten(self.history, self.signal):
                await self.commit(event)
        filled = self._filled
        if filled >= self.window:
            raise ModelError(
                f"the conversation fills the model's window ({filled:,} of {self.window:,} tokens)",
                kind="context_full",
                hint="Shorten it with /compact, go back with /rewind, or start a new session.",
            )

    @property
    def _filled(self) -> int:
        return filled_tokens(self.system, self.tools, self.history.messages)

    async def _send(self) -> AssistantMessage:
        messages = self.history.messages
        if faults := self.history.faults():
            raise ModelError(f"the conversation can't be sent: {faults[0]}", hint="Start a new session.")
        request = ModelRequest(system=self.system, tools=self.tools, messages=messages)
        heard: list[str] = []
        try:
            return await self.signal.race(contained(self._listen(request, heard)))
        except (Cancelled, asyncio.CancelledError):
            text = "".join(heard)
            if text.strip():
                cut = AssistantMessage(content=(TextContent(text=text),))
                await self.commit(AssistantMessageDone(message=cut))
            raise

    async def _listen(self, request: ModelRequest, heard: list[str]) -> AssistantMessage:
        """Tell the stream's events. `heard` collects the text, for the case that it is cut."""
        reply: AssistantMessage | None = None
        writing: dict[str, Writing] = {}
        stream: Any = self.model.stream(request)
        closing: AbstractAsyncContextManager[Any] = (
            aclosing(stream) if hasattr(stream, "aclose") else nullcontext(stream)
        )
        async with closing:
            async for event in stream:
                self.signal.raise_if_cancelled()  # a stream that never waits can't be raced
                match event:
                    case TextDelta(text=text):
                        heard.append(text)
                        await self.tell(event)
                    case ToolCallDelta():
                        progress = writing.setdefault(event.call_id, Writing()).progress(event)
                        if progress is not None:
                            await self.tell(progress)
                    case Retrying():
                        heard.clear()
                        await self.tell(event)
                    case ThinkingDelta():
                        await self.tell(event)
                    case MessageDone(message=message):
                        reply = message
        if reply is None:
            raise ModelError("the reply ended early", kind="interrupted", hint="Send the prompt again.")
        return reply

    async def _rewrite(self, error: ModelError) -> None:
        """Make a new prefix that the API will take, once for each cause, or raise the error."""
        if error.kind not in REWRITES or error.kind in self._tried:
            raise error
        self._tried.add(error.kind)
        reason, rewrite = REWRITES[error.kind]
        messages = rewrite(self.history.messages)
        if messages is None:
            raise error
        await self.commit(HistoryRewritten(reason=reason, dropped=0, messages=messages))
