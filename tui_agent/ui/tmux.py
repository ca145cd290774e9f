"""The tmux around us, if there is one: where its program is, and whether it holds Escape back.

By its defaults tmux waits half a second whether an Escape is the beginning of another key, so Escape stops a
run late, and one that a key follows is lost. The person is told once that Ctrl+C has no such wait.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tui_agent.paths import open_private, state_folder

LONG = 50
"""Milliseconds from which the wait is felt."""
PATIENCE = 0.5
TOLD = "told-escape-time"
"""The file that remembers that the person knows."""


def program(environ: Mapping[str, str]) -> str | None:
    """tmux by its absolute path. No place inside the present folder counts: the folder names no programs."""
    here = Path.cwd()
    places = [
        place
        for place in environ.get("PATH", os.defpath).split(os.pathsep)
        if os.path.isabs(place) and not Path(place).is_relative_to(here)
    ]
    return shutil.which("tmux", path=os.pathsep.join(places))


def escape_time(environ: Mapping[str, str]) -> int | None:
    """Milliseconds that tmux waits after an Escape; None without tmux, or if it doesn't say."""
    if "TMUX" not in environ or (tmux := program(environ)) is None:
        return None
    try:
        shown = subprocess.run(
            [tmux, "show-options", "-sv", "escape-time"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=dict(environ),
            start_new_session=True,
            timeout=PATIENCE,
            check=True,
        )
        return int(shown.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def advice(environ: Mapping[str, str]) -> str:
    """What to tell the person, once ever; empty otherwise. It runs a program: for a thread."""
    wait = escape_time(environ)
    if wait is None or wait < LONG:
        return ""
    with suppress(OSError):
        try:
            os.close(open_private(state_folder() / TOLD, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return ""
    return (
        f"tmux holds Escape back for {wait} ms. Ctrl+C stops a run, too, and at once. "
        "“set -s escape-time 10” in its settings makes Escape quick."
    )
