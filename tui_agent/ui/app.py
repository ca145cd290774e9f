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
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from textual.app import SystemCommand
from textual.screen import Screen

from tui_agent.branch import branch_of
from tui_agent.settings import MODES, Mode, Settings
from tui_agent.ui import commands, safe, themes
from tui_agent.ui.asking import Asker
from tui_agent.ui.lifecycle import Lifecycle
from tui_agent.ui.messages import Failed, PromptReturned, PromptSubmitted, RuntimeOpened, StopCall
from tui_agent.ui.opening import open_runtime
from tui_agent.ui.screens.main import MainScreen
from tui_agent.ui.status import Status
from tui_agent.ui.turns import Turns

if TYPE_CHECKING:
    from textual.driver import Driver

    from tui_agent.runtime import Runtime
    from tui_agent.ui.commands import Command
    from tui_agent.ui.turns import Ask, OnEvent

    Opener = Callable[["TuiApp", Settings, Ask, OnEvent], Awaitable[Runtime]]

DEMO_LABEL = "demo: scripted model, offline"


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
        self._opened_with = settings
        self._demo: TemporaryDirectory[str] | None = None
        self.main = MainScreen(Status(mode=settings.mode, max_steps=settings.max_steps))
        self.asker = Asker(self)
        self.turns = Turns(self.main, self.asker, partial(opener, self))
        self.main.turns = self.turns
        self._describe()

    def get_default_screen(self) -> Screen[None]:
        return self.main

    def on_mount(self) -> None:
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        """After the first paint."""
        theme = self.settings.theme
        if theme and self.theme != themes.first_theme(theme, os.environ):
            safe.notify(self.main, f"There is no theme {theme!r}. /theme lists them.", severity="warning")
        if self.settings.can_ask_a_model:
            self._open()
        else:
            from tui_agent.ui.screens.welcome import WelcomeScreen

            self.push_screen(WelcomeScreen(), self._welcomed)

    async def _welcomed(self, choice: str | None) -> None:
        if choice != "demo":
            await self.leave()
            return
        self._use_demo()
        self._open()

    def _use_demo(self) -> None:
        from tui_agent.demo import copy_project

        self._demo = TemporaryDirectory(prefix="tui-agent-demo-", ignore_cleanup_errors=True)
        folder = copy_project(Path(self._demo.name).resolve())
        self.settings = replace(self.settings, demo=True, folder=folder)

    def _open(self) -> None:
        self._describe()
        self._opened_with = self.settings
        self.turns.open(self.settings)

    def _describe(self) -> None:
        """What the status line says of the settings."""
        folder = self.settings.folder
        branch = branch_of(folder)
        self.main.status_line.update(
            place=f"{folder.name or folder}{f' ({branch})' if branch else ''}",
            model=self.settings.model,
            label=DEMO_LABEL if self.settings.demo else "",
        )

    # What the screen and the controller of runs say

    async def on_runtime_opened(self, _: RuntimeOpened) -> None:
        runtime = self.turns.runtime
        if runtime is None:
            return
        await self.main.replay(runtime.replay())
        for notice in runtime.notices:
            self.main.conversation.tell(notice)
        if self.settings.mode != self._opened_with.mode:
            runtime.set_mode(self.settings.mode)
        # A trusted project may have made it stricter.
        self.main.status_line.update(model=runtime.model_name, mode=runtime.policy.mode)
        prompt = self.main.prompt
        if self.settings.demo and not prompt.text and not prompt.sent.entries:
            from tui_agent.models.scripted import PROMPT

            prompt.put(PROMPT)

    def on_prompt_submitted(self, message: PromptSubmitted) -> None:
        called = commands.find(message.text)
        if called is None:
            self.main.show_pane("conversation")
            self.main.conversation.transcript.follow()
            self.turns.send(message.text)
        elif called.command is None:
            self.main.prompt.put(message.text)
            safe.notify(self.main, f"There is no command /{called.name}. F1 lists them.", severity="warning")
        else:
            self.run_command(called.command, called.argument)

    def on_prompt_returned(self, message: PromptReturned) -> None:
        self.main.prompt.give_back(message.text)

    def on_failed(self, message: Failed) -> None:
        self.main.conversation.tell(message.text, message.hint, error=True)

    def on_stop_call(self, message: StopCall) -> None:
        self.turns.stop_call(message.call_id)

    # Actions of keys, commands and palette

    def run_command(self, command: Command, argument: str = "") -> None:
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
        if known := name in self.available_themes:
            self.theme = name
        return known

    async def new_session(self) -> None:
        await self.turns.close()
        self.main.clear()
        self.settings = replace(self.settings, resume=None)
        self._open()

    async def action_quit(self) -> None:
        if self.turns.run is not None:
            from tui_agent.ui.screens.confirm import ConfirmScreen

            text = "A run is on. Quitting cancels it and ends its commands."
            question = ConfirmScreen("Quit?", text, "cancel the run and quit", "go on")
            if not await self.push_screen_wait(question):
                return
        await self.leave()

    async def leave(self, return_code: int = 0) -> None:
        await self.turns.close()
        if self._demo is not None:
            self._demo.cleanup()
        self.exit(return_code, return_code=return_code)

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        return commands.palette(self)

    def redact(self, text: str) -> str:
        return self.settings.credentials.redact(text)
