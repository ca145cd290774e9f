"""The pair of themes of our own, and which one to start with."""

from __future__ import annotations

from collections.abc import Mapping

from textual.theme import BUILTIN_THEMES, Theme

DARK = Theme(
    name="tui-agent-dark",
    dark=True,
    foreground="#d5d8df",
    background="#14161b",
    surface="#191c22",
    panel="#21252d",
    primary="#86b3f0",
    secondary="#b9a5ee",
    accent="#7ccfbd",
    success="#93cf8f",
    warning="#e3bf7a",
    error="#f08f8a",
    variables={
        "border": "#86b3f0",
        "border-blurred": "#2c313b",
        "input-selection-background": "#86b3f0 30%",
        "block-cursor-background": "#2a3140",
        "block-cursor-foreground": "#e8eaf0",
        "block-cursor-text-style": "none",
        "block-cursor-blurred-background": "#1f242d",
        "scrollbar": "#2c313b",
        "scrollbar-background": "#14161b",
        "scrollbar-hover": "#3a414e",
        "scrollbar-active": "#86b3f0",
    },
)

LIGHT = Theme(
    name="tui-agent-light",
    dark=False,
    foreground="#23262d",
    background="#fbfaf8",
    surface="#f4f2ee",
    panel="#e9e6e0",
    primary="#2557b0",
    secondary="#6a45b0",
    accent="#0b6a60",
    success="#2d6a30",
    warning="#7d5200",
    error="#ad2620",
    variables={
        "border": "#2557b0",
        "border-blurred": "#d9d5cd",
        "input-selection-background": "#2557b0 22%",
        "block-cursor-background": "#dfe7f5",
        "block-cursor-foreground": "#15181d",
        "block-cursor-text-style": "none",
        "block-cursor-blurred-background": "#eceae5",
        "scrollbar": "#d9d5cd",
        "scrollbar-background": "#fbfaf8",
        "scrollbar-hover": "#c5c0b6",
        "scrollbar-active": "#2557b0",
    },
)

OWN = (DARK, LIGHT)
"""The two, dark first."""


SHORT = {"dark": DARK.name, "light": LIGHT.name}
"""What the pair may be called, for short."""


def problem(wanted: str | None) -> str | None:
    """Why the theme that was asked for can't be had, with what can."""
    if wanted is None or SHORT.get(wanted, wanted) in {*(theme.name for theme in OWN), *BUILTIN_THEMES}:
        return None
    return f"there is no theme {wanted}. Themes: {', '.join([*SHORT, *sorted(BUILTIN_THEMES)])}."


def own(dark: bool) -> str:
    """The one of the pair that fits a dark or a light terminal."""
    return DARK.name if dark else LIGHT.name


def legible(name: str, environ: Mapping[str, str]) -> str:
    """`name`, except where it can't be read: without colour, the terminal's own are black on black."""
    return own(name != "ansi-light") if name.startswith("ansi-") and environ.get("NO_COLOR") else name


def first_theme(wanted: str | None, environ: Mapping[str, str]) -> str:
    """The theme to start with: the one asked for, else by what the terminal says of its background.

    `COLORFGBG` ends with the background's colour number; 7 and 15 are the light ones.
    """
    if wanted:
        return SHORT.get(wanted, wanted)
    background = environ.get("COLORFGBG", "").rpartition(";")[2]
    return own(background not in {"7", "15"})
