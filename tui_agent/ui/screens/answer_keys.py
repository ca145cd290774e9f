"""The keys of every question: a character or a key's name, and the method `do_…` that serves it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import takewhile

from textual.content import Content

KEYS: Mapping[str, str] = {
    "y": "approve",
    "n": "deny",
    "r": "reason",
    "a": "always",
    "e": "edit",
    "c": "comment",
    "enter": "press",
    "left": "choose",
    "right": "choose",
    "tab": "choose",
    "shift+tab": "choose",
    "pageup": "page_up",
    "pagedown": "page_down",
    "home": "to_start",
    "end": "to_end",
    "up": "up",
    "down": "down",
    "f1": "help",
    "f2": "peek",
    "escape": "stop",
    "ctrl+c": "stop",
}
ANSWERS = frozenset({"approve", "deny", "reason", "always", "edit", "press", "approve_all"})
"""What counts only when armed."""
WHILE_PEEKING: Mapping[str, str] = {"pageup": "page_up", "pagedown": "page_down"}
EARLY = frozenset({"page_up", "page_down", "to_start", "to_end", "up", "down", "peek", "help"})
"""What may be done at once: it only looks."""


MORE = "F1 all keys"
_NAMES = ("Esc", "F1", "F2", "Space")


def laid(keys: str, width: int, rows: int) -> str:
    """`keys`, the most important first, in so many rows. None is broken; `MORE` is for what has no room."""
    items = keys.split(" · ")
    lines = _filled(items, width)
    while len(lines) > rows and items:
        items.pop()
        lines = _filled([*items, MORE], width)
    return "\n".join(lines)


def _filled(items: Iterable[str], width: int) -> list[str]:
    lines: list[str] = []
    for item in items:
        longer = f"{lines[-1]} · {item}" if lines else item
        if lines and len(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(item)
    return lines


def weighted(keys: str) -> Content:
    """`y approve · F2 conversation` with the keys in bold."""
    return Content("\n").join(
        Content(" · ").join(_weighted(item) for item in line.split(" · ")) for line in keys.split("\n")
    )


def _weighted(item: str) -> Content:
    names = takewhile(lambda word: len(word) == 1 or word in _NAMES, item.split(" "))
    key = " ".join(names)
    return Content.assemble((key, "bold"), item[len(key) :])
