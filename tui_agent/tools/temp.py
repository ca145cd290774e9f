"""New content on its way to its name.

It is written into a file without a name (`O_TMPFILE`; on other file systems, one with a name of ours), so
that a kill leaves nothing behind. A new file gets its name by `link`, which fails if somebody has it.
`rename`, which replaces, needs a name to start from: between two system calls the content is called
`.tui-agent-….tmp`. Whoever is killed just there leaves it; it is locked while its writer lives, so that
`is_stray` knows one.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import stat
from contextlib import suppress
from types import TracebackType

from tui_agent.tools.openat import READ

STRAY = re.compile(r"\.tui-agent-[0-9a-f]{16}\.tmp")
_UNNAMED = getattr(os, "O_TMPFILE", None)
_KEPT = ("user.", "system.posix_acl_")


class Temp:
    """New content on its way into `folder`, without a name where the file system allows it."""

    def __init__(self, folder: int, mode: int) -> None:
        self.folder = folder
        self.mode = mode
        self.name: str | None = None

    def __enter__(self) -> Temp:
        try:
            if _UNNAMED is None:
                raise OSError(errno.EOPNOTSUPP, "no unnamed files")
            self.fd = os.open(".", os.O_WRONLY | os.O_CLOEXEC | _UNNAMED, self.mode, dir_fd=self.folder)
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT):
                raise
            name = _fresh_name()
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            self.fd = os.open(name, flags, self.mode, dir_fd=self.folder)
            self.name = name
        with suppress(OSError):  # a file system without locks has strays that nobody dares to remove
            fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if self.name is not None:
            with suppress(OSError):
                os.unlink(self.name, dir_fd=self.folder)
        os.close(self.fd)

    def fill(self, data: bytes) -> None:
        write_all(self.fd, data)

    def take_after(self, old: int) -> None:
        """Owner, attributes (with them the ACL) and mode, in an order in which none undoes another."""
        model = os.fstat(old)
        mine = os.fstat(self.fd)
        if (mine.st_uid, mine.st_gid) != (model.st_uid, model.st_gid):
            os.fchown(self.fd, model.st_uid, model.st_gid)
        _copy_attributes(old, self.fd)
        os.fchmod(self.fd, stat.S_IMODE(model.st_mode))

    def replace(self, name: str) -> None:
        os.fsync(self.fd)
        if self.name is None:
            stray = _fresh_name()
            self._link(stray)
            self.name = stray
        os.rename(self.name, name, src_dir_fd=self.folder, dst_dir_fd=self.folder)
        self.name = None
        sync_folder(self.folder)

    def create(self, name: str) -> None:
        """Take a name that nobody has: FileExistsError if somebody does by now."""
        os.fsync(self.fd)
        if self.name is None:
            self._link(name)
        else:
            os.link(self.name, name, src_dir_fd=self.folder, dst_dir_fd=self.folder, follow_symlinks=False)
        sync_folder(self.folder)

    def _link(self, name: str) -> None:
        os.link(f"/proc/self/fd/{self.fd}", name, dst_dir_fd=self.folder, follow_symlinks=True)


def _fresh_name() -> str:
    return f".tui-agent-{secrets.token_hex(8)}.tmp"


def _copy_attributes(old: int, new: int) -> None:
    if not hasattr(os, "listxattr"):
        return
    try:
        names, inherited = os.listxattr(old), os.listxattr(new)
    except OSError as error:
        if error.errno == errno.EOPNOTSUPP:
            return
        raise
    for name in names:
        try:
            os.setxattr(new, name, os.getxattr(old, name))
        except OSError:
            if name.startswith(_KEPT):  # others belong to the system, which sets them itself
                raise
    for name in set(inherited) - set(names):
        if name.startswith(_KEPT):  # a default ACL of the folder that the old file didn't get
            os.removexattr(new, name)


def write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def sync_folder(folder: int) -> None:
    with suppress(OSError):  # a folder that may not be listed can't be synced; the names are in it anyway
        fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def is_stray(folder: int, name: str) -> bool:
    """A temporary name of ours whose writer is gone."""
    if not STRAY.fullmatch(name):
        return False
    try:
        fd = os.open(name, READ | os.O_NOFOLLOW, dir_fd=folder)
    except OSError:
        return False
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return False
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError:
        return False
    finally:
        os.close(fd)
