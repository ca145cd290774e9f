"""From settings to an open runtime, after the first paint: the heavy imports, then the question of trust."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from tui_agent.ui.threads import in_thread

if TYPE_CHECKING:
    from pathlib import Path

    from tui_agent.runtime import Runtime
    from tui_agent.settings import Settings
    from tui_agent.ui.app import TuiApp
    from tui_agent.ui.turns import Ask, OnEvent


async def open_runtime(app: TuiApp, settings: Settings, ask: Ask, on_event: OnEvent) -> Runtime:
    """The real one. Its modules are imported in a thread, so that keys are taken meanwhile."""
    await in_thread(importlib.import_module, "tui_agent.runtime")
    from tui_agent.runtime import Runtime

    await _ask_for_trust(app, settings.folder)
    return await Runtime.open(settings, ask=ask, on_event=on_event)


async def _ask_for_trust(app: TuiApp, folder: Path) -> None:
    """Ask once for a folder that brings instructions or settings along."""
    from tui_agent.paths import state_folder
    from tui_agent.permissions.trust import project_files, trust, trusted
    from tui_agent.ui.screens.trust import TrustScreen

    files = await in_thread(project_files, folder)
    if not files or await in_thread(trusted, folder, state_folder()):
        return
    if await app.push_screen_wait(TrustScreen(folder, files)):
        await in_thread(trust, folder, state_folder())
