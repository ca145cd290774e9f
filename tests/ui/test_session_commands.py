"""Sessions at the keyboard: choose, search, name, delete, copy, export, with a real runtime behind."""

from __future__ import annotations

import stat
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from app_host import until
from server.messages_api import MessagesAPI, call, reply
from session_host import KEY, desk

from tui_agent import paths
from tui_agent.agent import TextContent, TurnStarted
from tui_agent.credentials import Credentials
from tui_agent.demo import forget_sessions, project
from tui_agent.runtime import Runtime
from tui_agent.session.index import sessions
from tui_agent.session.store import FILE, SessionStore, load
from tui_agent.settings import ASK_WHICH, Settings

StartAPI = Callable[..., Awaitable[MessagesAPI]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.txt").write_text("one\n")
    return tmp_path / "project"


async def made(api: MessagesAPI, folder: Path, *prompts: str) -> str:
    """A session with these prompts, closed; its id."""
    runtime = await Runtime.open(Settings(folder, base_url=api.url, credentials=Credentials(KEY)))
    for prompt in prompts:
        await runtime.prompt(prompt)
    await runtime.close()
    return runtime.session.id


async def test_an_earlier_session_is_chosen_and_goes_on(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api("sunny", "rainy", "still sunny")
    old = await made(api, folder, "weather today?")
    await made(api, folder, "weather tomorrow?")
    async with desk(api, folder) as at:
        await at.opened()
        await at.enter("/resume")
        await at.on("SessionsScreen")
        await at.sees("weather today?", "weather tomorrow?", "2 sessions")
        await at.press("down", "enter")
        await until(at.pilot, lambda: at.runtime is not None and at.runtime.session.id == old)
        await at.sees("weather today?", "sunny")
        await at.say("and now?")
        await at.sees("still sunny")
    assert [m["role"] for m in api.requests[-1].body["messages"]] == ["user", "assistant", "user"]
    assert api.refused == []


async def test_resume_at_the_start_asks_which(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api("sunny")
    old = await made(api, folder, "weather today?")
    async with desk(api, folder, resume=ASK_WHICH) as at:
        await at.on("SessionsScreen")
        await at.sees("weather today?")
        await at.press("enter")
        await at.opened()
        assert at.runtime.session.id == old
        await at.sees("sunny")


async def test_escape_at_the_start_begins_a_new_session(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api("sunny")
    old = await made(api, folder, "weather today?")
    async with desk(api, folder, resume=ASK_WHICH) as at:
        await at.on("SessionsScreen")
        await at.press("escape")
        await at.opened()
        assert at.runtime.session.id != old


async def test_sessions_are_found_by_words_of_their_answers(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api("the needle is here", "only hay")
    await made(api, folder, "first")
    await made(api, folder, "second")
    async with desk(api, folder) as at:
        await at.opened()
        await at.enter("/resume")
        await at.on("SessionsScreen")
        await at.sees("2 sessions")
        await at.press("slash", *"needle")
        await at.sees("1 session", "first", "the needle is here")
        await at.press("enter")
        assert "second" not in at.text
        await at.press("enter")
        await until(at.pilot, lambda: "needle" in at.text and type(at.app.screen).__name__ == "MainScreen")


async def test_escape_leaves_the_search_then_the_list(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api("a")
    await made(api, folder, "first")
    async with desk(api, folder) as at:
        await at.opened()
        await at.enter("/resume")
        await at.on("SessionsScreen")
        await at.sees("1 session")
        await at.press("slash", *"zzz")
        await at.sees("No session has these words.")
        await at.press("escape")
        await at.sees("1 session", "first")
        await at.press("escape")
        await at.on("MainScreen")


async def test_a_session_is_renamed_and_another_deleted_after_a_question(
    messages_api: StartAPI, folder: Path
) -> None:
    api = await messages_api("a", "b")
    await made(api, folder, "first")
    await made(api, folder, "second")
    async with desk(api, folder) as at:
        await at.opened()
        await at.enter("/resume")
        await at.on("SessionsScreen")
        await at.sees("2 sessions")
        await at.press("r")
        await at.on("NameScreen")
        await at.press("ctrl+u", *"cart", "enter")
        await at.sees("cart")
        await at.press("down", "d")
        await at.on("ConfirmScreen")
        await at.press("n")
        await at.sees("2 sessions")
        await at.press("d")
        await at.on("ConfirmScreen")
        await at.press("y")
        await at.sees("1 session", "cart")
    assert [one.title for one in sessions(folder)] == ["cart"]


async def test_other_folders_are_shown_when_asked_for(
    messages_api: StartAPI, folder: Path, tmp_path: Path
) -> None:
    api = await messages_api("a", "b", "c")
    (tmp_path / "elsewhere").mkdir()
    old = await made(api, tmp_path / "elsewhere", "far away")
    await made(api, folder, "near")
    async with desk(api, folder) as at:
        await at.opened()
        await at.enter("/resume")
        await at.on("SessionsScreen")
        await at.sees("near")
        assert "far away" not in at.text
        await at.press("a")
        await at.sees("far away", "near", "elsewhere")
        await at.press("down", "enter")
        await until(at.pilot, lambda: at.runtime is not None and at.runtime.session.id == old)
        assert at.runtime.folder == tmp_path / "elsewhere"
        await until(at.pilot, lambda: "elsewhere" in at.app.main.status_line.render().plain)


async def test_a_session_that_is_open_elsewhere_comes_as_a_copy_and_says_so(
    messages_api: StartAPI, folder: Path
) -> None:
    api = await messages_api("a")
    old = await made(api, folder, "first")
    (place,) = [file.parent for file in paths.sessions_folder().rglob(FILE)]
    other = SessionStore.open(place)
    async with desk(api, folder) as at:
        await at.opened()
        await at.enter(f"/resume {old}")
        await at.sees("is open in another program", "first")
        assert at.runtime.session.header.forked_from == old
    other.close()


async def test_a_session_that_is_not_there_leaves_the_present_one(
    messages_api: StartAPI, folder: Path
) -> None:
    api = await messages_api("one", "two")
    async with desk(api, folder) as at:
        await at.opened()
        await at.say("first")
        present = at.runtime
        await at.enter("/resume 1999")
        await until(at.pilot, lambda: any("no session '1999'" in n.message for n in at.app._notifications))
        assert at.runtime is present
        await at.say("second")
    assert len(api.requests[-1].body["messages"]) == 3


async def test_a_run_is_not_left_by_accident(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api("a", reply("slow", delay=30))
    old = await made(api, folder, "first")
    async with desk(api, folder) as at:
        await at.opened()
        await at.enter("long")
        await until(at.pilot, lambda: len(api.requests) == 2)
        for command in ("/resume", f"/resume {old}", "/fork", "/delete", "/rewind", "/compact", "/model x"):
            said = len(at.app._notifications)
            await at.enter(command)
            await until(at.pilot, lambda said=said: len(at.app._notifications) > said)
            assert "A run is on. Stop it first" in list(at.app._notifications)[-1].message
            assert type(at.app.screen).__name__ == "MainScreen"
        assert at.runtime.session.id != old
        await at.press("escape")
        await at.idle()


async def test_a_fork_goes_on_and_leaves_the_other_as_it_was(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api("one", "two")
    async with desk(api, folder) as at:
        await at.opened()
        await at.say("first")
        old = at.runtime.session
        await at.enter("/fork")
        await until(at.pilot, lambda: at.runtime is not None and at.runtime.session.id != old.id)
        await at.sees("This is a copy", "first", "one")
        assert at.text.index("This is a copy") > at.text.index("one")  # under what was said so far
        await at.say("second")
        await at.sees("two")
        copy = at.runtime.session.place
    words = [[e.prompt[0].text for e in load(p)[1] if e.type == "turn_started"] for p in (old.place, copy)]
    assert words == [["first"], ["first", "second"]]
    assert len(api.requests[1].body["messages"]) == 3


async def test_a_name_is_given_to_the_open_session(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api("one")
    async with desk(api, folder) as at:
        await at.opened()
        await at.say("first")
        await at.enter("/rename the cart")
        await at.sees("This session is called 'the cart' now.")
        assert [one.title for one in sessions(folder)] == ["the cart"]
        await at.enter("/rename")
        await at.on("NameScreen")
        await at.press("ctrl+u", "enter")
        await at.sees("goes by its first words again")
        assert [one.title for one in sessions(folder)] == ["first"]


async def test_the_open_session_is_deleted_after_a_question(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api("one")
    async with desk(api, folder) as at:
        await at.opened()
        await at.say("first")
        old = at.runtime.session
        await at.enter("/delete")
        await at.on("ConfirmScreen")
        await at.press("n")
        assert old.place.exists()
        await at.enter("/delete")
        await at.on("ConfirmScreen")
        await at.press("y")
        await until(at.pilot, lambda: at.runtime is not None and at.runtime.session.id != old.id)
        assert not old.place.exists()
        await at.sees("The session was removed.")
        assert "first" not in at.text


async def test_an_export_is_told_private_and_without_the_key(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api(reply(call("read_file", {"path": "a.txt"})), "done")
    async with desk(api, folder) as at:
        await at.opened()
        await at.say(f"my key is {KEY}")
        await at.enter("/export out.md")
        await at.sees("This session is in")
        await at.enter("/export json")
        await at.sees("export.json")
        await at.enter("/export md out.md")
        await at.sees("exists already")
        place = at.runtime.session.place
    for path in (folder / "out.md", place / "export.json"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        text = path.read_text()
        assert KEY not in text
        assert "my key is" in text
        assert "read_file" in text


async def test_a_demo_leaves_no_session(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api("mine")
    kept = await made(api, folder, "first")
    (folder.parent / "shop").mkdir()
    named_alike = await made(await messages_api("mine"), folder.parent / "shop", "second")
    with project() as demo:
        killed = SessionStore.create(demo)
        killed.append(TurnStarted(prompt=(TextContent(text="demo"),)))
        killed.close()
        forget_sessions()  # of other demos, while this one is on
        assert killed.place.exists()
    assert not killed.place.parent.exists()
    left = {file.parent.name for file in paths.sessions_folder().rglob(FILE)}
    assert left == {kept, named_alike}
