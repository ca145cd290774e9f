"""Reading outside the working folder: only what was shown, only once it was allowed, only that object.

What lies there is looked at without being opened for reading, so that the person sees its real path. The
tool then works in a jail of its own around it (`Elsewhere`), which opens nothing else.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass

from tui_agent.agent.errors import ToolError
from tui_agent.tools.openat import LOOK, open_beneath
from tui_agent.tools.trouble import Beyond, not_regular, shown
from tui_agent.tools.workspace import Opened, Workspace

_SYSTEM = ("/proc", "/sys", "/dev")
"""Views of the system and of running programs, this one included: never read as files."""


@dataclass(frozen=True)
class Outside:
    """`path` is real and absolute; `device` and `inode` tell the object."""

    path: str
    device: int
    inode: int
    is_folder: bool

    @property
    def name(self) -> str:
        """The path inside the jail that `open` gives."""
        return "." if self.is_folder else os.path.basename(self.path)

    def open(self, home: Workspace) -> Elsewhere:
        """A jail around it, with the rules of `home`."""
        try:
            return Elsewhere(home, self)
        except OSError as error:
            raise ToolError(f"{shown(self.path)} can't be opened: {error.strerror or error}.") from None

    def is_at(self, found: os.stat_result) -> bool:
        return (found.st_dev, found.st_ino) == (self.device, self.inode)


def look_outside(home: Workspace, path: str, beyond: Beyond) -> Outside:
    """What `path` leads to; raises `beyond` when there is nothing to ask about."""
    try:
        real = os.path.realpath(os.path.join(home.root, path))
        top = os.open("/", LOOK | os.O_DIRECTORY)
        try:
            fd = open_beneath(top, real.lstrip("/") or ".", LOOK, links=False)
        finally:
            os.close(top)
    except (OSError, ValueError):
        raise beyond from None
    try:
        found = os.fstat(fd)
    finally:
        os.close(fd)
    if _is_system(real, found):
        raise ToolError(
            f"{shown(path)} is a view of the system, not a stored file; file tools don't read it. "
            "Use run_command if the task needs it."
        )
    is_folder = stat.S_ISDIR(found.st_mode)
    if not is_folder and not stat.S_ISREG(found.st_mode):
        raise not_regular(found.st_mode, path)
    return Outside(real, found.st_dev, found.st_ino, is_folder)


def _is_system(real: str, found: os.stat_result) -> bool:
    if any(real == place or real.startswith(f"{place}/") for place in _SYSTEM):
        return True
    for place in ("/proc", "/sys"):
        try:
            there = os.stat(place)
        except OSError:
            continue
        if found.st_dev == there.st_dev != os.stat("/").st_dev:
            return True
    return False


class Elsewhere(Workspace):
    """The folder of something outside. A file is the only one that can be opened in it."""

    def __init__(self, home: Workspace, outside: Outside) -> None:
        super().__init__(outside.path if outside.is_folder else os.path.dirname(outside.path))
        self._only = None if outside.is_folder else outside
        self.may_read = lambda path: home.may_read(self.named(path))
        self.hides = lambda path: home.hides(self.named(path))
        if outside.is_folder and not outside.is_at(os.fstat(self.fd)):
            self.close()
            raise OSError(errno.ESTALE, "it is another folder than the one that was shown")

    def named(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.root, path))

    def open_read(self, path: str) -> Opened:
        opened = super().open_read(path)
        if self._only is not None and not self._only.is_at(opened.stat):
            os.close(opened.fd)
            raise ToolError(f"{shown(self.named(path))} is another file than the one that was shown.")
        return opened
