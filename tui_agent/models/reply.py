"""A streamed reply, put together from its raw events. Pure: no SDK, no I/O.

`feed` takes one event as the API sent it and gives what it means for the loop; `message` is the whole reply
so far, block by block in its order. Nothing is interpreted on the way: thinking and blocks that we don't
know keep their bytes, and the arguments of a call stay a string that is parsed once, strictly, at the end.
What the stream leaves unsaid is not made up: a reply is `finished` only after a stop reason and its
`message_stop`, and arguments that are not one JSON object become the call's `fault`.

Two calls with one id stay both: the history, which owns what goes back, drops the second and says so.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NoReturn

from tui_agent.agent.messages import (
    AssistantMessage,
    RawBlock,
    TextContent,
    ThinkingContent,
    ToolCall,
    Usage,
)
from tui_agent.agent.model import ModelEvent, TextDelta, ThinkingDelta, ToolCallDelta

RAW_START = 200
"""Characters of unusable arguments that a fault quotes."""

NESTED = 100
"""Levels of arguments; what is deeper could not be stored and sent back."""

DELTAS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}
"""Where a delta carries its piece. Pieces gather under that name, whatever block they come in."""

USAGE = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_input_tokens": "cache_read_tokens",
    "cache_creation_input_tokens": "cache_write_tokens",
}


@dataclass
class _Open:
    """A block that is being written: how it began, and the pieces that came since."""

    start: dict[str, Any]
    pieces: dict[str, list[str]] = field(default_factory=dict)
    citations: list[Any] = field(default_factory=list)

    def joined(self, name: str) -> str:
        start = self.start.get(name)
        return str(_whole((start if isinstance(start, str) else "") + "".join(self.pieces.get(name, ()))))


class Reply:
    """One reply. Events that say nothing to us are passed over.

    `taken` are the ids of earlier calls. Some servers count anew in each reply; a conversation can't hold
    one id twice, so theirs get a number behind them.
    """

    def __init__(self, taken: frozenset[str] = frozenset()) -> None:
        self._taken = taken
        self.stop_reason: str | None = None
        self._stopped = False
        self._id = ""
        self._blocks: dict[int, _Open] = {}
        self._usage: dict[str, int] = {}

    @property
    def finished(self) -> bool:
        return self._stopped and self.stop_reason is not None

    def feed(self, event: Mapping[str, Any]) -> Iterable[ModelEvent]:
        kind = event.get("type")
        if kind == "content_block_delta":  # nearly all events are
            return self._delta(event)
        if kind == "content_block_start":
            return self._start(event)
        if kind == "message_start":
            message = event.get("message")
            if isinstance(message, dict):
                self._id = _word(message, "id")
                self._count(message.get("usage"))
        elif kind == "message_delta":
            delta = event.get("delta")
            reason = delta.get("stop_reason") if isinstance(delta, dict) else None
            self.stop_reason = reason if isinstance(reason, str) else self.stop_reason
            self._count(event.get("usage"))
        elif kind == "message_stop":
            self._stopped = True
        return ()

    def feed_whole(self, message: Mapping[str, Any]) -> Iterable[ModelEvent]:
        """A message that came in one piece, from a server that does not stream."""
        yield from self.feed({"type": "message_start", "message": message})
        for index, block in enumerate(message["content"]):
            yield from self.feed({"type": "content_block_start", "index": index, "content_block": block})
        yield from self.feed({"type": "message_delta", "delta": message})
        yield from self.feed({"type": "message_stop"})

    def message(self) -> AssistantMessage:
        blocks = (self._settled(index, self._blocks[index]) for index in sorted(self._blocks))
        usage = Usage(**self._usage) if self._usage else None
        return AssistantMessage(content=tuple(blocks), stop_reason=self.stop_reason, usage=usage)

    def _start(self, event: Mapping[str, Any]) -> Iterable[ModelEvent]:
        index, start = event.get("index"), event.get("content_block")
        if not isinstance(index, int) or not isinstance(start, dict):
            return ()
        start = _whole(start)
        self._blocks[index] = _Open(start)
        match start:
            case {"type": "text", "text": str(text)} if text:
                return (TextDelta(text=text),)
            case {"type": "thinking", "thinking": str(text)} if text:
                return (ThinkingDelta(text=text),)
            case {"type": "tool_use"}:
                return (ToolCallDelta(call_id=self._call_id(index), name=_word(start, "name"), partial=""),)
        return ()

    def _delta(self, event: Mapping[str, Any]) -> Iterable[ModelEvent]:
        index, delta = event.get("index"), event.get("delta")
        if not isinstance(index, int) or not isinstance(delta, dict) or index not in self._blocks:
            return ()
        block = self._blocks[index]
        kind = delta.get("type")
        if kind == "citations_delta":
            block.citations.append(delta.get("citation"))
            return ()
        name = DELTAS.get(kind) if isinstance(kind, str) else None
        piece = delta.get(name) if name else None
        if name is None or not isinstance(piece, str):
            return ()
        block.pieces.setdefault(name, []).append(piece)
        if kind == "text_delta":
            return (TextDelta(text=piece),)
        if kind == "thinking_delta":
            return (ThinkingDelta(text=piece),)
        if kind == "input_json_delta" and block.start.get("type") == "tool_use":
            call = self._call_id(index)
            return (ToolCallDelta(call_id=call, name=_word(block.start, "name"), partial=piece),)
        return ()

    def _settled(self, index: int, block: _Open) -> TextContent | ThinkingContent | ToolCall | RawBlock:
        match block.start.get("type"):
            case "text" if not (block.citations or block.start.get("citations")):
                return TextContent(text=block.joined("text"))
            case "thinking":
                signature = block.joined("signature") or None
                return ThinkingContent(thinking=block.joined("thinking"), signature=signature)
            case "tool_use":
                raw = block.joined("partial_json")
                arguments, fault = _arguments(raw, block.start.get("input"))
                name = _word(block.start, "name")
                return ToolCall(id=self._call_id(index), name=name, arguments=arguments, fault=fault)
        return RawBlock(data=_raw(block))

    def _call_id(self, index: int) -> str:
        """The id of a call. One that came without gets one: a call must be answerable."""
        id = _word(self._blocks[index].start, "id") or f"call_{self._id}_{index}"
        numbered = (f"{id}_{number}" for number in count(2))
        return id if id not in self._taken else next(other for other in numbered if other not in self._taken)

    def _count(self, usage: object) -> None:
        """Counts are totals so far: a later one replaces an earlier one."""
        for theirs, ours in USAGE.items():
            value = usage.get(theirs) if isinstance(usage, dict) else None
            if type(value) is int:
                self._usage[ours] = value


def _whole(value: Any) -> Any:
    """`value` as valid Unicode. Some servers cut a character in two halves, each in a piece of its own."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    elif isinstance(value, dict):
        return {_whole(name): _whole(part) for name, part in value.items()}
    elif isinstance(value, list):
        return [_whole(part) for part in value]
    return value


