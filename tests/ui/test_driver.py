"""The driver on a real terminal (a pty): a small app writes down what arrives."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

APP = """
import os, sys
from pathlib import Path
import tui_agent.ui
from textual import events
from textual.app import App
from textual.widget import Widget
from tui_agent.ui.driver import TerminalDriver

class Taker(Widget, can_focus=True):
    def note(self, text):
        with open("heard", "a") as file:
            file.write(text + "\\n")
    def on_key(self, event):
        self.note(f"key {event.key} {event.time:.4f}")
        if event.key == "f9":
            os.write(2, b"PAINTED")
            os.write(1, b"PAINTED")
            self.note("written")
    def on_paste(self, event):
        self.note(f"paste {event.text!r}")

class Host(App):
    def compose(self):
        yield Taker()
    def on_mount(self):
        self.query_one(Taker).focus()
        self.call_after_refresh(lambda: Path("ready").touch())

TerminalDriver.log = Path("log")
app = Host(driver_class=TerminalDriver)
app.run()
os.write(2, b"after the end\\n")
sys.exit(app.return_code or 0)
"""


class Terminal:
    def __init__(self, folder: Path, early: bytes = b"", **environ: str) -> None:
        self.folder = folder
        self.output = b""
        self.hung_up = False
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        os.write(self.master, early)
        self.process = subprocess.Popen(
            [sys.executable, "-c", APP],
            cwd=folder,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            env={**os.environ, "TERM": "xterm-256color", "PYTHONPATH": os.pathsep.join(sys.path), **environ},
        )
        os.close(slave)
        self._reader = threading.Thread(target=self._drain, daemon=True)
        self._reader.start()
        self.until(lambda: (folder / "ready").exists())

    def _drain(self) -> None:
        while not self.hung_up:
            if select.select([self.master], [], [], 0.05)[0]:
                try:
                    self.output += os.read(self.master, 65_536)
                except OSError:
                    return

    def until(self, done: object, seconds: float = 10.0) -> None:
        end = time.monotonic() + seconds
        while not done():  # type: ignore[operator]
            if time.monotonic() > end or (self.process.poll() is not None and not done()):  # type: ignore[operator]
                raise AssertionError((self.process.poll(), self.heard(), self.output[-2000:]))
            time.sleep(0.005)

    def heard(self) -> list[str]:
        path = self.folder / "heard"
        return path.read_text().splitlines() if path.exists() else []

    def send(self, *parts: bytes | float) -> float:
        for part in parts:
            if isinstance(part, bytes):
                sent = time.monotonic()
                os.write(self.master, part)
            else:
                time.sleep(part)
        return sent

    def keys(self, *parts: bytes | float) -> list[str]:
        """What arrives before a key that is sent last of all."""
        before = len(self.heard())
        self.send(*parts, b"\x1b[20~")
        self.until(lambda: any(line.startswith("key f9") for line in self.heard()[before:]))
        lines = [
            line.rpartition(" ")[0] if line.startswith("key") else line for line in self.heard()[before:]
        ]
        return lines[: lines.index("key f9")]

    def hang_up(self) -> None:
        if not self.hung_up:
            self.hung_up = True
            self._reader.join()
            os.close(self.master)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.hang_up()


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    host = Terminal(tmp_path)
    yield host
    host.close()


def test_bytes_that_end_other_programs(terminal: Terminal) -> None:
    assert terminal.keys(b"\xff", 0.06, b"caf\xe9") == [
        "key replacement_character",
        "key c",
        "key a",
        "key f",
        "key replacement_character",
    ]
    assert terminal.keys(b"\x1b[97;1:1u", b"\x1b[228:196;2;196u", b"\x1b[1114112u") == [
        "key a",
        "key Ä",
    ]
    assert terminal.keys(b"caf\xc3", 0.02, b"\xa9\r") == [
        "key c",
        "key a",
        "key f",
        "key é",
        "key enter",
    ]


def test_pastes_and_new_lines(terminal: Terminal) -> None:
    assert terminal.keys(b"\x1b[200~x\x1b\ry\x1b[201~") == ["paste 'x\\ny'"]
    assert terminal.keys(b"a\x1b\rb") == ["key a", "key alt+enter", "key b"]
    assert terminal.keys(b"line1\rline2\rline3") == ["paste 'line1\\nline2\\nline3'"]
    assert terminal.keys(b"\x1b[<35;1", 0.15, b"50;7M", b"\x1b[1089;5u") == ["key ctrl+c"]


def test_a_lone_escape_comes_soon_and_a_split_arrow_stays_one(terminal: Terminal) -> None:
    delays = []
    for _ in range(5):
        before = len(terminal.heard())
        sent = terminal.send(b"\x1b")
        terminal.until(lambda before=before: len(terminal.heard()) > before)
        _, key, when = terminal.heard()[-1].split()
        assert key == "escape"
        delays.append(float(when) - sent)
        time.sleep(0.15)
    assert 0.02 < min(delays) < 0.06
    assert terminal.keys(b"\x1b", 0.01, b"[", 0.01, b"A") == ["key up"]


def test_what_is_typed_before_the_start_is_a_draft(tmp_path: Path) -> None:
    host = Terminal(tmp_path, early=b"/help\r")
    try:
        host.keys(b"x")
        assert host.heard()[0] == "paste '/help'"
        assert not any("enter" in line for line in host.heard())
    finally:
        host.close()


def test_descriptors_1_and_2_never_paint(terminal: Terminal) -> None:
    terminal.keys(b"")
    terminal.until(lambda: "written" in terminal.heard())
    terminal.send(b"\x11")
    assert terminal.process.wait(10) == 0
    terminal.until(lambda: b"after the end" in terminal.output)
    assert b"PAINTED" not in terminal.output
    assert (terminal.folder / "log").read_bytes() == b"PAINTEDPAINTED"
    assert (terminal.folder / "log").stat().st_mode & 0o777 == 0o600


def test_output_is_utf_8_whatever_the_locale_says(tmp_path: Path) -> None:
    host = Terminal(tmp_path, LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    try:
        host.send(b"\x11")
        assert host.process.wait(10) == 0
        assert b"\\u" not in host.output
    finally:
        host.close()


def test_a_closed_terminal_ends_it(terminal: Terminal) -> None:
    terminal.hang_up()
    assert terminal.process.wait(5) in (-signal.SIGHUP, 128 + signal.SIGHUP)
