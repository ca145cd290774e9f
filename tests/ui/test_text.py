from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tui_agent.text import ago, graphemes, invisibles, one_line, plural, shorten, size_text, visible

ANY = st.text(alphabet=st.characters(exclude_categories=[]))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[38:2:1:2:3mx\x1b[m", "x"),
        ("\x1b[2J", "␛[2J"),
        ("\x1b]52;c;cHdu\x07", "␛]52;c;cHdu␇"),
        ("a\r\nb\rc", "a\nb␍c"),
        ("\x9b31m", "⸨9B⸩31m"),
        ("\x7f\x00", "␡␀"),
        ("a\u202eb\u2066c", "a⸨U+202E⸩b⸨U+2066⸩c"),
        ("\u200b\ufeff\u3164\U000e0041", "⸨U+200B⸩⸨U+FEFF⸩⸨U+3164⸩⸨U+E0041⸩"),
        ("x\u2028y\x0bz\x0c\x85", "x⸨U+2028⸩y␋z␌⸨85⸩"),
        ("caf\udce9", "caf⸨U+DCE9⸩"),
        ("👩‍👩‍👧 ❤️ é ①", "👩‍👩‍👧 ❤️ é ①"),
        ("[@click=app.quit]x[/]", "[@click=app.quit]x[/]"),
    ],
)
def test_normal(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ls\t-l\nrm x", "ls␉-l↵\nrm x"),
        ("\x1b[31mred", "␛[31mred"),
        ("a\r\n", "a␍↵\n"),
        ("a\u200db\ufe0f", "a⸨U+200D⸩b⸨U+FE0F⸩"),
        ("rm\u00a0-rf\u3000/", "rm⸨U+00A0⸩-rf⸨U+3000⸩/"),
    ],
)
def test_strict(text: str, shown: str) -> None:
    assert visible(text, strict=True) == shown


def test_no_character_of_unicode_stays_live_or_hidden() -> None:
    hidden = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    kept = set("\t\n\u200c\u200d")
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        category = unicodedata.category(character)
        if category in hidden and character not in kept:
            assert visible(character) != character, hex(code)
        if category in hidden or (category == "Zs" and character != " "):
            assert visible(character, strict=True) != character, hex(code)


@settings(deadline=None, max_examples=200)
@given(ANY)
def test_what_is_shown_holds_no_control(text: str) -> None:
    for strict in (False, True):
        shown = visible(text, strict=strict)
        assert not {unicodedata.category(c) for c in shown.replace("\n", "").replace("\t", "")} & {
            "Cc",
            "Cs",
            "Zl",
            "Zp",
        }
        shown.encode()
    assert "\n" not in one_line(text)


@settings(deadline=None, max_examples=200)
@given(ANY, ANY)
def test_a_cut_stream_is_never_live(head: str, tail: str) -> None:
    assert "\x1b" not in visible(head) + visible(tail)


def test_invisibles_are_counted() -> None:
    assert invisibles("git status\t\n") == 0
    assert invisibles("git\u200b sta\u202etus") == 2


@settings(deadline=None, max_examples=200)
@given(ANY, st.integers(0, 40), st.sampled_from(["head", "tail"]))
def test_shorten_fits_and_cuts_between_graphemes(text: str, width: int, keep: str) -> None:
    cut = shorten(text, width, keep)  # type: ignore[arg-type]
    assert cell_len(cut) <= width
    if cut != text and width:
        rest = cut[:-1] if keep == "head" else cut[1:]
        assert text.startswith(rest) if keep == "head" else text.endswith(rest)


def test_a_family_is_not_torn() -> None:
    family = "👩‍👩‍👧"
    assert shorten(f"ab{family}cdef", 4) == "ab…"
    assert shorten(f"ab{family}cdef", 5) == f"ab{family}…"
    assert "".join(piece for piece, _ in graphemes(f"ab{family}")) == f"ab{family}"


def test_one_line() -> None:
    assert one_line("a\nb\tc") == "a↵b␉c"
    assert one_line("abcdef", 4) == "abc…"
    assert one_line("/a/very/long/path", 6, keep="tail") == "…/path"


def test_plural() -> None:
    assert [plural(n, "line") for n in (0, 1, 1200)] == ["0 lines", "1 line", "1,200 lines"]
    many = [plural(2, noun) for noun in ("match", "process", "entry", "day", "place")]
    assert many == ["2 matches", "2 processes", "2 entries", "2 days", "2 places"]


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 KB"),
        (9_949, "9.9 KB"),
        (9_950, "10 KB"),
        (999_499, "999 KB"),
        (999_500, "1.0 MB"),
        (2_100_000, "2.1 MB"),
        (10**13, "10,000 GB"),
    ],
)
def test_sizes(size: int, shown: str) -> None:
    assert size_text(size) == shown


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "now"),
        (59, "now"),
        (61, "1 min"),
        (3700, "1 h"),
        (90_000, "1 day"),
        (400_000, "4 days"),
        (-5, "now"),
    ],
)
def test_ages(seconds: float, said: str) -> None:
    assert ago(seconds) == said
