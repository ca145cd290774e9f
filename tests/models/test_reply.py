"""The accumulator: what a stream says, no more and no less."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from server.replies import call, events_of, redacted, reply, text, thinking

from tui_agent.agent.messages import AssistantMessage, RawBlock, TextContent, ThinkingContent, ToolCall
from tui_agent.agent.model import ModelEvent, TextDelta, ToolCallDelta
from tui_agent.models.reply import Reply


def fold(events: list[dict[str, Any]]) -> tuple[Reply, list[ModelEvent]]:
    accumulated = Reply()
    return accumulated, [told for event in events for told in accumulated.feed(event)]


def message(*blocks: dict[str, Any] | str, **options: Any) -> AssistantMessage:
    accumulated, _ = fold(events_of(reply(*blocks, **options), 1, "m"))
    assert accumulated.finished
    return accumulated.message()


def one_call(arguments: str) -> ToolCall:
    (found,) = message(call("run_command", arguments)).calls
    return found


def test_every_block_in_its_order() -> None:
    opaque = {"type": "container_upload", "file_id": "f", "odd": [1, None]}
    done = message(
        thinking("one", "s1"), text("a"), call("f", {"x": 1}), thinking("two", "s2"), redacted("zz"), opaque
    )
    assert done.content == (
        ThinkingContent("one", "s1"),
        TextContent("a"),
        ToolCall(id="toolu_001_2", name="f", arguments={"x": 1}),
        ThinkingContent("two", "s2"),
        RawBlock({"type": "redacted_thinking", "data": "zz"}),
        RawBlock(opaque),
    )
    assert done.stop_reason == "tool_use"


def test_what_is_told_on_the_way() -> None:
    _, told = fold(events_of(reply("hello", call("f", '{"a": 1}'), chunk=4), 1, "m"))
    assert "".join(event.text for event in told if isinstance(event, TextDelta)) == "hello"
    calls = [event for event in told if isinstance(event, ToolCallDelta)]
    assert [event.partial for event in calls] == ["", '{"a"', ": 1}"]
    assert {(event.call_id, event.name) for event in calls} == {("toolu_001_1", "f")}


def test_usage_is_counted_once() -> None:
    usage = message("x", usage={"input_tokens": 7, "output_tokens": 9, "cache_read_input_tokens": 5}).usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (7, 9, 5)
    assert usage.context_tokens == 21


def test_no_argument_text_is_no_arguments() -> None:
    assert one_call("") == ToolCall(id="toolu_001_0", name="run_command", arguments={})


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ('{"command": "ls', "not valid JSON"),
        ("null", "this is null"),
        ("[]", "this is a list"),
        ('"ls"', "this is a string"),
        ("7", "this is a number"),
        ("true", "this is a truth value"),
        ('{"a": 1} {"b": 2}', "not valid JSON"),
        ('{"a": 1, "a": 2}', "given twice"),
        ('{"a": {"b": 1, "b": 1}}', "given twice"),
        ('{"a": NaN}', "NaN"),
        ('{"a": -Infinity}', "Infinity"),
        ('{"a": 1e999}', "too large"),
        ("{'a': 1}", "not valid JSON"),
        ('{"a": ["\\ud800"]}', "half a character"),
        ('{"\\udc00": 1}', "half a character"),
        ('{"a":' * 100_000, "nested too deeply"),
        ('{"a":' * 300 + "1" + "}" * 300, "nested too deeply"),
        ('{"a":' + "[" * 100 + "]" * 100 + "}", "nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "not valid JSON"),
    ],
)
def test_unusable_arguments_are_a_fault(raw: str, problem: str) -> None:
    found = one_call(raw)
    assert found.arguments == {}
    assert problem in (found.fault or "")
    assert raw[:20] in (found.fault or "")
    assert len(found.fault or "") < 500


def test_a_call_that_is_cut_is_a_fault() -> None:
    events = events_of(
        reply(call("write_file", '{"path":"a.py","content":"import o'), stop_reason="max_tokens"), 1, "m"
    )
    accumulated, _ = fold([event for event in events if event["type"] != "content_block_stop"])
    assert accumulated.message().calls[0].fault
    assert accumulated.message().stop_reason == "max_tokens"


@given(cut=st.integers(min_value=0, max_value=11))
def test_finished_means_stop_reason_and_message_stop(cut: int) -> None:
    events = events_of(reply(thinking("a", "s"), "hello", call("f", {"a": 1})), 1, "m")
    assert len(events) == 13
    accumulated, _ = fold(events[: cut + 1])
    assert not accumulated.finished
    assert not fold([event for event in events if event["type"] != "message_delta"])[0].finished


def test_thinking_without_its_signature_stays_unsigned() -> None:
    accumulated, _ = fold(events_of(reply(thinking("half a thou", "sig")), 1, "m")[:3])
    assert accumulated.message().content == (ThinkingContent("half a thou", None),)


def test_an_id_of_an_earlier_reply_gets_a_number() -> None:
    accumulated = Reply(frozenset({"call_1", "call_1_2"}))
    told = [
        e
        for event in events_of(reply(call("f", "{}", id="call_1"), call("f", "{}", id="call_2")), 1, "m")
        for e in accumulated.feed(event)
    ]
    assert [found.id for found in accumulated.message().calls] == ["call_1_3", "call_2"]
    assert {event.call_id for event in told if isinstance(event, ToolCallDelta)} == {"call_1_3", "call_2"}


def test_server_tool_input_is_put_into_the_block() -> None:
    block = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "raw": '{"query": "x"}'}
    (kept,) = message(block).content
    assert kept == RawBlock(
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
    )


def test_cited_text_keeps_its_citations() -> None:
    events = events_of(reply("as said"), 1, "m")
    citation = {"type": "char_location", "cited_text": "said"}
    events.insert(
        3,
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "citations_delta", "citation": citation},
        },
    )
    accumulated, _ = fold(events)
    assert accumulated.message().content == (
        RawBlock({"type": "text", "text": "as said", "citations": [citation]}),
    )


def test_a_character_cut_in_two_is_put_together() -> None:
    events = events_of(reply(thinking("12", "s"), "12", chunk=1), 1, "m")
    halves = {"1": "\ud83d", "2": "\ude00"}
    for event in events:
        delta = event.get("delta", {})
        for name in ("text", "thinking"):
            if name in delta:
                delta[name] = halves[delta[name]]
    accumulated, _ = fold(events)
    assert accumulated.message().content == (ThinkingContent("😀", "s"), TextContent("😀"))


def test_an_escaped_pair_is_one_character() -> None:
    assert one_call('{"a": "\\ud83d\\ude00"}').arguments == {"a": "😀"}


def test_a_call_without_an_id_gets_one() -> None:
    first, second = message(call("f", "{}", id=""), call("f", "{}", id="")).calls
    assert first.id
    assert first.id != second.id


@given(
    st.lists(
        st.recursive(
            st.none() | st.text() | st.integers(),
            lambda inner: (
                st.lists(inner)
                | st.dictionaries(
                    st.sampled_from(["type", "index", "delta", "content_block", "message", "usage", "text"]),
                    inner,
                )
            ),
            max_leaves=8,
        )
    )
)
def test_odd_events_never_raise(odd: list[Any]) -> None:
    known = ["message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop"]
    accumulated = Reply()
    for index, value in enumerate(odd):
        event = {"type": known[index % 5], "index": 0, "delta": value, "content_block": value, "usage": value}
        list(accumulated.feed(event | (value if isinstance(value, dict) else {})))
    assert not accumulated.message().calls


@settings(max_examples=50, deadline=None)
@given(
    arguments=st.dictionaries(
        st.text(),
        st.recursive(
            st.none()
            | st.booleans()
            | st.integers(-(2**60), 2**60)
            | st.floats(allow_nan=False, allow_infinity=False)
            | st.text(),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
            max_leaves=5,
        ),
        max_size=4,
    ),
    words=st.text(),
    chunk=st.integers(1, 30),
)
def test_what_was_sent_comes_out(arguments: dict[str, Any], words: str, chunk: int) -> None:
    sent = reply(thinking(words, "s"), text(words), call("f", json.dumps(arguments)), chunk=chunk)
    accumulated, _ = fold(events_of(sent, 1, "m"))
    thought, said, called = accumulated.message().content
    assert thought == ThinkingContent(words, "s")
    assert said == TextContent(words)
    assert isinstance(called, ToolCall)
    assert (called.arguments, called.fault) == (arguments, None)


def test_many_deltas_are_cheap() -> None:
    events = events_of(reply("x" * 20_000, chunk=1), 1, "m")
    assert len(events) > 20_000
    accumulated = Reply()
    begin = time.process_time()
    for event in events:
        tuple(accumulated.feed(event))
    assert accumulated.message().text == "x" * 20_000
    assert time.process_time() - begin < 1.0
