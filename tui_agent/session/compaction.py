"""A long conversation made short: one summarising request, then the summary and the newest messages.

The request is the conversation itself with one more message, so that a provider's cache serves its prefix.
The result is a new prefix (`HistoryRewritten`); it counts only if the tokens fell. Nothing is lost: the
session file keeps every event from before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tui_agent.agent.calling import in_thread
from tui_agent.agent.cancel import CancelSignal
from tui_agent.agent.errors import ModelError
from tui_agent.agent.events import AgentEvent, Compacted, Compacting, Emit, HistoryRewritten, UsageUpdated
from tui_agent.agent.history import History
from tui_agent.agent.messages import (
    AssistantMessage,
    ImageContent,
    Message,
    TextContent,
    ToolResultMessage,
    Usage,
    UserMessage,
    blocks_of,
)
from tui_agent.agent.model import MessageDone, Model, ModelRequest
from tui_agent.agent.rewrites import without_bulk, without_thinking
from tui_agent.agent.tokens import estimated_tokens, filled_tokens, overhead_tokens
from tui_agent.agent.tool import Tool

KEPT_SHARE = 0.15
"""Share of the conversation's tokens that the newest messages may keep."""
MORE = 1.05
"""How much longer a conversation must be before a compaction that failed is tried again."""

ASK = """\
The conversation is about to be shortened: only your answer to this message and the newest messages stay.
Write what is needed to go on, in this order, without calling a tool:
1. what the user wants, in their own words where they matter, and what they forbade or preferred;
2. what was done and found, with the exact paths, names, commands and errors that will be needed again;
3. what is decided, what is open, and the next step.
Be complete and brief: no more than 1,500 words."""

HEAD = "The earlier conversation was shortened to this summary, written by you:"


@dataclass(frozen=True)
class Compactor:
    """Shortens histories with `model`.

    `changed` gives the lines that tell the state of changed files; it is called in a thread.
    """

    model: Model
    system: str
    tools: tuple[Tool, ...]
    changed: Callable[[], Sequence[str]] = tuple

    async def __call__(self, history: History, signal: CancelSignal, focus: str = "") -> list[AgentEvent]:
        """The events that make `history` shorter. Raises `ModelError` if it can't be made shorter."""
        messages = history.messages
        if not any(isinstance(message, AssistantMessage) for message in messages):
            raise ModelError("there is nothing to shorten yet", kind="no_summary")
        before = filled_tokens(self.system, self.tools, messages)
        reply = await signal.race(self._summary(messages, focus))
        files = await in_thread(self.changed)
        new = shortened(messages, _opening(reply.text.strip(), files))
        # An estimate, as good as the one of the old messages was: their count is known.
        after = round(self._estimate(new) * before / self._estimate(messages))
        if after >= before:
            raise ModelError(
                f"the summary saved nothing ({before:,} tokens before, {after:,} after)",
                kind="context_full",
                hint="Start a new session, or go back with /rewind.",
            )
        usage = reply.usage or Usage()
        return [
            UsageUpdated(usage=usage, turn=usage, step=0),
            HistoryRewritten(reason="the conversation was summarised", dropped=0, messages=new),
            Compacted(before=before, after=after, summary=reply.text.strip()),
        ]

    def _estimate(self, messages: Sequence[Message]) -> int:
        return overhead_tokens(self.system, self.tools) + estimated_tokens(messages)

    async def _summary(self, messages: Sequence[Message], focus: str) -> AssistantMessage:
        words = f"{ASK}\nThe user asks to keep above all: {focus}" if focus.strip() else ASK
        try:
            return await self._ask(messages, words)
        except ModelError as error:
            lean = without_bulk(messages) if error.kind in ("context_full", "too_large") else None
            if lean is None:
                raise
            return await self._ask(lean, words)

    async def _ask(self, messages: Sequence[Message], words: str) -> AssistantMessage:
        history = History(messages)
        tail = history.messages[-1] if history.messages else None
        more = blocks_of(words)
        if isinstance(tail, UserMessage):
            sent = (*history.messages[:-1], tail.model_copy(update={"content": (*tail.content, *more)}))
        else:
            sent = (*history.messages, UserMessage(content=more))
        reply: AssistantMessage | None = None
        async for event in self.model.stream(ModelRequest(self.system, self.tools, sent)):
            if isinstance(event, MessageDone):
                reply = event.message
        if reply is None or not reply.text.strip():
            raise ModelError(
                "the model wrote no summary", kind="no_summary", hint="Try /compact again, or start anew."
            )
        return reply


def _opening(summary: str, files: Sequence[str]) -> str:
    lines = "\n".join(f"- {line}" for line in files)
    state = f"\n\nFiles changed in this session, as they are now:\n{lines}" if files else ""
    return f"{HEAD}\n\n{summary}{state}"


def shortened(messages: Sequence[Message], opening: str) -> tuple[Message, ...]:
    """`opening` in the place of all but the newest messages, which begin at a prompt or a reply.

    Signatures and counts of the kept messages belonged to the old prefix, so thinking and usage go.
    """
    start = _cut(messages)
    kept = [_without_usage(message) for message in messages[start:]]
    kept = list(without_thinking(kept) or kept)
    head: list[TextContent | ImageContent] = [TextContent(text=opening)]
    if kept and isinstance(kept[0], UserMessage):
        head += [block for block in kept[0].content if not isinstance(block, ToolResultMessage)]
        del kept[0]
    return (UserMessage(content=tuple(head)), *kept)


def _cut(messages: Sequence[Message]) -> int:
    """Where the kept messages begin: as early as their share allows, never between calls and results."""
    budget = estimated_tokens(messages) * KEPT_SHARE
    start, spent = len(messages), 0
    for index in range(len(messages) - 1, 0, -1):
        spent += estimated_tokens([messages[index]])
        if spent > budget:
            break
        message = messages[index]
        if isinstance(message, AssistantMessage) or not any(
            isinstance(block, ToolResultMessage) for block in message.content
        ):
            start = index
    return start


def _without_usage(message: Message) -> Message:
    if isinstance(message, AssistantMessage) and message.usage is not None:
        return message.model_copy(update={"usage": None})
    return message


class Patient:
    """Room made in the middle of a turn: a compaction that fails does not end what still fits.

    That it is on is told; so is, once, why it failed. The next try comes when the conversation has grown by
    `MORE`.
    """

    def __init__(self, compact: Compactor, tell: Emit, notify: Callable[[str], None]) -> None:
        self._compact = compact
        self._tell = tell
        self._notify = notify
        self._failed_at = 0

    async def __call__(self, history: History, signal: CancelSignal) -> list[AgentEvent]:
        compact = self._compact
        filled = filled_tokens(compact.system, compact.tools, history.messages)
        if filled < self._failed_at * MORE:
            return []
        await self._tell(Compacting())
        try:
            return await compact(history, signal)
        except ModelError as error:
            self._failed_at = filled
            self._notify(f"The conversation could not be shortened: {error.message}. {error.hint}".strip())
            return []
        finally:
            await self._tell(Compacting(over=True))
