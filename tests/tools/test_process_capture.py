"""Output of any size and any bytes: what is kept, what is counted, what is spilled."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui_agent.tools import capture as capture_module
from tui_agent.tools.capture import HEAD, TAIL, Capture, Spill
from tui_agent.tools.plain import plain

LEFT_OUT = re.compile(r"\[… ([\d,]+) bytes left out here; (.*) …\]")


def fed(*pieces: bytes, folder: Path | None = None, **sizes: int) -> Capture:
    capture = Capture(folder, **sizes)
    for piece in pieces:
        capture.feed(piece)
    capture.close()
    return capture


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a\rb\rc\n\x1b[31mred\x1b[0m\x1b]0;t\x07\n", "c\nred\n"),
        (b"one\r\ntwo\r\n", "one\ntwo\n"),
        (b"10%\r50%\r100%\r", "100%"),
        (b"10%\r\r\n", "10%\n"),
        (b"\x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"\x1b]0;never ended\nnext line", "\nnext line"),
        (b"\x1bP1;2q#0!\x1b\\after", "after"),
        (b"\x1b_apc\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\x", "x"),
        (b"\x1b(B\x1b=\x1b7ok\x1bM", "ok"),
        (b"\x1b[?25l\x1b[38;2;1;2;3mx\x1b[2K\x1b[1 q", "x"),
        (b"cut\x1b[38;5", "cut"),
        (b"cut\x1b", "cut"),
        ("c1 \x9b31mred\x9d0;t\x9c\x85.".encode(), "c1 red."),
        (b"|\b/\b-\b\\\b done", " done"),
        (b"N\bNA\bAM\bME\bE", "NAME"),
        (b"a\n\b\bb", "a\nb"),
        (b"nul \x00 bell \x07", "nul ␀ bell ␇"),
        (b"a\0b\xed\xa0\x80\xff", "a␀b\ufffd\ufffd\ufffd\ufffd"),
        ("tab\t😀 é e\u0301 \u202e".encode(), "tab\t😀 é e\u0301 ⸨U+202E⸩"),
    ],
)
def test_what_drew_the_text_is_gone(data: bytes, text: str) -> None:
    assert plain(data) == text


@given(st.lists(st.binary(max_size=300), max_size=8))
@settings(max_examples=150, deadline=None)
def test_any_bytes_give_text_that_can_be_sent(pieces: list[bytes]) -> None:
    text = fed(*pieces, head=40, tail=60).take()
    json.dumps(text).encode()
    text.encode()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)


@given(st.text(st.sampled_from("ab\r\n"), max_size=60), st.integers(1, 7))
@settings(max_examples=300, deadline=None)
def test_pieces_do_not_matter(text: str, size: int) -> None:
    data = text.encode()
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    assert fed(*pieces).take() == fed(data).take() == plain(data)


@pytest.mark.parametrize("character", ["x", "é", "€", "😀"])
@pytest.mark.parametrize("more", [-1, 0, 1, 2, 3, 4, 5, 50_000])
def test_cut_on_characters_with_exact_counts(character: str, more: int) -> None:
    unit = character.encode()
    total = HEAD + TAIL + more
    data = (unit * total)[: total // len(unit) * len(unit)]
    text = fed(data).take()
    assert "\ufffd" not in text
    found = LEFT_OUT.search(text)
    if len(data) <= HEAD + TAIL:
        assert found is None
        assert text == data.decode()
    else:
        assert found is not None
        kept = text.count(character) * len(unit) if character != "x" else text.count("x")
        assert int(found[1].replace(",", "")) + kept == len(data)


def test_drawing_what_is_hidden_does_not_break_the_cap(tmp_path: Path) -> None:
    text = fed("\u202e\n".encode() * 12_000, folder=tmp_path).take()
    assert len(text) < 51_500
    assert "characters (" in text


def test_lines_are_kept_whole() -> None:
    lines = [f"line {number}" for number in range(20_000)]
    text = fed("\n".join(lines).encode() + b"\n").take()
    kept = [line for line in text.split("\n") if line and not line.startswith("[")]
    assert set(kept) <= set(lines)
    assert (kept[0], kept[-1]) == ("line 0", "line 19999")


def test_five_thousand_frames_are_one_line(tmp_path: Path) -> None:
    frames = [b"\r%3d%% [%s]" % (n // 50, b"#" * 80) for n in range(5_000)]
    capture = fed(b"start\n", *frames, b"\nend\n", folder=tmp_path)
    text = capture.take()
    assert text == "start\n 99% [" + "#" * 80 + "]\nend\n"
    assert capture.path is None


def test_spill_holds_all_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    folder = tmp_path / "session" / "spill"
    data = b"".join(b"%d\n" % number for number in range(40_000))
    mask = os.umask(0)
    try:
        capture = fed(*(data[at : at + 1000] for at in range(0, len(data), 1000)), folder=folder)
    finally:
        os.umask(mask)
    text = capture.take()
    assert capture.path is not None
    assert capture.path.read_bytes() == data
    assert stat.S_IMODE(capture.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert f"all {len(data):,} bytes are in {capture.path}" in text


def test_no_file_for_what_memory_holds(tmp_path: Path) -> None:
    folder = tmp_path / "spill"
    assert fed(b"x" * (HEAD + TAIL), folder=folder).take() == "x" * (HEAD + TAIL)
    assert not folder.exists()


def test_spill_is_capped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture_module, "SPILL_CAP", 100_000)
    capture = fed(*[b"y\n" * 10_000] * 20, folder=tmp_path)
    text = capture.take()
    assert capture.path is not None
    assert capture.path.stat().st_size == 100_000
    assert f"the first 100,000 bytes are in {capture.path}, the rest was dropped" in text


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_full_disk_only_ends_the_spill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Spill, folder: Path) -> None:
        self.path, self.size, self.full, self.fault = folder / "output", 0, False, ""
        self._fd = os.open("/dev/full", os.O_WRONLY)

    monkeypatch.setattr(Spill, "__init__", full)
    capture = fed(*[b"y\n" * 10_000] * 20, b"last line\n", folder=tmp_path)
    text = capture.take()
    assert "they could not be kept: No space left on device" in text
    assert text.endswith("last line\n")
    assert capture.path is None


def test_folder_that_can_not_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    text = fed(b"z" * 100_000, folder=tmp_path / "file" / "spill").take()
    assert "they could not be kept: " in text


def test_take_goes_on_where_the_last_one_ended() -> None:
    capture = Capture()
    capture.feed(b"one\ntw")
    assert capture.take() == "one\ntw"
    capture.feed(b"o\nthree\n")
    assert capture.take() == "o\nthree\n"
    assert capture.take() == ""


def test_latest_is_the_end_with_the_unfinished_line() -> None:
    capture = Capture()
    capture.feed(b"first\n10%\r20%")
    assert capture.latest() == "first\n20%"
    capture.feed(b"\n" + b"".join(b"line %d\n" % n for n in range(100_000)) + b"now")
    latest = capture.latest()
    assert latest.startswith("line ")
    assert latest.endswith("line 99999\nnow")
    assert len(latest) <= capture_module.LIVE


def test_escape_bytes_never_reach_the_live_view() -> None:
    capture = Capture()
    capture.feed(b"\x1b[2Jx\x9b31m\x1b]52;c;aGk=\x07y")
    assert capture.latest() == "x\ufffd31my"
