"""The files of the working folder, for completion: listed and searched in one thread of its own.

The list is made by the tools' own walk (which knows `.gitignore` and never runs git) when it is first wanted
and again when it has become old. Only the newest query is answered; one that goes on from the query before
looks only at what that one found.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tui_agent.ui.drafts.matching import best, narrowed

MOST = 200_000
SECONDS = 20.0
"""The walk ends after so many entries, or so long."""
OFFERED = 40
PAUSE = 0.02
"""Seconds before a search: the key that asked for it is drawn first, and one that follows at once counts."""
OLD = 15.0
"""Seconds after which the list is made anew before the next query; longer where making it takes long."""
_PATIENCE = 60
"""A list lasts so many times as long as it took to make."""


@dataclass(frozen=True)
class Answer:
    """What a query found: the best of `total` paths. Those of folders end with a slash."""

    query: str
    paths: Sequence[str]
    total: int


class FileIndex:
    """`ask` returns at once; `answer` is called from the thread of the index."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._paths: list[str] = []
        self._lowered: list[str] = []
        self._good_until = float("-inf")
        self._before: tuple[str, Sequence[int]] = ("", ())
        self._wanted: tuple[str, Callable[[Answer], None]] | None = None
        self._lock = threading.Lock()
        self._working = False

    def ask(self, query: str, answer: Callable[[Answer], None]) -> None:
        with self._lock:
            self._wanted = (query, answer)
            if self._working:
                return
            self._working = True
        threading.Thread(target=self._work, name="files", daemon=True).start()

    def _work(self) -> None:
        while True:
            time.sleep(PAUSE)
            with self._lock:
                wanted, self._wanted = self._wanted, None
                if wanted is None:
                    self._working = False
                    return
            query, answer = wanted
            if time.monotonic() > self._good_until:
                began = time.monotonic()
                self._list()
                took = time.monotonic() - began
                self._good_until = began + max(OLD, took * _PATIENCE)
            answer(self.search(query))

    def _list(self) -> None:
        from tui_agent.agent import ToolError
        from tui_agent.tools import Workspace
        from tui_agent.tools.walk import Walk

        paths: list[str] = []
        try:
            with Workspace(self.folder) as workspace:
                walk = Walk(workspace, ".", limit=MOST, seconds=SECONDS, check=lambda: None)
                for entry in walk:
                    if entry.kind == "folder":
                        if not entry.note:
                            paths.append(f"{entry.path}/")
                    elif entry.kind == "file" and not walk.ignore.ignores(entry.path, folder=False):
                        paths.append(entry.path)
        except (ToolError, OSError):
            pass  # the folder is gone, or became unreadable: what was found counts
        self._paths = sorted((path for path in paths if _can_be_mentioned(path)), key=_by_depth)
        self._lowered = [path.lower() for path in self._paths]
        self._before = ("", range(len(self._paths)))

    def search(self, query: str) -> Answer:
        """The best matches. Only for the thread of the index."""
        wanted = query.lower()
        if not wanted:
            return Answer(query, self._paths[:OFFERED], len(self._paths))
        before, among = self._before
        if not wanted.startswith(before):
            among = range(len(self._paths))
        found = narrowed(wanted, self._lowered, among)
        self._before = (wanted, found)
        places = best(wanted, self._lowered, found, OFFERED)
        return Answer(query, [self._paths[place] for place in places], len(found))


def _can_be_mentioned(path: str) -> bool:
    return path.isprintable() and '"' not in path


def _by_depth(path: str) -> tuple[int, str]:
    return (path.rstrip("/").count("/"), path)
