"""The one writer: after any failure, and after a kill at any moment, the old content is there or the new.

New content is complete and on disk, with the old one's owner, attributes and mode, before it takes the old
one's place in one step (`temp`). A new file takes its name only if nobody has it by then.

Three files can't be replaced without losing something (hard links, an owner that can't be kept, a folder
that is read-only): those are written in place, after `keep` has stored the old bytes.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

from tui_agent.agent.errors import StaleProposal, ToolError
from tui_agent.tools.details import digest
from tui_agent.tools.openat import LOOK, READ, open_beneath
from tui_agent.tools.place import Place
from tui_agent.tools.temp import Temp, sync_folder, write_all
from tui_agent.tools.trouble import not_regular, shown

Keep = Callable[[str, bytes | None], bool]
"""Called with the path and its present bytes (None: no file) before anything changes.

False says that they could not be kept. What is replaced in one step does without; what would be written in
place, and could be lost half way, is then left alone.
"""

_ATTEMPTS = 3


def write(
    place: Place, data: bytes, *, base: str | None, keep: Keep, mode: int | None = None
) -> tuple[str, ...]:
    """Make the file at `place` hold `data`, if its bytes now have the hash `base` (None: there is no file).

    Otherwise `StaleProposal`, and nothing is done. OSError: nothing is changed either. A file that is there
    keeps its mode; a new one gets `mode`, or what the umask leaves. Returns the folders that were made for
    it, outermost first.
    """
    if base is None:
        return _create(place, data, keep, mode)
    for _ in range(_ATTEMPTS):
        with _Present(place) as present:
            before = present.read(base)
            kept = keep(place.path, before)
            if reason := in_place_reason(place):
                if not kept:
                    raise ToolError(
                        f"{shown(place.path)} would be {reason}, and its old content can't be kept first; "
                        "nothing was written. Tell the user; run_command can change it."
                    )
                present.overwrite(data, before)
                return ()
            with Temp(place.folder, 0o600) as temp:
                temp.fill(data)
                temp.take_after(present.fd)
                if present.is_still_there():
                    temp.replace(place.name)
                    return ()
    raise StaleProposal(f"{shown(place.path)} keeps changing; nothing was written. Look at it again.")


def delete(place: Place, *, base: str, keep: Keep) -> None:
    """Remove the file, if its bytes now have the hash `base`."""
    with _Present(place) as present:
        keep(place.path, present.read(base))
        os.unlink(place.name, dir_fd=place.folder)
    sync_folder(place.folder)


def remove_folder(place: Place) -> bool:
    """Remove the folder at `place` if there is nothing in it. Returns whether it went."""
    if place.stat is None:
        return False
    try:
        os.rmdir(place.name, dir_fd=place.folder)
    except OSError:
        return False
    sync_folder(place.folder)
    return True


def set_mode(place: Place, mode: int, *, base: str) -> None:
    """Give the file these permission bits, if its bytes now have the hash `base`. A read-only one, too."""
    with _Present(place, writable=False) as present:
        present.read(base)
        os.fchmod(present.fd, mode)
    sync_folder(place.folder)


def in_place_reason(place: Place) -> str:
    """Why the file would be written in place, as a fact for the review; empty if it is replaced."""
    there = place.stat
    if there is None:
        return ""
    if there.st_nlink > 1:
        return "written in place: it has hard links"
    if os.geteuid() != 0 and not (
        there.st_uid == os.geteuid() and there.st_gid in {os.getegid(), *os.getgroups()}
    ):
        return "written in place: another owner"
    if not os.access(".", os.W_OK | os.X_OK, dir_fd=place.folder, effective_ids=True):
        return "written in place: its folder is read-only"
    return ""


def check_writable(place: Place) -> None:
    """Raise OSError if the present file can't be written: a read-only file is never made writable."""
    if place.stat is None:
        return
    if not stat.S_ISREG(place.stat.st_mode):
        raise not_regular(place.stat.st_mode, place.path)
    if not place.stat.st_mode & 0o222:
        raise PermissionError(errno.EACCES, "read-only file", place.path)
    try:
        os.close(os.open(place.name, _WRITE, dir_fd=place.folder))
    except OSError as error:
        if error.errno != errno.ETXTBSY:  # a running program can be replaced, though not overwritten
            raise


_WRITE = os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC


class _Present:
    """The file that is there, held open while it is read, compared and replaced."""

    def __init__(self, place: Place, *, writable: bool = True) -> None:
        self.place = place
        self.writable = writable

    def __enter__(self) -> _Present:
        try:
            self.fd = os.open(self.place.name, READ | os.O_NOFOLLOW, dir_fd=self.place.folder)
        except FileNotFoundError:
            raise StaleProposal(f"{shown(self.place.path)} is gone; nothing was written.") from None
        self.place.stat = self.stat = os.fstat(self.fd)
        try:
            if self.writable:
                check_writable(self.place)
        except BaseException:
            os.close(self.fd)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        os.close(self.fd)

    def read(self, base: str) -> bytes:
        with open(self.fd, "rb", closefd=False) as file:
            data = file.read()
        if digest(data) != base:
            raise StaleProposal(
                f"{shown(self.place.path)} changed since this change was prepared; nothing was written."
            )
        return data

    def is_still_there(self) -> bool:
        """Nobody wrote to it or put another in its place. The change time can't be set back."""
        try:
            now = os.lstat(self.place.name, dir_fd=self.place.folder)
        except FileNotFoundError:
            return False
        was = self.stat
        return os.path.samestat(now, was) and (now.st_size, now.st_mtime_ns, now.st_ctime_ns) == (
            was.st_size,
            was.st_mtime_ns,
            was.st_ctime_ns,
        )

    def overwrite(self, data: bytes, before: bytes) -> None:
        fd = os.open(self.place.name, _WRITE, dir_fd=self.place.folder)
        try:
            if not os.path.samestat(os.fstat(fd), self.stat):
                raise StaleProposal(f"{shown(self.place.path)} was replaced; nothing was written.")
            try:
                _put(fd, data)
            except OSError:
                with suppress(OSError):
                    _put(fd, before)  # its blocks are there still
                raise
        finally:
            os.close(fd)


def _put(fd: int, data: bytes) -> None:
    os.lseek(fd, 0, os.SEEK_SET)
    write_all(fd, data)
    os.ftruncate(fd, len(data))
    os.fsync(fd)


def _create(place: Place, data: bytes, keep: Keep, mode: int | None) -> tuple[str, ...]:
    appeared = StaleProposal(f"{shown(place.path)} exists by now; nothing was written.")
    if place.stat is not None:
        raise appeared
    keep(place.path, None)
    made: list[tuple[int, str]] = []
    paths: list[str] = []
    folder = os.dup(place.folder)
    try:
        for name, path in zip(place.missing, place.missing_paths, strict=True):
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=folder)
                made.append((os.dup(folder), name))
                paths.append(path)
            below = open_beneath(folder, name, LOOK | os.O_DIRECTORY, links=False)
            os.close(folder)
            folder = below
        with Temp(folder, 0o666 if mode is None else 0o600) as temp:
            temp.fill(data)
            if mode is not None:
                os.fchmod(temp.fd, mode)
            temp.create(place.name)
        return tuple(paths)
    except BaseException as error:
        for parent, name in reversed(made):
            with suppress(OSError):
                os.rmdir(name, dir_fd=parent)
        if isinstance(error, FileExistsError):
            raise appeared from None
        raise
    finally:
        for parent, _ in made:
            os.close(parent)
        os.close(folder)
