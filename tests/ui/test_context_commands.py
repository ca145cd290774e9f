"""The model's context at the keyboard: what fills it, shortening, going back, another model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from app_host import until
from server.messages_api import MessagesAPI, Request, call, error, reply, text, thinking
from session_host import desk

from tui_agent.agent.history import History
from tui_agent.session.compaction import ASK, HEAD
from tui_agent.session.store import load
from tui_agent.ui.widgets.pieces import PromptPiece

StartAPI = Callable[..., Awaitable[MessagesAPI]]
LONG = "lorem ipsum " * 3000
SMALL = {"id": "claude-opus-5-5", "display_name": "Small", "max_input_tokens": 16_000, "max_tokens": 2000}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.txt").write_text("one\n")
    return tmp_path / "project"


def last_words(request: Request) -> str:
    content = request.body["messages"][-1]["content"]
    return "\n".join(block.get("text", "") for block in content if block["type"] == "text")


def summarising(summary: Any, *, answer: Any = "ok") -> Callable[[Request], Any]:
    """A model that answers requests for a summary with `summary`, all others with `answer`."""
    return lambda request: summary if ASK[:40] in last_words(request) else answer


async def test_the_context_is_shown_as_a_picture(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api(
        reply(thinking("hm"), call("read_file", {"path": "a.txt"})),
        reply("done", usage={"input_tokens": 5000}),
    )
    async with desk(api, folder) as at:
        await at.opened()
        await at.say("look")
        await until(at.pilot, lambda: at.app.turns.window == 1_000_000)
        await at.enter("/context")
        await at.on("ContextScreen")
        await at.sees("of 1,000,000 tokens", "system", "results", "thinking", "free", "█")
        await at.press("escape")
        await at.on("MainScreen")


async def test_the_status_line_has_the_turn_the_session_and_the_share(
    messages_api: StartAPI, folder: Path
) -> None:
    api = await messages_api(
        reply("one", usage={"input_tokens": 49_990, "output_tokens": 10}),
        reply("two", usage={"input_tokens": 119_990, "output_tokens": 10}),
    )
    async with desk(api, folder) as at:
        await at.opened()
        await until(at.pilot, lambda: at.app.turns.window is not None)
        await at.say("a")
        await at.say("b")
        await at.sees("12 % of 1M", "turn 120k, session 170k")


async def test_a_nearly_full_window_is_told_once_with_what_to_do(
    messages_api: StartAPI, folder: Path
) -> None:
    api = await messages_api(
        reply("one", usage={"input_tokens": 820_000}), reply("two", usage={"input_tokens": 830_000})
    )
    async with desk(api, folder) as at:
        await at.opened()
        await until(at.pilot, lambda: at.app.turns.window is not None)
        await at.say("a")
        await at.sees("/compact")
        await at.say("b")
        await at.sees("two")
        assert at.text.count("/compact") == 1


async def test_compacting_shortens_keeps_the_changes_and_goes_on(
    messages_api: StartAPI, folder: Path
) -> None:
    api = await messages_api(
        lambda request: (
            "THE GIST"
            if ASK[:40] in last_words(request)
            else reply(call("write_file", {"path": "b.txt", "content": "x\n"}))
            if last_words(request) == "write"
            else reply(text(LONG))
        ),
    )
    async with desk(api, folder) as at:
        await at.opened()
        for prompt in ("a", "b", "write", "c"):
            await at.say(prompt)
        await at.enter("/compact the file names")
        await at.sees("The conversation was compacted")
        await at.idle()
        asked = api.requests[-1]
        assert "keep above all: the file names" in last_words(asked)
        await at.say("and on")
        sent = api.requests[-1].body["messages"]
        assert HEAD in sent[0]["content"][0]["text"]
        assert "THE GIST" in sent[0]["content"][0]["text"]
        assert "b.txt: new (+1 −0)" in sent[0]["content"][0]["text"]
        assert len(str(sent)) < len(str(asked.body["messages"])) / 2
        stored = load(at.runtime.session.place)[1]
        assert History.replay(stored).messages == at.runtime.agent.messages
        assert "lorem" in stored[2].model_dump_json()  # the full session stays on disk
    assert api.refused == []


@pytest.mark.parametrize(
    ("summary", "said"),
    [
        (reply(text("z" * 200_000)), "saved nothing"),
        (reply(thinking("hm")), "wrote no summary"),
        (reply(call("read_file", {"path": "a.txt"})), "wrote no summary"),
        (error(400, "no"), "was not shortened"),
    ],
)
async def test_a_bad_summary_changes_nothing(
    messages_api: StartAPI, folder: Path, summary: Any, said: str
) -> None:
    api = await messages_api(summarising(summary, answer=reply(text(LONG))))
    async with desk(api, folder) as at:
        await at.opened()
        await at.say("a")
        before = at.runtime.agent.messages
        await at.enter("/compact")
        await at.sees("The conversation was not shortened")
        assert said.split()[0] in at.text
        await at.idle()
        assert at.runtime.agent.messages == before
        await at.say("b")
        assert api.requests[-1].body["messages"][0]["content"][0]["text"] == "a"


async def test_escape_stops_compacting(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api(summarising(reply("never", delay=30), answer="long enough"))
    async with desk(api, folder) as at:
        await at.opened()
        await at.say("a")
        before = at.runtime.agent.messages
        await at.enter("/compact")
        await until(at.pilot, lambda: len(api.requests) == 2)
        await at.sees("shortening the conversation")
        await at.press("escape")
        await at.sees("the conversation is as it was")
        await at.idle()
        assert at.runtime.agent.messages == before
        await api.until(lambda: api.requests[1].closed)
        await at.say("b")
        await at.sees("long enough")


async def test_nothing_is_compacted_before_there_is_something(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api("x")
    async with desk(api, folder) as at:
        await at.opened()
        await at.enter("/compact")
        await at.sees("there is nothing to shorten yet")
        assert api.requests == []


async def test_a_turn_makes_room_by_itself_and_goes_on(messages_api: StartAPI, folder: Path) -> None:
    (folder / "long.txt").write_text("line of text\n" * 2000)
    steps = iter(range(100))

    def script(request: Request) -> Any:
        if ASK[:40] in last_words(request):
            return "THE GIST"
        n = next(steps)
        filled = len(str(request.body)) // 4
        if n < 12:
            return reply(
                call("read_file", {"path": "long.txt", "offset": n * 100 + 1, "limit": 600}, f"c{n}"),
                usage={"input_tokens": filled},
            )
        return "finished"

    api = await messages_api(script, models=[SMALL])
    async with desk(api, folder) as at:
        await at.opened()
        await until(at.pilot, lambda: at.app.turns.window == 16_000)
        await at.say("read on")
        await at.sees("finished")
        kinds = [event.type for event in at.runtime.events]
        assert kinds.count("compacted") >= 1
    assert api.refused == []
    assert all(len(str(request.body)) // 4 < 16_000 for request in api.requests)


async def test_a_turn_that_makes_room_says_so_and_can_be_stopped(
    messages_api: StartAPI, folder: Path
) -> None:
    full = reply("fine", usage={"input_tokens": 14_000})
    api = await messages_api(summarising(reply("never", delay=30), answer=full), models=[SMALL])
    async with desk(api, folder) as at:
        await at.opened()
        await until(at.pilot, lambda: at.app.turns.window == 16_000)
        await at.say("a")
        before = at.runtime.agent.messages
        await at.enter("b")
        await at.sees("shortening the conversation")
        await at.press("escape")
        await at.idle()
        await until(at.pilot, lambda: "shortening" not in at.app.main.status_line.render().plain)
        assert at.runtime.agent.messages == before
    assert api.refused == []


async def test_a_turn_that_could_not_make_room_is_thinking_again(
    messages_api: StartAPI, folder: Path
) -> None:
    full = reply("fine", usage={"input_tokens": 14_000})
    answers = iter([full, reply("late", delay=30)])
    api = await messages_api(
        lambda request: error(400, "no") if ASK[:40] in last_words(request) else next(answers),
        models=[SMALL],
    )
    async with desk(api, folder) as at:
        await at.opened()
        await until(at.pilot, lambda: at.app.turns.window == 16_000)
        await at.say("a")
        await at.enter("b")
        await at.sees("could not be shortened", "thinking")
        await at.press("escape")
        await at.idle()


async def test_a_turn_goes_on_when_nobody_can_shorten_it_until_it_is_really_full(
    messages_api: StartAPI, folder: Path
) -> None:
    used = iter([14_000, 14_500, 15_000])

    def script(request: Request) -> Any:
        if ASK[:40] in last_words(request):
            return reply(thinking("hm"))
        return reply("fine", usage={"input_tokens": next(used, 17_000)})

    api = await messages_api(script, models=[SMALL])
    async with desk(api, folder) as at:
        await at.opened()
        await until(at.pilot, lambda: at.app.turns.window == 16_000)
        await at.say("a")
        await at.say("b")
        await at.sees("could not be shortened")
        await at.say("c")
        await at.say("d")
        await at.say("e")
        await at.sees("fills the model's window", "/rewind")
    asked = [request for request in api.requests if ASK[:40] in last_words(request)]
    assert 1 <= len(asked) <= 4
    assert api.refused == []


async def test_going_back_cuts_the_conversation_and_offers_the_files(
    messages_api: StartAPI, folder: Path
) -> None:
    api = await messages_api(
        "one",
        reply(call("write_file", {"path": "b.txt", "content": "x\n"})),
        "written",
        reply(call("write_file", {"path": "c.txt", "content": "y\n"})),
        "again",
        "other",
    )
    async with desk(api, folder) as at:
        await at.opened()
        for prompt in ("first", "write b", "write c"):
            await at.say(prompt)
        await at.enter("/rewind")
        await at.on("RewindScreen")
        await at.sees("write c", "write b", "first", "Takes 1 prompt")
        await at.press("down", "enter")
        await at.on("UndoScreen")
        await at.sees("b.txt", "c.txt")
        await at.press("y")
        await until(at.pilot, lambda: not (folder / "b.txt").exists() and not (folder / "c.txt").exists())
        await at.sees("went back to before: write b")
        assert at.app.main.prompt.text == "write b"
        transcript = at.app.main.conversation.transcript
        assert [piece.source for piece in transcript.pieces if isinstance(piece, PromptPiece)] == ["first"]
        assert "written" not in at.text
        notes = [piece.source for piece in transcript.pieces[-2:]]
        assert [note.split(":")[0] for note in notes] == ["went back to before", "Undone"]
        assert at.app.main.tool_log.count == 2  # what ran has run
        await at.press("f3", "l")
        await at.told("no longer part of the conversation")
        await at.say("something else")
        await at.sees("other")
    words = [str(message["content"]) for message in api.requests[-1].body["messages"]]
    assert len(words) == 3
    assert "first" in words[0]
    assert "something else" in words[2]
    assert "write b" not in words[2]
    assert api.refused == []


async def test_going_back_without_changed_files_asks_nothing_and_survives_a_resume(
    messages_api: StartAPI, folder: Path
) -> None:
    api = await messages_api("one", "two", "three")
    async with desk(api, folder) as at:
        await at.opened()
        await at.say("first")
        await at.say("second")
        await at.enter("/rewind")
        await at.on("RewindScreen")
        await at.press("enter")
        await at.on("MainScreen")
        await at.sees("went back to before: second")
        assert "two" not in at.text
    async with desk(api, folder, resume="last") as at:
        await at.opened()
        await at.sees("first", "one", "went back to before: second")
        assert "two" not in at.text
        await at.say("third")
    assert len(api.requests[-1].body["messages"]) == 3


async def test_escape_leaves_the_conversation_as_it_is(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api("one")
    async with desk(api, folder) as at:
        await at.opened()
        await at.say("first")
        before = at.runtime.agent.messages
        for command, screen in (("/rewind", "RewindScreen"), ("/model", "ModelScreen")):
            await at.enter(command)
            await at.on(screen)
            await at.press("escape")
            await at.on("MainScreen")
        assert at.runtime.agent.messages == before


async def test_another_model_is_chosen_from_the_servers_list(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api(reply(thinking("hm"), text("one")), "two")
    async with desk(api, folder) as at:
        await at.opened()
        await at.say("first")
        await at.enter("/model")
        await at.on("ModelScreen")
        await at.sees("Claude Haiku 5.5", "window 200k")
        await at.press(*"haiku", "ctrl+e", "enter")
        await at.sees("From the next message on: claude-haiku-5-5, effort low")
        await at.sees("earlier thinking was left out")
        await until(at.pilot, lambda: at.app.turns.window == 200_000)
        await at.say("second")
    before, after = (request.body for request in api.requests)
    assert after["model"] == "claude-haiku-5-5"
    assert after["output_config"] == {"effort": "low"}
    assert (after["system"], after["tools"]) == (before["system"], before["tools"])
    kinds = [block["type"] for message in after["messages"] for block in message["content"]]
    assert kinds == ["text", "text", "text"]
    assert api.refused == []


async def test_a_model_is_named_where_the_server_has_no_list(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api("one", "two", models=None)
    async with desk(api, folder) as at:
        await at.opened()
        await at.enter("/model")
        await at.on("ModelScreen")
        await at.sees("This server has no list")
        await at.press(*"my-model", "enter")
        await at.sees("From the next message on: my-model")
        await at.say("first")
        await at.enter("/model other high")
        await at.sees("From the next message on: other, effort high")
        await at.say("second")
        await at.enter("/model other huge")
        await at.told("no effort")
    assert [request.body["model"] for request in api.requests] == ["my-model", "other"]


async def test_an_effort_of_the_same_model_starts_no_new_prefix(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api(reply(thinking("hm"), text("one")), "two")
    async with desk(api, folder) as at:
        await at.opened()
        await at.say("first")
        await at.enter("/model claude-opus-5-5 max")
        await at.sees("effort max")
        await at.say("second")
    kinds = [block["type"] for block in api.requests[1].body["messages"][1]["content"]]
    assert kinds == ["thinking", "text"]
    assert api.refused == []


async def test_a_limit_of_tokens_ends_the_turn(messages_api: StartAPI, folder: Path) -> None:
    api = await messages_api(
        lambda request: reply(call("read_file", {"path": "a.txt"}), usage={"input_tokens": 900})
    )
    async with desk(api, folder, max_tokens_total=2000) as at:
        await at.opened()
        await at.say("go")
        await at.sees("the limit is 2,000")
    assert len(api.requests) <= 3


async def test_what_was_read_need_not_be_read_again_after_a_resume(
    messages_api: StartAPI, folder: Path
) -> None:
    api = await messages_api(
        reply(call("read_file", {"path": "a.txt"})),
        "read",
        reply(call("write_file", {"path": "a.txt", "content": "two\n"})),
        "written",
    )
    async with desk(api, folder) as at:
        await at.opened()
        await at.say("look")
    async with desk(api, folder, resume="last") as at:
        await at.opened()
        await at.say("write")
        await at.sees("written")
    assert (folder / "a.txt").read_text() == "two\n"
