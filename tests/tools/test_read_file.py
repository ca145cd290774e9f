"""`read_file`: pages, encodings, images, sizes."""

from __future__ import annotations

import base64
import os
import struct
import time
import tracemalloc
import zlib
from itertools import pairwise
from pathlib import Path

import pytest
from files_host import Host
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tui_agent.agent import Cancelled, CancelSignal, ImageContent, TextContent, ToolError
from tui_agent.tools.details import FileRead, digest
from tui_agent.tools.pager import Pager
from tui_agent.tools.sniff import image_of
from tui_agent.tools.workspace import MAX_BYTES


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"", "[the file is empty]"),
        (b"\xef\xbb\xbf", "[the file is empty]"),
        (b"\xff\xfe", "[the file is UTF-16-LE]\n[the file is empty]"),
        (b"\xff\xfea\0b", "1|a�\n[the file is UTF-16-LE]\n[no newline at the end of the file]"),
        (b"\xef\xbb\xbf\0\xff", "f is binary data, 5 B"),
        (b"\x00\x00\xfe\xff\xff\xff\xff\xff", "f is binary data, 8 B"),
        (b"one\n", "1|one"),
        (b"\n\n", "1|\n2|"),
        (b"\tif x:\n\t\ty()\n", "1|\tif x:\n2|\t\ty()"),
        (b"no end", "1|no end\n[no newline at the end of the file]"),
        (b"a\r\nb\r\n", "1|a\n2|b\n[lines end with CRLF]"),
        (b"a\nb\r\n", "1|a\n2|b\n[line ends are mixed, LF and CRLF]"),
        (b"a\rb\r", "1|a\n2|b\n[lines end with CR alone]"),
        (b"a\rb\n", "1|a␍b"),
        (b"\xef\xbb\xbfa\n", "1|a"),
        ("\ufeffé\n".encode("utf-16-le"), "1|é\n[the file is UTF-16-LE]"),
        ("\ufeffé\n".encode("utf-16-be"), "1|é\n[the file is UTF-16-BE]"),
        (b"caf\xe9\n", "1|café\n[not UTF-8: shown as latin-1, one character a byte]"),
        (b"a\x0cb\x85\xe2\x80\xa8\n", "1|a␌b⸨U+0085⸩â⸨U+0080⸩¨\n[not UTF-8"),
        ("a\u2028b\x0c\x1b[31m\u200b\U000e0041\n".encode(), "1|a⸨U+2028⸩b␌␛[31m⸨U+200B⸩⸨U+E0041⸩"),
        ("👩‍👧 می‌خواهم\n".encode(), "1|👩‍👧 می‌خواهم"),
        (b"x" * 9000 + b"\0late\n" + b"y\n", "1|xx"),
    ],
)
async def test_what_is_shown(host: Host, data: bytes, shown: str) -> None:
    host.put("f", data)
    text = await host.text("read_file", path="f")
    assert text == shown or (len(shown) < len(text) and text.startswith(shown) and shown[-1] in "x8B")


async def test_the_result_knows_what_was_read(host: Host) -> None:
    host.put("d/f", "a\nb\n")
    output = await host.call("read_file", path="d/../d/f")
    assert output.details == FileRead(path="d/f", hash=digest(b"a\nb\n"), lines=2, summary="2 lines")
    assert host.workspace.seen == {"d/f": digest(b"a\nb\n")}
    proposal = await host.prepare("read_file", path="./d/f")
    assert (proposal.kind, proposal.targets) == ("read", ("d/f",))


async def test_pages_go_on_where_they_ended(host: Host) -> None:
    lines = [f"line {number}" for number in range(1, 101)]
    host.put("f", "\n".join(lines) + "\n")
    assert await host.text("read_file", path="f", offset=99) == "99|line 99\n100|line 100"
    page = await host.text("read_file", path="f", offset=10, limit=2)
    assert page == "10|line 10\n11|line 11\n[lines 10-11 of 100; go on with offset=12]"
    with pytest.raises(ToolError, match="has 100 lines"):
        await host.call("read_file", path="f", offset=101)


async def test_a_page_is_capped_in_characters(host: Host) -> None:
    host.put("f", "😀" * 99 + "\n" + ("😀" * 99 + "\n") * 2000)
    text = await host.text("read_file", path="f")
    assert len(text) < 50_100
    *rows, note = text.split("\n")
    assert note == f"[lines 1-{len(rows)} of 2,001; go on with offset={len(rows) + 1}]"
    assert set(rows[-1].partition("|")[2]) == {"😀"}


async def test_a_long_line_is_cut_with_exact_counts(host: Host) -> None:
    host.put("min.js", "x" * 3_000_000)
    text = await host.text("read_file", path="min.js")
    assert text.startswith("1|" + "x" * 2000 + "…[+2,998,000 characters]\n")
    assert "search_files" in text
    host.put("edge", "y" * 2000 + "\r\n" + "z" * 2001 + "\r\n")
    text = await host.text("read_file", path="edge")
    assert text.split("\n")[:2] == ["1|" + "y" * 2000, "2|" + "z" * 2000 + "…[+1 characters]"]


@pytest.mark.parametrize("value", ["+10", " 10 ", 10.0, "10.0", 10])
async def test_whole_numbers_in_disguise(host: Host, value: object) -> None:
    host.put("f", "x\n" * 20)
    assert (await host.text("read_file", path="f", offset=value, limit=1)).startswith("10|x\n")


@pytest.mark.parametrize("field", ["offset", "limit"])
@pytest.mark.parametrize("value", [0, -1, True, False, 10**12, 1.5, "1.5", "ten", "", None, [1], "1e3", "٣"])
def test_odd_numbers_are_refused(host: Host, field: str, value: object) -> None:
    with pytest.raises(ValidationError):
        host.arguments("read_file", {"path": "f", field: value})


