"""Changes that a crash kept from being told: the file was written, the event of it was not.

A call that was allowed, has no end of its own and no `FileChanged`, and whose file is now exactly what it
proposed, has written it. Nothing else is guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tui_agent.agent import AgentEvent, FileChanged, ToolError
from tui_agent.session.checkpoints import Checkpoints
from tui_agent.tools.details import FileChange, digest, revive
from tui_agent.tools.workspace import Workspace


def lost_changes(events: Sequence[AgentEvent], folder: Path, place: Path) -> list[FileChanged]:
    """The events that are missing in a session of `folder`, which has its own folder `place`."""
    proposed: dict[str, FileChange] = {}
    allowed: set[str] = set()
    for event in events:
        if event.type == "tool_call_started" and event.kind == "write":
            if isinstance(details := revive(event.details), FileChange):
                proposed[event.call.id] = details
        elif event.type == "approval_decided" and event.decision == "allow":
            allowed.add(event.call_id)
        elif event.type == "file_changed":
            proposed.pop(event.call_id or "", None)
        elif event.type == "tool_call_finished" and not event.result.is_error:
            proposed.pop(event.result.tool_call_id, None)
    open_ones = {call_id: change for call_id, change in proposed.items() if call_id in allowed}
    if not open_ones:
        return []
    with Workspace(folder) as workspace:
        return list(_written(open_ones, workspace, Checkpoints(place)))


def _written(
    changes: dict[str, FileChange], workspace: Workspace, checkpoints: Checkpoints
) -> Iterator[FileChanged]:
    for call_id, change in changes.items():
        if change.before_hash is not None and checkpoints.get(change.before_hash) is None:
            continue  # it is kept before anything is written
        try:
            with workspace.open_read(change.path) as opened, open(opened.fd, "rb", closefd=False) as file:
                data, mode = file.read(), opened.stat.st_mode & 0o7777
        except (ToolError, OSError):
            continue
        if digest(data) != change.after_hash or change.after_hash == change.before_hash:
            continue
        checkpoints.keep(data)
        yield FileChanged(
            path=change.path,
            before=change.before_hash,
            after=change.after_hash,
            call_id=call_id,
            before_mode=None if change.before_hash is None else mode,
            after_mode=mode,
        )
