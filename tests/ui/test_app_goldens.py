"""The main screen as a contract: a mixed session at three sizes. `GOLDENS=write` writes them anew."""

from __future__ import annotations

import pytest
from app_host import Host, until
from grid import golden, grid
from scene_session import SESSION

SIZES = [(120, 40), (80, 24), (60, 20)]


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("pane", ["conversation", "tool_log", "changes"])
async def test_a_mixed_session(size: tuple[int, int], pane: str) -> None:
    async with Host(stored=SESSION, resume="last").run_test(size=size) as pilot:
        app = pilot.app
        app.main.prompt.cursor_blink = False
        await until(pilot, lambda: app.main.changes.count == 1 and app.main.tool_log.list.row_count > 3)
        if pane != "conversation":
            await pilot.press({"tool_log": "f3", "changes": "f4"}[pane])
        for worker in list(app.workers):
            if worker.group == "diff":
                await worker.wait()
        await pilot.pause(0.2)
        golden(f"main_{pane}_{size[0]}x{size[1]}", grid(app))
