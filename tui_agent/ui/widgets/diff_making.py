"""From a change to rows laid out for a width: all the work of a diff that grows with the file.

Pure, so that it can be done in a thread; the view only asks for it and takes what comes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_agent.text import invisibles, plural
from tui_agent.ui.widgets.diff_layout import Layout, View
from tui_agent.ui.widgets.diff_rows import Rows

if TYPE_CHECKING:
    from tui_agent.tools.details import FileChange
    from tui_agent.tools.hunks import Diff

AT_ONCE = 100_000
"""Bytes that are compared without a thread."""


@dataclass(frozen=True)
class Sight:
    """How a change is looked at. `notes` are sentences that stand above it."""

    width: int
    view: View
    split: bool
    context: int | None
    ignore_space: bool
    notes: tuple[str, ...] = ()


def is_small(change: FileChange) -> bool:
    size = len(change.before or b"") + len(change.after or b"")
    return size <= AT_ONCE and len(change.diff) <= AT_ONCE


def made(change: FileChange, diff: Diff | None, sight: Sight) -> Layout:
    """The layout; `diff` is the comparison if it was made before."""
    from tui_agent.tools.stored import diff_of

    diff = diff or diff_of(change)
    notes = (*sight.notes, *warnings(diff), *nothing_to_show(diff, change))
    rows = Rows(diff, split=sight.split, context=sight.context, ignore_space=sight.ignore_space, notes=notes)
    return Layout(rows, sight.width, sight.view)


def warnings(diff: Diff) -> Iterator[str]:
    """A sentence when an added line has characters that no eye sees or that turn the text round."""
    from tui_agent.tools.lines import line_text

    found = 0
    for edit in diff.edits:
        for line in diff.new_lines[edit.new_start : edit.new_stop]:
            text = line_text(line, diff.encoding)
            found += 0 if text.isascii() and text.isprintable() else invisibles(text.removesuffix("\r"))
    if found:
        yield f"{plural(found, 'invisible or bidirectional character')} in added lines, drawn like ⸨U+202E⸩"


def nothing_to_show(diff: Diff, change: FileChange) -> tuple[str, ...]:
    """A sentence where there are no lines to show."""
    from tui_agent.tools.changes import sizes

    if diff.binary:
        return (f"A binary file: {sizes(diff)}. It is not shown here.",)
    if not diff.edits and not diff.whole:
        return (change.diff.strip() or "The content of this change is not kept here.",)
    if not diff.edits:
        return ("An empty file." if not diff.after else "The content stays as it is.",)
    return ()
