import asyncio
import threading
from typing import Any

import pytest
from agent_fakes import ECHO, Recorder, call, tool

from tui_agent.agent import (
    AgentTool,
    Allow,
    Cancelled,
    CancelSignal,
    Deny,
    ImageContent,
    Pending,
    Proposal,
    StaleProposal,
    TextContent,
    ToolCall,
    ToolError,
    ToolOutput,
    current_call_id,
    earlier_proposals,
    execute_tool_calls,
)


async def run(calls: list[ToolCall], tools: list[AgentTool], **more: Any) -> list[Any]:
    more.setdefault("signal", CancelSignal())
    return await execute_tool_calls(calls, tools, **more)


async def test_calls_run_one_after_the_other_in_their_order_also_when_a_later_one_is_faster() -> None:
    trace: list[str] = []

    async def slow(parameters: Any, signal: Any) -> str:
        trace.append("slow starts")
        for _ in range(20):
            await asyncio.sleep(0)
        trace.append("slow ends")
        return "slow"

    async def fast(parameters: Any, signal: Any) -> str:
        trace.append("fast")
        return "fast"

    results = await run([call("slow", "1"), call("fast", "2")], [tool("fast", fast), tool("slow", slow)])
    assert trace == ["slow starts", "slow ends", "fast"]
    assert [(r.tool_call_id, r.tool_name, r.text) for r in results] == [
        ("1", "slow", "slow"),
        ("2", "fast", "fast"),
    ]


async def test_an_unknown_tool_dispatches_nothing_and_its_siblings_run() -> None:
    ran: list[str] = []
    known = tool("read", lambda p, s: ran.append("read") or "ok")
    results = await run([call("Read", "1"), call("read", "2"), call("", "3"), call("read ", "4")], [known])
    assert ran == ["read"]
    assert [r.is_error for r in results] == [True, False, True, True]
    assert "read" in results[0].text
    assert "declared" in results[0].text


async def test_an_unknown_tool_lists_twenty_names_of_twenty_five() -> None:
    tools = [tool(f"tool_{n:02}") for n in range(25)]
    [result] = await run([call("nope")], tools)
    assert sum(f"tool_{n:02}" in result.text for n in range(25)) == 20
    assert "5 more" in result.text


async def test_an_unknown_tool_without_any_registered_says_so() -> None:
    [result] = await run([call("nope")], [])
    assert "No tools are available" in result.text


@pytest.mark.parametrize(
    "arguments",
    [
        {"tool_uses": [{"recipient_name": "functions.shell", "parameters": {"text": "x"}}]},
        {"name": "shell", "arguments": {"text": "x"}},
        {"tool": "shell", "input": {"text": "x"}},
        {"text": {"name": "shell", "arguments": {"text": "x"}}},
    ],
)
@pytest.mark.parametrize("name", ["echo", "multi_tool_use.parallel", "functions.shell"])
async def test_wrapper_shapes_never_reach_a_child(name: str, arguments: dict[str, Any]) -> None:
    ran: list[Any] = []
    tools = [
        tool("echo", lambda p, s: ran.append(p) or "ok", parameters={**ECHO, "additionalProperties": False}),
        tool("shell", lambda p, s: ran.append(p) or "ok", parameters=ECHO),
    ]
    [result] = await run([ToolCall(id="1", name=name, arguments=arguments)], tools)
    assert result.is_error
    assert ran == []


async def test_a_tool_whose_own_schema_takes_a_wrapper_shape_simply_gets_it() -> None:
    shape = {"name": "shell", "arguments": {"text": "x"}}
    got: list[Any] = []
    await run(
        [ToolCall(id="1", name="any", arguments=shape)], [tool("any", lambda p, s: got.append(p) or "")]
    )
    assert got == [shape]


async def test_broken_json_is_answered_and_not_run() -> None:
    ran: list[Any] = []
    broken = ToolCall(id="1", name="echo", arguments={}, fault="not a JSON object: [1")
    [result] = await run([broken], [tool("echo", lambda p, s: ran.append(p) or "")])
    assert result.is_error
    assert "[1" in result.text
    assert ran == []


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ToolError("no such file: try list_files"), "no such file: try list_files"),
        (ValueError("odd"), "odd"),
        (KeyError(), "KeyError"),
        (SystemExit(3), "exit"),
        (StopIteration(), "StopIteration"),
    ],
)
@pytest.mark.parametrize("sync", [True, False])
async def test_an_exception_is_a_result_without_a_traceback(
    error: BaseException, words: str, sync: bool
) -> None:
    def fail(parameters: Any, signal: Any) -> str:
        raise error

    async def fail_async(parameters: Any, signal: Any) -> str:
        raise error

    [result] = await run([call("t")], [tool("t", fail if sync else fail_async)])
    assert result.is_error
    assert words in result.text or isinstance(error, SystemExit | StopIteration)
    assert "Traceback" not in result.text


