"""The conversation pane: the events of a run, told as a transcript.

It is a projection: live events and those replayed from a session give the same picture. Text that streamed
is not shown again when its message is done; a message that was not streamed is shown whole. What was taken
back out of the conversation is taken out of the transcript; what a summary stands for stays in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.widget import Widget

from tui_agent.text import plural, shorten, size_text, visible
from tui_agent.ui import clipboard, safe
from tui_agent.ui.calls import Call, Calls
from tui_agent.ui.panes import call_rows
from tui_agent.ui.panes.endings import Ending, ending_of, step_limit
from tui_agent.ui.panes.pane import Pane
from tui_agent.ui.status import OWN
from tui_agent.ui.widgets.clear import Clear
from tui_agent.ui.widgets.pieces import CallLine, CallState
from tui_agent.ui.widgets.reading import Reading
from tui_agent.ui.widgets.search_field import SearchField
from tui_agent.ui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from tui_agent.agent import AgentEvent, AssistantMessage
    from tui_agent.session.prompts import Prompts
    from tui_agent.ui.widgets.pieces import Piece

SUMMARY = 600
"""Cells of a summary that are shown; the session has all of it, and so has an export."""
DETAIL = 4000
"""Characters of a result that open under its line; the tool log and the session have the rest."""

OWN_LINES = 30
"""Lines of output that stay in view of a command of the person's own."""
NOTE_LINES = 3
"""A longer note of the program's own is told by its first line."""


class ConversationPane(Clear, Pane):
    DEFAULT_CSS = """
    ConversationPane { height: 1fr; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.transcript = Transcript()
        self._search: SearchField | None = None
        self._prompts: Prompts | None = None
        self._asked: dict[int, Piece] = {}
        self._calls = Calls()
        self._streamed = False

    def compose(self) -> ComposeResult:
        yield self.transcript

    @property
    def entry(self) -> Widget:
        return self.transcript

    @property
    def prompts(self) -> Prompts:
        if self._prompts is None:
            from tui_agent.session.prompts import Prompts  # not before the first paint

            self._prompts = Prompts()
        return self._prompts

    # What others call --------------------------------------------------------------------------------

    def clear(self) -> None:
        self.transcript.clear()
        self._prompts = None
        self._asked.clear()
        self._calls = Calls()
        self._streamed = False

    def toggle_calls(self) -> None:
        self.transcript.toggle_calls()

    def jump_to_call(self, number: int) -> bool:
        return self.transcript.jump_to_call(str(number))

    def scroll(self, how: str) -> None:
        """`page_up`, `page_down`, `home` or `end`."""
        match how:
            case "page_up":
                self.transcript.action_scroll_pages(-1)
            case "page_down":
                self.transcript.action_scroll_pages(1)
            case "home":
                self.transcript.action_scroll_to_start()
            case "end":
                self.transcript.action_scroll_to_end()

    def tell(self, text: str, hint: str = "", *, error: bool = False) -> None:
        """A word of the program's own."""
        self.transcript.add_note(text, "error" if error else "note", hint)

    # Events ------------------------------------------------------------------------------------------

    def apply(self, event: AgentEvent) -> None:
        transcript = self.transcript
        back = self.prompts.apply(event)
        if back is not None and (piece := self._asked.get(back.turn)):
            transcript.cut(piece)
        match event.type:
            case "text_delta":
                self._streamed = True
                transcript.stream_text(event.text)
            case "thinking_delta":
                self._streamed = True
                transcript.stream_thinking(event.text)
            case "turn_started":
                if text := _text_of(event.prompt):
                    self._asked[self.prompts.turn] = transcript.add_prompt(text)
            case "assistant_message_done":
                self._done(event.message)
            case "retrying":
                self._cut(f"{event.error} Asking again.")
            case "note_added":
                if event.by == "user":
                    transcript.add_prompt(_text_of(event.content))
                else:
                    transcript.add_note(_in_brief(_text_of(event.content)))
            case "model_chosen":
                transcript.add_note(f"From the next message on: {event.words}.")
            case "step_limit_reached":
                self._tell(step_limit(plural(event.steps, "step")))
            case "history_rewritten":
                transcript.add_note(event.reason)
            case "compacted":
                tokens = f"{event.before:,} → {event.after:,} tokens"
                kept = "It stays here and on disk; the model goes on from this summary:"
                transcript.add_note(
                    f"The conversation was compacted: {tokens}. {kept}", hint=shorten(event.summary, SUMMARY)
                )
            case "turn_ended":
                self._ended(ending_of(event.stop_reason, event.error, event.hint))
        for call in self._calls.apply(event):
            self._show(call)

    def _done(self, message: AssistantMessage) -> None:
        if self._streamed:
            self.transcript.end_text()
        else:
            for block in message.content:
                if block.type == "text":
                    self.transcript.add_answer(block.text)
                elif block.type == "thinking":
                    self.transcript.add_thinking(block.thinking)
        self._streamed = False

    def _cut(self, why: str) -> None:
        if self._streamed:
            self.transcript.end_text(cut=f"cut here: {why}")
        self._streamed = False

    def _ended(self, ending: Ending | None) -> None:
        self._streamed = False
        self.transcript.end_text()
        if ending is not None:
            self._tell(ending)

    def _tell(self, ending: Ending) -> None:
        self.transcript.add_note(ending.text, ending.kind, ending.hint)

    # Calls -------------------------------------------------------------------------------------------

    def _show(self, call: Call) -> None:
        if call.state == "writing":
            return
        self.transcript.show_call(str(call.number), _line(call), opened=call.name == OWN)

    # Search and messages -----------------------------------------------------------------------------

    @on(Reading.SearchWanted)
    async def _open_search(self) -> None:
        if self._search is None:
            self._search = SearchField()
            await self.mount(self._search)
        self._search.open()

    @on(SearchField.Wanted)
    def _find(self, event: SearchField.Wanted) -> None:
        event.control.tell(*self.transcript.find(event.needle, event.step))

    @on(SearchField.Closed)
    def _close_search(self) -> None:
        self.transcript.focus()

    @on(Reading.Copied)
    async def _copy(self, event: Reading.Copied) -> None:
        event.stop()
        safe.notify(self, await clipboard.copy(self.app, event.text), timeout=4)


