"""The screens of sessions and of the context as a contract. `GOLDENS=write` writes them anew."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from app_host import until
from grid import golden, grid
from textual.app import App
from textual.screen import ModalScreen

from tui_agent.models.catalogue import ModelInfo
from tui_agent.session.contents import PARTS, Contents
from tui_agent.session.index import Summary
from tui_agent.session.prompts import Asked
from tui_agent.text import ago
from tui_agent.ui.app import TuiApp
from tui_agent.ui.screens import sessions
from tui_agent.ui.screens.context import ContextScreen
from tui_agent.ui.screens.models import ModelChoice, ModelScreen
from tui_agent.ui.screens.name import NameScreen
from tui_agent.ui.screens.rewind import RewindScreen
from tui_agent.ui.screens.sessions import SessionsScreen

SIZES = [(120, 40), (80, 24), (60, 20)]
TITLES = (
    "Why does an empty cart cost 4.90? Fix it.",
    "[/red] a title that \x1b[31mtries\x1b]0;x\x07 something, and is longer than any row of any list may be",
    "日本語の題名 👩‍👩‍👧 wide",
)


async def listed() -> tuple[ModelInfo, ...]:
    return (
        ModelInfo("claude-opus-5-5", "Claude Opus 5.5", 1_000_000),
        ModelInfo("claude-haiku-5-5", "Claude Haiku 5.5", 200_000),
    )


def summaries(folder: Path | None) -> list[Summary]:
    now = time.time()
    return [
        Summary(f"2026010{n}-120000-abcdef", Path(f"/s/{n}"), "/home/me/shop", title, now - age, size)
        for n, (title, age, size) in enumerate(
            zip(TITLES, (30, 7300, 200_000), (812, 34_000, 2_100_000), strict=True)
        )
    ]


CONTENTS = Contents(
    tuple(zip(PARTS, (1_200, 2_300, 800, 3_400, 900, 41_000, 2_400, 0), strict=True)), 52_000, 200_000
)
SCREENS: dict[str, Callable[[], ModalScreen[Any]]] = {
    "sessions": lambda: SessionsScreen(Path("/home/me/shop"), "20260100-120000-abcdef"),
    "rewind": lambda: RewindScreen([Asked(title, n, n) for n, title in enumerate(TITLES, 1)]),
    "models": lambda: ModelScreen(ModelChoice("claude-opus-5-5", "high"), listed),
    "context": lambda: ContextScreen("claude-opus-5-5", CONTENTS),
    "name": lambda: NameScreen("Rename the session", TITLES[1], "Enter  call it so    Escape  leave it"),
}
SETTLED = {
    "sessions": "3 sessions",
    "rewind": "Takes 1 prompt",
    "models": "window 1M",
    "context": "answers",
    "name": "Rename",
}
"""Words that are there when a screen has loaded what it shows."""


class Bare(App[None]):
    """Nothing is behind the dialogs."""

    CSS_PATH = TuiApp.CSS_PATH


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", SCREENS)
async def test_the_screen(name: str, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "_listed", summaries)
    async with Bare().run_test(size=size) as pilot:
        pilot.app.push_screen(SCREENS[name]())
        await until(pilot, lambda: SETTLED[name] in grid(pilot.app))
        await pilot.pause()
        shown = grid(pilot.app)
        assert "\x1b" not in shown
        golden(f"{name}_{size[0]}x{size[1]}", shown)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "now"),
        (59, "now"),
        (61, "1 min"),
        (3700, "1 h"),
        (90_000, "1 day"),
        (400_000, "4 days"),
        (-5, "now"),
    ],
)
def test_ages(seconds: float, said: str) -> None:
    assert ago(seconds) == said
