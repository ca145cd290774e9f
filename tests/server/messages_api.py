"""The Messages API on loopback, for tests: real HTTP, scripted answers, and the API's own refusals.

    async with MessagesAPI([reply(call("read_file", {"path": "a.py"})), "done"]) as api:
        model = AnthropicModel("claude-opus-5-5", api_key="key", base_url=api.url)
        ...
        assert api.requests[1].body["messages"][-1]["role"] == "user"
        await api.until(lambda: api.requests[1].closed)       # the client hung up

A script is a list (one item a request; when it is used up the API says so with a 500) or a function of the
request that never ends. A request that the API would refuse gets its 400 and uses up no item
(`api.refused` keeps the reasons). `server.threaded` is the same for code without a loop, and
`python -m server.messages_api --script FILE` a process of its own that prints its URL and, with `--log`,
writes each request as a line of JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from server.refusals import Memory, canonical, refusal
from server.replies import (
    MODELS,
    Item,
    Page,
    Reply,
    call,
    content_of,
    error,
    events_of,
    item,
    page,
    redacted,
    reply,
    text,
    thinking,
)

__all__ = [
    "Item",
    "MessagesAPI",
    "Page",
    "Reply",
    "Request",
    "call",
    "canonical",
    "error",
    "page",
    "redacted",
    "reply",
    "text",
    "thinking",
]

Script = Iterable[Any] | Callable[["Request"], Any]


@dataclass
class Request:
    """One request as it came. Times are `time.monotonic()`; `closed` is when the client hung up early."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any
    number: int = 0
    at: float = field(default_factory=time.monotonic)
    closed: float | None = None
    finished: float | None = None
    events_sent: int = 0


