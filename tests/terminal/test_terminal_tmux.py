"""In tmux, which holds a lone Escape back: the way to stop at once is said, and it works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from server.messages_api import reply
from server.threaded import ThreadedAPI
from terminal.conftest import COMMAND, KEY, USUAL

TMUX = shutil.which("tmux")
pytestmark = pytest.mark.skipif(TMUX is None, reason="needs tmux on the PATH")


class Tmux:
    """A tmux server of its own with one window of 120 by 40."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._env = {name: value for name, value in {**os.environ, **USUAL}.items() if value is not None}

    def run(self, *arguments: str) -> str:
        command = [str(TMUX), "-S", str(self._socket), "-f", "/dev/null", *arguments]
        return subprocess.run(
            command, env=self._env, capture_output=True, text=True, timeout=20, check=False
        ).stdout

    def start(self, folder: Path, env: dict[str, str]) -> None:
        self._env |= env
        self.run("new-session", "-d", "-x", "120", "-y", "40", "-c", str(folder), COMMAND)

    def wait_for(self, pattern: str, timeout: float = 30) -> float:
        end = time.monotonic() + timeout
        while not re.search(pattern, screen := self.run("capture-pane", "-p")):
            assert time.monotonic() < end, f"no {pattern!r} on the screen:\n{screen}"
            time.sleep(0.02)
        return time.monotonic()


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    tmux = Tmux(tmp_path / "socket")
    yield tmux
    tmux.run("kill-server")


def test_it_says_once_that_ctrl_c_stops_at_once_and_ctrl_c_does(tmux: Tmux, project: Path) -> None:
    with ThreadedAPI([reply("word " * 4000, pace=0.01)]) as api:
        tmux.start(project, {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": api.url})
        tmux.wait_for("Ask for a change")
        tmux.wait_for(r"tmux holds Escape back for 500 ms[\s\S]*Ctrl\+C|Ctrl\+C[\s\S]*tmux")
        tmux.run("send-keys", "-l", "go")
        tmux.run("send-keys", "Enter")
        tmux.wait_for("word word")
        at = time.monotonic()
        tmux.run("send-keys", "C-c")
        tmux.wait_for("stopped")
        api.until(lambda: api.requests[0].closed)
        assert api.requests[0].closed is not None
        assert api.requests[0].closed - at < 1
        tmux.run("send-keys", "C-q")
        end = time.monotonic() + 20
        while tmux.run("list-panes"):
            assert time.monotonic() < end
            time.sleep(0.02)
        tmux.start(project, {})
        tmux.wait_for("Ask for a change")
        time.sleep(1)
        assert "holds Escape back" not in tmux.run("capture-pane", "-p")
