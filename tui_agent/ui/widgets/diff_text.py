"""How a line of a file is drawn in a diff: every character there, none added that could be mistaken.

Tabs become columns, blanks at the end of a changed line dots, whatever is live or hidden is spelled out.
Emphasis cuts the text into runs and never changes it: the runs joined are the drawn line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import ceil

from tui_agent.text import graphemes, visible, width_of

TAB = 4
Run = tuple[str, str]
"""Text and the name of its look in `diff_colours`."""
Mark = tuple[int, int, str]
"""Characters from, up to, and the look they get."""

_BLANKS = re.compile(r"(\t| +)")
_TABS = re.compile(r"(\t)")


def drawn(text: str, look: str, marks: Iterable[Mark] = (), *, blanks: str = "") -> list[Run]:
    """Runs of the line `text` in `look`. Later `marks` lie over earlier ones.

    `blanks`: which blanks get a sign of their own: "" none, "end" tabs and those at the end, "all".
    """
    looks = _looks(len(text), look, marks)
    body = len(text.rstrip(" \t")) if blanks else len(text)
    runs: list[Run] = []
    column = 0
    for start, stop, name in looks:
        sign = "mark" if name == look else name
        for piece, dotted in (
            (text[start : min(stop, body)], blanks == "all"),
            (text[max(start, body) : stop], True),
        ):
            for part in (_BLANKS if dotted else _TABS).split(piece) if piece else ():
                if part == "\t":
                    width = TAB - column % TAB
                    runs.append((("→" if blanks else " ").ljust(width), sign if blanks else name))
                elif dotted and part.startswith(" "):
                    width = len(part)
                    runs.append(("·" * width, sign))
                else:
                    part = visible(part, strict=True)
                    width = width_of(part)
                    runs.append((part, name))
                column += width
    return runs


def _looks(length: int, look: str, marks: Iterable[Mark]) -> list[Mark]:
    """The line cut where its look changes."""
    marks = [mark for mark in marks if mark[0] < mark[1]]
    if not marks:
        return [(0, length, look)]
    edges = sorted({0, length, *(min(edge, length) for mark in marks for edge in mark[:2])})
    spans: list[Mark] = []
    for start, stop in pairwise(edges):
        name = next((mark[2] for mark in reversed(marks) if mark[0] <= start < mark[1]), look)
        spans.append((start, stop, name))
    return spans


def chopped(runs: Sequence[Run], width: int) -> list[list[Run]]:
    """The runs in lines of at most `width` cells, cut anywhere between what a person calls characters."""
    lines: list[list[Run]] = [[]]
    room = width
    for text, look in runs:
        if text.isascii():
            at = 0
            while len(text) - at > room:
                if room:
                    lines[-1].append((text[at : at + room], look))
                at, room = at + room, width
                lines.append([])
            lines[-1].append((text[at:], look))
            room -= len(text) - at
            continue
        kept: list[str] = []
        for grapheme, cells in graphemes(text):
            if cells > room and room < width:
                lines[-1].append(("".join(kept), look))
                kept, room = [], width
                lines.append([])
            kept.append(grapheme)
            room -= cells
        lines[-1].append(("".join(kept), look))
    return lines


def height(text: str, width: int) -> int:
    """How many lines `chopped(drawn(text, …), width)` has, without drawing where that can be known."""
    plain = text.replace("\t", "") if "\t" in text else text
    if plain.isascii() and plain.isprintable():
        return max(1, ceil(len(text.expandtabs(TAB)) / width))
    return len(chopped(drawn(text, ""), width))
