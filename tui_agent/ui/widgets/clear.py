"""Containers that paint nothing themselves.

Textual renders every widget under a changed region, also those that lie wholly behind others: four blank
containers behind the conversation cost as much as the conversation. What a container of this kind leaves
free shows the ground of the screen, so it must want no border, padding or background of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Horizontal, Vertical
from textual.geometry import Region

if TYPE_CHECKING:
    from textual.strip import Strip
    from textual.widget import Widget
else:
    Widget = object  # of two widget bases, Textual takes styles and bindings from the first alone


class Clear(Widget):
    def render_lines(self, crop: Region) -> list[Strip]:
        return []


class ClearVertical(Clear, Vertical):
    pass


class ClearHorizontal(Clear, Horizontal):
    pass
