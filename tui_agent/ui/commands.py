"""The slash commands: one tuple that feeds the prompt, the palette and the help screen."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from textual.app import SystemCommand

from tui_agent.settings import MODES, Mode
from tui_agent.slash import Command
from tui_agent.ui import comfort_commands, context_commands, keys, safe, session_commands

if TYPE_CHECKING:
    from tui_agent.ui.app import TuiApp


async def _help(app: TuiApp, _: str) -> None:
    app.main.action_help()


async def _mode(app: TuiApp, name: str) -> None:
    if not name:
        app.action_next_mode()
    elif mode := next((mode for mode in MODES if mode == name), None):
        app.set_mode(mode)
    else:
        safe.notify(app.main, f"There is no mode {name!r}. Modes: {', '.join(MODES)}.", severity="warning")


async def _go_on(app: TuiApp, _: str) -> None:
    if not app.turns.go_on():
        safe.notify(app.main, "A run is on already.", severity="warning")


async def _clear(app: TuiApp, _: str) -> None:
    await app.open_session()


async def _undo(app: TuiApp, words: str) -> None:
    from tui_agent.ui.undoing import undo_command

    await undo_command(app, words)


async def _diff(app: TuiApp, words: str) -> None:
    from tui_agent.ui.undoing import export_command

    await export_command(app, words)


async def _permissions(app: TuiApp, _: str) -> None:
    runtime = app.turns.runtime
    if runtime is None:
        safe.notify(app.main, "No session is open yet.", severity="warning")
        return
    from tui_agent.ui.screens.permissions import PermissionsScreen

    app.push_screen(PermissionsScreen(runtime.policy))


async def _quit(app: TuiApp, _: str) -> None:
    await app.action_quit()


COMMANDS: tuple[Command[TuiApp], ...] = (
    Command("help", "keys and commands", _help),
    Command("mode", "change what runs without asking; without a name, the next mode", _mode, "[name]"),
    Command("permissions", "rules and grants, and who decided what", _permissions),
    Command("continue", "go on after a step limit, a stop or an error", _go_on),
    Command(
        "undo", "take back the latest turn that changed files, or what is named; asks first", _undo, "[what]"
    ),
    Command("diff", "save the changes of this session as a patch for git apply", _diff),
    Command("resume", "go on with an earlier session", session_commands.resume, "[id]"),
    Command("rewind", "go back to before an earlier prompt; files are asked about", context_commands.rewind),
    Command("takeback", "take the last prompt and its answer back", context_commands.take_back),
    Command("fork", "go on in a copy of this session", session_commands.fork),
    Command("context", "what fills the model's window", context_commands.context),
    Command("compact", "shorten the conversation to a summary", context_commands.compact, "[what to keep]"),
    Command("model", "another model, effort or thinking", context_commands.model, "[name] [effort]"),
    Command(
        "export",
        "save this session as Markdown or JSON",
        session_commands.export,
        "[md|json] [path]",
    ),
    Command("rename", "give this session a name", session_commands.rename, "[name]"),
    Command("delete", "remove this session from the disk", session_commands.delete),
    Command("clear", "begin a new session; the old one stays on disk", _clear),
    Command("copy", "copy the last answer", comfort_commands.copy),
    Command("theme", "other colours; without a name, try them on", comfort_commands.theme, "[name]"),
    Command("keys", "which keys there are, and how to change them", comfort_commands.keys),
    Command("quit", "leave", _quit),
)


MODE_HELP: dict[Mode, str] = {
    "plan": "look only: nothing is changed or run",
    "ask": "changes and commands ask",
    "accept-edits": "changes in the folder run, commands ask",
    "auto": "changes, read-only commands and what your rules allow run",
}


def palette(app: TuiApp) -> Iterable[SystemCommand]:
    """All that can be done from anywhere, as the palette shows it: commands, modes, and what has a key."""
    for command in COMMANDS:
        yield SystemCommand(f"/{command.name}", command.help, partial(app.run_command, command))
    for mode in MODES:
        yield SystemCommand(f"Mode: {mode}", MODE_HELP[mode], partial(app.set_mode, mode))
    for key in keys.KEYS:
        if key.place == "screen" and key.action and key.does and not key.action.startswith(("climb", "app.")):
            action = partial(app.main.run_action, f"screen.{key.action}")
            yield SystemCommand(key.does.capitalize(), app.keymap.label(key), action)
