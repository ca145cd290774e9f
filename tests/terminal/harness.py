"""The installed program in a real terminal: a pty, a screen that pyte draws, and answers to what is asked.

    term = terminal(api=api)                  # `terminal` is the fixture of this folder
    term.wait_for(r"Ask for something")
    term.send("hello\\r")
    term.send(ESC); term.wait_for("stopped")
    assert term.quit() == 0 and term.left_on() == set()

A thread drains the pty, keeps every byte with the time it came, and answers queries as a terminal does.
The screen is drawn from these bytes when somebody looks. `left_on` and `smuggled` read the bytes
themselves: which modes are still on, and whether anything live came that is none of the program's.
"""

from __future__ import annotations

import os
import re
import select
import signal
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import ptyprocess
import pyte
import pytest

ESC, CR = "\x1b", "\r"
PATIENCE = 30.0
"""Seconds to wait for what must come, on a machine that is busy with other tests."""

_QUERY = re.compile(rb"\x1b\[0?c|\x1b\[[56]n|\x1b\]1[01];\?(?:\x07|\x1b\\)|\x1b\[\?(\d+)\$p|\x1b\[\?u")
_SEQUENCE = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_][^\x1b]*\x1b\\"
    rb"|\x1b[ -/]*[0-OQ-WYZ\\`-~]"
)
_MODES = re.compile(rb"\x1b\[\?([\d;]+)([hl])|\x1b\[([<>])(\d*)u|\x1b\[>4(?:;(\d))?m")
# What pyte would print or misread.
_ODD = re.compile(rb"\x1b\[[<=>][\d;:]*[ -/]*[@-~]|\x1b\[\?[\d;]*\$p|\x1b\[\?u|\x1b\[[\d;]* q|\x1b\[[\d;]*t")
# All that the program says to a terminal: colours, cursor, erasing, scrolling, modes, queries.
_OURS = re.compile(
    r"\x1b\[[\d;:]*m|\x1b\[[\d;]*[ABCDEFGHJKSTdfr]|\x1b\[\?[\d;]+[hl]|\x1b\[\?\d+\$p|\x1b\[[<>=][\d;]*u"
    r"|\x1b\[\?u|\x1b\[>4(?:;\d)?m|\x1b\[\d? q|\x1b\[0?c|\x1b\[[56]n|\x1b\]1[01];\?(?:\x07|\x1b\\)"
    r"|\x1b\[1[468]t|\x1b\[2[23];2t|\x1b[78]|\x1b\]22;\w+\x07|\x1b\]2;(?:● )?tui-agent: \w+\x07"
)
_HALF = re.compile(r"\x1b(?:\[[\d;:<=>?]*|\][^\x07\x1b]*)?\Z")
"""What the pty has brought so far of a sequence at the end."""
_LIVE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)


def heavy(*values: Any) -> list[Any]:
    """Parameters that only the long run tries: each start of the program costs two seconds of a processor."""
    return [pytest.param(value, marks=pytest.mark.heavy) for value in values]


