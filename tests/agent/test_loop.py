import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from agent_fakes import ECHO, Recorder, Script, call, canonical, reply, results, tool

from tui_agent.agent import (
    Agent,
    AssistantMessage,
    CancelSignal,
    Deny,
    MessageDone,
    ModelError,
    ModelEvent,
    ModelRequest,
    RawBlock,
    Retrying,
    TextContent,
    TextDelta,
    ThinkingContent,
    Tool,
    ToolCall,
    ToolCallDelta,
    Usage,
    UserMessage,
    run_agent_loop,
)
from tui_agent.agent.history import check


async def test_only_name_description_and_schema_reach_the_request() -> None:
    secret = tool("echo", lambda p, s: "ok", parameters=ECHO)
    model = Script(reply("hi"))
    await Agent(model=model, tools=[secret], system="be brief").prompt("hello")
    [request] = model.requests
    [declared] = request.tools
    assert type(declared) is Tool
    assert set(vars(declared)) == {"name", "description", "parameters"}
    assert declared.parameters == ECHO
    assert request.system == "be brief"


async def test_all_results_go_back_in_one_message_results_first() -> None:
    model = Script(
        reply("two things", call("echo", "1", text="a"), call("echo", "2", text="b")), reply("done")
    )
    agent = Agent(model=model, tools=[tool()])
    ended = await agent.prompt("go")
    assert ended.stop_reason == "end_turn"
    answers = model.requests[1].messages[-1]
    assert isinstance(answers, UserMessage)
    assert [(r.tool_call_id, r.tool_name, r.text) for r in answers.content] == [
        ("1", "echo", "a"),
        ("2", "echo", "b"),
    ]
    assert len(agent.messages) == 4


async def test_the_whole_reply_is_kept_in_order_and_unchanged() -> None:
    blocks = (
        ThinkingContent(thinking="hm", signature="c2ln"),
        TextContent(text="first"),
        call("echo", "1", text="x"),
        RawBlock(data={"type": "redacted_thinking", "data": "xyz"}),
        ThinkingContent(thinking="", signature="c2ln2"),
        RawBlock(data={"type": "something_new", "a": [1]}),
        call("echo", "2", text="y"),
    )
    model = Script(AssistantMessage(content=blocks, stop_reason="tool_use"), reply("done"))
    await Agent(model=model, tools=[tool()]).prompt("go")
    sent = model.requests[1].messages[1]
    assert sent.content == blocks


async def test_unsigned_thinking_and_a_second_call_of_one_id_never_enter() -> None:
    twice = reply(ThinkingContent(thinking="cut"), call("echo", "1", text="a"), call("echo", "1", text="b"))
    model, recorder = Script(twice, reply("done")), Recorder()
    agent = Agent(model=model, tools=[tool()])
    await agent.prompt("go", emit=recorder)
    assert [type(block) for block in agent.messages[1].content] == [ToolCall]
    assert [r.text for r in results(agent.messages)] == ["a"]
    assert "dropped" in recorder.of("note_added")[0].content[0].text
    assert check(model.requests[1].messages) == []


@pytest.mark.parametrize(
    ("stop", "calls", "ends"),
    [
        ("end_turn", True, "end_turn"),
        ("stop_sequence", True, "stop_sequence"),
        ("refusal", True, "refusal"),
        ("something_new", True, "something_new"),
        ("end_turn", False, "end_turn"),
        ("max_tokens", False, "max_tokens"),
        ("refusal", False, "refusal"),
        ("model_context_window_exceeded", False, "model_context_window_exceeded"),
    ],
)
async def test_nothing_runs_from_a_reply_that_is_no_complete_tool_use(
    stop: str, calls: bool, ends: str
) -> None:
    ran: list[Any] = []
    blocks = ["text"] + ([call("echo", "1", text="a")] if calls else [])
    model = Script(reply(*blocks, stop=stop))
    agent = Agent(model=model, tools=[tool(execute=lambda p, s: ran.append(p) or "")])
    ended = await agent.prompt("go")
    assert ended.stop_reason == ends
    assert ran == []
    assert agent.history.open_calls == ()
    assert all(r.is_error and stop in r.text for r in results(agent.messages))


