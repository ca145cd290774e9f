"""A file as lines of bytes, and what those bytes say as text.

Only a line feed ends a line (a carriage return before it belongs to the line), as git counts them: no form
feed, no U+2028. Joining the lines gives the file back, byte for byte, in every encoding.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence

BINARY = "binary"
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF8, "utf-8"),
)


def encoding_of(data: bytes) -> str:
    """By its byte order mark, else UTF-8 if it is that, else latin-1, which shows any byte; or `BINARY`."""
    marked = mark_of(data)
    if marked is None and b"\0" in data:
        return BINARY
    encoding = marked or "utf-8"
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return BINARY if b"\0" in data else "latin-1"
    return encoding


def mark_of(data: bytes) -> str | None:
    """The encoding that a byte order mark names."""
    return next((encoding for mark, encoding in _MARKS if data.startswith(mark)), None)


def has_mark(data: bytes) -> bool:
    return mark_of(data) is not None


def line_feed(encoding: str) -> bytes:
    return b"\n" if encoding == BINARY else "\n".encode(encoding)


def carriage_return(encoding: str) -> bytes:
    return b"\r" if encoding == BINARY else "\r".encode(encoding)


def split_lines(data: bytes, encoding: str) -> list[bytes]:
    """The lines with their ends; the last may have none."""
    feed = line_feed(encoding)
    if len(feed) == 1:
        lines = [line + feed for line in data.split(feed)]
        lines[-1] = lines[-1][:-1]
        return lines if lines[-1] else lines[:-1]
    lines, start, found = [], 0, data.find(feed)
    while found >= 0:
        if found % len(feed) == 0:  # else it is the end of one character and the start of the next
            lines.append(data[start : found + len(feed)])
            start = found + len(feed)
            found = data.find(feed, start)
        else:
            found = data.find(feed, found + 1)
    return [*lines, data[start:]] if start < len(data) else lines


def line_text(line: bytes, encoding: str) -> str:
    """A line as text, its line feed left out (a carriage return stays: it is there)."""
    text = line.decode("latin-1" if encoding == BINARY else encoding, "backslashreplace")
    return text.removesuffix("\n")


def line_ends(lines: Sequence[bytes], encoding: str) -> str:
    """LF, CRLF, mixed, or nothing when no line ends."""
    feed = line_feed(encoding)
    crlf = carriage_return(encoding) + feed
    ended = [line for line in lines if line.endswith(feed)]
    with_return = sum(1 for line in ended if line.endswith(crlf))
    if not ended:
        return ""
    return "LF" if not with_return else "CRLF" if with_return == len(ended) else "mixed"
