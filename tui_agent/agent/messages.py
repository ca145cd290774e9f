"""What travels between a person, a model and its tools.

A conversation alternates `UserMessage` and `AssistantMessage`. Both are frozen: a message that
stays in the history is never changed, because newer models reject thinking whose prefix changed.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, InstanceOf, SerializeAsAny


class Record(BaseModel):
    """A frozen, JSON-able value. Fields may also be given by position, in their order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __init__(self, /, *values: Any, **fields: Any) -> None:
        if values:
            names = [name for name in type(self).model_fields if name not in ("type", "role")]
            given = dict(zip(names, values, strict=False))
            if len(values) > len(names) or given.keys() & fields.keys():
                raise TypeError(f"{type(self).__name__} takes {', '.join(names)}, each once")
            fields |= given
        super().__init__(**fields)


class TextContent(Record):
    type: Literal["text"] = "text"
    text: str


class ImageContent(Record):
    """An image: `data` is base64, `media_type` as in `image/png`."""

    type: Literal["image"] = "image"
    data: str
    media_type: str


class ThinkingContent(Record):
    """A thinking block. Without a signature it is never sent back."""

    type: Literal["thinking"] = "thinking"
    thinking: str
    signature: str | None = None


class RawBlock(Record):
    """A block of the provider's that we keep as it came (redacted thinking, server tools, the unknown)."""

    type: Literal["raw"] = "raw"
    data: dict[str, Any]


class ToolCall(Record):
    """A call the model asks for. `fault` says why its arguments were unusable JSON; it then never runs."""

    type: Literal["tool_call"] = "tool_call"
    id: str
    name: str
    arguments: dict[str, Any]
    fault: str | None = None


Block = Annotated[TextContent | ImageContent, Field(discriminator="type")]


class ToolResultMessage(Record):
    """The answer to one call: `content` for the model, `details` for the eye and the session."""

    type: Literal["tool_result"] = "tool_result"
    tool_call_id: str
    tool_name: str
    content: tuple[Block, ...]
    is_error: bool = False
    details: SerializeAsAny[InstanceOf[BaseModel]] | dict[str, Any] | None = None

    @property
    def text(self) -> str:
        return "\n".join(block.text for block in self.content if isinstance(block, TextContent))


class Usage(Record):
    """Tokens of one request, as the provider counts them."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    @property
    def context_tokens(self) -> int:
        """Tokens that this request filled of the model's window, its answer included."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
        )


class UserMessage(Record):
    """Results first, then text and images: the only order the Messages API takes."""

    role: Literal["user"] = "user"
    content: tuple[
        Annotated[ToolResultMessage | TextContent | ImageContent, Field(discriminator="type")], ...
    ]

    @property
    def text(self) -> str:
        return "\n".join(block.text for block in self.content if isinstance(block, TextContent))


class AssistantMessage(Record):
    """One whole reply, every block in its order. `stop_reason` is the model's own word, None if cut."""

    role: Literal["assistant"] = "assistant"
    content: tuple[
        Annotated[TextContent | ThinkingContent | ToolCall | RawBlock, Field(discriminator="type")], ...
    ]
    stop_reason: str | None = None
    usage: Usage | None = None

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.content if isinstance(block, TextContent))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(block for block in self.content if isinstance(block, ToolCall))


Message = UserMessage | AssistantMessage
Prompt = str | TextContent | ImageContent | tuple[TextContent | ImageContent, ...] | list[Any]


def blocks_of(content: Prompt) -> tuple[TextContent | ImageContent, ...]:
    """`content` as blocks; blank text is left out, since the API refuses it."""
    if isinstance(content, str):
        content = (TextContent(text=content),)
    elif isinstance(content, TextContent | ImageContent):
        content = (content,)
    return tuple(b for b in content if not isinstance(b, TextContent) or b.text.strip())
