"""The Messages API through the Anthropic SDK; nothing else uses it, and it is imported only when needed.

The SDK keeps HTTP, credentials, framing and the closing of the socket when a task is cancelled. We read its
server-sent events ourselves: so pings count as life, blocks keep the bytes they came with, and the odd
servers that people put in between are told apart from the API. Whatever goes wrong leaves `stream` as a
`ModelError` of `failures`; nothing is sent twice here, that is `retry`'s part, but for one case: a server
that does not know adaptive thinking is asked again without it, visibly.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tui_agent.agent.calling import in_thread
from tui_agent.agent.errors import ModelError, Phase
from tui_agent.agent.model import MessageDone, ModelEvent, ModelRequest, Retrying
from tui_agent.credentials import Credentials
from tui_agent.models.catalogue import FALLBACK_WINDOW, ModelInfo, thinks_adaptively
from tui_agent.models.failures import failure, from_answer
from tui_agent.models.lean_sdk import leanly
from tui_agent.models.reply import Reply
from tui_agent.models.request import call_ids, parameters, thinks
from tui_agent.models.sse import events, gathered

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic, AsyncStream

IDLE_SECONDS = 120.0
CONNECT_SECONDS = 15.0
DRAIN_SECONDS = 0.2
MAX_TOKENS = 32_000
_importing = threading.Lock()


class AnthropicModel:
    """A model behind the Messages API. `thinking`: None asks for it where the model is known to have it.

    Without a key, token and base URL the SDK looks for them where it always does (environment, profiles).
    """

    def __init__(
        self,
        name: str,
        *,
        api_key: str | None = None,
        auth_token: str | None = None,
        base_url: str | None = None,
        max_tokens: int = MAX_TOKENS,
        version_header: str | None = None,
        effort: str | None = None,
        thinking: bool | None = None,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self.name = name
        self._credentials = Credentials((api_key or "").strip() or None, (auth_token or "").strip() or None)
        self._base_url = base_url or None
        self._max_tokens = max_tokens
        self._version = version_header
        self._effort = effort
        self._thinking = thinks_adaptively(name) if thinking is None else thinking
        self._idle = idle_seconds
        self._client: AsyncAnthropic | None = None
        self._making = threading.Lock()
        self._closed = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._known: dict[str, ModelInfo] = {}

    def warm(self) -> None:
        """Import the SDK and make the client, half a second of work, in whatever thread this is called."""
        with _importing:
            _import_sdk()
        with self._making:
            if self._client is None and not self._closed:
                with suppress(Exception):  # the request meets it again, and says it to the person
                    self._client = self._make_client()

    async def close(self) -> None:
        """Waits for a client that is being made: a thread that still reads certificates when the program
        ends crashes it.
        """
        self._closed = True
        await in_thread(self._made)
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _made(self) -> None:
        with self._making:
            pass

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """One request, one answer. Closing this generator, or cancelling its task, closes the socket."""
        try:
            async with aclosing(self._attempt(request)) as told:
                async for event in told:
                    yield event
            return
        except ModelError as error:
            if error.kind != "thinking_rejected" or not self._thinking or thinks(request.messages):
                raise
            self._thinking = False
            yield Retrying(error=f"{error.message}: asking again without thinking", delay=0.0)
        async with aclosing(self._attempt(request)) as told:
            async for event in told:
                yield event

    async def _attempt(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        phase: Phase = "request"
        reply = Reply(call_ids(request.messages))
        try:
            stream = await self._send(request)
            phase = "stream"
            try:
                async with aclosing(events(stream)) as sent:
                    async for event in gathered(sent):
                        for told in self._told(reply, event, stream):
                            yield told
                        if reply.finished:
                            await _drain(sent)
                            break
            finally:
                await stream.close()
            if not reply.finished:
                raise failure("interrupted", "the answer ended before it was complete", phase=phase)
        except Exception as error:
            raise self._meant(error, phase) from None
        yield MessageDone(message=reply.message())

    def _told(self, reply: Reply, event: dict[str, Any], stream: AsyncStream[Any]) -> Iterable[ModelEvent]:
        match event:
            case {"type": "error"}:
                raise from_answer(200, event, stream.response.headers, "stream")
            case {"type": "message", "content": [*_]}:
                return reply.feed_whole(event)
        return reply.feed(event)

    async def _send(self, request: ModelRequest) -> AsyncStream[Any]:
        client = await self._connected()
        limit = min(request.max_tokens or self._max_tokens, self._max_output)
        options: dict[str, Any] = {"model": self.name, "max_tokens": limit, **parameters(request)}
        options["cache_control"] = {"type": "ephemeral"}
        if self._thinking:
            options["thinking"] = {"type": "adaptive", "display": "summarized"}
        if self._effort is not None:
            options["output_config"] = {"effort": self._effort}
        return await self._post(client, {**options, "stream": True})

    async def _post(self, client: AsyncAnthropic, body: dict[str, Any]) -> AsyncStream[Any]:
        """As `messages.create` sends it, which copies all of a long conversation first."""
        from anthropic import AsyncStream

        content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        return await client.post(
            "/v1/messages", content=content, cast_to=object, stream=True, stream_cls=AsyncStream[Any]
        )

    @property
    def _max_output(self) -> int:
        """Tokens of an answer at most: what the server said of this model, if it was asked."""
        info = self._known.get(self.name)
        return (info.max_output if info else None) or sys.maxsize

    async def list_models(self) -> tuple[ModelInfo, ...]:
        """The models that this server offers. Raises `ModelError` where it has no list."""
        try:
            client = await self._connected()
            listed = [_info(model) async for model in client.models.list(limit=100)]
        except Exception as error:
            raise self._meant(error, "request") from None
        self._known |= {info.id: info for info in listed}
        return tuple(listed)

    async def window(self, name: str | None = None) -> int:
        """Tokens that a model (this one) can take in: the server's word, else what every model can take."""
        name = name or self.name
        if name not in self._known:
            with suppress(ModelError):
                self._known[name] = await self._retrieve(name)
        info = self._known.get(name)
        return (info.window if info else None) or FALLBACK_WINDOW

    async def _retrieve(self, name: str) -> ModelInfo:
        try:
            client = await self._connected()
            return _info(await client.models.retrieve(name))
        except Exception as error:
            failed = self._meant(error, "request")
            if isinstance(failed, ModelError) and failed.kind in ("not_found", "bad_answer"):
                return ModelInfo(name, name)  # a server without a catalogue need not be asked again
            raise failed from None

    async def _connected(self) -> AsyncAnthropic:
        if self._client is None:
            await in_thread(self.warm)  # a daemon thread: leaving need not wait for it
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop not in (None, loop):
            self._client = self._make_client()  # connections belong to the loop that opened them
        self._loop = loop
        return self._client

    def _make_client(self) -> AsyncAnthropic:
        from anthropic import AsyncAnthropic
        from httpx2 import Timeout

        return AsyncAnthropic(
            api_key=self._credentials.api_key,
            auth_token=None if self._credentials.api_key else self._credentials.auth_token,
            base_url=self._base_url,
            timeout=Timeout(self._idle, connect=min(CONNECT_SECONDS, self._idle)),
            max_retries=0,
            open_telemetry=False,
            default_headers={"anthropic-version": self._version} if self._version else None,
        )

    def _meant(self, error: Exception, phase: Phase) -> Exception:
        """The `ModelError` that `error` means, without the key in it. Bugs of ours stay as they are."""
        failed = error if isinstance(error, ModelError) else self._meaning(error, phase)
        if failed is None:
            return error
        failed.message = self._redact(failed.message)
        failed.args = (failed.message,)
        return failed

    def _meaning(self, error: Exception, phase: Phase) -> ModelError | None:
        import anthropic
        import httpx2

        match error:
            case anthropic.APIStatusError():
                return from_answer(error.status_code, error.body, error.response.headers, phase)
            case anthropic.APITimeoutError() | httpx2.ReadTimeout() if phase == "stream" or _was_read(error):
                return failure("connection", f"no byte for {self._idle:.0f} s from {self._host}", phase=phase)
            case anthropic.APIConnectionError() | httpx2.TransportError() if phase == "request":
                cause = error.__cause__ or error
                if isinstance(cause, httpx2.LocalProtocolError):
                    return failure("bad_key", f"the key can't be sent: {_said(cause)}")
                if isinstance(cause, httpx2.UnsupportedProtocol):
                    return failure("bad_url", _said(cause))
                return failure("connection", f"no connection to {self._host}: {_said(cause)}", phase=phase)
            case httpx2.HTTPError() | anthropic.APIConnectionError():
                return failure("interrupted", f"the connection broke: {_said(error)}", phase=phase)
            case anthropic.CredentialsError():
                return failure("no_key", _said(error), phase=phase)
            case TypeError() if self._lacks_credentials:
                return failure("no_key", "there is no key for the Messages API", phase=phase)
            case UnicodeEncodeError() if phase == "request":
                return failure("bad_key", "the key has characters that no key has", phase=phase)
            case httpx2.InvalidURL():
                return failure("bad_url", _said(error))
            case anthropic.AnthropicError():
                return failure("bad_answer", _said(error), phase=phase)
            case ValueError():
                return failure("bad_answer", f"the answer is not the API's: {_said(error)}", phase=phase)
        return None

    @property
    def _lacks_credentials(self) -> bool:
        client = self._client
        return client is not None and not (client.api_key or client.auth_token or client.credentials)

    @property
    def _host(self) -> str:
        url = str(self._client.base_url) if self._client is not None else self._base_url or ""
        return urlsplit(url).netloc.rpartition("@")[2] or "the API"

    def _redact(self, text: str) -> str:
        client = self._client
        used = Credentials(client.api_key, client.auth_token) if client is not None else self._credentials
        return used.redact(self._credentials.redact(text))


