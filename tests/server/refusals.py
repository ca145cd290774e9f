"""Requests that the Messages API refuses, and some it merely dislikes: the rules as pure functions.

`refusal(body)` looks at one request. `Memory` knows what was answered earlier in the conversation: it
refuses thinking that was altered, never sent, or whose prefix (system, tools, everything before the reply
that it came in) has changed since.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import Any

NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
ID = re.compile(r"[a-zA-Z0-9_-]+")
IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")


def canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def refusal(body: Any, paused: frozenset[str] = frozenset()) -> str | None:
    """Why the API would answer 400, or None.

    `paused` holds the replies, canonical, that may be sent back as the last message.
    """
    try:
        _check(body, paused)
    except Refused as reason:
        return str(reason)
    return None


class Refused(Exception):
    pass


def _need(condition: object, reason: str) -> None:
    if not condition:
        raise Refused(reason)


def _check(body: Any, paused: frozenset[str]) -> None:
    _need(isinstance(body, dict), "body: Input should be an object")
    _need(isinstance(body.get("model"), str) and body["model"], "model: Field required")
    _need(type(body.get("max_tokens")) is int and body["max_tokens"] > 0, "max_tokens: must be positive")
    for gone in ("temperature", "top_p", "top_k"):
        _need(gone not in body, f"{gone}: Extra inputs are not permitted")
    _strings(body, "body")
    names = [tool.get("name") for tool in body.get("tools", [])]
    _need(len(names) == len(set(names)), "tools: Tool names must be unique.")
    for index, tool in enumerate(body.get("tools", [])):
        _need(
            NAME.fullmatch(tool.get("name") or ""), f"tools.{index}.custom.name: String should match pattern"
        )
        schema = tool.get("input_schema")
        _need(
            isinstance(schema, dict) and schema.get("type") == "object", f"tools.{index}.input_schema: type"
        )
    system = body.get("system")
    for block in system if isinstance(system, list) else []:
        _need(block.get("text", "").strip(), "system: text content blocks must be non-empty")
    _need(isinstance(system, str | list | None), "system: Input should be a string or a list")
    _messages(body.get("messages"), paused)


def _strings(value: Any, where: str) -> None:
    if isinstance(value, str):
        _need(not any("\ud800" <= c <= "\udfff" for c in value), f"{where}: invalid high or low surrogate")
        _need("\0" not in value, f"{where}: null characters are not allowed")
    elif isinstance(value, dict):
        for key, part in value.items():
            _strings(key, where)
            _strings(part, f"{where}.{key}")
    elif isinstance(value, list):
        for index, part in enumerate(value):
            _strings(part, f"{where}.{index}")


def _messages(messages: Any, paused: frozenset[str]) -> None:
    _need(isinstance(messages, list) and messages, "messages: at least one message is required")
    seen: set[str] = set()
    open_calls: list[str] = []
    role = "assistant"
    for index, message in enumerate(messages):
        where = f"messages.{index}"
        pause = role == "assistant" and index > 0 and canonical(messages[index - 1]["content"]) in paused
        _need(
            message.get("role") in ("user", "assistant"), f"{where}.role: Input should be user or assistant"
        )
        _need(message["role"] != role or pause, f"{where}: roles must alternate between user and assistant")
        role = message["role"]
        content = message.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        _need(isinstance(content, list) and content, f"{where}: all messages must have non-empty content")
        for at, block in enumerate(content):
            _block(block, f"{where}.content.{at}", role)
        if role == "user":
            _results(content, open_calls, where)
            open_calls = []
        else:
            _need(
                not open_calls,
                f"{where}: `tool_use` ids were found without `tool_result` blocks: {open_calls}",
            )
            open_calls = [block["id"] for block in content if block["type"] == "tool_use"]
            for call in open_calls:
                _need(call not in seen, f"{where}: `tool_use` ids must be unique")
                seen.add(call)
    last = messages[-1]
    if last["role"] == "assistant":
        _need(canonical(last["content"]) in paused, "This model does not support assistant message prefill.")
    _need(
        not open_calls,
        f"`tool_use` ids were found without `tool_result` blocks immediately after: {open_calls}",
    )


def _results(content: list[dict[str, Any]], open_calls: list[str], where: str) -> None:
    results = [block.get("tool_use_id") for block in content if block["type"] == "tool_result"]
    first = [block["type"] for block in content[: len(results)]]
    _need(set(first) <= {"tool_result"}, f"{where}: `tool_result` blocks must come first")
    _need(len(results) == len(set(results)), f"{where}: each tool_use must have a single result")
    unknown = [id for id in results if id not in open_calls]
    _need(not unknown, f"{where}: unexpected `tool_use_id` found in `tool_result` blocks: {unknown}")
    missing = [id for id in open_calls if id not in results]
    _need(
        not missing,
        f"{where}: `tool_use` ids were found without `tool_result` blocks immediately after: {missing}. Each "
        "`tool_use` block must have a corresponding `tool_result` block in the next message.",
    )


def _block(block: Any, where: str, role: str) -> None:
    _need(isinstance(block, dict) and isinstance(block.get("type"), str), f"{where}: Input should be a block")
    kind = block["type"]
    if kind == "text":
        _need(isinstance(block.get("text"), str), f"{where}.text: Field required")
        _need(block["text"].strip(), f"{where}: text content blocks must contain non-whitespace text")
        _need(set(block) <= {"type", "text", "citations", "cache_control"}, f"{where}: Extra inputs")
    elif kind == "tool_use":
        _need(role == "assistant", f"{where}: `tool_use` blocks can only be in assistant messages")
        _need(ID.fullmatch(block.get("id") or ""), f"{where}.tool_use.id: String should match pattern")
        _need(NAME.fullmatch(block.get("name") or ""), f"{where}.tool_use.name: String should match pattern")
        _need(isinstance(block.get("input"), dict), f"{where}.tool_use.input: Input should be an object")
        _need(set(block) <= {"type", "id", "name", "input", "cache_control"}, f"{where}: Extra inputs")
    elif kind == "tool_result":
        _need(role == "user", f"{where}: `tool_result` blocks can only be in user messages")
        _result(block, where)
    elif kind == "thinking":
        _need(role == "assistant", f"{where}: thinking blocks can only be in assistant messages")
        _need(isinstance(block.get("thinking"), str), f"{where}.thinking.thinking: Field required")
        _need(block.get("signature"), f"{where}.thinking.signature: Field required")
        _need(set(block) == {"type", "thinking", "signature"}, f"{where}: Extra inputs are not permitted")
    elif kind == "image":
        _image(block.get("source") or {}, where)


def _result(block: dict[str, Any], where: str) -> None:
    content = block.get("content")
    _need(
        content is None or isinstance(content, str | list),
        f"{where}.content: Input should be a string or list",
    )
    if isinstance(content, str):
        _need(content.strip(), f"{where}.content: text must be non-empty")
    for at, part in enumerate(content if isinstance(content, list) else []):
        _need(part.get("type") in ("text", "image"), f"{where}.content.{at}: unexpected block")
        _block(part, f"{where}.content.{at}", "user")
    if block.get("is_error"):
        _need(content, f"{where}: content cannot be empty if `is_error` is true")


def _image(source: dict[str, Any], where: str) -> None:
    _need(source.get("media_type") in IMAGE_TYPES, f"{where}.image.source.base64.media_type: unsupported")
    try:
        data = base64.b64decode(source.get("data", ""), validate=True)
    except binascii.Error:
        data = b""
    _need(data, f"{where}.image.source.base64.data: Could not process image")
    _need(len(source["data"]) <= 5 * 1024 * 1024, f"{where}.image.source.base64: image exceeds 5 MB maximum")


class Memory:
    """What this API has answered so far."""

    def __init__(self) -> None:
        self.paused: frozenset[str] = frozenset()
        self._thinking: dict[str, tuple[dict[str, Any], str, int]] = {}

    def answered(self, body: dict[str, Any], content: list[dict[str, Any]], stop_reason: str | None) -> None:
        flat = _flat(body["messages"])
        for block in content:
            if block["type"] == "thinking" and block["signature"]:
                self._thinking[block["signature"]] = (block, _prefix(body, flat), len(flat))
        if stop_reason == "pause_turn":
            self.paused |= {canonical([block for block in content if _may_return(block)])}

    def refusal(self, body: dict[str, Any]) -> str | None:
        flat = _flat(body["messages"])
        for role, block in flat:
            if role != "assistant" or block["type"] != "thinking":
                continue
            known, prefix, length = self._thinking.get(block["signature"], (None, "", 0))
            if known != block:
                return "Invalid `signature` in `thinking` block"
            if _prefix(body, flat[:length]) != prefix:
                return "`thinking` block: the messages, tools or system prompt before it have changed"
        return None


def _may_return(block: dict[str, Any]) -> bool:
    """Blocks of a reply that a client may not send back are no part of it when it comes back."""
    return bool(block.get("signature", True) and block.get("text", "x").strip())


def _flat(messages: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    parts = []
    for message in messages:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        parts += [(message["role"], block) for block in blocks]
    return parts


def _prefix(body: dict[str, Any], flat: list[tuple[str, dict[str, Any]]]) -> str:
    return canonical([body.get("system"), body.get("tools", []), flat])
