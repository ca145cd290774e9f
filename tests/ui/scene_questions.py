"""The questions before something runs, as scenes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from app_host import Host, armed, until
from asked import change_question, command_question, never, tool
from scene_session import AFTER, BEFORE
from textual.pilot import Pilot

from tui_agent.agent import CancelSignal, Pending, Proposal, ToolCall
from tui_agent.permissions.broker import Question

Scene = Callable[["Pilot[Any]", Host, Path], Awaitable[None]]


def asked(*made: Callable[[], Question], then: tuple[str, ...] = (), last: tuple[str, ...] = ()) -> Scene:
    """These questions on the screen, seen to their end, and what comes of the keys."""

    async def scene(pilot: Pilot[Any], app: Host, folder: Path) -> None:
        from tui_agent.ui.screens.approval import ask

        questions = [make() for make in made]
        asking = ask(app, questions, CancelSignal(), on_grant=lambda rule, scope: lambda q: False)
        app.asking = asyncio.create_task(asking)  # type: ignore[attr-defined]
        await until(pilot, lambda: app.screen is not app.main)
        await armed(pilot)
        with patch.dict(os.environ):
            for name in ("VISUAL", "EDITOR"):
                os.environ.pop(name, None)
            await pilot.press("end", "home", *then, *last)

    return scene


def change() -> Question:
    return change_question(
        "shop/order.py", BEFORE, AFTER, reasons=("a change in ask mode",), offer="edit_file(shop/**)"
    )


def other_change() -> Question:
    return change_question("tests/test_order.py", b"a = 1 \nb = 2", b"a = 1\nb = 3\n", call_id="2")


def command() -> Question:
    return command_question(
        "rm -rf build && make test | tee log",
        reasons=("rm -rf build: no rule covers it",),
        commands=("rm -rf build", "make test", "tee log"),
        touches=("build/a.o", "build/b.o"),
        offer="run_command(make test *)",
    )


def outside() -> Question:
    path = "/home/me/notes/prices of the year 2026.md"
    proposal = Proposal(f"Read {path}", "read", (path,), None, never)
    return Question(
        Pending(
            ToolCall(id="1", name="read_file", arguments={"path": path}), tool("read_file", "read"), proposal
        ),
        reasons=("it lies outside the folder",),
    )


def foreign() -> Question:
    """A call of a tool that the program doesn't know."""
    arguments = {"title": "Delivery costs 4.90 for an empty cart", "labels": ["bug", "shop"], "draft": True}
    proposal = Proposal("create_issue", "execute", (), None, never)
    return Question(
        Pending(
            ToolCall(id="1", name="create_issue", arguments=arguments),
            tool("create_issue", "execute"),
            proposal,
        ),
        reasons=("a command or an unknown tool in ask mode",),
    )


SCENES: dict[str, Scene] = {
    "review": asked(change),
    "review_set": asked(change, other_change, then=("v",)),
    "review_reason": asked(change, then=("]", "space"), last=("r", *"use Decimal")),
    "review_comment": asked(change, then=("down", "down"), last=("c", *"why not before?")),
    "review_edit": asked(change, last=("e",)),
    "review_find": asked(change, last=("/", *"cart", "enter")),
    "review_keys": asked(change, other_change, last=("f1",)),
    "review_peek": asked(change, last=("f2",)),
    "command": asked(command),
    "command_rule": asked(command, last=("a",)),
    "command_edit": asked(command, last=("e",)),
    "read_outside": asked(outside),
    "foreign_call": asked(foreign),
}
