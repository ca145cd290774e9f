"""The sessions of this folder, or of all: go on with one, search them, give them names, throw them away.

Files are read in threads; what is typed into the search is looked for when the typing pauses.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import get_current_worker

from tui_agent.text import ago, plural, size_text
from tui_agent.ui import safe
from tui_agent.ui.screens.confirm import ConfirmScreen
from tui_agent.ui.screens.name import NameScreen
from tui_agent.ui.screens.picker import Picker, Words
from tui_agent.ui.threads import in_thread
from tui_agent.ui.widgets.row_list import Row

if TYPE_CHECKING:
    from tui_agent.session.index import Summary

PAUSE = 0.25
"""Seconds after a key before its words are searched for."""
_KEYS = "Enter  go on    /  search    r  rename    d  delete    {toggle}Escape  close"


class SessionsScreen(Picker["Summary"]):
    """`current` is the id of the session that is open here. `elsewhere`: other folders may be shown, too."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", show=False),
        Binding("r", "rename", show=False),
        Binding("d,delete", "delete", show=False),
        Binding("a", "all_folders", show=False),
    ]

    def __init__(self, folder: Path, current: str | None = None, *, elsewhere: bool = True) -> None:
        super().__init__("Sessions", _KEYS.format(toggle="a  all folders    " if elsewhere else ""))
        self._folder = folder
        self._current = current
        self._elsewhere = elsewhere
        self._all = False
        self._known: list[Summary] = []
        self._shown: list[Summary] = []
        self._hits: dict[Path, str] | None = None
        self._words = Words(placeholder="words somewhere in a session", compact=True)

    def above(self) -> Iterable[Widget]:
        return (self._words,)

    def on_mount(self) -> None:
        self._words.display = False
        self._load()

    def taken(self, index: int) -> Summary | None:
        return self._shown[index] if index < len(self._shown) else None

    @property
    def _here(self) -> Summary | None:
        return self.taken(self.list.cursor)

    # Showing

    @work(group="load", exclusive=True)
    async def _load(self) -> None:
        self._known = await in_thread(_listed, None if self._all else self._folder)
        self._show()

    def _show(self) -> None:
        kept = self._here
        hits = self._hits
        self._shown = [one for one in self._known if hits is None or one.place in hits]
        now = time.time()
        rows = [
            Row(one.title, f"{self._where(one)}{ago(now - one.changed)}  {size_text(one.size):>7}")
            for one in self._shown
        ]
        places = [one.place for one in self._shown]
        self.list.show(rows, places.index(kept.place) if kept and kept.place in places else 0)
        where = "all folders" if self._all else self._folder.name or "this folder"
        self.head(f"Sessions of {safe.title(where, 40).plain}: {plural(len(rows), 'session')}")
        self.fit()
        self._describe()

    def _where(self, one: Summary) -> str:
        own = "open here  " if one.id == self._current else ""
        return f"{own}{Path(one.folder).name}  " if self._all else own

    def on_row_list_moved(self) -> None:
        self._describe()

    def _describe(self) -> None:
        one = self._here
        if one is None:
            empty = "No session has these words." if self._hits is not None else "There is no session yet."
            self.note(Content(empty))
        else:
            hit = (self._hits or {}).get(one.place, "")
            lines = [safe.title(f"{one.id}  {one.folder}", max(20, self.list.size.width - 4))]
            if hit:
                lines.append(safe.title(hit, max(20, self.list.size.width - 4), "$text-accent"))
            self.note(Content("\n").join(lines))

    def action_all_folders(self) -> None:
        if self._elsewhere:
            self._all = not self._all
            self._hits = None
            self._words.value = ""
            self._load()

    # Searching

    def action_search(self) -> None:
        self._words.display = True
        self._words.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._search(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.list.focus()

    def action_leave_words(self) -> None:
        self._words.value = ""
        self._words.display = False
        self.list.focus()

    @work(group="search", exclusive=True)
    async def _search(self, words: str) -> None:
        worker = get_current_worker()
        if words.strip():
            await asyncio.sleep(PAUSE)
            self.head("Sessions: searching …")
            places = [one.place for one in self._known]
            self._hits = await in_thread(_found, places, words, lambda: worker.is_cancelled)
        else:
            self._hits = None
        self._show()

    # Changing

    @work(group="change")
    async def action_rename(self) -> None:
        one = self._here
        if one is None:
            return
        keys = "Enter  call it so (empty: its first words)    Escape  leave it"
        name = await self.app.push_screen_wait(NameScreen("Rename the session", one.title, keys))
        if name is not None:
            from tui_agent.session.shelf import rename

            await self._change(rename, one.place, name)

    @work(group="change")
    async def action_delete(self) -> None:
        one = self._here
        if one is None:
            return
        if one.id == self._current:
            safe.notify(self, "This session is open here. /delete removes it.", severity="warning")
            return
        text = "It is removed from the disk, and with it the earlier contents of its files."
        question = ConfirmScreen("Delete this session?", text, "delete it", "keep it", about=one.title)
        if await self.app.push_screen_wait(question):
            from tui_agent.session.shelf import delete

            await self._change(delete, one.place)

    async def _change(self, change: Callable[..., object], *arguments: object) -> None:
        from tui_agent.session.store import SessionError

        try:
            await in_thread(change, *arguments)
        except (OSError, SessionError) as error:
            safe.notify(self, str(error), severity="error")
        self._load()


def _listed(folder: Path | None) -> list[Summary]:
    """In a thread: what it imports takes a while, too."""
    from tui_agent.session.index import everywhere, sessions

    return everywhere() if folder is None else sessions(folder)


def _found(places: list[Path], words: str, stopped: Callable[[], bool]) -> dict[Path, str]:
    from tui_agent.session.search import search

    return search(places, words, stopped)
