"""Keeps prompts and the draft of a folder on disk, without the event loop ever waiting for the disk.

Jobs run one after the other in a thread of their own. A draft is written a moment after the last change, at
once when the program ends, and removed when it was sent.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from tui_agent.ui.drafts.draft import Draft
from tui_agent.ui.drafts.draft_file import DraftFile
from tui_agent.ui.drafts.past import Past, PastFile

PAUSE = 0.4
"""Seconds after a change before the draft is written."""
CLOSING = 1.0
"""Seconds that the end of the program waits for the disk."""


class Box(Protocol):
    """The prompt box."""

    past: Past

    @property
    def draft(self) -> Draft: ...
    def give_back(self, draft: Draft) -> None: ...
    def past_came(self) -> None: ...


class Keeper:
    """Does nothing until `open` names the folder. `redact` takes out what must not be on disk."""

    def __init__(self, box: Box, failed: Callable[[str], None], redact: Callable[[str], str] = str) -> None:
        self._box = box
        self._failed = failed
        self._redact = redact
        self._files: tuple[PastFile, DraftFile] | None = None
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._kept = Draft("")

    def open(self, folder: Path) -> None:
        """Bring back what the folder's files have, and keep what comes."""
        if self._files is not None:
            return
        past, draft = self._files = PastFile(folder), DraftFile(folder)
        loop = asyncio.get_running_loop()

        def read() -> None:
            earlier, drafts = past.read(), draft.take_over()
            loop.call_soon_threadsafe(self._brought_back, earlier, drafts)

        self._thread = threading.Thread(target=self._work, args=(loop,), name="drafts", daemon=True)
        self._thread.start()
        self._jobs.put(read)

    def remember(self, draft: Draft) -> None:
        """A prompt was sent."""
        if self._files is not None:
            past, kept = self._files[0], draft.redacted(self._redact)
            self._jobs.put(lambda: past.append(kept))
            self._write()

    def changed(self) -> None:
        """The draft is another one; write it when it has settled."""
        if self._files is not None and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PAUSE, self._write)

    def close(self) -> None:
        """Write what is not written yet. Waits a moment for a slow disk."""
        if self._files is None or self._thread is None:
            return
        self._write()
        self._jobs.put(self._files[1].close)
        self._jobs.put(None)
        self._thread.join(CLOSING)

    def _write(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        draft = self._box.draft
        if self._files is not None and draft != self._kept:
            self._kept = draft
            file, kept = self._files[1], draft.redacted(self._redact)
            self._jobs.put(lambda: file.write(kept))

    def _brought_back(self, earlier: Sequence[Draft], drafts: Sequence[Draft]) -> None:
        self._box.past.begin_with(earlier)
        for draft in reversed(drafts):  # the newest has the first claim to the box
            self._box.give_back(draft)
        self._box.past_came()
        self.changed()

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        told = False
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except OSError as error:
                if not told and not loop.is_closed():
                    told = True
                    words = f"Prompts and drafts can't be kept on disk: {error.strerror or error}."
                    loop.call_soon_threadsafe(self._failed, words)
            except RuntimeError:  # the loop closed meanwhile: nobody is left to tell
                return
