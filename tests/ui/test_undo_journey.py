"""The whole way: the real app, runtime, tools, session and folder; only the model's server is ours."""

from __future__ import annotations

import asyncio
import json
import shutil
import stat
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from grid import grid
from server.messages_api import MessagesAPI, call, reply
from textual.pilot import Pilot

from tui_agent.credentials import Credentials
from tui_agent.settings import RuleText, Settings
from tui_agent.ui.app import TuiApp
from tui_agent.ui.screens.undo import UndoScreen

StartAPI = Callable[..., Awaitable[MessagesAPI]]

RULES = (RuleText("allow", "run_command(*)", "user"), RuleText("allow", "write_file(**)", "user"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.txt").write_text("".join(f"line {n}\n" for n in range(30)))
    return tmp_path / "project"


def app_for(api: MessagesAPI, folder: Path, **options: Any) -> TuiApp:
    settings = Settings(
        folder,
        base_url=api.url,
        credentials=Credentials("sk-test-0123456789"),
        mode="accept-edits",
        rules=RULES,
        **options,
    )
    return TuiApp(settings)


async def until(pilot: Pilot[Any], condition: Callable[[], Any], seconds: float = 15.0) -> None:
    deadline = asyncio.get_running_loop().time() + seconds
    while not condition():
        assert asyncio.get_running_loop().time() < deadline, grid(pilot.app)  # type: ignore[arg-type]
        await pilot.pause(0.02)


async def say(pilot: Pilot[Any], text: str) -> None:
    pilot.app.main.prompt.focus()
    pilot.app.main.prompt.put(text)
    await pilot.press("enter")


async def turn(pilot: Pilot[Any], text: str) -> None:
    """A prompt and the run that follows, to its end."""
    app = pilot.app
    await until(pilot, lambda: app.turns.runtime is not None)
    turns = app.turns.runtime.changes.ledger.turn
    await say(pilot, text)
    await until(pilot, lambda: app.turns.runtime.changes.ledger.turn > turns and app.turns.run is None)


async def dialog(pilot: Pilot[Any], text: str) -> None:
    await until(pilot, lambda: isinstance(pilot.app.screen, UndoScreen) and text in grid(pilot.app))


async def on_screen(pilot: Pilot[Any], text: str) -> None:
    await until(pilot, lambda: text in grid(pilot.app))


def changes(*edits: tuple[str, str]) -> list[Any]:
    read = reply(call("read_file", {"path": "a.txt"}))
    return [
        read,
        *(
            reply(call("edit_file", {"path": "a.txt", "old": old, "new": new}, f"e{n}"))
            for n, (old, new) in enumerate(edits)
        ),
        "done",
    ]


async def test_u_takes_back_a_hunk_then_the_file_and_the_model_hears_of_it(
    messages_api: StartAPI, folder: Path
) -> None:
    start = (folder / "a.txt").read_bytes()
    api = await messages_api(*changes(("line 3\n", "three\n"), ("line 20\n", "twenty\n")), "I see")
    async with app_for(api, folder).run_test(size=(120, 40), notifications=True) as pilot:
        await turn(pilot, "edit")
        await pilot.press("f4")
        await on_screen(pilot, "a.txt")
        await until(pilot, lambda: pilot.app.main.changes.list.counts)
        await pilot.press("enter", "u")
        await dialog(pilot, "this hunk of a.txt")
        await pilot.press("y")
        await until(pilot, lambda: (folder / "a.txt").read_bytes() == start.replace(b"line 20", b"twenty"))
        await on_screen(pilot, "undo-1")
        await pilot.press("f4", "u")
        await dialog(pilot, "all changes of a.txt")
        await pilot.press("escape")
        await pilot.press("u")
        await dialog(pilot, "all changes of a.txt")
        await pilot.press("y")
        await until(pilot, lambda: (folder / "a.txt").read_bytes() == start)
        await turn(pilot, "and now?")
    told = json.dumps(api.requests[-1].body["messages"][-1])
    assert "- a.txt was changed back" in told
    assert api.refused == []


async def test_b_and_undo_by_turns_back_and_forth(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api(
        *changes(("line 3\n", "three\n")),
        reply(call("write_file", {"path": "new/b.txt", "content": "b"}, "w")),
        "done",
    )
    async with app_for(api, folder).run_test(size=(120, 40), notifications=True) as pilot:
        app = pilot.app
        await turn(pilot, "one")
        await turn(pilot, "two")
        await pilot.press("f4")
        await until(pilot, lambda: len(app.main.changes.list.files) == 2)
        await pilot.press("b")
        await until(pilot, lambda: [f.path for f in app.main.changes.list.files] == ["new/b.txt"])
        await pilot.press("b")
        await say(pilot, "/undo")
        await dialog(pilot, "is deleted")
        await pilot.press("y")
        await until(pilot, lambda: not (folder / "new/b.txt").exists())
        await on_screen(pilot, "/undo undo-1 brings it back")
        await say(pilot, "/undo")
        await dialog(pilot, "Undo turn 1")
        await pilot.press("y")
        await until(pilot, lambda: "three" not in (folder / "a.txt").read_text())
        await until(pilot, lambda: app.main.changes.count == 0)
        await say(pilot, "/undo")
        await on_screen(pilot, "nothing to undo")
        await say(pilot, "/undo undo-1")
        await dialog(pilot, "comes back")
        await pilot.press("y")
        await until(pilot, lambda: (folder / "new/b.txt").exists())
        await say(pilot, "/undo no such thing")
        await on_screen(pilot, "is no turn, file or call")


async def test_a_refusal_shows_what_would_be_lost(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api(*changes(("line 3\n", "three\n")))
    async with app_for(api, folder).run_test(size=(120, 40), notifications=True) as pilot:
        await turn(pilot, "one")
        text = (folder / "a.txt").read_text() + "mine\n"
        (folder / "a.txt").write_text(text)
        await say(pilot, "/undo a.txt")
        await dialog(pilot, "changed since, by you")
        assert "+mine" in grid(pilot.app)  # type: ignore[arg-type]
        await pilot.press("y")
        assert isinstance(pilot.app.screen, UndoScreen)
        await pilot.press("n")
        assert (folder / "a.txt").read_text() == text


async def test_what_a_stopped_turn_had_changed_is_told_and_undone_after_a_crash(
    messages_api: StartAPI, folder: Path
) -> None:
    start = (folder / "a.txt").read_bytes()
    api = await messages_api(
        reply(call("read_file", {"path": "a.txt"})),
        reply(call("run_command", {"command": "sed -i 1d a.txt; chmod +x a.txt; touch made; sleep 60"}, "c")),
    )
    async with app_for(api, folder).run_test(size=(120, 40), notifications=True) as pilot:
        app = pilot.app
        await until(pilot, lambda: app.turns.runtime is not None)
        await say(pilot, "go")
        await until(pilot, lambda: (folder / "made").exists())
        await say(pilot, "/undo turn 1")
        await on_screen(pilot, "A run is on")
        await pilot.press("escape")
        await on_screen(pilot, "this turn changed a.txt, made. /undo turn 1")
        await until(pilot, lambda: app.turns.run is None)
    async with app_for(api, folder, resume="last").run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: pilot.app.main.changes.count == 2)
        await say(pilot, "/undo")
        await dialog(pilot, "Undo turn 1")
        await pilot.press("y")
        await until(pilot, lambda: not (folder / "made").exists())
        await on_screen(pilot, "/undo undo-1 brings it back")
    assert (folder / "a.txt").read_bytes() == start
    assert not (folder / "a.txt").stat().st_mode & stat.S_IXUSR


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
async def test_diff_saves_a_patch_for_its_owner_alone(messages_api: StartAPI, folder: Path) -> None:
    copy = folder.parent / "copy"
    shutil.copytree(folder, copy)
    api = await messages_api(
        *changes(("line 3\n", "three")),
        reply(call("run_command", {"command": "truncate -s 3 bin; touch end; cp bin .env"}, "c")),
        "done",
    )
    async with app_for(api, folder).run_test(size=(120, 40), notifications=True) as pilot:
        app = pilot.app
        await until(pilot, lambda: app.turns.runtime is not None)
        await say(pilot, "/diff")
        await on_screen(pilot, "has changed no file")
        await turn(pilot, "one")
        await turn(pilot, "two")
        await say(pilot, "/diff")
        await on_screen(pilot, "The changes of 4 files are in")
        await on_screen(pilot, "It has the values of .env")
        patch = app.turns.runtime.session.place / "changes.patch"
        assert stat.S_IMODE(patch.stat().st_mode) == 0o600
    assert await asyncio.to_thread(applied, copy, patch) == await asyncio.to_thread(contents, folder)


def applied(folder: Path, patch: Path) -> dict[str, bytes]:
    subprocess.run(["git", "apply", patch], cwd=folder, check=True)
    return contents(folder)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}
