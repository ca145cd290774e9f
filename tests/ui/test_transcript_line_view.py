from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console
from textual import events
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.selection import Selection
from textual.strip import Strip

from tui_agent.ui.widgets.line_view import LineView
from tui_agent.ui.widgets.strips import build, highlight, text_of


class Rows(LineView):
    def __init__(self, rows: list[str], **options: Any) -> None:
        super().__init__(**options)
        self.rows = rows
        self.drawn = 0

    @property
    def row_count(self) -> int:
        return len(self.rows)

    def row_strip(self, y: int, width: int) -> Strip:
        self.drawn += 1
        return build(((f"{y} ", "$text-accent"), (self.rows[y], "")), width, self.look)


class Host(App[None]):
    def __init__(self, view: LineView) -> None:
        super().__init__()
        self.view = view

    def compose(self) -> ComposeResult:
        yield self.view


def shown(app: App[Any]) -> list[str]:
    return [text_of(strip).rstrip() for strip in app.screen._compositor.render_strips()]


async def test_only_rows_in_view_are_drawn() -> None:
    view = Rows([f"row {i}" for i in range(100_000)])
    async with Host(view).run_test(size=(30, 5)) as pilot:
        assert shown(pilot.app) == [f"{i} row {i}" for i in range(5)]
        assert view.drawn < 50
        await pilot.press("end")
        await pilot.pause()
        assert shown(pilot.app)[-1] == "99999 row 99999"
        assert view.drawn < 100


async def test_an_append_repaints_only_what_differs_and_makes_no_layout() -> None:
    view = Rows(["a", "b"])
    async with Host(view).run_test(size=(30, 5)) as pilot:
        await pilot.pause()
        layouts = view.screen._layout_updates
        view.rows.append("c")
        view.changed(2)
        assert {(r.y, r.height) for r in view._repaint_regions} == {(2, 1)}
        await pilot.pause()
        assert shown(pilot.app)[:3] == ["0 a", "1 b", "2 c"]
        assert view.screen._layout_updates == layouts


async def test_the_painted_rows_equal_a_full_repaint() -> None:
    view = Rows([f"row {i}" for i in range(50)], following=True)
    async with Host(view).run_test(size=(30, 8)) as pilot:
        for step in range(20):
            view.rows.append(f"new {step}")
            view.changed(len(view.rows) - 1)
            if step == 10:
                view.rows[60] = "other"
                view.changed(60, 61)
            await pilot.pause()
            partly = shown(pilot.app)
            view._restyle()
            await pilot.pause()
            assert shown(pilot.app) == partly
        assert partly[-1] == "69 new 19"


async def test_follow_is_released_by_scrolling_up_and_back_at_the_end() -> None:
    view = Rows([f"row {i}" for i in range(50)], following=True)
    async with Host(view).run_test(size=(30, 10)) as pilot:
        await pilot.pause()
        assert shown(pilot.app)[-1] == "49 row 49"
        view.post_message(events.MouseScrollUp(view, 1, 1, 0, -1, 0, False, False, False))
        await pilot.pause()
        before = shown(pilot.app)
        for i in range(20):
            view.rows.append(f"late {i}")
            view.changed(len(view.rows) - 1)
        await pilot.pause()
        assert shown(pilot.app) == before
        view.post_message(events.MouseScrollDown(view, 1, 1, 0, 1, 0, False, False, False))
        await pilot.pause()
        assert not view.following
        await pilot.press("end")
        view.rows.append("last")
        view.changed(len(view.rows) - 1)
        await pilot.pause()
        assert shown(pilot.app)[-1] == "70 last"


async def test_follow_stays_off_where_it_is_not_wanted() -> None:
    view = Rows([f"row {i}" for i in range(50)])
    async with Host(view).run_test(size=(30, 10)) as pilot:
        await pilot.press("end")
        view.rows.append("more")
        view.changed(50)
        await pilot.pause()
        assert shown(pilot.app)[-1] == "49 row 49"


async def test_a_drag_selects_text() -> None:
    view = Rows(["hello world", "second"])
    async with Host(view).run_test(size=(30, 5)) as pilot:
        await pilot.mouse_down(view, offset=(2, 0))
        await pilot.hover(view, offset=(6, 1))
        await pilot.mouse_up(view, offset=(6, 1))
        await pilot.pause()
        assert pilot.app.screen.get_selected_text() == "hello world\n1 secon"
        strip = pilot.app.screen._compositor.render_strips()[0]
        background = {s.text: s.style.bgcolor for s in strip if s.style}
        assert background["hello world"] != background["0 "]


def test_selection_leaves_the_gutter_out() -> None:
    class Guttered(Rows):
        def row_copy(self, y: int) -> tuple[int, str, str]:
            return 2, f"{y} {self.rows[y]}", "\n"

    view = Guttered(["one", "two"])
    assert view.get_selection(Selection(Offset(0, 0), Offset(4, 1))) == ("one\ntw", "\n")
    assert view.get_selection(Selection(None, None)) == ("one\ntwo", "\n")


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "ansi-dark"])
async def test_a_theme_change_recolours(theme: str) -> None:
    view = Rows(["x"])
    async with Host(view).run_test(size=(10, 2)) as pilot:
        pilot.app.theme = "nord"
        await pilot.pause()
        first = pilot.app.screen._compositor.render_strips()[0]
        pilot.app.theme = theme
        await pilot.pause()
        await pilot.pause()
        second = pilot.app.screen._compositor.render_strips()[0]
        assert [s.style for s in first] != [s.style for s in second]
        assert text_of(first) == text_of(second)


async def test_no_color_holds_in_the_view(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    view = Rows(["x"])
    async with Host(view).run_test(size=(10, 2)) as pilot:
        await pilot.pause()
        for segment in pilot.app.screen._compositor.render_strips()[0]:
            color = segment.style.color.get_truecolor()  # type: ignore[union-attr]
            assert color.red == color.green == color.blue


def test_a_lean_strip_paints_what_the_stock_one_does() -> None:
    import pyte
    from rich.style import Style

    parts = [
        ("a", "bold red on blue"),
        ("b", "red on blue"),
        ("c", ""),
        ("d", "italic green"),
        ("e", "on #102030"),
    ]
    strip = build(parts, 8, Style.parse)
    console = Console(color_system="truecolor", force_terminal=True)
    screens = []
    for rendered in (strip.render(console), Strip(strip._segments, 8).render(console)):
        screen = pyte.Screen(10, 1)
        pyte.Stream(screen).feed(rendered + "z")
        screens.append([screen.buffer[0][x] for x in range(10)])
    assert screens[0] == screens[1]
    assert len(strip.render(console)) <= len(Strip(strip._segments, 8).render(console))


def test_build_cuts_and_pads_to_the_width() -> None:
    from rich.style import Style

    assert build((("ab", ""),), 4, Style.parse).cell_length == 4
    cut = build((("日本語", ""),), 5, Style.parse)
    assert cut.cell_length == 5
    assert text_of(highlight(build((("abcd", ""),), 4, Style.parse), 1, 3, Style(bold=True))) == "abcd"
