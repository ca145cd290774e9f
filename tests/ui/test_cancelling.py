"""Stopping, waiting, taking back, the whole way: real app, runtime, tools and session, a server of ours."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from grid import grid
from server.messages_api import MessagesAPI, call, error, reply
from textual.pilot import Pilot

from tui_agent.credentials import Credentials
from tui_agent.settings import RuleText, Settings
from tui_agent.ui import opening
from tui_agent.ui.app import TuiApp

StartAPI = Callable[..., Awaitable[MessagesAPI]]
RULES = (RuleText("allow", "run_command(*)", "user"),)
SIZE = (80, 24)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def app_for(api: MessagesAPI, folder: Path, **options: Any) -> TuiApp:
    credentials = Credentials("sk-test-0123456789")
    settings = {"mode": "accept-edits", "rules": RULES, **options}
    return TuiApp(Settings(folder, base_url=api.url, credentials=credentials, **settings))


async def until(pilot: Pilot[Any], condition: Callable[[], Any], seconds: float = 20.0) -> None:
    deadline = asyncio.get_running_loop().time() + seconds
    while not condition():
        assert asyncio.get_running_loop().time() < deadline, grid(pilot.app)  # type: ignore[arg-type]
        await pilot.pause(0.02)


async def on_screen(pilot: Pilot[Any], *texts: str) -> None:
    await until(pilot, lambda: all(text in grid(pilot.app) for text in texts))


async def idle(pilot: Pilot[Any]) -> None:
    await until(pilot, lambda: pilot.app.turns.run is None)


async def say(pilot: Pilot[Any], text: str) -> None:
    pilot.app.main.prompt.focus()
    pilot.app.main.prompt.put(text)
    await pilot.press("enter")


async def next_prompt_works(pilot: Pilot[Any], api: MessagesAPI) -> None:
    """After any stop the API takes the next prompt."""
    await idle(pilot)
    pilot.app.main.prompt.put("")
    await say(pilot, "again")
    await on_screen(pilot, "Here again.")
    await idle(pilot)
    assert api.refused == []


async def test_escape_in_the_wait_for_a_retry_gives_the_prompt_back(
    messages_api: StartAPI, folder: Path
) -> None:
    api = await messages_api(error(529, retry_after=30), "Here again.")
    async with app_for(api, folder).run_test(size=SIZE) as pilot:
        await say(pilot, "hello")
        await until(pilot, lambda: "retry in" in pilot.app.main.status_line.render().plain)
        first = pilot.app.main.status_line.render().plain
        await until(pilot, lambda: pilot.app.main.status_line.render().plain != first)  # it counts down
        await pilot.press("escape")
        await idle(pilot)
        await until(pilot, lambda: pilot.app.main.prompt.text == "hello")
        await on_screen(pilot, "cancelled before anything came")
        told = [piece.source for piece in pilot.app.main.conversation.transcript.pieces]
        assert "hello" not in told  # it stands in the prompt again
        await next_prompt_works(pilot, api)


async def test_escape_while_the_library_is_loading_gives_the_prompt_back(
    messages_api: StartAPI, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = await messages_api("Here again.")
    loaded, load = asyncio.Event(), opening.in_thread

    async def slow(function: Any, *arguments: Any) -> Any:
        if arguments == ("tui_agent.runtime",):
            await loaded.wait()
        return await load(function, *arguments)

    monkeypatch.setattr(opening, "in_thread", slow)
    async with app_for(api, folder).run_test(size=SIZE) as pilot:
        await say(pilot, "hello")
        assert pilot.app.turns.run is not None
        await pilot.press("escape")
        await idle(pilot)
        await until(pilot, lambda: pilot.app.main.prompt.text == "hello")
        loaded.set()
        await next_prompt_works(pilot, api)
        assert len(api.requests) == 1


async def test_escape_in_a_compaction_leaves_the_conversation_as_it_was(
    messages_api: StartAPI, folder: Path
) -> None:
    slow = reply("A summary that takes its time.", pace=0.5)
    api = await messages_api("One.", "Two.", "Three.", slow, "Here again.")
    async with app_for(api, folder).run_test(size=SIZE) as pilot:
        for words in ("first", "second", "third"):
            await say(pilot, words)
            await until(pilot, lambda: pilot.app.turns.runtime is not None)
            await idle(pilot)
        await say(pilot, "/compact")
        await until(pilot, lambda: len(api.requests) == 4)
        await pilot.press("escape")
        await on_screen(pilot, "the conversation is as it was")
        await next_prompt_works(pilot, api)
        told = json.dumps(api.requests[-1].body["messages"])
        assert all(words in told for words in ("first", "One.", "third", "Three."))


async def test_nothing_of_a_stopped_turn_asks_or_runs_later(messages_api: StartAPI, folder: Path) -> None:
    writes = [call("run_command", {"command": "sleep 60"})]
    writes += [call("write_file", {"path": f"{n}.txt", "content": "x"}) for n in range(3)]
    api = await messages_api(reply(*writes), "Here again.")
    async with app_for(api, folder, mode="ask").run_test(size=SIZE) as pilot:
        await say(pilot, "hello")
        await on_screen(pilot, "run_command sleep 60")
        await until(pilot, lambda: "running" in pilot.app.main.status_line.render().plain)
        await pilot.press("escape", "escape")
        await idle(pilot)
        await pilot.pause(0.3)
        assert pilot.app.screen is pilot.app.main
        assert not any((folder / f"{n}.txt").exists() for n in range(3)), os.listdir(folder)
        assert os.listdir(folder) == []
        await next_prompt_works(pilot, api)
        results = api.requests[-1].body["messages"][2]["content"][:4]
        assert [block["type"] for block in results] == ["tool_result"] * 4


async def test_what_a_stopped_turn_had_written_is_told_and_taken_back(
    messages_api: StartAPI, folder: Path
) -> None:
    api = await messages_api(
        reply(
            call("write_file", {"path": "new.txt", "content": "x\n"}),
            call("run_command", {"command": "sleep 60"}),
        ),
    )
    async with app_for(api, folder).run_test(size=SIZE) as pilot:
        await say(pilot, "hello")
        await on_screen(pilot, "run_command sleep 60")
        await until(pilot, (folder / "new.txt").exists)
        await pilot.press("escape")
        await on_screen(pilot, "this turn changed new.txt", "/undo turn 1")
        await say(pilot, "/undo turn 1")
        await on_screen(pilot, "y  undo it")
        await pilot.press("y")
        await until(pilot, lambda: not (folder / "new.txt").exists())


async def test_a_refused_exchange_is_taken_back(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api(reply("No.", stop_reason="refusal"), "Here again.")
    async with app_for(api, folder).run_test(size=SIZE) as pilot:
        await say(pilot, "something bad")
        await on_screen(pilot, "The model declined to answer.", "/takeback")
        await idle(pilot)
        await say(pilot, "/takeback")
        await until(pilot, lambda: pilot.app.main.prompt.text == "something bad")
        await next_prompt_works(pilot, api)
        assert "something bad" not in json.dumps(api.requests[-1].body["messages"])
        await say(pilot, "/takeback")
        await until(pilot, lambda: pilot.app.main.prompt.text == "again")
        pilot.app.main.prompt.put("")
        await say(pilot, "/takeback")
        await until(pilot, lambda: not pilot.app.turns.runtime.context.prompts())


async def test_a_cut_answer_says_so_and_goes_on(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api(reply("Half an", stop_reason="max_tokens"), "answer.")
    async with app_for(api, folder).run_test(size=SIZE) as pilot:
        await say(pilot, "hello")
        await on_screen(pilot, "The answer was cut at the output limit.", "/continue has the rest")
        await idle(pilot)
        await say(pilot, "/continue")
        await on_screen(pilot, "answer.")
        await idle(pilot)
        assert api.refused == []


async def test_x_ends_a_background_command_and_the_log_says_so(messages_api: StartAPI, folder: Path) -> None:
    command = "echo up && sleep 60"
    api = await messages_api(reply(call("run_command", {"command": command, "background": True})), "Started.")
    async with app_for(api, folder).run_test(size=SIZE) as pilot:
        await say(pilot, "hello")
        await on_screen(pilot, "Started.")
        await idle(pilot)
        await pilot.press("f3")
        await on_screen(pilot, "& job", "job-1", "│ up")
        await pilot.press("x")
        await on_screen(pilot, "end job-1")
        await pilot.press("x")
        await on_screen(pilot, "■ stopped")
        job = pilot.app.turns.runtime.jobs.get("job-1")
        assert not job.running


async def test_escape_leaves_background_commands_and_says_so(messages_api: StartAPI, folder: Path) -> None:
    start = call("run_command", {"command": "sleep 60", "background": True})
    api = await messages_api(reply(start), reply("Going on and on.", pace=0.5))
    async with app_for(api, folder).run_test(size=SIZE) as pilot:
        await say(pilot, "hello")
        await on_screen(pilot, "Going")
        await pilot.press("escape")
        await on_screen(pilot, "Still running in the background: job-1 sleep 60")
        assert pilot.app.turns.runtime.jobs.get("job-1").running
