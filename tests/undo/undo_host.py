"""A folder with what changes it (the session's writer, commands, the person), and what takes it back."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tui_agent.agent import FileChanged, TextContent, ToolCall, ToolCallFinished, ToolResultMessage
from tui_agent.agent.events import ToolCallStarted, TurnStarted
from tui_agent.tools import Workspace
from tui_agent.tools.changes import file_change
from tui_agent.tools.details import digest
from tui_agent.undo.changes import Changes
from tui_agent.undo.plan import Plan, Refusal, Target


class Host:
    """`reopen` is what a crash and a resume leave: the events and the session's folder."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.root.mkdir()
        self.place = folder / "session"
        self.place.mkdir()
        self.told: list[str] = []
        self.events: list[object] = []
        self.calls = 0
        self.workspace = Workspace(self.root)
        self.changes = Changes(self.workspace, self.place, self.told.append)

    def reopen(self) -> None:
        self.workspace.close()
        self.workspace = Workspace(self.root)
        self.changes = Changes(self.workspace, self.place, self.told.append)
        for event in self.events:
            self.changes.apply(event)  # type: ignore[arg-type]

    def emit(self, event: object) -> None:
        self.events.append(event)
        self.changes.apply(event)  # type: ignore[arg-type]

    def turn(self) -> None:
        self.emit(TurnStarted(prompt=(TextContent(text="go"),)))

    def _started(self, name: str, kind: str) -> str:
        self.calls += 1
        call = ToolCall(id=f"call-{self.calls}", name=name, arguments={})
        self.emit(ToolCallStarted(call=call, kind=kind, title=name))  # type: ignore[arg-type]
        return call.id

    def _finished(self, call_id: str, name: str, details: object = None) -> list[FileChanged]:
        result = ToolResultMessage(
            tool_call_id=call_id,
            tool_name=name,
            content=(TextContent(text="done"),),
            details=details,  # type: ignore[arg-type]
        )
        changed = self.changes.after_call(ToolCallFinished(result=result, seconds=0.1))
        for event in changed:
            self.emit(event)
        return changed

    def write(self, path: str, after: bytes) -> str:
        """As the file tools do it."""
        before = self.get(path)
        call_id = self._started("write_file", "write")
        self.workspace.write(path, after, base=digest(before))
        self._finished(call_id, "write_file", file_change(path, before, after))
        return call_id

    def command(self, command: str) -> list[FileChanged]:
        call_id = self._started("run_command", "execute")
        before = self.changes._watch.before()
        subprocess.run(["bash", "-c", command], cwd=self.root, check=True)
        self.changes._by_commands[call_id] = self.changes._watch.after(before)
        return self._finished(call_id, "run_command")

    def undo(self, target: Target) -> Plan | Refusal:
        planned = self.changes.plan(target)
        if isinstance(planned, Plan):
            for event in self.changes.carry_out(planned):
                self.emit(event)
        return planned

    def put(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """As the person does it."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        place.chmod(mode)

    def get(self, path: str) -> bytes | None:
        try:
            return (self.root / path).read_bytes()
        except FileNotFoundError:
            return None

    def tree(self) -> dict[str, tuple[bytes, int]]:
        return {
            str(p.relative_to(self.root)): (p.read_bytes(), p.stat().st_mode & 0o7777)
            for p in sorted(self.root.rglob("*"))
            if p.is_file() and ".git" not in p.parts
        }


def umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
