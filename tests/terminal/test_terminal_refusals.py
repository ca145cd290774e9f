"""What can't work is said in one clear message, with the right exit code, and the terminal as it was."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from server.messages_api import error
from server.threaded import ThreadedAPI
from terminal.harness import Terminal, heavy

READY = r"Ask for a change"
Start = Callable[..., Terminal]


def refused(term: Terminal, *words: str) -> str:
    assert term.exit_code() == 2
    told = term.raw.decode().replace("\r\n", "")
    for word in words:
        assert word in told
    assert "Traceback" not in told
    assert told.startswith("tui-agent: ")
    assert len(told) < 400
    assert b"\x1b" not in term.raw
    assert term.left_on() == set()
    return told


def test_a_folder_that_is_none(terminal: Start, project: Path) -> None:
    refused(terminal("nowhere"), "nowhere", "does not exist")
    refused(terminal("a.txt"), "a.txt", "is a file")
    refused(terminal(""), "empty")


def test_options_that_are_none(terminal: Start) -> None:
    refused(terminal("--mod"), "--mod", "Did you mean --mode?")
    refused(terminal("--mode", "yolo"), "yolo", "plan")
    refused(terminal("--max-steps", "0"), "max-steps")
    refused(terminal("--allow", "run_command("), "run_command(")
    refused(terminal("a", "b"))


def test_settings_that_cannot_be_read(terminal: Start, tmp_path: Path) -> None:
    folder = tmp_path / "config/tui-agent"
    folder.mkdir(parents=True)
    for text, words in [
        ("mode = 'ask'\nmodel = \n", ["settings.toml", "line 2"]),
        ("mode = 'yolo'\n", ["settings.toml", "mode"]),
        ("colour = 1\n", ["settings.toml", "colour"]),
    ]:
        (folder / "settings.toml").write_text(text)
        refused(terminal(env={"XDG_CONFIG_HOME": str(tmp_path / "config")}), *words)


@pytest.mark.parametrize("name", ["dumb", "unknown"])
def test_a_terminal_that_cannot_show_a_screen(terminal: Start, name: str) -> None:
    with ThreadedAPI([]) as api:
        refused(terminal(api=api, env={"TERM": name}), "TERM", "-p")


def test_without_a_key_it_says_how_to_go_on(terminal: Start) -> None:
    term = terminal()
    term.wait_for("ANTHROPIC_API_KEY")
    term.wait_for("start the demo")
    time.sleep(0.7)
    term.send("d")
    term.wait_for("demo: scripted model, offline")
    term.wait_for("empty cart")
    assert term.quit() == 0
    assert term.left_on() == set()
    again = terminal()
    again.wait_for("ANTHROPIC_API_KEY")
    again.quiet(0.7)
    again.send("q")
    assert again.exit_code() == 0
    assert again.left_on() == set()


def test_a_wrong_key_and_an_unknown_model_are_said_and_the_words_kept(terminal: Start) -> None:
    script = [error(401, "invalid x-api-key"), error(404, "model: claude-nope"), "fine."]
    with ThreadedAPI(script) as api:
        term = terminal("--model", "claude-nope", api=api)
        term.wait_for(READY)
        term.send("my long words\r")
        term.wait_for(r"✗ [\s\S]*ANTHROPIC_API_KEY")
        assert "Traceback" not in term.screen()
        assert "my long words" in term.screen()
        term.send("more words\r")
        term.wait_for(r"✗ [\s\S]*--model")
        term.send("last\r")
        term.wait_for(r"fine\.")
        assert api.refused == []
        assert term.quit() == 0


def test_a_dead_endpoint_is_said_and_can_be_left(terminal: Start) -> None:
    term = terminal(env={"ANTHROPIC_API_KEY": "key", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"})
    term.wait_for(READY)
    term.send("go\r")
    term.wait_for("(?i)connect|reach")
    term.wait_for("127.0.0.1:9")
    term.send("\x1b")
    term.quiet(0.5)
    assert "Traceback" not in term.screen()
    assert term.quit() == 0


@pytest.mark.parametrize(
    "env",
    [
        {"NO_COLOR": "1"},
        *heavy(
            {"COLORTERM": None, "TERM": "xterm"},
            {"TERM": "linux", "COLORTERM": None},
            {"COLUMNS": "20", "LINES": "5"},
        ),
    ],
    ids=["NO_COLOR", "16 colours", "console", "COLUMNS"],
)
def test_odd_surroundings(terminal: Start, env: dict[str, str | None]) -> None:
    with ThreadedAPI(["Grüße · 日本 ✓"]) as api:
        term = terminal(api=api, env=env)
        term.wait_for(READY)
        term.send("é ü\r")
        term.wait_for("Grüße · 日")
        assert "──────" in term.screen()
        assert "\\u25" not in term.screen()
        assert api.requests[0].body["messages"][0]["content"][0]["text"] == "é ü"
        assert term.quit() == 0
        assert term.left_on() == set()
        if "NO_COLOR" in env:
            colours = set(re.findall(rb"38;2;(\d+);(\d+);(\d+)", term.raw))
            assert all(len(set(colour)) == 1 for colour in colours)


def test_a_locale_without_utf_8_gets_lines_of_its_own(terminal: Start) -> None:
    env = {"LC_ALL": "C", "LANG": None, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    with ThreadedAPI(["plain words"]) as api:
        term = terminal(api=api, env=env)
        term.wait_for(READY)
        term.send("é ü\r")
        term.wait_for("plain words")
        assert "--------" in term.screen()
        assert "\\u25" not in term.screen()
        assert api.requests[0].body["messages"][0]["content"][0]["text"] == "é ü"
        assert term.quit() == 0
        assert all(byte < 128 for byte in term.raw)


def test_where_no_session_can_be_kept_it_says_so_and_can_be_left(terminal: Start) -> None:
    with ThreadedAPI([]) as api:
        term = terminal(api=api, env={"HOME": "/proc/nowhere"})
        term.wait_for(READY)
        term.wait_for("XDG_STATE_HOME")
        term.send("kept words\r")
        term.wait_for("› kept words")
        assert api.requests == []
        assert term.quit() == 0
        assert term.left_on() == set()
