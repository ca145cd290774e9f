"""The last row: the keys that work here and now. Made from the table of keys by what has the focus."""

from __future__ import annotations

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from tui_agent.ui.keymap import Keymap
from tui_agent.ui.keys import KEYS, Key, Place

PLACES: dict[str, Place] = {
    "prompt": "prompt",
    "queued": "queue",
    "conversation": "conversation",
    "tool_log": "tool log",
    "changes": "changes",
}
"""Ids of widgets, and what their keys are listed under."""

Hint = tuple[str, str]


def place_of(widget: Widget | None) -> Place:
    """Where the person is when `widget` has the focus."""
    around = widget.ancestors_with_self if widget is not None else ()
    return next((PLACES[node.id] for node in around if node.id in PLACES), "prompt")


class HintLine(Widget):
    place: reactive[Place] = reactive[Place]("prompt")
    running: reactive[bool] = reactive(False)
    keymap: reactive[Keymap] = reactive(Keymap({}))

    def on_mount(self) -> None:
        self.watch(self.screen, "focused", self._focus_moved)

    def _focus_moved(self, focused: Widget | None) -> None:
        self.place = place_of(focused)

    def render(self) -> Content:
        shown = fitting(hints(self.place, self.running, self.keymap), self.size.width)
        pairs = (Content.assemble((label, "bold"), f" {word}") for label, word in shown)
        return Content("   ").join(pairs).stylize("$text-muted")


def hints(place: Place, running: bool, keymap: Keymap) -> list[Hint]:
    """The keys of a place in the order of their weight, the way to the help last."""
    here = [(_label(key, keymap), key.hint) for key in KEYS if key.place == place and key.hint]
    everywhere = {key.id: key for key in KEYS if key.place == "screen"}
    escape = _label(everywhere["escape"], keymap)
    if running:
        here = [(label, "queue" if word == "send" else word) for label, word in here]
        here.insert(0, (escape, "stop"))
    elif place != "prompt":
        here.append((escape, "back"))
    others = [key for key in everywhere.values() if key.hint and key.hint != place and key.id != "help"]
    help_key = (_label(everywhere["help"], keymap), everywhere["help"].hint)
    return [*here, *((_label(key, keymap), key.hint) for key in others), help_key]


def fitting(all_hints: list[Hint], width: int) -> list[Hint]:
    """As many from the front as fit beside the last one, which always stays."""
    *front, last = all_hints
    while front and _width([*front, last]) > width:
        front.pop()
    return [*front, last]


def _label(key: Key, keymap: Keymap) -> str:
    """The first name that people have for it: the line is short."""
    return keymap.label(key).split(", ")[0]


def _width(shown: list[Hint]) -> int:
    return sum(len(label) + 1 + len(word) for label, word in shown) + 3 * (len(shown) - 1)
