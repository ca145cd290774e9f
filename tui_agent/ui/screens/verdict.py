"""What the model is told of a review, beside the result of the write itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from tui_agent.text import plural, shorten

if TYPE_CHECKING:
    from tui_agent.tools.hunks import Diff, Hunk, Key
    from tui_agent.ui.widgets.diff_layout import Anchor

MOST_LINES = 12
WIDTH = 120


def counts(diff: Diff, left_out: Collection[Key]) -> str:
    """`2 of 3 hunks, +14 −3`: what is in."""
    taken = sum(not any(key in left_out for key in hunk.keys) for hunk in diff.hunks)
    part = sum(_in_part(hunk, left_out) for hunk in diff.hunks)
    out = [key.sign for key in left_out]
    words = f"{taken} of {plural(len(diff.hunks), 'hunk')}" if left_out else plural(len(diff.hunks), "hunk")
    if part:
        words += f" and {part} in part"
    return f"{words}, +{diff.added - out.count('+')} −{diff.removed - out.count('-')}"


def _in_part(hunk: Hunk, left_out: Collection[Key]) -> bool:
    out = sum(key in left_out for key in hunk.keys)
    return 0 < out < len(hunk.keys)


def told(diff: Diff, left_out: Collection[Key], edited: bool, comments: Mapping[Anchor, str]) -> str:
    """What was taken, what not, what was edited, and the comments; nothing when all was taken as proposed."""
    parts = []
    if left_out:
        parts.append(_applied(diff, left_out))
        parts.append("not applied: " + "; ".join(_left_out(diff, left_out)))
    if edited:
        parts.append("the user edited the proposal; what was written is not what you proposed")
    if said := comments_text(diff, comments):
        parts.append(said)
    return "; ".join(parts)


def _applied(diff: Diff, left_out: Collection[Key]) -> str:
    taken = sum(not any(key in left_out for key in hunk.keys) for hunk in diff.hunks)
    part = sum(_in_part(hunk, left_out) for hunk in diff.hunks)
    words = f"applied {taken} of {plural(len(diff.hunks), 'hunk')}"
    return f"{words} and a part of {part}" if part else words


def _left_out(diff: Diff, left_out: Collection[Key]) -> Iterator[str]:
    for hunk in diff.hunks:
        keys = [key for key in hunk.keys if key in left_out]
        if len(keys) == len(hunk.keys):
            yield f"hunk {hunk.header}"
        elif keys:
            lines = [_quoted(diff, key) for key in keys[:MOST_LINES]]
            if len(keys) > MOST_LINES:
                lines.append(f"and {plural(len(keys) - MOST_LINES, 'more line')}")
            yield f"of hunk {hunk.header} the lines " + ", ".join(lines)


def _quoted(diff: Diff, key: Key) -> str:
    return f"{key.sign}{_line(diff, key.sign, key.line)!r}"


def _line(diff: Diff, sign: str, index: int) -> str:
    from tui_agent.tools.lines import line_text

    if sign == "-":
        text = line_text(diff.old_lines[index], diff.old_encoding)
    else:
        text = line_text(diff.new_lines[index], diff.encoding)
    return shorten(text.removesuffix("\r"), WIDTH)


def comments_text(diff: Diff, comments: Mapping[Anchor, str]) -> str:
    """`comments: line 42 ('total = 0'): use Decimal`; lines that were removed are `old line 7`."""
    if not comments:
        return ""
    said = []
    for sign, index in sorted(comments, key=lambda place: (place[1], place[0])):
        where = "line" if sign == "+" else "old line"
        said.append(f"{where} {index + 1} ({_line(diff, sign, index)!r}): {comments[sign, index].strip()}")
    return "comments: " + "; ".join(said)
