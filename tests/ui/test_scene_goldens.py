"""Every other screen as a contract, at three sizes. `GOLDENS=write` writes them anew."""

from __future__ import annotations

from pathlib import Path

import pytest
from grid import golden, grid
from scenes import SESSION, show

SIZES = [(120, 40), (80, 24), (60, 20)]
STEADY = (
    "search",
    "filter",
    "help",
    "commands",
    "palette",
    "review_set",
    "review_reason",
    "command",
    "trust",
    "confirm",
)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("scene", STEADY)
async def test_a_scene(scene: str, size: tuple[int, int], tmp_path: Path) -> None:
    place = tmp_path / "shop"
    place.mkdir()
    async with show(scene, place, size=size, stored=SESSION) as app:
        golden(f"scene_{scene}_{size[0]}x{size[1]}", grid(app))
