"""Whether text can be read on its ground, and the nearest colour that can: 4.5 to 1 or more."""

from __future__ import annotations

from collections.abc import Mapping

from textual.color import Color

ENOUGH = 4.5
_WHITE, _BLACK = Color(255, 255, 255), Color(0, 0, 0)

GROUNDS = ("background", "surface", "panel", "block-cursor-background")
"""Variables of a theme on which any text of ours may stand."""
TEXTS = (
    "foreground",
    "text-primary",
    "text-secondary",
    "text-accent",
    "text-success",
    "text-warning",
    "text-error",
)
TINT = 1.5
"""Contrast of two grounds that may lie under the same text."""
MUTED = 0.3
"""How far text of less weight is from the others towards the ground."""


def contrast(one: Color, other: Color) -> float:
    """The ratio of WCAG, 1 to 21."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def readable(colour: Color, *grounds: Color) -> Color:
    """`colour`, moved towards white or black as little as gives enough contrast to each ground."""

    def least(text: Color) -> float:
        return min(contrast(text, ground) for ground in grounds)

    goal = max((_WHITE, _BLACK), key=least)
    for step in range(21):
        nearer = colour.blend(goal, step / 20)
        if least(nearer) >= ENOUGH:
            return nearer
    return goal


def legible(variables: Mapping[str, str], dark: bool) -> dict[str, str]:
    """The variables of a theme with text colours that can be read wherever text stands.

    Colours of the terminal's own are left to it: what they look like is not known. Only the ground under a
    cursor is a grey there, which no text has.
    """
    ground = Color.parse(variables["background"])
    foreground = Color.parse(variables["foreground"])
    if ground.ansi is not None or foreground.ansi is not None:
        grey = "ansi_bright_black" if dark else "ansi_white"
        return {**variables, "text-muted": variables["foreground"], "block-cursor-background": grey}
    found = dict(variables)
    cursor = ground + Color.parse(variables["block-cursor-background"])
    if contrast(cursor, ground) > TINT:  # rows under a cursor have texts of all colours
        found["block-cursor-background"] = ground.blend(cursor, 0.2).hex6
    grounds = [ground + Color.parse(found[name]) for name in GROUNDS if name in found]
    for name in TEXTS:
        if name in variables:
            found[name] = readable(ground + Color.parse(variables[name]), *grounds).hex6
    found["text-muted"] = readable(foreground.blend(ground, MUTED), *grounds).hex6
    return found


def _luminance(colour: Color) -> float:
    parts = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized
    )
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))
