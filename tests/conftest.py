"""What every test gets: a home of its own, no keys from outside, and a Messages API on loopback."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from server.messages_api import MessagesAPI


@pytest.fixture(autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing of the person's machine gets in (keys, settings), and nothing stays behind in its home."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "XDG_", "TUI_AGENT_", "TMUX")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    return home


StartAPI = Callable[..., Awaitable[MessagesAPI]]


@pytest.fixture
async def messages_api() -> AsyncIterator[StartAPI]:
    """`api = await messages_api(reply(...), "text", error(529), strict=False)`; ended with the test."""
    async with AsyncExitStack() as stack:

        async def start(*script: Any, **options: Any) -> MessagesAPI:
            items = script[0] if len(script) == 1 and callable(script[0]) else script
            return await stack.enter_async_context(MessagesAPI(items, **options))

        yield start
