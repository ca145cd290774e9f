"""Searching with ripgrep.

It only says where: path, line and offset of each match. The text is read through the jail, so that
whatever happens to links while it walks, nothing from outside is shown; files that are ignored, denied or
binary drop out there too, by the same rules as in the search without ripgrep. (Its own notion of binary
loses the text before a late NUL.)
"""

from __future__ import annotations

import codecs
import os
import re
import shutil
import sys
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from subprocess import DEVNULL
from typing import IO, NamedTuple

from tui_agent.agent.cancel import CancelSignal
from tui_agent.agent.errors import ToolError
from tui_agent.tools.clean import to_model
from tui_agent.tools.ignore import FILE, REPOSITORIES, Ignore
from tui_agent.tools.search import MAX_HITS, WIDTH, Found, Hit, Query, helper
from tui_agent.tools.sniff import HEAD, text_encoding
from tui_agent.tools.workspace import MAX_BYTES, Opened, Workspace

_WHERE = re.compile(rb"(?P<line>\d+):(?P<column>\d+):(?P<offset>\d+):")
_OPTIONS = (
    *("--no-config", "--no-messages", "--color=never", "--no-heading", "--with-filename", "--null"),
    *("--line-number", "--column", "--byte-offset", "--max-columns=1", "--crlf", "--hidden", "--text"),
    *("--one-file-system", "--no-require-git", "--no-ignore-global", "--no-ignore-parent"),
    *("--no-ignore-exclude", "--no-ignore-dot"),
)
_BESIDE = WIDTH // 2


def ripgrep_for(workspace: Workspace) -> str | None:
    """The program, from PATH or beside this Python; never one of the working folder's own."""
    found = _ripgrep()
    if found and Path(found).resolve().is_relative_to(workspace.root) and not _is_ours(found):
        return None
    return found


@cache
def _ripgrep() -> str | None:
    folders = [
        folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(folder)
    ]
    return shutil.which("rg", path=os.pathsep.join([*folders, os.path.dirname(sys.executable)]))


def _is_ours(program: str) -> bool:
    """Beside the Python that runs us: installed with us, though its environment is in the folder."""
    return os.path.dirname(program) == os.path.dirname(sys.executable)


def search(workspace: Workspace, program: str, query: Query, signal: CancelSignal) -> Found:
    pattern = [f"--regexp={query.pattern}", *(["--ignore-case"] if query.ignore_case else [])]
    if query.is_file:
        with workspace.open_read(query.base) as opened:
            return _run([program, *_OPTIONS, *pattern, "-"], opened.fd, workspace, query, signal)
    base = "./" if query.base == "." else f"./{query.base}"
    where = [*_globs(workspace, query), "--", base]
    found = _run([program, *_OPTIONS, *pattern, *where], DEVNULL, workspace, query, signal)
    if not found.error:
        found.passed_over = _passed_over([program, *_OPTIONS, "--files", *where], workspace, query, signal)
    return found


def _passed_over(command: list[str], workspace: Workspace, query: Query, signal: CancelSignal) -> int:
    """How many files the search passed over, with or without a match in them."""
    ignore = Ignore(workspace, query.base)
    with helper(command, str(workspace.root), signal, query.seconds) as process:
        names = (os.fsdecode(name).removeprefix("./") for name in _split(process.output))
        return sum(query.passes_over(name) and not ignore.hides(name) for name in names)


def _split(output: IO[bytes]) -> Iterator[bytes]:
    """What stands before each NUL."""
    rest = b""
    while data := output.read(1 << 16):
        *names, rest = (rest + data).split(b"\0")
        yield from names


def _globs(workspace: Workspace, query: Query) -> Iterator[str]:
    if query.glob:
        yield f"--glob={query.glob}"
    inside = query.base.split("/")
    yield from (f"--glob=!{name}" for name in REPOSITORIES if name not in inside)
    if query.base != "." and not Ignore(workspace, query.base).base_is_ignored:
        yield f"--ignore-file={FILE}"  # only to walk less: what is found is checked again


