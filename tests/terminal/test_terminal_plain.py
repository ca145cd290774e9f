"""`--plain` in a real terminal: lines that are only appended, and answers that are typed."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from server.messages_api import call, reply
from server.threaded import ThreadedAPI
from terminal.harness import Terminal, heavy
from tools.process_trees import fresh_tag, gone_within, survivors

Start = Callable[..., Terminal]
QUESTION = r"Approve\? yes / no / no, REASON"
QUIET = 0.7
"""Seconds after which a line answers."""


def begin(terminal: Start, api: ThreadedAPI | None, *options: str) -> Terminal:
    term = terminal("--plain", *options, api=api, env={"TERM": "dumb"})
    term.wait_for(r"(?m)^>")
    return term


def answer(term: Terminal, line: str) -> None:
    term.wait_for(rf"{QUESTION}.*:\s*\Z")
    time.sleep(QUIET)
    term.send(f"{line}\n")


def asks_to_write(*after: str) -> list[object]:
    return [reply("Look:", call("write_file", {"path": "new.txt", "content": "one\ttwo\n"})), *after]


def test_a_turn_with_a_change_that_is_read_and_approved(terminal: Start, project: Path) -> None:
    with ThreadedAPI(asks_to_write("All done.")) as api:
        term = begin(terminal, api)
        term.send("make it\n")
        answer(term, "yes")
        term.wait_for(r"All done\.")
        assert "+one␉two" in term.screen()
        assert (project / "new.txt").read_text() == "one\ttwo\n"
        term.send(b"\x04")
        assert term.exit_code() == 0
        # Nothing but text: no cursor movement, no modes, no colours.
        assert b"\x1b" not in term.raw


@pytest.mark.parametrize("word", ["yes, do", *heavy("maybe", "Yes please")])
def test_only_the_word_approves(terminal: Start, project: Path, word: str) -> None:
    with ThreadedAPI(asks_to_write("Fine.")) as api:
        term = begin(terminal, api)
        term.send("make it\n")
        answer(term, word)
        term.wait_for("Please answer yes or no")
        assert not (project / "new.txt").exists()
        answer(term, "no, not there")
        term.wait_for(r"Fine\.")
        assert not (project / "new.txt").exists()
        assert "not there" in str(api.requests[-1].body["messages"])


def test_a_yes_that_was_typed_ahead_approves_nothing(terminal: Start, project: Path) -> None:
    with ThreadedAPI([*asks_to_write("Fine.")]) as api:
        term = begin(terminal, api)
        term.send("make it\n")
        term.wait_for(QUESTION)
        term.send("yes\n")
        term.wait_for("too early")
        assert not (project / "new.txt").exists()
        answer(term, "no")
        term.wait_for(r"Fine\.")


def test_ctrl_c_stops_the_command_with_its_tree_and_only_that(terminal: Start) -> None:
    tag = fresh_tag()
    run = call("run_command", {"command": f"sleep {tag} & sleep {tag}"})
    with ThreadedAPI([reply("", run), "fine."]) as api:
        term = begin(terminal, api)
        term.send("go\n")
        answer(term, "yes")
        term.wait_until(lambda: len(survivors(tag)) >= 2, "command")
        term.send(b"\x03")
        term.wait_for(r"\[Stopped\.\]")
        assert gone_within(tag, 2) == {}
        term.send("on\n")
        term.wait_for(r"fine\.")
        assert api.refused == []


def test_ctrl_c_while_idle_says_how_to_leave(terminal: Start) -> None:
    term = begin(terminal, None, "--demo")
    term.send(b"\x03")
    term.wait_for(r"Ctrl\+D quits")
    term.send(b"\x04")
    assert term.exit_code() == 0


def test_a_long_prompt_goes_on_over_lines(terminal: Start) -> None:
    with ThreadedAPI(["fine."]) as api:
        term = begin(terminal, api)
        term.send("one\\\n")
        term.wait_for(r"(?m)^\.")
        term.send("two\n")
        term.wait_for(r"fine\.")
        assert api.requests[0].body["messages"][0]["content"][0]["text"] == "one\ntwo"


def test_what_a_model_says_never_acts_on_the_terminal(terminal: Start) -> None:
    with ThreadedAPI(["\x1b]52;c;AAAA\x07\x1b[2Jgone\u202e"]) as api:
        term = begin(terminal, api)
        term.send("go\n")
        term.wait_for("gone")
        assert b"\x1b" not in term.raw
        assert re.search("␛]52;c;AAAA␇␛.2Jgone⸨U.202E⸩", term.screen())


def test_a_signal_ends_it_with_its_code(terminal: Start) -> None:
    with ThreadedAPI([reply("word " * 4000, pace=0.01)]) as api:
        term = begin(terminal, api)
        term.send("go\n")
        term.wait_for("word word")
        term.kill(15)
        assert term.exit_code() == 143
        assert term.left_on() == set()


def test_a_day_of_work_by_typed_words(terminal: Start, project: Path) -> None:
    """A change, its patch, its undo, another session: appended text only, and Ctrl+C leaves a question."""
    write = call("write_file", {"path": "new/b.txt", "content": "b\n"})
    with ThreadedAPI([reply("", write), "Written.", "Other."]) as api:
        term = begin(terminal, api, "--mode", "accept-edits")
        term.send("go\n")
        term.wait_for(r"Written\.\s+>\s*\Z")
        term.send("/diff\n")
        term.wait_for(r"\+b\n(.|\n)*for git apply")
        term.send("/undo\n")
        term.wait_for(r"Undo it\? yes / no:\s*\Z")
        term.send(b"\x03")
        term.wait_for(r"\[Stopped\.\]\s+>\s*\Z")
        assert (project / "new" / "b.txt").exists()
        term.send("/undo\n")
        term.wait_for(r"Undo it\? yes / no:\s*\Z")
        time.sleep(QUIET)
        term.send("yes\n")
        term.wait_for("brings it back")
        assert not (project / "new").exists()
        term.send("/clear\n")
        term.wait_for(r"/help says more\.\s+>\s*\Z")
        term.send("/resume\n")
        term.wait_for(r"1\. go(.|\n)*or nothing:\s*\Z")
        time.sleep(QUIET)
        term.send("1\n")
        term.wait_for(r"You said: go\s+The answer was:\s+Written\.")
        term.send("/quit\n")
        assert term.exit_code() == 0
        assert b"\x1b" not in term.raw


def test_a_signal_ends_it_also_before_it_is_open(terminal: Start, project: Path) -> None:
    (project / "AGENTS.md").write_text("Use tabs.\n")
    with ThreadedAPI() as api:
        term = terminal("--plain", api=api, env={"TERM": "dumb"})
        term.wait_for(r"Trust it.*yes / no:")
        term.kill(15)
        assert term.exit_code() == 143
