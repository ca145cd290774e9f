"""Keys that a terminal reports with a number: the kitty protocol and xterm's modifyOtherKeys.

`CSI code:shifted:base ; modifiers:event ; text u`. Sub-fields beyond what is used are left out, releases and
lock keys are no keys, numbers that are no characters are dropped. A letter of another script that is pressed
with Ctrl, Alt or Super counts as the letter of its place on the keyboard, so shortcuts work in any layout.
"""

from __future__ import annotations

import re

from textual import events
from textual._keyboard_protocol import FUNCTIONAL_KEYS
from textual.keys import _character_to_key

_REPORT = re.compile(r"\x1b\[([\d:]*)(?:;([\d:]*))?(?:;([\d:]*))?([u~ABCDEFHPQRS])")
_OTHER = re.compile(r"\x1b\[27;(\d+);(\d+)~")
_MODIFIERS = ("shift", "alt", "ctrl", "super", "hyper", "meta")
_LETTERS = "qwertyuiop[]asdfghjkl;'zxcvbnm,."
_LAYOUTS = (
    "йцукенгшщзхъфывапролджэячсмитьбю",
    "йцукенгшщзхїфівапролджєячсмитьбю",
    ";ςερτυθιοπ[]ασδφγηξκλ΄'ζχψωβνμ,.",
)
_PLACE = {
    theirs: ours
    for layout in _LAYOUTS
    for theirs, ours in zip(layout, _LETTERS, strict=True)
    if theirs > "\x7f"
}
_CHARACTERS = {"backspace": "\x7f", "enter": "\r", "tab": "\t"}


def key_report(unit: str) -> list[events.Key] | None:
    """The keys of a report, none for what is no key press, None if `unit` is no such report."""
    if match := _OTHER.fullmatch(unit):
        unit = f"\x1b[{match[2]};{match[1]}u"
    if (match := _REPORT.fullmatch(unit)) is None or (match[2] is None and match[4] != "u"):
        return None
    code, _, others = (match[1] or "1").partition(":")
    modifiers, _, event = (match[2] or "1").partition(":")
    if event.startswith("3"):
        return []
    held = _held(int(modifiers or 1))
    name = FUNCTIONAL_KEYS.get(f"{int(code or 1)}{match[4]}")
    if name is None:
        if match[4] != "u":
            return []
        texts = [chr(int(part)) for part in (match[3] or "").split(":") if _is_character(part)]
        return _letter(code, others, held, texts)
    if name.endswith("_lock") or 57441 <= int(code or 1) <= 57454:
        return []
    if name in _CHARACTERS and not held:
        return [events.Key(name, _CHARACTERS[name])]
    return [events.Key("+".join([*held, name]), None)]


def _letter(code: str, others: str, held: list[str], texts: list[str]) -> list[events.Key]:
    if not _is_character(code):
        return []
    chord = [modifier for modifier in held if modifier != "shift"]
    if not chord or (texts and chord == ["alt"]):
        return [_typed(text) for text in texts] or [_typed(_shifted(chr(int(code)), others, held))]
    character = chr(int(code))
    base = others.rpartition(":")[2] if ":" in others else ""
    if character > "\x7f" and _is_character(base):
        character = chr(int(base))
    key = _character_to_key(_PLACE.get(character.lower(), character.lower()))
    return [events.Key("+".join([*sorted(held), key]), None)]


def _typed(character: str) -> events.Key:
    return events.Key("space" if character == " " else _character_to_key(character), character)


def _shifted(character: str, others: str, held: list[str]) -> str:
    shifted = others.partition(":")[0]
    if "shift" not in held:
        return character
    return chr(int(shifted)) if _is_character(shifted) else character.upper()[:1]


def _held(modifiers: int) -> list[str]:
    bits = modifiers - 1
    return sorted(name for bit, name in enumerate(_MODIFIERS) if bits >= 0 and bits >> bit & 1)


def _is_character(part: str) -> bool:
    """Whether a number in digits is a character that can be typed; private ones are keys without a name."""
    if not part.isdecimal() or len(part) > 7:
        return False
    code = int(part)
    return 32 <= code < 0x110000 and not (0x7F <= code < 0xA0 or 0xD800 <= code < 0xF900)
