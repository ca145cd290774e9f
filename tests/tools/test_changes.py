"""The diff against git itself, the hunks by their properties."""

from __future__ import annotations

import re
import subprocess
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui_agent.tools.changes import MAX_DIFF, diff_text, file_change
from tui_agent.tools.hunks import Diff, Key
from tui_agent.tools.lines import encoding_of, split_lines
from tui_agent.tools.matching import edits

words = st.sampled_from(["", "a", "b", "\tx = 1", "}", "é", "a ", "\x0c", "\u2028", "x\x85y", "a\r"])
files = st.builds(
    lambda lines, end, encoding: ("\n".join(lines) + end).encode(encoding),
    st.lists(words, max_size=14),
    st.sampled_from(["", "\n"]),
    st.sampled_from(["utf-8", "utf-8", "utf-8", "utf-16", "utf-8-sig"]),
)
raw = st.binary(max_size=40)


@given(before=files | raw, after=files | raw)
@settings(max_examples=150, deadline=None)
def test_all_in_is_the_proposal_and_none_in_the_original(before: bytes, after: bytes) -> None:
    diff = Diff(before, after)
    assert diff.apply(()) == after
    assert diff.apply(diff.keys) == (before if diff.keys else after)
    assert b"".join(diff.old_lines) == (b"" if diff.binary else before)
    assert b"".join(diff.new_lines) == (b"" if diff.binary else after)


@given(before=files, after=files, data=st.data())
@settings(max_examples=150, deadline=None)
def test_what_is_taken_is_what_the_rows_say(before: bytes, after: bytes, data: st.DataObject) -> None:
    """Lines of the result = unchanged + removed lines left out + added lines taken, in the shown order."""
    diff = Diff(before, after)
    if not diff.divisible:
        return
    left_out = {key for key in sorted(diff.keys) if data.draw(st.booleans())}
    result = diff.apply(left_out)
    expected: list[bytes] = []
    at = 0
    for edit in (*diff.edits, None):
        stop = edit.start if edit else len(diff.old_lines)
        expected += diff.old_lines[at:stop]
        if edit:
            expected += [
                line
                for i, line in enumerate(diff.old_lines)
                if edit.start <= i < edit.stop and Key("-", i) in left_out
            ]
            expected += [
                line
                for j, line in enumerate(diff.new_lines)
                if edit.new_start <= j < edit.new_stop and Key("+", j) not in left_out
            ]
            at = edit.stop
    newline, cr = "\n".encode(diff.encoding), "\r".encode(diff.encoding)

    def bare(line: bytes) -> bytes:
        line = line.removesuffix(newline)
        while line.endswith(cr):  # `a\r` at the end of a file gets a newline when a line follows it
            line = line.removesuffix(cr)
        return line

    shown = split_lines(result or b"", diff.encoding)
    assert [bare(line) for line in shown] == [bare(line) for line in expected]


@given(a=st.lists(st.integers(0, 5), max_size=40), b=st.lists(st.integers(0, 5), max_size=40))
@settings(max_examples=200, deadline=None)
def test_an_edit_script_gives_the_other_sequence(a: list[int], b: list[int]) -> None:
    rebuilt: list[int] = []
    at = 0
    script = edits(a, b)
    for edit in script:
        rebuilt += a[at : edit.start] + b[edit.new_start : edit.new_stop]
        at = edit.stop
    assert rebuilt + a[at:] == b
    assert all(one.stop < two.start and one.new_stop < two.new_start for one, two in pairwise(script))


def git_diff(folder: Path, before: bytes, after: bytes) -> str:
    (folder / "old").write_bytes(before)
    (folder / "new").write_bytes(after)
    run = subprocess.run(
        ["git", "diff", "--no-index", "--no-color", "--text", "--no-indent-heuristic", "old", "new"],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    return run.stdout.decode("utf-8", "backslashreplace")


def headers(diff: str) -> list[str]:
    return re.findall(r"^@@ [-+, 0-9]+ @@", diff, re.M)


ODD = "one\ntwo\x0cstill two\nthree\u2028still three\nfour\x85\x0bstill four\r\nfive\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (ODD.encode(), ODD.replace("five", "5").encode()),
        (b"x\n", b"x"),
        (b"x", b"x\n"),
        (b"", b"a\nb\n"),
        (b"a\nb\n", b""),
        (b"a\r\nb\r\n", b"a\r\nc\r\n"),
        (b"a\nb\n", b"a\r\nb\r\n"),
        (
            "\n".join(map(str, range(60))).encode(),
            "\n".join(map(str, [*range(9), 0, *range(10, 59)])).encode(),
        ),
    ],
)
def test_numbers_and_marks_are_gits(tmp_path: Path, before: bytes, after: bytes) -> None:
    ours = diff_text("new", Diff(before, after))
    theirs = git_diff(tmp_path, before, after)
    body = theirs[theirs.index("\n@@") + 1 :]
    strip = re.compile(r"(?m)^(@@ [^@]+ @@).*")  # git adds the function's name
    assert strip.sub(r"\1", ours[ours.index("@@") :]) == strip.sub(r"\1", body)


