"""Kinds of failure: by type, then by status; by words only where the API gives nothing else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from tui_agent.models.failures import BY_STATUS, BY_TYPE, BY_WORDS, HINTS, from_answer, wish

INVALID = "invalid_request_error"


@pytest.mark.parametrize(
    ("status", "type", "message", "kind"),
    [
        (429, "rate_limit_error", "too many tokens per minute; prompt is too long", "rate_limited"),
        (400, INVALID, "Your credit balance is too low to access the API", "no_credit"),
        (400, INVALID, "prompt is too long: 210000 tokens > 200000 maximum", "context_full"),
        (400, INVALID, "input length and `max_tokens` exceed context limit: 1 + 2 > 2", "context_full"),
        (400, INVALID, "messages.1.content.0: Invalid `signature` in `thinking` block", "thinking_rejected"),
        (400, INVALID, "messages.0.content.1.image.source: image exceeds 5 MB", "image_rejected"),
        (400, INVALID, "tools.0: bad", "invalid_request"),
        (422, "", "bad", "invalid_request"),
        (401, "authentication_error", "invalid x-api-key", "bad_key"),
        (402, "billing_error", "x", "no_credit"),
        (403, "permission_error", "x", "permission"),
        (404, "not_found_error", "model: claude-x", "not_found"),
        (413, "request_too_large", "x", "too_large"),
        (500, "api_error", "x", "server"),
        (503, "", "prompt is too long", "server"),
        (529, "overloaded_error", "x", "overloaded"),
        (200, "overloaded_error", "x", "overloaded"),
        (200, "rate_limit_error", "x", "rate_limited"),
        (200, "api_error", "x", "server"),
        (200, INVALID, "x", "invalid_request"),
        (500, "overloaded_error", "x", "overloaded"),
        (418, "", "x", "invalid_request"),
    ],
)
def test_answers_of_the_api(status: int, type: str, message: str, kind: str) -> None:
    error = from_answer(status, {"type": "error", "error": {"type": type, "message": message}})
    assert (error.kind, error.status) == (kind, status)
    assert error.hint == HINTS[kind]
    assert message in error.message


def test_a_spend_limit_is_not_a_rate_limit() -> None:
    details = {"error_code": "contract_spend_limit_reached"}
    body = {"error": {"type": "rate_limit_error", "message": "x", "details": details}}
    assert from_answer(429, body).kind == "no_credit"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (302, "refused_by_gateway"),
        (400, "refused_by_gateway"),
        (403, "refused_by_gateway"),
        (404, "not_found"),
        (407, "refused_by_gateway"),
        (429, "rate_limited"),
        (502, "server"),
    ],
)
@pytest.mark.parametrize("body", ["<html>\n<b>no</b></html>", None, {"detail": "no"}, {"error": "no"}, [1]])
def test_pages_of_gateways(status: int, kind: str, body: object) -> None:
    error = from_answer(status, body)
    assert error.kind == kind
    assert f"HTTP {status}" in error.message
    assert "\n" not in error.message


def test_every_kind_has_its_next_step() -> None:
    for kind in {*BY_TYPE.values(), *BY_STATUS.values(), *(kind for kind, _ in BY_WORDS)}:
        assert HINTS[kind].endswith(".")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, None),
    ],
)
def test_what_the_server_asks_for(headers: dict[str, str], seconds: float | None) -> None:
    assert wish(headers) == seconds


def test_a_date_to_wait_for() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    assert wish({"retry-after": date}) == pytest.approx(100, abs=5)
