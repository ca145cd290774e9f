"""The wiring: real files, a real session, the model over real HTTP."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from server.messages_api import MessagesAPI, call, reply, text

from tui_agent import paths
from tui_agent.agent import AgentEvent, Allow, CancelSignal, Deny, FileChanged, ToolProgress, TurnStarted
from tui_agent.agent.events import FLEETING
from tui_agent.agent.messages import TextContent
from tui_agent.credentials import Credentials
from tui_agent.permissions.broker import Question
from tui_agent.permissions.sandbox import find_bwrap
from tui_agent.permissions.trust import trust
from tui_agent.runtime import Runtime
from tui_agent.session.store import FILE, SessionError, load
from tui_agent.settings import RuleText, Settings, SettingsError

StartAPI = Callable[..., Awaitable[MessagesAPI]]


class Desk:
    """A host that notes events and answers every question the same way."""

    def __init__(self, answer: Callable[[Question], Allow | Deny] | None = None) -> None:
        self.events: list[AgentEvent] = []
        self._answer = answer

    async def show(self, event: AgentEvent) -> None:
        self.events.append(event)

    async def ask(self, questions: Sequence[Question], signal: CancelSignal) -> Sequence[Allow | Deny]:
        assert self._answer is not None
        return [self._answer(question) for question in questions]

    def of(self, kind: str) -> list[Any]:
        return [event for event in self.events if event.type == kind]


def approve(question: Question) -> Allow:
    return Allow(question.pending.proposal)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.txt").write_text("one\n")
    return tmp_path / "project"


def settings_for(api: MessagesAPI, folder: Path, **options: Any) -> Settings:
    return Settings(folder, base_url=api.url, credentials=Credentials("sk-test-0123456789"), **options)


async def test_a_turn_is_stored_before_it_is_shown(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api(reply(call("read_file", {"path": "a.txt"})), "done")
    shown: list[str] = []
    early: list[str] = []

    async def show(event: AgentEvent) -> None:
        (place,) = [file.parent for file in paths.sessions_folder().rglob(FILE)]
        stored = {entry.model_dump_json() for entry in load(place)[1]}
        shown.append(event.type)
        if event.type not in FLEETING and event.model_dump_json() not in stored:
            early.append(event.type)

    runtime = await Runtime.open(settings_for(api, folder), on_event=show)
    ended = await runtime.prompt("look")
    await runtime.close()
    assert ended.stop_reason == "end_turn"
    assert early == []
    assert (shown[0], shown[-1]) == ("session_started", "turn_ended")
    assert {"text_delta", "tool_call_finished"} <= set(shown)


async def test_the_first_request_is_small(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api("hi")
    runtime = await Runtime.open(settings_for(api, folder))
    await runtime.prompt("hello")
    await runtime.close()
    body = api.requests[0].body
    assert len(json.dumps(body["system"])) + len(json.dumps(body["tools"])) <= 8_000
    assert {tool["name"] for tool in body["tools"]} >= {
        "list_files",
        "read_file",
        "search_files",
        "edit_file",
        "write_file",
        "run_command",
    }
    assert str(folder) in json.dumps(body["system"])


async def test_a_change_is_asked_written_and_told_as_changed(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api(
        reply(call("read_file", {"path": "a.txt"})),
        reply(call("edit_file", {"path": "a.txt", "old": "one", "new": "two"}, "e1")),
        "done",
    )
    desk = Desk(approve)
    runtime = await Runtime.open(settings_for(api, folder), ask=desk.ask, on_event=desk.show)
    await runtime.prompt("edit")
    await runtime.close()
    assert (folder / "a.txt").read_text() == "two\n"
    (changed,) = desk.of("file_changed")
    assert isinstance(changed, FileChanged)
    assert (changed.path, changed.call_id) == ("a.txt", "e1")
    assert changed.before != changed.after
    types = [event.type for event in desk.events]
    assert types.index("approval_requested") < types.index("file_changed")
    assert types[types.index("file_changed") - 1] == "tool_call_finished"


async def test_a_declined_change_changes_nothing(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api(reply(call("write_file", {"path": "b", "content": "x"})), "ok")
    desk = Desk(lambda question: Deny("not now"))
    runtime = await Runtime.open(settings_for(api, folder), ask=desk.ask, on_event=desk.show)
    await runtime.prompt("write")
    await runtime.close()
    assert not (folder / "b").exists()
    assert desk.of("file_changed") == []
    assert runtime.unanswered == []
    assert "not now" in json.dumps(api.requests[1].body["messages"][-1])


async def test_without_anyone_to_ask_the_calls_are_remembered(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api(reply(call("write_file", {"path": "b", "content": "x"}, "w1")), "ok")
    runtime = await Runtime.open(settings_for(api, folder))
    await runtime.prompt("write")
    await runtime.close()
    assert [pending.call.id for pending in runtime.unanswered] == ["w1"]


async def test_live_output_comes_before_the_end_of_its_call(messages_api: StartAPI, folder: Path) -> None:
    command = "echo first; until [ -e go ]; do sleep 0.02; done; echo last"
    api = await messages_api(reply(call("run_command", {"command": command}, "c1")), "done")
    desk = Desk(approve)

    async def show(event: AgentEvent) -> None:
        await desk.show(event)
        if event.type == "tool_progress":
            (folder / "go").touch()

    runtime = await Runtime.open(settings_for(api, folder), ask=desk.ask, on_event=show)
    await runtime.prompt("run")
    await runtime.close()
    progress = desk.of("tool_progress")
    assert isinstance(progress[0], ToolProgress)
    assert progress[0].call_id == "c1"
    assert "first" in progress[0].text
    types = [event.type for event in desk.events]
    assert "tool_progress" not in types[types.index("tool_call_finished") :]
    stored = load(runtime.session.place)[1]
    assert {"tool_progress", "text_delta"} & {event.type for event in stored} == set()


async def test_a_continued_session_sends_the_same_prefix_and_replays(
    messages_api: StartAPI, folder: Path
) -> None:
    api = await messages_api("first", "second")
    runtime = await Runtime.open(settings_for(api, folder))
    await runtime.prompt("one")
    await runtime.close()
    (folder / "AGENTS.md").write_text("be brief")
    trust(folder, paths.state_folder())  # joins new sessions, never this one
    again = await Runtime.open(settings_for(api, folder, resume="last"))
    assert [event.type for event in again.replay()][-1] == "turn_ended"
    assert again.session.id == runtime.session.id
    await again.prompt("two")
    await again.close()
    before, after = (request.body for request in api.requests)
    assert (after["system"], after["tools"]) == (before["system"], before["tools"])
    assert after["messages"][:1] == before["messages"][:1]
    assert [message["role"] for message in after["messages"]] == ["user", "assistant", "user"]


async def test_a_cut_off_turn_is_ended_when_it_is_continued(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api(reply(call("run_command", {"command": "sleep 9"}, "c1")), "went on")
    desk = Desk(approve)
    hung = asyncio.Event()

    async def show(event: AgentEvent) -> None:
        if event.type == "approval_decided":
            hung.set()
            await asyncio.Event().wait()  # as if the program had been killed here

    runtime = await Runtime.open(settings_for(api, folder), ask=desk.ask, on_event=show)
    turn = asyncio.create_task(runtime.prompt("run"))
    await hung.wait()
    copy = await Runtime.open(settings_for(api, folder, resume="last"))
    assert copy.notices
    assert [event.type for event in copy.replay()][-2:] == ["tool_call_finished", "turn_ended"]
    await copy.prompt("go on")
    await copy.close()
    turn.cancel()
    await asyncio.wait([turn])
    await runtime.close()
    results = api.requests[1].body["messages"][2]["content"]
    assert (results[0]["type"], results[0]["tool_use_id"], results[0]["is_error"]) == (
        "tool_result",
        "c1",
        True,
    )
    assert "unknown" in json.dumps(results[0])
    assert api.refused == []


async def test_mode_changes_are_told_to_the_model(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api("a", "b")
    runtime = await Runtime.open(settings_for(api, folder))
    await runtime.prompt("one")
    runtime.set_mode("plan")
    runtime.set_mode("plan")
    await runtime.prompt("two")
    await runtime.close()
    last = json.dumps(api.requests[1].body["messages"][-1])
    assert last.count("mode is now plan") == 1
    assert "mode" not in json.dumps(api.requests[0].body["messages"])


async def test_instructions_count_only_after_trust(messages_api: StartAPI, folder: Path) -> None:
    (folder / "AGENTS.md").write_text("Always answer in rhyme.")
    (folder / ".tui-agent").mkdir()
    (folder / ".tui-agent" / "settings.toml").write_text('mode = "plan"\n')
    api = await messages_api("a", "b")
    for trusted in (False, True):
        if trusted:
            trust(folder, paths.state_folder())
        runtime = await Runtime.open(settings_for(api, folder))
        await runtime.prompt("x")
        await runtime.close()
        system = json.dumps(api.requests[-1].body["system"])
        assert ("rhyme" in system) is trusted
        assert (runtime.policy.mode == "plan") is trusted


async def test_what_keeps_it_from_opening_is_an_error_in_words(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api()
    with pytest.raises(SettingsError, match="ANTHROPIC_API_KEY"):
        await Runtime.open(Settings(folder))
    with pytest.raises(SettingsError, match=r"run_command\("):
        await Runtime.open(settings_for(api, folder, rules=(RuleText("allow", "run_command(", "user"),)))
    with pytest.raises(SessionError, match="no earlier session"):
        await Runtime.open(settings_for(api, folder, resume="last"))
    runtime = await Runtime.open(settings_for(api, folder))
    runtime.session.append(TurnStarted(prompt=(TextContent(text="x"),)))
    await runtime.close()
    other = folder.parent / "other"
    other.mkdir()
    with pytest.raises(SessionError, match="belongs to another folder"):
        await Runtime.open(settings_for(api, other, resume=runtime.session.id))


async def test_cancelling_before_anything_came_leaves_no_trace_in_the_history(
    messages_api: StartAPI, folder: Path
) -> None:
    api = await messages_api(reply(text("x"), delay=30), "fine")
    desk = Desk()
    runtime = await Runtime.open(settings_for(api, folder), on_event=desk.show)
    signal = CancelSignal()
    turn = asyncio.create_task(runtime.prompt("one", signal))
    await api.until(lambda: api.requests)
    signal.cancel()
    assert (await turn).stop_reason == "cancelled"
    await api.until(lambda: api.requests[0].closed)
    await runtime.prompt("two")
    await runtime.close()
    assert [m["role"] for m in api.requests[1].body["messages"]] == ["user"]
    assert "one" not in json.dumps(api.requests[1].body["messages"])


@pytest.mark.skipif(find_bwrap() is None, reason="needs bubblewrap")
async def test_with_the_sandbox_auto_runs_commands_that_can_change_the_folder_only(
    messages_api: StartAPI, folder: Path, tmp_path: Path
) -> None:
    command = f"touch inside; touch {tmp_path}/outside; ls -a"
    api = await messages_api(reply(call("run_command", {"command": command})), "done")
    desk = Desk()
    runtime = await Runtime.open(settings_for(api, folder, mode="auto", sandbox=True), on_event=desk.show)
    await runtime.prompt("run")
    await runtime.close()
    assert runtime.unanswered == []
    assert sorted(os.listdir(folder)) == ["a.txt", "inside"]
    assert not (tmp_path / "outside").exists()


async def test_a_sandbox_that_can_t_be_had_is_said_before_anything_starts(
    messages_api: StartAPI, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = await messages_api()
    monkeypatch.setattr("tui_agent.permissions.sandbox._PLACES", ("/nowhere/bwrap",))
    with pytest.raises(SettingsError, match=r"bubblewrap .* is not installed; install it"):
        await Runtime.open(settings_for(api, folder, sandbox=True))


async def test_a_rule_that_no_tool_will_ever_meet_is_told(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api("done")
    rules = (
        RuleText("deny", "run_comand(rm *)", "command line"),
        RuleText("deny", "write_file(*.py)", "user"),
        RuleText("allow", "read_file", "user"),
    )
    runtime = await Runtime.open(settings_for(api, folder, rules=rules))
    try:
        [notice] = runtime.notices
        assert "deny rule run_comand(rm *) does nothing" in notice
        assert "run_command" in notice
    finally:
        await runtime.close()
