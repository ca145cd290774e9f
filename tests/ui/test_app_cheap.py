"""What must stay cheap, counted in layouts and repaints: times depend on the machine, these do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from app_host import Host, until
from textual import events
from textual.css.stylesheet import Stylesheet
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import TextArea

from tui_agent.ui.themes import LIGHT
from tui_agent.ui.widgets.prompt import Prompt

WIDE = (120, 40)


@pytest.fixture
def layouts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The widgets that asked for a layout of the screen."""
    asked: list[str] = []
    refresh = Widget.refresh

    def noted(self: Widget, *regions: object, layout: bool = False, **how: object) -> Widget:
        if layout:
            asked.append(type(self).__name__)
        return refresh(self, *regions, layout=layout, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(Widget, "refresh", noted)
    return asked


async def test_a_typed_letter_lays_nothing_out(layouts: list[str]) -> None:
    app = Host()
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        await pilot.press("a")
        await pilot.pause()
        layouts.clear()
        await pilot.press("b", "c", "backspace", "d")
        await pilot.pause()
        assert app.main.prompt.text == "abd"
        assert layouts == []


async def test_a_line_more_makes_the_prompt_higher() -> None:
    app = Host()
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press(*"one")
        await pilot.pause()
        assert app.main.prompt.size.height == 1
        await pilot.press("ctrl+j", *"two")
        await pilot.pause()
        assert app.main.prompt.size.height == 2
        await pilot.press(*["backspace"] * 4)
        await pilot.pause()
        assert app.main.prompt.size.height == 1


async def test_streamed_text_lays_nothing_out(layouts: list[str]) -> None:
    app = Host()
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press(*"go", "enter")
        app.model.say("One word. ", done=False)
        await until(pilot, lambda: "One word." in app.text and "answering" in app.status_row)
        layouts.clear()
        for number in range(60):
            app.model.say(f"Line {number}\n\n", done=False)
        await until(pilot, lambda: "Line 59" in app.text)
        assert layouts == []
        app.model.say("end")


async def test_the_start_reads_the_styles_once_and_in_the_right_colours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []
    again: list[str] = []
    monkeypatch.setattr(Stylesheet, "parse", _noting(Stylesheet.parse, read))
    monkeypatch.setattr(Stylesheet, "reparse", _noting(Stylesheet.reparse, again))
    app = Host(theme="light")
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        assert read
        assert not again
        assert app.main.styles.background.hex.lower() == LIGHT.background
        app.use_theme("nord")
        await until(pilot, lambda: again)
        assert app.main.styles.background.hex.lower() != LIGHT.background


@pytest.mark.parametrize(
    ("size", "names"), [((120, 40), {"-wide", "-tall"}), ((80, 12), {"-narrow", "-flat"})]
)
async def test_the_first_resize_changes_no_class(
    size: tuple[int, int], names: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before: list[frozenset[str]] = []
    resized = Screen._on_resize

    async def noted(self: Screen[None], event: events.Resize) -> None:
        before.append(self.classes)
        await resized(self, event)

    monkeypatch.setattr(Screen, "_on_resize", noted)
    app = Host()
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert names <= before[0]
        assert before[0] == app.main.classes


def _noting(function: Callable[..., Any], calls: list[str]) -> Callable[..., Any]:
    def noted(*arguments: Any, **named: Any) -> Any:
        calls.append(function.__name__)
        return function(*arguments, **named)

    return noted


def test_what_the_prompt_overrides_is_still_there() -> None:
    assert "_refresh_size" in vars(TextArea)
    assert Prompt._refresh_size is not TextArea._refresh_size


async def test_a_resize_is_one_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Host()
    laid_out: list[Size] = []
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        refresh = Screen._refresh_layout

        def noted(self: Screen[Any], size: Size | None = None, scroll: bool = False) -> None:
            laid_out.append(size or self.outer_size)
            refresh(self, size, scroll)

        monkeypatch.setattr(Screen, "_refresh_layout", noted)
        await pilot.resize_terminal(110, 35)
        await until(pilot, lambda: app.main.status_line.region.width == 110)
        assert app.main.status_line.region.y == 34
        await pilot.pause()
        assert [size for size in laid_out if size != Size(*WIDE)] == [Size(110, 35)]
