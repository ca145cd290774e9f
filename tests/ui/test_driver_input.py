from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual import events
from textual.message import Message

from tui_agent.ui import terminal_input
from tui_agent.ui.terminal_input import ESCAPE_DELAY, TerminalInput

Step = str | float
"""Text that is read, or seconds that pass."""


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def play(*steps: Step) -> list[Message]:
    clock = Clock()
    source = TerminalInput(clock)
    return list(_events(source, clock, [*steps, 5.0]))


def _events(source: TerminalInput, clock: Clock, steps: list[Step]) -> Iterator[Message]:
    for step in steps:
        if isinstance(step, str):
            yield from source.feed(step)
            continue
        end = clock.now + step
        while source.deadline is not None and source.deadline <= end:
            clock.now = source.deadline
            yield from source.tick()
        clock.now = end


def told(*steps: Step) -> list[str]:
    """Keys by name, typed characters as 'a', pastes as "P:text", other events by class."""
    out = []
    for event in play(*steps):
        if isinstance(event, events.Key):
            plain = event.character is not None and event.character.isprintable()
            out.append(f"'{event.character}'" if plain else event.key)
        elif isinstance(event, events.Paste):
            out.append(f"P:{event.text}")
        else:
            out.append(type(event).__name__)
    return out


CASES: list[tuple[str, tuple[Step, ...], list[str]]] = [
    # new lines
    ("CR", ("a\r",), ["'a'", "enter"]),
    ("ESC CR", ("a", "\x1b\r", "b", "\r"), ["'a'", "alt+enter", "'b'", "enter"]),
    ("ESC LF", ("\x1b\n",), ["alt+enter"]),
    ("LF", ("\n",), ["ctrl+j"]),
    ("kitty shift enter", ("\x1b[13;2u",), ["shift+enter"]),
    ("kitty alt enter", ("\x1b[13;3u",), ["alt+enter"]),
    ("kitty enter", ("\x1b[13u",), ["enter"]),
    ("modifyOtherKeys", ("\x1b[27;2;13~", "\x1b[27;5;13~"), ["shift+enter", "ctrl+enter"]),
    ("modifyOtherKeys letter", ("\x1b[27;5;99~",), ["ctrl+c"]),
    # kitty reports
    ("event type", ("\x1b[97;1:1u",), ["'a'"]),
    ("release", ("\x1b[97;1:3u", "\x1b[13;1:3u", "\x1b[1;1:3A"), []),
    ("repeat", ("\x1b[97;1:2u",), ["'a'"]),
    ("shifted sub-field", ("\x1b[228:196;2;196u",), ["'Ä'"]),
    ("shifted without text", ("\x1b[228:196;2u", "\x1b[97;2u"), ["'Ä'", "'A'"]),
    ("out of range", ("\x1b[1114112u", "\x1b[99999999999u", "\x1b[97;1;1114112u", "\x1b[55296u"), ["'a'"]),
    ("empty", ("\x1b[u", "\x1b[;u", "\x1b[:;:u", "\x1b[;;97u"), []),
    ("caps lock", ("\x1b[57358;65;65u", "\x1b[57441;2u"), []),
    ("letter with caps lock", ("\x1b[97;65;65u",), ["'A'"]),
    ("space", ("\x1b[32;2;32u", "\x1b[32;2u", "\x1b[32u"), ["' '", "' '", "' '"]),
    (
        "ctrl on other layouts",
        ("\x1b[1089;5u", "\x1b[1079;5u", "\x1b[968;5u"),
        ["ctrl+c", "ctrl+p", "ctrl+c"],
    ),
    ("base layout", ("\x1b[1089::99;5u", "\x1b[1234::113;5u"), ["ctrl+c", "ctrl+q"]),
    ("shift letter on a layout", ("\x1b[1057;5u",), ["ctrl+c"]),
    ("typed Cyrillic", ("с", "\x1b[1089;1;1089u"), ["'с'", "'с'"]),
    ("escape", ("\x1b[27u", "\x1b[27;1:3u"), ["escape"]),
    (
        "functional",
        ("\x1b[57399;;48u", "\x1b[3;5~", "\x1b[1;5A", "\x1b[57350;5u"),
        ["'0'", "ctrl+delete", "ctrl+up"],
    ),
    # escape and split sequences
    ("lone", ("\x1b",), ["escape"]),
    ("twice", ("\x1b\x1b",), ["escape", "escape"]),
    ("split by 25 ms", ("\x1b", 0.025, "[A"), ["up"]),
    ("split thrice", ("\x1b", 0.02, "[", 0.02, "1", 0.15, ";5A"), ["ctrl+up"]),
    ("split too late", ("\x1b", 0.04, "[A"), ["escape"]),
    ("split much too late", ("\x1b", 0.3, "[A"), ["escape", "'['", "'A'"]),
    ("escape, then a key", ("\x1b", 0.05, "x"), ["escape", "'x'"]),
    ("alt", ("\x1bx", "\x1bb"), ["alt+x", "ctrl+left"]),
    ("alt bracket", ("\x1b[", 0.5, "x"), ["alt+left_square_bracket", "'x'"]),
    ("escape before arrow", ("\x1b\x1b[A",), ["escape", "up"]),
    ("cursor keys of applications", ("\x1bOA", "\x1bO", 0.1, "B"), ["up", "down"]),
    ("linux console", ("\x1b[[A",), ["f1"]),
    # noise
    ("split mouse", ("\x1b[<35;1", 0.25, "50;7M"), ["MouseMove"]),
    ("mouse lost its end", ("\x1b[<35;1", 2.0, "x"), ["'x'"]),
    ("mouse broken by a key", ("\x1b[<35;1", "\x1b[A"), ["up"]),
    ("old mouse", ("\x1b[M !!", "\x1b[35;150;7M"), []),
    ("device attributes", ("\x1b[?62;22c", "\x1b[>1;10;0c", "\x1b[0n", "\x1b[?1u"), []),
    ("colour reply", ("\x1b]11;rgb:0000/0000/0000\x1b\\", "\x1b]10;rgb:ff/ff/ff\x07"), ["BackgroundTold"]),
    (
        "split colour reply",
        ("\x1b]11;rgb:00", 0.4, "00/0000/0000\x1b", 0.1, "\\x"),
        ["BackgroundTold", "'x'"],
    ),
    ("device control", ("\x1bP>|xterm(388)\x1b\\", "\x1b_Gi=1;OK\x1b\\"), []),
    ("unknown", ("\x1b[5;6;7z", "\x1b[?997;1n", "\x1b[200;1;2;3;4x"), []),
    ("focus", ("\x1b[I", "\x1b[O"), ["AppFocus", "AppBlur"]),
    ("replacement", ("caf\ufffd",), ["'c'", "'a'", "'f'", "'\ufffd'"]),
    ("C1", ("a\x9b31mb",), ["'a'", "'3'", "'1'", "'m'", "'b'"]),
    ("mode", ("\x1b[?2026;2$y", "\x1b[?2048;0$y"), ["TerminalSupportsSynchronizedOutput"]),
    ("resize", ("\x1b[48;40;120;800;1200t",), ["Resize"]),
    # pastes
    ("paste", ("\x1b[200~a\r\nb\rc\x1b[201~",), ["P:a\nb\nc"]),
    ("escape in a paste", ("\x1b[200~x\x1b\ry\x1b[201~",), ["P:x\ny"]),
    ("escape in a paste, split", ("\x1b[200~x\x1b", 0.5, "\ry\x1b[2", 0.1, "01~z"), ["P:x\ny", "'z'"]),
    ("keys in a paste", ("\x1b[200~\x1b[A\x1b[27u\x1b[201~",), ["P:[A[27u"]),
    ("reports in a paste", ("\x1b[200~aaa\x1b[<35;3;4Mb\x1b[Ibb\x1b[201~",), ["P:aaabbb"]),
    ("paste and enter", ("\x1b[200~" + "x" * 200_000 + "\x1b[201~\r",), ["P:" + "x" * 200_000, "enter"]),
    ("lost end", ("\x1b[200~lost", 1.5, "x", "\x1b[201~"), ["P:lost", "'x'"]),
    ("slow paste", ("\x1b[200~a", 0.9, "b", 0.9, "c\x1b[201~"), ["P:abc"]),
    ("stray end", ("\x1b[201~x",), ["'x'"]),
    ("empty paste", ("\x1b[200~\x1b[201~",), []),
    ("nested start", ("\x1b[200~a\x1b[200~b\x1b[201~",), ["P:a[200~b"]),
    # bursts
    ("unbracketed", ("line1\rline2\rline3",), ["P:line1\nline2\nline3"]),
    (
        "unbracketed in two reads",
        ("line1\rline2", 0.01, "more\r", 1.0, "\r"),
        ["P:line1\nline2", "P:more\n", "enter"],
    ),
    ("typed line", ("yes\r",), ["'y'", "'e'", "'s'", "enter"]),
    ("enters", ("\r\r",), ["enter", "enter"]),
]


