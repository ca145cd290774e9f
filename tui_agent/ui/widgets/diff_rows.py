"""The rows of a diff: what stands where, before any of it is drawn.

Pure, and made in a thread when a file is large. Unified and side by side are two lists of the same `Row`;
a row names lines by their index and holds no text, so twenty thousand of them cost little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from tui_agent.tools.hunks import Diff, Key
    from tui_agent.tools.matching import Edit

Kind = Literal["head", "same", "old", "new", "pair", "space", "unended", "tail", "note"]
"""`head` stands before a hunk, `tail` for unchanged lines left out at the end. `space`: lines that differ in
blanks only, shown as one while blanks are ignored. `unended`: the line above has no newline at its end.
`note`: a sentence about the change, `old` is its index in `notes`."""

Span = tuple[int, int]
_MOST_PAIRED = 2_500
_MOST_TOKENS = 400
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")


class Row(NamedTuple):
    kind: Kind
    old: int = -1
    new: int = -1
    hunk: int = -1
    edit: int = -1


class Rows:
    """A `Diff` seen with `context` unchanged lines around each change (None: all of them)."""

    def __init__(
        self,
        diff: Diff,
        *,
        split: bool,
        context: int | None,
        ignore_space: bool = False,
        notes: Sequence[str] = (),
    ) -> None:
        self.diff = diff
        self.split = split
        self._context = len(diff.old_lines) if context is None else context
        self._ignore_space = ignore_space
        self._aligned: dict[Edit, tuple[tuple[int, int], ...]] = {}
        self.hidden: dict[int, int] = {}
        """Unchanged lines left out above the hunk of that number."""
        self.notes = notes
        self.rows: tuple[Row, ...] = (*(Row("note", at) for at in range(len(notes))), *self._rows())

    @cached_property
    def heads(self) -> tuple[int, ...]:
        """Where the hunks begin."""
        return tuple(at for at, row in enumerate(self.rows) if row.kind == "head" and row.hunk >= 0)

    @cached_property
    def returns(self) -> bool:
        """Whether every line of both files ends in CRLF: the header says it, so it need not be drawn."""
        from tui_agent.tools.lines import line_ends

        ends = (
            line_ends(self.diff.old_lines, self.diff.old_encoding),
            line_ends(self.diff.new_lines, self.diff.encoding),
        )
        return "CRLF" in ends and set(ends) <= {"CRLF", ""}

    def keys(self, row: Row) -> tuple[Key, ...]:
        """The changed lines that a row shows."""
        from tui_agent.tools.hunks import Key

        removed = (Key("-", row.old),) if row.kind in ("old", "pair", "space") and row.old >= 0 else ()
        added = (Key("+", row.new),) if row.kind in ("new", "pair", "space") and row.new >= 0 else ()
        return removed + added

    def partner(self, row: Row) -> tuple[int, int] | None:
        """The two lines, by index, that a changed line was and became; None if it stands alone."""
        if row.kind == "pair":
            pair = (row.old, row.new)
        elif row.kind in ("old", "new"):
            edit = self.diff.edits[row.edit]
            side, index = (0, row.old) if row.kind == "old" else (1, row.new)
            if _alignable(edit):
                pair = next(pair for pair in self._pairs(edit) if pair[side] == index)
            else:
                offset = index - (edit.new_start if side else edit.start)
                pair = (edit.start + offset, edit.new_start + offset)
                if pair[0] >= edit.stop or pair[1] >= edit.new_stop:
                    return None
        else:
            return None
        return pair if min(pair) >= 0 else None

    def old_text(self, index: int) -> str:
        return self._text(self.diff.old_lines[index], self.diff.old_encoding)

    def new_text(self, index: int) -> str:
        return self._text(self.diff.new_lines[index], self.diff.encoding)

    def _text(self, line: bytes, encoding: str) -> str:
        """What a line says; its carriage return is left out where all lines of both files have one."""
        from tui_agent.tools.lines import line_feed, line_text

        text = line_text(line, encoding)
        return text.removesuffix("\r") if self.returns and line.endswith(line_feed(encoding)) else text

    # Making the rows ---------------------------------------------------------------------------------

    def _rows(self) -> Iterator[Row]:
        from tui_agent.tools.hunks import grouped

        hunks, end = self.diff.hunks, len(self.diff.old_lines)
        number = {edit: at for at, hunk in enumerate(hunks) for edit in hunk.edits}
        shown = index = 0
        for region in grouped(self.diff.edits, end, self._context):
            at, new_at = region.start, region.new_start
            self.hidden[number[region.edits[0]]] = at - shown
            for edit in region.edits:
                hunk = number[edit]
                if edit == hunks[hunk].edits[0]:
                    stop = at if edit == region.edits[0] else max(at, hunks[hunk].start)
                    yield from self._same(at, stop, new_at)
                    at, new_at = stop, new_at + stop - at
                    yield Row("head", at, new_at, hunk)
                yield from self._same(at, edit.start, new_at)
                yield from self._changed(edit, hunk, index)
                index += 1
                at, new_at = edit.stop, edit.new_stop
            yield from self._same(at, region.stop, new_at)
            if at < region.stop:
                yield from self._unended(region.stop - 1, region.new_stop - 1)
            shown = region.stop
        if 0 < shown < end:
            yield Row("tail", shown, end)

    def _same(self, start: int, stop: int, new_start: int) -> Iterator[Row]:
        for offset in range(stop - start):
            yield Row("same", start + offset, new_start + offset)

    def _changed(self, edit: Edit, hunk: int, index: int) -> Iterator[Row]:
        for part, same_but_space in self._parts(edit):
            last_old = part.stop - 1 if part.stop > part.start else -1
            last_new = part.new_stop - 1 if part.new_stop > part.new_start else -1
            if same_but_space:
                for offset in range(part.stop - part.start):
                    yield Row("space", part.start + offset, part.new_start + offset, hunk, index)
                yield from self._unended(last_old, last_new)
            elif self.split:
                for old, new in self._pairs(part):
                    yield Row("pair", old, new, hunk, index)
                yield from self._unended(last_old, last_new)
            else:
                for old in range(part.start, part.stop):
                    yield Row("old", old, -1, hunk, index)
                yield from self._unended(last_old, -1)
                for new in range(part.new_start, part.new_stop):
                    yield Row("new", -1, new, hunk, index)
                yield from self._unended(-1, last_new)

    def _unended(self, old: int, new: int) -> Iterator[Row]:
        """git's `\\ No newline at end of file`, for the sides of the last line that have none."""
        from tui_agent.tools.lines import line_feed

        diff = self.diff
        last_old, last_new = len(diff.old_lines) - 1, len(diff.new_lines) - 1
        old_open = (
            old >= 0 and old == last_old and not diff.old_lines[old].endswith(line_feed(diff.old_encoding))
        )
        new_open = new >= 0 and new == last_new and not diff.new_lines[new].endswith(line_feed(diff.encoding))
        if old_open or new_open:
            yield Row("unended", old if old_open else -1, new if new_open else -1)

    def _parts(self, edit: Edit) -> Iterator[tuple[Edit, bool]]:
        """The edit whole; while blanks are ignored, in parts that differ in blanks only (True) and others."""
        if not self._ignore_space:
            yield edit, False
            return
        from tui_agent.tools.matching import Edit, edits

        old = ["".join(self.old_text(i).split()) for i in range(edit.start, edit.stop)]
        new = ["".join(self.new_text(j).split()) for j in range(edit.new_start, edit.new_stop)]
        at, new_at = edit.start, edit.new_start
        for inner in (*edits(old, new), Edit(len(old), len(old), len(new), len(new))):
            start, stop = edit.start + inner.start, edit.start + inner.stop
            new_start, new_stop = edit.new_start + inner.new_start, edit.new_start + inner.new_stop
            if start > at:
                yield Edit(at, start, new_at, new_start), True
            if stop > start or new_stop > new_start:
                yield Edit(start, stop, new_start, new_stop), False
            at, new_at = stop, new_stop

    def _pairs(self, edit: Edit) -> tuple[tuple[int, int], ...]:
        """Which removed line stands beside which added one; -1 where there is none."""
        old, new = range(edit.start, edit.stop), range(edit.new_start, edit.new_stop)
        if not _alignable(edit):
            return tuple(zip_longest(old, new, fillvalue=-1))
        if edit not in self._aligned:
            pairs = aligned([self.old_text(i) for i in old], [self.new_text(j) for j in new])
            self._aligned[edit] = tuple(
                (old[i] if i >= 0 else -1, new[j] if j >= 0 else -1) for i, j in pairs
            )
        return self._aligned[edit]


