"""The review of file changes before they are written: one file or a set, taken whole, in part, or edited.

Each file is a `Sheet`. What is on screen is what is written: the lines left out, the editor's version and
the file as it now is on disk all become one `FileChange`, and the tool that proposed makes the proposal of
it. Answers are kept until every file has one; then the set runs.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from tui_agent.text import visible
from tui_agent.ui import safe
from tui_agent.ui.editor import Editable, EditorError, edit_outside, editor_command
from tui_agent.ui.screens.answer_keys import KEYS
from tui_agent.ui.screens.answering import AnswerScreen
from tui_agent.ui.screens.offered_rule import Covers, OnGrant
from tui_agent.ui.screens.review_heading import file_list, heading, keys_shown
from tui_agent.ui.screens.sheet import By, Sheet
from tui_agent.ui.screens.verdict import comments_text
from tui_agent.ui.widgets.diff_view import DiffView

if TYPE_CHECKING:
    from tui_agent.permissions.broker import Question
    from tui_agent.tools.hunks import Key
    from tui_agent.ui.screens.approval import Stale

RECHECK = 1.0
"""Seconds between two looks at the files on disk, at least."""


class ReviewScreen(AnswerScreen):
    KEYS: ClassVar[Mapping[str, str]] = {
        **KEYS,
        "Y": "approve_all",
        "space": "hunk",
        "shift+space": "hunk",
        "*": "all_in",
        "0": "all_out",
        "l": "line",
        "]": "next_hunk",
        "[": "previous_hunk",
        "}": "next_file",
        "{": "previous_file",
        "v": "split",
        "w": "blanks",
        "z": "wrap",
        "+": "context",
        "=": "context",
        "/": "find",
    }

    def __init__(
        self,
        questions: Sequence[Question],
        on_grant: OnGrant,
        give_back: Callable[[str], None],
        stale: Stale,
    ) -> None:
        super().__init__(on_grant, give_back)
        self.sheets = [Sheet.of(question) for question in questions]
        self._at = 0
        self._stale = stale
        self._busy = False
        self._pause = RECHECK

    # What is shown -----------------------------------------------------------------------------------

    @property
    def sheet(self) -> Sheet:
        return self.sheets[self._at]

    @property
    def question(self) -> Question:
        return self.sheet.question

    @property
    def diff(self) -> DiffView:
        return self.query_one(DiffView)

    def parts(self) -> Iterable[Widget]:
        if len(self.sheets) > 1:
            yield Static(id="files")
        yield DiffView(id="body")

    def on_mount(self) -> None:
        self._show()
        super().on_mount()
        self.set_timer(self._pause, self._recheck)

    def _show(self) -> None:
        sheet = self.sheet
        # A path that the heading can't hold is shown whole above the diff.
        notes = (f"path: {visible(sheet.change.path, strict=True)}",) if len(sheet.change.path) > 100 else ()
        self.diff.show(sheet.change, notes=notes, choosing=sheet.divisible)
        self.diff.choose(sheet.left_out)
        self.diff.hang(sheet.comments)

    def describe(self) -> tuple[Content, Content, str]:
        sheet, reasons = self.sheet, self.sheet.question.reasons
        place, in_a_set = "", len(self.sheets) > 1
        if in_a_set:
            files = self.query_one("#files", Static)
            files.display = not self.has_class("-small")
            most = 2 if self.has_class("-low") else 5
            files.update(file_list(self.sheets, self._at, self.size.width - 2, most))
            place = f"file {self._at + 1} of {len(self.sheets)}"
        why = f"Why it asks: {'; '.join(reasons)}" if reasons else ""
        return heading(sheet, self.diff, place), safe.strict(why), keys_shown(sheet, in_a_set=in_a_set)

    def on_diff_view_loaded(self) -> None:
        self.refresh_words()

    def on_shown_view_end_shown(self) -> None:
        self.sheet.seen = True
        super().on_shown_view_end_shown()

    @property
    def may_approve(self) -> bool:
        return self.sheet.seen and not self._busy

    # Answering ---------------------------------------------------------------------------------------

    def approve(self) -> None:
        self._answer([self.sheet], "user")

    def do_approve_all(self) -> None:
        """All files, once each was seen to its end."""
        open_ones = [sheet for sheet in self.sheets if sheet.answer is None]
        unseen = next((sheet for sheet in open_ones if not sheet.seen), None)
        if unseen is None:
            self._answer(open_ones, "user")
        else:
            self._go(self.sheets.index(unseen))
            self.tell("This file was not seen to its end yet.")

    def granted(self, covers: Covers) -> None:
        open_ones = [sheet for sheet in self.sheets if sheet.answer is None]
        self._answer([s for s in open_ones if s is self.sheet or covers(s.question)], "rule")

    def deny(self, reason: str) -> str | None:
        from tui_agent.agent import Deny

        said = [reason.strip()]
        if self.diff.diff is not None:
            said.append(comments_text(self.diff.diff, self.sheet.comments))
        self.sheet.answer = Deny("; ".join(part for part in said if part))
        self._next()
        return None

    def _answer(self, sheets: Sequence[Sheet], by: By) -> None:
        if not self._busy:
            self._busy = True
            self.run_worker(self._compose_answers(sheets, by), exit_on_error=False)

    async def _compose_answers(self, sheets: Sequence[Sheet], by: By) -> None:
        try:
            for sheet in sheets:
                sheet.answer = await asyncio.to_thread(sheet.allowed, by)
        finally:
            self._busy = False
        self._next()

    def _next(self) -> None:
        """On to the next file without an answer; after the last the set is done."""
        order = [*range(self._at + 1, len(self.sheets)), *range(self._at + 1)]
        target = next((at for at in order if self.sheets[at].answer is None), None)
        if target is not None:
            self._go(target)
        else:
            self.dismiss([sheet.answer for sheet in self.sheets if sheet.answer is not None])

    def _go(self, at: int) -> None:
        self._at = at
        self._show()
        self.renewed()

    def do_next_file(self) -> None:
        self._go((self._at + 1) % len(self.sheets))

    def do_previous_file(self) -> None:
        self._go((self._at - 1) % len(self.sheets))

    # Choosing ----------------------------------------------------------------------------------------

    def _choose(self, left_out: set[Key]) -> None:
        diff = self.diff.diff
        if not self.sheet.divisible or diff is None or not diff.divisible:
            self.tell("This change can only be taken whole.")
            return
        self.sheet.answer = None
        self.sheet.left_out = left_out
        self.diff.choose(left_out)
        self.refresh_words()

    def _toggle(self, keys: Iterable[Key]) -> None:
        chosen = set(keys)
        if chosen & self.sheet.left_out:
            self._choose(self.sheet.left_out - chosen)
        else:
            self._choose(self.sheet.left_out | chosen)

    def do_hunk(self) -> None:
        if (diff := self.diff.diff) is not None and self.diff.hunk >= 0:
            self._toggle(diff.hunks[self.diff.hunk].keys)

    def do_line(self) -> None:
        if keys := self.diff.keys:
            self._toggle(keys)
        else:
            self.tell("Put the cursor on a changed line.")

    def do_all_in(self) -> None:
        self._choose(set())

    def do_all_out(self) -> None:
        if self.diff.diff is not None:
            self._choose(set(self.diff.diff.keys))

    # Looking -----------------------------------------------------------------------------------------

    def do_up(self) -> None:
        self.diff.action_move(-1)

    def do_down(self) -> None:
        self.diff.action_move(1)

    def do_next_hunk(self) -> None:
        self.diff.action_hunk(1)

    def do_previous_hunk(self) -> None:
        self.diff.action_hunk(-1)

    def do_split(self) -> None:
        self.diff.action_toggle_split()

    def do_blanks(self) -> None:
        self.diff.action_next_blanks()

    def do_wrap(self) -> None:
        self.diff.action_toggle_wrap()

    def do_context(self) -> None:
        self.diff.action_more_context()

    def do_find(self) -> None:
        self.fields.ask("Find:", "Enter goes to the next · Esc leaves", self._find, kept="find")

    def _find(self, text: str) -> str | None:
        if not text:
            return None
        return "Find:" if self.diff.find(text) else "Find: not found"

    # Comments and editing ----------------------------------------------------------------------------

    def do_comment(self) -> None:
        if self.diff.place is None:
            self.tell("Put the cursor on a line of the file.")
            return
        present = self.sheet.comments.get(self.diff.place, "")
        keys = "Enter keeps it, empty takes it away · it goes with your answer · Esc leaves"
        self.fields.ask("Comment on this line:", keys, self._commented, text=present)

    def _commented(self, text: str) -> str | None:
        self.diff.comment(text)
        self.sheet.comments = self.diff.view.comments
        self.refresh_words()
        return None

    def do_edit(self) -> None:
        """In the person's editor, or here when there is none."""
        sheet, diff = self.sheet, self.diff.diff
        if not sheet.divisible or diff is None or diff.binary:
            self.tell("This change can't be edited.")
            return
        data = diff.apply(sheet.left_out) or b""
        try:
            if command := editor_command(os.environ):
                self._edited(edit_outside(self.app, command, data, sheet.change.path))
            else:
                text = Editable.of(data, diff.encoding)
                self.fields.edit("Edit what is written:", text.plain, partial(self._edited_here, text))
        except EditorError as error:
            self.tell(visible(str(error), strict=True))

    def _edited_here(self, text: Editable, edited: str) -> str | None:
        try:
            self._edited(text.data(edited))
        except EditorError as error:
            return str(error)
        return None

    def _edited(self, data: bytes) -> None:
        """What the person saved is the proposal now."""
        sheet, diff = self.sheet, self.diff.diff
        if diff is None or data == (diff.apply(sheet.left_out) or b""):
            self.tell("Nothing was changed.")
            return
        sheet.edit(data)
        self._show()
        self.renewed()

    # The file on disk --------------------------------------------------------------------------------

    async def _recheck(self) -> None:
        """Look whether files are other ones by now; what takes long is done less often."""
        if not self._busy:
            started = time.monotonic()
            for sheet in self.sheets:
                await self._recheck_one(sheet)
            self._pause = max(RECHECK, 20 * (time.monotonic() - started))
        self.set_timer(self._pause, self._recheck)

    async def _recheck_one(self, sheet: Sheet) -> None:
        if [other.change.path for other in self.sheets].count(sheet.change.path) > 1:
            return  # it builds on another change of this set, which isn't on disk
        proposal = await self._stale(sheet.question.pending)
        if proposal is None or self._busy or not sheet.rebase(proposal):
            return
        if sheet is self.sheet:
            self.fields.close()
            self._show()
            self.renewed()
