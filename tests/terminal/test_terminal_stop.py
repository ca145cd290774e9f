"""Escape, Ctrl+C and quitting, with real keys, sockets and processes: what is stopped is really stopped."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from server.messages_api import call, error, reply
from server.threaded import ThreadedAPI
from terminal.harness import Terminal, heavy
from tools.process_trees import fresh_tag, gone_within, survivors

READY = r"Ask for a change"
ESCAPE, CTRL_C, CTRL_D, CTRL_Q = "\x1b", "\x03", "\x04", "\x11"
LONG = reply("word " * 4000, pace=0.01)
ARMED = 0.7
"""Seconds after which a question counts answers."""

ALLOWED = ("--mode", "auto", "--allow", "run_command(bash tree.sh)")

Start = Callable[..., Terminal]


def begin(terminal: Start, api: ThreadedAPI, *options: str, **how: Any) -> Terminal:
    term = terminal(*options, api=api, **how)
    term.wait_for(READY)
    return term


def draft(term: Terminal) -> str:
    """The first line in the prompt box, empty when it shows its hint."""
    line = next(line for line in reversed(term.screen().splitlines()) if line.startswith(" › "))
    return "" if re.search(READY, line) else line.removeprefix(" › ").strip()


def goes_on(term: Terminal, api: ThreadedAPI, number: int) -> None:
    """The prompt takes keys, and the API takes the next request: its script's last reply is "fine."."""
    time.sleep(0.05)  # right behind an Escape it would be Alt and a key
    at = term.send("on")
    term.wait_for("› on")
    assert time.monotonic() - at < 2
    term.send("\r")
    term.wait_for(r"fine\.")
    assert api.refused == []
    assert len(api.requests) == number


def test_escape_in_a_stream_closes_the_socket_and_the_conversation_goes_on(terminal: Start) -> None:
    with ThreadedAPI([LONG, "fine."]) as api:
        term = begin(terminal, api)
        term.send("go\r")
        term.wait_for("word word")
        at = term.send(ESCAPE)
        api.until(lambda: api.requests[0].closed, 10)
        assert api.requests[0].closed is not None
        assert api.requests[0].closed - at < 1
        term.wait_for("stopped")
        goes_on(term, api, 2)
        assert "word word" in json.dumps(api.requests[1].body["messages"])


@pytest.mark.parametrize("data", ["go\r\x1b", "go\r\x03", *heavy("go\r\x1b\x1b")])
def test_a_stop_right_behind_enter_stops(terminal: Start, data: str) -> None:
    with ThreadedAPI(lambda request: "fine." if '"on' in json.dumps(request.body) else LONG) as api:
        term = begin(terminal, api)
        term.send(data)
        term.wait_until(lambda: "stopped" in term.screen() or draft(term) == "go", "stop")
        term.quiet(1.0)
        api.until(lambda: all(request.closed for request in api.requests))
        if draft(term):  # nothing came of it
            assert draft(term) == "go"
            term.send(CTRL_C)
            term.wait_for(READY)
        goes_on(term, api, len(api.requests) + 1)


@pytest.mark.heavy
def test_two_escapes_do_what_one_does(terminal: Start) -> None:
    with ThreadedAPI([LONG, "fine."]) as api:
        term = begin(terminal, api)
        term.send("go\r")
        term.wait_for("word word")
        term.send(ESCAPE)
        time.sleep(0.1)
        term.send(ESCAPE)
        term.wait_for("stopped")
        term.send(ESCAPE)  # idle: nothing
        goes_on(term, api, 2)


TREE = "sleep {tag} & setsid -f sleep {tag}; nohup sleep {tag} & (trap '' TERM; sleep {tag} | sleep {tag})\n"


def test_escape_in_a_command_leaves_no_process_of_it(terminal: Start, project: Path) -> None:
    tag = fresh_tag()
    (project / "tree.sh").write_text(TREE.format(tag=tag))
    with ThreadedAPI([reply(call("run_command", {"command": "bash tree.sh"})), "fine."]) as api:
        term = begin(terminal, api, *ALLOWED)
        term.send("go\r")
        term.wait_until(lambda: len(survivors(tag)) >= 5, "tree of processes")
        term.send(ESCAPE)
        assert gone_within(tag, 5) == {}
        term.wait_for("stopped")
        goes_on(term, api, 2)
        assert "interrupted" in json.dumps(api.requests[1].body["messages"])


def test_escape_in_a_question_stops_the_run_and_nothing_is_done(terminal: Start, project: Path) -> None:
    asks = reply(
        call("write_file", {"path": "new", "content": "x"}), call("run_command", {"command": "touch ran"})
    )
    with ThreadedAPI([asks, "fine."]) as api:
        term = begin(terminal, api)
        term.send("go\r")
        term.wait_for("Approve")
        term.send(ESCAPE)
        term.wait_gone("Approve")
        term.wait_for("stopped")
        goes_on(term, api, 2)
    assert sorted(path.name for path in project.iterdir()) == ["a.txt"]


