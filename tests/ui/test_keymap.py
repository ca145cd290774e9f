"""Keys of the person's own: what the settings may say, what clashes, and that they work."""

from __future__ import annotations

import pytest
from app_host import Host, still, until

from tui_agent.ui import keymap, keys
from tui_agent.ui.screens.help import HelpScreen, help_text
from tui_agent.ui.widgets.hint_line import fitting, hints

NONE = keymap.Keymap({})


def problems(**wanted: str) -> str:
    return "\n".join(keymap.read(wanted).problems)


@pytest.mark.parametrize(
    ("wanted", "changed"),
    [
        ({"next_mode": "f7"}, {"next_mode": "f7"}),
        ({"next_mode": "f7, alt+m"}, {"next_mode": "f7,alt+m"}),
        ({"tool_log_stop_entry": "s"}, {"tool_log_stop_entry": "s"}),
        ({"conversation_search": "?"}, {"conversation_search": "question_mark"}),
        ({"conversation_search": ","}, {"conversation_search": "comma"}),
    ],
)
def test_what_can_be_had(wanted: dict[str, str], changed: dict[str, str]) -> None:
    assert keymap.read(wanted) == keymap.Keymap(changed)


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"next_mod": "f7"}, "nothing called next_mod. Did you mean next_mode?"),
        ({"zzzz": "f7"}, "/keys lists"),
        ({"next_mode": "ctlr+g"}, "there is no key ctlr+g"),
        ({"next_mode": "foo"}, "there is no key foo"),
        ({"next_mode": "m"}, "m types a letter"),
        ({"new_line": "space"}, "space types a letter"),
        ({"next_mode": "\x1b[2J"}, "there is no key ␛[2J"),
    ],
)
def test_what_cannot_is_left_out_and_said(wanted: dict[str, str], words: str) -> None:
    read = keymap.read(wanted)
    assert words in "\n".join(read.problems)
    assert read.changed == {}


def test_a_clash_is_said_and_the_choice_stands() -> None:
    read = keymap.read({"next_mode": "f1"})
    assert read.changed == {"next_mode": "f1"}
    assert read.problems == (
        "keys: F1 is both next_mode and help: next_mode has it now. Give help another key.",
    )
    assert "tool_log_stop_entry and tool_log_copy" in problems(tool_log_stop_entry="y")
    assert "next_mode and toggle_side" in problems(next_mode="f7", toggle_side="f7") + problems(
        toggle_side="f7", next_mode="f7"
    ).replace("toggle_side and next_mode", "next_mode and toggle_side")
    assert problems(tool_log_stop_entry="b") == ""  # another pane may have it
    assert problems(help="f8", next_mode="f1") == ""  # who had it has another one


def test_no_key_clashes_as_delivered() -> None:
    everything = {key.id: key.keys for key in keys.KEYS if key.action}
    ours = [p for p in keymap.read(everything).problems if "types a letter" not in p]
    # Enter, Tab and the like mean something else in each pane; in one place no key has two meanings.
    places = {key.id: key.place for key in keys.KEYS}
    together = [p for p in ours if places[p.split()[4]] == places[p.split()[6].rstrip(":")]]
    assert together == []


@pytest.mark.parametrize("key", ["f7", "ctrl+k", "alt+m"])
async def test_the_choice_works_also_where_the_text_field_has_the_key(key: str) -> None:
    async with Host(keys={"next_mode": key}).run_test(size=(100, 30)) as pilot:
        app = pilot.app
        await pilot.press(*"abc", key)
        await until(pilot, lambda: app.main.status_line.status.mode == "accept-edits")
        await pilot.press("shift+tab")
        assert app.main.status_line.status.mode == "accept-edits"
        assert app.prompt_text == "abc"


async def test_problems_are_told_at_the_start() -> None:
    async with Host(keys={"next_mod": "f7"}).run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "Did you mean" in pilot.app.text)


async def test_the_list_names_every_key_and_what_was_changed() -> None:
    async with Host(keys={"next_mode": "f7"}).run_test(size=(120, 90)) as pilot:
        await pilot.press(*"/keys", "enter")
        await until(pilot, lambda: "Keys" in pilot.app.text and pilot.app.screen is not pilot.app.main)
        await still(pilot)
        rows = pilot.app.text.splitlines()
        assert any("next_mode" in row and "F7" in row and "yours" in row for row in rows)
        assert all(any(key.id in row for row in rows) for key in keys.KEYS if key.action)


# The line of keys, and the help


@pytest.mark.parametrize("width", [20, 60, 80, 120, 200])
@pytest.mark.parametrize("place", ["prompt", "queue", "conversation", "tool log", "changes"])
@pytest.mark.parametrize("running", [True, False])
def test_the_line_fits_and_ends_with_the_way_to_the_help(
    width: int, place: keys.Place, running: bool
) -> None:
    shown = fitting(hints(place, running, NONE), width)
    assert len("   ".join(f"{label} {word}" for label, word in shown)) <= width
    assert shown[-1] == ("F1", "help")
    if width >= 60:
        assert (("Escape", "stop") in shown) == running
        assert len(shown) >= 4


def test_the_line_names_the_keys_of_the_person() -> None:
    read = keymap.read({"help": "f12"})
    assert hints("prompt", False, read)[-1] == ("F12", "help")
    assert "F12" in help_text("prompt", read).plain


async def test_the_line_follows_the_focus_and_the_run() -> None:
    async with Host().run_test(size=(120, 40)) as pilot:
        app = pilot.app
        line = app.main.hints
        assert line.render().plain.startswith("Enter send   Shift+Enter new line")
        await pilot.press("f3")
        assert line.render().plain.startswith("Enter open   x stop")
        await pilot.press("f4")
        assert line.render().plain.startswith("Enter read")
        await pilot.press("f2")
        assert "/ search" in line.render().plain
        await pilot.press("escape", *"go", "enter")
        await until(pilot, lambda: line.render().plain.startswith("Escape stop   Enter queue"))
        app.model.say("done")
        await until(pilot, lambda: line.render().plain.startswith("Enter send"))


@pytest.mark.parametrize(
    ("press", "heading"),
    [((), "In the prompt"), (("f2",), "Conversation"), (("f3",), "Tool log"), (("f4",), "Changes")],
)
async def test_the_help_begins_with_where_the_person_is(press: tuple[str, ...], heading: str) -> None:
    async with Host().run_test(size=(100, 40)) as pilot:
        await pilot.press(*press, "f1")
        await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
        await still(pilot)
        lines = [line.strip(" │") for line in pilot.app.text.splitlines()]
        assert lines.index("Help") < next(i for i, line in enumerate(lines) if line.startswith(heading)) < 12
