"""How a request can fail: a small set of kinds, each with the person's next step. Pure.

An answer is judged by its error type first, then by its status, since a stream fails with a type under
status 200 and a gateway with a status and no type. Words decide only among refusals of one type (400,
`invalid_request_error`), where the API gives nothing better: a full window, no credit, a refused image or
thinking block.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from tui_agent.agent.errors import ModelError, Phase

HINTS = {
    "no_key": "Set ANTHROPIC_API_KEY and start again, or look around with --demo, which needs no key.",
    "bad_key": "Check ANTHROPIC_API_KEY: the server did not accept it. If ANTHROPIC_BASE_URL is set, check "
    "that the key belongs to that server.",
    "bad_url": "Check ANTHROPIC_BASE_URL: it must be the address of a server, such as https://api.anthropic.com.",
    "no_credit": "Add credit or raise the spend limit of this account, then send again; nothing was lost.",
    "permission": "This key may not do that: use another key or another model (--model).",
    "not_found": "Check the model's name (--model) and, if it is set, ANTHROPIC_BASE_URL.",
    "too_large": "The conversation is too large to send: compact it, or start a new session.",
    "context_full": "The model's window is full: compact the conversation, or start a new session.",
    "thinking_rejected": "Send again: earlier thinking is left out.",
    "image_rejected": "Send again without the image, or with a smaller one (PNG, JPEG, GIF or WebP).",
    "invalid_request": "The server refused this request as it is; sending it again won't help. Take the last "
    "prompt back, or start a new session, and please report it.",
    "rate_limited": "Wait a little and send again.",
    "overloaded": "The model is overloaded: wait a little and send again.",
    "server": "The server failed: send again in a moment.",
    "connection": "Check the network and, if it is set, ANTHROPIC_BASE_URL; then send again.",
    "interrupted": "The answer broke off: send again; nothing of it was run.",
    "bad_answer": "Something between you and the API answered: check ANTHROPIC_BASE_URL and any proxy.",
    "refused_by_gateway": "A proxy or gateway refused the request: check ANTHROPIC_BASE_URL and the proxy.",
}

BY_TYPE = {
    "authentication_error": "bad_key",
    "billing_error": "no_credit",
    "permission_error": "permission",
    "not_found_error": "not_found",
    "request_too_large": "too_large",
    "rate_limit_error": "rate_limited",
    "overloaded_error": "overloaded",
    "api_error": "server",
    "timeout_error": "server",
}

BY_STATUS = {
    401: "bad_key",
    402: "no_credit",
    403: "permission",
    404: "not_found",
    408: "server",
    409: "server",
    413: "too_large",
    429: "rate_limited",
    529: "overloaded",
}

BY_WORDS = (
    ("context_full", ("prompt is too long", "context limit", "context length", "context window")),
    ("no_credit", ("credit balance", "usage limits", "spend limit")),
    ("thinking_rejected", ("thinking",)),
    ("image_rejected", ("image",)),
)


def failure(
    kind: str,
    message: str,
    *,
    phase: Phase = "request",
    status: int | None = None,
    retry_after: float | None = None,
) -> ModelError:
    """The error of this kind, with its hint."""
    return ModelError(
        " ".join(message.split())[:500],
        kind=kind,
        hint=HINTS[kind],
        phase=phase,
        status=status,
        retry_after=retry_after,
    )


def from_answer(
    status: int, body: object, headers: Mapping[str, str] | None = None, phase: Phase = "request"
) -> ModelError:
    """The failure that an HTTP error, or an `error` event in a stream, tells of."""
    error = body.get("error") if isinstance(body, dict) else None
    if isinstance(error, dict):
        type_, said = str(error.get("type") or ""), str(error.get("message") or "")
        details = error.get("details")
        code = str(details.get("error_code") or "") if isinstance(details, dict) else ""
        kind = _kind(status, type_, code, said)
        message = f"{said or 'no reason given'} ({_label(status, type_)})"
    else:
        kind = _kind_of_page(status)
        said = body if isinstance(body, str) and body.strip() else "no reason given"
        message = f"{said.strip()[:200]} ({_label(status, '')})"
    return failure(kind, message, phase=phase, status=status, retry_after=wish(headers or {}))


def _kind(status: int, type_: str, code: str, said: str) -> str:
    if code.endswith("spend_limit_reached"):
        return "no_credit"
    known = BY_TYPE.get(type_) or BY_STATUS.get(status)
    if known is not None:
        return known
    if status >= 500:
        return "server"
    words = said.lower()
    return next((kind for kind, parts in BY_WORDS if any(p in words for p in parts)), "invalid_request")


def _kind_of_page(status: int) -> str:
    """An answer that is not the API's: a gateway's own page."""
    if status >= 500 or status in (408, 429):
        return BY_STATUS.get(status, "server")
    return {401: "bad_key", 404: "not_found", 413: "too_large"}.get(status, "refused_by_gateway")


def _label(status: int, type_: str) -> str:
    return (
        " ".join(part for part in ("" if status == 200 else f"HTTP {status}", type_) if part)
        or "in the stream"
    )


def wish(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait, if it says so in a way that makes sense."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name, "")
        try:
            seconds = float(value) / unit
        except ValueError:
            seconds = _until(value) if name == "retry-after" else math.nan
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    return None


def _until(date: str) -> float:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return math.nan
    return (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
