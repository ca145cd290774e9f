"""The adapter with the real client over real HTTP."""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import Any

import pytest
from server.messages_api import (
    MessagesAPI,
    Reply,
    call,
    canonical,
    error,
    page,
    redacted,
    reply,
    text,
    thinking,
)
from server.replies import events_of

from tui_agent.agent.errors import ModelError
from tui_agent.agent.messages import (
    AssistantMessage,
    RawBlock,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from tui_agent.agent.model import MessageDone, ModelRequest, TextDelta
from tui_agent.agent.tool import Tool
from tui_agent.models import retry
from tui_agent.models.anthropic import AnthropicModel
from tui_agent.models.catalogue import FALLBACK_WINDOW
from tui_agent.models.retry import RetryingModel

KEY = "sk-ant-test-0123456789abcdef"
HELLO = UserMessage(content=[TextContent("hello")])
TOOL = Tool("read_file", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}})


def model_at(url: str, name: str = "claude-opus-5-5", **options: Any) -> AnthropicModel:
    return AnthropicModel(name, **{"api_key": KEY, "base_url": url, **options})


def request(*messages: Any) -> ModelRequest:
    return ModelRequest("Be good.", (TOOL,), messages or (HELLO,))


async def events(model: Any, *messages: Any) -> list[Any]:
    return [event async for event in model.stream(request(*messages))]


async def failed(model: Any, *messages: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await events(model, *messages)
    assert caught.value.hint
    return caught.value


async def test_a_conversation_with_every_kind_of_block(messages_api: Any) -> None:
    odd = {"type": "odd_block", "value": {"a": None}}
    api = await messages_api(
        reply(
            thinking("hm", "s1"),
            redacted(),
            "Looking.",
            odd,
            call("read_file", {"path": "a"}),
            thinking("", "s2"),
        ),
        "done",
    )
    model = model_at(api.url)
    told = await events(model)
    first = told[-1].message
    assert isinstance(first, AssistantMessage)
    assert first.content == (
        ThinkingContent("hm", "s1"),
        RawBlock({"type": "redacted_thinking", "data": "b3BhcXVl"}),
        TextContent("Looking."),
        RawBlock(odd),
        ToolCall("toolu_001_4", "read_file", {"path": "a"}),
        ThinkingContent("", "s2"),
    )
    answer = ToolResultMessage("toolu_001_4", "read_file", [TextContent("a file")])
    last = (await events(model, HELLO, first, UserMessage(content=[answer])))[-1].message
    assert (last.text, last.stop_reason, api.refused) == ("done", "end_turn", [])
    before, after = (sent.body for sent in api.requests)
    assert after["messages"][: len(before["messages"])] == before["messages"]
    assert canonical([after["system"], after["tools"]]) == canonical([before["system"], before["tools"]])


async def test_what_is_sent(messages_api: Any) -> None:
    api = await messages_api("a", "b", "c")
    await events(model_at(api.url))
    await events(model_at(api.url, "local-model", version_header="2023-06-01", effort="high"))
    await events(model_at(api.url, max_tokens=64, api_key=None, auth_token="token"))
    first, second, third = api.requests
    assert first.body == {
        "model": "claude-opus-5-5",
        "max_tokens": 32_000,
        "system": "Be good.",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}],
        "tools": [{"name": "read_file", "description": "Reads a file.", "input_schema": TOOL.parameters}],
        "cache_control": {"type": "ephemeral"},
        "thinking": {"type": "adaptive", "display": "summarized"},
        "stream": True,
    }
    assert first.headers["authorization"] == f"Bearer {KEY}"
    assert "thinking" not in second.body
    assert second.body["output_config"] == {"effort": "high"}
    assert second.headers["anthropic-version"] == "2023-06-01"
    assert second.headers["content-type"] == "application/json"
    assert (third.body["max_tokens"], third.headers["authorization"]) == (64, "Bearer token")


