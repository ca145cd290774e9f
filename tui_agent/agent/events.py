"""What a run tells. Frozen, JSON-able, `type` is the class name in snake case.

The history is the fold of the stored events, so replaying a session feeds the same events to the same
places. Deltas, progress and retries are for the screen only and never stored.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, InstanceOf, SerializeAsAny

from tui_agent.agent.messages import (
    AssistantMessage,
    Block,
    Record,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from tui_agent.agent.model import Retrying, TextDelta, ThinkingDelta
from tui_agent.agent.tool import Kind

UNKNOWN = "?"
"""The digest of content that nobody looked at: it equals no other, and nothing is kept under it."""

Details = SerializeAsAny[InstanceOf[BaseModel]] | dict[str, Any] | None


class SessionStarted(Record):
    """`tools` are the declarations, as `{name, description, parameters}`."""

    type: Literal["session_started"] = "session_started"
    system: str
    tools: tuple[dict[str, Any], ...]
    model: str
    version: str


class ModelChosen(Record):
    """Another model, effort or thinking from the next request on; None where the model decides."""

    type: Literal["model_chosen"] = "model_chosen"
    model: str
    effort: str | None = None
    thinking: bool | None = None

    @property
    def words(self) -> str:
        facts = [self.model, *([f"effort {self.effort}"] if self.effort else [])]
        if self.thinking is not None:
            facts.append(f"thinking {'on' if self.thinking else 'off'}")
        return ", ".join(facts)


class TurnStarted(Record):
    """A prompt enters the history. Empty for `go_on`."""

    type: Literal["turn_started"] = "turn_started"
    prompt: tuple[Block, ...] = ()


class ToolCallProgress(Record):
    """The model is writing a call: `bytes` of its arguments so far, and what it is about, once that came."""

    type: Literal["tool_call_progress"] = "tool_call_progress"
    call_id: str
    name: str
    bytes: int
    subject: str = ""


class AssistantMessageDone(Record):
    """A reply, or what came of it before a cancel or a lost connection (`stop_reason` None)."""

    type: Literal["assistant_message_done"] = "assistant_message_done"
    message: AssistantMessage


class ToolCallStarted(Record):
    """A call is looked at. `kind` and `details` are None if it is unknown or its arguments are invalid."""

    type: Literal["tool_call_started"] = "tool_call_started"
    call: ToolCall
    kind: Kind | None = None
    title: str = ""
    details: Details = None


class ApprovalRequested(Record):
    type: Literal["approval_requested"] = "approval_requested"
    call_id: str
    title: str
    reason: str = ""


class ApprovalDecided(Record):
    """`source` is the rule or mode that decided; `title` is what was allowed, if not what was asked."""

    type: Literal["approval_decided"] = "approval_decided"
    call_id: str
    decision: Literal["allow", "deny"]
    by: Literal["user", "rule", "mode"]
    reason: str = ""
    source: str = ""
    title: str = ""


class ToolProgress(Record):
    """Live output of a running call, as text to show."""

    type: Literal["tool_progress"] = "tool_progress"
    call_id: str
    text: str


class ToolCallFinished(Record):
    """A call has its result. `skipped`: it never ran, since the user stopped it or said something new."""

    type: Literal["tool_call_finished"] = "tool_call_finished"
    result: ToolResultMessage
    seconds: float
    skipped: bool = False


class FileChanged(Record):
    """A file is now `after`. Both are SHA-256 hex digests of its bytes, None where there was, or is, none.

    `UNKNOWN` stands for content that nobody looked at. Modes are permission bits, None if not known.
    `folders` were made for the file, outermost first, or went with it.
    """

    type: Literal["file_changed"] = "file_changed"
    path: str
    before: str | None
    after: str | None
    call_id: str | None = None
    before_mode: int | None = None
    after_mode: int | None = None
    folders: tuple[str, ...] = ()


class NoteAdded(Record):
    """Text that joins the next user message after its results: a note of ours, or a steering message."""

    type: Literal["note_added"] = "note_added"
    content: tuple[Block, ...]
    by: Literal["host", "user"] = "host"


class StepLimitReached(Record):
    type: Literal["step_limit_reached"] = "step_limit_reached"
    steps: int


class HistoryRewritten(Record):
    """The tail is dropped by `dropped` messages, or, with `messages`, everything is replaced by them."""

    type: Literal["history_rewritten"] = "history_rewritten"
    reason: str
    dropped: int
    messages: tuple[Annotated[UserMessage | AssistantMessage, Field(discriminator="role")], ...] | None = None


class Compacting(Record):
    """A turn makes room in its conversation before it goes on; `over`: it has, or could not."""

    type: Literal["compacting"] = "compacting"
    over: bool = False


class Compacted(Record):
    """Tokens of the window before and after a compaction."""

    type: Literal["compacted"] = "compacted"
    before: int
    after: int
    summary: str


class UsageUpdated(Record):
    """`usage` of the last request and `turn` of all requests of this turn.

    `step` counts from 1. It is 0 for a request beside the steps (a summary), whose `turn` is its own.
    """

    type: Literal["usage_updated"] = "usage_updated"
    usage: Usage
    turn: Usage
    step: int


class TurnEnded(Record):
    """`stop_reason`: the model's own word, or cancelled, step_limit, stuck, error (then `error` says why)."""

    type: Literal["turn_ended"] = "turn_ended"
    stop_reason: str
    usage: Usage = Field(default_factory=Usage)
    error: str | None = None
    hint: str | None = None


AgentEvent = (
    SessionStarted
    | ModelChosen
    | TurnStarted
    | TextDelta
    | ThinkingDelta
    | ToolCallProgress
    | AssistantMessageDone
    | ToolCallStarted
    | ApprovalRequested
    | ApprovalDecided
    | ToolProgress
    | ToolCallFinished
    | FileChanged
    | NoteAdded
    | Retrying
    | StepLimitReached
    | HistoryRewritten
    | Compacting
    | Compacted
    | UsageUpdated
    | TurnEnded
)

Emit = Callable[[AgentEvent], Awaitable[None]]

FLEETING = ("text_delta", "thinking_delta", "tool_call_progress", "tool_progress", "compacting", "retrying")
"""Types that are shown and never stored."""