@pytest.mark.parametrize("value", [None, 3, b"x", {"a": 1}, ["text"], object(), ToolOutput(None)])  # type: ignore[arg-type]
async def test_odd_return_values_are_error_results(value: Any) -> None:
    [result] = await run([call("t")], [tool("t", lambda p, s: value)])
    assert result.is_error
    assert "returned" in result.text


@pytest.mark.parametrize("value", ["", "  \n", [], [TextContent(text="")]])
async def test_an_empty_answer_has_words(value: Any) -> None:
    [result] = await run([call("t")], [tool("t", lambda p, s: value)])
    assert (result.is_error, result.text) == (False, "(no output)")


async def test_images_and_text_go_through() -> None:
    blocks = [TextContent(text="a"), ImageContent(data="aGk=", media_type="image/png")]
    [result] = await run([call("t")], [tool("t", lambda p, s: blocks)])
    assert list(result.content) == blocks


async def test_nul_and_lone_surrogates_never_enter_a_result() -> None:
    def bad(parameters: Any, signal: Any) -> str:
        return "a\0b\ud800c"

    def worse(parameters: Any, signal: Any) -> str:
        raise ValueError("x\0\udcff")

    for result in await run([call("bad", "1"), call("worse", "2")], [tool("bad", bad), tool("worse", worse)]):
        assert "\0" not in result.text
        result.model_dump_json().encode("utf-8")


async def test_a_huge_result_is_capped_on_entry() -> None:
    [result] = await run([call("t")], [tool("t", lambda p, s: "x" * 3_000_000 + "END")])
    assert len(result.text) < 250_000
    assert result.text.endswith("END")
    assert "left out" in result.text


async def test_a_sync_tool_runs_in_a_daemon_thread_with_its_call_id() -> None:
    seen: list[Any] = []

    def work(parameters: Any, signal: Any) -> str:
        thread = threading.current_thread()
        seen.append((thread is threading.main_thread(), thread.daemon, current_call_id()))
        return "ok"

    await run([call("t", "abc")], [tool("t", work)])
    assert seen == [(False, True, "abc")]


class Answers:
    """A gate with prepared answers; `asked` is what it saw."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[list[str]] = []

    async def decide(self, batch: Any, signal: Any) -> Any:
        self.asked.append([pending.call.id for pending in batch])
        return [
            answer(pending) if callable(answer) else answer
            for pending, answer in zip(batch, [self.answers.pop(0) for _ in batch], strict=True)
        ]


def allow(pending: Pending) -> Allow:
    return Allow(pending.proposal)


async def test_a_declined_call_is_answered_with_the_reason_and_the_next_one_runs() -> None:
    gate = Answers(Deny("use the other file"), Deny(), allow)
    recorder = Recorder()
    results = await run([call("t", n) for n in "123"], [tool("t")], gate=gate, emit=recorder)
    assert [r.is_error for r in results] == [True, True, False]
    assert results[0].text == "the user declined this call: use the other file"
    assert results[1].text == "the user declined this call"
    assert [event.decision for event in recorder.of("approval_decided")] == ["deny", "deny", "allow"]


async def test_a_gate_that_raises_or_answers_too_little_allows_nothing() -> None:
    ran: list[Any] = []
    spy = tool("t", lambda p, s: ran.append(p) or "")

    class Broken:
        async def decide(self, batch: Any, signal: Any) -> Any:
            raise RuntimeError("no screen")

    class Short:
        async def decide(self, batch: Any, signal: Any) -> Any:
            return []

    for gate in (Broken(), Short()):
        [result] = await run([call("t")], [spy], gate=gate)
        assert result.is_error
    assert ran == []


async def test_a_comment_goes_to_the_model_with_the_result() -> None:
    gate = Answers(lambda pending: Allow(pending.proposal, comment="name it better"))
    [result] = await run([call("t", text="ok")], [tool("t")], gate=gate)
    assert "ok" in result.text
    assert "name it better" in result.text


class Notebook:
    """A tool of kind write with lines as its world: `put` appends `line` if the base is what was shown."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def tool(self) -> AgentTool:
        def prepare(parameters: Any, signal: Any) -> Proposal:
            base = len(self.lines) + len(earlier_proposals())
            line = parameters["line"]

            async def run(signal: Any) -> str:
                if len(self.lines) != base:
                    raise StaleProposal("changed")
                self.lines.append(line)
                return f"line {base}: {line}"

            title = f"{base}: {line}" if parameters.get("numbered") else line
            return Proposal(title, "write", (line,), None, run)

        return tool("put", kind="write", prepare=prepare, execute=lambda p, s: "never")


