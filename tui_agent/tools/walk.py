"""What is in a folder and below it, without following links, without recursion, with caps.

Folders come first, then files, each sorted by name; a folder is followed by what is in it.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from tui_agent.agent.errors import ToolError
from tui_agent.tools.ignore import FILE, Ignore
from tui_agent.tools.temp import STRAY
from tui_agent.tools.workspace import Workspace

_NAMES = 100_000
"""Names of one folder that are looked at."""


@dataclass(frozen=True)
class Entry:
    path: str
    depth: int
    kind: Literal["folder", "file", "link", "other"]
    size: int = 0
    note: str = ""
    """Why a folder is not entered, where a link points, what an odd object is."""

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


class Walk:
    """Iterate once; afterwards `stopped` says why it is not complete, and `unreadable` folders are counted.

    `check` is called between folders and may raise.
    """

    def __init__(
        self,
        workspace: Workspace,
        base: str,
        *,
        depth: int | None = None,
        limit: int,
        seconds: float,
        check: Callable[[], None],
    ) -> None:
        self.workspace = workspace
        self.base = base
        self.depth = depth
        self.limit = limit
        self.seconds = seconds
        self.check = check
        self.ignore = Ignore(workspace, base)
        self.stopped = ""
        self.unreadable = 0
        self._deadline = time.monotonic() + seconds

    def __iter__(self) -> Iterator[Entry]:
        fd = self.workspace.open_folder(self.base)
        self._device = os.fstat(fd).st_dev
        stack = [self._children(fd, self.base, 1)]
        given = 0
        while stack:
            entry = next(stack[-1], None)
            if entry is None:
                stack.pop()
                continue
            if given == self.limit:
                self.stopped = f"stopped after {self.limit:,} entries"
                return
            given += 1
            yield entry
            if entry.kind == "folder" and not entry.note and (self.depth is None or entry.depth < self.depth):
                self.check()
                if time.monotonic() > self._deadline:
                    self.stopped = f"stopped after {self.seconds:g} s"
                    return
                stack.append(self._below(entry))

    def _below(self, entry: Entry) -> Iterator[Entry]:
        try:
            fd = self.workspace.open_folder(entry.path, links=False)
            return self._children(fd, entry.path, entry.depth + 1)
        except (ToolError, OSError):
            self.unreadable += 1
            return iter(())

    def _children(self, fd: int, folder: str, depth: int) -> Iterator[Entry]:
        """The entries of an open folder, which is closed here."""
        try:
            names = self._names(fd)
            if FILE not in {name for name, _ in names}:
                self.ignore.none_in(folder)
            prefix = "" if folder == "." else f"{folder}/"
            names.sort(key=lambda pair: (not pair[1], pair[0]))
            return iter(
                [
                    self._entry(fd, prefix, name, is_folder, depth)
                    for name, is_folder in names[: self.limit + 1]
                ]
            )
        finally:
            os.close(fd)

    def _names(self, fd: int) -> list[tuple[str, bool]]:
        names: list[tuple[str, bool]] = []
        with os.scandir(fd) as found:
            for entry in found:
                if len(names) == _NAMES:
                    self.stopped = f"a folder has more than {_NAMES:,} entries"
                    break
                if not STRAY.fullmatch(entry.name):
                    names.append((entry.name, entry.is_dir(follow_symlinks=False)))
        return names

    def _entry(self, fd: int, prefix: str, name: str, is_folder: bool, depth: int) -> Entry:
        path = prefix + name
        try:
            found = os.lstat(name, dir_fd=fd)
        except OSError:
            return Entry(path, depth, "other", note="gone or not readable")
        if is_folder:
            note = "ignored, not listed" if self.ignore.ignores(path, folder=True) else ""
            if found.st_dev != self._device:
                note = "another file system, not listed"
            return Entry(path, depth, "folder", note=note)
        if stat.S_ISLNK(found.st_mode):
            return Entry(path, depth, "link", note=_target(fd, name))
        if stat.S_ISREG(found.st_mode):
            return Entry(path, depth, "file", found.st_size)
        return Entry(path, depth, "other", note="not a regular file")


def _target(fd: int, name: str) -> str:
    try:
        return os.readlink(name, dir_fd=fd)
    except OSError:
        return "?"
