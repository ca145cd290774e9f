"""What a command prints, kept within bounds however much it is.

Its head and its tail stay in memory. As soon as something between them would be lost, everything goes to
a spill file too, readable by its owner only and capped; what is beyond the cap is counted and dropped.
Frames that a progress bar overwrote (`\\r`) are dropped before anything else, so they neither push real
output out nor count.

A `Capture` is fed by the thread that reads the pipe and may be read from others.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tui_agent.tools.plain import last_frame, plain
from tui_agent.tools.truncate import LIMIT, clip

HEAD, TAIL = 12_500, 37_500
"""Bytes kept of the beginning and of the end: together the 50,000 characters of any tool result."""
MOST = LIMIT + 1000
"""Characters of a text for the model. Drawing what is hidden makes it longer than its bytes."""
SPILL_CAP = 64 * 1024 * 1024
LINE = 16 * 1024
"""An unfinished line is held back this long, in bytes, in case it gets overwritten."""
OVERLAP = 1024
"""Bytes of a long unfinished line that wait for the rest, since a secret may end in it."""
LIVE = 4_000
"""Bytes at the end that are shown while a command runs."""
NEAR = 4_000
"""A cut moves this far, in bytes, to fall between two lines."""


class Spill:
    """The file that takes what memory doesn't keep. A full disk ends the spill, never the command."""

    def __init__(self, folder: Path) -> None:
        self.path: Path | None = None
        self.size = 0
        self.full = False
        self.fault = ""
        self._fd = -1
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._fd, path = tempfile.mkstemp(prefix="output-", suffix=".txt", dir=folder)  # made as 0600
            self.path = Path(path)
        except OSError as error:
            self.fault = error.strerror or str(error)

    def write(self, data: bytes) -> None:
        room = memoryview(data)[: SPILL_CAP - self.size]
        self.full = self.full or len(room) < len(data)
        try:
            while room and not self.fault:
                written = os.write(self._fd, room)
                self.size += written
                room = room[written:]
        except OSError as error:
            self.fault = error.strerror or str(error)

    def close(self) -> None:
        if self._fd >= 0:
            with suppress(OSError):
                os.close(self._fd)
            self._fd = -1

    def __str__(self) -> str:
        """Where to find what was left out."""
        holds = f"{self.size:,} bytes are in {self.path}"
        if self.fault and not self.size:
            return f"they could not be kept: {self.fault}"
        if self.fault:
            return f"only the first {holds}: {self.fault}"
        return f"the first {holds}, the rest was dropped" if self.full else f"all {holds}"


class Capture:
    """`folder` is where a spill may be made; without one, what memory doesn't keep is only counted.

    `scrub` takes out what must not be kept anywhere; it sees whole lines, or a long one in overlapping parts.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        scrub: Callable[[bytes], bytes] = bytes,
        head: int = HEAD,
        tail: int = TAIL,
    ) -> None:
        self._folder = folder
        self._scrub = scrub
        self._most_head, self._most_tail = head, tail
        self._lock = threading.Lock()
        self._head, self._tail = bytearray(), bytearray()
        self._seen = 0
        self._line = b""
        self._spill: Spill | None = None

    @property
    def path(self) -> Path | None:
        """The spill file, if there is one with something in it."""
        return self._spill.path if self._spill and self._spill.size else None

    def feed(self, data: bytes) -> None:
        with self._lock:
            data = self._line + data
            cut = data.rfind(b"\n") + 1
            done, line = data[:cut], data[cut:]
            if b"\r" in done:
                done = b"\n".join(map(last_frame, done.split(b"\n")))
            if b"\r" in line:  # a CR at the end may yet turn out to be half of a CRLF
                line = last_frame(line) + (b"\r" if line.endswith(b"\r") else b"")
            if len(line) > LINE:
                line = self._scrub(line)  # what is cut in two here would not be found later
                done, line = done + line[:-OVERLAP], line[-OVERLAP:]
            self._line = line
            self._keep(self._scrub(done))

    def latest(self) -> str:
        """The end of the output, for the eye, while it grows."""
        with self._lock:
            held = bytes(self._head + self._tail if len(self._tail) < LIVE else self._tail)
            line = self._scrub(self._line)
            data = (held + line)[-LIVE:]
            return plain(data[_start(data) :] if len(held) + len(line) > LIVE else data)

    def take(self) -> str:
        """What came since the last `take`, for the model: head, what was left out and where it is, tail."""
        with self._lock:
            self._keep(self._scrub(last_frame(self._line)))
            head, tail, seen = bytes(self._head), bytes(self._tail), self._seen
            self._line, self._seen = b"", 0
            self._head.clear()
            self._tail.clear()
        if seen == len(head) + len(tail):
            return clip(plain(head + tail), MOST, head=0.25)
        head, tail = head[: _end(head)], tail[_start(tail) :]
        where = self._spill or "make the command print less (head, tail, grep) to see them"
        notice = f"[… {seen - len(head) - len(tail):,} bytes left out here; {where} …]"
        return clip(f"{plain(head).rstrip(chr(10))}\n{notice}\n{plain(tail)}", MOST, head=0.25)

    def close(self) -> None:
        if self._spill:
            self._spill.close()

    def _keep(self, data: bytes) -> None:
        self._seen += len(data)
        if self._spill:
            self._spill.write(data)
        room = max(0, self._most_head - len(self._head))
        self._head += data[:room]
        self._tail += data[room:]
        over = len(self._tail) - self._most_tail
        if over > 0:
            if self._folder and not self._spill:
                self._spill = Spill(self._folder)
                self._spill.write(bytes(self._head + self._tail))
            del self._tail[:over]


def _end(data: bytes) -> int:
    """Where to end the head: after a line if one ends near, else after a whole character."""
    line = data.rfind(b"\n", -NEAR) + 1
    if line:
        return line
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(data) - back if length > back else len(data)
        if byte < 0x80:
            break
    return len(data)


def _start(data: bytes) -> int:
    """Where to begin the tail: at a line if one begins near, else at a whole character."""
    line = data.find(b"\n", 0, NEAR) + 1
    if 0 < line < len(data):
        return line
    return next((skip for skip in range(min(4, len(data))) if data[skip] & 0xC0 != 0x80), 0)
