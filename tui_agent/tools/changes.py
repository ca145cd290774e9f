"""A change of a file, described: counts, facts for the header, the unified diff as text.

Pure: bytes come in, a `FileChange` goes out. What is shown to the person, told to the model and kept by the
session is derived here from the two byte strings and nothing else. Work grows with the size of the file, so
callers on an event loop use a thread for what is large.
"""

from __future__ import annotations

from collections.abc import Iterator

from tui_agent.text import size_text
from tui_agent.tools.details import FileChange, digest
from tui_agent.tools.hunks import Diff, Hunk
from tui_agent.tools.lines import has_mark, line_ends, line_feed, line_text

MAX_DIFF = 200_000
"""Characters of a diff that are kept as text; the bytes are always whole."""

_NAMES = {"utf-8": "UTF-8", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "utf-32-le": "UTF-32"}


def file_change(
    path: str, before: bytes | None, after: bytes | None, *, facts: tuple[str, ...] = ()
) -> FileChange:
    """The change from `before` to `after` (None: no file). `facts` join those that the bytes tell."""
    diff = Diff(before, after)
    return FileChange(
        path=path,
        before=before,
        after=after,
        before_hash=digest(before),
        after_hash=digest(after),
        diff=diff_text(path, diff),
        added=diff.added,
        removed=diff.removed,
        facts=(*_facts(diff), *facts),
    )


def diff_text(path: str, diff: Diff) -> str:
    """The unified diff as text, shortened past `MAX_DIFF` characters with a line that says by how much."""
    if diff.binary:
        return f"Binary file: {sizes(diff)}, {digest(diff.after)}\n"
    kept: list[str] = []
    length = left_out = 0
    for line in unified_lines(path, diff):
        if left_out or length + len(line) > MAX_DIFF:
            left_out += 1
        else:
            kept.append(line)
            length += len(line) + 1
    if left_out:
        # The hash keeps two changes apart whose shortened texts are the same.
        kept.append(f"\\ {left_out} more lines not kept here; the new file is sha256 {digest(diff.after)}")
    return "".join(f"{line}\n" for line in kept)


def unified_lines(path: str, diff: Diff) -> Iterator[str]:
    """The lines of a unified diff, numbers and marks as git writes them."""
    if not diff.hunks:
        return
    yield f"--- {'/dev/null' if diff.before is None else f'a/{path}'}"
    yield f"+++ {'/dev/null' if diff.after is None else f'b/{path}'}"
    for hunk in diff.hunks:
        yield hunk.header
        yield from hunk_lines(diff, hunk)


def hunk_lines(diff: Diff, hunk: Hunk) -> Iterator[str]:
    at = hunk.start
    for edit in hunk.edits:
        yield from _marked(" ", diff.old_lines[at : edit.start], diff.old_encoding)
        yield from _marked("-", diff.old_lines[edit.start : edit.stop], diff.old_encoding)
        yield from _marked("+", diff.new_lines[edit.new_start : edit.new_stop], diff.encoding)
        at = edit.stop
    yield from _marked(" ", diff.old_lines[at : hunk.stop], diff.old_encoding)


def _marked(sign: str, lines: list[bytes], encoding: str) -> Iterator[str]:
    for line in lines:
        yield sign + line_text(line, encoding)
        if not line.endswith(line_feed(encoding)):
            yield "\\ No newline at end of file"


def sizes(diff: Diff) -> str:
    """`12 B → 3.4 KB`."""
    sides = (diff.before, diff.after)
    return " → ".join("no file" if data is None else size_text(len(data)) for data in sides)


def _facts(diff: Diff) -> Iterator[str]:
    """Short words for the header, the most telling first."""
    before, after = diff.before, diff.after
    if before is None:
        yield "new"
    elif after is None:
        yield "deleted"
    elif before and not after:
        yield "emptied"
    else:
        yield "modified"
    if diff.binary:
        yield "binary"
    else:
        yield from _text_facts(diff)
    yield size_text(len(after or b"")) if before is None else sizes(diff)


def _text_facts(diff: Diff) -> Iterator[str]:
    before, after = diff.before or b"", diff.after or b""
    encodings = [_named(data, encoding) for data, encoding in _sides(diff)]
    if len(set(encodings)) == 2:
        yield f"encoding {encodings[0]} → {encodings[1]}"
    elif encodings and encodings[0] != "UTF-8":
        yield encodings[0]
    ends = line_ends(diff.new_lines, diff.encoding)
    old_ends = line_ends(diff.old_lines, diff.old_encoding)
    if ends and old_ends and ends != old_ends:
        yield f"line ends {old_ends} → {ends}"
    elif ends in ("CRLF", "mixed"):
        yield "CRLF" if ends == "CRLF" else "mixed line ends"
    if after and not after.endswith(line_feed(diff.encoding)):
        yield "no newline at end"
    elif after and before and not before.endswith(line_feed(diff.old_encoding)):
        yield "newline at end added"


def _sides(diff: Diff) -> Iterator[tuple[bytes, str]]:
    if diff.before:
        yield diff.before, diff.old_encoding
    if diff.after:
        yield diff.after, diff.encoding


def _named(data: bytes, encoding: str) -> str:
    name = _NAMES.get(encoding, encoding)
    return f"{name} with a mark" if encoding == "utf-8" and has_mark(data) else name
