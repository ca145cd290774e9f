"""The prompt: a text area that sends on Enter, grows with its text, and folds long pastes.

Enter sends; the newline keys, or a backslash before Enter, break the line. Up on the first row and Down on
the last walk through earlier prompts; the draft waits at the newest end. A long paste stands in the text as
a chip, which is written over or deleted as a whole. Text of the person's own is the one kind that stands in
the box as it was typed, except what could act on the terminal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.document._document import EditResult, Location
from textual.document._edit import Edit
from textual.geometry import Region
from textual.strip import Strip
from textual.widgets import TextArea

from tui_agent.text import visible
from tui_agent.ui import keys
from tui_agent.ui.drafts.draft import Draft, adopted, chips, fold, folded, is_long
from tui_agent.ui.drafts.past import Past
from tui_agent.ui.drafts.pasted_path import as_mention
from tui_agent.ui.widgets.in_order import InOrder


class KeyTaker(Protocol):
    """What may take keys before the prompt does: the list of completions while it is open.

    It hears of each edit at once, since the next key of a burst may already be on its way.
    """

    def take_key(self, key: str) -> bool: ...
    def changed(self) -> None: ...
    def moved(self) -> None: ...


class Prompt(InOrder, TextArea):
    BINDINGS: ClassVar[list[BindingType]] = [
        *keys.bindings("prompt"),
        # Of keys that TextArea has for itself, by default or since the person chose them, the screen's
        # meaning counts.
        *(b for b in keys.bindings("screen") if not b.action.startswith("screen.scroll")),
        Binding("pageup", "page('page_up')", show=False),
        Binding("pagedown", "page('page_down')", show=False),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(
            id=id,
            soft_wrap=True,
            show_line_numbers=False,
            highlight_cursor_line=False,
            placeholder="Ask for a change, or / for commands. F1 shows the keys.",
        )
        self.cursor_blink = False  # two writes a second, for ever
        self.past = Past()
        self.pastes: dict[str, str] = {}
        """The texts of chips, by their labels; also of chips that are gone, for undo."""
        self.placed = ""
        """The text that was last put here whole: nobody typed it."""
        self.key_taker: KeyTaker | None = None
        self.send: Callable[[Draft], object] = lambda draft: None
        """Takes what is submitted, before the next key: the Escape right behind an Enter stops its run."""
        self.enter_sends = True
        self._up_waits = False

    @property
    def draft(self) -> Draft:
        """What stands in the box, with its pastes."""
        return Draft(self.text, self.pastes).stripped()

    async def _on_key(self, event: events.Key) -> None:
        if self.key_taker is not None and self.key_taker.take_key(event.key):
            event.stop()
            event.prevent_default()
        elif event.key == "enter":
            event.stop()
            event.prevent_default()
            self._enter()
        elif event.character == "?" and not self.text:
            event.stop()
            event.prevent_default()
            await self.run_action("screen.help")

    def _enter(self) -> None:
        row, column = self.cursor_location
        if self.selection.is_empty and column and self.document.get_line(row)[column - 1] == "\\":
            self.replace("\n", (row, column - 1), (row, column))
        elif self.enter_sends:
            self.submit()
        else:
            self.action_new_line()

    async def _on_paste(self, event: events.Paste) -> None:
        # Pasted bytes may hold anything; the base class inserts what the event says.
        text = event.text
        if is_long(text):
            event.text = fold(text, self.pastes)
            self.pastes[event.text] = text
        else:
            event.text = as_mention(text) or visible(text)

    def edit(self, edit: Edit) -> EditResult:
        if self.pastes:
            edit.from_location, edit.to_location = self._around_chips(edit.top, edit.bottom)
        result = super().edit(edit)
        if self.key_taker is not None:
            self.key_taker.changed()
        return result

    def _refresh_size(self) -> None:
        # Textual compares with a width that its layout replaces, and so lays out the screen for each key.
        if self.virtual_size.height != self.wrapped_document.height:
            super()._refresh_size()

    def on_text_area_selection_changed(self) -> None:
        if self.key_taker is not None:
            self.key_taker.moved()

    def _around_chips(self, top: Location, bottom: Location) -> tuple[Location, Location]:
        """A range that covers each chip wholly or not at all; what is typed inside one comes after it."""
        before, after = self._chip_at(top), self._chip_at(bottom)
        if top == bottom:
            return (top, top) if after is None else (after[1], after[1])
        return (top if before is None else before[0], bottom if after is None else after[1])

    def _chip_at(self, location: Location) -> tuple[Location, Location] | None:
        """The chip that this place is inside of."""
        row, column = location
        for start, end in chips(self.document.get_line(row), self.pastes):
            if start < column < end:
                return (row, start), (row, end)
        return None

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        for start, end in chips(line.plain, self.pastes) if self.pastes else ():
            line.stylize("bold italic", start, end)
        return line

    def render_lines(self, crop: Region) -> list[Strip]:
        # A terminal that changes its size while the program starts is painted before styles were applied.
        if not self._component_styles:
            return [Strip.blank(crop.width)] * crop.height
        return super().render_lines(crop)

    def submit(self) -> None:
        """Send the text, unless there is none."""
        draft = self.draft
        if not draft:
            return
        self.past.add(draft)
        self.clear()
        self.send(draft)

    def put(self, new: Draft | str) -> None:
        """Replace the draft, with the cursor at its end; undo brings the old one back."""
        draft = Draft(new) if isinstance(new, str) else new
        draft = adopted(folded(draft), self.pastes)
        self.pastes |= draft.pastes
        self.placed = visible(draft.text)
        self.replace(self.placed, (0, 0), self.document.end)
        self.move_cursor(self.document.end)

    def give_back(self, draft: Draft) -> None:
        """What was not sent after all: into the box when that is empty, else into the history."""
        if self.text.strip():
            self.past.add(draft)
        else:
            self.put(draft)

    def take_up(self, draft: Draft) -> None:
        """Put this into the box now; what was there goes into the history."""
        if self.draft:
            self.past.add(self.draft)
        self.put(draft)

    def type_in(self, text: str) -> None:
        """Keys that were typed for the prompt while something else had the focus."""
        self.insert(text, self.document.end)
        self.move_cursor(self.document.end)

    def action_submit(self) -> None:
        self.submit()

    def action_new_line(self) -> None:
        self.replace("\n", *self.selection)

    def action_alt_enter(self) -> None:
        """A new line; where Enter makes that, send."""
        self.action_new_line() if self.enter_sends else self.submit()

    def action_delete_or_quit(self) -> Any:
        if self.text:
            self.action_delete_right()
            return None
        return self.run_action("screen.quit")

    def action_cursor_up(self, select: bool = False) -> None:
        if not select and self.navigator.is_first_wrapped_line(self.cursor_location):
            earlier = self.past.older(self.draft)
            if earlier is not None:
                self.put(earlier)
                return
            self._up_waits = not self.text
        super().action_cursor_up(select)

    def past_came(self) -> None:
        """Earlier prompts are here, from the disk; Up may have been pressed for them before they were."""
        if self._up_waits and not self.text:
            self.action_cursor_up()
        self._up_waits = False

    def action_cursor_down(self, select: bool = False) -> None:
        if not select and self.navigator.is_last_wrapped_line(self.cursor_location):
            later = self.past.newer()
            if later is not None:
                self.put(later)
                return
        super().action_cursor_down(select)

    async def action_page(self, direction: str) -> None:
        """Scroll the draft, or, when that is wholly in view, the conversation."""
        if self.virtual_size.height <= self.size.height:
            await self.run_action(f"screen.scroll_conversation('{direction}')")
        elif direction == "page_up":
            self.action_cursor_page_up()
        else:
            self.action_cursor_page_down()