def test_a_crlf_file_changes_in_one_line() -> None:
    before = b"".join(b"line %d\r\n" % n for n in range(50))
    change = file_change("a.txt", before, before.replace(b"line 9\r\n", b"nine\r\n"))
    assert (change.added, change.removed) == (1, 1)
    assert "CRLF" in change.facts


@pytest.mark.parametrize(
    ("before", "after", "fact"),
    [
        (None, b"a\n", "new"),
        (None, b"", "new"),
        (b"a\n", None, "deleted"),
        (b"a\n", b"", "emptied"),
        (b"a\n", b"b\n", "modified"),
        (b"\x00\x01", b"\x00\x02", "binary"),
        (b"a\n", b"a\x00\n", "binary"),
        (b"a\nb\n", b"a\r\nb\r\n", "line ends LF → CRLF"),
        (b"a\r\nb\n", b"a\r\nc\n", "mixed line ends"),
        (b"a\n", b"b", "no newline at end"),
        (b"a", b"b\n", "newline at end added"),
        (b"caf\xe9\n", b"caf\xe9s\n", "latin-1"),
        ("é\n".encode("latin-1"), "é\n".encode(), "encoding latin-1 → UTF-8"),
        ("\ufeffa\n".encode(), b"a\n", "encoding UTF-8 with a mark → UTF-8"),
        ("a\n".encode("utf-16"), "b\n".encode("utf-16"), "UTF-16"),
        (b"x" * 1500, b"x" * 1501, "1.5 KB → 1.5 KB"),
        (None, b"x", "1 B"),
    ],
)
def test_the_header_names_what_the_bytes_tell(before: bytes | None, after: bytes | None, fact: str) -> None:
    assert fact in file_change("f", before, after).facts


def test_given_facts_follow() -> None:
    assert file_change("f", b"a", b"b", facts=("written in place",)).facts[-1] == "written in place"


def test_utf16_is_compared_by_its_lines() -> None:
    before = "one\nਊtwo\nthree\n".encode("utf-16")  # U+0A0A: a line feed's byte twice, and no line end
    diff = Diff(before, "one\nਊtwo!\nthree\n".encode("utf-16"))
    assert (diff.removed, diff.added) == (1, 1)
    assert "-ਊtwo\n+ਊtwo!\n" in diff_text("f", diff)


def test_lines_never_run_together() -> None:
    diff = Diff(b"a\r\nb", b"a\r\nc\r\n")
    assert diff.apply({Key("-", 1)}) == b"a\r\nb\r\nc\r\n"


def test_two_long_changes_that_differ_late_do_not_look_the_same() -> None:
    lines = b"".join(b"%d\n" % n for n in range(60_000))
    one, two = (file_change("f", b"", lines + end) for end in (b"safe\n", b"evil\n"))
    assert len(one.diff) < MAX_DIFF + 200
    assert "more lines not kept" in one.diff
    assert one.fingerprint != two.fingerprint


def test_binary_changes_do_not_look_the_same() -> None:
    assert file_change("f", b"\0", b"\0a").fingerprint != file_change("f", b"\0", b"\0b").fingerprint


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([b"x\n"] * 20_000, [b"x\n"] * 10_000 + [b"y\n"] + [b"x\n"] * 10_000),
        ([b"%d\n" % (n % 5) for n in range(20_000)], [b"%d\n" % (n % 5) for n in range(20_000) if n % 4000]),
        ([b"%d\n" % (n % 7) for n in range(20_000)], [b"%d\n" % (n * n % 7) for n in range(20_000)]),
        ([b"%d\n" % n for n in range(20_000)], [b"%d\n" % n for n in reversed(range(20_000))]),
        ([b"%d\n" % n for n in range(20_000)], [b"x%d\n" % n for n in range(20_000)]),
        ([b"a%d\n\n}\n" % n for n in range(9_000)], [b"b%d\n\n}\n" % n for n in range(9_000)]),
    ],
    ids=["one value", "five values", "other order", "reversed", "all new", "braces in common"],
)
def test_repetitive_files_take_bounded_time(before: list[bytes], after: list[bytes]) -> None:
    started = time.process_time()
    diff = Diff(b"".join(before), b"".join(after))
    assert diff.edits
    assert time.process_time() - started < 1.5
    assert diff.apply(()) == b"".join(after)


def test_a_few_edits_in_a_repetitive_file_stay_few() -> None:
    before = [b"%d\n" % (n % 5) for n in range(5_000)]
    after = [line for n, line in enumerate(before) if n not in (700, 2500, 4300)]
    diff = Diff(b"".join(before), b"".join(after))
    assert (diff.removed, diff.added) == (3, 0)


def test_encodings_are_told_by_the_bytes() -> None:
    assert encoding_of(b"abc") == "utf-8"
    assert encoding_of(b"\xff\xfea") == "latin-1"  # looks like UTF-16 and has half a character
    assert encoding_of(b"a\0b") == "binary"
