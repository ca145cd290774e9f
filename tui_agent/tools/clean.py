"""The border towards the model: whatever a tool found becomes text that any API takes.

Valid Unicode, no NUL, nothing that hides. Control characters are drawn as pictures (`␀`, `␛`), characters
that the eye can't see by their code point (`⸨U+200B⸩`), undecodable bytes as `\\udcff`. Tabs, line ends,
joiners (emoji, Persian) and variation selectors stay.
"""

from __future__ import annotations

import re

_DRAWN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
)


def _draw(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if 0xD800 <= code <= 0xDFFF:
        return f"\\u{code:04x}"
    return f"⸨U+{code:04X}⸩"


def to_model(text: str) -> str:
    """`text` as the model may get it. CRLF becomes LF; a lone CR is drawn like other controls."""
    return _DRAWN.sub(_draw, text.replace("\r\n", "\n"))


def name_to_model(name: str) -> str:
    """A file name on one line: its line ends are drawn too."""
    return to_model(name.replace("\r", "␍").replace("\n", "␊").replace("\t", "␉"))
