"""Bytes that terminals really send, and what becomes of them: the text that the model gets, or nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from server.messages_api import call, reply
from server.threaded import ThreadedAPI
from terminal.harness import Terminal, heavy

READY = r"Ask for a change"
START, END = "\x1b[200~", "\x1b[201~"


@pytest.fixture
def api() -> Iterator[ThreadedAPI]:
    with ThreadedAPI(lambda request: f"answer {request.number}.") as api:
        yield api


def said(api: ThreadedAPI) -> str:
    """The person's words in the last request."""
    content = api.requests[-1].body["messages"][-1]["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def sent(term: Terminal, api: ThreadedAPI, data: str | bytes) -> str:
    """What the model gets after these bytes, the last of which send it."""
    number = len(api.requests) + 1
    term.send(data)
    term.wait_until(lambda: len(api.requests) >= number, f"request {number}")
    term.wait_for(rf"answer {api.requests[-1].number}\.")
    term.wait_for(READY)
    return said(api)


@pytest.fixture
def term(terminal: Callable[..., Terminal], api: ThreadedAPI) -> Terminal:
    started = terminal(api=api)
    started.wait_for(READY)
    return started


def test_each_way_to_write_a_new_line_writes_one(term: Terminal, api: ThreadedAPI) -> None:
    for form in ["\x1b\r", "\x1b\n", "\x1b[13;2u", "\x1b[13;3u", "\x1b[13;5u", "\x1b[27;2;13~"]:
        assert sent(term, api, f"a{form}b\r") == "a\nb", repr(form)
    for keys in ["a\nb", "a\\\rb"]:
        for key in keys:
            term.send(key)
            time.sleep(0.08)  # a line end that comes with text around it is a paste
        assert sent(term, api, "\r") == "a\nb", repr(keys)
    assert sent(term, api, "a\x1b[13u") == "a"


def test_a_burst_of_keys_takes_effect_in_its_order(term: Terminal, api: ThreadedAPI) -> None:
    assert sent(term, api, "ab\x7fc\x1b[Dd\r") == "adc"
    assert sent(term, api, "teh\x7f\x7fhe cat\x17dog\x01in \r") == "in the dog"
    assert sent(term, api, "1\x1b\r2\x1b[13;2u3\r") == "1\n2\n3"


def test_what_no_key_press_says_becomes_neither_text_nor_the_end(term: Terminal, api: ThreadedAPI) -> None:
    noise = [
        "\x1b[1114112u",
        "\x1b[99999999999u",
        "\x1b[97;1:3u",
        "\x1b[57358;65;65u",
        "\x1b[57441;2u",
        "\x1b[?62;22c",
        "\x1b[1;1R",
        "\x1b[?2026;2$y",
        "\x1b[I",
        "\x1b[O",
        "\x1bP>|xterm(390)\x1b\\",
        "\x1b]11;rgb:ffff/ffff/ffff\x1b\\",
        "\x1b]52;c;aGk=\x07",
        "\x1b_Gi=1;OK\x1b\\",
        "\x1b[<35;3;4M",
        "\x1b[<64;200;4M",
        "\x1b[48;40;120;800;1200t",
        "\x1b[>0;276;0c",
        "\x1b[1;2:3P",
        "\x1b[:::u",
        "\x1b[;;;~",
    ]
    for number, report in enumerate(noise):
        assert sent(term, api, f"n{number}{report}x\r") == f"n{number}x", repr(report)


def test_reports_of_the_kitty_keyboard_type_what_was_pressed(term: Terminal, api: ThreadedAPI) -> None:
    typed = "\x1b[97;1:1u\x1b[98;;98u\x1b[32;2;32u\x1b[228:196;2;196u\x1b[1089u\x1b[99;1:2u"
    assert sent(term, api, f"{typed}\r") == "ab Äсc"


def test_invalid_utf_8_shows_as_a_replacement_and_the_program_lives(term: Terminal, api: ThreadedAPI) -> None:
    assert sent(term, api, b"caf\xe9!\xff\r") == "caf\ufffd!\ufffd"
    assert sent(term, api, b"\xc3(\xed\xa0\x80)\r").replace("\ufffd", "") == "()"


def test_a_character_and_a_report_may_come_in_halves(term: Terminal, api: ThreadedAPI) -> None:
    halves = [
        (b"\xe2\x82", b"\xac"),
        (b"\x1b[<35;1", b"50;7M"),
        (b"\x1b[<0;12;", b"3m"),
        (b"\x1b[?2026", b";2$y"),
    ]
    for first, second in halves:
        term.send(first)
        time.sleep(0.15)  # as long as a slow link may hold the rest back
        term.send(second)
    assert sent(term, api, "|\r") == "€|"


def test_a_paste_is_text_whatever_is_in_it(term: Terminal, api: ThreadedAPI) -> None:
    assert sent(term, api, f"{START}x\x1b\ry\x1b[A\x03\x04\x11{END}\r").startswith("x")
    assert "y" in said(api)
    assert "\x1b" not in said(api)
    assert sent(term, api, f"{START}aaa\x1b[<35;3;4Mbbb\x1b[I{END}\r") == "aaabbb"
    assert sent(term, api, f"{START}one\r\ntwo\rthree\n{END}\r").split() == ["one", "two", "three"]
    assert sent(term, api, f"{START}{{[/x][@click=app.quit]}}{END}\r") == "{[/x][@click=app.quit]}"


def test_a_large_paste_with_enter_behind_it_is_sent_whole(term: Terminal, api: ThreadedAPI) -> None:
    line = "".join(f"{number:06}," for number in range(200_000 // 7))
    assert sent(term, api, f"{START}{line}{END}\r") == line
    lines = "\n".join(f"line {number}" for number in range(10_000))
    assert sent(term, api, f"{START}{lines}{END}\r") == lines
    began = term.send("q")
    assert term.wait_for("› q") - began < 1


def test_a_paste_that_lost_its_end_is_over_after_a_second(term: Terminal, api: ThreadedAPI) -> None:
    term.send(f"{START}half a paste")
    term.wait_for("half a paste", timeout=5)
    assert sent(term, api, "!\r") == "half a paste!"


def test_a_burst_without_brackets_is_a_draft_that_nobody_sent(term: Terminal, api: ThreadedAPI) -> None:
    term.send("first line\rsecond line\rthird line\r")
    term.wait_for(r"third line")
    term.quiet(0.3)
    assert api.requests == []
    assert sent(term, api, "\r").split("\n")[:3] == ["first line", "second line", "third line"]


@pytest.mark.parametrize("typed", ["fix the bug\rand go\r", *heavy("/help\r", "plain")])
def test_keys_before_the_screen_is_there_are_kept_and_not_sent(
    terminal: Callable[..., Terminal], api: ThreadedAPI, typed: str
) -> None:
    term = terminal(api=api, typed=typed.encode())
    for word in typed.split():
        term.wait_for(word)
    assert term.alive()
    assert api.requests == []


def test_no_byte_of_a_paste_answers_a_question(terminal: Callable[..., Terminal], project: Any) -> None:
    script = [reply(call("write_file", {"path": "new", "content": "x\n"})), "ended"]
    with ThreadedAPI(script) as api:
        term = terminal(api=api)
        term.wait_for(READY)
        term.send("go\r")
        term.wait_for("Approve")
        time.sleep(0.7)  # the question counts answers by now
        term.send(f"{START}y\x1b\ry\ry{END}")
        term.send(b"\xff\x1b[<35;1")
        time.sleep(0.15)
        term.send("50;7M")
        time.sleep(0.7)
        assert "Approve" in term.screen()
        assert not (project / "new").exists()
        term.send("n")
        term.wait_for("ended")
        assert not (project / "new").exists()
