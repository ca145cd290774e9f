"""Changes as a patch that `git apply` takes: bytes as they are, git's numbers, modes and names.

What git calls binary (it holds a NUL) is written as git writes it, both ways and checked by git, so that a
patch is never a part of the change.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from tui_agent.tools.hunks import CONTEXT, Hunk, grouped
from tui_agent.tools.matching import edits

_PLAIN = re.compile(rb"[A-Za-z0-9._/+@%,=-]+")
_ESCAPES = {7: b"\\a", 8: b"\\b", 9: b"\\t", 10: b"\\n", 11: b"\\v", 12: b"\\f", 13: b"\\r"}
_ESCAPES |= {ord('"'): b'\\"', ord("\\"): b"\\\\"}


@dataclass(frozen=True)
class Side:
    """A file on one side of a change; without `data` there is none."""

    data: bytes | None
    mode: int | None = None

    @property
    def git_mode(self) -> bytes:
        """git knows two: whether its owner may execute it."""
        return b"100755" if (self.mode or 0) & 0o100 else b"100644"

    @property
    def git_hash(self) -> bytes:
        if self.data is None:
            return b"0" * 40
        header = b"blob %d\0" % len(self.data)
        return hashlib.sha1(header + self.data, usedforsecurity=False).hexdigest().encode()


def file_patch(path: str, before: Side, after: Side) -> bytes:
    """One file's part of the patch; empty if git sees no change."""
    return b"".join(_patch(os.fsencode(path), before, after))


def _patch(path: bytes, before: Side, after: Side) -> Iterator[bytes]:
    old, new = _quoted(b"a/" + path), _quoted(b"b/" + path)
    same_mode = before.data is None or after.data is None or before.git_mode == after.git_mode
    if before.data == after.data and same_mode:
        return
    yield b"diff --git %s %s\n" % (old, new)
    if before.data is None:
        yield b"new file mode %s\n" % after.git_mode
    elif after.data is None:
        yield b"deleted file mode %s\n" % before.git_mode
    elif not same_mode:
        yield b"old mode %s\nnew mode %s\n" % (before.git_mode, after.git_mode)
    if before.data == after.data:
        return
    mode = b" " + after.git_mode if before.data is not None and after.data is not None and same_mode else b""
    yield b"index %s..%s%s\n" % (before.git_hash, after.git_hash, mode)
    if b"\0" in (before.data or b"") or b"\0" in (after.data or b""):
        yield b"GIT binary patch\n"
        yield from _literal(after.data or b"")
        yield from _literal(before.data or b"")
    elif before.data or after.data:
        yield b"--- %s\n" % (old if before.data is not None else b"/dev/null")
        yield b"+++ %s\n" % (new if after.data is not None else b"/dev/null")
        yield from _hunks(_lines(before.data), _lines(after.data))


def _lines(data: bytes | None) -> list[bytes]:
    """Lines with their newlines, as git counts them: a carriage return ends none."""
    lines = [line + b"\n" for line in (data or b"").split(b"\n")]
    last = lines.pop().removesuffix(b"\n")
    return [*lines, last] if last else lines


def _hunks(old: list[bytes], new: list[bytes]) -> Iterator[bytes]:
    for hunk in grouped(edits(old, new), len(old), CONTEXT):
        yield hunk.header.encode() + b"\n"
        yield from _body(hunk, old, new)


def _body(hunk: Hunk, old: list[bytes], new: list[bytes]) -> Iterator[bytes]:
    at = hunk.start
    for edit in hunk.edits:
        yield from (_marked(b" ", line) for line in old[at : edit.start])
        yield from (_marked(b"-", line) for line in old[edit.start : edit.stop])
        yield from (_marked(b"+", line) for line in new[edit.new_start : edit.new_stop])
        at = edit.stop
    yield from (_marked(b" ", line) for line in old[at : hunk.stop])


def _marked(sign: bytes, line: bytes) -> bytes:
    return sign + line if line.endswith(b"\n") else sign + line + b"\n\\ No newline at end of file\n"


def _literal(data: bytes) -> Iterator[bytes]:
    """All of a file, packed, in lines of at most 52 bytes, each led by a letter for its length."""
    yield b"literal %d\n" % len(data)
    packed = zlib.compress(data)
    for start in range(0, len(packed), 52):
        part = packed[start : start + 52]
        letter = len(part) + (ord("A") - 1 if len(part) <= 26 else ord("a") - 27)
        yield b"%c%s\n" % (letter, base64.b85encode(part, pad=True))
    yield b"\n"


def _quoted(path: bytes) -> bytes:
    """A name as git reads it back: in quotes, with escapes, unless it is plain."""
    if _PLAIN.fullmatch(path):
        return path
    inner = b"".join(
        _ESCAPES.get(byte) or (b"%c" % byte if 32 <= byte < 127 else b"\\%03o" % byte) for byte in path
    )
    return b'"' + inner + b'"'
