"""A change of a file, read again: the diff that a call wrote, or would have written.

Its bytes are looked for where contents are kept; where they are not, the diff that the session stored is
shown, which knows no more context.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui_agent.ui import safe
from tui_agent.ui.threads import in_thread
from tui_agent.ui.widgets.diff_view import DiffView
from tui_agent.ui.widgets.key_rows import KeyRows
from tui_agent.ui.widgets.search_field import SearchField

if TYPE_CHECKING:
    from tui_agent.tools.details import FileChange
    from tui_agent.ui.file_changes import Content as Contents

KEYS = "Escape close · ] [ hunk · / find · n N next, previous · v sides · w blanks · z wrap · + context"


class ChangeScreen(ModalScreen[None]):
    DEFAULT_CSS = """
    ChangeScreen { background: $background; padding: 0 1; }
    ChangeScreen .heading { height: 2; color: $text-primary; }
    ChangeScreen .keys { height: auto; color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,d,enter,ctrl+c", "close", show=False),
        Binding("slash", "find", show=False),
        Binding("n", "next(1)", show=False),
        Binding("N", "next(-1)", show=False),
    ]
    AUTO_FOCUS = "DiffView"

    def __init__(self, change: FileChange, contents: Contents) -> None:
        super().__init__()
        self._change = change
        self._contents = contents
        self._diff = DiffView()
        self._search = SearchField()

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._heading(), classes="heading")
            yield self._diff
            yield self._search
            yield KeyRows(KEYS, classes="keys")

    def on_mount(self) -> None:
        self._look()

    @work(group="change", exclusive=True, exit_on_error=False)
    async def _look(self) -> None:
        from tui_agent.masking import HIDDEN, hides

        notes = (HIDDEN,) if hides(self._change.path) else ()
        self._diff.show(await in_thread(_whole, self._change, self._contents), notes=notes)

    def _heading(self) -> Content:
        change = self._change
        facts = " · ".join((f"+{change.added} -{change.removed}", *change.facts))
        return safe.title(change.path, 100, "bold") + safe.title(f"  {facts}", 100, "$text-muted")

    def action_close(self) -> None:
        self.dismiss(None)

    def action_find(self) -> None:
        self._search.open()

    def action_next(self, step: int) -> None:
        if needle := self._diff.view.needle:
            self._diff.find(needle, step)

    @on(SearchField.Wanted)
    def _find(self, event: SearchField.Wanted) -> None:
        found = self._diff.find(event.needle, event.step)
        event.control.tell(int(found), int(found))

    @on(SearchField.Closed)
    def _leave_search(self) -> None:
        self._diff.focus()


def _whole(change: FileChange, contents: Contents) -> FileChange:
    """The change with its bytes, if they are held, as it may be shown in a pane. It reads files."""
    from tui_agent.masking import masked_change

    before, after = contents(change.before_hash), contents(change.after_hash)
    return masked_change(change.model_copy(update={"before": before, "after": after}))