@pytest.mark.parametrize(("name", "steps", "expected"), CASES, ids=[case[0] for case in CASES])
def test_recorded(name: str, steps: tuple[Step, ...], expected: list[str]) -> None:
    assert told(*steps) == expected


PLAIN = [case for case in CASES if not any(isinstance(step, float) for step in case[1])]


@pytest.mark.parametrize(("name", "steps", "expected"), PLAIN, ids=[case[0] for case in PLAIN])
def test_recorded_byte_by_byte(name: str, steps: tuple[str, ...], expected: list[str]) -> None:
    """However the link cuts it, within the patience, it is the same (a burst needs to come as one)."""
    if name in ("unbracketed", "twice", "escape before arrow") or len("".join(steps)) > 1000:
        pytest.skip("is about what comes at once")
    pieces: list[Step] = []
    for step in steps:
        pieces += step
        pieces.append(0.3)
    assert told(*pieces) == expected


def test_early_text_is_never_sent() -> None:
    source = TerminalInput(Clock())
    assert [(type(e), getattr(e, "text", "")) for e in source.feed_early("/help\r\x1b[?1u")] == [
        (events.Paste, "/help")
    ]
    assert [e.key for e in source.feed("\r") if isinstance(e, events.Key)] == ["enter"]


def test_a_lone_escape_is_known_within_30_ms() -> None:
    assert 0.025 <= ESCAPE_DELAY <= 0.03


