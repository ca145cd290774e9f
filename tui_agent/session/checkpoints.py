"""Before-images: the contents of files as they were, kept in the session's folder under their SHA-256.

A content is on disk, whole and synced, before it may be overwritten; equal contents are one file. Nothing
here is changed or read twice: what a crash left half done has another name, and what was damaged since no
longer fits its own. So a session that is continued holds what it held.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tui_agent import paths
from tui_agent.text import size_text

FOLDER = "blobs"
LARGEST = 16_000_000
"""Bytes of one content."""
MOST = 512_000_000
"""Bytes of all contents of a session."""


class Checkpoints:
    """The contents that a session holds, below `place`. Why one can't be kept is told to `notify`, once.

    What is `secret` is never kept.
    """

    def __init__(
        self,
        place: Path,
        notify: Callable[[str], None] = lambda text: None,
        *,
        secret: Callable[[bytes], bool] = lambda data: False,
        largest: int = LARGEST,
        most: int = MOST,
    ) -> None:
        self.folder = place / FOLDER
        self._notify = notify
        self._secret = secret
        self._largest = largest
        self._most = most
        self._size: int | None = None
        self._told: set[str] = set()
        self._lock = threading.Lock()

    def keep(self, data: bytes, *, durable: bool = True) -> str | None:
        """The hash under which `data` is held from now on; None if it could not be kept.

        Without `durable` a crash of the machine may lose it, which costs less time.
        """
        name = hashlib.sha256(data).hexdigest()
        with self._lock:
            if self._has(name, len(data)):
                return name
            if len(data) > self._largest:
                self._tell(
                    f"Files over {size_text(self._largest)} are not kept, so their changes can't be undone."
                )
                return None
            if self._secret(data):
                self._tell("Files that hold the key are not kept, so their changes can't be undone.")
                return None
            if self._used() + len(data) > self._most:
                self._tell(
                    f"This session holds {size_text(self._most)} of earlier file contents, the most it may. "
                    "Changes from now on can't be undone; a new session (/clear) can hold them again."
                )
                return None
            try:
                paths.replace_private(self.folder / name, data, durable=durable)
            except OSError as error:
                why = error.strerror or error
                self._tell(f"Earlier contents of files are not kept: {why} ({self.folder}). Make room there.")
                return None
            self._size = self._used() + len(data)
        return name

    def get(self, name: str | None) -> bytes | None:
        """The content with this hash, if it is held and undamaged."""
        if name is None or not name.isalnum():
            return None
        try:
            data = paths.read_small(self.folder / name, self._largest, follow=False)
        except OSError:
            return None
        return data if hashlib.sha256(data).hexdigest() == name else None

    def adopt(self, other: Path) -> None:
        """Hold what another session's folder holds, too."""
        with suppress(OSError), os.scandir(other / FOLDER) as entries:
            paths.private_folder(self.folder)
            for entry in entries:
                with suppress(OSError):
                    os.link(entry.path, self.folder / entry.name, follow_symlinks=False)

    def _has(self, name: str, size: int) -> bool:
        try:
            return os.lstat(self.folder / name).st_size == size
        except OSError:
            return False

    def _used(self) -> int:
        if self._size is None:
            self._size = 0
            with suppress(OSError), os.scandir(self.folder) as entries:
                self._size = sum(entry.stat(follow_symlinks=False).st_size for entry in entries)
        return self._size

    def _tell(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._notify(text)
