"""What foreign text looks like to a person: nothing live, nothing hidden.

Text from a model, a tool, a file or an error can carry escape sequences that act on the terminal and
characters that no eye sees. `visible` draws them. It is pure and works on each character by itself, so
a sequence that is split over two pieces of a stream stays harmless; only colours (SGR), which are dropped
from normal text, need the whole piece. The text that models and files get is never changed by it.
"""

from __future__ import annotations

import re
from typing import Literal

_SGR = re.compile(r"\x1b\[[0-9;:]*m")

_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f"
_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, joiners of scripts, fillers
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800"  # zero width, separators, bidi controls, blank
    "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2"  # prefixed format marks
    "\u3164\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"  # tags and the selectors that can smuggle bytes
)
_JOINERS = "\u200c\u200d\ufe00-\ufe0f"
_ODD_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"

_NORMAL = re.compile(f"[{_CONTROLS}{_UNSEEN}]")
_STRICT = re.compile(f"[{_CONTROLS}{_UNSEEN}{_JOINERS}{_ODD_SPACES}\t\n]")
_HIDDEN = re.compile(f"[{_CONTROLS}{_UNSEEN}{_JOINERS}{_ODD_SPACES}]")


def _drawn(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code == 0x0A:
        return "↵\n"
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return f"⸨{code:02X}⸩" if code < 0xA0 else f"⸨U+{code:04X}⸩"


def visible(text: str, strict: bool = False) -> str:
    """`text` with everything live or hidden drawn: ESC as ␛, U+009B as ⸨9B⸩, U+202E as ⸨U+202E⸩.

    Normal text keeps tabs, newlines and what joins characters of scripts and emoji, and loses colours.
    `strict` is for what a person agrees to (commands, paths, titles): it draws these too, and a newline as
    ↵ before the break.
    """
    if text.isascii() and text.isprintable():
        return text
    if strict:
        return _STRICT.sub(_drawn, text)
    if "\x1b[" in text:
        text = _SGR.sub("", text)
    if "\r\n" in text:
        text = text.replace("\r\n", "\n")
    return _NORMAL.sub(_drawn, text)


def invisibles(text: str) -> int:
    """How many characters of `text` no eye would see or tell from a blank; tabs and newlines don't count."""
    return len(_HIDDEN.findall(text))


def width_of(text: str) -> int:
    """Cells that `text` takes in a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def graphemes(text: str) -> list[tuple[str, int]]:
    """What a person calls characters, each with its width in cells."""
    if text.isascii():
        return [(character, 1) for character in text]
    from rich.cells import cell_len, split_graphemes

    # Rich counts nothing for what a joiner leads.
    parts = ((text[start:end], cells) for start, end, cells in split_graphemes(text)[0])
    return [(part, cells or cell_len(part)) for part, cells in parts]


def shorten(text: str, width: int, keep: Literal["head", "tail"] = "head") -> str:
    """`text` in at most `width` cells, cut between graphemes, with … where something is missing."""
    if width <= 0:
        return ""
    if width_of(text) <= width:
        return text
    parts, room = [], width - 1
    # A long text is cut from the side that stays, so its length costs nothing.
    near = text[: width * 8 + 64] if keep == "head" else text[-(width * 8 + 64) :]
    order = graphemes(near) if keep == "head" else reversed(graphemes(near))
    for grapheme, cells in order:
        if cells > room:
            break
        parts.append(grapheme)
        room -= cells
    return "".join(parts) + "…" if keep == "head" else "…" + "".join(reversed(parts))


def one_line(text: str, width: int | None = None, keep: Literal["head", "tail"] = "head") -> str:
    """`text` as one strict line (a newline is ↵), shortened to `width` cells if one is given."""
    line = visible(text, strict=True).replace("\n", "")
    return line if width is None else shorten(line, width, keep)


def plural(count: int, noun: str) -> str:
    """`1 line`, `2,000 lines`, `3 entries`."""
    if count == 1:
        return f"1 {noun}"
    if noun.endswith("y") and noun[-2] not in "aeou":
        return f"{count:,} {noun[:-1]}ies"
    return f"{count:,} {noun}{'es' if noun.endswith(('s', 'ch')) else 's'}"


def size_text(size: int) -> str:
    """Bytes for people: `812 B`, `3.4 KB`, `120 KB`, `2.1 MB`."""
    units = ["B", "KB", "MB", "GB"]
    value: float = size
    while round(value) >= 1000 and len(units) > 1:
        value /= 1000
        del units[0]
    return f"{value:,.{0 if units[0] == 'B' or value >= 9.95 else 1}f} {units[0]}"


def ago(seconds: float) -> str:
    """An age for the eye: `now`, `5 min`, `3 h`, `2 days`."""
    for size, unit in ((86_400, "day"), (3600, "h"), (60, "min")):
        count = int(seconds // size)
        if count > 0:
            return plural(count, unit) if unit == "day" else f"{count} {unit}"
    return "now"
