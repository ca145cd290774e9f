"""From runs of styled text to the strips that are painted.

A row is a tuple of runs `(text, style)`, where a style is a Textual style such as `"bold $text-accent"`:
rows hold no colours, so a change of theme invalidates strips only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rich.color import Color, ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tui_agent.text import width_of

Run = tuple[str, str]
Row = tuple[Run, ...]
Styles = Callable[[str], Style]


class LeanStrip(Strip):
    """A strip that writes a colour only where it changes, about a fifth fewer bytes for the terminal."""

    __slots__ = ()

    def render(self, console: Console) -> str:
        if self._render_cache is None:
            system = console._color_system or ColorSystem.TRUECOLOR
            out: list[str] = []
            attributes, color, background = 0, None, None
            for text, style, _ in self._segments:
                if style is None:
                    style = _NULL
                if style._link:
                    return super().render(console)
                new = (style._attributes & style._set_attributes, style._color, style._bgcolor)
                codes: list[str] = []
                if attributes & ~new[0] or (color and not new[1]) or (background and not new[2]):
                    codes.append("0")
                    attributes, color, background = 0, None, None
                added = new[0] & ~attributes
                codes += [code for bit, code in _ATTRIBUTES if added >> bit & 1]
                if new[1] != color:
                    codes += _codes(new[1], system, True)
                if new[2] != background:
                    codes += _codes(new[2], system, False)
                out.append(f"\x1b[{';'.join(codes)}m{text}" if codes else text)
                attributes, color, background = new
            if attributes or color or background:
                out.append("\x1b[0m")
            self._render_cache = "".join(out)
        return self._render_cache


_NULL = Style.null()
_ATTRIBUTES = [(bit, code) for bit, code in Style._style_map.items()]
_CODES: dict[tuple[Color, ColorSystem, bool], tuple[str, ...]] = {}


def _codes(color: Color | None, system: ColorSystem, foreground: bool) -> tuple[str, ...]:
    if color is None:
        return ()
    key = (color, system, foreground)
    if key not in _CODES:
        _CODES[key] = color.downgrade(system).get_ansi_codes(foreground)
    return _CODES[key]


def lean(strip: Strip) -> Strip:
    return strip if isinstance(strip, LeanStrip) else LeanStrip(strip._segments, strip.cell_length)


def build(row: Iterable[Run], width: int, styles: Styles, base: str = "") -> Strip:
    """`row` as a strip of exactly `width` cells; what is wider is cut."""
    segments = [Segment(text, styles(style or base)) for text, style in row if text]
    cells = sum(width_of(segment.text) for segment in segments)
    if cells < width:
        segments.append(Segment(" " * (width - cells), styles(base)))
    strip = LeanStrip(segments, max(cells, width))
    return strip if cells <= width else lean(strip.crop(0, width))


def highlight(strip: Strip, start: int, end: int, style: Style) -> Strip:
    """Characters `start` to `end` (-1: to the end) of the strip in `style`."""
    segments: list[Segment] = []
    position = 0
    for text, own, _ in strip._segments:
        first = min(max(start - position, 0), len(text))
        last = len(text) if end < 0 else min(max(end - position, 0), len(text))
        position += len(text)
        if first >= last:
            segments.append(Segment(text, own))
            continue
        marked = style if own is None else own + style
        pieces = ((text[:first], own), (text[first:last], marked), (text[last:], own))
        segments += [Segment(part, look) for part, look in pieces if part]
    return LeanStrip(segments, strip.cell_length)


def text_of(strip: Strip) -> str:
    return "".join(segment.text for segment in strip._segments)
