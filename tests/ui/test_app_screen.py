"""What stands where, what the keys do, and what lies over what."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from app_host import Host, armed, until
from asked import Quiet
from textual import events

from tui_agent.agent import TextContent, TurnEnded, TurnStarted
from tui_agent.permissions.trust import ProjectFile
from tui_agent.slash import find
from tui_agent.ui import commands
from tui_agent.ui.screens.main import PANES
from tui_agent.ui.screens.trust import TrustScreen

# (TextArea imports the small core of tree_sitter where that is installed.)
HEAVY = ("pydantic", "anthropic", "jsonschema", "tree_sitter_bash", "markdown_it", "pygments", "mcp")

# Start


def test_importing_the_app_loads_nothing_heavy() -> None:
    code = f"""
import sys, tui_agent.ui.app
print([name for name in {HEAVY!r} if name in sys.modules])
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_first_paint_loads_nothing_heavy_and_shows_the_mode(tmp_path: Path) -> None:
    code = f"""
import asyncio, sys
from pathlib import Path
from tui_agent.credentials import Credentials
from tui_agent.settings import Settings
from tui_agent.ui.app import TuiApp

async def opener(*_):
    await asyncio.Event().wait()

async def main():
    app = TuiApp(Settings(folder=Path({str(tmp_path)!r}), credentials=Credentials("k")), opener=opener)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        await pilot.press("h", "i")
        print(app.main.status_line.render().plain.split()[0], app.main.prompt.text)
        print([name for name in {HEAVY!r} if name in sys.modules])

asyncio.run(main())
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stdout.split("\n")[:2] == ["ask hi", "[]"], run.stderr


async def test_the_runtime_is_warmed_after_it_is_open() -> None:
    async with Host().run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: pilot.app.benches and pilot.app.bench.warmed)


async def test_a_reopened_session_shows_its_conversation_and_fills_the_history() -> None:
    stored = [TurnStarted(prompt=(TextContent(text="earlier"),)), TurnEnded(stop_reason="end_turn")]
    async with Host(stored=stored).run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: "earlier" in pilot.app.text)
        await pilot.press("up")
        assert pilot.app.prompt_text == "earlier"
        assert "thinking" not in pilot.app.status_row


async def test_without_a_key_it_says_how_to_go_on(quiet: Quiet) -> None:
    quiet.never()
    async with Host(key=None).run_test(size=(100, 30), notifications=True) as pilot:
        app = pilot.app
        await until(pilot, lambda: "ANTHROPIC_API_KEY" in app.text)
        assert app.benches == []
        await pilot.press(*"quick, do", "enter")
        assert "ANTHROPIC_API_KEY" in app.text
        await quiet.enough(pilot)
        await pilot.press("q")
        await until(pilot, lambda: not app.is_running)
        assert app.prompt_text == "quick, do"
    assert app.return_code == 0


async def test_a_key_press_starts_the_demo_on_a_copy_that_goes_at_the_end() -> None:
    app = Host(key=None)
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: "start the demo" in app.text)
        await armed(pilot)
        await pilot.press("d")
        await until(pilot, lambda: app.benches)
        await until(pilot, lambda: "demo: scripted model, offline" in app.text)
        folder = app.settings.folder
        assert folder.is_dir()
        await until(pilot, lambda: app.prompt_text)
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app.bench.closed)
    assert not folder.exists()


# Layout


async def test_a_wide_terminal_shows_all_three_panes() -> None:
    async with Host().run_test(size=(120, 40)) as pilot:
        main = pilot.app.main
        assert [main.pane(name).region.width > 20 for name in ("conversation", "tool_log", "changes")] == [
            True
        ] * 3
        assert not main.query_one("#bar").display


@pytest.mark.parametrize("size", [(99, 30), (80, 24), (60, 15)])
async def test_a_narrow_terminal_shows_one_pane_at_a_time(size: tuple[int, int]) -> None:
    async with Host().run_test(size=size) as pilot:
        app = pilot.app
        for key, seen in (("f3", "tool_log"), ("f4", "changes"), ("f2", "conversation")):
            await pilot.press(key)
            await pilot.pause()
            shown = [n for n in PANES if app.main.pane(n).region.width > 20]
            assert shown == [seen]
        assert "[F2 Conversation]" in app.text
        assert app.status_row.startswith("ask")


@pytest.mark.parametrize("size", [(59, 30), (100, 14), (20, 5), (1, 1)])
async def test_a_tiny_terminal_says_so_and_comes_back(size: tuple[int, int]) -> None:
    async with Host().run_test(size=size) as pilot:
        app = pilot.app
        if size[0] > 30:
            assert "too small" in app.text
        await pilot.press("h")
        await pilot.resize_terminal(100, 30)
        await until(pilot, lambda: app.status_row.startswith("ask") and "too small" not in app.text)
        assert app.prompt_text == "h"


async def test_the_prompt_grows_to_a_third_of_the_screen() -> None:
    async with Host().run_test(size=(120, 30)) as pilot:
        pilot.app.main.prompt.put("\n".join(str(n) for n in range(40)))
        await pilot.pause()
        assert 8 <= pilot.app.main.query_one("#composer").region.height <= 11


async def test_the_status_line_keeps_the_mode_and_the_label_when_it_is_narrow() -> None:
    async with Host(demo=True, mode="accept-edits").run_test(size=(60, 20)) as pilot:
        assert "accept-edits" in pilot.app.status_row
        assert "demo: scripted model, offline" in pilot.app.status_row
        assert len(pilot.app.status_row) <= 60


# Keys


async def test_tab_goes_round_and_shift_tab_changes_the_mode() -> None:
    async with Host().run_test(size=(120, 30)) as pilot:
        app = pilot.app
        await until(pilot, lambda: app.benches)
        seen = []
        for _ in range(4):
            await pilot.press("tab")
            seen.append(app.main.current_pane)
        assert seen == ["conversation", "tool_log", "changes", None]
        modes = []
        for _ in range(4):
            await pilot.press("shift+tab")
            modes.append(app.status_row.split()[0])
        assert modes == ["accept-edits", "auto", "plan", "ask"]
        assert app.bench.modes == modes


async def test_a_mode_chosen_before_the_runtime_is_open_counts() -> None:
    app = Host()
    app.hold.clear()
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, app.asked_to_open.is_set)
        await pilot.press("shift+tab")
        app.hold.set()
        await until(pilot, lambda: app.benches and app.bench.modes == ["accept-edits"])
        assert app.status_row.startswith("accept-edits")


async def test_escape_brings_the_focus_back_to_the_prompt() -> None:
    async with Host().run_test(size=(120, 30)) as pilot:
        await pilot.press("f3", "escape", "h")
        assert pilot.app.prompt_text == "h"


async def test_escape_in_the_filter_closes_it_and_leaves_a_run_alone() -> None:
    async with Host().run_test(size=(120, 30)) as pilot:
        app = pilot.app
        await pilot.press(*"go", "enter", "f3", "slash", "a")
        await until(pilot, lambda: app.turns.run is not None)
        await pilot.press("escape")
        assert app.turns.run is not None
        assert not app.turns.run.stopping
        await pilot.press("escape")
        await until(pilot, lambda: app.turns.run is None)


async def test_ctrl_t_hides_the_side_and_f3_brings_it_back() -> None:
    async with Host().run_test(size=(120, 30)) as pilot:
        app = pilot.app
        await pilot.press("ctrl+t")
        await pilot.pause()
        assert app.main.conversation.region.width == 120
        await pilot.press("tab", "tab")
        assert app.main.current_pane is None
        await pilot.press("f3")
        await pilot.pause()
        assert app.main.tool_log.region.width > 20


async def test_focus_reports_change_nothing_on_the_screen() -> None:
    async with Host().run_test(size=(120, 30)) as pilot:
        app = pilot.app
        await pilot.press("h")
        app.post_message(events.AppBlur())
        await pilot.pause()
        assert app.attention.here is False
        await pilot.press("i")
        assert app.prompt_text == "hi"
        app.post_message(events.AppFocus())
        await pilot.pause()
        assert app.attention.here is True


# Dialogs


@pytest.mark.parametrize("key", ["f1", "question_mark"])
async def test_help_opens_scrolls_and_closes(key: str) -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        app = pilot.app
        await pilot.press(key)
        await until(pilot, lambda: "Escape  close" in app.text)
        assert "Shift+Enter" in app.text
        await pilot.press("end")
        await until(pilot, lambda: "/quit" in app.text)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


async def test_keys_of_the_main_screen_do_nothing_under_a_dialog() -> None:
    async with Host().run_test(size=(100, 30), notifications=True) as pilot:
        app = pilot.app
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: app.turns.run is not None)
        await pilot.press("f1")
        await until(pilot, lambda: app.screen is not app.main)
        help_screen = app.screen
        await pilot.press("ctrl+q", "ctrl+p", "shift+tab", "f3", "ctrl+t")
        assert app.screen is help_screen
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        assert app.turns.run is not None
        assert not app.turns.run.stopping
        assert app.status_row.startswith("ask")


async def test_ctrl_p_opens_the_palette_with_the_commands() -> None:
    async with Host().run_test(size=(100, 30), notifications=True) as pilot:
        app = pilot.app
        await pilot.press("ctrl+p")
        await until(pilot, lambda: "begin a new session" in app.text)
        await pilot.press(*"mode: plan")
        await until(pilot, lambda: "Mode: plan" in app.text)
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.status_row.startswith("plan"))


@pytest.mark.parametrize(("key", "answer"), [("y", True), ("n", False), ("escape", False), ("ctrl+c", False)])
async def test_trust_shows_the_text_and_asks(key: str, answer: bool, quiet: Quiet) -> None:
    quiet.never()
    async with Host().run_test(size=(100, 30), notifications=True) as pilot:
        answers: list[Any] = []
        text = "Always run [/make].\n\u202eevil\x1b[2J"
        prompt = pilot.app.main.prompt
        files = [ProjectFile("AGENTS.md", text)]
        pilot.app.push_screen(TrustScreen(Path("/home/me/shop"), files, prompt.type_in), answers.append)
        await until(pilot, lambda: "AGENTS.md" in pilot.app.text)
        assert "Always run [/make]." in pilot.app.text
        assert "⸨U+202E⸩evil␛[2J" in pilot.app.text
        await pilot.press(*"y, and now")
        assert answers == []
        await quiet.enough(pilot)
        await pilot.press(key)
        await until(pilot, lambda: answers == [answer])
        await until(pilot, lambda: prompt.text == "y, and now")


# Commands


@pytest.mark.parametrize(
    ("text", "name", "argument"),
    [
        ("/help", "help", ""),
        (" /mode  plan ", "mode", "plan"),
        ("/quit now", "quit", "now"),
        ("/no", None, ""),
    ],
)
def test_what_is_a_command(text: str, name: str | None, argument: str) -> None:
    called = find(text, commands.COMMANDS)
    assert called is not None
    assert (called.command.name if called.command else None, called.argument) == (name, argument)


@pytest.mark.parametrize("text", ["/etc/hosts is wrong", "fix /help", "/", "/ help", "/help\nme", "//"])
def test_what_is_a_prompt(text: str) -> None:
    assert find(text, commands.COMMANDS) is None


async def test_an_unknown_command_stays_in_the_prompt() -> None:
    async with Host().run_test(size=(100, 30), notifications=True) as pilot:
        await pilot.press(*"/hlep", "enter")
        await until(pilot, lambda: "no command /hlep" in pilot.app.text)
        assert pilot.app.prompt_text == "/hlep"
        assert pilot.app.turns.run is None


async def test_mode_theme_and_their_mistakes() -> None:
    async with Host().run_test(size=(100, 30), notifications=True) as pilot:
        app = pilot.app
        await pilot.press(*"/mode plan", "enter")
        await until(pilot, lambda: app.status_row.startswith("plan"))
        await pilot.press(*"/mode fast", "enter")
        await until(pilot, lambda: "no mode 'fast'" in app.text)
        await pilot.press(*"/theme nord", "enter")
        await until(pilot, lambda: app.theme == "nord")
        await pilot.press(*"/theme x", "enter")
        await until(pilot, lambda: "no theme 'x'" in app.text)
        assert app.theme == "nord"


async def test_clear_begins_another_session_with_empty_panes() -> None:
    async with Host().run_test(size=(120, 30)) as pilot:
        app = pilot.app
        await pilot.press(*"hello", "enter")
        app.model.say("good morning")
        await until(pilot, lambda: "good morning" in app.text and app.turns.run is None)
        await pilot.press(*"/clear", "enter")
        await until(pilot, lambda: len(app.benches) == 2)
        assert app.benches[0].closed
        await until(pilot, lambda: "good morning" not in app.text)
        await pilot.press(*"hi", "enter")
        await until(pilot, lambda: len(app.model.requests) == 2)
        assert app.model.prompts == ["hi"]


async def test_quit_during_a_run_by_command_asks_too() -> None:
    async with Host().run_test(size=(120, 30)) as pilot:
        app = pilot.app
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: app.model.requests)
        await pilot.press(*"/quit", "enter")
        await until(pilot, lambda: "Quit?" in app.text)
        await pilot.press("y")
        await until(pilot, lambda: app.bench.closed)
