"""The model belongs to the session: it goes on with the one that was chosen in it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from app_host import until
from server.messages_api import MessagesAPI, reply, text, thinking
from session_host import Desk, desk

StartAPI = Callable[..., Awaitable[MessagesAPI]]
OWN, OTHER, THIRD = "claude-opus-5-5", "claude-haiku-5-5", "claude-sonnet-5"

WIDE = (200, 40)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def status(at: Desk) -> str:
    return at.app.main.status_line.render().plain


async def test_a_resumed_session_goes_on_with_its_model_and_says_so(
    messages_api: StartAPI, folder: Path
) -> None:
    api = await messages_api("one", "two", "three")
    async with desk(api, folder) as at:
        await at.say("first")
        await at.enter(f"/model {OTHER} low")
        await at.sees(f"From the next message on: {OTHER}, effort low.")
        await at.say("second")
    async with desk(api, folder, size=WIDE, resume="last") as at:
        await at.sees(f"This session goes on with {OTHER}, effort low; your settings name {OWN}.")
        await at.sees(f"From the next message on: {OTHER}, effort low.")
        await until(at.pilot, lambda: OTHER in status(at))
        await at.say("third")
        await at.enter(f"/model {OTHER} low")
        await at.idle()
        assert at.text.count("From the next message on") == 1  # it is the one there is
    sent = [(r.body["model"], r.body.get("output_config")) for r in api.requests]
    assert sent == [(OWN, None), *[(OTHER, {"effort": "low"})] * 2]


async def test_each_session_has_its_own_and_a_new_one_the_last_that_was_chosen(
    messages_api: StartAPI, folder: Path
) -> None:
    api = await messages_api("one", "two", "three", "four")
    async with desk(api, folder) as at:
        await at.say("first")
        old = at.runtime.session.id
        await at.enter("/clear")
        await until(at.pilot, lambda: at.runtime is not None and at.runtime.session.id != old)
        await at.enter(f"/model {OTHER}")
        await at.sees("From the next message on")
        await at.say("second")
        await at.enter(f"/resume {old}")
        await at.sees(f"goes on with {OWN}")
        await until(at.pilot, lambda: OWN in status(at))
        await at.say("third")
        await at.enter("/clear")
        await until(at.pilot, lambda: at.runtime is not None and at.runtime.session.id != old)
        await at.say("fourth")
    assert [request.body["model"] for request in api.requests] == [OWN, OTHER, OWN, OTHER]


async def test_a_model_of_the_command_line_counts_and_stays_with_the_session(
    messages_api: StartAPI, folder: Path
) -> None:
    api = await messages_api(reply(thinking("hm"), text("one")), "two", "three")
    async with desk(api, folder) as at:
        await at.say("first")
    async with desk(api, folder, resume="last", model=OTHER, model_named=True) as at:
        await at.sees(f"From the next message on: {OTHER}.", "earlier thinking was left out")
        await at.say("second")
        assert "goes on with" not in at.text
    async with desk(api, folder, resume="last") as at:
        await at.sees(f"goes on with {OTHER}")
        await at.say("third")
    assert [request.body["model"] for request in api.requests] == [OWN, OTHER, OTHER]
    kinds = [block["type"] for message in api.requests[1].body["messages"] for block in message["content"]]
    assert kinds == ["text"] * 3
    assert api.refused == []


async def test_what_the_settings_name_meanwhile_is_for_new_sessions(
    messages_api: StartAPI, folder: Path
) -> None:
    api = await messages_api("one", "two", "three")
    async with desk(api, folder, effort="low") as at:
        await at.say("first")
    async with desk(api, folder, size=WIDE, resume="last", model=THIRD, effort="high") as at:
        await at.sees(f"goes on with {OWN}, effort high; your settings name {THIRD}, effort high")
        await at.say("second")
    async with desk(api, folder, resume="last", model=OWN) as at:
        await at.sees("second")
        assert "goes on with" not in at.text  # nothing differs
    assert [request.body["model"] for request in api.requests] == [OWN, OWN]
