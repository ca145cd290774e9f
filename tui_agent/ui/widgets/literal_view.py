"""Text a person agrees to, whole: wrapped, never cut, with everything drawn that could hide in it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from textual.message import Message
from textual.strip import Strip

from tui_agent.text import plural, visible
from tui_agent.ui.widgets.diff_text import chopped
from tui_agent.ui.widgets.shown import ShownView
from tui_agent.ui.widgets.strips import Run, build

_LONG = 8
_RUNS = re.compile(rf" {{{_LONG},}}|\n{{{_LONG},}}")


def literal(text: str) -> list[str]:
    """The lines of `text`, strictly: a newline is ↵ and a break, long runs of blanks are counted."""
    marked = _RUNS.sub(_counted, text)
    return visible(marked, strict=True).split("\n")


def _counted(match: re.Match[str]) -> str:
    run = match[0]
    if run[0] == " ":
        return f" ⸨{plural(len(run), 'blank')}⸩ "
    return f"⸨{plural(len(run), 'line break')}⸩\n"


class LiteralView(ShownView):
    """Shows paragraphs of runs; each starts on a row of its own."""

    class Laid(Message):
        """The number of rows is another one."""

        def __init__(self, view: LiteralView) -> None:
            super().__init__()
            self.view = view

        @property
        def control(self) -> LiteralView:
            return self.view

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._paragraphs: Sequence[Sequence[Run]] = ()
        self._lines: list[list[Run]] = []

    def show(self, paragraphs: Sequence[Sequence[Run]]) -> None:
        self._paragraphs = paragraphs
        self.end_shown = False
        self.top = 0
        self.rewrap(self.size.width)
        self.changed()

    @property
    def row_count(self) -> int:
        return len(self._lines)

    def rewrap(self, width: int) -> None:
        self._lines = [line for runs in self._paragraphs for line in (chopped(runs, width) if width else [])]
        self.post_message(self.Laid(self))

    def row_strip(self, y: int, width: int) -> Strip:
        return build(self._lines[y], width, self.look)
