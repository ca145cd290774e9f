"""The keys of a screen and what they do, laid out so that none is broken at the end of a row."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

MORE = "F1 all keys"
_NAMES = ("Esc", "F1", "F2", "Space")


class KeyRows(Widget):
    """`keys` are words of ours, the most important first: `y approve · n deny` or `y  yes    n  no`.

    Where `most` rows don't hold them, `MORE` stands for the last ones.
    """

    DEFAULT_CSS = "KeyRows { height: auto; }"

    def __init__(self, keys: str = "", *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._keys = keys
        self._most: int | None = None

    def show(self, keys: str, most: int | None = None) -> None:
        self._keys, self._most = keys, most
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(laid(self._keys, width, self._most))

    def render(self) -> Content:
        return Content("\n").join(map(_weighted, laid(self._keys, self.size.width, self._most)))


def laid(keys: str, width: int, most: int | None = None) -> list[str]:
    """`keys` in rows, no more than `most`."""
    gap = " · " if " · " in keys else "    "
    items = keys.split(gap)
    rows = _filled(items, gap, width)
    while most is not None and len(rows) > most and items:
        items.pop()
        rows = _filled([*items, MORE], gap, width)
    return rows


def _filled(items: Iterable[str], gap: str, width: int) -> list[str]:
    rows: list[str] = []
    for item in items:
        longer = f"{rows[-1]}{gap}{item}" if rows else item
        if rows and len(longer) <= width:
            rows[-1] = longer
        else:
            rows.append(item)
    return rows


def _weighted(row: str) -> Content:
    """`y approve · F2 conversation` with the keys in bold."""
    return Content(" · ").join(map(_with_key, row.split(" · ")))


def _with_key(item: str) -> Content:
    key = " ".join(takewhile(lambda word: len(word) == 1 or word in _NAMES, item.split(" ")))
    return Content.assemble((key, "bold"), item[len(key) :])
