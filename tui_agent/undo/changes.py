"""What a session changed, held by its runtime: seen by the person, taken back, exported.

Every event of the session goes through `apply`; `after_call` gives the `FileChanged` events that follow the
end of a call. Work here reads and writes files, so hosts with an event loop call it in a thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tui_agent import paths
from tui_agent.agent import AgentEvent, AgentTool, FileChanged, ToolError
from tui_agent.agent.events import UNKNOWN, ToolCallFinished
from tui_agent.session.checkpoints import Checkpoints
from tui_agent.session.ledger import Ledger, State, Trail
from tui_agent.tools.changes import file_change
from tui_agent.tools.details import FileChange, digest, revive
from tui_agent.tools.trouble import Missing, shown
from tui_agent.tools.workspace import Workspace
from tui_agent.undo.patch import Side, file_patch
from tui_agent.undo.plan import Conflict, OfTurn, Plan, Refusal, Restore, Target, plan
from tui_agent.undo.watch import Watch, WatchedTool


class UndoError(Exception):
    """An undo that failed; what it had done already was taken back, unless its words say otherwise."""


@dataclass(frozen=True)
class Export:
    """A patch, file by file. `left_out` are those whose content is not held."""

    parts: dict[str, bytes]
    left_out: tuple[str, ...]

    @property
    def patch(self) -> bytes:
        return b"".join(self.parts.values())


class Changes:
    """`place` is the session's folder; `notify` hears what isn't kept or listed, as what is `secret`."""

    def __init__(
        self,
        workspace: Workspace,
        place: Path,
        notify: Callable[[str], None],
        *,
        secret: Callable[[bytes], bool] = lambda data: False,
    ) -> None:
        self.ledger = Ledger()
        self.checkpoints = Checkpoints(place, notify, secret=secret)
        self._workspace = workspace
        self._place = place
        self._watch = Watch(workspace, self.checkpoints, self._known, notify)
        self._by_commands: dict[str, list[FileChanged]] = {}
        self._untold: dict[str, State] = {}
        workspace.before_write = self._keep

    def watched(self, tools: Iterable[AgentTool]) -> list[AgentTool]:
        """The tools, those that execute something with the folder looked at around them."""
        return [
            WatchedTool(tool, self._watch, self._by_commands.__setitem__) if tool.kind == "execute" else tool
            for tool in tools
        ]

    # folding

    def apply(self, event: AgentEvent) -> None:
        self.ledger.apply(event)
        if event.type == "turn_started":
            self._untold.clear()  # its prompt told it
        elif event.type == "file_changed" and self.ledger.files[event.path].steps[-1].origin == "undo":
            self._untold.setdefault(event.path, State(event.before, event.before_mode))

    def after_call(self, event: ToolCallFinished) -> list[FileChanged]:
        """What the call that ended changed, its own file first."""
        call_id = event.result.tool_call_id
        found = [c.model_copy(update={"call_id": call_id}) for c in self._by_commands.pop(call_id, ())]
        details = None if event.result.is_error else revive(event.result.details)
        if isinstance(details, FileChange) and details.before_hash != details.after_hash:
            if details.after is not None:
                self.checkpoints.keep(details.after)
            mode = self._look(details.path)[0].mode
            found.insert(
                0,
                FileChanged(
                    path=details.path,
                    before=details.before_hash,
                    after=details.after_hash,
                    call_id=call_id,
                    before_mode=None if details.before_hash is None else mode,  # a write keeps it
                    after_mode=mode,
                    folders=self._workspace.made.pop(details.path, ()),
                ),
            )
        return found

    def _known(self) -> Iterable[str]:
        return dict.fromkeys([*self.ledger.files, *self._workspace.seen])

    def _keep(self, path: str, before: bytes | None) -> bool:
        return before is None or self.checkpoints.keep(before) is not None

    # showing

    def content(self, content_hash: str | None) -> bytes | None:
        return self.checkpoints.get(content_hash)

    def difference(self, conflict: Conflict) -> FileChange | None:
        """What somebody else changed in a file that can't be restored because of it."""
        if conflict.expected is None:
            return None
        present, data = self._look(conflict.path)
        expected = self.content(conflict.expected.hash)
        if present.hash == UNKNOWN or (expected is None and conflict.expected.hash is not None):
            return None
        return file_change(conflict.path, expected, data, facts=mode_facts(conflict.expected, present))

    @property
    def has_changes(self) -> bool:
        """Is a file not as the session found it?"""
        return any(trail.is_changed for trail in self.ledger.files.values())

    def told(self) -> list[str]:
        """A line for each file that is changed now, for a summary of the conversation."""
        return [self._told(trail) for trail in self.ledger.files.values() if trail.is_changed]

    def _told(self, trail: Trail) -> str:
        if trail.now.hash is None:
            return f"{shown(trail.path)}: deleted"
        before, after = self.content(trail.start.hash), self.content(trail.now.hash)
        counts = ""
        if after is not None and (before is not None or trail.start.hash is None):
            change = file_change(trail.path, before, after)
            counts = f" (+{change.added} −{change.removed})" if change.diff else ""
        return f"{shown(trail.path)}: {'new' if trail.start.hash is None else 'modified'}{counts}"

    def untold(self) -> str:
        """What the model has to be told with the next prompt: which of its changes were taken back."""
        lines = [
            f"- {shown(path)} {_what_became(was, now)}"
            for path, was in self._untold.items()
            if not (now := self.ledger.files[path].now).is_like(was)
        ]
        if not lines:
            return ""
        return "\n".join(
            [
                "The user took changes back. These files are not as you left them; read them again before "
                "you change them:",
                *lines,
            ]
        )

    def export(self) -> Export:
        """All that the session changed, as it stands now, as one patch."""
        parts: dict[str, bytes] = {}
        left_out: list[str] = []
        for path, trail in self.ledger.files.items():
            if not trail.is_changed:
                continue
            sides = []
            for state in (trail.start, trail.now):
                data = self.content(state.hash)
                if data is None and state.hash is not None:
                    left_out.append(path)
                    break
                sides.append(Side(data, state.mode))
            else:
                if part := file_patch(path, *sides):
                    parts[path] = part
        return Export(parts, tuple(left_out))

    def save(self, export: Export) -> Path:
        """Write the patch beside the session, for its owner alone, in the place of an earlier one."""
        place = self._place / "changes.patch"
        paths.replace_private(place, export.patch)
        return place

    # undoing

    def plan(self, target: Target) -> Plan | Refusal:
        """What undoing `target` would do now, or why it must not."""
        return plan(target, self.ledger, lambda path: self._look(path)[0], self.content)

    def latest(self) -> Target | None:
        """What `/undo` without a word takes back: the latest turn of which something is left."""
        turn = self.ledger.last_turn
        return None if turn is None else OfTurn(turn)

    def carry_out(self, plan: Plan) -> list[FileChanged]:
        """Do all of it, or nothing: `UndoError` says what came between. The events are for the host."""
        contents: dict[str, bytes | None] = {}
        for restore in plan.restores:
            present, contents[restore.path] = self._look(restore.path)
            if present != restore.present:
                raise UndoError(f"{shown(restore.path)} changed meanwhile. Nothing was undone; try again.")
        done: list[Restore] = []
        try:
            for restore in plan.restores:
                done.append(restore)
                self._put(restore.path, restore.present, restore.wanted, restore.data)
            folders = {restore.path: self._folders(restore) for restore in plan.restores}
        except (ToolError, OSError) as error:
            raise UndoError(f"{error} {self._go_back(done, contents)}") from None
        identity = self.ledger.next_undo
        return [
            FileChanged(
                path=restore.path,
                before=restore.present.hash,
                after=restore.wanted.hash,
                call_id=identity,
                before_mode=restore.present.mode,
                after_mode=restore.wanted.mode,
                folders=folders[restore.path],
            )
            for restore in plan.restores
        ]

    def _folders(self, done: Restore) -> tuple[str, ...]:
        """The folders that were made for a file that came back, or went with one that was deleted."""
        if done.wanted.hash is not None:
            return self._workspace.made.pop(done.path, ())
        gone: list[str] = []
        folder = done.path
        while (folder := folder.rpartition("/")[0]) in self.ledger.folders:
            with suppress(ToolError):
                if self._workspace.remove_folder(folder):
                    gone.insert(0, folder)
                    continue
            break
        return tuple(gone)

    def _go_back(self, done: Sequence[Restore], contents: dict[str, bytes | None]) -> str:
        failed: list[str] = []
        for restore in reversed(done):
            present = self._look(restore.path)[0]
            if present == restore.present:
                continue
            try:
                self._put(restore.path, present, restore.present, contents[restore.path])
            except (ToolError, OSError):
                failed.append(shown(restore.path))
        if failed:
            return f"Undone all the same, look at them: {', '.join(failed)}."
        return "Nothing was undone."

    def _put(self, path: str, present: State, wanted: State, data: bytes | None) -> None:
        workspace = self._workspace
        if present.hash is None:
            assert data is not None
            workspace.write(path, data, base=None, mode=wanted.mode)
            return
        base = present.hash
        if data is None or wanted.hash != present.hash:
            if present.mode is not None and not present.mode & 0o200:
                workspace.set_mode(path, present.mode | 0o200, base=base)  # a person asked for this one
            if data is None:
                workspace.delete(path, base=base)
                return
            workspace.write(path, data, base=base)
        if wanted.mode is not None and self._look(path)[0].mode != wanted.mode:
            workspace.set_mode(path, wanted.mode, base=wanted.hash or base)

    def _look(self, path: str) -> tuple[State, bytes | None]:
        """A file as it is now. What can't be read, or is no plain file any more, has unknown content."""
        with suppress(ToolError, OSError):
            try:
                with self._workspace.open_read(path) as opened:
                    mode = opened.stat.st_mode & 0o7777
                    if opened.path == path and opened.stat.st_size <= 64_000_000:
                        with open(opened.fd, "rb", closefd=False) as file:
                            data = file.read()
                        return State(digest(data), mode), data
            except Missing:
                return State(None), None
        return State(UNKNOWN), None


def mode_facts(before: State, after: State) -> tuple[str, ...]:
    """The change of mode in words for a header, if there is one."""
    if before.mode is None or after.mode is None or before.mode == after.mode:
        return ()
    return (f"mode {before.mode:04o} → {after.mode:04o}",)


def _what_became(was: State, now: State) -> str:
    if now.hash is None:
        return "does not exist any more"
    if was.hash is None:
        return "is there again"
    return f"has the mode {now.mode or 0:04o} again" if was.hash == now.hash else "was changed back"
