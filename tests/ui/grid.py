"""The screen as a grid of text, and goldens of it: the screen as a contract.

`GOLDENS=write pytest …` writes them anew; look at the diff before it is kept.
"""

from __future__ import annotations

import os
from difflib import unified_diff
from pathlib import Path
from typing import Any

from textual._context import visible_screen_stack
from textual.app import App

GOLDENS = Path(__file__).parent / "goldens"


def grid(app: App[Any]) -> str:
    """What is on the screen of `app`, one line a row, blanks at the end left out."""
    visible_screen_stack.set(app._background_screens)  # as a repaint does: what shines through a dialog
    rows = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in row).rstrip() for row in rows) + "\n"


def golden(name: str, shown: str) -> None:
    """Compare with the golden of that name, or write it when asked to."""
    path = GOLDENS / f"{name}.txt"
    if os.environ.get("GOLDENS") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown, encoding="utf-8")
    kept = path.read_text(encoding="utf-8")
    assert shown == kept, "\n".join(unified_diff(kept.splitlines(), shown.splitlines(), path.name, "now"))