def _run(command: list[str], stdin: int, workspace: Workspace, query: Query, signal: CancelSignal) -> Found:
    found, ignore = Found(), Ignore(workspace, query.base)
    with (
        helper(command, str(workspace.root), signal, query.seconds, stdin) as process,
        Lines(workspace) as lines,
    ):
        for path, places in groupby(_places(process.output), key=lambda place: place.path):
            real = query.base if query.is_file else os.fsdecode(path).removeprefix("./")
            if query.passes_over(real) or (not query.is_file and ignore.hides(real)):
                continue
            for place in places:
                text = lines.around(real, place.offset, place.column)
                if text is not None:
                    found.hits.append(Hit(real, place.line, text))
                if len(found.hits) > MAX_HITS:
                    break
            if len(found.hits) > MAX_HITS:
                found.hits.pop()
                found.stopped = f"stopped after {MAX_HITS:,} matching lines"
                break
        else:
            found.error = process.complaint()
            if process.timed_out:
                found.stopped, found.error = f"stopped after {query.seconds:g} s", ""
    found.hits.sort()
    return found


class _Place(NamedTuple):
    path: bytes
    line: int
    column: int
    offset: int


def _places(output: IO[bytes]) -> Iterator[_Place]:
    """What ripgrep prints, path by NUL: `path NUL line:column:offset:` and a text that is not used."""
    for record in _records(output):
        path, _, rest = record.partition(b"\0")
        where = _WHERE.match(rest)
        if where:
            yield _Place(path, int(where["line"]), int(where["column"]), int(where["offset"]))


def _records(output: IO[bytes]) -> Iterator[bytes]:
    """Lines, except that a path may hold line ends: a record has its NUL before it ends."""
    record = b""
    for line in output:
        record += line
        if b"\0" in line:
            yield record
            record = b""


class Lines:
    """Text at an offset, read through the jail. The file of the last match stays open for the next."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._path: str | None = None
        self._opened: Opened | None = None
        self._encoding: str | None = None
        self._whole: bytes | None = None
        """A file in a wide encoding as UTF-8, as ripgrep counts it."""
        self._mark = 0
        """Bytes of a UTF-8 byte order mark, which ripgrep does not count."""

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *error: object) -> None:
        self._close()

    def around(self, path: str, offset: int, column: int) -> str | None:
        """The line at `offset` around its `column`; None for what is not text, not there or not allowed."""
        if path != self._path:
            self._open(path)
        if self._opened is None or self._encoding is None:
            return None
        hit = offset + column - 1
        start = max(offset, hit - 4 * _BESIDE)  # a character has four bytes at most
        before = self._decoded(self._read(hit - start, start))
        data = self._read(4 * WIDTH, hit)
        rest, end, _ = data.partition(b"\n")
        text = before[-_BESIDE:] + self._decoded(rest.removesuffix(b"\r") if end else rest)
        less = start > offset or len(before) > _BESIDE
        more = len(text) > WIDTH or (not end and len(data) == 4 * WIDTH)
        return f"{'…' if less else ''}{to_model(text[:WIDTH])}{'…' if more else ''}"

    def _decoded(self, data: bytes) -> str:
        return data.decode("latin-1") if self._encoding == "latin-1" else data.decode("utf-8", "ignore")

    def _read(self, length: int, start: int) -> bytes:
        assert self._opened is not None
        if self._whole is not None:
            return self._whole[start : start + length]
        return os.pread(self._opened.fd, length, start + self._mark)

    def _open(self, path: str) -> None:
        self._close()
        self._path = path
        try:
            self._opened = self.workspace.open_read(path)
        except ToolError:
            return
        head = os.pread(self._opened.fd, HEAD, 0)
        self._encoding = text_encoding(head, complete=False)
        self._mark = len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0
        if self._encoding not in (None, "utf-8", "latin-1"):
            assert self._encoding is not None
            data = os.pread(self._opened.fd, MAX_BYTES, 0)
            self._whole = data.decode(self._encoding, "replace").removeprefix("\ufeff").encode()

    def _close(self) -> None:
        if self._opened is not None:
            os.close(self._opened.fd)
        self._opened = self._encoding = self._whole = None
