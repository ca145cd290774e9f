"""The working folder as a jail: one resolver for every path that a model writes.

The root is held open for the session and decides by itself what is beneath it (`openat`): nothing is
compared as strings, nothing is expanded, and what was opened is what is read. Tools never open files by
other ways, and nothing but `write` and `delete` changes one.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import TracebackType

from tui_agent.agent.errors import StaleProposal, ToolError
from tui_agent.text import size_text
from tui_agent.tools import writer
from tui_agent.tools.openat import LOOK, READ, open_beneath
from tui_agent.tools.place import Place, locate, open_located
from tui_agent.tools.trouble import Missing, explained, not_regular, outside, shown

MAX_BYTES = 16_000_000
"""A file up to this size may be held in memory: read whole, edited, replaced."""
MAX_PATH = 4096
_UNEXPANDED = ("~", "$HOME", "${HOME}", "%USERPROFILE%")
_SIMILAR_AMONG = 2_000


@dataclass
class Opened:
    """A regular file, open for reading. `path` is real and relative to the working folder."""

    fd: int
    path: str
    stat: os.stat_result

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        os.close(self.fd)


class Workspace:
    """`seen` maps real paths to the hash of the content that the model knows; the session keeps it. `made`
    has the folders that were made for new files, until somebody takes them from there.

    `before_write` is called with a path and its present bytes (None: no file) before anything changes, so
    that the session can keep them (see `writer.Keep`). `may_read` is asked with the real path of whatever is
    opened: a rule that denies a file denies it on every way to it. `hides` says which files, those too, a
    search passes over unless they are what it was sent to.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.root = Path(path).resolve(strict=True)
        self.fd = os.open(self.root, LOOK | os.O_DIRECTORY)
        self.seen: dict[str, str] = {}
        self.made: dict[str, tuple[str, ...]] = {}
        self.before_write: writer.Keep = lambda path, before: True
        self.may_read: Callable[[str], bool] = lambda path: True
        self.hides: Callable[[str], bool] = lambda path: False
        self._writing = threading.Lock()

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()

    def mark_seen(self, path: str, content_hash: str) -> None:
        self.seen[path] = content_hash

    def named(self, path: str) -> str:
        """How results call the file at this real path."""
        return path

    # looking

    def resolve(self, path: str) -> str:
        """The real relative path: of what is there, or of where it would be made. "." is the root."""
        with self._explaining(path):
            relative = self._relative(path)
            try:
                fd, real = open_located(self.fd, relative, LOOK)
            except FileNotFoundError:
                with self._place(path) as place:
                    return place.path
            os.close(fd)
            return real

    def is_folder(self, path: str) -> bool:
        with self._explaining(path):
            fd = open_beneath(self.fd, self._relative(path), LOOK)
            try:
                return stat.S_ISDIR(os.fstat(fd).st_mode)
            finally:
                os.close(fd)

    def open_read(self, path: str) -> Opened:
        """Open a regular file, whatever the name promises; never waits, never follows a link outside."""
        with self._explaining(path):
            fd, real = open_located(self.fd, self._relative(path), READ)
            try:
                found = os.fstat(fd)
                if not stat.S_ISREG(found.st_mode):
                    raise not_regular(found.st_mode, path)
                opened = Opened(fd, real, found)
                self._check_readable(opened.path)
                return opened
            except BaseException:
                os.close(fd)
                raise

    def open_folder(self, path: str, *, links: bool = True) -> int:
        """A descriptor of a folder, to list it."""
        with self._explaining(path):
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
            return open_beneath(self.fd, self._relative(path), flags, links=links)

    def read_bytes(self, path: str, limit: int = MAX_BYTES) -> bytes:
        """The whole file; an error if it is larger than `limit`."""
        with self.open_read(path) as opened, open(opened.fd, "rb", closefd=False) as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            raise too_large(path, opened.stat.st_size, limit)
        return data

    # changing

    def target(self, path: str) -> tuple[str, str]:
        """Where a write to `path` goes: the real path, and why it would be done in place (or "").

        An error if the file could not be written as things are now.
        """
        with self._explaining(path), self._place(path) as place:
            self._check_readable(place.path)
            writer.check_writable(place)
            return place.path, writer.in_place_reason(place)

    def write(self, path: str, data: bytes, *, base: str | None, mode: int | None = None) -> None:
        """Make `path` hold `data` if its content still has the hash `base` (None: it does not exist).

        `path` is real, as `target` gave it: a link that came into it since then is not followed.
        `StaleProposal` if anything is not as it was, and nothing is done. `mode` is for a file that is made.
        """
        with self._writing, self._explaining(path), self._unmoved(path) as place:
            if made := writer.write(place, data, base=base, keep=self.before_write, mode=mode):
                self.made[path] = made

    def set_mode(self, path: str, mode: int, *, base: str) -> None:
        """Give the file at the real `path` these permission bits, if its content has the hash `base`."""
        with self._writing, self._explaining(path), self._unmoved(path) as place:
            writer.set_mode(place, mode, base=base)

    def delete(self, path: str, *, base: str) -> None:
        """Remove the file at the real `path`, if its content still has the hash `base`."""
        with self._writing, self._explaining(path), self._unmoved(path) as place:
            writer.delete(place, base=base, keep=self.before_write)

    def remove_folder(self, path: str) -> bool:
        """Remove the folder at the real `path` if there is nothing in it. Returns whether it went."""
        with self._writing, self._explaining(path), self._unmoved(path) as place:
            return writer.remove_folder(place)

    # paths

    def _relative(self, path: str) -> str:
        """`path` as it is opened beneath the root; what can't be a path is an error."""
        self._check_root()
        if not path:
            raise ToolError(
                'The path is empty. Give a path relative to the working folder; "." is the folder.'
            )
        if "\0" in path:
            raise ToolError(
                f"{shown(path)} holds a NUL character, which no path can. Send the path without it."
            )
        try:
            encoded = os.fsencode(path)
        except UnicodeEncodeError:
            raise ToolError(
                f"{shown(path)} is not valid Unicode. Send the path as list_files shows it."
            ) from None
        if len(encoded) >= MAX_PATH:
            raise ToolError(f"The path is longer than {MAX_PATH:,} bytes. Use a shorter one.")
        if path.startswith("/"):
            return self._beneath(path)
        return path.rstrip("/")

    def _beneath(self, path: str) -> str:
        """An absolute path as one from the root down; folders are compared as objects, not by their names."""
        root, parts = os.fstat(self.fd), path.split("/")
        for length in range(len(parts), 0, -1):
            with suppress(OSError):
                if os.path.samestat(os.stat("/".join(parts[:length]) or "/"), root):
                    return "/".join(part for part in parts[length:] if part) or "."
        raise outside(path)

    def _check_root(self) -> None:
        try:
            if os.path.samestat(os.stat(self.root), os.fstat(self.fd)):
                return
        except OSError:
            pass
        raise ToolError(
            f"The working folder {shown(str(self.root))} was deleted, moved or replaced. "
            "File tools stop here; tell the user to restore it or to start again in another folder."
        )

    def _check_readable(self, path: str) -> None:
        if not self.may_read(path):
            raise ToolError(f"A rule of the user's denies {shown(path)}. Go on without it.")

    @contextmanager
    def _place(self, path: str) -> Iterator[Place]:
        with locate(self.fd, self._relative(path)) as place:
            _check_name(path, place)
            yield place

    @contextmanager
    def _unmoved(self, path: str) -> Iterator[Place]:
        with self._place(path) as place:
            if place.path != path:
                raise StaleProposal(f"{shown(path)} is {shown(place.path)} now; nothing was written.")
            yield place

    @contextmanager
    def _explaining(self, path: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            problem = explained(error, path, self.root)
            similar = self._similar(path) if isinstance(problem, Missing) else []
            if similar:
                problem = Missing(f"{problem} Similar names there: {', '.join(map(shown, similar))}.")
            raise problem from None

    def _similar(self, path: str) -> list[str]:
        """Names beside `path` that it may have meant."""
        head, _, name = path.rstrip("/").rpartition("/")
        try:
            fd = open_beneath(self.fd, self._relative(head or "."), os.O_RDONLY | os.O_DIRECTORY)
        except (OSError, ToolError):
            return []
        try:
            with os.scandir(fd) as entries:
                some = zip(entries, range(_SIMILAR_AMONG), strict=False)
                names = [entry.name for entry, _ in some if entry.name != name]  # it may be a dangling link
        except OSError:
            return []
        finally:
            os.close(fd)
        same = [other for other in names if other.casefold() == name.casefold()]
        return same or get_close_matches(name, names, n=3, cutoff=0.75)


def _check_name(path: str, place: Place) -> None:
    """Files that are changed have names that can be told and stored; new ones name what they say."""
    try:
        place.path.encode()
    except UnicodeEncodeError:
        raise ToolError(
            f"{shown(path)} is not valid Unicode; nothing is written to such a name. "
            "Choose another, or rename the file with run_command."
        ) from None
    if place.stat is not None:
        return
    first = (*place.missing, place.name)[0]
    if path.endswith(("/", "/.")):
        raise ToolError(f"{shown(path)} ends as folders do. Give the path of a file.")
    if first in _UNEXPANDED:
        raise ToolError(f"{shown(path)}: `{first}` is not expanded. Give a path inside the working folder.")


def too_large(path: str, found: int, limit: int = MAX_BYTES) -> ToolError:
    return ToolError(
        f"{shown(path)} is {size_text(found)}; files over {size_text(limit)} are not changed or loaded "
        "whole. Read it in pages with read_file, or change it with run_command."
    )
