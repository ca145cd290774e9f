"""Opening a path beneath a folder that is held open, so that nothing can lead outside.

The kernel does it (`openat2` with RESOLVE_BENEATH: links inside the folder work, everything that leaves is
EXDEV, and there is no moment between check and use). Where it can't (before Linux 5.6, a seccomp filter,
macOS) each step is opened without following links; links inside the folder are then refused too (ELOOP).

Raises `OSError` only; `workspace` turns it into words.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import sys
from functools import cache

LOOK = (os.O_PATH if hasattr(os, "O_PATH") else os.O_RDONLY | os.O_NONBLOCK) | os.O_CLOEXEC
"""Open to look at an object, or to walk on from it; no permission to read it is needed."""
READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""Open to read, without waiting for the other end of a pipe and without getting a terminal."""

_OPENAT2 = 437
_NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x02, 0x04, 0x08
_ATTEMPTS = 200


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def open_beneath(folder: int, path: str, flags: int, *, links: bool = True) -> int:
    """A descriptor of `path` (relative, "." for the folder itself). With `links` False none is followed."""
    if kernel_resolves():
        resolve = _BENEATH | _NO_MAGICLINKS | (0 if links else _NO_SYMLINKS)
        return _openat2(folder, os.fsencode(path), flags | os.O_CLOEXEC, resolve)
    return _walk(folder, path.split("/"), flags | os.O_CLOEXEC)


@cache
def kernel_resolves() -> bool:
    if sys.platform != "linux":
        return False
    here = os.open("/", LOOK)
    try:
        os.close(_openat2(here, b".", LOOK, _BENEATH))
    except OSError:
        return False
    finally:
        os.close(here)
    return True


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _openat2(folder: int, path: bytes, flags: int, resolve: int) -> int:
    if b"\0" in path:
        raise ValueError("embedded null byte")  # C would open what stands before it
    how = _How(flags, 0, resolve)
    for _ in range(_ATTEMPTS):
        fd = _libc().syscall(_OPENAT2, folder, path, ctypes.byref(how), ctypes.c_size_t(ctypes.sizeof(how)))
        if fd >= 0:
            return int(fd)
        code = ctypes.get_errno()
        if code not in (errno.EAGAIN, errno.EINTR):  # EAGAIN: something was renamed while `..` was resolved
            break
    raise OSError(code, os.strerror(code), os.fsdecode(path))


def _walk(folder: int, parts: list[str], flags: int) -> int:
    """Step by step without following links; `..` goes back along the folders that were really opened."""
    steps = [os.open(".", LOOK | os.O_DIRECTORY, dir_fd=folder)]
    *folders, last = [part for part in parts if part not in ("", ".")] or ["."]
    try:
        for part in folders:
            _step(steps, part)
        if last == "..":
            _step(steps, last)
            last = "."
        fd = os.open(last, flags | os.O_NOFOLLOW, dir_fd=steps[-1])
        if stat.S_ISLNK(os.fstat(fd).st_mode):  # O_PATH opens the link itself
            os.close(fd)
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), last)
        return fd
    finally:
        for fd in steps:
            os.close(fd)


def _step(steps: list[int], part: str) -> None:
    if part == "..":
        os.close(steps.pop())
        if not steps:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), part)
        return
    try:
        steps.append(os.open(part, LOOK | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=steps[-1]))
    except NotADirectoryError:
        if stat.S_ISLNK(os.lstat(part, dir_fd=steps[-1]).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), part) from None
        raise


def real_path(fd: int) -> str:
    """The absolute path of an open object, links resolved."""
    if sys.platform == "darwin":
        import fcntl

        return os.fsdecode(fcntl.fcntl(fd, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0"))
    return os.readlink(f"/proc/self/fd/{fd}")