@pytest.mark.parametrize(
    ("answer", "kind", "phase"),
    [
        (error(400, "Your credit balance is too low"), "no_credit", "request"),
        (error(401, "invalid x-api-key"), "bad_key", "request"),
        (error(403), "permission", "request"),
        (error(404, "model: x"), "not_found", "request"),
        (error(413), "too_large", "request"),
        (error(429, "tokens per minute"), "rate_limited", "request"),
        (error(500), "server", "request"),
        (error(529), "overloaded", "request"),
        (page("<h1>502</h1>", status=502), "server", "request"),
        (page("<h1>Blocked</h1>", status=403), "refused_by_gateway", "request"),
        (page("<h1>Log in</h1>"), "bad_answer", "stream"),
        (page("hello", content_type=None), "bad_answer", "stream"),
        (page("", content_type=None), "bad_answer", "stream"),
        (page("data: {oops\n\n", content_type="text/event-stream"), "bad_answer", "stream"),
        (page("{}", content_type="application/json"), "bad_answer", "stream"),
        (
            page('{"error": {"type": "overloaded_error"}}', content_type="application/json"),
            "overloaded",
            "stream",
        ),
        (page(None), "connection", "request"),
        (reply("x").cut(0, "abort"), "interrupted", "stream"),
        (reply("half an answer").cut(3, "eof"), "interrupted", "stream"),
        (reply("half an answer").cut(3, "abort"), "interrupted", "stream"),
        (reply("x", call("read_file", {"path": "a"})).cut(-2, "eof"), "interrupted", "stream"),
        (reply(call("read_file", {"path": "a" * 99})).cut(4, "eof"), "interrupted", "stream"),
        (reply("x").cut(-1, "eof"), "interrupted", "stream"),
        (reply("x").cut(3, "error", "overloaded_error"), "overloaded", "stream"),
        (reply("x").cut(3, "error", "rate_limit_error"), "rate_limited", "stream"),
        (reply("x").cut(3, "error", "api_error"), "server", "stream"),
        (reply("x").cut(3, "error", "invalid_request_error"), "invalid_request", "stream"),
        (reply("x").cut(1, "error", "made_up_error"), "invalid_request", "stream"),
    ],
)
async def test_failures(messages_api: Any, answer: Any, kind: str, phase: str) -> None:
    api = await messages_api(answer)
    found = await failed(model_at(api.url))
    assert (found.kind, found.phase) == (kind, phase)
    assert len(api.requests) == 1


async def test_half_an_answer_is_told_but_never_done(messages_api: Any) -> None:
    api = await messages_api(reply("half", call("read_file", {"path": "a"})).cut(-1, "eof"))
    told = []

    async def run() -> None:
        async for event in model_at(api.url).stream(request()):
            told.append(event)

    with pytest.raises(ModelError):
        await run()
    assert any(isinstance(event, TextDelta) for event in told)
    assert not any(isinstance(event, MessageDone) for event in told)


async def test_a_key_never_shows_in_an_error(messages_api: Any) -> None:
    api = await messages_api(error(401, f"the key {KEY} is unknown"), page(f"<p>{KEY}</p>"))
    for _ in range(2):
        found = await failed(model_at(api.url))
        assert KEY not in found.message + str(found) + repr(found) + found.hint


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"api_key": None}, "no_key"),
        ({"api_key": "  "}, "no_key"),
        ({"api_key": "se\ncret-0123456789"}, "bad_key"),
        ({"api_key": "\udcffsecret-0123456789"}, "bad_key"),
        ({"base_url": "no-scheme.example"}, "bad_url"),
        ({"base_url": "http://[::1"}, "bad_url"),
    ],
)
async def test_what_is_wrong_before_a_byte_is_sent(
    messages_api: Any, options: dict[str, Any], kind: str
) -> None:
    api = await messages_api("never")
    found = await failed(model_at(api.url, **options))
    assert found.kind == kind
    assert "secret" not in found.message
    assert api.requests == []


async def test_a_dead_endpoint(unused_tcp_port: int) -> None:
    found = await failed(model_at(f"http://127.0.0.1:{unused_tcp_port}"))
    assert found.kind == "connection"
    assert f"127.0.0.1:{unused_tcp_port}" in found.message


