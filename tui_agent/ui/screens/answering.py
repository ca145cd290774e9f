"""The frame of every question: heading, body, one field for text, the buttons, and who gets which key.

Nothing has the focus until a field is open, so every key comes to the screen, which owns all of them: no
binding of the app fires over an open question. Answers count by `Arming`; the buttons are dim until they do.
Escape is never held back: it leaves the open field, and else stops the run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Button, Input, Static

from tui_agent.text import visible
from tui_agent.ui.arming import Arming
from tui_agent.ui.screens.answer_keys import ANSWERS, EARLY, KEYS, WHILE_PEEKING
from tui_agent.ui.screens.fields import Fields
from tui_agent.ui.screens.offered_rule import ALWAYS_KEYS, Covers, OfferedRule, OnGrant
from tui_agent.ui.widgets.key_rows import KeyRows
from tui_agent.ui.widgets.shown import ShownView

if TYPE_CHECKING:
    from tui_agent.agent import Allow, Deny

    Outcome = Sequence[Allow | Deny] | None
    """The answers, or None: stop the run."""
    from tui_agent.permissions.broker import Question


class AnswerScreen(ModalScreen["Sequence[Allow | Deny] | None"]):
    AUTO_FOCUS = None
    CSS_PATH: ClassVar[str] = "../styles/questions.tcss"

    KEYS: ClassVar[Mapping[str, str]] = KEYS

    def __init__(self, on_grant: OnGrant, give_back: Callable[[str], None]) -> None:
        super().__init__()
        self.arming = Arming()
        self._told = ""
        self._counted = False
        """Whether the key that is being handled came after the quiet."""
        self._on_grant = on_grant
        self._give_back = give_back
        self._chosen = "deny"
        self._timer: Timer | None = None
        self._rule: OfferedRule | None = None

    # What a subclass gives ---------------------------------------------------------------------------

    def parts(self) -> Iterable[Widget]:
        """What stands between heading and buttons; one of them has the id `body`."""
        raise NotImplementedError

    @property
    def shown(self) -> ShownView:
        """The part that has to be seen to its end."""
        return self.query_one("#body", ShownView)

    @property
    def question(self) -> Question:
        """The one on screen."""
        raise NotImplementedError

    def describe(self) -> tuple[Content, Content, str]:
        """Heading, why it asks, the keys, the most important first."""
        raise NotImplementedError

    def approve(self) -> None:
        raise NotImplementedError

    def deny(self, reason: str) -> str | None:
        raise NotImplementedError

    def do_comment(self) -> None:
        raise NotImplementedError

    def do_edit(self) -> None:
        raise NotImplementedError

    @property
    def may_approve(self) -> bool:
        """Whether all of what is on screen was seen."""
        return self.shown.end_shown

    # Frame -------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        with Vertical(id="question"):
            yield Static(id="heading")
            yield Static(id="why")
            yield from self.parts()
            yield Fields()
            yield KeyRows(id="keys")
            with Horizontal(id="buttons"):
                for label in ("Approve", "Deny"):
                    button = Button(label, id=label.lower(), compact=True)
                    button.can_focus = False
                    button.active_effect_duration = 0
                    yield button
                yield Static(id="hint")

    def on_mount(self) -> None:
        self.refresh_words()
        self.call_after_refresh(self._painted)

    def _painted(self) -> None:
        self.arming.painted(time.monotonic())
        self.refresh_buttons()

    def on_resize(self) -> None:
        self.set_class(self.size.height < 16, "-small")
        self.set_class(self.size.height < 24, "-low")
        self.refresh_words()

    def refresh_words(self) -> None:
        heading, why, keys = self.describe()
        self.query_one("#heading", Static).update(heading)
        why_line = self.query_one("#why", Static)
        why_line.update(why)
        why_line.set_class(not why.plain, "-empty")
        most = None if self.has_class("-help") else max(2, self.size.height // 8)
        self.query_one(KeyRows).show(keys, most)
        self.refresh_buttons()

    def refresh_buttons(self) -> None:
        """Dim them until an answer counts, and look again when it will."""
        if not self.is_mounted or not self.query("#hint"):  # taken down before it was ever painted
            return
        now = time.monotonic()
        armed = self.arming.counts(now)
        for button in self.query("#buttons Button").results(Button):
            button.disabled = not armed or (button.id == "approve" and not self.may_approve)
            button.set_class(button.id == self._chosen, "-chosen")
        self.query_one("#hint", Static).update(Content(self._hint(armed)))
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if not armed:
            self._timer = self.set_timer(self.arming.remaining(now) + 0.005, self.refresh_buttons)
        elif typed := self.arming.take():
            self._give_back(typed)

    def _hint(self, armed: bool) -> str:
        if self._told:
            return self._told
        if self.has_class("-peeking"):
            return "F2 back · Esc stops the run"
        if not self.may_approve:
            return "End: see it all"
        return ("F1 keys" if self.has_class("-small") else "") if armed else "…"

    def give_back_typed(self) -> None:
        """What was typed for the prompt goes to it."""
        if typed := self.arming.take():
            self._give_back(typed)

    def renewed(self) -> None:
        """Something else is asked now: it has to be looked at first."""
        self.arming.painted(time.monotonic())
        self._chosen = "deny"
        self.refresh_words()

    def on_shown_view_end_shown(self) -> None:
        self.refresh_buttons()

    # Keys, pastes, clicks ----------------------------------------------------------------------------

    @property
    def fields(self) -> Fields:
        return self.query_one(Fields)

    def on_key(self, event: events.Key) -> None:
        name = event.character if event.is_printable and event.character else event.key
        if self.fields.is_open:
            self._key_in_field(event)
            return
        event.stop()
        event.prevent_default()
        self._told = ""
        early, counts = self.arming.early(event.time), self.arming.counts(event.time)
        self.arming.touched(event.time)
        verb = self.KEYS.get(name) or self.KEYS.get(event.key) or self.KEYS.get(name.lower())
        if verb == "stop":
            self.do_stop()
            return
        if self.has_class("-peeking"):
            verb = WHILE_PEEKING.get(event.key, "peek" if event.key == "f2" else None)
        if early:
            self._keep_early(event, verb)
        elif verb in ANSWERS and not (counts and self._open_to(verb)):
            pass
        elif verb is not None:
            if verb == "choose":
                self._chosen = "deny" if self._chosen == "approve" else "approve"
            else:
                getattr(self, f"do_{verb}")()
        self.refresh_buttons()

    def _open_to(self, verb: str) -> bool:
        """Whether this answer may be given: a yes only to what was seen."""
        if verb == "press":
            verb = "approve" if self._chosen == "approve" else "deny"
        return verb not in ("approve", "always") or self.may_approve

    def _keep_early(self, event: events.Key, verb: str | None) -> None:
        if event.is_printable and event.character:
            self.arming.keep(event.character)
        elif event.key == "backspace":
            self.arming.unkeep()
        elif verb in EARLY:
            getattr(self, f"do_{verb}")()

    def on_paste(self, event: events.Paste) -> None:
        self.arming.touched(event.time)
        self.arming.keep(event.text)
        event.stop()
        self.refresh_buttons()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        came_back = getattr(self.app, "attended_since", 0.0)
        peeking = self.has_class("-peeking")
        if (
            peeking
            or not self.arming.counts(event.time)
            or not self.arming.counts_since(came_back, event.time)
        ):
            return
        self._chosen = event.button.id or "deny"
        self.do_press()

    # Verbs -------------------------------------------------------------------------------------------

    def do_press(self) -> None:
        if self._chosen == "approve":
            self.approve()
        else:
            self.deny("")

    def do_approve(self) -> None:
        self.approve()

    def do_deny(self) -> None:
        self.deny("")

    def do_reason(self) -> None:
        keys = "Enter denies with this reason · Esc leaves"
        self.fields.ask("Deny, because:", keys, self.deny, kept="reason")

    def do_always(self) -> None:
        """The exact rule and its scope, before it counts."""
        offer = self.question.offer
        if offer is None or visible(offer, strict=True) != offer:
            self.tell("There is no rule for a call like this: it is asked each time.")
            return
        self._rule = OfferedRule(self._on_grant)
        self.fields.ask(self._rule.label, ALWAYS_KEYS, self._grant, text=offer)

    def _grant(self, rule: str) -> str | None:
        assert self._rule is not None
        if not self._counted:
            return f"{self._rule.label} · press Enter again"
        try:
            self.granted(self._rule.save(rule))
        except ValueError as error:
            return str(error)
        return None

    def granted(self, covers: Covers) -> None:
        """A rule was saved for what is on screen."""
        self.approve()

    def do_stop(self) -> None:
        self.dismiss(None)

    def do_help(self) -> None:
        """The keys in full, also where the screen is small."""
        self.toggle_class("-help")
        self.refresh_words()

    def do_peek(self) -> None:
        self.toggle_class("-peeking")
        self.refresh_buttons()

    def do_page_down(self) -> None:
        self._scroll("page_down")

    def do_page_up(self) -> None:
        self._scroll("page_up")

    def _scroll(self, how: str) -> None:
        if not self.has_class("-peeking"):
            self.shown.action_scroll_pages(1 if how == "page_down" else -1)
        elif hasattr(below := self.app.screen_stack[-2], "action_scroll_conversation"):
            below.action_scroll_conversation(how)

    def do_to_start(self) -> None:
        self.shown.action_scroll_to_start()

    def do_to_end(self) -> None:
        self.shown.action_scroll_to_end()

    def do_up(self) -> None:
        self.shown.action_scroll_rows(-1)

    def do_down(self) -> None:
        self.shown.action_scroll_rows(1)

    def tell(self, text: str) -> None:
        """A sentence beside the buttons, until the next key."""
        self._told = text
        self.refresh_buttons()

    # Fields ------------------------------------------------------------------------------------------

    def _key_in_field(self, event: events.Key) -> None:
        self.arming.touched(event.time)
        if event.key in ("escape", "ctrl+c"):
            self.fields.close()
            self._rule = None
        elif event.key == "ctrl+s" and self.fields.editing:
            self.fields.accept()
        elif self._rule is not None and event.key in ("tab", "shift+tab", "up", "down"):
            self._rule.turn(-1 if event.key in ("shift+tab", "up") else 1)
            self.fields.tell(self._rule.label)
        elif event.key not in ("tab", "shift+tab", "f1", "f2", "ctrl+p", "ctrl+q"):
            return  # the field's own
        event.stop()
        event.prevent_default()
        self.refresh_buttons()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        pressed = self.fields.pressed_at
        self._counted = self.arming.counts(pressed)
        self.arming.touched(pressed)
        self.fields.accept()
        self.refresh_buttons()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.arming.touched(event.time)
