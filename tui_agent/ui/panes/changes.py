"""The changes pane: the files that this session changed, and the diff of the selected one."""

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
from tui_agent.ui.panes.pane import Pane, PaneTitle
from tui_agent.ui.widgets.cursor_view import CURSOR, CursorView
from tui_agent.ui.widgets.strips import build

if TYPE_CHECKING:
    from textual.widget import Widget

    from tui_agent.agent import AgentEvent
    from tui_agent.ui.widgets.diff_view import DiffView


class FileList(CursorView):
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("changes")]

    class Selected(Message):
        """The cursor stands on another file, or on one that changed."""

    class Opened(Message):
        """The person wants to read the diff."""

    def __init__(self) -> None:
        super().__init__()
        self.files: list[ChangedFile] = []

    @property
    def row_count(self) -> int:
        return len(self.files)

    def row_strip(self, y: int, width: int) -> Strip:
        file = self.files[y]
        counts = (f"+{file.added}", f"-{file.removed}")
        room = width - len(" ".join(counts)) - 3
        path = one_line(file.path, room, keep="tail")
        # The selected file keeps its mark when the focus is elsewhere.
        mark = "› " if y == self.cursor else "  "
        gap = " " * max(1, room - width_of(path) + 1)
        row = (
            (mark, "$text-primary"),
            (path, ""),
            (gap, ""),
            (counts[0], "$text-success"),
            (" ", ""),
            (counts[1], "$text-error"),
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
    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.list = FileList()
        self._model = FileChanges()
        self._title = PaneTitle("Changes")
        self._empty = Static(Content.styled("No file changed yet.", "$foreground 70%"), classes="empty")
        self._diff: DiffView | None = None

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
        if self._model.apply(event):
            self._refresh()

    def clear(self) -> None:
        self._model = FileChanges()
        self._refresh()

    def _refresh(self) -> None:
        self.list.files = list(self._model.files.values())
        self.list.display = bool(self.list.files)
        self._empty.display = not self.list.files
        self.list.styles.height = min(len(self.list.files), 6) or None
        self.list.cursor = min(self.list.cursor, max(0, len(self.list.files) - 1))
        self.list.changed()
        self._title.tell(plural(self.count, "file") if self.count else "")
        self._show_diff()

    def on_file_list_selected(self) -> None:
        self._show_diff()

    def on_file_list_opened(self) -> None:
        if self._diff is not None:
            self._diff.focus()

    @work(group="diff", exclusive=True, exit_on_error=False)
    async def _show_diff(self) -> None:
        from tui_agent.ui.threads import in_thread
        from tui_agent.ui.widgets.diff_view import DiffView

        file = self.list.current
        if self._diff is None:
            self._diff = DiffView()
            await self.mount(self._diff)
        self._diff.display = file is not None
        if file is not None:
            change = await in_thread(file.whole)
            self._diff.show(change)
