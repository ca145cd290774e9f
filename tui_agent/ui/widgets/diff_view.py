"""A diff on the screen: one virtual widget, unified or side by side, read or chosen from.

`show(change)` compares the bytes and lays the rows out: at once when the files are small, in a thread when
they are not (the old rows stay until then). Everything that can be toggled goes the same way: new rows or a
new layout, the cursor stays on its line. The widget knows nothing of approvals; a screen that lets lines be
chosen turns `choosing` on and reads `left_out`, `comments` and `end_shown`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from rich.style import Style as RichStyle
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from tui_agent.ui.widgets.diff_colours import Palette, palette_for, style_of
from tui_agent.ui.widgets.diff_layout import Anchor, Layout, Line, View, anchor
from tui_agent.ui.widgets.diff_making import Sight, is_small, made
from tui_agent.ui.widgets.diff_rows import Row, same_place, searched
from tui_agent.ui.widgets.line_view import LineView
from tui_agent.ui.widgets.shown import ShownView
from tui_agent.ui.widgets.strips import build, text_of

if TYPE_CHECKING:
    from tui_agent.tools.details import FileChange
    from tui_agent.tools.hunks import Diff, Key

SPLIT_FROM = 110
"""Columns from which two sides stand beside each other, unless told otherwise."""
CONTEXTS: tuple[int | None, ...] = (3, 10, 30, None)

Blanks = Literal["as they are", "marked", "ignored"]
_NEXT_BLANKS: dict[Blanks, Blanks] = {
    "as they are": "marked",
    "marked": "ignored",
    "ignored": "as they are",
}


class DiffView(ShownView):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("right_square_bracket", "hunk(1)", "Next hunk", show=False),
        Binding("left_square_bracket", "hunk(-1)", "Previous hunk", show=False),
        Binding("v", "toggle_split", "Unified or side by side", show=False),
        Binding("z", "toggle_wrap", "Wrap or cut", show=False),
        Binding("w", "next_blanks", "Whitespace", show=False),
        Binding("plus", "more_context", "More context", show=False),
    ]

    class Loaded(Message):
        """Rows are there, other ones than before."""

        def __init__(self, view: DiffView) -> None:
            super().__init__()
            self.view = view

        @property
        def control(self) -> DiffView:
            return self.view

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.view = View()
        self.diff: Diff | None = None
        self.blanks: Blanks = "as they are"
        self.context: int | None = CONTEXTS[0]
        self._split: bool | None = None
        self._change: FileChange | None = None
        self._notes: tuple[str, ...] = ()
        self._layout: Layout | None = None
        self._drawn: dict[int, list[Line]] = {}
        self._palette: Palette | None = None
        self._cursor = 0
        self._job = 0

    # What others call --------------------------------------------------------------------------------

    def show(self, change: FileChange | None, *, notes: tuple[str, ...] = (), choosing: bool = False) -> None:
        """Show `change` from its start; `notes` are sentences above it. None empties the view."""
        self._change, self._notes = change, notes
        self.diff = self._layout = None
        self.view = View(wrap=self.view.wrap, blanks=self.view.blanks, choosing=choosing)
        self.view.left_out, self.view.comments = set(), {}
        self.end_shown = False
        self.context = CONTEXTS[0]
        self._cursor = 0
        self.top = 0
        self._drawn.clear()
        self.changed()
        self._make()

    @property
    def split(self) -> bool:
        """Whether two sides stand beside each other: where there is room, if both have something."""
        if self._split is not None:
            return self._split
        change = self._change
        two = change is not None and change.added > 0 and change.removed > 0
        return two and self.size.width >= SPLIT_FROM

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        rows = self._rows
        return rows[self._cursor] if rows else None

    @property
    def keys(self) -> tuple[Key, ...]:
        """The changed lines under the cursor."""
        return self._layout.rows.keys(self.row) if self._layout and self.row else ()

    @property
    def hunk(self) -> int:
        """The hunk the cursor is in or below of; -1 if there is none."""
        rows = self._rows
        above = (rows[at].hunk for at in range(self._cursor, -1, -1) if rows)
        below = (row.hunk for row in rows[self._cursor :])
        return next((hunk for hunk in (*above, *below) if hunk >= 0), -1)

    def choose(self, left_out: set[Key]) -> None:
        """What is left out is now this."""
        self.view.left_out = left_out
        self._drawn.clear()
        self.changed()

    def comment(self, text: str) -> None:
        """Hang `text` on the line under the cursor (blank: take it away)."""
        place = self.place
        if place is None:
            return
        comments = {**self.view.comments, place: text}
        self.hang({key: value for key, value in comments.items() if value.strip()})

    def hang(self, comments: Mapping[Anchor, str]) -> None:
        """These are the comments now."""
        if comments != self.view.comments:
            self.view.comments = comments
            self._make()

    @property
    def place(self) -> Anchor | None:
        """Where a comment would hang: the line under the cursor."""
        return anchor(self.row) if self.row else None

    def find(self, needle: str, direction: int = 1) -> bool:
        """Go to the next line that has `needle` in any case, round the end; widen the context if need be."""
        self.view.needle = needle
        self._drawn.clear()
        layout = self._layout
        if layout is not None and needle:
            rows, wanted = layout.rows, needle.casefold()
            for step in range(1, len(rows.rows) + 1):
                at = (self._cursor + direction * step) % len(rows.rows)
                if wanted in searched(rows, rows.rows[at]).casefold():
                    self.changed()
                    self._go(at)
                    return True
            diff = layout.rows.diff
            hidden = self.context is not None and any(
                wanted.encode(diff.encoding, "ignore") in line.lower() for line in diff.old_lines
            )
            if hidden:
                self.context = None
                self._make(then=lambda: self.find(needle, direction))
        self.changed()
        return False

    # Actions -----------------------------------------------------------------------------------------

    def action_move(self, lines: int) -> None:
        """Move the cursor by rows; through a row that is higher than the screen, by lines."""
        if self._layout is None or not self._rows:
            return
        first, last = self._layout.start(self._cursor), self._layout.start(self._cursor + 1) - 1
        bottom = self.top + self.size.height - 1
        if (lines > 0 and last > bottom) or (lines < 0 and first < self.top):
            super().scroll_to_row(self.top + lines)
        else:
            self._go(max(0, min(self._cursor + lines, len(self._rows) - 1)))

    def action_hunk(self, direction: int) -> None:
        """Go to the next or the previous hunk."""
        heads = self._layout.rows.heads if self._layout else ()
        if direction > 0:
            target = next((at for at in heads if at > self._cursor), None)
        else:
            target = next((at for at in reversed(heads) if at < self._cursor), None)
        if target is not None and self._layout is not None:
            self._go(target)
            LineView.scroll_to_row(self, self._layout.start(target))

    def action_toggle_split(self) -> None:
        self._split = not self.split
        self._make()

    def action_toggle_wrap(self) -> None:
        self.view.wrap = not self.view.wrap
        self._make()

    def action_next_blanks(self) -> None:
        self.blanks = _NEXT_BLANKS[self.blanks]
        self.view.blanks = self.blanks == "marked"
        self._make()

    def action_more_context(self) -> None:
        """Wider around each change, in steps up to the whole file, then as at first."""
        if self.diff is None or not self.diff.whole:
            return
        self.context = CONTEXTS[(CONTEXTS.index(self.context) + 1) % len(CONTEXTS)]
        self._make()

    # Making rows -------------------------------------------------------------------------------------

    def _make(self, then: Callable[[], object] | None = None) -> None:
        """Rows and layout for the present width and settings."""
        self._job += 1
        width = self.size.width
        if self._change is None or not width:
            return
        ignore = self.blanks == "ignored"
        sight = Sight(width, self.view, self.split, self.context, ignore, self._notes)
        if is_small(self._change):
            self._settle(made(self._change, self.diff, sight), then)
        else:
            self.run_worker(self._in_thread(self._job, self._change, sight, then), exit_on_error=False)

    async def _in_thread(
        self, job: int, change: FileChange, sight: Sight, then: Callable[[], object] | None
    ) -> None:
        layout = await asyncio.to_thread(made, change, self.diff, sight)
        if job == self._job and self.is_mounted:
            self._settle(layout, then)

    def _settle(self, layout: Layout, then: Callable[[], object] | None) -> None:
        row, offset = self.row, 0
        if self._layout is not None and row is not None:
            offset = self._layout.start(self._cursor) - self.top
        self.diff, self._layout = layout.rows.diff, layout
        self._drawn.clear()
        self._cursor = same_place(layout.rows.rows, row)
        self.top = max(0, layout.start(self._cursor) - max(0, offset)) if row is not None else 0
        self.changed()
        self.post_message(self.Loaded(self))
        if not self.view.syntax:
            self.run_worker(self._colour(layout.rows.diff), exit_on_error=False)
        if then is not None:
            then()

    async def _colour(self, diff: Diff) -> None:
        """Add the colours of the language when they are there; the rows stay."""
        from tui_agent.ui.widgets.diff_syntax import syntax_of

        if self._change is None:
            return
        syntax = await asyncio.to_thread(syntax_of, self._change.path, diff)
        if syntax and diff is self.diff:
            self.view.syntax = syntax
            self._drawn.clear()
            self.changed()

    # Drawing -----------------------------------------------------------------------------------------

    @property
    def _rows(self) -> tuple[Row, ...]:
        return self._layout.rows.rows if self._layout else ()

    @property
    def row_count(self) -> int:
        return self._layout.count if self._layout else 0

    def rewrap(self, width: int) -> None:
        # After the pass that asks: new rows repaint the view themselves.
        self.call_next(self._make)

    def row_strip(self, y: int, width: int) -> Strip:
        assert self._layout is not None
        index, part = self._layout.row_at(y)
        lines = self._drawn.get(index)
        if lines is None:
            if len(self._drawn) > 500:
                self._drawn.clear()
            lines = self._drawn[index] = self._layout.lines(index)
        line = lines[part] if part < len(lines) else []
        if index == self._cursor and (self.view.choosing or self.has_focus):
            line = [("▌", "cursor"), *_without_first_cell(line)]
        look = self._rows[index].kind
        fill = look if look in ("old", "new") and not self._is_out(index) else "same"
        return build(line, width, self._look_of, fill)

    def _is_out(self, index: int) -> bool:
        keys = self._layout.rows.keys(self._rows[index]) if self._layout else ()
        return bool(keys) and all(key in self.view.left_out for key in keys)

    def row_copy(self, y: int) -> tuple[int, str, str]:
        if self._layout is None or not self._rows:
            return 0, "", ""
        index, part = self._layout.row_at(y)
        lines = self._layout.start(index + 1) - self._layout.start(index)
        gutter, after = self._layout.copied(part, lines)
        return gutter, text_of(self._strip(y)).rstrip(), after

    @property
    def whole(self) -> bool:
        return self._layout is not None and not self._layout.cut and super().whole

    def _look_of(self, name: str) -> RichStyle:
        if self._palette is None:
            self._palette = palette_for(self.app, self.background_colors[1])
        return self.look(style_of(name, self._palette))

    def notify_style_update(self) -> None:
        self._palette = None
        super().notify_style_update()

    # Moving ------------------------------------------------------------------------------------------

    def _go(self, index: int) -> None:
        if self._layout is None:
            return
        before, self._cursor = self._cursor, index
        for at in (before, index):
            self.changed(self._layout.start(at), self._layout.start(at + 1))
        first, last = self._layout.start(index), self._layout.start(index + 1) - 1
        if last - first < self.size.height:
            self.reveal(last)
        self.reveal(first)

    def scroll_to_row(self, row: int) -> None:
        super().scroll_to_row(row)
        if self._layout is None or not self._rows:
            return
        first, _ = self._layout.row_at(self.top)
        last, _ = self._layout.row_at(min(self.top + self.size.height, self.row_count) - 1)
        nearest = max(first, min(self._cursor, last))
        if nearest != self._cursor:
            before, self._cursor = self._cursor, nearest
            for at in (before, nearest):
                self.changed(self._layout.start(at), self._layout.start(at + 1))

    def on_click(self, event: events.Click) -> None:
        if self._layout is not None and self.top + event.y < self.row_count:
            self._go(self._layout.row_at(self.top + event.y)[0])

    def on_focus(self) -> None:
        self.changed()

    def on_blur(self) -> None:
        self.changed()


def _without_first_cell(line: Line) -> Line:
    if not line:
        return line
    (text, look), *rest = line
    return [(text[1:], look), *rest]
