"""The prompt in the whole app: completion, earlier prompts, the queue, own commands, the editor, drafts."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from app_host import Host, until
from test_app_turns import Sleeper
from textual import events

from tui_agent.ui.app import TuiApp
from tui_agent.ui.drafts.draft import Draft
from tui_agent.ui.drafts.past import PastFile

SIZE = (120, 30)
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360f8cfc0f01f0005000201c76dc1d60000000049454e44ae426082"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    for name in ("src/main.py", "src/my file.py", "docs/readme.md"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(f"content of {name}\n")
    (place / "shot.png").write_bytes(PNG)
    return place


def offers(app: Host) -> list[str]:
    return (
        [row.plain.strip() for row in app.main.composer.popup.rows] if app.main.composer.popup.display else []
    )


# Commands


async def test_a_slash_lists_the_commands_with_their_help() -> None:
    async with Host().run_test(size=SIZE) as pilot:
        app = pilot.app
        await pilot.press("/")
        assert "/help" in app.text
        assert "keys and commands" in app.text
        await pilot.press("t", "h")
        assert offers(app)[0].startswith("/theme ")


async def test_escape_closes_only_the_list_and_the_next_one_cancels() -> None:
    async with Host().run_test(size=SIZE) as pilot:
        app = pilot.app
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: app.model.requests)
        await pilot.press(*"/he")
        assert offers(app)
        await pilot.press("escape")
        assert not offers(app)
        assert app.prompt_text == "/he"
        assert app.turns.run is not None
        assert not app.turns.run.stopping
        await pilot.press("l")
        assert not offers(app)
        await pilot.press("escape")
        await until(pilot, lambda: app.turns.run is None)
        assert app.prompt_text == "/hel"


async def test_tab_takes_a_command_and_enter_runs_one_without_argument() -> None:
    async with Host().run_test(size=SIZE) as pilot:
        app = pilot.app
        await pilot.press(*"/mo", "tab")
        assert app.prompt_text == "/mode "
        assert app.focused is app.main.prompt
        await pilot.press(*"plan", "enter")
        await until(pilot, lambda: app.main.status_line.status.mode == "plan")
        await pilot.press(*"/hel", "enter")
        await until(pilot, lambda: app.screen is not app.main)


async def test_keys_in_one_burst_take_the_completion() -> None:
    async with Host().run_test(size=SIZE) as pilot:
        app = pilot.app
        for key in ("/", "m", "o", "tab", "a", "s", "k", "enter"):
            app.post_message(events.Key(key if key != "/" else "slash", key if len(key) == 1 else None))
        await pilot.pause()
        assert app.prompt_text == ""
        assert app.main.prompt.past.entries[-1] == Draft("/mode ask")


async def test_arrows_choose_in_the_list_and_not_in_the_history() -> None:
    async with Host().run_test(size=SIZE) as pilot:
        app = pilot.app
        app.main.prompt.past.add(Draft("earlier"))
        await pilot.press("/", "down", "tab")
        assert app.prompt_text.startswith("/")
        assert app.prompt_text.strip() != "/help"
        await pilot.press("ctrl+c", "up")
        assert app.prompt_text == "earlier"


async def test_an_earlier_prompt_opens_no_list() -> None:
    async with Host().run_test(size=SIZE) as pilot:
        app = pilot.app
        for text in ("first", "/theme"):
            app.main.prompt.past.add(Draft(text))
        await pilot.press("up")
        assert app.prompt_text == "/theme"
        assert not offers(app)
        await pilot.press("up")
        assert app.prompt_text == "first"


# Files


async def test_an_accepted_file_is_attached(folder: Path) -> None:
    async with Host(folder=folder).run_test(size=SIZE) as pilot:
        app = pilot.app
        await pilot.press(*"explain @main")
        await until(pilot, lambda: offers(app) == ["src/main.py"])
        await pilot.press("enter")
        assert app.prompt_text == "explain @src/main.py "
        await pilot.press("enter")
        await until(pilot, lambda: app.model.requests)
        words, attached = app.model.requests[-1].messages[-1].content
        assert words.text == "explain @src/main.py "
        assert attached.text.startswith("[attached file src/main.py]\n")
        assert "content of src/main.py" in attached.text
        await until(pilot, lambda: "[attached file src/main.py]" in app.text)
        assert "content of src/main.py" not in app.text


async def test_a_name_with_a_blank_is_quoted_and_a_folder_goes_on(folder: Path) -> None:
    async with Host(folder=folder).run_test(size=SIZE) as pilot:
        app = pilot.app
        await pilot.press(*"@sr")
        await until(pilot, lambda: "src/" in offers(app))
        await pilot.press("tab")
        assert app.prompt_text == "@src/"
        await pilot.press("m", "y")
        await until(pilot, lambda: offers(app)[:1] == ["src/my file.py"])
        await pilot.press("tab")
        assert app.prompt_text == '@"src/my file.py" '


async def test_a_picture_becomes_an_image(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.png"
    outside.write_bytes(PNG)
    async with Host(folder=folder).run_test(size=SIZE) as pilot:
        app = pilot.app
        await pilot.press(*"see @shot.png and ")
        app.post_message(events.Paste(str(outside)))
        await pilot.press("enter")
        await until(pilot, lambda: app.model.requests)
        blocks = app.model.requests[-1].messages[-1].content
        assert [block.type for block in blocks] == ["text", "text", "image", "text", "image"]


async def test_a_completed_name_is_sent_by_enter(folder: Path) -> None:
    async with Host(folder=folder).run_test(size=SIZE) as pilot:
        app = pilot.app
        await pilot.press(*"@shot.png")
        await until(pilot, lambda: offers(app))
        await pilot.press("enter")
        await until(pilot, lambda: app.model.requests)


async def test_fifty_thousand_files_hold_up_no_key(tmp_path: Path) -> None:
    for number in range(500):
        place = tmp_path / f"package_{number % 20}" / f"module_{number}"
        place.mkdir(parents=True)
        for part in range(100):
            (place / f"component_{part}.py").touch()
    async with Host(folder=tmp_path).run_test(size=SIZE) as pilot:
        app = pilot.app
        await pilot.press("@")
        await until(pilot, lambda: offers(app), seconds=30)
        took = []
        for letter in "pkg7comp":
            began = time.thread_time()
            await pilot.press(letter)
            took.append(time.thread_time() - began)
        assert sorted(took)[len(took) // 2] < 0.05
        await until(pilot, lambda: any("package_7/" in offer for offer in offers(app)))
        await pilot.press("tab")
        assert app.prompt_text.startswith("@package_7/module_")


# Earlier prompts


async def test_prompts_are_kept_for_the_folder(folder: Path) -> None:
    async with Host(folder=folder).run_test(size=SIZE) as pilot:
        await until(pilot, lambda: pilot.app.benches)
        await pilot.press(*"remember me", "enter")
    assert PastFile(folder).read() == [Draft("remember me")]
    async with Host(folder=folder).run_test(size=SIZE) as pilot:
        await until(pilot, lambda: pilot.app.main.prompt.past.entries)
        await pilot.press("up")
        assert pilot.app.prompt_text == "remember me"


async def test_ctrl_r_searches_and_puts_back_what_was_written() -> None:
    async with Host().run_test(size=SIZE) as pilot:
        app = pilot.app
        for text in ("fix the tests", "write docs", "fix the build"):
            app.main.prompt.past.add(Draft(text))
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "3 earlier prompts" in app.text)
        await pilot.press(*"fix")
        await until(pilot, lambda: "2 earlier prompts" in app.text)
        await pilot.press("ctrl+r", "enter")
        await until(pilot, lambda: app.prompt_text == "fix the tests")
        await pilot.press("ctrl+r", "x", "escape")
        await until(pilot, lambda: app.screen is app.main)
        assert app.prompt_text == "fix the tests"
        assert app.is_running


# Drafts


async def test_a_draft_survives_the_end_of_the_program(folder: Path) -> None:
    async with Host(folder=folder).run_test(size=SIZE) as pilot:
        await until(pilot, lambda: pilot.app.benches)
        await pilot.press(*"half a thou")
        pilot.app.post_message(events.Paste("p" * 2000))
        await pilot.pause()
    async with Host(folder=folder).run_test(size=SIZE) as pilot:
        await until(pilot, lambda: pilot.app.prompt_text)
        assert pilot.app.main.prompt.draft.whole == "half a thou" + "p" * 2000
        await pilot.press("enter")
    async with Host(folder=folder).run_test(size=SIZE) as pilot:
        await until(pilot, lambda: pilot.app.main.prompt.past.entries)
        assert pilot.app.prompt_text == ""


async def test_what_is_typed_at_the_start_is_not_overwritten_by_a_kept_draft(folder: Path) -> None:
    async with Host(folder=folder).run_test(size=SIZE) as pilot:
        await until(pilot, lambda: pilot.app.benches)
        await pilot.press(*"old")
    app = Host(folder=folder)
    app.main.prompt.text = "new"
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.main.prompt.past.entries)
        assert app.prompt_text == "new"
        await pilot.press("up")
        assert app.prompt_text == "old"


# The queue


async def start_run(pilot: Any, tool: Sleeper) -> None:
    await pilot.press(*"go", "enter")
    pilot.app.model.call("sleep")
    await until(pilot, tool.running.is_set)


async def test_waiting_messages_can_be_edited_moved_deleted_and_put_off() -> None:
    tool = Sleeper()
    async with Host(tool).run_test(size=SIZE) as pilot:
        app = pilot.app
        await start_run(pilot, tool)
        for text in ("one", "two", "three", "four"):
            await pilot.press(*text, "enter")
        await until(pilot, lambda: len(app.turns.queue) == 4)
        await pilot.press("f5", "d")
        await until(pilot, lambda: "next: four" not in app.text)
        await pilot.press("shift+up")
        assert [item.draft.text for item in app.turns.queue.items] == ["one", "three", "two"]
        await pilot.press("down", "t")
        await until(pilot, lambda: "after the turn: two" in app.text)
        await pilot.press("up", "up", "enter")
        await until(pilot, lambda: app.prompt_text == "one")
        await pilot.press(*"!!", "enter")
        await until(pilot, lambda: "next: one!!" in app.text)
        tool.let_go.set()
        await until(pilot, lambda: len(app.model.requests) == 2)
        content = app.model.requests[-1].messages[-1].content
        assert [block.text for block in content if block.type == "text"] == ["one!!", "three"]
        app.model.say("fine")
        await until(pilot, lambda: len(app.model.requests) == 3)
        assert app.model.prompts[-1] == "two"
        app.model.say("done")
        await until(pilot, lambda: app.turns.run is None)
        assert app.focused is app.main.prompt


async def test_the_rest_of_a_batch_is_left_for_a_new_message() -> None:
    tool = Sleeper()
    async with Host(tool).run_test(size=SIZE) as pilot:
        app = pilot.app
        await start_run(pilot, tool)
        await pilot.press(*"stop it", "enter")
        tool.let_go.set()
        await until(pilot, lambda: len(app.model.requests) == 2)
        assert app.model.prompts[-1] == "stop it"
        app.model.say("fine")
        await until(pilot, lambda: app.turns.run is None)


async def test_escape_in_the_queue_goes_back_to_the_prompt_and_the_run_goes_on() -> None:
    tool = Sleeper()
    async with Host(tool).run_test(size=SIZE) as pilot:
        app = pilot.app
        await start_run(pilot, tool)
        await pilot.press(*"one", "enter", "f5", "escape")
        assert app.focused is app.main.prompt
        assert app.turns.run is not None
        assert not app.turns.run.stopping
        await pilot.press("escape")
        await until(pilot, lambda: app.turns.run is None)
        await until(pilot, lambda: app.prompt_text == "one")
        assert len(app.turns.queue) == 0


async def test_a_stopped_run_gives_its_messages_back_beside_a_draft() -> None:
    tool = Sleeper()
    async with Host(tool).run_test(size=SIZE) as pilot:
        app = pilot.app
        await start_run(pilot, tool)
        await pilot.press(*"one", "enter", *"two", "enter", *"draft", "escape")
        await until(pilot, lambda: app.turns.run is None)
        assert app.prompt_text == "draft"
        await pilot.press("up")
        await until(pilot, lambda: app.prompt_text == "one\n\ntwo")


# Commands of the person's own


async def test_an_own_command_runs_is_shown_and_told_with_the_next_message(folder: Path) -> None:
    async with Host(folder=folder).run_test(size=SIZE) as pilot:
        app = pilot.app
        await pilot.press(*"!cat docs/*", "enter")
        await until(pilot, lambda: "content of docs/readme.md" in app.text)
        await until(pilot, lambda: app.main.tool_log.list.calls.all[-1].state == "done")
        assert "thinking" not in app.status_row
        assert app.model.requests == []
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: app.model.requests)
        note, words = app.model.requests[-1].messages[-1].content
        assert "$ cat docs/*\ncontent of docs/readme.md" in note.text
        assert words.text == "go"


async def test_two_marks_keep_it_from_the_model(folder: Path) -> None:
    async with Host(folder=folder).run_test(size=SIZE) as pilot:
        app = pilot.app
        await pilot.press(*"!!echo private", "enter")
        await until(pilot, lambda: app.main.tool_log.count and not app.own.running)
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: app.model.requests)
        assert [block.text for block in app.model.requests[-1].messages[-1].content] == ["go"]


async def test_a_command_is_marked_as_one_and_a_folded_paste_never_is(folder: Path) -> None:
    async with Host(folder=folder).run_test(size=SIZE) as pilot:
        app = pilot.app
        await pilot.press("!")
        await until(pilot, lambda: str(app.main.query_one("#mark").render()) == "!")
        await pilot.press("backspace")
        await until(pilot, lambda: str(app.main.query_one("#mark").render()) == "›")
        app.post_message(events.Paste("!touch made\n" * 20))
        await pilot.press("enter")
        await until(pilot, lambda: app.model.requests)
        assert app.model.prompts[-1].startswith("!touch made")
        assert not app.own.running


async def test_enter_can_be_set_to_break_the_line(folder: Path) -> None:
    async with Host(folder=folder, enter="newline").run_test(size=SIZE) as pilot:
        app = pilot.app
        await pilot.press("a", "enter", "b", "alt+enter")
        await until(pilot, lambda: app.model.requests)
        assert app.model.prompts == ["a\nb"]


@pytest.mark.parametrize("keys", [["escape"], ["ctrl+c"], ["f3", "x", "x"]])
async def test_an_own_command_can_be_stopped(folder: Path, keys: list[str]) -> None:
    async with Host(folder=folder).run_test(size=SIZE) as pilot:
        app = pilot.app
        await pilot.press(*"!sleep 1000", "enter")
        await until(pilot, lambda: app.own.running and app.main.tool_log.list.row_count)
        await pilot.press(*keys)
        await until(pilot, lambda: not app.own.running)
        await until(pilot, lambda: app.main.tool_log.list.calls.all[-1].state == "stopped")
        assert app.is_running


async def test_an_own_command_goes_on_when_a_turn_ends(folder: Path) -> None:
    async with Host(folder=folder).run_test(size=SIZE) as pilot:
        app = pilot.app
        await pilot.press(*"!sleep 1000", "enter")
        await until(pilot, lambda: app.own.running and app.main.tool_log.list.row_count)
        await pilot.press(*"go", "enter")
        app.model.say("done")
        await until(pilot, lambda: app.model.requests and app.turns.run is None)
        assert app.main.tool_log.list.calls.all[-1].state == "running"
        await pilot.press("escape")
        await until(pilot, lambda: not app.own.running)


# The editor


def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    script = tmp_path / "editor.py"
    script.write_text(f"import sys\nfrom pathlib import Path\np = Path(sys.argv[1])\n{code}\n")
    monkeypatch.setenv("VISUAL", f"{sys.executable} {script}")


@pytest.fixture
def suspended(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Tests have no terminal to hand over; that it is asked for is what counts here."""
    asked: list[str] = []

    @contextmanager
    def suspend(self: TuiApp) -> Iterator[None]:
        asked.append("suspend")
        yield
        asked.append("resume")

    monkeypatch.setattr(TuiApp, "suspend", suspend)
    return asked


