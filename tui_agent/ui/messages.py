"""What the parts of the screen tell each other. None carries a widget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from tui_agent.agent import AgentEvent
    from tui_agent.tools.details import FileChange
    from tui_agent.tools.hunks import Key
    from tui_agent.ui.drafts.draft import Draft
    from tui_agent.ui.file_changes import ChangedFile


class AgentEvents(Message, bubble=False):
    """What the run told since the last one, in order: one message, so that a fast stream costs few."""

    def __init__(self, waiting: list[AgentEvent]) -> None:
        super().__init__()
        self._waiting = waiting

    def take(self) -> list[AgentEvent]:
        """The events, once. What comes later comes with another message."""
        events = list(self._waiting)
        self._waiting.clear()
        return events


class BackgroundTold(Message):
    """The terminal said what is behind its text."""

    def __init__(self, dark: bool) -> None:
        super().__init__()
        self.dark = dark


class PromptReturned(Message):
    """A prompt that was not sent, or left nothing behind."""

    def __init__(self, draft: Draft) -> None:
        super().__init__()
        self.draft = draft


class TurnsChanged(Message):
    """The run controller has another state to show."""


class RuntimeOpened(Message):
    """The agent behind the screen is ready."""


class Failed(Message):
    """Something that the person should know failed outside a turn."""

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__()
        self.text = text
        self.hint = hint


class Noticed(Message):
    """A word of the program's own that came up outside the events."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class ShowCall(Message):
    """The person wants to see this call in the conversation."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class StopCall(Message):
    """The person stops one call; the turn goes on."""

    def __init__(self, call_id: str) -> None:
        super().__init__()
        self.call_id = call_id


class StopJob(Message):
    """The person ends a background command."""

    def __init__(self, job_id: str) -> None:
        super().__init__()
        self.job_id = job_id


class JobsChanged(Message):
    """A background command has begun or ended."""


class ShowChange(Message):
    """The person wants to read what a call did to a file, or would have done."""

    def __init__(self, change: FileChange) -> None:
        super().__init__()
        self.change = change


class UndoWanted(Message):
    """The person wants to take back something of `file`; `hunk` are the changed lines under the cursor."""

    def __init__(self, file: ChangedFile, hunk: frozenset[Key]) -> None:
        super().__init__()
        self.file = file
        self.hunk = hunk
