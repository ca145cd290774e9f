"""The conversation as the model will see it: a fold of the stored events, acceptable to the API always.

A user message is built in the open: results of the last reply's calls, then notes and prompts. It is
closed by the next reply. At any instant `messages` is valid for the next request: calls that have no
result yet are shown as answered by the fact that they have none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tui_agent.agent.events import (
    AgentEvent,
    AssistantMessageDone,
    HistoryRewritten,
    NoteAdded,
    ToolCallFinished,
    TurnStarted,
)
from tui_agent.agent.messages import (
    AssistantMessage,
    ImageContent,
    Message,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    blocks_of,
)
from tui_agent.agent.results import answer

UNKNOWN = "unknown: the program stopped before this call had a result; it may have run in part"
PLACEHOLDER = "(go on)"


class History:
    """Owns the messages. `History(messages)` takes any list and repairs what the API would refuse."""

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self._closed: list[Message] = []
        self._results: dict[str, ToolResultMessage] = {}
        self._text: list[TextContent | ImageContent] = []
        self._turns: list[int] = []
        self._checked = 0
        for message in messages:
            self._feed(message)

    @classmethod
    def replay(cls, events: Iterable[AgentEvent]) -> History:
        history = cls()
        for event in events:
            history.apply(event)
        return history

    def apply(self, event: AgentEvent) -> None:
        """Take one event in. Those that say nothing about the conversation are passed over."""
        match event:
            case TurnStarted(prompt=prompt) if prompt:
                self._turns.append(len(self._closed))
                self._text += blocks_of(prompt)
            case NoteAdded(content=content):
                self._text += blocks_of(content)
            case AssistantMessageDone(message=message):
                self._reply(message)
            case ToolCallFinished(result=result):
                self._result(result)
            case HistoryRewritten(messages=None, dropped=dropped):
                self._drop(dropped)
            case HistoryRewritten(messages=messages) if messages is not None:
                self.__init__(messages)  # type: ignore[misc]
            case _:
                pass

    @property
    def messages(self) -> tuple[Message, ...]:
        tail = self._tail()
        return (*self._closed, tail) if tail else tuple(self._closed)

    @property
    def length(self) -> int:
        """How many `messages` there are."""
        return len(self._closed) + (self._tail() is not None)

    def faults(self) -> list[str]:
        """What the API would refuse in `messages`; each closed message is looked at once."""
        found = check(self.messages, self._checked)
        if not found:
            self._checked = len(self._closed)
        return found

    @property
    def open_calls(self) -> tuple[ToolCall, ...]:
        """Calls of the last reply that have no result yet."""
        return tuple(call for call in self._calls() if call.id not in self._results)

    @property
    def awaits_reply(self) -> bool:
        """Is there something to send?"""
        return self._tail() is not None or (bool(self._closed) and _paused(self._closed[-1]))

    def last_exchange(self) -> tuple[UserMessage, int] | None:
        """The last prompt's message, and how many messages it and all after it are."""
        messages = self.messages
        if not self._turns or self._turns[-1] >= len(messages):
            return None
        message = messages[self._turns[-1]]
        assert isinstance(message, UserMessage)
        return message, len(messages) - self._turns[-1]

    # how a message grows

    def _calls(self) -> tuple[ToolCall, ...]:
        last = self._closed[-1] if self._closed else None
        return last.calls if isinstance(last, AssistantMessage) else ()

    def _tail(self) -> UserMessage | None:
        results = [
            self._results.get(call.id) or answer(call, UNKNOWN, is_error=True) for call in self._calls()
        ]
        return UserMessage(content=(*results, *self._text)) if results or self._text else None

    def _close(self) -> None:
        tail = self._tail()
        if tail is None and not (self._closed and _paused(self._closed[-1])):
            tail = UserMessage(content=(TextContent(text=PLACEHOLDER),))
        if tail is not None:
            self._closed.append(tail)
        self._results, self._text = {}, []

    def _reply(self, message: AssistantMessage) -> None:
        kept, _ = admit(message)
        if kept.content and not is_blank(kept):
            self._close()
            self._closed.append(kept)

    def _result(self, result: ToolResultMessage) -> None:
        if any(call.id == result.tool_call_id for call in self.open_calls):
            self._results[result.tool_call_id] = result

    def _drop(self, count: int) -> None:
        """Drop messages from the end. Results whose calls stay are kept: the two travel together."""
        messages = list(self.messages)
        kept = messages[: max(0, len(messages) - count)]
        dropped = messages[len(kept)] if len(kept) < len(messages) else None
        self._closed, self._results, self._text = kept, {}, []
        self._turns = [start for start in self._turns if start < len(kept)]
        self._checked = min(self._checked, len(kept))
        if isinstance(dropped, UserMessage):
            for block in dropped.content:
                if isinstance(block, ToolResultMessage):
                    self._result(block)

    def _feed(self, message: Message) -> None:
        if isinstance(message, AssistantMessage):
            self._reply(message)
            return
        text = []
        for block in message.content:
            if isinstance(block, ToolResultMessage):
                self._result(block)
            else:
                text.append(block)
        if text:
            self.apply(TurnStarted(prompt=tuple(text)))


