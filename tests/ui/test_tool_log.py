from __future__ import annotations

import time
from typing import Any

import app_host
import pytest
from grid import grid
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
    TurnStarted,
)
from tui_agent.tools.changes import file_change
from tui_agent.tools.details import CommandResult, FileChange
from tui_agent.tools.process import Ended
from tui_agent.ui.calls import Calls
from tui_agent.ui.messages import ShowChange, StopCall, StopJob
from tui_agent.ui.panes import call_rows
from tui_agent.ui.panes.call_filter import CallFilter
from tui_agent.ui.panes.tool_log import ToolLog
from tui_agent.ui.screens.change import ChangeScreen
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
        self.changes: list[FileChange] = []

    def compose(self) -> ComposeResult:
        yield self.log_pane

    def on_stop_call(self, message: StopCall) -> None:
        self.stopped.append(message.call_id)

    def on_stop_job(self, message: StopJob) -> None:
        self.stopped.append(message.job_id)

    def on_show_change(self, message: ShowChange) -> None:
        self.changes.append(message.change)

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


async def shown(pilot: Any, *parts: str) -> str:
    """The screen, once all of `parts` are on it."""
    for _ in range(300):
        await pilot.pause(0.01)
        if all(part in grid(pilot.app) for part in parts):
            break
    text = grid(pilot.app)
    assert all(part in text for part in parts), text
    return text


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


RUNNING = started("b", "run_command", command="sleep 9")


@pytest.mark.parametrize("yes", ["x", "enter"])
async def test_x_says_what_it_would_stop_and_a_second_key_does(yes: str) -> None:
    async with Host().run_test(size=(70, 12)) as pilot:
        await pilot.app.take(pilot, started("a", path="x"), finished("a"), RUNNING)
        pilot.app.log_pane.list.focus()
        await pilot.press("home", "x")
        assert not any("?" in row for row in pilot.app.rows)
        await pilot.press("end", "x")
        assert "stop run_command sleep 9?" in pilot.app.rows[2]
        assert pilot.app.stopped == []
        await pilot.press(yes)
        assert pilot.app.stopped == ["b"]
        assert len(pilot.app.rows) == 2
        await pilot.press("x", "x")
        assert pilot.app.stopped == ["b"]
        rows = await pilot.app.take(pilot, finished("b", "stopped by the user after 2 s", error=True))
        assert rows[1].startswith("■ stopped")
        assert len(rows) == 2  # what the person stopped did not fail


@pytest.mark.parametrize("no", ["n", "space", "up", "tab"])
async def test_any_other_key_is_a_no(no: str) -> None:
    async with Host().run_test(size=(70, 12)) as pilot:
        await pilot.app.take(pilot, started("a", path="x"), finished("a"), RUNNING)
        pilot.app.log_pane.list.focus()
        await pilot.press("end", "x", no)
        assert not any("stop run_command" in row for row in pilot.app.rows)
        assert pilot.app.stopped == []


async def test_the_question_goes_when_its_call_has_ended() -> None:
    async with Host().run_test(size=(70, 12)) as pilot:
        await pilot.app.take(pilot, RUNNING)
        pilot.app.log_pane.list.focus()
        await pilot.press("x")
        assert len(await pilot.app.take(pilot, finished("b"))) == 1
        await pilot.press("enter")
        assert pilot.app.stopped == []
        assert pilot.app.log_pane.close_field() is False


async def test_escape_takes_the_question_back_and_does_no_more() -> None:
    async with Host().run_test(size=(70, 12)) as pilot:
        await pilot.app.take(pilot, RUNNING)
        pilot.app.log_pane.list.focus()
        await pilot.press("x")
        assert pilot.app.log_pane.close_field() is True
        assert len(pilot.app.rows) == 1
        await pilot.press("enter")
        assert pilot.app.stopped == []


# Background commands


