"""A command of the person's own through the real runtime: told to the model, kept in the session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from server.messages_api import MessagesAPI

from tui_agent.agent import AgentEvent, CancelSignal
from tui_agent.credentials import Credentials
from tui_agent.runtime import Runtime
from tui_agent.settings import Settings

StartAPI = Callable[..., Awaitable[MessagesAPI]]


async def test_it_is_told_once_and_a_reopened_session_shows_it(
    messages_api: StartAPI, tmp_path: Path
) -> None:
    api = await messages_api("seen", "again")
    settings = Settings(tmp_path, base_url=api.url, credentials=Credentials("sk-test-0123456789"))
    runtime = await Runtime.open(settings)
    await runtime.run_own("echo told", CancelSignal(), call_id="own-1", told=True)
    await runtime.run_own("echo private", CancelSignal(), call_id="own-2", told=False)
    await runtime.prompt("look", CancelSignal())
    await runtime.prompt("and now", CancelSignal())
    first, second = (str(request.body["messages"]) for request in api.requests)
    assert first.count("$ echo told") == second.count("$ echo told") == 1
    assert "private" not in second
    identity = runtime.session.id
    await runtime.close()

    events: list[AgentEvent] = []

    async def show(event: AgentEvent) -> None:
        events.append(event)

    reopened = await Runtime.open(Settings(**{**vars(settings), "resume": identity}), on_event=show)
    assert [e.call.id for e in reopened.replay() if e.type == "tool_call_started"] == ["own-1", "own-2"]
    assert reopened.agent.messages == runtime.agent.messages
    assert not reopened.agent.history.open_calls
    await reopened.close()
