"""What an undo would do, file by file, before it does it; or why it won't, with the difference in between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Key
from textual.widgets import Static

from tui_agent.ui import safe
from tui_agent.ui.screens.dialog import Dialog
from tui_agent.ui.threads import in_thread
from tui_agent.ui.widgets.key_rows import KeyRows

if TYPE_CHECKING:
    from tui_agent.ui.undoing import Choice
    from tui_agent.undo.changes import Changes
    from tui_agent.undo.plan import Plan, Refusal

LISTED = 200


class UndoScreen(Dialog["Plan | None"]):
    """The plan for a yes. Another choice is another plan; Escape, Ctrl+C and n are no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", show=False),
        Binding("n,escape,ctrl+c", "answer(False)", show=False),
    ]

    def __init__(self, changes: Changes, choices: Sequence[Choice]) -> None:
        super().__init__("Undo", Content(""), "n  leave")
        self._changes = changes
        self._choices = choices
        self._chosen = choices[0]
        self._plan: Plan | None = None

    def on_mount(self) -> None:
        self._look()

    def on_key(self, event: Key) -> None:
        choice = next((choice for choice in self._choices if choice.key == event.key), None)
        if choice is not None and choice is not self._chosen:
            event.stop()
            self._chosen = choice
            self._look()

    @work(group="plan", exclusive=True, exit_on_error=False)
    async def _look(self) -> None:
        from tui_agent.undo.plan import Plan

        self._plan = None
        result, lines = await in_thread(self._planned)
        self._plan = result if isinstance(result, Plan) else None
        self._text = Content("\n").join(lines)
        self.query_one(".body Static", Static).update(self._text)
        yes = "y  undo it    " if self._plan else ""
        self.query_one(KeyRows).show(f"{yes}n  leave")

    def _planned(self) -> tuple[Plan | Refusal, list[Content]]:
        """The plan and its words. Files are read for it: not for the loop."""
        result = self._changes.plan(self._chosen.target)
        return result, [*self._tabs(), *self._lines(result)]

    def _tabs(self) -> Iterator[Content]:
        if len(self._choices) > 1:
            parts = [
                Content.styled(
                    f"{choice.key}  {choice.name}",
                    "bold $text-accent" if choice is self._chosen else "$text-muted",
                )
                for choice in self._choices
            ]
            yield Content("    ").join(parts)
            yield Content("")

    def _lines(self, result: Plan | Refusal) -> Iterator[Content]:
        from tui_agent.masking import masked_change
        from tui_agent.undo.plan import Plan, becomes

        changes = self._changes
        yield safe.strict(f"Undo {result.title}:", "bold")
        if isinstance(result, Plan):
            for restore in result.restores[:LISTED]:
                yield safe.strict(f"  {restore.path}  {becomes(restore, changes.ledger, changes.content)}")
            if (more := len(result.restores) - LISTED) > 0:
                yield Content(f"  and {more:,} more files")
            for conflict in result.left[:LISTED]:
                yield safe.strict(f"  {conflict.path}  stays as it is: {conflict.reason}", "$text-warning")
            return
        yield Content.styled(result.reason, "$text-error")
        for conflict in result.conflicts[:LISTED]:
            yield safe.strict(f"  {conflict.path}  {conflict.reason}", "$text-warning")
        for conflict in result.conflicts[:LISTED]:
            difference = changes.difference(conflict)
            if difference is not None and difference.diff:
                yield Content("\nChanged since then:")
                yield safe.content(masked_change(difference).diff.rstrip("\n"))

    def action_answer(self, yes: bool) -> None:
        if not yes:
            self.dismiss(None)
        elif self._plan is not None:
            self.dismiss(self._plan)
