"""The diff widget in a real app."""

from __future__ import annotations

from itertools import pairwise

import pytest
from grid import grid
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.selection import Selection

from tui_agent.tools.changes import file_change
from tui_agent.ui.widgets.diff_view import DiffView


class Host(App[None]):
    def compose(self) -> ComposeResult:
        yield DiffView(id="diff")

    @property
    def diff(self) -> DiffView:
        return self.query_one(DiffView)


BEFORE = b"".join(b"line %d\n" % n for n in range(1, 61))
AFTER = BEFORE.replace(b"line 9\n", b"line nine\n").replace(b"line 50\n", b"line 50\nline 50 and a half\n")


async def test_sides_stand_beside_each_other_where_there_is_room() -> None:
    app = Host()
    async with app.run_test(size=(120, 30)) as pilot:
        app.diff.show(file_change("a", BEFORE, AFTER))
        await pilot.pause()
        assert "9 - line 9" in grid(app)
        assert "│ 9 + line nine" in grid(app)
        await pilot.resize_terminal(80, 30)
        await pilot.pause()
        assert "│" not in grid(app)
        assert "9    - line 9\n      9 + line nine" in grid(app)
        app.diff.focus()
        await pilot.press("v")
        assert "│ 9 + line nine" in grid(app)


async def test_context_grows_to_the_whole_file_and_back() -> None:
    app = Host()
    async with app.run_test(size=(80, 100)) as pilot:
        app.diff.show(file_change("a", BEFORE, AFTER))
        app.diff.focus()
        counts = []
        for _ in range(4):
            await pilot.press("+")
            counts.append(app.diff.row_count)
        assert "line 30" not in grid(app)
        assert counts[2] == 2 + 60 + 2  # heads, all lines, what was added
        assert counts[0] < counts[1] <= counts[2]


async def test_keys_go_from_hunk_to_hunk() -> None:
    app = Host()
    async with app.run_test(size=(80, 10)) as pilot:
        app.diff.show(file_change("a", BEFORE, AFTER))
        app.diff.focus()
        await pilot.press("]")
        assert "hunk 2 of 2" in next(line for line in grid(app).splitlines() if line.startswith("▌"))
        assert app.diff.hunk == 1
        await pilot.press("[")
        assert "hunk 1 of 2" in grid(app).splitlines()[0]


async def test_a_line_higher_than_the_screen_is_walked_through() -> None:
    app = Host()
    async with app.run_test(size=(40, 10)) as pilot:
        app.diff.show(file_change("a", None, b"x" * 2000 + b"END\nlast\n"))
        app.diff.focus()
        await pilot.press("down")
        tops = []
        for _ in range(80):
            await pilot.press("down")
            tops.append(app.diff.top)
        assert all(later - sooner <= 1 for sooner, later in pairwise(tops))
        assert "last" in grid(app)


async def test_copying_takes_the_code_only() -> None:
    app = Host()
    async with app.run_test(size=(80, 20)) as pilot:
        app.diff.show(file_change("a", b"a\nb\nc\n", b"a\nB\nc\n"))
        await pilot.pause()
        copied = app.diff.get_selection(Selection(Offset(0, 1), Offset(30, 4)))
        assert copied is not None
        assert copied[0] == "a\nb\nB\nc"


async def test_a_reopened_session_still_shows_its_diffs() -> None:
    app = Host()
    async with app.run_test(size=(80, 20)) as pilot:
        change = file_change("a", BEFORE, AFTER).model_copy(update={"before": None, "after": None})
        app.diff.show(change)
        await pilot.pause()
        assert "9    - line 9\n" in grid(app)
        assert "51 + line 50 and a half" in grid(app)


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light"])
async def test_no_theme_and_no_color_hide_a_row(theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Host()
    app.theme = theme
    async with app.run_test(size=(80, 20)) as pilot:
        app.diff.show(file_change("a.py", b"x = 1\n", b"x = 2\n"))
        await pilot.pause()
        shown = grid(app)
        assert "- x = 1" in shown
        assert "+ x = 2" in shown
        for strip in app.diff._painted:
            for segment in strip:
                style = segment.style
                if style and style.color and style.bgcolor and segment.text.strip():
                    assert style.color != style.bgcolor


async def test_large_files_are_compared_in_a_thread() -> None:
    app = Host()
    async with app.run_test(size=(80, 20)) as pilot:
        new = b"".join(b"line %d\n" % n for n in range(20_000))
        app.diff.show(file_change("a", b"", new))
        assert app.diff.row_count == 0
        while app.diff.row_count == 0:
            await pilot.pause(0.01)
        assert app.diff.row_count == 20_001
        app.diff.show(file_change("b", b"", new))
        app.diff.show(file_change("c", b"", b"small\n"))  # the late answer of the first must not win
        for _ in range(30):
            await pilot.pause(0.01)
        assert "small" in grid(app)


async def test_code_gets_the_colours_of_its_language() -> None:
    app = Host()
    async with app.run_test(size=(80, 20)) as pilot:
        app.diff.show(file_change("a.py", b"x = 1\n", b"def f(): return 'x'\n"))
        for _ in range(200):
            await pilot.pause(0.01)
            if app.diff.view.syntax:
                break
        line = app.diff._strip(app.diff.row_count - 1)
        colours = {segment.style.color for segment in line if segment.style and segment.text.strip()}
        assert len(colours) > 2
        assert "def f(): return 'x'" in "".join(segment.text for segment in line)