async def test_neighbouring_writes_are_shown_together_and_run_one_by_one() -> None:
    book, gate = Notebook(), Answers(allow, allow, allow, allow)
    tools = [book.tool(), tool("look", kind="read")]
    calls = [
        call("put", "1", line="a"),
        call("put", "2", line="b"),
        call("look", "3"),
        call("put", "4", line="c"),
    ]
    results = await run(calls, tools, gate=gate)
    assert gate.asked == [["1", "2"], ["3"], ["4"]]
    assert book.lines == ["a", "b", "c"]
    assert not any(r.is_error for r in results)


async def test_after_a_declined_neighbour_the_same_proposal_runs_without_asking_again() -> None:
    book, gate = Notebook(), Answers(Deny(), allow)
    results = await run([call("put", "1", line="a"), call("put", "2", line="b")], [book.tool()], gate=gate)
    assert gate.asked == [["1", "2"]]
    assert book.lines == ["b"]
    assert [r.is_error for r in results] == [True, False]


async def test_after_a_declined_neighbour_another_proposal_is_asked_again() -> None:
    book, gate = Notebook(), Answers(Deny(), allow, Deny("not there"))
    calls = [call("put", "1", line="a", numbered=True), call("put", "2", line="b", numbered=True)]
    results = await run(calls, [book.tool()], gate=gate)
    assert gate.asked == [["1", "2"], ["2"]]
    assert book.lines == []
    assert "not there" in results[1].text


async def test_a_proposal_that_stays_stale_ends_as_an_error() -> None:
    def prepare(parameters: Any, signal: Any) -> Proposal:
        async def run(signal: Any) -> str:
            raise StaleProposal("changed again")

        return Proposal("t", "write", (), None, run)

    [result] = await run([call("t")], [tool("t", prepare=prepare, kind="write")])
    assert result.is_error
    assert "kept changing" in result.text


async def test_a_cancel_before_a_call_answers_it_as_not_run() -> None:
    signal, ran = CancelSignal(), []

    def first(parameters: Any, signal_: Any) -> str:
        signal.cancel()
        return "finished anyway"

    tools, recorder = [tool("first", first), tool("second", lambda p, s: ran.append(1) or "")], Recorder()
    results = await run([call("first", "1"), call("second", "2")], tools, signal=signal, emit=recorder)
    assert [event.skipped for event in recorder.of("tool_call_finished")] == [False, True]
    assert results[0].text == "finished anyway"
    assert not results[0].is_error
    assert "not run" in results[1].text
    assert ran == []


async def test_a_tool_that_stops_at_the_signal_is_told_as_interrupted_with_its_output() -> None:
    signal = CancelSignal()

    async def work(parameters: Any, mine: CancelSignal) -> str:
        signal.cancel()
        raise Cancelled(mine.reason or "", output="half a line")

    [result] = await run([call("t")], [tool("t", work)], signal=signal)
    assert result.is_error
    assert "interrupted" in result.text
    assert "may have run in part" in result.text
    assert "half a line" in result.text


async def test_a_cancel_during_the_approval_runs_nothing() -> None:
    signal, ran = CancelSignal(), []

    class Waits:
        async def decide(self, batch: Any, mine: CancelSignal) -> Any:
            signal.cancel()
            await asyncio.sleep(60)

    spy = tool("t", lambda p, s: ran.append(1) or "")
    [result] = await asyncio.wait_for(run([call("t")], [spy], signal=signal, gate=Waits()), 10)
    assert result.is_error
    assert "cancelled" in result.text
    assert ran == []


async def test_a_tool_that_ignores_the_signal_is_awaited() -> None:
    signal, release = CancelSignal(), threading.Event()

    def stubborn(parameters: Any, mine: Any) -> str:
        signal.cancel()
        release.wait(10)
        return "done after all"

    task = asyncio.create_task(run([call("t")], [tool("t", stubborn)], signal=signal))
    await signal.wait()
    assert not task.done()
    release.set()
    [result] = await asyncio.wait_for(task, 10)
    assert result.text == "done after all"


async def test_a_cancel_from_within_a_tool_is_its_failure_alone() -> None:
    async def leaks(parameters: Any, signal: Any) -> str:
        raise asyncio.CancelledError

    results = await run(
        [call("leaks", "1"), call("echo", "2", text="ok")], [tool("leaks", leaks), tool("echo")]
    )
    assert [r.is_error for r in results] == [True, False]


async def test_every_call_is_told_as_started_and_finished_in_order() -> None:
    recorder = Recorder()
    await run([call("a", "1"), call("nope", "2")], [tool("a")], emit=recorder)
    assert [(e.type, getattr(e, "call", None) and e.call.id) for e in recorder.events] == [
        ("tool_call_started", "1"),
        ("tool_call_finished", None),
        ("tool_call_started", "2"),
        ("tool_call_finished", None),
    ]
