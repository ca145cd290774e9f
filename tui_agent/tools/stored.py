"""A diff from what a `FileChange` still has: its bytes or, when a session was reopened, its text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

from tui_agent.tools.details import FileChange
from tui_agent.tools.hunks import Diff
from tui_agent.tools.matching import Edit

_HEADER = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def diff_of(change: FileChange) -> Diff:
    """From the bytes if they are there, else from the text of the diff."""
    held = (change.before is None) == (change.before_hash is None)
    if held and (change.after is None) == (change.after_hash is None):
        return Diff(change.before, change.after)
    return StoredDiff(None, None, change.diff)


class _Parsed(NamedTuple):
    old: dict[int, bytes]
    new: dict[int, bytes]
    edits: tuple[Edit, ...]


@dataclass(frozen=True)
class StoredDiff(Diff):
    """Read back from a unified diff. Lines that it does not hold are empty: show no more context."""

    text: str = ""
    whole: ClassVar[bool] = False

    @property
    def binary(self) -> bool:
        return False

    @cached_property
    def old_lines(self) -> list[bytes]:
        return _lines(self._parsed.old)

    @cached_property
    def new_lines(self) -> list[bytes]:
        return _lines(self._parsed.new)

    @cached_property
    def edits(self) -> tuple[Edit, ...]:
        return self._parsed.edits

    @cached_property
    def _parsed(self) -> _Parsed:
        old: dict[int, bytes] = {}
        new: dict[int, bytes] = {}
        found: list[Edit] = []
        at = new_at = start = new_start = 0
        last: tuple[dict[int, bytes], ...] = ()
        body = False
        for line in self.text.split("\n"):
            sign, data = line[:1], line[1:].encode("utf-8", "surrogatepass") + b"\n"
            if header := _HEADER.match(line):
                # An empty side is numbered by the line before it.
                at = int(header[1]) - (header[2] != "0")
                new_at = int(header[3]) - (header[4] != "0")
                start, new_start, body = at, new_at, True
            elif not body:
                continue
            elif sign == "\\":
                for side, index in zip(last, (at if last[0] is old else new_at, new_at), strict=False):
                    side[index - 1] = side[index - 1].removesuffix(b"\n")
                continue
            elif sign == "-":
                old[at], at, last = data, at + 1, (old,)
            elif sign == "+":
                new[new_at], new_at, last = data, new_at + 1, (new,)
            elif sign == " ":
                old[at] = new[new_at] = data
                at, new_at, last = at + 1, new_at + 1, (old, new)
            if sign in "-+":
                if found and found[-1].stop == start and found[-1].new_stop == new_start:
                    found[-1] = found[-1]._replace(stop=at, new_stop=new_at)
                elif sign:
                    found.append(Edit(start, at, new_start, new_at))
            start, new_start = at, new_at
        return _Parsed(old, new, tuple(found))


def _lines(known: dict[int, bytes]) -> list[bytes]:
    return [known.get(at, b"\n") for at in range(max(known, default=-1) + 1)]
