"""An app that asks, and real proposals to ask about."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from app_host import armed, until
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import TextArea

from tui_agent.agent import AgentTool, Allow, CancelSignal, Deny, Pending, Proposal, ToolCall
from tui_agent.permissions.broker import Question
from tui_agent.tools.changes import file_change
from tui_agent.tools.details import Command, FileChange
from tui_agent.ui import arming
from tui_agent.ui.screens.answering import AnswerScreen
from tui_agent.ui.screens.approval import ask, prepared_again


class Quiet:
    """Rules how long an answer needs quiet before it, whatever the machine does meanwhile."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def never(self) -> None:
        """No answer counts from here on."""
        self._monkeypatch.setattr(arming, "QUIET", 3600.0)

    async def enough(self, pilot: Pilot[Any]) -> None:
        """It has been quiet for long enough."""
        self._monkeypatch.setattr(arming, "QUIET", 0.0)
        screen = pilot.app.screen
        if isinstance(screen, AnswerScreen):
            screen.refresh_buttons()
        await armed(pilot)


async def never(_signal: CancelSignal) -> str:
    raise AssertionError("the screen must not run anything")


def tool(name: str, kind: Any) -> AgentTool:
    return AgentTool(name, "", {"type": "object"}, execute=lambda *_: "", kind=kind)


def change_question(
    path: str,
    before: bytes | None,
    after: bytes,
    *,
    call_id: str = "1",
    facts: tuple[str, ...] = (),
    **fields: Any,
) -> Question:
    def amend(details: Any) -> Proposal:
        assert isinstance(details, FileChange)
        return replace(proposal, details=details)

    change = file_change(path, before, after, facts=facts)
    proposal = Proposal(f"Write {path}", "write", (path,), change, never, amend)
    call = ToolCall(id=call_id, name="write_file", arguments={"path": path})
    return Question(Pending(call, tool("write_file", "write"), proposal), **fields)


def command_question(command: str, *, folder: str = "/home/me/shop", **fields: Any) -> Question:
    def amend(details: Any) -> Proposal:
        assert isinstance(details, Command)
        return replace(proposal, details=details, targets=(details.command,))

    details = Command(command=command, folder=folder, timeout=120)
    proposal = Proposal(f"Run {command}", "execute", (command,), details, never, amend)
    call = ToolCall(id="1", name="run_command", arguments=json.loads(json.dumps({"command": command})))
    return Question(Pending(call, tool("run_command", "execute"), proposal), **fields)


class Host(App[None]):
    """A prompt under the questions."""

    def __init__(self) -> None:
        super().__init__()
        self.signal = CancelSignal()
        self.returned = ""
        self.grants: list[tuple[str, str]] = []
        self.answers: Sequence[Allow | Deny] | None = None
        self.asking: asyncio.Task[None] | None = None
        self.stale: Any = prepared_again

    def compose(self) -> ComposeResult:
        yield TextArea()

    def give_back(self, text: str) -> None:
        self.returned += text

    def grant(self, rule: str, scope: Any) -> Callable[[Question], bool]:
        if not rule.strip():
            raise ValueError("An empty rule covers nothing.")
        self.grants.append((rule, scope))
        return lambda question: question.offer == rule

    async def _ask(self, questions: Sequence[Question]) -> None:
        self.answers = await ask(
            self, questions, self.signal, on_grant=self.grant, give_back=self.give_back, stale=self.stale
        )

    async def put(self, pilot: Pilot[None], *questions: Question, wait: bool = True) -> None:
        """Ask, and wait until the questions are on screen (and answers count)."""
        below = self.screen
        self.asking = asyncio.create_task(self._ask(questions))
        # Left to the collector of garbage, its traceback (3.11) breaks whatever is parsed just then.
        self.asking.add_done_callback(lambda task: task.cancelled() or task.exception())
        await until(pilot, lambda: self.screen is not below)
        await pilot.pause()
        if wait:
            await armed(pilot)

    async def answered(self) -> list[Allow | Deny]:
        assert self.asking is not None
        await asyncio.wait_for(self.asking, 5)
        assert self.answers is not None
        return list(self.answers)


def lines(count: int, **changed: str) -> bytes:
    """`line 1` … with some replaced, as `lines(9, line_3="three")`."""
    return b"".join(f"{changed.get(f'line_{n}', f'line {n}')}\n".encode() for n in range(1, count + 1))
