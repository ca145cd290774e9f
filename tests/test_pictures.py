"""The pictures show what was on the screen, fetch nothing and name no host."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from pictures import ASSETS, svg
from textual.app import App, ComposeResult
from textual.widgets import Static

NAMESPACE = "http://www.w3.org/2000/svg"


class Sample(App[None]):
    def compose(self) -> ComposeResult:
        yield Static("one <two> │ 漢字 three", markup=False)


async def test_every_word_stands_in_its_cell() -> None:
    async with Sample().run_test(size=(40, 4)) as pilot:
        picture = svg(pilot.app)
    texts = list(ElementTree.fromstring(picture).iter(f"{{{NAMESPACE}}}text"))
    assert [text.text for text in texts] == ["one", "<two>", "漢", "字", "three"]
    assert [round(float(text.attrib["x"]) / 8.4) for text in texts] == [0, 4, 12, 14, 17]


@pytest.mark.parametrize("path", sorted(ASSETS.glob("*.svg")), ids=lambda path: path.name)
def test_the_pictures_in_the_repository_fetch_nothing(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    ElementTree.fromstring(text)
    assert not re.search(r"https?://|url\(|@import|href", text.replace(NAMESPACE, ""))
    assert "Find where" in text or "empty" in text


def test_the_readme_shows_pictures_that_are_there() -> None:
    readme = (ASSETS.parent / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"assets/[\w-]+\.svg", readme))
    assert len(named) >= 3
    assert all((ASSETS.parent / name).is_file() for name in named)
