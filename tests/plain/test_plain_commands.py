"""What the commands say and do, with a real session and real files, the model over real HTTP."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from plain_host import Person, conversation
from server.messages_api import MessagesAPI, call, error, reply

from tui_agent import paths
from tui_agent.credentials import Credentials
from tui_agent.plain.commands import COMMANDS
from tui_agent.settings import RuleText, Settings
from tui_agent.slash import find

StartAPI = Callable[..., Awaitable[MessagesAPI]]
Talk = Callable[..., AbstractAsyncContextManager[Person]]
UNDO = r"Undo it\? yes / no: "


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
def talk(messages_api: StartAPI, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Talk:
    @asynccontextmanager
    async def begin(*script: Any, **options: Any) -> AsyncIterator[Person]:
        api = await messages_api(*script)
        keys = Credentials("sk-test-0123456789")
        settings = Settings(folder, base_url=api.url, credentials=keys, mode="accept-edits", **options)
        async with conversation(settings, monkeypatch) as person:
            person.api = api
            yield person

    return begin


def writes(*files: tuple[str, str]) -> list[Any]:
    calls = [
        call("write_file", {"path": path, "content": content}, f"w{number}")
        for number, (path, content) in enumerate(files)
    ]
    return [reply("", *calls), "Written."]


def stored(name: str) -> list[Path]:
    return list(paths.sessions_folder().rglob(name))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


async def test_the_help_has_every_command_and_others_are_named(talk: Talk) -> None:
    async with talk() as person:
        said = await person.ask("/help")
        assert [line.split()[0].rstrip(":") for line in said.split("\n") if line.startswith("/")] == [
            f"/{command.name}" for command in COMMANDS
        ]
        assert "There is no command /nothing here" in await person.ask("/nothing")
        assert person.api.requests == []


@pytest.mark.parametrize("text", ["/etc/hosts is odd", "/ what", "/mode\nplan", "say /mode"])
def test_what_only_looks_like_a_command_is_a_prompt(text: str) -> None:
    assert find(text, COMMANDS) is None


async def test_undo_says_what_it_would_do_and_does_it_on_a_yes(talk: Talk, folder: Path) -> None:
    (folder / "a").write_text("one\n")
    async with talk(
        reply("", call("read_file", {"path": "a"}, "r")), *writes(("a", "two\n"), ("new/b", "b\n")), "Fine."
    ) as person:
        await person.ask("go")
        said = await person.ask("/undo", UNDO)
        assert "a changes back (+1 −1)" in said
        assert "new/b is deleted: it was made by this, as was its folder" in said
        await person.ask("perhaps", UNDO)
        assert (folder / "a").read_text() == "two\n"
        said = await person.ask("yes")
        assert "Undone" in said
        assert "/undo undo-1 brings it back" in said
        assert not (folder / "new").exists()
        assert contents(folder) == {"a": b"one\n"}
        assert "nothing to undo" in await person.ask("/undo")
        await person.ask("/undo undo-1", UNDO)
        await person.ask("yes")
        assert (folder / "new" / "b").read_text() == "b\n"
        await person.ask("/undo new/b", UNDO)
        await person.ask("yes")
        await person.ask("on")
        assert "new/b does not exist any more" in json.dumps(person.api.requests[-1].body["messages"][-1])


@pytest.mark.parametrize("answer", ["no", "\x03"])
async def test_anything_but_a_yes_undoes_nothing(talk: Talk, folder: Path, answer: str) -> None:
    async with talk(*writes(("b", "b\n"))) as person:
        await person.ask("go")
        await person.ask("/undo turn 1", UNDO)
        if answer == "\x03":
            signal.raise_signal(signal.SIGINT)
        else:
            person.say(answer)
        assert "Stopped" in (said := await person.hear(r"\n> ")) or "Nothing was undone" in said
        assert (folder / "b").read_text() == "b\n"
        assert "is no turn, file or call" in await person.ask("/undo turn 7")


async def test_undo_refuses_to_overwrite_and_shows_why(talk: Talk, folder: Path) -> None:
    async with talk(*writes(("b", "ours\n"))) as person:
        await person.ask("go")
        (folder / "b").write_text("ours\n\x1b[2Jtheirs\u202e\n")
        said = await person.ask("/undo")
        assert "changed since, by you or another program" in said
        assert "+␛[2Jtheirs⸨U+202E⸩" in said
        assert "\x1b" not in person.text
        assert (folder / "b").exists()


async def test_the_patch_is_printed_and_kept_for_git(talk: Talk, folder: Path) -> None:
    binary = reply("", call("run_command", {"command": r"printf '\0x' > c"}, "c"))
    async with talk(binary, *writes(("b", "one\n\x1b]0;x\x07\n"))) as person:
        assert "has changed no file" in await person.ask("/diff")
        await person.ask("go", r"REASON.*: ")
        await person.ask("yes")
        said = await person.ask("/diff")
        assert "new file mode 100644" in said
        assert "+one\n+␛]0;x␇\n" in said
        assert "(binary: not printed)" in said
        assert "keep it to yourself" not in said
        (patch,) = stored("changes.patch")
        assert str(patch) in said
    written = contents(folder)
    assert set(written) == {"b", "c"}
    for name in written:
        (folder / name).unlink()
    git = await asyncio.create_subprocess_exec("git", "apply", str(patch), cwd=folder)
    assert await git.wait() == 0
    assert contents(folder) == written


async def test_the_printed_patch_hides_secrets(talk: Talk, folder: Path) -> None:
    async with talk(*writes((".env", "TOKEN=hunter2\n"))) as person:
        person.say("go")
        await person.hear(r"REASON.*: ")
        await person.ask("yes")
        assert (folder / ".env").exists()
        said = await person.ask("/diff")
        assert "hunter2" not in said
        assert "+TOKEN=[hidden 1]" in said
        assert "keep it to yourself" in said


async def test_another_session_and_back_by_its_number(talk: Talk) -> None:
    async with talk("First answer.", "Second answer.", "Third.") as person:
        assert "no other session" in await person.ask("/resume")
        await person.ask("one \x1b[1mbold")
        await person.ask("/mode plan")
        assert "mode plan" in await person.ask("/clear")
        await person.ask("two")
        assert len(person.api.requests[-1].body["messages"]) == 1
        said = await person.ask("/resume", r"or nothing: ")
        assert "1. one" in said
        assert "2." not in said
        assert "\x1b" not in said
        assert "no such number" in await person.ask("2")
        await person.ask("/resume", r"or nothing: ")
        assert "stays open" in await person.ask("")
        await person.ask("/resume", r"or nothing: ")
        assert "First answer." in await person.ask("1")
        await person.ask("three")
        assert len(person.api.requests[-1].body["messages"]) == 3
        assert "There is no session nowhere" in await person.ask("/resume nowhere")


async def test_a_session_that_cannot_be_opened_leaves_the_present_one(talk: Talk) -> None:
    async with talk("One.", "Two.", "More.") as person:
        await person.ask("one")
        await person.ask("/clear")
        await person.ask("two")
        await person.ask("/resume", r"or nothing: ")
        first, _ = sorted(stored("*.jsonl"), key=lambda file: file.stat().st_mtime)
        first.unlink()
        said = await person.ask("1")
        assert "tui-agent: " in said
        await person.ask("more")
        assert len(person.api.requests[-1].body["messages"]) == 3


async def test_a_session_gets_a_name_and_is_exported(talk: Talk, folder: Path) -> None:
    async with talk("Answer.") as person:
        await person.ask("hello")
        assert "goes by its first words" in await person.ask("/rename")
        assert "is called My work now" in await person.ask("/rename My  work")
        assert "is called My work." in await person.ask("/rename")
        await person.ask("/export out.md")
        exported = (folder / "out.md").read_text()
        assert exported.startswith("# My work\n")
        assert "Answer." in exported
        assert "exists already" in await person.ask("/export out.md")
        said = await person.ask("/export json")
        (place,) = stored("export.json")
        assert str(place) in said


async def test_rules_and_decisions_are_told(talk: Talk) -> None:
    rules = (RuleText("deny", "read_file(secret\x1b*)", "user"),)
    async with talk(*writes(("b", "b\n")), rules=rules) as person:
        await person.ask("go")
        said = await person.ask("/permissions")
        assert "The mode is accept-edits." in said
        assert "deny read_file(secret␛*): your settings file, not used" in said
        assert "ran by accept-edits mode: " in said
        assert "\x1b" not in said


async def test_the_context_is_told_and_shortened(talk: Talk) -> None:
    answers = [reply("word " * 2000) for _ in range(4)]
    async with talk(*answers, "They talked.", error(400, "broken")) as person:
        for number in range(4):
            await person.ask(f"say {number}")
        said = await person.ask("/context")
        assert "system: " in said
        assert "answers: " in said
        said = await person.ask("/compact the names")
        assert "Shortening" in said
        assert "the names" in json.dumps(person.api.requests[-1].body)
        assert "was not shortened" in await person.ask("/compact")


async def test_another_model_answers_from_the_next_message_on(talk: Talk) -> None:
    async with talk("Hello.") as person:
        said = await person.ask("/model")
        assert "Its server offers:" in said
        assert "There is no effort huge" in await person.ask("/model other-model huge")
        assert "other-model, effort low" in await person.ask("/model other-model low")
        await person.ask("hi")
        assert person.api.requests[-1].body["model"] == "other-model"


async def test_a_resumed_session_has_its_own_model(talk: Talk) -> None:
    async with talk("One.", "Two.", "Three.") as person:
        await person.ask("first")
        await person.ask("/clear")
        await person.ask("/model other-model low")
        await person.ask("second")
        await person.ask("/resume", "Which one")
        said = await person.ask("1")
        assert "goes on with claude-opus-5-5" in said
        assert "your settings name other-model, effort low" in said
        assert "The model is claude-opus-5-5" in await person.ask("/model")
        await person.ask("third")
        models = [request.body["model"] for request in person.api.requests]
        assert models == ["claude-opus-5-5", "other-model", "claude-opus-5-5"]
