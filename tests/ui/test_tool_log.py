from __future__ import annotations

import time
from typing import Any

import pytest
from textual.app import App, ComposeResult

from tui_agent.agent import (
    AgentEvent,
    ApprovalDecided,
    ApprovalRequested,
    TextContent,
    ToolCall,
    ToolCallFinished,
    ToolCallProgress,
    ToolCallStarted,
    ToolProgress,
    ToolResultMessage,
    TurnEnded,
)
from tui_agent.tools.changes import file_change
from tui_agent.ui.calls import Calls
from tui_agent.ui.messages import StopCall
from tui_agent.ui.panes import call_rows
from tui_agent.ui.panes.call_filter import CallFilter
from tui_agent.ui.panes.tool_log import ToolLog
from tui_agent.ui.widgets.strips import text_of


def started(call_id: str, name: str = "read_file", **arguments: Any) -> ToolCallStarted:
    return ToolCallStarted(call=ToolCall(id=call_id, name=name, arguments=arguments), kind="read")


def finished(
    call_id: str, text: str = "ok", *, error: bool = False, details: Any = None, seconds: float = 0.04
) -> ToolCallFinished:
    result = ToolResultMessage(
        tool_call_id=call_id,
        tool_name="read_file",
        content=(TextContent(text=text),),
        is_error=error,
        details=details,
    )
    return ToolCallFinished(result=result, seconds=seconds)


def fold(*events: AgentEvent) -> Calls:
    calls = Calls()
    for event in events:
        calls.apply(event)
    return calls


class Host(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.log_pane = ToolLog(id="tool_log")
        self.stopped: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.log_pane

    def on_stop_call(self, message: StopCall) -> None:
        self.stopped.append(message.call_id)

    async def take(self, pilot: Any, *events: AgentEvent) -> list[str]:
        for event in events:
            self.log_pane.apply(event)
        self.log_pane._show()
        await pilot.pause()
        return self.rows

    @property
    def rows(self) -> list[str]:
        view = self.log_pane.list
        return [text_of(view.row_strip(y, view.size.width)).rstrip() for y in range(view.row_count)]


# The fold


def test_states_of_a_call_from_the_first_byte_to_the_end() -> None:
    calls = fold(ToolCallProgress(call_id="a", name="write_file", bytes=12_000))
    call = calls.all[0]
    assert (call.state, call.about()) == ("writing", "12 KB")
    calls.apply(started("a", "write_file", path="src/x.py", content="…"))
    assert (call.state, call.subject) == ("running", "src/x.py")
    calls.apply(ApprovalRequested(call_id="a", title="Write src/x.py"))
    assert call.state == "asks"
    calls.apply(ApprovalDecided(call_id="a", decision="allow", by="user"))
    assert (call.state, call.by) == ("running", "you")
    calls.apply(finished("a"))
    assert call.state == "done"
    assert len(calls.all) == 1


def test_a_declined_call_is_not_a_failed_one() -> None:
    calls = fold(
        started("a", "run_command", command="rm x"),
        ApprovalDecided(call_id="a", decision="deny", by="user", reason="not now"),
        finished("a", "the user declined this call", error=True),
    )
    assert calls.all[0].state == "declined"
    assert "not now" in "".join(text for row in call_rows.body(calls.all[0], 80) for text, _ in row)


def test_calls_that_were_half_written_when_the_turn_ended_are_stopped() -> None:
    calls = fold(
        ToolCallProgress(call_id="a", name="write_file", bytes=9), TurnEnded(stop_reason="cancelled")
    )
    assert calls.all[0].state == "stopped"


def test_an_id_that_comes_again_in_a_later_reply_is_another_call() -> None:
    calls = fold(started("call_0", path="a"), finished("call_0"), started("call_0", path="b"))
    assert [call.subject for call in calls.all] == ["a", "b"]
    calls.apply(finished("call_0", error=True))
    assert [call.state for call in calls.all] == ["done", "failed"]


@pytest.mark.parametrize(
    ("arguments", "subject"),
    [
        ({"command": "ls", "timeout": 3}, "ls"),
        ({"path": "src", "pattern": "def "}, "def "),
        ({"path": "a.py", "content": "x"}, "a.py"),
        ({"city": "Oslo"}, "Oslo"),
        ({"count": 3}, ""),
        ({}, ""),
    ],
)
def test_the_subject_is_the_argument_that_a_call_is_about(arguments: dict[str, Any], subject: str) -> None:
    assert fold(started("a", "any", **arguments)).all[0].subject == subject


# The rows


@pytest.mark.parametrize("width", [30, 42, 60, 80, 120])
@pytest.mark.parametrize("path", ["a.py", "/very/long/" + "x" * 300, "日本語/ファイル.py", "a\nb\x1b[2J"])
def test_a_line_is_one_row_of_its_width_in_words(width: int, path: str) -> None:
    call = fold(started("a", path=path), finished("a")).all[0]
    row = call_rows.line(call, width)
    text = "".join(part for part, _ in row)
    assert text.startswith("✓ done")
    assert "\n" not in text
    assert "\x1b" not in text
    if width >= 42:
        assert "read_file" in text
        assert text.endswith("40 ms")


def test_a_long_value_is_capped_and_says_so() -> None:
    call = fold(started("a", content="x" * 60_000), finished("a")).all[0]
    text = "\n".join("".join(part for part, _ in row) for row in call_rows.body(call, 100))
    assert "10,000 characters more, not shown here" in text


def test_a_file_change_opens_to_its_diff() -> None:
    change = file_change("a.py", b"a\nb\n", b"a\nc\n")
    call = fold(started("a", "edit_file", path="a.py"), finished("a", "edited", details=change)).all[0]
    rows = call_rows.body(call, 80)
    styles = {"".join(part for part, _ in row).strip(): row[-1][1] for row in rows}
    assert styles["-b"] == "$text-error"
    assert styles["+c"] == "$text-success"


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.004, "4 ms"), (1.23, "1.2 s"), (48.4, "48 s"), (185.0, "3 min 5 s")]
)
def test_durations(seconds: float, shown: str) -> None:
    assert call_rows.duration(seconds) == shown


