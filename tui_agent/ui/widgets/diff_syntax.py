"""Colours of the language for both sides of a diff. Made in a thread; large files go without."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui_agent.ui.widgets.diff_layout import Syntax
from tui_agent.ui.widgets.diff_text import Mark

if TYPE_CHECKING:
    from tui_agent.tools.hunks import Diff

LARGEST = 200_000
"""Bytes of a side that are coloured: pygments takes about a second for a million."""


def syntax_of(path: str, diff: Diff) -> Syntax:
    """Marks by side and line; empty when the language is unknown or the file too large."""
    language = _language(path)
    if not language or diff.binary or not diff.whole:
        return {}
    sides = (("-", diff.before or b"", diff.old_encoding), ("+", diff.after or b"", diff.encoding))
    return {
        sign: _marks(data.decode(encoding), language)
        for sign, data, encoding in sides
        if data and len(data) <= LARGEST
    }


def _language(path: str) -> str:
    from pygments.lexers import find_lexer_class_for_filename

    lexer = find_lexer_class_for_filename(path)
    return lexer.aliases[0] if lexer is not None and lexer.aliases else ""


def _marks(text: str, language: str) -> Sequence[Sequence[Mark]]:
    from tui_agent.ui.widgets.highlight import highlighted

    lines: list[list[Mark]] = []
    for runs in highlighted(text, language):
        marks: list[Mark] = []
        column = 0
        for part, style in runs:
            if style:
                marks.append((column, column + len(part), style))
            column += len(part)
        lines.append(marks)
    return lines
