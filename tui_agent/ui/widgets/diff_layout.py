"""Rows of a diff laid out for a width: how high each is, and the runs of each line on the screen.

Pure. Heights are known for all rows (drawing only those lines whose width can't be told otherwise); runs are
made for a row when it comes into view. A line on the screen begins with a gutter: the cursor's column, `×`
where the row is left out, line numbers, and the sign, which never goes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, zip_longest
from typing import TYPE_CHECKING

from tui_agent.text import plural, shorten, visible, width_of
from tui_agent.ui.widgets.diff_rows import Row, Rows, changed_words
from tui_agent.ui.widgets.diff_text import Mark, Run, chopped, drawn, height

if TYPE_CHECKING:
    from tui_agent.tools.hunks import Key

Anchor = tuple[str, int]
"""The line a comment hangs on: `+` and its index in the new file, or `-` and its index in the old."""
Line = list[Run]
Syntax = Mapping[str, Sequence[Sequence[Mark]]]
"""Marks of each line of the old (`-`) and the new (`+`) text."""

NARROW = 50
_SIGNS = {"old": "-", "new": "+", "space": "~"}


def anchor(row: Row) -> Anchor | None:
    """Where a comment on the row hangs."""
    if row.kind in ("head", "tail", "note", "unended"):
        return None
    return ("+", row.new) if row.new >= 0 else ("-", row.old)


@dataclass
class View:
    """How the rows are looked at; changes of `wrap`, `blanks` or `comments` need a new `Layout`."""

    wrap: bool = True
    blanks: bool = False
    choosing: bool = False
    left_out: Collection[Key] = frozenset()
    comments: Mapping[Anchor, str] = field(default_factory=dict)
    syntax: Syntax = field(default_factory=dict)
    needle: str = ""


class Layout:
    def __init__(self, rows: Rows, width: int, view: View) -> None:
        self.rows = rows
        self.width = width
        self.view = view
        self._digits = len(str(max(len(rows.diff.old_lines), len(rows.diff.new_lines), 1)))
        self._half = (width - 1) // 2
        self._numbers = 1 if width < NARROW or rows.split else 2
        self._gutter = 2 + self._numbers * (self._digits + 1) + 2
        self._room = max(1, (self._half if rows.split else width) - self._gutter)
        self._right_room = max(1, width - self._half - 1 - (self._gutter - 2))
        self.cut = False
        """Whether something is wider than the screen and not wrapped."""
        self._starts = [0, *accumulate(self._height(row) for row in rows.rows)]

    @property
    def count(self) -> int:
        return self._starts[-1]

    def row_at(self, y: int) -> tuple[int, int]:
        """The row that line `y` of the screen shows, and which of its lines that is."""
        index = min(bisect_right(self._starts, y) - 1, len(self.rows.rows) - 1)
        return index, y - self._starts[index]

    def start(self, index: int) -> int:
        return self._starts[index]

    def copied(self, part: int, lines: int) -> tuple[int, str]:
        """For copying: characters of gutter, and what separates the line from the next."""
        gutter = self._half + 1 + self._gutter - 2 if self.rows.split else self._gutter
        return gutter, "\n" if part == lines - 1 else ""

    # Heights -----------------------------------------------------------------------------------------

    def _height(self, row: Row) -> int:
        if row.kind in ("head", "tail", "unended"):
            return 1
        if row.kind == "note":
            return len(self._note(row))
        if self.rows.split:
            left = height(self.rows.old_text(row.old), self._room) if row.old >= 0 else 1
            right = height(self.rows.new_text(row.new), self._right_room) if row.new >= 0 else 1
            lines = max(left, right)
        else:
            lines = height(self._text(row), self._room)
        if not self.view.wrap:
            self.cut = self.cut or lines > 1
            lines = 1
        return lines + len(self._comment(row))

    def _text(self, row: Row) -> str:
        return self.rows.new_text(row.new) if row.new >= 0 else self.rows.old_text(row.old)

    # Lines -------------------------------------------------------------------------------------------

    def lines(self, index: int) -> list[Line]:
        """Every line on the screen of a row, its first cell free for the cursor."""
        row = self.rows.rows[index]
        if row.kind == "note":
            return self._note(row)
        if row.kind in ("head", "tail"):
            return [[(shorten(self._heading(row), self.width), "head")]]
        if row.kind == "unended":
            return [self._unended(row)]
        lines = self._split_lines(row) if self.rows.split else self._unified_lines(row)
        return lines + self._comment(row)

    def _note(self, row: Row) -> list[Line]:
        lines = chopped([(self.rows.notes[row.old], "warning")], max(1, self.width - 2))
        return [[("  ", "same"), *line] for line in lines]

    def _heading(self, row: Row) -> str:
        if row.kind == "tail":
            return f"  ⋯ {plural(row.new - row.old, 'unchanged line')} below"
        hunk = self.rows.diff.hunks[row.hunk]
        parts = [hunk.header, f"hunk {row.hunk + 1} of {len(self.rows.diff.hunks)}"]
        if self.view.choosing and (out := sum(key in self.view.left_out for key in hunk.keys)):
            parts.append("left out" if out == len(hunk.keys) else "taken in part")
        if hidden := self.rows.hidden.get(row.hunk):
            parts.append(f"⋯ {plural(hidden, 'unchanged line')} above")
        return "  " + " · ".join(parts)

    def _unended(self, row: Row) -> Line:
        words = "\\ no newline at end of file"
        if not self.rows.split:
            return [(" " * self._gutter, "number"), (shorten(words, self._room), "mark")]
        left = words if row.old >= 0 else ""
        right = shorten(words, self._right_room) if row.new >= 0 else ""
        left = shorten(left, self._room).ljust(self._half - self._gutter)
        between = " " * (self._gutter - 2)
        return [(" " * self._gutter, "number"), (left, "mark"), ("│", "number"), (between + right, "mark")]

    def _unified_lines(self, row: Row) -> list[Line]:
        look = row.kind if row.kind in _SIGNS else "same"
        side = "old" if row.kind == "old" else "new"
        out = self._out(row, side)
        body = self._body(row, side, look, out, self._room)
        numbers = (row.old, row.new) if self._numbers == 2 else (row.new if row.new >= 0 else row.old,)
        margin = (" ×" if out else "  ", "out")
        first = [margin, *self._gutter_of(numbers, look, out)]
        rest = [margin, *self._gutter_of((-1,) * len(numbers), look, out)]
        return [(rest if part else first) + line for part, line in enumerate(body)]

    def _split_lines(self, row: Row) -> list[Line]:
        halves: list[tuple[bool, str, list[Line]]] = []
        for side, index, room in (("old", row.old, self._room), ("new", row.new, self._right_room)):
            look = "same" if row.kind == "same" else "space" if row.kind == "space" else side
            out = self._out(row, side)
            body = self._body(row, side, look, out, room) if index >= 0 else []
            halves.append((out, look, body))
        (left_out, _, _), (right_out, _, _) = halves
        margin = (" ×" if left_out and right_out else "  ", "out")
        left = self._half_lines(*halves[0], row.old, self._half - 2)
        right = self._half_lines(*halves[1], row.new, self.width - self._half - 1)
        blank: tuple[Line, Line] = (
            [(" " * (self._half - 2), "same")],
            [(" " * (self.width - self._half - 1), "same")],
        )
        pairs = zip_longest(left, right)
        return [[margin, *(old or blank[0]), ("│", "number"), *(new or blank[1])] for old, new in pairs]

    def _half_lines(self, out: bool, look: str, body: list[Line], number: int, width: int) -> list[Line]:
        """The lines of one side, each as wide as the side."""
        first, rest = self._gutter_of((number,), look, out), self._gutter_of((-1,), look, out)
        margin = sum(len(text) for text, _ in first)
        fill = "out" if out else look
        lines = []
        for part, line in enumerate(body):
            used = margin + sum(width_of(text) for text, _ in line)
            lines.append([*(rest if part else first), *line, (" " * (width - used), fill)])
        return lines

    def _gutter_of(self, numbers: Sequence[int], look: str, out: bool) -> Line:
        sign = _SIGNS.get(look, " ")
        shown = "".join(f"{n + 1 if n >= 0 else '':>{self._digits}} " for n in numbers)
        return [
            (shown, "number"),
            (f"{sign} ", "out" if out else f"{look}.sign" if look in _SIGNS else "same"),
        ]

    def _out(self, row: Row, side: str) -> bool:
        sign = "-" if side == "old" else "+"
        keys = self.rows.keys(row)
        own = [key for key in keys if key.sign == sign] if row.kind == "pair" else keys
        return bool(own) and all(key in self.view.left_out for key in own)

    def _body(self, row: Row, side: str, look: str, out: bool, room: int) -> list[Line]:
        old = side == "old" and row.old >= 0
        index = row.old if old else row.new
        text = self.rows.old_text(index) if old else self.rows.new_text(index)
        marks: list[Mark] = []
        if not out:
            marks += self._coloured("-" if old else "+", index, look)
            marks += self._emphasis(row, side)
        marks += self._found(text)
        blanks = "all" if self.view.blanks else "end" if look in ("old", "new") else ""
        lines = chopped(drawn(text, "out" if out else look, marks, blanks=blanks), room)
        if not self.view.wrap and len(lines) > 1:
            return [[*chopped(lines[0], max(1, room - 1))[0], ("→", "mark")]]
        return lines

    def _coloured(self, sign: str, index: int, look: str) -> list[Mark]:
        lines = self.view.syntax.get(sign, ())
        return [(a, b, f"{look}|{style}") for a, b, style in lines[index]] if index < len(lines) else []

    def _emphasis(self, row: Row, side: str) -> list[Mark]:
        pair = self.rows.partner(row)
        if pair is None:
            return []
        old, new = changed_words(self.rows.old_text(pair[0]), self.rows.new_text(pair[1]))
        return [(start, stop, f"{side}.word") for start, stop in (old if side == "old" else new)]

    def _found(self, text: str) -> list[Mark]:
        needle = self.view.needle.casefold()
        marks: list[Mark] = []
        if needle and len(folded := text.casefold()) == len(text):
            at = folded.find(needle)
            while at >= 0 and len(marks) < 100:
                marks.append((at, at + len(needle), "find"))
                at = folded.find(needle, at + len(needle))
        return marks

    def _comment(self, row: Row) -> list[Line]:
        hung = anchor(row) if self.view.comments else None
        text = self.view.comments.get(hung, "") if hung else ""
        if not text:
            return []
        room = max(1, self.width - self._gutter - 2)
        lines = chopped([(visible(text, strict=True).replace("\n", " "), "comment")], room)
        return [
            [(" " * self._gutter, "number"), ("» " if not part else "  ", "comment"), *line]
            for part, line in enumerate(lines)
        ]
