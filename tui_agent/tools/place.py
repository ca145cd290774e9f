"""Where a path really is: an open folder, a name in it, and what is there now.

A file may not exist yet, and folders on the way neither. Links are resolved as the kernel does it, so that
a link to a file leads to that file's own folder, and a dangling link to the place where its file would be.
Whatever happens to names later, an effect takes place in the folder that was opened here.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType

from tui_agent.tools.openat import LOOK, open_beneath, real_path

_HOPS = 40
_DELETED = " (deleted)"


@dataclass
class Place:
    """`folder` is a descriptor of the deepest folder that exists; `missing` are folders to make below it.

    `path` is real and relative to the root; `stat` is of the object itself, None if there is none.
    """

    folder: int
    missing: tuple[str, ...]
    name: str
    path: str
    stat: os.stat_result | None

    @property
    def missing_paths(self) -> list[str]:
        """`missing`, as paths relative to the root."""
        parts = self.path.split("/")
        first = len(parts) - 1 - len(self.missing)
        return ["/".join(parts[: first + count]) for count in range(1, len(self.missing) + 1)]

    def __enter__(self) -> Place:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        os.close(self.folder)


def relative_to(root: int, fd: int) -> str:
    """The path of an open object, relative to the open `root`. "." is the root itself."""
    base, path = real_path(root), real_path(fd)
    if path == base:
        return "."
    base = base.rstrip("/") + "/"
    if not path.startswith(base):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), path)
    path = path.removeprefix(base)
    if path.endswith(_DELETED):  # or a name that really ends so: what is there now?
        there = open_beneath(root, path, LOOK, links=False)
        try:
            if not os.path.samestat(os.fstat(there), os.fstat(fd)):
                raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        finally:
            os.close(there)
    return path


def open_located(root: int, path: str, flags: int) -> tuple[int, str]:
    """A descriptor of what is at `path`, and its path relative to `root`. Raises OSError, as `locate` does.

    A file that is replaced in between has no path any more: then the new one is opened.
    """
    for _ in range(_HOPS):
        fd = open_beneath(root, path, flags)
        try:
            return fd, relative_to(root, fd)
        except FileNotFoundError:
            os.close(fd)
        except BaseException:
            os.close(fd)
            raise
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)


def locate(root: int, path: str) -> Place:
    """`path` is relative to `root`. Raises OSError: EXDEV if it leads outside, EISDIR for the root …"""
    for _ in range(_HOPS):
        try:
            fd, real = open_located(root, path, LOOK)
        except FileNotFoundError:
            place = _missing(root, path)
            if isinstance(place, Place):
                return place
            path = place
            continue
        try:
            present = os.fstat(fd)
        finally:
            os.close(fd)
        if real == ".":
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        head, _, name = real.rpartition("/")
        folder = open_beneath(root, head or ".", LOOK | os.O_DIRECTORY, links=False)
        if _same(folder, name, present):
            return Place(folder, (), name, real, present)
        os.close(folder)  # it moved meanwhile: look again
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)


def _same(folder: int, name: str, present: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.lstat(name, dir_fd=folder), present)
    except OSError:
        return False


def _missing(root: int, path: str) -> Place | str:
    """The place of what does not exist, or the path to try next (a dangling link, a lost race)."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    for depth in range(len(parts) - 1, -1, -1):
        head, (first, *rest) = "/".join(parts[:depth]) or ".", parts[depth:]
        try:
            folder = open_beneath(root, head, LOOK | os.O_DIRECTORY)
        except FileNotFoundError:
            continue
        with ExitStack() as held:
            held.callback(os.close, folder)
            link = _link(folder, first)
            if link is not None:
                return "/".join((head, link, *rest)) if link else path
            if ".." in rest:
                break
            real, names = relative_to(root, folder), (first, *rest)
            full = "/".join(names if real == "." else (real, *names))
            held.pop_all()
            return Place(folder, names[:-1], names[-1], full, None)
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


def _link(folder: int, name: str) -> str | None:
    """Where the link `name` points; empty for anything else that is there, None for nothing."""
    try:
        if not stat.S_ISLNK(os.lstat(name, dir_fd=folder).st_mode):
            return ""
        target = os.readlink(name, dir_fd=folder)
    except FileNotFoundError:
        return None
    if target.startswith("/"):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), target)
    return target
