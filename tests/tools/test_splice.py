"""Edits as splices of bytes: everything outside the place stays, whatever the encoding and the line ends."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tui_agent.agent import ToolError
from tui_agent.tools.splice import splice

ENCODINGS = {
    "utf-8": b"",
    "utf-8-sig": b"\xef\xbb\xbf",
    "utf-16-le": b"\xff\xfe",
    "utf-16-be": b"\xfe\xff",
    "latin-1": b"",
}


def edit(data: bytes, old: str, new: str, *, replace_all: bool = False) -> bytes:
    return splice("f", data, old, new, replace_all=replace_all).data


def refusal(data: bytes, old: str, new: str, *, replace_all: bool = False) -> str:
    with pytest.raises(ToolError) as caught:
        splice("f", data, old, new, replace_all=replace_all)
    return str(caught.value)


@pytest.mark.parametrize(
    ("data", "old", "new", "after"),
    [
        (b"x=1\n# caf\xe9\n", "x=1", "x=2", b"x=2\n# caf\xe9\n"),
        (b"caf\xe9 \xff\n", "é", "è", b"caf\xe8 \xff\n"),
        (b"a\r\nb\r\nc\r\n", "a\nb", "a\nX\nb", b"a\r\nX\r\nb\r\nc\r\n"),
        (b"a\r\nb\r\nc\r\n", "a\r\nb", "a\nX\nb", b"a\r\nX\r\nb\r\nc\r\n"),
        (b"a\r\nb\r\nc\r\n", "a\r\nb", "a\r\nX\r\nb", b"a\r\nX\r\nb\r\nc\r\n"),
        (b"a\r\nb\r\nc\r\n", "b", "b\nX", b"a\r\nb\r\nX\r\nc\r\n"),
        (b"a\r\nb", "\nb", "\nc", b"a\r\nc"),
        (b"x\r\n\r\ny", "\n\n", "\n", b"x\r\ny"),
        (b"a\nb\n", "a\r\nb", "a\r\nX\r\nb", b"a\nX\nb\n"),
        (b"a\nb\n", "a", "a\r\n!", b"a\r\n!\nb\n"),
        (b"a\rb\rc\r", "a\nb", "a\nX\nb", b"a\rX\rb\rc\r"),
        (b"a\nb\r\nc\nd", "a\nb\nc\n", "a\nb\nNEW\nc\n", b"a\nb\r\nNEW\nc\nd"),
        (b"a\r\nb\nc", "b", "b\nX", b"a\r\nb\nX\nc"),
        (b"\xef\xbb\xbfimport a\n", "import a", "import b", b"\xef\xbb\xbfimport b\n"),
        (b"\xef\xbb\xbfimport a\n", "\ufeffimport a", "\ufeffimport b", b"\xef\xbb\xbfimport b\n"),
        (b"\xef\xbb\xbfimport a\n", "import", "\ufeffimport b", b"\xef\xbb\xbfimport b a\n"),
        ("a—b\nq\na-b\n".encode(), "a-b", "c", "a—b\nq\nc\n".encode()),
        (b"foo\n", "foo", "\\1 \\g<0> $& \\n C:\\users\\u00e9x", b"\\1 \\g<0> $& \\n C:\\users\\u00e9x\n"),
        (b"select(.x != .y)", ".x != .y", "!!", b"select(!!)"),
        (b"a.b a*b", "a*b", "z", b"a.b z"),
        ("\ufeffĀ\u0a0a\n".encode("utf-16-le"), "\n", "\nX", "\ufeffĀ\u0a0a\nX".encode("utf-16-le")),
        ("\ufeffa\r\nb".encode("utf-16-be"), "a\nb", "a\nc", "\ufeffa\r\nc".encode("utf-16-be")),
        (b"no end", "end", "end\n", b"no end\n"),
        (b"one\x0ctwo\xe2\x80\xa8three\n", "two", "2", b"one\x0c2\xe2\x80\xa8three\n"),
        (b"\tif x:\n", "\tif x", "\tif y", b"\tif y:\n"),
        (b"delete me\n", "delete me\n", "", b""),
    ],
)
def test_the_splice(data: bytes, old: str, new: str, after: bytes) -> None:
    assert edit(data, old, new) == after


@pytest.mark.parametrize(
    ("data", "old", "new", "words"),
    [
        (b"abc", "", "X", "empty"),
        (b"", "", "X", "write_file"),
        (b"", "x", "y", "write_file"),
        (b"\xef\xbb\xbf", "x", "y", "write_file"),
        (b"foo\n", "foo", "foo", "the same"),
        (b"a\r\nb", "a\nb", "a\r\nb", "Nothing would change"),
        (b"x = 0\nfoo\nx = 0\n", "x = 0", "x = 1", "2 places in f (lines 1, 3)"),
        (b"aaa", "aa", "b", "2 places"),
        (b"a\nb\na\r\nb", "a\nb", "c", "2 places in f (lines 1, 3)"),
        (b"a\0b", "a", "c", "not text"),
        (b"caf\xe9", "caf", "\u2192", "latin-1, which can't hold"),
        (b"caf\xe9", "\u2192", "x", "not in f"),
        (b"abc\n", "nothing like it at all", "x", "Nothing similar"),
        (b"\tif x:\n\t\ty()\n", "    if x:\n        y()", "z", "the file has tabs here, `old` has spaces"),
        (b"    x\n", "\tx", "z", "the file has spaces here, `old` has tabs"),
        ("say ‘hi’\n".encode(), "say 'hi'", "x", "U+2018 LEFT SINGLE QUOTATION MARK"),
        (b"foo bar \nbaz\n", "foo bar\nbaz", "q", "blanks at the end of the line differ"),
        ("cafe\u0301\n".encode(), "caf\u00e9", "q", "composed differently"),
        (b"Foo()\n", "foo()", "q", "upper and lower case"),
        ("a\u200bb c\n".encode(), "ab c", "q", "U+200B"),
        (
            b"def total(items):\n    return sum(items)\n",
            "def total(items)\n",
            "q",
            "line 1: def total(items):",
        ),
        (b"one\ntwo", "two\n", "q", "no newline at its end"),
        (b"one\ntwo\nthree\n", "two\nthree\nfour", "q", "end of the file"),
    ],
)
def test_refused_with_the_next_step(data: bytes, old: str, new: str, words: str) -> None:
    assert words in refusal(data, old, new)


def test_replace_all_goes_from_left_to_right_and_counts() -> None:
    result = splice("f", b"x = 0\r\nfoo\nx = 0\n", "x = 0", "x = 1\ny", replace_all=True)
    assert (result.data, result.places, result.line) == (b"x = 1\r\ny\r\nfoo\nx = 1\ny\n", 2, 1)
    assert edit(b"aaa", "aa", "b", replace_all=True) == b"ba"
    assert "empty" in refusal(b"abc", "", "X", replace_all=True)
    assert "not in f" in refusal(b"abc", "x", "X", replace_all=True)


def test_a_file_of_five_megabytes_with_many_places() -> None:
    data = b"a;b\n" * 1_250_000
    assert "at least 1,000 places" in refusal(data, "a;b", "x")
    assert edit(data + b"unique", "unique", "new") == data + b"new"


LINES = st.text(st.characters(codec="latin-1", exclude_categories=["Cc", "Cs"]), max_size=8)


@settings(max_examples=300, deadline=None)
@given(
    encoding=st.sampled_from(sorted(ENCODINGS)),
    lines=st.lists(st.tuples(LINES, st.sampled_from(["\n", "\r\n", "\r"])), min_size=1, max_size=8),
    style=st.sampled_from(["\n", "\r\n", "\r", None]),
    last=LINES,
    span=st.tuples(st.integers(0, 60), st.integers(1, 20)),
    new=st.lists(LINES, min_size=1, max_size=3),
)
def test_bytes_outside_the_place_are_identical(
    encoding: str,
    lines: list[tuple[str, str]],
    style: str | None,
    last: str,
    span: tuple[int, int],
    new: list[str],
) -> None:
    """Random files in five encodings and four styles; `old` is a piece of them as a reader sees it."""
    if style == "\r" or style is None:  # a lone CR ends no line once there is an LF
        lines = [(line, style or end) for line, end in lines]
    else:
        lines = [(line, style) for line, _ in lines]
    mark, codec = ENCODINGS[encoding], encoding.removesuffix("-sig")
    text = "".join(line + end for line, end in lines) + last
    if encoding == "latin-1":
        text += "\xe9"
        assume(not _is_utf8(text.encode("latin-1")))
    data = mark + text.encode(codec)
    start = min(span[0], len(text) - 1)
    piece = text[start : start + span[1]]
    assume("\n" not in text or "\r" not in piece.replace("\r\n", ""))  # not in the middle of a CRLF
    assume(not piece.startswith("\n") or text[start - 1 : start] != "\r")
    seen = piece.replace("\r\n", "\n") if "\n" in text else piece.replace("\r", "\n")
    replacement = "\n".join(new)
    assume(seen and replacement != seen)
    try:
        result = splice("f", data, seen, replacement, replace_all=False)
    except ToolError as refused:
        why = str(refused)
    else:
        why = ""
    if why:
        assert "places" in why or "Nothing would change" in why
        return
    before, after = mark + text[:start].encode(codec), text[start + len(piece) :].encode(codec)
    assert result.data.startswith(before)
    assert result.data.endswith(after)
    middle = result.data[len(before) : len(result.data) - len(after)].decode(codec)
    assert middle.replace("\r\n", "\n").replace("\r", "\n") == replacement
    if style and len(lines) > 1:
        assert middle == replacement.replace("\n", style)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
