from __future__ import annotations

from contextlib import suppress
from typing import Any

from textual.app import App, ComposeResult
from textual.worker import WorkerCancelled

from tui_agent.agent import (
    AgentEvent,
    FileChanged,
    TextContent,
    ToolCall,
    ToolCallFinished,
    ToolCallStarted,
    ToolResultMessage,
    TurnEnded,
    TurnStarted,
)
from tui_agent.agent.events import UNKNOWN
from tui_agent.tools.changes import file_change
from tui_agent.tools.details import digest
from tui_agent.ui.file_changes import FileChanges
from tui_agent.ui.messages import UndoWanted
from tui_agent.ui.panes.changes import Changes
from tui_agent.ui.widgets.diff_view import DiffView
from tui_agent.ui.widgets.strips import text_of

TURN = TurnStarted(prompt=(TextContent(text="go"),))


class Events:
    """Makes the events of calls, and holds the contents that they are about."""

    def __init__(self) -> None:
        self.held: dict[str | None, bytes] = {}
        self.calls = 0

    def content(self, content_hash: str | None) -> bytes | None:
        return self.held.get(content_hash)

    def change(
        self, path: str, before: bytes | None, after: bytes | None, *, held: bool = True, undo: str = ""
    ) -> list[AgentEvent]:
        if held:
            self.held |= {digest(data): data for data in (before, after) if data is not None}
        self.calls += 1
        id = undo or f"c{self.calls}"
        changed = FileChanged(path=path, before=digest(before), after=digest(after), call_id=id)
        if undo:
            return [changed]
        details = file_change(path, before, after)
        result = ToolResultMessage(
            tool_call_id=id, tool_name="edit_file", content=(TextContent(text="edited"),), details=details
        )
        call = ToolCall(id=id, name="edit_file", arguments={"path": path})
        return [
            ToolCallStarted(call=call, kind="write", title=path),
            ToolCallFinished(result=result, seconds=0.1),
            changed,
        ]


class Host(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.pane = Changes(id="changes")
        self.events = Events()
        self.pane.content = self.events.content
        self.wanted: list[UndoWanted] = []

    def compose(self) -> ComposeResult:
        yield self.pane

    def on_undo_wanted(self, message: UndoWanted) -> None:
        self.wanted.append(message)

    def show(self, *events: AgentEvent) -> None:
        for event in events:
            self.pane.apply(event)

    async def settle(self, pilot: Any) -> None:
        await pilot.pause()
        for worker in list(self.workers):
            with suppress(WorkerCancelled):  # another file was selected meanwhile
                await worker.wait()
        await pilot.pause()

    @property
    def files(self) -> list[str]:
        view = self.pane.list
        return [" ".join(text_of(view.row_strip(y, 50)).split()) for y in range(view.row_count)]

    @property
    def diff(self) -> str:
        view = self.pane.query_one(DiffView)
        return "\n".join(text_of(view.row_strip(y, 60)).rstrip() for y in range(view.row_count))


# The fold


def folded(*events: AgentEvent) -> FileChanges:
    changes = FileChanges()
    for event in events:
        changes.apply(event)
    return changes


def test_steps_on_one_file_are_one_change_from_its_first_bytes() -> None:
    events = Events()
    changes = folded(
        TURN,
        *events.change("a.py", b"1\n2\n", b"1\nX\n"),
        TURN,
        *events.change("a.py", b"1\nX\n", b"1\nX\n3\n"),
    )
    (file,) = changes.files
    whole = changes.whole(file, events.content)
    assert whole is not None
    assert (whole.before, whole.after) == (b"1\n2\n", b"1\nX\n3\n")
    assert file.origin == "turn 2 edit_file"
    changes.since_turn = True
    (file,) = changes.files
    whole = changes.whole(file, events.content)
    assert whole is not None
    assert whole.before == b"1\nX\n"
    changes.apply(TURN)
    assert changes.files == []


def test_a_file_that_is_again_as_it_was_leaves_the_list() -> None:
    events = Events()
    changes = folded(TURN, *events.change("a.py", b"1\n", b"2\n"))
    for event in events.change("a.py", b"2\n", b"1\n", undo="undo-1"):
        changes.apply(event)
    assert changes.files == []
    assert changes.written(1) == []


def test_contents_that_are_not_held_are_shown_as_their_call_told_them() -> None:
    events = Events()
    changes = folded(TURN, *events.change("a.py", b"1\n", b"2\n", held=False))
    (file,) = changes.files
    told = changes.whole(file, events.content)
    assert told is not None
    assert (told.added, told.before) == (1, None)
    assert "+2" in told.diff


# The pane


async def test_files_with_counts_origin_and_the_diff_of_the_selected_one() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        app = pilot.app
        app.show(TURN, *app.events.change("src/a.py", b"1\n", b"one\n"))
        app.show(*app.events.change("b.py", None, b"new\n"))
        await app.settle(pilot)
        assert app.files == ["› src/a.py turn 1 edit_file +1 -1", "b.py turn 1 edit_file +1 -0"]
        assert "one" in app.diff
        app.pane.list.focus()
        await pilot.press("down")
        await app.settle(pilot)
        assert app.files[1].startswith("› b.py")
        assert "new" in app.diff
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.focused, DiffView)