async def test_silence_is_a_lost_connection_and_pings_are_not_silence(messages_api: Any) -> None:
    api = await messages_api(
        reply("x", delay=60),
        reply("x").cut(3, "hang"),
        reply("x", pace=0.02).cut(3, "ping"),
    )
    model = model_at(api.url, idle_seconds=0.3)
    for phase in ("request", "stream"):
        found = await failed(model)
        assert (found.kind, found.phase) == ("connection", phase)
        assert "no byte" in found.message
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1.0):
            await events(model)
    await api.until(lambda: api.requests[2].closed)


@pytest.mark.parametrize("answer", [reply("x", delay=60), reply("x").cut(3, "hang")])
async def test_cancelling_closes_the_socket_at_once(messages_api: Any, answer: Reply) -> None:
    api = await messages_api("warm", answer)
    model = model_at(api.url)
    await events(model)
    task = asyncio.create_task(events(model))
    await api.until(lambda: len(api.requests) == 2)
    task.cancel()
    begin = time.monotonic()
    with pytest.raises(asyncio.CancelledError):
        await task
    await api.until(lambda: api.requests[1].closed)
    assert time.monotonic() - begin < 0.15


async def test_cancelling_while_the_sdk_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    loading, loaded = threading.Event(), threading.Event()

    def slow(self: AnthropicModel) -> None:
        loading.set()
        loaded.wait(5)

    monkeypatch.setattr(AnthropicModel, "warm", slow)
    task = asyncio.create_task(events(model_at("http://127.0.0.1:9")))
    await asyncio.to_thread(loading.wait, 5)
    task.cancel()
    begin = time.monotonic()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - begin < 0.1
    loaded.set()


