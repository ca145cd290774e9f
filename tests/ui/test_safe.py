from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets import Static

from tui_agent.ui import safe

HOSTILE = "[@click=app.quit]x[/] [/nope] \x1b]0;title\x07 \u202e"
SHOWN = "[@click=app.quit]x[/] [/nope] ␛]0;title␇ ⸨U+202E⸩"


def test_content_is_literal() -> None:
    assert safe.content(HOSTILE).plain == SHOWN
    assert safe.strict("a\tb").plain == "a␉b"
    assert safe.title("a\nb", 2).plain == "a…"
    assert str(safe.content("x", "bold").spans[0].style) == "bold"


async def test_a_toast_and_a_widget_show_hostile_text() -> None:
    class Host(App[None]):
        def compose(self) -> ComposeResult:
            yield Static(safe.content(HOSTILE))

    async with Host().run_test(notifications=True) as pilot:
        safe.notify(pilot.app, HOSTILE, severity="error")
        await pilot.pause()
        rows = ["".join(s.text for s in strip) for strip in pilot.app.screen._compositor.render_strips()]
        assert rows[0].rstrip() == SHOWN
        assert any("[/nope]" in row for row in rows[1:])
        assert not any("\x1b" in row or "\u202e" in row for row in rows)