# The pane


async def test_one_line_a_call_in_order() -> None:
    async with Host().run_test(size=(60, 12)) as pilot:
        rows = await pilot.app.take(
            pilot, started("a", path="x.py"), finished("a"), started("b", "run_command", command="make test")
        )
        assert [row.split()[:4] for row in rows] == [
            ["✓", "done", "read_file", "x.py"],
            ["›", "running", "run_command", "make"],
        ]


async def test_enter_opens_to_arguments_and_result_and_folds_again() -> None:
    async with Host().run_test(size=(60, 12)) as pilot:
        await pilot.app.take(pilot, started("a", path="x.py", limit=5), finished("a", "line one\nline two"))
        pilot.app.log_pane.list.focus()
        await pilot.press("enter")
        shown = "\n".join(pilot.app.rows)
        for part in ("path x.py", "limit 5", "result", "line one", "line two"):
            assert part in shown
        await pilot.press("enter")
        assert len(pilot.app.rows) == 1


async def test_a_failed_call_opens_by_itself_and_others_do_not() -> None:
    async with Host().run_test(size=(60, 20)) as pilot:
        rows = await pilot.app.take(
            pilot,
            started("a", path="x.py"),
            finished("a", "fine"),
            started("b", path="y.py"),
            finished("b", "no such file", error=True),
        )
        assert "no such file" in "\n".join(rows)
        assert "fine" not in "\n".join(rows)


async def test_a_long_failure_opens_to_its_end_and_enter_shows_all() -> None:
    async with Host().run_test(size=(60, 30)) as pilot:
        output = "\n".join(f"line {n}" for n in range(40))
        rows = await pilot.app.take(
            pilot, started("a", "run_command", command="make"), finished("a", output, error=True)
        )
        assert len(rows) == 1 + call_rows.PEEK
        assert rows[1].split() == ["command", "make"]
        assert "Enter shows all" in rows[2]
        assert rows[-1].strip() == "line 39"
        pilot.app.log_pane.list.focus()
        await pilot.press("enter")
        assert [row.strip() for row in pilot.app.rows[-40:]] == output.split("\n")
        hidden = len(pilot.app.rows) - 1 - (call_rows.PEEK - 1)
        assert f"… {hidden} rows" in rows[2]
        await pilot.press("enter")
        assert len(pilot.app.rows) == 1