async def test_a_missing_stop_reason_runs_nothing_and_is_an_error() -> None:
    ran: list[Any] = []
    cut = AssistantMessage(content=(call("echo", "1", text="a"),), stop_reason=None)
    ended = await Agent(model=Script(cut), tools=[tool(execute=lambda p, s: ran.append(p) or "")]).prompt(
        "go"
    )
    assert ended.stop_reason == "error"
    assert ended.error
    assert ran == []


async def test_a_call_that_the_output_limit_cut_is_told_so_twice_and_then_the_turn_ends() -> None:
    cut = [reply(call("write", f"{n}", path="a"), stop="max_tokens") for n in range(5)]
    model, ran = Script(*cut), []
    ended = await Agent(model=model, tools=[tool("write", lambda p, s: ran.append(p) or "")]).prompt("go")
    assert (ended.stop_reason, len(model.requests)) == ("max_tokens", 3)
    assert ran == []
    assert "write in smaller parts" in results(model.requests[1].messages)[0].text


async def test_a_paused_reply_is_sent_back_as_it_is() -> None:
    paused = reply(RawBlock(data={"type": "server_tool_use", "id": "s"}), stop="pause_turn")
    model = Script(paused, reply("done"))
    ended = await Agent(model=model).prompt("go")
    assert ended.stop_reason == "end_turn"
    assert model.requests[1].messages[-1] == paused


async def test_a_model_that_pauses_for_ever_is_left_after_five_times() -> None:
    model = Script(reply("…", stop="pause_turn"))
    ended = await Agent(model=model).prompt("go")
    assert (ended.stop_reason, len(model.requests)) == ("pause_turn", 6)


@pytest.mark.parametrize(
    "empty", [reply(), reply("  \n"), reply(ThinkingContent(thinking="hm", signature="c2ln"))]
)
async def test_an_empty_end_gets_one_nudge_and_then_says_there_is_no_answer(empty: AssistantMessage) -> None:
    model = Script(empty)
    ended = await Agent(model=model).prompt("go")
    assert len(model.requests) == 2
    assert ended.error == "the model gave no answer"
    assert check(model.requests[1].messages) == []


async def test_the_step_limit_answers_everything_and_go_on_continues() -> None:
    numbers = iter(range(100))
    model = Script(lambda request: reply(call("echo", str(next(numbers)), text=str(next(numbers)))))
    agent, recorder = Agent(model=model, tools=[tool()], max_steps=3), Recorder()
    assert (await agent.prompt("go", emit=recorder)).stop_reason == "step_limit"
    assert len(model.requests) == 3
    assert recorder.of("step_limit_reached")[0].steps == 3
    model.replies = [reply("finished")]
    assert (await agent.go_on()).stop_reason == "end_turn"
    assert len(agent.messages) == 8
    assert check(model.requests[-1].messages) == []


async def test_the_sixth_identical_call_with_an_identical_result_is_stuck() -> None:
    numbers = iter(range(100))
    model = Script(lambda request: reply(call("search", str(next(numbers)), pattern="x")))
    ended = await Agent(model=model, tools=[tool("search")]).prompt("go")
    assert (ended.stop_reason, len(model.requests)) == ("stuck", 6)
    texts = [r.text for r in results(model.requests[-1].messages)]
    assert ["Note: the same call" in text for text in texts] == [False, False, True, True, True]


async def test_two_calls_that_alternate_or_differ_in_blanks_are_stuck_too() -> None:
    numbers = iter(range(100))

    def alternate(request: ModelRequest) -> AssistantMessage:
        n = next(numbers)
        return reply(call("search", str(n), pattern="a  b" if n % 4 == 0 else "a b" if n % 2 == 0 else "c"))

    model = Script(alternate)
    ended = await Agent(model=model, tools=[tool("search")], max_steps=50).prompt("go")
    assert ended.stop_reason == "stuck"
    assert len(model.requests) <= 12