class FakeJob:
    """Only what the log asks of a job."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.ended: Ended | None = None
        self.output = ""

    @property
    def running(self) -> bool:
        return self.ended is None

    def latest(self) -> str:
        return self.output


def in_background(call_id: str, job: str) -> list[AgentEvent]:
    details = CommandResult(command="serve", ended="in the background", job=job)
    return [
        started(call_id, "run_command", command="serve"),
        finished(call_id, f"started as {job}", details=details),
    ]


@pytest.mark.parametrize(
    ("how", "code", "state"),
    [("exited", 0, "done"), ("exited", 3, "failed"), ("stopped", None, "stopped"), ("exited", -9, "failed")],
)
async def test_a_background_command_is_followed_to_its_end(how: Any, code: int | None, state: str) -> None:
    async with Host().run_test(size=(80, 12)) as pilot:
        log, job = pilot.app.log_pane, FakeJob("job-1")
        log.jobs = lambda: [job]
        rows = await pilot.app.take(pilot, *in_background("a", "job-1"))
        assert rows[0].startswith("& job      run_command serve")
        assert "job-1" in rows[0]
        assert "1 job" in str(log._title.render())
        job.output = "listening\n"
        log.look_at_jobs()
        assert "listening" in (await pilot.app.take(pilot))[1]
        job.ended = Ended(how, code, 4.0)
        log.look_at_jobs()
        rows = await pilot.app.take(pilot)
        assert rows[0].split()[1] == state
        assert "4.0 s" in rows[0]
        assert "listening" not in "".join(rows)
        assert "job" not in str(log._title.render())


async def test_x_ends_a_background_command_after_asking() -> None:
    async with Host().run_test(size=(80, 12)) as pilot:
        log, job = pilot.app.log_pane, FakeJob("job-1")
        log.jobs = lambda: [job]
        await pilot.app.take(pilot, *in_background("a", "job-1"))
        log.list.focus()
        await pilot.press("x")
        assert "end job-1 serve?" in pilot.app.rows[1]
        await pilot.press("x")
        assert pilot.app.stopped == ["job-1"]


async def test_a_job_that_ended_before_its_call_did_is_seen_to_have_ended() -> None:
    async with Host().run_test(size=(80, 12)) as pilot:
        log, job = pilot.app.log_pane, FakeJob("job-1")
        log.jobs = lambda: [job]
        job.ended = Ended("exited", 0, 0.1)
        log.look_at_jobs()
        await pilot.app.take(pilot, *in_background("a", "job-1"))
        for _ in range(300):
            if pilot.app.rows[0].startswith("✓ done"):
                break
            await pilot.pause(0.01)
        assert pilot.app.rows[0].startswith("✓ done")


async def test_jobs_of_an_earlier_run_of_the_program_are_over() -> None:
    async with Host().run_test(size=(80, 12)) as pilot:
        log, job = pilot.app.log_pane, FakeJob("job-1")
        await pilot.app.take(pilot, *in_background("old", "job-1"))
        log.end_jobs()
        log.jobs = lambda: [job]
        rows = await pilot.app.take(pilot, *in_background("new", "job-1"))
        assert [row.split()[1] for row in rows] == ["stopped", "job"]


def test_reading_a_job_is_a_call_that_is_done() -> None:
    details = CommandResult(command="serve", ended="stopped", job="job-1")
    calls = fold(started("a", "job", id="job-1", action="stop"), finished("a", "stopped", details=details))
    assert calls.all[0].state == "done"


def test_a_replayed_end_is_the_end_that_was() -> None:
    details = CommandResult(command="make", ended="stopped").model_dump()
    calls = fold(started("a", "run_command", command="make"), finished("a", error=True, details=details))
    assert calls.all[0].state == "stopped"


# Looking closer


async def test_a_call_is_copied_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMUX", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    async with Host().run_test(size=(60, 12)) as pilot:
        await pilot.app.take(pilot, started("a", path="x.py", limit=5), finished("a", "line one\n  line two"))
        pilot.app.log_pane.list.focus()
        await pilot.press("y")
        await pilot.pause()
        assert pilot.app.clipboard == "read_file\npath: x.py\nlimit: 5\n\nline one\n  line two"


@pytest.mark.parametrize("replayed", [False, True])
async def test_d_shows_the_diff_again(replayed: bool) -> None:
    change = file_change("a.py", b"a\nb\n", b"a\nc\n")
    details = change.model_dump(mode="json") if replayed else change
    async with Host().run_test(size=(80, 12)) as pilot:
        app = pilot.app
        await app.take(
            pilot,
            started("r", path="x"),
            finished("r"),
            started("a", "edit_file", path="a.py"),
            finished("a", "edited", details=details),
        )
        app.log_pane.list.focus()
        await pilot.press("home", "d")
        assert app.changes == []
        await pilot.press("end", "d")
        assert [each.path for each in app.changes] == ["a.py"]
        assert app.changes[0].after is None  # the log keeps no bytes of files
        kept = {change.before_hash: change.before, change.after_hash: change.after}
        for contents in (kept.get, lambda _: None):
            app.push_screen(ChangeScreen(app.changes[0], contents))
            await shown(pilot, "- b", "+ c", "a.py", "+1 -1")
            await pilot.press("slash", *"c", "enter", "escape", "escape")
            await pilot.pause()
            assert not isinstance(app.screen, ChangeScreen)


async def test_a_declined_change_can_be_read_again() -> None:
    change = file_change("a.py", b"a\n", b"b\n")
    call = ToolCall(id="a", name="edit_file", arguments={"path": "a.py"})
    calls = fold(
        ToolCallStarted(call=call, kind="write", details=change),
        ApprovalDecided(call_id="a", decision="deny", by="user"),
        finished("a", "the user declined this call", error=True),
    )
    kept = call_rows.change_of(calls.all[0])
    assert kept is not None
    assert "+b" in kept.diff
    rows = "\n".join("".join(text for text, _ in row) for row in call_rows.body(calls.all[0], 80))
    assert "the user declined" in rows


async def test_values_of_a_secret_file_are_in_no_row_no_copy_and_no_diff() -> None:
    change = file_change(".env", b"KEY=hunter1\n", b"KEY=hunter2\n")
    arguments = {"path": ".env", "old": "KEY=hunter1", "new": "KEY=hunter2"}
    calls = fold(started("a", "edit_file", **arguments), finished("a", "hunter2", details=change))
    calls.apply(started("b", "read_file", path=".env"))
    calls.apply(finished("b", "1 KEY=hunter2"))
    for call in calls.all:
        rows = "\n".join("".join(text for text, _ in row) for row in call_rows.body(call, 80))
        assert ".env" in rows
        assert "hunter" not in rows + call_rows.copied(call)
    async with Host().run_test(size=(80, 12)) as pilot:
        kept = {change.before_hash: change.before, change.after_hash: change.after}
        pilot.app.push_screen(ChangeScreen(change, kept.get))
        text = await shown(pilot, "Values are hidden", "KEY=[hidden 2]")
        assert "hunter" not in text


async def test_e_opens_all_and_folds_them_again() -> None:
    async with Host().run_test(size=(60, 20)) as pilot:
        await pilot.app.take(pilot, *(e for i in "ab" for e in (started(i, path=f"{i}.py"), finished(i))))
        pilot.app.log_pane.list.focus()
        await pilot.press("e")
        assert sum("path" in row for row in pilot.app.rows) == 2
        await pilot.press("e")
        assert len(pilot.app.rows) == 2


@pytest.mark.parametrize("width", [40, 50, 78])
def test_who_allowed_it_and_its_size_show_where_the_argument_has_room(width: int) -> None:
    call = fold(
        started("a", path="src/app.py"),
        ApprovalDecided(call_id="a", decision="allow", by="rule"),
        finished("a", "x" * 2000),
    ).all[0]
    text = "".join(part for part, _ in call_rows.line(call, width))
    assert len(text) == width
    assert "src/app.py" in text
    assert text.endswith("40 ms")
    assert ("by rule" in text) == (width > 40)
    assert ("2.0 KB" in text) == (width > 50)


async def test_a_large_write_says_what_and_how_much_while_it_comes() -> None:
    async with Host().run_test(size=(60, 12)) as pilot:
        rows = await pilot.app.take(
            pilot, ToolCallProgress(call_id="a", name="write_file", bytes=48_000, subject="src/big.py")
        )
        assert rows[0].split() == ["…", "writing", "write_file", "src/big.py", "48", "KB"]


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


async def test_l_goes_to_the_call_in_the_conversation_and_back_also_where_ids_come_again() -> None:
    stored: list[AgentEvent] = []
    for path in ("first.py", "second.py"):
        stored += [
            TurnStarted(prompt=(TextContent(text=f"about {path} " + "word " * 200),)),
            started("call_0", path=path),
            finished("call_0", f"text of {path}"),
            TurnEnded(stop_reason="end_turn"),
        ]
    async with app_host.Host(stored=stored, resume="last").run_test(size=(80, 24)) as pilot:
        app = pilot.app
        await app_host.until(pilot, lambda: app.main.tool_log.list.row_count == 2)
        await pilot.press("f3", "home", "l")
        await app_host.until(pilot, lambda: app.main.current_pane == "conversation")
        assert "▌ ✓ read_file first.py" in app.text
        await pilot.press("l")
        await app_host.until(pilot, lambda: app.main.current_pane == "tool_log")
        assert "text of first.py" in app.text
        assert app.main.tool_log.list.current.subject == "first.py"
