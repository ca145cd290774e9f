"""What the fake Messages API answers: small builders, and the stream events they become.

    reply(thinking("hm"), text("Looking."), call("read_file", {"path": "a.py"}))
    reply(text("a long answer"), pace=0.01).cut(after=4, how="abort")
    error(429, retry_after=2)        page("<html>502</html>", status=200, content_type="text/html")

An item is a value, so a script can also be JSON: `{"blocks": [...], "pace": 0.01}`,
`{"error": 429, "retry_after": 2}`, `{"page": "<html>"}` (see `item`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any, Literal

MODELS: tuple[dict[str, Any], ...] = (
    {
        "id": "claude-opus-5-5",
        "display_name": "Claude Opus 5.5",
        "max_input_tokens": 1_000_000,
        "max_tokens": 128_000,
    },
    {
        "id": "claude-haiku-5-5",
        "display_name": "Claude Haiku 5.5",
        "max_input_tokens": 200_000,
        "max_tokens": 64_000,
    },
)

How = Literal["done", "eof", "abort", "hang", "ping", "error"]

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


@dataclass(frozen=True)
class Reply:
    """A streamed answer.

    `delay` passes before the headers, `pace` between events; `chunk` characters make a delta. After
    `after` events (negative: counted from the end) the stream ends as `how` says: `eof` cleanly, `abort`
    with a broken connection, `hang` in silence until the client goes, `ping` the same with pings every
    `pace` seconds, `error` with the event `failure`.
    """

    blocks: tuple[dict[str, Any], ...] = ()
    stop_reason: str | None = None
    usage: dict[str, int] = field(default_factory=dict)
    delay: float = 0.0
    pace: float = 0.0
    chunk: int = 24
    after: int | None = None
    how: How = "done"
    failure: dict[str, Any] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str | None = "text/event-stream; charset=utf-8"

    def cut(self, after: int, how: How = "eof", type: str = "overloaded_error", message: str = "x") -> Reply:
        """The same reply that ends early. `type` and `message` are those of an in-stream error event."""
        return replace(self, after=after, how=how, failure={"type": type, "message": message})


@dataclass(frozen=True)
class Page:
    """Any other HTTP answer: an API error, or what a gateway makes of it. No body at all: connection cut."""

    status: int
    body: str | None
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str | None = "application/json"
    delay: float = 0.0


Item = Reply | Page


def text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def thinking(thinking: str, signature: str | None = None) -> dict[str, Any]:
    """Without a signature the server makes one; `""` streams a block that was never signed."""
    return {"type": "thinking", "thinking": thinking, "signature": signature}


def redacted(data: str = "b3BhcXVl") -> dict[str, Any]:
    return {"type": "redacted_thinking", "data": data}


def call(name: str, arguments: dict[str, Any] | str | None = None, id: str | None = None) -> dict[str, Any]:
    """A tool call. A string is streamed as it is, broken JSON too; without an id the server numbers it."""
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return {"type": "tool_use", "id": id, "name": name, "raw": raw}


def reply(*blocks: dict[str, Any] | str, **options: Any) -> Reply:
    """A reply of these blocks; a plain string is a text block."""
    return Reply(tuple(text(block) if isinstance(block, str) else block for block in blocks), **options)


def error(
    status: int,
    message: str = "x",
    type: str | None = None,
    *,
    retry_after: float | str | None = None,
    headers: dict[str, str] | None = None,
    delay: float = 0.0,
) -> Page:
    """An API error before any stream, typed as the API types that status."""
    kind = type or ERROR_TYPES.get(status, "api_error")
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_test"}
    extra = dict(headers or {}) | ({} if retry_after is None else {"retry-after": str(retry_after)})
    return Page(status, json.dumps(body), extra, delay=delay)


def page(body: str | None, *, status: int = 200, content_type: str | None = "text/html") -> Page:
    return Page(status, body, content_type=content_type)


def item(value: Any) -> Item:
    """A script item from its JSON form; built items pass through."""
    if isinstance(value, Reply | Page):
        return value
    if isinstance(value, str):
        return reply(value)
    options = dict(value)
    if "error" in options:
        return error(options.pop("error"), **options)
    if "page" in options:
        return page(options.pop("page"), **options)
    blocks = [call_from(block) if isinstance(block, dict) else block for block in options.pop("blocks", [])]
    return reply(*blocks, **options)


def call_from(block: dict[str, Any]) -> dict[str, Any]:
    if block.get("type") == "tool_use" and "raw" not in block:
        return call(block["name"], block.get("input", {}), block.get("id"))
    return block


def content_of(reply: Reply, number: int) -> list[dict[str, Any]]:
    """The reply as the blocks of a finished message; ids are those of the `number`th request."""
    content = []
    for index, block in enumerate(reply.blocks):
        if block["type"] == "tool_use" and block["id"] is None:
            block = {**block, "id": f"toolu_{number:03d}_{index}"}
        elif block["type"] == "thinking" and block["signature"] is None:
            block = {**block, "signature": f"sig_{number:03d}_{index}"}
        content.append(block)
    return content


def events_of(reply: Reply, number: int, model: str) -> list[dict[str, Any]]:
    """Every stream event of the whole reply."""
    blocks = content_of(reply, number)
    stop = reply.stop_reason or ("tool_use" if any(b["type"] == "tool_use" for b in blocks) else "end_turn")
    size = sum(len(json.dumps(block)) for block in blocks)
    usage = {"input_tokens": 100, "output_tokens": size // 4 + 1} | reply.usage
    message = {
        "id": f"msg_{number:03d}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage | {"output_tokens": 1},
    }
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    for index, block in enumerate(blocks):
        events += _block_events(index, block, reply.chunk)
    delta = {"stop_reason": stop, "stop_sequence": None}
    return [*events, {"type": "message_delta", "delta": delta, "usage": usage}, {"type": "message_stop"}]


def _block_events(index: int, block: dict[str, Any], chunk: int) -> list[dict[str, Any]]:
    deltas: list[dict[str, Any]] = []
    start = block
    if block["type"] == "text":
        start = {"type": "text", "text": ""}
        deltas = [{"type": "text_delta", "text": part} for part in _parts(block["text"], chunk)]
    elif block["type"] == "thinking":
        start = {"type": "thinking", "thinking": "", "signature": ""}
        deltas = [{"type": "thinking_delta", "thinking": part} for part in _parts(block["thinking"], chunk)]
        if block["signature"]:
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
    elif block["type"] in ("tool_use", "server_tool_use") and "raw" in block:
        start = {"type": block["type"], "id": block["id"], "name": block["name"], "input": {}}
        deltas = [{"type": "input_json_delta", "partial_json": part} for part in _parts(block["raw"], chunk)]
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def _parts(value: str, chunk: int) -> list[str]:
    return [value[at : at + chunk] for at in range(0, len(value), chunk)]
