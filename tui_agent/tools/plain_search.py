"""Searching without ripgrep: we walk and read, a child process matches (`grep_child`)."""

from __future__ import annotations

import codecs
import json
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE
from typing import IO

from tui_agent.agent.cancel import CancelSignal
from tui_agent.agent.errors import ToolError
from tui_agent.tools.clean import to_model
from tui_agent.tools.grep_child import HEADER
from tui_agent.tools.ignore import Glob
from tui_agent.tools.search import MAX_HITS, WIDTH, Found, Helper, Hit, Query, helper
from tui_agent.tools.sniff import text_encoding
from tui_agent.tools.walk import Walk
from tui_agent.tools.workspace import Workspace

_CHUNK = 1 << 20
_LONGEST = 8 << 20
"""Bytes of one line; a longer one is matched in parts."""
_ENTRIES = 500_000


def search(workspace: Workspace, query: Query, signal: CancelSignal) -> Found:
    order = {
        "pattern": query.pattern,
        "ignore_case": query.ignore_case,
        "hits": MAX_HITS + 1,
        "width": WIDTH,
        "seconds": query.seconds + 5,
        "parent": os.getpid(),
    }
    child = Path(__file__).with_name("grep_child.py")
    command = [sys.executable, "-I", "-S", str(child), json.dumps(order)]
    found, files = Found(), Files(workspace, query, signal)
    with helper(command, "/", signal, query.seconds, PIPE) as process:
        feeder = threading.Thread(target=files.feed, args=(process,), daemon=True)
        feeder.start()
        for row in process.output:
            file, line, text = json.loads(row)
            raw = text.encode("utf-8", "surrogateescape")
            path, encoding = files.sent[file]
            found.hits.append(Hit(path, line, to_model(raw.decode(encoding, "ignore"))))
        found.error = process.complaint()
        process.kill()
        feeder.join()
    if len(found.hits) > MAX_HITS:
        found.hits.pop()
        found.stopped = f"stopped after {MAX_HITS:,} matching lines"
    elif process.timed_out:
        found.stopped, found.error = f"stopped after {query.seconds:g} s", ""
    else:
        found.stopped = files.stopped
    found.passed_over = files.passed_over
    found.hits.sort()
    return found


class Files:
    """The text of the files asked for, on its way to the child. `sent`: path and encoding, by number."""

    def __init__(self, workspace: Workspace, query: Query, signal: CancelSignal) -> None:
        self.workspace = workspace
        self.query = query
        self.signal = signal
        self.sent: list[tuple[str, str]] = []
        self.stopped = ""
        self.passed_over = 0

    def feed(self, process: Helper) -> None:
        stdin = process.process.stdin
        assert stdin is not None
        try:
            for path in self._wanted():
                self._send(path, stdin)
            stdin.close()
        except (BrokenPipeError, ValueError):  # the child has enough, or was killed
            pass
        except Exception as error:
            self.stopped = f"stopped by an error: {error}"
            process.kill()

    def _wanted(self) -> Iterator[str]:
        query = self.query
        if query.is_file:
            yield query.base
            return
        glob = Glob(query.glob) if query.glob else None
        walk = Walk(
            self.workspace,
            query.base,
            limit=_ENTRIES,
            seconds=query.seconds,
            check=self.signal.raise_if_cancelled,
        )
        for entry in walk:
            wanted = entry.kind == "file" and (glob is None or glob.matches(entry.path))
            if wanted and not walk.ignore.ignores(entry.path, folder=False):
                yield entry.path
        self.stopped = walk.stopped

    def _send(self, path: str, stdin: IO[bytes]) -> None:
        if self.query.passes_over(path):
            self.passed_over += 1
            return
        try:
            opened = self.workspace.open_read(path)
        except ToolError:
            return
        number, line = len(self.sent), 1
        with opened, open(opened.fd, "rb", buffering=0, closefd=False) as file:
            head = file.read(_CHUNK)
            encoding = text_encoding(head, complete=False)
            if encoding is None:
                return
            self.sent.append((path, "latin-1" if encoding == "latin-1" else "utf-8"))
            for text in _by_lines(_as_utf8(head, file, encoding)):
                self.signal.raise_if_cancelled()
                stdin.write(HEADER.pack(number, line, len(text)) + text)
                line += text.count(b"\n")


def _as_utf8(head: bytes, file: IO[bytes], encoding: str) -> Iterator[bytes]:
    """The text of a file, piece by piece. What is not UTF-8 and not wide is passed as it is."""
    wide = None if encoding in ("utf-8", "latin-1") else codecs.getincrementaldecoder(encoding)("replace")
    piece = head.removeprefix(codecs.BOM_UTF8)
    while piece:
        yield wide.decode(piece).removeprefix("\ufeff").encode() if wide else piece
        piece = file.read(_CHUNK)


def _by_lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces that end with a line."""
    rest = b""
    for piece in pieces:
        complete, end, tail = piece.rpartition(b"\n")
        if end:
            yield rest + complete + end
            rest = tail
        elif len(rest) > _LONGEST:
            yield rest + piece
            rest = b""
        else:
            rest += piece
    if rest:
        yield rest
