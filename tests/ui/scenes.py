"""The screens of the program, each brought about in the real app: for goldens and for their contrast."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from app_host import Host, armed, until
from asked import change_question, command_question
from textual.pilot import Pilot

from tui_agent.agent import (
    AgentEvent,
    ApprovalDecided,
    AssistantMessage,
    AssistantMessageDone,
    CancelSignal,
    FileChanged,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolCallFinished,
    ToolCallStarted,
    ToolResultMessage,
    TurnEnded,
    TurnStarted,
    Usage,
    UsageUpdated,
)
from tui_agent.permissions.broker import Question
from tui_agent.tools.changes import file_change


def call(
    id: str, name: str, text: str, *, seconds: float = 0.02, error: bool = False, **arguments: Any
) -> list[AgentEvent]:
    details = arguments.pop("details", None)
    result = ToolResultMessage(
        tool_call_id=id, tool_name=name, content=(TextContent(text=text),), is_error=error, details=details
    )
    return [
        ToolCallStarted(call=ToolCall(id=id, name=name, arguments=arguments)),
        ApprovalDecided(call_id=id, decision="allow", by="user" if details or error else "mode"),
        ToolCallFinished(result=result, seconds=seconds),
    ]


def answer(text: str, thinking: str = "") -> AssistantMessageDone:
    thoughts = (ThinkingContent(thinking=thinking, signature="x"),) if thinking else ()
    content = (*thoughts, TextContent(text=text))
    return AssistantMessageDone(message=AssistantMessage(content=content, stop_reason="end_turn"))


USAGE = Usage(input_tokens=12_000, output_tokens=410)
BEFORE = b"def total(cart):\n    goods = subtotal(cart)\n    return goods + delivery(goods)\n"
AFTER = (
    b"def total(cart):\n    if not cart.lines:\n        return 0\n    goods = subtotal(cart)\n"
    b"    return goods + delivery(goods)\n"
)
CHANGE = file_change("shop/order.py", BEFORE, AFTER)
SESSION: list[AgentEvent] = [
    TurnStarted(prompt=(TextContent(text="Why does an empty cart cost 4.90? Fix it."),)),
    answer("I'll read the code first."),
    *call("1", "list_files", "shop/\n  cart.py\n  order.py", path="."),
    *call("2", "read_file", "1 def total(cart): …", path="shop/order.py"),
    answer("`total` adds delivery to every cart:\n\n- an empty one **included**\n- free from 50.00 on"),
    *call("3", "edit_file", "edited", seconds=0.5, path="shop/order.py", details=CHANGE),
    FileChanged(path=CHANGE.path, before=CHANGE.before_hash, after=CHANGE.after_hash, call_id="3"),
    *call(
        "4",
        "run_command",
        "FAILED (failures=1)\n[exit 1]",
        seconds=1.25,
        error=True,
        command="python3 -m unittest",
    ),
    UsageUpdated(usage=USAGE, turn=USAGE, step=4),
    answer("Done.\n\n| what | state |\n|---|---|\n| empty cart | fixed |\n\n```python\nreturn 0\n```"),
    TurnEnded(stop_reason="end_turn"),
]
COLOURFUL: list[AgentEvent] = [
    *SESSION[:-2],
    answer(
        "# One\n\n## Two\n\n> a quotation with `code`, *emphasis* and ~~no~~\n\n1. first\n2. second\n\n---\n"
        "\n"
        "A [link](https://example.org) and a table:\n\n| what | state |\n|---|---|\n| empty | fixed |\n\n"
        '```python\n@cache\nclass Cart:  # what is bought\n    """Lines."""\n    total: int = 490\n'
        '    def name(self): return f"{self!r}" or None\n```\n\n```diff\n- old\n+ new\n```',
        "First look, then act.",
    ),
    TurnEnded(stop_reason="error", error="The server is overloaded.", hint="Try again later."),
]

Scene = Callable[["Pilot[Any]", Host, Path], Awaitable[None]]


async def _settled(pilot: Pilot[Any], app: Host) -> None:
    for _ in range(3):
        for worker in list(app.workers):
            if worker.group in ("diff", "highlight"):
                await worker.wait()
        await pilot.pause()


def press(*keys: str) -> Scene:
    """What comes of these keys."""

    async def scene(pilot: Pilot[Any], app: Host, folder: Path) -> None:
        await pilot.press(*keys)

    return scene


def question(*made: Callable[[], Question], then: tuple[str, ...] = (), last: tuple[str, ...] = ()) -> Scene:
    async def scene(pilot: Pilot[Any], app: Host, folder: Path) -> None:
        from tui_agent.ui.screens.approval import ask

        questions = [make() for make in made]
        asking = ask(app, questions, CancelSignal(), on_grant=lambda rule, scope: lambda q: False)
        app.asking = asyncio.create_task(asking)  # type: ignore[attr-defined]
        await until(pilot, lambda: app.screen is not app.main)
        await armed(pilot)
        await pilot.press("end", "home", *then, *last)

    return scene


async def running(pilot: Pilot[Any], app: Host, folder: Path) -> None:
    await pilot.press(*"go", "enter")
    await until(pilot, lambda: app.model.requests)
    app.model.say("A paragraph that is closed.\n\nAnd one that is **still", done=False)
    await until(pilot, lambda: "still" in app.text)
    await pilot.press(*"and then", "enter")
    await pilot.pause(0.1)


async def trust(pilot: Pilot[Any], app: Host, folder: Path) -> None:
    from tui_agent.permissions.trust import project_files
    from tui_agent.ui.screens.trust import TrustScreen

    place = folder / "shop"
    place.mkdir()
    (place / "AGENTS.md").write_text("# House rules\n\nRun the tests with `make test`.\n")
    app.push_screen(TrustScreen(Path("/home/me/shop"), project_files(place), lambda text: None))


async def confirm(pilot: Pilot[Any], app: Host, folder: Path) -> None:
    from tui_agent.ui.screens.confirm import ConfirmScreen

    app.push_screen(
        ConfirmScreen("Quit?", "A run is on. Quitting cancels it.", "cancel the run and quit", "go on")
    )


def _change() -> Question:
    return change_question("shop/order.py", BEFORE, AFTER, reasons=("a change in ask mode",))


def _other() -> Question:
    return change_question("tests/test_order.py", b"a = 1 \nb = 2", b"a = 1\nb = 3\n", call_id="2")


def _command() -> Question:
    return command_question(
        "rm -rf build && make test | tee log",
        reasons=("rm -rf build: no rule covers it",),
        commands=("rm -rf build", "make test", "tee log"),
        touches=("build/a.o", "build/b.o"),
        offer="run_command(make test *)",
    )


SCENES: dict[str, Scene] = {
    "conversation": press(),
    "thoughts": press("f2", "e", "J", "J"),
    "search": press("f2", "slash", *"cart", "enter"),
    "running": running,
    "tool_log": press("f3", "home", "enter"),
    "filter": press("f3", "slash", *"read"),
    "changes": press("f4"),
    "help": press("f1"),
    "keys": press(*"/keys", "enter"),
    "commands": press("/"),
    "palette": press("ctrl+p"),
    "themes": press(*"/theme", "enter"),
    "review": question(_change),
    "review_set": question(_change, _other, then=("v",)),
    "review_reason": question(_change, then=("]", "space"), last=("r", *"use Decimal")),
    "command": question(_command),
    "command_rule": question(_command, last=("a",)),
    "trust": trust,
    "confirm": confirm,
}


@asynccontextmanager
async def show(
    name: str, folder: Path, *, size: tuple[int, int], stored: list[AgentEvent] | None = None, **settings: Any
) -> AsyncIterator[Host]:
    """The app with this scene on its screen, over a mixed session."""
    place = Path(folder)
    app = Host(stored=stored or COLOURFUL, resume="last", folder=place, **settings)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.main.changes.count == 1 and app.main.tool_log.list.row_count > 3)
        await _settled(pilot, app)
        await SCENES[name](pilot, app, place)
        await _settled(pilot, app)
        yield app
        if app.turns.run is not None:
            app.turns.cancel()
            await until(pilot, lambda: app.turns.run is None)