class Terminal:
    """One run of the program. `kitty` makes it a terminal that knows that keyboard protocol."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        folder: Path,
        env: Mapping[str, str],
        size: tuple[int, int] = (120, 40),
        kitty: bool = False,
        typed: bytes = b"",
    ) -> None:
        columns, rows = size
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._fed = 0
        self._kitty = kitty
        self._news = threading.Condition()
        self._master_open = True
        self.folder = folder
        self.chunks: list[tuple[float, bytes]] = []
        self.raw = b""
        self._process = ptyprocess.PtyProcess.spawn(
            list(command), cwd=str(folder), env=dict(env), dimensions=(rows, columns)
        )
        self.pid: int = self._process.pid
        self._fd: int = self._process.fd
        self.before = termios.tcgetattr(self._fd)
        self._pidfd = os.pidfd_open(self.pid)
        if typed:
            self.send(typed)
        self._reader = threading.Thread(target=self._drain, daemon=True)
        self._reader.start()

    # What it shows -----------------------------------------------------------------------------------

    def _drain(self) -> None:
        asked = b""
        while True:
            try:
                data = os.read(self._fd, 65_536)
            except OSError:
                data = b""
            with self._news:
                if data:
                    self.chunks.append((time.monotonic(), data))
                    self.raw += data
                self._news.notify_all()
            if not data:
                return
            asked += data
            end = 0
            for match in _QUERY.finditer(asked):
                end = match.end()
                self._answer(match)
            asked = asked[max(end, len(asked) - 16) :]

    def _answer(self, query: re.Match[bytes]) -> None:
        asked = query[0]
        if asked.endswith(b"c"):
            reply = b"\x1b[?62;22c"
        elif asked == b"\x1b[6n":
            reply = b"\x1b[1;1R"
        elif asked == b"\x1b[5n":
            reply = b"\x1b[0n"
        elif asked == b"\x1b[?u":
            reply = b"\x1b[?0u" if self._kitty else b""
        elif query[1]:
            reply = b"\x1b[?%s;%d$y" % (query[1], 2 if query[1] == b"2026" else 0)
        else:
            colour = b"ffff/ffff/ffff" if asked[3:4] == b"0" else b"0000/0000/0000"
            reply = asked[:5] + b"rgb:" + colour + b"\x1b\\"
        try:
            os.write(self._fd, reply)
        except OSError:
            pass  # the program has gone meanwhile

    def _feed(self) -> None:
        data = self.raw[self._fed :]
        last = data.rfind(b"\x1b")
        if last >= 0 and len(data) - last < 4096 and not _SEQUENCE.match(data, last):
            data = data[:last]
        self._fed += len(data)
        self._stream.feed(_ODD.sub(b"", data))

    def screen(self) -> str:
        with self._news:
            self._feed()
            return "\n".join(line.rstrip() for line in self._screen.display)

    def wait_until(self, condition: Callable[[], object], what: str, timeout: float = PATIENCE) -> float:
        """Wait for a condition that only new output, or time, can bring. Returns when it held."""
        end = time.monotonic() + timeout
        while not condition():
            with self._news:
                self._news.wait(0.02)
            if not self._reader.is_alive() and not condition():
                raise AssertionError(f"the program ended without {what}. The screen:\n{self.screen()}")
            if time.monotonic() > end:
                raise AssertionError(f"no {what} after {timeout:.0f} s. The screen:\n{self.screen()}")
        return time.monotonic()

    def wait_for(self, pattern: str, timeout: float = PATIENCE) -> float:
        return self.wait_until(lambda: re.search(pattern, self.screen()), repr(pattern), timeout)

    def wait_gone(self, pattern: str, timeout: float = PATIENCE) -> float:
        return self.wait_until(lambda: not re.search(pattern, self.screen()), f"end of {pattern!r}", timeout)

    def quiet(self, seconds: float = 0.6, timeout: float = PATIENCE) -> None:
        """Wait until nothing is written for so long, counted from now."""
        now = time.monotonic()
        self.wait_until(
            lambda: time.monotonic() - max([now, *(at for at, _ in self.chunks[-1:])]) >= seconds,
            "quiet",
            timeout,
        )

    # What is done to it ------------------------------------------------------------------------------

    def send(self, data: str | bytes) -> float:
        """All of it, as one burst. Returns when."""
        rest = memoryview(data.encode() if isinstance(data, str) else data)
        at = time.monotonic()
        while rest:
            rest = rest[os.write(self._fd, rest[:4096]) :]
        return at

    def type(self, text: str, pause: float = 0.02) -> None:
        """Key by key, as a person does."""
        for character in text:
            self.send(character)
            time.sleep(pause)

    def resize(self, columns: int, rows: int) -> None:
        with self._news:
            self._feed()
            self._screen.resize(rows, columns)
        self._process.setwinsize(rows, columns)

    def kill(self, number: int) -> None:
        os.kill(self.pid, number)

    def hang_up(self) -> None:
        """Close the terminal, as its window's button does."""
        self._master_open = False
        self._process.fileobj.close()

    # How it ends -------------------------------------------------------------------------------------

    def alive(self) -> bool:
        return not select.select([self._pidfd], [], [], 0)[0]

    def exit_code(self, timeout: float = PATIENCE) -> int:
        """Wait for the end. A negative code is the signal that killed it."""
        if not select.select([self._pidfd], [], [], timeout)[0]:
            raise AssertionError(f"still running after {timeout:.0f} s. The screen:\n{self.screen()}")
        self._process.isalive()
        self._reader.join(5)
        status, number = self._process.exitstatus, self._process.signalstatus
        return -number if status is None else status

    def quit(self) -> int:
        """Ctrl+Q, a yes where a turn is in its last moment, and the exit code."""
        self.send(b"\x11")
        asked = "cancel the run and quit"
        self.wait_until(lambda: not self._reader.is_alive() or asked in self.screen(), "the end")
        if self._reader.is_alive():
            self.send("y")
        code = self.exit_code()
        if code:
            print(self.raw[-4000:].decode("utf-8", "replace"))
        return code

    def left_on(self) -> set[str]:
        """What of the terminal is not as the program found it."""
        modes: set[str] = set()
        for numbers, how, kitty, _, other in _MODES.findall(self.raw):
            for number in numbers.split(b";") if numbers else []:
                name, on = f"?{number.decode()}", how == b"h"
                if number in (b"25", b"7"):
                    name, on = f"{name} off", not on
                (modes.add if on else modes.discard)(name)
            if kitty:
                (modes.add if kitty == b">" else modes.discard)("kitty keyboard")
            elif not numbers:
                (modes.add if other not in (b"", b"0") else modes.discard)("modifyOtherKeys")
        modes.discard("?2026")  # synchronized output ends by itself
        if self._master_open and termios.tcgetattr(self._fd)[:4] != self.before[:4]:
            modes.add("line settings")
        return modes

    def smuggled(self) -> list[str]:
        """Sequences and live characters in the output that the program itself never writes."""
        text = self.raw.decode("utf-8", "replace")
        rest = _HALF.sub("", _OURS.sub("", text))
        return sorted({match[0] for match in re.finditer(rf"\x1b.{{0,20}}|{_LIVE.pattern}", rest)})

    def leftovers(self) -> dict[int, str]:
        """Processes other than the program that work in its folder."""
        found = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) not in (self.pid, os.getpid()):
                try:
                    inside = Path(os.readlink(entry / "cwd")).is_relative_to(self.folder.resolve())
                    if inside and (entry / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
                        found[int(entry.name)] = (
                            (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                        )
                except OSError:
                    continue
        return found

    def close(self) -> None:
        """End it, whatever it does."""
        if self.alive():
            os.kill(self.pid, signal.SIGCONT)
            os.kill(self.pid, signal.SIGKILL)
            self.exit_code(10)
        for pid in self.leftovers():
            os.kill(pid, signal.SIGKILL)
        if self._master_open:
            self.hang_up()
        os.close(self._pidfd)
