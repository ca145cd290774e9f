"""Every text on a screen can be read: 4.5 to 1 against its ground, over the strips that are painted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from rich.cells import cell_len
from rich.color import ColorType
from scenes import SCENES, show
from textual.app import App
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from tui_agent.ui.contrast import contrast

ENOUGH = 4.5
LINES = set("─━│┃┌┐└┘├┤┬┴┼╭╮╰╯▁▂▃▄▅▆▇█▔▌▎▏▊▋▐")
THEMES = [
    *("dark", "light"),
    *(pytest.param(name, marks=pytest.mark.heavy) for name in BUILTIN_THEMES if not name.startswith("ansi-")),
]
"""Our pair; those of Textual in long runs."""


@pytest.fixture(autouse=True)
def _all_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.delenv("NO_COLOR", raising=False)


def segments(app: App[Any]) -> Iterator[tuple[str, Any]]:
    """The texts of the screen on top, with their looks. What shows dimly through it is not to be read."""
    for y, strip in enumerate(app.screen._compositor.render_strips()):
        x = 0
        for text, style, _ in strip:
            widget, _ = (
                app.screen.get_widget_at(x + len(text) - len(text.lstrip()), y)
                if text.strip()
                else (None, None)
            )
            if widget not in (None, app.screen) and not set(text.strip()) <= LINES:
                yield text, style
            x += cell_len(text)


def pale(app: App[Any]) -> dict[str, tuple[str, float]]:
    """Texts with too little contrast: the colours, and how much there is."""
    ground = Color.parse(app.current_theme.background or "#000000")
    found = {}
    for text, style in segments(app):
        fore, back = _colour(style.color, None), _colour(style.bgcolor, ground)
        if style.reverse:
            fore, back = back, fore
        if fore is None or back is None:
            found[text.strip()] = ("no colour", 0.0)
        elif (ratio := contrast(fore, back)) < ENOUGH - 0.01:
            found[text.strip()] = (f"{fore.hex} on {back.hex}", round(ratio, 2))
    return found


def _colour(colour: Any, default: Color | None) -> Color | None:
    if colour is None or colour.type is ColorType.DEFAULT:
        return default
    return Color.from_rich_color(colour)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("scene", SCENES)
async def test_all_text_can_be_read(theme: str, scene: str, tmp_path: Any) -> None:
    async with show(scene, tmp_path, size=(110, 36), theme=theme) as app:
        assert pale(app) == {}


@pytest.mark.parametrize("scene", SCENES)
async def test_without_colour_too(monkeypatch: pytest.MonkeyPatch, scene: str, tmp_path: Any) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with show(scene, tmp_path, size=(110, 36), theme="dark") as app:
        assert pale(app) == {}


@pytest.mark.parametrize("theme", ["ansi-dark", pytest.param("ansi-light", marks=pytest.mark.heavy)])
@pytest.mark.parametrize("scene", SCENES)
async def test_the_terminals_own_colours_stay_its_own(theme: str, scene: str, tmp_path: Any) -> None:
    """There the ground is not known: no colour of ours may be given for it, and none be equal to another."""
    async with show(scene, tmp_path, size=(110, 36), theme=theme) as app:
        for text, style in segments(app):
            default = style.color is None or style.color.type is ColorType.DEFAULT
            assert default or style.color != style.bgcolor, text
