"""Escape and Ctrl+C on the main screen, rung by rung of their tables, with real keys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from app_host import Host, until
from textual.pilot import Pilot
from textual.widgets import Input

from tui_agent.agent import AgentTool, CancelSignal
from tui_agent.ui import keys

Way = Callable[[Pilot[Any]], Awaitable[None]]


class Sleeper(AgentTool):
    name = "sleep"
    description = "Waits."
    parameters = {"type": "object"}  # noqa: RUF012

    async def execute(self, parameters: Any, signal: CancelSignal) -> str:
        await signal.wait()
        signal.raise_if_cancelled()
        return ""


async def running(pilot: Pilot[Any]) -> None:
    """A run that a call keeps going."""
    app = pilot.app
    await until(pilot, lambda: app.benches)
    await pilot.press(*"go", "enter")
    app.model.call("sleep", "s")
    await until(pilot, lambda: app.main.tool_log.list.row_count)


def going_on(pilot: Pilot[Any]) -> bool:
    run = pilot.app.turns.run
    return run is not None and not run.stopping


async def a_field_first(pilot: Pilot[Any], open_it: tuple[str, ...], is_open: Callable[[], object]) -> None:
    """`escape` closes what `open_it` opens and leaves the run alone; the next one cancels it."""
    await running(pilot)
    await pilot.press(*open_it)
    await until(pilot, is_open)
    await pilot.press("escape")
    await until(pilot, lambda: not is_open())
    assert going_on(pilot)
    await pilot.press("escape")
    await until(pilot, lambda: pilot.app.turns.run is None)


async def escape_closes_the_filter(pilot: Pilot[Any]) -> None:
    def is_open() -> bool:
        return any(field.display for field in pilot.app.main.tool_log.query(Input))

    await a_field_first(pilot, ("f3", "slash", "a"), is_open)


async def escape_takes_the_question_of_x_back(pilot: Pilot[Any]) -> None:
    await a_field_first(pilot, ("f3", "x"), lambda: "stop sleep?" in pilot.app.text)


async def escape_closes_the_search(pilot: Pilot[Any]) -> None:
    def is_open() -> bool:
        return any(field.display for field in pilot.app.main.conversation.query("SearchField"))

    await a_field_first(pilot, ("f2", "slash", "g"), is_open)


async def escape_closes_a_popup(pilot: Pilot[Any]) -> None:
    await a_field_first(pilot, tuple("/he"), lambda: "keys and commands" in pilot.app.text)
    assert pilot.app.prompt_text == "/he"


async def escape_cancels_the_run(pilot: Pilot[Any]) -> None:
    await running(pilot)
    await pilot.press(*"draft", "escape")
    await until(pilot, lambda: pilot.app.turns.run is None)
    assert pilot.app.prompt_text == "draft"


async def escape_clears_a_selection(pilot: Pilot[Any]) -> None:
    await pilot.press(*"draft", "shift+home")
    assert pilot.app.main.prompt.selected_text == "draft"
    await pilot.press("escape")
    assert pilot.app.main.prompt.selected_text == ""
    assert pilot.app.prompt_text == "draft"


async def escape_leaves_the_selected_rows(pilot: Pilot[Any]) -> None:
    await pilot.press("f2", "v", "j")
    assert pilot.app.main.selections
    await pilot.press("escape")
    assert not pilot.app.main.selections
    assert pilot.app.main.current_pane == "conversation"


async def escape_goes_back_to_the_prompt(pilot: Pilot[Any]) -> None:
    for key in ("f2", "f3", "f4"):
        await pilot.press(key)
        assert pilot.app.main.current_pane is not None
        await pilot.press("escape")
        assert pilot.app.main.prompt.has_focus


async def ctrl_c_copies_a_selection(pilot: Pilot[Any]) -> None:
    await running(pilot)
    await pilot.press(*"word", "shift+home", "ctrl+c")
    await until(pilot, lambda: pilot.app.clipboard == "word")
    assert going_on(pilot)
    await pilot.press("ctrl+c")
    await until(pilot, lambda: pilot.app.turns.run is None)
    assert pilot.app.prompt_text == "word"


async def ctrl_c_copies_rows(pilot: Pilot[Any]) -> None:
    await running(pilot)
    await pilot.press("f2", "home", "v", "ctrl+c")
    await until(pilot, lambda: pilot.app.clipboard)
    assert going_on(pilot)


async def ctrl_c_cancels_the_run(pilot: Pilot[Any]) -> None:
    for where in ("f2", "f3", "f4", "escape"):
        await running(pilot)
        if where != "escape":
            await pilot.press(where)
        await pilot.press("ctrl+c")
        await until(pilot, lambda: pilot.app.turns.run is None)
        pilot.app.main.prompt.focus()
        await pilot.pause()
    assert pilot.app.is_running


async def ctrl_c_clears_the_draft(pilot: Pilot[Any]) -> None:
    await pilot.press(*"draft", "ctrl+c")
    assert pilot.app.prompt_text == ""
    assert pilot.app.is_running


async def ctrl_c_twice_quits(pilot: Pilot[Any]) -> None:
    await until(pilot, lambda: pilot.app.benches)
    await pilot.press("ctrl+c")
    assert pilot.app.is_running
    await pilot.press("ctrl+c")
    await until(pilot, lambda: pilot.app.bench.closed)


ROWS: dict[tuple[keys.Ladder, keys.Step], list[Way]] = {
    ("escape", "close_field"): [
        escape_closes_the_filter,
        escape_takes_the_question_of_x_back,
        escape_closes_the_search,
        escape_closes_a_popup,
    ],
    ("escape", "cancel_run"): [escape_cancels_the_run],
    ("escape", "drop_selection"): [escape_clears_a_selection, escape_leaves_the_selected_rows],
    ("escape", "return_to_prompt"): [escape_goes_back_to_the_prompt],
    ("ctrl_c", "copy_selection"): [ctrl_c_copies_a_selection, ctrl_c_copies_rows],
    ("ctrl_c", "cancel_run"): [ctrl_c_cancels_the_run],
    ("ctrl_c", "clear_draft"): [ctrl_c_clears_the_draft],
    ("ctrl_c", "quit_if_again"): [ctrl_c_twice_quits],
}
WAYS = [way for ways in ROWS.values() for way in ways]


def test_every_rung_is_climbed_here() -> None:
    assert set(ROWS) == {(ladder, rung.step) for ladder, rungs in keys.LADDERS.items() for rung in rungs}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("size", [(120, 40), (60, 20)], ids=["wide", "narrow"])
async def test_a_rung(way: Way, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    async with Host(Sleeper()).run_test(size=size) as pilot:
        await way(pilot)
