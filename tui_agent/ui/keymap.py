"""The person's own keys: the `[keys]` table of the settings, read over the table of `keys`.

What can't be used is left out, and said; where two things are on one key, the person's choice wins, and that
is said too. Textual puts the map into effect by the ids of bindings.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from textual.keys import KEY_ALIASES, Keys, _character_to_key

from tui_agent.text import one_line
from tui_agent.ui.keys import KEYS, Key

_NAMED = {key.value for key in Keys} | set(KEY_ALIASES) | {f"f{number}" for number in range(1, 25)}
_MODIFIERS = {"ctrl", "alt", "shift", "super", "meta", "hyper"}
_SPELLED = {
    "pageup": "PageUp",
    "pagedown": "PageDown",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "slash": "/",
    "question_mark": "?",
}


@dataclass(frozen=True)
class Keymap:
    """`changed` is by id, as `App.set_keymap` takes it; `problems` are sentences for the person."""

    changed: Mapping[str, str]
    problems: tuple[str, ...] = ()

    def label(self, key: Key) -> str:
        """What to call the key now."""
        changed = self.changed.get(key.id) if key.action else None
        return key.label if changed is None else ", ".join(spelled(name) for name in changed.split(","))

    def keys(self, key: Key) -> tuple[str, ...]:
        return tuple(self.changed.get(key.id, key.keys).split(",")) if key.action else ()


def read(wanted: Mapping[str, str]) -> Keymap:
    """The map that the settings ask for, as far as it can be had."""
    known = {key.id: key for key in KEYS if key.action}
    changed: dict[str, str] = {}
    problems: list[str] = []
    for name, text in wanted.items():
        if name not in known:
            close = difflib.get_close_matches(name, known, 1)
            more = f"Did you mean {close[0]}?" if close else "/keys lists what there is."
            problems.append(f"keys: there is nothing called {one_line(name, 40)}. {more}")
            continue
        names = [_normal(part) for part in re.split(r",(?=.)", text)]
        wrong = [part for part in names if not _exists(part)]
        if wrong:
            problems.append(
                f"keys: {name}: there is no key {one_line(wrong[0], 40)}. Write it as in ctrl+g or f7."
            )
        elif known[name].place in ("screen", "prompt") and any(len(_bare(part)) == 1 for part in names):
            problems.append(
                f"keys: {name}: {one_line(text, 40)} types a letter. Choose a function key, or Ctrl or Alt."
            )
        else:
            changed[name] = ",".join(names)
    keymap = Keymap(changed)
    return Keymap(changed, (*problems, *_clashes(keymap)))


def _clashes(keymap: Keymap) -> Iterator[str]:
    """Where a key of the person's takes one that something else has, in the same place or everywhere."""
    for one in KEYS:
        if one.id not in keymap.changed or not one.action:
            continue
        for other in KEYS:
            together = other.place in (one.place, "screen") or one.place == "screen"
            if other.id == one.id or not together or (other.id in keymap.changed and other.id < one.id):
                continue
            for name in sorted({*keymap.keys(one)} & {*keymap.keys(other)} if other.action else ()):
                yield (
                    f"keys: {spelled(name)} is both {one.id} and {other.id}: {one.id} has it now. "
                    f"Give {other.id} another key."
                )


def spelled(name: str) -> str:
    """`ctrl+g` as people write it: Ctrl+G."""
    *held, last = name.split("+") if name != "+" else ["+"]
    shown = _SPELLED.get(last) or (last if len(last) == 1 and not held else last.capitalize())
    return "+".join([*(part.capitalize() for part in held), shown])


def _normal(text: str) -> str:
    name = text.strip()
    return _character_to_key(name) if len(name) == 1 and not name.isalnum() else name


def _bare(name: str) -> str:
    """The letter that a key types; more than one character if it types none."""
    if "+" in name or name in _NAMED:
        return "  " if name != "space" else " "
    return name if len(name) == 1 else " "


def _exists(name: str) -> bool:
    *held, last = name.split("+")
    if not _MODIFIERS.issuperset(held):
        return False
    return name in _NAMED or last in _NAMED or len(last) == 1 or last in _CHARACTERS


_CHARACTERS = {_character_to_key(chr(code)) for code in range(33, 127)}
