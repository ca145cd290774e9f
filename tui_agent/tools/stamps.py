"""The folder as a list of stamps: which files there are and how they look from outside, without opening one.

Two looks, before and after something ran, tell what it changed. Whatever git would ignore and what other
file systems hold is left out; links are not followed. A look ends after so many files or seconds; then it
is not `whole`, and of two looks only files that both have can be compared.
"""

from __future__ import annotations

import os
import stat
import time
from dataclasses import dataclass, field
from typing import NamedTuple

from tui_agent.agent.errors import ToolError
from tui_agent.tools.ignore import FILE, Ignore
from tui_agent.tools.temp import STRAY
from tui_agent.tools.workspace import Workspace

MOST = 100_000
"""Files of one look."""
SECONDS = 1.5
"""Time of one look: a command starts and ends this much later, at worst."""


class Stamp(NamedTuple):
    """A regular file from outside. Whoever writes to it changes one of these, whatever the tools."""

    size: int
    modified: int
    inode: int
    mode: int
    changed: int

    @classmethod
    def of(cls, found: os.stat_result) -> Stamp:
        mode = stat.S_IMODE(found.st_mode)
        return cls(found.st_size, found.st_mtime_ns, found.st_ino, mode, found.st_ctime_ns)

    def is_like(self, other: Stamp) -> bool:
        """All but the time of the last change, which a mere link to the file sets, too."""
        return self[:4] == other[:4]


@dataclass
class Look:
    """Stamps by path, relative to the working folder."""

    files: dict[str, Stamp] = field(default_factory=dict)
    whole: bool = True


def look(workspace: Workspace, ignore: Ignore, *, most: int = MOST, seconds: float = SECONDS) -> Look:
    """Look at the folder now. The rules of `ignore` stay as they were first read."""
    found = Look()
    deadline = time.monotonic() + seconds
    device = os.fstat(workspace.fd).st_dev
    todo = ["."]
    while todo:
        if len(found.files) >= most or time.monotonic() > deadline:
            found.whole = False
            break
        folder = todo.pop()
        try:
            fd = workspace.open_folder(folder, links=False)
        except ToolError:
            found.whole = found.whole and folder != "."
            continue
        try:
            if os.fstat(fd).st_dev == device:
                _folder(fd, folder, ignore, todo, found.files)
        finally:
            os.close(fd)
    return found


def _folder(fd: int, folder: str, ignore: Ignore, todo: list[str], files: dict[str, Stamp]) -> None:
    prefix = "" if folder == "." else f"{folder}/"
    folders: list[str] = []
    has_rules = False
    with os.scandir(fd) as entries:
        for entry in entries:
            try:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(prefix + entry.name)
                    continue
                found = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if entry.name == FILE:
                has_rules = True
            if stat.S_ISREG(found.st_mode) and not STRAY.fullmatch(entry.name):
                files[prefix + entry.name] = Stamp.of(found)
    if not has_rules:
        ignore.none_in(folder)
    todo += [path for path in folders if not ignore.ignores(path, folder=True)]


def differing(before: Look, after: Look) -> list[str]:
    """Paths that came, went or look otherwise, in order."""
    both_whole = before.whole and after.whole
    found = [
        path
        for path, stamp in after.files.items()
        if ((was := before.files.get(path)) is None and both_whole) or (was and not was.is_like(stamp))
    ]
    if both_whole:
        found += before.files.keys() - after.files.keys()
    return sorted(found)
