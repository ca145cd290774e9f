"""What a call is answered with. Denied, interrupted, stopped and failed read differently."""

from __future__ import annotations

from collections.abc import Sequence

from tui_agent.agent.errors import Cancelled
from tui_agent.agent.gate import Deny
from tui_agent.agent.messages import ImageContent, TextContent, ToolCall, ToolResultMessage
from tui_agent.agent.tool import ToolOutput

RESULT_CHARACTERS = 200_000
"""The text of a result may not be longer, in however many blocks: one must never fill the window."""


def answer(call: ToolCall, text: str, *, is_error: bool = False) -> ToolResultMessage:
    """A result of one text."""
    return ToolResultMessage(
        tool_call_id=call.id,
        tool_name=call.name,
        content=(TextContent(text=sendable(_capped(text)) or "(no output)"),),
        is_error=is_error,
    )


def result_of(call: ToolCall, value: object) -> ToolResultMessage:
    """What a tool returned, as the one envelope for results. Odd values are the tool's bug, and said so."""
    output = value if isinstance(value, ToolOutput) else ToolOutput(value)  # type: ignore[arg-type]
    content = output.content
    if isinstance(content, str):
        content = (TextContent(text=content),)
    if not isinstance(content, list | tuple) or not all(
        isinstance(block, TextContent | ImageContent) for block in content
    ):
        kind = type(content).__name__
        return answer(call, f"the tool {call.name} returned {kind}: a fault of the tool", is_error=True)
    kept = _clean([block for block in content if not isinstance(block, TextContent) or block.text.strip()])
    return ToolResultMessage(
        tool_call_id=call.id,
        tool_name=call.name,
        content=tuple(kept) or (TextContent(text="(no output)"),),
        is_error=output.is_error,
        details=output.details,
    )


def with_comment(result: ToolResultMessage, comment: str) -> ToolResultMessage:
    """The result, and what the person said when they approved the call."""
    if not comment.strip():
        return result
    words = TextContent(text=f"The user says: {sendable(comment)}")
    return result.model_copy(update={"content": (*result.content, words)})


def declined(deny: Deny) -> str:
    if deny.unanswered:
        return f"not run: it needs an approval and nobody is here to give it. {deny.reason}".rstrip()
    head = "the user declined this call" if deny.by == "user" else f"not allowed by the user's {deny.by}"
    return f"{head}: {deny.reason}" if deny.reason else head


def interrupted(stop: Cancelled, by: str) -> str:
    """`by`: who stopped it, and when, if that counts."""
    head = f"{by}; it may have run in part"
    return f"{head}. Output so far:\n{stop.output}" if stop.output.strip() else f"{head}."


def said(error: BaseException) -> str:
    """An exception in words, without a traceback."""
    try:
        return str(error) or type(error).__name__
    except Exception:  # its own `__str__` is broken
        return type(error).__name__


def sendable(text: str) -> str:
    """Text that every request can carry: no lone surrogates, no NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", "␀")


def _clean(blocks: Sequence[TextContent | ImageContent]) -> list[TextContent | ImageContent]:
    """Text that can be sent, and no more of it in all than one result may hold."""
    kept: list[TextContent | ImageContent] = []
    room = RESULT_CHARACTERS
    for place, block in enumerate(blocks):
        if isinstance(block, ImageContent):
            kept.append(block)
            continue
        if room <= 0:
            kept.append(TextContent(text=f"[… {len(blocks) - place} more parts left out …]"))
            break
        text = sendable(_capped(block.text, room))
        room -= len(block.text)
        kept.append(block if text == block.text else TextContent(text=text))
    return kept


def _capped(text: str, room: int = RESULT_CHARACTERS) -> str:
    if len(text) <= room:
        return text
    half = room // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[len(text) - half :]}"
