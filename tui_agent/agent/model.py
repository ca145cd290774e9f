"""A model, seen from the loop: a request goes in, a stream of events comes out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Literal, Protocol

from tui_agent.agent.messages import AssistantMessage, Message, Record
from tui_agent.agent.tool import Tool


@dataclass(frozen=True)
class ModelRequest:
    """One request. `tools` are plain declarations: `execute` never gets here."""

    system: str
    tools: tuple[Tool, ...]
    messages: tuple[Message, ...]
    max_tokens: int | None = None


class TextDelta(Record):
    type: Literal["text_delta"] = "text_delta"
    text: str


class ThinkingDelta(Record):
    type: Literal["thinking_delta"] = "thinking_delta"
    text: str


class ToolCallDelta(Record):
    """`partial`: the piece of the arguments' JSON that came now."""

    type: Literal["tool_call_delta"] = "tool_call_delta"
    call_id: str
    name: str
    partial: str


class MessageDone(Record):
    """The last event of a stream: the whole reply, with the model's own stop reason."""

    type: Literal["message_done"] = "message_done"
    message: AssistantMessage


class Retrying(Record):
    """The request failed with `error` and is sent again after `delay` seconds."""

    type: Literal["retrying"] = "retrying"
    error: str
    delay: float


ModelEvent = TextDelta | ThinkingDelta | ToolCallDelta | MessageDone | Retrying


class Model(Protocol):
    """Raises `ModelError` when no answer can be had; closing the iterator ends the request."""

    @property
    def name(self) -> str: ...

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]: ...
