"""From settings to an open runtime, after the first paint.

Without a key the welcome comes first; then the heavy modules are imported in a thread, the person is asked
whether to trust what the folder brings along, and the runtime is opened. What it knows is then shown.
"""

from __future__ import annotations

import importlib
import os
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tui_agent.branch import branch_of
from tui_agent.settings import ASK_WHICH
from tui_agent.ui.messages import JobsChanged, Noticed
from tui_agent.ui.threads import in_thread

if TYPE_CHECKING:
    from tui_agent.runtime import Runtime
    from tui_agent.session.index import Summary
    from tui_agent.settings import Settings
    from tui_agent.ui.app import TuiApp
    from tui_agent.ui.turns import Ask, OnEvent


GREETING = "Say what to do. You see every change and every command before it happens. Escape stops, F1 helps."
DEMO_LABEL = "demo: scripted model, offline"


class Opening:
    def __init__(self, app: TuiApp) -> None:
        self._app = app
        self._opened_with, self._said = app.settings, ""
        self._demo = ExitStack()

    def begin(self) -> None:
        app = self._app
        for problem in app.keymap.problems:
            app.main.conversation.tell(problem)
        app.run_worker(self._tell_of_tmux(), group="advice", exit_on_error=False)
        if app.settings.can_ask_a_model:
            self._first()
        else:
            from tui_agent.ui.screens.welcome import WelcomeScreen

            app.push_screen(WelcomeScreen(app.main.prompt.type_in), self._welcomed)

    def _first(self) -> None:
        """The session to begin with, chosen by the person if they asked for that."""
        app = self._app
        if app.settings.resume == ASK_WHICH:
            from tui_agent.ui.screens.sessions import SessionsScreen

            app.push_screen(SessionsScreen(app.settings.folder), self._chosen)
        else:
            self.open()

    def _chosen(self, summary: Summary | None) -> None:
        app = self._app
        folder = app.settings.folder
        if summary is not None and Path(summary.folder).is_dir():
            folder = Path(summary.folder)
        app.settings = replace(app.settings, resume=summary.id if summary else None, folder=folder)
        self.open()

    async def _tell_of_tmux(self) -> None:
        from tui_agent.ui.tmux import advice

        if words := await in_thread(advice, os.environ):
            self._app.main.conversation.tell(words)

    async def _welcomed(self, choice: str | None) -> None:
        if choice == "demo":
            self._use_demo()
            self.open()
        else:
            await self._app.leave()

    def _use_demo(self) -> None:
        from tui_agent.demo import project

        folder = self._demo.enter_context(project())
        self._app.settings = replace(self._app.settings, demo=True, folder=folder, resume=None)

    def open(self, said: str = "") -> None:
        """Open a session by the app's present settings; `said` is told under what it brings along."""
        app = self._app
        self.describe()
        self._opened_with, self._said = app.settings, said
        if app.settings.resume is None:
            app.main.conversation.tell(GREETING)
        app.main.composer.work_in(app.settings.folder, keep=not app.settings.demo)
        app.turns.open(app.settings)

    def describe(self) -> None:
        """What the status line says of the settings."""
        settings = self._app.settings
        folder, branch = settings.folder, branch_of(settings.folder)
        self._app.attention.work_in(folder.name or str(folder))
        self._app.main.status_line.update(
            place=f"{folder.name or folder}{f' ({branch})' if branch else ''}",
            model=settings.model,
            label=DEMO_LABEL if settings.demo else "",
        )

    async def opened(self) -> None:
        """Show what the runtime knows: an earlier conversation, notices, the mode that really counts."""
        app = self._app
        runtime = app.turns.runtime
        if runtime is None:
            return
        await app.main.replay(runtime.replay())
        for notice in [*runtime.notices, *filter(None, [self._said])]:
            app.main.conversation.tell(notice)
        if app.settings.mode != self._opened_with.mode:
            runtime.set_mode(app.settings.mode)
        # A trusted project may have made it stricter.
        app.main.status_line.update(model=runtime.model_name, mode=runtime.policy.mode)
        prompt = app.main.prompt
        if app.settings.demo and not prompt.text and not prompt.past.entries:
            from tui_agent.models.scripted import PROMPT

            prompt.put(PROMPT)

    def clean_up(self) -> None:
        self._demo.close()


async def open_runtime(app: TuiApp, settings: Settings, ask: Ask, on_event: OnEvent) -> Runtime:
    """The real one. Its modules are imported in a thread, so that keys are taken meanwhile."""
    await in_thread(importlib.import_module, "tui_agent.runtime")
    from tui_agent.runtime import Runtime

    await _ask_for_trust(app, settings.folder)
    runtime = await Runtime.open(settings, ask=ask, on_event=on_event)
    app.main.changes.content = runtime.changes.content
    app.main.tool_log.jobs = runtime.jobs.list

    def tell_of_jobs() -> None:
        app.main.post_message(JobsChanged())

    runtime.jobs.on_change = tell_of_jobs

    def notify(text: str) -> None:
        app.post_message(Noticed(text))  # from whatever thread

    runtime.session.notify = notify  # what came up until now waits in `notices`
    return runtime


async def _ask_for_trust(app: TuiApp, folder: Path) -> None:
    """Ask once for a folder that brings instructions or settings along."""
    from tui_agent.paths import state_folder
    from tui_agent.permissions.trust import project_files, trust, trusted
    from tui_agent.ui.screens.trust import TrustScreen

    files = await in_thread(project_files, folder)
    if not files or await in_thread(trusted, folder, state_folder()):
        return
    if await app.push_screen_wait(TrustScreen(folder, files, app.main.prompt.type_in)):
        await in_thread(trust, folder, state_folder())
