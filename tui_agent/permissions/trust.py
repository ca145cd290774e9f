"""Whether the person trusts a folder's own instructions and settings, and what trusting it would change.

A folder is known by its real path. Until it is trusted nothing in it is obeyed. Trust covers what was shown:
when one of the files changes, the folder is asked about again.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tui_agent.permissions.state_file import StateFileError, read_state, update_state

INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md")
SETTINGS = ".tui-agent/settings.toml"
_LIMIT = 256 * 1024


@dataclass(frozen=True)
class ProjectFile:
    """A file that counts after a yes. `problem` says why it can't be used, and then `text` is empty."""

    name: str
    text: str
    problem: str = ""


def project_files(folder: str | Path) -> tuple[ProjectFile, ...]:
    """What trusting `folder` would put into effect: the instructions and the settings it has."""
    found = []
    names = [name for name in INSTRUCTIONS if os.path.lexists(os.path.join(folder, name))][:1]
    for name in (*names, SETTINGS):
        file = _read(folder, name)
        if file is not None:
            found.append(file)
    return tuple(found)


def trusted(folder: str | Path, state_folder: str | Path) -> bool:
    """The person said yes to this folder, as its files are now. A broken state file trusts nothing."""
    try:
        folders = read_state(Path(state_folder) / "trust.json").get("folders")
    except StateFileError:
        return False
    known = folders.get(os.path.realpath(folder)) if isinstance(folders, dict) else None
    return known == _digest(project_files(folder))


def trust(folder: str | Path, state_folder: str | Path) -> None:
    """Remember a yes; raises `StateFileError` if it can't be saved."""

    def change(state: dict[str, Any]) -> None:
        state.setdefault("folders", {})[os.path.realpath(folder)] = _digest(project_files(folder))

    update_state(Path(state_folder) / "trust.json", change)


def _digest(files: tuple[ProjectFile, ...]) -> str:
    text = "\0".join(f"{file.name}\0{file.text}\0{file.problem}" for file in files)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _read(folder: str | Path, name: str) -> ProjectFile | None:
    descriptor = _open(str(folder), name)
    if descriptor is None:
        return None
    if isinstance(descriptor, str):
        return ProjectFile(name, "", descriptor)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return ProjectFile(name, "", "not a regular file")
    with open(descriptor, "rb") as file:
        data = file.read(_LIMIT + 1)
    if len(data) > _LIMIT:
        return ProjectFile(name, "", f"larger than {_LIMIT // 1024} KiB")
    try:
        return ProjectFile(name, data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return ProjectFile(name, "", "not UTF-8 text")


def _open(folder: str, name: str) -> int | str | None:
    """A descriptor, reached without following any link below the folder; or why there is none."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    *folders, last = name.split("/")
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in folders:
            inner = os.open(part, flags | os.O_DIRECTORY, dir_fd=place)
            os.close(place)
            place = inner
        return os.open(last, flags, dir_fd=place)
    except FileNotFoundError:
        return None
    except OSError as error:
        link = error.errno in (errno.ELOOP, errno.ENOTDIR)
        return "a link, which is not followed" if link else (error.strerror or "unreadable")
    finally:
        os.close(place)
