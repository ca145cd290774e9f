"""The prompt in a real terminal: the editor round trip, a huge paste, what a kill leaves of a draft."""

from __future__ import annotations

import signal
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from server.threaded import ThreadedAPI
from terminal.harness import CR, ESC, Terminal

READY = r"Ask for a change"
START, END = "\x1b[200~", "\x1b[201~"
EDITOR = """
import sys, termios
from pathlib import Path
assert sys.stdin.isatty() and sys.stdout.isatty()
try:
    print("EDITOR HERE", "cooked" if termios.tcgetattr(0)[3] & termios.ICANON else "raw", flush=True)
    line = input()
except KeyboardInterrupt:
    line = "interrupted"
path = Path(sys.argv[1])
path.write_text(path.read_text() + "+" + line + "\\n")
sys.exit(3 if line == "fail" else 0)
"""


@pytest.fixture
def api() -> Iterator[ThreadedAPI]:
    with ThreadedAPI(lambda request: f"answer {request.number}.") as api:
        yield api


@pytest.fixture
def term(terminal: Callable[..., Terminal], api: ThreadedAPI, tmp_path: Path) -> Terminal:
    script = tmp_path / "editor.py"
    script.write_text(EDITOR)
    started = terminal(api=api, env={"EDITOR": f"{sys.executable} {script}", "VISUAL": None})
    started.wait_for(READY)
    return started


def said(api: ThreadedAPI) -> str:
    content: Any = api.requests[-1].body["messages"][-1]["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def test_the_editor_gets_the_terminal_and_gives_it_back(term: Terminal, api: ThreadedAPI) -> None:
    term.type("draft")
    term.send("\x07")
    term.wait_for("EDITOR HERE cooked")
    assert term.left_on() == set()
    term.send("typed there\r")
    term.wait_for(r"draft\+typed there")
    term.send("\x7f!" + CR)
    term.wait_for(r"answer \d+\.")
    assert said(api) == "draft+typed ther!"
    assert term.quit() == 0
    assert term.left_on() == set()


def test_an_editor_that_fails_or_is_interrupted_ends_nothing(term: Terminal, api: ThreadedAPI) -> None:
    term.type("draft")
    term.send("\x07")
    term.wait_for("EDITOR HERE")
    term.send("fail\r")
    term.wait_for("ended with 3")
    term.send("\x07")
    term.wait_for("EDITOR HERE")
    term.send("\x03")
    term.wait_for(r"draft\+interrupted")
    term.send(CR)
    term.wait_for(r"answer \d+\.")
    assert said(api) == "draft+interrupted"


def test_a_huge_paste_folds_and_arrives_whole_with_the_enter_behind_it(
    term: Terminal, api: ThreadedAPI
) -> None:
    text = "".join(f"{number:07} " for number in range(25_000))
    term.send(f"{START}{text}{END} and\x1b[D\x1b[C more{CR}")
    term.wait_for(r"answer \d+\.")
    assert said(api) == f"{text} and more"


def test_a_draft_survives_a_kill_and_is_private(terminal: Callable[..., Terminal], api: ThreadedAPI) -> None:
    first = terminal(api=api)
    first.wait_for(READY)
    first.type("half a thought")
    drafts = Path.home() / ".local/state/tui-agent/drafts"
    first.wait_until(
        lambda: any(b"half a thought" in p.read_bytes() for p in drafts.rglob("*.json")), "draft"
    )
    assert {stat.S_IMODE(path.stat().st_mode) for path in drafts.rglob("*.json")} == {0o600}
    first.kill(signal.SIGKILL)
    first.exit_code()
    second = terminal(api=api)
    second.wait_for("half a thought")
    second.send(CR)
    second.wait_for(r"answer \d+\.")
    assert said(api) == "half a thought"
    third = terminal(api=api)
    third.wait_for(READY)
    third.send("\x1b[A")
    third.wait_for("half a thought")


def test_escape_closes_the_list_and_then_the_run_stops(
    terminal: Callable[..., Terminal], api: ThreadedAPI
) -> None:
    term = terminal(api=api)
    term.wait_for(READY)
    term.type("!sleep 1000" + CR)
    term.wait_for("sleep 1000")
    term.type("/he")
    term.wait_for("keys and commands")
    term.send(ESC)
    term.wait_gone("keys and commands")
    term.wait_until(term.leftovers, "the command")
    term.send(ESC)
    term.wait_until(lambda: not term.leftovers(), "end of the command")
    term.wait_for("/he")
