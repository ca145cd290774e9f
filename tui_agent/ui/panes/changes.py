"""The changes pane: the files that this session changed, where from, and the diff of the selected one.

It folds events; contents are fetched by hash through `content`, which whoever opens a session provides. What
is counted and compared, is so in a thread: the selected file first, then the counts of the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.widgets import Static

from tui_agent.text import one_line, plural, width_of
from tui_agent.ui import keys
from tui_agent.ui.file_changes import ChangedFile, FileChanges
from tui_agent.ui.messages import UndoWanted
from tui_agent.ui.panes.pane import Pane, PaneTitle
from tui_agent.ui.threads import in_thread
from tui_agent.ui.widgets.cursor_view import CURSOR, CursorView
from tui_agent.ui.widgets.strips import build

if TYPE_CHECKING:
    from textual.widget import Widget

    from tui_agent.agent import AgentEvent
    from tui_agent.tools.details import FileChange
    from tui_agent.tools.hunks import Key
    from tui_agent.ui.file_changes import Content as Contents
    from tui_agent.ui.widgets.diff_view import DiffView

Counts = tuple[int, int] | None

UNKNOWN = "Its earlier content is not held: this change can't be shown or undone."
SINCE = {False: "since the session began", True: "since the latest turn began"}


class FileList(CursorView):
    class Selected(Message):
        """The cursor stands on another file, or on one that changed."""

    class Opened(Message):
        """The person wants to read the diff."""

    def __init__(self) -> None:
        super().__init__()
        self.files: list[ChangedFile] = []
        self.counts: dict[ChangedFile, Counts] = {}

    @property
    def row_count(self) -> int:
        return len(self.files)

    def row_strip(self, y: int, width: int) -> Strip:
        file = self.files[y]
        counts = self.counts.get(file, (0, 0))
        known = file in self.counts
        added, removed = (f"+{counts[0]}", f"-{counts[1]}") if counts and known else ("+?", "-?")
        room = width - len(f"{added} {removed}") - 3
        path = one_line(file.path, room, keep="tail")
        origin = f"{one_line(file.origin)} "
        if width_of(path) + width_of(origin) + 1 > room:
            origin = ""
        gap = " " * max(1, room - width_of(path) - width_of(origin) + 1)
        row = (
            # The selected file keeps its mark when the focus is elsewhere.
            ("› " if y == self.cursor else "  ", "$text-primary"),
            (path, ""),
            (gap, ""),
            (origin, "$text-muted"),
            (added, "$text-success"),
            (" ", ""),
            (removed, "$text-error"),
        )
        return build(row, width, self.styles_of(y), CURSOR if self.marked(y) else "")

    @property
    def current(self) -> ChangedFile | None:
        return self.files[self.cursor] if self.cursor < len(self.files) else None

    def move_to(self, row: int) -> None:
        before = self.cursor
        super().move_to(row)
        if self.cursor != before:
            self.post_message(self.Selected())

    def action_open(self) -> None:
        if self.current is not None:
            self.post_message(self.Opened())


class Changes(Pane):
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("changes")]

    content: Contents
    """Gives contents of files by their hash, None for what is not held."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.list = FileList()
        self.content = lambda content_hash: None
        self._model = FileChanges()
        self._title = PaneTitle("Changes")
        self._empty = Static(Content.styled("No file changed yet.", "$text-muted"), classes="empty")
        self._diff: DiffView | None = None
        self._shown: ChangedFile | None = None
        self._waiting = False

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._empty
        yield self.list

    def on_mount(self) -> None:
        self.list.display = False

    @property
    def entry(self) -> Widget:
        return self.list

    @property
    def count(self) -> int:
        return len(self._model.files)

    def apply(self, event: AgentEvent) -> None:
        if self._model.apply(event) and not self._waiting:
            self._waiting = True  # a command may change hundreds of files in one go
            self.call_next(self._refresh)

    def clear(self) -> None:
        self._model = FileChanges()
        self.list.counts.clear()
        self._refresh()

    def left_by(self, event: AgentEvent) -> str:
        """What a turn that was stopped had changed, and how to take it back; empty for any other event."""
        if event.type != "turn_ended" or event.stop_reason != "cancelled":
            return ""
        paths = self._model.written(turn := self._model.ledger.turn)
        if not paths:
            return ""
        names = ", ".join(one_line(path, 60, keep="tail") for path in paths[:5])
        more = f" and {plural(len(paths) - 5, 'more file')}" if len(paths) > 5 else ""
        return f"Before it was stopped, this turn changed {names}{more}. /undo turn {turn} takes it back."

    # Keys --------------------------------------------------------------------------------------------

    def action_open(self) -> None:
        self.list.action_open()

    def action_since(self) -> None:
        """Look from the start of the session, or of the latest turn."""
        self._model.since_turn = not self._model.since_turn
        self._refresh()

    def action_undo(self) -> None:
        file = self.list.current
        if file is not None:
            self.post_message(UndoWanted(file, self._hunk(file)))

    def _hunk(self, file: ChangedFile) -> frozenset[Key]:
        """The changed lines of the hunk under the cursor, if the person is reading the diff."""
        view = self._diff
        if view is None or not view.has_focus or file != self._shown:
            return frozenset()
        diff = view.diff
        if diff is None or not diff.whole or not diff.divisible or view.hunk < 0:
            return frozenset()
        return frozenset(diff.hunks[view.hunk].keys)

    # Showing -----------------------------------------------------------------------------------------

    def _refresh(self) -> None:
        self._waiting = False
        selected = self.list.current
        files = self.list.files = self._model.files
        paths = [file.path for file in files]
        self.list.cursor = paths.index(selected.path) if selected and selected.path in paths else 0
        self.list.display = bool(files)
        self._empty.display = not files
        self._empty.update(
            Content.styled(
                "No file changed in the latest turn." if self._model.since_turn else "No file changed yet.",
                "$text-muted",
            )
        )
        self.list.styles.height = min(len(files), 6) or None
        self.list.changed()
        since = SINCE[self._model.since_turn]
        self._title.tell(f"{plural(len(files), 'file')} {since}" if files or self._model.since_turn else "")
        self._show_diff()

    def on_file_list_selected(self) -> None:
        self._show_diff()

    def on_file_list_opened(self) -> None:
        if self._diff is not None:
            self._diff.focus()

    @work(group="diff", exclusive=True, exit_on_error=False)
    async def _show_diff(self) -> None:
        from tui_agent.masking import HIDDEN, hides, masked_change
        from tui_agent.ui.widgets.diff_view import DiffView

        file = self.list.current
        if self._diff is None:
            self._diff = DiffView()
            await self.mount(self._diff)
        self._diff.display = file is not None
        if file is not None and file != self._shown:
            change = await in_thread(self._model.whole, file, self.content)
            self._count(file, change)
            notes = [] if change else [UNKNOWN]
            if change is not None and hides(file.path):
                notes, change = [HIDDEN], await in_thread(masked_change, change)
            self._diff.show(change or _unknown(file), notes=tuple(notes))
            self._shown = file
        for other in self.list.files:
            if other not in self.list.counts:
                self._count(other, await in_thread(self._model.whole, other, self.content))

    def _count(self, file: ChangedFile, change: FileChange | None) -> None:
        self.list.counts[file] = (change.added, change.removed) if change else None
        self.list.changed()


def _unknown(file: ChangedFile) -> FileChange:
    from tui_agent.tools.details import FileChange

    return FileChange(path=file.path, before_hash=file.before.hash, after_hash=file.after.hash)
