"""Rows of text as they are laid out for one width, before they get colours."""

from __future__ import annotations

from collections.abc import Sequence

from tui_agent.text import one_line, width_of
from tui_agent.ui.widgets.strips import Run
from tui_agent.ui.widgets.wrap import cuts, spans

Runs = tuple[Run, ...]


class TextRow:
    """One row: its runs, characters of gutter that are not copied, and what separates it from the next.

    `after` is a newline where the source has one, a blank or nothing where only the width made a break.
    `fill` is the style after the text, up to the end of the row.
    """

    __slots__ = ("_runs", "after", "fill", "gutter")

    def __init__(self, runs: Runs, gutter: int = 0, after: str = "\n", fill: str = "") -> None:
        self._runs = runs
        self.gutter = gutter
        self.after = after
        self.fill = fill

    @property
    def runs(self) -> Runs:
        return self._runs

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self._runs)


class Code:
    """The lines of a code block. They are plain until `highlight` was called, which may be in a thread."""

    __slots__ = ("language", "lines", "painted", "text")

    def __init__(self, text: str, language: str) -> None:
        self.text = text
        self.language = language
        self.lines = text.split("\n")
        self.painted: list[Runs] | None = None

    def highlight(self) -> None:
        from tui_agent.ui.widgets.highlight import highlighted

        self.painted = highlighted(self.text, self.language)

    def runs(self, line: int, start: int, end: int) -> Runs:
        if self.painted is None or line >= len(self.painted):
            return ((self.lines[line][start:end], ""),)
        return slice_runs(self.painted[line], start, end)


class CodeRow(TextRow):
    """A piece of one line of code; its colours come when it is first looked at.

    `label` stands at the end of the row where there is room. It is no part of the text.
    """

    __slots__ = ("code", "end", "label", "line", "start")

    def __init__(self, prefix: Runs, code: Code, line: int, start: int, end: int, after: str) -> None:
        super().__init__(prefix, sum(len(text) for text, _ in prefix), after, CODE_FILL)
        self.label = ""
        self.code = code
        self.line = line
        self.start = start
        self.end = end

    @property
    def runs(self) -> Runs:
        code = self.code.runs(self.line, self.start, self.end)
        return (*self._runs, *((text, f"{style} {CODE_FILL}") for text, style in code))

    @property
    def text(self) -> str:
        return super().text + self.code.lines[self.line][self.start : self.end]


class MoreRow(TextRow):
    """Says what is left out until the piece is expanded. Nothing of it is copied."""

    def __init__(self, prefix: Runs, text: str) -> None:
        runs = (*prefix, (text, "$text-muted"))
        super().__init__(runs, sum(len(part) for part, _ in runs))


CODE_FILL = "on $surface"
LABEL = 16
"""Columns that the name of a language takes at most."""


class Margin:
    """What stands left of a block's rows: once its `first` part, then `rest`. Both are equally wide."""

    __slots__ = ("_first", "_gutter", "rest", "width")

    def __init__(self, first: Runs, rest: Runs, gutter: int) -> None:
        self._first: Runs | None = first
        self._gutter = gutter
        self.rest = rest
        self.width = sum(width_of(text) for text, _ in rest)

    @classmethod
    def plain(cls, columns: int = 2) -> Margin:
        blank: Runs = ((" " * columns, ""),)
        return cls(blank, blank, columns)

    def take(self) -> tuple[Runs, int]:
        """The margin of the next row and how much of it is not copied."""
        if self._first is None:
            return self.rest, sum(len(text) for text, _ in self.rest)
        first, self._first = self._first, None
        return first, self._gutter

    def item(self, mark: str, style: str) -> Margin:
        """A list item inside: the mark once, then blanks. The mark is copied."""
        first, gutter = self.take()
        return Margin((*first, (mark, style)), (*self.rest, (" " * width_of(mark), "")), gutter)

    def bar(self, mark: str, style: str) -> Margin:
        """A mark on each row, as of a quotation. It is not copied."""
        first, gutter = self.take()
        run = (mark, style)
        return Margin((*first, run), (*self.rest, run), gutter + len(mark))


def slice_runs(runs: Sequence[Run], start: int, end: int) -> Runs:
    """Characters `start` to `end` of `runs`."""
    out: list[Run] = []
    position = 0
    for text, style in runs:
        if position >= end:
            break
        piece = text[max(0, start - position) : end - position]
        if piece and position + len(text) > start:
            out.append((piece, style))
        position += len(text)
    return tuple(out)


def flow(runs: Sequence[Run], margin: Margin, width: int) -> list[TextRow]:
    """Text broken at blanks into rows of `width` cells with the margin in front."""
    text = "".join(part for part, _ in runs)
    room = max(1, width - margin.width)
    rows: list[TextRow] = []
    begin = 0
    for line in text.split("\n"):
        for start, end, after in spans(line, room):
            prefix, gutter = margin.take()
            rows.append(TextRow((*prefix, *slice_runs(runs, begin + start, begin + end)), gutter, after))
        begin += len(line) + 1
    return rows


def code_rows(code: Code, lines: range, margin: Margin, width: int, label: str = "") -> list[TextRow]:
    """Lines of code, each cut where the row ends, on a ground of their own; `label` is for the first row."""
    room = max(1, width - margin.width - 2)
    rows: list[TextRow] = []
    for line in lines:
        for start, end, after in cuts(code.lines[line], room):
            prefix, _ = margin.take()
            rows.append(row := CodeRow((*prefix, (" ", CODE_FILL)), code, line, start, end, after))
            if len(rows) == 1:
                row.label = one_line(label, LABEL)
    return rows
