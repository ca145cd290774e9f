"""The installed program on a real terminal: start, keys, signals, and the terminal afterwards."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from pathlib import Path

import pexpect
import pyte
import pytest

MODES = (b"1049", b"1000", b"1003", b"1004", b"1006", b"2004", b"25")


class Terminal:
    def __init__(self, *arguments: str, size: tuple[int, int] = (30, 100), **env: str) -> None:
        self.child = pexpect.spawn(
            sys.executable,
            ["-m", "tui_agent", *arguments],
            dimensions=size,
            timeout=20,
        )
        self.screen = pyte.Screen(size[1], size[0])
        self._stream = pyte.ByteStream(self.screen)
        self.seen = b""

    @property
    def text(self) -> str:
        return "\n".join(self.screen.display)

    def read(self, wait: float = 0.05) -> None:
        try:
            data = self.child.read_nonblocking(65536, wait)
        except (pexpect.TIMEOUT, pexpect.EOF):
            return
        self.seen += data
        self._stream.feed(data)

    def until(self, text: str, seconds: float = 20.0) -> None:
        deadline = time.monotonic() + seconds
        while not re.search(text, self.text):
            assert time.monotonic() < deadline, self.text
            self.read()

    def end(self, seconds: float = 10.0) -> int:
        """The exit status; what the program still wrote is read."""
        deadline = time.monotonic() + seconds
        while self.child.isalive():
            assert time.monotonic() < deadline, self.text
            self.read()
        self.read(0.2)
        self.child.close()
        return self.child.exitstatus if self.child.exitstatus is not None else -int(self.child.signalstatus)

    def modes_left_on(self) -> list[bytes]:
        """Private modes whose last setting was not the terminal's own (only the cursor is on by itself)."""
        last = dict(re.findall(rb"\x1b\[\?(\d+)([hl])", self.seen))
        return [
            mode
            for mode in MODES
            if last.get(mode, b"l") != (b"h" if mode == b"25" else b"l") and mode in last
        ]


@pytest.fixture
def demo() -> Terminal:
    terminal = Terminal("--demo")
    terminal.until(r"\bask\b")
    return terminal


def test_it_starts_takes_keys_and_leaves_the_terminal_as_it_was(demo: Terminal) -> None:
    demo.until("Find where the order total")
    demo.child.send(" and more")
    demo.until("and more")
    demo.child.send("\x11")  # Ctrl+Q
    assert demo.end() == 0
    assert demo.modes_left_on() == []


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)]
)
def test_signals_end_it_in_order(demo: Terminal, number: int, status: int) -> None:
    demo.until("Find where")
    demo.child.kill(number)
    assert demo.end() == status
    assert demo.modes_left_on() == []


def test_a_signal_ends_a_run_and_its_question(demo: Terminal) -> None:
    demo.until("Find where")
    demo.child.send("\r")
    demo.until("Approve")
    demo.child.kill(signal.SIGTERM)
    assert demo.end() == 143
    assert demo.modes_left_on() == []


def test_escape_in_a_question_stops_the_run_and_the_mode_stays_in_view(demo: Terminal) -> None:
    demo.until("Find where")
    demo.child.send("\r")
    demo.until("Approve")
    demo.until(r"\n ask .*\Z")
    demo.child.send("\x1b")
    demo.until("stopped")
    assert "Approve" not in demo.text
    demo.child.send("next\x11")
    assert demo.end() == 0


def test_a_closed_terminal_ends_it(demo: Terminal) -> None:
    os.close(demo.child.child_fd)
    deadline = time.monotonic() + 5
    while demo.child.isalive():
        assert time.monotonic() < deadline
    assert demo.child.exitstatus == 129


def test_without_a_key_it_explains_and_leaves_no_traceback(tmp_path: Path) -> None:
    terminal = Terminal(str(tmp_path))
    terminal.until("ANTHROPIC_API_KEY")
    time.sleep(0.8)
    terminal.child.send("q")
    assert terminal.end() == 0
    assert "Traceback" not in terminal.text
