"""How far a scripted conversation got, read from its history alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tui_agent.agent.messages import Message, TextContent, ToolCall, ToolResultMessage, UserMessage

How = Literal["done", "declined", "forbidden", "unanswered", "stopped", "failed"]

BEGINNINGS: tuple[tuple[str, How], ...] = (
    ("the user declined this call", "declined"),
    ("not allowed by the user's", "forbidden"),
    ("not run: it needs an approval", "unanswered"),
    ("not run: the turn was cancelled", "stopped"),
    ("not run: the user sent", "stopped"),
    ("interrupted by the user", "stopped"),
    ("stopped by the user", "declined"),
    ("unknown: the program stopped", "stopped"),
)
"""How the library words what became of a call that did not simply run (`agent/results.py`)."""

CUT = ("not run: the turn was cancelled", "interrupted by the user", "unknown: the program stopped")
"""Of these, the ones that end a turn: what the person says next begins another."""

NOTE = "The mode is now"
REMARK = "The user says: "


@dataclass(frozen=True)
class Taken:
    """A call and what came of it. `turn`: it belongs to the turn that is on."""

    call: ToolCall
    how: How
    text: str
    turn: bool

    @property
    def path(self) -> str:
        return str(self.call.arguments.get("path", "")).removeprefix("./")

    @property
    def reason(self) -> str:
        """Why it was declined, in the person's words."""
        head, _, reason = self.text.partition(": ")
        return reason if head == BEGINNINGS[0][0] else ""

    @property
    def remark(self) -> str:
        """What the person said when they approved it."""
        return self.text.rpartition(REMARK)[2].strip() if REMARK in self.text else ""


def how_it_went(result: ToolResultMessage) -> How:
    if not result.is_error:
        return "done"
    return next((how for words, how in BEGINNINGS if result.text.startswith(words)), "failed")


@dataclass(frozen=True)
class Progress:
    """`words`: what the person said last, None if only tools answered. `opens`: with it a turn begins."""

    taken: tuple[Taken, ...]
    words: str | None
    opens: bool

    @classmethod
    def of(cls, messages: Sequence[Message]) -> Progress:
        last = messages[-1] if messages else None
        begin = max((i for i, message in enumerate(messages) if _opens(message)), default=0)
        results = {
            block.tool_call_id: (block, index > begin)
            for index, message in enumerate(messages)
            for block in message.content
            if isinstance(block, ToolResultMessage)
        }
        calls = (
            call for message in messages if not isinstance(message, UserMessage) for call in message.calls
        )
        taken = (
            Taken(call, how_it_went(result), result.text, now)
            for call in calls
            if call.id in results
            for result, now in [results[call.id]]
        )
        words = _words(last) if isinstance(last, UserMessage) else None
        return cls(tuple(taken), words, last is not None and _opens(last))


def _words(message: UserMessage) -> str | None:
    """The person's own words in a message: its last text, unless that is a note of the program's."""
    said = [block.text for block in message.content if isinstance(block, TextContent)]
    return said[-1] if said and not said[-1].startswith(NOTE) else None


def _opens(message: Message) -> bool:
    if not isinstance(message, UserMessage) or _words(message) is None:
        return False
    results = [block for block in message.content if isinstance(block, ToolResultMessage)]
    return not results or any(result.text.startswith(CUT) for result in results)