def admit(message: AssistantMessage) -> tuple[AssistantMessage, list[str]]:
    """A reply as it may enter the history, and what was left out of it, in words.

    Unsigned thinking would be refused; of two calls with one id only the first can be answered.
    """
    kept, ids, dropped = [], set(), []
    for block in message.content:
        if isinstance(block, ThinkingContent) and not block.signature:
            continue
        if isinstance(block, ToolCall):
            if block.id in ids:
                dropped.append(f"a second call with the id {block.id} ({block.name}) was dropped and not run")
                continue
            ids.add(block.id)
        kept.append(block)
    if len(kept) == len(message.content):
        return message, []
    return message.model_copy(update={"content": tuple(kept)}), dropped


def is_blank(message: AssistantMessage) -> bool:
    """Nothing in it but blank text."""
    return all(isinstance(block, TextContent) and not block.text.strip() for block in message.content)


def _paused(message: Message) -> bool:
    return isinstance(message, AssistantMessage) and message.stop_reason == "pause_turn"


def check(messages: Sequence[Message], start: int = 0) -> list[str]:
    """What the Messages API would refuse in a conversation that is about to be sent; empty if nothing.

    Messages before `start` are taken to be in order.
    """
    faults: list[str] = []
    if not messages:
        return ["there is no message"]
    previous: Message | None = messages[start - 1] if start else None
    for index, message in enumerate(messages[start:], start):
        calls = previous.calls if isinstance(previous, AssistantMessage) else ()
        if isinstance(message, UserMessage):
            faults += [f"message {index}: {fault}" for fault in _user_faults(message, calls)]
            if isinstance(previous, UserMessage):
                faults.append(f"message {index}: two user messages in a row")
        else:
            faults += [f"message {index}: {fault}" for fault in _reply_faults(message)]
            if calls:
                faults.append(f"message {index}: the calls before it have no results")
            if not isinstance(previous, UserMessage) and not (previous and _paused(previous)):
                faults.append(f"message {index}: a reply without a prompt before it")
        previous = message
    if isinstance(previous, AssistantMessage) and not _paused(previous):
        faults.append("the last message is a reply: there is nothing to answer")
    return faults


def _user_faults(message: UserMessage, calls: tuple[ToolCall, ...]) -> Iterable[str]:
    results = [block for block in message.content if isinstance(block, ToolResultMessage)]
    if not message.content:
        yield "it is empty"
    if tuple(message.content[: len(results)]) != tuple(results):
        yield "results must come first"
    if [result.tool_call_id for result in results] != [call.id for call in calls]:
        yield "its results are not those of the calls before it, in their order"


def _reply_faults(message: AssistantMessage) -> Iterable[str]:
    ids = [call.id for call in message.calls]
    if not message.content or is_blank(message):
        yield "it is empty"
    if len(ids) != len(set(ids)):
        yield "two calls have one id"
    if any(isinstance(block, ThinkingContent) and not block.signature for block in message.content):
        yield "it has unsigned thinking"