async def test_a_model_whose_calls_only_fail_is_stuck() -> None:
    numbers = iter(range(100))
    model = Script(lambda request: reply(call("nope", str(next(numbers)), n=next(numbers))))
    ended = await Agent(model=model, tools=[tool()], max_steps=100).prompt("go")
    assert (ended.stop_reason, len(model.requests)) == ("stuck", 15)


async def test_the_token_limit_of_a_prompt_ends_it() -> None:
    numbers = iter(range(100))
    model = Script(
        lambda request: reply(call("echo", str(next(numbers)), text=str(next(numbers))), usage=Usage(100, 50))
    )
    ended = await Agent(model=model, tools=[tool()], max_tokens_total=400).prompt("go")
    assert (ended.stop_reason, len(model.requests)) == ("step_limit", 3)
    assert "limit is 400" in (ended.error or "")


async def test_a_full_window_is_seen_before_a_request_is_sent() -> None:
    model = Script(reply(call("echo", "1", text="x" * 3000), usage=Usage(500, 100)), reply("done"))
    agent = Agent(model=model, tools=[tool()], window=1200)
    ended = await agent.prompt("go")
    assert (ended.stop_reason, len(model.requests)) == ("error", 1)
    assert "window" in (ended.error or "")
    assert ended.hint


async def test_the_prefix_never_changes_over_turns_tools_notes_and_declines() -> None:
    class Declines:
        async def decide(self, batch: Any, signal: Any) -> Any:
            return [Deny("no") for _ in batch]

    model = Script(
        reply(call("echo", "1", text="a"), call("echo", "2", text="b")),
        reply("said no"),
        reply(ThinkingContent(thinking="t", signature="s"), call("nope", "3")),
        reply("done"),
        reply("again"),
    )
    agent = Agent(model=model, tools=[tool()], system="s", gate=Declines())
    await agent.prompt("one")
    agent.note("the mode is now plan")
    await agent.prompt("two")
    await agent.prompt("three")
    assert len(model.requests) == 5
    for before, after in zip(model.requests, model.requests[1:], strict=False):
        assert canonical(after)[: len(canonical(before))] == canonical(before)
    assert "the mode is now plan" in model.requests[2].messages[-1].text


async def test_steering_words_come_after_the_results_and_leave_the_rest_of_the_batch() -> None:
    ran: list[str] = []
    agent: Agent

    def work(parameters: dict[str, Any], signal: Any) -> str:
        ran.append(parameters["text"])
        agent.steer("also fix the README")
        return "ok"

    model = Script(reply(call("echo", "1", text="a"), call("echo", "2", text="b")), reply("done"))
    agent = Agent(model=model, tools=[tool(execute=work)])
    await agent.prompt("go")
    last = model.requests[1].messages[-1]
    assert ran == ["a"]
    assert [block.type for block in last.content] == ["tool_result", "tool_result", "text"]
    assert "the user sent a new message" in last.content[1].text
    assert last.text == "also fix the README"


@pytest.mark.parametrize("error", [ModelError("no credit", hint="top up"), RuntimeError("a bug")])
async def test_an_error_of_the_model_ends_the_turn_and_go_on_sends_the_same_again(error: Exception) -> None:
    model = Script(error, reply("hello"))
    agent, recorder = Agent(model=model), Recorder()
    ended = await agent.prompt("go", emit=recorder)
    assert (ended.stop_reason, ended.error) == ("error", str(error))
    assert len(recorder.of("turn_ended")) == 1
    assert (await agent.go_on()).stop_reason == "end_turn"
    assert canonical(model.requests[0]) == canonical(model.requests[1])