async def test_binaries_are_one_line_of_facts(host: Host) -> None:
    for name, data, words in (
        ("a.pdf", b"%PDF-1.7\n\0", "a PDF document, 10 B"),
        ("a.zip", b"PK\x03\x04\0\0", "a zip archive"),
        ("a.bin", b"abc\0def", "binary data, 7 B"),
        ("a.elf", b"\x7fELF\0\0", "ELF"),
    ):
        host.put(name, data)
        text = await host.text("read_file", path=name)
        assert words in text
        assert "\n" not in text
    assert host.workspace.seen == {}


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = (b"\0" + b"\x80" * width * 3) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


GIF = b"GIF89a\x03\x00\x02\x00\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x03\0\x02\0\0\x02\x03D\x02\x05\0;"
JPEG = (
    b"\xff\xd8\xff\xe0\0\x10JFIF"
    + bytes(9)
    + b"\xff\xff\xdb\0\x03\0\xff\xc2\0\x11\x08\0\x05\0\x07\x03\1\x22\0"
)
WEBP = {
    "VP8X": b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x06\0\0\x04\0\0",
    "VP8L": b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + (6 | 4 << 14).to_bytes(4, "little") + b"\0",
    "VP8 ": b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x07\0\x05\0",
}


@pytest.mark.parametrize(
    ("data", "facts"),
    [
        (png(4, 3), ("image/png", 4, 3)),
        (GIF, ("image/gif", 3, 2)),
        (JPEG, ("image/jpeg", 7, 5)),
        *((data, ("image/webp", 7, 5)) for data in WEBP.values()),
    ],
)
async def test_images_by_their_bytes(host: Host, data: bytes, facts: tuple[str, int, int]) -> None:
    assert image_of(data) == facts
    host.put("misnamed.txt", data)
    output = await host.call("read_file", path="misnamed.txt")
    text, image = output.content
    assert isinstance(text, TextContent)
    assert f"{facts[1]}×{facts[2]} pixels" in text.text
    assert isinstance(image, ImageContent)
    assert (image.media_type, base64.b64decode(image.data)) == (facts[0], data)


@pytest.mark.parametrize("data", [png(8001, 1), png(4, 4) + bytes(4_000_000)])
async def test_images_over_the_limits_are_said(host: Host, data: bytes) -> None:
    host.put("i.png", data)
    assert "over the limit" in await host.text("read_file", path="i.png")


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from([b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff", WEBP["VP8L"][:16]]),
    st.binary(max_size=40),
)
def test_broken_images_are_no_crash(start: bytes, rest: bytes) -> None:
    image = image_of(start + rest)
    assert image is None or image.width >= 0


async def test_a_huge_file_is_streamed(host: Host) -> None:
    path = host.put("huge", b"first\nsecond\r\n" + b"line\n" * 300_000)
    os.truncate(path, 3_000_000_000)
    tracemalloc.start()
    began = time.monotonic()
    text = await host.text("read_file", path="huge", limit=2)
    seconds = time.monotonic() - began
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert text.startswith("1|first\n2|second\n[lines 1-2; the file is 3.0 GB; go on with offset=3]")
    assert seconds < 1
    assert peak < 12_000_000
    assert "299990|line" in await host.text("read_file", path="huge", offset=299_990, limit=1)
    os.truncate(host.put("zeros"), 3_000_000_000)
    assert "binary data, 3.0 GB" in await host.text("read_file", path="zeros")


async def test_the_end_of_a_huge_file(host: Host) -> None:
    host.put("f", b"x" * 99 + b"\n" + (b"x" * 99 + b"\n") * (MAX_BYTES // 100) + b"last")
    total = MAX_BYTES // 100 + 2
    text = await host.text("read_file", path="f", offset=total)
    assert text == f"{total}|last\n[line {total}, the last ones; the file is 16 MB]"
    with pytest.raises(ToolError, match=f"has {total:,} lines"):
        await host.call("read_file", path="f", offset=total + 1)


async def test_a_cancelled_read_stops(host: Host) -> None:
    host.put("f", "x\n")
    host.signal = CancelSignal()
    host.signal.cancel()
    with pytest.raises(Cancelled):
        await host.call("read_file", path="f")


@settings(max_examples=200, deadline=None)
@given(
    text=st.text(st.sampled_from("ab\r\n😀"), max_size=60),
    cuts=st.lists(st.integers(0, 60), max_size=6),
    offset=st.integers(1, 8),
    limit=st.integers(1, 5),
)
def test_pages_do_not_depend_on_the_pieces(text: str, cuts: list[int], offset: int, limit: int) -> None:
    whole = Pager(offset, limit)
    whole.feed(text)
    whole.finish()
    pieces = Pager(offset, limit)
    places = sorted({0, len(text), *(cut for cut in cuts if cut <= len(text))})
    for start, end in pairwise(places):
        if not pieces.full:
            pieces.feed(text[start:end])
    pieces.finish()
    assert pieces.rows == whole.rows
    lines = text.split("\n")
    lines = lines if lines[-1] else lines[:-1]
    assert len(whole.rows) == len(lines[offset - 1 : offset - 1 + limit])


async def test_a_huge_file_with_a_mark_is_cut_between_pieces_only(host: Host) -> None:
    line = "é€😀" * 7 + "\n"
    host.put("f", "\ufeff".encode() + line.encode() * (MAX_BYTES // len(line.encode()) + 1))
    assert (await host.text("read_file", path="f", limit=1)).startswith(f"1|{line}")
