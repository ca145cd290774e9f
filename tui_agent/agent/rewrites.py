"""New prefixes for requests that were refused as they are.

Messages that stay are never changed, so a rewrite makes a new prefix, announced by `HistoryRewritten`.
Each function gives None when it has nothing to take out: a doomed request is not sent twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tui_agent.agent.messages import (
    AssistantMessage,
    ImageContent,
    Message,
    RawBlock,
    TextContent,
    ThinkingContent,
    ToolResultMessage,
    UserMessage,
)

BULKY = 2_000
"""Characters from which an old result may be replaced by a note."""
KEPT = 4
"""Messages at the end whose results stay when the body is too large."""

Rewrite = Callable[[Sequence[Message]], tuple[Message, ...] | None]


def without_thinking(messages: Sequence[Message]) -> tuple[Message, ...] | None:
    """For a 400 that names thinking: signatures went stale, so all thinking goes."""

    def kept(block: Any) -> bool:
        hidden = isinstance(block, RawBlock) and "thinking" in str(block.data.get("type"))
        return not (hidden or isinstance(block, ThinkingContent))

    new: list[Message] = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            content = tuple(filter(kept, message.content)) or (TextContent(text="(thinking)"),)
            new.append(message.model_copy(update={"content": content}))
        else:
            new.append(message)
    return _if_changed(messages, new)


def without_images(messages: Sequence[Message]) -> tuple[Message, ...] | None:
    """For a 400 that names an image: every image becomes a word."""
    return _if_changed(messages, [_map_user(message, _imageless) for message in messages])


def without_bulk(messages: Sequence[Message]) -> tuple[Message, ...] | None:
    """For a body that is too large: old images and long results become notes, the newest stay."""
    old, new = messages[:-KEPT], messages[-KEPT:]
    return _if_changed(messages, [_map_user(message, _brief) for message in old] + list(new))


REWRITES: dict[str, tuple[str, Rewrite]] = {
    "thinking_rejected": ("the API refused earlier thinking, so it was left out", without_thinking),
    "image_rejected": ("the API refused an image, so images were left out", without_images),
    "too_large": ("the request was too large, so old results were shortened", without_bulk),
}
"""By `ModelError.kind`: what to tell the person, and the rewrite. Each at most once a request."""


def _if_changed(before: Sequence[Message], after: list[Message]) -> tuple[Message, ...] | None:
    return None if list(before) == after else tuple(after)


def _map_user(message: Message, change: Callable[[Any], Any]) -> Message:
    if not isinstance(message, UserMessage):
        return message
    content = []
    for block in message.content:
        if isinstance(block, ToolResultMessage):
            inner = tuple(change(part) for part in block.content)
            block = block.model_copy(update={"content": inner})
        else:
            block = _imageless(block)  # the person's own words stay
        content.append(block)
    return message.model_copy(update={"content": tuple(content)})


def _imageless(block: Any) -> Any:
    return TextContent(text="[an image was here]") if isinstance(block, ImageContent) else block


def _brief(block: Any) -> Any:
    if isinstance(block, TextContent) and len(block.text) > BULKY:
        return TextContent(text=f"{block.text[:500]}\n[… {len(block.text) - 500} characters left out …]")
    return _imageless(block)
