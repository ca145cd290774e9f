"""Where our own files live, and how they are opened.

Configuration is only read; sessions, grants, history and logs are state. Every folder we make is 0700 and
every file 0600 from its first moment, whatever the umask says: modes are given at creation, and narrowed
on the open descriptor where an older file is wider.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

NAME = "tui-agent"


def config_folder() -> Path:
    from platformdirs import user_config_path

    return user_config_path(NAME, appauthor=False)


def state_folder() -> Path:
    from platformdirs import user_state_path

    return user_state_path(NAME, appauthor=False)


def settings_file() -> Path:
    return config_folder() / "settings.toml"


def log_folder() -> Path:
    return state_folder() / "log"


def log_file() -> Path:
    """What would otherwise be written over the screen."""
    return log_folder() / "tui-agent.log"


def sessions_folder() -> Path:
    return state_folder() / "sessions"


def folder_key(folder: Path) -> str:
    """One name for a working folder however it was reached: its last part to read, its real path to tell."""
    import hashlib

    real = os.path.realpath(folder)
    readable = "".join(
        c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in os.path.basename(real)
    )
    return f"{readable[:40] or 'root'}-{hashlib.sha256(os.fsencode(real)).hexdigest()[:12]}"


def private_folder(path: Path) -> Path:
    """`path` as a folder of ours: 0700, made with its parents where missing."""
    missing = []
    at = path
    while not at.exists():
        missing.append(at)
        at = at.parent
    for folder in reversed(missing):
        # mkdir's mode is cut by the umask, never widened; a umask that takes our own rights is undone here.
        try:
            folder.mkdir(0o700)
        except FileExistsError:
            continue
        folder.chmod(0o700)
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        path.chmod(0o700)
    return path


def open_private(path: Path, flags: int) -> int:
    """A descriptor of a regular file that only its owner may read. Links are refused, FIFOs never block."""
    private_folder(path.parent)
    fd = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    try:
        mode = os.fstat(fd).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(f"{path} is not a regular file")
        if stat.S_IMODE(mode) != 0o600:
            os.fchmod(fd, 0o600)
    except BaseException:
        os.close(fd)
        raise
    return fd


def replace_private(path: Path, data: bytes, *, durable: bool = False) -> None:
    """Put `data` in the place of `path`, whole or not at all; `durable` is on the disk when this returns."""
    temporary = path.with_name(f".{os.urandom(8).hex()}")
    fd = open_private(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            if durable:
                os.fsync(fd)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    if durable:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def read_small(path: Path, limit: int = 1 << 20, *, follow: bool = True) -> bytes:
    """The bytes of a regular file of at most `limit` bytes; raises OSError for anything else."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW))
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(f"{path} is not a regular file")
        data = file.read(limit + 1)
    if len(data) > limit:
        raise OSError(f"{path} is larger than {limit:,} bytes")
    return data
