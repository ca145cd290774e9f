"""What tools say: cut with exact counts, and clean enough for any API."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui_agent.text import plural
from tui_agent.tools.clean import name_to_model, to_model
from tui_agent.tools.truncate import clip, clip_line


@pytest.mark.parametrize("length", [0, 1, 99, 100, 101, 150, 100_000])
@pytest.mark.parametrize("head", [0.0, 0.25, 0.5, 1.0])
def test_head_and_tail_are_kept_and_counts_are_exact(length: int, head: float) -> None:
    text = "".join(chr(0x1F600 + number % 60) for number in range(length))
    clipped = clip(text, 100, head=head)
    if length <= 100:
        assert clipped == text
        return
    front, back = round(100 * head), 100 - round(100 * head)
    assert clipped.startswith(
        text[:front] + f"\n[{plural(length - 100, 'character')} (0 lines) left out here]"
    )
    assert not back or clipped.endswith("]\n" + text[-back:])
    kept = clipped.replace(clipped[clipped.index("\n[") : clipped.index("here]") + 5], "").replace("\n", "")
    assert kept == text[:front] + (text[-back:] if back else "")


def test_the_last_line_of_a_trace_survives() -> None:
    trace = "\n".join(f"frame {number}" for number in range(30)) + "\nValueError: the point"
    assert clip(trace, 60).endswith("ValueError: the point")
    assert "lines) left out here; read the spill]" in clip(trace, 60, hint="read the spill")


def test_a_line_is_cut_with_a_mark() -> None:
    assert clip_line("short", 10) == "short"
    assert clip_line("hit" + "y" * 100, 9) == "hityyyyyy…[+94 characters]"


@pytest.mark.parametrize(
    ("raw", "drawn"),
    [
        ("a\0b\x1b[0m\x7f", "a␀b␛[0m␡"),
        ("a\r\nb\rc\td\n", "a\nb␍c\td\n"),
        ("\udcff\ud83d", "\\udcff\\ud83d"),
        ("\x9b31m\x85", "⸨U+009B⸩31m⸨U+0085⸩"),
        (
            "x\u200b\u202e\ufeff\u2028\U000e0041\U000e0101",
            "x⸨U+200B⸩⸨U+202E⸩⸨U+FEFF⸩⸨U+2028⸩⸨U+E0041⸩⸨U+E0101⸩",
        ),
        ("👩‍👧 ❤️ می‌خواهم é", "👩‍👧 ❤️ می‌خواهم é"),
    ],
)
def test_what_hides_is_drawn(raw: str, drawn: str) -> None:
    assert to_model(raw) == drawn


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(), max_size=50), st.lists(st.integers(0xD800, 0xDFFF), max_size=3))
def test_everything_can_be_sent_and_cleaning_twice_changes_nothing(text: str, lone: list[int]) -> None:
    cleaned = to_model(text + "".join(map(chr, lone)))
    json.dumps(cleaned, ensure_ascii=False).encode("utf-8")
    assert "\0" not in cleaned
    assert to_model(cleaned) == cleaned
    assert "\n" not in name_to_model(text)
