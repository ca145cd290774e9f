"""The owner of the model's context, without a screen: limits, guards, and what reaches the model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from server.messages_api import MessagesAPI, Request, call, reply, text, thinking

from tui_agent import headless
from tui_agent.agent import CancelSignal, History
from tui_agent.credentials import Credentials
from tui_agent.options import read_options, read_settings
from tui_agent.paths import settings_file
from tui_agent.runtime import Runtime
from tui_agent.session.compaction import ASK
from tui_agent.session.prompts import Asked
from tui_agent.settings import RuleText, Settings

StartAPI = Callable[..., Awaitable[MessagesAPI]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.txt").write_text("one\n")
    return tmp_path / "project"


def settings_for(api: MessagesAPI, folder: Path, **options: Any) -> Settings:
    return Settings(folder, base_url=api.url, credentials=Credentials("sk-test-0123456789"), **options)


def asks_for_summary(request: Request) -> bool:
    return ASK[:40] in json.dumps(request.body["messages"][-1], ensure_ascii=False)


def test_the_limit_of_tokens_comes_from_the_command_line_or_the_file(folder: Path) -> None:
    settings_file().parent.mkdir(parents=True, exist_ok=True)
    settings_file().write_text("max_tokens_total = 7000\nthinking = false\n")
    assert read_settings(read_options([]), folder).max_tokens_total == 7000
    assert read_settings(read_options([]), folder).thinking is False
    given = read_settings(read_options(["--max-tokens-total", "5000"]), folder)
    assert given.max_tokens_total == 5000
    assert given.tightened({"max_tokens_total": 6000}).max_tokens_total == 5000
    assert given.tightened({"max_tokens_total": 4000}).max_tokens_total == 4000
    assert Settings(folder).tightened({"max_tokens_total": 4000}).max_tokens_total == 4000
    assert Settings(folder).tightened({}).max_tokens_total is None


def test_a_model_of_the_command_line_is_known_as_such(folder: Path) -> None:
    settings_file().parent.mkdir(parents=True, exist_ok=True)
    settings_file().write_text('model = "mine"\n')
    for arguments, expected in (([], ("mine", False)), (["--model", "other"], ("other", True))):
        settings = read_settings(read_options(arguments), folder)
        assert (settings.model, settings.model_named) == expected


async def test_a_run_without_a_screen_goes_on_with_the_model_of_the_session(
    messages_api: StartAPI, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    api = await messages_api("one", "two")
    for options in ({"model": "claude-haiku-5-5"}, {"resume": "last"}):
        await headless.Headless(settings_for(api, folder, **options), "text").run("go")
    assert [request.body["model"] for request in api.requests] == ["claude-haiku-5-5"] * 2
    assert "goes on with claude-haiku-5-5; your settings name claude-opus-5-5" in capsys.readouterr().err


async def test_the_limit_ends_a_run_without_a_screen(
    messages_api: StartAPI, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    api = await messages_api(
        lambda request: reply(call("read_file", {"path": "a.txt"}), usage={"input_tokens": 900})
    )
    code = await headless.Headless(settings_for(api, folder, max_tokens_total=1500), "json").run("go")
    assert (code, json.loads(capsys.readouterr().out)["stop_reason"]) == (4, "step_limit")
    assert len(api.requests) == 2


async def test_a_resumed_session_that_is_full_makes_room_first(messages_api: StartAPI, folder: Path) -> None:
    small = {"id": "claude-opus-5-5", "display_name": "S", "max_input_tokens": 12_000, "max_tokens": 2000}
    long = reply(text("lorem " * 4000), usage={"input_tokens": 11_000})
    old = await Runtime.open(settings_for(await messages_api(long, long), folder))
    await old.prompt("a")
    await old.prompt("b")
    await old.close()

    def script(request: Request) -> Any:
        return "THE GIST" if asks_for_summary(request) else "finished"

    api = await messages_api(script, models=[small])
    runtime = await Runtime.open(settings_for(api, folder, resume="last"))
    assert await runtime.learn_window() == 12_000
    ended = await runtime.prompt("c")
    assert ended.stop_reason == "end_turn"
    await runtime.close()
    assert [asks_for_summary(request) for request in api.requests] == [True, False]
    assert "THE GIST" in json.dumps(api.requests[1].body["messages"][0])
    assert api.refused == []


async def test_no_run_waits_for_the_size_of_the_window(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api("hi")
    runtime = await Runtime.open(settings_for(api, folder))
    assert runtime.context.window is None
    ended = await runtime.prompt("hello")
    assert ended.stop_reason == "end_turn"
    assert [request.path.split("?")[0] for request in api.log] == ["/v1/messages"]
    await runtime.close()


async def test_the_demo_asks_no_server(folder: Path) -> None:
    runtime = await Runtime.open(Settings(folder, demo=True))
    assert await runtime.learn_window() is None
    assert await runtime.context.models() == ()
    await runtime.close()


async def test_nothing_of_it_is_done_while_a_turn_is_running(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api("one", reply("slow", delay=30))
    settings = settings_for(api, folder)
    runtime = await Runtime.open(settings)
    await runtime.prompt("first")
    signal = CancelSignal()
    turn = asyncio.create_task(runtime.prompt("second", signal))
    await api.until(lambda: len(api.requests) == 2)
    before = runtime.agent.messages
    (first, *_) = runtime.context.prompts()
    for attempt in (
        runtime.context.compact(),
        runtime.context.rewind(first),
        runtime.context.use(settings),
    ):
        with pytest.raises(RuntimeError, match="stop it first"):
            await attempt
    assert runtime.agent.messages == before
    signal.cancel()
    await turn
    await runtime.close()


async def test_a_prompt_that_is_gone_cannot_be_gone_back_to(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api("one")
    runtime = await Runtime.open(settings_for(api, folder))
    await runtime.prompt("first")
    for start in (1, 2, 9):
        with pytest.raises(ValueError, match="no longer"):
            await runtime.context.rewind(Asked("x", 1, start))
    await runtime.close()


async def test_going_back_drops_thinking_and_calls_as_whole_messages(
    messages_api: StartAPI, folder: Path
) -> None:
    api = await messages_api(
        reply(thinking("a"), call("read_file", {"path": "a.txt"})),
        reply(thinking("b"), text("one")),
        reply(thinking("c"), call("read_file", {"path": "a.txt"})),
        "two",
        "three",
    )
    runtime = await Runtime.open(settings_for(api, folder))
    await runtime.prompt("first")
    await runtime.prompt("second")
    await runtime.context.rewind(runtime.context.prompts()[1])
    await runtime.prompt("third")
    await runtime.close()
    assert api.refused == []
    assert len(api.requests[-1].body["messages"]) == 5
    assert History.replay(runtime.events).messages == runtime.agent.messages


async def test_a_denied_file_is_not_read_on_any_way(messages_api: StartAPI, folder: Path) -> None:
    (folder / "private").mkdir()
    (folder / "private" / "diary.txt").write_text("needle of mine\n")
    (folder / "open.txt").write_text("needle for all\n")
    (folder / "link.txt").symlink_to("private/diary.txt")
    api = await messages_api(
        reply(call("search_files", {"pattern": "needle"}), call("read_file", {"path": "link.txt"}, "r")),
        "done",
    )
    rules = (RuleText("deny", "read_file(private/**)", "user"),)
    runtime = await Runtime.open(settings_for(api, folder, rules=rules))
    await runtime.prompt("look")
    await runtime.close()
    told = json.dumps(api.requests[-1].body["messages"][-1])
    assert "needle for all" in told
    assert "needle of mine" not in told


async def test_strays_of_killed_writers_are_swept_after_the_start(
    messages_api: StartAPI, folder: Path
) -> None:
    stray = folder / f".tui-agent-{'0' * 16}.tmp"
    stray.write_text("half of some")
    api = await messages_api("hi")
    runtime = await Runtime.open(settings_for(api, folder))
    assert stray.exists()
    await runtime.warm()
    async with asyncio.timeout(5):
        while stray.exists():
            await asyncio.sleep(0.01)
    assert (folder / "a.txt").exists()
    await runtime.close()