@pytest.mark.parametrize("kind", ["thinking_rejected", "image_rejected", "too_large"])
async def test_a_known_refusal_is_answered_once_with_a_new_prefix(kind: str) -> None:
    from tui_agent.agent import ImageContent

    history = [
        UserMessage(
            content=(TextContent(text="x" * 9000), ImageContent(data="aGk=", media_type="image/png"))
        ),
        reply(ThinkingContent(thinking="old", signature="s"), "ok"),
        UserMessage(content=(TextContent(text="more"),)),
        reply("ok"),
        UserMessage(content=(TextContent(text="more"),)),
        reply("ok"),
    ]
    model, recorder = Script(ModelError("400", kind=kind), reply("fine")), Recorder()
    agent = Agent(model=model, messages=history)
    assert (await agent.prompt("go", emit=recorder)).stop_reason == "end_turn"
    assert len(recorder.of("history_rewritten")) == 1
    assert canonical(model.requests[0]) != canonical(model.requests[1])
    model.replies, model.requests = [ModelError("400", kind=kind)], []
    assert (await agent.prompt("again")).stop_reason == "error"
    assert len(model.requests) == 1, "a doomed request is not sent twice"


async def test_progress_of_a_large_call_is_told_once_a_kilobyte() -> None:
    class Writes:
        name = "writes"

        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
            for _ in range(1000):
                yield ToolCallDelta(call_id="1", name="write", partial="x" * 20)
            yield MessageDone(message=reply("done"))

    recorder = Recorder()
    await Agent(model=Writes()).prompt("go", emit=recorder)
    sizes = [event.bytes for event in recorder.of("tool_call_progress")]
    assert 15 <= len(sizes) <= 25
    assert sizes[-1] > 19_000


async def test_a_list_of_messages_is_extended_in_place() -> None:
    messages: list[Any] = [UserMessage(content=(TextContent(text="go"),))]
    ended = await run_agent_loop(
        messages,
        model=Script(reply(call("echo", "1", text="a")), reply("done")),
        tools=[tool()],
        signal=CancelSignal(),
    )
    assert ended.stop_reason == "end_turn"
    assert [message.role for message in messages] == ["user", "assistant", "user", "assistant"]


# cancelling


class Streams:
    """A model that streams words until someone stops it; `on_word` is called at each."""

    name = "streams"

    def __init__(self, on_word: Callable[[int], None], words: int = 3) -> None:
        self.on_word = on_word
        self.words = words
        self.requests: list[ModelRequest] = []
        self.closed = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        try:
            for n in range(self.words):
                yield TextDelta(text=f"word{n} ")
                self.on_word(n)
            await asyncio.sleep(60)
        finally:
            self.closed += 1


async def test_a_cancel_before_the_request_sends_none_and_gives_the_prompt_back() -> None:
    model, recorder, signal = Script(reply("hi")), Recorder(), CancelSignal()
    signal.cancel()
    agent = Agent(model=model)
    ended = await agent.prompt("hello", signal=signal, emit=recorder)
    assert ended.stop_reason == "cancelled"
    assert model.requests == []
    assert agent.messages == ()
    assert recorder.of("history_rewritten")[0].dropped == 1
    assert recorder.events[-1] is ended


async def test_a_cancel_during_the_stream_keeps_the_text_and_closes_the_stream() -> None:
    signal, recorder = CancelSignal(), Recorder()
    model = Streams(lambda n: signal.cancel() if n == 1 else None)
    agent = Agent(model=model)
    ended = await asyncio.wait_for(agent.prompt("go", signal=signal, emit=recorder), 10)
    assert ended.stop_reason == "cancelled"
    assert model.closed == 1
    assert agent.messages[-1].text.startswith("word0 word1")
    assert agent.messages[-1].stop_reason is None
    assert len(recorder.of("turn_ended")) == 1
    follow = Script(reply("fine"))
    agent.model = follow
    await agent.prompt("and now?")
    assert check(follow.requests[0].messages) == []


async def test_a_cancel_of_a_silent_model_gives_the_prompt_back() -> None:
    signal = CancelSignal()
    model = Streams(lambda n: None, words=0)
    agent = Agent(model=model)
    task = asyncio.create_task(agent.prompt("go", signal=signal))
    while not model.requests:
        await asyncio.sleep(0)
    signal.cancel()
    assert (await asyncio.wait_for(task, 10)).stop_reason == "cancelled"
    assert agent.messages == ()