async def _drain(sent: AsyncIterator[Any]) -> None:
    """Read to the end of the body, which has come by now, so that the connection can be used again."""
    with suppress(Exception):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in sent:
                pass


def _import_sdk() -> None:
    """A thousand modules: without collections a screen meanwhile keeps its pace."""
    collects = gc.isenabled()
    gc.disable()
    try:
        leanly(_import)
    finally:
        if collects:
            gc.enable()


def _import() -> None:
    from anthropic import AsyncAnthropic  # noqa: F401
    from anthropic.resources import messages, models  # noqa: F401


def _info(model: Any) -> ModelInfo:
    """Read with care: servers of all kinds answer here, and the SDK does not check what they say."""
    id = getattr(model, "id", None)
    if not isinstance(id, str):
        raise failure("bad_answer", "the list of models is not the API's")
    window, output = (getattr(model, name, None) for name in ("max_input_tokens", "max_tokens"))
    return ModelInfo(
        id=id,
        display_name=str(getattr(model, "display_name", None) or id),
        window=window if type(window) is int and window > 0 else None,
        max_output=output if type(output) is int and output > 0 else None,
    )


def _was_read(error: Exception) -> bool:
    from httpx2 import ReadTimeout

    return isinstance(error, ReadTimeout) or isinstance(error.__cause__, ReadTimeout)


def _said(error: BaseException) -> str:
    return str(error) or type(error).__name__
