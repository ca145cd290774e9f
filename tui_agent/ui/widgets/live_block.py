"""The text that is being written: what is closed is handed on, the rest is plain rows.

`feed` takes what came since the last repaint and gives back the source of each Markdown block that it
closed, so what is handed on renders as it would in one piece. The open block is kept as rows: a complete
line is laid out once, and of the unfinished line only its last row again. Finding blocks runs Markdown's
block rules over the open block; that is skipped inside a fence, and for lines that can only continue a
table, list or paragraph, so the cost of a repaint doesn't grow with the block.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from tui_agent.text import visible
from tui_agent.ui.widgets.rows import Code, Margin, TextRow, code_rows, flow
from tui_agent.ui.widgets.wrap import untabbed

if TYPE_CHECKING:
    from markdown_it.token import Token

_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_ITEM = re.compile(r" {0,3}([-*+]|\d{1,9}[.)])( |$)")
_HELD = re.compile(r"(\x1b(\[[0-9;:]*)?|\r)\Z")


class Cleaner:
    """`visible` for a stream: holds back what may be the beginning of a colour or of a line end."""

    def __init__(self) -> None:
        self._held = ""

    def clean(self, text: str, last: bool = False) -> str:
        text, self._held = self._held + text, ""
        if not last and (match := _HELD.search(text)):
            text, self._held = text[: match.start()], match[0]
        return visible(text)


class LiveBlock:
    def __init__(self, width: int) -> None:
        self.width = width
        self._begin("")

    def _begin(self, source: str) -> None:
        """The open block is `source` from here on."""
        self.source = ""
        self.rows: list[TextRow] = []
        self._line_at = 0
        self._row_at = 0
        self._open = False
        self._blanks = 0
        self._fence: re.Pattern[str] | None = None
        self._language = ""
        self._add(source)

    def feed(self, text: str) -> list[str]:
        """Add text that went through `visible`; gives the sources of the blocks it closed."""
        ended = text.rfind("\n")
        if ended < 0 or self._continues((self.source[self._line_at :] + text[:ended]).split("\n")):
            self._add(text)
            return []
        whole = self.source + text
        complete = whole.rfind("\n") + 1
        closed, end = closed_blocks(whole[:complete])
        if closed:
            self._begin(whole[end:])
        else:
            self._add(text)
        return closed

    def finish(self) -> str:
        """The source of what is left."""
        rest = self.source
        self._begin("")
        return rest

    def rewrap(self, width: int) -> None:
        self.width = width
        self._begin(self.source)

    def _continues(self, lines: list[str]) -> bool:
        """Whether `lines`, now complete, can't have closed the open block."""
        before = self.source[: self._line_at]
        if self._fence is not None:
            return not any(self._fence.fullmatch(line) for line in lines)
        if before.startswith("|"):
            return all(line.startswith("|") for line in lines)
        if _ITEM.match(before):
            return all(_ITEM.match(line) or line.startswith("  ") for line in lines)
        if before[:1].isalpha():
            return all(line[:1].isalpha() for line in lines)
        return False

    def _add(self, text: str) -> None:
        for index, part in enumerate(text.split("\n")):
            if index:
                self._end_line()
            if part:
                self._extend(part)

    def _end_line(self) -> None:
        line = self.source[self._line_at :]
        if self._line_at == 0 and (opening := _FENCE.match(line)):
            self._fence = _closing(opening[1])
            self._language = "".join(line[opening.end() :].split(maxsplit=1)[:1])
            self.rows.clear()
        elif self._fence is not None and self._fence.fullmatch(line):
            self.rows.pop()
        elif not line:
            self._blanks += 1
        self.source += "\n"
        self._line_at = len(self.source)
        self._row_at = 0
        self._open = False

    def _extend(self, text: str) -> None:
        if self._open:
            self.rows.pop()
        else:
            self.rows += [row for _ in range(self._blanks) for row in self._rows("")]
            self._blanks = 0
            self._open = True
        self.source += text
        fresh = self._rows(untabbed(self.source[self._line_at :])[self._row_at :])
        self._row_at += sum(len(row.text) - row.gutter + len(row.after) for row in fresh[:-1])
        self.rows += fresh

    def _rows(self, line: str) -> list[TextRow]:
        if self._fence is None:
            return flow(((line, ""),), Margin.plain(), self.width)
        label = "" if self.rows else self._language
        return code_rows(Code(line, ""), range(1), Margin.plain(), self.width, label)


def closed_blocks(complete: str) -> tuple[list[str], int]:
    """The sources of the blocks of `complete` (whole lines) that nothing can change any more, and where
    the open one begins."""
    from tui_agent.ui.widgets.markdown_rows import parser

    md = parser()
    tokens: list[Token] = []
    md.block.parse(complete, md, {}, tokens)
    blocks = [(token, token.map) for token in tokens if token.level == 0 and token.map and token.nesting >= 0]
    if not blocks:
        return [], 0
    lines = complete.split("\n")
    bounds = [0, *(place[0] for _, place in blocks[1:])]
    last, (first, end) = blocks[-1]
    if _is_whole(last.type, last.markup, lines[first : end + 1], end < len(lines) - 1):
        bounds.append(end)
    closed = ["\n".join(lines[a:b]).strip("\n") for a, b in pairwise(bounds)]
    rest = lines[bounds[-1] :]
    while len(rest) > 1 and not rest[0]:
        del rest[0]
    return closed, len(complete) - len("\n".join(rest))


def _is_whole(kind: str, markup: str, lines: list[str], followed: bool) -> bool:
    """Whether the last block is closed although none has begun below it. `lines` go on to the line after it,
    if one `followed`. Lists and indented code can go on after a blank line, so they are not."""
    if kind in ("heading_open", "hr"):
        return True
    if kind == "fence":
        last = len(lines) - 2 if followed else len(lines) - 1
        return last > 0 and _closing(markup).fullmatch(lines[last]) is not None
    return kind in ("paragraph_open", "table_open", "blockquote_open") and followed and not lines[-1].strip()


def _closing(opening: str) -> re.Pattern[str]:
    mark = re.escape(opening[0])
    return re.compile(rf" {{0,3}}{mark}{{{len(opening)},}}[ \t]*")
