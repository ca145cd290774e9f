"""The files that this session changed, as a fold of its events. Pure: the changes pane draws it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui_agent.agent import AgentEvent
    from tui_agent.tools.details import FileChange


@dataclass
class ChangedFile:
    """A file from how it was at `first` to how it is after `last`; `added` and `removed` add up the steps."""

    path: str
    first: FileChange
    last: FileChange
    added: int = 0
    removed: int = 0

    def whole(self) -> FileChange:
        """All of it as one change, where the bytes are known (a reopened session has the last step only).

        Work grows with the file: not for the event loop.
        """
        from tui_agent.tools.changes import file_change

        if self.first is self.last or self.first.before == self.last.before:
            return self.last
        if self.first.before is None and self.first.before_hash is not None:
            return self.last
        return file_change(self.path, self.first.before, self.last.after)


class FileChanges:
    """`files` in the order in which they were first changed."""

    def __init__(self) -> None:
        self.files: dict[str, ChangedFile] = {}

    def apply(self, event: AgentEvent) -> bool:
        """Take in one event; returns whether a file changed."""
        if event.type == "tool_call_finished":
            return not event.result.is_error and self._add(event.result.details)
        if event.type == "file_changed":
            file = self.files.get(event.path)
            if file is not None and event.after == file.first.before_hash:
                del self.files[event.path]  # it is again as it was
                return True
        return False

    def _add(self, details: object) -> bool:
        if details is None:
            return False
        from tui_agent.tools.details import FileChange, revive

        change = revive(details)  # type: ignore[arg-type]
        if not isinstance(change, FileChange):
            return False
        file = self.files.get(change.path)
        if file is None:
            file = self.files[change.path] = ChangedFile(change.path, change, change)
        file.last = change
        file.added += change.added
        file.removed += change.removed
        return True
