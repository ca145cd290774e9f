"""The calls of the tool log as a virtual list: one line each, and what is open or live below it.

Rows are counted per call and summed up in `_starts`, so that only rows in view are ever made. The cursor is a
row; what is done, is done to its call. To stop one takes two keys: the first says what would be stopped.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar, Literal

from textual.binding import BindingType
from textual.message import Message
from textual.strip import Strip

from tui_agent.ui import keys
from tui_agent.ui.calls import Call, Calls
from tui_agent.ui.messages import ShowCall, ShowChange, StopCall, StopJob
from tui_agent.ui.panes import call_rows
from tui_agent.ui.widgets.cursor_view import CURSOR, CursorView
from tui_agent.ui.widgets.strips import Row, build

if TYPE_CHECKING:
    from textual.events import Key


class CallList(CursorView):
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("tool log")]

    class FilterWanted(Message):
        """`/` was pressed."""

    class Copied(Message):
        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self) -> None:
        super().__init__(following=True)
        self.calls = Calls()
        self.words: list[str] = []
        self._shown: list[Call] = []
        self._starts: list[int] = [0]
        self._open: dict[int, Literal["peek", "all"]] = {}
        self._bodies: dict[int, list[Row]] = {}
        self._doomed: Call | None = None  # the one that the next x or Enter stops

    # Rows ----------------------------------------------------------------------------------------------

    @property
    def row_count(self) -> int:
        return self._starts[-1]

    def row_strip(self, y: int, width: int) -> Strip:
        index = self._index(y)
        call, below = self._shown[index], y - self._starts[index]
        row = call_rows.line(call, width) if below == 0 else self._below(call, width)[below - 1]
        return build(row, width, self.styles_of(y), CURSOR if self.marked(y) else "")

    def rewrap(self, width: int) -> None:
        self._bodies.clear()
        self._count(0)

    def _index(self, row: int) -> int:
        return bisect_right(self._starts, row, hi=len(self._shown)) - 1

    def _below(self, call: Call, width: int) -> list[Row]:
        rows = self._body(call, width)
        if call is self._doomed:
            rows = [call_rows.question(call, width), *rows]
        return [*rows, *call_rows.tail(call, width)]

    def _body(self, call: Call, width: int) -> list[Row]:
        how = self._open.get(id(call))
        if how is None:
            return []
        rows = self._bodies.get(id(call))
        if rows is None:
            rows = call_rows.body(call, width)
            rows = self._bodies[id(call)] = rows if how == "all" else call_rows.peek(rows)
        return rows

    def _count(self, index: int) -> None:
        """Sum up the rows from call `index` on."""
        width = self.size.width or 80
        heights = (1 + len(self._below(call, width)) for call in self._shown[index:])
        self._starts[index:] = accumulate(heights, initial=self._starts[index])

    # What happens to calls -----------------------------------------------------------------------------

    def take(self, touched: list[Call]) -> None:
        """Show calls that are new or other than before."""
        first = len(self._shown)
        new = touched and first < len(self.calls.all)
        if self.words or new:
            first = min(first, self._refilter(touched))
        if self._doomed is not None and not self._doomed.stoppable:
            self._doomed = None
        for call in touched:
            self._bodies.pop(id(call), None)
            if call.state == "failed":
                self._open.setdefault(id(call), "peek")
        places = {id(call): index for index, call in enumerate(self._shown)} if len(touched) > 1 else {}
        for call in touched:
            index = places.get(id(call)) if places else self._place(call)
            if index is not None:
                first = min(first, index)
        self._count(first)
        self.changed(self._starts[first])

    def _place(self, call: Call) -> int | None:
        """Where a call is shown; it is nearly always among the last."""
        for index in range(len(self._shown) - 1, -1, -1):
            if self._shown[index] is call:
                return index
        return None

    def _refilter(self, touched: list[Call]) -> int:
        """Bring `_shown` up to date; returns the first index that changed."""
        if not self.words:
            first = len(self._shown)
            self._shown += self.calls.all[first:]
            return first
        self._shown = [call for call in self.calls.all if call.matches(self.words)]
        return 0

    def filter(self, text: str) -> None:
        """Show the calls that match each word; all for an empty text."""
        self.words = text.lower().split()
        self._shown = [call for call in self.calls.all if call.matches(self.words)]
        self._count(0)
        self.cursor = min(self.cursor, max(0, self.row_count - 1))
        self.changed()

    def clear(self) -> None:
        """Forget all calls."""
        self.calls = Calls()
        self._doomed = None
        self._open.clear()
        self._bodies.clear()
        self.following = True
        self.filter("")

    @property
    def current(self) -> Call | None:
        """The call under the cursor."""
        return self._shown[self._index(self.cursor)] if self.cursor < self.row_count else None

    def is_open(self, call: Call) -> bool:
        return self._open.get(id(call)) == "all"

    def action_open(self) -> None:
        call = self.current
        if call is not None and call is self._doomed:
            self._stop(call)
        elif call is not None:
            if self._open.pop(id(call), None) != "all":
                self._open[id(call)] = "all"
            self._bodies.pop(id(call), None)
            self._changed_below(call)

    def _changed_below(self, call: Call) -> None:
        """Other rows are below the line of `call` now, which the person looks at."""
        index = self._place(call)
        if index is None:
            return
        self._count(index)
        self.following = False
        self.changed(self._starts[index])
        self.move_to(self._starts[index])

    def action_open_all(self) -> None:
        """Open every call that is listed; if one is open, fold them."""
        call = self.current
        opening = not any(self._open.get(id(each)) == "all" for each in self._shown)
        self._open = {id(each): "all" for each in self._shown} if opening else {}
        self._bodies.clear()
        self._count(0)
        self.changed()
        if call is not None:
            self._changed_below(call)

    # Stopping ------------------------------------------------------------------------------------------

    def action_stop_entry(self) -> None:
        call = self.current
        if call is None or not call.stoppable:
            self.notify("Only a running call or background command can be stopped.", markup=False)
        elif call is self._doomed:
            self._stop(call)
        else:
            self.withdraw()
            self._doomed = call
            self._changed_below(call)

    def _stop(self, call: Call) -> None:
        self.withdraw()
        call.stopping = True
        self.post_message(StopJob(call.job) if call.state == "job" else StopCall(call.id))

    def withdraw(self) -> bool:
        """Take the question back; False if there is none."""
        call, self._doomed = self._doomed, None
        if call is not None:
            self._changed_below(call)
        return call is not None

    def on_key(self, event: Key) -> None:
        # Any other key is a no, and does what it does. Escape is left to its ladder.
        if event.key not in ("x", "enter", "escape"):
            self.withdraw()

    def on_blur(self) -> None:
        self.withdraw()
        super().on_blur()

    # Looking closer ------------------------------------------------------------------------------------

    def action_copy(self) -> None:
        if self.text_selection is not None:
            self.post_message(self.Copied(self.screen.get_selected_text() or ""))
        elif self.current is not None:
            self.post_message(self.Copied(call_rows.copied(self.current)))

    def action_show_change(self) -> None:
        change = None if self.current is None else call_rows.change_of(self.current)
        if change is None:
            self.notify("This call is about no change of a file.", markup=False)
        else:
            self.post_message(ShowChange(change))

    def action_locate(self) -> None:
        if self.current is not None:
            self.post_message(ShowCall(self.current.number))

    def show_call(self, number: int) -> bool:
        """Open a call and put the cursor on it; False if it isn't listed."""
        call = self.calls.numbered(number)
        index = None if call is None else self._place(call)
        if call is None or index is None:
            return False
        if not self.is_open(call):
            self.move_to(self._starts[index])
            self.action_open()
        self.following = False
        self.move_to(self._starts[index])
        return True

    def action_filter(self) -> None:
        self.post_message(self.FilterWanted())

    def on_focus(self) -> None:
        if self.following:
            self.cursor = self._starts[max(0, len(self._shown) - 1)]
        super().on_focus()
