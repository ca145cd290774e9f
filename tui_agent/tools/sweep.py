"""Removing what a killed writer left: see `temp`."""

from __future__ import annotations

import os
from contextlib import suppress

from tui_agent.agent.errors import ToolError
from tui_agent.tools.temp import is_stray
from tui_agent.tools.walk import Walk
from tui_agent.tools.workspace import Workspace

_ENTRIES = 50_000
_SECONDS = 3.0


def sweep(workspace: Workspace) -> int:
    """Remove the strays in the folders that tools write to, for a short while. How many there were."""
    walk = Walk(workspace, ".", limit=_ENTRIES, seconds=_SECONDS, check=lambda: None)
    folders = (entry.path for entry in walk if entry.kind == "folder" and not entry.note)
    return _sweep_folder(workspace, ".") + sum(_sweep_folder(workspace, folder) for folder in folders)


def _sweep_folder(workspace: Workspace, path: str) -> int:
    removed = 0
    with suppress(OSError, ToolError):
        fd = workspace.open_folder(path, links=False)
        try:
            with os.scandir(fd) as entries:
                strays = [entry.name for entry in entries if is_stray(fd, entry.name)]
            for name in strays:
                os.unlink(name, dir_fd=fd)
                removed += 1
        finally:
            os.close(fd)
    return removed