def _line(call: Call) -> CallLine:
    facts = [] if call.seconds is None or call.seconds < 0.1 else [call_rows.duration(call.seconds)]
    if call.size:
        facts.append(size_text(call.size))
    if call.denied and call.reason:
        facts.append(call.reason)
    state: CallState = "running" if call.state == "writing" else call.state
    return CallLine(call.name, call.subject, state, " · ".join(map(visible, facts)), _detail(call))


def _detail(call: Call) -> str:
    if call.name == OWN:
        return _end_of(call.tail if call.result is None else call.result.text)
    if call.result is None:
        return ""
    text = (not call.result.is_error and call_rows.diff_of(call)) or call_rows.result_of(call)
    left_out = len(text) - DETAIL
    return (
        text if left_out <= 0 else f"{text[:DETAIL]}\n… {plural(left_out, 'more character')} in the tool log"
    )


def _end_of(output: str) -> str:
    """The last lines of what the person's own command printed."""
    lines = output.rstrip().split("\n")
    left_out = len(lines) - OWN_LINES
    if left_out > 0:
        lines = [f"… {plural(left_out, 'earlier line')} in the tool log", *lines[-OWN_LINES:]]
    return "\n".join(lines)[-DETAIL:]


def _text_of(blocks: Any) -> str:
    """The words, and of what they attach the first line."""
    texts = [block.text if block.type == "text" else "[image]" for block in blocks]
    return "\n".join([*texts[:1], *(text.partition("\n")[0] for text in texts[1:])])


def _in_brief(text: str) -> str:
    first, _, rest = text.partition("\n")
    return f"{first} …" if rest.count("\n") >= NOTE_LINES - 1 else text
