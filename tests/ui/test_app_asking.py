"""Questions of a run: when they come up, what they must not take, and how they end with the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from app_host import Host, armed, until
from asked import Quiet
from textual import events

from tui_agent.agent import AgentTool, CancelSignal
from tui_agent.permissions.broker import Broker
from tui_agent.permissions.gate import PolicyGate
from tui_agent.permissions.policy import Policy


class Note(AgentTool):
    """A call that asks, and notes that it ran."""

    name = "note"
    description = "Notes."
    parameters = {"type": "object"}  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self.ran: list[Any] = []

    async def execute(self, parameters: Any, signal: CancelSignal) -> str:
        self.ran.append(parameters)
        return "noted"


def asking(tool: Note, folder: Path) -> Host:
    def gate(ask: Any) -> PolicyGate:
        policy = Policy("ask", (), folder)
        return PolicyGate(policy, Broker(ask))

    return Host(tool, gate=gate, folder=folder)


async def test_a_question_comes_up_is_answered_and_the_call_runs(tmp_path: Path) -> None:
    tool = Note()
    app = asking(tool, tmp_path)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press(*"go", "enter")
        app.model.call("note", text="hello")
        await until(pilot, lambda: app.screen is not app.main)
        await armed(pilot)
        await pilot.press("y")
        await until(pilot, lambda: tool.ran == [{"text": "hello"}])
        app.model.say("done")
        await until(pilot, lambda: app.turns.run is None)
        assert app.screen is app.main


async def test_what_was_being_typed_when_it_came_stays_in_the_prompt(tmp_path: Path, quiet: Quiet) -> None:
    tool = Note()
    app = asking(tool, tmp_path)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: app.model.requests)
        await pilot.press(*"rewrite the ")
        quiet.never()
        app.model.call("note")
        await until(pilot, lambda: app.screen is not app.main)
        await pilot.press(*"tests yes")
        assert tool.ran == []
        await quiet.enough(pilot)
        await pilot.press("n")
        await until(pilot, lambda: app.screen is app.main)
        assert app.prompt_text == "rewrite the tests yes"
        assert tool.ran == []


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_escape_in_a_question_stops_the_run_and_nothing_stays(tmp_path: Path, key: str) -> None:
    tool = Note()
    app = asking(tool, tmp_path)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press(*"go", "enter")
        app.model.call("note")
        await until(pilot, lambda: app.screen is not app.main)
        await pilot.press(key)
        await until(pilot, lambda: app.turns.run is None)
        assert app.screen is app.main
        await pilot.press("y", "enter")
        await until(pilot, lambda: len(app.model.requests) == 2)
        assert tool.ran == []


async def test_a_run_that_is_cancelled_from_elsewhere_takes_its_question_along(tmp_path: Path) -> None:
    tool = Note()
    app = asking(tool, tmp_path)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press(*"go", "enter")
        app.model.call("note")
        await until(pilot, lambda: app.screen is not app.main)
        app.turns.cancel()
        await until(pilot, lambda: app.turns.run is None and app.screen is app.main)
        assert tool.ran == []


async def test_a_question_waits_until_an_open_dialog_is_closed(tmp_path: Path) -> None:
    tool = Note()
    app = asking(tool, tmp_path)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: app.model.requests)
        await pilot.press("f1")
        await until(pilot, lambda: app.screen is not app.main)
        help_screen = app.screen
        app.model.call("note")
        await until(pilot, lambda: "waits for your answer" in app.text)
        assert app.screen is help_screen
        await pilot.press("escape")
        await until(pilot, lambda: app.screen not in (app.main, help_screen))
        await armed(pilot)
        await pilot.press("y")
        await until(pilot, lambda: tool.ran)


async def test_escape_while_a_question_waits_behind_a_dialog_still_stops_the_run(tmp_path: Path) -> None:
    tool = Note()
    app = asking(tool, tmp_path)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: app.model.requests)
        await pilot.press("f1")
        app.model.call("note")
        await until(pilot, lambda: "waits for your answer" in app.text)
        app.turns.cancel()
        await until(pilot, lambda: app.turns.run is None)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        assert tool.ran == []


@pytest.mark.parametrize("attended", [True, False])
async def test_the_bell_rings_for_a_question_only_when_nobody_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, attended: bool
) -> None:
    tool = Note()
    app = asking(tool, tmp_path)
    rung: list[bool] = []
    monkeypatch.setattr(app, "bell", lambda: rung.append(True))
    async with app.run_test(size=(100, 30)) as pilot:
        if not attended:
            app.post_message(events.AppBlur())
        await pilot.press(*"go", "enter")
        app.model.call("note")
        await until(pilot, lambda: app.screen is not app.main)
        assert len(rung) == (0 if attended else 1)
        await pilot.press("escape")
        await until(pilot, lambda: app.turns.run is None)
