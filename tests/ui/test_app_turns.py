"""Runs, from Enter to the end, with real keys and a real agent."""

from __future__ import annotations

import asyncio
from typing import Any

from app_host import Host, until

from tui_agent.agent import AgentTool, CancelSignal, ModelError
from tui_agent.settings import SettingsError
from tui_agent.ui.drafts.draft import Draft


class Sleeper(AgentTool):
    """Runs until its signal is set, or, when stubborn, until it is let go."""

    name = "sleep"
    description = "Waits."
    parameters = {"type": "object"}  # noqa: RUF012

    def __init__(self, *, stubborn: bool = False) -> None:
        super().__init__()
        self.running = asyncio.Event()
        self.let_go = asyncio.Event()
        self.stubborn = stubborn

    async def execute(self, parameters: Any, signal: CancelSignal) -> str:
        self.running.set()
        if self.stubborn:
            await self.let_go.wait()
        else:
            await signal.race(self.let_go.wait())
        return "slept"


async def test_a_prompt_streams_into_the_conversation_and_the_status_line() -> None:
    async with Host().run_test(size=(120, 30)) as pilot:
        app = pilot.app
        await pilot.press(*"hello", "enter")
        await until(pilot, lambda: app.model.requests)
        assert "thinking" in app.status_row
        app.model.say("Good morning", done=False)
        await until(pilot, lambda: "Good morning" in app.text)
        assert "answering" in app.status_row
        assert "hello" in app.text
        app.model.say(".")
        await until(pilot, lambda: app.turns.run is None)
        await until(pilot, lambda: "step 1 of 30" in app.status_row)
        assert "1.2k tokens" in app.status_row
        assert "answering" not in app.status_row
        assert app.prompt_text == ""


async def test_a_prompt_entered_before_the_runtime_is_open_is_sent_when_it_is() -> None:
    app = Host()
    app.hold.clear()
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.press(*"early", "enter")
        await pilot.press(*"more", "enter")
        assert app.turns.run is not None
        app.hold.set()
        await until(pilot, lambda: app.model.requests)
        assert app.model.prompts == ["early\n\nmore"]


async def test_escape_before_the_runtime_is_open_gives_the_prompt_back() -> None:
    app = Host()
    app.hold.clear()
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.press(*"early", "enter", "escape")
        await until(pilot, lambda: app.turns.run is None)
        await until(pilot, lambda: app.prompt_text == "early")
        app.hold.set()
        await until(pilot, lambda: app.benches)
        assert app.model.requests == []


async def test_escape_right_after_enter_gives_the_prompt_back() -> None:
    async with Host().run_test(size=(120, 30)) as pilot:
        app = pilot.app
        await until(pilot, lambda: app.benches)
        await pilot.press(*"oops", "enter", "escape")
        await until(pilot, lambda: app.turns.run is None)
        await until(pilot, lambda: app.prompt_text == "oops")
        await pilot.press("enter")
        await until(pilot, lambda: app.turns.run is not None and app.model.requests)
        app.model.say("ok")
        await until(pilot, lambda: app.turns.run is None)
        assert app.model.prompts == ["oops"]


async def test_a_prompt_that_comes_back_goes_to_the_history_when_a_draft_is_there() -> None:
    async with Host().run_test(size=(120, 30)) as pilot:
        app = pilot.app
        await pilot.press(*"first", "enter")
        await until(pilot, lambda: app.model.requests)
        await pilot.press(*"draft", "escape")
        await until(pilot, lambda: app.turns.run is None)
        assert app.prompt_text == "draft"
        await pilot.press("up")
        assert app.prompt_text == "first"


async def test_escape_in_a_stream_keeps_its_text_and_the_next_turn_works() -> None:
    async with Host().run_test(size=(120, 30)) as pilot:
        app = pilot.app
        await pilot.press(*"go", "enter")
        app.model.say("half an ans", done=False)
        await until(pilot, lambda: "half an ans" in app.text)
        await pilot.press("escape")
        await until(pilot, lambda: app.turns.run is None)
        await until(pilot, lambda: "stopped" in app.status_row)
        assert "half an ans" in app.text
        assert app.prompt_text == ""
        await pilot.press(*"again", "enter")
        app.model.say("whole")
        await until(pilot, lambda: len(app.model.requests) == 2 and app.turns.run is None)


async def test_a_second_escape_while_stopping_changes_nothing_and_says_what_it_waits_for() -> None:
    tool = Sleeper(stubborn=True)
    async with Host(tool).run_test(size=(120, 30)) as pilot:
        app = pilot.app
        await pilot.press(*"go", "enter")
        app.model.call("sleep")
        await until(pilot, tool.running.is_set)
        await pilot.press("escape")
        await until(pilot, lambda: "stopping: waiting for sleep" in app.status_row)
        await pilot.press("d", "escape", "escape", "x")
        assert app.turns.run is not None
        assert app.prompt_text == "dx"
        tool.let_go.set()
        await until(pilot, lambda: app.turns.run is None)
        assert app.is_running
        assert "stopped" in app.status_row


async def test_ctrl_c_cancels_a_run_then_clears_the_draft_then_quits_when_pressed_twice() -> None:
    async with Host().run_test(size=(120, 30)) as pilot:
        app = pilot.app
        await pilot.press(*"go", "enter")
        app.model.say("some", done=False)
        await until(pilot, lambda: "some" in app.text)
        await pilot.press(*"draft", "ctrl+c")
        await until(pilot, lambda: app.turns.run is None)
        assert app.prompt_text == "draft"
        await pilot.press("ctrl+c")
        assert app.prompt_text == ""
        await pilot.press("ctrl+c")
        assert app.is_running
        assert app.bench.closed is False
        await pilot.press("ctrl+c")
        await until(pilot, lambda: app.bench.closed)
    assert app.return_code == 0