async def test_the_selection_stays_on_its_file_when_others_come_and_go() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        app = pilot.app
        app.show(TURN, *app.events.change("a", b"1\n", b"2\n"), *app.events.change("b", b"3\n", b"4\n"))
        await app.settle(pilot)
        app.pane.list.move_to(1)
        app.show(*app.events.change("a", b"2\n", b"1\n", undo="undo-1"))
        await app.settle(pilot)
        assert app.files == ["› b turn 1 edit_file +1 -1"]
        assert "4" in app.diff


async def test_b_compares_with_the_latest_turn_and_back() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        app = pilot.app
        app.show(
            TURN, *app.events.change("a", b"1\n", b"2\n"), TURN, *app.events.change("b", None, b"x\ny\n")
        )
        await app.settle(pilot)
        app.pane.list.focus()
        await pilot.press("b")
        await app.settle(pilot)
        assert app.files == ["› b turn 2 edit_file +2 -0"]
        assert "1 file since the latest turn began" in app.pane.query_one(".pane-title").render().plain
        app.show(TURN)
        await app.settle(pilot)
        assert app.files == []
        assert app.pane.query_one(".empty").render().plain == "No file changed in the latest turn."
        app.pane.action_since()
        await app.settle(pilot)
        assert len(app.files) == 2


async def test_u_asks_for_the_file_and_in_the_diff_for_the_hunk() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        app = pilot.app
        app.show(TURN, *app.events.change("a", b"1\n", b"2\n"))
        await app.settle(pilot)
        app.pane.list.focus()
        await pilot.press("u")
        await pilot.press("enter")
        await pilot.press("u")
        await pilot.pause()
        assert [(wanted.file.path, len(wanted.hunk)) for wanted in app.wanted] == [("a", 0), ("a", 2)]


async def test_a_file_of_unknown_content_says_so() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        app = pilot.app
        call = ToolCall(id="c", name="run_command", arguments={})
        app.show(TURN, ToolCallStarted(call=call, kind="execute"))
        app.show(FileChanged(path="a", before=UNKNOWN, after=UNKNOWN, call_id="c"))
        await app.settle(pilot)
        assert app.files == ["› a turn 1 run_command +? -?"]
        assert "Its earlier content is not held" in app.diff


async def test_a_stopped_turn_that_changed_files_says_how_to_take_them_back() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        app = pilot.app
        stopped = TurnEnded(stop_reason="cancelled")
        app.show(TURN)
        assert app.pane.left_by(stopped) == ""
        app.show(*app.events.change("a", b"1\n", b"2\n"))
        assert "changed a. /undo turn 1 takes it back" in app.pane.left_by(stopped)
        assert app.pane.left_by(TurnEnded(stop_reason="end_turn")) == ""


async def test_an_empty_pane_says_so_and_clear_empties() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        app = pilot.app
        assert app.pane.count == 0
        app.show(TURN, *app.events.change("a.py", b"1\n", b"2\n"))
        await app.settle(pilot)
        assert not app.pane.query_one(".empty").display
        app.pane.clear()
        await app.settle(pilot)
        assert app.pane.query_one(".empty").display
        assert app.files == []
        assert not app.pane.query_one(DiffView).display


async def test_a_path_of_any_shape_is_one_row() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        app = pilot.app
        app.show(TURN, *app.events.change("d/" * 100 + "[/b]\x1b[2J.py", b"1\n", b"2\n"))
        await app.settle(pilot)
        assert app.files[0].endswith("[/b]␛[2J.py +1 -1")
