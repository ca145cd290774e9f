"""The screens of the program, each brought about in the real app: for goldens and for their contrast."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import scene_dialogs
import scene_questions
from app_host import Host, until
from scene_session import COLOURFUL
from textual.pilot import Pilot

from tui_agent.agent import AgentEvent

Scene = Callable[["Pilot[Any]", Host, Path], Awaitable[None]]


def press(*keys: str) -> Scene:
    """What comes of these keys."""

    async def scene(pilot: Pilot[Any], app: Host, folder: Path) -> None:
        await pilot.press(*keys)

    return scene


async def running(pilot: Pilot[Any], app: Host, folder: Path) -> None:
    await pilot.press(*"go", "enter")
    await until(pilot, lambda: app.model.requests)
    app.model.say("A paragraph that is closed.\n\nAnd one that is **still", done=False)
    await until(pilot, lambda: "still" in app.text)
    await pilot.press(*"and then", "enter")
    await until(pilot, lambda: app.main.composer.queue.display)
    status = app.main.status_line.status
    status.began = status.heard = time.monotonic() + 3600  # no seconds are told


async def queue(pilot: Pilot[Any], app: Host, folder: Path) -> None:
    await running(pilot, app, folder)
    await pilot.press(*"and at last", "enter", "f5")


async def mention(pilot: Pilot[Any], app: Host, folder: Path) -> None:
    for path in ("cart.py", "order.py", "orders/\x1b[31mred.py", f"{'deep/' * 20}order.py"):
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    await pilot.press(*"Look at @ord")
    await until(pilot, lambda: "orders/" in app.text)


async def palette_words(pilot: Pilot[Any], app: Host, folder: Path) -> None:
    await pilot.press("ctrl+p", *"undo")
    await until(pilot, lambda: "/undo" in app.text and "/copy" not in app.text)
    await pilot.press("down")


SCENES: dict[str, Scene] = {
    "conversation": press(),
    "thoughts": press("f2", "e", "J", "J"),
    "search": press("f2", "slash", *"cart", "enter"),
    "running": running,
    "queue": queue,
    "mention": mention,
    "tool_log": press("f3", "home", "enter"),
    "filter": press("f3", "slash", *"read"),
    "changes": press("f4"),
    "help": press("f1"),
    "commands": press("/"),
    "palette": press("ctrl+p"),
    "palette_words": palette_words,
    **scene_questions.SCENES,
    **scene_dialogs.SCENES,
}


async def _settled(pilot: Pilot[Any], app: Host) -> None:
    for _ in range(3):
        for worker in list(app.workers):
            if worker.group in ("diff", "highlight"):
                await worker.wait()
        await pilot.pause()


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
