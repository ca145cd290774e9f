"""The review with the real tools on real files, and in a real terminal with a real editor."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pexpect
import pytest
from app_host import armed
from asked import Host, lines
from grid import grid
from textual.pilot import Pilot

from tui_agent.agent import AgentTool, CancelSignal, Pending, ToolCall, ToolResultMessage, execute_tool_calls
from tui_agent.agent.gate import Answer
from tui_agent.permissions.broker import Question
from tui_agent.tools import Workspace, coding_tools
from tui_agent.ui.screens.approval import ask


class Asking:
    """A gate that asks on the screen of `app`."""

    def __init__(self, app: Host) -> None:
        self._app = app

    async def decide(self, batch: list[Pending], signal: CancelSignal) -> list[Answer]:
        questions = [Question(pending) for pending in batch]
        return list(await ask(self._app, questions, signal, on_grant=self._app.grant))


def call(call_id: str, path: str, content: bytes) -> ToolCall:
    return ToolCall(id=call_id, name="write_file", arguments={"path": path, "content": content.decode()})


@pytest.fixture
def tools(tmp_path: Path) -> list[AgentTool]:
    return coding_tools(Workspace(tmp_path))


def run(app: Host, tools: list[AgentTool], *calls: ToolCall) -> asyncio.Task[list[ToolResultMessage]]:
    return asyncio.create_task(execute_tool_calls(calls, tools, signal=app.signal, gate=Asking(app)))


async def on_screen(app: Host, pilot: Pilot[Any], text: str) -> None:
    for _ in range(300):
        await asyncio.sleep(0.01)
        if text in grid(app):
            await armed(pilot)
            return
    raise AssertionError(f"{text!r} did not come:\n{grid(app)}")


async def test_what_is_in_is_what_is_on_disk(tmp_path: Path, tools: list[AgentTool]) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(lines(60))
    app = Host()
    async with app.run_test(size=(80, 50)) as pilot:
        running = run(app, tools, call("1", "a.txt", lines(60, line_9="nine", line_50="fifty")))
        await on_screen(app, pilot, "2 hunks")
        await pilot.press("space")
        await armed(pilot)
        await pilot.press("y")
        (result,) = await running
        assert file.read_bytes() == lines(60, line_50="fifty")
        assert not result.is_error
        assert "applied 1 of 2 hunks; not applied: hunk @@ -6,7 +6,7 @@" in result.text
        assert "+fifty" in result.text
        assert "+nine" not in result.text


async def test_a_set_of_changes_lands_file_by_file(tmp_path: Path, tools: list[AgentTool]) -> None:
    app = Host()
    async with app.run_test(size=(80, 50)) as pilot:
        running = run(app, tools, call("1", "a", b"a\n"), call("2", "b", b"b\n"), call("3", "c", b"c\n"))
        await on_screen(app, pilot, "file 1 of 3")
        await pilot.press("y")
        await on_screen(app, pilot, "file 2 of 3")
        await pilot.press("r", *"not b", "enter")
        await on_screen(app, pilot, "file 3 of 3")
        await pilot.press("y")
        one, two, three = await running
        assert sorted(os.listdir(tmp_path)) == ["a", "c"]
        assert [one.is_error, two.is_error, three.is_error] == [False, True, False]
        assert "not b" in two.text


async def test_a_file_that_changed_meanwhile_is_not_overwritten_unseen(
    tmp_path: Path, tools: list[AgentTool]
) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"one\n")
    app = Host()
    async with app.run_test(size=(80, 50)) as pilot:
        running = run(app, tools, call("1", "a.txt", b"two\n"))
        await on_screen(app, pilot, "+ two")
        file.write_bytes(b"mine\n")
        await pilot.press("y")
        await on_screen(app, pilot, "- mine")
        assert file.read_bytes() == b"mine\n"
        await pilot.press("n")
        (result,) = await running
        assert result.is_error
        assert file.read_bytes() == b"mine\n"


async def test_a_file_that_changes_under_review_is_shown_anew(
    tmp_path: Path, tools: list[AgentTool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui_agent.ui.screens.review.RECHECK", 0.05)
    file = tmp_path / "a.txt"
    file.write_bytes(lines(9))
    app = Host()
    async with app.run_test(size=(80, 50)) as pilot:
        running = run(app, tools, call("1", "a.txt", lines(9, line_2="two")))
        await on_screen(app, pilot, "+ two")
        file.write_bytes(lines(9, line_8="mine"))
        await on_screen(app, pilot, "the file changed on disk")
        assert "- mine" in grid(app)
        await armed(pilot)
        await pilot.press("n")
        (result,) = await running
        assert result.is_error
        assert file.read_bytes() == lines(9, line_8="mine")


PROGRAM = """
import asyncio, sys
sys.path.insert(0, {tests!r})
from asked import Host, change_question

class Program(Host):
    def on_ready(self):
        self.run_worker(self.go())

    async def go(self):
        await self._ask([change_question("a.txt", b"one\\n", b"two\\n")])
        self.exit()

app = Program()
app.run()
print("WRITTEN", app.answers[0].proposal.details.after)
"""


def test_an_editor_in_a_real_terminal(tmp_path: Path) -> None:
    """The program gets out of the way, comes back whole, and shows what was saved."""
    editor = tmp_path / "editor"
    editor.write_text(
        '#!/bin/sh\ntest -t 0 && test -t 1 && stty -a | grep -q " icanon" && echo three >"$1"\necho EDITING\n'
    )
    editor.chmod(0o755)
    program = PROGRAM.format(tests=str(Path(__file__).parent))
    environ = os.environ | {"EDITOR": str(editor), "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"}
    environ.pop("VISUAL", None)
    child = pexpect.spawn(sys.executable, ["-c", program], env=environ, dimensions=(24, 80), timeout=20)
    try:
        child.expect("Approve")
        child.expect(pexpect.TIMEOUT, timeout=1.0)  # half a second on the screen
        child.send("e")
        child.expect("EDITING")
        child.expect("edited by you")
        child.expect(pexpect.TIMEOUT, timeout=1.0)
        child.send("y")
        child.expect(r"WRITTEN b'three\\n'")
        child.expect(pexpect.EOF)
        assert b"\x1b[?1049l" in child.before or child.wait() == 0
    finally:
        child.close(force=True)