async def test_live_output_shows_its_last_lines_until_the_call_ends() -> None:
    async with Host().run_test(size=(60, 12)) as pilot:
        rows = await pilot.app.take(
            pilot,
            started("a", "run_command", command="make"),
            ToolProgress(call_id="a", text="one\ntwo\n"),
            ToolProgress(call_id="a", text="one\ntwo\nthree\nfo"),
            ToolProgress(call_id="a", text="one\ntwo\nthree\nfour\n\x1b[31mfive"),
        )
        assert [row.strip(" │") for row in rows[1:]] == ["three", "four", "five"]
        assert len(await pilot.app.take(pilot, finished("a"))) == 1


async def test_the_filter_keeps_what_matches_and_escape_of_it_shows_all() -> None:
    async with Host().run_test(size=(60, 12)) as pilot:
        events = [e for i in range(5) for e in (started(f"c{i}", path=f"f{i}.py"), finished(f"c{i}"))]
        await pilot.app.take(pilot, *events, started("z", "run_command", command="make f1"))
        pilot.app.log_pane.list.focus()
        await pilot.press("slash", *"F1 done")
        assert [row.split()[3] for row in pilot.app.rows] == ["f1.py"]
        await pilot.press("enter")
        assert pilot.app.focused is pilot.app.log_pane.list
        rows = await pilot.app.take(pilot, finished("z"), started("n", path="new.py"))
        assert len(rows) == 2  # the call that is done now matches, the new one does not
        assert pilot.app.log_pane.close_filter()
        await pilot.pause()
        assert len(pilot.app.rows) == 7
        assert not pilot.app.log_pane.close_filter()
        assert not pilot.app.log_pane.query_one(CallFilter).display


async def test_x_stops_a_running_call_and_only_such() -> None:
    async with Host().run_test(size=(60, 12)) as pilot:
        await pilot.app.take(
            pilot, started("a", path="x"), finished("a"), started("b", "run_command", command="sleep 9")
        )
        pilot.app.log_pane.list.focus()
        await pilot.press("home", "x")
        assert pilot.app.stopped == []
        await pilot.press("end", "x")
        assert pilot.app.stopped == ["b"]
        rows = await pilot.app.take(pilot, finished("b", "stopped by the user after 2 s", error=True))
        assert rows[1].startswith("■ stopped")
        assert len(rows) == 2  # what the person stopped did not fail


async def test_the_cursor_stays_on_its_call_while_others_come() -> None:
    async with Host().run_test(size=(60, 6)) as pilot:
        await pilot.app.take(pilot, *(e for i in range(20) for e in (started(f"{i}", path=f"p{i}"),)))
        pilot.app.log_pane.list.focus()
        await pilot.press("home", "down")
        current = pilot.app.log_pane.list.current
        await pilot.app.take(pilot, started("new", path="later"))
        assert pilot.app.log_pane.list.current is current
        assert pilot.app.log_pane.list.top == 0


async def test_events_reach_the_view_without_a_call_to_show_them() -> None:
    async with Host().run_test(size=(60, 6)) as pilot:
        pilot.app.log_pane.apply(started("a", path="x.py"))
        for _ in range(50):
            await pilot.pause(0.02)
            if pilot.app.rows:
                break
        assert "x.py" in pilot.app.rows[0]


async def test_ten_thousand_calls_stay_smooth() -> None:
    async with Host().run_test(size=(60, 20)) as pilot:
        events = [e for i in range(10_000) for e in (started(f"{i}", path=f"f{i}"), finished(f"{i}"))]
        await pilot.app.take(pilot, *events)
        pilot.app.log_pane.list.focus()
        begin = time.process_time()
        for i in range(100):
            for event in (started(f"n{i}", path="new"), finished(f"n{i}")):
                pilot.app.log_pane.apply(event)
                pilot.app.log_pane._show()
        each = (time.process_time() - begin) / 200
        assert each < 0.005
        assert pilot.app.log_pane.list.row_count == 10_100