class MessagesAPI:
    """`url` and `requests` (those for messages; all of them are in `log`)."""

    def __init__(
        self,
        script: Script = (),
        *,
        strict: bool = True,
        strict_thinking: bool = True,
        models: Sequence[dict[str, Any]] | None = MODELS,
        max_body: int = 32_000_000,
        window: int | None = None,
    ) -> None:
        self._next = script if callable(script) else self._from(list(script))
        self._strict = strict
        self._strict_thinking = strict_thinking
        self._models = models
        self._max_body = max_body
        self._window = window
        self._memory = Memory()
        self._changed = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._numbers = itertools.count(1)
        self.log: list[Request] = []
        self.refused: list[str] = []
        self.url = ""

    @property
    def requests(self) -> list[Request]:
        return [request for request in self.log if request.path.split("?")[0] == "/v1/messages"]

    def _from(self, items: list[Any]) -> Callable[[Request], Any]:
        rest = iter(items)
        return lambda request: next(rest, error(500, "the test's script has no further reply"))

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connection, "127.0.0.1", 0, limit=64_000_000)
        host, port = self._server.sockets[0].getsockname()[:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def until(self, condition: Callable[[], object], timeout: float = 5.0) -> None:
        """Wait until the condition on this API's requests holds."""
        async with asyncio.timeout(timeout):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            request = await self._read(reader)
            if request is not None:
                self.log.append(request)
                self._changed.set()
                await self._serve(request, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client went away, or the test is over
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> Request | None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.split("\r\n")
        method, path, _ = first.split(" ", 2)
        pairs = (line.split(":", 1) for line in lines if line)
        headers = {name.lower(): value.strip() for name, value in pairs}
        data = await reader.readexactly(int(headers.get("content-length", 0)))
        try:
            body = json.loads(data) if data else None
        except ValueError:
            body = data
        return Request(method, path, headers, body, next(self._numbers))

    async def _serve(
        self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answer, while a watcher on the same socket notices the client going away."""
        answer = asyncio.create_task(self._answer(request, writer))
        gone = asyncio.create_task(reader.read(1))
        try:
            await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                answer.result()
                request.finished = time.monotonic()
            else:
                request.closed = time.monotonic()
        except ConnectionError:
            request.closed = time.monotonic()
        finally:
            answer.cancel()
            gone.cancel()
            await asyncio.gather(answer, gone, return_exceptions=True)
            self._changed.set()

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> None:
        chosen = self._choose(request)
        await asyncio.sleep(chosen.delay)
        if isinstance(chosen, Page):
            await self._send_page(chosen, writer)
        else:
            await self._stream(chosen, request, writer)

    def _choose(self, request: Request) -> Item:
        path = request.path.split("?")[0]
        if not (request.headers.get("authorization") or request.headers.get("x-api-key")):
            return error(401, "x-api-key header is required")
        if path.startswith("/v1/models") and self._models is not None:
            return self._models_page(path.removeprefix("/v1/models").strip("/"))
        if path == "/v1/messages/count_tokens":
            return Page(200, json.dumps({"input_tokens": tokens(request.body)}))
        if path != "/v1/messages" or request.method != "POST":
            return error(404, f"Not found: {path}")
        reason = self._refusal(request.body)
        if reason is not None:
            self.refused.append(reason)
            return error(413 if "larger" in reason else 400, reason)
        chosen = item(self._next(request))
        if isinstance(chosen, Reply):
            self._remember(request, chosen)
        return chosen

    def _refusal(self, body: Any) -> str | None:
        if len(canonical(body)) > self._max_body:
            return "Request is larger than the maximum allowed number of bytes"
        if not self._strict:
            return None
        reason = refusal(body, self._memory.paused)
        if reason is None and self._window is not None and tokens(body) > self._window:
            reason = f"prompt is too long: {tokens(body)} tokens > {self._window} maximum"
        if reason is None and self._strict_thinking:
            reason = self._memory.refusal(body)
        return reason

    def _remember(self, request: Request, chosen: Reply) -> None:
        content = []
        for block in content_of(chosen, request.number):
            if "raw" in block:
                with suppress(ValueError):
                    content.append(
                        {k: v for k, v in block.items() if k != "raw"} | {"input": json.loads(block["raw"])}
                    )
            else:
                content.append(block)
        if isinstance(request.body, dict) and "messages" in request.body:
            self._memory.answered(request.body, content, chosen.stop_reason)

    def _models_page(self, name: str) -> Page:
        assert self._models is not None
        known = [{"type": "model", "created_at": "2026-01-01T00:00:00Z"} | model for model in self._models]
        if not name:
            ends = {"first_id": known[0]["id"], "last_id": known[-1]["id"]} if known else {}
            return Page(200, json.dumps({"data": known, "has_more": False, **ends}))
        found = next((model for model in known if model["id"] == name), None)
        return error(404, f"model: {name}") if found is None else Page(200, json.dumps(found))

    async def _send_page(self, page: Page, writer: asyncio.StreamWriter) -> None:
        if page.body is None:
            writer.transport.abort()
            return
        data = page.body.encode()
        writer.write(
            _head(page.status, page.content_type, {**page.headers, "Content-Length": str(len(data))}) + data
        )
        await writer.drain()

    async def _stream(self, reply: Reply, request: Request, writer: asyncio.StreamWriter) -> None:
        model = str((request.body or {}).get("model"))
        events = events_of(reply, request.number, model)
        headers = {**reply.headers, "Transfer-Encoding": "chunked", "request-id": f"req_{request.number}"}
        writer.write(_head(200, reply.content_type, headers))
        for event in events[: reply.after]:
            await self._send(event, request, writer, reply.pace)
        if reply.how == "error":
            await self._send({"type": "error", "error": reply.failure}, request, writer, 0)
        elif reply.how == "abort":
            await writer.drain()
            writer.transport.close() if reply.after else writer.transport.abort()
            return
        while reply.how in ("hang", "ping"):
            await writer.drain()
            if reply.how == "ping":
                await self._send({"type": "ping"}, request, writer, reply.pace or 0.01)
            else:
                await asyncio.sleep(3600)
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    async def _send(
        self, event: dict[str, Any], request: Request, writer: asyncio.StreamWriter, pace: float
    ) -> None:
        data = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
        writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        request.events_sent += 1
        self._changed.set()
        if pace:
            await writer.drain()
            await asyncio.sleep(pace)
        elif request.events_sent % 500 == 0:
            await writer.drain()


def tokens(body: Any) -> int:
    """A rough count, good enough for windows in tests."""
    parts = [body.get("system"), body.get("tools"), body.get("messages")] if isinstance(body, dict) else body
    return len(canonical(parts)) // 4


def _head(status: int, content_type: str | None, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} X", "Connection: close"]
    lines += [f"Content-Type: {content_type}"] if content_type else []
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


async def _main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--script", type=Path, required=True, help="a JSON list of items")
    parser.add_argument("--log", type=Path, help="append each request here, as a line of JSON")
    options = parser.parse_args()
    async with MessagesAPI(json.loads(options.script.read_text())) as api:
        print(api.url, flush=True)
        while True:
            await api.until(lambda: api.log, timeout=3600)
            request = api.log.pop(0)
            if options.log is not None:
                with options.log.open("a") as log:
                    log.write(json.dumps({"path": request.path, "body": request.body}) + "\n")


if __name__ == "__main__":
    asyncio.run(_main())
