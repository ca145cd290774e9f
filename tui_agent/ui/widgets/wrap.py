"""Where lines of text are broken to fit a width in cells."""

from __future__ import annotations

import re

from tui_agent.text import graphemes

Span = tuple[int, int, str]
"""(start, end, after): a row is text[start:end]; `after` joins it with the next row."""

# Characters that take one cell each whatever stands beside them.
_NARROW = re.compile(
    "[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u0590\u2010-\u2027\u2030-\u203b\u203d-\u2048"
    "\u2400-\u2426\u2500-\u25fc\u27e6-\u27ef\u2e28\u2e29]*"
)
TAB = 4


def untabbed(text: str) -> str:
    return text.expandtabs(TAB) if "\t" in text else text


def spans(text: str, width: int) -> list[Span]:
    """Rows of one line of prose, broken at blanks; a word that is too long is cut."""
    if _NARROW.fullmatch(text) is None:
        return _wide_spans(text, width)
    rows: list[Span] = []
    start, length = 0, len(text)
    while length - start > width:
        blank = text.rfind(" ", start, start + width + 1)
        if blank <= start or text[start:blank].isspace():
            rows.append((start, start + width, ""))
            start += width
        else:
            rows.append((start, blank, " "))
            start = blank + 1
    rows.append((start, length, "\n"))
    return rows


def cuts(text: str, width: int) -> list[Span]:
    """Rows of one line of code, cut exactly at the width."""
    if _NARROW.fullmatch(text) is None:
        return _wide_spans(text, width, blanks=False)
    length = len(text)
    rows: list[Span] = [(at, at + width, "") for at in range(0, length - width, width)]
    start = len(rows) * width
    return [*rows, (start, length, "\n")]


def _wide_spans(text: str, width: int, blanks: bool = True) -> list[Span]:
    rows: list[Span] = []
    start = position = used = 0
    blank: tuple[int, int] | None = None
    for grapheme, cells in graphemes(text):
        if used + cells > width and position > start:
            if blanks and grapheme == " ":
                rows.append((start, position, " "))
                start = position = position + 1
                used, blank = 0, None
                continue
            if blanks and blank is not None:
                at, cells_before = blank
                rows.append((start, at, " "))
                start, used = at + 1, used - cells_before - 1
            else:
                rows.append((start, position, ""))
                start, used = position, 0
            blank = None
        if grapheme == " " and position > start:
            blank = (position, used)
        position += len(grapheme)
        used += cells
    rows.append((start, len(text), "\n"))
    return rows
