from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui_agent.agent import (
    AssistantMessage,
    AssistantMessageDone,
    RawBlock,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolCallFinished,
    ToolResultMessage,
    TurnEnded,
    TurnStarted,
    Usage,
)
from tui_agent.session.entries import Entry, Header, decode, encode
from tui_agent.tools.details import FileChange, revive


def prompt(text: str) -> TurnStarted:
    return TurnStarted(prompt=(TextContent(text=text),))


def entries(line: bytes) -> list[object]:
    return [part.event or part.session if isinstance(part, Entry) else part for part in decode(line)]


REPLY = AssistantMessageDone(
    message=AssistantMessage(
        content=(
            ThinkingContent(thinking="hm", signature="s=="),
            TextContent(text='é\u2028 \u202e{"at":1}'),
            RawBlock(data={"type": "redacted_thinking", "data": "x"}),
            ToolCall(id="a", name="read_file", arguments={"path": "x", "n": [1, None, 2.5]}),
        ),
        stop_reason="tool_use",
        usage=Usage(input_tokens=3),
    )
)


@pytest.mark.parametrize("event", [prompt("hi"), REPLY, TurnEnded(stop_reason="end_turn")])
def test_an_event_comes_back_as_it_was(event: object) -> None:
    line = encode(event).encode()  # type: ignore[arg-type]
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert entries(line) == [event]


def test_details_come_back_as_data_and_can_be_typed_again() -> None:
    change = FileChange(path="a.py", before=b"1", after=b"2", diff="-1\n+2\n", added=1, removed=1)
    result = ToolResultMessage(tool_call_id="a", tool_name="edit_file", content=(), details=change)
    (event,) = entries(encode(ToolCallFinished(result=result, seconds=0.1)).encode())
    assert isinstance(event, ToolCallFinished)
    revived = revive(event.result.details)
    assert isinstance(revived, FileChange)
    assert (revived.path, revived.diff, revived.before) == ("a.py", "-1\n+2\n", None)


def test_a_lone_surrogate_survives() -> None:
    assert entries(encode(prompt("a\ud800b")).encode()) == [prompt("a\ud800b")]


def test_two_records_on_one_line_are_two_records() -> None:
    line = (encode(prompt("one")).rstrip() + encode(prompt("two"))).encode()
    assert entries(line) == [prompt("one"), prompt("two")]


def test_a_torn_record_joined_by_a_whole_one_costs_only_itself() -> None:
    torn = encode(REPLY).encode()[:70]
    assert entries(torn + encode(prompt("two")).encode()) == [torn, prompt("two")]


def test_nuls_around_a_record_are_no_part_of_it() -> None:
    assert entries(b"\0" * 4096 + encode(prompt("x")).encode()) == [prompt("x")]
    assert entries(b"\0" * 4096) == []


@pytest.mark.parametrize(
    "line",
    [
        b'{"role":"assi',
        b'{"at":1}x',
        b"\xc3",
        b"[" * 100_000,
        b'{"at":1,"event":{"type":"of the future"}}',
        b'{"at":1,"event":{"type":"turn_started","prompt":[{"type":"text","text":"\xc3"}]}}',
        b"null",
        b"17",
    ],
)
def test_what_is_no_record_is_handed_back(line: bytes) -> None:
    assert entries(line) == [line]


def test_a_header_tells_where_a_fork_comes_from() -> None:
    header = Header(id="b", folder="/x", forked_from="a")
    assert entries(encode(header).encode()) == [header]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=[])), max_size=4), st.data())
def test_a_cut_loses_at_most_the_record_it_is_in(texts: list[str], data: st.DataObject) -> None:
    records = [encode(prompt("-" + text)).encode() for text in texts]
    whole = b"".join(records)
    cut = data.draw(st.integers(0, len(whole)))
    found = [e for line in whole[:cut].split(b"\n") for e in entries(line) if not isinstance(e, bytes)]
    complete, size = 0, 0
    for record in records:
        size += len(record)
        complete += size - 1 <= cut  # its newline may be missing
    assert found == [prompt("-" + text) for text in texts[:complete]]
