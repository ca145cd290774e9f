"""The main screen: three panes, the prompt, the status line. It lays out and passes on.

Events of the run go to every pane's `apply`, in order; keys come from the tables of `keys`. With less than
100 columns one pane shows at a time, under the row of pane names; under 60 by 15 there is only a word.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from tui_agent.ui import clipboard, keys, safe
from tui_agent.ui.drafts.draft import Draft
from tui_agent.ui.messages import AgentEvents, ShowCall, ShowChange
from tui_agent.ui.panes.changes import Changes
from tui_agent.ui.panes.conversation import ConversationPane
from tui_agent.ui.panes.tool_log import ToolLog
from tui_agent.ui.screens.confirm import ConfirmScreen
from tui_agent.ui.widgets.clear import ClearHorizontal, ClearVertical
from tui_agent.ui.widgets.composer import Composer
from tui_agent.ui.widgets.hint_line import HintLine, place_of
from tui_agent.ui.widgets.pane_bar import PaneBar
from tui_agent.ui.widgets.reading import Reading
from tui_agent.ui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from textual.geometry import Size
    from textual.widget import Widget

    from tui_agent.agent import AgentEvent
    from tui_agent.ui.attention import Attention
    from tui_agent.ui.own_commands import OwnCommands
    from tui_agent.ui.status import Status
    from tui_agent.ui.turns import Turns

PaneName = Literal["conversation", "tool_log", "changes"]
PANES: tuple[PaneName, ...] = ("conversation", "tool_log", "changes")
WIDTHS = [(0, "-thin"), (60, "-narrow"), (100, "-wide")]
HEIGHTS = [(0, "-flat"), (15, "-low"), (20, "-tall")]
SLICE = 200
"""Stored events that are shown at once when a session is reopened."""
AGAIN = 2.0
"""Seconds within which the second Ctrl+C quits."""


class MainScreen(Screen[None]):
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("screen")]
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS
    AUTO_FOCUS = "Prompt"

    turns: Turns
    """The controller of runs; the app gives it."""
    own: OwnCommands
    """The person's own commands; the app gives it, too."""
    attention: Attention
    """What calls a person who looks elsewhere; from the app as well."""
    uncovered: asyncio.Event
    """Set while no dialog lies over this screen."""

    def __init__(self, status: Status) -> None:
        super().__init__(classes="-at-conversation")
        self.conversation = ConversationPane(id="conversation")
        self.tool_log = ToolLog(id="tool_log")
        self.changes = Changes(id="changes")
        self.composer = Composer()
        self.prompt = self.composer.prompt
        self.status_line = StatusLine(status, id="status")
        self.hints = HintLine(id="hints")
        self._bar = PaneBar(id="bar")
        self.uncovered = asyncio.Event()
        self._quit_asked = float("-inf")

    def compose(self) -> ComposeResult:
        with ClearVertical(id="main"):
            yield self._bar
            with ClearHorizontal(id="panes"):
                yield self.conversation
                with Vertical(id="side"):
                    yield self.tool_log
                    yield self.changes
            yield self.composer
            yield self.hints
            yield self.status_line
        yield Static(Content("The terminal is too small: 60 by 15 is the least."), id="too-small")

    def fit(self, size: Size) -> None:
        """Look from the start as the first resize would make it: each change styles all widgets anew."""
        names = self._get_breakpoint_classes(size.width, WIDTHS)
        self.add_class(*names, *self._get_breakpoint_classes(size.height, HEIGHTS), update=False)

    def _screen_resized(self, size: Size) -> None:
        # Textual would do it three times: when the terminal tells, when the layout tells the screen of its
        # own size, and once more because sizes that this layout gave out ask for one.
        if size != self._size:
            super()._screen_resized(size)
            for widget in (self, *self.query("*")):
                widget._layout_required = False

    # Events ------------------------------------------------------------------------------------------

    def on_agent_events(self, message: AgentEvents) -> None:
        events = message.take()
        self.take(events)
        self.attention.apply(events)

    def take(self, events: Sequence[AgentEvent]) -> None:
        """Show events, in order, wherever they show."""
        before = ""
        for event in events:
            self.conversation.apply(event)
            if not (event.type == before == "text_delta"):  # the others need to hear of a stream only once
                for pane in (self.tool_log, self.changes, self.status_line):
                    pane.apply(event)
            for pane in (self.changes, self.tool_log):
                if words := pane.left_by(event):
                    self.conversation.tell(words)
            before = event.type
        self._warn()
        counts = {"tool_log": self.tool_log.count, "changes": self.changes.count}
        if counts != self._bar.counts:
            self._bar.counts = counts

    def _warn(self) -> None:
        if words := self.status_line.status.warning():
            self.conversation.tell(words)

    def on_reading_call_activated(self, message: Reading.CallActivated) -> None:
        if self.tool_log.list.show_call(int(message.call_id)):
            self.action_pane("tool_log")

    def on_show_call(self, message: ShowCall) -> None:
        if self.conversation.jump_to_call(message.number):
            self.action_pane("conversation")
        else:
            self.notify("This call is no longer part of the conversation.", markup=False)

    def on_jobs_changed(self) -> None:
        self.tool_log.look_at_jobs()

    def on_show_change(self, message: ShowChange) -> None:
        from tui_agent.ui.screens.change import ChangeScreen

        self.app.push_screen(ChangeScreen(message.change, self.changes.content))

    def on_reading_link_activated(self, message: Reading.LinkActivated) -> None:
        def answered(yes: bool | None) -> None:
            if yes:
                self.app.open_url(message.url)

        self.app.push_screen(
            ConfirmScreen("Open this address?", message.url, "open it", "leave it"), answered
        )

    async def replay(self, events: Sequence[AgentEvent]) -> None:
        """Show the stored events of a reopened session, with looks at the keyboard in between."""
        with self.conversation.transcript.held(), self.tool_log.list.held():
            for start in range(0, len(events), SLICE):
                self.take(events[start : start + SLICE])
                await asyncio.sleep(0)
        self.tool_log.end_jobs()
        for event in events:
            if event.type == "turn_started" and event.prompt:
                words = event.prompt[0]  # what they attach comes after them
                if words.type == "text":
                    self.prompt.past.add(Draft(words.text))
        self.status_line.update(began=None, doing="")

    def on_turns_changed(self) -> None:
        run = self.turns.run
        self.status_line.update(
            stopping=run is not None and run.stopping,
            opening=self.turns.opening,
            queued=len(self.turns.queue),
            window=self.turns.window,
        )
        self.hints.running = run is not None
        self._warn()
        self.composer.queue.show(self.turns.queue, self.turns.unsent)

    def clear(self) -> None:
        """Empty panes, for another conversation."""
        self.conversation.clear()
        self.tool_log.clear()
        self.changes.clear()
        self.status_line.update(step=0, tokens=0, turn_tokens=0, session_tokens=0, doing="", began=None)

    def on_screen_resume(self) -> None:
        self.uncovered.set()

    def on_screen_suspend(self) -> None:
        self.uncovered.clear()

    # Panes -------------------------------------------------------------------------------------------

    @property
    def current_pane(self) -> PaneName | None:
        """The pane that has the focus, None while the prompt has it."""
        focused = self.focused
        if focused is None:
            return None
        return next((name for name in PANES if self.pane(name) in focused.ancestors_with_self), None)

    def pane(self, name: PaneName) -> Widget:
        panes: dict[PaneName, Widget] = {
            "conversation": self.conversation,
            "tool_log": self.tool_log,
            "changes": self.changes,
        }
        return panes[name]

    def show_pane(self, name: PaneName) -> None:
        """In a narrow terminal, the pane that is seen."""
        for other in PANES:
            self.set_class(other == name, f"-at-{other}")
        self._bar.current = name

    def action_pane(self, name: PaneName) -> None:
        if name != "conversation":
            self.remove_class("-no-side")
        self.show_pane(name)
        pane = self.pane(name)
        getattr(pane, "entry", pane).focus()

    def action_next_pane(self) -> None:
        order: tuple[PaneName | None, ...] = (None, *PANES)
        place = order[(order.index(self.current_pane) + 1) % len(order)]
        if place is None or (place != "conversation" and self.has_class("-no-side")):
            self.return_to_prompt()
        else:
            self.action_pane(place)

    def action_toggle_side(self) -> None:
        self.toggle_class("-no-side")
        if self.has_class("-no-side") and self.current_pane in ("tool_log", "changes"):
            self.return_to_prompt()
            self.show_pane("conversation")

    def action_queue(self) -> None:
        if self.composer.queue.display:
            self.composer.queue.focus()
        else:
            self.notify("No message waits. What you enter during a run does.", markup=False)

    def action_search_past(self) -> None:
        self.composer.search_past()

    def action_edit_outside(self) -> None:
        self.composer.edit_outside()

    def action_toggle_calls(self) -> None:
        self.conversation.toggle_calls()

    def action_scroll_conversation(self, how: str) -> None:
        self.conversation.scroll(how)

    # Keys --------------------------------------------------------------------------------------------

    def action_climb(self, ladder: keys.Ladder) -> None:
        keys.climb(ladder, self)

    def close_field(self) -> bool:
        return self.composer.close_popup() or self.tool_log.close_field()

    def cancel_run(self) -> bool:
        stopped = self.own.stop()
        return self.turns.cancel() or stopped

    def copy_selection(self) -> bool:
        text = self.prompt.selected_text if self.prompt.has_focus else ""
        text = text or self.get_selected_text() or ""
        if text:
            self.run_worker(self._copy(text), group="copy", exit_on_error=False)
            self.drop_selection()
        return bool(text)

    async def _copy(self, text: str) -> None:
        safe.notify(self, await clipboard.copy(self.app, text), timeout=4)

    def drop_selection(self) -> bool:
        if self.selections or not self.prompt.selection.is_empty:
            self.clear_selection()
            self.prompt.selection = self.prompt.selection.cursor(self.prompt.cursor_location)
            return True
        return self.conversation.transcript.drop_cursor() or self.tool_log.close_filter()

    def clear_draft(self) -> bool:
        had = bool(self.prompt.text)
        self.prompt.put("")
        return had

    def return_to_prompt(self) -> bool:
        if self.prompt.has_focus:
            return False
        self.prompt.focus()
        return True

    def quit_if_again(self) -> bool:
        now = time.monotonic()
        if now - self._quit_asked <= AGAIN:
            self.action_quit()
        else:
            self._quit_asked = now
            self.notify("Press Ctrl+C again to quit.", timeout=AGAIN, markup=False)
        return True

    def action_help(self) -> None:
        from tui_agent.ui.screens.help import HelpScreen

        self.app.push_screen(HelpScreen(place_of(self.focused), self.hints.keymap))

    async def action_next_mode(self) -> None:
        await self.run_action("app.next_mode")

    def action_quit(self) -> None:
        self.run_worker(self.app.action_quit(), group="quit")
