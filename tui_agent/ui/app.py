"""The app: it composes the main screen and the controller of runs, and passes on between them.

Nothing heavy (pydantic, the SDK, markdown, highlighting) is imported before the first paint; the runtime is
opened in the background afterwards, and a prompt that was entered earlier is sent when it is there.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import SystemCommand
from textual.screen import Screen

from tui_agent.settings import MODES, Mode, Settings
from tui_agent.slash import find
from tui_agent.ui import commands, contrast, keymap, own_commands, safe, themes
from tui_agent.ui.asking import Asker
from tui_agent.ui.lifecycle import Lifecycle
from tui_agent.ui.messages import (
    BackgroundTold,
    Failed,
    Noticed,
    PromptReturned,
    RuntimeOpened,
    StopCall,
    StopJob,
    UndoWanted,
)
from tui_agent.ui.opening import Opening, open_runtime
from tui_agent.ui.own_commands import OwnCommands
from tui_agent.ui.screens.main import MainScreen
from tui_agent.ui.status import Status
from tui_agent.ui.turns import Turns

if TYPE_CHECKING:
    from textual.driver import Driver

    from tui_agent.runtime import Runtime
    from tui_agent.slash import Command
    from tui_agent.ui.drafts.draft import Draft
    from tui_agent.ui.turns import Ask, OnEvent

    Opener = Callable[["TuiApp", Settings, Ask, OnEvent], Awaitable[Runtime]]


class TuiApp(Lifecycle):
    CSS_PATH = Path(__file__).parent / "styles" / "app.tcss"
    TITLE = "tui-agent"
    ENABLE_COMMAND_PALETTE = False  # its key would have priority over dialogs; the main screen binds it

    def __init__(
        self,
        settings: Settings,
        *,
        opener: Opener = open_runtime,
        driver_class: type[Driver] | None = None,
    ) -> None:
        super().__init__(driver_class=driver_class)
        self.use_command_palette = True
        self.settings = settings
        for theme in themes.OWN:
            self.register_theme(theme)
        self.use_theme(themes.first_theme(settings.theme, os.environ))
        self.stylesheet.set_variables(self.get_css_variables())
        self.main = MainScreen(Status(mode=settings.mode, max_steps=settings.max_steps))
        self.asker = Asker(self)
        self.turns = Turns(self.main, self.asker, partial(opener, self))
        self.own = OwnCommands(self.main, self.turns)
        self.main.composer.send = self.submit
        self.main.prompt.enter_sends = settings.enter == "send"
        self.main.turns, self.main.own, self.main.attention = self.turns, self.own, self.attention
        self.keymap = keymap.read(settings.keys)
        self.set_keymap(self.keymap.changed)
        self.main.hints.keymap = self.keymap
        self.opening = Opening(self)
        self.opening.describe()

    def get_css_variables(self) -> dict[str, str]:
        return contrast.legible(super().get_css_variables(), self.current_theme.dark)

    def get_default_screen(self) -> Screen[None]:
        self.main.fit(self.size)
        return self.main

    def refresh_css(self, animate: bool = True) -> None:
        # Before that, styles are read with the theme's colours; Textual would read and apply them again.
        if self._is_mounted:
            super().refresh_css(animate)

    def on_mount(self) -> None:
        self.call_after_refresh(self.opening.begin)

    # What the screen and the controller of runs say

    async def on_runtime_opened(self, _: RuntimeOpened) -> None:
        await self.opening.opened()

    def submit(self, draft: Draft) -> None:
        """What was entered: a prompt, a command, or a command line of the person's own."""
        called = find(draft.whole, commands.COMMANDS)
        own = own_commands.find(draft)
        if own is not None:
            self.own.start(own)
        elif called is None:
            self.main.show_pane("conversation")
            self.main.conversation.transcript.follow()
            self.turns.send(draft)
        elif called.command is None:
            self.main.prompt.put(draft)
            safe.notify(self.main, f"There is no command /{called.name}. F1 lists them.", severity="warning")
        else:
            self.run_command(called.command, called.argument)

    def on_background_told(self, message: BackgroundTold) -> None:
        if self.settings.theme is None:
            self.use_theme(themes.own(message.dark))

    def on_prompt_returned(self, message: PromptReturned) -> None:
        self.main.prompt.give_back(message.draft)

    def on_failed(self, message: Failed) -> None:
        self.main.conversation.tell(message.text, message.hint, error=True)

    def on_noticed(self, message: Noticed) -> None:
        self.main.conversation.tell(message.text)

    def on_undo_wanted(self, message: UndoWanted) -> None:
        from tui_agent.ui.undoing import ask_and_undo, choices_for

        choices = choices_for(message.file, message.hunk)
        self.run_worker(ask_and_undo(self, choices), group="undo", exclusive=True)

    def on_stop_call(self, message: StopCall) -> None:
        if not self.own.stop_call(message.call_id):
            self.turns.stop_call(message.call_id)

    def on_stop_job(self, message: StopJob) -> None:
        if self.turns.runtime is not None:
            self.turns.runtime.jobs.stop(message.job_id)

    # Actions of keys, commands and palette

    def run_command(self, command: Command[TuiApp], argument: str = "") -> None:
        """In a worker of its own: a command may wait for a dialog, or for the end of a run."""
        self.run_worker(command.action(self, argument), group="command")

    def action_next_mode(self) -> None:
        self.set_mode(MODES[(MODES.index(self.main.status_line.status.mode) + 1) % len(MODES)])

    def set_mode(self, mode: Mode) -> None:
        """Another mode from now on; also before the runtime is open."""
        self.settings = replace(self.settings, mode=mode)
        if self.turns.runtime is not None:
            self.turns.runtime.set_mode(mode)
        self.main.status_line.update(mode=mode)

    def use_theme(self, name: str) -> bool:
        """Switch to a theme, if there is one of that name."""
        name = themes.SHORT.get(name, name)
        if known := name in self.available_themes:
            self.theme = themes.legible(name, os.environ)
        return known

    async def open_session(
        self, resume: str | None = None, folder: Path | None = None, *, said: str = ""
    ) -> None:
        """Leave the present session for another one, or for a new one; `said` is told when it is open."""
        await self.turns.close()
        self.main.clear()
        self.settings = replace(self.settings, resume=resume, folder=folder or self.settings.folder)
        self.opening.open(said)

    async def action_quit(self) -> None:
        if self.turns.run is not None or self.own.running:
            from tui_agent.ui.screens.confirm import ConfirmScreen

            on = "A run is on" if self.turns.run is not None else "A command of yours is running"
            text = f"{on}. Quitting cancels it and ends its commands."
            question = ConfirmScreen("Quit?", text, "cancel the run and quit", "go on")
            if not await self.push_screen_wait(question):
                return
        await self.leave()

    async def leave(self, return_code: int = 0) -> None:
        await self.turns.close()
        self.opening.clean_up()
        self.exit(return_code, return_code=return_code)

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        return commands.palette(self)

    def redact(self, text: str) -> str:
        return self.settings.credentials.redact(text)
