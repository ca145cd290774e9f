"""What is told of a call while the model writes it."""

from __future__ import annotations

import json

import pytest

from tui_agent.agent.model import ToolCallDelta
from tui_agent.agent.writing import LOOKED_AT, Writing


def told(text: str, size: int = 7) -> list[tuple[int, str]]:
    """Bytes and subject of each progress, for arguments that come in pieces of `size`."""
    writing = Writing()
    deltas = [text[at : at + size] for at in range(0, len(text), size)]
    progress = [writing.progress(ToolCallDelta(call_id="a", name="w", partial=delta)) for delta in deltas]
    return [(each.bytes, each.subject) for each in progress if each is not None]


@pytest.mark.parametrize("name", ["path", "command", "pattern"])
def test_the_subject_is_told_as_soon_as_it_is_whole_and_from_then_on(name: str) -> None:
    text = json.dumps({name: 'a "b" é', "content": "x" * 3000})
    subjects = [subject for _, subject in told(text)]
    assert subjects[0] == ""
    assert subjects[1:] == ['a "b" é'] * 3  # when it came, and at 1 and 2 kilobytes


def test_what_only_looks_like_it_inside_a_text_is_not_taken() -> None:
    text = json.dumps({"content": 'say "path": "evil"', "path": "good"})
    assert told(text)[-1][1] == "good"


def test_it_is_looked_for_in_the_beginning_only() -> None:
    text = json.dumps({"content": "x" * LOOKED_AT, "path": "late"})
    assert {subject for _, subject in told(text)} == {""}


def test_a_broken_string_is_left_to_the_one_who_parses() -> None:
    assert {subject for _, subject in told('{"path": "a\nb", "content": "' + "x" * 2000)} == {""}
