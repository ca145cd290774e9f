"""Themes: which one is chosen, trying them on, and the calls to a person who looks elsewhere."""

from __future__ import annotations

import pytest
from app_host import Host, until
from textual import events
from textual.theme import BUILTIN_THEMES

from tui_agent.ui import attention, themes
from tui_agent.ui.messages import BackgroundTold
from tui_agent.ui.output import character_set
from tui_agent.ui.screens.theme_picker import ThemePicker

DARK, LIGHT = (theme.name for theme in themes.OWN)


@pytest.mark.parametrize(
    ("wanted", "colorfgbg", "theme"),
    [
        (None, "", DARK),
        (None, "15;0", DARK),
        (None, "0;15", LIGHT),
        (None, "0;default;15", LIGHT),
        ("light", "15;0", LIGHT),
        ("dark", "0;15", DARK),
        ("nord", "0;15", "nord"),
    ],
)
def test_the_first_theme(wanted: str | None, colorfgbg: str, theme: str) -> None:
    assert themes.first_theme(wanted, {"COLORFGBG": colorfgbg}) == theme


@pytest.mark.parametrize("name", ["dark", "light", DARK, LIGHT, *BUILTIN_THEMES])
async def test_every_theme_can_be_chosen(name: str) -> None:
    assert themes.problem(name) is None
    async with Host(theme=name).run_test(size=(80, 24)) as pilot:
        assert pilot.app.theme == themes.SHORT.get(name, name)


def test_an_unknown_theme_is_refused_with_the_list() -> None:
    words = themes.problem("no-such")
    assert words is not None
    assert all(name in words for name in ("dark", "light", *BUILTIN_THEMES))


async def test_the_terminals_background_decides_unless_a_theme_was_asked_for() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        pilot.app.post_message(BackgroundTold(dark=False))
        await until(pilot, lambda: pilot.app.theme == LIGHT)
        await pilot.press(*"/theme nord", "enter")
        await until(pilot, lambda: pilot.app.theme == "nord")
        pilot.app.post_message(BackgroundTold(dark=True))
        await pilot.pause()
        assert pilot.app.theme == "nord"
    async with Host(theme="dark").run_test(size=(80, 24)) as pilot:
        pilot.app.post_message(BackgroundTold(dark=False))
        await pilot.pause()
        assert pilot.app.theme == DARK


@pytest.mark.parametrize(("last", "kept"), [("enter", True), ("escape", False)])
async def test_themes_are_tried_on_and_left_or_taken(last: str, kept: bool) -> None:
    async with Host(theme="dark").run_test(size=(80, 24)) as pilot:
        app = pilot.app
        await pilot.press(*"/theme", "enter")
        await until(pilot, lambda: isinstance(app.screen, ThemePicker))
        await pilot.pause()
        await pilot.press("down")
        await until(pilot, lambda: app.theme == LIGHT)
        await pilot.press(last)
        await until(pilot, lambda: app.screen is app.main)
        assert app.theme == (LIGHT if kept else DARK)


async def test_without_colour_the_terminals_own_colours_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with Host(theme="ansi-light").run_test(size=(80, 24)) as pilot:
        assert pilot.app.theme == LIGHT


# Calls


class Driver:
    def __init__(self) -> None:
        self.written: list[str] = []

    def write(self, text: str) -> None:
        self.written.append(text)


class Screen:
    def __init__(self) -> None:
        self._driver = Driver()
        self.bells = 0

    def bell(self) -> None:
        self.bells += 1


def test_one_bell_one_notification_and_a_mark_until_the_person_comes() -> None:
    app = Screen()
    calls = attention.Attention(app, {"TERM": "xterm-256color"})  # type: ignore[arg-type]
    calls.work_in("shop")
    calls.call("A call waits.")
    assert app.bells == 0
    calls.went()
    calls.call("A call waits.")
    calls.call("The turn has ended.")
    calls.came()
    calls.came()
    assert app.bells == 1
    assert app._driver.written == [
        "\x1b]2;tui-agent: shop\x07",
        "\x1b]9;tui-agent: A call waits.\x07",
        "\x1b]2;● tui-agent: shop\x07",
        "\x1b]2;tui-agent: shop\x07",
    ]


@pytest.mark.parametrize(
    ("environ", "sequence"),
    [
        ({"TERM": "foot"}, "\x1b]777;notify;tui-agent;Look\x07"),
        ({"TERM": "rxvt-unicode-256color"}, "\x1b]777;notify;tui-agent;Look\x07"),
        ({"TERM": "xterm-kitty"}, "\x1b]9;tui-agent: Look\x07"),
        ({"TERM": "tmux-256color", "TMUX": "x"}, "\x1bPtmux;\x1b\x1b]9;tui-agent: Look\x07\x1b\\"),
        ({"TERM": "linux"}, ""),
    ],
)
def test_how_a_terminal_is_asked_to_notify(environ: dict[str, str], sequence: str) -> None:
    assert attention.notification("Look", environ) == sequence


def test_the_name_of_a_folder_never_acts_in_the_title() -> None:
    app = Screen()
    attention.Attention(app, {}).work_in("a\x07\x1b]52;c;AAAA\x07\u202eb")  # type: ignore[arg-type]
    [title] = app._driver.written
    assert title.count("\x1b") == title.count("\x07") == 1
    assert "\u202e" not in title


@pytest.mark.parametrize("here", [True, False])
async def test_the_end_of_a_turn_calls_only_when_nobody_looks(
    monkeypatch: pytest.MonkeyPatch, here: bool
) -> None:
    app = Host()
    rung: list[bool] = []
    monkeypatch.setattr(app, "bell", lambda: rung.append(True))
    async with app.run_test(size=(80, 24)) as pilot:
        if not here:
            app.post_message(events.AppBlur())
        await pilot.press(*"go", "enter")
        app.model.say("done")
        await until(pilot, lambda: app.turns.run is None and "done" in app.text)
        assert len(rung) == (0 if here else 1)


# Character sets


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        ({}, "utf-8"),
        ({"LANG": "en_US.UTF-8"}, "utf-8"),
        ({"LANG": "C.UTF-8"}, "utf-8"),
        ({"LC_ALL": "C", "LANG": "en_US.UTF-8"}, "ascii"),
        ({"LC_ALL": "POSIX"}, "ascii"),
        ({"LC_ALL": "", "LC_CTYPE": "de_DE.ISO-8859-1@euro"}, "iso8859-1"),
        ({"LANG": "de_DE"}, "utf-8"),
        ({"LANG": "xx.no-such"}, "utf-8"),
    ],
)
def test_the_locale_names_the_character_set(environ: dict[str, str], name: str) -> None:
    assert character_set(environ) == name


@pytest.mark.parametrize(
    ("text", "characters", "written"),
    [
        ("│ ─ ┼ ✓ › … “x” ⸨U+202E⸩", "ascii", b'| - + v > . "x" (U+202E)'),
        ("é│", "iso8859-1", b"\xe9|"),
        ("漢字│", "ascii", b"????|"),
        ("│", "utf-8", "│".encode()),
    ],
)
def test_what_a_character_set_lacks_becomes_its_nearest(text: str, characters: str, written: bytes) -> None:
    import os

    from tui_agent.ui.output import Output

    read, write = os.pipe()
    out = Output(write, characters)
    out.write(text)
    out.close()
    with os.fdopen(read, "rb") as pipe:
        assert pipe.read() == written