async def test_the_editor_gets_the_whole_draft_and_gives_it_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suspended: list[str]
) -> None:
    editor(tmp_path, monkeypatch, "p.write_text(p.read_text().upper() + ' é\\n')")
    async with Host().run_test(size=SIZE) as pilot:
        app = pilot.app
        app.post_message(events.Paste("x" * 2000))
        await pilot.press(*" end", "ctrl+g")
        await until(pilot, lambda: "resume" in suspended)
        assert app.main.prompt.draft.whole == "X" * 2000 + " END é"
        await pilot.press("ctrl+z")
        assert app.main.prompt.draft.whole == "x" * 2000 + " end"


async def test_an_editor_that_fails_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suspended: list[str]
) -> None:
    editor(tmp_path, monkeypatch, "p.write_text('lost')\nsys.exit(3)")
    async with Host().run_test(size=SIZE, notifications=True) as pilot:
        await pilot.press(*"mine", "ctrl+g")
        await until(pilot, lambda: "ended with 3" in pilot.app.text)
        assert pilot.app.prompt_text == "mine"
        assert suspended == ["suspend", "resume"]


async def test_without_an_editor_it_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    async with Host().run_test(size=SIZE, notifications=True) as pilot:
        await pilot.press("ctrl+g")
        await until(pilot, lambda: "set $VISUAL or $EDITOR" in pilot.app.text)


# Start-up


def test_the_screen_needs_nothing_heavy_before_its_first_paint() -> None:
    code = "import sys; import tui_agent.ui.app; print(*sorted(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {
        "pydantic",
        "anthropic",
        "jsonschema",
        "markdown_it",
        "pygments",
        "pathspec",
        "mcp",
    }
    assert heavy & set(run.stdout.split()) == set()


async def test_a_paste_right_behind_ctrl_c_is_not_cleared_with_the_draft() -> None:
    async with Host().run_test(size=(100, 30)) as pilot:
        await pilot.press(*"old")
        pilot.app.post_message(events.Key("ctrl+c", None))
        pilot.app.post_message(events.Paste("new"))
        await until(pilot, lambda: pilot.app.prompt_text == "new")
