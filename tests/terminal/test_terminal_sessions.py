"""Sessions in a real terminal: chosen at the start, copied when open elsewhere, shortened, left."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from server.messages_api import Request, reply
from server.threaded import ThreadedAPI
from terminal.harness import Terminal

READY = r"Ask for a change"
Start = Callable[..., Terminal]


def told(term: Terminal, api: ThreadedAPI, prompt: str, answer: str) -> None:
    term.wait_for(READY)
    term.type(prompt)
    term.send("\r")
    term.wait_for(answer)
    term.wait_for(READY)


@pytest.mark.heavy
def test_a_session_is_chosen_at_the_start_and_goes_on(terminal: Start) -> None:
    with ThreadedAPI(["it is sunny", "still sunny"]) as api:
        first = terminal(api=api)
        told(first, api, "weather", "it is sunny")
        assert first.quit() == 0
        again = terminal("--resume", api=api)
        again.wait_for(r"Sessions of project: 1 session")
        again.send("\r")
        again.wait_for("it is sunny")
        told(again, api, "and now", "still sunny")
        assert again.quit() == 0
        assert len(api.requests[-1].body["messages"]) == 3
        assert api.refused == []


@pytest.mark.heavy
def test_a_session_that_is_open_elsewhere_is_copied_and_both_go_on(terminal: Start) -> None:
    with ThreadedAPI(["one", "two", "three"]) as api:
        first = terminal(api=api)
        told(first, api, "first", "one")
        second = terminal("--continue", api=api)
        second.wait_for("is open in another program")
        told(second, api, "second", "two")
        told(first, api, "third", "three")
        assert (first.quit(), second.quit()) == (0, 0)
        assert [len(request.body["messages"]) for request in api.requests] == [1, 3, 3]


@pytest.mark.heavy
def test_compacting_can_be_stopped_by_escape(terminal: Start) -> None:
    def script(request: Request) -> Any:
        summary = "about to be shortened" in str(request.body["messages"][-1])
        return reply("never", delay=60) if summary else "fine."

    with ThreadedAPI(script) as api:
        term = terminal(api=api)
        told(term, api, "hello", r"fine\.")
        term.type("/compact")
        term.send("\r")
        term.wait_for("shortening the conversation")
        api.until(lambda: len(api.requests) == 2)
        term.send("\x1b")
        term.wait_for("the conversation is as it was")
        api.until(lambda: api.requests[1].closed)
        assert term.quit() == 0
        assert term.left_on() == set()


def test_a_demo_leaves_no_session_behind(terminal: Start) -> None:
    term = terminal("--demo")
    term.wait_for("› Find where the order total")
    term.send("\r")
    term.wait_for("Approve")
    term.send("\x1b")
    term.wait_for("stopped")
    assert term.quit() == 0
    sessions = Path.home() / ".local" / "state" / "tui-agent" / "sessions"
    assert not sessions.exists() or list(sessions.iterdir()) == []