async def test_ctrl_c_copies_a_selection_and_does_nothing_else() -> None:
    async with Host().run_test(size=(120, 30)) as pilot:
        app = pilot.app
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: app.turns.run is not None)
        await pilot.press(*"word", "shift+home", "ctrl+c")
        await until(pilot, lambda: app.clipboard == "word")
        assert app.turns.run is not None
        assert not app.turns.run.stopping
        assert app.prompt_text == "word"


async def test_escape_when_idle_harms_nothing() -> None:
    async with Host().run_test(size=(120, 30)) as pilot:
        await pilot.press(*"draft", "escape", "escape", "escape")
        assert pilot.app.prompt_text == "draft"
        assert pilot.app.is_running


async def test_enter_during_a_run_steers_it() -> None:
    tool = Sleeper()
    async with Host(tool).run_test(size=(120, 30)) as pilot:
        app = pilot.app
        await pilot.press(*"go", "enter")
        app.model.call("sleep")
        await until(pilot, tool.running.is_set)
        await pilot.press(*"use less", "enter")
        await until(pilot, lambda: "next: use less" in app.text)
        assert "1 message queued" in app.status_row
        tool.let_go.set()
        await until(pilot, lambda: len(app.model.requests) == 2)
        assert "use less" in app.model.prompts[-1]
        await until(pilot, lambda: "queued" not in app.status_row)
        assert "next: use less" not in app.text
        app.model.say("fine")
        await until(pilot, lambda: app.turns.run is None)


async def test_what_a_run_did_not_deliver_is_brought_by_another() -> None:
    async with Host().run_test(size=(120, 30)) as pilot:
        app = pilot.app
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: app.model.requests)
        await pilot.press(*"and then", "enter")
        app.model.say("done")
        await until(pilot, lambda: len(app.model.requests) == 2)
        assert app.model.prompts[-1] == "and then"
        app.model.say("all done")
        await until(pilot, lambda: app.turns.run is None)
        assert app.turns.queue.items == []


async def test_a_failed_turn_shows_why_and_continue_goes_on() -> None:
    async with Host().run_test(size=(120, 30)) as pilot:
        app = pilot.app
        await pilot.press(*"go", "enter")
        app.model.fail(ModelError("the server hung up", hint="Check the network."))
        await until(pilot, lambda: app.turns.run is None)
        await until(pilot, lambda: "the server hung up" in app.text and "Check the network" in app.text)
        await pilot.press(*"/continue", "enter")
        await until(pilot, lambda: len(app.model.requests) == 2)
        app.model.say("there")
        await until(pilot, lambda: app.turns.run is None)


async def test_a_runtime_that_cannot_open_says_why_and_keeps_the_prompt() -> None:
    app = Host()
    app.hold.clear()
    app.open_error = SettingsError("the sandbox needs bwrap. Install bubblewrap.")
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.press(*"early", "enter")
        app.hold.set()
        await until(pilot, lambda: "Install bubblewrap" in app.text)
        await until(pilot, lambda: app.prompt_text == "early")
        assert app.is_running


async def test_quit_during_a_run_asks_and_no_means_no() -> None:
    tool = Sleeper()
    async with Host(tool).run_test(size=(120, 30)) as pilot:
        app = pilot.app
        await pilot.press(*"go", "enter")
        app.model.call("sleep")
        await until(pilot, tool.running.is_set)
        await pilot.press("ctrl+q")
        await until(pilot, lambda: "Quit?" in app.text)
        await pilot.press("ctrl+q", "n")
        await until(pilot, lambda: app.screen is app.main)
        assert app.turns.run is not None
        await pilot.press("ctrl+d")
        await until(pilot, lambda: "Quit?" in app.text)
        await pilot.press("y")
        await until(pilot, lambda: app.bench.closed)
    assert app.return_code == 0


async def test_stopping_one_call_leaves_the_turn() -> None:
    tool = Sleeper()
    async with Host(tool).run_test(size=(120, 30)) as pilot:
        app = pilot.app
        await pilot.press(*"go", "enter")
        app.model.call("sleep")
        await until(pilot, tool.running.is_set)
        await until(pilot, lambda: app.main.tool_log.list.row_count)
        await pilot.press("f3", "x")
        await until(pilot, lambda: "stop sleep?" in app.text)
        assert len(app.model.requests) == 1
        await pilot.press("x")
        await until(pilot, lambda: len(app.model.requests) == 2)
        app.model.say("fine")
        await until(pilot, lambda: app.turns.run is None)
        assert app.main.tool_log.list.calls.all[0].state == "stopped"


async def test_what_is_sent_before_all_is_ready_stays_in_view() -> None:
    app = Host()
    app.hold.clear()
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, app.asked_to_open.is_set)
        await pilot.press(*"hello", "enter")
        await until(pilot, lambda: "when all is ready: hello" in app.text)
        await pilot.press(*"more", "enter")
        await until(pilot, lambda: app.turns.unsent == Draft("hello\n\nmore"))
        app.hold.set()
        await until(pilot, lambda: app.model.requests)
        assert app.model.prompts == ["hello\n\nmore"]
        await until(pilot, lambda: "when all is ready" not in app.text)


async def test_escape_before_all_is_ready_gives_back_what_was_sent() -> None:
    app = Host()
    app.hold.clear()
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, app.asked_to_open.is_set)
        await pilot.press(*"hello", "enter", "escape")
        await until(pilot, lambda: app.prompt_text == "hello")
        await until(pilot, lambda: "when all is ready" not in app.text)
