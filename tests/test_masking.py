"""Secrets in files are numbers outside the review, and a masked diff is still the diff."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui_agent.agent import (
    AssistantMessage,
    AssistantMessageDone,
    TextContent,
    ToolCall,
    ToolCallFinished,
    ToolCallStarted,
    ToolResultMessage,
)
from tui_agent.masking import Mask, masked_arguments, masked_change, masked_events
from tui_agent.tools.changes import file_change
from tui_agent.tools.details import FileRead
from tui_agent.tools.hunks import Diff


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("API_KEY=hunter2", "API_KEY=[hidden 1]"),
        ("export TOKEN='a b'", "export TOKEN=[hidden 1]"),
        ('  "token": "abc",', '  "token": [hidden 1],'),
        ("password: s3cret", "password: [hidden 1]"),
        ("# OLD_KEY=hunter2", "# OLD_KEY=[hidden 1]"),
        ("# the production keys", "# the production keys"),
        ("[default]", "[default]"),
        ("", ""),
        ("{", "{"),
        ("machine h login u password p", "[hidden 1]"),
        ("postgres://me:pw@host/db", "postgres://me:[hidden 1]"),
        ("//host/:_authToken=npm_abc", "//host/:_authToken=[hidden 1]"),
        ("MIIEvQIBADANBgkqhkiG9w0BAQ==", "[hidden 1]"),
        ("-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----"),
        ("A=1\r", "A=[hidden 1]\r"),
        ("EMPTY=", "[hidden 1]"),
        ('{"a": "secret", "b": "other"}', "[hidden 1]"),
    ],
)
def test_a_line_keeps_its_name_and_loses_its_value(line: str, shown: str) -> None:
    assert Mask().text(line) == shown


LINES = st.lists(
    st.one_of(
        st.builds(
            "{}={}".format, st.sampled_from(["A", "B"]), st.sampled_from(["secret1", "secret2", "x:y"])
        ),
        st.sampled_from(["", "# words", "bare secret3", "[part]", "A: secret1"]),
    ),
    max_size=12,
)


@settings(max_examples=100, deadline=None)
@given(LINES, LINES)
def test_a_masked_diff_has_the_lines_of_the_real_one(old: list[str], new: list[str]) -> None:
    before, after = "\n".join(old).encode(), "\n".join(new).encode()
    shown = masked_change(file_change("conf/.env", before, after))
    assert [(e.start, e.stop, e.new_start, e.new_stop) for e in Diff(shown.before, shown.after).edits] == [
        (e.start, e.stop, e.new_start, e.new_stop) for e in Diff(before, after).edits
    ]
    assert b"secret" not in (shown.before or b"") + (shown.after or b"")
    assert "secret" not in shown.diff


def test_other_files_and_binary_ones_stay_as_they_are() -> None:
    change = file_change("src/app.py", b"KEY = 'abc'\n", b"KEY = 'abd'\n")
    assert masked_change(change) is change
    assert Mask().data(b"\0KEY=abc") == b"\0KEY=abc"
    assert Mask().data(None) is None
    assert masked_arguments({"path": "a.py", "content": "K=1"}) == {"path": "a.py", "content": "K=1"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_any_encoding_of_a_text_is_masked(encoding: str) -> None:
    shown = Mask().data("NAME=sécret\r\nB=x\r\n".encode(encoding))
    assert shown is not None
    assert shown.decode("utf-16" if encoding == "utf-16" else "utf-8", "replace").endswith("B=[hidden 2]\r\n")
    assert "sécret".encode(encoding) not in shown


def test_arguments_keep_where_and_lose_what() -> None:
    shown = masked_arguments({"path": ".env", "content": "A=secret\nB=secret", "replace_all": True})
    assert shown == {"path": ".env", "content": "A=[hidden 1]\nB=[hidden 1]", "replace_all": True}


def test_an_export_has_no_value_of_such_a_file() -> None:
    call = ToolCall(
        id="1", name="edit_file", arguments={"path": ".env", "old": "A=secret", "new": "A=secret2"}
    )
    change = file_change(".env", b"A=secret\n", b"A=secret2\n")
    read = ToolCall(id="2", name="read_file", arguments={"path": "x"})
    events = [
        AssistantMessageDone(message=AssistantMessage(content=(call, read), stop_reason="tool_use")),
        ToolCallStarted(call=call, kind="write", details=change),
        ToolCallFinished(result=_answer("1", "near: A=secret", None), seconds=1),
        ToolCallFinished(result=_answer("2", "1 A=secret", FileRead(path="real/.env")), seconds=1),
        ToolCallFinished(result=_answer("3", "harmless", change.model_dump()), seconds=1),
        ToolCallFinished(result=_answer("4", "plain words", None), seconds=1),
    ]
    text = "\n".join(event.model_dump_json() for event in masked_events(events))
    assert "secret" not in text.replace("holds secrets", "")
    assert "plain words" in text
    assert '"path":".env"' in text


def _answer(call_id: str, text: str, details: object) -> ToolResultMessage:
    return ToolResultMessage(
        tool_call_id=call_id, tool_name="t", content=(TextContent(text=text),), details=details
    )
