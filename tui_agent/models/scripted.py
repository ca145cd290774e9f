"""The offline model of the demo: it streams what `script` says, at the pace of a real one.

Everything else about a demo is real: the loop, the tools, the approvals, the processes.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Iterator
from uuid import uuid4

from tui_agent.agent.messages import AssistantMessage, TextContent, ToolCall, Usage
from tui_agent.agent.model import MessageDone, ModelEvent, ModelRequest, TextDelta, ToolCallDelta
from tui_agent.models.progress import Progress
from tui_agent.models.script import PROMPT, next_beat

__all__ = ["PROMPT", "ScriptedModel"]

PACE = 0.02
"""Seconds between two pieces of a reply."""
FIRST_WORD = 20
"""Pieces' time that passes before the first one."""
PIECE = 32
"""Characters of arguments that come at once."""


class ScriptedModel:
    """A model that knows one task. `pace=0` streams without waiting."""

    name = "demo"

    def __init__(self, pace: float = PACE) -> None:
        self._pace = pace

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        await asyncio.sleep(self._pace * FIRST_WORD)
        beat = next_beat(Progress.of(request.messages))
        for piece in _words(beat.text):
            yield TextDelta(text=piece)
            await asyncio.sleep(self._pace)
        calls = tuple(
            ToolCall(id=f"demo_{uuid4().hex[:12]}", name=name, arguments=arguments)
            for name, arguments in beat.calls
        )
        for call in calls:
            raw = json.dumps(call.arguments)
            for at in range(0, len(raw), PIECE):
                yield ToolCallDelta(call_id=call.id, name=call.name, partial=raw[at : at + PIECE])
                await asyncio.sleep(self._pace)
        message = AssistantMessage(
            content=(TextContent(text=beat.text), *calls), stop_reason="tool_use" if calls else "end_turn"
        )
        yield MessageDone(message=message.model_copy(update={"usage": _usage(request, message)}))


def _words(text: str) -> Iterator[str]:
    return (match[0] for match in re.finditer(r"\s*\S+\s*", text))


def _usage(request: ModelRequest, message: AssistantMessage) -> Usage:
    """About what a real model would count: four characters are a token."""
    sent = len(request.system) + sum(len(part.model_dump_json()) for part in request.messages)
    return Usage(input_tokens=sent // 4, output_tokens=len(message.model_dump_json()) // 4)
