"""A program that was killed between a write and the word of it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tui_agent.credentials import Credentials
from tui_agent.runtime import Runtime
from tui_agent.settings import Settings
from tui_agent.undo.plan import OfTurn, Plan

KILLED = """
import asyncio, os, sys
from pathlib import Path
from tui_agent import runtime
from tui_agent.credentials import Credentials
from tui_agent.settings import Settings
from tui_agent.agent import AssistantMessage, MessageDone, ToolCall

class Model:
    name = "m"
    async def stream(self, request):
        call = ToolCall(id="w1", name="edit_file", arguments={"path": "a.txt", "old": "one", "new": "two"})
        yield MessageDone(message=AssistantMessage(content=(call,), stop_reason="tool_use"))

async def main():
    runtime.model_for = lambda *args, **options: Model()
    key = Credentials("sk-x-0123456789")
    r = await runtime.Runtime.open(Settings(Path(sys.argv[1]), mode="accept-edits", credentials=key))
    real = r.session.append
    def append(event):
        if event.type == "tool_call_finished":
            os.kill(os.getpid(), 9)
        real(event)
    r.session.append = append
    await r.prompt("go")

asyncio.run(main())
"""


@pytest.mark.parametrize("edited_since", [False, True])
async def test_it_is_told_when_the_session_is_continued(tmp_path: Path, edited_since: bool) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "a.txt").chmod(0o600)
    run = await _killed(tmp_path)
    assert run == -9
    assert (tmp_path / "a.txt").read_text() == "two\n"
    if edited_since:
        (tmp_path / "a.txt").write_text("mine\n")
    key = Credentials("sk-x-0123456789")
    runtime = await Runtime.open(Settings(tmp_path, resume="last", credentials=key))
    changed = [event for event in runtime.replay() if event.type == "file_changed"]
    planned = runtime.changes.plan(OfTurn(1))
    if edited_since:
        assert changed == []
    else:
        assert [event.call_id for event in changed] == ["w1"]
        assert isinstance(planned, Plan)
        await runtime.undo(planned)
        assert (tmp_path / "a.txt").read_text() == "one\n"
    await runtime.close()
    again = await Runtime.open(Settings(tmp_path, resume="last", credentials=key))
    assert len([e for e in again.replay() if e.type == "file_changed"]) == (0 if edited_since else 2)
    await again.close()


async def _killed(folder: Path) -> int:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KILLED, str(folder), env={**os.environ}, stderr=subprocess.PIPE
    )
    _, err = await process.communicate()
    assert process.returncode is not None, err
    return process.returncode
