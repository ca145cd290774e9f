"""What a file is, by its first bytes: text in some encoding, an image, or something else by its name."""

from __future__ import annotations

import codecs
import struct
from typing import NamedTuple

from tui_agent.tools.lines import mark_of

HEAD = 8192
"""A NUL in this many first bytes makes a file binary, unless a byte order mark explains it."""
MAX_IMAGE = 5 * 1024 * 1024 * 3 // 4
"""Bytes of an image; the API counts 5 MiB after base64."""
MAX_SIDE = 8_000

_KINDS = (
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a zip archive (or a document packed as one)"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\0", "xz data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"\x7fELF", "a program or library (ELF)"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\xca\xfe\xba\xbe", "compiled code"),
    (b"\0asm", "WebAssembly"),
)


class Image(NamedTuple):
    media_type: str
    width: int
    height: int


def text_encoding(head: bytes, *, complete: bool) -> str | None:
    """The encoding to read by, None for binary. `head` is the start of the file, or all of it."""
    marked = mark_of(head)
    binary = b"\0" in head[:HEAD]
    if marked is None and binary:
        return None
    encoding = marked or "utf-8"
    try:
        codecs.getincrementaldecoder(encoding)().decode(head, final=complete)
    except UnicodeDecodeError:
        if encoding.startswith("utf-16"):
            return encoding  # broken somewhere, and still read as such
        return None if binary else "latin-1"
    return encoding


def kind_of(head: bytes) -> str:
    return next((kind for start, kind in _KINDS if head.startswith(start)), "binary data")


def image_of(data: bytes) -> Image | None:
    """The image that these bytes are, if they are one that models can see."""
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n"):
            return Image("image/png", *struct.unpack(">II", data[16:24]))
        if data.startswith((b"GIF87a", b"GIF89a")):
            return Image("image/gif", *struct.unpack("<HH", data[6:10]))
        if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
            return _webp(data)
        if data.startswith(b"\xff\xd8\xff"):
            return _jpeg(data)
    except (struct.error, IndexError):
        pass
    return None


def _webp(data: bytes) -> Image | None:
    if data[12:16] == b"VP8X":
        width, height = (int.from_bytes(data[at : at + 3], "little") + 1 for at in (24, 27))
    elif data[12:16] == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    elif data[12:16] == b"VP8 ":
        width, height = (side & 0x3FFF for side in struct.unpack("<HH", data[26:30]))
    else:
        return None
    return Image("image/webp", width, height)


def _jpeg(data: bytes) -> Image | None:
    at = 2
    while data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF or 0xD0 <= marker <= 0xD9 or marker == 0x01:  # padding, or a marker without a body
            at += 1 if marker == 0xFF else 2
            continue
        length, *frame = struct.unpack(">HBHH", data[at + 2 : at + 9])
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return Image("image/jpeg", frame[2], frame[1])
        at += 2 + length
    return None
