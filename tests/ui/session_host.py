"""The app over the real runtime, real files and a Messages API on loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from app_host import until
from grid import grid
from server.messages_api import MessagesAPI
from textual.pilot import Pilot

from tui_agent.credentials import Credentials
from tui_agent.settings import Settings
from tui_agent.ui.app import TuiApp

KEY = "sk-test-0123456789"


class Desk:
    """A person at the keyboard."""

    def __init__(self, pilot: Pilot[Any]) -> None:
        self.pilot = pilot
        app = pilot.app
        assert isinstance(app, TuiApp)
        self.app = app

    @property
    def runtime(self) -> Any:
        return self.app.turns.runtime

    @property
    def text(self) -> str:
        return grid(self.app)

    async def sees(self, *words: str) -> None:
        await until(self.pilot, lambda: all(word in self.text for word in words))

    async def told(self, words: str) -> None:
        """Wait for a notification."""
        await until(self.pilot, lambda: any(words in n.message for n in self.app._notifications))

    async def opened(self) -> None:
        await until(self.pilot, lambda: self.runtime is not None)

    async def idle(self) -> None:
        await until(self.pilot, lambda: self.app.turns.run is None)

    async def say(self, text: str) -> None:
        """Send it, and wait for the end of the turn."""
        await self.enter(text)
        await until(self.pilot, lambda: self.app.turns.run is None and self.app.turns.runtime is not None)

    async def enter(self, text: str) -> None:
        """Type it into the prompt and send it."""
        self.app.main.prompt.focus()
        self.app.main.prompt.text = text
        await self.pilot.press("enter")
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def on(self, screen: str) -> None:
        """Wait for a screen by its class."""
        await until(self.pilot, lambda: type(self.app.screen).__name__ == screen)


@asynccontextmanager
async def desk(
    api: MessagesAPI, folder: Path, *, size: tuple[int, int] = (120, 40), **settings: Any
) -> AsyncIterator[Desk]:
    settings = {"mode": "accept-edits"} | settings
    app = TuiApp(Settings(folder, base_url=api.url, credentials=Credentials(KEY), **settings))
    async with app.run_test(size=size) as pilot:
        try:
            yield Desk(pilot)
        finally:
            await app.turns.close()
