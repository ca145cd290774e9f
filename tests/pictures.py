"""The pictures of the README, taken of the real program: `python tests/pictures.py` writes them to `assets`.

The demo runs in a temporary home, is answered as a person would, and what its screen holds becomes an SVG:
every word placed by its cell, lines drawn as lines, no font and nothing else fetched from anywhere.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any

from rich.color import ColorType
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import DIMMED_MONOKAI
from textual.app import App
from textual.pilot import Pilot

from tui_agent.demo import copy_project
from tui_agent.settings import Settings
from tui_agent.text import graphemes
from tui_agent.ui.app import TuiApp

ASSETS = Path(__file__).parent.parent / "assets"
SIZE = (110, 34)
WIDE, HIGH, SIZE_OF_FONT = 8.4, 18, 14
EDGE = 14

L, R, U, D = (0, 0.5), (1, 0.5), (0.5, 0), (0.5, 1)
LINES = {
    "─": (L, R),
    "│": (U, D),
    "╭": (D, R),
    "╮": (D, L),
    "╰": (U, R),
    "╯": (U, L),
    "┌": (D, R),
    "┐": (D, L),
    "└": (U, R),
    "┘": (U, L),
    "┼": (L, R, U, D),
    "├": (U, D, R),
    "┤": (U, D, L),
    "┬": (L, R, D),
    "┴": (L, R, U),
}
"""Line characters, by the ends that meet in the middle of their cell."""
BLOCKS = {"▌": (0, 0, 0.5, 1), "▎": (0, 0, 0.25, 1), "█": (0, 0, 1, 1), "▁": (0, 0.875, 1, 0.125)}


def svg(app: App[Any]) -> str:
    """What is on the screen of `app`, as a picture of a window."""
    update = app.screen._compositor.render_update(full=True, screen_stack=app._background_screens)
    rows = [[part for strip in row for part in strip] for row in update.strips]  # type: ignore[union-attr]
    width, height = app.size
    theme = app.current_theme
    ground, ink = theme.background or "#000000", theme.foreground or "#ffffff"
    box = f'width="{width * WIDE + 2 * EDGE:g}" height="{height * HIGH + 2 * EDGE:g}"'
    parts = [part for y, row in enumerate(rows) for part in _row(row, y, ink, ground)]
    edge = f'stroke="{ink}" stroke-opacity="0.25"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {box} font-size="{SIZE_OF_FONT}" '
            'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace">',
            f'<rect x="0.5" y="0.5" rx="9" fill="{ground}" {edge} {_less(width, height)}/>',
            f'<g transform="translate({EDGE} {EDGE})" shape-rendering="crispEdges">',
            *sorted(parts, key=lambda part: not part.startswith("<rect")),
            "</g>",
            "</svg>\n",
        ]
    )


def _less(width: int, height: int) -> str:
    return f'width="{width * WIDE + 2 * EDGE - 1:g}" height="{height * HIGH + 2 * EDGE - 1:g}"'


def _row(row: list[Segment], y: int, ink: str, ground: str) -> Iterator[str]:
    x = 0
    for text, style, _ in row:
        fore, back, look = _looks(style, ink, ground)
        cells = graphemes(text)
        wide = sum(width for _, width in cells)
        if back != ground:
            yield _rect(x, y, 0, 0, wide, 1, back)
        for start, word in _words(cells):
            yield from _word(word, x + start, y, fore, look)
        x += wide


def _words(cells: list[tuple[str, int]]) -> Iterator[tuple[int, str]]:
    """Words with the cell that each begins at; drawn characters stand alone."""
    word, begun, at = "", 0, 0
    for character, width in cells:
        alone = character in LINES or character in BLOCKS or width != 1
        if (character == " " or alone) and word:
            yield begun, word
            word = ""
        if alone:
            yield at, character
        elif character != " ":
            begun = begun if word else at
            word += character
        at += width
    if word:
        yield begun, word


def _word(word: str, x: int, y: int, colour: str, look: str) -> Iterator[str]:
    if ends := LINES.get(word):
        middle = f"{(x + 0.5) * WIDE:g} {(y + 0.5) * HIGH:g}"
        path = "".join(f"M{middle}L{(x + a) * WIDE:g} {(y + b) * HIGH:g}" for a, b in ends)
        yield f'<path d="{path}" stroke="{colour}"/>'
    elif block := BLOCKS.get(word):
        yield _rect(x, y, *block, colour)
    else:
        yield f'<text x="{x * WIDE:g}" y="{(y + 0.74) * HIGH:g}" fill="{colour}"{look}>{escape(word)}</text>'


def _rect(x: int, y: int, left: float, top: float, wide: float, high: float, colour: str) -> str:
    place = f'x="{(x + left) * WIDE:g}" y="{(y + top) * HIGH:g}"'
    return f'<rect {place} width="{wide * WIDE:g}" height="{high * HIGH:g}" fill="{colour}"/>'


def _looks(style: Style | None, ink: str, ground: str) -> tuple[str, str, str]:
    style = style or Style.null()
    fore, back = _hex(style.color, ink), _hex(style.bgcolor, ground)
    if style.reverse:
        fore, back = back, fore
    look = "".join(
        f' {name}="{value}"'
        for on, name, value in (
            (style.bold, "font-weight", "bold"),
            (style.italic, "font-style", "italic"),
            (style.underline, "text-decoration", "underline"),
        )
        if on
    )
    return fore, back, look


def _hex(colour: Any, default: str) -> str:
    if colour is None or colour.type is ColorType.DEFAULT:
        return default
    return str(colour.get_truecolor(DIMMED_MONOKAI).hex)


# The scenes ------------------------------------------------------------------------------------------


async def until(pilot: Pilot[Any], condition: Callable[[], Any], seconds: float = 60) -> None:
    deadline = asyncio.get_running_loop().time() + seconds
    while not condition():
        if asyncio.get_running_loop().time() > deadline:
            raise TimeoutError(f"the screen is still {pilot.app.screen}")
        await pilot.pause(0.05)


async def play(theme: str, folder: Path, keep: Callable[[str, str], None]) -> None:
    """The demo from its prompt to its end; `keep` gets each picture with its name."""
    app = TuiApp(Settings(folder=copy_project(folder), demo=True, theme=theme))
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.main.prompt.text)
        await pilot.press("enter")
        for question in ("review", "command", "fix", "again"):
            await until(pilot, lambda: app.screen is not app.main)
            await pilot.pause(0.7)
            keep(f"{question}-{theme}", svg(app))
            await pilot.press("y")
            await until(pilot, lambda: app.screen is app.main)
        await until(pilot, lambda: app.turns.run is None)
        await pilot.pause(0.5)
        keep(f"conversation-{theme}", svg(app))


def main() -> None:
    wanted = {"conversation-dark", "conversation-light", "review-dark", "command-dark"}
    with tempfile.TemporaryDirectory(prefix="pictures-") as home:
        os.environ |= {
            "HOME": home,
            "XDG_STATE_HOME": home,
            "XDG_CONFIG_HOME": home,
            "COLORTERM": "truecolor",
        }
        os.environ.pop("NO_COLOR", None)
        ASSETS.mkdir(exist_ok=True)

        def keep(name: str, picture: str) -> None:
            if name in wanted:
                (ASSETS / f"{name}.svg").write_text(picture, encoding="utf-8")
                print(f"assets/{name}.svg", file=sys.__stdout__)

        for theme in ("dark", "light"):
            place = Path(home) / theme
            place.mkdir()
            asyncio.run(play(theme, place.resolve(), keep))


if __name__ == "__main__":
    main()
