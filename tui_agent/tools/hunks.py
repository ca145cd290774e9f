"""A change as hunks and lines, each of which can be taken or left.

`Diff` compares the bytes of two files line by line. A line that is removed or added has a `Key`; a set of
keys says what is left out, and `apply` gives the bytes that come of it: everything in is the new file,
everything out the old one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple

from tui_agent.tools.lines import BINARY, carriage_return, encoding_of, line_feed, split_lines
from tui_agent.tools.matching import Edit, edits

CONTEXT = 3
"""Unchanged lines around a hunk, as git has them."""


class Key(NamedTuple):
    """A changed line: `-` and its index in the old file, or `+` and its index in the new one."""

    sign: Literal["-", "+"]
    line: int


class Hunk(NamedTuple):
    """Neighbouring edits with their context; ranges are indexes, as in `Edit`."""

    start: int
    stop: int
    new_start: int
    new_stop: int
    edits: tuple[Edit, ...]

    @property
    def keys(self) -> tuple[Key, ...]:
        return tuple(key for edit in self.edits for key in keys(edit))

    @property
    def header(self) -> str:
        """`@@ -12,7 +12,8 @@`, with git's numbers."""
        return f"@@ -{_span(self.start, self.stop)} +{_span(self.new_start, self.new_stop)} @@"


def _span(start: int, stop: int) -> str:
    length = stop - start
    first = start + 1 if length else start
    return str(first) if length == 1 else f"{first},{length}"


def keys(edit: Edit) -> Iterator[Key]:
    """The changed lines of an edit, as they are shown: removed before added."""
    yield from (Key("-", i) for i in range(edit.start, edit.stop))
    yield from (Key("+", j) for j in range(edit.new_start, edit.new_stop))


@dataclass(frozen=True)
class Diff:
    """Two files compared. `before` None: a new file; `after` None: one that is deleted."""

    before: bytes | None
    after: bytes | None
    whole: ClassVar[bool] = True
    """Whether all lines are known, not only those around the changes."""

    @cached_property
    def encoding(self) -> str:
        return encoding_of(self.after or self.before or b"")

    @cached_property
    def old_encoding(self) -> str:
        return encoding_of(self.before) if self.before else self.encoding

    @property
    def binary(self) -> bool:
        return BINARY in (self.encoding, self.old_encoding)

    @property
    def divisible(self) -> bool:
        """Whether lines can be taken one by one: both files say their text in the same bytes."""
        encodings = {self.encoding, self.old_encoding}
        return not self.binary and (len(encodings) == 1 or encodings == {"utf-8", "latin-1"})

    @cached_property
    def old_lines(self) -> list[bytes]:
        return [] if self.binary else split_lines(self.before or b"", self.old_encoding)

    @cached_property
    def new_lines(self) -> list[bytes]:
        return [] if self.binary else split_lines(self.after or b"", self.encoding)

    @cached_property
    def edits(self) -> tuple[Edit, ...]:
        return edits(self.old_lines, self.new_lines)

    @cached_property
    def hunks(self) -> tuple[Hunk, ...]:
        return tuple(grouped(self.edits, len(self.old_lines), CONTEXT))

    @cached_property
    def keys(self) -> frozenset[Key]:
        return frozenset(key for edit in self.edits for key in keys(edit))

    @property
    def added(self) -> int:
        return sum(edit.new_stop - edit.new_start for edit in self.edits)

    @property
    def removed(self) -> int:
        return sum(edit.stop - edit.start for edit in self.edits)

    def apply(self, left_out: Collection[Key]) -> bytes | None:
        """The file with the changed lines of `left_out` as they were, all others as proposed."""
        left_out = self.keys.intersection(left_out)
        if not left_out:
            return self.after
        if left_out == self.keys:
            return self.before
        lines: list[bytes] = []
        at = 0
        for edit in self.edits:
            lines += self.old_lines[at : edit.start]
            lines += [self.old_lines[i] for i in range(edit.start, edit.stop) if Key("-", i) in left_out]
            lines += [
                self.new_lines[j] for j in range(edit.new_start, edit.new_stop) if Key("+", j) not in left_out
            ]
            at = edit.stop
        lines += self.old_lines[at:]
        return self._joined(lines)

    def _joined(self, lines: Sequence[bytes]) -> bytes:
        """A last line without an end gets one when it is not the last any more: lines never run together."""
        feed = line_feed(self.encoding)
        crlf = carriage_return(self.encoding) + feed
        end = crlf if any(line.endswith(crlf) for line in lines) else feed
        return b"".join(
            line if line.endswith(feed) or at == len(lines) - 1 else line + end
            for at, line in enumerate(lines)
        )


def grouped(changes: Sequence[Edit], length: int, context: int) -> Iterator[Hunk]:
    """Hunks over a file of `length` old lines: edits whose context meets are one."""
    group: list[Edit] = []
    for edit in changes:
        if group and edit.start - group[-1].stop > 2 * context:
            yield _hunk(group, length, context)
            group = []
        group.append(edit)
    if group:
        yield _hunk(group, length, context)


def _hunk(group: Sequence[Edit], length: int, context: int) -> Hunk:
    first, last = group[0], group[-1]
    above = min(context, first.start)
    below = min(context, length - last.stop)
    return Hunk(
        first.start - above, last.stop + below, first.new_start - above, last.new_stop + below, tuple(group)
    )
