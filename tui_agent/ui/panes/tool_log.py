"""The tool log: one line a call, live, in order; a call opens to its arguments and result.

`ToolLog` folds events into `Calls` and tells the list which of them changed, at most ten times a second. How
background commands are, it asks once a second, and only while there are any.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult

from tui_agent.text import one_line, plural
from tui_agent.ui import clipboard, safe
from tui_agent.ui.calls import Call
from tui_agent.ui.panes.call_list import CallList
from tui_agent.ui.panes.pane import Pane, PaneTitle

if TYPE_CHECKING:
    from textual.timer import Timer
    from textual.widget import Widget
    from textual.widgets import Input

    from tui_agent.agent import AgentEvent
    from tui_agent.tools.jobs import Job
    from tui_agent.ui.panes.call_filter import CallFilter

INTERVAL = 0.1
"""Seconds between repaints of what is live."""
JOBS_INTERVAL = 1.0


class ToolLog(Pane):
    jobs: Callable[[], Sequence[Job]]
    """Gives the background commands of the session; whoever opens one provides it."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.list = CallList()
        self.jobs = lambda: ()
        self._title = PaneTitle("Tools")
        self._filter: CallFilter | None = None
        self._touched: dict[int, Call] = {}
        self._flush: Timer
        self._watch: Timer

    def compose(self) -> ComposeResult:
        yield self._title
        yield self.list

    def on_mount(self) -> None:
        self._flush = self.set_interval(INTERVAL, self._show, pause=True)
        self._watch = self.set_interval(JOBS_INTERVAL, self.look_at_jobs, pause=True)

    @property
    def entry(self) -> Widget:
        return self.list

    @property
    def count(self) -> int:
        return len(self.list.calls.all)

    def apply(self, event: AgentEvent) -> None:
        self._touch(self.list.calls.apply(event))
        if event.type == "tool_call_finished" and self.list.calls.jobs:
            self._watch.resume()

    def look_at_jobs(self) -> None:
        """Background commands have begun, printed something or ended."""
        self._touch(self.list.calls.look_at(self.jobs()))
        if not self.list.calls.jobs:
            self._watch.pause()

    def left_by(self, event: AgentEvent) -> str:
        """What a turn that was stopped left running in the background; empty for any other event."""
        if event.type != "turn_ended" or event.stop_reason != "cancelled":
            return ""
        running = [job for job in self.jobs() if job.running]
        if not running:
            return ""
        names = ", ".join(f"{job.id} {one_line(job.command, 40)}" for job in running[:3])
        more = " …" if len(running) > 3 else ""
        return f"Still running in the background: {names}{more}. x in the tool log (F3) ends one."

    def end_jobs(self) -> None:
        """The background commands of an earlier run of the program ended with it."""
        self._touch(self.list.calls.end_jobs())

    def _touch(self, touched: list[Call]) -> None:
        if touched:
            self._touched |= {id(call): call for call in touched}
            self._flush.resume()

    def _show(self) -> None:
        touched, self._touched = list(self._touched.values()), {}
        self._flush.pause()
        self.list.take(touched)
        running = sum(call.running for call in self.list.calls.all[-50:])
        jobs = len(self.list.calls.jobs)
        facts = [f"{self.count:,}", f"{running} running" if running else ""]
        facts.append(plural(jobs, "job") if jobs else "")
        self._title.tell(", ".join(fact for fact in facts if fact))

    def clear(self) -> None:
        """Forget all calls."""
        self._watch.pause()
        self.list.clear()
        self._title.tell("")

    # The filter ----------------------------------------------------------------------------------------

    @on(CallList.FilterWanted)
    async def open_filter(self) -> None:
        (await self._made_filter()).focus()

    async def show_only(self, words: str) -> None:
        """Filter by `words`, with the focus left in the list."""
        (await self._made_filter()).value = words

    async def _made_filter(self) -> CallFilter:
        if self._filter is None:
            from tui_agent.ui.panes.call_filter import CallFilter

            self._filter = CallFilter()
            await self.mount(self._filter, before=self.list)
        self._filter.display = True
        return self._filter

    def close_field(self) -> bool:
        """Take the question back, or leave the filter; False if the focus is in neither."""
        return self.list.withdraw() or self.close_filter(only_focused=True)

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

    @on(CallList.Copied)
    async def _copy(self, event: CallList.Copied) -> None:
        event.stop()
        safe.notify(self, await clipboard.copy(self.app, event.text), timeout=4)
