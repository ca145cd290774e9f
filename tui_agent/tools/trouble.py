"""What the file system refused, as the next step for the model."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from tui_agent.agent.errors import ToolError
from tui_agent.tools.clean import name_to_model
from tui_agent.tools.truncate import clip_line


class Missing(ToolError):
    """Nothing is at that path."""


class Beyond(ToolError):
    """The path leads out of the working folder."""


def shown(path: str) -> str:
    """A path as errors and results name it: on one line, nothing hidden, not too long."""
    return clip_line(name_to_model(path), 300) or '""'


_REASONS = {
    errno.ELOOP: "goes through a link that can't be followed here (it loops, or this system has no safe way "
    "to follow links). Use the real path.",
    errno.ENOTDIR: "is a file, or goes through one, where a folder is needed. Use read_file for files.",
    errno.EISDIR: "is a folder. Use list_files for folders; a file needs a name.",
    errno.EACCES: "can't be opened: permission denied. If you need it, ask the user to change its mode.",
    errno.EPERM: "can't be changed: not permitted. Ask the user to do it if you need it.",
    errno.EROFS: "is on a read-only file system. Nothing was changed.",
    errno.ENAMETOOLONG: "has a name that is too long for the file system. Use a shorter one.",
    errno.ENOSPC: "could not be written: the disk is full. The old content is kept; tell the user.",
    errno.EDQUOT: "could not be written: the disk quota is used up. The old content is kept; tell the user.",
    errno.ENXIO: "is a socket or a device, not a regular file; it was not opened.",
    errno.EINVAL: "is not a name that the file system can hold. Use another one.",
    errno.EILSEQ: "is not a name that the file system can hold. Use another one.",
    errno.ETXTBSY: "is a program that is running now. Nothing was changed.",
}


def explained(error: OSError, path: str, root: Path | None = None) -> ToolError:
    """`error` in words. With `root` known, also where a path that leaves it and comes back leads to."""
    if error.errno == errno.ENOENT:
        return Missing(f"{shown(path)} does not exist. Look at what is there with list_files.")
    if error.errno == errno.EXDEV:
        return (root and _led_back(path, root)) or outside(path)
    reason = _REASONS.get(error.errno or 0, f"failed: {error.strerror or error}. Nothing was changed.")
    return ToolError(f"{shown(path)} {reason}")


def _led_back(path: str, root: Path) -> ToolError | None:
    try:
        real = os.path.realpath(os.path.join(root, path))
    except OSError:  # it changes while it is looked at
        return None
    inside = os.path.relpath(real, root)
    if inside == ".." or inside.startswith("../"):
        return None
    return ToolError(
        f"{shown(path)} goes through a link to an absolute path, which file tools don't follow. "
        f"Use {shown(inside)}, where it leads."
    )


def outside(path: str) -> Beyond:
    return Beyond(
        f"{shown(path)} is outside the working folder, where file tools don't reach. "
        "Give a path inside it, relative to it; if the task needs that file, ask the user."
    )


def not_regular(mode: int, path: str) -> ToolError:
    """Why an object that is not a regular file was left alone."""
    if stat.S_ISDIR(mode):
        return explained(OSError(errno.EISDIR, os.strerror(errno.EISDIR)), path)
    kinds = (
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    )
    kind = next((name for test, name in kinds if test(mode)), "not a file")
    return ToolError(f"{shown(path)} is {kind}, not a regular file; it was not opened. Choose another path.")
