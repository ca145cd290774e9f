"""Grants and modes at the keyboard: the real app, runtime and state files; only the server is ours."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from app_host import armed
from grid import grid
from server.messages_api import MessagesAPI, call, reply
from textual.pilot import Pilot

from tui_agent import paths
from tui_agent.credentials import Credentials
from tui_agent.permissions.sandbox import find_bwrap
from tui_agent.settings import RuleText, Settings
from tui_agent.ui.app import TuiApp
from tui_agent.ui.screens.answering import AnswerScreen
from tui_agent.ui.screens.permissions import PermissionsScreen

StartAPI = Callable[..., Awaitable[MessagesAPI]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def app_for(api: MessagesAPI, folder: Path, *rules: tuple[str, str, str], **options: Any) -> TuiApp:
    return TuiApp(
        Settings(
            folder,
            base_url=api.url,
            credentials=Credentials("sk-test-0123456789"),
            rules=tuple(RuleText(*rule) for rule in rules),  # type: ignore[arg-type]
            **options,
        )
    )


async def until(pilot: Pilot[Any], condition: Callable[[], Any], seconds: float = 15.0) -> None:
    deadline = asyncio.get_running_loop().time() + seconds
    while not condition():
        assert asyncio.get_running_loop().time() < deadline, grid(pilot.app)
        await pilot.pause(0.02)


async def say(pilot: Pilot[Any], text: str = "go") -> None:
    await until(pilot, lambda: pilot.app.turns.runtime is not None and pilot.app.turns.run is None)
    pilot.app.main.prompt.focus()
    pilot.app.main.prompt.put(text)
    await pilot.press("enter")
    await until(pilot, lambda: pilot.app.turns.run is not None or not pilot.app.main.prompt.text)


async def asked(pilot: Pilot[Any], text: str) -> None:
    """A question about `text` is on screen, and answers count."""
    await until(pilot, lambda: isinstance(pilot.app.screen, AnswerScreen) and text in grid(pilot.app))
    await armed(pilot)


async def press_when_armed(pilot: Pilot[Any], *keys: str) -> None:
    for key in keys:
        await armed(pilot)
        await pilot.press(key)


async def done(pilot: Pilot[Any]) -> None:
    await until(pilot, lambda: pilot.app.turns.run is None and pilot.app.screen is pilot.app.main)


def command(text: str, id: str = "c1") -> Any:
    return reply(call("run_command", {"command": text}, id))


def script(*commands: str) -> list[Any]:
    """For each turn its command and an end."""
    return [item for number, text in enumerate(commands) for item in (command(text, f"c{number}"), "done")]


PATHS = ("src/a", "src/b", "top", "src/c")
GRANTED = "touch granted"
RULE = "run_command(touch granted)"


async def test_a_grant_for_this_turn_ends_with_it(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api(
        command(GRANTED, "a"), command(GRANTED, "b"), "done", command(GRANTED, "c"), "no"
    )
    async with app_for(api, folder).run_test(size=(100, 30)) as pilot:
        await say(pilot)
        await asked(pilot, GRANTED)
        await pilot.press("a")
        await until(pilot, lambda: RULE in grid(pilot.app) and "this turn" in grid(pilot.app))
        await press_when_armed(pilot, "enter")
        await done(pilot)  # the second call of this turn was not asked about
        assert (folder / "granted").exists()
        await say(pilot)
        await asked(pilot, GRANTED)
        await pilot.press("n")
        await done(pilot)
        assert not paths.state_folder().joinpath("grants.json").exists()


async def test_a_grant_for_this_session_ends_with_it(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api(*script(GRANTED, GRANTED, GRANTED))
    async with app_for(api, folder).run_test(size=(100, 30)) as pilot:
        await say(pilot)
        await asked(pilot, GRANTED)
        await pilot.press("a", "tab")
        await until(pilot, lambda: "this session" in grid(pilot.app))
        await press_when_armed(pilot, "enter")
        await done(pilot)
        await say(pilot)
        await done(pilot)
        await say(pilot, "/clear")
        await until(pilot, lambda: pilot.app.turns.runtime and not pilot.app.turns.runtime.policy.rules)
        await say(pilot)
        await asked(pilot, GRANTED)
        await pilot.press("escape")
        await done(pilot)


async def test_a_grant_for_always_is_kept_by_the_real_path_until_it_is_revoked(
    messages_api: StartAPI, folder: Path
) -> None:
    api = await messages_api(*script(GRANTED, GRANTED, GRANTED))
    link = folder.parent / "link"
    link.symlink_to(folder)
    saved = paths.state_folder() / "grants.json"
    async with app_for(api, link).run_test(size=(100, 30)) as pilot:
        await say(pilot)
        await asked(pilot, GRANTED)
        await pilot.press("a", "shift+tab")
        await until(pilot, lambda: "always in this folder" in grid(pilot.app))
        await press_when_armed(pilot, "enter")
        await done(pilot)
    assert json.loads(saved.read_text()) == {"folders": {str(folder): [RULE]}}
    async with app_for(api, folder).run_test(size=(100, 30)) as pilot:
        await say(pilot)
        await done(pilot)
        await say(pilot, "/permissions")
        await until(pilot, lambda: isinstance(pilot.app.screen, PermissionsScreen))
        await until(pilot, lambda: "granted always in this folder · used 1×" in grid(pilot.app))
        await pilot.press("tab")
        await until(pilot, lambda: f"run_command: {GRANTED} · allowed by {RULE}" in grid(pilot.app))
        await pilot.press("tab", "d")
        await until(pilot, lambda: f"Revoked: {RULE}." in grid(pilot.app))
        await pilot.press("escape")
        assert "folders" not in json.loads(saved.read_text()) or not json.loads(saved.read_text())["folders"]
        await say(pilot)
        await asked(pilot, GRANTED)
        await pilot.press("n")
        await done(pilot)


async def test_a_rule_is_edited_before_it_counts_and_a_bad_one_is_told_in_place(
    messages_api: StartAPI, folder: Path
) -> None:
    api = await messages_api(*script("git commit", "git commit --dry-run"))
    async with app_for(api, folder).run_test(size=(100, 30)) as pilot:
        await say(pilot)
        await asked(pilot, "git commit")
        await pilot.press("a", "backspace")
        await press_when_armed(pilot, "enter")
        await until(pilot, lambda: "expected ')' at the end" in grid(pilot.app))
        assert pilot.app.turns.runtime.policy.rules == ()
        await pilot.press(*" *)")
        await press_when_armed(pilot, "enter")
        await done(pilot)
        (rule,) = pilot.app.turns.runtime.policy.rules
        assert (rule.text, rule.origin) == ("run_command(git commit *)", "turn")


async def test_no_edit_makes_a_rule_for_interpreters(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api(*script("make x", "python3 x.py"))
    async with app_for(api, folder).run_test(size=(100, 30)) as pilot:
        await say(pilot)
        await asked(pilot, "make x")
        await pilot.press("a", *["backspace"] * len("make x)"), *"bash *)")
        await press_when_armed(pilot, "enter")
        await until(pilot, lambda: "bash runs whatever it is given" in grid(pilot.app))
        await pilot.press("escape")
        await press_when_armed(pilot, "n")
        await done(pilot)
        await say(pilot)
        await asked(pilot, "python3 x.py")
        await pilot.press("a")
        await until(pilot, lambda: "There is no rule for a call like this" in grid(pilot.app))
        await press_when_armed(pilot, "n")
        await done(pilot)


async def test_siblings_that_the_edited_rule_covers_are_not_asked_again(
    messages_api: StartAPI, folder: Path
) -> None:
    writes = [call("write_file", {"path": path, "content": "x\n"}, path) for path in PATHS]
    api = await messages_api(reply(*writes), "done")
    async with app_for(api, folder).run_test(size=(100, 30)) as pilot:
        await say(pilot)
        await asked(pilot, "file 1 of 4")
        await pilot.press("a", "backspace", "backspace", *"**)")
        await press_when_armed(pilot, "enter")
        await asked(pilot, "file 3 of 4")
        await pilot.press("n")
        await done(pilot)
        assert [path for path in PATHS if folder.joinpath(path).exists()] == ["src/a", "src/b", "src/c"]


async def test_a_rule_that_can_t_be_saved_is_told_and_holds_for_the_session(
    messages_api: StartAPI, folder: Path
) -> None:
    api = await messages_api(*script(GRANTED, GRANTED))
    saved = paths.state_folder() / "grants.json"
    saved.parent.mkdir(parents=True)
    saved.write_text("not json")
    async with app_for(api, folder).run_test(size=(100, 30), notifications=True) as pilot:
        await say(pilot)
        await asked(pilot, GRANTED)
        await pilot.press("a", "shift+tab")
        await press_when_armed(pilot, "enter")
        await until(pilot, lambda: "this session only" in grid(pilot.app))
        await done(pilot)
        await say(pilot)
        await done(pilot)
    assert saved.read_text() == "not json"


async def test_the_same_call_denied_twice_is_answered_without_a_question(
    messages_api: StartAPI, folder: Path
) -> None:
    api = await messages_api(
        command("touch x", "a"),
        command("touch  x", "b"),
        command("sh -c 'touch x'", "c"),
        "ok",
        *script("touch x"),
    )
    async with app_for(api, folder).run_test(size=(100, 30)) as pilot:
        await say(pilot)
        await asked(pilot, "touch x")
        await pilot.press("n")
        await until(pilot, lambda: "touch ⸨" in grid(pilot.app) or "touch  x" in grid(pilot.app))
        await asked(pilot, "touch")
        await pilot.press("n")
        await done(pilot)
        assert "declined this same call twice" in json.dumps(api.requests[3].body["messages"][-1])
        await say(pilot)  # another turn may ask again
        await asked(pilot, "touch x")
        await pilot.press("n")
        await done(pilot)
    assert not (folder / "x").exists()


async def test_shift_tab_goes_through_the_modes_and_the_model_hears_of_the_last(
    messages_api: StartAPI, folder: Path
) -> None:
    api = await messages_api("one", "two")
    async with app_for(api, folder).run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: pilot.app.turns.runtime is not None)
        for mode in ("accept-edits", "auto", "plan"):
            await pilot.press("shift+tab")
            await until(pilot, lambda mode=mode: mode in grid(pilot.app))
            assert pilot.app.turns.runtime.policy.mode.value == mode
        await say(pilot)
        await done(pilot)
        said = json.dumps(api.requests[0].body["messages"])
        assert "The mode is now plan" in said
        await say(pilot)
        await done(pilot)
        assert json.dumps(api.requests[1].body["messages"][-1]).count("The mode is now") == 0


@pytest.mark.parametrize("height", [24, 18, 15])
async def test_the_mode_stays_in_view_under_a_question(
    messages_api: StartAPI, folder: Path, height: int
) -> None:
    api = await messages_api(*script("touch x"))
    async with app_for(api, folder, mode="accept-edits").run_test(size=(80, height)) as pilot:
        await say(pilot)
        await asked(pilot, "touch x")
        assert "accept-edits" in grid(pilot.app)
        await pilot.press("escape")
        await done(pilot)


async def test_the_list_of_rules_says_where_each_comes_from(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api()
    rules = (
        ("deny", "run_command(git push *)", "user"),
        ("allow", "run_command(make *)", "command line"),
        ("allow", "write_file(\x1b[2Jdocs/**)", "user"),
    )
    async with app_for(api, folder, *rules).run_test(size=(100, 30)) as pilot:
        await say(pilot, "/permissions")
        await until(pilot, lambda: isinstance(pilot.app.screen, PermissionsScreen))
        await until(pilot, lambda: "deny   run_command(git push *)" in grid(pilot.app))
        shown = grid(pilot.app)
        assert "your settings file · not used" in shown
        assert "the command line · not used" in shown
        assert "␛[2Jdocs" in shown
        await pilot.press("d")
        await until(pilot, lambda: "Take it out of your settings file" in grid(pilot.app))
        await pilot.press("down", "d")
        await until(pilot, lambda: "It is gone for this session." in grid(pilot.app))
        assert [rule.text for rule in pilot.app.turns.runtime.policy.rules] == [rules[0][1], rules[2][1]]
        await pilot.press("tab")
        await until(pilot, lambda: "Nothing was decided yet." in grid(pilot.app))
        await pilot.press("escape")
        assert pilot.app.screen is pilot.app.main


async def test_a_resumed_session_knows_who_decided_what(messages_api: StartAPI, folder: Path) -> None:
    (folder / "a.txt").write_text("one\n")
    api = await messages_api(
        reply(call("read_file", {"path": "a.txt"}, "a")),
        command("make all", "b"),
        command("git push", "c"),
        command("touch x", "d"),
        command("touch long-name", "e"),
        "done",
    )
    rules = (("allow", "run_command(make *)", "user"), ("deny", "run_command(git push)", "user"))
    async with app_for(api, folder, *rules).run_test(size=(100, 30)) as pilot:
        await say(pilot)
        await asked(pilot, "touch x")
        await pilot.press("n")
        await asked(pilot, "long-name")
        await pilot.press("e")
        await until(pilot, lambda: pilot.app.focused is not None)
        await pilot.press(*(["backspace"] * 5), "ctrl+s")
        await armed(pilot)
        await pilot.press("y")
        await done(pilot)
        before = list(pilot.app.turns.runtime.policy.log)
        await pilot.app.turns.close()
    whos = ["ask mode", rules[0][1], rules[1][1], "you", "you"]
    assert [one.who for one in before] == whos
    async with app_for(api, folder, *rules, resume="last").run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: pilot.app.turns.runtime is not None)
        policy = pilot.app.turns.runtime.policy
        assert policy.log == before
        assert [policy.uses(rule) for rule in policy.rules] == [1, 1]
        await say(pilot, "/permissions")
        await until(pilot, lambda: isinstance(pilot.app.screen, PermissionsScreen))
        await pilot.press("tab")
        await until(pilot, lambda: "ran      touch long " in grid(pilot.app))  # what ran, not what was asked
        shown = grid(pilot.app)
        assert all(who in shown for who in whos)
        await pilot.app.turns.close()


async def test_the_key_is_in_no_file_however_it_is_typed(messages_api: StartAPI, folder: Path) -> None:
    key = "sk-test-0123456789"
    api = await messages_api("one", f"it is {key}")
    async with app_for(api, folder).run_test(size=(100, 30)) as pilot:
        await say(pilot, f"! echo {key}")
        await done(pilot)
        await say(pilot, f"my key is {key}")
        await done(pilot)
        await say(pilot, "/export md")
        pilot.app.main.prompt.put(f"a draft with {key}")
        await pilot.pause(0.6)
    files = [path for path in paths.state_folder().rglob("*") if path.is_file()]
    assert {"sessions", "prompts", "drafts"} <= {
        path.relative_to(paths.state_folder()).parts[0] for path in files
    }
    assert [path for path in files if key.encode() in path.read_bytes()] == []


@pytest.mark.parametrize("sandboxed", [False, True])
async def test_a_question_says_all_that_is_known_of_a_command(
    messages_api: StartAPI, folder: Path, sandboxed: bool
) -> None:
    if sandboxed and find_bwrap() is None:
        pytest.skip("bubblewrap is not installed")
    for name in ("a.log", "b.log", "build/x"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    text = "rm *.log" + " " * 40 + "&& (rm -r build)"
    api = await messages_api(*script(text))
    async with app_for(api, folder, sandbox=sandboxed).run_test(size=(100, 40)) as pilot:
        await say(pilot)
        await asked(pilot, "rm *.log")
        shown = grid(pilot.app)
        held = "changes in this folder only, no network" if sandboxed else "none: it can do whatever you can"
        for part in (
            "Why it asks: runs in a subshell",
            "⸨40 blanks⸩",
            f"in       {folder}",
            "timeout  120 s",
            f"sandbox  {held}",
            "  rm -r build",
            "  a.log",
            "  b.log",
            "  build  (1 file in it)",
        ):
            assert part in shown, shown
        await pilot.press("n")
        await done(pilot)
    assert (folder / "build" / "x").exists()
