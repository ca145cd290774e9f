"""The files that this session changed, as a fold of its events. The changes pane draws it.

A file's change is looked at from the start of the session or of the latest turn. Contents come from outside
by their hash; where one is not held, the text of a diff that a call brought along may still say it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tui_agent.agent import AgentEvent
    from tui_agent.session.ledger import Ledger, State, Step, Trail
    from tui_agent.tools.details import FileChange

Content = Callable[[str | None], bytes | None]


class ChangedFile(NamedTuple):
    """A file from `before` to `after`. `turn` is where the look begins, None for the session."""

    path: str
    before: State
    after: State
    last: Step
    origin: str
    turn: int | None


class FileChanges:
    """`files` in the order in which they were first changed."""

    def __init__(self) -> None:
        self.since_turn = False
        self._ledger: Ledger | None = None
        self._told: dict[tuple[str, str | None, str | None], FileChange] = {}

    @property
    def ledger(self) -> Ledger:
        if self._ledger is None:
            from tui_agent.session.ledger import Ledger

            self._ledger = Ledger()
        return self._ledger

    def apply(self, event: AgentEvent) -> bool:
        """Take in one event; returns whether the list may be another one now."""
        if event.type == "tool_call_finished":
            self._note(event.result.details)
            return False
        return self.ledger.apply(event) or (event.type == "turn_started" and self.since_turn)

    @property
    def files(self) -> list[ChangedFile]:
        if self._ledger is None:
            return []
        turn = self._ledger.turn if self.since_turn else None
        files = (self._file(trail, turn) for trail in self._ledger.files.values())
        return [file for file in files if not file.after.is_like(file.before)]

    def _file(self, trail: Trail, turn: int | None) -> ChangedFile:
        last = trail.live[-1] if trail.live else trail.steps[-1]
        work = self.ledger.works[last.call_id]
        origin = work.id if work.origin == "undo" else f"turn {work.turn} {work.name}"
        before = trail.start if turn is None else trail.before(turn)
        return ChangedFile(trail.path, before, trail.now, last, origin, turn)

    def _note(self, details: object) -> None:
        if details is None:
            return
        from tui_agent.tools.details import FileChange, revive

        change = revive(details)  # type: ignore[arg-type]
        if isinstance(change, FileChange):
            text_only = change.model_copy(update={"before": None, "after": None})
            self._told[change.path, change.before_hash, change.after_hash] = text_only

    def whole(self, file: ChangedFile, content: Content) -> FileChange | None:
        """The change with its bytes, or as far as it is known. Work grows with the file: not for the loop."""
        from tui_agent.tools.changes import file_change
        from tui_agent.undo.changes import mode_facts

        before, after = content(file.before.hash), content(file.after.hash)
        if (before is None) == (file.before.hash is None) and (after is None) == (file.after.hash is None):
            return file_change(file.path, before, after, facts=mode_facts(file.before, file.after))
        return self._told.get((file.path, file.before.hash, file.after.hash))

    def written(self, turn: int) -> list[str]:
        """What a turn has changed."""
        return self._ledger.written(turn) if self._ledger else []
