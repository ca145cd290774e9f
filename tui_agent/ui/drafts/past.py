"""Earlier prompts: a walk through them, and the file that keeps them for a folder.

The file has one JSON object a line, oldest first. Sessions in one folder write to it at the same time: each
line is one append, and the file is shortened under a lock, by replacing it.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tui_agent import paths
from tui_agent.ui.drafts.draft import Draft

MOST = 1000
"""Prompts that a shortened file keeps."""
LARGEST = 8_000_000
"""Bytes from which a file is shortened; of a longer one only the end is read."""
LARGEST_ENTRY = 1_000_000
"""A prompt that takes more bytes is remembered by this session only."""


class Past:
    """Earlier prompts, oldest first, and a place in them. At the newest end stands the draft."""

    def __init__(self) -> None:
        self.entries: list[Draft] = []
        self._draft = Draft("")
        self._place = 0

    def begin_with(self, earlier: Sequence[Draft]) -> None:
        """Put what a file had before what is here already."""
        known = {draft.text for draft in earlier}
        walked = len(self.entries) - self._place
        self.entries = [*earlier, *(draft for draft in self.entries if draft.text not in known)]
        self._place = max(0, len(self.entries) - walked)

    def add(self, draft: Draft) -> None:
        """Remember it as the newest (not twice in a row) and go to the end."""
        if not self.entries or self.entries[-1] != draft:
            self.entries.append(draft)
        self._place = len(self.entries)
        self._draft = Draft("")

    def older(self, current: Draft) -> Draft | None:
        """The entry before this one; `current` becomes the draft when the walk begins."""
        if self._place == 0:
            return None
        if self._place == len(self.entries):
            self._draft = current
        self._place -= 1
        return self.entries[self._place]

    def newer(self) -> Draft | None:
        if self._place >= len(self.entries):
            return None
        self._place += 1
        return self._draft if self._place == len(self.entries) else self.entries[self._place]

    def found(self, query: str) -> list[Draft]:
        """Those that have every word of `query`, newest first, each once."""
        words = query.lower().split()
        newest = {draft.text: draft for draft in self.entries}
        order = dict.fromkeys(draft.text for draft in reversed(self.entries))
        return [newest[text] for text in order if all(word in text.lower() for word in words)]


class PastFile:
    """The prompts of a folder on disk. Its methods wait for the disk: call them in a thread."""

    def __init__(self, folder: Path) -> None:
        self.path = paths.state_folder() / "prompts" / f"{paths.folder_key(folder)}.jsonl"

    def read(self) -> list[Draft]:
        """The newest prompts, oldest of them first; lines that can't be read are passed over."""
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return []
        with os.fdopen(fd, "rb") as file:
            size = os.fstat(fd).st_size
            file.seek(max(0, size - LARGEST))
            data = file.read(LARGEST)
        if size > LARGEST:
            data = data.partition(b"\n")[2]
        return list(_distinct(_drafts(data)))[-MOST:]

    def append(self, draft: Draft) -> None:
        line = _line(draft)
        if len(line) > LARGEST_ENTRY:
            return
        with self._locked() as fd:
            if not _ends_with_newline(fd):
                line = b"\n" + line
            os.write(fd, line)
            if os.fstat(fd).st_size > LARGEST:
                self._shorten()

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """The file, open to append and locked. It may have been replaced while we waited for the lock."""
        while True:
            fd = paths.open_private(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX)
                with suppress(FileNotFoundError):
                    if os.path.samestat(os.fstat(fd), os.stat(self.path, follow_symlinks=False)):
                        yield fd
                        return
            finally:
                os.close(fd)

    def _shorten(self) -> None:
        kept: list[bytes] = []
        room = LARGEST // 2
        for draft in reversed(self.read()):
            line = _line(draft)
            if len(line) > room:
                break
            room -= len(line)
            kept.append(line)
        paths.replace_private(self.path, b"".join(reversed(kept)))


def _line(draft: Draft) -> bytes:
    return json.dumps(draft.as_json(), separators=(",", ":")).encode() + b"\n"


def _drafts(data: bytes) -> Iterator[Draft]:
    for line in data.split(b"\n"):
        try:
            draft = Draft.from_json(json.loads(line))
        except (ValueError, RecursionError):
            continue
        if draft:
            yield draft


def _distinct(drafts: Iterable[Draft]) -> Iterator[Draft]:
    last: Draft | None = None
    for draft in drafts:
        if draft != last:
            yield draft
        last = draft


def _ends_with_newline(fd: int) -> bool:
    size = os.fstat(fd).st_size
    return size == 0 or os.pread(fd, 1, size - 1) == b"\n"