def test_slow_links_can_have_more_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib

    monkeypatch.setenv("ESCDELAY", "100")
    assert importlib.reload(terminal_input).ESCAPE_DELAY == 0.1
    monkeypatch.delenv("ESCDELAY")
    importlib.reload(terminal_input)


SPICE = st.sampled_from(
    rb"\x1b \x1b[ \x1b[< \x1b] \x1bP \x1bO [ ; : u ~ M $ 200~ 201~ \x1b[200~ \x1b[201~ 1 9 \r \n \x07 a \x9b"
    .decode("unicode_escape").split(" ")
)  # fmt: skip


@settings(deadline=None, max_examples=400)
@given(st.lists(SPICE | st.floats(0, 2) | st.text(max_size=5), max_size=25))
def test_no_input_ends_it_and_it_always_recovers(steps: list[Any]) -> None:
    assert told(*steps, 3.0, "\x1b[201~", 3.0, "\x18", "z")[-1] == "'z'"


@settings(deadline=None, max_examples=200)
@given(st.lists(SPICE, max_size=25))
def test_nothing_in_a_paste_is_a_key(parts: list[str]) -> None:
    inside = "".join(parts).replace("\x1b[201~", "")
    if inside.endswith(tuple("\x1b[201~"[:n] for n in range(1, 6))):
        inside += "."
    assert all(part.startswith("P:") for part in told(f"\x1b[200~{inside}\x1b[201~"))
