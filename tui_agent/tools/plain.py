"""Program output as plain text: what a person would have been left with, without what drew it.

Programs paint: colours, titles, progress bars that overwrite their line. The model needs none of it, and
bytes that act on a terminal must not go on into history.
"""

from __future__ import annotations

import re

from tui_agent.tools.clean import to_model

_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # CSI
    # OSC, DCS, SOS, PM, APC: up to their end; one without an end takes the rest of its line, no more
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
    r"|[\x80-\x9f]"
)


def plain(data: bytes) -> str:
    """Bytes of any kind as text for the model: decoded with U+FFFD, escapes gone, frames collapsed."""
    text = data.decode("utf-8", "replace")
    if not text.isprintable():
        text = _ESCAPES.sub("", text)
        if "\r" in text:
            text = "\n".join(map(_last_frame, text.split("\n")))
        if "\b" in text:
            text = _struck(text)
    return to_model(text)


def last_frame(line: bytes) -> bytes:
    """What is left of a line that a progress bar overwrote (`10%\\r50%\\r`)."""
    return line.rstrip(b"\r").rpartition(b"\r")[2]


def _last_frame(line: str) -> str:
    return line.rstrip("\r").rpartition("\r")[2]


def _struck(text: str) -> str:
    """Backspaces applied: spinners, and the overstrikes of manual pages."""
    kept: list[str] = []
    for character in text:
        if character != "\b":
            kept.append(character)
        elif kept and kept[-1] != "\n":
            kept.pop()
    return "".join(kept)