def _word(start: dict[str, Any], name: str) -> str:
    value = start.get(name)
    return value if isinstance(value, str) else ""


def _raw(block: _Open) -> dict[str, Any]:
    """A block of the provider's as it would stand in a whole message."""
    data = dict(block.start)
    for name in block.pieces:
        if name == "partial_json":
            arguments, fault = _arguments(block.joined(name), {})
            data["input"] = arguments if fault is None else block.joined(name)
        else:
            data[name] = block.joined(name)
    if block.citations:
        data["citations"] = [*(data.get("citations") or ()), *block.citations]
    return data


def _arguments(raw: str, start: object) -> tuple[dict[str, Any], str | None]:
    """The arguments, or why there are none. Text that never came is no argument at all: `{}`."""
    if not raw.strip():
        return (start, None) if isinstance(start, dict) else ({}, None)
    try:
        value = json.loads(raw, object_pairs_hook=_unique, parse_constant=_not_json, parse_float=_finite)
    except RecursionError:
        problem = "they are nested too deeply"
    except ValueError as error:
        problem = f"they are not valid JSON ({error})"
    else:
        if not isinstance(value, dict):
            problem = f"they must be a JSON object, this is {_kind(value)}"
        elif _is_deep(value):
            problem = f"they are nested too deeply (more than {NESTED} levels)"
        elif value != _whole(value):
            problem = "they hold half a character (a lone surrogate)"
        else:
            return value, None
    quoted = raw if len(raw) <= RAW_START else f"{raw[:RAW_START]}…"
    return {}, f"the arguments can't be used: {problem}. They began: {quoted}"


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(NESTED):
        level = [
            part
            for item in level
            for part in (item.values() if isinstance(item, dict) else item)
            if isinstance(part, dict | list)
        ]
    return bool(level)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field {twice!r} is given twice")
    return found


def _not_json(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON value")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits} is too large a number")
    return value


def _kind(value: object) -> str:
    names = {type(None): "null", bool: "a truth value", str: "a string", list: "a list"}
    return names.get(type(value), "a number")
