"""A session on disk: append-only lines in a file that nobody else reads, held by one program at a time.

Opening repairs before it appends: a torn last line is moved to a file beside it and cut off, so that the
next record can't join it. Each record is one `write()`. When writing fails (a full disk), the person is
told once, the run goes on, and what is owed is written as soon as it can be.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tui_agent import paths
from tui_agent.agent import AgentEvent
from tui_agent.agent.events import FLEETING
from tui_agent.session.checkpoints import Checkpoints
from tui_agent.session.entries import Entry, Header, decode, encode

FILE = "session.jsonl"
DAMAGED = "damaged.txt"


class SessionError(Exception):
    """A session that can't be opened or made, with the next step."""


class InUse(SessionError):
    """Another program holds this session."""


class SessionStore:
    """An open session. `place` is its own folder, where spill files and before-images go, too.

    What the person should know goes to `notify`, which collects `notices` until someone shows them.
    """

    def __init__(self, place: Path, fd: int, redact: Callable[[str], str]) -> None:
        self.place = place
        self.header: Header
        self.events: list[AgentEvent] = []
        self.notices: list[str] = []
        self.notify: Callable[[str], None] = self.notices.append
        self._fd = fd
        self._redact = redact
        self._owed: list[bytes] = []
        self._failing = False
        self._asked = False

    @classmethod
    def create(
        cls, folder: Path, *, redact: Callable[[str], str] = str, forked_from: str | None = None
    ) -> SessionStore:
        """A new, empty session for a working folder."""
        identity = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
        place = paths.sessions_folder() / paths.folder_key(folder) / identity
        try:
            store = cls(place, lock(place / FILE, os.O_CREAT | os.O_EXCL), redact)
        except OSError as error:
            raise SessionError(
                f"the session can't be saved in {place}: {error.strerror or error}. "
                "Make room or rights there, or set XDG_STATE_HOME to a folder of yours."
            ) from None
        real = os.fsencode(os.path.realpath(folder)).decode("utf-8", "replace")
        store.header = Header(id=identity, folder=real, forked_from=forked_from)
        store._write(encode(store.header))
        return store

    @classmethod
    def open(cls, place: Path, *, redact: Callable[[str], str] = str) -> SessionStore:
        """An earlier session, repaired and loaded. Raises `InUse` while another program holds it."""
        file = place / FILE
        try:
            store = cls(place, lock(file), redact)
        except BlockingIOError:
            raise InUse(f"the session {place.name} is open in another program") from None
        except OSError as error:
            raise SessionError(f"the session {file} can't be opened: {error.strerror or error}.") from None
        try:
            store._load()
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def fork(cls, place: Path, folder: Path, *, redact: Callable[[str], str] = str) -> SessionStore:
        """A new session that begins as a copy of another one as it is now."""
        _, events, _ = load(place)
        store = cls.create(folder, redact=redact, forked_from=place.name)
        for event in events:
            store.append(event)
        store.events = events
        Checkpoints(store.place).adopt(place)
        store.notify(
            f"The session {place.name} is open in another program: this is a copy of it, {store.id}."
        )
        return store

    @property
    def id(self) -> str:
        return self.place.name

    def append(self, event: AgentEvent) -> None:
        """Store an event, unless it is one for the screen only."""
        if event.type not in FLEETING:
            self._asked = self._asked or event.type == "turn_started"
            self._write(encode(event))

    def sync(self) -> None:
        """Return once everything is on the disk. May take a while: not for the UI loop."""
        with suppress(OSError):
            os.fdatasync(self._fd) if hasattr(os, "fdatasync") else os.fsync(self._fd)

    def close(self) -> None:
        """Let it go. A session in which nothing was ever asked leaves nothing behind."""
        if self._fd < 0:
            return
        if not self._asked:
            with suppress(OSError):  # only ours alone: rmdir refuses a folder that holds more
                (self.place / FILE).unlink()
                self.place.rmdir()
                self.place.parent.rmdir()
        fd, self._fd = self._fd, -1
        os.close(fd)

    def _write(self, line: str) -> None:
        self._owed.append(self._redact(line).encode("utf-8", "backslashreplace"))
        data = b"".join(self._owed)
        try:
            size = os.fstat(self._fd).st_size
            if os.write(self._fd, data) != len(data):
                os.ftruncate(self._fd, size)  # no torn record: all of it later, or none
                raise OSError("the disk is full")
        except OSError as error:
            if not self._failing:
                why = error.strerror or error
                self.notify(f"The session is not being saved: {why} ({self.place}). Make room there.")
            self._failing = True
        else:
            self._owed.clear()
            self._failing = False

    def _load(self) -> None:
        data = self._repair(_read(self._fd))
        self.header, self.events, lost = _parse(data, self.place)
        self._asked = True
        if lost:
            which = "1 damaged record was" if lost == 1 else f"{lost} damaged records were"
            self.notify(f"{which} left out of this session ({self.place}).")

    def _repair(self, data: bytes) -> bytes:
        """The file's bytes, ending in a whole line. So does the file, before anything is appended."""
        whole = data[: data.rfind(b"\n") + 1]
        tail = data[len(whole) :]
        if not tail:
            return data
        if any(isinstance(part, Entry) for part in decode(tail)):
            os.write(self._fd, b"\n")
            return data
        if tail.strip(b"\0"):
            self._set_aside(tail)
            self.notify(f"This session's last record was cut short; it is in {self.place / DAMAGED}.")
        os.ftruncate(self._fd, len(whole))
        self.sync()
        return whole

    def _set_aside(self, tail: bytes) -> None:
        fd = paths.open_private(self.place / DAMAGED, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        with os.fdopen(fd, "wb") as file:
            file.write(tail + b"\n")
            file.flush()
            os.fsync(fd)


def load(place: Path) -> tuple[Header, list[AgentEvent], int]:
    """Header, events and the number of damaged records, without opening the session for writing."""
    return _parse(paths.read_small(place / FILE, 1 << 32), place)


def _parse(data: bytes, place: Path) -> tuple[Header, list[AgentEvent], int]:
    header: Header | None = None
    events: list[AgentEvent] = []
    lost = 0
    for line in data.split(b"\n"):
        for part in decode(line):
            if isinstance(part, bytes):
                lost += 1
            elif part.event is not None:
                events.append(part.event)
            else:
                header = header or part.session
    return header or Header(id=place.name, folder=""), events, lost


def _read(fd: int) -> bytes:
    chunks = []
    offset = 0
    while chunk := os.pread(fd, 1 << 20, offset):
        chunks.append(chunk)
        offset += len(chunk)
    return b"".join(chunks)


def lock(file: Path, flags: int = 0) -> int:
    """The session file, open for appending and ours alone; BlockingIOError if someone else has it."""
    fd = paths.open_private(file, os.O_RDWR | os.O_APPEND | flags)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise
    except OSError:
        pass  # a file system without locks: better unlocked than unusable
    return fd