async def test_a_retry_forgets_the_text_that_came_before_it() -> None:
    class Retries:
        name = "retries"

        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
            yield TextDelta(text="half")
            yield Retrying(error="lost", delay=0.0)
            yield TextDelta(text="whole")
            signal.cancel()
            await asyncio.sleep(60)

    signal = CancelSignal()
    agent = Agent(model=Retries())
    await asyncio.wait_for(agent.prompt("go", signal=signal), 10)
    assert agent.messages[-1].text == "whole"


async def test_a_cancel_during_a_call_answers_every_call_and_asks_no_more() -> None:
    signal, recorder = CancelSignal(), Recorder()

    def work(parameters: Any, mine: CancelSignal) -> str:
        signal.cancel()
        mine.raise_if_cancelled()
        return "never"

    model = Script(reply(call("work", "1"), call("work", "2")))
    agent = Agent(model=model, tools=[tool("work", work)])
    ended = await agent.prompt("go", signal=signal, emit=recorder)
    assert ended.stop_reason == "cancelled"
    assert len(model.requests) == 1
    one, two = results(agent.messages)
    assert "may have run in part" in one.text
    assert "not run" in two.text
    follow = Script(reply("fine"))
    agent.model = follow
    await agent.prompt("go on then")
    last = follow.requests[0].messages[-1]
    assert [block.type for block in last.content] == ["tool_result", "tool_result", "text"]


async def test_the_hosts_own_cancel_answers_the_calls_and_goes_up() -> None:
    started = asyncio.Event()

    async def work(parameters: Any, signal: Any) -> str:
        started.set()
        await asyncio.sleep(60)
        return "never"

    recorder = Recorder()
    agent = Agent(model=Script(reply(call("work", "1"), call("work", "2"))), tools=[tool("work", work)])
    task = asyncio.create_task(agent.prompt("go", emit=recorder))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert agent.history.open_calls == ()
    assert recorder.events[-1].type == "turn_ended"
    agent.model = follow = Script(reply("fine"))
    await agent.prompt("next")
    assert check(follow.requests[0].messages) == []


async def test_one_call_is_stopped_alone_and_the_turn_goes_on() -> None:
    started = asyncio.Event()

    async def work(parameters: Any, signal: CancelSignal) -> str:
        started.set()
        await signal.wait()
        signal.raise_if_cancelled()
        return "never"

    model = Script(reply(call("work", "1")), reply("as you wish"))
    agent = Agent(model=model, tools=[tool("work", work)])
    task = asyncio.create_task(agent.prompt("go"))
    await started.wait()
    assert agent.stop_call("1")
    assert not agent.stop_call("2")
    assert (await asyncio.wait_for(task, 10)).stop_reason == "end_turn"
    assert "stopped by the user after" in results(agent.messages)[0].text
    assert not agent.stop_call("1")


async def test_a_second_turn_at_once_is_an_error_of_the_host() -> None:
    signal = CancelSignal()
    model = Streams(lambda n: None)
    agent = Agent(model=model)
    task = asyncio.create_task(agent.prompt("go", signal=signal))
    while not model.requests:
        await asyncio.sleep(0)
    with pytest.raises(RuntimeError, match="running"):
        await agent.prompt("me too")
    signal.cancel()
    await task


async def test_taking_back_drops_the_last_exchange_and_tells_it_with_the_next_turn() -> None:
    agent, recorder = Agent(model=Script(reply("no", stop="refusal"))), Recorder()
    await agent.prompt("something odd")
    taken = agent.take_back()
    assert taken is not None
    assert taken.text == "something odd"
    assert agent.messages == ()
    assert agent.take_back() is None
    agent.model = Script(reply("fine"))
    await agent.prompt("something else", emit=recorder)
    assert recorder.events[0].type == "history_rewritten"
    assert [message.text for message in agent.messages] == ["something else", "fine"]


@pytest.mark.parametrize("prompt", ["", "  \n", []])
async def test_a_blank_prompt_sends_nothing(prompt: Any) -> None:
    model = Script(reply("hi"))
    ended = await Agent(model=model).prompt(prompt)
    assert (ended.stop_reason, model.requests) == ("error", [])


async def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="one name"):
        Agent(model=Script(reply("hi")), tools=[tool(), tool()])
