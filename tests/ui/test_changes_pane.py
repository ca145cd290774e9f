from __future__ import annotations

from contextlib import suppress
from typing import Any

from textual.app import App, ComposeResult
from textual.worker import WorkerCancelled

from tui_agent.agent import FileChanged, TextContent, ToolCallFinished, ToolResultMessage
from tui_agent.tools.changes import file_change
from tui_agent.tools.details import FileChange, digest
from tui_agent.ui.file_changes import FileChanges
from tui_agent.ui.panes.changes import Changes
from tui_agent.ui.widgets.diff_view import DiffView
from tui_agent.ui.widgets.strips import text_of


def done(change: Any, *, error: bool = False) -> ToolCallFinished:
    result = ToolResultMessage(
        tool_call_id="a",
        tool_name="edit_file",
        content=(TextContent(text="edited"),),
        is_error=error,
        details=change,
    )
    return ToolCallFinished(result=result, seconds=0.1)


class Host(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.pane = Changes(id="changes")

    def compose(self) -> ComposeResult:
        yield self.pane

    async def settle(self, pilot: Any) -> None:
        for worker in list(self.workers):
            with suppress(WorkerCancelled):  # another file was selected meanwhile
                await worker.wait()
        await pilot.pause()

    @property
    def files(self) -> list[str]:
        view = self.pane.list
        return [" ".join(text_of(view.row_strip(y, 40)).split()) for y in range(view.row_count)]

    @property
    def diff(self) -> str:
        view = self.pane.query_one(DiffView)
        return "\n".join(text_of(view.row_strip(y, 60)).rstrip() for y in range(view.row_count))


# The fold


def test_steps_on_one_file_are_shown_as_one_change_from_its_first_bytes() -> None:
    changes = FileChanges()
    changes.apply(done(file_change("a.py", b"1\n2\n", b"1\nX\n")))
    changes.apply(done(file_change("a.py", b"1\nX\n", b"1\nX\n3\n")))
    file = changes.files["a.py"]
    whole = file.whole()
    assert (whole.before, whole.after) == (b"1\n2\n", b"1\nX\n3\n")
    assert (file.added, file.removed) == (2, 1)


def test_a_change_that_failed_is_none() -> None:
    changes = FileChanges()
    assert not changes.apply(done(file_change("a.py", b"1\n", b"2\n"), error=True))
    assert not changes.apply(done(None))
    assert changes.files == {}


def test_a_file_that_is_again_as_it_was_leaves_the_list() -> None:
    changes = FileChanges()
    changes.apply(done(file_change("a.py", b"1\n", b"2\n")))
    changes.apply(FileChanged(path="a.py", before=digest(b"2\n"), after=digest(b"1\n")))
    assert changes.files == {}


def test_a_reopened_session_shows_what_it_stored() -> None:
    stored = file_change("a.py", b"1\n", b"2\n").model_dump(mode="json")
    assert "before" not in stored
    changes = FileChanges()
    assert changes.apply(done(stored))
    assert changes.apply(done({**stored, "before_hash": "0", "added": 5}))
    whole = changes.files["a.py"].whole()
    assert isinstance(whole, FileChange)
    assert (whole.added, whole.before) == (5, None)


# The pane


async def test_files_with_counts_and_the_diff_of_the_selected_one() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        app = pilot.app
        app.pane.apply(done(file_change("src/a.py", b"1\n", b"one\n")))
        app.pane.apply(done(file_change("b.py", None, b"new\n")))
        await app.settle(pilot)
        assert app.files == ["› src/a.py +1 -1", "b.py +1 -0"]
        assert "one" in app.diff
        app.pane.list.focus()
        await pilot.press("down")
        await app.settle(pilot)
        assert app.files[1].startswith("› b.py")
        assert "new" in app.diff
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.focused, DiffView)


async def test_an_empty_pane_says_so_and_clear_empties() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        app = pilot.app
        assert app.pane.count == 0
        app.pane.apply(done(file_change("a.py", b"1\n", b"2\n")))
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
        path = "d/" * 100 + "[/b]\x1b[2J.py"
        app.pane.apply(done(file_change(path, b"1\n", b"2\n")))
        await app.settle(pilot)
        assert app.files[0].endswith("[/b]␛[2J.py +1 -1")
