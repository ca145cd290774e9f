"""The keys of every question: a character or a key's name, and the method `do_…` that serves it."""

from __future__ import annotations

from collections.abc import Mapping

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
