"""Where the person writes: the prompt, its completions, the messages that wait above it.

It ties the prompt to what serves it (completion, the files that keep drafts and earlier prompts, the search
through these, the editor), so that the main screen has one thing to lay out.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static, TextArea

from tui_agent.ui import safe
from tui_agent.ui.drafts.completion import Completion
from tui_agent.ui.drafts.keeper import Keeper
from tui_agent.ui.editor import EditorError, edit_outside, editor_command
from tui_agent.ui.widgets.popup import Popup
from tui_agent.ui.widgets.prompt import Prompt
from tui_agent.ui.widgets.queue_list import QueueList

if TYPE_CHECKING:
    from tui_agent.ui.drafts.draft import Draft

NO_EDITOR = "There is no editor: set $VISUAL or $EDITOR, as in EDITOR=vim."


class Composer(Vertical):
    DEFAULT_CSS = """
    Composer { height: auto; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.queue = QueueList(id="queued")
        self.popup = Popup(id="popup")
        self.prompt = Prompt(id="prompt")
        self._mark = Static(Content("›"), id="mark")
        self.completion = Completion(self.prompt, self.popup, self._on_loop)
        self.prompt.key_taker = self.completion
        self.prompt.send = self._send
        self.send: Callable[[Draft], object] = lambda draft: None
        """Takes what is submitted; the app gives it."""
        self.keeper = Keeper(self.prompt, self._not_kept, self._redacted)

    def compose(self) -> ComposeResult:
        yield self.queue
        yield self.popup
        with Horizontal(id="composer"):
            yield self._mark
            yield self.prompt

    def on_mount(self) -> None:
        self._loop = asyncio.get_running_loop()

    def on_unmount(self) -> None:
        self.keeper.close()

    def work_in(self, folder: Path, *, keep: bool) -> None:
        """Complete the files of this folder, and keep its prompts on disk."""
        self.completion.look_in(folder)
        if keep:
            self.keeper.open(folder)

    def _redacted(self, text: str) -> str:
        redact: Callable[[str], str] = getattr(self.app, "redact", str)
        return redact(text)

    def close_popup(self) -> bool:
        """Leave what lies in front of the prompt; False if nothing does."""
        if self.queue.has_focus:
            self.prompt.focus()
            return True
        return self.completion.close()

    def search_past(self) -> None:
        from tui_agent.ui.screens.past_search import PastSearch

        def taken(draft: Draft | None) -> None:
            if draft is not None:
                self.prompt.take_up(draft)

        words = "" if "\n" in self.prompt.text else self.prompt.text
        self.app.push_screen(PastSearch(self.prompt.past, words), taken)

    def edit_outside(self) -> None:
        """The draft in the person's own editor; what was saved replaces it."""
        before = self.prompt.draft.whole
        try:
            command = editor_command(os.environ)
            if not command:
                raise EditorError(NO_EDITOR)
            after = edit_outside(self.app, command, before.encode("utf-8", "replace"), "prompt.md").decode()
        except EditorError as error:
            safe.notify(self, str(error), severity="warning")
            return
        except UnicodeDecodeError:
            safe.notify(self, "The file is not UTF-8 any more; nothing was changed.", severity="warning")
            return
        if not before.endswith("\n"):
            after = after.removesuffix("\n")
        if after != before:
            self.prompt.put(after)
        self.prompt.focus()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        if event.text_area is self.prompt:
            self.keeper.changed()
            own = self.prompt.text.startswith("!")
            mark = Content.styled("!", "$text-warning") if own else Content("›")
            self._mark.update(mark, layout=False)

    def _send(self, draft: Draft) -> None:
        self.keeper.remember(draft)
        self.send(draft)

    def on_descendant_blur(self) -> None:
        if not self.prompt.has_focus:
            self.completion.close()

    def on_choices_clicked(self, message: Popup.Clicked) -> None:
        if message.choices is self.popup:
            self.completion.accept()
            self.prompt.focus()

    def on_queue_list_edited(self, message: QueueList.Edited) -> None:
        self.prompt.take_up(message.draft)
        self.prompt.focus()

    def on_queue_list_left(self) -> None:
        self.prompt.focus()

    def _on_loop(self, call: Callable[..., object], *arguments: object) -> None:
        with suppress(RuntimeError):  # the loop is gone, and with it the screen
            self._loop.call_soon_threadsafe(call, *arguments)

    def _not_kept(self, why: str) -> None:
        safe.notify(self, why, severity="warning")
