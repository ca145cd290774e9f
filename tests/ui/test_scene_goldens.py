"""Every other screen as a contract, at three sizes. `GOLDENS=write` writes them anew."""

from __future__ import annotations

from pathlib import Path

import pytest
from grid import golden, grid
from scene_session import SESSION
from scenes import SCENES, show

SIZES = [(120, 40), (80, 24), (60, 20)]
ELSEWHERE = {"conversation", "tool_log", "changes"}
"""The main screen, whose goldens are those of the app."""


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("scene", [name for name in SCENES if name not in ELSEWHERE])
async def test_a_scene(scene: str, size: tuple[int, int], tmp_path: Path) -> None:
    place = tmp_path / "shop"
    place.mkdir()
    async with show(scene, place, size=size, stored=SESSION) as app:
        golden(f"scene_{scene}_{size[0]}x{size[1]}", grid(app))
