"""The pure half of the diff view: rows, words, runs, heights and colours."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from tui_agent.text import width_of
from tui_agent.tools.changes import file_change
from tui_agent.tools.hunks import Diff, Key
from tui_agent.tools.stored import StoredDiff, diff_of
from tui_agent.ui.contrast import ENOUGH, contrast
from tui_agent.ui.themes import OWN
from tui_agent.ui.widgets.diff_colours import ANSI, palette
from tui_agent.ui.widgets.diff_layout import Layout, View
from tui_agent.ui.widgets.diff_rows import Rows, aligned, changed_words
from tui_agent.ui.widgets.diff_text import chopped, drawn, height

texts = st.lists(
    st.sampled_from([*"abc xyz_.[]~\t\t  \\", *"é漢\u202e\x1b\x9b\u2028\u0301\r", "👩\u200d👩\u200d👧"]),
    max_size=40,
).map("".join)
files = st.lists(texts, max_size=12).map(lambda ls: "\n".join(ls).encode())


@given(text=texts, width=st.integers(2, 30), blanks=st.sampled_from(["", "end", "all"]), data=st.data())
@settings(max_examples=200, deadline=None)
def test_emphasis_and_wrapping_never_change_characters(
    text: str, width: int, blanks: str, data: st.DataObject
) -> None:
    cut = st.integers(0, len(text))
    marks = [(*sorted((data.draw(cut), data.draw(cut))), "word") for _ in range(data.draw(st.integers(0, 3)))]
    plain = drawn(text, "new", blanks=blanks)
    marked = drawn(text, "new", marks, blanks=blanks)
    assert "".join(part for part, _ in marked) == "".join(part for part, _ in plain)
    lines = chopped(marked, width)
    assert "".join(part for line in lines for part, _ in line) == "".join(part for part, _ in marked)
    assert not any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 for part, _ in marked for c in part)


@given(text=texts, width=st.integers(2, 30))
@settings(max_examples=200, deadline=None)
def test_a_height_told_without_drawing_is_the_drawn_one(text: str, width: int) -> None:
    assert height(text, width) == len(chopped(drawn(text, "same", blanks="end"), width))


@given(before=files, after=files, split=st.booleans(), context=st.sampled_from([3, 10, None]), data=st.data())
@settings(max_examples=120, deadline=None)
def test_rows_show_every_change_once_and_fit_their_layout(
    before: bytes, after: bytes, split: bool, context: int | None, data: st.DataObject
) -> None:
    diff = Diff(before, after)
    ignore = data.draw(st.booleans())
    rows = Rows(diff, split=split, context=context, ignore_space=ignore)
    shown = [key for row in rows.rows for key in rows.keys(row)]
    assert sorted(shown) == sorted(diff.keys)
    assert len(rows.heads) == len(diff.hunks)
    width = data.draw(st.integers(24, 130))
    layout = Layout(rows, width, View(wrap=data.draw(st.booleans())))
    for index in range(len(rows.rows)):
        lines = layout.lines(index)
        assert len(lines) == layout.start(index + 1) - layout.start(index)
        assert all(sum(width_of(text) for text, _ in line) <= width for line in lines)


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("width", [30, 60, 120])
def test_signs_are_always_there(split: bool, width: int) -> None:
    rows = Rows(Diff(b"a\nold\n", b"a\nnew\n"), split=split, context=3)
    layout = Layout(rows, width, View())
    text = "\n".join("".join(t for t, _ in line) for i in range(len(rows.rows)) for line in layout.lines(i))
    assert "- old" in text
    assert "+ new" in text


def test_words_that_changed() -> None:
    old, new = "total = sum(prices)", "total = sum(prices) - discount"
    assert changed_words(old, new) == ((), ((19, 30),))
    assert changed_words("[x] ~y\t🙂", "[x] ~z\t🙂") == (((5, 6),), ((5, 6),))
    assert changed_words("nothing alike", "9 + 9") == ((), ())


def test_alike_lines_stand_side_by_side() -> None:
    old = ["import os", "total = 0", "return total"]
    new = ["total = 1", "return total"]
    assert aligned(old, new) == [(0, -1), (1, 0), (2, 1)]


def test_ignored_blanks_are_still_shown_as_changes() -> None:
    rows = Rows(Diff(b"if x:\ny = 1\n", b"if x:\n    y = 1\nz\n"), split=False, context=3, ignore_space=True)
    assert [row.kind for row in rows.rows] == ["head", "same", "space", "new"]
    assert rows.keys(rows.rows[2]) == (Key("-", 1), Key("+", 1))


@given(before=files, after=files)
@settings(max_examples=100, deadline=None)
def test_a_diff_read_back_from_its_text_shows_the_same_rows(before: bytes, after: bytes) -> None:
    change = file_change("f", before, after)
    stored = diff_of(change.model_copy(update={"before": None, "after": None}))
    assert isinstance(stored, StoredDiff)
    one, other = Rows(Diff(before, after), split=False, context=3), Rows(stored, split=False, context=3)

    def said(rows: Rows) -> list[tuple[str, int, int, str]]:
        return [
            (row.kind, row.old, row.new, rows.new_text(row.new) if row.new >= 0 else rows.old_text(row.old))
            for row in rows.rows
            if row.kind not in ("tail", "head", "unended")
        ]

    if not one.returns:
        assert said(other) == said(one)


THEMES = [*BUILTIN_THEMES.values(), *OWN]


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_every_look_can_be_read(theme: Theme) -> None:
    if theme.ansi:
        assert not any(" on " in style for style in ANSI.values())  # the terminal's own ground and text
        return
    colours = {name: Color.parse(value) for name, value in theme.to_color_system().generate().items()
               if name in ("background", "foreground", "success", "error", "accent", "warning")}  # fmt: skip
    ground = colours["background"]
    wishes = [ground + colours[name] for name in ("foreground", "success", "error", "accent", "warning")]
    for look, style in palette(ground, *wishes).items():
        front, back = (Color.parse(part) for part in style.split()[-3::2])
        assert contrast(front, back) >= ENOUGH, (look, style)