async def test_one_connection_serves_many_requests() -> None:
    """The end of the body is read, so that the next request need not shake hands again."""
    body = b"".join(
        b"event: %s\ndata: %s\n\n" % (event["type"].encode(), json.dumps(event).encode())
        for event in events_of(reply("fine"), 1, "m")
    )
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                sent = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    int(line[15:])
                    for line in sent.split(b"\r\n")
                    if line.lower().startswith(b"content-length:")
                )
                await reader.readexactly(length)
                writer.write(head + b"%x\r\n%s\r\n" % (len(body), body))
                await writer.drain()
                writer.write(b"0\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    model = model_at(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    for _ in range(3):
        assert (await events(model))[-1].message.text == "fine"
    await model.close()
    server.close()
    assert connections == 1


async def test_closing_the_iterator_closes_the_socket(messages_api: Any) -> None:
    api = await messages_api(reply("x").cut(3, "hang"))
    stream = model_at(api.url).stream(request())
    await anext(stream)
    await stream.aclose()
    await api.until(lambda: api.requests[0].closed, timeout=1)


async def test_servers_with_odd_manners(messages_api: Any) -> None:
    whole = '{"type":"message","id":"m","content":[{"type":"text","text":"whole"}],"stop_reason":"end_turn"}'
    unnamed = "".join(
        f"data: {event}\n\n"
        for event in (
            '{"type":"message_start","message":{}}',
            '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
            '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"unnamed"}}',
            '{"type":"from_the_future"}',
            '{"type":"message_delta","delta":{"stop_reason":"end_turn"}}',
            '{"type":"message_stop"}',
            "[DONE]",
        )
    )
    api = await messages_api(
        reply("stripped", content_type=None),
        page(whole, content_type="application/json"),
        page(unnamed, content_type="text/event-stream"),
    )
    model = model_at(api.url)
    for said in ("stripped", "whole", "unnamed"):
        done = (await events(model))[-1].message
        assert (done.text, done.stop_reason) == (said, "end_turn")
    assert len(api.requests) == 3


async def test_a_server_without_adaptive_thinking_is_asked_again_without_it(messages_api: Any) -> None:
    def answer(sent: Any) -> Any:
        return error(400, "thinking: Extra inputs are not permitted") if "thinking" in sent.body else "fine"

    api = await messages_api(answer)
    model = model_at(api.url)
    told = await events(model)
    assert [event.type for event in told] == ["retrying", "text_delta", "message_done"]
    await events(model)
    assert ["thinking" in sent.body for sent in api.requests] == [True, False, False]


async def test_refused_thinking_is_the_history_s_to_drop(messages_api: Any) -> None:
    api = await messages_api()
    forged = AssistantMessage(content=[ThinkingContent("never sent", "forged"), TextContent("x")])
    found = await failed(model_at(api.url), HELLO, forged, HELLO)
    assert (found.kind, len(api.requests)) == ("thinking_rejected", 1)


async def test_with_patience(messages_api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.001)
    api = await messages_api(
        error(529, retry_after=0.01), reply("hal").cut(3, "error"), reply("half").cut(3, "abort"), "whole"
    )
    told = await events(RetryingModel(model_at(api.url)))
    assert [event.type for event in told].count("retrying") == 3
    assert told[-1].message.text == "whole"
    assert len({canonical(sent.body) for sent in api.requests}) == 1


async def test_what_the_server_says_of_its_models(messages_api: Any) -> None:
    api = await messages_api("x", models=[{"id": "small", "max_input_tokens": 9000, "max_tokens": 500}])
    model = model_at(api.url, "small")
    (info,) = await model.list_models()
    assert (info.id, info.display_name, info.window, info.max_output) == ("small", "small", 9000, 500)
    assert await model.window() == 9000
    assert await model.window("unheard-of") == FALLBACK_WINDOW
    asked = len(api.log)
    assert await model.window("unheard-of") == FALLBACK_WINDOW
    assert len(api.log) == asked
    await events(model)
    assert api.requests[0].body["max_tokens"] == 500


async def test_a_server_without_a_catalogue(messages_api: Any) -> None:
    api = await messages_api(models=None)
    model = model_at(api.url)
    assert await model.window() == FALLBACK_WINDOW
    with pytest.raises(ModelError):
        await model.list_models()


def test_one_model_serves_one_loop_after_another() -> None:
    model: AnthropicModel | None = None

    async def once() -> str:
        nonlocal model
        async with MessagesAPI(["fine"]) as api:
            model = model or model_at(api.url)
            model._base_url = api.url
            return str((await events(model))[-1].message.text)

    assert asyncio.run(once()) == "fine"
    assert asyncio.run(once()) == "fine"


def test_warming_leaves_the_interpreter_as_it_was() -> None:
    interval, collects = sys.getswitchinterval(), gc.isenabled()
    model_at("http://127.0.0.1:9").warm()
    assert (sys.getswitchinterval(), gc.isenabled()) == (interval, collects)


async def test_closing_waits_for_a_client_that_is_being_made(monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_at("http://127.0.0.1:9")
    make, begun, go = model._make_client, threading.Event(), threading.Event()

    def slowly() -> Any:
        begun.set()
        go.wait(30)
        return make()

    monkeypatch.setattr(model, "_make_client", slowly)
    warming = threading.Thread(target=model.warm)
    warming.start()
    assert await asyncio.to_thread(begun.wait, 30)
    closing = asyncio.create_task(model.close())
    await asyncio.sleep(0)
    assert not closing.done()
    go.set()
    await closing
    await asyncio.to_thread(warming.join)
    model.warm()
    assert model._client is None


def test_nothing_heavy_comes_with_the_module() -> None:
    heavy = "{'anthropic', 'httpx2', 'jsonschema', 'textual'}"
    code = (
        f"import sys, tui_agent.models.anthropic, tui_agent.models.retry; print({heavy} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"


async def test_large_replies_and_their_pace(messages_api: Any) -> None:
    words = "word " * 20_000
    api = await messages_api(reply(text(words), call("read_file", {"path": "x" * 400_000}), chunk=20))
    begin = time.process_time()
    done = (await events(model_at(api.url)))[-1].message
    assert done.text == words
    assert done.calls[0].arguments == {"path": "x" * 400_000}
    assert time.process_time() - begin < 20


async def test_the_request_is_the_one_that_the_sdk_would_send(messages_api: Any) -> None:
    api = await messages_api("one", "two")
    model = model_at(api.url)
    await events(model)
    ours = api.requests[0]
    client = await model._connected()
    async with await client.messages.create(**ours.body) as stream:
        assert [event async for event in stream]
    await model.close()
    theirs = api.requests[1]
    assert theirs.body == ours.body
    own = {"content-length", "x-stainless-retry-count", "x-stainless-read-timeout"}
    assert {n: v for n, v in theirs.headers.items() if n not in own} == {
        n: v for n, v in ours.headers.items() if n not in own
    }
