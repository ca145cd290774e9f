"""The tool log: one line a call, live, in order; a call opens to its arguments and result.

`ToolLog` folds events into `Calls` and tells the view which of them changed, at most twenty times a second.
`CallList` draws them: rows are counted per call (1, plus what is open or live under it) and summed up in
`_starts`, so that only rows in view are ever made. The cursor is a row; what is done, is done to its call.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.strip import Strip

from tui_agent.ui import keys
from tui_agent.ui.calls import Call, Calls
from tui_agent.ui.messages import ShowCall, StopCall
from tui_agent.ui.panes import call_rows
from tui_agent.ui.panes.pane import Pane, PaneTitle
from tui_agent.ui.widgets.cursor_view import CURSOR, CursorView
from tui_agent.ui.widgets.strips import Row, build

if TYPE_CHECKING:
    from textual.timer import Timer
    from textual.widget import Widget
    from textual.widgets import Input

    from tui_agent.agent import AgentEvent
    from tui_agent.ui.panes.call_filter import CallFilter


class CallList(CursorView):
    BINDINGS: ClassVar[list[BindingType]] = keys.bindings("tool log")  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__(following=True)
        self.calls = Calls()
        self.words: list[str] = []
        self._shown: list[Call] = []
        self._starts: list[int] = [0]
        self._open: dict[int, Literal["peek", "all"]] = {}
        self._bodies: dict[int, list[Row]] = {}

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
        how = self._open.get(id(call))
        if how is None:
            return call_rows.tail(call, width)
        rows = self._bodies.get(id(call))
        if rows is None:
            rows = call_rows.body(call, width)
            rows = self._bodies[id(call)] = rows if how == "all" else call_rows.peek(rows)
        return rows + call_rows.tail(call, width) if call.running else rows

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

    @property
    def current(self) -> Call | None:
        """The call under the cursor."""
        return self._shown[self._index(self.cursor)] if self.cursor < self.row_count else None

    def is_open(self, call: Call) -> bool:
        return self._open.get(id(call)) == "all"

    def action_open(self) -> None:
        call = self.current
        if call is None:
            return
        index = self._index(self.cursor)
        if self._open.pop(id(call), None) != "all":
            self._open[id(call)] = "all"
        self._bodies.pop(id(call), None)
        self._count(index)
        self.following = False
        self.changed(self._starts[index])
        self.move_to(self._starts[index])

    def action_stop_entry(self) -> None:
        call = self.current
        if call is None or call.state != "running":
            self.notify("Only a running call can be stopped.", markup=False)
            return
        call.stopping = True
        self.post_message(StopCall(call.id))

    def action_locate(self) -> None:
        if self.current is not None:
            self.post_message(ShowCall(self.current.id))

    def show_call(self, call_id: str) -> bool:
        """Open a call and put the cursor on it; False if it isn't listed."""
        call = self.calls.get(call_id)
        index = None if call is None else self._place(call)
        if call is None or index is None:
            return False
        if not self.is_open(call):
            self.move_to(self._starts[index])
            self.action_open()
        self.following = False
        self.move_to(self._starts[index])
        return True

    async def action_filter(self) -> None:
        pane = self.parent
        if isinstance(pane, ToolLog):
            await pane.open_filter()

    def on_focus(self) -> None:
        if self.following:
            self.cursor = self._starts[max(0, len(self._shown) - 1)]
        super().on_focus()


class ToolLog(Pane):
    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.list = CallList()
        self._title = PaneTitle("Tools")
        self._filter: CallFilter | None = None
        self._touched: dict[int, Call] = {}
        self._flush: Timer

    def compose(self) -> ComposeResult:
        yield self._title
        yield self.list

    def on_mount(self) -> None:
        self._flush = self.set_interval(0.05, self._show, pause=True)

    @property
    def entry(self) -> Widget:
        return self.list

    @property
    def count(self) -> int:
        return len(self.list.calls.all)

    def apply(self, event: AgentEvent) -> None:
        touched = self.list.calls.apply(event)
        if touched:
            self._touched |= {id(call): call for call in touched}
            self._flush.resume()

    def _show(self) -> None:
        touched, self._touched = list(self._touched.values()), {}
        self._flush.pause()
        self.list.take(touched)
        running = sum(call.running for call in self.list.calls.all[-50:])
        self._title.tell(f"{self.count:,}" + (f", {running} running" if running else ""))

    def clear(self) -> None:
        """Forget all calls."""
        self.list.calls = Calls()
        self.list.filter("")
        self._title.tell("")

    async def open_filter(self) -> None:
        if self._filter is None:
            from tui_agent.ui.panes.call_filter import CallFilter

            self._filter = CallFilter()
            await self.mount(self._filter, before=self.list)
        self._filter.display = True
        self._filter.focus()

    def close_filter(self, *, only_focused: bool = False) -> bool:
        """Show all calls again; False when they were."""
        field = self._filter
        if field is None or not field.display or (only_focused and not field.has_focus):
            return False
        field.value = ""
        field.display = False
        self.list.focus()
        return True

    def on_input_changed(self, event: Input.Changed) -> None:
        self.list.filter(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.list.focus()
