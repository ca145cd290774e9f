"""Copying out of a full-screen program, and saying what came of it.

The terminal is asked by OSC 52. tmux doesn't pass that on by its defaults, so there its own command hands
the text over. Where neither can work (the Linux console, a text longer than terminals take) the text is
saved to a file, and its path is told instead of a "copied" that isn't true.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui_agent.paths import replace_private, state_folder
from tui_agent.text import plural
from tui_agent.ui.tmux import program

if TYPE_CHECKING:
    from textual.app import App

MOST = 74_994
"""Bytes that xterm takes in one OSC 52, base64 left out; others take more, some less."""
PATIENCE = 2.0
"""Seconds for tmux."""


async def copy(app: App[Any], text: str, environ: Mapping[str, str] = os.environ) -> str:
    """Copy `text`; returns what to tell the person."""
    size = plural(len(text), "character")
    app.copy_to_clipboard(text)
    if "TMUX" in environ:
        if await _tmux(text, environ):
            return f"Copied {size}."
    elif environ.get("TERM") != "linux" and len(text.encode("utf-8", "replace")) <= MOST:
        return f"Copied {size}."
    return f"The terminal can't take {size}. They are in {await asyncio.to_thread(_saved, text)}"


async def _tmux(text: str, environ: Mapping[str, str]) -> bool:
    """Hand `text` to tmux, which sets the clipboard of the terminal around it (`-w`, from tmux 3.2)."""
    tmux = program(environ)
    if tmux is None:
        return False
    nowhere = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        tmux,
        "load-buffer",
        "-w",
        "-",
        stdin=asyncio.subprocess.PIPE,
        stdout=nowhere,
        stderr=nowhere,
        start_new_session=True,
        env=dict(environ),
    )
    try:
        await asyncio.wait_for(process.communicate(text.encode("utf-8", "replace")), PATIENCE)
    except TimeoutError:
        process.kill()
        await process.wait()
    return process.returncode == 0


def _saved(text: str) -> Path:
    path = state_folder() / "copied.txt"
    replace_private(path, text.encode("utf-8", "replace"))
    return path
