"""Retry, shrink or stop; and the wrapper that waits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tui_agent.agent.errors import ModelError
from tui_agent.agent.messages import AssistantMessage, TextContent
from tui_agent.agent.model import MessageDone, ModelEvent, ModelRequest, Retrying, TextDelta
from tui_agent.models import retry
from tui_agent.models.failures import HINTS, from_answer
from tui_agent.models.retry import Retry, RetryingModel, Shrink, Stop, decide

REQUEST = ModelRequest("", (), ())
DONE = MessageDone(message=AssistantMessage(content=[TextContent("ok")], stop_reason="end_turn"))
PASSING = ("rate_limited", "overloaded", "server", "connection", "interrupted", "bad_answer")


@pytest.mark.parametrize("kind", PASSING)
def test_what_passes_by_is_tried_again(kind: str) -> None:
    assert decide(None, kind, "request", 1, 0.0) == Retry(retry.FIRST_WAIT)


@pytest.mark.parametrize("kind", sorted(set(HINTS) - set(PASSING)))
@pytest.mark.parametrize("retry_after", [None, 1.0])
def test_a_doomed_request_is_never_sent_as_it_is(kind: str, retry_after: float | None) -> None:
    assert isinstance(decide(400, kind, "request", 1, 0.0, retry_after), Stop | Shrink)


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
def test_no_refusal_by_status_is_repeated(status: int) -> None:
    for body in ({"error": {"message": "x"}}, "<html>no</html>", None):
        error = from_answer(status, body)
        assert not isinstance(decide(status, error.kind, "request", 1, 0.0), Retry)


@pytest.mark.parametrize("kind", PASSING)
def test_every_budget_ends(kind: str) -> None:
    attempt = spent = 1
    while isinstance(verdict := decide(None, kind, "stream", attempt, spent), Retry):
        attempt, spent = attempt + 1, spent + int(verdict.delay)
        assert attempt < 10
    assert isinstance(verdict, Stop)
    assert "Gave up" in verdict.reason


def test_the_longer_of_backoff_and_header_counts() -> None:
    assert decide(429, "rate_limited", "request", 1, 0.0, 20.0) == Retry(20.0)
    assert decide(429, "rate_limited", "request", 4, 0.0, 0.1) == Retry(retry.FIRST_WAIT * 8)


def test_too_long_a_wait_is_said_instead_of_made() -> None:
    assert decide(429, "rate_limited", "request", 1, 0.0, 60.0) == Retry(60.0)
    verdict = decide(429, "rate_limited", "request", 1, 0.0, 600.0)
    assert isinstance(verdict, Stop)
    assert "10 minutes" in verdict.reason
    late = decide(429, "rate_limited", "request", 2, 170.0, 30.0)
    assert isinstance(late, Stop)


class Flaky:
    """Fails `failures` times a request, after some text."""

    name = "flaky"

    def __init__(self, *failures: ModelError) -> None:
        self.failures = list(failures)
        self.sent = 0
        self.closed = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.sent += 1
        try:
            yield TextDelta(text="o")
            if self.failures:
                raise self.failures.pop(0)
            yield DONE
        finally:
            self.closed += 1


async def collected(model: RetryingModel) -> list[Any]:
    return [event async for event in model.stream(REQUEST)]


def overloaded() -> ModelError:
    return ModelError("busy", kind="overloaded", hint="Wait.", phase="stream")


async def test_the_same_request_again_after_half_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.001)
    flaky = Flaky(overloaded(), overloaded())
    told = await collected(RetryingModel(flaky))
    assert [event.type for event in told] == [
        "text_delta",
        "retrying",
        "text_delta",
        "retrying",
        "text_delta",
        "message_done",
    ]
    assert told[1].error == "busy"
    assert told[1].delay < told[3].delay
    assert (flaky.sent, flaky.closed) == (3, 3)


async def test_the_budget_is_of_one_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.001)
    model = RetryingModel(flaky := Flaky(*(overloaded() for _ in range(4))))
    assert (await collected(model))[-1] == DONE
    flaky.failures = [overloaded() for _ in range(4)]
    assert (await collected(model))[-1] == DONE
    flaky.failures = [overloaded() for _ in range(5)]
    flaky.sent = 0
    with pytest.raises(ModelError, match="busy") as stopped:
        await collected(model)
    assert flaky.sent == 5
    assert stopped.value.hint == "Gave up after 5 attempts. Wait."


async def test_a_wait_is_cancelled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_WAIT", 30.0)
    waiting = asyncio.Event()

    async def run() -> None:
        async for event in RetryingModel(Flaky(overloaded())).stream(REQUEST):
            if isinstance(event, Retrying):
                waiting.set()

    task = asyncio.create_task(run())
    await waiting.wait()
    task.cancel()
    async with asyncio.timeout(1):
        with pytest.raises(asyncio.CancelledError):
            await task


def test_all_but_the_stream_is_the_models_own() -> None:
    flaky = Flaky()
    assert RetryingModel(flaky).name == "flaky"
    assert RetryingModel(flaky).sent == flaky.sent
    assert not hasattr(RetryingModel(flaky), "warm")


async def test_closing_closes_the_model_at_once() -> None:
    flaky = Flaky()
    events = RetryingModel(flaky).stream(REQUEST)
    await anext(events)
    await events.aclose()
    assert flaky.closed == 1
