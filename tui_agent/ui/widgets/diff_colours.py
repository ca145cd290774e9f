"""The looks of a diff, computed from the theme so that each can be read: contrast 4.5 to 1 or more.

Themes of the terminal's own colours have no known background: there the text keeps the terminal's own
foreground, and only signs and weight tell added from removed. The sign in the gutter is always there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from textual.app import App
from textual.color import Color
from textual.style import Style

from tui_agent.ui.contrast import readable

Palette = Mapping[str, str]
"""Look → Textual style."""

ANSI: Palette = {
    "same": "",
    "number": "dim",
    "mark": "dim",
    "head": "bold",
    "out": "dim",
    "cursor": "bold reverse",
    "find": "reverse",
    "comment": "italic",
    "warning": "bold",
    **dict.fromkeys(("old", "new", "space"), ""),
    **{f"{side}.mark": "dim" for side in ("old", "new")},
    **{f"{side}.word": "bold underline" for side in ("old", "new")},
    "old.sign": "bold ansi_red",
    "new.sign": "bold ansi_green",
    "space.sign": "bold",
}


def palette_for(app: App[Any], ground: Color) -> Palette:
    """The looks for the app's theme and terminal, over `ground`."""
    few = app.console.color_system in ("standard", "windows")
    if app.native_ansi_color or ground.ansi is not None or few:
        return ANSI
    names = ("foreground", "success", "error", "accent", "warning")
    return palette(ground, *(ground + Color.parse(app.theme_variables[name]) for name in names))


def style_of(name: str, looks: Palette) -> str:
    """The style of a look; `look|style` is the colour of a language on that look's ground."""
    look, _, wished = name.partition("|")
    base = looks.get(look, "")
    if not wished or not base:
        return base
    ground, wish = Style.parse(base).background, Style.parse(wished)
    if ground is None or wish.foreground is None:
        return base
    weight = "italic" if wish.italic else "bold" if wish.bold else ""
    return _style(ground + wish.foreground, ground, weight)


def palette(
    background: Color, foreground: Color, added: Color, removed: Color, accent: Color, warning: Color
) -> Palette:
    """Looks over an opaque `background`; the other colours are the theme's wishes."""
    looks = {
        "same": _style(foreground, background),
        "number": _style(foreground.blend(background, 0.45), background),
        "mark": _style(foreground.blend(background, 0.45), background),
        "head": _style(accent, background),
        "out": _style(foreground.blend(background, 0.4), background),
        "cursor": _style(accent, background, "bold"),
        "comment": _style(accent, background.blend(accent, 0.08), "italic"),
        "warning": _style(warning, background, "bold"),
        "find": _style(background, warning),
        "space": _style(foreground, background),
        "space.sign": _style(accent, background, "bold"),
    }
    for side, hue in (("old", removed), ("new", added)):
        tint, strong = background.blend(hue, 0.13), background.blend(hue, 0.34)
        looks[side] = _style(foreground, tint)
        looks[f"{side}.word"] = _style(foreground, strong, "bold")
        looks[f"{side}.mark"] = _style(foreground.blend(tint, 0.45), tint)
        looks[f"{side}.sign"] = _style(hue, tint, "bold")
    return looks


def _style(foreground: Color, background: Color, weight: str = "") -> str:
    return f"{weight} {readable(foreground, background).hex6} on {background.hex6}".strip()