def test_escape_in_the_wait_for_a_retry(terminal: Start) -> None:
    with ThreadedAPI([error(529, retry_after=30), "fine."]) as api:
        term = begin(terminal, api)
        term.send("go\r")
        term.wait_for(r"(?i)again in|retry")
        term.send(ESCAPE)
        term.wait_until(lambda: draft(term) == "go", "draft")  # nothing came of it
        term.send(CTRL_C)
        term.wait_for(READY)
        goes_on(term, api, 2)


@pytest.mark.parametrize("keys", ["\x03\x1b", "\x1b[27u", *heavy("\x1b\x03", "\x1b\x1b\x1b", "\x1b[99;5u")])
def test_keys_that_stop_may_come_at_once(terminal: Start, keys: str) -> None:
    with ThreadedAPI([LONG]) as api:
        term = begin(terminal, api)
        term.send("go\r")
        term.wait_for("word word")
        term.send(keys)
        term.wait_for("stopped", 5)
        api.until(lambda: api.requests[0].closed)


def test_a_declined_call_is_told_and_the_turn_goes_on(terminal: Start, project: Path) -> None:
    with ThreadedAPI([reply(call("write_file", {"path": "new", "content": "x"})), "As you like."]) as api:
        term = begin(terminal, api)
        term.send("go\r")
        term.wait_for("Approve")
        time.sleep(ARMED)
        term.send("n")
        term.wait_for("As you like")
        assert "declined" in json.dumps(api.requests[1].body["messages"][-1])
    assert not (project / "new").exists()


def test_what_is_typed_when_a_question_comes_up_is_no_answer(terminal: Start, project: Path) -> None:
    asks = reply(call("write_file", {"path": "new", "content": "x"}), delay=0.4)
    with ThreadedAPI([asks, "fine."]) as api:
        term = begin(terminal, api)
        term.send("go\r")
        time.sleep(0.1)  # a line end in the middle of a burst is a paste
        term.type("rewrite the tests yes yes yes yes", 0.05)
        term.wait_for("Approve")
        assert not (project / "new").exists()
        time.sleep(ARMED)
        term.send("n")
        term.wait_for(r"fine\.")
        term.wait_for("› rewrite the tests yes yes yes yes")
    assert not (project / "new").exists()


def test_ctrl_c_stops_clears_and_leaves_in_that_order(terminal: Start) -> None:
    with ThreadedAPI([LONG]) as api:
        term = begin(terminal, api)
        term.send("go\r")
        term.wait_for("word word")
        term.type("draft")
        term.wait_for("› draft")
        term.send(CTRL_C)
        term.wait_for("stopped")
        assert "› draft" in term.screen()
        term.send(CTRL_C)
        term.wait_for(READY)
        term.send(CTRL_C)
        term.wait_for("again to quit")
        assert term.alive()
        term.send(CTRL_C)
        assert term.exit_code() == 0
    assert term.left_on() == set()


def test_ctrl_d_deletes_in_text_and_leaves_an_empty_prompt(terminal: Start) -> None:
    with ThreadedAPI([]) as api:
        term = begin(terminal, api)
        term.send("ab\x1b[H\x04")
        term.wait_for(r"› b\s*\n")
        term.send(CTRL_D)
        term.wait_for(READY)
        term.send(CTRL_D)
        assert term.exit_code() == 0
    assert term.left_on() == set()


def test_quitting_in_a_run_asks_and_ends_its_commands(terminal: Start, project: Path) -> None:
    tag = fresh_tag()
    (project / "tree.sh").write_text(TREE.format(tag=tag))
    with ThreadedAPI([reply(call("run_command", {"command": "bash tree.sh"}))]) as api:
        term = begin(terminal, api, *ALLOWED)
        term.send("go\r")
        term.wait_until(lambda: len(survivors(tag)) >= 5, "tree of processes")
        term.send(CTRL_Q)
        term.wait_for(r"Quit\?")
        term.send(ESCAPE)
        term.wait_gone(r"Quit\?")
        assert len(survivors(tag)) >= 5
        term.send(CTRL_Q)
        term.wait_for(r"Quit\?")
        time.sleep(ARMED)
        at = term.send("y")
        assert term.exit_code() == 0
        assert time.monotonic() - at < 5
        assert gone_within(tag, 3) == {}
    assert term.left_on() == set()


def test_a_command_gets_no_key_from_the_terminal(terminal: Start, project: Path) -> None:
    script = "head -c5 </dev/tty; echo tty=$?; cat; tty; stty size; sleep 1; echo over\n"
    (project / "tree.sh").write_text(script)
    with ThreadedAPI([reply(call("run_command", {"command": "bash tree.sh"})), "fine."]) as api:
        term = begin(terminal, api, *ALLOWED)
        term.send("go\r")
        term.wait_for(r"run_command")
        time.sleep(0.1)
        term.type("abcdefg")
        term.wait_for("› abcdefg")
        term.wait_for(r"fine\.")
        result = json.dumps(api.requests[1].body["messages"][-1])
        assert "tty=1" in result
        assert "not a tty" in result
        assert "over" in result
        assert "abc" not in result
