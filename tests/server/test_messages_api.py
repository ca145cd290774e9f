"""The fake API itself: it refuses what the real one refuses, and breaks the way the world breaks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from server.messages_api import call, error, page, reply, text, thinking
from server.refusals import refusal
from server.threaded import ThreadedAPI

USER = {"role": "user", "content": [{"type": "text", "text": "hello"}]}
CALLS = {
    "role": "assistant",
    "content": [
        {"type": "tool_use", "id": id, "name": "read_file", "input": {}} for id in ("toolu_1", "toolu_2")
    ],
}


def result(id: str, content: Any = "ok", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def body(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "claude-opus-5-5", "max_tokens": 100, "messages": list(messages), **more}


ACCEPTED = {
    "plain": [USER],
    "results": [USER, CALLS, user(result("toolu_1"), result("toolu_2"), text("and now"))],
}
REFUSED = {
    "nothing": ([], "at least one"),
    "empty content": ([user()], "non-empty content"),
    "blank text": ([user(text(" \n"))], "non-whitespace"),
    "unanswered": ([USER, CALLS, user(result("toolu_1"))], "toolu_2"),
    "unanswered by text": ([USER, CALLS, USER], "toolu_1"),
    "last is assistant": ([USER, CALLS], "prefill"),
    "unknown id": ([user(result("toolu_9"))], "unexpected"),
    "two results": ([USER, CALLS, user(result("toolu_1"), result("toolu_1"), result("toolu_2"))], "single"),
    "text first": ([USER, CALLS, user(text("x"), result("toolu_1"), result("toolu_2"))], "first"),
    "two users": ([USER, USER], "alternate"),
    "blank result": ([USER, CALLS, user(result("toolu_1", ""), result("toolu_2"))], "non-empty"),
    "empty error": ([USER, CALLS, user(result("toolu_1", [], is_error=True), result("toolu_2"))], "is_error"),
    "unsigned": (
        [USER, {"role": "assistant", "content": [{"type": "thinking", "thinking": "x"}]}, USER],
        "signature",
    ),
    "surrogate": ([user(text("\ud800"))], "surrogate"),
    "same id again": (
        [
            USER,
            CALLS,
            user(result("toolu_1"), result("toolu_2")),
            CALLS,
            user(result("toolu_1"), result("toolu_2")),
        ],
        "unique",
    ),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepts(name: str) -> None:
    assert refusal(body(*ACCEPTED[name])) is None


@pytest.mark.parametrize("name", REFUSED)
def test_refuses(name: str) -> None:
    messages, word = REFUSED[name]
    assert word in (refusal(body(*messages)) or "accepted")


async def post(url: str, body: Any) -> httpx2.Response:
    async with httpx2.AsyncClient() as client:
        return await client.post(f"{url}/v1/messages", json=body, headers={"Authorization": "Bearer k"})


async def test_thinking_must_come_back_with_the_same_prefix(messages_api: Any) -> None:
    api = await messages_api(reply(thinking("hm", "sig"), text("hi")), "fine", "fine")
    await post(api.url, body(USER, system="s"))
    block = thinking("hm", "sig")
    answer = {"role": "assistant", "content": [block, text("hi")]}
    assert (await post(api.url, body(USER, answer, USER, system="s"))).status_code == 200
    changed = await post(api.url, body(USER, answer, USER, system="another"))
    assert changed.status_code == 400
    assert "before it have changed" in changed.text
    altered = {"role": "assistant", "content": [{**block, "thinking": "HM"}, text("hi")]}
    assert "Invalid `signature`" in (await post(api.url, body(USER, altered, USER, system="s"))).text


async def test_streams_and_scripts_errors(messages_api: Any) -> None:
    api = await messages_api(reply(call("f", {"a": 1})), error(429, retry_after=3), page("<html>"))
    events = [
        json.loads(line[6:])
        for line in (await post(api.url, body(USER))).text.splitlines()
        if line.startswith("data: ")
    ]
    assert [event["type"] for event in events] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    limited = await post(api.url, body(USER))
    assert (limited.status_code, limited.headers["retry-after"]) == (429, "3")
    assert (await post(api.url, body(USER))).text == "<html>"
    assert (await post(api.url, body(USER))).status_code == 500
    assert len(api.requests) == 4


async def test_broken_streams(messages_api: Any) -> None:
    api = await messages_api(
        reply("x").cut(2, "eof"),
        reply("x").cut(2, "abort"),
        reply("x").cut(2, "error"),
        reply("x").cut(2, "hang"),
    )
    assert "message_stop" not in (await post(api.url, body(USER))).text
    with pytest.raises(httpx2.RemoteProtocolError):
        await post(api.url, body(USER))
    assert '"overloaded_error"' in (await post(api.url, body(USER))).text
    async with httpx2.AsyncClient(timeout=0.2) as client:
        with pytest.raises(httpx2.ReadTimeout):
            await client.post(f"{api.url}/v1/messages", json=body(USER), headers={"x-api-key": "k"})
    await api.until(lambda: api.requests[3].closed)


def test_in_a_thread() -> None:
    with ThreadedAPI(lambda request: reply(f"answer {request.body['max_tokens']}")) as api:
        headers = {"x-api-key": "k"}
        answer = httpx2.post(f"{api.url}/v1/messages", json=body(USER), headers=headers)
        assert "answer 100" in answer.text
        api.until(lambda: api.requests[0].finished)


def test_as_a_process(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"blocks": [{"type": "tool_use", "name": "f", "input": {"a": 1}}]}, "bye"]))
    log = tmp_path / "log.jsonl"
    command = [sys.executable, "-m", "server.messages_api", "--script", str(script), "--log", str(log)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        try:
            answer = httpx2.post(f"{url}/v1/messages", json=body(USER), headers={"x-api-key": "k"})
            assert "input_json_delta" in answer.text
            assert (
                "bye" in httpx2.post(f"{url}/v1/messages", json=body(USER), headers={"x-api-key": "k"}).text
            )
        finally:
            process.terminate()
    assert json.loads(log.read_text().splitlines()[0])["body"]["max_tokens"] == 100
