"""The draft of a running program on disk, so that a crash does not lose it.

Each program has a file of its own in the folder's place and holds a lock on it. A file that nobody locks was
left by a program that is gone: its draft is taken over by the next one that starts in that folder.
"""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

from tui_agent import paths
from tui_agent.ui.drafts.draft import Draft

LARGEST = 4_000_000
"""Bytes of a draft that is kept."""


class DraftFile:
    """Its methods wait for the disk: call them in a thread, one at a time."""

    def __init__(self, folder: Path) -> None:
        self.place = paths.state_folder() / "drafts" / paths.folder_key(folder)
        self._fd = -1
        self._path = self.place / f"{os.getpid()}.json"

    def take_over(self) -> list[Draft]:
        """The drafts of programs that are gone, oldest first. Their files are removed."""
        try:
            found = sorted(self.place.glob("*.json"), key=lambda path: path.lstat().st_mtime)
        except OSError:
            return []
        return [draft for path in found if (draft := self._orphan(path))]

    def write(self, draft: Draft) -> None:
        """Keep this one, or none if it is blank."""
        data = json.dumps(draft.as_json(), separators=(",", ":")).encode()
        if not draft or len(data) > LARGEST:
            self.remove()
            return
        if self._fd < 0:
            self._open()
        # The old text goes last: what a crash leaves in between begins with a whole draft.
        os.pwrite(self._fd, data, 0)
        os.ftruncate(self._fd, len(data))

    def remove(self) -> None:
        if self._fd >= 0:
            self._path.unlink(missing_ok=True)
            self.close()

    def close(self) -> None:
        """Leave the draft to the next program."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _open(self) -> None:
        number = 0
        while True:
            fd = paths.open_private(self._path, os.O_RDWR | os.O_CREAT)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.samestat(os.fstat(fd), os.stat(self._path)):
                    self._fd = fd
                    return
            except (BlockingIOError, FileNotFoundError):  # another's (ids come again), or just taken over
                number += 1
                self._path = self.place / f"{os.getpid()}-{number}.json"
            os.close(fd)

    def _orphan(self, path: Path) -> Draft | None:
        try:
            fd = paths.open_private(path, os.O_RDWR)
        except OSError:
            return None
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            data = os.pread(fd, LARGEST, 0)
            path.unlink(missing_ok=True)
            value, _ = json.JSONDecoder().raw_decode(data.decode(errors="replace"))
            return Draft.from_json(value)
        except (OSError, ValueError, RecursionError):
            return None
        finally:
            os.close(fd)