def _alignable(edit: Edit) -> bool:
    """Whether it is worth while, and quick, to look for alike lines: else they pair by position."""
    old, new = edit.stop - edit.start, edit.new_stop - edit.new_start
    return old != new and 0 < old * new <= _MOST_PAIRED


def searched(rows: Rows, row: Row) -> str:
    if row.kind in ("head", "tail", "note", "unended"):
        return ""
    old = rows.old_text(row.old) if row.old >= 0 else ""
    return f"{old}\n{rows.new_text(row.new)}" if row.new >= 0 else old


def same_place(rows: tuple[Row, ...], row: Row | None) -> int:
    """The row that shows what `row` showed, or the next one."""
    if row is None:
        return next((at for at, new in enumerate(rows) if new.kind == "head"), 0)
    for at, other in enumerate(rows):
        if row.kind == "head" and other.kind == "head" and other.hunk == row.hunk:
            return at
        if row.kind != "head" and other.kind != "head":
            if row.new >= 0 and other.new >= row.new:
                return at
            if row.new < 0 and other.old >= row.old:
                return at
    return max(0, len(rows) - 1)


def aligned(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of indexes in order, so that alike lines stand side by side."""
    old_words, new_words = [set(_TOKEN.findall(t)) for t in old], [set(_TOKEN.findall(t)) for t in new]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in range(len(old) - 1, -1, -1):
        for j in range(len(new) - 1, -1, -1):
            alike = _alike(old_words[i], new_words[j])
            best[i][j] = max(best[i + 1][j], best[i][j + 1], best[i + 1][j + 1] + alike)
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(old) and j < len(new):
        alike = _alike(old_words[i], new_words[j])
        if alike and best[i][j] == best[i + 1][j + 1] + alike:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            pairs.append((i, -1))
            i += 1
        else:
            pairs.append((-1, j))
            j += 1
    pairs += [(k, -1) for k in range(i, len(old))]
    return pairs + [(-1, k) for k in range(j, len(new))]


def _alike(one: set[str], other: set[str]) -> float:
    union = len(one | other)
    share = len(one & other) / union if union else 0.0
    return share if share > 0.3 else 0.0


@lru_cache(maxsize=256)  # both sides of a pair ask
def changed_words(old: str, new: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Where two lines differ, word by word, as character spans; none where they have little in common."""
    from tui_agent.tools.matching import edits

    if max(len(old), len(new)) > 20 * _MOST_TOKENS:
        return (), ()
    old_tokens, new_tokens = _TOKEN.findall(old), _TOKEN.findall(new)
    if max(len(old_tokens), len(new_tokens)) > _MOST_TOKENS:
        return (), ()
    changes = edits(old_tokens, new_tokens)
    old_spans = _spans(old_tokens, [(edit.start, edit.stop) for edit in changes])
    new_spans = _spans(new_tokens, [(edit.new_start, edit.new_stop) for edit in changes])
    kept = len(old.strip()) - sum(end - start for start, end in old_spans)
    if kept * 3 < max(len(old.strip()), len(new.strip())):
        return (), ()
    return old_spans, new_spans


def _spans(tokens: Sequence[str], ranges: Sequence[Span]) -> tuple[Span, ...]:
    ends = [0]
    for token in tokens:
        ends.append(ends[-1] + len(token))
    return tuple((ends[start], ends[stop]) for start, stop in ranges if stop > start)
