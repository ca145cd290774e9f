from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from tui_agent.agent import AgentEvent, CancelSignal
from tui_agent.tools import Workspace
from tui_agent.tools.jobs import Jobs
from tui_agent.tools.own_command import run_own_command
from tui_agent.tools.run_command import Surroundings


class Log:
    def __init__(self) -> None:
        self.shown: list[AgentEvent] = []
        self.kept: list[AgentEvent] = []
        self.told = asyncio.Event()

    async def show(self, event: AgentEvent) -> None:
        self.shown.append(event)
        if event.type == "tool_progress":
            self.told.set()

    async def run(self, folder: Path, command: str, signal: CancelSignal | None = None) -> str:
        def wrap(argv: list[str]) -> list[str]:
            raise AssertionError("the sandbox is for the model's commands")

        with Workspace(folder) as workspace:
            around = Surroundings(workspace, Jobs(), wrap=wrap)
            return await run_own_command(
                around, command, signal or CancelSignal(), "own-1", self.show, self.kept.append
            )

    @property
    def finished(self) -> Any:
        return self.shown[-1]


async def test_its_note_has_command_output_and_end(tmp_path: Path) -> None:
    log = Log()
    note = await log.run(tmp_path, "echo out; echo err >&2; pwd; exit 3")
    assert note.split("\n") == [
        "[the user ran a command themselves, in the working folder]",
        "$ echo out; echo err >&2; pwd; exit 3",
        "out",
        "err",
        str(tmp_path),
        "[exit 3]",
    ]
    assert [event.type for event in log.kept] == ["tool_call_started", "tool_call_finished"]
    assert log.finished.result.is_error
    assert log.finished.result.details.exit_code == 3


async def test_it_is_shown_while_it_runs_and_ends_with_all_it_started(tmp_path: Path) -> None:
    log, signal = Log(), CancelSignal()
    task = asyncio.create_task(log.run(tmp_path, "sleep 1000 & echo $!; wait", signal))
    await asyncio.wait_for(log.told.wait(), 20)
    assert log.kept == []
    signal.cancel()
    note = await asyncio.wait_for(task, 20)
    assert note.endswith("[stopped]")
    assert log.finished.result.details.ended == "stopped"
    child = int(note.split("\n")[2])
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


@pytest.mark.parametrize("command", ["echo a\0b", "echo \ud800", "x" * 200_000])
async def test_what_can_not_run_says_so(tmp_path: Path, command: str) -> None:
    log = Log()
    note = await log.run(tmp_path, command)
    assert "nothing ran" in note
    assert log.finished.result.is_error


async def test_long_output_is_capped(tmp_path: Path) -> None:
    note = await Log().run(tmp_path, "seq 1 100000")
    assert len(note) < 60_000
    assert "bytes left out here" in note
    assert note.endswith("100000\n[exit 0]")
